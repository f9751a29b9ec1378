#include "fuzz/corpus/survey.h"

#include "engine/base/invariant.h"
#include "engine/base/pcg.h"
#include "engine/input/input.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 256, TABLE_FIRST = 1 << 16 };

struct text {
    uint64_t hash;   /* 0: none */
    uint64_t number; /* the first case that has it */
    char *broken;    /* NULL, or the implication that does not hold */
};

/* Texts, open addressing. */
struct seen {
    pthread_mutex_t lock;
    struct text *table;
    uint64_t mask, count;
};

struct worker {
    pthread_t thread;
    const struct survey_options *options;
    struct seen *seen;
    atomic_uint_fast64_t *next; /* of random kernels: the number to be taken */
    uint32_t number;
    struct arena arena;
    struct survey_result *result;
};

/* ---- what was there before ---- */

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 1;
    for (; *text; text++)
        hash = pcg_splitmix(hash + (unsigned char)*text);
    return hash ? hash : 1;
}

/* Where the text is, or where it belongs. */
static struct text *text_of(struct seen *seen, uint64_t hash)
{
    uint64_t at = hash & seen->mask;
    while (seen->table[at].hash && seen->table[at].hash != hash)
        at = (at + 1) & seen->mask;
    return &seen->table[at];
}

static void grow(struct seen *seen)
{
    struct seen larger = {.mask = seen->mask * 2 + 1};
    larger.table = calloc(larger.mask + 1, sizeof *larger.table);
    INVARIANT(larger.table);
    for (uint64_t i = 0; i <= seen->mask; i++)
        if (seen->table[i].hash)
            *text_of(&larger, seen->table[i].hash) = seen->table[i];
    free(seen->table);
    seen->table = larger.table;
    seen->mask = larger.mask;
}

static uint64_t count_of(struct seen *seen)
{
    pthread_mutex_lock(&seen->lock);
    uint64_t count = seen->count;
    pthread_mutex_unlock(&seen->lock);
    return count;
}

static bool is_new(struct seen *seen, uint64_t hash, uint64_t number)
{
    pthread_mutex_lock(&seen->lock);
    if (2 * seen->count > seen->mask)
        grow(seen);
    struct text *text = text_of(seen, hash);
    bool result = text->hash == 0;
    if (result || number < text->number)
        text->number = number;
    text->hash = hash;
    seen->count += result;
    pthread_mutex_unlock(&seen->lock);
    return result;
}

static void say_broken(struct seen *seen, uint64_t hash, const char *broken)
{
    pthread_mutex_lock(&seen->lock);
    text_of(seen, hash)->broken = strdup(broken);
    pthread_mutex_unlock(&seen->lock);
}

/* The broken ones are counted, the first case among them is told. */
static void gather_broken(const struct seen *seen, struct survey_result *result)
{
    for (uint64_t i = 0; i <= seen->mask; i++) {
        const struct text *text = &seen->table[i];
        if (!text->broken)
            continue;
        if (result->broken++ == 0 || text->number < result->broken_case) {
            result->broken_case = text->number;
            strncpy(result->broken_text, text->broken, sizeof result->broken_text - 1);
        }
        free(text->broken);
    }
}

/* ---- a kernel ---- */

static uint32_t index_of(const struct matrix_row *row)
{
    for (uint32_t i = 0; i < matrix_model_count; i++)
        if (strcmp(matrix_model_names[i], row->model) == 0)
            return survey_index(row->unit, i);
    return SURVEY_MODELS;
}

/* A warp with a stack and threads have one row a kernel; so has a model of a unit. */
static void count_matrix(struct survey_result *result, const struct matrix *matrix)
{
    uint32_t ends[SURVEY_MODELS], hangs[SURVEY_MODELS], end_count = 0, hang_count = 0;
    uint64_t states = 0;
    result->kernels++;
    for (uint32_t i = 0; i < matrix->count; i++) {
        const struct matrix_row *row = &matrix->rows[i];
        enum matrix_ending ending = matrix_ending_of(row);
        uint32_t model = index_of(row);
        if (row->unit == MATRIX_THREADS && row->states > states)
            states = row->states;
        if (model == SURVEY_MODELS)
            continue;
        result->models[model].endings[ending]++;
        if (ending == ENDING_ENDS)
            ends[end_count++] = model;
        else if (ending != ENDING_UNKNOWN)
            hangs[hang_count++] = model;
    }
    for (uint32_t e = 0; e < end_count; e++)
        for (uint32_t h = 0; h < hang_count; h++)
            result->apart[ends[e]][hangs[h]]++;
    result->states += states;
    if (result->most_states < states)
        result->most_states = states;
    for (int k = 0; k < MATRIX_CLASS_COUNT; k++)
        result->classes[k] += matrix_classes(matrix) >> k & 1;
}

static void survey_kernel(struct worker *w, const struct ast_kernel *kernel, uint64_t number)
{
    uint64_t hash = hash_of(print_kernel(&w->arena, kernel));
    w->result->cases++;
    if (!is_new(w->seen, hash, number))
        return;
    struct matrix matrix = matrix_of(forms_new(&w->arena, kernel), &w->options->matrix);
    count_matrix(w->result, &matrix);
    if (matrix.broken)
        say_broken(w->seen, hash, matrix.broken);
}

/* ---- workers ---- */

static bool stops(const struct worker *w)
{
    return w->options->matrix.stop && *w->options->matrix.stop;
}

/* An enumeration has one order: every worker goes through it, and looks at its share. */
static uint64_t next_number(struct worker *w, uint64_t before, bool first)
{
    if (w->options->gen.enumerate)
        return first ? w->number : before + w->options->jobs;
    return atomic_fetch_add_explicit(w->next, 1, memory_order_relaxed);
}

static void *work(void *context)
{
    struct worker *w = context;
    const struct survey_options *o = w->options;
    struct gen_walk walk = {.started = false};
    uint64_t number = 0;
    for (bool first = true; !stops(w); first = false) {
        size_t mark = arena_mark(&w->arena);
        number = next_number(w, number, first);
        if (o->cases > 0 && number >= o->cases)
            break;
        const struct ast_kernel *kernel = gen_next_case(&w->arena, o->seed, number, &o->gen, &walk);
        if (!kernel)
            break;
        survey_kernel(w, kernel, number);
        arena_release(&w->arena, mark);
        if (w->number == 0 && o->tell)
            o->tell(o->tell_context, count_of(w->seen));
    }
    return NULL;
}

static void add(struct survey_result *to, const struct survey_result *from)
{
    to->cases += from->cases;
    to->kernels += from->kernels;
    to->states += from->states;
    for (int k = 0; k < MATRIX_CLASS_COUNT; k++)
        to->classes[k] += from->classes[k];
    if (to->most_states < from->most_states)
        to->most_states = from->most_states;
    for (uint32_t m = 0; m < SURVEY_MODELS; m++) {
        for (uint32_t e = 0; e < ENDING_COUNT; e++)
            to->models[m].endings[e] += from->models[m].endings[e];
        for (uint32_t other = 0; other < SURVEY_MODELS; other++)
            to->apart[m][other] += from->apart[m][other];
    }
}

bool survey_run(const struct survey_options *options, struct survey_result *result)
{
    struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .mask = TABLE_FIRST - 1};
    struct survey_options own = *options;
    if (own.jobs > JOBS_MAX)
        own.jobs = JOBS_MAX;
    struct worker *workers = calloc(own.jobs, sizeof *workers);
    atomic_uint_fast64_t next = 0;
    uint32_t started = 0;
    INVARIANT(MATRIX_UNITS * matrix_model_count <= SURVEY_MODELS);
    memset(result, 0, sizeof *result);
    seen.table = calloc(seen.mask + 1, sizeof *seen.table);
    for (; workers && seen.table && started < own.jobs; started++) {
        struct worker *w = &workers[started];
        *w = (struct worker){.options = &own, .seen = &seen, .next = &next, .number = started};
        w->result = calloc(1, sizeof *w->result);
        if (!w->result || arena_init(&w->arena, (size_t)1 << 30) != 0)
            break;
        if (pthread_create(&w->thread, NULL, work, w) != 0) {
            arena_destroy(&w->arena);
            break;
        }
    }
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        add(result, workers[i].result);
        arena_destroy(&workers[i].arena);
        free(workers[i].result);
    }
    if (seen.table)
        gather_broken(&seen, result);
    if (started < own.jobs && workers)
        free(workers[started].result);
    free(workers);
    free(seen.table);
    return started > 0 && started == own.jobs;
}
