/* Gather, decide, apply: what happens when a command is called. */

#include "bridge.h"

int64_t (*bridge_enter)(uintptr_t decide, struct request *request);

/* Fills in the request, and returns the key of the token, to be closed once the
 * request is dealt with. No other key is open by then: to open one may expire
 * it, and who is told of that may change any. */
static RedisModuleKey *gather(const struct command *command, RedisModuleCtx *ctx, RedisModuleString **argv,
                              struct request *request) {
    RedisModuleKey *key;
    size_t length;

    *request = (struct request){.ttl = REDISMODULE_NO_EXPIRE};
    if (command->ms) {
        request->ms_valid = RedisModule_StringToLongLong(argv[command->ms], &request->ms) == REDISMODULE_OK;
        request->now = RedisModule_Milliseconds();
    }
    if (command->keys > 1) {
        /* As TTL does, which leaves the key's age alone. */
        key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ | REDISMODULE_OPEN_KEY_NOTOUCH);
        if (key != NULL) request->ttl = RedisModule_GetExpire(key);
        /* Since 7.2 time stands still in scripts and transactions, and only a
         * key tells which one it is there. Before, scripts go on seeing a key
         * whose time has come, and of which nothing can be told from its 0. */
        if (request->ttl > 0 && RedisModule_GetAbsExpire != NULL)
            request->now = RedisModule_GetAbsExpire(key) - request->ttl;
        RedisModule_CloseKey(key);
        request->same_keys = RedisModule_StringCompare(argv[1], argv[2]) == 0;
    }
    request->expected.p = RedisModule_StringPtrLen(argv[command->expected], &length);
    request->expected.n = (ptrdiff_t)length;

    /* A key opened for READ counts a hit or a miss and is touched, as by GET.
     * WRITE would abort other clients' WATCH even where nothing changes. */
    key = RedisModule_OpenKey(ctx, argv[command->keys], REDISMODULE_READ);
    request->type = RedisModule_KeyType(key);
    if (request->type == REDISMODULE_KEYTYPE_STRING) {
        request->held.n = (ptrdiff_t)RedisModule_ValueLength(key);
        /* StringDMA turns an embedded or integer value into a raw one, so it is
         * asked for the bytes only where they can make a difference. */
        if (request->held.n == request->expected.n)
            request->held.p = RedisModule_StringDMA(key, &length, REDISMODULE_READ);
    }
    return key;
}

static void replicated(RedisModuleCtx *ctx, int status) {
    /* Known at load to be possible, so this says that the server has changed. */
    if (status != REDISMODULE_OK)
        RedisModule_Log(ctx, "warning", "a change was NOT sent to replicas and AOF");
}

static void drop(RedisModuleCallReply *reply) {
    if (reply != NULL) RedisModule_FreeCallReply(reply);
}

/* Each of what follows replies, and returns what has come of the verdict. */

static int64_t refuse(const struct command *command, RedisModuleCtx *ctx, int64_t verdict) {
    RedisModule_ReplyWithError(ctx, command->errors[verdict]);
    return verdict;
}

/* Passes a core command's reply on. It is NULL where the server refuses to run
 * it, as in a cluster while the key's slot is on its way to another node. */
static int64_t pass_on(const struct command *command, RedisModuleCtx *ctx, RedisModuleCallReply *reply, int64_t verdict) {
    if (reply == NULL) return refuse(command, ctx, UNAVAILABLE);
    RedisModule_ReplyWithCallReply(ctx, reply);
    RedisModule_FreeCallReply(reply);
    return verdict;
}

/* Lets PEXPIRE do it. No key may be open: PEXPIRE can free what one refers to. */
static int64_t delegate(const struct command *command, RedisModuleCtx *ctx, RedisModuleString **argv) {
    int i;

    for (i = command->keys; i > 1; i--) drop(RedisModule_Call(ctx, "PEXPIRE", "!ss", argv[i], argv[command->ms]));
    return pass_on(command, ctx, RedisModule_Call(ctx, "PEXPIRE", "!ss", argv[1], argv[command->ms]), DELEGATE);
}

/* Lets core commands do it, with the one deadline: replicas get them as one
 * transaction. */
static int64_t own(const struct command *command, RedisModuleCtx *ctx, RedisModuleString **argv,
                   const struct request *request) {
    RedisModuleString *owner = argv[command->keys];
    long long deadline = request->now + request->ms;
    RedisModuleCallReply *reply = RedisModule_Call(ctx, "SET", "!ss", owner, argv[command->expected]);

    /* It may create the key. What comes after changes keys that are there. */
    if (reply == NULL) return refuse(command, ctx, UNAVAILABLE);
    drop(reply);
    drop(RedisModule_Call(ctx, "PEXPIREAT", "!sl", owner, deadline));
    return pass_on(command, ctx, RedisModule_Call(ctx, "PEXPIREAT", "!sl", argv[1], deadline), OWN);
}

static int64_t renew(const struct command *command, RedisModuleCtx *ctx, RedisModuleString **argv, long long ms) {
    mstime_t deadline = REDISMODULE_NO_EXPIRE;
    RedisModuleKey *key;

    /* Without the deadline there is nothing absolute to replicate (6.0). */
    if (RedisModule_GetAbsExpire == NULL) return delegate(command, ctx, argv);
    key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE);
    if (RedisModule_SetExpire(key, ms) == REDISMODULE_OK) deadline = RedisModule_GetAbsExpire(key);
    RedisModule_CloseKey(key);
    if (deadline == REDISMODULE_NO_EXPIRE) return delegate(command, ctx, argv);
    replicated(ctx, RedisModule_Replicate(ctx, "pexpireat", "sl", argv[1], deadline));
    RedisModule_NotifyKeyspaceEvent(ctx, REDISMODULE_NOTIFY_GENERIC, "expire", argv[1]);
    RedisModule_ReplyWithLongLong(ctx, 1);
    return RENEW;
}

static int64_t delete(RedisModuleCtx *ctx, RedisModuleString **argv) {
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE);

    RedisModule_DeleteKey(key);
    RedisModule_CloseKey(key);
    replicated(ctx, RedisModule_Replicate(ctx, "del", "s", argv[1]));
    RedisModule_NotifyKeyspaceEvent(ctx, REDISMODULE_NOTIFY_GENERIC, "del", argv[1]);
    RedisModule_ReplyWithLongLong(ctx, 1);
    return REMOVE;
}

static int call(struct command *command, RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    int64_t verdict = UNAVAILABLE;
    struct request request;

    if (argc != command->arity) return RedisModule_WrongArity(ctx);
    if (!command->unavailable) {
        RedisModuleKey *key = gather(command, ctx, argv, &request);
        verdict = bridge_enter(command->decide, &request);
        RedisModule_CloseKey(key);
    }

    switch (verdict) {
    case MISSING:
    case MISMATCHED: RedisModule_ReplyWithLongLong(ctx, 0); break;
    case RENEW: verdict = renew(command, ctx, argv, request.ms); break;
    case REMOVE: verdict = delete(ctx, argv); break;
    case OWN: verdict = own(command, ctx, argv, &request); break;
    case DELEGATE: verdict = delegate(command, ctx, argv); break;
    default: refuse(command, ctx, verdict);
    }
    command->calls[verdict]++;
    return REDISMODULE_OK;
}

/* The server tells a command function neither which command it was registered
 * for nor any data of ours, so each command is given a function of its own. */

#define SLOTS(slot) slot(0) slot(1) slot(2) slot(3) slot(4) slot(5) slot(6) slot(7)

#define COUNT(n) +1
static struct command commands[SLOTS(COUNT)];

#define DEFINE(n)                                                                                                      \
    static int call##n(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {                                      \
        return call(&commands[n], ctx, argv, argc);                                                                    \
    }
SLOTS(DEFINE)

struct command *bridge_command(int i) {
    return i < (int)(sizeof commands / sizeof *commands) ? &commands[i] : NULL;
}

RedisModuleCmdFunc bridge_function(const struct command *command) {
#define NAME(n) call##n,
    static const RedisModuleCmdFunc functions[] = {SLOTS(NAME)};
    return functions[command - commands];
}
