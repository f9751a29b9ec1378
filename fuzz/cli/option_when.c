/*
 * option_when.c - options of `triage` that say when, and in which states.
 */
#include "fuzz/base/clock.h"
#include "fuzz/cli/options.h"

#include <stdio.h>
#include <string.h>

/* 2026-12-24, 2026-12-24T06:00, or with a blank; UTC. */
static bool parse_date(const char *text, uint64_t *unix_ms)
{
    int year, month, day, hour = 0, minute = 0, used = 0;
    bool date = sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &used) == 3 && used == 10;
    if (date && text[used] && strchr("T ", text[used])) {
        int more = 0;
        date = sscanf(text + used + 1, "%2d:%2d%n", &hour, &minute, &more) == 2 && more == 5;
        used += 1 + more;
    }
    if (!date || text[used] || strspn(text, "0123456789-T: ") != strlen(text))
        return false;
    struct tm asked = {.tm_year = year - 1900,
                       .tm_mon = month - 1,
                       .tm_mday = day,
                       .tm_hour = hour,
                       .tm_min = minute};
    struct tm utc = asked;
    time_t seconds = timegm(&utc);
    /* the 30th of February becomes a day in March */
    bool same = utc.tm_mon == asked.tm_mon && utc.tm_mday == asked.tm_mday &&
                utc.tm_hour == asked.tm_hour && utc.tm_min == asked.tm_min;
    if (!same || seconds <= 0)
        return false;
    *unix_ms = (uint64_t)seconds * 1000;
    return true;
}

bool option_parse_until(struct cli *cli, const char *text)
{
    if (parse_date(text, &cli->options.triage.until_ms))
        return true;
    cli_misuse(cli, "--until wants a date (2026-12-24, 2026-12-24T06:00; UTC), not '%s'", text);
    return false;
}

bool option_parse_since(struct cli *cli, const char *text)
{
    struct cli_triage_options *o = &cli->options.triage;
    uint64_t passed;
    o->since_ms = o->since_campaign = 0;
    if (*text && text[strspn(text, "0123456789")] == '\0' &&
        cli_parse_u64(text, &o->since_campaign) && o->since_campaign > 0)
        return true;
    if (parse_date(text, &o->since_ms))
        return true;
    if (text[strspn(text, "0123456789")] != '\0' && cli_parse_time(text, &passed)) {
        uint64_t now = clock_unix_ms();
        o->since_ms = passed < now ? now - passed : 1;
        return true;
    }
    cli_misuse(cli,
               "--since wants a time (24h, 7d), a date (2026-11-22) or a campaign's number, not "
               "'%s'",
               text);
    return false;
}

bool option_parse_states(struct cli *cli, const char *text)
{
    unsigned states = 0;
    for (const char *at = text;;) {
        size_t length = strcspn(at, ",");
        enum db_state state;
        if (!db_state_parse(arena_strndup(&cli->arena, at, length), &state)) {
            cli_misuse(cli,
                       "there is no status '%.*s' (open, known, fixed, invalid; regression, "
                       "suppressed)",
                       (int)length, at);
            return false;
        }
        states |= DB_STATE_BIT(state);
        if (!at[length])
            break;
        at += length + 1;
    }
    cli->options.triage.states = states;
    return true;
}
