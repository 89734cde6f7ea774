package module

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTable states once more, in the server's numbers, what it is told.
func TestTable(t *testing.T) {
	type entry struct {
		name               string
		arity              int
		keys, expected, ms int // positions
		access             KeyAccess
		effects            []string
	}
	var table []entry
	for _, c := range Commands() {
		table = append(table, entry{c.Name, c.Arity(), c.Position(KeyArg), c.Position(StringArg), c.Position(IntegerArg), c.Keys, c.Effects})
	}
	assert.Equal(t, []entry{
		{"goblin.cad", 3, 1, 2, 0, 0x92, []string{"DEL"}},
		{"goblin.caexpire", 4, 1, 2, 3, 0x32, []string{"PEXPIREAT", "PEXPIRE"}},
		{"goblin.ownexpire", 5, 2, 3, 4, 0x32, []string{"SET", "PEXPIREAT", "PEXPIRE"}},
	}, table)
	assert.Equal(t, "write fast", cad.Flags)
	assert.Equal(t, "write fast", caexpire.Flags)
	assert.Equal(t, "write deny-oom fast", ownexpire.Flags)
	assert.Equal(t, "write string fast", ACLCategories)
}

// TestConventions checks what the bridge and the servers rely on in any
// command, also in one that is yet to be written.
func TestConventions(t *testing.T) {
	names := map[string]bool{}
	for _, c := range Commands() {
		t.Run(c.Name, func(t *testing.T) {
			assert.Regexp(t, "^"+Name+`\.[a-z]+$`, c.Name)
			assert.NotContains(t, names, c.Name)
			names[c.Name] = true

			// The bridge gathers one key or two, which come first, one token,
			// and at most one number.
			kinds := map[ArgType]int{}
			for _, arg := range c.Args {
				kinds[arg.Type]++
				assert.Regexp(t, "^[a-z-]+$", arg.Name)
			}
			assert.Equal(t, KeyArg, c.Args[0].Type)
			assert.Contains(t, []int{1, 2}, kinds[KeyArg])
			assert.Equal(t, kinds[KeyArg], c.Position(KeyArg), "the keys come first")
			assert.Equal(t, 1, kinds[StringArg])
			assert.LessOrEqual(t, kinds[IntegerArg], 1)

			// A server takes ReadWrite with no more than one of Update and
			// Delete. Access is what makes ACL ask for the right to read.
			assert.Contains(t, []KeyAccess{ReadWrite | Access | Update, ReadWrite | Access | Delete}, c.Keys)

			for _, sentence := range []string{c.Summary, c.Complexity} {
				assert.Regexp(t, `^[ -~]+\.$`, sentence)
			}
			assert.Regexp(t, `^\d+\.\d+\.\d+$`, c.Since)
			assert.Regexp(t, "^[a-z]+$", c.Hit)
			assert.NotEmpty(t, c.Effects)
			for _, effect := range c.Effects {
				assert.Regexp(t, "^[A-Z]+$", effect)
			}
			assert.NotNil(t, c.Decide)
		})
	}
}

func TestVersion(t *testing.T) {
	assert.Regexp(t, `^\d+\.\d\d?\.\d\d?$`, Version)
	var major, minor, patch int
	_, err := fmt.Sscanf(Version, "%d.%d.%d", &major, &minor, &patch)
	assert.NoError(t, err)
	assert.Equal(t, major*10000+minor*100+patch, VersionNumber)
}
