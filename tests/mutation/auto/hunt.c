/*
 * hunt - looks for automatic mutants (mutate.h) by the ordinary campaign.
 *
 *     hunt [--cases N] [--seeds N] [--jobs N] [--sample N [--draw N]] [--names FILE] [--only PATTERN]...
 *          [--corpus FOLDER] [--canaries FILE] [--units PATTERN,...] [--oracles LIST] [--patience N] [--blind] [--list]
 *          [--reach] [--output FILE]
 *
 * Campaigns with seeds 1 .. N, all oracles, default features: until an oracle speaks of what is not known, a case
 * crashes (a failed INVARIANT), or does not end within five seconds of CPU time. A mutant that all of them miss is
 * tried on the canaries, if it is in a part that fails by silence, on the corpus, and on the unit tests (--units: those
 * whose names match a pattern). A line a mutant and seed:
 *
 *     family class name file place reached triggered detected oracle cases steps seed status note
 *
 *   reached    yes, no: its place is executed by some trial
 *   triggered  the first case that shows something else than in the original (fuzz/case/digest.h), or -
 *   detected   the first case that an oracle speaks in, or -
 *   oracle     all that speak in that case; crash, hang; canary:ORACLE: silent about a canary; corpus: an
 *              expectation of a kernel, or an oracle about one; test NAME: a unit test that fails; golden: only a
 *              golden digest (tests/golden) is another: something shows it, nothing says that it is wrong
 *   cases      from the campaign's first to that one, or all; steps: of threads and warps in them
 *   status     detected crashed timeout survived; of a canary, the corpus or a test: detected
 *
 * --sample N: N mutants, evenly over files and operators, always the same; --draw M: others for another M. --only:
 * names (fnmatch). --list: names only. --reach: nothing is hunted; a line a mutant, `part name reached campaign canary
 * corpus test`: in how many trials of each kind it is infected. --names FILE: the mutants that it names, a line each
 * (sample.txt: those whose survivors are explained). --oracles LIST: only these are asked: what one of them is worth is
 * told by a hunt with all, and one with the others. --patience N: a campaign is given up after N cases in which the
 * mutant was infected and nothing was seen to differ: cheaper, and a few are missed that show late.
 * --blind: the original is not recorded, which takes minutes; every unit test is asked about every mutant. Only --units
 * then, and a campaign that tells nothing.
 * --output FILE: lines that are in it are not made again, so that an interrupted hunt goes on; FILE.record keeps what
 * the original did. Leave the sources alone meanwhile: tests read corpus/ and tests/golden. A hunt that finds these
 * changed ends with 3.
 */
#include "tests/mutation/auto/hunt.h"

#include "tests/mutation/auto/units.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the child ---- */

/* Which trials are of a phase: [*first, *end). */
static void phase_trials(const struct hunt *hunt, uint32_t phase, uint32_t *first, uint32_t *end)
{
    const struct trials *t = &hunt->trials;
    static const enum trial_kind kinds[LATER_COUNT] = {TRIAL_CANARY, TRIAL_CORPUS, TRIAL_UNIT};
    *first = phase < t->seeds ? phase * t->cases : t->campaign_count;
    *end = phase < t->seeds ? *first + t->cases : t->count;
    if (phase >= t->seeds) { /* a kind stands together */
        while (*first < *end && t->items[*first].kind != kinds[phase - t->seeds])
            ++*first;
        while (*first < *end && t->items[*end - 1].kind != kinds[phase - t->seeds])
            --*end;
    }
}

static bool fails_by_silence(int mutant)
{
    static const char *const parts[] = {"oracle", "race", "scheduler", "search"};
    const char *part = mutant_points[mutant_point_of(mutant)].part;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(part, parts[i]) == 0)
            return true;
    return false;
}

/* Whether a phase of the job is needed at all. */
static bool is_needed(const struct hunt *hunt, const struct job *job, uint32_t phase)
{
    uint32_t seeds = hunt->trials.seeds;
    bool all = true;
    if (phase < seeds)
        return true;
    for (uint32_t s = 0; s < seeds; s++)
        all &= hunt_detected(&job->outcomes[s]);
    for (uint32_t later = seeds; later < phase; later++)
        all |= hunt_detected(&job->outcomes[later]);
    return !all && (phase != seeds + LATER_CANARIES || fails_by_silence(job->mutant));
}

/* True: it was found. */
static bool judge_trial(const struct trial *trial, const struct trial_shown *shown,
                        const struct trial_shown *original, struct hunted *o)
{
    uint32_t spoke = shown->oracles & ~original->oracles;
    switch (trial->kind) {
    case TRIAL_CAMPAIGN:
        o->oracles = spoke;
        o->found = spoke ? FOUND_ORACLE : FOUND_NOT;
        break;
    case TRIAL_CANARY:
        o->oracles = 1u << trial->oracle & original->oracles & ~shown->oracles;
        o->found = o->oracles ? FOUND_CANARY : FOUND_NOT;
        break;
    case TRIAL_CORPUS:
        o->oracles = spoke;
        o->found = spoke || shown->failed > original->failed ? FOUND_CORPUS : FOUND_NOT;
        break;
    case TRIAL_UNIT:
        o->found = shown->failed > original->failed ? FOUND_UNIT : FOUND_NOT;
        break;
    }
    return o->found != FOUND_NOT;
}

enum { PHASE_SECONDS = 60 }; /* of CPU time: after that it is given up, "slow" */

static double cpu_seconds(void)
{
    struct rusage self, children; /* unit tests */
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    return (double)(self.ru_utime.tv_sec + children.ru_utime.tv_sec) +
           (double)(self.ru_utime.tv_usec + children.ru_utime.tv_usec) / 1e6;
}

/* Unit tests that infect few mutants come first: they test little else, and are short. Golden ones come last. */
static int compare_units(const void *a, const void *b)
{
    const struct unit_order *x = a, *y = b;
    int order = (x->golden > y->golden) - (x->golden < y->golden);
    if (order == 0)
        order = (x->infected > y->infected) - (x->infected < y->infected);
    return order ? order : (x->trial > y->trial) - (x->trial < y->trial);
}

static void order_units(struct hunt *hunt)
{
    const struct trials *trials = &hunt->trials;
    hunt->unit_order = calloc(trials->count + 1, sizeof *hunt->unit_order);
    if (!hunt->unit_order)
        exit(3);
    for (uint32_t t = trials->campaign_count; t < trials->count; t++)
        if (trials->items[t].kind == TRIAL_UNIT)
            hunt->unit_order[hunt->units++] = (struct unit_order){
                trials_infected(trials, t), t, units[trials->items[t].number].golden};
    qsort(hunt->unit_order, hunt->units, sizeof *hunt->unit_order, compare_units);
}

static void run_phase(struct hunt *hunt, struct job *job, uint32_t phase)
{
    uint32_t first, end;
    struct hunted *o = &job->outcomes[phase];
    double start = cpu_seconds();
    uint32_t in_vain = 0;
    bool slow = false;
    phase_trials(hunt, phase, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        bool is_unit = hunt->trials.items[i].kind == TRIAL_UNIT;
        uint32_t t = is_unit ? hunt->unit_order[i - first].trial : i;
        const struct trial *trial = &hunt->trials.items[t];
        struct trial_shown shown;
        if (!trials_infects(&hunt->trials, t, job->mutant) || trial->canary == job->mutant)
            continue;
        if (cpu_seconds() - start > PHASE_SECONDS) {
            slow = true;
            o->trial = t;
        }
        if (slow && !(is_unit && units[trial->number].golden)) /* these come last, and see much */
            continue;
        if (hunt->options.patience > 0 && in_vain == hunt->options.patience &&
            trial->kind == TRIAL_CAMPAIGN) {
            o->found = FOUND_NOTHING;
            o->trial = t;
            return;
        }
        job->trial = t;
        mutant_all_off();
        mutant_switch_on(job->mutant);
        if (trial->canary >= 0)
            mutant_switch_on(trial->canary);
        trial_show(trial, o->triggered < 0, &shown);
        if (!is_unit && o->triggered < 0 && shown.digest != hunt->trials.original[t].digest)
            o->triggered = (int64_t)trial->number;
        in_vain += o->triggered < 0;
        o->steps = shown.steps;
        o->trial = t;
        if (judge_trial(trial, &shown, &hunt->trials.original[t], o))
            return;
    }
    if (slow)
        o->found = FOUND_SLOW;
}

static _Noreturn void run_child(struct hunt *hunt, struct job *job, FILE *words)
{
    const struct rlimit none = {0, 0};
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a hunt that is stopped leaves nobody behind */
    setrlimit(RLIMIT_CORE, &none);
    dup2(fileno(words), STDERR_FILENO);
    for (uint32_t phase = job->phase; phase < hunt->trials.seeds + LATER_COUNT; phase++) {
        job->phase = phase;
        if (is_needed(hunt, job, phase))
            run_phase(hunt, job, phase);
    }
    job->phase = hunt->trials.seeds + LATER_COUNT;
    _exit(0);
}

/* ---- the parent ---- */

static void start_child(struct hunt *hunt, struct slot *slot, struct job *job)
{
    rewind(slot->words);
    if (ftruncate(fileno(slot->words), 0) != 0)
        perror("hunt");
    slot->child = fork();
    if (slot->child == 0)
        run_child(hunt, job, slot->words);
    if (slot->child < 0) {
        perror("hunt: fork");
        exit(3);
    }
}

static void note_death(struct slot *slot, struct job *job, int status)
{
    struct hunted *o = &job->outcomes[job->phase];
    char words[100] = "";
    o->found = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ? FOUND_HANG : FOUND_CRASH;
    o->trial = job->trial;
    /* Past the stream's buffer, which may have what an earlier child said. */
    if (pread(fileno(slot->words), words, sizeof words - 1, 0) > 0)
        words[strcspn(words, "\n\t")] = '\0';
    snprintf(o->note, sizeof o->note, "; %s%s",
             WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit", words[0] ? ": " : "");
    size_t length = strlen(o->note);
    snprintf(o->note + length, sizeof o->note - length, "%s", words);
}

static void child_ended(struct hunt *hunt, struct slot *slot, int status)
{
    struct job *job = &hunt->shared[slot - hunt->slots];
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        note_death(slot, job, status);
        job->phase++;
        if (job->phase < hunt->trials.seeds + LATER_COUNT) {
            start_child(hunt, slot, job);
            return;
        }
    }
    struct job *copy = malloc(sizeof *copy);
    if (!copy)
        exit(3);
    *copy = *job;
    hunt->done[slot->index] = copy;
    slot->child = 0;
    hunt_write_done(hunt);
}

static void start_job(struct hunt *hunt, struct slot *slot, size_t index)
{
    struct job *job = &hunt->shared[slot - hunt->slots];
    memset(job, 0, sizeof *job);
    job->mutant = hunt->mutants[index];
    for (uint32_t i = 0; i < SEEDS_MAX + LATER_COUNT; i++)
        job->outcomes[i].triggered = -1;
    slot->index = index;
    start_child(hunt, slot, job);
}

static void hunt_all(struct hunt *hunt)
{
    size_t next = 0, running = 0;
    for (uint32_t i = 0; i < hunt->options.jobs; i++)
        if (!(hunt->slots[i].words = tmpfile()))
            exit(3);
    while (next < hunt->count || running > 0) {
        for (uint32_t i = 0; i < hunt->options.jobs && next < hunt->count; i++)
            if (hunt->slots[i].child == 0) {
                start_job(hunt, &hunt->slots[i], next++);
                running++;
            }
        int status;
        pid_t child = wait(&status);
        for (uint32_t i = 0; i < hunt->options.jobs; i++)
            if (hunt->slots[i].child == child && child > 0) {
                child_ended(hunt, &hunt->slots[i], status);
                running -= hunt->slots[i].child == 0;
                break;
            }
    }
}

/* Tests read files of the corpus and golden ones: if these change under a hunt, every mutant seems to be detected. */
static bool is_undisturbed(const struct hunt *hunt)
{
    const struct trials *trials = &hunt->trials;
    mutant_all_off();
    for (uint32_t t = trials->campaign_count; t < trials->count; t++) {
        const struct trial *trial = &trials->items[t];
        struct trial_shown shown;
        if (trial->kind != TRIAL_UNIT || !units[trial->number].golden)
            continue;
        trial_show(trial, false, &shown);
        if (shown.failed != trials->original[t].failed) {
            fprintf(stderr,
                    "hunt: %s fails without a mutant: the sources have changed, and what this hunt "
                    "wrote is void\n",
                    trial->path);
            return false;
        }
    }
    return true;
}

/* ---- the command line ---- */

static int usage(void)
{
    fputs("usage: hunt [--cases N] [--seeds N] [--jobs N] [--sample N [--draw N]] [--only "
          "PATTERN]... "
          "[--corpus FOLDER]\n"
          "            [--canaries FILE] [--units PATTERN] [--patience N] [--blind] [--list] "
          "[--output FILE]\n",
          stderr);
    return 2;
}

static bool parse_number(const char *text, uint32_t most, uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    return *text >= '0' && *text <= '9' && *end == '\0' && value > 0 && value <= most;
}

static bool parse_options(struct options *o, int argc, char **argv)
{
    static const struct option longs[] = {
        {"cases", 1, NULL, 'c'},    {"seeds", 1, NULL, 's'},    {"jobs", 1, NULL, 'j'},
        {"sample", 1, NULL, 'n'},   {"only", 1, NULL, 'o'},     {"corpus", 1, NULL, 'k'},
        {"list", 0, NULL, 'l'},     {"patience", 1, NULL, 'p'}, {"names", 1, NULL, 'm'},
        {"canaries", 1, NULL, 'y'}, {"output", 1, NULL, 'f'},   {"units", 1, NULL, 'u'},
        {"draw", 1, NULL, 'd'},     {"blind", 0, NULL, 'b'},    {"reach", 0, NULL, 'r'},
        {"oracles", 1, NULL, 'w'},  {NULL, 0, NULL, 0}};
    const char *error_at;
    uint32_t modes;
    *o = (struct options){.cases = 1000, .seeds = 3, .jobs = 2};
    for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        bool good = true;
        switch (c) {
        case 'c':
            good = parse_number(optarg, 1000000, &o->cases);
            break;
        case 's':
            good = parse_number(optarg, SEEDS_MAX, &o->seeds);
            break;
        case 'j':
            good = parse_number(optarg, JOBS_MAX, &o->jobs);
            break;
        case 'n':
            good = parse_number(optarg, UINT32_MAX, &o->sample);
            break;
        case 'd':
            good = parse_number(optarg, UINT32_MAX, &o->draw);
            break;
        case 'p':
            good = parse_number(optarg, UINT32_MAX, &o->patience);
            break;
        case 'm':
            o->names = optarg;
            break;
        case 'o':
            good = o->only_count < ONLY_MAX;
            if (good)
                o->only[o->only_count++] = optarg;
            break;
        case 'k':
            o->corpus = optarg;
            break;
        case 'y':
            o->canaries = optarg;
            break;
        case 'f':
            o->output = optarg;
            break;
        case 'l':
            o->list = true;
            break;
        case 'b':
            o->blind = true;
            break;
        case 'r':
            o->reach = true;
            break;
        case 'u':
            o->units = optarg;
            break;
        case 'w':
            good = oracle_parse_list(optarg, &trial_oracles, &modes, &error_at);
            break;
        default:
            good = false;
        }
        if (!good)
            return false;
    }
    return optind == argc && !(o->blind && (o->reach || !o->units || o->corpus || o->canaries));
}

/* Addresses are the same in every run: what a mutant reads beside its arrays, too. */
static void fix_addresses(char **argv)
{
    int before = personality(0xffffffff);
    if (before >= 0 && !(before & ADDR_NO_RANDOMIZE) &&
        personality((unsigned long)before | ADDR_NO_RANDOMIZE) >= 0)
        execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    static struct hunt hunt;
    struct options *o = &hunt.options;
    char path[4096];
    const char *record = NULL;
    if (!parse_options(o, argc, argv))
        return usage();
    fix_addresses(argv);
    setenv("SIMTFUZZ_FIRST", "1", 1); /* golden tests: one difference will do */
    if (!hunt_choose(&hunt))
        return 3;
    if (o->list) {
        for (size_t i = 0; i < hunt.count; i++) {
            char name[NAME_BYTES];
            mutant_name(hunt.mutants[i], name, sizeof name);
            puts(name);
        }
        return 0;
    }
    if (o->output) {
        snprintf(path, sizeof path, "%s.record", o->output);
        record = path;
    }
    mutant_all_off();
    if (!trials_make(&hunt.trials, o->seeds, o->cases, o->corpus) ||
        (o->canaries && !trials_add_canaries(&hunt.trials, o->canaries)))
        return 3;
    if (o->units)
        trials_add_units(&hunt.trials, o->units);
    if (o->blind)
        trials_assume(&hunt.trials);
    else if (!trials_record(&hunt.trials, o->jobs, record))
        return 3;
    if (o->reach) {
        hunt_write_reach(&hunt);
        return fflush(stdout) == 0 ? 0 : 3;
    }
    order_units(&hunt);
    hunt.out = o->output ? fopen(o->output, "a") : stdout;
    hunt.done = calloc(hunt.count + 1, sizeof(struct job *));
    hunt.shared = mmap(NULL, o->jobs * sizeof(struct job), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!hunt.out || !hunt.done || hunt.shared == MAP_FAILED) {
        perror(o->output ? o->output : "hunt");
        return 3;
    }
    hunt_all(&hunt);
    return fflush(hunt.out) == 0 && is_undisturbed(&hunt) ? 0 : 3;
}
