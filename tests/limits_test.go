package tests

import (
	"strconv"
	"strings"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A full server can still renew and release its locks.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	s.Do("SET", "lock", "token", "PX", 60000)
	require.Equal(t, "OK", s.Do("CONFIG", "SET", "maxmemory", "1"))
	require.Contains(t, s.Do("SET", "other", "x"), "OOM")
	assert.Equal(t, lost, s.Do("GOBLIN.CAEXPIRE", "lock", "wrong", 120000))
	assert.Equal(t, renewed, s.Do("GOBLIN.CAEXPIRE", "lock", "token", 120000))
	assert.Greater(t, s.Do("PTTL", "lock"), int64(60000))
	assert.Equal(t, released, s.Do("GOBLIN.CAD", "lock", "token"))
}

// A write command is refused on a replica before anything is compared.
func TestReadOnlyReplica(t *testing.T) {
	t.Parallel()
	master := server.Plain(t)
	replica := server.New(t)
	master.Do("SET", "lock", "token", "PX", 60000)
	replica.ReplicaOf(master)
	for _, token := range []string{"token", "wrong"} {
		for _, call := range [][]any{{"GOBLIN.CAD", "lock", token}, {"GOBLIN.CAEXPIRE", "lock", token, 1000}} {
			assert.Equal(t, replica.Do("DEL", "lock"), unchanged(t, replica, "lock", call...))
			assert.Contains(t, replica.Do(call...), "READONLY")
		}
	}
}

// What replicas and the AOF receive are core commands: a server without the
// module ends up with the same keys and the same deadlines.
func TestServersWithoutTheModule(t *testing.T) {
	t.Parallel()
	s := server.New(t, "--appendonly", "yes", "--appendfsync", "always")
	replica := server.Plain(t)
	replica.ReplicaOf(s)

	const locks = 20
	deadlines := map[string]int64{}
	for i := range locks {
		key, token := "lock:"+strconv.Itoa(i), strings.Repeat("\r\n\x00", i)
		require.Equal(t, "OK", s.Do("SET", key, token, "PX", 600000))
		switch i % 4 {
		case 0:
			require.Equal(t, renewed, s.Do("GOBLIN.CAEXPIRE", key, token, 1000000+i))
		case 1:
			require.Equal(t, lost, s.Do("GOBLIN.CAEXPIRE", key, token+"x", 1))
		case 2:
			require.Equal(t, released, s.Do("GOBLIN.CAD", key, token))
		case 3:
			require.Equal(t, int64(1), s.Do("GOBLIN.CAEXPIRE", key, token, -i))
		}
		deadlines[key] = s.Deadline(key)
	}
	same := func(s *server.Server, slack float64) {
		t.Helper()
		for key, deadline := range deadlines {
			assert.InDelta(t, deadline, s.Deadline(key), slack, key)
		}
		assert.Equal(t, int64(locks/2), s.Do("DBSIZE"))
	}
	replica.InStepWith(s)
	if s.Speaks(7, 0) {
		same(replica, 0)
	} else {
		same(replica, 1000) // 6.0 sends its replicas the relative time, as for PEXPIRE
	}

	s.Kill()
	bare := server.Unstarted(t, "--appendonly", "yes")
	bare.Dir = s.Dir
	bare.Start()
	same(bare, bare.Slack())
}
