/* What Goblin asks of the server: the part of the Redis Modules API that it
 * calls. Names, signatures and order are those of the redismodule.h that ships
 * with the servers, so that the two can be held against each other line by
 * line. Valkey and Redict provide the API under the same names. */

#ifndef REDISMODULE_H
#define REDISMODULE_H

#include <stddef.h>
#include <stdint.h>

#define REDISMODULE_OK 0
#define REDISMODULE_ERR 1

#define REDISMODULE_APIVER_1 1

/* Modes of OpenKey. */
#define REDISMODULE_READ (1 << 0)
#define REDISMODULE_WRITE (1 << 1)
#define REDISMODULE_OPEN_KEY_NOTOUCH (1 << 16)

/* Results of KeyType. */
#define REDISMODULE_KEYTYPE_EMPTY 0
#define REDISMODULE_KEYTYPE_STRING 1

/* Results of GetExpire and GetAbsExpire. */
#define REDISMODULE_NO_EXPIRE (-1)

/* Results of GetContextFlags. */
#define REDISMODULE_CTX_FLAGS_LUA (1 << 0)
#define REDISMODULE_CTX_FLAGS_SLAVE (1 << 3)

/* Flags of RegisterCommandFilter. */
#define REDISMODULE_CMDFILTER_NOSELF (1 << 0) /* not for what the module itself calls */

/* Classes of keyspace events. */
#define REDISMODULE_NOTIFY_GENERIC (1 << 2)

typedef long long mstime_t; /* milliseconds */

typedef struct RedisModuleCtx RedisModuleCtx;
typedef struct RedisModuleCommand RedisModuleCommand;
typedef struct RedisModuleKey RedisModuleKey;
typedef struct RedisModuleString RedisModuleString;
typedef struct RedisModuleCallReply RedisModuleCallReply;
typedef struct RedisModuleInfoCtx RedisModuleInfoCtx;
typedef struct RedisModuleCommandFilterCtx RedisModuleCommandFilterCtx;
typedef struct RedisModuleCommandFilter RedisModuleCommandFilter;

typedef int (*RedisModuleCmdFunc)(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
typedef void (*RedisModuleCommandFilterFunc)(RedisModuleCommandFilterCtx *filter);
typedef void (*RedisModuleInfoFunc)(RedisModuleInfoCtx *ctx, int for_crash_report);

/* What SetCommandInfo takes (7.0). Its arrays end with a zeroed element. The
 * server steps through them by the sizes given in the version. */

typedef struct {
    int version;
    size_t sizeof_historyentry;
    size_t sizeof_keyspec;
    size_t sizeof_arg;
} RedisModuleCommandInfoVersion;

typedef struct {
    const char *since;
    const char *changes;
} RedisModuleCommandHistoryEntry;

typedef enum {
    REDISMODULE_KSPEC_BS_INVALID = 0,
    REDISMODULE_KSPEC_BS_UNKNOWN,
    REDISMODULE_KSPEC_BS_INDEX,
    REDISMODULE_KSPEC_BS_KEYWORD
} RedisModuleKeySpecBeginSearchType;

typedef enum {
    REDISMODULE_KSPEC_FK_OMITTED = 0,
    REDISMODULE_KSPEC_FK_UNKNOWN,
    REDISMODULE_KSPEC_FK_RANGE,
    REDISMODULE_KSPEC_FK_KEYNUM
} RedisModuleKeySpecFindKeysType;

#define REDISMODULE_CMD_KEY_RW (1ULL << 1)
#define REDISMODULE_CMD_KEY_ACCESS (1ULL << 4)
#define REDISMODULE_CMD_KEY_UPDATE (1ULL << 5)
#define REDISMODULE_CMD_KEY_DELETE (1ULL << 7)

typedef struct {
    const char *notes;
    uint64_t flags;
    RedisModuleKeySpecBeginSearchType begin_search_type;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int startfrom;
        } keyword;
    } bs;
    RedisModuleKeySpecFindKeysType find_keys_type;
    union {
        struct {
            int lastkey;
            int keystep;
            int limit;
        } range;
        struct {
            int keynumidx;
            int firstkey;
            int keystep;
        } keynum;
    } fk;
} RedisModuleCommandKeySpec;

typedef enum {
    REDISMODULE_ARG_TYPE_STRING = 0,
    REDISMODULE_ARG_TYPE_INTEGER,
    REDISMODULE_ARG_TYPE_DOUBLE,
    REDISMODULE_ARG_TYPE_KEY
} RedisModuleCommandArgType;

typedef struct RedisModuleCommandArg {
    const char *name;
    RedisModuleCommandArgType type;
    int key_spec_index; /* -1 where the argument is no key */
    const char *token;
    const char *summary;
    const char *since;
    int flags;
    const char *deprecated_since;
    struct RedisModuleCommandArg *subargs;
    const char *display_text; /* 7.2; 7.0 accepts an array whose elements are this long */
} RedisModuleCommandArg;

typedef struct {
    const RedisModuleCommandInfoVersion *version;
    const char *summary;
    const char *complexity;
    const char *since;
    RedisModuleCommandHistoryEntry *history;
    const char *tips;
    int arity;
    RedisModuleCommandKeySpec *key_specs;
    RedisModuleCommandArg *args;
} RedisModuleCommandInfo;

/* The functions. A server that lacks a required one cannot run Goblin; an
 * optional one is NULL where the server lacks it. */
#define REDISMODULE_FUNCTIONS(required, optional) \
    required(int, CreateCommand, (RedisModuleCtx *ctx, const char *name, RedisModuleCmdFunc cmdfunc, const char *strflags, int firstkey, int lastkey, int keystep)) \
    optional(RedisModuleCommand *, GetCommand, (RedisModuleCtx *ctx, const char *name)) \
    optional(int, SetCommandInfo, (RedisModuleCommand *command, const RedisModuleCommandInfo *info)) \
    optional(int, SetCommandACLCategories, (RedisModuleCommand *command, const char *ctgrsflags)) \
    required(void, SetModuleAttribs, (RedisModuleCtx *ctx, const char *name, int ver, int apiver)) \
    required(int, IsModuleNameBusy, (const char *name)) \
    required(int, WrongArity, (RedisModuleCtx *ctx)) \
    required(int, ReplyWithLongLong, (RedisModuleCtx *ctx, long long ll)) \
    required(RedisModuleKey *, OpenKey, (RedisModuleCtx *ctx, RedisModuleString *keyname, int mode)) \
    required(void, CloseKey, (RedisModuleKey *kp)) \
    required(int, KeyType, (RedisModuleKey *kp)) \
    required(size_t, ValueLength, (RedisModuleKey *kp)) \
    required(RedisModuleCallReply *, Call, (RedisModuleCtx *ctx, const char *cmdname, const char *fmt, ...)) \
    required(void, FreeCallReply, (RedisModuleCallReply *reply)) \
    required(size_t, CallReplyLength, (RedisModuleCallReply *reply)) \
    required(RedisModuleCallReply *, CallReplyArrayElement, (RedisModuleCallReply *reply, size_t idx)) \
    required(RedisModuleString *, CreateString, (RedisModuleCtx *ctx, const char *ptr, size_t len)) \
    required(const char *, StringPtrLen, (const RedisModuleString *str, size_t *len)) \
    required(int, ReplyWithError, (RedisModuleCtx *ctx, const char *err)) \
    required(int, ReplyWithCallReply, (RedisModuleCtx *ctx, RedisModuleCallReply *reply)) \
    required(int, StringToLongLong, (const RedisModuleString *str, long long *ll)) \
    required(int, StringCompare, (RedisModuleString *a, RedisModuleString *b)) \
    required(int, Replicate, (RedisModuleCtx *ctx, const char *cmdname, const char *fmt, ...)) \
    required(const char *, CallReplyStringPtr, (RedisModuleCallReply *reply, size_t *len)) \
    required(int, DeleteKey, (RedisModuleKey *key)) \
    required(char *, StringDMA, (RedisModuleKey *key, size_t *len, int mode)) \
    required(mstime_t, GetExpire, (RedisModuleKey *key)) \
    required(int, SetExpire, (RedisModuleKey *key, mstime_t expire)) \
    optional(mstime_t, GetAbsExpire, (RedisModuleKey *key)) \
    required(int, GetContextFlags, (RedisModuleCtx *ctx)) \
    required(int, GetClientInfoById, (void *ci, uint64_t id)) \
    required(void, Log, (RedisModuleCtx *ctx, const char *level, const char *fmt, ...)) \
    required(mstime_t, Milliseconds, (void)) \
    required(int, RegisterInfoFunc, (RedisModuleCtx *ctx, RedisModuleInfoFunc cb)) \
    required(int, InfoAddSection, (RedisModuleInfoCtx *ctx, const char *name)) \
    required(int, InfoAddFieldULongLong, (RedisModuleInfoCtx *ctx, const char *field, unsigned long long value)) \
    required(int, NotifyKeyspaceEvent, (RedisModuleCtx *ctx, int type, const char *event, RedisModuleString *key)) \
    required(RedisModuleCommandFilter *, RegisterCommandFilter, (RedisModuleCtx *ctx, RedisModuleCommandFilterFunc cb, int flags)) \
    required(int, CommandFilterArgsCount, (RedisModuleCommandFilterCtx *fctx)) \
    required(RedisModuleString *, CommandFilterArgGet, (RedisModuleCommandFilterCtx *fctx, int pos)) \
    required(int, CommandFilterArgReplace, (RedisModuleCommandFilterCtx *fctx, int pos, RedisModuleString *arg)) \
    required(int, CommandFilterArgDelete, (RedisModuleCommandFilterCtx *fctx, int pos)) \
    optional(unsigned long long, CommandFilterGetClientId, (RedisModuleCommandFilterCtx *fctx))

#define REDISMODULE_DECLARE(type, name, parameters) extern type(*RedisModule_##name) parameters;
REDISMODULE_FUNCTIONS(REDISMODULE_DECLARE, REDISMODULE_DECLARE)
#undef REDISMODULE_DECLARE

#endif
