#include "fuzz/crash.h"

#include "fuzz/cli/cli.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HANDLER_STACK_BYTES = 64 * 1024 };

static _Thread_local struct crash_note *current_note;
static _Thread_local void *handler_stack;

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

static void last_words(int signal_number)
{
    struct last_words words = {.length = 0};
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

void crash_install(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action = {.sa_handler = last_words, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
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
