package accelerate

import (
	"strings"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lease is longer than any test.
const lease = 10 * time.Minute

// sides are two servers, of which one runs scripts as commands.
type sides struct {
	plain, accelerating *server.Server
}

func start(t *testing.T, options ...string) sides {
	t.Helper()
	both := sides{server.Plain(t, options...), accelerating(t, options...)}
	load(t, both.plain)
	load(t, both.accelerating)
	return both
}

// goes asserts that the accelerating server goes a certain way to run a call,
// and replies what the plain one does.
func (both sides) goes(t *testing.T, way string, call ...any) {
	t.Helper()
	for _, held := range [][]any{{"SET", "lock", "token", "PX", lease.Milliseconds()}, {"SET", "lock", "other"}, {"DEL", "lock"}} {
		both.plain.Do(held...)
		both.accelerating.Do(held...)
		ran(t, both.accelerating)
		assert.Equal(t, both.plain.Do(call...), both.accelerating.Do(call...), "%.100q after %q", call, held)
		took := map[string]int{way: 1}
		if way == "" {
			took = map[string]int{}
		}
		require.Equal(t, took, ran(t, both.accelerating), "%.100q after %q", call, held)
		assert.Equal(t, both.plain.Do("DUMP", "lock"), both.accelerating.Do("DUMP", "lock"), "%.100q after %q", call, held)
		assert.InDelta(t, both.plain.Do("PTTL", "lock"), both.accelerating.Do("PTTL", "lock"), 5000, "%.100q after %q", call, held)
	}
}

func TestIsRunAsCommand(t *testing.T) {
	t.Parallel()
	both := start(t)
	release, renew := known(t)
	both.plain.Do("SCRIPT", "LOAD", release)
	both.plain.Do("SCRIPT", "LOAD", renew)
	for _, name := range []string{"EVALSHA", "evalsha", "EvalSha"} {
		both.goes(t, "goblin.cad", name, releaseSHA, 1, "lock", "token")
		both.goes(t, "goblin.cad", name, strings.ToUpper(releaseSHA), 1, "lock", "token")
		both.goes(t, "goblin.caexpire", name, renewSHA, 1, "lock", "token", 60000)
		both.goes(t, "goblin.cad", name, digest(release), 1, "lock", "token")
		both.goes(t, "goblin.caexpire", name, digest(renew), 1, "lock", "token", 60000)
	}
	for _, name := range []string{"EVAL", "eval", "eVaL"} {
		both.goes(t, "goblin.cad", name, release, 1, "lock", "token")
		both.goes(t, "goblin.caexpire", name, renew, 1, "lock", "token", 60000)
	}
	for _, ms := range []any{1 << 40, 1, 0, -1, -1 << 63} {
		both.accelerating.Do("PING")
		if ms == 1 { // it may be gone before it is looked at
			continue
		}
		both.goes(t, "goblin.caexpire", "EVALSHA", renewSHA, 1, "lock", "token", ms)
	}
}

// rueidislock's script for releasing, which is sent with an argument that it
// does not read.
const rueidislockRelease = "9eb62214c9af87ae5f9a9f12bb4520281c0d2ae1"

func TestSurplusArgument(t *testing.T) {
	t.Parallel()
	s := accelerating(t)
	for _, test := range []struct {
		call    string
		surplus int
	}{
		{"EVALSHA " + rueidislockRelease + " 1 lock token", 0},
		{"EVALSHA " + rueidislockRelease + " 1 lock token 1733000000000", 1},
		{"EVALSHA " + rueidislockRelease + " 1 lock token 1733000000000 x", 2},
	} {
		require.Equal(t, "OK", s.Do("SET", "lock", "token"))
		ran(t, s)
		reply := s.Do(words(test.call)...)
		if test.surplus < 2 {
			assert.Equal(t, int64(1), reply, test.call)
			assert.Equal(t, native, ran(t, s), test.call)
		} else {
			assert.Contains(t, reply, "NOSCRIPT", test.call)
			assert.Equal(t, script, ran(t, s), test.call)
		}
	}
}

// Everything else passes untouched. The plain server replies to it, be it an
// error, and so does the other.
func TestIsLeftAlone(t *testing.T) {
	t.Parallel()
	both := start(t)
	release, renew := known(t)
	for _, s := range []*server.Server{both.plain, both.accelerating} {
		s.Do("SCRIPT", "LOAD", release)
		s.Do("SCRIPT", "LOAD", renew)
	}

	for _, numkeys := range []any{"01", "+1", " 1", "1 ", "1.0", "1\x00", "", "0", "2", "-1", "11", "x"} {
		both.goes(t, "evalsha", "EVALSHA", releaseSHA, numkeys, "lock", "token")
		both.goes(t, "eval", "EVAL", release, numkeys, "lock", "token")
		both.goes(t, "evalsha", "EVALSHA", renewSHA, numkeys, "lock", "token", 60000)
	}
	both.goes(t, "evalsha", "EVALSHA", releaseSHA, 2, "lock", "lock2", "token")

	// Too few arguments, and surplus ones.
	both.goes(t, "", "EVALSHA")
	both.goes(t, "", "EVAL")
	both.goes(t, "", "EVALSHA", releaseSHA)
	both.goes(t, "evalsha", "EVALSHA", releaseSHA, 1)
	both.goes(t, "evalsha", "EVALSHA", releaseSHA, 1, "lock")
	both.goes(t, "evalsha", "EVALSHA", releaseSHA, 1, "lock", "token", "surplus")
	both.goes(t, "evalsha", "EVALSHA", renewSHA, 1)
	both.goes(t, "evalsha", "EVALSHA", renewSHA, 1, "lock")
	both.goes(t, "evalsha", "EVALSHA", renewSHA, 1, "lock", "token")
	both.goes(t, "evalsha", "EVALSHA", renewSHA, 1, "lock", "token", 60000, "surplus")
	both.goes(t, "eval", "EVAL", release, 1, "lock", "token", "surplus")
	both.goes(t, "eval", "EVAL", renew, 1, "lock", "token", 60000, "surplus")

	// What the command would refuse, even where the script does not look.
	for _, ms := range []any{
		"", "x", "+5", "05", "-0", " 5", "5 ", "1e3", "5.0", "60000\n", "\x0060000", "9223372036854775808", "-9223372036854775809",
		"9223372036854775807", "9223372036854775806", strings.Repeat("9", 1000),
	} {
		both.goes(t, "evalsha", "EVALSHA", renewSHA, 1, "lock", "token", ms)
		both.goes(t, "eval", "EVAL", renew, 1, "lock", "token", ms)
	}

	// Other scripts, and other texts of the same.
	both.goes(t, "eval", "EVAL", releaseScript, 1, "lock", "token") // told of by digest, and so known by digest only
	both.goes(t, "eval", "EVAL", renewScript, 1, "lock", "token", 60000)
	both.goes(t, "eval", "EVAL", release+" ", 1, "lock", "token")
	both.goes(t, "eval", "EVAL", release[:len(release)-1], 1, "lock", "token")
	both.goes(t, "eval", "EVAL", strings.Replace(release, `"get"`, `"GET"`, 1), 1, "lock", "token")
	both.goes(t, "eval", "EVAL", release+strings.Repeat("\n", 1023-len(release)), 1, "lock", "token")
	both.goes(t, "eval", "EVAL", release+strings.Repeat("\n", 5000), 1, "lock", "token")
	both.goes(t, "eval", "EVAL", "", 1, "lock", "token")
	both.goes(t, "evalsha", "EVALSHA", digest(release+" "), 1, "lock", "token")
	both.goes(t, "evalsha", "EVALSHA", releaseSHA+"0", 1, "lock", "token")
	both.goes(t, "evalsha", "EVALSHA", releaseSHA[:39], 1, "lock", "token")
	both.goes(t, "evalsha", "EVALSHA", releaseSHA[:39]+"g", 1, "lock", "token")
	both.goes(t, "evalsha", "EVALSHA", "", 1, "lock", "token")
	both.goes(t, "evalsha", "EVALSHA", strings.Repeat("0", 40), 1, "lock", "token")

	// Other commands.
	both.goes(t, "", "EVALSHA ", releaseSHA, 1, "lock", "token")
	both.goes(t, "", "EVALSHB", releaseSHA, 1, "lock", "token")
	both.goes(t, "", "EVALSHA_RO", releaseSHA, 1, "lock", "token")
	both.goes(t, "", "EVAL_RO", release, 1, "lock", "token")
	both.goes(t, "", "FCALL", releaseSHA, 1, "lock", "token")
	both.goes(t, "", "", releaseSHA, 1, "lock", "token")
	both.goes(t, "", "SET", "lock", release)
}

// A server that has forgotten its scripts, or never knew them, still runs them.
func TestNeedsNoScript(t *testing.T) {
	t.Parallel()
	release, renew := known(t)
	s := accelerating(t, "--appendonly", "yes", "--appendfsync", "always")
	for _, forget := range []func(){
		func() {},
		func() { require.Equal(t, "OK", s.Do("SCRIPT", "FLUSH")) },
		func() { s.Stop(); s.Start() },
		func() { s.Kill(); s.Start() },
	} {
		require.Equal(t, "OK", s.Do("SET", "lock", "token", "PX", lease.Milliseconds()))
		forget()
		assert.Equal(t, []any{int64(0)}, s.Do("SCRIPT", "EXISTS", digest(release)))
		assert.Equal(t, int64(1), s.Do("EVALSHA", digest(renew), 1, "lock", "token", 2*lease.Milliseconds()))
		assert.Greater(t, s.Do("PTTL", "lock"), lease.Milliseconds())
		assert.Equal(t, int64(1), s.Do("EVALSHA", digest(release), 1, "lock", "token"))
		assert.Equal(t, int64(0), s.Do("EXISTS", "lock"))
	}
}
