package topology

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// appendOnly has the server write down what it does before it replies.
var appendOnly = []string{"--appendonly", "yes", "--appendfsync", "always"}

// bare starts a server without the module on what another one has left.
func bare(t *testing.T, s *server.Server, options ...string) *server.Server {
	t.Helper()
	bare := server.Unstarted(t, options...)
	bare.Dir = s.Dir
	bare.Expect("") // its log is that of s too, and checked there
	bare.Start()
	return bare
}

// finished waits for a child process that a field of INFO tells of.
func finished(t *testing.T, s *server.Server, field, status string) {
	t.Helper()
	s.Until(field+" is 0", func() bool { return s.Info("persistence")[field] == "0" })
	require.Equal(t, "ok", s.Info("persistence")[status])
}

// rewrite has the append-only file rewritten while locks are in use.
func rewrite(t *testing.T, s *server.Server, leases map[string]int64) {
	require.Contains(t, s.Do("BGREWRITEAOF"), "append only file rewriting started")
	during := use(t, s, "during", 6)
	finished(t, s, "aof_rewrite_in_progress", "aof_last_bgrewrite_status")
	maps.Copy(leases, during)
	maps.Copy(leases, use(t, s, "after", 6))
}

// Leases outlive the server that they were taken from, on disk in whichever
// form, and can then be read without the module.
func TestRestart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		options []string
		persist func(t *testing.T, s *server.Server, leases map[string]int64)
	}{
		{"SAVE", nil, func(t *testing.T, s *server.Server, leases map[string]int64) {
			require.Equal(t, "OK", s.Do("DEBUG", "RELOAD"))
			same(t, leases, s, s.Slack())
			require.Equal(t, "OK", s.Do("SAVE"))
		}},
		{"BGSAVE", nil, func(t *testing.T, s *server.Server, _ map[string]int64) {
			require.Equal(t, "Background saving started", s.Do("BGSAVE"))
			for i := range 20 { // too late for the snapshot
				require.Equal(t, renewed, renew(s.Client, "lease:1", "token-1", 2*lease+i))
			}
			require.Equal(t, released, release(s.Client, "lease:1", "token-1"))
			finished(t, s, "rdb_bgsave_in_progress", "rdb_last_bgsave_status")
		}},
		{"AOF rewritten as a snapshot", slices.Concat(appendOnly, []string{"--aof-use-rdb-preamble", "yes"}), rewrite},
		{"AOF rewritten as commands", slices.Concat(appendOnly, []string{"--aof-use-rdb-preamble", "no"}), rewrite},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			// A child takes its time over a key, so that things happen meanwhile.
			s := server.New(t, append([]string{"--rdb-key-save-delay", "20000"}, test.options...)...)
			s.Expect("DB reloaded by DEBUG RELOAD")
			leases := use(t, s, "lease", 9)
			test.persist(t, s, leases)
			s.Kill()
			s.Start()
			same(t, leases, s, s.Slack())
			keys := int64(0)
			for _, deadline := range leases {
				if deadline > 0 {
					keys++
				}
			}
			assert.Equal(t, keys, s.Do("DBSIZE"))

			require.Equal(t, renewed, renew(s.Client, "lease:1", "token-1", lease))
			require.Equal(t, released, release(s.Client, "lease:2", "token-2"))
			if len(test.options) > 0 {
				maps.Copy(leases, deadlines(s, []string{"lease:1", "lease:2"}))
			}
			s.Kill()
			same(t, leases, bare(t, s, test.options...), s.Slack())
		})
	}
}

// holder uses one lock, and keeps account of what it must find after a crash.
type holder struct {
	client server.Doer
	key    string
	may    []span // the deadlines that the key may have
}

// span is from when to when a deadline lies.
type span struct{ from, to int64 }

var gone = span{-2, -2}

func (h *holder) allow(deadline int64, slack float64) bool {
	for _, may := range h.may {
		if float64(deadline) >= float64(may.from)-slack && float64(deadline) <= float64(may.to)+slack {
			return true
		}
	}
	return false
}

// step does what comes next in the life of a lock. It reports whether the
// server has acknowledged it.
func (h *holder) step(n int) bool {
	has := h.may[0]
	began, ms := time.Now().UnixMilli(), lease+n%50*10_000 // deadlines do not get near each other
	command := []any{"GOBLIN.CAEXPIRE", h.key, h.key, ms}
	switch {
	case has == gone:
		command = []any{"SET", h.key, h.key, "NX", "PX", ms}
	case n%7 == 0:
		command = []any{"GOBLIN.CAD", h.key, h.key}
	}
	// Until it is acknowledged it may have happened or not.
	will := span{began + int64(ms), time.Now().Add(time.Hour).UnixMilli() + int64(ms)}
	if command[0] == "GOBLIN.CAD" {
		will = gone
	}
	h.may = []span{has, will}
	reply := server.Do(h.client, command...)
	if reply != renewed && reply != "OK" {
		return false
	}
	if will != gone {
		will.to = time.Now().UnixMilli() + int64(ms)
	}
	h.may = []span{will}
	return true
}

// Nothing that was acknowledged is lost when the server is killed.
func TestKill(t *testing.T) {
	t.Parallel()
	s := server.New(t, appendOnly...)
	s.Expect("short read|AOF loaded anyway|[Tt]runcat|incomplete MULTI/EXEC") // of what was not acknowledged
	holders := make([]*holder, 4)
	var keys []string
	for i, key := range numbered("lock", len(holders)) {
		keys = append(keys, key)
		holders[i] = &holder{client: s.Connect(nil), key: key, may: []span{gone}}
	}
	for range 4 {
		var acknowledged atomic.Int64
		var running sync.WaitGroup
		for _, h := range holders {
			running.Go(func() {
				for n := 1; h.step(n); n++ {
					acknowledged.Add(1)
				}
			})
		}
		moment := 20 + rand.Int64N(500)
		s.Until("it is time", func() bool { return acknowledged.Load() >= moment })
		s.Kill()
		running.Wait()
		s.Start()
		for _, h := range holders {
			deadline := s.Deadline(h.key)
			assert.True(t, h.allow(deadline, s.Slack()), "%s expires at %d, not in %v", h.key, deadline, h.may)
			h.may = []span{{deadline, deadline}}
		}
		t.Logf("killed after %d acknowledgements", acknowledged.Load())
	}
	leases := deadlines(s, keys)
	s.Kill()
	same(t, leases, bare(t, s, appendOnly...), s.Slack())
}
