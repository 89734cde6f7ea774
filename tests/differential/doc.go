// Package differential shows that two ways of holding locks do the same in all
// that anybody can observe. It makes up programs, plays each on two servers
// that differ in nothing but how they are asked to renew and to release, looks
// at both after every step, and compares.
//
// A program is made from a seed. One that shows a difference is cut down to the
// steps that it takes, and printed with its seed. To play it again, or many:
//
//	go test ./tests/differential -differential.seed=1 -differential.steps=1
//	go test ./tests/differential -differential.for=30m -timeout 0
package differential
