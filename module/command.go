// Package module says what Goblin's commands mean: what each is called, what
// it takes, and what it decides. It is pure Go and knows no server; package
// main in cgo gathers a Request from the server, has it decided here, and
// carries the Verdict out.
package module

import "slices"

// Name is the module's name, as MODULE LIST shows it.
const Name = "goblin"

// Version is the release of this module, and VersionNumber the same as MODULE
// LIST shows it: major*10000 + minor*100 + patch.
const (
	Version       = "0.1.0"
	VersionNumber = 100
)

// Commands lists every command. To add one, write its file and name it here.
func Commands() []Command {
	return []Command{cad, caexpire, ownexpire}
}

// Command is what the server is told about a command, and the function that
// decides its calls.
type Command struct {
	Name       string // in lower case, as some clients index COMMAND by it
	Summary    string
	Complexity string
	Since      string    // the Version that brought it
	Flags      string    // the server's command flags
	Args       []Arg     // what follows the name: its keys, then the rest
	Keys       KeyAccess // what a call may do to each of its keys

	// Effects are the core commands that a hit is carried out by, or that
	// replicas and the AOF receive for it.
	Effects []string
	// Hit is the verb that INFO counts a call that matched under.
	Hit string

	// Decide must stay a leaf: it is called on the server's own stack, without
	// the Go runtime. That rules out allocation, indexing, stored pointers, and
	// calls to anything but other leaves; all are marked go:nosplit.
	Decide func(*Request) Verdict
}

// Arity counts the words of a call, the command's name among them.
func (c Command) Arity() int { return 1 + len(c.Args) }

// Position returns where the last argument of type t stands in a call (the
// command's name has 0), and 0 if the command takes none. The keys come first,
// so this is also how many there are.
func (c Command) Position(t ArgType) int {
	for i, arg := range slices.Backward(c.Args) {
		if arg.Type == t {
			return 1 + i
		}
	}
	return 0
}

// ACLCategories are the ACL categories that every command is put in.
const ACLCategories = "write string fast"

// Arg is one argument.
type Arg struct {
	Name string
	Type ArgType
}

// ArgType numbers the kinds of argument as REDISMODULE_ARG_TYPE_* does.
type ArgType int

// The kinds of argument that a command can take.
const (
	StringArg  ArgType = 0
	IntegerArg ArgType = 1
	KeyArg     ArgType = 3
)

// KeyAccess says what a call does to a key, in the bits of
// REDISMODULE_CMD_KEY_*. ACL derives the needed key permissions from it.
type KeyAccess int

// What a call does to a key. Access is there because the reply tells whether
// the caller's guess was right: without it, a user who may only write could
// find out what the key holds.
const (
	ReadWrite KeyAccess = 1 << 1
	Access    KeyAccess = 1 << 4
	Update    KeyAccess = 1 << 5
	Delete    KeyAccess = 1 << 7
)
