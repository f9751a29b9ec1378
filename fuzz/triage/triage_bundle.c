/*
 * triage_bundle.c - `simtfuzz triage bundle`: a finding of an outside implementation as a folder for those who maintain
 * it. It says what the database says; run is only the folder's own program, to see whether it shows the finding.
 */
#include "fuzz/hunt/bundle.h"
#include "fuzz/hunt/evidence.h"
#include "fuzz/triage/stored.h"
#include "fuzz/triage/triage.h"

#include <inttypes.h>
#include <string.h>

static uint64_t seed_of(struct replayer *r, const struct db_finding *f)
{
    const struct stored raw = {.form = "raw", .case_text = f->raw_case};
    struct fuzz_case c;
    return stored_case(r, &raw, &c) ? c.seed : 0;
}

static void report_folder(const struct triage *t, const struct db_finding *f,
                          const struct bundle *bundle)
{
    if (!t->cli->options.json) {
        printf("%s: %s\n  its program shows the finding: %s\n", bundle->folder, f->signature,
               bundle->shown);
        return;
    }
    struct json json;
    json_line_begin(&json, stdout);
    json_key_u64(&json, "finding", f->id);
    json_key_string(&json, "signature", f->signature);
    json_key_string(&json, "folder", bundle->folder);
    json_key_string(&json, "shown", bundle->shown);
    json_line_end(&json);
}

static int write_bundle(struct triage *t, struct replayer *r, const struct db_finding *f)
{
    struct arena *arena = &t->cli->arena;
    struct outside_subject subject = {.name = ""};
    struct outside_expected expected;
    struct hunt_finding finding;
    struct stored stored;
    const char *text, *reason;
    const char *folder = t->cli->options.output ? t->cli->options.output
                                                : arena_printf(arena, "finding-%" PRIu64, f->id);
    if (!stored_choose(r, f, t->cli->options.raw, &stored))
        return CLI_FAULT;
    const struct ast_kernel *kernel = stored_kernel(r, stored.kernel, &text);
    if (!kernel)
        return CLI_FAULT;
    bool small = strcmp(stored.form, "minimised") == 0;
    if (!evidence_read(arena, f, kernel, small, &subject, &expected, &finding, &reason)) {
        cli_message(t->cli, "finding %" PRIu64 ": %s", f->id, reason);
        return CLI_USAGE;
    }
    const struct bundle bundle = bundle_write(arena, folder, seed_of(r, f), &finding);
    if (!bundle.folder) {
        cli_message(t->cli, "%s cannot be written", folder);
        return CLI_FAULT;
    }
    report_folder(t, f, &bundle);
    return CLI_OK;
}

int triage_bundle(struct triage *t)
{
    return triage_one(t, "bundle", write_bundle);
}
