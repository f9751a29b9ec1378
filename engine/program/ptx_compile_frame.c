#include "engine/base/bits.h"
#include "engine/base/invariant.h"
#include "engine/program/ptx_compile_internal.h"

#include <string.h>

static uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---- registers ---- */

static bool is_wide(const struct ptx_variable *var)
{
    return ptx_type_of(var->type).bits >= 64;
}

static struct ptx_place next_row(struct ptx_rows *rows, bool wide)
{
    return (struct ptx_place){.kind = PTX_PLACE_REGISTER,
                              .bits = wide ? 64 : 32,
                              .offset = wide ? rows->wide++ : rows->narrow++};
}

static void note_register(struct ptx_builder *b, struct ptx_place place, const char *name,
                          char element)
{
    struct ptx_register_name *entry = ARENA_NEW(b->arena, struct ptx_register_name);
    *entry = (struct ptx_register_name){.place = place, .name = name, .element = element};
    *b->layout->last_register = entry;
    b->layout->last_register = &entry->next;
}

struct ptx_place ptx_build_register(struct ptx_builder *b, const struct ptx_operand *o)
{
    const struct ptx_variable *var = o->target.variable;
    bool is_new, wide = is_wide(var);
    uint32_t *row =
        ptx_map_add(&b->registers, var, (uint64_t)o->index << 8 | (uint8_t)o->element, &is_new);
    struct ptx_place place = {.kind = PTX_PLACE_REGISTER, .bits = wide ? 64 : 32, .offset = *row};
    if (is_new) {
        place = next_row(&b->layout->f->rows, wide);
        *row = place.offset;
        note_register(b, place, o->name, o->element);
    }
    if (is_new && ptx_type_of(var->type).bits == 128)
        note_register(b, next_row(&b->layout->f->rows, wide), o->name, o->element);
    return place;
}

struct ptx_place ptx_build_carry(struct ptx_builder *b)
{
    if (b->layout->carry.kind == PTX_PLACE_NONE) {
        b->layout->carry = next_row(&b->layout->f->rows, false);
        note_register(b, b->layout->carry, "the carry", 0);
    }
    return b->layout->carry;
}

/* ---- parameters ---- */

static uint64_t round_up(uint64_t value, uint32_t multiple)
{
    return (value + multiple - 1) & ~(uint64_t)(multiple - 1);
}

void ptx_build_formal(struct ptx_builder *b, struct ptx_formals *formals,
                      const struct ptx_variable *var, struct ptx_place *place, uint32_t *byte)
{
    uint64_t bytes = ptx_variable_bytes(var);
    *place = (struct ptx_place){.kind = PTX_PLACE_NONE};
    *byte = 0;
    if (var->space == PTX_W_REG) {
        *place = next_row(&formals->rows, is_wide(var));
        if (var->vector != PTX_W_NONE || var->is_range || ptx_type_of(var->type).bits > 64)
            ptx_build_fail(b, "unsupported parameter '%.80s' in registers in line %u", var->name,
                           var->at.line);
        return;
    }
    if (bytes == 0 || bytes > (uint64_t)LIMIT_MEMORY_WORDS * 4 ||
        formals->bytes > (uint64_t)LIMIT_MEMORY_WORDS * 4) {
        ptx_build_fail(b, "unsupported size of parameter '%.80s' in line %u", var->name,
                       var->at.line);
        return;
    }
    formals->bytes = round_up(formals->bytes, ptx_build_align(b, var));
    *byte = (uint32_t)formals->bytes;
    formals->bytes += bytes;
}

static void add_local(struct ptx_builder *b, const struct ptx_variable *var, uint32_t byte,
                      uint64_t bytes)
{
    struct ptx_layout *layout = b->layout;
    struct ptx_regions *locals = &layout->f->locals;
    if (locals->count == layout->local_capacity) {
        uint32_t capacity = layout->local_capacity ? 2 * layout->local_capacity : 8;
        struct ptx_region *items = ARENA_ARRAY(b->arena, struct ptx_region, capacity);
        if (locals->count)
            memcpy(items, locals->items, locals->count * sizeof *items);
        locals->items = items;
        layout->local_capacity = capacity;
    }
    locals->items[locals->count++] = (struct ptx_region){
        .address = byte, .bytes = (uint32_t)bytes, .word = byte / 4, .name = var->name};
    ptx_build_home(b, var, PTX_HOME_FRAME, byte);
    const uint32_t align = ptx_build_align(b, var);
    b->frame_align = align > b->frame_align ? align : b->frame_align;
}

static void add_formals(struct ptx_builder *b, struct ptx_formals *formals,
                        const struct ptx_variable *var)
{
    for (; var && !ptx_build_failed(b); var = var->next) {
        struct ptx_place place;
        uint32_t byte;
        bool is_new;
        ptx_build_formal(b, formals, var, &place, &byte);
        if (place.kind == PTX_PLACE_REGISTER) {
            *ptx_map_add(&b->registers, var, 0, &is_new) = place.offset;
            note_register(b, place, var->name, 0);
        } else if (!ptx_build_failed(b)) {
            add_local(b, var, byte, ptx_variable_bytes(var));
        }
    }
}

void ptx_build_formals(struct ptx_builder *b, const struct ptx_function *f)
{
    struct ptx_formals formals = {.bytes = 0};
    add_formals(b, &formals, f->returns);
    add_formals(b, &formals, f->parameters);
    b->layout->f->rows = formals.rows;
    b->layout->frame_bytes = formals.bytes;
}

uint32_t ptx_build_frame_byte(struct ptx_builder *b, const struct ptx_variable *var)
{
    const uint32_t *home = ptx_build_find_home(b, var);
    if (home)
        return (uint32_t)b->home_list[*home].address;
    struct ptx_layout *layout = b->layout;
    uint64_t bytes = ptx_memory_bytes(var);
    uint64_t byte = round_up(layout->frame_bytes, ptx_build_align(b, var));
    if (bytes == 0 || byte + bytes > (uint64_t)LIMIT_MEMORY_WORDS * 4) {
        ptx_build_fail(b, "'%.80s' takes no number of bytes that local memory has", var->name);
        return 0;
    }
    layout->frame_bytes = byte + bytes;
    add_local(b, var, (uint32_t)byte, bytes);
    return (uint32_t)byte;
}

void ptx_build_stack(struct ptx_builder *b, struct ptx_place *base, struct ptx_place *taken)
{
    struct ptx_layout *layout = b->layout;
    if (layout->taken.kind == PTX_PLACE_NONE) {
        struct ptx_variable *stack = ARENA_NEW(b->arena, struct ptx_variable);
        *stack = (struct ptx_variable){.space = PTX_W_LOCAL,
                                       .type = PTX_W_B8,
                                       .align = 16,
                                       .name = "the stack",
                                       .dimension_count = 1,
                                       .dimensions = {PTX_ROW_STACK}};
        layout->stack = ptx_build_frame_byte(b, stack);
        layout->taken = next_row(&layout->f->rows, false); /* 0 at first, and no name of the text */
    }
    *base = (struct ptx_place){.kind = PTX_PLACE_FRAME, .bits = 32, .offset = layout->stack};
    *taken = layout->taken;
}

/* FNV-1a over what decides where formals lie. */
static uint64_t hash_formals(uint64_t hash, const struct ptx_variable *var)
{
    for (; var; var = var->next) {
        uint64_t parts[3] = {var->space == PTX_W_REG ? 1u + is_wide(var) : 0u,
                             ptx_variable_bytes(var), var->align};
        for (int i = 0; i < 24; i++)
            hash = (hash ^ (parts[i / 8] >> i % 8 * 8 & 0xff)) * 1099511628211u;
    }
    return (hash ^ 0xff) * 1099511628211u;
}

uint32_t ptx_build_signature(struct ptx_builder *b, const struct ptx_function *f)
{
    bool is_new;
    uint64_t hash = hash_formals(14695981039346656037u, f ? f->returns : NULL);
    uint32_t *number =
        ptx_map_add(&b->signatures, b, hash_formals(hash, f ? f->parameters : NULL), &is_new);
    if (is_new)
        *number = b->signatures.count;
    return *number;
}

/* ---- how deep stacks get ---- */

struct need {
    uint64_t narrow, wide, bytes, tokens;
};

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Tokens that one activation pushes: each ssy, preBrk, preRet once; of lanes that wait elsewhere, each has
 * one diverge token for all its activations (inv.7). */
static uint64_t count_tokens(const struct ptx_code *code, const struct ptx_code_function *f)
{
    uint64_t tokens = 0;
    for (uint32_t pc = f->entry; pc < f->end; pc++)
        tokens += code->ops[pc].exec >= PTX_EXEC_SSY && code->ops[pc].exec <= PTX_EXEC_PRERET;
    return tokens;
}

static bool calls(const struct ptx_builder *b, uint32_t caller, uint32_t callee)
{
    return bits_has(b->calls + (size_t)caller * b->call_words, callee);
}

/* need[f] after round k: the most over all chains of at most k + 1 activations that start with f. False:
 * nothing has changed. */
static bool longer_chains(const struct ptx_builder *b, const struct need *own, struct need *need,
                          struct need *longer)
{
    uint32_t count = b->code->function_count;
    bool changed = false;
    for (uint32_t f = 0; f < count; f++) {
        struct need most = {0};
        for (uint32_t g = 0; g < count; g++) {
            if (!calls(b, f, g))
                continue;
            most.narrow = max_u64(most.narrow, need[g].narrow);
            most.wide = max_u64(most.wide, need[g].wide);
            most.bytes = max_u64(most.bytes, need[g].bytes);
            most.tokens = max_u64(most.tokens, need[g].tokens);
        }
        longer[f] = (struct need){own[f].narrow + most.narrow, own[f].wide + most.wide,
                                  own[f].bytes + most.bytes, own[f].tokens + most.tokens};
        changed |= memcmp(&longer[f], &need[f], sizeof *need) != 0;
    }
    memcpy(need, longer, count * sizeof *need);
    return changed;
}

/* Longest chain of calls from the entry, in activations. */
static uint32_t find_depth(const struct ptx_builder *b)
{
    uint32_t words = b->call_words, depth = 0;
    uint64_t *at = ARENA_ARRAY(b->arena, uint64_t, words),
             *next = ARENA_ARRAY(b->arena, uint64_t, words);
    at[0] = 1;
    for (bool any = true; any && depth < LIMIT_CALL_DEPTH; depth++) {
        any = false;
        memset(next, 0, words * sizeof *next);
        for (uint32_t f = 0; f < b->code->function_count; f++)
            for (uint32_t w = 0; bits_has(at, f) && w < words; w++)
                next[w] |= b->calls[(size_t)f * words + w];
        for (uint32_t w = 0; w < words; w++)
            any |= next[w] != 0;
        memcpy(at, next, words * sizeof *at);
    }
    return depth;
}

static bool has_calls(const struct ptx_code *code)
{
    for (uint32_t pc = 1; pc < code->count; pc++)
        if (code->ops[pc].exec == PTX_EXEC_CALL)
            return true;
    return false;
}

void ptx_build_depth(struct ptx_builder *b)
{
    enum { TOKENS_MOST = 1024, TOKENS_RAW = 64 };
    struct ptx_code *code = b->code;
    uint32_t count = code->function_count;
    struct need *own = ARENA_ARRAY(b->arena, struct need, count);
    struct need *need = ARENA_ARRAY(b->arena, struct need, count);
    struct need *longer = ARENA_ARRAY(b->arena, struct need, count);
    for (uint32_t f = 0; f < count; f++) {
        const struct ptx_code_function *function = &code->functions[f];
        own[f] = (struct need){function->rows.narrow, function->rows.wide, function->frame_bytes,
                               count_tokens(code, function)};
    }
    for (uint32_t round = 0; round < LIMIT_CALL_DEPTH; round++)
        if (!longer_chains(b, own, need, longer))
            break;
    code->depth = b->ptx->raw && has_calls(code) ? LIMIT_CALL_DEPTH : find_depth(b);
    uint64_t tokens = need[0].tokens + b->program->launch.warp + b->ptx->token_count + 1;
    tokens = tokens < TOKENS_MOST ? tokens : TOKENS_MOST;
    code->token_capacity = b->ptx->raw ? max_u32((uint32_t)tokens, TOKENS_RAW) : (uint32_t)tokens;
    uint64_t words = (need[0].narrow + 2 * need[0].wide) * b->program->total_threads;
    if (words > PTX_LIMIT_REGISTER_WORDS) {
        ptx_build_fail(b, "registers of all threads take %llu words, limit %u",
                       (unsigned long long)words, (unsigned)PTX_LIMIT_REGISTER_WORDS);
        return;
    }
    uint64_t local = (code->frame_local_base + need[0].bytes) / 4;
    uint64_t all = b->program->private_base + local * b->program->total_threads;
    if (all > ptx_kernel_memory_limit(b->ptx)) {
        ptx_build_fail(b, "needs %llu words of memory, limit %u", (unsigned long long)all,
                       (unsigned)ptx_kernel_memory_limit(b->ptx));
        return;
    }
    code->rows = (struct ptx_rows){(uint32_t)need[0].narrow, (uint32_t)need[0].wide};
    code->frame_bytes = (uint32_t)need[0].bytes;
    b->program->words[SPACE_LOCAL] = (uint32_t)local;
    b->program->memory_words = (uint32_t)all;
    b->program->stack_depth = code->token_capacity;
    b->program->recursive = code->depth == LIMIT_CALL_DEPTH;
}

/* ---- initial values ---- */

void ptx_build_registers(struct ptx_builder *b)
{
    struct ptx_code *code = b->code;
    uint32_t count = 0;
    for (const struct ptx_values *v = b->ptx->registers; v; v = v->next)
        count++;
    code->registers = ARENA_ARRAY(b->arena, struct ptx_code_register, count);
    b->layout = &b->layouts[0];
    for (const struct ptx_values *v = b->ptx->registers; v; v = v->next) {
        struct ptx_operand o = {.kind = PTX_OPERAND_NAME, .name = v->name};
        o.target.variable = ptx_find_register(b->entry->body, v->name, &o.index);
        if (!o.target.variable || o.target.variable->vector != PTX_W_NONE) {
            ptx_build_fail(b, "the entry has no register '%.80s'", v->name);
            return;
        }
        if (ptx_type_of(o.target.variable->type).bits > 64) {
            ptx_build_fail(b, "reg: '%.80s' has more than 64 bits", v->name);
            return;
        }
        struct ptx_values *values = ARENA_NEW(b->arena, struct ptx_values);
        *values = *v;
        if (!ptx_settings_values(b->arena, values, o.target.variable->type == PTX_W_PRED)) {
            ptx_build_fail(b, "reg: '%.80s' is no value of '%.80s'", v->text, v->name);
            return;
        }
        struct ptx_code_register *reg = &code->registers[code->register_count++];
        reg->place = ptx_build_register(b, &o);
        reg->values = values;
    }
}
