#include "fuzz/litmus/litmus_page.h"

#include "engine/axiom/axiom.h"
#include "engine/litmus/litmus_path.h"
#include "fuzz/litmus/litmus_graph.h"
#include "fuzz/out/json.h"
#include "fuzz/view/view.h"

#include <stdlib.h>
#include <string.h>

/* What a model has said of the test. */
struct answer {
    struct litmus_result result;
    struct litmus_paths paths; /* of one that is run in steps */
};

enum { ASKED_SHOWN = 8 };

struct writer {
    struct arena *arena;
    const struct litmus_test *test;
    struct answer answers[LITMUS_MODELS];
    struct litmus_result asked; /* outcomes that the condition is about, and no model has */
    struct json json;
};

/* ---- the program ---- */

static void put_code(struct writer *w, const struct litmus_test *test)
{
    json_key_array_begin(&w->json, "code");
    for (uint32_t t = 0; t < test->count; t++) {
        json_array_begin(&w->json);
        for (uint32_t i = 0; i < test->threads[t].length; i++)
            json_string(&w->json, litmus_text(w->arena, test, t, i));
        json_array_end(&w->json);
    }
    json_array_end(&w->json);
}

static void put_threads(struct writer *w)
{
    json_key_array_begin(&w->json, "threads");
    for (uint32_t t = 0; t < w->test->count; t++) {
        const struct litmus_thread *thread = &w->test->threads[t];
        json_object_begin(&w->json);
        json_key_u64(&w->json, "sm", thread->sm);
        json_key_u64(&w->json, "cta", thread->cta);
        json_key_u64(&w->json, "gpu", thread->gpu);
        json_key_array_begin(&w->json, "registers");
        for (uint32_t r = 0; r < thread->registers; r++)
            json_string(&w->json, thread->names[r]);
        json_array_end(&w->json);
        json_object_end(&w->json);
    }
    json_array_end(&w->json);
}

static uint64_t words_of(const struct litmus_test *test)
{
    uint64_t used = 0;
    for (uint32_t t = 0; t < test->count; t++)
        for (uint32_t i = 0; i < test->threads[t].length; i++) {
            const struct litmus_instruction *in = &test->threads[t].code[i];
            for (uint32_t lane = 0; lane < in->lanes && in->op <= LITMUS_CAS; lane++)
                used |= (uint64_t)1 << in->word[lane];
        }
    for (uint32_t i = 0; i < test->observed; i++)
        if (!test->observe[i].is_register)
            used |= (uint64_t)1 << test->observe[i].number;
    return used;
}

/* Words that the test names; of those that are not shared, where they stand in an L1: the line and the place in it. */
static void put_words(struct writer *w)
{
    uint64_t used = words_of(w->test);
    json_key_array_begin(&w->json, "words");
    for (uint32_t word = 0; word < LITMUS_WORDS; word++) {
        uint32_t offset = 0;
        bool shared = word >= LITMUS_GLOBALS && word < LITMUS_GLOBALS + 4 * LITMUS_THREADS;
        if (!(used >> word & 1))
            continue;
        json_object_begin(&w->json);
        json_key_string(&w->json, "name", litmus_word_name(w->arena, w->test, word));
        json_key_u64(&w->json, "word", word);
        json_key_u64(&w->json, "first", (uint64_t)(uint16_t)w->test->init[word]);
        if (!shared) {
            json_key_u64(&w->json, "line",
                         litmus_line_of(w->test->options.words_a_line, word, &offset));
            json_key_u64(&w->json, "offset", offset);
        }
        json_object_end(&w->json);
    }
    json_array_end(&w->json);
}

static void put_observed(struct writer *w)
{
    json_key_array_begin(&w->json, "observe");
    for (uint32_t i = 0; i < w->test->observed; i++) {
        const struct litmus_observed *o = &w->test->observe[i];
        json_string(&w->json, o->is_register
                                  ? arena_printf(w->arena, "P%u:%s", o->thread,
                                                 w->test->threads[o->thread].names[o->number])
                                  : litmus_word_name(w->arena, w->test, o->number));
    }
    json_array_end(&w->json);
}

static void put_values(struct writer *w, const char *key, const int16_t *values, uint32_t count)
{
    if (key)
        json_key_array_begin(&w->json, key);
    else
        json_array_begin(&w->json);
    for (uint32_t i = 0; i < count; i++)
        json_int(&w->json, values[i]);
    json_array_end(&w->json);
}

/* ---- an execution in steps ---- */

/* Of each L1 a list of lines: null, or the values, which of them are valid, which are dirty, whether it is awaited. */
static void put_lines(struct writer *w, const struct litmus_state *s)
{
    json_key_array_begin(&w->json, "l1");
    for (uint32_t sm = 0; sm < LITMUS_THREADS; sm++) {
        json_array_begin(&w->json);
        for (uint32_t i = 0; i < LITMUS_LINES; i++) {
            const struct litmus_line *line = &s->l1[sm][i];
            if (!line->used) {
                json_null(&w->json);
                continue;
            }
            int16_t row[] = {line->vals[0], line->vals[1], line->vmask, line->dmask, line->pending};
            put_values(w, NULL, row, 5);
        }
        json_array_end(&w->json);
    }
    json_array_end(&w->json);
}

static void put_actor(struct writer *w, const struct litmus_test *test,
                      const struct litmus_state *s, uint32_t t)
{
    const struct litmus_actor *actor = &s->actors[t];
    json_object_begin(&w->json);
    json_key_u64(&w->json, "pc", actor->pc);
    json_key_u64(&w->json, "waits", actor->bar);
    put_values(w, "regs", actor->regs, test->threads[t].registers);
    json_key_array_begin(&w->json, "flight");
    for (uint32_t i = 0; i < LITMUS_SLOTS; i++) {
        const struct litmus_slot *slot = &actor->slots[i];
        int16_t row[] = {slot->pc, slot->ip, slot->lanes, slot->fill[0], slot->fill[1]};
        if (slot->used)
            put_values(w, NULL, row, 5);
        else
            json_null(&w->json);
    }
    json_array_end(&w->json);
    json_object_end(&w->json);
}

static void put_moment(struct writer *w, const struct litmus_test *test,
                       const struct litmus_moment *moment)
{
    int16_t move[] = {moment->move.kind, moment->move.who, moment->move.place};
    json_object_begin(&w->json);
    put_values(w, "move", move, 3);
    put_values(w, "words", moment->state.words, LITMUS_WORDS);
    put_lines(w, &moment->state);
    json_key_array_begin(&w->json, "threads");
    for (uint32_t t = 0; t < test->count; t++)
        put_actor(w, test, &moment->state, t);
    json_array_end(&w->json);
    json_object_end(&w->json);
}

static void put_path(struct writer *w, const struct litmus_paths *paths, const int16_t *values)
{
    for (uint32_t i = 0; i < paths->count; i++) {
        const struct litmus_path *path = &paths->of[i];
        if (memcmp(path->values, values, sizeof path->values) != 0)
            continue;
        json_key_array_begin(&w->json, "steps");
        for (uint32_t k = 0; k < path->count; k++)
            put_moment(w, paths->test, &path->moments[k]);
        json_array_end(&w->json);
    }
}

/* ---- an execution as a graph ---- */

static void put_relation(struct writer *w, const char *name, const struct relation *r,
                         uint32_t count)
{
    json_key_array_begin(&w->json, name);
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < count; b++)
            if (related(r, a, b)) {
                int16_t pair[] = {(int16_t)a, (int16_t)b};
                put_values(w, NULL, pair, 2);
            }
    json_array_end(&w->json);
}

static void put_event(struct writer *w, const struct axiom_execution *x, uint32_t i)
{
    static const char *const kinds[] = {"read", "write", "fence", "barrier"};
    const struct axiom_event *e = &x->events[i];
    json_object_begin(&w->json);
    json_key_string(&w->json, "kind", kinds[e->kind]);
    json_key_u64(&w->json, "thread", e->thread);
    json_key_u64(&w->json, "pc", e->pc);
    if (e->kind <= EVENT_WRITE) {
        json_key_string(&w->json, "word", litmus_word_name(w->arena, w->test, e->word));
        json_key(&w->json, "value");
        json_int(&w->json, e->value);
        json_key_bool(&w->json, "first", e->kind == EVENT_READ && x->from[i] == AXIOM_NONE);
    }
    json_object_end(&w->json);
}

static void put_graph(struct writer *w, const struct axiom_execution *x)
{
    struct graph_relation relations[GRAPH_RELATIONS];
    graph_relations(x, relations);
    json_key_object_begin(&w->json, "graph");
    json_key_array_begin(&w->json, "events");
    for (uint32_t i = 0; i < x->count; i++)
        put_event(w, x, i);
    json_array_end(&w->json);
    for (uint32_t i = 0; i < GRAPH_RELATIONS; i++)
        put_relation(w, relations[i].name, relations[i].of, x->count);
    json_object_end(&w->json);
}

static void put_witness(struct writer *w, enum litmus_model m, const int16_t *values)
{
    struct litmus_result again;
    struct axiom_witness *witness = ARENA_NEW(w->arena, struct axiom_witness);
    *witness = (struct axiom_witness){.wanted = values};
    if (axiom_run(w->arena, w->test, axiom_model_of(m), LITMUS_CANDIDATES_MAX, &again, witness) &&
        witness->found)
        put_graph(w, &witness->execution);
}

/* ---- why not ---- */

static bool has(const struct litmus_result *result, const int16_t *values)
{
    for (uint32_t i = 0; i < result->count; i++)
        if (memcmp(result->values[i], values, sizeof result->values[i]) == 0)
            return true;
    return false;
}

static void put_circle(struct writer *w, const struct axiom_refusal *r)
{
    json_key_string(&w->json, "axiom", r->axiom);
    json_key_string(&w->json, "says", r->says);
    json_key_array_begin(&w->json, "circle");
    for (uint32_t i = 0; i < r->length; i++) {
        json_array_begin(&w->json);
        json_string(&w->json, r->circle[i].name);
        json_u64(&w->json, r->circle[i].from);
        json_u64(&w->json, r->circle[i].to);
        json_array_end(&w->json);
    }
    json_array_end(&w->json);
    put_graph(w, &r->execution);
}

/* An outcome that others have and this model has not: how many candidates end so, and what is against the best of
 * them. */
static void put_refusal(struct writer *w, enum litmus_model m, const int16_t *values)
{
    struct litmus_result again;
    struct axiom_refusal *refusal = ARENA_NEW(w->arena, struct axiom_refusal);
    struct axiom_witness *witness = ARENA_NEW(w->arena, struct axiom_witness);
    *refusal = (struct axiom_refusal){.axiom = NULL};
    *witness = (struct axiom_witness){.wanted = values, .refusal = refusal};
    json_object_begin(&w->json);
    put_values(w, "values", values, w->test->observed);
    bool axioms = m == LITMUS_SC || m > LITMUS_COHERENT;
    if (axioms &&
        axiom_run(w->arena, w->test, axiom_model_of(m), LITMUS_CANDIDATES_MAX, &again, witness) &&
        !again.silent) {
        json_key_u64(&w->json, "candidates", refusal->candidates);
        if (refusal->axiom)
            put_circle(w, refusal);
    }
    json_object_end(&w->json);
}

/* A model's, in its place; behind them what no model has. */
static const struct litmus_result *outcomes_of(const struct writer *w, uint32_t number)
{
    return number < LITMUS_MODELS ? &w->answers[number].result : &w->asked;
}

static void put_refusals(struct writer *w, enum litmus_model m)
{
    uint32_t shown = 0;
    json_key_array_begin(&w->json, "refusals");
    for (uint32_t other = 0; other <= LITMUS_MODELS; other++)
        for (uint32_t i = 0; i < outcomes_of(w, other)->count; i++) {
            const int16_t *values = outcomes_of(w, other)->values[i];
            bool said = has(&w->answers[m].result, values);
            for (uint32_t before = 0; before < other; before++)
                said |= has(outcomes_of(w, before), values);
            if (!said && shown++ < LITMUS_SHOWN)
                put_refusal(w, m, values);
        }
    json_array_end(&w->json);
}

static bool satisfies(const struct writer *w, const int16_t *values)
{
    struct litmus_test *test = ARENA_NEW(w->arena, struct litmus_test);
    struct litmus_result one = {.count = 0};
    *test = *w->test;
    test->condition.asks = ASKS_EXISTS;
    litmus_add_outcome(w->arena, test, &one, values);
    return litmus_holds(test, &one);
}

/* What a condition asks for that no model has is a row, too: of all executions, whether a model allows them or not. */
static void ask_condition(struct writer *w)
{
    struct litmus_result again, refused = {.count = 0};
    struct axiom_witness *witness = ARENA_NEW(w->arena, struct axiom_witness);
    *witness = (struct axiom_witness){.refused = &refused};
    w->asked = (struct litmus_result){.count = 0};
    if (w->test->condition.asks == ASKS_NOTHING ||
        !axiom_run(w->arena, w->test, AXIOM_SC, LITMUS_CANDIDATES_MAX, &again, witness))
        return;
    for (uint32_t i = 0; i < refused.count; i++) {
        bool said = !satisfies(w, refused.values[i]);
        for (uint32_t m = 0; m < LITMUS_MODELS; m++)
            said |= has(&w->answers[m].result, refused.values[i]);
        if (!said && w->asked.count < ASKED_SHOWN)
            litmus_add_outcome(w->arena, w->test, &w->asked, refused.values[i]);
    }
}

/* ---- the models ---- */

static bool ask_model(struct writer *w, enum litmus_model m)
{
    struct answer *a = &w->answers[m];
    a->paths = (struct litmus_paths){.most = LITMUS_SHOWN};
    if (m <= LITMUS_COHERENT)
        return litmus_run_paths(w->arena, w->test, m, LITMUS_STATES_MAX, &a->result, &a->paths);
    return axiom_run(w->arena, w->test, axiom_model_of(m), LITMUS_CANDIDATES_MAX, &a->result, NULL);
}

static void put_outcomes(struct writer *w, enum litmus_model m, const struct litmus_result *result,
                         const struct litmus_paths *paths)
{
    json_key_array_begin(&w->json, "outcomes");
    for (uint32_t i = 0; i < result->count; i++) {
        json_object_begin(&w->json);
        put_values(w, "values", result->values[i], w->test->observed);
        if (m <= LITMUS_COHERENT)
            put_path(w, paths, result->values[i]);
        else if (i < LITMUS_SHOWN)
            put_witness(w, m, result->values[i]);
        json_object_end(&w->json);
    }
    json_array_end(&w->json);
}

static void put_model(struct writer *w, enum litmus_model m)
{
    const struct litmus_result *result = &w->answers[m].result;
    const struct litmus_paths *paths = &w->answers[m].paths;
    bool steps = m <= LITMUS_COHERENT;
    json_object_begin(&w->json);
    json_key_string(&w->json, "name", litmus_model_names[m]);
    json_key_bool(&w->json, "steps", steps);
    json_key_string(&w->json, "silent", result->silent);
    json_key_u64(&w->json, "states", result->states);
    json_key_bool(&w->json, "cut", result->cut);
    if (!result->silent) {
        put_code(w, steps ? paths->test : w->test);
        put_outcomes(w, m, result, paths);
        put_refusals(w, m);
    }
    json_object_end(&w->json);
}

static bool put_page(struct writer *w, const char *text, enum litmus_model *model)
{
    static const char *const quantifiers[] = {NULL, "exists", "~exists", "forall"};
    for (uint32_t m = 0; m < LITMUS_MODELS; m++) {
        *model = (enum litmus_model)m;
        if (!ask_model(w, *model))
            return false;
    }
    ask_condition(w);
    json_object_begin(&w->json);
    json_key_u64(&w->json, "version", 1);
    json_key_string(&w->json, "name", w->test->name);
    json_key_string(&w->json, "source", text);
    json_key_string(&w->json, "asks", quantifiers[w->test->condition.asks]);
    put_threads(w);
    put_words(w);
    put_observed(w);
    json_key_array_begin(&w->json, "models");
    for (uint32_t m = 0; m < LITMUS_MODELS; m++)
        put_model(w, (enum litmus_model)m);
    json_array_end(&w->json);
    json_line_end(&w->json);
    return true;
}

bool litmus_page_write(struct arena *arena, const struct litmus_test *test, const char *text,
                       FILE *out, enum litmus_model *model)
{
    struct writer w = {.arena = arena, .test = test, .answers = {{.paths = {.most = 0}}}};
    char *json = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&json, &length);
    if (!memory)
        return false;
    json_start(&w.json, memory);
    bool good = put_page(&w, text, model);
    fclose(memory);
    struct view_document document = {test->name, litmus_css, litmus_css_sha256, litmus_js,
                                     litmus_js_sha256};
    if (good)
        view_put_document(&document, json, length, out);
    free(json);
    return good;
}
