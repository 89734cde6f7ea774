package main

import (
	"fmt"
	"io"
	"slices"
	"syscall"
	"time"
)

// In these ways there is more and more of something. A call may cost more for
// it than before, but no more than it costs PEXPIRE.
var scaled = []way{
	{name: "1 connection", conns: 1, depth: 1, locks: 10_000, stretch: 100 * time.Millisecond, times: 3},
	{name: "100 connections", conns: 100, depth: 1, locks: 100, stretch: 100 * time.Millisecond, times: 3},
	{name: "10,000 connections", conns: 10_000, depth: 1, locks: 1, stretch: 300 * time.Millisecond, times: 1},
	{name: "10,000 locks, pipelined", conns: 8, depth: 64, locks: 1250, stretch: 100 * time.Millisecond, times: 3},
	{name: "1,000,000 locks, pipelined", conns: 8, depth: 64, locks: 125_000, stretch: time.Second, times: 1},
}

const scaledRounds = 3

// manyCalls are what the server's memory must not grow with.
const manyCalls = 10_000_000

// memory is what servers have resident, in KiB.
type memory struct {
	bare, goblin, twin int // just started, with this module or none
	before, after      int // with Goblin: once it is at work, and after manyCalls
}

// scale measures what must not grow.
func (r *run) scale(module, twin string) error {
	goblin := trial{find(renew, "Goblin"), hit, small}
	trials := []trial{goblin, {find(renew, "C twin"), hit, small}, {find(renew, "PEXPIRE, unchecked"), hit, small}}
	if err := r.measure(trials, slices.DeleteFunc(slices.Clone(scaled), r.unaffordable), scaledRounds, scaledLimit); err != nil {
		return err
	}

	r.progress("memory, after the start and after %d calls", manyCalls)
	var err error
	if r.memory.bare, err = memoryAtStart(r.program); err != nil {
		return err
	}
	if r.memory.twin, err = memoryAtStart(r.program, []string{twin}); err != nil {
		return err
	}
	return r.memoryOverTime(goblin, module)
}

func memoryAtStart(program string, modules ...[]string) (int, error) {
	s, err := start(program, modules...)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	return s.rss()
}

// memoryOverTime measures a server with the module, from its start on.
func (r *run) memoryOverTime(t trial, module string) error {
	s, err := start(r.program, []string{module})
	if err != nil {
		return err
	}
	defer s.stop()
	if r.memory.goblin, err = s.rss(); err != nil {
		return err
	}
	clients, err := s.connect(pipelined)
	defer clients.close()
	if err != nil {
		return err
	}
	task := prepare(t, pipelined)
	for calls := 0.0; calls < manyCalls; {
		sample, err := s.stretch(clients, task, pipelined)
		if err != nil {
			return err
		}
		calls += sample.calls
		if r.memory.before == 0 {
			if r.memory.before, err = s.rss(); err != nil {
				return err
			}
		}
	}
	r.memory.after, err = s.rss()
	return err
}

// unaffordable tells whether a way takes more files than a process may open.
func (r *run) unaffordable(w way) bool {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	short := err == nil && limit.Cur < uint64(w.conns)+100
	if short {
		r.progress("left out: %s, as a process may open no more than %d files (ulimit -n)", w.name, limit.Cur)
	}
	return short
}

// reportScale writes what scale has measured.
func (r *run) reportScale(out io.Writer) {
	if r.memory.after == 0 {
		return
	}
	r.table(out, "Server time of a renewal in µs (× Goblin's), with more and more of", scaled, r.comparer(serverTime))
	m := r.memory
	fmt.Fprintf(out, "\nA server that has just started has %s resident, with Goblin %s more (with the twin %s). Once at work with Goblin it has %s, and after %d million calls %s.\n",
		mib(m.bare), mib(m.goblin-m.bare), mib(m.twin-m.bare), mib(m.before), manyCalls/1_000_000, mib(m.after))
}

func mib(kib int) string { return fmt.Sprintf("%.1f MiB", float64(kib)/1024) }
