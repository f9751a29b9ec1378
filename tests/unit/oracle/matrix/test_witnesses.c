/*
 * What is said of witnesses of hangs that are none, or others: each row that hangs of the termination matrix of a
 * kernel, with another model, unit, stem, loop or sentence, and each refutation of Lemma 6 with other steps and values.
 * A column of tests/golden/witnesses.txt is a row: a digest of what matrix_witness.h says of each of some forty
 * changes, one at a time. Read what changed, then
 *
 *     SIMTFUZZ_BLESS=1 build/tests/test_witnesses
 */
#include "tests/unit/shared/corpus_kernel.h"
#include "tests/unit/shared/golden_table.h"

#include "oracle/matrix/matrix.h"
#include "oracle/matrix/matrix_witness.h"

#include <ctype.h>

enum { THREADS_MAX = 8, ROWS_MAX = 40 };

static const struct matrix_options WITHIN = {.max_states = 600,
                                             .max_bytes = (uint64_t)1 << 26,
                                             .budget_steps = 1000,
                                             .sample_steps = 1000,
                                             .refute_steps = 1000,
                                             .steps_a_state = 32,
                                             .seed = 1};

static void put_witness(uint64_t *digest, const struct matrix_row *row)
{
    size_t mark = arena_mark(&test_arena);
    struct witness_fault fault = matrix_witness(&test_arena, row, 1);
    digest_text(digest, fault.observable);
    digest_text(digest, fault.text);
    arena_release(&test_arena, mark);
}

static void put_definition(uint64_t *digest, const struct matrix_row *row)
{
    size_t mark = arena_mark(&test_arena);
    struct witness_fault fault = matrix_definition(&test_arena, row);
    digest_text(digest, fault.observable);
    digest_text(digest, fault.text);
    arena_release(&test_arena, mark);
}

/* ---- other models and units ---- */

static void other_models(uint64_t *digest, const struct matrix_row *row)
{
    static const char *const models[] = {"unfair",
                                         "hsa",
                                         "obe",
                                         "hsa-obe",
                                         "lobe",
                                         "fair",
                                         "simt",
                                         "stackless:oldest",
                                         "stackless:minpc",
                                         "stackless:rr",
                                         "stackless:random",
                                         "stackless:nobody"};
    struct matrix_row other = *row;
    bool threads = subject_table[row->subject].vtable->same_pc != NULL;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        other.model = models[i];
        if (threads || !matrix_is_policy(&other))
            put_witness(digest, &other);
    }
    other = *row;
    for (int u = 0; u < MATRIX_UNITS; u++) {
        other.unit = (enum matrix_unit)u;
        put_witness(digest, &other);
        put_definition(digest, &other);
    }
}

/* ---- other tapes ---- */

enum tape_change {
    TAPE_EMPTY,
    TAPE_WITHOUT_FIRST,
    TAPE_WITHOUT_LAST,
    TAPE_OTHER_FIRST,
    TAPE_OTHER_LAST,
    TAPE_MORE,
    TAPE_NOBODY,   /* an actor that there is not */
    TAPE_INNER_OF, /* a choice inside a step, behind the first */
    TAPE_TWICE,
    TAPE_ROTATED,
    TAPE_BACKWARDS,
    TAPE_CHANGES
};

static const struct tape *other_tape(const struct tape *tape, enum tape_change change,
                                     uint32_t actors)
{
    struct tape *other = tape_new(&test_arena, 2 * tape->count + 2);
    uint32_t count = tape->count;
    for (uint32_t i = 0; i < count && change != TAPE_EMPTY; i++) {
        uint32_t entry = tape->entries[change == TAPE_BACKWARDS ? count - 1 - i
                                       : change == TAPE_ROTATED ? (i + 1) % count
                                                                : i];
        bool first = i == 0, last = i + 1 == count;
        if ((change == TAPE_WITHOUT_FIRST && first) || (change == TAPE_WITHOUT_LAST && last))
            continue;
        if ((change == TAPE_OTHER_FIRST && first) || (change == TAPE_OTHER_LAST && last))
            entry = entry & TAPE_INNER ? entry ^ 1 : (entry + 1) % actors;
        tape_add(other, entry);
        if (change == TAPE_INNER_OF && first)
            tape_add(other, TAPE_INNER);
    }
    if (change == TAPE_MORE)
        tape_add(other, count > 0 ? tape->entries[0] : 0);
    else if (change == TAPE_NOBODY)
        tape_add(other, actors);
    for (uint32_t i = 0; change == TAPE_TWICE && i < count; i++)
        tape_add(other, tape->entries[i]);
    return other;
}

static void other_tapes(uint64_t *digest, const struct matrix_row *row)
{
    uint32_t actors = row->program->total_threads;
    for (int change = 0; change < TAPE_CHANGES; change++)
        for (int part = 0; part < 3; part++) {
            size_t mark = arena_mark(&test_arena);
            struct matrix_row other = *row;
            if (part != 1)
                other.stem = other_tape(row->stem, (enum tape_change)change, actors);
            if (part != 0)
                other.loop = other_tape(row->loop, (enum tape_change)change, actors);
            put_witness(digest, &other);
            if (part == 1 && !matrix_is_policy(row))
                put_definition(digest, &other);
            arena_release(&test_arena, mark);
        }
}

/* ---- other sentences ---- */

static void put_sentence(uint64_t *digest, const struct matrix_row *row, const char *sentence)
{
    struct matrix_row other = *row;
    other.sentence = sentence;
    put_witness(digest, &other);
}

/* The first `from` is `to`. */
static void replaced(uint64_t *digest, const struct matrix_row *row, const char *from,
                     const char *to)
{
    const char *at = strstr(row->sentence, from);
    if (at)
        put_sentence(digest, row,
                     arena_printf(&test_arena, "%.*s%s%s", (int)(at - row->sentence), row->sentence,
                                  to, at + strlen(from)));
}

static void other_sentences(uint64_t *digest, const struct matrix_row *row)
{
    static const char *const words[][2] = {
        {"thread ", "threads "},  {"threads ", "thread "},
        {"thread ", "thread"},    {"spins on", "spin on"},
        {"spin on", "spins on"},  {" would write it", " writes it"},
        {" at line", " in line"}, {"; ", ": "},
        {", but ", ", and "},     {"it has not begun", "it waits at the barrier of line 1"},
        {"run", "ran"},           {"the loop", "a loop"},
        {" and ", ", "},          {" others", " other"},
        {"nobody", "somebody"}};
    static const char *const all[] = {"", "; no statement outside of the loop writes it",
                                      "the loop reads nothing that anybody else could write",
                                      "thread 0 runs for ever: all that the loop reads it writes",
                                      "thread 99 would write it"};
    size_t length = row->sentence ? strlen(row->sentence) : 0;
    put_sentence(digest, row, NULL);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        put_sentence(digest, row, all[i]);
    if (!row->sentence)
        return;
    put_sentence(digest, row, arena_printf(&test_arena, "%s.", row->sentence));
    put_sentence(digest, row, row->sentence + 1);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        replaced(digest, row, words[i][0], words[i][1]);
    for (size_t i = 0; i < length; i++) {
        char *end;
        if (!isdigit((unsigned char)row->sentence[i]) ||
            (i > 0 && isdigit((unsigned char)row->sentence[i - 1])))
            continue;
        long number = strtol(row->sentence + i, &end, 10);
        for (int by = -1; by <= 1; by += 2)
            put_sentence(
                digest, row,
                arena_printf(&test_arena, "%.*s%ld%s", (int)i, row->sentence, number + by, end));
    }
}

/* ---- Lemma 6 ---- */

static void put_replay(uint64_t *digest, const struct program *program,
                       const struct lemma6_refutation *refutation)
{
    digest_text(digest, lemma6_replay(&test_arena, program, refutation));
}

static void other_sets(uint64_t *digest, const struct program *program,
                       const struct lemma6_refutation *given)
{
    struct lemma6_set *sets = ARENA_ARRAY(&test_arena, struct lemma6_set, given->set_count + 1);
    for (uint32_t i = 0; i < given->set_count && i < 6; i++)
        for (int change = 0; change < 5; change++) {
            struct lemma6_refutation other = *given;
            uint32_t at = i % 2 ? given->set_count - 1 - i / 2 : i / 2;
            memcpy(sets, given->sets, given->set_count * sizeof *sets);
            other.sets = sets;
            if (change == 0)
                sets[at].value++;
            else if (change == 1)
                sets[at].address = program->private_base;
            else if (change == 2)
                sets[at].address ^= 1;
            else if (change == 3)
                sets[at].step++;
            else
                sets[at].step = 0;
            put_replay(digest, program, &other);
        }
}

static uint64_t other_refutations(const struct program *program,
                                  const struct lemma6_refutation *given)
{
    uint64_t digest = 0;
    struct lemma6_refutation other = *given;
    put_replay(&digest, program, &other);
    for (uint32_t thread = 0; thread <= program->total_threads; thread++) {
        other.thread = thread;
        put_replay(&digest, program, &other);
    }
    other = *given;
    for (uint64_t stem = given->stem > 2 ? given->stem - 2 : 0; stem <= given->stem + 2; stem++) {
        other.stem = stem;
        put_replay(&digest, program, &other);
    }
    other = *given;
    for (uint64_t loop = 0; loop <= 2 * given->loop && loop < 40; loop++) {
        other.loop = loop;
        put_replay(&digest, program, &other);
    }
    other = *given;
    for (uint32_t stm = 0; stm < program->stm_count && stm < 40; stm++) {
        other.stm = stm;
        put_replay(&digest, program, &other);
    }
    other.stm = CODE_NONE;
    put_replay(&digest, program, &other);
    other = *given;
    for (uint32_t count = 0; count < given->set_count && count < 8; count++) {
        other.set_count = count;
        put_replay(&digest, program, &other);
        other.set_count = given->set_count - count;
        put_replay(&digest, program, &other);
    }
    other_sets(&digest, program, given);
    return digest;
}

/* ---- a kernel ---- */

/* False: nothing of it hangs. */
static bool make_columns(struct golden_columns *columns, const char *path)
{
    const struct ast_kernel *kernel = golden_kernel(path);
    if (kernel->launch.threads * kernel->launch.blocks > THREADS_MAX)
        return false;
    struct forms *forms = forms_new(&test_arena, kernel);
    const struct matrix matrix = matrix_of(forms, &WITHIN);
    for (uint32_t i = 0; i < matrix.count && columns->count < ROWS_MAX; i++) {
        const struct matrix_row *row = &matrix.rows[i];
        uint64_t digest = 0;
        char name[40];
        if (!row->loop)
            continue;
        put_witness(&digest, row);
        assert_true(digest != 0);
        other_models(&digest, row);
        other_tapes(&digest, row);
        other_sentences(&digest, row);
        snprintf(name, sizeof name, "%s %s", matrix_unit_names[row->unit], row->model);
        golden_put(columns, name, digest);
    }
    if (matrix.lemma6 && matrix.lemma6->refutation.found)
        golden_put(
            columns, "Lemma 6",
            other_refutations(forms_get(forms, PROGRAM_CORE)->program, &matrix.lemma6->refutation));
    return columns->count > 0;
}

static void witnesses_are_judged_as_they_were(void **state)
{
    (void)state;
    static const char *const patterns[] = {
        "papers/*.simt",  "papers/*/*.simt", "progress/*.simt", "progress/*.ptx",
        "regress/*.simt", "regress/*.ptx",   "rules/*.simt",    NULL};
    static const struct golden_table table = {SIMTFUZZ_SOURCE_DIR "/tests/golden/witnesses.txt",
                                              patterns, make_columns};
    golden_check(&table, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(witnesses_are_judged_as_they_were, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests_name("witnesses", tests, NULL, NULL);
}
