/* What observers hear of an instruction when its operations are issued. */
#include "engine/reference_caches/ref_caches.h"

static const struct ref_operation *operation_with(const struct ref_caches *m, uint32_t first,
                                                  uint32_t lane)
{
    for (uint32_t o = first; o < m->operation_count; o++)
        if (m->operations[o].lanes[lane])
            return &m->operations[o];
    return NULL;
}

/* Of two lanes that store to a byte, the one whose value does not stay comes first. */
static bool stays_last(const struct ref_operation *x, const uint32_t *turn)
{
    const int64_t bytes = (int64_t)x->bytes * x->count;
    for (uint32_t a = 0; a < LIMIT_WARP; a++)
        for (uint32_t b = 0; b < LIMIT_WARP; b++)
            if (x->lanes[a] && x->lanes[b] && !x->writes[a] && x->writes[b] &&
                x->byte[a] < x->byte[b] + bytes && x->byte[b] < x->byte[a] + bytes &&
                turn[a] > turn[b])
                return false;
    return true;
}

/* The locations of one element of a lane, one after the other. */
static bool tells(const struct ref_operation *x, const struct ref_telling *t,
                  const struct ref_access *heard, uint32_t lane, uint32_t element)
{
    const uint32_t each = 4 / t->units;
    const uint64_t first = (uint64_t)x->byte[lane] + element * x->bytes;
    for (uint32_t i = 0; i < x->bytes / each; i++) {
        const uint64_t value = x->values[lane][element % REF_VALUES] >> 8 * each * i;
        const uint32_t part = each == 4 ? (uint32_t)value : (uint32_t)value % (1u << 8 * each);
        if (heard[i].kind != t->kind || heard[i].thread != t->first_thread + lane ||
            heard[i].address != first / each + i)
            return false;
        if (t->kind == REF_WRITE && x->writes[lane] && element < REF_VALUES &&
            (uint32_t)heard[i].value != part)
            return false;
    }
    return true;
}

bool ref_are_told(const struct ref_caches *m, uint32_t first, const struct ref_telling *t)
{
    uint32_t lanes = 0, at = 0;
    const struct ref_operation *x = NULL, *any = NULL;
    for (uint32_t l = 0; l < LIMIT_WARP; l++) {
        x = operation_with(m, first, l);
        lanes += x && x->byte[l] < m->private_bytes;
        any = x ? x : any;
    }
    for (uint32_t e = 0; lanes > 0 && e < any->count; e++) {
        uint32_t turn[LIMIT_WARP] = {0};
        for (uint32_t i = 0; i < lanes; i++, at += any->bytes * t->units / 4) {
            const uint32_t lane =
                at < t->count ? t->heard[at].thread - t->first_thread : LIMIT_WARP;
            x = lane < LIMIT_WARP ? operation_with(m, first, lane) : NULL;
            if (!x || turn[lane] != 0 || at + any->bytes * t->units / 4 > t->count ||
                !tells(x, t, t->heard + at, lane, e))
                return false;
            turn[lane] = i + 1;
        }
        for (uint32_t o = first; o < m->operation_count && t->kind == REF_WRITE; o++)
            if (!stays_last(&m->operations[o], turn))
                return false;
    }
    return at == t->count;
}
