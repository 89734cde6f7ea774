package ownexpire

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// step is what all timeouts of the race are multiples of. The race takes less
// than one, so that what is left of a timeout is more than another exactly if
// it was set to more: its history can be judged without a clock.
const step = 100 * second

// bid is a call in the race, and place the number of it among all, in the
// server's own order: without that, to search for an order that explains the
// replies would take for ever.
type bid struct {
	identifier string
	ms         int64
	place      int
}

// timeouts is what the race is about: who set the timeout last, and to what.
var timeouts = porcupine.Model{
	Init: func() any { return bid{ms: step} },
	Step: func(state, input, output any) (bool, any) {
		current, next := state.(bid), input.(bid)
		if next.place != current.place+1 {
			return false, nil
		}
		if current.ms > next.ms && current.identifier != next.identifier {
			current.place++
			return output == kept, current
		}
		return output == set, next
	},
}

// Many clients set the timeout of one key. Whatever each was replied is what it
// would have been had they called one at a time; the recorded owner is who won
// last; and nobody but the owner has ever shortened the timeout.
func TestRace(t *testing.T) {
	t.Parallel()
	const clients, identifiers, calls = 50, 8, 40
	s := server.New(t)
	given(t, s, "", step)
	stream, monitor := s.Stream(), monitors(t, s)

	// No two are to set the same time, so that each call can be told from all others.
	steps, begin := rand.Perm(clients*calls), time.Now()
	histories := make([][]porcupine.Operation, clients)
	var start, racing sync.WaitGroup
	start.Add(1)
	for i := range clients {
		client := s.Connect(nil)
		require.Equal(t, "PONG", server.Do(client, "PING"))
		racing.Go(func() {
			start.Wait()
			for _, n := range steps[i*calls:][:calls] {
				bid := bid{identifier: strconv.Itoa(rand.IntN(identifiers)), ms: int64(1+n) * step}
				call := time.Since(begin)
				reply := server.Do(client, own(bid.identifier, bid.ms)...)
				histories[i] = append(histories[i], porcupine.Operation{
					ClientId: i, Input: bid, Call: int64(call), Output: reply, Return: int64(time.Since(begin)),
				})
			}
		})
	}
	start.Done()
	racing.Wait()
	require.Less(t, time.Since(begin), step*time.Millisecond, "so slow that the passing of time matters")

	history, order := slices.Concat(histories...), monitor()
	require.Len(t, order, len(history))
	won := 0
	for i := range history {
		bid := history[i].Input.(bid)
		bid.place = 1 + slices.Index(order, strconv.FormatInt(bid.ms, 10))
		history[i].Input = bid
		if history[i].Output == set {
			won++
		}
	}
	assert.Equal(t, porcupine.Ok, porcupine.CheckOperationsTimeout(timeouts, history, time.Minute))

	sent := transactions(stream.Take())
	assert.Len(t, sent, won, "as many as were told that they won")
	owner, deadline, shortened := "", int64(0), 0
	for _, transaction := range sent {
		require.Len(t, transaction, 3)
		next, at := transaction[0][2], transaction[1][2]
		require.Equal(t, []server.Command{{"SET", ownerKey, next}, {"PEXPIREAT", ownerKey, at}, {"PEXPIREAT", key, at}}, transaction)
		nextDeadline, err := strconv.ParseInt(at, 10, 64)
		require.NoError(t, err)
		if nextDeadline < deadline {
			shortened++
			require.Equal(t, owner, next, "only the owner shortens it")
		}
		owner, deadline = next, nextDeadline
	}
	t.Logf("of %d calls %d set the timeout, and %d of these shortened it", len(history), won, shortened)
	assert.Positive(t, shortened)
	assert.Equal(t, owner, s.Do("GET", ownerKey), "the last winner")
	assert.InDelta(t, deadline, s.Deadline(key), s.Slack())
	assert.InDelta(t, deadline, s.Deadline(ownerKey), s.Slack())
}

// monitors watches the server at work. What it returns gives the times that
// calls have been to set so far, in the order of these calls.
func monitors(t *testing.T, s *server.Server) func() []string {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = fmt.Fprint(conn, "MONITOR\r\n")
	require.NoError(t, err)
	from := bufio.NewReader(conn)
	line, err := from.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "+OK\r\n", line)
	return func() (times []string) {
		s.Do("ECHO", "mark")
		for {
			line, err := from.ReadString('\n')
			require.NoError(t, err)
			// 1339518083.107412 [0 127.0.0.1:60866] "GOBLIN.OWNEXPIRE" "key" …
			words := strings.Fields(line)
			last := strings.Trim(words[len(words)-1], `"`)
			switch words[3] {
			case `"GOBLIN.OWNEXPIRE"`:
				times = append(times, last)
			case `"ECHO"`:
				return times
			}
		}
	}
}

// transactions are those that a replica was sent.
func transactions(commands []server.Command) (all [][]server.Command) {
	var open []server.Command
	for _, command := range commands {
		switch strings.ToUpper(command[0]) {
		case "SELECT", "MULTI":
		case "EXEC":
			all, open = append(all, open), nil
		default:
			open = append(open, command)
		}
	}
	return all
}
