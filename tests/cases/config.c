/* Texts of configurations. */
#include "tests/cases/cases.h"

#include "fuzz/cli/config.h"

/* Each entry "section.key = value" with its line, then each mistake with its line. */
static void put_ini(struct arena *arena, const char *input, struct text *out)
{
    const struct ini *text = ini_read(arena, input, strlen(input));
    for (const struct ini_entry *e = text->entries; e; e = e->next)
        if (e->key)
            text_format(out, "%u: %s.%s = %s\n", e->line, e->section, e->key, e->value);
        else
            text_format(out, "%u: [%s]\n", e->line, e->section);
    for (const struct ini_error *e = text->errors; e; e = e->next)
        text_format(out, "mistake, line %u: %s\n", e->line, e->text);
}

/* Whether a newline stands at the end makes no difference. */
static void ini(const char *options, const char *input, struct text *out)
{
    struct arena arena;
    (void)options;
    assert_int_equal(arena_init(&arena, (size_t)1 << 24), 0);
    struct text other = text_begin(&arena);
    put_ini(&arena, input, out);
    put_ini(&arena, arena_printf(&arena, "%s\n", input), &other);
    text_put(out, "");
    text_put(&other, "");
    assert_string_equal(out->bytes, other.bytes);
    arena_destroy(&arena);
}

const struct cases_command cases_config[] = {{"ini", ini}, {NULL, NULL}};
