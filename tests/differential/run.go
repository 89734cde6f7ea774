package differential

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"
)

var (
	seed  = flag.Uint64("differential.seed", 0, "seed of the first program, 0: any")
	steps = flag.Int("differential.steps", 20_000, "play programs of at least so many steps")
	long  = flag.Duration("differential.for", 0, "play programs for at least so long")
)

// Run plays programs on two sides, and fails the test at the first difference
// that is not documented.
func Run(t testing.TB, left, right Side, documented []Documented) {
	m := newMatch(t, left, right, documented)
	next := *seed
	if next == 0 {
		next = uint64(rand.Uint32()) * 1_000_000
	}
	t.Logf("-differential.seed=%d", next)
	for end := time.Now().Add(*long); m.seen["steps"] < *steps || time.Now().Before(end); next++ {
		program := Generate(next, m.left.server.Program)
		if differences := m.play(program); differences != nil {
			m.report(program, differences)
		}
	}
	m.check()
}
