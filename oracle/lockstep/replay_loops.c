/*
 * replay_loops.c - ORA.semi for loops: which threads are in a loop that F runs may only become fewer
 * until F has left it.
 */
#include "oracle/lockstep/replay_internal.h"

#include "engine/forms/cfg.h"

#include <string.h>

struct loop {
    uint32_t function;
    const char *head;
    uint8_t *members; /* a block of P */
};

/* Of a thread block and a depth of calls. */
struct loop_frame {
    uint8_t *running; /* a loop: F is in it */
    uint8_t *inside;  /* a loop and a thread */
};

struct replay_loops {
    uint32_t count;
    struct loop *loops;
    struct loop_frame (*frames)[LIMIT_CALL_DEPTH + 1]; /* a thread block; made when it is needed */
};

static void add_loops(struct arena *arena, struct replay_loops *loops, const struct program *p,
                      uint32_t function, const struct cfg *cfg)
{
    uint32_t entry = p->functions[function].entry;
    struct loop *all = ARENA_ARRAY(arena, struct loop, loops->count + cfg->loop_count);
    if (loops->count)
        memcpy(all, loops->loops, loops->count * sizeof *all);
    for (uint32_t l = 0; l < cfg->loop_count; l++) {
        struct loop *loop = &all[loops->count++];
        loop->function = function;
        loop->head = cfg->blocks[cfg->loops[l].head]->name;
        loop->members = ARENA_ARRAY(arena, uint8_t, p->block_count);
        for (uint32_t b = 0; b < cfg->count; b++)
            loop->members[entry + b] = cfg_in_loop(cfg, l, b);
    }
    loops->loops = all;
}

/* cfg_build numbers a function's blocks from 0; the program's numbers are put back. */
static void restore_marks(const struct ast_function *function, uint32_t first)
{
    for (struct ast_block *block = function->blocks; block; block = block->next)
        block->mark = first++;
}

/* A graph that is refused has no phi(P) either. */
struct replay_loops *loops_new(struct arena *arena, const struct program *p, uint32_t blocks)
{
    struct replay_loops *loops = ARENA_NEW(arena, struct replay_loops);
    const struct ast_function *f = p->core->main;
    loops->frames = arena_alloc(arena, blocks, sizeof *loops->frames);
    for (uint32_t i = 0; i < p->function_count; i++) {
        const char *reason;
        struct location at;
        struct cfg *cfg = cfg_build(arena, f, &reason, &at);
        restore_marks(f, p->functions[i].entry);
        if (cfg)
            add_loops(arena, loops, p, i, cfg);
        f = i == 0 ? p->core->functions : f->next;
    }
    return loops;
}

static void leave_all(struct replay *r, uint32_t block, uint32_t depth)
{
    struct replay_loops *loops = r->loops;
    struct loop_frame *frame = &loops->frames[block][depth];
    if (frame->running)
        memset(frame->running, 0, loops->count);
}

void loops_begin(struct replay *r)
{
    for (uint32_t block = 0; block < r->phi->actor_count; block++)
        leave_all(r, block, 1);
}

void loops_call(struct replay *r, const struct replay_move *m)
{
    leave_all(r, m->block, m->frames + 1);
}

static struct loop_frame *frame_of(struct replay *r, const struct replay_move *m)
{
    struct replay_loops *loops = r->loops;
    struct loop_frame *frame = &loops->frames[m->block][m->frames];
    if (!frame->running) {
        frame->running = ARENA_ARRAY(r->arena, uint8_t, loops->count);
        frame->inside = ARENA_ARRAY(r->arena, uint8_t, (size_t)loops->count * m->count);
    }
    return frame;
}

static bool stays_outside(struct replay *r, const struct replay_move *m, const struct loop *loop,
                          uint8_t *inside, bool running)
{
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t active = image_active(&r->image, m->first + i, m->function);
        bool now = replay_semi_active(r, m->first + i, m->frames) && active > 0 &&
                   active <= r->p->program->block_count && loop->members[active - 1];
        if (now && running && !inside[i]) {
            report_loop(r, m, m->first + i, loop->head);
            return false;
        }
        inside[i] = now;
    }
    return true;
}

bool loops_enter(struct replay *r, const struct replay_move *m)
{
    struct replay_loops *loops = r->loops;
    if (loops->count == 0)
        return true;
    struct loop_frame *frame = frame_of(r, m);
    for (uint32_t l = 0; l < loops->count; l++) {
        const struct loop *loop = &loops->loops[l];
        if (loop->function != m->function)
            continue;
        bool here = loop->members[m->number];
        if (here &&
            !stays_outside(r, m, loop, frame->inside + (size_t)l * m->count, frame->running[l]))
            return false;
        frame->running[l] = here;
    }
    return true;
}
