/*
 * follow_ptx_its.c - `its`: threads of a warp that wait for each other at .sync instructions; who has met, and what
 * they tell each other (engine/reference_ptx/ref_meet.c, ref_lanes.c).
 */
#include "oracle/steps/follow_ptx.h"

/* ---- the threads of a warp ---- */

struct warp {
    uint32_t first, count;
};

static struct warp warp_with(const struct follower *f, uint32_t thread)
{
    const struct ast_launch *launch = &f->program->launch;
    uint32_t tid = thread % launch->threads, start = tid - tid % launch->warp;
    uint32_t end = start + launch->warp < launch->threads ? start + launch->warp : launch->threads;
    return (struct warp){thread - (tid - start), end - start};
}

static void look(struct follower *f, const struct warp *w, struct ref_standing *x)
{
    x->width = f->program->launch.warp;
    x->count = w->count;
    for (uint32_t l = 0; l < w->count; l++) {
        const struct follow_group *g = &f->ptx->groups[w->first + l];
        x->lane[l] = (struct ref_stands){.ended = g->ended, .waits = g->meets};
        if (!g->meets)
            continue;
        struct follow_step s = follow_ptx_step_of(f, w->first + l, g->bar_pc);
        x->lane[l].instruction = &s.op->statement->u.instruction;
        x->lane[l].mask = follow_ptx_mask(&s, 0);
    }
}

/* The lowest lane of a warp whose meeting is complete; w->count: there is none. */
static uint32_t met_lane(struct follower *f, const struct warp *w, struct ref_standing *x)
{
    uint32_t lane = 0;
    look(f, w, x);
    while (lane < w->count && !ref_is_met(x, lane))
        lane++;
    return lane;
}

/* ---- waiting ---- */

enum rule follow_ptx_meets(struct follow_step *s)
{
    const struct warp w = warp_with(s->f, s->group);
    struct ref_standing x;
    s->g->meets = true;
    s->g->bar_pc = s->pc;
    look(s->f, &w, &x);
    if (!ref_names_itself(&x, s->group - w.first)) {
        s->g->meets = false;
        follow_ptx_fault(s, STATUS_STUCK, 0);
    }
    return RULE_ITS_WAIT;
}

/* Only who has stepped can have completed a meeting, of the warp's own. */
bool follow_ptx_are_met(struct follower *f, uint32_t thread)
{
    const struct warp w = warp_with(f, thread);
    struct ref_standing x;
    bool some_wait = false;
    for (uint32_t l = 0; l < w.count; l++)
        some_wait = some_wait || f->ptx->groups[w.first + l].meets;
    return some_wait && met_lane(f, &w, &x) < w.count;
}

/* ---- meeting ---- */

/* The operands of those that have met, a row a lane. */
static void fill(struct follower *f, const struct warp *w, const bool *together,
                 struct ref_lane_rows *rows)
{
    for (uint32_t l = 0; l < w->count; l++) {
        rows->lane[l].executes = together[l];
        rows->lane[l].exited = !together[l];
        if (!together[l])
            continue;
        struct follow_step s =
            follow_ptx_step_of(f, w->first + l, f->ptx->groups[w->first + l].bar_pc);
        s.executes[0] = true;
        follow_ptx_fill_lane(&s, 0, &rows->lane[l]);
        rows->lane[l].executes = true;
        rows->instruction = &s.op->statement->u.instruction;
    }
}

/* An instruction of matrices: all 32 lanes, or the execution is stuck. False: so it is. */
static bool matrices(struct follower *f, const struct warp *w, const bool *together)
{
    struct follow_step steps[PTX_MATRIX_LANES];
    struct follow_seat seats[PTX_MATRIX_LANES];
    uint32_t there = 0, first = 0;
    for (uint32_t l = w->count; l > 0; l--)
        if (together[l - 1]) {
            there++;
            first = l - 1;
        }
    for (uint32_t l = 0; l < there; l++) {
        uint32_t thread = w->first + (there < PTX_MATRIX_LANES ? first : l);
        steps[l] = follow_ptx_step_of(f, thread, f->ptx->groups[w->first + first].bar_pc);
        seats[l] = (struct follow_seat){&steps[l], 0};
    }
    if (there == PTX_MATRIX_LANES)
        follow_ptx_matrix_of(seats);
    else
        follow_ptx_fault(&steps[0], STATUS_STUCK, 0);
    return f->ptx->end == STATUS_RUNNING;
}

static void go_on(struct follower *f, uint32_t thread, const struct ref_lane_row *row)
{
    struct follow_group *g = &f->ptx->groups[thread];
    struct follow_step s = follow_ptx_step_of(f, thread, g->bar_pc);
    if (s.op->exec != PTX_EXEC_BAR_WARP && !s.op->matrix) {
        follow_ptx_set(&s, g->registers, &s.op->results[0], 0, row->d);
        follow_ptx_set(&s, g->registers, &s.op->results[1], 0, row->p);
    }
    f->live += g->meets;
    g->meets = false;
    g->pcs[0]++;
    follow_ptx_compare_data(&s);
    if (f->state == FOLLOW_ALONG)
        follow_ptx_compare_thread(&s);
}

static void compare_lanes(struct follower *f, const struct step_event *event, const struct warp *w,
                          const bool *together)
{
    if (event->first_thread != w->first)
        follow_part_numbers(f, "warp that met", event->first_thread, w->first);
    else
        follow_ptx_part_mask(f, "lanes that met", event->met, together, w->count);
}

void follow_ptx_meet(struct follower *f, const struct step_event *event, uint32_t block)
{
    const struct warp w = warp_with(f, event->actor);
    struct ref_standing x;
    struct ref_lane_rows rows = {
        .width = f->program->launch.warp, .count = w.count, .has_mask = true};
    bool together[LIMIT_WARP] = {false};
    uint32_t lane = met_lane(f, &w, &x);
    if (lane == w.count || event->actor / f->ptx->groups_a_block != block) {
        follow_part(f, "lanes that met", "some", "none of this warp");
        return;
    }
    for (uint32_t l = 0; l < w.count; l++)
        together[l] = ref_meets_with(&x, lane, l);
    compare_lanes(f, event, &w, together);
    if (f->ptx->code->ops[f->ptx->groups[w.first + lane].bar_pc].matrix) {
        if (!matrices(f, &w, together))
            return;
    } else {
        fill(f, &w, together, &rows);
        ref_lanes_together(&rows);
    }
    for (uint32_t l = 0; l < w.count && f->state == FOLLOW_ALONG; l++)
        if (together[l])
            go_on(f, w.first + l, &rows.lane[l]);
}

/* ---- activemask ---- */

/* Whether the thread stands at the instruction, could execute it now, and would. */
static bool stands_at(struct follower *f, uint32_t thread, uint32_t pc)
{
    struct follow_group *g = &f->ptx->groups[thread];
    struct follow_step s = follow_ptx_step_of(f, thread, pc);
    return g->pcs[0] == pc && !g->ended && !follow_ptx_waits(g) &&
           g->registers->lane[0].function == s.op->function && follow_ptx_guard(&s, 0);
}

/* X is all of them, or one; who that is, the schedule has chosen. */
void follow_ptx_activemask(struct follower *f, const struct step_event *event)
{
    const struct warp w = warp_with(f, event->actor);
    struct ref_lane_rows rows = {.width = f->program->launch.warp, .count = w.count};
    bool together[LIMIT_WARP] = {false};
    bool alone = (event->met & (event->met - 1)) == 0;
    f->reference_rule = RULE_PTX_ACTIVEMASK;
    for (uint32_t l = 0; l < w.count; l++) {
        together[l] = stands_at(f, w.first + l, event->stm) && (!alone || event->met >> l & 1);
        if (together[l])
            f->ptx->groups[w.first + l].bar_pc = event->stm;
    }
    compare_lanes(f, event, &w, together);
    if (f->state != FOLLOW_ALONG)
        return;
    fill(f, &w, together, &rows);
    ref_lanes_together(&rows);
    for (uint32_t l = 0; l < w.count && f->state == FOLLOW_ALONG; l++)
        if (together[l])
            go_on(f, w.first + l, &rows.lane[l]);
    f->awaited = RULE_ITS_ACTIVEMASK;
    f->awaited_block = event->actor / f->ptx->groups_a_block;
}
