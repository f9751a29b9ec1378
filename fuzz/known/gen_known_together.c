/* What threads do together in programs with a known result. See gen_known_run.h. */
#include "fuzz/known/gen_known_run.h"

static uint32_t block_start(const struct known_program *p, uint32_t t)
{
    return t - t % p->threads;
}

/* The block of the cluster that is so many ranks further on. */
static uint32_t neighbour(const struct known_program *p, uint32_t block, uint32_t ranks)
{
    const uint32_t width = p->cluster[0], size = width * p->cluster[1];
    const uint32_t x = block % p->grid_width, y = block / p->grid_width;
    const uint32_t rank = (y % p->cluster[1] * width + x % width + ranks) % size;
    return (y - y % p->cluster[1] + rank / width) * p->grid_width + x - x % width + rank % width;
}

static void exchange_in_cluster(struct known_execution *r, struct known_frame *f,
                                const struct known_node *n, known_mask mask)
{
    const struct known_program *p = r->p;
    uint64_t given[KNOWN_THREADS];
    KNOWN_EACH(t, mask)
    given[t] = known_get(f, &n->s[0], t);
    KNOWN_EACH(t, mask)
    {
        uint32_t from = (t % p->threads + n->at) % p->threads;
        known_set(f, &n->d, t, given[neighbour(p, t / p->threads, n->which) * p->threads + from]);
    }
}

/* Everybody writes, then everybody reads: the values before. */
static void exchange(struct known_execution *r, struct known_frame *f, const struct known_node *n,
                     known_mask mask)
{
    const struct known_program *p = r->p;
    uint64_t given[KNOWN_THREADS];
    uint32_t producers = n->kind == KNOWN_EXCHANGE                          ? p->threads
                         : n->kind == KNOWN_FLAW && n->which == KNOWN_LEAVE ? p->threads - p->warp
                         : n->kind == KNOWN_FLAW                            ? p->warp
                                                                            : n->at * p->warp;
    KNOWN_EACH(t, mask)
    given[t] = known_get(f, &n->s[0], t);
    KNOWN_EACH(t, mask)
    {
        uint32_t tid = t % p->threads, from;
        if (n->kind == KNOWN_EXCHANGE)
            from = (tid + n->at) % p->threads;
        else if (n->kind == KNOWN_PAIR)
            from = tid % producers;
        else if (n->kind == KNOWN_SUBSET || n->which == KNOWN_LEAVE)
            from = (tid + 1) % producers;
        else /* KNOWN_SEVERAL */
            from = (tid + producers) % p->threads;
        if (n->kind == KNOWN_EXCHANGE || (tid < producers) == (n->kind != KNOWN_PAIR))
            known_set(f, &n->d, t, given[block_start(p, t) + from]);
    }
}

static void reduce(struct known_execution *r, struct known_frame *f, const struct known_node *n,
                   known_mask mask)
{
    const struct known_program *p = r->p;
    uint64_t count[KNOWN_THREADS] = {0}; /* a block */
    KNOWN_EACH(t, mask)
    count[t / p->threads] += known_get(f, &n->s[0], t) ^ (n->at & 1);
    KNOWN_EACH(t, mask)
    {
        uint64_t holds = count[t / p->threads];
        if (n->which == KNOWN_AND)
            holds = holds == p->threads;
        if (n->which == KNOWN_OR)
            holds = holds > 0;
        known_set(f, &n->d, t, holds);
    }
}

static void accumulate(struct known_execution *r, struct known_frame *f, const struct known_node *n,
                       known_mask mask)
{
    uint32_t *place = &r->p->accumulators[n->which];
    KNOWN_EACH(t, mask)
    {
        uint32_t value = (uint32_t)known_get(f, &n->s[0], t);
        switch (n->which) {
        case 0:
            *place += value;
            break;
        case 1:
            *place ^= value;
            break;
        case 2:
            *place |= value;
            break;
        case 3:
            *place &= value;
            break;
        case 4:
            *place = *place > value ? *place : value;
            break;
        case 5:
            *place = *place < value ? *place : value;
            break;
        case 6:
            *place = (int32_t)(*place) > (int32_t)(value) ? *place : value;
            break;
        default:
            *place = (int32_t)(*place) < (int32_t)(value) ? *place : value;
            break;
        }
    }
}

static uint32_t own_new(uint32_t which, uint32_t old, uint32_t a, uint32_t b)
{
    switch (which) {
    case 0:
        return a; /* exch */
    case 1:
        return old == a ? b : old; /* cas */
    case 2:
        return old >= a ? 0 : old + 1; /* inc */
    case 3:
        return old == 0 || old > a ? a : old - 1; /* dec */
    default:
        return old + a;
    }
}

static void own(struct known_execution *r, struct known_frame *f, const struct known_node *n,
                known_mask mask)
{
    KNOWN_EACH(t, mask)
    {
        uint8_t *at = known_area(r, f, n->space, t) + n->at;
        uint32_t old = (uint32_t)known_peek(at, 4);
        uint32_t a = (uint32_t)known_get(f, &n->s[0], t), b = (uint32_t)known_get(f, &n->s[1], t);
        known_poke(at, 4, own_new(n->which, old, a, b));
        known_set(f, &n->d, t, old);
    }
}

/* The lane of a warp whose value shfl gives to `lane`, or its own where that does not take part. */
static uint32_t source_lane(uint32_t which, uint32_t lane, uint32_t distance)
{
    uint32_t j = lane;
    switch (which) {
    case KNOWN_SHFL_UP:
        j = lane - distance;
        return lane >= distance ? j : lane;
    case KNOWN_SHFL_DOWN:
        j = lane + distance;
        break;
    case KNOWN_SHFL_BFLY:
        j = lane ^ distance;
        break;
    case KNOWN_SHFL_UP_8:
        return lane % 8 >= distance ? lane - distance : lane;
    case KNOWN_SHFL_DOWN_8:
        return lane % 8 + distance < 8 ? lane + distance : lane;
    case KNOWN_SHFL_BFLY_8:
        j = lane ^ distance;
        return j / 8 > lane / 8 ? lane : j;
    case KNOWN_SHFL_IDX_8:
        return lane - lane % 8 + distance % 8;
    default:
        j = distance;
        break;
    }
    return j < 32 ? j : lane;
}

/* The lanes with the same value as `lane`. */
static uint64_t equal_lanes(const uint64_t *value, uint32_t mask, uint32_t lane)
{
    uint64_t equal = 0;
    KNOWN_EACH(other, mask)
    equal |= (uint64_t)(value[other] == value[lane]) << other;
    return equal;
}

/* One warp, whose thread with lane 0 is `first`; mask: its lanes that take part. */
static void warp(struct known_frame *f, const struct known_node *n, uint32_t first, uint32_t mask)
{
    uint64_t value[32] = {0}, sum = 0, sign = 0x80000000u;
    uint64_t most = 0, least = UINT64_MAX, most_u = 0, least_u = UINT64_MAX; /* signed: ^ sign */
    uint64_t all = UINT64_MAX, any = 0;
    uint32_t holds = 0, parity = 0;
    KNOWN_EACH(lane, mask)
    {
        value[lane] = known_get(f, &n->s[0], first + lane);
        holds |= (uint32_t)(value[lane] & 1) << lane;
        sum += value[lane];
        parity ^= (uint32_t)value[lane];
        most = (value[lane] ^ sign) > most ? value[lane] ^ sign : most;
        least = (value[lane] ^ sign) < least ? value[lane] ^ sign : least;
        most_u = value[lane] > most_u ? value[lane] : most_u;
        least_u = value[lane] < least_u ? value[lane] : least_u;
        all &= value[lane];
        any |= value[lane];
    }
    KNOWN_EACH(lane, mask)
    {
        uint64_t result = 0;
        uint32_t from = lane;
        switch ((enum known_warp_op)n->which) {
        case KNOWN_ACTIVE:
            result = mask;
            break;
        case KNOWN_VOTE_ALL:
            result = holds == mask;
            break;
        case KNOWN_VOTE_ANY:
            result = holds != 0;
            break;
        case KNOWN_VOTE_UNI:
            result = holds == mask || holds == 0;
            break;
        case KNOWN_VOTE_NOT:
            result = holds != mask;
            break;
        case KNOWN_BALLOT:
            result = holds;
            break;
        case KNOWN_BALLOT_NOT:
            result = mask & ~holds;
            break;
        case KNOWN_SHFL_UP:
        case KNOWN_SHFL_DOWN:
        case KNOWN_SHFL_BFLY:
        case KNOWN_SHFL_UP_8:
        case KNOWN_SHFL_DOWN_8:
        case KNOWN_SHFL_BFLY_8:
        case KNOWN_SHFL_IDX:
        case KNOWN_SHFL_IDX_8:
            from = source_lane(n->which, lane, n->at);
            result = value[mask >> from & 1 ? from : lane];
            break;
        case KNOWN_MATCH_ANY:
            result = equal_lanes(value, mask, lane);
            break;
        case KNOWN_MATCH_ALL:
            result = equal_lanes(value, mask, lane) == mask ? mask : 0;
            break;
        case KNOWN_REDUX_ADD:
            result = sum;
            break;
        case KNOWN_REDUX_MAX:
            result = most ^ sign;
            break;
        case KNOWN_REDUX_XOR:
            result = parity;
            break;
        case KNOWN_REDUX_AND:
            result = all;
            break;
        case KNOWN_REDUX_OR:
            result = any;
            break;
        case KNOWN_REDUX_MIN:
            result = least ^ sign;
            break;
        case KNOWN_REDUX_MIN_U:
            result = least_u;
            break;
        case KNOWN_REDUX_MAX_U:
            result = most_u;
            break;
        case KNOWN_BAR_WARP:
        case KNOWN_WARP_OPS:
            return;
        }
        known_set(f, &n->d, first + lane, result);
    }
}

static void warps(struct known_execution *r, struct known_frame *f, const struct known_node *n,
                  known_mask mask)
{
    const struct known_program *p = r->p;
    for (uint32_t t = 0; t < p->threads * p->blocks; t += p->threads)
        for (uint32_t w = 0; w < p->warps; w++) {
            uint32_t left = p->threads - w * p->warp, lanes = left < p->warp ? left : p->warp;
            uint64_t those = lanes < 64 ? ((uint64_t)1 << lanes) - 1 : UINT64_MAX;
            warp(f, n, t + w * p->warp, (uint32_t)(mask >> (t + w * p->warp) & those));
        }
}

void known_run_together(struct known_execution *r, struct known_frame *f,
                        const struct known_node *n, known_mask mask)
{
    switch ((int)n->kind) {
    case KNOWN_REDUCE:
        reduce(r, f, n, mask);
        break;
    case KNOWN_ATOMIC:
        accumulate(r, f, n, mask);
        break;
    case KNOWN_OWN:
        own(r, f, n, mask);
        break;
    case KNOWN_NEIGHBOUR:
        exchange_in_cluster(r, f, n, mask);
        break;
    case KNOWN_WARP:
        warps(r, f, n, mask);
        break;
    default:
        exchange(r, f, n, mask);
        break;
    }
}
