/*
 * lower_ptx.c - modules, functions and their prologues, variables and their initial values.
 */
#include "engine/to_ptx/lower_ptx.h"

#include "engine/forms/lower.h"
#include "engine/input/input.h"
#include "engine/language/initial.h"
#include "engine/to_ptx/lower_ptx_internal.h"

#include <string.h>

enum { FEW = 16 }; /* elements of an array that are initialised one by one */

/* ---- lists ---- */

struct item_list {
    struct ptx_item *first, **end;
};

static struct ptx_item *add_item(struct ptx_lowering *l, struct item_list *items,
                                 enum ptx_item_kind kind)
{
    struct ptx_item *item = ARENA_NEW(l->arena, struct ptx_item);
    item->kind = kind;
    *items->end = item;
    items->end = &item->next;
    return item;
}

static void clear(struct ptx_list *list)
{
    list->first = NULL;
    list->end = &list->first;
}

/* ---- variables ---- */

static struct home *new_home(struct ptx_lowering *l, struct ast_var *var, enum home_kind kind)
{
    struct home *home = &l->homes[l->home_count];
    *home = (struct home){.var = var, .kind = kind};
    var->mark = l->home_count++;
    return home;
}

static uint32_t count_vars(const struct ast_var *list)
{
    uint32_t count = 0;
    for (; list; list = list->next)
        count++;
    return count;
}

static uint32_t count_all(const struct ast_kernel *kernel)
{
    uint32_t count = count_vars(kernel->vars) + count_vars(kernel->main->locals);
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        count += count_vars(f->locals);
    return count;
}

/* {v1, v2, ..}; of a scalar its one value. */
static struct ptx_init *initialiser(struct ptx_lowering *l, const int32_t *values, uint32_t count,
                                    bool is_list)
{
    struct ptx_init *list = ARENA_NEW(l->arena, struct ptx_init), **end = &list->items;
    struct ptx_init *items = ARENA_ARRAY(l->arena, struct ptx_init, count);
    list->kind = PTX_INIT_LIST;
    for (uint32_t i = 0; i < count; i++) {
        items[i].kind = PTX_INIT_INTEGER;
        items[i].value = (uint64_t)(int64_t)values[i];
        *end = &items[i];
        end = &items[i].next;
    }
    return is_list ? list : items;
}

static struct ptx_variable *memory_variable(struct ptx_lowering *l, const char *name,
                                            enum ptx_word space, uint32_t length, bool is_array)
{
    struct ptx_variable *var = lp_variable(l, name, space, PTX_W_B32);
    var->align = 4;
    var->dimension_count = is_array;
    var->dimensions[0] = is_array ? length : 0;
    return var;
}

/* Copies of a variable in private memory, of which each thread has one. */
static uint32_t copies_of(const struct ast_kernel *kernel, const struct ast_var *var)
{
    return var->is_input && var->space == SPACE_PRIVATE
               ? kernel->launch.threads * kernel->launch.blocks
               : 1;
}

static int32_t *initial_values(struct ptx_lowering *l, const struct ast_var *var, uint32_t number)
{
    uint32_t copies = copies_of(l->kernel, var);
    int32_t *values = ARENA_ARRAY(l->arena, int32_t, (size_t)var->length * copies);
    language_init_variable(var, number, l->kernel->launch.seed, values, var->length, copies);
    return values;
}

/* What the elements of a variable start at is read from a table. */
static bool has_table(const struct ast_var *var)
{
    return var->is_input || var->init_count > FEW;
}

/* Of a function's variable too: its name is its own, `function$name`. */
static struct ptx_variable *add_table(struct ptx_lowering *l, struct item_list *items,
                                      const char *name, const struct ast_var *var, uint32_t number)
{
    if (!has_table(var))
        return NULL;
    uint32_t length = var->length * copies_of(l->kernel, var);
    struct ptx_variable *table =
        memory_variable(l, arena_printf(l->arena, "$I_%s", name), PTX_W_CONST, length, true);
    table->init = initialiser(l, initial_values(l, var, number), length, true);
    add_item(l, items, PTX_ITEM_VARIABLE)->u.variable = table;
    return table;
}

/* global, shared: in the order of the kernel, so that they lie where other forms have them. */
static void add_common(struct ptx_lowering *l, struct item_list *items, struct ast_var *var,
                       uint32_t number)
{
    enum ptx_word space = var->space == SPACE_GLOBAL ? PTX_W_GLOBAL : PTX_W_SHARED;
    struct ptx_variable *variable =
        memory_variable(l, var->name, space, var->length, var->is_array);
    struct home *home = new_home(l, var, HOME_MEMORY);
    home->space = space;
    home->variable = variable;
    if (var->space == SPACE_GLOBAL && (var->is_input || var->init_count > 0))
        variable->init = initialiser(l, initial_values(l, var, number),
                                     var->is_input ? var->length : var->init_count, var->is_array);
    add_item(l, items, PTX_ITEM_VARIABLE)->u.variable = variable;
}

/* A register of the kernel where nothing else may use it. */
static void add_private(struct ptx_lowering *l, struct item_list *items, struct ast_var *var,
                        uint32_t number)
{
    bool in_register = !var->is_array && !l->has_functions;
    struct home *home = new_home(l, var, in_register ? HOME_REGISTER : HOME_MEMORY);
    home->space = PTX_W_LOCAL;
    if (!in_register) {
        home->variable = memory_variable(l, var->name, PTX_W_LOCAL, var->length, var->is_array);
        add_item(l, items, PTX_ITEM_VARIABLE)->u.variable = home->variable;
    }
    home->table = add_table(l, items, var->name, var, number);
}

static void add_variables(struct ptx_lowering *l, struct item_list *items)
{
    uint32_t number = 0;
    for (struct ast_var *var = l->kernel->vars; var; var = var->next, number++)
        if (var->space == SPACE_PRIVATE)
            add_private(l, items, var, number);
        else
            add_common(l, items, var, number);
}

/* ---- prologues ---- */

static void move_address(struct ptx_lowering *l, struct value d, const struct ptx_variable *var)
{
    (void)lp_emit(l, PTX_FORM_MOV_ANY, PTX_W_B32);
    lp_arg(l, d);
    lp_arg_variable(l, var);
}

static void move_special(struct ptx_lowering *l, struct value d, enum ptx_special special)
{
    (void)lp_emit(l, PTX_FORM_MOV_ANY, PTX_W_U32);
    lp_arg(l, d);
    lp_arg_special(l, special);
}

static void hold_builtins(struct ptx_lowering *l)
{
    static const enum ptx_special specials[BUILTIN_COUNT] = {
        [BUILTIN_TID] = PTX_SPECIAL_TID,           [BUILTIN_THREADS] = PTX_SPECIAL_NTID,
        [BUILTIN_LANE] = PTX_SPECIAL_LANEID,       [BUILTIN_WARP] = PTX_SPECIAL_WARPID,
        [BUILTIN_WARP_SIZE] = PTX_SPECIAL_WARP_SZ, [BUILTIN_BID] = PTX_SPECIAL_CTAID,
        [BUILTIN_BLOCKS] = PTX_SPECIAL_NCTAID,
    };
    for (int b = 0; b < BUILTIN_COUNT; b++)
        if (l->builtins[b] >= 0)
            move_special(l, (struct value){VALUE_HELD, l->builtins[b]}, specials[b]);
}

/* d := address of this thread's values in a table; of a variable that is no input all have the same. */
static void table_address(struct ptx_lowering *l, struct value d, const struct home *home)
{
    const struct ast_var *var = home->var;
    move_address(l, d, home->table);
    if (copies_of(l->kernel, var) == 1)
        return;
    struct value thread = lp_temporary(l), number = lp_temporary(l);
    move_special(l, number, PTX_SPECIAL_CTAID);
    move_special(l, thread, PTX_SPECIAL_TID);
    for (int i = 0; i < 2; i++) {
        lp_emit(l, PTX_FORM_MAD_INT, PTX_W_S32)->words[PTX_SLOT_MODE] = PTX_W_LO;
        lp_arg(l, i == 0 ? thread : d);
        lp_arg(l, i == 0 ? number : thread);
        lp_arg(l, lp_int(i == 0 ? (int32_t)l->kernel->launch.threads : (int32_t)var->length * 4));
        lp_arg(l, i == 0 ? thread : d);
    }
}

static struct value load_table(struct ptx_lowering *l, struct value address, uint32_t offset)
{
    struct value d = lp_temporary(l);
    lp_emit(l, PTX_FORM_LD_WEAK, PTX_W_B32)->words[PTX_SLOT_SPACE] = PTX_W_CONST;
    lp_arg(l, d);
    lp_arg_address(l, NULL, address, offset);
    return d;
}

static void store_local(struct ptx_lowering *l, const struct ptx_variable *var, struct value base,
                        uint32_t offset, struct value value)
{
    lp_emit(l, PTX_FORM_ST_WEAK, PTX_W_B32)->words[PTX_SLOT_SPACE] = PTX_W_LOCAL;
    lp_arg_address(l, var, base, offset);
    lp_arg(l, value);
}

/*  All elements of an array, from a table or 0, as CMP.do (plain: @p bra H instead of the last two):
 *      a := x;  n := a + 4 length;  preBrk E;  H: [a] := v;  a := a + 4;  p := a < n;  @!p break;  bra H;  E:
 */
static void fill_loop(struct ptx_lowering *l, const struct home *home)
{
    uint32_t number = l->labels++, p = lp_predicate(l);
    struct value a = lp_temporary(l), n = lp_temporary(l), from = lp_temporary(l);
    struct ptx_statement *head = lp_new_label(l, 'H', number), *end = lp_new_label(l, 'E', number);
    move_address(l, a, home->variable);
    if (home->table)
        table_address(l, from, home);
    lp_three(l, PTX_FORM_ADD_INT, PTX_W_S32, n, a, lp_int((int32_t)home->var->length * 4));
    if (!l->plain) {
        (void)lp_emit(l, PTX_FORM_PREBRK_ANY, PTX_W_NONE);
        lp_arg_label(l, end);
    }
    lp_place_label(l, head);
    struct value v = home->table ? load_table(l, from, 0) : lp_int(0);
    store_local(l, NULL, a, 0, v);
    lp_three(l, PTX_FORM_ADD_INT, PTX_W_S32, a, a, lp_int(4));
    if (home->table)
        lp_three(l, PTX_FORM_ADD_INT, PTX_W_S32, from, from, lp_int(4));
    lp_emit(l, PTX_FORM_SETP_INT, PTX_W_U32)->words[PTX_SLOT_CMP] = PTX_W_LT;
    lp_arg_predicate(l, (struct predicate){p, false});
    lp_arg(l, a);
    lp_arg(l, n);
    if (!l->plain)
        lp_guard(l, lp_emit(l, PTX_FORM_BREAK_ANY, PTX_W_NONE), (struct predicate){p, true});
    struct ptx_instruction *again = lp_emit(l, PTX_FORM_BRA_ANY, PTX_W_NONE);
    if (l->plain)
        lp_guard(l, again, (struct predicate){p, false});
    lp_arg_label(l, head);
    lp_place_label(l, end);
}

/* Memory that the kernel itself uses is 0 at first; a function's frame may be a used one. */
static void init_memory(struct ptx_lowering *l, const struct home *home)
{
    const struct ast_var *var = home->var;
    bool many = var->length > FEW;
    if (many && (home->table || !l->is_entry))
        fill_loop(l, home);
    if (many && home->table)
        return;
    if (home->table) {
        struct value from = lp_temporary(l);
        table_address(l, from, home);
        for (uint32_t i = 0; i < var->length; i++)
            store_local(l, home->variable, lp_none(), i * 4, load_table(l, from, i * 4));
        return;
    }
    uint32_t stores = l->is_entry || many ? var->init_count : var->length;
    for (uint32_t i = 0; i < stores; i++)
        store_local(l, home->variable, lp_none(), i * 4,
                    lp_int(i < var->init_count ? var->init[i] : 0));
}

static void init_register(struct ptx_lowering *l, const struct home *home)
{
    struct value first = lp_int(home->var->init_count ? home->var->init[0] : 0);
    if (home->table) {
        struct value from = lp_temporary(l);
        table_address(l, from, home);
        first = load_table(l, from, 0);
    }
    lp_move(l, lp_reg(home->reg), first);
}

/* Initial values of a variable that the function uses; the kernel sets file-level ones for all. */
static void init_variable(struct ptx_lowering *l, const struct ast_var *var)
{
    const struct home *home = &l->homes[var->mark];
    bool memory = home->kind == HOME_MEMORY;
    if (!home->used && (var->space == SPACE_LOCAL || !memory))
        return;
    l->registers = l->local_registers;
    l->predicates = 0;
    if (memory) {
        init_memory(l, home);
    } else if (var->is_parameter && !var->is_out) {
        (void)lp_emit(l, PTX_FORM_MOV_ANY, PTX_W_B32);
        lp_arg(l, lp_reg(home->reg));
        lp_arg_variable(l, home->variable);
    } else
        init_register(l, home);
}

/* A variable that an entry does not use is no part of its memory. */
static void mention(struct ptx_lowering *l, const struct home *home)
{
    l->registers = l->local_registers;
    if (!home->used)
        move_address(l, lp_temporary(l), home->variable);
}

/* What the body turned out to need, before it. */
static void prologue(struct ptx_lowering *l, const struct ast_function *f)
{
    hold_builtins(l);
    for (uint32_t i = 0; i < l->home_count; i++)
        if (l->homes[i].base >= 0)
            move_address(l, (struct value){VALUE_HELD, l->homes[i].base}, l->homes[i].variable);
    for (const struct ast_var *var = l->is_entry ? l->kernel->vars : NULL; var; var = var->next)
        if (var->space == SPACE_PRIVATE)
            init_variable(l, var);
        else
            mention(l, &l->homes[var->mark]);
    for (const struct ast_var *var = f->locals; var; var = var->next)
        init_variable(l, var);
}

/* ---- functions ---- */

static void declare_registers(struct ptx_lowering *l, struct ptx_variable *range, uint32_t count)
{
    range->count = count;
    if (count > 0)
        lp_statement(l, PTX_VARIABLE)->u.variable = range;
}

static struct ptx_variable *next_parameter(struct ptx_variable **list)
{
    struct ptx_variable *var = *list;
    *list = var->next;
    return var;
}

/* Scalars in registers, arrays in the frame's memory. */
static void place_locals(struct ptx_lowering *l, struct ast_function *f,
                         const struct ptx_function *result, struct item_list *items)
{
    uint32_t reg = 0;
    struct ptx_variable *parameters = result->parameters, *returns = result->returns;
    for (uint32_t i = 0; i < l->home_count; i++) {
        l->homes[i].base = -1;
        l->homes[i].used = false;
        if (l->is_entry && l->homes[i].kind == HOME_REGISTER &&
            l->homes[i].var->space == SPACE_PRIVATE)
            l->homes[i].reg = reg++;
    }
    for (struct ast_var *var = f->locals; var; var = var->next) {
        struct home *home = new_home(l, var, var->is_array ? HOME_MEMORY : HOME_REGISTER);
        home->base = -1;
        home->space = PTX_W_LOCAL;
        if (var->is_parameter)
            home->variable = next_parameter(var->is_out ? &returns : &parameters);
        if (!var->is_array)
            home->reg = reg++;
        else
            home->variable = memory_variable(l, arena_printf(l->arena, "$L_%s", var->name),
                                             PTX_W_LOCAL, var->length, true);
        home->table =
            add_table(l, items, arena_printf(l->arena, "%s$%s", f->name, var->name), var, 0);
    }
    l->local_registers = l->most_registers = reg;
}

static void declare_locals(struct ptx_lowering *l, const struct ast_function *f)
{
    for (const struct ast_var *var = f->locals; var; var = var->next)
        if (var->is_array && l->homes[var->mark].used)
            lp_statement(l, PTX_VARIABLE)->u.variable = l->homes[var->mark].variable;
}

static void start_function(struct ptx_lowering *l)
{
    clear(&l->code);
    l->at = (struct location){0};
    l->predicates = l->most_predicates = l->held = l->labels = 0;
    l->in_switch1 = false;
    memset(l->builtins, -1, sizeof l->builtins);
    static const char *const names[] = {"%p", "%r", "%b"};
    for (int i = 0; i < 3; i++) {
        l->registers_of[i] = lp_variable(l, names[i], PTX_W_REG, i == 0 ? PTX_W_PRED : PTX_W_B32);
        l->registers_of[i]->is_range = true;
    }
}

/* The body first: it says what the declarations and the prologue hold. */
static void lower_function(struct ptx_lowering *l, struct ast_function *f,
                           struct ptx_function *result, struct item_list *items)
{
    l->is_entry = f == l->kernel->main;
    place_locals(l, f, result, items);
    start_function(l);
    if (l->plain) {
        lp_blocks(l, f);
    } else {
        lp_statements(l, f->body);
        (void)lp_emit(l, l->is_entry ? PTX_FORM_EXIT_ANY : PTX_FORM_RET_ANY, PTX_W_NONE);
    }
    struct ptx_list body = l->code;
    clear(&l->code);
    l->at = f->at;
    prologue(l, f);
    struct ptx_list before = l->code;
    clear(&l->code);
    declare_registers(l, l->registers_of[VALUE_REG], l->most_registers);
    declare_registers(l, l->registers_of[VALUE_HELD], l->held);
    declare_registers(l, l->registers_of[0], l->most_predicates);
    declare_locals(l, f);
    *l->code.end = before.first ? before.first : body.first;
    if (before.first)
        *before.end = body.first;
    result->name = l->is_entry ? l->kernel->name : f->name;
    result->at = f->at;
    result->linkage = l->is_entry ? PTX_LINK_VISIBLE : PTX_LINK_LOCAL;
    result->is_entry = l->is_entry;
    result->has_body = true;
    result->body = l->code.first;
    add_item(l, items, PTX_ITEM_FUNCTION)->u.function = result;
}

/* Registers %i0, %i1, .. or %o0, ..: of the procedures of kernels in block form. */
static struct ptx_variable *parameters_of(struct ptx_lowering *l, const struct ast_function *f,
                                          bool out)
{
    struct ptx_variable *first = NULL, **end = &first;
    uint32_t count = 0;
    for (const struct ast_var *var = f->locals; var; var = var->next) {
        if (!var->is_parameter || var->is_out != out)
            continue;
        const char *name = arena_printf(l->arena, out ? "%%o%u" : "%%i%u", (unsigned)count++);
        *end = lp_variable(l, name, PTX_W_REG, PTX_W_B32);
        end = &(*end)->next;
    }
    return first;
}

/* Functions are used behind a declaration only; calls mean the definition. */
static void declare_functions(struct ptx_lowering *l, struct item_list *items)
{
    uint32_t count = 0;
    for (struct ast_function *f = l->kernel->functions; f; f = f->next)
        f->mark = count++;
    l->functions = ARENA_ARRAY(l->arena, struct ptx_function *, count);
    for (struct ast_function *f = l->kernel->functions; f; f = f->next) {
        struct ptx_function *function = ARENA_NEW(l->arena, struct ptx_function);
        *function = (struct ptx_function){.name = f->name,
                                          .at = f->at,
                                          .returns = parameters_of(l, f, true),
                                          .parameters = parameters_of(l, f, false)};
        add_item(l, items, PTX_ITEM_FUNCTION)->u.function = function;
        l->functions[f->mark] = ARENA_NEW(l->arena, struct ptx_function);
        *l->functions[f->mark] = *function;
    }
}

/* ---- modules ---- */

static struct ptx_name_list *target(struct ptx_lowering *l)
{
    struct ptx_name_list *name = ARENA_NEW(l->arena, struct ptx_name_list);
    name->name = "sm_80";
    return name;
}

static struct ptx_module *lower_module(struct ptx_lowering *l)
{
    struct ptx_module *module = ARENA_NEW(l->arena, struct ptx_module);
    struct item_list items = {.end = &module->items};
    module->version_major = 8;
    module->targets = target(l);
    module->address_size = 32;
    struct ptx_item *file = add_item(l, &items, PTX_ITEM_FILE);
    file->u.file = 1;
    file->name = arena_printf(l->arena, "%s.simt", l->kernel->name);
    add_variables(l, &items);
    declare_functions(l, &items);
    for (struct ast_function *f = l->kernel->functions; f; f = f->next)
        lower_function(l, f, l->functions[f->mark], &items);
    lower_function(l, l->kernel->main, ARENA_NEW(l->arena, struct ptx_function), &items);
    return module;
}

/* init:x=1,2,3 of shared variables: those of block 0. */
static const char *shared_values(struct ptx_lowering *l, const char *settings)
{
    uint32_t number = 0;
    for (const struct ast_var *var = l->kernel->vars; var; var = var->next, number++) {
        uint32_t count = var->is_input ? var->length : var->init_count;
        if (var->space != SPACE_SHARED || count == 0)
            continue;
        const int32_t *values = initial_values(l, var, number);
        char *text = arena_alloc(l->arena, (size_t)count * 12 + 1, 1), *end = text;
        for (uint32_t i = 0; i < count; i++)
            end += sprintf(end, i ? ",%d" : "%d", (int)values[i]);
        settings = arena_printf(l->arena, "%s init:%s=%s", settings, var->name, text);
    }
    return settings;
}

static const char *settings_of(struct ptx_lowering *l)
{
    const struct ast_launch *launch = &l->kernel->launch;
    const char *settings =
        arena_printf(l->arena, "entry=%s blocks=%u threads=%u warp=%u seed=0x%llx", l->kernel->name,
                     (unsigned)launch->blocks, (unsigned)launch->threads, (unsigned)launch->warp,
                     (unsigned long long)launch->seed);
    const char *caches = cache_sizes_print(l->arena, &launch->caches, ",");
    if (*caches)
        settings = arena_printf(l->arena, "%s caches=%s", settings, caches);
    return shared_values(l, settings);
}

/* ---- expectations ---- */

static bool is_ptx_subject(const char *subject)
{
    static const char *const names[] = {"crs", "thread-pc", "block"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(subject, names[i], length) == 0 &&
            (subject[length] == '\0' || subject[length] == ':'))
            return true;
    }
    return false;
}

/* Claims about PTX subjects, and those about all; but barriers of PTX do not notice divergence. */
static bool carried_over(const struct ast_expect *expect)
{
    if (expect->subject)
        return is_ptx_subject(expect->subject);
    return expect->claim != CLAIM_BARRIER_DIVERGENCE && expect->claim != CLAIM_UNFAIR;
}

static bool is_any_race(const struct ast_expect *expect)
{
    return !expect->subject && expect->claim == CLAIM_RACE;
}

/* Lock-step hides races of a kernel given as PTX, so a race of all is claimed of `block`: claims of their
 * own, behind the others; `block` runs no votes. */
static struct ast_expect *carry_over(const struct ptx_lowering *l, const struct ast_kernel *kernel)
{
    struct ast_expect *first = NULL, **end = &first;
    uint32_t groups = 0;
    for (const struct ast_expect *e = kernel->expects; e; e = e->next)
        groups = e->group >= groups ? e->group + 1 : groups;
    for (int races = 0; races < (l->votes ? 1 : 2); races++)
        for (const struct ast_expect *e = kernel->expects; e; e = e->next) {
            if (!carried_over(e) || is_any_race(e) != races)
                continue;
            struct ast_expect *copy = ARENA_NEW(l->arena, struct ast_expect);
            *copy = *e;
            copy->next = NULL;
            if (races) {
                copy->subject = "block";
                copy->group = groups;
            }
            *end = copy;
            end = &copy->next;
        }
    return first;
}

bool lower_ptx_module(struct arena *arena, const struct ast_kernel *kernel,
                      struct lowered_ptx *lowered, const char **reason)
{
    bool blocks = kernel->form == FORM_BLOCKS;
    struct ast_kernel *core =
        blocks ? ast_kernel_copy(arena, kernel) : lower_core_with(arena, kernel, true);
    struct ptx_lowering l = {
        .arena = arena, .kernel = core, .plain = blocks, .has_functions = core->functions};
    l.homes = ARENA_ARRAY(arena, struct home, count_all(core));
    struct ptx_module *module = lower_module(&l);
    if (l.reason) {
        *reason = l.reason;
        return false;
    }
    *lowered = (struct lowered_ptx){
        .module = module, .settings = settings_of(&l), .expects = carry_over(&l, kernel)};
    return true;
}

struct ast_kernel *lower_ptx(struct arena *arena, const struct ast_kernel *kernel,
                             const char **reason)
{
    struct lowered_ptx lowered;
    if (!lower_ptx_module(arena, kernel, &lowered, reason))
        return NULL;
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, kernel->name, NULL, 0);
    struct ast_kernel *result = ptx_kernel_new(arena, lowered.module, lowered.settings, diag);
    if (!result) {
        *reason = arena_printf(arena, "no PTX: %s", diag->entries[0].text);
        return NULL;
    }
    result->launch.at = kernel->launch.at;
    result->expects = lowered.expects;
    for (struct ast_expect *e = result->expects; e; e = e->next)
        for (struct ast_var *var = result->vars; e->var && var; var = var->next)
            if (strcmp(var->name, e->var->name) == 0)
                e->var = var;
    return result;
}

int32_t *lower_ptx_initial(struct arena *arena, const struct ast_kernel *kernel)
{
    uint32_t words[SPACE_COUNT] = {0}, blocks = kernel->launch.blocks, number = 0;
    for (const struct ast_var *var = kernel->vars; var; var = var->next)
        words[var->space] += var->length;
    int32_t *memory =
        ARENA_ARRAY(arena, int32_t, words[SPACE_GLOBAL] + (size_t)words[SPACE_SHARED] * blocks);
    uint32_t offset[SPACE_COUNT] = {[SPACE_SHARED] = words[SPACE_GLOBAL]};
    for (const struct ast_var *var = kernel->vars; var; var = var->next, number++) {
        if (var->space == SPACE_PRIVATE)
            continue;
        language_init_variable(var, number, kernel->launch.seed, memory + offset[var->space],
                               words[SPACE_SHARED], var->space == SPACE_SHARED ? blocks : 1);
        offset[var->space] += var->length;
    }
    return memory;
}
