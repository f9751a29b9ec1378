/*
 * Copies that are under way: a row of cp.async and cp.async.bulk between areas that nothing else accesses, groups,
 * waits, and reads of what was copied, seldom too early.
 */
#include "fuzz/rows/gen_rows_internal.h"

#include <inttypes.h>

enum { UNITS = ROWS_AREA / 16 };

void rows_put_copy_variables(struct rows_gen *r)
{
    const uint32_t threads = r->g->kernel->launch.threads, blocks = r->blocks ? r->blocks : 1;
    PUT(r, ".shared .align 16 .b8 kept[%" PRIu32 "];\n.global .align 16 .b8 given[%" PRIu32 "];\n",
        ROWS_AREA * threads, ROWS_AREA * threads * blocks);
}

/* The lane's areas, behind rows_put_places: they lie as its others do. */
void rows_put_copy_places(struct rows_gen *r)
{
    PUT(r, "\t.reg .b64 ka, kg;\n\tmov.u64 ka, shr;\n\tsub.u64 ka, sa, ka;\n\tmov.u64 kg, kept;\n"
           "\tadd.u64 ka, ka, kg;\n\tmov.u64 kg, out;\n\tsub.u64 kg, ga, kg;\n"
           "\tmov.u64 e, given;\n\tadd.u64 kg, kg, e;\n\tst.global.v2.b64 [kg], {w0, w1};\n"
           "\tst.global.v2.b32 [kg+40], {r0, r1};\n");
}

static void put_copy(struct rows_gen *r)
{
    static const uint32_t sizes[] = {4, 8, 16};
    struct gen *g = r->g;
    const uint32_t bytes = sizes[gen_below(g, 3)], to = gen_below(g, ROWS_AREA / bytes),
                   from = gen_below(g, ROWS_AREA / bytes);
    const bool through = bytes == 16 && gen_chance(g, 50), some = gen_chance(g, 30);
    const uint32_t given = gen_below(g, bytes + 3);
    if (gen_chance(g, 20))
        rows_put_guard(r, "");
    else
        PUT(r, "\t");
    PUT(r, "cp.async.%s.shared.global [ka+%" PRIu32 "], [kg+%" PRIu32 "], %" PRIu32,
        through ? "cg" : "ca", bytes * to, bytes * from, bytes);
    if (some)
        PUT(r, ", %" PRIu32, given);
    PUT(r, ";\n");
}

/* Back, or with the lane's mbarrier, which awaits the bytes, in. */
static void put_bulk(struct rows_gen *r)
{
    struct gen *g = r->g;
    const uint32_t units = 1 + gen_below(g, 2), to = gen_below(g, UNITS - 1),
                   from = gen_below(g, UNITS - 1);
    if (!r->objects || gen_chance(g, 40))
        PUT(r,
            "\tcp.async.bulk.global.shared::cta.bulk_group [kg+%" PRIu32 "], [ka+%" PRIu32
            "], %" PRIu32 ";\n",
            16 * to, 16 * from, 16 * units);
    else
        PUT(r,
            "\tmbarrier.expect_tx.relaxed.cta.shared::cta.b64 [mo], %" PRIu32
            ";\n\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [ka+%" PRIu32
            "], [kg+%" PRIu32 "], %" PRIu32 ", [mo];\n",
            16 * units, 16 * to, 16 * from, 16 * units);
}

static void put_wait(struct rows_gen *r)
{
    struct gen *g = r->g;
    const uint32_t kept = gen_below(g, 3), which = gen_below(g, 5);
    if (which == 0)
        PUT(r, "\tcp.async.wait_all;\n");
    else if (which < 3)
        PUT(r, "\tcp.async.wait_group %" PRIu32 ";\n", kept);
    else
        PUT(r, "\tcp.async.bulk.wait_group%s %" PRIu32 ";\n", which == 3 ? ".read" : "", kept);
}

/* An arrival behind what the lane has begun, and the object's phase. */
static void put_object(struct rows_gen *r)
{
    struct gen *g = r->g;
    PUT(r, "\tcp.async.mbarrier.arrive%s.shared.b64 [mo];\n", gen_chance(g, 60) ? ".noinc" : "");
    if (gen_chance(g, 60))
        PUT(r, "\tmbarrier.test_wait.parity.shared.b64 q, [mo], %" PRIu32 ";\n", gen_below(g, 2));
}

/* Behind waits for all, or, seldom, behind whatever was waited for. */
static void put_look(struct rows_gen *r)
{
    struct gen *g = r->g;
    const uint32_t at = gen_below(g, ROWS_AREA / 4);
    const bool own = gen_chance(g, 70);
    if (gen_chance(g, 93))
        PUT(r, "\tcp.async.wait_all;\n\tcp.async.bulk.commit_group;\n"
               "\tcp.async.bulk.wait_group 0;\n");
    PUT(r, "\tld.%s.b32 r4, [%s+%" PRIu32 "];\n", own ? "shared" : "global", own ? "ka" : "kg",
        4 * at);
}

void rows_put_copy(struct rows_gen *r)
{
    struct gen *g = r->g;
    for (uint32_t count = 1 + gen_below(g, 4); count > 0; count--) {
        const uint32_t which = gen_below(g, 16);
        if (which < 6)
            put_copy(r);
        else if (which < 8)
            put_bulk(r);
        else if (which < 11)
            PUT(r, "\tcp.async.%scommit_group;\n", which == 10 ? "bulk." : "");
        else if (which < 14)
            put_wait(r);
        else if (which == 14 && r->objects)
            put_object(r);
        else
            put_look(r);
    }
}
