package tests

import (
	"os"
	"path/filepath"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const loadError = server.Error("ERR Error loading the extension. Please check the server logs.")

// copied is a copy of the library in the server's own directory.
func copied(t *testing.T, s *server.Server, name string, mode os.FileMode) string {
	t.Helper()
	library, err := os.ReadFile(server.Module(t))
	require.NoError(t, err)
	path := filepath.Join(s.Dir, name)
	require.NoError(t, os.WriteFile(path, library, mode))
	return path
}

// works takes a lock through its life.
func works(t *testing.T, s *server.Server) {
	t.Helper()
	require.Equal(t, "OK", s.Do("SET", "lock", "token", "NX", "PX", 30000))
	require.Equal(t, lost, s.Do("GOBLIN.CAEXPIRE", "lock", "wrong", 60000))
	renews(t, s, "lock", 60000, "GOBLIN.CAEXPIRE", "lock", "token", 60000)
	require.Equal(t, lost, s.Do("GOBLIN.CAD", "lock", "wrong"))
	require.Equal(t, released, s.Do("GOBLIN.CAD", "lock", "token"))
}

func TestLoadOnStart(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	works(t, s)
	assert.Regexp(t, `<goblin> version \d+\.\d+\.\d+ \(go.*\) provides goblin.cad, goblin.caexpire, goblin.ownexpire`, s.Log())
	modules := s.Do("MODULE", "LIST")
	assert.Contains(t, server.Flat(modules), "goblin")
	assert.Contains(t, server.Flat(modules), int64(100), "the version, as a number")
}

func TestLoadAtRuntime(t *testing.T) {
	t.Parallel()
	s := server.Plain(t)
	unknown := s.Do("GOBLIN.CAD", "lock", "token")
	for range 50 {
		require.Equal(t, "OK", s.Do("MODULE", "LOAD", server.Module(t)))
		works(t, s)
		s.Unload()
		require.Equal(t, unknown, s.Do("GOBLIN.CAD", "lock", "token"))
	}
}

// refusesSecond loads the library once more, from path, and asserts that the
// one that is at work does not notice.
func refusesSecond(t *testing.T, s *server.Server, path string) {
	t.Helper()
	s.Expect("not loaded: a module of this name is loaded already")
	s.Expect("Module .* initialization failed")
	assert.Equal(t, loadError, s.Do("MODULE", "LOAD", path))
	assert.Contains(t, s.Log(), "a module of this name is loaded already")
	works(t, s)
}

func TestLoadTwice(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	refusesSecond(t, s, server.Module(t))
}

func TestLoadCopy(t *testing.T) {
	t.Parallel()
	server.SkipIfRace(t)
	s := server.New(t)
	refusesSecond(t, s, copied(t, s, "other.so", 0o755))
}

func TestLoadWithArgument(t *testing.T) {
	t.Parallel()
	s := server.Plain(t)
	s.Expect(`not loaded: unknown load argument "bogus"`)
	s.Expect("Module .* initialization failed")
	assert.Equal(t, loadError, s.Do("MODULE", "LOAD", server.Module(t), "bogus", "1"))
	assert.Contains(t, s.Log(), `not loaded: unknown load argument "bogus"`)
	require.Equal(t, "OK", s.Do("MODULE", "LOAD", server.Module(t)))
	works(t, s)
}

func TestLoadWithArgumentOnStart(t *testing.T) {
	t.Parallel()
	s := server.Unstarted(t, "--loadmodule", server.Module(t), "bogus")
	s.Expect(`not loaded: unknown load argument "bogus"`)
	s.Expect("Module .* initialization failed")
	s.Expect("Can't load module")
	s.Launch()
	s.Gone()
	assert.Contains(t, s.Log(), `not loaded: unknown load argument "bogus"`)
}

func TestLoadWithoutExecuteBit(t *testing.T) {
	t.Parallel()
	s := server.Plain(t)
	s.Expect("does not have execute permissions")
	path := copied(t, s, "goblin.so", 0o644)
	assert.Equal(t, loadError, s.Do("MODULE", "LOAD", path))
	assert.Contains(t, s.Log(), "does not have execute permissions")
	require.NoError(t, os.Chmod(path, 0o755))
	require.Equal(t, "OK", s.Do("MODULE", "LOAD", path))
	works(t, s)
}
