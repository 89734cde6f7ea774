package safety

import (
	"context"
	"crypto/sha1"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var soak = flag.Duration("soak", 0, "how long TestSoak lasts")

// The scripts that the commands replace. The server is told to run them as
// commands.
const (
	release = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`
	renew   = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`
)

// each runs the commands that it is sent, and replies with their replies.
const each = `local replies = {}
for i, command in ipairs(cjson.decode(ARGV[1])) do replies[i] = redis.pcall(unpack(command)) end
return replies`

func digest(script string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(script))) }

// stalled is how long none of the commands may take, in milliseconds, on a
// machine that has other things to do.
const stalled = 2000

// Clients do all that clients do, and operators what operators do, for as long
// as -soak says. No reply is wrong, every call is counted, replicas end up the
// same, and the server grows neither in memory nor in threads.
func TestSoak(t *testing.T) {
	t.Parallel()
	if *soak == 0 {
		t.Skip("it lasts as long as -soak says")
	}
	s := server.New(t, "accelerate", digest(release)+"=cad", "accelerate", digest(renew)+"=caexpire",
		"--slowlog-log-slower-than", strconv.Itoa(stalled*1000), "--latency-monitor-threshold", strconv.Itoa(stalled),
		"--repl-backlog-size", "1mb")
	s.Expect(`RDB transfer|rdb transfer|Background transfer|DB to replica|AOF`) // to or by a replica that went
	replica := server.Plain(t)
	replica.Expect("") // of the master that breaks its connections
	for _, script := range []string{release, renew} {
		require.Equal(t, digest(script), s.Do("SCRIPT", "LOAD", script))
	}

	replica.ReplicaOf(s)
	used := s.Count("memory", "used_memory")

	ctx, stop := context.WithCancel(context.Background())
	var operators, clients sync.WaitGroup
	operate(ctx, t, &operators, s, replica)
	contenders := make([]*contender, 50)
	for i := range contenders {
		contenders[i] = newContender(t, s, i)
		clients.Go(func() {
			for ctx.Err() == nil && !t.Failed() {
				contenders[i].step()
				time.Sleep(rand.N(10 * time.Millisecond))
			}
		})
	}
	time.Sleep(*soak / 4)
	threads, resident := status(t, s, "Threads"), status(t, s, "VmRSS")
	time.Sleep(*soak - *soak/4)
	assert.LessOrEqual(t, status(t, s, "Threads"), threads+2) // which the Go runtime may add at any time
	assert.Less(t, status(t, s, "VmRSS"), resident+32*1024, "kB")
	stop()
	clients.Wait()
	operators.Wait()

	replica.InStepWith(s)
	for range 100 {
		for _, c := range contenders {
			c.step()
		}
	}
	replica.InStepWith(s)
	assert.Equal(t, s.Do("DEBUG", "DIGEST"), replica.Do("DEBUG", "DIGEST"))
	counted(t, s, contenders)
	for _, entry := range s.Do("SLOWLOG", "GET", -1).([]any) {
		command := entry.([]any)[3].([]any)[0].(string)
		assert.False(t, strings.HasPrefix(strings.ToLower(command), "goblin"), "%.200v was slow", entry)
	}
	assert.NotContains(t, server.Flat(s.Do("LATENCY", "LATEST")), "fast-command")
	require.Equal(t, "OK", s.Do("FLUSHALL"))
	require.Equal(t, "OK", s.Do("SCRIPT", "FLUSH")) // and what Lua has not yet collected
	s.Until("all memory is given back", func() bool { return s.Count("memory", "used_memory") < used+4<<20 })
}

// operate disturbs the clients until ctx is done.
func operate(ctx context.Context, t *testing.T, operators *sync.WaitGroup, s, replica *server.Server) {
	every := func(pause time.Duration, act func()) {
		operators.Go(func() {
			for ctx.Err() == nil && !t.Failed() {
				act()
				time.Sleep(rand.N(2 * pause))
			}
		})
	}
	pick := func(settings ...string) string { return settings[rand.N(len(settings))] }
	every(20*time.Millisecond, func() { // disconnects one of the clients
		lines := strings.Split(s.Do("CLIENT", "LIST", "TYPE", "normal").(string), "\n")
		line := lines[rand.N(len(lines))]
		if id, _, _ := strings.Cut(strings.TrimPrefix(line, "id="), " "); strings.Contains(line, "name=contender") {
			s.Do("CLIENT", "KILL", "ID", id)
		}
	})
	every(100*time.Millisecond, func() {
		setting := strings.Fields(pick("hz 10", "hz 100", "lazyfree-lazy-expire yes", "lazyfree-lazy-expire no",
			"lazyfree-lazy-user-del yes", "lazyfree-lazy-user-del no", "maxmemory-policy noeviction", "maxmemory-policy volatile-ttl",
			"notify-keyspace-events KEA", "notify-keyspace-events g"))
		assert.Equal(t, "OK", s.Do("CONFIG", "SET", setting[0], setting[1]))
	})
	every(500*time.Millisecond, func() { s.Do("BGSAVE") })
	every(2*time.Second, func() { s.Do("CONFIG", "SET", "appendonly", pick("yes", "no")) })
	every(time.Second, func() { // the replica comes and goes
		if replica.Do("REPLICAOF", "NO", "ONE") == "OK" && rand.N(2) == 0 {
			replica.Do("FLUSHALL")
		}
		replica.Do("REPLICAOF", "127.0.0.1", s.Port)
	})
	every(time.Second, func() { s.Do("CLIENT", "KILL", "TYPE", "replica") })
}

// contender is a client that owns its keys, and so knows what each must hold.
type contender struct {
	t     *testing.T
	conn  *redis.Client
	keys  []any
	list  string          // a key that holds no string
	locks map[string]lock // by key
	sure  map[string]int  // how many calls were counted, by what INFO calls it
	maybe map[string]int  // how many may have been
	turn  int
}

type lock struct {
	token string
	lease time.Duration // 0: not known
	since time.Time     // at the earliest
}

// call is a command, and what must come of it.
type call struct {
	command []any
	reply   any    // of an Error a part; a lock for its PTTL
	counter string // what INFO counts it as, or ""
}

func newContender(t *testing.T, s *server.Server, i int) *contender {
	c := &contender{t: t, locks: map[string]lock{}, sure: map[string]int{}, maybe: map[string]int{}}
	c.conn = s.Connect(func(o *redis.Options) { o.PoolSize, o.ClientName, o.DialerRetries = 1, "contender", 1 })
	for j := range 3 {
		c.keys = append(c.keys, fmt.Sprint("lock:", i, ":", j))
	}
	c.list = fmt.Sprint("list:", i)
	require.Equal(t, int64(1), s.Do("RPUSH", c.list, "token"))
	return c
}

// step makes some calls, one by itself, or several in a transaction or from a
// script, and checks the replies. Where the connection breaks it finds out
// whether they were made: all of them were, or none.
func (c *contender) step() {
	how := rand.N(4)
	calls := make([]call, 1)
	if how > 1 {
		calls = make([]call, 1+rand.N(8))
	}
	before := maps.Clone(c.locks)
	for i := range calls {
		calls[i] = c.draw()
	}
	replies, err := c.send(how, calls)
	if err != nil {
		for _, call := range calls {
			c.maybe[call.counter]++
		}
		c.resolve(before)
		return
	}
	for i, call := range calls {
		c.check(call, replies[i])
		c.sure[call.counter]++
	}
}

// draw makes up a call, and does to the locks what the server must.
func (c *contender) draw() call {
	key := c.keys[rand.N(len(c.keys))].(string)
	held, taken := c.locks[key]
	token := held.token
	hit := taken && rand.N(4) > 0
	if !hit { // something as long that the key does not hold
		token = "x" + token[min(1, len(token)):]
	}
	lease := time.Duration(1+rand.N(10)) * time.Minute
	switch rand.N(10) {
	case 0, 1:
		if taken {
			return call{[]any{"SET", key, token, "NX", "PX", lease.Milliseconds()}, nil, ""}
		}
		c.turn++
		token = strconv.Itoa(c.turn) + strings.Repeat("t", []int{0, 10, 42, 43, 44, 1000, 100_000}[rand.N(7)])
		c.locks[key] = lock{token, lease, time.Now()}
		return call{[]any{"SET", key, token, "NX", "PX", lease.Milliseconds()}, "OK", ""}
	case 2, 3, 4:
		if hit {
			c.locks[key] = lock{token, lease, time.Now()}
			return call{[]any{"GOBLIN.CAEXPIRE", key, token, lease.Milliseconds()}, renewed, "caexpire_renewed"}
		}
		return call{[]any{"GOBLIN.CAEXPIRE", key, token, lease.Milliseconds()}, lost, missed("caexpire", taken)}
	case 5, 6:
		if hit {
			delete(c.locks, key)
			return call{[]any{"GOBLIN.CAD", key, token}, released, "cad_released"}
		}
		return call{[]any{"GOBLIN.CAD", key, token}, lost, missed("cad", taken)}
	case 7:
		if !taken {
			return call{[]any{"PTTL", key}, int64(-2), ""}
		}
		return call{[]any{"PTTL", key}, held, ""}
	case 8:
		if hit {
			delete(c.locks, key)
			return call{[]any{"GOBLIN.CAEXPIRE", key, token, -rand.N(2)}, int64(1), "caexpire_renewed"}
		}
		return call{[]any{"GOBLIN.CAEXPIRE", key, token, -rand.N(2)}, lost, missed("caexpire", taken)}
	}
	hostile := []call{
		{[]any{"GOBLIN.CAD", c.list, token}, server.Error("WRONGTYPE"), "cad_refused"},
		{[]any{"GOBLIN.CAEXPIRE", c.list, token, 1}, server.Error("WRONGTYPE"), "caexpire_refused"},
		{[]any{"GOBLIN.CAEXPIRE", key, token, "1e3"}, server.Error("not an integer"), "caexpire_refused"},
		{[]any{"GOBLIN.CAEXPIRE", key, token, strings.Repeat("9", 10_000)}, server.Error("not an integer"), "caexpire_refused"},
		{[]any{"GOBLIN.CAEXPIRE", key, token, "9223372036854775807"}, server.Error("invalid expire time"), "caexpire_refused"},
		{[]any{"GOBLIN.CAD", key, strings.Repeat("x", 200_000)}, lost, missed("cad", taken)},
	}
	return hostile[rand.N(len(hostile))]
}

// missed is what INFO counts a call as that came to nothing.
func missed(command string, taken bool) string {
	if taken {
		return command + "_mismatched"
	}
	return command + "_missing"
}

// send makes the calls, in one of four ways.
func (c *contender) send(how int, calls []call) ([]any, error) {
	ctx := context.Background()
	replies := make([]any, len(calls))
	switch how {
	case 0:
		replies[0] = server.Do(c.conn, calls[0].command...)
	case 1: // as the script that the command replaces, and that is run as the command
		command := calls[0].command
		switch calls[0].counter {
		case "cad_released", "cad_mismatched", "cad_missing":
			command = append([]any{"EVALSHA", digest(release), 1}, command[1:]...)
		case "caexpire_renewed", "caexpire_mismatched", "caexpire_missing":
			command = append([]any{"EVALSHA", digest(renew), 1}, command[1:]...)
		}
		replies[0] = server.Do(c.conn, command...)
	case 2:
		pipe := c.conn.TxPipeline()
		for _, call := range calls {
			pipe.Do(ctx, call.command...)
		}
		made, _ := pipe.Exec(ctx)
		for i, cmd := range made {
			replies[i] = server.Reply(cmd.(*redis.Cmd).Result())
		}
	case 3:
		commands := make([][]any, len(calls))
		for i, call := range calls {
			commands[i] = call.command
		}
		list, err := json.Marshal(commands)
		require.NoError(c.t, err)
		reply := server.Do(c.conn, "EVAL", each, 0, list)
		made, ok := reply.([]any)
		if !ok {
			made = []any{reply}
		}
		for i, reply := range made {
			if err, ok := reply.(error); ok {
				reply = server.Error(err.Error())
			}
			replies[i] = reply
		}
	}
	for _, reply := range replies {
		if err, ok := reply.(server.Error); ok && !prefix.MatchString(string(err)) {
			return nil, err
		}
	}
	return replies, nil
}

// prefix begins the errors of a server, in contrast to those of a connection.
var prefix = regexp.MustCompile(`^[A-Z]+ `)

func (c *contender) check(call call, reply any) {
	switch want := call.reply.(type) {
	case server.Error:
		assert.Contains(c.t, reply, want, "%.200q", call.command)
	case lock:
		if want.lease == 0 {
			return
		}
		left := time.Duration(reply.(int64)) * time.Millisecond
		const steps = 100 * time.Millisecond // by which the clock may be set meanwhile
		assert.LessOrEqual(c.t, left, want.lease+steps, "%.200q", call.command)
		assert.GreaterOrEqual(c.t, left, want.lease-time.Since(want.since)-steps, "%.200q", call.command)
	default:
		assert.Equal(c.t, want, reply, "%.200q", call.command)
	}
}

// resolve asks whether the keys are as they were before the calls, or as they
// must be after them.
func (c *contender) resolve(before map[string]lock) {
	var held []any
	server.Until(c.t, "a contender is connected again", func() (ok bool) {
		held, ok = server.Do(c.conn, append([]any{"MGET"}, c.keys...)...).([]any)
		return ok
	})
	holds := func(locks map[string]lock) bool {
		for i, key := range c.keys {
			lock, taken := locks[key.(string)]
			if taken != (held[i] != nil) || taken && held[i] != lock.token {
				return false
			}
		}
		return true
	}
	after := c.locks
	if !holds(after) {
		c.locks = before
		assert.True(c.t, holds(before), "%.200q, of which before was %.200v and after is to be %.200v", held, before, after)
	}
	for key, lock := range c.locks {
		if after[key] != before[key] {
			lock.lease = 0
			c.locks[key] = lock
		}
	}
}

// counted asserts that INFO counts the calls that were made: those of which it
// is known, and some of those of which it is not.
func counted(t *testing.T, s *server.Server, contenders []*contender) {
	sure, maybe := map[string]int{}, map[string]int{}
	for _, c := range contenders {
		for counter, n := range c.sure {
			sure[counter] += n
		}
		for counter, n := range c.maybe {
			maybe[counter] += n
		}
	}
	t.Logf("calls made: %v; calls cut off: %v", sure, maybe)
	for counter, n := range sure {
		if counter != "" {
			count := s.Count("goblin", "goblin_"+counter)
			assert.GreaterOrEqual(t, count, n, counter)
			assert.LessOrEqual(t, count, n+maybe[counter], counter)
		}
	}
	for _, command := range []string{"cad", "caexpire"} {
		assert.Positive(t, s.Count("goblin", "goblin_"+command+"_accelerated"))
	}
}
