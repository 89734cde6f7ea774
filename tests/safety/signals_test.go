package safety

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Signals do to a server with the module what they do to one without.
func TestSignals(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1} {
		t.Run(fmt.Sprint(signal), func(t *testing.T) {
			t.Parallel()
			plain, s := server.Plain(t), server.New(t)
			use(t, s)
			plain.Signal(signal)
			s.Signal(signal)
			assert.Equal(t, plain.Status(), s.Status())
		})
	}
	t.Run("ignored", func(t *testing.T) {
		t.Parallel()
		plain, s := server.Plain(t), server.New(t)
		for _, signal := range []syscall.Signal{syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGURG} {
			plain.Signal(signal)
			assert.Equal(t, "PONG", plain.Do("PING"), signal)
			s.Signal(signal)
			use(t, s)
		}
	})
}

// SIGURG is what the Go runtime interrupts its threads with. A flood of them
// reaches the server wherever it is.
func TestSignalStorm(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	pid := s.Pid()
	for range 100 {
		for range 100 {
			require.NoError(t, syscall.Kill(pid, syscall.SIGURG))
		}
		use(t, s)
	}
}

// The server's watchdog interrupts it with SIGALRM and has a handler that, as
// set up by CONFIG SET, runs on whatever stack is in use. In a decision that is
// the server's own, so there is room for it.
func TestWatchdog(t *testing.T) {
	t.Parallel()
	const period = "60000"
	for name, enable := range map[string]func(*server.Server){
		"on start": func(s *server.Server) { s.Start("--watchdog-period", period) },
		"CONFIG SET": func(s *server.Server) {
			s.Start()
			require.Equal(t, "OK", s.Do("CONFIG", "SET", "watchdog-period", period))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := server.Unstarted(t, "--loadmodule", server.Module(t))
			if name == "on start" && !s.Speaks(7, 0) {
				t.Skip("before 7.0 the watchdog cannot be set up on start")
			}
			s.Expect("") // each time the watchdog barks
			enable(s)
			token := strings.Repeat("token", 4<<20)
			wrong := token[:len(token)-1] + "x"
			s.Do("SET", "key", token)
			pid := s.Pid()
			done := make(chan struct{})
			go func() {
				defer close(done)
				for !barked(t, s) && !t.Failed() {
					assert.Equal(t, lost, s.Do("EVAL", `
						local lost
						for i = 1, 20 do lost = redis.call("GOBLIN.CAD", KEYS[1], ARGV[1]) end
						return lost`, 1, "key", wrong))
				}
			}()
			next := time.Now()
			s.Until("the watchdog barks in a decision", func() bool {
				if time.Now().After(next) { // the server must get on between two alarms
					require.NoError(t, syscall.Kill(pid, syscall.SIGALRM))
					next = time.Now().Add(25 * time.Millisecond)
				}
				return barked(t, s)
			})
			<-done
			assert.Equal(t, renewed, s.Do("GOBLIN.CAEXPIRE", "key", token, 60000))
			assert.Equal(t, released, s.Do("GOBLIN.CAD", "key", token))
			use(t, s)
		})
	}
}

// barked tells whether the watchdog has found the server in the module.
func barked(t *testing.T, s *server.Server) bool {
	return strings.Contains(s.Log(), filepath.Base(server.Module(t))+"(")
}

// Without crash reports the server has no handlers of its own for the signals
// of a crash.
func TestCrashLogDisabled(t *testing.T) {
	t.Parallel()
	plain, s := server.Plain(t), server.New(t)
	if !s.Speaks(6, 2) {
		t.Skip("before 6.2 crash reports cannot be turned off")
	}
	for _, s := range []*server.Server{plain, s} {
		require.Equal(t, "OK", s.Do("CONFIG", "SET", "crash-log-enabled", "no"))
	}
	use(t, s)
	for _, s := range []*server.Server{plain, s} {
		s.Signal(syscall.SIGSEGV)
		assert.Equal(t, 128+int(syscall.SIGSEGV), s.Status())
		assert.NotContains(t, s.Log(), "BUG REPORT")
	}
}

// A server whose log goes to a pipe, as in redis-server | head, goes on when
// nobody reads it any more.
func TestClosedOutput(t *testing.T) {
	t.Parallel()
	s := server.Unstarted(t, "--logfile", "", "--loglevel", "debug", "--loadmodule", server.Module(t))
	s.Via = filepath.Join(s.Dir, "piped")
	compile := exec.Command("go", "build", "-o", s.Via, "./piped")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0") // for any server's image
	output, err := compile.CombinedOutput()
	require.NoError(t, err, "%s", output)
	pipe := filepath.Join(s.Dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	reader, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	s.Start()
	use(t, s)
	require.NoError(t, reader.Close())
	require.Equal(t, "Background saving started", s.Do("BGSAVE")) // logs, in two processes
	s.Until("the snapshot is written", func() bool { return s.Count("persistence", "rdb_bgsave_in_progress") == 0 })
	assert.Equal(t, "ok", s.Info("persistence")["rdb_last_bgsave_status"])
	use(t, s)
	s.Stop()
}

// The module writes nothing where the server does not, and has nothing open
// that it could write to.
func TestWritesNothing(t *testing.T) {
	t.Parallel()
	plain, s := server.Plain(t), server.New(t)
	for range 100 {
		use(t, s)
	}
	assert.Equal(t, writable(t, plain), writable(t, s))
	assert.Equal(t, plain.Output(), s.Output())
	assert.Empty(t, s.Output())
}

// number is what a socket or a pipe has instead of a name.
var number = regexp.MustCompile(`\[\d+\]`)

// writable are the kinds of files that the server can write to.
func writable(t *testing.T, s *server.Server) []string {
	dir := fmt.Sprintf("/proc/%d/", s.Pid())
	links, err := os.ReadDir(dir + "fd")
	require.NoError(t, err)
	var kinds []string
	for _, link := range links {
		file, err := os.Readlink(dir + "fd/" + link.Name())
		require.NoError(t, err)
		info, err := os.ReadFile(dir + "fdinfo/" + link.Name())
		require.NoError(t, err)
		var position, flags int
		_, err = fmt.Sscanf(string(info), "pos: %d\nflags: %o", &position, &flags)
		require.NoError(t, err)
		if flags&syscall.O_ACCMODE != os.O_RDONLY {
			kinds = append(kinds, number.ReplaceAllString(strings.ReplaceAll(file, s.Dir, "."), "[]"))
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
