/* What instructions of PTX compute, as terms, against what executions compute; and the encoding of PTX, rule by rule:
 * faults of tests/mutation/faults/prove.txt are planted against it. */
#include "engine/arith/ptx_rows.h"
#include "engine/base/pcg.h"
#include "engine/input/ptx_kernel.h"
#include "engine/prove/prove.h"
#include "tests/unit/engine/prove/prove_solver.h"

#include <inttypes.h>
#include <stdlib.h>

static enum proof_verdict prove(const char *text, enum proof_goal goal)
{
    struct proof_options options = PROOF_DEFAULTS;
    struct proof_result result;
    prove_kernel(&test_arena, forms_new(&test_arena, support_parse(text)), &options, solver,
                 &result);
    if (result.refused)
        fail_msg("%s", result.refused);
    return result.answers[goal].verdict;
}

/* ---- what instructions compute ---- */

/* An instruction of the registers %a, %b, %c (32 bits) or %x, %y, %z (64), and where its result is. */
struct computed {
    const char *text;
    char result;
};

static const struct computed instructions[] = {
    {"add.s32 %r, %a, %b", 'r'},
    {"sub.u32 %r, %a, %b", 'r'},
    {"mul.lo.s32 %r, %a, %b", 'r'},
    {"mul.hi.s32 %r, %a, %b", 'r'},
    {"mul.hi.u32 %r, %a, %b", 'r'},
    {"mad.lo.s32 %r, %a, %b, %c", 'r'},
    {"mad.hi.u32 %r, %a, %b, %c", 'r'},
    {"mul.wide.s32 %w, %a, %b", 'w'},
    {"mul.wide.u32 %w, %a, %b", 'w'},
    {"mad.wide.s32 %w, %a, %b, %z", 'w'},
    {"mul.wide.s16 %r, %h, %g", 'r'},
    {"mad.wide.u16 %r, %h, %g, %c", 'r'},
    {"div.s32 %r, %a, %b", 'r'},
    {"div.u32 %r, %a, %b", 'r'},
    {"rem.s32 %r, %a, %b", 'r'},
    {"rem.u32 %r, %a, %b", 'r'},
    {"min.s32 %r, %a, %b", 'r'},
    {"max.u32 %r, %a, %b", 'r'},
    {"abs.s32 %r, %a", 'r'},
    {"neg.s32 %r, %a", 'r'},
    {"and.b32 %r, %a, %b", 'r'},
    {"or.b32 %r, %a, %b", 'r'},
    {"xor.b32 %r, %a, %b", 'r'},
    {"not.b32 %r, %a", 'r'},
    {"cnot.b32 %r, %a", 'r'},
    {"lop3.b32 %r, %a, %b, %c, 0x96", 'r'},
    {"lop3.b32 %r, %a, %b, %c, 0xca", 'r'},
    {"shl.b32 %r, %a, %c", 'r'},
    {"shr.u32 %r, %a, %c", 'r'},
    {"shr.s32 %r, %a, %c", 'r'},
    {"shf.l.wrap.b32 %r, %a, %b, %c", 'r'},
    {"shf.r.wrap.b32 %r, %a, %b, %c", 'r'},
    {"bfe.u32 %r, %a, 5, 9", 'r'},
    {"bfe.s32 %r, %a, 5, 9", 'r'},
    {"set.lt.u32.s32 %r, %a, %b", 'r'},
    {"set.hi.s32.u32 %r, %a, %b", 'r'},
    {"slct.b32.s32 %r, %a, %b, %c", 'r'},
    {"add.s64 %w, %x, %y", 'w'},
    {"sub.s64 %w, %x, %y", 'w'},
    {"mul.lo.s64 %w, %x, %y", 'w'},
    {"mad.lo.u64 %w, %x, %y, %z", 'w'},
    {"div.s64 %w, %x, %y", 'w'},
    {"div.u64 %w, %x, %y", 'w'},
    {"rem.s64 %w, %x, %y", 'w'},
    {"rem.u64 %w, %x, %y", 'w'},
    {"min.u64 %w, %x, %y", 'w'},
    {"max.s64 %w, %x, %y", 'w'},
    {"abs.s64 %w, %x", 'w'},
    {"and.b64 %w, %x, %y", 'w'},
    {"not.b64 %w, %x", 'w'},
    {"shl.b64 %w, %x, %c", 'w'},
    {"shr.u64 %w, %x, %c", 'w'},
    {"shr.s64 %w, %x, %c", 'w'},
    {"cvt.u32.u64 %r, %x", 'r'},
    {"cvt.s64.s32 %w, %a", 'w'},
    {"cvt.u64.u32 %w, %a", 'w'},
    {"cvt.u64.s32 %w, %a", 'w'},
    {"cvt.s64.s16 %w, %a", 'w'},
    {"cvt.u32.u8 %r, %a", 'r'},
    {"cvt.s32.s8 %r, %a", 'r'},
    {"cvt.u16.s8 %s, %a", 's'},
    {"cvt.s16.u32 %s, %a", 's'},
    {"cvt.s32.s16 %r, %h", 'r'},
    {"cvt.u32.s16 %r, %h", 'r'},
    {"add.s16 %s, %h, %g", 's'},
    {"sub.u16 %s, %h, %g", 's'},
    {"mul.lo.s16 %s, %h, %g", 's'},
    {"mul.hi.s16 %s, %h, %g", 's'},
    {"mad.lo.u16 %s, %h, %g, %g", 's'},
    {"div.s16 %s, %h, %g", 's'},
    {"rem.u16 %s, %h, %g", 's'},
    {"min.s16 %s, %h, %g", 's'},
    {"neg.s16 %s, %h", 's'},
    {"not.b16 %s, %h", 's'},
    {"shl.b16 %s, %h, %c", 's'},
    {"shr.s16 %s, %h, %c", 's'},
    {"shr.u16 %s, %h, %c", 's'},
    {"mov.b64 %w, {%a, %b}", 'w'},
    {"mov.b64 {%r, %t}, %x", 'r'},
    {"cvta.to.global.u64 %w, %x", 'w'},
    {"cvta.shared.u64 %w, %x", 'w'},
};

static uint64_t draw(struct pcg *rng)
{
    static const uint64_t bounds[] = {
        0, 1, 2, 7, 31, 32, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX};
    uint64_t word = (uint64_t)pcg_next(rng) << 32 | pcg_next(rng);
    uint32_t which = pcg_below(rng, 20);
    if (which < sizeof bounds / sizeof bounds[0])
        return bounds[which] | (pcg_below(rng, 8) == 0 ? bounds[which] << 32 : 0);
    return which < 17 ? word % 100 : word;
}

/* Register of the operand -> its value. */
struct values {
    uint64_t word[3], wide[3];
};

static uint64_t value_of(const struct values *v, const char *name)
{
    switch (name[1]) {
    case 'a':
    case 'b':
    case 'c':
        return v->word[name[1] - 'a'];
    case 'h':
    case 'g':
        return v->word[name[1] == 'g'] & 0xffff;
    default:
        return v->wide[name[1] - 'x'];
    }
}

#define REGISTERS                                                                                  \
    ".reg .b32 %a, %b, %c, %r, %t; .reg .b64 %x, %y, %z, %w; .reg .b16 %h, %g, %s; .reg .pred "    \
    "%p; "

static const char *kernel_of(const struct computed *of, const struct values *v, uint64_t expected)
{
    const char *size = of->result == 'w' ? "b64" : of->result == 's' ? "b16" : "b32";
    return arena_printf(
        &test_arena,
        "// simtfuzz: threads=2\n.version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry k()\n{\n%s\n"
        "mov.b32 %%a, %" PRIu64 ";\nmov.b32 %%b, %" PRIu64 ";\nmov.b32 %%c, %" PRIu64 ";\n"
        "mov.b64 %%x, %" PRIu64 "U;\nmov.b64 %%y, %" PRIu64 "U;\nmov.b64 %%z, %" PRIu64 "U;\n"
        "cvt.u16.u32 %%h, %%a;\ncvt.u16.u32 %%g, %%b;\n"
        "%s;\nsetp.ne.%s %%p, %%%c, %" PRIu64 "U;\n@%%p trap;\nret;\n}\n",
        REGISTERS, v->word[0], v->word[1], v->word[2], v->wide[0], v->wide[1], v->wide[2], of->text,
        size, of->result, expected);
}

/* What executions compute, by the same text. */
static uint64_t executed(const struct computed *of, const struct values *v)
{
    uint64_t sources[PTX_ROW_SOURCES][2] = {{0}}, results[PTX_ROW_RESULTS][2] = {{0}};
    const struct ast_kernel *kernel = support_parse(kernel_of(of, v, 0));
    const struct ptx_statement *s = kernel->ptx->entry->body;
    struct ptx_row_op op;
    const char *reason = NULL;
    for (uint32_t skip = 8; skip > 0 || s->kind != PTX_INSTRUCTION; s = s->next)
        skip -= s->kind == PTX_INSTRUCTION;
    const struct ptx_instruction *i = &s->u.instruction;
    assert_true(ptx_row_find(i, &op, &reason));
    const struct ptx_operand *o = i->operands->next;
    o = o->kind == PTX_OPERAND_VECTOR ? o->items : o;
    for (uint32_t n = 0; n < op.source_count; n++, o = o->next)
        sources[n][0] = o->kind == PTX_OPERAND_INTEGER ? o->value : value_of(v, o->name);
    void *const to[PTX_ROW_RESULTS] = {results[0], results[1], results[2], results[3]};
    const void *const from[PTX_ROW_SOURCES] = {sources[0], sources[1], sources[2], sources[3]};
    op.fn(1, to, from, op.immediate);
    return results[0][0];
}

/* Of numbers, terms are numbers: no solver is asked whether it traps. (That it does is the rule "a trap".) */
static void computations(void **state)
{
    struct pcg rng = pcg_derive(1, PCG_INPUT, 0);
    (void)state;
    for (size_t i = 0; i < sizeof instructions / sizeof instructions[0]; i++)
        for (int n = 0; n < 40; n++) {
            size_t mark = arena_mark(&test_arena);
            struct values v;
            for (int k = 0; k < 3; k++) {
                v.word[k] = (uint32_t)draw(&rng);
                v.wide[k] = draw(&rng);
            }
            uint64_t expected = executed(&instructions[i], &v);
            if (prove(kernel_of(&instructions[i], &v, expected), GOAL_ASSERTS) != PROOF_PROVED)
                fail_msg("%s is not 0x%" PRIx64 ", a = 0x%" PRIx64 ", b = 0x%" PRIx64
                         ", c = 0x%" PRIx64 ", x = 0x%" PRIx64 ", y = 0x%" PRIx64,
                         instructions[i].text, expected, v.word[0], v.word[1], v.word[2], v.wide[0],
                         v.wide[1]);
            arena_release(&test_arena, mark);
        }
}

/* ---- the encoding ---- */

#define KERNEL(launch, text)                                                                       \
    "// simtfuzz: " launch " bind:o=buffer:64 bind:q=buffer:64\n.version 7.0\n.target sm_70\n"     \
    ".address_size 64\n.visible .entry k(.param .u64 o, .param .u64 q)\n{\n"                       \
    ".reg .b32 %a, %b, %c; .reg .b64 %o, %q, %x, %y; .reg .b16 %h; .reg .pred %p;\n"               \
    ".shared .align 8 .b8 s[64]; .local .align 8 .b8 l[16];\n"                                     \
    "ld.param.u64 %o, [o]; ld.param.u64 %q, [q]; mov.u32 %a, %tid.x;\n"                            \
    "mul.wide.u32 %x, %a, 4; add.s64 %x, %x, %o;\n" text "\nret;\n}\n"

struct saying {
    const char *name, *kernel;
    enum proof_goal goal;
    enum proof_verdict wanted;
};

static const struct saying rules[] = {
    {"an element each", KERNEL("threads=8", "st.global.u32 [%x], %a;"), GOAL_RACE, PROOF_PROVED},
    {"an element of two",
     KERNEL("threads=8", "shr.u32 %a, %a, 1; mul.wide.u32 %x, %a, 4;"
                         "add.s64 %x, %x, %o; st.global.u32 [%x], %a;"),
     GOAL_RACE, PROOF_MODEL},
    {"two buffers", KERNEL("threads=8", "st.global.u32 [%x], %a; ld.global.u32 %b, [%q+4];"),
     GOAL_RACE, PROOF_PROVED},
    {"one buffer", KERNEL("threads=8", "st.global.u32 [%x], %a; ld.global.u32 %b, [%o+4];"),
     GOAL_RACE, PROOF_MODEL},
    {"a guard", KERNEL("threads=8", "setp.eq.u32 %p, %a, 3; @%p st.global.u32 [%o], %a;"),
     GOAL_RACE, PROOF_PROVED},
    {"a guard's opposite",
     KERNEL("threads=8", "setp.eq.u32 %p, %a, 3; @!%p st.global.u32 [%o], %a;"), GOAL_RACE,
     PROOF_MODEL},
    {"who has ended",
     KERNEL("threads=8", "setp.ne.u32 %p, %a, 3; @%p exit; st.global.u32 [%o], %a;"), GOAL_RACE,
     PROOF_PROVED},
    {"who goes round",
     KERNEL("threads=8", "setp.ne.u32 %p, %a, 3; @%p bra on; exit; on:"
                         "st.global.u32 [%o], %a;"),
     GOAL_RACE, PROOF_MODEL},
    {"a pair's second word",
     KERNEL("threads=4", "mul.wide.u32 %y, %a, 8; add.s64 %y, %y, %o;"
                         "st.global.v2.u32 [%y], {%a, %a}; ld.global.u32 %b, [%o+4];"),
     GOAL_RACE, PROOF_MODEL},
    {"pairs",
     KERNEL("threads=4", "mul.wide.u32 %y, %a, 8; add.s64 %y, %y, %o;"
                         "st.global.v2.u32 [%y], {%a, %a}; ld.global.u32 %b, [%y+4];"),
     GOAL_RACE, PROOF_PROVED},
    {"halves of a word",
     KERNEL("threads=8", "mul.wide.u32 %y, %a, 2; add.s64 %y, %y, %o; st.global.u16 [%y], %a;"),
     GOAL_RACE, PROOF_PROVED},
    {"a byte of a half",
     KERNEL("threads=8", "mul.wide.u32 %y, %a, 2; add.s64 %y, %y, %o; st.global.u16 [%y], %a;"
                         "ld.global.u8 %b, [%o+3];"),
     GOAL_RACE, PROOF_MODEL},
    {"a block's shared memory", KERNEL("threads=1 blocks=2", "st.shared.u32 [s], %a;"), GOAL_RACE,
     PROOF_PROVED},
    {"a grid's global memory", KERNEL("threads=1 blocks=2", "st.global.u32 [%o], %a;"), GOAL_RACE,
     PROOF_MODEL},
    {"a thread's local memory",
     KERNEL("threads=8", "st.local.u32 [l], %a; ld.local.u32 %b, [l];"
                         "mul.wide.u32 %y, %b, 4; add.s64 %y, %y, %o;"
                         "st.global.u32 [%y], %b;"),
     GOAL_RACE, PROOF_PROVED},
    {"parts of a word in local memory",
     KERNEL("threads=8", "st.local.u32 [l], %a; st.local.u8 [l+1], 1; ld.local.u8 %b, [l];"
                         "mul.wide.u32 %y, %b, 4; add.s64 %y, %y, %o; st.global.u32 [%y], %b;"),
     GOAL_RACE, PROOF_PROVED},
    {"a guarded store to local memory",
     KERNEL("threads=8", "setp.eq.u32 %p, %a, 3; st.local.u32 [l], %a; @%p st.local.u32 [l], 3;"
                         "ld.local.u32 %b, [l]; mul.wide.u32 %y, %b, 4; add.s64 %y, %y, %o;"
                         "st.global.u32 [%y], %b;"),
     GOAL_RACE, PROOF_PROVED},
    {"sums that wrap",
     KERNEL("threads=8", "add.u32 %b, %a, 0x7fffffff; setp.lt.s32 %p, %b, 0;"
                         "@%p st.global.u32 [%o], %a;"),
     GOAL_RACE, PROOF_MODEL},
    {"an atomic's result that is not 0",
     KERNEL("threads=8", "atom.global.add.u32 %b, [%q], 1; setp.ne.u32 %p, %b, 0;"
                         "@%p st.global.u32 [%o], %a;"),
     GOAL_RACE, PROOF_MODEL},
    {"a generic address",
     KERNEL("threads=8", "cvta.global.u64 %x, %x; st.u32 [%x], %a;"
                         "ld.u32 %b, [%o+4];"),
     GOAL_RACE, PROOF_MODEL},
    {"a generic address of shared memory",
     KERNEL("threads=8", "mov.u64 %y, s; cvta.shared.u64 %y, %y; st.u32 [%y], %a;"), GOAL_RACE,
     PROOF_MODEL},
    {"a barrier",
     KERNEL("threads=8", "st.global.u32 [%x], %a; bar.sync 0; ld.global.u32 %b, [%o];"), GOAL_RACE,
     PROOF_PROVED},
    {"memory behind a barrier",
     KERNEL("threads=4", "st.global.u32 [%x], %a; bar.sync 0; ld.global.u32 %b, [%x];"
                         "and.b32 %b, %b, 3; mul.wide.u32 %y, %b, 4; add.s64 %y, %y, %q;"
                         "st.global.u32 [%y], %a;"),
     GOAL_RACE, PROOF_MODEL},
    {"atomics", KERNEL("threads=8", "red.global.add.u32 [%o], 1;"), GOAL_RACE, PROOF_PROVED},
    {"strong accesses of the device are no race with each other, nor with atomics",
     KERNEL("threads=8", "st.relaxed.gpu.global.u32 [%o], %a; ld.volatile.global.u32 %b, [%o]; "
                         "red.global.add.u32 [%o], 1;"),
     GOAL_RACE, PROOF_PROVED},
    {"they are one with a plain access",
     KERNEL("threads=8", "st.relaxed.gpu.global.u32 [%o], %a; ld.global.u32 %b, [%o];"), GOAL_RACE,
     PROOF_MODEL},
    {"those of a block are plain to another one",
     KERNEL("threads=1 blocks=2", "st.relaxed.cta.global.u32 [%o], %a;"), GOAL_RACE, PROOF_MODEL},
    {"those of two sizes are plain",
     KERNEL("threads=8", "st.relaxed.gpu.global.u32 [%o], %a; st.relaxed.gpu.global.u8 [%o], %a;"),
     GOAL_RACE, PROOF_MODEL},
    {"a strong read gives what another thread writes",
     KERNEL("threads=2", "ld.volatile.global.u32 %b, [%o]; st.volatile.global.u32 [%o], 5; "
                         "setp.eq.u32 %p, %b, 5; @%p st.global.u32 [%o+4], 1;"),
     GOAL_RACE, PROOF_MODEL},
    {"an atomic and a read",
     KERNEL("threads=8", "red.global.add.u32 [%o], 1; ld.global.u32 %b, [%o];"), GOAL_RACE,
     PROOF_MODEL},
    {"an atomic's result",
     KERNEL("threads=8", "atom.global.add.u32 %b, [%q], 1; and.b32 %b, %b, 7;"
                         "mul.wide.u32 %y, %b, 4; add.s64 %y, %y, %o;"
                         "st.global.u32 [%y], %a;"),
     GOAL_RACE, PROOF_MODEL},
    {"a buffer's contents",
     KERNEL("threads=8", "ld.global.u32 %b, [%q]; setp.eq.u32 %p, %b, %a;"
                         "@%p st.global.u32 [%o], %a;"),
     GOAL_RACE, PROOF_PROVED},
    {"signs of indices",
     KERNEL("threads=4", "sub.u32 %b, %a, 4; mul.wide.s32 %y, %b, 4; add.s64 %y, %y, %o;"
                         "st.global.u32 [%y+16], %a;"),
     GOAL_BOUNDS, PROOF_PROVED},
    {"no signs of indices",
     KERNEL("threads=4", "sub.u32 %b, %a, 4; mul.wide.u32 %y, %b, 4; add.s64 %y, %y, %o;"
                         "st.global.u32 [%y+16], %a;"),
     GOAL_BOUNDS, PROOF_MODEL},
    {"the last element", KERNEL("threads=16", "st.global.u32 [%x], %a;"), GOAL_BOUNDS,
     PROOF_PROVED},
    {"behind the last element", KERNEL("threads=17", "st.global.u32 [%x], %a;"), GOAL_BOUNDS,
     PROOF_MODEL},
    {"an address that is no multiple",
     KERNEL("threads=4", "cvt.u64.u32 %y, %a; add.s64 %y, %y, %o; ld.global.u16 %b, [%y];"),
     GOAL_BOUNDS, PROOF_MODEL},
    {"any trip",
     KERNEL("threads=4", "more: st.global.u32 [%x], %a; add.s64 %x, %x, 16;"
                         "add.u32 %a, %a, 4; setp.lt.u32 %p, %a, 16; @%p bra more;"),
     GOAL_RACE, PROOF_PROVED},
    {"trips that meet",
     KERNEL("threads=4", "more: st.global.u32 [%x], %a; add.s64 %x, %x, 4;"
                         "add.u32 %a, %a, 4; setp.lt.u32 %p, %a, 16; @%p bra more;"),
     GOAL_RACE, PROOF_MODEL},
    {"together at a barrier",
     KERNEL("threads=8", "ld.global.u32 %b, [%o]; setp.eq.u32 %p, %b, 0;"
                         "@%p bra on; bar.sync 0; on:"),
     GOAL_DIVERGENCE, PROOF_PROVED},
    {"apart at a barrier",
     KERNEL("threads=8", "setp.eq.u32 %p, %a, 0; @%p bra on; bar.sync 0; on:"), GOAL_DIVERGENCE,
     PROOF_MODEL},
    {"a trap", KERNEL("threads=8", "setp.eq.u32 %p, %a, 7; @%p trap;"), GOAL_ASSERTS, PROOF_MODEL},
    {"no trap", KERNEL("threads=7", "setp.eq.u32 %p, %a, 7; @%p trap;"), GOAL_ASSERTS,
     PROOF_PROVED},
};

static void every_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        enum proof_verdict is = prove(rules[i].kernel, rules[i].goal);
        if (is != rules[i].wanted)
            fail_msg("%s: %s, not %s", rules[i].name, proof_verdict_names[is],
                     proof_verdict_names[rules[i].wanted]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(computations),
                                       cmocka_unit_test(every_rule)};
    return RUN_WITH_SOLVER(tests);
}
