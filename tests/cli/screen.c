/*
 * screen.c - runs a program on a pseudo-terminal of its own and keeps what its screen shows, as a terminal
 * would: the few control sequences that simtfuzz may use, and a failure for any other.
 *
 *     screen ROWSxCOLUMNS STEP... -- PROGRAM ARGUMENT...
 *
 *     wait:TEXT    until the screen shows TEXT (a minute at most)
 *     gone:TEXT    until it no longer does
 *     size:RxC     the window gets another size
 *     key:TEXT     TEXT is typed; ^C, ^Z, ^M: the control characters
 *     signal:N     sent to the program
 *     killchild:N  sent to the program's first child process
 *     dump:FILE    the screen, lines without blanks at their ends
 *     end          until the program has ended
 *
 * Then the program must have ended. Prints "status N", how the terminal was left ("main" or "alternate" screen,
 * "cursor", "wrap", "cooked" or "raw"), whether a character ever stood in the last column or was wrapped. What was
 * shown on the main screen follows, all of it.
 */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

enum { ROWS_MAX = 120, COLUMNS_MAX = 400, WAIT_MS = 60000, CELL_MAX = 5, SEQUENCE_MAX = 32 };

typedef char cell[CELL_MAX];

static cell grids[2][ROWS_MAX][COLUMNS_MAX]; /* main and alternate screen */
static struct {
    int rows, columns, row, column, saved_row, saved_column;
    int grid;
    bool cursor, wrap, wrapped, last_column, was_alternate;
    char sequence[SEQUENCE_MAX]; /* of an escape, behind ESC */
    size_t sequence_length;
    bool in_escape;
    char character[CELL_MAX]; /* in UTF-8, not complete */
    size_t character_length, character_wanted;
} vt = {.cursor = true, .wrap = true};

static int terminal;
static FILE *transcript; /* lines that left the main screen */
static pid_t program;
static int status = -1; /* of waitpid; -1: it runs */
static long bytes;

static void fail(const char *what, const char *detail)
{
    fprintf(stderr, "screen: %s %s\n", what, detail);
    if (status == -1)
        kill(program, SIGKILL);
    exit(1);
}

/* ---- the terminal ---- */

static void clear_row(int row, int from)
{
    for (int i = from; i < COLUMNS_MAX; i++)
        strcpy(grids[vt.grid][row][i], " ");
}

static void clear_all(void)
{
    for (int i = 0; i < ROWS_MAX; i++)
        clear_row(i, 0);
}

static void row_text(int row, char *text);

static void scroll(void)
{
    if (vt.grid == 0) {
        char text[COLUMNS_MAX * CELL_MAX];
        row_text(0, text);
        fprintf(transcript, "%s\n", text);
    }
    memmove(grids[vt.grid][0], grids[vt.grid][1], sizeof grids[0][0] * (ROWS_MAX - 1));
    clear_row(ROWS_MAX - 1, 0);
}

static void line_feed(void)
{
    if (vt.row + 1 < vt.rows)
        vt.row++;
    else
        scroll();
}

static void show_character(const char *text)
{
    if (vt.column >= vt.columns) {
        vt.wrapped |= vt.grid == 1;
        if (vt.wrap) {
            vt.column = 0;
            line_feed();
        } else {
            vt.column = vt.columns - 1;
        }
    }
    vt.last_column |= vt.grid == 1 && vt.column == vt.columns - 1;
    if (vt.row < ROWS_MAX && vt.column < COLUMNS_MAX)
        strcpy(grids[vt.grid][vt.row][vt.column], text);
    vt.column++;
}

static void set_mode(int mode, bool on)
{
    if (mode == 25) {
        vt.cursor = on;
    } else if (mode == 7) {
        vt.wrap = on;
    } else if (mode == 1049) {
        if (on) {
            vt.saved_row = vt.row;
            vt.saved_column = vt.column;
            vt.was_alternate = true;
        }
        vt.grid = on;
        if (on)
            clear_all();
        vt.row = on ? 0 : vt.saved_row;
        vt.column = on ? 0 : vt.saved_column;
    } else {
        fail("unknown mode in", vt.sequence);
    }
}

static void control_sequence(void)
{
    char final = vt.sequence[vt.sequence_length - 1];
    int first = 0, second = 0;
    int count = sscanf(vt.sequence + 1, "%d;%d", &first, &second);
    if (vt.sequence[1] == '?' && (final == 'h' || final == 'l')) {
        set_mode(atoi(vt.sequence + 2), final == 'h');
    } else if (final == 'H') {
        vt.row = count > 0 && first > 0 ? first - 1 : 0;
        vt.column = count > 1 && second > 0 ? second - 1 : 0;
        if (vt.row >= ROWS_MAX || vt.column >= COLUMNS_MAX)
            fail("the cursor is moved out of the screen:", vt.sequence);
    } else if (final == 'J' && first == 3) {
        return; /* what was scrolled off: `clear` */
    } else if (final == 'J' && (first == 0 || first == 2)) {
        clear_all();
    } else if (final == 'K' && first == 0) {
        clear_row(vt.row, vt.column);
    } else if (final != 'm') {
        fail("unknown control sequence", vt.sequence);
    }
}

static void take_escape(char byte)
{
    if (vt.sequence_length + 1 >= SEQUENCE_MAX)
        fail("endless control sequence", vt.sequence);
    vt.sequence[vt.sequence_length++] = byte;
    vt.sequence[vt.sequence_length] = '\0';
    if (vt.sequence_length == 1 && byte != '[')
        fail("unknown escape", vt.sequence);
    if (vt.sequence_length > 1 && byte >= '@' && byte <= '~') {
        control_sequence();
        vt.in_escape = false;
    }
}

static void take_byte(char byte)
{
    unsigned char value = (unsigned char)byte;
    if (vt.in_escape) {
        take_escape(byte);
    } else if (byte == '\033') {
        vt.in_escape = true;
        vt.sequence_length = 0;
    } else if (byte == '\r') {
        vt.column = 0;
    } else if (byte == '\n') {
        line_feed();
    } else if (value >= 0xc0) {
        vt.character[0] = byte;
        vt.character_length = 1;
        vt.character_wanted = value >= 0xf0 ? 4 : value >= 0xe0 ? 3 : 2;
    } else if (value >= 0x80) {
        vt.character[vt.character_length++] = byte;
        vt.character[vt.character_length] = '\0';
        if (vt.character_length == vt.character_wanted)
            show_character(vt.character);
    } else if (value >= ' ') {
        show_character((char[]){byte, '\0'});
    }
}

/* ---- the program ---- */

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Takes what comes within some milliseconds. */
static void pump(int wait_ms)
{
    struct pollfd ready = {.fd = terminal, .events = POLLIN};
    char buffer[4096];
    if (status == -1) {
        int changed;
        if (waitpid(program, &changed, WNOHANG) == program)
            status = changed;
    }
    if (poll(&ready, 1, wait_ms) < 1)
        return;
    ssize_t count = read(terminal, buffer, sizeof buffer);
    for (ssize_t i = 0; i < count; i++)
        take_byte(buffer[i]);
    bytes += count > 0 ? count : 0;
    if (count <= 0)
        usleep(1000); /* the other end is closed */
}

static void row_text(int row, char *text)
{
    size_t length = 0, end = 0;
    for (int i = 0; i < vt.columns && i < COLUMNS_MAX; i++) {
        const char *shown = grids[vt.grid][row][i];
        strcpy(text + length, shown);
        length += strlen(shown);
        if (strcmp(shown, " ") != 0)
            end = length;
    }
    text[end] = '\0';
}

static bool shows(const char *text)
{
    char row[COLUMNS_MAX * CELL_MAX];
    for (int i = 0; i < vt.rows && i < ROWS_MAX; i++) {
        row_text(i, row);
        if (strstr(row, text))
            return true;
    }
    return false;
}

static void dump(FILE *out)
{
    char row[COLUMNS_MAX * CELL_MAX];
    for (int i = 0; i < vt.rows && i < ROWS_MAX; i++) {
        row_text(i, row);
        fprintf(out, "%s\n", row);
    }
}

static void wait_for(const char *text, bool there)
{
    long start = now_ms();
    while (shows(text) != there) {
        if (now_ms() - start > WAIT_MS || (status != -1 && now_ms() - start > 1000)) {
            dump(stderr);
            fail(there ? "never shown:" : "never gone:", text);
        }
        pump(20);
    }
}

static void set_size(const char *text)
{
    struct winsize size = {0};
    if (sscanf(text, "%dx%d", &vt.rows, &vt.columns) != 2)
        fail("bad size", text);
    size.ws_row = (unsigned short)vt.rows;
    size.ws_col = (unsigned short)vt.columns;
    if (vt.grid == 1)
        clear_all(); /* so that only what is drawn anew counts */
    ioctl(terminal, TIOCSWINSZ, &size);
}

static void type_text(const char *text)
{
    char control = (char)(text[1] & 0x1f);
    bool is_control = text[0] == '^';
    size_t length = is_control ? 1 : strlen(text);
    if (write(terminal, is_control ? &control : text, length) != (ssize_t)length)
        fail("cannot type", text);
}

static pid_t first_child(void)
{
    char path[64];
    int child = 0;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)program, (long)program);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%d", &child) != 1)
        fail("there is no child process", path);
    fclose(file);
    return child;
}

static void write_dump(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        fail("cannot write", path);
    dump(file);
    fclose(file);
}

static void wait_end(void)
{
    long start = now_ms();
    while (status == -1) {
        if (now_ms() - start > WAIT_MS)
            fail("the program does not end", "");
        pump(20);
    }
}

static void run_step(const char *step)
{
    const char *text = strchr(step, ':');
    text = text ? text + 1 : "";
    if (strncmp(step, "wait:", 5) == 0)
        wait_for(text, true);
    else if (strncmp(step, "gone:", 5) == 0)
        wait_for(text, false);
    else if (strncmp(step, "size:", 5) == 0)
        set_size(text);
    else if (strncmp(step, "key:", 4) == 0)
        type_text(text);
    else if (strncmp(step, "signal:", 7) == 0)
        kill(program, atoi(text));
    else if (strncmp(step, "killchild:", 10) == 0)
        kill(first_child(), atoi(text));
    else if (strncmp(step, "dump:", 5) == 0)
        write_dump(text);
    else if (strcmp(step, "end") == 0)
        wait_end();
    else
        fail("unknown step", step);
}

int main(int argc, char **argv)
{
    int steps = 2;
    while (steps < argc && strcmp(argv[steps], "--") != 0)
        steps++;
    if (steps + 1 >= argc || sscanf(argv[1], "%dx%d", &vt.rows, &vt.columns) != 2) {
        fputs("usage: screen ROWSxCOLUMNS STEP... -- PROGRAM ARGUMENT...\n", stderr);
        return 2;
    }
    char *lines;
    size_t length;
    transcript = open_memstream(&lines, &length);
    if (!transcript)
        return 2;
    vt.grid = 1;
    clear_all();
    vt.grid = 0;
    clear_all();
    struct winsize size = {.ws_row = (unsigned short)vt.rows, .ws_col = (unsigned short)vt.columns};
    struct termios first, last;
    int own;
    if (openpty(&terminal, &own, NULL, NULL, &size) != 0 || tcgetattr(own, &first) != 0 ||
        (program = fork()) < 0)
        return 2;
    if (program == 0) {
        close(terminal);
        login_tty(own);
        execvp(argv[steps + 1], argv + steps + 1);
        _exit(127);
    }
    close(own);
    for (int i = 2; i < steps; i++)
        run_step(argv[i]);
    wait_end();
    for (int i = 0; i < 20; i++)
        pump(5);
    bool cooked = tcgetattr(terminal, &last) == 0 &&
                  (last.c_lflag & (ICANON | ECHO)) == (first.c_lflag & (ICANON | ECHO)) &&
                  (last.c_iflag & IXON) == (first.c_iflag & IXON);
    printf("status %d%s\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
           WIFEXITED(status) ? "" : " signal");
    printf("left %s%s%s %s\n", vt.grid ? "alternate" : "main", vt.cursor ? " cursor" : "",
           vt.wrap ? " wrap" : "", cooked ? "cooked" : "raw");
    printf("seen%s%s%s\n", vt.was_alternate ? " alternate" : "",
           vt.last_column ? " last-column" : "", vt.wrapped ? " wrapped" : "");
    printf("bytes %ld\n", bytes);
    fclose(transcript);
    fwrite(lines, 1, length, stdout);
    dump(stdout);
    free(lines);
    return 0;
}
