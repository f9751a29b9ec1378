#include "oracle/heap/heap.h"

#include "engine/input/input.h"
#include "oracle/check/evidence.h"
#include "oracle/check/oracle.h"
#include "oracle/heap/heap_internal.h"

#include <string.h>

enum { HEAP_SEED = 0x4ea9, BUDGET = 1 << 16 };

static struct launch_heap *make_heap(struct arena *arena, const struct heap_script *script)
{
    const uint32_t bytes = script->limit + HEAP_TABLE + HEAP_BEHIND,
                   granules = bytes / HEAP_GRANULE;
    struct launch_heap *heap = ARENA_NEW(arena, struct launch_heap);
    *heap = (struct launch_heap){.address = DRAWN_HEAP,
                                 .bytes = bytes,
                                 .arena = arena,
                                 .fill = ARENA_ARRAY(arena, uint8_t, granules),
                                 .blocks = ARENA_ARRAY(arena, struct heap_block, granules)};
    return heap;
}

static void *memory_at(const struct launch *launch, uint64_t address)
{
    const struct ptx_regions *regions = &launch->program->ptx->global;
    for (uint32_t i = 0; i < regions->count; i++)
        if (regions->items[i].address == address)
            return launch_bytes(launch, &regions->items[i]);
    return NULL;
}

const char *heap_of_kernel(struct arena *arena, uint64_t number, const char **text)
{
    static const uint32_t grid[3] = {1, 1, 1};
    struct pcg rng = pcg_derive(number, PCG_TRANSFORM, HEAP_SEED);
    const struct heap_script script = heap_draw(&rng);
    struct launch_options options = {.budget = BUDGET, .heap = make_heap(arena, &script)};
    struct diag diag;
    const char *reason = "";
    *text = heap_text(arena, &script);
    diag_init(&diag, "heap", *text, strlen(*text));
    struct ast_kernel *kernel = parse_kernel(arena, *text, strlen(*text), &diag);
    if (!kernel)
        return arena_printf(arena, "refused: %u: %s", (unsigned)diag.entries[0].at.line,
                            diag.entries[0].text);
    struct launch *launch = launch_new(arena, kernel, grid, &options, &reason);
    if (!launch)
        return arena_printf(arena, "refused: %s", reason);
    launch_heap_begin(memory_at(launch, DRAWN_HEAP), script.limit);
    launch_run(launch, &options);
    return heap_compare(arena, &script, launch, options.heap, memory_at(launch, DRAWN_OUT));
}

static void report(struct checking *c, const char *text, const char *differs)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "text", text);
    evidence_string(&e, "differs", differs);
    *d = (struct divergence){.oracle = ORACLE_REFERENCE,
                             .class_name = "heap",
                             .rule = RULE_NONE,
                             .subject = SUBJECT_CRS,
                             .evidence = evidence_close(&e),
                             .drawn = true};
    divergence_of_part(c->arena, d, differs);
    d->summary = arena_printf(c->arena, "the heap of kernels is not as a list says, %s", differs);
    answer_diverge(&c->result->answers[ORACLE_REFERENCE], d);
}

void heap_judge(struct checking *c)
{
    const uint64_t number = pcg_splitmix(c->options->seed + HEAP_SEED);
    const size_t mark = arena_mark(c->arena);
    const char *text;
    if (number % HEAP_SHARE != 0)
        return;
    const char *differs = heap_of_kernel(c->arena, number, &text);
    if (differs)
        report(c, text, differs);
    else
        arena_release(c->arena, mark);
}
