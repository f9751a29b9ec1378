/*
 * search_digests.h - one number for all that a search says, and for a progress model's answers: tapes, counts, cuts.
 */
#ifndef TESTS_UNIT_SEARCH_DIGESTS_H
#define TESTS_UNIT_SEARCH_DIGESTS_H

#include "tests/unit/shared/digests.h"

#include "engine/progress/lasso.h"
#include "engine/progress/progress.h"

static inline void digest_entries(uint64_t *digest, const struct tape *tape)
{
    digest_word(digest, tape ? tape->count : UINT64_MAX);
    for (uint32_t i = 0; tape && i < tape->count; i++)
        digest_word(digest, tape->entries[i]);
}

/* All but the bytes. */
static inline void digest_result(uint64_t *digest, const struct search_result *result)
{
    const uint64_t words[] = {result->method,      result->complete, result->states,
                              result->transitions, result->steps,    result->executions,
                              result->race,        result->liveness, result->outcome_count};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        digest_word(digest, words[i]);
    digest_text(digest, result->cut);
    for (uint32_t i = 0; i < result->outcome_count; i++) {
        digest_word(digest, result->outcomes[i].status);
        digest_word(digest, result->outcomes[i].store_hash);
        digest_entries(digest, result->outcomes[i].tape);
    }
    digest_entries(digest, result->lasso_stem);
    digest_entries(digest, result->lasso_loop);
}

static inline void digest_answers(uint64_t *digest, const struct progress *progress)
{
    for (uint32_t m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        const struct progress_answer *a = &progress->answers[m];
        digest_word(digest, a->verdict);
        digest_word(digest, a->strong);
        digest_word(digest, a->states);
        digest_entries(digest, a->stem);
        digest_entries(digest, a->loop);
        if (a->loop) {
            digest_word(digest, a->fair);
            digest_word(digest, a->stepped);
            digest_word(digest, a->unfinished);
        }
    }
    digest_word(digest, progress->random.verdict);
    digest_word(digest, progress->random.states);
    digest_entries(digest, progress->random.stem);
    digest_entries(digest, progress->random.loop);
}

static inline void digest_lasso(uint64_t *digest, const struct machine *machine,
                                const struct lasso *lasso)
{
    digest_word(digest, (uint64_t)lasso->kind << 32 | lasso->status);
    digest_word(digest, lasso->stem);
    digest_word(digest, lasso->loop);
    for (uint32_t i = 0; lasso->loop > 0 && i < machine->actor_count; i++)
        digest_word(digest, (uint64_t)lasso->live[i] << 1 | lasso->stepped[i]);
    digest_entries(digest, lasso->stem_tape);
    digest_entries(digest, lasso->loop_tape);
}

#endif
