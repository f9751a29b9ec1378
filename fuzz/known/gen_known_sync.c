/* What threads do together, and flaws, as PTX. See gen_known_text.h. */
#include "fuzz/known/gen_known_text.h"

/* Where the thread numbered `u` of the block wrote. */
static void put_read_of(struct known_writing *w, const struct known_node *n, const char *guard)
{
    PUT(w, "\tmov.u64 at, pass;\n\tmad.wide.u32 at, u, 4, at;\n\t%s", guard);
    known_put(w, n, "ld.shared.u32 %d, [at];\n");
}

static void put_exchange(struct known_writing *w, const struct known_node *n)
{
    known_put(w, n,
              "\tst.shared.u32 [pa], %a;\n\tbar.sync 0;\n\tmov.u32 v, size;\n"
              "\tmov.u32 u, tid;\n\tadd.u32 u, u, %n;\n\trem.u32 u, u, v;\n");
    put_read_of(w, n, "");
    text_put(&w->text, "\tbar.sync 0;\n");
}

/* The cluster's threads meet. */
static void put_cluster_barrier(struct known_writing *w, bool spelled)
{
    text_put(&w->text, spelled ? "\tbarrier.cluster.arrive.release.aligned;\n"
                                 "\tbarrier.cluster.wait.acquire.aligned;\n"
                               : "\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n");
}

/* In the cluster; a flaw if only the block's threads have met. */
static void put_neighbour(struct known_writing *w, const struct known_node *n)
{
    const bool flaw = n->kind == KNOWN_FLAW;
    const uint32_t ranks = flaw ? 1 : n->which, further = flaw ? 0 : n->at;
    known_put(w, n, "\tst.shared.u32 [pa], %a;\n");
    if (flaw)
        text_put(&w->text, "\tbar.sync 0;\n");
    else
        put_cluster_barrier(w, ranks % 2);
    PUT(w,
        "\tmov.u32 v, size;\n\tadd.u32 u, tid, %" PRIu32
        ";\n\trem.u32 u, u, v;\n\tmov.u64 at, pass;\n\tmad.wide.u32 at, u, 4, at;\n"
        "\tmov.u32 v, %%cluster_ctarank;\n\tadd.u32 v, v, %" PRIu32 ";\n\trem.u32 v, v, %" PRIu32
        ";\n\tmapa.shared::cluster.u64 at, at, v;\n",
        further, ranks, w->p->cluster[0] * w->p->cluster[1]);
    known_put(w, n, "\tld.shared::cluster.u32 %d, [at];\n");
    put_cluster_barrier(w, ranks / 2 % 2);
}

/* Warps up to `at` write and arrive, the others wait and read. */
static void put_pair(struct known_writing *w, const struct known_node *n)
{
    uint32_t label = w->labels++, producers = n->at * w->p->warp;
    PUT(w, "\tmov.u32 u, tid;\n\tsetp.lt.u32 t, u, %" PRIu32 ";\n\t@t bra $from%" PRIu32 ";\n",
        producers, label);
    PUT(w, "\tbar.sync %" PRIu32 ", %" PRIu32 ";\n\trem.u32 u, u, %" PRIu32 ";\n", n->which,
        w->p->threads, producers);
    put_read_of(w, n, "");
    PUT(w, "\tbra $end%" PRIu32 ";\n$from%" PRIu32 ":\n", label, label);
    known_put(w, n, "\tst.shared.u32 [pa], %a;\n");
    PUT(w, "\tbar.arrive %" PRIu32 ", %" PRIu32 ";\n$end%" PRIu32 ":\n\tbar.sync 0;\n", n->which,
        w->p->threads, label);
}

static void put_subset(struct known_writing *w, const struct known_node *n)
{
    uint32_t label = w->labels++, those = n->at * w->p->warp;
    PUT(w, "\tmov.u32 u, tid;\n\tsetp.ge.u32 t, u, %" PRIu32 ";\n\t@t bra $end%" PRIu32 ";\n",
        those, label);
    known_put(w, n, "\tst.shared.u32 [pa], %a;\n");
    PUT(w,
        "\tbar.sync %" PRIu32 ", %" PRIu32 ";\n\tadd.u32 u, u, 1;\n\trem.u32 u, u, %" PRIu32 ";\n",
        n->which, those, those);
    put_read_of(w, n, "");
    PUT(w, "$end%" PRIu32 ":\n\tbar.sync 0;\n", label);
}

static void put_warp(struct known_writing *w, const struct known_node *n)
{
    static const char *const texts[KNOWN_WARP_OPS] = {
        [KNOWN_ACTIVE] = "activemask.b32 %d",
        [KNOWN_VOTE_ALL] = "vote.all.pred %d, %a",
        [KNOWN_VOTE_ANY] = "vote.any.pred %d, %a",
        [KNOWN_VOTE_UNI] = "vote.uni.pred %d, %a",
        [KNOWN_VOTE_NOT] = "vote.any.pred %d, !%a",
        [KNOWN_BALLOT_NOT] = "vote.ballot.b32 %d, !%a",
        [KNOWN_SHFL_UP_8] = "shfl.up.b32 %d, %a, %n, 0x1800",
        [KNOWN_SHFL_DOWN_8] = "shfl.down.b32 %d|t, %a, %n, 0x1807",
        [KNOWN_SHFL_BFLY_8] = "shfl.bfly.b32 %d, %a, %n, 0x1807",
        [KNOWN_SHFL_IDX_8] = "shfl.sync.idx.b32 %d|t, %a, %n, 0x1807, m",
        [KNOWN_MATCH_ALL] = "match.all.sync.b32 %d|t, %a, m",
        [KNOWN_REDUX_AND] = "redux.sync.and.b32 %d, %a, m",
        [KNOWN_REDUX_OR] = "redux.sync.or.b32 %d, %a, m",
        [KNOWN_REDUX_MIN] = "redux.sync.min.s32 %d, %a, m",
        [KNOWN_REDUX_MIN_U] = "redux.sync.min.u32 %d, %a, m",
        [KNOWN_REDUX_MAX_U] = "redux.sync.max.u32 %d, %a, m",
        [KNOWN_BALLOT] = "vote.ballot.b32 %d, %a",
        [KNOWN_SHFL_UP] = "shfl.up.b32 %d, %a, %n, 0",
        [KNOWN_SHFL_DOWN] = "shfl.down.b32 %d, %a, %n, 31",
        [KNOWN_SHFL_BFLY] = "shfl.bfly.b32 %d, %a, %n, 31",
        [KNOWN_SHFL_IDX] = "shfl.sync.idx.b32 %d, %a, %n, 31, m",
        [KNOWN_MATCH_ANY] = "match.any.sync.b32 %d, %a, m",
        [KNOWN_REDUX_ADD] = "redux.sync.add.u32 %d, %a, m",
        [KNOWN_REDUX_MAX] = "redux.sync.max.s32 %d, %a, m",
        [KNOWN_REDUX_XOR] = "redux.sync.xor.b32 %d, %a, m",
        [KNOWN_BAR_WARP] = "bar.warp.sync m",
    };
    if (n->which >= KNOWN_SHFL_IDX)
        known_put_line(w, n, "activemask.b32 m");
    known_put_line(w, n, texts[n->which]);
}

/* The threads of the first warp do one thing, the others the other. */
static void put_two(struct known_writing *w, const char *first, const char *others)
{
    uint32_t label = w->labels++;
    PUT(w, "\tmov.u32 u, tid;\n\tsetp.lt.u32 t, u, %" PRIu32 ";\n\t@t bra $from%" PRIu32 ";\n",
        w->p->warp, label);
    PUT(w, "\t%s;\n\tbra $end%" PRIu32 ";\n$from%" PRIu32 ":\n\t%s;\n$end%" PRIu32 ":\n", others,
        label, label, first, label);
}

/* The second warp writes between the two barriers at which lanes of the first wait. */
static void put_several(struct known_writing *w, const struct known_node *n)
{
    uint32_t label = w->labels++, count = 2 * w->p->warp;
    PUT(w, "\tmov.u32 u, tid;\n\tsetp.lt.u32 t, u, %" PRIu32 ";\n\t@t bra $from%" PRIu32 ";\n",
        w->p->warp, label);
    PUT(w, "\tbar.sync 4, %" PRIu32 ";\n", count);
    known_put(w, n, "\tst.shared.u32 [pa], %a;\n");
    PUT(w, "\tbar.sync 5, %" PRIu32 ";\n\tbra $end%" PRIu32 ";\n$from%" PRIu32 ":\n", count, label,
        label);
    PUT(w,
        "\tand.b32 v, u, 1;\n\tadd.u32 v, v, 4;\n\tbar.sync v, %" PRIu32
        ";\n\tadd.u32 u, u, %" PRIu32 ";\n",
        count, w->p->warp);
    put_read_of(w, n, "");
    PUT(w, "$end%" PRIu32 ":\n", label);
}

/* Everybody writes one word, in one instruction. */
static void put_one_word(struct known_writing *w)
{
    text_put(&w->text, "\tmov.u64 at, pass;\n\tmov.u32 u, tid;\n\tst.shared.u32 [at], u;\n"
                       "\tbar.sync 0;\n");
}

/* Everybody writes; everybody reads what the next thread wrote, or the last warp alone, when all writers have read. */
static void put_race(struct known_writing *w, const struct known_node *n)
{
    const struct known_program *p = w->p;
    text_put(&w->text, "\tmov.u32 v, size;\n\tmov.u32 u, tid;\n");
    if (n->at)
        PUT(w, "\tsetp.ge.u32 t, u, %" PRIu32 ";\n", p->threads - p->warp);
    text_put(&w->text, "\tadd.u32 u, u, 1;\n\trem.u32 u, u, v;\n\tst.shared.u32 [pa], u;\n");
    if (n->at)
        text_put(&w->text, "\tld.shared.u32 m, [pa];\n");
    put_read_of(w, n, n->at ? "@t " : "");
    text_put(&w->text, "\tbar.sync 0;\n");
}

/* Whoever is left writes, and reads what the next thread wrote. The barrier says how many they are: without a count it
 * depends on the schedule (ERR.42). */
static void put_leave(struct known_writing *w, const struct known_node *n)
{
    uint32_t left = w->p->threads - w->p->warp;
    PUT(w, "\tmov.u32 u, tid;\n\tsetp.ge.u32 t, u, %" PRIu32 ";\n\t@t exit;\n", left);
    known_put(w, n, "\tst.shared.u32 [pa], %a;\n");
    PUT(w, "\tbar.sync 1, %" PRIu32 ";\n\tadd.u32 u, u, 1;\n\trem.u32 u, u, %" PRIu32 ";\n", left,
        left);
    put_read_of(w, n, "");
}

/* A copy is under way when the next warp reads what it writes: the only group, or the last of two. */
static void put_underway(struct known_writing *w, const struct known_node *n)
{
    if (n->at)
        text_put(&w->text, "\tcp.async.ca.shared.global [sa], [ga], 8;\n"
                           "\tcp.async.commit_group;\n");
    text_put(&w->text, "\tcp.async.ca.shared.global [pa], [ga+4], 4;\n\tcp.async.commit_group;\n"
                       "\tcp.async.wait_group 1;\n\tbar.sync 0;\n\tmov.u32 v, size;\n");
    PUT(w, "\tadd.u32 u, tid, %" PRIu32 ";\n\trem.u32 u, u, v;\n", w->p->warp);
    put_read_of(w, n, "");
    text_put(&w->text, "\tbar.sync 0;\n\tcp.async.wait_all;\n");
}

static void put_flaw(struct known_writing *w, const struct known_node *n)
{
    const struct known_program *p = w->p;
    struct arena *arena = w->text.arena;
    const char *count = arena_printf(arena, "%" PRIu32, p->threads + p->warp);
    const char *waits = n->at ? "sync" : "arrive";
    switch ((enum known_flaw)n->which) {
    case KNOWN_TRAP:
        known_put_line(w, n, "trap");
        break;
    case KNOWN_BOUNDS:
        PUT(w, "\tmov.u64 at, out;\n\tadd.u64 at, at, %" PRIu32 ";\n",
            p->threads * p->blocks * KNOWN_AREA);
        known_put_line(w, n, n->at ? "st.global.u32 [at], r0" : "ld.global.u32 r0, [at]");
        break;
    case KNOWN_ALIGN:
        known_put_line(w, n,
                       n->at ? "st.shared.u32 [sa+2], r0" : "ld.global.v2.u32 {r0, r1}, [ga+4]");
        break;
    case KNOWN_RACE:
        if (n->at == 2)
            put_one_word(w);
        else
            put_race(w, n);
        break;
    case KNOWN_STARVE:
        PUT(w, "\tbar.sync 2, %s;\n", count);
        break;
    case KNOWN_COUNTS:
        put_two(w, arena_printf(arena, "bar.sync 2, %" PRIu32, p->threads),
                arena_printf(arena, "bar.%s 2, %s", waits, count));
        break;
    case KNOWN_MIXED:
        put_two(w, "bar.sync 2",
                n->at ? "bar.red.or.pred p0, 2, p1" : "bar.red.popc.u32 r0, 2, p1");
        break;
    case KNOWN_ABSENT:
        text_put(&w->text, "\tmov.u32 u, %laneid;\n\tsetp.eq.u32 t, u, 0;\n"
                           "\t@t bar.warp.sync 3;\n");
        break;
    case KNOWN_SEVERAL:
        put_several(w, n);
        break;
    case KNOWN_LEAVE:
        put_leave(w, n);
        break;
    case KNOWN_SIGNATURE:
        PUT(w, "\tmov.u64 fp, odd;\n\toddly: .callprototype _ (%s);\n",
            n->at ? ".reg .b32 _, .reg .b32 _" : ".reg .b64 _");
        known_put_line(w, n, n->at ? "call fp, (r0, r1), oddly" : "call fp, (w0), oddly");
        break;
    case KNOWN_UNDERWAY:
        put_underway(w, n);
        break;
    case KNOWN_APART:
        put_neighbour(w, n);
        break;
    case KNOWN_FLAWS:
        break;
    }
}

void known_put_together(struct known_writing *w, const struct known_node *n)
{
    static const char *const reductions[KNOWN_REDUCTIONS] = {
        [KNOWN_POPC] = "bar.red.popc.u32 %d, 0, ",
        [KNOWN_AND] = "bar.red.and.pred %d, 0, ",
        [KNOWN_OR] = "bar.red.or.pred %d, 0, ",
    };
    switch ((int)n->kind) {
    case KNOWN_EXCHANGE:
        put_exchange(w, n);
        break;
    case KNOWN_NEIGHBOUR:
        put_neighbour(w, n);
        break;
    case KNOWN_PAIR:
        put_pair(w, n);
        break;
    case KNOWN_SUBSET:
        put_subset(w, n);
        break;
    case KNOWN_TWICE:
        PUT(w,
            "\tbar.arrive %" PRIu32 ", %" PRIu32 ";\n\tbar.%s %" PRIu32 ", %" PRIu32
            ";\n\tbar.sync 0;\n",
            n->which, w->p->threads, n->at ? "sync" : "arrive", n->which, w->p->threads);
        break;
    case KNOWN_BARRIER:
        known_put_line(w, n, n->which ? "barrier.sync 0" : "bar.sync 0");
        break;
    case KNOWN_REDUCE:
        text_put(&w->text, "\t");
        known_put(w, n, reductions[n->which]);
        known_put(w, n, n->at ? "!%a;\n" : "%a;\n");
        break;
    case KNOWN_WARP:
        put_warp(w, n);
        break;
    case KNOWN_FLAW:
        put_flaw(w, n);
        break;
    default:
        break;
    }
}
