#include "fuzz/gen/generator.h"

#include "engine/base/invariant.h"

#include <string.h>

const struct gen_row gen_rows[W_COUNT] = {
#define WEIGHT(group, item, weight, small, feature)                                                \
    [W_##group##_##item] = {#group " " #item, weight, small, GROUP_##group, FEATURE_##feature},
#include "fuzz/gen/features.def"
};

static const uint32_t group_first[GROUP_COUNT + 1] = {
#define GROUP(group) [GROUP_##group] = W_##group##_FIRST,
#include "fuzz/gen/features.def"
    [GROUP_COUNT] = W_COUNT,
};

static const char *const feature_names[FEATURE_COUNT] = {
#define FEATURE(id, name, group_default, sentence) [FEATURE_##id] = name,
#include "fuzz/gen/features.def"
};

enum {
    FEATURES_DEFAULT = 0
#define FEATURE(id, name, group_default, sentence) | (group_default ? 1 << FEATURE_##id : 0)
#include "fuzz/gen/features.def"
    ,
    FEATURES_ALL = (1 << FEATURE_COUNT) - 1,
    FEATURES_PORTABLE = 1 << FEATURE_LOOPS | 1 << FEATURE_SWITCH | 1 << FEATURE_CALLS |
                        1 << FEATURE_EXIT | 1 << FEATURE_LEADER | 1 << FEATURE_COPIES |
                        1 << FEATURE_INPUTS | 1 << FEATURE_ARRAYS | 1 << FEATURE_LOGIC |
                        1 << FEATURE_ARITHMETIC | 1 << FEATURE_BLOCKS | 1 << FEATURE_BARRIERS |
                        1 << FEATURE_ATOMICS
};
_Static_assert((unsigned)FEATURES_ALL < GEN_UNIFORM, "profiles lie beside the features");

/* Sets of features that have a name. */
static const struct {
    const char *name;
    uint32_t features;
} profiles[] = {{"none", 0},
                {"portable", GEN_PORTABLE | (uint32_t)FEATURES_PORTABLE},
                {"portable-uniform", GEN_PORTABLE | GEN_UNIFORM | (uint32_t)FEATURES_PORTABLE}};

enum { PROFILES = sizeof profiles / sizeof profiles[0] };

const struct gen_options GEN_DEFAULTS = {.features = FEATURES_DEFAULT};

/* ---- options ---- */

static bool parse_profile(const char *text, size_t length, uint32_t *features)
{
    for (uint32_t i = 0; i < PROFILES; i++)
        if (strlen(profiles[i].name) == length && memcmp(profiles[i].name, text, length) == 0)
            return *features = profiles[i].features, true;
    return false;
}

static bool parse_feature(const char *text, size_t length, uint32_t *features)
{
    if (parse_profile(text, length, features))
        return true;
    bool removes = length > 0 && *text == '-';
    const char *name = text + removes;
    size_t name_length = length - removes;
    uint32_t bits = 0;
    if (name_length == 3 && memcmp(name, "all", 3) == 0)
        bits = FEATURES_ALL;
    for (uint32_t i = 0; i < FEATURE_COUNT; i++)
        if (strlen(feature_names[i]) == name_length &&
            memcmp(feature_names[i], name, name_length) == 0)
            bits = 1u << i;
    if (bits == 0)
        return false;
    *features = removes ? *features & ~bits : *features | bits;
    return true;
}

bool gen_parse_features(const char *text, uint32_t *features, const char **error_at)
{
    *features = FEATURES_DEFAULT;
    while (*text) {
        size_t length = strcspn(text, ",");
        if (!parse_feature(text, length, features)) {
            *error_at = text;
            return false;
        }
        text += length;
        text += *text == ',';
    }
    return true;
}

char *gen_print_features(struct arena *arena, uint32_t features)
{
    uint32_t profile = features & GEN_UNIFORM ? 2u : features & GEN_PORTABLE ? 1u : 0u;
    if (features == (uint32_t)FEATURES_ALL)
        return arena_strndup(arena, "all", 3);
    char *text = arena_printf(arena, "%s", profiles[profile].name);
    for (uint32_t i = 0; i < FEATURE_COUNT; i++)
        if ((features ^ profiles[profile].features) & 1u << i)
            text = arena_printf(arena, "%s,%s%s", text, features & 1u << i ? "" : "-",
                                feature_names[i]);
    return text;
}

/* ---- draws ---- */

uint32_t gen_pick(struct gen *g, enum gen_group group, uint32_t banned)
{
    uint32_t first = group_first[group], count = group_first[group + 1] - first;
    const uint16_t *weights = &g->weights[first];
    uint16_t possible[GEN_GROUP_MAX];
    INVARIANT(count <= GEN_GROUP_MAX);
    if (banned) {
        for (uint32_t i = 0; i < count; i++)
            possible[i] = banned >> i & 1 ? 0 : weights[i];
        weights = possible;
    }
    uint32_t item = first + source_weighted(g->source, weights, count);
    if (g->hits)
        g->hits[item]++;
    return item;
}

/* What some language cannot say, or what ends otherwise than by termination. */
static void restrict_weights(struct gen *g)
{
    g->weights[W_FUNCTION_RECURSIVE] = g->weights[W_RARE_DEEP] = 0;
    g->weights[W_EDGE_BLOCKS] = g->weights[W_EDGE_LANES] = g->weights[W_EDGE_WARPS] = 0;
    g->weights[W_POSITION_GROUP] = g->weights[W_POSITION_DIVERGENT] = 0;
    /* What ends in a function leaves nothing to be seen behind its call. */
    if (g->features & GEN_UNIFORM)
        g->weights[W_STM_FUNCTION_EXIT] = 0;
}

static void set_weights(struct gen *g)
{
    for (uint32_t i = 0; i < W_COUNT; i++) {
        const struct gen_row *row = &gen_rows[i];
        bool possible = row->feature == FEATURE_ALWAYS || (g->features >> row->feature & 1);
        g->weights[i] = !possible ? 0 : g->options->small ? row->small : row->weight;
    }
    if (g->options->weights)
        gen_scale_weights(g->options->weights, g->options->small, g->weights);
    if (g->features & GEN_PORTABLE)
        restrict_weights(g);
}

/* Each weight times 0.5 to 2: in sixteenths, since only proportions count. None becomes 0. */
static void shuffle_weights(struct gen *g)
{
    for (uint32_t i = 0; i < W_COUNT; i++)
        g->weights[i] = (uint16_t)(g->weights[i] * (8 + gen_below(g, 25)));
}

/* One group for certain, others sometimes. */
static void drop_features(struct gen *g)
{
    uint32_t enabled[FEATURE_COUNT], count = 0;
    for (uint32_t i = 0; i < FEATURE_COUNT; i++)
        if (g->features >> i & 1)
            enabled[count++] = i;
    if (count == 0)
        return;
    g->features &= ~(1u << enabled[gen_below(g, count)]);
    for (uint32_t i = 0; i < count; i++)
        if (gen_chance(g, 12))
            g->features &= ~(1u << enabled[i]);
    set_weights(g);
}

bool gen_ptx_only(const struct gen_options *options)
{
    const uint32_t forms = 1u << FEATURE_CRS | 1u << FEATURE_KNOWN;
    return options->features & forms && !(options->features & ~(forms | 1u << FEATURE_LOOSE));
}

bool gen_instructions_only(const struct gen_options *options)
{
    uint32_t most = 1u << FEATURE_INSTRUCTIONS | 1u << FEATURE_BARRIERS | 1u << FEATURE_BLOCKS |
                    1u << FEATURE_ARITHMETIC;
    return options->features >> FEATURE_INSTRUCTIONS & 1 && !(options->features & ~most);
}

bool gen_has_tiny(const struct gen_options *options)
{
    return !(gen_ptx_only(options) || gen_instructions_only(options)) ||
           (options->features >> FEATURE_CRS & 1);
}

void gen_draw_weights(struct gen *g)
{
    /* Programs of instructions are whole cases, and no kernel's matter. */
    g->features = g->options->features & ~(1u << FEATURE_INSTRUCTIONS);
    set_weights(g);
    if (g->options->fixed || g->options->small || g->options->spin)
        return;
    switch (gen_pick(g, GROUP_MIX, 0)) {
    case W_MIX_SHUFFLED:
        shuffle_weights(g);
        break;
    case W_MIX_DROPPED:
        if (!gen_ptx_only(g->options))
            drop_features(g);
        break;
    default:
        break;
    }
}

/* What is left out of kernels for few threads. */
static uint32_t unless_few(const struct gen *g, uint32_t banned)
{
    return g->options->few || g->options->brief ? banned : 0;
}

/* ---- launch ---- */

static uint32_t draw_warp(struct gen *g)
{
    static const uint32_t odd[] = {3, 5, 7, 6, 13};
    const uint32_t long_ones = GEN_BAN(WARP, 8) | GEN_BAN(WARP, 16) | GEN_BAN(WARP, 32) |
                               GEN_BAN(WARP, WIDE) | GEN_BAN(WARP, ODD);
    switch (gen_pick(g, GROUP_WARP, unless_few(g, long_ones))) {
    case W_WARP_2:
        return 2;
    case W_WARP_4:
        return 4;
    case W_WARP_8:
        return 8;
    case W_WARP_16:
        return 16;
    case W_WARP_32:
        return 32;
    case W_WARP_WIDE:
        return 33 + gen_below(g, 32);
    case W_WARP_ODD:
        return g->options->small ? 3 : odd[gen_below(g, 5)];
    default:
        return 1;
    }
}

static uint32_t draw_threads(struct gen *g, uint32_t warp)
{
    if (g->options->small)
        return 2 + gen_below(g, GEN_SMALL_THREADS - 1);
    const uint32_t many = GEN_BAN(WARPS, 3) | GEN_BAN(WARPS, MORE);
    uint32_t warps = gen_pick(g, GROUP_WARPS, unless_few(g, many)) - W_WARPS_1 + 1;
    if (warps > 3)
        warps += gen_below(g, 3);
    uint32_t threads = warp * warps;
    if (gen_pick(g, GROUP_TAIL, warp == 1 ? GEN_BAN(TAIL, PARTIAL) : 0) == W_TAIL_PARTIAL)
        threads -= 1 + gen_below(g, warp - 1);
    return threads;
}

/* As many blocks as there may be, lanes in a warp, warps of one thread. */
static bool draw_edge(struct gen *g, struct ast_launch *launch)
{
    launch->warp = launch->threads = launch->blocks = 1;
    switch (gen_pick(g, GROUP_EDGE, 0)) {
    case W_EDGE_BLOCKS:
        launch->blocks = LIMIT_BLOCKS;
        launch->warp = launch->threads = 1 + gen_below(g, 2);
        return true;
    case W_EDGE_LANES:
        launch->warp = LIMIT_WARP;
        launch->threads = gen_chance(g, 50) ? LIMIT_WARP : 2 * LIMIT_WARP - gen_below(g, 2);
        return true;
    case W_EDGE_WARPS:
        launch->threads = 33 + gen_below(g, 96);
        return true;
    default:
        return false;
    }
}

/* Totals stay moderate: what 64 threads don't show, 128 hardly will. */
static void draw_launch(struct gen *g)
{
    struct ast_launch *launch = &g->kernel->launch;
    if (!g->options->small && unless_few(g, 1) == 0 && draw_edge(g, launch)) {
        launch->seed = gen_below(g, 1u << 16);
        g->total_threads = launch->threads * launch->blocks;
        return;
    }
    launch->warp = draw_warp(g);
    launch->threads = draw_threads(g, launch->warp);
    launch->blocks = gen_pick(g, GROUP_BLOCKS, unless_few(g, GEN_BAN(BLOCKS, 3))) - W_BLOCKS_1 + 1;
    if (!g->options->small) {
        uint32_t most = gen_chance(g, 8) || launch->warp > 32 ? 128 : 64;
        while (launch->threads * launch->blocks > most) {
            if (launch->threads > launch->warp && (launch->blocks == 1 || gen_chance(g, 50)))
                launch->threads -= launch->warp;
            else
                launch->blocks--;
        }
        launch->seed = gen_below(g, 1u << 16);
    }
    g->total_threads = launch->threads * launch->blocks;
}

/* ---- variables ---- */

static const char *new_name(struct gen *g, char prefix)
{
    char text[8];
    size_t length = 0;
    uint32_t number = g->names++;
    text[length++] = prefix;
    if (number >= 100)
        text[length++] = (char)('0' + number / 100 % 10);
    if (number >= 10)
        text[length++] = (char)('0' + number / 10 % 10);
    text[length++] = (char)('0' + number % 10);
    INVARIANT(number < 1000);
    return arena_strndup(g->arena, text, length);
}

struct ast_var *gen_file_var(struct gen *g, char prefix, enum ast_space space, uint32_t length,
                             bool is_array)
{
    struct ast_var *var = ast_var(g->arena, new_name(g, prefix), space, length, is_array);
    *g->vars_end = var;
    g->vars_end = &var->next;
    return var;
}

struct ast_var *gen_local(struct gen *g, char prefix)
{
    if (!g->scope->locals_end)
        return gen_file_var(g, prefix, SPACE_PRIVATE, 1, false);
    struct ast_var *var = ast_var(g->arena, new_name(g, prefix), SPACE_LOCAL, 1, false);
    *g->scope->locals_end = var;
    g->scope->locals_end = &var->next;
    return var;
}

void gen_initialise(struct gen *g, struct ast_var *var, uint32_t bound)
{
    var->init_count = var->length;
    var->init = ARENA_ARRAY(g->arena, int32_t, var->length);
    for (uint32_t i = 0; i < var->length; i++)
        var->init[i] = (int32_t)gen_below(g, bound);
}

/* So many of 100 have first values; an array, of a part of its elements at times. */
static void initialise_some(struct gen *g, struct ast_var *var, uint32_t percent)
{
    if (g->options->small || var->is_input || !gen_chance(g, percent))
        return;
    gen_initialise(g, var, 8);
    if (var->is_array && gen_chance(g, 50))
        var->init_count = 1 + gen_below(g, var->length);
}

struct ast_var *gen_scalar(struct gen *g)
{
    struct ast_var *var = gen_local(g, 'x');
    initialise_some(g, var, 30);
    return var;
}

static uint32_t power_of_two(uint32_t least)
{
    uint32_t power = 2;
    while (power < least)
        power *= 2;
    return power;
}

static enum ast_space draw_space(struct gen *g)
{
    return gen_has(g, FEATURE_BLOCKS) && gen_chance(g, 35) ? SPACE_GLOBAL : SPACE_SHARED;
}

static void declare_slot(struct gen *g, enum ast_space space, bool plain)
{
    bool is_global = space == SPACE_GLOBAL;
    uint32_t threads = is_global ? g->total_threads : g->kernel->launch.threads;
    struct gen_slot *slot =
        is_global ? &g->global[g->global_count++] : &g->shared[g->shared_count++];
    uint32_t length = power_of_two(threads);
    slot->permute = plain ? W_PERMUTE_IDENTITY : gen_pick(g, GROUP_PERMUTE, 0);
    slot->constant = slot->permute == W_PERMUTE_IDENTITY ? 0 : gen_below(g, length);
    slot->wide = !plain && gen_has(g, FEATURE_ARRAYS) && gen_chance(g, 25);
    slot->var = gen_file_var(g, is_global ? 'g' : 's', space, length * (slot->wide ? 2 : 1), true);
    slot->var->is_input = !plain && gen_has(g, FEATURE_INPUTS) && gen_chance(g, 25);
    initialise_some(g, slot->var, 10);
}

static void declare_slots(struct gen *g)
{
    bool none = g->communication == W_COMMUNICATION_NONE, small = g->options->small;
    if (!none || !gen_has(g, FEATURE_BLOCKS))
        declare_slot(g, SPACE_SHARED, none || small);
    if (small)
        return;
    if (!none && gen_chance(g, 40))
        declare_slot(g, SPACE_SHARED, false);
    if (gen_has(g, FEATURE_BLOCKS))
        declare_slot(g, SPACE_GLOBAL, none || gen_chance(g, 70));
}

/* Inputs have values of the case's seed, tables have 0s and 1s or small numbers. */
static void declare_inputs(struct gen *g)
{
    g->input_count = 1 + gen_below(g, 3);
    for (uint32_t i = 0; i < g->input_count; i++) {
        enum ast_space space = draw_space(g);
        uint32_t threads = space == SPACE_GLOBAL ? g->total_threads : g->kernel->launch.threads;
        uint32_t length = gen_chance(g, 30) ? 4u << gen_below(g, 2) : power_of_two(threads);
        g->inputs[i] = gen_file_var(g, 'c', space, length, true);
        if (gen_chance(g, 30))
            gen_initialise(g, g->inputs[i], 2u << gen_below(g, 2));
        else
            g->inputs[i]->is_input = true;
    }
}

/* Elements of an array of each thread: seldom so many that a loop initialises them where it is compiled. */
static uint32_t own_length(struct gen *g, uint32_t ways)
{
    return !(g->features & GEN_PORTABLE) && gen_chance(g, 4) ? 32 : 2u << gen_below(g, ways);
}

void gen_local_array(struct gen *g)
{
    if (g->options->small || !gen_has(g, FEATURE_ARRAYS) || !gen_chance(g, 20))
        return;
    struct ast_var *array = gen_local(g, 'z');
    array->is_array = true;
    array->length = own_length(g, 2);
    if (gen_chance(g, 50))
        gen_initialise(g, array, 8);
    g->scope->array = array;
}

static void declare_racy(struct gen *g)
{
    bool small = g->options->small;
    g->racy_count = small ? 1 : 1 + gen_below(g, 3);
    for (uint32_t i = 0; i < g->racy_count; i++) {
        bool is_array = !small && gen_chance(g, 50);
        uint32_t length = is_array ? 2u << gen_below(g, 3) : 1;
        g->racy[i] = gen_file_var(g, 'r', small ? SPACE_SHARED : draw_space(g), length, is_array);
        initialise_some(g, g->racy[i], 20);
    }
}

static void declare_private(struct gen *g)
{
    if (gen_has(g, FEATURE_ARRAYS))
        g->array_count = gen_below(g, 3);
    for (uint32_t i = 0; i < g->array_count; i++) {
        g->arrays[i] = gen_file_var(g, 'v', SPACE_PRIVATE, own_length(g, 3), true);
        g->arrays[i]->is_input = gen_has(g, FEATURE_INPUTS) && gen_chance(g, 30);
        initialise_some(g, g->arrays[i], 20);
    }
    g->private_count = gen_below(g, 3);
    for (uint32_t i = 0; i < g->private_count; i++) {
        g->privates[i] = gen_file_var(g, 'y', SPACE_PRIVATE, 1, false);
        if (gen_has(g, FEATURE_INPUTS) && gen_chance(g, 30))
            g->privates[i]->is_input = true;
        else if (gen_chance(g, 30))
            gen_initialise(g, g->privates[i], 8);
    }
}

static void declare(struct gen *g)
{
    g->communication = gen_pick(g, GROUP_COMMUNICATION, 0);
    declare_slots(g);
    if (g->communication == W_COMMUNICATION_RACY || g->communication == W_COMMUNICATION_ATOMIC)
        declare_racy(g);
    if (g->options->small)
        return;
    if (gen_has(g, FEATURE_INPUTS))
        declare_inputs(g);
    declare_private(g);
}

const char *gen_function_name(struct gen *g)
{
    return new_name(g, 'f');
}

/* ---- the kernel's body ---- */

static void draw_size(struct gen *g)
{
    static const uint32_t targets[] = {8, 30, 100, 400};
    const uint32_t many = GEN_BAN(SIZE, 100) | GEN_BAN(SIZE, 400);
    if (g->options->small)
        g->left = (int32_t)(1 + gen_below(g, 4));
    else
        g->left = (int32_t)
            targets[g->options->brief ? 0
                                      : gen_pick(g, GROUP_SIZE, unless_few(g, many)) - W_SIZE_8];
    const uint32_t deep = GEN_BAN(DEPTH, 4) | GEN_BAN(DEPTH, 5) | GEN_BAN(DEPTH, 6);
    g->max_depth = gen_pick(g, GROUP_DEPTH, g->options->brief ? deep : 0) - W_DEPTH_2 + 2;
}

/* A case's time goes with the steps of its whole grid: many threads get shorter programs (docs/measured.md:
 * cap steps per program; width kills few mutants that depth does not). */
enum { GRID_STEPS = 4000, LEAST_STEPS = 100, GRID_STATEMENTS = 1600, LEAST_STATEMENTS = 24 };

static uint32_t fair_share(uint32_t share, uint32_t least, uint32_t wanted)
{
    if (share < least)
        share = least;
    return wanted < share ? wanted : share;
}

static void limit_size(struct gen *g)
{
    uint32_t threads = g->kernel->launch.threads * g->kernel->launch.blocks;
    uint32_t target = (uint32_t)g->left;
    if (g->options->small) {
        g->budget = 400; /* more than such a kernel can take */
        return;
    }
    g->budget = fair_share(GRID_STEPS / threads, LEAST_STEPS, 300 + 3 * target);
    g->left = (int32_t)fair_share(GRID_STATEMENTS / threads, LEAST_STATEMENTS, target);
}

/* Little beside the barrier: no race, call, jump or atomic, so that two threads can be compared with all. */
static void leave_out_others(struct gen *g)
{
    static const uint16_t others[] = {W_STM_BREAK,
                                      W_STM_CONTINUE,
                                      W_STM_RETURN,
                                      W_STM_FUNCTION_RETURN,
                                      W_STM_EXIT,
                                      W_STM_FUNCTION_EXIT,
                                      W_STM_CALL,
                                      W_STM_CALL_IF,
                                      W_STM_ATOMIC,
                                      W_STM_VOTE,
                                      W_RARE_VOTES,
                                      W_RARE_NAMED,
                                      W_RARE_DEEP,
                                      W_COMMUNICATION_RACY,
                                      W_COMMUNICATION_NEIGHBOUR,
                                      W_COMMUNICATION_ATOMIC};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        g->weights[others[i]] = 0;
    g->alone = true;
    g->kernel->launch.blocks = 1;
    g->total_threads = g->kernel->launch.threads;
    if (g->left > 12)
        g->left = 12;
}

static void draw_waits(struct gen *g)
{
    switch (gen_pick(g, GROUP_WAITS, 0)) {
    case W_WAITS_ONE:
        g->barriers = 1;
        break;
    case W_WAITS_TWO:
        g->barriers = 2;
        break;
    case W_WAITS_LOOP:
        g->barriers = 2;
        g->wants_loop = true;
        break;
    case W_WAITS_MANY:
        g->barriers = 5 + gen_below(g, 8);
        break;
    default:
        return;
    }
    g->position = gen_pick(g, GROUP_POSITION, 0);
    if (g->position == W_POSITION_DIVERGENT && !g->options->small && gen_chance(g, 50)) {
        g->apart = true;
        g->barriers = 1;
        g->wants_loop = false;
        if (gen_chance(g, 35))
            leave_out_others(g);
    }
}

/* What the threads computed, where it can be seen: in a slot of each. */
struct ast_stm *gen_store_result(struct gen *g)
{
    const struct gen_slot *slot = g->global_count ? &g->global[0] : &g->shared[0];
    struct ast_stm *stm = gen_stm(g, STM_ASSIGN);
    stm->op = ASSIGN_XOR;
    stm->target = (struct ast_lvalue){.var = slot->var, .index = gen_slot_index(g, slot)};
    stm->value = ast_var_ref(g->arena, g->scope->values[0]);
    return stm;
}

struct ast_stm *gen_structured_body(struct gen *g)
{
    struct gen_place place = {.times = 1, .uniform = true};
    struct gen_list list, rest;
    gen_list_init(&list);
    gen_list_init(&rest);
    bool all_wait = g->barriers > 0 && (g->position != W_POSITION_DIVERGENT || g->apart);
    uint32_t banned = GEN_BAN(START, EXIT) | GEN_BAN(START, RETURN) | GEN_BAN(START, REST_IF);
    uint32_t start = gen_pick(g, GROUP_START, all_wait ? banned : 0);
    if (start == W_START_EXIT || start == W_START_RETURN) {
        struct ast_stm *end = gen_stm(g, start == W_START_EXIT ? STM_EXIT : STM_RETURN);
        gen_emit(g, &place, &list, gen_if(g, gen_split(g), end, NULL));
        g->ends++;
        g->exits += start == W_START_EXIT;
    }
    bool deep = g->rare == W_RARE_DEEP, deep_first = deep && gen_chance(g, 50);
    if (deep_first)
        ast_stm_append(&list.head, gen_deep(g));
    gen_body(g, &rest, start != W_START_REST_IF);
    ast_stm_append(&list.head,
                   start == W_START_REST_IF ? gen_if(g, gen_split(g), rest.head, NULL) : rest.head);
    if (!g->options->small && !rest.ended && g->barriers > 0 && g->barriers <= 2 &&
        gen_may_wait(g, &place) && start != W_START_REST_IF) {
        struct gen_list last;
        gen_list_init(&last);
        gen_barrier(g, &place, &last);
        ast_stm_append(&list.head, last.head);
    }
    if (deep && !deep_first)
        ast_stm_append(&list.head, gen_deep(g));
    if (!g->options->small)
        ast_stm_append(&list.head, gen_store_result(g));
    return list.head;
}

void gen_declare_values(struct gen *g)
{
    struct gen_scope *scope = g->scope;
    scope->value_count = g->options->small ? 1 : 1 + gen_below(g, 3);
    for (uint32_t i = 0; i < scope->value_count; i++)
        scope->values[i] = gen_scalar(g);
    gen_local_array(g);
}

void gen_prepare(struct gen *g)
{
    draw_size(g);
    draw_launch(g);
    limit_size(g);
    draw_waits(g);
    /* Those below exch and cas do not show in which order they come. */
    g->quiet_atomic = ATOMIC_COUNT;
    if (gen_has(g, FEATURE_ATOMICS) && (g->features & GEN_PORTABLE || gen_chance(g, 60)))
        g->quiet_atomic = (enum ast_atomic)gen_below(g, ATOMIC_EXCH);
    g->private_atomics = !g->options->small && !(g->features & GEN_PORTABLE) && gen_chance(g, 10);
    declare(g);
}
