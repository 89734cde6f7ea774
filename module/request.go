package module

// Request is all that a decision may depend on. The bridge lays it out in C
// memory: the strings point into the server and are dead once the command has
// returned, so a decision keeps none of them.
type Request struct {
	// Type is what kind of value the key of the token holds. That is the only
	// key of a command, or its second.
	Type KeyType
	// Held is the stored value. Where its length differs from that of Expected
	// only the length is real: a comparison needs no more.
	Held string
	// Expected is the token that the caller believes the key to hold.
	Expected string
	// Ms is the requested time to live in milliseconds.
	Ms int64
	// MsValid is 0 where the argument was not an integer by the server's own
	// strict parser, and Ms then means nothing.
	MsValid int64
	// Now is the server's clock, as Unix time in milliseconds.
	Now int64
	// TTL is the time that the first of two keys has left, in milliseconds, or
	// NoTTL if it never expires or is missing.
	TTL int64
	// SameKeys is not 0 where both keys are one.
	SameKeys int64
}

// NoTTL is REDISMODULE_NO_EXPIRE.
const NoTTL = -1

// KeyType numbers the kinds of value as REDISMODULE_KEYTYPE_* does.
type KeyType int64

// The kinds of value that a decision tells apart.
const (
	EmptyKey  KeyType = 0
	StringKey KeyType = 1
)

// Verdict is what is to be done about a call.
type Verdict int64

// The verdicts. Those from WrongType on refuse the call: nothing is changed,
// and the caller gets the error of that name.
const (
	Missing    Verdict = iota // reply 0: there is no such key
	Mismatched                // reply 0: the key holds another value
	Renew                     // reply 1: the key expires Ms from now
	Remove                    // reply 1: the key is deleted
	Own                       // reply 1: the second key holds Expected, and both expire Ms from now
	Delegate                  // reply as PEXPIRE does, which is given each key and Ms
	WrongType
	NotInteger
	InvalidExpire
	OneKeyTwice
	Unavailable // by the bridge: the server cannot replicate the command's effects
	Panicked    // by the bridge: the decision panicked
	Verdicts    // how many there are
)

// compare decides what the commands have in common: whether the key holds the
// expected token. Its result for a match is match.
//
//go:nosplit
func compare(r *Request, match Verdict) Verdict {
	switch {
	case r.Type == EmptyKey:
		return Missing
	case r.Type != StringKey:
		return WrongType
	case r.Held != r.Expected:
		return Mismatched
	}
	return match
}

// checkMs decides what the commands that take ms have in common: whether it is
// an integer, and a deadline that the server can store. Its result for a good
// one is verdict.
//
//go:nosplit
func checkMs(r *Request, verdict Verdict) Verdict {
	switch {
	case r.MsValid == 0:
		return NotInteger
	case r.Ms > maxDeadline-r.Now:
		return InvalidExpire
	}
	return verdict
}

// maxDeadline is the last deadline that the server can store, in Unix
// milliseconds. PEXPIRE refuses what exceeds it since Redis 6.2 (expire.c,
// expireGenericCommand); SetExpire wraps around silently on every version.
const maxDeadline = 1<<63 - 1
