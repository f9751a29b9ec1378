/*
 * ptx_spans.c - where the compound statements of a compiled structured kernel lie.
 */
#include "engine/program/ptx_code.h"

#include <string.h>

struct open_span {
    const char *number; /* behind $S */
    uint32_t first;
};

struct span_finder {
    struct ptx_code *code;
    struct open_span *open;
    uint32_t open_count, pc;
};

static uint32_t count_labels(const struct ptx_statement *stm)
{
    uint32_t count = 0;
    for (; stm; stm = stm->next)
        if (stm->kind == PTX_LABEL)
            count++;
        else if (stm->kind == PTX_BLOCK)
            count += count_labels(stm->u.block);
    return count;
}

/* The letter of a label $<letter><digits>; 0: it is none. */
static char letter_of(const char *name)
{
    if (name[0] != '$' || name[1] == '\0' || name[2] == '\0')
        return 0;
    return name[2 + strspn(name + 2, "0123456789")] == '\0' ? name[1] : 0;
}

/* Statements nest, so the span that ends is the last one that began; others are none. */
static void see_label(struct span_finder *f, const char *name)
{
    char letter = letter_of(name);
    if (letter == 'S')
        f->open[f->open_count++] = (struct open_span){name + 2, f->pc};
    if (letter != 'E' || f->open_count == 0)
        return;
    const struct open_span *last = &f->open[f->open_count - 1];
    if (strcmp(last->number, name + 2) != 0)
        return;
    f->code->spans[f->code->span_count++] = (struct ptx_span){last->first, f->pc};
    f->open_count--;
}

static void find(struct span_finder *f, const struct ptx_statement *stm)
{
    for (; stm; stm = stm->next)
        if (stm->kind == PTX_INSTRUCTION)
            f->pc++;
        else if (stm->kind == PTX_LABEL)
            see_label(f, stm->name);
        else if (stm->kind == PTX_BLOCK)
            find(f, stm->u.block);
}

void ptx_find_spans(struct arena *arena, struct ptx_code *code)
{
    uint32_t labels = 0;
    for (uint32_t i = 0; i < code->function_count; i++)
        labels += count_labels(code->functions[i].function->body);
    struct span_finder f = {.code = code, .open = ARENA_ARRAY(arena, struct open_span, labels)};
    code->spans = ARENA_ARRAY(arena, struct ptx_span, labels);
    code->span_count = 0;
    for (uint32_t i = 0; i < code->function_count; i++) {
        f.open_count = 0;
        f.pc = code->functions[i].entry;
        find(&f, code->functions[i].function->body);
    }
}
