package module

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The README knows every command and every script.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	readme := string(text)
	for _, script := range Scripts() {
		assert.Contains(t, readme, "`"+script.SHA1[:8]+"`")
	}
	assert.Contains(t, readme, fmt.Sprintf("the %d scripts", len(Scripts())))
	for _, command := range Commands() {
		syntax := strings.ToUpper(command.Name)
		for _, arg := range command.Args {
			syntax += " " + arg.Name
		}
		assert.Contains(t, readme, "\n### "+syntax+"\n")
	}
}
