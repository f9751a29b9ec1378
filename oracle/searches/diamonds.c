#include "oracle/searches/diamonds.h"

#include "engine/machine/live.h"
#include "engine/machine/semantics.h"

enum { PAIRS_STATE = 24 /* that are drawn */ };

struct diamond {
    struct choices choices; /* first member: the first, but of a walk's own steps */
    struct pcg *walks;      /* NULL: none is being taken */
    struct machine *machine;
    uint32_t *state;
    uint64_t hash;
};

static uint32_t choose(struct choices *choices, uint32_t n)
{
    struct pcg *rng = ((struct diamond *)choices)->walks;
    return rng ? pcg_below(rng, n) : 0;
}

/* The state behind both steps; false: the second cannot be taken. */
static bool both(struct diamond *d, uint32_t first, uint32_t second, uint64_t *hash)
{
    machine_restore(d->machine, d->state, d->hash);
    machine_step(d->machine, first, &d->choices);
    if (machine_status(d->machine) != STATUS_RUNNING || !is_live(d->machine, second))
        return false;
    machine_step(d->machine, second, &d->choices);
    *hash = d->machine->track.hash;
    return true;
}

static bool is_fault(enum status status)
{
    return status != STATUS_RUNNING && status != STATUS_TERMINATED;
}

/* An error ends an execution, whatever else could have been done: no pair with one is asked. */
static bool fails(struct diamond *d, uint32_t number)
{
    machine_restore(d->machine, d->state, d->hash);
    machine_step(d->machine, number, &d->choices);
    return is_fault(machine_status(d->machine));
}

static bool independent(const struct machine *machine, uint32_t a, uint32_t b)
{
    struct touches of_a, of_b;
    machine->semantics->touches(machine, a, &of_a);
    machine->semantics->touches(machine, b, &of_b);
    return !touches_meet(&of_a, &of_b);
}

static bool commute(struct diamond *d, uint32_t a, uint32_t b, uint64_t *checked)
{
    uint64_t ab = 0, ba = 1;
    bool same = true;
    if (independent(d->machine, a, b)) {
        if (!fails(d, a) && !fails(d, b)) {
            same = both(d, a, b, &ab) && both(d, b, a, &ba) && ab == ba;
            ++*checked;
        }
        machine_restore(d->machine, d->state, d->hash);
    }
    return same;
}

const char *diamonds_broken(struct arena *arena, struct machine *machine, struct pcg *rng,
                            uint32_t steps, uint32_t *stm, uint64_t *checked)
{
    struct diamond d = {.choices = {.choose = choose}, .machine = machine};
    const struct machine_head *head = machine->head;
    d.state = ARENA_ARRAY(arena, uint32_t, machine->block_words);
    for (; steps > 0 && machine_status(machine) == STATUS_RUNNING; steps--) {
        machine_save(machine, d.state);
        d.hash = machine->track.hash;
        for (uint32_t asked = 0; head->live_count > 1 && asked < PAIRS_STATE; asked++) {
            uint32_t i = pcg_below(rng, head->live_count), k = pcg_below(rng, head->live_count - 1);
            uint32_t a = head->live[i], b = head->live[k + (k >= i)];
            *stm = machine->semantics->next_stm(machine, a);
            if (!commute(&d, a, b, checked))
                return arena_printf(
                    arena, "steps of %u and %u are told to be independent, and do not commute",
                    (unsigned)a, (unsigned)b);
        }
        d.walks = rng;
        machine_step(machine, head->live[pcg_below(rng, head->live_count)], &d.choices);
        d.walks = NULL;
    }
    return NULL;
}
