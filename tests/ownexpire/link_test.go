package ownexpire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What replicas and the append-only file receive are core commands, all that
// one call has done in one transaction, and nothing where it has done nothing.
func TestLink(t *testing.T) {
	t.Parallel()
	s := server.New(t, "--appendonly", "yes", "--appendfsync", "no", "--lazyfree-lazy-expire", "no")
	stream, tail := s.Stream(), s.Tail()
	client := s.Session()
	sets := []string{"SET {job}:owner me", "PEXPIREAT {job}:owner @", "PEXPIREAT {job} @"}
	for _, test := range []struct {
		name    string
		calls   [][]any
		effects []string // @: the deadline that both keys now have
	}{
		{"set", [][]any{own("me", 200*second)}, sets},
		{"deleted", [][]any{own("another", -1)}, []string{"DEL {job}:owner", "DEL {job}"}},
		{"kept", [][]any{own("me", 50*second), own("me", 0)}, nil},
		{"refused", [][]any{own("me", "x"), {"GOBLIN.OWNEXPIRE", key, key, "me", 1}, own("me", 200*second)[:4]}, nil},
		{"in a transaction", [][]any{{"MULTI"}, {"SET", "{job}:a", ""}, own("me", 50*second), own("me", 200*second), {"EXEC"}}, append([]string{"SET {job}:a "}, sets...)},
		{"in a transaction that is dropped", [][]any{{"MULTI"}, own("me", 200*second), {"DISCARD"}}, nil},
		{"in a script", [][]any{{"EVAL", script, 2, key, ownerKey, "me", 200 * second}}, sets},
	} {
		t.Run(test.name, func(t *testing.T) {
			given(t, s, "another", 100*second)
			stream.Take()
			tail.Take()
			for _, call := range test.calls {
				server.Do(client, call...)
			}
			want := test.effects
			if want != nil {
				want = slices.Concat([]string{"MULTI"}, want, []string{"EXEC"})
			}
			deadline := s.Deadline(key)
			assert.Equal(t, want, written(t, s, deadline, stream.Take()), "replicas")
			assert.Equal(t, want, written(t, s, deadline, tail.Take()), "append-only file")
		})
	}
}

// written writes out commands, with @ for this deadline.
func written(t *testing.T, s *server.Server, deadline int64, commands []server.Command) (all []string) {
	for _, command := range commands {
		command[0] = strings.ToUpper(command[0])
		if command[0] == "PEXPIREAT" {
			at, err := strconv.ParseInt(command[2], 10, 64)
			require.NoError(t, err)
			assert.InDelta(t, deadline, at, s.Slack())
			command[2] = "@"
		}
		all = append(all, command.String())
	}
	return all
}

// So servers without the module, a replica and one that is given the file, have
// the same owners and the same deadlines.
func TestServersWithoutTheModule(t *testing.T) {
	t.Parallel()
	s := server.New(t, "--appendonly", "yes", "--appendfsync", "always")
	replica := server.Plain(t)
	replica.ReplicaOf(s)
	var keys []string
	for i := range 20 {
		key := fmt.Sprint("key:", i)
		owner := key + ":owner"
		keys = append(keys, key, owner)
		s.Do("RPUSH", key, "value")
		s.Do("PEXPIRE", key, 100*second)
		ms := (200 + i) * second
		require.Equal(t, kept, s.Do("GOBLIN.OWNEXPIRE", key, owner, "me", 50*second))
		require.Equal(t, set, s.Do("GOBLIN.OWNEXPIRE", key, owner, "another", ms))
		require.Equal(t, set, s.Do("GOBLIN.OWNEXPIRE", key, owner, strings.Repeat("\r\n\x00", i), ms+second))
		if i%4 == 0 {
			require.Equal(t, set, s.Do("GOBLIN.OWNEXPIRE", key, owner, strings.Repeat("\r\n\x00", i), -i))
		}
	}
	look := func(s *server.Server) (values []any, deadlines []int64) {
		for _, key := range keys {
			values = append(values, s.Do("DUMP", key))
			deadlines = append(deadlines, s.Deadline(key))
		}
		return values, deadlines
	}
	values, deadlines := look(s)
	same := func(s *server.Server) {
		t.Helper()
		v, d := look(s)
		assert.Equal(t, values, v)
		assert.InDeltaSlice(t, deadlines, d, s.Slack())
	}
	replica.InStepWith(s)
	same(replica)

	s.Kill()
	bare := server.Unstarted(t, "--appendonly", "yes")
	bare.Dir = s.Dir
	bare.Start()
	same(bare)
}
