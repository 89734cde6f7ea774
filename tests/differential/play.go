package differential

import (
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/stretchr/testify/require"
)

// player plays programs on one side, each in an empty keyspace.
type player struct {
	Side
	server   *server.Server
	clients  [2]*conn
	observer *conn // tracks all keys, and is told of all keyspace events
	replica  *server.Stream
	aof      *server.Tail

	program   Program
	queued    [2][]int // the steps that wait for each client's EXEC
	questions []question
	encoded   []byte // the questions
	dirty     int64  // changes that the server had counted before the program

	// lapse says that the last step has left keys that nobody may look at
	// before so much time has passed, nor then.
	lapse time.Duration
}

func newPlayer(t testing.TB, side Side) *player {
	t.Helper()
	p := &player{Side: side}
	// With a limit, if a remote one, small integers are no shared objects,
	// whose frequency would be that of all keys that hold them. And the log
	// factor has a key's frequency count every touch.
	p.server = side.Start(t, "--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0",
		"--maxmemory", "4gb", "--maxmemory-policy", "allkeys-lfu", "--lfu-log-factor", "0", "--lfu-decay-time", "0")
	require.Equal(t, "OK", p.server.Do("DEBUG", "SET-ACTIVE-EXPIRE", 0)) // keys go when they are looked at
	if p.server.Speaks(7, 0) {
		require.Equal(t, "locks", p.server.Do("FUNCTION", "LOAD", side.library()))
	}
	p.replica = p.server.Stream()
	p.aof = p.server.Tail()

	connect := func(hello ...string) *conn {
		c, err := dial(p.server.Addr())
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		_, err = c.do(hello)
		require.NoError(t, err)
		return c
	}
	p.clients = [2]*conn{connect("HELLO", "3"), connect("HELLO", "2")}
	p.observer = connect("HELLO", "3")
	// Subscriptions are confirmed by pushes alone.
	p.observer.Write(encode([]string{"PSUBSCRIBE", "__key*"}))
	_, err := p.observer.do([]string{"CLIENT", "TRACKING", "ON"})
	require.NoError(t, err)
	return p
}

// reset makes all as it was before the last program, whatever that has left.
func (p *player) reset(t testing.TB, program Program) {
	t.Helper()
	p.program = program
	p.queued = [2][]int{}
	for _, client := range p.clients {
		_, err := client.do([]string{"DISCARD"}, []string{"UNWATCH"}, []string{"SELECT", "0"}, []string{"CLIENT", "TRACKING", "OFF"},
			[]string{"CLIENT", "NO-TOUCH", "OFF"})
		require.NoError(t, err)
		client.forget()
	}
	lazily := "no"
	if p.server.Is("valkey", 8, 0) {
		lazily = "yes"
	}
	_, err := p.observer.do([]string{"SELECT", "0"},
		[]string{"CONFIG", "SET", "notify-keyspace-events", allEvents(p.server.Program)},
		[]string{"CONFIG", "SET", "lazyfree-lazy-expire", lazily},
		[]string{"CONFIG", "SET", "lazyfree-lazy-user-del", lazily},
		[]string{"CONFIG", "SET", "lazyfree-lazy-server-del", lazily},
		[]string{"SET", "", ""}, // what follows in the stream need not select database 0
		[]string{"FLUSHALL"}, []string{"CONFIG", "RESETSTAT"})
	require.NoError(t, err)

	p.ask(program.Keys)
	_, err = p.keys()
	require.NoError(t, err)
	p.dirty = 0
	facts, err := p.statistics()
	require.NoError(t, err)
	for _, f := range facts {
		if f.what == changes {
			p.dirty = f.value.(int64)
		}
	}
	p.replica.Take()
	p.aof.Take()
}

// act takes a step and finds out its reply, and the replies to what was queued
// if it was EXEC.
func (p *player) act(i int) (facts []fact, err error) {
	step := p.program.Steps[i]
	client, queue := p.clients[step.Client], &p.queued[step.Client]
	client.forget()
	p.lapse = 0
	replies, err := client.do(p.spell(step.Words))
	if err != nil {
		return nil, err
	}
	r := replies[0]
	items := r.items
	if step.Words[0] == "EXEC" {
		r.items = nil
	}
	facts = []fact{{"reply", i, r}, {"pushed to the client", i, pushes(client.pushed)}}
	switch {
	case r.kind == '+' && r.text == "QUEUED":
		*queue = append(*queue, i)
	case step.Words[0] == "EXEC":
		for n, item := range items {
			facts = append(facts, fact{"reply", (*queue)[n], item})
			p.lapse = max(p.lapse, p.program.Steps[(*queue)[n]].Lapse)
		}
		*queue = nil
	case step.Words[0] == "DISCARD":
		*queue = nil
	default:
		p.lapse = step.Lapse
	}
	return facts, nil
}
