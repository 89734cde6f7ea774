package ownexpire

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// values are what the key can be, each with the command that makes it so.
var values = map[string][]any{
	"string":      {"SET", key, "value"},
	"integer":     {"SET", key, 5},
	"bitmap":      {"SETBIT", key, 7, 1},
	"HyperLogLog": {"PFADD", key, "value"},
	"list":        {"RPUSH", key, "value"},
	"set":         {"SADD", key, "value"},
	"zset":        {"ZADD", key, 1, "value"},
	"geo":         {"GEOADD", key, 13.4, 52.5, "value"},
	"hash":        {"HSET", key, "field", "value"},
	"stream":      {"XADD", key, "1-1", "field", "value"},
}

// identifiers are what an owner may be called. Each differs from what near
// makes of it.
var identifiers = map[string]string{
	"empty":    "",
	"short":    "i",
	"uuid":     "8f14e45f-ceea-467f-a9b6-0d2c3e8f3a11",
	"number":   "5",
	"negative": "-12345678901",
	"binary":   "\x00\xff\r\n\x00*1\r\n",
	"44 bytes": strings.Repeat("a", 44), // the longest that is embedded
	"45 bytes": strings.Repeat("a", 45),
	"4 KiB":    strings.Repeat("ab", 2<<10),
}

// near are identifiers that are almost this one.
func near(identifier string) []string {
	others := []string{identifier + "x", identifier + "\x00", "0" + identifier, identifier + ".0"}
	if n := len(identifier); n > 0 {
		last := []byte(identifier)
		last[n-1] ^= 1
		others = append(others, identifier[:n-1], string(last))
	}
	return others
}

// refused asserts that calls are refused, the same whoever the owner is and
// whatever the key is, and that nothing has changed.
func refused(t *testing.T, s *server.Server, want any, calls ...[]any) {
	t.Helper()
	for _, call := range calls {
		for _, owner := range []string{"me", "another", ""} {
			for _, ms := range []int64{0, 1 * second, 5000 * second} {
				given(t, s, owner, ms)
				assert.Equal(t, want, unchanged(t, s, call...), "%.100q", call)
			}
		}
		s.Do("DEL", key)
		assert.Equal(t, want, unchanged(t, s, call...), "%.100q of a key that is missing", call)
	}
}

// The reply table, line by line, with its borders.
func TestReplies(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	t.Run("arity", func(t *testing.T) { testArity(t, s) })
	t.Run("not an integer", func(t *testing.T) { testNotAnInteger(t, s) })
	t.Run("overflow", func(t *testing.T) { testOverflow(t, s) })
	t.Run("one key twice", func(t *testing.T) { testOneKeyTwice(t, s) })
	t.Run("wrong type", func(t *testing.T) { testWrongType(t, s) })
	t.Run("missing", func(t *testing.T) { testMissing(t, s) })
	t.Run("ownership", func(t *testing.T) { testOwnership(t, s) })
	t.Run("identifiers", func(t *testing.T) { testIdentifiers(t, s) })
	t.Run("identifiers in the making", func(t *testing.T) { testIdentifiersInTheMaking(t, s) })
	t.Run("deletion", func(t *testing.T) { testDeletion(t, s) })
	t.Run("expired", func(t *testing.T) { testExpired(t, s) })
	t.Run("databases", func(t *testing.T) { testDatabases(t, s) })
	t.Run("INFO", func(t *testing.T) { testInfo(t, s) })
}

func testArity(t *testing.T, s *server.Server) {
	name := "goblin.ownexpire"
	if !s.Speaks(7, 0) {
		name = "GOBLIN.OWNEXPIRE" // as it was typed
	}
	whole := append(own("me", 1000), "surplus")
	for n := range whole {
		if n+1 != len(own("me", 1000)) {
			refused(t, s, server.Error("ERR wrong number of arguments for '"+name+"' command"), whole[:n+1])
		}
	}
}

func testNotAnInteger(t *testing.T, s *server.Server) {
	for _, ms := range []string{
		"", " ", "x", "+5", "05", "-05", "00", "-0", " 5", "5 ", "5\n", "5\x00", "\x005", "0x5", "1e3", "5.0", "5,000", "--5", "-", "１",
		"9223372036854775808", "-9223372036854775809", "99999999999999999999999", strings.Repeat("9", 1000),
	} {
		refused(t, s, notInteger, own("me", ms), []any{"GOBLIN.OWNEXPIRE", key, key, "me", ms})
	}
	s.Do("DEL", ownerKey)
	s.Do("RPUSH", ownerKey, "me")
	assert.Equal(t, notInteger, unchanged(t, s, own("me", "x")...), "before the type of the owner's key")
}

func testOverflow(t *testing.T, s *server.Server) {
	now := time.Now().UnixMilli()
	for _, ms := range []int64{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 - now + 60*second} {
		refused(t, s, overflow, own("me", ms), []any{"GOBLIN.OWNEXPIRE", key, key, "me", ms})
		s.Do("DEL", ownerKey)
		s.Do("RPUSH", ownerKey, "me")
		assert.Equal(t, overflow, unchanged(t, s, own("me", ms)...), "before the type of the owner's key")
	}
	for _, ms := range []int64{math.MaxInt64 - now - 60*second, 1<<62 + 1, 1 << 62, 1<<62 - 1, 1 << 48} {
		given(t, s, "another", 100*second)
		sets(t, s, "me", ms, own("me", ms)...)
	}
}

func testOneKeyTwice(t *testing.T, s *server.Server) {
	for _, ms := range []int64{10_000 * second, 1 * second, 0, -1} {
		refused(t, s, oneKey, []any{"GOBLIN.OWNEXPIRE", key, key, "me", ms}, []any{"GOBLIN.OWNEXPIRE", ownerKey, ownerKey, "me", ms})
	}
	// Names are compared as bytes.
	given(t, s, "", 100*second)
	require.Equal(t, set, s.Do("GOBLIN.OWNEXPIRE", key, key+"\x00", "me", 200*second))
	assert.Equal(t, "me", s.Do("GET", key+"\x00"))
}

func testWrongType(t *testing.T, s *server.Server) {
	for name, value := range values {
		t.Run(name, func(t *testing.T) {
			for _, ms := range []int64{0, 100 * second} {
				given(t, s, "", ms)
				s.Do(append([]any{value[0], ownerKey}, value[2:]...)...)
				if s.Do("TYPE", ownerKey) == "string" {
					continue // as an identifier is
				}
				for _, asked := range []int64{200 * second, 50 * second, 0, -1, math.MinInt64} {
					assert.Equal(t, wrongType, unchanged(t, s, own("value", asked)...))
				}
				s.Do("DEL", key)
				assert.Equal(t, wrongType, unchanged(t, s, own("value", 100*second)...), "of a key that is missing")
			}
		})
	}
}

func testMissing(t *testing.T, s *server.Server) {
	for _, owner := range []string{"", "me", "another"} {
		for _, ms := range []int64{100 * second, 1, 0, -1, math.MinInt64} {
			given(t, s, owner, 0)
			assert.Equal(t, kept, unchanged(t, s, own("me", ms)...), "%d ms, of a key without TTL", ms)
			s.Do("DEL", key)
			assert.Equal(t, kept, unchanged(t, s, own("me", ms)...), "%d ms, of a key that is missing", ms)
		}
	}
}

// Anyone may extend, only the owner may shorten.
func testOwnership(t *testing.T, s *server.Server) {
	for name, value := range values {
		t.Run(name, func(t *testing.T) {
			for _, test := range []struct {
				owner string
				ms    int64
				want  any
			}{
				{"me", 200 * second, set},
				{"me", 100 * second, set},
				{"me", 50 * second, set},
				{"another", 200 * second, set},
				{"another", 100 * second, set}, // a little has passed, so that this extends it
				{"another", 50 * second, kept},
				{"another", 1, kept},
				{"", 200 * second, set},
				{"", 100 * second, set},
				{"", 50 * second, kept},
			} {
				given(t, s, test.owner, 0)
				s.Do("DEL", key)
				s.Do(value...)
				require.Equal(t, int64(1), s.Do("PEXPIRE", key, 100*second))
				if test.want == kept {
					assert.Equal(t, kept, unchanged(t, s, own("me", test.ms)...), "%v", test)
				} else {
					sets(t, s, "me", test.ms, own("me", test.ms)...)
				}
			}
		})
	}
}

func testIdentifiers(t *testing.T, s *server.Server) {
	for name, identifier := range identifiers {
		t.Run(name, func(t *testing.T) {
			given(t, s, "nobody else", 100*second)
			sets(t, s, identifier, 200*second, own(identifier, 200*second)...)
			for _, other := range near(identifier) {
				assert.Equal(t, kept, unchanged(t, s, own(other, 100*second)...), "%.100q", other)
				assert.Equal(t, kept, unchanged(t, s, own(other, 0)...), "%.100q", other)
			}
			sets(t, s, identifier, 100*second, own(identifier, 100*second)...)
			require.Equal(t, "OK", s.Do("SET", ownerKey, identifier), "by other means, and without a TTL")
			sets(t, s, identifier, 50*second, own(identifier, 50*second)...)
			assert.Equal(t, set, s.Do(own(identifier, 0)...))
			assert.Equal(t, int64(0), s.Do("EXISTS", key, ownerKey))
		})
	}
}

// An owner that other commands have written is compared as GET would show it.
func testIdentifiersInTheMaking(t *testing.T, s *server.Server) {
	for identifier, steps := range map[string][][]any{
		"12":        {{"INCRBY", ownerKey, 12}},
		"me12":      {{"SET", ownerKey, "me"}, {"APPEND", ownerKey, "12"}},
		"\x00\x00a": {{"SETRANGE", ownerKey, 2, "a"}},
		"\x80":      {{"SETBIT", ownerKey, 0, 1}},
	} {
		given(t, s, "", 200*second)
		for _, step := range steps {
			s.Do(step...)
		}
		assert.Equal(t, kept, unchanged(t, s, own("?"+identifier[1:], 100*second)...), "%q", identifier)
		sets(t, s, identifier, 100*second, own(identifier, 100*second)...)
	}
}

func testDeletion(t *testing.T, s *server.Server) {
	for _, ms := range []int64{0, -1, -2, -60 * second, -1 << 40, math.MinInt64 + 1, math.MinInt64} {
		for _, other := range []string{"another", ""} {
			given(t, s, other, 100*second)
			assert.Equal(t, kept, unchanged(t, s, own("me", ms)...), "%d, not by the owner", ms)
		}
		given(t, s, "me", 100*second)
		s.Do("SET", "twin", "")
		assert.Equal(t, s.Do("PEXPIRE", "twin", ms), s.Do(own("me", ms)...), "as PEXPIRE with %d", ms)
		assert.Equal(t, int64(0), s.Do("EXISTS", "twin", key, ownerKey), "as PEXPIRE with %d", ms)
		assert.Equal(t, int64(0), s.Do("DBSIZE"))
	}
}

// What has expired is gone, even while the server has not yet got round to
// deleting it.
func testExpired(t *testing.T, s *server.Server) {
	require.Equal(t, "OK", s.Do("DEBUG", "SET-ACTIVE-EXPIRE", 0))
	defer s.Do("DEBUG", "SET-ACTIVE-EXPIRE", 1)
	lapse := func(key string) {
		require.Equal(t, int64(1), s.Do("PEXPIRE", key, 1))
		deadline := time.Now().Add(5 * time.Millisecond)
		s.Until("it has expired", func() bool { return time.Now().After(deadline) })
		require.Equal(t, int64(2), s.Do("DBSIZE"), "it is still there")
	}
	for _, ms := range []int64{200 * second, 50 * second, 0} {
		given(t, s, "me", 100*second)
		lapse(ownerKey)
		if ms == 200*second {
			sets(t, s, "me", ms, own("me", ms)...)
		} else {
			assert.Equal(t, kept, s.Do(own("me", ms)...), "no longer the owner")
			assert.Equal(t, int64(0), s.Do("EXISTS", ownerKey))
			assert.InDelta(t, 100*second, s.Do("PTTL", key), 50*second)
		}

		given(t, s, "me", 100*second)
		deadline := s.Deadline(ownerKey)
		lapse(key)
		assert.Equal(t, kept, s.Do(own("me", ms)...), "of a key that is gone")
		assert.Equal(t, int64(0), s.Do("EXISTS", key))
		assert.InDelta(t, deadline, s.Deadline(ownerKey), s.Slack())
	}
	given(t, s, "me", 100*second)
	require.Equal(t, set, s.Do(own("me", 1)...))
	s.Until("both have expired", func() bool { return s.Do("EXISTS", key, ownerKey) == int64(0) })
}

// The keys are those of the selected database.
func testDatabases(t *testing.T, s *server.Server) {
	given(t, s, "another", 200*second)
	other := s.Session()
	require.Equal(t, "OK", server.Do(other, "SELECT", 7))
	require.Equal(t, "OK", server.Do(other, "SET", key, "", "PX", 200*second))
	require.Equal(t, "OK", server.Do(other, "SET", ownerKey, "me"))
	deadline := s.Deadline(key)
	assert.Equal(t, set, server.Do(other, own("me", 100*second)...))
	assert.Equal(t, kept, s.Do(own("me", 100*second)...))
	assert.Equal(t, set, server.Do(other, own("me", 0)...))
	assert.Equal(t, int64(0), server.Do(other, "DBSIZE"))
	assert.Equal(t, "another", s.Do("GET", ownerKey))
	assert.InDelta(t, deadline, s.Deadline(key), s.Slack())
}

func testInfo(t *testing.T, s *server.Server) {
	before := s.Info("goblin")
	for range 2 {
		given(t, s, "me", 100*second)
		s.Do(own("me", 200*second)...)
		s.Do(own("another", 300*second)...)
		s.Do(own("me", 100*second)...)
		s.Do(own("another", 0)...)
		s.Do(own("another", 0)...)
		s.Do(own("another", "x")...)
		s.Do(own("another", int64(math.MaxInt64))...)
		s.Do("GOBLIN.OWNEXPIRE", key, key, "me", 1)
		s.Do("RPUSH", ownerKey, "me")
		s.Do(own("me", 1)...)
	}
	for field, n := range map[string]int{"set": 6, "mismatched": 2, "missing": 2, "refused": 8} {
		field = "goblin_ownexpire_" + field
		was, err := strconv.Atoi(before[field])
		require.NoError(t, err)
		assert.Equal(t, was+n, s.Count("goblin", field), field)
	}
	assert.Contains(t, s.Info("commandstats"), "cmdstat_goblin.ownexpire", "it is timed by the server")
}
