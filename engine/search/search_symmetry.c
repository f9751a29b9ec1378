/*
 * search_symmetry.c - see search_symmetry.h.
 */
#include "engine/search/search_symmetry.h"

#include "engine/machine/live.h"
#include "engine/machine/symmetry.h"
#include "engine/program/ptx_code.h"

bool search_has_quotient(const struct machine *machine)
{
    const struct program *program = machine->program;
    bool barriers = program->form == FORM_PTX ? program->ptx->barriers : program->barrier_count > 0;
    return machine->actor_count == program->total_threads && machine->begun && !barriers;
}

/* The order of the threads of an orbit. */
static int compare(const struct search *search, uint32_t thread, uint32_t other)
{
    const struct machine *machine = search->machine;
    bool a = is_live(machine, thread), b = is_live(machine, other);
    return a != b ? (a ? -1 : 1)
                  : symmetry_compare(search->options->symmetry, machine, thread, other);
}

bool search_is_first(const struct search *search, uint32_t actor)
{
    uint32_t before = search->options->symmetry->before[actor];
    return before == SYMMETRY_NOBODY || compare(search, before, actor) != 0;
}

uint32_t search_canonical(const struct search *search, uint32_t actor)
{
    const struct symmetry *symmetry = search->options->symmetry;
    struct machine *machine = search->machine;
    uint32_t at = actor, next;
    if (machine_status(machine) != STATUS_RUNNING && machine_status(machine) != STATUS_TERMINATED)
        return actor; /* an error: who made it is said by number, and nothing follows */
    while ((next = symmetry->before[at]) != SYMMETRY_NOBODY && compare(search, next, actor) > 0)
        at = next;
    while (at >= actor && (next = symmetry->after[at]) != SYMMETRY_NOBODY &&
           compare(search, actor, next) > 0)
        at = next;
    if (at != actor)
        symmetry_move(symmetry, machine, actor, at);
    return at;
}
