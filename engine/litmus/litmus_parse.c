/*
 * litmus_parse.c - the text of litmus tests (docs/memory.md describes it).
 *
 * A test is a paragraph: lines of a keyword and its words. `thread SM: instruction; instruction`; a label ends in a
 * colon. The first error ends the reading.
 */
#include "engine/litmus/litmus_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct parse {
    struct arena *arena;
    struct litmus_test *test;
    struct litmus_thread *thread;
    struct diag *diag;
    uint32_t line;
    char labels[LITMUS_CODE + 1][8], targets[LITMUS_CODE][8];
};

#define FAIL(p, ...) (diag_error((p)->diag, (struct location){(p)->line, 1}, __VA_ARGS__), false)

static bool is_number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    return *text && !*end && value > -10000 && value < 10000;
}

static int register_of(const struct litmus_thread *t, const char *name)
{
    for (int i = 0; i < t->registers; i++)
        if (!strcmp(t->names[i], name))
            return i;
    return -1;
}

static bool take_register(struct parse *p, const char *name, uint8_t *reg)
{
    struct litmus_thread *t = p->thread;
    int known = register_of(t, name);
    if (!isalpha((unsigned char)*name) || strlen(name) >= sizeof t->names[0])
        return FAIL(p, "`%s` is no register: a letter, then at most six letters or digits", name);
    if (known < 0 && t->registers == LITMUS_REGISTERS)
        return FAIL(p, "a thread has at most %d registers", LITMUS_REGISTERS);
    if (known < 0) {
        known = t->registers++;
        strcpy(t->names[known], name);
    }
    *reg = (uint8_t)known;
    return true;
}

static bool take_operand(struct parse *p, const char *text, struct litmus_operand *o)
{
    int reg = register_of(p->thread, text);
    if (is_number(text))
        *o = (struct litmus_operand){false, (int16_t)atoi(text)};
    else if (reg >= 0)
        *o = (struct litmus_operand){true, (int16_t)reg};
    else
        return FAIL(p, "`%s` is neither a number nor a register that the thread has written", text);
    return true;
}

static bool take_word(struct parse *p, const char *name, uint32_t thread, uint32_t sm,
                      uint8_t *word)
{
    static const char globals[] = "xyzw";
    uint32_t locals = p->test->options.words_a_line == 1 ? 1 : 2,
             digit = (uint32_t)(name[0] ? name[1] - '0' : 9);
    const char *global = strchr(globals, name[0]);
    if (name[0] && global && !name[1])
        *word = (uint8_t)(global - globals);
    else if (name[0] == 's' && digit < 4 && !name[2])
        *word = (uint8_t)(LITMUS_GLOBALS + 4 * sm + digit);
    else if (name[0] == 'l' && digit < locals && !name[2])
        *word = (uint8_t)(LITMUS_GLOBALS + 4 * LITMUS_THREADS + 2 * thread + digit);
    else
        return FAIL(p,
                    "`%s` is no word: x, y, z, w, s0 to s3, l0, and l1 where lines have two words",
                    name);
    return true;
}

/* `text` up to a comma; the rest is left in `rest`. */
static char *piece(char **rest)
{
    char *at = *rest, *comma = at ? strchr(at, ',') : NULL;
    if (comma)
        *comma++ = '\0';
    *rest = comma;
    return at;
}

static bool take_words(struct parse *p, struct litmus_instruction *in, char *text)
{
    uint32_t thread = (uint32_t)(p->thread - p->test->threads);
    for (in->lanes = 0; text; in->lanes++) {
        if (in->lanes == LITMUS_LANES)
            return FAIL(p, "an instruction has at most %d lanes", LITMUS_LANES);
        if (!take_word(p, piece(&text), thread, p->thread->sm, &in->word[in->lanes]))
            return false;
    }
    return true;
}

static bool take_registers(struct parse *p, struct litmus_instruction *in, char *text)
{
    uint32_t count = 0;
    for (; text && count < in->lanes; count++)
        if (!take_register(p, piece(&text), &in->reg[count]))
            return false;
    if (text || count != in->lanes)
        return FAIL(p, "as many registers as words, please");
    return true;
}

/* One value serves all lanes. */
static bool take_values(struct parse *p, struct litmus_instruction *in, char *text)
{
    for (uint32_t i = 0; i < in->lanes; i++) {
        if (text && !take_operand(p, piece(&text), &in->a[i]))
            return false;
        if (!text && i + 1U < in->lanes)
            in->a[i + 1U] = in->a[i];
    }
    return text ? FAIL(p, "more values than words") : true;
}

static const char *const loads[] = {"ca", "cg", "cs", "cv", "lu", "", "", "vol"};
static const char *const stores[] = {"", "cg", "cs", "", "", "wb", "wt", "vol"};

static bool take_cache(struct parse *p, const char *name, const char *const *names,
                       enum litmus_cache *c)
{
    for (uint32_t i = 0; i <= CACHE_VOL; i++)
        if (*names[i] && !strcmp(names[i], name)) {
            *c = (enum litmus_cache)i;
            return true;
        }
    return FAIL(p, "unknown modifier `.%s` of a %s", name, names == loads ? "load" : "store");
}

enum { WORDS = 5 };

struct form {
    const char *name;
    enum litmus_op op;
    uint32_t words; /* with the name */
};

static const struct form forms[] = {
    {"atom.add", LITMUS_ADD_ATOM, 4}, {"atom.exch", LITMUS_EXCH, 4}, {"atom.cas", LITMUS_CAS, 5},
    {"mb.cta", LITMUS_MEMBAR, 1},     {"mb.gl", LITMUS_MEMBAR, 1},   {"mb.sys", LITMUS_MEMBAR, 1},
    {"wait", LITMUS_WAIT, 1},         {"bar", LITMUS_BAR, 1},        {"use", LITMUS_USE, 2},
    {"mov", LITMUS_MOV, 3},           {"add", LITMUS_ADD, 4},        {"bz", LITMUS_BZ, 3},
    {"bnz", LITMUS_BNZ, 3},
};

static bool take_atom(struct parse *p, struct litmus_instruction *in, char **w)
{
    return take_words(p, in, w[2]) && take_registers(p, in, w[1]) && take_values(p, in, w[3]) &&
           (in->op != LITMUS_CAS || take_operand(p, w[4], &in->b));
}

static bool take_read(struct parse *p, struct litmus_instruction *in, const char *name)
{
    int reg = register_of(p->thread, name);
    in->reg[0] = (uint8_t)(reg < 0 ? 0 : reg);
    return reg >= 0 || FAIL(p, "no instruction above writes the register `%s`", name);
}

static bool take_rest(struct parse *p, struct litmus_instruction *in, char **w)
{
    in->lanes = 1;
    if (in->op == LITMUS_MEMBAR) {
        in->scope = w[0][3] == 'c' ? SCOPE_CTA : w[0][3] == 'g' ? SCOPE_GL : SCOPE_SYS;
        in->order = ORDER_SC;
    }
    if (in->op == LITMUS_USE)
        return take_read(p, in, w[1]);
    if (in->op == LITMUS_MOV)
        return take_operand(p, w[2], &in->a[0]) && take_register(p, w[1], &in->reg[0]);
    if (in->op == LITMUS_ADD)
        return take_operand(p, w[2], &in->a[0]) && take_operand(p, w[3], &in->b) &&
               take_register(p, w[1], &in->reg[0]);
    if (in->op != LITMUS_BZ && in->op != LITMUS_BNZ)
        return true;
    if (strlen(w[2]) >= sizeof p->targets[0])
        return FAIL(p, "the label `%s` is longer than seven bytes", w[2]);
    strcpy(p->targets[p->thread->length], w[2]);
    in->no_result = true;
    return take_operand(p, w[1], &in->a[0]);
}

static bool take_form(struct parse *p, struct litmus_instruction *in, char **w, uint32_t count)
{
    for (uint32_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].name, w[0]))
            continue;
        if (count != forms[i].words)
            return FAIL(p, "`%s` takes %u operands", w[0], forms[i].words - 1);
        in->op = forms[i].op;
        in->order = ORDER_RELAXED;
        in->scope = SCOPE_GL;
        return in->op <= LITMUS_CAS ? take_atom(p, in, w) : take_rest(p, in, w);
    }
    return FAIL(p, "unknown instruction `%s`", w[0]);
}

static bool take_access(struct parse *p, struct litmus_instruction *in, char **w, uint32_t count)
{
    bool load = w[0][0] == 'l';
    in->op = load ? LITMUS_LD : LITMUS_ST;
    if (count != 3)
        return FAIL(p, "`%s` takes 2 operands", w[0]);
    if (!take_cache(p, w[0] + 3, load ? loads : stores, &in->cache))
        return false;
    if (in->cache == CACHE_VOL)
        in->order = ORDER_RELAXED, in->scope = SCOPE_SYS;
    if (load)
        return take_words(p, in, w[2]) && take_registers(p, in, w[1]);
    return take_words(p, in, w[1]) && take_values(p, in, w[2]);
}

static uint32_t split(char *text, char **words, uint32_t most)
{
    uint32_t count = 0;
    char *save;
    for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        if (count == most)
            return most + 1;
        words[count++] = w;
    }
    return count;
}

static bool take_instruction(struct parse *p, char *text)
{
    char *w[WORDS] = {0};
    uint32_t count = split(text, w, WORDS);
    struct litmus_thread *t = p->thread;
    if (count == 0)
        return true;
    size_t length = strlen(w[0]);
    if (count == 1 && w[0][length - 1] == ':') {
        w[0][length - 1] = '\0';
        if (length > sizeof p->labels[0])
            return FAIL(p, "the label `%s` is longer than seven bytes", w[0]);
        strcpy(p->labels[t->length], w[0]);
        return true;
    }
    if (count > WORDS || t->length == LITMUS_CODE)
        return count > WORDS ? FAIL(p, "too many operands")
                             : FAIL(p, "a thread has at most %d instructions", LITMUS_CODE);
    struct litmus_instruction *in = &t->code[t->length];
    bool access = !strncmp(w[0], "ld.", 3) || !strncmp(w[0], "st.", 3);
    if (!(access ? take_access(p, in, w, count) : take_form(p, in, w, count)))
        return false;
    t->length++;
    return true;
}

/* Branches go forward, so that every thread ends. */
static bool find_targets(struct parse *p)
{
    for (uint32_t i = 0; i < p->thread->length; i++) {
        struct litmus_instruction *in = &p->thread->code[i];
        uint32_t to = i + 1;
        if (in->op != LITMUS_BZ && in->op != LITMUS_BNZ)
            continue;
        while (to <= p->thread->length && strcmp(p->labels[to], p->targets[i]))
            to++;
        if (to > p->thread->length)
            return FAIL(p, "no label `%s` stands below the branch", p->targets[i]);
        in->target = (uint8_t)to;
    }
    return true;
}

static bool take_sm(struct parse *p, const char *text, uint8_t *sm)
{
    if (!is_number(text) || atoi(text) < 0 || atoi(text) >= LITMUS_THREADS)
        return FAIL(p, "`%s` is no SM: 0 to %d", text, LITMUS_THREADS - 1);
    *sm = (uint8_t)atoi(text);
    return true;
}

static bool take_thread(struct parse *p, char *text)
{
    char *colon = strchr(text, ':'), *save;
    if (!colon)
        return FAIL(p, "`thread SM: instructions`, please");
    if (p->test->count == LITMUS_THREADS)
        return FAIL(p, "a test has at most %d threads", LITMUS_THREADS);
    *colon = '\0';
    p->thread = &p->test->threads[p->test->count];
    memset(p->labels, 0, sizeof p->labels);
    memset(p->targets, 0, sizeof p->targets);
    if (!take_sm(p, text, &p->thread->sm))
        return false;
    p->thread->cta = p->thread->sm;
    for (char *i = strtok_r(colon + 1, ";", &save); i; i = strtok_r(NULL, ";", &save))
        if (!take_instruction(p, i))
            return false;
    p->test->count++;
    return find_targets(p);
}

static bool take_warm(struct parse *p, char *text)
{
    char *w[2];
    uint8_t sm, word;
    if (split(text, w, 2) != 2)
        return FAIL(p, "`warm SM word`, please");
    if (!take_sm(p, w[0], &sm) || !take_word(p, w[1], 0, 0, &word))
        return false;
    if (litmus_space(word) != WORD_GLOBAL)
        return FAIL(p, "only global words can be warm");
    p->test->warm[sm] |= (uint16_t)(1U << word);
    return true;
}

static bool take_init(struct parse *p, char *text)
{
    char *w[2];
    uint8_t word;
    if (split(text, w, 2) != 2 || !is_number(w[1]))
        return FAIL(p, "`init word value`, please");
    if (!take_word(p, w[0], 0, 0, &word))
        return false;
    if (litmus_space(word) != WORD_GLOBAL)
        return FAIL(p, "only global words have initial values; the others begin as 0");
    p->test->init[word] = (int16_t)atoi(w[1]);
    return true;
}

static bool take_option(struct parse *p, char *text)
{
    static const char *const names[] = {"strong",    "before",     "inval",    "W=2",
                                        "split=max", "split=none", "split=all"};
    struct litmus_options *o = &p->test->options;
    uint32_t i = 0;
    while (i < 7 && strcmp(names[i], text))
        i++;
    o->strong |= i == 0;
    o->before |= i == 1;
    o->inval |= i == 2;
    if (i == 3)
        o->words_a_line = 2;
    if (i >= 4 && i < 7)
        o->split = (enum litmus_split)(i - 4);
    return i < 7 || FAIL(p, "unknown option `%s`", text);
}

static bool observe_register(struct parse *p, char *colon, const char *text,
                             struct litmus_observed *o)
{
    *colon = '\0';
    if (!is_number(text) || atoi(text) < 0 || atoi(text) >= p->test->count)
        return FAIL(p, "there is no thread `%s` above this line", text);
    int reg = register_of(&p->test->threads[atoi(text)], colon + 1);
    if (reg < 0)
        return FAIL(p, "thread %s has no register `%s`", text, colon + 1);
    *o = (struct litmus_observed){true, (uint8_t)atoi(text), (uint8_t)reg};
    return true;
}

/* A word; `l0@1`: of thread 1. Shared words are those of thread 0's block. */
static bool observe_word(struct parse *p, char *text, struct litmus_observed *o)
{
    char *at = strchr(text, '@');
    int thread = at && is_number(at + 1) ? atoi(at + 1) : 0;
    if (at)
        *at = '\0';
    if (thread < 0 || thread >= p->test->count)
        return FAIL(p, "there is no thread %d above this line", thread);
    o->is_register = false;
    o->thread = (uint8_t)thread;
    return take_word(p, text, o->thread, p->test->threads[thread].sm, &o->number);
}

static bool take_observe(struct parse *p, char *text)
{
    char *w[LITMUS_OBSERVED];
    uint32_t count = split(text, w, LITMUS_OBSERVED);
    if (!count || count > LITMUS_OBSERVED)
        return FAIL(p, "one to %d registers and words are observed", LITMUS_OBSERVED);
    for (uint32_t i = 0; i < count; i++) {
        char *colon = strchr(w[i], ':');
        struct litmus_observed *o = &p->test->observe[i];
        if (!(colon ? observe_register(p, colon, w[i], o) : observe_word(p, w[i], o)))
            return false;
    }
    p->test->observed = (uint8_t)count;
    return true;
}

/* `allows ptx60 ptx75`: models that have the weak outcome; `forbids`: that have not. */
static bool take_verdicts(struct parse *p, char *text, enum litmus_stated says)
{
    char *w[LITMUS_MODELS];
    uint32_t count = split(text, w, LITMUS_MODELS);
    if (!count || count > LITMUS_MODELS)
        return FAIL(p, "names of models are expected here");
    for (uint32_t i = 0; i < count; i++) {
        enum litmus_model m = litmus_model_named(w[i]);
        if (m == LITMUS_MODELS)
            return FAIL(p, "unknown model `%s`", w[i]);
        p->test->verdict[m] = says;
    }
    return true;
}

static bool take_line(struct parse *p, char *key, char *rest)
{
    if (!strcmp(key, "allows") || !strcmp(key, "forbids"))
        return take_verdicts(p, rest, *key == 'a' ? STATED_YES : STATED_NO);
    if (!strcmp(key, "thread"))
        return take_thread(p, rest);
    if (!strcmp(key, "warm"))
        return take_warm(p, rest);
    if (!strcmp(key, "init"))
        return take_init(p, rest);
    if (!strcmp(key, "option"))
        return take_option(p, rest);
    if (!strcmp(key, "observe"))
        return take_observe(p, rest);
    if (!strcmp(key, "sc"))
        p->test->sc = rest;
    else if (!strcmp(key, "more"))
        p->test->more = rest;
    else
        return FAIL(p, "unknown keyword `%s`", key);
    return true;
}

/* The next line, without the blanks at its end, or NULL at the end of the text. */
static char *next_line(struct parse *p, struct litmus_reader *r)
{
    if (!*r->at)
        return NULL;
    size_t whole = strcspn(r->at, "\n"), length = whole;
    while (length && isspace((unsigned char)r->at[length - 1]))
        length--;
    char *line = arena_strndup(p->arena, r->at, length);
    r->at += whole + (r->at[whole] == '\n');
    p->line = ++r->line;
    return line;
}

/* The first words of litmus tests for other machines. */
static const char *const others[] = {"AArch64", "ARM",   "BPF",    "C",    "CPP",
                                     "GPU_PTX", "JAVA",  "LISA",   "Bell", "MIPS",
                                     "PPC",     "RISCV", "VULKAN", "X86",  "X86_64"};

static bool begin(struct parse *p, char *key, const char *rest)
{
    for (uint32_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(key, others[i]))
            return FAIL(p, "a litmus test for %s: only those for PTX are read", key);
    if (strcmp(key, "test") || !*rest || strlen(rest) >= LITMUS_NAME)
        return FAIL(p, "a test begins with `test NAME`, a name of at most %d bytes",
                    LITMUS_NAME - 1);
    memset(p->test, 0, sizeof *p->test);
    strcpy(p->test->name, rest);
    p->test->line = p->line;
    p->test->options.words_a_line = 1;
    return true;
}

/* A barrier waits for all threads of its block. */
static void whole_blocks(struct litmus_test *test)
{
    for (uint32_t t = 0; t < test->count; t++)
        for (uint32_t i = 0; i < test->threads[t].length; i++)
            for (uint32_t other = 0; other < test->count; other++)
                if (test->threads[other].sm == test->threads[t].sm)
                    test->threads[t].code[i].threads |= (uint8_t)(1U << other);
}

bool litmus_next(struct arena *arena, struct litmus_reader *reader, struct litmus_test *test,
                 struct diag *diag)
{
    struct parse p = {.arena = arena, .test = test, .diag = diag};
    bool begun = false;
    if (!reader->line && litmus_is_ptx(arena, reader->at)) {
        reader->line = 1;
        return litmus_read_ptx(arena, reader, test, diag);
    }
    for (char *line; (line = next_line(&p, reader));) {
        char *rest = line + strcspn(line, " ");
        if (*line == '#' || (!*line && !begun))
            continue;
        if (!*line)
            break;
        if (*rest)
            *rest++ = '\0';
        if (!(begun ? take_line(&p, line, rest) : begin(&p, line, rest)))
            return false;
        begun = true;
    }
    whole_blocks(test);
    if (begun && !test->observed)
        return FAIL(&p, "the test `%s` observes nothing", test->name);
    return begun;
}
