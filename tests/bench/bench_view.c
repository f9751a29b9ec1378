/*
 * bench_view.c - pages of `view`: how long one takes to make, how large it is, and, where Chromium is installed, how
 * long it is until it can be used. Kernels of 1, 32 and 64 threads, from ten steps on.
 */
#include "engine/base/invariant.h"
#include "engine/input/input.h"
#include "engine/subjects/forms.h"
#include "fuzz/view/view.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char LOOP[] = "launch(threads = %u, warp = 32);\n"
                           "shared int a[64];\n"
                           "kernel big() {\n"
                           "    private int i;\n"
                           "    while (i < 40000) {\n"
                           "        if ((i + tid) %% 3 == 0)\n"
                           "            a[tid] = i;\n"
                           "        else if (tid > i)\n"
                           "            a[(tid + 1) %% 64] = 1;\n"
                           "        i = i + 1;\n"
                           "    }\n"
                           "}\n";

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Until its script had run, as the page itself measures it, in ms; -1: there is no browser that says so. */
static double ready_ms(const char *path)
{
    static const char *const browsers[] = {"chromium", "chromium-browser", "google-chrome"};
    char answer[256] = "";
    for (size_t i = 0; i < sizeof browsers / sizeof *browsers && !*answer; i++) {
        const char *command =
            arena_printf(&bench_arena,
                         "%s --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
                         "--window-size=1400,900 "
                         "--dump-dom file://%s 2>/dev/null | grep -o 'data-ready=\"[0-9]*\"'",
                         browsers[i], path);
        FILE *pipe = popen(command, "r");
        if (pipe && !fgets(answer, sizeof answer, pipe))
            *answer = '\0';
        if (pipe)
            pclose(pipe);
    }
    const char *digits = strpbrk(answer, "0123456789");
    return digits ? strtod(digits, NULL) : -1;
}

/* The page of so many steps, written to the file; its bytes. */
static size_t make_page(const char *text, uint64_t steps, const char *path)
{
    struct diag diag;
    struct arena scratch;
    struct view_side side = {.json = NULL};
    const char *why = "";
    diag_init(&diag, "bench", text, strlen(text));
    const struct ast_kernel *kernel = parse_kernel(&bench_arena, text, strlen(text), &diag);
    INVARIANT(kernel && arena_init(&scratch, (size_t)1 << 30) == 0);
    const struct program *program =
        forms_get(forms_new(&bench_arena, kernel), subject_table[SUBJECT_SIMT].program)->program;
    struct view_options options = {.subject = SUBJECT_SIMT,
                                   .schedule = {.kind = SCHED_ROUND_ROBIN, .quantum = 1},
                                   .schedule_name = "rr",
                                   .max_steps = steps,
                                   .kept = VIEW_STEPS,
                                   .bytes = VIEW_BYTES};
    INVARIANT(view_run(&bench_arena, &scratch, program, &options, &side, &why));
    struct view_page page = {
        .name = "bench", .source = text, .kernel = kernel, .sides = &side, .side_count = 1};
    FILE *out = fopen(path, "w");
    INVARIANT(out && side.kept == steps);
    view_write(&page, out);
    size_t bytes = (size_t)ftell(out);
    fclose(out);
    view_free(&side);
    arena_destroy(&scratch);
    return bytes;
}

static void page_line(uint32_t threads, uint64_t steps)
{
    char path[] = "/tmp/simtfuzz-bench-XXXXXX.html";
    size_t mark = arena_mark(&bench_arena);
    const char *text = arena_printf(&bench_arena, LOOP, (unsigned)threads);
    int file = mkstemps(path, 5);
    INVARIANT(file >= 0);
    close(file);
    double before = cpu_ms();
    size_t bytes = make_page(text, steps, path);
    double made = cpu_ms() - before, ready = ready_ms(path);
    printf("  %2u threads, %6lu steps %12.0f ms CPU %9.2f MB", (unsigned)threads,
           (unsigned long)steps, made, (double)bytes / 1e6);
    if (ready >= 0)
        printf("   ready after %.0f ms", ready);
    printf("\n");
    unlink(path);
    arena_release(&bench_arena, mark);
}

void bench_view(void)
{
    static const uint32_t threads[] = {1, 32, 64};
    printf("view: a page is made, its size, in Chromium until it can be used\n");
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        for (uint64_t steps = 10; steps <= 100000; steps *= 100)
            page_line(threads[i], steps);
}
