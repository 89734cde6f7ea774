// Package safety shows what Goblin does to the server that it is loaded into:
// nothing that hurts, whatever else befalls the server.
package safety

import (
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/require"
)

const (
	renewed  = int64(1)
	released = int64(1)
	lost     = int64(0)
)

// use takes a lock through its life, so that each way into the module has been
// gone.
func use(t testing.TB, s *server.Server) {
	t.Helper()
	require.Equal(t, "OK", s.Do("SET", "lock", "token", "NX", "PX", 60000))
	require.Equal(t, lost, s.Do("GOBLIN.CAEXPIRE", "lock", "other", 60000))
	require.Equal(t, renewed, s.Do("GOBLIN.CAEXPIRE", "lock", "token", 60000))
	require.Contains(t, s.Do("GOBLIN.CAEXPIRE", "lock", "token", "x"), "not an integer")
	require.Equal(t, lost, s.Do("GOBLIN.CAD", "lock", "other"))
	require.Equal(t, released, s.Do("GOBLIN.CAD", "lock", "token"))
	require.Equal(t, lost, s.Do("GOBLIN.OWNEXPIRE", "lock", "owner", "token", 60000))
}
