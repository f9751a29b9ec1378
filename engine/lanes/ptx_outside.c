#include "engine/lanes/ptx_outside.h"

#include "engine/lanes/ptx_exec_internal.h"

#include <stdio.h>

uint64_t ptx_outside_argument(const struct machine *machine, const struct ptx_lanes *lanes,
                              uint32_t pc, uint32_t lane, uint32_t number)
{
    const struct ptx_code *code = machine->program->ptx;
    const struct ptx_op *op = &code->ops[pc];
    const struct ptx_copy *copy = &code->copies[op->copy + number];
    const uint32_t local = 4 * machine->threads[lanes->first_thread + lane].base[SPACE_LOCAL];
    uint64_t value = 0;
    if (number >= op->copy_count)
        return 0;
    if (copy->caller.kind != PTX_PLACE_NONE)
        return ptx_source(machine, lanes, &copy->caller, lane);
    const char *from =
        (const char *)machine->memory + local + lanes->lane[lane].byte + copy->caller_byte;
    memcpy(&value, from, copy->bytes < sizeof value ? copy->bytes : sizeof value);
    return value;
}

uint32_t ptx_outside_caller(const struct ptx_lanes *lanes, uint32_t lane)
{
    const uint32_t depth = lanes->lane[lane].depth;
    return depth > 0 ? *ptx_site(lanes, depth, lane) & ~PTX_SITE_SHARES : 0;
}

uint32_t ptx_outside_bytes(const struct machine *machine, const struct ptx_lanes *lanes,
                           uint32_t lane, uint64_t address, void *to, uint32_t room)
{
    uint32_t bytes = 0;
    const void *from = ptx_generic_bytes(machine, lanes, lane, address, &bytes);
    bytes = bytes < room ? bytes : room;
    if (bytes > 0)
        memcpy(to, from, bytes);
    return bytes;
}

void ptx_outside_text(const struct machine *machine, const struct ptx_lanes *lanes, uint32_t lane,
                      uint64_t address, char *to, uint32_t room)
{
    uint32_t bytes = ptx_outside_bytes(machine, lanes, lane, address, to, room - 1);
    to[bytes] = '\0';
    for (char *c = to; *c; c++)
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? ' ' : *c;
}

/* __assertfail(message, file, line, function, ..): the message; else it is a trap. */
void ptx_assert_text(struct machine *machine, const struct ptx_lanes *lanes, uint32_t pc,
                     lane_mask X)
{
    struct ptx_scratch *scratch = machine->scratch;
    const uint32_t lane = lowest_lane(X);
    char said[PTX_TEXT - 32];
    if (machine->program->ptx->ops[pc].outside != PTX_OUTSIDE_ASSERT) {
        machine->fault_text = "trap is executed";
        return;
    }
    uint64_t address = ptx_outside_argument(machine, lanes, pc, lane, 0);
    ptx_outside_text(machine, lanes, lane, address, said, sizeof said);
    snprintf(scratch->text, PTX_TEXT, "the assertion is %s", said);
    machine->fault_text = *said ? scratch->text : NULL;
}
