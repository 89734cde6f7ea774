/* INFO goblin. It stays in C, because the server also asks for it while it
 * reports a crash and in forked children, where Go cannot be entered. */

#include <stdio.h>
#include <string.h>

#include "bridge.h"

static void field(RedisModuleInfoCtx *ctx, const struct command *command, const char *outcome, unsigned long long n) {
    char name[64];

    /* The server puts "goblin_" in front. */
    snprintf(name, sizeof name, "%s_%s", strchr(command->name, '.') + 1, outcome);
    RedisModule_InfoAddFieldULongLong(ctx, name, n);
}

void bridge_info(RedisModuleInfoCtx *ctx, int for_crash_report) {
    const struct command *command;
    int i, verdict;

    (void)for_crash_report;
    RedisModule_InfoAddSection(ctx, "");
    for (i = 0; (command = bridge_command(i)) != NULL && command->name != NULL; i++) {
        unsigned long long refused = 0;
        for (verdict = 0; verdict < VERDICTS; verdict++)
            if (command->errors[verdict] != NULL) refused += command->calls[verdict];
        field(ctx, command, command->hit, command->calls[RENEW] + command->calls[REMOVE] + command->calls[OWN] +
                                          command->calls[DELEGATE]);
        field(ctx, command, "mismatched", command->calls[MISMATCHED]);
        field(ctx, command, "missing", command->calls[MISSING]);
        field(ctx, command, "refused", refused);
        if (command->accelerates) field(ctx, command, "accelerated", command->accelerated);
    }
}
