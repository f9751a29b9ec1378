/*
 * Products of matrices (engine/lanes/ptx_matrix.c, engine/arith/ptx_product.c): every shape and type of mma and
 * wmma.mma with random registers, against the literal tables of engine/reference_ptx/ref_matrix.c; small whole numbers,
 * whose products are exact, and any bits.
 */
#include "tests/unit/shared/ptx_machine.h"

#include "engine/reference_ptx/ref_ptx.h"

#define MODULE ".version 7.8\n.target sm_90\n.address_size 64\n"
#define REGISTERS                                                                                  \
    ".reg .b32 %%d<9>; .reg .b32 %%a<9>; .reg .b32 %%b<9>; .reg .b32 %%c<9>;\n"                    \
    ".reg .b64 %%ld<9>; .reg .b64 %%la<9>; .reg .b64 %%lb<9>; .reg .b64 %%lc<9>;\n"

struct form {
    const char *name;
    uint32_t d, a, b, c; /* registers */
};

static const struct form forms[] = {
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1, 2},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, 2},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, 4},
    {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1, 4},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, 4},
    {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, 4},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, 4},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32", 2, 1, 1, 2},
    {"mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.s8.s32", 4, 2, 1, 4},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 4, 4, 2, 4},
    {"mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32", 2, 1, 1, 2},
    {"mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32", 4, 2, 1, 4},
    {"mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.s4.s32", 4, 4, 2, 4},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 2, 1, 1, 2},
    {"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64.rn", 4, 2, 1, 4},
    {"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64.rn", 4, 4, 2, 4},
    {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64.rn", 4, 8, 4, 4},
    {"mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f32", 4, 2, 1, 4},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32", 4, 4, 2, 4},
    {"mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16", 2, 4, 2, 2},
    {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 2, 1, 1, 2},
    {"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc", 4, 2, 1, 4},
    {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 4, 4, 2, 4},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 8, 8, 8, 8},
    {"wmma.mma.sync.aligned.row.row.m32n8k16.f16.f32", 4, 8, 8, 8},
    {"wmma.mma.sync.aligned.col.row.m8n32k16.f32.f16", 8, 8, 8, 4},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32", 8, 4, 4, 8},
    {"wmma.mma.sync.aligned.row.col.m8n32k16.f32.bf16.bf16.f32", 8, 2, 8, 8},
    {"wmma.mma.sync.aligned.row.col.m32n8k16.s32.s8.s8.s32", 8, 4, 1, 8},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32.satfinite", 8, 2, 2, 8},
    {"wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", 8, 4, 4, 8},
    {"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn", 2, 1, 1, 2},
};
enum { FORMS = sizeof forms / sizeof *forms, ROUNDS = 12 };

static const char *list(const char *name, bool wide, uint32_t count)
{
    const char *text = arena_printf(&test_arena, "{%%%s%s0", wide ? "l" : "", name);
    for (uint32_t i = 1; i < count; i++)
        text = arena_printf(&test_arena, "%s, %%%s%s%u", text, wide ? "l" : "", name, (unsigned)i);
    return arena_printf(&test_arena, "%s}", text);
}

static struct machine *machine_of(const struct form *form)
{
    bool wide = strstr(form->name, "f64") != NULL;
    const char *text =
        arena_printf(&test_arena,
                     "// simtfuzz: entry=k threads=32\n" MODULE ".visible .entry k()\n{\n" REGISTERS
                     "%s %s, %s, %s, %s;\nexit;\n}\n",
                     form->name, list("d", wide, form->d), list("a", wide, form->a),
                     list("b", wide, form->b), list("c", wide, form->c));
    return test_machine(test_compile(text), false);
}

/* ---- registers ---- */

static uint64_t small_number(struct pcg *rng, enum ptx_word type)
{
    static const uint8_t eights[] = {0, 0x38, 0x40, 0x44, 0xb8, 0xc0, 0xc4};
    static const uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200, 0xbc00, 0xc000, 0xc200};
    int value = (int)pcg_below(rng, 7) - 3;
    float single = (float)value;
    double wide = value;
    uint32_t bits;
    uint64_t all;
    memcpy(&bits, &single, sizeof bits);
    memcpy(&all, &wide, sizeof all);
    switch ((int)type) {
    case PTX_W_F16:
        return halves[pcg_below(rng, 7)];
    case PTX_W_E4M3:
        return eights[pcg_below(rng, 7)];
    case PTX_W_E5M2:
        return halves[pcg_below(rng, 7)] >> 8;
    case PTX_W_BF16:
        return bits >> 16;
    case PTX_W_F32:
    case PTX_W_TF32:
        return bits;
    case PTX_W_F64:
        return all;
    default:
        return (uint64_t)(int64_t)value;
    }
}

static uint64_t register_value(struct pcg *rng, const struct ptx_matrix_sizes *s, bool any)
{
    uint64_t value = (uint64_t)pcg_next(rng) << 32 | pcg_next(rng);
    for (uint32_t e = 0; e < s->each && !any; e++) {
        uint64_t mask = s->bits == 64 ? UINT64_MAX : ((uint64_t)1 << s->bits) - 1;
        value = (e == 0 ? 0 : value) | (small_number(rng, (enum ptx_word)s->type) & mask)
                                           << e * s->bits;
    }
    if (any && s->type == PTX_W_S32 && pcg_below(rng, 2) == 0) /* sums that do not fit */
        value = pcg_below(rng, 2) ? INT32_MAX : (uint32_t)INT32_MIN;
    return s->bits == 64 ? value : (uint32_t)value;
}

static const enum ref_matrix_part reference_part[] = {[PTX_MATRIX_D] = REF_MATRIX_D,
                                                      [PTX_MATRIX_A] = REF_MATRIX_A,
                                                      [PTX_MATRIX_B] = REF_MATRIX_B,
                                                      [PTX_MATRIX_C] = REF_MATRIX_C};

static void fill(struct machine *machine, struct ref_product *product, struct pcg *rng, bool any)
{
    const struct ptx_op *op = &machine->program->ptx->ops[1];
    for (uint32_t part = PTX_MATRIX_A; part < PTX_MATRIX_PARTS; part++) {
        const struct ptx_matrix_sizes *s = &op->matrix->form.part[part];
        for (uint32_t lane = 0; lane < PTX_MATRIX_LANES; lane++)
            for (uint32_t r = 0; r < s->registers; r++) {
                const uint64_t value = register_value(rng, s, any);
                ptx_set_result(machine, test_lanes(machine, 0), &op->matrix->place[part][r],
                               (lane_mask)1 << lane, value);
                ref_product_give(product, reference_part[part], lane, r, value);
            }
    }
}

/* ---- products ---- */

static void try_form(const struct form *form, struct pcg *rng, bool any)
{
    struct machine *machine = machine_of(form);
    const struct ptx_op *op = &machine->program->ptx->ops[1];
    const lane_mask all = UINT32_MAX;
    struct ref_product product;
    ref_product_begin(&product, &op->statement->u.instruction);
    fill(machine, &product, rng, any);
    assert_int_equal(ptx_execute(machine, test_lanes(machine, 0), 1, all, 0, NULL),
                     RULE_MATRIX_MMA);
    assert_int_equal(machine_status(machine), STATUS_RUNNING);
    for (uint32_t lane = 0; lane < PTX_MATRIX_LANES; lane++)
        for (uint32_t r = 0; r < form->d; r++) {
            uint64_t about, got = ptx_source(machine, test_lanes(machine, 0),
                                             &op->matrix->place[PTX_MATRIX_D][r], lane);
            if (!ref_product_may(&product, lane, r, got, &about))
                fail_msg("%s: lane %u, register %u: 0x%llx, not 0x%llx", form->name, (unsigned)lane,
                         (unsigned)r, (unsigned long long)got, (unsigned long long)about);
            if (!any)
                assert_false(ref_product_may(&product, lane, r, got ^ 1, &about));
        }
}

static void test_products(void **state)
{
    (void)state;
    struct pcg rng;
    pcg_seed(&rng, 7, 1);
    for (uint32_t i = 0; i < FORMS; i++)
        for (uint32_t round = 0; round < ROUNDS; round++)
            try_form(&forms[i], &rng, round % 2);
}

/* A lane that does not execute it leaves the warp stuck. */
static void test_missing_lane(void **state)
{
    (void)state;
    struct machine *machine = machine_of(&forms[0]);
    ptx_execute(machine, test_lanes(machine, 0), 1, UINT32_MAX - 4, 0, NULL);
    assert_int_equal(machine_status(machine), STATUS_STUCK);
    assert_string_equal(machine->fault_text,
                        "not all 32 lanes of the warp execute the instruction");
}

/* Two shapes by hand: a row of ones against a column of ones, and one element of each matrix set. */
static void test_by_hand(void **state)
{
    (void)state;
    struct machine *machine = machine_of(&forms[10]); /* m16n8k32, s8 */
    const struct ptx_op *op = &machine->program->ptx->ops[1];
    struct ptx_lanes *lanes = test_lanes(machine, 0);
    /* A[9][18] = 3 is byte 2 of register 3 of lane 1 * 4 + 0; B[18][5] = 5 is byte 2 of register 1 of lane 5 * 4 +
     * 0. */
    ptx_set_result(machine, lanes, &op->matrix->place[PTX_MATRIX_A][3], (lane_mask)1 << 4, 3 << 16);
    ptx_set_result(machine, lanes, &op->matrix->place[PTX_MATRIX_B][1], (lane_mask)1 << 20,
                   5 << 16);
    ptx_execute(machine, lanes, 1, UINT32_MAX, 0, NULL);
    /* D[9][5] is register 3 of lane 1 * 4 + 2. */
    for (uint32_t lane = 0; lane < PTX_MATRIX_LANES; lane++)
        for (uint32_t r = 0; r < 4; r++)
            assert_int_equal(ptx_source(machine, lanes, &op->matrix->place[PTX_MATRIX_D][r], lane),
                             lane == 6 && r == 3 ? 15 : 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_missing_lane),
        cmocka_unit_test(test_by_hand),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
