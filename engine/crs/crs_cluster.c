#include "engine/crs/crs_cluster.h"

static struct crs_cluster_lanes *lanes_at(const struct machine *machine, uint32_t warp)
{
    const uint32_t each = machine->program->warps_per_block;
    return crs_barriers(machine, warp / each).cluster + warp % each;
}

uint32_t crs_cluster_words(const struct program *program)
{
    return program->ptx->has_cluster_barrier
               ? 2 + program->warps_per_block * (uint32_t)(sizeof(struct crs_cluster_lanes) / 4)
               : 0;
}

lane_mask crs_cluster_waiting(const struct machine *machine, uint32_t warp)
{
    return lanes_at(machine, warp)->waiting;
}

/* ---- who belongs to a cluster ---- */

/* The blocks of a cluster that are here, by their slots. */
struct members {
    uint32_t count;
    uint32_t slot[PTX_CLUSTER_MOST];
};

static struct members members_of(const struct machine *machine, uint32_t warp)
{
    const struct program *program = machine->program;
    const struct ptx_kernel *kernel = program->ptx->kernel;
    const uint32_t first = kernel->first_block, own = first + warp / program->warps_per_block;
    struct members members = {.count = 0};
    for (uint32_t rank = 0; rank < ptx_cluster_size(kernel); rank++) {
        const uint32_t slot = ptx_cluster_block(kernel, own, rank) - first;
        if (slot < program->launch.blocks)
            members.slot[members.count++] = slot;
    }
    return members;
}

/* The n-th warp of a cluster. */
static uint32_t warp_of(const struct machine *machine, const struct members *members, uint32_t n)
{
    const uint32_t each = machine->program->warps_per_block;
    return members->slot[n / each] * each + n % each;
}

static uint32_t count_warps(const struct machine *machine, const struct members *members)
{
    return members->count * machine->program->warps_per_block;
}

/* ---- events ---- */

static void report(struct machine *machine, enum barrier_use_kind kind, uint32_t warp,
                   lane_mask lanes, uint32_t stm)
{
    const struct members members = members_of(machine, warp);
    struct barrier_use use = {
        .kind = kind,
        .block = members.slot[0],
        .barrier = CRS_CLUSTER_BARRIER,
        .count = count_warps(machine, &members) * machine->program->launch.warp,
        .generation = *crs_barriers(machine, members.slot[0]).cluster_ended,
        .first_thread = crs_view(machine, warp).lanes->first_thread,
        .mask = lanes,
        .stm = stm,
    };
    if (is_observed(machine) && lanes)
        observe_use(machine, &use);
}

/* ---- rules ---- */

/*  arrive      no executing lane has arrived without having waited since
 *      <theta | barrier.cluster.arrive>  ->  theta, which has arrived
 */
static const char *cluster_arrive(struct machine *machine, uint32_t warp, uint32_t pc, lane_mask X)
{
    struct crs_cluster_lanes *own = lanes_at(machine, warp);
    if (X & (own->arrived | own->waiting | own->passed))
        return "the thread arrives at the cluster's barrier again before it has waited";
    put_mask(machine, &own->arrived, own->arrived | X);
    report(machine, BARRIER_ARRIVES, warp, X, pc);
    return NULL;
}

/* Lanes of the warp that are elsewhere and have neither exited nor arrived: on a GPU they run on, in lock-step they
 * cannot before those that wait do. */
static bool is_torn(struct machine *machine, uint32_t warp, lane_mask X)
{
    const struct crs_cluster_lanes *own = lanes_at(machine, warp);
    const struct crs_view v = crs_view(machine, warp);
    return (ptx_all(v.lanes) & ~v.state->exited & ~X & ~(own->arrived | own->waiting)) != 0;
}

/*  wait        all executing lanes have arrived
 *      <theta | barrier.cluster.wait>  ->  theta, at once if the generation in which it arrived has ended, or else then
 *
 *  A warp waits as a whole.
 */
static const char *cluster_wait(struct machine *machine, uint32_t warp, lane_mask X)
{
    struct crs_cluster_lanes *own = lanes_at(machine, warp);
    struct crs_state *omega = crs_view(machine, warp).state;
    struct machine_group *group = machine_group_of(machine, warp);
    const lane_mask waits = X & own->arrived;
    if (X & ~(own->arrived | own->passed))
        return "the thread waits at the cluster's barrier without having arrived";
    put_mask(machine, &own->passed, own->passed & ~X);
    if (waits == 0)
        return NULL;
    put_mask(machine, &own->arrived, own->arrived & ~waits);
    put_mask(machine, &own->waiting, own->waiting | waits);
    put(machine, &omega->waiting, omega->waiting | 1u << CRS_CLUSTER_BARRIER);
    machine_unlive(machine, warp);
    put(machine, &group->waiting, group->waiting + 1);
    return NULL;
}

enum rule crs_cluster_step(struct machine *machine, uint32_t warp, uint32_t pc, lane_mask executing)
{
    const struct ptx_op *op = &machine->program->ptx->ops[pc];
    const bool arrives = op->mode == PTX_W_ARRIVE;
    const uint32_t thread = crs_view(machine, warp).lanes->first_thread;
    const uint32_t missing = crs_missing_lane(machine, warp, op, executing);
    if (missing < 64) {
        machine->fault_text = "the barrier is aligned, and a lane that has not exited is missing";
        machine_fault(machine, STATUS_BARRIER_DIVERGENCE, thread + missing, pc);
    } else {
        const uint32_t first = thread + (uint32_t)__builtin_ctzll(executing);
        const char *why = arrives ? cluster_arrive(machine, warp, pc, executing)
                                  : cluster_wait(machine, warp, executing);
        if (why)
            ptx_stuck(machine, first, pc, why);
        else if (!arrives && crs_cluster_waiting(machine, warp) &&
                 is_torn(machine, warp, executing))
            ptx_beyond(machine, first, pc,
                       "lanes wait at the cluster's barrier before others of their warp come to it "
                       "or exit");
    }
    return arrives ? RULE_CLUSTER_ARRIVE : RULE_CLUSTER_WAIT;
}

/* Whether all threads of the cluster that have not exited have arrived, and some have. */
static bool is_complete(const struct machine *machine, const struct members *members)
{
    bool some = false;
    for (uint32_t n = 0; n < count_warps(machine, members); n++) {
        const uint32_t warp = warp_of(machine, members, n);
        const struct crs_cluster_lanes *lanes = lanes_at(machine, warp);
        const struct crs_view v = crs_view(machine, warp);
        const lane_mask there = lanes->arrived | lanes->waiting;
        if (ptx_all(v.lanes) & ~v.state->exited & ~there)
            return false;
        some |= there != 0;
    }
    return some;
}

static void release(struct machine *machine, uint32_t warp)
{
    struct crs_cluster_lanes *lanes = lanes_at(machine, warp);
    struct crs_state *omega = crs_view(machine, warp).state;
    struct machine_group *group = machine_group_of(machine, warp);
    report(machine, BARRIER_RELEASES, warp, lanes->arrived | lanes->waiting, omega->pc - 1);
    put_mask(machine, &lanes->passed, lanes->passed | lanes->arrived);
    put_mask(machine, &lanes->arrived, 0);
    put_mask(machine, &lanes->waiting, 0);
    if (!(omega->waiting >> CRS_CLUSTER_BARRIER & 1))
        return;
    put(machine, &omega->waiting, omega->waiting & ~(1u << CRS_CLUSTER_BARRIER));
    put(machine, &group->waiting, group->waiting - 1);
    machine_relive(machine, warp);
}

/*  end         every thread of the cluster that has not exited has arrived
 *      those that wait go on; those that have arrived will not wait
 */
static void cluster_end(struct machine *machine, const struct members *members)
{
    for (uint32_t n = 0; n < count_warps(machine, members); n++)
        release(machine, warp_of(machine, members, n));
    if (!is_tracked(machine))
        ++*crs_barriers(machine, members->slot[0]).cluster_ended;
    machine->hits[RULE_CLUSTER_END]++;
}

void crs_cluster_settle(struct machine *machine, uint32_t warp)
{
    const struct members members = members_of(machine, warp);
    if (machine->head->status == STATUS_RUNNING && is_complete(machine, &members))
        cluster_end(machine, &members);
}
