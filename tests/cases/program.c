/* Kernels laid out for execution: statements and their lists, blocks, variables and their memory, depths. */
#include "tests/cases/cases.h"

#include "engine/language/print.h"
#include "engine/warps/simt.h"
#include "tests/unit/shared/support.h"

static size_t begin_case(void)
{
    if (!test_arena.base)
        assert_int_equal(support_setup(NULL), 0);
    return arena_mark(&test_arena);
}

static const char *const kind_names[] = {
    [CODE_SKIP] = "skip",         [CODE_ASSIGN] = "assign", [CODE_IF] = "if",
    [CODE_WHILE] = "while",       [CODE_BREAK] = "break",   [CODE_CALL] = "call",
    [CODE_RETURN] = "return",     [CODE_EXIT] = "exit",     [CODE_ASSERT] = "assert",
    [CODE_ASSUME] = "assume",     [CODE_HAVOC] = "havoc",   [CODE_ATOMIC] = "atomic",
    [CODE_VOTE] = "vote",         [CODE_BARRIER] = "bar",   [CODE_GOTO] = "goto",
    [CODE_END_CALL] = "end-call", [CODE_PICK] = "pick",     [CODE_LOCKSYNC] = "lock-sync",
};
static const char *const space_names[] = {[SPACE_GLOBAL] = "global",
                                          [SPACE_SHARED] = "shared",
                                          [SPACE_PRIVATE] = "private",
                                          [SPACE_LOCAL] = "local"};

/* ---- code: functions, blocks and statements, a line each ---- */

static void put_list(struct text *out, const char *before, uint32_t list)
{
    if (list != CODE_NONE)
        text_format(out, "%s%u", before, list);
}

/* Variables of a footprint; those from the 63rd on share a bit. */
static void put_footprint(struct text *out, const struct program *p, const char *what,
                          uint64_t bits)
{
    for (uint32_t v = 0; v < 64 && bits; v++)
        if (bits >> v & 1)
            text_format(out, " %s:%s", what, v == 63 ? "others" : p->vars[v].ast->name);
}

/* "NUMBER KIND LISTS FOOTPRINT; (last)   source" */
static void put_statement(struct text *out, const struct program *p, uint32_t number)
{
    const struct code_stm *s = &p->stms[number];
    text_format(out, "  %u %s", number, kind_names[s->kind]);
    put_list(out, " > ", s->first);
    put_list(out, " ", s->second);
    put_footprint(out, p, "reads", s->reads);
    put_footprint(out, p, "writes", s->writes);
    if (s->kind == CODE_BARRIER)
        text_format(out, " number %u", s->barrier);
    text_format(out, "%s", s->last ? ", last" : "");
    if (s->source)
        text_format(out, "   %s", print_stm_head(&test_arena, s->source));
    text_put(out, "\n");
}

static void put_set(struct text *out, const char *what, uint64_t set)
{
    if (set)
        text_format(out, " %s:%llx", what, (unsigned long long)set);
}

/* A block's guard is the condition of the assume that it begins with. */
static void put_block(struct text *out, const struct program *p, const struct code_block *b)
{
    text_format(out, "%s", b->name);
    put_set(out, "loops", b->loops);
    put_set(out, "head-of", b->heads);
    if (b->guard != CODE_NONE) {
        assert_int_equal(b->guard, p->stms[b->first].value);
        text_put(out, " guarded");
    }
    for (uint32_t t = 0; t < b->target_count; t++) {
        uint32_t target = p->targets[b->target_first + t];
        text_format(out, "%s%s", t ? " " : " > ",
                    target == BLOCK_END ? "End" : p->blocks[target].name);
    }
    text_put(out, "\n");
}

static void put_function(struct text *out, const struct program *p, const struct code_function *f)
{
    bool blocks = f->body == CODE_NONE;
    text_format(out, "%s: %s %s", f->name, blocks ? "enters" : "list",
                blocks ? p->blocks[f->entry].name : arena_printf(&test_arena, "%u", f->body));
    if (f->counters)
        text_format(out, ", %u loops count", f->counters);
    if (f->frame_words)
        text_put(out, ", frame");
    for (uint32_t i = 0; i < f->frame_words; i++)
        text_format(out, " %d", p->frame_init[f->init_first + i]);
    for (uint32_t i = 0; i < f->in_count; i++)
        text_format(out, ", in at %u", p->parameters[f->in_first + i]);
    for (uint32_t i = 0; i < f->out_count; i++)
        text_format(out, ", out at %u", p->parameters[f->out_first + i]);
    text_put(out, "\n");
}

static const char *first_operand(const struct code_expr_op *op)
{
    bool scalar = op->op >= OP_GLOBAL && op->op <= OP_LOCAL;
    return scalar ? space_names[op->op - OP_GLOBAL] : "a value";
}

/* What a call of a procedure hands over: its ins, then its outs. */
static void put_arguments(struct text *out, const struct program *p, const struct code_stm *call)
{
    const struct code_function *callee = &p->functions[call->first];
    for (uint32_t i = 0; i < callee->in_count + callee->out_count; i++) {
        const struct code_argument *a = &p->arguments[call->second + i];
        if (i < callee->in_count)
            text_format(out, "    in at %u from %s\n", a->offset, first_operand(&p->ops[a->value]));
        else
            text_format(out, "    out at %u to %s %u\n", a->offset, space_names[a->target.space],
                        a->target.offset);
    }
}

/* Every statement names its function and its block; what a goto or an end has no source for has none. */
static void put_code(struct text *out, const struct program *p)
{
    for (uint32_t f = 0; f < p->function_count; f++)
        put_function(out, p, &p->functions[f]);
    for (uint32_t i = 0; i < p->stm_count; i++) {
        const struct code_stm *s = &p->stms[i];
        if (s->block != CODE_NONE) {
            const struct code_block *b = &p->blocks[s->block];
            assert_int_equal(s->function, b->function);
            if (b->first == i)
                put_block(out, p, b);
            else
                assert_int_equal(s->block, p->stms[i - 1].block);
        } else {
            assert_non_null(s->source);
        }
        put_statement(out, p, i);
        if (s->kind == CODE_CALL && p->block_count)
            put_arguments(out, p, s);
    }
}

/* ---- size: words of each space, where they begin; depths, and the deepest that a warp comes to ---- */

static void see_depth(void *context, const struct machine *machine, const struct step_event *event)
{
    uint32_t *most = context, depth = simt_state(machine, event->actor).depth;
    *most = depth > *most ? depth : *most;
}

/* Runs it in warps; the depth is never passed. */
static const char *put_run(struct text *out, const struct program *p)
{
    uint32_t most = 0;
    struct observer observer = {.context = &most, .step = see_depth};
    struct machine_options options = {.observers = &observer};
    const struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    struct scheduler scheduler;
    struct machine *machine = machine_new(&test_arena, &semantics_simt, p, &options);
    sched_start(&scheduler, &spec, machine, &test_arena);
    enum status status = machine_run(machine, &scheduler.choices, 100000, NULL);
    assert_true(most <= p->stack_depth);
    text_format(out, ", deepest %u", most);
    return status_names[status];
}

static void put_size(struct text *out, const struct program *p)
{
    text_put(out, "words:");
    for (uint32_t s = 0; s < SPACE_COUNT; s++)
        if (p->words[s])
            text_format(out, " %s %u", space_names[s], p->words[s]);
    text_format(out, ", shared at %u, private at %u, frames at %u, %u in all\n", p->shared_base,
                p->private_base, p->frame_base, p->memory_words);
    text_format(out, "%u threads, %u warps, %u a block\n", p->total_threads, p->warp_count,
                p->warps_per_block);
    text_format(out, "depth: expressions %u, stack %u%s", p->expr_depth, p->stack_depth,
                p->recursive ? ", recursive" : "");
    const char *end = p->form == FORM_STRUCTURED ? put_run(out, p) : NULL;
    text_format(out, "%s%s\n", end ? "; " : "", end ? end : "");
}

/* ---- names: what every address is called, and its first value; builtins of every thread ---- */

static void put_values(struct text *out, const int32_t *memory, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        text_format(out, " %d", memory[i]);
    text_put(out, "\n");
}

static void put_names(struct text *out, const struct program *p)
{
    int32_t *memory = ARENA_ARRAY(&test_arena, int32_t, p->memory_words);
    memset(memory, 0xee, p->memory_words * sizeof *memory);
    program_init_memory(p, memory);
    for (uint32_t i = 0; i < p->private_base; i++)
        text_format(out, "%s = %d\n", program_location_name(&test_arena, p, i), memory[i]);
    for (uint32_t t = 0; t < p->total_threads; t++) {
        text_format(out, "thread %u:", t);
        put_values(out, memory + p->private_base + t * p->words[SPACE_PRIVATE],
                   p->words[SPACE_PRIVATE]);
        text_put(out, "  frames:");
        put_values(out, memory + p->frame_base + t * p->words[SPACE_LOCAL], p->words[SPACE_LOCAL]);
    }
}

static void put_builtins(struct text *out, const struct program *p)
{
    for (uint32_t t = 0; t < p->total_threads; t++) {
        text_format(out, "thread %u:", t);
        for (uint32_t b = 0; b < BUILTIN_COUNT; b++)
            text_format(out, " %s %d", ast_builtin_names[b],
                        program_builtin(p, t, (enum ast_builtin)b));
        text_put(out, "\n");
    }
}

/* ---- layout [PART..]: a structured kernel is lowered to its core first, unless it is given `as-it-is` ---- */

static void layout(const char *options, const char *input, struct text *out)
{
    size_t mark = begin_case();
    const char *reason = NULL;
    struct program_options wanted = {.appendix_loops = cases_option(options, "appendix-loops")};
    struct ast_kernel *kernel = support_parse(input);
    if (!cases_option(options, "as-it-is") && kernel->form == FORM_STRUCTURED)
        kernel = lower_core(&test_arena, kernel);
    const struct program *p = program_compile_with(&test_arena, kernel, &wanted, &reason);
    assert_int_equal(p == NULL, reason != NULL);
    if (!p)
        text_format(out, "refused: %s\n", reason);
    if (p && cases_option(options, "code"))
        put_code(out, p);
    if (p && cases_option(options, "size"))
        put_size(out, p);
    if (p && cases_option(options, "names"))
        put_names(out, p);
    if (p && cases_option(options, "builtins"))
        put_builtins(out, p);
    if (p && cases_option(options, "commute"))
        text_put(out, program_atomics_commute(p) ? "commute\n" : "do not\n");
    arena_release(&test_arena, mark);
}

const struct cases_command cases_program[] = {{"layout", layout}, {NULL, NULL}};
