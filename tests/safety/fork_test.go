package safety

import (
	"context"
	"flag"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"goblin/tests/server"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var forks = flag.Int("forks", 10, "how often TestFork has the server fork for each reason")

// stress has a library collect garbage all the time.
const stress = "-tags=goblin_stress"

// A server forks for snapshots, for rewrites of its append-only file and for
// new replicas, at any moment of a load of calls and of the Go runtime's
// collecting garbage. No child hangs, and no reply is wrong.
func TestFork(t *testing.T) {
	t.Parallel()
	s := server.Unstarted(t, "--appendonly", "yes", "--hz", "100")
	path := filepath.Join(s.Dir, "stress.so")
	build(t, path, stress)
	s.Start("--loadmodule", path)
	replica := server.Plain(t)
	replica.ReplicaOf(s)

	ctx, stop := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	var calls atomic.Int64
	for client := range 2 {
		clients.Go(func() {
			key := "lock:" + strconv.Itoa(client)
			assert.Equal(t, "OK", s.Do("SET", key, "token"))
			for ctx.Err() == nil {
				replies, err := s.Client.Pipelined(context.Background(), func(pipe redis.Pipeliner) error {
					for range 500 {
						pipe.Do(ctx, "GOBLIN.CAEXPIRE", key, "token", 600000)
						pipe.Do(ctx, "GOBLIN.CAD", key, "other")
					}
					return nil
				})
				if !assert.NoError(t, err) {
					return
				}
				for i := 0; i < len(replies); i += 2 {
					if !assert.Equal(t, renewed, replies[i].(*redis.Cmd).Val()) || !assert.Equal(t, lost, replies[i+1].(*redis.Cmd).Val()) {
						return
					}
				}
				calls.Add(int64(len(replies)))
			}
		})
	}
	defer clients.Wait()
	defer stop()

	s.Expect("Changing replication IDs")
	childless := func() bool {
		info := s.Info("persistence")
		return info["rdb_bgsave_in_progress"]+info["aof_rewrite_scheduled"]+info["aof_rewrite_in_progress"] == "000"
	}
	for range *forks {
		s.Until("the last child has ended", childless)
		require.Equal(t, "Background saving started", s.Do("BGSAVE"))
		s.Until("the snapshot is written", childless)
		require.Equal(t, "ok", s.Info("persistence")["rdb_last_bgsave_status"])

		require.Contains(t, s.Do("BGREWRITEAOF"), "append only file rewriting")
		s.Until("the append-only file is rewritten", childless)
		require.Equal(t, "ok", s.Info("persistence")["aof_last_bgrewrite_status"])

		synced := s.Count("stats", "sync_full")
		require.Equal(t, "OK", s.Do("DEBUG", "CHANGE-REPL-ID"))
		require.Equal(t, int64(1), s.Do("CLIENT", "KILL", "TYPE", "replica"))
		s.Until("the replica is synchronised anew", func() bool {
			return s.Count("stats", "sync_full") > synced && replica.Info("replication")["master_link_status"] == "up"
		})
	}
	t.Logf("%d forks during %d calls", 3**forks, calls.Load())
}

// The parent and the child of a fork share their memory until one of them
// writes to it. The module writes to none.
func TestCopyOnWrite(t *testing.T) {
	t.Parallel()
	plain, s := server.Plain(t), server.New(t)
	for range 100 {
		use(t, s)
	}
	copied := func(s *server.Server) int {
		const keys = 20
		for i := range keys {
			s.Do("SET", i, "value")
		}
		// The child writes slowly, so that there is time to write to memory.
		require.Equal(t, "OK", s.Do("CONFIG", "SET", "rdb-key-save-delay", 1000000/keys))
		require.Equal(t, "Background saving started", s.Do("BGSAVE"))
		s.Until("the snapshot is written", func() bool { return s.Count("persistence", "rdb_bgsave_in_progress") == 0 })
		return s.Count("persistence", "rdb_last_cow_size")
	}
	without, with := copied(plain), copied(s)
	t.Logf("%d bytes copied without the module, %d with it", without, with)
	assert.Less(t, with, without+(1<<20))
}
