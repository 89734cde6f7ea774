package ownexpire

import (
	"strings"
	"testing"

	"goblin/tests/server"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// It stores an identifier, so a full server refuses it as it refuses SET.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	given(t, s, "me", 100*second)
	// The server is full for the call alone: 6.0 then refuses all transactions,
	// those that look at deadlines too.
	full := func(call ...any) any {
		t.Helper()
		return unchangedBy(t, s, func() any {
			require.Equal(t, "OK", s.Do("CONFIG", "SET", "maxmemory", "1"))
			defer s.Do("CONFIG", "SET", "maxmemory", "0")
			return s.Do(call...)
		})
	}
	refusal := full("SET", "other", "")
	require.Contains(t, refusal, "OOM")
	for _, identifier := range []string{"me", "another"} {
		for _, ms := range []int64{200 * second, 50 * second, 0} {
			assert.Equal(t, refusal, full(own(identifier, ms)...))
		}
	}
	assert.Contains(t, full("EVAL", script, 2, key, ownerKey, "me", 200*second), "OOM")
	sets(t, s, "me", 200*second, own("me", 200*second)...)
}

func TestReadOnlyReplica(t *testing.T) {
	t.Parallel()
	master := server.Plain(t)
	replica := server.New(t)
	given(t, master, "me", 100*second)
	replica.ReplicaOf(master)
	for _, identifier := range []string{"me", "another"} {
		for _, ms := range []int64{200 * second, 50 * second, 0} {
			reply := unchanged(t, replica, own(identifier, ms)...)
			assert.Contains(t, reply, "READONLY")
			assert.Equal(t, replica.Do("SET", key, ""), reply)
		}
	}
}

// Both keys have to be in one slot.
func TestCluster(t *testing.T) {
	t.Parallel()
	s := server.New(t, "--cluster-enabled", "yes")
	s.Expect("Cluster state changed")
	slots := []any{"CLUSTER", "ADDSLOTS"}
	for slot := range 16384 {
		slots = append(slots, slot)
	}
	require.Equal(t, "OK", s.Do(slots...))
	s.Until("the cluster is up", func() bool { return strings.Contains(s.Do("CLUSTER", "INFO").(string), "cluster_state:ok") })

	given(t, s, "another", 100*second)
	assert.Equal(t, kept, unchanged(t, s, own("me", 50*second)...))
	sets(t, s, "me", 200*second, own("me", 200*second)...)
	require.Equal(t, set, s.Do(own("me", 0)...))
	assert.Equal(t, int64(0), s.Do("EXISTS", key, ownerKey))

	given(t, s, "another", 100*second)
	for _, keys := range [][2]string{{key, "{other}:owner"}, {"{other}", ownerKey}, {"job", "job:owner"}} {
		crossed := s.Do("MSET", keys[0], "", keys[1], "")
		require.Contains(t, crossed, "CROSSSLOT")
		for _, ms := range []any{200 * second, 50 * second, 0, "x"} {
			assert.Equal(t, crossed, unchanged(t, s, "GOBLIN.OWNEXPIRE", keys[0], keys[1], "me", ms))
		}
		assert.Contains(t, unchanged(t, s, "EVAL", script, 2, keys[0], keys[1], "me", 200*second), "CROSSSLOT")
	}
}

// A user needs permission for both keys.
func TestACL(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	user := func(rules ...any) *redis.Client {
		require.Equal(t, "OK", s.Do(append([]any{"ACL", "SETUSER", "user", "reset", "on", ">secret"}, rules...)...))
		return s.Connect(func(o *redis.Options) { o.Username, o.Password = "user", "secret" })
	}
	denied := func(rules ...any) {
		t.Helper()
		client := user(rules...)
		for _, owner := range []string{"me", "another", ""} {
			given(t, s, owner, 100*second)
			before := []any{s.Do("DUMP", key), s.Do("DUMP", ownerKey), s.Deadline(key)}
			for _, ms := range []any{200 * second, 0, "x"} {
				assert.Contains(t, server.Do(client, own("me", ms)...), "NOPERM", "%q", rules)
			}
			after := []any{s.Do("DUMP", key), s.Do("DUMP", ownerKey), before[2]}
			assert.Equal(t, before, after)
			assert.InDelta(t, before[2], s.Deadline(key), s.Slack())
		}
	}
	allowed := func(rules ...any) {
		t.Helper()
		client := user(rules...)
		given(t, s, "another", 100*second)
		assert.Equal(t, kept, server.Do(client, own("me", 50*second)...), "%q", rules)
		assert.Equal(t, set, server.Do(client, own("me", 200*second)...), "%q", rules)
		assert.Equal(t, set, server.Do(client, own("me", 0)...), "%q", rules)
	}
	const command = "+goblin.ownexpire"
	allowed(command, "~{job}", "~{job}:owner")
	allowed(command, "~*")
	denied(command)
	denied(command, "~{job}")
	denied(command, "~{job}:owner")
	denied("+@all", "-goblin.ownexpire", "~*")
	denied("+set", "+pexpireat", "+pexpire", "+get", "+pttl", "~*")
	if !s.Speaks(7, 0) {
		return // permissions to read or to write a key came with 7.0
	}
	allowed(command, "%RW~{job}", "%RW~{job}:owner")
	for _, keys := range [][]any{
		{"~{job}", "%R~{job}:owner"},
		{"~{job}", "%W~{job}:owner"},
		{"%R~{job}", "~{job}:owner"},
		{"%W~{job}", "~{job}:owner"},
	} {
		denied(append([]any{command}, keys...)...)
	}
}
