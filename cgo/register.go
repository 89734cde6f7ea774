package main

/*
#include "bridge.h"

static inline int create(RedisModuleCtx *ctx, const struct command *command, const char *flags) {
    return RedisModule_CreateCommand(ctx, command->name, bridge_function(command), flags, 1, command->keys, 1);
}

static inline RedisModuleCommand *get(RedisModuleCtx *ctx, const struct command *command) {
    return RedisModule_GetCommand ? RedisModule_GetCommand(ctx, command->name) : NULL;
}

static inline int set_categories(RedisModuleCommand *command, const char *categories) {
    return RedisModule_SetCommandACLCategories ? RedisModule_SetCommandACLCategories(command, categories)
                                               : REDISMODULE_OK;
}

// The server copies all of it.
static inline int set_info(RedisModuleCommand *command, const char *summary, const char *complexity, const char *since,
                    int arity, int key_count, uint64_t key_flags, RedisModuleCommandArg *args) {
    static const RedisModuleCommandInfoVersion version = {
        1, sizeof(RedisModuleCommandHistoryEntry), sizeof(RedisModuleCommandKeySpec), sizeof(RedisModuleCommandArg)};
    RedisModuleCommandKeySpec keys[2] = {{
        .flags = key_flags,
        .begin_search_type = REDISMODULE_KSPEC_BS_INDEX,
        .bs.index.pos = 1,
        .find_keys_type = REDISMODULE_KSPEC_FK_RANGE,
        .fk.range = {key_count - 1, 1, 0},
    }};
    RedisModuleCommandInfo info = {
        .version = &version,
        .summary = summary,
        .complexity = complexity,
        .since = since,
        .arity = arity,
        .key_specs = keys,
        .args = args,
    };
    return RedisModule_SetCommandInfo ? RedisModule_SetCommandInfo(command, &info) : REDISMODULE_OK;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"goblin/module"
)

// register tells the server and the bridge of the i-th command.
func register(ctx *C.RedisModuleCtx, i int, command module.Command) error {
	c := C.bridge_command(C.int(i))
	if c == nil {
		return errors.New("the bridge has no slot left for it")
	}
	*c = C.struct_command{
		name:     constant(command.Name),
		arity:    C.int(command.Arity()),
		keys:     C.int(command.Position(module.KeyArg)),
		expected: C.int(command.Position(module.StringArg)),
		ms:       C.int(command.Position(module.IntegerArg)),
		decide:   decision(i, command),
		hit:      constant(command.Hit),
	}
	for v := range module.Verdicts {
		if text := command.Error(v); text != "" {
			c.errors[v] = constant(text)
		}
	}
	for _, effect := range command.Effects {
		if C.bridge_knows(ctx, constant(effect)) == 0 {
			c.unavailable = 1
			log(ctx, "warning", fmt.Sprintf("every call of %s will be refused: this server has no command %s", command.Name, effect))
		}
	}

	if C.create(ctx, c, constant(command.Flags)) != C.REDISMODULE_OK {
		return errors.New("the server refused the command: has it one of this name?")
	}
	server := C.get(ctx, c)
	if server == nil { // before 7.0
		return nil
	}
	args := make([]C.RedisModuleCommandArg, len(command.Args)+1)
	for i, arg := range command.Args {
		args[i] = C.RedisModuleCommandArg{name: constant(arg.Name), _type: C.RedisModuleCommandArgType(arg.Type), key_spec_index: -1}
		if arg.Type == module.KeyArg {
			args[i].key_spec_index = 0
		}
	}
	if C.set_info(server, constant(command.Summary), constant(command.Complexity), constant(command.Since),
		c.arity, c.keys, C.uint64_t(command.Keys), unsafe.SliceData(args)) != C.REDISMODULE_OK {
		return errors.New("the server refused its description")
	}
	if C.set_categories(server, constant(module.ACLCategories)) != C.REDISMODULE_OK {
		return errors.New("the server refused its ACL categories")
	}
	return nil
}
