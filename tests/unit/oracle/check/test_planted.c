/*
 * Faults planted into single steps of the machines that check_kernel runs (planted_faults.h), or into what it has
 * written down when oracles come to judge it (planted_records.h): the oracles that spoke about one still do, and say
 * the same. tests/golden/planted.txt has a line a fault: kernel, fault, a letter an oracle in the order of oracles.def
 * (a: agree, d: diverge, n: not applicable, i: inconclusive), signatures. By day every eighth is planted, all every
 * night (many.h).
 *
 * A line that loses a signature is an oracle that has become silent: that is wrong, as a rule. A line may also change
 * because schedules, or what a kernel is lowered to, do; read what changed, then
 *
 *     SIMTFUZZ_BLESS=1 build/tests/test_planted
 *
 * makes the lines anew, of the same faults, without those of kernels that are gone, and those that break an INVARIANT
 * now. SIMTFUZZ_PLANT=N[:PATTERN] looks for other faults (whose texts match), N in every kernel of the corpus but
 * corpus/distilled, whose files go with the generator's versions, and prints lines that have a signature which few
 * lines have - or, in a build that tells it (planted_reach.h), that lead to a place of the oracles where no line did.
 */
#include "tests/unit/oracle/check/planted_faults.h"
#include "tests/unit/oracle/check/planted_reach.h"
#include "tests/unit/oracle/check/planted_records.h"
#include "tests/unit/shared/corpus_kernel.h"
#include "tests/unit/shared/many.h"

#include "engine/base/pcg.h"
#include "fuzz/case/digest.h"
#include "oracle/check/check.h"

#include <fnmatch.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINES_MAX = 8192, LINE_BYTES = 4096, PATH_BYTES = 512, SEARCH_STEPS = 20000 };

static const char TABLE[] = SIMTFUZZ_SOURCE_DIR "/tests/golden/planted.txt";

/* How the kernel is checked: letters, perhaps the seed, and a colon in front of the fault. */
#define WAYS "xmsvabw"
enum way {
    WAY_EXHAUSTIVE = 1,
    WAY_METAMORPHIC = 2, /* that oracle always transforms it */
    WAY_STRICT = 4,      /* papers as they are printed */
    WAY_SAME_VALUE = 8,
    WAY_ATOMICS_SYNC = 16,
    WAY_BRIEF = 32,   /* executions are cut */
    WAY_VARIANTS = 64 /* all subjects run */
};

static bool is_there(const char *name)
{
    char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, SIMTFUZZ_SOURCE_DIR "/%s", name);
    return access(path, R_OK) == 0;
}

/* ---- one fault ---- */

static void check(const struct ast_kernel *kernel, unsigned ways, uint64_t seed,
                  struct check_result *result)
{
    struct check_options options = CHECK_DEFAULTS;
    options.seed = ways & WAY_METAMORPHIC ? 0 : seed;
    options.budget_steps = ways & WAY_BRIEF ? 24 : 4096;
    options.exhaustive = ways & WAY_EXHAUSTIVE;
    if (ways & WAY_VARIANTS)
        options.subjects = SUBJECTS_ALL;
    options.same_value = ways & WAY_SAME_VALUE;
    options.atomics_sync = ways & WAY_ATOMICS_SYNC;
    if (ways & WAY_STRICT)
        options.modes = ORACLE_MODE_LEMMAS_STRICT | ORACLE_MODE_SAFETY_PRINTED;
    options.search.max_steps = options.search.max_states = SEARCH_STEPS;
    check_kernel(&test_arena, kernel, &options, result);
}

/* "ddannn 12345678 simulation|memory|thr_assign|global memory; ..." */
static void print_answers(const struct check_result *result, char *text, size_t size)
{
    struct digest_parts parts = digest_parts(&test_arena, result->kernel, result);
    uint64_t digest = pcg_splitmix(pcg_splitmix(parts.answers ^ parts.runs) ^ parts.steps);
    static const char letters[VERDICT_COUNT] = {[VERDICT_AGREE] = 'a',
                                                [VERDICT_DIVERGE] = 'd',
                                                [VERDICT_NOT_APPLICABLE] = 'n',
                                                [VERDICT_INCONCLUSIVE] = 'i'};
    size_t used = 0;
    for (uint32_t i = 0; i < ORACLE_COUNT && ORACLES_DEFAULT >> i & 1; i++)
        text[used++] = letters[result->answers[i].verdict];
    used += (size_t)snprintf(text + used, size - used, " %08" PRIx32 "\t",
                             (uint32_t)(digest >> 32 ^ digest));
    const char *between = "";
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (const struct divergence *d = result->answers[i].divergence; d; d = d->next) {
            int length =
                snprintf(text + used, size - used, "%s%s@%s%s%s", between,
                         divergence_signature(&test_arena, d), subject_table[d->subject].name,
                         d->known ? "=" : "", d->known ? d->known : "");
            used += (size_t)length;
            assert_true(used < size);
            between = "; ";
        }
}

/* The fault's text says how it is checked, too. */
static void plant_into(const struct ast_kernel *kernel, const char *fault, char *answers,
                       size_t size)
{
    size_t mark = arena_mark(&test_arena);
    unsigned ways = 0;
    uint64_t seed = 1;
    const char *colon = strchr(fault, ':');
    for (char *end; colon && fault < colon; fault++)
        if (*fault >= '0' && *fault <= '9') {
            seed = strtoul(fault, &end, 10);
            fault = end - 1;
        } else {
            ways |= 1u << (strchr(WAYS, *fault) - WAYS);
        }
    fault += colon != NULL;
    struct planted_fault planted;
    struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
    planted.semantics = NULL;
    assert_true(planted_record_parse(fault, &planted_record) || planted_parse(fault, &planted));
    planted_set(planted);
    check(kernel, ways, seed, result);
    planted_set((struct planted_fault){.semantics = NULL});
    planted_record.is_set = false;
    print_answers(result, answers, size);
    arena_release(&test_arena, mark);
}

/* In a process of its own: a fault may break an INVARIANT. */
static bool try_fault(const struct ast_kernel *kernel, const char *fault, char *shared)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        reach_begin();
        plant_into(kernel, fault, shared, LINE_BYTES);
        reach_end();
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* ---- the table ---- */

struct line {
    char *kernel, *fault, *answers;
};

static struct line table[LINES_MAX];
static uint32_t line_count;

static void read_table(void)
{
    char text[LINE_BYTES];
    FILE *in = fopen(TABLE, "r");
    while (in && fgets(text, sizeof text, in)) {
        if (text[0] == '#')
            continue;
        text[strcspn(text, "\n")] = '\0';
        assert_true(line_count < LINES_MAX);
        struct line *line = &table[line_count++];
        line->kernel = strdup(text);
        assert_non_null(line->kernel);
        line->fault = strchr(line->kernel, '\t');
        assert_non_null(line->fault);
        *line->fault++ = '\0';
        line->answers = strchr(line->fault, '\t');
        assert_non_null(line->answers);
        *line->answers++ = '\0';
    }
    if (in)
        fclose(in);
}

static void test_planted(void **state)
{
    (void)state;
    uint32_t changed = 0;
    bool bless = getenv("SIMTFUZZ_BLESS") != NULL;
    const struct ast_kernel *kernel = NULL;
    read_table();
    assert_true(line_count > 0);
    FILE *out = bless ? fopen(TABLE, "w") : NULL;
    if (out)
        fputs("# Faults planted into single steps, and what the oracles say about them: "
              "tests/unit/oracle/check/test_planted.c.\n",
              out);
    char *answers =
        mmap(NULL, LINE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(answers != MAP_FAILED);
    size_t mark = arena_mark(&test_arena);
    for (uint32_t i = 0; i < line_count && !(changed > 0 && getenv("SIMTFUZZ_FIRST")); i++) {
        const struct line *line = &table[i];
        if (i == 0 || strcmp(line->kernel, table[i - 1].kernel) != 0) {
            arena_release(&test_arena, mark);
            kernel = is_there(line->kernel) ? corpus_kernel(line->kernel) : NULL;
        }
        if (!kernel && !out && changed++ < 10)
            print_error("%s: there is no such kernel (any more)\n", line->kernel);
        if (!kernel) /* blessing drops the line */
            continue;
        if (!out && !getenv("SIMTFUZZ_FIRST") && !many_has(i))
            continue;
        if (!out)
            plant_into(kernel, line->fault, answers, LINE_BYTES);
        else if (!try_fault(kernel, line->fault, answers))
            print_message("%s, %s: ends, and is dropped\n", line->kernel, line->fault);
        else
            fprintf(out, "%s\t%s\t%s\n", line->kernel, line->fault, answers);
        if (!out && strcmp(answers, line->answers) != 0 && changed++ < 10)
            print_error("%s, %s:\n  it was %s\n  and is %s\n", line->kernel, line->fault,
                        line->answers, answers);
    }
    if (out)
        assert_int_equal(fclose(out), 0);
    if (changed > 0)
        fail_msg("%" PRIu32 " of %" PRIu32 " planted faults are answered in another way", changed,
                 line_count);
}

/* ---- looking for faults ---- */

/* How many faults led to each place of the oracles; true: the last one was the first to lead to some. */
static bool count_places(void)
{
    static uint8_t been[REACH_PLACES];
    bool is_new = false;
    for (uint32_t i = 0; i < REACH_PLACES; i++) {
        is_new |= reach_places[i] && !been[i];
        been[i] |= reach_places[i];
    }
    memset(reach_places, 0, REACH_PLACES);
    return is_new;
}

enum { FEW = 6, SIGNATURES_MAX = 8192, STEPS_MAX = 4000 };

static struct {
    char text[200];
    uint32_t count;
} signatures[SIGNATURES_MAX];
static uint32_t signature_count;

/* Counts the parts of the answers; true: one of them was rare. */
static bool count_signatures(const char *answers)
{
    char copy[LINE_BYTES];
    bool rare = false;
    snprintf(copy, sizeof copy, "%s", strchr(answers, '\t') + 1);
    for (char *part = strtok(copy, ";"); part; part = strtok(NULL, ";")) {
        uint32_t i = 0;
        while (i < signature_count && strcmp(signatures[i].text, part + (*part == ' ')) != 0)
            i++;
        if (i == signature_count) {
            assert_true(signature_count < SIGNATURES_MAX);
            snprintf(signatures[signature_count++].text, sizeof signatures[i].text, "%s",
                     part + (*part == ' '));
        }
        rare |= signatures[i].count++ < FEW;
    }
    return rare;
}

/* Of the faults that the table has. */
static void count_table(char *shared)
{
    for (uint32_t i = 0; i < line_count; i++) {
        size_t mark = arena_mark(&test_arena);
        (void)count_signatures(table[i].answers);
        if (reach_unit_count > 0 && is_there(table[i].kernel) &&
            try_fault(corpus_kernel(table[i].kernel), table[i].fault, shared))
            (void)count_places();
        arena_release(&test_arena, mark);
    }
}

static void draw_fault(struct pcg *rng, const struct ast_kernel *kernel, char *text, size_t size)
{
    static const struct semantics *const all[] = {
        &semantics_threads, &semantics_simt,      &semantics_interleave, &semantics_lockstep,
        &semantics_crs,     &semantics_thread_pc, &semantics_block};
    static const uint32_t steps[] = {
        0, 1, 2, 3, 4, 6, 9, 14, 22, 40, PLANTED_AT_END, PLANTED_AT_END};
    uint32_t first = kernel->form == FORM_PTX ? 4 : kernel->form == FORM_STRUCTURED ? 0 : 2;
    struct planted_fault fault = {
        .semantics = all[first + pcg_below(rng, 7 - first)],
        .which = pcg_below(rng, 4),
        .kind = (enum planted_kind)pcg_below(rng, PLANTED_KIND_COUNT),
        .at = steps[pcg_below(rng, sizeof steps / sizeof *steps)],
        .odd = pcg_below(rng, 4) == 0,
        .ever = pcg_below(rng, 4) == 0,
    };
    bool small = kernel->launch.threads * kernel->launch.blocks <= 3,
         ptx = kernel->form == FORM_PTX;
    unsigned ways =
        (small && pcg_below(rng, 3) == 0 ? WAY_EXHAUSTIVE : 0) |
        (pcg_below(rng, 4) == 0 ? WAY_METAMORPHIC : 0) | (pcg_below(rng, 8) == 0 ? WAY_STRICT : 0) |
        (ptx && pcg_below(rng, 4) == 0 ? WAY_SAME_VALUE : 0) |
        (ptx && pcg_below(rng, 4) == 0 ? WAY_ATOMICS_SYNC : 0) |
        (pcg_below(rng, 12) == 0 ? WAY_BRIEF : 0) | (pcg_below(rng, 8) == 0 ? WAY_VARIANTS : 0);
    uint32_t seed = pcg_below(rng, 2) == 0 ? 2 + pcg_below(rng, 23) : 1;
    size_t used = 0;
    uint32_t kind = pcg_below(rng, RECORD_KIND_COUNT + PLANTED_KIND_COUNT);
    if (kind >= RECORD_VERDICT && kind < RECORD_KIND_COUNT && small)
        ways |= WAY_EXHAUSTIVE;
    /* Of a lane that is said to branch there would have to be a target. */
    if ((fault.semantics == &semantics_crs || fault.semantics == &semantics_thread_pc) &&
        (fault.kind == PLANTED_TRUTH || fault.kind == PLANTED_MASK))
        fault.kind = PLANTED_RULE;
    for (uint32_t way = 0; ways != 0 && way < sizeof WAYS - 1; way++)
        if (ways >> way & 1)
            text[used++] = WAYS[way];
    if (seed > 1)
        used += (size_t)snprintf(text + used, size - used, "%" PRIu32, seed);
    if (used > 0)
        text[used++] = ':';
    struct planted_record record = {.kind = (enum planted_record_kind)kind,
                                    .which = pcg_below(rng, 24),
                                    .value = pcg_below(rng, 64)};
    if (kind < RECORD_KIND_COUNT)
        planted_record_print(&record, text + used, size - used);
    else
        planted_print(&fault, text + used, size - used);
}

static void look_for_faults(const char *wanted)
{
    char *pattern;
    uint32_t each = (uint32_t)strtoul(wanted, &pattern, 10);
    glob_t found;
    char *shared =
        mmap(NULL, LINE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    assert_int_equal(glob(SIMTFUZZ_SOURCE_DIR "/corpus/*/*.simt", 0, NULL, &found), 0);
    assert_int_equal(glob(SIMTFUZZ_SOURCE_DIR "/corpus/*/*.ptx", GLOB_APPEND, NULL, &found), 0);
    reach_places =
        mmap(NULL, REACH_PLACES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(reach_places != MAP_FAILED);
    count_table(shared);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i] + strlen(SIMTFUZZ_SOURCE_DIR) + 1;
        size_t mark = arena_mark(&test_arena);
        if (strncmp(path, "corpus/distilled/", 17) == 0)
            continue;
        const struct ast_kernel *kernel = corpus_kernel(path);
        struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
        struct pcg rng;
        pcg_seed(&rng, pcg_splitmix(each), i);
        check(kernel, 0, 1, result);
        for (uint32_t k = 0; k < each && result->thread_steps + result->warp_steps < STEPS_MAX;
             k++) {
            char fault[100];
            draw_fault(&rng, kernel, fault, sizeof fault);
            if (*pattern == ':' && fnmatch(pattern + 1, fault, 0) != 0)
                continue;
            if (!try_fault(kernel, fault, shared)) {
                fprintf(stderr, "# %s\t%s: ends\n", path, fault);
                continue;
            }
            bool leads = count_places();
            if (count_signatures(shared) || leads)
                printf("%s\t%s\t%s\n", path, fault, shared);
        }
        arena_release(&test_arena, mark);
    }
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_planted, support_setup, support_teardown),
    };
    if (getenv("SIMTFUZZ_PLANT")) {
        support_setup(NULL);
        read_table();
        look_for_faults(getenv("SIMTFUZZ_PLANT"));
        return 0;
    }
    return cmocka_run_group_tests_name("planted", tests, NULL, NULL);
}
