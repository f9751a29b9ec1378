/*
 * sequential.c - blocks, barriers, gotos and loops of the two threads' sequential program.
 *
 * Blocks stand in P's sort order. A loop is `while (*)` around the stretch of its blocks: it may be left while a
 * thread is still at its head, which then is dead for the rest. That is how an execution in which this thread never
 * leaves the loop goes on for the other one.
 */
#include "engine/sequential/sequential_internal.h"

#include "engine/duo/goals.h"
#include "engine/input/input.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SAY(s, ...) arena_printf((s)->arena, __VA_ARGS__)

void sequential_line(struct sequential *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *line = arena_alloc(s->arena, (size_t)length + 1, 1);
    va_start(args, format);
    vsnprintf(line, (size_t)length + 1, format, args);
    va_end(args);
    text_format(&s->body, "%*s%s\n", (int)(2 * s->indent), "", line);
}

static const char *word_sort(const struct sequential *s)
{
    return s->style == SEQUENTIAL_BOOGIE ? "bv32" : "int";
}

static const char *array_sort(const struct sequential *s)
{
    return s->style == SEQUENTIAL_BOOGIE ? "[bv32]bv32" : "[int]int";
}

static const char *name_of(const struct sequential *s, const struct ast_block *block)
{
    (void)s;
    return block ? block->name : "End";
}

/* ---- statements ---- */

struct acting {
    struct evaluating x;
    const struct ast_block *block;
    const struct ast_stm *stm;
};

/* Who takes part: in the block, and the statement's guard holds. */
static struct acting begin(struct sequential *s, const struct ast_block *block, uint32_t k,
                           const struct ast_stm *stm)
{
    struct acting a = {.x = {.s = s, .k = k}, .block = block, .stm = stm};
    a.x.enabled = SAY(s, "at_%s$%" PRIu32, block->name, k);
    if (stm && stm->guard) {
        const char *guard = sequential_condition(&a.x, stm->guard);
        a.x.enabled = SAY(s, "(%s && %s)", a.x.enabled, guard);
    }
    return a;
}

static const char *acts(const struct acting *a)
{
    return a->x.may_die ? SAY(a->x.s, "(%s && !dies$%" PRIu32 ")", a->x.enabled, a->x.k)
                        : a->x.enabled;
}

/* Who died in the statement is nowhere. */
static void bury(struct acting *a)
{
    struct sequential *s = a->x.s;
    uint32_t k = a->x.k;
    if (!a->x.may_die)
        return;
    sequential_line(s, "dead$%" PRIu32 " := dead$%" PRIu32 " || dies$%" PRIu32 ";", k, k, k);
    sequential_line(s, "at_%s$%" PRIu32 " := at_%s$%" PRIu32 " && !dies$%" PRIu32 ";",
                    a->block->name, k, a->block->name, k, k);
    sequential_line(s, "dies$%" PRIu32 " := false;", k);
}

static void set(struct acting *a, const struct ast_var *var, const char *index, const char *value)
{
    struct sequential *s = a->x.s;
    const char *name = sequential_variable(&a->x, var);
    if (var->is_array)
        sequential_line(s, "%s := (if %s then %s[%s := %s] else %s);", name, acts(a), name, index,
                        value, name);
    else
        sequential_line(s, "%s := (if %s then %s else %s);", name, acts(a), value, name);
}

static void write(struct acting *a, const struct ast_lvalue *place, const char *index,
                  const char *value)
{
    if (sequential_is_memory(place->var))
        sequential_note_access(&a->x, place->var, SEEN_WRITE, index);
    set(a, place->var, index, value);
}

static const char *anything(struct acting *a)
{
    sequential_line(a->x.s, "havoc any;");
    return "any";
}

static void assign(struct acting *a)
{
    const struct ast_stm *stm = a->stm;
    const char *index = sequential_index(&a->x, stm->target.var, stm->target.index);
    const struct ast_expr *e =
        stm->op == ASSIGN_SET ? stm->value : ast_assigned_value(a->x.s->arena, stm);
    write(a, &stm->target, index, sequential_word(&a->x, e));
}

static void atomic(struct acting *a)
{
    const struct ast_stm *stm = a->stm;
    const char *target = NULL;
    if (stm->target.var)
        target = sequential_index(&a->x, stm->target.var, stm->target.index);
    const char *index = sequential_index(&a->x, stm->place.var, stm->place.index);
    for (const struct ast_expr *e = stm->arguments; e; e = e->next)
        sequential_word(&a->x, e);
    if (sequential_is_memory(stm->place.var))
        sequential_note_access(&a->x, stm->place.var, SEEN_ATOMIC, index);
    set(a, stm->place.var, index, anything(a));
    if (target)
        write(a, &stm->target, target, anything(a));
}

/* A failed assert or assume ends the thread. */
static void condition(struct acting *a)
{
    struct sequential *s = a->x.s;
    const char *holds = sequential_condition(&a->x, a->stm->value);
    sequential_line(s, "dies$%" PRIu32 " := dies$%" PRIu32 " || (%s && !%s);", a->x.k, a->x.k,
                    a->x.enabled, holds);
    a->x.may_die = true;
}

static void statement(struct sequential *s, const struct ast_block *block,
                      const struct ast_stm *stm, uint32_t k)
{
    struct acting a = begin(s, block, k, stm);
    switch (stm->kind) {
    case STM_ASSIGN:
        assign(&a);
        break;
    case STM_HAVOC: {
        const char *index = sequential_index(&a.x, stm->place.var, stm->place.index);
        write(&a, &stm->place, index, anything(&a));
        break;
    }
    case STM_ATOMIC:
        atomic(&a);
        break;
    case STM_ASSERT:
    case STM_ASSUME:
        condition(&a);
        break;
    case STM_SKIP:
    case STM_MEMBAR:
    case STM_BARRIER:
    case STM_CALL:
    case STM_BLOCK:
    case STM_IF:
    case STM_WHILE:
    case STM_DO:
    case STM_FOR:
    case STM_SWITCH:
    case STM_BREAK:
    case STM_CONTINUE:
    case STM_RETURN:
    case STM_EXIT:
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_VOTE:
    case STM_PICK:
    case STM_LOCKSYNC:
    case STM_KIND_COUNT:
        break;
    }
    bury(&a);
}

/* ---- barriers ---- */

static void forget(struct sequential *s, const struct ast_var *var)
{
    const char *any = var->is_array ? "any_array" : "any", *name = var->name;
    const char *other = var->is_array ? "other_array" : "other";
    bool alone = s->kernel->launch.blocks == 1;
    sequential_line(s, "havoc %s;", any);
    if (!alone)
        sequential_line(s, "havoc %s;", other);
    sequential_line(s, "%s$1 := (if meets$1 then %s else %s$1);", name, any, name);
    if (alone)
        sequential_line(s, "%s$2 := (if meets$2 then %s else %s$2);", name, any, name);
    else
        sequential_line(s, "%s$2 := (if meets$2 then (if same then %s else %s) else %s$2);", name,
                        any, other, name);
}

/* Both of a block, or none; then memory is anything, and thread 1 has accessed nothing. */
static void barrier(struct sequential *s, const struct ast_block *block, const struct ast_stm *stm)
{
    for (uint32_t k = 1; k <= 2; k++) {
        struct acting a = begin(s, block, k, stm);
        sequential_line(s, "meets$%" PRIu32 " := %s;", k, acts(&a));
        bury(&a);
    }
    sequential_line(s, "assert same && !dead$1 && !dead$2 ==> meets$1 == meets$2; // divergence");
    sequential_line(s, "assume same ==> meets$1 == meets$2;");
    for (uint32_t i = 0; i < s->var_count; i++)
        if (sequential_is_memory(s->vars[i]) && s->written[i])
            forget(s, s->vars[i]);
    for (uint32_t i = 0; i < s->var_count; i++)
        for (int kind = 0; s->written[i] && kind < SEEN_KINDS; kind++)
            sequential_line(s, "%s_%s := %s_%s && !(meets$1 && same);",
                            sequential_access_names[kind], s->vars[i]->name,
                            sequential_access_names[kind], s->vars[i]->name);
}

/* ---- gotos ---- */

static const struct ast_expr *guard_of(const struct ast_block *block)
{
    const struct ast_stm *first = block ? block->body : NULL;
    return first && first->kind == STM_ASSUME ? first->value : NULL;
}

/* One says e and the other !e. */
static bool complementary(const struct ast_expr *a, const struct ast_expr *b)
{
    const struct ast_expr *negated = a && a->kind == EXPR_UNARY && a->unary == UNARY_NOT ? a : b;
    const struct ast_expr *plain = negated == a ? b : a;
    return a && b && negated->kind == EXPR_UNARY && negated->unary == UNARY_NOT &&
           plain->kind == EXPR_VAR && negated->a->kind == EXPR_VAR && plain->var == negated->a->var;
}

/* Of several targets whose guards hold any one is taken; whose guards all fail is dead. */
static void go(struct sequential *s, const struct ast_block *block, uint32_t k)
{
    struct acting a = begin(s, block, k, NULL);
    uint32_t count = block->target_count;
    bool alone = count == 1 || (count == 2 && complementary(guard_of(block->targets[0]),
                                                            guard_of(block->targets[1])));
    sequential_line(s, "left := at_%s$%" PRIu32 ";", block->name, k);
    const char **may = ARENA_ARRAY(s->arena, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct ast_expr *guard = guard_of(block->targets[i]);
        may[i] = guard ? sequential_condition(&a.x, guard) : "true";
    }
    if (a.x.may_die)
        sequential_line(s, "left := left && !dies$%" PRIu32 ";", k);
    bury(&a);
    sequential_line(s, "at_%s$%" PRIu32 " := false;", block->name, k);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = name_of(s, block->targets[i]);
        bool chosen = !alone && i + 1 < count;
        if (chosen)
            sequential_line(s, "havoc choice;");
        sequential_line(s, "goes := left && %s%s;", may[i], chosen ? " && choice" : "");
        sequential_line(s, "at_%s$%" PRIu32 " := at_%s$%" PRIu32 " || goes;", name, k, name, k);
        sequential_line(s, "left := left && !goes;");
    }
    sequential_line(s, "dead$%" PRIu32 " := dead$%" PRIu32 " || left;", k, k);
}

static void block_text(struct sequential *s, uint32_t number)
{
    const struct ast_block *block = s->cfg->blocks[number];
    const struct ast_stm *stm = block->body;
    text_format(&s->body, "\n");
    sequential_line(s, "// %s", block->name);
    if (guard_of(block))
        stm = stm->next;
    for (; stm; stm = stm->next) {
        if (stm->kind == STM_BARRIER) {
            barrier(s, block, stm);
            continue;
        }
        for (uint32_t k = 1; k <= 2; k++)
            statement(s, block, stm, k);
    }
    for (uint32_t k = 1; k <= 2; k++)
        go(s, block, k);
}

/* ---- loops ---- */

static void range(struct sequential *s, uint32_t from, uint32_t to, uint32_t within);

static void loop_text(struct sequential *s, uint32_t loop, uint32_t from, uint32_t to)
{
    const char *head = s->cfg->blocks[s->cfg->loops[loop].head]->name;
    if (s->style == SEQUENTIAL_BOOGIE)
        sequential_remember(s, loop);
    sequential_claim(s, loop);
    sequential_line(s, "while (*)");
    if (s->style == SEQUENTIAL_BOOGIE)
        sequential_guess(s, loop);
    sequential_line(s, "{");
    s->indent++;
    sequential_line(s, "assume at_%s$1 || at_%s$2;", head, head);
    range(s, from, to, loop);
    s->indent--;
    sequential_line(s, "}");
    for (uint32_t k = 1; k <= 2; k++) {
        sequential_line(s, "dead$%" PRIu32 " := dead$%" PRIu32 " || at_%s$%" PRIu32 ";", k, k, head,
                        k);
        sequential_line(s, "at_%s$%" PRIu32 " := false;", head, k);
    }
}

static void range(struct sequential *s, uint32_t from, uint32_t to, uint32_t within)
{
    for (uint32_t place = from; place < to;) {
        uint32_t block = s->cfg->order[place], loop = s->loop_at[block];
        if (loop == CFG_NO_LOOP || loop == within) {
            block_text(s, block);
            place++;
            continue;
        }
        loop_text(s, loop, place, place + s->loop_size[loop]);
        place += s->loop_size[loop];
    }
}

/* ---- what it starts with ---- */

enum { TOLD_MAX = 64 }; /* elements of an initialiser that are told; others are anything */

static void start_array(struct sequential *s, const struct ast_var *var, uint32_t k)
{
    for (uint32_t i = 0; i < var->init_count && i < TOLD_MAX; i++)
        sequential_line(s, "assume %s$%" PRIu32 "[%s] == %s;", var->name, k,
                        sequential_constant(s, (int32_t)i), sequential_constant(s, var->init[i]));
}

/* What both threads share is one value. */
static void start_variable(struct sequential *s, const struct ast_var *var)
{
    const char *name = var->name;
    bool one = var->space == SPACE_GLOBAL || s->kernel->launch.blocks == 1;
    if (sequential_is_memory(var) && (var->is_input || var->is_array))
        sequential_line(s, one ? "%s$2 := %s$1;" : "%s$2 := (if same then %s$1 else %s$2);", name,
                        name, name);
    for (uint32_t k = 1; !var->is_input && k <= 2; k++) {
        if (var->is_array)
            start_array(s, var, k);
        else
            sequential_line(s, "%s$%" PRIu32 " := %s;", name, k,
                            sequential_constant(s, var->init_count ? var->init[0] : 0));
    }
}

static void declare(struct sequential *s)
{
    for (uint32_t i = 0; i < s->var_count; i++) {
        const struct ast_var *var = s->vars[i];
        text_format(&s->declare, "  var %s$1, %s$2: %s;\n", var->name, var->name,
                    var->is_array ? array_sort(s) : word_sort(s));
        for (int kind = 0; s->written[i] && kind < SEEN_KINDS; kind++)
            text_format(&s->declare, "  var %s_%s: bool;\n", sequential_access_names[kind],
                        var->name);
    }
    for (uint32_t b = 0; b <= s->cfg->count; b++) {
        const char *name = b < s->cfg->count ? s->cfg->blocks[b]->name : "End";
        text_format(&s->declare, "  var at_%s$1, at_%s$2: bool;\n", name, name);
    }
    text_put(&s->declare, "  var dead$1, dead$2, dies$1, dies$2, meets$1, meets$2: bool;\n"
                          "  var left, goes, choice: bool;\n");
    text_format(&s->declare, "  var any, other: %s;\n  var any_array, other_array: %s;\n",
                word_sort(s), array_sort(s));
}

static void start(struct sequential *s)
{
    for (uint32_t k = 1; k <= 2; k++) {
        for (uint32_t b = 0; b <= s->cfg->count; b++)
            sequential_line(s, "at_%s$%" PRIu32 " := %s;",
                            b < s->cfg->count ? s->cfg->blocks[b]->name : "End", k,
                            b == s->kernel->main->blocks->mark ? "true" : "false");
        sequential_line(s, "dead$%" PRIu32 " := false;", k);
        sequential_line(s, "dies$%" PRIu32 " := false;", k);
    }
    for (uint32_t i = 0; i < s->var_count; i++) {
        start_variable(s, s->vars[i]);
        for (int kind = 0; s->written[i] && kind < SEEN_KINDS; kind++)
            sequential_line(s, "%s_%s := false;", sequential_access_names[kind], s->vars[i]->name);
    }
}

/* ---- the launch, as constants ---- */

static void number(struct sequential *s, const char *name, uint32_t count)
{
    text_format(&s->constants, "const %s: %s;\naxiom %s;\n", name, word_sort(s),
                sequential_below(s, name, sequential_constant(s, (int32_t)count)));
}

static void launch(struct sequential *s)
{
    const struct ast_launch *l = &s->kernel->launch;
    number(s, "tid$1", l->threads);
    number(s, "tid$2", l->threads);
    number(s, "bid$1", l->blocks);
    number(s, "bid$2", l->blocks);
    text_put(&s->constants, "const same: bool;\naxiom same == (bid$1 == bid$2);\n");
    if (l->threads * l->blocks > 1)
        text_put(&s->constants, "axiom same ==> tid$1 != tid$2;\n");
    for (uint32_t i = 0; i < s->var_count; i++)
        if (s->written[i])
            number(s, SAY(s, "WO_%s", s->vars[i]->name), s->vars[i]->length);
}

/* ---- the kernel ---- */

static void find_variables(struct sequential *s)
{
    struct ast_var *lists[] = {s->kernel->vars, s->kernel->main->locals};
    for (int i = 0; i < 2; i++)
        for (struct ast_var *v = lists[i]; v; v = v->next)
            v->mark = s->var_count++;
    s->vars = ARENA_ARRAY(s->arena, struct ast_var *, s->var_count + 1);
    s->written = ARENA_ARRAY(s->arena, uint8_t, s->var_count + 1);
    for (int i = 0; i < 2; i++)
        for (struct ast_var *v = lists[i]; v; v = v->next)
            s->vars[v->mark] = v;
}

static void find_writes(struct sequential *s)
{
    for (const struct ast_block *b = s->kernel->main->blocks; b; b = b->next)
        for (const struct ast_stm *stm = b->body; stm; stm = stm->next) {
            const struct ast_var *places[] = {stm->target.var, stm->place.var};
            for (int i = 0; i < 2; i++)
                if (places[i] && sequential_is_memory(places[i]))
                    s->written[places[i]->mark] = 1;
        }
}

static void find_loops(struct sequential *s)
{
    s->loop_at = ARENA_ARRAY(s->arena, uint32_t, s->cfg->count + 1);
    s->loop_size = ARENA_ARRAY(s->arena, uint32_t, s->cfg->loop_count + 1);
    for (uint32_t b = 0; b < s->cfg->count; b++)
        s->loop_at[b] = CFG_NO_LOOP;
    for (uint32_t l = 0; l < s->cfg->loop_count; l++) {
        s->loop_at[s->cfg->loops[l].head] = l;
        for (uint32_t b = 0; b < s->cfg->count; b++)
            s->loop_size[l] += cfg_in_loop(s->cfg, l, b);
    }
}

/* Locals may be called as a variable of the file: then numbers tell them apart. */
static void rename_doubles(struct sequential *s)
{
    for (uint32_t i = 0; i < s->var_count; i++)
        for (uint32_t n = 0; n < i; n++)
            if (strcmp(s->vars[i]->name, s->vars[n]->name) == 0)
                s->vars[i]->name = SAY(s, "%s.%" PRIu32, s->vars[i]->name, i);
}

static const char boogie_prelude[] =
    "function {:bvbuiltin \"bvadd\"} bvadd(a: bv32, b: bv32): bv32;\n"
    "function {:bvbuiltin \"bvsub\"} bvsub(a: bv32, b: bv32): bv32;\n"
    "function {:bvbuiltin \"bvmul\"} bvmul(a: bv32, b: bv32): bv32;\n"
    "function {:bvbuiltin \"bvsdiv\"} bvsdiv(a: bv32, b: bv32): bv32;\n"
    "function {:bvbuiltin \"bvsrem\"} bvsrem(a: bv32, b: bv32): bv32;\n"
    "function {:bvbuiltin \"bvurem\"} bvurem(a: bv32, b: bv32): bv32;\n"
    "function {:bvbuiltin \"bvudiv\"} bvudiv(a: bv32, b: bv32): bv32;\n"
    "function {:bvbuiltin \"bvshl\"} bvshl(a: bv32, b: bv32): bv32;\n"
    "function {:bvbuiltin \"bvashr\"} bvashr(a: bv32, b: bv32): bv32;\n"
    "function {:bvbuiltin \"bvand\"} bvand(a: bv32, b: bv32): bv32;\n"
    "function {:bvbuiltin \"bvor\"} bvor(a: bv32, b: bv32): bv32;\n"
    "function {:bvbuiltin \"bvxor\"} bvxor(a: bv32, b: bv32): bv32;\n"
    "function {:bvbuiltin \"bvslt\"} bvslt(a: bv32, b: bv32): bool;\n"
    "function {:bvbuiltin \"bvsle\"} bvsle(a: bv32, b: bv32): bool;\n"
    "function {:bvbuiltin \"bvsgt\"} bvsgt(a: bv32, b: bv32): bool;\n"
    "function {:bvbuiltin \"bvsge\"} bvsge(a: bv32, b: bv32): bool;\n"
    "function {:bvbuiltin \"bvult\"} bvult(a: bv32, b: bv32): bool;\n"
    "function {:inline} quotient(a: bv32, b: bv32): bv32 { if b == 0bv32 then 0bv32 else bvsdiv(a, "
    "b) "
    "}\n";

/* The tutorial's procedures: what the calls do. */
static const char tutorial_prelude[] =
    "// LOG_X_A(enabled, i):   if (enabled && i == WO_A) X_A := true;\n"
    "// CHECK_READ_A:          assert !(enabled && i == WO_A && (WRITE_A || ATOMIC_A));\n"
    "// CHECK_WRITE_A:         .. (READ_A || WRITE_A || ATOMIC_A)\n"
    "// CHECK_ATOMIC_A:        .. (READ_A || WRITE_A)\n"
    "// WO_A is one element, any; of shared arrays only threads of one block conflict.\n";

const char *sequential_print(struct arena *arena, struct forms *forms, enum sequential_style style,
                             const char **reason)
{
    struct sequential s = {.arena = arena, .style = style, .indent = 1};
    struct location at;
    const struct ast_kernel *p = duo_program(arena, forms, reason);
    if (!p)
        return NULL;
    s.kernel = language_copy(arena, p);
    s.cfg = cfg_build(arena, s.kernel->main, reason, &at);
    if (!s.cfg)
        return NULL;
    cfg_sort(arena, s.cfg, 0);
    s.body = text_begin(arena);
    s.declare = text_begin(arena);
    s.constants = text_begin(arena);
    find_variables(&s);
    find_writes(&s);
    find_loops(&s);
    rename_doubles(&s);
    launch(&s);
    declare(&s);
    start(&s);
    range(&s, 0, s.cfg->count, CFG_NO_LOOP);
    struct text out = text_begin(arena);
    text_format(&out, "// %s: two arbitrary threads as one sequential program\n", s.kernel->name);
    if (style == SEQUENTIAL_BOOGIE)
        text_put(&out, boogie_prelude);
    else
        text_put(&out, tutorial_prelude);
    text_format(&out, "%s\nprocedure kernel()\n{\n%s\n%s}\n", s.constants.bytes, s.declare.bytes,
                s.body.bytes);
    return out.bytes;
}
