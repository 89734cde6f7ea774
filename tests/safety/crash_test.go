package safety

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// crashes are ways for a server to end with a report.
var crashes = map[string]func(*server.Server){
	"DEBUG SEGFAULT": func(s *server.Server) { s.Do("DEBUG", "SEGFAULT") },
	"DEBUG PANIC":    func(s *server.Server) { s.Do("DEBUG", "PANIC") },
	"DEBUG ASSERT":   func(s *server.Server) { s.Do("DEBUG", "ASSERT") },
	"SIGSEGV":        func(s *server.Server) { s.Signal(syscall.SIGSEGV) },
	"SIGABRT":        func(s *server.Server) { s.Signal(syscall.SIGABRT) },
}

var (
	// heading starts a part of a crash report.
	heading = regexp.MustCompile(`(?m)^------ ([A-Z ]+) ------|=== \S+ (BUG REPORT \w+)`)
	// own is the module's part of it.
	own = regexp.MustCompile(`(?m)^# goblin\s+(goblin_\w+:\d+\s+)*goblin_cad_released:1\s`)
)

const (
	modules    = "------ MODULES INFO OUTPUT ------"
	memoryTest = "------ FAST MEMORY TEST ------"
)

// A server with the module reports each crash as fully as one without.
func TestCrashReport(t *testing.T) {
	t.Parallel()
	for name, crash := range crashes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain, s := server.Unstarted(t), server.Unstarted(t, "--loadmodule", server.Module(t))
			if !s.Speaks(6, 2) {
				t.Skip("before 6.2 a server cannot be kept from testing its memory after a crash, which ends the report")
			}
			plain.Expect("")
			s.Expect("")
			plain.Start()
			s.Start()
			use(t, s)
			crash(plain)
			crash(s)
			assert.Equal(t, plain.Status(), s.Status())
			report := s.Log()
			assert.NotContains(t, report, notice)
			assert.Equal(t, heading.FindAllString(plain.Log(), -1), heading.FindAllString(report, -1))
			assert.Contains(t, report, "BUG REPORT END")
			if strings.Contains(report, modules) {
				assert.Regexp(t, own, report)
			}
		})
	}
}

// notice is what the module logs where a server would test its memory.
const notice = "set crash-memcheck-enabled no"

// What is lost to the server's test of its memory is that test's result and what
// comes after it: the code around the fault, and the exit status. The log says
// so beforehand.
func TestCrashReportWithMemoryTest(t *testing.T) {
	t.Parallel()
	s := server.Unstarted(t)
	s.Expect("")
	if s.Speaks(6, 2) {
		s.Start("--crash-memcheck-enabled", "yes", "--loadmodule", server.Module(t))
		assert.Equal(t, 1, strings.Count(s.Log(), notice))
	} else { // has no such setting, and always does
		s.Start("--loadmodule", server.Module(t))
	}
	use(t, s)
	s.Signal(syscall.SIGSEGV)
	s.Gone()
	report, _, found := strings.Cut(s.Log(), memoryTest)
	require.True(t, found)
	assert.Contains(t, report, "STACK TRACE")
	assert.Contains(t, report, "CLIENT LIST OUTPUT")
	assert.Regexp(t, own, report)
}

// The process that writes a snapshot reports its crash too, the module's part
// included, and ends: the server goes on.
func TestCrashOfChild(t *testing.T) {
	t.Parallel()
	s := server.New(t, "--rdb-key-save-delay", "10000000")
	s.Expect("")
	use(t, s)
	s.Do("SET", "key", "value")
	s.Do("BGSAVE")
	// A process that crashes in fork or in malloc hangs without the module too.
	// This one is killed where it rests between two keys.
	var child int
	s.Until("the snapshot is being written", func() bool {
		files, _ := filepath.Glob(filepath.Join(s.Dir, "temp-*.rdb"))
		if len(files) == 0 {
			return false
		}
		fmt.Sscanf(filepath.Base(files[0]), "temp-%d.rdb", &child)
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		return strings.Contains(string(stat), ") S ")
	})
	require.NoError(t, syscall.Kill(child, syscall.SIGSEGV))
	s.Until("the child ends", func() bool { return s.Count("persistence", "rdb_bgsave_in_progress") == 0 })
	assert.Equal(t, "err", s.Info("persistence")["rdb_last_bgsave_status"])
	assert.Contains(t, s.Log(), "BUG REPORT START")
	if strings.Contains(s.Log(), modules) {
		assert.Regexp(t, own, s.Log())
	}
	use(t, s)
}
