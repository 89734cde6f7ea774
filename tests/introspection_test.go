package tests

import (
	"slices"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
)

// commands are what the server is told about each.
var commands = map[string]struct {
	call   []any
	keys   []any
	access string
	full   bool // refused where memory is full
}{
	"goblin.cad":       {[]any{"GOBLIN.CAD", "lock:job", "token"}, []any{"lock:job"}, "delete", false},
	"goblin.caexpire":  {[]any{"GOBLIN.CAEXPIRE", "lock:job", "token", "30000"}, []any{"lock:job"}, "update", false},
	"goblin.ownexpire": {[]any{"GOBLIN.OWNEXPIRE", "job", "job:owner", "me", "30000"}, []any{"job", "job:owner"}, "update", true},
}

func TestCommandInfo(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	for name, command := range commands {
		info := s.Do("COMMAND", "INFO", name).([]any)[0].([]any)
		assert.Equal(t, name, info[0], "in lower case, as some clients index it")
		assert.Equal(t, []any{int64(1), int64(len(command.keys)), int64(1)}, info[3:6], "the keys")
		assert.Contains(t, server.Flat(info[2]), "write")
		assert.Contains(t, server.Flat(info[2]), "fast")
		assert.Equal(t, command.full, slices.Contains(server.Flat(info[2]), any("denyoom")))
		if s.Speaks(7, 0) {
			assert.Equal(t, int64(len(command.call)), info[1], "the arity")
			assert.Subset(t, server.Flat(info[8]), []any{"RW", "access", command.access})
		}
		if s.Speaks(7, 2) {
			assert.Subset(t, server.Flat(info[6]), []any{"@write", "@string", "@fast"})
		}
	}
}

func TestCommandDocs(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	if !s.Speaks(7, 0) {
		t.Skip("COMMAND DOCS came with 7.0")
	}
	var names []any
	for name, command := range commands {
		names = append(names, name)
		docs := server.Flat(s.Do("COMMAND", "DOCS", name))
		assert.Subset(t, docs, []any{name, "goblin", "0.1.0", "key"})
		assert.Equal(t, len(command.call) > 3, slices.Contains(docs, any("ms")), "%s takes ms", name)
	}
	assert.ElementsMatch(t, names, s.Do("COMMAND", "LIST", "FILTERBY", "MODULE", "goblin"))
}

func TestCommandGetKeys(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	for _, command := range commands {
		assert.Equal(t, command.keys, s.Do(append([]any{"COMMAND", "GETKEYS"}, command.call...)...))
		if s.Speaks(7, 0) {
			var want []any
			for _, key := range command.keys {
				want = append(want, key, "RW", "access", command.access)
			}
			assert.ElementsMatch(t, want, server.Flat(s.Do(append([]any{"COMMAND", "GETKEYSANDFLAGS"}, command.call...)...)))
		}
	}
}
