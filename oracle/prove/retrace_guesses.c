/*
 * retrace_guesses.c - guesses at a loop's head (engine/prove/candidates.c): each is read as its text says it, of the
 * values that the two threads have there.
 */
#include "oracle/prove/retrace_internal.h"

#include "engine/base/invariant.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What the texts speak of. Variables of 32 bits. */
struct head {
    const struct retracing *w;
    const struct loop_cut *cut;
    bool in[2], at[2]; /* thread k was in the loop when it began, is at the head */
    bool alive, same;  /* both are alive, of a block */
};

enum reading { UNREAD, FALSE_HERE, TRUE_HERE };

static enum reading if_so(bool given, bool holds)
{
    return !given || holds ? TRUE_HERE : FALSE_HERE;
}

static int64_t value_of(const struct head *h, const term *state, uint32_t slot)
{
    return h->w->values.words[state[slot]];
}

static const struct ast_var *variable(const struct head *h, const char *name, size_t length)
{
    const struct ast_var *found = NULL;
    for (uint32_t i = 0; i < h->w->duo->var_count; i++) {
        const struct ast_var *var = h->w->duo->vars[i];
        if (strlen(var->name) != length || strncmp(var->name, name, length) != 0)
            continue;
        if (found || var->is_array)
            return NULL;
        found = var;
    }
    return found;
}

/* ---- where the threads are ---- */

static bool is_at(const struct head *h, const char *block, uint32_t k)
{
    const struct duo *duo = h->w->duo;
    uint32_t b = 0;
    while (b < duo->block_count && strcmp(duo->cfg->blocks[b]->name, block) != 0)
        b++;
    INVARIANT(b < duo->block_count);
    return value_of(h, h->cut->head, slot_at(duo, b, k)) != 0;
}

static enum reading read_places(const struct head *h, const char *text)
{
    static const char both[] = "both threads are at ", first[] = "thread 1 is not at ",
                      second[] = "thread 2 is not at ";
    if (strcmp(text, "both threads are in the loop, or none") == 0)
        return if_so(h->same && h->alive, h->at[0] == h->at[1]);
    if (strcmp(text, "both threads are alive") == 0)
        return if_so(true, h->alive);
    if (strncmp(text, first, sizeof first - 1) == 0)
        return if_so(h->in[0], !is_at(h, text + sizeof first - 1, 0));
    if (strncmp(text, second, sizeof second - 1) == 0)
        return if_so(h->in[1], !is_at(h, text + sizeof second - 1, 1));
    const char *end = strstr(text, ", or none");
    if (strncmp(text, both, sizeof both - 1) != 0 || !end)
        return UNREAD;
    const char *name = arena_printf(h->w->arena, "%.*s", (int)(end - text - (int)sizeof both + 1),
                                    text + sizeof both - 1);
    return if_so(h->same && h->alive, is_at(h, name, 0) == is_at(h, name, 1));
}

/* ---- variables ---- */

static int32_t grown(const struct head *h, const struct ast_var *var, uint32_t k)
{
    uint32_t slot = slot_var(h->w->duo, var, k);
    return (int32_t)((uint32_t)value_of(h, h->cut->head, slot) -
                     (uint32_t)value_of(h, h->cut->entry, slot));
}

static enum reading read_pair(const struct head *h, const struct ast_var *var, const char *rest)
{
    uint32_t slot = slot_var(h->w->duo, var, 0);
    bool equal = value_of(h, h->cut->head, slot) == value_of(h, h->cut->head, slot + 1);
    int32_t one = grown(h, var, 0), two = grown(h, var, 1);
    if (strstr(rest, " have grown alike"))
        return if_so(h->at[0] && h->at[1] && h->same, one == two);
    if (strncmp(rest, "$1 has not grown more than ", 27) == 0)
        return if_so(h->in[0] && h->at[1], one <= two);
    if (strncmp(rest, "$2 has not grown more than ", 27) == 0)
        return if_so(h->at[0] && h->in[1], two <= one);
    if (strncmp(rest, "$1 == ", 6) != 0)
        return UNREAD;
    if (strstr(rest, " where both are at the head"))
        return if_so(h->at[0] && h->at[1], equal);
    if (strstr(rest, " in one block"))
        return if_so(h->at[0] && h->at[1] && h->same, equal);
    return if_so(h->in[0] && h->in[1] && h->alive, equal);
}

static enum reading read_single(const struct head *h, const struct ast_var *var, uint32_t k,
                                const char *rest)
{
    static const char multiple[] = " has changed by a multiple of ";
    uint32_t slot = slot_var(h->w->duo, var, k);
    int64_t now = value_of(h, h->cut->head, slot), before = value_of(h, h->cut->entry, slot);
    if (strcmp(rest, " has not fallen") == 0)
        return if_so(h->in[k], now >= before);
    if (strcmp(rest, " has not risen") == 0)
        return if_so(h->in[k], now <= before);
    if (strcmp(rest, " >= 0") == 0)
        return if_so(h->in[k], now >= 0);
    if (strcmp(rest, " != 0") == 0)
        return if_so(h->in[k], now != 0);
    if (strcmp(rest, " is 0 or a power of two") == 0)
        return if_so(h->in[k], ((uint32_t)now & ((uint32_t)now - 1)) == 0);
    if (strncmp(rest, multiple, sizeof multiple - 1) == 0)
        return if_so(h->in[k], (uint32_t)grown(h, var, k) %
                                       (uint32_t)strtoul(rest + sizeof multiple - 1, NULL, 10) ==
                                   0);
    return UNREAD;
}

static enum reading read_variable(const struct head *h, const char *text)
{
    const char *dollar = strchr(text, '$');
    const struct ast_var *var = dollar ? variable(h, text, (size_t)(dollar - text)) : NULL;
    if (!var || (dollar[1] != '1' && dollar[1] != '2'))
        return UNREAD;
    enum reading pair = read_pair(h, var, dollar);
    return pair ? pair : read_single(h, var, (uint32_t)(dollar[1] - '1'), dollar + 2);
}

/* ---- the log ---- */

static enum reading read_element(const struct head *h, const struct ast_var *var, const char *what,
                                 bool logged)
{
    static const char slice[] = "is in the thread's slice of ";
    const struct duo *duo = h->w->duo;
    uint32_t at = (uint32_t)h->w->values.words[duo->watched[var->mark]],
             tid = (uint32_t)h->w->values.words[duo->tid[0]];
    if (strcmp(what, "nothing") == 0)
        return if_so(logged, false);
    if (strcmp(what, "is element tid") == 0)
        return if_so(logged, at == tid);
    if (strcmp(what, "is element tid of some row") == 0)
        return if_so(logged, at % duo->threads == tid);
    if (strcmp(what, "is in the thread's slice") == 0)
        return if_so(logged, at / (var->length / duo->threads) == tid);
    if (strncmp(what, slice, sizeof slice - 1) == 0)
        return if_so(logged, at / (uint32_t)strtoul(what + sizeof slice - 1, NULL, 10) == tid);
    return UNREAD;
}

static enum reading read_log(const struct head *h, const char *text)
{
    static const char *const kinds[LOG_KINDS] = {[LOG_READ] = "has read ",
                                                 [LOG_WRITE] = "has written ",
                                                 [LOG_ATOMIC] = "has changed atomically ",
                                                 [LOG_STRONG_READ] = "has strongly read "};
    static const char start[] = "what thread 1 ", fresh[] = " in the loop";
    const char *end = strstr(text, ": ");
    if (strncmp(text, start, sizeof start - 1) != 0 || !end)
        return UNREAD;
    for (uint32_t kind = 0; kind < LOG_KINDS; kind++) {
        const char *name = text + sizeof start - 1;
        size_t length = strlen(kinds[kind]), fresh_length = sizeof fresh - 1;
        if (strncmp(name, kinds[kind], length) != 0)
            continue;
        name += length;
        bool of_loop = strncmp(end - fresh_length, fresh, fresh_length) == 0;
        size_t rest = (size_t)(end - name) - (of_loop ? fresh_length : 0);
        for (uint32_t i = 0; i < h->w->duo->var_count; i++) {
            const struct ast_var *var = h->w->duo->vars[i];
            uint32_t slot = slot_log(h->w->duo, var, kind);
            if (strlen(var->name) == rest && strncmp(var->name, name, rest) == 0)
                return read_element(h, var, end + 2,
                                    h->in[0] && value_of(h, h->cut->head, slot) != 0 &&
                                        !(of_loop && value_of(h, h->cut->entry, slot) != 0));
        }
    }
    return UNREAD;
}

/* ---- all of them ---- */

void pair_guesses(struct retracing *w, const struct loop_cut *cut)
{
    const struct duo *duo = w->duo;
    uint32_t head = duo->cfg->loops[cut->loop].head;
    struct head h = {.w = w, .cut = cut, .same = pair_is_true(w, duo->same)};
    if (duo->lift) /* registers have no names of their own */
        return;
    for (uint32_t k = 0; k < 2; k++) {
        h.in[k] = pair_is_true(w, cut->in[k]);
        h.at[k] = pair_is_true(w, cut->head[slot_at(duo, head, k)]);
    }
    h.alive = !pair_is_true(w, cut->head[slot_dead(duo, 0)]) &&
              !pair_is_true(w, cut->head[slot_dead(duo, 1)]);
    for (uint32_t n = 0; n < cut->candidate_count; n++) {
        const struct candidate *c = &cut->candidates[n];
        enum reading read = read_places(&h, c->text);
        read = read ? read : read_variable(&h, c->text);
        read = read ? read : read_log(&h, c->text);
        if (read && (read == TRUE_HERE) != pair_is_true(w, c->holds))
            pair_complain(w, "guess",
                          arena_printf(w->arena,
                                       "at the loop at line %" PRIu32
                                       " '%s' is %s by its text, and not by its formula",
                                       cut->at.line, c->text,
                                       read == TRUE_HERE ? "true" : "false"));
    }
}
