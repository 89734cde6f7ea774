package differential

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"goblin/tests/server"
)

// match plays programs on two sides at once.
type match struct {
	t           testing.TB
	left, right *player
	documented  []Documented // on this server
	seen        coverage     // nil: of no interest
}

func newMatch(t testing.TB, left, right Side, documented []Documented) *match {
	m := &match{t: t, left: newPlayer(t, left), right: newPlayer(t, right), seen: coverage{}}
	for _, d := range documented {
		if d.On == nil || d.On(m.left.server.Program) {
			m.documented = append(m.documented, d)
		}
	}
	return m
}

// play plays a program and returns the differences, other than documented ones,
// after the first step that shows any.
func (m *match) play(program Program) (differences []Difference) {
	for again := true; again; {
		differences, program, again = m.attempt(program)
	}
	return differences
}

// attempt is play, unless it turns out that the program cannot be compared to
// its end: then it returns the one to play instead.
func (m *match) attempt(program Program) (differences []Difference, instead Program, again bool) {
	m.left.reset(m.t, program)
	m.right.reset(m.t, program)
	var slack time.Duration
	for i := range program.Steps {
		start := time.Now()
		left, right := m.both(program, func(p *player) ([]fact, error) { return p.act(i) })
		took := time.Since(start)
		slack = max(slack, took)
		if lapse := m.left.lapse; lapse > 0 {
			if took >= lapse { // perhaps it was too late for the step itself, on one side
				return nil, program, true
			}
			time.Sleep(lapse + 2*time.Millisecond)
		}
		start = time.Now()
		leftState, rightState := m.both(program, (*player).observe)
		blur := slack
		if !m.left.server.Speaks(7, 0) {
			blur += time.Since(start) // a deadline is what is left of it, and the time
		}
		differences, parts := m.undocumented(append(
			m.compare(program, i, left, right, slack), m.compare(program, i, leftState, rightState, blur)...))
		switch {
		case parts >= 0:
			return nil, program.without(parts, parts+1), true
		case differences != nil:
			return differences, program, false
		}
		m.seen.step(program, i, append(left, leftState...))
	}
	differences, _ = m.undocumented(append(
		m.compareStreams(program, "replica", m.left.replica.Take(), m.right.replica.Take(), slack),
		m.compareStreams(program, "append-only file", m.left.aof.Take(), m.right.aof.Take(), slack)...))
	return differences, program, false
}

// both has both sides do something at once.
func (m *match) both(program Program, do func(p *player) ([]fact, error)) (left, right []fact) {
	var errLeft, errRight error
	var wait sync.WaitGroup
	wait.Go(func() { right, errRight = do(m.right) })
	left, errLeft = do(m.left)
	wait.Wait()
	if errLeft != nil || errRight != nil {
		m.t.Fatalf("%s: %v\n%s: %v\nseed %d\n%s", m.left.Name, errLeft, m.right.Name, errRight, program.Seed, program)
	}
	return left, right
}

func (m *match) compare(program Program, after int, left, right []fact, slack time.Duration) (differences []Difference) {
	// An EXEC that failed on one side alone comes with fewer facts there, but
	// then its own reply, which is the first, differs.
	for i := range min(len(left), len(right)) {
		l, r := left[i], right[i]
		tellsTime := l.what == "reply" && program.Steps[l.of].tellsTime()
		if !same(l.value, r.value, tellsTime, slack) {
			differences = append(differences, Difference{l.what, after, l.of, l.value, r.value, program})
		}
	}
	return differences
}

// compareStreams compares what both servers have sent, or written, since the
// last program.
func (m *match) compareStreams(program Program, where string, left, right []server.Command, slack time.Duration) []Difference {
	i := firstDifference(left, right, slack)
	if i < 0 {
		return nil
	}
	for _, documented := range m.documented {
		if documented.Clean == nil {
			continue
		}
		cleanLeft, cleanRight := documented.Clean(left), documented.Clean(right)
		if firstDifference(cleanLeft, cleanRight, slack) < 0 {
			m.seen.count(documented.Name)
			return nil
		}
	}
	what := fmt.Sprintf("what went to the %s, from command %d on", where, i)
	return []Difference{{What: what, After: len(program.Steps), Left: left[i:], Right: right[i:], program: program}}
}

// undocumented leaves out the differences that are documented. If the sides
// part by one of those, it names the step.
func (m *match) undocumented(differences []Difference) (left []Difference, parts int) {
	parts = -1
	for _, d := range differences {
		documented := m.find(d)
		if documented == nil {
			left = append(left, d)
			continue
		}
		m.seen.count(documented.Name)
		if documented.Parts {
			parts = d.Of
		}
	}
	return left, parts
}

func (m *match) find(d Difference) *Documented {
	for i := range m.documented {
		if covers := m.documented[i].Covers; covers != nil && covers(d) {
			return &m.documented[i]
		}
	}
	return nil
}

// report fails the test, with as few of the program's steps as show differences.
func (m *match) report(program Program, differences []Difference) {
	m.seen = nil
	attempts := 0
	shrunk := shrink(program, func(p Program) bool {
		if attempts++; attempts > 1000 {
			return false
		}
		found := m.play(p)
		if found != nil {
			differences = found
		}
		return found != nil
	})
	var report strings.Builder
	fmt.Fprintf(&report, "-differential.seed=%d, of whose %d steps these show a difference:\n\n%s", program.Seed, len(program.Steps), shrunk)
	for _, d := range differences {
		fmt.Fprintf(&report, "\n%s, after step %d:\n%10s: %v\n%10s: %v\n", d.What, d.After, m.left.Name, d.Left, m.right.Name, d.Right)
	}
	m.t.Fatal(report.String())
}
