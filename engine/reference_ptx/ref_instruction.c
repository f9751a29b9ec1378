/*
 * ref_instruction.c - what a PTX instruction computes, for one lane: from the words of the instruction, as PTX ISA 9.7
 * writes it, with loops over bits and numbers that are wide enough. (Floating point: ref_float.c.)
 */
#include "engine/reference_ptx/ref_ptx_internal.h"

#include <math.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

/* The number that an element stands for. */
static wide number(uint64_t element, struct ptx_type type)
{
    wide value = element & ref_ones(type.bits);
    bool is_negative =
        type.kind == PTX_CLASS_INT && type.is_signed && (element >> (type.bits - 1) & 1);
    return is_negative ? value - ((wide)1 << type.bits) : value;
}

static wide clamp(wide value, struct ptx_type type)
{
    wide most = type.is_signed ? ((wide)1 << (type.bits - 1)) - 1 : ((wide)1 << type.bits) - 1;
    wide least = type.is_signed ? -((wide)1 << (type.bits - 1)) : 0;
    return value > most ? most : value < least ? least : value;
}

/* ---- integers ---- */

static uint32_t bit_count(uint64_t a, uint32_t bits)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < bits; i++)
        count += a >> i & 1;
    return count;
}

/* The number of the highest bit of a that is `which`; all ones. */
static uint32_t highest(uint64_t a, uint32_t bits, bool which)
{
    for (uint32_t i = bits; i-- > 0;)
        if ((a >> i & 1) == which)
            return i;
    return UINT32_MAX;
}

static wide low_24_bits(uint64_t a, bool is_signed)
{
    return number(a & 0xffffff, (struct ptx_type){PTX_CLASS_INT, 24, is_signed});
}

static void field_of(struct ref_computing *r, enum ptx_opcode opcode, struct ptx_type type)
{
    bool is_insert = opcode == PTX_OP_BFI;
    uint32_t place = r->s[is_insert ? 2 : 1] & 0xff, length = r->s[is_insert ? 3 : 2] & 0xff;
    uint32_t msb = type.bits - 1u;
    uint64_t a = r->s[0];
    r->d[0] = is_insert ? r->s[1] : 0;
    if (is_insert) {
        for (uint32_t i = 0; i < length && place + i <= msb; i++)
            r->d[0] = (r->d[0] & ~((uint64_t)1 << (place + i))) | (a >> i & 1) << (place + i);
        return;
    }
    uint32_t top = place + length - 1 < msb ? place + length - 1 : msb;
    bool sign = type.is_signed && length > 0 && (a >> top & 1);
    for (uint32_t i = 0; i <= msb; i++) {
        bool bit = i < length && place + i <= msb ? a >> (place + i) & 1 : sign;
        r->d[0] |= (uint64_t)bit << i;
    }
}

static uint32_t fns_of(uint32_t mask, uint32_t base, int32_t offset)
{
    int64_t count = (offset < 0 ? -(int64_t)offset : offset) - 1;
    int pos = (int)base, inc = offset > 0 ? 1 : -1;
    if (base > 31)
        return UINT32_MAX;
    if (offset == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    for (; pos >= 0 && pos < 32; pos += inc)
        if ((mask >> pos & 1) && count-- == 0)
            return (uint32_t)pos;
    return UINT32_MAX;
}

static uint32_t bmsk_of(uint32_t a, uint32_t b, bool clamp_mode)
{
    uint32_t a1 = a & 31, b1 = b & 31, sum = a1 + b1;
    uint32_t mask0 = UINT32_MAX << a1, mask1 = sum < 32 ? UINT32_MAX << sum : 0;
    bool is_over = sum >= 32;
    if (clamp_mode && a >= 32) {
        is_over = true;
        mask0 = 0;
    }
    if (clamp_mode && b >= 32)
        is_over = true;
    if (is_over)
        mask1 = 0;
    else if (b1 == 0)
        mask1 = UINT32_MAX;
    return mask0 & ~mask1;
}

static uint32_t prmt_of(enum ptx_word mode, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t d = 0, k = c & 3;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t which = 0;
        switch ((int)mode) {
        case PTX_W_F4E:
            which = k + i;
            break;
        case PTX_W_B4E:
            which = (k + 8 - i) & 7;
            break;
        case PTX_W_RC8:
            which = k;
            break;
        case PTX_W_ECL:
            which = i > k ? i : k;
            break;
        case PTX_W_ECR:
            which = i < k ? i : k;
            break;
        case PTX_W_RC16:
            which = (k & 1) * 2 + (i & 1);
            break;
        default:
            which = c >> 4 * i & 15;
        }
        uint32_t byte =
            (which & 7) < 4 ? a >> 8 * (which & 7) & 0xff : b >> 8 * ((which & 7) - 4) & 0xff;
        if (which & 8)
            byte = byte & 0x80 ? 0xff : 0;
        d |= byte << 8 * i;
    }
    return d;
}

/* vabsdiff4: of each byte; .add: the sum of all, and c. */
static uint32_t absolute_differences(const struct ref_computing *r, bool is_signed, uint32_t a,
                                     uint32_t b, uint32_t c)
{
    struct ptx_type p = {PTX_CLASS_INT, 8, ref_word_of(r, PTX_SLOT_TYPE2) == PTX_W_S32};
    struct ptx_type q = {PTX_CLASS_INT, 8, ref_word_of(r, PTX_SLOT_TYPE3) == PTX_W_S32};
    uint32_t bytes = 0, sum = c;
    for (uint32_t i = 0; i < 32; i += 8) {
        wide t = number(a >> i & 0xff, p) - number(b >> i & 0xff, q);
        t = t < 0 ? -t : t;
        if (ref_word_of(r, PTX_SLOT_SAT) == PTX_W_SAT)
            t = clamp(t, (struct ptx_type){PTX_CLASS_INT, 8, is_signed});
        bytes |= ((uint32_t)t & 0xff) << i;
        sum += (uint32_t)t;
    }
    return ref_word_of(r, PTX_SLOT_OP) == PTX_W_ADD ? sum : bytes;
}

/* Two numbers of 16 bits, each half on its own. */
static void pair_of(struct ref_computing *r, enum ptx_opcode opcode)
{
    bool is_signed = ref_word_of(r, PTX_SLOT_TYPE) == PTX_W_S16X2;
    bool relu = ref_word_of(r, PTX_SLOT_SAT) == PTX_W_RELU;
    struct ptx_type type = {PTX_CLASS_INT, 16, is_signed};
    r->d[0] = 0;
    for (uint32_t i = 0; i < 32; i += 16) {
        wide a = number(r->s[0] >> i & 0xffff, type), b = number(r->s[1] >> i & 0xffff, type);
        wide d = opcode == PTX_OP_ADD   ? a + b
                 : opcode == PTX_OP_MIN ? (a < b ? a : b)
                 : a < b                ? b
                                        : a;
        r->d[0] |= ((uint64_t)(relu && d < 0 ? 0 : d) & 0xffff) << i;
    }
}

static void integer_of(struct ref_computing *r, enum ptx_opcode opcode)
{
    struct ptx_type type = ptx_type_of(ref_word_of(r, PTX_SLOT_TYPE));
    enum ptx_word mode = ref_word_of(r, PTX_SLOT_MODE);
    bool is_signed = type.kind == PTX_CLASS_INT && type.is_signed;
    bool clamp_mode = ref_word_of(r, PTX_SLOT_WRAP) == PTX_W_CLAMP;
    wide a = number(r->s[0], type), b = number(r->s[1], type), c = number(r->s[2], type), d = 0;
    uint32_t x = (uint32_t)r->s[0], y = (uint32_t)r->s[1], z = (uint32_t)r->s[2];
    uint32_t n = type.bits, amount = y < n ? y : n;
    switch ((int)opcode) {
    case PTX_OP_ADD:
        d = a + b;
        break;
    case PTX_OP_SUB:
        d = a - b;
        break;
    case PTX_OP_MUL:
    case PTX_OP_MAD:
        /* unsigned: of 64 bits the product fits no signed number */
        d = is_signed ? a * b : (wide)((uwide)a * (uwide)b);
        if (mode == PTX_W_HI)
            d = is_signed ? d >> n : (wide)((uwide)d >> n);
        if (mode == PTX_W_WIDE)
            c = (wide)r->s[2];
        d = opcode == PTX_OP_MAD ? (wide)((uwide)d + (uwide)c) : d;
        break;
    case PTX_OP_MUL24:
    case PTX_OP_MAD24:
        d = low_24_bits(r->s[0], is_signed) * low_24_bits(r->s[1], is_signed);
        d = mode == PTX_W_HI ? d >> 16 : d;
        if (ref_word_of(r, PTX_SLOT_SAT) == PTX_W_NONE)
            d &= (wide)ref_ones(32);
        d += opcode == PTX_OP_MAD24 ? c : 0;
        break;
    case PTX_OP_SAD:
        d = c + (a < b ? b - a : a - b);
        break;
    case PTX_OP_DIV:
        d = b == 0 ? -1 : a / b;
        break;
    case PTX_OP_REM:
        d = b == 0 ? -1 : a % b;
        break;
    case PTX_OP_ABS:
        d = a < 0 ? -a : a;
        break;
    case PTX_OP_NEG:
        d = -a;
        break;
    case PTX_OP_MIN:
        d = a < b ? a : b;
        break;
    case PTX_OP_MAX:
        d = a > b ? a : b;
        break;
    case PTX_OP_POPC:
        d = bit_count(r->s[0], n);
        break;
    case PTX_OP_CLZ:
        d = n - 1 - (wide)(int32_t)highest(r->s[0], n, true);
        break;
    case PTX_OP_BFIND:
        d = highest(r->s[0], n, a >= 0);
        if (mode == PTX_W_SHIFTAMT && d != UINT32_MAX)
            d = n - 1 - d;
        break;
    case PTX_OP_BREV:
        for (uint32_t i = 0; i < n; i++)
            d |= (wide)(r->s[0] >> i & 1) << (n - 1 - i);
        break;
    case PTX_OP_FNS:
        d = fns_of(x, y, (int32_t)z);
        break;
    case PTX_OP_BMSK:
        d = bmsk_of(x, y, clamp_mode);
        break;
    case PTX_OP_SZEXT:
        d = clamp_mode && y >= 32 ? (wide)x
            : (y & 31) == 0
                ? 0
                : number(x & ref_ones(y & 31), (struct ptx_type){PTX_CLASS_INT, y & 31, is_signed});
        break;
    case PTX_OP_DP4A:
        d = z;
        for (int i = 0; i < 32; i += 8) {
            struct ptx_type p = {PTX_CLASS_INT, 8, is_signed};
            struct ptx_type q = {PTX_CLASS_INT, 8, ref_word_of(r, PTX_SLOT_TYPE2) == PTX_W_S32};
            d += number(x >> i & 0xff, p) * number(y >> i & 0xff, q);
        }
        break;
    case PTX_OP_DP2A: {
        uint32_t first = mode == PTX_W_HI ? 16 : 0;
        struct ptx_type p = {PTX_CLASS_INT, 16, is_signed};
        struct ptx_type q = {PTX_CLASS_INT, 8, ref_word_of(r, PTX_SLOT_TYPE2) == PTX_W_S32};
        d = number(x & 0xffff, p) * number(y >> first & 0xff, q) +
            number(x >> 16, p) * number(y >> (first + 8) & 0xff, q) + z;
        break;
    }
    case PTX_OP_VABSDIFF4:
        r->d[0] = absolute_differences(r, is_signed, x, y, z);
        return;
    case PTX_OP_SHL:
        d = (wide)((uwide)a << amount);
        break;
    case PTX_OP_SHR:
        d = a >> amount;
        break;
    case PTX_OP_SHF: {
        uint64_t both = (uint64_t)y << 32 | x;
        uint32_t by = clamp_mode ? (z < 32 ? z : 32) : z & 31;
        d = (wide)(mode == PTX_W_L ? (uint64_t)((uwide)both << by >> 32) : both >> by);
        break;
    }
    default:
        d = prmt_of(mode, x, y, z);
    }
    if (ref_word_of(r, PTX_SLOT_SAT) == PTX_W_RELU)
        d = d < 0 ? 0 : d;
    else if (ref_word_of(r, PTX_SLOT_SAT) != PTX_W_NONE)
        d = clamp(d, type);
    r->d[0] = (uint64_t)d & ref_ones(r->result_bits[0] == 64 ? 64 : n == 64 ? 64 : 32);
    if (n == 16 && mode != PTX_W_WIDE)
        r->d[0] &= 0xffff;
}

/* The carry is read as the last source. */
static void carry_of(struct ref_computing *r, enum ptx_opcode opcode)
{
    struct ptx_type type = ptx_type_of(ref_word_of(r, PTX_SLOT_TYPE));
    uint32_t n = type.bits;
    uint64_t carry = r->reads_carry ? r->s[r->source_count - 1] & 1 : 0;
    uwide a = r->s[0], b = r->s[1], sum;
    if (opcode == PTX_OP_ADD || opcode == PTX_OP_ADDC) {
        sum = a + b + carry;
    } else if (opcode == PTX_OP_SUB || opcode == PTX_OP_SUBC) {
        sum = a - b - carry;
    } else {
        uwide product =
            type.is_signed ? (uwide)(number(r->s[0], type) * number(r->s[1], type)) : a * b;
        product = ref_word_of(r, PTX_SLOT_MODE) == PTX_W_HI ? product >> n : product;
        sum = (product & ref_ones(n)) + r->s[2] + carry;
    }
    r->d[0] = (uint64_t)sum & ref_ones(n);
    r->d[1] = (uint64_t)(sum >> n) & 1;
}

/* alloca, stacksave, stackrestore: where the stack begins and how much of it is taken are the last two sources. */
static void stack_of(struct ref_computing *r, enum ptx_opcode opcode)
{
    const uint64_t base = r->s[r->source_count - 2], taken = r->s[r->source_count - 1];
    const uint64_t align = r->immediate ? r->immediate : 8, bits = r->result_bits[0];
    uint64_t at = base + taken;
    if (opcode == PTX_OP_STACKSAVE)
        r->d[0] = at & ref_ones(32);
    if (opcode == PTX_OP_STACKRESTORE)
        r->d[0] = (r->s[0] - base) & ref_ones(32);
    if (opcode != PTX_OP_ALLOCA)
        return;
    while (at % align != 0)
        at++;
    bool fits = r->s[0] <= 1024 && at + r->s[0] <= base + 1024;
    r->d[0] = fits ? at : ref_ones(32);
    r->d[1] = fits ? at + r->s[0] - base : taken;
    r->d[0] &= ref_ones((uint32_t)bits);
}

/* mapa, getctarank: 24 bits of a shared address are where in the block, the 8 above its rank + 1, 0 of the own
 * block. */
static void cluster_of(struct ref_computing *r, enum ptx_opcode opcode)
{
    const uint64_t where = (uint64_t)1 << 24, whose = r->s[0] / where % 256;
    if (opcode == PTX_OP_GETCTARANK)
        r->d[0] = whose > 0 ? whose - 1 : r->s[1];
    else
        r->d[0] = r->s[0] - whose * where + (r->s[1] == r->s[2] ? 0 : (r->s[1] + 1) % 256 * where);
}

static void logic_of(struct ref_computing *r, enum ptx_opcode opcode)
{
    struct ptx_type type = ptx_type_of(ref_word_of(r, PTX_SLOT_TYPE));
    bool is_pred = type.kind == PTX_CLASS_PRED;
    uint64_t a = is_pred ? r->s[0] != 0 : r->s[0], b = is_pred ? r->s[1] != 0 : r->s[1];
    uint64_t c = r->s[2], mask = ref_ones(type.bits), d = 0;
    switch ((int)opcode) {
    case PTX_OP_AND:
        d = a & b;
        break;
    case PTX_OP_OR:
        d = a | b;
        break;
    case PTX_OP_XOR:
        d = a ^ b;
        break;
    case PTX_OP_NOT:
        d = ~a;
        break;
    case PTX_OP_CNOT:
        d = (a & mask) == 0;
        break;
    default:
        for (uint32_t i = 0; i < 32; i++) {
            uint32_t k = (uint32_t)(4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1));
            d |= (uint64_t)(r->immediate >> k & 1) << i;
        }
    }
    r->d[0] = d & mask;
}

/* ---- compare, select ---- */

bool ref_compares_as(enum ptx_word word, int order, bool unordered)
{
    switch ((int)word) {
    case PTX_W_EQ:
        return !unordered && order == 0;
    case PTX_W_NE:
        return !unordered && order != 0;
    case PTX_W_LT:
    case PTX_W_LO:
        return !unordered && order < 0;
    case PTX_W_LE:
    case PTX_W_LS:
        return !unordered && order <= 0;
    case PTX_W_GT:
    case PTX_W_HI:
        return !unordered && order > 0;
    case PTX_W_GE:
    case PTX_W_HS:
        return !unordered && order >= 0;
    case PTX_W_EQU:
        return unordered || order == 0;
    case PTX_W_NEU:
        return unordered || order != 0;
    case PTX_W_LTU:
        return unordered || order < 0;
    case PTX_W_LEU:
        return unordered || order <= 0;
    case PTX_W_GTU:
        return unordered || order > 0;
    case PTX_W_GEU:
        return unordered || order >= 0;
    case PTX_W_NUM:
        return !unordered;
    default:
        return unordered;
    }
}

bool ref_boolean(enum ptx_word op, bool t, bool c)
{
    return op == PTX_W_AND ? t && c : op == PTX_W_OR ? t || c : op == PTX_W_XOR ? t != c : t;
}

static void compare_of(struct ref_computing *r, bool is_set)
{
    enum ptx_word word = ref_word_of(r, is_set ? PTX_SLOT_TYPE2 : PTX_SLOT_TYPE);
    enum ptx_word op = ref_word_of(r, PTX_SLOT_OP), to = ref_word_of(r, PTX_SLOT_TYPE);
    struct ptx_type type = ptx_type_of(word);
    int order;
    bool unordered = false, c = false;
    if (type.kind == PTX_CLASS_FLOAT) {
        long double x = ref_float_value(ref_flushed(r, r->s[0], word), word);
        long double y = ref_float_value(ref_flushed(r, r->s[1], word), word);
        unordered = isnan(x) || isnan(y);
        order = x < y ? -1 : x > y;
    } else {
        wide x = number(r->s[0], type), y = number(r->s[1], type);
        order = x < y ? -1 : x > y;
    }
    bool t = ref_compares_as(ref_word_of(r, PTX_SLOT_CMP), order, unordered);
    if (op != PTX_W_NONE)
        c = (r->s[2] != 0) != r->instruction->operands->next->next->next->negated;
    r->d[0] = ref_boolean(op, t, c);
    r->d[1] = ref_boolean(op, !t, c);
    if (is_set)
        r->d[0] = r->d[0] == 0 ? 0 : to == PTX_W_F32 ? 0x3f800000 : UINT32_MAX;
}

static void select_of(struct ref_computing *r, bool by_predicate)
{
    struct ptx_type type = ptx_type_of(ref_word_of(r, PTX_SLOT_TYPE));
    enum ptx_word word = ref_word_of(r, PTX_SLOT_TYPE2);
    bool first = r->s[2] != 0;
    if (!by_predicate)
        first = word == PTX_W_S32 ? (int32_t)r->s[2] >= 0
                                  : ref_float_value(ref_flushed(r, r->s[2], word), word) >= 0;
    r->d[0] = r->s[first ? 0 : 1] & ref_ones(type.bits);
}

/* ---- moves ---- */

static void move_of(struct ref_computing *r)
{
    struct ptx_type type = ptx_type_of(ref_word_of(r, PTX_SLOT_TYPE));
    if (type.bits == 128) { /* two halves of 64 bits, however they are named */
        r->d[0] = r->s[0];
        r->d[1] = r->s[1];
        return;
    }
    uint32_t parts = type.bits / (uint32_t)(r->result_count * r->source_count);
    uint64_t all = 0;
    for (uint32_t i = 0; i < r->source_count; i++)
        all |= (r->s[i] & ref_ones(r->source_count > 1 ? parts : type.bits)) << i * parts % 64;
    for (uint32_t i = 0; i < r->result_count; i++)
        r->d[i] = all >> i * parts % 64 & ref_ones(r->result_count > 1 ? parts : type.bits);
    if (type.kind == PTX_CLASS_PRED)
        r->d[0] = r->s[0] != 0;
}

/* Far windows start at multiples of 2^40 and have 2^32 addresses; near ones as listed. */
static void address_of(struct ref_computing *r, enum ptx_opcode opcode)
{
    static const uint64_t nears[] = {0, 0x70000000, 0x78000000, 0x7a000000, 0x7c000000};
    uint64_t mask = ref_ones(r->source_bits[0]), number = 3;
    switch ((int)ref_word_of(r, PTX_SLOT_SPACE)) {
    case PTX_W_GLOBAL:
        number = 0;
        break;
    case PTX_W_SHARED:
    case PTX_W_SHARED_CTA:
    case PTX_W_SHARED_CLUSTER:
        number = 1;
        break;
    case PTX_W_LOCAL:
        number = 2;
        break;
    }
    uint64_t far = number << 40, base = mask > UINT32_MAX ? far : nears[number];
    uint64_t found = 0;
    for (uint64_t i = 1; i < 4; i++)
        if (r->s[0] >> 32 == i << 8 || (r->s[0] >= nears[i] && r->s[0] < nears[i + 1]))
            found = i;
    if (opcode == PTX_OP_ISSPACEP)
        r->d[0] = r->s[0] >= 0x10000 && found == number &&
                  !(r->immediate >= 256 && r->s[0] >> 24 & 0xff); /* of another block */
    else
        r->d[0] =
            (ref_word_of(r, PTX_SLOT_MODE) == PTX_W_TO ? r->s[0] - base : r->s[0] + base) & mask;
}

static uint32_t register_bits(const struct ptx_operand *operand)
{
    return ptx_type_of(operand->target.variable->type).bits;
}

static void convert_of(struct ref_computing *r)
{
    enum ptx_word to_word = ref_word_of(r, PTX_SLOT_TYPE),
                  from_word = ref_word_of(r, PTX_SLOT_TYPE2);
    struct ptx_type to = ptx_type_of(to_word), from = ptx_type_of(from_word);
    enum ptx_word round = ref_word_of(r, PTX_SLOT_ROUND);
    bool is_float = from.kind == PTX_CLASS_FLOAT, to_float = to.kind == PTX_CLASS_FLOAT;
    bool is_whole =
        round == PTX_W_RNI || round == PTX_W_RZI || round == PTX_W_RMI || round == PTX_W_RPI;
    uint64_t s = r->s[0] & ref_ones(from.bits);
    wide n = number(s, from);
    long double x =
        is_float ? ref_float_value(ref_flushed(r, s, from_word), from_word) : (long double)n;
    if (to_float) {
        if (is_whole && isfinite(x))
            x = ref_whole(x, ref_fe_rounding(round));
        r->d[0] = ref_written(r, ref_float_bits(x, to_word, ref_fe_rounding(round)), to_word);
        return;
    }
    if (is_float && isnan(x)) {
        n = to.bits == 64 || from.bits == 64 ? (wide)1 << (to.bits - 1) : 0;
    } else if (is_float) {
        x = x > 0x1p66L ? 0x1p66L : x < -0x1p66L ? -0x1p66L : x;
        n = clamp((wide)ref_whole(x, ref_fe_rounding(round)), to);
    } else if (ref_word_of(r, PTX_SLOT_SAT) != PTX_W_NONE) {
        n = clamp(n, to);
    }
    n = number((uint64_t)n, to);
    r->d[0] = (uint64_t)n & ref_ones(register_bits(r->instruction->operands));
}

/* .f32x2: the instruction of .f32, of the low halves and of the high ones. */
static void pair_of_floats(struct ref_computing *r, enum ptx_opcode opcode)
{
    struct ptx_instruction single = *r->instruction;
    single.words[PTX_SLOT_TYPE] = PTX_W_F32;
    r->d[0] = 0;
    for (uint32_t shift = 0; shift < 64; shift += 32) {
        struct ref_computing half = *r;
        half.instruction = &single;
        for (uint32_t i = 0; i < r->source_count; i++)
            half.s[i] = r->s[i] >> shift & UINT32_MAX;
        ref_rounded(&half, opcode);
        r->d[0] |= half.d[0] << shift;
    }
}

/* ---- all ---- */

void ref_compute(struct ref_computing *r)
{
    const uint8_t *words = r->instruction->words;
    enum ptx_opcode opcode = ptx_forms[r->instruction->form].opcode;
    bool is_float = ptx_type_of((enum ptx_word)words[PTX_SLOT_TYPE]).kind == PTX_CLASS_FLOAT;
    bool is_approximate = words[PTX_SLOT_APPROX] != PTX_W_NONE;
    if (r->instruction->form == PTX_FORM_CVT_TF32) {
        ref_tf32(r);
        return;
    }
    if (ref_is_half(r)) {
        ref_half(r, opcode);
        return;
    }
    switch ((int)opcode) {
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_NOT:
    case PTX_OP_CNOT:
    case PTX_OP_LOP3:
        logic_of(r, opcode);
        return;
    case PTX_OP_BFE:
    case PTX_OP_BFI:
        field_of(r, opcode, ptx_type_of((enum ptx_word)words[PTX_SLOT_TYPE]));
        return;
    case PTX_OP_SET:
    case PTX_OP_SETP:
        compare_of(r, opcode == PTX_OP_SET);
        return;
    case PTX_OP_SELP:
    case PTX_OP_SLCT:
        select_of(r, opcode == PTX_OP_SELP);
        return;
    case PTX_OP_MOV:
        move_of(r);
        return;
    case PTX_OP_CVTA:
    case PTX_OP_ISSPACEP:
        address_of(r, opcode);
        return;
    case PTX_OP_CVT:
        convert_of(r);
        return;
    case PTX_OP_TESTP:
        ref_test(r);
        return;
    case PTX_OP_MAPA:
    case PTX_OP_GETCTARANK:
        cluster_of(r, opcode);
        return;
    case PTX_OP_ALLOCA:
    case PTX_OP_STACKSAVE:
    case PTX_OP_STACKRESTORE:
        stack_of(r, opcode);
        return;
    default:
        break;
    }
    if (words[PTX_SLOT_TYPE] == PTX_W_F32X2) {
        pair_of_floats(r, opcode);
        return;
    }
    if (words[PTX_SLOT_TYPE] == PTX_W_U16X2 || words[PTX_SLOT_TYPE] == PTX_W_S16X2) {
        pair_of(r, opcode);
        return;
    }
    bool is_sign = opcode == PTX_OP_ABS || opcode == PTX_OP_NEG || opcode == PTX_OP_MIN ||
                   opcode == PTX_OP_MAX || opcode == PTX_OP_COPYSIGN;
    if (is_approximate)
        ref_approximate(r, opcode);
    else if (is_float && is_sign)
        ref_sign(r, opcode);
    else if (is_float)
        ref_rounded(r, opcode);
    else if (r->reads_carry || r->writes_carry)
        carry_of(r, opcode);
    else
        integer_of(r, opcode);
}
