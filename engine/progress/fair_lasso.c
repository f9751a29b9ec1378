#include "engine/progress/fair_lasso.h"

#include "engine/base/invariant.h"
#include "engine/base/pcg.h"
#include "engine/base/stop.h"
#include "engine/machine/live.h"
#include "engine/progress/fair_lasso_internal.h"

#include <string.h>

const struct fair_options FAIR_DEFAULTS = {.seed = 0, .budget_steps = 1 << 22};

/* A turn of the word: the actor takes so many steps, if it can. */
struct turn {
    uint32_t actor, steps;
};

enum { WORD_TURNS = 3 }; /* per actor at most */

struct sample {
    struct choices choices; /* first member: choices inside a step */
    struct arena *arena;
    struct machine *machine;
    struct fair_sets sets;
    enum progress_model model; /* that it aims at */
    struct pcg rng;
    bool in_word;
    uint64_t inner_seed; /* of choices inside a step, in the word; 0: the first one */
    uint32_t inner_count;
    bool asked; /* some step of some sample had choices */
    /* What has run. */
    uint32_t *entries;
    uint32_t count, capacity;
    uint64_t steps;
    uint64_t *last_step; /* an actor: when it stepped last, from 1 */
    /* The stem's crowd, and the word's units. */
    uint8_t *crowd, *F;
    /* The word, and where it is. */
    struct turn *word;
    uint32_t turns, turn, left;
    uint32_t unfinished; /* actors, when the word was made */
    /* The state that the next ones are compared with. */
    uint32_t *saved;
    uint64_t saved_hash, saved_step;
    uint32_t saved_turn, saved_left, saved_count;
    uint64_t power, since;
};

static uint32_t choose(struct choices *choices, uint32_t n)
{
    struct sample *s = (struct sample *)choices;
    uint32_t value = 0;
    s->asked = true;
    if (!s->in_word)
        value = pcg_below(&s->rng, n);
    else if (s->inner_seed != 0)
        value = (uint32_t)(pcg_splitmix(s->inner_seed ^ ((uint64_t)s->turn << 32 | s->left << 8) ^
                                        s->inner_count++) %
                           n);
    if (s->count < s->capacity)
        s->entries[s->count++] = TAPE_INNER | value;
    return value;
}

static void step(struct sample *s, uint32_t actor)
{
    s->inner_count = 0;
    s->entries[s->count++] = actor;
    machine_step(s->machine, actor, &s->choices);
    s->machine->track.log_count = 0;
    s->last_step[actor] = ++s->steps;
    s->sets.begun[s->sets.units->unit_of[actor]] = 1;
}

static bool has_room(const struct sample *s)
{
    return s->count + FAIR_STEP <= s->capacity;
}

static bool runs(const struct sample *s)
{
    return machine_status(s->machine) == STATUS_RUNNING && has_room(s);
}

static uint32_t draw(struct sample *s, uint32_t bound)
{
    return pcg_below(&s->rng, bound);
}

/* 1 .. 2^bits - 1, each order of magnitude with equal chance. */
static uint32_t draw_length(struct sample *s, uint32_t bits)
{
    uint32_t size = 1u << draw(s, bits);
    return size + draw(s, size);
}

/* ---- the stem ---- */

/* Whom the stem lets run. */
static void draw_crowd(struct sample *s)
{
    enum crowd { EVERYBODY, SOME, ONE, ALL_BUT_ONE, LOW, HIGH, FEW };
    uint32_t count = s->sets.units->count, border = draw(s, count);
    enum crowd kind = (enum crowd)draw(s, FEW + 1);
    for (uint32_t u = 0; u < count; u++) {
        switch (kind) {
        case EVERYBODY:
            s->crowd[u] = 1;
            break;
        case SOME:
            s->crowd[u] = draw(s, 2) == 0;
            break;
        case ONE:
            s->crowd[u] = u == border;
            break;
        case ALL_BUT_ONE:
            s->crowd[u] = u != border;
            break;
        case LOW:
            s->crowd[u] = u <= border;
            break;
        case HIGH:
            s->crowd[u] = u >= border;
            break;
        case FEW:
            s->crowd[u] = draw(s, count) < 2;
            break;
        }
    }
}

/* A live actor of the crowd, from a random place on; SEARCH_NONE: there is none. */
static uint32_t draw_actor(struct sample *s)
{
    const struct machine_head *head = s->machine->head;
    uint32_t from = draw(s, head->live_count);
    for (uint32_t i = 0; i < head->live_count; i++) {
        uint32_t actor = head->live[(from + i) % head->live_count];
        if (s->crowd[s->sets.units->unit_of[actor]])
            return actor;
    }
    return UINT32_MAX;
}

static void run_stem(struct sample *s)
{
    enum { RUN_BITS = 6, STEM_BITS = 12 };
    uint32_t length = draw(s, 4) == 0 ? 0 : draw_length(s, STEM_BITS);
    uint32_t actor = UINT32_MAX, run = 0, run_bits = 1 + draw(s, RUN_BITS);
    draw_crowd(s);
    for (uint32_t i = 0; i < length && runs(s); i++) {
        if (run == 0 || !is_live(s->machine, actor)) {
            actor = draw_actor(s);
            run = draw_length(s, run_bits);
        }
        if (actor == UINT32_MAX)
            return;
        step(s, actor);
        run--;
    }
}

/* ---- the word ---- */

/* Somebody, also where the model asks for nobody; now and then others, too. */
static void add_others(struct sample *s, uint32_t members)
{
    const struct machine_head *head = s->machine->head;
    uint32_t others = members == 0 ? draw_length(s, 3) : draw(s, 4) == 0 ? draw_length(s, 4) : 0;
    for (uint32_t i = 0; i < others; i++)
        s->F[s->sets.units->unit_of[head->live[draw(s, head->live_count)]]] = 1;
}

/* Who is in the word begins, which may let others into F. */
static void close_word(struct sample *s)
{
    uint32_t count = s->sets.units->count;
    uint8_t *others = s->crowd; /* the stem is over */
    for (uint32_t u = 0; u < count; u++)
        s->sets.begun[u] |= s->F[u];
    (void)fair_members(&s->sets, s->model, others);
    for (uint32_t u = 0; u < count; u++)
        s->F[u] |= others[u];
}

/* Actors of the units: all of them, or one of each unit; at random the first one often. */
static void add_turns(struct sample *s)
{
    enum { ONE_EACH = 4 };
    bool all = s->machine->actor_count == s->sets.units->count || draw(s, ONE_EACH) > 0;
    uint32_t steps_bits = draw(s, 2) == 0 ? 0 : 1 + draw(s, 4);
    s->turns = 0;
    for (uint32_t i = 0; i < s->machine->actor_count; i++) {
        uint32_t unit = s->sets.units->unit_of[i];
        if (!s->F[unit] || (!all && draw(s, 2) == 0 && is_live(s->machine, i)))
            continue;
        s->word[s->turns].actor = i;
        s->word[s->turns++].steps = steps_bits ? draw_length(s, steps_bits) : 1;
    }
}

static void shuffle(struct sample *s)
{
    for (uint32_t i = s->turns; i > 1; i--) {
        uint32_t other = draw(s, i);
        struct turn turn = s->word[i - 1];
        s->word[i - 1] = s->word[other];
        s->word[other] = turn;
    }
}

static void order_turns(struct sample *s)
{
    enum order { ASCENDING, SHUFFLED, REPEATED };
    enum order order = (enum order)draw(s, REPEATED + 1);
    uint32_t members = s->turns;
    if (order == REPEATED)
        for (uint32_t i = 0; i < members * (WORD_TURNS - 1); i++)
            if (draw(s, 2) == 0)
                s->word[s->turns++] = s->word[draw(s, members)];
    if (order != ASCENDING)
        shuffle(s);
}

static bool make_word(struct sample *s)
{
    fair_look(&s->sets);
    add_others(s, fair_members(&s->sets, s->model, s->F));
    close_word(s);
    add_turns(s);
    order_turns(s);
    s->turn = 0;
    s->left = s->turns ? s->word[0].steps : 0;
    s->unfinished = s->machine->head->unfinished;
    s->inner_seed = draw(s, 2) == 0 ? 0 : pcg_next64(&s->rng);
    return s->turns > 0;
}

static void next_turn(struct sample *s)
{
    s->turn = s->turn + 1 == s->turns ? 0 : s->turn + 1;
    s->left = s->word[s->turn].steps;
}

/* Whose turn it is; false: nobody of the word can step. */
static bool find_turn(struct sample *s)
{
    for (uint32_t i = 0; i <= s->turns; i++) {
        if (s->left > 0 && is_live(s->machine, s->word[s->turn].actor))
            return true;
        next_turn(s);
    }
    return false;
}

static void save(struct sample *s, uint64_t power)
{
    machine_save(s->machine, s->saved);
    s->saved_hash = s->machine->track.hash;
    s->saved_step = s->steps;
    s->saved_turn = s->turn;
    s->saved_left = s->left;
    s->saved_count = s->count;
    s->power = power;
    s->since = 0;
}

/* Every unit of F has stepped since the state was saved, or cannot step now: worth a look. */
static bool covers(struct sample *s)
{
    for (uint32_t i = 0; i < s->turns; i++) {
        uint32_t actor = s->word[i].actor;
        if (s->last_step[actor] <= s->saved_step && is_live(s->machine, actor))
            return false;
    }
    return true;
}

enum look { LOOK_ON, LOOK_LOOP, LOOK_USELESS };

/* Whether the saved state has come back. Where the word is there too, it does so for ever. */
static enum look look_back(struct sample *s)
{
    if (s->machine->track.hash != s->saved_hash || !machine_equals(s->machine, s->saved))
        return LOOK_ON;
    if (covers(s))
        return LOOK_LOOP;
    return s->turn == s->saved_turn && s->left == s->saved_left ? LOOK_USELESS : LOOK_ON;
}

/* The word for ever, for so many steps; whether a loop was closed. When an actor ends it may be somebody
 * else's turn, and another word begins. */
static bool run_word(struct sample *s, uint64_t steps)
{
    enum { WORDS = 64 };
    bool made = false;
    s->in_word = true;
    for (uint32_t words = 0; steps > 0 && runs(s); steps--) {
        if (!made || s->machine->head->unfinished != s->unfinished || !find_turn(s)) {
            if (words++ == WORDS + s->machine->actor_count || !make_word(s))
                return false;
            made = true;
            save(s, s->turns);
            continue;
        }
        uint32_t actor = s->word[s->turn].actor;
        s->left--;
        step(s, actor);
        s->since++;
        if (!runs(s))
            return false;
        if (s->left == 0)
            next_turn(s);
        enum look look = look_back(s);
        if (look != LOOK_ON)
            return look == LOOK_LOOP;
        if (s->since == s->power)
            save(s, 2 * s->power);
    }
    return false;
}

/* ---- samples ---- */

struct hunt {
    struct arena *arena;
    struct machine *machine;
    const struct fair_units *units;
    const struct fair_options *options;
    struct sample sample;
    struct fair_trial *trial;
    struct fair_path path;
    struct fair_result result;
    uint32_t open; /* models */
};

/* A reset takes as long as so many steps. */
static uint64_t reset_steps(const struct machine *machine)
{
    return 8 + machine->block_words / 32;
}

static bool may_go_on(const struct hunt *h)
{
    return h->open != 0 && h->result.steps < h->options->budget_steps &&
           !(h->options->stop && *h->options->stop);
}

static enum progress_model aim(const struct hunt *h)
{
    uint32_t number = (uint32_t)(h->result.samples % (uint64_t)__builtin_popcount(h->open));
    uint32_t models = h->open;
    while (number-- > 0)
        models &= models - 1;
    return (enum progress_model)__builtin_ctz(models);
}

/* A machine without choices has one execution. */
static bool is_alone(const struct hunt *h)
{
    return h->machine->alternatives == 1 && !h->sample.asked;
}

/* Longer and longer, since most loops are short. */
static uint64_t word_budget(const struct hunt *h)
{
    enum { FIRST = 2048, EACH = 48, PATIENCE = 64 };
    uint64_t doubled = h->result.samples / PATIENCE;
    uint64_t budget = FIRST + (uint64_t)EACH * h->machine->actor_count;
    uint64_t left = h->options->budget_steps - h->result.steps;
    budget <<= doubled < 8 ? doubled : 8;
    return budget < left && !is_alone(h) ? budget : left;
}

static bool run_sample(struct hunt *h)
{
    struct sample *s = &h->sample;
    s->model = aim(h);
    s->rng = pcg_derive(h->options->seed, PCG_SCHEDULE, h->result.samples);
    s->in_word = false;
    s->count = 0;
    s->steps = 0;
    memset(s->last_step, 0, s->machine->alternatives * sizeof *s->last_step);
    memset(s->sets.begun, 0, s->sets.units->count);
    machine_reset(s->machine);
    run_stem(s);
    uint64_t budget = word_budget(h);
    bool loop = machine_status(s->machine) == STATUS_RUNNING && run_word(s, budget);
    h->result.steps += s->steps + reset_steps(s->machine);
    return loop;
}

/* A loop, under each model that is still open. The second time round all who step in it have begun. */
static void take_loop(struct hunt *h)
{
    const struct sample *s = &h->sample;
    uint32_t loop = s->count - s->saved_count;
    for (uint32_t m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        if (!(h->open >> m & 1))
            continue;
        memcpy(h->path.entries, s->entries, s->count * sizeof *s->entries);
        h->path.stem = s->saved_count;
        h->path.count = s->count;
        uint64_t before = h->trial->steps;
        bool is = fair_try(h->trial, &h->path, (enum progress_model)m);
        if (!is && s->count + loop <= s->capacity) {
            memcpy(h->path.entries + s->count, s->entries + s->saved_count,
                   loop * sizeof *s->entries);
            h->path.stem += loop;
            h->path.count += loop;
            is = fair_try(h->trial, &h->path, (enum progress_model)m);
        }
        h->result.steps += h->trial->steps - before;
        if (!is)
            continue;
        struct fair_answer *answer = &h->result.answers[m];
        (void)fair_minimise(h->arena, h->trial, &h->path, (enum progress_model)m,
                            h->options->budget_steps / 4, h->options->stop);
        *answer = (struct fair_answer){.found = true, .sample = h->result.samples};
        answer->stem = fair_tape_of(h->arena, h->path.entries, h->path.stem);
        answer->loop =
            fair_tape_of(h->arena, h->path.entries + h->path.stem, h->path.count - h->path.stem);
        h->open &= ~(1u << m);
    }
}

static void start(struct hunt *h)
{
    struct arena *arena = h->arena;
    struct machine *machine = h->machine;
    uint64_t entries = 2 * h->options->budget_steps + FAIR_STEP;
    uint32_t capacity = entries < FAIR_ENTRIES ? (uint32_t)entries : FAIR_ENTRIES;
    h->trial = fair_trial_new(arena, machine, h->units, capacity);
    h->path.entries = ARENA_ARRAY(arena, uint32_t, capacity);
    h->sample = (struct sample){
        .choices = {NULL, choose, NULL},
        .arena = arena,
        .machine = machine,
        .sets = fair_sets_new(arena, machine, h->units),
        .entries = ARENA_ARRAY(arena, uint32_t, capacity),
        .capacity = capacity,
        .last_step = ARENA_ARRAY(arena, uint64_t, machine->alternatives),
        .crowd = ARENA_ARRAY(arena, uint8_t, h->units->count),
        .F = ARENA_ARRAY(arena, uint8_t, h->units->count),
        .word = ARENA_ARRAY(arena, struct turn, (size_t)machine->alternatives * WORD_TURNS),
        .saved = ARENA_ARRAY(arena, uint32_t, machine->block_words),
    };
}

struct fair_result fair_lasso_search(struct arena *arena, struct machine *machine,
                                     const struct fair_units *units, uint32_t models,
                                     const struct fair_options *options)
{
    const struct observer *observers = machine->options.observers;
    struct hunt h = {
        .arena = arena, .machine = machine, .units = units, .options = options, .open = models};
    INVARIANT(machine->options.track);
    machine_observe(machine, NULL);
    start(&h);
    while (may_go_on(&h)) {
        if (run_sample(&h))
            take_loop(&h);
        h.result.samples++;
        if (is_alone(&h))
            break;
    }
    h.result.stopped = h.open != 0 ? stop_reason(options->stop) : NULL;
    machine_observe(machine, observers);
    return h.result;
}
