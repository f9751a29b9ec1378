#include "oracle/matrix/matrix_lemma6.h"

#include "oracle/check/evidence.h"

#include <inttypes.h>

const char *const matrix_hypothesis_names[] = {
    [HYPOTHESIS_HOLDS] = "holds", [HYPOTHESIS_FAILS] = "fails", [HYPOTHESIS_UNKNOWN] = "unknown"};

static const char *proven(struct arena *arena, const struct lemma6 *proof)
{
    const char *threads = "";
    if (proof->has_threads)
        threads = arena_printf(arena, ", a thread within %" PRIu64, proof->thread_steps);
    return arena_printf(arena,
                        "no thread runs for ever, whatever others write%s: a warp ends within "
                        "%" PRIu64 " steps%s",
                        proof->constants ? " (but to variables that nobody writes)" : "",
                        proof->warp_steps, threads);
}

static const char *refuted(struct arena *arena, const struct matrix_lemma6 *lemma)
{
    const struct lemma6_refutation *r = &lemma->refutation;
    if (!r->location)
        return arena_printf(arena, "does not apply: thread %u can run for ever on its own",
                            r->thread);
    return arena_printf(arena,
                        "does not apply: thread %u can run for ever at line %u, if others change "
                        "%s at will",
                        r->thread, lemma->line, r->location);
}

const struct matrix_lemma6 *matrix_lemma6(struct forms *forms, uint64_t max_steps,
                                          uint64_t refute_steps, uint64_t seed)
{
    enum { REFUTING_STEPS = 1 << 16, DOUBTING_STEPS = 1 << 12 };
    uint64_t steps = refute_steps ? refute_steps : REFUTING_STEPS;
    uint64_t doubts = steps < DOUBTING_STEPS ? steps : DOUBTING_STEPS;
    const struct program *program = forms_get(forms, subject_table[SUBJECT_SIMT].program)->program;
    if (!program || program->form != FORM_STRUCTURED ||
        machine_refuses(forms->arena, &semantics_simt, program))
        return NULL;
    struct arena *arena = forms->arena;
    struct matrix_lemma6 *lemma = ARENA_NEW(arena, struct matrix_lemma6);
    lemma->hypothesis = HYPOTHESIS_UNKNOWN;
    lemma->proof = lemma6_holds(arena, program, max_steps);
    /* What is proven is asked, too: it must not be refuted. */
    lemma->refutation = lemma6_refute(arena, program, seed, lemma->proof.holds ? doubts : steps);
    if (lemma->refutation.found && lemma->refutation.stm != CODE_NONE)
        lemma->line = evidence_line(program, lemma->refutation.stm);
    if (lemma->proof.holds) {
        lemma->hypothesis = HYPOTHESIS_HOLDS;
        lemma->sentence = proven(arena, &lemma->proof);
    } else if (lemma->refutation.found) {
        lemma->hypothesis = HYPOTHESIS_FAILS;
        lemma->sentence = refuted(arena, lemma);
    } else {
        lemma->sentence =
            arena_printf(arena, "not known whether it applies: %s", lemma->proof.why_not);
    }
    if (lemma->proof.holds && !lemma->proof.constants && lemma->refutation.found)
        lemma->broken =
            arena_printf(arena, "Lemma 6: %s; %s", lemma->sentence, refuted(arena, lemma));
    return lemma;
}

const char *matrix_lemma6_ends(struct arena *arena, const struct matrix_lemma6 *lemma,
                               enum subject_id subject)
{
    if (!lemma || !lemma->proof.holds)
        return NULL;
    if (subject == SUBJECT_SIMT || subject == SUBJECT_SIMT_THEN)
        return arena_printf(arena, "Lemma 6: each warp within %" PRIu64 " steps",
                            lemma->proof.warp_steps);
    if (subject == SUBJECT_THREADS && lemma->proof.has_threads)
        return arena_printf(arena, "Lemma 6: each thread within %" PRIu64 " steps",
                            lemma->proof.thread_steps);
    return NULL;
}
