/*
 * duo_new.c - the kernel that two threads run, its launch, the state that they begin in.
 */
#include "engine/duo/lift.h"

#include "engine/input/input.h"
#include "engine/language/initial.h"

#include <inttypes.h>
#include <string.h>

const char *const proof_goal_names[GOAL_COUNT] = {"race", "divergence", "bounds", "asserts"};

const struct proof_options PROOF_DEFAULTS = {
    .unroll = 3, .invariants = true, .counted = true, .rehearsed = true, .integers = true};

enum { TABLE_MAX = 4096 }; /* values of an initialiser that are told to the solver */

void grown_add(struct arena *arena, struct grown *list, const void *item, size_t size)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 16;
        void *items = arena_alloc(arena, capacity, size);
        if (list->count)
            memcpy(items, list->items, list->count * size);
        list->items = items;
        list->capacity = capacity;
    }
    memcpy((char *)list->items + list->count++ * size, item, size);
}

term duo_fresh(struct duo *duo, enum term_sort sort, const char *what)
{
    const char *name = arena_printf(duo->arena, "%s #%" PRIu32, what, duo->fresh.count);
    term symbol = term_symbol(&duo->terms, sort, name);
    grown_add(duo->arena, &duo->fresh, &symbol, sizeof symbol);
    return symbol;
}

void duo_note(struct duo *duo, struct deed deed)
{
    deed.built = duo->terms.count;
    grown_add(duo->arena, &duo->deeds, &deed, sizeof deed);
}

void duo_assume(struct duo *duo, term fact)
{
    grown_add(duo->arena, &duo->assumptions, &fact, sizeof fact);
}

/* ---- what is refused ---- */

static const char *statement_refusal(struct arena *arena, const struct ast_stm *s)
{
    const uint32_t handled = 1u << STM_SKIP | 1u << STM_ASSIGN | 1u << STM_BARRIER |
                             1u << STM_ATOMIC | 1u << STM_ASSERT | 1u << STM_ASSUME |
                             1u << STM_HAVOC | 1u << STM_MEMBAR;
    if (handled >> s->kind & 1)
        return NULL;
    if (s->kind == STM_CALL) /* all others are inlined where the kernel was structured */
        return arena_printf(arena, "the call at line %" PRIu32 " is not handled: %s", s->at.line,
                            "recursion, or a procedure of blocks");
    return arena_printf(arena, "'%s' at line %" PRIu32 " is not handled", ast_stm_names[s->kind],
                        s->at.line);
}

/* A leading assume decides where gotos go (choosing accesses nothing); another may stand anywhere. */
static const char *block_refusal(struct arena *arena, const struct ast_block *block)
{
    const struct ast_stm *first = block->body;
    if (first && first->kind == STM_ASSUME && duo_reads_memory(first->value))
        return arena_printf(arena, "the guard at line %" PRIu32 " reads shared memory",
                            first->at.line);
    for (const struct ast_stm *s = first; s; s = s->next) {
        const char *reason = statement_refusal(arena, s);
        if (reason)
            return reason;
    }
    return NULL;
}

static const char *kernel_refusal(struct arena *arena, const struct ast_kernel *kernel)
{
    for (const struct ast_block *b = kernel->main->blocks; b; b = b->next) {
        const char *reason = block_refusal(arena, b);
        if (reason)
            return reason;
    }
    return NULL;
}

/* ---- variables ---- */

static void number_variables(struct duo *duo)
{
    struct ast_var *lists[] = {duo->kernel->vars, duo->kernel->main->locals};
    for (int i = 0; i < 2; i++)
        for (struct ast_var *v = lists[i]; v; v = v->next)
            v->mark = duo->var_count++;
    duo->vars = ARENA_ARRAY(duo->arena, struct ast_var *, duo->var_count + 1);
    for (int i = 0; i < 2; i++)
        for (struct ast_var *v = lists[i]; v; v = v->next)
            duo->vars[v->mark] = v;
    duo->written = ARENA_ARRAY(duo->arena, uint8_t, duo->var_count + 1);
    duo->wide = ARENA_ARRAY(duo->arena, uint8_t, duo->var_count + 1);
}

static void note_writes(struct duo *duo, const struct ast_stm *s)
{
    if (s->kind == STM_ASSIGN)
        duo->written[s->target.var->mark] |= 1;
    if (s->kind == STM_HAVOC)
        duo->written[s->place.var->mark] |= 1;
    if (s->kind == STM_ATOMIC)
        duo->written[s->place.var->mark] |= 2;
    if (s->kind == STM_ATOMIC && s->target.var)
        duo->written[s->target.var->mark] |= 1;
}

/* What P has none of cannot go wrong, whatever happens to memory and threads. */
static void note_goals(struct duo *duo, const struct ast_stm *s)
{
    duo->possible[GOAL_DIVERGENCE] |= s->kind == STM_BARRIER && duo->threads > 1;
    duo->possible[GOAL_ASSERTS] |=
        s->kind == STM_ASSERT && !(s->annotation && duo->options->assume_invariants);
}

/* An execution that an assume ends may be no execution at all. */
static void note_assumes(struct duo *duo, const struct ast_block *block)
{
    for (const struct ast_stm *s = block->body; s; s = s->next) {
        duo->assumes |= s != block->body && s->kind == STM_ASSUME;
        duo->assumes |= s->annotation && duo->options->assume_invariants;
    }
}

static void find_writes(struct duo *duo)
{
    for (const struct ast_block *b = duo->kernel->main->blocks; b; b = b->next)
        for (const struct ast_stm *s = b->body; s; s = s->next) {
            note_writes(duo, s);
            note_goals(duo, s);
        }
    for (const struct ast_block *b = duo->kernel->main->blocks; b; b = b->next)
        note_assumes(duo, b);
    if (duo->lift)
        lift_note_variables(duo);
    for (uint32_t i = 0; i < duo->var_count; i++) {
        bool shared = is_memory(duo->vars[i]) && duo->written[i];
        duo->possible[GOAL_RACE] |= shared && duo->threads * duo->blocks > 1;
        duo->possible[GOAL_BOUNDS] |= duo->vars[i]->is_array && !duo->lift;
    }
}

/* ---- the launch ---- */

/* A number below `count`. */
static term below_term(struct duo *duo, const char *name, term count)
{
    term symbol = term_symbol(&duo->terms, SORT_WORD, name);
    duo_assume(duo, term_below(&duo->terms, symbol, count));
    return symbol;
}

/* A constant where there is one only. */
term duo_below(struct duo *duo, const char *name, uint32_t count)
{
    if (count == 1)
        return term_word(&duo->terms, 0);
    term symbol = term_limited(&duo->terms, name, (int32_t)count);
    duo_assume(duo, term_limit_of(&duo->terms, symbol));
    return symbol;
}

/* How many threads a block has: literals, where they are known, since products with them are easier to solve. */
static void set_thread_count(struct duo *duo)
{
    struct terms *t = &duo->terms;
    const struct proof_options *o = duo->options;
    duo->threads = duo->kernel->launch.threads;
    duo->thread_count = term_word(t, (int32_t)duo->threads);
    if (o->threads_to == 0)
        return;
    duo->threads = o->threads_to;
    duo->thread_count = below_term(duo, "threads", term_word(t, (int32_t)o->threads_to + 1));
    duo_assume(
        duo, term_not(t, term_below(t, duo->thread_count, term_word(t, (int32_t)o->threads_from))));
}

/* Two threads: of one block with different numbers, or of different blocks. A launch of one thread has
 * no pair: both are that thread, and nobody conflicts. */
static void set_launch(struct duo *duo)
{
    struct terms *t = &duo->terms;
    bool any = duo->options->threads_to > 0;
    for (uint32_t k = 0; k < 2; k++) {
        const char *name = k ? "tid$2" : "tid$1";
        duo->tid[k] =
            any ? below_term(duo, name, duo->thread_count) : duo_below(duo, name, duo->threads);
    }
    duo->bid[0] = duo_below(duo, "bid$1", duo->blocks);
    duo->bid[1] = duo_below(duo, "bid$2", duo->blocks);
    duo->same = term_eq(t, duo->bid[0], duo->bid[1]);
    if (duo->threads * duo->blocks > 1)
        duo_assume(duo, term_not(t, term_and(t, duo->same, term_eq(t, duo->tid[0], duo->tid[1]))));
}

static void set_watched(struct duo *duo)
{
    duo->watched = ARENA_ARRAY(duo->arena, term, duo->var_count + 1);
    for (uint32_t i = 0; i < duo->var_count; i++) {
        const struct ast_var *var = duo->vars[i];
        if (is_memory(var) && duo->written[i])
            duo->watched[i] =
                duo_below(duo, arena_printf(duo->arena, "watched %s.%" PRIu32, var->name, i),
                          var->length * duo->units);
    }
}

/* ---- initial values ---- */

static term symbol_for(struct duo *duo, const struct ast_var *var, const char *suffix)
{
    return term_symbol(
        &duo->terms, var_sort(duo, var),
        arena_printf(duo->arena, "input %s.%" PRIu32 "%s", var->name, var->mark, suffix));
}

static term table_of(struct duo *duo, const struct ast_var *var, const int32_t *values,
                     uint32_t count)
{
    struct terms *t = &duo->terms;
    if (!var->is_array)
        return term_word(t, count ? values[0] : 0);
    term table = term_table(t, term_word(t, 0));
    for (uint32_t i = 0; i < count; i++)
        if (values[i] != 0)
            table = term_store(t, table, term_word(t, (int32_t)i), term_word(t, values[i]));
    return table;
}

/* The values that the kernel's seed draws, where there is one copy of them. */
static bool drawn_here(const struct duo *duo, const struct ast_var *var)
{
    return duo->options->file_inputs && var->length <= TABLE_MAX &&
           (var->space == SPACE_GLOBAL || (var->space == SPACE_SHARED && duo->blocks == 1));
}

/* Draws depend on a variable's number in the kernel as it was given, which P may have added some to. */
static uint32_t given_number(const struct duo *duo, const struct ast_var *var)
{
    uint32_t number = 0;
    for (const struct ast_var *v = duo->given->vars; v; v = v->next, number++)
        if (strcmp(v->name, var->name) == 0)
            return number;
    return number;
}

static term drawn(struct duo *duo, const struct ast_var *var)
{
    int32_t *values = ARENA_ARRAY(duo->arena, int32_t, var->length);
    language_init_variable(var, given_number(duo, var), duo->kernel->launch.seed, values,
                           var->length, 1);
    return table_of(duo, var, values, var->length);
}

/* What a variable holds for thread k: anything of an input (the same for both threads where they share
 * it), otherwise its initialiser. */
static term initial(struct duo *duo, const struct ast_var *var, uint32_t k)
{
    bool is_private = !is_memory(var);
    if (duo->lift)
        return lift_initial(duo, var, k);
    if (!var->is_input && var->init_count > TABLE_MAX)
        return symbol_for(duo, var, is_private && k ? "$2" : "");
    if (!var->is_input)
        return table_of(duo, var, var->init, var->init_count);
    if (drawn_here(duo, var))
        return drawn(duo, var);
    term first = symbol_for(duo, var, is_private ? (k ? "$2" : "$1") : "");
    if (is_private || k == 0 || var->space == SPACE_GLOBAL)
        return first;
    return term_ite(&duo->terms, duo->same, first, symbol_for(duo, var, " of block 2"));
}

term *duo_start(struct duo *duo)
{
    term *state = ARENA_ARRAY(duo->arena, term, duo->slot_count);
    for (uint32_t i = 0; i < duo->slot_count; i++)
        state[i] = TERM_FALSE;
    for (uint32_t k = 0; k < 2; k++) {
        state[slot_at(duo, duo->kernel->main->blocks->mark, k)] = TERM_TRUE;
        for (uint32_t i = 0; i < duo->var_count; i++)
            state[slot_var(duo, duo->vars[i], k)] = initial(duo, duo->vars[i], k);
    }
    state[slot_path(duo)] = TERM_TRUE;
    return state;
}

/* ---- all of it ---- */

static void note_loops(struct duo *duo)
{
    const struct cfg *cfg = duo->cfg;
    duo->loop_at = ARENA_ARRAY(duo->arena, uint32_t, cfg->count + 1);
    duo->loop_size = ARENA_ARRAY(duo->arena, uint32_t, cfg->loop_count + 1);
    duo->loop_open = ARENA_ARRAY(duo->arena, bool, cfg->loop_count + 1);
    for (uint32_t b = 0; b < cfg->count; b++)
        duo->loop_at[b] = CFG_NO_LOOP;
    for (uint32_t l = 0; l < cfg->loop_count; l++) {
        duo->loop_at[cfg->loops[l].head] = l;
        for (uint32_t b = 0; b < cfg->count; b++)
            duo->loop_size[l] += cfg_in_loop(cfg, l, b);
    }
}

/* Structured kernels: the anchored P, in which a barrier on the way out of a loop belongs to its trip. */
static const struct ast_kernel *find_p(struct arena *arena, struct forms *forms,
                                       const char **reason)
{
    const struct ast_kernel *given = forms->given;
    if (given->form == FORM_PTX || given->form == FORM_LOCKSTEP) {
        *reason = given->form == FORM_PTX ? "a kernel given as PTX has no P"
                                          : "a kernel in lock-step form has no P";
        return NULL;
    }
    /* A structured kernel's P can only have assumes besides the guards, whose threads die: more than the theorems
     * about phi(P) allow, and no less than what executions do. */
    bool structured = given->form == FORM_STRUCTURED;
    if (!structured && forms_well_formed(forms, reason) == ILL_FORMED) {
        *reason = arena_printf(arena, "not well-formed (Def. 5.1): %s", *reason);
        return NULL;
    }
    const struct form *form = forms_get(forms, structured ? PROGRAM_ANCHORED : PROGRAM_BLOCKS);
    *reason = form->kernel ? NULL : form->reason;
    return form->kernel;
}

const struct ast_kernel *duo_program(struct arena *arena, struct forms *forms, const char **reason)
{
    const struct ast_kernel *p = find_p(arena, forms, reason);
    if (p)
        *reason = kernel_refusal(arena, p);
    return p && !*reason ? p : NULL;
}

/* P, or the blocks of a kernel given as PTX. */
static bool set_kernel(struct duo *duo, struct forms *forms, const char **reason)
{
    duo->given = forms->given;
    if (forms->given->form == FORM_PTX)
        return lift_new(duo, forms, reason);
    const struct ast_kernel *p = duo_program(duo->arena, forms, reason);
    duo->kernel = p ? language_copy(duo->arena, p) : NULL;
    return p != NULL;
}

static struct duo *make(struct arena *arena, struct forms *forms,
                        const struct proof_options *options, uint32_t unroll,
                        const uint64_t *touched, const char **reason)
{
    struct duo *duo = ARENA_NEW(arena, struct duo);
    struct location at;
    duo->arena = arena;
    duo->options = options;
    duo->unroll = unroll;
    duo->units = 1;
    if (!set_kernel(duo, forms, reason))
        return NULL;
    duo->cfg = cfg_build(arena, duo->kernel->main, reason, &at);
    if (!duo->cfg)
        return NULL;
    cfg_sort(arena, duo->cfg, 0);
    terms_init(&duo->terms, arena, TERMS_LIMIT);
    set_thread_count(duo);
    duo->blocks = duo->kernel->launch.blocks;
    duo->block_count = duo->cfg->count;
    number_variables(duo);
    if (duo->lift)
        lift_settle(duo, touched);
    find_writes(duo);
    note_loops(duo);
    duo->slot_count = (duo->block_count + 2) * 2 + 1 + duo->var_count * (2 + LOG_KINDS);
    if (duo->lift)
        lift_launch(duo);
    else
        set_launch(duo);
    set_watched(duo);
    return duo;
}

/* Which variables the accesses of PTX may lie in is found by a run of its own. */
struct duo *duo_new(struct arena *arena, struct forms *forms, const struct proof_options *options,
                    uint32_t unroll, const char **reason)
{
    struct duo *first = NULL;
    if (forms->given->form == FORM_PTX) {
        first = make(arena, forms, options, 0, NULL, reason);
        if (!first)
            return NULL;
        duo_run(first);
    }
    if (first && first->reason) {
        *reason = first->reason;
        return NULL;
    }
    return make(arena, forms, options, unroll, first ? first->lift->touched : NULL, reason);
}
