//go:build amd64 || arm64

// Package entry lets C call a decision of package module without entering the
// Go runtime.
//
// An exported Go function is entered through the scheduler, and needs one of
// its Ps. On a server with little traffic all of them are asleep, and to wake
// one takes longer than the Lua script that the command replaces. A function
// that needs nothing of the runtime can be called like any C function, as soon
// as somebody translates between the calling conventions: that is what the
// assembly here does.
//
// It runs on the server's stack, with no goroutine. A decision must therefore
// neither grow the stack, allocate, store a pointer, nor panic, and may call
// nothing but functions of which the same is true. TestLeaves asserts that on
// the compiled code. The convention is that of Go's ABIInternal, which Go may
// change with any release; every test on a real server would fail at once.
//
// The assembly has a package of its own because none may share one with cgo.
package entry

// Address returns the address of the C function
//
//	int64_t enter(uintptr_t decide, struct request *request)
//
// which calls the decision whose code is at decide, and returns its verdict.
func Address() uintptr
