// Command faults is never run. Each of its functions breaks a rule that
// decisions keep, so that a test can see whether it would be noticed.
package main

import "goblin/module"

var (
	verdicts []module.Verdict
	rule     func(*module.Request) module.Verdict
	last     *module.Request
	text     string
	counts   map[string]module.Verdict
)

//go:nosplit
func index(r *module.Request) module.Verdict { return verdicts[r.Ms] }

//go:nosplit
func divide(r *module.Request) module.Verdict { return module.Verdict(r.Ms / r.Now) }

//go:nosplit
func allocate(r *module.Request) module.Verdict {
	verdicts = make([]module.Verdict, r.Ms)
	return module.Missing
}

//go:nosplit
func store(r *module.Request) module.Verdict {
	last = r
	return module.Missing
}

//go:nosplit
func concatenate(r *module.Request) module.Verdict {
	text = r.Held + r.Expected
	return module.Missing
}

//go:nosplit
func lookUp(r *module.Request) module.Verdict { return counts[r.Held] }

//go:nosplit
func callValue(r *module.Request) module.Verdict { return rule(r) }

//go:nosplit
func callDeeply(r *module.Request) module.Verdict { return hidden(r) }

//go:noinline
//go:nosplit
func hidden(r *module.Request) module.Verdict { return index(r) }

func grow(r *module.Request) module.Verdict {
	var frame [4096]byte
	copy(frame[:], r.Held)
	return module.Verdict(frame[r.Ms&4095])
}

func main() {
	for _, fault := range []func(*module.Request) module.Verdict{
		index, divide, allocate, store, concatenate, lookUp, callValue, callDeeply, grow,
	} {
		fault(last)
	}
}
