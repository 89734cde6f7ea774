package main

/*
#include "bridge.h"

static inline RedisModuleCallReply *list_clients(RedisModuleCtx *ctx) { return RedisModule_Call(ctx, "CLIENT", "c", "LIST"); }
static inline const char *reply_bytes(RedisModuleCallReply *r, size_t *n) { return RedisModule_CallReplyStringPtr(r, n); }
static inline void free_reply(RedisModuleCallReply *r) { RedisModule_FreeCallReply(r); }
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"

	"goblin/module"
)

// RedisModule_OnUnload is called by the server for MODULE UNLOAD. Where it
// returns an error the module stays, and the log tells why. Else there is
// nothing to undo: the server forgets the commands, and the library stays mapped
// until the server ends.
//
//export RedisModule_OnUnload
func RedisModule_OnUnload(ctx *C.RedisModuleCtx) (status C.int) {
	defer func() {
		if panicked := recover(); panicked != nil {
			status = keep(ctx, fmt.Errorf("panic: %v", panicked))
		}
	}()
	if err := released(ctx); err != nil {
		return keep(ctx, err)
	}
	return C.REDISMODULE_OK
}

func keep(ctx *C.RedisModuleCtx, err error) C.int {
	log(ctx, "warning", "not unloaded: "+err.Error())
	return C.REDISMODULE_ERR
}

// released tells whether no client refers to a command of the module. The server
// frees them all the same, and crashes where it then runs one that was queued in
// MULTI or postponed by CLIENT PAUSE, or shows the last one of a client in
// CLIENT LIST (networking.c, catClientInfoString).
func released(ctx *C.RedisModuleCtx) error {
	reply := C.list_clients(ctx)
	if reply == nil {
		return errors.New("this server has no command CLIENT that would tell whether any client refers to the commands")
	}
	defer C.free_reply(reply)
	var n C.size_t
	p := C.reply_bytes(reply, &n)
	queued, last := 0, 0
	for client := range strings.Lines(C.GoStringN(p, C.int(n))) {
		for field := range strings.FieldsSeq(client) {
			switch name, value, _ := strings.Cut(field, "="); {
			case name == "multi" && value != "-1" && value != "0":
				queued++
			case name == "cmd" && strings.HasPrefix(value, module.Name+"."):
				last++
			}
		}
	}
	if queued+last > 0 {
		return fmt.Errorf("the server would go on using what it frees, for %d clients that called a command of the module last, "+
			"and %d that have calls queued: let them go on or disconnect them first, or restart the server", last, queued)
	}
	return nil
}
