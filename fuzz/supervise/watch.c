#include "fuzz/supervise/watch.h"

#include <signal.h>
#include <stddef.h>

const char *watch_phase_name(enum watch_phase phase)
{
    switch (phase) {
    case WATCH_IDLE:
        return "idle";
    case WATCH_GENERATING:
        return "generating";
    case WATCH_CHECKING:
        return "checking";
    case WATCH_HOST:
        return "host program";
    case WATCH_LITMUS:
        return "litmus test";
    case WATCH_MINIMISING:
        return "minimising";
    }
    return "?";
}

const struct incident *watch_incident(const struct watch *watch, uint64_t number)
{
    for (uint32_t i = 0; watch && i < watch->incident_count; i++)
        if (watch->incidents[i].number == number)
            return &watch->incidents[i];
    return NULL;
}

const char *watch_signal_name(int signal_number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},
        {SIGABRT, "SIGABRT"}, {SIGKILL, "SIGKILL"}, {SIGXCPU, "SIGXCPU"}, {SIGTRAP, "SIGTRAP"},
        {SIGSYS, "SIGSYS"},   {SIGALRM, "SIGALRM"}, {SIGPIPE, "SIGPIPE"}, {SIGXFSZ, "SIGXFSZ"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].number == signal_number)
            return names[i].name;
    return "a signal";
}
