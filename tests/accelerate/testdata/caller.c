/* A module with one command: CALLER.CALL command [argument ...] calls another,
 * as modules do, and passes its reply on. */

#include "redismodule.h"

#define DEFINE(type, name, parameters) type(*RedisModule_##name) parameters;
REDISMODULE_FUNCTIONS(DEFINE, DEFINE)

static int call(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    RedisModuleCallReply *reply;
    int status;

    if (argc < 2) return RedisModule_WrongArity(ctx);
    reply = RedisModule_Call(ctx, RedisModule_StringPtrLen(argv[1], NULL), "!v", argv + 2, (size_t)(argc - 2));
    if (reply == NULL) return RedisModule_ReplyWithError(ctx, "ERR not called");
    status = RedisModule_ReplyWithCallReply(ctx, reply);
    RedisModule_FreeCallReply(reply);
    return status;
}

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    int (*find)(const char *, void *) = *(int (**)(const char *, void *))ctx;

    (void)argv, (void)argc;
#define FIND(type, name, parameters) find("RedisModule_" #name, &RedisModule_##name);
    REDISMODULE_FUNCTIONS(FIND, FIND)
    RedisModule_SetModuleAttribs(ctx, "caller", 1, REDISMODULE_APIVER_1);
    return RedisModule_CreateCommand(ctx, "caller.call", call, "write", 2, 2, 1);
}
