/* Races by PTX's memory model: the three causes, what is none, and random kernels in which the detector is compared
 * with the definition (scoped_log.h), execution by execution, by the oracle `race`. */
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "engine/input/ptx_kernel.h"
#include "oracle/check/check.h"
#include "oracle/check/evidence.h"

#define HEAD(settings)                                                                             \
    "// simtfuzz: entry=k " settings "\n"                                                          \
    ".version 7.8\n.target sm_70\n.address_size 64\n.global .align 8 .u32 x[2];\n"                 \
    ".global .align 4 .u32 f = 0;\n.global .align 4 .u32 g = 0;\n"                                 \
    ".visible .entry k()\n{\n.reg .pred p, q; .reg .u32 t, c, n, v, w; .reg .u64 a, b, d;\n"       \
    "mov.u32 t, %tid.x; mov.u32 c, %ctaid.x; mov.u32 n, %ntid.x; mad.lo.u32 t, c, n, t;\n"         \
    "mov.u64 a, x; mov.u64 b, f; mov.u64 d, g; setp.eq.u32 p, t, 0;\n"
#define KERNEL(settings, body) HEAD(settings) body "exit;\n}\n"

/* Thread 0 writes x and the flag; thread 1 reads the flag, and x if it is set. */
#define PASS(settings, before, set, get, behind)                                                   \
    KERNEL(settings, "@!p bra R;\nst.global.u32 [a], 1;\n" before set "exit;\nR:\n" get            \
                     "setp.eq.u32 q, v, 1;\n@!q bra E;\n" behind "ld.global.u32 w, [a];\nE:\n")
#define BLOCKS "threads=1 warp=1 blocks=2"
#define WARPS "threads=2 warp=1"

static const struct {
    const char *what, *text;
    bool race;
    enum race_why why;
    const char *says;
} kernels[] = {
    {"release and acquire",
     PASS(BLOCKS, "", "st.release.gpu.u32 [b], 1;\n", "ld.acquire.gpu.u32 v, [b];\n", ""), false,
     RACE_UNORDERED, NULL},
    {"... of the system",
     PASS(BLOCKS, "", "st.release.sys.u32 [b], 1;\n", "ld.acquire.sys.u32 v, [b];\n", ""), false,
     RACE_UNORDERED, NULL},
    {"... of one block",
     PASS(WARPS, "", "st.release.cta.u32 [b], 1;\n", "ld.acquire.cta.u32 v, [b];\n", ""), false,
     RACE_UNORDERED, NULL},
    {"... of scope block, and two blocks",
     PASS(BLOCKS, "", "st.release.cta.u32 [b], 1;\n", "ld.acquire.gpu.u32 v, [b];\n", ""), true,
     RACE_NARROW_SCOPE, "scope too narrow: 'st.release.cta' at line"},
    {"... of a cluster, which is one block",
     PASS(BLOCKS, "", "st.release.gpu.u32 [b], 1;\n", "ld.acquire.cluster.u32 v, [b];\n", ""), true,
     RACE_NARROW_SCOPE, "scope too narrow: 'ld.acquire.cluster' at line"},
    {"... of a cluster of two blocks",
     PASS(BLOCKS " cluster=2", "", "st.release.cluster.u32 [b], 1;\n",
          "ld.acquire.cluster.u32 v, [b];\n", ""),
     false, RACE_UNORDERED, NULL},
    {"... by fences",
     PASS(BLOCKS " cluster=2", "fence.acq_rel.cluster;\n", "st.relaxed.cluster.u32 [b], 1;\n",
          "ld.relaxed.cluster.u32 v, [b];\n", "fence.acq_rel.cluster;\n"),
     false, RACE_UNORDERED, NULL},
    {"... of a cluster, and two clusters",
     PASS("threads=1 warp=1 blocks=4 cluster=2", "", "st.release.cluster.u32 [b], 1;\n",
          "ld.acquire.gpu.u32 v, [b];\n", ""),
     true, RACE_NARROW_SCOPE,
     "reaches the threads of its cluster, and the other thread is in another cluster"},
    {"relaxed, no fence",
     PASS(BLOCKS, "", "st.relaxed.gpu.u32 [b], 1;\n", "ld.relaxed.gpu.u32 v, [b];\n", ""), true,
     RACE_MISSING_FENCE, "missing fence: the writer"},
    {"volatile and nothing else: barriers alone order", /* a race of the flag itself, too */
     PASS(BLOCKS, "", "st.volatile.u32 [b], 1;\n", "ld.volatile.u32 v, [b];\n", ""), true,
     RACE_UNORDERED, NULL},
    {"volatile, no fence of the reader",
     PASS(BLOCKS, "membar.gl;\n", "st.volatile.u32 [b], 1;\n", "ld.volatile.u32 v, [b];\n", ""),
     true, RACE_MISSING_FENCE, "missing fence: the reader"},
    {"relaxed, no fence of the reader",
     PASS(BLOCKS, "membar.gl;\n", "st.relaxed.gpu.u32 [b], 1;\n", "ld.relaxed.gpu.u32 v, [b];\n",
          ""),
     true, RACE_MISSING_FENCE, "missing fence: the reader"},
    {"relaxed, with fences",
     PASS(BLOCKS, "fence.acq_rel.gpu;\n", "st.relaxed.gpu.u32 [b], 1;\n",
          "ld.relaxed.gpu.u32 v, [b];\n", "fence.acq_rel.gpu;\n"),
     false, RACE_UNORDERED, NULL},
    {"volatile, with membars",
     PASS(BLOCKS, "membar.gl;\n", "st.volatile.u32 [b], 1;\n", "ld.volatile.u32 v, [b];\n",
          "membar.gl;\n"),
     false, RACE_UNORDERED, NULL},
    {"a fence of scope block",
     PASS(BLOCKS, "fence.acq_rel.cta;\n", "st.relaxed.gpu.u32 [b], 1;\n",
          "ld.relaxed.gpu.u32 v, [b];\n", "fence.acq_rel.gpu;\n"),
     true, RACE_NARROW_SCOPE, "scope too narrow: 'fence.acq_rel.cta' at line"},
    {"... of the reader",
     PASS(BLOCKS, "fence.acq_rel.gpu;\n", "st.relaxed.gpu.u32 [b], 1;\n",
          "ld.relaxed.gpu.u32 v, [b];\n", "fence.acq_rel.cta;\n"),
     true, RACE_NARROW_SCOPE, "scope too narrow: 'fence.acq_rel.cta' at line"},
    {"... in one block",
     PASS(WARPS, "fence.acq_rel.cta;\n", "st.relaxed.cta.u32 [b], 1;\n",
          "ld.relaxed.cta.u32 v, [b];\n", "fence.acq_rel.cta;\n"),
     false, RACE_UNORDERED, NULL},
    {"a flag that is written plainly",
     PASS(BLOCKS, "membar.gl;\n", "st.global.u32 [b], 1;\n", "ld.acquire.gpu.u32 v, [b];\n", ""),
     true, RACE_PLAIN_FLAG, "plain flag: "},
    {"... read plainly",
     PASS(BLOCKS, "", "st.release.gpu.u32 [b], 1;\n", "ld.global.u32 v, [b];\n",
          "fence.acq_rel.gpu;\n"),
     true, RACE_PLAIN_FLAG, "plain flag: "},
    {"... both, with fences",
     PASS(BLOCKS, "fence.acq_rel.gpu;\n", "st.global.u32 [b], 1;\n", "ld.global.u32 v, [b];\n",
          "fence.acq_rel.gpu;\n"),
     true, RACE_PLAIN_FLAG, "plain flag: "},
    {"a flag by atomics",
     PASS(BLOCKS, "membar.gl;\n", "atom.global.exch.b32 v, [b], 1;\n",
          "atom.global.or.b32 v, [b], 0;\n", "membar.gl;\n"),
     false, RACE_UNORDERED, NULL},
    {"... that release and acquire",
     PASS(BLOCKS, "", "red.release.gpu.global.add.u32 [b], 1;\n",
          "atom.acquire.gpu.global.add.u32 v, [b], 0;\n", ""),
     false, RACE_UNORDERED, NULL},
    {"a counter of atomics", KERNEL(BLOCKS, "red.relaxed.gpu.global.add.u32 [b], 1;\n"), false,
     RACE_UNORDERED, NULL},
    {"... of scope block", KERNEL(BLOCKS, "red.relaxed.cta.global.add.u32 [b], 1;\n"), true,
     RACE_NARROW_SCOPE, "scope too narrow: 'red.relaxed.cta' at line"},
    {"... that is read plainly",
     KERNEL(BLOCKS, "@p red.relaxed.gpu.global.add.u32 [b], 1;\n@!p ld.global.u32 v, [b];\n"), true,
     RACE_PLAIN_FLAG, "'ld' at line"},
    {"the last one reads the counter, and what it observes",
     KERNEL(BLOCKS, "atom.relaxed.gpu.global.add.u32 v, [b], 1;\nsetp.eq.u32 q, v, 1;\n"
                    "@q st.global.u32 [b], 0;\n"),
     false, RACE_UNORDERED, NULL},
    {"a release is inherited by an atomic, and not by a store",
     KERNEL("threads=1 warp=1 blocks=3",
            "setp.eq.u32 q, t, 1;\n@p st.global.u32 [a], 1;\n@p st.release.gpu.u32 [b], 1;\n"
            "@q red.relaxed.gpu.global.add.u32 [b], 1;\nsetp.lt.u32 q, t, 2;\n@q bra E;\n"
            "ld.acquire.gpu.u32 v, [b];\nsetp.eq.u32 q, v, 2;\n@q ld.global.u32 w, [a];\nE:\n"),
     false, RACE_UNORDERED, NULL},
    {"parts of a strong access",
     KERNEL(BLOCKS, "@p st.relaxed.gpu.u64 [a], 1;\n@!p st.relaxed.gpu.u32 [a], 1;\n"), true,
     RACE_UNORDERED, NULL},
    {"lanes without __syncwarp",
     KERNEL("threads=2 warp=2", "bar.warp.sync -1;\n@p st.global.u32 [a], 1;\n"
                                "@!p ld.global.u32 v, [a];\n"),
     true, RACE_UNORDERED, NULL},
    {"lanes with __syncwarp",
     KERNEL("threads=2 warp=2", "@p st.global.u32 [a], 1;\nbar.warp.sync -1;\n"
                                "@!p ld.global.u32 v, [a];\n"),
     false, RACE_UNORDERED, NULL},
    {"__syncwarp and another warp",
     KERNEL("threads=4 warp=2", "@p st.global.u32 [a], 1;\nbar.warp.sync -1;\n"
                                "@!p ld.global.u32 v, [a];\n"),
     true, RACE_UNORDERED, NULL},
    {"what a block has learnt behind a barrier",
     KERNEL("threads=2 warp=2 blocks=2",
            "setp.lt.u32 q, t, 2;\n@q st.global.u32 [a], 1;\nbar.sync 0;\n"
            "@p st.release.gpu.u32 [b], 1;\nmov.u32 w, %tid.x;\nsetp.eq.u32 p, w, 0;\n@q bra E;\n"
            "mov.u32 v, 0;\n@p ld.acquire.gpu.u32 v, [b];\n@p st.shared.u32 [0], v;\nbar.sync "
            "0;\nE:\n"),
     true, RACE_UNORDERED, NULL},
};

static struct check_result *check_text(const char *text)
{
    struct check_options options = CHECK_DEFAULTS;
    struct diag diag;
    diag_init(&diag, "test.ptx", text, strlen(text));
    struct ast_kernel *kernel = ptx_kernel_parse(&test_arena, text, strlen(text), &diag);
    if (!kernel)
        diag_print(&diag, stderr);
    assert_non_null(kernel);
    options.schedules = 24;
    struct check_result *r = ARENA_NEW(&test_arena, struct check_result);
    check_kernel(&test_arena, kernel, &options, r);
    if (check_divergences(r, false) > 0)
        print_error("%s\n", text);
    assert_int_equal(check_divergences(r, false), 0);
    return r;
}

static void causes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        size_t mark = arena_mark(&test_arena);
        struct check_result *r = check_text(kernels[i].text);
        const struct check_run *run = &r->runs[SUBJECT_BLOCK];
        if (run->reason) /* barriers of warps */
            run = &r->runs[SUBJECT_CRS];
        const char *says =
            run->race ? evidence_race_sentence(&test_arena, run->program, &run->witness) : "";
        if (run->race != kernels[i].race || run->race_unknown || run->race_incomplete ||
            (run->race && run->witness.cause.why != kernels[i].why))
            print_error("%s: %d %s\n", kernels[i].what, run->race, says);
        assert_null(run->race_unknown);
        assert_false(run->race_incomplete);
        assert_int_equal(run->race, kernels[i].race);
        if (run->race)
            assert_int_equal(run->witness.cause.why, kernels[i].why);
        if (kernels[i].says)
            assert_non_null(strstr(says, kernels[i].says));
        arena_release(&test_arena, mark);
    }
}

/* ---- random kernels ---- */

static const char *const scopes[] = {"cta", "gpu", "sys", "cluster", "cluster", "gpu"};
static const char *const reading[] = {"relaxed", "acquire"}, *const writing[] = {"relaxed",
                                                                                 "release"};
static const char *const changing[] = {"relaxed", "acquire", "release", "acq_rel"};
static const char *const fences[] = {"fence.acq_rel.", "fence.sc.", "fence.acquire.",
                                     "fence.release."};

static const char *instruction(struct pcg *rng)
{
    const char *scope = scopes[pcg_below(rng, 6)], *at = pcg_below(rng, 3) ? "b" : "d";
    switch (pcg_below(rng, 12)) {
    case 0:
        return "ld.global.u32 v, [a];";
    case 1:
        return "st.global.u32 [a], 1;";
    case 2:
        return arena_printf(&test_arena, "ld.global.u32 v, [%s];", at);
    case 3:
        return pcg_below(rng, 3) ? "ld.volatile.global.u32 v, [b];" : "st.global.u32 [b], 2;";
    case 4:
    case 5:
        return arena_printf(&test_arena, "ld.%s.%s.global.u32 v, [%s];", reading[pcg_below(rng, 2)],
                            scope, at);
    case 6:
    case 7:
        return arena_printf(&test_arena, "st.%s.%s.global.u32 [%s], 1;", writing[pcg_below(rng, 2)],
                            scope, at);
    case 8:
        return arena_printf(&test_arena, "atom.%s.%s.global.add.u32 v, [%s], 1;",
                            changing[pcg_below(rng, 4)], scope, at);
    case 9:
        return arena_printf(&test_arena, "%s%s;", fences[pcg_below(rng, 4)], scope);
    case 10:
        return pcg_below(rng, 2) ? "membar.gl;" : "membar.cta;";
    }
    return pcg_below(rng, 2) ? "st.relaxed.gpu.global.u64 [a], 3;" : "st.global.u32 [a+4], 1;";
}

static const char *random_kernel(struct pcg *rng)
{
    static const char *const settings[] = {"threads=1 warp=1 blocks=3",
                                           "threads=2 warp=2 blocks=2",
                                           "threads=2 warp=1 blocks=2",
                                           "threads=3 warp=1",
                                           "threads=4 warp=2",
                                           "threads=1 warp=1 blocks=4 cluster=2",
                                           "threads=2 warp=2 blocks=2 cluster=2"};
    static const uint32_t threads[] = {3, 4, 4, 3, 4, 4, 4};
    uint32_t which = pcg_below(rng, 7), count = 5 + pcg_below(rng, 14);
    bool warps = pcg_below(rng, 4) == 0, barriers = pcg_below(rng, 4) == 0;
    const char *text = arena_printf(&test_arena, "// simtfuzz: entry=k %s\n", settings[which]);
    text = arena_printf(&test_arena, "%s%s", text, strchr(HEAD(""), '\n') + 1);
    for (uint32_t i = 0; i < count; i++) {
        if (warps && pcg_below(rng, 6) == 0)
            text = arena_printf(&test_arena, "%sbar.warp.sync -1;\n", text);
        else if (barriers && pcg_below(rng, 6) == 0)
            text = arena_printf(&test_arena, "%sbar.sync 0;\n", text);
        else
            text = arena_printf(&test_arena, "%ssetp.eq.u32 q, t, %u;\n@q %s\n", text,
                                pcg_below(rng, threads[which]), instruction(rng));
    }
    return arena_printf(&test_arena, "%sexit;\n}\n", text);
}

static void definition(void **state)
{
    (void)state;
    struct pcg rng;
    pcg_seed(&rng, 23, 5);
    uint32_t races = 0, clean = 0, asked = 0, incomplete = 0;
    for (uint32_t i = 0; i < 400; i++) {
        size_t mark = arena_mark(&test_arena);
        const char *text = random_kernel(&rng);
        struct check_result *r = check_text(text);
        asked += (uint32_t)r->answers[ORACLE_RACE].checked;
        for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
            races += r->runs[s].race;
            clean += r->runs[s].schedules > 0 && !r->runs[s].race;
            incomplete += r->runs[s].race_incomplete;
        }
        arena_release(&test_arena, mark);
    }
    assert_true(races > 200 && clean > 50 && asked > 2000 && incomplete < 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(causes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(definition, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
