/* The module's twin, without Go: the same bridge to the server, and so the same
 * calls of it in the same order, but with the decisions in C. What the twin
 * does not cost, Go does. */

#include <string.h>

#include "bridge.h"

static int64_t compare(const struct request *r, int64_t match) {
    if (r->type == REDISMODULE_KEYTYPE_EMPTY) return MISSING;
    if (r->type != REDISMODULE_KEYTYPE_STRING) return WRONG_TYPE;
    if (r->held.n != r->expected.n) return MISMATCHED;
    return memcmp(r->held.p, r->expected.p, (size_t)r->held.n) == 0 ? match : MISMATCHED;
}

static int64_t decide(uintptr_t match, struct request *r) {
    int64_t verdict = compare(r, (int64_t)match);

    if (match != RENEW || verdict == WRONG_TYPE) return verdict;
    if (!r->ms_valid) return NOT_INTEGER;
    if (r->ms > INT64_MAX - r->now) return INVALID_EXPIRE;
    if (verdict == RENEW && (r->ms <= 0 || r->ms > INT64_MAX / 2)) return DELEGATE;
    return verdict;
}

static int create(RedisModuleCtx *ctx, struct command *slot, struct command command) {
    int v;

    for (v = WRONG_TYPE; v < VERDICTS; v++) command.errors[v] = "ERR refused";
    *slot = command;
    return RedisModule_CreateCommand(ctx, command.name, bridge_function(slot), "write fast", 1, 1, 1);
}

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    static const struct command cad = {.name = "twin.cad", .arity = 3, .keys = 1, .expected = 2, .decide = REMOVE};
    static const struct command caexpire = {
        .name = "twin.caexpire", .arity = 4, .keys = 1, .expected = 2, .ms = 3, .decide = RENEW};

    (void)argv;
    (void)argc;
    if (bridge_bind(ctx) != NULL) return REDISMODULE_ERR;
    bridge_enter = decide;
    RedisModule_SetModuleAttribs(ctx, "twin", 1, REDISMODULE_APIVER_1);
    if (create(ctx, bridge_command(0), cad) != REDISMODULE_OK) return REDISMODULE_ERR;
    return create(ctx, bridge_command(1), caexpire);
}
