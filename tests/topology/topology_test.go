// Package topology tests what becomes of leases on more than one server, and
// over the life of one: replicas, failovers, clusters, restarts, and servers
// that are configured oddly or in a bad state.
package topology

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var ctx = context.Background()

// The replies of the commands.
const (
	renewed  = int64(1)
	released = int64(1)
	lost     = int64(0)
)

// lease is how long the leases of these tests last, in milliseconds: longer
// than any test.
const lease = 600_000

// acquire takes the lock key.
func acquire(t *testing.T, client server.Doer, key, token string) {
	t.Helper()
	require.Equal(t, "OK", server.Do(client, "SET", key, token, "NX", "PX", lease), key)
}

func renew(client server.Doer, key, token string, ms int) any {
	return server.Do(client, "GOBLIN.CAEXPIRE", key, token, ms)
}

func release(client server.Doer, key, token string) any {
	return server.Do(client, "GOBLIN.CAD", key, token)
}

// deadlines are those of keys, of which some may be gone.
func deadlines(s *server.Server, keys []string) map[string]int64 {
	all := map[string]int64{}
	for _, key := range keys {
		all[key] = s.Deadline(key)
	}
	return all
}

// replicated is the slack of a deadline that has passed a replication link.
// Before 7.0 replicas are sent how long to keep a key, and count from then.
func replicated(s *server.Server) float64 {
	if s.Speaks(7, 0) {
		return 0
	}
	return 2000
}

// same asserts that a server has the keys with the deadlines wanted.
func same(t *testing.T, want map[string]int64, s *server.Server, slack float64) {
	t.Helper()
	for key, deadline := range want {
		if has := s.Deadline(key); deadline < 0 {
			assert.Equal(t, deadline, has, key)
		} else {
			assert.InDelta(t, deadline, has, slack, key)
		}
	}
}

// numbered returns n names.
func numbered(name string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s:%d", name, i)
	}
	return names
}

// words splits a command as one would type it.
func words(command string) []any {
	var all []any
	for _, word := range strings.Fields(command) {
		all = append(all, word)
	}
	return all
}
