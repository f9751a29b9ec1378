/*
 * state.h - what a finding is to its users, as SQL: queries and views say it in the same words.
 *
 * A suppression whose signature has a '*' is a pattern: '*' stands for any text. It ends by itself at its
 * time; this is the only place where the clock decides anything.
 *
 * A fixed finding is a regression when a campaign saw it after that was said, in a process that was started
 * after it was said: one that ran on with an old build does not count.
 *
 * f is a row of findings, p one of suppressions.
 */
#ifndef DB_STATE_H
#define DB_STATE_H

#define SQL_P_IS_ACTIVE                                                                            \
    "p.removed = 0 AND (p.expires_ms = 0 OR p.expires_ms > 1000 * strftime('%s', 'now'))"

/* The same term as that of the index suppressions_patterns. */
#define SQL_P_IS_PATTERN "p.signature GLOB '*[*]*'"

/* '*' is the only character of a pattern that has a meaning. */
#define SQL_P_GLOB "replace(replace(p.signature, '[', '[[]'), '?', '[?]')"
#define SQL_F_FITS_P "f.signature GLOB " SQL_P_GLOB

#define SQL_IS_SUPPRESSED(signature)                                                               \
    "(EXISTS (SELECT 1 FROM suppressions p WHERE p.signature = " signature " AND " SQL_P_IS_ACTIVE \
    ")"                                                                                            \
    " OR EXISTS (SELECT 1 FROM suppressions p WHERE " SQL_P_IS_PATTERN " AND " SQL_P_IS_ACTIVE     \
    " AND " signature " GLOB " SQL_P_GLOB "))"
#define SQL_F_IS_SUPPRESSED SQL_IS_SUPPRESSED("f.signature")
#define SQL_1_IS_SUPPRESSED SQL_IS_SUPPRESSED("?1")

#define SQL_IS_REGRESSION                                                                          \
    "(f.status = 'fixed' AND f.last_seen_ms > f.status_ms AND EXISTS (SELECT 1 FROM sightings g"   \
    " JOIN sessions s ON s.campaign = g.campaign WHERE g.finding = f.id"                           \
    " AND g.last_ms > f.status_ms AND s.started_ms >= f.status_ms))"

/* The names are those of db_state_name; each condition is asked only where it matters. */
#define SQL_STATE                                                                                  \
    "CASE f.status"                                                                                \
    " WHEN 'open' THEN iif(" SQL_F_IS_SUPPRESSED ", 'suppressed', 'open')"                         \
    " WHEN 'fixed' THEN iif(" SQL_IS_REGRESSION ", iif(" SQL_F_IS_SUPPRESSED                       \
    ", 'suppressed', 'regression'), 'fixed') ELSE f.status END"

/* What db_read_finding reads. */
#define SQL_FINDING_COLUMNS                                                                        \
    "f.id, f.signature, f.k1, f.oracle, f.class, f.rule, f.observable, f.subject, f.status,"       \
    " f.reference, f.note, f.raw_statements, f.minimised_statements, f.minimise_tests,"            \
    " f.first_campaign, f.first_case, f.last_campaign, f.last_case, f.occurrences,"                \
    " f.first_seen_ms, f.last_seen_ms, f.status_ms, " SQL_F_IS_SUPPRESSED                          \
    ", f.cause, f.minimisation, f.signature_version, f.note_ms, " SQL_STATE

#endif
