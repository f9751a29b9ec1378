/*
 * searches_machines.c - subjects of which the reference does not take all executions: their searches against the
 * plainest one, which leaves nothing out but states that it has seen; and that one against all executions of threads.
 *
 * The kernel is structured, and lowered, or a list of accesses that is printed as PTX, too. Of the latter, and of
 * lowered ones whose warps have one lane, all ends are those of `threads`; over caches these are among them.
 */
#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "engine/search/search_symmetry.h"
#include "oracle/searches/diamonds.h"
#include "oracle/searches/searches.h"
#include "oracle/searches/searches_bounds.h"
#include "oracle/searches/searches_internal.h"

enum { STATES = 3000, CACHED_STATES = 6000, MOST_STEPS = 48000, WALK_STEPS = 64 };

struct machine_searched {
    struct arena *arena;
    enum subject_id subject;
    const struct program *program;
    const struct search_result *plain;
    uint64_t sizes;      /* of caches, drawn; 0: those of the launch */
    const char *gave_up; /* what is wrong with how a search did */
    struct progress progress;
    uint32_t units[REF_ALL_ACTORS];
};

/* ---- ways to search ---- */

struct way {
    const char *name;
    enum search_method method;
    bool merge, alike;
    bool eager, still; /* over caches: R1; without silent rules that only flush (R3) */
    bool cached, plain;
};

static const struct way first = {.name = "states", .method = SEARCH_STATES};

static const struct way ways[] = {
    {.name = "dpor", .method = SEARCH_DPOR, .plain = true},
    {.name = "local steps merged", .method = SEARCH_STATES, .merge = true, .plain = true},
    {.name = "threads alike", .method = SEARCH_STATES, .merge = true, .alike = true, .plain = true},
    {.name = "sleep", .method = SEARCH_SLEEP, .plain = true, .cached = true},
    {.name = "sleep, R1", .method = SEARCH_SLEEP, .eager = true, .cached = true},
    {.name = "sleep, R1, R3", .method = SEARCH_SLEEP, .eager = true, .still = true, .cached = true},
    {.name = "states, R1, R3",
     .method = SEARCH_STATES,
     .eager = true,
     .still = true,
     .cached = true}};

static bool has_caches(enum subject_id subject)
{
    return subject_table[subject].vtable->plain != NULL;
}

/* Of half of the kernels over caches; all texts have one seed. */
static uint64_t sizes_of(enum subject_id subject, const char *text)
{
    uint64_t sum = 0;
    for (; *text; text++)
        sum = pcg_splitmix(sum + (uint8_t)*text);
    return has_caches(subject) && sum % 2 ? sum : 0;
}

/* With 64 slots operations of two warps have numbers that differ by 64. */
static void take_sizes(const struct machine_searched *s, struct memory_options *o)
{
    if (s->sizes == 0)
        return;
    o->words = (uint8_t)(1u << (s->sizes >> 8) % 3);
    o->lines = (uint8_t)(1u << (s->sizes >> 16) % 3);
    o->sets = (uint8_t)(s->sizes >> 24 & 1 ? 2 : 1);
    o->sms = (uint8_t)(1 + (s->sizes >> 32 & 1));
    o->policy = (uint8_t)((s->sizes >> 40) % POLICY_COUNT);
    o->slots = s->sizes >> 48 & 1 ? 64 : 0;
}

/* NULL: not whole, or by another method. */
static const struct search_result *run(struct machine_searched *s, const struct way *way,
                                       struct progress *progress)
{
    const struct subject_info *info = &subject_table[s->subject];
    struct machine_options with = info->options;
    bool cached = has_caches(s->subject);
    struct search_options how = {.method = way->method,
                                 .max_states = cached ? CACHED_STATES : STATES,
                                 .max_bytes = 32 << 20,
                                 .max_steps = MOST_STEPS,
                                 .max_depth = 512,
                                 .max_outcomes = 512,
                                 .merge_local = way->merge,
                                 .no_races = way->merge || cached,
                                 .no_lasso = way->merge || cached};
    with.note_begun = way->alike && searches_of_threads(s->subject);
    with.memory.eager = with.memory.eager || way->eager;
    with.memory.flush = with.memory.flush && !way->still;
    take_sizes(s, &with.memory);
    struct machine *machine = search_machine_with(s->arena, info->vtable, s->program, &with);
    if (way->alike)
        searches_use_symmetry(s->arena, machine, &how);
    *progress = (struct progress){.unit_of = s->units, .unit_count = machine->actor_count};
    if (way->method == SEARCH_STATES && !cached && machine->actor_count <= REF_ALL_ACTORS)
        progress_ask(&how, progress);
    size_t free_bytes = s->arena->size - s->arena->used;
    const struct search_result *found = search_run(s->arena, machine, &how);
    s->gave_up = searches_gave_up(found, &how, machine, free_bytes);
    bool whole = found->complete && !found->cut && found->method == way->method;
    return whole && !(way->alike && found->own_choices) ? found : NULL;
}

static const char *compare_progress(struct arena *arena, const struct progress *a,
                                    const struct progress *b)
{
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
        if (a->answers[m].verdict != PROGRESS_UNKNOWN &&
            b->answers[m].verdict != PROGRESS_UNKNOWN &&
            a->answers[m].verdict != b->answers[m].verdict)
            return arena_printf(arena, "progress under %s", progress_table[m].name);
    return NULL;
}

/* Tapes are asked about as of subjects that have a reference. */
static struct searched with_tapes(const struct machine_searched *s)
{
    return (struct searched){.arena = s->arena,
                             .subject = s->subject,
                             .program = s->program,
                             .all.edge_count = (uint32_t)s->plain->transitions};
}

/* In which way the search differs from the plainest one. */
static const char *compare(struct machine_searched *s, const struct way *way)
{
    struct progress progress;
    const struct search_result *found = run(s, way, &progress);
    const struct searched tapes = with_tapes(s);
    const char *differs = NULL;
    if (s->gave_up)
        return arena_printf(s->arena, "%s: %s", way->name, s->gave_up);
    if (!found)
        return NULL;
    if (search_missing(s->program, s->plain, found))
        differs = "outcome missed";
    else if (search_missing(s->program, found, s->plain))
        differs = "outcome that is none";
    else if (way->method == SEARCH_DPOR && found->race != s->plain->race)
        differs = found->race ? "race that is none" : "race missed";
    else if (way->method == SEARCH_SLEEP && !way->eager &&
             (found->states != s->plain->states || found->ends != s->plain->ends))
        differs = "states";
    else if (way->method == SEARCH_STATES && !has_caches(s->subject))
        differs = compare_progress(s->arena, &s->progress, &progress);
    if (!differs && !way->eager && !s->sizes)
        differs = searches_witnesses(&tapes, found);
    return differs ? arena_printf(s->arena, "%s: %s", way->name, differs) : NULL;
}

/* Steps that are told to be independent commute: what sleeps and what R4 leaves out rest on it. */
static const char *compare_diamonds(struct machine_searched *s)
{
    const struct subject_info *info = &subject_table[s->subject];
    struct machine_options with = info->options;
    struct pcg rng = pcg_derive(s->plain->transitions, PCG_SCHEDULE, 83);
    uint64_t checked = 0;
    uint32_t stm;
    with.track = true;
    take_sizes(s, &with.memory);
    const char *differs =
        diamonds_broken(s->arena, machine_new(s->arena, info->vtable, s->program, &with), &rng,
                        WALK_STEPS, &stm, &checked);
    return differs ? arena_printf(s->arena, "sleep: %s", differs) : NULL;
}

static const char *compare_ways(struct machine_searched *s)
{
    const char *differs = NULL;
    for (uint32_t i = 0; i < sizeof ways / sizeof *ways && !differs; i++)
        if (has_caches(s->subject) ? ways[i].cached : ways[i].plain)
            differs = compare(s, &ways[i]);
    if (!differs && has_caches(s->subject))
        differs = compare_diamonds(s);
    if (s->sizes) /* tapes are replayed by the subject as it is */
        return differs;
    const struct searched tapes = with_tapes(s);
    if (!differs)
        differs = searches_witnesses(&tapes, s->plain);
    return differs ? differs : searches_tapes(&tapes);
}

/* ---- all executions of threads ---- */

/* Where all executions end well. */
static bool all_end(const struct ref_all *all)
{
    bool well = !all->cut;
    for (uint32_t i = 0; i < all->outcome_count; i++)
        well = well && all->outcomes[i].end == REF_TERMINATED;
    return well;
}

static const char *compare_threads(struct machine_searched *s, const struct ref_all *all)
{
    if (!all_end(all) || s->program->private_base < all->words)
        return NULL;
    for (uint32_t k = 0; k < s->plain->outcome_count; k++)
        if (s->plain->outcomes[k].status != STATUS_TERMINATED)
            return "threads: an error";
    const char *differs = has_caches(s->subject) ? NULL : searches_made_up(all, s->plain);
    if (!differs)
        differs = searches_missed(all, s->plain);
    return differs ? arena_printf(s->arena, "threads: %s", differs) : NULL;
}

/* ---- one kernel ---- */

static const char *why_not(const struct machine_searched *s, const struct form *form)
{
    const struct semantics *semantics = subject_table[s->subject].vtable;
    return form->program ? machine_refuses(s->arena, semantics, form->program) : form->reason;
}

const char *searches_machines_differ(struct arena *arena, enum subject_id subject, const char *text,
                                     const struct ref_all *of_threads, const char **unknown)
{
    struct machine_searched s = {
        .arena = arena, .subject = subject, .sizes = sizes_of(subject, text)};
    struct forms *forms = forms_new(arena, parse_printed(arena, text));
    const struct form *form = forms_get(forms, subject_table[subject].program);
    for (uint32_t i = 0; i < REF_ALL_ACTORS; i++)
        s.units[i] = i;
    s.program = form->program;
    *unknown = why_not(&s, form);
    if (*unknown)
        return NULL;
    s.plain = run(&s, &first, &s.progress);
    if (s.gave_up)
        return arena_printf(arena, "states: %s", s.gave_up);
    *unknown = s.plain ? NULL : "size";
    if (!s.plain)
        return NULL;
    const char *differs = of_threads ? compare_threads(&s, of_threads) : NULL;
    return differs ? differs : compare_ways(&s);
}

/* ---- the kernels ---- */

/* As often as they stand here. */
static const enum subject_id subjects[] = {SUBJECT_CRS,
                                           SUBJECT_CRS,
                                           SUBJECT_CRS,
                                           SUBJECT_THREAD_PC,
                                           SUBJECT_THREAD_PC,
                                           SUBJECT_BLOCK,
                                           SUBJECT_BLOCK,
                                           SUBJECT_ITS,
                                           SUBJECT_SIMT_THEN,
                                           SUBJECT_LOCKSTEP_ANCHORED,
                                           SUBJECT_CONVERGENCE,
                                           SUBJECT_CRS_CACHES_PRINTED,
                                           SUBJECT_CRS_CACHES_PRINTED,
                                           SUBJECT_CRS_CACHES_LLH,
                                           SUBJECT_CRS_CACHES_LLH,
                                           SUBJECT_CRS_CACHES_COHERENT,
                                           SUBJECT_CRS_CACHES_COHERENT,
                                           SUBJECT_THREAD_PC_CACHES_PRINTED,
                                           SUBJECT_BLOCK_CACHES_PRINTED,
                                           SUBJECT_BLOCK_CACHES_PRINTED,
                                           SUBJECT_BLOCK_CACHES_LLH,
                                           SUBJECT_BLOCK_CACHES_COHERENT,
                                           SUBJECT_BLOCK_CACHES_COHERENT,
                                           SUBJECT_CRS_LATE,
                                           SUBJECT_CRS_LANES,
                                           SUBJECT_CRS_ALIGNED,
                                           SUBJECT_CRS_EXIT_ARRIVES,
                                           SUBJECT_BLOCK_EAGER,
                                           SUBJECT_INTERLEAVE_RAW,
                                           SUBJECT_INTERLEAVE_F1,
                                           SUBJECT_LOCKSTEP_VACUOUS_SYNC};

/* `block` and `its` have no barriers of clusters. */
static bool has_clusters(enum subject_id subject)
{
    const struct semantics *semantics = subject_table[subject].vtable;
    return semantics == subject_table[SUBJECT_CRS].vtable ||
           semantics == subject_table[SUBJECT_THREAD_PC].vtable;
}

struct searched_text searches_machines_text(struct arena *arena, uint64_t number)
{
    struct searched_text drawn = {.of_threads = NULL};
    drawn.subject = subjects[number % (sizeof subjects / sizeof *subjects)];
    uint64_t rest = pcg_splitmix(number);
    bool of_ptx = subject_table[drawn.subject].vtable->form == FORM_PTX;
    /* Accesses, wide ones, what is lowered, and of a cluster. */
    uint32_t kinds = has_clusters(drawn.subject) ? 4 : has_caches(drawn.subject) ? 2 : 3;
    uint32_t kind = of_ptx ? (uint32_t)(rest % kinds) : 2;
    if (kind == 0)
        searches_access_texts(arena, rest, &drawn.of_threads, &drawn.text);
    else if (kind == 1)
        drawn.text = searches_wide_text(arena, rest);
    else if (kind == 2)
        drawn.text = rest >> 8 & 1 ? searches_tiny_text(arena, SUBJECT_SIMT, rest)
                                   : searches_text(arena, SUBJECT_SIMT, rest);
    else
        searches_cluster_texts(arena, rest, &drawn.of_threads, &drawn.text);
    return drawn;
}
