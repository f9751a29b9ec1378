/*
 * Every rule is exercised: for each row of engine/machine/rules.def there is a kernel of its name in
 * corpus/rules that fires it, and no kernel there belongs to no rule.
 */
#include "engine/input/input.h"
#include "engine/machine/rules.h"
#include "oracle/check/check.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ARENA_BYTES = 512 << 20 };

/* Rules about PTX have a kernel in PTX. */
static const char *kernel_path(struct arena *arena, enum rule rule)
{
    const char *path = arena_printf(arena, "%s/corpus/rules/%s-%s.ptx", SIMTFUZZ_SOURCE_DIR,
                                    rule_table[rule].semantics, rule_table[rule].name);
    if (access(path, F_OK) == 0)
        return path;
    return arena_printf(arena, "%.*s.simt", (int)(strlen(path) - strlen(".ptx")), path);
}

/* How often the rule fired while its kernel was checked; 0 also when there is no such kernel. */
static uint64_t hits_of(struct arena *arena, enum rule rule)
{
    struct diag diag;
    const char *path = kernel_path(arena, rule);
    size_t length;
    diag_init(&diag, path, NULL, 0);
    const char *text = parse_read_file(arena, path, &length, &diag);
    if (!text) {
        diag_print(&diag, stderr);
        return 0;
    }
    diag_init(&diag, path, text, length);
    const struct ast_kernel *kernel = parse_kernel(arena, text, length, &diag);
    if (!kernel) {
        diag_print(&diag, stderr);
        return 0;
    }
    struct check_result result;
    check_kernel(arena, kernel, &CHECK_DEFAULTS, &result);
    return result.hits[rule];
}

static void every_rule_is_fired_by_its_kernel(void **state)
{
    (void)state;
    struct arena arena;
    uint32_t missing = 0;
    assert_int_equal(arena_init(&arena, ARENA_BYTES), 0);
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        size_t mark = arena_mark(&arena);
        if (hits_of(&arena, (enum rule)i) == 0) {
            print_error("rule %s-%s is not fired by %s\n", rule_table[i].semantics,
                        rule_table[i].name, kernel_path(&arena, (enum rule)i));
            missing++;
        }
        arena_release(&arena, mark);
    }
    arena_destroy(&arena);
    assert_int_equal(missing, 0);
}

static bool is_rule(const char *file)
{
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        size_t n = strlen(rule_table[i].semantics);
        const char *name = rule_table[i].name;
        if (strncmp(file, rule_table[i].semantics, n) == 0 && file[n] == '-' &&
            strncmp(file + n + 1, name, strlen(name)) == 0 &&
            (strcmp(file + n + 1 + strlen(name), ".simt") == 0 ||
             strcmp(file + n + 1 + strlen(name), ".ptx") == 0))
            return true;
    }
    return false;
}

static void every_kernel_belongs_to_a_rule(void **state)
{
    (void)state;
    uint32_t strangers = 0;
    DIR *folder = opendir(SIMTFUZZ_SOURCE_DIR "/corpus/rules");
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] != '.' && !is_rule(entry->d_name)) {
            print_error("corpus/rules/%s: no such rule\n", entry->d_name);
            strangers++;
        }
    }
    closedir(folder);
    assert_int_equal(strangers, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_is_fired_by_its_kernel),
        cmocka_unit_test(every_kernel_belongs_to_a_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
