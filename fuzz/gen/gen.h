/*
 * gen.h - random structured kernels, valid by construction: they parse, their loops and recursion
 * are bounded (unless spinning is asked for), and with few exceptions they terminate.
 */
#ifndef FUZZ_GEN_H
#define FUZZ_GEN_H

#include "engine/language/ast.h"
#include "fuzz/gen/source.h"

/* Changes whenever the same seed would give another kernel. Part of every case. */
enum { GEN_VERSION = 25 };

/* A feature group of features.def: what a minority of campaigns drops as a whole, and what
 * `--features` names. */
enum gen_feature {
#define FEATURE(id, name, group_default, sentence) FEATURE_##id,
#include "fuzz/gen/features.def"
#undef FEATURE
    FEATURE_COUNT
};

/* Beside the features, in the same set: a profile, which also restricts how they are used: */
#define GEN_PORTABLE (1u << 31) /* what every GPU language can say, with one result */
#define GEN_UNIFORM (1u << 30)  /* barriers stand where it can be seen that all threads come */

struct gen_weights;

struct gen_options {
    uint32_t features; /* bits 1u << gen_feature: which may be used; and of profiles */
    bool fixed;        /* true: exactly these weights; false: docs/measured.md (70 % fixed,
                          15 % shuffled mildly, 15 % dropping whole groups) */
    bool blocks_only;  /* every kernel in block form, which the features must allow */
    bool small;        /* tiny kernels for enumeration and exhaustive search */
    bool few;          /* threads, in one or two blocks; at most some 30 statements */
    bool brief;        /* the same with some 8 statements: for what takes long */
    bool spin;         /* small kernels about waiting (gen_spin.h) */
    bool enumerate;    /* small: case k is the k-th of all of them (from 0), whatever the seed */
    uint32_t
        mutate; /* so many of 100 kernels are mutated once they are made (case_kernel, not here) */
    struct cache_sizes caches; /* that each kernel's launch states (case_kernel, not here) */
    const struct gen_weights *weights; /* gen_weights.h; NULL: those of features.def */
};

extern const struct gen_options GEN_DEFAULTS;

/* "loops,calls,-switch,spin": names add to the default set, -names remove; "all", "none", "portable"
 * and "portable-uniform" replace what stands before them. */
bool gen_parse_features(const char *text, uint32_t *features, const char **error_at);

/* A list that reads to the same: "all", "none", "none,loops,calls". */
char *gen_print_features(struct arena *arena, uint32_t features);

/* Whether the kernels are programs of instructions (gen_rows.h), of those of barriers with BARRIERS, of clusters with
 * BLOCKS, of what lanes compute with ARITHMETIC, and nothing else. */
bool gen_instructions_only(const struct gen_options *options);

/* Whether there are tiny kernels of these features: of `none,known` there are none. */
bool gen_has_tiny(const struct gen_options *options);

#endif
