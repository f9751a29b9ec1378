/*
 * crs_notation.h - programs of the branch unit in the catalogue's notation (tests/data/crs-programs.md),
 * read without anything of the engine.
 *
 *     id GT.55  lanes p=10 r=7,5  entry 1  stack (call,11,9)  mem L=1  choose 5,7
 *     3 @!p bra 6          ; one instruction a line, addresses from 1; `bra r` goes where register r says
 */
#ifndef TESTS_UNIT_CRS_NOTATION_H
#define TESTS_UNIT_CRS_NOTATION_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum notation_kind {
    N_NOP,
    N_SSY,
    N_PREBRK,
    N_PRERET,
    N_SYNC,
    N_BREAK,
    N_RET,
    N_EXIT,
    N_BRA,
    N_CALL,
    N_CAS,   /* reg: old value of L; if it is `a`, L = b */
    N_SETEQ, /* reg = (register a == b) */
    N_ST     /* L = a */
};

enum { N_LANES = 64, N_OPS = 64, N_REGS = 12, N_TOKENS = 64, N_ROWS = 64, N_TEXT = 4096 };

struct notation_op {
    enum notation_kind kind;
    int guard; /* register, -1: none */
    bool guard_not;
    int reg; /* bra, call: register that holds the target, -1: `a`; cas, seteq: the result */
    uint32_t a, b;
};

struct notation_token {
    char type; /* s d c b */
    bool mask[N_LANES];
    uint32_t pc;
};

struct notation {
    char id[64];
    char options[512]; /* the head line, for words like `lasso`, `level S` */
    uint32_t lanes, entry, op_count;
    struct notation_op ops[N_OPS]; /* by address; 0 unused */
    char reg_names[N_REGS][8];
    bool reg_is_bits[N_REGS];
    uint32_t regs[N_REGS][N_LANES];
    uint32_t reg_count;
    uint32_t memory; /* L */
    struct notation_token tokens[8];
    uint32_t token_count; /* top first */
    uint32_t choices[N_ROWS], choice_count;
    char trace[N_ROWS][512]; /* rows as text */
    uint32_t trace_count;
    char ref[512], mut[512];
};

static inline uint32_t notation_reg(struct notation *n, const char *name)
{
    for (uint32_t i = 0; i < n->reg_count; i++)
        if (strcmp(n->reg_names[i], name) == 0)
            return i;
    snprintf(n->reg_names[n->reg_count], sizeof n->reg_names[0], "%s", name);
    return n->reg_count++;
}

/* p=10, r=7,5, n=2, L=1 */
static inline void notation_value(struct notation *n, char *word)
{
    char *value = strchr(word, '=');
    *value++ = 0;
    if (strcmp(word, "n") == 0) {
        n->lanes = (uint32_t)atoi(value);
        return;
    }
    if (strcmp(word, "L") == 0) {
        n->memory = (uint32_t)atoi(value);
        return;
    }
    uint32_t reg = notation_reg(n, word), count = 0;
    n->reg_is_bits[reg] = strchr(value, ',') == NULL;
    if (n->reg_is_bits[reg]) {
        for (; value[count]; count++)
            n->regs[reg][count] = value[count] == '1';
    } else {
        for (char *rest = value; *rest; rest += *rest == ',')
            n->regs[reg][count++] = (uint32_t)strtoul(rest, &rest, 10);
    }
    n->lanes = count;
}

/* (call,111,10) */
static inline void notation_token(struct notation *n, const char *text)
{
    struct notation_token *t = &n->tokens[n->token_count++];
    t->type = text[1];
    const char *mask = strchr(text, ',') + 1;
    for (uint32_t i = 0; mask[i] != ','; i++)
        t->mask[i] = mask[i] == '1';
    t->pc = (uint32_t)atoi(strchr(mask, ',') + 1);
}

static inline void notation_head(struct notation *n, char *line)
{
    snprintf(n->options, sizeof n->options, "%s", line);
    const char *previous = "";
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
        if (strcmp(previous, "id") == 0)
            snprintf(n->id, sizeof n->id, "%s", word);
        else if (strcmp(previous, "entry") == 0)
            n->entry = (uint32_t)atoi(word);
        else if (strcmp(previous, "choose") == 0)
            for (char *rest = word; *rest; rest += *rest == ',')
                n->choices[n->choice_count++] = (uint32_t)strtoul(rest, &rest, 10);
        else if (word[0] == '(')
            notation_token(n, word);
        else if (strchr(word, '='))
            notation_value(n, word);
        previous = word;
    }
}

static inline enum notation_kind notation_kind(const char *word)
{
    static const char *const names[] = {
        [N_NOP] = "nop",   [N_SSY] = "ssy",     [N_PREBRK] = "preBrk", [N_PRERET] = "preRet",
        [N_SYNC] = "sync", [N_BREAK] = "break", [N_RET] = "ret",       [N_EXIT] = "exit",
        [N_BRA] = "bra",   [N_CALL] = "call",   [N_CAS] = "cas",       [N_SETEQ] = "seteq",
        [N_ST] = "st"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], word) == 0)
            return (enum notation_kind)i;
    fprintf(stderr, "no instruction '%s'\n", word);
    abort();
}

/* "3 @!p bra 6" */
static inline void notation_line(struct notation *n, char *line)
{
    char *words[8] = {0};
    uint32_t count = 0;
    for (char *word = strtok(line, " "); word && count < 8; word = strtok(NULL, " "))
        words[count++] = word;
    uint32_t address = (uint32_t)atoi(words[0]), at = 1;
    struct notation_op *op = &n->ops[address];
    *op = (struct notation_op){.guard = -1, .reg = -1};
    if (words[at][0] == '@') {
        op->guard_not = words[at][1] == '!';
        op->guard = (int)notation_reg(n, words[at] + 1 + op->guard_not);
        at++;
    }
    op->kind = notation_kind(words[at++]);
    if (op->kind == N_CAS) { /* cas r L a b */
        op->reg = (int)notation_reg(n, words[at]);
        op->a = (uint32_t)atoi(words[at + 2]);
        op->b = (uint32_t)atoi(words[at + 3]);
    } else if (op->kind == N_SETEQ) { /* seteq p r b */
        op->reg = (int)notation_reg(n, words[at]);
        n->reg_is_bits[op->reg] = true;
        op->a = notation_reg(n, words[at + 1]);
        op->b = (uint32_t)atoi(words[at + 2]);
    } else if (op->kind == N_ST) { /* st L a */
        op->a = (uint32_t)atoi(words[at + 1]);
    } else if (words[at] && isdigit((unsigned char)words[at][0])) {
        op->a = (uint32_t)atoi(words[at]);
    } else if (words[at]) {
        op->reg = (int)notation_reg(n, words[at]);
    }
    if (address > n->op_count)
        n->op_count = address;
}

/* The next block of the text, from *text on; false: there is none. */
static inline bool notation_next(const char **text, struct notation *n)
{
    const char *from = strstr(*text, "\n```");
    if (!from)
        return false;
    from = strchr(from + 1, '\n') + 1;
    const char *end = strstr(from, "```");
    memset(n, 0, sizeof *n);
    n->entry = 1;
    n->lanes = 1;
    bool traced = false;
    while (from < end) {
        char line[512];
        size_t length = strcspn(from, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, from);
        from += length + 1;
        if (strchr(line, ';'))
            *strchr(line, ';') = 0;
        if (strncmp(line, "id ", 3) == 0)
            notation_head(n, line);
        else if (strncmp(line, "trace", 5) == 0)
            traced = true;
        else if (traced)
            snprintf(n->trace[n->trace_count++], sizeof n->trace[0], "%s", line);
        else if (strncmp(line, "ref ", 4) == 0)
            snprintf(n->ref, sizeof n->ref, "%s", line + 4);
        else if (strncmp(line, "mut ", 4) == 0)
            snprintf(n->mut, sizeof n->mut, "%s", line + 4);
        else if (line[0])
            notation_line(n, line);
    }
    *text = end + 3;
    return true;
}

#endif
