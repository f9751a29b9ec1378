#include "engine/forms/cfg.h"
#include "engine/vector/vector_internal.h"

#include <string.h>

const char *const vector_isa_names[VECTOR_ISA_COUNT] = {"baseline", "avx2", "avx512"};

enum vector_isa vector_best_isa(void)
{
#if defined(SIMTFUZZ_X86)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return VECTOR_AVX512;
    if (__builtin_cpu_supports("avx2"))
        return VECTOR_AVX2;
#endif
    return VECTOR_BASELINE;
}

static const struct vector_isa_code *isa_code(enum vector_isa isa)
{
#if defined(SIMTFUZZ_X86)
    if (isa == VECTOR_AVX512)
        return &vector_avx512;
    if (isa == VECTOR_AVX2)
        return &vector_avx2;
#else
    (void)isa;
#endif
    return &vector_baseline;
}

/* ---- making ---- */

/* For the block at each place of the order: the heads of the loops that it ends, innermost first. */
static void find_lasts(struct arena *arena, struct vector_function *f, const struct cfg *cfg)
{
    f->last_first = ARENA_ARRAY(arena, uint32_t, cfg->count + 1);
    f->last_heads = ARENA_ARRAY(arena, uint32_t, cfg->loop_count);
    uint32_t *last = ARENA_ARRAY(arena, uint32_t, cfg->loop_count);
    for (uint32_t l = 0; l < cfg->loop_count; l++)
        for (uint32_t p = 0; p < cfg->count; p++)
            if (cfg_in_loop(cfg, l, cfg->order[p]))
                last[l] = p;
    uint32_t count = 0;
    for (uint32_t p = 0; p < cfg->count; p++) {
        f->last_first[p] = count;
        for (uint32_t l = 0; l < cfg->loop_count; l++) /* inner loops stand before outer ones */
            if (last[l] == p)
                f->last_heads[count++] = cfg->position[cfg->loops[l].head];
    }
    f->last_first[cfg->count] = count;
}

/* cfg_build numbers a function's blocks from 0; the program's numbers are put back. */
static void restore_marks(const struct ast_function *function, uint32_t first)
{
    for (struct ast_block *block = function->blocks; block; block = block->next)
        block->mark = first++;
}

static bool make_functions(struct arena *arena, struct vector_run *run, const char **reason)
{
    const struct program *program = run->program;
    const struct ast_kernel *kernel = program->core;
    uint32_t first = 0, number = 0;
    run->functions = ARENA_ARRAY(arena, struct vector_function, program->function_count);
    for (const struct ast_function *f = kernel->main; f;
         f = f == kernel->main ? kernel->functions : f->next) {
        struct location at;
        struct cfg *cfg = cfg_build(arena, f, reason, &at);
        restore_marks(f, first);
        if (!cfg)
            return false;
        cfg_sort(arena, cfg, run->options.order_seed);
        struct vector_function *to = &run->functions[number++];
        to->block_first = first;
        to->block_count = cfg->count;
        to->order = cfg->order;
        to->position = cfg->position;
        find_lasts(arena, to, cfg);
        first += cfg->count;
        if (cfg->count > run->most_blocks)
            run->most_blocks = cfg->count;
    }
    return true;
}

/* Of vector_memory. Thread blocks that do not run keep their first values. */
static uint32_t stored_words(const struct vector_run *run)
{
    return run->options.privates ? run->program->frame_base : run->program->private_base;
}

static void make_memory(struct arena *arena, struct vector_run *run)
{
    const struct program *program = run->program;
    run->start_memory = ARENA_ARRAY(arena, int32_t, program->memory_words);
    run->memory = ARENA_ARRAY(arena, int32_t, stored_words(run));
    program_init_memory(program, run->start_memory);
    run->choices = ARENA_ARRAY(arena, uint32_t, run->padded);
    run->actives = ARENA_ARRAY(arena, uint32_t, (size_t)LIMIT_CALL_DEPTH * run->padded);
    run->all_counts = ARENA_ARRAY(arena, uint32_t, (size_t)LIMIT_CALL_DEPTH * run->most_blocks);
    if (run->options.races) {
        run->cells = ARENA_ARRAY(arena, struct vector_cell, program->private_base);
        if (program->launch.blocks > 1)
            run->shadows = ARENA_ARRAY(arena, struct vector_shadow, program->words[SPACE_GLOBAL]);
    }
}

struct vector_run *vector_new(struct arena *arena, const struct program *program,
                              const struct vector_options *options, const char **reason)
{
    if (program->form != FORM_BLOCKS) {
        *reason = "not in block form";
        return NULL;
    }
    struct vector_run *run = ARENA_NEW(arena, struct vector_run);
    run->program = program;
    run->options = *options;
    run->isa = isa_code(options->isa);
    run->lanes = program->launch.threads;
    run->padded = (run->lanes + VECTOR_PAD - 1) / VECTOR_PAD * VECTOR_PAD;
    if (!make_functions(arena, run, reason) || !vector_translate(arena, run, reason))
        return NULL;
    make_memory(arena, run);
    return run;
}

/* ---- races: Def. 4.1, B-13 ---- */

static void found(struct vector_run *run, uint32_t address, uint32_t first, uint32_t first_stm,
                  uint32_t second)
{
    struct vector_result *result = &run->result;
    if (result->race)
        return;
    result->race = true;
    result->race_address = address;
    result->race_first = first;
    result->race_first_stm = first_stm;
    result->race_second = second;
    result->race_second_stm = run->stm;
}

static bool other(uint16_t who, uint16_t me)
{
    return who != 0 && who != me;
}

static uint16_t joined(uint16_t who, uint16_t me)
{
    return who == 0 || who == me ? me : VECTOR_SEVERAL;
}

/* Threads of the running block since its last barrier. */
static void access_cell(struct vector_run *run, uint32_t lane, uint32_t address,
                        enum access_kind kind)
{
    struct vector_cell *cell = &run->cells[address];
    uint16_t me = (uint16_t)(lane + 1);
    uint32_t first = run->block * run->program->launch.threads, second = first + lane;
    if (cell->epoch != run->epoch)
        *cell = (struct vector_cell){.epoch = run->epoch};
    if (other(cell->writer, me))
        found(run, address, first + cell->writer - 1u, cell->write_stm, second);
    if (kind != ACCESS_ATOMIC && other(cell->atomic, me))
        found(run, address, first + cell->atomic - 1u, cell->atomic_stm, second);
    if (kind != ACCESS_READ && other(cell->reader, me))
        found(run, address, first + cell->reader - 1u, cell->read_stm, second);
    switch (kind) {
    case ACCESS_READ:
        cell->reader = joined(cell->reader, me);
        cell->read_stm = run->stm;
        break;
    case ACCESS_WRITE:
        cell->writer = joined(cell->writer, me);
        cell->write_stm = run->stm;
        break;
    case ACCESS_ATOMIC:
        cell->atomic = joined(cell->atomic, me);
        cell->atomic_stm = run->stm;
        break;
    }
}

/* Blocks that ran before: no barrier orders them. */
static void access_shadow(struct vector_run *run, uint32_t lane, uint32_t address,
                          enum access_kind kind)
{
    enum { READ = 1 << ACCESS_READ, WRITE = 1 << ACCESS_WRITE, ATOMIC = 1 << ACCESS_ATOMIC };
    static const uint8_t conflicts[] = {[ACCESS_READ] = WRITE | ATOMIC,
                                        [ACCESS_WRITE] = READ | WRITE | ATOMIC,
                                        [ACCESS_ATOMIC] = READ | WRITE};
    struct vector_shadow *s = &run->shadows[address];
    uint32_t thread = run->block * run->program->launch.threads + lane;
    if (s->block != run->block + 1) {
        for (uint32_t k = 0; k < 3; k++)
            if (s->current >> k & 1)
                s->earlier_by[k] = s->current_by[k];
        s->earlier |= s->current;
        s->current = 0;
        s->block = (uint16_t)(run->block + 1);
    }
    for (uint32_t k = 0; k < 3; k++)
        if (s->earlier & conflicts[kind] & 1u << k)
            found(run, address, s->earlier_by[k].thread, s->earlier_by[k].stm, thread);
    s->current |= (uint8_t)(1u << kind);
    s->current_by[kind] = (struct vector_toucher){thread, run->stm};
}

void vector_access(struct vector_run *run, uint32_t lane, uint32_t address, enum access_kind kind)
{
    access_cell(run, lane, address, kind);
    if (run->shadows && address < run->program->words[SPACE_GLOBAL])
        access_shadow(run, lane, address, kind);
}

/* ---- running ---- */

static struct vector_frame activation(struct vector_run *run, uint32_t function, uint32_t depth)
{
    struct vector_frame frame = {.function = &run->functions[function],
                                 .active = run->actives + (size_t)depth * run->padded,
                                 .counts = run->all_counts + (size_t)depth * run->most_blocks,
                                 .depth = depth};
    memset(frame.counts, 0, frame.function->block_count * sizeof *frame.counts);
    for (uint32_t k = 0; k < run->padded; k++)
        frame.active[k] = BLOCK_END;
    return frame;
}

static uint32_t back_edge(const struct vector_frame *frame, uint32_t place)
{
    const struct vector_function *f = frame->function;
    for (uint32_t i = f->last_first[place]; i < f->last_first[place + 1]; i++)
        if (frame->counts[f->order[f->last_heads[i]]])
            return f->last_heads[i];
    return place + 1;
}

/*  LOCK.deterministic exec: the blocks in sort order, for the threads that are in them; from the last
 *  block of loops back to the innermost one with a waiting thread, else on (LOCK.block_last). */
static enum status run_function(struct vector_run *run, struct vector_frame *frame)
{
    const struct vector_function *f = frame->function;
    for (uint32_t place = 0; place < f->block_count; place = back_edge(frame, place)) {
        uint32_t block = f->order[place];
        if (!frame->counts[block])
            continue;
        enum status status = run->isa->run_block(run, frame, f->block_first + block);
        if (status != STATUS_RUNNING)
            return status;
        if (run->result.lane_steps > run->budget)
            return STATUS_STEP_LIMIT;
    }
    return STATUS_RUNNING;
}

static void fill(int32_t *vector, int32_t value, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        vector[k] = value;
}

static void init_frame(struct vector_run *run, uint32_t function)
{
    const struct code_function *f = &run->program->functions[function];
    for (uint32_t i = 0; i < f->frame_words; i++)
        fill(run->frame + (size_t)i * run->padded, run->program->frame_init[f->init_first + i],
             run->padded);
}

static int32_t *vector_at(const struct vector_run *run, vector_ref ref)
{
    return ref & VECTOR_IN_FRAME ? run->frame + (ref & ~VECTOR_IN_FRAME) : run->pool + ref;
}

enum status vector_call_run(struct vector_run *run, struct vector_frame *frame,
                            const struct vector_call *call, const int32_t *mask)
{
    const struct program *program = run->program;
    uint32_t caller = (uint32_t)(frame->function - run->functions), n = run->padded;
    if (frame->depth + 1 == LIMIT_CALL_DEPTH) {
        uint32_t lane = 0;
        while (!mask[lane])
            lane++;
        run->result.fault_thread = run->block * program->launch.threads + lane;
        run->result.fault_stm = run->stm;
        return STATUS_CALL_DEPTH;
    }
    struct vector_frame inner = activation(run, call->callee, frame->depth + 1);
    for (uint32_t k = 0; k < n; k++)
        if (mask[k]) {
            inner.active[k] = 0;
            inner.counts[0]++;
        }
    int32_t *below = run->frame;
    int32_t *above = below + (size_t)program->functions[caller].frame_words * n;
    int32_t enabled[LIMIT_THREADS]; /* the mask is a register, which the callee overwrites */
    memcpy(enabled, mask, n * sizeof *enabled);
    run->frame = above;
    init_frame(run, call->callee);
    run->frame = below;
    for (uint32_t i = 0; i < call->in_count; i++)
        memcpy(above + (size_t)call->in_offsets[i] * n, vector_at(run, call->ins[i]),
               n * sizeof *above);
    run->frame = above;
    enum status status = run_function(run, &inner);
    run->frame = below;
    for (uint32_t i = 0; i < call->out_count && status == STATUS_RUNNING; i++) {
        const int32_t *value = above + (size_t)call->out_offsets[i] * n;
        int32_t *target = vector_at(run, call->outs[i]);
        for (uint32_t k = 0; k < n; k++)
            target[k] = enabled[k] ? value[k] : target[k];
    }
    return status;
}

/* The private variables of the block's threads, from the start. */
static void load_privates(struct vector_run *run)
{
    const struct program *program = run->program;
    uint32_t words = program->words[SPACE_PRIVATE], n = run->padded;
    uint32_t first = run->block * program->launch.threads;
    for (uint32_t w = 0; w < words; w++)
        for (uint32_t k = 0; k < run->lanes; k++)
            run->pool[run->privates + w * n + k] =
                run->start_memory[program->private_base + (first + k) * words + w];
}

static void store_privates(struct vector_run *run)
{
    const struct program *program = run->program;
    uint32_t words = program->words[SPACE_PRIVATE], n = run->padded;
    uint32_t first = run->block * program->launch.threads;
    for (uint32_t w = 0; run->options.privates && w < words; w++)
        for (uint32_t k = 0; k < run->lanes; k++)
            run->memory[program->private_base + (first + k) * words + w] =
                run->pool[run->privates + w * n + k];
}

void vector_next_interval(struct vector_run *run)
{
    if (++run->epoch == 0 && run->cells) {
        memset(run->cells, 0, run->program->private_base * sizeof *run->cells);
        run->epoch = 1;
    }
}

static enum status run_thread_block(struct vector_run *run)
{
    const struct program *program = run->program;
    uint32_t n = run->padded;
    run->base[SPACE_GLOBAL] = 0;
    run->base[SPACE_SHARED] = program->shared_base + run->block * program->words[SPACE_SHARED];
    memset(run->choices, 0, n * sizeof *run->choices);
    fill(run->pool + run->bid, (int32_t)run->block, n);
    load_privates(run);
    run->frame = run->pool + run->frames;
    init_frame(run, 0);
    vector_next_interval(run);
    struct vector_frame frame = activation(run, 0, 0);
    for (uint32_t k = 0; k < run->lanes; k++)
        frame.active[k] = 0;
    frame.counts[0] = run->lanes;
    enum status status = run_function(run, &frame);
    store_privates(run);
    return status;
}

struct vector_result vector_execute(struct vector_run *run, uint64_t budget)
{
    const struct program *program = run->program;
    memset(&run->result, 0, sizeof run->result);
    run->result.fault_stm = CODE_NONE;
    run->budget = budget;
    memcpy(run->memory, run->start_memory, stored_words(run) * sizeof *run->memory);
    if (run->shadows)
        memset(run->shadows, 0, program->words[SPACE_GLOBAL] * sizeof *run->shadows);
    enum status status = STATUS_RUNNING;
    for (run->block = 0; run->block < program->launch.blocks && status == STATUS_RUNNING;
         run->block++) {
        status = run_thread_block(run);
        if (status != STATUS_RUNNING)
            break;
    }
    run->result.status = status == STATUS_RUNNING ? STATUS_TERMINATED : status;
    return run->result;
}

const int32_t *vector_memory(const struct vector_run *run)
{
    return run->memory;
}
