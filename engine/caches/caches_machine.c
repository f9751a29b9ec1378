/*
 * caches_machine.c - `crs`, `thread-pc` and `block` with caches: a step of theirs, a micro step of an operation, or a
 * silent rule of a cache; and who can do what.
 *
 * A step of an actor is a step of the machine without caches, which finds the actors live that would be without them.
 * The execution has ended when the last operation has, not when the last warp has exited (BF.exit).
 */
#include "engine/caches/caches_internal.h"
#include "engine/crs/crs.h"

/* The scratch room of any base, and the struct caches behind it. */
enum { SCRATCH_BASE = (sizeof(struct ptx_scratch) + 64) & ~(size_t)15 };

const struct caches *caches_of(const struct machine *machine)
{
    return (const struct caches *)(const void *)((const char *)machine->scratch + SCRATCH_BASE);
}

/* ---- what can step ---- */

static uint32_t first_slot(const struct machine *machine)
{
    return machine->actor_count;
}

static uint32_t first_cache(const struct machine *machine, const struct caches *c)
{
    return machine->actor_count * (1 + c->slots);
}

bool caches_is_operation(const struct machine *machine, uint32_t number, uint32_t *actor,
                         uint32_t *place)
{
    const struct caches *c = caches_of(machine);
    if (number < first_slot(machine) || number >= first_cache(machine, c))
        return false;
    *actor = (number - first_slot(machine)) / c->slots;
    *place = (number - first_slot(machine)) % c->slots;
    return true;
}

static uint32_t silent_count(const struct cache *cache)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < cache->count; i++)
        count += caches_is_silent(cache, i);
    if (cache->c->options.flush && !cache->is_l2)
        count += caches_can_flush(cache);
    return count;
}

static struct cache cache_number(struct machine *machine, const struct caches *c, uint32_t n)
{
    return n < c->sms ? caches_of_sm(machine, c, n) : caches_second(machine, c);
}

static uint32_t cache_count(const struct caches *c)
{
    return c->sms + (c->l2 != NULL);
}

static bool is_forward(const struct ptx_code *code, const struct ptx_op *op, uint32_t pc)
{
    for (uint32_t i = 0; i < op->table_count; i++)
        if (code->table[op->table + i] <= pc)
            return false;
    return op->opcode == PTX_OP_BRX || op->target > pc;
}

/* What touches one actor, and stays possible. Not branches backwards: who goes round for ever would keep all others
 * from stepping. Not the end, where barriers wait for those that have not ended. */
static bool is_own(const struct ptx_code *code, uint32_t pc)
{
    const struct ptx_op *op = &code->ops[pc];
    if (op->exec == PTX_EXEC_BRA)
        return is_forward(code, op, pc);
    return op->exec < PTX_EXEC_MEMBAR || (op->exec == PTX_EXEC_EXIT && !code->barriers);
}

static bool is_issue(const struct machine *machine, uint32_t actor)
{
    struct next_instruction next[64];
    uint32_t count = caches_next(machine, actor, next);
    for (uint32_t i = 0; i < count; i++)
        if (!is_own(machine->program->ptx, next[i].pc))
            return false;
    return count > 0;
}

/* R1 for searches. */
static bool only_eager(struct machine *machine, const struct caches *c, uint32_t count)
{
    for (uint32_t i = 0; i < count && c->options.eager; i++) {
        uint32_t actor = machine->head->live[i];
        if (!is_issue(machine, actor))
            continue;
        put(machine, &machine->head->live[0], actor);
        return true;
    }
    return false;
}

static uint32_t add(struct machine *machine, uint32_t count, uint32_t number)
{
    put(machine, &machine->head->live[count], number);
    return count + 1;
}

static uint32_t add_operations(struct machine *machine, const struct caches *c, uint32_t count)
{
    for (uint32_t actor = 0; actor < machine->actor_count; actor++)
        for (uint32_t i = 0; i < c->in_flight[actor]; i++) {
            struct operation x = caches_operation(machine, actor, i, NULL);
            if (caches_may_step(&x))
                count = add(machine, count, first_slot(machine) + actor * c->slots + i);
        }
    return count;
}

static uint32_t add_caches(struct machine *machine, const struct caches *c, uint32_t count)
{
    for (uint32_t n = 0; n < cache_count(c); n++) {
        struct cache cache = cache_number(machine, c, n);
        if (silent_count(&cache) > 0)
            count = add(machine, count, first_cache(machine, c) + n);
    }
    return count;
}

static bool any_in_flight(const struct machine *machine, const struct caches *c)
{
    for (uint32_t actor = 0; actor < machine->actor_count; actor++)
        if (c->in_flight[actor])
            return true;
    return false;
}

/* What is still dirty, where somebody looks: memory is what all SMs agree on. */
static void settle_memory(struct machine *machine, const struct caches *c)
{
    struct cache cache = caches_second(machine, c);
    for (uint32_t i = 0; cache.lines && i < cache.count; i++)
        if (caches_line(c, cache.lines, i)->dirty)
            caches_clean(&cache, i);
}

static void end(struct machine *machine, const struct caches *c)
{
    bool over = machine->head->unfinished == 0 && !any_in_flight(machine, c);
    if (over) {
        settle_memory(machine, c);
        put(machine, &machine->head->status, STATUS_TERMINATED);
    } else if (machine->head->live_count == 0 && !c->options.placed) {
        machine->fault_text = "operations wait for each other's lines";
        machine_fault(machine, STATUS_DEADLOCK, 0, CODE_NONE);
    }
}

/* head->live: actors that can issue, operations, caches. */
static void list_live(struct machine *machine)
{
    const struct caches *c = caches_of(machine);
    struct machine_head *head = machine->head;
    uint32_t count = 0, before = head->live_count;
    if (head->status != STATUS_RUNNING)
        return;
    for (uint32_t i = 0; i < c->live[0]; i++)
        if (c->ready[c->live[1 + i]])
            count = add(machine, count, c->live[1 + i]);
    if (only_eager(machine, c, count)) {
        count = 1;
    } else {
        count = add_operations(machine, c, count);
        count = add_caches(machine, c, count);
    }
    for (uint32_t i = count; i < before; i++)
        put(machine, &head->live[i], 0);
    put(machine, &head->live_count, count);
    end(machine, c);
}

/* ---- the actors ---- */

static void enter_base(struct machine *machine, const struct caches *c)
{
    struct machine_head *head = machine->head;
    for (uint32_t i = 0; i < c->live[0]; i++)
        put(machine, &head->live[i], c->live[1 + i]);
    for (uint32_t i = c->live[0]; i < head->live_count; i++)
        put(machine, &head->live[i], 0);
    put(machine, &head->live_count, c->live[0]);
    ((struct caches *)(uintptr_t)c)->inside = true;
}

/* True: others are live than before. */
static bool leave_base(struct machine *machine, const struct caches *c)
{
    const struct machine_head *head = machine->head;
    uint32_t before = c->live[0];
    ((struct caches *)(uintptr_t)c)->inside = false;
    bool others = before != head->live_count ||
                  memcmp(&c->live[1], head->live, before * sizeof *head->live) != 0;
    put(machine, &c->live[0], head->live_count);
    for (uint32_t i = 0; i < head->live_count; i++)
        put(machine, &c->live[1 + i], head->live[i]);
    for (uint32_t i = head->live_count; i < before; i++)
        put(machine, &c->live[1 + i], 0);
    if (head->status == STATUS_TERMINATED) /* list_live says when */
        put(machine, &machine->head->status, STATUS_RUNNING);
    return others;
}

static void renew_ready(struct machine *machine, const struct caches *c, uint32_t actor)
{
    put(machine, &c->ready[actor], caches_is_ready(machine, actor));
}

static void renew_live(struct machine *machine, const struct caches *c)
{
    for (uint32_t i = 0; i < c->live[0]; i++)
        renew_ready(machine, c, c->live[1 + i]);
}

/* What a call or a return does to the frames of local memory is not cached: lines of local memory are written back and
 * go before it. */
static void leave_frames(struct machine *machine, const struct caches *c, uint32_t actor)
{
    struct cache cache = caches_of_sm(machine, c, caches_sm(machine, c, actor));
    struct cache second = caches_second(machine, c);
    for (uint32_t level = 0; level < 2; level++) {
        const struct cache *at = level ? &second : &cache;
        for (uint32_t i = at->lines ? at->count : 0; i-- > 0;) {
            const struct cache_line *cl = caches_line(c, at->lines, i);
            if (!cl->tag || caches_is_global(machine, cl))
                continue;
            caches_clean(at, i);
            if (caches_evictable(cl))
                caches_drop(at, i);
        }
    }
}

/* What goes with an instruction beside the rule of the machine without caches. */
static void around(struct machine *machine, const struct caches *c, uint32_t actor)
{
    struct next_instruction next[64];
    uint32_t count = caches_next(machine, actor, next);
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_op *op = &machine->program->ptx->ops[next[i].pc];
        bool frames = op->exec == PTX_EXEC_CALL || op->exec == PTX_EXEC_RET;
        bool waits = op->exec == PTX_EXEC_BAR_SYNC || op->exec == PTX_EXEC_BAR_RED;
        struct cache cache = caches_of_sm(machine, c, caches_sm(machine, c, actor));
        if (frames && machine->program->words[SPACE_LOCAL])
            leave_frames(machine, c, actor);
        if (waits && c->in_flight[actor]) /* mbl := .cta */
            put_mask(machine, &c->fence[actor], c->fence[actor] | next[i].active);
        if (caches_empties(c, op))
            mem_flush(&cache);
    }
}

static enum rule actor_step(struct machine *machine, const struct caches *c, uint32_t actor,
                            struct choices *choices)
{
    enter_base(machine, c);
    around(machine, c, actor);
    enum rule rule = c->base->step[step_variant(machine)](machine, actor, choices);
    if (leave_base(machine, c) || c->options.inval)
        renew_live(machine, c);
    else
        renew_ready(machine, c, actor);
    return rule;
}

void caches_renew(struct machine *machine)
{
    renew_live(machine, caches_of(machine));
    list_live(machine);
}

void caches_between(struct machine *machine, void (*act)(struct machine *, uint32_t), uint32_t slot)
{
    const struct caches *c = caches_of(machine);
    enter_base(machine, c);
    act(machine, slot);
    (void)leave_base(machine, c);
    caches_renew(machine);
}

/* ---- the environment ---- */

static void tell_step(struct machine *machine, enum rule rule, uint32_t number, uint32_t stm,
                      lane_mask lanes)
{
    struct step_event event = {.rule = rule, .actor = number, .stm = stm, .active = lanes};
    machine->hits[rule]++;
    machine->steps++;
    if (is_observed(machine))
        observe_environment(machine, &event);
}

static enum rule operation_step(struct machine *machine, uint32_t number, struct choices *choices)
{
    uint32_t actor, place;
    (void)caches_is_operation(machine, number, &actor, &place);
    struct operation x = caches_operation(machine, actor, place, choices);
    uint32_t pc = x.slot->pc;
    lane_mask lanes = x.slot->lanes;
    enum rule rule = caches_micro_step(&x) ? RULE_MEM_END : RULE_MEM_STEP;
    if (rule == RULE_MEM_END)
        renew_ready(machine, x.c, actor);
    tell_step(machine, rule, number, pc, lanes);
    return rule;
}

/* One of the silent rules that apply to the cache, chosen. */
static enum rule cache_step(struct machine *machine, const struct caches *c, uint32_t number,
                            struct choices *choices)
{
    struct cache cache = cache_number(machine, c, number - first_cache(machine, c));
    uint32_t n = silent_count(&cache);
    uint32_t picked = n > 1 && choices ? choices->choose(choices, n) : 0;
    enum rule rule = RULE_MEM_FLUSH;
    uint32_t i = 0;
    while (i < cache.count && !(caches_is_silent(&cache, i) && picked-- == 0))
        i++;
    if (i == cache.count) {
        mem_flush(&cache);
    } else {
        rule = caches_line(c, cache.lines, i)->dirty ? RULE_MEM_WRITE_BACK : RULE_MEM_EVICT;
        caches_silent(&cache, i, choices);
    }
    tell_step(machine, rule, number, CODE_NONE, 0);
    return rule;
}

static enum rule step(struct machine *machine, uint32_t number, struct choices *choices)
{
    const struct caches *c = caches_of(machine);
    enum rule rule;
    if (number < machine->actor_count)
        rule = actor_step(machine, c, number, choices);
    else if (number < first_cache(machine, c))
        rule = operation_step(machine, number, choices);
    else
        rule = cache_step(machine, c, number, choices);
    if (c->options.inval)
        renew_live(machine, c);
    list_live(machine);
    return rule;
}

/* ---- the start ---- */

static void warm(struct machine *machine, const struct caches *c)
{
    const struct memory_options *o = &c->options;
    for (uint32_t i = 0; i < o->warm_count; i++) {
        uint32_t sm = o->warm[2 * i], line = caches_line_of(machine, c, o->warm[2 * i + 1]);
        struct cache cache = caches_of_sm(machine, c, sm % c->sms);
        caches_warm(&cache, line);
    }
}

static void init(struct machine *machine)
{
    const struct semantics *s = machine->semantics;
    struct caches *c = (struct caches *)(uintptr_t)caches_of(machine);
    *c = caches_shape(s->plain, machine->program, &machine->options);
    INVARIANT(c->base->scratch_bytes <= SCRATCH_BASE);
    caches_place(c, machine->program,
                 (uint32_t *)machine->extra + c->base->extra_words(machine->program));
    machine->memory_model = &caches_memory;
    c->base->init(machine);
    (void)leave_base(machine, c);
    warm(machine, c);
    renew_live(machine, c);
    list_live(machine);
}

static struct machine_environment environment(const struct semantics *base,
                                              const struct program *program,
                                              const struct machine_options *options)
{
    struct caches c = caches_shape(base, program, options);
    return (struct machine_environment){.alternatives = base->actor_count(program) * c.slots +
                                                        c.sms + (c.l2_lines > 0),
                                        .words = caches_state_words(&c, program)};
}

/* ---- what schedulers ask ---- */

/* Of an operation the instruction that it is of. */
static uint32_t next_stm(const struct machine *machine, uint32_t number)
{
    const struct caches *c = caches_of(machine);
    uint32_t actor, place;
    if (number < machine->actor_count)
        return c->base->next_stm(machine, number);
    if (caches_is_operation(machine, number, &actor, &place))
        return caches_slot(c, actor, place)->pc;
    return CODE_NONE;
}

static const char *environment_name(struct arena *arena, const struct machine *machine,
                                    uint32_t number)
{
    const struct caches *c = caches_of(machine);
    const char *what = machine->semantics->actors == ACTORS_WARPS ? "warp" : "thread";
    uint32_t actor, place, sm = number - first_cache(machine, c);
    if (caches_is_operation(machine, number, &actor, &place))
        return arena_printf(arena, "%s %u op", what, (unsigned)actor);
    return sm < c->sms ? arena_printf(arena, "L1 of SM %u", (unsigned)sm) : "L2";
}

/* Micro steps and silent rules meet in lines, which hold several variables: they depend on everything. */
static void footprint(const struct machine *machine, uint32_t number, uint64_t *reads,
                      uint64_t *writes)
{
    const struct caches *c = caches_of(machine);
    *reads = *writes = UINT64_MAX;
    if (number < machine->actor_count)
        c->base->footprint(machine, number, reads, writes);
}

static uint32_t control(const struct machine *machine, uint32_t actor)
{
    return semantics_block.control(machine, actor);
}

static bool same_pc(const struct machine *machine, uint32_t actor, uint32_t other, bool literal)
{
    return semantics_block.same_pc(machine, actor, other, literal);
}

static uint32_t level(const struct machine *machine, uint32_t actor)
{
    return semantics_block.level(machine, actor);
}

/* cp.async, mbarrier, matrices, textures, atomics of vectors: chapter 4 has no memory program for them, and nothing to
 * make one from. */
static bool is_younger(const struct ptx_op *op)
{
    return (op->exec >= PTX_EXEC_COPY && op->exec <= PTX_EXEC_SUST) ||
           (op->exec == PTX_EXEC_ATOM && op->count > 1);
}

static const char *refuses(struct arena *arena, const struct program *program)
{
    for (uint32_t pc = 1; pc < program->ptx->count; pc++) {
        const struct ptx_op *op = &program->ptx->ops[pc];
        if (is_younger(op))
            return arena_printf(arena, "unsupported instruction '%s' over caches at %s",
                                ptx_mnemonics[op->opcode], ptx_op_line(arena, program->ptx, pc));
    }
    return NULL;
}

static const char *block_refuses(struct arena *arena, const struct program *program)
{
    const char *reason = refuses(arena, program);
    return reason ? reason : semantics_block.refuses(arena, program);
}

#define WITH_CACHES(base)                                                                          \
    static struct machine_environment base##_environment(const struct program *program,            \
                                                         const struct machine_options *options)    \
    {                                                                                              \
        return environment(&semantics_##base, program, options);                                   \
    }                                                                                              \
    static uint32_t base##_extra_words(const struct program *program)                              \
    {                                                                                              \
        return semantics_##base.extra_words(program);                                              \
    }                                                                                              \
    static uint32_t base##_actors(const struct program *program)                                   \
    {                                                                                              \
        return semantics_##base.actor_count(program);                                              \
    }
WITH_CACHES(crs)
WITH_CACHES(thread_pc)
WITH_CACHES(block)

/* What the caches make of a subject's row. */
#define ROW_WITH_CACHES(base)                                                                      \
    .form = FORM_PTX, .kinds = 1u << CODE_PTX, .extra_words = base##_extra_words,                  \
    .actor_count = base##_actors, .plain = &semantics_##base,                                      \
    .environment_name = environment_name, .environment = base##_environment,                       \
    .scratch_bytes = SCRATCH_BASE + sizeof(struct caches), .init = init,                           \
    .step = {step, step, step, step}, .footprint = footprint, .touches = caches_touches,           \
    .next_stm = next_stm

const struct semantics semantics_crs_caches = {
    .name = "crs:caches",
    ROW_WITH_CACHES(crs),
    .actors = ACTORS_WARPS,
    .stack = STACK_CRS,
    .refuses = refuses,
    .barrier_rule = RULE_BLK_END_BAR,
};

const struct semantics semantics_thread_pc_caches = {
    .name = "thread-pc:caches",
    ROW_WITH_CACHES(thread_pc),
    .actors = ACTORS_WARPS,
    .stack = STACK_CRS,
    .has_pcs = true,
    .refuses = refuses,
    .barrier_rule = RULE_BLK_END_BAR,
};

const struct semantics semantics_block_caches = {
    .name = "block:caches",
    ROW_WITH_CACHES(block),
    .actors = ACTORS_THREADS,
    .refuses = block_refuses,
    .control = control,
    .same_pc = same_pc,
    .level = level,
    .barrier_rule = RULE_NB_RECYCLE,
    .divergence_rule = RULE_NB_DEADLOCK,
};
