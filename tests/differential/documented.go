package differential

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"goblin/tests/server"
)

// Documented is a difference that there is meant to be.
type Documented struct {
	Name, Reason string

	// On tells which servers it is to be found on: all if nil.
	On func(server.Program) bool

	// Covers tells whether that is what a difference is about.
	Covers func(d Difference) bool

	// Parts says that such a step also leaves the two keyspaces in different
	// states. The program is then played again without the step.
	Parts bool

	// Clean, instead of Covers, is what both sides' streams of commands are put
	// through before they are compared again.
	Clean func(stream []server.Command) []server.Command
}

// CommandsForScripts are the documented differences of the commands, on the
// left, from the scripts.
var CommandsForScripts = []Documented{
	{
		Name:   "errors are worded for a command",
		Reason: "An error that a script passes on says where in the script it came up, and PEXPIRE's errors say PEXPIRE.",
		Covers: func(d Difference) bool {
			left, right, ok := d.replies()
			return ok && left.failed() && right.failed() && core(left.text) == core(right.text)
		},
	},
	{
		Name:   "a bad ms is an error before anything is compared",
		Reason: "The script looks at ms only after a match. A caller's bug must not hide until the day the lock is held.",
		Covers: func(d Difference) bool {
			left, right, ok := d.replies()
			return ok && d.step().Words[0] == caexpire && left.failed() && left.text == refusal(d.step().milliseconds()) && right.String() == "0"
		},
	},
	{
		Name:   "a bad ms is an error that ends a script",
		Reason: "The same in a script that calls the command: it goes on where the other sees 0.",
		Parts:  true,
		Covers: func(d Difference) bool {
			_, _, ok := d.replies()
			step := d.step()
			return ok && (step.Words[0] == script || step.Words[0] == function) && refusal(step.milliseconds()) != ""
		},
	},
	{
		Name:   "6.0 does not see an overflow",
		Reason: "Its PEXPIRE lets now + ms wrap around, and deletes the key. The command refuses that ms as on every other server.",
		On:     before62,
		Parts:  true,
		Covers: func(d Difference) bool {
			left, right, ok := d.replies()
			return ok && d.step().Words[0] == caexpire && left.failed() && left.text == refusal(d.step().milliseconds()) && right.String() == "1"
		},
	},
	{
		Name: "6.0 makes transactions of what is none",
		Reason: "There, what a script does is replicated in MULTI and EXEC from the first call of a write command on, even one that " +
			"changes nothing. So they are around nothing, or around what had lapsed.",
		On:    before62,
		Clean: unwrap,
	},
	{
		Name:   "a value that was compared is no longer embedded",
		Reason: "The module reads a value by StringDMA, which makes it a plain string. OBJECT ENCODING tells, until the next SET.",
		Covers: func(d Difference) bool {
			left, right, ok := d.replies()
			return ok && strings.HasPrefix(strings.Join(d.step().Words, " "), "OBJECT ENCODING ") &&
				left.text == "raw" && (right.text == "embstr" || right.text == "int")
		},
	},
	{
		Name:   "a script tracks what it compares",
		Reason: "GET in a script registers the key for a caller that tracks. A write command does not: the caller is told less.",
		Covers: func(d Difference) bool {
			left, ok := d.Left.(pushes)
			if !ok || d.What != "pushed to the client" {
				return false
			}
			for _, message := range d.Right.(pushes) {
				switch {
				case len(left) > 0 && left[0] == message:
					left = left[1:]
				case !slices.Contains(d.compared(), message):
					return false
				}
			}
			return len(left) == 0
		},
	},
}

func before62(on server.Program) bool { return !on.Speaks(6, 2) }

// AcceleratedForScripts are those of scripts that run as commands. A script
// with a bad ms does not, nor does what another script calls.
var AcceleratedForScripts = slices.DeleteFunc(slices.Clone(CommandsForScripts), func(d Documented) bool {
	return slices.Contains([]string{
		"a bad ms is an error before anything is compared", "a bad ms is an error that ends a script",
		"6.0 does not see an overflow", "6.0 makes transactions of what is none",
	}, d.Name)
})

// replies are those that the difference is between, if it is between replies.
func (d Difference) replies() (left, right reply, ok bool) {
	left, ok = d.Left.(reply)
	if !ok || d.What != "reply" {
		return left, right, false
	}
	return left, d.Right.(reply), true
}

// compared are the invalidations of all keys that the client which was pushed
// the difference has had compared so far.
func (d Difference) compared() (invalidations []string) {
	for _, step := range d.program.Steps[:d.After+1] {
		if step.Client != d.step().Client {
			continue
		}
		switch step.Words[0] {
		case cad, caexpire:
			invalidations = append(invalidations, invalidation(step.Words[1]))
		case script, function:
			invalidations = append(invalidations, invalidation(step.Words[2]), invalidation(step.Words[3]))
		}
	}
	return invalidations
}

// unwrap takes out of each transaction what it begins with, if that is the
// deletion of what had lapsed, as the server words it: what a script deletes is
// in lower case. A transaction without a rest is none. SELECT, which an empty
// one can bring with it, becomes a part of each command.
func unwrap(stream []server.Command) (unwrapped []server.Command) {
	db := "0"
	for _, command := range stream {
		last := len(unwrapped) - 1
		begins := last >= 0 && strings.EqualFold(unwrapped[last][0], "MULTI")
		switch name := command[0]; {
		case strings.EqualFold(name, "SELECT"):
			db = command[1]
		case strings.EqualFold(name, "MULTI"):
			unwrapped = append(unwrapped, command)
		case strings.EqualFold(name, "EXEC") && begins:
			unwrapped = unwrapped[:last]
		case begins && (name == "DEL" || name == "UNLINK"):
			unwrapped = slices.Insert(unwrapped, last, server.Command{name, command[1], "in database " + db})
		default:
			unwrapped = append(unwrapped, append(slices.Clip(command), "in database "+db))
		}
	}
	return unwrapped
}

// refusal is what the command replies to a bad ms, and "" if it is none.
func refusal(ms string) string {
	n, err := strconv.ParseInt(ms, 10, 64)
	switch {
	case err != nil || strconv.FormatInt(n, 10) != ms:
		return "ERR value is not an integer or out of range"
	case n > math.MaxInt64-time.Now().UnixMilli():
		return "ERR invalid expire time in 'goblin.caexpire' command"
	}
	return ""
}

// place is where in a script an error came up: 6.0 says it before the error,
// later servers after.
var place = regexp.MustCompile(`^ERR Error running script \(call to f_[0-9a-f]{40}\): @user_script:\d+: (@user_script: \d+: )?(ERR )?` +
	`|,? script: ([0-9a-zA-Z_]+, )?on @user_(script|function):\d+\.$`)

// core is what is left of an error's text without what the sides say in their
// own way.
func core(text string) string {
	text = strings.TrimPrefix(place.ReplaceAllString(text, ""), "ERR ")
	return strings.ReplaceAll(text, "'goblin.caexpire'", "'pexpire'")
}
