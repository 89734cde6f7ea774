// Command bench measures what the commands cost: against their twin in C,
// against the scripts that they replace, and against the server's own commands.
// All of it runs on one server, in turn and in rounds, so that what else the
// machine does meanwhile hits all alike.
//
//	go run ./tests/bench
//
// It writes a report to build/bench.md and a chart to build/bench.svg. The
// server is REDIS_SERVER, or the redis-server in PATH.
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"time"
)

// The ways in which everything is called.
var (
	pipelined  = way{name: "pipelined", conns: 8, depth: 64, locks: 128, stretch: 25 * time.Millisecond, times: 8}
	closedLoop = way{name: "closed loop", conns: 1, depth: 1, locks: 256, stretch: 25 * time.Millisecond, times: 4}
	every1ms   = way{name: "every 1 ms", conns: 1, depth: 1, locks: 256, gap: time.Millisecond, stretch: 120 * time.Millisecond, times: 1}
	every10ms  = way{name: "every 10 ms", conns: 1, depth: 1, locks: 256, gap: 10 * time.Millisecond, stretch: 150 * time.Millisecond, times: 1}
	every100ms = way{name: "every 100 ms", conns: 1, depth: 1, locks: 256, gap: 100 * time.Millisecond, stretch: 300 * time.Millisecond, times: 1}

	ways = []way{pipelined, closedLoop, every1ms, every10ms, every100ms}
)

// How long the rounds may take, so that all is done within ten minutes even
// where others keep the machine busy.
const (
	roundsLimit = 7 * time.Minute
	scaledLimit = 90 * time.Second
)

// Sizes of tokens, in bytes: a UUID, and what does not fit a cache line.
const (
	small = 36
	large = 4096
)

func main() {
	if err := bench(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench() error {
	var (
		program = flag.String("server", cmp.Or(os.Getenv("REDIS_SERVER"), "redis-server"), "the server's `program`")
		module  = flag.String("module", "build/goblin.so", "the module's `file`")
		count   = flag.Int("rounds", 7, "how many `rounds` to take the median of")
		only    = flag.String("compare", "", "measure only the rows that match this `regexp`, as in 'renew, hit, 36.*(Goblin|twin)'")
		scale   = flag.Bool("scale", true, "measure also with many connections, many locks and many calls")
		quick   = flag.Bool("quick", false, "see whether it works: one short round")
	)
	flag.Parse()
	rows, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	sizes := []int{small, large}
	if *quick {
		*count, *scale, sizes = 1, false, sizes[:1]
		for i := range ways {
			ways[i].stretch /= 10
			ways[i].times = 1
		}
	}

	r := &run{began: time.Now(), program: *program, sizes: sizes, results: map[measured]rounds{}}
	twin, err := buildTwin()
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(twin))
	if *module, err = filepath.Abs(*module); err != nil {
		return err
	}
	if r.server, err = start(*program, []string{*module, "accelerate", "known"}, []string{twin}); err != nil {
		return err
	}
	defer r.server.stop()

	if err := r.choose(rows); err != nil {
		return err
	}
	if err := r.measure(r.trials, ways, *count, roundsLimit); err != nil {
		return err
	}
	if *scale {
		if err := r.scale(*module, twin); err != nil {
			return err
		}
	}
	return r.write("build/bench")
}

// write leaves the report and the chart behind.
func (r *run) write(name string) error {
	var report bytes.Buffer
	r.report(&report)
	if err := os.WriteFile(name+".md", report.Bytes(), 0o644); err != nil {
		return err
	}
	chart, err := r.chart()
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".svg", chart, 0o644); err != nil {
		return err
	}
	r.progress("%s.md and %s.svg are written", name, name)
	return nil
}

// A run is all that is measured on one server.
type run struct {
	began   time.Time
	program string
	sizes   []int
	server  *server
	trials  []trial
	results map[measured]rounds
	memory  memory
}

// measured is what figures belong to.
type measured struct {
	trial
	way string
}

// of returns the figures of a command, in a way: none if it was not measured.
func (r *run) of(op operation, name string, outcome outcome, size int, w way) rounds {
	return r.results[measured{trial{find(op, name), outcome, size}, w.name}]
}

// progress tells whoever waits.
func (r *run) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%4.0f s  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// choose lists the trials of all commands that the server has, if somebody
// wants to see them.
func (r *run) choose(wanted *regexp.Regexp) error {
	for _, script := range scripts {
		if err := r.server.ScriptLoad(context.Background(), script).Err(); err != nil {
			return err
		}
	}
	var has []*command
	for _, c := range commands {
		refusal, err := r.server.refusal(trial{c, hit, small})
		switch {
		case err != nil:
			return err
		case refusal == "":
			has = append(has, c)
		case c.found == sometimes:
			r.progress("left out, as this server has it not: %s (%.40s)", c.name, refusal)
		default:
			return fmt.Errorf("%s: the server replies %q", c.name, refusal)
		}
	}
	for _, t := range trials(has, r.sizes...) {
		if wanted.MatchString(t.String()) {
			r.trials = append(r.trials, t)
		}
	}
	return nil
}

// measure measures trials in ways, and leaves out the last rounds where they
// would take longer than limit. Stretches are short and take turns, so that
// none has the machine for itself in a quiet moment; and every other turn goes
// backwards, so that none has always the same one before it.
func (r *run) measure(trials []trial, ways []way, count int, limit time.Duration) error {
	began := time.Now()
	for i := range count {
		if passed := time.Since(began); passed+passed/time.Duration(max(i, 1)) > limit {
			r.progress("no time is left for round %d", i+1)
			break
		}
		for _, w := range ways {
			r.progress("round %d of %d: %s", i+1, count, w.name)
			if err := r.takeTurns(trials, w); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	return nil
}

// takeTurns measures trials in one way, for one round.
func (r *run) takeTurns(trials []trial, w way) error {
	clients, err := r.server.connect(w)
	defer clients.close()
	if err != nil {
		return err
	}
	var tasks []task
	for _, t := range trials {
		tasks = append(tasks, prepare(t, w))
	}
	runtime.GC() // and then none for a while

	samples := map[trial][]sample{}
	for range w.times {
		for _, t := range tasks {
			s, err := r.server.stretch(clients, t, w)
			if err != nil {
				return fmt.Errorf("%s: %w", t, err)
			}
			samples[t.trial] = append(samples[t.trial], s)
		}
		slices.Reverse(tasks)
	}
	for t, s := range samples {
		m := measured{t, w.name}
		r.results[m] = append(r.results[m], round(s))
	}
	return r.server.FlushAll(context.Background()).Err()
}

// buildTwin compiles the twin as cgo compiles the module's C.
func buildTwin() (string, error) {
	dir, err := os.MkdirTemp("", "goblin-twin-")
	if err != nil {
		return "", err
	}
	twin := filepath.Join(dir, "twin.so")
	gcc := exec.Command(cmp.Or(os.Getenv("CC"), "gcc"),
		"-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared",
		"-Wl,-Bsymbolic", "-Wl,--version-script=build/exports.map", "-I", "cgo", "-o", twin,
		"tests/bench/twin/twin.c", "cgo/bridge.c", "cgo/bind.c")
	gcc.Stderr = os.Stderr
	if err := gcc.Run(); err != nil {
		return "", fmt.Errorf("%s (in the repository's directory?): %w", gcc, err)
	}
	return twin, nil
}
