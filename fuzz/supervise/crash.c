#include "fuzz/supervise/crash.h"

#include "engine/base/invariant.h"
#include "fuzz/base/exit_status.h"
#include "fuzz/out/terminal.h"
#include "fuzz/supervise/watch.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HANDLER_STACK_BYTES = 64 * 1024 };

static _Thread_local struct crash_note *current_note;
static _Thread_local void *handler_stack;
static struct watch *told;

/* Only write(2) and arithmetic from here: the handler may interrupt anything. */
struct last_words {
    char text[600];
    size_t length;
};

static void say(struct last_words *words, const char *text)
{
    for (; *text && words->length < sizeof words->text; text++)
        words->text[words->length++] = *text;
}

static void say_number(struct last_words *words, uint64_t number)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    say(words, digits + at);
}

/* ---- to the watching process ---- */

static size_t append(char rule[WATCH_RULE_MAX], size_t length, const char *text)
{
    /* '|' separates the parts of a signature */
    for (; *text && length < WATCH_RULE_MAX - 1; text++)
        rule[length++] = *text == '|' ? '/' : *text;
    rule[length] = '\0';
    return length;
}

static const char *base_name(const char *path)
{
    const char *base = path;
    for (; *path; path++)
        if (*path == '/')
            base = path + 1;
    return base;
}

/* Of several threads that die at once the first one tells; the others wait for the end. */
static void tell(int signal_number, const siginfo_t *info)
{
    const char *file;
    struct watch_death *death = &told->death;
    /* Relaxed: the process that reads it waits for the end of this one. */
    if (atomic_exchange_explicit(&death->claimed, true, memory_order_relaxed))
        for (;;)
            pause();
    death->signal = signal_number;
    death->outside = info->si_code <= 0 && info->si_pid != getpid();
    death->slot = current_note ? current_note->slot : -1;
    const char *condition = invariant_failed(&file);
    if (signal_number == SIGABRT && condition) {
        size_t length = append(death->rule, 0, base_name(file));
        length = append(death->rule, length, ": ");
        append(death->rule, length, condition);
    } else {
        append(death->rule, 0, watch_signal_name(signal_number));
    }
}

static void last_words(int signal_number, siginfo_t *info, void *context)
{
    struct last_words words = {.length = 0};
    (void)context;
    if (told)
        tell(signal_number, info);
    terminal_close();
    say(&words, "simtfuzz: signal ");
    say_number(&words, (uint64_t)signal_number);
    if (current_note) {
        say(&words, " in case ");
        say_number(&words, current_note->number);
        say(&words, " of seed ");
        say(&words, current_note->seed);
        say(&words, "; its kernel: ");
        say(&words, current_note->command);
        say(&words, " ");
        say_number(&words, current_note->number);
    }
    say(&words, "\n");
    ssize_t written = write(STDERR_FILENO, words.text, words.length);
    (void)written;
    _exit(CLI_FAULT);
}

void crash_say_case(FILE *out)
{
    if (current_note)
        fprintf(out, ", in case %" PRIu64 " of seed %s", current_note->number, current_note->seed);
}

void crash_install(struct watch *watch)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action = {.sa_sigaction = last_words, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    told = watch;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

void crash_thread_start(struct crash_note *note)
{
    current_note = note;
    handler_stack = malloc(HANDLER_STACK_BYTES);
    if (!handler_stack)
        return;
    stack_t stack = {.ss_sp = handler_stack, .ss_size = HANDLER_STACK_BYTES};
    sigaltstack(&stack, NULL);
}

void crash_thread_end(void)
{
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    free(handler_stack);
    current_note = NULL;
}
