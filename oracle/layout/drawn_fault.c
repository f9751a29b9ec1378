/*
 * drawn_fault.c - a thread that makes one access, drawn around the bounds of variables in all spaces, within a call or
 * not: whether it is out of bounds, and what is said then.
 */
#include "engine/base/pcg.h"
#include "engine/crs/crs.h"
#include "engine/input/input.h"
#include "engine/machine/machine.h"
#include "engine/schedule/sched.h"
#include "oracle/layout/layout.h"

#include <string.h>

enum { LAYOUT_STREAM = 41 };

/* "st.u16 [w+8], h": w is the address of a variable, or a number. */
static const char *drawn_access(struct arena *arena, struct pcg *rng, const char **base)
{
    static const char *const bases[] = {"g0", "g1",  "s0", "l0",     "l1",
                                        "c0", "own", "0",  "0x7fff", "4096"};
    static const char *const spaces[] = {".global", ".global", ".shared", ".local",
                                         ".local",  ".const",  ".local"};
    const uint32_t which = pcg_below(rng, 10), bits = 8u << pcg_below(rng, 4),
                   kind = pcg_below(rng, 4);
    const char *space = which < 7 && pcg_below(rng, 2) ? spaces[which] : "";
    const int32_t by = (int32_t)pcg_below(rng, 64) - 16 + (pcg_below(rng, 8) == 0 ? 100000 : 0);
    const bool atomic =
        kind == 0 && bits >= 32 && strcmp(space, ".const") != 0 && strcmp(space, ".local") != 0;
    const char reg = bits == 64 ? 'v' : bits == 32 ? 'r' : 'h';
    *base =
        which < 7 && !*space && which < 6
            ? arena_printf(arena, "mov.u64 w, %s;\n\tcvta%s.u64 w, w", bases[which], spaces[which])
            : arena_printf(arena, "mov.u64 w, %s", bases[which]);
    if (atomic)
        return arena_printf(arena, "atom%s.add.u%u %c, [w+%d], 1", space, bits, reg, by);
    if (kind == 1 && strcmp(space, ".const") != 0)
        return arena_printf(arena, "st%s.u%u [w+%d], %c", space, bits, by, reg);
    return arena_printf(arena, "ld%s.u%u %c, [w+%d]", space, bits, reg, by);
}

const char *layout_drawn_fault(struct arena *arena, uint64_t number, const char **text)
{
    struct pcg rng = pcg_derive(number, PCG_TRANSFORM, LAYOUT_STREAM);
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const bool called = pcg_below(&rng, 2);
    const char *base, *access = drawn_access(arena, &rng, &base), *why = "";
    const char *const body =
        arena_printf(arena,
                     "\t.reg .b16 h;\n\t.reg .b32 r;\n\t.reg .b64 w, v;\n"
                     "\t.local .b32 l1[%u];\n\t.local .b8 own[%u];\n\t%s;\n\t%s;\n",
                     1 + pcg_below(&rng, 4), 1 + pcg_below(&rng, 9), base, access);
    *text = arena_printf(
        arena,
        "// simtfuzz: entry=k threads=1\n.version 8.6\n.target sm_90\n.address_size 64\n"
        ".global .u32 g0[3];\n.global .b8 g1[5];\n.shared .b64 s0[2];\n.local .b16 l0[3];\n"
        ".const .b32 c0[2] = {1, 2};\n.func f ()\n{\n%s\tret;\n}\n.visible .entry k "
        "()\n{\n%s\tret;\n}\n",
        body, called ? "\t.local .b64 around[3];\n\tcall f;\n" : body);
    diag_init(diag, "text", *text, strlen(*text));
    const struct ast_kernel *kernel = parse_kernel(arena, *text, strlen(*text), diag);
    const struct program *program = kernel ? program_compile(arena, kernel, &why) : NULL;
    if (!program)
        return NULL;
    const struct machine_options options = {.block_options = 0};
    const struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    struct machine *machine = machine_new(arena, &semantics_block, program, &options);
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, machine, arena);
    return machine_run(machine, &scheduler.choices, 100, NULL) == STATUS_OUT_OF_BOUNDS
               ? layout_fault(arena, machine)
               : NULL;
}
