#include "oracle/lockstep/image.h"

#include "engine/base/invariant.h"
#include "engine/base/pcg.h"

#include <string.h>

/* ---- what stands for what ---- */

/* How a goto of P looks (PRED.block): the last pick of the image's own, what is assumed of it, and the
 * assignment of v_active. */
static void find_leave(struct image *x, uint32_t block)
{
    const struct program *image = x->image->program;
    uint32_t pick = CODE_NONE, stm = image->blocks[block].first;
    for (;; stm++) {
        if (image->stms[stm].kind == CODE_PICK && image->stms[stm].origin == 0)
            pick = stm;
        if (image->stms[stm].last)
            break;
    }
    if (pick == CODE_NONE)
        return;
    x->roles[pick] = ROLE_PICK;
    for (stm = pick + 1; image->stms[stm].kind != CODE_ASSIGN; stm++)
        if (image->stms[stm].kind == CODE_ASSUME)
            x->roles[stm] = ROLE_EARLY;
    x->roles[stm] = ROLE_LEAVE;
    x->active_offset[image->blocks[block].function] = image->stms[stm].place.offset;
}

static enum image_role role_of(const struct code_stm *stm, uint32_t stands_for)
{
    if (stm->kind == CODE_END_CALL && stands_for != CODE_NONE)
        return ROLE_RETURN;
    if (stm->origin == 0)
        return stm->kind == CODE_HAVOC ? ROLE_DRAW : ROLE_NOTHING;
    bool barrier = stm->kind == CODE_LOCKSYNC || stm->kind == CODE_BARRIER;
    return barrier ? ROLE_BARRIER : stm->kind == CODE_CALL ? ROLE_CALL : ROLE_STATEMENT;
}

/* A call's B and B_call both stand for B; B comes first. */
static void find_roles(struct image *x, uint8_t *seen)
{
    const struct program *image = x->image->program;
    for (uint32_t b = 0; b < image->block_count; b++) {
        uint32_t number = image->blocks[b].origin ? image->blocks[b].origin - 1 : CODE_NONE;
        x->stands_for[b] = number;
        for (uint32_t stm = image->blocks[b].first;; stm++) {
            x->roles[stm] = role_of(&image->stms[stm], number);
            if (image->stms[stm].last)
                break;
        }
        if (number == CODE_NONE)
            continue;
        x->enters[b] = !seen[number];
        seen[number] = 1;
        find_leave(x, b);
    }
}

void image_start(struct image *x, struct arena *arena, struct machine *of_image,
                 struct machine *of_p)
{
    const struct program *image = of_image->program, *p = of_p->program;
    INVARIANT(image->function_count == p->function_count && p->form == FORM_BLOCKS);
    x->image = of_image;
    x->p = of_p;
    x->roles = ARENA_ARRAY(arena, enum image_role, image->stm_count);
    x->stands_for = ARENA_ARRAY(arena, uint32_t, image->block_count);
    x->enters = ARENA_ARRAY(arena, uint8_t, image->block_count);
    x->active_offset = ARENA_ARRAY(arena, uint32_t, image->function_count);
    /* v_active is a procedure's last in-parameter. */
    for (uint32_t f = 1; f < image->function_count; f++) {
        const struct code_function *function = &image->functions[f];
        x->active_offset[f] = image->parameters[function->in_first + function->in_count - 1];
    }
    find_roles(x, ARENA_ARRAY(arena, uint8_t, p->block_count));
}

/* ---- stores ---- */

bool image_same_word(const struct image *x, struct arena *arena, uint32_t address,
                     struct image_word *word)
{
    const struct program *p = x->p->program;
    if (x->image->memory[address] == x->p->memory[address])
        return true;
    *word =
        (struct image_word){CODE_NONE, address < p->shared_base ? "global memory" : "shared memory",
                            program_location_name(arena, p, address), address, address};
    return false;
}

bool image_same_shared(const struct image *x, struct arena *arena, struct image_word *word)
{
    uint32_t words = x->p->program->private_base, address = 0;
    if (memcmp(x->image->memory, x->p->memory, words * sizeof(int32_t)) == 0)
        return true;
    while (x->image->memory[address] == x->p->memory[address])
        address++;
    return image_same_word(x, arena, address, word);
}

static const char *private_name(const struct program *p, uint32_t word)
{
    for (uint32_t i = 0; i < p->var_count; i++)
        if (p->vars[i].ast->space == SPACE_PRIVATE &&
            word - p->vars[i].offset < p->vars[i].ast->length)
            return p->vars[i].ast->name;
    return "?";
}

/* At the same addresses in both. */
bool image_same_private(const struct image *x, uint32_t thread, uint32_t from, uint32_t to,
                        struct image_word *word)
{
    uint32_t base = x->p->threads[thread].base[SPACE_PRIVATE];
    for (uint32_t i = from; i < to; i++) {
        if (x->image->memory[base + i] == x->p->memory[base + i])
            continue;
        *word = (struct image_word){thread, "private memory", private_name(x->p->program, i),
                                    base + i, base + i};
        return false;
    }
    return true;
}

static const char *local_name(const struct program *p, uint32_t function, uint32_t word)
{
    const struct ast_function *f = function == 0 ? p->core->main : p->core->functions;
    for (; function > 1; function--)
        f = f->next;
    for (const struct ast_var *var = f->locals; var; var = var->next) {
        if (word < var->length)
            return var->name;
        word -= var->length;
    }
    return "?";
}

/* The kernel's variables come first in its frame; in a procedure's v_active stands behind the
 * in-parameters. */
static uint32_t frame_word(const struct image *x, uint32_t function, uint32_t word)
{
    return function > 0 && word >= x->active_offset[function] ? word + 1 : word;
}

bool image_same_frame(const struct image *x, uint32_t thread, uint32_t function, uint32_t from,
                      uint32_t to, struct image_word *word)
{
    uint32_t image_base = x->image->threads[thread].base[SPACE_LOCAL];
    uint32_t p_base = x->p->threads[thread].base[SPACE_LOCAL];
    for (uint32_t i = from; i < to; i++) {
        uint32_t address = image_base + frame_word(x, function, i);
        if (x->image->memory[address] == x->p->memory[p_base + i])
            continue;
        *word = (struct image_word){thread, "local memory", local_name(x->p->program, function, i),
                                    p_base + i, address};
        return false;
    }
    return true;
}

bool image_same_place(const struct image *x, uint32_t thread, uint32_t function,
                      const struct code_place *place, struct image_word *word)
{
    uint32_t from = place->offset, to = place->offset + place->length;
    if (place->length == 0 || place->space <= SPACE_SHARED)
        return true;
    return place->space == SPACE_PRIVATE ? image_same_private(x, thread, from, to, word)
                                         : image_same_frame(x, thread, function, from, to, word);
}

/* ---- accesses ---- */

static void add_access(struct image_accesses *a, uint32_t thread, uint32_t address,
                       enum access_kind kind)
{
    a->hash += pcg_splitmix((uint64_t)address << 32 | (uint64_t)thread << 2 | (uint64_t)kind);
    if (a->count < IMAGE_ACCESSES)
        a->entries[a->count] = (struct image_access){thread, address, kind};
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

void image_accesses_start(struct image_accesses *accesses, struct arena *arena,
                          const struct observer *next)
{
    accesses->observer = (struct observer){
        .context = accesses, .read = on_read, .write = on_write, .atomic = on_atomic, .next = next};
    accesses->entries = arena_room(arena, IMAGE_ACCESSES * sizeof *accesses->entries);
}

/* How often `access` stands among the first `count` of `in`. */
static uint32_t count_access(const struct image_accesses *in, uint32_t count,
                             const struct image_access *access)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count && i < IMAGE_ACCESSES; i++)
        n += in->entries[i].thread == access->thread && in->entries[i].kind == access->kind &&
             in->entries[i].address == access->address;
    return n;
}

static bool is_subset(const struct image_accesses *a, const struct image_accesses *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (count_access(b, b->count, &a->entries[i]) == 0)
            return false;
    return true;
}

bool image_same_access_sets(const struct image_accesses *a, const struct image_accesses *b)
{
    if (image_same_accesses(a, b) || a->count > IMAGE_ACCESSES || b->count > IMAGE_ACCESSES)
        return true;
    return is_subset(a, b) && is_subset(b, a);
}

const struct image_access *image_missing_access(const struct image_accesses *a,
                                                const struct image_accesses *b)
{
    for (uint32_t i = 0; i < a->count && i < IMAGE_ACCESSES; i++)
        if (count_access(a, i + 1, &a->entries[i]) > count_access(b, b->count, &a->entries[i]))
            return &a->entries[i];
    return NULL;
}
