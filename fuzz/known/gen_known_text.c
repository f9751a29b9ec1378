/* Programs with a known result as PTX. See gen_known.h. */
#include "fuzz/known/gen_known_text.h"

#include <string.h>

const uint32_t known_counts[KNOWN_CLASSES] = {
    [KNOWN_H] = 2, [KNOWN_R] = KNOWN_REGISTERS, [KNOWN_W] = 3, [KNOWN_P] = 4};
const char known_letters[KNOWN_CLASSES] = {
    [KNOWN_H] = 'h', [KNOWN_R] = 'r', [KNOWN_W] = 'w', [KNOWN_P] = 'p'};

const struct known_op_info known_ops[KNOWN_OP_COUNT] = {
#define KNOWN_OP(id, result, operands, text, value) [KNOWN_OP_##id] = {result, operands, text},
#include "fuzz/known/gen_known_ops.def"
};

const struct known_atomic known_atomics[KNOWN_ACCUMULATORS] = {
    {"add.u32", 5},           {"xor.b32", 0x5555},     {"or.b32", 0},
    {"and.b32", UINT32_MAX},  {"max.u32", 0},          {"min.u32", 0xfffffff0},
    {"max.s32", 0x80000000u}, {"min.s32", 0x7fffffff},
};

const struct known_given known_givens[KNOWN_GIVEN_COUNT] = {
#define KNOWN_GIVEN_ROW(id, ...) [KNOWN_GIVEN_##id] = {__VA_ARGS__},
#include "fuzz/known/gen_known_given.def"
};

bool known_reads(const struct known_program *p, const char *name)
{
    for (uint32_t i = 0; i < KNOWN_GIVEN_COUNT; i++)
        if ((p->givens >> i & 1) && strstr(known_givens[i].text, name))
            return true;
    return false;
}

static const char *guard_text(struct known_writing *w, uint32_t guard)
{
    return guard ? arena_printf(w->text.arena, "@%sp%" PRIu32 " ", (guard - 1) % 2 ? "!" : "",
                                (guard - 1) / 2)
                 : "";
}

static void put_guard(struct known_writing *w, uint32_t guard)
{
    text_put(&w->text, guard_text(w, guard));
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

static void put_given(struct known_writing *w, const struct known_node *n)
{
    const struct known_given *given = &known_givens[n->which];
    if (given->count > 1) {
        known_put(w, n, "\tand.b32 u, %a, ");
        PUT(w, "%" PRIu32 ";\n", given->count - 1);
    }
    text_put(&w->text, "\t");
    known_put(w, n, given->text);
    text_put(&w->text, ";\n");
}

enum { BACK = 64 }; /* addresses that lie behind what is accessed */

/* "[base+offset]", or a generic address in `at`. */
static const char *put_address(struct known_writing *w, const struct known_node *n,
                               const char *space, const char *base)
{
    struct arena *arena = w->text.arena;
    uint32_t offset = n->at + (n->space == KNOWN_LOCAL ? KNOWN_AREA : 0); /* its upper half */
    bool is_local = n->space == KNOWN_LOCAL || n->space == KNOWN_LOCAL_TOO;
    if (!n->generic)
        return arena_printf(arena, "[%s+%" PRIu32 "]", base, offset);
    if (is_local)
        PUT(w, "\tmov.u64 at, %s;\n", base);
    PUT(w, "\tcvta.%s.u64 at, %s;\n", space, is_local ? "at" : base);
    if (!n->back)
        return arena_printf(arena, "[at+%" PRIu32 "]", offset);
    PUT(w, "\tadd.u64 at, at, %d;\n", BACK);
    return arena_printf(arena, "[at+-%" PRIu32 "]", BACK - offset);
}

static void put_access(struct known_writing *w, const struct known_node *n)
{
    static const char *const spaces[] = {"global", "shared", "local", "local"};
    static const char *const bases[] = {"ga", "sa", "loc", "too"};
    static const char *const operators[2][KNOWN_THROUGHS] = {
        {"", ".ca", ".cg", ".cs", ".cv", ".volatile"},
        {"", ".wb", ".cg", ".cs", ".wt", ".volatile"}};
    const struct known_operand *first = n->kind == KNOWN_LOAD ? &n->d : &n->s[0];
    const char *through = operators[n->kind == KNOWN_STORE][n->through];
    bool is_volatile = n->through == KNOWN_VOLATILE;
    const char *address = put_address(w, n, spaces[n->space], bases[n->space]);
    text_put(&w->text, "\t");
    put_guard(w, n->guard);
    PUT(w, "%s%s%s%s%s%s.%c%" PRIu32 " ", n->kind == KNOWN_LOAD ? "ld" : "st",
        is_volatile ? through : "", n->generic ? "" : ".", n->generic ? "" : spaces[n->space],
        is_volatile ? "" : through,
        n->vector == 4   ? ".v4"
        : n->vector == 2 ? ".v2"
                         : "",
        n->is_signed ? 's' : 'u', 8 * n->bytes);
    if (n->kind == KNOWN_STORE)
        PUT(w, "%s, ", address);
    text_put(&w->text, n->vector > 1 ? "{" : "");
    for (uint32_t i = 0; i < n->vector; i++) {
        struct known_operand o = *first;
        o.number = (o.number + i) % known_counts[o.class];
        text_put(&w->text, i ? ", " : "");
        put_operand(w, &o);
    }
    text_put(&w->text, n->vector > 1 ? "}" : "");
    if (n->kind == KNOWN_LOAD)
        PUT(w, ", %s", address);
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

/* One's own mbarrier, of one phase, hears of a copy: of cp.async or a bulk one. */
static void put_heard_copy(struct known_writing *w, const struct known_node *n)
{
    const uint32_t label = w->labels++;
    const bool bulk = n->count == KNOWN_COPY_BULK;
    if (n->guard)
        PUT(w, "\t@%sp%" PRIu32 " bra $done%" PRIu32 ";\n", (n->guard - 1) % 2 ? "" : "!",
            (n->guard - 1) / 2, label);
    text_put(&w->text, "\tmov.u64 at, heard;\n\tmad.wide.u32 at, tid, 8, at;\n"
                       "\tmbarrier.init.shared.b64 [at], 1;\n");
    if (bulk)
        PUT(w,
            "\tmbarrier.arrive.expect_tx.shared.b64 _, [at], %d;\n"
            "\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sa], [ga], %d, "
            "[at];\n",
            KNOWN_AREA, KNOWN_AREA);
    else
        PUT(w,
            "\tcp.async.ca.shared::cta.global.L2::128B [sa+%" PRIu32 "], [ga+%" PRIu32 "], %" PRIu32
            ", u;\n\tcp.async.mbarrier.arrive.noinc.shared.b64 [at];\n",
            n->at, n->which, n->bytes);
    PUT(w,
        "$wait%" PRIu32
        ":\tmbarrier.try_wait.parity.shared.b64 t, [at], 0;\n\t@!t bra $wait%" PRIu32
        ";\n\tmbarrier.inval.shared.b64 [at];\n$done%" PRIu32 ":\n",
        label, label, label);
}

/* Back, in one piece; first what is read may be written again, then all is done. */
static void put_copy_out(struct known_writing *w, const struct known_node *n)
{
    PUT(w, "\t");
    put_guard(w, n->guard);
    PUT(w, "cp.async.bulk.global.shared::cta.bulk_group [ga], [sa], %d;\n", KNOWN_AREA);
    known_put_line(w, n, "cp.async.bulk.commit_group");
    known_put_line(w, n, "cp.async.bulk.wait_group.read 0");
    known_put_line(w, n, "cp.async.bulk.wait_group 0");
}

/* Behind a later group that is empty, `wait_group 1` waits for this one. */
static void put_copy(struct known_writing *w, const struct known_node *n)
{
    static const char *const waits[] = {"cp.async.wait_all", "cp.async.wait_group 0",
                                        "cp.async.commit_group", "cp.async.wait_group 1"};
    known_put(w, n, "\tmin.u32 u, %a, ");
    PUT(w, "%" PRIu32 ";\n", n->bytes);
    if (n->count >= KNOWN_COPY_HEARD) {
        if (n->count == KNOWN_COPY_OUT)
            put_copy_out(w, n);
        else
            put_heard_copy(w, n);
        return;
    }
    text_put(&w->text, "\t");
    put_guard(w, n->guard);
    PUT(w, "cp.async.%s.shared.global [sa+%" PRIu32 "], [ga+%" PRIu32 "], %" PRIu32 ", u;\n",
        n->bytes == 16 ? "cg" : "ca", n->at, n->which, n->bytes);
    if (n->count > 0)
        known_put_line(w, n, "cp.async.commit_group");
    known_put_line(w, n, waits[n->count]);
    if (n->count == 2)
        known_put_line(w, n, waits[3]);
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
    PUT(w, ";\n\tbrx.idx%s u, $table%" PRIu32 ";\n", n->says_uniform ? ".uni" : "", label);
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
    if (w->function && w->p->by_memory) {
        known_put_line(w, n, "st.param.b32 [answer+8], result");
        known_put_line(w, n, "st.param.b16 [answer+2], result");
    }
    known_put_line(w, n, "ret");
}

/* Arguments in memory: the value's lowest byte lies apart, in what comes back its lower half. `back`: the depth is not
 * copied before. */
static void put_arguments(struct known_writing *w, const struct known_node *n, const char *depth)
{
    if (!w->p->by_memory)
        return;
    text_put(&w->text,
             "\t{\n\t.reg .b16 some;\n\t.param .b32 arg;\n\t.param .align 8 .b8 pack[16];\n"
             "\t.param .align 8 .b8 q[16];\n\tmov.u32 v, ");
    known_put(w, n, "%b");
    text_put(&w->text, ";\n\txor.b32 m, v, 255;\n\tst.param.b8 [pack+3], v;\n"
                       "\tst.param.v2.b32 [pack+8], {m, v};\n");
    if (n->back) {
        text_put(&w->text, "\tmov.u16 some, 456;\n");
        return;
    }
    text_put(&w->text, "\tmov.u16 some, 456;\n\tst.param.b32 [arg], ");
    known_put(w, n, depth);
    text_put(&w->text, ";\n");
}

/* "call (%d), NAME, (depth, %b)", and what comes back. `guard`: as text. */
static void put_callee(struct known_writing *w, const struct known_node *n, const char *guard,
                       const char *name, const char *depth, bool indirect)
{
    const char *more = indirect ? ", proto" : "";
    if (w->p->by_memory) {
        PUT(w, "\t%scall (q), %s, (", guard, name);
        known_put(w, n, n->back ? depth : "arg");
        PUT(w, ", pack, some, sa)%s;\n", more);
        text_put(&w->text, "\tld.param.u32 u, [q+8];\n\tld.param.u16 v, [q+2];\n"
                           "\tand.b32 u, u, -65536;\n\t");
        text_put(&w->text, guard);
        known_put(w, n, "or.b32 %d, u, v;\n\t}\n");
        return;
    }
    PUT(w, "\t%s", guard);
    known_put(w, n, "call (%d), ");
    PUT(w, "%s, (", name);
    known_put(w, n, depth);
    known_put(w, n, ", %b)");
    PUT(w, "%s;\n", more);
}

static void put_call(struct known_writing *w, const struct known_node *n)
{
    struct arena *arena = w->text.arena;
    const struct known_function *named = n->function ? n->function : n->other_function;
    const char *name = arena_printf(arena, "f%" PRIu32, named->number);
    if (!n->function) {
        text_put(&w->text, "\tsetp.ne.u32 t, depth, 0;\n\tsub.u32 u, depth, 1;\n");
        put_arguments(w, n, "u");
        put_callee(w, n, "@t ", name, "u", false);
        return;
    }
    if (n->other_function && n->generic) {
        known_put(w, n, "\tselp.u32 u, ");
        PUT(w, "%" PRIu32 ", %" PRIu32, 8 * n->other_function->number, 8 * n->function->number);
        known_put(w, n,
                  ", %c;\n\tcvt.u64.u32 at, u;\n\tmov.u64 fp, table;\n"
                  "\tadd.u64 fp, fp, at;\n\tld.global.u64 fp, [fp];\n");
    } else if (n->other_function) {
        PUT(w, "\tmov.u64 fp, f%" PRIu32 ";\n", n->function->number);
        known_put(w, n, "\t@%c ");
        PUT(w, "mov.u64 fp, f%" PRIu32 ";\n", n->other_function->number);
    }
    put_arguments(w, n, "%a");
    put_callee(w, n, guard_text(w, n->guard), n->other_function ? "fp" : name, "%a",
               n->other_function != NULL);
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
        [KNOWN_TID_Y] = "mov.u32 %d, %%tid.y",
        [KNOWN_BLOCK_Y] = "mov.u32 %d, %%ctaid.y",
        [KNOWN_BLOCK_SIZE_Y] = "mov.u32 %d, %%ntid.y",
        [KNOWN_BLOCKS_Y] = "mov.u32 %d, %%nctaid.y",
        [KNOWN_NONE] = "mov.u32 %d, %%tid.z",
        [KNOWN_WARPS] = "mov.u32 %d, %%nwarpid",
        [KNOWN_LANES_EQUAL] = "mov.u32 %d, %%lanemask_eq",
        [KNOWN_LANES_MOST] = "mov.u32 %d, %%lanemask_le",
        [KNOWN_LANES_MORE] = "mov.u32 %d, %%lanemask_gt",
        [KNOWN_LANES_LESS] = "mov.u32 %d, %%lanemask_lt",
        [KNOWN_LANES_LEAST] = "mov.u32 %d, %%lanemask_ge",
    };
    static const char *const fences[] = {"membar.gl",        "fence.acq_rel.gpu",
                                         "nanosleep.u32 20", "prefetch.global.L1 [ga]",
                                         "membar.cta",       "membar.sys"};
    switch (n->kind) {
    case KNOWN_COMPUTE:
        known_put(w, n, "\t");
        known_put(w, n, known_ops[n->op].text);
        known_put(w, n, ";\n");
        break;
    case KNOWN_SPECIAL:
        known_put_line(w, n, specials[n->which]);
        break;
    case KNOWN_GIVEN:
        put_given(w, n);
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
    case KNOWN_COPY:
        put_copy(w, n);
        break;
    case KNOWN_FENCE:
        known_put_line(w, n, fences[n->which]);
        break;
    case KNOWN_EXCHANGE:
    case KNOWN_NEIGHBOUR:
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

/* tid, size: in the block; v: the block. */
static void put_numbers(struct known_writing *w)
{
    const struct known_program *p = w->p;
    text_put(&w->text, "\tmov.u32 tid, %tid.x;\n\tmov.u32 size, %ntid.x;\n");
    if (p->width != p->threads)
        text_put(&w->text, "\tmov.u32 u, %tid.y;\n\tmad.lo.u32 tid, u, size, tid;\n"
                           "\tmov.u32 u, %ntid.y;\n\tmul.lo.u32 size, size, u;\n");
    text_put(&w->text, "\tmov.u32 v, %ctaid.x;\n");
    if (p->grid_width != p->blocks)
        text_put(&w->text, "\tmov.u32 u, %ctaid.y;\n\tmov.u32 m, %nctaid.x;\n"
                           "\tmad.lo.u32 v, u, m, v;\n");
}

static void put_declarations(struct known_writing *w)
{
    for (uint32_t class = 0; class < KNOWN_CLASSES; class ++) {
        static const char *const types[] = {"b16", "b32", "b64", "pred"};
        PUT(w, "\t.reg .%s %c<%" PRIu32 ">;\n", types[class], known_letters[class],
            known_counts[class]);
    }
    PUT(w,
        "\t.reg .pred t;\n\t.reg .b32 u, v, m, tid, size, trail, i<%d>, l<%d>;\n"
        "\t.reg .b64 ga, sa, pa, at, base, fp;\n\t.local .align 16 .b8 loc[%d];\n"
        "\t.local .align 16 .b8 too[%d];\n",
        KNOWN_LOOPS, KNOWN_LOOPS, 2 * KNOWN_AREA, KNOWN_AREA);
    put_numbers(w);
    PUT(w,
        "\tmov.u64 sa, mine;\n\tmad.wide.u32 sa, tid, %d, sa;\n"
        "\tmov.u64 pa, pass;\n\tmad.wide.u32 pa, tid, 4, pa;\n"
        "\tmad.lo.u32 u, v, size, tid;\n"
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
    const struct known_node end = {.kind = KNOWN_RETURN};
    if (w->p->by_memory)
        PUT(w,
            ".func (.param .align 8 .b8 answer[16]) f%" PRIu32
            "(.param .b32 deep, .param .align 8 .b8 parcel[16], .param .u16 small, .param .b64 "
            "shares)\n{\n"
            "\t.reg .b32 result, depth, worth;\n",
            function->number);
    else
        PUT(w, ".func (.reg .b32 result) f%" PRIu32 "(.reg .b32 depth, .reg .b32 worth)\n{\n",
            function->number);
    put_declarations(w);
    if (w->p->by_memory)
        text_put(&w->text, "\tld.param.u32 depth, [deep];\n\tld.param.u32 worth, [parcel+8];\n"
                           "\tld.param.u8 u, [parcel+3];\n\tand.b32 worth, worth, -256;\n"
                           "\tor.b32 worth, worth, u;\n\tld.param.u16 u, [small];\n"
                           "\tld.param.u64 at, [shares];\n\tsub.u64 at, at, sa;\n"
                           "\tcvt.u32.u64 v, at;\n\tadd.u32 v, v, u;\n\tsub.u32 v, v, 456;\n"
                           "\tadd.u32 worth, worth, v;\n");
    text_put(&w->text, "\tmov.u32 r0, worth;\n");
    put_list(w, function->body);
    put_return(w, &end);
    text_put(&w->text, "}\n");
}

/* at: the thread's result. */
static void put_place(struct known_writing *w)
{
    PUT(w, "\tmov.u64 at, out;\n\tsub.u64 at, ga, at;\n\tshr.u64 at, at, 2;\n"
           "\tmov.u64 base, res;\n\tadd.u64 at, at, base;\n");
    _Static_assert(KNOWN_AREA == 16, "four times a result's bytes");
}

/* Those that the settings bind, and of the others those that are read. */
static void put_parameters(struct known_writing *w)
{
    static const struct {
        const char *name, *text;
    } unbound[] = {
        {"any_u8", ".param .u8 any_u8"},    {"any_s16", ".param .s16 any_s16"},
        {"any_b32", ".param .b32 any_b32"}, {"any_f32", ".param .f32 any_f32"},
        {"any_f64", ".param .f64 any_f64"}, {"any_box", ".param .align 8 .b8 any_box[16]"},
        {"any_u64", ".param .u64 any_u64"}, {"any_s64", ".param .s64 any_s64"},
        {"any_b64", ".param .b64 any_b64"}};
    text_put(&w->text, ".param .u16 number, .param .f32 single, .param .u64 buffer,\n"
                       "\t.param .align 4 .b8 box[8]");
    for (size_t i = 0; i < sizeof unbound / sizeof unbound[0]; i++)
        if (known_reads(w->p, unbound[i].name))
            PUT(w, ",\n\t%s", unbound[i].text);
}

static void put_entry(struct known_writing *w)
{
    w->function = NULL;
    text_put(&w->text, ".visible .entry k(");
    if (w->p->has_arguments)
        put_parameters(w);
    text_put(&w->text, ")\n{\n");
    put_declarations(w);
    if (w->p->function_count > 0)
        text_put(&w->text,
                 w->p->by_memory
                     ? "\tproto: .callprototype (.param .align 8 .b8 _[16]) _ (.param .b32 _, "
                       ".param .align 8 .b8 _[16], .param .u16 _, .param .b64 _);\n"
                     : "\tproto: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);\n");
    put_list(w, w->p->main);
    put_folding(w);
    put_place(w);
    text_put(&w->text, "\tst.global.u32 [at], u;\n\texit;\n}\n");
}

void known_put_functions(struct known_writing *w)
{
    for (uint32_t i = 0; i < w->p->function_count; i++)
        put_function(w, w->p->functions[i]);
    for (uint32_t i = 0; i < w->p->function_count; i++)
        PUT(w, "%sf%" PRIu32, i ? ", " : ".global .align 8 .u64 table[] = {", i);
    text_put(&w->text, w->p->function_count ? "};\n" : "");
    if (w->p->odd)
        text_put(&w->text, ".func odd(.reg .b32 one)\n{\n\tret;\n}\n");
    put_entry(w);
}
