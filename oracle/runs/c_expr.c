/*
 * c_expr.c - expressions of C: conversions, operators, and what OpenCL, CUDA, GLSL and WGSL have beside them.
 */
#include "oracle/runs/c_internal.h"

#include "oracle/drawn/drawn.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_FIRST = 64 };

static struct c_value of_int(int64_t value)
{
    return (struct c_value){.type = C_INT, .i = value};
}

/* What a comparison is. */
static struct c_value of_truth(const struct c_run *c, bool value)
{
    return (struct c_value){.type = c->launch->is_glsl || c->launch->is_wgsl ? C_BOOL : C_INT,
                            .i = value};
}

/* No number is one in GLSL and WGSL. */
static bool is_true(struct c_run *c, struct c_value value)
{
    if ((c->launch->is_glsl || c->launch->is_wgsl) && value.type != C_BOOL && c->dead == 0)
        c_fail(c, "a number where a truth value is wanted");
    return value.i != 0;
}

bool c_truth(struct c_run *c)
{
    return is_true(c, c_expression(c));
}

static bool is_float_outside(float f, enum c_type type)
{
    float most = type == C_UINT    ? 4294967296.0f
                 : type == C_ULONG ? 18446744073709551616.0f
                 : type == C_LONG  ? 9223372036854775808.0f
                                   : 2147483648.0f;
    float least = type == C_UINT || type == C_ULONG ? -1.0f : -most;
    return !(f < most && f > least);
}

struct c_value c_convert(struct c_run *c, struct c_value v, enum c_type type)
{
    struct c_value to = {.type = type};
    if (type == C_FLOAT) {
        to.f = v.type == C_FLOAT ? v.f : v.type == C_ULONG ? (float)(uint64_t)v.i : (float)v.i;
        return to;
    }
    if (v.type == C_FLOAT) {
        if (c->dead == 0 && is_float_outside(v.f, type))
            c_fail(c, "a number of a float that its type does not have");
        else if (c->dead == 0)
            v.i = type == C_ULONG ? (int64_t)(uint64_t)v.f : (int64_t)v.f;
    }
    switch (type) {
    case C_INT:
        to.i = (int32_t)(uint32_t)v.i;
        break;
    case C_UINT:
        to.i = (uint32_t)v.i;
        break;
    case C_SHORT:
        to.i = (int16_t)(uint16_t)v.i;
        break;
    case C_USHORT:
        to.i = (uint16_t)v.i;
        break;
    case C_UCHAR:
        to.i = (uint8_t)v.i;
        break;
    case C_BOOL:
        to.i = v.i != 0;
        break;
    case C_LONG:
    case C_ULONG:
    case C_FLOAT:
    case C_VOID:
        to.i = v.i;
        break;
    }
    return to;
}

struct c_value c_taken_as(struct c_run *c, struct c_value v, enum c_type type)
{
    const bool mixes = (v.type == C_BOOL) != (type == C_BOOL);
    if (c->dead == 0 && v.type != type && (c->launch->is_wgsl || (c->launch->is_glsl && mixes)))
        c_fail(c, "a value of another type than its place");
    return c_convert(c, v, type);
}

static enum c_type promoted(enum c_type type)
{
    return type > C_FLOAT ? C_INT : type;
}

/* The usual arithmetic conversions: of 32-bit int and 64-bit long the order of the types is that of their ranks. */
static enum c_type common(enum c_type a, enum c_type b)
{
    a = promoted(a);
    b = promoted(b);
    return a > b ? a : b;
}

/* ---- operators ---- */

static struct c_value of_floats(struct c_run *c, enum ast_binary op, float a, float b)
{
    struct c_value v = {.type = C_FLOAT};
    switch ((int)op) {
    case BINARY_MUL:
        v.f = a * b;
        return v;
    case BINARY_ADD:
        v.f = a + b;
        return v;
    case BINARY_SUB:
        v.f = a - b;
        return v;
    case BINARY_LT:
        return of_truth(c, a < b);
    case BINARY_EQ:
        return of_truth(c, a == b);
    default:
        c_fail(c, "an operation on floats that is not known");
        return v;
    }
}

static struct c_value shift(struct c_run *c, enum ast_binary op, struct c_value a,
                            struct c_value by)
{
    const enum c_type type = promoted(a.type);
    const int64_t width = type == C_LONG || type == C_ULONG ? 64 : 32;
    if (c->dead > 0 || by.i < 0 || by.i >= width) {
        if (c->dead == 0)
            c_fail(c, "a shift by the width or more");
        return (struct c_value){.type = type};
    }
    if (op == BINARY_SHL && (type == C_INT || type == C_LONG) && a.i < 0)
        c_fail(c, "a negative number shifted left");
    uint64_t bits = op == BINARY_SHL  ? (uint64_t)a.i << by.i
                    : type == C_ULONG ? (uint64_t)a.i >> by.i
                                      : (uint64_t)(a.i >> by.i);
    return c_convert(c, (struct c_value){.type = C_LONG, .i = (int64_t)bits}, type);
}

/* Of 64 bits; overflow is told by whom it concerns. */
static int64_t quotient(enum ast_binary op, struct c_value a, struct c_value b)
{
    if (a.type == C_ULONG)
        return (int64_t)(op == BINARY_DIV ? (uint64_t)a.i / (uint64_t)b.i
                                          : (uint64_t)a.i % (uint64_t)b.i);
    return op == BINARY_DIV ? a.i / b.i : a.i % b.i;
}

static struct c_value arithmetic(struct c_run *c, enum ast_binary op, struct c_value a,
                                 struct c_value b)
{
    struct c_value v = {.type = a.type};
    bool over = false;
    if (c->dead > 0)
        return v;
    if (op == BINARY_DIV || op == BINARY_REM) {
        if (b.i == 0) {
            c_fail(c, "a division by 0");
            return v;
        }
        int64_t least = a.type == C_INT ? INT32_MIN : INT64_MIN;
        if (op == BINARY_REM && c->launch->is_glsl && (a.i < 0 || b.i < 0))
            c_fail(c, "a rest of a negative number");
        over = (a.type == C_INT || a.type == C_LONG) && b.i == -1 && a.i == least;
        v.i = !over ? quotient(op, a, b) : op == BINARY_DIV ? a.i : 0;
    } else if (op == BINARY_ADD) {
        over = __builtin_add_overflow(a.i, b.i, &v.i);
    } else if (op == BINARY_SUB) {
        over = __builtin_sub_overflow(a.i, b.i, &v.i);
    } else {
        over = __builtin_mul_overflow(a.i, b.i, &v.i);
    }
    over = a.type == C_LONG ? over : a.type == C_INT && (over || v.i != (int32_t)v.i);
    if (over && !c->launch->is_wgsl)
        c_fail(c, "a signed number that overflows");
    return c_convert(c, v, a.type);
}

static struct c_value compared(const struct c_run *c, enum ast_binary op, struct c_value a,
                               struct c_value b)
{
    bool less = a.type == C_ULONG ? (uint64_t)a.i < (uint64_t)b.i : a.i < b.i;
    bool equal = a.i == b.i;
    return of_truth(c, op == BINARY_LT   ? less
                       : op == BINARY_LE ? less || equal
                       : op == BINARY_GT ? !less && !equal
                       : op == BINARY_GE ? !less
                       : op == BINARY_EQ ? equal
                                         : !equal);
}

static struct c_value binary(struct c_run *c, enum ast_binary op, struct c_value a,
                             struct c_value b)
{
    const bool shifts = op == BINARY_SHL || op == BINARY_SHR, strict = c->launch->is_wgsl;
    if ((a.type == C_BOOL || b.type == C_BOOL) && c->dead == 0)
        c_fail(c, "a truth value where a number is wanted");
    if (strict && c->dead == 0 && (shifts ? b.type != C_UINT : a.type != b.type))
        c_fail(c, "operands of two types");
    if (shifts)
        return shift(c, op, c_convert(c, a, promoted(a.type)), b);
    enum c_type type = common(a.type, b.type);
    a = c_convert(c, a, type);
    b = c_convert(c, b, type);
    if (type == C_FLOAT)
        return of_floats(c, op, a.f, b.f);
    if (op <= BINARY_SUB)
        return arithmetic(c, op, a, b);
    if (op >= BINARY_LT && op <= BINARY_NE)
        return compared(c, op, a, b);
    return c_convert(c,
                     of_int(op == BINARY_AND   ? a.i & b.i
                            : op == BINARY_XOR ? a.i ^ b.i
                                               : a.i | b.i),
                     type);
}

/* ---- what is no operator ---- */

struct c_value *c_place(struct c_run *c, enum c_type *type)
{
    static struct c_value nowhere;
    struct c_variable *var = c_find(c);
    *type = C_INT;
    if (!var) {
        c_fail(c, arena_printf(c->arena, "a name that is not declared: %.*s", (int)c->length,
                               c->token));
        return NULL;
    }
    *type = var->object->type;
    const struct c_object *object = var->object;
    int64_t index = var->first;
    c_next(c);
    if (c_accept(c, "[")) {
        index += c_expression(c).i;
        c_expect(c, "]");
    }
    c->is_shared = object->of_block || object->of_grid;
    c->of_atomics = object->of_atomics;
    if (c->dead > 0)
        return &nowhere;
    if (index >= 0 && index < object->count)
        return &object->cells[index];
    c_fail(c, "an element outside of its array");
    return NULL;
}

void c_check_atomics(struct c_run *c, bool is_operation)
{
    if (c->launch->is_wgsl && c->dead == 0 && c->of_atomics != is_operation)
        c_fail(c, is_operation ? "an atomic operation on a plain word"
                               : "an atomic word that is read or written as a plain one");
}

/* An access to what threads share that a thread makes again: it is not made, and *v is what it read. */
static bool is_made(struct c_run *c, bool is_shared, struct c_value *v)
{
    if (!is_shared || !c->log || c->done >= c->log->count)
        return false;
    *v = c->log->read[c->done++];
    return true;
}

static void note(struct c_run *c, bool is_shared, struct c_value v)
{
    struct c_log *log = c->log;
    if (!is_shared || !log)
        return;
    if (log->count == log->most) {
        const uint32_t most = log->most ? 2 * log->most : LOG_FIRST;
        struct c_value *more = ARENA_ARRAY(c->arena, struct c_value, most);
        for (uint32_t i = 0; i < log->count; i++)
            more[i] = log->read[i];
        log->read = more;
        log->most = most;
    }
    log->read[log->count++] = v;
    c->done++;
}

void c_put(struct c_run *c, struct c_value *place, bool is_shared, struct c_value value,
           enum c_type type)
{
    struct c_value nothing = {.type = type};
    if (is_made(c, is_shared, &nothing))
        return;
    *place = c_convert(c, value, type);
    note(c, is_shared, nothing);
}

static struct c_value read_place(struct c_run *c)
{
    enum c_type type;
    const struct c_value *place = c_place(c, &type);
    struct c_value v = {.type = type};
    c_check_atomics(c, false);
    if (!place || c->dead > 0 || is_made(c, c->is_shared, &v))
        return v;
    if (place->unset)
        c_fail(c, "a variable that is not set");
    v = *place;
    v.type = type;
    note(c, c->is_shared, v);
    return v;
}

static struct c_value number(struct c_run *c)
{
    struct c_value v = {.type = C_INT};
    const bool is_float = memchr(c->token, '.', c->length) != NULL;
    if (is_float) {
        v.type = C_FLOAT;
        v.f = strtof(c->token, NULL);
    } else {
        uint64_t value = strtoull(c->token, NULL, 10);
        v.type = c->token[c->length - 1] == 'u' ? C_UINT : value > INT32_MAX ? C_LONG : C_INT;
        v.i = (int64_t)value;
        if (v.type == C_LONG && (c->launch->is_glsl || c->launch->is_wgsl))
            c_fail(c, "a number that no int holds");
    }
    c_next(c);
    return v;
}

/* The last of the atomics below. */
enum { STORED = 8, ATOMICS };

/* atomic_add(&place, value[, value]) */
static struct c_value atomic(struct c_run *c, uint32_t kind)
{
    enum c_type type;
    struct c_value v[2] = {of_int(0), of_int(0)};
    c_next(c);
    c_expect(c, "(");
    c_accept(c, "&");
    struct c_value *place = c_place(c, &type);
    const bool is_shared = c->is_shared;
    c_check_atomics(c, true);
    for (uint32_t i = 0; i < 2 && c_accept(c, ","); i++)
        v[i] = c_taken_as(c, c_expression(c), type);
    c_expect(c, ")");
    struct c_value old = of_int(0);
    if (!place || c->dead > 0 || is_made(c, is_shared, &old))
        return old;
    if (place->unset && kind != STORED)
        c_fail(c, "a variable that is not set");
    old = *place;
    const int64_t a = old.i, b = v[0].i;
    const int64_t values[] = {
        a + b, a < b ? a : b, a > b ? a : b, a & b, a | b, b, a == b ? v[1].i : a, a, b};
    *place = c_convert(c, of_int(values[kind]), type);
    note(c, is_shared, old);
    return old;
}

/* No language promises lanes that tell each other 64 bits. */
static void check_told(struct c_run *c, struct c_value v)
{
    if (c->dead == 0 && v.type != C_INT && v.type != C_UINT && v.type != C_BOOL)
        c_fail(c, "lanes that tell each other other values than words");
}

/* A lane alone: what it hears is what it says. In WGSL a ballot is four words. */
static struct c_value vote_of_subgroup(struct c_run *c)
{
    const bool truth =
                   c_at(c, "subgroupAny") || c_at(c, "subgroupAll") || c_at(c, "subgroupBallot"),
               is_word = c_at(c, "subgroupBallot") && c->launch->is_wgsl;
    c_next(c);
    c_expect(c, "(");
    struct c_value v = c_expression(c);
    check_told(c, v);
    if (truth)
        (void)is_true(c, v);
    if (c_accept(c, ","))
        (void)c_expression(c);
    c_expect(c, ")");
    if (!is_word)
        return v;
    c_expect(c, "[");
    const struct c_value word = c_expression(c);
    c_expect(c, "]");
    const int64_t bit = word.i == c->thread / 32 ? v.i << c->thread % 32 : 0;
    return (struct c_value){.type = C_UINT, .i = (uint32_t)bit};
}

static struct c_value vote(struct c_run *c)
{
    const bool ballot = c_at(c, "__ballot_sync"), shuffle = c_at(c, "__shfl_sync");
    c_next(c);
    c_expect(c, "(");
    struct c_value mask = c_expression(c);
    c_expect(c, ",");
    struct c_value v = c_expression(c);
    if (shuffle)
        check_told(c, v);
    if (c_accept(c, ","))
        (void)c_expression(c);
    c_expect(c, ")");
    if (ballot)
        return is_true(c, v) ? mask : (struct c_value){.type = C_UINT};
    return shuffle ? v : of_int(is_true(c, v));
}

/* WGSL: select(otherwise, value, condition) and min(a, b), of which all are evaluated. */
static struct c_value of_wgsl(struct c_run *c)
{
    const bool selects = c_at(c, "select");
    c_next(c);
    c_expect(c, "(");
    struct c_value a = c_expression(c);
    c_expect(c, ",");
    struct c_value b = c_expression(c);
    if (a.type != b.type && c->dead == 0)
        c_fail(c, "operands of two types");
    bool second = b.i < a.i;
    if (selects) {
        c_expect(c, ",");
        second = c_truth(c);
    }
    c_expect(c, ")");
    return second ? b : a;
}

/* Names that the languages have; false: none of them. */
static bool known(struct c_run *c, struct c_value *v)
{
    static const char *const atomics[ATOMICS][3] = {
        {"atomic_add", "atomicAdd", "atomicAdd"},
        {"atomic_min", "atomicMin", "atomicMin"},
        {"atomic_max", "atomicMax", "atomicMax"},
        {"atomic_and", "atomicAnd", "atomicAnd"},
        {"atomic_or", "atomicOr", "atomicOr"},
        {"atomic_xchg", "atomicExch", "atomicExchange"},
        {"atomic_cmpxchg", "atomicCAS", "atomicCompSwap"},
        {"atomicLoad", "atomicLoad", "atomicLoad"},
        {"atomicStore", "atomicStore", "atomicStore"}};
    static const char *const votes[] = {"__any_sync", "__all_sync", "__ballot_sync", "__shfl_sync"};
    const struct {
        const char *name, *macro, *of_glsl, *of_wgsl;
        uint32_t value;
    } ids[] = {
        {"get_local_id", "SF_THREAD", "gl_LocalInvocationID.x", "sf_local.x", c->thread},
        {"get_group_id", "SF_BLOCK", "gl_WorkGroupID.x", "sf_group.x", c->block},
        {"get_local_size", "SF_THREADS", "gl_WorkGroupSize.x", "", c->launch->threads},
        {"get_num_groups", "SF_BLOCKS", "gl_NumWorkGroups.x", "sf_groups.x", c->launch->blocks},
        {"sf_lane", "sf_lane", "gl_SubgroupInvocationID", "sf_lane", c->thread}};
    for (uint32_t i = 0; i < sizeof atomics / sizeof *atomics; i++)
        if (c_at(c, atomics[i][0]) || c_at(c, atomics[i][1]) || c_at(c, atomics[i][2])) {
            *v = atomic(c, i);
            return true;
        }
    for (uint32_t i = 0; i < sizeof votes / sizeof *votes; i++)
        if (c_at(c, votes[i])) {
            *v = vote(c);
            return true;
        }
    for (uint32_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (c_at(c, ids[i].name) || c_at(c, ids[i].macro) || c_at(c, ids[i].of_glsl) ||
            c_at(c, ids[i].of_wgsl)) {
            c_next(c);
            if (c_accept(c, "(")) {
                c_accept(c, "0");
                c_expect(c, ")");
            }
            *v = (struct c_value){.type = C_UINT, .i = ids[i].value};
            return true;
        }
    if (c->launch->is_wgsl && (c_at(c, "select") || c_at(c, "min"))) {
        *v = of_wgsl(c);
        return true;
    }
    if (c->launch->is_wgsl && c_accept(c, "true")) {
        *v = of_truth(c, true);
        return true;
    }
    if (strncmp(c->token, "subgroup", 8) != 0)
        return false;
    *v = vote_of_subgroup(c);
    return true;
}

/* ---- in the order of precedence ---- */

static struct c_value unary(struct c_run *c)
{
    static const char *const signs[] = {"-", "!", "~"};
    struct c_value v;
    enum c_type type;
    for (uint32_t i = 0; i < 3; i++) {
        if (!c_accept(c, signs[i]))
            continue;
        v = unary(c);
        if (i == 1)
            return of_truth(c, !is_true(c, v));
        v = c_convert(c, v, promoted(v.type));
        if (i == 0)
            return binary(c, BINARY_SUB, c_convert(c, of_int(0), v.type), v);
        v.i = ~v.i;
        return c_convert(c, v, v.type);
    }
    const char *start = c->token;
    if (c_accept(c, "(")) {
        if (c_read_type(c, &type) && c_accept(c, ")"))
            return c_convert(c, unary(c), type);
        c_go(c, start + 1);
        v = c_expression(c);
        c_expect(c, ")");
        return v;
    }
    if (*c->at == '(' && c_read_type(c, &type)) /* GLSL: int(v) */
        return c_convert(c, unary(c), type);
    if (c->length > 0 && *c->token >= '0' && *c->token <= '9')
        return number(c);
    if (c->launch->is_wgsl && c_accept(c, "*"))
        return read_place(c);
    if (strchr("a_gSsmt", *c->token) && known(c, &v)) /* what they begin with */
        return v;
    const struct c_function *f = *c->at == '(' ? c_find_function(c) : NULL;
    return f ? c_call(c, f) : read_place(c);
}

/* && and || do not evaluate what does not count. */
static struct c_value both(struct c_run *c, enum ast_binary op, struct c_value a, uint32_t level);

static struct c_value operators(struct c_run *c, uint32_t level)
{
    struct c_value left = unary(c);
    for (;;) {
        uint32_t at = 0;
        while (at < BINARY_COUNT &&
               (*c->token != *drawn_operators[at].token || !c_at(c, drawn_operators[at].token)))
            at++;
        if (at == BINARY_COUNT || drawn_operators[at].level < level || c->signal == C_FAILED)
            return left;
        const enum ast_binary op = (enum ast_binary)at;
        const uint32_t above = drawn_operators[at].level + 1;
        c_next(c);
        left = op >= BINARY_LOGICAL_AND ? both(c, op, left, above)
                                        : binary(c, op, left, operators(c, above));
    }
}

static struct c_value both(struct c_run *c, enum ast_binary op, struct c_value a, uint32_t level)
{
    const bool decides = is_true(c, a) == (op == BINARY_LOGICAL_OR);
    c->dead += decides;
    struct c_value b = operators(c, level);
    c->dead -= decides;
    return of_truth(c, decides ? op == BINARY_LOGICAL_OR : is_true(c, b));
}

struct c_value c_expression(struct c_run *c)
{
    struct c_value guard = operators(c, 1);
    if (!c_accept(c, "?"))
        return guard;
    const bool holds = is_true(c, guard);
    c->dead += !holds;
    struct c_value yes = c_expression(c);
    c->dead -= !holds;
    c_expect(c, ":");
    c->dead += holds;
    struct c_value no = c_expression(c);
    c->dead -= holds;
    return c_convert(c, holds ? yes : no, common(yes.type, no.type));
}
