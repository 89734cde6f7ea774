package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// The transcripts of the README do on a server what the README shows.
func TestReadmeTranscripts(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	blocks := regexp.MustCompile("(?s)\n```\n(> .*?)\n```\n").FindAllStringSubmatch(read(t, "../README.md"), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		s.Do("FLUSHALL")
		for _, step := range strings.Split("\n"+block[1], "\n> ")[1:] {
			command, want, _ := strings.Cut(step, "\n")
			var call []any
			for word := range strings.FieldsSeq(command) {
				call = append(call, word)
			}
			got := s.Do(call...)
			if call[0] == "PTTL" {
				var ms int64
				_, err := fmt.Sscanf(want, "(integer) %d", &ms)
				require.NoError(t, err)
				assert.InDelta(t, ms, got, 1000, command)
				continue
			}
			assert.Equal(t, want, shown(got), command)
		}
	}
}

// shown is how redis-cli shows a reply.
func shown(reply any) string {
	switch reply := reply.(type) {
	case nil:
		return "(nil)"
	case int64:
		return fmt.Sprintf("(integer) %d", reply)
	case server.Error:
		return "(error) " + string(reply)
	}
	return reply.(string)
}

// The ACL line of the README is the one that TestLeastPrivilege tries.
func TestReadmeACL(t *testing.T) {
	t.Parallel()
	assert.Contains(t, read(t, "../README.md"), "+set +goblin.caexpire +goblin.cad ~lock:*")
}

// The Go code of the README is that which the tests run.
func TestReadmeGo(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"watchdog/watchdog.go", "ownexpire/timeout.go"} {
		_, code, found := strings.Cut(read(t, file), "\nimport (")
		require.True(t, found)
		assert.Contains(t, read(t, "../README.md"), "```go\nimport ("+code+"```\n", file)
	}
}

// The README names every server that the tests run on.
func TestReadmeServers(t *testing.T) {
	t.Parallel()
	readme := strings.ToLower(read(t, "../README.md"))
	for line := range strings.Lines(read(t, "../build/servers")) {
		if name, _, _ := strings.Cut(line, " "); name != "#" && strings.Contains(name, "-") {
			assert.Contains(t, readme, "| "+strings.ReplaceAll(name, "-", " ")+" |")
		}
	}
}

// Every test that the README names exists.
func TestReadmeSafety(t *testing.T) {
	t.Parallel()
	var sources strings.Builder
	for _, pattern := range []string{"*_test.go", "*/*_test.go", "../cgo/*_test.go", "../cgo/*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			sources.WriteString(read(t, file))
		}
	}
	names := regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]+)`").FindAllStringSubmatch(read(t, "../README.md"), -1)
	require.NotEmpty(t, names)
	for _, name := range names {
		assert.Contains(t, sources.String(), "func "+name[1]+"(t *testing.T)")
	}
}
