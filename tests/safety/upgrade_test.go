package safety

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var loads = flag.Int("loads", 500, "how often TestReload loads and unloads the module")

// status returns a field of what the kernel knows of the server.
func status(t *testing.T, s *server.Server, field string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Pid()))
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			n, err := strconv.Atoi(strings.Fields(value)[0])
			require.NoError(t, err)
			return n
		}
	}
	t.Fatalf("no %s", field)
	return 0
}

// To be loaded and unloaded over and over costs neither threads nor memory.
func TestReload(t *testing.T) {
	t.Parallel()
	s := server.Plain(t)
	reload := func() {
		require.Equal(t, "OK", s.Do("MODULE", "LOAD", server.Module(t), "accelerate", "known"))
		use(t, s)
		s.Unload()
	}
	// The Go runtime collects no garbage before there are 4 MB of it.
	for range *loads {
		reload()
	}
	threads, memory := status(t, s, "Threads"), status(t, s, "VmRSS")
	for range *loads {
		reload()
	}
	assert.LessOrEqual(t, status(t, s, "Threads"), threads+2) // which the Go runtime may add at any time
	resident := status(t, s, "VmRSS")
	t.Logf("%d kB resident, and %d kB after %d loads more", memory, resident, *loads)
	assert.Less(t, resident, memory+2048, "kB")
}

// The module is loaded and unloaded while clients call it. Each gets the right
// reply, or hears that there is no such command.
func TestReloadUnderTraffic(t *testing.T) {
	t.Parallel()
	s := server.Plain(t)
	ctx, stop := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	var served, unknown atomic.Int64
	for client := range 4 {
		key, conn := "lock:"+strconv.Itoa(client), s.Session()
		call := func(reply int64, args ...any) (ok bool) {
			switch got := server.Do(conn, args...); got {
			case reply:
				served.Add(1)
				return true
			default:
				assert.Contains(t, got, "ERR unknown command")
				unknown.Add(1)
				return false
			}
		}
		clients.Go(func() {
			for ctx.Err() == nil && !t.Failed() {
				assert.Equal(t, "OK", server.Do(conn, "SET", key, "token", "PX", 60000))
				call(lost, "GOBLIN.CAEXPIRE", key, "other", 1)
				call(renewed, "GOBLIN.CAEXPIRE", key, "token", 60000)
				call(lost, "GOBLIN.CAD", key, "other")
				if call(released, "GOBLIN.CAD", key, "token") {
					assert.Nil(t, server.Do(conn, "GET", key))
				} else {
					assert.Equal(t, "token", server.Do(conn, "GET", key))
				}
				time.Sleep(rand.N(5 * time.Millisecond)) // when the module can go
			}
		})
	}
	defer clients.Wait()
	defer stop()
	more := func(n *atomic.Int64) {
		before := n.Load()
		s.Until("clients have called", func() bool { return n.Load() > before+20 || t.Failed() })
	}
	for range 20 {
		more(&unknown)
		require.Equal(t, "OK", s.Do("MODULE", "LOAD", server.Module(t)))
		more(&served)
		s.Unload()
	}
}

// A library that is replaced while it is loaded does not matter until the
// server is started anew: even MODULE UNLOAD and MODULE LOAD run the old code.
// Under another name the new one can be loaded, but not at the same time.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	s := server.Plain(t)
	version := func() string {
		lines := strings.Split(s.Log(), "<goblin> version ")
		version, _, _ := strings.Cut(lines[len(lines)-1], " ")
		return version
	}
	old, other := filepath.Join(s.Dir, "goblin.so"), filepath.Join(s.Dir, "other.so")
	install(t, server.Module(t), old)
	require.Equal(t, "OK", s.Do("MODULE", "LOAD", old))
	use(t, s)
	oldVersion := version()

	build(t, other, "", change{"module/command.go", `Version       = "`, `Version       = "9.`})
	newVersion := "9." + oldVersion
	install(t, other, old)
	use(t, s)
	s.Unload()
	require.Equal(t, "OK", s.Do("MODULE", "LOAD", old))
	assert.Equal(t, oldVersion, version())
	use(t, s)

	s.Expect("not loaded: a module of this name is loaded already")
	s.Expect("Module .* initialization failed. Module not loaded")
	counters := s.Info("goblin")
	require.Equal(t, loadError, s.Do("MODULE", "LOAD", other))
	assert.Equal(t, counters, s.Info("goblin"))
	use(t, s)

	s.Unload()
	require.Equal(t, "OK", s.Do("MODULE", "LOAD", other))
	assert.Equal(t, newVersion, version())
	use(t, s)

	s.Stop()
	s.Start("--loadmodule", old)
	assert.Equal(t, newVersion, version())
	use(t, s)
}

// install replaces a library as make install does: what was there stays whole,
// for whoever has loaded it.
func install(t *testing.T, from, to string) {
	t.Helper()
	library, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to+".new", library, 0o755))
	require.NoError(t, os.Rename(to+".new", to))
}

// To write over a library that a server has loaded crashes it. Neither make
// build nor make install does.
func TestInstall(t *testing.T) {
	t.Parallel()
	s := server.Plain(t)
	built, installed := filepath.Join(s.Dir, "built.so"), filepath.Join(s.Dir, "goblin.so")
	before := map[string]os.FileInfo{}
	for _, path := range []string{built, installed} {
		install(t, server.Module(t), path)
		before[path], _ = os.Stat(path)
		require.Equal(t, "OK", s.Do("MODULE", "LOAD", path))
		s.Unload()
	}
	gnuMake(t, "build", "SO="+built)
	gnuMake(t, "install", "SO="+built, "MODULES="+s.Dir)
	for path, before := range before {
		after, err := os.Stat(path)
		require.NoError(t, err)
		assert.False(t, os.SameFile(before, after), "%s was written over", path)
		require.Equal(t, "OK", s.Do("MODULE", "LOAD", path)) // runs what was there
		use(t, s)
		s.Unload()
	}
}

// Another module in Go, which is at work all the time, gets along with this one
// in either order. It is this one under another name, entered in the ordinary
// way and collecting garbage.
func TestAnotherGoModule(t *testing.T) {
	t.Parallel()
	s := server.Plain(t)
	another := filepath.Join(s.Dir, "another.so")
	build(t, another, exported+",goblin_stress",
		change{"module/command.go", `Name = "goblin"`, `Name = "another"`},
		change{"module/cad.go", `"goblin.cad"`, `"another.cad"`},
		change{"module/caexpire.go", `"goblin.caexpire"`, `"another.caexpire"`},
		change{"module/ownexpire.go", `"goblin.ownexpire"`, `"another.ownexpire"`})
	for _, order := range [][]string{{server.Module(t), another}, {another, server.Module(t)}} {
		for _, path := range order {
			require.Equal(t, "OK", s.Do("MODULE", "LOAD", path))
		}
		var clients sync.WaitGroup
		for client := range 4 {
			clients.Go(func() {
				key, other := fmt.Sprint("lock:", client), fmt.Sprint("other:", client)
				for range 300 {
					assert.Equal(t, []any{"OK", "OK", renewed, renewed, lost, lost, released, released}, []any{
						s.Do("SET", key, "token"), s.Do("SET", other, "token"),
						s.Do("GOBLIN.CAEXPIRE", key, "token", 60000), s.Do("ANOTHER.CAEXPIRE", other, "token", 60000),
						s.Do("GOBLIN.CAD", key, "other"), s.Do("ANOTHER.CAD", other, "other"),
						s.Do("GOBLIN.CAD", key, "token"), s.Do("ANOTHER.CAD", other, "token"),
					})
				}
			})
		}
		s.Do("BGSAVE")
		clients.Wait()
		s.Until("the snapshot is written", func() bool { return s.Count("persistence", "rdb_bgsave_in_progress") == 0 })
		assert.Equal(t, "ok", s.Info("persistence")["rdb_last_bgsave_status"])
		use(t, s)
		s.Stop() // the runtime that was loaded first stays first until the process ends
		s.Start()
	}
}

// A module that was loaded while the server ran is in the configuration file
// that the server writes, with its arguments.
func TestConfigRewrite(t *testing.T) {
	t.Parallel()
	s := server.Unstarted(t)
	if !s.Speaks(7, 0) {
		t.Skip("before 7.0 a server does not write its modules to its configuration file")
	}
	s.Expect("CONFIG REWRITE executed with success")
	s.Config = filepath.Join(s.Dir, "server.conf")
	require.NoError(t, os.WriteFile(s.Config, nil, 0o644))
	s.Start()
	require.Equal(t, "OK", s.Do("MODULE", "LOAD", server.Module(t), "accelerate", "known"))
	require.Equal(t, "OK", s.Do("CONFIG", "REWRITE"))
	s.Stop()
	s.Start()
	use(t, s)
	assert.Contains(t, s.Info("goblin"), "goblin_cad_accelerated")
}
