package accelerate

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// observed is what can be seen of a call.
type observed struct {
	reply    any
	value    []any
	deadline int64
	events   []string
	counts   map[string]int // by which the statistics have risen
}

// observer sees the events of a server's calls.
type observer struct {
	*server.Server
	events *redis.PubSub
}

func observe(t *testing.T, s *server.Server) observer {
	t.Helper()
	require.Equal(t, "OK", s.Do("CONFIG", "SET", "notify-keyspace-events", "EA"))
	events := s.Client.PSubscribe(ctx, "__keyevent@0__:*")
	t.Cleanup(func() { events.Close() })
	_, err := events.Receive(ctx)
	require.NoError(t, err)
	return observer{s, events}
}

// see has a state set up, and observes a call.
func (o observer) see(t *testing.T, state, call []any) observed {
	t.Helper()
	o.Do("DEL", "lock")
	if state != nil {
		require.NotContains(t, fmt.Sprint(o.Do(state...)), "ERR", state)
	}
	o.taken(t)
	before := o.counts()
	seen := observed{reply: o.Do(call...), counts: o.counts(), events: o.taken(t)}
	for name := range before {
		seen.counts[name] -= before[name]
	}
	seen.value, seen.deadline = []any{o.Do("TYPE", "lock"), o.Do("DUMP", "lock")}, o.Deadline("lock")
	return seen
}

// counts are statistics that must not tell how a lock was held.
func (o observer) counts() map[string]int {
	return map[string]int{
		"hits": o.Count("stats", "keyspace_hits"), "misses": o.Count("stats", "keyspace_misses"),
		"expired": o.Count("stats", "expired_keys"), "changes": o.Count("persistence", "rdb_changes_since_last_save"),
	}
}

// taken are the events since the last time.
func (o observer) taken(t *testing.T) (events []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	o.Do("PUBLISH", "__keyevent@0__:end", "")
	for {
		message, err := o.events.ReceiveMessage(ctx)
		require.NoError(t, err)
		if message.Channel == "__keyevent@0__:end" {
			return events
		}
		events = append(events, message.Channel+" "+message.Payload)
	}
}

// place is where in a script an error came up: 6.0 says it before the error,
// later servers after.
var place = regexp.MustCompile(`^ERR Error running script \(call to f_[0-9a-f]{40}\): @user_script:\d+: |,? ?script: ([0-9a-f]{40}, )?on @user_script:\d+\.$`)

// Each row of the table of what the commands reply, and some between, is the
// same where the script runs and where the command does, by what is replied and
// by what is left behind.
func TestTable(t *testing.T) {
	t.Parallel()
	plain, fast := observe(t, server.Plain(t)), observe(t, accelerating(t))
	load(t, plain.Server)

	states := map[string][]any{
		"missing": nil,
		"list":    {"RPUSH", "lock", "token"}, "set": {"SADD", "lock", "token"}, "zset": {"ZADD", "lock", 1, "token"},
		"hash": {"HSET", "lock", "token", 1}, "stream": {"XADD", "lock", "1-1", "token", 1},
	}
	for name, token := range map[string]string{
		"empty": "", "token": "token", "number": "5", "binary": "\x00\xff\r\n\x00*1\r\n", "long": strings.Repeat("ab", 1000),
	} {
		states[name] = []any{"SET", "lock", token}
		states[name+" with a TTL"] = []any{"SET", "lock", token, "PX", 60000}
	}
	ways := map[string]int{}
	for name, state := range states {
		tokens := []any{"token", ""}
		if len(state) > 2 && state[0] == "SET" {
			tokens = []any{state[2], fmt.Sprint(state[2], "x")}
		}
		for _, token := range tokens {
			calls := [][]any{{"EVALSHA", releaseSHA, 1, "lock", token}}
			for _, ms := range []any{30000, 90000, 1 << 42, 0, -1, math.MinInt64} {
				calls = append(calls, []any{"EVALSHA", renewSHA, 1, "lock", token, ms})
			}
			ways["goblin.cad"]++
			ways["goblin.caexpire"] += len(calls) - 1
			for _, call := range calls {
				about := fmt.Sprintf("%.100q, %s", call, name)
				want, has := plain.see(t, state, call), fast.see(t, state, call)
				if failed, ok := want.reply.(server.Error); ok {
					want.reply = server.Error(place.ReplaceAllString(string(failed), ""))
				}
				assert.InDelta(t, want.deadline, has.deadline, 3000, about)
				want.deadline, has.deadline = 0, 0
				assert.Equal(t, want, has, about)
			}
		}
	}
	assert.Equal(t, map[string]int{"evalsha": ways["goblin.cad"] + ways["goblin.caexpire"]}, ran(t, plain.Server))
	assert.Equal(t, ways, ran(t, fast.Server))
}
