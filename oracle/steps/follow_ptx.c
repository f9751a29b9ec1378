#include "oracle/steps/follow_ptx.h"

#include "engine/base/invariant.h"

#include <string.h>

/* ---- making ---- */

static const char *why_not(const struct follower *f)
{
    const struct machine_options *options = &f->machine->options;
    const struct ptx_code *code = f->program->ptx;
    if (options->crs_switches >> REF_OTHERWISE_KAPPA & 1)
        return "it pushes frames for lanes that call again";
    if (code->token_capacity > REF_TOKENS || code->depth > FOLLOW_DEPTH)
        return "deeper stacks than the reference has room for";
    if (f->program->memory_words > FOLLOW_WORDS)
        return "more memory than the reference has room for";
    return NULL;
}

static struct ptx_lanes *lanes_of(const struct follower *f, uint32_t group)
{
    const struct ptx_lanes *lanes = f->ptx->is_threads ? cta_thread(f->machine, group).lanes
                                                       : crs_warp(f->machine, group).lanes;
    return (struct ptx_lanes *)(uintptr_t)lanes;
}

static bool make_groups(struct arena *arena, struct follower *f, const char **why)
{
    struct follow_ptx *x = f->ptx;
    uint32_t count = f->machine->actor_count, width = x->is_threads ? 1 : f->program->launch.warp;
    x->register_words = ptx_lanes_words(f->program, width);
    if ((uint64_t)count * (x->register_words * 4 + sizeof(struct ref_unit)) > 8 << 20) {
        *why = "more registers than the reference has room for";
        return false;
    }
    x->groups = ARENA_ARRAY(arena, struct follow_group, count);
    for (uint32_t i = 0; i < count; i++) {
        x->groups[i].registers = arena_room(arena, (size_t)x->register_words * 4);
        if (x->is_threads)
            x->groups[i].entries = ARENA_ARRAY(arena, struct follow_entry, FOLLOW_ENTRIES);
        else
            x->groups[i].unit = arena_room(arena, sizeof(struct ref_unit));
    }
    return true;
}

bool follow_ptx_new(struct arena *arena, struct follower *f, const char **why)
{
    const struct machine_options *options = &f->machine->options;
    const struct program *program = f->program;
    *why = why_not(f);
    if (*why)
        return false;
    struct follow_ptx *x = f->ptx = ARENA_NEW(arena, struct follow_ptx);
    x->code = program->ptx;
    x->has_pcs = f->machine->semantics->has_pcs;
    x->is_threads = f->machine->semantics->actors == ACTORS_THREADS;
    x->otherwise = options->crs_switches;
    x->options = options->block_options;
    x->late = x->options & BLOCK_LATE;
    x->may_ask_for_grid =
        ptx_grid_address(x->code->kernel) != 0 &&
        ptx_waits_for_grid(arena, x->code->kernel->module, x->code->kernel->entry);
    x->groups_a_block = x->is_threads ? program->launch.threads : program->warps_per_block;
    x->memory = ARENA_ARRAY(arena, int32_t, program->memory_words);
    x->bars = ARENA_ARRAY(arena, struct ref_bars, program->launch.blocks);
    for (uint32_t b = 0; b < program->launch.blocks && x->code->barriers; b++) {
        (void)ref_bars_new(arena, &x->bars[b], &program->launch);
        x->bars[b].exit_arrives = x->options & BLOCK_EXIT_ARRIVES;
        x->bars[b].all_warps = x->options & BLOCK_ALL_WARPS;
        x->bars[b].lanes = x->options & BLOCK_LANES;
    }
    if (x->code->has_async)
        follow_ptx_copies_new(arena, x, program->total_threads);
    return make_groups(arena, f, why);
}

/* ---- the start ---- */

static const void *initial(const struct follower *f, const void *place)
{
    return (const char *)f->machine->initial +
           ((const char *)place - (const char *)f->machine->block);
}

static void start_warp(struct follower *f, uint32_t warp)
{
    struct follow_ptx *x = f->ptx;
    const struct ast_launch *launch = &f->program->launch;
    const struct ptx_kernel *kernel = x->code->kernel;
    struct ref_unit *u = x->groups[warp].unit;
    uint32_t first = warp % x->groups_a_block * launch->warp;
    const struct ref_unit start = {
        .lanes = launch->warp, .pc = 1, .capacity = x->code->token_capacity};
    ref_unit_copy(u, &start);
    for (uint32_t l = 0; l < LIMIT_WARP; l++) {
        u->active.has[l] = l < launch->warp && first + l < launch->threads;
        u->disabled[l] = u->active.has[l] ? '0' : 'e';
    }
    for (uint32_t i = kernel->token_count; i > 0; i--) {
        const struct ptx_token_init *given = &kernel->tokens[i - 1];
        struct ref_token *t = &u->tokens[u->count++];
        *t = (struct ref_token){.type = (enum ref_token_type)given->type, .pc = given->pc};
        for (uint32_t l = 0; l < launch->warp; l++)
            t->mask.has[l] = u->active.has[l] && given->mask >> l & 1;
    }
}

static void start_thread(struct follower *f, uint32_t thread)
{
    const struct ptx_kernel *kernel = f->ptx->code->kernel;
    const struct ast_launch *launch = &f->program->launch;
    struct follow_group *g = &f->ptx->groups[thread];
    uint32_t lane = thread % launch->threads % launch->warp;
    g->entry_count = 0;
    for (uint32_t i = kernel->token_count; i > 0; i--) {
        const struct ptx_token_init *given = &kernel->tokens[i - 1];
        bool is_call = given->type == CRS_CALL;
        if ((given->mask >> lane & 1) && (is_call || given->type == CRS_BREAK))
            g->entries[g->entry_count++] =
                (struct follow_entry){.is_call = is_call, .pc = given->pc};
    }
}

void follow_ptx_begin(struct follower *f)
{
    struct follow_ptx *x = f->ptx;
    memcpy(x->memory, initial(f, f->machine->memory), (size_t)f->program->memory_words * 4);
    for (uint32_t b = 0; b < f->program->launch.blocks && x->code->barriers; b++)
        ref_bars_clear(&x->bars[b]);
    follow_ptx_copies_begin(x, f->program->total_threads);
    for (uint32_t i = 0; i < f->machine->actor_count; i++) {
        struct follow_group *g = &x->groups[i];
        const struct ptx_lanes *lanes = initial(f, lanes_of(f, i));
        memcpy(g->registers, lanes, (size_t)4 * ptx_lanes_words(f->program, lanes->count));
        memset(g->depth, 0, sizeof g->depth);
        memset(g->waits, 0, sizeof g->waits);
        memset(g->at_cluster, 0, sizeof g->at_cluster);
        g->ended = g->meets = false;
        for (uint32_t l = 0; l < LIMIT_WARP; l++)
            g->pcs[l] = 1;
        if (x->is_threads)
            start_thread(f, i);
        else
            start_warp(f, i);
    }
    x->end = STATUS_RUNNING;
    x->ends_offered = 1;
    f->live = f->machine->actor_count;
}

/* ---- for all steps ---- */

void follow_ptx_fault(struct follow_step *s, enum status status, uint32_t lane)
{
    if (s->x->end != STATUS_RUNNING)
        return;
    s->x->end = status;
    s->x->end_thread = s->g->registers->first_thread + lane;
}

void follow_ptx_lost(struct follower *f, const char *what)
{
    f->state = FOLLOW_LOST;
    f->unknown = what;
}

uint64_t follow_ptx_source(const struct follow_step *s, uint32_t number, uint32_t lane)
{
    return ptx_source(s->f->machine, s->g->registers, &s->op->sources[number], lane);
}

bool follow_ptx_guard(const struct follow_step *s, uint32_t lane)
{
    if (s->op->guard.kind == PTX_PLACE_NONE)
        return true;
    return (ptx_source(s->f->machine, s->g->registers, &s->op->guard, lane) != 0) !=
           s->op->guard_not;
}

struct ref_bar_action follow_ptx_bar_action(const struct follow_step *s)
{
    const struct ptx_op *op = s->op;
    struct ref_bar_action a = {.has_count = op->has_count,
                               .first =
                                   s->g->registers->first_thread % s->f->program->launch.threads,
                               .red = PTX_W_NONE};
    a.kind = op->exec == PTX_EXEC_BAR_SYNC     ? REF_BAR_SYNC
             : op->exec == PTX_EXEC_BAR_ARRIVE ? REF_BAR_ARRIVE
                                               : REF_BAR_RED;
    if (a.kind == REF_BAR_RED)
        a.red = (enum ptx_word)op->statement->u.instruction.words[PTX_SLOT_OP];
    for (uint32_t l = 0; l < s->g->registers->count; l++) {
        if (!s->executes[l])
            continue;
        a.does[l] = true;
        a.number[l] = follow_ptx_source(s, 0, l);
        a.count[l] = op->has_count ? follow_ptx_source(s, 1, l) : 0;
        if (a.kind == REF_BAR_RED)
            a.truth[l] = (follow_ptx_source(s, 2, l) != 0) != (op->negated >> 2 & 1);
    }
    return a;
}

/* ---- the end of a barrier's generation ---- */

/* Number n of the full ones of a block in which somebody is left; REF_BARRIERS: there are not so many. */
static uint32_t full_bar(const struct follow_ptx *x, uint32_t block, uint32_t n)
{
    uint32_t first = block * x->groups_a_block;
    bool some_left = false;
    for (uint32_t i = first; i < first + x->groups_a_block; i++)
        some_left = some_left || !x->groups[i].ended;
    return some_left && x->code->barriers ? ref_full_bar(&x->bars[block], n) : REF_BARRIERS;
}

struct follow_step follow_ptx_step_of(struct follower *f, uint32_t group, uint32_t pc)
{
    struct follow_ptx *x = f->ptx;
    return (struct follow_step){.f = f,
                                .x = x,
                                .g = &x->groups[group],
                                .group = group,
                                .pc = pc,
                                .op = &x->code->ops[pc],
                                .after = lanes_of(f, group)};
}

/* One warp or thread that waits at the barrier goes on; bar.red gives its lanes a value. */
static void release(struct follow_step *s, const struct ref_bars *bars, uint32_t number)
{
    uint32_t first = s->g->registers->first_thread % s->f->program->launch.threads;
    if (s->op->exec == PTX_EXEC_BAR_RED && s->op->results[0].kind == PTX_PLACE_REGISTER)
        for (uint32_t l = 0; l < s->g->registers->count; l++)
            if (bars->bar[number].waits[first + l])
                follow_ptx_set(s, s->g->registers, &s->op->results[0], l,
                               ref_bar_reduced(bars, number));
    s->g->waits[number] = false;
    if (s->x->is_threads)
        s->g->pcs[0]++;
    s->f->live += !follow_ptx_waits(s->g);
    follow_ptx_compare_data(s);
    if (s->f->state == FOLLOW_ALONG && s->x->is_threads)
        follow_ptx_compare_thread(s);
    else if (s->f->state == FOLLOW_ALONG)
        follow_ptx_compare_warp(s);
}

static void end_bar(struct follower *f)
{
    struct follow_ptx *x = f->ptx;
    uint32_t block = f->awaited_block, first = block * x->groups_a_block,
             number = full_bar(x, block, x->late && f->choice_count > 0 ? f->choices[0] : 0);
    if (number == REF_BARRIERS) {
        follow_part(f, "rule", rule_table[RULE_BLK_END_BAR].name, "none");
        return;
    }
    follow_ptx_compare_released(f, block, number);
    for (uint32_t i = first; i < first + x->groups_a_block && f->state == FOLLOW_ALONG; i++) {
        struct follow_step s = follow_ptx_step_of(f, i, x->groups[i].bar_pc);
        if (x->groups[i].waits[number])
            release(&s, &x->bars[block], number);
    }
    ref_bar_end(&x->bars[block], number);
}

/* BLOCK_LATE: a full barrier ends behind any step of its block, or does not; it must where nobody else can step. That
 * is a choice, which is told before what comes next. */
static void await_late(struct follower *f, uint32_t block)
{
    struct follow_ptx *x = f->ptx;
    uint32_t first = block * x->groups_a_block, full = 0;
    bool some_step = false;
    while (full_bar(x, block, full) < REF_BARRIERS)
        full++;
    for (uint32_t i = first; i < first + x->groups_a_block; i++)
        some_step = some_step || !(x->groups[i].ended || follow_ptx_waits(&x->groups[i]));
    if (full > 0 && !some_step)
        f->awaited = RULE_BLK_END_BAR;
    x->ends_offered = full > 0 ? full + some_step : 1;
}

/* What must come next, within the step of this actor: a full barrier ends; nobody can step. */
static void await(struct follower *f, uint32_t block)
{
    const struct follow_ptx *x = f->ptx;
    f->awaited = RULE_NONE;
    f->awaited_block = block;
    if (x->end != STATUS_RUNNING)
        return;
    if (x->late)
        await_late(f, block);
    else if (full_bar(x, block, 0) < REF_BARRIERS)
        f->awaited = x->is_threads ? RULE_NB_RECYCLE : RULE_BLK_END_BAR;
    else if (x->is_threads && follow_ptx_are_met(f, x->stepped))
        f->awaited = RULE_ITS_MEET;
    else if (x->is_threads && f->live == 0)
        f->awaited = RULE_NB_DEADLOCK;
}

static void follow_awaited(struct follower *f, const struct step_event *event)
{
    f->reference_rule = f->awaited;
    if (event->rule != f->awaited) {
        follow_part(f, "rule", rule_table[event->rule].name, rule_table[f->awaited].name);
        return;
    }
    if (f->awaited == RULE_NB_DEADLOCK)
        f->ptx->end = STATUS_DEADLOCK;
    else if (f->awaited == RULE_ITS_MEET)
        follow_ptx_meet(f, event, f->awaited_block);
    else if (f->awaited != RULE_ITS_ACTIVEMASK)
        end_bar(f);
    if (f->state == FOLLOW_ALONG)
        follow_compare_ways(f);
    if (f->state == FOLLOW_ALONG)
        await(f, f->awaited_block);
    if (f->ptx->end != STATUS_RUNNING)
        f->awaited = RULE_NONE;
}

/* ---- one step ---- */

/* BLOCK_EAGER: instead of the full barrier's end, a thread of its block that is to err there errs. */
static bool errs_first(const struct follower *f, const struct step_event *event)
{
    return f->awaited == RULE_NB_RECYCLE && (f->ptx->options & BLOCK_EAGER) &&
           event->rule != f->awaited && event->actor / f->ptx->groups_a_block == f->awaited_block;
}

static void compare_end(struct follower *f, enum status status)
{
    const struct follow_ptx *x = f->ptx;
    if (status != x->end)
        follow_part(f, "status", status_names[status], status_names[x->end]);
    else if (status != STATUS_RUNNING && status != STATUS_TERMINATED && status != STATUS_DEADLOCK &&
             f->machine->head->fault_thread != x->end_thread)
        follow_part_numbers(f, "thread at fault", f->machine->head->fault_thread, x->end_thread);
}

static void compare(struct follow_step *s, const struct step_event *event)
{
    struct follower *f = s->f;
    if (f->reference_rule != event->rule) {
        follow_part(f, "rule", rule_table[event->rule].name, rule_table[f->reference_rule].name);
        return;
    }
    compare_end(f, machine_status(f->machine));
    if (f->state != FOLLOW_ALONG || (s->x->end != STATUS_RUNNING && s->x->end != STATUS_TERMINATED))
        return;
    follow_ptx_part_mask(f, "guard", event->truth, s->executes, s->g->registers->count);
    if (f->state == FOLLOW_ALONG && !s->x->is_threads)
        follow_ptx_part_mask(f, "active mask told", event->active, s->x->before.active.has,
                             s->x->before.lanes);
    if (f->state == FOLLOW_ALONG && event->stm != s->pc)
        follow_part_numbers(f, "statement told", event->stm, s->pc);
    if (f->state == FOLLOW_ALONG)
        follow_ptx_compare_registered(s);
    if (f->state == FOLLOW_ALONG)
        follow_ptx_compare_data(s);
    if (f->state == FOLLOW_ALONG && s->x->is_threads)
        follow_ptx_compare_thread(s);
    else if (f->state == FOLLOW_ALONG)
        follow_ptx_compare_warp(s);
    if (f->state == FOLLOW_ALONG && f->live != f->machine->head->live_count)
        follow_part_numbers(f, "live actors", f->machine->head->live_count, f->live);
    if (f->state == FOLLOW_ALONG)
        follow_compare_ways(f);
}

/* A warp that has completed, a thread at its end; one that waits. */
static void retire(struct follow_step *s)
{
    struct follow_ptx *x = s->x;
    if (!x->is_threads && s->g->unit->completed) {
        s->g->ended = true;
        if (x->code->barriers)
            ref_warp_exits(&x->bars[s->group / x->groups_a_block]);
    }
    s->f->live -= s->g->ended || follow_ptx_waits(s->g);
    for (uint32_t i = 0; i < s->f->machine->actor_count; i++)
        if (!x->groups[i].ended)
            return;
    x->end = STATUS_TERMINATED;
}

static bool other_function(const struct follow_step *s)
{
    for (uint32_t l = 0; l < s->g->registers->count; l++)
        if ((s->x->is_threads || s->g->unit->active.has[l]) &&
            s->g->registers->lane[l].function != s->op->function)
            return true;
    return false;
}

void follow_ptx_step(struct follower *f, const struct step_event *event)
{
    struct follow_ptx *x = f->ptx;
    bool errs = errs_first(f, event);
    f->ways = x->ends_offered;
    x->ends_offered = 1;
    if (x->late && event->rule == RULE_BLK_END_BAR &&
        event->actor / x->groups_a_block == f->awaited_block)
        f->awaited = event->rule;
    if (f->awaited != RULE_NONE && !errs) {
        follow_awaited(f, event);
        return;
    }
    x->stepped = event->actor;
    if (x->is_threads && event->rule == RULE_PTX_ACTIVEMASK) {
        follow_policy_leave(f);
        follow_ptx_activemask(f, event);
        return;
    }
    struct follow_step s = follow_ptx_step_of(f, event->actor, 0);
    s.pc = x->is_threads ? s.g->pcs[0] : s.g->unit->pc;
    if (s.g->ended || follow_ptx_waits(s.g)) {
        follow_part_early(f, "actor that cannot step");
        return;
    }
    if (!errs)
        follow_compare_choice(f, event->actor);
    if (f->state != FOLLOW_ALONG)
        return;
    bool apart = !x->is_threads && !follow_ptx_common_pc(&s, &s.pc);
    f->reference_rule = x->is_threads ? RULE_NB_NEXT : RULE_NONE;
    if (apart) {
        f->reference_rule = follow_ptx_apart(&s);
        if (x->end == STATUS_RUNNING && f->state == FOLLOW_ALONG)
            retire(&s);
    } else if (s.pc == 0 || s.pc >= x->code->count) {
        uint32_t lane = 0;
        while (!x->is_threads && lane + 1 < LIMIT_WARP && ref_has_active(s.g->unit) &&
               !s.g->unit->active.has[lane])
            lane++;
        follow_ptx_fault(&s, STATUS_STUCK, lane);
    } else {
        s.op = &x->code->ops[s.pc];
        if (other_function(&s)) {
            follow_ptx_lost(f, "instructions of a function that is not the top frame's");
            return;
        }
        f->reference_rule = x->is_threads ? follow_ptx_thread(&s) : follow_ptx_warp(&s);
        if (errs && x->end == STATUS_RUNNING)
            follow_part(f, "rule", rule_table[event->rule].name, rule_table[f->awaited].name);
        if (x->end == STATUS_RUNNING)
            retire(&s);
    }
    if (f->state == FOLLOW_ALONG)
        compare(&s, event);
    if (f->state == FOLLOW_ALONG && x->code->has_cluster_barrier && x->end == STATUS_RUNNING)
        follow_ptx_cluster_ends(&s);
    if (f->state == FOLLOW_ALONG)
        await(f, event->actor / x->groups_a_block);
}

/* Of what is under way and nobody has waited for nothing is left, in no block. */
static void compare_underway(struct follower *f)
{
    const struct ptx_code *code = f->program->ptx;
    const uint32_t each = f->program->words[SPACE_SHARED];
    for (uint32_t block = 0; code->underway && block < f->program->launch.blocks; block++)
        for (uint32_t w = code->underway_word; w < each; w++)
            if (f->machine->memory[f->program->shared_base + block * each + w] != 0) {
                follow_part(f, "copies under way", "some", "none");
                return;
            }
}

/* A deadlock of warps is not told. */
void follow_ptx_end(struct follower *f, enum status status)
{
    bool cut = status == STATUS_STEP_LIMIT || status == STATUS_NONTERMINATING;
    if (f->state != FOLLOW_ALONG)
        return;
    if (f->ptx->end == STATUS_RUNNING && f->live == 0 && f->awaited == RULE_NONE)
        f->ptx->end = STATUS_DEADLOCK;
    if (f->awaited != RULE_NONE && !cut)
        follow_part(f, "rule", "none", rule_table[f->awaited].name);
    else if (!cut)
        compare_end(f, status);
    if (status == STATUS_TERMINATED && f->state == FOLLOW_ALONG)
        compare_underway(f);
}
