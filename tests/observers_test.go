package tests

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

// The scripts that the commands replace.
const (
	cadScript      = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`
	caexpireScript = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`
)

// pairs are calls whose effects others must not be able to tell apart: a
// command, and the script.
var pairs = []struct {
	name            string
	command, script []any
	hit             bool
}{
	{"release of a missing key", []any{"GOBLIN.CAD", "missing", "token"}, []any{"EVAL", cadScript, 1, "missing", "token"}, false},
	{"release with another token", []any{"GOBLIN.CAD", "key", "wrong"}, []any{"EVAL", cadScript, 1, "key", "wrong"}, false},
	{"release with a token as long", []any{"GOBLIN.CAD", "key", "tokem"}, []any{"EVAL", cadScript, 1, "key", "tokem"}, false},
	{"release", []any{"GOBLIN.CAD", "key", "token"}, []any{"EVAL", cadScript, 1, "key", "token"}, true},
	{"renewal of a missing key", []any{"GOBLIN.CAEXPIRE", "missing", "token", 60000}, []any{"EVAL", caexpireScript, 1, "missing", "token", 60000}, false},
	{"renewal with another token", []any{"GOBLIN.CAEXPIRE", "key", "wrong", 60000}, []any{"EVAL", caexpireScript, 1, "key", "wrong", 60000}, false},
	{"renewal with a token as long", []any{"GOBLIN.CAEXPIRE", "key", "tokem", 60000}, []any{"EVAL", caexpireScript, 1, "key", "tokem", 60000}, false},
	{"renewal", []any{"GOBLIN.CAEXPIRE", "key", "token", 60000}, []any{"EVAL", caexpireScript, 1, "key", "token", 60000}, true},
	{"renewal into the past", []any{"GOBLIN.CAEXPIRE", "key", "token", -1}, []any{"EVAL", caexpireScript, 1, "key", "token", -1}, true},
}

// eachPair observes the command and then the script, each on the same key, and
// asserts that observe has seen the same.
func eachPair(t *testing.T, s *server.Server, observe func(call []any) any) {
	for _, pair := range pairs {
		t.Run(pair.name, func(t *testing.T) {
			require.Equal(t, "OK", s.Do("SET", "key", "token", "PX", 30000))
			native := observe(pair.command)
			require.Equal(t, "OK", s.Do("SET", "key", "token", "PX", 30000))
			scripted := observe(pair.script)
			assert.Equal(t, scripted, native)
			t.Logf("%v", native)
		})
	}
}

func TestReplies(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	eachPair(t, s, func(call []any) any { return s.Do(call...) })
}

func TestStatistics(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	eachPair(t, s, func(call []any) any {
		look := func() []int {
			return []int{
				s.Count("stats", "keyspace_hits"), s.Count("stats", "keyspace_misses"), s.Count("stats", "expired_keys"),
				s.Count("persistence", "rdb_changes_since_last_save"),
			}
		}
		before := look()
		s.Do(call...)
		after := look()
		for i := range after {
			after[i] -= before[i]
		}
		return after
	})
}

func TestWatch(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	eachPair(t, s, func(call []any) any {
		watcher := s.Session()
		require.Equal(t, "OK", server.Do(watcher, "WATCH", "key", "missing"))
		require.Equal(t, "OK", server.Do(watcher, "MULTI"))
		require.Equal(t, "QUEUED", server.Do(watcher, "PING"))
		s.Do(call...)
		return server.Do(watcher, "EXEC")
	})
}

// events are the keyspace events and tracking invalidations that reach other
// clients up to the moment when mark is set.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := server.New(t, "--notify-keyspace-events", "KEAm")
	ctx := context.Background()
	subscription := s.Client.PSubscribe(ctx, "__key*__:*")
	defer subscription.Close()
	_, err := subscription.Receive(ctx)
	require.NoError(t, err)
	eachPair(t, s, func(call []any) any {
		s.Do(call...)
		require.Equal(t, "OK", s.Do("SET", "mark", ""))
		var events []string
		for message := range subscription.Channel() {
			if message.Channel == "__keyevent@0__:set" && message.Payload == "mark" {
				break
			}
			events = append(events, message.Channel+" "+message.Payload)
		}
		// The SET of key comes before the call, that of mark after it.
		return slices.DeleteFunc(events, func(event string) bool {
			return event == "__keyspace@0__:mark set"
		})
	})
}

func TestTracking(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	for _, pair := range pairs {
		t.Run(pair.name, func(t *testing.T) {
			for _, call := range [][]any{pair.command, pair.script} {
				require.Equal(t, "OK", s.Do("SET", "key", "token", "PX", 30000))
				assert.Equal(t, pair.hit, invalidates(t, s, call), "%q", call)
			}
		})
	}
}

// invalidates tells whether a call makes the server invalidate what a tracking
// client has read.
func invalidates(t *testing.T, s *server.Server, call []any) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	// In RESP3 it would be told by a push of another kind.
	subscriber := s.Connect(func(o *redis.Options) { o.Protocol = 2 })
	subscription := subscriber.Subscribe(ctx, "__redis__:invalidate")
	defer subscription.Close()
	_, err := subscription.Receive(ctx)
	require.NoError(t, err)
	// The subscriber's connection is the last one that has subscribed. The server
	// may not have noticed yet that those of earlier calls are gone.
	subscribed := strings.TrimSpace(s.Client.Do(ctx, "CLIENT", "LIST", "TYPE", "PUBSUB").Val().(string))
	var receiver int64
	_, err = fmt.Sscanf(subscribed[strings.LastIndex(subscribed, "\n")+1:], "id=%d", &receiver)
	require.NoError(t, err)

	reader := s.Connect(func(o *redis.Options) { o.Protocol = 2 }).Conn()
	defer reader.Close()
	require.Equal(t, "OK", server.Do(reader, "CLIENT", "TRACKING", "ON", "REDIRECT", receiver))
	server.Do(reader, "GET", "key")
	server.Do(reader, "GET", "missing")
	server.Do(reader, "GET", "mark")
	s.Do(call...)
	s.Do("SET", "mark", "")
	message, err := subscription.ReceiveMessage(ctx)
	require.NoError(t, err)
	return !slices.Equal(message.PayloadSlice, []string{"mark"})
}

func TestTouch(t *testing.T) {
	t.Parallel()
	s := server.New(t, "--maxmemory-policy", "allkeys-lfu", "--lfu-log-factor", "0")
	eachPair(t, s, func(call []any) any {
		s.Do("DEL", "key")
		s.Do("SET", "key", "token")
		s.Do(call...)
		return s.Do("OBJECT", "FREQ", "key")
	})
}

func TestObjectsOfOtherDatabases(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	s.Do("SET", "key", "token", "PX", 30000)
	other := s.Session()
	require.Equal(t, "OK", server.Do(other, "SELECT", 7))
	assert.Equal(t, lost, server.Do(other, "GOBLIN.CAD", "key", "token"))
	assert.Equal(t, lost, server.Do(other, "GOBLIN.CAEXPIRE", "key", "token", 1))
	server.Do(other, "SET", "key", "other")
	assert.Equal(t, lost, s.Do("GOBLIN.CAD", "key", "other"))
	deadline := s.Deadline("key")
	assert.Equal(t, renewed, server.Do(other, "GOBLIN.CAEXPIRE", "key", "other", 60000))
	assert.InDelta(t, deadline, s.Deadline("key"), s.Slack())
	assert.Equal(t, released, server.Do(other, "GOBLIN.CAD", "key", "other"))
	assert.Equal(t, "token", s.Do("GET", "key"))
}
