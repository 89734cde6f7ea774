package module

// GOBLIN.OWNEXPIRE key owner-key identifier ms
//
// Sets the time to live of key, which may be of any type, on behalf of
// identifier. Anyone may extend it; only its owner, whose identifier the string
// at owner-key is, may shorten it. Who sets it becomes the owner: owner-key
// then holds identifier, and expires together with key, ms milliseconds from
// now. With ms of 0 or less both are deleted, as by PEXPIRE with a time in the
// past.
//
// Replies with the integer 1 if the time was set. Replies with 0, and nothing
// has changed, if key is missing or has no TTL, or if it has more than ms left
// and identifier is not its owner. WRONGTYPE if owner-key holds something other
// than a string. A bad ms is an error as with GOBLIN.CAEXPIRE, and so are two
// keys of one name.
//
// Replicated as SET owner-key identifier, PEXPIREAT owner-key deadline and
// PEXPIREAT key deadline in one transaction, or with ms of 0 or less as the
// server replicates PEXPIRE. O(1) but for the comparison, which is O(N) in the
// length of identifier where the lengths are equal.
var ownexpire = Command{
	Name:       "goblin.ownexpire",
	Summary:    "Sets the expiration time of a key: anyone may extend it, only its owner may shorten it.",
	Complexity: "O(1) for identifiers of a bounded length, O(N) in their length otherwise.",
	Since:      "0.1.0",
	Flags:      "write deny-oom fast", // as SET: it stores the identifier
	Args:       []Arg{{"key", KeyArg}, {"owner-key", KeyArg}, {"identifier", StringArg}, {"ms", IntegerArg}},
	Keys:       ReadWrite | Access | Update,
	Effects:    []string{"SET", "PEXPIREAT", "PEXPIRE"},
	Hit:        "set",
	Decide:     decideOWNEXPIRE,
}

//go:nosplit
func decideOWNEXPIRE(r *Request) Verdict {
	owner := compare(r, Own)
	verdict := Own
	switch {
	case r.SameKeys != 0:
		verdict = OneKeyTwice
	case owner == WrongType:
		verdict = WrongType
	case r.TTL == NoTTL:
		verdict = Missing
	case r.TTL > r.Ms && owner != Own:
		verdict = Mismatched
	case r.Ms <= 0:
		verdict = Delegate
	}
	return checkMs(r, verdict)
}
