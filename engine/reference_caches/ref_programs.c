#include "engine/reference_caches/ref_caches.h"

#include <string.h>

/* memory-device A.1, where every address is cached in L2 (R2): `.` yields, {..} is left out if the address is cached in
 * L1, {..}{..} is one or the other. */
static const struct {
    const char *name, *text;
} programs[] = {
    {"st.global", "discardL1 . writeL2 releaseRegs end"},
    {"st.global.cs", "discardL1 . writeL2 releaseRegs end"},
    {"st.global.wt", "discardL1 . writeL2 releaseRegs end"},
    {"st.global, strong", "writeL2 discardL1 releaseRegs end"},
    {"st.global.cs, strong", "writeL2 discardL1 releaseRegs end"},
    {"st.global.wt, strong", "writeL2 discardL1 releaseRegs end"},
    {"ld.ca", "{ reserveL1 . readL2 . updateL1 } readL1 . writeToRegs . releaseRegs end"},
    {"ld.cs", "{ reserveL1 firstL1 . readL2 . updateL1 } readL1 . writeToRegs . releaseRegs end"},
    {"ld.cg", "evictL1 . readL2 . writeToRegs . releaseRegs end"},
    {"ld.cv", "evictL1 . readL2 . writeToRegs . releaseRegs end"},
    {"ld.local.lu", "{ readL2 }{ readL1 . discardL1 } . writeToRegs . releaseRegs end"},
    {"st.local", "writeL1 normalL1 . releaseRegs end"},
    {"st.local.cs", "writeL1 firstL1 . releaseRegs end"},
    {"atom.global", "evictL1 . readL2 writeL2 . writeToRegs . releaseRegs end"},
    {"atom.global, strong", "evictL1 . readL2 writeL2 discardL1 . writeToRegs . releaseRegs end"},
    {"atom.shared", "lock readMem . atomOp . writeMem . unlock . writeToRegs . releaseRegs end"},
    {"ld.shared", "readMem . writeToRegs . releaseRegs end"},
    {"st.shared", "writeMem . releaseRegs end"},
};

static enum ptx_word word_of(const struct ptx_instruction *i, enum ptx_slot slot)
{
    return (enum ptx_word)i->words[slot];
}

static bool is(const struct ptx_instruction *i, enum ptx_opcode opcode)
{
    return ptx_forms[i->form].opcode == opcode;
}

static bool is_load(const struct ptx_instruction *i)
{
    return is(i, PTX_OP_LD) || is(i, PTX_OP_LDU);
}

/* MP.acq/rel: relaxed, acquire and release are volatile; an atomic has its own programs. */
bool ref_is_ordered(const struct ptx_instruction *i)
{
    enum ptx_word sem = word_of(i, PTX_SLOT_SEM);
    return (is(i, PTX_OP_LD) || is(i, PTX_OP_ST)) && sem != PTX_W_NONE && sem != PTX_W_WEAK;
}

bool ref_acquires(const struct ptx_instruction *i)
{
    enum ptx_word sem = word_of(i, PTX_SLOT_SEM);
    return sem == PTX_W_ACQUIRE || sem == PTX_W_ACQ_REL;
}

bool ref_releases(const struct ptx_instruction *i)
{
    enum ptx_word sem = word_of(i, PTX_SLOT_SEM);
    return sem == PTX_W_RELEASE || sem == PTX_W_ACQ_REL;
}

static const char *load(const struct ptx_instruction *i, enum ast_space space)
{
    enum ptx_word cop = word_of(i, PTX_SLOT_CACHE);
    bool soon = cop == PTX_W_CS || cop == PTX_W_LU;
    if (space == SPACE_SHARED)
        return "ld.shared";
    if (space == SPACE_LOCAL)
        return soon ? "ld.local.lu" : "ld.ca";
    if (cop == PTX_W_CV)
        return "ld.cv";
    if (cop == PTX_W_CG || ref_is_ordered(i))
        return "ld.cg";
    return soon ? "ld.cs" : "ld.ca";
}

static const char *store(const struct ptx_instruction *i, enum ast_space space, bool strong)
{
    enum ptx_word cop = word_of(i, PTX_SLOT_CACHE);
    if (space == SPACE_SHARED)
        return "st.shared";
    if (space == SPACE_LOCAL)
        return cop == PTX_W_CS || cop == PTX_W_CG ? "st.local.cs" : "st.local";
    if (cop == PTX_W_WT || ref_is_ordered(i))
        return strong ? "st.global.wt, strong" : "st.global.wt";
    if (cop == PTX_W_CS)
        return strong ? "st.global.cs, strong" : "st.global.cs";
    return strong ? "st.global, strong" : "st.global";
}

const char *ref_program_name(const struct ref_caches *m, const struct ptx_instruction *i,
                             enum ast_space space)
{
    bool strong = m->profile == REF_COHERENT;
    if (is_load(i))
        return load(i, space);
    if (is(i, PTX_OP_ST))
        return store(i, space, strong);
    if (space == SPACE_SHARED)
        return "atom.shared";
    return strong ? "atom.global, strong" : "atom.global";
}

void ref_issue(struct ref_caches *m, const struct ref_operation *operation, enum ast_space space)
{
    const char *name = ref_program_name(m, operation->instruction, space);
    struct ref_operation *x = &m->operations[m->operation_count++];
    *x = *operation;
    x->ordered = ref_is_ordered(x->instruction);
    x->pins = false;
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++)
        if (strcmp(programs[p].name, name) == 0)
            x->rest = programs[p].text;
}

bool ref_has_byte(const struct ref_operation *x, uint32_t byte)
{
    for (uint32_t l = 0; l < LIMIT_WARP; l++)
        if (x->lanes[l] && x->line + byte >= x->byte[l] &&
            x->line + byte < x->byte[l] + (int64_t)x->bytes * x->count)
            return true;
    return false;
}

static bool has_word(const struct ref_caches *m, const struct ref_operation *x, int64_t word)
{
    for (uint32_t k = 0; k < 4; k++) {
        int64_t byte = word * 4 + k - x->line;
        if (byte >= 0 && byte < m->line_bytes && ref_has_byte(x, (uint32_t)byte))
            return true;
    }
    return false;
}

bool ref_in_order(const struct ref_caches *m, const struct ref_operation *x)
{
    for (uint32_t o = 0; o < m->operation_count && m->profile != REF_PRINTED; o++) {
        const struct ref_operation *y = &m->operations[o];
        bool loads = is_load(x->instruction) && is_load(y->instruction);
        if (y->group != x->group || (loads && m->profile == REF_LLH))
            continue;
        for (int64_t word = x->line / 4; word < (x->line + m->line_bytes) / 4; word++)
            if (has_word(m, x, word) && has_word(m, y, word))
                return false;
    }
    return true;
}

/* The operation has a byte in a word in which the lanes have one. */
static bool meets(const struct ref_caches *m, const struct ref_operation *y, uint32_t bytes,
                  uint64_t lanes, const uint32_t *byte)
{
    for (uint32_t word = 0; word < m->line_bytes / 4; word++) {
        const int64_t from = y->line + 4 * word;
        for (uint32_t l = 0; l < LIMIT_WARP && has_word(m, y, from / 4); l++)
            if (lanes >> l & 1 && byte[l] < from + 4 && byte[l] + (int64_t)bytes > from)
                return true;
    }
    return false;
}

bool ref_keeps_order(const struct ref_caches *m, uint32_t group, bool loads, uint32_t bytes,
                     uint64_t lanes, const uint32_t *byte)
{
    for (uint32_t o = 0; o < m->operation_count && m->profile != REF_PRINTED; o++) {
        const struct ref_operation *y = &m->operations[o];
        bool both = loads && is_load(y->instruction);
        if (y->group == group && !(both && m->profile == REF_LLH) &&
            meets(m, y, bytes, lanes, byte))
            return false;
    }
    return true;
}

bool ref_one_writes(const struct ref_caches *m, const struct ref_operation *x)
{
    for (uint32_t b = 0; b < m->line_bytes; b++) {
        uint32_t writers = 0;
        for (uint32_t l = 0; l < LIMIT_WARP; l++)
            writers += x->writes[l] && x->line + b >= x->byte[l] &&
                       x->line + b < x->byte[l] + (int64_t)x->bytes * x->count;
        if ((writers > 0) != ref_has_byte(x, b))
            return false;
    }
    return true;
}

bool ref_any_under_way(const struct ref_caches *m, uint32_t group, uint64_t lanes)
{
    for (uint32_t o = 0; o < m->operation_count; o++)
        for (uint32_t l = 0; l < LIMIT_WARP && m->operations[o].group == group; l++)
            if (m->operations[o].lanes[l] && lanes >> l & 1)
                return true;
    return false;
}

uint32_t ref_operation_at(const struct ref_caches *m, uint32_t group, uint32_t place)
{
    uint32_t o = 0;
    while (o < m->operation_count && (m->operations[o].group != group || place-- > 0))
        o++;
    return o;
}

void ref_remove_operation(struct ref_caches *m, uint32_t o)
{
    m->operation_count--;
    memmove(&m->operations[o], &m->operations[o + 1],
            (m->operation_count - o) * sizeof *m->operations);
}
