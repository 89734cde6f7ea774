package main

import (
	"crypto/sha1"
	"fmt"
	"strconv"
	"strings"

	"goblin/tests/library"
)

// The commands that are measured. One more is one more line.
var commands = []*command{
	{renew, "Goblin", words{"GOBLIN.CAEXPIRE", key, token, lease}, asked, always},
	{renew, "C twin", words{"TWIN.CAEXPIRE", key, token, lease}, asked, always},
	{renew, "EVALSHA", words{"EVALSHA", sha(renewScript), "1", key, token, lease}, asked, always},
	{renew, "EVAL", words{"EVAL", renewScript, "1", key, token, lease}, asked, always},
	{renew, "EVALSHA, accelerated", words{"EVALSHA", sha(knownRenew), "1", key, token, lease}, asked, always},
	{renew, "EVAL, accelerated", words{"EVAL", knownRenew, "1", key, token, lease}, asked, always},
	{renew, "SET … IFEQ … PX", words{"SET", key, token, "IFEQ", token, "PX", lease}, replies{hit: "+OK", miss: "$-1"}, sometimes},
	{renew, "PEXPIRE, unchecked", words{"PEXPIRE", key, lease}, unasked, always},

	{release, "Goblin", words{"GOBLIN.CAD", key, token}, asked, always},
	{release, "C twin", words{"TWIN.CAD", key, token}, asked, always},
	{release, "EVALSHA", words{"EVALSHA", sha(releaseScript), "1", key, token}, asked, always},
	{release, "EVAL", words{"EVAL", releaseScript, "1", key, token}, asked, always},
	{release, "EVALSHA, accelerated", words{"EVALSHA", sha(knownRelease), "1", key, token}, asked, always},
	{release, "EVAL, accelerated", words{"EVAL", knownRelease, "1", key, token}, asked, always},
	{release, "DELIFEQ", words{"DELIFEQ", key, token}, asked, sometimes},
	{release, "DELEX … IFEQ", words{"DELEX", key, "IFEQ", token}, asked, sometimes},
	{release, "DEL, unchecked", words{"DEL", key}, unasked, always},

	{own, "Goblin", words{"GOBLIN.OWNEXPIRE", neighbour, key, token, shorter}, asked, always},
	{own, "EVALSHA", words{"EVALSHA", sha(ownScript), "2", neighbour, key, token, shorter}, asked, always},
	{own, "EVAL", words{"EVAL", ownScript, "2", neighbour, key, token, shorter}, asked, always},

	{read, "GET", words{"GET", key}, replies{hit: token}, always},
}

// What the commands do, as scripts.
const (
	renewScript   = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`
	releaseScript = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`

	ownScript = `
		local ttl, ms = redis.call("pttl", KEYS[1]), tonumber(ARGV[2])
		if ttl < 0 or ttl > ms and redis.call("get", KEYS[2]) ~= ARGV[1] then return 0 end
		redis.call("set", KEYS[2], ARGV[1], "px", ms)
		return redis.call("pexpire", KEYS[1], ms)`
)

var scripts = []string{renewScript, releaseScript, ownScript}

// Scripts of a library that do the same, and which the module runs as commands.
var knownRenew, knownRelease = known()

func known() (renew, release string) {
	renew, release, err := library.Scripts()
	if err != nil {
		panic(err)
	}
	return renew, release
}

// A command is one way to do an operation. Those that do the same one are held
// against each other.
type command struct {
	op    operation
	name  string
	words words
	reply replies
	found frequency
}

type operation string

const (
	renew   operation = "renew"
	release operation = "release"
	own     operation = "own"
	read    operation = "read"
)

// replies are what a command replies as RESP has it, or token, which stands for
// the lock's.
type replies map[outcome]string

var (
	asked   = replies{hit: ":1", miss: ":0"}
	unasked = replies{hit: ":1"} // there is no miss for what does not ask for a token
)

// frequency tells which servers have a command.
type frequency bool

const (
	always    frequency = true
	sometimes frequency = false
)

// find returns the command of this name, or nil.
func find(op operation, name string) *command {
	for _, c := range commands {
		if c.op == op && c.name == name {
			return c
		}
	}
	return nil
}

// words are what is sent, with words of each lock's own among them.
type words []string

const (
	key   = "\x00key"
	token = "\x00token"
	lease = "3600000" // long enough that no lock expires in a run

	neighbour = "\x00neighbour" // the key of another lock
	shorter   = "1800000"
)

func sha(script string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(script))) }

// A trial is a command, called on locks that are held with tokens of this size.
type trial struct {
	*command
	outcome outcome
	size    int
}

// An outcome is whether the token in a call is the one that the lock is held
// with.
type outcome string

const (
	hit  outcome = "hit"
	miss outcome = "miss"
)

// trials lists all there are, with alternatives next to each other.
func trials(commands []*command, sizes ...int) []trial {
	var all []trial
	for _, size := range sizes {
		for _, op := range []operation{renew, release, own, read} {
			for _, outcome := range []outcome{hit, miss} {
				for _, c := range commands {
					if c.op == op && c.reply[outcome] != "" {
						all = append(all, trial{c, outcome, size})
					}
				}
			}
		}
	}
	return all
}

// group is what alternatives have in common.
func (t trial) group() string {
	return fmt.Sprintf("%s, %s, %d bytes", t.op, t.outcome, t.size)
}

func (t trial) String() string { return t.group() + ": " + t.name }

// consumes tells whether a lock is good for one call only.
func (t trial) consumes() bool { return t.op == release && t.outcome == hit }

// stat is the name that INFO counts the command under.
func (t trial) stat() string {
	switch t.words[1] {
	case knownRenew, sha(knownRenew):
		return "goblin.caexpire"
	case knownRelease, sha(knownRelease):
		return "goblin.cad"
	}
	return strings.ToLower(t.words[0])
}

// acquire appends the call that takes the i-th lock, and its reply.
func (t trial) acquire(request, reply []byte, i int) ([]byte, []byte) {
	return appendCall(request, words{"SET", lock(i), held(t.size), "PX", lease}), append(reply, "+OK\r\n"...)
}

// call appends the call on the i-th lock to request, and what must be replied
// to reply.
func (t trial) call(request, reply []byte, i int) ([]byte, []byte) {
	mine := held(t.size)
	if t.outcome == miss {
		mine = strings.ToUpper(mine)
	}
	call := make(words, len(t.words))
	for n, word := range t.words {
		switch word {
		case key:
			word = lock(i)
		case neighbour:
			word = lock(i ^ 1)
		case token:
			word = mine
		}
		call[n] = word
	}
	request = appendCall(request, call)
	if t.reply[t.outcome] == token {
		return request, appendBulk(reply, mine)
	}
	return request, append(reply, t.reply[t.outcome]+"\r\n"...)
}

func lock(i int) string { return fmt.Sprintf("lock:%07d", i) }

// held is the token that a lock is held with, of hexadecimal digits as a UUID
// is. In upper case it is that of another holder.
func held(size int) string { return strings.Repeat("c0ffee", size/6+1)[:size] }

func appendCall(to []byte, call words) []byte {
	to = append(to, '*')
	to = strconv.AppendInt(to, int64(len(call)), 10)
	to = append(to, "\r\n"...)
	for _, word := range call {
		to = appendBulk(to, word)
	}
	return to
}

func appendBulk(to []byte, s string) []byte {
	to = append(to, '$')
	to = strconv.AppendInt(to, int64(len(s)), 10)
	to = append(to, "\r\n"...)
	to = append(to, s...)
	return append(to, "\r\n"...)
}
