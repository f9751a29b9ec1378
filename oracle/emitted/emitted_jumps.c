/*
 * emitted_jumps.c - PTX whose basic blocks jump about: forward to any block, into loops at their head, out of several
 * at once, back while there is fuel, by tables, to the end from anywhere. What lanes compute says where they go, and is
 * known by a walk over the drawn graph. Injection must find regions, loops and sides that leave them in any of these.
 * Where the graph is a function's whole body its first statement may head loops. Some blocks write registers, and some
 * read them, for nothing: which are read before they are written is the layout's matter (oracle/layout).
 */
#include "oracle/drawn/drawn.h"
#include "oracle/emitted/emitted.h"
#include "oracle/runs/ptx_run.h"

#include <inttypes.h>

enum {
    BLOCKS = 14,
    LOOPS = 4,
    TARGETS = 3,
    FUEL = 24,
    LANES = 4,
    SPARE = 3,
    PATH = (FUEL + 1) * BLOCKS
};

enum leaves {
    LEAVES_NEXT,
    LEAVES_JUMP,
    LEAVES_BRANCH,
    LEAVES_BACK,
    LEAVES_TABLE,
    LEAVES_RETURN,
    LEAVES_MAYBE,
    LEAVES
};

struct block {
    enum leaves how;
    uint32_t number; /* that goes into the sum */
    uint32_t bit;    /* of the sum, which says whether */
    bool negated;    /* where it is not set */
    uint32_t calls;  /* the function that does nothing before it leaves; FUNCTIONS or more: none */
    bool by_call;    /* it returns by a call that does not */
    uint32_t count;  /* of targets; block `count` of the graph is the end */
    uint32_t targets[TARGETS];
    uint32_t spare, use; /* a register that it writes, reads or leaves alone */
};

struct graph {
    struct drawn *d;
    uint32_t count, loops, first[LOOPS], last[LOOPS];
    struct block blocks[BLOCKS];
    uint32_t order[BLOCKS + 1]; /* as they stand in the text; the end stands last */
    uint32_t lines[BLOCKS + 1]; /* where each begins */
    bool in_function;
    enum ending { ENDS_RETURN, ENDS_FALLING, ENDS_LABEL, ENDS_INNER, ENDINGS } ending;
};

/* Functions that do nothing, and end in every way. */
static const char *const functions[] = {"",
                                        "\tF:\n",
                                        "\t.reg .u32 %r;\n\tmov.u32 %r, 1;\n",
                                        "\tbra F;\nF:\n",
                                        "\t.reg .pred %p;\n\tsetp.eq.u32 %p, 1, 1;\n\t@%p ret;\n",
                                        "\tret;\n",
                                        "\t{\n\tF:\n\t}\n",
                                        "\tssy S;\n\tsync;\nS:\n\tret;\n"};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

#define PUT(g, ...) text_format(&(g)->d->text, __VA_ARGS__)

static uint32_t below(struct graph *g, uint32_t n)
{
    return drawn_below(g->d, n);
}

/* ---- the graph ---- */

static bool is_within(const struct graph *g, uint32_t loop, uint32_t block)
{
    return block >= g->first[loop] && block <= g->last[loop];
}

/* Loops lie within each other, or apart. */
static void draw_loop(struct graph *g)
{
    const uint32_t first = below(g, g->count), last = first + below(g, g->count - first);
    for (uint32_t l = 0; l < g->loops; l++)
        if (is_within(g, l, first) != is_within(g, l, last) || first == g->first[l])
            return;
    g->first[g->loops] = first;
    g->last[g->loops++] = last;
}

/* Into a loop one comes by its first block alone. */
static bool may_go(const struct graph *g, uint32_t from, uint32_t to)
{
    for (uint32_t l = 0; l < g->loops; l++)
        if (is_within(g, l, to) && !is_within(g, l, from) && to != g->first[l])
            return false;
    return true;
}

/* The next block is always one. */
static uint32_t forward(struct graph *g, uint32_t from)
{
    const uint32_t to = from + 1 + below(g, g->count - from);
    return may_go(g, from, to) ? to : from + 1;
}

/* The first block of a loop around it; itself and no loop: there is none. */
static uint32_t back(struct graph *g, uint32_t from)
{
    uint32_t number = below(g, LOOPS);
    for (uint32_t i = 0; i < g->loops; i++, number++)
        if (is_within(g, number % g->loops, from))
            return g->first[number % g->loops];
    return g->count;
}

static void draw_block(struct graph *g, uint32_t at)
{
    struct block *b = &g->blocks[at];
    b->how = (enum leaves)below(g, LEAVES);
    b->number = (uint32_t)pcg_next(&g->d->rng);
    b->bit = below(g, 32);
    b->negated = below(g, 2);
    b->calls = below(g, 3 * FUNCTIONS);
    b->by_call = b->how == LEAVES_RETURN && below(g, 2);
    b->count = b->how == LEAVES_TABLE ? 1 + below(g, TARGETS) : 1;
    b->spare = below(g, SPARE);
    b->use = below(g, 4);
    for (uint32_t t = 0; t < b->count; t++)
        b->targets[t] = forward(g, at);
    if (b->how == LEAVES_BACK)
        b->targets[0] = back(g, at);
    if (b->how == LEAVES_BACK && b->targets[0] == g->count)
        b->how = LEAVES_BRANCH;
}

static void draw(struct graph *g)
{
    g->count = 3 + below(g, BLOCKS - 2);
    g->in_function = below(g, 2);
    g->ending = (enum ending)below(g, ENDINGS);
    for (uint32_t i = 0; i < LOOPS; i++)
        draw_loop(g);
    for (uint32_t i = 0; i < g->count; i++)
        draw_block(g, i);
    for (uint32_t i = 0; i <= g->count; i++)
        g->order[i] = i;
    for (uint32_t swaps = below(g, 2) ? below(g, BLOCKS) : 0; swaps > 0; swaps--) {
        const uint32_t a = below(g, g->count), b = below(g, g->count), was = g->order[a];
        g->order[a] = g->order[b];
        g->order[b] = was;
    }
}

/* ---- as text ---- */

static uint32_t lines_of(const struct graph *g)
{
    uint32_t lines = 1;
    for (const char *c = g->d->text.bytes; *c; c++)
        lines += *c == '\n';
    return lines;
}

static void put_block(struct graph *g, uint32_t at)
{
    const struct block *b = &g->blocks[at];
    const char *guard = b->negated ? "!" : "";
    g->lines[at] = lines_of(g);
    PUT(g, "L%" PRIu32 ":\n\tmad.lo.u32 %%sum, %%sum, 31, %" PRIu32 ";\n", at, b->number);
    if (b->use == 1)
        PUT(g, "\tmov.u32 %%s%" PRIu32 ", %%sum;\n", b->spare);
    else if (b->use > 1)
        PUT(g, "\tmov.u32 %%t, %%s%" PRIu32 ";\n", b->spare);
    if (b->calls < FUNCTIONS)
        PUT(g, "\tcall f%" PRIu32 ";\n", b->calls);
    if (b->how == LEAVES_NEXT)
        return;
    if (b->how == LEAVES_JUMP) {
        PUT(g, "\tbra L%" PRIu32 ";\n", b->targets[0]);
        return;
    }
    PUT(g, "\tshr.u32 %%t, %%sum, %" PRIu32 ";\n", b->bit);
    if (b->how == LEAVES_TABLE) {
        PUT(g, "\trem.u32 %%t, %%t, %" PRIu32 ";\nT%" PRIu32 ": .branchtargets", b->count, at);
        for (uint32_t t = 0; t < b->count; t++)
            PUT(g, t ? ", L%" PRIu32 : " L%" PRIu32, b->targets[t]);
        PUT(g, ";\n\tbrx.idx %%t, T%" PRIu32 ";\n", at);
        return;
    }
    PUT(g, "\tand.b32 %%t, %%t, 1;\n\tsetp.ne.u32 %%p, %%t, 0;\n");
    if (b->how == LEAVES_BACK)
        PUT(g, "\tadd.u32 %%fuel, %%fuel, 1;\n\tsetp.lt.and.u32 %%p, %%fuel, %d, %s%%p;\n", FUEL,
            guard);
    if (b->how == LEAVES_BACK)
        PUT(g, "\t@%%p bra L%" PRIu32 ";\n", b->targets[0]);
    else if (b->how == LEAVES_BRANCH)
        PUT(g, "\t@%s%%p bra L%" PRIu32 ";\n", guard, b->targets[0]);
    else if (b->by_call)
        PUT(g, "\tst.global.u32 [%%d], %%sum;\n\tcall stop;\n");
    else if (g->ending == ENDS_LABEL && b->number & 2)
        PUT(g, "\tst.global.u32 [%%d], %%sum;\n\t%s%s%sbra LE;\n",
            b->how == LEAVES_MAYBE ? "@" : "", b->how == LEAVES_MAYBE ? guard : "",
            b->how == LEAVES_MAYBE ? "%p " : "");
    else
        PUT(g, "\tst.global.u32 [%%d], %%sum;\n\t%s%s%s%s;\n", b->how == LEAVES_MAYBE ? "@" : "",
            b->how == LEAVES_MAYBE ? guard : "", b->how == LEAVES_MAYBE ? "%p " : "",
            b->number & 1 ? "ret" : "exit");
}

/* The next block may come behind it. */
static bool falls(const struct block *b)
{
    return b->how != LEAVES_JUMP && b->how != LEAVES_TABLE && b->how != LEAVES_RETURN;
}

/* Where the lane writes to, and what it begins with. */
static void put_entry(struct graph *g)
{
    PUT(g,
        ".entry k(.param .u64 out)\n{\n\t.reg .u32 %%sum, %%t, %%fuel, %%s<%d>;\n"
        "\t.reg .u64 %%d, %%e;\n\t.reg .pred %%p;\n\tmov.u32 %%t, %%tid.x;\n"
        "\tld.param.u64 %%d, [out];\n\tmul.wide.u32 %%e, %%t, 4;\n\tadd.u64 %%d, %%d, %%e;\n"
        "\tmul.lo.u32 %%sum, %%t, 0x9e3779b1;\n\tmov.u32 %%fuel, 0;\n",
        SPARE);
}

static void put(struct graph *g)
{
    static const char *const ends[] = {[ENDS_RETURN] = "\tret;\n",
                                       [ENDS_FALLING] = "",
                                       [ENDS_LABEL] = "LE:\n",
                                       [ENDS_INNER] = "\t{\n\tmov.u32 %t, 0;\n\t}\n"};
    PUT(g,
        ".version 8.0\n.target sm_80\n.address_size 64\n.func stop() .noreturn\n{\n\texit;\n}\n");
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        PUT(g, ".func f%" PRIu32 "()\n{\n%s}\n", f, functions[f]);
    if (g->in_function)
        PUT(g,
            ".func g(.reg .u32 %%sum, .reg .u32 %%fuel, .reg .u64 %%d)\n{\n"
            "\t.reg .u32 %%t, %%s<%d>;\n\t.reg .pred %%p;\n",
            SPARE);
    else
        put_entry(g);
    if (g->order[0] != 0)
        PUT(g, "\tbra L0;\n");
    for (uint32_t i = 0; i < g->count; i++) {
        put_block(g, g->order[i]);
        if (g->order[i + 1] != g->order[i] + 1 && falls(&g->blocks[g->order[i]]))
            PUT(g, "\tbra L%" PRIu32 ";\n", g->order[i] + 1);
    }
    g->lines[g->count] = lines_of(g);
    PUT(g, "L%" PRIu32 ":\n\tst.global.u32 [%%d], %%sum;\n%s}\n", g->count, ends[g->ending]);
    if (g->in_function) {
        put_entry(g);
        PUT(g, "\tcall g, (%%sum, %%fuel, %%d);\n\tret;\n}\n");
    }
}

/* ---- where a lane goes ---- */

/* Where lanes are together: of each block that a lane comes to, in order, which visit this is. */
struct visits {
    uint32_t count[LANES], block[LANES][PATH], visit[LANES][PATH];
    uint32_t seen[LANES]; /* so many were observed */
    uint32_t meant[LANES][PATH];
    uint32_t next;  /* visit */
    uint32_t known; /* of those from this one on nothing is claimed */
};

static uint32_t walk(const struct graph *g, uint32_t lane, struct visits *v)
{
    uint32_t sum = lane * 0x9e3779b1u, fuel = 0, at = 0;
    while (at < g->count) {
        const struct block *b = &g->blocks[at];
        v->block[lane][v->count[lane]++] = at;
        sum = sum * 31 + b->number;
        const uint32_t rest = sum >> b->bit;
        const bool holds = (rest & 1) != b->negated;
        const bool goes = b->how == LEAVES_JUMP || (b->how == LEAVES_BRANCH && holds) ||
                          (b->how == LEAVES_BACK && ++fuel < FUEL && holds);
        if (b->how == LEAVES_RETURN || (b->how == LEAVES_MAYBE && holds))
            break;
        at = b->how == LEAVES_TABLE ? b->targets[rest % b->count] : goes ? b->targets[0] : at + 1;
    }
    return sum;
}

/* ---- where lanes meet ---- */

/* Where a lane may go from a block, as a set; block `count` is the last one, count + 1 the end. */
static uint32_t nexts(const struct graph *g, uint32_t at)
{
    const struct block *b = &g->blocks[at];
    const uint32_t end = 1u << (g->count + 1);
    uint32_t set = 0;
    if (at >= g->count)
        return at == g->count ? end : 0;
    if (b->how == LEAVES_RETURN || b->how == LEAVES_MAYBE)
        set |= end;
    if (b->how == LEAVES_JUMP || b->how == LEAVES_BRANCH || b->how == LEAVES_BACK ||
        b->how == LEAVES_TABLE)
        for (uint32_t t = 0; t < b->count; t++)
            set |= 1u << b->targets[t];
    return falls(b) ? set | 1u << (at + 1) : set;
}

/* What is come to from there, but not by way of `without`. */
static uint32_t reached(const struct graph *g, uint32_t from, uint32_t without)
{
    uint32_t set = from == without ? 0 : 1u << from, before;
    do {
        before = set;
        for (uint32_t n = 0; n <= g->count; n++)
            if (set >> n & 1)
                set |= nexts(g, n) & ~(1u << without);
    } while (set != before);
    return set;
}

/* The first block behind this one that all ways to the end lead by: from there all others that do are reached without
 * it. */
static uint32_t post_dominator(const struct graph *g, uint32_t at)
{
    const uint32_t end = g->count + 1;
    uint32_t found = end;
    for (uint32_t n = 0; n <= g->count; n++)
        if (n != at && !(reached(g, at, n) >> end & 1) && !(reached(g, found, n) >> n & 1) &&
            (found == end || !(reached(g, n, found) >> end & 1)))
            found = n;
    return found;
}

/* Between `at`, where lanes part, and where they are to meet some may go back to a loop's head, and from where they are
 * to meet one comes to `at` again without that head: then the loop that is left and the one that goes on are one
 * (to_ptx/ptx_structure.c), and who leaves waits for nobody. */
static bool crosses(const struct graph *g, uint32_t at, uint32_t meet)
{
    const uint32_t between = reached(g, at, meet);
    for (uint32_t head = 0; head < g->count; head++)
        if (between >> head & 1 && head != at && !(reached(g, 0, head) >> at & 1) &&
            reached(g, meet, head) >> at & 1)
            return true;
    return false;
}

/* The lanes, which are at one block, go on together until they come to `stop`; where they part, until all that come
 * there are at the block's post-dominator. at: how far each has come. */
static void go_together(const struct graph *g, struct visits *v, uint32_t lanes, uint32_t stop,
                        uint32_t at[LANES])
{
    while (lanes) {
        const uint32_t first = (uint32_t)__builtin_ctz(lanes), block = v->block[first][at[first]];
        uint32_t stay = 0, targets = 0;
        if (block == stop)
            return;
        for (uint32_t l = 0; l < LANES; l++)
            if (lanes >> l & 1) {
                v->meant[l][at[l]++] = v->next;
                stay |= (uint32_t)(at[l] < v->count[l]) << l;
            }
        v->next++;
        for (uint32_t l = 0; l < LANES; l++)
            targets |= stay >> l & 1 ? 1u << v->block[l][at[l]] : 0;
        const uint32_t meet = targets & (targets - 1) ? post_dominator(g, block) : stop;
        if (targets & (targets - 1) && crosses(g, block, meet) && v->next < v->known)
            v->known = v->next;
        if (targets & (targets - 1))
            for (uint32_t t = 0; t < g->count; t++) {
                uint32_t side = 0;
                for (uint32_t l = 0; l < LANES; l++)
                    side |=
                        (uint32_t)(stay >> l & 1 && at[l] < v->count[l] && v->block[l][at[l]] == t)
                        << l;
                if (t != meet && targets >> t & 1)
                    go_together(g, v, side, meet, at);
            }
        lanes = 0;
        for (uint32_t l = 0; l < LANES; l++)
            lanes |= (uint32_t)(stay >> l & 1 && at[l] < v->count[l]) << l;
    }
}

struct watching {
    struct observer observer; /* first member */
    const struct graph *g;
    struct visits *v;
};

static void see(void *context, const struct machine *machine, const struct step_event *event)
{
    struct watching *w = context;
    struct visits *v = w->v;
    const struct ptx_op *op =
        event->stm == CODE_NONE ? NULL : &machine->program->ptx->ops[event->stm];
    const uint32_t line = op && op->opcode == PTX_OP_MAD ? op->line : 0;
    for (uint32_t b = 0; b < w->g->count; b++)
        for (uint32_t l = 0; l < LANES && line == w->g->lines[b] + 1; l++)
            if (event->active >> l & 1 && v->seen[l] < v->count[l])
                v->visit[l][v->seen[l]++] = v->next;
    v->next++;
}

/* Lanes that were to be together, and were not. */
static const char *apart(struct arena *arena, const struct visits *v)
{
    for (uint32_t a = 0; a < LANES; a++)
        for (uint32_t b = a + 1; b < LANES; b++)
            for (uint32_t i = 0, k = 0; i < v->seen[a] && k < v->seen[b];) {
                const uint32_t one = v->meant[a][i], other = v->meant[b][k];
                if (one == other && one < v->known && v->visit[a][i] != v->visit[b][k])
                    return arena_printf(arena, "jumps: lanes %u and %u do not meet at L%u",
                                        (unsigned)a, (unsigned)b, (unsigned)v->block[a][i]);
                i += one <= other;
                k += other <= one;
            }
    return NULL;
}

const char *emitted_jumps(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_JUMPS);
    struct graph *g = ARENA_NEW(arena, struct graph);
    struct visits *v = ARENA_NEW(arena, struct visits);
    uint32_t meant[LANES], at[LANES] = {0};
    g->d = &d;
    v->known = UINT32_MAX;
    draw(g);
    put(g);
    for (uint32_t lane = 0; lane < LANES; lane++)
        meant[lane] = walk(g, lane, v);
    go_together(g, v, (1u << LANES) - 1, g->count + 1, at);
    struct watching w = {.observer = {.context = &w, .step = see}, .g = g, .v = v};
    *text = d.text.bytes;
    const char *differs = ptx_run_seen(arena, "jumps", d.text.bytes, meant, LANES, &w.observer);
    return differs ? differs : apart(arena, v);
}
