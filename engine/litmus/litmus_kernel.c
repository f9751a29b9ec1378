#include "engine/litmus/litmus_kernel.h"

#include "engine/base/text.h"
#include "engine/litmus/litmus_internal.h"

struct kernel_text {
    struct text out;
    const struct litmus_test *test;
    uint32_t lanes;
    uint32_t temps;
};

struct litmus_shape litmus_shape(const struct litmus_test *test)
{
    struct litmus_shape shape = {.lanes = 1};
    uint32_t count[LITMUS_THREADS] = {0};
    for (uint32_t t = 0; t < test->count; t++) {
        const struct litmus_thread *thread = &test->threads[t];
        uint32_t own = ++count[thread->sm];
        shape.warps = own > shape.warps ? own : shape.warps;
        shape.blocks = thread->sm >= shape.blocks ? thread->sm + 1u : shape.blocks;
        for (uint32_t i = 0; i < thread->length; i++)
            if (thread->code[i].lanes > shape.lanes)
                shape.lanes = thread->code[i].lanes;
    }
    return shape;
}

void litmus_place(const struct litmus_test *test, uint32_t thread, uint32_t *block, uint32_t *warp)
{
    *block = test->threads[thread].sm;
    *warp = 0;
    for (uint32_t t = 0; t < thread; t++)
        *warp += test->threads[t].sm == *block;
}

uint32_t litmus_lane_of(const struct litmus_test *test, uint32_t thread, uint32_t *reg)
{
    const struct litmus_thread *t = &test->threads[thread];
    for (uint32_t i = 0; i < t->length; i++)
        if (t->code[i].lanes > 1 && litmus_writes(&t->code[i]) && t->code[i].reg[1] == *reg) {
            *reg = t->code[i].reg[0];
            return 1;
        }
    return 0;
}

/* ---- operands ---- */

static const char *variable(uint32_t word, uint32_t *offset)
{
    if (litmus_space(word) == WORD_GLOBAL) {
        *offset = 4 * word;
        return "g";
    }
    uint32_t behind = word - LITMUS_GLOBALS;
    bool shared = litmus_space(word) == WORD_SHARED;
    *offset = shared ? behind % 4 * 4 : (behind - 4 * LITMUS_THREADS) % 2 * 4;
    return shared ? "s" : "l";
}

static const char *space_name(uint32_t word)
{
    enum litmus_space space = litmus_space(word);
    return space == WORD_GLOBAL ? "global" : space == WORD_SHARED ? "shared" : "local";
}

static void operand(struct kernel_text *k, uint32_t thread, struct litmus_operand o)
{
    if (o.is_register)
        text_format(&k->out, "%%a%u_%d", (unsigned)thread, (int)o.value);
    else
        text_format(&k->out, "%d", (int)o.value);
}

/* PTX has no atomic subtraction. */
static struct litmus_operand negative(struct litmus_operand o)
{
    return (struct litmus_operand){false, (int16_t)-o.value};
}

/* A value that differs between two lanes, in a temporary. What the second lane got stands in its lane of the register
 * of the first. */
static uint32_t lane_value(struct kernel_text *k, uint32_t thread, const struct litmus_operand *a)
{
    uint32_t temp = k->temps++, reg = (uint32_t)a[1].value;
    struct litmus_operand second = a[1];
    if (second.is_register) {
        (void)litmus_lane_of(k->test, thread, &reg);
        second.value = (int16_t)reg;
    }
    text_format(&k->out, "    selp.u32 %%t%u, ", (unsigned)temp);
    operand(k, thread, a[0]);
    text_format(&k->out, ", ");
    operand(k, thread, second);
    text_format(&k->out, ", %%first;\n");
    return temp;
}

static uint32_t lane_address(struct kernel_text *k, const uint8_t word[LITMUS_LANES])
{
    uint32_t temp = k->temps++, first, second;
    const char *name = variable(word[0], &first);
    (void)variable(word[1], &second);
    text_format(&k->out,
                "    selp.u32 %%t%u, %u, %u, %%first;\n    mov.u32 %%t%u, %s;\n"
                "    add.u32 %%t%u, %%t%u, %%t%u;\n",
                (unsigned)temp, (unsigned)first, (unsigned)second, (unsigned)k->temps, name,
                (unsigned)temp, (unsigned)temp, (unsigned)k->temps);
    k->temps++;
    return temp;
}

/* ---- instructions ---- */

static const char *cache_of(const struct litmus_instruction *in)
{
    static const char *const loads[] = {[CACHE_CA] = ".ca",
                                        [CACHE_CG] = ".cg",
                                        [CACHE_CS] = ".cs",
                                        [CACHE_CV] = ".cv",
                                        [CACHE_LU] = ".lu"};
    static const char *const stores[] = {
        [CACHE_CG] = ".cg", [CACHE_CS] = ".cs", [CACHE_WB] = ".wb", [CACHE_WT] = ".wt"};
    if (litmus_space(in->word[0]) == WORD_SHARED)
        return "";
    const char *name = in->op == LITMUS_LD ? (in->cache <= CACHE_LU ? loads[in->cache] : NULL)
                                           : (in->cache <= CACHE_WT ? stores[in->cache] : NULL);
    return name ? name : "";
}

/* Of a test for PTX, what its text says of order; else what is volatile. */
static void put_order(struct kernel_text *k, const struct litmus_instruction *in)
{
    static const char *const orders[] = {[ORDER_WEAK] = "",
                                         [ORDER_RELAXED] = ".relaxed",
                                         [ORDER_ACQUIRE] = ".acquire",
                                         [ORDER_RELEASE] = ".release",
                                         [ORDER_ACQ_REL] = ".acq_rel",
                                         [ORDER_SC] = ".sc"};
    static const char *const scopes[] = {
        [SCOPE_CTA] = ".cta", [SCOPE_GL] = ".gpu", [SCOPE_SYS] = ".sys"};
    if (k->test->is_ptx && in->order != ORDER_WEAK)
        text_format(&k->out, "%s%s", orders[in->order], scopes[in->scope]);
    else if (in->cache == CACHE_VOL)
        text_put(&k->out, ".volatile");
}

static void access(struct kernel_text *k, uint32_t thread, const struct litmus_instruction *in)
{
    bool two = in->lanes > 1;
    uint32_t offset, address = two ? lane_address(k, in->word) : 0;
    uint32_t value = two && in->op != LITMUS_LD ? lane_value(k, thread, in->a) : 0;
    const char *name = variable(in->word[0], &offset), *space = space_name(in->word[0]);
    static const char *const atoms[] = {
        [LITMUS_ADD_ATOM] = "add.u32", [LITMUS_SUB] = "add.u32", [LITMUS_EXCH] = "exch.b32",
        [LITMUS_AND] = "and.b32",      [LITMUS_OR] = "or.b32",   [LITMUS_XOR] = "xor.b32",
        [LITMUS_MIN] = "min.s32",      [LITMUS_MAX] = "max.s32", [LITMUS_CAS] = "cas.b32"};
    text_format(&k->out, "    %s", two || k->lanes == 1 ? "" : "@%first ");
    text_put(&k->out, in->op == LITMUS_LD   ? "ld"
                      : in->op == LITMUS_ST ? "st"
                      : in->no_result       ? "red"
                                            : "atom");
    put_order(k, in);
    if (in->op <= LITMUS_ST)
        text_format(&k->out, ".%s%s.u32 ", space, cache_of(in));
    else
        text_format(&k->out, ".%s.%s ", space, atoms[in->op]);
    if (litmus_writes(in))
        text_format(&k->out, "%%a%u_%u, ", (unsigned)thread, (unsigned)in->reg[0]);
    if (two)
        text_format(&k->out, "[%%t%u]", (unsigned)address);
    else
        text_format(&k->out, "[%s+%u]", name, (unsigned)offset);
    if (in->op != LITMUS_LD) {
        text_format(&k->out, ", ");
        if (two)
            text_format(&k->out, "%%t%u", (unsigned)value);
        else
            operand(k, thread, in->op == LITMUS_SUB ? negative(in->a[0]) : in->a[0]);
    }
    if (in->op == LITMUS_CAS) {
        text_format(&k->out, ", ");
        operand(k, thread, in->b);
    }
    text_format(&k->out, ";\n");
}

static void barrier(struct kernel_text *k, const struct litmus_instruction *in)
{
    uint32_t wanted = in->arrivals ? in->arrivals : (uint32_t)__builtin_popcount(in->threads);
    text_format(&k->out, "    bar.%s %u, %u;\n", in->op == LITMUS_BAR ? "sync" : "arrive",
                (unsigned)in->barrier, (unsigned)(wanted * k->lanes));
}

static void branch(struct kernel_text *k, uint32_t thread, const struct litmus_instruction *in)
{
    bool equal = in->op == LITMUS_BZ || in->op == LITMUS_BEQ;
    if (in->op == LITMUS_JUMP) {
        text_format(&k->out, "    bra L%u_%u;\n", (unsigned)thread, (unsigned)in->target);
        return;
    }
    text_format(&k->out, "    setp.%s.u32 %%q, ", equal ? "eq" : "ne");
    operand(k, thread, in->a[0]);
    text_format(&k->out, ", ");
    operand(k, thread, in->b);
    text_format(&k->out, ";\n    @%%q bra L%u_%u;\n", (unsigned)thread, (unsigned)in->target);
}

static bool instruction(struct kernel_text *k, uint32_t thread, const struct litmus_instruction *in)
{
    static const char *const scopes[] = {
        [SCOPE_CTA] = "cta", [SCOPE_GL] = "gl", [SCOPE_SYS] = "sys"};
    switch (in->op) {
    case LITMUS_MEMBAR:
        text_put(&k->out, k->test->is_ptx ? "    fence" : "    membar");
        if (k->test->is_ptx)
            put_order(k, in);
        else
            text_format(&k->out, ".%s", scopes[in->scope]);
        text_put(&k->out, ";\n");
        return true;
    case LITMUS_WAIT:
        text_format(&k->out, "    membar.cta;\n");
        return true;
    case LITMUS_BAR:
    case LITMUS_ARRIVE:
        barrier(k, in);
        return true;
    case LITMUS_USE:
        text_format(&k->out, "    mov.u32 %%u, %%a%u_%u;\n", (unsigned)thread,
                    (unsigned)in->reg[0]);
        return true;
    case LITMUS_MOV:
    case LITMUS_ADD:
        text_format(&k->out, "    %s.u32 %%a%u_%u, ", in->op == LITMUS_MOV ? "mov" : "add",
                    (unsigned)thread, (unsigned)in->reg[0]);
        operand(k, thread, in->a[0]);
        if (in->op == LITMUS_ADD) {
            text_format(&k->out, ", ");
            operand(k, thread, in->b);
        }
        text_format(&k->out, ";\n");
        return true;
    case LITMUS_BZ:
    case LITMUS_BNZ:
    case LITMUS_BEQ:
    case LITMUS_BNE:
    case LITMUS_JUMP:
        branch(k, thread, in);
        return true;
    case LITMUS_SUB:
        if (in->lanes > 1 || in->a[0].is_register)
            return false;
        access(k, thread, in);
        return true;
    case LITMUS_LD:
    case LITMUS_ST:
    case LITMUS_ADD_ATOM:
    case LITMUS_EXCH:
    case LITMUS_AND:
    case LITMUS_OR:
    case LITMUS_XOR:
    case LITMUS_MIN:
    case LITMUS_MAX:
    case LITMUS_CAS:
        access(k, thread, in);
        return true;
    }
    return false;
}

/* ---- the whole ---- */

static void head(struct kernel_text *k, struct litmus_shape shape)
{
    const struct litmus_test *test = k->test;
    text_format(&k->out,
                "// simtfuzz: threads=%u blocks=%u warp=%u\n.version 7.5\n.target sm_70\n"
                ".address_size 32\n.global .align 32 .u32 g[4] = {",
                (unsigned)(shape.warps * shape.lanes), (unsigned)shape.blocks,
                (unsigned)shape.lanes);
    for (uint32_t i = 0; i < LITMUS_GLOBALS; i++)
        text_format(&k->out, "%s%d", i ? ", " : "", (int)test->init[i]);
    text_format(&k->out,
                "};\n.entry k()\n{\n    .shared .align 32 .u32 s[4];\n"
                "    .local .align 32 .u32 l[2];\n    .reg .u32 %%id, %%u, %%t<%u>;\n"
                "    .reg .pred %%first, %%q;\n",
                2 * LITMUS_CODE * LITMUS_THREADS);
    for (uint32_t t = 0; t < test->count; t++)
        for (uint32_t r = 0; r < test->threads[t].registers; r++)
            text_format(&k->out, "    .reg .u32 %%a%u_%u;\n", (unsigned)t, (unsigned)r);
}

/* One branch, forward: to the thread that the warp is. */
static void dispatch(struct kernel_text *k, struct litmus_shape shape)
{
    uint32_t places = shape.warps * shape.blocks;
    text_format(&k->out,
                "    mov.u32 %%id, %%laneid;\n    setp.eq.u32 %%first, %%id, 0;\n"
                "    mov.u32 %%id, %%ctaid.x;\n    mov.u32 %%u, %%warpid;\n"
                "    mad.lo.u32 %%id, %%id, %u, %%u;\n    brx.idx %%id, table;\n",
                (unsigned)shape.warps);
    text_format(&k->out, "table: .branchtargets ");
    for (uint32_t p = 0; p < places; p++) {
        uint32_t found = LITMUS_THREADS;
        for (uint32_t t = 0; t < k->test->count; t++) {
            uint32_t block, warp;
            litmus_place(k->test, t, &block, &warp);
            if (block * shape.warps + warp == p)
                found = t;
        }
        text_put(&k->out, p ? ", " : "");
        if (found < LITMUS_THREADS)
            text_format(&k->out, "T%u", (unsigned)found);
        else
            text_put(&k->out, "Out");
    }
    text_format(&k->out, ";\n");
}

const char *litmus_kernel(struct arena *arena, const struct litmus_test *test)
{
    struct litmus_shape shape = litmus_shape(test);
    struct kernel_text k = {.out = text_begin(arena), .test = test, .lanes = shape.lanes};
    head(&k, shape);
    dispatch(&k, shape);
    for (uint32_t t = 0; t < test->count; t++) {
        const struct litmus_thread *thread = &test->threads[t];
        text_format(&k.out, "T%u:\n", (unsigned)t);
        for (uint32_t r = 0; r < thread->registers; r++)
            text_format(&k.out, "    mov.u32 %%a%u_%u, %d;\n", (unsigned)t, (unsigned)r,
                        (int)thread->first[r]);
        for (uint32_t i = 0; i < thread->length; i++) {
            text_format(&k.out, "L%u_%u:\n", (unsigned)t, (unsigned)i);
            if (!instruction(&k, t, &thread->code[i]))
                return NULL;
        }
        text_format(&k.out, "L%u_%u:\n    exit;\n", (unsigned)t, (unsigned)thread->length);
    }
    text_format(&k.out, "Out:\n    exit;\n}\n");
    return k.out.bytes;
}
