// Package watchdog holds a lock while work is done: an example of how the
// commands are used from Go.
package watchdog

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrTaken says that somebody else holds the lock, ErrLost that the lease ran
// out, or the key was taken away, while the work was being done.
var (
	ErrTaken = errors.New("the lock is taken")
	ErrLost  = errors.New("the lock was lost")
)

// Hold takes a lock, works, and releases it. Meanwhile it renews the lease at
// each third of its length. It cancels the work as soon as the lock is lost, or
// may have been for all that is known here.
func Hold(ctx context.Context, client *redis.Client, key string, lease time.Duration, work func(context.Context) error) error {
	token, asked := rand.Text(), time.Now()
	taken, err := client.SetNX(ctx, key, token, lease).Result()
	// Released even where ctx has been cancelled. And where the lock seems not to
	// be taken, as the client may have asked twice, or not have heard the reply.
	defer client.Do(context.WithoutCancel(ctx), "GOBLIN.CAD", key, token)
	if err != nil {
		return err
	}
	if !taken {
		return ErrTaken
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The lease is counted from before it was asked for, so it ends here no
	// later than on the server.
	lost := func() { cancel(ErrLost) }
	expiry := time.AfterFunc(time.Until(asked.Add(lease)), lost)
	defer expiry.Stop()
	go func() {
		tick := time.NewTicker(lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case asked = <-tick.C:
			}
			renewed, err := client.Do(ctx, "GOBLIN.CAEXPIRE", key, token, lease.Milliseconds()).Bool()
			switch {
			case renewed:
				expiry.Reset(time.Until(asked.Add(lease)))
			case err == nil:
				lost()
			}
		}
	}()
	if err := work(ctx); err != nil {
		return err
	}
	return context.Cause(ctx)
}
