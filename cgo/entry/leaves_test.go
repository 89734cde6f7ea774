//go:build amd64 || arm64

package entry

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"goblin/module"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// leaves are what a decision may call outside its own package: assembly that
// cares neither about a goroutine nor about the size of the stack, and calls
// nothing that does.
var leaves = map[string]bool{
	"runtime.memequal": true, // compares strings
}

// TestLeaves follows the compiled code of each decision, through every branch
// and call, to see that it needs nothing but a stack. That this need not be a
// big one, the linker sees to: it refuses functions marked go:nosplit that take
// more than some 800 bytes in all, and others look for their goroutine's limit.
func TestLeaves(t *testing.T) {
	require.NotZero(t, Address())
	for _, machine := range machines {
		t.Run(machine.goarch, func(t *testing.T) {
			t.Parallel()
			library := open(t, machine, buildLibrary(t, machine))
			require.NotZero(t, library.functions["enter"], "the library does not call decisions directly")
			for _, command := range module.Commands() {
				decision := runtime.FuncForPC(reflect.ValueOf(command.Decide).Pointer()).Name()
				assert.Empty(t, faults(t, library, decision))
			}
		})
	}
}

// TestFaults shows that TestLeaves would notice what it is there to notice.
func TestFaults(t *testing.T) {
	for _, machine := range machines {
		t.Run(machine.goarch, func(t *testing.T) {
			t.Parallel()
			program := open(t, machine, build(t, machine, []string{"CGO_ENABLED=0"}, "build", "-buildmode=pie", "./testdata/faults"))
			for fault, function := range map[string]string{
				"main.index → runtime.panicBounds, which is no leaf":                    "main.index",
				"main.divide → runtime.panicdivide, which is no leaf":                   "main.divide",
				"main.allocate → runtime.makeslice, which is no leaf":                   "main.allocate",
				"main.concatenate → runtime.concatstring2, which is no leaf":            "main.concatenate",
				"main.lookUp → runtime.mapaccess1_faststr, which is no leaf":            "main.lookUp",
				"main.store → runtime.gcWriteBarrier2, which is no leaf":                "main.store",
				"main.callDeeply → main.hidden → runtime.panicBounds, which is no leaf": "main.callDeeply",
				"main.grow → runtime.morestack_noctxt.abi0, which is no leaf":           "main.grow",
				"asks for the goroutine":                                                "main.grow",
				"may lead anywhere":                                                     "main.callValue",
			} {
				assert.Contains(t, strings.Join(faults(t, program, function), "\n"), fault)
			}
		})
	}
}

// faults lists what a function does, itself or through others of its package,
// that no leaf may do.
func faults(t *testing.T, o object, function string) (faults []string) {
	require.NotZero(t, o.functions[function], "no function %s", function)
	seen := map[uint64]bool{}

	var follow func(pc uint64, path []string)
	follow = func(pc uint64, path []string) {
		for !seen[pc] {
			here := o.functionAt(pc)
			if leaves[here] {
				return
			}
			if here != path[len(path)-1] {
				path = append(slices.Clip(path), here)
			}
			fault := func(format string, args ...any) {
				faults = append(faults, strings.Join(path, " → ")+fmt.Sprintf(format, args...))
			}
			if packageOf(here) != packageOf(function) {
				fault(", which is no leaf")
				return
			}

			seen[pc] = true
			instruction, err := o.instructionAt(pc)
			if err != nil {
				fault(" holds what is no instruction, at %#x: %v", pc, err)
				return
			}
			if o.goroutine.MatchString(instruction.text) {
				fault(": %s asks for the goroutine", instruction.text)
			}
			if instruction.computed {
				fault(": %s may lead anywhere", instruction.text)
			}
			if instruction.branches {
				follow(instruction.target, path)
			}
			if instruction.final {
				return
			}
			pc += instruction.size
		}
	}
	follow(o.functions[function], []string{function})
	return faults
}

// packageOf is the package that a function, as named by a symbol, belongs to.
func packageOf(function string) string {
	slash := strings.LastIndex(function, "/") + 1
	name, _, _ := strings.Cut(function[slash:], ".")
	return function[:slash] + name
}
