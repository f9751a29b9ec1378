#include "fuzz/hunt/again.h"

#include "fuzz/hunt/bundle.h"
#include "fuzz/hunt/evidence.h"

#include <stdlib.h>
#include <string.h>

enum { CPU_SECONDS = 30 };

bool again_is_outside(const struct db_finding *finding)
{
    return strcmp(finding->oracle, "outside") == 0;
}

static struct again judge(struct arena *arena, const struct hunt_finding *f,
                          const struct trial *trial)
{
    struct again again = {.says = AGAIN_OTHER};
    const char *verdict = trial_verdict_names[trial->verdict];
    if (trial_is_same(trial, &f->trial)) {
        again.says = AGAIN_SHOWS;
        again.why = "it shows";
    } else if (trial->verdict == TRIAL_AGREES) {
        again.says = AGAIN_GONE;
        again.why = "the implementation is right now";
    } else if (trial->verdict == TRIAL_UNKNOWN) {
        again.says = AGAIN_CANNOT_SAY;
        again.why = trial->cause;
    } else {
        again.why = arena_printf(arena, "something else shows: %s%s%s", verdict,
                                 *trial->cause ? ": " : "", trial->cause);
    }
    return again;
}

struct again again_run(struct arena *arena, const struct db_finding *stored,
                       const struct ast_kernel *kernel, bool small)
{
    struct outside_subject named = {.name = ""};
    struct outside_expected expected;
    struct hunt_finding f;
    struct again again = {.says = AGAIN_CANNOT_SAY, .version = ""};
    char folder[] = "/tmp/simtfuzz-outside-XXXXXX";
    if (!evidence_read(arena, stored, kernel, small, &named, &expected, &f, &again.why))
        return again;
    const struct outside_subject *subject = outside_open(arena, named.name, &again.why);
    if (!subject)
        return again;
    again.why = "no temporary folder can be made";
    if (!mkdtemp(folder))
        return again;
    const struct outside_settings settings = {.folder = folder, .cpu_seconds = CPU_SECONDS};
    const struct trial trial = trial_run(arena, subject, &settings, &expected, f.knobs, NULL);
    bundle_remove_folder(folder);
    again = judge(arena, &f, &trial);
    again.version = subject->version;
    return again;
}
