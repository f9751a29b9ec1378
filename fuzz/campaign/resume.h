/*
 * resume.h - which campaign `run --resume` goes on with.
 */
#ifndef FUZZ_RESUME_H
#define FUZZ_RESUME_H

#include "fuzz/campaign/campaign.h"

/* Which of the options somebody asked for; the others are those of the campaign that is found. */
struct resume_wish {
    bool seed, cases_options, shard; /* cases_options: all that decide what the cases are */
    bool budget;                     /* cases or time */
};

enum resume_result {
    RESUME_FAULT = -1, /* the message says what */
    RESUME_NOTHING,    /* there is no such campaign */
    RESUME_FOUND,
};

/* Looks for the last unfinished shard of a campaign that agrees with what is wished; with a seed, also for a
 * finished one, when there is none of these. Sets options->resume, and fills the options that are not
 * wished from it. */
enum resume_result resume_find(struct arena *arena, struct campaign_options *options,
                               const struct resume_wish *wish, struct db_message *message);

/* Everything that decides what the cases are and what becomes of findings, but seed and shard: a
 * campaign's options in the database. */
const char *resume_print_options(struct arena *arena, const struct campaign_options *options);

#endif
