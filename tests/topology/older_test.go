package topology

import (
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// loadInOlder loads the module into a server that, for it, lacks functions of
// the Modules API.
func loadInOlder(t *testing.T, s *server.Server, lacking []any) any {
	t.Helper()
	path := filepath.Join(s.Dir, "older.so")
	server.Compile(t, path, "testdata/older.c")
	return s.Do(append([]any{"MODULE", "LOAD", path, server.Module(t)}, lacking...)...)
}

// A server that is too old refuses the module and goes on; the log names what
// it lacks.
func TestTooOld(t *testing.T) {
	t.Parallel()
	s := server.Plain(t)
	s.Expect("not loaded|Module .* initialization failed")
	lacking := []any{ // by 5.0
		"RedisModule_RegisterInfoFunc", "RedisModule_InfoAddSection", "RedisModule_InfoAddFieldULongLong",
		"RedisModule_NotifyKeyspaceEvent", "RedisModule_GetClientInfoById",
	}
	unknown := s.Do("GOBLIN.CAD", "lock", "token")
	assert.Contains(t, loadInOlder(t, s, lacking), "ERR Error loading the extension")
	told := regexp.MustCompile(`<\w*> not loaded: this server is too old: it lacks (RedisModule_\w+)`).FindStringSubmatch(s.Log())
	require.NotNil(t, told, s.Log())
	assert.True(t, slices.Contains(lacking, any(told[1])), told[1])
	assert.Equal(t, unknown, s.Do("GOBLIN.CAD", "lock", "token"))
	assert.NotContains(t, server.Flat(s.Do("MODULE", "LIST")), "goblin")

	require.Equal(t, "OK", s.Do("MODULE", "LOAD", server.Module(t)))
	assert.Equal(t, lost, release(s.Client, "lock", "token"))
}

// Functions that came with later releases can be done without.
func TestOldEnough(t *testing.T) {
	t.Parallel()
	s := server.Plain(t)
	require.Equal(t, "OK", loadInOlder(t, s, []any{
		"RedisModule_GetAbsExpire", // 6.2.8 and 7.0.5
		"RedisModule_GetCommand", "RedisModule_SetCommandInfo", "RedisModule_SetCommandACLCategories",
		"RedisModule_CommandFilterGetClientId",
	}))
	stream := s.Stream()
	acquire(t, s.Client, "lock", "token")
	stream.Take()
	require.Equal(t, lost, renew(s.Client, "lock", "wrong", 60000))
	require.Equal(t, renewed, renew(s.Client, "lock", "token", 60000))
	assert.Equal(t, sent(s, []string{"PEXPIREAT lock @60000"}, false, !s.Speaks(7, 0)), plain(s, stream.Take()))
	require.Equal(t, released, release(s.Client, "lock", "token"))
}
