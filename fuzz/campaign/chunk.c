#include "fuzz/campaign/chunk.h"

#include "engine/base/invariant.h"
#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "fuzz/beside/beside.h"
#include "fuzz/case/case.h"
#include "fuzz/case/digest.h"
#include "fuzz/case/read_back.h"
#include "oracle/matrix/matrix.h"

#include <stdio.h>
#include <string.h>

/* ---- verdicts ---- */

/* The kind of a reason: what stands before a colon, with N for every number. */
static void reason_kind(char kind[REASON_MAX], const char *text)
{
    size_t length = 0;
    for (; *text && *text != ':' && length < REASON_MAX - 1; text++) {
        bool digit = *text >= '0' && *text <= '9';
        if (digit && length > 0 && kind[length - 1] == 'N')
            continue;
        kind[length++] = digit ? 'N' : *text;
    }
    kind[length] = '\0';
}

/* Room for "other reasons" of each oracle, and for what is said beside a verdict (add_differences, add_lone). */
enum { CHUNK_REASONS_KEPT = 2 * ORACLE_COUNT + MATRIX_CLASS_COUNT + 2 * LONE_COUNT };

/* Counts a reason by its kind; kinds that no longer fit are counted together. */
static void add_reason(struct chunk *chunk, enum oracle_id oracle, enum verdict verdict,
                       const char *text)
{
    static const char OTHER[] = "other reasons";
    char kind[REASON_MAX];
    reason_kind(kind, text);
    for (uint32_t i = 0; i < chunk->reason_count; i++) {
        struct chunk_reason *reason = &chunk->reasons[i];
        if (reason->oracle == oracle && reason->verdict == verdict &&
            strcmp(reason->text, kind) == 0) {
            reason->count++;
            return;
        }
    }
    bool open = verdict != VERDICT_AGREE; /* other lists have an end: room is kept for them */
    if (open && chunk->reason_count >= CHUNK_REASONS_MAX - CHUNK_REASONS_KEPT &&
        strcmp(kind, OTHER) != 0) {
        add_reason(chunk, oracle, verdict, OTHER);
        return;
    }
    struct chunk_reason *reason = &chunk->reasons[chunk->reason_count++];
    reason->oracle = oracle;
    reason->verdict = verdict;
    reason->count = 1;
    memcpy(reason->text, kind, sizeof kind);
}

static void add_finding(struct chunk *chunk, uint64_t number, const char *key)
{
    struct chunk_finding *finding = &chunk->findings[chunk->finding_count++];
    size_t length = strlen(key);
    INVARIANT(length < SIGNATURE_MAX);
    *finding = (struct chunk_finding){.number = number};
    memcpy(finding->signature, key, length + 1);
}

static void add_answer(struct chunk *chunk, struct arena *arena, uint64_t number,
                       enum oracle_id oracle, const struct answer *answer)
{
    chunk->verdicts[oracle][answer->verdict]++;
    if (answer->verdict == VERDICT_NOT_APPLICABLE || answer->verdict == VERDICT_INCONCLUSIVE)
        add_reason(chunk, oracle, answer->verdict, answer->reason ? answer->reason : "");
    if (answer->verdict != VERDICT_DIVERGE)
        return;
    add_finding(chunk, number, divergence_signature(arena, answer->divergence));
}

/* Differences that are no divergences are kept as what liveness says beside its verdict. */
static void add_differences(struct chunk *chunk, unsigned differences)
{
    for (int i = 0; i < MATRIX_CLASS_COUNT; i++)
        if (differences >> i & 1)
            add_reason(chunk, ORACLE_LIVENESS, VERDICT_AGREE, matrix_class_table[i].name);
}

/* Executions that are compared with nothing are kept as what `result` says beside its verdict, and those of them that
 * nothing has a second account of as what `reference` says. */
static void add_lone(struct chunk *chunk, unsigned lone, unsigned unseen)
{
    for (int i = 1; i < LONE_COUNT; i++) {
        if (lone >> i & 1)
            add_reason(chunk, ORACLE_RESULT, VERDICT_AGREE, lone_table[i].name);
        if (unseen >> i & 1)
            add_reason(chunk, ORACLE_REFERENCE, VERDICT_AGREE, lone_table[i].name);
    }
    if (lone)
        add_reason(chunk, ORACLE_RESULT, VERDICT_AGREE, CAMPAIGN_LONE_ANY);
    if (unseen)
        add_reason(chunk, ORACLE_REFERENCE, VERDICT_AGREE, CAMPAIGN_LONE_ANY);
}

/* ---- a case ---- */

static void set_phase(struct chunk_maker *maker, enum watch_phase phase)
{
    atomic_store_explicit(&maker->slot->phase, phase, memory_order_relaxed);
}

/* NULL: an enumeration has no such case. */
static const struct ast_kernel *make_kernel(struct chunk_maker *maker, uint64_t number,
                                            struct fuzz_case *c)
{
    const struct campaign_options *options = maker->options;
    case_of_campaign(c, options->seed, number, &options->gen, &options->check);
    return case_kernel(maker->arena, c, &maker->walk);
}

/* ---- the same again ---- */

/* What differs between two runs of a case, coarsely; NULL: nothing. */
static const char *first_difference(struct arena *arena, const struct ast_kernel *a,
                                    const struct check_result *first, const struct ast_kernel *b,
                                    const struct check_result *second)
{
    if (digest_case(arena, a, first) == digest_case(arena, b, second))
        return NULL;
    if (strcmp(print_kernel(arena, a), print_kernel(arena, b)) != 0)
        return "kernel";
    for (uint32_t o = 0; o < ORACLE_COUNT; o++)
        if (first->answers[o].verdict != second->answers[o].verdict)
            return "verdict";
    if (first->thread_steps != second->thread_steps || first->warp_steps != second->warp_steps)
        return "steps";
    return memcmp(first->hits, second->hits, sizeof first->hits) != 0 ? "rules" : "result";
}

/* One case in RERUN_SHARE, drawn by its number, is made and run twice. The same must come out, or nothing
 * that simtfuzz says can be relied on: a finding of class "flaky". */
static void run_again(struct chunk_maker *maker, struct chunk *chunk, const struct fuzz_case *c,
                      const struct ast_kernel *kernel, const struct check_result *result)
{
    uint64_t draw = pcg_splitmix(c->seed ^ pcg_splitmix(c->number ^ RERUN_SHARE));
    if (draw % RERUN_SHARE != 0)
        return;
    struct check_result *second = ARENA_NEW(maker->arena, struct check_result);
    const struct ast_kernel *again = c->gen.enumerate ? kernel : case_kernel(maker->arena, c, NULL);
    check_kernel(maker->arena, again, &c->check, second);
    const char *what = first_difference(maker->arena, kernel, result, again, second);
    const char *class = "flaky|second run";
    if (!what) {
        what = read_back(maker->arena, kernel, draw);
        class = "flaky|read back";
    }
    if (!what && maker->trace_back.out)
        what = trace_back(&maker->trace_back, maker->arena, kernel, draw);
    if (!what)
        return;
    struct chunk_finding *finding = &chunk->findings[chunk->finding_count++];
    *finding = (struct chunk_finding){.number = c->number};
    snprintf(finding->signature, SIGNATURE_MAX, "engine|%s|%s", class, what);
}

/* ---- which rule fires in which context ---- */

/* In one case of CONTEXTS_SHARE, drawn by its number. */
static bool has_contexts(const struct fuzz_case *c)
{
    uint64_t draw = pcg_splitmix(c->seed ^ pcg_splitmix(c->number + CONTEXTS_SHARE));
    return draw % CONTEXTS_SHARE == 0;
}

static void add_pairs(struct chunk *chunk, const struct contexts *contexts)
{
    for (uint32_t r = 0; r < RULE_COUNT; r++)
        for (uint32_t rest = contexts->of[r]; rest; rest &= rest - 1)
            chunk->pairs[r][__builtin_ctz(rest)]++;
}

/* ---- beside the kernel ---- */

static void judge_beside(struct chunk_maker *maker, struct chunk *chunk, const struct fuzz_case *c)
{
    static const enum watch_phase phases[] = {
        [BESIDE_HOST] = WATCH_HOST, [BESIDE_LITMUS] = WATCH_LITMUS};
    for (uint32_t b = 0; b < BESIDE_COUNT; b++) {
        if (!(c->beside >> b & 1))
            continue;
        set_phase(maker, phases[b]);
        const char *key = beside_table[b].judge(maker->arena, c, &chunk->warp_steps);
        chunk->beside[b][key ? VERDICT_DIVERGE : VERDICT_AGREE]++;
        if (key)
            add_finding(chunk, c->number, key);
    }
}

bool chunk_run_case(struct chunk_maker *maker, struct chunk *chunk, uint64_t number)
{
    const struct campaign_options *options = maker->options;
    struct arena *arena = maker->arena;
    struct fuzz_case c;
    const struct ast_kernel *kernel = make_kernel(maker, number, &c);
    if (!kernel)
        return false;
    set_phase(maker, WATCH_CHECKING);
    struct check_result *result = ARENA_NEW(arena, struct check_result);
    struct contexts contexts = {{0}};
    c.check.solvers = &maker->solvers;
    c.check.contexts = has_contexts(&c) ? &contexts : NULL;
    check_kernel(arena, kernel, &c.check, result);
    maker->kernel = kernel;
    maker->result = result;
    c.check.contexts = NULL;
    add_pairs(chunk, &contexts);
    chunk->refused += result->program == NULL;
    chunk->thread_steps += result->thread_steps;
    chunk->warp_steps += result->warp_steps;
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        chunk->hits[i] += result->hits[i];
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        if ((options->check.oracles | c.check.oracles) & 1u << i)
            add_answer(chunk, arena, number, (enum oracle_id)i, &result->answers[i]);
    add_differences(chunk, result->differences);
    add_lone(chunk, result->lone, result->unseen);
    run_again(maker, chunk, &c, kernel, result);
    judge_beside(maker, chunk, &c);
    return true;
}

/* ---- cases that are left out ---- */

const char *chunk_incident_class(const struct incident *incident)
{
    if (incident->state != INCIDENT_CONFIRMED)
        return "flaky";
    return incident->hang ? "hang" : "crash";
}

void chunk_incident_signature(char signature[SIGNATURE_MAX], const struct incident *incident)
{
    snprintf(signature, SIGNATURE_MAX, "engine|%s|%s|%s", chunk_incident_class(incident),
             incident->rule, watch_phase_name(incident->phase));
}

void chunk_add_incident(struct chunk *chunk, uint64_t number, const struct incident *incident)
{
    struct chunk_finding *finding = &chunk->findings[chunk->finding_count++];
    finding->number = number;
    finding->incident = incident;
    chunk_incident_signature(finding->signature, incident);
}

/* ---- what is shown while a campaign runs ---- */

static void count_more(atomic_uint_least64_t *counter, uint64_t *told, uint64_t now)
{
    if (now == *told)
        return;
    uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + (now - *told), memory_order_relaxed);
    *told = now;
}

void pool_count_case(struct pool_counts *counts, const struct chunk *chunk, struct pool_told *told)
{
    count_more(&counts->thread_steps, &told->thread_steps, chunk->thread_steps);
    count_more(&counts->warp_steps, &told->warp_steps, chunk->warp_steps);
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        count_more(&counts->hits[i], &told->hits[i], chunk->hits[i]);
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (uint32_t k = 0; k < VERDICT_COUNT; k++)
            count_more(&counts->verdicts[i][k], &told->verdicts[i][k], chunk->verdicts[i][k]);
}

void pool_counts_start(struct pool_told *sum, const struct campaign_summary *before)
{
    sum->thread_steps = before->thread_steps;
    sum->warp_steps = before->warp_steps;
    memcpy(sum->hits, before->hits, sizeof sum->hits);
    memcpy(sum->verdicts, before->verdicts, sizeof sum->verdicts);
}

static void add(uint64_t *sum, const atomic_uint_least64_t *counter)
{
    *sum += atomic_load_explicit(counter, memory_order_relaxed);
}

void pool_counts_add(struct pool_told *sum, const struct pool_counts *counts)
{
    add(&sum->thread_steps, &counts->thread_steps);
    add(&sum->warp_steps, &counts->warp_steps);
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        add(&sum->hits[i], &counts->hits[i]);
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (uint32_t k = 0; k < VERDICT_COUNT; k++)
            add(&sum->verdicts[i][k], &counts->verdicts[i][k]);
}

static void at_least(uint64_t *number, uint64_t least)
{
    *number = *number > least ? *number : least;
}

void pool_counts_show(const struct pool_told *sum, struct campaign_summary *summary)
{
    at_least(&summary->thread_steps, sum->thread_steps);
    at_least(&summary->warp_steps, sum->warp_steps);
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        at_least(&summary->hits[i], sum->hits[i]);
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (uint32_t k = 0; k < VERDICT_COUNT; k++)
            at_least(&summary->verdicts[i][k], sum->verdicts[i][k]);
}
