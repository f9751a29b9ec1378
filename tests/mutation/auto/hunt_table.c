/*
 * hunt_table.c - the table: a line a mutant and campaign (hunt.c has the columns).
 */
#include "tests/mutation/auto/hunt.h"

#include "tests/mutation/auto/units.h"

#include <stdlib.h>
#include <string.h>

static const char *oracle_names(uint32_t oracles, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t o = 0; o < SPEAKER_COUNT && length < size; o++)
        if (oracles >> o & 1)
            length += (size_t)snprintf(text + length, size - length, "%s%s", length ? "," : "",
                                       speaker_name(o));
    return text;
}

static void who_spoke(const struct hunt *hunt, const struct hunted *o, char *text, size_t size)
{
    char names[256];
    enum trial_kind kind = hunt->trials.items[o->trial].kind;
    oracle_names(o->oracles, names, sizeof names);
    const char *who = names;
    switch (o->found) {
    case FOUND_NOT:
    case FOUND_SLOW:
    case FOUND_NOTHING:
        who = "-";
        break;
    case FOUND_ORACLE:
    case FOUND_CANARY:
    case FOUND_UNIT:
        break;
    case FOUND_CRASH:
        who = "crash";
        break;
    case FOUND_HANG:
        who = "hang";
        break;
    case FOUND_CORPUS:
        who = names[0] ? names : "expectation";
        break;
    }
    if (hunt_detected(o) && kind == TRIAL_CORPUS) /* the note says more */
        snprintf(text, size, "corpus");
    else if (o->found == FOUND_UNIT && units[hunt->trials.items[o->trial].number].golden)
        snprintf(text, size, "golden");
    else if (o->found == FOUND_UNIT)
        snprintf(text, size, "test %s", hunt->trials.items[o->trial].path);
    else
        snprintf(text, size, "%s%s", hunt_detected(o) && kind == TRIAL_CANARY ? "canary:" : "",
                 who);
}

static void write_line(struct hunt *hunt, const struct job *job, uint32_t seed)
{
    static const char *const statuses[] = {
        [FOUND_NOT] = "survived",  [FOUND_ORACLE] = "detected", [FOUND_CRASH] = "crashed",
        [FOUND_HANG] = "timeout",  [FOUND_CANARY] = "detected", [FOUND_CORPUS] = "detected",
        [FOUND_UNIT] = "detected", [FOUND_SLOW] = "survived",   [FOUND_NOTHING] = "survived",
    };
    const struct trials *trials = &hunt->trials;
    int number = mutant_point_of(job->mutant);
    const struct mutant_point *p = &mutant_points[number];
    const struct hunted *campaign = &job->outcomes[seed], *o = campaign;
    for (uint32_t phase = trials->seeds; phase < trials->seeds + LATER_COUNT; phase++)
        if (!hunt_detected(o) && hunt_detected(&job->outcomes[phase]))
            o = &job->outcomes[phase];
    char name[NAME_BYTES], who[300], triggered[32] = "-", detected[32] = "-";
    uint32_t infected = 0, cases = trials->cases, first = seed * trials->cases;
    uint64_t steps = 0;
    mutant_name(job->mutant, name, sizeof name);
    who_spoke(hunt, o, who, sizeof who);
    for (uint32_t t = first; t < first + trials->cases; t++)
        infected += trials_infects(trials, t, job->mutant);
    if (hunt_detected(campaign)) {
        cases = campaign->trial - first + 1;
        snprintf(detected, sizeof detected, "%u", cases - 1);
        steps = campaign->steps;
    } else if (campaign->found != FOUND_NOT) {
        cases = campaign->trial - first;
    }
    for (uint32_t t = first; t < first + cases - hunt_detected(campaign); t++)
        steps += trials->original[t].steps;
    if (campaign->triggered >= 0)
        snprintf(triggered, sizeof triggered, "%lld", (long long)campaign->triggered);
    const struct trial *found_in = &trials->items[o->trial];
    const char *path = hunt_detected(o) && found_in->kind == TRIAL_CORPUS
                           ? strstr(found_in->path, "corpus/")
                           : NULL;
    fprintf(hunt->out, "auto\t%s\t%s\t%s\t%u: %s -> %s\t%s\t%s\t%s\t%s\t%u\t%llu\t%u\t%s\t",
            p->operator_name, name, p->file, p->line, p->old, p->new[job->mutant - (int)p->first],
            trials->reached[number] ? "yes" : "no", triggered, detected, who, cases,
            (unsigned long long)steps, seed + 1, statuses[o->found]);
    fprintf(hunt->out, "infected in %u cases%s%s%s%s\n", infected,
            campaign->found == FOUND_SLOW      ? "; given up, slow"
            : campaign->found == FOUND_NOTHING ? "; given up, patience"
                                               : "",
            path ? "; " : "", path ? path : "", o->note);
}

/* In the order of the mutants, as far as all before are done. */
void hunt_write_done(struct hunt *hunt)
{
    for (; hunt->written < hunt->count && hunt->done[hunt->written]; hunt->written++) {
        for (uint32_t seed = 0; seed < hunt->trials.seeds; seed++)
            write_line(hunt, hunt->done[hunt->written], seed);
        free(hunt->done[hunt->written]);
    }
    fflush(hunt->out);
}

void hunt_write_reach(const struct hunt *hunt)
{
    const struct trials *trials = &hunt->trials;
    for (size_t i = 0; i < hunt->count; i++) {
        int mutant = hunt->mutants[i], point = mutant_point_of(mutant);
        uint32_t infected[TRIAL_UNIT + 1] = {0};
        char name[NAME_BYTES];
        for (uint32_t t = 0; t < trials->count; t++)
            infected[trials->items[t].kind] += trials_infects(trials, t, mutant);
        mutant_name(mutant, name, sizeof name);
        printf("%s\t%s\t%s\t%u\t%u\t%u\t%u\n", mutant_points[point].part, name,
               trials->reached[point] ? "yes" : "no", infected[TRIAL_CAMPAIGN],
               infected[TRIAL_CANARY], infected[TRIAL_CORPUS], infected[TRIAL_UNIT]);
    }
}
