package topology

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"goblin/tests/server"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// refuses tells whether the server, in the state that its error begins with,
// refuses PEXPIRE and DEL. It asserts that the commands are then refused like
// these, whatever the token.
func refuses(t *testing.T, s *server.Server, state string) bool {
	t.Helper()
	calls, _ := s.Client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, call := range []string{
			"PEXPIRE lock 1", "GOBLIN.CAEXPIRE lock token 1", "GOBLIN.CAEXPIRE lock wrong 1", "GOBLIN.CAEXPIRE lock token -1",
			"DEL lock", "GOBLIN.CAD lock token", "GOBLIN.CAD lock wrong",
		} {
			pipe.Do(ctx, words(call)...)
		}
		return nil
	})
	var replies []any
	for _, call := range calls {
		replies = append(replies, server.Reply(call.(*redis.Cmd).Result()))
	}
	if err, refused := replies[0].(server.Error); !refused || !strings.HasPrefix(string(err), state) {
		return false
	}
	for i, reply := range replies {
		assert.Equal(t, replies[i/4*4], reply, calls[i])
	}
	return true
}

// A server that refuses writes refuses the commands as it refuses PEXPIRE and
// DEL, and afterwards the lease is what it was.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	acquire(t, s.Client, "lock", "token")
	deadline := s.Deadline("lock")
	unharmed := func(t *testing.T) {
		t.Helper()
		assert.Equal(t, "token", s.Do("GET", "lock"))
		assert.InDelta(t, deadline, s.Deadline("lock"), s.Slack())
		assert.Equal(t, renewed, renew(s.Client, "lock", "token", lease))
		deadline = s.Deadline("lock")
	}
	set := func(t *testing.T, option, value string) {
		t.Helper()
		require.Equal(t, "OK", s.Do("CONFIG", "SET", option, value))
	}

	t.Run("too few replicas", func(t *testing.T) {
		set(t, "min-replicas-to-write", "1")
		assert.True(t, refuses(t, s, "NOREPLICAS"))
		set(t, "min-replicas-to-write", "0")
		unharmed(t)
	})

	t.Run("a failed snapshot", func(t *testing.T) {
		s.Expect("Error moving temp DB file|Background saving error")
		inTheWay := filepath.Join(s.Dir, "dump.rdb")
		require.NoError(t, os.Mkdir(inTheWay, 0o755))
		require.Equal(t, "Background saving started", s.Do("BGSAVE"))
		s.Until("it has failed", func() bool { return s.Info("persistence")["rdb_last_bgsave_status"] == "err" })
		set(t, "save", "3600 1")
		assert.True(t, refuses(t, s, "MISCONF"))
		set(t, "stop-writes-on-bgsave-error", "no")
		unharmed(t)
		set(t, "stop-writes-on-bgsave-error", "yes")
		assert.True(t, refuses(t, s, "MISCONF"))
		set(t, "save", "")
		unharmed(t)
		require.NoError(t, os.Remove(inTheWay))
	})

	t.Run("a replica", func(t *testing.T) {
		s.Expect("Error condition on socket for SYNC|Setting secondary replication ID")
		require.Equal(t, "OK", s.Do("REPLICAOF", "127.0.0.1", "1"))
		assert.True(t, refuses(t, s, "READONLY"))
		set(t, "replica-read-only", "no")
		unharmed(t)
		set(t, "replica-serve-stale-data", "no")
		assert.True(t, refuses(t, s, "MASTERDOWN"))
		set(t, "replica-read-only", "yes")
		assert.True(t, refuses(t, s, "READONLY") || refuses(t, s, "MASTERDOWN"))
		set(t, "replica-serve-stale-data", "yes")
		require.Equal(t, "OK", s.Do("REPLICAOF", "NO", "ONE"))
		unharmed(t)
	})

	t.Run("paused", func(t *testing.T) {
		if !s.Speaks(6, 2) {
			t.Skip("CLIENT PAUSE WRITE came with 6.2")
		}
		require.Equal(t, "OK", s.Do("CLIENT", "PAUSE", "60000", "WRITE"))
		var replies [4]any
		var waiting sync.WaitGroup
		for i, call := range []string{"PEXPIRE lock 500000", "GOBLIN.CAD lock wrong", "GOBLIN.CAEXPIRE lock wrong 1", "GOBLIN.CAEXPIRE none token 1"} {
			client := s.Connect(nil)
			waiting.Go(func() { replies[i] = server.Do(client, words(call)...) })
		}
		s.Until("all four wait", func() bool { return s.Count("clients", "blocked_clients") == len(replies) })
		assert.Equal(t, deadline, s.Deadline("lock"))
		require.Equal(t, "OK", s.Do("CLIENT", "UNPAUSE"))
		waiting.Wait()
		assert.Equal(t, [4]any{int64(1), lost, lost, lost}, replies)
		deadline = s.Deadline("lock")
		unharmed(t)
	})

	t.Run("busy with a script", func(t *testing.T) {
		s.Expect("Slow script detected|Lua script killed by user|Lua slow script detected")
		set(t, "lua-time-limit", "10")
		var running sync.WaitGroup
		run := func(script string) {
			client := s.Connect(nil)
			running.Go(func() { server.Do(client, "EVAL", script, 1, "lock") })
			s.Until("it takes too long", func() bool { return s.Do("PING") != "PONG" })
			assert.True(t, refuses(t, s, "BUSY"))
		}
		run("while true do end")
		require.Equal(t, "OK", s.Do("SCRIPT", "KILL"))
		running.Wait()
		unharmed(t)
		// One that has changed something cannot be undone.
		run("redis.call('GOBLIN.CAEXPIRE', KEYS[1], 'token', 500000) while true do end")
		assert.Contains(t, s.Do("SCRIPT", "KILL"), "UNKILLABLE")
		s.Kill()
		running.Wait()
	})
}

// A server that loads its data refuses the commands as it does PEXPIRE and DEL.
func TestLoading(t *testing.T) {
	t.Parallel()
	s := server.New(t, "--rdbcompression", "no")
	acquire(t, s.Client, "lock", "token")
	// It looks at its clients once in 2 MB.
	require.Equal(t, "OK", s.Do("DEBUG", "POPULATE", "15", "big", "2200000"))
	require.Equal(t, "OK", s.Do("SAVE"))
	deadline := s.Deadline("lock")
	s.Kill()
	s.Launch("--key-load-delay", "200000") // µs
	s.Until("it is loading", func() bool { return strings.HasPrefix(fmt.Sprint(s.Do("PING")), "LOADING") })
	assert.True(t, refuses(t, s, "LOADING"))
	s.Until("it has loaded", func() bool { return s.Do("PING") == "PONG" })
	assert.InDelta(t, deadline, s.Deadline("lock"), s.Slack())
	assert.Equal(t, renewed, renew(s.Client, "lock", "token", lease))
}
