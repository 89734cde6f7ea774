package main

/*
#include <stdlib.h>
#include "bridge.h"

// cgo can neither call a function pointer nor name a C string of the server.
// The first two may be missing.
static inline int is_name_busy(const char *name) {
    return RedisModule_IsModuleNameBusy && RedisModule_IsModuleNameBusy(name);
}
static inline void set_attributes(RedisModuleCtx *ctx, const char *name, int version) {
    if (RedisModule_SetModuleAttribs) RedisModule_SetModuleAttribs(ctx, name, version, REDISMODULE_APIVER_1);
}
static inline const char *string_bytes(RedisModuleString *s, size_t *n) { return RedisModule_StringPtrLen(s, n); }
static inline int register_info(RedisModuleCtx *ctx) { return RedisModule_RegisterInfoFunc(ctx, bridge_info); }
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"goblin/module"
)

// RedisModule_OnLoad is called by the server for each MODULE LOAD, loadmodule
// or --loadmodule. Where it returns an error the server goes on without the
// module, or, while it starts, stops; the log tells why in either case.
//
//export RedisModule_OnLoad
func RedisModule_OnLoad(ctx *C.RedisModuleCtx, argv **C.RedisModuleString, argc C.int) C.int {
	return status(ctx, "not loaded", func() error { return load(ctx, unsafe.Slice(argv, argc)) })
}

// status is what the server is told of an attempt. The log has the reason of one
// that failed.
func status(ctx *C.RedisModuleCtx, failed string, attempt func() error) C.int {
	if err := contained(attempt); err != nil {
		log(ctx, "warning", failed+": "+err.Error())
		return C.REDISMODULE_ERR
	}
	return C.REDISMODULE_OK
}

// contained turns a panic into an error, since nobody else could stop it from
// ending the server.
func contained(attempt func() error) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	return attempt()
}

// load touches nothing before it knows that this is the only instance: a second
// MODULE LOAD runs it in the library that is already at work.
func load(ctx *C.RedisModuleCtx, args []*C.RedisModuleString) error {
	missing := C.bridge_bind(ctx)
	name := constant(module.Name)
	if C.is_name_busy(name) != 0 {
		return errors.New("a module of this name is loaded already")
	}
	C.set_attributes(ctx, name, module.VersionNumber) // without which early releases of 5.0 log nothing
	if missing != nil {
		return fmt.Errorf("this server is too old: it lacks %s", C.GoString(missing))
	}
	var words []string
	for _, arg := range args {
		words = append(words, goString(arg))
	}
	scripts, err := module.Accelerated(words)
	if err != nil {
		return err
	}
	enter()

	var names []string
	for i, command := range module.Commands() {
		if err := register(ctx, i, command); err != nil {
			return fmt.Errorf("%s: %w", command.Name, err)
		}
		names = append(names, command.Name)
	}
	if C.register_info(ctx) != C.REDISMODULE_OK {
		return errors.New("the server took no INFO section")
	}
	if err := accelerate(ctx, scripts); err != nil {
		return err
	}
	log(ctx, "notice", fmt.Sprintf("version %s (%s) provides %s; scripts run as commands: %d",
		module.Version, runtime.Version(), strings.Join(names, ", "), len(scripts)))
	if C.bridge_enabled(ctx, constant("crash-memcheck-enabled")) != 0 {
		log(ctx, "notice", "crash reports will break off where the server tests its memory, "+
			"for which the Go runtime's signal stack is too small: set crash-memcheck-enabled no")
	}
	return nil
}

func log(ctx *C.RedisModuleCtx, level, message string) {
	l, m := C.CString(level), C.CString(message)
	defer C.free(unsafe.Pointer(l))
	defer C.free(unsafe.Pointer(m))
	C.bridge_log(ctx, l, m)
}

func goString(s *C.RedisModuleString) string {
	var n C.size_t
	p := C.string_bytes(s, &n)
	return C.GoStringN(p, C.int(n))
}

// constants holds the C copy of each string that the server or the bridge goes
// on using. They are never freed, but a reload finds them again.
var constants = map[string]*C.char{}

func constant(s string) *C.char {
	if constants[s] == nil {
		constants[s] = C.CString(s)
	}
	return constants[s]
}
