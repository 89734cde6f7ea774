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

// A change makes something else of what a source file says. A file that does
// not exist says "".
type change struct{ file, old, new string }

// building is held while a library is built: make is not made to run twice in
// one directory.
var building sync.Mutex

// build makes a library at path as `make build` does, but for some changes to
// the sources. These stay as they are: the compiler is shown other ones.
func build(t testing.TB, path, flags string, changes ...change) {
	t.Helper()
	dir := t.TempDir()
	sources := map[string]string{}
	for _, change := range changes {
		source := sources[change.file]
		if source == "" && change.old != "" {
			file, err := os.ReadFile(filepath.Join(root, change.file))
			require.NoError(t, err)
			source = string(file)
		}
		require.Contains(t, source, change.old, "%s has changed, and so must this test", change.file)
		sources[change.file] = strings.ReplaceAll(source, change.old, change.new)
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	for file, source := range sources {
		original, err := filepath.Abs(filepath.Join(root, file))
		require.NoError(t, err)
		changed := filepath.Join(dir, strings.ReplaceAll(file, "/", "-"))
		require.NoError(t, os.WriteFile(changed, []byte(source), 0o644))
		overlay.Replace[original] = changed
	}
	list, err := json.Marshal(overlay)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o644))
	building.Lock()
	defer building.Unlock()
	output, err := exec.Command("make", "-C", root, "build", "SO="+path,
		"BUILDFLAGS="+flags+" -overlay="+filepath.Join(dir, "overlay.json")).CombinedOutput()
	require.NoError(t, err, "%s", output)
}
