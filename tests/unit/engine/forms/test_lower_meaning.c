/*
 * Lowering preserves meaning: random kernels of one thread, full of jumps, run twice: by an
 * interpreter that walks the source tree as C would, and lowered, compiled and stepped by both
 * semantics. Final memory and status must be the same.
 */
#include "engine/base/pcg.h"
#include "engine/forms/lower.h"
#include "engine/input/input.h"
#include "engine/machine/choice.h"
#include "engine/machine/machine.h"
#include "engine/program/program.h"
#include "fuzz/generate/generate.h"
#include "tests/unit/shared/arena_fixture.h"
#include "tests/unit/shared/many.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the interpreter ---- */

enum flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_END };

struct interpreter {
    const struct program *program; /* for builtins and the places of file-level variables only */
    int32_t *memory;
    int32_t *frame; /* of the function at hand; marks of locals are offsets in it */
    int32_t returned;
    uint32_t choices; /* made so far */
    uint32_t activations;
    uint64_t budget;
    enum status status;
};

static enum flow run_list(struct interpreter *in, const struct ast_stm *list);
static enum flow run_stm(struct interpreter *in, const struct ast_stm *stm);

static enum flow stop(struct interpreter *in, enum status status)
{
    if (in->status == STATUS_RUNNING)
        in->status = status;
    return FLOW_END;
}

static int32_t *variable(const struct interpreter *in, const struct ast_var *var)
{
    const struct program *program = in->program;
    const uint32_t base[] = {0, program->shared_base, program->private_base};
    if (var->space == SPACE_LOCAL)
        return in->frame + var->mark;
    return in->memory + base[var->space] + program->vars[var->mark].offset;
}

/* NULL: the index is outside. */
static int32_t *element(struct interpreter *in, const struct ast_var *var, int32_t index)
{
    if ((uint32_t)index < var->length)
        return variable(in, var) + index;
    stop(in, STATUS_OUT_OF_BOUNDS);
    return NULL;
}

static int32_t value_of(struct interpreter *in, const struct ast_expr *e)
{
    int32_t a, *place;
    if (in->status != STATUS_RUNNING)
        return 0;
    switch (e->kind) {
    case EXPR_INT:
        return e->value;
    case EXPR_VAR:
        return *variable(in, e->var);
    case EXPR_INDEX:
        a = value_of(in, e->a);
        place = in->status == STATUS_RUNNING ? element(in, e->var, a) : NULL;
        return place ? *place : 0;
    case EXPR_BUILTIN:
        return program_builtin(in->program, 0, e->builtin);
    case EXPR_UNARY:
        return ast_eval_unary(e->unary, value_of(in, e->a));
    case EXPR_BINARY:
        a = value_of(in, e->a);
        if (e->binary == BINARY_LOGICAL_AND)
            return a ? value_of(in, e->b) != 0 : 0;
        if (e->binary == BINARY_LOGICAL_OR)
            return a ? 1 : value_of(in, e->b) != 0;
        return ast_eval_binary(e->binary, a, value_of(in, e->b));
    case EXPR_COND:
        return value_of(in, e->a) ? value_of(in, e->b) : value_of(in, e->c);
    case EXPR_ALL:
    case EXPR_ANY:
        break;
    }
    return 0;
}

static enum flow store(struct interpreter *in, const struct ast_lvalue *target, int32_t value)
{
    int32_t index = target->index ? value_of(in, target->index) : 0;
    int32_t *place = in->status == STATUS_RUNNING ? element(in, target->var, index) : NULL;
    if (!place)
        return FLOW_END;
    *place = value;
    return FLOW_NEXT;
}

static enum flow run_assign(struct interpreter *in, const struct ast_stm *stm)
{
    static const enum ast_binary operations[ASSIGN_COUNT] = {
        [ASSIGN_ADD] = BINARY_ADD, [ASSIGN_SUB] = BINARY_SUB, [ASSIGN_MUL] = BINARY_MUL,
        [ASSIGN_XOR] = BINARY_XOR, [ASSIGN_OR] = BINARY_OR,   [ASSIGN_AND] = BINARY_AND,
    };
    int32_t value = value_of(in, stm->value);
    if (stm->op != ASSIGN_SET && in->status == STATUS_RUNNING) {
        int32_t index = stm->target.index ? value_of(in, stm->target.index) : 0;
        const int32_t *place =
            in->status == STATUS_RUNNING ? element(in, stm->target.var, index) : NULL;
        value = place ? ast_eval_binary(operations[stm->op], *place, value) : 0;
    }
    return in->status == STATUS_RUNNING ? store(in, &stm->target, value) : FLOW_END;
}

static uint32_t frame_words(const struct ast_function *function)
{
    uint32_t words = 0;
    for (struct ast_var *var = function->locals; var; var = var->next) {
        var->mark = words;
        words += var->length;
    }
    return words;
}

static enum flow run_call(struct interpreter *in, const struct ast_stm *stm)
{
    const struct ast_function *function = stm->function;
    int32_t *frame = ARENA_ARRAY(&arena, int32_t, frame_words(function));
    for (const struct ast_var *var = function->locals; var; var = var->next)
        for (uint32_t i = 0; i < var->init_count; i++)
            frame[var->mark + i] = var->init[i];
    uint32_t parameter = 0;
    for (const struct ast_expr *e = stm->arguments; e; e = e->next)
        frame[parameter++] = value_of(in, e);
    if (in->status != STATUS_RUNNING)
        return FLOW_END;
    if (in->activations == LIMIT_CALL_DEPTH)
        return stop(in, STATUS_CALL_DEPTH);
    int32_t *caller = in->frame;
    in->frame = frame;
    in->activations++;
    in->returned = 0;
    enum flow flow = run_list(in, function->body);
    if (flow != FLOW_RETURN)
        in->returned = 0;
    in->activations--;
    in->frame = caller;
    if (in->status != STATUS_RUNNING || flow == FLOW_END)
        return FLOW_END;
    return stm->target.var ? store(in, &stm->target, in->returned) : FLOW_NEXT;
}

/* Loops of all three kinds: the guard is tested first unless it is a do. */
static enum flow run_loop(struct interpreter *in, const struct ast_stm *stm)
{
    if (stm->kind == STM_FOR && stm->init && run_stm(in, stm->init) != FLOW_NEXT)
        return FLOW_END;
    for (bool first = true;; first = false) {
        if (in->budget-- == 0)
            return stop(in, STATUS_STEP_LIMIT);
        bool tests = stm->value && !(first && stm->kind == STM_DO);
        if (tests && value_of(in, stm->value) == 0)
            break;
        enum flow flow = run_list(in, stm->body);
        if (flow == FLOW_BREAK)
            break;
        if (flow == FLOW_RETURN || flow == FLOW_END)
            return flow;
        if (stm->kind == STM_FOR && stm->step && run_stm(in, stm->step) != FLOW_NEXT)
            return FLOW_END;
    }
    return in->status == STATUS_RUNNING ? FLOW_NEXT : FLOW_END;
}

static enum flow run_switch(struct interpreter *in, const struct ast_stm *stm)
{
    int32_t value = value_of(in, stm->value);
    const struct ast_case *c = stm->cases;
    while (c && !c->is_default && c->value != value)
        c = c->next;
    for (; c; c = c->next) {
        enum flow flow = run_list(in, c->body);
        if (flow == FLOW_BREAK)
            return FLOW_NEXT;
        if (flow != FLOW_NEXT)
            return flow;
    }
    return FLOW_NEXT;
}

static int32_t atomic_value(enum ast_atomic op, int32_t old, int32_t a, int32_t b)
{
    const int32_t values[ATOMIC_COUNT] = {
        [ATOMIC_ADD] = ast_eval_binary(BINARY_ADD, old, a),
        [ATOMIC_MIN] = old < a ? old : a,
        [ATOMIC_MAX] = old < a ? a : old,
        [ATOMIC_AND] = old & a,
        [ATOMIC_OR] = old | a,
        [ATOMIC_EXCH] = a,
        [ATOMIC_CAS] = old == a ? b : old,
    };
    return values[op];
}

static enum flow run_atomic(struct interpreter *in, const struct ast_stm *stm)
{
    int32_t index = stm->place.index ? value_of(in, stm->place.index) : 0;
    int32_t a = value_of(in, stm->arguments);
    int32_t b = stm->arguments->next ? value_of(in, stm->arguments->next) : 0;
    int32_t *place = in->status == STATUS_RUNNING ? element(in, stm->place.var, index) : NULL;
    if (!place)
        return FLOW_END;
    int32_t old = *place;
    *place = atomic_value(stm->atomic, old, a, b);
    return stm->target.var ? store(in, &stm->target, old) : FLOW_NEXT;
}

/* One lane votes. */
static enum flow run_vote(struct interpreter *in, const struct ast_stm *stm)
{
    bool holds = value_of(in, stm->value) != 0;
    return store(in, &stm->target, stm->vote == VOTE_UNI ? 1 : holds);
}

static enum flow run_havoc(struct interpreter *in, const struct ast_stm *stm)
{
    int32_t value = choice_value(in->program->launch.seed, 0, in->choices++);
    return store(in, &stm->place, value);
}

static enum flow run_stm(struct interpreter *in, const struct ast_stm *stm)
{
    if (in->status != STATUS_RUNNING)
        return FLOW_END;
    switch (stm->kind) {
    case STM_SKIP:
    case STM_MEMBAR:
    case STM_PICK:
    case STM_LOCKSYNC:
        return FLOW_NEXT;
    case STM_ASSIGN:
        return run_assign(in, stm);
    case STM_CALL:
        return run_call(in, stm);
    case STM_BLOCK:
        return run_list(in, stm->body);
    case STM_IF:
        return run_list(in, value_of(in, stm->value) ? stm->body : stm->other);
    case STM_WHILE:
    case STM_DO:
    case STM_FOR:
        return run_loop(in, stm);
    case STM_SWITCH:
        return run_switch(in, stm);
    case STM_BREAK:
        return FLOW_BREAK;
    case STM_CONTINUE:
        return FLOW_CONTINUE;
    case STM_RETURN:
        in->returned = stm->value ? value_of(in, stm->value) : 0;
        return FLOW_RETURN;
    case STM_EXIT:
        return FLOW_END;
    case STM_ASSERT:
        return value_of(in, stm->value) ? FLOW_NEXT : stop(in, STATUS_ASSERT_FAILS);
    case STM_BARRIER: /* of one thread */
        return FLOW_NEXT;
    case STM_ATOMIC:
        return run_atomic(in, stm);
    case STM_VOTE:
        return run_vote(in, stm);
    case STM_ASSUME:
        return value_of(in, stm->value) ? FLOW_NEXT : stop(in, STATUS_INFEASIBLE);
    case STM_HAVOC:
        return run_havoc(in, stm);
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_KIND_COUNT:
        break;
    }
    fail_msg("a statement that one thread cannot run");
    return FLOW_END;
}

static enum flow run_list(struct interpreter *in, const struct ast_stm *list)
{
    enum flow flow = FLOW_NEXT;
    for (const struct ast_stm *stm = list; stm && flow == FLOW_NEXT; stm = stm->next)
        flow = run_stm(in, stm);
    return in->status == STATUS_RUNNING ? flow : FLOW_END;
}

/* Runs the kernel from `memory` on; the status that it ends with. */
static enum status interpret(const struct ast_kernel *kernel, const struct program *program,
                             int32_t *memory, uint64_t budget)
{
    struct interpreter in = {.program = program,
                             .memory = memory,
                             .activations = 1,
                             .budget = budget,
                             .status = STATUS_RUNNING};
    uint32_t number = 0;
    for (struct ast_var *var = kernel->vars; var; var = var->next)
        var->mark = number++;
    in.frame = ARENA_ARRAY(&arena, int32_t, frame_words(kernel->main));
    for (const struct ast_var *var = kernel->main->locals; var; var = var->next)
        for (uint32_t i = 0; i < var->init_count; i++)
            in.frame[var->mark + i] = var->init[i];
    run_list(&in, kernel->main->body);
    return in.status == STATUS_RUNNING ? STATUS_TERMINATED : in.status;
}

/* ---- the comparison ---- */

static uint32_t pick_first(struct choices *choices, const struct machine *machine)
{
    (void)choices, (void)machine;
    return 0;
}

static uint32_t choose_first(struct choices *choices, uint32_t n)
{
    (void)choices, (void)n;
    return 0;
}

/* Runs the compiled kernel; the machine's memory afterwards, as much of it as `kernel` declares. */
static enum status execute(const struct semantics *semantics, const struct program *program,
                           int32_t *memory)
{
    struct machine_options options = {.then_first = true};
    struct choices choices = {.pick = pick_first, .choose = choose_first};
    struct machine *machine = machine_new(&arena, semantics, program, &options);
    while (machine_status(machine) == STATUS_RUNNING)
        machine_step(machine, machine->head->live[0], &choices);
    memcpy(memory, machine->memory, program->memory_words * sizeof *memory);
    return machine_status(machine);
}

static struct ast_kernel *parse(const char *text)
{
    struct diag diag;
    diag_init(&diag, "kernel", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&arena, text, strlen(text), &diag);
    if (!kernel)
        fail_msg("%u: %s in\n%s", (unsigned)diag.entries[0].at.line, diag.entries[0].text, text);
    return kernel;
}

/* Lowers through text, so that names are resolved anew: a new name that hides an old one shows. The
 * lowered form is core: lowering it again changes nothing. */
static struct ast_kernel *lower(const struct ast_kernel *kernel)
{
    struct ast_kernel *core = lower_core(&arena, kernel);
    const char *text = print_kernel(&arena, core);
    struct diag diag;
    diag_init(&diag, "lowered", text, strlen(text));
    if (!ast_check(core, &diag))
        fail_msg("%s in\n%s", diag.entries[0].text, text);
    assert_string_equal(print_kernel(&arena, lower_core(&arena, core)), text);
    struct ast_kernel *again = parse(text);
    assert_string_equal(print_kernel(&arena, again), text);
    return again;
}

/* How the kernel ends; fails the test when its lowered form ends otherwise. */
static enum status compare(struct ast_kernel *kernel)
{
    const char *reason = NULL;
    struct ast_kernel *core = lower(kernel);
    const struct program *program = program_compile(&arena, core, &reason);
    if (!program)
        fail_msg("refused: %s in\n%s", reason, print_kernel(&arena, kernel));
    int32_t *expected = ARENA_ARRAY(&arena, int32_t, program->memory_words);
    int32_t *found = ARENA_ARRAY(&arena, int32_t, program->memory_words);
    program_init_memory(program, expected);
    enum status status = interpret(kernel, program, expected, 100000);
    if (status == STATUS_STEP_LIMIT)
        return status;
    const struct semantics *const both[] = {&semantics_threads, &semantics_simt};
    for (int i = 0; i < 2; i++) {
        if (machine_refuses(&arena, both[i], program))
            continue; /* votes, of threads */
        enum status ended = execute(both[i], program, found);
        bool same =
            ended == status && memcmp(expected, found, program->private_base * sizeof *found) == 0;
        if (!same)
            fail_msg("%s: %s, expected %s\n%s\nlowered:\n%s", both[i]->name, status_names[ended],
                     status_names[status], print_kernel(&arena, kernel),
                     print_kernel(&arena, core));
    }
    return status;
}

/* ---- random kernels ---- */

/* All that a kernel does is recorded in `trace`, a hash of the path taken, which also decides where
 * to go next; `fuel` bounds loops and calls. */
struct drawing {
    struct pcg rng;
    struct ast_kernel *kernel;
    struct ast_function *function; /* at hand; NULL: the kernel's own body */
    struct ast_var *trace, *fuel, *array;
    uint32_t size; /* statements left to draw */
    uint32_t loops, switches;
};

static const struct location nowhere = {0};

static uint32_t draw(struct drawing *d, uint32_t bound)
{
    return pcg_below(&d->rng, bound);
}

static struct ast_expr *constant(uint32_t value)
{
    return ast_int(&arena, (int32_t)value);
}

/* trace >> s & m == v: true now and then */
static struct ast_expr *draw_guard(struct drawing *d)
{
    uint32_t mask = draw(d, 2) ? 1 : 3;
    struct ast_expr *bits =
        ast_binary(&arena, BINARY_SHR, ast_var_ref(&arena, d->trace), constant(draw(d, 12)));
    bits = ast_binary(&arena, BINARY_AND, bits, constant(mask));
    return ast_binary(&arena, BINARY_EQ, bits, constant(draw(d, mask + 1)));
}

static struct ast_expr *fuelled(struct drawing *d, struct ast_expr *guard)
{
    struct ast_expr *left =
        ast_binary(&arena, BINARY_GT, ast_var_ref(&arena, d->fuel), constant(0));
    return ast_binary(&arena, BINARY_LOGICAL_AND, left, guard);
}

static struct ast_stm *burn(struct drawing *d)
{
    struct ast_stm *stm = ast_assign(&arena, d->fuel, NULL, constant(1), nowhere);
    stm->op = ASSIGN_SUB;
    return stm;
}

/* trace = trace * 31 + unique */
static struct ast_stm *record(struct drawing *d, struct ast_expr *value)
{
    struct ast_expr *old =
        ast_binary(&arena, BINARY_MUL, ast_var_ref(&arena, d->trace), constant(31));
    return ast_assign(&arena, d->trace, NULL, ast_binary(&arena, BINARY_ADD, old, value), nowhere);
}

static struct ast_stm *draw_list(struct drawing *d, uint32_t most);

static struct ast_stm *draw_body(struct drawing *d, bool burns)
{
    struct ast_stm *block = ast_stm(&arena, STM_BLOCK, nowhere);
    if (burns)
        block->body = burn(d);
    ast_stm_append(&block->body, draw_list(d, 4));
    return block;
}

static struct ast_stm *draw_if(struct drawing *d)
{
    struct ast_stm *stm = ast_stm(&arena, STM_IF, nowhere);
    stm->value = draw_guard(d);
    stm->body = draw_body(d, false);
    stm->other = draw(d, 2) ? draw_body(d, false) : NULL;
    return stm;
}

static struct ast_stm *draw_loop(struct drawing *d)
{
    static const enum ast_stm_kind kinds[] = {STM_WHILE, STM_DO, STM_FOR};
    struct ast_stm *stm = ast_stm(&arena, kinds[draw(d, 3)], nowhere);
    stm->value = fuelled(d, draw(d, 2) ? draw_guard(d) : constant(1));
    if (stm->kind == STM_FOR && draw(d, 2))
        stm->init = record(d, constant(draw(d, 1000)));
    if (stm->kind == STM_FOR && draw(d, 2))
        stm->step = record(d, constant(draw(d, 1000)));
    d->loops++;
    stm->body = draw_body(d, true);
    d->loops--;
    return stm;
}

static struct ast_stm *draw_switch(struct drawing *d)
{
    struct ast_stm *stm = ast_stm(&arena, STM_SWITCH, nowhere);
    struct ast_case **end = &stm->cases;
    uint32_t cases = draw(d, 5);
    stm->value = ast_binary(&arena, BINARY_AND, ast_var_ref(&arena, d->trace), constant(3));
    d->switches++;
    for (uint32_t i = 0; i < cases; i++) {
        struct ast_case *c = *end = ARENA_NEW(&arena, struct ast_case);
        c->value = (int32_t)((i * 3 + 1) % 4);
        c->is_default = i == cases - 1 && draw(d, 2);
        c->body = draw(d, 5) ? draw_list(d, 3) : NULL;
        if (draw(d, 2))
            ast_stm_append(&c->body, ast_stm(&arena, STM_BREAK, nowhere));
        end = &c->next;
    }
    d->switches--;
    return stm;
}

static struct ast_stm *draw_call(struct drawing *d)
{
    struct ast_stm *call = ast_stm(&arena, STM_CALL, nowhere);
    struct ast_function *callee = d->kernel->functions;
    for (uint32_t skip = draw(d, 3); skip > 0 && callee->next; skip--)
        callee = callee->next;
    call->function = callee;
    struct ast_expr **end = &call->arguments;
    for (uint32_t i = 0; i < callee->parameter_count; i++, end = &(*end)->next)
        *end = d->function && d->function->locals && draw(d, 2)
                   ? ast_var_ref(&arena, d->function->locals)
                   : constant(draw(d, 100));
    const struct ast_function *here = d->function ? d->function : d->kernel->main;
    struct ast_var *local = here->locals;
    while (local && local->is_array)
        local = local->next;
    if (callee->returns_int && draw(d, 3))
        call->target = draw(d, 2) || !local
                           ? (struct ast_lvalue){.var = d->array, .index = draw_guard(d)}
                           : (struct ast_lvalue){.var = local};
    struct ast_stm *guarded = ast_stm(&arena, STM_IF, nowhere);
    guarded->value = fuelled(d, constant(1));
    guarded->body = ast_stm(&arena, STM_BLOCK, nowhere);
    guarded->body->body = burn(d);
    guarded->body->body->next = call;
    return guarded;
}

static struct ast_stm *draw_return(struct drawing *d)
{
    struct ast_stm *stm = ast_stm(&arena, STM_RETURN, nowhere);
    if (d->function && d->function->returns_int)
        stm->value = ast_var_ref(&arena, draw(d, 2) ? d->trace : d->fuel);
    return stm;
}

/* array[i] op= trace, or its parity into trace */
static struct ast_stm *draw_array_use(struct drawing *d)
{
    struct ast_expr *index = ast_binary(&arena, BINARY_AND, ast_var_ref(&arena, d->trace),
                                        constant(draw(d, 40) ? 1 : 7));
    if (draw(d, 2))
        return record(d, ast_index(&arena, d->array, index));
    struct ast_stm *stm =
        ast_assign(&arena, d->array, index, ast_var_ref(&arena, d->trace), nowhere);
    stm->op = (enum ast_assign_op)draw(d, ASSIGN_COUNT);
    return stm;
}

static struct ast_stm *draw_local_use(struct drawing *d)
{
    const struct ast_function *here = d->function ? d->function : d->kernel->main;
    if (!here->locals || here->locals->is_array)
        return record(d, constant(draw(d, 1000)));
    if (draw(d, 2))
        return record(d, ast_var_ref(&arena, here->locals));
    struct ast_stm *stm = ast_assign(&arena, here->locals, NULL, constant(draw(d, 9)), nowhere);
    stm->op = (enum ast_assign_op)draw(d, ASSIGN_COUNT);
    return stm;
}

static struct ast_stm *draw_stm(struct drawing *d)
{
    uint32_t shape = d->size > 0 ? draw(d, 20) : draw(d, 6);
    if (d->size > 0)
        d->size--;
    switch (shape) {
    case 0:
        return draw_array_use(d);
    case 1:
        return draw_local_use(d);
    case 2:
    case 6:
        if (d->loops || d->switches)
            return ast_stm(&arena, STM_BREAK, nowhere);
        break;
    case 3:
    case 7:
        if (d->loops)
            return ast_stm(&arena, STM_CONTINUE, nowhere);
        break;
    case 8:
        if (draw(d, 3) == 0)
            return draw_return(d);
        if (draw(d, 20) == 0)
            return ast_stm(&arena, STM_EXIT, nowhere);
        break;
    case 9:
    case 10:
    case 11:
        return draw_if(d);
    case 12:
    case 13:
    case 14:
        return draw_loop(d);
    case 15:
    case 16:
        return draw_switch(d);
    case 17:
        return draw_call(d);
    case 18:
        return draw_body(d, false);
    default:
        break;
    }
    return record(d, constant(draw(d, 1000)));
}

static struct ast_stm *draw_list(struct drawing *d, uint32_t most)
{
    struct ast_stm *list = NULL;
    for (uint32_t n = draw(d, most + 1); n > 0; n--)
        ast_stm_append(&list, draw_stm(d));
    return list;
}

static struct ast_function *new_function(const char *name, bool returns_int, uint32_t parameters)
{
    struct ast_function *function = ARENA_NEW(&arena, struct ast_function);
    function->name = name;
    function->returns_int = returns_int;
    function->parameter_count = parameters;
    for (uint32_t i = 0; i < parameters; i++) {
        struct ast_var *var =
            ast_var(&arena, arena_printf(&arena, "p%u", (unsigned)i + 1), SPACE_LOCAL, 1, false);
        var->is_parameter = true;
        ast_var_append(&function->locals, var);
    }
    return function;
}

/* Names that lowering would like to use are taken in every third kernel. */
static struct ast_kernel *draw_kernel(uint64_t seed)
{
    struct drawing d = {.rng = pcg_derive(seed, PCG_KERNEL, 0), .size = 40};
    struct ast_kernel *kernel = d.kernel = ARENA_NEW(&arena, struct ast_kernel);
    kernel->name = "k";
    kernel->launch = (struct ast_launch){.threads = 1, .warp = 1, .blocks = 1, .seed = seed};
    kernel->vars = d.trace = ast_var(&arena, seed % 3 ? "trace" : "result", SPACE_GLOBAL, 1, false);
    d.fuel = ast_var(&arena, seed % 3 ? "fuel" : "leave1_", SPACE_GLOBAL, 1, false);
    d.fuel->init = ARENA_ARRAY(&arena, int32_t, 1);
    d.fuel->init[0] = 60;
    d.fuel->init_count = 1;
    d.array = ast_var(&arena, "a", SPACE_PRIVATE, 4, true);
    d.array->is_input = true;
    d.trace->is_input = true;
    ast_var_append(&kernel->vars, d.fuel);
    ast_var_append(&kernel->vars, d.array);
    kernel->main = new_function("k", false, 0);
    ast_var_append(&kernel->main->locals, ast_var(&arena, "own", SPACE_LOCAL, 1, false));
    struct ast_function *f = kernel->functions = new_function("f", true, 2);
    struct ast_function *g = f->next = new_function("g", false, 1);
    g->next = new_function("h", true, 0);
    ast_var_append(&g->locals, ast_var(&arena, "own", SPACE_LOCAL, 1, false));
    for (struct ast_function *each = f; each; each = each->next) {
        d.function = each;
        d.size = 15;
        each->body = draw_list(&d, 5);
    }
    d.function = NULL;
    d.size = 40;
    kernel->main->body = draw_list(&d, 6);
    /* what private memory holds at the end is recorded as well */
    for (uint32_t i = 0; i < 4; i++)
        ast_stm_append(&kernel->main->body, record(&d, ast_index(&arena, d.array, constant(i))));
    return kernel;
}

static void random_kernels_keep_their_meaning(void **state)
{
    (void)state;
    uint32_t ends[STATUS_COUNT] = {0};
    for (uint64_t seed = 0; seed < many(4000); seed++) {
        size_t mark = arena_mark(&arena);
        struct ast_kernel *kernel = draw_kernel(seed);
        ends[compare(kernel)]++;
        arena_release(&arena, mark);
    }
    assert_true(ends[STATUS_TERMINATED] > many(3000));
    assert_true(ends[STATUS_OUT_OF_BOUNDS] > many(10));
    assert_true(ends[STATUS_CALL_DEPTH] > 0);
}

/* ---- kernels by hand ---- */

/* Every combination of jumps; the results are those of the same text compiled as C. `add(v)` is
 * x = 10 x + v, so the digits (until they wrap) are the path. */
static const struct {
    const char *text;
    int32_t x; /* the final value of x; the first file-level variable */
} jumps[] = {
    /* continue inside switch inside for inside do */
    {"private int i, j; void add(int v) { x = x * 10 + v; } kernel k() { do {"
     "  for (j = 0; j < 4; j++) {"
     "    switch (j) { case 1: continue; case 2: add(2); break; default: add(3); } add(7); }"
     "  i++; if (i == 1) continue; add(9); } while (i < 2); }",
     -657885549},
    /* break out of a switch in a loop, then out of the loop; falling through, default */
    {"private int i; void add(int v) { x = x * 10 + v; } kernel k() { for (i = 0;; i++) {"
     "  switch (i) { case 0: add(1); break; case 2: add(2); case 3: add(3); if (i == 3) break;"
     "    add(4); break; case 5: add(5); default: add(6); }"
     "  if (i >= 5) break; } }",
     162343656},
    /* continue through two switches */
    {"private int i; void add(int v) { x = x * 10 + v; } kernel k() { for (i = 0; i < 5; i++) {"
     "  switch (i & 1) { case 0: switch (i) { case 0: add(1); break; case 2: continue;"
     "      default: add(2); } add(3);"
     "    case 1: add(4); if (i == 3) continue; } add(5); } }",
     569640457},
    /* return out of nested loops and switches of a recursive function */
    {"int fact(int n) { private int r; for (;;) { while (1) { if (n <= 1) return 1; break; }"
     "  do { if (n == 2) return 2; switch (n) { case 3: break;"
     "      default: r = fact(n - 1); return n * r; } } while (0);"
     "  return 6; } }"
     "kernel k() { private int r; r = fact(5); x = r; }",
     120},
    {"int find(int key) { private int i, j; for (i = 0; i < 10; i++) {"
     "    for (j = 0; j < 10; j++) { if (i * j == key) return i * 100 + j; if (j > i) break; } }"
     "  return -1; }"
     "kernel k() { private int r; r = find(12); x = r; }",
     304},
    /* a function that falls off its end gives 0 */
    {"int odd(int n) { private int r; if (n > 1) { r = odd(n - 2); return r; }"
     "  if (n == 1) return 1; }"
     "kernel k() { private int a, b; a = odd(9); b = odd(10); x = a * 10 + b; }",
     10},
    /* continue in do goes to the guard */
    {"private int i; void add(int v) { x = x * 10 + v; } kernel k() {"
     "  do { i++; if (i == 2) continue; add(i); } while (i < 4 && i != 3); }",
     13},
    /* continue in for runs the step */
    {"private int i, j; void add(int v) { x = x * 10 + v; } kernel k() {"
     "  for (i = 0; i < 6; i++) { if (i == 1 || i == 4) continue;"
     "    for (j = 0;; j++) { if (j == i) break; if (j == 1) continue; add(j); } add(9); } }",
     708589133},
    /* both in one switch of a while */
    {"private int i = 9; void add(int v) { x = x * 10 + v; } kernel k() { while (i) { i--;"
     "    switch (i) { case 7: case 3: continue; case 1: break; case 5: add(5); continue;"
     "      default: add(1); }"
     "    if (i == 2) break; add(2); } }",
     12125121},
    /* no match, only a default, empty bodies, no case */
    {"void add(int v) { x = x * 10 + v; } kernel k() { switch (3) { default: add(1); }"
     "  switch (3) { case 4: add(2); } switch (3) { } switch (3) { case 3: default: ; }"
     "  switch (3) { case 3: case 4: add(8); case 5: ; } }",
     18},
};

static void jumps_go_where_those_of_c_go(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
        struct ast_kernel *kernel = parse(arena_printf(
            &arena, "launch(threads=1, warp=1, blocks=1); global int x; %s", jumps[i].text));
        assert_int_equal(compare(kernel), STATUS_TERMINATED);
        const char *reason = NULL;
        const struct program *program = program_compile(&arena, lower(kernel), &reason);
        int32_t *memory = ARENA_ARRAY(&arena, int32_t, program->memory_words);
        execute(&semantics_threads, program, memory);
        if (memory[0] != jumps[i].x)
            fail_msg("%d, expected %d: %s", memory[0], jumps[i].x, jumps[i].text);
    }
}

/* A switch with more cases than one assignment selects from. */
static void a_long_switch_finds_each_case(void **state)
{
    (void)state;
    char *cases = arena_strndup(&arena, "", 0);
    for (int i = 0; i < 100; i++)
        cases = arena_printf(&arena, "%scase %d: x += %d; %s", cases, i * 7, i + 1,
                             i % 3 ? "break;" : "");
    struct ast_kernel *kernel = parse(arena_printf(
        &arena,
        "launch(threads=1, warp=1); global int x; private int i; kernel k() {"
        " for (i = -3; i < 710; i++) { x *= 3; switch (i) { %s default: x += 1000; } } }",
        cases));
    assert_int_equal(compare(kernel), STATUS_TERMINATED);
}

/* The generator's kernels, in a launch of one thread; every fourth with all features. Those with
 * statements that only later semantics give a meaning to are lowered and printed, not run. */
static void generated_kernels_keep_their_meaning(void **state)
{
    (void)state;
    uint32_t terminated = 0, refused = 0;
    uint32_t structured =
        ((1u << FEATURE_COUNT) - 1) & ~(1u << FEATURE_GRAPHS | 1u << FEATURE_DIRECTIONS |
                                        1u << FEATURE_CRS | 1u << FEATURE_KNOWN);
    for (uint64_t number = 0; number < many(2000); number++) {
        size_t mark = arena_mark(&arena);
        const char *reason = NULL;
        struct gen_options options = GEN_DEFAULTS;
        options.features &= structured;
        if (number % 4 == 0)
            options.features = structured;
        struct ast_kernel *kernel = gen_case(&arena, 5, number, &options);
        kernel->launch =
            (struct ast_launch){.threads = 1, .warp = 1, .blocks = 1, .seed = kernel->launch.seed};
        const struct program *program = program_compile(&arena, lower(kernel), &reason);
        if (program)
            terminated += compare(kernel) == STATUS_TERMINATED;
        else
            refused++;
        arena_release(&arena, mark);
    }
    assert_true(terminated > many(1000));
    assert_true(refused > many(10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jumps_go_where_those_of_c_go),
        cmocka_unit_test(a_long_switch_finds_each_case),
        cmocka_unit_test(random_kernels_keep_their_meaning),
        cmocka_unit_test(generated_kernels_keep_their_meaning),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
