package main

/*
#include <stdlib.h>
#include "accelerate.h"

static inline int register_filter(RedisModuleCtx *ctx) {
    return RedisModule_RegisterCommandFilter(ctx, accelerate_filter, REDISMODULE_CMDFILTER_NOSELF) != NULL;
}
*/
import "C"

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"goblin/module"
)

// accelerate has the server run scripts, which are ordered by digest, as the
// commands that stand in for them. It comes last while the module is loaded: a
// server does not forget a filter where the load fails after all.
func accelerate(ctx *C.RedisModuleCtx, scripts []module.Script) error {
	table := (*C.struct_script)(C.calloc(C.size_t(len(scripts)+1), C.sizeof_struct_script))
	commands := module.Commands()
	for i, script := range scripts {
		row := &unsafe.Slice(table, len(scripts))[i]
		if _, err := hex.Decode(unsafe.Slice((*byte)(&row.sha1[0]), len(row.sha1)), []byte(script.SHA1)); err != nil {
			C.free(unsafe.Pointer(table))
			return fmt.Errorf("script %s: %w", script.SHA1, err)
		}
		row.length = C.size_t(script.Length)
		row.surplus = C.int(script.Surplus)
		row.command = C.bridge_command(C.int(slices.IndexFunc(commands, func(c module.Command) bool { return c.Name == script.Command })))
		row.command.accelerates = 1
	}
	// The table belongs to the filter from now on, in place of that of the last load.
	C.accelerate(table, C.size_t(len(scripts)))
	if len(scripts) == 0 {
		return nil
	}
	if C.register_filter(ctx) == 0 {
		return errors.New("the server took no command filter")
	}
	return nil
}
