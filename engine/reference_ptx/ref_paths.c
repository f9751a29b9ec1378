#include "engine/reference_ptx/ref_paths.h"

#include <string.h>

/* ---- facts ---- */

static void fault_at(struct ref_paths *r, uint32_t pc, enum ref_path_fault fault)
{
    r->fault[pc] |= (uint32_t)fault;
}

static void learn(struct ref_paths *r, bool *fact)
{
    r->news |= !*fact;
    *fact = true;
}

/* CHK.addr: control that runs out of the function has left its last instruction. */
static void may_be(struct ref_paths *r, uint32_t pc, uint32_t top)
{
    if (pc < 1 || pc > r->program->count)
        fault_at(r, r->program->count, REF_FAULT_ADDR);
    else
        learn(r, &r->at[pc][top]);
}

/* Tokens are told apart by their type, their address, and where the warp goes on above them. */
static uint32_t token_of(struct ref_paths *r, enum ref_path_type type, uint32_t pc,
                         uint32_t landing)
{
    for (uint32_t i = 0; i < r->token_count; i++)
        if (r->token[i].type == type && r->token[i].pc == pc && r->token[i].landing == landing)
            return i;
    if (r->token_count == REF_PATH_TOKENS) {
        r->full = true;
        return 0;
    }
    r->token[r->token_count] = (struct ref_path_token){type, pc, landing, false};
    r->news = true;
    return r->token_count++;
}

uint32_t ref_paths_push(struct ref_paths *r, uint32_t top, enum ref_path_type type,
                        uint32_t address, uint32_t landing)
{
    uint32_t token = token_of(r, type, address, landing);
    learn(r, &r->below[token][top]);
    return token;
}

/* And the warp goes on at the landing. */
static void push(struct ref_paths *r, uint32_t top, enum ref_path_type type, uint32_t address,
                 uint32_t landing)
{
    may_be(r, landing, ref_paths_push(r, top, type, address, landing));
}

/* ---- where a register sends control ---- */

static const struct ref_path_op *op_at(const struct ref_paths *r, uint32_t pc)
{
    return &r->program->op[pc];
}

/* A label stands there, or a register holds the address at the start. */
static bool is_labelled(const struct ref_paths *r, uint32_t pc)
{
    const struct ref_path_program *p = r->program;
    bool held = false;
    for (uint32_t g = 0; g < REF_PATH_REGISTERS; g++)
        for (uint32_t i = 0; i < p->value_count[g]; i++)
            held |= p->value[g][i] == pc;
    return held || p->op[pc].labelled;
}

/* Whether control comes to the next instruction from this one alone, if nothing points there. */
static bool runs_on(const struct ref_path_op *op)
{
    switch (op->kind) {
    case REF_PATH_OTHER:
    case REF_PATH_SSY:
    case REF_PATH_PRE_BRK:
    case REF_PATH_PRE_RET:
    case REF_PATH_TRAP:
        return true;
    case REF_PATH_CALL:
        return op->way == REF_TO_FUNCTION;
    case REF_PATH_SYNC:
    case REF_PATH_BREAK:
    case REF_PATH_RET:
    case REF_PATH_EXIT:
    case REF_PATH_BRA:
        return false;
    }
    return false;
}

struct gifts {
    const struct ref_paths *r;
    bool loads;                          /* what is loaded is a function */
    bool everywhere[REF_PATH_REGISTERS]; /* all that the register is given is looked at */
    bool address[REF_PATH_OPS + 2];
    bool known;
};

static void given_before(struct gifts *g, uint32_t pc, uint32_t reg);

static bool gives(const struct gifts *g, uint32_t pc, uint32_t reg)
{
    const struct ref_path_op *op = op_at(g->r, pc);
    return op->gift != REF_GIVES_NOTHING && op->reg == reg;
}

static void given_by(struct gifts *g, uint32_t pc)
{
    const struct ref_path_op *op = op_at(g->r, pc);
    if (op->gift == REF_GIVES_ANY || (op->gift == REF_GIVES_LOADED && !g->loads))
        g->known = false;
    for (uint32_t i = 0; op->gift == REF_GIVES_SOURCES && i < op->source_count; i++) {
        const struct ref_path_source *s = &op->source[i];
        if (!s->is_register)
            g->address[s->value] = true;
        else if (!g->everywhere[s->value])
            given_before(g, pc, s->value);
    }
}

static void given_at_start(struct gifts *g, uint32_t reg)
{
    const struct ref_path_program *p = g->r->program;
    for (uint32_t i = 0; i < p->value_count[reg]; i++) {
        if (p->value[reg][i] > p->count + 1)
            g->known = false;
        else
            g->address[p->value[reg][i]] = true;
    }
}

static void given_anywhere(struct gifts *g, uint32_t reg)
{
    const bool before = g->everywhere[reg];
    g->everywhere[reg] = true;
    for (uint32_t pc = 1; pc <= g->r->program->count; pc++)
        if (gives(g, pc, reg))
            given_by(g, pc);
    given_at_start(g, reg);
    g->everywhere[reg] = before;
}

/* Back from the instruction, until something that is surely executed gives it; where control may come from elsewhere,
 * anything may have. */
static void given_before(struct gifts *g, uint32_t pc, uint32_t reg)
{
    for (uint32_t at = pc; at >= 1; at--) {
        if (is_labelled(g->r, at) || (at > 1 && !runs_on(op_at(g->r, at - 1)))) {
            given_anywhere(g, reg);
            return;
        }
        if (at > 1 && gives(g, at - 1, reg)) {
            given_by(g, at - 1);
            if (op_at(g->r, at - 1)->guard == 0)
                return;
        }
    }
    given_at_start(g, reg);
}

/* The addresses; false: it may hold something else. */
static bool register_targets(const struct ref_paths *r, uint32_t pc, bool loads, struct gifts *g)
{
    *g = (struct gifts){.r = r, .loads = loads, .known = true};
    given_before(g, pc, op_at(r, pc)->reg);
    return g->known;
}

/* ---- instructions that some lanes execute ---- */

static bool is_pair(const struct ref_paths *r, uint32_t pc)
{
    return pc >= 1 && pc + 2 <= r->program->count && op_at(r, pc)->kind == REF_PATH_PRE_RET &&
           op_at(r, pc + 1)->kind == REF_PATH_CALL && !is_labelled(r, pc + 1) &&
           op_at(r, pc)->guard == op_at(r, pc + 1)->guard && op_at(r, pc)->target[0] == pc + 2;
}

/* All lanes go there; or some, and the others come behind: those whose guard does not hold, and those who go to another
 * of several targets, who execute it again. */
static void branch(struct ref_paths *r, uint32_t pc, uint32_t target, bool one_of_several,
                   uint32_t top)
{
    const struct ref_path_op *op = op_at(r, pc);
    may_be(r, target, top);
    if (target < 1 || target > r->program->count)
        return;
    if (op->guard && op->kind == REF_PATH_BRA)
        push(r, top, REF_PATH_TYPE_DIVERGE, pc + 1, target);
    if (one_of_several)
        push(r, top, REF_PATH_TYPE_DIVERGE, pc, target);
}

static void branch_by_register(struct ref_paths *r, uint32_t pc, const struct gifts *g,
                               uint32_t top)
{
    uint32_t count = 0;
    for (uint32_t to = 1; to <= r->program->count + 1; to++)
        count += g->address[to];
    for (uint32_t to = 1; to <= r->program->count + 1; to++)
        if (g->address[to])
            branch(r, pc, to, count > 1, top);
    if (count == 0 && op_at(r, pc)->kind == REF_PATH_BRA)
        fault_at(r, pc, REF_FAULT_TARGET);
}

static void bra(struct ref_paths *r, uint32_t pc, uint32_t top)
{
    const struct ref_path_op *op = op_at(r, pc);
    struct gifts g;
    if (op->way != REF_TO_REGISTER)
        for (uint32_t i = 0; i < op->target_count; i++)
            branch(r, pc, op->target[i], op->target_count > 1, top);
    else if (register_targets(r, pc, false, &g))
        branch_by_register(r, pc, &g, top);
    else
        fault_at(r, pc, REF_FAULT_TARGET);
}

/* A label is a part of this function; another function is passed: its lanes come back, or exit in it. */
static void call(struct ref_paths *r, uint32_t pc, uint32_t top)
{
    const struct ref_path_op *op = op_at(r, pc);
    struct gifts g;
    if (r->token[top].type != REF_PATH_TYPE_CALL || r->token[top].pc != pc + 1) {
        fault_at(r, pc, REF_FAULT_SC6);
        return;
    }
    if (op->way == REF_TO_LABEL) {
        branch(r, pc, op->target[0], false, top);
        return;
    }
    if (op->way == REF_TO_REGISTER && !register_targets(r, pc, true, &g)) {
        fault_at(r, pc, REF_FAULT_TARGET);
        return;
    }
    if (op->way == REF_TO_REGISTER)
        branch_by_register(r, pc, &g, top);
    learn(r, &r->popped[REF_POP_EXIT][top]);
}

static void sync(struct ref_paths *r, uint32_t pc, uint32_t top)
{
    const struct ref_path_token *t = &r->token[top];
    if (t->type != REF_PATH_TYPE_SYNC && t->type != REF_PATH_TYPE_DIVERGE)
        fault_at(r, pc, REF_FAULT_SC3);
    else if (t->type == REF_PATH_TYPE_SYNC && t->pc != pc + 1)
        fault_at(r, pc, REF_FAULT_SC5);
    else
        learn(r, &r->popped[REF_POP_SYNC][top]);
}

static void push_token(struct ref_paths *r, uint32_t pc, enum ref_path_type type, uint32_t top)
{
    uint32_t address = op_at(r, pc)->target[0];
    if (address < 1 || address > r->program->count)
        fault_at(r, pc, REF_FAULT_ADDR);
    else
        push(r, top, type, address, pc + 1);
}

static void execute(struct ref_paths *r, uint32_t pc, uint32_t top)
{
    switch (op_at(r, pc)->kind) {
    case REF_PATH_OTHER:
        may_be(r, pc + 1, top);
        return;
    case REF_PATH_SSY:
        push_token(r, pc, REF_PATH_TYPE_SYNC, top);
        return;
    case REF_PATH_PRE_BRK:
        push_token(r, pc, REF_PATH_TYPE_BREAK, top);
        return;
    case REF_PATH_PRE_RET:
        push_token(r, pc, REF_PATH_TYPE_CALL, top);
        return;
    case REF_PATH_SYNC:
        sync(r, pc, top);
        return;
    case REF_PATH_BREAK:
        learn(r, &r->popped[REF_POP_BREAK][top]);
        return;
    case REF_PATH_RET:
        learn(r, &r->popped[REF_POP_RET][top]);
        return;
    case REF_PATH_EXIT:
        learn(r, &r->popped[REF_POP_EXIT][top]);
        return;
    case REF_PATH_BRA:
        bra(r, pc, top);
        return;
    case REF_PATH_CALL:
        call(r, pc, top);
        return;
    case REF_PATH_TRAP:
        return;
    }
}

/* Of a guard that holds for nobody: a preRet and its call are passed together. */
static void pass(struct ref_paths *r, uint32_t pc, uint32_t top)
{
    if (op_at(r, pc)->guard == 0 || is_pair(r, pc - 1))
        return;
    if (is_pair(r, pc)) {
        learn(r, &r->passed[pc + 1][top]);
        may_be(r, pc + 2, top);
    } else {
        may_be(r, pc + 1, top);
    }
}

/* ---- popping ---- */

/* Lanes wait in it: for sure, or perhaps. */
static void popped_above(struct ref_paths *r, uint32_t token, enum ref_path_pop why, uint32_t below)
{
    const struct ref_path_token *t = &r->token[token];
    bool own = t->type == REF_PATH_TYPE_DIVERGE || why == REF_POP_SYNC ||
               (t->type == REF_PATH_TYPE_BREAK && why == REF_POP_BREAK) ||
               (t->type == REF_PATH_TYPE_CALL && why == REF_POP_RET);
    bool surely = own && !t->given;
    bool never = !own && !t->given && t->type == REF_PATH_TYPE_SYNC && !r->marked[token];
    if (!never)
        may_be(r, t->pc, below);
    if (!surely)
        learn(r, &r->popped[why][below]);
    if (t->type == REF_PATH_TYPE_DIVERGE && why == REF_POP_SYNC)
        learn(r, &r->marked[below]);
}

static void ask_tokens(struct ref_paths *r, uint32_t token, uint32_t below)
{
    for (uint32_t why = 0; why < REF_POP_COUNT; why++)
        if (r->popped[why][token])
            popped_above(r, token, (enum ref_path_pop)why, below);
    if (r->marked[token] && r->token[token].type == REF_PATH_TYPE_DIVERGE)
        learn(r, &r->marked[below]);
}

/* ---- what whole stacks say ---- */

/* Some stack that begins with the token, down to the first that is no .. : a walk that has been at `seen`. */
static bool sync_is_below(const struct ref_paths *r, uint32_t token, uint32_t pc, bool *seen)
{
    if (seen[token])
        return true;
    seen[token] = true;
    if (r->token[token].type != REF_PATH_TYPE_DIVERGE)
        return r->token[token].type == REF_PATH_TYPE_SYNC && r->token[token].pc == pc;
    for (uint32_t b = 0; b < r->token_count; b++)
        if (r->below[token][b] && !sync_is_below(r, b, pc, seen))
            return false;
    return true;
}

static bool lies_on_diverge(const struct ref_paths *r, uint32_t top)
{
    for (uint32_t b = 0; b < r->token_count; b++)
        if (r->below[top][b] && r->token[b].type == REF_PATH_TYPE_DIVERGE)
            return true;
    return false;
}

static bool may_lack(const struct ref_paths *r, uint32_t token, enum ref_path_type type, bool *seen)
{
    if (seen[token] || r->token[token].type == type)
        return false;
    seen[token] = true;
    if (r->token[token].type == REF_PATH_BOTTOM)
        return true;
    for (uint32_t b = 0; b < r->token_count; b++)
        if (r->below[token][b] && may_lack(r, b, type, seen))
            return true;
    return false;
}

static bool may_hold(const struct ref_paths *r, uint32_t token, uint32_t pc, bool *seen)
{
    const struct ref_path_token *t = &r->token[token];
    if (seen[token] || t->type == REF_PATH_TYPE_CALL)
        return false;
    seen[token] = true;
    if ((t->type == REF_PATH_TYPE_SYNC || t->type == REF_PATH_TYPE_BREAK) && t->pc == pc)
        return true;
    for (uint32_t b = 0; b < r->token_count; b++)
        if (r->below[token][b] && may_hold(r, b, pc, seen))
            return true;
    return false;
}

static bool lacks(const struct ref_paths *r, uint32_t top, enum ref_path_type type)
{
    bool seen[REF_PATH_TOKENS] = {false};
    return may_lack(r, top, type, seen);
}

static void judge_stacks(struct ref_paths *r, uint32_t pc, uint32_t top)
{
    enum ref_path_kind kind = op_at(r, pc)->kind;
    bool seen[REF_PATH_TOKENS] = {false}, held[REF_PATH_TOKENS] = {false};
    if (kind == REF_PATH_SYNC && r->token[top].type == REF_PATH_TYPE_DIVERGE) {
        if (!sync_is_below(r, top, pc + 1, seen))
            fault_at(r, pc, REF_FAULT_SC4);
        else if (lies_on_diverge(r, top))
            fault_at(r, pc, REF_FAULT_FOUR);
    }
    if (kind == REF_PATH_BREAK && lacks(r, top, REF_PATH_TYPE_BREAK))
        fault_at(r, pc, r->program->is_entry ? REF_FAULT_SC1 : REF_FAULT_CALLER);
    if (kind == REF_PATH_RET && r->program->is_entry && lacks(r, top, REF_PATH_TYPE_CALL))
        fault_at(r, pc, REF_FAULT_SC2);
    if (may_hold(r, top, pc, held))
        fault_at(r, pc, REF_FAULT_C);
}

/* ---- CHK.static (a), (b): of the text alone ---- */

static void judge_text(struct ref_paths *r, uint32_t pc)
{
    const struct ref_path_op *op = op_at(r, pc);
    if (op->kind == REF_PATH_PRE_RET && !is_pair(r, pc))
        fault_at(r, pc, REF_FAULT_A);
    if (op->kind == REF_PATH_CALL && !is_pair(r, pc - 1))
        fault_at(r, pc, REF_FAULT_A);
    if (op->guard &&
        (op->kind == REF_PATH_SSY || op->kind == REF_PATH_PRE_BRK || op->kind == REF_PATH_SYNC))
        fault_at(r, pc, REF_FAULT_B);
}

/* ---- all of it ---- */

static void start(struct ref_paths *r)
{
    const struct ref_path_program *p = r->program;
    uint32_t top = 0; /* the empty stack */
    for (uint32_t i = p->given_count; i > 0; i--) {
        uint32_t token = token_of(r, p->given[i - 1].type, p->given[i - 1].pc, p->count + i);
        r->token[token].given = true;
        r->below[token][top] = true;
        top = token;
    }
    may_be(r, 1, top);
}

void ref_paths_begin(struct ref_paths *r, const struct ref_path_program *program)
{
    memset(r, 0, sizeof *r);
    r->program = program;
    (void)token_of(r, REF_PATH_BOTTOM, 0, 0);
}

static void ask_all_tokens(struct ref_paths *r)
{
    for (uint32_t a = 0; a < r->token_count; a++)
        for (uint32_t b = 0; b < r->token_count; b++)
            if (r->below[a][b])
                ask_tokens(r, a, b);
}

void ref_paths_close(struct ref_paths *r)
{
    for (r->news = true; r->news && !r->full;) {
        r->news = false;
        ask_all_tokens(r);
    }
}

void ref_paths_find(struct ref_paths *r, const struct ref_path_program *program)
{
    ref_paths_begin(r, program);
    start(r);
    for (r->news = true; r->news && !r->full;) {
        r->news = false;
        for (uint32_t pc = 1; pc <= program->count; pc++)
            for (uint32_t top = 0; top < r->token_count; top++)
                if (r->at[pc][top]) {
                    execute(r, pc, top);
                    pass(r, pc, top);
                }
        ask_all_tokens(r);
    }
    for (uint32_t pc = 1; pc <= program->count; pc++) {
        judge_text(r, pc);
        for (uint32_t top = 0; top < r->token_count; top++)
            if (r->at[pc][top])
                judge_stacks(r, pc, top);
    }
}

uint32_t ref_paths_tops(const struct ref_paths *r, uint32_t pc)
{
    uint32_t tops = 0;
    for (uint32_t top = 0; top < r->token_count; top++)
        if (r->at[pc][top] || r->passed[pc][top])
            tops |= 1U << r->token[top].type;
    return tops;
}

uint32_t ref_paths_states(const struct ref_paths *r)
{
    uint32_t states = 0;
    for (uint32_t pc = 1; pc <= r->program->count; pc++)
        for (uint32_t top = 0; top < r->token_count; top++)
            states += r->at[pc][top];
    return states;
}
