package ownexpire

import (
	"context"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTimeouts(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	mine, theirs := NewTimeouts(s.Client), NewTimeouts(s.Connect(nil))
	require.Equal(t, "OK", s.Do("SET", "session", "data", "PX", 100_000))
	sets := func(timeouts *Timeouts, timeout time.Duration) bool {
		t.Helper()
		done, err := timeouts.Set(ctx, "session", timeout)
		require.NoError(t, err)
		return done
	}

	assert.False(t, sets(mine, time.Minute), "which would shorten a timeout that nobody owns")
	assert.True(t, sets(mine, time.Hour))
	assert.True(t, sets(mine, 30*time.Minute), "shortened by the owner")
	assert.False(t, sets(theirs, 10*time.Minute))
	assert.True(t, sets(theirs, time.Hour))
	assert.False(t, sets(mine, 30*time.Minute), "no longer the owner")
	assert.InDelta(t, time.Hour.Milliseconds(), s.Do("PTTL", "session"), 10_000)
	assert.InDelta(t, s.Deadline("session"), s.Deadline("session:owner"), s.Slack())

	assert.True(t, sets(theirs, 0))
	assert.Equal(t, int64(0), s.Do("EXISTS", "session", "session:owner"))
	assert.False(t, sets(theirs, time.Hour), "of a key that is gone")

	s.Do("SET", "session", "data", "PX", 100_000)
	s.Do("RPUSH", "session:owner", "")
	_, err := mine.Set(ctx, "session", time.Hour)
	assert.ErrorContains(t, err, "WRONGTYPE")
}
