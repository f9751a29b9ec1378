#include "tests/mutation/auto/trials.h"

#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "fuzz/beside/beside.h"
#include "fuzz/campaign/chunk.h"
#include "fuzz/case/digest.h"
#include "oracle/check/expect.h"
#include "tests/mutation/auto/units.h"

#include <dirent.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANARY_CASES = 3, PATH_BYTES = 512 };

static const size_t ARENA_BYTES = (size_t)1 << 30;
static struct arena arena, kernels; /* of one trial; of the corpus */
static struct campaign_options campaign;
static struct watch_slot slot;
static struct chunk_maker maker = {.options = &campaign, .arena = &arena, .slot = &slot};
static struct chunk chunk; /* of one case */
uint32_t trial_oracles = ORACLES_DEFAULT;
static time_t trial_seconds = TRIAL_SECONDS, unit_seconds = TRIAL_UNIT_SECONDS;

static void *shared(size_t bytes)
{
    void *memory = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("hunt: mmap");
        exit(3);
    }
    return memory;
}

static struct trial *add(struct trials *trials, enum trial_kind kind)
{
    if (trials->count == trials->capacity) {
        trials->capacity = trials->capacity ? 2 * trials->capacity : 4096;
        trials->items = realloc(trials->items, trials->capacity * sizeof *trials->items);
        if (!trials->items)
            exit(3);
    }
    struct trial *trial = &trials->items[trials->count++];
    *trial = (struct trial){.kind = kind, .canary = -1};
    return trial;
}

/* ---- the corpus ---- */

static bool add_kernel(struct trials *trials, const char *path)
{
    struct diag *diag = ARENA_NEW(&kernels, struct diag);
    size_t length;
    diag_init(diag, path, NULL, 0);
    bool ptx = strcmp(path + strlen(path) - 4, ".ptx") == 0;
    char *text = ptx ? parse_read_bytes(&kernels, path, PTX_LIMIT_SOURCE_BYTES, &length, diag)
                     : parse_read_file(&kernels, path, &length, diag);
    struct ast_kernel *kernel = NULL;
    if (text) {
        diag_init(diag, path, text, length);
        kernel = ptx_is_ptx(text, length)
                     ? ptx_kernel_parse_with(&kernels, text, length, NULL, diag)
                     : parse_kernel(&kernels, text, length, diag);
    }
    if (!kernel) {
        diag_print(diag, stderr);
        return false;
    }
    struct trial *trial = add(trials, TRIAL_CORPUS);
    trial->kernel = kernel;
    trial->path = arena_strndup(&kernels, path, strlen(path));
    return true;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool add_folder(struct trials *trials, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, by_name);
    bool good = count >= 0;
    for (int i = 0; i < count; i++) {
        char path[PATH_BYTES];
        const char *name = entries[i]->d_name, *dot = strrchr(name, '.');
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (name[0] != '.' && entries[i]->d_type == DT_DIR)
            good = good && add_folder(trials, path);
        else if (dot && dot != name && (strcmp(dot, ".simt") == 0 || strcmp(dot, ".ptx") == 0))
            good = good && add_kernel(trials, path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    else
        perror(folder);
    return good;
}

bool trials_make(struct trials *trials, uint32_t seeds, uint32_t cases, const char *corpus)
{
    *trials = (struct trials){.seeds = seeds, .cases = cases};
    if (arena_init(&arena, ARENA_BYTES) != 0 || arena_init(&kernels, ARENA_BYTES) != 0 ||
        !trace_back_open(&maker.trace_back)) {
        perror("hunt: memory");
        return false;
    }
    for (uint32_t seed = 1; seed <= seeds; seed++)
        for (uint32_t number = 0; number < cases; number++) {
            struct trial *trial = add(trials, TRIAL_CAMPAIGN);
            trial->seed = seed;
            trial->number = number;
        }
    trials->campaign_count = trials->count;
    return !corpus || add_folder(trials, corpus);
}

/* ---- one trial ---- */

static uint32_t failed_claims(const struct check_result *result)
{
    uint32_t failed = 0;
    for (uint32_t i = 0; i < result->claim_count; i++) {
        const char *why;
        failed += expect_is_asked(result->claims[i].expect, result->subjects, &why) &&
                  !result->claims[i].met;
    }
    return failed;
}

/* The alarm's own action ends the process: a case without end. */
static void limit_time(time_t seconds)
{
    const struct itimerval limit = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_PROF, &limit, NULL);
}

/* In a process of its own: it leaves nothing behind, and may end it. */
static uint32_t unit_fails(const struct unit *unit)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        limit_time(unit_seconds);
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(3);
        _exit(unit->run() == 0 ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        exit(3);
    return status != 0;
}

const char *speaker_name(uint32_t speaker)
{
    return speaker < SPEAKER_BESIDE   ? oracle_table[speaker].name
           : speaker < SPEAKER_ENGINE ? beside_table[speaker - SPEAKER_BESIDE].name
                                      : "engine";
}

static uint32_t who_diverges(const struct check_result *result)
{
    uint32_t oracles = 0;
    for (uint32_t o = 0; o < ORACLE_COUNT; o++)
        for (const struct divergence *d = result->answers[o].divergence; d; d = d->next)
            oracles |= d->known ? 0 : 1u << o;
    return oracles;
}

/* As a campaign's worker runs it (fuzz/campaign/chunk.c), with a solver of its own. */
static const struct check_result *run_case(const struct trial *trial, struct trial_shown *shown)
{
    campaign.seed = trial->seed;
    campaign.gen = GEN_DEFAULTS;
    campaign.check = CHECK_DEFAULTS;
    campaign.check.oracles = trial_oracles;
    memset(&chunk, 0, sizeof chunk);
    chunk_run_case(&maker, &chunk, trial->number);
    *shown = (struct trial_shown){.steps = chunk.thread_steps + chunk.warp_steps,
                                  .oracles = who_diverges(maker.result)};
    for (uint32_t i = 0; i < chunk.finding_count; i++) {
        const char *signature = chunk.findings[i].signature;
        const struct beside_kind *beside = beside_of(signature);
        if (beside)
            shown->oracles |= 1u << (SPEAKER_BESIDE + (uint32_t)(beside - beside_table));
        if (strncmp(signature, "engine|", strlen("engine|")) == 0)
            shown->oracles |= 1u << SPEAKER_ENGINE;
    }
    return maker.result;
}

static const struct check_result *run_kernel(const struct trial *trial, struct trial_shown *shown)
{
    struct check_options asked = CHECK_DEFAULTS;
    struct check_result *result = ARENA_NEW(&arena, struct check_result);
    asked.oracles = trial_oracles;
    check_kernel(&arena, trial->kernel, &asked, result);
    *shown = (struct trial_shown){.steps = result->thread_steps + result->warp_steps,
                                  .oracles = who_diverges(result),
                                  .failed = failed_claims(result)};
    return result;
}

void trial_show(const struct trial *trial, bool digest, struct trial_shown *shown)
{
    if (trial->kind == TRIAL_UNIT) {
        *shown = (struct trial_shown){.failed = unit_fails(&units[trial->number])};
        return;
    }
    limit_time(trial_seconds);
    const struct check_result *result =
        trial->kernel ? run_kernel(trial, shown) : run_case(trial, shown);
    if (digest)
        shown->digest = digest_case(&arena, trial->kernel ? trial->kernel : maker.kernel, result);
    arena_release(&arena, 0); /* looks at what lies behind all objects */
    limit_time(0);
}

/* ---- unit tests ---- */

/* Whether one of the patterns, which commas separate, is the name's. */
static bool matches(const char *patterns, const char *name)
{
    char pattern[PATH_BYTES];
    for (const char *at = patterns; *at; at += strcspn(at, ","), at += *at == ',') {
        snprintf(pattern, sizeof pattern, "%.*s", (int)strcspn(at, ","), at);
        if (fnmatch(pattern, name, 0) == 0)
            return true;
    }
    return false;
}

void trials_add_units(struct trials *trials, const char *patterns)
{
    for (int i = 0; i < unit_count; i++) {
        if (!matches(patterns, units[i].name))
            continue;
        struct trial *trial = add(trials, TRIAL_UNIT);
        trial->number = (uint64_t)i;
        trial->path = units[i].name;
    }
}

/* ---- names ---- */

void mutant_name(int mutant, char *name, size_t size)
{
    const struct mutant_point *p = &mutant_points[mutant_point_of(mutant)];
    snprintf(name, size, "%s->%s", p->name, p->new[mutant - (int)p->first]);
}

int mutant_find(const char *name)
{
    for (int i = 0; i < mutant_point_count; i++) {
        const struct mutant_point *p = &mutant_points[i];
        size_t length = strlen(p->name);
        if (strncmp(name, p->name, length) != 0 || strncmp(name + length, "->", 2) != 0)
            continue;
        for (unsigned k = 0; k < p->count; k++)
            if (strcmp(name + length + 2, p->new[k]) == 0)
                return (int)(p->first + k);
    }
    return -1;
}

/* ---- canaries ---- */

struct canary {
    int mutant;
    uint32_t oracle, found;
    uint32_t numbers[CANARY_CASES];
};

/* In a process of its own: the canary may crash. */
static void find_cases(const struct trials *trials, struct canary *canary)
{
    pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        mutant_all_off();
        mutant_switch_on(canary->mutant);
        for (uint32_t i = 0; i < trials->cases && canary->found < CANARY_CASES; i++) {
            struct trial_shown shown;
            trial_show(&trials->items[i], false, &shown);
            if (shown.oracles >> canary->oracle & 1)
                canary->numbers[canary->found++] = i;
        }
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
}

static bool add_canary(struct trials *trials, struct canary *canary, const char *oracle,
                       const char *name)
{
    uint32_t modes, set = 0;
    const char *at;
    memset(canary, 0, sizeof *canary);
    canary->mutant = mutant_find(name);
    if (canary->mutant < 0) /* its file is not in this build */
        return true;
    if (!oracle_parse_list(oracle, &set, &modes, &at)) {
        fprintf(stderr, "hunt: canary of no oracle: %s\n", oracle);
        return false;
    }
    while (set >> canary->oracle > 1)
        canary->oracle++;
    find_cases(trials, canary);
    if (canary->found == 0)
        fprintf(stderr, "hunt: %s does not speak of its canary %s\n", oracle, name);
    for (uint32_t i = 0; i < canary->found; i++) {
        struct trial *trial = add(trials, TRIAL_CANARY);
        trial->seed = 1;
        trial->number = canary->numbers[i];
        trial->canary = canary->mutant;
        trial->oracle = (enum oracle_id)canary->oracle;
    }
    return true;
}

bool trials_add_canaries(struct trials *trials, const char *path)
{
    char line[1024], oracle[32];
    int start;
    struct canary *canary = shared(sizeof *canary);
    FILE *in = fopen(path, "r");
    bool good = in != NULL;
    if (!in)
        perror(path);
    while (good && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '#' && sscanf(line, "%31s %n", oracle, &start) == 1)
            good = add_canary(trials, canary, oracle, line + start);
    }
    if (in)
        fclose(in);
    return good;
}

/* ---- the original ---- */

enum { UNIT_LOOKS = 2000 };

static void record_trial(struct trials *trials, uint32_t t, struct mutant_record *record)
{
    uint8_t *row = trials->infected + t * trials->row;
    mutant_all_off();
    if (trials->items[t].canary >= 0)
        mutant_switch_on(trials->items[t].canary);
    memset(record->infected, 0, (size_t)mutant_count);
    memset(record->looks, 0, (size_t)mutant_point_count * sizeof *record->looks);
    record->looks_max = trials->items[t].kind == TRIAL_UNIT ? UNIT_LOOKS : 0;
    mutant_record(record);
    trial_show(&trials->items[t], true, &trials->original[t]);
    for (int m = 0; m < mutant_count; m++)
        if (record->infected[m])
            row[m / 8] = (uint8_t)(row[m / 8] | 1u << m % 8);
}

static void say_unexpected(const struct trials *trials, uint32_t t)
{
    const struct trial *trial = &trials->items[t];
    const struct trial_shown *shown = &trials->original[t];
    if (trial->kind == TRIAL_CANARY ? !(shown->oracles >> trial->oracle & 1)
                                    : shown->oracles != 0 || shown->failed != 0)
        fprintf(stderr, "hunt: the original %s: seed %llu, case %llu, %s\n",
                trial->kind == TRIAL_CANARY ? "is silent about a canary" : "diverges",
                (unsigned long long)trial->seed, (unsigned long long)trial->number,
                trial->path ? trial->path : "");
}

/* ---- what was recorded is kept ---- */

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    for (const unsigned char *b = bytes; length > 0; length--, b++)
        hash = (hash ^ *b) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_file(uint64_t hash, const char *path)
{
    static char bytes[1 << 16];
    FILE *in = fopen(path, "rb");
    for (size_t got; in && (got = fread(bytes, 1, sizeof bytes, in)) > 0;)
        hash = hash_bytes(hash, bytes, got);
    if (in)
        fclose(in);
    return hash;
}

/* Of this program and its trials. */
static uint64_t key_of(const struct trials *trials)
{
    uint64_t key = hash_file(0xcbf29ce484222325u, "/proc/self/exe");
    for (uint32_t t = 0; t < trials->count; t++) {
        const struct trial *trial = &trials->items[t];
        const uint64_t words[] = {trial->kind, trial->seed, trial->number, (uint64_t)trial->canary,
                                  trial->oracle};
        key = hash_bytes(key, words, sizeof words);
        if (trial->path)
            key = hash_file(hash_bytes(key, trial->path, strlen(trial->path)), trial->path);
    }
    return key;
}

static bool transfer(struct trials *trials, FILE *file,
                     size_t (*move)(void *, size_t, size_t, FILE *))
{
    return move(trials->original, sizeof *trials->original, trials->count, file) == trials->count &&
           move(trials->reached, (size_t)mutant_point_count, 1, file) == 1 &&
           move(trials->infected, trials->row, trials->count, file) == trials->count;
}

static size_t put(void *bytes, size_t size, size_t count, FILE *file)
{
    return fwrite(bytes, size, count, file);
}

static bool read_record(struct trials *trials, const char *path, uint64_t key)
{
    uint64_t kept;
    FILE *in = path ? fopen(path, "rb") : NULL;
    bool good =
        in && fread(&kept, sizeof kept, 1, in) == 1 && kept == key && transfer(trials, in, fread);
    if (in)
        fclose(in);
    return good;
}

/* Not being able to keep it costs time, no more. */
static void keep_record(struct trials *trials, const char *path, uint64_t key)
{
    FILE *out = path ? fopen(path, "wb") : NULL;
    bool good = out && fwrite(&key, sizeof key, 1, out) == 1 && transfer(trials, out, put);
    if (path && (!out || fclose(out) != 0 || !good))
        perror(path);
}

/* ---- all trials ---- */

static bool record_all(struct trials *trials, uint32_t jobs)
{
    for (uint32_t job = 0; job < jobs; job++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            struct mutant_record record = {
                .reached = trials->reached,
                .infected = shared((size_t)mutant_count),
                .looks = shared((size_t)mutant_point_count * sizeof *record.looks)};
            trial_seconds = unit_seconds = RECORD_SECONDS;
            for (uint32_t t = job; t < trials->count; t += jobs)
                record_trial(trials, t, &record);
            _exit(0);
        }
    bool good = true;
    for (uint32_t job = 0; job < jobs; job++) {
        int status;
        good &= wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    if (!good)
        fputs("hunt: the original died\n", stderr);
    return good;
}

static void make_room(struct trials *trials)
{
    trials->row = ((size_t)mutant_count + 7) / 8;
    trials->original = shared(trials->count * sizeof *trials->original);
    trials->reached = shared((size_t)mutant_point_count);
    trials->infected = shared(trials->count * trials->row);
}

void trials_assume(struct trials *trials)
{
    make_room(trials);
    memset(trials->infected, 0xff, trials->count * trials->row);
}

bool trials_record(struct trials *trials, uint32_t jobs, const char *path)
{
    uint64_t key = path ? key_of(trials) : 0;
    make_room(trials);
    bool kept = read_record(trials, path, key);
    if (!kept && !record_all(trials, jobs))
        return false;
    for (uint32_t t = 0; t < trials->count; t++)
        say_unexpected(trials, t);
    if (!kept)
        keep_record(trials, path, key);
    return true;
}

uint32_t trials_infected(const struct trials *trials, uint32_t trial)
{
    uint32_t count = 0;
    for (size_t i = 0; i < trials->row; i++)
        count += (uint32_t)__builtin_popcount(trials->infected[trial * trials->row + i]);
    return count;
}
