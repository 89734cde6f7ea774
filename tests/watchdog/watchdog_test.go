package watchdog

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	key   = "lock:job"
	lease = 900 * time.Millisecond
)

// background gives up when the test must have failed.
func background(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestHold(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	err := Hold(background(t), s.Client, key, lease, func(ctx context.Context) error {
		// Longer than the lease, and the lock is held all the time.
		s.Until("the lease was renewed", func() bool {
			require.NoError(t, ctx.Err())
			assert.Equal(t, int64(1), s.Do("EXISTS", key))
			return s.Count("goblin", "goblin_caexpire_renewed") >= 5
		})
		assert.Equal(t, ErrTaken, Hold(ctx, s.Client, key, lease, nil), "by another")
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, int64(0), s.Do("EXISTS", key))
	assert.Equal(t, 1, s.Count("goblin", "goblin_cad_released"))
}

func TestHoldReportsTheWorksError(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	failure := errors.New("no luck")
	assert.Equal(t, failure, Hold(background(t), s.Client, key, time.Minute, func(context.Context) error { return failure }))
	assert.Equal(t, int64(0), s.Do("EXISTS", key))
}

func TestHoldStopsWhenTheLockIsLost(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	for _, lose := range [][]any{{"DEL", key}, {"SET", key, "another", "PX", 60000}} {
		err := Hold(background(t), s.Client, key, lease, func(ctx context.Context) error {
			s.Do(lose...)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		assert.Equal(t, ErrLost, err, "%q", lose)
	}
	assert.Equal(t, "another", s.Do("GET", key), "which is not ours to release")
}

func TestHoldReleasesWhenCancelled(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	ctx, cancel := context.WithCancel(background(t))
	err := Hold(ctx, s.Client, key, time.Minute, func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	assert.Equal(t, context.Canceled, err)
	assert.Equal(t, int64(0), s.Do("EXISTS", key))
}

// A lock that the server gave after nobody waited for its reply any more, or
// gave to whoever asks a second time, is not left behind.
func TestHoldReleasesWhatItMayHaveTaken(t *testing.T) {
	t.Parallel()
	for retries, want := range map[int]error{-1: os.ErrDeadlineExceeded, 1: ErrTaken} {
		t.Run(want.Error(), func(t *testing.T) {
			t.Parallel()
			s := server.New(t)
			dials := 0
			client := s.Connect(func(o *redis.Options) {
				o.MaxRetries, o.ReadTimeout = retries, 500*time.Millisecond
				o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
					if dials++; dials == 2 { // the first connection broke over the wait
						s.Signal(syscall.SIGCONT)
					}
					return new(net.Dialer).DialContext(ctx, network, addr)
				}
			})
			require.Equal(t, "PONG", server.Do(client, "PING"))
			s.Signal(syscall.SIGSTOP)
			assert.ErrorIs(t, Hold(background(t), client, key, time.Minute, nil), want)
			assert.Equal(t, 1, s.Count("goblin", "goblin_cad_released"))
			assert.Equal(t, int64(0), s.Do("EXISTS", key))
		})
	}
}

func TestHoldStopsWhenTheServerDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	err := Hold(background(t), s.Client, key, lease, func(ctx context.Context) error {
		s.Kill()
		<-ctx.Done()
		return context.Cause(ctx)
	})
	assert.Equal(t, ErrLost, err)
}
