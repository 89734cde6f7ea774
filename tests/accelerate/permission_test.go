package accelerate

import (
	"strings"
	"testing"

	"goblin/tests/server"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// user creates a user, and returns a client of theirs.
func user(t *testing.T, s *server.Server, rules string) *redis.Client {
	t.Helper()
	require.Equal(t, "OK", s.Do(append([]any{"ACL", "SETUSER", "user", "reset", "on", ">secret"}, words(rules)...)...))
	return s.Connect(func(o *redis.Options) { o.Username, o.Password = "user", "secret" })
}

// What a user must be permitted is the command. The least that a holder of
// locks needs is that, and no scripts.
func TestPermissions(t *testing.T) {
	t.Parallel()
	s := accelerating(t)
	load(t, s)
	for _, test := range []struct {
		rules  string
		denied string // what the log says is denied, "": nothing
		script bool   // whether a call that is left alone is permitted
	}{
		{"+@all ~*", "", true},
		{"+evalsha +get +del +pexpire ~*", "the command", true},
		{"+@all -goblin.cad -goblin.caexpire ~*", "the command", true},
		{"+@all ~other:*", "lock", false},
		{"+goblin.cad +goblin.caexpire ~lock", "", false},
		{"+goblin.cad +goblin.caexpire ~other:*", "lock", false},
	} {
		client := user(t, s, test.rules)
		for command, call := range map[string][]any{"goblin.caexpire": renew("token", 60000), "goblin.cad": release("token")} {
			require.Equal(t, "OK", s.Do("SET", "lock", "token"))
			require.Equal(t, "OK", s.Do("ACL", "LOG", "RESET"))
			if reply := server.Do(client, call...); test.denied == "" {
				assert.Equal(t, int64(1), reply, test.rules)
			} else {
				assert.Contains(t, reply, "NOPERM", test.rules)
				assert.Contains(t, server.Flat(s.Do("ACL", "LOG")), strings.Replace(test.denied, "the command", command, 1), test.rules)
				assert.Equal(t, "token", s.Do("GET", "lock"), test.rules)
			}
			require.Equal(t, "OK", s.Do("SET", "lock", "token"))
			if reply := server.Do(client, append(call, "surplus")...); test.script {
				assert.Equal(t, int64(1), reply, test.rules)
			} else {
				assert.Contains(t, reply, "NOPERM", test.rules)
			}
		}
	}

	// Who has not said who they are may do nothing at all.
	stranger := s.Connect(func(o *redis.Options) { o.Protocol = 2 })
	require.Equal(t, "OK", s.Do("CONFIG", "SET", "requirepass", "secret"))
	assert.Contains(t, server.Do(stranger, release("token")...), "NOAUTH")
	require.Equal(t, "OK", s.Do("CONFIG", "SET", "requirepass", ""))
	assert.Equal(t, "token", s.Do("GET", "lock"))
}

// Where the command could not be replicated, the script is left alone.
func TestRenamedCommands(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, release, renew string }{
		{"DEL", "evalsha", "goblin.caexpire"},
		{"PEXPIREAT", "goblin.cad", "evalsha"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rename := []string{"--rename-command", test.name, "other"}
			plain, fast := server.Plain(t, rename...), accelerating(t, rename...)
			fast.Expect("will be refused: this server has no command " + test.name)
			load(t, plain)
			load(t, fast)
			for _, call := range []struct {
				words []any
				way   string
			}{{renew("token", 60000), test.renew}, {release("token"), test.release}} {
				for _, s := range []*server.Server{plain, fast} {
					require.Equal(t, "OK", s.Do("SET", "lock", "token"))
				}
				ran(t, fast)
				assert.Equal(t, plain.Do(call.words...), fast.Do(call.words...))
				assert.Equal(t, map[string]int{call.way: 1}, ran(t, fast))
				assert.Equal(t, plain.Do("EXISTS", "lock"), fast.Do("EXISTS", "lock"))
			}
		})
	}
}
