package tests

import (
	"context"
	"strconv"
	"testing"

	"goblin/tests/server"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInTransaction(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	client := s.Session()
	for _, command := range [][]any{
		{"MULTI"},
		{"SET", "key", "token"},
		{"GOBLIN.CAEXPIRE", "key", "token", 60000},
		{"PTTL", "key"},
		{"GOBLIN.CAEXPIRE", "key", "wrong", 1},
		{"GOBLIN.CAEXPIRE", "key", "token", "x"},
		{"GOBLIN.CAD", "key", "wrong"},
		{"GOBLIN.CAD", "key", "token"},
		{"GOBLIN.CAD", "key", "token"},
	} {
		server.Do(client, command...)
	}
	replies := server.Do(client, "EXEC").([]any)
	assert.InDelta(t, 60000, replies[2], 2000)
	replies[2] = nil
	replies[4] = server.Reply(nil, replies[4].(error))
	assert.Equal(t, []any{"OK", renewed, nil, lost, notInteger, lost, released, lost}, replies)
}

func TestWrongArityAbortsTransaction(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	if !s.Speaks(7, 0) {
		t.Skip("before 7.0 the server does not know the arity of a module's command")
	}
	client := s.Session()
	server.Do(client, "MULTI")
	server.Do(client, "SET", "key", "token")
	server.Do(client, "GOBLIN.CAD", "key")
	assert.Contains(t, server.Do(client, "EXEC"), "EXECABORT")
	assert.Equal(t, int64(0), s.Do("EXISTS", "key"))
}

func TestFromScript(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	call := `return redis.call(unpack(ARGV))`
	eval := func(args ...any) any {
		return s.Do(append([]any{"EVAL", call, 1, args[1]}, args...)...)
	}
	s.Do("SET", "key", "token")
	assert.Equal(t, lost, eval("GOBLIN.CAEXPIRE", "key", "wrong", 60000))
	renews(t, s, "key", 60000, "EVAL", call, 1, "key", "GOBLIN.CAEXPIRE", "key", "token", 60000)
	assert.Contains(t, eval("GOBLIN.CAEXPIRE", "key", "token", "x"), "value is not an integer or out of range")
	assert.Equal(t, lost, eval("goblin.cad", "key", "wrong"))
	assert.Equal(t, released, eval("goblin.cad", "key", "token"))
	assert.Contains(t, eval("goblin.cad", "key"), "rong number of arg")
	if s.Speaks(7, 0) {
		s.Do("SET", "key", "token")
		assert.Contains(t, s.Do("EVAL_RO", call, 1, "key", "GOBLIN.CAD", "key", "token"), "Write commands are not allowed from read-only scripts")
		assert.Equal(t, "token", s.Do("GET", "key"))
	}
}

func TestFromFunction(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	if !s.Speaks(7, 0) {
		t.Skip("functions came with 7.0")
	}
	require.Equal(t, "lib", s.Do("FUNCTION", "LOAD", `#!lua name=lib
redis.register_function("renew", function(keys, args) return redis.call("GOBLIN.CAEXPIRE", keys[1], args[1], args[2]) end)
redis.register_function("release", function(keys, args) return redis.call("GOBLIN.CAD", keys[1], args[1]) end)`))
	s.Do("SET", "key", "token")
	assert.Equal(t, lost, s.Do("FCALL", "renew", 1, "key", "wrong", 60000))
	renews(t, s, "key", 60000, "FCALL", "renew", 1, "key", "token", 60000)
	assert.Contains(t, s.Do("FCALL_RO", "release", 1, "key", "token"), "Can not execute a script with write flag using *_ro command")
	assert.Equal(t, released, s.Do("FCALL", "release", 1, "key", "token"))
}

func TestProtocols(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	for _, protocol := range []int{2, 3} {
		client := s.Connect(func(o *redis.Options) { o.Protocol = protocol })
		server.Do(client, "SET", "key", "token")
		assert.Equal(t, renewed, server.Do(client, "GOBLIN.CAEXPIRE", "key", "token", 60000))
		assert.Equal(t, notInteger, server.Do(client, "GOBLIN.CAEXPIRE", "key", "token", "x"))
		assert.Equal(t, released, server.Do(client, "GOBLIN.CAD", "key", "token"))
		assert.Equal(t, lost, server.Do(client, "GOBLIN.CAD", "key", "token"))
	}
}

func TestPipeline(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	ctx := context.Background()
	const locks = 2500
	replies, err := s.Client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i := range locks {
			key, token := "lock:"+strconv.Itoa(i), "token-"+strconv.Itoa(i)
			pipe.Do(ctx, "SET", key, token, "PX", 60000)
			pipe.Do(ctx, "GOBLIN.CAEXPIRE", key, token, 120000)
			pipe.Do(ctx, "GOBLIN.CAD", key, token+"x")
			pipe.Do(ctx, "GOBLIN.CAD", key, token)
		}
		return nil
	})
	require.NoError(t, err)
	require.Len(t, replies, 4*locks)
	for i, want := range []any{"OK", renewed, lost, released} {
		for lock := range locks {
			require.Equal(t, want, replies[4*lock+i].(*redis.Cmd).Val())
		}
	}
	assert.Equal(t, int64(0), s.Do("DBSIZE"))
}

func TestNamesInAnyCase(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	s.Do("SET", "key", "token")
	assert.Equal(t, renewed, s.Do("goblin.caexpire", "key", "token", 1000))
	assert.Equal(t, released, s.Do("Goblin.Cad", "key", "token"))
}
