/*
 * ptx_ops.h - the PTX instructions, as a table of forms (ptx_ops.def).
 *
 * A form is a mnemonic, the modifiers that it takes (which, in which order), and the pattern of its
 * operands. An instruction's modifiers are kept by slot: at most one word in each.
 */
#ifndef ENGINE_PTX_OPS_H
#define ENGINE_PTX_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a modifier says. */
#define PTX_SLOTS(X)                                                                               \
    X(TYPE, type)     /* of the result, and of the operands where there is no second one */        \
    X(TYPE2, type2)   /* of the source; of a product of matrices the elements of A */              \
    X(TYPE3, type3)   /* of a product: the elements of B */                                        \
    X(TYPE4, type4)   /* of a product: the elements of C */                                        \
    X(SHAPE, shape)   /* m16n8k16 ..; 1d a2d ..: the geometry of a texture */                      \
    X(PART, part)     /* a b c d: which matrix; r g b a: which channel; reduce, multicast */       \
    X(LAYOUT, layout) /* row col */                                                                \
    X(LAYOUT2, layout2)                                                                            \
    X(MODE, mode)     /* lo hi wide; l r; up down bfly idx; all any uni ballot; to; f4e .. */      \
    X(OP, op)         /* of atom, red, bar.red, redux; boolean of setp, set */                     \
    X(CMP, cmp)       /* comparison */                                                             \
    X(ROUND, round)   /* rn rz rm rp, rni rzi rmi rpi */                                           \
    X(FTZ, ftz)       /* subnormals to zero */                                                     \
    X(SAT, sat)       /* saturation */                                                             \
    X(APPROX, approx) /* approx, full */                                                           \
    X(NAN, nan)       /* NaN if an operand is */                                                   \
    X(CC, cc)         /* writes the carry */                                                       \
    X(WRAP, wrap)     /* wrap, clamp, trap, zero */                                                \
    X(SPACE, space)   /* state space */                                                            \
    X(VECTOR, vector) /* v2 v4; x1 x2 x4 */                                                        \
    X(SEM, sem)       /* weak volatile relaxed acquire release acq_rel sc */                       \
    X(SCOPE, scope)   /* cta cluster gpu sys; gl of membar */                                      \
    X(CACHE, cache)   /* ca cg cs cv lu wb wt */                                                   \
    X(LEVEL, level)   /* L1, L2, hints for L1 */                                                   \
    X(LEVEL2, level2) /* how much to fetch into L2 */                                              \
    X(HINT, hint)     /* a cache policy is the last operand */                                     \
    X(NC, nc)         /* through the read-only cache */                                            \
    X(SYNC, sync)     /* sync arrive red */                                                        \
    X(ALIGNED, aligned)                                                                            \
    X(UNI, uni) /* uniform branch or call; cta, warp of barriers */

enum ptx_slot {
#define X(id, name) PTX_SLOT_##id,
    PTX_SLOTS(X)
#undef X
        PTX_SLOT_COUNT
};

/* The words of modifiers, without the dot; PTX_W_NONE: none. Sorted by text. */
enum ptx_word {
    PTX_W_NONE,
#define PTX_WORD(id, text, slot) PTX_W_##id,
#include "engine/ptx/ptx_words.def"
    PTX_WORD_COUNT
};

enum ptx_opcode {
#define PTX_OPCODE(id, mnemonic) PTX_OP_##id,
#include "engine/ptx/ptx_ops.def"
    PTX_OPCODE_COUNT
};

enum ptx_form {
#define PTX_FORM(opcode, name, modifiers, operands) PTX_FORM_##opcode##_##name,
#include "engine/ptx/ptx_ops.def"
    PTX_FORM_COUNT
};

/* Special registers (PTX ISA 10); those with components are vectors of four. */
enum ptx_special {
#define PTX_SPECIAL(id, text, bits, has_elements) PTX_SPECIAL_##id,
#include "engine/ptx/ptx_special.def"
    PTX_SPECIAL_COUNT
};

struct ptx_form_row {
    enum ptx_opcode opcode;
    const char *modifiers; /* see ptx_ops.def */
    const char *operands;
};

struct ptx_special_row {
    const char *name;
    uint8_t bits;
    bool has_elements;
};

extern const struct ptx_form_row ptx_forms[PTX_FORM_COUNT];
extern const char *const ptx_mnemonics[PTX_OPCODE_COUNT];
extern const char *const ptx_words[PTX_WORD_COUNT];
extern const struct ptx_special_row ptx_specials[PTX_SPECIAL_COUNT];

/* PTX_W_NONE: no such word. */
enum ptx_word ptx_word_find(const char *text, size_t length);

/* PTX_OPCODE_COUNT: no such mnemonic. */
enum ptx_opcode ptx_opcode_find(const char *text, size_t length);

/* PTX_SPECIAL_COUNT: no such special register. */
enum ptx_special ptx_special_find(const char *name);

/* ---- types ---- */

enum ptx_class { PTX_CLASS_NONE, PTX_CLASS_PRED, PTX_CLASS_BITS, PTX_CLASS_INT, PTX_CLASS_FLOAT };

struct ptx_type {
    enum ptx_class kind;
    uint8_t bits; /* 1 for predicates */
    bool is_signed;
};

/* Of a word that is a type; PTX_CLASS_NONE for the others. */
struct ptx_type ptx_type_of(enum ptx_word word);

/* ---- patterns ---- */

/* One group of a pattern of modifiers: the alternatives of one slot. */
struct ptx_group {
    enum ptx_slot slot;
    bool optional, floating;
    const char *words; /* alternatives, separated by | */
    size_t length;
};

/* The next group of a pattern; false at its end. */
bool ptx_group_next(const char **pattern, struct ptx_group *group);

/* In how many ways the form's modifiers can be put; more than `most` count as so many. */
uint32_t ptx_form_ways(enum ptx_form form, uint32_t most);
bool ptx_group_has(const struct ptx_group *group, const char *text, size_t length);

/* One item of a pattern of operands. */
struct ptx_item_pattern {
    bool optional;
    bool is_result;
    bool sinkable; /* may be _ */
    bool relaxed;  /* registers may be wider than the type */
    bool negatable;
    bool paired; /* d or d|p */
    char kind;   /* see ptx_ops.def */
    struct ptx_type type;
};

/* The next item of the pattern of an instruction with these modifiers; false at its end. */
bool ptx_item_next(const char **pattern, const uint8_t words[PTX_SLOT_COUNT],
                   struct ptx_item_pattern *item);

/* ---- textures and surfaces ---- */

/* tex, tld4, suld, sust: behind a handle, within its brackets, stand coordinates. */
static inline bool ptx_has_coordinates(enum ptx_opcode opcode)
{
    return opcode == PTX_OP_TEX || opcode == PTX_OP_TLD4 || opcode == PTX_OP_SULD ||
           opcode == PTX_OP_SUST;
}

static inline bool ptx_is_layered(const uint8_t words[PTX_SLOT_COUNT])
{
    return words[PTX_SLOT_SHAPE] == PTX_W_A1D || words[PTX_SLOT_SHAPE] == PTX_W_A2D;
}

/* Of .1d .. .a2d, the number of a layer not counted. */
static inline uint32_t ptx_dimensions(const uint8_t words[PTX_SLOT_COUNT])
{
    enum ptx_word shape = (enum ptx_word)words[PTX_SLOT_SHAPE];
    return shape == PTX_W_G3D ? 3 : shape == PTX_W_G2D || shape == PTX_W_A2D ? 2 : 1;
}

/* ---- matrices of a warp: mma, wmma, ldmatrix, stmatrix, movmatrix (PTX ISA 9.7.14) ---- */

enum { PTX_MATRIX_LANES = 32, PTX_FRAGMENT = 8 /* registers, at most */, PTX_MATRIX_MOST = 1024 };

enum ptx_matrix_part { PTX_MATRIX_D, PTX_MATRIX_A, PTX_MATRIX_B, PTX_MATRIX_C, PTX_MATRIX_PARTS };

struct ptx_matrix_sizes {
    uint8_t rows, columns, bits; /* of an element */
    uint8_t registers, each;     /* of a lane; elements in one */
    uint8_t type;                /* enum ptx_word, of an element */
};

/* A product: all four. ldmatrix, stmatrix, movmatrix: D alone, 8 x 8, a register a matrix. wmma.load, wmma.store: D
 * alone, which is the matrix that is moved. */
struct ptx_matrix_form {
    uint8_t k;
    uint8_t
        packed; /* wmma.load of .s4, .u4, .b1: elements of a word, of which the matrix is; else 1 */
    bool is_four; /* four products of 8 x 4 and 4 x 8, below each other: D and A; beside: B */
    bool a_columns, b_columns; /* of four: .col */
    bool is_free;              /* the ISA does not say where elements lie */
    bool by_columns;           /* .col: in memory columns, not rows, lie one behind the other */
    struct ptx_matrix_sizes part[PTX_MATRIX_PARTS];
};

void ptx_matrix_form(enum ptx_form form, const uint8_t words[PTX_SLOT_COUNT],
                     struct ptx_matrix_form *f);

/* How many registers a fragment operand (D A B C F) of the instruction has. */
uint32_t ptx_fragment_registers(enum ptx_form form, const uint8_t words[PTX_SLOT_COUNT], char kind);

#endif
