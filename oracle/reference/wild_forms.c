/*
 * wild_forms.c - what each subject is: its program, made once more from the kernel by the steps that its name says, and
 * the options of its machine; and which kernels it refuses, by what stands in them.
 */
#include "oracle/reference/wild.h"

#include "engine/crs/crs.h"
#include "engine/forms/lower.h"
#include "engine/forms/lower_cfg.h"
#include "engine/forms/normalise.h"
#include "engine/forms/predicate.h"
#include "engine/input/input.h"
#include "engine/language/walk.h"
#include "engine/reference/ref_flow.h"
#include "engine/to_ptx/lower_ptx.h"

#include <string.h>

/* ---- what a name says ---- */

enum { KEPT = 128 };

enum made { CORE, BLOCKS, PREDICATED, LOCKSTEP };

static const struct said {
    const char *name;
    enum made made;
    bool anchored, then_first, appendix;
    unsigned without; /* of the normal form */
    struct predicate_options transform;
    struct machine_options options;
} said[] = {
    {"threads", .made = CORE},
    {"simt", .made = CORE},
    {"simt:then-first", .made = CORE, .options.then_first = true},
    {"convergence", .made = CORE},
    {"interleave", .made = BLOCKS},
    {"interleave:literal", .made = BLOCKS, .options.literal = true},
    {"interleave:raw", .made = BLOCKS, .options = {.literal = true, .raw_goto = true}},
    {"interleave:no-final", .made = BLOCKS, .without = NORMALISE_FINAL},
    {"interleave:f1", .made = BLOCKS, .without = NORMALISE_FINAL, .options.barrier_f1 = true},
    {"interleave:appendix-loops", .made = BLOCKS, .appendix = true},
    {"interleave:anchored", .made = BLOCKS, .anchored = true},
    {"predicated", .made = PREDICATED},
    {"predicated:no-early", .made = PREDICATED, .transform.no_early = true},
    {"lockstep", .made = LOCKSTEP},
    {"lockstep:no-early", .made = LOCKSTEP, .transform.no_early = true},
    {"lockstep:paper-entry", .made = LOCKSTEP, .without = NORMALISE_ENTRY,
     .transform.entry_in_start = true},
    {"lockstep:one-loop", .made = LOCKSTEP, .transform.one_loop = true},
    {"lockstep:vacuous-sync", .made = LOCKSTEP, .options.vacuous_sync = true},
    {"lockstep:anchored", .made = LOCKSTEP, .anchored = true},
    {"lockstep:anchored:then-first", .made = LOCKSTEP, .anchored = true, .then_first = true},
};

/* NULL: it runs PTX. */
static const struct said *said_of(const char *name)
{
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (strcmp(said[i].name, name) == 0)
            return &said[i];
    return NULL;
}

/* Of PTX: one rule other than the usual ones, of the branch unit or of barriers, where a name has a colon. */
static const char *ptx_options_differ(const struct subject_info *s)
{
    static const struct {
        const char *name;
        uint32_t options;
    } barriers[] = {{"crs:exit-arrives", BLOCK_EXIT_ARRIVES},
                    {"crs:all-warps", BLOCK_ALL_WARPS},
                    {"crs:aligned", BLOCK_ALIGNED},
                    {"crs:lanes", BLOCK_LANES},
                    {"crs:late", BLOCK_LATE},
                    {"block:eager", BLOCK_EAGER}};
    struct machine_options plain = s->options;
    uint32_t expected = 0;
    for (size_t i = 0; i < sizeof barriers / sizeof *barriers; i++)
        if (strcmp(barriers[i].name, s->name) == 0)
            expected = barriers[i].options;
    const int switches = __builtin_popcount(s->options.crs_switches);
    const bool has_switch = strchr(s->name, ':') && expected == 0;
    const int most = strcmp(s->name, "crs:patent") == 0 ? 6 : has_switch;
    plain.crs_switches = plain.block_options = 0;
    const struct machine_options none = {0};
    if (s->options.block_options != expected || switches != most ||
        memcmp(&plain, &none, sizeof none) != 0)
        return "options of the subject";
    return NULL;
}

/* ---- its program ---- */

static const struct ast_kernel *make(struct arena *arena, const struct ast_kernel *kernel,
                                     const struct said *s)
{
    const char *why;
    struct predicate_options transform = s->transform;
    if (kernel->form == FORM_LOCKSTEP)
        return kernel;
    if (kernel->form == FORM_BLOCKS && s->anchored) /* it is not lowered again */
        return NULL;
    if (kernel->form == FORM_STRUCTURED)
        kernel = lower_core(arena, kernel);
    if (s->made == CORE)
        return kernel;
    if (kernel->form == FORM_STRUCTURED) {
        const struct lower_cfg_options how = {.anchored = s->anchored, .then_first = s->then_first};
        kernel = lower_cfg(arena, kernel, &how, &why);
    }
    if (kernel)
        kernel = normalise(arena, kernel, NORMALISE_ALL & ~s->without, &why);
    if (!kernel || s->made == BLOCKS)
        return kernel;
    if (!program_compile(arena, kernel, &why)) /* which numbers its blocks */
        return NULL;
    return s->made == LOCKSTEP ? lockstep_form(arena, kernel, &transform, &why)
                               : predicate(arena, kernel, &transform, &why);
}

/* ---- what all forms keep ---- */

/* Statements that stay what they are: their kinds and places, once each. */
struct kept {
    uint32_t count;
    struct kept_statement {
        enum ast_stm_kind kind;
        struct location at;
    } of[KEPT];
    bool too_many, jumps;
};

static bool has(const struct kept *k, const struct kept_statement *s)
{
    for (uint32_t i = 0; i < k->count; i++)
        if (k->of[i].kind == s->kind && k->of[i].at.line == s->at.line &&
            k->of[i].at.column == s->at.column)
            return true;
    return false;
}

static bool keep(void *context, const struct ast_stm *s)
{
    static const uint64_t kinds = 1u << STM_MEMBAR | 1u << STM_BARRIER | 1u << STM_ATOMIC |
                                  1u << STM_ASSERT | 1u << STM_VOTE | 1u << STM_HAVOC;
    struct kept *k = context;
    const struct kept_statement own = {s->kind, s->at};
    k->jumps |= ast_is(s, STM_JUMP);
    if (!(kinds >> s->kind & 1) || s->at.line == 0 || has(k, &own))
        return false;
    k->too_many = k->count == KEPT;
    if (!k->too_many)
        k->of[k->count++] = own;
    return k->too_many;
}

/* A form has what its kernel has, and nothing else. Where some statement may never be reached blocks need not have it;
 * they have barriers of their own. */
static const char *kept_differs(struct arena *arena, const struct ast_kernel *kernel,
                                const struct ast_kernel *form)
{
    struct kept *all = ARENA_NEW(arena, struct kept), *own = ARENA_NEW(arena, struct kept);
    const struct ast_question of_all = {.statement = keep, .context = all};
    const struct ast_question of_own = {.statement = keep, .context = own};
    if (ast_ask_kernel(&of_all, kernel) || ast_ask_kernel(&of_own, form))
        return NULL;
    const bool is_core = form->form == FORM_STRUCTURED;
    const bool must = is_core || !(kernel->functions || all->jumps);
    for (uint32_t i = 0; i < all->count; i++)
        if (must && (is_core || all->of[i].kind != STM_BARRIER) && !has(own, &all->of[i]))
            return "a statement that the form must keep";
    for (uint32_t i = 0; i < own->count; i++)
        if ((is_core || own->of[i].kind != STM_BARRIER) && !has(all, &own->of[i]))
            return "a statement of the form that the kernel has not";
    return NULL;
}

const char *wild_form_differs(struct arena *arena, const struct ast_kernel *kernel,
                              enum subject_id subject, const struct form *made)
{
    const struct subject_info *info = &subject_table[subject];
    const struct said *s = said_of(info->name);
    if (!s)
        return ptx_options_differ(info);
    if (memcmp(&s->options, &info->options, sizeof s->options) != 0)
        return "options of the subject";
    const struct ast_kernel *own = make(arena, kernel, s);
    if (!own != !made->kernel)
        return "whether the subject has a form of the kernel";
    if (own && strcmp(print_kernel(arena, own), print_kernel(arena, made->kernel)) != 0)
        return "the form that the subject runs";
    if (made->program && made->program->appendix_loops != s->appendix)
        return "by which loops the subject counts";
    return own ? kept_differs(arena, kernel, made->kernel) : NULL;
}

/* ---- what it refuses ---- */

/* What stands somewhere in a list of statements. */
struct found {
    bool votes, named, chooses, gives, exits;
};

static bool is_private_scalar(const struct ast_lvalue *place)
{
    return !place->index && place->var->space > SPACE_SHARED;
}

static void look(const struct ast_stm *list, struct found *found)
{
    for (const struct ast_stm *s = list; s; s = s->next) {
        found->votes |= s->kind == STM_VOTE;
        found->exits |= s->kind == STM_EXIT;
        found->named |= s->kind == STM_SYNC || s->kind == STM_ARRIVE;
        found->chooses |= s->kind == STM_HAVOC || s->kind == STM_ASSUME;
        found->gives |= s->kind == STM_ATOMIC && s->target.var && !is_private_scalar(&s->target);
        look(s->init, found);
        look(s->step, found);
        look(s->body, found);
        look(s->other, found);
        for (const struct ast_case *c = s->cases; c; c = c->next)
            look(c->body, found);
    }
}

/* Each block is reached, and the graph is reducible; true where that is not asked. */
static bool is_graph(struct arena *arena, const struct ast_function *function)
{
    enum { MOST = 16 };
    const struct ast_block *blocks[MOST];
    uint32_t count = 0, most[MOST + 1] = {0};
    for (const struct ast_block *b = function->blocks; b && count < MOST; b = b->next) {
        most[count] = b->target_count;
        blocks[count++] = b;
    }
    struct ref_flow *flow = ref_flow_new(arena, count + 1, most);
    for (uint32_t b = 0; b < count; b++)
        for (uint32_t i = 0; i < most[b]; i++) {
            uint32_t to = 0;
            while (to < count && blocks[to] != blocks[b]->targets[i])
                to++;
            ref_flow_add(flow, b, to);
        }
    for (uint32_t b = 0; b < count; b++)
        if (!ref_flow_reaches(flow, 0, b, REF_FLOW_NONE))
            return false;
    return ref_flow_reducible(flow, arena);
}

static void look_at_blocks(const struct ast_function *function, struct found *found)
{
    for (const struct ast_block *b = function->blocks; b; b = b->next)
        look(b->body, found);
}

/* Of kernels that are given as graphs. */
static const char *graph_refusal_differs(struct arena *arena, const struct ast_kernel *kernel,
                                         const struct said *s, const char *refused)
{
    struct found found = {.votes = false};
    bool all = is_graph(arena, kernel->main);
    look_at_blocks(kernel->main, &found);
    for (const struct ast_function *f = kernel->functions; f; f = f->next) {
        all = all && is_graph(arena, f);
        look_at_blocks(f, &found);
    }
    const bool must = found.gives || (!all && kernel->form == FORM_BLOCKS);
    /* What is given as blocks is not lowered again; a procedure that returns in no single place has no pi. */
    const bool may = must || (kernel->form == FORM_BLOCKS &&
                              (s->anchored || (kernel->functions && s->made > BLOCKS)));
    if (refused && !may)
        return arena_printf(arena, "a graph is refused: %s", refused);
    return must && !refused ? "a graph runs that should be refused" : NULL;
}

const char *wild_refusal_differs(struct arena *arena, const struct ast_kernel *kernel,
                                 enum subject_id subject, const char *refused)
{
    const struct subject_info *info = &subject_table[subject];
    const struct said *s = said_of(info->name);
    struct found in_main = {.votes = false}, in_functions = {.votes = false};
    if (kernel->form != FORM_STRUCTURED)
        return graph_refusal_differs(arena, kernel, s, refused);
    look(kernel->main->body, &in_main);
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        look(f->body, &in_functions);
    const bool lanes = !s ? info->vtable->actors == ACTORS_WARPS
                          : s->made == CORE && strcmp(info->name, "threads") != 0;
    const bool must = s ? in_main.named || (in_main.votes && !lanes)
                        : in_main.chooses || (in_main.votes && !lanes);
    /* Of functions that nobody calls some are looked at, and some are not; one that calls itself becomes a procedure,
     * of which no exit leads. */
    const struct found *in = &in_functions;
    const bool may = must || (in->votes && !lanes) ||
                     (s ? in->named || (in->exits && s->made > CORE) : in->chooses);
    if (must && !refused)
        return "a kernel runs that has what the subject has no rule for";
    if (refused && !may && strncmp(refused, "more ", 5) != 0)
        return arena_printf(arena, "a kernel is refused: %s", refused);
    return NULL;
}
