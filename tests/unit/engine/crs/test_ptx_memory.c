/*
 * ld, st, atom at random addresses, of random lanes, against memory as arrays of bytes
 * (engine/lanes/ptx_address.c, ptx_memory.c): every size, vector and space; runs of words, one address for all,
 * lanes that collide, with and without somebody who chooses.
 */
#include "tests/unit/shared/ptx_machine.h"

#include "engine/lanes/ptx_exec_internal.h"

enum { LANES = 32, BYTES = 256, LOCAL_BYTES = 64, ROUNDS = 120 };
enum space { GLOBAL, SHARED, LOCAL, ANY }; /* ANY: generic, each lane its own */

struct access_form {
    const char *text;
    enum ptx_exec exec;
    enum space space;
    uint32_t bytes, count;
    uint32_t width; /* of the registers */
    bool is_signed;
};

#define LD PTX_EXEC_LD
#define ST PTX_EXEC_ST
#define ATOM PTX_EXEC_ATOM
#define SPACES(F)                                                                                  \
    F("global.", GLOBAL)                                                                           \
    F("shared.", SHARED)                                                                           \
    F("local.", LOCAL)                                                                             \
    F("", ANY)
#define FORMS(name, space)                                                                         \
    {"ld." name "u8 %r1, [%d1];", LD, space, 1, 1, 32, false},                                     \
        {"ld." name "s8 %r1, [%d1];", LD, space, 1, 1, 32, true},                                  \
        {"ld." name "s8 %h1, [%d1];", LD, space, 1, 1, 16, true},                                  \
        {"ld." name "u16 %r1, [%d1];", LD, space, 2, 1, 32, false},                                \
        {"ld." name "s16 %d2, [%d1];", LD, space, 2, 1, 64, true},                                 \
        {"ld." name "u32 %r1, [%d1];", LD, space, 4, 1, 32, false},                                \
        {"ld." name "s32 %d2, [%d1];", LD, space, 4, 1, 64, true},                                 \
        {"ld." name "u64 %d2, [%d1];", LD, space, 8, 1, 64, false},                                \
        {"ld." name "v2.u16 {%r1, %r2}, [%d1];", LD, space, 2, 2, 32, false},                      \
        {"ld." name "v4.s8 {%r1, %r2, %r3, %r4}, [%d1];", LD, space, 1, 4, 32, true},              \
        {"ld." name "v4.u32 {%r1, %r2, %r3, %r4}, [%d1];", LD, space, 4, 4, 32, false},            \
        {"ld." name "v2.u64 {%d2, %d3}, [%d1];", LD, space, 8, 2, 64, false},                      \
        {"st." name "u8 [%d1], %r1;", ST, space, 1, 1, 32, false},                                 \
        {"st." name "u16 [%d1], %r1;", ST, space, 2, 1, 32, false},                                \
        {"st." name "u32 [%d1], %r1;", ST, space, 4, 1, 32, false},                                \
        {"st." name "u64 [%d1], %d2;", ST, space, 8, 1, 64, false},                                \
        {"st." name "v2.u32 [%d1], {%r1, %r2};", ST, space, 4, 2, 32, false},                      \
        {"st." name "v4.u8 [%d1], {%r1, %r2, %r3, %r4};", ST, space, 1, 4, 32, false},
#define ATOMS(name, space)                                                                         \
    {"atom." name "add.u32 %r1, [%d1], %r2;", ATOM, space, 4, 1, 32, false},                       \
        {"atom." name "add.u64 %d2, [%d1], %d3;", ATOM, space, 8, 1, 64, false},

static const struct access_form forms[] = {SPACES(FORMS) ATOMS("global.", GLOBAL)
                                               ATOMS("shared.", SHARED)};

#define HEAD                                                                                       \
    "// simtfuzz: entry=k threads=32 warp=32\n.version 7.0\n.target sm_70\n.address_size 64\n"     \
    ".global .align 16 .b8 other[20];\n.global .align 16 .b8 g[256];\n.global .align 4 .u32 "      \
    "last;\n"                                                                                      \
    ".shared .align 16 .b8 s[256];\n"                                                              \
    ".visible .entry k()\n{\n.reg .b16 %%h<4>; .reg .b32 %%r<8>; .reg .b64 %%d<8>;\n"              \
    ".local .align 16 .b8 l[64];\nld.global.u32 %%r1, [last];\n%s\nmov.u64 %%d7, g; mov.u64 "      \
    "%%d7, s; mov.u64 %%d7, l; mov.u64 %%d7, other;\nexit;\n}\n"

/* The memory of all that can be reached, by itself. */
struct naive {
    uint8_t global[BYTES], shared[BYTES], local[LANES][LOCAL_BYTES];
};

struct bed {
    struct machine *machine;
    struct ptx_lanes *lanes;
    const struct ptx_code *code;
    uint32_t pc;
    const struct ptx_op *op;
    const struct access_form *form;
    enum space space[LANES];
    uint32_t offset[LANES]; /* in the variable */
    uint64_t value[4][LANES];
    lane_mask X;
};

static const enum ptx_window windows[] = {
    [GLOBAL] = PTX_WINDOW_GLOBAL, [SHARED] = PTX_WINDOW_SHARED, [LOCAL] = PTX_WINDOW_LOCAL};

static const struct ptx_region *region_of(const struct bed *b, enum space space)
{
    const struct ptx_regions *regions = space == GLOBAL   ? &b->code->global
                                        : space == SHARED ? &b->code->shared
                                                          : &b->code->functions[0].locals;
    for (uint32_t i = 0; i < regions->count; i++)
        if (strlen(regions->items[i].name) == 1)
            return &regions->items[i];
    fail_msg("no variable");
    return NULL;
}

static uint8_t *naive_bytes(struct naive *n, enum space space, uint32_t lane)
{
    return space == GLOBAL ? n->global : space == SHARED ? n->shared : n->local[lane];
}

/* Copies the machine's memory out, or in. */
static void move_memory(const struct bed *b, struct naive *n, bool out)
{
    const struct thread_context *threads = b->machine->threads;
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (enum space space = GLOBAL; space <= LOCAL; space++) {
            const struct ptx_region *region = region_of(b, space);
            uint32_t byte = space == GLOBAL ? 4 * region->word
                            : space == SHARED
                                ? 4 * (threads[0].base[SPACE_SHARED] + region->word)
                                : 4 * threads[lane].base[SPACE_LOCAL] + b->lanes->lane[lane].byte +
                                      (uint32_t)region->address;
            char *at = (char *)b->machine->memory + byte;
            if (out)
                memcpy(naive_bytes(n, space, lane), at, region->bytes);
            else
                memcpy(at, naive_bytes(n, space, lane), region->bytes);
        }
}

static void set_register(struct bed *b, const struct ptx_place *place, uint32_t lane,
                         uint64_t value)
{
    ptx_set_result(b->machine, b->lanes, place, (lane_mask)1 << lane, value);
}

/* Addresses in a row, backwards, all the same, a few, anywhere; values with equal ones among them. */
static void draw(struct bed *b, struct pcg *rng)
{
    uint32_t bytes = b->form->bytes * b->form->count, shape = pcg_below(rng, 5);
    enum space common = b->form->space == ANY ? (enum space)pcg_below(rng, 3) : b->form->space;
    bool mixed = b->form->space == ANY && pcg_below(rng, 2) == 0;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        enum space space = mixed ? (enum space)pcg_below(rng, 3) : common;
        uint32_t places = (space == LOCAL ? LOCAL_BYTES : BYTES) / bytes;
        uint32_t place = shape == 0   ? lane
                         : shape == 1 ? LANES - 1 - lane
                         : shape == 2 ? 3
                         : shape == 3 ? pcg_below(rng, 4)
                                      : pcg_below(rng, places);
        b->space[lane] = space;
        b->offset[lane] = place % places * bytes;
        const struct ptx_region *region = region_of(b, space);
        uint64_t address = region->address + b->offset[lane];
        if (space == LOCAL)
            address += b->lanes->lane[lane].byte;
        if (b->form->space == ANY)
            address += ptx_window_base(windows[space], b->code->is_far);
        set_register(b, &b->op->sources[0], lane, address);
        for (uint32_t e = 0; b->form->exec != LD && e < b->form->count; e++) {
            uint64_t value = (uint64_t)pcg_next(rng) << 32 | pcg_next(rng);
            b->value[e][lane] = pcg_below(rng, 3) == 0 ? 5 : value;
            set_register(b, &b->op->sources[1 + e], lane, b->value[e][lane]);
        }
    }
    b->X = pcg_below(rng, 2) == 0 ? ptx_all(b->lanes) : pcg_next(rng) | 1;
}

static uint64_t naive_load(const uint8_t *at, const struct access_form *form)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < form->bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    if (form->is_signed && form->bytes < 8 && value >> (8 * form->bytes - 1))
        value |= UINT64_MAX << 8 * form->bytes;
    return form->width == 64 ? value : value & (((uint64_t)1 << form->width) - 1);
}

/* What st and atom do to memory, lanes in ascending order; old: what atom returns. */
static void naive_write(const struct bed *b, struct naive *n, uint64_t old[LANES])
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (!(b->X >> lane & 1))
            continue;
        uint8_t *at = naive_bytes(n, b->space[lane], lane) + b->offset[lane];
        old[lane] = naive_load(at, b->form);
        for (uint32_t e = 0; e < b->form->count; e++) {
            uint64_t value = b->value[e][lane] + (b->form->exec == ATOM ? old[lane] : 0);
            for (uint32_t i = 0; i < b->form->bytes; i++)
                at[e * b->form->bytes + i] = (uint8_t)(value >> 8 * i);
        }
    }
}

static void check_results(const struct bed *b, const struct naive *before,
                          const uint64_t old[LANES])
{
    struct naive copy = *before;
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t e = 0; (b->X >> lane & 1) && e < b->form->count; e++) {
            const uint8_t *at = naive_bytes(&copy, b->space[lane], lane) + b->offset[lane];
            uint64_t expected =
                b->form->exec == ATOM ? old[lane] : naive_load(at + e * b->form->bytes, b->form);
            uint64_t got = ptx_source(b->machine, b->lanes, &b->op->results[e], lane);
            if (got != expected)
                fail_msg("%s: lane %u has 0x%llx, not 0x%llx", b->form->text, (unsigned)lane,
                         (unsigned long long)got, (unsigned long long)expected);
        }
}

static struct bed bed_new(const struct access_form *form, bool track)
{
    const struct program *program = test_compile(arena_printf(&test_arena, HEAD, form->text));
    struct bed b = {.machine = test_machine(program, track), .code = program->ptx, .pc = 2};
    b.form = form;
    b.lanes = test_lanes(b.machine, 0);
    b.op = &b.code->ops[b.pc];
    assert_int_equal(b.op->exec, form->exec);
    return b;
}

static void fill_memory(const struct bed *b, struct naive *n, struct pcg *rng)
{
    for (size_t i = 0; i < sizeof *n; i++)
        ((uint8_t *)n)[i] = (uint8_t)pcg_next(rng);
    move_memory(b, n, false);
}

/* Nobody chooses: ascending order. */
static void test_ascending(void **state)
{
    (void)state;
    struct pcg rng;
    pcg_seed(&rng, 7, 1);
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        size_t mark = arena_mark(&test_arena);
        struct bed b = bed_new(&forms[f], f & 1);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            struct naive before, expected, after;
            uint64_t old[LANES];
            b.machine->track.log_count = 0;
            fill_memory(&b, &before, &rng);
            draw(&b, &rng);
            expected = before;
            if (forms[f].exec != LD)
                naive_write(&b, &expected, old);
            ptx_execute(b.machine, b.lanes, b.pc, b.X, 0, NULL);
            assert_int_equal(machine_status(b.machine), STATUS_RUNNING);
            move_memory(&b, &after, true);
            if (memcmp(&after, &expected, sizeof after) != 0)
                fail_msg("%s: memory differs", forms[f].text);
            if (forms[f].exec != ST)
                check_results(&b, &before, old);
        }
        arena_release(&test_arena, mark);
    }
}

struct random_choices {
    struct choices choices;
    struct pcg rng;
};

static uint32_t choose_any(struct choices *choices, uint32_t n)
{
    struct random_choices *any = (struct random_choices *)choices;
    return pcg_below(&any->rng, n);
}

/* Whoever is chosen: each element that is written holds what some lane wrote there; the rest is as it
 * was; sums come out whatever the order. */
static void check_chosen(const struct bed *b, struct naive *before, struct naive *after)
{
    struct naive rest = *before;
    const uint32_t bytes = b->form->bytes;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint8_t *at = naive_bytes(&rest, b->space[lane], lane) + b->offset[lane];
        const uint8_t *now = naive_bytes(after, b->space[lane], lane) + b->offset[lane];
        if (!(b->X >> lane & 1))
            continue;
        for (uint32_t e = 0; e < b->form->count; e++) {
            bool found = false;
            for (uint32_t other = 0; other < LANES; other++)
                if ((b->X >> other & 1) && b->space[other] == b->space[lane] &&
                    b->offset[other] == b->offset[lane] &&
                    (b->space[lane] != LOCAL || other == lane))
                    found |= memcmp(now + e * bytes, &b->value[e][other], bytes) == 0;
            if (!found)
                fail_msg("%s: nobody wrote what is there", b->form->text);
            memcpy(at + e * bytes, now + e * bytes, bytes);
        }
    }
    assert_memory_equal(&rest, after, sizeof rest);
}

static void test_chosen(void **state)
{
    (void)state;
    struct random_choices any = {.choices = {.choose = choose_any}};
    struct pcg rng;
    pcg_seed(&rng, 8, 1);
    pcg_seed(&any.rng, 9, 1);
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        size_t mark = arena_mark(&test_arena);
        if (forms[f].exec == LD)
            continue;
        struct bed b = bed_new(&forms[f], false);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            struct naive before, after, sums;
            uint64_t old[LANES];
            fill_memory(&b, &before, &rng);
            draw(&b, &rng);
            sums = before;
            naive_write(&b, &sums, old);
            ptx_execute(b.machine, b.lanes, b.pc, b.X, 0, &any.choices);
            move_memory(&b, &after, true);
            if (forms[f].exec == ATOM)
                assert_memory_equal(&after, &sums, sizeof after);
            else
                check_chosen(&b, &before, &after);
        }
        arena_release(&test_arena, mark);
    }
}

/* An address just outside, or between two multiples, of one lane ends the execution and changes nothing. */
static void test_outside(void **state)
{
    (void)state;
    struct pcg rng;
    pcg_seed(&rng, 10, 1);
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        size_t mark = arena_mark(&test_arena);
        struct bed b = bed_new(&forms[f], false);
        const uint32_t bytes = forms[f].bytes * forms[f].count;
        for (uint32_t round = 0; round < ROUNDS; round++) {
            struct naive before, after;
            fill_memory(&b, &before, &rng);
            draw(&b, &rng);
            uint32_t lane = pcg_below(&rng, LANES);
            uint64_t address = ptx_source(b.machine, b.lanes, &b.op->sources[0], lane);
            uint32_t size = b.space[lane] == LOCAL ? LOCAL_BYTES : BYTES;
            uint64_t start = address - b.offset[lane];
            address = bytes > 1 && pcg_below(&rng, 3) == 0
                          ? address + 1 + pcg_below(&rng, bytes - 1)
                      : pcg_below(&rng, 2) == 0 ? start + size
                                                : start - bytes;
            b.X |= (lane_mask)1 << lane;
            set_register(&b, &b.op->sources[0], lane, address);
            b.machine->head->status = STATUS_RUNNING;
            ptx_execute(b.machine, b.lanes, b.pc, b.X, 0, NULL);
            if (machine_status(b.machine) != STATUS_OUT_OF_BOUNDS)
                fail_msg("%s: lane %u at 0x%llx", forms[f].text, (unsigned)lane,
                         (unsigned long long)address);
            assert_int_equal(b.machine->head->fault_thread, lane);
            assert_true(b.machine->fault.address == (address & ptx_address_mask(b.op)));
            move_memory(&b, &after, true);
            assert_memory_equal(&before, &after, sizeof after);
        }
        arena_release(&test_arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascending),
        cmocka_unit_test(test_chosen),
        cmocka_unit_test(test_outside),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
