package ownexpire

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var seed = flag.Uint64("ownexpire.seed", 0, "seed of the programs, 0: any")

// scripted is the script that the command takes the place of, less its faults:
// it declares the owner's key, which expires together with the key, and counts
// milliseconds.
const scripted = `
local left = redis.call("pttl", KEYS[1])
if left < 0 then return 0 end
if left > tonumber(ARGV[2]) and redis.call("get", KEYS[2]) ~= ARGV[1] then return 0 end
redis.call("set", KEYS[2], ARGV[1])
redis.call("pexpire", KEYS[2], ARGV[2])
redis.call("pexpire", KEYS[1], ARGV[2])
return 1`

// look returns the type, the value and the deadline of each key.
const look = `
local now, all = redis.call("time"), {}
for _, key in ipairs(KEYS) do
	local left = redis.call("pttl", key)
	if left >= 0 then left = left + now[1] * 1000 + math.floor(now[2] / 1000) end
	all[#all + 1] = {redis.call("type", key).ok, redis.call("dump", key), left}
end
return all`

// keys are those of the programs. Each can be one that has a timeout, and one
// that has the owner.
var keys = []string{"{p}a", "{p}b", "{p}c", "{p}d"}

// program makes up commands that agree on keys, owners and times, which are
// steps so that none runs out, nor comes near another.
type program struct{ *rand.Rand }

func (p program) one(of ...string) string { return of[p.IntN(len(of))] }
func (p program) key() string             { return p.one(keys...) }
func (p program) identifier() string      { return p.one("me", "another") }
func (p program) ms() int64               { return step * (1 + p.Int64N(5)) }

func (p program) next() []any {
	own := func(ms any) []any { return []any{"GOBLIN.OWNEXPIRE", p.key(), p.key(), p.identifier(), ms} }
	switch p.IntN(20) {
	case 0:
		return []any{"DEL", p.key()}
	case 1:
		return []any{"RPUSH", p.key(), "value"}
	case 2:
		return []any{"PERSIST", p.key()}
	case 3:
		return []any{"SET", p.key(), p.identifier()}
	case 4, 5:
		return []any{"PEXPIRE", p.key(), p.ms()}
	case 6, 7:
		return []any{"SET", p.key(), p.identifier(), "PX", p.ms()}
	case 8:
		return own(p.one("x", "0"))
	case 9, 10, 11:
		return own(p.one("0", "-1", "-100000"))
	}
	return own(p.ms())
}

// Programs have the same replies, values and deadlines with the command and
// with the script, but where the command is documented to refuse what the
// script takes: there it must change nothing.
func TestAgainstScript(t *testing.T) {
	t.Parallel()
	command, script := server.New(t), server.Plain(t)
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("-ownexpire.seed=%d", *seed)
	random := program{rand.New(rand.NewPCG(*seed, 0))}
	outcomes := map[any]int{}
	for range 100 {
		command.Do("FLUSHALL")
		script.Do("FLUSHALL")
		var played strings.Builder
		state, slack := seen(command), time.Duration(0)
		for range 30 {
			call, begin := random.next(), time.Now()
			fmt.Fprintf(&played, "%q\n", call)
			reply := command.Do(call...)
			want := refusal(call, state)
			if want == nil {
				want = script.Do(translated(call)...)
			}
			require.Equal(t, want, reply, played.String())

			left, right := seen(command), seen(script)
			slack = max(slack, time.Since(begin))
			for i, key := range keys {
				require.Equal(t, right[i][:2], left[i][:2], "%s\n%s", key, played.String())
				require.InDelta(t, right[i][2], left[i][2], float64(slack.Milliseconds()+10), "%s\n%s", key, played.String())
			}
			if call[0] == "GOBLIN.OWNEXPIRE" {
				if deleted := left[slices.Index(keys, call[1].(string))][0] == "none"; deleted && reply == set {
					reply = "deleted"
				}
				outcomes[reply]++
			}
			state = left
		}
	}
	t.Log(outcomes)
	for _, outcome := range []any{kept, set, "deleted", wrongType, notInteger, oneKey} {
		assert.Positive(t, outcomes[outcome], "%v", outcome)
	}
}

// seen are all keys as a client sees them.
func seen(s *server.Server) (all [][]any) {
	call := []any{"EVAL", look, len(keys)}
	for _, key := range keys {
		call = append(call, key)
	}
	for _, key := range s.Do(call...).([]any) {
		all = append(all, key.([]any))
	}
	return all
}

// refusal is the documented error of a call which the script does not refuse,
// or not before it has changed something.
func refusal(call []any, state [][]any) any {
	if call[0] != "GOBLIN.OWNEXPIRE" {
		return nil
	}
	kind := state[slices.Index(keys, call[2].(string))][0]
	switch {
	case call[4] == "x":
		return notInteger
	case call[1] == call[2]:
		return oneKey
	case kind != "none" && kind != "string":
		return wrongType
	}
	return nil
}

// translated is a call as a server without the command understands it.
func translated(call []any) []any {
	if call[0] == "GOBLIN.OWNEXPIRE" {
		return slices.Concat([]any{"EVAL", scripted, 2}, call[1:])
	}
	return call
}
