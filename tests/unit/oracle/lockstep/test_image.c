/* Accesses of a step, as they are compared by hash, against multisets and sets of them written down. */
#include "tests/unit/shared/support.h"

#include "oracle/lockstep/image.h"

enum { THREADS = 5, ADDRESSES = 3, KINDS = 3, ALL = THREADS * ADDRESSES * KINDS };

static struct image_access access_of(uint32_t i)
{
    return (struct image_access){i % THREADS, i / THREADS % ADDRESSES,
                                 (enum access_kind)(i / THREADS / ADDRESSES)};
}

static void tell(struct image_accesses *accesses, uint32_t i)
{
    const struct observer *o = &accesses->observer;
    struct image_access a = access_of(i);
    switch (a.kind) {
    case ACCESS_READ:
        o->read(o->context, a.thread, a.address, 0);
        break;
    case ACCESS_WRITE:
        o->write(o->context, a.thread, a.address, 7, 0);
        break;
    case ACCESS_ATOMIC:
        o->atomic(o->context, a.thread, a.address, 7, 0);
        break;
    }
}

static void tell_all(struct image_accesses *accesses, const uint32_t *items, uint32_t count)
{
    image_accesses_clear(accesses);
    for (uint32_t i = 0; i < count; i++)
        tell(accesses, items[i]);
}

static bool is_in(uint32_t item, const uint32_t *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (items[i] == item)
            return true;
    return false;
}

static bool is_write(uint32_t item)
{
    return access_of(item).kind != ACCESS_READ;
}

static void compare(struct image_accesses *a, struct image_accesses *b, const uint32_t *x,
                    const uint32_t *y)
{
    bool same = (x[0] == y[0] && x[1] == y[1]) || (x[0] == y[1] && x[1] == y[0]);
    bool within = is_in(x[0], y, 2) && is_in(x[1], y, 2);
    bool same_sets = within && is_in(y[0], x, 2) && is_in(y[1], x, 2);
    tell_all(a, x, 2);
    tell_all(b, y, 2);
    assert_int_equal(image_same_accesses(a, b), same);
    assert_int_equal(image_same_access_sets(a, b), same_sets);
    assert_int_equal(image_missing_access(a, b) == NULL, same);
    assert_int_equal(a->writes, is_write(x[0]) || is_write(x[1]));
}

/* All pairs of two accesses each: who, where and what all count, the order does not. */
static void test_pairs(void **state)
{
    (void)state;
    struct image_accesses a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    image_accesses_start(&a, &test_arena, NULL);
    image_accesses_start(&b, &test_arena, NULL);
    for (uint32_t i = 0; i < ALL * ALL; i++)
        for (uint32_t j = i % 7; j < ALL * ALL; j += 7) {
            const uint32_t x[] = {i / ALL, i % ALL}, y[] = {j / ALL, j % ALL};
            compare(&a, &b, x, y);
        }
}

/* One access more, and one another at each place of three. */
static void test_missing(void **state)
{
    (void)state;
    struct image_accesses a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    image_accesses_start(&a, &test_arena, NULL);
    image_accesses_start(&b, &test_arena, NULL);
    for (uint32_t i = 0; i < ALL; i++) {
        const uint32_t x[] = {i, (i + 1) % ALL, i}, y[] = {(i + 1) % ALL, i, i, (i + 2) % ALL};
        const struct image_access last = access_of(y[3]);
        tell_all(&a, x, 3);
        tell_all(&b, y, 3);
        assert_true(image_same_accesses(&a, &b));
        tell(&b, y[3]);
        assert_false(image_same_accesses(&a, &b));
        assert_false(image_same_access_sets(&a, &b));
        assert_null(image_missing_access(&a, &b));
        const struct image_access *missing = image_missing_access(&b, &a);
        assert_non_null(missing);
        assert_int_equal(missing->thread, last.thread);
        assert_int_equal(missing->address, last.address);
        assert_int_equal(missing->kind, last.kind);
        tell(&a, i); /* twice is more than once, but the same set */
        tell_all(&b, x, 3);
        assert_false(image_same_accesses(&a, &b));
        assert_true(image_same_access_sets(&a, &b));
        assert_non_null(image_missing_access(&a, &b));
    }
}

/* More than are kept: sums of hashes still tell them apart, sets are not looked at. */
static void test_many(void **state)
{
    (void)state;
    struct image_accesses a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    image_accesses_start(&a, &test_arena, NULL);
    image_accesses_start(&b, &test_arena, NULL);
    for (uint32_t i = 0; i < IMAGE_ACCESSES; i++) {
        tell(&a, i % ALL);
        tell(&b, i % ALL);
    }
    tell(&a, 0);
    assert_true(image_same_access_sets(&a, &b));
    tell(&b, 1);
    assert_false(image_same_accesses(&a, &b));
    assert_true(image_same_access_sets(&a, &b));
    assert_null(image_missing_access(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pairs, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_missing, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_many, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
