package ownexpire

import (
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCallers(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	t.Run("transaction", func(t *testing.T) { testInTransaction(t, s) })
	t.Run("transaction with a wrong arity", func(t *testing.T) { testWrongArityAbortsTransaction(t, s) })
	t.Run("script", func(t *testing.T) { testFromScript(t, s) })
	t.Run("function", func(t *testing.T) { testFromFunction(t, s) })
	t.Run("time in scripts", func(t *testing.T) { testTimeInScripts(t, s) })
	t.Run("lapse in scripts", func(t *testing.T) { testLapseInScripts(t, s) })
}

func testInTransaction(t *testing.T, s *server.Server) {
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

func testWrongArityAbortsTransaction(t *testing.T, s *server.Server) {
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

func testFromScript(t *testing.T, s *server.Server) {
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

func testFromFunction(t *testing.T, s *server.Server) {
	if !s.Speaks(7, 0) {
		t.Skip("functions came with 7.0")
	}
	require.Equal(t, "lib", s.Do("FUNCTION", "LOAD",
		"#!lua name=lib\nredis.register_function('own', function(KEYS, ARGV) "+script+" end)"))
	given(t, s, "another", 100*second)
	assert.Equal(t, kept, unchanged(t, s, "FCALL", "own", 2, key, ownerKey, "me", 50*second))
	sets(t, s, "me", 200*second, "FCALL", "own", 2, key, ownerKey, "me", 200*second)
}

// Where time stands still for a script, it does for what the script calls: a
// timeout is as long as one that PEXPIRE would set. And nowhere is it an
// attempt to shorten it to set it to the same once more.
func testTimeInScripts(t *testing.T, s *server.Server) {
	// So slow a script has the server look after other clients meanwhile.
	s.Expect("(?i)slow script detected")
	require.Equal(t, "OK", s.Do("CONFIG", "SET", "lua-time-limit", "10"))
	given(t, s, "", 100*second)
	require.Equal(t, "OK", s.Do("SET", "{job}:twin", ""))
	replies := s.Do("EVAL", `
		for i = 1, 20000000 do end
		redis.call("pexpire", KEYS[3], ARGV[1])
		return {
			redis.call("goblin.ownexpire", KEYS[1], KEYS[2], "me", ARGV[1]),
			redis.call("goblin.ownexpire", KEYS[1], KEYS[2], "another", ARGV[1]),
		}`, 3, key, ownerKey, "{job}:twin", 200*second)
	assert.Equal(t, []any{set, set}, replies)
	if s.Speaks(7, 2) {
		assert.Equal(t, s.Deadline("{job}:twin"), s.Deadline(key))
	}
}

// A script goes on seeing a key whose time comes while the script runs. A
// timeout that it sets then is as long as one that PEXPIRE would set.
func testLapseInScripts(t *testing.T, s *server.Server) {
	given(t, s, "me", 100*second)
	require.Equal(t, "OK", s.Do("MSET", "{job}:before", "", "{job}:after", ""))
	reply := s.Do("EVAL", `
		redis.call("pexpire", KEYS[1], 20)
		for i = 1, 50000000 do end
		redis.call("pexpire", KEYS[3], ARGV[1])
		local reply = redis.call("goblin.ownexpire", KEYS[1], KEYS[2], "me", ARGV[1])
		redis.call("pexpire", KEYS[4], ARGV[1])
		return reply`, 4, key, ownerKey, "{job}:before", "{job}:after", 200*second)
	assert.Equal(t, set, reply)
	for _, key := range []string{key, ownerKey} {
		assert.GreaterOrEqual(t, float64(s.Deadline(key)), float64(s.Deadline("{job}:before"))-s.Slack(), key)
		assert.LessOrEqual(t, float64(s.Deadline(key)), float64(s.Deadline("{job}:after"))+s.Slack(), key)
	}
}
