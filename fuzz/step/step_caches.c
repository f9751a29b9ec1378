/*
 * step_caches.c - an execution over caches in the terminal: what a step of an operation or of a cache did, what is
 * under way, and what the L1s hold.
 */
#include "fuzz/step/step_caches.h"

#include "engine/caches/caches.h"
#include "fuzz/out/demangle.h"

#include <inttypes.h>

enum { NAMES_SHOWN = 4 };

static void put_line(struct step_lines *lines, bool marked, const char *line)
{
    if (lines->count == STEP_LINES)
        return;
    lines->marked[lines->count] = marked;
    lines->line[lines->count++] = line;
}

static const char *name_of(const struct stepper *s, uint32_t word)
{
    if (word >= s->program->private_base)
        return arena_printf(s->scratch, "local word %" PRIu32, word);
    return demangle_text(s->scratch,
                         program_location_name(s->scratch, s->program, word * s->program->units));
}

const char *step_caches_written(const struct stepper *s)
{
    struct text out = text_begin(s->scratch);
    uint32_t count = 0;
    for (uint32_t word = 0; s->before && word < s->program->private_base; word++) {
        if (s->before[word] == s->machine->memory[word])
            continue;
        if (count++ < NAMES_SHOWN)
            text_format(&out, "%s%s = %" PRId32, count > 1 ? ", " : "", name_of(s, word),
                        s->machine->memory[word]);
    }
    if (count > NAMES_SHOWN)
        text_format(&out, " and %" PRIu32 " more", count - NAMES_SHOWN);
    return count ? arena_printf(s->scratch, "memory: %s", out.bytes) : NULL;
}

static void put_operations(struct stepper *s, struct step_lines *lines)
{
    const struct machine *m = s->machine;
    const struct caches *c = caches_of(m);
    uint32_t before = lines->count;
    for (uint32_t actor = 0; actor < m->actor_count; actor++)
        for (uint32_t i = 0; i < c->in_flight[actor]; i++) {
            uint32_t pc = caches_slot(c, actor, i)->pc;
            put_line(
                lines, false,
                arena_printf(s->scratch, "under way, %s %" PRIu32 ": line %" PRIu32 " %s  (%s)",
                             m->semantics->actors == ACTORS_WARPS ? "warp" : "thread", actor,
                             stepper_line(s, pc), s->text.heads[pc], caches_next_of(m, actor, i)));
        }
    if (lines->count == before)
        put_line(lines, false, "no memory operation is under way");
}

/* "x = 0 (stale)" */
static const char *word_text(const struct stepper *s, const struct cache_line *cl, uint32_t k)
{
    uint32_t word = cl->tag - 1 + k;
    bool valid = (cl->valid >> 4 * k & 15) == 15, dirty = cl->dirty >> 4 * k & 15;
    bool stale = valid && !dirty && word < s->program->private_base &&
                 (uint32_t)s->machine->memory[word] != cl->vals[k];
    if (!valid)
        return arena_printf(s->scratch, "%s awaited", name_of(s, word));
    return arena_printf(s->scratch, "%s = %" PRId32 "%s", name_of(s, word), (int32_t)cl->vals[k],
                        stale   ? " (stale)"
                        : dirty ? " (not in L2)"
                                : "");
}

static void put_l1(struct stepper *s, struct step_lines *lines, uint32_t sm)
{
    const struct caches *c = caches_of(s->machine);
    struct text out = text_begin(s->scratch);
    for (uint32_t i = 0; i < c->lines; i++) {
        const struct cache_line *cl = caches_line(c, caches_l1(c, sm), i);
        for (uint32_t k = 0; cl->tag && k < c->words; k++)
            text_format(&out, "%s%s", out.length ? ", " : "", word_text(s, cl, k));
    }
    put_line(
        lines, false,
        arena_printf(s->scratch, "L1 of SM %" PRIu32 ": %s", sm, out.length ? out.bytes : "empty"));
}

void step_caches(struct stepper *s, struct step_lines *lines)
{
    if (!s->machine->semantics->environment) {
        put_line(lines, false, "this subject has no caches: memory is sequentially consistent");
        return;
    }
    put_operations(s, lines);
    for (uint32_t sm = 0; sm < caches_of(s->machine)->sms; sm++)
        put_l1(s, lines, sm);
}
