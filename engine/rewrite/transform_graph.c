/*
 * transform_graph.c - graphs of blocks: cut, joined, with more edges.
 *
 * Loops keep their heads and their trips (a new block is in those loops that both ends of its edge are in), so the
 * counters that tell barriers apart are as they were. A goto to a block with a trivial guard has no more and
 * no fewer targets that hold, so choices stay the same.
 */
#include "engine/rewrite/transform_graph.h"
#include "engine/forms/normalise.h"

bool transform_trivial(const struct ast_block *block)
{
    const struct ast_stm *first = block ? block->body : NULL;
    return !first || first->kind != STM_ASSUME ||
           (first->value->kind == EXPR_INT && first->value->value != 0);
}

/* Behind its leading assume. */
static struct ast_stm **first_slot(struct ast_block *block)
{
    struct ast_stm *first = block->body;
    return first && first->kind == STM_ASSUME ? &first->next : &block->body;
}

static struct ast_stm *assume(struct edit *edit, struct ast_expr *guard, struct location at)
{
    struct ast_stm *s = ast_stm(edit->arena, STM_ASSUME, at);
    s->value = guard;
    return s;
}

struct ast_block *transform_new_block(struct edit *edit, struct ast_block *after,
                                      struct ast_expr *guard)
{
    struct ast_block *block = ARENA_NEW(edit->arena, struct ast_block);
    block->name = edit_name(edit, "N");
    block->at = after->at;
    block->body = assume(edit, guard ? guard : ast_int(edit->arena, 1), after->at);
    block->next = after->next;
    after->next = block;
    return block;
}

void transform_go(struct edit *edit, struct ast_block *block, struct ast_block *first,
                  struct ast_block *second, uint32_t count)
{
    block->returns = false;
    block->target_count = count;
    block->targets = ARENA_ARRAY(edit->arena, struct ast_block *, 2);
    block->targets[0] = first;
    block->targets[1] = second;
}

/* All blocks of all functions, until the edit is done. */
typedef void visit_block(struct edit *edit, struct ast_block *block);

static void walk_blocks(struct edit *edit, visit_block *visit)
{
    const struct ast_kernel *kernel = edit->kernel;
    edit->function = kernel->main;
    for (struct ast_block *b = kernel->main->blocks; b && !edit_done(edit); b = b->next)
        visit(edit, b);
    for (struct ast_function *f = kernel->functions; f && !edit_done(edit); f = f->next) {
        edit->function = f;
        for (struct ast_block *b = f->blocks; b && !edit_done(edit); b = b->next)
            visit(edit, b);
    }
}

/* ---- cut, join ---- */

/*      B: assume(g); s t goto C   ==>   B: assume(g); s goto N;   N: assume(1); t goto C */
static void cut_block(struct edit *edit, struct ast_block *block)
{
    struct ast_stm **slot = first_slot(block);
    for (;;) {
        if (edit_here(edit)) {
            struct ast_block *rest = transform_new_block(edit, block, NULL);
            rest->body->next = *slot;
            *slot = NULL;
            edit_end_as(edit, rest, block);
            transform_go(edit, block, rest, NULL, 1);
            return;
        }
        if (!*slot)
            return;
        slot = &(*slot)->next;
    }
}

void transform_cut(struct edit *edit)
{
    walk_blocks(edit, cut_block);
}

static void drop_block(struct ast_function *f, const struct ast_block *block)
{
    struct ast_block **slot = &f->blocks;
    while (*slot != block)
        slot = &(*slot)->next;
    *slot = block->next;
}

/*      B: s goto N;   N: assume(1); t goto C   ==>   B: s t goto C          nothing else goes to N */
static void join_block(struct edit *edit, struct ast_block *block)
{
    struct ast_block *n = block->target_count == 1 ? block->targets[0] : NULL;
    if (!n || n == block || n == edit->function->blocks || !transform_trivial(n) ||
        edit_edges_to(edit->function, n) != 1 || !edit_here(edit))
        return;
    ast_stm_append(&block->body, *first_slot(n));
    edit_end_as(edit, block, n);
    drop_block(edit->function, n);
}

void transform_join(struct edit *edit)
{
    walk_blocks(edit, join_block);
}

/* ---- empty blocks ---- */

/*      B: .. goto .., C, ..   ==>   B: .. goto .., N, ..;   N: assume(1); goto C          C's guard is trivial */
static void detour_block(struct edit *edit, struct ast_block *block)
{
    for (uint32_t i = 0; i < block->target_count; i++)
        if (transform_trivial(block->targets[i]) && edit_here(edit)) {
            struct ast_block *n = transform_new_block(edit, block, NULL);
            transform_go(edit, n, block->targets[i], NULL, 1);
            block->targets[i] = n;
            return;
        }
}

void transform_detour(struct edit *edit)
{
    walk_blocks(edit, detour_block);
}

/*      Start: ..   ==>   Start: goto N;   N: ..          (of a procedure: its first block, whatever its name) */
static void add_entry(struct edit *edit, struct ast_function *f)
{
    if (edit_done(edit) || !f->blocks || !edit_here(edit))
        return;
    struct ast_block *old = f->blocks;
    struct ast_block *entry = ARENA_NEW(edit->arena, struct ast_block);
    edit->function = f;
    entry->name = old->name;
    old->name = edit_name(edit, "N");
    entry->at = old->at;
    entry->body = assume(edit, ast_int(edit->arena, 1), old->at);
    entry->next = old;
    transform_go(edit, entry, old, NULL, 1);
    f->blocks = entry;
}

void transform_entry(struct edit *edit)
{
    add_entry(edit, edit->kernel->main);
    for (struct ast_function *f = edit->kernel->functions; f; f = f->next)
        add_entry(edit, f);
}

/* ---- branches ---- */

/* The guard of a block with a leading assume; of one without: NULL. */
static const struct ast_expr *guard_of(const struct ast_block *block)
{
    return block && block->body && block->body->kind == STM_ASSUME ? block->body->value : NULL;
}

/* Whether exactly one target of the goto holds, whatever the private store. */
static bool decides(const struct edit *edit, const struct ast_block *block)
{
    enum { TARGETS_MAX = 8 };
    const struct ast_expr *guards[TARGETS_MAX];
    if (block->target_count < 2 || block->target_count > TARGETS_MAX)
        return false;
    for (uint32_t i = 0; i < block->target_count; i++)
        if (!(guards[i] = guard_of(block->targets[i])))
            return false;
    return guards_decide(&edit->kernel->launch, guards, block->target_count);
}

/*      goto A, B   ==>   goto B, A          exactly one of them holds: there is no choice */
static void swap_targets(struct edit *edit, struct ast_block *block)
{
    if (!decides(edit, block) || !edit_here(edit))
        return;
    uint32_t count = block->target_count;
    for (uint32_t i = 0; i < count / 2; i++) {
        struct ast_block *target = block->targets[i];
        block->targets[i] = block->targets[count - 1 - i];
        block->targets[count - 1 - i] = target;
    }
}

void transform_targets(struct edit *edit)
{
    walk_blocks(edit, swap_targets);
}

/* q = e; as the last statement of a block; e may read memory that nobody writes, a guard must not. */
static struct ast_var *decide(struct edit *edit, struct ast_block *block, struct ast_expr *e)
{
    struct ast_var *q = edit_local(edit, "q");
    ast_stm_append(&block->body, ast_assign(edit->arena, q, NULL, e, block->at));
    return q;
}

static struct ast_expr *holds(struct edit *edit, struct ast_var *q, bool value)
{
    struct ast_expr *e = ast_var_ref(edit->arena, q);
    return value ? e : ast_unary(edit->arena, UNARY_NOT, e);
}

static bool is_head(const struct edit *edit, const struct ast_block *block)
{
    const char *reason;
    struct location at;
    size_t mark = arena_mark(edit->arena);
    const struct cfg *cfg = cfg_build(edit->arena, edit->function, &reason, &at);
    bool head = !cfg;
    for (uint32_t l = 0; cfg && l < cfg->loop_count; l++)
        head |= cfg->blocks[cfg->loops[l].head] == block;
    arena_release(edit->arena, mark);
    return head;
}

/*      B: s goto C;  C: assume(1); t ..   ==>   B: s q = e; goto C1, C2;
 *                                               C1: assume(q); t ..   C2: assume(!q); t ..
 *
 * C's guard is trivial, C is no loop's head. Whichever copy a thread takes, it does what it did. A barrier in t is
 * two barriers then: where threads meet in C they all come from B, and e is the same in all of a block. */
static void clone_target(struct edit *edit, struct ast_block *block)
{
    struct ast_block *c = block->target_count == 1 ? block->targets[0] : NULL;
    if (!c || c == block || c == edit->function->blocks || !transform_trivial(c) ||
        is_head(edit, c))
        return;
    bool meets = transform_facts(edit, c->body, false).meets;
    if ((meets && edit_edges_to(edit->function, c) > 1) || !edit_here(edit))
        return;
    struct ast_expr *e = transform_selection(edit, meets || edit_choose(edit, 4) == 3);
    struct ast_var *q = decide(edit, block, e);
    bool only = edit_edges_to(edit->function, c) == 1;
    struct ast_block *copies[2];
    for (int i = 0; i < 2; i++) {
        copies[i] = transform_new_block(edit, c, holds(edit, q, i == 0));
        copies[i]->body->next = ast_stm_list_copy(edit->arena, *first_slot(c));
        edit_end_as(edit, copies[i], c);
    }
    transform_go(edit, block, copies[0], copies[1], 2);
    if (only)
        drop_block(edit->function, c);
}

void transform_clone(struct edit *edit)
{
    walk_blocks(edit, clone_target);
}

static struct ast_stm *dead_statement(struct edit *edit, struct location at)
{
    struct ast_stm *s;
    struct ast_var *var = edit->kernel->vars;
    while (var && var->space != SPACE_SHARED && var->space != SPACE_GLOBAL)
        var = var->next;
    uint32_t choice = edit_choose(edit, 3);
    if (choice == 0)
        return ast_stm(edit->arena, STM_BARRIER, at);
    if (choice == 1 && var)
        return ast_assign(edit->arena, var, var->is_array ? ast_int(edit->arena, 0) : NULL,
                          ast_builtin_ref(edit->arena, BUILTIN_TID), at);
    s = ast_stm(edit->arena, STM_ASSERT, at);
    s->value = ast_int(edit->arena, 0);
    return s;
}

/*      B: s goto C   ==>   B: s q = f; goto N, D;   N: assume(q); dead goto C;   D: assume(!q); goto C
 *
 * f holds in no thread: nobody comes to N, which may also go to itself. C's guard is trivial. */
static void dead_edge(struct edit *edit, struct ast_block *block)
{
    if (block->target_count != 1 || !transform_trivial(block->targets[0]) || !edit_here(edit))
        return;
    struct ast_block *c = block->targets[0];
    struct ast_stm *dead = dead_statement(edit, block->at);
    bool endless = edit_choose(edit, 4) == 3;
    struct ast_var *q = decide(edit, block, transform_known(edit, false, false));
    struct ast_block *taken = transform_new_block(edit, block, holds(edit, q, false));
    struct ast_block *never = transform_new_block(edit, block, holds(edit, q, true));
    never->body->next = dead;
    transform_go(edit, taken, c, NULL, 1);
    if (endless) {
        /* q && !q cover everything: never's own loop has a way out, which nobody takes. */
        struct ast_block *out = transform_new_block(edit, never, holds(edit, q, false));
        transform_go(edit, never, never, out, 2);
        transform_go(edit, out, c, NULL, 1);
    } else {
        transform_go(edit, never, c, NULL, 1);
    }
    transform_go(edit, block, never, taken, 2);
}

void transform_dead_edge(struct edit *edit)
{
    walk_blocks(edit, dead_edge);
}

/* ---- guarded statements ---- */

/* Whether the arm is one block, of this branch alone, whose statements can be guarded and leave q alone. */
static bool is_arm(const struct edit *edit, const struct ast_block *arm, const struct ast_var *q)
{
    if (!arm || arm == edit->function->blocks || arm->target_count != 1 ||
        edit_edges_to(edit->function, arm) != 1)
        return false;
    for (const struct ast_stm *s = arm->body ? arm->body->next : NULL; s; s = s->next) {
        bool guardable = s->kind == STM_ASSIGN || s->kind == STM_HAVOC || s->kind == STM_ATOMIC;
        struct ast_stm single = *s;
        single.next = NULL;
        if (!guardable || s->guard || transform_changes(&single, q))
            return false;
    }
    return true;
}

/* The scalar that the two guards of a branch are about: q and !q. */
static struct ast_var *branch_scalar(const struct ast_block *block)
{
    if (block->target_count != 2 || block->targets[0] == block->targets[1])
        return NULL;
    const struct ast_expr *a = guard_of(block->targets[0]), *b = guard_of(block->targets[1]);
    const struct ast_expr *plain = a && a->kind == EXPR_VAR ? a : b;
    const struct ast_expr *negated = plain == a ? b : a;
    bool pair = plain && negated && plain->kind == EXPR_VAR && negated->kind == EXPR_UNARY &&
                negated->unary == UNARY_NOT && negated->a->kind == EXPR_VAR &&
                negated->a->var == plain->var;
    bool is_private =
        pair && (plain->var->space == SPACE_PRIVATE || plain->var->space == SPACE_LOCAL);
    return is_private ? plain->var : NULL;
}

static void append_guarded(struct edit *edit, struct ast_block *block, const struct ast_block *arm)
{
    struct ast_stm *list = arm->body->next;
    for (struct ast_stm *s = list; s; s = s->next) {
        s->guard = ast_expr_copy(edit->arena, arm->body->value);
        if (s->kind == STM_ASSIGN) {
            s->value = ast_assigned_value(edit->arena, s);
            s->op = ASSIGN_SET;
        }
    }
    ast_stm_append(&block->body, list);
}

/*      B: r goto A, C;  A: assume(q); s goto D;  C: assume(!q); t goto D   ==>   B: r s if (q); t if (!q); goto D
 *
 * q is private and neither s nor t changes it. A guard that does not hold keeps a thread from all of its
 * statement: it reads, writes and chooses nothing, as it did. */
static void guard_branch(struct edit *edit, struct ast_block *block)
{
    const struct ast_var *q = branch_scalar(block);
    if (!q || !is_arm(edit, block->targets[0], q) || !is_arm(edit, block->targets[1], q) ||
        block->targets[0]->targets[0] != block->targets[1]->targets[0] ||
        block->targets[0]->targets[0] == block->targets[0] || block->targets[0] == block ||
        block->targets[1] == block || !edit_here(edit))
        return;
    struct ast_block *arms[] = {block->targets[0], block->targets[1]};
    struct ast_block *join = arms[0]->targets[0];
    for (int i = 0; i < 2; i++) {
        append_guarded(edit, block, arms[i]);
        drop_block(edit->function, arms[i]);
    }
    transform_go(edit, block, join, NULL, 1);
}

void transform_guard(struct edit *edit)
{
    walk_blocks(edit, guard_branch);
}
