/* scoped_words.c - the cause of a race, in words. */
#include "oracle/scoped/scoped.h"

/* "line 12 (sum.cu:3)" */
static const char *line_of(struct arena *arena, const struct program *program, uint32_t stm)
{
    const struct ptx_code *code = program->ptx;
    const char *source = ptx_op_source(arena, code, stm);
    return arena_printf(arena, "line %u%s%s%s", code->ops[stm].line, source ? " (" : "",
                        source ? source : "", source ? ")" : "");
}

/* "'st.relaxed.cta' at line 12". */
static const char *at(struct arena *arena, const struct program *program, uint32_t stm)
{
    return arena_printf(arena, "'%s' at %s", manner_text(arena, &program->ptx->ops[stm]),
                        line_of(arena, program, stm));
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

static bool copies(const struct program *program, uint32_t stm)
{
    const struct ptx_code *code = program->ptx; /* NULL: no PTX */
    return code && stm < code->count &&
           (code->ops[stm].exec == PTX_EXEC_COPY || code->ops[stm].exec == PTX_EXEC_COPY_BULK);
}

/* Of a race with an asynchronous copy: whatever else is missing, this is. */
static const char *under_way(struct arena *arena, const struct program *program, uint32_t stm)
{
    return arena_printf(
        arena,
        "under way: cp.async at %s may copy at any time until it is waited for (wait_group, an "
        "mbarrier, consumer_wait), and no barrier lies between that time and the other access",
        line_of(arena, program, stm));
}

static const char *narrow(struct arena *arena, const struct program *program,
                          const struct race_cause *cause)
{
    const bool cluster = manner_of(&program->ptx->ops[cause->stm]).reach == REACH_CLUSTER;
    const char *whose = cluster ? "cluster" : "block";
    return arena_printf(
        arena,
        "scope too narrow: %s reaches the threads of its %s, and the other thread is in another %s",
        at(arena, program, cause->stm), whose, whose);
}

const char *scoped_cause_sentence(struct arena *arena, const struct program *program,
                                  const struct race_witness *witness)
{
    const struct race_cause *cause = &witness->cause;
    if (copies(program, witness->first.stm))
        return under_way(arena, program, witness->first.stm);
    if (copies(program, witness->second.stm))
        return under_way(arena, program, witness->second.stm);
    switch (cause->why) {
    case RACE_UNORDERED:
        return "";
    case RACE_PLAIN_FLAG:
        return plain(arena, program, cause);
    case RACE_MISSING_FENCE:
        return missing(arena, program, cause);
    case RACE_NARROW_SCOPE:
        return narrow(arena, program, cause);
    }
    return "";
}
