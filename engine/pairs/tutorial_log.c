/* tutorial_log.c - shared state of a pair: the log, the checks against it, the havocs. */
#include "engine/base/pcg.h"
#include "engine/pairs/tutorial_internal.h"

#include <string.h>

/* ---- draws: each a function of the seed and of what it is for, whatever the order ---- */

enum draw { DRAW_COIN, DRAW_BARRIER, DRAW_READ };

static uint32_t draw(const struct pair_run *run, enum draw purpose, uint32_t a, uint32_t b)
{
    uint64_t stream =
        pcg_splitmix(run->options->seed ^ pcg_splitmix(((uint64_t)purpose << 32) | a));
    return (uint32_t)(pcg_splitmix(stream + b) >> 32);
}

/* x$i = *, over a small domain that covers all index values. */
static int32_t havoc(const struct pair_run *run, enum draw purpose, uint32_t a, uint32_t b)
{
    return (int32_t)((uint64_t)draw(run, purpose, a, b) * run->domain >> 32);
}

/* ---- the log ---- */

/* Intervals are numbered by the barriers passed; 0 in the log is none. */
static uint32_t interval(const struct pair_run *run)
{
    return run->result.barriers + 1;
}

/* The (*) of LOG_X_A. */
static bool favours(struct pair_run *run, struct pair_offsets *offsets, uint32_t x)
{
    uint32_t coin = draw(run, DRAW_COIN, 0, run->logged++);
    if (run->options->log == TUTORIAL_COIN)
        return coin & 1;
    if (offsets->seen_interval[x] != interval(run)) {
        offsets->seen_interval[x] = interval(run);
        offsets->seen[x] = 0;
    }
    offsets->seen[x]++;
    return (uint64_t)coin * offsets->seen[x] >> 32 == 0;
}

static void log_offset(struct pair_run *run, uint32_t x, const struct pair_access *access)
{
    if (run->cells) {
        struct pair_cell *cell = &run->cells[access->address];
        cell->interval[x] = interval(run);
        cell->stm[x] = access->stm;
        return;
    }
    struct pair_offsets *offsets = &run->offsets[access->var];
    if (!favours(run, offsets, x))
        return;
    offsets->interval[x] = interval(run);
    offsets->offset[x] = access->address;
    offsets->stm[x] = access->stm;
}

/* X_HAS_OCCURRED_A and X_OFFSET_A = off; then *stm logged it. */
static bool is_logged(const struct pair_run *run, uint32_t x, const struct pair_access *access,
                      uint32_t *stm)
{
    if (run->cells) {
        const struct pair_cell *cell = &run->cells[access->address];
        *stm = cell->stm[x];
        return cell->interval[x] == interval(run);
    }
    const struct pair_offsets *offsets = &run->offsets[access->var];
    *stm = offsets->stm[x];
    return offsets->interval[x] == interval(run) && offsets->offset[x] == access->address;
}

/*  TT.log_read     LOG_READ_A(en, off):
 *      if en and (*) { READ_HAS_OCCURRED_A := true; READ_OFFSET_A := off }
 */
static void tt_log_read(struct pair_run *run, const struct pair_access *access)
{
    pair_fire(run, RULE_TT_LOG_READ);
    log_offset(run, LOG_READ, access);
}

/*  TT.log_write    LOG_WRITE_A(en, off):
 *      if en and (*) { WRITE_HAS_OCCURRED_A := true; WRITE_OFFSET_A := off }
 */
static void tt_log_write(struct pair_run *run, const struct pair_access *access)
{
    pair_fire(run, RULE_TT_LOG_WRITE);
    log_offset(run, LOG_WRITE, access);
}

/* assert en and X_HAS_OCCURRED_A ==> X_OFFSET_A =/= off */
static bool check_offset(struct pair_run *run, uint32_t x, const struct pair_access *access,
                         bool write)
{
    uint32_t first;
    if (!is_logged(run, x, access, &first))
        return true;
    run->stopped = true;
    run->result.verdict = TUTORIAL_RACE;
    run->result.address = access->address;
    run->result.first_write = x == LOG_WRITE;
    run->result.second_write = write;
    run->result.first_stm = first;
    run->result.second_stm = access->stm;
    return false;
}

/*  TT.check_read   CHECK_READ_A(en, off):
 *      assert en and WRITE_HAS_OCCURRED_A ==> WRITE_OFFSET_A =/= off
 */
static bool tt_check_read(struct pair_run *run, const struct pair_access *access)
{
    pair_fire(run, RULE_TT_CHECK_READ);
    return check_offset(run, LOG_WRITE, access, false);
}

/*  TT.check_write  CHECK_WRITE_A(en, off):
 *      assert en and WRITE_HAS_OCCURRED_A ==> WRITE_OFFSET_A =/= off
 *      assert en and READ_HAS_OCCURRED_A  ==> READ_OFFSET_A  =/= off
 */
static bool tt_check_write(struct pair_run *run, const struct pair_access *access)
{
    pair_fire(run, RULE_TT_CHECK_WRITE);
    return check_offset(run, LOG_WRITE, access, true) && check_offset(run, LOG_READ, access, true);
}

/*  TT.read         x = A[e], predicate P
 *      LOG_READ_A(P$1, e$1); CHECK_READ_A(P$2, e$2); x$i := P$i ? * : x$i
 *
 *  for the thread i of P; its * is the element itself, as the interval has made it, except in mode adv.
 */
static bool tt_read(struct pair_run *run, uint32_t i, const struct pair_access *access,
                    int32_t *value)
{
    struct pair_thread *thread = &run->threads[i];
    pair_fire(run, RULE_TT_READ);
    if (i == 0)
        tt_log_read(run, access);
    else if (!tt_check_read(run, access))
        return false;
    *value = run->options->shared == TUTORIAL_ADV
                 ? havoc(run, DRAW_READ, thread->thread, thread->reads++)
                 : run->memory[access->address];
    return true;
}

bool pair_read(struct pair_run *run, uint32_t i, const struct pair_access *access, int32_t *value)
{
    return tt_read(run, i, access, value);
}

bool pair_write(struct pair_run *run, uint32_t i, const struct pair_access *access, int32_t value)
{
    if (i == 0)
        tt_log_write(run, access);
    else if (!tt_check_write(run, access))
        return false;
    if (run->options->shared != TUTORIAL_ADV)
        run->memory[access->address] = value;
    return true;
}

/* ---- barriers ---- */

void pair_pass_barrier(struct pair_run *run)
{
    uint32_t number = run->result.barriers++, words = run->program->private_base;
    if (run->options->shared != TUTORIAL_BAR)
        return;
    if (number < run->options->store_count) {
        memcpy(run->memory, run->options->stores[number], words * sizeof *run->memory);
        return;
    }
    for (uint32_t address = 0; address < words; address++)
        run->memory[address] = havoc(run, DRAW_BARRIER, number, address);
}

void pair_log_start(struct arena *arena, struct pair_run *run)
{
    const struct program *program = run->program;
    run->domain = program->launch.threads;
    for (uint32_t i = 0; i < program->var_count; i++)
        if (program->vars[i].ast->length > run->domain)
            run->domain = program->vars[i].ast->length;
    if (run->options->log == TUTORIAL_FULL)
        run->cells = ARENA_ARRAY(arena, struct pair_cell, program->private_base);
    else
        run->offsets = ARENA_ARRAY(arena, struct pair_offsets, program->var_count);
}
