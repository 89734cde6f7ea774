package tests

import (
	"slices"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var calls = map[string][]any{
	"goblin.cad":      {"GOBLIN.CAD", "lock:job", "token"},
	"goblin.caexpire": {"GOBLIN.CAEXPIRE", "lock:job", "token", "30000"},
}

func TestCommandInfo(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	for name, call := range calls {
		info := s.Do("COMMAND", "INFO", name).([]any)[0].([]any)
		assert.Equal(t, name, info[0], "in lower case, as some clients index it")
		assert.Equal(t, []any{int64(1), int64(1), int64(1)}, info[3:6], "the key")
		assert.Contains(t, server.Flat(info[2]), "write")
		assert.Contains(t, server.Flat(info[2]), "fast")
		assert.NotContains(t, server.Flat(info[2]), "denyoom")
		if s.Speaks(7, 0) {
			assert.Equal(t, int64(len(call)), info[1], "the arity")
			specs := server.Flat(info[8])
			assert.Subset(t, specs, []any{"RW", "access"})
			assert.Contains(t, specs, map[string]string{"goblin.cad": "delete", "goblin.caexpire": "update"}[name])
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
	for name, call := range calls {
		docs := server.Flat(s.Do("COMMAND", "DOCS", name))
		assert.Subset(t, docs, []any{name, "goblin", "0.1.0", "key", "expected", "O(1) for tokens of a bounded length, O(N) in their length otherwise."})
		assert.Equal(t, len(call) == 4, slices.Contains(docs, any("ms")), "%s takes ms", name)
	}
	filtered := s.Do("COMMAND", "LIST", "FILTERBY", "MODULE", "goblin")
	assert.ElementsMatch(t, []any{"goblin.cad", "goblin.caexpire"}, filtered)
}

func TestCommandGetKeys(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	for name, call := range calls {
		assert.Equal(t, []any{"lock:job"}, s.Do(append([]any{"COMMAND", "GETKEYS"}, call...)...))
		if s.Speaks(7, 0) {
			access := map[string]string{"goblin.cad": "delete", "goblin.caexpire": "update"}[name]
			keys := server.Flat(s.Do(append([]any{"COMMAND", "GETKEYSANDFLAGS"}, call...)...))
			require.Len(t, keys, 4)
			assert.ElementsMatch(t, []any{"lock:job", "RW", "access", access}, keys)
		}
	}
}
