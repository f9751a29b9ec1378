#include "engine/language/parse.h"

#include "engine/base/invariant.h"
#include "engine/language/parse_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- declarations ---- */

bool parser_at_space(const struct parser *p)
{
    return parser_index(p, ast_space_names, SPACE_PRIVATE + 1) >= 0;
}

static bool parse_length(struct parser *p, struct ast_var *var)
{
    var->is_array = true;
    if (p->token.kind != TOKEN_NUMBER) {
        parser_unexpected(p, "a number of elements");
        return false;
    }
    if (p->token.number == 0 || p->token.number > LIMIT_ARRAY)
        parser_error(p, p->token.at, "an array has 1 to %d elements", LIMIT_ARRAY);
    else
        var->length = (uint32_t)p->token.number;
    parser_advance(p);
    return parser_expect(p, "]");
}

/* At most LIMIT_VARIABLES, so that looking names up one by one is good enough. */
static bool append_variable(struct parser *p, struct ast_var *var)
{
    uint32_t count = 0;
    struct ast_var **last = p->function ? &p->function->locals : &p->kernel->vars;
    for (; *last; last = &(*last)->next)
        count++;
    *last = var;
    if (count == LIMIT_VARIABLES)
        parser_stop(p, var->at, "more than %d variables in one scope", LIMIT_VARIABLES);
    return parser_count(p);
}

/* Once its name is known the variable exists, whatever else is wrong with it. */
static bool parse_var(struct parser *p, enum ast_space space, bool is_input)
{
    struct location at = p->token.at;
    const char *name = parser_name(p, "the name of a variable");
    if (!name)
        return false;
    struct ast_var *var = ast_var(p->arena, name, space, 1, false);
    var->at = at;
    var->is_input = is_input;
    if (!append_variable(p, var))
        return false;
    if (parser_accept(p, "[") && !parse_length(p, var))
        return false;
    return !parser_accept(p, "=") || parser_values(p, &var->init, &var->init_count);
}

bool parser_decl(struct parser *p)
{
    enum ast_space space = (enum ast_space)parser_index(p, ast_space_names, SPACE_PRIVATE + 1);
    if (p->function && space != SPACE_PRIVATE)
        parser_error(p, p->token.at, "variables of a body are private, not %s",
                     ast_space_names[space]);
    if (p->function)
        space = SPACE_LOCAL;
    parser_advance(p);
    bool is_input = parser_accept(p, "input");
    if (!parser_expect(p, "int"))
        return false;
    do {
        if (!parse_var(p, space, is_input))
            return false;
    } while (parser_accept(p, ","));
    return parser_expect(p, ";");
}

/* ---- functions ---- */

static bool parse_parameters(struct parser *p)
{
    if (!parser_expect(p, "("))
        return false;
    if (parser_accept(p, ")"))
        return true;
    do {
        bool is_out = parser_accept(p, "out");
        if (!parser_expect(p, "int"))
            return false;
        struct location at = p->token.at;
        const char *name = parser_name(p, "the name of a parameter");
        if (!name)
            return false;
        struct ast_var *var = ast_var(p->arena, name, SPACE_LOCAL, 1, false);
        var->at = at;
        var->is_parameter = true;
        var->is_out = is_out;
        if (!append_variable(p, var))
            return false;
        p->function->parameter_count++;
    } while (parser_accept(p, ","));
    return parser_expect(p, ")");
}

static void append_function(struct parser *p, struct ast_function *f)
{
    uint32_t count = 0;
    struct ast_function **last = &p->kernel->functions;
    for (; *last; last = &(*last)->next)
        count++;
    *last = f;
    if (count == LIMIT_FUNCTIONS)
        parser_stop(p, f->at, "more than %d functions", LIMIT_FUNCTIONS);
}

/* A body, or the blocks of one of the block forms. */
static bool parse_form(struct parser *p)
{
    p->form = parser_at(p, "blocks")     ? FORM_BLOCKS
              : parser_at(p, "lockstep") ? FORM_LOCKSTEP
                                         : FORM_STRUCTURED;
    p->function->mark = (uint32_t)p->form;
    return p->form == FORM_STRUCTURED ? parser_body(p) : parser_blocks(p);
}

static bool parse_function(struct parser *p)
{
    struct ast_function *f = ARENA_NEW(p->arena, struct ast_function);
    f->returns_int = parser_at(p, "int");
    parser_advance(p);
    f->at = p->token.at;
    f->name = parser_name(p, "the name of a function");
    if (!f->name || !parser_count(p))
        return false;
    append_function(p, f);
    p->function = f;
    bool sound = parse_parameters(p);
    p->unsound |= !sound;
    bool ok = sound && parse_form(p);
    p->function = NULL;
    return ok;
}

static struct ast_function *find_function(const struct parser *p, const char *name)
{
    struct ast_function *f = p->kernel->functions;
    while (f && strcmp(f->name, name) != 0)
        f = f->next;
    return f;
}

/* Takes what stands for out-parameters out of the list of arguments. */
static void divide_arguments(struct ast_stm *call)
{
    struct ast_expr **in = &call->arguments, **out = &call->outs;
    const struct ast_var *parameter = call->function->locals;
    for (; *in && parameter && parameter->is_parameter; parameter = parameter->next) {
        if (!parameter->is_out) {
            in = &(*in)->next;
            continue;
        }
        *out = *in;
        *in = (*in)->next;
        (*out)->next = NULL;
        out = &(*out)->next;
    }
}

/* A call of what does not exist becomes `;`, so that ast_check can go on. */
static void resolve_calls(struct parser *p)
{
    for (const struct parse_call *call = p->calls; call; call = call->next) {
        call->stm->function = find_function(p, call->name);
        if (call->stm->function) {
            divide_arguments(call->stm);
            continue;
        }
        call->stm->kind = STM_SKIP;
        parser_error(p, call->at, "function '%s' is not defined", call->name);
    }
}

static bool parse_main(struct parser *p)
{
    struct ast_function *f = ARENA_NEW(p->arena, struct ast_function);
    parser_advance(p);
    f->at = p->token.at;
    f->name = p->kernel->name = parser_word(p, "the name of the kernel");
    if (!f->name || !parser_expect(p, "(") || !parser_expect(p, ")"))
        return false;
    p->kernel->main = p->function = f;
    bool ok = parse_form(p);
    p->kernel->form = p->form;
    p->function = NULL;
    return ok;
}

/* All functions have the kernel's form. In the tree the two block forms look the same, so what mixes
 * them is found here; functions that are structured in a kernel that is not, ast_check finds. */
static void check_forms(struct parser *p)
{
    for (struct ast_function *f = p->kernel->functions; f; f = f->next) {
        enum ast_form form = (enum ast_form)f->mark;
        f->mark = 0;
        if (form != p->kernel->form && form != FORM_STRUCTURED &&
            p->kernel->form != FORM_STRUCTURED)
            parser_error(p, f->at, "procedure '%s' is in %s form, its kernel in %s form", f->name,
                         form == FORM_BLOCKS ? "block" : "lock-step",
                         form == FORM_BLOCKS ? "lock-step" : "block");
    }
    if (p->kernel->main)
        p->kernel->main->mark = 0;
}

/* ---- launch ---- */

enum setting { SETTING_THREADS, SETTING_WARP, SETTING_BLOCKS, SETTING_SEED, SETTING_COUNT };

/* lines = 2, policy = lowest: of caches. */
static bool parse_cache_setting(struct parser *p, uint32_t setting)
{
    parser_advance(p);
    if (!parser_expect(p, "="))
        return false;
    struct cache_sizes *caches = &p->kernel->launch.caches;
    const char *wrong = cache_sizes_put(caches, setting, p->token.text, p->token.length);
    if (wrong)
        parser_error(p, p->token.at, "%s", wrong);
    parser_advance(p);
    return true;
}

static bool parse_setting(struct parser *p, bool given[SETTING_COUNT])
{
    static const char *const names[] = {"threads", "warp", "blocks", "seed"};
    static const uint64_t limits[] = {LIMIT_THREADS, LIMIT_WARP, LIMIT_BLOCKS, UINT64_MAX};
    struct ast_launch *launch = &p->kernel->launch;
    uint32_t *const counts[] = {&launch->threads, &launch->warp, &launch->blocks};
    int setting = parser_index(p, names, SETTING_COUNT);
    int of_caches = parser_index(p, cache_setting_names, CACHE_SETTINGS);
    if (of_caches >= 0)
        return parse_cache_setting(p, (uint32_t)of_caches);
    if (setting < 0) {
        parser_unexpected(p, "'threads', 'warp', 'blocks', 'seed' or a size of caches");
        return false;
    }
    if (given[setting])
        parser_error(p, p->token.at, "'%s' is given twice", names[setting]);
    given[setting] = true;
    parser_advance(p);
    if (!parser_expect(p, "="))
        return false;
    if (p->token.kind != TOKEN_NUMBER) {
        parser_unexpected(p, "a number");
        return false;
    }
    uint64_t value = p->token.number;
    if (setting == SETTING_SEED)
        launch->seed = value;
    else if (value == 0 || value > limits[setting])
        parser_error(p, p->token.at, "'%s' must be 1 to %u", names[setting],
                     (unsigned)limits[setting]);
    else
        *counts[setting] = (uint32_t)value;
    parser_advance(p);
    return true;
}

static bool parse_launch(struct parser *p)
{
    bool given[SETTING_COUNT] = {false};
    p->kernel->launch.at = p->token.at;
    parser_advance(p);
    if (!parser_expect(p, "("))
        return false;
    do {
        if (!parse_setting(p, given))
            return false;
    } while (parser_accept(p, ","));
    return parser_expect(p, ")") && parser_expect(p, ";");
}

/* ---- expectations ---- */

/* The first word of an `expect` and those after its colons, joined: all but the last are the
 * subject. Leaves the parser behind the last one, which it returns. */
static struct token parse_subject(struct parser *p, const char **subject)
{
    for (;;) {
        if (p->token.kind != TOKEN_NAME) {
            parser_unexpected(p, *subject ? "an option or a claim" : "a subject or a claim");
            return p->token;
        }
        struct token word = lex_word(&p->lexer, &p->token);
        p->token = word;
        parser_advance(p);
        if (!parser_accept(p, ":"))
            return word;
        *subject = arena_printf(p->arena, "%s%s%.*s", *subject ? *subject : "", *subject ? ":" : "",
                                (int)word.length, word.text);
        if (strlen(*subject) > LIMIT_SUBJECT)
            parser_stop(p, word.at, "subject is longer than %d characters", LIMIT_SUBJECT);
    }
}

static int claim_index(const struct token *word)
{
    for (int i = 0; i < CLAIM_COUNT; i++)
        if (strlen(ast_claim_names[i]) == word->length &&
            memcmp(ast_claim_names[i], word->text, word->length) == 0)
            return i;
    return -1;
}

/* What follows the word of a claim. */
static bool parse_claim(struct parser *p, const struct token *word, struct ast_expect *claim)
{
    int kind = claim_index(word);
    claim->at = word->at;
    if (kind < 0) {
        parser_error(p, word->at, "%s is not a claim", parser_show(p, word));
        return false;
    }
    claim->claim = (enum ast_claim)kind;
    if (kind == CLAIM_RACE && !parser_at_name(p))
        return true;
    if (kind != CLAIM_RACE && kind != CLAIM_FINAL)
        return true;
    claim->var = parser_variable(p);
    if (!claim->var || kind == CLAIM_RACE)
        return claim->var != NULL;
    return parser_expect(p, "==") && parser_values(p, &claim->values, &claim->value_count);
}

/* [subject {: option} :] claim {, claim}, all that stands between `expect` and its end. */
static bool parse_claims(struct parser *p)
{
    uint32_t group = p->expect_groups++;
    const char *subject = NULL;
    struct token word = parse_subject(p, &subject);
    for (;;) {
        if (word.kind != TOKEN_NAME)
            return false;
        struct ast_expect *claim = ARENA_NEW(p->arena, struct ast_expect);
        claim->subject = subject;
        claim->group = group;
        if (!parser_count(p) || !parse_claim(p, &word, claim))
            return false;
        *p->last_expect = claim;
        p->last_expect = &claim->next;
        if (!parser_accept(p, ","))
            return true;
        word = p->token;
        if (word.kind != TOKEN_NAME)
            parser_unexpected(p, "a claim");
        else
            parser_advance(p);
    }
}

/* Behind `expect`. */
static bool parse_any_claims(struct parser *p)
{
    bool progress =
        parser_at(p, "progress") && (parser_next_is(p, ":") || parser_next_is(p, "within"));
    if (!progress)
        return parse_claims(p);
    parser_advance(p);
    return parser_progress(p);
}

static bool parse_expect(struct parser *p)
{
    parser_advance(p);
    return parse_any_claims(p) && parser_expect(p, ";");
}

void parse_expect_comment(struct arena *arena, struct ast_kernel *kernel, const char *text,
                          size_t length, struct location at, uint32_t group, struct diag *diag)
{
    struct parser p = {.arena = arena,
                       .diag = diag,
                       .kernel = kernel,
                       .last_expect = &kernel->expects,
                       .expect_groups = group};
    while (*p.last_expect)
        p.last_expect = &(*p.last_expect)->next;
    reader_init(&p.lexer, text, length, diag);
    p.lexer.line = at.line;
    p.lexer.line_start = text - (at.column - 1);
    p.token = lex_next(&p.lexer);
    parser_accept(&p, ":");
    if (parse_any_claims(&p) && p.token.kind != TOKEN_END)
        parser_unexpected(&p, "',' or the end of the line");
}

/* ---- an expression from elsewhere ---- */

bool language_assume(struct arena *arena, struct ast_kernel *kernel, const char *text,
                     struct diag *diag)
{
    struct parser p = {.arena = arena, .diag = diag, .kernel = kernel, .function = kernel->main};
    reader_init(&p.lexer, text, strlen(text), diag);
    p.token = lex_next(&p.lexer);
    struct ast_stm *stm = ast_stm(arena, STM_ASSUME, p.token.at);
    if (kernel->form != FORM_STRUCTURED)
        parser_error(&p, p.token.at, "only a structured kernel is assumed something of");
    else if ((stm->value = parser_expr(&p)) != NULL && p.token.kind != TOKEN_END)
        parser_unexpected(&p, "an operator or the end");
    if (diag->count > 0)
        return false;
    stm->at = kernel->main->at;
    stm->annotation = true;
    stm->next = kernel->main->body;
    kernel->main->body = stm;
    return true;
}

/* ---- the file ---- */

/* Skips to where the next item of a file can start: behind the `end` of this one (';' or '}')
 * outside of braces, or before a word that stands only outside of bodies. */
static void recover_item(struct parser *p, const char *end)
{
    static const char *const words[] = {"kernel", "expect", "shared", "global", "void"};
    uint32_t open = 0;
    while (p->token.kind != TOKEN_END && parser_index(p, words, 5) < 0) {
        open += parser_at(p, "{");
        open -= parser_at(p, "}") && open > 0;
        bool ends = parser_at(p, end) && open == 0;
        parser_advance(p);
        if (ends)
            return;
    }
}

static void parse_item(struct parser *p)
{
    if (parser_at_space(p)) {
        if (!parser_decl(p))
            recover_item(p, ";");
    } else if (parser_at(p, "int") || parser_at(p, "void")) {
        if (!parse_function(p))
            recover_item(p, "}");
    } else {
        parser_unexpected(p, "a declaration, a function or a kernel");
        parser_advance(p);
        recover_item(p, ";");
    }
}

static void parse_expects(struct parser *p)
{
    while (p->token.kind != TOKEN_END) {
        if (parser_at(p, "expect")) {
            if (parse_expect(p))
                continue;
        } else if (parser_at(p, "kernel")) {
            parser_error(p, p->token.at, "a file has one kernel");
        } else {
            parser_unexpected(p, "'expect'");
        }
        while (p->token.kind != TOKEN_END && !parser_at(p, "expect"))
            parser_advance(p);
    }
}

static void parse_file(struct parser *p)
{
    if (parser_at(p, "launch") && !parse_launch(p))
        recover_item(p, ";");
    while (p->token.kind != TOKEN_END && !parser_at(p, "kernel"))
        parse_item(p);
    if (!parser_at(p, "kernel")) {
        parser_unexpected(p, "a kernel");
        return;
    }
    if (!parse_main(p))
        recover_item(p, "}");
    parse_expects(p);
    resolve_calls(p);
    check_forms(p);
}

/* In the order of the text: names are resolved, and the tree is checked, after all of it. */
static void sort_errors(struct diag *diag, uint32_t first)
{
    uint32_t end = diag->count < DIAG_MAX ? diag->count : DIAG_MAX;
    for (uint32_t i = first + 1; i < end; i++) {
        struct diag_entry entry = diag->entries[i];
        uint32_t k = i;
        for (; k > first && (diag->entries[k - 1].at.line > entry.at.line ||
                             (diag->entries[k - 1].at.line == entry.at.line &&
                              diag->entries[k - 1].at.column > entry.at.column));
             k--)
            diag->entries[k] = diag->entries[k - 1];
        diag->entries[k] = entry;
    }
}

/* What somebody who writes CUDA C or OpenCL C would write, and what it is called here. */
static const struct {
    const char *theirs, *ours;
} foreign[] = {
    {"__global__", "a kernel is written 'kernel k() { ... }'"},
    {"__kernel", "a kernel is written 'kernel k() { ... }'"},
    {"__device__", "a function is written 'int f(int x) { ... }'"},
    {"__shared__", "memory of a block is written 'shared int s[32];', in front of the kernel"},
    {"__local", "memory of a block is written 'shared int s[32];', in front of the kernel"},
    {"__constant__", "memory of the grid is written 'global int c[32] = {1, 2};'"},
    {"threadIdx", "a thread's number in its block is 'tid'"},
    {"get_local_id", "a thread's number in its block is 'tid'"},
    {"get_global_id", "a thread's number in the grid is 'bid * threads + tid'"},
    {"blockIdx", "the block's number is 'bid'"},
    {"blockDim", "the number of threads of a block is 'threads'"},
    {"gridDim", "the number of blocks is 'blocks'"},
    {"__syncthreads", "a barrier of the block is 'barrier();'"},
    {"__threadfence", "a fence is 'membar();'"},
    {"atomicAdd", "atomics are 'x = atomic_add(a[i], 1);'"},
    {"atomicCAS", "atomics are 'x = atomic_cas(a[i], 0, 1);'"},
    {"__threadfence_block", "a fence is 'membar();'"},
    {"__syncwarp", "a warp runs in lock-step under `simt`, and single threads under `threads`: "
                   "there is no such barrier"},
    {"__shfl_sync", "there are no shuffles: write to shared memory and read it behind a barrier"},
    {"atomicExch", "atomics are 'x = atomic_exch(a[i], 1);'"},
    {"atomicMax", "atomics are 'x = atomic_max(a[i], 1);'"},
    {"atomicMin", "atomics are 'x = atomic_min(a[i], 1);'"},
    {"warpSize", "the lanes of a warp are 'warp_size'"},
    {"__ballot_sync", "votes are 'x = vote_ballot(e);'"},
};

/* A text that does not parse and has such a word is in another language: one sentence says more than the
 * errors, which are dropped. */
static bool is_cuda(const char *text, size_t length, struct diag *diag, uint32_t before)
{
    struct reader lexer;
    reader_init(&lexer, text, length, NULL);
    for (struct token token = lex_next(&lexer); token.kind != TOKEN_END; token = lex_next(&lexer))
        for (size_t i = 0; token.kind == TOKEN_NAME && i < sizeof foreign / sizeof *foreign; i++) {
            if (strlen(foreign[i].theirs) != token.length ||
                memcmp(foreign[i].theirs, token.text, token.length) != 0)
                continue;
            diag->count = before;
            diag_error(diag, token.at,
                       "'%s' is CUDA C or OpenCL C; in the kernel language %s "
                       "(docs/kernel-language.md). Or compile it and give the PTX",
                       foreign[i].theirs, foreign[i].ours);
            return true;
        }
    return false;
}

struct ast_kernel *language_parse(struct arena *arena, const char *text, size_t length,
                                  struct diag *diag)
{
    if (length > LIMIT_SOURCE_BYTES) {
        diag_error(diag, (struct location){0, 0}, "text is longer than %d bytes",
                   LIMIT_SOURCE_BYTES);
        return NULL;
    }
    uint32_t before = diag->count;
    struct ast_kernel *kernel = ARENA_NEW(arena, struct ast_kernel);
    kernel->launch = AST_DEFAULT_LAUNCH;
    struct parser p = {
        .arena = arena, .diag = diag, .kernel = kernel, .last_expect = &kernel->expects};
    reader_init(&p.lexer, text, length, diag);
    p.token = lex_next(&p.lexer);
    parse_file(&p);
    if (diag->count > before && is_cuda(text, length, diag, before))
        return NULL;
    if (kernel->main && !p.unsound && !p.stopped)
        ast_check(kernel, diag);
    sort_errors(diag, before);
    return diag->count == before ? kernel : NULL;
}
