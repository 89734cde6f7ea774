package accelerate

import (
	"fmt"
	"path/filepath"
	"slices"
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

func release(token string) []any { return []any{"EVALSHA", releaseSHA, 1, "lock", token} }

func renew(token string, ms any) []any { return []any{"EVALSHA", renewSHA, 1, "lock", token, ms} }

func TestInTransaction(t *testing.T) {
	t.Parallel()
	s := accelerating(t)
	text, _ := known(t)
	client := s.Session()
	for _, call := range [][]any{
		{"MULTI"},
		{"SET", "lock", "token"},
		renew("token", 60000), renew("wrong", 1),
		{"EVAL", text, 1, "lock", "wrong"},
		{"EVAL", "return 7", 0}, // a script among them
		release("token"), release("token"),
	} {
		reply := server.Do(client, call...)
		assert.Contains(t, []any{"OK", "QUEUED"}, reply, call)
	}
	one, none := int64(1), int64(0)
	assert.Equal(t, []any{"OK", one, none, none, int64(7), one, none}, server.Do(client, "EXEC"))
	assert.Equal(t, map[string]int{"goblin.caexpire": 2, "goblin.cad": 3, "eval": 1}, ran(t, s))

	require.Equal(t, "OK", s.Do("SET", "lock", "token"))
	server.Do(client, "MULTI")
	server.Do(client, release("token")...)
	assert.Equal(t, "OK", server.Do(client, "DISCARD"))
	assert.Equal(t, "token", s.Do("GET", "lock"))

	// It aborts those of others where it changes something.
	for token, aborted := range map[string]bool{"token": true, "wrong": false} {
		require.Equal(t, "OK", s.Do("SET", "lock", "token"))
		watcher := s.Session()
		server.Do(watcher, "WATCH", "lock")
		s.Do(renew(token, 60000)...)
		server.Do(watcher, "MULTI")
		server.Do(watcher, "PING")
		assert.Equal(t, aborted, server.Do(watcher, "EXEC") == nil, token)
	}
}

func TestProtocols(t *testing.T) {
	t.Parallel()
	s := accelerating(t)
	for _, protocol := range []int{2, 3} {
		client := s.Connect(func(o *redis.Options) { o.Protocol = protocol })
		server.Do(client, "SET", "lock", "token")
		assert.Equal(t, int64(0), server.Do(client, renew("wrong", 60000)...))
		assert.Equal(t, int64(1), server.Do(client, renew("token", 60000)...))
		assert.Equal(t, int64(1), server.Do(client, release("token")...))
		assert.Equal(t, map[string]int{"goblin.caexpire": 2, "goblin.cad": 1}, ran(t, s))
	}
}

// Many clients send long pipelines at once, to a server that reads and parses
// them in other threads where it can.
func TestPipelines(t *testing.T) {
	t.Parallel()
	for _, threads := range []int{1, 4} {
		t.Run(fmt.Sprintf("%d threads", threads), func(t *testing.T) {
			t.Parallel()
			options := []string{"--io-threads", strconv.Itoa(threads)}
			s := server.Unstarted(t, slices.Concat([]string{"--loadmodule", server.Module(t)}, arguments(), options)...)
			switch {
			case s.Is("valkey", 8, 0):
				s.Start("--events-per-io-thread", "0") // threads even where there is little to do
			case s.Is("redis", 8, 0):
				s.Start()
			default:
				s.Start("--io-threads-do-reads", "yes")
			}
			load(t, s)
			const clients, locks = 8, 200
			var all sync.WaitGroup
			for c := range clients {
				all.Go(func() {
					client := s.Connect(nil)
					replies, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
						for i := range locks {
							key := fmt.Sprintf("lock:%d:%d", c, i)
							pipe.Do(ctx, "SET", key, key, "PX", 600_000)
							pipe.Do(ctx, "EVALSHA", renewSHA, 1, key, key, 900_000)
							pipe.Do(ctx, "EVALSHA", renewSHA, 1, key, "wrong", 1)
							pipe.Do(ctx, "EVALSHA", renewSHA, 1, key, key, "900000", "surplus")
							pipe.Do(ctx, "EVALSHA", releaseSHA, 1, key, strings.Repeat("x", i))
							pipe.Do(ctx, "EVALSHA", releaseSHA, "1", key, key)
							pipe.Do(ctx, "EVALSHA", releaseSHA, "1", key, key)
						}
						return nil
					})
					assert.NoError(t, err)
					for i, reply := range replies {
						want := []any{"OK", int64(1), int64(0), int64(1), int64(0), int64(1), int64(0)}[i%7]
						if has := reply.(*redis.Cmd).Val(); has != want {
							assert.Equal(t, want, has, reply.String())
							return
						}
					}
				})
			}
			all.Wait()
			n := clients * locks
			assert.Equal(t, map[string]int{"goblin.caexpire": 2 * n, "goblin.cad": 3 * n, "evalsha": n}, ran(t, s))
			assert.Equal(t, int64(0), s.Do("DBSIZE"))
		})
	}
}

// What scripts, functions and other modules call is left alone. Where that
// cannot be told from what a client calls, it does the same.
func TestNotFromOthers(t *testing.T) {
	t.Parallel()
	both := start(t)

	t.Run("scripts", func(t *testing.T) {
		text, _ := known(t)
		for _, body := range []string{`return redis.call(unpack(ARGV))`, `return redis.pcall(unpack(ARGV))`, `return {pcall(redis.call, unpack(ARGV))}`} {
			for _, call := range [][]any{release("token"), renew("token", 60000), {"EVAL", text, 1, "lock", "token"}} {
				call = append([]any{"EVAL", body, 1, "lock"}, call...)
				if both.plain.Speaks(6, 2) {
					both.goes(t, "eval", call...)
					continue
				}
				// A script that cannot work works.
				require.Equal(t, "OK", both.accelerating.Do("SET", "lock", "token"))
				assert.Contains(t, fmt.Sprint(both.plain.Do(call...)), "This Redis command is not allowed from scripts")
				assert.Contains(t, server.Flat(both.accelerating.Do(call...)), int64(1))
			}
		}
	})
	t.Run("functions", func(t *testing.T) {
		if !both.plain.Speaks(7, 0) {
			t.Skip("functions came with 7.0")
		}
		library := "#!lua name=lib\nredis.register_function('call', function(KEYS, ARGV) return redis.call(unpack(ARGV)) end)\n" +
			"redis.register_function('release', function(KEYS, ARGV) " + releaseScript + " end)"
		for _, s := range []*server.Server{both.plain, both.accelerating} {
			require.Equal(t, "lib", s.Do("FUNCTION", "LOAD", library))
		}
		both.goes(t, "", append([]any{"FCALL", "call", 1, "lock"}, release("token")...)...)
		both.goes(t, "", "FCALL", "release", 1, "lock", "token")
	})
	t.Run("another module", func(t *testing.T) {
		caller(t, both.plain)
		caller(t, both.accelerating)
		cad, caexpire := "evalsha", "evalsha"
		if !both.plain.Speaks(7, 2) {
			cad, caexpire = "goblin.cad", "goblin.caexpire"
		}
		both.goes(t, cad, append([]any{"CALLER.CALL"}, release("token")...)...)
		both.goes(t, caexpire, append([]any{"CALLER.CALL"}, renew("token", 60000)...)...)
	})
	both.goes(t, "goblin.cad", release("token")...)
}

// caller has a server load a module whose command calls any other.
func caller(t *testing.T, s *server.Server) {
	t.Helper()
	path := filepath.Join(s.Dir, "caller.so")
	server.Compile(t, path, "testdata/caller.c")
	require.Equal(t, "OK", s.Do("MODULE", "LOAD", path))
}

func TestCluster(t *testing.T) {
	t.Parallel()
	s := accelerating(t, "--cluster-enabled", "yes")
	s.Expect("Cluster state changed|Cluster is currently down|configEpoch|IP address for this node updated")
	add := []any{"CLUSTER", "ADDSLOTS"}
	for slot := range 16384 {
		if slot != 1 {
			add = append(add, slot)
		}
	}
	// With a slot of nobody's.
	require.Equal(t, "OK", s.Do("CONFIG", "SET", "cluster-require-full-coverage", "no"))
	require.Equal(t, "OK", s.Do(add...))
	s.Until("the cluster is up", func() bool {
		return strings.Contains(s.Do("CLUSTER", "INFO").(string), "cluster_state:ok")
	})
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{s.Addr()}})
	defer client.Close()
	ran(t, s)
	const locks = 20
	for i := range locks {
		key := fmt.Sprint("lock:", i)
		require.NoError(t, client.Set(ctx, key, "token", time.Minute).Err())
		require.Equal(t, int64(1), server.Reply(client.EvalSha(ctx, renewSHA, []string{key}, "token", 120_000).Result()))
		require.Equal(t, int64(0), server.Reply(client.EvalSha(ctx, releaseSHA, []string{key}, "wrong").Result()))
		require.Equal(t, int64(1), server.Reply(client.EvalSha(ctx, releaseSHA, []string{key}, "token").Result()))
	}
	assert.Equal(t, map[string]int{"goblin.caexpire": locks, "goblin.cad": 2 * locks}, ran(t, s))

	// Others are redirected as ever.
	var stray string
	for i := 0; stray == ""; i++ {
		if key := fmt.Sprint("stray:", i); s.Do("CLUSTER", "KEYSLOT", key) == int64(1) {
			stray = key
		}
	}
	assert.Equal(t, s.Do("DEL", stray), s.Do("EVALSHA", releaseSHA, 1, stray, "token"))
	assert.Contains(t, s.Do("EVALSHA", releaseSHA, 1, stray, "token"), "CLUSTERDOWN")
}

// A replica runs the script, which may find nothing to change. Once it is a
// master it need not have been sent any.
func TestReplica(t *testing.T) {
	t.Parallel()
	master, replica := accelerating(t), accelerating(t)
	load(t, replica)
	require.Equal(t, "OK", master.Do("SET", "lock", "token", "PX", lease.Milliseconds()))
	replica.ReplicaOf(master)
	replica.Expect("Setting secondary replication ID") // once it is a master
	for _, readOnly := range []string{"no", "yes"} {
		require.Equal(t, "OK", replica.Do("CONFIG", "SET", "replica-read-only", readOnly))
		ran(t, replica)
		assert.Equal(t, int64(0), replica.Do(release("wrong")...))
		assert.Equal(t, int64(0), replica.Do(renew("wrong", 60000)...))
		assert.Equal(t, map[string]int{"evalsha": 2}, ran(t, replica))
	}
	assert.Contains(t, replica.Do(release("token")...), "READONLY")
	assert.Contains(t, replica.Do(renew("token", 60000)...), "READONLY")
	assert.Equal(t, map[string]int{"evalsha": 2}, ran(t, replica))

	assert.Equal(t, int64(1), master.Do(renew("token", 2*lease.Milliseconds())...))
	replica.InStepWith(master)
	assert.Greater(t, replica.Do("PTTL", "lock"), lease.Milliseconds())

	require.Equal(t, "OK", replica.Do("SCRIPT", "FLUSH"))
	require.Equal(t, "OK", replica.Do("REPLICAOF", "NO", "ONE"))
	assert.Equal(t, int64(1), replica.Do(release("token")...))
}
