#include "fuzz/out/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

/* Alternate screen, cleared; no cursor; no wrapping at the last column. */
static const char ENTER[] = "\033[?1049h\033[2J\033[?25l\033[?7l";
static const char LEAVE[] = "\033[0m\033[?7h\033[?25h\033[?1049l";

enum { ROWS_USUAL = 24, COLUMNS_USUAL = 80, WRITE_WAIT_MS = 1000 };

/* Set once; read by signal handlers. */
static struct termios before;
static bool has_keys;
static pid_t owner;
static atomic_int *shown; /* enum shown, in memory that the processes share; NULL: no terminal */

enum shown { SCREEN_HIDDEN, SCREEN_SHOWN, SCREEN_CLOSED, SCREEN_DYING };

bool terminal_is_able(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

static bool in_foreground(void)
{
    return tcgetpgrp(STDERR_FILENO) == getpgrp();
}

/* ---- stopping ---- */

/* A shell takes the terminal as soon as the process that it started has stopped: so it is that one, which
 * called terminal_open, that restores it, and nobody else. */
static void stop(int signal_number)
{
    int error = errno;
    /* Whose parent is of another session has no shell that could continue it: the system will not stop it. */
    if (getpid() == owner && getsid(getppid()) == getsid(0))
        terminal_close();
    signal(signal_number, SIG_DFL);
    raise(signal_number); /* comes when this handler returns */
    errno = error;
}

/* The screen comes back with the next drawing. */
static void go_on(int signal_number)
{
    int closed = SCREEN_CLOSED;
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    (void)signal_number;
    sigemptyset(&action.sa_mask);
    sigaction(SIGTSTP, &action, NULL);
    if (getpid() == owner)
        atomic_compare_exchange_strong(shown, &closed, SCREEN_HIDDEN);
}

static void catch_stops(void)
{
    struct sigaction action = {.sa_handler = go_on, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGCONT, &action, NULL);
    go_on(0);
}

/* ---- ends ---- */

static void restore(void)
{
    ssize_t written = write(STDERR_FILENO, LEAVE, sizeof LEAVE - 1);
    (void)written;
    tcsetattr(STDERR_FILENO, TCSANOW, &before);
}

/* A signal of the terminal kills both processes, and the death of one may kill the other in the middle of this:
 * so each restores, whoever is first. */
static void die(int signal_number)
{
    int was = shown ? atomic_exchange(shown, SCREEN_DYING) : SCREEN_HIDDEN;
    if ((was == SCREEN_SHOWN || was == SCREEN_DYING) && in_foreground())
        restore();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Whoever has a better use for one of them sets another handler later. */
static void catch_ends(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT};
    struct sigaction action = {.sa_handler = die};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

/* ---- the screen ---- */

bool terminal_open(void)
{
    if (!terminal_is_able() || tcgetattr(STDERR_FILENO, &before) != 0)
        return false;
    void *memory =
        mmap(NULL, sizeof *shown, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    shown = memory;
    atomic_init(shown, SCREEN_HIDDEN);
    owner = getpid();
    catch_ends();
    catch_stops();
    has_keys = isatty(STDIN_FILENO);
    return true;
}

/* Keys one by one, unseen; Ctrl-C and Ctrl-Z stay signals, Ctrl-S stops nothing. */
static void take_keys(void)
{
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_iflag &= ~(tcflag_t)IXON;
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDERR_FILENO, TCSANOW, &raw);
}

bool terminal_enter(bool *entered)
{
    *entered = false;
    if (!shown || !in_foreground())
        return false;
    int state = SCREEN_HIDDEN;
    if (atomic_load(shown) == SCREEN_SHOWN)
        return true;
    /* First: from here on, somebody's end has to undo it. */
    if (!atomic_compare_exchange_strong(shown, &state, SCREEN_SHOWN))
        return state == SCREEN_SHOWN;
    take_keys();
    if (atomic_load(shown) != SCREEN_SHOWN) { /* somebody's end came in between */
        tcsetattr(STDERR_FILENO, TCSANOW, &before);
        return false;
    }
    *entered = true;
    return terminal_write(ENTER, sizeof ENTER - 1);
}

static void leave(enum shown state)
{
    if (!shown || atomic_exchange(shown, state) != SCREEN_SHOWN || !in_foreground())
        return;
    restore();
}

void terminal_leave(void)
{
    leave(SCREEN_HIDDEN);
}

void terminal_close(void)
{
    leave(SCREEN_CLOSED);
}

void terminal_size(uint32_t *rows, uint32_t *columns)
{
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
    *rows = known && size.ws_row > 0 ? size.ws_row : ROWS_USUAL;
    *columns = known && size.ws_col > 0 ? size.ws_col : COLUMNS_USUAL;
}

bool terminal_write(const char *bytes, size_t length)
{
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (!shown || atomic_load(shown) != SCREEN_SHOWN || poll(&ready, 1, 0) < 1 ||
        !(ready.revents & POLLOUT))
        return false;
    while (length > 0) {
        ssize_t written = write(STDERR_FILENO, bytes, length);
        if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        } else if (written < 0 && errno == EAGAIN) {
            if (poll(&ready, 1, WRITE_WAIT_MS) < 1)
                return false;
        } else if (written < 0 && errno != EINTR) {
            return false;
        }
    }
    return true;
}

char terminal_key(void)
{
    struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
    char key;
    if (!has_keys || !shown || atomic_load(shown) != SCREEN_SHOWN || !in_foreground() ||
        poll(&ready, 1, 0) < 1 || !(ready.revents & POLLIN))
        return 0;
    return read(STDIN_FILENO, &key, 1) == 1 ? key : 0;
}

/* ---- what it can show ---- */

bool terminal_has_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *locale = getenv(names[i]);
        if (!locale || !*locale)
            continue;
        const char *dot = strchr(locale, '.');
        return dot && (strncasecmp(dot, ".utf-8", 6) == 0 || strncasecmp(dot, ".utf8", 5) == 0);
    }
    return false;
}

bool terminal_has_color(void)
{
    const char *no_color = getenv("NO_COLOR");
    return !(no_color && *no_color);
}
