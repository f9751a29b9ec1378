#include "engine/base/text.h"
#include "oracle/heap/heap_internal.h"

#include <stdlib.h>

/* ---- steps ---- */

static uint32_t draw_bytes(struct pcg *rng)
{
    static const uint32_t edges[] = {0, 1, 15, 16, 17, 1023, 1024, 1025, 1152, 1153, 4000};
    return pcg_below(rng, 3) ? 1 + pcg_below(rng, 60)
                             : edges[pcg_below(rng, sizeof edges / sizeof *edges)];
}

/* A step before that calls malloc; it is one of those. False: there is none. */
static bool draw_slot(struct pcg *rng, const struct heap_script *s, struct heap_step *step,
                      uint32_t *bytes)
{
    uint32_t from[HEAP_STEPS], count = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->steps[i].kind == HEAP_MALLOC)
            from[count++] = i;
    if (count == 0)
        return false;
    const uint32_t i = from[pcg_below(rng, count)];
    const struct heap_step *giver = &s->steps[i];
    step->slot = i * HEAP_THREADS + (giver->all ? pcg_below(rng, s->threads) : giver->thread);
    *bytes = giver->bytes;
    return true;
}

/* Bytes of the block, or some that end a little behind; a read may begin before it, too. Nothing else is written over:
 * what malloc keeps stands in front of the next block. */
static void draw_place(struct pcg *rng, struct heap_step *step, uint32_t bytes)
{
    const uint32_t whole = (bytes + 15) / 16 * 16;
    step->bytes = 1U << pcg_below(rng, 4);
    const uint32_t places = whole / step->bytes;
    step->offset = (int32_t)((places ? pcg_below(rng, places) : 0) * step->bytes);
    if (pcg_below(rng, 3) == 0 && bytes >= step->bytes) /* the last that is whole */
        step->offset = (int32_t)(bytes / step->bytes * step->bytes - step->bytes);
    if (step->kind == HEAP_LOAD && pcg_below(rng, 8) == 0)
        step->offset = pcg_below(rng, 2) ? -(int32_t)step->bytes : (int32_t)(whole + 8);
}

static struct heap_step draw_step(struct pcg *rng, const struct heap_script *s)
{
    static const enum heap_kind kinds[] = {HEAP_MALLOC, HEAP_MALLOC, HEAP_FREE,
                                           HEAP_FREE,   HEAP_STORE,  HEAP_LOAD};
    struct heap_step step = {.kind = kinds[pcg_below(rng, 6)],
                             .thread = pcg_below(rng, s->threads)};
    uint32_t bytes = 0;
    if (step.kind != HEAP_MALLOC && !draw_slot(rng, s, &step, &bytes))
        step.kind = HEAP_MALLOC;
    if (step.kind == HEAP_MALLOC) {
        step.all = pcg_below(rng, 3) == 0;
        step.bytes = draw_bytes(rng);
    } else if (step.kind == HEAP_FREE) {
        step.offset = pcg_below(rng, 8) ? 0 : 8;
    } else {
        draw_place(rng, &step, bytes);
        step.value = 1 + pcg_below(rng, 255);
    }
    return step;
}

struct heap_script heap_draw(struct pcg *rng)
{
    static const uint32_t limits[] = {128, 512, 2048, 4096};
    struct heap_script s = {.threads = 1 + pcg_below(rng, HEAP_THREADS),
                            .limit = limits[pcg_below(rng, 4)]};
    const uint32_t count = 4 + pcg_below(rng, HEAP_STEPS - 3);
    while (s.count < count) {
        s.steps[s.count] = draw_step(rng, &s);
        s.count++;
    }
    return s;
}

/* ---- the kernel ---- */

static void put_call(struct text *text, const struct heap_step *step)
{
    if (step->kind == HEAP_MALLOC)
        text_format(text,
                    "\t{\n\t.param .b64 a;\n\t.param .b64 r;\n\tmov.b64 %%rd4, %u;\n"
                    "\tst.param.b64 [a], %%rd4;\n\tcall.uni (r), malloc, (a);\n"
                    "\tld.param.b64 %%rd3, [r];\n\t}\n\tst.global.u64 [%%rd1], %%rd3;\n",
                    (unsigned)step->bytes);
    else
        text_format(text, "\t{\n\t.param .b64 a;\n\tst.param.b64 [a], %%rd3;\n"
                          "\tcall.uni free, (a);\n\t}\n");
}

static void put_access(struct text *text, const struct heap_step *step)
{
    const unsigned bits = 8 * step->bytes;
    if (step->kind == HEAP_LOAD)
        text_format(text, "\tld.global.u%u %%rd4, [%%rd3];\n\tst.global.u64 [%%rd1], %%rd4;\n",
                    bits);
    else
        text_format(text, "\tmov.b64 %%rd4, %llu;\n\tst.global.u%u [%%rd3], %%rd4;\n",
                    (unsigned long long)(step->value * 0x0101010101010101ULL), bits);
}

static void put_step(struct text *text, const struct heap_step *step, uint32_t number)
{
    if (!step->all)
        text_format(text, "\tsetp.ne.u32 %%p1, %%r1, %u;\n\t@%%p1 bra L%u;\n",
                    (unsigned)step->thread, (unsigned)number);
    text_format(text, "\tadd.s64 %%rd1, %%rd0, %u;\n", (unsigned)(8 * HEAP_THREADS * number));
    if (step->kind != HEAP_MALLOC)
        text_format(text,
                    "\tmov.b64 %%rd2, %llu;\n\tld.global.u64 %%rd3, [%%rd2];\n"
                    "\tsetp.eq.s64 %%p1, %%rd3, 0;\n\t@%%p1 bra L%u;\n"
                    "\tadd.s64 %%rd3, %%rd3, %d;\n",
                    (unsigned long long)(DRAWN_OUT + 8 * step->slot), (unsigned)number,
                    (int)step->offset);
    if (step->kind <= HEAP_FREE)
        put_call(text, step);
    else
        put_access(text, step);
    text_format(text, "L%u:\n\tbar.sync 0;\n", (unsigned)number);
}

const char *heap_text(struct arena *arena, const struct heap_script *script)
{
    struct text text = text_begin(arena);
    text_format(&text,
                "// simtfuzz: threads=%u warp=%u memory:heap=0x%llx:%u memory:out=0x%llx:%u\n"
                ".version 7.8\n.target sm_80\n.address_size 64\n"
                ".extern .func (.param .b64 address) malloc(.param .b64 bytes);\n"
                ".extern .func free(.param .b64 address);\n"
                ".visible .entry k()\n{\n\t.reg .pred %%p<2>;\n\t.reg .b32 %%r<2>;\n"
                "\t.reg .b64 %%rd<5>;\n\tmov.u32 %%r1, %%tid.x;\n"
                "\tmul.wide.u32 %%rd0, %%r1, 8;\n\tadd.s64 %%rd0, %%rd0, %llu;\n",
                (unsigned)script->threads, script->threads > 2 ? 2U : (unsigned)script->threads,
                (unsigned long long)DRAWN_HEAP,
                (unsigned)(script->limit + HEAP_TABLE + HEAP_BEHIND), (unsigned long long)DRAWN_OUT,
                (unsigned)(8 * HEAP_SLOTS), (unsigned long long)DRAWN_OUT);
    for (uint32_t i = 0; i < script->count; i++)
        put_step(&text, &script->steps[i], i);
    text_format(&text, "\tret;\n}\n%s", launch_heap_functions(arena, DRAWN_HEAP));
    return text.bytes;
}
