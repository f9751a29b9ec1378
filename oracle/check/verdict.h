/*
 * verdict.h - what an oracle answers: agree, diverge with evidence, or why it cannot tell. Never a
 * silent skip.
 */
#ifndef ORACLE_VERDICT_H
#define ORACLE_VERDICT_H

#include "engine/machine/machine.h"
#include "engine/schedule/tape.h"
#include "engine/subjects/subject.h"

enum oracle_id {
#define ORACLE(id, name, distance, theorem, applies, cannot) ORACLE_##id,
#include "oracle/check/oracles.def"
#undef ORACLE
    ORACLE_COUNT
};

/* Those that nobody need name; the others take their time, and `prove` a solver, a program of its own. */
#define ORACLES_NAMED (1u << ORACLE_PROVE | 1u << ORACLE_REDUCTIONS | 1u << ORACLE_FENCES)
#define ORACLES_DEFAULT (((1u << ORACLE_COUNT) - 1) & ~ORACLES_NAMED)

struct oracle_info {
    const char *name;
    int distance; /* the smaller, the closer it looks */
    const char *theorem, *applies, *cannot;
};

enum { ORACLE_LAST_STEP = 9 }; /* oracles up to this distance compare step by step */

extern const struct oracle_info oracle_table[ORACLE_COUNT];

/* What some oracles hold a paper to: its text as printed, where it is known to fail. */
enum oracle_mode {
    ORACLE_MODE_LEMMAS_STRICT = 1, /* "lemmas:strict": Lemma 5 (erratum A-4 then shows) */
    ORACLE_MODE_SAFETY_PRINTED = 2 /* "safety:printed": stack-cons 4, 6 (erratum ERR.30) */
};

/* "simulation,result,lemmas:strict", "all,prove" (all: ORACLES_DEFAULT): oracles as bits 1u << oracle_id, and bits of
 * oracle_mode. */
bool oracle_parse_list(const char *text, uint32_t *set, uint32_t *modes, const char **error_at);

/* ":strict", ":printed": how an oracle is asked for in these modes; or "". */
const char *oracle_mode_suffix(enum oracle_id oracle, uint32_t modes);

enum verdict {
    VERDICT_AGREE,
    VERDICT_DIVERGE,
    VERDICT_NOT_APPLICABLE,
    VERDICT_INCONCLUSIVE,
    VERDICT_COUNT
};

extern const char
    *const verdict_names[VERDICT_COUNT]; /* "agree", "diverge", "not_applicable", ... */

/*
 * One disagreement. Its signature is layered (docs/signatures.md): K1 = oracle | class; K2 = K1 | rule |
 * observable. The rule is the first divergent one.
 */
struct divergence {
    enum oracle_id oracle;
    const char *
        class_name; /* "stack", "memory", "steps", "lemma-1.4", "store", "race-verdict", "unfair" ... */
    enum rule rule;
    const char
        *observable; /* kind of what differs: "shared", "private", "stack of an active lane", ... */
    enum subject_id subject;
    const char
        *known; /* the register's id when the disagreement is a known one ("A-4", "UNF"), or NULL */
    uint32_t line;           /* of the statement concerned, 0 = none */
    const char *evidence;    /* one JSON object: what a person needs to see it */
    const char *summary;     /* one sentence */
    const struct tape *tape; /* of the subject's execution up to the divergence; may be NULL */
    const struct tape *other_tape; /* of the execution that it is compared with; may be NULL */
    /* Where two accounts of a part of simtfuzz disagree, and no execution of the kernel is wrong, or one because of it:
     * the part. What of it is seen first, and what the kernel is made of, say nothing of the cause. Or NULL. */
    const char *part;
    const char *like; /* the class under which an ordinary kernel shows it; NULL: class_name */
    bool drawn; /* about what the case's seed draws beside the kernel: no cause of anything else */
    const struct ast_kernel *about; /* the kernel that was drawn, if it was run; or NULL */
    struct divergence *next;        /* of the same oracle, with another signature */
};

struct answer {
    enum verdict verdict;
    uint64_t checked;   /* steps, states, executions compared: what the verdict rests on */
    const char *reason; /* for not applicable and inconclusive; for agree: what was explored */
    struct divergence *divergence; /* the first that is not known, if there is one */
};

enum { ANSWER_DIVERGENCES_MAX = 8 };

/* Adds a divergence to the answer's list: those that are not known stand before the known ones, in
 * the order in which they were found; one of a signature is kept. The divergence is not copied. */
void answer_diverge(struct answer *answer, struct divergence *divergence);

/* Whether answer_diverge would add it. A rule that is wrong breaks a lemma at every step: evidence is
 * worth its memory once. Only the signature of `divergence` need be filled in. */
bool answer_wants(const struct answer *answer, const struct divergence *divergence);

/* What differs in a part of simtfuzz, "read: .."; what stands before the colon is seen, and that is the part. Where a
 * text is refused for nothing, or taken though something is wrong with it, it is what is told, or should be: whoever
 * gave the text to whom, one check is wrong. */
void divergence_of_part(struct arena *arena, struct divergence *divergence, const char *differs);

/* K1 and K2 as text, in the arena. */
const char *divergence_key(struct arena *arena, const struct divergence *divergence);
const char *divergence_signature(struct arena *arena, const struct divergence *divergence);

#endif
