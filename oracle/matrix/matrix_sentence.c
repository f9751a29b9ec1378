/*
 * matrix_sentence.c - whether the sentence about a hang (matrix_explain.c) says what the loop does: read again, and
 * compared with what its threads access when the witness is played once more.
 */
#include "engine/machine/live.h"
#include "engine/schedule/sched.h"
#include "oracle/check/evidence.h"
#include "oracle/matrix/matrix_witness.h"

#include <stdlib.h>
#include <string.h>

/* READS_MAX: the sentence may not know all of more. */
enum { READS_MAX = 64, SHOWN_MAX = 3 };

/* What the threads do in the loop. */
struct seen {
    const struct program *program;
    struct observer observer;
    uint32_t threads;
    uint8_t *moves;      /* a thread: it accesses something, or it is an actor that steps */
    uint8_t *written;    /* a location */
    uint8_t *reads;      /* a location, for each of its threads */
    uint32_t *order;     /* locations, in the order of their first reads */
    uint32_t *stm;       /* a location: the statement of its first read */
    uint32_t count;      /* in `order` */
    uint32_t read_count; /* of all threads and locations */
};

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    struct seen *s = context;
    uint8_t *readers = s->reads + (size_t)address * s->threads;
    s->moves[thread] = 1;
    s->read_count++;
    if (s->stm[address] == CODE_NONE) {
        s->stm[address] = stm;
        s->order[s->count++] = address;
    }
    readers[thread] = 1;
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    struct seen *s = context;
    (void)value;
    (void)stm;
    s->moves[thread] = 1;
    s->written[address] = 1;
}

static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)value;
    on_read(context, thread, address, stm);
}

static void run_tape(struct arena *arena, struct machine *machine, const struct tape *tape,
                     struct seen *seen)
{
    const struct sched_spec spec = {.kind = SCHED_TAPE, .tape = tape};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, machine, arena);
    while (scheduler.reader.next < tape->count && machine_status(machine) == STATUS_RUNNING) {
        uint32_t actor = machine->head->live[scheduler.choices.pick(&scheduler.choices, machine)];
        if (machine->actor_count == seen->threads)
            seen->moves[actor] = 1;
        machine_step(machine, actor, &scheduler.choices);
        machine->track.log_count = 0;
    }
}

/* The machine is left in the loop's first state. */
static struct seen watch(struct arena *arena, const struct matrix_row *row, struct machine *machine)
{
    const struct program *program = row->program;
    uint32_t words = program->private_base * program->units + 1, threads = program->total_threads;
    struct seen s = {.program = program,
                     .threads = threads,
                     .moves = ARENA_ARRAY(arena, uint8_t, threads),
                     .written = ARENA_ARRAY(arena, uint8_t, words),
                     .reads = ARENA_ARRAY(arena, uint8_t, (size_t)words * threads),
                     .order = ARENA_ARRAY(arena, uint32_t, words),
                     .stm = ARENA_ARRAY(arena, uint32_t, words)};
    memset(s.stm, 0xff, words * sizeof *s.stm);
    s.observer =
        (struct observer){.context = &s, .read = on_read, .write = on_write, .atomic = on_atomic};
    run_tape(arena, machine, row->stem, &s);
    memset(s.moves, 0, threads);
    machine_observe(machine, &s.observer);
    run_tape(arena, machine, row->loop, &s);
    machine_observe(machine, NULL);
    return s;
}

/* ---- reading ---- */

/* "thread 2 ", "threads 0, 1, 5 and 3 others " */
struct named {
    uint32_t shown[SHOWN_MAX], count, others;
};

static bool skip(const char **text, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*text, word, length) != 0)
        return false;
    *text += length;
    return true;
}

static bool read_number(const char **text, uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(*text, &end, 10);
    bool is = end != *text && **text >= '0' && **text <= '9' && value < UINT32_MAX;
    *number = (uint32_t)value;
    *text = end;
    return is;
}

static bool read_named(const char **text, struct named *named)
{
    *named = (struct named){.count = 0};
    bool good = skip(text, "thread"), several = skip(text, "s");
    good = good && skip(text, " ");
    do
        good = good && named->count < SHOWN_MAX && read_number(text, &named->shown[named->count++]);
    while (good && skip(text, ", "));
    if (good && skip(text, " and "))
        good = read_number(text, &named->others) && skip(text, " others");
    return good && skip(text, " ") && several == (named->count + named->others > 1);
}

/* Those named are the members of the set: the first of them, and how many there are more. */
static bool names(const struct named *named, const uint8_t *set, uint32_t threads)
{
    uint32_t members = 0;
    for (uint32_t t = 0; t < threads; t++) {
        if (!set[t])
            continue;
        if (members < named->count && named->shown[members] != t)
            return false;
        members++;
    }
    return members == named->count + named->others;
}

/* ---- judging ---- */

struct judging {
    struct arena *arena;
    const struct matrix_row *row;
    struct machine *machine; /* in the loop's first state */
    struct seen seen;
    const char *at; /* in the sentence */
};

static bool has_finished(const struct judging *j, uint32_t thread)
{
    return is_finished(j->machine, actor_of(j->machine, thread));
}

/* A statement that may write the variable stands on the line. */
static bool writes(const struct program *program, const struct ast_var *var, uint32_t line)
{
    uint32_t v = 0;
    while (v < program->var_count && program->vars[v].ast != var)
        v++;
    uint64_t bit = (uint64_t)1 << (v < 63 ? v : 63);
    for (uint32_t s = 0; s < program->stm_count; s++)
        if ((program->stms[s].writes & bit) && evidence_line(program, s) == line)
            return true;
    return false;
}

/* Who would write it does not move in the loop, has not finished, and waits if that is said. */
static const char *judge_writers(const struct judging *j, const struct named *named, bool waits)
{
    for (uint32_t i = 0; i < named->count; i++) {
        uint32_t thread = named->shown[i];
        if (thread >= j->seen.threads || j->seen.moves[thread])
            return "who would write it steps in the loop, or is no thread";
        if (has_finished(j, thread))
            return "who would write it has finished";
        if (i == 0 && is_live(j->machine, actor_of(j->machine, thread)) == waits)
            return "who would write it waits, or does not";
    }
    return NULL;
}

/* Behind "thread 1 spins on x at line 11". */
static const char *judge_rest(struct judging *j, uint32_t address)
{
    const struct program *program = j->row->program;
    const struct ast_var *var = program_locate(program, address).var;
    struct named named;
    uint32_t line;
    if (strcmp(j->at, "; no statement outside of the loop writes it") == 0)
        return NULL;
    if (!skip(&j->at, "; "))
        return "it is no sentence";
    if (skip(&j->at, "line ")) {
        bool all = true;
        for (uint32_t t = 0; t < j->seen.threads; t++)
            all &= j->seen.moves[t] || has_finished(j, t);
        if (!read_number(&j->at, &line) || strcmp(j->at, " writes it, and nobody gets there") != 0)
            return "it is no sentence";
        return all && writes(program, var, line) ? NULL : "somebody may get there";
    }
    if (!read_named(&j->at, &named) || !skip(&j->at, "would write it at line ") ||
        !read_number(&j->at, &line) || !skip(&j->at, ", but "))
        return "it is no sentence";
    if (!writes(program, var, line))
        return "nothing on the line writes it";
    return judge_writers(j, &named, strncmp(j->at, "it waits at the barrier", 23) == 0);
}

static const char *judge_spins(struct judging *j, const struct named *named)
{
    struct seen *s = &j->seen;
    uint32_t i = 0, line;
    while (i < s->count && s->written[s->order[i]])
        i++;
    if (i == s->count)
        return "the loop writes all that it reads";
    uint32_t address = s->order[i];
    if (!names(named, s->reads + (size_t)address * s->threads, s->threads))
        return "others read it";
    if (!skip(&j->at, program_location_name(j->arena, j->row->program, address)))
        return "another location is read first";
    if (!skip(&j->at, " at line ") || !read_number(&j->at, &line) ||
        line != evidence_line(j->row->program, s->stm[address]))
        return "it is read at another line";
    return judge_rest(j, address);
}

static const char *judge(struct judging *j)
{
    const struct seen *s = &j->seen;
    struct named named;
    bool all_written = true;
    for (uint32_t i = 0; i < s->count; i++)
        all_written &= s->written[s->order[i]];
    if (strcmp(j->at, "the loop reads nothing that anybody else could write") == 0)
        return s->count == 0 ? NULL : "the loop reads";
    if (!read_named(&j->at, &named))
        return "it is no sentence";
    if (skip(&j->at, "run"))
        return all_written && names(&named, s->moves, s->threads)
                   ? NULL
                   : "others run, or what is read is not written";
    if (skip(&j->at, named.count + named.others == 1 ? "spins on " : "spin on "))
        return judge_spins(j, &named);
    return "it is no sentence";
}

struct witness_fault matrix_judge_sentence(struct arena *arena, const struct matrix_row *row)
{
    struct judging j = {.arena = arena, .row = row, .at = row->sentence};
    const struct subject_info *info = &subject_table[row->subject];
    struct machine_options options = info->options;
    options.track = true;
    j.machine = machine_new(arena, info->vtable, row->program, &options);
    if (!row->sentence)
        return (struct witness_fault){"sentence", "there is none"};
    j.seen = watch(arena, row, j.machine);
    const char *wrong = j.seen.read_count > READS_MAX ? NULL : judge(&j);
    if (!wrong)
        return (struct witness_fault){NULL, NULL};
    return (struct witness_fault){"sentence",
                                  arena_printf(arena, "%s: '%s'", wrong, row->sentence)};
}
