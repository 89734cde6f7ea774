package module

import (
	"encoding/hex"
	"sort"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestScripts checks the form of the table. That each script replies what its
// command does was found out on a server, before it was entered.
func TestScripts(t *testing.T) {
	const shortest = len("return 0")
	var commands []string
	for _, c := range Commands() {
		commands = append(commands, c.Name)
	}
	require.NotEmpty(t, Scripts())
	digests := map[string]bool{}
	for _, s := range Scripts() {
		t.Run(s.SHA1, func(t *testing.T) {
			sum, err := hex.DecodeString(s.SHA1)
			require.NoError(t, err)
			assert.Len(t, sum, 20)
			assert.Equal(t, hex.EncodeToString(sum), s.SHA1, "in lower case")
			assert.NotContains(t, digests, s.SHA1)
			assert.Greater(t, s.Length, shortest)
			assert.Contains(t, commands, s.Command)
			assert.GreaterOrEqual(t, s.Surplus, 0)
			assert.Regexp(t, `^\S.*[^;\s]$`, s.Libraries)
		})
		digests[s.SHA1] = true
	}
	assert.True(t, sort.SliceIsSorted(Scripts(), func(i, j int) bool {
		a, b := Scripts()[i], Scripts()[j]
		return a.Command+a.SHA1 < b.Command+b.SHA1
	}), "ordered by command and digest")
}
