package accelerate

import (
	"testing"

	"goblin/tests/server"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Redlock: a lock that is held on a quorum of servers outlives two of five, and
// not a third.
func TestRedlock(t *testing.T) {
	t.Parallel()
	servers := make([]*server.Server, 5)
	pools := make([]redis.Pool, len(servers))
	for i := range servers {
		servers[i] = accelerating(t)
		pools[i] = goredis.NewPool(servers[i].Client)
	}
	locker := redsync.New(pools...)
	mutex := func() *redsync.Mutex { return locker.NewMutex("lock", redsync.WithExpiry(lease), redsync.WithTries(1)) }

	held, other := mutex(), mutex()
	require.NoError(t, held.Lock())
	require.Error(t, other.Lock())
	for _, s := range servers {
		ran(t, s)
		require.Equal(t, int64(1), s.Do("PEXPIRE", "lock", 60_000))
	}
	extend(t, held)
	for _, s := range servers {
		assert.Equal(t, map[string]int{"goblin.caexpire": 1}, ran(t, s))
		assert.Greater(t, s.Do("PTTL", "lock"), int64(60_000))
	}

	servers[0].Kill()
	servers[3].Kill()
	extend(t, held)
	assert.Error(t, other.Lock())
	for _, i := range []int{1, 2, 4} {
		assert.Equal(t, held.Value(), servers[i].Do("GET", "lock"))
		assert.Equal(t, 1, ran(t, servers[i])["goblin.caexpire"])
	}
	released, _ := held.Unlock() // its error is that two servers are gone
	assert.True(t, released)
	require.NoError(t, other.Lock())
	extend(t, other)

	servers[4].Kill()
	extended, err := other.Extend()
	assert.False(t, extended)
	assert.Error(t, err)
	assert.Error(t, mutex().Lock())
}

func extend(t *testing.T, mutex *redsync.Mutex) {
	t.Helper()
	until := mutex.Until()
	extended, err := mutex.Extend()
	assert.True(t, extended, err)
	assert.Greater(t, mutex.Until(), until)
}
