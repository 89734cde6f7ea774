package safety

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the directory of the repository.
const root = "../.."

// A change makes something else of what a source file says.
type change struct{ file, old, new string }

// build makes a library at path, which differs from the one that make build
// makes by some changes to the sources, and by flags of go build.
func build(t testing.TB, path, flags string, changes ...change) {
	t.Helper()
	gnuMake(t, "build", "SO="+path, "BUILDFLAGS="+flags+" -overlay="+overlay(t, changes))
}

// making is held while make runs, which is not made to run twice at a time.
var making sync.Mutex

func gnuMake(t testing.TB, args ...string) {
	t.Helper()
	making.Lock()
	defer making.Unlock()
	output, err := exec.Command("make", append([]string{"-C", root}, args...)...).CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// overlay writes changed sources for the compiler to see in place of those in
// the repository, and returns the list of them that go build takes.
func overlay(t testing.TB, changes []change) string {
	t.Helper()
	dir := t.TempDir()
	sources := map[string]string{}
	for _, change := range changes {
		source, ok := sources[change.file]
		if !ok {
			file, err := os.ReadFile(filepath.Join(root, change.file))
			require.NoError(t, err)
			source = string(file)
		}
		require.Contains(t, source, change.old, "%s has changed, and so must this test", change.file)
		sources[change.file] = strings.ReplaceAll(source, change.old, change.new)
	}
	replace := map[string]string{}
	for file, source := range sources {
		original, err := filepath.Abs(filepath.Join(root, file))
		require.NoError(t, err)
		replace[original] = filepath.Join(dir, strings.ReplaceAll(file, "/", "-"))
		require.NoError(t, os.WriteFile(replace[original], []byte(source), 0o644))
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	path := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(path, list, 0o644))
	return path
}
