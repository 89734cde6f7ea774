package safety

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/anishathalye/porcupine"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var contention = flag.Duration("contention", 6*time.Second, "how long TestLocks lasts")

// operation is what a client did about a lock, and what came of it.
type operation struct {
	Client       int
	Key, Token   string
	Command      string // "SET", "GOBLIN.CAEXPIRE" or "GOBLIN.CAD"
	Lease        time.Duration
	Call, Return time.Time
	Reply        string // "OK", "1", "0" or "null", "" where the connection broke before one came, or an error
}

// state is what a lock's key holds, and between which times that expires. That
// the server's clock counts milliseconds is allowed for.
type state struct {
	token    string // "" if the lock is free
	from, to time.Time
}

// step returns the states that a lock may be in after an operation, or none if
// the operation cannot have had its outcome. The lease of a holder counts from
// when it was asked for at the earliest, and from when it was granted at the
// latest; in between nobody can tell from outside whether it has expired.
func (s state) step(op operation) (next []state) {
	const rounding = 5 * time.Millisecond
	free := s.token == "" || op.Return.After(s.from.Add(-rounding))
	holds := s.token == op.Token && op.Call.Before(s.to.Add(rounding))
	leased := state{op.Token, op.Call.Add(op.Lease), op.Return.Add(op.Lease)}

	unknown := op.Reply == ""
	switch op.Command {
	case "SET":
		if free && (unknown || op.Reply == "OK") {
			next = append(next, leased)
		}
		if unknown || s.token != "" && op.Call.Before(s.to.Add(rounding)) && op.Reply == "null" {
			next = append(next, s)
		}
	case "GOBLIN.CAEXPIRE", "GOBLIN.CAD":
		if holds && (unknown || op.Reply == "1") {
			if op.Command == "GOBLIN.CAD" {
				leased = state{}
			}
			next = append(next, leased)
		}
		switch {
		case !unknown && op.Reply != "0":
		case s.token != op.Token:
			next = append(next, s)
		case free:
			next = append(next, state{})
		}
		if unknown {
			next = append(next, s)
		}
	}
	return next
}

// locks is a model of locks, of which each is a matter of its own.
var locks = porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		keys := map[string][]porcupine.Operation{}
		for _, op := range history {
			key := op.Input.(operation).Key
			keys[key] = append(keys[key], op)
		}
		var partitions [][]porcupine.Operation
		for _, operations := range keys {
			partitions = append(partitions, operations)
		}
		return partitions
	},
	Init: func() []any { return []any{state{}} },
	Step: func(current, input, _ any) (states []any) {
		for _, next := range current.(state).step(input.(operation)) {
			states = append(states, next)
		}
		return states
	},
}

// Processes contend for locks while the server is killed and started again, and
// while they themselves are stopped for longer than their leases. There is an
// order of all that they did in which no lock ever had two holders, and no
// lease that was lost was renewed.
func TestLocks(t *testing.T) {
	t.Parallel()
	s := server.New(t, "--appendonly", "yes", "--appendfsync", "always")
	s.Expect("") // of being killed

	var processes [3]*exec.Cmd
	var inputs [len(processes)]io.Closer // to close one ends its process
	var histories [len(processes)][]porcupine.Operation
	var recording sync.WaitGroup
	for i := range processes {
		process := exec.Command(os.Args[0])
		process.Env = append(os.Environ(), holdAt+"="+s.Addr())
		process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		process.Stderr = os.Stderr
		var err error
		inputs[i], err = process.StdinPipe()
		require.NoError(t, err)
		output, err := process.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, process.Start())
		t.Cleanup(func() { process.Process.Kill() })
		processes[i] = process
		recording.Go(func() {
			histories[i] = record(t, i, output)
			assert.NoError(t, process.Wait())
		})
	}

	restarts := 0
	for begin := time.Now(); time.Since(begin) < *contention; restarts++ {
		time.Sleep(*contention / 10)
		stopped := processes[rand.N(len(processes))].Process
		require.NoError(t, stopped.Signal(syscall.SIGSTOP))
		time.Sleep(2 * short)
		require.NoError(t, stopped.Signal(syscall.SIGCONT))
		time.Sleep(*contention / 10)
		s.Kill()
		s.Start()
	}
	for _, input := range inputs {
		input.Close()
	}
	recording.Wait()

	history := slices.Concat(histories[:]...)
	outcomes := map[string]int{}
	for _, op := range history {
		op := op.Input.(operation)
		outcomes[op.Command+" "+cmp.Or(op.Reply, "?")]++
	}
	t.Logf("%d restarts; %v", restarts, outcomes)
	for _, outcome := range []string{"SET OK", "SET null", "GOBLIN.CAEXPIRE 1", "GOBLIN.CAEXPIRE 0", "GOBLIN.CAD 1", "GOBLIN.CAD 0"} {
		assert.Positive(t, outcomes[outcome], outcome)
	}
	assert.Equal(t, porcupine.Ok, porcupine.CheckOperationsTimeout(locks.ToModel(), history, time.Minute))
}

// record reads the operations of the i-th process until it ends.
func record(t *testing.T, i int, from io.Reader) (history []porcupine.Operation) {
	for operations := json.NewDecoder(from); ; {
		var op operation
		if err := operations.Decode(&op); err != nil {
			assert.Equal(t, io.EOF, err)
			return history
		}
		history = append(history, porcupine.Operation{
			ClientId: i*holders + op.Client, Input: op, Call: op.Call.UnixNano(), Return: op.Return.UnixNano(),
		})
	}
}

// holdAt names the variable that makes a process of this program hold locks at
// a server, instead of running tests.
const holdAt = "SAFETY_HOLD_AT"

func TestMain(m *testing.M) {
	if addr := os.Getenv(holdAt); addr != "" {
		hold(addr)
		return
	}
	os.Exit(m.Run())
}

const (
	holders = 3                      // a process
	short   = 200 * time.Millisecond // a lease that is lost now and then
	longer  = 2 * short              // one that is not, if it is renewed in time
	long    = time.Hour              // for so long
)

// hold takes, renews, loses and releases locks until its standard input ends,
// and writes the operations to its standard output.
func hold(addr string) {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	operations := make(chan operation)
	var clients sync.WaitGroup
	for i := range holders {
		// It never gives up on a reply. So a call whose reply does not come was
		// made before the connection broke, or is not made at all.
		conn := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1, PoolSize: 1, ReadTimeout: -1})
		clients.Go(func() {
			h := holder{i, conn, operations}
			for n := 0; ctx.Err() == nil; n++ {
				h.life(ctx, fmt.Sprintf("%d:%d:%08d", os.Getpid(), i, n))
			}
		})
	}
	go func() {
		clients.Wait()
		close(operations)
	}()
	for output := json.NewEncoder(os.Stdout); ; {
		op, more := <-operations
		if !more {
			return
		}
		if output.Encode(op) != nil {
			os.Exit(1)
		}
	}
}

type holder struct {
	id         int
	conn       *redis.Client
	operations chan<- operation
}

// life is that of a lock in the hands of a holder, if it comes into them.
func (h holder) life(ctx context.Context, token string) {
	key, first, lease := fmt.Sprint("short:", rand.N(2)), short, short
	if rand.N(2) == 0 {
		// Mostly free, as it must stay after a release.
		key, first, lease = fmt.Sprint("long:", rand.N(20)), longer, long
	}
	if h.do("SET", key, token, first) == "null" {
		time.Sleep(rand.N(20 * time.Millisecond))
		return
	}
	// Where the outcome is unknown, too, so that no lock is left behind.
	for holding := true; holding && ctx.Err() == nil; {
		time.Sleep(rand.N(short / 2)) // works
		if rand.N(3) == 0 {
			time.Sleep(rand.N(2 * short)) // for too long perhaps, and does not notice
		}
		if rand.N(2) == 0 {
			holding = h.do("GOBLIN.CAD", key, token, 0) == ""
		} else {
			holding = h.do("GOBLIN.CAEXPIRE", key, token, lease) != "0"
		}
	}
}

// do makes a call and records it, unless it was certainly not made.
func (h holder) do(command, key, token string, lease time.Duration) string {
	args := []any{command, key, token}
	switch command {
	case "SET":
		args = append(args, "NX", "PX", lease.Milliseconds())
	case "GOBLIN.CAEXPIRE":
		args = append(args, lease.Milliseconds())
	}
	op := operation{Client: h.id, Key: key, Token: token, Command: command, Lease: lease, Call: time.Now()}
	reply, err := h.conn.Do(context.Background(), args...).Result()
	op.Return = time.Now()
	var refused redis.Error
	var failed *net.OpError
	switch {
	case err == redis.Nil:
		op.Reply = "null"
	case errors.As(err, &refused) && strings.HasPrefix(err.Error(), "LOADING"), errors.As(err, &failed) && failed.Op == "dial":
		return ""
	case errors.As(err, &refused):
		op.Reply = err.Error()
	case err == nil:
		op.Reply = fmt.Sprint(reply)
	}
	h.operations <- op
	return op.Reply
}
