package topology

import (
	"fmt"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A full server renews and releases whatever it has not evicted, and renews
// nothing that it has.
func TestEviction(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	locks := numbered("lock", 100)
	for _, policy := range []string{
		"noeviction", "allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl",
		"allkeys-lrm", "volatile-lrm",
	} {
		t.Run(policy, func(t *testing.T) {
			require.Equal(t, "OK", s.Do("CONFIG", "SET", "maxmemory", "0"))
			if s.Do("CONFIG", "SET", "maxmemory-policy", policy) != "OK" {
				t.Skip("the server has no such policy")
			}
			require.Equal(t, "OK", s.Do("FLUSHALL"))
			s.Until("all is freed", func() bool { return s.Count("memory", "lazyfree_pending_objects") == 0 })
			for _, lock := range locks {
				acquire(t, s.Client, lock, "token")
			}
			evicted := s.Count("stats", "evicted_keys")
			full := s.Count("memory", "used_memory") + 50_000
			require.Equal(t, "OK", s.Do("CONFIG", "SET", "maxmemory", full))
			// It may free memory of its own meanwhile, so nobody knows how much it takes.
			var reply any
			others := 0
			s.Until("it is full", func() bool {
				others++
				reply = s.Do("SET", fmt.Sprint("other:", others), make([]byte, 1000), "PX", lease/2)
				return reply != "OK" || s.Count("stats", "evicted_keys") >= evicted+50
			})

			kept := 0
			for _, lock := range locks {
				assert.Equal(t, lost, renew(s.Client, lock, "wrong", lease))
				assert.Equal(t, lost, release(s.Client, lock, "wrong"))
				switch renew(s.Client, lock, "token", lease) {
				case renewed:
					kept++
				case lost:
					assert.Equal(t, int64(0), s.Do("EXISTS", lock))
				default:
					assert.Fail(t, "neither renewed nor lost")
				}
				// It may be evicted meanwhile, but not come back.
				assert.Contains(t, []any{released, lost}, release(s.Client, lock, "token"))
				assert.Equal(t, lost, renew(s.Client, lock, "token", lease))
			}
			evicted = s.Count("stats", "evicted_keys") - evicted
			t.Logf("%d locks kept, %d keys evicted", kept, evicted)
			if policy == "noeviction" {
				assert.Equal(t, len(locks), kept)
				assert.Contains(t, reply, "OOM")
			} else {
				assert.Positive(t, evicted)
			}
		})
	}
}

// Keyspace events are for who has asked for them.
func TestNotifications(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	subscription := s.Client.PSubscribe(ctx, "__key*", "end")
	defer subscription.Close()
	for range 2 {
		_, err := subscription.Receive(ctx)
		require.NoError(t, err)
	}
	for _, test := range []struct {
		setting string
		events  []string
	}{
		{"", nil},
		{"Eg", []string{"__keyevent@0__:expire", "__keyevent@0__:del"}},
		{"Kg", []string{"__keyspace@0__:lock", "__keyspace@0__:lock"}},
		{"KE$", nil},
		{"", nil},
	} {
		require.Equal(t, "OK", s.Do("SET", "lock", "token"))
		require.Equal(t, "OK", s.Do("CONFIG", "SET", "notify-keyspace-events", test.setting))
		assert.Equal(t, renewed, renew(s.Client, "lock", "token", lease))
		assert.Equal(t, released, release(s.Client, "lock", "token"))
		s.Do("CONFIG", "SET", "notify-keyspace-events", "")
		require.Equal(t, int64(1), s.Do("PUBLISH", "end", ""))
		var events []string
		for {
			message, err := subscription.ReceiveMessage(ctx)
			require.NoError(t, err)
			if message.Channel == "end" {
				break
			}
			events = append(events, message.Channel)
		}
		assert.Equal(t, test.events, events, test.setting)
	}
}
