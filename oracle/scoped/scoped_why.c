/* scoped_why.c - why two accesses are not ordered: flags that were read, and what was missing at them. */
#include "oracle/scoped/scoped_internal.h"

void scoped_link(struct scoped *s, uint32_t reader, const struct scoped_link *link)
{
    struct scoped_thread *t = &s->thread[reader];
    for (uint32_t i = 0; i < SCOPED_LINKS; i++)
        if (t->links[i].is_set && t->links[i].flag == link->flag) {
            t->links[i] = *link;
            return;
        }
    t->links[t->link++ % SCOPED_LINKS] = *link;
}

void scoped_link_fence(struct scoped *s, uint32_t thread, uint32_t stm)
{
    struct scoped_thread *t = &s->thread[thread];
    for (uint32_t i = 0; i < SCOPED_LINKS; i++) {
        struct scoped_link *link = &t->links[i];
        if (link->is_set && !(link->acquires && link->acquire_reach > s->manners[stm].reach)) {
            link->acquires = true;
            link->acquire_reach = s->manners[stm].reach;
            link->acquire = stm;
        }
    }
}

/* What is wrong with a flag that was read, by threads so far apart. */
static struct race_cause judge(const struct scoped_link *link, enum manner_reach apart)
{
    struct race_cause cause = {
        .by_flag = true, .flag = link->flag, .write = link->write, .read = link->read};
    cause.stm = CODE_NONE;
    if (!link->strong_write || !link->strong_read) {
        cause.why = RACE_PLAIN_FLAG;
        cause.stm = link->strong_write ? link->read : link->write;
    } else if (link->write_reach < apart || link->read_reach < apart) {
        cause.why = RACE_NARROW_SCOPE;
        cause.stm = link->write_reach >= apart ? link->read : link->write;
    } else if (!link->releases) {
        cause.why = RACE_MISSING_FENCE;
    } else if (link->release_reach < apart) {
        cause.why = RACE_NARROW_SCOPE;
        cause.stm = link->release;
    } else if (!link->acquires) {
        cause.why = RACE_MISSING_FENCE;
        cause.at_reader = true;
    } else if (link->acquire_reach < apart) {
        cause.why = RACE_NARROW_SCOPE;
        cause.stm = link->acquire;
    } else {
        cause.why = RACE_UNORDERED;
        cause.by_flag = false;
    }
    return cause;
}

/* A flag that the block of b's thread, best this thread itself, has read after a's thread, or its block, wrote it. */
static const struct scoped_link *find_link(const struct scoped *s, const struct scoped_entry *a,
                                           const struct scoped_entry *b)
{
    const struct scoped_link *found = NULL;
    uint32_t block = scoped_block(s, b->thread);
    for (uint32_t r = block * s->threads; r < (block + 1) * s->threads; r++)
        for (uint32_t i = 0; i < SCOPED_LINKS; i++) {
            const struct scoped_link *link = &s->thread[r].links[i];
            if (!link->is_set || link->write_step <= a->step ||
                scoped_block(s, link->writer) != scoped_block(s, a->thread))
                continue;
            if (r == b->thread && link->writer == a->thread)
                return link;
            if (scoped_block(s, a->thread) != block)
                found = link;
        }
    return found;
}

void scoped_perhaps_flag(struct scoped *s, uint32_t address, const struct scoped_entry *a,
                         const struct scoped_entry *b)
{
    struct scoped_link link = {.is_set = true,
                               .flag = address - b->offset,
                               .writer = a->thread,
                               .write = a->stm,
                               .write_step = a->step,
                               .read = b->stm,
                               .strong_write = a->strong,
                               .strong_read = b->strong};
    if (a->kind != ACCESS_READ && b->kind != ACCESS_WRITE && !(a->strong && b->strong))
        scoped_link(s, b->thread, &link);
}

void scoped_explain(const struct scoped *s, const struct scoped_entry *a,
                    const struct scoped_entry *b, struct race_witness *witness)
{
    struct race_cause *cause = &witness->cause;
    const struct scoped_link *link = a->strong || b->strong ? NULL : find_link(s, a, b);
    const enum manner_reach apart =
        scoped_apart(s, scoped_block(s, a->thread), scoped_block(s, b->thread));
    cause->stm = CODE_NONE;
    if (link)
        *cause = judge(link, apart);
    else if (a->strong != b->strong)
        *cause = (struct race_cause){.why = RACE_PLAIN_FLAG, .stm = a->strong ? b->stm : a->stm};
    else if (a->strong && a->offset == b->offset && a->span == b->span)
        *cause = (struct race_cause){.why = RACE_NARROW_SCOPE,
                                     .stm = a->reach >= apart ? b->stm : a->stm};
}
