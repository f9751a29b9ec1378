#include "oracle/replay_internal.h"

#include "engine/pcg.h"

#include <string.h>

/* A larger store is compared word by word where a step writes, and as a whole now and then. */
enum { WORDS_EVERY_STEP = 1024, PRIVATE_WORDS_EVERY_BLOCK = 64 };

/* ---- accesses ---- */

static void add_access(struct replay_accesses *a, uint32_t thread, uint32_t address,
                       enum access_kind kind)
{
    a->hash += pcg_splitmix((uint64_t)address << 32 | (uint64_t)thread << 2 | (uint64_t)kind);
    if (a->count < REPLAY_ACCESSES)
        a->entries[a->count] = (struct replay_access){thread, address, kind};
    a->count++;
    a->writes |= kind != ACCESS_READ;
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    (void)stm;
    add_access(context, thread, address, ACCESS_READ);
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)value;
    (void)stm;
    add_access(context, thread, address, ACCESS_WRITE);
}

static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)value;
    (void)stm;
    add_access(context, thread, address, ACCESS_ATOMIC);
}

void accesses_start(struct replay_accesses *accesses, struct arena *arena,
                    const struct observer *next)
{
    accesses->observer = (struct observer){
        .context = accesses, .read = on_read, .write = on_write, .atomic = on_atomic, .next = next};
    accesses->entries = ARENA_ARRAY(arena, struct replay_access, REPLAY_ACCESSES);
}

static bool same_access(const struct replay_access *a, const struct replay_access *b)
{
    return a->thread == b->thread && a->address == b->address && a->kind == b->kind;
}

/* How often `access` stands among the first `count` of `in`. */
static uint32_t count_access(const struct replay_accesses *in, uint32_t count,
                             const struct replay_access *access)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count && i < REPLAY_ACCESSES; i++)
        n += same_access(&in->entries[i], access);
    return n;
}

/* The first of `a` that `b` does not have (as often). */
static const struct replay_access *first_missing(const struct replay_accesses *a,
                                                 const struct replay_accesses *b)
{
    for (uint32_t i = 0; i < a->count && i < REPLAY_ACCESSES; i++)
        if (count_access(a, i + 1, &a->entries[i]) > count_access(b, b->count, &a->entries[i]))
            return &a->entries[i];
    return NULL;
}

bool compare_accesses(struct replay *r, const struct replay_move *m)
{
    const struct replay_accesses *phi = &r->phi_accesses, *p = &r->p_accesses;
    if (phi->count == p->count && phi->hash == p->hash)
        return true;
    report_access(r, m, first_missing(phi, p), first_missing(p, phi));
    return false;
}

/* ---- control points ---- */

bool compare_control(struct replay *r, const struct replay_move *m, uint32_t function)
{
    for (uint32_t t = m->first; t < m->first + m->count; t++) {
        const struct block_thread *T = interleave_state(r->p, t);
        uint32_t active = replay_active(r, t, function);
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

static const char *space_name(const struct program *p, uint32_t address)
{
    return address < p->shared_base    ? "global memory"
           : address < p->private_base ? "shared memory"
                                       : "private memory";
}

static bool compare_shared_word(struct replay *r, const struct replay_move *m, uint32_t address)
{
    const struct program *p = r->p->program;
    if (r->phi->memory[address] == r->p->memory[address])
        return true;
    report_word(r, m, CODE_NONE, space_name(p, address),
                program_location_name(r->arena, p, address), address, address);
    return false;
}

static bool compare_shared(struct replay *r, const struct replay_move *m)
{
    uint32_t words = r->p->program->private_base, address = 0;
    if (memcmp(r->phi->memory, r->p->memory, words * sizeof(int32_t)) == 0)
        return true;
    while (r->phi->memory[address] == r->p->memory[address])
        address++;
    return compare_shared_word(r, m, address);
}

static const char *variable_at(const struct ast_var *list, uint32_t word)
{
    for (; list; list = list->next) {
        if (word < list->length)
            return list->name;
        word -= list->length;
    }
    return "?";
}

static const char *local_name(const struct program *p, uint32_t function, uint32_t word)
{
    const struct ast_function *f = p->core->functions;
    if (function == 0)
        return variable_at(p->core->main->locals, word);
    while (--function > 0)
        f = f->next;
    return variable_at(f->locals, word);
}

static const char *private_name(const struct program *p, uint32_t word)
{
    for (uint32_t i = 0; i < p->var_count; i++)
        if (p->vars[i].ast->space == SPACE_PRIVATE &&
            word - p->vars[i].offset < p->vars[i].ast->length)
            return p->vars[i].ast->name;
    return "?";
}

/* Words [from, to) of the thread's frame, of an activation of `function`. */
static bool compare_frame(struct replay *r, const struct replay_move *m, uint32_t thread,
                          uint32_t function, uint32_t from, uint32_t to)
{
    uint32_t phi_base = r->phi->threads[thread].base[SPACE_LOCAL];
    uint32_t p_base = r->p->threads[thread].base[SPACE_LOCAL];
    for (uint32_t word = from; word < to; word++) {
        uint32_t phi_address = phi_base + replay_frame_word(r, function, word);
        if (r->phi->memory[phi_address] == r->p->memory[p_base + word])
            continue;
        report_word(r, m, thread, "local memory", local_name(r->p->program, function, word),
                    phi_address, p_base + word);
        return false;
    }
    return true;
}

/* The thread's private variables of file level: at the same addresses in both. */
static bool compare_private(struct replay *r, const struct replay_move *m, uint32_t thread,
                            uint32_t from, uint32_t to)
{
    const struct program *p = r->p->program;
    uint32_t base = r->p->threads[thread].base[SPACE_PRIVATE];
    for (uint32_t word = from; word < to; word++) {
        if (r->phi->memory[base + word] == r->p->memory[base + word])
            continue;
        report_word(r, m, thread, "private memory", private_name(p, word), base + word,
                    base + word);
        return false;
    }
    return true;
}

static bool compare_place(struct replay *r, const struct replay_move *m,
                          const struct code_place *place)
{
    uint32_t from = place->offset, to = place->offset + place->length;
    if (place->length == 0 || place->space <= SPACE_SHARED)
        return true;
    for (uint32_t i = 0; i < m->count; i++)
        if (r->enabled[i] && !(place->space == SPACE_PRIVATE
                                   ? compare_private(r, m, m->first + i, from, to)
                                   : compare_frame(r, m, m->first + i, m->function, from, to)))
            return false;
    return true;
}

static bool compare_privates(struct replay *r, const struct replay_move *m, bool all)
{
    uint32_t words = r->p->program->words[SPACE_PRIVATE];
    if (!all && words > PRIVATE_WORDS_EVERY_BLOCK)
        return true;
    for (uint32_t i = 0; i < m->count; i++)
        if ((all || r->enabled[i]) && !compare_private(r, m, m->first + i, 0, words))
            return false;
    return true;
}

/* The frames that the step leaves on top, of those that moved (or all). */
static bool compare_frames(struct replay *r, const struct replay_move *m, bool all)
{
    const struct program *p = r->p->program;
    uint32_t frames = lockstep_state(r->phi, m->block).frames;
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t thread = m->first + i, block = interleave_block(r->p, thread);
        uint32_t function = block == CODE_NONE ? 0 : p->blocks[block].function;
        if ((all || r->enabled[i]) && replay_semi_active(r, thread, frames) &&
            !compare_frame(r, m, thread, function, 0, p->functions[function].frame_words))
            return false;
    }
    return true;
}

static bool compare_written(struct replay *r, const struct replay_move *m)
{
    const struct replay_accesses *phi = &r->phi_accesses;
    if (!phi->writes)
        return true;
    if (r->p->program->private_base <= WORDS_EVERY_STEP || phi->count > REPLAY_ACCESSES)
        return compare_shared(r, m);
    for (uint32_t i = 0; i < phi->count; i++)
        if (phi->entries[i].kind != ACCESS_READ &&
            !compare_shared_word(r, m, phi->entries[i].address))
            return false;
    return true;
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
