//go:build !(amd64 || arm64) || race || asan || msan || goblin_export

package main

// #include "bridge.h"
//
// extern int64_t bridge_decide(uintptr_t decide, struct request *request);
import "C"

import (
	"fmt"
	"unsafe"

	"goblin/module"
)

// decisions are the functions that the bridge asks for by number.
var decisions []func(*module.Request) module.Verdict

// enter has the bridge call decisions through an exported function, the way
// that works on every architecture and in instrumented builds. It has to win
// the Go scheduler's consent at each call, which takes some 40 µs where the
// scheduler has gone to sleep.
func enter() {
	decisions = nil
	for _, command := range module.Commands() {
		decisions = append(decisions, command.Decide)
	}
	C.bridge_enter = (*[0]byte)(C.bridge_decide)
}

// decision names a decision by its place in the list of commands.
func decision(i int, _ module.Command) C.uintptr_t { return C.uintptr_t(i) }

// bridge_decide turns a panic into a verdict, since nobody else could stop it
// from ending the server.
//
//export bridge_decide
func bridge_decide(i C.uintptr_t, request *C.struct_request) (verdict C.int64_t) {
	defer func() {
		if panicked := recover(); panicked != nil {
			log(nil, "warning", fmt.Sprintf("panic in a decision: %v", panicked))
			verdict = C.PANICKED
		}
	}()
	return C.int64_t(decisions[i]((*module.Request)(unsafe.Pointer(request))))
}
