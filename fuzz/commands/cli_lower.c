/*
 * cli_lower.c - `simtfuzz lower` and `simtfuzz gen`: kernels as text.
 */
#include "engine/emit/emit.h"
#include "engine/forms/lower.h"
#include "engine/forms/lower_cfg.h"
#include "engine/forms/normalise.h"
#include "engine/forms/predicate.h"
#include "engine/input/input.h"
#include "engine/prove/prove.h"
#include "engine/sequential/sequential.h"
#include "engine/to_ptx/lower_ptx.h"
#include "engine/to_ptx/ptx_inject.h"
#include "fuzz/case/case.h"
#include "fuzz/cli/cli.h"
#include "fuzz/host/cli_host.h"
#include "fuzz/litmus/litmus_hunt.h"
#include "fuzz/out/json.h"

#include <inttypes.h>
#include <string.h>

/* The kernel in another form; NULL after a message. */
typedef const struct ast_kernel *lower_form(struct cli *cli, struct ast_kernel *kernel,
                                            const char *path);

static const struct ast_kernel *refused(struct cli *cli, const char *path, const char *reason)
{
    cli_message(cli, "%s: %s", path, reason);
    return NULL;
}

static const struct ast_kernel *to_core(struct cli *cli, struct ast_kernel *kernel,
                                        const char *path)
{
    if (kernel->form != FORM_STRUCTURED)
        return refused(cli, path, "a block program has no core form");
    return lower_core(&cli->arena, kernel);
}

/* Def. 5.1 is no condition for a kernel to run, but one for most of the theorems. */
static void note_ill_formed(struct cli *cli, const struct ast_kernel *kernel, const char *path)
{
    const char *reason;
    struct location at;
    if (well_formed(&cli->arena, kernel, &reason, &at) != WELL_FORMED)
        cli_message(cli, "%s: note: %s", path, reason);
}

static const struct ast_kernel *to_cfg(struct cli *cli, struct ast_kernel *kernel, const char *path)
{
    const struct cli_options *o = &cli->options;
    const char *reason = NULL;
    if (kernel->form == FORM_LOCKSTEP)
        return refused(cli, path, "a lock-step program has no block form");
    if (kernel->form == FORM_STRUCTURED) {
        struct lower_cfg_options options = {.anchored = o->anchored,
                                            .then_first = o->then_first,
                                            .logic_blocks = o->logic_blocks,
                                            .keep_calls = o->keep_calls};
        kernel = lower_cfg(&cli->arena, lower_core(&cli->arena, kernel), &options, &reason);
        if (!kernel)
            return refused(cli, path, reason);
    }
    if (o->normalise) {
        kernel = normalise(&cli->arena, kernel, NORMALISE_ALL, &reason);
        if (!kernel)
            return refused(cli, path, reason);
    }
    note_ill_formed(cli, kernel, path);
    return kernel;
}

/* P normalised and numbered, then pi or phi of it. */
static const struct ast_kernel *transform(struct cli *cli, struct ast_kernel *kernel,
                                          const char *path, bool lockstep)
{
    static const struct predicate_options options;
    const char *reason = NULL;
    cli->options.normalise = true;
    const struct ast_kernel *cfg = to_cfg(cli, kernel, path);
    if (!cfg)
        return NULL;
    struct ast_kernel *P = ast_kernel_copy(&cli->arena, cfg);
    if (!program_compile(&cli->arena, P, &reason))
        return refused(cli, path, reason);
    const struct ast_kernel *result = lockstep ? lockstep_form(&cli->arena, P, &options, &reason)
                                               : predicate(&cli->arena, P, &options, &reason);
    return result ? result : refused(cli, path, reason);
}

static const struct ast_kernel *to_predicated(struct cli *cli, struct ast_kernel *kernel,
                                              const char *path)
{
    return transform(cli, kernel, path, false);
}

static const struct ast_kernel *to_lockstep(struct cli *cli, struct ast_kernel *kernel,
                                            const char *path)
{
    if (kernel->form == FORM_LOCKSTEP)
        return kernel;
    return transform(cli, kernel, path, true);
}

/* A structured kernel, or one in block form, compiled; one in PTX form, whatever its file is called. NULL
 * after a message. */
static struct ast_kernel *compiled(struct cli *cli, const char *path)
{
    struct ast_kernel *kernel = cli_read_kernel(&cli->arena, path);
    const char *reason = "a lock-step program is not lowered to PTX";
    if (!kernel || kernel->form == FORM_PTX)
        return kernel;
    kernel = kernel->form != FORM_LOCKSTEP ? lower_ptx(&cli->arena, kernel, &reason) : NULL;
    if (!kernel)
        refused(cli, path, reason);
    return kernel;
}

static const char *compiled_ptx(struct cli *cli, const char *path)
{
    const struct ast_kernel *kernel = compiled(cli, path);
    return kernel ? ptx_kernel_print(&cli->arena, kernel) : NULL;
}

/* Functions that hold instructions of the branch unit are left as they are. */
static const char *compiled_crs(struct cli *cli, const char *path)
{
    struct ast_kernel *kernel = compiled(cli, path);
    const char *reason = NULL;
    if (!kernel)
        return NULL;
    kernel->ptx->module = ptx_inject(&cli->arena, kernel->ptx->module, &reason);
    if (!kernel->ptx->module)
        refused(cli, path, reason);
    return kernel->ptx->module ? ptx_kernel_print(&cli->arena, kernel) : NULL;
}

/* NULL after a message. */
static const struct ptx_module *read_ptx(struct cli *cli, const char *path)
{
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    size_t length;
    char *text = parse_read_bytes(&cli->arena, path, PTX_LIMIT_SOURCE_BYTES, &length, diag);
    const struct ptx_module *module = text ? ptx_parse(&cli->arena, text, length, diag) : NULL;
    if (!module)
        diag_print(diag, stderr);
    return module;
}

/* Of PTX the canonical text. */
static const char *to_ptx(struct cli *cli, const char *path)
{
    if (!cli_is_ptx(path))
        return compiled_ptx(cli, path);
    const struct ptx_module *module = read_ptx(cli, path);
    return module ? ptx_print(&cli->arena, module) : NULL;
}

/* PTX with the branch unit's instructions. Structured kernels are compiled with them. */
static const char *to_crs(struct cli *cli, const char *path)
{
    if (!cli_is_ptx(path))
        return compiled_crs(cli, path);
    const struct ptx_module *module = read_ptx(cli, path);
    const char *reason = NULL;
    if (!module)
        return NULL;
    module = ptx_inject(&cli->arena, module, &reason);
    if (!module)
        refused(cli, path, reason);
    return module ? ptx_print(&cli->arena, module) : NULL;
}

/* As a text of its own, with what runs it has to know. */
static const char *emitted(struct cli *cli, const char *path, enum emit_language language)
{
    struct ast_kernel *kernel = cli_read_kernel(&cli->arena, path);
    struct emitted made;
    const char *reason;
    if (!kernel)
        return NULL;
    if (cli->options.expose && kernel->form == FORM_STRUCTURED)
        kernel = emit_expose(&cli->arena, kernel);
    struct text kernel_text = text_begin(&cli->arena);
    if (!emit_kernel(&kernel_text, kernel, language, cli->options.knobs, 0, &made, &reason)) {
        refused(cli, path, reason);
        return NULL;
    }
    struct text text = text_begin(&cli->arena);
    if (language == EMIT_BLOCKS) /* JSON has no comments */
        return emit_text(&cli->arena, language, kernel_text.bytes);
    text_format(&text, "// kernel %s: %u threads a block, %u blocks, a buffer of %u words:\n//",
                made.entry, made.threads, made.blocks, made.words);
    for (uint32_t i = 0; i < made.words; i++)
        text_format(&text, " %d", (int)made.initial[i]);
    text_put(&text, "\n");
    text_put(&text, emit_text(&cli->arena, language, kernel_text.bytes));
    return text.bytes;
}

static const char *to_opencl(struct cli *cli, const char *path)
{
    return emitted(cli, path, EMIT_OPENCL);
}

static const char *to_cuda(struct cli *cli, const char *path)
{
    return emitted(cli, path, EMIT_CUDA);
}

static const char *to_glsl(struct cli *cli, const char *path)
{
    return emitted(cli, path, EMIT_GLSL);
}

static const char *to_wgsl(struct cli *cli, const char *path)
{
    return emitted(cli, path, EMIT_WGSL);
}

static const char *to_blocks(struct cli *cli, const char *path)
{
    return emitted(cli, path, EMIT_BLOCKS);
}

static const char *to_plain_ptx(struct cli *cli, const char *path)
{
    return emitted(cli, path, EMIT_PTX);
}

/* The program of two threads, for a reader or for Boogie. */
static const char *sequential_text(struct cli *cli, const char *path, enum sequential_style style)
{
    struct ast_kernel *kernel = cli_read_kernel(&cli->arena, path);
    const char *reason = NULL;
    if (!kernel)
        return NULL;
    const char *text =
        sequential_print(&cli->arena, forms_new(&cli->arena, kernel), style, &reason);
    if (!text)
        refused(cli, path, reason);
    return text;
}

static const char *to_two_thread(struct cli *cli, const char *path)
{
    return sequential_text(cli, path, SEQUENTIAL_TUTORIAL);
}

static const char *to_boogie(struct cli *cli, const char *path)
{
    return sequential_text(cli, path, SEQUENTIAL_BOOGIE);
}

/* The program of two threads as Horn clauses; the invariants are left to the solver. */
static const char *to_horn(struct cli *cli, const char *path)
{
    struct ast_kernel *kernel = cli_read_kernel(&cli->arena, path);
    const char *reason = NULL;
    if (!kernel)
        return NULL;
    const char *text =
        prove_horn_text(&cli->arena, forms_new(&cli->arena, kernel), &PROOF_DEFAULTS, &reason);
    if (!text)
        refused(cli, path, reason);
    return text;
}

static const struct target_form {
    const char *name;
    lower_form *lower;
    const char *(*text)(struct cli *cli, const char *path); /* of PTX: its text */
} forms[] = {{"core", to_core, NULL},
             {"cfg", to_cfg, NULL},
             {"predicated", to_predicated, NULL},
             {"lockstep", to_lockstep, NULL},
             {"ptx", NULL, to_ptx},
             {"crs", NULL, to_crs},
             {"two-thread", NULL, to_two_thread},
             {"boogie", NULL, to_boogie},
             {"horn", NULL, to_horn},
             {"opencl", NULL, to_opencl},
             {"cuda", NULL, to_cuda},
             {"glsl", NULL, to_glsl},
             {"wgsl", NULL, to_wgsl},
             {"blocks", NULL, to_blocks},
             {"plain-ptx", NULL, to_plain_ptx}};

enum { FORMS = sizeof forms / sizeof forms[0] };

static const struct target_form *find_form(const char *name)
{
    for (size_t i = 0; i < FORMS; i++)
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    return NULL;
}

static int unknown_form(struct cli *cli)
{
    const char *names = forms[0].name;
    for (size_t i = 1; i < FORMS; i++)
        names = arena_printf(&cli->arena, "%s, %s", names, forms[i].name);
    return cli_misuse(cli, "--to: there is no form '%s' (there are: %s)", cli->options.to, names);
}

static const char *lowered_text(struct cli *cli, const struct target_form *form, const char *path)
{
    struct ast_kernel *kernel = cli_read_kernel(&cli->arena, path);
    const struct ast_kernel *lowered = NULL;
    if (kernel && kernel->form == FORM_PTX)
        (void)refused(cli, path, "a kernel in PTX form has the forms ptx and crs only");
    else if (kernel)
        lowered = form->lower(cli, kernel, path);
    return lowered ? print_kernel(&cli->arena, lowered) : NULL;
}

int command_lower(struct cli *cli)
{
    const char *path = cli->arguments[0];
    const struct target_form *form = find_form(cli->options.to);
    if (!form)
        return unknown_form(cli);
    const char *text = form->lower ? lowered_text(cli, form, path) : form->text(cli, path);
    if (!text)
        return CLI_USAGE;
    if (cli->options.json) {
        struct json json;
        json_line_begin(&json, stdout);
        json_key_string(&json, "file", path);
        json_key_string(&json, "form", form->name);
        json_key_string(&json, "text", text);
        json_line_end(&json);
    } else {
        fputs(text, stdout);
    }
    return CLI_OK;
}

int command_gen(struct cli *cli)
{
    const struct cli_options *o = &cli->options;
    struct gen_options gen = GEN_DEFAULTS;
    if (o->host)
        return cli_host_gen(cli);
    if (o->litmus)
        return litmus_gen(cli);
    gen.features = o->features;
    gen.weights = o->weights;
    gen.mutate = o->mutate;
    gen.small = gen.enumerate = o->enumerate;
    gen.spin = o->spin;
    gen.caches = o->launch.caches;
    const char *command = case_gen_command(&cli->arena, o->seed, &gen);
    struct gen_walk walk = {.started = false};
    for (uint64_t i = 0; i < o->count && !ferror(stdout); i++) {
        uint64_t number = o->first_case + i;
        size_t mark = arena_mark(&cli->arena);
        struct fuzz_case c;
        case_of_campaign(&c, o->seed, number, &gen, &CHECK_DEFAULTS);
        const struct ast_kernel *kernel = case_kernel(&cli->arena, &c, &walk);
        if (!kernel)
            break;
        const char *text = print_kernel(&cli->arena, kernel);
        if (o->json) {
            struct json json;
            json_line_begin(&json, stdout);
            json_key_hex(&json, "seed", o->seed);
            json_key_u64(&json, "case", number);
            json_key_string(&json, "text", text);
            json_line_end(&json);
        } else {
            printf("%s// %s %" PRIu64 "\n%s", i > 0 ? "\n" : "", command, number, text);
        }
        arena_release(&cli->arena, mark);
    }
    return CLI_OK;
}
