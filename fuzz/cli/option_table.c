/*
 * option_table.c - one row an option: parser and help come from it.
 */
#include "fuzz/cli/config.h"

#define ON(id) ((uint64_t)1 << COMMAND_##id)
#define ON_ALL OPTION_EVERYWHERE
#define FIELD(name) offsetof(struct cli_options, name)

#define ON_DB                                                                                      \
    (ON(RUN) | ON(REPLAY) | ON(REDUCE) | ON(TRIAGE) | ON(REGRESS) | ON(RULES) | ON(STATUS) |       \
     ON(REPORT) | ON(TRACE) | ON(VIEW) | ON(STEP) | ON(EXPLAIN) | ON(OUTSIDE))
#define ON_PTX (ON(CHECK) | ON(TRACE) | ON(VIEW) | ON(STEP) | ON(PROGRESS) | ON(REDUCE))
#define ON_SET (ON_PTX | ON(PROVE))
#define ON_CHECKS (ON(RUN) | ON(CHECK) | ON(REDUCE) | ON(DIGEST))

const struct cli_option option_table[] = {
    {"config", 'c', OPTION_TEXT, "FILE|PRESET", ON(RUN), FIELD(config), 0, NULL,
     "settings from a file, or a preset (simtfuzz config --presets); other options beat them"},
    {"with", 0, OPTION_OWN, "SETTING", ON(RUN), 0, 0, config_set,
     "one setting of a configuration, such as budget.time=5m or weights.loops=200%"},
    {"check", 0, OPTION_FLAG, NULL, ON(RUN), FIELD(check_config), 0, NULL,
     "run nothing: print all settings, as a configuration"},
    {"presets", 0, OPTION_FLAG, NULL, ON(CONFIG), FIELD(list_presets), 0, NULL, "list the presets"},
    {"text", 0, OPTION_FLAG, NULL, ON(CONFIG), FIELD(plain_text), 0, NULL,
     "print the text as it stands"},
    {"time", 't', OPTION_TIME, "T", ON(RUN), FIELD(time_ms), 0, NULL,
     "stop after this time (90, 90s, 15m, 8h); without --time and --cases: 60s"},
    {"time", 't', OPTION_TIME, "T", ON(REDUCE), FIELD(time_ms), 0, NULL,
     "end after this time (90, 90s, 15m, 8h) with the best so far"},
    {"time", 't', OPTION_TIME, "T", ON(PROGRESS), FIELD(time_ms), 0, NULL,
     "end after this time (90, 90s, 15m): rows that are not ready by then are unknown; one search "
     "takes at most a third of what is left"},
    {"time", 't', OPTION_TIME, "T", ON(SURVEY), FIELD(time_ms), 0, NULL,
     "end after this time (90, 90s, 15m) with what the kernels until then show"},
    {"time", 't', OPTION_TIME, "T", ON(DISTILL), FIELD(time_ms), 0, NULL,
     "end about after this time (90, 90s, 15m): a third of it is for the cases, a third for making "
     "kernels smaller"},
    {"time", 't', OPTION_TIME, "T", ON(CHECK), FIELD(time_ms), 0, NULL,
     "with --exhaustive: cut the searches off after this time (90, 90s, 15m)"},
    {"cases", 'n', OPTION_SOME_U64, "N", ON(RUN), FIELD(cases), 0, NULL,
     "stop after cases 0 .. N-1"},
    {"cases", 'n', OPTION_SOME_U64, "N", ON(DISTILL), FIELD(cases), 0, NULL,
     "cases 0 .. N-1; 1000 of them by default"},
    {"cases", 'n', OPTION_SOME_U64, "N", ON(SURVEY), FIELD(cases), 0, NULL,
     "cases 0 .. N-1; 1000 of them by default, all of an enumeration"},
    {"cases", 'n', OPTION_SOME_U64, "N", ON(LITMUS), FIELD(cases), 0, NULL,
     "instead of files: tests 0 .. N-1 that --seed draws; laws of the memory models must hold of "
     "each"},
    {"verify", 0, OPTION_FLAG, NULL, ON(DISTILL), FIELD(verify), 0, NULL,
     "make no kernels: say which features that the folder lists no kernel shows any more"},
    {"cases", 'n', OPTION_SOME_U64, "N", ON(DIGEST), FIELD(count), 0, NULL,
     "how many cases; 1 by default"},
    {"from", 0, OPTION_U64, "K", ON(DIGEST), FIELD(first_case), 0, NULL,
     "number of the first case; 0 by default"},
    {"jobs", 'j', OPTION_SOME_U32, "N", ON(RUN) | ON(REDUCE) | ON(DISTILL) | ON(SURVEY) | ON(EXEC),
     FIELD(jobs), 0, NULL, "worker threads; as many as there are processors by default"},
    {"jobs", 'j', OPTION_SOME_U32, "N", ON(OUTSIDE), FIELD(jobs), 0, NULL,
     "worker processes, 64 at most; 1 by default"},
    {"memory", 0, OPTION_OWN, "SIZE", ON(RUN) | ON(CHECK) | ON(PROGRESS), 0, 0, option_parse_memory,
     "memory for executions and states of searches (512M, 2G); by default what they need, or three "
     "quarters of what the system allows"},
    {"seed", 's', OPTION_U64, "S", ON(RUN), FIELD(seed), FIELD(seed_given), NULL,
     "seed of the campaign's cases; by default a new one each time"},
    {"seed", 's', OPTION_U64, "S",
     ON(CHECK) | ON(REDUCE) | ON(TRACE) | ON(VIEW) | ON(STEP) | ON(PROGRESS), FIELD(seed),
     FIELD(seed_given), NULL, "seed of random schedules; 0 by default"},
    {"seed", 's', OPTION_U64, "S", ON(TRANSFORM), FIELD(seed), FIELD(seed_given), NULL,
     "seed that draws the transformations; 0 by default"},
    {"seed", 's', OPTION_U64, "S",
     ON(DIGEST) | ON(GEN) | ON(DISTILL) | ON(SURVEY) | ON(OUTSIDE) | ON(PROVE) | ON(LITMUS),
     FIELD(seed), FIELD(seed_given), NULL, "seed of the generated cases; 0 by default"},
    {"shard", 0, OPTION_OWN, "I/N", ON(RUN), 0, FIELD(shard_given), option_parse_shard,
     "only part I of N (from 0) of the cases; by default what a Slurm array or Kubernetes says"},
    {"first", 0, OPTION_U64, "N", ON(GEN) | ON(PROVE), FIELD(first_case), 0, NULL,
     "number of the first case; 0 by default"},
    {"count", 'n', OPTION_U64, "N", ON(GEN) | ON(PROVE), FIELD(count), 0, NULL,
     "how many cases; 1 by default"},
    {"subjects", 0, OPTION_OWN, "LIST", ON_CHECKS, 0, 0, option_parse_subjects,
     "semantics to run: threads,simt:then-first; by default all ordinary ones (all)"},
    {"oracles", 0, OPTION_OWN, "LIST", ON_CHECKS, 0, 0, option_parse_oracles,
     "oracles to ask: simulation,lemmas:strict; by default all but those that take long: prove, "
     "reductions, fences (all); `check` of sources leaves out metamorphic, too"},
    {"features", 0, OPTION_OWN, "LIST",
     ON(RUN) | ON(GEN) | ON(DIGEST) | ON(DISTILL) | ON(OUTSIDE) | ON(PROVE), 0,
     FIELD(features_given), option_parse_features,
     "what kernels may contain: names are added to the usual features, -names removed; or all, "
     "none, portable, portable-uniform"},
    {"weights", 0, OPTION_OWN, "LIST", ON(RUN) | ON(GEN) | ON(DIGEST) | ON(DISTILL) | ON(SURVEY), 0,
     0, option_parse_weights,
     "how often the generator takes what, in per cent of the usual weight: loops:200,stm.call:50 "
     "(`rules --weights` lists them)"},
    {"host", 0, OPTION_FLAG, NULL, ON(RUN), FIELD(host), 0, NULL,
     "host programs (docs/host.md) instead of kernels, in one process; findings are kept with --db "
     "or --resume"},
    {"host", 0, OPTION_FLAG, NULL, ON(GEN), FIELD(host), 0, NULL,
     "host programs (docs/host.md) instead of kernels"},
    {"litmus", 0, OPTION_FLAG, NULL, ON(GEN), FIELD(litmus), 0, NULL,
     "litmus tests (docs/memory.md) instead of kernels"},
    {"device", 0, OPTION_TEXT, "SETTINGS", ON(CHECK) | ON(TRACE) | ON(RUN) | ON(REDUCE),
     FIELD(device), 0, NULL,
     "host programs: settings of the modelled device, which beat those of the program: "
     "'sms=1 order=any' (docs/host.md)"},
    {"enumerate", 0, OPTION_FLAG, NULL, ON(RUN) | ON(GEN) | ON(DIGEST) | ON(SURVEY) | ON(PROVE),
     FIELD(enumerate), 0, NULL,
     "all tiny kernels of these features, one after another, instead of random ones"},
    {"spin", 0, OPTION_FLAG, NULL, ON(RUN) | ON(GEN) | ON(DIGEST), FIELD(spin), 0, NULL,
     "only kernels about waiting: locks, flags, barriers made by hand; with --enumerate all tiny "
     "ones"},
    {"mutate", 0, OPTION_OWN, "PERCENT", ON(RUN) | ON(GEN) | ON(DIGEST), 0, 0, option_parse_mutate,
     "how many of 100 kernels are mutated after they were generated; 0 by default"},
    {"ui", 0, OPTION_FLAG, NULL, ON(RUN), FIELD(screen), 0, NULL,
     "a status screen, on a terminal; plain lines elsewhere (also with TERM=dumb)"},
    {"serve", 0, OPTION_TEXT, "ADDRESS:PORT", ON(RUN), FIELD(serve), 0, NULL,
     "show the campaign to browsers of this machine while it runs, at 127.0.0.1:PORT; read-only"},
    {"stats", 0, OPTION_OUTPUT, "FILE", ON(RUN), FIELD(stats), 0, NULL,
     "say in this file how the campaign goes, once a second: JSON; FILE.prom is for Prometheus"},
    {"fail-on", 0, OPTION_OWN, "LIST", ON(RUN), 0, 0, option_parse_fail_on,
     "which findings count for the exit status: new, open (since an earlier campaign), regressed, "
     "flaky; none; by default all"},
    {"fail-on", 0, OPTION_OWN, "LIST", ON(CHECK), 0, 0, option_parse_fail_outcomes,
     "what makes the exit status 1 for a kernel that expects nothing: race, race:SUBJECT, oob, "
     "deadlock, divergence, assert, hang, error; none; by default all"},
    {"on-finding", 0, OPTION_OWN, "COMMAND", ON(RUN), 0, 0, option_parse_hook,
     "a program that is run for each finding that counts; variables SIMTFUZZ_.. say what happened"},
    {"on-end", 0, OPTION_OWN, "COMMAND", ON(RUN), 0, 0, option_parse_end_hook,
     "a program that is run when the campaign has ended"},
    {"stop-on-finding", 0, OPTION_FLAG, NULL, ON(RUN), FIELD(stop_on_finding), 0, NULL,
     "stop at the first finding that counts for the exit status"},
    {"resume", 0, OPTION_FLAG, NULL, ON(RUN), FIELD(resume), 0, NULL,
     "go on with the last unfinished campaign of the database, or of this --seed, these options "
     "and "
     "this --shard"},
    {"resume", 0, OPTION_FLAG, NULL, ON(OUTSIDE), FIELD(resume), 0, NULL,
     "go on with the last campaign of the database that has these options and this --seed, or, "
     "without --seed, that is not finished"},
    {"case-timeout", 0, OPTION_TIME, "T", ON(RUN), FIELD(case_timeout_ms), 0, NULL,
     "a case that takes longer is left out and becomes a finding; 60s by default"},
    {"no-supervisor", 0, OPTION_FLAG, NULL, ON(RUN), FIELD(no_supervisor), 0, NULL,
     "run in one process, which a crash of the engine ends"},
    {"verbose", 'v', OPTION_FLAG, NULL, ON(RUN), FIELD(verbose), 0, NULL,
     "the final table says everything: reasons, replay commands, every rule that never fired"},
    {"no-minimise", 0, OPTION_FLAG, NULL, ON(RUN), FIELD(no_minimise), 0, NULL,
     "keep findings as they were found, run again but not minimised"},
    {"schedules", 0, OPTION_SOME_U32, "N", ON_CHECKS, FIELD(schedules), FIELD(schedules_given),
     NULL, "executions of each subject that has several; 16 by default"},
    {"budget", 0, OPTION_SOME_U64, "N", ON_CHECKS, FIELD(budget_steps), 0, NULL,
     "steps of one execution at most; by default 65536, or 512 for each thread where that is more; "
     "`check` of PTX goes on where that is too little"},
    {"budget", 0, OPTION_SOME_U64, "N", ON(PROGRESS), FIELD(budget_steps), 0, NULL,
     "steps of one execution at most; 262144 by default"},
    {"case", 0, OPTION_OWN, "CASE", ON(CHECK), 0, 0, option_parse_case,
     "check as this case does, as `triage show` prints it; its options stand for all others"},
    {"tape", 0, OPTION_TEXT, "FILE", ON(CHECK), FIELD(tape), 0, NULL,
     "with --case: the tape of a case that says tape-of=SUBJECT; empty: sequential"},
    {"tape", 0, OPTION_TEXT, "FILE", ON(TRACE), FIELD(tape), 0, NULL,
     "of a host program: the schedule that -o wrote; behind its end in turns, or at random with "
     "--seed"},
    {"output", 'o', OPTION_OUTPUT, "FILE", ON(TRACE), FIELD(output), 0, NULL,
     "of a host program: write the schedule to FILE, for --tape"},
    {"exhaustive", 0, OPTION_FLAG, NULL, ON(CHECK) | ON(REDUCE), FIELD(exhaustive), 0, NULL,
     "search all interleavings of the threads, within bounds"},
    {"outcomes", 0, OPTION_FLAG, NULL, ON(CHECK), FIELD(outcomes), 0, NULL,
     "instead of checking: each outcome of the kernel, its shortest execution, and the "
     "accesses whose order decides"},
    {"repair", 0, OPTION_FLAG, NULL, ON(CHECK), FIELD(repair), 0, NULL,
     "instead of checking: which single barrier, in PTX also which fence, makes a racy kernel "
     "race-free and correct, each "
     "place tried"},
    {"same-value", 0, OPTION_FLAG, NULL, ON_CHECKS, FIELD(same_value), 0, NULL,
     "PTX: two writes of the same value are no race"},
    {"atomics-sync", 0, OPTION_FLAG, NULL, ON_CHECKS, FIELD(atomics_sync), 0, NULL,
     "PTX: atomics on one location order the accesses before and behind them"},
    {"unscoped", 0, OPTION_FLAG, NULL, ON_CHECKS, FIELD(unscoped), 0, NULL,
     "PTX: only barriers order accesses: scopes, fences, releases and acquires do not"},
    {"transforms", 0, OPTION_OWN, "LIST", ON(CHECK) | ON(REDUCE), 0, 0, option_parse_transforms,
     "what `metamorphic` does to the kernel, e.g. wrap:3,peel:0; drawn by the seed otherwise"},
    {"list", 0, OPTION_OWN, "LIST", ON(TRANSFORM), 0, 0, option_parse_transforms,
     "transformations, each with the number that says where and how: wrap:3,peel:0; drawn by the "
     "seed otherwise"},
    {"set", 0, OPTION_OWN, "SETTINGS", ON_SET, 0, 0, option_parse_set,
     "another launch than the kernel's: threads=8,warp=4,blocks=1; PTX: also "
     "threads=8x8,blocks=4x2"},
    {"caches", 0, OPTION_OWN, "SIZES", ON_CHECKS | ON(TRACE) | ON(VIEW) | ON(STEP) | ON(GEN), 0, 0,
     option_parse_caches,
     "sizes of the caches of subjects that have some (docs/memory.md): "
     "lines=2,words=4,sets=1,sms=2,policy=any|first|lowest; what is left out is drawn by the "
     "launch's seed"},
    {"entry", 0, OPTION_OWN, "NAME", ON_PTX, 0, 0, option_parse_entry,
     "PTX: the entry to launch, when there are several; `check` takes all of them where nothing "
     "is said of the launch, and knows them by the source's names, too: scale<float>"},
    {"bind", 0, OPTION_OWN, "PARAM=VALUE", ON_PTX, 0, 0, option_parse_bind,
     "PTX: a parameter's value: an integer, f:1.5, "
     "buffer:BYTES[:zero|iota|random|all:N|file:PATH], "
     "shared:BYTES; of a struct words:1,2,3"},
    {"shared", 0, OPTION_OWN, "BYTES", ON_PTX, 0, 0, option_parse_shared,
     "PTX: dynamic shared memory"},
    {"subject", 0, OPTION_OWN, "SUBJECT", ON(TRACE) | ON(VIEW) | ON(STEP), 0, 0,
     option_parse_subject,
     "the semantics; by default simt, for a kernel in blocks interleave, in lock-step lockstep, in "
     "PTX crs"},
    {"schedule", 0, OPTION_TEXT, "SCHEDULE", ON(TRACE), FIELD(schedule), 0, NULL,
     "sequential (default), reverse, rr, uniform, pct:D, pos, surw, starve:ACTOR, unfair:STEPS, "
     "stackless:POLICY[:literal | :then-first] (warps without a stack: minpc, oldest, rr, "
     "majority, minority, "
     "random, its, dws, dws-loops, dws-ifs, dws-none, dmaj, dmin, dtime, dpdpri, dpc), tape:FILE"},
    {"schedule", 0, OPTION_TEXT, "SCHEDULE", ON(VIEW) | ON(STEP), FIELD(schedule), 0, NULL,
     "who steps next, as `trace --schedule` has it; by default rr: all that can, in turn; for a "
     "finding its tape"},
    {"max-steps", 0, OPTION_SOME_U64, "N", ON(VIEW) | ON(STEP), FIELD(view_steps), 0, NULL,
     "stop after so many steps; 1048576 by default"},
    {"keep", 0, OPTION_SOME_U64, "N", ON(VIEW), FIELD(kept_steps), 0, NULL,
     "steps that the page has at most, as long as it stays below 5 MB; 100000 by default"},
    {"from", 0, OPTION_SOME_U64, "STEP", ON(VIEW), FIELD(from_step), 0, NULL,
     "number of the first step that the page has; by default the first, or where the execution "
     "fails later, as many as fit before its end"},
    {"svg", 0, OPTION_TEXT, "FOLDER", ON(LITMUS), FIELD(litmus_svg), 0, NULL,
     "draw each test and model into this folder: the execution that shows what is asked, or the "
     "circle that forbids it"},
    {"dot", 0, OPTION_TEXT, "FOLDER", ON(LITMUS), FIELD(litmus_dot), 0, NULL,
     "the same as text for Graphviz"},
    {"test", 0, OPTION_TEXT, "NAME", ON(VIEW), FIELD(litmus_test), 0, NULL,
     "which litmus test, of a file with several"},
    {"commands", 0, OPTION_TEXT, "TEXT", ON(STEP), FIELD(commands), 0, NULL,
     "do this instead of asking for keys, commands separated by ';' or lines; - reads them from "
     "standard input; 'help' lists them"},
    {"open", 0, OPTION_FLAG, NULL, ON(VIEW), FIELD(open_page), 0, NULL,
     "show the page in a browser"},
    {"output", 'o', OPTION_OUTPUT, "FILE", ON(VIEW), FIELD(output), 0, NULL,
     "the page, - for standard output; KERNEL.html by default"},
    {"max-states", 0, OPTION_SOME_U64, "N", ON(PROGRESS), FIELD(max_states), 0, NULL,
     "states of one search at most; what needs more is sampled; 1048576 by default"},
    {"samples", 0, OPTION_U64, "N", ON(PROGRESS), FIELD(sample_steps), 0, NULL,
     "steps of the random schedules that look for a hang where there are too many states; 0: none; "
     "4194304 by default"},
    {"expect", 0, OPTION_FLAG, NULL, ON(PROGRESS), FIELD(expect), 0, NULL,
     "print instead the line `expect progress` for the file, within the states that it says, "
     "--max-states, or 4096"},
    {"compiler", 0, OPTION_TEXT, "COMMAND", ON(CHECK), FIELD(compiler), 0, NULL,
     "command that makes PTX of .cu and .cl files; the file, -o and the output are put behind it; "
     "by default nvcc, else clang"},
    {"inputs", 0, OPTION_SOME_U32, "N", ON(CHECK), FIELD(inputs), 0, NULL,
     ".cu and .cl files, PTX without settings: how many launches are made up at most, until all "
     "ways of branches are taken; by default 32, and fewer where they take no new way"},
    {"budget", 0, OPTION_SOME_U64, "N", ON(EXEC), FIELD(budget_steps), 0, NULL,
     "steps of warps that one launch may take; any number by default"},
    {"capture", 0, OPTION_TEXT, "FOLDER", ON(EXEC) | ON(RECORD), FIELD(capture), 0, NULL,
     "keep each launch there as a case that `check` takes: kernel, settings, buffers; `record` "
     "takes 'launches' by default"},
    {"unwritten-ok", 0, OPTION_FLAG, NULL, ON(EXEC), FIELD(unwritten_ok), 0, NULL,
     "reads of device memory that nothing wrote are no findings"},
    {"leak-check", 0, OPTION_FLAG, NULL, ON(EXEC), FIELD(leak_check), 0, NULL,
     "device memory that is never freed, by the program or by kernels on the heap, is a finding"},
    {"suppress", 0, OPTION_TEXT, "FILE", ON(EXEC) | ON(CHECK), FIELD(suppress), 0, NULL,
     "what is in this file is no finding: a kind and a place a line, 'race sum.cu:12'; * stands "
     "for anything"},
    {"verbose", 'v', OPTION_FLAG, NULL, ON(EXEC), FIELD(verbose), 0, NULL,
     "tell of launches that are clean as well"},
    {"solver", 0, OPTION_TEXT, "COMMAND", ON(PROVE), FIELD(prove.solver), 0, NULL,
     "the SMT solver, which reads SMT-LIB 2 from its standard input: 'z3 -in' (default), "
     "'cvc5 --lang smt2 --incremental --rlimit-per=200000'"},
    {"second", 0, OPTION_TEXT, "COMMAND", ON(PROVE), FIELD(prove.second), 0, NULL,
     "another solver that is asked whenever the first says 'unsat': where it says 'sat', nothing "
     "is "
     "believed"},
    {"seconds", 0, OPTION_SOME_U32, "N", ON(PROVE), FIELD(prove.seconds), 0, NULL,
     "a solver that has not answered a question for so long hangs; 60 by default"},
    {"runs", 0, OPTION_U32, "N", ON(PROVE), FIELD(prove.runs), 0, NULL,
     "compare each proof with so many executions of 'threads' and of 'interleave', under 4 inputs; "
     "none by default"},
    {"budget", 0, OPTION_SOME_U64, "N", ON(PROVE), FIELD(prove.budget), 0, NULL,
     "z3: what one query may take, in its own units (rlimit), so that verdicts repeat; 2000000 by "
     "default"},
    {"unroll", 0, OPTION_U32, "K", ON(PROVE), FIELD(prove.unroll), FIELD(prove.unroll_given), NULL,
     "trips of each loop that are tried before invariants are looked for; 3 by default, 0: none"},
    {"invariants", 0, OPTION_FLAG, NULL, ON(PROVE), FIELD(prove.invariants), 0, NULL,
     "print what was found to hold at the head of each loop"},
    {"prove", 0, OPTION_FLAG, NULL, ON(CHECK), FIELD(prove.beside), 0, NULL,
     "say as well whether a proof excludes races and divergence for all inputs and schedules, "
     "where "
     "that is cheap (`simtfuzz prove`; needs z3)"},
    {"threads", 0, OPTION_OWN, "N|A..B|any", ON(PROVE), 0, 0, option_parse_threads,
     "threads of a block: N, any number from A to B, or any of 2 to 1024; the file's by default"},
    {"assume", 0, OPTION_TEXT, "E", ON(PROVE), FIELD(prove.assume), 0, NULL,
     "an expression that holds at the start, as if assume(E) were the kernel's first statement: "
     "'threads % 32 == 0', 'n < 64'"},
    {"annotations", 0, OPTION_OWN, "check|assume", ON(PROVE), 0, 0, option_parse_annotations,
     "the file's `invariant e;`: shown as an assertion, and tried at its loop (default); or taken "
     "as given"},
    {"inputs", 0, OPTION_OWN, "any|file", ON(PROVE), 0, 0, option_parse_inputs,
     "`input` memory: anything (default), or what the file's seed draws"},
    {"memory", 0, OPTION_OWN, "bar|adv", ON(PROVE), 0, 0, option_parse_proof_memory,
     "what reads give: what the thread wrote, and anything behind a barrier (default); or always "
     "anything"},
    {"dump", 0, OPTION_TEXT, "FOLDER", ON(PROVE), FIELD(prove.dump), 0, NULL,
     "write each query to a file, which the solver takes as it is, and refuted kernels with the "
     "inputs that show it"},
    {"max-steps", 0, OPTION_U64, "N", ON(TRACE), FIELD(max_steps), 0, NULL,
     "stop after so many steps; 1000 by default"},
    {"width", 0, OPTION_U64, "N", ON(TRACE), FIELD(width), FIELD(width_given), NULL,
     "characters of a line at most: masks become ranges of lanes, long cells are cut; 0: no limit; "
     "by default the "
     "terminal's, and none for files and pipes"},
    {"warp", 0, OPTION_TEXT, "W", ON(TRACE), FIELD(warp), 0, NULL,
     "show only steps of this warp: a number through the grid, or block.warp"},
    {"lines", 0, OPTION_TEXT, "LIST", ON(TRACE), FIELD(lines), 0, NULL,
     "show only steps of these lines of the source: 4,7-9"},
    {"rules", 0, OPTION_TEXT, "LIST", ON(TRACE), FIELD(rules), 0, NULL,
     "show only steps of these rules: if,token"},
    {"watch", 0, OPTION_TEXT, "LIST", ON(TRACE), FIELD(watched), 0, NULL,
     "show only steps that write one of these: variables, elements, registers (i,s[3],%r1)"},
    {"to", 0, OPTION_TEXT, "FORM", ON(LOWER), FIELD(to), 0, NULL,
     "core (default): the statements of the structured semantics; cfg: blocks; predicated, "
     "lockstep: pi(P) and phi(P) of the blocks, normalised; ptx: the canonical text of a .ptx "
     "file, or a kernel compiled; crs: the same with the branch unit's instructions; two-thread: "
     "two arbitrary threads as one sequential program; boogie: the same for Boogie; horn: the same "
     "as Horn clauses, for z3; opencl, cuda, "
     "glsl, wgsl, blocks, plain-ptx: a structured kernel in that language; blocks is JSON, "
     "plain-ptx "
     "is for drivers and ptxas"},
    {"knobs", 0, OPTION_OWN, "LIST", ON(LOWER), 0, 0, option_parse_knobs,
     "opencl, cuda, glsl, wgsl, plain-ptx: how to write it: outlined,mixed (docs/outside.md); none "
     "by default"},
    {"knobs", 0, OPTION_OWN, "LIST", ON(OUTSIDE), 0, FIELD(knobs_given), option_parse_knobs,
     "how kernels are written: outlined,mixed (docs/outside.md); by default drawn for each"},
    {"expose", 0, OPTION_FLAG, NULL, ON(LOWER), FIELD(expose), 0, NULL,
     "opencl, cuda, glsl, wgsl, plain-ptx: the kernel stores its private variables at the end, "
     "too"},
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
    {"keep", 0, OPTION_TEXT, "WHAT", ON(REDUCE), FIELD(keep), 0, NULL,
     "what some subject must still be seen to do: race, race:VARIABLE, oob (an access outside an "
     "array), deadlock, divergence (of a barrier), assert, hang, status:STATUS; expect: the first "
     "expectation that fails must go on failing; progress:MODELS: a kernel that hangs must still "
     "end as it does under these models (simt,fair, or all)"},
    {"keep-progress", 0, OPTION_TEXT, "MODELS", ON(REDUCE), FIELD(keep_progress), 0, NULL,
     "the same as --keep progress:MODELS"},
    {"test", 0, OPTION_TEXT, "COMMAND", ON(REDUCE), FIELD(test), 0, NULL,
     "keep kernels for which this shell command ends with exit status 0. The kernel's path is $1 "
     "(put behind a command that names no kernel) and $SIMTFUZZ_KERNEL; with --jobs N several run "
     "at once"},
    {"test-timeout", 0, OPTION_TIME, "T", ON(REDUCE), FIELD(test_time_ms), 0, NULL,
     "how long a --test may take before it is killed and its kernel is not kept; 60s by default"},
    {"against", 0, OPTION_TEXT, "reference", ON(TRACE), FIELD(against), 0, NULL,
     "say where the execution first differs from the literal semantics, or that it does not"},
    {"against", 0, OPTION_TEXT, "SUBJECT", ON(VIEW), FIELD(against), 0, NULL,
     "a second semantics, beside the first: what each thread does, and where they part"},
    {"witness", 0, OPTION_TEXT, "MODEL", ON(VIEW), FIELD(witness), 0, NULL,
     "the hang that `progress` has found under this execution model, e.g. fair, hsa, "
     "stackless:minpc"},
    {"raw", 0, OPTION_FLAG, NULL, ON(REDUCE) | ON(REPLAY) | ON(TRACE) | ON(VIEW) | ON(STEP),
     FIELD(raw), 0, NULL, "the finding as it was found, not its minimised form"},
    {"raw", 0, OPTION_FLAG, NULL, ON(TRIAGE), FIELD(raw), 0, NULL,
     "export, bundle: the finding as it was found, not its minimised form"},
    {"finding", 0, OPTION_TEXT, "ID", ON(TRACE), FIELD(finding), 0, NULL,
     "a finding of --db instead of a file: the execution that is stored of it"},
    {"subject", 0, OPTION_OWN, "NAME", ON(OUTSIDE), 0, 0, option_parse_outside,
     "an implementation, such as compiler:clang-14:-O2; several options for several; by default "
     "all that "
     "are found (simtfuzz subjects --outside)"},
    {"subject", 0, OPTION_OWN, "NAME", ON(RUN), 0, 0, option_parse_outside,
     "hunt in an outside implementation, such as opencl:pocl, instead of our own semantics "
     "(simtfuzz outside); several options or a list for several, all: all that are found"},
    {"outside", 0, OPTION_FLAG, NULL, ON(SUBJECTS), FIELD(outside.list), 0, NULL,
     "compilers and drivers that are found here, with their versions"},
    {"cases", 'n', OPTION_SOME_U64, "N", ON(OUTSIDE), FIELD(cases), 0, NULL,
     "stop after so many cases"},
    {"time", 't', OPTION_TIME, "T", ON(OUTSIDE), FIELD(time_ms), 0, NULL,
     "stop after this time (90, 90s, 15m, 8h); without --time and --cases: 60s"},
    {"from", 0, OPTION_U64, "K", ON(OUTSIDE), FIELD(first_case), 0, NULL,
     "number of the first case; 0 by default"},
    {"kernel", 0, OPTION_TEXT, "FILE", ON(OUTSIDE), FIELD(outside.kernel), 0, NULL,
     "this kernel instead of generated ones"},
    {"as-it-is", 0, OPTION_FLAG, NULL, ON(OUTSIDE), FIELD(outside.as_it_is), 0, NULL,
     "do not add stores of the kernel's private variables"},
    {"ignore-known", 0, OPTION_FLAG, NULL, ON(OUTSIDE), FIELD(outside.ignore_known), 0, NULL,
     "take known faults for new ones, and do not avoid them"},
    {"tests", 0, OPTION_U32, "N", ON(OUTSIDE), FIELD(outside.tests), FIELD(outside.tests_given),
     NULL, "candidates that the minimisation of a finding tries at most; 400 by default, 0: none"},
    {"batch", 0, OPTION_SOME_U32, "N", ON(OUTSIDE), FIELD(outside.batch), 0, NULL,
     "kernels that share one text, 1 to 64; 16 by default"},
    {"cpu", 0, OPTION_SOME_U32, "SECONDS", ON(OUTSIDE), FIELD(outside.cpu_seconds), 0, NULL,
     "CPU time that an implementation may take for one text; 30 by default"},
    {"output", 'o', OPTION_TEXT, "FOLDER", ON(OUTSIDE), FIELD(output), 0, NULL,
     "a folder for findings: a folder with kernel, text, memory and a report for each"},
    {"all", 0, OPTION_FLAG, NULL, ON(REDUCE), FIELD(all_pending), 0, NULL,
     "minimise all findings for which a campaign had no time (pending)"},
    {"tests", 0, OPTION_U32, "N", ON(REDUCE), FIELD(max_tests), 0, NULL,
     "end after N candidates with the best so far; 20000 by default"},
    {"tests", 0, OPTION_SOME_U32, "N", ON(RUN), FIELD(minimise_tests), 0, NULL,
     "candidates that the minimisation of a finding tries at most; 1000 by default"},
    {"tests", 0, OPTION_U32, "N", ON(DISTILL), FIELD(max_tests), 0, NULL,
     "candidates that the reduction of a kernel tries at most; 20000 by default"},
    {"output", 'o', OPTION_OUTPUT, "FILE", ON(REDUCE), FIELD(output), 0, NULL,
     "write the minimised kernel to FILE"},
    {"output", 'o', OPTION_TEXT, "FILE", ON(TRIAGE), FIELD(output), 0, NULL,
     "export: write the kernel to FILE; bundle: the folder, finding-ID by default"},
    {"status", 0, OPTION_OWN, "LIST", ON(TRIAGE), 0, 0, option_parse_states,
     "list, search, bugs: only these: open, known, fixed, invalid, regression (fixed, and seen "
     "again), "
     "suppressed"},
    {"oracle", 0, OPTION_TEXT, "LIST", ON(TRIAGE), FIELD(triage.oracle), 0, NULL,
     "list, search, bugs: only findings of these oracles"},
    {"since", 0, OPTION_OWN, "WHEN", ON(TRIAGE), 0, 0, option_parse_since,
     "list, search, bugs: only what was seen since: 24h, 7d, 2026-11-22, or the number of a "
     "campaign"},
    {"new", 0, OPTION_FLAG, NULL, ON(TRIAGE), FIELD(triage.fresh), 0, NULL,
     "list, search, bugs: only what was not seen before the last campaign"},
    {"limit", 0, OPTION_U64, "N", ON(TRIAGE), FIELD(triage.limit), FIELD(triage.limit_given), NULL,
     "list, search, bugs: so many at most, 0 for all; text: 100 by default"},
    {"until", 0, OPTION_OWN, "DATE", ON(TRIAGE), 0, 0, option_parse_until,
     "suppress: until this day or time (UTC): 2026-12-24, 2026-12-24T06:00"},
    {"for", 0, OPTION_TIME, "T", ON(TRIAGE), FIELD(triage.for_ms), 0, NULL,
     "suppress: for this time (8h, 30d)"},
    {"builds", 0, OPTION_TEXT, "BUILD", ON(TRIAGE), FIELD(triage.builds), 0, NULL,
     "bisect: programs from old to new: further ones may follow; a quoted pattern "
     "('old/*/simtfuzz', in the "
     "order of the numbers in it) or a text file with a path a line"},
    {"all", 0, OPTION_FLAG, NULL, ON(TRIAGE), FIELD(triage.all_builds), 0, NULL,
     "bisect: run every build, not only as many as a binary search needs"},
    {"runs", 0, OPTION_SOME_U32, "N", ON(TRIAGE), FIELD(triage.runs), 0, NULL,
     "bisect: ask up to N times until a build shows it; 1 by default, 5 for flaky findings"},
    {"runs", 0, OPTION_SOME_U32, "N", ON(REGRESS), FIELD(triage.runs), 0, NULL,
     "run each form of a finding N times; 1 by default, 5 for flaky findings"},
    {"time", 't', OPTION_TIME, "T", ON(REGRESS), FIELD(time_ms), 0, NULL,
     "how long a run may take; 60s by default"},
    {"update", 0, OPTION_FLAG, NULL, ON(REGRESS), FIELD(triage.update), 0, NULL,
     "mark open findings fixed when neither form shows anything any more"},
    {"time", 't', OPTION_TIME, "T", ON(TRIAGE), FIELD(time_ms), 0, NULL,
     "bisect: how long a build may take each time; 60s by default"},
    {"subjects", 0, OPTION_FLAG, NULL, ON(RULES), FIELD(list_subjects), 0, NULL,
     "list the subjects with their options"},
    {"oracles", 0, OPTION_FLAG, NULL, ON(RULES), FIELD(list_oracles), 0, NULL,
     "list the oracles: theorem, where they apply, what they cannot conclude"},
    {"pairs", 0, OPTION_FLAG, NULL, ON(RULES), FIELD(list_pairs), 0, NULL,
     "list which rules fired in which contexts, and which never did"},
    {"weights", 0, OPTION_FLAG, NULL, ON(RULES), FIELD(list_weights), 0, NULL,
     "list the weights of the generator"},
    {"transforms", 0, OPTION_FLAG, NULL, ON(RULES), FIELD(list_transforms), 0, NULL,
     "list the transformations that `metamorphic` and `transform` know"},
    {"man", 0, OPTION_FLAG, NULL, ON(HELP), FIELD(manual), 0, NULL, "print the manual page"},
    {"completion", 0, OPTION_TEXT, "SHELL", ON(HELP), FIELD(completion), 0, NULL,
     "print what completes commands and options in a shell: bash, zsh, fish"},
    {"html", 0, OPTION_OUTPUT, "FILE", ON(REPORT), FIELD(html), 0, NULL,
     "a page for people: one file that needs nothing else"},
    {"html", 0, OPTION_OUTPUT, "FILE", ON(CHECK) | ON(EXEC), FIELD(html), 0, NULL,
     "a page for people: what was found, with the lines of the source around it"},
    {"junit", 0, OPTION_OUTPUT, "FILE", ON(REPORT), FIELD(junit), 0, NULL,
     "JUnit XML: a test suite an oracle, a test case a finding"},
    {"junit", 0, OPTION_OUTPUT, "FILE", ON(CHECK) | ON(EXEC), FIELD(junit), 0, NULL,
     "JUnit XML: a test case a kernel"},
    {"sarif", 0, OPTION_OUTPUT, "FILE", ON(CHECK) | ON(EXEC), FIELD(sarif), 0, NULL,
     "SARIF 2.1.0, for code scanning: a result for each race, fault, divergence, failed "
     "expectation"},
    {"sarif", 0, OPTION_OUTPUT, "FILE", ON(REPORT), FIELD(sarif), 0, NULL,
     "SARIF 2.1.0, for code scanning: a rule an oracle, a result a finding"},
    {"markdown", 0, OPTION_OUTPUT, "FILE", ON(REPORT) | ON(CHECK) | ON(EXEC), FIELD(markdown), 0,
     NULL, "a job's summary on GitHub, at most 1 MB: --markdown \"$GITHUB_STEP_SUMMARY\""},
    {"grade", 0, OPTION_TEXT, "FILE", ON(REPORT), FIELD(grade), 0, NULL,
     "with --html: the grade's table too (named.tsv, auto.tsv; docs/grading.md)"},
    {"findings", 0, OPTION_SOME_U32, "N", ON(REPORT), FIELD(report_findings), 0, NULL,
     "how many findings are shown at most, the most important first; 100 by default"},
    {"no-views", 0, OPTION_FLAG, NULL, ON(REPORT), FIELD(no_views), 0, NULL,
     "with --html FILE: do not write the folder FILE.views, which has a page of `view` for each "
     "finding that is run again"},
    {"traces", 0, OPTION_U32, "N", ON(REPORT), FIELD(report_traces), 0, NULL,
     "how many findings are run again at most, for pictures of their executions; 20 by default"},
    {"watch", 'w', OPTION_FLAG, NULL, ON(STATUS), FIELD(watch), 0, NULL,
     "look again once a second, until no campaign runs any more; on a terminal in place, q ends"},
    {"check", 0, OPTION_FLAG, NULL, ON(STATUS), FIELD(check_db), 0, NULL,
     "read all of the database first, for damage: pages, indices, constraints, references"},
    {"db", 0, OPTION_TEXT, "FILE", ON_DB, FIELD(db), FIELD(db_given), NULL,
     "the triage database; simtfuzz.db by default"},
    {"json", 0, OPTION_FLAG, NULL, ON_ALL, FIELD(json), 0, NULL,
     "print JSON, one document a line, and nothing else to standard output"},
    {"help", 'h', OPTION_FLAG, NULL, ON_ALL, FIELD(help), 0, NULL, "print this help"},
};

const size_t option_count = sizeof option_table / sizeof option_table[0];
