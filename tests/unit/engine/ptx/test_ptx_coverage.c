/* The instructions that real kernels use: ptx-coverage.tsv counts them in 1,349 compiled files,
 * ptx-coverage.ptx has one of each; all but 0.5 % of the uses must be read, pass the checks, and be laid
 * out for execution, and no more than 1 % of the files may need one that is not. */
#include "engine/input/input.h"
#include "engine/program/ptx_code.h"
#include "tests/unit/shared/ptx_text.h"

#include <stdlib.h>

enum { ROWS = 155, FILES = 1349, ROWS_MAX = 1000, NAME_MAX_BYTES = 64 };

struct row {
    char name[NAME_MAX_BYTES];
    unsigned long uses, files;
    bool read, laid_out;
};

static struct row rows[ROWS_MAX];
static uint32_t row_count;

static void load_rows(void)
{
    char line[512];
    FILE *file = fopen(SIMTFUZZ_SOURCE_DIR "/tests/data/ptx-coverage.tsv", "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file)); /* the titles of the columns */
    row_count = 0;
    while (row_count < ROWS_MAX && fgets(line, sizeof line, file)) {
        struct row *row = &rows[row_count++];
        int found = sscanf(line, "%*u %63s %lu %*f %lu", row->name, &row->uses, &row->files);
        assert_int_equal(found, 3);
        row->read = row->laid_out = false;
    }
    fclose(file);
}

static bool is_type(const char *word, size_t length)
{
    return ptx_type_of(ptx_word_find(word, length)).kind != PTX_CLASS_NONE;
}

/* The mnemonic with its modifiers, as the list names it: guard, types and operands taken away. */
static void fold(const char *line, char folded[NAME_MAX_BYTES])
{
    const char *at = line + strspn(line, " \t");
    if (*at == '@')
        at += strcspn(at, " ") + 1;
    size_t length = strcspn(at, " ;\n"), used = 0;
    for (const char *end = at + length; at < end;) {
        size_t word = strcspn(at + 1, ". ;\n") + 1;
        if (*at != '.' || !is_type(at + 1, word - 1)) {
            assert_true(used + word < NAME_MAX_BYTES);
            memcpy(folded + used, at, word);
            used += word;
        }
        at += word;
    }
    folded[used] = '\0';
}

static bool is_laid_out(const struct ptx_module *module, const char *line)
{
    const char *reason = NULL;
    diag_init(&diag, "settings", NULL, 0);
    const struct ast_kernel *kernel = ptx_kernel_new(&arena, module, "entry=k", &diag);
    assert_non_null(kernel);
    if (ptx_compile(&arena, kernel, module, NULL, &reason))
        return true;
    assert_non_null(strstr(reason, " at line "));
    printf("%.*s: %s\n", (int)strcspn(line, "\n"), line, reason);
    return false;
}

/* A module with all lines of the text but the instructions, and with one of these. */
static bool line_is_read(const char *text, const char *wanted, bool *laid_out)
{
    static const char mark[] = "$L1:\n";
    size_t head = (size_t)(strstr(text, mark) - text) + strlen(mark);
    size_t length = strcspn(wanted, "\n") + 1, memory = arena_mark(&arena);
    const char *one = arena_printf(&arena, "%.*s%.*s}\n", (int)head, text, (int)length, wanted);
    const struct ptx_module *module = parse_bytes(one, strlen(one));
    *laid_out = false;
    if (!module) {
        diag_print(&diag, stderr);
    } else {
        round_trip(module);
        *laid_out = is_laid_out(module, wanted);
    }
    arena_release(&arena, memory);
    return module != NULL;
}

static void mark_row(const char *name, const char *line, bool laid_out)
{
    for (uint32_t i = 0; i < row_count; i++)
        if (strcmp(rows[i].name, name) == 0) {
            assert_false(rows[i].read);
            rows[i].read = true;
            rows[i].laid_out = laid_out;
            return;
        }
    fail_msg("'%s' is no row of the list: %.*s", name, (int)strcspn(line, "\n"), line);
}

static void instructions_of_real_kernels(void **state)
{
    (void)state;
    size_t length;
    char *text =
        parse_read_file(&arena, SIMTFUZZ_SOURCE_DIR "/tests/data/ptx-coverage.ptx", &length, &diag);
    assert_non_null(text);
    text = arena_strndup(&arena, text, length);
    load_rows();
    assert_int_equal(row_count, ROWS);
    const char *line = strstr(text, "$L1:\n");
    for (line = strchr(line, '\n') + 1; *line != '}'; line = strchr(line, '\n') + 1) {
        char folded[NAME_MAX_BYTES];
        bool laid_out;
        fold(line, folded);
        if (line_is_read(text, line, &laid_out))
            mark_row(folded, line, laid_out);
    }
    unsigned long all = 0, read = 0, laid_out = 0, files = 0;
    for (uint32_t i = 0; i < row_count; i++) {
        all += rows[i].uses;
        read += rows[i].read ? rows[i].uses : 0;
        laid_out += rows[i].laid_out ? rows[i].uses : 0;
        files += rows[i].laid_out ? 0 : rows[i].files;
        if (!rows[i].laid_out)
            printf("%s: %s\n", rows[i].read ? "not laid out" : "not read", rows[i].name);
    }
    printf("%lu of %lu uses of instructions are read\n", read, all);
    assert_true(all > 150000);
    assert_true(read * 1000 >= all * 995);
    printf("%lu are laid out; at most %lu of %d files need others\n", laid_out, files, FILES);
    assert_true(laid_out * 1000 >= all * 995);
    assert_true(files * 100 <= FILES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(instructions_of_real_kernels, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
