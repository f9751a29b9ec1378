#include "fuzz/step/step_commands.h"

#include "fuzz/step/step_caches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void print_lines(const struct step_lines *lines, FILE *out)
{
    for (uint32_t i = 0; i < lines->count; i++)
        fprintf(out, "  %s\n", lines->line[i]);
}

/* Where it is now. */
static void print_place(struct stepper *s, FILE *out)
{
    struct step_lines lines = {.count = 0};
    if (!out)
        return;
    fprintf(out, "%s\n", step_title(s));
    step_says(s, &lines);
    print_lines(&lines, out);
}

/* ---- moving ---- */

static const char *go_by(struct step_session *session, const char *rest, FILE *out, int way)
{
    struct stepper *s = session->stepper;
    char *end;
    unsigned long long steps = *rest ? strtoull(rest, &end, 10) : 1;
    if (*rest && (*end || *rest == '-'))
        return "how many steps?";
    if (way > 0 ? s->at == s->count : s->at == 0)
        return way > 0 ? "this is the last step" : "this is the start";
    uint64_t left = way > 0 ? s->count - s->at : s->at;
    uint64_t by = steps < left ? steps : left;
    stepper_go(s, way > 0 ? s->at + by : s->at - by);
    print_place(s, out);
    return NULL;
}

static const char *forward(struct step_session *session, const char *rest, FILE *out)
{
    return go_by(session, rest, out, 1);
}

static const char *back(struct step_session *session, const char *rest, FILE *out)
{
    return go_by(session, rest, out, -1);
}

static const char *go_to(struct step_session *session, const char *rest, FILE *out)
{
    char *end;
    unsigned long long step = strtoull(rest, &end, 10);
    if (!*rest || *end || *rest == '-')
        return "to which step?";
    if (step > session->stepper->count)
        return arena_printf(session->stepper->scratch, "there are %" PRIu64 " steps",
                            session->stepper->count);
    stepper_go(session->stepper, step);
    print_place(session->stepper, out);
    return NULL;
}

static const char *to_start(struct step_session *session, const char *rest, FILE *out)
{
    (void)rest;
    stepper_go(session->stepper, 0);
    print_place(session->stepper, out);
    return NULL;
}

static const char *to_end(struct step_session *session, const char *rest, FILE *out)
{
    (void)rest;
    stepper_go(session->stepper, session->stepper->count);
    print_place(session->stepper, out);
    return NULL;
}

/* ---- stopping ---- */

/* To the next place of `rest`, or, without it, of the breaks; without those, to the end. */
static const char *run_to(struct step_session *session, const char *rest, FILE *out, int way)
{
    struct stepper *s = session->stepper;
    struct step_breaks one = {.count = 1};
    const char *wrong = *rest ? step_break_parse(s, rest, &one.all[0]) : NULL;
    const struct step_breaks *breaks = *rest ? &one : &session->breaks;
    if (wrong)
        return wrong;
    uint64_t step = step_break_find(s, breaks, way);
    if (step == 0 && *rest)
        return arena_printf(s->scratch, "there is no step with %s %s this one", rest,
                            way > 0 ? "behind" : "before");
    stepper_go(s, step ? step : way > 0 ? s->count : 0);
    print_place(s, out);
    return NULL;
}

static const char *run(struct step_session *session, const char *rest, FILE *out)
{
    return run_to(session, rest, out, 1);
}

static const char *reverse(struct step_session *session, const char *rest, FILE *out)
{
    return run_to(session, rest, out, -1);
}

static const char *set_break(struct step_session *session, const char *rest, FILE *out)
{
    struct step_breaks *breaks = &session->breaks;
    struct stepper *s = session->stepper;
    if (*rest) {
        if (breaks->count == STEP_BREAKS)
            return "there are 16 breaks already; `clear` takes them away";
        const char *wrong = step_break_parse(s, rest, &breaks->all[breaks->count]);
        if (wrong)
            return wrong;
        breaks->count++;
    }
    for (uint32_t i = 0; i < breaks->count && out; i++)
        fprintf(out, "  break %s\n", step_break_text(s->scratch, &breaks->all[i]));
    return NULL;
}

static const char *watch(struct step_session *session, const char *rest, FILE *out)
{
    return set_break(session, arena_printf(session->stepper->arena, "watch %s", rest), out);
}

static const char *clear(struct step_session *session, const char *rest, FILE *out)
{
    (void)rest;
    (void)out;
    session->breaks.count = 0;
    return NULL;
}

/* ---- showing ---- */

static const char *show(struct step_session *session, const char *rest, FILE *out)
{
    bool all = strcmp(rest, "all") == 0;
    if (!*rest)
        print_place(session->stepper, out);
    for (const struct step_part *part = step_parts; *rest && part->name; part++) {
        struct step_lines lines = {.count = 0};
        bool there = part->show != step_caches || session->stepper->machine->semantics->environment;
        if (all ? !there : strcmp(part->name, rest) != 0)
            continue;
        part->show(session->stepper, &lines);
        if (out && all)
            fprintf(out, "%s\n", part->name);
        if (out)
            print_lines(&lines, out);
        if (!all)
            return NULL;
    }
    return all || !*rest ? NULL
                         : "show what? source, lanes, stack, memory, values, rule, caches, all";
}

static const char *help(struct step_session *session, const char *rest, FILE *out)
{
    (void)session;
    (void)rest;
    if (out)
        step_commands_help(out);
    return NULL;
}

static const char *quit(struct step_session *session, const char *rest, FILE *out)
{
    (void)rest;
    (void)out;
    session->ended = true;
    return NULL;
}

/* ---- all ---- */

static const struct {
    const char *name, *brief, *takes, *does;
    const char *(*act)(struct step_session *session, const char *rest, FILE *out);
} commands[] = {
    {"forward", "f", "[N]", "a step on, or N", forward},
    {"back", "b", "[N]", "a step back, or N", back},
    {"goto", "g", "N", "to step N", go_to},
    {"start", "s", "", "to the start", to_start},
    {"end", "e", "", "to the end", to_end},
    {"run", "r", "[PLACE]",
     "on to the next step at PLACE; without one to the next break, or to the end", run},
    {"reverse", "v", "[PLACE]", "likewise, back", reverse},
    {"break", "k", "[PLACE]",
     "runs stop at PLACE from now on: line N, rule NAME, thread N, race, divergence, watch "
     "VARIABLE; without one, which there are",
     set_break},
    {"watch", "w", "VARIABLE", "break watch VARIABLE: a step that writes it", watch},
    {"clear", "c", "", "no breaks any more", clear},
    {"show", "p", "[PART]",
     "where it is; or source, lanes, stack, memory, values, rule, caches, all", show},
    {"help", "?", "", "this", help},
    {"quit", "q", "", "ends", quit},
};

void step_commands_help(FILE *out)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(out, "  %-8s %s  %-9s %s\n", commands[i].name, commands[i].brief, commands[i].takes,
                commands[i].does);
}

const char *step_command(struct step_session *session, const char *text, FILE *out)
{
    size_t length = strcspn(text, " ");
    const char *rest = text + length + strspn(text + length, " ");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        bool is =
            (strlen(commands[i].name) == length && strncmp(commands[i].name, text, length) == 0) ||
            (length == 1 && commands[i].brief[0] == text[0]);
        if (is && *rest && !*commands[i].takes)
            return arena_printf(session->stepper->scratch, "%s takes nothing", commands[i].name);
        if (is)
            return commands[i].act(session, rest, out);
    }
    return arena_printf(session->stepper->scratch, "there is no command '%.*s'; `help` lists them",
                        (int)length, text);
}

bool step_commands(struct step_session *session, const char *text, FILE *out)
{
    while (*text && !session->ended) {
        text += strspn(text, " \t\n;");
        size_t length = strcspn(text, ";\n");
        size_t used = length;
        while (used > 0 && (text[used - 1] == ' ' || text[used - 1] == '\r'))
            used--;
        /* In the arena that stays: a command may leave the scratch arena empty. */
        const char *one = arena_strndup(session->stepper->arena, text, used);
        text += length;
        if (!*one)
            continue;
        fprintf(out, "> %s\n", one);
        const char *wrong = step_command(session, one, out);
        if (!wrong)
            continue;
        fprintf(out, "  %s\n", wrong);
        return false;
    }
    return true;
}
