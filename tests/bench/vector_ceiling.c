#include "tests/bench/vector_ceiling.h"

#include <string.h>

const char VECTOR_CEILING_KERNEL[] = "launch(threads = 32, warp = 32);\n"
                                     "shared int a[32];\n"
                                     "private int i, x, c, d;\n"
                                     "kernel canonical() blocks {\n"
                                     "Start: goto W;\n"
                                     "W: assume(1); c = i < 64; goto B, E;\n"
                                     "B: assume(c); x = x * 3 + i; d = x & 1; goto T, F;\n"
                                     "T: assume(d); x = x + tid; goto J;\n"
                                     "F: assume(!d); x = x - i; goto J;\n"
                                     "J: assume(1); a[tid] = a[tid] + x; barrier(); i = i + 1;\n"
                                     "   goto W;\n"
                                     "E: assume(!c); goto End;\n"
                                     "}\n";

enum { N = VECTOR_CEILING_LANES, W, B, T, F, J, E, END };

struct lanes {
    int32_t i[N], x[N], c[N], d[N], active[N], mask[N];
};

#define LANES for (int k = 0; k < N; k++)

/* The lanes that are in the block; how many. */
static int32_t enter(struct lanes *v, int32_t block)
{
    int32_t count = 0;
    LANES
        v->mask[k] = -(v->active[k] == block);
    LANES
        count -= v->mask[k];
    return count;
}

static void go(struct lanes *v, const int32_t *condition, int32_t yes, int32_t no)
{
    LANES {
        int32_t target = condition[k] ? yes : no;
        v->active[k] = v->mask[k] ? target : v->active[k];
    }
}

static uint64_t run_once(struct lanes *v, int32_t *a)
{
    uint64_t steps = N; /* Start: goto W */
    int32_t count;
    LANES
        v->active[k] = W;
    for (;;) {
        count = enter(v, W);
        LANES
            v->c[k] = v->mask[k] ? v->i[k] < VECTOR_CEILING_TRIPS : v->c[k];
        go(v, v->c, B, E);
        steps += 3 * (uint64_t)count;
        count = enter(v, B);
        if (count == 0)
            break;
        LANES
            v->x[k] = v->mask[k] ? (int32_t)((uint32_t)v->x[k] * 3 + (uint32_t)v->i[k]) : v->x[k];
        LANES
            v->d[k] = v->mask[k] ? v->x[k] & 1 : v->d[k];
        go(v, v->d, T, F);
        steps += 4 * (uint64_t)count;
        count = enter(v, T);
        LANES
            v->x[k] = v->mask[k] ? (int32_t)((uint32_t)v->x[k] + (uint32_t)k) : v->x[k];
        LANES
            v->active[k] = v->mask[k] ? J : v->active[k];
        steps += 3 * (uint64_t)count;
        count = enter(v, F);
        LANES
            v->x[k] = v->mask[k] ? (int32_t)((uint32_t)v->x[k] - (uint32_t)v->i[k]) : v->x[k];
        LANES
            v->active[k] = v->mask[k] ? J : v->active[k];
        steps += 3 * (uint64_t)count;
        count = enter(v, J);
        LANES
            a[k] = v->mask[k] ? (int32_t)((uint32_t)a[k] + (uint32_t)v->x[k]) : a[k];
        if (count != 0 && count != N)
            return 0; /* barrier divergence */
        LANES
            v->i[k] = v->mask[k] ? v->i[k] + 1 : v->i[k];
        LANES
            v->active[k] = v->mask[k] ? W : v->active[k];
        steps += 5 * (uint64_t)count;
    }
    count = enter(v, E);
    return steps + 2 * (uint64_t)count;
}

uint64_t vector_ceiling_run(uint64_t executions, int32_t *a)
{
    uint64_t steps = 0;
    for (uint64_t e = 0; e < executions; e++) {
        struct lanes v;
        memset(&v, 0, sizeof v);
        memset(a, 0, N * sizeof *a);
        steps += run_once(&v, a);
    }
    return steps;
}
