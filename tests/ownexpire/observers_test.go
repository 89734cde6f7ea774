package ownexpire

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pairs are calls, and the commands of the core that must have the same effect
// on others. Each finds the key owned by me, unless before changes that.
var pairs = []struct {
	name   string
	before []any
	call   []any
	core   [][]any
}{
	{"extended", nil, own("another", 200*second), setting("another", 200*second)},
	{"shortened", nil, own("me", 50*second), setting("me", 50*second)},
	{"owned for the first time", []any{"DEL", ownerKey}, own("me", 200*second), setting("me", 200*second)},
	{"deleted", nil, own("me", -1), [][]any{ttl, owner, {"PEXPIRE", ownerKey, -1}, {"PEXPIRE", key, -1}}},
	{"not by the owner", nil, own("another", 50*second), [][]any{ttl, owner}},
	{"not deleted by another", nil, own("another", 0), [][]any{ttl, owner}},
	{"without an owner", []any{"DEL", ownerKey}, own("me", 50*second), [][]any{ttl, owner}},
	{"no TTL", []any{"PERSIST", key}, own("me", 50*second), [][]any{ttl, owner}},
	{"missing", []any{"DEL", key}, own("me", 50*second), [][]any{ttl, owner}},
	{"both missing", []any{"DEL", key, ownerKey}, own("me", 50*second), [][]any{ttl, owner}},
	{"wrong type", []any{"SORT", key, "BY", "nosort", "STORE", ownerKey}, own("me", 200*second), [][]any{ttl, owner}},
}

// What the command looks at, changed or not.
var (
	ttl   = []any{"PTTL", key}
	owner = []any{"GET", ownerKey}
)

func setting(identifier string, ms int64) [][]any {
	return [][]any{ttl, owner, {"SET", ownerKey, identifier}, {"PEXPIRE", ownerKey, ms}, {"PEXPIRE", key, ms}}
}

// eachPair has observe see the call, and then the commands of the core, and
// asserts that it has seen the same.
func eachPair(t *testing.T, s *server.Server, observe func(t *testing.T, run func()) any) {
	for _, pair := range pairs {
		t.Run(pair.name, func(t *testing.T) {
			var seen [2]any
			for i, commands := range [][][]any{{pair.call}, pair.core} {
				given(t, s, "me", 100*second)
				if pair.before != nil {
					s.Do(pair.before...)
				}
				seen[i] = observe(t, func() {
					for _, command := range commands {
						s.Do(command...)
					}
				})
			}
			assert.Equal(t, seen[1], seen[0])
			t.Logf("%v", seen[0])
		})
	}
}

func TestObservers(t *testing.T) {
	t.Parallel()
	// With this policy and factor a key's frequency counts every touch.
	s := server.New(t, "--maxmemory-policy", "allkeys-lfu", "--lfu-log-factor", "0", "--notify-keyspace-events", "KEAm")
	if s.Speaks(7, 0) {
		s.Do("CONFIG", "SET", "notify-keyspace-events", "KEAmn")
	}

	t.Run("statistics", func(t *testing.T) {
		eachPair(t, s, func(t *testing.T, run func()) any {
			look := func() []int {
				return []int{
					s.Count("stats", "keyspace_hits"), s.Count("stats", "keyspace_misses"), s.Count("stats", "expired_keys"),
					s.Count("persistence", "rdb_changes_since_last_save"),
				}
			}
			before := look()
			run()
			after := look()
			for i := range after {
				after[i] -= before[i]
			}
			return after
		})
	})
	t.Run("touch", func(t *testing.T) {
		eachPair(t, s, func(t *testing.T, run func()) any {
			run()
			return []any{s.Do("OBJECT", "FREQ", key), s.Do("OBJECT", "FREQ", ownerKey)}
		})
	})
	t.Run("WATCH", func(t *testing.T) {
		eachPair(t, s, func(t *testing.T, run func()) any {
			var watchers []*redis.Conn
			for _, watched := range []string{key, ownerKey} {
				watcher := s.Client.Conn()
				defer watcher.Close()
				require.Equal(t, "OK", server.Do(watcher, "WATCH", watched))
				watchers = append(watchers, watcher)
			}
			run()
			var aborted []bool
			for _, watcher := range watchers {
				require.Equal(t, "OK", server.Do(watcher, "MULTI"))
				require.Equal(t, "QUEUED", server.Do(watcher, "PING"))
				aborted = append(aborted, server.Do(watcher, "EXEC") == nil)
			}
			return aborted
		})
	})
	t.Run("events", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		subscription := s.Client.PSubscribe(ctx, "__key*__:*")
		defer subscription.Close()
		_, err := subscription.Receive(ctx)
		require.NoError(t, err)
		until := func(event string) (before []string) {
			for {
				message, err := subscription.ReceiveMessage(ctx)
				require.NoError(t, err)
				next := message.Channel + " " + message.Payload
				if next == event {
					return before
				}
				before = append(before, next)
			}
		}
		eachPair(t, s, func(t *testing.T, run func()) any {
			s.Do("PUBLISH", "__key__:", "before")
			until("__key__: before")
			run()
			s.Do("PUBLISH", "__key__:", "after")
			return until("__key__: after")
		})
	})
	t.Run("tracking", func(t *testing.T) {
		eachPair(t, s, func(t *testing.T, run func()) any { return invalidated(t, s, run) })
	})
}

// invalidated are the keys that the server tells a tracking client to forget.
func invalidated(t *testing.T, s *server.Server, run func()) (keys []string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	// In RESP3 it would be told by a push of another kind.
	subscription := s.Connect(func(o *redis.Options) { o.Protocol = 2 }).Subscribe(ctx, "__redis__:invalidate")
	defer subscription.Close()
	_, err := subscription.Receive(ctx)
	require.NoError(t, err)
	var receiver int64
	for line := range strings.Lines(s.Do("CLIENT", "LIST", "TYPE", "PUBSUB").(string)) { // it came last
		_, err = fmt.Sscanf(line, "id=%d", &receiver)
		require.NoError(t, err)
	}
	reader := s.Connect(func(o *redis.Options) { o.Protocol = 2 }).Conn()
	defer reader.Close()
	require.Equal(t, "OK", server.Do(reader, "CLIENT", "TRACKING", "ON", "REDIRECT", receiver))
	for _, key := range []string{key, ownerKey, "mark"} {
		server.Do(reader, "PTTL", key)
	}
	run()
	s.Do("SET", "mark", "")
	for !slices.Contains(keys, "mark") {
		message, err := subscription.ReceiveMessage(ctx)
		require.NoError(t, err)
		keys = append(keys, message.PayloadSlice...)
	}
	return keys
}
