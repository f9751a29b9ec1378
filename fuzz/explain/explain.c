#include "fuzz/explain/explain.h"

#include "fuzz/view/view.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 100 };

/* ---- text ---- */

/* A paragraph, in lines of at most COLUMNS. Marks of code in it stay. */
static void put_paragraph(const char *text, FILE *out)
{
    size_t column = 0;
    while (*text) {
        size_t blanks = strspn(text, " \n"), length = strcspn(text + blanks, " \n");
        if (length == 0)
            break;
        if (column > 0 && column + 1 + length > COLUMNS) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s%.*s", column ? " " : "", (int)length, text + blanks);
        column += length + (column > 0);
        text += blanks + length;
    }
    fputs("\n", out);
}

static void put_indented(const char *text, FILE *out)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        fprintf(out, "%s%.*s\n", length ? "    " : "", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static const struct explain_text *find_text(enum explain_kind kind, const char *name)
{
    for (const struct explain_text *text = explain_texts; text->name; text++)
        if (text->kind == kind && strcmp(text->name, name) == 0)
            return text;
    return NULL;
}

static void put_lines(const struct explain_text *text, const char *indent, FILE *out)
{
    for (const char *const *line = text->lines; *line; line++)
        fprintf(out, "%s%s\n", **line ? indent : "", *line);
}

/* ---- rules ---- */

const struct explain_text *explain_rule_kernel(struct arena *arena, enum rule rule)
{
    static const char *const suffixes[] = {"simt", "ptx"};
    const struct explain_text *found = NULL;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && !found; i++)
        found =
            find_text(EXPLAIN_KERNEL, arena_printf(arena, "%s-%s.%s", rule_table[rule].semantics,
                                                   rule_table[rule].name, suffixes[i]));
    return found;
}

/* What the kernel's first comment says, as a paragraph; returns the line behind it. */
static const char *const *put_comment(struct arena *arena, const struct explain_text *kernel,
                                      FILE *out)
{
    const char *const *line = kernel->lines;
    const char *all = "";
    bool block = strncmp(*line, "/*", 2) == 0;
    for (bool more = block || strncmp(*line, "//", 2) == 0; more && *line; line++) {
        const char *text = *line;
        text += strspn(text, " ");
        text += strncmp(text, "*/", 2) == 0 ? 0 : strspn(text, "/*");
        const char *end = strstr(text, "*/");
        all =
            arena_printf(arena, "%s %.*s", all, (int)(end ? end - text : (int)strlen(text)), text);
        more = block ? !end : line[1] && strncmp(line[1], "//", 2) == 0;
    }
    put_paragraph(all, out);
    return line;
}

/* A subject that runs rules of these semantics; NULL: pairs of threads have no steps. */
static const char *subject_of(const char *semantics)
{
    static const char *const by_another[][2] = {
        {"thread", "crs"}, {"block", "crs"}, {"cta", "block"}, {"tutorial", NULL}};
    for (size_t i = 0; i < sizeof by_another / sizeof *by_another; i++)
        if (strcmp(by_another[i][0], semantics) == 0)
            return by_another[i][1];
    return semantics;
}

static void explain_rule(struct arena *arena, enum rule rule, FILE *out)
{
    const struct rule_info *info = &rule_table[rule];
    const struct explain_text *kernel = explain_rule_kernel(arena, rule);
    const char *subject = subject_of(info->semantics);
    fprintf(out, "%s.%s: a rule, from %s\n\n", info->semantics, info->name, info->source);
    const char *const *rest = kernel ? put_comment(arena, kernel, out) : NULL;
    fprintf(out, "\nThe rule, %s:\n\n", view_rule_places[rule]);
    put_indented(view_rule_texts[rule], out);
    if (!kernel)
        return;
    fprintf(out, "\nThe smallest kernel that needs it, corpus/rules/%s:\n\n", kernel->name);
    for (; *rest; rest++)
        fprintf(out, "%s%s\n", **rest ? "    " : "", *rest);
    fputs("\nNext:\n\n", out);
    if (subject)
        fprintf(out,
                "    simtfuzz step corpus/rules/%s --subject %s\n"
                "    simtfuzz view corpus/rules/%s --subject %s\n    simtfuzz explain %s\n",
                kernel->name, subject, kernel->name, subject, subject);
    else
        fprintf(out, "    simtfuzz check corpus/rules/%s\n", kernel->name);
}

/* "simt.if", "simt-if", or "if" where one semantics has it; where several have, they are listed. */
static bool explain_rules(struct arena *arena, const char *name, FILE *out)
{
    uint32_t count = 0, last = 0;
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        const char *semantics = rule_table[i].semantics, *rule = rule_table[i].name;
        size_t length = strlen(semantics);
        if (strncmp(name, semantics, length) == 0 && (name[length] == '.' || name[length] == '-') &&
            strcmp(name + length + 1, rule) == 0) {
            explain_rule(arena, (enum rule)i, out);
            return true;
        }
        count += strcmp(name, rule) == 0;
        last = strcmp(name, rule) == 0 ? i : last;
    }
    if (count == 1)
        explain_rule(arena, (enum rule)last, out);
    if (count < 2)
        return count == 1;
    fprintf(out,
            "%s: a rule of %" PRIu32 " semantics. `simtfuzz explain SEMANTICS.%s` for one:\n\n",
            name, count, name);
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        if (strcmp(name, rule_table[i].name) == 0)
            fprintf(out, "    %s.%s   %s; %s\n", rule_table[i].semantics, name,
                    rule_table[i].source, view_rule_places[i]);
    return true;
}

const char *explain_near(struct arena *arena, const char *name)
{
    enum { LISTED_MAX = 8 };
    const char *near = "";
    uint32_t count = 0;
    for (uint32_t i = 0; i < RULE_COUNT && strlen(name) > 1; i++)
        if (strstr(rule_table[i].name, name) && count++ < LISTED_MAX)
            near = arena_printf(arena, "%s%s%s.%s", near, *near ? ", " : "",
                                rule_table[i].semantics, rule_table[i].name);
    return near;
}

/* ---- subjects ---- */

static void explain_one_subject(enum subject_id subject, FILE *out)
{
    const struct subject_info *info = &subject_table[subject];
    const char *example = NULL, *text = explain_subject(subject, &example);
    fprintf(out, "%s: a subject, a semantics with its options. In short: %s\n\n", info->name,
            info->sentence);
    if (text)
        put_paragraph(text, out);
    if (strchr(info->name, ':') && info->role == SUBJECT_VARIANT)
        put_paragraph("This one has other rules on purpose, as its short description says: a "
                      "paper's text as it is printed, or a mistake that one might make. It is run "
                      "only when it is asked for.",
                      out);
    fputs("\nNext:\n\n", out);
    if (info->vtable)
        fprintf(out,
                "    simtfuzz view %s --subject %s\n    simtfuzz step %s --subject %s\n"
                "    simtfuzz trace %s --subject %s\n",
                example, info->name, example, info->name, example, info->name);
    else
        fprintf(out, "    simtfuzz check %s\n", example);
}

/* By name, or by the number of the mutation that it is ("MUT.18"). */
static bool explain_subjects(const char *name, FILE *out)
{
    size_t length = strlen(name);
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++) {
        const char *sentence = subject_table[i].sentence;
        bool numbered = strncmp(name, "MUT.", 4) == 0 && strncmp(sentence, name, length) == 0 &&
                        sentence[length] == ':';
        if (!numbered && strcmp(subject_table[i].name, name) != 0)
            continue;
        explain_one_subject((enum subject_id)i, out);
        return true;
    }
    return false;
}

/* ---- oracles ---- */

static bool explain_oracles(struct arena *arena, const char *name, FILE *out)
{
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        const struct oracle_info *info = &oracle_table[i];
        const char *example, *next, *text = explain_oracle((enum oracle_id)i, &example, &next);
        if (strcmp(info->name, name) != 0)
            continue;
        fprintf(out, "%s: an oracle, a checker that rests on a theorem. %s\n\n", name,
                info->theorem);
        put_paragraph(text, out);
        put_paragraph(
            arena_printf(arena, "It applies to: %s. Its limits: %s.", info->applies, info->cannot),
            out);
        fputs("\nWhen it speaks:\n\n", out);
        put_paragraph(next, out);
        fprintf(out,
                "\nNext:\n\n    simtfuzz check --oracles %s %s\n"
                "    simtfuzz run --oracles %s --time 60 --db hunt.db\n",
                name, example, name);
        return true;
    }
    return false;
}

/* ---- errata, known divergences, words ---- */

static bool explain_known(const char *name, FILE *out)
{
    const struct explain_text *known = find_text(EXPLAIN_KNOWN, name);
    const struct explain_text *erratum = find_text(EXPLAIN_ERRATUM, name);
    const struct explain_text *here = find_text(EXPLAIN_ERRATUM_HERE, name);
    if (known) {
        fprintf(out,
                "%s: a known divergence. It is reported, and does not count as new. In short, ",
                name);
        put_lines(known, "", out);
    }
    if (known && strcmp(name, "UNF") == 0) {
        const char *example, *next;
        fputs("\n", out);
        put_paragraph(explain_oracle(ORACLE_LIVENESS, &example, &next), out);
        fputs("\n", out);
        put_paragraph(next, out);
        fputs("\nThe smallest example, and why it hangs:\n\n"
              "    simtfuzz view corpus/progress/spin-lock-outside.simt --against threads\n"
              "    simtfuzz progress corpus/progress/spin-lock-outside.simt\n",
              out);
    }
    if (erratum) {
        fprintf(out, "%s%s: an erratum of a paper. ", known ? "\n" : "", name);
        put_lines(erratum, "", out);
    }
    if (here) {
        fputs("Here: ", out);
        put_lines(here, "", out);
    }
    return known || erratum;
}

static bool explain_word(const char *name, FILE *out)
{
    bool found = false;
    for (const struct explain_text *text = explain_texts; text->name; text++) {
        if (text->kind != EXPLAIN_WORD || strcmp(text->name, name) != 0)
            continue;
        fprintf(out, "%s: a word. ", name);
        put_lines(text, "", out);
        found = true;
    }
    return found;
}

bool explain(struct arena *arena, const char *name, FILE *out)
{
    char *text = NULL;
    size_t length = 0;
    bool any = false;
    for (int i = 0; i < 5; i++) {
        FILE *part = open_memstream(&text, &length);
        if (!part)
            return any;
        bool found = i == 0   ? explain_subjects(name, part)
                     : i == 1 ? explain_oracles(arena, name, part)
                     : i == 2 ? explain_rules(arena, name, part)
                     : i == 3 ? explain_known(name, part)
                              : explain_word(name, part);
        fclose(part);
        if (found)
            fprintf(out, "%s%s", any ? "\n----\n\n" : "", text);
        any |= found;
        free(text);
    }
    return any;
}

/* ---- signatures ---- */

/* The classes that a row of the documentation names, "replay" or "end, race". */
static bool names_class(const char *name, const char *oracle, const char *class)
{
    size_t length = strlen(oracle);
    if (strncmp(name, oracle, length) != 0 || name[length] != '|')
        return false;
    for (name += length + 1; *name;) {
        size_t one = strcspn(name, ",");
        if (strlen(class) == one && strncmp(name, class, one) == 0)
            return true;
        name += one + strspn(name + one, ", ");
    }
    return false;
}

static void explain_class(const char *oracle, const char *class, FILE *out)
{
    for (const struct explain_text *text = explain_texts; text->name; text++)
        if (text->kind == EXPLAIN_CLASS && names_class(text->name, oracle, class))
            put_lines(text, "    ", out);
}

bool explain_signature(struct arena *arena, const char *signature, FILE *out)
{
    const char *parts[4] = {"", "", "", ""};
    for (int i = 0; i < 4; i++) {
        size_t length = strcspn(signature, "|");
        parts[i] = arena_strndup(arena, signature, length);
        signature += length + (signature[length] == '|');
    }
    bool known = false;
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        known |= strcmp(oracle_table[i].name, parts[0]) == 0;
    if (!known)
        return false;
    fprintf(
        out,
        "The oracle %s says that two sides disagree. What it saw is of the class `%s`%s%s; what "
        "differs: %s.\n",
        parts[0], parts[1], *parts[2] ? ", first at a step by the rule " : "", parts[2],
        *parts[3] ? parts[3] : "not said");
    explain_class(parts[0], parts[1], out);
    fputs("\n----\n\n", out);
    explain_oracles(arena, parts[0], out);
    if (*parts[2] && strcmp(parts[2], "none") != 0) {
        fputs("\n----\n\n", out);
        explain_rules(arena, parts[2], out);
    }
    return true;
}
