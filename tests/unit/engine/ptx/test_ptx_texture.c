/*
 * Textures and surfaces (engine/lanes/ptx_texture.c): every geometry, format, addressing and filter with coordinates
 * around and far beyond the ends, against engine/reference_ptx/ref_texture.c; and values that are worked out by hand.
 */
#include "tests/unit/shared/ptx_machine.h"

#include "engine/arith/ptx_filter.h"
#include "engine/reference_ptx/ref_ptx.h"

#define KERNEL                                                                                     \
    ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 t)\n{\n"         \
    ".reg .b64 %%t; .reg .b32 %%x, %%y, %%z; .reg .b32 %%d<5>; .reg .b16 %%h<5>; .reg .b64 "       \
    "%%w<5>;\nld.param.u64 %%t, [t];\n%s\nexit;\n}\n"

enum { ROUNDS = 400, LANES = 8, AT = 2 /* the address of the instruction */ };

static struct machine *machine_of(const char *texture, const char *instruction)
{
    const char *text = arena_printf(
        &test_arena, "// simtfuzz: threads=8 warp=8 seed=0x5 bind:t=texture:%s\n" KERNEL, texture,
        instruction);
    struct machine *machine = test_machine(test_compile(text), false);
    ptx_execute(machine, test_lanes(machine, 0), 1, (1u << LANES) - 1, 0, NULL);
    return machine;
}

/* ---- what is drawn ---- */

static const char *draw(struct pcg *rng, const char *const *words, uint32_t count)
{
    return words[pcg_below(rng, count)];
}
#define DRAW(rng, ...)                                                                             \
    draw(rng, (const char *const[]){__VA_ARGS__},                                                  \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static const struct geometry {
    const char *name, *coordinates, *size, *layers;
} geometries[] = {
    {"1d", "{%x}", "7", ""},
    {"2d", "{%x, %y}", "5x3", ""},
    {"3d", "{%x, %y, %z, %z}", "3x4x2", ""},
    {"a1d", "{%z, %x}", "6x3", ":layers"},
    {"a2d", "{%z, %x, %y, %y}", "4x3x2", ":layers"},
};

struct drawn {
    const char *texture, *instruction;
    bool whole, normalized; /* coordinates */
    uint32_t bytes;         /* of a surface: what x is a multiple of */
};

static const char *modes(struct pcg *rng)
{
    const char *first = DRAW(rng, "clamp", "wrap", "mirror", "border");
    const char *second = DRAW(rng, "clamp", "wrap", "mirror", "border");
    const char *third = DRAW(rng, "clamp", "wrap", "mirror", "border");
    return arena_printf(&test_arena, ":%s:%s:%s", first, second, third);
}

static struct drawn draw_texture(struct pcg *rng)
{
    const struct geometry *g = &geometries[pcg_below(rng, 5)];
    const char *type = DRAW(rng, "u8", "s8", "u16", "s16", "f16", "u32", "s32", "f32");
    const char *channels = DRAW(rng, "", "x2", "x4"), *addressing = modes(rng);
    const bool is_float = type[0] == 'f', narrow = !strstr(type, "32");
    const bool unit = !is_float && narrow && pcg_below(rng, 2);
    const bool gathers = g == &geometries[1] && pcg_below(rng, 3) == 0;
    struct drawn d = {.whole = !gathers && pcg_below(rng, 3) == 0, .normalized = pcg_below(rng, 2)};
    const bool filters = (is_float || unit) && pcg_below(rng, 2);
    d.texture = arena_printf(&test_arena, "%s%s:%s%s%s%s%s%s:%s", type, channels, g->size,
                             g->layers, addressing, unit ? ":unit" : "", filters ? ":linear" : "",
                             d.normalized ? ":normalized" : "",
                             is_float && pcg_below(rng, 2) ? "iota" : "random");
    const char *result = is_float || unit ? "f32" : type[0] == 's' ? "s32" : "u32";
    const char *channel = DRAW(rng, "r", "g", "b", "a");
    if (gathers)
        d.instruction =
            arena_printf(&test_arena, "tld4.%s.2d.v4.%s.f32 {%%d0, %%d1, %%d2, %%d3}, [%%t, %s];",
                         channel, result, g->coordinates);
    else
        d.instruction =
            arena_printf(&test_arena, "tex.%s.v4.%s.%s {%%d0, %%d1, _, %%d3}, [%%t, %s];", g->name,
                         result, d.whole ? "s32" : "f32", g->coordinates);
    return d;
}

static struct drawn draw_surface(struct pcg *rng)
{
    const struct geometry *g = &geometries[pcg_below(rng, 5)];
    const bool loads = pcg_below(rng, 2);
    const char *vector = DRAW(rng, "", ".v2", ".v4"), *mode = DRAW(rng, "trap", "clamp", "zero");
    const char *type = DRAW(rng, "b8", "b16", "b32", "b64");
    const char reg = strcmp(type, "b64") == 0 ? 'w' : strcmp(type, "b32") == 0 ? 'd' : 'h';
    const char *values =
        vector[0] == '\0' ? arena_printf(&test_arena, "{%%%c0}", reg)
        : vector[2] == '2'
            ? arena_printf(&test_arena, "{%%%c0, %%%c1}", reg, reg)
            : arena_printf(&test_arena, "{%%%c0, %%%c1, %%%c2, %%%c3}", reg, reg, reg, reg);
    struct drawn d = {.whole = true};
    d.bytes = ptx_type_of(ptx_word_find(type, strlen(type))).bits / 8u *
              (vector[0] ? (uint32_t)(vector[2] - '0') : 1);
    if (d.bytes > 16)
        return draw_surface(rng);
    d.texture = arena_printf(&test_arena, "%s:%s%s:random", DRAW(rng, "u8x4", "s16", "f32x4"),
                             g->size, g->layers);
    d.instruction = loads ? arena_printf(&test_arena, "suld.b.%s%s.%s.%s %s, [%%t, %s];", g->name,
                                         vector, type, mode, values, g->coordinates)
                          : arena_printf(&test_arena, "sust.b.%s%s.%s.%s [%%t, %s], %s;", g->name,
                                         vector, type, mode, g->coordinates, values);
    return d;
}

static uint32_t coordinate(struct pcg *rng, const struct drawn *d, bool whole, uint32_t axis)
{
    const int32_t number = (int32_t)pcg_below(rng, 14) - 4;
    const bool far = pcg_below(rng, 16) == 0;
    uint32_t bits = pcg_next(rng);
    float c = (float)number + (float)pcg_below(rng, 5) / 4 + (float)pcg_below(rng, 3) / 512;
    if (whole)
        return far && d->bytes == 0 ? bits
                                    : (uint32_t)number * (axis == 0 && d->bytes ? d->bytes : 1);
    if (d->normalized)
        c /= 4;
    if (!far)
        memcpy(&bits, &c, sizeof bits);
    return bits;
}

/* ---- one instruction ---- */

static void fill(struct machine *machine, struct pcg *rng, const struct drawn *d)
{
    const struct ptx_op *op = &machine->program->ptx->ops[AT];
    const bool layered = ptx_is_layered(op->statement->u.instruction.words);
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t k = PTX_TEXEL_X; k < PTX_CODE_SOURCES; k++) {
            const bool is_layer = layered && k == PTX_TEXEL_LAYER;
            uint64_t value = k < PTX_TEXEL_VALUE
                                 ? coordinate(rng, d, d->whole || is_layer, k - PTX_TEXEL_X)
                                 : pcg_next(rng);
            if (op->sources[k].kind == PTX_PLACE_REGISTER)
                ptx_set_result(machine, test_lanes(machine, 0), &op->sources[k],
                               (lane_mask)1 << lane, value);
        }
}

static uint64_t bytes_at(const void *memory, uint64_t byte, uint32_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)memory + byte, bytes);
    return value;
}

/* What the reference makes of it; memory as it becomes in `copy`. False: the execution ends at this lane. */
static bool refer(struct machine *machine, uint32_t lane, uint8_t *copy, const uint64_t *given,
                  const uint64_t results[PTX_CODE_RESULTS])
{
    const struct ptx_code *code = machine->program->ptx;
    const struct ptx_op *op = &code->ops[AT];
    struct ref_texture_step x = {.instruction = &op->statement->u.instruction,
                                 .texture = code->textures[0].what,
                                 .coordinate = {given[1], given[2], given[3]},
                                 .values = op->count};
    for (uint32_t r = 0; r < sizeof x.wanted / sizeof *x.wanted; r++)
        x.wanted[r] = op->results[r].kind != PTX_PLACE_NONE;
    ref_texture_find(&x);
    if (x.undefined || x.outside) {
        assert_int_equal(machine_status(machine), x.outside ? STATUS_OUT_OF_BOUNDS : STATUS_STUCK);
        assert_int_equal(machine->head->fault_thread, lane);
        return false;
    }
    for (uint32_t i = 0; i < x.count; i++) {
        assert_true(x.reads[i].at + x.reads[i].bytes <= ptx_texture_bytes(x.texture));
        x.reads[i].value = bytes_at(copy, x.reads[i].at, x.reads[i].bytes);
        if (op->exec == PTX_EXEC_SUST)
            memcpy(copy + x.reads[i].at, &given[PTX_TEXEL_VALUE + i], x.reads[i].bytes);
    }
    for (uint32_t r = 0; r < op->result_count; r++) {
        uint64_t about;
        if (x.wanted[r] && !ref_texture_may(&x, r, results[r], &about))
            fail_msg("%s, %s: lane %u at %llx, %llx, %llx, result %u: 0x%llx, not 0x%llx",
                     ptx_print_instruction(&test_arena, x.instruction),
                     machine->program->ptx->kernel->binds->text, (unsigned)lane,
                     (unsigned long long)given[1], (unsigned long long)given[2],
                     (unsigned long long)given[3], (unsigned)r, (unsigned long long)results[r],
                     (unsigned long long)about);
    }
    return true;
}

static void try_one(struct pcg *rng, const struct drawn *d)
{
    struct machine *machine = machine_of(d->texture, d->instruction);
    const struct program *program = machine->program;
    const struct ptx_op *op = &program->ptx->ops[AT];
    struct ptx_lanes *lanes = test_lanes(machine, 0);
    uint64_t given[LANES][PTX_CODE_SOURCES], results[PTX_CODE_RESULTS];
    const size_t bytes = (size_t)4 * program->shared_base;
    uint8_t *copy = ARENA_ARRAY(&test_arena, uint8_t, bytes);
    fill(machine, rng, d);
    memcpy(copy, machine->memory, bytes);
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t k = 0; k < PTX_CODE_SOURCES; k++)
            given[lane][k] = ptx_source(machine, lanes, &op->sources[k], lane);
    ptx_execute(machine, lanes, AT, (1u << LANES) - 1, 0, NULL);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        for (uint32_t r = 0; r < op->result_count; r++)
            results[r] = ptx_source(machine, lanes, &op->results[r], lane);
        if (!refer(machine, lane, copy, given[lane], results))
            break;
        if (lane == LANES - 1)
            assert_int_equal(machine_status(machine), STATUS_RUNNING);
    }
    assert_memory_equal(copy, machine->memory, bytes);
}

static void test_random(void **state)
{
    (void)state;
    struct pcg rng;
    pcg_seed(&rng, 11, 3);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const struct drawn texture = draw_texture(&rng), surface = draw_surface(&rng);
        try_one(&rng, &texture);
        try_one(&rng, &surface);
    }
}

/* ---- by hand ---- */

/* The float that lane 0 fetches at x of a texture of one dimension with the texels 0, 1, 2, 3. */
static float fetch(const char *words, float x)
{
    struct machine *machine = machine_of(arena_printf(&test_arena, "f32:4%s:iota", words),
                                         "tex.1d.v4.f32.f32 {%d0, _, _, _}, [%t, %x];");
    const struct ptx_op *op = &machine->program->ptx->ops[AT];
    uint32_t bits;
    float result;
    memcpy(&bits, &x, sizeof bits);
    ptx_set_result(machine, test_lanes(machine, 0), &op->sources[PTX_TEXEL_X], 1, bits);
    ptx_execute(machine, test_lanes(machine, 0), AT, 1, 0, NULL);
    assert_int_equal(machine_status(machine), STATUS_RUNNING);
    bits = (uint32_t)ptx_source(machine, test_lanes(machine, 0), &op->results[0], 0);
    memcpy(&result, &bits, sizeof result);
    return result;
}

static void test_by_hand(void **state)
{
    (void)state;
    const struct {
        const char *words;
        float x, texel;
    } rows[] = {
        {"", 2.9f, 2},
        {"", -7, 0},
        {"", 9, 3},
        {":border", 4, 0},
        {":wrap", 5, 3}, /* not normalized: clamped */
        {":wrap:normalized", 1.25f, 1},
        {":wrap:normalized", -0.25f, 3},
        {":mirror:normalized", 1.3f, 2},
        {":mirror:normalized", -0.1f, 0},
        {":linear", 1.5f, 1},
        {":linear", 2, 1.5f},
        {":linear", 0.25f, 0},
        {":linear", 1.5f + 3.0f / 1024, 1 + 1.0f / 256}, /* weights are multiples of 1/256 */
        {":linear", 1.5f + 1.0f / 1024, 1},
        {":border:clamp:linear", 4, 1.5f},
        {":border:linear", 4, 0.75f}, /* y has a border, too */
        {":wrap:linear:normalized", 0, 1.5f},
        {":mirror:linear:normalized", 1, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fetch(rows[i].words, rows[i].x) != rows[i].texel)
            fail_msg("f32:4%s at %g is %g, not %g", rows[i].words, (double)rows[i].x,
                     (double)fetch(rows[i].words, rows[i].x), (double)rows[i].texel);
}

/* What an H200 made of texels (the first along x, y, z; those where bit 0, 1, 2 of their number is set, the second) at
 * so many 256ths: where it matters what is cut off, which way halves are rounded, and how weights are. */
static void test_measured(void **state)
{
    (void)state;
    static const struct {
        enum ptx_word type;
        uint32_t second[3];
        uint64_t texels[FILTER_TEXELS], sum;
    } rows[] = {
        {PTX_W_F32,
         {248, 0, 0},
         {0xc730923f, 0x42cba83f, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0},
         0xc4a43d91},
        {PTX_W_F32,
         {111, 41, 0},
         {0xc5ceaef1, 0xc37333d7, 0x3639b542, 0x47a049b1, 0x0, 0x0, 0x0, 0x0},
         0x451e2174},
        {PTX_W_F32,
         {25, 119, 0},
         {0xb6ba25db, 0x37399d19, 0xbb6ea000, 0xc4168cbe, 0x0, 0x0, 0x0, 0x0},
         0xc1e1d63b},
        {PTX_W_F32,
         {134, 77, 255},
         {0x4276b9f6, 0xc27ea051, 0xc1f7120c, 0xc1d9f2d9, 0x41aaeac5, 0xc2381940, 0x4189825b,
          0x4230a60a},
         0xbefafadd},
        {PTX_W_F32,
         {188, 144, 111},
         {0x420c191b, 0x4208b266, 0x4225583e, 0xc12ae730, 0x420a6402, 0xc22f38ef, 0xc00931d2,
          0xc1a98dfd},
         0x3f95bc33},
        {PTX_W_F16, {157, 0, 0}, {0x3ced, 0xbc63, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0}, 0xbe492000},
        {PTX_W_F16,
         {64, 14, 154},
         {0x3e39, 0xb91f, 0xbd4e, 0xbe65, 0xbb83, 0xbfb7, 0x3ba7, 0x385a},
         0xbe9ba000},
        {PTX_W_F16,
         {23, 190, 59},
         {0x31af, 0x3cd1, 0x24a2, 0xb590, 0x3b9b, 0x3bf0, 0x2452, 0xbd14},
         0x3dafc000},
        {PTX_W_U8, {140, 68, 144}, {0x8d, 0x18, 0x24, 0x28, 0xf8, 0xae, 0x79, 0x83}, 0x3f064b86},
        {PTX_W_S8, {60, 0, 0}, {0xaf, 0x5d, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0}, 0xbea22544},
        {PTX_W_S8, {53, 181, 184}, {0x5b, 0x6c, 0xac, 0xb4, 0x10, 0xfc, 0x9, 0xbc}, 0xbd9c6139},
        {PTX_W_U16,
         {167, 130, 0},
         {0x3d6b, 0x814b, 0x8d29, 0x2c74, 0x0, 0x0, 0x0, 0x0},
         0x3eb716b7},
        {PTX_W_S16,
         {174, 174, 98},
         {0xc5c0, 0xfdb2, 0x4d06, 0xf50a, 0x8bde, 0x30b3, 0x3723, 0x33f},
         0x3d806101},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t weights[FILTER_TEXELS], all = 0;
        ptx_filter_weights(rows[i].second, weights);
        for (uint32_t n = 0; n < FILTER_TEXELS; n++)
            all += weights[n];
        assert_int_equal(all, FILTER_ONE);
        assert_int_equal(ptx_filter_sum(rows[i].type, rows[i].texels, rows[i].second), rows[i].sum);
    }
}

static void sentence(const char *texture, const char *instruction, const char *text)
{
    struct machine *machine = machine_of(texture, instruction);
    ptx_execute(machine, test_lanes(machine, 0), AT, 1, 0, NULL);
    assert_string_equal(machine->fault_text, text);
}

static void test_sentences(void **state)
{
    (void)state;
    sentence("f32:4", "tex.1d.v4.s32.f32 {%d0, _, _, _}, [%t, {%x}];",
             "the texture holds floats, whole numbers are wanted");
    sentence("u8:4", "tex.1d.v4.f32.f32 {%d0, _, _, _}, [%t, {%x}];",
             "the texture holds whole numbers, floats are wanted");
    sentence("f32:4", "tex.2d.v4.f32.f32 {%d0, _, _, _}, [%t, {%x, %y}];",
             "the texture has another number of dimensions");
    sentence("f32:4:memory", "tex.1d.v4.f32.f32 {%d0, _, _, _}, [%t, {%x}];",
             "linear memory is fetched by whole numbers");
    sentence("f32:4x4:layers", "tex.2d.v4.f32.f32 {%d0, _, _, _}, [%t, {%x, %y}];",
             "the texture has layers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_measured),
        cmocka_unit_test(test_sentences),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
