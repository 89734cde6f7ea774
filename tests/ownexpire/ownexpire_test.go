package ownexpire

import (
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The keys of these tests. One hash tag puts them in one slot.
const (
	key      = "{job}"
	ownerKey = "{job}:owner"
)

// The replies of the command, but for its errors.
const (
	set  = int64(1)
	kept = int64(0)
)

const (
	wrongType  = server.Error("WRONGTYPE Operation against a key holding the wrong kind of value")
	notInteger = server.Error("ERR value is not an integer or out of range")
	overflow   = server.Error("ERR invalid expire time in 'goblin.ownexpire' command")
	oneKey     = server.Error("ERR the two keys of 'goblin.ownexpire' must differ")
)

// second is one, in milliseconds. What tests choose between is so many of them
// apart that the time a test takes makes no difference.
const second = 1000

// own is a call with the keys of these tests.
func own(identifier string, ms any) []any {
	return []any{"GOBLIN.OWNEXPIRE", key, ownerKey, identifier, ms}
}

// given makes the server's only keys a list that expires after ms, or never if
// that is 0, and its owner, if one is named.
func given(t *testing.T, s *server.Server, owner string, ms int64) {
	t.Helper()
	s.Do("FLUSHALL")
	require.Equal(t, int64(1), s.Do("RPUSH", key, "value"))
	if ms != 0 {
		require.Equal(t, int64(1), s.Do("PEXPIRE", key, ms))
	}
	if owner != "" {
		require.Equal(t, "OK", s.Do("SET", ownerKey, owner, "PX", 10_000*second))
	}
}

// sets runs a call that must set the timeout of the key to ms, and make
// identifier its owner.
func sets(t *testing.T, s *server.Server, identifier string, ms int64, call ...any) {
	t.Helper()
	value, begin := s.Do("DUMP", key), time.Now().UnixMilli()
	require.Equal(t, set, s.Do(call...), "%.100q", call)
	end := time.Now().UnixMilli()
	deadline := s.Deadline(key)
	// A server's idea of now can be a little older than the call.
	assert.True(t, begin+ms-100 <= deadline && deadline <= end+ms+5, "%.100q: it expires %d ms from now", call, deadline-end)
	assert.InDelta(t, deadline, s.Deadline(ownerKey), s.Slack(), "%.100q: one deadline for both", call)
	assert.Equal(t, identifier, s.Do("GET", ownerKey))
	assert.Equal(t, value, s.Do("DUMP", key), "%.100q has changed the value", call)
}

// unchanged runs a call, asserts that it has changed nothing, and returns its
// reply.
func unchanged(t *testing.T, s *server.Server, call ...any) any {
	t.Helper()
	return unchangedBy(t, s, func() any { return s.Do(call...) })
}

func unchangedBy(t *testing.T, s *server.Server, do func() any) (reply any) {
	t.Helper()
	var values []any
	var deadlines []int64
	look := func() {
		for _, key := range []string{key, ownerKey} {
			values = append(values, s.Do("TYPE", key), s.Do("DUMP", key))
			deadlines = append(deadlines, s.Deadline(key))
		}
		values = append(values, s.Do("DBSIZE"), s.Count("persistence", "rdb_changes_since_last_save"))
	}
	look()
	reply = do()
	look()
	half := len(values) / 2
	assert.Equal(t, values[:half], values[half:])
	assert.InDeltaSlice(t, deadlines[:2], deadlines[2:], s.Slack())
	return reply
}
