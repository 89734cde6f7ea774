package module

// GOBLIN.CAD key expected
//
// Compare and delete: release a lock. Deletes key if it holds the string
// expected, byte for byte.
//
// Replies with the integer 1 if key was deleted, and 0 if it is missing or
// holds another string, in which case nothing has changed. WRONGTYPE if key
// holds something other than a string.
//
// Replicated as DEL key. O(1) but for the comparison, which is O(N) in the
// length of the token where the lengths are equal.
var cad = Command{
	Name:       "goblin.cad",
	Summary:    "Deletes a key only if it holds the expected string: releases a lock.",
	Complexity: "O(1) for tokens of a bounded length, O(N) in their length otherwise.",
	Since:      "0.1.0",
	Flags:      "write fast", // no deny-oom: a full server must still do it
	Args:       []Arg{{"key", KeyArg}, {"expected", StringArg}},
	Keys:       ReadWrite | Access | Delete,
	Effects:    []string{"DEL"},
	Hit:        "released",
	Decide:     decideCAD,
}

//go:nosplit
func decideCAD(r *Request) Verdict { return compare(r, Remove) }
