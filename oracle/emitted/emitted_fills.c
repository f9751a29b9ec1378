/*
 * emitted_fills.c - buffers of a PTX kernel, of few bytes and of any number of them, in global and in constant memory,
 * with what their settings say (docs/ptx.md: zero, iota, random, all:WORD): each byte is read, and known.
 */
#include "oracle/drawn/drawn.h"
#include "oracle/emitted/emitted.h"
#include "oracle/runs/ptx_run.h"

#include <inttypes.h>

enum { BUFFERS = 3, WORDS = 4 };

enum fill { ZERO, IOTA, RANDOM, ALL, FILLS };

struct buffer {
    enum fill fill;
    uint32_t bytes, value, words[WORDS];
    bool is_constant;
};

/* Mostly 0 to 16, one word in eight anything, of the launch's seed and the parameter's number. */
static void fill_random(struct buffer *b, uint64_t seed, uint32_t number)
{
    struct pcg rng = pcg_derive(seed, PCG_INPUT, number);
    for (uint32_t i = 0; i < WORDS; i++) {
        const bool is_any = pcg_below(&rng, 8) == 0;
        b->words[i] = is_any ? pcg_next(&rng) : pcg_below(&rng, 17);
    }
}

static void draw_buffer(struct drawn *d, struct buffer *b, uint64_t seed, uint32_t number)
{
    b->fill = (enum fill)drawn_below(d, FILLS);
    b->bytes = 1 + drawn_below(d, 4 * WORDS);
    b->value = drawn_once_in(d, 2) ? pcg_next(&d->rng) : drawn_below(d, 300) - 2;
    b->is_constant = drawn_once_in(d, 3);
    if (b->fill == RANDOM)
        fill_random(b, seed, number);
    else
        for (uint32_t i = 0; i < WORDS; i++)
            b->words[i] = b->fill == IOTA ? i : b->fill == ALL ? b->value : 0;
}

static void put_settings(struct drawn *d, const struct buffer *b, uint32_t number)
{
    static const char *const names[] = {[ZERO] = "", [IOTA] = ":iota", [RANDOM] = ":random"};
    text_format(&d->text, " bind:p%" PRIu32 "=buffer:%" PRIu32, number, b->bytes);
    if (b->fill == ALL)
        text_format(&d->text, ":all:%" PRId32, (int32_t)b->value);
    else
        text_put(&d->text, b->fill == ZERO && drawn_once_in(d, 2) ? ":zero" : names[b->fill]);
}

/* Reads each byte; returns the sum behind them. */
static uint32_t put_reads(struct drawn *d, const struct buffer *b, uint32_t number, uint32_t sum)
{
    text_format(&d->text, "\tld.param.u64 %%a, [p%" PRIu32 "];\n", number);
    for (uint32_t i = 0; i < b->bytes; i++) {
        text_format(&d->text, "\tld.%s.u8 %%t, [%%a+%" PRIu32 "];\n",
                    b->is_constant ? "const" : "global", i);
        text_put(&d->text, "\tmad.lo.u32 %sum, %sum, 31, %t;\n");
        sum = sum * 31 + (b->words[i / 4] >> i % 4 * 8 & 0xff);
    }
    return sum;
}

const char *emitted_fills(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_FILLS);
    struct buffer buffers[BUFFERS];
    const uint32_t count = 1 + drawn_below(&d, BUFFERS), seed = drawn_below(&d, 1000);
    uint32_t sum = 0;
    text_format(&d.text, "// simtfuzz: seed=%" PRIu32, seed);
    for (uint32_t i = 0; i < count; i++) {
        draw_buffer(&d, &buffers[i], seed, i);
        put_settings(&d, &buffers[i], i);
    }
    text_put(&d.text, "\n.version 7.5\n.target sm_70\n.address_size 64\n.entry k(");
    for (uint32_t i = 0; i < count; i++)
        text_format(&d.text, ".param .u64%s p%" PRIu32 ", ",
                    buffers[i].is_constant ? " .ptr .const" : "", i);
    text_put(&d.text, ".param .u64 out)\n{\n\t.reg .b32 %sum, %t;\n\t.reg .b64 %a;\n"
                      "\tmov.u32 %sum, 0;\n");
    for (uint32_t i = 0; i < count; i++)
        sum = put_reads(&d, &buffers[i], i, sum);
    text_put(&d.text, "\tld.param.u64 %a, [out];\n\tst.global.u32 [%a], %sum;\n\tret;\n}\n");
    *text = d.text.bytes;
    return ptx_run(arena, "fills", d.text.bytes, &sum, 1);
}
