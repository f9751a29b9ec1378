/*
 * doors.c - who takes part in a check. Adding an oracle adds an entry here, its row to oracles.def, its file, docs
 * and tests; nothing else names it.
 */
#include "oracle/check/oracle.h"
#include "oracle/convergence/convergence_oracle.h"
#include "oracle/coverage/contexts.h"
#include "oracle/coverage/coverage.h"
#include "oracle/crs/barriers.h"
#include "oracle/crs/safety.h"
#include "oracle/emitted/emitted.h"
#include "oracle/ends/liveness.h"
#include "oracle/graphs/graphs.h"
#include "oracle/heap/heap.h"
#include "oracle/layout/layout.h"
#include "oracle/lockstep/lockstep.h"
#include "oracle/lockstep/phi.h"
#include "oracle/lockstep/stutter.h"
#include "oracle/memory/fences.h"
#include "oracle/memory/memory_oracle.h"
#include "oracle/memory/reductions.h"
#include "oracle/pairs/pairs_judge.h"
#include "oracle/pairs/two_thread.h"
#include "oracle/prove/prove_oracle.h"
#include "oracle/reference/reference.h"
#include "oracle/refusals/refusals.h"
#include "oracle/results/directions.h"
#include "oracle/results/exhaust.h"
#include "oracle/results/metamorphic.h"
#include "oracle/results/order.h"
#include "oracle/results/race_logs.h"
#include "oracle/results/result.h"
#include "oracle/searches/searches.h"
#include "oracle/texts/texts.h"
#include "oracle/warps/simulation_explore.h"

const struct oracle oracle_doors[] = {
    {.id = ORACLE_SIMULATION,
     .prepare = simulation_prepare,
     .explore = simulation_explore,
     .judge = simulation_judge},
    {.id = ORACLE_LEMMAS, .judge = simulation_judge_lemmas},
    {.id = ORACLE_COUNT, .unasked = true, .explored = exhaust_explored, .judge = exhaust_judge},
    {.id = ORACLE_RACE, .judge = race_judge},
    {.id = ORACLE_RESULT, .judge = result_judge},
    {.id = ORACLE_RESULT, .judge = searches_judge},
    {.id = ORACLE_LIVENESS, .unasked = true, .explored = liveness_explore, .judge = liveness_judge},
    {.id = ORACLE_SAFETY,
     .watch = safety_watch,
     .ended = safety_end,
     .restrict_groups = safety_restrict,
     .judge = safety_judge},
    {.id = ORACLE_BARRIERS,
     .watch = barriers_watch,
     .ended = barriers_end,
     .judge = barriers_judge},
    {.id = ORACLE_DIRECTIONS, .unasked = true, .judge = directions_judge},
    {.id = ORACLE_ORDER, .judge = order_judge},
    {.id = ORACLE_ORDER, .judge = graphs_judge},
    {.id = ORACLE_LOCKSTEP, .judge = lockstep_judge},
    {.id = ORACLE_STUTTER, .judge = stutter_judge},
    {.id = ORACLE_PHI, .judge = phi_judge, .besides = phi_besides},
    {.id = ORACLE_PAIRS, .explore = two_thread_explore, .judge = pairs_judge},
    {.id = ORACLE_PAIRS, .judge = pairs_tiny_judge},
    {.id = ORACLE_PAIRS, .judge = prove_encoding_judge},
    {.id = ORACLE_METAMORPHIC, .judge = metamorphic_judge, .besides = metamorphic_besides},
    {.id = ORACLE_METAMORPHIC, .judge = texts_judge},
    {.id = ORACLE_METAMORPHIC, .judge = emitted_judge},
    {.id = ORACLE_METAMORPHIC, .judge = refusals_judge},
    {.id = ORACLE_REFERENCE, .ended = layout_ended, .judge = layout_judge},
    {.id = ORACLE_REFERENCE,
     .watch = reference_watch,
     .ended = reference_ended,
     .judge = reference_judge},
    {.id = ORACLE_REFERENCE, .judge = heap_judge},
    {.id = ORACLE_CONVERGENCE, .judge = convergence_judge},
    {.id = ORACLE_MEMORY, .watch = memory_watch, .ended = memory_ended, .judge = memory_judge},
    {.id = ORACLE_REDUCTIONS, .judge = reductions_judge},
    {.id = ORACLE_FENCES, .judge = fences_judge},
    {.id = ORACLE_PROVE, .judge = prove_oracle_judge},
    {.id = ORACLE_COUNT,
     .prepare = coverage_prepare,
     .watch = coverage_begin,
     .ended = coverage_end,
     .finish = coverage_judge},
    {.id = ORACLE_COUNT, .prepare = contexts_prepare, .watch = contexts_begin},
    /* The last that watches is the first that hears: the log, right behind the detector that it is held against. */
    {.id = ORACLE_RACE, .watch = race_logs_watch, .ended = race_logs_ended},
};

const uint32_t oracle_door_count = sizeof oracle_doors / sizeof *oracle_doors;
