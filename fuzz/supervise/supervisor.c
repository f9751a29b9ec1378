#include "fuzz/supervise/supervisor.h"

#include "fuzz/base/clock.h"
#include "fuzz/base/exit_status.h"
#include "fuzz/out/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PAUSE_MS = 200,
    REPEAT_MS = 100,      /* timeout(1) signals a process and then its group: that is one request */
    END_MS = 5000,        /* after a request to end, a worker may be at one case for so long */
    STILL_MAX_MS = 1000,  /* what one pause may count: this process may have been stopped */
    KILLS_IN_A_ROW = 3,   /* SIGKILL without a sign of lack of memory, until cases are suspected */
    DEATHS_IN_A_ROW = 60, /* without a chunk that was stored */
};

/* What the signal handlers leave. */
static volatile sig_atomic_t asked, last_signal;
static volatile uint64_t asked_ms;

struct supervision {
    const struct supervisor *supervisor;
    struct watch *watch;
    pid_t child;
    bool stopped; /* by SIGSTOP */
    bool hung;    /* killed, since a case took too long */
    bool cut;     /* killed once, since it did not end when it was asked to */
    uint64_t beats[WATCH_JOBS_MAX], still_ms[WATCH_JOBS_MAX]; /* since the last beat */
    uint64_t looked_ms;
    uint64_t committed;               /* at the last death */
    uint32_t deaths, crashes, killed; /* since then: in all, confirmed cases, by SIGKILL */
    uint64_t oom_kills;               /* of the system, at the start of the child */
};

/* ---- signals ---- */

static void ask(int signal_number)
{
    uint64_t now = clock_monotonic_ms();
    last_signal = signal_number;
    if (asked > 0 && now - asked_ms < REPEAT_MS)
        return;
    asked_ms = now;
    asked++;
}

static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { END_SIGNALS = sizeof end_signals / sizeof end_signals[0] };

struct signals_before {
    struct sigaction end[END_SIGNALS], child;
    sigset_t mask;
};

/* SIGCHLD is waited for, so it must be blocked and not ignored. */
static void catch_signals(struct signals_before *before)
{
    struct sigaction action = {.sa_handler = ask}, standard = {.sa_handler = SIG_DFL};
    sigset_t child;
    asked = 0;
    for (int i = 0; i < END_SIGNALS; i++)
        sigaction(end_signals[i], &action, &before->end[i]);
    sigaction(SIGCHLD, &standard, &before->child);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before->mask);
}

static void release_signals(const struct signals_before *before)
{
    for (int i = 0; i < END_SIGNALS; i++)
        sigaction(end_signals[i], &before->end[i], NULL);
    sigaction(SIGCHLD, &before->child, NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

/* ---- the child ---- */

static _Noreturn void be_the_child(const struct signals_before *before, pid_t parent,
                                   int (*body)(void *context, struct watch *watch), void *context,
                                   struct watch *watch)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before that */
        _exit(CLI_FAULT);
    /* A terminal signals both processes: the parent is the one that hears. */
    for (int i = 0; i < END_SIGNALS; i++)
        signal(end_signals[i], SIG_IGN);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
    int status = body(context, watch);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "simtfuzz: standard output: %s\n", strerror(errno));
        status = CLI_FAULT;
    }
    exit(status);
}

/* How often the system killed a process for want of memory; 0 where it does not say. */
static uint64_t read_oom_kills(void)
{
    char line[128];
    uint64_t kills = 0;
    FILE *file = fopen("/proc/vmstat", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "oom_kill ", 9) == 0)
            kills = strtoull(line + 9, NULL, 10);
    if (file)
        fclose(file);
    return kills;
}

/* ---- waiting ---- */

/* True: a worker has been at one case, or one candidate of a minimisation, for too long. */
static bool look_for_hangs(struct supervision *s)
{
    uint64_t now = clock_monotonic_ms();
    uint64_t passed = now - s->looked_ms < STILL_MAX_MS ? now - s->looked_ms : STILL_MAX_MS;
    bool hanging = false;
    s->looked_ms = now;
    for (uint32_t i = 0; i < WATCH_JOBS_MAX; i++) {
        const struct watch_slot *slot = &s->watch->slots[i];
        uint64_t beat = atomic_load_explicit(&slot->beat, memory_order_relaxed);
        bool idle = atomic_load_explicit(&slot->phase, memory_order_relaxed) == WATCH_IDLE;
        s->still_ms[i] =
            idle || beat != s->beats[i] ? 0 : s->still_ms[i] + (s->stopped ? 0 : passed);
        s->beats[i] = beat;
        hanging |= s->still_ms[i] >= s->supervisor->case_timeout_ms;
    }
    return hanging;
}

/* A request goes to the child; a second one ends both. */
static void pass_on(struct supervision *s)
{
    if (asked > 1) {
        kill(s->child, SIGKILL);
        waitpid(s->child, NULL, 0);
        terminal_leave();
        signal(last_signal, SIG_DFL);
        raise(last_signal);
    }
    atomic_store_explicit(&s->watch->asked_to_end, (unsigned)asked, memory_order_relaxed);
}

/* What is known of the cases that kept a child from ending when it was asked to: too little for a finding. */
static void say_cut(const struct supervision *s)
{
    for (uint32_t i = 0; i < WATCH_JOBS_MAX; i++)
        if (s->still_ms[i] >= 1000)
            fprintf(
                s->supervisor->log,
                "simtfuzz: a worker was %s case %" PRIu64 " for %" PRIu64
                " s without a sign of life when it was ended\n",
                watch_phase_name(
                    atomic_load_explicit(&s->watch->slots[i].phase, memory_order_relaxed)),
                (uint64_t)atomic_load_explicit(&s->watch->slots[i].number, memory_order_relaxed),
                s->still_ms[i] / 1000);
}

/* A child that does not end is killed; the next one only says that the campaign is interrupted. */
static void cut_short(struct supervision *s)
{
    if (asked == 0 || s->cut || s->stopped || clock_monotonic_ms() - asked_ms < END_MS)
        return;
    s->cut = true;
    kill(s->child, SIGKILL);
}

/* Waits for the child's end; returns the status of waitpid. */
static int wait_for_child(struct supervision *s)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
    sigset_t child;
    int status;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    s->looked_ms = clock_monotonic_ms();
    s->stopped = s->hung = false;
    memset(s->still_ms, 0, sizeof s->still_ms);
    for (;;) {
        pid_t changed = waitpid(s->child, &status, WNOHANG | WUNTRACED | WCONTINUED);
        if (changed == s->child && (WIFEXITED(status) || WIFSIGNALED(status)))
            return status;
        if (changed == s->child)
            s->stopped = WIFSTOPPED(status);
        pass_on(s);
        cut_short(s);
        if (!s->hung && look_for_hangs(s)) {
            s->hung = true;
            kill(s->child, SIGKILL);
        }
        if (changed == 0)
            sigtimedwait(&child, NULL, &pause);
    }
}

/* ---- what a death says ---- */

static struct incident *find_incident(struct watch *watch, uint64_t number)
{
    for (uint32_t i = 0; i < watch->incident_count; i++)
        if (watch->incidents[i].number == number)
            return &watch->incidents[i];
    return NULL;
}

/* What a death is put down to. */
struct blame {
    const char *rule;
    bool hang;
    bool known; /* the case itself did it; otherwise one of those that ran may have */
    bool sole;  /* nothing else ran */
};

static void say(const struct supervision *s, const struct incident *incident)
{
    static const char *const what[] = {
        [INCIDENT_CANDIDATE] = "may have to do with it and is run alone",
        [INCIDENT_SUSPECT] = "is run again, alone",
        [INCIDENT_CONFIRMED] = "is left out from now on and stored as a finding",
    };
    bool again = incident->hang && incident->state == INCIDENT_CANDIDATE;
    fprintf(s->supervisor->log, "simtfuzz: %s while %s case %" PRIu64 ", which %s\n",
            incident->rule, watch_phase_name(incident->phase), incident->number,
            what[again ? INCIDENT_SUSPECT : incident->state]);
}

/* A case that is left out in part, and was fatal again in what is left of it. */
static void escalate(struct incident *incident)
{
    incident->phase = incident->phase == WATCH_MINIMISING ? WATCH_CHECKING : WATCH_GENERATING;
}

/* The process died or hung while the worker of this slot was at a case. */
static void suspect(struct supervision *s, const struct watch_slot *slot, const struct blame *blame)
{
    struct watch *watch = s->watch;
    uint64_t number = atomic_load_explicit(&slot->number, memory_order_relaxed);
    struct incident *incident = find_incident(watch, number);
    if (incident && !blame->known && !blame->sole)
        return;
    if (incident && incident->state == INCIDENT_CONFIRMED) {
        escalate(incident);
        return;
    }
    if (incident) {
        incident->state = INCIDENT_CONFIRMED;
        s->crashes++;
    } else {
        if (watch->incident_count == WATCH_INCIDENTS_MAX)
            return;
        incident = &watch->incidents[watch->incident_count++];
        incident->number = number;
        /* That a case took long once may be the machine's fault. */
        incident->state = blame->known && !blame->hang ? INCIDENT_SUSPECT : INCIDENT_CANDIDATE;
    }
    incident->chunk = atomic_load_explicit(&slot->chunk, memory_order_relaxed);
    incident->phase = atomic_load_explicit(&slot->phase, memory_order_relaxed);
    incident->hang = blame->hang;
    snprintf(incident->rule, sizeof incident->rule, "%s", blame->rule);
    say(s, incident);
}

static bool is_busy(const struct watch_slot *slot)
{
    return atomic_load_explicit(&slot->phase, memory_order_relaxed) != WATCH_IDLE;
}

static void suspect_hanging(struct supervision *s)
{
    const struct blame blame = {.rule = "timeout", .hang = true, .known = true};
    for (uint32_t i = 0; i < WATCH_JOBS_MAX; i++)
        if (s->still_ms[i] >= s->supervisor->case_timeout_ms)
            suspect(s, &s->watch->slots[i], &blame);
}

static void suspect_all(struct supervision *s, const char *rule)
{
    uint32_t busy = 0;
    for (uint32_t i = 0; i < WATCH_JOBS_MAX; i++)
        busy += is_busy(&s->watch->slots[i]);
    const struct blame blame = {.rule = rule, .sole = busy == 1};
    for (uint32_t i = 0; i < WATCH_JOBS_MAX; i++)
        if (is_busy(&s->watch->slots[i]))
            suspect(s, &s->watch->slots[i], &blame);
}

/* A process may be killed by a person as well as for a case's sake. */
static bool kill_is_suspicious(struct supervision *s)
{
    return read_oom_kills() > s->oom_kills || ++s->killed >= KILLS_IN_A_ROW;
}

static void learn(struct supervision *s, int status)
{
    const struct watch_death *death = &s->watch->death;
    bool told = atomic_load_explicit(&death->claimed, memory_order_relaxed);
    const char *rule = told ? death->rule : watch_signal_name(WTERMSIG(status));
    if (s->hung) {
        suspect_hanging(s);
        return;
    }
    if (told && !death->outside && death->slot >= 0 && is_busy(&s->watch->slots[death->slot])) {
        suspect(s, &s->watch->slots[death->slot], &(struct blame){.rule = rule, .known = true});
        return;
    }
    fprintf(s->supervisor->log,
            "simtfuzz: %s ended the campaign's process; it goes on from what is stored\n", rule);
    bool killed = !told && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (told ? !death->outside : !killed || kill_is_suspicious(s))
        suspect_all(s, rule);
}

/* Forgets incidents of chunks that are stored, and says until where the next child has to be careful. */
static void plan_next(struct supervision *s, uint64_t committed)
{
    struct watch *watch = s->watch;
    uint32_t kept = 0;
    watch->alone_until = watch->go_on_until = 0;
    for (uint32_t i = 0; i < watch->incident_count; i++) {
        const struct incident *incident = &watch->incidents[i];
        bool pending = incident->chunk >= committed;
        if (pending && incident->chunk >= watch->go_on_until)
            watch->go_on_until = incident->chunk + 1;
        if (pending && incident->state != INCIDENT_CONFIRMED &&
            incident->chunk >= watch->alone_until)
            watch->alone_until = incident->chunk + 1;
        if (pending)
            watch->incidents[kept++] = *incident;
    }
    watch->incident_count = kept;
}

/* After a death. False: there is no hope. */
static bool go_on(struct supervision *s, int status)
{
    struct watch *watch = s->watch;
    uint64_t committed = atomic_load_explicit(&watch->committed, memory_order_relaxed);
    if (committed > s->committed)
        s->deaths = s->crashes = s->killed = 0;
    s->committed = committed;
    s->deaths++;
    if (asked == 0)
        learn(s, status);
    else if (s->cut || s->hung)
        say_cut(s);
    plan_next(s, committed);
    bool many = s->crashes >= SUPERVISOR_CRASHES_IN_A_ROW;
    if (many)
        fprintf(s->supervisor->log,
                "simtfuzz: %d cases in a row are fatal to the engine: giving up; the findings are "
                "stored, none of the cases around them as done\n",
                SUPERVISOR_CRASHES_IN_A_ROW);
    else if (s->deaths >= DEATHS_IN_A_ROW || watch->incident_count == WATCH_INCIDENTS_MAX)
        fputs("simtfuzz: the campaign's process dies again and again: giving up; what is stored "
              "stays\n",
              s->supervisor->log);
    else
        return true;
    return false;
}

/* ---- supervising ---- */

static void forget_child(struct watch *watch)
{
    for (uint32_t i = 0; i < WATCH_JOBS_MAX; i++)
        atomic_store_explicit(&watch->slots[i].phase, WATCH_IDLE, memory_order_relaxed);
    memset(&watch->death, 0, sizeof watch->death);
}

/* One more process, which only stores what is known of the cases that were fatal. */
static void store_incidents(struct supervision *s, const struct signals_before *before,
                            int (*body)(void *context, struct watch *watch), void *context)
{
    pid_t parent = getpid();
    if (s->watch->incident_count == 0 || asked > 1)
        return;
    forget_child(s->watch);
    s->watch->last_resort = true;
    fflush(NULL);
    s->child = fork();
    if (s->child == 0)
        be_the_child(before, parent, body, context, s->watch);
    int status = s->child < 0 ? -1 : wait_for_child(s);
    if (s->child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) == CLI_FAULT)
        fputs("simtfuzz: what is known of the fatal cases could not be stored\n",
              s->supervisor->log);
}

static int supervise_children(struct supervision *s, const struct signals_before *before,
                              int (*body)(void *context, struct watch *watch), void *context)
{
    pid_t parent = getpid();
    for (;;) {
        forget_child(s->watch);
        s->oom_kills = read_oom_kills();
        fflush(NULL);
        s->child = fork();
        if (s->child < 0) {
            fprintf(s->supervisor->log, "simtfuzz: cannot start a process: %s\n", strerror(errno));
            return CLI_FAULT;
        }
        if (s->child == 0)
            be_the_child(before, parent, body, context, s->watch);
        int status = wait_for_child(s);
        terminal_leave(); /* of a child that could not */
        bool told = atomic_load_explicit(&s->watch->death.claimed, memory_order_relaxed);
        if (WIFEXITED(status) && !told)
            return WEXITSTATUS(status);
        if (!go_on(s, status)) {
            store_incidents(s, before, body, context);
            return CLI_FAULT;
        }
    }
}

int supervise(const struct supervisor *supervisor, int (*body)(void *context, struct watch *watch),
              void *context)
{
    struct watch *watch =
        mmap(NULL, sizeof *watch, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (watch == MAP_FAILED) {
        fprintf(supervisor->log, "simtfuzz: cannot reserve memory: %s\n", strerror(errno));
        return CLI_FAULT;
    }
    struct signals_before before;
    struct supervision s = {.supervisor = supervisor, .watch = watch};
    watch->started_ms = clock_monotonic_ms();
    catch_signals(&before);
    int status = supervise_children(&s, &before, body, context);
    release_signals(&before);
    munmap(watch, sizeof *watch);
    return status;
}

bool supervisor_is_in_the_way(void)
{
    bool traced = false;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return true;
#endif
#endif
    char line[128];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        traced |= strncmp(line, "TracerPid:", 10) == 0 && strtol(line + 10, NULL, 10) != 0;
    if (file)
        fclose(file);
    return traced;
}
