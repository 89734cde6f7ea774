/* The Modules API of the server that has loaded us. */

#include <errno.h>
#include <string.h>

#include "bridge.h"

#define DEFINE(type, name, parameters) type(*RedisModule_##name) parameters;
REDISMODULE_FUNCTIONS(DEFINE, DEFINE)

/* Looks every function up, and returns the name of a required one that the
 * server lacks, or NULL. The first word of a context is the look-up function,
 * which leaves a pointer alone where it knows no such name. */
const char *bridge_bind(RedisModuleCtx *ctx) {
    int (*find)(const char *, void *) = *(int (**)(const char *, void *))ctx;
    const char *missing = NULL;

#define OPTIONAL(type, name, parameters) find("RedisModule_" #name, &RedisModule_##name);
#define REQUIRED(type, name, parameters)                                                                               \
    if (find("RedisModule_" #name, &RedisModule_##name) != REDISMODULE_OK) missing = "RedisModule_" #name;
    REDISMODULE_FUNCTIONS(REQUIRED, OPTIONAL)
    return missing;
}

/* Whether the server has a command of this name: it may have been renamed. The
 * call itself never runs, as every command that we ask for takes arguments. */
int bridge_knows(RedisModuleCtx *ctx, const char *command) {
    errno = 0;
    return RedisModule_Call(ctx, command, "") != NULL || errno != ENOENT;
}

/* Whether a setting of the server is "yes". It may be unknown to the server, and
 * CONFIG may have been renamed. */
int bridge_enabled(RedisModuleCtx *ctx, const char *setting) {
    RedisModuleCallReply *reply = RedisModule_Call(ctx, "CONFIG", "cc", "GET", setting);
    const char *value;
    size_t length;
    int yes = 0;

    if (reply == NULL) return 0;
    if (RedisModule_CallReplyLength(reply) == 2) { /* its name, and its value */
        value = RedisModule_CallReplyStringPtr(RedisModule_CallReplyArrayElement(reply, 1), &length);
        yes = length == strlen("yes") && memcmp(value, "yes", length) == 0;
    }
    RedisModule_FreeCallReply(reply);
    return yes;
}

void bridge_log(RedisModuleCtx *ctx, const char *level, const char *message) {
    if (RedisModule_Log) RedisModule_Log(ctx, level, "%s", message);
}
