package tests

import (
	"strings"
	"testing"

	"goblin/tests/server"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// user creates a user with the given rules, and returns a client of theirs.
func user(t *testing.T, s *server.Server, rules string) *redis.Client {
	t.Helper()
	call := []any{"ACL", "SETUSER", "user", "reset", "on", ">secret"}
	for rule := range strings.FieldsSeq(rules) {
		call = append(call, rule)
	}
	require.Equal(t, "OK", s.Do(call...))
	return s.Connect(func(o *redis.Options) { o.Username, o.Password = "user", "secret" })
}

// denied asserts that a user may not make a call, and that nothing came of it.
func denied(t *testing.T, s *server.Server, client *redis.Client, call ...any) {
	t.Helper()
	before := s.Do("DUMP", call[1])
	assert.Contains(t, server.Do(client, call...), "NOPERM", "%q", call)
	assert.Equal(t, before, s.Do("DUMP", call[1]))
}

// The least that a holder of locks needs takes a lock through its life, and
// does nothing else: no scripts above all.
func TestLeastPrivilege(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	client := user(t, s, "+set +goblin.caexpire +goblin.cad ~lock:*")
	require.Equal(t, "OK", server.Do(client, "SET", "lock:job", "token", "NX", "PX", 30000))
	assert.Equal(t, renewed, server.Do(client, "GOBLIN.CAEXPIRE", "lock:job", "token", 60000))
	assert.Equal(t, lost, server.Do(client, "GOBLIN.CAD", "lock:job", "wrong"))
	assert.Equal(t, released, server.Do(client, "GOBLIN.CAD", "lock:job", "token"))

	s.Do("SET", "lock:job", "token")
	s.Do("SET", "other", "token")
	denied(t, s, client, "GOBLIN.CAD", "other", "token")
	denied(t, s, client, "GOBLIN.CAEXPIRE", "other", "token", 0)
	denied(t, s, client, "DEL", "lock:job")
	denied(t, s, client, "PEXPIRE", "lock:job", 1)
	denied(t, s, client, "GET", "lock:job")
	denied(t, s, client, "EVAL", cadScript, 1, "lock:job", "token")
	denied(t, s, client, "EVALSHA", strings.Repeat("0", 40), 1, "lock:job", "token")
	denied(t, s, client, "CONFIG", "GET", "*")
}

func TestKeyPermissions(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	if !s.Speaks(7, 0) {
		t.Skip("permissions to read or to write a key came with 7.0")
	}
	s.Do("SET", "lock:job", "token")
	for _, keys := range []string{"%R~lock:*", "%W~lock:*"} {
		client := user(t, s, "+@all "+keys)
		denied(t, s, client, "GOBLIN.CAD", "lock:job", "token")
		denied(t, s, client, "GOBLIN.CAEXPIRE", "lock:job", "token", 1000)
	}
	client := user(t, s, "+@all %RW~lock:*")
	assert.Equal(t, renewed, server.Do(client, "GOBLIN.CAEXPIRE", "lock:job", "token", 60000))
	assert.Equal(t, released, server.Do(client, "GOBLIN.CAD", "lock:job", "token"))
}

func TestCategories(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	s.Do("SET", "lock:job", "token")
	if !s.Speaks(7, 2) {
		t.Skip("before 7.2 categories do not reach the commands of a module")
	}
	for _, category := range []string{"@write", "@string", "@fast"} {
		client := user(t, s, "+@all -"+category+" ~*")
		denied(t, s, client, "GOBLIN.CAD", "lock:job", "token")
		denied(t, s, client, "GOBLIN.CAEXPIRE", "lock:job", "token", 1000)
		client = user(t, s, "-@all +"+category+" ~*")
		assert.Equal(t, renewed, server.Do(client, "GOBLIN.CAEXPIRE", "lock:job", "token", 60000))
		assert.Equal(t, lost, server.Do(client, "GOBLIN.CAD", "lock:job", "wrong"))
	}
	for _, category := range []string{"@scripting", "@dangerous", "@slow", "@read"} {
		client := user(t, s, "+@all -"+category+" ~*")
		assert.Equal(t, renewed, server.Do(client, "GOBLIN.CAEXPIRE", "lock:job", "token", 60000), category)
	}
}

// A script gives its caller no permission that they lack.
func TestPermissionsInsideScripts(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	s.Do("SET", "lock:job", "token")
	client := user(t, s, "+eval ~*")
	assert.Regexp(t, "(?i)can't run this command|no permissions|NOPERM",
		server.Do(client, "EVAL", `return redis.call("GOBLIN.CAD", KEYS[1], ARGV[1])`, 1, "lock:job", "token"))
	assert.Equal(t, "token", s.Do("GET", "lock:job"))
}
