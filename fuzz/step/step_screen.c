/*
 * step_screen.c - left the kernel's text, right threads over time and the stack, below memory or another part.
 *
 *     step 8 of 17   simt, terminated
 *     thread 3, line 6: b[tid] = b[tid] + i;   (rule assign)
 *
 *        5 |if (j > 2 * i)                     steps 1 to 8
 *     >  6     b[tid] += i;                      0 ####....
 *     ...
 */
#include "fuzz/step/step_screen.h"

#include "fuzz/out/screen.h"
#include "fuzz/out/terminal.h"

#include <signal.h>
#include <string.h>
#include <time.h>

enum { KEY_MS = 20, SAYS_ROWS = 3, BELOW_ROWS = 7, LANE_ROWS = 8, TYPED = 120 };

static volatile sig_atomic_t asked_to_end;

static void ask_to_end(int number)
{
    (void)number;
    asked_to_end = 1;
}

struct shown {
    struct step_session *session;
    struct screen *screen;
    uint32_t rows, columns;
    uint32_t part; /* of step_parts: what stands below */
    bool help, typing, changed;
    char typed[TYPED];
    size_t length;
    const char *message;
};

/* ---- drawing ---- */

static void put_lines(struct shown *v, const struct step_lines *lines, uint32_t row, uint32_t rows,
                      uint32_t column, uint32_t columns)
{
    for (uint32_t i = 0; i < lines->count && i < rows; i++) {
        const char *text =
            arena_printf(v->session->stepper->scratch, "%.*s", (int)columns, lines->line[i]);
        screen_put(v->screen, row + i, column, lines->marked[i] ? STYLE_BOLD : STYLE_PLAIN, text);
    }
}

static void draw_help(struct shown *v)
{
    static const char *const keys[] = {
        "right, l, n    a step on",
        "left, h, p     a step back",
        "space, c       on to the next break; without breaks to the end",
        "v              back to the break before",
        "g, Home        to the start",
        "G, End         to the end",
        "d              to the next step at which threads part",
        "r              to the next data race",
        "tab            another part below: memory, values, rule, source, lanes, stack",
        ":              a command: run line 9, break rule brk, watch i, goto 40, help",
        "q              ends",
    };
    for (uint32_t i = 0; i < sizeof keys / sizeof *keys; i++)
        screen_put(v->screen, i + 2, 2, STYLE_PLAIN, keys[i]);
}

static uint32_t draw_right(struct shown *v, uint32_t row, uint32_t rows, uint32_t column)
{
    struct stepper *s = v->session->stepper;
    struct step_lines lanes = {.count = 0}, stack = {.count = 0};
    uint32_t columns = v->columns > column + 7 ? v->columns - column - 7 : 1;
    uint32_t most = rows / 2 < LANE_ROWS ? rows / 2 : LANE_ROWS;
    step_lanes(s, &lanes, columns, most > 1 ? most - 1 : 1);
    put_lines(v, &lanes, row, most, column, columns + 6);
    uint32_t used = lanes.count < most ? lanes.count : most;
    step_stack(s, &stack);
    put_lines(v, &stack, row + used, rows - used, column, columns + 6);
    return used;
}

static void draw_parts(struct shown *v)
{
    struct stepper *s = v->session->stepper;
    const struct step_part *part = &step_parts[v->part];
    struct step_lines says = {.count = 0}, source = {.count = 0}, below = {.count = 0};
    uint32_t half = v->columns / 2, below_rows = v->rows > 16 ? BELOW_ROWS : 2;
    uint32_t body = v->rows > SAYS_ROWS + below_rows + 3 ? v->rows - SAYS_ROWS - below_rows - 3 : 1;
    step_says(s, &says);
    put_lines(v, &says, 1, SAYS_ROWS, 0, v->columns);
    step_source(s, &source, body);
    put_lines(v, &source, SAYS_ROWS + 1, body, 0, half - 1);
    draw_right(v, SAYS_ROWS + 1, body, half);
    part->show(s, &below);
    screen_put(v->screen, SAYS_ROWS + 1 + body, 0, STYLE_DIM, part->name);
    put_lines(v, &below, SAYS_ROWS + 2 + body, below_rows, 2, v->columns);
}

static void draw_foot(struct shown *v)
{
    struct arena *scratch = v->session->stepper->scratch;
    const char *text =
        "arrows step  space break  d parts  r race  tab part  : command  ? help  q ends";
    if (v->typing)
        text = arena_printf(scratch, ":%.*s_", (int)v->length, v->typed);
    else if (v->message)
        text = v->message;
    screen_put(v->screen, v->rows - 1, 0, v->message && !v->typing ? STYLE_BOLD : STYLE_DIM, text);
}

static void draw(struct shown *v)
{
    bool entered;
    uint32_t rows, columns;
    terminal_size(&rows, &columns);
    if (!v->changed && rows == v->rows && columns == v->columns)
        return;
    if (!terminal_enter(&entered))
        return;
    v->rows = rows;
    v->columns = columns;
    v->changed = false;
    screen_begin(v->screen, rows, columns, entered);
    screen_put(v->screen, 0, 0, STYLE_BOLD, step_title(v->session->stepper));
    if (v->help)
        draw_help(v);
    else
        draw_parts(v);
    draw_foot(v);
    screen_end(v->screen);
    if (v->screen->length > 0 && !terminal_write(v->screen->bytes, v->screen->length))
        v->screen->whole = v->changed = true;
}

/* ---- keys ---- */

static void command(struct shown *v, const char *text)
{
    struct stepper *s = v->session->stepper;
    const char *wrong = step_command(v->session, text, NULL);
    v->message = wrong ? arena_strndup(s->arena, wrong, strlen(wrong)) : NULL;
    v->help = strcmp(text, "help") == 0;
    v->changed = true;
}

static void type(struct shown *v, char key)
{
    v->changed = true;
    if (key == '\n' || key == '\r') {
        v->typing = false;
        v->typed[v->length] = '\0';
        if (v->length > 0)
            command(v, arena_strndup(v->session->stepper->arena, v->typed, v->length));
    } else if (key == 0x7f || key == '\b') {
        v->typing = v->length > 0;
        v->length -= v->length > 0;
    } else if (key == 0x1b) {
        v->typing = false;
    } else if (key >= ' ' && v->length + 1 < TYPED) {
        v->typed[v->length++] = key;
    }
}

static char next_key(void)
{
    const struct timespec pause = {.tv_nsec = KEY_MS * 1000000};
    char key = terminal_key();
    if (!key)
        nanosleep(&pause, NULL);
    return key ? key : terminal_key();
}

/* ESC [ C and its like: arrows, Home, End. Anything else is no key that is known. */
static const char *escaped(void)
{
    static const struct {
        char key;
        const char *command;
    } known[] = {{'C', "forward"}, {'D', "back"}, {'H', "start"}, {'F', "end"}};
    char key = next_key();
    if (key != '[' && key != 'O')
        return NULL;
    key = next_key();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].key == key)
            return known[i].command;
    return NULL;
}

static const char *command_of(char key)
{
    static const struct {
        char key;
        const char *command;
    } known[] = {{'l', "forward"},        {'n', "forward"}, {'h', "back"},
                 {'p', "back"},           {' ', "run"},     {'c', "run"},
                 {'v', "reverse"},        {'g', "start"},   {'G', "end"},
                 {'d', "run divergence"}, {'r', "run race"}};
    if (key == 0x1b)
        return escaped();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].key == key)
            return known[i].command;
    return NULL;
}

static void press(struct shown *v, char key)
{
    if (v->typing) {
        type(v, key);
        return;
    }
    const char *text = command_of(key);
    if (text) {
        command(v, text);
        return;
    }
    v->changed = true;
    v->message = NULL;
    if (key == 'q')
        v->session->ended = true;
    else if (key == '?')
        v->help = !v->help;
    else if (key == '\t')
        v->part = step_parts[v->part + 1].name ? v->part + 1 : 0;
    else if (key == ':') {
        v->typing = true;
        v->length = 0;
    }
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = ask_to_end};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

bool step_screen(struct step_session *session)
{
    struct shown v = {.session = session, .changed = true};
    const struct timespec pause = {.tv_nsec = KEY_MS * 1000000};
    if (!terminal_open())
        return false;
    while (strcmp(step_parts[v.part].name, "memory") != 0)
        v.part++;
    v.screen = screen_new(session->stepper->arena, terminal_has_utf8(), terminal_has_color());
    catch_signals();
    while (!session->ended && !asked_to_end) {
        char key;
        draw(&v);
        while ((key = terminal_key()) != 0)
            press(&v, key);
        nanosleep(&pause, NULL);
    }
    terminal_leave();
    return true;
}
