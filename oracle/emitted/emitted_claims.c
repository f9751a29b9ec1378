/*
 * emitted_claims.c - a kernel with claims of every kind, about every subject: which of them hold of pi(P), of phi(P)
 * and of the kernel in PTX, and of whom, by definition (docs/kernel-language.md, "Expectations").
 */
#include "engine/subjects/forms.h"
#include "oracle/drawn/drawn.h"
#include "oracle/emitted/emitted.h"

#include <string.h>

enum { LINES = 4, CLAIMS = 3, SCALARS = 2 };

struct claim {
    const char *subject; /* NULL: all */
    enum ast_claim claim;
    const char *var; /* NULL: none */
    uint32_t line;
};

struct claims {
    struct claim list[2 * LINES * CLAIMS];
    uint32_t count;
};

static void add(struct claims *to, struct claim claim)
{
    to->list[to->count++] = claim;
}

static const char *const variables[SCALARS] = {"g", "s"};

static struct claim draw_claim(struct drawn *d, const char *subject, uint32_t line)
{
    struct claim c = {
        .subject = subject, .claim = (enum ast_claim)drawn_below(d, CLAIM_COUNT), .line = line};
    if (c.claim == CLAIM_FINAL || (c.claim == CLAIM_RACE && drawn_once_in(d, 2)))
        c.var = variables[drawn_below(d, SCALARS)];
    text_format(&d->text,
                c.claim == CLAIM_FINAL ? "%s %s == 1"
                : c.var                ? "%s %s"
                                       : "%s",
                ast_claim_names[c.claim], c.var);
    return c;
}

static void draw(struct drawn *d, bool in_blocks, struct claims *claims)
{
    static const char *const subjects[] = {
        "crs",     "thread-pc", "block",      "crs:late", "simt",       "block:eager",
        "threads", "its",       "interleave", "lockstep", "predicated", "convergence"};
    text_format(
        &d->text,
        "launch(threads = 1, warp = 1, blocks = 1); global int g; shared int s; private int "
        "p; kernel k() %s",
        in_blocks ? "blocks { Start: g = 1; goto End; }" : "{ g = 1; }");
    for (uint32_t line = 0, lines = 1 + drawn_below(d, LINES); line < lines; line++) {
        const char *subject = drawn_once_in(d, 2) ? NULL : subjects[drawn_below(d, 12)];
        text_put(&d->text, " expect ");
        if (subject)
            text_format(&d->text, "%s: ", subject);
        for (uint32_t i = 0, count = 1 + drawn_below(d, CLAIMS); i < count; i++) {
            text_put(&d->text, i ? ", " : "");
            add(claims, draw_claim(d, subject, line));
        }
        text_put(&d->text, ";");
    }
}

/* ---- which claims hold of what is made ---- */

/* Accesses of pi(P) are others than those of P: it writes v := v where P does nothing. */
static void of_blocks(const struct claims *claims, bool lockstep, struct claims *to)
{
    for (uint32_t i = 0; i < claims->count; i++) {
        const struct claim c = claims->list[i];
        const bool is_race = c.claim == CLAIM_RACE || c.claim == CLAIM_RACE_FREE;
        if (!c.subject && (lockstep || !is_race))
            add(to, c);
    }
}

static bool is_of_ptx(const char *subject)
{
    static const char *const names[] = {"crs", "crs:late", "thread-pc", "block", "block:eager"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(subject, names[i]) == 0)
            return true;
    return false;
}

/* What is claimed of all, but for what PTX does not show: divergence of barriers, who waits for whom. A race is one of
 * single threads, in a line behind the others. */
static void of_ptx(const struct claims *claims, struct claims *to)
{
    uint32_t last = 0;
    for (uint32_t races = 0; races < 2; races++)
        for (uint32_t i = 0; i < claims->count; i++) {
            struct claim c = claims->list[i];
            const bool of_all = !c.subject && c.claim != CLAIM_BARRIER_DIVERGENCE &&
                                c.claim != CLAIM_UNFAIR,
                       is_race = !c.subject && c.claim == CLAIM_RACE;
            last = c.line > last ? c.line : last;
            if ((c.subject ? !is_of_ptx(c.subject) : !of_all) || is_race != races)
                continue;
            c.subject = races ? "block" : c.subject;
            c.line = races ? last + 1 : c.line;
            add(to, c);
        }
}

static const char *compare(struct arena *arena, const char *what, const struct claims *meant,
                           const struct ast_expect *is)
{
    uint32_t i = 0, group = 0; /* of the claim before */
    for (; is && i < meant->count; is = is->next, i++) {
        const struct claim *c = &meant->list[i];
        const bool same_subject = c->subject ? is->subject && strcmp(is->subject, c->subject) == 0
                                             : !is->subject,
                   same_var = c->var ? is->var && strcmp(is->var->name, c->var) == 0 : !is->var,
                   same_line = i == 0 || (c->line == c[-1].line) == (is->group == group);
        if (is->claim != c->claim || !same_subject || !same_var || !same_line)
            break;
        group = is->group;
    }
    if (!is && i == meant->count)
        return NULL;
    return arena_printf(arena, "claims: of %s, claim %u is '%s%s%s' where '%s%s%s' is meant", what,
                        (unsigned)i, is && is->subject ? is->subject : "",
                        is && is->subject ? ": " : "", is ? ast_claim_names[is->claim] : "none",
                        i < meant->count && meant->list[i].subject ? meant->list[i].subject : "",
                        i < meant->count && meant->list[i].subject ? ": " : "",
                        i < meant->count ? ast_claim_names[meant->list[i].claim] : "none");
}

const char *emitted_claims(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_CLAIMS);
    struct claims *claims = ARENA_NEW(arena, struct claims);
    const char *why, *differs = NULL;
    draw(&d, number % 2, claims);
    *text = d.text.bytes;
    const struct ast_kernel *kernel = drawn_read(arena, d.text.bytes, &why);
    if (!kernel)
        return arena_printf(arena, "claims: refused, %s", why);
    struct forms *forms = forms_new(arena, kernel);
    static const struct {
        enum program_id program;
        const char *name;
    } made[] = {{PROGRAM_PREDICATED, "pi(P)"}, {PROGRAM_LOCKSTEP, "phi(P)"}, {PROGRAM_CRS, "PTX"}};
    for (uint32_t i = 0; i < 3 && !differs; i++) {
        const struct form *form = forms_get(forms, made[i].program);
        struct claims *meant = ARENA_NEW(arena, struct claims);
        if (!form->kernel)
            return arena_printf(arena, "claims: %s is refused, %s", made[i].name, form->reason);
        if (i < 2)
            of_blocks(claims, i == 1, meant);
        else
            of_ptx(claims, meant);
        differs = compare(arena, made[i].name, meant, form->kernel->expects);
    }
    return differs;
}
