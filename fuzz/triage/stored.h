/*
 * stored.h - what the database holds of a finding, run again: its kernel as it was found ("raw")
 * and its minimised one.
 */
#ifndef FUZZ_CLI_STORED_H
#define FUZZ_CLI_STORED_H

#include "fuzz/case/example.h"
#include "fuzz/cli/cli.h"

enum { STORED_SIGNATURE_MAX = 512, STORED_FLAKY_RUNS = 5, STORED_TIME_MS = 60000 };

/* One stored form of a finding: what to run, and what it must show. */
struct stored {
    const char *form; /* "raw", "minimised" */
    const char *case_text;
    const char *kernel; /* hash */
    const char *signature;
    const char *tape; /* of the subject's execution */
    bool has_tape;    /* `tape` is known */
};

struct stored_outcome {
    bool shows; /* the signature */
    bool same;  /* ... and all bytes that are stored */
    const char *why;
};

/* What runs of a form in processes of their own showed. */
struct stored_trial {
    uint32_t runs, shown;
    char seen_as
        [STORED_SIGNATURE_MAX]; /* a signature of the same oracle and class, when it is not shown; or "" */
    int signal; /* that ended a run, and it was not the finding to do so; 0 = none */
    bool hung;  /* likewise: a run took too long */
};

/* A database whose findings are run; everything lives in cli's arena. */
struct replayer {
    struct cli *cli;
    struct db *db;
    struct db_message message;
    struct arena scratch;
};

/* False: reported. replayer_close is called in any case. */
bool replayer_open(struct replayer *r, struct cli *cli, enum db_mode mode);
void replayer_close(struct replayer *r);

bool stored_is_minimised(const struct db_finding *finding);
struct stored stored_minimised(const struct db_finding *finding);
/* A stored kernel read, and its text; NULL: reported. */
struct ast_kernel *stored_kernel(struct replayer *r, const char *hash, const char **text);

/* The minimised form, or, asked for or where there is none, the one that was found. False:
 * reported. */
bool stored_choose(struct replayer *r, const struct db_finding *finding, bool raw,
                   struct stored *stored);
/* False: reported. */
bool stored_raw(struct replayer *r, const struct db_finding *finding, struct stored *stored);

/* The case of a stored form, its tape included. False: reported. */
bool stored_case(struct replayer *r, const struct stored *stored, struct fuzz_case *c);
/* Runs one form again; from_case: the generator must give its kernel, too. False: it cannot be run;
 * reported. */
bool stored_run(struct replayer *r, const struct stored *stored, bool from_case,
                struct stored_outcome *outcome);

/* Runs one form up to `runs` times, each in a process of its own, so that one which crashes or
 * hangs (after time_ms) harms no other: findings of the oracle `engine` show in just that way. It
 * stops when the finding shows, unless `all`. False: it cannot be run; reported. */
bool stored_try(struct replayer *r, const struct stored *stored, uint32_t runs, bool all,
                uint64_t time_ms, struct stored_trial *trial);

/* Of a divergence that its own case does not always show: run it several times. */
bool stored_is_flaky(const struct db_finding *finding);

#endif
