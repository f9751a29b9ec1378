/*
 * semantics_block: the rules of named-barriers 2 one by one, the golden programs NB.K1-K14 with their outcomes over
 * all schedules, and random programs against engine/reference, through all states (bars_search.h). In every state
 * reached the invariants of the catalogue hold.
 */
#include "tests/unit/engine/crs/bars_search.h"
#include "tests/unit/engine/crs/ptx_programs.h"

#include "engine/base/pcg.h"

#include <ctype.h>
#include <stdlib.h>

enum {
    DONE = THREADS_DONE,
    DANGLING = THREADS_DANGLING,
    ERR = THREADS_ERR,
    DEADLOCK = THREADS_DEADLOCK
};

/* ---- programs ---- */

/* "S02 A13 R0 | W0": threads separated by bars; Sbn sync, Abn arrive, Rg read, Wg write. */
static struct threads_program program_of(const char *text)
{
    struct threads_program program = {.threads = 1};
    for (; *text; text++) {
        uint32_t *length = &program.length[program.threads - 1];
        if (*text == '|') {
            program.threads++;
            continue;
        }
        if (!isupper((unsigned char)*text))
            continue;
        struct threads_command *c = &program.command[program.threads - 1][(*length)++];
        assert_in_range(*length, 1, THREADS_COMMANDS);
        c->kind = *text == 'S'   ? THREADS_SYNC
                  : *text == 'A' ? THREADS_ARRIVE
                  : *text == 'W' ? THREADS_WRITE
                                 : THREADS_READ;
        c->b = (uint8_t)(text[1] - '0');
        c->n = (uint8_t)(c->kind <= THREADS_WRITE ? 0 : text[2] - '0');
    }
    return program;
}

static const char *command_text(const char *body, const struct threads_command *c)
{
    switch (c->kind) {
    case THREADS_READ:
        return arena_printf(&test_arena, "%s  ld.shared.b32 %%s, [g+%u];\n", body, 4u * c->b);
    case THREADS_WRITE:
        return arena_printf(&test_arena, "%s  st.shared.b32 [g+%u], %%t;\n", body, 4u * c->b);
    case THREADS_ARRIVE:
        return arena_printf(&test_arena, "%s  bar.arrive %u, %u;\n", body, c->b, c->n);
    case THREADS_SYNC:
        return arena_printf(&test_arena, "%s  bar.sync %u, %u;\n", body, c->b, c->n);
    }
    return NULL;
}

/* As PTX: the first instruction takes each thread to its commands. */
static const struct program *ptx_of(const struct threads_program *paper)
{
    const char *body = "  bra %r;\n", *settings = "";
    uint32_t address = 2;
    for (uint32_t i = 0; i < paper->threads; i++) {
        settings = arena_printf(&test_arena, "%s%s%u", settings, i ? "," : "", address);
        address += paper->length[i] + 1;
        for (uint32_t k = 0; k < paper->length[i]; k++) {
            const struct threads_command *c = &paper->command[i][k];
            body = command_text(body, c);
        }
        body = arena_printf(&test_arena, "%s  exit;\n", body);
    }
    settings = arena_printf(&test_arena, "raw threads=%u warp=1 reg:%%r=%s",
                            (unsigned)paper->threads, settings);
    return ptx_program_of(ptx_text_of(settings, ".shared .b32 g[4];\n", body));
}

/* ---- all states of the machine ---- */

struct script {
    struct choices choices; /* first */
    uint32_t picks[4], counts[4], used;
};

static uint32_t script_choose(struct choices *choices, uint32_t n)
{
    struct script *script = (struct script *)choices;
    assert_true(script->used < 4);
    script->counts[script->used] = n;
    return script->picks[script->used++];
}

/* The next script; false: all were tried. */
static bool script_next(struct script *script)
{
    while (script->used > 0) {
        uint32_t last = script->used - 1;
        if (++script->picks[last] < script->counts[last])
            return true;
        script->picks[last] = 0;
        script->used--;
    }
    return false;
}

enum { STATES = 1 << 13 };

struct states {
    struct machine *machine;
    uint32_t count;
    uint32_t **words; /* of each state */
    uint64_t *hashes;
    uint32_t *table; /* number + 1, by hash */
};

static void states_add(struct states *x)
{
    uint64_t hash = x->machine->track.hash;
    uint32_t at = (uint32_t)(hash % (2 * STATES));
    for (; x->table[at]; at = (at + 1) % (2 * STATES))
        if (machine_equals(x->machine, x->words[x->table[at] - 1]))
            return;
    assert_true(x->count < STATES);
    x->hashes[x->count] = hash;
    x->words[x->count] = ARENA_ARRAY(&test_arena, uint32_t, x->machine->block_words);
    machine_save(x->machine, x->words[x->count]);
    x->table[at] = ++x->count;
}

/* E(i) = false iff i is in exactly one I; |I| + |A| <= n; n = bot iff I = A = []; who is enabled and has
 * not ended is live. */
static void invariants_hold(const struct machine *machine)
{
    uint32_t threads = machine->program->total_threads, live = 0;
    for (uint32_t b = 0; b < BARS_IDS; b++) {
        struct cta_barrier barrier = cta_barrier(machine, 0, b);
        uint32_t blocked = 0;
        for (uint32_t t = 0; t < threads; t++)
            blocked += cta_thread(machine, t).barrier == (int32_t)b;
        assert_int_equal(blocked, barrier.synced);
        assert_true(barrier.synced + barrier.arrived <= barrier.count);
        assert_int_equal(barrier.count > 0, barrier.synced + barrier.arrived > 0);
    }
    for (uint32_t t = 0; t < threads; t++) {
        struct cta_thread thread = cta_thread(machine, t);
        bool enabled = thread.pc > 0 && thread.barrier < 0, found = false;
        for (uint32_t i = 0; i < machine->head->live_count; i++)
            found |= machine->head->live[i] == t;
        assert_int_equal(enabled, found);
        live += enabled;
    }
    assert_int_equal(live, machine->head->live_count);
}

static uint32_t outcome_of(const struct machine *machine)
{
    enum status status = machine_status(machine);
    if (status == STATUS_TERMINATED)
        return cta_dangling(machine, 0) ? DONE | DANGLING : DONE;
    if (status == STATUS_BARRIER_ERROR)
        return ERR;
    if (status != STATUS_DEADLOCK)
        fail_msg("%s: %s", status_names[status], machine->fault_text);
    return DEADLOCK;
}

/* The n-th state's successors. */
static void states_visit(struct states *x, uint32_t n, uint32_t *outcomes)
{
    struct machine *machine = x->machine;
    const uint32_t *state = x->words[n];
    machine_restore(machine, state, x->hashes[n]);
    if (machine_status(machine) != STATUS_RUNNING) {
        *outcomes |= outcome_of(machine);
        return;
    }
    invariants_hold(machine);
    uint32_t live = machine->head->live_count;
    assert_true(live > 0);
    for (uint32_t i = 0; i < live; i++) {
        struct script script = {.choices.choose = script_choose};
        do {
            machine_restore(machine, state, x->hashes[n]);
            script.used = 0;
            machine_step(machine, machine->head->live[i], &script.choices);
            states_add(x);
        } while (script_next(&script));
    }
}

static uint32_t engine_outcomes(const struct program *program, uint32_t block_options)
{
    const struct machine_options options = {.block_options = block_options, .track = true};
    struct states x = {.words = ARENA_ARRAY(&test_arena, uint32_t *, STATES),
                       .hashes = ARENA_ARRAY(&test_arena, uint64_t, STATES),
                       .table = ARENA_ARRAY(&test_arena, uint32_t, 2 * STATES)};
    x.machine = machine_new(&test_arena, &semantics_block, program, &options);
    uint32_t outcomes = 0;
    states_add(&x);
    for (uint32_t i = 0; i < x.count; i++)
        states_visit(&x, i, &outcomes);
    return outcomes;
}

/* ---- golden programs ---- */

static const struct golden {
    const char *id, *text;
    uint32_t strict, eager;
} goldens[] = {
    {"K1", "W0 A02 | S02 R0", DONE, DONE},
    {"K2", "A02 A02 | S02 S02", DONE | DEADLOCK, DONE | DEADLOCK | ERR},
    {"K3", "A02 S12 A02 | S02 A12 S02", DONE, DONE},
    {"K4", "S02 S12 | S12 S02", DEADLOCK, DEADLOCK},
    {"K5", "S02 | S03 | S03", ERR, ERR},
    {"K6", "S03 | S03", DEADLOCK, DEADLOCK},
    {"K7", "S02 | S02 | S02", DEADLOCK, DEADLOCK | ERR},
    {"K8", "S02 | S02 | S02 | S02", DONE, DONE | ERR},
    {"K9", "A02 |", DONE | DANGLING, DONE | DANGLING},
    {"K10", "A02 A02", DONE, DONE},
    {"K11", "S01", DONE, DONE},
    {"K12", "A01 A01", DONE, DONE | ERR},
    {"K13 diverge1", "S02 | S02", DONE, DONE},
    {"K13 diverge2", "S02 S02 S02 S02 | S02 S02 S02 S02", DONE, DONE},
    {"K14", "| S04 S04 | S04 S04 S04 S04 | S04 S04 S04 S04", DEADLOCK, DEADLOCK},
};

static uint32_t search_outcomes(const struct program *program, uint32_t options)
{
    uint32_t statuses = ptx_outcomes(&semantics_block, program, options);
    assert_int_equal(
        statuses & ~(1u << STATUS_TERMINATED | 1u << STATUS_BARRIER_ERROR | 1u << STATUS_DEADLOCK),
        0);
    return (statuses >> STATUS_TERMINATED & 1) * DONE |
           (statuses >> STATUS_BARRIER_ERROR & 1) * ERR |
           (statuses >> STATUS_DEADLOCK & 1) * DEADLOCK;
}

static void golden_programs(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
        const struct golden *golden = &goldens[i];
        struct threads_program paper = program_of(golden->text);
        size_t mark = arena_mark(&test_arena);
        const struct program *program = ptx_of(&paper);
        for (uint32_t eager = 0; eager < 2; eager++) {
            uint32_t expected = eager ? golden->eager : golden->strict;
            uint32_t options = eager ? BLOCK_EAGER : 0;
            if (threads_outcomes(&paper, eager) != expected ||
                engine_outcomes(program, options) != expected ||
                search_outcomes(program, options) != (expected & ~(uint32_t)DANGLING))
                fail_msg("%s %s: paper %x, engine %x, search %x, expected %x", golden->id,
                         eager ? "eager" : "strict", (unsigned)threads_outcomes(&paper, eager),
                         (unsigned)engine_outcomes(program, options),
                         (unsigned)search_outcomes(program, options), (unsigned)expected);
        }
        arena_release(&test_arena, mark);
    }
}

/* ---- the rules, one by one ---- */

static void each_rule_fires(void **state)
{
    (void)state;
    static const struct {
        enum rule rule;
        const char *text;
        uint32_t options;
    } rows[] = {
        {RULE_NB_CTA_STEP, "R0", 0},
        {RULE_NB_READ, "R0", 0},
        {RULE_NB_WRITE, "W0", 0},
        {RULE_NB_DONE, "R0", 0},
        {RULE_NB_ARRIVE_FIRST, "A02", 0},
        {RULE_NB_ARRIVE_NEXT, "A02 A02", 0},
        {RULE_NB_SYNC_FIRST, "S01", 0},
        {RULE_NB_SYNC_NEXT, "S02 | S02", 0},
        {RULE_NB_RECYCLE, "S01", 0},
        {RULE_NB_SYNC_ERR_COUNT, "A02 S03", 0},
        {RULE_NB_ARRIVE_ERR_COUNT, "A02 A03", 0},
        {RULE_NB_SYNC_ERR_FULL, "A01 S01", BLOCK_EAGER},
        {RULE_NB_ARRIVE_ERR_FULL, "A01 A01", BLOCK_EAGER},
        {RULE_NB_CTA_ERR, "A02 S03", 0},
        {RULE_NB_DEADLOCK, "S02", 0},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct threads_program paper = program_of(rows[i].text);
        const struct machine_options options = {.block_options = rows[i].options};
        struct machine *machine =
            machine_new(&test_arena, &semantics_block, ptx_of(&paper), &options);
        struct script script = {.choices.choose = script_choose, .picks = {1, 1, 1, 1}};
        while (machine_status(machine) == STATUS_RUNNING)
            machine_step(machine, machine->head->live[0], &script.choices);
        if (machine->hits[rows[i].rule] == 0)
            fail_msg("%s does not fire in %s", rule_table[rows[i].rule].name, rows[i].text);
    }
}

/* A state after each command: (n, |I|, |A|) of barrier 0, thread 0's pc and whether it is enabled. */
static void each_rule_does_what_it_says(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t
            steps; /* of thread 0, behind those of the others; the first takes it to its commands */
        struct cta_barrier barrier;
        uint32_t pc;
        int32_t blocked;
    } rows[] = {
        {"R0 | R0", 2, {0, 0, 0}, 3, -1},
        {"A02 | R0", 2, {2, 0, 1}, 3, -1},
        {"A03 A03 | R0", 3, {3, 0, 2}, 4, -1},
        {"S02 | R0", 2, {2, 1, 0}, 2, 0},       /* control unchanged */
        {"A03 S03 | R0", 3, {3, 1, 1}, 3, 0},   /* it may be in A and in I */
        {"S02 | A02", 2, {0, 0, 0}, 3, -1},     /* full: recycled */
        {"A02 A02 | R0", 3, {0, 0, 0}, 4, -1},  /* of arrivals only */
        {"S12 A02 | S12", 3, {2, 0, 1}, 4, -1}, /* another barrier's recycling does not matter */
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct threads_program paper = program_of(rows[i].text);
        const struct machine_options options = {.block_options = 0};
        struct machine *machine =
            machine_new(&test_arena, &semantics_block, ptx_of(&paper), &options);
        for (uint32_t k = 0; k < paper.length[1] + 1; k++)
            machine_step(machine, 1, NULL);
        for (uint32_t k = 0; k < rows[i].steps; k++)
            machine_step(machine, 0, NULL);
        struct cta_barrier barrier = cta_barrier(machine, 0, 0);
        struct cta_thread thread = cta_thread(machine, 0);
        if (memcmp(&barrier, &rows[i].barrier, sizeof barrier) != 0 || thread.pc != rows[i].pc ||
            thread.barrier != rows[i].blocked)
            fail_msg("%s: (%u, %u, %u), pc %u, blocked at %d", rows[i].text,
                     (unsigned)barrier.count, (unsigned)barrier.synced, (unsigned)barrier.arrived,
                     (unsigned)thread.pc, (int)thread.barrier);
        invariants_hold(machine);
    }
}

/* ---- random programs ---- */

static struct threads_program random_program(struct pcg *rng)
{
    struct threads_program program = {.threads = 2 + pcg_below(rng, 3)};
    uint32_t most = program.threads == 4 ? 3 : 4, barriers = 1 + pcg_below(rng, 2);
    /* Mostly one count a barrier: programs that get somewhere. */
    uint32_t counts[2] = {1 + pcg_below(rng, program.threads + 1),
                          1 + pcg_below(rng, program.threads + 1)};
    for (uint32_t i = 0; i < program.threads; i++) {
        program.length[i] = pcg_below(rng, most + 1);
        for (uint32_t k = 0; k < program.length[i]; k++) {
            struct threads_command *c = &program.command[i][k];
            uint32_t kind = pcg_below(rng, 16);
            c->kind = kind == 0   ? THREADS_READ
                      : kind == 1 ? THREADS_WRITE
                      : kind < 7  ? THREADS_ARRIVE
                                  : THREADS_SYNC;
            c->b = (uint8_t)pcg_below(rng, barriers);
            if (c->kind > THREADS_WRITE)
                c->n = (uint8_t)(pcg_below(rng, 16) ? counts[c->b] : 1 + pcg_below(rng, 4));
        }
    }
    return program;
}

static void print_program(const struct threads_program *program)
{
    for (uint32_t i = 0; i < program->threads; i++) {
        print_error("%s", i ? "| " : "");
        for (uint32_t k = 0; k < program->length[i]; k++) {
            const struct threads_command *c = &program->command[i][k];
            print_error("%c%u%u ", "RWAS"[c->kind], (unsigned)c -> b, (unsigned)c -> n);
        }
    }
    print_error("\n");
}

/* All outcomes in both modes; *seen counts them. */
static void agrees_with_the_paper(const struct threads_program *paper, uint32_t number,
                                  uint32_t seen[16])
{
    size_t mark = arena_mark(&test_arena);
    const struct program *program = ptx_of(paper);
    for (uint32_t eager = 0; eager < 2; eager++) {
        uint32_t expected = threads_outcomes(paper, eager);
        uint32_t found = engine_outcomes(program, eager ? BLOCK_EAGER : 0);
        seen[expected]++;
        if (found == expected)
            continue;
        print_program(paper);
        fail_msg("program %u, %s: engine %x, paper %x", (unsigned)number,
                 eager ? "eager" : "strict", (unsigned)found, (unsigned)expected);
    }
    arena_release(&test_arena, mark);
}

static void random_programs_agree_with_the_paper(void **state)
{
    (void)state;
    enum { PROGRAMS = 3000 };
    uint32_t seen[16] = {0};
    struct pcg rng;
    pcg_seed(&rng, 1, 1);
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        struct threads_program paper = random_program(&rng);
        agrees_with_the_paper(&paper, i, seen);
    }
    assert_true(seen[DONE] > 100 && seen[ERR] > 100 && seen[DEADLOCK] > 100);
    assert_true(seen[DONE | DANGLING] > 100 && seen[DONE | DEADLOCK] > 10);
}

/* Number n of the lists of at most two of: sync, arrive; barrier 0, 1; for 1, 2 threads. */
static uint32_t small_thread(struct threads_command commands[2], uint32_t n)
{
    enum { KINDS = 8 };
    uint32_t length = n == 0 ? 0 : n <= KINDS ? 1 : 2;
    n -= length == 0 ? 0 : length == 1 ? 1 : 1 + KINDS;
    for (uint32_t k = 0; k < length; k++, n /= KINDS)
        commands[k] = (struct threads_command){.kind = n & 1 ? THREADS_SYNC : THREADS_ARRIVE,
                                               .b = (uint8_t)(n >> 1 & 1),
                                               .n = (uint8_t)(1 + (n >> 2 & 1))};
    return length;
}

static void all_smallest_programs_agree_with_the_paper(void **state)
{
    (void)state;
    enum { LISTS = 1 + 8 + 64 };
    uint32_t seen[16] = {0};
    for (uint32_t i = 0; i < LISTS; i++)
        for (uint32_t k = i; k < LISTS; k++) { /* who is first does not matter */
            struct threads_program paper = {.threads = 2};
            paper.length[0] = small_thread(paper.command[0], i);
            paper.length[1] = small_thread(paper.command[1], k);
            agrees_with_the_paper(&paper, i * LISTS + k, seen);
        }
    assert_true(seen[DONE] > 0 && seen[DONE | DANGLING] > 0 && seen[DONE | ERR] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_programs),
        cmocka_unit_test(each_rule_fires),
        cmocka_unit_test(each_rule_does_what_it_says),
        cmocka_unit_test(random_programs_agree_with_the_paper),
        cmocka_unit_test(all_smallest_programs_agree_with_the_paper),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
