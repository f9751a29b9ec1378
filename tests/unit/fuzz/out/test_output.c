/* JSON and tables: what the command line prints with. */
#include "fuzz/out/json.h"
#include "fuzz/out/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct capture {
    char *text;
    size_t length;
    FILE *out;
};

static void capture_open(struct capture *capture)
{
    capture->out = open_memstream(&capture->text, &capture->length);
    assert_non_null(capture->out);
}

static void capture_is(struct capture *capture, const char *expected)
{
    fclose(capture->out);
    assert_string_equal(capture->text, expected);
    free(capture->text);
}

static void test_json_nesting(void **state)
{
    struct capture capture;
    struct json json;
    (void)state;
    capture_open(&capture);
    json_start(&json, capture.out);
    json_object_begin(&json);
    json_key(&json, "empty");
    json_array_begin(&json);
    json_array_end(&json);
    json_key(&json, "list");
    json_array_begin(&json);
    json_int(&json, -1);
    json_object_begin(&json);
    json_key_bool(&json, "a", true);
    json_key_u64(&json, "b", UINT64_MAX);
    json_object_end(&json);
    json_null(&json);
    json_double(&json, 2.25);
    json_array_end(&json);
    json_key_hex(&json, "seed", UINT64_MAX);
    json_key(&json, "raw");
    json_raw(&json, "{\"x\": 1}");
    json_key(&json, "nothing");
    json_raw(&json, "");
    json_key_string(&json, "none", NULL);
    json_object_end(&json);
    json_end_line(&json);
    json_array_begin(&json);
    json_array_end(&json);
    json_end_line(&json);
    capture_is(&capture,
               "{\"empty\": [], \"list\": [-1, {\"a\": true, \"b\": 18446744073709551615}, "
               "null, 2.2], \"seed\": \"0xffffffffffffffff\", \"raw\": {\"x\": 1}, "
               "\"nothing\": null, \"none\": null}\n[]\n");
}

static void test_json_strings(void **state)
{
    static const struct {
        const char *text, *json;
    } cases[] = {
        {"", "\"\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"line\nnext\ttab\x01\x1f\x7f", "\"line\\nnext\\ttab\\u0001\\u001f\\u007f\""},
        {"while\xc2\xb0 \xe2\x82\xac \xf0\x9f\x8e\x89",
         "\"while\xc2\xb0 \xe2\x82\xac \xf0\x9f\x8e\x89\""},
        {"\xff", "\"\\ufffd\""},
        {"\xc2", "\"\\ufffd\""},            /* cut off */
        {"\xc0\xaf", "\"\\ufffd\\ufffd\""}, /* overlong */
        {"\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\""},
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},            /* a surrogate */
        {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* beyond U+10FFFF */
        {"\xe2\x82", "\"\\ufffd\\ufffd\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct capture capture;
        struct json json;
        capture_open(&capture);
        json_start(&json, capture.out);
        json_string(&json, cases[i].text);
        capture_is(&capture, cases[i].json);
    }
}

static void test_table(void **state)
{
    static const char *const titles[] = {"name", "count", "hidden", "rest"};
    static const char *const rows[][4] = {
        {"a", "1", "xxxxxxxxxx", "first"},
        {"while\xc2\xb0", "12345678", "x", NULL},
        {NULL, "5", "x", "last"},
    };
    struct arena arena;
    struct table table;
    struct capture capture;
    (void)state;
    assert_int_equal(arena_init(&arena, 1 << 20), 0);
    table_start(&table, &arena, titles, "lrll");
    table.hidden = 1u << 2;
    for (size_t i = 0; i < 3; i++)
        memcpy(table_add(&table)->cells, rows[i], sizeof rows[i]);
    capture_open(&capture);
    table_print(&table, capture.out);
    capture_is(&capture, "name       count  rest\n"
                         "a              1  first\n"
                         "while\xc2\xb0  12345678\n"
                         "               5  last\n");
    arena_destroy(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_nesting),
        cmocka_unit_test(test_json_strings),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
