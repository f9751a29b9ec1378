#include "fuzz/campaign/resume.h"

#include "fuzz/base/version.h"
#include "fuzz/campaign/pool.h"
#include "fuzz/case/case.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- options as text ---- */

const char *resume_print_options(struct arena *arena, const struct campaign_options *o)
{
    const char *text = case_print_options(arena, &o->gen, &o->check);
    if (o->no_minimise)
        text = arena_printf(arena, "%s no-minimise", text);
    if (o->minimise_tests > 0)
        text = arena_printf(arena, "%s minimise-tests=%" PRIu32, text, o->minimise_tests);
    return text;
}

/* The words behind those of the cases. */
static bool parse_word(const char *word, struct campaign_options *o)
{
    static const char TESTS[] = "minimise-tests=";
    if (strncmp(word, TESTS, strlen(TESTS)) == 0)
        o->minimise_tests = (uint32_t)strtoul(word + strlen(TESTS), NULL, 10);
    else if (strcmp(word, "no-minimise") == 0)
        o->no_minimise = true;
    else
        return false;
    return true;
}

/* False: *options is not changed; *error is what is wrong. */
static bool parse_options(struct arena *arena, const char *text, struct campaign_options *options,
                          const char **error)
{
    struct campaign_options read = *options;
    struct fuzz_case c;
    const char *of_cases = "";
    read.minimise_tests = 0;
    read.no_minimise = false;
    for (const char *at = text; *at; at += strcspn(at, " "), at += *at == ' ') {
        const char *word = arena_strndup(arena, at, strcspn(at, " "));
        if (!parse_word(word, &read))
            of_cases = arena_printf(arena, "%s%s%s", of_cases, *of_cases ? " " : "", word);
    }
    if (!case_parse(arena, of_cases, &c, error))
        return false;
    read.gen = c.gen;
    read.check = c.check;
    /* What another generator made, or what is no longer written so, would be other cases. */
    *error = "another version of simtfuzz made its cases";
    if (strcmp(resume_print_options(arena, &read), text) != 0)
        return false;
    *options = read;
    return true;
}

/* ---- looking ---- */

struct search {
    struct arena *arena;
    const struct campaign_options *options;
    const struct resume_wish *wish;
    const char *wanted_options;
    uint64_t *ids;
    uint32_t id_count, id_capacity;
    bool found;
    struct db_campaign best; /* with copies of its texts */
};

static bool collect_id(void *context, const struct db_campaign *campaign)
{
    struct search *search = context;
    if (search->id_count == search->id_capacity) {
        uint32_t capacity = search->id_capacity * 2 + 64;
        uint64_t *ids = ARENA_ARRAY(search->arena, uint64_t, capacity);
        if (search->id_count > 0)
            memcpy(ids, search->ids, search->id_count * sizeof *ids);
        search->ids = ids;
        search->id_capacity = capacity;
    }
    search->ids[search->id_count++] = campaign->id;
    return true;
}

static bool agrees(const struct search *search, const struct db_campaign *c)
{
    const struct campaign_options *o = search->options;
    const struct resume_wish *wish = search->wish;
    /* Those of outside implementations are another command's. */
    return strncmp(c->options, "outside ", strlen("outside ")) != 0 &&
           (!wish->seed || c->seed == o->seed) &&
           (!wish->cases_options || strcmp(c->options, search->wanted_options) == 0) &&
           (!wish->shard ||
            (c->shard_index == o->shard_index && c->shard_count == o->shard_count)) &&
           (wish->seed || c->state != DB_CAMPAIGN_FINISHED);
}

/* An unfinished one is better than a finished one, then a later one than an earlier one. */
static bool is_better(const struct db_campaign *a, const struct db_campaign *b)
{
    bool unfinished = a->state != DB_CAMPAIGN_FINISHED;
    if (unfinished != (b->state != DB_CAMPAIGN_FINISHED))
        return unfinished;
    return a->id > b->id || (a->id == b->id && a->seen_ms > b->seen_ms);
}

static bool see_shard(void *context, const struct db_campaign *c)
{
    struct search *search = context;
    if (!agrees(search, c) || (search->found && !is_better(c, &search->best)))
        return true;
    search->found = true;
    search->best = *c;
    search->best.options = arena_strndup(search->arena, c->options, strlen(c->options));
    search->best.host = arena_strndup(search->arena, c->host, strlen(c->host));
    search->best.version = arena_strndup(search->arena, c->version, strlen(c->version));
    return true;
}

static int look(struct search *search, struct db *db)
{
    int error = db_campaigns(db, collect_id, search);
    for (uint32_t i = 0; i < search->id_count && error == DB_OK; i++)
        error = db_shards(db, search->ids[i], see_shard, search);
    return error;
}

/* ---- what was found ---- */

/* "NAME) S": of a process, from /proc. */
static bool read_name(const char *path, char name[64])
{
    char line[128];
    FILE *file = fopen(path, "r");
    bool read = file && fgets(line, sizeof line, file);
    if (file)
        fclose(file);
    const char *open = read ? strchr(line, '(') : NULL, *close = read ? strrchr(line, ')') : NULL;
    if (!open || !close || close[1] == '\0')
        return false;
    snprintf(name, 64, "%.*s", (int)(close + 3 - open - 1), open + 1);
    return true;
}

/* Whether the process of the last session is there, on this machine, and is a simtfuzz. */
static bool is_alive(const struct db_campaign *found)
{
    char host[256] = "", path[64], other[64], own[64];
    if (gethostname(host, sizeof host - 1) != 0 || strcmp(host, found->host) != 0)
        return false;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/stat", found->pid);
    if (!read_name(path, other) || !read_name("/proc/self/stat", own))
        return false;
    bool ended = strchr("ZX", other[strlen(other) - 1]) != NULL; /* and nobody has heard of it */
    return !ended && strncmp(other, own, strlen(own) - 1) == 0;
}

/* One that was just killed may need a moment. */
static bool is_still_run(const struct db_campaign *found)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000000};
    for (int tries = 0; tries < 200; tries++) {
        if (!is_alive(found))
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

static bool fill(struct search *search, struct campaign_options *options,
                 struct db_message *message)
{
    const struct db_campaign *found = &search->best;
    const char *error = "another version of simtfuzz made its cases";
    bool same = strcmp(found->version, SIMTFUZZ_VERSION) == 0;
    if (!same || !parse_options(search->arena, found->options, options, &error)) {
        snprintf(message->text, sizeof message->text,
                 "campaign %" PRIu64 " (simtfuzz %s) cannot be resumed: %s", found->id,
                 found->version, error);
        return false;
    }
    options->seed = found->seed;
    options->shard_index = found->shard_index;
    options->shard_count = found->shard_count;
    if (!search->wish->budget && found->cases_target > 0) {
        options->cases = found->cases_target;
        options->time_ms = 0;
    }
    options->resume = (struct db_shard){.campaign = found->id, .index = found->shard_index};
    if (found->state == DB_CAMPAIGN_RUNNING && is_still_run(found)) {
        snprintf(message->text, sizeof message->text,
                 "campaign %" PRIu64 " is being run by process %" PRIu64, found->id, found->pid);
        return false;
    }
    /* Nothing is left of it, unless more cases are asked for. */
    options->report_only = found->state == DB_CAMPAIGN_FINISHED &&
                           (options->cases == 0 || options->cases <= found->cases_target);
    uint64_t done = found->counts.cases;
    if (!options->report_only && done % CAMPAIGN_CHUNK != 0 &&
        done != pool_planned_cases(options)) {
        snprintf(message->text, sizeof message->text,
                 "campaign %" PRIu64 " cannot be resumed: it ended within a chunk of cases",
                 found->id);
        return false;
    }
    return true;
}

enum resume_result resume_find(struct arena *arena, struct campaign_options *options,
                               const struct resume_wish *wish, struct db_message *message)
{
    struct db *db;
    struct search search = {.arena = arena,
                            .options = options,
                            .wish = wish,
                            .wanted_options = resume_print_options(arena, options)};
    if (access(options->db_path, F_OK) != 0)
        return RESUME_NOTHING;
    /* For writing: what an older version wrote is brought up to date, and a file whose creation was cut short
     * gets its tables. */
    int error = db_open(options->db_path, DB_CREATE, message, &db);
    if (error == DB_OK) {
        error = look(&search, db);
        db_close(db);
    }
    if (error != DB_OK)
        return RESUME_FAULT;
    if (!search.found)
        return RESUME_NOTHING;
    return fill(&search, options, message) ? RESUME_FOUND : RESUME_FAULT;
}
