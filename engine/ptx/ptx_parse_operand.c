#include "engine/ptx/ptx_parse_internal.h"

#include <string.h>

static struct ptx_operand *parse_operand(struct ptx_parser *p);

static struct ptx_operand *new_operand(struct ptx_parser *p, enum ptx_operand_kind kind)
{
    if (!ptx_count(p))
        return NULL;
    struct ptx_operand *operand = ARENA_NEW(p->arena, struct ptx_operand);
    operand->kind = kind;
    operand->at = p->token.at;
    return operand;
}

struct ptx_operand *ptx_operand_name(struct ptx_parser *p, const char *what)
{
    struct ptx_operand *operand = new_operand(p, PTX_OPERAND_NAME);
    if (!operand)
        return NULL;
    operand->name = ptx_name(p, what);
    return operand->name ? operand : NULL;
}

/* operand {, operand} CLOSE */
static bool parse_items(struct ptx_parser *p, struct ptx_operand **last, const char *close)
{
    if (ptx_accept(p, close))
        return true;
    do {
        *last = parse_operand(p);
        if (!*last)
            return false;
        last = &(*last)->next;
    } while (ptx_accept(p, ","));
    return ptx_expect(p, close);
}

static struct ptx_operand *parse_group(struct ptx_parser *p, enum ptx_operand_kind kind,
                                       const char *close)
{
    struct ptx_operand *group = new_operand(p, kind);
    if (!group || !ptx_parse_enter(p))
        return NULL;
    ptx_advance(p);
    bool ok = parse_items(p, &group->items, close);
    ptx_parse_leave(p);
    return ok ? group : NULL;
}

/* [name + offset, [constant: without what closes it */
static struct ptx_operand *parse_base(struct ptx_parser *p)
{
    struct ptx_operand *address = new_operand(p, PTX_OPERAND_ADDRESS);
    struct ptx_value value = {.kind = PTX_TOKEN_INTEGER};
    if (!address)
        return NULL;
    ptx_advance(p);
    struct location at = p->token.at;
    if (p->token.kind == PTX_TOKEN_NAME) {
        address->name = ptx_name(p, "an address");
        if (!address->name || !ptx_offset(p, &value.bits))
            return NULL;
    } else if (!ptx_constant(p, &value)) {
        return NULL;
    }
    if (value.kind != PTX_TOKEN_INTEGER)
        ptx_error(p, at, "an address is an integer");
    address->value = value.bits;
    return address;
}

static struct ptx_operand *parse_address(struct ptx_parser *p)
{
    struct ptx_operand *address = parse_base(p);
    return address && ptx_expect(p, "]") ? address : NULL;
}

/* [handle, coordinates]: two operands */
static struct ptx_operand *parse_texel(struct ptx_parser *p)
{
    struct ptx_operand *handle = parse_base(p);
    if (!handle || !ptx_expect(p, ","))
        return NULL;
    handle->next = parse_operand(p);
    return handle->next && ptx_expect(p, "]") ? handle : NULL;
}

static struct ptx_operand *parse_constant(struct ptx_parser *p)
{
    struct ptx_value value;
    struct ptx_operand *operand = new_operand(p, PTX_OPERAND_INTEGER);
    if (!operand || !ptx_constant(p, &value))
        return NULL;
    operand->kind = value.kind == PTX_TOKEN_INTEGER   ? PTX_OPERAND_INTEGER
                    : value.kind == PTX_TOKEN_FLOAT32 ? PTX_OPERAND_FLOAT32
                                                      : PTX_OPERAND_FLOAT64;
    operand->value = value.bits;
    return operand;
}

/* .x .y .z .w, or as colours; 0: none of them. */
static char element_here(const struct ptx_parser *p)
{
    static const char names[] = "xyzwrgba";
    if (p->token.kind != PTX_TOKEN_DOT || p->token.length != 1)
        return 0;
    const char *found = strchr(names, p->token.text[0]);
    return found ? names[(found - names) % 4] : 0;
}

/* name [.element] [+ offset], _ */
static struct ptx_operand *parse_name(struct ptx_parser *p)
{
    struct ptx_operand *operand = ptx_operand_name(p, "an operand");
    if (!operand)
        return NULL;
    if (strcmp(operand->name, "_") == 0) {
        operand->kind = PTX_OPERAND_SINK;
        operand->name = NULL;
        return operand;
    }
    operand->element = element_here(p);
    if (operand->element)
        ptx_advance(p);
    return ptx_offset(p, &operand->value) ? operand : NULL;
}

static struct ptx_operand *parse_not(struct ptx_parser *p)
{
    struct location at = p->token.at;
    ptx_advance(p);
    struct ptx_operand *operand = parse_name(p);
    if (!operand)
        return NULL;
    operand->negated = true;
    operand->at = at;
    return operand;
}

static struct ptx_operand *parse_single(struct ptx_parser *p)
{
    if (ptx_at(p, "["))
        return parse_address(p);
    if (ptx_at(p, "{"))
        return parse_group(p, PTX_OPERAND_VECTOR, "}");
    if (ptx_at(p, "!"))
        return parse_not(p);
    if (p->token.kind == PTX_TOKEN_NAME)
        return parse_name(p);
    if (ptx_at(p, "}") || ptx_at(p, "]") || ptx_at(p, ")") || p->token.kind == PTX_TOKEN_DOT) {
        ptx_unexpected(p, "an operand or ';'");
        return NULL;
    }
    return parse_constant(p);
}

/* d|p */
static struct ptx_operand *parse_operand(struct ptx_parser *p)
{
    struct ptx_operand *first = parse_single(p);
    if (!first || !ptx_at(p, "|"))
        return first;
    struct ptx_operand *pair = new_operand(p, PTX_OPERAND_PAIR);
    if (!pair)
        return NULL;
    ptx_advance(p);
    pair->at = first->at;
    pair->items = first;
    first->next = parse_single(p);
    return first->next ? pair : NULL;
}

/* clang puts labels for debuggers into the midst of a call. */
static struct ptx_operand *parse_of_call(struct ptx_parser *p)
{
    struct ptx_operand *operand;
    do
        operand = ptx_at(p, "(") ? parse_group(p, PTX_OPERAND_LIST, ")") : parse_operand(p);
    while (operand && operand->kind == PTX_OPERAND_NAME && ptx_accept(p, ":"));
    return operand;
}

bool ptx_operands(struct ptx_parser *p, enum ptx_opcode opcode, struct ptx_operand **last)
{
    if (ptx_at(p, ";"))
        return true;
    do {
        *last = opcode == PTX_OP_CALL                           ? parse_of_call(p)
                : ptx_has_coordinates(opcode) && ptx_at(p, "[") ? parse_texel(p)
                                                                : parse_operand(p);
        if (!*last)
            return false;
        while (*last)
            last = &(*last)->next;
    } while (ptx_accept(p, ","));
    return true;
}
