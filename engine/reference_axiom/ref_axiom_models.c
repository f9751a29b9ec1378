/*
 * ref_axiom_models.c - the definitions, one function each, in the words of the PTX ISA.
 */
#include "engine/reference_axiom/ref_axiom.h"

#include <string.h>

#define EACH(i, c) for (uint32_t i = 0; i < (c)->count; i++)

void ref_axiom_close(uint32_t count, ref_pairs r)
{
    for (bool added = true; added;) {
        added = false;
        for (uint32_t a = 0; a < count; a++)
            for (uint32_t b = 0; b < count; b++)
                for (uint32_t z = 0; z < count && r[a][b]; z++)
                    if (r[b][z] && !r[a][z])
                        added = r[a][z] = true;
    }
}

bool ref_axiom_acyclic(uint32_t count, ref_pairs r)
{
    ref_axiom_close(count, r);
    for (uint32_t a = 0; a < count; a++)
        if (r[a][a])
            return false;
    return true;
}

static bool program_order(const struct ref_candidate *c, uint32_t a, uint32_t b)
{
    return c->of[a].thread == c->of[b].thread && a < b && c->of[a].kind != REF_ABSENT &&
           c->of[b].kind != REF_ABSENT;
}

static bool is_memory(const struct ref_operation *o)
{
    return o->kind == REF_READ || o->kind == REF_WRITE;
}

static bool overlap(const struct ref_candidate *c, uint32_t a, uint32_t b)
{
    return is_memory(&c->of[a]) && is_memory(&c->of[b]) && c->of[a].word == c->of[b].word;
}

/* A strong operation is a fence, or a memory operation that is not weak. */
static bool is_strong(const struct ref_operation *o)
{
    return o->kind == REF_FENCE || (is_memory(o) && o->order != ORDER_WEAK);
}

/* The scope of the operation includes the thread. */
static bool scope_includes(const struct ref_candidate *c, const struct ref_operation *o,
                           uint32_t thread)
{
    const struct litmus_thread *own = &c->test->threads[o->thread], *t = &c->test->threads[thread];
    switch (o->scope) {
    case SCOPE_CTA:
        return own->gpu == t->gpu && own->cta == t->cta;
    case SCOPE_GL:
        return own->gpu == t->gpu;
    case SCOPE_SYS:
        return true;
    }
    return false;
}

/*  Two operations are morally strong relative to each other if
 *  1. they are related in program order, or each is strong and specifies a scope that includes the thread executing
 *     the other, and
 *  3. if both are memory operations, they overlap completely.
 */
static bool morally_strong(const struct ref_candidate *c, uint32_t a, uint32_t b)
{
    const struct ref_operation *x = &c->of[a], *y = &c->of[b];
    bool in_order = program_order(c, a, b) || program_order(c, b, a);
    bool each = is_strong(x) && is_strong(y) && x->thread != y->thread &&
                scope_includes(c, x, y->thread) && scope_includes(c, y, x->thread);
    return (in_order || each) && (!is_memory(x) || !is_memory(y) || overlap(c, a, b));
}

static bool reads_from(const struct ref_candidate *c, uint32_t w, uint32_t r)
{
    return c->of[r].kind == REF_READ && c->of[r].source == w;
}

/* The read is of what stood there before the write. */
static bool from_reads(const struct ref_candidate *c, uint32_t r, uint32_t w)
{
    if (c->of[r].kind != REF_READ || c->of[w].kind != REF_WRITE || !overlap(c, r, w))
        return false;
    return c->of[r].source == REF_FIRST || c->coherence[c->of[r].source][w];
}

static bool communicates(const struct ref_candidate *c, uint32_t a, uint32_t b)
{
    return reads_from(c, a, b) || c->coherence[a][b] || from_reads(c, a, b);
}

/*  A write W precedes a read R in observation order if R and W are morally strong and R reads the value written by
 *  W, or for some atomic operation Z, W precedes Z and Z precedes R in observation order.
 */
static void observation(struct ref_candidate *c)
{
    memset(c->observation, 0, sizeof c->observation);
    EACH (w, c)
        EACH (r, c)
            if (reads_from(c, w, r) && morally_strong(c, w, r))
                c->observation[w][r] = true;
    for (bool added = true; added;) {
        added = false;
        EACH (w, c)
            EACH (z, c)
                EACH (r, c) {
                    uint32_t written = c->of[z].other;
                    if (c->of[z].kind != REF_READ || written == REF_FIRST ||
                        !c->observation[w][z] || !c->observation[written][r] ||
                        c->observation[w][r])
                        continue;
                    added = c->observation[w][r] = true;
                }
    }
}

static bool is_release(const struct ref_operation *o)
{
    return o->order == ORDER_RELEASE || o->order == ORDER_ACQ_REL || o->order == ORDER_SC;
}

static bool is_acquire(const struct ref_operation *o)
{
    return o->order == ORDER_ACQUIRE || o->order == ORDER_ACQ_REL || o->order == ORDER_SC;
}

/*  A release pattern on M, with X its first operation and W a write in it, is a release on M; a release on M followed
 *  by a strong write on M in program order; or a release fence followed by a strong write on M in program order.
 */
static bool release_pattern(const struct ref_candidate *c, uint32_t x, uint32_t w)
{
    const struct ref_operation *first = &c->of[x], *write = &c->of[w];
    if (write->kind != REF_WRITE || !is_strong(write) || !is_release(first))
        return false;
    if (x == w)
        return true;
    return program_order(c, x, w) &&
           (first->kind == REF_FENCE || (first->kind == REF_WRITE && overlap(c, x, w)));
}

/*  An acquire pattern on M, with R a read in it and Y its last operation, is an acquire on M; a strong read on M
 *  followed by an acquire on M in program order; or a strong read on M followed by an acquire fence in program
 *  order.
 */
static bool acquire_pattern(const struct ref_candidate *c, uint32_t r, uint32_t y)
{
    const struct ref_operation *read = &c->of[r], *last = &c->of[y];
    if (read->kind != REF_READ || !is_strong(read) || !is_acquire(last))
        return false;
    if (r == y)
        return true;
    return program_order(c, r, y) &&
           (last->kind == REF_FENCE || (last->kind == REF_READ && overlap(c, r, y)));
}

/* Whoever comes to a barrier meets there whoever waits in the same turn. */
static bool meet(const struct ref_candidate *c, uint32_t a, uint32_t b)
{
    const struct ref_operation *x = &c->of[a], *y = &c->of[b];
    const struct litmus_thread *threads = c->test->threads;
    return x->kind == REF_BARRIER && y->kind == REF_BARRIER && x->thread != y->thread &&
           threads[x->thread].cta == threads[y->thread].cta &&
           threads[x->thread].gpu == threads[y->thread].gpu &&
           x->text->barrier == y->text->barrier && x->turn == y->turn && y->text->op == LITMUS_BAR;
}

/*  X synchronizes with Y if X and Y meet at a barrier; or X precedes Y in Fence-SC order; or X is the first
 *  operation of a release pattern, Y the last one of an acquire pattern, X and Y are morally strong, and a write of
 *  the first precedes a read of the second in observation order.
 */
static bool patterns(const struct ref_candidate *c, uint32_t x, uint32_t y)
{
    EACH (w, c)
        EACH (r, c)
            if (c->observation[w][r] && release_pattern(c, x, w) && acquire_pattern(c, r, y) &&
                morally_strong(c, x, y))
                return true;
    return false;
}

static void synchronizes(struct ref_candidate *c)
{
    EACH (x, c)
        EACH (y, c)
            c->synchronizes[x][y] = meet(c, x, y) || c->fence_sc[x][y];
    EACH (w, c)
        EACH (r, c)
            for (uint32_t x = 0; x < c->count && c->observation[w][r]; x++)
                EACH (y, c)
                    if (release_pattern(c, x, w) && acquire_pattern(c, r, y) &&
                        morally_strong(c, x, y))
                        c->synchronizes[x][y] = true;
}

/*  X precedes Y in base causality order if X synchronizes with Y, (7.5: X precedes Y in program order,) or for some
 *  Z X precedes Z in program order and Z precedes Y in base causality order, or X in base causality order Z and Z
 *  in program order Y, or both in base causality order.
 */
static void base_causality(struct ref_candidate *c, enum ref_axioms axioms)
{
    EACH (x, c)
        EACH (y, c)
            c->base[x][y] =
                c->synchronizes[x][y] || (axioms == REF_PTX75 && program_order(c, x, y));
    for (bool added = true; added;) {
        added = false;
        EACH (x, c)
            EACH (y, c)
                EACH (z, c) {
                    bool one = c->base[x][z], other = c->base[z][y];
                    if (c->base[x][y] || !((program_order(c, x, z) && other) ||
                                           (one && program_order(c, z, y)) || (one && other)))
                        continue;
                    added = c->base[x][y] = true;
                }
    }
}

/*  6.0: X precedes Y in causality order if it does in base causality order, or for some Z, X precedes Z in
 *  observation order and Z precedes Y in base causality order, or in program order where both overlap.
 *  7.5: the same of base causality order among operations that overlap (of one address, by the generic proxy).
 */
static bool last_step(const struct ref_candidate *c, enum ref_axioms axioms, uint32_t z, uint32_t y)
{
    if (axioms == REF_PTX75)
        return c->base[z][y] && overlap(c, z, y);
    return c->base[z][y] || (program_order(c, z, y) && overlap(c, z, y));
}

void ref_axiom_causality(struct ref_candidate *c, enum ref_axioms axioms)
{
    memset(c->causality, 0, sizeof c->causality);
    if (!ref_axiom_is_ptx(axioms))
        return;
    observation(c);
    synchronizes(c);
    base_causality(c, axioms);
    EACH (x, c)
        EACH (y, c) {
            bool found = axioms == REF_PTX60 ? c->base[x][y] : last_step(c, axioms, x, y);
            EACH (z, c)
                found |= c->observation[x][z] && last_step(c, axioms, z, y);
            c->causality[x][y] = found;
        }
}

/*  Fence-SC order relates every pair of morally strong fence.sc operations.
 */
bool ref_axiom_fences(const struct ref_candidate *c, uint32_t a, uint32_t b)
{
    const struct ref_operation *x = &c->of[a], *y = &c->of[b];
    return x->kind == REF_FENCE && y->kind == REF_FENCE && x->order == ORDER_SC &&
           y->order == ORDER_SC && morally_strong(c, a, b);
}

/*  Two overlapping writes are related in coherence order if they are morally strong or related in causality order; of
 *  ASPLOS'15, and in sequence, always.
 */
bool ref_axiom_ordered(const struct ref_candidate *c, enum ref_axioms axioms, uint32_t a,
                       uint32_t b)
{
    if (c->of[a].kind != REF_WRITE || c->of[b].kind != REF_WRITE || !overlap(c, a, b))
        return false;
    return !ref_axiom_is_ptx(axioms) || morally_strong(c, a, b) || c->causality[a][b] ||
           c->causality[b][a];
}

/* Axiom Coherence: a write that precedes another in causality order does so in coherence order. */
static bool coherence(const struct ref_candidate *c)
{
    EACH (a, c)
        EACH (b, c)
            if (c->causality[a][b] && ref_axiom_ordered(c, REF_ASPLOS15, a, b) &&
                !c->coherence[a][b])
                return false;
    return true;
}

/* Axiom Fence-SC: a fence.sc that precedes another in (base) causality order does so in Fence-SC order. */
static bool fence_sc(const struct ref_candidate *c)
{
    EACH (a, c)
        EACH (b, c)
            if (ref_axiom_fences(c, a, b) && c->base[a][b] && !c->fence_sc[a][b])
                return false;
    return true;
}

/*  Axiom Atomicity: if an atomic operation and a write W overlap and are morally strong, it cannot read from a
 *  write that precedes W in coherence order and follow W in coherence order. Of ASPLOS'15, and in sequence: any W.
 */
static bool atomicity(const struct ref_candidate *c, enum ref_axioms axioms)
{
    EACH (r, c)
        EACH (w, c) {
            uint32_t own = c->of[r].other;
            if (c->of[r].kind != REF_READ || own == REF_FIRST || w == own || !from_reads(c, r, w))
                continue;
            if (c->coherence[w][own] && (!ref_axiom_is_ptx(axioms) ||
                                         (morally_strong(c, r, w) && morally_strong(c, w, own))))
                return false;
        }
    return true;
}

/* Axiom No-Thin-Air: dependencies and what is read from writes have no cycle. */
static bool no_thin_air(const struct ref_candidate *c)
{
    ref_pairs all;
    EACH (a, c)
        EACH (b, c)
            all[a][b] = c->depends[a][b] || reads_from(c, a, b);
    return ref_axiom_acyclic(c->count, all);
}

/*  Axiom SC-per-Location: program order of overlapping operations and communication order of morally strong ones
 *  have no cycle. Of ASPLOS'15: communication order of all, and program order but for two reads.
 */
bool ref_axiom_per_location(const struct ref_candidate *c, enum ref_axioms axioms, uint32_t a,
                            uint32_t b)
{
    bool asplos = axioms == REF_ASPLOS15;
    bool two_reads = c->of[a].kind == REF_READ && c->of[b].kind == REF_READ;
    return (program_order(c, a, b) && overlap(c, a, b) && !(asplos && two_reads)) ||
           (communicates(c, a, b) && (asplos || morally_strong(c, a, b)));
}

static bool sc_per_location(const struct ref_candidate *c, enum ref_axioms axioms)
{
    ref_pairs all;
    EACH (a, c)
        EACH (b, c)
            all[a][b] = ref_axiom_per_location(c, axioms, a, b);
    return ref_axiom_acyclic(c->count, all);
}

/*  Axiom Causality: a read that precedes a write in causality order does not read from it; and one that follows a
 *  write in causality order does not read what stood there before.
 */
static bool causality(const struct ref_candidate *c)
{
    EACH (a, c)
        EACH (b, c)
            if (c->causality[a][b] && (reads_from(c, b, a) || from_reads(c, b, a)))
                return false;
    return true;
}

/* A membar of the scope, or of a wider one, stands between. */
static bool fenced(const struct ref_candidate *c, enum litmus_scope scope, uint32_t a, uint32_t b)
{
    EACH (f, c)
        if (c->of[f].kind == REF_FENCE && c->of[f].scope >= scope && program_order(c, a, f) &&
            program_order(c, f, b))
            return true;
    return false;
}

/*  ASPLOS'15: for each scope, dependencies, fences of the scope, coherence, from-reads, and reads-from of other
 *  threads have no cycle within the scope.
 */
static bool scope_is_acyclic(const struct ref_candidate *c, enum litmus_scope scope)
{
    ref_pairs all;
    EACH (a, c)
        EACH (b, c) {
            struct ref_operation within = c->of[a];
            within.scope = scope;
            bool outside = reads_from(c, a, b) && c->of[a].thread != c->of[b].thread;
            all[a][b] = (c->depends[a][b] || fenced(c, scope, a, b) || c->coherence[a][b] ||
                         from_reads(c, a, b) || outside) &&
                        scope_includes(c, &within, c->of[b].thread);
        }
    return ref_axiom_acyclic(c->count, all);
}

/* Sequential consistency: the order of the program and communication have no cycle. */
static bool in_sequence(const struct ref_candidate *c)
{
    ref_pairs all;
    EACH (a, c)
        EACH (b, c)
            all[a][b] = ref_axiom_before(c, a, b) || communicates(c, a, b);
    return ref_axiom_acyclic(c->count, all);
}

/* `co` is what must be in coherence order, too; `po` in sequence also what barriers order. */
bool ref_axiom_related(const struct ref_candidate *c, enum ref_axioms axioms, const char *name,
                       uint32_t a, uint32_t b)
{
    const struct ref_operation *x = &c->of[a];
    if (strcmp(name, "po") == 0)
        return axioms == REF_SC ? ref_axiom_before(c, a, b) : program_order(c, a, b);
    if (strcmp(name, "rf") == 0)
        return reads_from(c, a, b);
    if (strcmp(name, "fr") == 0)
        return from_reads(c, a, b);
    if (strcmp(name, "co") == 0)
        return c->coherence[a][b] ||
               (c->causality[a][b] && ref_axiom_ordered(c, REF_ASPLOS15, a, b));
    if (strcmp(name, "rmw") == 0) /* drawn from the write to its read */
        return x->kind == REF_WRITE && x->other == b;
    if (strcmp(name, "dep") == 0)
        return c->depends[a][b];
    if (strcmp(name, "obs") == 0)
        return c->observation[a][b];
    if (strcmp(name, "sc") == 0)
        return c->fence_sc[a][b];
    if (strcmp(name, "bar") == 0)
        return meet(c, a, b);
    return strcmp(name, "sync") == 0 && ref_axiom_is_ptx(axioms) && patterns(c, a, b);
}

bool ref_axiom_in_scope(const struct ref_candidate *c, enum litmus_scope scope, const char *name,
                        uint32_t a, uint32_t b)
{
    struct ref_operation within = c->of[a];
    within.scope = scope;
    if (!scope_includes(c, &within, c->of[b].thread))
        return false;
    if (strcmp(name, "fence") == 0)
        return fenced(c, scope, a, b);
    return ref_axiom_related(c, REF_ASPLOS15, name, a, b) &&
           (strcmp(name, "rf") != 0 || c->of[a].thread != c->of[b].thread);
}

bool ref_axiom_allows(const struct ref_candidate *c, enum ref_axioms axioms)
{
    if (axioms == REF_SC)
        return no_thin_air(c) && atomicity(c, axioms) && in_sequence(c);
    if (axioms == REF_ASPLOS15)
        return no_thin_air(c) && atomicity(c, axioms) && sc_per_location(c, axioms) &&
               scope_is_acyclic(c, SCOPE_CTA) && scope_is_acyclic(c, SCOPE_GL) &&
               scope_is_acyclic(c, SCOPE_SYS);
    return no_thin_air(c) && coherence(c) && fence_sc(c) && atomicity(c, axioms) &&
           sc_per_location(c, axioms) && causality(c);
}
