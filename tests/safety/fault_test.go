package safety

import (
	"path/filepath"
	"syscall"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const loadError = server.Error("ERR Error loading the extension. Please check the server logs.")

// A panic while the module is loaded is a refusal to load. An invalid pointer,
// be it in the bridge or followed by a decision in Go, ends the server with a
// report that names the module.
func TestFaults(t *testing.T) {
	t.Parallel()
	s := server.Plain(t)
	path := filepath.Join(s.Dir, "faulty.so")
	build(t, path, "",
		change{"module/arguments.go", "var chosen []Script", `var chosen []Script; if len(args) > 0 { panic("planted") }`},
		change{"cgo/bridge.c", "RedisModule_DeleteKey(key);", "char *volatile wild = (char *)8; *wild = 0;"},
		change{"cgo/bridge.c", "return key;", "if (request->held.n == 2) {\n request->held.p = (char *)8;\n }\n return key;"})

	t.Run("panic in OnLoad", func(t *testing.T) {
		s.Expect("not loaded: panic: planted")
		s.Expect("Module .* initialization failed. Module not loaded")
		for range 2 {
			require.Equal(t, loadError, s.Do("MODULE", "LOAD", path, "any"))
			require.Contains(t, s.Log(), "<goblin> not loaded: panic: planted")
		}
		require.Equal(t, "OK", s.Do("MODULE", "LOAD", path))
		assert.Equal(t, lost, s.Do("GOBLIN.CAD", "lock", "token"))
	})
	s.Stop()
	s.Expect("")
	s.Start("--loadmodule", path)
	for _, where := range []string{"C", "Go"} {
		t.Run("wild pointer in "+where, func(t *testing.T) {
			before := len(s.Log())
			s.Do("SET", "key", where)
			s.Do("GOBLIN.CAD", "key", where)
			assert.Equal(t, 128+int(syscall.SIGSEGV), s.Status())
			report := s.Log()[before:]
			assert.Regexp(t, `Accessing address: 0x[0-9a-f]{1,2}\b`, report)
			assert.Regexp(t, `(?s)STACK TRACE.*faulty\.so\(.*REGISTERS`, report)
			if s.Speaks(6, 2) {
				assert.Contains(t, report, "BUG REPORT END")
			}
			s.Start()
		})
	}
}

// exported builds the library with the ordinary entry into Go, which other
// architectures and instrumented builds have.
const exported = "-tags=goblin_export"

// A panic in a decision that was entered in the ordinary way is the caller's
// error, is logged, and is counted. (The direct entry has decisions that cannot
// panic: see TestLeaves.)
func TestPanicInDecision(t *testing.T) {
	t.Parallel()
	s := server.Unstarted(t)
	path := filepath.Join(s.Dir, "faulty.so")
	build(t, path, exported, change{"module/cad.go", "{ return compare(r, Remove) }", `{
		switch r.Expected {
		case "panic":
			panic("planted")
		case "nil":
			r = nil
		}
		return compare(r, Remove)
	}`})
	s.Start("--loadmodule", path)
	s.Expect("panic in a decision: planted")
	s.Expect("panic in a decision: runtime error: invalid memory address or nil pointer dereference")
	for _, token := range []string{"panic", "nil"} {
		s.Do("SET", "key", token)
		for range 100 {
			require.Equal(t, server.Error("ERR internal error in 'goblin.cad' command, the server's log has the details"), s.Do("GOBLIN.CAD", "key", token))
		}
		assert.Equal(t, token, s.Do("GET", "key"))
	}
	assert.Contains(t, s.Log(), "panic in a decision: planted")
	assert.Contains(t, s.Log(), "panic in a decision: runtime error: invalid memory address or nil pointer dereference")
	assert.Equal(t, 200, s.Count("goblin", "goblin_cad_refused"))
	use(t, s)
}
