package topology

import (
	"strconv"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// use takes n locks through lives of their own, and returns what they end with.
func use(t *testing.T, master *server.Server, name string, n int) map[string]int64 {
	t.Helper()
	keys := numbered(name, n)
	for i, key := range keys {
		token := "token-" + strconv.Itoa(i)
		acquire(t, master.Client, key, token)
		for round := range 3 {
			require.Equal(t, lost, renew(master.Client, key, token+"x", 1))
			require.Equal(t, renewed, renew(master.Client, key, token, lease+1000*i+round))
		}
		if i%3 == 0 {
			require.Equal(t, lost, release(master.Client, key, "x"+token))
			require.Equal(t, released, release(master.Client, key, token))
		}
	}
	return deadlines(master, keys)
}

// Replicas, and theirs, keep the leases that the master keeps, with or without
// the module.
func TestReplicas(t *testing.T) {
	t.Parallel()
	master, chained, plain, last := server.New(t), server.New(t), server.Plain(t), server.Plain(t)
	before := use(t, master, "before", 9) // in the snapshot that replicas start from
	chained.ReplicaOf(master)
	last.ReplicaOf(chained)
	plain.ReplicaOf(master)
	after := use(t, master, "after", 30)
	for _, replica := range []*server.Server{chained, plain, last} {
		replica.InStepWith(master)
		same(t, before, replica, master.Slack())
		same(t, after, replica, replicated(master))
		assert.Equal(t, master.Do("DBSIZE"), replica.Do("DBSIZE"))
	}
}

// Leases survive that a replica takes the master's place, that links break, and
// that the master comes back; none of it takes another snapshot.
func TestFailover(t *testing.T) {
	t.Parallel()
	options := []string{
		"--repl-ping-replica-period", "1000", // so that no server is sent what others were not
	}
	first, second, third := server.New(t, options...), server.New(t, options...), server.New(t, options...)
	for _, s := range []*server.Server{first, second} {
		s.Expect("Setting secondary replication ID")
	}
	second.ReplicaOf(first)
	third.ReplicaOf(first)
	leases := use(t, first, "first", 9)
	second.InStepWith(first)
	third.InStepWith(first)
	snapshots := func() int {
		return first.Count("stats", "sync_full") + second.Count("stats", "sync_full") + third.Count("stats", "sync_full")
	}
	require.Equal(t, 2, snapshots())

	// The second takes over; the others follow it.
	require.Equal(t, "OK", second.Do("REPLICAOF", "NO", "ONE"))
	same(t, leases, second, replicated(first))
	leases = deadlines(second, numbered("first", 9))
	assert.Equal(t, renewed, renew(second.Client, "first:1", "token-1", lease), "its lease has come along")
	assert.Equal(t, lost, renew(second.Client, "first:0", "token-0", lease), "it had been released")
	leases["first:1"] = second.Deadline("first:1")
	first.ReplicaOf(second)
	third.ReplicaOf(second)
	assert.Contains(t, renew(first.Client, "first:1", "token-1", lease), "READONLY")

	// Their links break again and again while it is used.
	for round := range 3 {
		for key, deadline := range use(t, second, "round-"+strconv.Itoa(round), 6) {
			leases[key] = deadline
		}
		require.Equal(t, int64(2), second.Do("CLIENT", "KILL", "TYPE", "replica"))
		require.Equal(t, renewed, renew(second.Client, "first:1", "token-1", lease+round))
		leases["first:1"] = second.Deadline("first:1")
		for _, replica := range []*server.Server{first, third} {
			replica.InStepWith(second)
			same(t, leases, replica, replicated(second))
		}
	}

	// The first becomes master again, and the third a replica of a replica.
	require.Equal(t, "OK", first.Do("REPLICAOF", "NO", "ONE"))
	second.ReplicaOf(first)
	third.InStepWith(second)
	for key, deadline := range use(t, first, "again", 6) {
		leases[key] = deadline
	}
	require.Equal(t, released, release(first.Client, "first:1", "token-1"))
	leases["first:1"] = -2
	for _, replica := range []*server.Server{second, third} {
		replica.InStepWith(first)
		same(t, leases, replica, replicated(first))
		assert.Equal(t, first.Do("DBSIZE"), replica.Do("DBSIZE"))
	}
	assert.Equal(t, 2, snapshots())
}
