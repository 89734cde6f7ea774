package accelerate

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// loaded is how many scripts a server's log says are run as commands.
func loaded(t *testing.T, s *server.Server) int {
	t.Helper()
	lines := regexp.MustCompile(`<goblin> version .*; scripts run as commands: (\d+)`).FindAllStringSubmatch(s.Log(), -1)
	require.NotEmpty(t, lines, s.Log())
	n, err := strconv.Atoi(lines[len(lines)-1][1])
	require.NoError(t, err)
	return n
}

// takes tells which way a release goes. There is no script in the server's
// cache.
func takes(t *testing.T, s *server.Server, sha1 string) map[string]int {
	t.Helper()
	require.Equal(t, "OK", s.Do("SCRIPT", "FLUSH"))
	ran(t, s)
	reply := s.Do("EVALSHA", sha1, 1, "lock", "token")
	took := ran(t, s)
	if took["goblin.cad"] > 0 {
		require.Equal(t, int64(0), reply)
	} else {
		require.Contains(t, reply, "NOSCRIPT")
	}
	return took
}

var (
	native = map[string]int{"goblin.cad": 1}
	script = map[string]int{"evalsha": 1}
)

func TestOffByDefault(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	release, _ := known(t)
	assert.Equal(t, script, takes(t, s, digest(release)))
	assert.Equal(t, 0, loaded(t, s))
	assert.NotContains(t, s.Info("goblin"), "goblin_cad_accelerated")
}

func TestWhatIsLoaded(t *testing.T) {
	t.Parallel()
	release, _ := known(t)
	s := server.Plain(t)
	all := 0
	for _, test := range []struct {
		arguments  string
		known, own map[string]int
		counts     func() int
	}{
		{"accelerate known", native, script, func() int { all = loaded(t, s); return all }},
		{"", script, script, func() int { return 0 }},
		{"accelerate " + releaseSHA + "=cad", script, native, func() int { return 1 }},
		{"accelerate " + strings.ToUpper(releaseSHA) + "=cad accelerate " + releaseSHA + "=cad", script, native, func() int { return 1 }},
		{"accelerate " + releaseSHA + "=cad accelerate known", native, native, func() int { return all + 1 }},
		{"accelerate known accelerate " + digest(release) + "=cad accelerate known", native, script, func() int { return all }},
	} {
		require.Equal(t, "OK", s.Do(append([]any{"MODULE", "LOAD", server.Module(t)}, words(test.arguments)...)...))
		assert.Equal(t, test.known, takes(t, s, digest(release)), test.arguments)
		assert.Equal(t, test.own, takes(t, s, releaseSHA), test.arguments)
		assert.Equal(t, test.counts(), loaded(t, s), test.arguments)
		s.Unload()
		assert.Equal(t, script, takes(t, s, digest(release)), "unloaded")
	}
	assert.GreaterOrEqual(t, all, 30)
}

func TestLoadFromConfiguration(t *testing.T) {
	t.Parallel()
	s := server.Unstarted(t)
	s.Config = filepath.Join(s.Dir, "server.conf")
	line := fmt.Sprintf("loadmodule %s %s\n", server.Module(t), strings.Join(arguments(), " "))
	require.NoError(t, os.WriteFile(s.Config, []byte(line), 0o644))
	s.Start()
	assert.Equal(t, native, takes(t, s, releaseSHA))
}

// However many there are, each is found.
func TestManyScripts(t *testing.T) {
	t.Parallel()
	var digests []string
	call := []any{"MODULE", "LOAD", server.Module(t), "accelerate", "known"}
	for i := range 1000 {
		digests = append(digests, digest(strconv.Itoa(i)))
		call = append(call, "accelerate", digests[i]+"=cad")
	}
	s := server.Plain(t)
	require.Equal(t, "OK", s.Do(call...))
	for _, digest := range digests {
		require.Equal(t, int64(0), s.Do("EVALSHA", digest, 1, "lock", "token"), digest)
	}
	assert.Equal(t, map[string]int{"goblin.cad": len(digests)}, ran(t, s))
}

// A bad argument refuses the load. The server goes on, and takes a good one.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	s := server.Plain(t)
	s.Expect("<goblin> not loaded: |Module .* initialization failed")
	for _, test := range []struct{ arguments, told string }{
		{"bogus", `unknown load argument "bogus": the only one is accelerate`},
		{"bogus known", `unknown load argument "bogus"`},
		{"ACCELERATE known", `unknown load argument "ACCELERATE"`},
		{"accelerate known bogus", `unknown load argument "bogus"`},
		{"accelerate", "load argument accelerate needs a value: known, or SHA1=cad or SHA1=caexpire"},
		{"accelerate known accelerate", "load argument accelerate needs a value"},
		{"accelerate all", `accelerate "all": "all" is no SHA-1 digest, 40 digits in hexadecimal`},
		{`accelerate ""`, `"" is no SHA-1 digest`},
		{"accelerate =cad", `"" is no SHA-1 digest`},
		{"accelerate " + releaseSHA[1:] + "=cad", "is no SHA-1 digest"},
		{"accelerate " + releaseSHA + "0=cad", "is no SHA-1 digest"},
		{"accelerate " + releaseSHA[1:] + "g=cad", "is no SHA-1 digest"},
		{"accelerate " + releaseSHA, "a script can be run as cad or as caexpire"},
		{"accelerate " + releaseSHA + "=", "a script can be run as cad or as caexpire"},
		{"accelerate " + releaseSHA + "=CAD", "a script can be run as cad or as caexpire"},
		{"accelerate " + releaseSHA + "=del", "a script can be run as cad or as caexpire"},
		{"accelerate " + releaseSHA + "=goblin.cad", "a script can be run as cad or as caexpire"},
		{"accelerate " + releaseSHA + "=ownexpire", "a script can be run as cad or as caexpire"},
		{"accelerate " + releaseSHA + "=cad accelerate " + releaseSHA + "=caexpire", "script " + releaseSHA + " cannot be both goblin.cad and goblin.caexpire"},
		{"accelerate \x00\xff=cad", "is no SHA-1 digest"},
		{"accelerate " + strings.Repeat("x", 300), "is no SHA-1 digest"},
	} {
		before := len(s.Log())
		assert.Contains(t, s.Do(append([]any{"MODULE", "LOAD", server.Module(t)}, words(test.arguments)...)...),
			"ERR Error loading the extension", "%.200s", test.arguments)
		assert.Contains(t, s.Log()[before:], test.told, "%.200s", test.arguments)
		require.Equal(t, script, takes(t, s, releaseSHA), "%.200s", test.arguments)
	}
	require.Equal(t, "OK", s.Do("MODULE", "LOAD", server.Module(t), "accelerate", releaseSHA+"=cad"))
	assert.Equal(t, native, takes(t, s, releaseSHA))
}

func TestCounters(t *testing.T) {
	t.Parallel()
	s := accelerating(t)
	for _, call := range []string{
		"SET lock token", "EVALSHA " + renewSHA + " 1 lock token 60000", "EVALSHA " + renewSHA + " 1 lock wrong 60000",
		"EVALSHA " + releaseSHA + " 1 none token", "EVALSHA " + releaseSHA + " 1 lock wrong", "EVALSHA " + releaseSHA + " 1 lock token",
		"EVALSHA " + releaseSHA + " 1 lock token surplus", // stays a script
		"GOBLIN.CAD lock token",
	} {
		s.Do(words(call)...)
	}
	assert.Subset(t, s.Info("goblin"), map[string]string{
		"goblin_caexpire_accelerated": "2", "goblin_caexpire_renewed": "1", "goblin_caexpire_mismatched": "1",
		"goblin_cad_accelerated": "3", "goblin_cad_released": "1", "goblin_cad_mismatched": "1", "goblin_cad_missing": "2",
	})
	assert.NotContains(t, s.Info("goblin"), "goblin_ownexpire_accelerated")
}
