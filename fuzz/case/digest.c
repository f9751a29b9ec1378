#include "fuzz/case/digest.h"

#include "engine/base/pcg.h"
#include "engine/input/input.h"

#include <string.h>

/* A chain: each word goes through a bijection that depends on all words before it. */
static void add(uint64_t *digest, uint64_t word)
{
    *digest = pcg_splitmix(*digest ^ word);
}

/* NULL is another text than the empty one. */
static void add_text(uint64_t *digest, const char *text)
{
    uint64_t word = 0, length = 0;
    for (; text && *text; text++) {
        word = word << 8 | (unsigned char)*text;
        if (++length % 8 == 0)
            add(digest, word);
    }
    add(digest, word);
    add(digest, text ? length : UINT64_MAX);
}

static void add_tape(uint64_t *digest, struct arena *arena, const struct tape *tape)
{
    add_text(digest, tape ? tape_print(arena, tape) : NULL);
}

static void add_witness(uint64_t *digest, const struct race_witness *witness)
{
    const struct race_access *accesses[] = {&witness->first, &witness->second};
    for (uint32_t i = 0; i < 2; i++) {
        add(digest, accesses[i]->thread);
        add(digest, accesses[i]->stm);
        add(digest, accesses[i]->kind);
    }
    add(digest, witness->address);
    add(digest, (uint64_t)witness->same_value << 1 | witness->simultaneous);
}

static void add_store(uint64_t *digest, const int32_t *store, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        add(digest, (uint32_t)store[i]);
}

static void add_search(uint64_t *digest, struct arena *arena, const struct search_result *search)
{
    add(digest, search->method);
    add_text(digest, search->cut);
    add(digest, search->states);
    add(digest, search->steps);
    add(digest, search->executions);
    add(digest, (uint64_t)search->race << 1 | search->complete);
    add(digest, search->liveness);
    add(digest, search->outcome_count);
    for (uint32_t i = 0; i < search->outcome_count; i++) {
        add(digest, search->outcomes[i].status);
        add(digest, search->outcomes[i].store_hash);
    }
    add_tape(digest, arena, search->lasso_stem);
    add_tape(digest, arena, search->lasso_loop);
}

static void add_run(uint64_t *digest, struct arena *arena, const struct check_run *run)
{
    add_text(digest, run->reason);
    add_text(digest, run->error);
    add_text(digest, run->race_unknown);
    add(digest, run->schedules);
    for (uint32_t i = 0; i < STATUS_COUNT; i++)
        add(digest, run->statuses[i]);
    add(digest, (uint64_t)run->fair << 32 | run->fair_cut);
    add(digest, run->steps);
    add(digest, (uint64_t)run->fair_lasso | (uint64_t)run->race << 1 |
                    (uint64_t)run->race_incomplete << 2 | (uint64_t)run->more_finals << 3);
    if (run->race)
        add_witness(digest, &run->witness);
    for (uint32_t i = 0; run->racy_vars && i < run->program->var_count; i++)
        add(digest, run->racy_vars[i]);
    for (uint32_t i = 0; i < run->final_count; i++)
        add_store(digest, run->finals[i], run->program->private_base);
    if (run->search)
        add_search(digest, arena, run->search);
}

static void add_answer(uint64_t *digest, struct arena *arena, const struct answer *answer)
{
    add(digest, answer->verdict);
    add(digest, answer->checked);
    add_text(digest, answer->reason);
    for (const struct divergence *d = answer->divergence; d; d = d->next) {
        add_text(digest, divergence_signature(arena, d));
        add(digest, d->subject);
        add(digest, d->line);
        add_text(digest, d->known);
        add_text(digest, d->summary);
        add_text(digest, d->evidence);
        add_tape(digest, arena, d->tape);
        add_tape(digest, arena, d->other_tape);
    }
}

/* Later subjects that were not asked: that they are there changes no other kernel's digest. */
static bool is_silent(const struct check_result *result, enum subject_id subject)
{
    const struct semantics *vtable = subject_table[subject].vtable;
    return vtable && (vtable->plain || subject_table[subject].role == SUBJECT_GIVEN) &&
           !(result->subjects >> subject & 1);
}

struct digest_parts digest_parts(struct arena *arena, const struct ast_kernel *kernel,
                                 const struct check_result *result)
{
    size_t mark = arena_mark(arena);
    struct digest_parts parts = {.kernel = 0};
    add_text(&parts.kernel, print_kernel(arena, kernel));
    add_text(&parts.runs, result->reason);
    add(&parts.runs, (uint64_t)result->subjects);
    if (result->subjects >> 64)
        add(&parts.runs, (uint64_t)(result->subjects >> 64));
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++)
        if (!is_silent(result, (enum subject_id)i))
            add_run(&parts.runs, arena, &result->runs[i]);
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        if (i == ORACLE_PROVE ? result->answers[i].verdict == VERDICT_DIVERGE
                              : (i != ORACLE_MEMORY && !(ORACLES_NAMED >> i & 1)) ||
                                    result->answers[i].verdict != VERDICT_NOT_APPLICABLE)
            add_answer(&parts.answers, arena, &result->answers[i]);
    for (uint32_t i = 0; i < result->claim_count; i++) {
        add(&parts.answers, result->claims[i].met);
        add_text(&parts.answers, result->claims[i].met ? NULL : result->claims[i].why);
    }
    add(&parts.steps, result->thread_steps);
    add(&parts.steps, result->warp_steps);
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        if (result->hits[i] > 0) { /* a rule more changes no other kernel's digest */
            add_text(&parts.rules, rule_table[i].name);
            add(&parts.rules, result->hits[i]);
        }
    arena_release(arena, mark);
    return parts;
}

uint64_t digest_case(struct arena *arena, const struct ast_kernel *kernel,
                     const struct check_result *result)
{
    struct digest_parts parts = digest_parts(arena, kernel, result);
    uint64_t digest = 0;
    add(&digest, parts.kernel);
    add(&digest, parts.runs);
    add(&digest, parts.answers);
    add(&digest, parts.steps);
    add(&digest, parts.rules);
    return digest;
}
