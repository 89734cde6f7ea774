package tests

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	renewed  = int64(1)
	released = int64(1)
	lost     = int64(0)

	wrongType  = server.Error("WRONGTYPE Operation against a key holding the wrong kind of value")
	notInteger = server.Error("ERR value is not an integer or out of range")
	overflow   = server.Error("ERR invalid expire time in 'goblin.caexpire' command")
)

// values are what a key can hold besides a token, each with the command that
// stores it under the key "other".
var values = map[string][]any{
	"list":   {"RPUSH", "other", "token"},
	"set":    {"SADD", "other", "token"},
	"zset":   {"ZADD", "other", 1, "token"},
	"hash":   {"HSET", "other", "token", 1},
	"stream": {"XADD", "other", "1-1", "token", 1},
}

// malformed are no integers to the server's own parser.
var malformed = []string{
	"", " ", "x", "+5", "05", "-05", "00", "-0", " 5", "5 ", "5\n", "5\x00", "\x005", "0x5", "1e3", "5.0", "5,000", "--5", "-", "１",
	"9223372036854775808", "-9223372036854775809", "99999999999999999999999", strings.Repeat("9", 1000),
}

// tokens are what a lock may hold. Each differs from what near makes of it.
var tokens = map[string]string{
	"empty":     "",
	"short":     "t",
	"uuid":      "8f14e45f-ceea-467f-a9b6-0d2c3e8f3a11",
	"number":    "5",
	"negative":  "-12345678901",
	"binary":    "\x00\xff\r\n\x00*1\r\n",
	"44 bytes":  strings.Repeat("a", 44), // the longest that is embedded
	"45 bytes":  strings.Repeat("a", 45),
	"4 KiB":     strings.Repeat("ab", 2<<10),
	"with NULs": strings.Repeat("\x00", 36),
}

// near are guesses at a token that almost hit.
func near(token string) []string {
	guesses := []string{
		token + "x", token + "\x00", " " + token, "+" + token, "0" + token, token + ".0", token + "\n",
		strings.ToUpper(token) + "?", "x",
	}
	for _, cut := range []int{0, len(token) / 2, len(token) - 1} {
		if cut >= 0 && cut < len(token) {
			flipped := []byte(token)
			flipped[cut] ^= 1
			guesses = append(guesses, token[:cut], string(flipped))
		}
	}
	return guesses
}

// unchanged runs a call and asserts that it left the key as it was.
func unchanged(t *testing.T, s *server.Server, key string, call ...any) (reply any) {
	t.Helper()
	look := func() []any { return []any{s.Do("TYPE", key), s.Do("DUMP", key)} }
	value, deadline := look(), s.Deadline(key)
	reply = s.Do(call...)
	assert.Equal(t, value, look(), "%.100q has changed the value", call)
	assert.InDelta(t, deadline, s.Deadline(key), s.Slack(), "%.100q has changed the deadline", call)
	return reply
}

// renews runs a call that must renew a lease for ms milliseconds. A server's
// idea of now can be a little older than the call.
func renews(t *testing.T, s *server.Server, key string, ms int64, call ...any) {
	t.Helper()
	begin := time.Now().UnixMilli()
	require.Equal(t, renewed, s.Do(call...), "%.100q", call)
	end := time.Now().UnixMilli()
	deadline := s.Deadline(key)
	assert.True(t, begin+ms-100 <= deadline && deadline <= end+ms+5, "%.100q: it expires %d ms from now", call, deadline-end)
}

func TestArity(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	s.Do("SET", "key", "token", "PX", 60000)
	for _, call := range [][]any{
		{"GOBLIN.CAD"},
		{"GOBLIN.CAD", "key"},
		{"GOBLIN.CAD", "key", "token", "surplus"},
		{"GOBLIN.CAEXPIRE"},
		{"GOBLIN.CAEXPIRE", "key"},
		{"GOBLIN.CAEXPIRE", "key", "token"},
		{"GOBLIN.CAEXPIRE", "key", "token", "1000", "surplus"},
	} {
		name := strings.ToLower(call[0].(string))
		if !s.Speaks(7, 0) {
			name = call[0].(string) // as it was typed
		}
		assert.Equal(t, server.Error("ERR wrong number of arguments for '"+name+"' command"), unchanged(t, s, "key", call...), "%q", call)
	}
}

func TestWrongType(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	for name, store := range values {
		t.Run(name, func(t *testing.T) {
			s.Do("DEL", "other")
			s.Do(store...)
			for range 2 { // without a TTL, and with one
				assert.Equal(t, wrongType, unchanged(t, s, "other", "GOBLIN.CAD", "other", "token"))
				for _, ms := range []string{"1000", "0", "-1", "x", "9223372036854775807"} {
					assert.Equal(t, wrongType, unchanged(t, s, "other", "GOBLIN.CAEXPIRE", "other", "token", ms))
				}
				require.Equal(t, int64(1), s.Do("PEXPIRE", "other", 60000))
			}
		})
	}
}

func TestNotAnInteger(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	s.Do("SET", "key", "token", "PX", 60000)
	for _, ms := range malformed {
		assert.Equal(t, notInteger, unchanged(t, s, "key", "GOBLIN.CAEXPIRE", "key", "token", ms), "%q held", ms)
		assert.Equal(t, notInteger, unchanged(t, s, "key", "GOBLIN.CAEXPIRE", "key", "wrong", ms), "%q mismatched", ms)
		assert.Equal(t, notInteger, unchanged(t, s, "missing", "GOBLIN.CAEXPIRE", "missing", "token", ms), "%q missing", ms)
		assert.Equal(t, notInteger, s.Do("PEXPIRE", "key", ms), "PEXPIRE takes %q", ms)
	}
}

func TestOverflow(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	now := time.Now().UnixMilli()
	s.Do("SET", "key", "token", "PX", 60000)
	for _, ms := range []int64{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 - now + 60000} {
		assert.Equal(t, overflow, unchanged(t, s, "key", "GOBLIN.CAEXPIRE", "key", "token", ms), "%d held", ms)
		assert.Equal(t, overflow, unchanged(t, s, "key", "GOBLIN.CAEXPIRE", "key", "wrong", ms), "%d mismatched", ms)
		assert.Equal(t, overflow, unchanged(t, s, "missing", "GOBLIN.CAEXPIRE", "missing", "token", ms), "%d missing", ms)
	}
	for _, ms := range []int64{math.MaxInt64 - now - 60000, 1<<62 + 1, 1 << 62, 1<<62 - 1, 1 << 48} {
		s.Do("SET", "key", "token")
		renews(t, s, "key", ms, "GOBLIN.CAEXPIRE", "key", "token", ms)
		assert.Equal(t, "token", s.Do("GET", "key"))
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	for name, token := range tokens {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, "OK", s.Do("SET", "key", token, "PX", 60000))
			for _, guess := range near(token) {
				if guess == token {
					continue
				}
				assert.Equal(t, lost, unchanged(t, s, "key", "GOBLIN.CAD", "key", guess), "%.100q", guess)
				assert.Equal(t, lost, unchanged(t, s, "key", "GOBLIN.CAEXPIRE", "key", guess, 1), "%.100q", guess)
				assert.Equal(t, lost, unchanged(t, s, "key", "GOBLIN.CAEXPIRE", "key", guess, 0), "%.100q", guess)
			}
			renews(t, s, "key", 120000, "GOBLIN.CAEXPIRE", "key", token, 120000)
			assert.Equal(t, token, s.Do("GET", "key"))
			assert.Equal(t, released, s.Do("GOBLIN.CAD", "key", token))
			assert.Equal(t, int64(0), s.Do("EXISTS", "key"))
		})
	}
}

// What other commands leave behind is compared as GET would show it.
func TestTokensInTheMaking(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	for token, steps := range map[string][][]any{
		"12":        {{"INCRBY", "key", 12}},
		"tok12":     {{"SET", "key", "tok"}, {"APPEND", "key", "12"}},
		"123":       {{"SET", "key", 12}, {"APPEND", "key", "3"}},
		"\x00\x00a": {{"SETRANGE", "key", 2, "a"}},
		"\x80":      {{"SETBIT", "key", 0, 1}},
		"10.5":      {{"INCRBYFLOAT", "key", "10.5"}},
	} {
		for range 2 {
			s.Do("DEL", "key")
			for _, step := range steps {
				s.Do(step...)
			}
			assert.Equal(t, lost, unchanged(t, s, "key", "GOBLIN.CAEXPIRE", "key", token[:len(token)-1]+"?", 1000), "%q", token)
			renews(t, s, "key", 60000, "GOBLIN.CAEXPIRE", "key", token, 60000)
			assert.Equal(t, released, s.Do("GOBLIN.CAD", "key", token), "%q", token)
		}
	}
}

// The value that was compared stays what it was to the commands that care about
// its encoding.
func TestValueStaysUsable(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	s.Do("SET", "key", 41)
	require.Equal(t, renewed, s.Do("GOBLIN.CAEXPIRE", "key", "41", 60000))
	assert.Equal(t, int64(42), s.Do("INCR", "key"))
	require.Equal(t, renewed, s.Do("GOBLIN.CAEXPIRE", "key", "42", 60000))
	assert.Equal(t, int64(4), s.Do("APPEND", "key", "!!"))
	assert.Equal(t, "42!!", s.Do("GET", "key"))
	assert.Equal(t, "OK", s.Do("RESTORE", "copy", 0, s.Do("DUMP", "key"), "REPLACE"))
	assert.Equal(t, released, s.Do("GOBLIN.CAD", "copy", "42!!"))
}

func TestHugeToken(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	token := strings.Repeat("0123456789abcdef", 32<<20/16)
	require.Equal(t, "OK", s.Do("SET", "key", token))
	assert.Equal(t, lost, s.Do("GOBLIN.CAD", "key", token[1:]+"x"))
	assert.Equal(t, lost, s.Do("GOBLIN.CAEXPIRE", "key", token[1:], 60000))
	renews(t, s, "key", 60000, "GOBLIN.CAEXPIRE", "key", token, 60000)
	assert.Equal(t, released, s.Do("GOBLIN.CAD", "key", token))
}

func TestMissing(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	for _, token := range []string{"", "token"} {
		assert.Equal(t, lost, unchanged(t, s, "missing", "GOBLIN.CAD", "missing", token))
		for _, ms := range []int64{1000, 0, -1, math.MinInt64} {
			assert.Equal(t, lost, unchanged(t, s, "missing", "GOBLIN.CAEXPIRE", "missing", token, ms))
		}
	}
	assert.Equal(t, lost, s.Do("GOBLIN.CAD", "", ""), "a key may have an empty name")
}

// A lease that has run out is lost even while the server has not yet got round
// to deleting the key.
func TestExpired(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	require.Equal(t, "OK", s.Do("DEBUG", "SET-ACTIVE-EXPIRE", 0))
	for i, call := range [][]any{{"GOBLIN.CAD"}, {"GOBLIN.CAEXPIRE", 60000}, {"GOBLIN.CAEXPIRE", 0}} {
		key := "key" + strconv.Itoa(i)
		require.Equal(t, "OK", s.Do("SET", key, "token", "PX", 1))
		deadline := time.Now().Add(5 * time.Millisecond)
		s.Until("the lease has run out", func() bool { return time.Now().After(deadline) })
		require.Equal(t, int64(i+1), s.Do("DBSIZE"), "the key is still there")
		assert.Equal(t, lost, s.Do(append([]any{call[0], key, "token"}, call[1:]...)...))
		assert.Equal(t, int64(0), s.Do("EXISTS", key))
		s.Do("SET", "filler"+strconv.Itoa(i), "")
	}
}

func TestRenewal(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	for _, before := range []string{"no TTL", "a longer TTL", "a shorter TTL"} {
		for _, ms := range []int64{1000, 60000, 1 << 40} {
			s.Do("SET", "key", "token")
			if before != "no TTL" {
				s.Do("PEXPIRE", "key", map[string]int64{"a longer TTL": ms * 2, "a shorter TTL": ms / 2}[before])
			}
			renews(t, s, "key", ms, "GOBLIN.CAEXPIRE", "key", "token", ms)
			assert.Equal(t, "token", s.Do("GET", "key"))
		}
	}
	require.Equal(t, renewed, s.Do("GOBLIN.CAEXPIRE", "key", "token", 1))
	s.Until("the lease has run out", func() bool { return s.Do("GET", "key") == nil })
}

func TestRenewalIntoThePast(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	for _, ms := range []int64{0, -1, -2, -60000, -1 << 40, math.MinInt64 + 1, math.MinInt64} {
		for _, ttl := range []int64{0, 60000} {
			s.Do("SET", "key", "token")
			s.Do("SET", "twin", "token")
			if ttl > 0 {
				s.Do("PEXPIRE", "key", ttl)
			}
			native := s.Do("PEXPIRE", "twin", ms)
			assert.Equal(t, native, s.Do("GOBLIN.CAEXPIRE", "key", "token", ms), "as PEXPIRE with %d", ms)
			assert.Equal(t, s.Do("EXISTS", "twin"), s.Do("EXISTS", "key"), "as PEXPIRE with %d", ms)
			s.Do("DEL", "key", "twin")
		}
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	s.Do("RPUSH", "list", "x")
	for range 2 {
		s.Do("SET", "key", "token")
		s.Do("GOBLIN.CAEXPIRE", "key", "token", 1000)
		s.Do("GOBLIN.CAEXPIRE", "key", "token", 2000)
		s.Do("GOBLIN.CAEXPIRE", "key", "wrong", 1000)
		s.Do("GOBLIN.CAEXPIRE", "missing", "token", 1000)
		s.Do("GOBLIN.CAEXPIRE", "missing", "token", "x")
		s.Do("GOBLIN.CAEXPIRE", "missing", "token", math.MaxInt64)
		s.Do("GOBLIN.CAEXPIRE", "list", "token", 1000)
		s.Do("GOBLIN.CAD", "key", "wrong")
		s.Do("GOBLIN.CAD", "key", "token")
		s.Do("GOBLIN.CAD", "key", "token")
		s.Do("GOBLIN.CAD", "key", "token")
		s.Do("GOBLIN.CAD", "list", "token")
		s.Do("SET", "key", "token")
		s.Do("GOBLIN.CAEXPIRE", "key", "token", 0)
	}
	want := map[string]string{
		"goblin_caexpire_renewed": "6", "goblin_caexpire_mismatched": "2", "goblin_caexpire_missing": "2", "goblin_caexpire_refused": "6",
		"goblin_cad_released": "2", "goblin_cad_mismatched": "2", "goblin_cad_missing": "4", "goblin_cad_refused": "2",
	}
	for field, n := range want {
		assert.Equal(t, n, s.Info("goblin")[field], field)
	}
	assert.Subset(t, s.Info("modules"), want)
	assert.Subset(t, s.Info("everything"), want)
	for _, field := range []string{"goblin.cad", "goblin.caexpire"} {
		assert.Contains(t, s.Info("commandstats"), "cmdstat_"+field, fmt.Sprint(field, " is timed by the server"))
	}
}
