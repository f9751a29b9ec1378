/* Random modules, made as trees from the table of forms: each passes the checks, prints, and is read as
 * an equal tree. So every form can be written, and none hides behind an earlier one. */
#include "engine/base/pcg.h"
#include "tests/unit/shared/ptx_text.h"

#include <stdlib.h>

enum { MODULES = 600, REGISTERS = 8 };

static struct pcg rng;
static uint32_t names; /* made so far */
static bool used[PTX_FORM_COUNT];
static enum ptx_opcode opcode; /* of the instruction being made */

static uint32_t below(uint32_t bound)
{
    return pcg_below(&rng, bound);
}

static bool chance(uint32_t percent)
{
    return below(100) < percent;
}

static uint64_t random_bits(void)
{
    uint64_t bits = pcg_next64(&rng);
    return chance(50) ? bits >> below(64) : bits << below(64);
}

static const char *fresh(const char *prefix)
{
    return arena_printf(&arena, "%s%u", prefix, names++);
}

/* ---- operands ---- */

static struct ptx_operand *operand(enum ptx_operand_kind kind, const char *name, uint64_t value)
{
    struct ptx_operand *o = ARENA_NEW(&arena, struct ptx_operand);
    o->kind = kind;
    o->name = name;
    o->value = value;
    return o;
}

/* The declared registers of a size. */
static struct ptx_operand *random_register(struct ptx_type type)
{
    const char *prefix = type.kind == PTX_CLASS_PRED ? "%p"
                         : type.bits <= 16           ? "%rs"
                         : type.bits == 128          ? "%rq"
                         : type.kind == PTX_CLASS_FLOAT && chance(50)
                             ? (type.bits == 32 ? "%f" : "%fd")
                         : type.bits == 32 ? "%r"
                                           : "%rd";
    return operand(PTX_OPERAND_NAME, arena_printf(&arena, "%s%u", prefix, below(REGISTERS)), 0);
}

static struct ptx_operand *random_constant(struct ptx_type type)
{
    if (type.kind != PTX_CLASS_FLOAT)
        return operand(PTX_OPERAND_INTEGER, NULL, random_bits());
    if (chance(50))
        return operand(PTX_OPERAND_FLOAT32, NULL, random_bits() & UINT32_MAX);
    return operand(PTX_OPERAND_FLOAT64, NULL, random_bits());
}

/* Special registers are read by mov and cvt. */
static struct ptx_operand *random_special(struct ptx_type type)
{
    uint32_t special = below(PTX_SPECIAL_WARP_SZ);
    if ((opcode != PTX_OP_MOV && opcode != PTX_OP_CVT) || type.bits != ptx_specials[special].bits)
        special = PTX_SPECIAL_WARP_SZ;
    struct ptx_operand *o = operand(PTX_OPERAND_NAME, ptx_specials[special].name, 0);
    if (ptx_specials[special].has_elements)
        o->element = "xyzw"[below(4)];
    return o;
}

static struct ptx_operand *random_value(const struct ptx_item_pattern *item)
{
    bool is_number = item->type.kind == PTX_CLASS_INT || item->type.kind == PTX_CLASS_BITS;
    if (item->sinkable && chance(20))
        return operand(PTX_OPERAND_SINK, NULL, 0);
    if (!item->is_result && chance(30))
        return random_constant(item->type);
    if (!item->is_result && is_number && chance(15))
        return random_special(item->type);
    struct ptx_operand *o = random_register(item->type);
    o->negated = item->negatable && chance(30);
    if (!item->paired || chance(60))
        return o;
    struct ptx_operand *pair = operand(PTX_OPERAND_PAIR, NULL, 0);
    pair->items = o;
    o->next = random_register((struct ptx_type){PTX_CLASS_PRED, 1, false});
    return pair;
}

static struct ptx_operand *random_vector(const struct ptx_item_pattern *item, uint32_t count)
{
    struct ptx_operand *vector = operand(PTX_OPERAND_VECTOR, NULL, 0);
    struct ptx_item_pattern part = *item;
    part.sinkable = item->is_result;
    for (struct ptx_operand **last = &vector->items; count > 0; count--, last = &(*last)->next)
        *last = random_value(&part);
    return vector;
}

/* As many as the geometry has, a layer first. */
static struct ptx_operand *random_coordinates(const struct ptx_instruction *i,
                                              const struct ptx_item_pattern *item)
{
    struct ptx_item_pattern layer = *item;
    layer.type = (struct ptx_type){PTX_CLASS_INT, 32, false};
    const uint32_t dimensions = ptx_dimensions(i->words);
    if (!ptx_is_layered(i->words))
        return dimensions == 1 ? random_value(item) : random_vector(item, dimensions);
    struct ptx_operand *vector = random_vector(&layer, 1);
    vector->items->next = random_vector(item, dimensions)->items;
    return vector;
}

static const char *variable_in(enum ptx_word space)
{
    switch ((int)space) {
    case PTX_W_SHARED:
    case PTX_W_SHARED_CTA:
    case PTX_W_SHARED_CLUSTER:
        return "in_shared";
    case PTX_W_CONST:
        return "in_const";
    case PTX_W_LOCAL:
        return "in_local";
    case PTX_W_PARAM:
    case PTX_W_PARAM_ENTRY:
    case PTX_W_PARAM_FUNC:
        return "in_param";
    default:
        return "in_global";
    }
}

static struct ptx_operand *random_address(enum ptx_word space)
{
    static const struct ptx_type wide = {PTX_CLASS_BITS, 64, false};
    if (chance(10))
        return operand(PTX_OPERAND_ADDRESS, NULL, random_bits());
    const char *name = chance(50) ? random_register(wide)->name : variable_in(space);
    return operand(PTX_OPERAND_ADDRESS, name, chance(50) ? random_bits() : 0);
}

static struct ptx_operand *random_move(const struct ptx_item_pattern *item, bool *vector)
{
    bool is_address = item->type.kind == PTX_CLASS_INT && item->type.bits >= 32;
    if (!item->is_result && is_address && chance(30))
        return operand(PTX_OPERAND_NAME,
                       item->type.bits == 64 && chance(50) ? "in_global" : "callee", random_bits());
    if (item->type.kind == PTX_CLASS_BITS && item->type.bits >= 32 && !*vector && chance(40)) {
        struct ptx_item_pattern part = *item;
        part.type.bits = (uint8_t)(part.type.bits / 2);
        *vector = true;
        return random_vector(&part, 2);
    }
    return random_value(item);
}

static struct ptx_operand *names_of(enum ptx_operand_kind kind, const char *name)
{
    struct ptx_operand *list = operand(kind, NULL, 0);
    list->items = operand(PTX_OPERAND_NAME, name, 0);
    return list;
}

/* call (out), callee, (in); or through a register and a prototype. */
static struct ptx_operand *random_call(void)
{
    bool indirect = chance(30);
    if (chance(20))
        return operand(PTX_OPERAND_NAME, indirect ? "%rd1" : "nothing", 0);
    struct ptx_operand *returns = names_of(PTX_OPERAND_LIST, "out");
    returns->next = operand(PTX_OPERAND_NAME, indirect ? "%rd1" : "callee", 0);
    returns->next->next = names_of(PTX_OPERAND_LIST, "in");
    if (indirect)
        returns->next->next->next = operand(PTX_OPERAND_NAME, chance(50) ? "proto" : "calls", 0);
    return returns;
}

/* Of cvta, which has a type, and isspacep. */
static struct ptx_operand *random_pointer(struct ptx_type type)
{
    if (type.kind == PTX_CLASS_NONE)
        return operand(PTX_OPERAND_NAME, chance(50) ? "%rd1" : "%r1", 0);
    return chance(50) ? random_register(type) : operand(PTX_OPERAND_NAME, "in_global", 0);
}

static struct ptx_operand *random_operand(const struct ptx_instruction *i,
                                          const struct ptx_item_pattern *item, bool *vector)
{
    enum ptx_word size = (enum ptx_word)i->words[PTX_SLOT_VECTOR];
    switch (item->kind) {
    case 'a':
        return random_address((enum ptx_word)i->words[PTX_SLOT_SPACE]);
    case 'k':
        return random_pointer(item->type);
    case 'b':
        return chance(50) ? operand(PTX_OPERAND_INTEGER, NULL, below(16))
                          : random_register(item->type);
    case 'i':
        return operand(PTX_OPERAND_INTEGER, NULL, random_bits());
    case 'l':
        return operand(PTX_OPERAND_NAME, chance(80) ? "label" : "%rd2", 0);
    case 'T':
        return operand(PTX_OPERAND_NAME, "branches", 0);
    case 'c':
        return random_call();
    case 'm':
        return random_move(item, vector);
    case 'v':
        return size == PTX_W_NONE ? random_value(item)
                                  : random_vector(item, size == PTX_W_V2   ? 2
                                                        : size == PTX_W_V4 ? 4
                                                                           : 8);
    case 'x':
        return random_coordinates(i, item);
    case 'D':
    case 'A':
    case 'B':
    case 'C':
    case 'F':
        return random_vector(item, ptx_fragment_registers(i->form, i->words, item->kind));
    default:
        return random_value(item);
    }
}

/* ---- statements ---- */

static enum ptx_word random_word(const struct ptx_group *group)
{
    uint32_t count = 1;
    for (size_t i = 0; i < group->length; i++)
        count += group->words[i] == '|';
    const char *at = group->words;
    for (uint32_t skip = below(count); skip > 0; skip--)
        at = strchr(at, '|') + 1;
    return ptx_word_find(at, strcspn(at, "| "));
}

static void random_instruction(struct ptx_instruction *i)
{
    i->form = (enum ptx_form)below(PTX_FORM_COUNT);
    used[i->form] = true;
    opcode = ptx_forms[i->form].opcode;
    const char *modifiers = ptx_forms[i->form].modifiers, *pattern = ptx_forms[i->form].operands;
    struct ptx_group group;
    struct ptx_item_pattern item;
    bool vector = false;
    while (ptx_group_next(&modifiers, &group))
        if (!group.optional || chance(40))
            i->words[group.slot] = (uint8_t)random_word(&group);
    if (chance(25)) {
        i->guard = random_register((struct ptx_type){PTX_CLASS_PRED, 1, false});
        i->guard->negated = chance(50);
    }
    for (struct ptx_operand **last = &i->operands; ptx_item_next(&pattern, i->words, &item);) {
        if (item.optional && chance(50))
            continue;
        *last = random_operand(i, &item, &vector);
        last = &(*last)->next;
    }
}

static struct ptx_variable *variable(enum ptx_word space, enum ptx_word type, const char *name)
{
    struct ptx_variable *var = ARENA_NEW(&arena, struct ptx_variable);
    var->space = space;
    var->type = type;
    var->name = name;
    return var;
}

static struct ptx_variable *random_variable(const char *prefix)
{
    static const enum ptx_word spaces[] = {PTX_W_REG, PTX_W_SHARED, PTX_W_LOCAL, PTX_W_GLOBAL};
    static const enum ptx_word types[] = {PTX_W_B8, PTX_W_U16, PTX_W_S32, PTX_W_F64, PTX_W_B64};
    struct ptx_variable *var = variable(spaces[below(4)], types[below(5)], fresh(prefix));
    var->align = chance(30) ? 1u << below(5) : 0;
    var->vector = chance(20) ? PTX_W_V4 : PTX_W_NONE;
    if (var->space == PTX_W_REG) {
        var->is_range = chance(50);
        var->count = var->is_range ? below(20) : 0;
        /* no digits before the number of a register */
        var->name = var->is_range ? arena_printf(&arena, "%s_", var->name) : var->name;
        return var;
    }
    for (var->dimension_count = below(3); chance(50) && var->dimension_count > 1;)
        var->dimension_count--;
    for (uint32_t i = 0; i < var->dimension_count; i++)
        var->dimensions[i] = 1 + below(9);
    if (var->space == PTX_W_SHARED && var->dimension_count > 0 && chance(20))
        var->dimensions[0] = 0;
    return var;
}

static struct ptx_statement *random_block(uint32_t depth);

static struct ptx_statement *random_statement(uint32_t depth)
{
    struct ptx_statement *stm = ARENA_NEW(&arena, struct ptx_statement);
    uint32_t draw = below(100);
    stm->kind = PTX_INSTRUCTION;
    if (draw < 75) {
        random_instruction(&stm->u.instruction);
    } else if (draw < 80) {
        stm->kind = PTX_LABEL;
        stm->name = fresh("$L__");
    } else if (draw < 85) {
        stm->kind = PTX_VARIABLE;
        stm->u.variable = random_variable("%x");
    } else if (draw < 90) {
        stm->kind = PTX_PRAGMA;
        stm->name = "nounroll";
    } else if (draw < 95 || depth == 0) {
        struct ptx_loc loc = {1, below(99), below(9), chance(50), NULL, 0, 0, 0, 0};
        loc.function = loc.is_inlined ? fresh("$info") : NULL;
        loc.function_offset = loc.is_inlined ? below(9) : 0;
        loc.at_line = loc.is_inlined ? below(99) : 0;
        stm->kind = PTX_LOC;
        stm->u.loc = loc;
    } else {
        stm->kind = PTX_BLOCK;
        stm->u.block = random_block(depth - 1);
    }
    return stm;
}

static struct ptx_statement *random_block(uint32_t depth)
{
    struct ptx_statement *first = NULL, **last = &first;
    for (uint32_t n = below(12); n > 0; n--, last = &(*last)->next)
        *last = random_statement(depth);
    return first;
}

/* ---- modules ---- */

static struct ptx_init *random_init(uint32_t depth)
{
    struct ptx_init *init = ARENA_NEW(&arena, struct ptx_init);
    init->kind = (enum ptx_init_kind)below(depth > 0 ? 5 : 4);
    init->value = random_bits();
    if (init->kind == PTX_INIT_FLOAT32)
        init->value &= UINT32_MAX;
    if (init->kind == PTX_INIT_ADDRESS) {
        init->name = chance(50) ? "in_global" : "callee";
        init->generic = chance(50);
        init->mask = chance(30) ? (uint64_t)255 << 8 * below(8) : 0;
    } else if (init->kind == PTX_INIT_LIST) {
        struct ptx_init **last = &init->items;
        init->value = 0;
        for (uint32_t n = below(4); n > 0; n--, last = &(*last)->next)
            *last = random_init(depth - 1);
    }
    return init;
}

/* What random instructions refer to stands in every module. */
static const char frame[] =
    ".version 7.1\n.target sm_70\n.address_size 64\n"
    ".global .b32 in_global[4];\n.const .b32 in_const[4];\n"
    ".shared .b32 in_shared[4];\n.func nothing();\n"
    ".func (.param .b32 r) callee(.param .b32 a);\n"
    ".visible .entry k(.param .b32 in_param) {\n"
    ".reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
    ".reg .b128 %rq<8>; .reg .f32 %f<8>; .reg .f64 %fd<8>;\n"
    ".local .b32 in_local[4]; .param .b32 in, out;\n"
    "label: branches: .branchtargets label; calls: .calltargets callee;\n"
    "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n}\n";

static struct ptx_module *random_module(void)
{
    struct ptx_module *module = parse(frame);
    struct ptx_item *kernel = module->items;
    while (kernel->next)
        kernel = kernel->next;
    for (struct ptx_item *at = module->items; chance(60);) {
        while (at->next != kernel)
            at = at->next; /* before the kernel, behind what it refers to */
        at->next = ARENA_NEW(&arena, struct ptx_item);
        at->next->next = kernel;
        struct ptx_variable *var = variable(PTX_W_GLOBAL, PTX_W_B64, fresh("v"));
        var->linkage = (enum ptx_linkage)below(5);
        var->dimension_count = 1; /* as long as its values */
        var->init = chance(70) ? random_init(3) : NULL;
        at->next->u.variable = var;
    }
    struct ptx_function *f = kernel->u.function;
    for (struct ptx_attribute **last = &f->attributes; chance(50); last = &(*last)->next) {
        *last = ARENA_NEW(&arena, struct ptx_attribute);
        (*last)->kind = (enum ptx_attribute_kind)below(PTX_FUNCTION_PRAGMA);
        (*last)->count = (*last)->kind == PTX_NORETURN  ? 0
                         : (*last)->kind <= PTX_REQNTID ? 1 + below(3)
                                                        : 1;
        for (uint32_t i = 0; i < (*last)->count; i++)
            (*last)->values[i] = below(1024);
    }
    struct ptx_statement *stm = f->body;
    while (stm->next)
        stm = stm->next;
    stm->next = random_block(4);
    return module;
}

static void random_modules(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < MODULES; n++) {
        size_t mark = arena_mark(&arena);
        rng = pcg_derive(31, PCG_KERNEL, n);
        names = 0;
        struct ptx_module *module = random_module();
        diag_init(&diag, "tree", NULL, 0);
        if (!ptx_check(&arena, module, &diag)) {
            diag_print(&diag, stderr);
            fail_msg("module %u: %s", n, ptx_print(&arena, module));
        }
        round_trip(module);
        arena_release(&arena, mark);
    }
    for (int i = 0; i < PTX_FORM_COUNT; i++)
        if (!used[i])
            fail_msg("no instruction of form %d: %s %s", i, ptx_mnemonics[ptx_forms[i].opcode],
                     ptx_forms[i].modifiers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_modules, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
