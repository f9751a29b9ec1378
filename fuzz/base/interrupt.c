/* interrupt.c - see interrupt.h. */
#include "fuzz/base/interrupt.h"

#include "engine/base/stop.h"
#include "fuzz/base/clock.h"

#include <stddef.h>
#include <sys/time.h>

volatile sig_atomic_t interrupted, interrupt_stop;

static uint64_t deadline_ms; /* 0: there is none */

static void interrupt(int signal_number)
{
    if (interrupted) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    interrupted = 1;
    interrupt_stop = STOP_INTERRUPTED;
}

static void time_is_over(int signal_number)
{
    (void)signal_number;
    if (!interrupted)
        interrupt_stop = STOP_TIME;
}

void interrupt_catch(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    interrupted = interrupt_stop = 0;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

static void set_alarm(uint64_t milliseconds)
{
    const struct itimerval once = {
        .it_value = {.tv_sec = (time_t)(milliseconds / 1000),
                     .tv_usec = (suseconds_t)(milliseconds % 1000 * 1000)}};
    setitimer(ITIMER_REAL, &once, NULL);
}

void interrupt_after(uint64_t milliseconds)
{
    struct sigaction action = {.sa_handler = time_is_over, .sa_flags = SA_RESTART};
    if (milliseconds == 0)
        return;
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    deadline_ms = clock_monotonic_ms() + milliseconds;
    set_alarm(milliseconds);
}

bool interrupt_time_over(void)
{
    return deadline_ms > 0 && clock_monotonic_ms() >= deadline_ms;
}

void interrupt_part(uint32_t share)
{
    if (deadline_ms == 0)
        return;
    uint64_t now = clock_monotonic_ms(), left = now < deadline_ms ? deadline_ms - now : 0;
    set_alarm(left / share + 1);
    interrupt_stop = left > 0 ? 0 : STOP_TIME;
    if (interrupted) /* just now, perhaps */
        interrupt_stop = STOP_INTERRUPTED;
}
