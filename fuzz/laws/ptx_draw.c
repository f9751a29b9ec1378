/*
 * ptx_draw.c - litmus tests of PTX: a pattern of the field, each access with an order and a scope, fences and barriers
 * between, threads in blocks of one GPU or two.
 */
#include "fuzz/laws/litmus_draw.h"

#include "engine/base/text.h"
#include "engine/litmus/litmus.h"

#include <string.h>

/* OLD: only what ASPLOS'15 knows. NEAT: most is as it should be. */
enum manner { OLD, NEAT, ANY };

/* Threads with `|` between; W, R and A write, read and do an atomic operation; a point is a place for a fence. */
static const char *const patterns[] = {
    "Wx.Wy|Ry.Rx",     "Wx.Wy|Ry.Rx",      "Wx.Wy|AyAy|Ry.Rx",  "Wx.Wy|AyAyAy|Ry.Rx",
    "Wx.Wy|Ay|Ry.Rx",  "Wx.Wy|AyAy|Ry.Rx", "Wx.Wy|Ay|Ay|Ry.Rx", "Wx.Ry|Wy.Rx",
    "Rx.Wy|Ry.Wx",     "Wx|Rx.Wy|Ry.Rx",   "Wx.Wy|Ry.Wz|Rz.Rx", "Wx.Wy|Wy.Wx",
    "Wx.Wy|Wy.Rx",     "Wx.Wy|Ry.Wx",      "Wx|Wy|Rx.Ry|Ry.Rx", "WxWx|RxRx",
    "Wx|Wx|RxRx",      "Ax|Ax|WxRx",       "AxRx|WxAx",         "Wx.WyWy|Ry.Rx",
    "Wx.Wy|RyRy.Rx",   "Wx.AyAy|AyAy.Rx",  "Wx.Wy|Ry.Wy|Ry.Rx", "Wx.Ay|Ay.Rx",
    "WxWx.Wy|Ry.RxWx", "Wx.|.Rx",
};

static const char *draw_scope(struct pcg *rng)
{
    static const char *const scopes[] = {".cta", ".cta", ".gpu", ".gpu", ".gpu", ".sys"};
    return scopes[pcg_below(rng, 6)];
}

/* `pairing`: release or acquire. */
static void draw_order(struct pcg *rng, struct drawn_instruction *in, const char *pairing,
                       bool may_be_weak)
{
    uint32_t drawn = pcg_below(rng, 8);
    in->order = drawn < 4 ? pairing : drawn < 6 || !may_be_weak ? ".relaxed" : "";
    in->scope = in->order[0] ? draw_scope(rng) : "";
    if (drawn == 7 && may_be_weak)
        in->order = ".volatile";
}

static void draw_atomic(struct pcg *rng, struct drawn_instruction *in)
{
    static const char *const operations[] = {"atom.add", "atom.add", "atom.exch", "atom.cas"};
    static const char *const pairings[] = {".acquire", ".release", ".acq_rel"};
    const char *pairing = pairings[pcg_below(rng, 3)];
    in->reads = in->writes = true;
    in->name = operations[pcg_below(rng, 4)];
    draw_order(rng, in, pairing, false);
}

/* As whoever writes such a program means it: x is what is passed on, by operations of the GPU that order. */
static void draw_neat(struct pcg *rng, struct drawn_instruction *in, char kind)
{
    static const char *const orders[] = {".relaxed", ".relaxed", ".acq_rel"};
    in->reads = kind != 'W';
    in->writes = kind != 'R';
    in->name = kind == 'A' ? "atom.add" : kind == 'R' ? "ld" : "st";
    if (in->word == 0 && kind != 'A')
        return;
    in->order = kind == 'A' ? orders[pcg_below(rng, 3)] : kind == 'R' ? ".acquire" : ".release";
    in->scope = ".gpu";
}

static struct drawn_instruction draw_access(struct pcg *rng, char kind, char word,
                                            enum manner manner, uint8_t *value)
{
    struct drawn_instruction in = {.order = "", .scope = "", .word = (uint8_t)(word - 'x')};
    bool old = manner == OLD;
    if (manner == NEAT && pcg_below(rng, 6) > 0) {
        in.value = ++*value;
        draw_neat(rng, &in, kind);
        return in;
    }
    in.is_used = pcg_below(rng, 6) == 0;
    in.value = ++*value;
    if (kind == 'A' || pcg_below(rng, 8) == 0) {
        draw_atomic(rng, &in);
    } else if (kind == 'R') {
        in.reads = true;
        in.name = old ? "ld.cg" : "ld";
        draw_order(rng, &in, ".acquire", true);
    } else {
        in.writes = true;
        in.name = "st";
        draw_order(rng, &in, ".release", true);
    }
    if (old)
        in.order = in.scope = "";
    return in;
}

/* `barred`: most are one of two barriers. */
static struct drawn_instruction draw_fence(struct pcg *rng, bool old, bool barred)
{
    static const char *const fences[] = {"fence.acq_rel", "fence.acq_rel", "fence.sc", "membar"};
    struct drawn_instruction in = {.is_fence = true, .order = "", .scope = draw_scope(rng)};
    in.name = old ? "membar" : fences[pcg_below(rng, 4)];
    if (!old && pcg_below(rng, 4) < (barred ? 3 : 1)) {
        in.name = barred && pcg_below(rng, 2) ? "bar.sync 1" : "bar.sync 0";
        in.scope = "";
    }
    return in;
}

void litmus_draw_ptx(struct pcg *rng, struct drawn_test *test)
{
    const char *at = patterns[pcg_below(rng, sizeof patterns / sizeof *patterns)];
    static const enum manner manners[] = {OLD, OLD, NEAT, NEAT, NEAT, ANY, ANY, ANY};
    enum manner manner = manners[pcg_below(rng, 8)];
    bool barred = manner != OLD && pcg_below(rng, 5) == 0;
    uint8_t value = 0;
    for (test->threads = 1; *at; at++) {
        uint32_t t = test->threads - 1;
        if (*at == '|')
            test->threads++;
        else if (*at != '.')
            test->code[t][test->length[t]++] = draw_access(rng, at[0], at[1], manner, &value), at++;
        else if (barred || pcg_below(rng, manner == NEAT ? 6 : 2) == 0)
            test->code[t][test->length[t]++] = draw_fence(rng, manner == OLD, barred);
    }
    for (uint32_t t = 0; t < test->threads; t++)
        test->sm[t] = barred && pcg_below(rng, 4) ? 0 : (uint8_t)pcg_below(rng, t + 1);
    test->far = pcg_below(rng, 8) == 0;
}

/* What the thread read last before `at`, as a register; the constant, if nothing. */
static void put_value(struct text *out, const struct drawn_instruction *code, uint32_t at)
{
    uint32_t read = at;
    while (code[at].is_used && read > 0 && !code[read - 1].reads)
        read--;
    if (code[at].is_used && read > 0)
        text_format(out, "r%u", (unsigned)(read - 1));
    else
        text_format(out, "%u", (unsigned)code[at].value);
}

static void put_instruction(struct text *out, const struct drawn_instruction *code, uint32_t at)
{
    const struct drawn_instruction *in = &code[at];
    char word = (char)('x' + in->word);
    text_format(out, "%s%s%s", in->name, in->order, in->scope);
    if (in->is_fence)
        return;
    if (in->reads)
        text_format(out, " r%u,", (unsigned)at);
    text_format(out, " %c", word);
    if (!in->writes)
        return;
    text_format(out, strcmp(in->name, "atom.cas") == 0 ? ", 0, " : ", ");
    put_value(out, code, at);
}

static void put_observed(struct text *out, const struct drawn_test *test)
{
    uint32_t words = 0, count = 0;
    for (uint32_t t = 0; t < test->threads; t++)
        for (uint32_t i = 0; i < test->length[t]; i++) {
            words |= test->code[t][i].is_fence ? 0 : 1u << test->code[t][i].word;
            if (test->code[t][i].reads)
                text_format(out, "%sP%u:r%u == 0", count++ ? " /\\ " : "", (unsigned)t,
                            (unsigned)i);
        }
    for (uint32_t w = 0; w < 3; w++)
        if (words >> w & 1 && count < LITMUS_OBSERVED)
            text_format(out, "%s%c == 0", count++ ? " /\\ " : "", (char)('x' + w));
}

const char *litmus_draw_ptx_text(struct arena *arena, const struct drawn_test *test)
{
    struct text out = text_begin(arena);
    uint32_t rows = 0, last = 0;
    bool accesses = false;
    for (uint32_t t = 0; t < test->threads; t++) {
        for (uint32_t i = 0; i < test->length[t]; i++)
            accesses = accesses || !test->code[t][i].is_fence;
        rows = test->length[t] > rows ? test->length[t] : rows;
        last = test->sm[t] > last ? test->sm[t] : last;
    }
    if (!accesses)
        return NULL;
    text_format(&out, "PTX drawn\n{ x=0; y=0; z=0; }\n");
    for (uint32_t t = 0; t < test->threads; t++)
        text_format(&out, "%sP%u@cta %u,gpu %u", t ? " | " : " ", (unsigned)t,
                    (unsigned)test->sm[t], test->far && last && test->sm[t] == last);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t t = 0; t < test->threads; t++) {
            text_format(&out, t ? " | " : " ;\n ");
            if (i < test->length[t])
                put_instruction(&out, test->code[t], i);
        }
    text_format(&out, " ;\nexists (");
    put_observed(&out, test);
    text_format(&out, ")\n");
    return out.bytes;
}
