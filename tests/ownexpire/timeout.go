// Package ownexpire tests GOBLIN.OWNEXPIRE, and shows how it is used from Go.
package ownexpire

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/redis/go-redis/v9"
)

// Timeouts sets timeouts of keys on behalf of one owner.
type Timeouts struct {
	client *redis.Client
	owner  string
}

// NewTimeouts returns the timeouts of an owner that is none of the others.
func NewTimeouts(client *redis.Client) *Timeouts { return &Timeouts{client, rand.Text()} }

// Set has key expire after a timeout, and tells whether it will: not if that
// would shorten what this owner has not set, nor if key is missing or has no
// timeout that could be changed. The owner is recorded in key:owner. A timeout
// of less than a millisecond deletes both.
func (t *Timeouts) Set(ctx context.Context, key string, timeout time.Duration) (bool, error) {
	return t.client.Do(ctx, "GOBLIN.OWNEXPIRE", key, key+":owner", t.owner, timeout.Milliseconds()).Bool()
}
