/*
 * cli_options.c - the tables of commands and options, and everything that is made from them.
 */
#include "fuzz/cli/cli.h"

#include "fuzz/gen/gen.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct cli_command cli_commands[COMMAND_COUNT] = {
    [COMMAND_RUN] = {"run",
                     "",
                     "hunt: generate kernels, run every subject, ask every oracle, keep findings",
                     0,
                     0,
                     command_run,
                     {"run --time 60s", "run --cases 100000 --seed 0x1 --db nightly.db",
                      "run --time 8h --shard 3/16 --stop-on-finding"}},
    [COMMAND_CHECK] = {"check",
                       "FILE...",
                       "check kernels (.simt, .ptx, folders) and what they expect",
                       1,
                       -1,
                       command_check,
                       {"check corpus", "check kernel.simt --exhaustive",
                        "check kernel.simt --set threads=8,warp=4 --oracles simulation --json"}},
    [COMMAND_TRACE] = {"trace",
                       "FILE",
                       "one execution, step by step, as the papers' tables print it",
                       1,
                       1,
                       command_trace,
                       {"trace corpus/papers/program1.simt",
                        "trace kernel.simt --subject threads --schedule pct:3 --seed 0x7",
                        "trace kernel.simt --subject simt:then-first --json"}},
    [COMMAND_LOWER] = {"lower",
                       "FILE",
                       "print the kernel in another form",
                       1,
                       1,
                       command_lower,
                       {"lower kernel.simt", "lower kernel.simt --to cfg --anchored",
                        "lower kernel.simt --to cfg --normalise"}},
    [COMMAND_TRANSFORM] = {"transform",
                           "FILE",
                           "print the kernel after transformations that keep its meaning",
                           1,
                           1,
                           command_transform,
                           {"transform kernel.simt --seed 7",
                            "transform kernel.simt --list wrap:3,peel:0", "rules --transforms"}},
    [COMMAND_GEN] = {"gen",
                     "",
                     "print generated kernels",
                     0,
                     0,
                     command_gen,
                     {"gen", "gen --seed 0x1 --count 3", "gen --seed 0x1 --first 4711"}},
    [COMMAND_DIGEST] = {"digest",
                        "",
                        "a number for each case of a campaign: where those of two builds part",
                        0,
                        0,
                        command_digest,
                        {"digest --cases 100", "digest --seed 0x1 --from 4711",
                         "digest --seed 0x1 --cases 1000 --oracles simulation"}},
    [COMMAND_DISTILL] = {"distill",
                         "FOLDER",
                         "a corpus of small kernels that shows what a campaign's cases show",
                         1,
                         1,
                         command_distill,
                         {"distill new --cases 5000", "distill corpus/distilled --verify"}},
    [COMMAND_REPLAY] = {"replay",
                        "ID",
                        "run a finding again: same verdict, same bytes, or exit status 3 and why",
                        1,
                        1,
                        command_replay,
                        {"replay 1", "replay 1 --db nightly.db"}},
    [COMMAND_REDUCE] =
        {"reduce",
         "ID|FILE",
         "minimise a finding, or a kernel that shows --signature",
         1,
         1,
         command_reduce,
         {"reduce 1 -o small.simt",
          "reduce kernel.simt --signature 'liveness|unfair|while_cont|termination'"}},
    [COMMAND_TRIAGE] = {"triage",
                        "list [STATUS] | show ID | note ID TEXT | status ID STATUS [REFERENCE] | "
                        "suppress SIGNATURE [NOTE] | unsuppress SIGNATURE",
                        "look through findings and say what they are",
                        1,
                        4,
                        command_triage,
                        {"triage list", "triage show 1", "triage status 1 known A-4",
                         "triage note 1 'seen since the new while rule'"}},
    [COMMAND_REGRESS] = {"regress",
                         "[FOLDER]",
                         "run every stored finding and every kernel of corpus/regress again",
                         0,
                         1,
                         command_regress,
                         {"regress", "regress --db nightly.db corpus/regress"}},
    [COMMAND_RULES] =
        {"rules",
         "[FILE...]",
         "the semantic rules, their sources, how often a database or kernels fired each",
         0,
         -1,
         command_rules,
         {"rules", "rules --db nightly.db", "rules corpus", "rules --subjects"}},
    [COMMAND_STATUS] = {"status",
                        "",
                        "progress of a database's campaigns, also of a running one",
                        0,
                        0,
                        command_status,
                        {"status", "status --db nightly.db --json"}},
};

/* ---- values ---- */

bool cli_parse_u64(const char *text, uint64_t *value)
{
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hexadecimal ? text + 2 : text;
    if (!*digits ||
        strspn(digits, hexadecimal ? "0123456789abcdefABCDEF" : "0123456789") != strlen(digits))
        return false;
    errno = 0;
    unsigned long long number = strtoull(digits, NULL, hexadecimal ? 16 : 10);
    if (errno != 0)
        return false;
    *value = number;
    return true;
}

static bool parse_u32(const char *text, uint32_t *value)
{
    uint64_t number;
    if (!cli_parse_u64(text, &number) || number > UINT32_MAX)
        return false;
    *value = (uint32_t)number;
    return true;
}

bool cli_parse_time(const char *text, uint64_t *milliseconds)
{
    char number[32];
    size_t length = strspn(text, "0123456789");
    uint64_t unit = 1000, count;
    if (length == 0 || length >= sizeof number)
        return false;
    if (strcmp(text + length, "m") == 0)
        unit = 60 * 1000;
    else if (strcmp(text + length, "h") == 0)
        unit = 3600 * 1000;
    else if (strcmp(text + length, "s") != 0 && text[length] != '\0')
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    if (!cli_parse_u64(number, &count) || count > UINT32_MAX)
        return false;
    *milliseconds = count * unit;
    return true;
}

/* ---- options ---- */

/* OPTION_SOME_*: a number that is not 0. */
enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_U64,
    OPTION_U32,
    OPTION_SOME_U64,
    OPTION_SOME_U32,
    OPTION_TIME,
    OPTION_OWN
};

struct cli_option {
    const char *name;
    char letter; /* 0 = none */
    enum option_kind kind;
    const char *argument; /* as help shows it; NULL for flags */
    uint64_t commands;    /* bits */
    size_t field;         /* in struct cli_options; for OPTION_OWN unused */
    size_t given;         /* a bool that is set; 0 = none (no option's flag stands at 0) */
    bool (*parse)(struct cli *cli, const char *text); /* OPTION_OWN; false: reported */
    const char *sentence;
};

#define ON(id) ((uint64_t)1 << COMMAND_##id)
#define ON_ALL (~(uint64_t)0)
#define FIELD(name) offsetof(struct cli_options, name)

#define ON_DB                                                                                      \
    (ON(RUN) | ON(REPLAY) | ON(REDUCE) | ON(TRIAGE) | ON(REGRESS) | ON(RULES) | ON(STATUS))
#define ON_PTX (ON(CHECK) | ON(TRACE) | ON(REDUCE))
#define ON_CHECKS (ON(RUN) | ON(CHECK) | ON(REDUCE) | ON(DIGEST))

static bool parse_subjects(struct cli *cli, const char *text);
static bool parse_oracles(struct cli *cli, const char *text);
static bool parse_features(struct cli *cli, const char *text);
static bool parse_shard(struct cli *cli, const char *text);
static bool parse_mutate(struct cli *cli, const char *text);
static bool parse_feedback(struct cli *cli, const char *text);
static bool parse_set(struct cli *cli, const char *text);
static bool parse_transforms(struct cli *cli, const char *text);
static bool parse_subject(struct cli *cli, const char *text);
static bool parse_entry(struct cli *cli, const char *text);
static bool parse_bind(struct cli *cli, const char *text);
static bool parse_shared(struct cli *cli, const char *text);

static const struct cli_option options[] = {
    {"time", 't', OPTION_TIME, "T", ON(RUN), FIELD(time_ms), 0, NULL,
     "stop after this time (90, 90s, 15m, 8h); without --time and --cases: 60s"},
    {"time", 't', OPTION_TIME, "T", ON(REDUCE), FIELD(time_ms), 0, NULL,
     "end after this time (90, 90s, 15m, 8h) with the best so far"},
    {"cases", 'n', OPTION_SOME_U64, "N", ON(RUN), FIELD(cases), 0, NULL,
     "stop after cases 0 .. N-1"},
    {"cases", 'n', OPTION_SOME_U64, "N", ON(DISTILL), FIELD(cases), 0, NULL,
     "cases 0 .. N-1; 1000 of them by default"},
    {"verify", 0, OPTION_FLAG, NULL, ON(DISTILL), FIELD(verify), 0, NULL,
     "make nothing: say which features that the folder lists are shown no longer"},
    {"cases", 'n', OPTION_SOME_U64, "N", ON(DIGEST), FIELD(count), 0, NULL,
     "how many cases; 1 by default"},
    {"from", 0, OPTION_U64, "K", ON(DIGEST), FIELD(first_case), 0, NULL,
     "number of the first case; 0 by default"},
    {"jobs", 'j', OPTION_SOME_U32, "N", ON(RUN) | ON(REDUCE) | ON(DISTILL), FIELD(jobs), 0, NULL,
     "worker threads; as many as there are processors by default"},
    {"seed", 's', OPTION_U64, "S", ON_CHECKS | ON(TRACE) | ON(GEN) | ON(TRANSFORM) | ON(DISTILL),
     FIELD(seed), FIELD(seed_given), NULL,
     "seed of cases or schedules; 0 by default, for `run` a new one each time"},
    {"shard", 0, OPTION_OWN, "I/N", ON(RUN), 0, 0, parse_shard,
     "only the cases whose number is I modulo N (I from 0)"},
    {"first", 0, OPTION_U64, "N", ON(GEN), FIELD(first_case), 0, NULL,
     "number of the first case; 0 by default"},
    {"count", 'n', OPTION_U64, "N", ON(GEN), FIELD(count), 0, NULL, "how many; 1 by default"},
    {"subjects", 0, OPTION_OWN, "LIST", ON_CHECKS, 0, 0, parse_subjects,
     "semantics to run, e.g. threads,simt:then-first; all the ordinary ones by default (all)"},
    {"oracles", 0, OPTION_OWN, "LIST", ON_CHECKS, 0, 0, parse_oracles,
     "oracles to ask, e.g. simulation,lemmas:strict; all by default"},
    {"features", 0, OPTION_OWN, "LIST", ON(RUN) | ON(GEN) | ON(DIGEST) | ON(DISTILL), 0, 0,
     parse_features, "what kernels may contain: names add, -names remove; all, none"},
    {"enumerate", 0, OPTION_FLAG, NULL, ON(RUN) | ON(GEN) | ON(DIGEST), FIELD(enumerate), 0, NULL,
     "all tiny kernels of these features, one after another, instead of random ones"},
    {"mutate", 0, OPTION_OWN, "PERCENT", ON(RUN) | ON(GEN) | ON(DIGEST), 0, 0, parse_mutate,
     "so many of 100 kernels are mutated after they were generated; 0 by default"},
    {"feedback", 0, OPTION_OWN, "PERCENT", ON(RUN), 0, 0, parse_feedback,
     "so many of 100 cases are mutations of earlier ones that showed something new"},
    {"corpus", 0, OPTION_TEXT, "FOLDER", ON(RUN), FIELD(corpus), 0, NULL,
     "with --feedback: where kernels that showed something new go at the end"},
    {"stop-on-finding", 0, OPTION_FLAG, NULL, ON(RUN), FIELD(stop_on_finding), 0, NULL,
     "stop at the first finding that is not known"},
    {"no-minimise", 0, OPTION_FLAG, NULL, ON(RUN), FIELD(no_minimise), 0, NULL,
     "keep findings as they were found, run again but not minimised"},
    {"schedules", 0, OPTION_SOME_U32, "N", ON(CHECK) | ON(REDUCE), FIELD(schedules),
     FIELD(schedules_given), NULL, "executions of each subject that has several"},
    {"budget", 0, OPTION_SOME_U64, "N", ON(CHECK), FIELD(budget_steps), 0, NULL,
     "steps of one execution at most; by default 65536, or 512 a thread"},
    {"exhaustive", 0, OPTION_FLAG, NULL, ON(CHECK), FIELD(exhaustive), 0, NULL,
     "search all interleavings of the threads, within bounds"},
    {"same-value", 0, OPTION_FLAG, NULL, ON_CHECKS, FIELD(same_value), 0, NULL,
     "PTX: two writes of the same value are no race"},
    {"atomics-sync", 0, OPTION_FLAG, NULL, ON_CHECKS, FIELD(atomics_sync), 0, NULL,
     "PTX: atomics on one location order the accesses before and behind them"},
    {"transforms", 0, OPTION_OWN, "LIST", ON(CHECK) | ON(REDUCE), 0, 0, parse_transforms,
     "what `metamorphic` does to the kernel, e.g. wrap:3,peel:0; drawn by the seed otherwise"},
    {"list", 0, OPTION_OWN, "LIST", ON(TRANSFORM), 0, 0, parse_transforms,
     "transformations, each with the number that says where and how: wrap:3,peel:0; drawn by the "
     "seed otherwise"},
    {"set", 0, OPTION_OWN, "SETTINGS", ON(CHECK) | ON(TRACE) | ON(REDUCE), 0, 0, parse_set,
     "another launch than the kernel's: threads=8,warp=4,blocks=1; PTX: also "
     "threads=8x8,blocks=4x2"},
    {"entry", 0, OPTION_OWN, "NAME", ON_PTX, 0, 0, parse_entry,
     "PTX: the entry to launch, when there are several"},
    {"bind", 0, OPTION_OWN, "PARAM=VALUE", ON_PTX, 0, 0, parse_bind,
     "PTX: a parameter's value: an integer, f:1.5, buffer:BYTES[:zero|iota|random|file:PATH], "
     "shared:BYTES; of a struct words:1,2,3"},
    {"shared", 0, OPTION_OWN, "BYTES", ON_PTX, 0, 0, parse_shared, "PTX: dynamic shared memory"},
    {"subject", 0, OPTION_OWN, "SUBJECT", ON(TRACE), 0, 0, parse_subject,
     "the semantics; by default simt, of a kernel in another form interleave, lockstep or crs"},
    {"schedule", 0, OPTION_TEXT, "SCHEDULE", ON(TRACE), FIELD(schedule), 0, NULL,
     "sequential (default), reverse, rr, uniform, pct:D, pos, surw, starve:ACTOR, unfair:STEPS, "
     "tape:FILE"},
    {"max-steps", 0, OPTION_U64, "N", ON(TRACE), FIELD(max_steps), 0, NULL,
     "stop after so many steps; 1000 by default"},
    {"to", 0, OPTION_TEXT, "FORM", ON(LOWER), FIELD(to), 0, NULL,
     "core (default): the statements of the structured semantics; cfg: blocks; predicated, "
     "lockstep: pi(P) and phi(P) of the blocks, normalised; ptx: the canonical text of a .ptx "
     "file, or a kernel compiled; crs: the same with the branch unit's instructions"},
    {"anchored", 0, OPTION_FLAG, NULL, ON(LOWER), FIELD(anchored), 0, NULL,
     "cfg: paths that leave a loop by break, return or exit stay part of it"},
    {"then-first", 0, OPTION_FLAG, NULL, ON(LOWER), FIELD(then_first), 0, NULL,
     "cfg: then-branches stand before else-branches"},
    {"logic-blocks", 0, OPTION_FLAG, NULL, ON(LOWER), FIELD(logic_blocks), 0, NULL,
     "cfg: &&, || and ?: of guards and right-hand sides become blocks"},
    {"keep-calls", 0, OPTION_FLAG, NULL, ON(LOWER), FIELD(keep_calls), 0, NULL,
     "cfg: every function becomes a procedure, not only recursive ones"},
    {"normalise", 0, OPTION_FLAG, NULL, ON(LOWER), FIELD(normalise), 0, NULL,
     "cfg: fresh entry, a barrier before End, an assume, call or return a block"},
    {"signature", 0, OPTION_TEXT, "SIGNATURE", ON(REDUCE), FIELD(signature), 0, NULL,
     "what the minimised kernel must still show"},
    {"tests", 0, OPTION_U32, "N", ON(REDUCE), FIELD(max_tests), 0, NULL,
     "end after N candidates with the best so far; 20000 by default"},
    {"tests", 0, OPTION_U32, "N", ON(DISTILL), FIELD(max_tests), 0, NULL,
     "candidates that the reduction of a kernel tries at most; 20000 by default"},
    {"output", 'o', OPTION_TEXT, "FILE", ON(REDUCE), FIELD(output), 0, NULL,
     "write the minimised kernel to FILE"},
    {"subjects", 0, OPTION_FLAG, NULL, ON(RULES), FIELD(list_subjects), 0, NULL,
     "list the subjects with their options"},
    {"oracles", 0, OPTION_FLAG, NULL, ON(RULES), FIELD(list_oracles), 0, NULL,
     "list the oracles: theorem, where they apply, what they cannot conclude"},
    {"transforms", 0, OPTION_FLAG, NULL, ON(RULES), FIELD(list_transforms), 0, NULL,
     "list the transformations that `metamorphic` and `transform` know"},
    {"db", 0, OPTION_TEXT, "FILE", ON_DB, FIELD(db), FIELD(db_given), NULL,
     "the triage database; simtfuzz.db by default"},
    {"json", 0, OPTION_FLAG, NULL, ON_ALL, FIELD(json), 0, NULL,
     "print JSON, one document a line, and nothing else to standard output"},
    {"help", 'h', OPTION_FLAG, NULL, ON_ALL, FIELD(help), 0, NULL, "print this help"},
};

enum { OPTIONS = sizeof options / sizeof options[0] };

static void options_default(struct cli_options *o)
{
    const char *no_color = getenv("NO_COLOR");
    *o = (struct cli_options){.color = isatty(STDOUT_FILENO) && !(no_color && *no_color),
                              .db = "simtfuzz.db",
                              .count = 1,
                              .shard_count = 1,
                              .subjects = SUBJECTS_DEFAULT,
                              .oracles = (1u << ORACLE_COUNT) - 1,
                              .features = GEN_DEFAULTS.features,
                              .subject = SUBJECT_SIMT,
                              .schedule = "sequential",
                              .to = "core",
                              .max_steps = 1000,
                              .max_tests = 20000};
}

/* ---- options with a form of their own ---- */

/* Says which item of a list is wrong and which exist. */
static bool bad_item(struct cli *cli, const char *option, const char *at, const char *exist)
{
    cli_misuse(cli, "--%s: there is no '%.*s' (there are: %s)", option, (int)strcspn(at, ","), at,
               exist);
    return false;
}

static bool parse_subjects(struct cli *cli, const char *text)
{
    const char *at;
    if (subject_parse_list(text, &cli->options.subjects, &at))
        return true;
    cli_misuse(cli, "--subjects: there is no '%.*s' (simtfuzz rules --subjects lists them)",
               (int)strcspn(at, ","), at);
    return false;
}

static bool parse_oracles(struct cli *cli, const char *text)
{
    const char *at;
    if (oracle_parse_list(text, &cli->options.oracles, &cli->options.oracle_modes, &at))
        return true;
    return bad_item(cli, "oracles", at,
#define ORACLE(id, name, theorem, applies, cannot) name " "
#include "oracle/oracles.def"
#undef ORACLE
                    "lemmas:strict safety:printed");
}

static bool parse_transforms(struct cli *cli, const char *text)
{
    const char *at;
    if (transform_parse_list(text, &cli->options.transforms, &at))
        return true;
    cli_misuse(cli,
               "'%.*s' is no transformation with a number (simtfuzz rules --transforms lists "
               "them), or there are more than %d",
               (int)strcspn(at, ","), at, TRANSFORM_STEPS_MAX);
    return false;
}

static bool parse_features(struct cli *cli, const char *text)
{
    const char *at;
    if (!*text) {
        cli_misuse(cli, "--features wants names of features; 'none' for none of them");
        return false;
    }
    if (gen_parse_features(text, &cli->options.features, &at))
        return true;
    return bad_item(cli, "features", at,
#define FEATURE(id, name, group_default, sentence) name " "
#include "fuzz/gen/features.def"
#undef FEATURE
    );
}

static bool parse_percent(struct cli *cli, const char *option, const char *text, uint32_t *value)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || number > 100) {
        cli_misuse(cli, "%s wants a percentage, 0 to 100, not '%s'", option, text);
        return false;
    }
    *value = (uint32_t)number;
    return true;
}

static bool parse_mutate(struct cli *cli, const char *text)
{
    return parse_percent(cli, "--mutate", text, &cli->options.mutate);
}

static bool parse_feedback(struct cli *cli, const char *text)
{
    return parse_percent(cli, "--feedback", text, &cli->options.feedback);
}

static bool parse_shard(struct cli *cli, const char *text)
{
    char index[24];
    size_t length = strcspn(text, "/");
    struct cli_options *o = &cli->options;
    bool fits = text[length] == '/' && length < sizeof index;
    if (fits) {
        memcpy(index, text, length);
        index[length] = '\0';
        fits = cli_parse_u64(index, &o->shard_index) &&
               cli_parse_u64(text + length + 1, &o->shard_count) && o->shard_index < o->shard_count;
    }
    if (!fits)
        cli_misuse(cli, "--shard wants I/N with I below N, e.g. 0/4, not '%s'", text);
    return fits;
}

/* One more setting of PTX. */
static void add_setting(struct cli *cli, const char *prefix, const char *text, size_t length)
{
    const char *before = cli->options.settings ? cli->options.settings : "";
    cli->options.settings = arena_printf(&cli->arena, "%s%s%s%.*s", before, *before ? " " : "",
                                         prefix, (int)length, text);
}

static bool parse_ptx_setting(struct cli *cli, const char *prefix, const char *text)
{
    if (!*text || strpbrk(text, " \t\n\r")) {
        cli_misuse(cli, "'%s' has no place in a setting", text);
        return false;
    }
    cli->options.ptx_only = true;
    add_setting(cli, prefix, text, strlen(text));
    return true;
}

static bool parse_entry(struct cli *cli, const char *text)
{
    return parse_ptx_setting(cli, "entry=", text);
}

static bool parse_bind(struct cli *cli, const char *text)
{
    return parse_ptx_setting(cli, "bind:", text);
}

static bool parse_shared(struct cli *cli, const char *text)
{
    return parse_ptx_setting(cli, "shared=", text);
}

/* 8, 8x8, 2x2x2: the product. */
static bool parse_dimensions(struct cli *cli, const char *text, uint64_t *product)
{
    char item[24];
    *product = 1;
    for (uint32_t count = 0; count < 3; count++) {
        uint64_t number;
        size_t length = strcspn(text, "x");
        if (length >= sizeof item)
            return false;
        memcpy(item, text, length);
        item[length] = '\0';
        if (!cli_parse_u64(item, &number) || number == 0 || number > UINT32_MAX / *product)
            return false;
        *product *= number;
        if (text[length] == '\0') {
            cli->options.launch_dimensions |= count > 0;
            return true;
        }
        text += length + 1;
    }
    return false;
}

static bool parse_set(struct cli *cli, const char *text)
{
    struct ast_launch *launch = &cli->options.launch;
    char item[64];
    for (bool more = true; more;) {
        size_t length = strcspn(text, ",");
        uint64_t number;
        if (length >= sizeof item)
            length = sizeof item - 1;
        memcpy(item, text, length);
        item[length] = '\0';
        char *equals = strchr(item, '=');
        if (equals)
            *equals++ = '\0';
        bool is_hexadecimal = equals && equals[0] == '0' && strchr("xX", equals[1]);
        bool is_count = equals && (is_hexadecimal ? cli_parse_u64(equals, &number) && number > 0 &&
                                                        number <= UINT32_MAX
                                                  : parse_dimensions(cli, equals, &number));
        if (is_count && strcmp(item, "threads") == 0)
            launch->threads = (uint32_t)number;
        else if (is_count && strcmp(item, "warp") == 0)
            launch->warp = (uint32_t)number;
        else if (is_count && strcmp(item, "blocks") == 0)
            launch->blocks = (uint32_t)number;
        else {
            cli_misuse(cli, "--set wants threads=N, warp=N, blocks=N, not '%.*s'", (int)length,
                       text);
            return false;
        }
        add_setting(cli, "", text, length);
        more = text[length] == ',';
        text += length + more;
    }
    return true;
}

static bool parse_subject(struct cli *cli, const char *text)
{
    cli->options.subject_given = true;
    if (subject_parse(text, strlen(text), &cli->options.subject)) {
        if (subject_table[cli->options.subject].vtable)
            return true;
        cli_misuse(cli, "--subject: '%s' has no machine to trace; simtfuzz check runs it", text);
        return false;
    }
    cli_misuse(cli, "--subject: there is no '%s' (simtfuzz rules --subjects lists them)", text);
    return false;
}

static const char *wanted(enum option_kind kind)
{
    if (kind == OPTION_TIME)
        return "a time (90, 90s, 15m, 8h)";
    if (kind == OPTION_SOME_U64 || kind == OPTION_SOME_U32)
        return "a number from 1 (decimal, or hexadecimal with 0x)";
    return "a number (decimal, or hexadecimal with 0x)";
}

static bool apply(struct cli *cli, const struct cli_option *option, const char *text)
{
    char *base = (char *)&cli->options;
    void *field = base + option->field;
    bool fits = true;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        break;
    case OPTION_TEXT:
        *(const char **)field = text;
        break;
    case OPTION_U64:
        fits = cli_parse_u64(text, field);
        break;
    case OPTION_U32:
        fits = parse_u32(text, field);
        break;
    case OPTION_SOME_U64:
        fits = cli_parse_u64(text, field) && *(uint64_t *)field > 0;
        break;
    case OPTION_SOME_U32:
        fits = parse_u32(text, field) && *(uint32_t *)field > 0;
        break;
    case OPTION_TIME:
        fits = cli_parse_time(text, field) && *(uint64_t *)field > 0;
        break;
    case OPTION_OWN:
        if (!option->parse(cli, text))
            return false;
        break;
    }
    if (!fits) {
        cli_misuse(cli, "--%s wants %s, not '%s'", option->name, wanted(option->kind), text);
        return false;
    }
    if (option->given)
        *(bool *)(base + option->given) = true;
    return true;
}

/* ---- help ---- */

static void print_usage(const struct cli *cli, FILE *out)
{
    const struct cli_command *command = &cli_commands[cli->id];
    fprintf(out, "usage: simtfuzz %s [options]%s%s\n", command->name,
            *command->arguments ? " " : "", command->arguments);
}

static void print_options(const struct cli *cli, FILE *out)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct cli_option *option = &options[i];
        if (!(option->commands & (uint64_t)1 << cli->id))
            continue;
        char left[64];
        char letter[8] = "    ";
        if (option->letter)
            snprintf(letter, sizeof letter, "-%c, ", option->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
                 option->argument ? option->argument : "");
        fprintf(out, "  %-28s  %s\n", left, option->sentence);
    }
}

static void print_help(const struct cli *cli, FILE *out)
{
    const struct cli_command *command = &cli_commands[cli->id];
    fprintf(out, "simtfuzz %s: %s\n\n", command->name, command->sentence);
    print_usage(cli, out);
    fputs("\noptions:\n", out);
    print_options(cli, out);
    fputs("\nexamples:\n", out);
    for (size_t i = 0; i < 4 && command->examples[i]; i++)
        fprintf(out, "  simtfuzz %s\n", command->examples[i]);
    fputs("\nexit status: 0 all well; 1 a divergence not marked known, or a failed expectation;\n"
          "2 wrong usage or bad input; 3 a fault of simtfuzz or its surroundings",
          out);
    fputs(cli->id == COMMAND_REDUCE ? ";\n4 interrupted: the best so far was written\n" : "\n",
          out);
}

void cli_print_commands(FILE *out)
{
    fputs("usage: simtfuzz COMMAND [options] [arguments]\n\ncommands:\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s%s\n", cli_commands[i].name, cli_commands[i].sentence);
    fputs("\nsimtfuzz COMMAND --help says more about each; simtfuzz --version prints the version\n",
          out);
}

/* ---- messages ---- */

__attribute__((format(printf, 2, 0))) static void message(const struct cli *cli, const char *format,
                                                          va_list args)
{
    fprintf(stderr, "simtfuzz %s: ", cli->command);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void cli_message(const struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(cli, format, args);
    va_end(args);
}

int cli_misuse(const struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(cli, format, args);
    va_end(args);
    print_usage(cli, stderr);
    fprintf(stderr, "example: simtfuzz %s\n(simtfuzz %s --help says more)\n",
            cli_commands[cli->id].examples[0], cli->command);
    return CLI_USAGE;
}

/* ---- parsing ---- */

enum { LETTERS_MAX = 2 * OPTIONS + 2 };

/* getopt's tables for the options of one command; an option's value is its index + 256. */
static void getopt_tables(const struct cli *cli, struct option *longs, char *letters)
{
    size_t count = 0;
    *letters++ = ':'; /* a missing argument is told apart from an unknown option */
    for (size_t i = 0; i < OPTIONS; i++) {
        if (!(options[i].commands & (uint64_t)1 << cli->id))
            continue;
        longs[count++] = (struct option){
            .name = options[i].name, .has_arg = options[i].argument != NULL, .val = (int)i + 256};
        if (options[i].letter) {
            *letters++ = options[i].letter;
            if (options[i].argument)
                *letters++ = ':';
        }
    }
    longs[count] = (struct option){0};
    *letters = '\0';
}

static const struct cli_option *option_of(const struct cli *cli, int value)
{
    if (value >= 256)
        return &options[value - 256];
    for (size_t i = 0; i < OPTIONS; i++)
        if (options[i].letter == value && (options[i].commands & (uint64_t)1 << cli->id))
            return &options[i];
    return NULL;
}

static bool parse_options(struct cli *cli, int argc, char **argv)
{
    struct option longs[OPTIONS + 1];
    char letters[LETTERS_MAX];
    getopt_tables(cli, longs, letters);
    opterr = 0;
    optind = 1;
    for (;;) {
        int value = getopt_long(argc, argv, letters, longs, NULL);
        if (value == -1)
            break;
        const char *typed = argv[optind - 1];
        if (value == ':') {
            cli_misuse(cli, "%s needs an argument", typed);
            return false;
        }
        if (value == '?') {
            cli_misuse(cli, optopt >= 256 ? "%s takes no argument" : "unknown option %s", typed);
            return false;
        }
        if (!apply(cli, option_of(cli, value), optarg))
            return false;
    }
    cli->arguments = argv + optind;
    cli->argument_count = argc - optind;
    return true;
}

static bool find_command(const char *name, enum cli_command_id *id)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(cli_commands[i].name, name) == 0) {
            *id = (enum cli_command_id)i;
            return true;
        }
    }
    return false;
}

bool cli_parse(struct cli *cli, int argc, char **argv, int *status)
{
    *status = CLI_USAGE;
    if (!find_command(cli->command, &cli->id)) {
        fprintf(stderr, "simtfuzz: there is no command '%s'\n", cli->command);
        cli_print_commands(stderr);
        return false;
    }
    options_default(&cli->options);
    if (!parse_options(cli, argc, argv))
        return false;
    if (cli->options.help) {
        print_help(cli, stdout);
        *status = CLI_OK;
        return false;
    }
    const struct cli_command *command = &cli_commands[cli->id];
    if (cli->argument_count < command->least) {
        cli_misuse(cli, "missing %s", command->arguments);
        return false;
    }
    if (command->most >= 0 && cli->argument_count > command->most) {
        cli_misuse(cli, "unexpected argument '%s'", cli->arguments[command->most]);
        return false;
    }
    return true;
}
