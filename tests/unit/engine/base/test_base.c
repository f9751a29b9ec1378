/* The ground under everything: PCG's golden vectors, the arena, diagnostics. */
#include "engine/base/arena.h"
#include "engine/base/diag.h"
#include "engine/base/pcg.h"
#include "engine/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static void pcg_golden(void **state)
{
    (void)state;
    static const uint32_t golden[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293};
    struct pcg rng;
    pcg_seed(&rng, 42, 54);
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++)
        assert_int_equal(pcg_next(&rng), golden[i]);
}

static void pcg_below_is_bounded_and_covers(void **state)
{
    (void)state;
    struct pcg rng = pcg_derive(1, PCG_KERNEL, 0);
    uint32_t seen = 0;
    for (int i = 0; i < 1000; i++) {
        uint32_t draw = pcg_below(&rng, 7);
        assert_in_range(draw, 0, 6);
        seen |= 1u << draw;
    }
    assert_int_equal(seen, 0x7f);
}

static void pcg_purposes_differ(void **state)
{
    (void)state;
    struct pcg a = pcg_derive(1, PCG_KERNEL, 0), b = pcg_derive(1, PCG_INPUT, 0);
    struct pcg c = pcg_derive(1, PCG_KERNEL, 1);
    uint64_t x = pcg_next64(&a), y = pcg_next64(&b), z = pcg_next64(&c);
    assert_true(x != y && y != z && x != z);
}

static void arena_zeroes_and_releases(void **state)
{
    (void)state;
    struct arena arena;
    assert_int_equal(arena_init(&arena, 1 << 20), 0);
    size_t mark = arena_mark(&arena);
    char *a = arena_alloc(&arena, 100, 1);
    memset(a, 0xff, 100);
    arena_release(&arena, mark);
    char *b = arena_alloc(&arena, 100, 1);
    assert_ptr_equal(a, b);
    for (int i = 0; i < 100; i++)
        assert_int_equal(b[i], 0);
    assert_string_equal(arena_printf(&arena, "%s-%d", "x", 7), "x-7");
    arena_destroy(&arena);
}

/* How many pages of an arena the system has given memory for. */
static size_t resident_pages(const struct arena *arena, size_t page)
{
    static unsigned char pages[1 << 16];
    size_t count = 0, all = ARENA_STRIDE * arena->size / page - 1;
    char *first = arena->base + (page - (uintptr_t)arena->base % page) % page;
    assert_true(all <= sizeof pages);
    assert_int_equal(mincore(first, all * page, pages), 0);
    for (size_t i = 0; i < all; i++)
        count += pages[i] & 1;
    return count;
}

/* A large object of which little is used takes little memory, and is zero all the same, whatever lay there before. */
static void arena_touches_what_is_used(void **state)
{
    (void)state;
    enum { ALL = 64 << 20, LARGE = 48 << 20, SOILED = 1 << 20 };
    struct arena arena;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(arena_init(&arena, ALL), 0);
    memset(arena_room(&arena, SOILED), 0xff, SOILED);
    arena.used = 0; /* as those do who empty an arena for the next case */
    char *large = arena_alloc(&arena, LARGE, 1);
    assert_true(resident_pages(&arena, page) < ALL / 4 / page);
    large[LARGE - 1] = 1;
    for (size_t i = 0; i + 1 < LARGE; i += i < 2 * SOILED ? 1 : page)
        assert_int_equal(large[i], 0);
    arena_drop(&arena);
    assert_true(resident_pages(&arena, page) < ALL / 8 / page);
    large = arena_alloc(&arena, LARGE, 1);
    assert_int_equal(large[LARGE - 1], 0);
    arena_destroy(&arena);
}

static jmp_buf full;
static size_t full_bytes;

static void note_full(const struct arena *arena, size_t bytes)
{
    (void)arena;
    full_bytes = bytes;
    longjmp(full, 1);
}

/* Each gets its share of what may be had, a megabyte at least; one that is full says so to who asked for it. */
static void arenas_share_and_say_when_they_are_full(void **state)
{
    (void)state;
    struct arena large, small;
    arena_share((size_t)1 << 30, (size_t)256 << 20);
    assert_int_equal(arena_init(&large, 64 << 20), 0);
    assert_int_equal(arena_init(&small, 2 << 20), 0);
    arena_share((size_t)32 << 30, 0);
    assert_int_equal(large.size, 16 << 20);
    assert_int_equal(small.size, 1 << 20);
    arena_on_full(note_full);
    (void)arena_room(&small, 1 << 20);
    if (setjmp(full) == 0) {
        (void)arena_alloc(&small, 3, 5);
        fail_msg("there was room");
    }
    assert_int_equal(full_bytes, 15);
    if (setjmp(full) == 0) {
        (void)arena_alloc(&large, SIZE_MAX / 2, 5);
        fail_msg("there was room for more than all");
    }
    arena_on_full(NULL);
    arena_destroy(&large);
    arena_destroy(&small);
}

/* The last object grows where it stands, and shrinks; what it grew by is zero, also where something else was. Marks
 * count objects only, so that they are the same in builds with zones behind objects. */
static void arena_extends_and_trims(void **state)
{
    (void)state;
    struct arena arena;
    assert_int_equal(arena_init(&arena, 4096), 0);
    char *before = arena_alloc(&arena, 7, 1);
    memset(arena_alloc(&arena, 4080, 1), 0xff, 4080);
    arena_release(&arena, 16);
    char *object = arena_alloc(&arena, 2, 16);
    assert_false(arena_extend(&arena, before, 16, 16));
    memset(object, 1, 32);
    assert_true(arena_extend(&arena, object, 32, 48));
    assert_int_equal(arena_mark(&arena), 16 + 80);
    for (int i = 0; i < 80; i++)
        assert_int_equal(object[i], i < 32);
    arena_trim(&arena, object, 80, 17);
    assert_int_equal(arena_mark(&arena), 16 + 32);
    assert_int_equal(object[16], 1);
    (void)arena_alloc(&arena, 0, 8); /* takes nothing */
    assert_int_equal(arena_mark(&arena), 16 + 32);
    (void)arena_alloc(&arena, 4096 - 48, 1); /* all that is left */
    assert_int_equal(arena_mark(&arena), 4096);
    arena_destroy(&arena);
}

/* At the arena's end a text grows where it stands; behind something else it moves. */
static void text_grows(void **state)
{
    (void)state;
    struct arena arena;
    assert_int_equal(arena_init(&arena, 1 << 20), 0);
    struct text text = text_begin(&arena);
    assert_string_equal(text.bytes, "");
    const char *start = text.bytes;
    char expected[4096] = "";
    for (int i = 0; i < 400; i++) {
        if (i == 200)
            assert_ptr_equal(text.bytes, start);
        if (i == 200 || i == 300)
            memset(arena_alloc(&arena, 16, 1), 0xff, 16);
        if (i % 2 == 0)
            text_format(&text, "%d,", i);
        else
            text_put(&text, "odd,");
        if (i % 2 == 0)
            snprintf(expected + strlen(expected), 16, "%d,", i);
        else
            strcat(expected, "odd,");
        assert_string_equal(text.bytes, expected);
        assert_int_equal(text.length, strlen(expected));
    }
    assert_ptr_not_equal(text.bytes, start);
    text_format(&text, "%s", expected); /* longer than what room there is */
    assert_int_equal(text.length, 2 * strlen(expected));
    struct text empty = {.arena = &arena};
    text_put_bytes(&empty, "abc", 2);
    assert_string_equal(empty.bytes, "ab");
    arena_destroy(&arena);
}

static void diag_quotes_line_with_caret(void **state)
{
    (void)state;
    static const char text[] = "one\ntw\to\nthree\n";
    struct diag diag;
    diag_init(&diag, "f.simt", text, sizeof text - 1);
    diag_error(&diag, (struct location){2, 3}, "bad %s", "thing");
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    diag_print(&diag, stream);
    fclose(stream);
    assert_string_equal(out, "f.simt:2:3: error: bad thing\n    tw o\n      ^\n");
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pcg_golden),
        cmocka_unit_test(pcg_below_is_bounded_and_covers),
        cmocka_unit_test(pcg_purposes_differ),
        cmocka_unit_test(arena_zeroes_and_releases),
        cmocka_unit_test(arena_touches_what_is_used),
        cmocka_unit_test(arenas_share_and_say_when_they_are_full),
        cmocka_unit_test(arena_extends_and_trims),
        cmocka_unit_test(text_grows),
        cmocka_unit_test(diag_quotes_line_with_caret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
