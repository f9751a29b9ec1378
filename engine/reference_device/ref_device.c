/*
 * ref_device.c - the host's statements, streams and contexts, as docs/host.md tells of them.
 */
#include "engine/reference_device/ref_device.h"

#include <string.h>

struct ref_device *ref_device_new(struct arena *arena, const struct host_program *program,
                                  const struct ref_settings *settings,
                                  const struct ref_launch *layouts, uint32_t count, uint32_t words)
{
    struct ref_device *r = ARENA_NEW(arena, struct ref_device);
    uint32_t blocks = 0, places = settings->sms * settings->blocks * REF_PLACE_WORDS;
    *r = (struct ref_device){.arena = arena, .program = program, .settings = *settings};
    r->grid_count = count;
    r->words = words;
    r->all_words = words + places;
    r->grids = ARENA_ARRAY(arena, struct ref_grid, count + 1);
    for (uint32_t g = 0; g < count; g++) {
        blocks += layouts[g].blocks;
        if (layouts[g].blocks > REF_BLOCKS || blocks > REF_BLOCKS)
            return NULL;
        r->grids[g].layout = layouts[g];
        r->grids[g].private_base = r->all_words;
        r->all_words += layouts[g].private_words;
        r->grids[g].context = program->statements[layouts[g].statement].context;
        r->grids[g].blocks = ARENA_ARRAY(arena, struct ref_block, layouts[g].blocks);
    }
    r->stands = ARENA_ARRAY(arena, enum ref_progress, program->count + 1);
    r->memory = ARENA_ARRAY(arena, int32_t, r->all_words + 1);
    r->host_memory = ARENA_ARRAY(arena, int32_t, program->host_words + 1);
    r->places = r->memory + words;
    r->expectations = ARENA_ARRAY(arena, struct ref_expectation, program->count + 1);
    return r;
}

void ref_device_start(struct ref_device *r, const int32_t *memory)
{
    const struct host_program *p = r->program;
    r->host = r->flight_count = 0;
    r->current = HOST_NONE;
    r->wrong = NULL;
    for (uint32_t c = 0; c < HOST_CONTEXTS; c++)
        r->alive[c] = c == 0;
    for (uint32_t i = 0; i < p->count; i++) {
        r->stands[i] = REF_NOT_YET;
        r->expectations[i] = (struct ref_expectation){.asked = false};
    }
    for (uint32_t g = 0; g < r->grid_count; g++)
        for (uint32_t b = 0; b < r->grids[g].layout.blocks; b++)
            r->grids[g].blocks[b] = (struct ref_block){.where = REF_UNSCHEDULED};
    memcpy(r->memory, memory, (size_t)4 * r->words);
    for (uint32_t i = 0; i < p->array_count; i++)
        for (uint32_t w = 0; p->arrays[i].is_host && w < p->arrays[i].words; w++)
            r->host_memory[p->arrays[i].base + w] = host_value(&p->arrays[i].values, w);
    memset(r->places, 0, (size_t)4 * (r->all_words - r->words));
    r->waited_for = false;
    ref_empty_lines(r);
}

/* ---- places ---- */

/* The statement that makes the buffer. */
static uint32_t made_at(const struct host_program *p, uint32_t array)
{
    uint32_t i = 0;
    while (p->statements[i].kind != HOST_BUFFER || p->statements[i].array != array)
        i++;
    return i;
}

/* It was made above, and neither it nor its context has gone. */
static bool is_alive(const struct host_program *p, uint32_t array, uint32_t at)
{
    if (p->arrays[array].is_host || made_at(p, array) >= at)
        return false;
    for (uint32_t i = made_at(p, array); i < at; i++)
        if ((p->statements[i].kind == HOST_FREE && p->statements[i].array == array) ||
            (p->statements[i].kind == HOST_DESTROY &&
             p->statements[i].context == p->arrays[array].context))
            return false;
    return true;
}

static bool is_free(const struct host_program *p, uint32_t word, uint32_t at)
{
    for (uint32_t a = 0; a < p->array_count; a++)
        if (is_alive(p, a, at) && word >= p->arrays[a].base &&
            word < p->arrays[a].base + p->arrays[a].words)
            return false;
    return true;
}

uint32_t ref_buffer_place(const struct host_program *p, uint32_t array)
{
    uint32_t at = made_at(p, array), base = 0, free = 0;
    while (free < p->arrays[array].words)
        if (is_free(p, base + free, at)) {
            free++;
        } else {
            base += free + 1;
            free = 0;
        }
    return base;
}

/* ---- streams ---- */

static bool goes_into_a_stream(const struct host_statement *s)
{
    return s->kind == HOST_LAUNCH || s->kind == HOST_RECORD || s->kind == HOST_WAIT ||
           (s->kind == HOST_COPY && s->has_stream);
}

/* All that stands above it in its stream is over. */
static bool has_its_turn(const struct ref_device *r, uint32_t statement)
{
    const struct host_statement *all = r->program->statements, *s = &all[statement];
    for (uint32_t i = 0; i < statement; i++)
        if (goes_into_a_stream(&all[i]) && all[i].stream == s->stream && r->stands[i] != REF_OVER)
            return false;
    return true;
}

/* What the host has put into the stream, HOST_NONE: into any stream of the context, is over. */
static bool is_idle(const struct ref_device *r, uint32_t context, uint32_t stream)
{
    const struct host_statement *all = r->program->statements;
    for (uint32_t i = 0; i < r->host; i++)
        if (goes_into_a_stream(&all[i]) && all[i].context == context &&
            (stream == HOST_NONE || all[i].stream == stream) && r->stands[i] != REF_OVER)
            return false;
    return true;
}

/* ---- contexts ---- */

static uint32_t grids_that_run(const struct ref_device *r, uint32_t context)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < r->grid_count; g++)
        if (r->grids[g].context == context && r->stands[r->grids[g].layout.statement] == REF_RUNS)
            count++;
    return count;
}

/* DE.switch: of a sticky device a context is left only when it has no grids. */
bool ref_context_steps(const struct ref_device *r, uint32_t context)
{
    if (!r->alive[context])
        return false;
    if (!r->settings.sticky || r->current == HOST_NONE || r->current == context)
        return true;
    return grids_that_run(r, r->current) == 0;
}

/* CX.stream, CX.msgs: a launch of a device without an order of streams starts at any time. CX.copy: a copy has its
 * turn. */
bool ref_begin_may(const struct ref_device *r, uint32_t statement)
{
    const struct host_statement *s = &r->program->statements[statement];
    if (r->stands[statement] != REF_WAITS || !ref_context_steps(r, s->context))
        return false;
    if (s->kind == HOST_COPY)
        return has_its_turn(r, statement);
    if (s->kind != HOST_LAUNCH)
        return false;
    if (r->settings.order_stream && !has_its_turn(r, statement))
        return false;
    if (r->settings.cached && r->settings.flush && r->waited_for)
        return false; /* a line that is waited for cannot go */
    return grids_that_run(r, s->context) < r->settings.grids;
}

static int32_t *word_of(struct ref_device *r, uint32_t array, uint32_t word)
{
    const struct host_array *a = &r->program->arrays[array];
    return (a->is_host ? r->host_memory : r->memory) + a->base + word;
}

/* CX.copy: what is read is there before anything is written. */
static void copy(struct ref_device *r, const struct host_statement *s)
{
    for (uint32_t k = 0; k < s->count; k++) {
        bool upwards = s->array == s->to && s->into > s->from;
        uint32_t i = upwards ? s->count - 1 - k : k;
        *word_of(r, s->to, s->into + i) = *word_of(r, s->array, s->from + i);
    }
}

void ref_begin(struct ref_device *r, uint32_t statement)
{
    const struct host_statement *s = &r->program->statements[statement];
    r->current = r->settings.sticky ? s->context : HOST_NONE;
    if (s->kind == HOST_COPY) {
        copy(r, s);
        r->stands[statement] = REF_OVER;
    } else {
        r->stands[statement] = REF_RUNS;
        if (r->settings.flush) /* CX.flush */
            ref_empty_lines(r);
    }
    ref_close(r);
}

/* ---- the host ---- */

static bool is_ending(const struct ref_device *r, uint32_t context)
{
    for (uint32_t g = 0; g < r->grid_count; g++)
        if (r->grids[g].context == context && r->stands[r->grids[g].layout.statement] == REF_DRAINS)
            return true;
    return false;
}

static bool context_under_way(const struct ref_device *r, uint32_t context)
{
    for (uint32_t g = 0; g < r->grid_count; g++)
        if (r->grids[g].context == context && ref_under_way(r, g, HOST_NONE))
            return true;
    return false;
}

/* ERR.89, ends=drain: what is given away, and what was ended, has no operation under way. */
static bool waits_for_operations(const struct ref_device *r, const struct host_statement *s)
{
    if (!r->settings.ends_drain)
        return false;
    const struct host_array *a = s->kind == HOST_FREE ? &r->program->arrays[s->array] : NULL;
    return is_ending(r, s->context) ||
           (s->kind == HOST_DESTROY && is_idle(r, s->context, HOST_NONE) &&
            context_under_way(r, s->context)) ||
           (a && ref_words_under_way(r, a->base, a->words));
}

/* CX.wait */
bool ref_host_may(const struct ref_device *r)
{
    if (r->host == r->program->count)
        return false;
    const struct host_statement *s = &r->program->statements[r->host];
    if (waits_for_operations(r, s))
        return false;
    if (s->kind == HOST_SYNC && s->event != HOST_NONE)
        return r->stands[s->target] == REF_OVER;
    if (s->kind == HOST_SYNC)
        return is_idle(r, s->context, s->stream);
    if (s->kind == HOST_COPY && !s->has_stream && r->settings.order_stream)
        return is_idle(r, s->context, s->stream);
    return true;
}

static void allocate(struct ref_device *r, const struct host_statement *s)
{
    const struct host_array *a = &r->program->arrays[s->array];
    for (uint32_t i = 0; i < a->words; i++)
        *word_of(r, s->array, i) = host_value(&a->values, i);
}

static bool is_one_of(const struct host_values *values, int32_t value)
{
    for (uint32_t i = 0; i < values->count; i++)
        if (values->list[i] == value)
            return true;
    return false;
}

/* The first word that is not as expected is told, else the last one. */
static void expect(struct ref_device *r, const struct host_statement *s)
{
    struct ref_expectation *e = &r->expectations[r->host];
    *e = (struct ref_expectation){.asked = true, .holds = true};
    for (uint32_t i = 0; i < s->count && e->holds; i++) {
        e->word = s->from + i;
        e->value = *word_of(r, s->array, s->from + i);
        e->holds = s->any ? is_one_of(&s->values, e->value) : e->value == host_value(&s->values, i);
    }
}

/* CX.abort, ERR.89 */
static void abort_launch(struct ref_device *r, uint32_t statement)
{
    for (uint32_t g = 0; g < r->grid_count; g++)
        if (r->grids[g].layout.statement == statement && r->stands[statement] != REF_OVER)
            ref_vanish(r, g);
}

/* DE.destroy: its grids vanish, and what waits in its streams; ERR.89: it is over when its operations are. */
static bool destroy(struct ref_device *r, uint32_t context)
{
    const struct host_statement *all = r->program->statements;
    for (uint32_t g = 0; g < r->grid_count; g++)
        if (r->grids[g].context == context && r->stands[r->grids[g].layout.statement] == REF_RUNS)
            ref_vanish(r, g);
    for (uint32_t i = 0; i < r->host; i++)
        if (all[i].context == context && goes_into_a_stream(&all[i]) && r->stands[i] != REF_DRAINS)
            r->stands[i] = REF_OVER;
    if (r->settings.ends_drain && context_under_way(r, context))
        return false;
    r->alive[context] = false;
    return true;
}

/* False: the statement is not over. */
static bool do_statement(struct ref_device *r, const struct host_statement *s)
{
    switch (s->kind) {
    case HOST_CONTEXT:
        r->alive[s->context] = true;
        break;
    case HOST_BUFFER:
        allocate(r, s);
        break;
    case HOST_COPY:
        if (s->has_stream)
            r->stands[r->host] = REF_WAITS;
        else
            copy(r, s);
        break;
    case HOST_SET:
        for (uint32_t i = 0; i < s->count; i++)
            *word_of(r, s->array, s->from + i) = host_value(&s->values, i);
        break;
    case HOST_LAUNCH:
    case HOST_RECORD:
    case HOST_WAIT:
        r->stands[r->host] = REF_WAITS;
        break;
    case HOST_ABORT:
        abort_launch(r, s->target);
        break;
    case HOST_DESTROY:
        return destroy(r, s->context);
    case HOST_EXPECT:
        expect(r, s);
        break;
    case HOST_USE:
    case HOST_FREE:
    case HOST_SYNC:
    case HOST_KIND_COUNT:
        break;
    }
    return true;
}

void ref_host(struct ref_device *r)
{
    if (do_statement(r, &r->program->statements[r->host]))
        r->host++;
    ref_close(r);
}

/* ---- turns, the end ---- */

/* CX.stream: a record is done when it has its turn; a wait when the record is done, too. */
static bool take_turns(struct ref_device *r)
{
    bool any = false;
    for (uint32_t i = 0; i < r->host; i++) {
        const struct host_statement *s = &r->program->statements[i];
        bool is_turn =
            s->kind == HOST_RECORD || (s->kind == HOST_WAIT && r->stands[s->target] == REF_OVER);
        if (r->stands[i] != REF_WAITS || !is_turn || !has_its_turn(r, i))
            continue;
        r->stands[i] = REF_OVER;
        any = true;
    }
    return any;
}

/* Local memory goes with its block, and so operations of it end before. */
static bool local_under_way(const struct ref_device *r, uint32_t grid, uint32_t block)
{
    for (uint32_t i = 0; i < r->flight_count; i++)
        if (r->flights[i].is_local && r->flights[i].grid == grid && r->flights[i].block == block)
            return true;
    return false;
}

/* GR.compl */
static void complete(struct ref_device *r, uint32_t grid)
{
    struct ref_grid *g = &r->grids[grid];
    enum ref_progress *stands = &r->stands[g->layout.statement];
    for (uint32_t b = 0; *stands == REF_RUNS && b < g->layout.blocks; b++) {
        struct ref_block *block = &g->blocks[b];
        if (block->where == REF_ACTIVE && block->ended == g->layout.warps &&
            !(r->settings.drain && ref_under_way(r, grid, b)) && !local_under_way(r, grid, b))
            block->where = REF_COMPLETED;
    }
    if (*stands == REF_RUNS && ref_count(r, grid, REF_COMPLETED) == g->layout.blocks)
        *stands = REF_OVER;
    if (*stands == REF_DRAINS && !ref_under_way(r, grid, HOST_NONE))
        ref_vanish(r, grid);
}

void ref_close(struct ref_device *r)
{
    for (uint32_t g = 0; g < r->grid_count; g++)
        complete(r, g);
    while (take_turns(r))
        ;
}

/* DE.halt: no messages, no grids, no operations. */
bool ref_is_over(const struct ref_device *r)
{
    for (uint32_t i = 0; i < r->program->count; i++)
        if (goes_into_a_stream(&r->program->statements[i]) && r->stands[i] != REF_OVER)
            return false;
    return r->host == r->program->count && r->flight_count == 0;
}
