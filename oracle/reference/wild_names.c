/*
 * wild_names.c - schedules and lists of subjects as text: what is drawn, written here, is read as that, and written so.
 */
#include "oracle/reference/wild.h"

#include "engine/base/pcg.h"
#include "engine/base/text.h"

#include <string.h>

/* ---- schedules ---- */

/* docs/measured.md, `simtfuzz run --help`: the number behind the colon, its bounds, and what it is without one. */
struct kind_written {
    enum sched_kind kind;
    const char *name;
    uint32_t least, most, otherwise;
    size_t at; /* in struct sched_spec; 0: there is none */
};

#define AT(member) offsetof(struct sched_spec, member)
static const struct kind_written kinds[] = {
    {SCHED_SEQUENTIAL, "sequential", 0, 0, 0, 0},
    {SCHED_REVERSE, "reverse", 0, 0, 0, 0},
    {SCHED_UNIFORM, "uniform", 0, 0, 0, 0},
    {SCHED_POS, "pos", 0, 0, 0, 0},
    {SCHED_SURW, "surw", 0, 0, 0, 0},
    {SCHED_ROUND_ROBIN, "rr", 1, 1000000, 1, AT(quantum)},
    {SCHED_PCT, "pct", 1, 5, 3, AT(depth)},
    {SCHED_STARVE, "starve", 0, 1000000, 0, AT(victim)},
    {SCHED_UNFAIR_FAIR, "unfair", 0, 1000000000, 100, AT(prefix)}};
#undef AT
enum { KINDS = sizeof kinds / sizeof *kinds };

static uint32_t number_of(const struct sched_spec *spec, const struct kind_written *k)
{
    uint32_t number;
    memcpy(&number, (const char *)spec + k->at, sizeof number);
    return number;
}

/* Weakly fair, with probability 1: everybody who can step is let step again and again. */
static bool is_fair(enum sched_kind kind)
{
    return kind == SCHED_ROUND_ROBIN || kind == SCHED_UNIFORM || kind == SCHED_UNFAIR_FAIR;
}

static const char *schedule_differs(struct arena *arena, struct pcg *rng)
{
    const struct kind_written *k = &kinds[pcg_below(rng, KINDS)];
    const uint32_t range = k->most - k->least + 1, way = pcg_below(rng, 4);
    uint32_t number =
        k->least + (pcg_below(rng, 3) ? pcg_below(rng, range) : pcg_below(rng, 2) * (range - 1));
    const bool has_number = k->at && way > 0;
    const char *text =
        has_number ? arena_printf(arena, "%s:%u", k->name, (unsigned)number) : k->name;
    struct sched_spec spec = {.kind = SCHED_KIND_COUNT};
    number = has_number ? number : k->otherwise;
    if (!sched_parse(text, &spec) || spec.kind != k->kind ||
        (k->at && number_of(&spec, k) != number))
        return arena_printf(arena, "a schedule is read otherwise: %s", text);
    const char *written = k->at && !(k->kind == SCHED_ROUND_ROBIN && number == 1)
                              ? arena_printf(arena, "%s:%u", k->name, (unsigned)number)
                              : k->name;
    if (strcmp(sched_name(arena, &spec), written) != 0)
        return arena_printf(arena, "a schedule is written otherwise: %s", written);
    if (sched_is_fair(&spec) != is_fair(k->kind))
        return arena_printf(arena, "whether a schedule is fair: %s", written);
    /* Beyond its bounds, or with a number that it has not, it is none. */
    const char *wrong =
        k->at && k->least > 0 && way == 3
            ? arena_printf(arena, "%s:%u", k->name, (unsigned)(k->least - 1))
        : way == 2 ? arena_printf(arena, "%s:%llu", k->name, (unsigned long long)k->most + 1)
        : way == 1 ? arena_printf(arena, "%s:", k->name)
                   : arena_printf(arena, "%sx", k->name);
    return sched_parse(wrong, &spec)
               ? arena_printf(arena, "what is no schedule is read as one: %s", wrong)
               : NULL;
}

/* ---- which schedules a case has ---- */

/* docs/oracles.md, "What is explored": one after the other, and from the fifth on the same eleven again and again, in
 * whose turns an actor is starved, a prefix and a quantum grow. */
static const char *portfolio_differs(struct arena *arena, struct pcg *rng)
{
    static const struct {
        enum sched_kind kind;
        uint32_t depth;
    } cycle[] = {{SCHED_PCT, 1},         {SCHED_PCT, 2},    {SCHED_PCT, 3},
                 {SCHED_PCT, 4},         {SCHED_PCT, 5},    {SCHED_POS, 0},
                 {SCHED_SURW, 0},        {SCHED_STARVE, 0}, {SCHED_UNFAIR_FAIR, 0},
                 {SCHED_ROUND_ROBIN, 0}, {SCHED_UNIFORM, 0}};
    enum { FIRST = 4, CYCLE = sizeof cycle / sizeof *cycle, TURNS = 12 };
    static const enum sched_kind first[FIRST] = {SCHED_SEQUENTIAL, SCHED_REVERSE, SCHED_ROUND_ROBIN,
                                                 SCHED_UNIFORM};
    const uint64_t seed = pcg_next(rng);
    const uint32_t index = pcg_below(rng, FIRST + TURNS * CYCLE), actors = 1 + pcg_below(rng, 9);
    const bool stackless = pcg_below(rng, 2), surw = pcg_below(rng, 2);
    const uint32_t later = index < FIRST ? 0 : index - FIRST, place = later % CYCLE,
                   turn = later / CYCLE;
    const struct sched_spec spec = sched_portfolio(
        seed, index, actors, (stackless ? PORTFOLIO_STACKLESS : 0) | (surw ? PORTFOLIO_SURW : 0));
    const bool in_cycle = index >= FIRST;
    enum sched_kind kind = in_cycle ? cycle[place].kind : first[index];
    if (kind == SCHED_SURW && !surw)
        kind = SCHED_UNIFORM;
    if (in_cycle && stackless && cycle[place].depth > 3)
        kind = SCHED_STACKLESS;
    const bool same = spec.kind == kind && spec.seed == seed && spec.index == index &&
                      (kind != SCHED_PCT || spec.depth == cycle[place].depth) &&
                      (kind != SCHED_STARVE || spec.victim == turn % actors) &&
                      (kind != SCHED_UNFAIR_FAIR || spec.prefix == 16u << turn % 6) &&
                      (kind != SCHED_ROUND_ROBIN || spec.quantum == (in_cycle ? 2 + turn % 7 : 1));
    return same ? NULL
                : arena_printf(arena, "a schedule of the portfolio: number %u", (unsigned)index);
}

/* ---- lists of subjects ---- */

static const char *subjects_differ(struct arena *arena, struct pcg *rng)
{
    struct text text = text_begin(arena);
    const uint32_t count = 1 + pcg_below(rng, 4),
                   bad = pcg_below(rng, 3) ? count : pcg_below(rng, count);
    subject_set expected = 0, found = 0;
    const char *error_at = NULL;
    size_t bad_at = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t s = pcg_below(rng, SUBJECT_COUNT), way = pcg_below(rng, 6);
        text_put(&text, i ? "," : "");
        if (i == bad) {
            bad_at = text.length;
            text_format(&text, way < 3 ? "%s:" : "x%s", subject_table[s].name);
        } else if (way == 0) {
            text_put(&text, "all");
            for (uint32_t k = 0; k < SUBJECT_COUNT; k++)
                if (subject_table[k].role == SUBJECT_ORDINARY)
                    expected |= SUBJECT_BIT(k);
        } else if (way == 1) {
            /* A list that begins so takes it out of the usual ones. */
            for (uint32_t k = 0; i == 0 && k < SUBJECT_COUNT; k++)
                if (subject_table[k].role == SUBJECT_ORDINARY)
                    expected |= SUBJECT_BIT(k);
            text_format(&text, "-%s", subject_table[s].name);
            expected &= ~SUBJECT_BIT(s);
        } else if (way == 2 && s == SUBJECT_SIMT) {
            text_put(&text, "simt:else-first");
            expected |= SUBJECT_BIT(SUBJECT_SIMT);
        } else {
            text_put(&text, subject_table[s].name);
            expected |= SUBJECT_BIT(s);
        }
    }
    const bool is_list = subject_parse_list(text.bytes, &found, &error_at);
    if (is_list != (bad == count && expected != 0))
        return arena_printf(arena, "whether this is a list of subjects: %s", text.bytes);
    if (is_list ? found != expected : bad < count && error_at != text.bytes + bad_at)
        return arena_printf(arena, "the subjects are others: %s", text.bytes);
    return NULL;
}

const char *wild_names_differ(struct arena *arena, uint64_t number)
{
    struct pcg rng = pcg_derive(number, PCG_SCHEDULE, 89);
    const char *differs = schedule_differs(arena, &rng);
    if (!differs)
        differs = subjects_differ(arena, &rng);
    return differs ? differs : portfolio_differs(arena, &rng);
}
