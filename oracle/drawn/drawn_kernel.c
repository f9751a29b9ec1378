/*
 * drawn_kernel.c - declarations, functions, blocks, launches and claims of a drawn kernel.
 */
#include "oracle/drawn/drawn_internal.h"

/* ---- declarations ---- */

static void declare(struct maker *m, enum ast_space space, const char *name, uint32_t length)
{
    m->names[m->count++] = (struct name){name, space, length};
}

static void initial_values(struct maker *m, uint32_t length)
{
    uint32_t count = length == 0 ? 1 : 1 + below(m, length);
    bool braces = length > 0 || once_in(m, 4);
    put(m, "=");
    if (braces)
        put(m, "{");
    for (uint32_t i = 0; i < count; i++) {
        put(m, i ? "," : "");
        int32_t value = maker_constant(m);
        drawn_number_word(m->d, value);
    }
    if (braces)
        put(m, "}");
}

/* `name` without a space: what stands before it was written. */
static void variable(struct maker *m, enum ast_space space, bool drawn, uint32_t from)
{
    const char *name = maker_new_name(m, from);
    uint32_t length = m->count > from && once_in(m, 3) ? 1 + below(m, 4) : 0;
    say(m, words_of_space[space]);
    say(m, drawn ? "drawn" : "given");
    say(m, name);
    drawn_number_word(m->d, length);
    put(m, name);
    if (length > 0) {
        put(m, "[");
        drawn_spell(m->d, length);
        put(m, "]");
    }
    say(m, "{");
    if (!drawn && once_in(m, 3))
        initial_values(m, length);
    say(m, "}");
    declare(m, space, name, length);
}

static void variables(struct maker *m, uint32_t from)
{
    static const char *const tokens[] = {"global", "shared", "private"};
    enum ast_space space = from > 0 || m->count == 0 ? SPACE_PRIVATE : (enum ast_space)below(m, 3);
    bool drawn = from == 0 && once_in(m, 4);
    put(m, tokens[space]);
    if (drawn)
        put(m, "input");
    put(m, "int");
    do {
        variable(m, from > 0 ? SPACE_LOCAL : space, drawn, from);
        put(m, m->count < NAMES && once_in(m, 3) ? "," : ";");
    } while (m->d->text.bytes[m->d->text.length - 1] == ',');
}

/* ---- functions ---- */

static void blocks(struct maker *m)
{
    uint32_t count = 1 + below(m, 4);
    const char *names[4];
    for (uint32_t i = 0; i < count; i++)
        names[i] = i == 0 && m->is_main ? "Start"
                                        : arena_printf(m->d->arena, "%s%u", i % 2 ? "B" : "End", i);
    for (uint32_t i = 0; i < count; i++) {
        say(m, "block");
        say(m, names[i]);
        put(m, names[i]);
        put(m, ":");
        say(m, "{");
        for (uint32_t k = below(m, 4); k > 0; k--) {
            if (once_in(m, 3))
                maker_guarded(m);
            else
                maker_simple(m);
            put(m, ";");
        }
        say(m, "}");
        bool returns = !m->is_main && (i + 1 == count || once_in(m, 3));
        uint32_t targets = returns ? 0 : 1 + below(m, 3);
        say(m, returns ? "return {" : "to {");
        put(m, returns ? "return" : "goto");
        for (uint32_t t = 0; t < targets; t++) {
            uint32_t to = below(m, m->is_main ? count + 1 : count);
            put(m, t ? "," : "");
            put(m, to == count ? "End" : names[to]);
            say(m, to == count ? "End" : names[to]);
        }
        put(m, ";");
        say(m, "}");
    }
}

static void body(struct maker *m)
{
    static const char *const forms[] = {
        [FORM_STRUCTURED] = "", [FORM_BLOCKS] = "blocks", [FORM_LOCKSTEP] = "lockstep"};
    put(m, forms[m->form]);
    put(m, "{");
    for (uint32_t i = below(m, 3); i > 0; i--)
        variables(m, m->file_count);
    m->left = 12;
    if (m->form == FORM_STRUCTURED) {
        maker_statements(m);
    } else {
        say(m, "{ }");
        blocks(m);
    }
    put(m, "}");
    m->count = m->file_count;
}

static void parameter(struct maker *m, struct callee *f)
{
    const char *name = maker_new_name(m, m->file_count);
    bool out = m->form != FORM_STRUCTURED && once_in(m, 2);
    f->outs[f->count] = out;
    put(m, f->count++ ? "," : "");
    put(m, out ? "out" : "");
    put(m, "int");
    put(m, name);
    say(m, out ? "out given" : "in given");
    say(m, name);
    say(m, "0 { }");
    declare(m, SPACE_LOCAL, name, 0);
}

/* Not what `pick` and the like would be taken for. */
static void function(struct maker *m)
{
    static const char *const names[] = {"f", "g1", "all_of", "int_"};
    struct callee *f = &m->callees[m->callee_count];
    *f = (struct callee){.name = names[m->callee_count],
                         .returns_int = m->form == FORM_STRUCTURED && once_in(m, 2)};
    m->returns_int = f->returns_int;
    m->is_main = false;
    say(m, f->returns_int ? "function" : "procedure");
    say(m, f->name);
    put(m, f->returns_int ? "int" : "void");
    put(m, f->name);
    put(m, "(");
    for (uint32_t i = below(m, 4); i > 0; i--)
        parameter(m, f);
    put(m, ")");
    m->callee_count++; /* it may call itself */
    body(m);
}

/* ---- the file ---- */

/* One setting of the launch, in the order that is drawn. */
static void launch(struct maker *m)
{
    static const char *const names[] = {"threads", "warp",  "blocks", "seed",
                                        "lines",   "words", "sms",    "policy"};
    static const char *const policies[] = {"any", "first", "lowest"};
    uint64_t values[8] = {4, 4, 1, 0};
    bool some = !once_in(m, 4), first = true;
    uint32_t start = below(m, 8);
    put(m, some ? "launch" : "");
    put(m, some ? "(" : "");
    for (uint32_t k = 0; k < 8 && some; k++) {
        uint32_t i = (start + 3 * k) % 8;
        if (!first && once_in(m, 2))
            continue;
        put(m, first ? "" : ",");
        first = false;
        put(m, names[i]);
        put(m, "=");
        values[i] = 1 + below(m, i == 5 ? 2 : i == 7 ? 3 : 32);
        if (i == 3)
            values[i] = pcg_next64(&m->d->rng);
        if (i == 7)
            put(m, policies[values[i] - 1]);
        else if (i > 3)
            put(m, arena_printf(m->d->arena, "%u", (unsigned)values[i]));
        else
            drawn_spell(m->d, values[i]);
    }
    put(m, some ? ")" : "");
    put(m, some ? ";" : "");
    text_format(&m->d->words, "launch %u %u %u %llu caches %u %u 0 %u %u ", (unsigned)values[0],
                (unsigned)values[1], (unsigned)values[2], (unsigned long long)values[3],
                (unsigned)values[4], (unsigned)values[5], (unsigned)values[6], (unsigned)values[7]);
}

/* What is no private variable of the file; NULL: there is none. */
static const struct name *visible(struct maker *m)
{
    uint32_t first = below(m, m->count);
    for (uint32_t k = 0; k < m->count; k++) {
        const struct name *n = &m->names[(first + k) % m->count];
        if (n->space == SPACE_GLOBAL || n->space == SPACE_SHARED)
            return n;
    }
    return NULL;
}

static void final_values(struct maker *m, const struct name *n)
{
    put(m, "==");
    put(m, n->length > 0 ? "{" : "");
    for (uint32_t i = 0; i < (n->length > 0 ? n->length : 1); i++) {
        put(m, i ? "," : "");
        int32_t value = maker_constant(m);
        drawn_number_word(m->d, value);
    }
    put(m, n->length > 0 ? "}" : "");
}

/* `word`: whether it is the first of its `expect`. */
static void claim(struct maker *m, const char *word, const char *subject)
{
    static const char *const tokens[CLAIM_COUNT] = {[CLAIM_RACE_FREE] = "race_free",
                                                    [CLAIM_RACE] = "race",
                                                    [CLAIM_TERMINATES] = "terminates",
                                                    [CLAIM_NONTERMINATING] = "nonterminating",
                                                    [CLAIM_BARRIER_DIVERGENCE] =
                                                        "barrier_divergence",
                                                    [CLAIM_ASSERT_FAILS] = "assert_fails",
                                                    [CLAIM_OUT_OF_BOUNDS] = "out_of_bounds",
                                                    [CLAIM_DEADLOCK] = "deadlock",
                                                    [CLAIM_UNFAIR] = "unfair",
                                                    [CLAIM_STUCK] = "stuck",
                                                    [CLAIM_FINAL] = "final",
                                                    [CLAIM_CALL_DEPTH] = "call_depth",
                                                    [CLAIM_INFEASIBLE] = "infeasible",
                                                    [CLAIM_BARRIER_ERROR] = "barrier_error"};
    uint32_t kind = below(m, CLAIM_COUNT);
    const struct name *n =
        kind == CLAIM_FINAL || (kind == CLAIM_RACE && once_in(m, 2)) ? visible(m) : NULL;
    if (kind == CLAIM_FINAL && !n)
        kind = CLAIM_TERMINATES;
    put(m, tokens[kind]);
    say(m, word);
    say(m, subject);
    say(m, words_of_claim[kind]);
    say(m, n ? n->name : "-");
    if (n)
        put(m, n->name);
    say(m, "{");
    if (kind == CLAIM_FINAL)
        final_values(m, n);
    say(m, "}");
}

static void claims(struct maker *m)
{
    static const char *const subjects[] = {
        "-", "-", "simt", "simt:then-first", "thread-pc:no-reset", "crs:caches:lines=2"};
    for (uint32_t i = below(m, 3); i > 0; i--) {
        const char *subject = subjects[below(m, 6)];
        put(m, "expect");
        if (*subject != '-') {
            put(m, subject);
            put(m, ":");
        }
        claim(m, "claim", subject);
        for (uint32_t k = below(m, 3); k > 0; k--) {
            put(m, ",");
            claim(m, "and", subject);
        }
        put(m, ";");
    }
}

static void rows(struct maker *m)
{
    static const char *const endings[] = {"ends", "ends-strongly", "may-hang", "hangs", "unknown"};
    static const char *const units[] = {"threads", "warps", "blocks"};
    static const char *const models[] = {"*", "simt", "stackless:oldest", "hsa-obe", "crs"};
    uint32_t within = once_in(m, 2) ? 1 + below(m, 1000) : 0;
    bool some = once_in(m, 3);
    if (some) {
        put(m, "expect progress");
        put(m, within ? arena_printf(m->d->arena, "within %u", within) : "");
        put(m, ":");
    }
    for (uint32_t i = 0; some && i < 3; i++) {
        uint32_t ending = below(m, 5), unit = below(m, 3);
        put(m, i ? "," : "");
        put(m, endings[ending]);
        put(m, units[unit]);
        for (uint32_t k = i; k < 5; k += once_in(m, 2) ? 3 : 5) {
            put(m, models[k]);
            text_format(&m->d->words, "row %u %u %s ", ending, unit, k ? models[k] : "-");
        }
    }
    if (some)
        put(m, ";");
    text_format(&m->d->words, "within %u ", some ? within : 0);
}

void texts_draw_kernel(struct drawn *d, struct drawn_mistake *mistake)
{
    static const char *const forms[] = {[FORM_STRUCTURED] = "structured",
                                        [FORM_BLOCKS] = "of-blocks",
                                        [FORM_LOCKSTEP] = "in-lock-step"};
    struct maker m = {.d = d, .mistake = mistake};
    uint32_t form = below(&m, 4);
    m.form = form < 2 ? FORM_STRUCTURED : form == 2 ? FORM_BLOCKS : FORM_LOCKSTEP;
    say(&m, forms[m.form]);
    launch(&m);
    for (uint32_t i = 1 + below(&m, 3); i > 0; i--)
        variables(&m, 0);
    m.file_count = m.count;
    for (uint32_t i = below(&m, 3); i > 0; i--)
        function(&m);
    say(&m, "procedure k");
    put(&m, "kernel");
    put(&m, "k");
    put(&m, "(");
    put(&m, ")");
    m.returns_int = false;
    m.is_main = true;
    body(&m);
    claims(&m);
    rows(&m);
}
