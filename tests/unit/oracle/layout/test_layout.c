/*
 * A program that is laid out otherwise than its text says is told, whatever is changed of it. Drawn modules are laid
 * out as they say. TEXTS=N: so many.
 */
#include "oracle/layout/layout.h"

#include "engine/crs/crs.h"
#include "engine/input/input.h"
#include "engine/machine/machine.h"
#include "engine/schedule/sched.h"
#include "oracle/texts/texts.h"
#include "tests/unit/shared/support.h"

#include <stdlib.h>
#include <string.h>

static const char text[] =
    "// simtfuzz: entry=k blocks=2 threads=32 bind:a=buffer:9:iota bind:n=5\n"
    ".version 8.6\n.target sm_90\n.address_size 64\n"
    ".global .u32 g[3] = {1, 2};\n.const .b64 c = g;\n.shared .align 16 .b8 s[20];\n"
    ".func (.reg .b32 back) f (.reg .b32 a, .param .b64 b)\n{\n"
    "\t.reg .b64 w;\n\t.local .b32 l[4];\n"
    "\tld.param.b64 w, [b];\n\tst.local.b32 [l+4], a;\n\tmov.b32 back, a;\n\tret;\n}\n"
    ".visible .entry k (.param .u64 a, .param .u32 n)\n{\n"
    "\t.reg .pred p;\n\t.reg .b32 r<3>;\n\t.reg .b64 w<2>;\n"
    "\tld.param.u64 w0, [a];\n\tld.param.u32 r0, [n];\n"
    "\tsetp.lt.u32 p, r0, 7;\n\tmov.u32 r1, %tid.x;\n"
    "\tadd.cc.u32 r2, r0, r1;\n\taddc.u32 r2, r2, 0;\n"
    "\t@!p bra L;\n\tcall (r2), f, (r1, w0);\n"
    "\tst.shared.b8 [s+1], r2;\nL:\n\tbar.sync 3, 32;\n\tld.const.b64 w1, [c];\n"
    "\tatom.global.add.u32 r1, [w0+4], r2;\n\tret;\n}\n";

/* Each changes one thing. */
static struct ptx_op *op_of(struct ptx_code *code, enum ptx_opcode opcode)
{
    for (uint32_t pc = 1; pc < code->count; pc++)
        if (code->ops[pc].opcode == opcode)
            return &code->ops[pc];
    fail_msg("no such instruction");
    return NULL;
}

#define CHANGE(name, change)                                                                       \
    static void name(struct program *program, struct ptx_code *code)                               \
    {                                                                                              \
        (void)program, (void)code;                                                                 \
        change;                                                                                    \
    }

CHANGE(other_register, op_of(code, PTX_OP_SETP)->sources[0].offset++)
CHANGE(other_constant, code->constant_rows[op_of(code, PTX_OP_SETP)->sources[1].offset + 3]++)
CHANGE(other_special, code->specials[0].element = 'y')
CHANGE(other_carry, op_of(code, PTX_OP_ADDC)->sources[2].offset++)
CHANGE(other_guard, op_of(code, PTX_OP_BRA)->guard_not = false)
CHANGE(other_target, op_of(code, PTX_OP_BRA)->target++)
CHANGE(other_callee, op_of(code, PTX_OP_CALL)->target++)
CHANGE(other_argument, code->copies[op_of(code, PTX_OP_CALL)->copy + 1].callee_byte += 8)
CHANGE(fewer_arguments, op_of(code, PTX_OP_CALL)->copy_count--)
CHANGE(other_bytes, op_of(code, PTX_OP_ST)->bytes = 4)
CHANGE(other_space, op_of(code, PTX_OP_ATOM)->space = PTX_W_SHARED)
CHANGE(other_offset, op_of(code, PTX_OP_ATOM)->offset += 4)
CHANGE(other_operation, op_of(code, PTX_OP_ATOM)->mode = PTX_W_MIN)
CHANGE(no_count, op_of(code, PTX_OP_BAR)->has_count = false)
CHANGE(no_named_barrier, code->has_named_barriers = false)
CHANGE(fewer_barriers, code->barriers = 1)
CHANGE(less_deep, code->depth--)
CHANGE(fewer_registers, code->rows.wide--)
CHANGE(smaller_frames, code->frame_bytes -= 16)
CHANGE(fewer_tokens, code->token_capacity--)
CHANGE(moved_variable, code->shared.items[0].address += 4)
CHANGE(shorter_variable, code->global.items[0].bytes -= 4)
CHANGE(other_first_value, code->initial[1]++)
CHANGE(other_buffer, code->initial[5]++)
CHANGE(other_parameter, code->constant.items[0].word++)
CHANGE(other_footprint, program->stms[op_of(code, PTX_OP_ST) - code->ops].writes = 0)
CHANGE(coarser_locations, program->units = 1)
CHANGE(said_to_be_read, code->uninitialised = "register r0")
CHANGE(other_line, op_of(code, PTX_OP_BAR)->source_line++)

static void (*const changes[])(struct program *program, struct ptx_code *code) = {
    other_register,  other_constant,    other_special,     other_carry,     other_guard,
    other_target,    other_callee,      other_argument,    fewer_arguments, other_bytes,
    other_space,     other_offset,      other_operation,   no_count,        no_named_barrier,
    fewer_barriers,  less_deep,         fewer_registers,   smaller_frames,  fewer_tokens,
    moved_variable,  shorter_variable,  other_first_value, other_buffer,    other_parameter,
    other_footprint, coarser_locations, said_to_be_read,   other_line};

static const char *differs(struct arena *arena, void (*change)(struct program *, struct ptx_code *))
{
    static struct diag diag;
    const char *why = "";
    diag_init(&diag, "text", text, strlen(text));
    const struct ast_kernel *kernel = parse_kernel(arena, text, strlen(text), &diag);
    assert_non_null(kernel);
    struct program *program = program_compile(arena, kernel, &why);
    assert_non_null(program);
    struct ptx_code *code = (struct ptx_code *)(uintptr_t)program->ptx;
    if (change)
        change(program, code);
    return layout_differs(arena, program, true);
}

static void changed(void **state)
{
    struct arena *arena = &test_arena;
    (void)state;
    assert_null(differs(arena, NULL));
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (!differs(arena, changes[i]))
            fail_msg("change %zu is not told", i);
}

/* A machine that has run into an access out of bounds. */
static struct machine *run(const char *access)
{
    static struct diag diag;
    const char *why = "";
    const char *faulty =
        arena_printf(&test_arena,
                     "// simtfuzz: entry=k threads=1\n.version 8.6\n.target sm_90\n"
                     ".address_size 64\n.global .u32 g[3];\n.global .u32 h;\n"
                     ".visible .entry k ()\n{\n\t.local .b32 l[4];\n\t.reg .b64 w;\n"
                     "\tmov.u64 w, 0;\n\t%s;\n\tret;\n}\n",
                     access);
    diag_init(&diag, "text", faulty, strlen(faulty));
    const struct ast_kernel *kernel = parse_kernel(&test_arena, faulty, strlen(faulty), &diag);
    assert_non_null(kernel);
    const struct program *program = program_compile(&test_arena, kernel, &why);
    assert_non_null(program);
    struct machine_options options = {.block_options = 0};
    struct machine *machine = machine_new(&test_arena, &semantics_block, program, &options);
    const struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, machine, &test_arena);
    assert_int_equal(machine_run(machine, &scheduler.choices, 100, NULL), STATUS_OUT_OF_BOUNDS);
    return machine;
}

static void told(const char *access, const char *variable)
{
    struct machine *machine = run(access);
    const struct machine_fault fault = machine->fault;
    const char *said = machine->fault_text;
    assert_null(layout_fault(&test_arena, machine));
    assert_true(variable ? strcmp(fault.variable, variable) == 0 : !fault.variable);
    machine->fault.variable = variable ? NULL : "x";
    assert_non_null(layout_fault(&test_arena, machine));
    machine->fault = fault;
    machine->fault.offset += variable != NULL;
    machine->fault.bytes += !variable;
    assert_non_null(layout_fault(&test_arena, machine));
    machine->fault = fault;
    machine->fault_text = "read of 4 bytes";
    assert_non_null(layout_fault(&test_arena, machine));
    machine->fault_text = said;
    if (variable)
        machine->fault.address -= 8; /* which is one of its bytes */
    else
        machine->fault.address++;
    assert_non_null(layout_fault(&test_arena, machine));
}

static void out_of_bounds(void **state)
{
    (void)state;
    told("st.global.u32 [g+16], 1", "g");
    told("st.local.u32 [l+16], 1", "l");
    told("ld.global.u64 w, [w]", NULL);
}

static void drawn(void **state)
{
    struct arena *arena = &test_arena;
    (void)state;
    const char *how_many = getenv("TEXTS"), *module;
    const uint32_t all = how_many ? (uint32_t)strtoul(how_many, NULL, 10) : 400;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < all; i++) {
        const size_t mark = arena_mark(arena);
        bool is_taken;
        const char *wrong = texts_of_layout(arena, i, &module, &is_taken);
        if (wrong)
            fail_msg("module %u: %s\n%s", i, wrong, module);
        taken += is_taken;
        arena_release(arena, mark);
    }
    assert_true(5 * taken > 4 * all); /* else it draws what nobody takes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(changed), cmocka_unit_test(out_of_bounds),
                                       cmocka_unit_test(drawn)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
