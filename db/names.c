/* The words in which states, statuses and errors are stored and printed. */
#include "db/db.h"

#include <string.h>

static const char *const error_names[] = {
    [-DB_OK] = "ok",
    [-DB_ERROR_ABSENT] = "absent",
    [-DB_ERROR_ACCESS] = "access",
    [-DB_ERROR_READONLY] = "read_only",
    [-DB_ERROR_NOT_SQLITE] = "not_sqlite",
    [-DB_ERROR_FOREIGN] = "foreign",
    [-DB_ERROR_NEWER] = "newer",
    [-DB_ERROR_OLDER] = "older",
    [-DB_ERROR_CORRUPT] = "corrupt",
    [-DB_ERROR_LOCKED] = "locked",
    [-DB_ERROR_FULL] = "full",
    [-DB_ERROR_IO] = "io",
    [-DB_ERROR_MEMORY] = "memory",
    [-DB_ERROR_NOT_FOUND] = "not_found",
    [-DB_ERROR_AMBIGUOUS] = "ambiguous",
    [-DB_ERROR_RANGE] = "range",
};

static const char *const state_names[] = {
    [DB_CAMPAIGN_RUNNING] = "running",
    [DB_CAMPAIGN_FINISHED] = "finished",
    [DB_CAMPAIGN_INTERRUPTED] = "interrupted",
};

static const char *const status_names[] = {
    [DB_STATUS_OPEN] = "open",
    [DB_STATUS_KNOWN] = "known",
    [DB_STATUS_FIXED] = "fixed",
    [DB_STATUS_INVALID] = "invalid",
};

static const char *const minimisation_names[] = {
    [DB_MINIMISATION_NONE] = "none",
    [DB_MINIMISATION_DONE] = "done",
    [DB_MINIMISATION_PENDING] = "pending",
    [DB_MINIMISATION_SLIPPED] = "slipped",
};

static const char *const finding_state_names[] = {
    [DB_STATE_REGRESSION] = "regression", [DB_STATE_OPEN] = "open",
    [DB_STATE_KNOWN] = "known",           [DB_STATE_INVALID] = "invalid",
    [DB_STATE_FIXED] = "fixed",           [DB_STATE_SUPPRESSED] = "suppressed",
};

const char *db_error_name(int error)
{
    int count = (int)(sizeof error_names / sizeof error_names[0]);
    return error <= 0 && error > -count ? error_names[-error] : "unknown";
}

const char *db_campaign_state_name(enum db_campaign_state state)
{
    return state_names[state];
}

const char *db_status_name(enum db_status status)
{
    return status_names[status];
}

/* The place of a name in a table; false: it is none of them. */
static bool find_name(const char *const *names, size_t count, const char *name, size_t *index)
{
    for (*index = 0; *index < count; ++*index)
        if (strcmp(name, names[*index]) == 0)
            return true;
    return false;
}

bool db_status_parse(const char *name, enum db_status *status)
{
    size_t index;
    bool found =
        find_name(status_names, sizeof status_names / sizeof status_names[0], name, &index);
    if (found)
        *status = (enum db_status)index;
    return found;
}

const char *db_minimisation_name(enum db_minimisation minimisation)
{
    return minimisation_names[minimisation];
}

bool db_minimisation_parse(const char *name, enum db_minimisation *minimisation)
{
    size_t index;
    bool found = find_name(minimisation_names,
                           sizeof minimisation_names / sizeof minimisation_names[0], name, &index);
    if (found)
        *minimisation = (enum db_minimisation)index;
    return found;
}

const char *db_state_name(enum db_state state)
{
    return finding_state_names[state];
}

bool db_state_parse(const char *name, enum db_state *state)
{
    for (size_t i = 0; i < sizeof finding_state_names / sizeof finding_state_names[0]; i++) {
        if (strcmp(name, finding_state_names[i]) == 0) {
            *state = (enum db_state)i;
            return true;
        }
    }
    return false;
}
