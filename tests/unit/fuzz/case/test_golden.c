/*
 * Every kernel of the corpus and the first cases of a campaign show what they showed when tests/golden/digests.txt was
 * blessed: the same bytes on any machine, with any compiler, and a change of behaviour that nobody meant shows.
 *
 * By day a part of them is looked at, all every night (many.h). SIMTFUZZ_BLESS=1 in the environment
 * (tests/golden/bless.sh) writes the file anew.
 */
#include "tests/unit/shared/corpus_kernel.h"
#include "tests/unit/shared/many.h"

#include "engine/base/pcg.h"
#include "fuzz/case/case.h"
#include "fuzz/case/digest.h"
#include "oracle/matrix/matrix.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { CASES = 200, PATHS_MAX = 4096, LINES_MAX = 2 * PATHS_MAX, NAME_BYTES = 512 };

/* What a search of the matrix may look at: the matrix's own tests have more (`expect progress`). */
static const struct matrix_options MATRIX_WITHIN = {.max_states = 200,
                                                    .max_bytes = (uint64_t)1 << 26,
                                                    .budget_steps = 2000,
                                                    .sample_steps = 2000,
                                                    .steps_a_state = 64,
                                                    .seed = 1};

/* A column each, behind the name. */
enum part { PART_KERNEL, PART_RUNS, PART_ANSWERS, PART_STEPS, PART_RULES, PART_MATRIX, PART_COUNT };
static const char *const part_names[PART_COUNT] = {
    "the kernel's text", "executions (how they end, stores, races, tapes)",
    "oracles' answers",  "numbers of steps",
    "rules that fired",  "the termination matrix"};

struct line {
    const char *name;
    uint32_t parts[PART_COUNT];
    bool is_seen;
};

struct lines {
    uint32_t count;
    struct line items[LINES_MAX];
};

static struct lines golden, seen;

static struct line *find(struct lines *lines, const char *name)
{
    for (uint32_t i = 0; i < lines->count; i++)
        if (strcmp(lines->items[i].name, name) == 0)
            return &lines->items[i];
    return NULL;
}

/* Names outlive a case. */
static struct line *add(struct lines *lines, const char *name)
{
    struct line *line = &lines->items[lines->count++];
    char *copy = malloc(strlen(name) + 1);
    assert_true(copy && lines->count < LINES_MAX);
    strcpy(copy, name);
    *line = (struct line){.name = copy};
    return line;
}

/* ---- the comparison ---- */

enum { SAID_MAX = 10 };
static uint32_t changed;

/* How to look at it with this build and with one before the change. */
static void say_how(const char *name)
{
    if (strncmp(name, "case-", 5) == 0)
        print_error("    simtfuzz gen --seed 1 --first %s; simtfuzz digest --seed 1 --from %s "
                    "--cases 1 --json\n",
                    name + 5, name + 5);
    else
        print_error("    simtfuzz check --json %s; simtfuzz progress --json %s\n", name, name);
}

/* True: they differ, said. */
static bool say_different(const struct line *old, const struct line *new)
{
    bool differs = false;
    for (int p = 0; p < PART_COUNT; p++) {
        if (old->parts[p] == new->parts[p])
            continue;
        print_error("%s%s", differs ? ", " : "", differs ? "" : new->name);
        print_error("%s%s", differs ? "" : ": ", part_names[p]);
        differs = true;
    }
    if (differs)
        print_error("\n");
    return differs;
}

/* SIMTFUZZ_FIRST in the environment: the first difference is enough. */
static bool is_enough(void)
{
    return changed > 0 && getenv("SIMTFUZZ_FIRST");
}

static void compare(const struct line *new)
{
    struct line *old = find(&golden, new->name);
    if (old)
        old->is_seen = true;
    if (!old)
        print_error("%s: not in tests/golden/digests.txt\n", new->name);
    else if (memcmp(old->parts, new->parts, sizeof old->parts) == 0)
        return;
    if (changed++ < SAID_MAX && old && say_different(old, new))
        say_how(new->name);
}

/* ---- digests ---- */

static void add_number(uint64_t *digest, uint64_t number)
{
    *digest = pcg_splitmix(*digest ^ number);
}

static void add_text(uint64_t *digest, const char *text)
{
    for (; text && *text; text++)
        add_number(digest, (unsigned char)*text);
    add_number(digest, text ? 256 : 257);
}

/* Not how many states a verdict rests on: that is the search's own affair. */
static uint64_t digest_matrix(const struct ast_kernel *kernel)
{
    uint64_t digest = 0;
    struct matrix matrix = matrix_of(forms_new(&test_arena, kernel), &MATRIX_WITHIN);
    add_text(&digest, matrix.refused);
    add_text(&digest, matrix.broken);
    for (uint32_t i = 0; i < matrix.count; i++) {
        const struct matrix_row *row = &matrix.rows[i];
        add_text(&digest, row->model);
        add_number(&digest, row->unit);
        add_text(&digest, matrix_verdict(row));
        add_number(&digest, (uint64_t)row->has_strong << 1 | row->strong);
        add_text(&digest, row->stem ? tape_print(&test_arena, row->stem) : NULL);
        add_text(&digest, row->loop ? tape_print(&test_arena, row->loop) : NULL);
        add_text(&digest, row->sentence);
    }
    return digest;
}

/* There is no silent skip: whoever says nothing wrong says why, and whoever says something has evidence. */
static void expect_words(const char *name, const struct check_result *result)
{
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        const struct answer *answer = &result->answers[i];
        bool diverges = answer->verdict == VERDICT_DIVERGE;
        if ((diverges && !answer->divergence) ||
            (!diverges && !(answer->reason && *answer->reason)))
            fail_msg("%s: oracle %s has no word for %s", name, oracle_table[i].name,
                     verdict_names[answer->verdict]);
        for (const struct divergence *d = answer->divergence; d; d = d->next)
            if (!d->class_name || !d->observable || !d->evidence || !d->summary)
                fail_msg("%s: oracle %s has no evidence", name, oracle_table[i].name);
    }
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (!result->runs[s].reason && result->runs[s].schedules == 0)
            fail_msg("%s: subject %s was not run and does not say why", name,
                     subject_table[s].name);
}

static void digest(const char *name, const struct ast_kernel *kernel,
                   const struct check_options *options, bool matrix)
{
    struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
    check_kernel(&test_arena, kernel, options, result);
    expect_words(name, result);
    struct digest_parts parts = digest_parts(&test_arena, kernel, result);
    struct line *line = add(&seen, name);
    const uint64_t digests[PART_COUNT] = {
        [PART_KERNEL] = parts.kernel,   [PART_RUNS] = parts.runs,
        [PART_ANSWERS] = parts.answers, [PART_STEPS] = parts.steps,
        [PART_RULES] = parts.rules,     [PART_MATRIX] = matrix ? digest_matrix(kernel) : 0};
    for (int p = 0; p < PART_COUNT; p++)
        line->parts[p] = (uint32_t)digests[p];
    if (golden.count > 0)
        compare(line);
}

/* ---- what there is ---- */

static char paths[PATHS_MAX][NAME_BYTES];
static uint32_t path_count;

static bool ends_in(const char *path, const char *suffix)
{
    return strlen(path) > strlen(suffix) &&
           strcmp(path + strlen(path) - strlen(suffix), suffix) == 0;
}

/* Below the folder, which is a path in the repository. */
static void list(const char *folder)
{
    char path[2 * NAME_BYTES];
    snprintf(path, sizeof path, SIMTFUZZ_SOURCE_DIR "/%s", folder);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char inner[NAME_BYTES];
        struct stat status;
        if (entry->d_name[0] == '.')
            continue;
        assert_true(snprintf(inner, sizeof inner, "%s/%s", folder, entry->d_name) < NAME_BYTES);
        snprintf(path, sizeof path, SIMTFUZZ_SOURCE_DIR "/%s", inner);
        if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
            list(inner);
        else if (ends_in(inner, ".simt") || ends_in(inner, ".ptx")) {
            assert_true(path_count < PATHS_MAX);
            strcpy(paths[path_count++], inner);
        }
    }
    closedir(directory);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* It stands in the file, and is not asked today. */
static bool is_left_out(const char *name, uint64_t number)
{
    struct line *line = find(&golden, name);
    bool asked = many_has(number) || getenv("SIMTFUZZ_BLESS") || getenv("SIMTFUZZ_FIRST");
    if (line && !asked)
        line->is_seen = true;
    return line && !asked;
}

static void digest_corpus(void)
{
    list("corpus");
    qsort(paths, path_count, sizeof *paths, compare_paths);
    for (uint32_t i = 0; i < path_count && !is_enough(); i++) {
        size_t mark = arena_mark(&test_arena);
        if (is_left_out(paths[i], i))
            continue;
        digest(paths[i], corpus_kernel(paths[i]), &CHECK_DEFAULTS, true);
        arena_release(&test_arena, mark);
    }
}

static void digest_cases(void)
{
    for (uint64_t number = 0; number < CASES && !is_enough(); number++) {
        size_t mark = arena_mark(&test_arena);
        struct fuzz_case c;
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "case-%" PRIu64, number);
        if (is_left_out(name, number))
            continue;
        case_of_campaign(&c, 1, number, &GEN_DEFAULTS, &CHECK_DEFAULTS);
        digest(name, case_kernel(&test_arena, &c, NULL), &c.check, false);
        arena_release(&test_arena, mark);
    }
}

/* ---- the file ---- */

static const char FILE_NAME[] = SIMTFUZZ_SOURCE_DIR "/tests/golden/digests.txt";

static void bless(void)
{
    FILE *out = fopen(FILE_NAME, "w");
    assert_non_null(out);
    fputs("# What each kernel of the corpus, and each of the first cases of seed 1, shows: "
          "tests/unit/fuzz/case/test_golden.c. Written "
          "by tests/golden/bless.sh.\n"
          "# kernel or case | text | executions | answers | steps | rules | termination matrix\n",
          out);
    for (uint32_t i = 0; i < seen.count; i++) {
        fputs(seen.items[i].name, out);
        for (int p = 0; p < PART_COUNT; p++)
            fprintf(out, " %08" PRIx32, seen.items[i].parts[p]);
        fputs("\n", out);
    }
    assert_int_equal(fclose(out), 0);
}

static void read_golden(void)
{
    char text[2 * NAME_BYTES], name[NAME_BYTES];
    FILE *in = fopen(FILE_NAME, "r");
    assert_non_null(in);
    while (fgets(text, sizeof text, in)) {
        uint32_t p[PART_COUNT];
        if (text[0] == '#')
            continue;
        int got = sscanf(
            text, "%511s %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32,
            name, &p[0], &p[1], &p[2], &p[3], &p[4], &p[5]);
        assert_int_equal(got, 1 + PART_COUNT);
        memcpy(add(&golden, name)->parts, p, sizeof p);
    }
    fclose(in);
}

static void test_golden(void **state)
{
    (void)state;
    bool blesses = getenv("SIMTFUZZ_BLESS") != NULL;
    if (!blesses)
        read_golden();
    digest_corpus();
    digest_cases();
    if (blesses) {
        bless();
        return;
    }
    for (uint32_t i = 0; i < golden.count && !is_enough(); i++)
        if (!golden.items[i].is_seen) {
            print_error("%s: there is no such kernel (any more)\n", golden.items[i].name);
            changed++;
        }
    if (changed > 0)
        fail_msg("%" PRIu32 " of %" PRIu32
                 " kernels show something else than blessed. If that is meant: "
                 "tests/golden/bless.sh BUILD/simtfuzz, and read git diff tests/golden",
                 changed, seen.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_golden, support_setup, support_teardown),
    };
    return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
