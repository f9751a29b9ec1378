/*
 * findings.h - kernels, findings and their examples, what people say of them.
 */
#ifndef DB_FINDINGS_H
#define DB_FINDINGS_H

#include "db/campaigns.h"

/* ---- kernels ---- */

/* Stores a kernel by content hash (DB_HASH_LENGTH lower-case hexadecimal digits); known ones are left
 * alone. Put a kernel before anything that refers to it, in the same batch. */
DB_MUST_CHECK int db_kernel_put(struct db *db, const char *hash, const char *text);

/* ---- findings ---- */

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
 * need not have been found yet; '*' in it stands for any text. expires_ms: Unix time at which it ends by itself; 0 =
 * never. */
DB_MUST_CHECK int db_suppress(struct db *db, const char *signature, const char *note,
                              uint64_t expires_ms);
DB_MUST_CHECK int db_unsuppress(struct db *db, const char *signature);
DB_MUST_CHECK int db_is_suppressed(struct db *db, const char *signature, bool *suppressed);

#endif
