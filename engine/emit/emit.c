/*
 * emit.c - kernels as texts: where variables are, what functions are given, what stands before and behind the body.
 */
#include "engine/emit/emit_internal.h"

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

/* Whether a line of a prelude is needed: all but definitions of what the rest does not name, and what makes its subgroup
 * operations or long integers known. */
static bool is_needed(struct arena *arena, const char *line, const char *body)
{
    static const char define[] = "#define ", subgroup[] = "#extension GL_KHR_shader_subgroup",
                      wide[] = "#extension GL_EXT_shader_explicit_arithmetic_types_int64";
    if (strncmp(line, wide, strlen(wide)) == 0)
        return strstr(body, "int64_t");
    if (strncmp(line, subgroup, strlen(subgroup)) == 0)
        return strstr(body, "subgroup");
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
    for (uint32_t i = 0; d->helpers && i < EMIT_HELPERS; i++)
        if (strstr(kernels, d->helpers[i].name))
            text_format(&body, "%s%s", d->function_head, d->helpers[i].text);
    text_put(&body, d->helpers ? "\n" : "");
    text_put(&body, kernels);
    put_prelude(&text, d->prelude, body.bytes);
    text_put(&text, body.bytes);
    return text.bytes;
}

/* ---- names ---- */

/* Before a member of the struct that functions reach. */
static const char *self(const struct emitter *e)
{
    return e->dialect->has_pointers ? "p->" : arena_printf(e->arena, "k%u_p.", (unsigned)e->number);
}

const char *emit_ended(const struct emitter *e)
{
    return arena_printf(e->arena, "%sended", self(e));
}

void emit_zero(struct emitter *e)
{
    if (e->dialect->has_pointers)
        text_put(e->out, "sf_zero");
    else
        text_format(e->out, "mem[%u]", (unsigned)emit_zero_word(e));
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

void emit_var(struct emitter *e, const struct ast_var *var)
{
    if (!emit_is_file_level(var)) {
        text_format(e->out, "l_%s", var->name);
        return;
    }
    const struct emit_place *place = emit_place_of(e, var);
    if (place->is_table)
        text_format(e->out, "k%u_c_%s", (unsigned)e->number, var->name);
    else if (emit_is_struct_member(e, place))
        text_format(e->out, "%sv_%s", self(e), var->name);
    else
        text_format(e->out, "v_%s", var->name);
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
        bool wide = e->dialect->has_long || emit_has(e, EMIT_KNOB_WIDE);
        return wide || type == TYPE_INT ? type : type == TYPE_LONG ? TYPE_INT : TYPE_UINT;
    }
    return emit_has(e, EMIT_KNOB_UNSIGNED) ? TYPE_UINT : TYPE_INT;
}

/* A pointer that functions get: its declaration, or its name. */
static void put_pointer(struct emitter *e, const struct emit_place *place, bool declared)
{
    if (declared)
        text_format(e->out, "%sint *",
                    emit_lies_in_shared(e, place->var) ? e->dialect->shared : e->dialect->global);
    text_format(e->out, "v_%s", place->var->name);
}

static bool is_opaque(const struct emitter *e)
{
    return emit_has(e, EMIT_KNOB_OPAQUE_CONDITIONS) || emit_has(e, EMIT_KNOB_OPAQUE_SWITCHES);
}

bool emit_context(struct emitter *e, bool declared)
{
    bool some = false;
    if (!e->dialect->has_pointers)
        return false;
    if (e->has_members) {
        text_format(e->out, declared ? "struct k%u_private *p" : "p", (unsigned)e->number);
        some = true;
    }
    if (is_opaque(e)) {
        text_format(e->out, "%s%ssf_zero", some ? ", " : "", declared ? "int " : "");
        some = true;
    }
    for (uint32_t i = 0; i < e->place_count; i++) {
        const struct emit_place *place = &e->places[i];
        if (!place->carried || place->is_table || place->var->space == SPACE_PRIVATE)
            continue;
        text_put(e->out, some ? ", " : "");
        put_pointer(e, place, declared);
        some = true;
    }
    return some;
}

/* ---- variables ---- */

static void put_declaration(struct emitter *e, const struct ast_var *var, const char *prefix)
{
    text_format(e->out, "%s %s%s", e->dialect->types[emit_type_of(e, var)], prefix, var->name);
    if (var->is_array)
        text_format(e->out, "[%u]", (unsigned)var->length);
}

static void put_number(struct emitter *e, int32_t value)
{
    if (value == INT32_MIN)
        text_put(e->out, "(-2147483647 - 1)");
    else
        text_format(e->out, "%d", (int)value);
}

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

/* A private variable that functions reach by its name. */
static bool is_of_file(const struct emitter *e, const struct emit_place *place)
{
    return !e->dialect->has_pointers && place->var->space == SPACE_PRIVATE && place->carried &&
           !emit_is_struct_member(e, place);
}

/* Drawn values come from the buffer, element by element; others are numbers. */
static void put_initial(struct emitter *e, const struct ast_var *var)
{
    for (uint32_t i = 0; i < var->length; i++) {
        put_element(e, var, i);
        if (emit_is_file_level(var) && emit_has_drawn_values(var))
            text_format(e->out, "mem[%uu + sf_grid * %uu]",
                        (unsigned)(emit_result_words(e) + emit_place_of(e, var)->offset + i),
                        (unsigned)e->drawn_words);
        else
            put_number(e, first_value(var, i));
        text_put(e->out, ");");
    }
}

/* ---- functions ---- */

static void put_locals(struct emitter *e, const struct ast_function *f)
{
    for (const struct ast_var *var = f->locals; var; var = var->next)
        if (!var->is_parameter) {
            emit_line(e);
            put_declaration(e, var, "l_");
            text_put(e->out, ";");
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
            put_declaration(e, var, "l_");
            some = true;
        }
    text_put(e->out, some ? ")" : "void)");
}

static void put_signature(struct emitter *e, const struct ast_function *f)
{
    const struct emit_dialect *d = e->dialect;
    text_put(e->out, emit_has(e, EMIT_KNOB_NOINLINE) ? d->noinline_head : d->function_head);
    text_format(e->out, "%s k%u_%s(", f->returns_int ? "int" : "void", (unsigned)e->number,
                f == e->kernel->main ? "body_of_kernel" : f->name);
    put_parameters(e, f, emit_context(e, true));
}

static void put_function(struct emitter *e, const struct ast_function *f)
{
    e->function = f;
    put_signature(e, f);
    text_put(e->out, "\n{");
    e->indent = 1;
    put_locals(e, f);
    emit_statements(e, f->body);
    if (f->returns_int) {
        emit_line(e);
        text_put(e->out, "return 0;");
    }
    text_put(e->out, "\n}\n\n");
}

static void put_functions(struct emitter *e)
{
    e->is_body = false;
    for (const struct ast_function *f = e->kernel->functions; f; f = f->next) {
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

static void put_struct(struct emitter *e)
{
    if (!e->has_members)
        return;
    const unsigned number = e->number;
    text_format(e->out, "struct k%u_private {\n    int ended;\n", number);
    for (uint32_t i = 0; i < e->place_count; i++)
        if (emit_is_struct_member(e, &e->places[i])) {
            text_put(e->out, "    ");
            put_declaration(e, e->places[i].var, "v_");
            text_put(e->out, ";\n");
        }
    text_put(e->out, e->dialect->has_pointers
                         ? "};\n\n"
                         : arena_printf(e->arena, "};\nk%u_private k%u_p;\n", number, number));
}

static void put_tables(struct emitter *e, const int32_t *initial)
{
    for (uint32_t i = 0; i < e->place_count; i++) {
        const struct emit_place *place = &e->places[i];
        if (!place->is_table)
            continue;
        unsigned length = place->var->length;
        bool braces = e->dialect->has_pointers;
        text_format(e->out, "%sint k%u_c_%s[%u] = ", e->dialect->table, (unsigned)e->number,
                    place->var->name, length);
        text_put(e->out, braces ? "{" : arena_printf(e->arena, "int[%u](", length));
        for (uint32_t w = 0; w < place->var->length; w++) {
            text_put(e->out, w ? ", " : "");
            put_number(e, initial[place->offset + w]);
        }
        text_put(e->out, braces ? "};\n" : ");\n");
    }
}

static void put_line(struct emitter *e, const char *text)
{
    emit_line(e);
    text_put(e->out, text);
}

static void put_memory_pointers(struct emitter *e)
{
    for (uint32_t i = 0; i < e->place_count; i++) {
        const struct emit_place *place = &e->places[i];
        const struct ast_var *var = place->var;
        if (var->space == SPACE_PRIVATE || place->is_table || !e->dialect->has_pointers)
            continue;
        emit_line(e);
        if (emit_lies_in_shared(e, var)) {
            text_format(e->out, "%sint v_%s[%u];", e->dialect->shared_variable, var->name,
                        (unsigned)var->length);
            continue;
        }
        put_pointer(e, place, true);
        if (var->space == SPACE_GLOBAL)
            text_format(e->out, " = mem + %u;", (unsigned)place->offset);
        else
            text_format(e->out, " = mem + %uu + %s * %uu;",
                        (unsigned)(e->global_words + place->offset), e->dialect->block_uint,
                        (unsigned)e->shared_words);
    }
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
        text_format(e->out, "for (uint i = %s; i < %uu; i += %uu) ", d->thread_uint,
                    (unsigned)place->var->length, (unsigned)e->kernel->launch.threads);
        const char *name = place->var->name;
        unsigned base = e->global_words + place->offset, stride = e->shared_words;
        const char *at =
            e->kernel->launch.blocks == 1
                ? arena_printf(e->arena, "mem[%uu + i]", base)
                : arena_printf(e->arena, "mem[%uu + %s * %uu + i]", base, d->block_uint, stride);
        if (in)
            text_format(e->out, "v_%s[i] = %s;", name, at);
        else
            text_format(e->out, "%s = v_%s[i];", at, name);
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
            is_of_file(e, place))
            continue;
        emit_line(e);
        put_declaration(e, place->var, "v_");
        text_put(e->out, ";");
    }
    if (e->has_members)
        put_line(e, arena_printf(e->arena, "%s = 0;", emit_ended(e)));
    if (e->drawn_words) {
        emit_line(e);
        text_format(e->out, "const uint sf_grid = %s * %uu + %s;", e->dialect->block_uint,
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
    emit_statements(e, e->kernel->main->body);
    e->indent--;
    put_line(e, "}");
    if (e->dialect->has_pointers)
        put_line(e, arena_printf(e->arena, "k%u_end:;", (unsigned)e->number));
}

/* What stands before the kernel's name, or its layout. */
static void put_kernel_head(struct emitter *e)
{
    const struct emit_dialect *d = e->dialect;
    if (emit_has(e, EMIT_KNOB_FIXED_SIZE)) {
        const char *number = strstr(d->fixed_size, "%u");
        text_format(e->out, "%.*s%u%s", (int)(number - d->fixed_size), d->fixed_size,
                    (unsigned)e->kernel->launch.threads, number + 2);
    } else {
        text_put(e->out, d->kernel_head);
    }
}

/* Where functions have no pointers: layout, memory and what they share are of the file. Memory is coherent only if threads see what
 * others wrote: otherwise loads may be moved and kept. */
static void put_file_head(struct emitter *e)
{
    const bool coherent = e->talks || (e->shared_words && !emit_has_shared(e));
    text_format(e->out, "#if SF_KERNEL == %u\n", (unsigned)e->number);
    put_kernel_head(e);
    text_format(e->out, "\nlayout(set = 0, binding = 0, std430) %sbuffer Memory { int mem[]; };\n",
                coherent ? "coherent " : "");
    for (uint32_t i = 0; i < e->place_count; i++) {
        const struct ast_var *var = e->places[i].var;
        if (emit_lies_in_shared(e, var))
            text_format(e->out, "%sint v_%s[%u];\n", e->dialect->shared_variable, var->name,
                        (unsigned)var->length);
        else if (is_of_file(e, &e->places[i])) {
            put_declaration(e, var, "v_");
            text_put(e->out, ";\n");
        }
    }
}

static void put_kernel(struct emitter *e)
{
    const struct emit_dialect *d = e->dialect;
    if (d->has_pointers) {
        put_kernel_head(e);
        text_format(e->out, "k%u(%sint *mem)\n{", (unsigned)e->number, d->global);
    } else {
        text_put(e->out, "void main()\n{");
    }
    e->indent = 1;
    put_memory_pointers(e);
    if (is_opaque(e) && d->has_pointers) {
        emit_line(e);
        text_format(e->out, "const int sf_zero = mem[%u];", (unsigned)emit_zero_word(e));
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
    text_put(e->out, d->has_pointers ? "\n}\n" : "\n}\n#endif\n");
}

/* ---- all of it ---- */

/* Without goto nothing may follow the body that an early end could skip. */
static void outline_body(struct emitter *e)
{
    for (const struct ast_var *var = e->kernel->vars; var; var = var->next)
        if (!e->dialect->has_pointers && emit_lies_in_shared(e, var))
            e->knobs |= EMIT_KNOB(OUTLINED);
}

static bool refuse_form(struct emitter *e)
{
    if (e->kernel->form != FORM_STRUCTURED)
        emit_refuse(e, "%s is made of structured kernels only", e->dialect->name);
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
        if (!e.dialect->has_recursion)
            emit_refuse_recursion(&e);
        outline_body(&e);
        emit_number_variables(&e);
        emit_find_usage(&e);
        emit_place_variables(&e);
        const int32_t *initial = emit_initial_words(&e);
        *emitted = (struct emitted){.entry = arena_printf(e.arena, "k%u", (unsigned)number),
                                    .threads = kernel->launch.threads,
                                    .blocks = kernel->launch.blocks,
                                    .words = emit_zero_word(&e) + 1,
                                    .result_words = emit_result_words(&e),
                                    .initial = initial};
        if (!e.dialect->has_pointers)
            put_file_head(&e);
        put_struct(&e);
        put_tables(&e, initial);
        put_functions(&e);
        put_kernel(&e);
    }
    *reason = e.reason;
    *text = before;
    if (!e.reason)
        text_put_bytes(text, own.bytes, own.length);
    return !e.reason;
}
