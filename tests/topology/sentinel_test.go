package topology

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"goblin/tests/server"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sentinel starts a Sentinel that watches a master under the name of locks.
func sentinel(t *testing.T, master *server.Server, quorum int) *server.Server {
	t.Helper()
	s := server.Unstarted(t)
	s.Expect("") // it logs all that it does as warnings
	s.Config = filepath.Join(s.Dir, "sentinel.conf")
	require.NoError(t, os.WriteFile(s.Config, fmt.Appendf(nil, `
sentinel monitor locks 127.0.0.1 %d %d
sentinel down-after-milliseconds locks 2000
sentinel failover-timeout locks 5000
`, master.Port, quorum), 0o644))
	s.Launch("--sentinel")
	s.Until("the Sentinel answers", func() bool { return s.Do("PING") == "PONG" })
	return s
}

// A client that renews through Sentinels keeps its lease when the master dies.
// One whose lease had not come to any replica is told that it has lost it.
func TestSentinel(t *testing.T) {
	t.Parallel()
	master, replicas := server.New(t), []*server.Server{server.New(t), server.New(t)}
	for _, replica := range replicas {
		replica.Expect("Unable to AUTH to|Error condition on socket for SYNC|Setting secondary replication ID")
		replica.ReplicaOf(master)
	}
	var sentinels []string
	for range 3 {
		sentinels = append(sentinels, sentinel(t, master, 2).Addr())
	}
	for _, addr := range sentinels {
		client := redis.NewSentinelClient(&redis.Options{Addr: addr})
		defer client.Close()
		server.Until(t, "the Sentinels know each other and the replicas", func() bool {
			locks, err := client.Master(ctx, "locks").Result()
			return err == nil && locks["num-other-sentinels"] == "2" && locks["num-slaves"] == "2"
		})
	}
	client := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "locks", SentinelAddrs: sentinels, DisableIdentity: true})
	defer client.Close()

	acquire(t, client, "kept", "token")
	acquire(t, client, "idle", "token")
	require.Equal(t, renewed, renew(client, "kept", "token", lease))
	require.Equal(t, renewed, renew(client, "idle", "token", 2*lease))
	for _, replica := range replicas {
		replica.InStepWith(master)
	}
	idle := deadlines(replicas[0], []string{"idle"})

	// From now on replicas are sent nothing.
	for _, replica := range replicas {
		require.Equal(t, "OK", replica.Do("CONFIG", "SET", "masterauth", "wrong"))
	}
	require.Equal(t, int64(2), master.Do("CLIENT", "KILL", "TYPE", "replica"))
	acquire(t, client, "lost", "token")
	require.Equal(t, renewed, renew(client, "lost", "token", lease))
	require.Equal(t, renewed, renew(client, "idle", "token", 3*lease))
	require.Equal(t, released, release(client, "idle", "token"))

	master.Kill()
	var reply any
	server.Until(t, "another master renews the lease", func() bool {
		reply = renew(client, "kept", "token", 4*lease)
		_, failed := reply.(server.Error)
		return !failed
	})
	assert.Equal(t, renewed, reply)
	// The Sentinels also close the connections of a server that gets another role.
	promoted, other := replicas[0], replicas[1]
	server.Until(t, "one replica follows the other", func() bool {
		promoted, other = other, promoted
		return other.Info("replication")["master_port"] == strconv.Itoa(promoted.Port) && promoted.Info("replication")["role"] == "master"
	})
	assert.Equal(t, lost, renew(client, "lost", "token", lease))
	assert.Equal(t, lost, release(client, "lost", "token"))
	same(t, idle, promoted, replicated(master)) // neither its renewal nor its release has come along

	require.Equal(t, "OK", other.Do("CONFIG", "SET", "masterauth", ""))
	other.InStepWith(promoted)
	assert.Equal(t, renewed, renew(client, "kept", "token", 5*lease))
	kept := deadlines(promoted, []string{"kept"})
	other.InStepWith(promoted)
	same(t, kept, other, replicated(promoted))
	assert.Equal(t, released, release(client, "kept", "token"))
}
