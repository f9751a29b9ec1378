/*
 * bench_ptx.c - warp and lane instructions a second of `crs`: loops of one warp of 32 lanes, and a kernel
 * that a compiler made, with and without race detection and the oracle safety. A lane
 * instruction is one that a lane executes.
 */
#include "engine/base/invariant.h"
#include "engine/input/input.h"
#include "engine/program/ptx_code.h"
#include "engine/schedule/sched.h"
#include "engine/to_ptx/ptx_inject.h"
#include "oracle/crs/safety.h"
#include "oracle/race/race_hb.h"
#include "oracle/scoped/scoped.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <string.h>

#define LOOP(declarations, body)                                                                   \
    "// simtfuzz: entry=k threads=32 warp=32 bind:a=buffer:8192:iota bind:b=buffer:8192 "          \
    "bind:n=1000\n"                                                                                \
    ".version 7.0\n.target sm_70\n.address_size 64\n" declarations                                 \
    ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n"                          \
    ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<16>; .reg .f32 %f<8>;\n"                     \
    "ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; ld.param.u32 %r1, [n]; mov.u32 %r0, %tid.x;\n"  \
    "mul.wide.u32 %d2, %r0, 4; add.u64 %d3, %d0, %d2; add.u64 %d4, %d1, %d2; mov.u64 %d5, s;\n"    \
    "add.u64 %d5, %d5, %d2;\n"                                                                     \
    "L: " body "sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L;\nexit;\n}\n"

#define SHARED ".shared .align 4 .b8 s[4096];\n"

static const struct {
    const char *name, *text;
} loops[] = {
    {"arithmetic, 12 instructions",
     LOOP(SHARED, "mad.lo.u32 %r2, %r1, 5, %r2; xor.b32 %r3, %r2, %r0; shl.b32 %r4, %r3, 3; "
                  "add.u32 %r5, %r4, %r3;\n"
                  "min.u32 %r6, %r5, %r2; sub.u32 %r7, %r6, %r3; fma.rn.f32 %f1, %f2, %f3, %f1; "
                  "and.b32 %r8, %r7, 255;\n"
                  "selp.u32 %r9, %r7, %r8, %p1;\n")},
    {"memory: loads and stores of words in a row",
     LOOP(SHARED, "ld.global.u32 %r2, [%d3]; st.global.u32 [%d4], %r2; ld.shared.u32 %r3, [%d5]; "
                  "st.shared.u32 [%d5+128], %r3;\n"
                  "ld.global.u32 %r4, [%d3+128]; st.global.u32 [%d4+256], %r4; ld.shared.u32 %r5, "
                  "[%d5+512];\n")},
    {"memory: addresses 36 bytes apart, one address for all",
     LOOP(SHARED, "mul.wide.u32 %d6, %r0, 36; add.u64 %d7, %d0, %d6; ld.global.u32 %r2, [%d7]; "
                  "ld.shared.u32 %r3, [s+4];\n"
                  "add.u64 %d8, %d1, %d6; st.global.u32 [%d8], %r2;\n")},
    {"branches: lanes apart, 2 at a time",
     LOOP(SHARED, "and.b32 %r2, %r0, 15; and.b32 %r3, %r1, 15; setp.ne.u32 %p2, %r2, %r3; @%p2 bra "
                  "ODD; add.u32 %r4, %r4, %r1;\n"
                  "xor.b32 %r4, %r4, %r2; bra NEXT; ODD: add.u32 %r4, %r4, 1; NEXT: add.u32 %r5, "
                  "%r5, %r4;\n")},
    {"mixed: as in a tiled product",
     LOOP(SHARED,
          "ld.shared.f32 %f1, [%d5]; ld.shared.f32 %f2, [s+64]; fma.rn.f32 %f3, %f1, %f2, %f3; "
          "ld.shared.f32 %f4, [%d5+128];\n"
          "ld.shared.f32 %f5, [s+68]; fma.rn.f32 %f3, %f4, %f5, %f3; add.u32 %r2, %r2, 4;\n")},
};

enum watcher { NOBODY, RACES, LOCKSTEP_RACES, SCOPED_RACES, SAFETY, WATCHERS };
static const char *const watchers[] = {[NOBODY] = "nobody watches",
                                       [RACES] = "race detection",
                                       [LOCKSTEP_RACES] = "races in lock-step",
                                       [SCOPED_RACES] = "races with scopes",
                                       [SAFETY] = "oracle safety"};

struct ptx_bench {
    struct machine *machine;
    struct race_detector *race; /* NULL: none */
    struct race_hb *hb;         /* NULL: none */
    struct scoped *scoped;      /* NULL: none */
    struct safety *safety;      /* NULL: none */
    uint32_t executions;
};

static uint64_t ptx_work(void *context)
{
    const struct ptx_bench *bench = context;
    struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    uint64_t steps = 0;
    for (uint32_t i = 0; i < bench->executions; i++) {
        struct scheduler scheduler;
        machine_reset(bench->machine);
        if (bench->race)
            race_begin(bench->race);
        if (bench->hb)
            race_hb_begin(bench->hb, &bench->machine->steps);
        if (bench->scoped)
            scoped_begin(bench->scoped, &bench->machine->steps);
        if (bench->safety)
            safety_start(bench->safety, bench->machine);
        sched_start(&scheduler, &spec, bench->machine, &bench_arena);
        enum status status = machine_run(bench->machine, &scheduler.choices, UINT64_MAX, NULL);
        INVARIANT(status == STATUS_TERMINATED);
        steps += bench->machine->steps;
    }
    return steps;
}

static const struct program *ptx_program(const char *text, const char *settings)
{
    struct diag diag;
    const char *reason = "it does not parse";
    diag_init(&diag, "bench", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&bench_arena, text, strlen(text), &diag);
    if (kernel && settings && !ptx_kernel_set(&bench_arena, kernel, settings, &diag))
        kernel = NULL;
    const struct ptx_module *module =
        kernel ? ptx_inject(&bench_arena, kernel->ptx->module, &reason) : NULL;
    const struct program *program =
        module ? ptx_compile(&bench_arena, kernel, module, NULL, &reason) : NULL;
    if (!program) {
        diag_print(&diag, stderr);
        fprintf(stderr, "%s\n", reason);
    }
    INVARIANT(program);
    return program;
}

static void count_lanes(void *context, const struct machine *machine,
                        const struct step_event *event)
{
    (void)machine;
    *(uint64_t *)context += (uint64_t)__builtin_popcountll(event->truth);
}

/* Lanes that execute an instruction, on the average. */
static double lanes_of(struct machine *machine)
{
    uint64_t lanes = 0;
    struct observer observer = {.context = &lanes, .step = count_lanes};
    struct ptx_bench bench = {.machine = machine, .executions = 1};
    machine_observe(machine, &observer);
    uint64_t steps = ptx_work(&bench);
    machine_observe(machine, NULL);
    return (double)lanes / (double)steps;
}

static void ptx_lines(const char *name, const struct program *program, uint32_t executions)
{
    const struct machine_options options = {.track = false};
    struct machine *machine = machine_new(&bench_arena, &semantics_crs, program, &options);
    double lanes = lanes_of(machine);
    printf("  %s: %.0f warp instructions, %.1f lanes each\n", name, (double)machine->steps, lanes);
    for (enum watcher watcher = NOBODY; watcher < WATCHERS; watcher++) {
        struct ptx_bench bench = {.machine = machine, .executions = executions};
        machine_observe(machine, NULL);
        if (watcher == RACES) {
            bench.race = race_new(&bench_arena, program);
            machine_observe(machine, &bench.race->observer);
        } else if (watcher == LOCKSTEP_RACES) {
            const struct race_hb_options hb = {.warps = true, .named = program->ptx->barriers != 0};
            const char *reason;
            bench.hb = race_hb_new(&bench_arena, program, &hb, &reason);
            machine_observe(machine, &bench.hb->observer);
        } else if (watcher == SCOPED_RACES) {
            const char *reason;
            bench.scoped = scoped_new(&bench_arena, program, false, true, &reason);
            INVARIANT(bench.scoped);
            machine_observe(machine, &bench.scoped->observer);
        } else if (watcher == SAFETY) {
            bench.safety = safety_new(&bench_arena, program, false);
            machine_observe(machine, &bench.safety->observer);
        }
        double rate = measure(ptx_work, &bench);
        line(arena_printf(&bench_arena, "  %s", watchers[watcher]), rate, "warp instructions/s", 0);
        line("", rate * lanes, "lane instructions/s", 0);
    }
}

void bench_ptx(void)
{
    printf("crs: a warp of 32 lanes in a loop\n");
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++)
        ptx_lines(loops[i].name, ptx_program(loops[i].text, NULL), 20);
    printf(
        "crs: the tiled product of corpus/ptx/matmul.ptx, 64 x 64 of 64 x 1024 and 1024 x 1024\n");
    struct diag diag;
    size_t length;
    diag_init(&diag, "matmul.ptx", "", 0);
    const char *text =
        parse_read_file(&bench_arena, SIMTFUZZ_SOURCE_DIR "/corpus/ptx/matmul.ptx", &length, &diag);
    INVARIANT(text);
    ptx_lines("a kernel by clang",
              ptx_program(text,
                          "threads=16x16 blocks=4x4 warp=32 bind:matmul_param_0=buffer:4194304 "
                          "bind:matmul_param_1=buffer:4194304 bind:matmul_param_2=buffer:4194304 "
                          "bind:matmul_param_3=1024"),
              1);
}
