#include "engine/reference_device/ref_turns.h"

enum { STEPS_IN_TURNS = 48, STEPS_AT_RANDOM = 16 /* fewer than so many */ };

bool ref_turns_goes_on(const struct ref_turns *t, bool can)
{
    return can && t->steps_left > 0 && t->last.act == REF_WARP && t->next >= t->tape_count;
}

/* As a tape names it: five bits, ten, seventeen. */
static uint32_t entry_of(struct ref_alternative x)
{
    return (uint32_t)x.act * (1u << 27) + x.a * (1u << 17) + x.b;
}

/* How late the kind comes, of an order in turns; what is silent comes when there is nothing else. */
static uint32_t rank_of(enum ref_order order, enum ref_act act)
{
    const bool lazy = order == REF_LAZY, late = order == REF_LATE;
    switch (act) {
    case REF_HOST:
        return lazy ? 6 : 1;
    case REF_COPY:
        return lazy ? 5 : 2;
    case REF_START:
        return lazy ? 4 : 3;
    case REF_ISSUE:
        return lazy ? 1 : 4;
    case REF_MICRO:
        return lazy ? 3 : late ? 6 : 5;
    case REF_WARP:
        return lazy ? 2 : late ? 5 : 6;
    case REF_SILENT:
        break;
    }
    return 7;
}

static bool is_behind(struct ref_alternative x, struct ref_alternative y)
{
    return x.a > y.a || (x.a == y.a && x.b > y.b);
}

/* Of two of one kind, which are in their order: whether the later one is taken. Warps go round, behind whatever stepped
 * last; a block goes to the SM that holds the fewest. */
static bool is_rather(const struct ref_turns *t, struct ref_alternative first,
                      struct ref_alternative later, const uint32_t *held)
{
    if (first.act == REF_WARP)
        return !is_behind(first, t->last) && is_behind(later, t->last);
    return first.act == REF_ISSUE && first.a == later.a && held[later.b] < held[first.b];
}

static struct ref_alternative in_turns(const struct ref_turns *t,
                                       const struct ref_alternative *offered, uint32_t count,
                                       const uint32_t *held)
{
    struct ref_alternative best = offered[0];
    for (uint32_t i = 1; i < count; i++) {
        uint32_t rank = rank_of(t->order, offered[i].act), least = rank_of(t->order, best.act);
        if (rank < least || (rank == least && is_rather(t, best, offered[i], held)))
            best = offered[i];
    }
    return best;
}

struct ref_alternative ref_turns_pick(struct ref_turns *t, const struct ref_alternative *offered,
                                      uint32_t count, const uint32_t *held)
{
    if (t->next < t->tape_count) {
        uint32_t entry = t->tape[t->next++];
        for (uint32_t i = 0; i < count; i++)
            if (entry_of(offered[i]) == entry)
                return offered[i];
        t->astray = t->astray ? t->astray : t->next;
        return offered[0];
    }
    if (t->order == REF_LAST)
        return offered[count - 1];
    if (t->order == REF_RANDOM)
        return offered[t->draw(t->stream, count)];
    return in_turns(t, offered, count, held);
}

void ref_turns_take(struct ref_turns *t, struct ref_alternative x, bool is_again)
{
    t->is_again = is_again;
    t->steps_left -= is_again;
    t->last = x;
}

uint32_t ref_turns_choose(struct ref_turns *t, uint32_t n)
{
    if (t->next < t->tape_count)
        return t->tape[t->next++] % n;
    return t->order == REF_RANDOM ? t->draw(t->stream, n) : t->order == REF_LAST ? n - 1 : 0;
}

void ref_turns_over(struct ref_turns *t)
{
    if (!t->is_again)
        t->steps_left =
            t->order == REF_RANDOM ? t->draw(t->stream, STEPS_AT_RANDOM) : STEPS_IN_TURNS;
}
