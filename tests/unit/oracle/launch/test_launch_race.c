/* Races of a launch, and reads of what nothing wrote, against their definitions: the first one is told with the row
 * that makes it, and none before. */
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "engine/input/ptx_kernel.h"
#include "oracle/launch/launch.h"

enum { BLOCKS = 4, THREADS = 64, WARP = 32, LOG = 1 << 16, TRIALS = 2000, ROWS = 200 };
/* Global memory that is accessed: words on both sides of a chunk's end. */
enum { WORDS = 256, FIRST = LAUNCH_CHUNK - WORDS / 2, BUFFER = 2 * LAUNCH_CHUNK };

static const char text[] =
    "// simtfuzz: entry=k blocks=64x1x1/0+4 threads=64 bind:p=buffer:8192:iota\n"
    ".version 7.8\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %v; .reg .b64 %a; .shared .b32 s[256];\n"
    "ld.param.u64 %a, [p];\nld.volatile.global.u32 %v, [%a];\nld.global.u32 %v, "
    "[%a];\nst.global.u32 [%a], %v;\n"
    "red.cta.global.add.u32 [%a], 1;\nst.shared.u32 [s], %v;\nret;\n}\n";

struct entry {
    uint32_t location, thread, block, time;
    enum access_kind kind;
    bool strong;
};

struct log {
    uint32_t count, first_block, clock[BLOCKS]; /* barriers of the resident blocks so far */
    uint32_t written;                           /* words of the buffer, from its first one on */
    struct entry entries[LOG];
};

/* Two accesses of one location, one of which writes, not both strong and of one block (the atomics' scope), that no
 * barrier of a block orders; blocks that share memory come one after the other. */
static bool races(const struct log *log, const struct entry *now, bool shared)
{
    for (uint32_t i = 0; i < log->count; i++) {
        const struct entry *e = &log->entries[i];
        const bool conflict = e->kind != ACCESS_READ || now->kind != ACCESS_READ;
        const bool strong = e->strong && now->strong;
        if (e->location != now->location || e->thread == now->thread || !conflict ||
            (strong && e->block == now->block))
            continue;
        if (e->block == now->block ? e->time == now->time : !shared)
            return true;
    }
    return false;
}

/* A read of a word that nothing wrote; atomics read, and write no less. */
static bool finds_nothing(const struct log *log, const struct entry *now, bool shared)
{
    bool written = shared || now->location < log->written || now->kind == ACCESS_WRITE;
    for (uint32_t i = 0; i < log->count; i++)
        written |= log->entries[i].location == now->location && log->entries[i].kind != ACCESS_READ;
    return !written;
}

static bool is_told(const struct launch_race *race, enum launch_kind kind)
{
    const struct launch_finding *f = race->findings;
    while (f && f->kind != kind)
        f = f->next;
    return f != NULL;
}

static uint32_t stm_of(const struct ptx_code *code, enum access_kind kind, bool is_volatile)
{
    static const enum ptx_exec execs[] = {
        [ACCESS_READ] = PTX_EXEC_LD, [ACCESS_WRITE] = PTX_EXEC_ST, [ACCESS_ATOMIC] = PTX_EXEC_ATOM};
    uint32_t stm = 0, count = 0;
    for (uint32_t pc = 1; pc < code->count; pc++)
        if (code->ops[pc].exec == execs[kind] && ++count <= (is_volatile ? 2 : UINT32_MAX))
            stm = pc; /* the last one: the first ld reads a parameter, the second is volatile */
    assert_int_not_equal(stm, 0);
    return stm;
}

/* What a warp accesses: words in a row, two lanes a word, one word for all, or anywhere in a few. */
static uint32_t word_of(struct pcg *rng, uint32_t shape, uint32_t base, uint32_t lane)
{
    return (shape == 0   ? base + lane
            : shape == 1 ? base + lane / 2
            : shape == 2 ? base
            : shape == 3 ? base + lane % 16
                         : base + pcg_below(rng, 48)) %
           WORDS;
}

struct expected {
    bool race, unwritten;
};

/* A row by a warp of a resident block; `quiet`: none writes where other blocks do. */
static struct expected one_row(struct pcg *rng, bool quiet, struct launch_race *race,
                               struct log *log)
{
    static const enum access_kind kinds[] = {
        [6] = ACCESS_WRITE, [7] = ACCESS_ATOMIC}; /* else reads */
    const struct program *program = race->program;
    const uint32_t block = pcg_below(rng, BLOCKS), warp = pcg_below(rng, THREADS / WARP);
    const bool shared = pcg_below(rng, 2), all = pcg_below(rng, 3) != 0;
    const enum access_kind kind = kinds[pcg_below(rng, 8)];
    const bool is_volatile = kind == ACCESS_READ && pcg_below(rng, 16) == 0;
    const bool own = pcg_below(rng, 4) != 0; /* each thread its own word */
    const bool far = pcg_below(rng, 8) == 0 && (!quiet || kind == ACCESS_READ);
    const uint32_t shape = own ? 0 : pcg_below(rng, 5);
    const uint32_t at = shared ? 0 : THREADS * (far ? pcg_below(rng, BLOCKS) : block);
    const uint32_t start =
        shared ? program->shared_base + block * program->words[SPACE_SHARED] : FIRST;
    const uint32_t base = at + (own ? WARP * warp : pcg_below(rng, 2 * WARP));
    uint32_t location[64] = {0};
    uint8_t order[64];
    struct expected found = {false};
    struct access_row row = {.first_thread = block * THREADS + warp * WARP,
                             .span = 1,
                             .bits = 32,
                             .order = order,
                             .location = location};
    row.stm = stm_of(program->ptx, kind, is_volatile);
    row.run = all && shape == 0 && base + WARP <= WORDS && kind != ACCESS_ATOMIC;
    for (uint32_t lane = 0; lane < WARP; lane++) {
        location[lane] = start + word_of(rng, shape, base, lane);
        if (all || pcg_below(rng, 2))
            order[row.count++] = (uint8_t)lane;
    }
    for (uint32_t i = 0; i < row.count; i++) {
        const struct entry now = {.location = location[order[i]],
                                  .thread =
                                      log->first_block * THREADS + row.first_thread + order[i],
                                  .block = log->first_block + block,
                                  .time = log->clock[block],
                                  .kind = kind,
                                  .strong = kind == ACCESS_ATOMIC || is_volatile};
        found.race |= races(log, &now, shared);
        found.unwritten |= finds_nothing(log, &now, shared);
        log->entries[log->count++] = now;
    }
    race->observer.access_row(race, kind, &row);
    return found;
}

/* Other blocks are there, or the threads of one meet. */
static void order_some(struct pcg *rng, struct launch *launch, struct launch_race *race,
                       struct log *log)
{
    const struct barrier_event event = {.block = pcg_below(rng, BLOCKS), .all = true};
    if (pcg_below(rng, 2) == 0) {
        race->observer.barrier(race, launch->machine, &event);
        log->clock[event.block]++;
    } else if (pcg_below(rng, 24) == 0) {
        log->first_block += BLOCKS;
        memset(log->clock, 0, sizeof log->clock);
        launch_race_restart(race, launch->program, log->first_block);
        memset(race->written + launch->program->shared_base, 0xf,
               launch->program->private_base - launch->program->shared_base);
    }
}

static void as_defined(void **state)
{
    (void)state;
    static struct log log;
    static const uint32_t grid[3] = {64, 1, 1};
    const struct launch_options options = {.workers = 1};
    struct diag diag;
    const char *why = NULL;
    uint32_t racing = 0, unwritten = 0, rows = 0;
    diag_init(&diag, "k", NULL, 0);
    struct ast_kernel *kernel = ptx_kernel_parse(&test_arena, text, strlen(text), &diag);
    assert_non_null(kernel);
    struct launch *launch = launch_new(&test_arena, kernel, grid, &options, &why);
    assert_non_null(launch);
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        const size_t mark = arena_mark(&test_arena);
        struct launch_race *race = launch_race_new(&test_arena, launch->program);
        struct pcg rng;
        pcg_seed(&rng, trial, 1);
        memset(&log, 0, offsetof(struct log, entries));
        log.written = trial % 4 == 0 ? FIRST + pcg_below(&rng, WORDS) : BUFFER;
        launch_race_written(race, 0, log.written);
        memset(race->written + launch->program->shared_base, 0xf,
               launch->program->private_base - launch->program->shared_base);
        for (uint32_t i = 0; i < ROWS; i++, rows++) {
            const struct expected expected = one_row(&rng, trial % 2, race, &log);
            assert_int_equal(is_told(race, LAUNCH_RACE), expected.race);
            assert_int_equal(is_told(race, LAUNCH_UNWRITTEN), expected.unwritten);
            racing += expected.race;
            unwritten += expected.unwritten;
            if (expected.race || expected.unwritten)
                break;
            order_some(&rng, launch, race, &log);
        }
        arena_release(&test_arena, mark);
    }
    assert_true(racing > TRIALS / 2);
    assert_true(unwritten > TRIALS / 8);
    assert_true(rows > 8 * TRIALS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_defined, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
