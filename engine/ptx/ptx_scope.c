#include "engine/ptx/ptx_scope.h"

#include "engine/base/invariant.h"

#include <string.h>

enum { FIRST_CAPACITY = 256, DIGITS_MAX = 8 };

void ptx_scopes_init(struct ptx_scopes *scopes, struct arena *arena)
{
    *scopes = (struct ptx_scopes){.arena = arena, .capacity = FIRST_CAPACITY};
    scopes->entries = ARENA_ARRAY(arena, struct ptx_entry, FIRST_CAPACITY);
}

/* FNV-1a. */
static uint32_t hash_bytes(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

static struct ptx_entry *find_place(const struct ptx_scopes *s, const char *text, size_t length)
{
    uint32_t at = hash_bytes(text, length) & (s->capacity - 1);
    while (s->entries[at].name &&
           (s->entries[at].length != length || memcmp(s->entries[at].name, text, length) != 0))
        at = (at + 1) & (s->capacity - 1);
    return &s->entries[at];
}

/* Bindings point to entries, and move with them. */
static void grow(struct ptx_scopes *s)
{
    struct ptx_entry *old = s->entries;
    uint32_t capacity = s->capacity;
    s->capacity *= 2;
    s->entries = ARENA_ARRAY(s->arena, struct ptx_entry, s->capacity);
    for (uint32_t i = 0; i < capacity; i++) {
        if (!old[i].name)
            continue;
        struct ptx_entry *entry = find_place(s, old[i].name, old[i].length);
        *entry = old[i];
        for (struct ptx_binding *b = entry->single; b; b = b->hidden)
            b->entry = entry;
        for (struct ptx_binding *b = entry->range; b; b = b->hidden)
            b->entry = entry;
    }
}

struct ptx_entry *ptx_scope_entry(struct ptx_scopes *s, const char *name)
{
    size_t length = strlen(name);
    if (s->count * 2 >= s->capacity)
        grow(s);
    struct ptx_entry *entry = find_place(s, name, length);
    if (!entry->name) {
        entry->name = name;
        entry->length = length;
        s->count++;
    }
    return entry;
}

void ptx_scope_open(struct ptx_scopes *s)
{
    s->depth++;
    INVARIANT(s->depth < sizeof s->declared / sizeof s->declared[0]);
    s->declared[s->depth] = NULL;
}

struct ptx_binding *ptx_scope_declare(struct ptx_scopes *s, const char *name,
                                      const struct ptx_binding *binding)
{
    struct ptx_entry *entry = ptx_scope_entry(s, name);
    struct ptx_binding **place = binding->is_range ? &entry->range : &entry->single;
    if (*place && (*place)->depth == s->depth)
        return *place;
    struct ptx_binding *b = ARENA_NEW(s->arena, struct ptx_binding);
    *b = *binding;
    b->entry = entry;
    b->depth = s->depth;
    b->hidden = *place;
    b->earlier = s->declared[s->depth];
    s->declared[s->depth] = b;
    *place = b;
    return NULL;
}

/* The innermost range, its prefix shorter than `below` bytes, that covers name: each split into a
 * prefix and a number without a leading 0. */
static const struct ptx_binding *find_range_below(const struct ptx_scopes *s, const char *name,
                                                  size_t length, size_t below, uint32_t *index)
{
    const struct ptx_binding *best = NULL;
    uint64_t value = 0, weight = 1;
    for (size_t n = 1; n < length && n <= DIGITS_MAX; n++, weight *= 10) {
        char digit = name[length - n];
        if (digit < '0' || digit > '9')
            break;
        value += weight * (uint64_t)(digit - '0');
        if ((digit == '0' && n > 1) || length - n >= below)
            continue;
        const struct ptx_entry *entry = find_place(s, name, length - n);
        const struct ptx_binding *b = entry->name ? entry->range : NULL;
        while (b && value >= b->target.variable->count) /* a shorter one hides only what it has */
            b = b->hidden;
        if (b && (!best || b->depth > best->depth)) {
            best = b;
            *index = (uint32_t)value;
        }
    }
    return best;
}

const struct ptx_binding *ptx_scope_find(struct ptx_scopes *s, const char *name, uint32_t *index)
{
    size_t length = strlen(name);
    const struct ptx_entry *entry = find_place(s, name, length);
    const struct ptx_binding *single = entry->name ? entry->single : NULL;
    *index = 0;
    if (single && single->depth == s->depth)
        return single;
    const struct ptx_binding *range = find_range_below(s, name, length, length, index);
    if (!range || (single && single->depth >= range->depth)) {
        *index = 0;
        return single;
    }
    return range;
}

/* Another range of the scope that covers a register of b: a single one, or the first of a range
 * (%r1<5> beside %r<20>: both would declare %r10). */
static const struct ptx_binding *overlapping(const struct ptx_scopes *s,
                                             const struct ptx_binding *b)
{
    char name[PTX_LIMIT_NAME + 1];
    size_t length = b->entry->length;
    uint32_t index;
    if (length > PTX_LIMIT_NAME || (b->is_range && b->target.variable->count == 0))
        return NULL;
    memcpy(name, b->entry->name, length);
    if (b->is_range)
        name[length++] = '0';
    /* A range covers its own first register: only shorter prefixes count. */
    size_t below = b->is_range ? length - 1 : length;
    const struct ptx_binding *range = find_range_below(s, name, length, below, &index);
    return range && range->depth == b->depth ? range : NULL;
}

void ptx_scope_close(struct ptx_scopes *s, struct diag *diag)
{
    for (struct ptx_binding *b = s->declared[s->depth]; b; b = b->earlier) {
        const struct ptx_binding *other = overlapping(s, b);
        if (other)
            diag_error(diag, b->at, "'%.*s' is also one of the registers declared in line %u",
                       (int)(b->entry->length > 100 ? 100 : b->entry->length), b->entry->name,
                       other->at.line);
    }
    for (struct ptx_binding *b = s->declared[s->depth]; b; b = b->earlier)
        *(b->is_range ? &b->entry->range : &b->entry->single) = b->hidden;
    s->depth -= s->depth > 0;
}

/* ---- registers ---- */

const struct ptx_variable *ptx_find_register(const struct ptx_statement *stm, const char *name,
                                             uint32_t *index)
{
    for (; stm; stm = stm->next) {
        const struct ptx_variable *inner =
            stm->kind == PTX_BLOCK ? ptx_find_register(stm->u.block, name, index) : NULL;
        if (inner)
            return inner;
        const struct ptx_variable *var = stm->kind == PTX_VARIABLE ? stm->u.variable : NULL;
        if (!var || var->space != PTX_W_REG)
            continue;
        const char *declared = var->name + (*var->name == '%' && *name != '%');
        size_t length = strlen(declared),
               digits = strspn(name + strnlen(name, length), "0123456789");
        *index = 0;
        if (!var->is_range && strcmp(declared, name) == 0)
            return var;
        if (!var->is_range || strncmp(declared, name, length) != 0 || digits == 0 || digits > 8 ||
            name[length + digits] != '\0' || (name[length] == '0' && digits > 1))
            continue;
        for (const char *at = name + length; *at; at++)
            *index = *index * 10 + (uint32_t)(*at - '0');
        if (*index < var->count)
            return var;
    }
    return NULL;
}
