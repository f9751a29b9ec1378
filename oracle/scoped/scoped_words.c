/* scoped_words.c - the cause of a race, in words. */
#include "oracle/scoped/scoped.h"

/* "'st.relaxed.cta' at line 12". */
static const char *at(struct arena *arena, const struct program *program, uint32_t stm)
{
    const struct ptx_code *code = program->ptx;
    const char *source = ptx_op_source(arena, code, stm);
    const char *line = arena_printf(arena, "line %u", code->ops[stm].line);
    return arena_printf(arena, "'%s' at %s%s%s%s", manner_text(arena, &code->ops[stm]), line,
                        source ? " (" : "", source ? source : "", source ? ")" : "");
}

static const char *plain(struct arena *arena, const struct program *program,
                         const struct race_cause *cause)
{
    if (!cause->by_flag)
        return arena_printf(arena, "plain flag: %s is a plain access, and the other one is strong",
                            at(arena, program, cause->stm));
    return arena_printf(arena,
                        "plain flag: %s is handed over by %s and %s, and a plain access of a flag "
                        "orders nothing",
                        program_location_name(arena, program, cause->flag),
                        at(arena, program, cause->write), at(arena, program, cause->read));
}

static const char *missing(struct arena *arena, const struct program *program,
                           const struct race_cause *cause)
{
    const char *flag = program_location_name(arena, program, cause->flag);
    return cause->at_reader
               ? arena_printf(arena,
                              "missing fence: the reader sees the flag %s by %s, and no acquire or "
                              "fence lies behind that",
                              flag, at(arena, program, cause->read))
               : arena_printf(arena,
                              "missing fence: the writer sets the flag %s by %s, and no release or "
                              "fence lies before that",
                              flag, at(arena, program, cause->write));
}

const char *scoped_cause_sentence(struct arena *arena, const struct program *program,
                                  const struct race_witness *witness)
{
    const struct race_cause *cause = &witness->cause;
    switch (cause->why) {
    case RACE_UNORDERED:
        return "";
    case RACE_PLAIN_FLAG:
        return plain(arena, program, cause);
    case RACE_MISSING_FENCE:
        return missing(arena, program, cause);
    case RACE_NARROW_SCOPE:
        return arena_printf(arena,
                            "scope too narrow: %s reaches the threads of its block, and the other "
                            "thread is in another block",
                            at(arena, program, cause->stm));
    }
    return "";
}
