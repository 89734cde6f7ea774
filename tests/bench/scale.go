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
	{name: "1 connection", conns: 1, depth: 1, locks: 10_000, stretch: 300 * time.Millisecond},
	{name: "100 connections", conns: 100, depth: 1, locks: 100, stretch: 300 * time.Millisecond},
	{name: "10,000 connections", conns: 10_000, depth: 1, locks: 1, stretch: 300 * time.Millisecond},
	{name: "10,000 locks, pipelined", conns: 8, depth: 64, locks: 1250, stretch: 300 * time.Millisecond},
	{name: "1,000,000 locks, pipelined", conns: 8, depth: 64, locks: 125_000, stretch: time.Second},
}

const scaledRounds = 3

// manyCalls are what the server's memory must not grow with.
const manyCalls = 10_000_000

// memory is what servers have resident, in KiB.
type memory struct {
	bare, goblin, twin int // just started, with this module or none
	before, after      int // manyCalls
}

// scale measures what must not grow.
func (r *run) scale(module, twin string) error {
	goblin := trial{find(renew, "Goblin"), hit, small}
	trials := []trial{goblin, {find(renew, "C twin"), hit, small}, {find(renew, "PEXPIRE, unchecked"), hit, small}}
	if err := r.measure(trials, slices.DeleteFunc(slices.Clone(scaled), r.unaffordable), scaledRounds, scaledLimit); err != nil {
		return err
	}

	r.progress("memory: after the start, and after %d calls", manyCalls)
	var err error
	for kib, modules := range map[*int][]string{&r.memory.bare: nil, &r.memory.goblin: {module}, &r.memory.twin: {twin}} {
		if *kib, err = memoryAtStart(r.program, modules...); err != nil {
			return err
		}
	}
	if r.memory.before, err = r.server.rss(); err != nil {
		return err
	}
	w := pipelined
	w.stretch = time.Second
	for calls := 0.0; calls < manyCalls; {
		f, err := r.server.measure(goblin, w)
		if err != nil {
			return err
		}
		calls += f[rate] * w.stretch.Seconds()
	}
	r.memory.after, err = r.server.rss()
	return err
}

func memoryAtStart(program string, modules ...string) (int, error) {
	s, err := start(program, modules...)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	return s.rss()
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
	fmt.Fprintf(out, "\nA server that has just started has %s resident, and %s more with Goblin (%s with the twin). It had %s before %d million calls, and %s after.\n",
		mib(m.bare), mib(m.goblin-m.bare), mib(m.twin-m.bare), mib(m.before), manyCalls/1_000_000, mib(m.after))
}

func mib(kib int) string { return fmt.Sprintf("%.1f MiB", float64(kib)/1024) }
