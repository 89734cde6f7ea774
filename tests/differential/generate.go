package differential

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"goblin/tests/server"
)

// length is how many steps a program has, at least.
const length = 40

// Generate makes the program of a seed for a server. There is no clock in it,
// so that a seed always means the same.
func Generate(seed uint64, on server.Program) Program {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), on: on}
	for db := range g.held {
		g.held[db] = map[string]string{}
	}
	g.keys = []string{"lock", "lock:2", g.pick("", "lock:3", "l\r\n\x00k", "5")}
	for range 3 {
		g.tokens = append(g.tokens, g.token())
	}
	for len(g.steps) < length {
		g.move()
	}
	for client, queues := range g.queues {
		if queues {
			g.emit(client, "EXEC")
		}
	}
	return Program{Seed: seed, Keys: g.keys, Steps: g.steps}
}

// generator makes a program. It keeps track, roughly, of what its steps will
// have done, in order to guess right often enough.
type generator struct {
	*rand.Rand
	on     server.Program
	keys   []string
	tokens []string
	steps  []Step

	last   string                       // the key that the last step was about
	held   [databases]map[string]string // what a key will hold, if it is a string
	db     [2]int                       // that each client is in
	queues [2]bool                      // whether the client is between MULTI and EXEC
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) pick(words ...string) string { return words[g.IntN(len(words))] }

func (g *generator) emit(client int, words ...string) {
	g.steps = append(g.steps, Step{Client: client, Words: words})
}

// key is most often the one of the step before, so that steps meet.
func (g *generator) key() string {
	if g.last == "" || g.chance(40) {
		g.last = g.pick(g.keys...)
	}
	return g.last
}

// move emits a step or a few.
func (g *generator) move() {
	client := 0
	if g.chance(25) {
		client = 1
	}
	if g.queues[client] && g.chance(20) {
		g.queues[client] = false
		if g.chance(15) {
			g.emit(client, "DISCARD")
		} else {
			g.emit(client, "EXEC")
		}
		return
	}
	kinds := []struct {
		share int // in percent
		emit  func(client int)
	}{
		{36, g.lock},
		{6, g.body},
		{12, g.set},
		{11, g.expire},
		{8, g.change},
		{4, g.otherType},
		{6, g.read},
		{9, g.transaction},
		{4, g.watch},
		{2, g.database},
		{2, g.configure},
	}
	n := g.IntN(100)
	for _, kind := range kinds {
		if n -= kind.share; n < 0 {
			kind.emit(client)
			return
		}
	}
}

// lock renews or releases, or takes the lock first where nobody holds it.
func (g *generator) lock(client int) {
	key := g.key()
	held := g.held[g.db[client]]
	if _, ok := held[key]; !ok && g.chance(75) {
		g.set(client)
		key = g.last
	}
	if g.chance(2) { // and so does what the last one has left
		g.emit(client, "OBJECT", "ENCODING", key)
	}
	token := g.guess(held, key)
	hit := token == held[key]
	if g.chance(35) {
		g.emit(client, cad, key, token)
		if hit {
			delete(held, key)
		}
		return
	}
	if g.chance(10) && g.lapse(client, key, func(ms string) []string { return []string{caexpire, key, token, ms} }) {
		return
	}
	ms := g.milliseconds()
	g.emit(client, caexpire, key, token, ms)
	if hit && past(ms, 0) {
		delete(held, key)
	}
}

// lapse emits a step that gives the key a short TTL, unless it would only be
// queued, when nobody knows how much of it is left at EXEC.
func (g *generator) lapse(client int, key string, words func(ms string) []string) bool {
	if g.queues[client] {
		return false
	}
	ms := 5 + g.IntN(3) // less could run out while the command itself looks at the clock
	g.emit(client, words(strconv.Itoa(ms))...)
	g.steps[len(g.steps)-1].Lapse = time.Duration(ms) * time.Millisecond
	delete(g.held[g.db[client]], key)
	return true
}

// body is a script or a function that does more.
func (g *generator) body(client int) {
	kind := script
	if g.on.Speaks(7, 0) && g.chance(50) {
		kind = function
	}
	key := g.key()
	ms := g.lease()
	if g.chance(30) {
		ms = g.milliseconds()
	}
	held := g.held[g.db[client]]
	g.emit(client, kind, bodies[g.IntN(len(bodies))].name, key, g.pick(g.keys...), g.guess(held, key), ms, g.pick(g.tokens...))
	delete(held, key)
}

func (g *generator) set(client int) {
	key, token := g.key(), g.pick(g.tokens...)
	held := g.held[g.db[client]]
	_, exists := held[key]
	words := []string{"SET", key, token}
	sets := true

	switch unknown := g.chance(3); g.IntN(8) {
	case 0:
		words = append(words, "EX", strconv.Itoa(100+g.IntN(1e7)))
	case 1, 2:
		words = append(words, "PX", g.lease())
	case 3:
		if g.on.Speaks(6, 2) || unknown {
			words = append(words, "EXAT", g.instant(1))
			sets = !past(words[4], 1)
		}
	case 4:
		if g.on.Speaks(6, 2) || unknown {
			words = append(words, "PXAT", g.instant(1000))
			sets = !past(words[4], 1000)
		}
	case 5:
		words = append(words, "KEEPTTL")
	case 6:
		if g.chance(20) {
			words = append(words, g.pick("EX", "PX", "EXAT", "PXAT"), g.milliseconds())
			sets = false
		}
	case 7:
		if g.lapse(client, key, func(ms string) []string { return append(words, "PX", ms) }) {
			return
		}
	}
	switch g.IntN(5) {
	case 0:
		words = append(words, "NX")
		sets = sets && !exists
	case 1:
		words = append(words, "XX")
		sets = sets && exists
	}
	if g.chance(15) && g.on.Speaks(6, 2) && (g.on.Speaks(7, 0) || !slices.Contains(words, "NX")) {
		words = append(words, "GET")
	}
	g.emit(client, words...)
	if sets {
		held[key] = token
	}
}

func (g *generator) expire(client int) {
	key := g.key()
	var words []string
	conditions := []string{"NX", "XX", "GT", "LT"}
	switch g.IntN(7) {
	case 0:
		words = []string{"EXPIRE", key, g.pick("0", "-1", strconv.Itoa(100+g.IntN(1e7)), strconv.Itoa(100+g.IntN(1e7)))}
	case 1:
		words = []string{"PEXPIRE", key, g.lease()}
	case 2:
		words = []string{"PEXPIRE", key, g.milliseconds()}
		conditions = conditions[:2] // the clock would decide between two that are the same
	case 3:
		words = []string{"EXPIREAT", key, g.instant(1)}
	case 4:
		words = []string{"PEXPIREAT", key, g.instant(1000)}
	case 5:
		g.emit(client, "PERSIST", key)
		return
	case 6:
		if g.lapse(client, key, func(ms string) []string { return []string{"PEXPIRE", key, ms} }) {
			return
		}
		words = []string{"PEXPIRE", key, g.lease()}
	}
	if g.on.Speaks(7, 0) && g.chance(40) {
		words = append(words, g.pick(conditions...))
	}
	g.emit(client, words...)
	switch {
	case words[0] == "EXPIREAT" && past(words[2], 1), words[0] == "PEXPIREAT" && past(words[2], 1000), past(words[2], 0):
		delete(g.held[g.db[client]], key)
	}
}

// change leaves a string, or nothing, behind.
func (g *generator) change(client int) {
	key := g.key()
	held := g.held[g.db[client]]
	switch g.IntN(10) {
	case 0, 1:
		tail := g.pick("", "x", "5", "\x00")
		g.emit(client, "APPEND", key, tail)
		held[key] += tail
	case 2:
		g.emit(client, "INCR", key)
		if n, err := strconv.ParseInt(held[key], 10, 64); err == nil || held[key] == "" {
			held[key] = strconv.FormatInt(n+1, 10)
		}
	case 3:
		g.emit(client, "INCRBY", key, g.pick("5", "-1", "9223372036854775807"))
		delete(held, key)
	case 4:
		g.emit(client, "SETRANGE", key, g.pick("0", "1", "50"), g.pick("", "5", "xyz"))
		delete(held, key)
	case 5:
		if g.on.Speaks(6, 2) {
			g.emit(client, "GETDEL", key)
		} else {
			g.emit(client, "UNLINK", key)
		}
		delete(held, key)
	case 6:
		g.emit(client, "DEL", key)
		delete(held, key)
	case 7:
		token := g.pick(g.tokens...)
		g.emit(client, "GETSET", key, token)
		held[key] = token
	case 8:
		other := g.pick(g.keys...)
		g.emit(client, "RENAME", key, other)
		held[other] = held[key]
		delete(held, key)
	case 9:
		if g.on.Speaks(6, 2) {
			g.emit(client, "GETEX", key, "PX", g.lease())
		}
	}
}

// otherType leaves what is no string behind, if the key was free.
func (g *generator) otherType(client int) {
	key := g.key()
	held := g.held[g.db[client]]
	if g.chance(50) {
		g.emit(client, "DEL", key)
		delete(held, key)
	}
	words := [][]string{
		{"RPUSH", key, "x"}, {"LPOP", key}, {"HSET", key, "field", "5"}, {"HDEL", key, "field"}, {"SADD", key, "x"}, {"ZADD", key, "5", "x"},
	}
	g.emit(client, words[g.IntN(len(words))]...)
}

func (g *generator) read(client int) {
	key := g.key()
	words := [][]string{
		{"GET", key}, {"STRLEN", key}, {"EXISTS", key}, {"TTL", key}, {"PTTL", key}, {"DBSIZE"}, {"OBJECT", "ENCODING", key},
	}
	if g.on.Speaks(7, 0) {
		words = append(words, []string{"EXPIRETIME", key}, []string{"PEXPIRETIME", key})
	}
	g.emit(client, words[g.IntN(len(words))]...)
}

func (g *generator) transaction(client int) {
	if g.queues[client] && g.chance(90) {
		g.lock(client)
		return
	}
	g.emit(client, "MULTI")
	g.queues[client] = true
}

// watch has a client watch what the other one then has a go at.
func (g *generator) watch(client int) {
	if g.queues[client] || g.chance(10) {
		g.emit(client, g.pick("WATCH", "UNWATCH", "EXEC", "DISCARD"))
		if words := g.steps[len(g.steps)-1].Words; words[0] == "WATCH" {
			g.steps[len(g.steps)-1].Words = append(words, g.key())
		} else {
			g.queues[client] = g.queues[client] && words[0] == "UNWATCH"
		}
		return
	}
	key := g.key()
	words := []string{"WATCH", key}
	if g.chance(20) {
		words = append(words, g.pick(g.keys...))
	}
	g.emit(client, words...)
	for range 1 + g.IntN(2) {
		g.last = key
		if g.chance(75) {
			g.lock(1 - client)
		} else {
			g.move()
		}
	}
	if g.queues[client] {
		return
	}
	g.emit(client, "MULTI")
	g.emit(client, "PTTL", key)
	if g.chance(50) {
		g.queues[client] = true
		g.lock(client)
		g.queues[client] = false
	}
	g.emit(client, "EXEC")
}

func (g *generator) database(client int) {
	if g.chance(10) {
		g.emit(client, "SWAPDB", "0", "1")
		g.held[0], g.held[1] = g.held[1], g.held[0]
		return
	}
	g.db[client] = g.IntN(databases)
	g.emit(client, "SELECT", strconv.Itoa(g.db[client]))
}

// configure changes what clients or the server make of the same effects.
func (g *generator) configure(client int) {
	switch g.IntN(7) {
	case 0, 1, 2, 3:
		words := [][]string{{"ON"}, {"ON"}, {"ON", "NOLOOP"}, {"ON", "BCAST"}, {"OFF"}}
		g.emit(0, slices.Concat([]string{"CLIENT", "TRACKING"}, words[g.IntN(len(words))])...)
	case 4:
		if g.on.Speaks(7, 2) {
			g.emit(client, "CLIENT", "NO-TOUCH", g.pick("ON", "OFF"))
		}
	case 5:
		g.emit(client, "CONFIG", "SET", "notify-keyspace-events", g.pick("", "Kg", "Ex", "KEA"))
	case 6:
		g.emit(client, "CONFIG", "SET", g.pick("lazyfree-lazy-expire", "lazyfree-lazy-user-del", "lazyfree-lazy-server-del"), g.pick("yes", "no"))
	}
}

// token is what a lock may hold.
func (g *generator) token() string {
	switch g.IntN(8) {
	case 0:
		return strconv.Itoa(g.IntN(100))
	case 1:
		return strconv.FormatInt(g.Int64()-math.MaxInt64/2, 10)
	case 2:
		return g.pick("", "a", "\x00", "\r\n", "\xff*1\r\n$4\r\nPING\r\n")
	case 3:
		lengths := []int{44, 45, 63, 64, 300} // about those that are embedded
		return strings.Repeat(g.pick("a", "\x00"), lengths[g.IntN(len(lengths))])
	}
	const digits = "0123456789abcdef"
	uuid := make([]byte, 36)
	for i := range uuid {
		uuid[i] = digits[g.IntN(len(digits))]
	}
	return string(uuid)
}

// guess is a token for a call: most often the one that the key holds.
func (g *generator) guess(held map[string]string, key string) string {
	token, ok := held[key]
	if !ok {
		token = g.pick(g.tokens...)
	}
	switch n := g.IntN(100); {
	case n < 78:
		return token
	case n < 92:
		return g.near(token)
	case n < 96:
		return g.pick(g.tokens...)
	}
	return g.token()
}

// near is what a sloppy comparison might take for the token.
func (g *generator) near(token string) string {
	near := []string{
		token + "x", token + "\x00", token + "\n", token + " ", " " + token, "+" + token, "0" + token, token + ".0", token + "e0", strings.ToUpper(token),
	}
	if token != "" {
		cut := g.IntN(len(token))
		flipped := []byte(token)
		flipped[cut] ^= 1 << g.IntN(8)
		last := []byte(token)
		last[len(last)-1] ^= 1
		near = append(near, token[:cut], token[:len(token)-1], token[1:], string(flipped), string(last), "")
	}
	return g.pick(near...)
}

// lease is a TTL in milliseconds that no program outlives. No two are so close
// that the moment of a step would decide which ends first.
func (g *generator) lease() string { return strconv.FormatInt(100_000+g.Int64N(1e10), 10) }

// milliseconds is a TTL of any kind, many of them hostile.
func (g *generator) milliseconds() string {
	switch n := g.IntN(100); {
	case n < 60:
		return g.lease()
	case n < 75:
		return g.pick("0", "-1", "-2", "-60000", "-1099511627776", "-9223372036854775807", "-9223372036854775808")
	case n < 88:
		return g.malformed()
	}
	borders := []int64{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 - 1e12, math.MaxInt64 - 4e12, 1<<62 + 1, 1 << 62, 1<<62 - 1, 1 << 53, 1 << 48}
	return strconv.FormatInt(borders[g.IntN(len(borders))], 10)
}

// malformed is no integer to the server's own parser.
func (g *generator) malformed() string {
	if g.chance(50) {
		return g.pick("", " ", "x", "-", "+5", "05", "00", "-0", "0x5", "1e3", "5.0", "5,000", "--5", "１", "nan", "inf", "5\r\n",
			"9223372036854775808", "-9223372036854775809", "18446744073709551617", strings.Repeat("9", 200))
	}
	n := g.lease()
	at := g.IntN(len(n) + 1)
	return n[:at] + g.pick("+", "-", " ", ".", "e", "x", "\x00", "\n", "_", "\xff") + n[at:]
}

// instant is a Unix time in units of which there are perSecond: in the past, or
// in a future that no clock and no lease will reach.
func (g *generator) instant(perSecond int64) string {
	if g.chance(20) {
		return strconv.FormatInt((1+g.Int64N(yore))*perSecond, 10)
	}
	return strconv.FormatInt((4e9+g.Int64N(1e9))*perSecond, 10)
}

// yore is a Unix time in seconds that was before any of this.
const yore = 1_500_000_000

// past tells whether a time that programs use is in the past; with perSecond of
// 0, whether one that is relative is.
func past(word string, perSecond int64) bool {
	n, err := strconv.ParseInt(word, 10, 64)
	return err == nil && n <= yore*perSecond
}
