#include "fuzz/outside/steps.h"

#include "engine/forms/lower.h"
#include "engine/input/input.h"
#include "engine/schedule/sched.h"

#include <stdio.h>
#include <string.h>

enum { STEPS_MAX = 1 << 22, BUDGET_STEPS = 1 << 22 };

struct step {
    uint32_t thread, word;
    int32_t value;
    char kind; /* 'r'ead, 'w'rite, 'a'tomic, 'b'arrier */
};

struct steps {
    struct step *list;
    uint32_t count;
    uint32_t threads, block_threads, words; /* of what can be seen */
};

static const char *step_text(struct arena *arena, const struct step *step)
{
    static const char *const verbs[] = {['r'] = "reads", ['w'] = "writes", ['a'] = "has an atomic"};
    if (step->kind == 'a')
        return arena_printf(arena, "thread %u has an atomic on word %u", (unsigned)step->thread,
                            (unsigned)step->word);
    return arena_printf(arena, "thread %u %s %d %s word %u", (unsigned)step->thread,
                        verbs[(unsigned char)step->kind], (int)step->value,
                        step->kind == 'r' ? "from" : "to", (unsigned)step->word);
}

/* ---- reading ---- */

static uint32_t line_count(const char *text)
{
    uint32_t count = 1;
    for (; *text && count < STEPS_MAX; text++)
        count += *text == '\n';
    return count;
}

/* "THREAD b" or "THREAD r|w|a WORD VALUE"; false: it is neither. */
static bool read_step(const char *line, const struct steps *steps, struct step *step)
{
    int32_t value = 0;
    uint32_t word = 0;
    char kind[3] = "";
    int given = sscanf(line, "%u %2s %u %d", &step->thread, kind, &word, &value);
    step->kind = kind[0];
    step->word = word;
    step->value = value;
    if (given < 2 || kind[1] || step->thread >= steps->threads)
        return false;
    return step->kind == 'b' ? given == 2
                             : given == 4 && strchr("rwa", step->kind) && word < steps->words;
}

/* NULL: all were read; otherwise the line that is none. */
static const char *read_steps(struct arena *arena, const char *text, struct steps *steps)
{
    steps->list = ARENA_ARRAY(arena, struct step, line_count(text));
    while (*text) {
        size_t length = strcspn(text, "\n");
        const char *line = arena_strndup(arena, text, length);
        if (steps->count == STEPS_MAX || !read_step(line, steps, &steps->list[steps->count]))
            return line;
        steps->count++;
        text += length;
        text += *text == '\n';
    }
    return NULL;
}

/* ---- memory ---- */

static const char *judge_memory(struct arena *arena, const struct steps *steps,
                                const struct outside_result *result, const char **detail)
{
    int32_t *memory = ARENA_ARRAY(arena, int32_t, steps->words + 1u);
    memcpy(memory, result->kernel->initial, steps->words * sizeof *memory);
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->list[i];
        if (step->kind == 'w' || step->kind == 'a')
            memory[step->word] = step->value;
        if (step->kind != 'r' || memory[step->word] == step->value)
            continue;
        *detail = arena_printf(arena, "step %u: %s, where %d is", (unsigned)i + 1,
                               step_text(arena, step), (int)memory[step->word]);
        return "steps: a read gives what is not there";
    }
    for (uint32_t w = 0; w < steps->words; w++)
        if (memory[w] != result->finals[0][w]) {
            *detail = arena_printf(arena, "word %u holds %d at the end, the steps left %d",
                                   (unsigned)w, (int)result->finals[0][w], (int)memory[w]);
            return "steps: they do not lead to the memory at the end";
        }
    return NULL;
}

/* ---- races ---- */

/* An access, among those of its word; those of one thread, kind and interval count once. */
struct cell {
    const struct step *step;
    uint32_t interval; /* barriers that its thread has passed */
    uint32_t next;     /* cell + 1 */
};

/* `a` came first: in a block a barrier lies between only if its thread had passed fewer. */
static bool conflicts(const struct steps *steps, const struct cell *a, const struct cell *b)
{
    uint32_t block = a->step->thread / steps->block_threads;
    if (a->step->thread == b->step->thread || (a->step->kind == 'r' && b->step->kind == 'r') ||
        (a->step->kind == 'a' && b->step->kind == 'a'))
        return false;
    return block != b->step->thread / steps->block_threads || a->interval >= b->interval;
}

static bool is_like(const struct cell *a, const struct cell *b)
{
    return a->step->thread == b->step->thread && a->step->kind == b->step->kind &&
           a->interval == b->interval;
}

static const char *judge_races(struct arena *arena, const struct steps *steps, const char **detail)
{
    uint32_t *passed = ARENA_ARRAY(arena, uint32_t, steps->threads);
    uint32_t *heads = ARENA_ARRAY(arena, uint32_t, steps->words + 1u);
    struct cell *cells = ARENA_ARRAY(arena, struct cell, steps->count + 1u);
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->list[i];
        if (step->kind == 'b') {
            passed[step->thread]++;
            continue;
        }
        struct cell *cell = &cells[i];
        bool seen = false;
        *cell = (struct cell){step, passed[step->thread], heads[step->word]};
        for (uint32_t at = cell->next; at && !seen; at = cells[at - 1].next) {
            seen = is_like(&cells[at - 1], cell);
            if (!conflicts(steps, &cells[at - 1], cell))
                continue;
            *detail = arena_printf(arena, "step %u: %s; %s; no barrier between", (unsigned)i + 1,
                                   step_text(arena, cells[at - 1].step), step_text(arena, step));
            return "steps: race";
        }
        if (!seen)
            heads[step->word] = i + 1;
    }
    return NULL;
}

/* ---- effects ---- */

struct recorder {
    struct observer observer;
    struct steps *steps;
    uint32_t most;
};

/* More than `most` are not needed: it is more than the other side has, which shows where one is missing. */
static void record(struct recorder *r, uint32_t thread, uint32_t word, int32_t value, char kind)
{
    if (r->steps->count < r->most)
        r->steps->list[r->steps->count++] = (struct step){thread, word, value, kind};
}

static void see_write(void *context, uint32_t thread, uint32_t word, int32_t value, uint32_t stm)
{
    (void)stm;
    record(context, thread, word, value, 'w');
}

static void see_atomic(void *context, uint32_t thread, uint32_t word, int32_t value, uint32_t stm)
{
    (void)stm;
    record(context, thread, word, value, 'a');
}

/* Those of one execution by `threads`, in the order of each thread, at most so many. False: it does not run. */
static bool own_effects(struct arena *arena, const struct outside_expected *expected, uint32_t most,
                        struct steps *steps)
{
    const char *reason;
    const struct machine_options options = {.then_first = false};
    const struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    const struct program *program = program_compile(
        arena, lower_core(arena, ast_kernel_copy(arena, expected->kernel)), &reason);
    if (!program)
        return false;
    struct recorder recorder = {.steps = steps, .most = most};
    struct scheduler scheduler;
    struct machine *machine = machine_new(arena, &semantics_threads, program, &options);
    recorder.observer =
        (struct observer){.context = &recorder, .write = see_write, .atomic = see_atomic};
    steps->list = ARENA_ARRAY(arena, struct step, most);
    machine_observe(machine, &recorder.observer);
    sched_start(&scheduler, &spec, machine, arena);
    return machine_run(machine, &scheduler.choices, BUDGET_STEPS, NULL) == STATUS_TERMINATED;
}

/* The next effect of a thread from `*at` on, which is left behind it; NULL: there is none. */
static const struct step *next_effect(const struct steps *steps, uint32_t thread, uint32_t *at)
{
    while (*at < steps->count) {
        const struct step *step = &steps->list[(*at)++];
        if (step->thread == thread && (step->kind == 'w' || step->kind == 'a'))
            return step;
    }
    return NULL;
}

static bool is_same_effect(const struct step *a, const struct step *b)
{
    return a->kind == b->kind && a->word == b->word && (a->kind == 'a' || a->value == b->value);
}

static const char *judge_effects(struct arena *arena, const struct steps *steps,
                                 const struct steps *own, const char **detail)
{
    for (uint32_t thread = 0; thread < steps->threads; thread++) {
        uint32_t theirs_at = 0, ours_at = 0, count = 0;
        const struct step *theirs, *ours;
        do {
            theirs = next_effect(steps, thread, &theirs_at);
            ours = next_effect(own, thread, &ours_at);
            count++;
        } while (theirs && ours && is_same_effect(theirs, ours));
        if (!theirs && !ours)
            continue;
        *detail =
            arena_printf(arena, "effect %u of thread %u: it must be: %s; it was: %s",
                         (unsigned)count, (unsigned)thread, ours ? step_text(arena, ours) : "none",
                         theirs ? step_text(arena, theirs) : "none");
        return "steps: a thread has another effect";
    }
    return NULL;
}

/* Memory first: the others say little of steps that are not what happened. */
const char *steps_judge(struct arena *arena, const struct outside_expected *expected,
                        const struct outside_result *result, const char **detail)
{
    const struct emitted *kernel = result->kernel;
    struct steps steps = {.threads = kernel->threads * kernel->blocks,
                          .block_threads = kernel->threads,
                          .words = expected->words};
    struct steps own = steps;
    *detail = read_steps(arena, result->steps, &steps);
    if (*detail)
        return "steps: a line is none";
    const char *cause = judge_memory(arena, &steps, result, detail);
    if (!cause)
        cause = judge_races(arena, &steps, detail);
    if (!cause && own_effects(arena, expected, steps.count + 1, &own))
        cause = judge_effects(arena, &steps, &own, detail);
    return cause;
}
