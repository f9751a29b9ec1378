#include "oracle/check/evidence.h"

#include "engine/program/ptx_code.h"
#include "oracle/scoped/scoped.h"

#include <string.h>

static void add(struct evidence *evidence, const char *text)
{
    text_put(&evidence->text, text);
}

#define add_format(evidence, ...) text_format(&(evidence)->text, __VA_ARGS__)

static void add_quoted(struct evidence *evidence, const char *value)
{
    add(evidence, "\"");
    for (const char *c = value; *c; c++) {
        if (*c == '"' || *c == '\\')
            add_format(evidence, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            add_format(evidence, "\\u%04x", (unsigned)(unsigned char)*c);
        else
            text_put_bytes(&evidence->text, c, 1);
    }
    add(evidence, "\"");
}

static void add_item(struct evidence *evidence)
{
    if (!evidence->empty)
        add(evidence, ", ");
    evidence->empty = false;
}

static void add_key(struct evidence *evidence, const char *key)
{
    add_item(evidence);
    add_quoted(evidence, key);
    add(evidence, ": ");
}

void evidence_open(struct evidence *evidence, struct arena *arena)
{
    *evidence = (struct evidence){.text = {.arena = arena}, .empty = true};
    add(evidence, "{");
}

const char *evidence_close(struct evidence *evidence)
{
    add(evidence, "}");
    return evidence->text.bytes;
}

void evidence_string(struct evidence *evidence, const char *key, const char *value)
{
    add_key(evidence, key);
    add_quoted(evidence, value);
}

void evidence_number(struct evidence *evidence, const char *key, int64_t value)
{
    add_key(evidence, key);
    add_format(evidence, "%lld", (long long)value);
}

void evidence_enter(struct evidence *evidence, const char *key)
{
    add_key(evidence, key);
    add(evidence, "{");
    evidence->empty = true;
}

void evidence_leave(struct evidence *evidence)
{
    add(evidence, "}");
    evidence->empty = false;
}

/* Lane 0 leftmost; text has room for LIMIT_WARP + 1 bytes. */
static void print_mask(char *text, lane_mask mask, uint32_t lanes)
{
    for (uint32_t lane = 0; lane < lanes; lane++)
        text[lane] = (mask >> lane) & 1 ? '1' : '0';
    text[lanes] = '\0';
}

void evidence_mask(struct evidence *evidence, const char *key, lane_mask mask, uint32_t lanes)
{
    char text[LIMIT_WARP + 1];
    print_mask(text, mask, lanes);
    evidence_string(evidence, key, text);
}

uint32_t evidence_line(const struct program *program, uint32_t stm)
{
    return stm == CODE_NONE || stm >= program->stm_count ? 0 : program->stms[stm].line;
}

const char *evidence_source_path(struct arena *arena, const struct program *program, uint32_t stm)
{
    if (program->form != FORM_PTX || stm == 0 || stm >= program->stm_count ||
        program->stms[stm].line == program->ptx->ops[stm].source_line)
        return NULL;
    return ptx_op_path(arena, program->ptx, stm);
}

const char *evidence_source(struct arena *arena, const struct program *program, uint32_t stm)
{
    const char *path = evidence_source_path(arena, program, stm);
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

const char *evidence_statement(struct arena *arena, const struct program *program, uint32_t stm)
{
    uint32_t line = evidence_line(program, stm);
    const char *source = evidence_source(arena, program, stm);
    if (line && source)
        return arena_printf(arena, "line %u (%s)", line, source);
    if (line)
        return arena_printf(arena, "line %u", line);
    return arena_printf(arena, "generated statement %u", stm);
}

void evidence_stack(struct evidence *evidence, const char *key, const struct program *program,
                    const stack_entry *stack, const lane_mask *masks, uint32_t depth,
                    uint32_t lanes)
{
    static const char *const names[] = {
        [ENTRY_BRK] = "brk", [ENTRY_CALL] = "call", [ENTRY_DIV] = "div", [ENTRY_SYNC] = "sync"};
    char mask[LIMIT_WARP + 1] = "";
    add_key(evidence, key);
    add(evidence, "[");
    evidence->empty = true;
    for (uint32_t i = depth; i-- > 0;) {
        enum entry_kind kind = entry_kind(stack[i]);
        add_item(evidence);
        if (kind == ENTRY_STM || kind == ENTRY_CONT) {
            const char *where =
                evidence_statement(evidence->text.arena, program, entry_number(stack[i]));
            add_format(evidence, "\"%s%s\"", kind == ENTRY_CONT ? "while_cont " : "", where);
            continue;
        }
        if (masks)
            print_mask(mask, masks[i], lanes);
        add_format(evidence, "\"%s%s%s\"", names[kind], masks ? " " : "", mask);
    }
    add(evidence, "]");
    evidence->empty = false;
}

void evidence_warp(struct evidence *evidence, const char *key, const struct program *program,
                   const struct warp_state *warp)
{
    char disabled[LIMIT_WARP + 1];
    for (uint32_t lane = 0; lane < warp->lanes; lane++)
        disabled[lane] = simt_disable_state(warp, lane);
    disabled[warp->lanes] = '\0';
    evidence_enter(evidence, key);
    evidence_mask(evidence, "active", warp->theta, warp->lanes);
    evidence_string(evidence, "disabled", disabled);
    evidence_stack(evidence, "stack", program, warp->stack, warp->masks, warp->depth, warp->lanes);
    evidence_leave(evidence);
}

static void add_access(struct evidence *evidence, const char *key, const struct program *program,
                       const struct race_access *access)
{
    evidence_enter(evidence, key);
    evidence_number(evidence, "thread", access->thread);
    evidence_number(evidence, "line", evidence_line(program, access->stm));
    const char *source = evidence_source(evidence->text.arena, program, access->stm);
    if (source)
        evidence_string(evidence, "source", source);
    evidence_string(evidence, "access", race_access_names[access->kind]);
    evidence_leave(evidence);
}

void evidence_race(struct evidence *evidence, const char *key, const struct program *program,
                   const struct race_witness *witness)
{
    evidence_enter(evidence, key);
    evidence_string(evidence, "location",
                    program_location_name(evidence->text.arena, program, witness->address));
    add_access(evidence, "first", program, &witness->first);
    add_access(evidence, "second", program, &witness->second);
    if (witness->cause.why != RACE_UNORDERED) {
        evidence_string(evidence, "why", race_why_names[witness->cause.why]);
        evidence_string(evidence, "because",
                        scoped_cause_sentence(evidence->text.arena, program, witness));
    }
    evidence_leave(evidence);
}

static bool same_place(const struct ptx_place *a, const struct ptx_place *b)
{
    return a->kind == PTX_PLACE_REGISTER && a->kind == b->kind && a->bits == b->bits &&
           a->offset == b->offset;
}

/* The compare-and-swap, of the same function, that compares with what the statement reads, or with a copy of it; 0:
 * there is none. */
static uint32_t swap_of_guess(const struct ptx_code *code, uint32_t read)
{
    enum { COPIES = 8 };
    struct ptx_place held[COPIES + 1] = {code->ops[read].results[0]};
    uint32_t count = 1;
    for (uint32_t pc = read + 1; pc < code->count; pc++) {
        const struct ptx_op *op = &code->ops[pc];
        if (op->function != code->ops[read].function)
            break;
        for (uint32_t i = 0; i < count; i++) {
            if (op->exec == PTX_EXEC_ATOM && op->mode == PTX_W_CAS &&
                same_place(&op->sources[1], &held[i]))
                return pc;
            if (op->opcode == PTX_OP_MOV && count <= COPIES &&
                same_place(&op->sources[0], &held[i])) {
                held[count++] = op->results[0];
                break;
            }
        }
    }
    return 0;
}

/* A plain ld. */
static bool reads_plainly(const struct ptx_op *op)
{
    const enum ptx_word sem = op->statement
                                  ? (enum ptx_word)op->statement->u.instruction.words[PTX_SLOT_SEM]
                                  : PTX_W_NONE;
    return op->exec == PTX_EXEC_LD && (sem == PTX_W_NONE || sem == PTX_W_WEAK);
}

const char *evidence_first_guess(struct arena *arena, const struct program *program, uint32_t stm,
                                 uint32_t other)
{
    const struct ptx_code *code = program->form == FORM_PTX ? program->ptx : NULL;
    if (!code || stm >= code->count || other >= code->count)
        return "";
    const uint32_t read = code->ops[stm].exec == PTX_EXEC_ATOM ? other : stm;
    const bool updated = code->ops[read == stm ? other : stm].exec == PTX_EXEC_ATOM;
    const uint32_t swap =
        updated && reads_plainly(&code->ops[read]) ? swap_of_guess(code, read) : 0;
    if (swap == 0)
        return "";
    const char *source = evidence_source(arena, program, read);
    return arena_printf(
        arena,
        "; the read is the first guess of the compare-and-swap at %s, which corrects a wrong one, "
        "but a plain access, which PTX calls a race: read it by cuda::atomic_ref's load "
        "(memory_order_relaxed), or silence it with `race %s` in the file of --suppress",
        evidence_statement(arena, program, swap),
        source ? source : arena_printf(arena, "*:%u", evidence_line(program, read)));
}

const char *evidence_race_sentence(struct arena *arena, const struct program *program,
                                   const struct race_witness *witness)
{
    static const char *const verbs[] = {
        [ACCESS_READ] = "reads", [ACCESS_WRITE] = "writes", [ACCESS_ATOMIC] = "atomically updates"};
    const struct race_access *a = &witness->first, *b = &witness->second;
    const char *cause = scoped_cause_sentence(arena, program, witness);
    return arena_printf(arena, "thread %u %s %s at %s, thread %u %s it at %s%s%s%s", a->thread,
                        verbs[a->kind], program_location_name(arena, program, witness->address),
                        evidence_statement(arena, program, a->stm), b->thread, verbs[b->kind],
                        evidence_statement(arena, program, b->stm), *cause ? "; " : "", cause,
                        evidence_first_guess(arena, program, a->stm, b->stm));
}
