package topology

import (
	"fmt"
	"slices"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A command whose effects could not be sent to replicas under their own names
// is refused before it changes anything. The others work.
func TestRenamedCommands(t *testing.T) {
	t.Parallel()
	calls := [][]any{
		{"goblin.caexpire", "lock", "token", lease},
		{"goblin.ownexpire", "lock", "owner", "me", 2 * lease},
		{"goblin.cad", "lock", "token"},
	}
	for _, test := range []struct {
		name, as string
		refused  []any
	}{
		{"PEXPIREAT", "", []any{"goblin.caexpire", "goblin.ownexpire"}},
		{"PEXPIREAT", "other", []any{"goblin.caexpire", "goblin.ownexpire"}},
		{"PEXPIRE", "", []any{"goblin.caexpire", "goblin.ownexpire"}},
		{"SET", "", []any{"goblin.ownexpire"}},
		{"DEL", "", []any{"goblin.cad"}},
	} {
		t.Run(fmt.Sprintf("%s as %q", test.name, test.as), func(t *testing.T) {
			t.Parallel()
			s := server.New(t, "--rename-command", test.name, test.as)
			require.Contains(t, s.Do(test.name, "lock"), "unknown command")
			stream := s.Stream()
			require.Equal(t, "OK", s.Do("PSETEX", "lock", lease, "token"))
			stream.Take()
			deadline, dirty := s.Deadline("lock"), s.Count("persistence", "rdb_changes_since_last_save")
			for _, call := range calls {
				if !slices.Contains(test.refused, call[0]) {
					continue
				}
				logged := fmt.Sprintf("every call of %s will be refused: this server has no command %s", call[0], test.name)
				s.Expect(logged)
				assert.Contains(t, s.Log(), logged)

				refusal := server.Error(fmt.Sprintf("ERR '%s' is unavailable: this server does not run a command that it needs", call[0]))
				assert.Equal(t, refusal, s.Do(call...))
				assert.Empty(t, stream.Take())
				assert.Equal(t, refusal, s.Do(append([]any{"EVAL", "return redis.pcall(unpack(ARGV))", 1, "lock"}, call...)...))
				assert.Equal(t, sent(s, nil, true, false), plain(s, stream.Take()))
				assert.InDelta(t, deadline, s.Deadline("lock"), s.Slack())
				assert.Equal(t, dirty, s.Count("persistence", "rdb_changes_since_last_save"))
			}
			for _, call := range calls {
				if !slices.Contains(test.refused, call[0]) {
					assert.Equal(t, int64(1), s.Do(call...), call)
					assert.NotEmpty(t, stream.Take(), call)
				}
			}
		})
	}
}
