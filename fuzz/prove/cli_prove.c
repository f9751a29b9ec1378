/*
 * cli_prove.c - `simtfuzz prove`: kernels proved free of races and barrier divergence for every input and
 * schedule, or refuted by an execution. Files, or, to try the prover itself, generated kernels.
 */
#include "engine/input/annotate.h"
#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "engine/language/parse.h"
#include "engine/language/print.h"
#include "fuzz/case/case.h"
#include "fuzz/cli/cli.h"
#include "fuzz/out/json.h"
#include "fuzz/prove/claims.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct proving {
    struct cli *cli;
    struct proof_options options;
    struct solver_options solver;
    const char *path;
    const struct ast_kernel *kernel;
    struct prove_outcome outcome;
    /* of all kernels */
    uint32_t kernels, verdicts[SAYS_COUNT];
    uint32_t no_budget; /* the solver knows no resource limit */
    double *seconds;    /* of the CPU, a kernel each; NULL: not wanted */
};

/* ---- text ---- */

static void print_invariants(const struct proving *p)
{
    for (uint32_t i = 0; i < p->outcome.result.loop_count; i++) {
        const struct proof_loop *loop = &p->outcome.result.loops[i];
        printf("    loop at line %" PRIu32 ": %" PRIu32 " of %" PRIu32 " candidates hold\n",
               loop->at.line, loop->kept_count, loop->candidate_count);
        for (uint32_t n = 0; n < loop->kept_count; n++)
            printf("        %s\n", loop->kept[n]);
    }
}

/* What is taken as given: requirements, and, if it is wanted so, invariants. */
static bool is_given(const struct proving *p, const struct ast_stm *stm)
{
    return stm->kind == STM_ASSUME || p->options.assume_invariants;
}

static void print_given(void *context, const struct ast_stm *stm)
{
    const struct proving *p = context;
    if (is_given(p, stm))
        printf("    under: %s\n", print_stm_head(&p->cli->arena, stm));
}

static void print_text(struct proving *p)
{
    printf("%-9s %s\n", prove_verdict_names[prove_headline(&p->outcome)], p->path);
    for (int goal = 0; goal < GOAL_COUNT; goal++)
        printf("    %s: %s (%s)\n", prove_goal_titles[goal],
               prove_verdict_names[p->outcome.goals[goal].verdict], p->outcome.goals[goal].why);
    annotate_visit(p->kernel, print_given, p);
    if (p->outcome.result.unreachable > 0)
        printf("    note: %" PRIu32 " place%s no pair of threads reaches\n",
               p->outcome.result.unreachable,
               p->outcome.result.unreachable == 1 ? " is one that" : "s are such that");
    if (p->cli->options.prove.invariants)
        print_invariants(p);
}

/* ---- JSON ---- */

static void json_inputs(struct json *json, const struct proof_model *model)
{
    json_key_object_begin(json, "inputs");
    for (uint32_t i = 0; i < model->input_count; i++) {
        json_key_array_begin(json, model->inputs[i].var->name);
        for (uint32_t n = 0; n < model->inputs[i].var->length; n++)
            json_int(json, model->inputs[i].values[n]);
        json_array_end(json);
    }
    json_object_end(json);
}

static void json_model(struct json *json, const struct proof_model *model)
{
    json_key(json, "model");
    if (!model) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    json_key_u64(json, "line", model->at.line);
    json_key_string(json, "variable", model->var);
    json_key_u64(json, "element", model->element);
    json_key_array_begin(json, "threads");
    for (int k = 0; k < 2; k++)
        json_u64(json, model->tid[k]);
    json_array_end(json);
    json_key_array_begin(json, "blocks");
    for (int k = 0; k < 2; k++)
        json_u64(json, model->bid[k]);
    json_array_end(json);
    json_inputs(json, model);
    json_key_array_begin(json, "made_up");
    for (uint32_t i = 0; i < model->guess_count; i++)
        json_string(json, model->guesses[i].name);
    json_array_end(json);
    json_object_end(json);
}

static void json_goal(struct json *json, const struct proving *p, int goal)
{
    json_key_object_begin(json, proof_goal_names[goal]);
    json_key_string(json, "verdict", prove_verdict_names[p->outcome.goals[goal].verdict]);
    json_key_string(json, "why", p->outcome.goals[goal].why);
    json_model(json, p->outcome.result.answers[goal].model);
    json_object_end(json);
}

static void json_loops(struct json *json, const struct proving *p)
{
    json_key_array_begin(json, "loops");
    for (uint32_t i = 0; i < p->outcome.result.loop_count; i++) {
        const struct proof_loop *loop = &p->outcome.result.loops[i];
        json_object_begin(json);
        json_key_u64(json, "line", loop->at.line);
        json_key_u64(json, "candidates", loop->candidate_count);
        json_key_array_begin(json, "kept");
        for (uint32_t n = 0; n < loop->kept_count; n++)
            json_string(json, loop->kept[n]);
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
}

struct telling {
    struct json *json;
    const struct proving *p;
};

static void json_given(void *context, const struct ast_stm *stm)
{
    const struct telling *t = context;
    if (is_given(t->p, stm))
        json_string(t->json, print_stm_head(&t->p->cli->arena, stm));
}

static void print_json(struct proving *p, const struct solver_counts *counts)
{
    struct json json;
    json_line_begin(&json, stdout);
    cli_json_kernel(&json, p->path, p->kernel);
    json_key_string(&json, "verdict", prove_verdict_names[prove_headline(&p->outcome)]);
    for (int goal = 0; goal < GOAL_COUNT; goal++)
        json_goal(&json, p, goal);
    json_loops(&json, p);
    json_key_array_begin(&json, "under");
    annotate_visit(p->kernel, json_given, &(struct telling){.json = &json, .p = p});
    json_array_end(&json);
    json_key_u64(&json, "unreachable_barriers", p->outcome.result.unreachable);
    json_key_u64(&json, "rounds", p->outcome.result.rounds);
    json_key_u64(&json, "terms", p->outcome.result.terms);
    json_key_u64(&json, "queries", counts->queries);
    json_key_u64(&json, "confirmed", counts->confirmed);
    json_line_end(&json);
}

/* ---- one kernel ---- */

static double cpu_seconds(void)
{
    static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        struct rusage used;
        if (getrusage(whose[i], &used) != 0)
            continue;
        sum += (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
               (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    }
    return sum;
}

static bool write_file(struct proving *p, const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(bytes, 1, count, file) == count;
    if (file)
        written = fclose(file) == 0 && written;
    if (!written)
        cli_message(p->cli, "%s: %s", path, strerror(errno));
    return written;
}

/* The buffers of a kernel given as PTX are files beside it, which its settings name. */
static const struct ast_kernel *with_buffers(struct proving *p, const char *stem)
{
    struct arena *arena = &p->cli->arena;
    const struct ptx_kernel *shown = p->outcome.shown->ptx;
    struct ast_kernel *kernel = ast_kernel_copy(arena, p->kernel);
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const char *settings = "";
    for (uint32_t i = 0; i < shown->argument_count; i++) {
        const struct ptx_bind *bind = &shown->arguments[i].bind;
        const char *path = arena_printf(arena, "%s.%" PRIu32 ".bin", stem, i);
        if (bind->fill != PTX_FILL_FILE || !shown->arguments[i].buffer)
            continue;
        if (!write_file(p, path, bind->data, bind->data_bytes))
            return NULL;
        settings = arena_printf(arena, "%s bind:%" PRIu32 "=buffer:%" PRIu32 ":file:%s", settings,
                                i, bind->bytes, path);
    }
    kernel->expects = NULL;
    diag_init(diag, "buffers", settings, strlen(settings));
    if (ptx_kernel_set(arena, kernel, settings, diag))
        return kernel;
    diag_print(diag, stderr);
    return NULL;
}

/* The kernel that an execution shows to be wrong, for `check`. */
static void dump_shown(struct proving *p)
{
    struct arena *arena = &p->cli->arena;
    const struct ast_kernel *shown = p->outcome.shown;
    if (!p->solver.dump || !shown)
        return;
    const char *stem = arena_printf(arena, "%s/refuted-%" PRIu32, p->solver.dump, p->kernels);
    const char *path = arena_printf(arena, "%s.%s", stem, shown->ptx ? "ptx" : "simt");
    const struct ast_kernel *kernel = shown->ptx ? with_buffers(p, stem) : shown;
    const char *text = kernel ? print_kernel(arena, kernel) : NULL;
    if (text && write_file(p, path, text, strlen(text)) && !p->cli->options.json)
        printf("    shown by: simtfuzz check %s\n", path);
}

static int prove_one(struct proving *p, const char *path, const struct ast_kernel *kernel)
{
    struct solver *solver = solver_new(&p->cli->arena, &p->solver);
    double before = cpu_seconds();
    p->path = path;
    p->kernel = kernel;
    prove_judge(&p->cli->arena, kernel, &p->options, solver, p->cli->options.prove.runs,
                &p->outcome);
    solver_end(solver);
    struct solver_counts counts = solver_counts(solver);
    if (p->cli->options.json)
        print_json(p, &counts);
    else
        print_text(p);
    if (p->seconds)
        p->seconds[p->kernels] = cpu_seconds() - before;
    dump_shown(p);
    fflush(stdout);
    p->kernels++;
    p->no_budget += counts.no_budget;
    enum outcome_verdict verdict = prove_headline(&p->outcome);
    p->verdicts[verdict]++;
    if (counts.failed > 0)
        cli_message(p->cli, "%s", solver_reason(solver));
    if (counts.failed > 0 || verdict == SAYS_WRONG)
        return CLI_FAULT;
    struct prove_claims claims =
        prove_claims_judge(&p->cli->arena, kernel, &p->outcome, p->options.threads_to > 0);
    if (claims.why)
        cli_message(p->cli, "%s: %s", path, claims.why);
    bool well = claims.count > 0 ? !claims.why : verdict == SAYS_PROVED;
    return well ? CLI_OK : CLI_DIVERGENCE;
}

/* ---- all of them ---- */

static struct proof_options proof_options_of(const struct cli_prove_options *o)
{
    struct proof_options options = PROOF_DEFAULTS;
    options.file_inputs = o->file_inputs;
    options.threads_from = o->threads_from;
    options.threads_to = o->threads_to;
    options.assume_invariants = o->annotations;
    options.memory = o->adversary ? PROOF_ADVERSARY : PROOF_BARRIER;
    options.unroll = o->unroll_given ? o->unroll : PROOF_DEFAULTS.unroll;
    return options;
}

/* In one dimension. */
static bool set_threads(struct cli *cli, const char *path, struct ast_kernel *kernel)
{
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    const char *setting =
        arena_printf(&cli->arena, "threads=%" PRIu32, cli->options.prove.threads_from);
    diag_init(diag, path, setting, strlen(setting));
    if (ptx_kernel_set(&cli->arena, kernel, setting, diag))
        return true;
    diag_print(diag, stderr);
    return false;
}

/* The launch of --threads, the assumption of --assume. */
static bool prepare(struct proving *p, const char *path, struct ast_kernel *kernel)
{
    struct cli *cli = p->cli;
    const struct cli_prove_options *o = &cli->options.prove;
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    uint32_t most = LIMIT_TOTAL_THREADS / kernel->launch.blocks;
    p->options = proof_options_of(o);
    if (o->threads_to > 0 && kernel->form == FORM_PTX && o->threads_from < o->threads_to) {
        cli_message(cli, "%s: of a kernel given as PTX only one number of threads is proved", path);
        return false;
    }
    if (o->threads_to > 0 && kernel->form == FORM_PTX && !set_threads(cli, path, kernel))
        return false;
    if (o->threads_to > 0 && kernel->form != FORM_PTX) {
        kernel->launch.threads = o->threads_from;
        p->options.threads_to = o->threads_to < most ? o->threads_to : most;
        diag_init(diag, path, NULL, 0);
        if (!ast_check(kernel, diag)) {
            diag_print(diag, stderr);
            return false;
        }
    }
    if (o->threads_from == o->threads_to)
        p->options.threads_from = p->options.threads_to = 0;
    if (!o->assume)
        return true;
    diag_init(diag, "--assume", o->assume, strlen(o->assume));
    if (kernel->form == FORM_PTX)
        cli_message(cli, "%s: --assume is of the kernel language, not of PTX", path);
    else if (language_assume(&cli->arena, kernel, o->assume, diag))
        return true;
    diag_print(diag, stderr);
    return false;
}

static int prove_files(struct proving *p, const struct cli_files *files)
{
    struct cli *cli = p->cli;
    size_t mark = arena_mark(&cli->arena);
    int status = CLI_OK;
    for (uint32_t i = 0; i < files->count; i++) {
        struct ast_kernel *kernel = cli_read_launched(cli, files->paths[i]);
        bool ready = kernel && prepare(p, files->paths[i], kernel);
        int one = ready ? prove_one(p, files->paths[i], kernel) : CLI_USAGE;
        status = one > status ? one : status;
        arena_release(&cli->arena, mark);
    }
    return status;
}

/* As it is printed: a place in it has a line, which is that of `gen` but for the comment in front. */
static struct ast_kernel *read_back(struct arena *arena, const struct ast_kernel *kernel)
{
    const char *text = print_kernel(arena, kernel);
    struct ast_kernel *read = NULL;
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, "generated", text, strlen(text));
    if (kernel->form != FORM_PTX)
        read = parse_kernel(arena, text, strlen(text), diag);
    return read ? read : ast_kernel_copy(arena, kernel);
}

/* The kernels that `gen` prints for the same options. */
static int prove_generated(struct proving *p)
{
    struct cli *cli = p->cli;
    const struct cli_options *o = &cli->options;
    struct gen_options gen = GEN_DEFAULTS;
    struct gen_walk walk = {.started = false};
    int status = CLI_OK;
    gen.features = o->features;
    gen.small = gen.enumerate = o->enumerate;
    size_t mark = arena_mark(&cli->arena);
    for (uint64_t i = 0; i < o->count; i++) {
        uint64_t number = o->first_case + i;
        struct fuzz_case c;
        case_of_campaign(&c, o->seed, number, &gen, &CHECK_DEFAULTS);
        const struct ast_kernel *kernel = case_kernel(&cli->arena, &c, &walk);
        if (!kernel)
            break;
        const char *name = arena_printf(&cli->arena, "case %" PRIu64, number);
        struct ast_kernel *read = read_back(&cli->arena, kernel);
        int one = prepare(p, name, read) ? prove_one(p, name, read) : CLI_USAGE;
        status = one > status ? one : status;
        arena_release(&cli->arena, mark);
    }
    return status;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* On standard error, since no two runs take the same time. */
static void print_seconds(const struct proving *p)
{
    if (!p->seconds || p->kernels == 0)
        return;
    qsort(p->seconds, p->kernels, sizeof *p->seconds, by_size);
    cli_message(p->cli, "CPU seconds a kernel: median %.2f, 90th percentile %.2f, at most %.2f",
                p->seconds[p->kernels / 2], p->seconds[p->kernels * 9ull / 10],
                p->seconds[p->kernels - 1]);
}

static void print_sums(const struct proving *p)
{
    if (p->kernels > 1 && !p->cli->options.json) {
        printf("%" PRIu32 " kernels:", p->kernels);
        for (int i = 0; i < SAYS_COUNT; i++)
            if (p->verdicts[i] > 0)
                printf(" %" PRIu32 " %s", p->verdicts[i], prove_verdict_names[i]);
        printf("\n");
    }
    if (p->no_budget > 0)
        cli_message(p->cli, "the solver knows no 'rlimit': only its time is limited, so "
                            "verdicts may differ from run to run");
    print_seconds(p);
}

/* ---- options ---- */

static bool make_folder(struct cli *cli, const char *folder)
{
    struct stat is;
    if (!folder || mkdir(folder, 0777) == 0)
        return true;
    if (errno == EEXIST && stat(folder, &is) == 0) {
        if (S_ISDIR(is.st_mode))
            return true;
        errno = ENOTDIR;
    }
    cli_message(cli, "%s: %s", folder, strerror(errno));
    return false;
}

int command_prove(struct cli *cli)
{
    const struct cli_prove_options *o = &cli->options.prove;
    struct proving p = {.cli = cli, .options = proof_options_of(o)};
    struct cli_files files = {0};
    bool generated = cli->argument_count == 0;
    p.solver = (struct solver_options){.command = o->solver ? o->solver : SOLVER_COMMAND,
                                       .budget = o->budget ? o->budget : SOLVER_BUDGET,
                                       .seconds = o->seconds ? o->seconds : SOLVER_SECONDS,
                                       .dump = o->dump,
                                       .second = o->second};
    if (generated && !cli->options.seed_given) {
        cli_misuse(cli, "missing FILE..., or --seed S for generated kernels");
        return CLI_USAGE;
    }
    if (!make_folder(cli, o->dump) ||
        (!generated && !cli_find_files(cli, cli->arguments, cli->argument_count, &files)))
        return CLI_USAGE;
    uint64_t count = generated ? cli->options.count : files.count;
    if (count > 1)
        p.seconds = calloc(count, sizeof *p.seconds);
    int status = generated ? prove_generated(&p) : prove_files(&p, &files);
    print_sums(&p);
    free(p.seconds);
    return status;
}
