/*
 * parse_block.c - functions made of blocks: the block form and the lock-step form.
 */
#include "engine/language/parse_internal.h"

#include <string.h>

/* Behind the word, where a block starts. */
static bool at_label(const struct parser *p)
{
    return parser_at_name(p) && parser_next_is(p, ":");
}

/* What ends the blocks of a function, with or without their brace. */
static bool at_blocks_end(const struct parser *p)
{
    return parser_at(p, "}") || parser_at(p, "expect") || parser_at(p, "kernel") ||
           parser_at(p, "void") || p->token.kind == TOKEN_END;
}

static bool at_block_end(const struct parser *p)
{
    return parser_at(p, "goto") || parser_at(p, "return") || at_blocks_end(p);
}

/* To the next label behind a ';', or where one stands here already. */
static void recover_block(struct parser *p)
{
    while (!at_label(p) && !at_blocks_end(p)) {
        while (!at_blocks_end(p) && !parser_at(p, ";"))
            parser_advance(p);
        parser_accept(p, ";");
    }
}

/* ---- a block ---- */

/* What only a body may hold. */
static bool at_control(const struct parser *p)
{
    static const char *const words[] = {"{",        "if",   "while",  "do",      "for", "break",
                                        "continue", "exit", "switch", "private", "int"};
    return parser_index(p, words, sizeof words / sizeof words[0]) >= 0;
}

static struct ast_stm *parse_statement(struct parser *p)
{
    struct location at = p->token.at;
    if (at_control(p)) {
        parser_error(p, at, "%s cannot stand in a block of a block-form kernel",
                     parser_show(p, &p->token));
        return NULL;
    }
    if (parser_accept(p, ";"))
        return parser_count(p) ? ast_stm(p->arena, STM_SKIP, at) : NULL;
    struct ast_stm *s = parser_simple(p);
    return s && parser_guard(p, s) && parser_expect(p, ";") ? s : NULL;
}

static void parse_statements(struct parser *p, struct ast_stm **list)
{
    while (!at_block_end(p) && !at_label(p)) {
        *list = parse_statement(p);
        if (*list) {
            list = &(*list)->next;
            continue;
        }
        while (!at_block_end(p) && !parser_accept(p, ";"))
            parser_advance(p);
    }
}

static bool parse_targets(struct parser *p, struct ast_block *block)
{
    struct parse_goto *const before = p->gotos;
    do {
        struct parse_goto *target = ARENA_NEW(p->arena, struct parse_goto);
        *target = (struct parse_goto){
            .block = block, .target = block->target_count, .at = p->token.at, .next = p->gotos};
        target->name = parser_name(p, "the name of a block");
        if (!target->name || !parser_count(p)) {
            p->gotos = before;
            return false;
        }
        p->gotos = target;
        block->target_count++;
    } while (parser_accept(p, ","));
    block->targets = ARENA_ARRAY(p->arena, struct ast_block *, block->target_count);
    return parser_expect(p, ";");
}

/* A kernel ends with `goto End`; what says `return` there is reported and read as that. */
static bool parse_return(struct parser *p, struct ast_block *block)
{
    block->returns = p->function != p->kernel->main;
    if (!block->returns) {
        parser_error(p, p->token.at, "a kernel in block form ends with 'goto End', not 'return'");
        block->target_count = 1;
        block->targets = ARENA_ARRAY(p->arena, struct ast_block *, 1);
    }
    parser_advance(p);
    return parser_expect(p, ";");
}

static bool parse_transfer(struct parser *p, struct ast_block *block)
{
    if (parser_at(p, "return"))
        return parse_return(p, block);
    if (parser_accept(p, "goto"))
        return parse_targets(p, block);
    parser_unexpected(p, "'goto' or 'return'");
    return false;
}

/* Once its name is known the block exists, so that gotos find it. */
static bool parse_block(struct parser *p, struct ast_block **place)
{
    struct ast_block *block = ARENA_NEW(p->arena, struct ast_block);
    block->at = p->token.at;
    block->name = parser_name(p, "the name of a block");
    if (!block->name || !parser_count(p))
        return false;
    *place = block;
    if (++p->labels > LIMIT_LABELS)
        parser_stop(p, block->at, "more than %d blocks", LIMIT_LABELS);
    if (!parser_expect(p, ":"))
        return false;
    parse_statements(p, &block->body);
    return parse_transfer(p, block);
}

/* ---- all of them ---- */

static struct ast_block *find_block(const struct parser *p, const char *name)
{
    struct ast_block *block = p->function->blocks;
    while (block && strcmp(block->name, name) != 0)
        block = block->next;
    return block;
}

/* What goes nowhere is reported, and goes to the entry, so that ast_check can go on. */
static void resolve_gotos(struct parser *p)
{
    bool is_kernel = p->function == p->kernel->main;
    for (const struct parse_goto *g = p->gotos; g; g = g->next) {
        bool ends = strcmp(g->name, "End") == 0;
        struct ast_block *block = ends ? NULL : find_block(p, g->name);
        if (ends && !is_kernel)
            parser_error(p, g->at, "a procedure ends with 'return', not 'goto End'");
        else if (!ends && !block)
            parser_error(p, g->at, "block '%s' is not defined", g->name);
        g->block->targets[g->target] = block || (ends && is_kernel) ? block : p->function->blocks;
    }
}

bool parser_blocks(struct parser *p)
{
    struct ast_block **last = &p->function->blocks;
    bool named = true;
    p->gotos = NULL;
    parser_advance(p);
    if (!parser_expect(p, "{")) {
        p->unsound = true;
        return false;
    }
    parser_decls(p);
    do {
        const char *start = p->token.text;
        if (!parse_block(p, last)) {
            p->unsound = true;
            named &= *last != NULL;
            if (p->token.text == start && !at_blocks_end(p))
                parser_advance(p);
            recover_block(p);
        }
        last = *last ? &(*last)->next : last;
    } while (!at_blocks_end(p));
    if (named)
        resolve_gotos(p);
    return parser_expect(p, "}");
}
