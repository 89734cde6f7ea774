/* A command filter: the server shows it each command before it looks the
 * command up. An EVALSHA or EVAL of a known script is turned into the command
 * that stands in for it; anything else is left alone, byte for byte. */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "accelerate.h"

enum { LONGEST = 1023 }; /* the longest text of which an EVAL is recognised */

static struct script *table; /* ordered by digest */
static size_t table_count;
static unsigned char lengths[LONGEST + 1]; /* not 0 where a script of this length is known */

/* Takes the scripts over, which are ordered by digest. */
void accelerate(struct script *scripts, size_t count) {
    size_t i;

    free(table);
    table = scripts;
    table_count = count;
    memset(lengths, 0, sizeof lengths);
    for (i = 0; i < count; i++)
        if (scripts[i].length > 0 && scripts[i].length <= LONGEST) lengths[scripts[i].length] = 1;
}

static int compare(const void *digest, const void *script) {
    return memcmp(digest, ((const struct script *)script)->sha1, SHA1_BYTES);
}

static const struct script *find(const unsigned char digest[SHA1_BYTES]) {
    return bsearch(digest, table, table_count, sizeof *table, compare);
}

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 'a' ^ 'A';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Finds a script by its digest in hexadecimal, in either case as EVALSHA takes
 * it. */
static const struct script *find_digest(const char *hex, size_t length) {
    unsigned char digest[SHA1_BYTES];
    size_t i;

    if (length != 2 * SHA1_BYTES) return NULL;
    for (i = 0; i < SHA1_BYTES; i++) {
        int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
        if (high < 0 || low < 0) return NULL;
        digest[i] = (unsigned char)(high << 4 | low);
    }
    return find(digest);
}

/* Finds a script by its text. One whose own length is not known is not found,
 * whatever others are as long. */
static const struct script *find_text(const char *text, size_t length) {
    const struct script *script;
    unsigned char digest[SHA1_BYTES];

    if (length > LONGEST || !lengths[length]) return NULL;
    sha1(text, length, digest);
    script = find(digest);
    return script != NULL && script->length == length ? script : NULL;
}

/* Whether it is a client of a master that sends the command. A script may not
 * call EVAL, and should be told so; on a replica a script that changes nothing
 * is allowed, and a command is not. Commands of a script cannot be told from a
 * client's before 6.2, and those of another module before 7.2. */
static int is_clients(RedisModuleCommandFilterCtx *filter) {
    if (RedisModule_GetContextFlags(NULL) & (REDISMODULE_CTX_FLAGS_LUA | REDISMODULE_CTX_FLAGS_SLAVE)) return 0;
    return RedisModule_CommandFilterGetClientId == NULL ||
           RedisModule_GetClientInfoById(NULL, RedisModule_CommandFilterGetClientId(filter)) == REDISMODULE_OK;
}

/* Whether the command would take these milliseconds. A script looks at them
 * only after a match, the command before: so one that would refuse them, even
 * where there is no key, does not stand in. */
static int takes(const struct command *command, const RedisModuleString *ms) {
    struct request request = {.type = REDISMODULE_KEYTYPE_EMPTY};

    request.ms_valid = RedisModule_StringToLongLong(ms, &request.ms) == REDISMODULE_OK;
    request.now = RedisModule_Milliseconds();
    return bridge_enter(command->decide, &request) == MISSING;
}

/* What a call of a script begins with: its name, the script, the number of
 * keys, a key and a token. A command begins with its name and the key. */
enum { SCRIPT = 1, NUMKEYS, KEY, TOKEN, LEADING = KEY - 1 };

void accelerate_filter(RedisModuleCommandFilterCtx *filter) {
    const struct script *script;
    struct command *command;
    const char *text;
    size_t length;
    int argc, by_digest;

    /* Every command of every client comes by here, and most are shorter. */
    argc = RedisModule_CommandFilterArgsCount(filter);
    if (argc <= TOKEN) return;
    text = RedisModule_StringPtrLen(RedisModule_CommandFilterArgGet(filter, 0), &length);
    if (length == strlen("evalsha") && strncasecmp(text, "evalsha", length) == 0) by_digest = 1;
    else if (length == strlen("eval") && strncasecmp(text, "eval", length) == 0) by_digest = 0;
    else return;

    text = RedisModule_StringPtrLen(RedisModule_CommandFilterArgGet(filter, NUMKEYS), &length);
    if (length != 1 || *text != '1') return;
    text = RedisModule_StringPtrLen(RedisModule_CommandFilterArgGet(filter, SCRIPT), &length);
    script = by_digest ? find_digest(text, length) : find_text(text, length);
    if (script == NULL) return;

    command = script->command;
    if (command->unavailable || argc < command->arity + LEADING || argc > command->arity + LEADING + script->surplus) return;
    if (command->ms && !takes(command, RedisModule_CommandFilterArgGet(filter, command->ms + LEADING))) return;
    if (!is_clients(filter)) return;

    while (argc > command->arity + LEADING) RedisModule_CommandFilterArgDelete(filter, --argc);
    RedisModule_CommandFilterArgDelete(filter, NUMKEYS);
    RedisModule_CommandFilterArgDelete(filter, SCRIPT);
    RedisModule_CommandFilterArgReplace(filter, 0, RedisModule_CreateString(NULL, command->name, strlen(command->name)));
    command->accelerated++;
}
