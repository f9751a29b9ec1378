/*
 * emit.c - kernels as texts: where variables are, what functions are given, what stands before and behind the body.
 */
#include "engine/emit/emit_internal.h"

#include "engine/language/walk.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { INDENT_WIDTH = 4, INDENT_MAX = 20, REASON_MAX = 256 };

void emit_refuse(struct emitter *e, const char *format, ...)
{
    char text[REASON_MAX];
    va_list args;
    if (e->reason)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    e->reason = arena_strndup(e->arena, text, strlen(text));
}

void emit_line(struct emitter *e)
{
    uint32_t levels = e->indent < INDENT_MAX ? e->indent : INDENT_MAX;
    text_format(e->out, "\n%*s", (int)(levels * INDENT_WIDTH), "");
}

bool emit_find_language(const char *name, enum emit_language *language)
{
    for (uint32_t i = 0; i < EMIT_LANGUAGE_COUNT; i++)
        if (strcmp(emit_language_names[i], name) == 0) {
            *language = (enum emit_language)i;
            return true;
        }
    return false;
}

/* Whether a line of a prelude is needed: all but definitions of what the rest does not name, and what makes words of
 * it known. */
static bool is_needed(struct arena *arena, const char *line, const char *body)
{
    static const struct {
        const char *begin, *word;
    } rows[] = {{"#extension GL_EXT_shader_explicit_arithmetic_types_int64", "int64_t"},
                {"#extension GL_KHR_memory_scope_semantics", "gl_Scope"},
                {"#extension GL_KHR_shader_subgroup", "subgroup"},
                {"enable subgroups", "subgroup"},
                {"diagnostic(", "subgroup"},
                {"typedef unsigned char", "uchar"},
                {"typedef unsigned short", "ushort"},
                {"static __device__ uint sf_lane", "sf_lane"}};
    static const char define[] = "#define ";
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strncmp(line, rows[i].begin, strlen(rows[i].begin)) == 0)
            return strstr(body, rows[i].word);
    if (strncmp(line, define, strlen(define)) != 0)
        return true;
    const char *name = line + strlen(define);
    return strstr(body, arena_strndup(arena, name, strcspn(name, "( ")));
}

static void put_prelude(struct text *text, const char *prelude, const char *body)
{
    while (*prelude) {
        size_t length = strcspn(prelude, "\n") + 1;
        if (is_needed(text->arena, prelude, body))
            text_put_bytes(text, prelude, length);
        prelude += length;
    }
}

char *emit_text(struct arena *arena, enum emit_language language, const char *kernels)
{
    struct text text = text_begin(arena), body = text_begin(arena);
    const struct emit_dialect *d = &emit_dialects[language];
    for (uint32_t i = 0; d->helpers && i < EMIT_HELPERS && d->helpers[i].name; i++)
        if (strstr(kernels, d->helpers[i].name))
            text_format(&body, "%s%s", d->function_head, d->helpers[i].text);
    text_put(&body, d->helpers ? "\n" : "");
    text_put(&body, kernels);
    put_prelude(&text, d->prelude, body.bytes);
    text_put(&text, body.bytes);
    return text.bytes;
}

/* ---- names ---- */

/* Each of the two: what is known of one, behind a condition, says nothing of the other. */
static const enum emit_knob opaque_knobs[EMIT_ZEROS] = {EMIT_KNOB_OPAQUE_CONDITIONS,
                                                        EMIT_KNOB_OPAQUE_SWITCHES};
static const char *const zero_names[EMIT_ZEROS] = {"sf_zero", "sf_nought"};

void emit_zero(struct emitter *e, enum emit_zero which)
{
    if (e->dialect->has_pointers)
        text_put(e->out, zero_names[which]);
    else
        text_put(e->out, emit_loaded(e, e->atomic_memory,
                                     arena_printf(e->arena, "%s[%u]", emit_memory(e),
                                                  (unsigned)emit_zero_word(e) + which)));
}

const char *emit_loaded(const struct emitter *e, bool is_atomic, const char *place)
{
    return is_atomic ? arena_printf(e->arena, "atomicLoad(&%s)", place) : place;
}

static const char *stored(const struct emitter *e, bool is_atomic, const char *place,
                          const char *value)
{
    return arena_printf(e->arena, is_atomic ? "atomicStore(&%s, %s);" : "%s = %s;", place, value);
}

const char *emit_base(struct emitter *e, const struct ast_var *var)
{
    const struct emit_dialect *d = e->dialect;
    bool is_memory =
        var->space == SPACE_GLOBAL || (var->space == SPACE_SHARED && !emit_lies_in_shared(e, var));
    if (d->has_pointers || !is_memory || emit_place_of(e, var)->is_table)
        return NULL;
    unsigned offset = emit_place_of(e, var)->offset;
    if (var->space == SPACE_GLOBAL)
        return arena_printf(e->arena, "%u", offset);
    return arena_printf(e->arena, "%u + %s(%s) * %u", e->global_words + offset, d->casts[TYPE_INT],
                        d->block, (unsigned)e->shared_words);
}

enum emit_type emit_type_of(const struct emitter *e, const struct ast_var *var)
{
    static const enum emit_type mixed[] = {TYPE_INT, TYPE_LONG, TYPE_UINT, TYPE_ULONG};
    if (var->space == SPACE_GLOBAL || var->space == SPACE_SHARED || var->is_parameter)
        return TYPE_INT;
    if (emit_has(e, EMIT_KNOB_MIXED)) {
        uint32_t hash = 0;
        for (const char *c = var->name; *c; c++)
            hash = hash * 31 + (uint32_t)(unsigned char)*c;
        enum emit_type type = mixed[hash % 4];
        bool wide =
            e->dialect->has_long || (emit_has(e, EMIT_KNOB_WIDE) && e->dialect->types[TYPE_LONG]);
        return wide || type == TYPE_INT ? type : type == TYPE_LONG ? TYPE_INT : TYPE_UINT;
    }
    return emit_has(e, EMIT_KNOB_UNSIGNED) ? TYPE_UINT : TYPE_INT;
}

bool emit_context(struct emitter *e, bool declared)
{
    bool some = false;
    if (e->dialect->is_wgsl) {
        const char *type = declared ? ": u32" : "";
        text_format(e->out, "sf_tid%s, sf_bid%s, sf_blocks%s", type, type, type);
        if (emit_has(e, EMIT_KNOB_VOTES))
            text_format(e->out, ", sf_lane%s", type);
        return true;
    }
    if (!e->dialect->has_pointers)
        return false;
    if (e->has_members) {
        text_format(e->out, declared ? "struct k%u_private *p" : "p", (unsigned)e->number);
        some = true;
    }
    for (uint32_t z = 0; z < EMIT_ZEROS; z++) {
        if (!emit_has(e, opaque_knobs[z]))
            continue;
        text_format(e->out, "%s%s%s", some ? ", " : "", declared ? "int " : "", zero_names[z]);
        some = true;
    }
    for (uint32_t i = 0; i < e->place_count; i++) {
        const struct emit_place *place = &e->places[i];
        if (!place->carried || place->is_table || place->var->space == SPACE_PRIVATE)
            continue;
        text_put(e->out, some ? ", " : "");
        emit_pointer(e, place, declared);
        some = true;
    }
    return some;
}

/* ---- variables ---- */

static int32_t first_value(const struct ast_var *var, uint32_t element)
{
    return element < var->init_count ? var->init[element] : 0;
}

/* var[element] = */
static void put_element(struct emitter *e, const struct ast_var *var, uint32_t element)
{
    emit_line(e);
    emit_var(e, var);
    if (var->is_array)
        text_format(e->out, "[%u]", (unsigned)element);
    text_format(e->out, " = %s(", e->dialect->casts[emit_type_of(e, var)]);
}

static const char *drawn_value(const struct emitter *e, const struct ast_var *var, uint32_t element)
{
    unsigned first = emit_result_words(e) + emit_place_of(e, var)->offset + element;
    return emit_loaded(e, e->atomic_memory,
                       arena_printf(e->arena, "%s[%uu + sf_grid * %uu]", emit_memory(e), first,
                                    (unsigned)e->drawn_words));
}

/* Drawn values come from the buffer, element by element; others are numbers. */
static void put_initial(struct emitter *e, const struct ast_var *var)
{
    for (uint32_t i = 0; i < var->length; i++) {
        put_element(e, var, i);
        if (emit_is_file_level(var) && emit_has_drawn_values(var))
            text_put(e->out, drawn_value(e, var, i));
        else
            emit_number(e, first_value(var, i));
        text_put(e->out, ");");
    }
}

/* ---- functions ---- */

static void put_locals(struct emitter *e, const struct ast_function *f)
{
    for (const struct ast_var *var = f->locals; var; var = var->next)
        if (!var->is_parameter) {
            emit_line(e);
            emit_local(e, var);
            text_put(e->out, ";");
        }
    for (const struct ast_var *var = f->locals; var && e->dialect->is_wgsl; var = var->next)
        if (var->is_parameter) {
            emit_line(e);
            text_format(e->out, "var l_%s = a_%s;", var->name, var->name);
        }
    for (const struct ast_var *var = f->locals; var; var = var->next)
        if (!var->is_parameter)
            put_initial(e, var);
}

static void put_parameters(struct emitter *e, const struct ast_function *f, bool some)
{
    for (const struct ast_var *var = f->locals; var; var = var->next)
        if (var->is_parameter) {
            text_put(e->out, some ? ", " : "");
            emit_parameter(e, var);
            some = true;
        }
    text_put(e->out, some || e->dialect->is_wgsl ? ")" : "void)");
}

static void put_signature(struct emitter *e, const struct ast_function *f)
{
    const struct emit_dialect *d = e->dialect;
    const char *result = d->is_wgsl ? "fn" : f->returns_int ? "int" : "void";
    text_put(e->out, emit_has(e, EMIT_KNOB_NOINLINE) ? d->noinline_head
                     : emit_has(e, EMIT_KNOB_INLINE) ? d->inline_head
                                                     : d->function_head);
    text_format(e->out, "%s k%u_%s(", result, (unsigned)e->number,
                f == e->kernel->main ? "body_of_kernel" : f->name);
    put_parameters(e, f, emit_context(e, true));
    if (d->is_wgsl && f->returns_int)
        text_put(e->out, " -> i32");
}

static void put_statements(struct emitter *e, const struct ast_function *f)
{
    if (e->kernel->form == FORM_BLOCKS)
        emit_block_list(e, f->blocks);
    else
        emit_statements(e, f->body);
}

static void put_function(struct emitter *e, const struct ast_function *f)
{
    e->function = f;
    put_signature(e, f);
    text_put(e->out, "\n{");
    e->indent = 1;
    put_locals(e, f);
    put_statements(e, f);
    if (f->returns_int) {
        emit_line(e);
        text_put(e->out, "return 0;");
    }
    text_put(e->out, "\n}\n\n");
}

static void put_functions(struct emitter *e)
{
    e->is_body = false;
    for (const struct ast_function *f = e->kernel->functions; f && !e->dialect->is_wgsl;
         f = f->next) {
        put_signature(e, f);
        text_put(e->out, ";\n");
    }
    for (const struct ast_function *f = e->kernel->functions; f; f = f->next)
        put_function(e, f);
    e->is_body = true;
    if (emit_has(e, EMIT_KNOB_OUTLINED))
        put_function(e, e->kernel->main);
}

/* ---- the kernel ---- */

static void put_line(struct emitter *e, const char *text)
{
    emit_line(e);
    text_put(e->out, text);
}

/* Shared memory comes from the buffer, and goes back. */
static void put_shared_copies(struct emitter *e, bool in)
{
    const struct emit_dialect *d = e->dialect;
    for (uint32_t i = 0; i < e->place_count; i++) {
        const struct emit_place *place = &e->places[i];
        if (!emit_lies_in_shared(e, place->var))
            continue;
        emit_line(e);
        text_format(e->out,
                    d->is_wgsl ? "for (var i = %s; i < %uu; i += %uu) { "
                               : "for (uint i = %s; i < %uu; i += %uu) ",
                    d->thread_uint, (unsigned)place->var->length,
                    (unsigned)e->kernel->launch.threads);
        struct text name = text_begin(e->arena), *out = e->out;
        e->out = &name;
        emit_var(e, place->var);
        e->out = out;
        text_put(&name, "[i]");
        unsigned base = e->global_words + place->offset, stride = e->shared_words;
        const char *at = e->kernel->launch.blocks == 1
                             ? arena_printf(e->arena, "%s[%uu + i]", emit_memory(e), base)
                             : arena_printf(e->arena, "%s[%uu + %s * %uu + i]", emit_memory(e),
                                            base, d->block_uint, stride);
        bool is_atomic = emit_is_atomic(e, place->var);
        const char *to = in ? name.bytes : at, *from = in ? at : name.bytes;
        text_put(e->out, stored(e, in ? is_atomic : e->atomic_memory, to,
                                emit_loaded(e, in ? e->atomic_memory : is_atomic, from)));
        text_put(e->out, d->is_wgsl ? " }" : "");
    }
}

static void put_barrier(struct emitter *e)
{
    emit_line(e);
    text_format(e->out, "%s;", e->dialect->barrier);
}

static void put_private(struct emitter *e)
{
    if (e->has_members && e->dialect->has_pointers) {
        emit_line(e);
        text_format(e->out, "struct k%u_private self, *p = &self;", (unsigned)e->number);
    }
    for (uint32_t i = 0; i < e->place_count; i++) {
        const struct emit_place *place = &e->places[i];
        if (place->var->space != SPACE_PRIVATE || emit_is_struct_member(e, place) ||
            emit_is_of_file(e, place))
            continue;
        emit_line(e);
        emit_local(e, place->var);
        text_put(e->out, ";");
    }
    if (e->has_members)
        put_line(e, arena_printf(e->arena, "%s = 0;", emit_ended(e)));
    if (e->drawn_words) {
        emit_line(e);
        text_format(e->out, "%s sf_grid = %s * %uu + %s;",
                    e->dialect->is_wgsl ? "let" : "const uint", e->dialect->block_uint,
                    (unsigned)e->kernel->launch.threads, e->dialect->thread_uint);
    }
    for (uint32_t i = 0; i < e->place_count; i++)
        if (e->places[i].var->space == SPACE_PRIVATE)
            put_initial(e, e->places[i].var);
}

static void put_body(struct emitter *e)
{
    if (emit_has(e, EMIT_KNOB_OUTLINED)) {
        emit_line(e);
        text_format(e->out, "k%u_body_of_kernel(", (unsigned)e->number);
        (void)emit_context(e, false);
        text_put(e->out, ");");
        return;
    }
    e->function = e->kernel->main;
    put_line(e, "{");
    e->indent++;
    put_locals(e, e->kernel->main);
    put_statements(e, e->kernel->main);
    e->indent--;
    put_line(e, "}");
    if (e->dialect->has_pointers)
        put_line(e, arena_printf(e->arena, "k%u_end:;", (unsigned)e->number));
}

/* What threads are told of themselves goes from function to function as numbers: what is uniform of it stays so. */
static void put_entry(struct emitter *e)
{
    bool votes = emit_has(e, EMIT_KNOB_VOTES);
    text_format(e->out,
                "fn k%u(@builtin(local_invocation_id) sf_local: vec3<u32>, "
                "@builtin(workgroup_id) sf_group: vec3<u32>, "
                "@builtin(num_workgroups) sf_groups: vec3<u32>%s)\n{",
                (unsigned)e->number,
                votes ? ", @builtin(subgroup_invocation_id) sf_lane: u32" : "");
    e->indent = 1;
    put_line(e, "let sf_tid = sf_local.x;");
    put_line(e, "let sf_bid = sf_group.x;");
    put_line(e, "let sf_blocks = sf_groups.x;");
}

/* What the lazy choices between two values hold (emit_expr.c). */
static void put_choices(struct emitter *e)
{
    for (uint32_t i = 0; i < e->choices; i++)
        text_format(e->out, "var<private> k%u_t%u: i32;\n", (unsigned)e->number, (unsigned)i);
}

static void put_kernel(struct emitter *e)
{
    const struct emit_dialect *d = e->dialect;
    if (d->has_pointers) {
        emit_kernel_head(e);
        text_format(e->out, "k%u(%sint *mem)\n{", (unsigned)e->number, d->global);
    } else if (d->is_wgsl) {
        emit_kernel_head(e);
        put_entry(e);
    } else {
        text_put(e->out, "void main()\n{");
    }
    e->indent = 1;
    emit_memory_pointers(e);
    for (uint32_t z = 0; z < EMIT_ZEROS && d->has_pointers; z++) {
        if (!emit_has(e, opaque_knobs[z]))
            continue;
        emit_line(e);
        text_format(e->out, "const int %s = mem[%u];", zero_names[z],
                    (unsigned)emit_zero_word(e) + z);
    }
    put_private(e);
    if (emit_has_shared(e)) {
        put_shared_copies(e, true);
        put_barrier(e);
    }
    put_body(e);
    if (emit_has_shared(e)) {
        put_barrier(e);
        put_shared_copies(e, false);
    }
    text_put(e->out, d->has_pointers || d->is_wgsl ? "\n}\n" : "\n}\n#endif\n");
    put_choices(e);
}

/* ---- all of it ---- */

/* Without goto nothing may follow the body that an early end could skip. */
static void outline_body(struct emitter *e)
{
    for (const struct ast_var *var = e->kernel->vars; var; var = var->next)
        if (!e->dialect->has_pointers && emit_lies_in_shared(e, var))
            e->knobs |= EMIT_KNOB(OUTLINED);
}

static bool is_barrier(void *context, const struct ast_stm *stm)
{
    (void)context;
    return stm->kind == STM_BARRIER;
}

static bool has_barrier_inside(void *context, const struct ast_stm *stm)
{
    const struct ast_question barrier = {.statement = is_barrier};
    struct ast_stm alone = *stm;
    (void)context;
    alone.next = NULL;
    return ast_is(stm, STM_LOOP | STM_BRANCH) && ast_ask_stms(&barrier, &alone);
}

/* Where a barrier stands in a branch or loop, conditions must be seen to be the same in all threads: what comes from
 * memory or from votes is not. */
static void calm_barriers(struct emitter *e)
{
    const struct ast_question inside = {.statement = has_barrier_inside},
                              barrier = {.statement = is_barrier};
    bool has = ast_ask_stms(&inside, e->kernel->main->body);
    for (const struct ast_function *f = e->kernel->functions; f; f = f->next)
        has |= ast_ask_function(&barrier, f);
    if (has)
        e->knobs &= ~(EMIT_KNOB(OPAQUE_CONDITIONS) | EMIT_KNOB(OPAQUE_SWITCHES) | EMIT_KNOB(VOTES) |
                      EMIT_KNOB(STRUCT));
}

static bool refuse_form(struct emitter *e)
{
    const struct ast_block *waits =
        e->dialect->has_pointers ? NULL : emit_block_with_barrier(e->kernel);
    bool blocks = e->kernel->form == FORM_BLOCKS;
    if (e->kernel->form != FORM_STRUCTURED && !blocks)
        emit_refuse(e, "%s is made of structured kernels and of blocks only", e->dialect->name);
    if (blocks && e->kernel->functions)
        emit_refuse(e, "%s has no procedures of the block form: '%s' at line %u", e->dialect->name,
                    e->kernel->functions->name, (unsigned)e->kernel->functions->at.line);
    if (waits)
        emit_refuse(e, "%s has no barrier in a block, at line %u", e->dialect->name,
                    (unsigned)waits->at.line);
    return e->reason != NULL;
}

bool emit_kernel(struct text *text, struct ast_kernel *kernel, enum emit_language language,
                 uint32_t knobs, uint32_t number, struct emitted *emitted, const char **reason)
{
    if (language == EMIT_PTX)
        return emit_ptx_kernel(text, kernel, knobs, number, emitted, reason);
    if (language == EMIT_BLOCKS)
        return emit_blocks_kernel(text, kernel, number, emitted, reason);
    const struct text before = *text;
    struct text own = text_begin(text->arena);
    struct emitter e = {.out = &own,
                        .arena = text->arena,
                        .kernel = kernel,
                        .dialect = &emit_dialects[language],
                        .knobs = knobs,
                        .number = number};
    if (!refuse_form(&e)) {
        emit_find_blocks(&e);
        if (!e.dialect->has_recursion)
            emit_refuse_recursion(&e);
        outline_body(&e);
        emit_number_variables(&e);
        emit_find_usage(&e);
        emit_place_variables(&e);
        if (e.dialect->is_wgsl)
            calm_barriers(&e);
        e.initial = emit_initial_words(&e);
        *emitted = (struct emitted){.entry = arena_printf(e.arena, "k%u", (unsigned)number),
                                    .threads = kernel->launch.threads,
                                    .blocks = kernel->launch.blocks,
                                    .words = emit_zero_word(&e) + EMIT_ZEROS,
                                    .result_words = emit_result_words(&e),
                                    .initial = e.initial};
        if (!e.dialect->has_pointers)
            emit_file_head(&e);
        emit_struct(&e);
        emit_tables(&e);
        put_functions(&e);
        put_kernel(&e);
    }
    *reason = e.reason;
    *text = before;
    if (!e.reason)
        text_put_bytes(text, own.bytes, own.length);
    return !e.reason;
}
