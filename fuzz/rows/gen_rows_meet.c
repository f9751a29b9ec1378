/* Operands of what lanes, warps and threads do together: masks, barriers, mbarriers. */
#include "fuzz/rows/gen_rows_internal.h"

/* ---- masks ---- */

bool rows_takes_mask(const struct rows_making *m)
{
    return m->sort == SORT_WARP &&
           (m->i.words[PTX_SLOT_SYNC] == PTX_W_SYNC || m->i.form == PTX_FORM_BAR_WARP);
}

/* The lanes that come here: all of the warp where none has gone another way, or those of the lane's group; else those
 * that are here. */
struct ptx_operand *rows_mask(struct rows_making *m)
{
    struct gen *g = m->r->g;
    if (m->r->apart || m->i.guard) {
        m->wrong |= m->r->g->kernel->launch.warp > 32;
        text_put(&m->before, "\t");
        if (m->i.guard)
            text_format(&m->before, "@%s%s ", m->i.guard->negated ? "!" : "", m->i.guard->name);
        text_put(&m->before, "activemask.b32 m;\n");
        return rows_operand(m, PTX_OPERAND_NAME, "m");
    }
    uint32_t lanes;
    switch (gen_below(g, 16)) {
    case 0: /* some lanes name others who name less, or more, or not themselves */
        if (gen_chance(g, 20)) {
            text_put(&m->before, "\tnot.b32 m, even;\n");
            return rows_operand(m, PTX_OPERAND_NAME, "m");
        }
        lanes = gen_below(g, 4);
        text_format(&m->before, "\tselp.b32 m, even, %s, p%u;\n", gen_chance(g, 50) ? "half" : "-1",
                    lanes);
        return rows_operand(m, PTX_OPERAND_NAME, "m");
    case 1:
    case 2:
    case 3:
        return rows_operand(m, PTX_OPERAND_NAME, "half");
    case 4:
    case 5:
    case 6:
        return rows_operand(m, PTX_OPERAND_NAME, "even");
    default:
        return rows_integer(m, UINT32_MAX);
    }
}

/* ---- barriers ---- */

/* One or two numbers, `first` and one that is `more`, by the lane. */
static struct ptx_operand *by_lane(struct rows_making *m, const char *name, uint32_t first,
                                   int32_t more)
{
    text_format(&m->before, "\tand.b32 %s, t, 1;\n\tmad.lo.s32 %s, %s, %d, %u;\n", name, name, name,
                (int)more, first);
    return rows_operand(m, PTX_OPERAND_NAME, name);
}

struct ptx_operand *rows_barrier_number(struct rows_making *m)
{
    struct gen *g = m->r->g;
    uint32_t first;
    switch (gen_below(g, 10)) {
    case 0:
        return rows_integer(m, 15 - gen_below(g, 2));
    case 1: /* 15 is the last number */
        first = 15 + gen_below(g, 2);
        return by_lane(m, "m", first, (int32_t)gen_below(g, 2));
    case 2:
        return by_lane(m, "m", gen_below(g, 3), 1);
    case 3: /* the first lane names the greatest */
        first = 1 + gen_below(g, 15);
        return by_lane(m, "m", first, -1 - (int32_t)gen_below(g, first));
    default:
        return rows_integer(m, gen_below(g, 3));
    }
}

/* All lanes, those of one warp or some, and wrong numbers. */
struct ptx_operand *rows_barrier_count(struct rows_making *m)
{
    struct gen *g = m->r->g;
    uint32_t warp = g->kernel->launch.warp, all = rows_all_lanes(m->r), first;
    switch (gen_below(g, 13)) {
    case 0:
        return rows_integer(m, warp * gen_below(g, all / warp + 2));
    case 1:
        return rows_integer(m, all + gen_below(g, 3) - 1);
    case 2:
        return by_lane(m, "n", all, (int32_t)gen_below(g, 2));
    case 3: /* the first lane gives the greatest, of whole warps or not */
        first = gen_chance(g, 50) ? all : all + warp;
        return by_lane(m, "n", first, -(int32_t)(gen_chance(g, 60) ? warp : 1));
    case 4:
    case 5:
    case 6:
        return rows_integer(m, warp);
    default:
        return rows_integer(m, all);
    }
}

/* ---- mbarriers ---- */

/* Arrivals and transactions that an object has room for, phases; seldom what is undefined. */
struct ptx_operand *rows_object_number(struct rows_making *m)
{
    struct gen *g = m->r->g;
    switch ((int)m->i.form) {
    case PTX_FORM_MBARRIER_INIT:
        return rows_integer(m, 1 + gen_below(g, 3) * gen_below(g, 3));
    case PTX_FORM_MBARRIER_ARRIVE_TX:
    case PTX_FORM_MBARRIER_TX:
        return rows_integer(m,
                            gen_chance(g, 5) ? (1u << 20) - gen_below(g, 2) : 4 * gen_below(g, 3));
    case PTX_FORM_MBARRIER_TEST_PARITY:
    case PTX_FORM_MBARRIER_TRY_PARITY:
        return rows_integer(m, gen_below(g, gen_chance(g, 10) ? 4 : 2));
    default:
        return rows_integer(m,
                            gen_chance(g, 3) ? 0 : 1 + gen_below(g, 4) / 2 + gen_below(g, 5) / 4);
    }
}

/* A phase that an arrival has told, or any. */
struct ptx_operand *rows_object_phase(struct rows_making *m, const struct ptx_item_pattern *item)
{
    return item->is_result && gen_chance(m->r->g, 15)
               ? rows_operand(m, PTX_OPERAND_SINK, NULL)
               : rows_register_number(m, 64, gen_chance(m->r->g, 80) ? 0 : 1);
}

void rows_prepare_object(struct rows_making *m, const struct ptx_operand *at)
{
    struct gen *g = m->r->g;
    bool kept = gen_chance(g, 90);
    m->wrong |= m->i.form == PTX_FORM_MBARRIER_INVAL && kept;
    m->wrong |= m->i.words[PTX_SLOT_SYNC] == PTX_W_ARRIVE_DROP && gen_chance(g, 70);
    if (m->i.form == PTX_FORM_MBARRIER_INIT && kept) {
        const char *sign = m->i.guard && m->i.guard->negated ? "!" : "";
        const char *guard =
            m->i.guard ? arena_printf(g->arena, "@%s%s ", sign, m->i.guard->name) : "";
        text_format(&m->before, "\t%smbarrier.inval.b64 [%s];\n", guard,
                    at->name[1] == 'c' ? "gc" : "go");
    }
}
