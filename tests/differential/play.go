package differential

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	look      []byte   // what the observer asks, encoded
	questions int      // how many commands that is
	dirty     int64    // that the server had counted before the program

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
		[]string{"CONFIG", "SET", "notify-keyspace-events", p.events()},
		[]string{"CONFIG", "SET", "lazyfree-lazy-expire", lazily},
		[]string{"CONFIG", "SET", "lazyfree-lazy-user-del", lazily},
		[]string{"CONFIG", "SET", "lazyfree-lazy-server-del", lazily},
		[]string{"SET", "", ""}, // what follows in the stream need not select database 0
		[]string{"FLUSHALL"}, []string{"CONFIG", "RESETSTAT"})
	require.NoError(t, err)

	p.questions = 0
	p.look = nil
	for db := range databases {
		p.ask("SELECT", strconv.Itoa(db))
		for _, key := range program.Keys {
			p.ask("TYPE", key)
			p.ask("DUMP", key)
			p.ask("OBJECT", "FREQ", key)
			if p.server.Speaks(7, 0) {
				p.ask("PEXPIRETIME", key)
			} else {
				p.ask("TIME")
				p.ask("PTTL", key)
			}
		}
	}
	p.dirty = 0
	facts, err := p.observe(true)
	require.NoError(t, err)
	p.dirty = facts[slices.IndexFunc(facts, func(f fact) bool { return f.what == "rdb_changes_since_last_save" })].value.(int64)
	p.replica.Take()
	p.aof.Take()
}

func (p *player) ask(words ...string) {
	p.look = append(p.look, encode(words)...)
	p.questions++
}

// events are the keyspace events that the observer is told of: all.
func (p *player) events() string {
	switch {
	case p.server.Is("redis", 8, 2):
		return "KEAmnoc"
	case p.server.Speaks(7, 0):
		return "KEAmn"
	}
	return "KEAm"
}

// fact is something that was looked at after a step.
type fact struct {
	what string
	of   int // the step that it is about: for what was queued, not that of EXEC
	// value is a reply, pushes, a deadline, an int64 or a string.
	value any
}

// pushes are what a client was pushed.
type pushes []string

// deadline is when a key expires, in Unix milliseconds, or negative if never.
type deadline int64

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

// observe looks at everything but, where something is to lapse unseen, at keys.
func (p *player) observe(keys bool) (facts []fact, err error) {
	// The statistics first: the observer has its part in them.
	infos, err := p.observer.do([]string{"INFO", "stats"}, []string{"INFO", "persistence"}, []string{"INFO", "keyspace"})
	if err != nil {
		return nil, err
	}
	facts = append(facts, fact{what: "pushed to the observer", value: pushes(p.observer.pushed)})
	p.observer.forget()
	for i, fields := range [][]string{
		{"keyspace_hits", "keyspace_misses", "expired_keys"},
		{"rdb_changes_since_last_save"},
	} {
		for _, field := range fields {
			_, rest, ok := strings.Cut(infos[i].text, "\n"+field+":")
			line, _, _ := strings.Cut(rest, "\r\n")
			n, err := strconv.ParseInt(line, 10, 64)
			if !ok || err != nil {
				return nil, fmt.Errorf("INFO has no number %s", field)
			}
			if i == 1 {
				n -= p.dirty
			}
			facts = append(facts, fact{what: field, value: n})
		}
	}
	for db := range databases { // those that have lapsed are counted too
		_, rest, _ := strings.Cut(infos[2].text, fmt.Sprintf("\ndb%d:", db))
		counts, _, _ := strings.Cut(rest, ",avg_ttl")
		facts = append(facts, fact{what: fmt.Sprintf("counts of db%d", db), value: counts})
	}
	if !keys {
		return facts, nil
	}
	replies, err := p.observer.send(p.look, p.questions)
	if err != nil {
		return nil, err
	}
	p.observer.forget() // the events of its own misses
	for db := range databases {
		replies = replies[1:]
		for _, key := range p.program.Keys {
			where := fmt.Sprintf(" of %q in db%d", key, db)
			for n, what := range []string{"type", "value", "frequency"} {
				facts = append(facts, fact{what: what + where, value: replies[n]})
			}
			replies = replies[3:]
			at := int64(0)
			if !p.server.Speaks(7, 0) {
				seconds, _ := strconv.ParseInt(replies[0].items[0].text, 10, 64)
				micros, _ := strconv.ParseInt(replies[0].items[1].text, 10, 64)
				at = seconds*1000 + micros/1000
				replies = replies[1:]
			}
			n, ok := replies[0].integer()
			if !ok {
				return nil, fmt.Errorf("no deadline%s: %v", where, replies[0])
			}
			if n >= 0 {
				n += at
			}
			facts = append(facts, fact{what: "deadline" + where, value: deadline(n)})
			replies = replies[1:]
		}
	}
	return facts, nil
}
