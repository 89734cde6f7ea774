//go:build goblin_stress

package main

import "runtime"

// A build with this file collects garbage all the time, which the module by
// itself hardly ever does: once it is loaded it allocates nothing. So a test
// can see that decisions, entered behind the runtime's back, bear it.
func init() {
	go func() {
		live := make([][]byte, 1000)
		for i := 0; ; i++ {
			live[i%len(live)] = make([]byte, i%10_000)
			if i%100 == 0 {
				runtime.GC()
			}
		}
	}()
}
