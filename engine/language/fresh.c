#include "engine/language/fresh.h"

#include <string.h>

enum { BUCKETS = 1024 };

struct entry {
    const char *name;
    uint32_t last; /* number of the last name made from this one */
    struct entry *next;
};

struct fresh_names {
    struct arena *arena;
    struct entry *buckets[BUCKETS];
};

struct fresh_names *fresh_names_new(struct arena *arena)
{
    struct fresh_names *names = ARENA_NEW(arena, struct fresh_names);
    names->arena = arena;
    return names;
}

static struct entry **find(struct fresh_names *names, const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    struct entry **place = &names->buckets[hash % BUCKETS];
    while (*place && strcmp((*place)->name, name) != 0)
        place = &(*place)->next;
    return place;
}

void fresh_names_add(struct fresh_names *names, const char *name)
{
    struct entry **place = find(names, name);
    if (*place)
        return;
    *place = ARENA_NEW(names->arena, struct entry);
    (*place)->name = name;
    (*place)->last = 1;
}

void fresh_names_add_vars(struct fresh_names *names, const struct ast_var *list)
{
    for (; list; list = list->next)
        fresh_names_add(names, list->name);
}

void fresh_names_add_blocks(struct fresh_names *names, const struct ast_function *function)
{
    fresh_names_add(names, "End");
    for (const struct ast_block *block = function->blocks; block; block = block->next)
        fresh_names_add(names, block->name);
}

/* Of a name that was made from another, base_2, that other: the entry that counts. */
static struct entry *origin_of(struct fresh_names *names, const char *name)
{
    size_t end = strlen(name);
    while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    if (name[end] && end > 1 && name[end - 1] == '_') {
        struct entry *origin = *find(names, arena_strndup(names->arena, name, end - 1));
        if (origin)
            return origin;
    }
    return *find(names, name);
}

const char *fresh_name(struct fresh_names *names, const char *base)
{
    enum { NUMBER_DIGITS = 11 }; /* "_" and the number */
    const char *name = base;
    while (*find(names, name)) {
        struct entry *origin = origin_of(names, base);
        name = arena_printf(names->arena, "%.*s_%u", LIMIT_NAME - NUMBER_DIGITS, origin->name,
                            (unsigned)++origin->last);
    }
    fresh_names_add(names, name);
    return name;
}

static void add_function(struct fresh_names *names, const struct ast_function *f)
{
    fresh_names_add(names, f->name);
    fresh_names_add_vars(names, f->locals);
    fresh_names_add_blocks(names, f);
}

struct fresh_names *fresh_names_of(struct arena *arena, const struct ast_kernel *kernel)
{
    struct fresh_names *names = fresh_names_new(arena);
    fresh_names_add(names, kernel->name);
    fresh_names_add_vars(names, kernel->vars);
    add_function(names, kernel->main);
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        add_function(names, f);
    return names;
}
