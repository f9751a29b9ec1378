#include "fuzz/outside/compiler.h"

#include "fuzz/outside/ptx_run.h"
#include "fuzz/serve/cause.h"
#include "fuzz/serve/child.h"

#include <string.h>

enum { WORDS_MAX = 64, PTX_MAX = 64 << 20, VERSION_SECONDS = 20 };

/* A family of compilers: how its command looks. {program}, {level}, {arch}, {in}, {out}, the files {1} and {2} between,
 * and {-N}, the end of the program's name, are filled in. `&&` stands between commands, which run one after the
 * other. */
struct family {
    const char *prefix;   /* of the program's name: "clang" */
    const char *language; /* "": the one that is meant without a name */
    enum emit_language emits;
    const char *command;
    const char *arch;  /* usual one */
    const char *usual; /* level */
    const char *plain; /* the level without optimisation */
};

static const struct family families[] = {
    {"clang", "", EMIT_OPENCL,
     "{program} -cc1 -triple nvptx64-nvidia-cuda -x cl -cl-std=CL2.0 -DSIMTFUZZ_BARE -w {level} -S "
     "-o {out} {in}",
     "sm_70", "-O2", "-O0"},
    {"clang", "cuda", EMIT_CUDA,
     "{program} -cc1 -triple nvptx64-nvidia-cuda -fcuda-is-device -target-cpu {arch} "
     "-target-feature +ptx63 -x cuda "
     "-DSIMTFUZZ_BARE -w {level} "
     "-S -o {out} {in}",
     "sm_70", "-O2", "-O0"},
    {"nvcc", "", EMIT_CUDA, "{program} -ptx -w -arch={arch} -Xcicc {level} -o {out} {in}", "sm_80",
     "-O2", "-O0"},
    /* At -O0 clang marks functions optnone, and passes leave them alone. */
    {"opt", "", EMIT_OPENCL,
     "clang{-N} -cc1 -triple nvptx64-nvidia-cuda -x cl -cl-std=CL2.0 -DSIMTFUZZ_BARE -w -O1 "
     "-disable-llvm-passes -emit-llvm-bc -o {1} {in} && {program} -passes={level} -o {2} {1} && "
     "llc{-N} -mcpu={arch} -o {out} {2}",
     "sm_70", "structurize", "verify"},
};

enum { FAMILIES = sizeof families / sizeof families[0] };

/* Pipelines of opt by name; each pass alone is a pipeline, too. {switch} is lower-switch as the version calls it. */
static const struct pipeline {
    const char *name, *passes;
} pipelines[] = {
    {"structurize", "mem2reg,{switch},structurizecfg"},
    {"irreducible", "mem2reg,{switch},fix-irreducible,unify-loop-exits,structurizecfg"},
    {"threading", "sroa,jump-threading,gvn,simplifycfg"},
    {"loops", "sroa,loop-simplify,lcssa,loop-rotate,indvars,loop-unroll"},
    {"vectors", "mem2reg,loop-rotate,loop-vectorize,slp-vectorizer"},
    {"values", "mem2reg,correlated-propagation,dse,newgvn,sink,adce"},
    {"returns", "reg2mem,mem2reg,mergereturn,simplifycfg,instsimplify,reassociate,sccp"},
};

enum { PIPELINES = sizeof pipelines / sizeof pipelines[0] };

struct compiler {
    const struct family *family; /* NULL: a command as it was given */
    const char *program, *level, *arch;
    const char *command;
};

/* ---- names ---- */

static bool is_level(const char *text)
{
    return text[0] == '-' && text[1] == 'O' && text[2];
}

/* Splits at colons; at most 4 parts. */
static uint32_t split(struct arena *arena, const char *text, const char *parts[4])
{
    uint32_t count = 0;
    for (bool more = true; more && count < 4;) {
        size_t length = strcspn(text, ":");
        parts[count++] = arena_strndup(arena, text, length);
        more = text[length] == ':';
        text += length + more;
    }
    return count;
}

static const struct family *find_family(const char *program, const char *language)
{
    const char *name = strrchr(program, '/');
    name = name ? name + 1 : program;
    for (uint32_t i = 0; i < FAMILIES; i++)
        if (strncmp(name, families[i].prefix, strlen(families[i].prefix)) == 0 &&
            strcmp(families[i].language, language) == 0)
            return &families[i];
    return NULL;
}

/* ---- commands ---- */

struct filling {
    const char *name, *value;
};

static char *fill(struct arena *arena, const char *word, const struct filling *fillings,
                  uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *at = strstr(word, fillings[i].name);
        if (at)
            return arena_printf(arena, "%.*s%s%s", (int)(at - word), word, fillings[i].value,
                                at + strlen(fillings[i].name));
    }
    return arena_printf(arena, "%s", word);
}

/* The words of a command, which blanks separate. */
static void make_arguments(struct arena *arena, const struct compiler *c, const char *in,
                           const char *out, char *arguments[WORDS_MAX + 1])
{
    const struct filling fillings[] = {{"{program}", c->program},
                                       {"{level}", c->level},
                                       {"{arch}", c->arch},
                                       {"{in.cl}", in},
                                       {"{in.cu}", in},
                                       {"{in}", in},
                                       {"{out}", out},
                                       {"{1}", arena_printf(arena, "%s.1", out)},
                                       {"{2}", arena_printf(arena, "%s.2", out)},
                                       {"{-N}", c->program + strcspn(c->program, "-")}};
    uint32_t count = 0;
    for (const char *at = c->command; *at && count < WORDS_MAX;) {
        size_t length = strcspn(at, " ");
        if (length)
            arguments[count++] = fill(arena, arena_strndup(arena, at, length), fillings,
                                      sizeof fillings / sizeof fillings[0]);
        at += length;
        at += *at == ' ';
    }
    arguments[count] = NULL;
}

/* ---- running ---- */

static void all_end(struct outside_result *results, uint32_t count, enum outside_end end,
                    const char *cause, const char *log)
{
    for (uint32_t i = 0; i < count; i++)
        results[i] = (struct outside_result){.end = end, .cause = cause, .log = log};
}

static void judge_failure(struct arena *arena, const struct child_result *child, uint32_t count,
                          struct outside_result *results)
{
    const char *cause = cause_of_log(arena, child->output);
    enum outside_end end = OUTSIDE_COMPILE_ERROR;
    if (child->end == CHILD_NO_START)
        end = OUTSIDE_UNSUPPORTED;
    else if (child->end == CHILD_HANG)
        end = OUTSIDE_HANG;
    else if (child->end == CHILD_SIGNALED || cause_is_crash(child->output))
        end = OUTSIDE_CRASH;
    if (child->end == CHILD_HANG)
        cause = "CPU time";
    all_end(results, count, end, cause, child->output);
}

/* What stands between `&&`, one after the other, until one fails; the last one's result. */
static struct child_result run_commands(struct arena *arena, const struct child_limits *limits,
                                        char **arguments)
{
    struct child_result child;
    bool more;
    do {
        char **end = arguments;
        while (*end && strcmp(*end, "&&") != 0)
            end++;
        more = *end != NULL;
        *end = NULL;
        child = child_run(arena, limits, arguments);
        arguments = end + 1;
    } while (more && child.end == CHILD_EXITED && child.status == 0);
    return child;
}

const char *compiler_make_ptx(struct arena *arena, const struct outside_subject *subject,
                              const struct outside_settings *settings,
                              const struct outside_batch *batch, struct outside_result *results,
                              size_t *length)
{
    const struct compiler *c = subject->own;
    const struct child_limits limits = {.folder = settings->folder,
                                        .cpu_seconds = settings->cpu_seconds,
                                        .memory = settings->memory};
    const char *in = arena_printf(arena, "%s/in.%s", settings->folder,
                                  subject->language == EMIT_CUDA ? "cu" : "cl");
    const char *out = arena_printf(arena, "%s/out.ptx", settings->folder);
    char *arguments[WORDS_MAX + 1];
    (void)remove(out);
    if (!child_write(in, batch->text)) {
        all_end(results, batch->count, OUTSIDE_UNSUPPORTED, "the text cannot be written", "");
        return NULL;
    }
    make_arguments(arena, c, in, out, arguments);
    struct child_result child = run_commands(arena, &limits, arguments);
    if (child.end != CHILD_EXITED || child.status != 0) {
        judge_failure(arena, &child, batch->count, results);
        return NULL;
    }
    const char *ptx = child_read(arena, out, PTX_MAX, length);
    if (!ptx)
        all_end(results, batch->count, OUTSIDE_RUN_ERROR, "no PTX came out", child.output);
    return ptx;
}

static void run(struct arena *arena, const struct outside_subject *subject,
                const struct outside_settings *settings, const struct outside_batch *batch,
                struct outside_result *results)
{
    size_t length = 0;
    const char *ptx = compiler_make_ptx(arena, subject, settings, batch, results, &length);
    if (ptx)
        outside_run_ptx(arena, ptx, length, batch, results);
}

static const char *command_line(struct arena *arena, const struct outside_subject *subject)
{
    char *arguments[WORDS_MAX + 1];
    const char *line = "";
    make_arguments(arena, subject->own, subject->language == EMIT_CUDA ? "kernel.cu" : "kernel.cl",
                   "kernel.ptx", arguments);
    for (char *const *word = arguments; *word; word++) {
        const char *quote = strpbrk(*word, "();<>") ? "'" : "";
        line = arena_printf(arena, "%s%s%s%s%s", line, *line ? " " : "", quote, *word, quote);
    }
    return line;
}

/* ---- opening ---- */

/* The first line with a digit of what --version prints. */
static const char *version_of(struct arena *arena, const char *program)
{
    char *arguments[] = {arena_printf(arena, "%s", program), arena_printf(arena, "--version"),
                         NULL};
    const struct child_limits limits = {.folder = "/tmp", .cpu_seconds = VERSION_SECONDS};
    struct child_result child = child_run(arena, &limits, arguments);
    const char *best = "";
    for (const char *line = child.output; *line;) {
        size_t length = strcspn(line, "\n");
        if (memchr(line, '.', length) && (!*best || strstr(line, "release")))
            best = arena_strndup(arena, line, length);
        line += length;
        line += *line == '\n';
    }
    return best;
}

static struct outside_subject *new_subject(struct arena *arena, const struct compiler *compiler,
                                           enum emit_language language)
{
    struct outside_subject *subject = ARENA_NEW(arena, struct outside_subject);
    struct compiler *own = ARENA_NEW(arena, struct compiler);
    *own = *compiler;
    subject->own = own;
    subject->language = language;
    subject->version = "";
    return subject;
}

static struct outside_subject *open_command(struct arena *arena, const char *command,
                                            const char **reason)
{
    const struct compiler compiler = {.program = "", .level = "", .arch = "", .command = command};
    if (!strstr(command, "{out}") || (!strstr(command, "{in.cl}") && !strstr(command, "{in.cu}"))) {
        *reason = "a command names its files as {in.cl} or {in.cu}, and {out}";
        return NULL;
    }
    return new_subject(arena, &compiler, strstr(command, "{in.cu}") ? EMIT_CUDA : EMIT_OPENCL);
}

static bool is_opt(const char *program)
{
    return strncmp(program, "opt-", strlen("opt-")) == 0;
}

/* Whether the version has a pass of that name. */
static bool has_pass(struct arena *arena, const char *program, const char *pass)
{
    char *arguments[] = {arena_printf(arena, "%s", program), arena_printf(arena, "--print-passes"),
                         NULL};
    const struct child_limits limits = {.folder = "/tmp", .cpu_seconds = VERSION_SECONDS};
    return strstr(child_run(arena, &limits, arguments).output, pass);
}

/* The passes of a pipeline of ours, or what was given. */
static const char *passes_of(struct arena *arena, const char *program, const char *name)
{
    const struct filling filling = {
        "{switch}", has_pass(arena, program, "lower-switch") ? "lower-switch" : "lowerswitch"};
    for (uint32_t i = 0; i < PIPELINES; i++)
        if (strcmp(pipelines[i].name, name) == 0)
            return fill(arena, pipelines[i].passes, &filling, 1);
    return name;
}

/* opt-N[:PASSES], with clang-N and llc-N. */
static struct outside_subject *open_pipeline(struct arena *arena, const char *program,
                                             const char *passes, const char **reason)
{
    const struct family *family = find_family("opt", "");
    const char *version = program + strlen("opt");
    const char *needs[] = {program, arena_printf(arena, "clang%s", version),
                           arena_printf(arena, "llc%s", version)};
    for (uint32_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (!child_find(arena, needs[i])) {
            *reason = arena_printf(arena, "%s is not installed", needs[i]);
            return NULL;
        }
    const struct compiler compiler = {
        .family = family,
        .program = program,
        .level = passes_of(arena, program, passes ? passes : family->usual),
        .arch = family->arch,
        .command = family->command};
    struct outside_subject *subject = new_subject(arena, &compiler, family->emits);
    subject->version = version_of(arena, program);
    return subject;
}

static struct outside_subject *open_family(struct arena *arena, const char *rest,
                                           const char **reason)
{
    const char *parts[4] = {"", "", "", ""};
    uint32_t count = split(arena, rest, parts);
    struct compiler compiler = {.program = child_find(arena, parts[0])};
    const char *language = "";
    if (is_opt(parts[0]))
        return open_pipeline(arena, parts[0], count > 1 ? parts[1] : NULL, reason);
    for (uint32_t i = 1; i < count; i++)
        if (is_level(parts[i]))
            compiler.level = parts[i];
        else if (strncmp(parts[i], "sm_", 3) == 0)
            compiler.arch = parts[i];
        else
            language = parts[i];
    compiler.family = find_family(parts[0], language);
    if (!compiler.family || !compiler.program) {
        *reason = compiler.family ? arena_printf(arena, "%s is not installed", parts[0])
                                  : arena_printf(arena, "no compiler '%s' is known", rest);
        return NULL;
    }
    compiler.command = compiler.family->command;
    compiler.arch = compiler.arch ? compiler.arch : compiler.family->arch;
    compiler.level = compiler.level ? compiler.level : compiler.family->usual;
    struct outside_subject *subject = new_subject(arena, &compiler, compiler.family->emits);
    subject->version = version_of(arena, compiler.program);
    return subject;
}

static struct outside_subject *open_compiler(struct arena *arena, const char *rest,
                                             const char **reason)
{
    return strchr(rest, ' ') ? open_command(arena, rest, reason) : open_family(arena, rest, reason);
}

static struct outside_subject *plain(struct arena *arena, const struct outside_subject *subject)
{
    const struct compiler *c = subject->own;
    if (!c->family || strcmp(c->level, c->family->plain) == 0)
        return NULL;
    struct compiler without = *c;
    without.level = c->family->plain;
    struct outside_subject *made = new_subject(arena, &without, subject->language);
    made->kind = subject->kind;
    made->version = subject->version;
    made->name = arena_printf(arena, "%s without optimisation", subject->name);
    return made;
}

/* ---- what is found here ---- */

static void find(struct arena *arena,
                 void (*found)(void *context, const char *name, const char *version), void *context)
{
    enum { OLDEST = 11, NEWEST = 30 };
    static const char *const forms[] = {"", ":cuda"};
    for (int version = OLDEST; version <= NEWEST; version++) {
        const char *name = arena_printf(arena, "clang-%d", version);
        if (!child_find(arena, name))
            continue;
        for (uint32_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
            found(context, arena_printf(arena, "compiler:%s%s:-O2", name, forms[i]),
                  version_of(arena, name));
        const char *reason, *opt = arena_printf(arena, "opt-%d", version);
        if (open_pipeline(arena, opt, NULL, &reason))
            found(context, arena_printf(arena, "compiler:%s:structurize", opt),
                  version_of(arena, opt));
    }
    if (child_find(arena, "nvcc"))
        found(context, "compiler:nvcc:-O3", version_of(arena, "nvcc"));
}

const struct outside_kind outside_compiler = {
    .name = "compiler",
    .sentence = "a compiler that makes PTX, which runs in our own crs, thread-pc and block",
    .open = open_compiler,
    .run = run,
    .plain = plain,
    .command = command_line,
    .find = find,
};
