#include "tests/bench/ceiling.h"

#include <string.h>

#define PHASE "a[tid] = a[tid] + 1; a[tid] = a[tid] + 2; a[tid] = a[tid] + 3; r = tid;"
#define LAST "a[tid] = a[tid] + 1; a[tid] = a[tid] + 2; x = a[tid]; r = tid;"
#define DECLARED "launch(threads = 4, warp = 4);\nshared int a[4], r;\nprivate int x;\n"

const char BARRIER_CEILING_KERNEL[] =
    DECLARED "kernel field() {" PHASE "barrier();" PHASE "barrier();" LAST "}\n";
const char BARRIER_CEILING_BLOCKS[] = DECLARED
    "kernel field() blocks {\nStart: " PHASE "barrier();" PHASE "barrier();" LAST "goto End;\n}\n";

enum {
    THREADS = CANONICAL_THREADS,
    LOCATIONS = THREADS + 1,
    RACY = THREADS,
    SEVERAL = 0xffff,
    LENGTH = 20 + 2 + 1
};

enum step_kind { READ, WRITE, WRITE_RACY, BARRIER, END };

static const uint8_t steps[LENGTH] = {READ,       WRITE,   READ,       WRITE,      READ, WRITE,
                                      WRITE_RACY, BARRIER, READ,       WRITE,      READ, WRITE,
                                      READ,       WRITE,   WRITE_RACY, BARRIER,    READ, WRITE,
                                      READ,       WRITE,   READ,       WRITE_RACY, END};

struct run {
    uint64_t words[LOCATIONS]; /* epoch << 32 | writer << 16 | reader; 0 none, 0xffff several */
    int32_t memory[LOCATIONS], value[THREADS];
    uint32_t pc[THREADS], live[THREADS], count, waiting, epoch, races;
};

static inline void see(struct run *r, uint32_t location, uint32_t t, bool writes)
{
    uint64_t word = r->words[location];
    if (word >> 32 != r->epoch)
        word = (uint64_t)r->epoch << 32;
    uint32_t writer = word >> 16 & 0xffff, reader = word & 0xffff, me = t + 1;
    r->races += (writer && writer != me) || (writes && reader && reader != me);
    if (writes)
        writer = writer && writer != me ? SEVERAL : me;
    else
        reader = reader && reader != me ? SEVERAL : me;
    r->words[location] = (uint64_t)r->epoch << 32 | writer << 16 | reader;
}

static inline void step(struct run *r, uint32_t i, const bool race)
{
    uint32_t t = r->live[i];
    switch ((enum step_kind)steps[r->pc[t]++]) {
    case READ:
        if (race)
            see(r, t, t, false);
        r->value[t] = r->memory[t];
        break;
    case WRITE:
        if (race)
            see(r, t, t, true);
        r->memory[t] = r->value[t] + 1;
        break;
    case WRITE_RACY:
        if (race)
            see(r, RACY, t, true);
        r->memory[RACY] = (int32_t)t;
        break;
    case BARRIER:
        r->live[i] = r->live[--r->count];
        if (++r->waiting < THREADS)
            break;
        for (r->count = 0; r->count < THREADS; r->count++)
            r->live[r->count] = r->count;
        r->waiting = 0;
        r->epoch++;
        break;
    case END:
        r->live[i] = r->live[--r->count];
        break;
    }
}

static inline uint32_t run_all(uint64_t executions, struct pcg *rng, const bool race)
{
    struct run r = {.epoch = 0};
    for (uint64_t e = 0; e < executions; e++) {
        memset(r.memory, 0, sizeof r.memory);
        memset(r.pc, 0, sizeof r.pc);
        for (r.count = 0; r.count < THREADS; r.count++)
            r.live[r.count] = r.count;
        for (r.epoch++; r.count > 0;)
            step(&r, r.count > 1 ? pcg_below(rng, r.count) : 0, race);
    }
    return r.races + (uint32_t)r.memory[RACY];
}

uint64_t barrier_ceiling_run(struct barrier_ceiling *ceiling, struct pcg *rng)
{
    ceiling->result = ceiling->race ? run_all(ceiling->executions, rng, true)
                                    : run_all(ceiling->executions, rng, false);
    return ceiling->executions;
}
