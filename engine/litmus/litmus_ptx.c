/*
 * litmus_ptx.c - litmus tests in the field's text for PTX: header, first values, threads (docs/memory.md).
 *
 *     PTX name  "remarks"  key=value lines  { x=0; P1:r0=0; }
 *      P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 *      instruction    | instruction    ;
 *     exists (P1:r0 == 1 /\ x == 2)
 *
 * A file is one test. The first error ends the reading.
 */
#include "engine/litmus/litmus_ptx.h"
#include "engine/litmus/litmus_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 512 };

/* Comments become blanks, so that places stay. */
static char *without_comments(struct arena *arena, const char *text)
{
    char *copy = arena_strndup(arena, text, strlen(text));
    for (char *c = copy; *c; c++) {
        bool line = c[0] == '/' && c[1] == '/', whole = c[0] == '(' && c[1] == '*';
        if (*c == '"')
            c += strcspn(c + 1, "\"") + (strchr(c + 1, '"') != NULL);
        else if (line)
            for (; *c && *c != '\n'; c++)
                *c = ' ';
        else if (whole)
            for (uint32_t end = 0; *c && end < 2; c++) {
                end = (c[0] == '*' && c[1] == ')') || end ? end + 1 : 0;
                *c = *c == '\n' ? '\n' : ' ';
            }
        if (!*c)
            break;
    }
    return copy;
}

char litmus_ptx_skip(struct litmus_ptx *p)
{
    for (; isspace((unsigned char)*p->at); p->at++)
        p->line += *p->at == '\n';
    return *p->at;
}

void litmus_ptx_name(struct litmus_ptx *p, char *name, size_t size)
{
    size_t length = 0;
    litmus_ptx_skip(p);
    for (; isalnum((unsigned char)*p->at) || (*p->at && strchr("_.%$+-", *p->at)); p->at++)
        if (length + 1 < size)
            name[length++] = *p->at;
    name[length] = '\0';
}

bool litmus_ptx_number(const char *text, int16_t *value)
{
    char *end;
    long number = strtol(text, &end, 0);
    *value = (int16_t)number;
    return *text && !*end && number > -10000 && number < 10000;
}

int litmus_ptx_register(struct litmus_thread *t, const char *name, bool make)
{
    name += *name == '%';
    for (int i = 0; i < t->registers; i++)
        if (!strcmp(t->names[i], name))
            return i;
    bool fits = strlen(name) < sizeof t->names[0] && t->registers < LITMUS_REGISTERS;
    if (!make || !isalpha((unsigned char)*name) || !fits)
        return -1;
    strcpy(t->names[t->registers], name);
    return t->registers++;
}

bool litmus_ptx_word(struct litmus_ptx *p, const char *name, uint8_t *word)
{
    for (uint32_t i = 0; i < p->words; i++)
        if (!strcmp(p->test->words[i], name)) {
            *word = (uint8_t)i;
            return true;
        }
    if (!isalpha((unsigned char)*name) || strlen(name) >= sizeof p->test->words[0])
        return PTX_FAIL(p, "`%s` is no word: a letter, then at most six letters or digits", name);
    if (p->words == LITMUS_GLOBALS)
        return PTX_FAIL(p, "`%s`: a test has at most %d words", name, LITMUS_GLOBALS);
    strcpy(p->test->words[p->words], name);
    *word = (uint8_t)p->words++;
    return true;
}

static bool take(struct litmus_ptx *p, char wanted)
{
    if (litmus_ptx_skip(p) != wanted)
        return false;
    p->at++;
    return true;
}

static bool init_register(struct litmus_ptx *p, const char *thread, int16_t value, const char *name)
{
    int16_t number = -1;
    bool is_thread = thread[0] == 'P' ? litmus_ptx_number(thread + 1, &number)
                                      : litmus_ptx_number(thread, &number);
    if (!is_thread || number < 0 || number >= LITMUS_THREADS)
        return PTX_FAIL(p, "`%s` is no thread: P0 to P%d", thread, LITMUS_THREADS - 1);
    struct litmus_thread *t = &p->test->threads[number];
    int reg = litmus_ptx_register(t, name, true);
    if (reg < 0)
        return PTX_FAIL(p, "`%s` is no register, or one more than %d of a thread", name,
                        LITMUS_REGISTERS);
    t->first[reg] = value;
    return true;
}

/* x=0, P0:r0=0 */
static bool take_init(struct litmus_ptx *p)
{
    char name[32], reg[32] = "", text[32] = "0";
    int16_t value;
    uint8_t word;
    litmus_ptx_name(p, name, sizeof name);
    if (take(p, ':'))
        litmus_ptx_name(p, reg, sizeof reg);
    if (litmus_ptx_skip(p) == '@' || (*p->at != '=' && *p->at != ';' && *p->at != '}'))
        return PTX_FAIL(p, "proxies, aliases, types and arrays are not modelled (at `%s`)", name);
    if (take(p, '='))
        litmus_ptx_name(p, text, sizeof text);
    if (!litmus_ptx_number(text, &value))
        return PTX_FAIL(p, "`%s` is no number below 10000: words and registers hold numbers here",
                        text);
    if (*reg)
        return init_register(p, name, value, reg);
    uint32_t words = p->words;
    if (!litmus_ptx_word(p, name, &word))
        return false;
    if (p->words == words)
        return PTX_FAIL(p, "`%s` has a first value already", name);
    p->test->init[word] = value;
    return true;
}

static bool take_inits(struct litmus_ptx *p)
{
    if (!take(p, '{'))
        return PTX_FAIL(p, "first values in braces are expected here");
    while (!take(p, '}')) {
        if (take(p, ';'))
            continue;
        if (!*p->at)
            return PTX_FAIL(p, "no brace closes the first values");
        if (!take_init(p))
            return false;
    }
    return true;
}

/* `ptx60=yes`: what the condition is said to be; other keys are remarks. */
static bool take_key(struct litmus_ptx *p, const char *line, size_t length)
{
    char key[16] = "";
    size_t name = strcspn(line, "=");
    if (name >= length)
        return PTX_FAIL(p, "first values in braces, remarks or `key=value` are expected here");
    if (name < sizeof key)
        memcpy(key, line, name);
    enum litmus_model model = litmus_model_named(key);
    if (model == LITMUS_MODELS)
        return true;
    const char *value = line + name + 1;
    size_t size = length - name - 1;
    bool yes = size == 3 && !strncmp(value, "yes", 3);
    if (!yes && (size != 2 || strncmp(value, "no", 2) != 0))
        return PTX_FAIL(p, "`%s=`: yes or no", key);
    p->test->verdict[model] = yes ? STATED_YES : STATED_NO;
    return true;
}

static bool take_header(struct litmus_ptx *p)
{
    while (litmus_ptx_skip(p) && *p->at != '{') {
        size_t length = strcspn(p->at, "\n");
        if (*p->at == '"') {
            const char *end = strchr(p->at + 1, '"');
            if (!end)
                return PTX_FAIL(p, "no quotation mark ends the remark");
            for (; p->at <= end; p->at++)
                p->line += *p->at == '\n';
            continue;
        }
        size_t whole = length;
        while (length && isspace((unsigned char)p->at[length - 1]))
            length--;
        if (!take_key(p, p->at, length))
            return false;
        p->at += whole;
    }
    return true;
}

/* A row of the table, up to its semicolon, into cells. */
static bool take_row(struct litmus_ptx *p, char *row, char **cells, uint32_t *count)
{
    size_t length = strcspn(p->at, ";");
    if (!p->at[length] || length >= ROW)
        return PTX_FAIL(p, "a row of instructions ends in a semicolon, after at most %d bytes",
                        ROW - 1);
    memcpy(row, p->at, length);
    row[length] = '\0';
    *count = 0;
    for (char *at = row; at;) {
        char *bar = strchr(at, '|');
        if (*count == LITMUS_THREADS)
            return PTX_FAIL(p, "a test has at most %d threads", LITMUS_THREADS);
        cells[(*count)++] = at;
        if (bar)
            *bar++ = '\0';
        at = bar;
    }
    p->at += length + 1;
    return true;
}

/* P1@cta 0,gpu 0 */
static bool take_place(struct litmus_ptx *p, uint32_t thread, const char *cell)
{
    unsigned number, cta, gpu;
    int end = 0;
    struct litmus_thread *t = &p->test->threads[thread];
    if (sscanf(cell, " P%u @ cta %u , gpu %u %n", &number, &cta, &gpu, &end) != 3 || cell[end] ||
        number != thread || cta > 255 || gpu > 255)
        return PTX_FAIL(p, "`P%u@cta N,gpu N` is expected as the head of this column", thread);
    t->cta = (uint8_t)cta;
    t->gpu = (uint8_t)gpu;
    t->sm = (uint8_t)thread;
    for (uint32_t other = thread; other-- > 0;)
        if (p->test->threads[other].cta == t->cta && p->test->threads[other].gpu == t->gpu)
            t->sm = p->test->threads[other].sm;
    return true;
}

static uint32_t lines_in(const char *text, const char *end)
{
    uint32_t lines = 0;
    for (; text < end; text++)
        lines += *text == '\n';
    return lines;
}

static bool asks(const struct litmus_ptx *p)
{
    static const char *const words[] = {"exists", "~exists", "~ exists",
                                        "forall", "filter",  "locations"};
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(p->at, words[i], strlen(words[i])))
            return true;
    return false;
}

static bool take_rows(struct litmus_ptx *p)
{
    char row[ROW], *cells[LITMUS_THREADS];
    uint32_t count;
    litmus_ptx_skip(p);
    const char *start = p->at;
    if (!take_row(p, row, cells, &count))
        return false;
    for (uint32_t t = 0; t < count; t++)
        if (!take_place(p, t, cells[t]))
            return false;
    p->test->count = (uint8_t)count;
    p->line += lines_in(start, p->at);
    for (; litmus_ptx_skip(p) && !asks(p);) {
        start = p->at;
        if (!take_row(p, row, cells, &count))
            return false;
        for (uint32_t t = 0; t < count; t++)
            if (t >= p->test->count)
                return PTX_FAIL(p, "more columns than threads");
            else if (!litmus_ptx_instruction(p, t, cells[t]))
                return false;
        p->line += lines_in(start, p->at);
    }
    return true;
}

static bool take_test(struct litmus_ptx *p)
{
    char name[LITMUS_NAME + 1];
    p->at += 3;
    litmus_ptx_skip(p);
    size_t length = strcspn(p->at, " \t\r\n\"");
    if (!length || length >= LITMUS_NAME)
        return PTX_FAIL(p, "`PTX` and a name of at most %d bytes begin a test", LITMUS_NAME - 1);
    memcpy(name, p->at, length);
    name[length] = '\0';
    strcpy(p->test->name, name);
    p->test->line = p->line;
    p->test->is_ptx = true;
    p->test->options.words_a_line = 1;
    p->at += length;
    return take_header(p) && take_inits(p) && take_rows(p) && litmus_ptx_finish(p) &&
           litmus_ptx_condition(p);
}

bool litmus_is_ptx(struct arena *arena, const char *text)
{
    const char *at = without_comments(arena, text);
    while (isspace((unsigned char)*at))
        at++;
    return !strncmp(at, "PTX", 3) && isspace((unsigned char)at[3]);
}

bool litmus_read_ptx(struct arena *arena, struct litmus_reader *reader, struct litmus_test *test,
                     struct diag *diag)
{
    struct litmus_ptx *p = ARENA_NEW(arena, struct litmus_ptx);
    memset(p, 0, sizeof *p);
    memset(test, 0, sizeof *test);
    *p = (struct litmus_ptx){.arena = arena, .test = test, .diag = diag};
    p->at = without_comments(arena, reader->at);
    p->line = 1;
    reader->at += strlen(reader->at);
    litmus_ptx_skip(p);
    return take_test(p);
}
