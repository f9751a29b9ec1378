#include "engine/input/ptx_kernel.h"

#include "engine/input/ptx_kernel_internal.h"
#include "engine/ptx/ptx_reach.h"

#include <string.h>

/* What a parameter is that is not bound: a buffer if it can hold an address, else a small number, so that
 * loops over `n` elements end soon and stay within the buffers. */
enum {
    DEFAULT_THREADS = 32,
    DEFAULT_WARP = 32,
    DEFAULT_BUFFER = 4096,
    DEFAULT_SHARED = 4096,
    NOTES_MAX = 4000 /* bytes */
};
static const char default_number[] = "16", default_float[] = "1.0";

struct builder {
    struct arena *arena;
    struct diag *diag;
    struct ast_kernel *kernel;
    struct ptx_kernel *ptx;
    struct ptx_reach reach;
    uint64_t words;     /* of variables so far */
    uint32_t variables; /* so far */
};

static void note(struct builder *b, const char *text)
{
    const char *before = b->ptx->notes;
    if (before && strlen(before) > NOTES_MAX)
        return;
    b->ptx->notes = before ? arena_printf(b->arena, "%s; %s", before, text) : text;
    if (strlen(b->ptx->notes) > NOTES_MAX)
        b->ptx->notes = arena_printf(b->arena, "%s; and so on", b->ptx->notes);
}

/* ---- entry ---- */

static const char *entry_names(struct arena *arena, const struct ptx_module *module)
{
    const char *names = "";
    uint32_t count = 0;
    for (const struct ptx_item *item = module->items; item && count < 8; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION && item->u.function->is_entry &&
            item->u.function->has_body)
            names = arena_printf(arena, "%s%s%.80s", names, count++ ? ", " : "",
                                 item->u.function->name);
    return names;
}

bool ptx_does_nothing(const struct ptx_function *f)
{
    for (const struct ptx_statement *s = f->body; s; s = s->next) {
        const enum ptx_opcode opcode =
            s->kind == PTX_INSTRUCTION ? ptx_forms[s->u.instruction.form].opcode : PTX_OP_RET;
        if (s->kind == PTX_BLOCK || (opcode != PTX_OP_RET && opcode != PTX_OP_EXIT))
            return false;
    }
    return f->refused == NULL;
}

static void choose_entry(struct builder *b, const struct ptx_settings *s)
{
    const struct ptx_function *found = NULL, *first = NULL;
    uint32_t count = 0, meant = 0;
    for (const struct ptx_item *item = b->ptx->module->items; item; item = item->next) {
        const struct ptx_function *f = item->kind == PTX_ITEM_FUNCTION ? item->u.function : NULL;
        if (!f || !f->is_entry || !f->has_body)
            continue;
        first = count++ ? first : f;
        meant += !ptx_does_nothing(f);
        if (s->entry ? strcmp(f->name, s->entry) == 0 : !ptx_does_nothing(f))
            found = f;
    }
    if (!s->entry && b->ptx->entry)
        return;
    if (count == 0)
        diag_error(b->diag, s->entry_at, "the module has no entry that can be run");
    else if (s->entry && !found)
        diag_error(b->diag, s->entry_at, "there is no entry '%.80s', but %s", s->entry,
                   entry_names(b->arena, b->ptx->module));
    else if (!s->entry && (meant > 1 || (meant == 0 && count > 1)))
        diag_error(b->diag, s->entry_at, "which entry is to run? entry=NAME says it: %s",
                   entry_names(b->arena, b->ptx->module));
    else
        b->ptx->entry = found ? found : first;
}

/* ---- dimensions ---- */

static const struct ptx_attribute *find_attribute(const struct ptx_function *f,
                                                  enum ptx_attribute_kind kind)
{
    const struct ptx_attribute *a = f->attributes;
    while (a && a->kind != kind)
        a = a->next;
    return a;
}

static uint64_t attribute_threads(const struct ptx_attribute *a)
{
    uint64_t threads = 1;
    for (uint32_t i = 0; i < a->count; i++)
        threads = threads > UINT32_MAX ? threads : threads * a->values[i];
    return threads;
}

static void check_required(struct builder *b, const struct ptx_attribute *required)
{
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t wanted = i < required->count ? required->values[i] : 1;
        if (b->ptx->block[i] == wanted)
            continue;
        diag_error(b->diag, b->kernel->launch.at,
                   "the entry requires blocks of %ux%ux%u threads (.reqntid)", required->values[0],
                   required->count > 1 ? required->values[1] : 1,
                   required->count > 2 ? required->values[2] : 1);
        return;
    }
}

/* The cluster that the entry requires, or else that of the settings; a grid that is not given is one cluster. */
static void set_cluster(struct builder *b)
{
    struct ptx_kernel *ptx = b->ptx;
    const struct ptx_attribute *required = find_attribute(ptx->entry, PTX_REQNCTAPERCLUSTER);
    bool fits = true;
    uint64_t size = 1;
    ptx->cluster_given |= find_attribute(ptx->entry, PTX_EXPLICITCLUSTER) != NULL;
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t wanted = !required ? 0 : i < required->count ? required->values[i] : 1;
        fits &= !required || ptx->cluster[i] == 0 || ptx->cluster[i] == wanted;
        ptx->cluster[i] = wanted ? wanted : ptx->cluster[i] ? ptx->cluster[i] : 1;
        size = size > PTX_CLUSTER_MOST ? size : size * ptx->cluster[i];
    }
    if (ptx->grid[0] == 0) {
        memcpy(ptx->grid, ptx->cluster, sizeof ptx->grid);
        b->kernel->launch.blocks = (uint32_t)size;
    }
    for (uint32_t i = 0; i < 3; i++)
        fits &= size <= PTX_CLUSTER_MOST && ptx->grid[i] % ptx->cluster[i] == 0;
    if (!fits)
        diag_error(b->diag, b->kernel->launch.at,
                   "the blocks do not make whole clusters of %ux%ux%u, 16 at most, as the entry or "
                   "'cluster' wants",
                   ptx->cluster[0], ptx->cluster[1], ptx->cluster[2]);
}

static void set_threads(struct builder *b)
{
    struct ptx_kernel *ptx = b->ptx;
    const struct ptx_attribute *required = find_attribute(ptx->entry, PTX_REQNTID);
    const struct ptx_attribute *most = find_attribute(ptx->entry, PTX_MAXNTID);
    uint64_t limit = most ? attribute_threads(most) : LIMIT_THREADS;
    if (ptx->block[0] == 0) {
        ptx->block[0] = limit < DEFAULT_THREADS ? (uint32_t)limit : DEFAULT_THREADS;
        ptx->block[1] = ptx->block[2] = 1;
        for (uint32_t i = 0; required && i < 3; i++)
            ptx->block[i] = i < required->count ? required->values[i] : 1;
    }
    uint64_t threads = (uint64_t)ptx->block[0] * ptx->block[1];
    threads = threads > UINT32_MAX ? UINT32_MAX : threads * ptx->block[2];
    b->kernel->launch.threads = threads > UINT32_MAX ? UINT32_MAX : (uint32_t)threads;
    if (required)
        check_required(b, required);
    if (most && threads > limit)
        diag_error(b->diag, b->kernel->launch.at,
                   "%llu threads in a block, the entry allows %llu (.maxntid)",
                   (unsigned long long)threads, (unsigned long long)limit);
    set_cluster(b);
}

/* A grid of more blocks, or threads, than a case has: its first ones. */
static void set_window(struct builder *b)
{
    struct ptx_kernel *ptx = b->ptx;
    struct ast_launch *launch = &b->kernel->launch;
    const uint64_t blocks = (uint64_t)ptx->grid[0] * ptx->grid[1] * ptx->grid[2];
    const uint32_t threads = launch->threads ? launch->threads : 1;
    const bool given = ptx->window > 0 && !ptx->whole;
    uint32_t most = LIMIT_TOTAL_THREADS / threads;
    if (ptx->whole && launch->blocks != ptx->window) { /* made smaller since */
        ptx->whole = false;
        return;
    }
    ptx->whole = !given && (blocks > LIMIT_BLOCKS || blocks * threads > LIMIT_TOTAL_THREADS);
    if (!ptx->whole)
        return;
    most = most > LIMIT_BLOCKS ? LIMIT_BLOCKS : most > 0 ? most : 1;
    ptx->window = most < blocks ? most : (uint32_t)blocks;
    launch->blocks = ptx->window;
    note(b, arena_printf(b->arena, "of %llu blocks `check` runs all, other commands the first %u",
                         (unsigned long long)blocks, ptx->window));
}

void ptx_kernel_dimensions(const struct ast_kernel *kernel, uint32_t block[3], uint32_t grid[3])
{
    const struct ptx_kernel *ptx = kernel->ptx;
    memcpy(block, ptx->block, sizeof ptx->block);
    memcpy(grid, ptx->grid, sizeof ptx->grid);
    if ((uint64_t)block[0] * block[1] * block[2] != kernel->launch.threads) {
        block[0] = kernel->launch.threads;
        block[1] = block[2] = 1;
    }
    bool all = (uint64_t)grid[0] * grid[1] * grid[2] == kernel->launch.blocks;
    if (!all && (ptx->window == 0 || ptx->window != kernel->launch.blocks)) {
        grid[0] = kernel->launch.blocks;
        grid[1] = grid[2] = 1;
    }
}

/* ---- variables ---- */

/* A variable of the kernel; NULL: reported. Names are told apart where bodies use one twice. */
static struct ast_var *add_var(struct builder *b, const char *name, enum ast_space space,
                               uint64_t bytes, struct location at)
{
    uint64_t words = bytes / 4 + (bytes % 4 != 0);
    b->words += words;
    if (b->variables++ == LIMIT_VARIABLES) {
        diag_error(b->diag, at, "more than %d variables in memory", LIMIT_VARIABLES);
        return NULL;
    }
    const uint32_t limit = ptx_kernel_memory_limit(b->ptx);
    if (words > limit || b->words > limit) {
        diag_error(b->diag, at, "'%.80s' and the variables before it take more than %u words", name,
                   limit);
        return NULL;
    }
    struct ast_var *var = ast_var(b->arena, name, space, (uint32_t)words, words != 1);
    var->at = at;
    ast_var_append(&b->kernel->vars, var);
    return var;
}

static bool is_dynamic(const struct ptx_variable *var)
{
    return var->space == PTX_W_SHARED && ptx_memory_bytes(var) == 0;
}

static void add_variables(struct builder *b, enum ptx_word space)
{
    for (uint32_t i = 0; i < b->reach.variable_count; i++) {
        const struct ptx_variable *var = b->reach.variables[i];
        uint64_t bytes = ptx_memory_bytes(var);
        if (var->space != space || is_dynamic(var))
            continue;
        if (bytes == 0)
            diag_error(b->diag, var->at, "how long '%.80s' is is not known", var->name);
        else if (!add_var(b, var->name, space == PTX_W_GLOBAL ? SPACE_GLOBAL : SPACE_SHARED, bytes,
                          var->at))
            return;
    }
}

/* All arrays without a length share the memory that the launch gives. */
static void add_dynamic(struct builder *b)
{
    struct ptx_kernel *ptx = b->ptx;
    const struct ptx_variable *first = NULL;
    for (uint32_t i = 0; i < b->reach.variable_count && !first; i++)
        first = is_dynamic(b->reach.variables[i]) ? b->reach.variables[i] : NULL;
    if (!ptx->shared_given)
        ptx->shared_bytes = first ? DEFAULT_SHARED : 0;
    if (!first)
        return;
    if (!ptx->shared_given)
        note(b, arena_printf(b->arena, "'%.80s' in shared memory has %d bytes", first->name,
                             DEFAULT_SHARED));
    if (ptx->shared_bytes > 0)
        add_var(b, first->name, SPACE_SHARED, ptx->shared_bytes, first->at);
}

/* ---- parameters ---- */

static bool is_buffer(const struct builder *b, const struct ptx_variable *parameter)
{
    struct ptx_type type = ptx_type_of(parameter->type);
    if (parameter->dimension_count > 0 || type.kind == PTX_CLASS_FLOAT)
        return false;
    return parameter->is_pointer || (type.bits == 64 && b->ptx->module->address_size != 32);
}

/* A buffer that is a texture, of what is read there. */
static const char *assume_texture(struct builder *b, struct ptx_bind *bind,
                                  const struct ptx_texture *seen)
{
    struct ptx_texture *texture = ARENA_NEW(b->arena, struct ptx_texture);
    const char *sizes = "";
    *texture = *seen;
    *bind = (struct ptx_bind){.kind = PTX_BIND_BUFFER,
                              .bytes = (uint32_t)ptx_texture_bytes(texture),
                              .fill = PTX_FILL_IOTA,
                              .texture = texture};
    for (uint32_t d = 0; d < texture->dimensions; d++)
        sizes = arena_printf(b->arena, "%s%s%u", sizes, d ? "x" : "", texture->size[d]);
    return arena_printf(b->arena, "a texture or surface of %s elements .%sx4", sizes,
                        ptx_words[texture->type]);
}

static void assume(struct builder *b, struct ptx_argument *argument, uint32_t number,
                   const struct ptx_texture *texture, bool is_shared, bool is_constant)
{
    const struct ptx_variable *parameter = argument->parameter;
    struct ptx_bind *bind = &argument->bind;
    const char *what = "zero";
    if (is_buffer(b, parameter) && texture) {
        what = assume_texture(b, bind, texture);
    } else if (is_buffer(b, parameter) && is_shared) {
        *bind = (struct ptx_bind){.kind = PTX_BIND_SHARED, .bytes = DEFAULT_SHARED};
        what = arena_printf(b->arena, "%d bytes of shared memory", DEFAULT_SHARED);
    } else if (is_buffer(b, parameter)) {
        *bind = (struct ptx_bind){
            .kind = PTX_BIND_BUFFER, .bytes = DEFAULT_BUFFER, .fill = PTX_FILL_IOTA};
        what = arena_printf(b->arena, "a buffer of %d bytes%s: 0, 1, 2, ..", DEFAULT_BUFFER,
                            is_constant ? " in constant memory" : "");
    } else if (parameter->dimension_count == 0) {
        bool is_float = ptx_type_of(parameter->type).kind == PTX_CLASS_FLOAT;
        what = is_float ? default_float : default_number;
        if (!ptx_settings_value(what, parameter, &bind->value))
            what = "zero";
    }
    note(b, arena_printf(b->arena, "parameter %u ('%.80s') is %s", number, parameter->name, what));
}

static void bind_value(struct builder *b, struct ptx_argument *argument)
{
    const struct ptx_variable *parameter = argument->parameter;
    struct ptx_type type = ptx_type_of(parameter->type);
    struct ptx_bind *bind = &argument->bind;
    if (bind->kind == PTX_BIND_WORDS) {
        if (bind->words->count * (uint64_t)4 > ptx_memory_bytes(parameter) + 3)
            diag_error(b->diag, bind->at, "'%.80s' has %llu bytes, less than %u words",
                       parameter->name, (unsigned long long)ptx_memory_bytes(parameter),
                       bind->words->count);
    } else if (bind->kind != PTX_BIND_VALUE) {
        if (parameter->dimension_count > 0 || type.bits < 32 || type.kind == PTX_CLASS_FLOAT)
            diag_error(b->diag, bind->at, "'%.80s' cannot hold the address of a buffer",
                       parameter->name);
    } else if (parameter->dimension_count > 0) {
        diag_error(b->diag, bind->at,
                   "'%.80s' is a struct or array: words:1,2,3 says what it holds", parameter->name);
    } else if (!ptx_settings_value(bind->text, parameter, &bind->value)) {
        diag_error(b->diag, bind->at, "'%.80s' is no value of a parameter .%s", bind->text,
                   ptx_words[parameter->type]);
    }
}

/* A number instead of a name is replaced by the name. */
static const struct ptx_variable *find_parameter(const struct builder *b, struct ptx_bind *bind)
{
    uint32_t number = 0;
    for (const struct ptx_variable *p = b->ptx->entry->parameters; p; p = p->next, number++) {
        char digits[16];
        uint32_t n = number, at = sizeof digits - 1;
        digits[at] = '\0';
        do {
            digits[--at] = (char)('0' + n % 10);
            n /= 10;
        } while (n > 0);
        if (strcmp(p->name, bind->parameter) == 0 || strcmp(digits + at, bind->parameter) == 0) {
            bind->parameter = p->name;
            return p;
        }
    }
    return NULL;
}

/* The last one for a parameter counts, by name or by number. */
static void drop_overridden(struct ptx_kernel *ptx)
{
    for (struct ptx_bind **at = &ptx->binds; *at;) {
        const struct ptx_bind *later = (*at)->next;
        while (later && strcmp(later->parameter, (*at)->parameter) != 0)
            later = later->next;
        if (later)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
}

static void add_arguments(struct builder *b)
{
    struct ptx_kernel *ptx = b->ptx;
    uint32_t number = 0;
    struct ptx_pointers pointers = ptx_assume_pointers(b->arena, ptx->entry);
    for (struct ptx_bind *bind = ptx->binds; bind; bind = bind->next)
        if (!find_parameter(b, bind))
            diag_error(b->diag, bind->at, "'%.80s' has no parameter '%.80s'", ptx->entry->name,
                       bind->parameter);
    drop_overridden(ptx);
    ptx->argument_count = 0;
    for (const struct ptx_variable *p = ptx->entry->parameters; p; p = p->next)
        ptx->argument_count++;
    ptx->arguments = ARENA_ARRAY(b->arena, struct ptx_argument, ptx->argument_count);
    for (const struct ptx_variable *p = ptx->entry->parameters; p; p = p->next, number++) {
        struct ptx_argument *argument = &ptx->arguments[number];
        const struct ptx_bind *bind = ptx->binds;
        bool is_shared = number < 64 && pointers.shared >> number & 1;
        bool is_constant = number < 64 && pointers.constant >> number & 1;
        bool is_texture = number < 64 && pointers.textures >> number & 1;
        while (bind && strcmp(bind->parameter, p->name) != 0)
            bind = bind->next;
        argument->parameter = p;
        if (bind) {
            argument->bind = *bind;
            bind_value(b, argument);
        } else {
            assume(b, argument, number, is_texture ? &pointers.texture[number] : NULL, is_shared,
                   is_constant);
        }
        if (argument->bind.kind == PTX_BIND_BUFFER && is_constant)
            argument->bind.kind = PTX_BIND_CONST;
        if (argument->bind.kind == PTX_BIND_BUFFER)
            argument->buffer = add_var(b, p->name, SPACE_GLOBAL, argument->bind.bytes, p->at);
    }
}

const struct ptx_bind *ptx_kernel_placed(const struct ptx_kernel *ptx, const char *name)
{
    const struct ptx_bind *memory = ptx->memory;
    while (memory && strcmp(memory->parameter, name) != 0)
        memory = memory->next;
    return memory;
}

/* The variable of the module that the memory is; NULL: none, so it is a buffer. */
static const struct ptx_variable *placed_variable(const struct builder *b,
                                                  const struct ptx_bind *memory)
{
    for (uint32_t i = 0; i < b->reach.variable_count; i++) {
        const struct ptx_variable *var = b->reach.variables[i];
        bool has_place = var->space == PTX_W_GLOBAL || var->space == PTX_W_CONST;
        if (has_place && strcmp(var->name, memory->parameter) == 0)
            return var;
    }
    return NULL;
}

/* What `memory:` places: variables of the module are there already. */
static void add_memory(struct builder *b)
{
    for (struct ptx_bind *memory = b->ptx->memory; memory; memory = memory->next) {
        const struct ptx_variable *var = placed_variable(b, memory);
        memory->var = NULL;
        if (!var)
            memory->var = add_var(b, memory->parameter, SPACE_GLOBAL, memory->bytes, memory->at);
        else if (memory->bytes != ptx_memory_bytes(var))
            diag_error(b->diag, memory->at, "'%.80s' has %llu bytes, not %u", var->name,
                       (unsigned long long)ptx_memory_bytes(var), memory->bytes);
    }
}

/* What a device left is of memory that is placed, and all of it. */
static void check_results(struct builder *b)
{
    for (const struct ptx_bind *result = b->ptx->results; result; result = result->next) {
        const struct ptx_bind *memory = ptx_kernel_placed(b->ptx, result->parameter);
        if (!memory)
            diag_error(b->diag, result->at, "no memory '%.80s' is placed", result->parameter);
        else if (memory->bytes != result->data_bytes)
            diag_error(b->diag, result->at, "'%.80s' has %u bytes, not %u", result->parameter,
                       memory->bytes, result->data_bytes);
    }
}

static void add_shared_arguments(struct builder *b)
{
    for (uint32_t i = 0; i < b->ptx->argument_count; i++) {
        struct ptx_argument *argument = &b->ptx->arguments[i];
        if (argument->bind.kind == PTX_BIND_SHARED)
            argument->buffer = add_var(b, argument->parameter->name, SPACE_SHARED,
                                       argument->bind.bytes, argument->parameter->at);
    }
}

/* ---- all of it ---- */

/* Names of variables of several bodies: the later ones get a number. */
static void tell_names_apart(struct builder *b)
{
    struct ptx_map names = {.arena = b->arena};
    for (struct ast_var *var = b->kernel->vars; var; var = var->next) {
        uint64_t hash = 14695981039346656037u;
        for (const char *c = var->name; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
        bool is_new;
        uint32_t *count = ptx_map_add(&names, &names, hash, &is_new);
        if (!is_new)
            var->name = arena_printf(b->arena, "%s_%u", var->name, ++*count);
    }
}

static void check_values(struct builder *b)
{
    for (struct ptx_values *v = b->ptx->init; v; v = v->next) {
        const struct ast_var *var = b->kernel->vars;
        while (var && strcmp(var->name, v->name) != 0)
            var = var->next;
        if (!var)
            diag_error(b->diag, v->at, "init: the entry uses no variable '%.80s'", v->name);
        else if (!ptx_settings_values(b->arena, v, false))
            diag_error(b->diag, v->at, "init: numbers are wanted for '%.80s'", v->name);
        else if (v->count > var->length)
            diag_error(b->diag, v->at, "init: '%.80s' has %u words, not %u", v->name, var->length,
                       v->count);
    }
}

static void point_expects(struct builder *b)
{
    for (struct ast_expect *e = b->kernel->expects; e; e = e->next) {
        struct ast_var *var = b->kernel->vars;
        while (e->var && var && strcmp(var->name, e->var->name) != 0)
            var = var->next;
        if (e->var && !var)
            diag_error(b->diag, e->at, "the entry uses no variable '%.80s'", e->var->name);
        else if (e->var)
            e->var = var;
    }
}

bool ptx_kernel_build(struct ptx_settings *s)
{
    struct ast_kernel *kernel = s->kernel;
    struct builder b = {.arena = s->arena, .diag = s->diag, .kernel = kernel, .ptx = kernel->ptx};
    const struct ptx_function *before = b.ptx->entry;
    uint32_t errors = s->diag->count;
    choose_entry(&b, s);
    if (s->diag->count != errors)
        return false;
    if (before && before != b.ptx->entry) {
        b.ptx->binds = NULL;
        b.ptx->registers = NULL;
    }
    kernel->name = b.ptx->entry->name;
    kernel->vars = NULL;
    ptx_bind_fields(b.arena, b.ptx, b.diag);
    kernel->placed = b.ptx->memory != NULL;
    b.ptx->notes = NULL;
    set_threads(&b);
    set_window(&b);
    ptx_reach(b.arena, b.ptx->module, b.ptx->entry, &b.reach);
    if (ptx_reach_refused(&b.reach, b.diag))
        return false;
    add_variables(&b, PTX_W_GLOBAL);
    add_arguments(&b);
    add_memory(&b);
    check_results(&b);
    add_variables(&b, PTX_W_SHARED);
    add_shared_arguments(&b);
    add_dynamic(&b);
    tell_names_apart(&b);
    check_values(&b);
    point_expects(&b);
    return s->diag->count == errors && ast_check(kernel, s->diag);
}

struct ast_kernel *ptx_kernel_of(struct arena *arena, const struct ptx_module *module)
{
    struct ast_kernel *kernel = ARENA_NEW(arena, struct ast_kernel);
    kernel->form = FORM_PTX;
    kernel->launch = (struct ast_launch){.warp = DEFAULT_WARP, .blocks = 1};
    kernel->ptx = ARENA_NEW(arena, struct ptx_kernel);
    kernel->ptx->module = module;
    return kernel;
}

struct ast_kernel *ptx_kernel_new(struct arena *arena, const struct ptx_module *module,
                                  const char *settings, struct diag *diag)
{
    struct ast_kernel *kernel = ptx_kernel_of(arena, module);
    return ptx_kernel_set(arena, kernel, settings, diag) ? kernel : NULL;
}

bool ptx_kernel_set(struct arena *arena, struct ast_kernel *kernel, const char *settings,
                    struct diag *diag)
{
    struct ptx_settings s = {.arena = arena, .diag = diag, .kernel = kernel};
    uint32_t errors = diag->count;
    ptx_settings_read(&s, settings, strlen(settings), (struct location){0, 0});
    return diag->count == errors && ptx_kernel_build(&s);
}

/* ---- measures ---- */

static uint32_t count_instructions(const struct ptx_statement *stm)
{
    uint32_t count = 0;
    for (; stm; stm = stm->next)
        count += stm->kind == PTX_BLOCK ? count_instructions(stm->u.block)
                                        : stm->kind == PTX_INSTRUCTION;
    return count;
}

uint32_t ptx_kernel_size(const struct ast_kernel *kernel)
{
    uint32_t count = 0;
    for (const struct ptx_item *item = kernel->ptx->module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION)
            count += count_instructions(item->u.function->body);
    return count;
}

static bool is_of_warp(const struct ptx_instruction *i)
{
    switch ((int)ptx_forms[i->form].opcode) {
    case PTX_OP_VOTE:
    case PTX_OP_MATCH:
    case PTX_OP_SHFL:
    case PTX_OP_REDUX:
    case PTX_OP_ELECT:
    case PTX_OP_ACTIVEMASK:
        return true;
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
    case PTX_OP_MOVMATRIX:
    case PTX_OP_MMA:
    case PTX_OP_WMMA:
        return true;
    default:
        return i->form == PTX_FORM_BAR_WARP;
    }
}

static bool any_of_warp(const struct ptx_statement *stm)
{
    for (; stm; stm = stm->next)
        if ((stm->kind == PTX_BLOCK && any_of_warp(stm->u.block)) ||
            (stm->kind == PTX_INSTRUCTION && is_of_warp(&stm->u.instruction)))
            return true;
    return false;
}

bool ptx_kernel_has_meetings(const struct ast_kernel *kernel)
{
    for (const struct ptx_item *item = kernel->ptx->module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION && any_of_warp(item->u.function->body))
            return true;
    return false;
}
