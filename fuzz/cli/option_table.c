/*
 * option_table.c - one row an option: parser and help come from it.
 */
#include "fuzz/cli/options.h"

#define ON(id) ((uint64_t)1 << COMMAND_##id)
#define ON_ALL (~(uint64_t)0)
#define FIELD(name) offsetof(struct cli_options, name)

#define ON_DB                                                                                      \
    (ON(RUN) | ON(REPLAY) | ON(REDUCE) | ON(TRIAGE) | ON(REGRESS) | ON(RULES) | ON(STATUS))
#define ON_PTX (ON(CHECK) | ON(TRACE) | ON(REDUCE))
#define ON_CHECKS (ON(RUN) | ON(CHECK) | ON(REDUCE) | ON(DIGEST))

const struct cli_option option_table[] = {
    {"time", 't', OPTION_TIME, "T", ON(RUN), FIELD(time_ms), 0, NULL,
     "stop after this time (90, 90s, 15m, 8h); without --time and --cases: 60s"},
    {"time", 't', OPTION_TIME, "T", ON(REDUCE), FIELD(time_ms), 0, NULL,
     "end after this time (90, 90s, 15m, 8h) with the best so far"},
    {"cases", 'n', OPTION_SOME_U64, "N", ON(RUN), FIELD(cases), 0, NULL,
     "stop after cases 0 .. N-1"},
    {"cases", 'n', OPTION_SOME_U64, "N", ON(DISTILL), FIELD(cases), 0, NULL,
     "cases 0 .. N-1; 1000 of them by default"},
    {"verify", 0, OPTION_FLAG, NULL, ON(DISTILL), FIELD(verify), 0, NULL,
     "make nothing: say which features that the folder lists are shown no longer"},
    {"cases", 'n', OPTION_SOME_U64, "N", ON(DIGEST), FIELD(count), 0, NULL,
     "how many cases; 1 by default"},
    {"from", 0, OPTION_U64, "K", ON(DIGEST), FIELD(first_case), 0, NULL,
     "number of the first case; 0 by default"},
    {"jobs", 'j', OPTION_SOME_U32, "N", ON(RUN) | ON(REDUCE) | ON(DISTILL), FIELD(jobs), 0, NULL,
     "worker threads; as many as there are processors by default"},
    {"seed", 's', OPTION_U64, "S", ON_CHECKS | ON(TRACE) | ON(GEN) | ON(TRANSFORM) | ON(DISTILL),
     FIELD(seed), FIELD(seed_given), NULL,
     "seed of cases or schedules; 0 by default, for `run` a new one each time"},
    {"shard", 0, OPTION_OWN, "I/N", ON(RUN), 0, 0, option_parse_shard,
     "only the cases whose number is I modulo N (I from 0)"},
    {"first", 0, OPTION_U64, "N", ON(GEN), FIELD(first_case), 0, NULL,
     "number of the first case; 0 by default"},
    {"count", 'n', OPTION_U64, "N", ON(GEN), FIELD(count), 0, NULL, "how many; 1 by default"},
    {"subjects", 0, OPTION_OWN, "LIST", ON_CHECKS, 0, 0, option_parse_subjects,
     "semantics to run, e.g. threads,simt:then-first; all the ordinary ones by default (all)"},
    {"oracles", 0, OPTION_OWN, "LIST", ON_CHECKS, 0, 0, option_parse_oracles,
     "oracles to ask, e.g. simulation,lemmas:strict; all by default"},
    {"features", 0, OPTION_OWN, "LIST", ON(RUN) | ON(GEN) | ON(DIGEST) | ON(DISTILL), 0, 0,
     option_parse_features, "what kernels may contain: names add, -names remove; all, none"},
    {"weights", 0, OPTION_OWN, "LIST", ON(RUN) | ON(GEN) | ON(DIGEST) | ON(DISTILL), 0, 0,
     option_parse_weights,
     "how often the generator takes what: loops:200,stm.call:50, per cent of the usual weight "
     "(rules "
     "--weights lists them)"},
    {"enumerate", 0, OPTION_FLAG, NULL, ON(RUN) | ON(GEN) | ON(DIGEST), FIELD(enumerate), 0, NULL,
     "all tiny kernels of these features, one after another, instead of random ones"},
    {"mutate", 0, OPTION_OWN, "PERCENT", ON(RUN) | ON(GEN) | ON(DIGEST), 0, 0, option_parse_mutate,
     "so many of 100 kernels are mutated after they were generated; 0 by default"},
    {"feedback", 0, OPTION_OWN, "PERCENT", ON(RUN), 0, 0, option_parse_feedback,
     "so many of 100 cases are mutations of earlier ones that showed something new"},
    {"corpus", 0, OPTION_TEXT, "FOLDER", ON(RUN), FIELD(corpus), 0, NULL,
     "with --feedback: where kernels that showed something new go at the end"},
    {"stop-on-finding", 0, OPTION_FLAG, NULL, ON(RUN), FIELD(stop_on_finding), 0, NULL,
     "stop at the first finding that is not known"},
    {"no-minimise", 0, OPTION_FLAG, NULL, ON(RUN), FIELD(no_minimise), 0, NULL,
     "keep findings as they were found, run again but not minimised"},
    {"schedules", 0, OPTION_SOME_U32, "N", ON(CHECK) | ON(REDUCE), FIELD(schedules),
     FIELD(schedules_given), NULL, "executions of each subject that has several"},
    {"budget", 0, OPTION_SOME_U64, "N", ON(CHECK), FIELD(budget_steps), 0, NULL,
     "steps of one execution at most; by default 65536, or 512 a thread"},
    {"exhaustive", 0, OPTION_FLAG, NULL, ON(CHECK), FIELD(exhaustive), 0, NULL,
     "search all interleavings of the threads, within bounds"},
    {"same-value", 0, OPTION_FLAG, NULL, ON_CHECKS, FIELD(same_value), 0, NULL,
     "PTX: two writes of the same value are no race"},
    {"atomics-sync", 0, OPTION_FLAG, NULL, ON_CHECKS, FIELD(atomics_sync), 0, NULL,
     "PTX: atomics on one location order the accesses before and behind them"},
    {"transforms", 0, OPTION_OWN, "LIST", ON(CHECK) | ON(REDUCE), 0, 0, option_parse_transforms,
     "what `metamorphic` does to the kernel, e.g. wrap:3,peel:0; drawn by the seed otherwise"},
    {"list", 0, OPTION_OWN, "LIST", ON(TRANSFORM), 0, 0, option_parse_transforms,
     "transformations, each with the number that says where and how: wrap:3,peel:0; drawn by the "
     "seed otherwise"},
    {"set", 0, OPTION_OWN, "SETTINGS", ON(CHECK) | ON(TRACE) | ON(REDUCE), 0, 0, option_parse_set,
     "another launch than the kernel's: threads=8,warp=4,blocks=1; PTX: also "
     "threads=8x8,blocks=4x2"},
    {"entry", 0, OPTION_OWN, "NAME", ON_PTX, 0, 0, option_parse_entry,
     "PTX: the entry to launch, when there are several"},
    {"bind", 0, OPTION_OWN, "PARAM=VALUE", ON_PTX, 0, 0, option_parse_bind,
     "PTX: a parameter's value: an integer, f:1.5, buffer:BYTES[:zero|iota|random|file:PATH], "
     "shared:BYTES; of a struct words:1,2,3"},
    {"shared", 0, OPTION_OWN, "BYTES", ON_PTX, 0, 0, option_parse_shared,
     "PTX: dynamic shared memory"},
    {"subject", 0, OPTION_OWN, "SUBJECT", ON(TRACE), 0, 0, option_parse_subject,
     "the semantics; by default simt, of a kernel in another form interleave, lockstep or crs"},
    {"schedule", 0, OPTION_TEXT, "SCHEDULE", ON(TRACE), FIELD(schedule), 0, NULL,
     "sequential (default), reverse, rr, uniform, pct:D, pos, surw, starve:ACTOR, unfair:STEPS, "
     "tape:FILE"},
    {"max-steps", 0, OPTION_U64, "N", ON(TRACE), FIELD(max_steps), 0, NULL,
     "stop after so many steps; 1000 by default"},
    {"to", 0, OPTION_TEXT, "FORM", ON(LOWER), FIELD(to), 0, NULL,
     "core (default): the statements of the structured semantics; cfg: blocks; predicated, "
     "lockstep: pi(P) and phi(P) of the blocks, normalised; ptx: the canonical text of a .ptx "
     "file, or a kernel compiled; crs: the same with the branch unit's instructions"},
    {"anchored", 0, OPTION_FLAG, NULL, ON(LOWER), FIELD(anchored), 0, NULL,
     "cfg: paths that leave a loop by break, return or exit stay part of it"},
    {"then-first", 0, OPTION_FLAG, NULL, ON(LOWER), FIELD(then_first), 0, NULL,
     "cfg: then-branches stand before else-branches"},
    {"logic-blocks", 0, OPTION_FLAG, NULL, ON(LOWER), FIELD(logic_blocks), 0, NULL,
     "cfg: &&, || and ?: of guards and right-hand sides become blocks"},
    {"keep-calls", 0, OPTION_FLAG, NULL, ON(LOWER), FIELD(keep_calls), 0, NULL,
     "cfg: every function becomes a procedure, not only recursive ones"},
    {"normalise", 0, OPTION_FLAG, NULL, ON(LOWER), FIELD(normalise), 0, NULL,
     "cfg: fresh entry, a barrier before End, an assume, call or return a block"},
    {"signature", 0, OPTION_TEXT, "SIGNATURE", ON(REDUCE), FIELD(signature), 0, NULL,
     "what the minimised kernel must still show"},
    {"tests", 0, OPTION_U32, "N", ON(REDUCE), FIELD(max_tests), 0, NULL,
     "end after N candidates with the best so far; 20000 by default"},
    {"tests", 0, OPTION_U32, "N", ON(DISTILL), FIELD(max_tests), 0, NULL,
     "candidates that the reduction of a kernel tries at most; 20000 by default"},
    {"output", 'o', OPTION_TEXT, "FILE", ON(REDUCE), FIELD(output), 0, NULL,
     "write the minimised kernel to FILE"},
    {"subjects", 0, OPTION_FLAG, NULL, ON(RULES), FIELD(list_subjects), 0, NULL,
     "list the subjects with their options"},
    {"oracles", 0, OPTION_FLAG, NULL, ON(RULES), FIELD(list_oracles), 0, NULL,
     "list the oracles: theorem, where they apply, what they cannot conclude"},
    {"weights", 0, OPTION_FLAG, NULL, ON(RULES), FIELD(list_weights), 0, NULL,
     "list the weights of the generator"},
    {"transforms", 0, OPTION_FLAG, NULL, ON(RULES), FIELD(list_transforms), 0, NULL,
     "list the transformations that `metamorphic` and `transform` know"},
    {"db", 0, OPTION_TEXT, "FILE", ON_DB, FIELD(db), FIELD(db_given), NULL,
     "the triage database; simtfuzz.db by default"},
    {"json", 0, OPTION_FLAG, NULL, ON_ALL, FIELD(json), 0, NULL,
     "print JSON, one document a line, and nothing else to standard output"},
    {"help", 'h', OPTION_FLAG, NULL, ON_ALL, FIELD(help), 0, NULL, "print this help"},
};

const size_t option_count = sizeof option_table / sizeof option_table[0];
