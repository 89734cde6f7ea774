/* Scripts that are run as commands. */

#ifndef ACCELERATE_H
#define ACCELERATE_H

#include "bridge.h"

#define SHA1_BYTES 20

/* A script, and the command that stands in for it. */
struct script {
    unsigned char sha1[SHA1_BYTES];
    size_t length;           /* of its text, 0: not known, so that only EVALSHA is recognised */
    int surplus;             /* how many arguments more than the command's it may be sent */
    struct command *command;
};

/* accelerate.c */
void accelerate(struct script *scripts, size_t count);
void accelerate_filter(RedisModuleCommandFilterCtx *filter);

/* sha1.c */
void sha1(const char *text, size_t length, unsigned char digest[SHA1_BYTES]);

#endif
