package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"goblin/tests/server"

	"github.com/redis/go-redis/v9"
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

// The server frees the commands of a module that it unloads, and crashes if it
// then comes across one that a client has queued, or called last, or that an ACL
// rule names. So the module stays for as long as there is such a client or rule.
func TestUnload(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	s.Expect("<goblin> not unloaded: |OnUnload failed|Error unloading module|Module goblin unload blocked")
	const refused = server.Error("ERR Error unloading module: operation not possible.")
	const named = "one or more ACL users reference commands from this module" // seen by the server itself, from Valkey 9.0.3 on
	stays := func(last, queued, rules int) {
		t.Helper()
		before := len(s.Log())
		reply := s.Do("MODULE", "UNLOAD", "goblin")
		if s.Is("valkey", 9, 0) && rules > 0 {
			require.Contains(t, reply, named)
			return
		}
		require.Equal(t, refused, reply)
		require.Contains(t, s.Log()[before:], fmt.Sprintf(
			"not unloaded: the server would go on using what it frees: %d clients called a command of the module last, %d have calls queued, and %d ACL rules name one",
			last, queued, rules))
	}
	// churn has the server give memory that it has freed to something else.
	churn := func() {
		for i := range 400 {
			s.Do("SET", fmt.Sprint("churn:", i), strings.Repeat("x", i))
		}
		s.Do("CLIENT", "LIST")
	}
	session := func() *redis.Conn {
		conn := s.Session()
		require.Equal(t, "PONG", server.Do(conn, "PING"))
		return conn
	}

	caller := session()
	id := server.Do(caller, "CLIENT", "ID")
	require.Equal(t, lost, server.Do(caller, "GOBLIN.CAD", "lock", "token"))
	stays(1, 0, 0)
	require.Equal(t, "PONG", server.Do(caller, "PING"))

	queuing := session()
	require.Equal(t, "OK", server.Do(queuing, "MULTI"))
	require.Equal(t, "QUEUED", server.Do(queuing, "GOBLIN.CAD", "lock", "token"))
	require.Equal(t, "QUEUED", server.Do(queuing, "PING"))
	stays(0, 1, 0)
	require.Equal(t, lost, server.Do(caller, "GOBLIN.CAD", "lock", "token"))
	stays(1, 1, 0)
	require.Equal(t, int64(1), s.Do("CLIENT", "KILL", "ID", id))
	stays(0, 1, 0)
	churn()
	require.Equal(t, []any{lost, "PONG"}, server.Do(queuing, "EXEC"))

	require.Equal(t, "OK", server.Do(queuing, "MULTI"))
	require.Equal(t, "QUEUED", server.Do(queuing, "MODULE", "UNLOAD", "goblin"))
	require.Equal(t, "QUEUED", server.Do(queuing, "GOBLIN.CAD", "lock", "token"))
	require.Equal(t, fmt.Sprint(refused, lost), fmt.Sprint(server.Do(queuing, "EXEC").([]any)...))

	if s.Speaks(6, 2) { // before, it blocks all clients
		require.Equal(t, "OK", s.Do("CLIENT", "PAUSE", 60000, "WRITE"))
		postponed := session()
		replied := make(chan any)
		go func() { replied <- server.Do(postponed, "GOBLIN.CAD", "lock", "token") }()
		s.Until("the call is postponed", func() bool { return strings.Contains(s.Do("CLIENT", "LIST").(string), "cmd=goblin.cad") })
		stays(1, 0, 0)
		require.Equal(t, "OK", s.Do("CLIENT", "UNPAUSE"))
		require.Equal(t, lost, <-replied)
		stays(1, 0, 0)
		require.Equal(t, "PONG", server.Do(postponed, "PING"))
	}

	require.Equal(t, "OK", s.Do("ACL", "SETUSER", "worker", "+set", "+goblin.cad", "~lock:*"))
	stays(0, 0, 1)
	require.Equal(t, int64(1), s.Do("ACL", "DELUSER", "worker"))
	s.Unload()
	churn()
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
