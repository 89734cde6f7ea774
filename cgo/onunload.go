package main

/*
#include "bridge.h"

static inline RedisModuleCallReply *list(RedisModuleCtx *ctx, const char *command) {
    return RedisModule_Call(ctx, command, "c", "LIST");
}

// The i-th text of a reply, which is a list of them or a single one; NULL: there is none.
static inline const char *text(RedisModuleCallReply *reply, size_t i, size_t *n) {
    RedisModuleCallReply *element = RedisModule_CallReplyArrayElement(reply, i);

    if (element == NULL && i > 0) return NULL;
    return RedisModule_CallReplyStringPtr(element != NULL ? element : reply, n);
}

static inline void free_reply(RedisModuleCallReply *reply) { RedisModule_FreeCallReply(reply); }
*/
import "C"

import (
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
func RedisModule_OnUnload(ctx *C.RedisModuleCtx) C.int {
	return status(ctx, "not unloaded", func() error { return unused(ctx) })
}

// unused tells whether nothing in the server is seen to refer to a command of the
// module. The server frees them all the same, and can crash where it then runs
// one that was queued in MULTI or postponed by CLIENT PAUSE, shows the last one
// of a client in CLIENT LIST (networking.c, catClientInfoString), or finds that
// an ACL rule names one (acl.c, ACLRecomputeCommandBitsFromCommandRulesAllUsers,
// since 7.2).
func unused(ctx *C.RedisModuleCtx) error {
	clients, err := words(ctx, "CLIENT")
	if err != nil {
		return err
	}
	rules, err := words(ctx, "ACL")
	if err != nil {
		return err
	}
	last, queued, named := 0, 0, 0
	for _, word := range clients {
		switch name, value, _ := strings.Cut(word, "="); {
		case name == "cmd" && strings.HasPrefix(value, module.Name+"."):
			last++
		case name == "multi" && value != "-1" && value != "0":
			queued++
		}
	}
	for _, word := range rules {
		if strings.HasPrefix(strings.TrimLeft(word, "(+-"), module.Name+".") {
			named++
		}
	}
	if last+queued+named == 0 {
		return nil
	}
	return fmt.Errorf("the server would go on using what it frees: %d clients called a command of the module last, "+
		"%d have calls queued, and %d ACL rules name one; see to these first, or restart the server", last, queued, named)
}

// words returns what the server lists.
func words(ctx *C.RedisModuleCtx, command string) (words []string, err error) {
	reply := C.list(ctx, constant(command))
	if reply == nil {
		return nil, fmt.Errorf("this server has no command %s to tell what refers to the commands; restart it", command)
	}
	defer C.free_reply(reply)
	for i := C.size_t(0); ; i++ {
		var n C.size_t
		p := C.text(reply, i, &n)
		if p == nil {
			return words, nil
		}
		words = append(words, strings.Fields(C.GoStringN(p, C.int(n)))...)
	}
}
