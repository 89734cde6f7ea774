/* The server's side of the bridge: what it gathers for a decision, and what Go
 * tells it about a command. Numbers and layouts are those of package module;
 * layout.go asserts that. */

#ifndef BRIDGE_H
#define BRIDGE_H

#include "redismodule.h"

enum verdict {
    MISSING,
    MISMATCHED,
    RENEW,
    REMOVE,
    OWN,
    DELEGATE,
    WRONG_TYPE,
    NOT_INTEGER,
    INVALID_EXPIRE,
    ONE_KEY_TWICE,
    UNAVAILABLE,
    PANICKED,
    VERDICTS
};

/* A Go string. */
struct string {
    const char *p;
    ptrdiff_t n;
};

/* module.Request. Its strings are the server's and are dead once the key is
 * closed or the command has returned. */
struct request {
    long long type;
    struct string held;
    struct string expected;
    long long ms;
    long long ms_valid;
    long long now;
    long long ttl;
    long long same_keys;
};

/* A command. Go fills it in at each load; what it points to is never freed,
 * since the library stays mapped when the module is unloaded. */
struct command {
    const char *name;
    int arity;                      /* words in a call, the name among them */
    int keys;                       /* how many keys it takes, from argv[1] on; the last one holds the token */
    int expected;                   /* where in argv the token is */
    int ms;                         /* where in argv the milliseconds are, 0: it takes none */
    uintptr_t decide;               /* names the decision to bridge_enter */
    const char *errors[VERDICTS];   /* the reply to a refused call, NULL: not a refusal */
    const char *hit;                /* what INFO calls a match */
    int unavailable;                /* refuse every call */
    unsigned long long calls[VERDICTS];
    int accelerates;                /* stands in for scripts */
    unsigned long long accelerated; /* calls of them */
};

/* How a decision is reached: set by Go before the first command is registered. */
extern int64_t (*bridge_enter)(uintptr_t decide, struct request *request);

/* bind.c */
const char *bridge_bind(RedisModuleCtx *ctx);
int bridge_knows(RedisModuleCtx *ctx, const char *command);
int bridge_enabled(RedisModuleCtx *ctx, const char *setting);
void bridge_log(RedisModuleCtx *ctx, const char *level, const char *message);

/* bridge.c */
RedisModuleCmdFunc bridge_function(const struct command *command);
struct command *bridge_command(int i);

/* info.c */
void bridge_info(RedisModuleInfoCtx *ctx, int for_crash_report);

#endif
