#include "tests/bench/vector_loop.h"

#include "tests/bench/vector_ceiling.h"

#include <string.h>

enum { N = VECTOR_CEILING_LANES };

/* Registers: variables, constants, a temporary. */
enum { I, X, C, D, TMP, TID, ZERO, ONE, THREE, TRIPS, REGISTERS };

enum { B_W, B_B, B_T, B_F, B_J, B_E, B_END };

/* dst, a, b: registers, of branches blocks. */
enum loop_op {
    ENTER, /* mask = lanes in block dst; adds b times them to the lane steps; nobody: on at a */
    ADD,
    SUB,
    MUL,
    AND,
    LESS,    /* dst = a op b, in the mask */
    GATHER,  /* dst = memory[a] */
    SCATTER, /* memory[a] = dst */
    BARRIER,
    BRANCH, /* on register dst to a, else b */
    GO,     /* to block dst */
    BACK,   /* on at dst */
    HALT
};

struct inst {
    uint8_t op, dst, a, b;
};

static const struct inst code[] = {
    {ENTER, B_W, 3, 3},    {LESS, C, I, TRIPS},   {BRANCH, C, B_B, B_E},                   /* W */
    {ENTER, B_B, 8, 4},    {MUL, TMP, X, THREE},  {ADD, X, TMP, I},      {AND, D, X, ONE}, /* B */
    {BRANCH, D, B_T, B_F},                                                                 /* B */
    {ENTER, B_T, 11, 3},   {ADD, X, X, TID},      {GO, B_J, 0, 0},                         /* T */
    {ENTER, B_F, 14, 3},   {SUB, X, X, I},        {GO, B_J, 0, 0},                         /* F */
    {ENTER, B_J, 22, 5},   {GATHER, TMP, TID, 0}, {ADD, TMP, TMP, X},    {SCATTER, TMP, TID, 0},
    {BARRIER, 0, 0, 0},    {ADD, I, I, ONE},      {GO, B_W, 0, 0},       {BACK, 0, 0, 0}, /* J */
    {ENTER, B_E, 24, 2},   {GO, B_END, 0, 0},     {HALT, 0, 0, 0},                        /* E */
};

struct machine_of_vectors {
    int32_t registers[REGISTERS][N], active[N], mask[N];
};

#define LANES for (int k = 0; k < N; k++)
#define MASKED(expression)                                                                         \
    LANES                                                                                          \
    d[k] = v->mask[k] ? (int32_t)(expression) : d[k]

static uint64_t run_once(struct machine_of_vectors *v, int32_t *memory)
{
    uint64_t steps = N; /* Start: goto W */
    uint32_t count = 0;
    for (const struct inst *at = code;; at++) {
        int32_t *d = v->registers[at->dst % REGISTERS];
        const int32_t *a = v->registers[at->a % REGISTERS], *b = v->registers[at->b % REGISTERS];
        switch ((enum loop_op)at->op) {
        case ENTER:
            count = 0;
            LANES
                v->mask[k] = -(v->active[k] == at->dst);
            LANES
                count -= (uint32_t)v->mask[k];
            steps += (uint64_t)at->b * count;
            if (count == 0)
                at = code + at->a - 1;
            break;
        case ADD:
            MASKED((uint32_t)a[k] + (uint32_t)b[k]);
            break;
        case SUB:
            MASKED((uint32_t)a[k] - (uint32_t)b[k]);
            break;
        case MUL:
            MASKED((uint32_t)a[k] * (uint32_t)b[k]);
            break;
        case AND:
            MASKED(a[k] & b[k]);
            break;
        case LESS:
            MASKED(a[k] < b[k]);
            break;
        case GATHER:
            MASKED(memory[a[k]]);
            break;
        case SCATTER:
            LANES
                if (v->mask[k])
                    memory[a[k]] = d[k];
            break;
        case BARRIER:
            if (count != N)
                return 0;
            break;
        case BRANCH:
            LANES {
                int32_t target = d[k] ? at->a : at->b;
                v->active[k] = v->mask[k] ? target : v->active[k];
            }
            break;
        case GO:
            LANES
                v->active[k] = v->mask[k] ? at->dst : v->active[k];
            break;
        case BACK:
            at = code + at->dst - 1;
            break;
        case HALT:
            return steps;
        }
    }
}

static void fill(int32_t *vector, int32_t value)
{
    LANES
        vector[k] = value;
}

uint64_t vector_loop_run(uint64_t executions, int32_t *a)
{
    uint64_t steps = 0;
    for (uint64_t e = 0; e < executions; e++) {
        struct machine_of_vectors v;
        memset(&v, 0, sizeof v);
        memset(a, 0, N * sizeof *a);
        LANES
            v.registers[TID][k] = k;
        fill(v.registers[ONE], 1);
        fill(v.registers[THREE], 3);
        fill(v.registers[TRIPS], VECTOR_CEILING_TRIPS);
        steps += run_once(&v, a);
    }
    return steps;
}
