package module

// GOBLIN.CAEXPIRE key expected ms
//
// Compare and expire: renew a lease. If key holds the string expected, byte
// for byte, it expires ms milliseconds from now; with ms of 0 or less it is
// deleted, as by PEXPIRE with a time in the past.
//
// Replies with the integer 1 if the lease was renewed, and 0 if key is missing
// or holds another string, in which case nothing has changed. WRONGTYPE if key
// holds something other than a string. A bad ms is an error whatever key
// holds: "value is not an integer or out of range" if it is no 64-bit integer
// in the server's strict notation, "invalid expire time" if the deadline would
// not fit 64 bits.
//
// Replicated as PEXPIREAT key deadline, or with ms of 0 or less as the server
// replicates PEXPIRE. O(1) but for the comparison, which is O(N) in the length
// of the token where the lengths are equal.
var caexpire = Command{
	Name:       "goblin.caexpire",
	Summary:    "Sets the expiration time of a key only if it holds the expected string: renews a lease.",
	Complexity: "O(1) for tokens of a bounded length, O(N) in their length otherwise.",
	Since:      "0.1.0",
	Flags:      "write fast", // no deny-oom: a full server must still do it
	Args:       []Arg{{"key", KeyArg}, {"expected", StringArg}, {"ms", IntegerArg}},
	Keys:       ReadWrite | Access | Update,
	Effects:    []string{"PEXPIREAT", "PEXPIRE"},
	Hit:        "renewed",
	Decide:     decideCAEXPIRE,
}

//go:nosplit
func decideCAEXPIRE(r *Request) Verdict {
	verdict := compare(r, Renew)
	if verdict == WrongType {
		return WrongType
	}
	verdict = checkMs(r, verdict)
	if verdict == Renew && (r.Ms <= 0 || r.Ms > maxRenewal) {
		return Delegate
	}
	return verdict
}

// maxRenewal is the longest lease that is set directly, in milliseconds (146
// million years). The deadline of a longer one could still overflow if the
// clock moves on between the decision and its execution, so PEXPIRE, which
// checks once more, is given it.
const maxRenewal = 1 << 62
