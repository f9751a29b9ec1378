/* The last resort: what is known of cases that were fatal, where the chunks that they are in can never be stored. */
#include "fuzz/campaign/collector_state.h"

#include "fuzz/case/example.h"

#include <string.h>

/* The finding and its kernel, which the generator makes again: it came that far before. Of a campaign with feedback the
 * kernel may have been a mutated one, which only a whole chunk could tell. */
static int keep(struct collector *c, struct arena *scratch, const struct incident *incident)
{
    const struct campaign_options *options = c->options;
    struct chunk_finding finding = {.number = incident->number, .incident = incident};
    struct incident known = *incident;
    struct fuzz_case repeated;
    struct example example;
    chunk_incident_signature(finding.signature, incident);
    case_of_campaign(&repeated, options->seed, finding.number, &options->gen, &options->check);
    if (options->feedback > 0)
        known.phase = WATCH_GENERATING;
    size_t mark = arena_mark(scratch);
    example_of_incident(scratch, scratch, &repeated, NULL, &known, &example);
    c->summary->occurrences++;
    int error = collector_skip_case(c, &finding);
    if (error == DB_OK)
        error = collector_store(c, &finding, &example);
    arena_release(scratch, mark);
    return error;
}

static bool was_kept(const struct collector *c, uint64_t number)
{
    for (uint32_t i = 0; i < c->kept_count; i++)
        if (c->kept[i] == number)
            return true;
    return false;
}

/* One by one: making a kernel again may be fatal, too, and then what came before it stays. */
int collector_keep_incidents(struct collector *c, const struct watch *watch)
{
    struct arena scratch;
    int error = DB_OK;
    if (arena_init(&scratch, (size_t)1 << 30) != 0)
        return DB_ERROR_MEMORY;
    for (uint32_t i = 0; i < watch->incident_count && error == DB_OK; i++) {
        const struct incident *incident = &watch->incidents[i];
        if (incident->state != INCIDENT_CONFIRMED || was_kept(c, incident->number))
            continue;
        error = keep(c, &scratch, incident);
        if (error == DB_OK)
            error = collector_commit(c, true);
    }
    arena_destroy(&scratch);
    return error;
}
