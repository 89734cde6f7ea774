package differential

import (
	"crypto/sha1"
	"fmt"
	"slices"
	"strings"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/require"
)

// Side is one of two ways to hold locks: a server, and how it is asked to renew
// and to release.
type Side struct {
	Name string

	// Start starts the server, with more options.
	Start func(t testing.TB, options ...string) *server.Server

	// CAD and CAEXPIRE are what such a call begins with, up to the key.
	CAD, CAEXPIRE []string

	// Lua defines the functions cad and caexpire for what the bodies do. It is
	// a single line, so that errors are found at the same place on both sides.
	Lua string
}

// Commands is a server with the module, which is asked by its commands.
var Commands = Side{
	Name:     "commands",
	Start:    server.New,
	CAD:      []string{"GOBLIN.CAD"},
	CAEXPIRE: []string{"GOBLIN.CAEXPIRE"},
	Lua: `local function cad(key, expected) return redis.call("goblin.cad", key, expected) end ` +
		`local function caexpire(key, expected, ms) return redis.call("goblin.caexpire", key, expected, ms) end`,
}

// Scripts is a server without the module, which is sent scripts.
var Scripts = Side{
	Name:     "scripts",
	Start:    server.Plain,
	CAD:      []string{"EVAL", cadScript, "1"},
	CAEXPIRE: []string{"EVAL", caexpireScript, "1"},
	Lua: `local function cad(key, expected) if redis.call("get", key) == expected then return redis.call("del", key) end return 0 end ` +
		`local function caexpire(key, expected, ms) if redis.call("get", key) == expected then return redis.call("pexpire", key, ms) end return 0 end`,
}

// Accelerated is a server with the module, which is sent scripts and runs them
// as commands. What it leaves alone, it needs to have the scripts for.
var Accelerated = Side{
	Name: "accelerated",
	Start: func(t testing.TB, options ...string) *server.Server {
		module := []string{"--loadmodule", server.Module(t), "accelerate", sha(cadScript) + "=cad", "accelerate", sha(caexpireScript) + "=caexpire"}
		s := server.Plain(t, append(module, options...)...)
		require.Equal(t, sha(cadScript), s.Do("SCRIPT", "LOAD", cadScript))
		require.Equal(t, sha(caexpireScript), s.Do("SCRIPT", "LOAD", caexpireScript))
		return s
	},
	CAD:      []string{"EVALSHA", sha(cadScript), "1"},
	CAEXPIRE: []string{"EVALSHA", sha(caexpireScript), "1"},
	Lua:      Scripts.Lua,
}

// The scripts of lock libraries.
const (
	cadScript      = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`
	caexpireScript = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`
)

func sha(script string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(script))) }

// bodies are scripts, and functions, that hold locks along with other things.
// Each is given two keys, a token, milliseconds, and another token.
var bodies = []struct{ name, lua string }{
	{"renew_and_look", `return {caexpire(KEYS[1], ARGV[1], ARGV[2]), redis.call("pttl", KEYS[1])}`},
	{"all_twice", `return {caexpire(KEYS[1], ARGV[1], ARGV[2]), caexpire(KEYS[1], ARGV[1], ARGV[2]), cad(KEYS[1], ARGV[1]), cad(KEYS[1], ARGV[1])}`},
	{"hand_over", `if cad(KEYS[1], ARGV[1]) == 1 then redis.call("set", KEYS[1], ARGV[3]) end return caexpire(KEYS[1], ARGV[3], ARGV[2])`},
	{"among_writes", `redis.call("set", KEYS[2], ARGV[1]) local won = caexpire(KEYS[1], ARGV[1], ARGV[2]) redis.call("append", KEYS[2], ARGV[3]) return won`},
	{"two_locks", `return {cad(KEYS[1], ARGV[1]), cad(KEYS[2], ARGV[1])}`},
	{"elsewhere", `redis.call("select", 1) return {cad(KEYS[1], ARGV[1]), caexpire(KEYS[2], ARGV[1], ARGV[2])}`},
	{"carry_on", `local ok, won = pcall(caexpire, KEYS[1], ARGV[1], ARGV[2]) redis.call("set", KEYS[2], ARGV[3]) return {tostring(ok), ok and won or "failed"}`},
}

// spell words a step as this side's server understands it.
func (side Side) spell(words []string) []string {
	switch words[0] {
	case cad:
		return slices.Concat(side.CAD, words[1:])
	case caexpire:
		return slices.Concat(side.CAEXPIRE, words[1:])
	case script:
		return slices.Concat([]string{"EVAL", side.Lua + "\n" + body(words[1]), "2"}, words[2:])
	case function:
		return slices.Concat([]string{"FCALL", words[1], "2"}, words[2:])
	}
	return words
}

// library is the source of a library that has every body as a function.
func (side Side) library() string {
	library := "#!lua name=locks\n" + side.Lua + "\n"
	for _, body := range bodies {
		library += fmt.Sprintf("redis.register_function(%q, function(KEYS, ARGV) %s end)\n", body.name, body.lua)
	}
	return library
}

func body(name string) string {
	for _, body := range bodies {
		if body.name == name {
			return body.lua
		}
	}
	panic("no body " + name)
}

// The steps that each side has its own words for. The others are commands.
const (
	cad      = "<release>"
	caexpire = "<renew>"
	script   = "<script>"
	function = "<function>"
)

// holdsLocks tells whether a step is one of those.
func holdsLocks(words []string) bool { return strings.HasPrefix(words[0], "<") }
