#include "oracle/lockstep/replay_internal.h"

/* A larger store is compared word by word where a step writes, and as a whole now and then. */
enum { WORDS_EVERY_STEP = 1024, PRIVATE_WORDS_EVERY_BLOCK = 64 };

bool compare_accesses(struct replay *r, const struct replay_move *m)
{
    const struct image_accesses *phi = &r->phi_accesses, *p = &r->p_accesses;
    /* A sync's condition has the guard of a barrier twice, in any() and in all() (Table 3). */
    if (m->role == ROLE_BARRIER ? image_same_access_sets(phi, p) : image_same_accesses(phi, p))
        return true;
    report_access(r, m, image_missing_access(phi, p), image_missing_access(p, phi));
    return false;
}

bool compare_control(struct replay *r, const struct replay_move *m, uint32_t function)
{
    for (uint32_t t = m->first; t < m->first + m->count; t++) {
        const struct block_thread *T = interleave_state(r->p, t);
        uint32_t active = image_active(&r->image, t, function);
        bool same = T->frames != m->frames ? active == 0
                                           : T->pc == (active ? PC_BLOCK | (active - 1) : PC_END);
        if (same)
            continue;
        report_control(r, m, t, "v_active");
        return false;
    }
    return true;
}

/* ---- stores ---- */

static bool reported(struct replay *r, const struct replay_move *m, bool same,
                     const struct image_word *word)
{
    if (!same)
        report_word(r, m, word);
    return same;
}

static bool compare_shared(struct replay *r, const struct replay_move *m)
{
    struct image_word word;
    bool same = image_same_shared(&r->image, r->arena, &word);
    return reported(r, m, same, &word);
}

static bool compare_written(struct replay *r, const struct replay_move *m)
{
    const struct image_accesses *phi = &r->phi_accesses;
    struct image_word word;
    bool same = true;
    if (!phi->writes)
        return true;
    if (r->p->program->private_base <= WORDS_EVERY_STEP || phi->count > IMAGE_ACCESSES)
        return compare_shared(r, m);
    for (uint32_t i = 0; i < phi->count && same; i++)
        same = phi->entries[i].kind == ACCESS_READ ||
               image_same_word(&r->image, r->arena, phi->entries[i].address, &word);
    return reported(r, m, same, &word);
}

static bool compare_place(struct replay *r, const struct replay_move *m,
                          const struct code_place *place)
{
    struct image_word word;
    bool same = true;
    for (uint32_t i = 0; i < m->count && same; i++)
        same =
            !r->enabled[i] || image_same_place(&r->image, m->first + i, m->function, place, &word);
    return reported(r, m, same, &word);
}

static bool compare_privates(struct replay *r, const struct replay_move *m, bool all)
{
    uint32_t words = r->p->program->words[SPACE_PRIVATE];
    struct image_word word;
    bool same = true;
    if (!all && words > PRIVATE_WORDS_EVERY_BLOCK)
        return true;
    for (uint32_t i = 0; i < m->count && same; i++)
        same = (!all && !r->enabled[i]) ||
               image_same_private(&r->image, m->first + i, 0, words, &word);
    return reported(r, m, same, &word);
}

/* The frames that the step leaves on top, of those that moved (or all). */
static bool compare_frames(struct replay *r, const struct replay_move *m, bool all)
{
    const struct program *p = r->p->program;
    uint32_t frames = lockstep_state(r->phi, m->block).frames;
    struct image_word word;
    bool same = true;
    for (uint32_t i = 0; i < m->count && same; i++) {
        uint32_t thread = m->first + i, block = interleave_block(r->p, thread);
        uint32_t function = block == CODE_NONE ? 0 : p->blocks[block].function;
        if ((all || r->enabled[i]) && replay_semi_active(r, thread, frames))
            same = image_same_frame(&r->image, thread, function, 0,
                                    p->functions[function].frame_words, &word);
    }
    return reported(r, m, same, &word);
}

bool compare_step(struct replay *r, const struct replay_move *m)
{
    if (!compare_written(r, m))
        return false;
    if (m->role == ROLE_LEAVE || m->role == ROLE_CALL)
        return compare_privates(r, m, false) && compare_frames(r, m, false);
    if (m->role != ROLE_STATEMENT || r->outs_pending[m->block])
        return true;
    const struct code_stm *stm = &r->p->program->stms[m->origin];
    bool assigns = stm->kind == CODE_ASSIGN || stm->kind == CODE_HAVOC || stm->kind == CODE_PICK;
    return (!assigns || compare_place(r, m, &stm->place)) &&
           (stm->kind != CODE_ATOMIC ||
            (compare_place(r, m, &stm->target) && compare_place(r, m, &stm->place)));
}

bool compare_all(struct replay *r, const struct replay_move *m)
{
    if (!compare_shared(r, m))
        return false;
    if (r->outs_pending[m->block])
        return true;
    return compare_privates(r, m, true) && compare_frames(r, m, true);
}
