/*
 * option_values.c - numbers and times as users write them, and the options that have a form of their own.
 */
#include "engine/emit/emit.h"
#include "fuzz/cli/options.h"

#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/hook.h"
#include "fuzz/case/case.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

bool cli_parse_u32(const char *text, uint32_t *value)
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
    else if (strcmp(text + length, "d") == 0)
        unit = 24 * 3600 * 1000;
    else if (strcmp(text + length, "s") != 0 && text[length] != '\0')
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    if (!cli_parse_u64(number, &count) || count > UINT32_MAX)
        return false;
    *milliseconds = count * unit;
    return true;
}

bool option_parse_memory(struct cli *cli, const char *text)
{
    enum { DIGITS_MAX = 12 };
    size_t length = strspn(text, "0123456789");
    const char *unit = text + length;
    uint64_t count = length > 0 && length <= DIGITS_MAX ? strtoull(text, NULL, 10) : 0;
    unsigned shift = strcmp(unit, "M") == 0 ? 20 : strcmp(unit, "G") == 0 ? 30 : 0;
    if (count == 0 || shift == 0 || count > UINT64_MAX >> 1 >> shift) {
        cli_misuse(cli, "--memory wants a size (512M, 2G), not '%s'", text);
        return false;
    }
    cli->options.memory = count << shift;
    return true;
}

/* ---- options with a form of their own ---- */

/* Says which item of a list is wrong and which exist. */
/* The nearest of a list of words with blanks between them. */
static const char *word_meant(struct cli *cli, const char *at, const char *words)
{
    enum { WORDS_MAX = 256 };
    const char *names[WORDS_MAX];
    uint32_t count = 0;
    for (size_t length; *words && count < WORDS_MAX; words += length + (words[length] == ' ')) {
        length = strcspn(words, " ");
        names[count++] = arena_strndup(&cli->arena, words, length);
    }
    return cli_meant(cli, arena_strndup(&cli->arena, at, strcspn(at, ",")), names, count);
}

static const char *subject_meant(struct cli *cli, const char *at)
{
    const char *names[SUBJECT_COUNT];
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++)
        names[i] = subject_table[i].name;
    return cli_meant(cli, arena_strndup(&cli->arena, at, strcspn(at, ",")), names, SUBJECT_COUNT);
}

static bool bad_item(struct cli *cli, const char *option, const char *at, const char *exist)
{
    cli_misuse(cli, "--%s: there is no '%.*s'%s (there are: %s)", option, (int)strcspn(at, ","), at,
               word_meant(cli, at, exist), exist);
    return false;
}

bool option_parse_subjects(struct cli *cli, const char *text)
{
    const char *at;
    if (subject_parse_list(text, &cli->options.subjects, &at))
        return true;
    cli_misuse(cli, "--subjects: there is no '%.*s'%s (simtfuzz rules --subjects lists them)",
               (int)strcspn(at, ","), at, subject_meant(cli, at));
    return false;
}

bool option_parse_oracles(struct cli *cli, const char *text)
{
    const char *at;
    if (oracle_parse_list(text, &cli->options.oracles, &cli->options.oracle_modes, &at))
        return true;
    return bad_item(cli, "oracles", at,
#define ORACLE(id, name, distance, theorem, applies, cannot) name " "
#include "oracle/check/oracles.def"
#undef ORACLE
                    "lemmas:strict safety:printed all");
}

bool option_parse_case(struct cli *cli, const char *text)
{
    const char *error;
    struct fuzz_case *c = ARENA_NEW(&cli->arena, struct fuzz_case);
    if (case_parse(&cli->arena, text, c, &error)) {
        cli->options.check_case = c;
        return true;
    }
    cli_misuse(cli, "--case: '%s' has no place in a case", error);
    return false;
}

bool option_parse_transforms(struct cli *cli, const char *text)
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

bool option_parse_features(struct cli *cli, const char *text)
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
                    "all none portable portable-uniform");
}

/* How long the first name of a list is: a comma ends it, if the name of a kind stands behind ("a,exec:b,c" are two). */
static size_t outside_name_length(const char *text)
{
    size_t length = strcspn(text, ",");
    while (text[length] == ',') {
        const char *behind = text + length + 1;
        if (behind[strspn(behind, "abcdefghijklmnopqrstuvwxyz")] == ':')
            break;
        length += 1 + strcspn(behind, ",");
    }
    return length;
}

bool option_parse_outside(struct cli *cli, const char *text)
{
    struct cli_outside_options *o = &cli->options.outside;
    bool all = strcmp(text, "all") == 0;
    if (!*text) {
        cli_misuse(cli, "--subject wants the name of an implementation, or all");
        return false;
    }
    if (all || cli->config) /* a value of a configuration is a whole list */
        o->count = 0;
    o->all = all;
    while (!all && *text) {
        size_t length = outside_name_length(text);
        if (o->count == CLI_OUTSIDE_MAX) {
            cli_misuse(cli, "--subject: at most %d implementations", CLI_OUTSIDE_MAX);
            return false;
        }
        o->subjects[o->count++] = arena_strndup(&cli->arena, text, length);
        text += length;
        text += *text == ',';
    }
    return true;
}

bool option_parse_knobs(struct cli *cli, const char *text)
{
    const char *at;
    if (emit_parse_knobs(text, &cli->options.knobs, &at))
        return true;
    return bad_item(cli, "knobs", at,
#define KNOB(id, name, percent, sentence) name " "
#include "engine/emit/knobs.def"
#undef KNOB
                    "none");
}

bool option_parse_weights(struct cli *cli, const char *text)
{
    const char *at;
    if (gen_weights_parse(&cli->arena, text, &cli->options.weights, &at))
        return true;
    cli_misuse(cli,
               "--weights: '%.*s' is no weight with a percentage from 1 to %d, such as loops:200 "
               "(simtfuzz rules --weights lists them)",
               (int)strcspn(at, ","), at, GEN_WEIGHT_MAX);
    return false;
}

bool option_parse_fail_on(struct cli *cli, const char *text)
{
    uint32_t kinds = 0;
    for (bool more = true; more;) {
        size_t length = strcspn(text, ",");
        uint32_t kind = 0;
        while (kind < CAMPAIGN_KNOWN && (strlen(campaign_kind_names[kind]) != length ||
                                         memcmp(campaign_kind_names[kind], text, length) != 0))
            kind++;
        if (kind == CAMPAIGN_KNOWN && !(length == 4 && memcmp(text, "none", 4) == 0))
            return bad_item(cli, "fail-on", text, "new open regressed flaky none");
        kinds = kind == CAMPAIGN_KNOWN ? 0 : kinds | 1u << kind;
        more = text[length] == ',';
        text += length + more;
    }
    cli->options.fail_on = kinds;
    return true;
}

/* "race", "race:block", "none": one item of the list. */
static bool parse_outcome(const char *text, size_t length, struct fail_on *fail_on)
{
    enum subject_id subject;
    if (length == 4 && memcmp(text, "none", 4) == 0)
        return true;
    for (uint32_t i = 0; i < OUTCOME_COUNT; i++)
        if (strlen(outcome_names[i]) == length && memcmp(text, outcome_names[i], length) == 0) {
            fail_on->outcomes |= 1u << i;
            return true;
        }
    if (length < 6 || memcmp(text, "race:", 5) != 0 ||
        !subject_parse(text + 5, length - 5, &subject))
        return false;
    fail_on->race_where |= SUBJECT_BIT(subject);
    return true;
}

bool option_parse_fail_outcomes(struct cli *cli, const char *text)
{
    struct fail_on fail_on = {0};
    for (bool more = true; more;) {
        size_t length = strcspn(text, ",");
        if (!parse_outcome(text, length, &fail_on))
            return bad_item(cli, "fail-on", text,
                            "race race:SUBJECT oob deadlock divergence assert hang error none");
        more = text[length] == ',';
        text += length + more;
    }
    cli->options.fail_outcomes = fail_on;
    return true;
}

static bool parse_command(struct cli *cli, const char *option, const char *text,
                          const char **command)
{
    const char *why;
    *command = text;
    if (hook_words(&cli->arena, text, &why))
        return true;
    cli_misuse(cli, "--%s wants a program and its arguments, not '%s': %s", option, text, why);
    return false;
}

bool option_parse_hook(struct cli *cli, const char *text)
{
    return parse_command(cli, "on-finding", text, &cli->options.on_finding);
}

bool option_parse_end_hook(struct cli *cli, const char *text)
{
    return parse_command(cli, "on-end", text, &cli->options.on_end);
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

bool option_parse_mutate(struct cli *cli, const char *text)
{
    return parse_percent(cli, "--mutate", text, &cli->options.mutate);
}

bool option_parse_shard(struct cli *cli, const char *text)
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

bool option_parse_entry(struct cli *cli, const char *text)
{
    return parse_ptx_setting(cli, "entry=", text);
}

bool option_parse_bind(struct cli *cli, const char *text)
{
    return parse_ptx_setting(cli, "bind:", text);
}

/* One of two words: *second is whether it is the other one. */
static bool parse_either(struct cli *cli, const char *option, const char *text, const char *first,
                         const char *other, bool *second)
{
    *second = strcmp(text, other) == 0;
    if (*second || strcmp(text, first) == 0)
        return true;
    cli_misuse(cli, "option '--%s' takes %s or %s, not '%s'", option, first, other, text);
    return false;
}

bool option_parse_inputs(struct cli *cli, const char *text)
{
    return parse_either(cli, "inputs", text, "any", "file", &cli->options.prove.file_inputs);
}

bool option_parse_annotations(struct cli *cli, const char *text)
{
    return parse_either(cli, "annotations", text, "check", "assume",
                        &cli->options.prove.annotations);
}

/* N, A..B, any. One thread makes no pair. */
bool option_parse_threads(struct cli *cli, const char *text)
{
    struct cli_prove_options *prove = &cli->options.prove;
    const char *dots = strstr(text, "..");
    uint64_t from = 2, to = LIMIT_THREADS;
    bool ok = strcmp(text, "any") == 0;
    if (!ok && dots)
        ok = cli_parse_u64(arena_strndup(&cli->arena, text, (size_t)(dots - text)), &from) &&
             cli_parse_u64(dots + 2, &to);
    else if (!ok)
        ok = cli_parse_u64(text, &from) && (to = from) > 0;
    if (ok && from >= 2 && from <= to && to <= LIMIT_THREADS) {
        prove->threads_from = (uint32_t)from;
        prove->threads_to = (uint32_t)to;
        return true;
    }
    cli_misuse(cli, "option '--threads' takes any, N or A..B, of 2 to %d, not '%s'", LIMIT_THREADS,
               text);
    return false;
}

bool option_parse_proof_memory(struct cli *cli, const char *text)
{
    return parse_either(cli, "memory", text, "bar", "adv", &cli->options.prove.adversary);
}

bool option_parse_shared(struct cli *cli, const char *text)
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

bool option_parse_set(struct cli *cli, const char *text)
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

/* As a PTX file's head has them. */
bool option_parse_caches(struct cli *cli, const char *text)
{
    const char *wrong = cache_sizes_read(&cli->arena, &cli->options.launch.caches, text);
    if (wrong) {
        cli_misuse(cli, "--caches: %s", wrong);
        return false;
    }
    add_setting(cli, "caches=", text, strlen(text));
    return true;
}

bool option_parse_subject(struct cli *cli, const char *text)
{
    cli->options.subject_given = true;
    if (subject_parse(text, strlen(text), &cli->options.subject)) {
        if (subject_table[cli->options.subject].vtable)
            return true;
        cli_misuse(cli, "--subject: '%s' has no machine to trace; simtfuzz check runs it", text);
        return false;
    }
    cli_misuse(cli, "--subject: there is no '%s'%s (simtfuzz rules --subjects lists them)", text,
               subject_meant(cli, text));
    return false;
}
