//go:build (amd64 || arm64) && !race && !asan && !msan && !goblin_export

package main

// #include "bridge.h"
//
// static inline void set_enter(uintptr_t address) {
//     bridge_enter = (int64_t (*)(uintptr_t, struct request *))address;
// }
import "C"

import (
	"reflect"

	"goblin/cgo/entry"
	"goblin/module"
)

// enter has the bridge call decisions directly, on the server's own stack: the
// Go runtime takes no part in it, and so costs nothing where it has gone to
// sleep between two calls. Package entry says what that asks of a decision.
func enter() { C.set_enter(C.uintptr_t(entry.Address())) }

// decision names a decision by the address of its code.
func decision(_ int, command module.Command) C.uintptr_t {
	return C.uintptr_t(reflect.ValueOf(command.Decide).Pointer())
}
