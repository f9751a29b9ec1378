/*
 * ptx_fields.c - bind:p.8=buffer:400: what lies at a byte of a struct parameter, whose fields have no names in PTX. It
 * becomes the words of the struct, and memory that is placed where the words point to.
 */
#include "engine/input/ptx_kernel_internal.h"
#include "engine/ptx/ptx_reach.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ADDRESS 0x600000000000u
enum { NEXT_SHIFT = 40 /* far from each other, so that no index leads from one to the next */ };

struct fields {
    struct arena *arena;
    struct ptx_kernel *ptx;
    struct diag *diag;
};

static const char *dot_of(const struct ptx_bind *bind)
{
    return strrchr(bind->parameter, '.');
}

/* "p" or its number, as binds have it; NULL: there is none. */
static const struct ptx_variable *parameter_of(const struct fields *x, const char *name)
{
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    bool is_number = end != name && *end == '\0';
    for (const struct ptx_variable *p = x->ptx->entry->parameters; p; p = p->next)
        if (strcmp(p->name, name) == 0 || (is_number && number-- == 0))
            return p;
    return NULL;
}

/* The words of the whole struct, those that were given already and zeros. */
static struct ptx_bind *words_of(const struct fields *x, const struct ptx_variable *p,
                                 const struct ptx_bind *field)
{
    const uint32_t count = (uint32_t)((ptx_memory_bytes(p) + 3) / 4);
    struct ptx_bind **last = &x->ptx->binds, *bind;
    while (*last && parameter_of(x, (*last)->parameter) != p)
        last = &(*last)->next;
    bind = *last;
    if (!bind) {
        bind = *last = ARENA_NEW(x->arena, struct ptx_bind);
        *bind = (struct ptx_bind){.parameter = p->name, .kind = PTX_BIND_WORDS, .at = field->at};
    }
    struct ptx_values *words = ARENA_NEW(x->arena, struct ptx_values);
    words->values = ARENA_ARRAY(x->arena, uint64_t, count);
    words->count = count;
    for (uint32_t i = 0; bind->words && i < bind->words->count && i < count; i++)
        words->values[i] = bind->words->values[i];
    bind->words = words;
    return bind;
}

static void write_words(const struct fields *x, struct ptx_bind *bind)
{
    struct ptx_values *words = ARENA_NEW(x->arena, struct ptx_values);
    const char *text = "words:";
    *words = *bind->words;
    for (uint32_t i = 0; i < words->count; i++)
        text = arena_printf(x->arena, "%s%s0x%llx", text, i ? "," : "",
                            (unsigned long long)words->values[i]);
    words->text = text + strlen("words:");
    bind->text = text;
    bind->words = words;
}

/* A buffer of the struct's own, under the name p_8; its address. */
static uint64_t place(const struct fields *x, const struct ptx_variable *p, uint64_t byte,
                      const struct ptx_bind *field)
{
    struct ptx_bind *memory = ARENA_NEW(x->arena, struct ptx_bind), **last = &x->ptx->memory;
    const char *name = arena_printf(x->arena, "%s_%llu", p->name, (unsigned long long)byte);
    uint64_t address = FIRST_ADDRESS;
    for (; *last && strcmp((*last)->parameter, name) != 0; last = &(*last)->next)
        if ((*last)->address >= address)
            address = (*last)->address + ((uint64_t)1 << NEXT_SHIFT);
    *memory = *field;
    memory->parameter = name;
    memory->address = *last ? (*last)->address : address;
    memory->text = arena_printf(x->arena, "0x%llx:%s", (unsigned long long)memory->address,
                                field->text + strlen("buffer:"));
    memory->next = *last ? (*last)->next : NULL;
    *last = memory;
    return memory->address;
}

/* The bits of the value, and how many words it takes: a number that fits one takes one. False: it is none. */
static bool value_of(const struct fields *x, const struct ptx_variable *p, uint64_t byte,
                     const struct ptx_bind *field, uint64_t *bits, uint32_t *words)
{
    const bool is_float = strncmp(field->text, "f:", 2) == 0;
    const struct ptx_variable type = {.type = is_float ? PTX_W_F32 : PTX_W_S64};
    *words = field->kind == PTX_BIND_BUFFER ? 2 : 1;
    if (field->kind == PTX_BIND_BUFFER) {
        *bits = place(x, p, byte, field);
        return true;
    }
    if (field->kind != PTX_BIND_VALUE || !ptx_settings_value(field->text, &type, bits))
        return false;
    int64_t value = (int64_t)*bits;
    *words = is_float || (value >= INT32_MIN && value <= UINT32_MAX) ? 1 : 2;
    return true;
}

static void set_field(const struct fields *x, const struct ptx_bind *field)
{
    const char *dot = dot_of(field);
    char *end;
    uint64_t byte = strtoull(dot + 1, &end, 10), bits = 0;
    uint32_t words = 0;
    const struct ptx_variable *p = parameter_of(
        x, arena_strndup(x->arena, field->parameter, (size_t)(dot - field->parameter)));
    if (!p || end == dot + 1 || *end != '\0' || p->dimension_count == 0) {
        diag_error(x->diag, field->at, "'%.80s' is no byte of a struct parameter of '%.80s'",
                   field->parameter, x->ptx->entry->name);
        return;
    }
    if (byte % 4 != 0 || byte >= ptx_memory_bytes(p) ||
        !value_of(x, p, byte, field, &bits, &words) ||
        byte + 4 * (uint64_t)words > ptx_memory_bytes(p)) {
        diag_error(
            x->diag, field->at,
            "'%.80s' cannot be '%.80s': a multiple of 4 below %llu gets a number, or buffer:BYTES",
            field->parameter, field->text, (unsigned long long)ptx_memory_bytes(p));
        return;
    }
    struct ptx_bind *bind = words_of(x, p, field);
    if (bind->kind != PTX_BIND_WORDS) {
        diag_error(x->diag, field->at, "'%.80s' is bound as a whole, too", p->name);
        return;
    }
    for (uint32_t i = 0; i < words; i++)
        bind->words->values[byte / 4 + i] = bits >> 32 * i & UINT32_MAX;
    write_words(x, bind);
}

void ptx_bind_fields(struct arena *arena, struct ptx_kernel *ptx, struct diag *diag)
{
    const struct fields x = {arena, ptx, diag};
    struct ptx_bind *fields = NULL, **last = &fields;
    for (struct ptx_bind **at = &ptx->binds; *at;) {
        struct ptx_bind *bind = *at;
        if (!dot_of(bind)) {
            at = &bind->next;
            continue;
        }
        *at = bind->next;
        bind->next = NULL;
        *last = bind;
        last = &bind->next;
    }
    for (const struct ptx_bind *field = fields; field; field = field->next)
        set_field(&x, field);
}
