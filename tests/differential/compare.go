package differential

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"goblin/tests/server"
)

// Difference is something that was not the same on the two sides.
type Difference struct {
	What        string
	After       int // the step after which it showed, or how many there are if that was the end
	Of          int // the step that it is about
	Left, Right any

	program Program
}

// step is the one that the difference is about.
func (d Difference) step() Step { return d.program.Steps[d.Of] }

// same tells whether two facts are, where the steps behind them can have been
// as far apart in time as slack.
func same(l, r any, tellsTime bool, slack time.Duration) bool {
	switch l := l.(type) {
	case reply:
		return sameReply(l, r.(reply), tellsTime, slack)
	case deadline:
		return near(int64(l), int64(r.(deadline)), slack)
	case pushes:
		return slices.Equal(l, r.(pushes))
	}
	return l == r
}

func sameReply(l, r reply, tellsTime bool, slack time.Duration) bool {
	if tellsTime {
		left, ok := l.integer()
		right, also := r.integer()
		if ok && also {
			return near(left, right, 2*slack) // a deadline, less the time
		}
	}
	return l.kind == r.kind && l.text == r.text &&
		slices.EqualFunc(l.items, r.items, func(l, r reply) bool { return sameReply(l, r, tellsTime, slack) })
}

// near tells whether two times are the same but for the slack, and for what a
// clock that others adjust may add. No time that programs deal with, were it in
// seconds, is as small as other numbers are.
func near(l, r int64, slack time.Duration) bool {
	if max(l, -l) < 50 || max(r, -r) < 50 {
		return l == r
	}
	return uint64(max(l, r))-uint64(min(l, r)) <= uint64(slack.Milliseconds())+10
}

// firstDifference is where two streams of commands part, or -1 if they do not.
func firstDifference(left, right []server.Command, slack time.Duration) int {
	for i := range min(len(left), len(right)) {
		if !sameCommand(left[i], right[i], slack) {
			return i
		}
	}
	if len(left) != len(right) {
		return min(len(left), len(right))
	}
	return -1
}

// sameCommand tells whether two commands of a replication stream or an
// append-only file are the same but for the slack.
func sameCommand(l, r server.Command, slack time.Duration) bool {
	if len(l) != len(r) || !strings.EqualFold(l[0], r[0]) {
		return false
	}
	for i := range l {
		if i == 0 || l[i] == r[i] {
			continue
		}
		left, err := strconv.ParseInt(l[i], 10, 64)
		right, also := strconv.ParseInt(r[i], 10, 64)
		if err != nil || also != nil || !isTime(l, i) || !near(left, right, slack) {
			return false
		}
	}
	return true
}

// isTime tells whether a word of a replicated command is a point in time.
func isTime(command server.Command, i int) bool {
	switch strings.ToUpper(command[0]) {
	case "PEXPIREAT":
		return i == 2
	case "SET", "GETEX":
		return strings.EqualFold(command[i-1], "PXAT")
	}
	return false
}
