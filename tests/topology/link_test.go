package topology

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// script runs one command after the other, each a word of ARGV that is split at
// the commas.
const script = `
local reply
for _, call in ipairs(ARGV) do
	local words = {}
	for word in call:gmatch("[^,]+") do words[#words + 1] = word end
	reply = redis.call(unpack(words))
end
return reply`

// A hit has exactly one effect on replicas and on the append-only file, a
// command of the core with an absolute deadline. A miss has none.
func TestLink(t *testing.T) {
	t.Parallel()
	s := server.New(t, "--appendonly", "yes", "--appendfsync", "no", "--repl-diskless-sync", "no")
	s.Do("DEBUG", "SET-ACTIVE-EXPIRE", "0")
	if s.Speaks(7, 0) {
		require.Equal(t, "lib", s.Do("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('run', function(KEYS, ARGV)"+script+"\nend)"))
	}
	client, stream := s.Session(), s.Stream()
	for _, lazy := range []string{"yes", "no"} {
		for _, option := range []string{"expire", "server-del", "user-del", "eviction"} {
			require.Equal(t, "OK", s.Do("CONFIG", "SET", "lazyfree-lazy-"+option, lazy))
		}
		expire := map[string]string{"yes": "UNLINK", "no": "DEL"}[lazy] // of a key that is past its deadline
		for _, test := range []struct {
			name    string
			calls   []string
			effects []string // @60000: its deadline, set for 60000 ms; @: its deadline
			block   bool     // the caller's own MULTI or script
		}{
			{"renewal", []string{"GOBLIN.CAEXPIRE a token 60000"}, []string{"PEXPIREAT a @60000"}, false},
			{"release", []string{"GOBLIN.CAD a token"}, []string{"DEL a"}, false},
			{"renewal into the past", []string{"GOBLIN.CAEXPIRE a token -1"}, []string{expire + " a"}, false},
			{"renewal, wrong token", []string{"GOBLIN.CAEXPIRE a wrong 60000", "GOBLIN.CAEXPIRE a tokem -1"}, nil, false},
			{"renewal, no key", []string{"GOBLIN.CAEXPIRE none token 60000", "GOBLIN.CAEXPIRE none token -1"}, nil, false},
			{"release, wrong token", []string{"GOBLIN.CAD a wrong", "GOBLIN.CAD a tokem"}, nil, false},
			{"release, no key", []string{"GOBLIN.CAD none token"}, nil, false},
			{"refused", []string{
				"GOBLIN.CAEXPIRE list token 60000", "GOBLIN.CAD list token", "GOBLIN.CAEXPIRE a token x",
				"GOBLIN.CAEXPIRE a token 9223372036854775807", "GOBLIN.CAD a", "GOBLIN.CAEXPIRE a token",
			}, nil, false},
			{"release, past the deadline", []string{"GOBLIN.CAD past token"}, []string{expire + " past"}, false},
			{"renewal, past the deadline", []string{"GOBLIN.CAEXPIRE past token 60000"}, []string{expire + " past"}, false},

			{"MULTI, a hit", []string{"MULTI", "GOBLIN.CAEXPIRE a token 60000", "GOBLIN.CAD none token", "EXEC"}, []string{"PEXPIREAT a @60000"}, true},
			{"MULTI, hits and misses", []string{
				"MULTI", "SET c token", "GOBLIN.CAEXPIRE a token 60000", "GOBLIN.CAD a wrong", "GOBLIN.CAD b token", "GOBLIN.CAD b token",
				"GOBLIN.CAEXPIRE c token 70000", "EXEC",
			}, []string{"SET c token", "PEXPIREAT a @60000", "DEL b", "PEXPIREAT c @70000"}, true},
			{"MULTI, misses", []string{"MULTI", "GOBLIN.CAEXPIRE a wrong 60000", "GOBLIN.CAD none token", "EXEC"}, nil, true},
			{"MULTI, dropped", []string{"MULTI", "GOBLIN.CAEXPIRE a token 60000", "GOBLIN.CAD b token", "DISCARD"}, nil, false},
			{"EVAL, a hit", []string{"EVAL 1 a GOBLIN.CAEXPIRE,a,token,60000"}, []string{"PEXPIREAT a @60000"}, true},
			{"EVAL, a miss", []string{"EVAL 1 a GOBLIN.CAEXPIRE,a,wrong,60000"}, nil, true},
			{"EVAL, hits and misses", []string{
				"EVAL 2 a b GOBLIN.CAD,a,wrong GOBLIN.CAEXPIRE,a,token,60000 GOBLIN.CAD,b,token SET,c,token",
			}, []string{"PEXPIREAT a @60000", "DEL b", "SET c token"}, true},
			{"EVAL in MULTI", []string{
				"MULTI", "GOBLIN.CAD b token", "EVAL 1 a GOBLIN.CAEXPIRE,a,token,60000 SET,c,token", "EXEC",
			}, []string{"DEL b", "PEXPIREAT a @60000", "SET c token"}, true},
			{"FCALL, a hit", []string{"FCALL run 1 a GOBLIN.CAEXPIRE,a,token,60000"}, []string{"PEXPIREAT a @60000"}, true},
			{"FCALL, a miss", []string{"FCALL run 1 a GOBLIN.CAD,a,wrong"}, nil, true},
			{"FCALL, hits and misses", []string{
				"FCALL run 2 a b GOBLIN.CAEXPIRE,a,token,60000 GOBLIN.CAD,none,token GOBLIN.CAD,b,token",
			}, []string{"PEXPIREAT a @60000", "DEL b"}, true},

			{"owner", []string{"GOBLIN.OWNEXPIRE list owner me 60000"}, nil, false}, // the list has no TTL
			{"owner, a hit", []string{"GOBLIN.OWNEXPIRE a owner me 60000", "GOBLIN.OWNEXPIRE a owner you 50000"}, []string{
				"SET owner me", "PEXPIREAT owner @", "PEXPIREAT a @",
			}, true},
			{"owner, into the past", []string{"GOBLIN.OWNEXPIRE a b token -1"}, []string{expire + " b", expire + " a"}, true},

			{"another database", []string{"SELECT 1", "GOBLIN.CAD a other", "SELECT 0", "GOBLIN.CAD a token"}, []string{"SELECT 1", "DEL a", "SELECT 0", "DEL a"}, false},
		} {
			t.Run(test.name+", lazy "+lazy, func(t *testing.T) {
				if strings.HasPrefix(test.calls[0], "FCALL") && !s.Speaks(7, 0) {
					t.Skip("functions came with 7.0")
				}
				for _, command := range []string{
					"SELECT 1", "SET a other", "SELECT 0", "DEL c list owner", "RPUSH list token", "SET a token PX 30000", "SET b token",
					"SET past token PX 1",
				} {
					server.Do(client, words(command)...)
				}
				set := time.Now()
				s.Until("past is past its deadline", func() bool { return time.Since(set) > 2*time.Millisecond })
				stream.Take()
				file := len(s.AOF())
				for _, call := range test.calls {
					command := words(call)
					if command[0] == "EVAL" {
						command = slices.Insert(command, 1, any(script))
					}
					reply, refused := server.Do(client, command...).(server.Error)
					assert.Equal(t, test.name == "refused", refused, reply)
				}
				assert.Equal(t, sent(s, test.effects, test.block, !s.Speaks(7, 0)), plain(s, stream.Take()), "replicas")
				assert.Equal(t, sent(s, test.effects, test.block, false), plain(s, s.AOF()[file:]), "append-only file")
			})
		}
	}
}

// sent is how the server sends the effects of a caller's block, or of calls on
// their own. Before 7.0 all that comes from a script or a module is sent in a
// transaction, even where it is nothing; later, where it is more than one.
func sent(s *server.Server, effects []string, block, relative bool) []string {
	transaction := func(commands ...string) []string {
		return slices.Concat([]string{"MULTI"}, commands, []string{"EXEC"})
	}
	old, commands, alone := !s.Speaks(7, 0), []string{}, []string{}
	for _, effect := range effects {
		command, ms, renewal := strings.Cut(effect, "@")
		switch {
		case renewal && relative && ms != "":
			effect = strings.Replace(command, "PEXPIREAT", "PEXPIRE", 1) + ms
		case renewal:
			effect = command + "@"
		}
		commands = append(commands, effect)
		if old && !strings.HasPrefix(effect, "SELECT") && !strings.HasSuffix(effect, " past") { // these are not the module's doing
			alone = append(alone, transaction(effect)...)
		} else {
			alone = append(alone, effect)
		}
	}
	switch {
	case !block:
		return alone
	case old || len(commands) > 1:
		return transaction(commands...)
	}
	return commands
}

// plain writes out commands, with @ for the very deadline that the key now has.
func plain(s *server.Server, commands []server.Command) []string {
	all := []string{}
	for _, command := range commands {
		command[0] = strings.ToUpper(command[0])
		if command[0] == "PEXPIREAT" {
			at, _ := strconv.ParseInt(command[2], 10, 64)
			if math.Abs(float64(at-s.Deadline(command[1]))) <= s.Slack() {
				command[2] = "@"
			}
		}
		all = append(all, command.String())
	}
	return all
}
