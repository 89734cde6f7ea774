package ownexpire

import (
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInTransaction(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	given(t, s, "another", 100*second)
	client := s.Session()
	for _, command := range [][]any{
		{"MULTI"},
		own("me", 50*second),
		own("me", 200*second),
		{"GET", ownerKey},
		own("another", 100*second),
		own("me", "x"),
		own("me", 50*second),
		own("me", 0),
		{"EXISTS", key, ownerKey},
		own("me", 100*second),
	} {
		server.Do(client, command...)
	}
	replies := server.Do(client, "EXEC").([]any)
	require.Len(t, replies, 9)
	replies[4] = server.Reply(nil, replies[4].(error))
	assert.Equal(t, []any{kept, set, "me", kept, notInteger, set, set, int64(0), kept}, replies)
}

func TestWrongArityAbortsTransaction(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	if !s.Speaks(7, 0) {
		t.Skip("before 7.0 the server does not know the arity of a module's command")
	}
	client := s.Session()
	server.Do(client, "MULTI")
	server.Do(client, "SET", "other", "")
	server.Do(client, "GOBLIN.OWNEXPIRE", key, ownerKey, "me")
	assert.Contains(t, server.Do(client, "EXEC"), "EXECABORT")
	assert.Equal(t, int64(0), s.Do("EXISTS", "other"))
}

// script passes its arguments on to the command.
const script = `return redis.call("GOBLIN.OWNEXPIRE", KEYS[1], KEYS[2], unpack(ARGV))`

func TestFromScript(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	eval := func(args ...any) []any { return append([]any{"EVAL", script, 2, key, ownerKey}, args...) }
	given(t, s, "another", 100*second)
	assert.Equal(t, kept, unchanged(t, s, eval("me", 50*second)...))
	sets(t, s, "me", 200*second, eval("me", 200*second)...)
	sets(t, s, "me", 50*second, eval("me", 50*second)...)
	assert.Contains(t, unchanged(t, s, eval("me", "x")...), "value is not an integer or out of range")
	assert.Contains(t, unchanged(t, s, eval("me")...), "rong number of arg")
	if s.Speaks(7, 0) {
		call := eval("me", 1)
		call[0] = "EVAL_RO"
		assert.Contains(t, unchanged(t, s, call...), "Write commands are not allowed from read-only scripts")
	}
	assert.Equal(t, set, s.Do(eval("me", 0)...))
	assert.Equal(t, int64(0), s.Do("EXISTS", key, ownerKey))
}

func TestFromFunction(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	if !s.Speaks(7, 0) {
		t.Skip("functions came with 7.0")
	}
	require.Equal(t, "lib", s.Do("FUNCTION", "LOAD",
		"#!lua name=lib\nredis.register_function('own', function(KEYS, ARGV) "+script+" end)"))
	given(t, s, "another", 100*second)
	assert.Equal(t, kept, unchanged(t, s, "FCALL", "own", 2, key, ownerKey, "me", 50*second))
	sets(t, s, "me", 200*second, "FCALL", "own", 2, key, ownerKey, "me", 200*second)
}

// Time stands still for a script, and so it does for what the script calls: a
// timeout is as long as one that PEXPIRE would set, and setting it once more is
// no attempt to shorten it.
func TestTimeInScripts(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	if !s.Speaks(7, 0) {
		t.Skip("on 6.0 a timeout that a long script sets is off by the time that it has run")
	}
	given(t, s, "", 100*second)
	given(t, s, "another", 100*second)
	require.Equal(t, "OK", s.Do("SET", "{job}:twin", ""))
	replies := s.Do("EVAL", `
		for i = 1, 2000000 do end
		redis.call("pexpire", KEYS[3], ARGV[1])
		return {
			redis.call("goblin.ownexpire", KEYS[1], KEYS[2], "me", ARGV[1]),
			redis.call("goblin.ownexpire", KEYS[1], KEYS[2], "another", ARGV[1]),
			redis.call("pttl", KEYS[1]) - redis.call("pttl", KEYS[3]),
		}`, 3, key, ownerKey, "{job}:twin", 200*second).([]any)
	assert.Equal(t, []any{set, set}, replies[:2])
	assert.InDelta(t, 0, replies[2], 2, "as by PEXPIRE")
}
