package module

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestImports keeps the parts of the repository apart. It reads the files
// instead of asking go list, which leaves out those of other architectures and
// build tags.
func TestImports(t *testing.T) {
	may := map[string][]string{ // which part may import which
		"module": {},
		"cgo":    {"module", "cgo"},
		"tests":  {"tests"},
	}
	files := map[string]int{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		part := strings.Split(filepath.ToSlash(path), "/")[1]
		require.Contains(t, may, part, "%s: no part of the repository holds Go there", path)
		files[part]++

		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			root, rest, _ := strings.Cut(name, "/")
			switch {
			case name == "C" || name == "unsafe":
				assert.Equal(t, "cgo", part, "%s imports %s", path, name)
			case root == "goblin":
				imported, _, _ := strings.Cut(rest, "/")
				assert.Contains(t, may[part], imported, "%s imports %s", path, name)
			case strings.Contains(root, "."):
				isTest := part == "tests" || strings.HasSuffix(path, "_test.go")
				assert.True(t, isTest, "%s imports %s, which is not of the standard library", path, name)
			}
		}
		return nil
	})
	require.NoError(t, err)
	for part := range may {
		assert.NotZero(t, files[part], part)
	}
}
