/*
 * emitted_kernel.c - kernels written in OpenCL C, CUDA C and GLSL, run as C says, in plain PTX, run by `block`, and as
 * blocks, against the executions of `threads`: a valid kernel leaves one memory. Each thread has words of its own, so
 * threads may run one after the other.
 */
#include "engine/emit/emit.h"
#include "engine/forms/lower.h"
#include "engine/forms/lower_cfg.h"
#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "engine/schedule/sched.h"
#include "engine/subjects/forms.h"
#include "oracle/drawn/drawn.h"
#include "oracle/emitted/emitted.h"
#include "oracle/runs/b_run.h"
#include "oracle/runs/c_run.h"

#include <string.h>

enum {
    BUDGET = 1 << 16,
    SECOND = 3 /* elements of z, the other shared array */,
    EXPOSES_SHARE = 5
};

struct kernel {
    struct drawn *d;
    uint32_t threads, blocks;
    bool shared; /* there is a shared array; one thread a block, or they meet */
    bool meets;  /* several threads with barriers, which all of them come to: none leaves */
    bool inside; /* some barrier stands in a branch or loop */
    bool may_meet, has_cas; /* as the language can */
    bool in_function;       /* whose variables are x and y */
    bool has_function;
    bool helper;     /* h, which the function calls, may end the thread */
    bool recursive;  /* the function calls itself, n deep */
    bool returns;    /* it has a value */
    uint32_t length; /* of the function's own array, v; 0: it has none */
    uint32_t own;    /* elements of w */
    bool
        exposed; /* as emit_expose has it: private variables are left in `ends`, loops in `trips` */
    uint32_t deep, loops, switches;
};

static void put(struct kernel *k, const char *text)
{
    text_put(&k->d->text, text);
}

static uint32_t below(struct kernel *k, uint32_t n)
{
    return drawn_below(k->d, n);
}

/* ---- what is exposed ---- */

enum { EXPOSED_MOST = 24, FILE_SCALARS = 2, LOCALS = 6 };

static uint32_t exposed_words(const struct kernel *k)
{
    const uint32_t words = FILE_SCALARS + k->own + LOCALS;
    return words < EXPOSED_MOST ? words : EXPOSED_MOST;
}

/* Before a thread ends: variables of the file, then those of the kernel, which only its own text can name. */
static void ends(struct kernel *k)
{
    static const char *const names[] = {"u", "b", "trips", "a", "i", "r0", "r1", "r2"};
    const uint32_t words = exposed_words(k), of_file = FILE_SCALARS + k->own;
    for (uint32_t word = 0; word < words && k->exposed; word++) {
        if (k->in_function && word >= of_file)
            break;
        text_format(&k->d->text, "ends[(bid * threads + tid) * %u + %u] = ", words, word);
        if (word >= FILE_SCALARS && word < of_file)
            text_format(&k->d->text, "w[%u]; ", word - FILE_SCALARS);
        else
            text_format(&k->d->text, "%s; ", names[word < of_file ? word : word - k->own]);
    }
}

/* At the end of a loop's body. */
static void trip(struct kernel *k)
{
    if (k->exposed && !k->in_function)
        put(k, "trips = trips * 31 + (1 + a + i + r0 + r1 + r2); ");
}

/* ---- expressions ---- */

/* Of the function's own array, which each call has anew, or of the second shared one. */
static bool array_element(struct kernel *k)
{
    const uint32_t length = k->in_function ? k->length : k->shared ? (uint32_t)SECOND : 0;
    if (length == 0 || below(k, 3) > 0)
        return false;
    text_format(&k->d->text, k->in_function ? "v[%u]" : "z[%u]", below(k, length));
    return true;
}

static void leaf(struct kernel *k)
{
    static const char *const bounds[] = {"0",  "1",  "-1", "31",         "32",          "33",
                                         "-2", "64", "7",  "2147483647", "-2147483648", "65535"};
    static const char *const ids[] = {"tid",  "bid",  "threads",  "blocks",
                                      "lane", "warp", "warp_size"};
    static const char *const own[] = {"a", "b", "i", "u", "w[0]", "w[1]"};
    switch (below(k, 5)) {
    case 0:
        put(k, bounds[below(k, 12)]);
        break;
    case 1:
        text_format(&k->d->text, "%d", (int)(int32_t)pcg_next(&k->d->rng));
        break;
    case 2:
        put(k, ids[below(k, 7)]);
        break;
    default:
        if (!array_element(k))
            put(k, k->in_function ? (below(k, 2) ? "x" : "y") : own[below(k, 6)]);
        break;
    }
}

static void expression(struct kernel *k, uint32_t depth)
{
    static const char *const unary[] = {"-(", "!(", "~("};
    static const char *const left[] = {"-2147483648", "2147483647", "-1", "5"};
    static const char *const right[] = {"-1", "0", "31", "32", "-2147483648"};
    uint32_t kind = depth == 0 ? 0 : below(k, 10), op = below(k, BINARY_COUNT);
    const char *binary = drawn_operators[op].token;
    if (kind == 0) {
        leaf(k);
    } else if (kind == 9) { /* where C leaves open what comes out */
        text_format(&k->d->text, "((%s ^ (b & 0)) ", left[below(k, 4)]);
        text_format(&k->d->text, "%s %s)", binary, right[below(k, 5)]);
    } else if (kind == 1) {
        put(k, unary[op % 3]);
        expression(k, depth - 1);
        put(k, ")");
    } else if (kind == 2) {
        put(k, "(");
        expression(k, depth - 1);
        put(k, " ? ");
        expression(k, depth - 1);
        put(k, " : ");
        expression(k, depth - 1);
        put(k, ")");
    } else if (kind == 3 && below(k, 3) == 0) { /* an element that is there only where it is read */
        const char *array = k->shared && !k->meets && op % 2 ? "s" : "c",
                   *const indices[] = {"(x | 65536)", "x", "(a | 65536)", "a"},
                   *own = indices[(k->in_function ? 0 : 2) + below(k, 2)];
        text_format(&k->d->text,
                    op % 4 >= 2  ? "((%s & -4) ? "
                    : op / 4 % 2 ? "((%s & -4) == 0 ? %s[%s] : "
                                 : "((%s & -4) == 0 ? (tid ? 1 : %s[%s]) : ",
                    own, array, own);
        expression(k, depth - 1);
        text_format(&k->d->text, op % 4 < 2 ? ")" : " : %s[%s])", array, own);
    } else if (kind == 3) {
        put(k, k->shared && !k->meets && op % 2 ? "s[(" : "c[(");
        expression(k, depth - 1);
        put(k, ") & 3]");
    } else {
        put(k, "(");
        expression(k, depth - 1);
        text_format(&k->d->text, " %s ", binary);
        expression(k, depth - 1);
        put(k, ")");
    }
}

static void whole(struct kernel *k)
{
    uint32_t depth = below(k, 4);
    expression(k, depth);
}

/* ---- statements ---- */

static void statements(struct kernel *k, uint32_t most);

static void place(struct kernel *k)
{
    static const char *const own[] = {"a", "u", "w[0]", "w[1]", "w[b & 1]"};
    if ((k->in_function || !k->meets) && array_element(k))
        return;
    if (k->in_function)
        put(k, below(k, 2) ? "x" : "y");
    else if (below(k, 3) == 0)
        text_format(&k->d->text, "g[(bid * threads + tid) * 3 + %u]", below(k, 3));
    else
        put(k, own[below(k, 5)]);
}

static void assignment(struct kernel *k)
{
    static const char *const ops[] = {"=", "=", "+=", "-=", "*=", "^=", "|=", "&="};
    place(k);
    text_format(&k->d->text, " %s ", ops[below(k, 8)]);
    whole(k);
    put(k, "; ");
}

/* Loops count: r0, r1, .. are nobody else's. */
static void loop(struct kernel *k)
{
    uint32_t kind = below(k, 3), own = k->deep++, trips = 1 + below(k, 3);
    k->loops++;
    if (kind == 0)
        text_format(&k->d->text, "for (r%u = 0; r%u < %u; r%u++) { ", own, own, trips, own);
    else if (kind == 1)
        text_format(&k->d->text, "r%u = 0; while (r%u < %u) { r%u = r%u + 1; ", own, own, trips,
                    own, own);
    else
        text_format(&k->d->text, "r%u = 0; do { r%u += 1; ", own, own);
    statements(k, 3);
    trip(k);
    put(k, "} ");
    if (kind == 2)
        text_format(&k->d->text, "while (r%u < %u); ", own, trips);
    k->loops--;
    k->deep--;
}

static void choice(struct kernel *k)
{
    k->deep++;
    if (below(k, 3) == 0) {
        put(k, "switch ((");
        whole(k);
        k->switches++;
        put(k, ") & 3) { case 0: ");
        statements(k, 2);
        put(k, "case 1: case -5: ");
        statements(k, 2);
        put(k, below(k, 2) ? "break; case 3: " : "case 3: ");
        statements(k, 2);
        put(k, below(k, 2) ? "default: " : "");
        if (k->d->text.bytes[k->d->text.length - 2] == ':')
            statements(k, 2);
        k->switches--;
        put(k, "} ");
    } else {
        put(k, "if (");
        whole(k);
        put(k, ") { ");
        statements(k, 3);
        put(k, below(k, 2) ? "} else { " : "} if (!b) { ");
        statements(k, 2);
        put(k, "} ");
    }
    k->deep--;
}

static void call(struct kernel *k)
{
    if (k->in_function || !k->has_function) {
        assignment(k);
        return;
    }
    put(k, below(k, 2) && k->returns ? "a = f(" : "f(");
    put(k, k->recursive ? "2, " : "");
    whole(k);
    put(k, ", ");
    whole(k);
    put(k, "); ");
}

static void atomic(struct kernel *k)
{
    static const char *const names[] = {"add", "min", "max", "and", "or", "exch", "cas"};
    uint32_t op = below(k, k->has_cas ? 7 : 6);
    text_format(&k->d->text, "%satomic_%s(g[(bid * threads + tid) * 3 + %u], ",
                k->in_function ? "x = " : "a = ", names[op], op % 3);
    whole(k);
    put(k, op == 6 ? ", " : "");
    if (op == 6)
        whole(k);
    put(k, "); ");
}

static void jump(struct kernel *k)
{
    uint32_t kind = below(k, 6);
    put(k, "if (");
    whole(k);
    put(k, ") { ");
    if (k->in_function && k->helper && below(k, 2)) {
        put(k, "h(");
        whole(k);
        put(k, "); } ");
    } else if (kind < 2 && k->loops + k->switches > 0)
        put(k, "break; } ");
    else if (kind == 2 && k->loops > 0)
        put(k, "continue; } ");
    else if (k->in_function && (kind > 4 || k->meets))
        put(k, k->returns ? "return x; } " : "return; } ");
    else if (k->meets)
        put(k, "i = 1; } ");
    else {
        ends(k);
        put(k, kind == 3 || k->in_function ? "exit; } " : "return; } ");
    }
}

static void statements(struct kernel *k, uint32_t most)
{
    for (uint32_t i = below(k, most + 1); i > 0; i--) {
        uint32_t kind = below(k, 12);
        if (kind < 2 && k->deep < 3)
            loop(k);
        else if (kind < 4 && k->deep < 3)
            choice(k);
        else if (kind == 4)
            call(k);
        else if (kind == 5)
            atomic(k);
        else if (kind == 6 || (kind == 7 && k->in_function))
            jump(k);
        else if (kind == 7 && below(k, 4) == 0)
            put(k, below(k, 2) ? "membar(); " : "assert(!0); ");
        else
            assignment(k);
    }
}

/* Each thread gives a word and, behind a barrier, takes one, which nobody changes until all have it. */
static void exchange(struct kernel *k)
{
    static const char *const same[] = {"for (r0 = 0; r0 < 2; r0++) { ", "if (blocks > 1) { ",
                                       "if (bid) { ", "{ "};
    const uint32_t kind = below(k, 4);
    k->inside |= kind < 3;
    put(k, same[kind]);
    put(k, "s[tid] = ");
    whole(k);
    put(k, "; barrier(); a ^= s[(");
    whole(k);
    put(k, ") & 3]; w[1] = z[tid]; barrier(); ");
    if (kind == 0)
        trip(k);
    put(k, "} ");
}

/* ---- the kernel ---- */

static void function(struct kernel *k)
{
    k->in_function = true;
    if (k->helper) {
        put(k, "void h(int x) { if (x & 1) { ");
        ends(k);
        put(k, "exit; } u += x; } ");
    }
    k->length = below(k, 2) ? 1 + below(k, 5) : 0;
    put(k, k->returns ? "int " : "void ");
    put(k, k->recursive ? "f(int n, int x, int y) { " : "f(int x, int y) { ");
    put(k, "private int r0, r1, r2; ");
    if (k->length > 0)
        text_format(&k->d->text, "private int v[%u]%s; ", k->length, below(k, 2) ? " = {7}" : "");
    statements(k, 4);
    if (k->recursive) {
        put(k, k->returns ? "if (n > 0) { y = f(n - 1, " : "if (n > 0) { f(n - 1, ");
        whole(k);
        put(k, ", ");
        whole(k);
        put(k, "); } ");
        statements(k, 1);
    }
    put(k, k->returns ? "u ^= x; return " : "u ^= ");
    whole(k);
    put(k, "; } ");
    k->in_function = false;
}

static void shared_arrays(struct kernel *k)
{
    const bool first = below(k, 2);
    if (first)
        text_format(&k->d->text, "shared int z[%d] = {4, -4}; ", SECOND);
    put(k, "shared input int s[4]; ");
    if (!first)
        text_format(&k->d->text, "shared input int z[%d]; ", SECOND);
}

static void draw(struct kernel *k, bool has_recursion)
{
    k->shared = below(k, 2);
    k->meets = k->shared && k->may_meet && below(k, 2);
    k->threads = k->meets ? 2 + below(k, SECOND - 1) : k->shared ? 1 : 1 + below(k, 3);
    k->blocks = 1 + below(k, 2);
    k->has_function = below(k, 3) > 0;
    k->recursive = k->has_function && has_recursion && below(k, 2);
    k->helper = k->has_function && !k->meets && below(k, 3) == 0;
    k->returns = below(k, 3) > 0;
    text_format(&k->d->text,
                "launch(threads = %u, warp = %u, blocks = %u, seed = 5); global int g[%u]; global "
                "%sint c[4]%s; ",
                k->threads, 1 + below(k, 4), k->blocks, k->threads * k->blocks * 3,
                k->has_function ? "input " : "", k->has_function ? "" : " = {3, -1, 2147483647}");
    if (k->shared)
        shared_arrays(k);
    k->own = below(k, 6) ? 2 : 20;
    text_format(&k->d->text, "private int u%s; private input int b; private int w[%u]; ",
                k->shared ? " = 9" : "", k->own);
    if (k->exposed)
        text_format(&k->d->text, "global int ends[%u]; ",
                    k->threads * k->blocks * exposed_words(k));
    if (k->has_function)
        function(k);
    text_format(&k->d->text, "kernel k() { private int %sa, i, r0, r1, r2; ",
                k->exposed ? "trips, " : "");
    for (uint32_t i = k->length > 0 ? 2 : 0; i > 0; i--) /* whose frame may be a used one */
        call(k);
    statements(k, 6);
    for (uint32_t i = k->meets ? 1 + below(k, 2) : 0; i > 0; i--) {
        exchange(k);
        statements(k, 2);
    }
    assignment(k);
    put(k, "g[(bid * threads + tid) * 3] += a ^ u; ");
    if (k->meets)
        put(k, "s[(tid + 1) % threads] = u; ");
    else if (k->shared)
        put(k, "s[a & 3] = u; z[2] += a; ");
    ends(k);
    put(k, "}");
}

/* What memory holds when the kernel has ended; NULL: it has not. */
static const int32_t *execute(struct arena *arena, struct ast_kernel *kernel, enum subject_id id)
{
    const struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    const struct subject_info *subject = &subject_table[id];
    const struct form *form = forms_get(forms_new(arena, kernel), subject->program);
    struct scheduler scheduler;
    if (!form->program)
        return NULL;
    struct machine *machine = machine_new(arena, subject->vtable, form->program, &subject->options);
    sched_start(&scheduler, &spec, machine, arena);
    return machine_run(machine, &scheduler.choices, BUDGET, NULL) == STATUS_TERMINATED
               ? machine->memory
               : NULL;
}

/* Plain PTX is run by the subject `block`; the buffer is its only variable in global memory. */
static const char *run_ptx(struct arena *arena, const char *text, const struct c_launch *launch)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    struct text settings = text_begin(arena);
    text_format(&settings, "threads=%u blocks=%u bind:mem=buffer:%u init:mem=", launch->threads,
                launch->blocks, 4 * launch->words);
    for (uint32_t i = 0; i < launch->words; i++)
        text_format(&settings, i ? ",%d" : "%d", (int)launch->memory[i]);
    diag_init(diag, "emitted", text, strlen(text));
    struct ast_kernel *kernel =
        ptx_kernel_parse_with(arena, text, strlen(text), settings.bytes, diag);
    if (!kernel)
        return drawn_first_error(arena, diag);
    const int32_t *memory = execute(arena, kernel, SUBJECT_BLOCK);
    if (memory)
        memcpy(launch->memory, memory, launch->words * sizeof *memory);
    return memory ? NULL : "no end";
}

static const char *compare(struct arena *arena, const char *what, const int32_t *is,
                           const int32_t *meant, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        if (is[i] != meant[i])
            return arena_printf(arena, "%s: word %u is %d where %d is meant", what, (unsigned)i,
                                (int)is[i], (int)meant[i]);
    return NULL;
}

static uint32_t edges_to(const struct ast_kernel *kernel, const struct ast_block *to)
{
    uint32_t count = 0;
    for (const struct ast_block *b = kernel->main->blocks; b; b = b->next)
        for (uint32_t t = 0; t < b->target_count; t++)
            count += b->targets[t] == to;
    return count;
}

/* The kernel in blocks, whose two targets stand in any order, and of which one has no guard: it is taken where the
 * other's does not hold. As it was where it has no such form. */
static struct ast_kernel *in_open_blocks(struct kernel *k, struct ast_kernel *given)
{
    static const struct lower_cfg_options plain = {.anchored = false};
    const char *reason;
    struct ast_kernel *blocks =
        lower_cfg(k->d->arena, lower_core(k->d->arena, given), &plain, &reason);
    if (!blocks || blocks->functions)
        return given;
    for (struct ast_block *b = blocks->main->blocks; b; b = b->next) {
        if (b->target_count != 2 || !b->targets[0] || !b->targets[1])
            continue;
        const uint32_t open = below(k, 2);
        struct ast_block *target = b->targets[open], *other = b->targets[1 - open];
        if (below(k, 2)) {
            b->targets[0] = other;
            b->targets[1] = target;
        }
        if (target->body && target->body->kind == STM_ASSUME && edges_to(blocks, target) == 1)
            target->body = target->body->next;
    }
    return blocks;
}

/* What no execution shows. Where a language has no goto, no barrier stands in a switch that blocks are the cases of; in
 * WGSL whatever decides who comes to one within a branch or loop must be seen to be the same for all: no word of
 * memory, no vote, no struct. */
static const char *hidden(const struct kernel *k, enum emit_language language, const char *own,
                          uint32_t words)
{
    const bool is_wgsl = language == EMIT_WGSL;
    if (is_wgsl && strstr(own, "atomic<") && !strstr(k->d->text.bytes, "atomic_"))
        return "words are atomic of a kernel that has no atomic";
    if (k->meets && (is_wgsl || language == EMIT_GLSL) && strstr(own, "sf_block ="))
        return "a barrier in a case of a switch in a loop";
    if (!k->meets || !k->inside || !is_wgsl)
        return NULL;
    for (uint32_t zero = words - 2; zero < words; zero++)
        if (strstr(own, arena_printf(k->d->arena, "k0_mem[%u]", (unsigned)zero)))
            return "a word of memory beside a barrier in a branch or loop";
    return strstr(own, "subgroup")  ? "a vote beside a barrier in a branch or loop"
           : strstr(own, "k0_p.v_") ? "a struct beside a barrier in a branch or loop"
                                    : NULL;
}

const char *emitted_kernel(struct arena *arena, uint64_t number, const char **text)
{
    static const enum emit_language languages[] = {EMIT_OPENCL, EMIT_CUDA, EMIT_GLSL,
                                                   EMIT_WGSL,   EMIT_PTX,  EMIT_BLOCKS};
    const enum emit_language language = languages[number % 6];
    /* Those like C are written by the same functions; the others each by its own. */
    const char *what = language == EMIT_PTX      ? "emitted ptx"
                       : language == EMIT_BLOCKS ? "emitted blocks"
                                                 : "emitted";
    const bool exposes = number / 6 % EXPOSES_SHARE == 1;
    struct drawn d = drawn_begin(arena, number, DRAWN_EMITTED),
                 shown = drawn_begin(arena, number, DRAWN_EMITTED);
    struct kernel k = {.d = &d,
                       .may_meet = language != EMIT_BLOCKS,
                       .has_cas = language != EMIT_WGSL},
                  all = k;
    struct text own = text_begin(arena);
    struct emitted emitted;
    const char *reason;
    draw(&k, language == EMIT_CUDA);
    all.d = &shown;
    all.exposed = true;
    if (exposes)
        draw(&all, language == EMIT_CUDA);
    *text = d.text.bytes;
    const int32_t *meant = execute(
        arena, parse_printed(arena, exposes ? shown.text.bytes : d.text.bytes), SUBJECT_THREADS);
    if (!meant)
        return NULL;
    struct ast_kernel *kernel = parse_printed(arena, d.text.bytes);
    if (exposes)
        kernel = emit_expose(arena, kernel);
    if (number / 6 % 4 == 0 && language != EMIT_PTX && language != EMIT_BLOCKS && !k.meets)
        kernel = in_open_blocks(&k, kernel);
    if (!emit_kernel(&own, kernel, language, emit_draw_knobs(number, 1), 0, &emitted, &reason))
        return arena_printf(arena, "%s: refused, %s", what, reason);
    const char *wrong = hidden(&k, language, own.bytes, emitted.words);
    if (wrong) {
        *text = arena_printf(arena, "%s\n%s", d.text.bytes, own.bytes);
        return arena_printf(arena, "%s: %s", what, wrong);
    }
    int32_t *memory = ARENA_ARRAY(arena, int32_t, emitted.words);
    memcpy(memory, emitted.initial, emitted.words * sizeof *memory);
    const struct c_launch launch = {.entry = language == EMIT_GLSL ? "main" : emitted.entry,
                                    .threads = emitted.threads,
                                    .blocks = emitted.blocks,
                                    .memory = memory,
                                    .words = emitted.words,
                                    .is_glsl = language == EMIT_GLSL,
                                    .is_wgsl = language == EMIT_WGSL,
                                    .backwards = number / 80 % 2};
    *text = arena_printf(arena, "%s\n%s", d.text.bytes, own.bytes);
    const char *whole_text = emit_text(arena, language, own.bytes);
    const char *why = language == EMIT_PTX      ? run_ptx(arena, whole_text, &launch)
                      : language == EMIT_BLOCKS ? b_run(own.bytes, &launch)
                                                : c_run(arena, whole_text, &launch);
    if (why)
        return arena_printf(arena, "%s: %s", what, why);
    return compare(arena, what, memory, meant, emitted.result_words);
}
