package accelerate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A client is a lock library as it was released, which takes, renews and
// releases locks.
type client struct {
	name string

	// hold has the library hold locks, and tells what it said.
	hold func(t *testing.T, s *server.Server) []string

	// said is that. plain and fast count how it was done by servers that run
	// scripts, and scripts as commands.
	said        []string
	plain, fast map[string]int
}

var clients = []client{
	// Both scripts of 0.9.4 are known, and of 0.10 none. Its scripts for taking
	// a lock, and for how long it lasts, have no command.
	{
		"redislock", holdByRedislock,
		[]string{
			"obtain: <nil>", "again: redislock: not obtained", "refresh: <nil>", "lasts: true",
			"refresh another's: redislock: not obtained", "release another's: redislock: lock not held",
			"release: <nil>", "release again: redislock: lock not held", "refresh what is released: redislock: not obtained",
		},
		map[string]int{"evalsha": 9, "eval": 4},
		map[string]int{"evalsha": 3, "eval": 2, "goblin.caexpire": 3, "goblin.cad": 3},
	},
	// Of the newest redsync a lock is extended by the command. It is released by
	// the script, which since 4.12 has a reply of its own for a missing key.
	{
		"redsync", holdByRedsync,
		[]string{
			"lock: <nil>", "again: lock already taken, locked nodes: [0]", "extend: true <nil>", "lasts: true",
			"extend another's: false lock already taken, locked nodes: [0]", "unlock another's: false lock already taken, locked nodes: [0]",
			"unlock: true <nil>", "unlock again: false redsync: failed to unlock, lock was already expired",
			"extend what is unlocked: false lock already taken, locked nodes: [0]",
		},
		map[string]int{"evalsha": 7, "eval": 2},
		map[string]int{"evalsha": 4, "eval": 1, "goblin.caexpire": 3},
	},
	// All but extend, which is left to a script.
	{
		"redis-py", program("redis-py", "/usr/bin/python3", "testdata/redis-py.py"),
		[]string{
			"acquire: True", "again: False", "reacquire: True", "lasts: True", "extend: True", "lasts longer: True",
			"reacquire another's: LockNotOwnedError", "release another's: LockNotOwnedError",
			"release: None", "release again: LockNotOwnedError", "held: 0",
		},
		map[string]int{"evalsha": 9},
		map[string]int{"evalsha": 2, "goblin.caexpire": 2, "goblin.cad": 3},
	},
	// Locks of sessions, which are never renewed.
	{
		"phpredis", program("phpredis", "php", "testdata/phpredis.php"),
		[]string{"locked: 1", "unlocked: 0", "another's: 1", "counts: 2"},
		map[string]int{"evalsha": 3, "eval": 1},
		map[string]int{"goblin.cad": 3},
	},
	// Without a framework. Its locks are not renewed either.
	{
		"Laravel", program("Laravel", "php", "testdata/laravel.php"),
		[]string{"acquire: true", "again: false", "release another's: false", "release: true", "release again: false", "held: 0"},
		map[string]int{"eval": 3},
		map[string]int{"goblin.cad": 3},
	},
}

// Libraries say the same, and find the same, whichever way a server holds their
// locks.
func TestClients(t *testing.T) {
	t.Parallel()
	for _, client := range clients {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			s := server.Plain(t)
			for _, side := range []struct {
				module []any // the arguments of MODULE LOAD, nil: it is not loaded
				ran    map[string]int
			}{
				{nil, client.plain},
				{[]any{server.Module(t)}, client.plain},
				{[]any{server.Module(t), "accelerate", "known"}, client.fast},
			} {
				if side.module != nil {
					require.Equal(t, "OK", s.Do(append([]any{"MODULE", "LOAD"}, side.module...)...))
				}
				require.Equal(t, "OK", s.Do("SCRIPT", "FLUSH"))
				assert.Equal(t, client.said, client.hold(t, s), side.module)
				assert.Equal(t, side.ran, ran(t, s), side.module)
				assert.Equal(t, int64(0), s.Do("EXISTS", "lock"), side.module)
				if side.module != nil {
					s.Unload()
				}
			}
		})
	}
}

// lasts tells whether a lock is held for about so long.
func lasts(s *server.Server, ms int64) bool {
	left, ok := s.Do("PTTL", "lock").(int64)
	return ok && left > ms-10_000 && left <= ms
}

func holdByRedislock(t *testing.T, s *server.Server) (said []string) {
	tell := func(what string, how ...any) { said = append(said, what+": "+fmt.Sprint(how...)) }
	locker := redislock.New(s.Client)
	lock, err := locker.Obtain(ctx, "lock", 30*time.Second, nil)
	tell("obtain", err)
	require.NoError(t, err)
	_, err = locker.Obtain(ctx, "lock", 30*time.Second, nil)
	tell("again", err)
	tell("refresh", lock.Refresh(ctx, 60*time.Second, nil))
	ttl, err := lock.TTL(ctx)
	require.NoError(t, err)
	tell("lasts", lasts(s, 60_000) && ttl > 50*time.Second)

	s.Do("SET", "lock", "another's")
	tell("refresh another's", lock.Refresh(ctx, 60*time.Second, nil))
	tell("release another's", lock.Release(ctx))
	s.Do("SET", "lock", lock.Token())
	tell("release", lock.Release(ctx))
	tell("release again", lock.Release(ctx))
	tell("refresh what is released", lock.Refresh(ctx, 60*time.Second, nil))
	return said
}

func holdByRedsync(t *testing.T, s *server.Server) (said []string) {
	tell := func(what string, how ...any) { said = append(said, what+": "+strings.TrimSpace(fmt.Sprintln(how...))) }
	locker := redsync.New(goredis.NewPool(s.Client))
	lock := locker.NewMutex("lock", redsync.WithExpiry(60*time.Second))
	tell("lock", lock.Lock())
	tell("again", locker.NewMutex("lock", redsync.WithExpiry(60*time.Second)).TryLock())
	s.Do("PEXPIRE", "lock", 30_000)
	ok, err := lock.Extend()
	tell("extend", ok, err)
	tell("lasts", lasts(s, 60_000))

	s.Do("SET", "lock", "another's")
	ok, err = lock.Extend()
	tell("extend another's", ok, err)
	ok, err = lock.Unlock()
	tell("unlock another's", ok, err)
	s.Do("SET", "lock", lock.Value())
	ok, err = lock.Unlock()
	tell("unlock", ok, err)
	ok, err = lock.Unlock()
	tell("unlock again", ok, err)
	ok, err = lock.Extend()
	tell("extend what is unlocked", ok, err)
	return said
}

// program holds locks by a library in another language. The program is given
// the server's port, and says one thing a line, or ends with a status of its own
// where the library is not installed. With CI set it must be.
func program(library, interpreter, file string) func(*testing.T, *server.Server) []string {
	const missing, notFound = 69, 127 // EX_UNAVAILABLE, and of timeout
	return func(t *testing.T, s *server.Server) []string {
		t.Helper()
		output, err := exec.Command("timeout", "60", interpreter, file, strconv.Itoa(s.Port)).CombinedOutput()
		var failed *exec.ExitError
		if os.Getenv("CI") == "" && errors.As(err, &failed) && slices.Contains([]int{missing, notFound}, failed.ExitCode()) {
			t.Skipf("%s is not installed: %s", library, bytes.TrimSpace(output))
		}
		require.NoError(t, err, "%s", output)
		return strings.Split(strings.TrimSpace(string(output)), "\n")
	}
}
