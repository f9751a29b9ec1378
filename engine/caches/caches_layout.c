/*
 * caches_layout.c - how large caches are, and where they and the operations in flight lie in the machine's block.
 */
#include "engine/caches/caches_internal.h"
#include "engine/crs/crs.h"

static uint32_t power(uint64_t draw, uint32_t most)
{
    return 1u << draw % (most + 1);
}

/* Small caches have more behaviour than large ones: what is not said is drawn by the case's seed. */
static void draw_sizes(struct caches *c, const struct program *program)
{
    uint64_t draw = pcg_splitmix(program->launch.seed ^ 0x63616368);
    const struct memory_options *o = &c->options;
    const struct cache_sizes *stated = &program->launch.caches;
    c->words = o->words ? o->words : stated->words ? stated->words : power(draw, 3);
    c->lines = o->lines ? o->lines : stated->lines ? stated->lines : power(draw >> 8, 2);
    c->sms = o->sms ? o->sms : stated->sms ? stated->sms : power(draw >> 16, 1);
    c->sets = o->sets ? o->sets : stated->sets;
    if (stated->policy)
        c->options.policy = (uint8_t)(stated->policy - 1);
    if (c->sms > program->launch.blocks && !o->placed)
        c->sms = program->launch.blocks;
}

bool caches_needs_two(const struct ptx_code *code)
{
    for (uint32_t pc = 1; pc < code->count; pc++) {
        const struct ptx_op *op = &code->ops[pc];
        bool accesses =
            op->exec == PTX_EXEC_LD || op->exec == PTX_EXEC_ST || op->exec == PTX_EXEC_ATOM;
        if (accesses && op->space != PTX_W_CONST && op->bytes == 8)
            return true;
    }
    return false;
}

/* The largest element of an access is not divided between lines; and lines that one access of a lane may touch. */
static uint32_t lines_an_access(struct caches *c, const struct program *program)
{
    uint32_t most = 1;
    if (c->words < 2 && caches_needs_two(program->ptx))
        c->words = 2;
    for (uint32_t pc = 1; pc < program->ptx->count; pc++) {
        const struct ptx_op *op = &program->ptx->ops[pc];
        bool vector = op->exec == PTX_EXEC_LD || op->exec == PTX_EXEC_ST;
        uint32_t lines = vector ? (op->bytes * op->count + 4 * c->words - 1) / (4 * c->words) : 1;
        most = lines > most ? lines : most;
    }
    return most;
}

/* The most values that a lane's store or atomic has. */
static uint32_t operands(const struct program *program)
{
    uint32_t most = 0;
    for (uint32_t pc = 1; pc < program->ptx->count; pc++) {
        const struct ptx_op *op = &program->ptx->ops[pc];
        uint32_t own = op->exec == PTX_EXEC_ATOM ? 2 : op->exec == PTX_EXEC_ST ? op->count : 0;
        most = own > most ? own : most;
    }
    return most;
}

struct caches caches_shape(const struct semantics *base, const struct program *program,
                           const struct machine_options *options)
{
    struct caches c = {.base = base, .options = options->memory};
    bool warps = base->actors == ACTORS_WARPS;
    c.options.strong |= c.options.profile == MEMORY_COHERENT;
    c.options.before |= c.options.profile == MEMORY_COHERENT;
    c.lanes = warps ? program->launch.warp : 1;
    draw_sizes(&c, program);
    uint32_t each = lines_an_access(&c, program);
    c.sets = c.sets && c.sets <= c.lines ? c.sets : 1;
    c.ways = c.lines / c.sets;
    c.lines = c.ways * c.sets;
    c.l2_lines = !c.options.full ? 0 : c.options.l2_lines ? c.options.l2_lines : 4 * c.lines;
    c.slots = c.lanes * (each > 2 ? each : 2);
    if (c.options.slots > c.lanes * each)
        c.slots = c.options.slots;
    c.line_words = (uint32_t)sizeof(struct cache_line) / 4 + c.words;
    c.slot_words =
        ((uint32_t)sizeof(struct memory_slot) / 4 + c.words + (c.lanes + 3) / 4 + 1) & ~1u;
    c.operands = c.options.placed ? operands(program) : 0;
    c.slot_words += 2 * c.operands * c.lanes;
    return c;
}

static uint32_t *take(uint32_t **words, size_t count)
{
    uint32_t *at = *words;
    *words += (count + 1) & ~(size_t)1;
    return at;
}

static uint32_t *lay_out(struct caches *c, const struct program *program, uint32_t *words)
{
    uint32_t actors = c->base->actor_count(program);
    c->live = take(&words, actors + 1);
    c->ready = take(&words, actors);
    c->in_flight = take(&words, actors);
    c->fence = (lane_mask *)(void *)take(&words, 2 * (size_t)actors);
    c->locks = take(&words, program->launch.blocks);
    c->sm = take(&words, c->options.placed ? program->launch.blocks : 0);
    c->slot = take(&words, (size_t)actors * c->slots * c->slot_words);
    c->l1 = take(&words, (size_t)c->sms * c->lines * c->line_words);
    c->l2 = take(&words, (size_t)c->l2_lines * c->line_words);
    return words;
}

uint32_t caches_state_words(const struct caches *c, const struct program *program)
{
    struct caches copy = *c;
    uint32_t none;
    return (uint32_t)(lay_out(&copy, program, &none) - &none);
}

void caches_place(struct caches *c, const struct program *program, uint32_t *words)
{
    (void)lay_out(c, program, words);
    if (!c->options.full)
        c->l2 = NULL;
    if (!c->options.placed)
        c->sm = NULL;
}

struct ptx_lanes *caches_lanes(const struct machine *machine, uint32_t actor)
{
    const struct ptx_lanes *lanes = machine->semantics->actors == ACTORS_WARPS
                                        ? crs_warp(machine, actor).lanes
                                        : cta_thread(machine, actor).lanes;
    return (struct ptx_lanes *)(void *)(machine->block +
                                        ((const uint32_t *)lanes - machine->block));
}

uint32_t caches_sm(const struct machine *machine, const struct caches *c, uint32_t actor)
{
    if (c->sms == 1)
        return 0;
    uint32_t block = (uint32_t)(machine_group_of(machine, actor) - machine->groups);
    return c->sm ? c->sm[block] : block % c->sms;
}

static const struct ptx_region *region_at(const struct ptx_regions *regions, uint32_t word)
{
    for (uint32_t i = 0; i < regions->count; i++)
        if (word - regions->items[i].word < (regions->items[i].bytes + 3) / 4)
            return &regions->items[i];
    return NULL;
}

/* Lines go by addresses, and variables lie in memory one behind the other however they are aligned. So a line has some
 * words of a neighbour, which nobody looks at there: who accesses these has them in a line of their own. */
uint32_t caches_line_of(const struct machine *machine, const struct caches *c, uint32_t word)
{
    const struct program *program = machine->program;
    uint32_t own = word, address = word;
    const struct ptx_region *region = NULL;
    switch ((unsigned)caches_space(program, word)) {
    case SPACE_GLOBAL:
        region = region_at(&program->ptx->global, word);
        break;
    case SPACE_SHARED:
        own = (word - program->shared_base) % program->words[SPACE_SHARED];
        region = region_at(&program->ptx->shared, own);
        break;
    default:
        address = (word - program->frame_base) % program->words[SPACE_LOCAL];
    }
    if (region)
        address = (uint32_t)(region->address / 4) + own - region->word;
    return word - (address & (c->words - 1));
}

enum ast_space caches_space(const struct program *program, uint32_t word)
{
    if (word < program->shared_base)
        return SPACE_GLOBAL;
    return word < program->private_base ? SPACE_SHARED : SPACE_LOCAL;
}
