/*
 * db.h - the triage database: what campaigns found, how often, and how to run it again.
 *
 * One SQLite file (WAL, STRICT tables). docs/database.md documents tables, columns and the views that
 * stay stable for people; this header is the only way in for the program.
 *
 * Failures are negative `enum db_error` values. Each leaves one sentence, naming the file, in the
 * message buffer that db_open was given; the buffer must outlive the handle. Success is 0 and leaves
 * the buffer alone.
 *
 * A handle belongs to one thread at a time. Any number of processes may read while one writes.
 *
 * Writes go in batches: db_begin, puts, db_commit. What db_commit acknowledged survives a kill and a
 * power cut. After any failure inside a batch call db_rollback: the batch is gone as a whole, what was
 * committed before is not. A put outside a batch is its own transaction.
 *
 * The order in which the puts of one campaign arrive does not matter: what is stored are facts, each of
 * which is a sum, a minimum, a maximum or a union, and the rest - a finding's counters, its example, its
 * status as long as nobody said anything - is derived from them when a transaction ends. So the content
 * (db_dump_content) does not depend on the number of workers, nor on how shards were split and merged.
 * Row ids do depend on the order of arrival.
 *
 * Strings are UTF-8 and NUL-terminated. On input NULL means "not known" and is stored as ''; on output
 * a string is never NULL. Strings handed to a callback live until it returns. Integers must be below
 * 2^63 (DB_ERROR_RANGE otherwise).
 */
#ifndef DB_DB_H
#define DB_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DB_MUST_CHECK __attribute__((warn_unused_result))

enum { DB_SCHEMA_VERSION = 3 };
enum { DB_MESSAGE_MAX = 2000, DB_HASH_LENGTH = 32 };

enum db_error {
    DB_OK = 0,
    DB_ERROR_ABSENT = -1,     /* no such file */
    DB_ERROR_ACCESS = -2,     /* a folder, no permission, no such folder */
    DB_ERROR_READONLY = -3,   /* file, folder or file system cannot be written */
    DB_ERROR_NOT_SQLITE = -4, /* not an SQLite file at all */
    DB_ERROR_FOREIGN = -5,    /* an SQLite file, but of another program */
    DB_ERROR_NEWER = -6,      /* written by a newer simtfuzz */
    DB_ERROR_OLDER = -7,      /* of an older simtfuzz, and opened read-only: cannot be migrated */
    DB_ERROR_CORRUPT = -8,    /* damaged; see db_quarantine */
    DB_ERROR_LOCKED = -9,     /* another process writes, and went on for longer than we wait */
    DB_ERROR_FULL = -10,      /* disk or quota full */
    DB_ERROR_IO = -11,        /* any other failure of the system below */
    DB_ERROR_MEMORY = -12,
    DB_ERROR_NOT_FOUND = -13, /* no such finding, campaign or kernel */
    DB_ERROR_AMBIGUOUS = -14, /* the prefix fits several signatures; the message lists them */
    DB_ERROR_RANGE = -15,     /* a value that the schema refuses: a fault of the caller */
};

/* "corrupt", "locked", ... for logs and --json; "ok" for 0. */
const char *db_error_name(int error);

struct db;

struct db_message {
    char text[DB_MESSAGE_MAX];
};

enum db_mode {
    DB_CREATE,    /* read and write; made if absent or empty; older schemas are migrated */
    DB_READWRITE, /* read and write; must exist; older schemas are migrated */
    DB_READONLY,  /* works on a read-only file system, too */
};

/* Opens and checks: kind of file, version, structure; all of it in files up to 32 MiB, and for writing in a
 * larger one whose last writer did not close it. Elsewhere damage is reported by the query that meets it. On
 * failure *db is NULL and nothing was changed: a damaged or foreign file is never written, renamed or deleted
 * here. */
DB_MUST_CHECK int db_open(const char *path, enum db_mode mode, struct db_message *message,
                          struct db **db);

/* Ends the open batch without committing it, frees the handle. NULL is allowed. */
void db_close(struct db *db);

/* Reads all of it: pages, indices, constraints, references. DB_ERROR_CORRUPT says what is wrong first. */
DB_MUST_CHECK int db_check(struct db *db);

/* How long to wait for another process's lock before DB_ERROR_LOCKED; 10 s at first. */
void db_lock_wait(struct db *db, uint32_t milliseconds);

/* Moves a damaged database aside, with the -wal and -shm files that belong to it, to the first free
 * `path.damaged-N`; never overwrites. `moved` receives the new name. */
DB_MUST_CHECK int db_quarantine(const char *path, char *moved, size_t moved_size,
                                struct db_message *message);

DB_MUST_CHECK int db_begin(struct db *db);
DB_MUST_CHECK int db_commit(struct db *db);
void db_rollback(struct db *db); /* also allowed when no batch is open */

/* ---- campaigns --------------------------------------------------------------------------------- */

enum db_campaign_state { DB_CAMPAIGN_RUNNING, DB_CAMPAIGN_FINISHED, DB_CAMPAIGN_INTERRUPTED };
const char *db_campaign_state_name(enum db_campaign_state state);

/* Running totals; they only grow. Equal for equal seed, options and cases, whatever the workers. */
struct db_progress {
    uint64_t cases; /* so many of this shard, from its first on, are done and stored */
    uint64_t kernels;
    uint64_t thread_steps;
    uint64_t warp_steps;
    uint64_t example_steps; /* of both, of running findings again and minimising them */
};

/* What one process works on: a part of a campaign, or all of it (0 of 1). */
struct db_shard {
    uint64_t campaign;
    uint64_t index;
};

struct db_campaign {
    uint64_t id; /* set by the database, from 1 */
    uint64_t seed;
    uint64_t cases_target; /* 0 = as many as time allows */
    uint64_t shard_index, shard_count;
    uint64_t shards;     /* how many of them this database knows; shard_index is the first */
    const char *options; /* canonical text of everything that decides what the cases are */
    const char *version; /* of simtfuzz */
    const char *config;  /* the text of the configuration file; '' = none */
    enum db_campaign_state state;
    struct db_progress progress; /* of all shards */
    /* These, and no others, may differ between two runs of one campaign. */
    uint64_t jobs, pid; /* of the last session */
    const char *host;
    uint64_t started_ms; /* of the last session; Unix time */
    uint64_t seen_ms;    /* when progress was last stored */
    uint64_t sessions;   /* 1 + how often it was resumed, over all shards */
};

/* Starts a shard with its first session, of this process. It becomes part of a campaign of equal seed,
 * options, version and shard count that has no such shard yet, or of a new one. Reads seed to config,
 * jobs, started_ms. */
DB_MUST_CHECK int db_campaign_start(struct db *db, const struct db_campaign *campaign,
                                    struct db_shard *shard);
/* A further session, of this process, of a shard that did not reach its end. */
DB_MUST_CHECK int db_campaign_resume(struct db *db, const struct db_shard *shard, uint64_t jobs,
                                     uint64_t now_ms);
/* How many cases it is to have; 0 = as many as time allows. */
DB_MUST_CHECK int db_shard_target_set(struct db *db, const struct db_shard *shard,
                                      uint64_t cases_target);
/* Stores the totals; DB_ERROR_LOCKED when another session has followed that of this handle. In the same batch as the findings of those cases: --resume starts at .cases. */
DB_MUST_CHECK int db_campaign_update(struct db *db, const struct db_shard *shard,
                                     const struct db_progress *progress, uint64_t now_ms);
/* Ends the session and drops kernels that nothing refers to any more. */
DB_MUST_CHECK int db_campaign_finish(struct db *db, const struct db_shard *shard,
                                     enum db_campaign_state state, uint64_t now_ms);

/* Statistics over the cases (not seconds, so that content is the same): case numbers are divided into
 * stretches 0, 1, 2, ..., the same ones for all shards. */
struct db_statistics {
    uint64_t number;             /* of the stretch */
    uint64_t end_case;           /* it ends before this case */
    struct db_progress progress; /* db_statistics_add: what is new; in queries: the total so far */
    uint64_t findings;           /* in queries: distinct signatures so far */
};

struct db_verdict {
    const char *oracle;
    const char *verdict; /* agree, diverge, not_applicable, inconclusive */
    uint64_t count;
};

/* These add to what is stored. `rule`: as in `simtfuzz rules`, unique over all rule tables; or "RULE CONTEXT". */
DB_MUST_CHECK int db_statistics_add(struct db *db, const struct db_shard *shard,
                                    const struct db_statistics *statistics,
                                    const struct db_verdict *verdicts, size_t verdict_count);
DB_MUST_CHECK int db_rule_hits_add(struct db *db, const struct db_shard *shard, const char *rule,
                                   uint64_t hits);
DB_MUST_CHECK int db_verdicts_add(struct db *db, const struct db_shard *shard,
                                  const struct db_verdict *verdict);
/* Why an oracle did not conclude; verdict->verdict is not_applicable or inconclusive. */
DB_MUST_CHECK int db_reasons_add(struct db *db, const struct db_shard *shard,
                                 const struct db_verdict *verdict, const char *reason);

/* How often something happened to an outside implementation: "kernels", a verdict, "cpu us", ... */
struct db_outside {
    const char *subject, *version, *what;
    uint64_t count;
};
DB_MUST_CHECK int db_outside_add(struct db *db, const struct db_shard *shard,
                                 const struct db_outside *outside);

/* A case that the campaign leaves out, since the engine crashed or hung there. */
struct db_skipped {
    uint64_t campaign, case_number;
    const char *why; /* crash, hang */
    const char *detail;
};

/* Putting a case again replaces it. */
DB_MUST_CHECK int db_skipped_put(struct db *db, const struct db_skipped *skipped);

/* ---- kernels ----------------------------------------------------------------------------------- */

/* Stores a kernel by content hash (DB_HASH_LENGTH lower-case hexadecimal digits); known ones are left
 * alone. Put a kernel before anything that refers to it, in the same batch. */
DB_MUST_CHECK int db_kernel_put(struct db *db, const char *hash, const char *text);

/* ---- findings ---------------------------------------------------------------------------------- */

enum db_status { DB_STATUS_OPEN, DB_STATUS_KNOWN, DB_STATUS_FIXED, DB_STATUS_INVALID };
const char *db_status_name(enum db_status status);
/* false: no such status */
bool db_status_parse(const char *name, enum db_status *status);

/* What became of minimising the example. */
enum db_minimisation {
    DB_MINIMISATION_NONE, /* there is nothing to minimise: flaky, a crash */
    DB_MINIMISATION_DONE,
    DB_MINIMISATION_PENDING, /* there was no time yet */
    DB_MINIMISATION_SLIPPED, /* what it becomes has another signature: a finding of its own */
};

const char *db_minimisation_name(enum db_minimisation minimisation);
/* false: no such word */
bool db_minimisation_parse(const char *name, enum db_minimisation *minimisation);

/* What a finding is to its users, in the order in which they look at them. */
enum db_state {
    DB_STATE_REGRESSION, /* fixed, and seen again since */
    DB_STATE_OPEN,
    DB_STATE_KNOWN,
    DB_STATE_INVALID,
    DB_STATE_FIXED,
    DB_STATE_SUPPRESSED, /* open or a regression, if it were not for a suppression */
};
const char *db_state_name(enum db_state state);
/* false: no such state */
bool db_state_parse(const char *name, enum db_state *state);

/* A smaller form of the case, and what it took to get there. All empty when not minimised. */
struct db_minimised {
    const char *kernel; /* hash */
    const char *launch; /* "threads=8 warp=4 blocks=1" */
    const char *tape;
    const char *case_text; /* replays it */
    uint64_t tests;        /* candidates tried */
    uint64_t statements;   /* of the minimised kernel */
};

/* A bucket: everything with one signature. */
struct db_finding {
    uint64_t id;           /* set by the database, from 1 */
    const char *signature; /* K2: oracle|class|rule|observable; unique */
    const char *k1;        /* oracle|class */
    const char *oracle, *class, *rule, *observable;
    const char *subject; /* subjects of the example */
    enum db_status status;
    const char *reference; /* what makes it known: 'A-4' */
    const char *note;      /* a person's */
    /* The example: the lowest case of the campaign that found it first. */
    const char *raw_kernel; /* hash */
    const char *raw_case;   /* replays it */
    uint64_t raw_statements;
    struct db_minimised minimised;
    enum db_minimisation minimisation;
    const char *evidence;       /* JSON */
    const char *cause;          /* findings with one cause are taken for one bug (signature.h) */
    uint64_t signature_version; /* by which signature and cause were made */
    /* Kept by the database. */
    uint64_t first_campaign, first_case;
    uint64_t last_campaign, last_case;
    uint64_t occurrences;
    uint64_t first_seen_ms, last_seen_ms; /* Unix time of storing; 0 = not known */
    uint64_t status_ms, note_ms;          /* when somebody last set it; 0 = nobody did */
    bool suppressed;                      /* by an active suppression, whatever its status */
    enum db_state state;
};

/* One case that showed the finding, with everything that replays it. */
struct db_occurrence {
    uint64_t finding, campaign, case_number;
    const char *case_text; /* generator version, seed, number, subjects, ... */
    const char *kernel;    /* hash */
    const char *tapes;
    const char *raw_key; /* signature before minimisation */
    const char *cause;   /* of this case */
    bool replayed;       /* the re-run before storing gave the same verdict */
};

/* Of each raw key the lowest cases of a campaign are kept as examples: a common finding must not fill
 * the disk. */
enum { DB_EXAMPLES_PER_KEY = 4 };

struct db_upserted {
    uint64_t id;
    bool created;          /* this signature was not known before */
    enum db_status status; /* the stored one: a FIXED finding that comes back is a regression */
    bool suppressed;
};

/* Stores an example under its finding: the finding if its signature is new, the example if it is among
 * the lowest of its raw key (a second one of the same case: no change). `finding` needs signature to
 * evidence; reference: what the program knows it as, NULL or '' = it does not. `occurrence`: campaign,
 * case_number, tapes, raw_key, replayed. Kernels must be stored. Occurrences are counted by
 * db_tally_add. */
DB_MUST_CHECK int db_example_put(struct db *db, const struct db_finding *finding,
                                 const struct db_occurrence *occurrence,
                                 struct db_upserted *result);

/* How often a raw key was seen, examples included. */
struct db_tally {
    uint64_t occurrences, first_case, last_case;
};

/* Counts further occurrences. Those of a raw key that are not examples count for the finding that its
 * lowest example was filed under. */
DB_MUST_CHECK int db_tally_add(struct db *db, const struct db_shard *shard, const char *raw_key,
                               const struct db_tally *tally);
/* Replaces the minimised form, as `simtfuzz reduce` does; minimisation is then DONE. Reads minimised,
 * cause, signature_version and, unless it is '', evidence. */
DB_MUST_CHECK int db_finding_minimised_set(struct db *db, uint64_t id,
                                           const struct db_finding *finding);
DB_MUST_CHECK int db_finding_minimisation_set(struct db *db, uint64_t id,
                                              enum db_minimisation minimisation);
/* reference NULL leaves it as it is. */
DB_MUST_CHECK int db_finding_status_set(struct db *db, uint64_t id, enum db_status status,
                                        const char *reference);
DB_MUST_CHECK int db_finding_note_set(struct db *db, uint64_t id, const char *note);

/* Suppressed findings are counted, but neither reported nor part of the exit status. The signature
 * need not have been found yet; '*' in it stands for any text. expires_ms: Unix time at which it ends by itself; 0 = never. */
DB_MUST_CHECK int db_suppress(struct db *db, const char *signature, const char *note,
                              uint64_t expires_ms);
DB_MUST_CHECK int db_unsuppress(struct db *db, const char *signature);
DB_MUST_CHECK int db_is_suppressed(struct db *db, const char *signature, bool *suppressed);

/* ---- queries ----------------------------------------------------------------------------------- */

/* Callbacks return false to stop early (the query still succeeds). They must not write. */
typedef bool db_finding_use(void *context, const struct db_finding *finding);
typedef bool db_occurrence_use(void *context, const struct db_occurrence *occurrence);
typedef bool db_tally_use(void *context, const char *raw_key, const struct db_tally *tally);
typedef bool db_campaign_use(void *context, const struct db_campaign *campaign);
/* A finding in a campaign; a process that worked on a campaign. */
struct db_sighting {
    uint64_t finding, campaign;
    uint64_t first_case, last_case, occurrences;
};
struct db_session {
    uint64_t campaign, number; /* from 0 within the campaign */
    uint64_t jobs, started_ms, seen_ms;
};
typedef bool db_sighting_use(void *context, const struct db_sighting *sighting);
typedef bool db_session_use(void *context, const struct db_session *session);
typedef bool db_statistics_use(void *context, const struct db_statistics *statistics);
typedef bool db_rule_use(void *context, const char *rule, uint64_t hits);
typedef bool db_verdict_use(void *context, const struct db_verdict *verdict, const char *reason);
struct db_suppression {
    const char *signature, *note;
    uint64_t expires_ms; /* 0 = never */
    bool active;         /* false: it has expired */
    uint64_t findings;   /* that it covers, with any status */
    uint64_t held;       /* ... of these: open or a regression but for suppressions */
};
typedef bool db_suppression_use(void *context, const struct db_suppression *suppression);
typedef bool db_skipped_use(void *context, const struct db_skipped *skipped);
typedef void db_text_use(void *context, const char *text, size_t length);

enum { DB_ANY_STATUS = 0xf };
#define DB_STATUS_BIT(status) (1u << (status))

/* Findings with one of the statuses of the mask (DB_STATUS_BIT), in the order of their ids. To be
 * quick, the example's texts (raw_kernel, raw_case, evidence, those of minimised) are left ''. */
DB_MUST_CHECK int db_findings(struct db *db, unsigned statuses, db_finding_use *use, void *context);
/* The same for those that the campaign has seen, for the first time or again. */
DB_MUST_CHECK int db_campaign_findings(struct db *db, uint64_t campaign, unsigned statuses,
                                       db_finding_use *use, void *context);
/* Of all findings in all campaigns, by finding, then campaign. */
DB_MUST_CHECK int db_sightings(struct db *db, db_sighting_use *use, void *context);

/* Which findings, and how many. All zero: every one. */
struct db_selection {
    unsigned states; /* DB_STATE_BIT; 0 = any */
    const char *const *oracles;
    size_t oracle_count; /* 0 = any */
    uint64_t since_ms;   /* seen at or after; 0 = any */
    uint64_t
        since_campaign; /* seen in this campaign or in one that was started after it; 0 = any */
    bool fresh;         /* not seen before the last campaign */
    uint64_t low, high; /* ids; high 0 = any */
    /* Each word stands in the signature, cause, note, reference, subject, evidence or kernels, whatever its case. */
    const char *const *words;
    size_t word_count;
    bool by_id; /* otherwise by state, then the last seen first, then the most frequent */
    uint64_t limit, offset; /* limit 0 = all */
};

enum { DB_WORDS_MAX = 16, DB_ORACLES_MAX = 32 };
#define DB_STATE_BIT(state) (1u << (state))

/* Texts as in db_findings. */
DB_MUST_CHECK int db_findings_select(struct db *db, const struct db_selection *selection,
                                     db_finding_use *use, void *context);
/* How many there are without limit and offset. */
DB_MUST_CHECK int db_findings_count(struct db *db, const struct db_selection *selection,
                                    uint64_t *count);

/* The finding that a person means by `name`: a number, a signature, or its unique prefix. */
DB_MUST_CHECK int db_finding_resolve(struct db *db, const char *name, uint64_t *id);
DB_MUST_CHECK int db_finding_get(struct db *db, uint64_t id, db_finding_use *use, void *context);
/* By campaign, then case number. */
DB_MUST_CHECK int db_occurrences(struct db *db, uint64_t finding, db_occurrence_use *use,
                                 void *context);
DB_MUST_CHECK int db_kernel_get(struct db *db, const char *hash, db_text_use *use, void *context);

/* In the order of their ids. */
DB_MUST_CHECK int db_campaigns(struct db *db, db_campaign_use *use, void *context);
DB_MUST_CHECK int db_campaign_get(struct db *db, uint64_t id, db_campaign_use *use, void *context);
/* Of all campaigns, by campaign, then number. */
DB_MUST_CHECK int db_sessions(struct db *db, db_session_use *use, void *context);
/* The same for single shards, of one campaign; their progress and last session. */
DB_MUST_CHECK int db_shards(struct db *db, uint64_t campaign, db_campaign_use *use, void *context);
/* Of all its sessions together. */
DB_MUST_CHECK int db_shard_time(struct db *db, const struct db_shard *shard,
                                uint64_t *milliseconds);
/* What --resume goes on with: of the last campaign of this seed, options and version, the shard, if it is
 * not finished. DB_ERROR_NOT_FOUND when there is none. Reads seed, options, version and shard. */
DB_MUST_CHECK int db_campaign_unfinished(struct db *db, const struct db_campaign *like,
                                         struct db_shard *shard);
/* The raw keys that a shard has seen; the first DB_EXAMPLES_PER_KEY of each were handed in as examples. */
DB_MUST_CHECK int db_tallies(struct db *db, const struct db_shard *shard, db_tally_use *use,
                             void *context);

/* Of one campaign, or the sum over all (campaign 0); by name. */
DB_MUST_CHECK int db_rule_hits(struct db *db, uint64_t campaign, db_rule_use *use, void *context);
/* Likewise of a rule in a context, "RULE CONTEXT", with the cases of the sample in which it fired there. */
DB_MUST_CHECK int db_pair_hits(struct db *db, uint64_t campaign, db_rule_use *use, void *context);
/* reason is '' */
DB_MUST_CHECK int db_verdicts(struct db *db, uint64_t campaign, db_verdict_use *use, void *context);
DB_MUST_CHECK int db_reasons(struct db *db, uint64_t campaign, db_verdict_use *use, void *context);
DB_MUST_CHECK int db_statistics(struct db *db, uint64_t campaign, db_statistics_use *use,
                                void *context);
/* Likewise; by subject, version, what. */
typedef bool db_outside_use(void *context, const struct db_outside *outside);
DB_MUST_CHECK int db_outside(struct db *db, uint64_t campaign, db_outside_use *use, void *context);
/* By case number. */
DB_MUST_CHECK int db_skipped(struct db *db, uint64_t campaign, db_skipped_use *use, void *context);
/* By signature; also those that have expired. */
DB_MUST_CHECK int db_suppressions(struct db *db, db_suppression_use *use, void *context);

/* ---- bisection --------------------------------------------------------------------------------- */

/* What `simtfuzz triage bisect` found out about a form of a finding. */
struct db_bisection {
    uint64_t finding;
    const char *form;           /* raw, minimised */
    const char *answer;         /* starts, ceases, always, never, no build */
    const char *before, *after; /* the builds around the change, or '' */
    uint64_t unclear;           /* builds between them, which cannot say */
    uint64_t builds, asked, silent, changes;
    uint64_t changed_ms; /* kept by the database */
};
typedef bool db_bisection_use(void *context, const struct db_bisection *bisection);

/* Replaces the one of that form. */
DB_MUST_CHECK int db_bisection_put(struct db *db, const struct db_bisection *bisection);
/* Of one finding, or all (0); by finding, the raw form first. */
DB_MUST_CHECK int db_bisections(struct db *db, uint64_t finding, db_bisection_use *use,
                                void *context);

/* Joins databases to `out`, which is made if it is not there. In any order, any number of times, with the
 * same content: what merges how is in docs/database.md. Inputs are only read; they may be of an older
 * version, or in use. Either all of it is done or nothing, also when the process is killed. */
DB_MUST_CHECK int db_merge_files(const char *out, const char *const *inputs, size_t count,
                                 struct db_message *message);

/* Copies what can be read of a damaged database to `out`, which must not be there, and says what of each table. `path` is
 * only read. */
struct db_salvaged {
    const char *table;
    uint64_t rows;    /* that the new file has */
    uint64_t lost;    /* that could not be read, or were not as the schema wants them */
    bool lost_known;  /* else nothing in the file says how many: 1 at least */
    uint64_t dropped; /* left out, since they refer to what is lost; not in the other numbers */
};
typedef void db_salvage_use(void *context, const struct db_salvaged *table);
DB_MUST_CHECK int db_salvage(const char *path, const char *out, db_salvage_use *use, void *context,
                             struct db_message *message);

/* Prints as JSON lines, in canonical order and without the findings' ids, all content that must be
 * equal between two runs of the same campaigns: everything but sessions (jobs, times), what minimising took
 * (each shard has examples of its own to minimise) and kernels
 * that nothing refers to. Two databases are "the same" when these are. */
DB_MUST_CHECK int db_dump_content(struct db *db, FILE *out);

#endif
