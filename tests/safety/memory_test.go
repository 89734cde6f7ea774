package safety

import (
	"context"
	"testing"

	"goblin/tests/server"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Many calls of every kind leave nothing behind, neither in what the server
// accounts for nor elsewhere in its process.
func TestMemory(t *testing.T) {
	t.Parallel()
	s := server.New(t, "accelerate", digest(release)+"=cad", "accelerate", digest(renew)+"=caexpire")
	ctx := context.Background()
	require.Equal(t, int64(1), s.Do("RPUSH", "list", "token"))
	many := func(rounds int) {
		for range rounds {
			replies, err := s.Client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
				for range 500 {
					pipe.Do(ctx, "SET", "lock", "token", "PX", 60000)
					pipe.Do(ctx, "GOBLIN.CAEXPIRE", "lock", "other", 60000)
					pipe.Do(ctx, "GOBLIN.CAEXPIRE", "lock", "token", 60000)
					pipe.Do(ctx, "EVALSHA", digest(renew), 1, "lock", "token", 60000)
					pipe.Do(ctx, "GOBLIN.OWNEXPIRE", "lock", "owner", "token", 60000)
					pipe.Do(ctx, "GOBLIN.CAD", "lock", "other")
					pipe.Do(ctx, "GOBLIN.CAD", "lock", "token")
					pipe.Do(ctx, "GOBLIN.CAEXPIRE", "lock", "token", 60000)
					pipe.Do(ctx, "EVALSHA", digest(release), 1, "lock", "token")
					pipe.Do(ctx, "SET", "lock", "token")
					pipe.Do(ctx, "GOBLIN.CAEXPIRE", "lock", "token", -1)
				}
				return nil
			})
			require.NoError(t, err)
			require.Equal(t, int64(1), replies[len(replies)-1].(*redis.Cmd).Val())
			for _, call := range [][]any{{"GOBLIN.CAD", "list", "token"}, {"GOBLIN.CAEXPIRE", "lock", "token", "x"}, {"GOBLIN.CAD"}} {
				require.IsType(t, server.Error(""), s.Do(call...))
			}
		}
	}
	many(2)
	used, resident := s.Count("memory", "used_memory"), status(t, s, "VmRSS")
	const rounds = 40 // 220,000 calls
	many(rounds)
	assert.Less(t, s.Count("memory", "used_memory"), used+1<<20)
	assert.Less(t, status(t, s, "VmRSS"), resident+2048, "kB")
}
