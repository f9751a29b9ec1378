/* Programs with a known result as PTX. See gen_known.h. */
#include "fuzz/gen/gen_known_text.h"

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

static void put_guard(struct known_writing *w, uint32_t guard)
{
    if (guard)
        PUT(w, "@%sp%" PRIu32 " ", (guard - 1) % 2 ? "!" : "", (guard - 1) / 2);
}

static void put_operand(struct known_writing *w, const struct known_operand *o)
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

void known_put(struct known_writing *w, const struct known_node *n, const char *text)
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

void known_put_line(struct known_writing *w, const struct known_node *n, const char *text)
{
    text_put(&w->text, "\t");
    put_guard(w, n->guard);
    known_put(w, n, text);
    text_put(&w->text, ";\n");
}

static void put_list(struct known_writing *w, const struct known_node *n);

/* ---- memory ---- */

static void put_access(struct known_writing *w, const struct known_node *n)
{
    static const char *const spaces[] = {"global", "shared", "local", "local"};
    static const char *const bases[] = {"ga", "sa", "loc", "too"};
    uint32_t offset = n->at + (n->space == KNOWN_LOCAL ? KNOWN_AREA : 0); /* its upper half */
    const struct known_operand *first = n->kind == KNOWN_LOAD ? &n->d : &n->s[0];
    text_put(&w->text, "\t");
    put_guard(w, n->guard);
    PUT(w, "%s.%s%s.%c%" PRIu32 " ", n->kind == KNOWN_LOAD ? "ld" : "st", spaces[n->space],
        n->vector == 4   ? ".v4"
        : n->vector == 2 ? ".v2"
                         : "",
        n->is_signed ? 's' : 'u', 8 * n->bytes);
    if (n->kind == KNOWN_STORE)
        PUT(w, "[%s+%" PRIu32 "], ", bases[n->space], offset);
    text_put(&w->text, n->vector > 1 ? "{" : "");
    for (uint32_t i = 0; i < n->vector; i++) {
        struct known_operand o = *first;
        o.number = (o.number + i) % known_counts[o.class];
        text_put(&w->text, i ? ", " : "");
        put_operand(w, &o);
    }
    text_put(&w->text, n->vector > 1 ? "}" : "");
    if (n->kind == KNOWN_LOAD)
        PUT(w, ", [%s+%" PRIu32 "]", bases[n->space], offset);
    text_put(&w->text, ";\n");
}

static void put_own(struct known_writing *w, const struct known_node *n)
{
    static const char *const texts[] = {"exch.b32 %d, [%b+%n], %a", "cas.b32 %d, [%b+%n], %a, %b",
                                        "inc.u32 %d, [%b+%n], %a", "dec.u32 %d, [%b+%n], %a",
                                        "add.u32 %d, [%b+%n], %a"};
    const char *text = texts[n->which], *place = strstr(text, "[%b");
    bool shared = n->space == KNOWN_SHARED;
    text_put(&w->text, "\t");
    put_guard(w, n->guard);
    PUT(w, "atom.%s.", shared ? "shared" : "global");
    known_put(w, n, arena_strndup(w->text.arena, text, (size_t)(place - text)));
    text_put(&w->text, shared ? "[sa" : "[ga");
    known_put(w, n, place + 3);
    text_put(&w->text, ";\n");
}

/* ---- control flow ---- */

static void put_if(struct known_writing *w, const struct known_node *n)
{
    uint32_t label = w->labels++;
    text_put(&w->text, "\t@!");
    known_put(w, n, "%a");
    PUT(w, " bra $else%" PRIu32 ";\n", label);
    put_list(w, n->body);
    if (n->other)
        PUT(w, "\tbra $end%" PRIu32 ";\n", label);
    PUT(w, "$else%" PRIu32 ":\n", label);
    put_list(w, n->other);
    if (n->other)
        PUT(w, "$end%" PRIu32 ":\n", label);
}

static void put_loop(struct known_writing *w, const struct known_node *n)
{
    uint32_t label = w->labels++, i = n->which, outer = w->loop_label;
    w->loop_label = label;
    PUT(w, "\tmov.u32 i%" PRIu32 ", 0;\n\tmov.u32 l%" PRIu32 ", ", i, i);
    known_put(w, n, "%a;\n");
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

static void put_switch(struct known_writing *w, const struct known_node *n)
{
    uint32_t label = w->labels++;
    known_put(w, n, "\trem.u32 u, %a, ");
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

static void put_return(struct known_writing *w, const struct known_node *n)
{
    if (w->function)
        known_put_line(w, n,
                       w->p->keeps_trail ? "add.u32 result, r0, trail" : "mov.u32 result, r0");
    known_put_line(w, n, "ret");
}

static void put_call(struct known_writing *w, const struct known_node *n)
{
    if (!n->function) {
        text_put(&w->text, "\tsetp.ne.u32 t, depth, 0;\n\tsub.u32 u, depth, 1;\n");
        known_put(w, n, "\t@t call (%d), ");
        PUT(w, "f%" PRIu32, n->other_function->number);
        known_put(w, n, ", (u, %b);\n");
        return;
    }
    if (n->other_function) {
        PUT(w, "\tmov.u64 fp, f%" PRIu32 ";\n", n->function->number);
        known_put(w, n, "\t@%c ");
        PUT(w, "mov.u64 fp, f%" PRIu32 ";\n", n->other_function->number);
    }
    text_put(&w->text, "\t");
    put_guard(w, n->guard);
    known_put(w, n, "call (%d), ");
    if (n->other_function)
        text_put(&w->text, "fp");
    else
        PUT(w, "f%" PRIu32, n->function->number);
    known_put(w, n, ", (%a, %b)");
    text_put(&w->text, n->other_function ? ", proto;\n" : ";\n");
}

/* The register's value becomes part of the hash. */
static void put_fold(struct known_writing *w, const char *hash, enum known_class class,
                     uint32_t number)
{
    _Static_assert(KNOWN_FACTOR == 31, "as in the text");
    switch (class) {
    case KNOWN_H:
        PUT(w, "\tcvt.u32.u16 v, h%" PRIu32 ";\n", number);
        break;
    case KNOWN_W:
        PUT(w, "\tmov.b64 {v, m}, w%" PRIu32 ";\n\txor.b32 v, v, m;\n", number);
        break;
    case KNOWN_P:
        PUT(w, "\tselp.u32 v, 1, 0, p%" PRIu32 ";\n", number);
        break;
    case KNOWN_R:
    case KNOWN_CLASSES:
        PUT(w, "\tmad.lo.u32 %s, %s, 31, r%" PRIu32 ";\n", hash, hash, number);
        return;
    }
    PUT(w, "\tmad.lo.u32 %s, %s, 31, v;\n", hash, hash);
}

static void put_node(struct known_writing *w, const struct known_node *n)
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
    static const char *const fences[] = {"membar.gl", "fence.acq_rel.gpu", "nanosleep.u32 20",
                                         "prefetch.global.L1 [ga]"};
    switch (n->kind) {
    case KNOWN_COMPUTE:
        known_put(w, n, "\t");
        known_put(w, n, known_ops[n->op].text);
        known_put(w, n, ";\n");
        break;
    case KNOWN_SPECIAL:
        known_put_line(w, n, specials[n->which]);
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
        known_put_line(w, n, "exit");
        break;
    case KNOWN_CALL:
        put_call(w, n);
        break;
    case KNOWN_ATOMIC:
        text_put(&w->text, "\t");
        put_guard(w, n->guard);
        PUT(w, "red.global.%s [acc+%" PRIu32 "], ", known_atomics[n->which].text, 4 * n->which);
        known_put(w, n, "%a;\n");
        break;
    case KNOWN_OWN:
        put_own(w, n);
        break;
    case KNOWN_FENCE:
        known_put_line(w, n, fences[n->which]);
        break;
    case KNOWN_EXCHANGE:
    case KNOWN_PAIR:
    case KNOWN_SUBSET:
    case KNOWN_TWICE:
    case KNOWN_BARRIER:
    case KNOWN_REDUCE:
    case KNOWN_WARP:
    case KNOWN_FLAW:
        known_put_together(w, n);
        break;
    }
}

static void put_list(struct known_writing *w, const struct known_node *n)
{
    for (; n; n = n->next) {
        put_node(w, n);
        if (n->noted)
            put_fold(w, "trail", n->d.class, n->d.number);
    }
}

/* ---- functions ---- */

static void put_declarations(struct known_writing *w)
{
    for (uint32_t class = 0; class < KNOWN_CLASSES; class ++) {
        static const char *const types[] = {"b16", "b32", "b64", "pred"};
        PUT(w, "\t.reg .%s %c<%" PRIu32 ">;\n", types[class], known_letters[class],
            known_counts[class]);
    }
    PUT(w,
        "\t.reg .pred t;\n\t.reg .b32 u, v, m, trail, i<%d>, l<%d>;\n"
        "\t.reg .b64 ga, sa, pa, at, fp;\n\t.local .align 16 .b8 loc[%d];\n"
        "\t.local .align 16 .b8 too[%d];\n",
        KNOWN_LOOPS, KNOWN_LOOPS, 2 * KNOWN_AREA, KNOWN_AREA);
    PUT(w,
        "\tmov.u32 u, %%tid.x;\n\tmov.u64 sa, mine;\n\tmad.wide.u32 sa, u, %d, sa;\n"
        "\tmov.u64 pa, pass;\n\tmad.wide.u32 pa, u, 4, pa;\n"
        "\tmov.u32 v, %%ctaid.x;\n\tmov.u32 m, %%ntid.x;\n\tmad.lo.u32 u, v, m, u;\n"
        "\tmov.u64 ga, out;\n\tmad.wide.u32 ga, u, %d, ga;\n",
        KNOWN_AREA, KNOWN_AREA);
}

/* u: the result. */
static void put_folding(struct known_writing *w)
{
    static const char fold[] = "\tmad.lo.u32 u, u, 31, v;\n";
    static const uint32_t first[] = {KNOWN_SHOWN_R, KNOWN_SHOWN_W, KNOWN_SHOWN_H, KNOWN_SHOWN_P};
    static const enum known_class classes[] = {KNOWN_R, KNOWN_W, KNOWN_H, KNOWN_P};
    uint32_t shown = w->p->shown;
    PUT(w, "\tmov.u32 u, %s;\n", w->p->keeps_trail ? "trail" : "0");
    for (uint32_t c = 0; c < KNOWN_CLASSES; c++)
        for (uint32_t i = 0; i < known_counts[classes[c]]; i++)
            if (shown >> (first[c] + i) & 1)
                put_fold(w, "u", classes[c], i);
    for (uint32_t i = 0; i < KNOWN_AREA / 4; i++)
        if (shown >> (KNOWN_SHOWN_SHARED + i) & 1)
            PUT(w, "\tld.shared.u32 v, [sa+%" PRIu32 "];\n%s", 4 * i, fold);
    for (uint32_t i = 0; i < 2 * KNOWN_AREA / 4; i++) {
        bool too = i >= KNOWN_AREA / 4;
        if (shown >> (too ? KNOWN_SHOWN_LOCAL_TOO : KNOWN_SHOWN_LOCAL) & 1)
            PUT(w, "\tld.local.u32 v, [%s+%" PRIu32 "];\n%s", too ? "too" : "loc",
                too ? 4 * i - KNOWN_AREA : 4 * i + KNOWN_AREA, fold);
    }
}

static void put_function(struct known_writing *w, const struct known_function *function)
{
    w->function = function;
    PUT(w, ".func (.reg .b32 result) f%" PRIu32 "(.reg .b32 depth, .reg .b32 given)\n{\n",
        function->number);
    put_declarations(w);
    text_put(&w->text, "\tmov.u32 r0, given;\n");
    put_list(w, function->body);
    PUT(w, "\t%s;\n\tret;\n}\n",
        w->p->keeps_trail ? "add.u32 result, r0, trail" : "mov.u32 result, r0");
}

static void put_entry(struct known_writing *w)
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

void known_put_functions(struct known_writing *w)
{
    for (uint32_t i = 0; i < w->p->function_count; i++)
        put_function(w, w->p->functions[i]);
    put_entry(w);
}
