/*
 * triage_export.c - `simtfuzz triage export`: a stored kernel as a file of its own. Launch and
 * inputs stand in it; the comments at its head say what it shows, and how `check` sees it again.
 */
#include "engine/input/input.h"
#include "fuzz/beside/beside.h"
#include "fuzz/hunt/again.h"
#include "fuzz/hunt/evidence.h"
#include "fuzz/programs/host_divergence.h"
#include "fuzz/triage/stored.h"
#include "fuzz/triage/triage.h"

#include <inttypes.h>
#include <string.h>

enum { TAPE_MAX = 2000 };

/* In a shell, whatever stands in it. */
static const char *quoted(struct arena *arena, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    const char *out = "'";
    if (*text && text[strspn(text, plain)] == '\0')
        return text;
    for (; *text; text += *text == '\'') {
        size_t length = strcspn(text, "'");
        out = arena_printf(arena, "%s%.*s%s", out, (int)length, text, text[length] ? "'\\''" : "");
        text += length;
    }
    return arena_printf(arena, "%s'", out);
}

/* The command that shows the finding on this file; NULL: its tape is too long to stand in it. */
static const char *command(struct triage *t, const struct db_finding *f,
                           const struct stored *stored, const struct fuzz_case *c, const char *file)
{
    struct arena *arena = &t->cli->arena;
    if (again_is_outside(f))
        return arena_printf(arena, "simtfuzz outside --subject %s --knobs %s%s --kernel %s",
                            quoted(arena, f->subject), evidence_text(arena, f->evidence, "knobs"),
                            strcmp(stored->form, "minimised") == 0 &&
                                    strcmp(evidence_text(arena, f->evidence, "exposed"), "false") ==
                                        0
                                ? " --as-it-is"
                                : "",
                            file);
    struct fuzz_case plain = {.check = c->check, .has_tape = c->has_tape};
    const char *text = arena_printf(arena, "simtfuzz check %s --case %s", file,
                                    quoted(arena, case_print(arena, &plain)));
    if (!c->has_tape)
        return text;
    if (strlen(stored->tape) > TAPE_MAX)
        return NULL;
    return arena_printf(arena, "echo %s >%s.tape && %s --tape %s.tape", quoted(arena, stored->tape),
                        file, text, file);
}

static const char *head(struct triage *t, const struct db_finding *f, const struct stored *stored,
                        const struct fuzz_case *c, const struct ast_kernel *kernel)
{
    struct arena *arena = &t->cli->arena;
    const char *given = t->cli->options.output;
    const char *file = given && strcmp(given, "-") != 0 ? quoted(arena, given) : "FILE";
    const char *again = command(t, f, stored, c, file);
    const char *text =
        arena_printf(arena, "// finding %" PRIu64 ", %s, %" PRIu32 " statements\n// shows: %s\n",
                     f->id, stored->form, ast_kernel_size(kernel), f->signature);
    if (again)
        text = arena_printf(arena, "%s// with: %s\n", text, again);
    else
        text = arena_printf(
            arena, "%s// with the execution that simtfuzz trace --finding %" PRIu64 "%s follows\n",
            text, f->id, t->cli->options.raw ? " --raw" : "");
    return text;
}

static int write_export(struct triage *t, const struct db_finding *f, const struct stored *stored,
                        const char *kernel)
{
    if (!t->cli->options.json)
        return cli_write_output(t->cli, t->cli->options.output, kernel);
    int status = CLI_OK;
    if (t->cli->options.output)
        status = cli_write_output(t->cli, t->cli->options.output, kernel);
    struct json json;
    json_line_begin(&json, stdout);
    json_key_u64(&json, "finding", f->id);
    json_key_string(&json, "form", stored->form);
    json_key_string(&json, "signature", f->signature);
    json_key_string(&json, "case", stored->case_text);
    json_key_string(&json, "tape", stored->has_tape ? stored->tape : NULL);
    json_key_string(&json, "kernel", kernel);
    json_line_end(&json);
    return status;
}

/* A host program, a litmus test: how it is seen again stands above it. */
static int export_text(struct triage *t, struct replayer *r, const struct db_finding *f,
                       const struct stored *stored)
{
    struct arena *arena = &t->cli->arena;
    struct host_case c;
    int status;
    const char *text = cli_get_kernel(t->cli, r->db, &r->message, stored->kernel, &status);
    if (!text)
        return status;
    bool good = host_case_parse(arena, stored->case_text, &c);
    const char *device = good && *c.device ? quoted(arena, c.device) : NULL;
    text = arena_printf(arena,
                        "# finding %" PRIu64 ", %s\n# shows: %s\n# with: simtfuzz %s FILE%s%s\n%s",
                        f->id, stored->form, f->signature, beside_of(f->oracle)->judging,
                        device ? " --device " : "", device ? device : "", text);
    return write_export(t, f, stored, text);
}

static int export_finding(struct triage *t, struct replayer *r, const struct db_finding *f)
{
    struct stored stored;
    struct fuzz_case c;
    const char *text;
    if (!stored_choose(r, f, t->cli->options.raw, &stored))
        return CLI_FAULT;
    if (!*stored.kernel) {
        cli_message(t->cli, "no kernel is stored of finding %" PRIu64, f->id);
        return CLI_USAGE;
    }
    if (beside_of(f->oracle))
        return export_text(t, r, f, &stored);
    if (!stored_case(r, &stored, &c))
        return CLI_FAULT;
    const struct ast_kernel *kernel = stored_kernel(r, stored.kernel, &text);
    if (!kernel)
        return CLI_FAULT;
    text = arena_printf(&t->cli->arena, "%s%s", head(t, f, &stored, &c, kernel), text);
    return write_export(t, f, &stored, text);
}

int triage_export(struct triage *t)
{
    return triage_one(t, "export", export_finding);
}
