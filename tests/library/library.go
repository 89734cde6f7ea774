// Package library has scripts that the module knows, as a lock library that was
// released sends them. There is no text of it here: the library is asked.
package library

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

// Scripts returns the scripts by which redislock renews and releases a lock,
// byte for byte. No server is asked.
func Scripts() (renew, release string, err error) {
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{})
	defer client.Close()
	var seen recorder
	client.AddHook(&seen)
	lock, err := redislock.Obtain(ctx, client, "lock", time.Minute, nil)
	if err != nil {
		return "", "", err
	}
	err = errors.Join(lock.Refresh(ctx, time.Minute, nil), lock.Release(ctx))
	return seen.texts[1], seen.texts[2], err
}

// recorder has a client send its scripts in full, and takes them down instead.
type recorder struct{ texts []string }

func (*recorder) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*recorder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (r *recorder) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "evalsha" {
			cmd.SetErr(noScript{})
			return noScript{}
		}
		r.texts = append(r.texts, cmd.Args()[1].(string))
		cmd.(*redis.Cmd).SetVal(int64(1))
		return nil
	}
}

type noScript struct{}

func (noScript) Error() string { return "NOSCRIPT" }
func (noScript) RedisError()   {}
