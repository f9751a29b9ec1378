#include "fuzz/report/outside.h"

#include "fuzz/case/signature.h"

#include <string.h>

struct outside_reader {
    struct arena *arena;
    struct report_implementation *first;
};

/* The one with this name, made if need be; in the order of the names. */
static struct report_implementation *implementation(struct outside_reader *r, const char *name)
{
    struct report_implementation **at = &r->first;
    while (*at && strcmp((*at)->name, name) < 0)
        at = &(*at)->next;
    if (*at && strcmp((*at)->name, name) == 0)
        return *at;
    struct report_implementation *made = ARENA_NEW(r->arena, struct report_implementation);
    *made = (struct report_implementation){.name = arena_strndup(r->arena, name, strlen(name)),
                                           .next = *at};
    *at = made;
    return made;
}

/* ---- counters ---- */

/* NULL: there are too many. Rows come by subject and version. */
static struct report_run *run_of(struct outside_reader *r, struct report_implementation *i,
                                 const struct db_outside *row)
{
    struct report_run *last = i->run_count > 0 ? &i->runs[i->run_count - 1] : NULL;
    if (last && strcmp(last->subject, row->subject) == 0 &&
        strcmp(last->version, row->version) == 0)
        return last;
    if (i->run_count == REPORT_RUNS_MOST)
        return NULL;
    last = &i->runs[i->run_count++];
    last->subject = arena_strndup(r->arena, row->subject, strlen(row->subject));
    last->version = arena_strndup(r->arena, row->version, strlen(row->version));
    return last;
}

static struct report_known_fault *known_of(struct outside_reader *r,
                                           struct report_implementation *i, const char *id)
{
    uint32_t k = 0;
    while (k < i->known_count && strcmp(i->known[k].id, id) != 0)
        k++;
    if (k == REPORT_KNOWN_MOST)
        return NULL;
    if (k == i->known_count)
        i->known[i->known_count++].id = arena_strndup(r->arena, id, strlen(id));
    return &i->known[k];
}

static void count_known(struct outside_reader *r, struct report_implementation *i,
                        const struct db_outside *row)
{
    bool seen = strncmp(row->what, "seen ", 5) == 0;
    if (!seen && strncmp(row->what, "chances ", 8) != 0)
        return;
    struct report_known_fault *known = known_of(r, i, row->what + (seen ? 5 : 8));
    if (known)
        *(seen ? &known->seen : &known->chances) += row->count;
}

static bool see_count(void *context, const struct db_outside *row)
{
    struct outside_reader *r = context;
    const char *family =
        arena_strndup(r->arena, row->subject, signature_family_length(row->subject));
    struct report_implementation *i = implementation(r, family);
    struct report_run *run = run_of(r, i, row);
    if (!run)
        return true;
    const struct {
        const char *what;
        uint64_t *count;
    } counts[] = {{"kernels", &run->kernels},         {"wrong-value", &run->wrong},
                  {"crash", &run->crashes},           {"hang", &run->hangs},
                  {"compile-error", &run->refusals},  {"run-error", &run->run_errors},
                  {"unknown", &run->unknown},         {"known", &run->known},
                  {"unconfirmed", &run->unconfirmed}, {"cpu us", &run->cpu_us},
                  {"our cpu us", &run->our_us}};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        if (strcmp(counts[c].what, row->what) == 0)
            *counts[c].count += row->count;
    count_known(r, i, row);
    return true;
}

/* ---- findings ---- */

static bool see_finding(void *context, const struct db_finding *f)
{
    struct outside_reader *r = context;
    struct report_implementation *i = implementation(r, f->rule);
    if (i->finding_count == i->finding_capacity) {
        i->finding_capacity = i->finding_capacity ? 2 * i->finding_capacity : 16;
        struct report_outside_finding *more =
            ARENA_ARRAY(r->arena, struct report_outside_finding, i->finding_capacity);
        if (i->finding_count > 0)
            memcpy(more, i->findings, i->finding_count * sizeof *more);
        i->findings = more;
    }
    i->findings[i->finding_count++] = (struct report_outside_finding){
        .id = f->id,
        .occurrences = f->occurrences,
        .state = f->state,
        .class = arena_strndup(r->arena, f->class, strlen(f->class)),
        .observable = arena_strndup(r->arena, f->observable, strlen(f->observable))};
    return true;
}

int report_read_outside(struct arena *arena, struct db *db, struct report_implementation **first)
{
    static const char *const oracles[] = {"outside"};
    const struct db_selection selection = {.oracles = oracles, .oracle_count = 1};
    struct outside_reader r = {.arena = arena};
    int error = db_outside(db, 0, see_count, &r);
    if (error == DB_OK)
        error = db_findings_select(db, &selection, see_finding, &r);
    *first = r.first;
    return error;
}

double report_run_rate(const struct report_run *run)
{
    uint64_t us = run->cpu_us + run->our_us;
    return us > 0 ? (double)run->kernels * 1e6 / (double)us : 0;
}

double report_run_share(const struct report_run *run)
{
    uint64_t us = run->cpu_us + run->our_us;
    return us > 0 ? 100.0 * (double)run->our_us / (double)us : 0;
}
