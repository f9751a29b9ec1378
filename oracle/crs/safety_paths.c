/*
 * safety_paths.c - programs of the branch unit are drawn evenly over what such a program is made of: instructions,
 * guards, labels, tables, registers that hold addresses, tokens at the start, functions. What the program is stands in
 * a list of ours, for the definition, and in a text, which the check reads.
 */
#include "oracle/crs/safety_paths.h"

#include "engine/base/pcg.h"
#include "engine/base/text.h"
#include "engine/input/input.h"
#include "engine/reference_ptx/ref_paths.h"
#include "engine/static/ptx_static.h"

#include <inttypes.h>
#include <string.h>

enum { MOST = 12, LEAST = 3, LINES = 2 * (REF_PATH_OPS + 1) };

struct drawing {
    struct arena *arena;
    struct pcg rng;
    struct text out;
    uint32_t line; /* the next one of the text */
    char prefix;   /* of the function's labels */
    struct ref_path_program *p;
    uint32_t *lines; /* by address */
    uint32_t weights[REF_PATH_TRAP + 1];
    bool by_register, is_dense;
};

static uint32_t below(struct drawing *d, uint32_t count)
{
    return pcg_below(&d->rng, count);
}

/* ---- the program ---- */

/* Mostly forward: of an address behind the end there is a label, too, but nothing can be pushed there. */
static uint32_t some_address(struct drawing *d, uint32_t pc)
{
    uint32_t count = d->p->count;
    if (d->is_dense || below(d, 3) || pc >= count)
        return 1 + below(d, count + (below(d, 8) == 0));
    return pc + 1 + below(d, count - pc);
}

static void give(struct drawing *d, struct ref_path_op *op, uint32_t pc)
{
    static const enum ref_path_gift gifts[] = {
        REF_GIVES_SOURCES, REF_GIVES_SOURCES, REF_GIVES_SOURCES, REF_GIVES_SOURCES,
        REF_GIVES_SOURCES, REF_GIVES_ANY,     REF_GIVES_LOADED};
    op->gift = gifts[below(d, 7)];
    op->reg = below(d, REF_PATH_REGISTERS);
    op->source_count = 1 + (below(d, 3) == 0);
    for (uint32_t i = 0; i < op->source_count; i++) {
        struct ref_path_source *s = &op->source[i];
        s->is_register = op->source_count > 1 || below(d, 3) == 0;
        s->value = s->is_register ? below(d, REF_PATH_REGISTERS) : some_address(d, pc);
    }
}

static void draw_targets(struct drawing *d, struct ref_path_op *op, uint32_t pc)
{
    op->way = REF_TO_LABEL;
    op->target_count = 1;
    if (op->kind == REF_PATH_BRA || op->kind == REF_PATH_CALL) {
        uint32_t how = d->is_dense ? 5 : d->by_register && below(d, 2) ? 0 : below(d, 6);
        op->way = how == 0                               ? REF_TO_REGISTER
                  : how == 1 && op->kind == REF_PATH_BRA ? REF_TO_TABLE
                  : how < 3 && op->kind == REF_PATH_CALL ? REF_TO_FUNCTION
                                                         : REF_TO_LABEL;
        op->reg = below(d, REF_PATH_REGISTERS);
    }
    if (op->way == REF_TO_TABLE)
        op->target_count = 1 + below(d, REF_PATH_TARGETS);
    for (uint32_t i = 0; i < op->target_count; i++)
        op->target[i] = some_address(d, pc);
}

/* Each program has its own weights: so what is rare comes often in some. Dense ones have divergence upon divergence,
 * and a way to leave it. */
static void draw_weights(struct drawing *d)
{
    for (uint32_t k = 0; k <= REF_PATH_TRAP; k++)
        d->weights[k] = below(d, 5);
    d->weights[REF_PATH_TRAP] = below(d, 2);
    d->weights[REF_PATH_SYNC] *= 2;
    d->weights[REF_PATH_BRA] *= 2;
    d->by_register = below(d, 3) == 0;
    d->is_dense = below(d, 2) == 0;
    if (!d->is_dense)
        return;
    memset(d->weights, 0, sizeof d->weights);
    d->weights[REF_PATH_SSY] = 2;
    d->weights[REF_PATH_BRA] = 5;
    d->weights[REF_PATH_SYNC] = 3;
    d->weights[REF_PATH_BREAK + below(d, 3)] = 2;
}

static enum ref_path_kind draw_kind(struct drawing *d)
{
    uint32_t total = 1, kind = 0;
    for (uint32_t k = 0; k <= REF_PATH_TRAP; k++)
        total += d->weights[k];
    uint32_t drawn = below(d, total);
    while (kind <= REF_PATH_TRAP && drawn >= d->weights[kind])
        drawn -= d->weights[kind++];
    return kind <= REF_PATH_TRAP ? (enum ref_path_kind)kind : REF_PATH_OTHER;
}

/* A preRet mostly has its call behind it. */
static void draw_op(struct drawing *d, uint32_t pc)
{
    struct ref_path_op *op = &d->p->op[pc], *before = &d->p->op[pc - 1];
    bool paired = pc > 1 && before->kind == REF_PATH_PRE_RET && below(d, 6);
    op->kind = paired ? REF_PATH_CALL : draw_kind(d);
    op->guard = below(d, 3) == 0 ? 1 + below(d, 4) : 0;
    if (d->is_dense ? op->kind == REF_PATH_BRA || op->kind >= REF_PATH_BREAK
                    : op->kind == REF_PATH_BRA && below(d, 2))
        op->guard = 1 + below(d, 4);
    if ((op->kind == REF_PATH_SSY || op->kind == REF_PATH_PRE_BRK || op->kind == REF_PATH_SYNC) &&
        below(d, 4))
        op->guard = 0;
    if (paired && below(d, 8))
        op->guard = before->guard;
    if (op->kind == REF_PATH_OTHER)
        give(d, op, pc);
    else
        draw_targets(d, op, pc);
    if (op->kind == REF_PATH_PRE_RET && pc + 2 <= d->p->count && below(d, 8))
        op->target[0] = pc + 2;
}

/* ssy's sync stands before its address, most of the time. */
static void aim(struct drawing *d)
{
    for (uint32_t pc = 1; pc <= d->p->count; pc++) {
        struct ref_path_op *op = &d->p->op[pc];
        for (uint32_t to = pc + 1; op->kind == REF_PATH_SSY && to < d->p->count; to++)
            if (d->p->op[to].kind == REF_PATH_SYNC && below(d, 3)) {
                op->target[0] = to + 1;
                break;
            }
    }
}

static void label(struct ref_path_program *p, uint32_t pc)
{
    if (pc <= p->count)
        p->op[pc].labelled = true;
}

static void draw_program(struct drawing *d, bool is_entry)
{
    struct ref_path_program *p = d->p;
    draw_weights(d);
    p->is_entry = is_entry;
    p->count = LEAST + below(d, MOST - LEAST + 1);
    for (uint32_t pc = 1; pc <= p->count; pc++)
        draw_op(d, pc);
    aim(d);
    for (uint32_t pc = 1; pc <= p->count; pc++) {
        const struct ref_path_op *op = &p->op[pc];
        for (uint32_t i = 0;
             i < op->target_count && op->way != REF_TO_REGISTER && op->way != REF_TO_FUNCTION; i++)
            label(p, op->target[i]);
        for (uint32_t i = 0; op->gift == REF_GIVES_SOURCES && i < op->source_count; i++)
            if (!op->source[i].is_register)
                label(p, op->source[i].value);
        if (below(d, 16) == 0)
            label(p, pc);
    }
}

static void draw_start(struct drawing *d)
{
    struct ref_path_program *p = d->p;
    p->given_count = below(d, 3) ? 0 : 1 + below(d, 2);
    for (uint32_t i = 0; i < p->given_count; i++) {
        p->given[i].type = (enum ref_path_type)below(d, REF_PATH_BOTTOM);
        p->given[i].pc = 1 + below(d, p->count);
    }
    for (uint32_t r = 0; r < REF_PATH_REGISTERS; r++) {
        p->value_count[r] = below(d, 4) ? 0 : 1 + below(d, 2);
        for (uint32_t i = 0; i < p->value_count[r]; i++)
            p->value[r][i] = below(d, p->count + 2 + (below(d, 8) == 0));
    }
}

/* ---- its text ---- */

static void put_guard(struct drawing *d, uint32_t guard)
{
    if (guard)
        text_format(&d->out, "@%sp%" PRIu32 " ", (guard - 1) & 1 ? "!" : "", (guard - 1) / 2);
}

static void put_source(struct drawing *d, const struct ref_path_source *s)
{
    if (s->is_register)
        text_format(&d->out, "r%" PRIu32, s->value);
    else
        text_format(&d->out, "%c%" PRIu32, d->prefix, s->value);
}

static void put_gift(struct drawing *d, const struct ref_path_op *op)
{
    switch (op->gift) {
    case REF_GIVES_NOTHING:
        text_put(&d->out, "st.global.u32 [o], r0");
        return;
    case REF_GIVES_ANY:
        text_format(&d->out, "add.u32 r%" PRIu32 ", r0, 1", op->reg);
        return;
    case REF_GIVES_LOADED:
        text_format(&d->out, "ld.global.u32 r%" PRIu32 ", [o]", op->reg);
        return;
    case REF_GIVES_SOURCES:
        text_format(&d->out, "%s r%" PRIu32 ", ", op->source_count > 1 ? "selp.b32" : "mov.u32",
                    op->reg);
        put_source(d, &op->source[0]);
        if (op->source_count > 1) {
            text_put(&d->out, ", ");
            put_source(d, &op->source[1]);
            text_put(&d->out, ", p0");
        }
        return;
    }
}

static void put_way(struct drawing *d, const struct ref_path_op *op, uint32_t pc)
{
    bool branch = op->kind == REF_PATH_BRA;
    switch (op->way) {
    case REF_TO_LABEL:
        text_format(&d->out, "%s %c%" PRIu32, branch ? "bra" : "call", d->prefix, op->target[0]);
        return;
    case REF_TO_TABLE:
        text_format(&d->out, "brx.idx r0, %ct%" PRIu32, d->prefix, pc);
        return;
    case REF_TO_REGISTER:
        text_format(&d->out, "%s r%" PRIu32, branch ? "bra" : "call", op->reg);
        return;
    case REF_TO_FUNCTION:
        text_put(&d->out, "call e");
        return;
    }
}

static void put_op(struct drawing *d, uint32_t pc)
{
    static const char *const words[] = {
        [REF_PATH_SSY] = "ssy",   [REF_PATH_PRE_BRK] = "preBrk", [REF_PATH_PRE_RET] = "preRet",
        [REF_PATH_SYNC] = "sync", [REF_PATH_BREAK] = "break",    [REF_PATH_RET] = "ret",
        [REF_PATH_EXIT] = "exit", [REF_PATH_TRAP] = "trap"};
    const struct ref_path_op *op = &d->p->op[pc];
    if (op->labelled)
        text_format(&d->out, "%c%" PRIu32 ": ", d->prefix, pc);
    put_guard(d, op->guard);
    if (op->kind == REF_PATH_OTHER)
        put_gift(d, op);
    else if (op->kind == REF_PATH_BRA || op->kind == REF_PATH_CALL)
        put_way(d, op, pc);
    else
        text_put(&d->out, words[op->kind]);
    if (op->kind == REF_PATH_SSY || op->kind == REF_PATH_PRE_BRK || op->kind == REF_PATH_PRE_RET)
        text_format(&d->out, " %c%" PRIu32, d->prefix, op->target[0]);
    text_put(&d->out, ";\n");
    d->lines[pc] = d->line++;
}

static void put_table(struct drawing *d, uint32_t pc)
{
    const struct ref_path_op *op = &d->p->op[pc];
    if (op->kind != REF_PATH_BRA || op->way != REF_TO_TABLE)
        return;
    text_format(&d->out, "%ct%" PRIu32 ": .branchtargets ", d->prefix, pc);
    for (uint32_t i = 0; i < op->target_count; i++)
        text_format(&d->out, "%s%c%" PRIu32, i ? ", " : "", d->prefix, op->target[i]);
    text_put(&d->out, ";\n");
    d->line++;
}

static void put_body(struct drawing *d)
{
    text_put(&d->out, "{\n.reg .pred p<2>; .reg .b32 r<3>;\n");
    d->line += 2;
    for (uint32_t pc = 1; pc <= d->p->count; pc++) {
        put_table(d, pc);
        put_op(d, pc);
    }
    text_format(&d->out, "%c%" PRIu32 ":\n}\n", d->prefix, d->p->count + 1);
    d->line += 2;
}

static void put_start(struct drawing *d)
{
    static const char *const types[] = {"sync", "div", "call", "brk"};
    const struct ref_path_program *p = d->p;
    text_put(&d->out, "// simtfuzz: entry=k blocks=1 threads=2 warp=2 raw");
    for (uint32_t i = 0; i < p->given_count; i++)
        text_format(&d->out, "%s%s,11,%" PRIu32, i ? "+" : " stack=", types[p->given[i].type],
                    p->given[i].pc);
    for (uint32_t r = 0; r < REF_PATH_REGISTERS; r++)
        if (p->value_count[r])
            text_format(&d->out, " reg:r%" PRIu32 "=%" PRIu32 ",%" PRIu32, r, p->value[r][0],
                        p->value[r][p->value_count[r] - 1]);
    text_put(&d->out,
             "\n.version 2.1\n.target sm_20\n.address_size 32\n.global .align 4 .u32 o[2];\n");
    d->line += 5;
}

/* ---- both accounts ---- */

/* The functions, the entry first, behind one another as the check numbers them. */
struct both {
    struct ref_path_program program[2];
    struct ref_paths paths[2];
    uint32_t functions, lines[2][REF_PATH_OPS + 1];
    struct ptx_static says;
    uint8_t tops[LINES];
    uint32_t line;
};

static bool calls_function(const struct ref_path_program *p)
{
    for (uint32_t pc = 1; pc <= p->count; pc++)
        if (p->op[pc].kind == REF_PATH_CALL && p->op[pc].way == REF_TO_FUNCTION)
            return true;
    return false;
}

static const struct ast_kernel *draw(struct arena *arena, uint64_t seed, struct both *b)
{
    struct drawing d = {.arena = arena, .out = text_begin(arena), .line = 1};
    pcg_seed(&d.rng, seed, 1);
    for (uint32_t f = 0; f < 2; f++) {
        d.p = &b->program[f];
        draw_program(&d, f == 0);
    }
    d.p = &b->program[0];
    draw_start(&d);
    put_start(&d);
    b->functions = 1 + calls_function(&b->program[0]);
    text_put(&d.out, ".func e ();\n");
    d.line++;
    for (uint32_t f = 0; f < 2; f++) {
        d.p = &b->program[f];
        d.lines = b->lines[f];
        d.prefix = f == 0 ? 'L' : 'M';
        text_put(&d.out, f == 0 ? ".entry k ()\n" : ".func e ()\n");
        d.line++;
        put_body(&d);
    }
    return parse_printed(arena, d.out.bytes);
}

static uint32_t bit_of(enum ptx_static_clause clause)
{
    switch (clause) {
    case PTX_STATIC_NONE:
    case PTX_STATIC_SIZE:
        return 0;
    case PTX_STATIC_SC1:
        return REF_FAULT_SC1;
    case PTX_STATIC_SC2:
        return REF_FAULT_SC2;
    case PTX_STATIC_SC3:
        return REF_FAULT_SC3;
    case PTX_STATIC_SC4:
        return REF_FAULT_SC4;
    case PTX_STATIC_SC5:
        return REF_FAULT_SC5;
    case PTX_STATIC_SC6:
        return REF_FAULT_SC6;
    case PTX_STATIC_ADDR:
        return REF_FAULT_ADDR;
    case PTX_STATIC_A:
        return REF_FAULT_A;
    case PTX_STATIC_B:
        return REF_FAULT_B;
    case PTX_STATIC_C:
        return REF_FAULT_C;
    case PTX_STATIC_TARGET:
        return REF_FAULT_TARGET;
    case PTX_STATIC_CALLER:
        return REF_FAULT_CALLER;
    }
    return 0;
}

enum {
    OPEN = REF_FAULT_TARGET | REF_FAULT_CALLER,
    RULES = REF_FAULT_A | REF_FAULT_B | REF_FAULT_C,
    CLAUSES = REF_FAULT_SC1 | REF_FAULT_SC2 | REF_FAULT_SC3 | REF_FAULT_SC4 | REF_FAULT_SC5 |
              REF_FAULT_SC6 | REF_FAULT_ADDR
};

/* All that the definition finds at the line, of one kind; 0: everywhere. */
static uint32_t faults_of(const struct both *b, uint32_t kind, uint32_t line)
{
    uint32_t all = 0;
    for (uint32_t f = 0; f < b->functions; f++)
        for (uint32_t pc = 1; pc <= b->program[f].count; pc++)
            if (line == 0 || b->lines[f][pc] == line)
                all |= b->paths[f].fault[pc] & kind;
    return all;
}

/* Whether it says one of those that there are, and none only where there is none. */
static bool is_one_of(const struct both *b, const struct ptx_static_fault *said, uint32_t kind)
{
    if (said->clause == PTX_STATIC_NONE)
        return faults_of(b, kind, 0) == 0;
    return (faults_of(b, kind, said->line) & bit_of(said->clause)) != 0;
}

/* Of (a) and (b) the first in the text; (c) where there are none before it is known. */
static bool is_first_rule(const struct both *b)
{
    for (uint32_t f = 0; f < b->functions; f++)
        for (uint32_t pc = 1; pc <= b->program[f].count; pc++)
            if (b->paths[f].fault[pc] & (REF_FAULT_A | REF_FAULT_B))
                return f > 0 ? is_one_of(b, &b->says.rule, RULES)
                             : b->says.rule.line == b->lines[f][pc];
    return true;
}

static const char *tops_differ(struct both *b)
{
    uint32_t at = 1;
    for (uint32_t f = 0; f < b->functions; f++)
        for (uint32_t pc = 1; pc <= b->program[f].count; pc++, at++) {
            uint32_t defined = ref_paths_tops(&b->paths[f], pc), said = b->tops[at];
            uint32_t bottom = 1U << REF_PATH_BOTTOM;
            bool empty = (said & PTX_STATIC_TOP(PTX_STATIC_EMPTY)) != 0,
                 ends = (defined & bottom) != 0;
            said &= bottom - 1;
            /* Above an unknown caller there is its call token, or lanes that have yet to call. */
            if (f > 0 && ends)
                defined |= 1U << REF_PATH_TYPE_CALL | 1U << REF_PATH_TYPE_DIVERGE;
            if (said == (defined & (bottom - 1)) && empty == (ends && f == 0))
                continue;
            b->line = b->lines[f][pc];
            return "tops of stacks";
        }
    return NULL;
}

static const char *compare(struct both *b)
{
    const struct ptx_static *s = &b->says;
    uint32_t clauses = faults_of(b, CLAUSES, 0), open = faults_of(b, OPEN, 0), states = 0;
    enum ptx_static_verdict verdict = clauses ? PTX_STATIC_INCONSISTENT
                                      : open  ? PTX_STATIC_UNKNOWN
                                              : PTX_STATIC_CONSISTENT;
    for (uint32_t f = 0; f < b->functions; f++)
        states += ref_paths_states(&b->paths[f]);
    b->line = s->why.line;
    if (s->verdict != verdict)
        return "verdict of all paths";
    if (verdict != PTX_STATIC_CONSISTENT && !is_one_of(b, &s->why, clauses ? CLAUSES : OPEN))
        return "clause of stack consistency";
    b->line = s->rule.line;
    if (!is_one_of(b, &s->rule, RULES) || !is_first_rule(b))
        return "rule of CHK.static";
    b->line = s->four.line;
    const bool is_strict = s->four.clause == PTX_STATIC_NONE;
    const uint32_t there = faults_of(b, REF_FAULT_FOUR, is_strict ? 0 : s->four.line);
    if (verdict == PTX_STATIC_CONSISTENT && is_strict != (there == 0))
        return "clause 4 as printed";
    b->line = 0;
    if (s->states != states)
        return "states of stacks";
    return verdict == PTX_STATIC_CONSISTENT ? tops_differ(b) : NULL;
}

struct paths_fault safety_paths(struct arena *arena, uint64_t seed)
{
    struct both *b = ARENA_NEW(arena, struct both);
    const struct ast_kernel *kernel = draw(arena, seed, b);
    struct ptx_static_options options = {.tops = b->tops, .top_count = LINES};
    ptx_static_start(arena, kernel->ptx, &options);
    b->says = ptx_static_check(arena, kernel->ptx->module, kernel->ptx->entry, &options);
    for (uint32_t f = 0; f < b->functions; f++) {
        ref_paths_find(&b->paths[f], &b->program[f]);
        if (b->paths[f].full)
            return (struct paths_fault){0};
    }
    const char *part = compare(b);
    if (!part)
        return (struct paths_fault){0};
    return (struct paths_fault){
        .part = part,
        .why =
            arena_printf(arena,
                         "of a drawn program the check of all paths says '%s', with %" PRIu32
                         " states; by its definition the %s %s other",
                         b->says.why.clause ? ptx_static_text(b->says.why.clause) : "consistent",
                         b->says.states, part, strchr(part, ' ') && part[0] == 't' ? "are" : "is"),
        .kernel = kernel,
        .line = b->line};
}
