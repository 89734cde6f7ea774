/* Makes an older server of the one that loads it: loads the library that its
 * first argument names, and has the Modules API lack, for that one, each function
 * that another argument names. */

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef int (*find_function)(const char *name, void *function);

static find_function find;
static const char *(*text)(const void *string, size_t *length);
static void **lacking;
static int lacking_count;

static int find_in_older(const char *name, void *function) {
    int i;

    for (i = 0; i < lacking_count; i++)
        if (strcmp(name, text(lacking[i], NULL)) == 0) return 1;
    return find(name, function);
}

int RedisModule_OnLoad(find_function *ctx, void **argv, int argc) {
    int (*onload)(void *ctx, void **argv, int argc);
    void *library;
    int status;

    find = *ctx; /* the first word of a context */
    find("RedisModule_StringPtrLen", &text);
    library = dlopen(text(argv[0], NULL), RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 1;
    *(void **)&onload = dlsym(library, "RedisModule_OnLoad");
    lacking = argv + 1;
    lacking_count = argc - 1;
    *ctx = find_in_older;
    status = onload(ctx, NULL, 0);
    *ctx = find;
    return status;
}
