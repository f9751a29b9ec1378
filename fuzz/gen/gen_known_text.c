/* Programs with a known result as PTX. See gen_known.h. */
#include "engine/invariant.h"
#include "engine/ptx/ptx_kernel.h"
#include "engine/text.h"
#include "fuzz/gen/gen_known.h"

#include <inttypes.h>
#include <string.h>

const uint32_t known_counts[KNOWN_CLASSES] = {
    [KNOWN_H] = 2, [KNOWN_R] = KNOWN_REGISTERS, [KNOWN_W] = 3, [KNOWN_P] = 4};
const char known_letters[KNOWN_CLASSES] = {
    [KNOWN_H] = 'h', [KNOWN_R] = 'r', [KNOWN_W] = 'w', [KNOWN_P] = 'p'};

const struct known_op_info known_ops[KNOWN_OP_COUNT] = {
#define KNOWN_OP(id, result, operands, text, value) [KNOWN_OP_##id] = {result, operands, text},
#include "fuzz/gen/gen_known_ops.def"
};

const struct known_atomic known_atomics[KNOWN_ACCUMULATORS] = {
    {"add.u32", 5},           {"xor.b32", 0x5555},     {"or.b32", 0},
    {"and.b32", UINT32_MAX},  {"max.u32", 0},          {"min.u32", 0xfffffff0},
    {"max.s32", 0x80000000u}, {"min.s32", 0x7fffffff},
};

struct writing {
    struct text text;
    struct known_program *p;
    uint32_t labels;
    const struct known_function *function; /* NULL: the entry */
    uint32_t loop_label;                   /* of the innermost loop */
};

#define PUT(w, ...) text_format(&(w)->text, __VA_ARGS__)

static void put_guard(struct writing *w, uint32_t guard)
{
    if (guard)
        PUT(w, "@%sp%" PRIu32 " ", (guard - 1) % 2 ? "!" : "", (guard - 1) / 2);
}

static void put_operand(struct writing *w, const struct known_operand *o)
{
    if (!o->is_constant)
        PUT(w, "%c%" PRIu32, known_letters[o->class], o->number);
    else if (o->class == KNOWN_W)
        PUT(w, "%" PRId64, (int64_t)o->value);
    else if (o->class == KNOWN_H)
        PUT(w, "%" PRId32, (int32_t)(int16_t)(uint16_t)o->value);
    else
        PUT(w, "%" PRId32, (int32_t)(uint32_t)o->value);
}

/* %d, %a, %b, %c the operands; %g the guard; %w, %n the numbers `which` and `at`. */
static void put(struct writing *w, const struct known_node *n, const char *text)
{
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "%");
        PUT(w, "%.*s", (int)length, at);
        at += length;
        if (*at == '\0')
            break;
        switch (at[1]) {
        case 'd':
            put_operand(w, &n->d);
            break;
        case 'g':
            put_guard(w, n->guard);
            break;
        case 'w':
            PUT(w, "%" PRIu32, n->which);
            break;
        case 'n':
            PUT(w, "%" PRIu32, n->at);
            break;
        case '%':
            text_put(&w->text, "%");
            break;
        default:
            put_operand(w, &n->s[at[1] - 'a']);
            break;
        }
        at += 2;
    }
}

/* An instruction by itself, with the guard. */
static void line(struct writing *w, const struct known_node *n, const char *text)
{
    text_put(&w->text, "\t");
    put_guard(w, n->guard);
    put(w, n, text);
    text_put(&w->text, ";\n");
}

static void put_list(struct writing *w, const struct known_node *n);

/* ---- memory ---- */

static void put_access(struct writing *w, const struct known_node *n)
{
    static const char *const spaces[] = {"global", "shared", "local", "local"};
    static const char *const bases[] = {"ga", "sa", "loc", "too"};
    const struct known_operand *first = n->kind == KNOWN_LOAD ? &n->d : &n->s[0];
    text_put(&w->text, "\t");
    put_guard(w, n->guard);
    PUT(w, "%s.%s%s.%c%" PRIu32 " ", n->kind == KNOWN_LOAD ? "ld" : "st", spaces[n->space],
        n->vector == 4   ? ".v4"
        : n->vector == 2 ? ".v2"
                         : "",
        n->is_signed ? 's' : 'u', 8 * n->bytes);
    if (n->kind == KNOWN_STORE)
        PUT(w, "[%s+%" PRIu32 "], ", bases[n->space], n->at);
    text_put(&w->text, n->vector > 1 ? "{" : "");
    for (uint32_t i = 0; i < n->vector; i++) {
        struct known_operand o = *first;
        o.number = (o.number + i) % known_counts[o.class];
        text_put(&w->text, i ? ", " : "");
        put_operand(w, &o);
    }
    text_put(&w->text, n->vector > 1 ? "}" : "");
    if (n->kind == KNOWN_LOAD)
        PUT(w, ", [%s+%" PRIu32 "]", bases[n->space], n->at);
    text_put(&w->text, ";\n");
}

static void put_own(struct writing *w, const struct known_node *n)
{
    static const char *const texts[] = {"exch.b32 %d, [%b+%n], %a", "cas.b32 %d, [%b+%n], %a, %b",
                                        "inc.u32 %d, [%b+%n], %a", "dec.u32 %d, [%b+%n], %a",
                                        "add.u32 %d, [%b+%n], %a"};
    const char *text = texts[n->which], *place = strstr(text, "[%b");
    bool shared = n->space == KNOWN_SHARED;
    text_put(&w->text, "\t");
    put_guard(w, n->guard);
    PUT(w, "atom.%s.", shared ? "shared" : "global");
    put(w, n, arena_strndup(w->text.arena, text, (size_t)(place - text)));
    text_put(&w->text, shared ? "[sa" : "[ga");
    put(w, n, place + 3);
    text_put(&w->text, ";\n");
}

/* ---- control flow ---- */

static void put_if(struct writing *w, const struct known_node *n)
{
    uint32_t label = w->labels++;
    text_put(&w->text, "\t@!");
    put(w, n, "%a");
    PUT(w, " bra $else%" PRIu32 ";\n", label);
    put_list(w, n->body);
    if (n->other)
        PUT(w, "\tbra $end%" PRIu32 ";\n", label);
    PUT(w, "$else%" PRIu32 ":\n", label);
    put_list(w, n->other);
    if (n->other)
        PUT(w, "$end%" PRIu32 ":\n", label);
}

static void put_loop(struct writing *w, const struct known_node *n)
{
    uint32_t label = w->labels++, i = n->which, outer = w->loop_label;
    w->loop_label = label;
    PUT(w, "\tmov.u32 i%" PRIu32 ", 0;\n\tmov.u32 l%" PRIu32 ", ", i, i);
    put(w, n, "%a;\n");
    PUT(w, "$loop%" PRIu32 ":\n", label);
    if (!n->tests_last)
        PUT(w, "\tsetp.ge.u32 t, i%" PRIu32 ", l%" PRIu32 ";\n\t@t bra $done%" PRIu32 ";\n", i, i,
            label);
    put_list(w, n->body);
    PUT(w, "$next%" PRIu32 ":\n\tadd.u32 i%" PRIu32 ", i%" PRIu32 ", 1;\n", label, i, i);
    if (n->tests_last)
        PUT(w, "\tsetp.lt.u32 t, i%" PRIu32 ", l%" PRIu32 ";\n\t@t bra $loop%" PRIu32 ";\n", i, i,
            label);
    else
        PUT(w, "\tbra $loop%" PRIu32 ";\n", label);
    PUT(w, "$done%" PRIu32 ":\n", label);
    w->loop_label = outer;
}

static void put_switch(struct writing *w, const struct known_node *n)
{
    uint32_t label = w->labels++;
    put(w, n, "\trem.u32 u, %a, ");
    PUT(w, "%" PRIu32 ";\n$table%" PRIu32 ": .branchtargets ", n->count, label);
    for (uint32_t i = 0; i < n->count; i++)
        PUT(w, "%s$case%" PRIu32 "_%" PRIu32, i ? ", " : "", label, i);
    PUT(w, ";\n\tbrx.idx u, $table%" PRIu32 ";\n", label);
    for (uint32_t i = 0; i < n->count; i++) {
        PUT(w, "$case%" PRIu32 "_%" PRIu32 ":\n", label, i);
        put_list(w, n->cases[i]);
        if (!n->falls[i])
            PUT(w, "\tbra $end%" PRIu32 ";\n", label);
    }
    PUT(w, "$end%" PRIu32 ":\n", label);
}

static void put_return(struct writing *w, const struct known_node *n)
{
    if (w->function)
        line(w, n, "mov.u32 result, r0");
    line(w, n, "ret");
}

static void put_call(struct writing *w, const struct known_node *n)
{
    if (!n->function) {
        text_put(&w->text, "\tsetp.ne.u32 t, depth, 0;\n\tsub.u32 u, depth, 1;\n");
        put(w, n, "\t@t call (%d), ");
        PUT(w, "f%" PRIu32, n->other_function->number);
        put(w, n, ", (u, %b);\n");
        return;
    }
    if (n->other_function) {
        PUT(w, "\tmov.u64 fp, f%" PRIu32 ";\n", n->function->number);
        put(w, n, "\t@%c ");
        PUT(w, "mov.u64 fp, f%" PRIu32 ";\n", n->other_function->number);
    }
    text_put(&w->text, "\t");
    put_guard(w, n->guard);
    put(w, n, "call (%d), ");
    if (n->other_function)
        text_put(&w->text, "fp");
    else
        PUT(w, "f%" PRIu32, n->function->number);
    put(w, n, ", (%a, %b)");
    text_put(&w->text, n->other_function ? ", proto;\n" : ";\n");
}

/* ---- threads together ---- */

/* Where the thread numbered `u` of the block wrote. */
static void put_read_of(struct writing *w, const struct known_node *n, const char *guard)
{
    PUT(w, "\tmov.u64 at, pass;\n\tmad.wide.u32 at, u, 4, at;\n\t%s", guard);
    put(w, n, "ld.shared.u32 %d, [at];\n");
}

static void put_exchange(struct writing *w, const struct known_node *n)
{
    put(w, n,
        "\tst.shared.u32 [pa], %a;\n\tbar.sync 0;\n\tmov.u32 v, %%ntid.x;\n"
        "\tmov.u32 u, %%tid.x;\n\tadd.u32 u, u, %n;\n\trem.u32 u, u, v;\n");
    put_read_of(w, n, "");
    text_put(&w->text, "\tbar.sync 0;\n");
}

/* Warps up to `at` write and arrive, the others wait and read. */
static void put_pair(struct writing *w, const struct known_node *n)
{
    uint32_t label = w->labels++, producers = n->at * w->p->warp;
    PUT(w, "\tmov.u32 u, %%tid.x;\n\tsetp.lt.u32 t, u, %" PRIu32 ";\n\t@t bra $from%" PRIu32 ";\n",
        producers, label);
    PUT(w, "\tbar.sync %" PRIu32 ", %" PRIu32 ";\n\trem.u32 u, u, %" PRIu32 ";\n", n->which,
        w->p->threads, producers);
    put_read_of(w, n, "");
    PUT(w, "\tbra $end%" PRIu32 ";\n$from%" PRIu32 ":\n", label, label);
    put(w, n, "\tst.shared.u32 [pa], %a;\n");
    PUT(w, "\tbar.arrive %" PRIu32 ", %" PRIu32 ";\n$end%" PRIu32 ":\n\tbar.sync 0;\n", n->which,
        w->p->threads, label);
}

static void put_subset(struct writing *w, const struct known_node *n)
{
    uint32_t label = w->labels++, those = n->at * w->p->warp;
    PUT(w, "\tmov.u32 u, %%tid.x;\n\tsetp.ge.u32 t, u, %" PRIu32 ";\n\t@t bra $end%" PRIu32 ";\n",
        those, label);
    put(w, n, "\tst.shared.u32 [pa], %a;\n");
    PUT(w,
        "\tbar.sync %" PRIu32 ", %" PRIu32 ";\n\tadd.u32 u, u, 1;\n\trem.u32 u, u, %" PRIu32 ";\n",
        n->which, those, those);
    put_read_of(w, n, "");
    PUT(w, "$end%" PRIu32 ":\n\tbar.sync 0;\n", label);
}

static void put_warp(struct writing *w, const struct known_node *n)
{
    static const char *const texts[KNOWN_WARP_OPS] = {
        [KNOWN_ACTIVE] = "activemask.b32 %d",
        [KNOWN_VOTE_ALL] = "vote.all.pred %d, %a",
        [KNOWN_VOTE_ANY] = "vote.any.pred %d, %a",
        [KNOWN_VOTE_UNI] = "vote.uni.pred %d, %a",
        [KNOWN_BALLOT] = "vote.ballot.b32 %d, %a",
        [KNOWN_SHFL_UP] = "shfl.up.b32 %d, %a, %n, 0",
        [KNOWN_SHFL_DOWN] = "shfl.down.b32 %d, %a, %n, 31",
        [KNOWN_SHFL_BFLY] = "shfl.bfly.b32 %d, %a, %n, 31",
        [KNOWN_SHFL_IDX] = "shfl.sync.idx.b32 %d, %a, %n, 31, m",
        [KNOWN_MATCH_ANY] = "match.any.sync.b32 %d, %a, m",
        [KNOWN_REDUX_ADD] = "redux.sync.add.u32 %d, %a, m",
        [KNOWN_REDUX_MAX] = "redux.sync.max.s32 %d, %a, m",
        [KNOWN_REDUX_XOR] = "redux.sync.xor.b32 %d, %a, m",
        [KNOWN_BAR_WARP] = "bar.warp.sync m",
    };
    if (n->which >= KNOWN_SHFL_IDX)
        line(w, n, "activemask.b32 m");
    line(w, n, texts[n->which]);
}

/* The threads of the first warp do one thing, the others the other. */
static void put_two(struct writing *w, const char *first, const char *others)
{
    uint32_t label = w->labels++;
    PUT(w, "\tmov.u32 u, %%tid.x;\n\tsetp.lt.u32 t, u, %" PRIu32 ";\n\t@t bra $from%" PRIu32 ";\n",
        w->p->warp, label);
    PUT(w, "\t%s;\n\tbra $end%" PRIu32 ";\n$from%" PRIu32 ":\n\t%s;\n$end%" PRIu32 ":\n", others,
        label, label, first, label);
}

/* The second warp writes between the two barriers at which lanes of the first wait. */
static void put_several(struct writing *w, const struct known_node *n)
{
    uint32_t label = w->labels++, count = 2 * w->p->warp;
    PUT(w, "\tmov.u32 u, %%tid.x;\n\tsetp.lt.u32 t, u, %" PRIu32 ";\n\t@t bra $from%" PRIu32 ";\n",
        w->p->warp, label);
    PUT(w, "\tbar.sync 4, %" PRIu32 ";\n", count);
    put(w, n, "\tst.shared.u32 [pa], %a;\n");
    PUT(w, "\tbar.sync 5, %" PRIu32 ";\n\tbra $end%" PRIu32 ";\n$from%" PRIu32 ":\n", count, label,
        label);
    PUT(w,
        "\tand.b32 v, u, 1;\n\tadd.u32 v, v, 4;\n\tbar.sync v, %" PRIu32
        ";\n\tadd.u32 u, u, %" PRIu32 ";\n",
        count, w->p->warp);
    put_read_of(w, n, "");
    PUT(w, "$end%" PRIu32 ":\n", label);
}

static void put_flaw(struct writing *w, const struct known_node *n)
{
    const struct known_program *p = w->p;
    struct arena *arena = w->text.arena;
    const char *count = arena_printf(arena, "%" PRIu32, p->threads + p->warp);
    const char *waits = n->at ? "sync" : "arrive";
    switch ((enum known_flaw)n->which) {
    case KNOWN_TRAP:
        line(w, n, "trap");
        break;
    case KNOWN_BOUNDS:
        PUT(w, "\tmov.u64 at, out;\n\tadd.u64 at, at, %" PRIu32 ";\n",
            p->threads * p->blocks * KNOWN_AREA);
        line(w, n, n->at ? "st.global.u32 [at], r0" : "ld.global.u32 r0, [at]");
        break;
    case KNOWN_ALIGN:
        line(w, n, n->at ? "st.shared.u32 [sa+2], r0" : "ld.global.v2.u32 {r0, r1}, [ga+4]");
        break;
    case KNOWN_RACE:
        text_put(&w->text, "\tmov.u32 v, %ntid.x;\n\tmov.u32 u, %tid.x;\n"
                           "\tadd.u32 u, u, 1;\n\trem.u32 u, u, v;\n"
                           "\tst.shared.u32 [pa], u;\n");
        if (n->at)
            text_put(&w->text, "\tld.shared.u32 m, [pa];\n");
        put_read_of(w, n, "");
        text_put(&w->text, "\tbar.sync 0;\n");
        break;
    case KNOWN_STARVE:
        PUT(w, "\tbar.sync 2, %s;\n", count);
        break;
    case KNOWN_COUNTS:
        put_two(w, arena_printf(arena, "bar.sync 2, %" PRIu32, p->threads),
                arena_printf(arena, "bar.%s 2, %s", waits, count));
        break;
    case KNOWN_MIXED:
        put_two(w, "bar.sync 2",
                n->at ? "bar.red.or.pred p0, 2, p1" : "bar.red.popc.u32 r0, 2, p1");
        break;
    case KNOWN_ABSENT:
        text_put(&w->text, "\tmov.u32 u, %laneid;\n\tsetp.eq.u32 t, u, 0;\n"
                           "\t@t bar.warp.sync 3;\n");
        break;
    case KNOWN_SEVERAL:
        put_several(w, n);
        break;
    case KNOWN_FLAWS:
        break;
    }
}

static void put_node(struct writing *w, const struct known_node *n)
{
    static const char *const specials[KNOWN_SPECIALS] = {
        [KNOWN_TID] = "mov.u32 %d, %%tid.x",
        [KNOWN_LANE] = "mov.u32 %d, %%laneid",
        [KNOWN_BLOCK] = "mov.u32 %d, %%ctaid.x",
        [KNOWN_BLOCK_SIZE] = "mov.u32 %d, %%ntid.x",
        [KNOWN_WARP_NUMBER] = "mov.u32 %d, %%warpid",
        [KNOWN_BLOCKS] = "mov.u32 %d, %%nctaid.x",
        [KNOWN_LANES_LESS] = "mov.u32 %d, %%lanemask_lt",
        [KNOWN_LANES_LEAST] = "mov.u32 %d, %%lanemask_ge",
    };
    static const char *const reductions[KNOWN_REDUCTIONS] = {
        [KNOWN_POPC] = "bar.red.popc.u32 %d, 0, %a",
        [KNOWN_AND] = "bar.red.and.pred %d, 0, %a",
        [KNOWN_OR] = "bar.red.or.pred %d, 0, %a",
    };
    static const char *const fences[] = {"membar.gl", "fence.acq_rel.gpu", "nanosleep.u32 20",
                                         "prefetch.global.L1 [ga]"};
    switch (n->kind) {
    case KNOWN_COMPUTE:
        put(w, n, "\t");
        put(w, n, known_ops[n->op].text);
        put(w, n, ";\n");
        break;
    case KNOWN_SPECIAL:
        line(w, n, specials[n->which]);
        break;
    case KNOWN_LOAD:
    case KNOWN_STORE:
        put_access(w, n);
        break;
    case KNOWN_IF:
        put_if(w, n);
        break;
    case KNOWN_LOOP:
        put_loop(w, n);
        break;
    case KNOWN_SWITCH:
        put_switch(w, n);
        break;
    case KNOWN_BREAK:
    case KNOWN_CONTINUE:
        text_put(&w->text, "\t");
        put_guard(w, n->guard);
        PUT(w, "bra %s%" PRIu32 ";\n", n->kind == KNOWN_BREAK ? "$done" : "$next", w->loop_label);
        break;
    case KNOWN_RETURN:
        put_return(w, n);
        break;
    case KNOWN_EXIT:
        line(w, n, "exit");
        break;
    case KNOWN_CALL:
        put_call(w, n);
        break;
    case KNOWN_EXCHANGE:
        put_exchange(w, n);
        break;
    case KNOWN_PAIR:
        put_pair(w, n);
        break;
    case KNOWN_SUBSET:
        put_subset(w, n);
        break;
    case KNOWN_TWICE:
        PUT(w,
            "\tbar.arrive %" PRIu32 ", %" PRIu32 ";\n\tbar.%s %" PRIu32 ", %" PRIu32
            ";\n\tbar.sync 0;\n",
            n->which, w->p->threads, n->at ? "sync" : "arrive", n->which, w->p->threads);
        break;
    case KNOWN_BARRIER:
        line(w, n, n->which ? "barrier.sync 0" : "bar.sync 0");
        break;
    case KNOWN_REDUCE:
        line(w, n, reductions[n->which]);
        break;
    case KNOWN_ATOMIC:
        text_put(&w->text, "\t");
        put_guard(w, n->guard);
        PUT(w, "red.global.%s [acc+%" PRIu32 "], ", known_atomics[n->which].text, 4 * n->which);
        put(w, n, "%a;\n");
        break;
    case KNOWN_OWN:
        put_own(w, n);
        break;
    case KNOWN_FENCE:
        line(w, n, fences[n->which]);
        break;
    case KNOWN_WARP:
        put_warp(w, n);
        break;
    case KNOWN_FLAW:
        put_flaw(w, n);
        break;
    }
}

static void put_list(struct writing *w, const struct known_node *n)
{
    for (; n; n = n->next)
        put_node(w, n);
}

/* ---- functions ---- */

static void put_declarations(struct writing *w)
{
    for (uint32_t class = 0; class < KNOWN_CLASSES; class ++) {
        static const char *const types[] = {"b16", "b32", "b64", "pred"};
        PUT(w, "\t.reg .%s %c<%" PRIu32 ">;\n", types[class], known_letters[class],
            known_counts[class]);
    }
    PUT(w,
        "\t.reg .pred t;\n\t.reg .b32 u, v, m, i<%d>, l<%d>;\n"
        "\t.reg .b64 ga, sa, pa, at, fp;\n\t.local .align 16 .b8 loc[%d];\n"
        "\t.local .align 16 .b8 too[%d];\n",
        KNOWN_LOOPS, KNOWN_LOOPS, KNOWN_AREA, KNOWN_AREA);
    PUT(w,
        "\tmov.u32 u, %%tid.x;\n\tmov.u64 sa, mine;\n\tmad.wide.u32 sa, u, %d, sa;\n"
        "\tmov.u64 pa, pass;\n\tmad.wide.u32 pa, u, 4, pa;\n"
        "\tmov.u32 v, %%ctaid.x;\n\tmov.u32 m, %%ntid.x;\n\tmad.lo.u32 u, v, m, u;\n"
        "\tmov.u64 ga, out;\n\tmad.wide.u32 ga, u, %d, ga;\n",
        KNOWN_AREA, KNOWN_AREA);
}

/* u: the result. */
static void put_folding(struct writing *w)
{
    static const char fold[] = "\tmad.lo.u32 u, u, 31, v;\n";
    _Static_assert(KNOWN_FACTOR == 31, "as in `fold`");
    uint32_t shown = w->p->shown;
    text_put(&w->text, "\tmov.u32 u, 0;\n");
    for (uint32_t i = 0; i < known_counts[KNOWN_R]; i++)
        if (shown >> (KNOWN_SHOWN_R + i) & 1)
            PUT(w, "\tmad.lo.u32 u, u, %d, r%" PRIu32 ";\n", KNOWN_FACTOR, i);
    for (uint32_t i = 0; i < known_counts[KNOWN_W]; i++)
        if (shown >> (KNOWN_SHOWN_W + i) & 1)
            PUT(w, "\tmov.b64 {v, m}, w%" PRIu32 ";\n\txor.b32 v, v, m;\n%s", i, fold);
    for (uint32_t i = 0; i < known_counts[KNOWN_H]; i++)
        if (shown >> (KNOWN_SHOWN_H + i) & 1)
            PUT(w, "\tcvt.u32.u16 v, h%" PRIu32 ";\n%s", i, fold);
    for (uint32_t i = 0; i < known_counts[KNOWN_P]; i++)
        if (shown >> (KNOWN_SHOWN_P + i) & 1)
            PUT(w, "\tselp.u32 v, 1, 0, p%" PRIu32 ";\n%s", i, fold);
    for (uint32_t i = 0; i < KNOWN_AREA / 4; i++)
        if (shown >> (KNOWN_SHOWN_SHARED + i) & 1)
            PUT(w, "\tld.shared.u32 v, [sa+%" PRIu32 "];\n%s", 4 * i, fold);
    for (uint32_t i = 0; i < 2 * KNOWN_AREA / 4; i++) {
        bool too = i >= KNOWN_AREA / 4;
        if (shown >> (too ? KNOWN_SHOWN_LOCAL_TOO : KNOWN_SHOWN_LOCAL) & 1)
            PUT(w, "\tld.local.u32 v, [%s+%" PRIu32 "];\n%s", too ? "too" : "loc",
                4 * (i % (KNOWN_AREA / 4)), fold);
    }
}

static void put_function(struct writing *w, const struct known_function *function)
{
    w->function = function;
    PUT(w, ".func (.reg .b32 result) f%" PRIu32 "(.reg .b32 depth, .reg .b32 given)\n{\n",
        function->number);
    put_declarations(w);
    text_put(&w->text, "\tmov.u32 r0, given;\n");
    put_list(w, function->body);
    text_put(&w->text, "\tmov.u32 result, r0;\n\tret;\n}\n");
}

static void put_entry(struct writing *w)
{
    w->function = NULL;
    text_put(&w->text, ".visible .entry k()\n{\n");
    put_declarations(w);
    if (w->p->function_count > 0)
        text_put(&w->text, "\tproto: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);\n");
    put_list(w, w->p->main);
    put_folding(w);
    text_put(&w->text, "\tmov.u32 v, %ctaid.x;\n\tmov.u32 m, %ntid.x;\n\tmul.lo.u32 v, v, m;\n"
                       "\tmov.u32 m, %tid.x;\n\tadd.u32 v, v, m;\n\tmov.u64 at, res;\n"
                       "\tmad.wide.u32 at, v, 4, at;\n\tst.global.u32 [at], u;\n\texit;\n}\n");
}

/* ---- the whole ---- */

static uint32_t word_at(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put_final(struct writing *w, const char *subject)
{
    const struct known_program *p = w->p;
    uint32_t threads = p->threads * p->blocks;
    PUT(w, "// expect %srace_free, final res == {", subject);
    for (uint32_t t = 0; t < threads; t++)
        PUT(w, "%s%" PRId32, t ? ", " : "", (int32_t)p->results[t]);
    text_put(&w->text, "}, final out == {");
    for (uint32_t t = 0; t < threads; t++)
        for (uint32_t i = 0; i < KNOWN_AREA / 4; i++)
            PUT(w, "%s%" PRId32, t + i ? ", " : "", (int32_t)word_at(p->global[t] + 4 * i));
    text_put(&w->text, "}");
    for (uint32_t i = 0; p->accumulates && i < KNOWN_ACCUMULATORS; i++)
        PUT(w, "%s%" PRId32, i ? ", " : ", final acc == {", (int32_t)p->accumulators[i]);
    text_put(&w->text, p->accumulates ? "}\n" : "\n");
}

/* Of a program with a flaw: how it ends under each subject. A warp is in step, so its lanes do not race. */
static void put_flawed_end(struct writing *w)
{
    const struct known_program *p = w->p;
    static const char *const ends[KNOWN_FLAWS][2] = {
        [KNOWN_TRAP] = {"assert_fails", "assert_fails"},
        [KNOWN_BOUNDS] = {"out_of_bounds", "out_of_bounds"},
        [KNOWN_ALIGN] = {"out_of_bounds", "out_of_bounds"},
        [KNOWN_RACE] = {"race", "race"},
        [KNOWN_STARVE] = {"deadlock", "deadlock"},
        [KNOWN_COUNTS] = {"stuck", "barrier_error"},
        [KNOWN_MIXED] = {"stuck", "stuck"},
        [KNOWN_ABSENT] = {"stuck", NULL},
        [KNOWN_SEVERAL] = {NULL, "deadlock"},
    };
    const char *warps = ends[p->flaw][0], *threads = ends[p->flaw][1];
    if (p->flaw == KNOWN_RACE && p->warps == 1)
        warps = "race_free";
    if (warps) {
        PUT(w, "// expect crs: %s\n// expect thread-pc: %s\n", warps, warps);
    } else {
        put_final(w, "crs: ");
        put_final(w, "thread-pc: ");
    }
    if (threads && !p->warp_ops)
        PUT(w, "// expect block: %s\n", threads);
}

static void put_expectations(struct writing *w)
{
    const struct known_program *p = w->p;
    if (p->flaw != KNOWN_FLAWS) {
        put_flawed_end(w);
        return;
    }
    if (p->eager && !p->warp_ops)
        text_put(&w->text, "// expect block:eager: race_free\n");
    put_final(w, "");
}

static void put_variables(struct writing *w)
{
    struct known_program *p = w->p;
    uint32_t threads = p->threads * p->blocks;
    PUT(w, ".global .align 4 .b32 res[%" PRIu32 "];\n.global .align 16 .b8 out[%" PRIu32 "] = {",
        threads, threads * KNOWN_AREA);
    for (uint32_t i = 0; i < threads * KNOWN_AREA; i++)
        PUT(w, "%s%d", i ? "," : "", p->initial[i / KNOWN_AREA][i % KNOWN_AREA]);
    text_put(&w->text, "};\n");
    PUT(w, ".shared .align 16 .b8 mine[%" PRIu32 "];\n.shared .align 4 .b32 pass[%" PRIu32 "];\n",
        p->threads * KNOWN_AREA, p->threads);
    PUT(w, ".global .align 4 .b32 acc[%d] = {", KNOWN_ACCUMULATORS);
    for (uint32_t i = 0; i < KNOWN_ACCUMULATORS; i++)
        PUT(w, "%s%" PRId32, i ? ", " : "", (int32_t)known_atomics[i].start);
    text_put(&w->text, "};\n");
}

struct ast_kernel *known_kernel(struct known_program *p)
{
    struct arena *arena = p->g->arena;
    struct writing w = {.text.arena = arena, .p = p};
    PUT(&w, "// simtfuzz: threads=%" PRIu32 " blocks=%" PRIu32 " warp=%" PRIu32 "\n", p->threads,
        p->blocks, p->warp);
    put_expectations(&w);
    text_put(&w.text, ".version 7.0\n.target sm_80\n.address_size 64\n");
    put_variables(&w);
    for (uint32_t i = 0; i < p->function_count; i++)
        put_function(&w, p->functions[i]);
    put_entry(&w);
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, "generated", w.text.bytes, w.text.length);
    struct ast_kernel *kernel = ptx_kernel_parse(arena, w.text.bytes, w.text.length, diag);
    if (!kernel)
        diag_print(diag, stderr);
    INVARIANT(kernel);
    return kernel;
}
