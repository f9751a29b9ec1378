#include "oracle/layout/layout.h"

#include "oracle/check/evidence.h"
#include "oracle/check/oracle.h"
#include "oracle/layout/layout_internal.h"

#include <string.h>

enum { LAYOUT_SEED = 37 /* tells this draw from others */ };

void layout_part(struct layout *l, const char *what)
{
    if (l->differs)
        return;
    const char *mnemonic = l->op ? ptx_mnemonics[l->op->opcode] : "the program";
    l->differs =
        arena_printf(l->arena, "%s of %s: line %u", what, mnemonic, l->op ? l->op->line : 0);
}

/* ---- the text, in order ---- */

/* A label is where the next instruction is. */
static uint32_t find_labels(struct layout *l, const struct ptx_statement *stm, uint32_t pc)
{
    for (; stm; stm = stm->next) {
        if (stm->kind == PTX_BLOCK)
            pc = find_labels(l, stm->u.block, pc);
        pc += stm->kind == PTX_INSTRUCTION;
        if (stm->kind != PTX_LABEL)
            continue;
        struct layout_label *label = ARENA_NEW(l->arena, struct layout_label);
        *label = (struct layout_label){stm, pc, l->labels};
        l->labels = label;
    }
    return pc;
}

/* Whether nothing of the text is behind the last instruction, which leads elsewhere. */
static bool ends(const struct ptx_statement *stm, bool before)
{
    for (; stm; stm = stm->next) {
        if (stm->kind == PTX_BLOCK) {
            before = ends(stm->u.block, before);
        } else if (stm->kind == PTX_LABEL) {
            before = false;
        } else if (stm->kind == PTX_INSTRUCTION) {
            const int opcode = (int)ptx_forms[stm->u.instruction.form].opcode;
            before = !stm->u.instruction.guard &&
                     (opcode == PTX_OP_RET || opcode == PTX_OP_EXIT || opcode == PTX_OP_BRA ||
                      opcode == PTX_OP_BRX || opcode == PTX_OP_TRAP);
        }
    }
    return before;
}

/* What .loc says; within a compiler's header the line that calls it. is_known: no header stands in another. */
struct source {
    uint32_t file, line;
    bool is_known;
};

static bool is_header(const struct layout *l, uint32_t file)
{
    for (const struct ptx_item *item = l->code->module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FILE && item->u.file == file)
            return strstr(item->name, "/include/") != NULL;
    return false;
}

static void locate(const struct layout *l, const struct ptx_loc *loc, struct source *at)
{
    const bool inside = loc->at_file && is_header(l, loc->file);
    *at = (struct source){inside ? loc->at_file : loc->file, inside ? loc->at_line : loc->line,
                          !inside || !is_header(l, loc->at_file)};
}

/* What people read of the place: the line of the text, and, where .loc tells of a file that has a name, that of the
 * source behind the name's last part. */
static void told(struct layout *l, const struct source *at)
{
    const char *name = NULL;
    for (const struct ptx_item *item = l->code->module->items; item && at->line > 0;
         item = item->next)
        if (!name && item->kind == PTX_ITEM_FILE && item->u.file == at->file)
            name = item->name;
    const char *last = name;
    for (const char *c = name; c && *c; c++)
        last = *c == '/' ? c + 1 : last;
    const char *meant = name ? arena_printf(l->arena, "line %u (%s:%u)", (unsigned)l->op->line,
                                            last, (unsigned)at->line)
                             : arena_printf(l->arena, "line %u", (unsigned)l->op->line);
    if (strcmp(ptx_op_line(l->arena, l->code, l->pc), meant) != 0)
        layout_part(l, "place");
}

static void walk(struct layout *l, const struct ptx_statement *stm, struct source *at)
{
    for (; stm && !l->differs; stm = stm->next) {
        if (stm->kind == PTX_LOC)
            locate(l, &stm->u.loc, at);
        if (stm->kind == PTX_BLOCK)
            walk(l, stm->u.block, at);
        if (stm->kind != PTX_INSTRUCTION || l->pc >= l->code->functions[l->function].end)
            continue;
        l->op = &l->code->ops[l->pc];
        if (l->op->statement != stm || l->op->function != l->function)
            layout_part(l, "statement");
        else
            layout_op(l);
        if (at->is_known && (l->op->file != at->file || l->op->source_line != at->line))
            layout_part(l, "line of the source");
        else if (at->is_known && l->pc % 8 == 1)
            told(l, at);
        l->pc++;
    }
}

static void function(struct layout *l, uint32_t f)
{
    const struct ptx_code_function *function = &l->code->functions[f];
    struct source at = {.is_known = true};
    l->function = f;
    l->pc = function->entry;
    walk(l, function->function->body, &at);
    if (l->differs)
        return;
    if (!l->code->kernel->raw && !ends(function->function->body, false) && l->pc < function->end) {
        l->op = &l->code->ops[l->pc++];
        layout_op(l);
    }
    l->op = NULL;
    if (l->pc != function->end)
        layout_part(l, "end of a function");
}

static struct layout_row *rows_of(struct layout *l, uint32_t count)
{
    return ARENA_ARRAY(l->arena, struct layout_row, count);
}

static void begin(struct layout *l)
{
    const struct ptx_code *code = l->code;
    uint32_t pc = 1;
    l->narrow = ARENA_ARRAY(l->arena, struct layout_row *, code->function_count);
    l->wide = ARENA_ARRAY(l->arena, struct layout_row *, code->function_count);
    for (uint32_t f = 0; f < code->function_count; f++) {
        const struct ptx_code_function *function = &code->functions[f];
        l->narrow[f] = rows_of(l, function->rows.narrow);
        l->wide[f] = rows_of(l, function->rows.wide);
        if (function->entry != pc || !function->function->has_body ||
            function->function->is_entry != (f == 0))
            layout_part(l, "functions");
        find_labels(l, function->function->body, function->entry);
        pc = function->end;
    }
    if (code->count != pc)
        layout_part(l, "instructions");
}

const char *layout_differs(struct arena *arena, const struct program *program, bool has_text)
{
    struct layout l = {
        .arena = arena, .program = program, .code = program->ptx, .has_text = has_text};
    ptx_kernel_dimensions(program->core, l.block, l.grid);
    begin(&l);
    for (uint32_t f = 0; f < l.code->function_count && !l.differs; f++)
        function(&l, f);
    l.op = NULL;
    if (!l.differs)
        layout_whole(&l);
    if (!l.differs)
        layout_memory(&l);
    return l.differs;
}

/* ---- the oracle ---- */

static void diverge(struct checking *c, const char *differs)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "differs", differs);
    *d = (struct divergence){
        .oracle = ORACLE_REFERENCE,
        .class_name = "layout",
        .rule = RULE_NONE,
        .observable = arena_strndup(c->arena, differs, (size_t)(strchr(differs, ':') - differs)),
        .subject = SUBJECT_BLOCK,
        .evidence = evidence_close(&e)};
    d->part = d->observable;
    d->summary =
        arena_printf(c->arena, "a program in PTX is not laid out as its text says: %s", differs);
    answer_diverge(&c->result->answers[ORACLE_REFERENCE], d);
}

void layout_ended(struct checking *c, const struct execution *execution)
{
    const struct machine *machine = c->subjects[execution->subject].machine;
    if (execution->status != STATUS_OUT_OF_BOUNDS || !machine || !machine->program->ptx ||
        !oracle_asked(c, ORACLE_REFERENCE))
        return;
    const size_t mark = arena_mark(c->arena);
    const char *differs = layout_fault(c->arena, machine);
    if (differs)
        diverge(c, arena_printf(c->arena, "out of bounds, %s: %s", differs,
                                machine->fault_text ? machine->fault_text : "nothing is said"));
    else
        arena_release(c->arena, mark);
}

void layout_judge(struct checking *c)
{
    const uint64_t draw = pcg_splitmix(c->options->seed + LAYOUT_SEED);
    const bool given = c->forms->given->form == FORM_PTX;
    const struct program *last = NULL;
    if (c->options->seed != 0 && draw % LAYOUT_SHARE != 0)
        return;
    const size_t mark = arena_mark(c->arena);
    const char *text, *wrong = NULL;
    for (uint32_t i = 0; i < LAYOUT_FAULTS && c->options->seed != 0 && !wrong; i++)
        wrong = layout_drawn_fault(c->arena, draw + i, &text);
    if (wrong)
        diverge(c, arena_printf(c->arena, "out of bounds, %s: %s", wrong, text));
    for (int i = 0; i < PROGRAM_COUNT && !wrong; i++) {
        const struct program *program = c->forms->items[i].program;
        if (!program || !program->ptx || program == last || program->ptx->count > LAYOUT_OPS)
            continue;
        last = program;
        const char *differs = layout_differs(c->arena, program, given);
        if (differs) {
            diverge(c, differs);
            return;
        }
    }
    if (!wrong)
        arena_release(c->arena, mark);
}
