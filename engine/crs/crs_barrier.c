/*
 * crs_barrier.c - the functions on barriers, report 5.5.1.
 *
 * In the rules: chi is the barrier environment, i a BarInfo (barid, tc?, type, red?), ws the warp size,
 * eps "not in use" or "not given", bot "undefined": the block is stuck.
 */
#include "engine/crs/crs_barrier.h"

static void fired(struct crs_barriers *chi, enum rule rule)
{
    chi->m->hits[rule]++;
}

/* Two BarInfos of one barrier in one action agree: explicit counts are equal (ERR.41: as printed all of
 * the BarInfo, type and optional count included, had to be equal, in one step but not in two). */
static bool agrees(struct crs_barrier_info *info, uint32_t tc)
{
    if (info->tc == 0)
        info->tc = tc;
    return tc == 0 || info->tc == tc;
}

static struct crs_barrier_info *info_of(struct crs_barrier_infos *infos, uint32_t barid)
{
    for (uint32_t i = 0; i < infos->count; i++)
        if (infos->items[i].barid == barid)
            return &infos->items[i];
    return NULL;
}

/*  barInfo
 *      no i' of is has its barid:            barInfo((barid, tc, bt, br) :: acts) = i :: is
 *      one has, and agrees with it:          .. = is
 *      otherwise:                            .. = bot           where is = barInfo(acts)
 *
 *  As printed the first case is "every i' in is with this barid equals i", which holds when there is none:
 *  nothing would ever be inserted (ERR.40).
 */
const char *crs_bar_info(struct crs_barriers *chi, const struct crs_barrier_action *action,
                         struct crs_barrier_infos *infos)
{
    fired(chi, RULE_BLK_BAR_INFO);
    infos->count = 0;
    struct crs_barrier_info *info = NULL;
    for (lane_mask rest = action->lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest), barid = action->barid[lane];
        if (!info || info->barid != barid)
            info = info_of(infos, barid);
        if (!info) {
            info = &infos->items[infos->count++];
            *info = (struct crs_barrier_info){
                .barid = barid, .tc = action->tc[lane], .type = action->type, .red = action->red};
        } else if (!agrees(info, action->tc[lane])) {
            return "lanes of one barrier instruction give different thread counts (barInfo)";
        }
        info->lanes |= (lane_mask)1 << lane;
    }
    return NULL;
}

/* Why an action contradicts what the barrier in use was initialised with. */
static const char *contradiction(const struct crs_barrier *barrier,
                                 const struct crs_barrier_info *info)
{
    if (info->tc > 0 && info->tc != barrier->tc)
        return "the barrier is in use with another thread count (prepBar)";
    if (info->red == barrier->red)
        return NULL;
    if (info->red != PTX_W_NONE && barrier->red != PTX_W_NONE)
        return "the barrier is in use with another reduction (prepBar)";
    return "bar.red and bar.sync or bar.arrive on one barrier (prepBar)";
}

/* ---- what block_options change in prepBar and updArrCnt ---- */

static uint32_t first_count(const struct crs_barriers *chi, uint32_t completed)
{
    return chi->block_options & BLOCK_EXIT_ARRIVES ? completed * chi->warp_size : 0;
}

static uint32_t counted(const struct crs_barriers *chi, const struct crs_barrier_info *info)
{
    return chi->block_options & BLOCK_LANES ? (uint32_t)__builtin_popcountll(info->lanes)
                                            : chi->warp_size;
}

/*  prepBar           chi(barid) = eps, tc' = the count given, or the default tc
 *      prepBar(chi, tc, (barid, tc?, bt, br) :: is) = prepBar(chi[barid |-> (tc', 0, br, eps)], tc, is)
 *
 *                    chi(barid) = (tc', _, br, _), a count that is given is tc'
 *      prepBar(chi, tc, (barid, tc?, bt, br) :: is) = prepBar(chi, tc, is)               otherwise bot
 *
 *  Not: with BLOCK_EXIT_ARRIVES the completed warps have arrived at a fresh barrier (first_count).
 */
const char *crs_prep_bar(struct crs_barriers *chi, uint32_t tc, uint32_t completed,
                         const struct crs_barrier_infos *infos)
{
    fired(chi, RULE_BLK_PREP_BAR);
    for (uint32_t i = 0; i < infos->count; i++) {
        const struct crs_barrier_info *info = &infos->items[i];
        struct crs_barrier *barrier = crs_barrier_at(chi, info->barid);
        if (barrier->tc > 0) {
            const char *why = contradiction(barrier, info);
            if (why)
                return why;
            continue;
        }
        put(chi->m, &barrier->tc, info->tc > 0 ? info->tc : tc);
        put(chi->m, &barrier->ac, first_count(chi, completed));
        put(chi->m, &barrier->red, info->red);
        put(chi->m, &barrier->defaults, info->tc == 0);
    }
    return NULL;
}

/*  updAct
 *      updAct(chi, (bt, br, acts)) = chi[barid |-> chi(barid) with act :: actions]  for each act of a barid
 *
 *  Kept of the actions: who waits, and for bar.red how many there are and how many are true.
 */
void crs_upd_act(struct crs_barriers *chi, const struct crs_barrier_action *action,
                 const struct crs_barrier_infos *infos)
{
    fired(chi, RULE_BLK_UPD_ACT);
    if (action->type == PTX_EXEC_BAR_ARRIVE)
        return;
    for (uint32_t i = 0; i < infos->count; i++) {
        const struct crs_barrier_info *info = &infos->items[i];
        struct crs_barrier *barrier = crs_barrier_at(chi, info->barid);
        lane_mask *waiting = crs_barrier_waiting(chi, info->barid, action->warp);
        put_mask(chi->m, waiting, *waiting | info->lanes);
        if (action->type != PTX_EXEC_BAR_RED)
            continue;
        put(chi->m, &barrier->lanes, barrier->lanes + (uint32_t)__builtin_popcountll(info->lanes));
        lane_mask truths = info->lanes & action->truths;
        put(chi->m, &barrier->truths, barrier->truths + (uint32_t)__builtin_popcountll(truths));
    }
}

/*  updArrCnt         barid_1 .. barid_n: the distinct ones of the warp's action
 *      updArrCnt(chi, wact) = chi[barid_i |-> chi(barid_i) with ac + ws]
 *
 *  However many lanes executed it: "it is as if all threads of the same warp" did. Not: with BLOCK_LANES lanes count
 *  (counted).
 */
void crs_upd_arr_cnt(struct crs_barriers *chi, const struct crs_barrier_infos *infos)
{
    fired(chi, RULE_BLK_UPD_ARR_CNT);
    for (uint32_t i = 0; i < infos->count; i++) {
        struct crs_barrier *barrier = crs_barrier_at(chi, infos->items[i].barid);
        put(chi->m, &barrier->ac, barrier->ac + counted(chi, &infos->items[i]));
    }
}

/*  updBar            is = barInfo(wact) != bot      chi' = prepBar(chi, tc, is) != bot
 *      updBar(chi, tc, wact) = updArrCnt(updAct(chi', wact), wact)                       otherwise bot
 */
const char *crs_upd_bar(struct crs_barriers *chi, uint32_t tc, uint32_t completed,
                        const struct crs_barrier_action *action, struct crs_barrier_infos *infos)
{
    fired(chi, RULE_BLK_UPD_BAR);
    const char *why = crs_bar_info(chi, action, infos);
    if (!why)
        why = crs_prep_bar(chi, tc, completed, infos);
    if (why)
        return why;
    crs_upd_act(chi, action, infos);
    crs_upd_arr_cnt(chi, infos);
    return NULL;
}

/*  reduce
 *      .and: all predicates hold      .or: one holds      .popc: how many hold
 *
 *  Over the lanes that executed bar.red only.
 */
uint32_t crs_reduce(struct crs_barriers *chi, const struct crs_barrier *barrier)
{
    fired(chi, RULE_BLK_REDUCE);
    if (barrier->red == PTX_W_POPC)
        return barrier->truths;
    if (barrier->red == PTX_W_OR)
        return barrier->truths > 0;
    return barrier->truths == barrier->lanes;
}

void crs_barrier_clear(struct crs_barriers *chi, uint32_t barid)
{
    struct crs_barrier *barrier = crs_barrier_at(chi, barid);
    put(chi->m, &barrier->tc, 0);
    put(chi->m, &barrier->ac, 0);
    put(chi->m, &barrier->red, PTX_W_NONE);
    put(chi->m, &barrier->defaults, 0);
    put(chi->m, &barrier->lanes, 0);
    put(chi->m, &barrier->truths, 0);
    for (uint32_t warp = 0; warp < chi->warps; warp++)
        put_mask(chi->m, crs_barrier_waiting(chi, barid, warp), 0);
    if (is_observed(chi->m) && !is_tracked(chi->m))
        chi->ended[crs_barrier_index(chi, barid)]++;
}

void crs_exit_arrives(struct crs_barriers *chi)
{
    for (uint32_t b = 0; b < (uint32_t)__builtin_popcount(chi->ids); b++)
        if (chi->at[b].tc > 0)
            put(chi->m, &chi->at[b].ac, chi->at[b].ac + chi->warp_size);
}
