/*
 * chosen.h - which execution a person wants to look at: of a file, of a finding of the database, of a case.
 */
#ifndef FUZZ_CHOSEN_H
#define FUZZ_CHOSEN_H

#include "fuzz/cli/cli.h"

struct chosen {
    const char *name; /* for messages: the file, "finding 3" */
    const char *text; /* of the kernel, as it is stored */
    struct ast_kernel *kernel;
    enum subject_id subject; /* the usual one, or the finding's */
    struct sched_spec schedule;
    const char *schedule_name;
    const char *note;                 /* what an oracle says of it, or NULL */
    const struct db_finding *finding; /* NULL: it is none */
    bool minimised;                   /* of a finding */
    const struct tape *stem, *round;  /* of a hang of the termination matrix, or NULL */
};

/* Whether the command line has the option. */
bool chosen_gives(const struct cli *cli, const char *option);

/* --schedule and --seed. False: reported. */
bool chosen_schedule(struct cli *cli, struct chosen *chosen);

/* A file. False: reported. */
bool chosen_file(struct cli *cli, const char *path, struct chosen *chosen);
/* A finding of --db, a number or the beginning of a signature, and the execution that is stored of it, unless
 * --schedule asks for another. Otherwise an exit status, after a message. */
int chosen_finding(struct cli *cli, const char *name, struct chosen *chosen);
/* A generated case, as `triage show` prints it. False: reported. */
bool chosen_case(struct cli *cli, const char *text, struct chosen *chosen);

/* Whichever of them the text names. Otherwise an exit status, after a message. */
int chosen_any(struct cli *cli, const char *text, struct chosen *chosen);

/* Its program for a subject, which can be run under the schedule; NULL after a message. */
const struct program *chosen_program(struct cli *cli, const struct chosen *chosen,
                                     enum subject_id subject);

#endif
