package safety

import (
	"slices"
	"strings"
	"testing"

	"goblin/tests/server"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A user who may do no more than hold locks can do nothing else: of all the
// commands that the server has, each is refused, and so is any other key.
func TestLeastPrivilege(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	require.Equal(t, "OK", s.Do("ACL", "SETUSER", "worker", "on", ">secret", "+set", "+goblin.caexpire", "+goblin.cad", "~lock:*"))
	client := s.Connect(func(o *redis.Options) { o.Username, o.Password = "worker", "secret" })
	life := map[string][]any{
		"set":             {"SET", "lock:job", "token", "NX", "PX", 30000},
		"goblin.caexpire": {"GOBLIN.CAEXPIRE", "lock:job", "token", 60000},
		"goblin.cad":      {"GOBLIN.CAD", "lock:job", "token"},
	}
	assert.Equal(t, "OK", server.Do(client, life["set"]...))
	assert.Equal(t, renewed, server.Do(client, life["goblin.caexpire"]...))
	assert.Equal(t, released, server.Do(client, life["goblin.cad"]...))

	refused := 0
	for _, command := range commands(s.Do("COMMAND")) {
		call, allowed := life[command.name]
		if allowed {
			call[1] = "other"
		} else {
			call = command.call("lock:job")
		}
		assert.Contains(t, server.Do(client, call...), "NOPERM", "%q", call)
		refused++
	}
	t.Logf("%d commands are refused", refused)
	assert.Greater(t, refused, 200)
}

// command is what COMMAND tells of a command.
type command struct {
	name  string
	arity int
}

// call returns a call whose arguments are as many as they must be.
func (c command) call(argument string) (call []any) {
	for word := range strings.SplitSeq(c.name, "|") {
		call = append(call, word)
	}
	for len(call) < max(c.arity, -c.arity) {
		call = append(call, argument)
	}
	return call
}

// commands reads the reply to COMMAND. It leaves out what needs no permission,
// to log in above all, and what only groups others.
func commands(reply any) (all []command) {
	for _, entry := range reply.([]any) {
		entry := entry.([]any)
		if len(entry) > 9 && len(entry[9].([]any)) > 0 {
			all = append(all, commands(entry[9])...)
		} else if !slices.Contains(entry[2].([]any), any("no_auth")) {
			all = append(all, command{entry[0].(string), int(entry[1].(int64))})
		}
	}
	return all
}
