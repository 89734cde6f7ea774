// Package accelerate tests that a server which is told to runs the scripts of
// lock libraries as commands, so that nobody can tell but by the time it takes,
// and that it leaves everything else alone.
package accelerate

import (
	"context"
	"crypto/sha1"
	"fmt"
	"slices"
	"strings"
	"testing"

	"goblin/tests/library"
	"goblin/tests/server"

	"github.com/stretchr/testify/require"
)

var ctx = context.Background()

// Scripts of one's own, that a server is told of by their digests.
const (
	releaseScript = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`
	renewScript   = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`
)

var releaseSHA, renewSHA = digest(releaseScript), digest(renewScript)

func digest(script string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(script))) }

// arguments are what the module is loaded with to accelerate all that these
// tests know of.
func arguments() []string {
	return []string{"accelerate", "known", "accelerate", releaseSHA + "=cad", "accelerate", renewSHA + "=caexpire"}
}

// accelerating starts a server that runs scripts as commands.
func accelerating(t testing.TB, options ...string) *server.Server {
	t.Helper()
	return server.Plain(t, slices.Concat([]string{"--loadmodule", server.Module(t)}, arguments(), options)...)
}

// ways are the ways to hold locks that a server counts.
var ways = []string{"eval", "evalsha", "goblin.cad", "goblin.caexpire"}

// ran tells which ways a server has gone, and how often, since it was last
// asked.
func ran(t testing.TB, s *server.Server) map[string]int {
	t.Helper()
	stats := s.Info("commandstats")
	require.Equal(t, "OK", s.Do("CONFIG", "RESETSTAT"))
	all := map[string]int{}
	for _, way := range ways {
		var calls int
		if _, err := fmt.Sscanf(stats["cmdstat_"+way], "calls=%d,", &calls); err == nil && calls > 0 {
			all[way] = calls
		}
	}
	return all
}

// load gives a server the scripts of one's own.
func load(t testing.TB, s *server.Server) {
	t.Helper()
	require.Equal(t, releaseSHA, s.Do("SCRIPT", "LOAD", releaseScript))
	require.Equal(t, renewSHA, s.Do("SCRIPT", "LOAD", renewScript))
}

// known returns scripts that the module knows already.
func known(t testing.TB) (release, renew string) {
	t.Helper()
	renew, release, err := library.Scripts()
	require.NoError(t, err)
	return release, renew
}

// words splits a command as one would type it. "" is an empty word.
func words(command string) []any {
	var all []any
	for _, word := range strings.Fields(command) {
		if word == `""` {
			word = ""
		}
		all = append(all, word)
	}
	return all
}
