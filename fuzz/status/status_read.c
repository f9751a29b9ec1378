#include "fuzz/status/status.h"

#include "fuzz/base/clock.h"
#include "fuzz/out/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SILENT_MS =
        60 * 1000, /* a running campaign writes every second; one that minimises may take longer */
    HOST_BYTES = 256,
    CLOCK_SLACK_MS = 2000, /* between a process's start as the system tells it and its own clock */
};

struct reader {
    struct arena *arena;
    struct overview *status;
    uint32_t capacity;
    struct status_campaign *at; /* whose rows are read */
};

/* ---- processes ---- */

/* When a process started, Unix time; 0: nobody can tell; UINT64_MAX: it has ended, but its parent has not
 * looked yet. */
static uint64_t process_started_ms(uint64_t pid)
{
    char path[64], text[1024];
    struct timespec boot;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    /* The name in parentheses may hold anything; the state is the first field behind it, the start the 20th. */
    const char *at = strrchr(text, ')');
    if (at && (strncmp(at, ") Z", 3) == 0 || strncmp(at, ") X", 3) == 0))
        return UINT64_MAX;
    for (int field = 0; at && field < 20; field++)
        at = strchr(at + 1, ' ');
    long ticks = sysconf(_SC_CLK_TCK);
    if (!at || ticks <= 0 || clock_gettime(CLOCK_BOOTTIME, &boot) != 0)
        return 0;
    uint64_t since_boot = (uint64_t)boot.tv_sec * 1000 + (uint64_t)boot.tv_nsec / 1000000;
    uint64_t started = strtoull(at + 1, NULL, 10) * 1000 / (uint64_t)ticks;
    return clock_unix_ms() - since_boot + started;
}

/* Whether the process of a session that began then still lives: a number is given to another one sooner or
 * later. */
static bool process_lives(uint64_t pid, uint64_t session_ms)
{
    if (pid == 0 || pid > INT32_MAX || (kill((pid_t)pid, 0) != 0 && errno != EPERM))
        return false;
    return process_started_ms(pid) <= session_ms + CLOCK_SLACK_MS;
}

static enum life state_of(const struct db_campaign *shard, uint64_t now_ms)
{
    char host[HOST_BYTES] = "";
    switch (shard->state) {
    case DB_CAMPAIGN_FINISHED:
        return LIFE_FINISHED;
    case DB_CAMPAIGN_INTERRUPTED:
        return LIFE_INTERRUPTED;
    case DB_CAMPAIGN_RUNNING:
        break;
    }
    if (gethostname(host, sizeof host - 1) == 0 && strcmp(host, shard->host) == 0)
        return process_lives(shard->pid, shard->started_ms) ? LIFE_RUNNING : LIFE_KILLED;
    return shard->seen_ms + SILENT_MS >= now_ms ? LIFE_RUNNING : LIFE_SILENT;
}

/* ---- rows ---- */

static const char *copy(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

static bool see_campaign(void *context, const struct db_campaign *campaign)
{
    struct reader *r = context;
    struct overview *s = r->status;
    if (s->count == r->capacity) {
        uint32_t capacity = r->capacity ? 2 * r->capacity : 16;
        struct status_campaign *more = ARENA_ARRAY(r->arena, struct status_campaign, capacity);
        if (s->count > 0)
            memcpy(more, s->campaigns, s->count * sizeof *more);
        s->campaigns = more;
        r->capacity = capacity;
    }
    struct status_campaign *c = &s->campaigns[s->count++];
    *c = (struct status_campaign){.campaign = *campaign, .state = LIFE_FINISHED, .rate_now = -1};
    c->campaign.options = copy(r->arena, campaign->options);
    c->campaign.version = copy(r->arena, campaign->version);
    c->campaign.config = copy(r->arena, campaign->config);
    c->campaign.host = copy(r->arena, campaign->host);
    return true;
}

/* The campaign is as lively as the liveliest of its shards. */
static bool see_shard(void *context, const struct db_campaign *shard)
{
    struct reader *r = context;
    enum life state = state_of(shard, r->status->now_ms);
    r->at->shards_running += state == LIFE_RUNNING;
    if (state < r->at->state)
        r->at->state = state;
    return true;
}

static bool see_session(void *context, const struct db_session *session)
{
    struct reader *r = context;
    for (uint32_t i = 0; i < r->status->count; i++) {
        struct status_campaign *c = &r->status->campaigns[i];
        if (c->campaign.id == session->campaign && session->seen_ms > session->started_ms)
            c->worked_ms += session->seen_ms - session->started_ms;
    }
    return true;
}

static bool see_rule(void *context, const char *rule, uint64_t hits)
{
    struct reader *r = context;
    (void)rule;
    r->at->rules += hits > 0;
    return true;
}

/* Every second value when there are too many. */
static bool see_point(void *context, const struct db_statistics *point)
{
    struct reader *r = context;
    struct status_campaign *c = r->at;
    if (c->growth_count == STATUS_GROWTH_MAX) {
        c->growth_count /= 2;
        for (uint32_t i = 0; i < c->growth_count; i++)
            c->growth[i] = c->growth[2 * i + 1];
    }
    c->growth[c->growth_count++] = (uint32_t)point->findings;
    c->findings = point->findings > c->findings ? point->findings : c->findings;
    return true;
}

static bool is_later(const struct db_finding *a, const struct status_finding *b)
{
    return a->first_seen_ms != b->first_seen_ms ? a->first_seen_ms > b->first_seen_ms
                                                : a->id > b->id;
}

static bool see_finding(void *context, const struct db_finding *finding)
{
    struct reader *r = context;
    struct overview *s = r->status;
    s->findings[finding->status]++;
    if (finding->status != DB_STATUS_OPEN || finding->suppressed)
        return true;
    uint32_t place = s->last_count;
    while (place > 0 && is_later(finding, &s->last[place - 1]))
        place--;
    if (place == STATUS_LAST_MAX)
        return true;
    s->last_count += s->last_count < STATUS_LAST_MAX;
    for (uint32_t i = s->last_count - 1; i > place; i--)
        s->last[i] = s->last[i - 1];
    s->last[place] = (struct status_finding){.id = finding->id,
                                             .first_seen_ms = finding->first_seen_ms,
                                             .status = finding->status,
                                             .signature = copy(r->arena, finding->signature)};
    return true;
}

int status_read(struct arena *arena, struct db *db, uint64_t campaign, struct overview *status)
{
    struct reader r = {.arena = arena, .status = status};
    *status = (struct overview){.now_ms = clock_unix_ms(), .utf8 = terminal_has_utf8()};
    int error = campaign > 0 ? db_campaign_get(db, campaign, see_campaign, &r)
                             : db_campaigns(db, see_campaign, &r);
    if (error == DB_OK)
        error = db_sessions(db, see_session, &r);
    for (uint32_t i = 0; i < status->count && error == DB_OK; i++) {
        r.at = &status->campaigns[i];
        error = db_shards(db, r.at->campaign.id, see_shard, &r);
        if (error == DB_OK)
            error = db_rule_hits(db, r.at->campaign.id, see_rule, &r);
        if (error == DB_OK)
            error = db_statistics(db, r.at->campaign.id, see_point, &r);
        if (r.at->worked_ms > 0)
            r.at->rate = (double)r.at->campaign.counts.cases * 1000 / (double)r.at->worked_ms;
    }
    if (error == DB_OK)
        error = db_findings(db, DB_ANY_STATUS, see_finding, &r);
    return error;
}
