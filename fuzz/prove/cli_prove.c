/*
 * cli_prove.c - `simtfuzz prove`: kernels proved free of races and barrier divergence for every input and
 * schedule, or refuted by an execution.
 */
#include "engine/language/print.h"
#include "fuzz/cli/cli.h"
#include "fuzz/out/json.h"
#include "fuzz/prove/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* ---- verdicts ---- */

enum outcome_verdict {
    VERDICT_PROVED,
    VERDICT_REFUTED,
    VERDICT_ALARM,
    VERDICT_BOUNDED,
    VERDICT_UNKNOWN
};
static const char *const prove_verdict_names[] = {"proved", "refuted", "alarm", "bounded",
                                                  "unknown"};
static const char *const goal_titles[GOAL_COUNT] = {"race-free", "no barrier divergence",
                                                    "within bounds", "asserts hold"};

struct goal_outcome {
    enum outcome_verdict verdict;
    struct proof_replay replay;
    const char *why;
};

struct proving {
    struct cli *cli;
    struct solver *solver;
    struct proof_options options;
    const char *path;
    const struct ast_kernel *kernel;
    struct proof_result result;
    struct goal_outcome goals[GOAL_COUNT];
};

/* What a model says in a sentence. */
static const char *model_text(struct arena *arena, const struct proof_model *m)
{
    const char *who = arena_printf(arena, "threads %" PRIu32 " and %" PRIu32, m->tid[0], m->tid[1]);
    if (m->bid[0] != m->bid[1])
        who = arena_printf(arena,
                           "thread %" PRIu32 " of block %" PRIu32 " and thread %" PRIu32
                           " of block %" PRIu32,
                           m->tid[0], m->bid[0], m->tid[1], m->bid[1]);
    if (m->goal == GOAL_RACE)
        return arena_printf(arena, "%s at %s[%" PRIu32 "], a %s at line %" PRIu32, who, m->var,
                            m->element, m->kind, m->at.line);
    if (m->goal == GOAL_DIVERGENCE)
        return arena_printf(arena, "%s at the barrier at line %" PRIu32, who, m->at.line);
    return arena_printf(arena, "thread %" PRIu32 " at line %" PRIu32, m->tid[0], m->at.line);
}

static const char *guesses_text(struct arena *arena, const struct proof_model *m)
{
    const char *text = "";
    for (uint32_t i = 0; i < m->guess_count; i++) {
        const char *name = m->guesses[i].name, *number = strrchr(name, '#');
        text = arena_printf(arena, "%s%s%.*s", text, i ? "; " : "",
                            (int)(number ? number - name - 1 : (ptrdiff_t)strlen(name)), name);
    }
    return text;
}

static void judge_model(struct proving *p, int goal, const struct proof_answer *answer)
{
    struct goal_outcome *outcome = &p->goals[goal];
    struct arena *arena = &p->cli->arena;
    outcome->replay = proof_replay(arena, p->kernel, answer->model, p->options.file_inputs);
    if (outcome->replay.shown) {
        outcome->verdict = VERDICT_REFUTED;
        outcome->why = outcome->replay.how;
        return;
    }
    outcome->verdict = VERDICT_ALARM;
    if (answer->model->guess_count > 0)
        outcome->why =
            arena_printf(arena, "%s; no execution shows it. It rests on values made up: %s",
                         model_text(arena, answer->model), guesses_text(arena, answer->model));
    else
        outcome->why = arena_printf(arena,
                                    "%s; no execution shows it, although no value is made "
                                    "up%s",
                                    model_text(arena, answer->model),
                                    answer->model->private_inputs ? " but the threads' own inputs"
                                                                  : ": please report this");
}

static void judge(struct proving *p, int goal)
{
    const struct proof_answer *answer = &p->result.answers[goal];
    struct goal_outcome *outcome = &p->goals[goal];
    *outcome = (struct goal_outcome){0};
    if (p->result.refused) {
        outcome->verdict = VERDICT_UNKNOWN;
        outcome->why = p->result.refused;
    } else if (answer->verdict == PROOF_MODEL) {
        judge_model(p, goal, answer);
    } else if (answer->verdict == PROOF_PROVED) {
        outcome->verdict = VERDICT_PROVED;
        outcome->why = answer->method;
    } else if (answer->verdict == PROOF_BOUNDED) {
        outcome->verdict = VERDICT_BOUNDED;
        outcome->why =
            arena_printf(&p->cli->arena, "nothing is wrong within %" PRIu32 " trips of each loop",
                         p->result.unroll);
    } else {
        outcome->verdict = VERDICT_UNKNOWN;
        outcome->why = answer->reason;
    }
}

/* ---- text ---- */

static void print_invariants(const struct proving *p)
{
    for (uint32_t i = 0; i < p->result.loop_count; i++) {
        const struct proof_loop *loop = &p->result.loops[i];
        printf("    loop at line %" PRIu32 ": %" PRIu32 " of %" PRIu32 " candidates hold\n",
               loop->at.line, loop->kept_count, loop->candidate_count);
        for (uint32_t n = 0; n < loop->kept_count; n++)
            printf("        %s\n", loop->kept[n]);
    }
}

/* The worst verdict of races and divergence stands in front: bounds and asserts have lines of their own. */
static enum outcome_verdict headline(const struct proving *p)
{
    enum outcome_verdict race = p->goals[GOAL_RACE].verdict,
                         divergence = p->goals[GOAL_DIVERGENCE].verdict;
    if (race == VERDICT_REFUTED || divergence == VERDICT_REFUTED)
        return VERDICT_REFUTED;
    return race > divergence ? race : divergence;
}

static void print_text(const struct proving *p)
{
    printf("%-9s %s\n", prove_verdict_names[headline(p)], p->path);
    for (int goal = 0; goal < GOAL_COUNT; goal++)
        printf("    %s: %s (%s)\n", goal_titles[goal], prove_verdict_names[p->goals[goal].verdict],
               p->goals[goal].why ? p->goals[goal].why : "no reason");
    if (p->result.unreachable > 0)
        printf("    note: %" PRIu32 " barrier%s no pair of threads reaches\n",
               p->result.unreachable,
               p->result.unreachable == 1 ? " is one that" : "s are such that");
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
    json_key_string(json, "verdict", prove_verdict_names[p->goals[goal].verdict]);
    json_key_string(json, "why", p->goals[goal].why);
    json_model(json, p->result.answers[goal].model);
    json_object_end(json);
}

static void json_loops(struct json *json, const struct proving *p)
{
    json_key_array_begin(json, "loops");
    for (uint32_t i = 0; i < p->result.loop_count; i++) {
        const struct proof_loop *loop = &p->result.loops[i];
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

static void print_json(const struct proving *p)
{
    struct solver_counts counts = solver_counts(p->solver);
    struct json json;
    json_start(&json, stdout);
    json_object_begin(&json);
    cli_json_kernel(&json, p->path, p->kernel);
    json_key_string(&json, "verdict", prove_verdict_names[headline(p)]);
    for (int goal = 0; goal < GOAL_COUNT; goal++)
        json_goal(&json, p, goal);
    json_loops(&json, p);
    json_key_u64(&json, "unreachable_barriers", p->result.unreachable);
    json_key_u64(&json, "rounds", p->result.rounds);
    json_key_u64(&json, "terms", p->result.terms);
    json_key_u64(&json, "queries", counts.queries);
    json_object_end(&json);
    json_end_line(&json);
}

/* ---- files ---- */

static int prove_file(struct proving *p, const char *path)
{
    p->path = path;
    p->kernel = cli_read_launched(p->cli, path);
    if (!p->kernel)
        return CLI_USAGE;
    struct forms *forms = forms_new(&p->cli->arena, p->kernel);
    prove_kernel(&p->cli->arena, forms, &p->options, p->solver, &p->result);
    for (int goal = 0; goal < GOAL_COUNT; goal++)
        judge(p, goal);
    if (p->cli->options.json)
        print_json(p);
    else
        print_text(p);
    fflush(stdout);
    return headline(p) == VERDICT_PROVED ? CLI_OK : CLI_DIVERGENCE;
}

static bool make_folder(struct cli *cli, const char *folder)
{
    if (!folder || mkdir(folder, 0777) == 0 || errno == EEXIST)
        return true;
    cli_message(cli, "%s: %s", folder, strerror(errno));
    return false;
}

int command_prove(struct cli *cli)
{
    const struct cli_prove_options *o = &cli->options.prove;
    struct solver_options options = {.command = o->solver ? o->solver : SOLVER_COMMAND,
                                     .budget = o->budget ? o->budget : SOLVER_BUDGET,
                                     .seconds = SOLVER_SECONDS,
                                     .dump = o->dump};
    struct proving p = {.cli = cli, .options = PROOF_DEFAULTS};
    struct cli_files files;
    int status = CLI_OK;
    p.options.file_inputs = o->file_inputs;
    p.options.memory = o->adversary ? PROOF_ADVERSARY : PROOF_BARRIER;
    p.options.unroll = o->unroll_given ? o->unroll : PROOF_DEFAULTS.unroll;
    if (!make_folder(cli, o->dump) ||
        !cli_find_files(cli, cli->arguments, cli->argument_count, &files))
        return CLI_USAGE;
    p.solver = solver_new(&cli->arena, &options);
    size_t mark = arena_mark(&cli->arena);
    for (uint32_t i = 0; i < files.count; i++) {
        int one = prove_file(&p, files.paths[i]);
        status = one > status ? one : status;
        arena_release(&cli->arena, mark);
    }
    if (solver_counts(p.solver).failed > 0) {
        cli_message(cli, "%s", solver_reason(p.solver));
        status = CLI_FAULT;
    }
    solver_end(p.solver);
    return status;
}
