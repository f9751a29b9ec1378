#include "engine/subjects/subject.h"

#include "engine/crs/crs.h"

#include <string.h>

_Static_assert(SUBJECT_COUNT < 128, "subject_set has a bit for each");

#define VTABLE_threads &semantics_threads
#define VTABLE_simt &semantics_simt
#define VTABLE_interleave &semantics_interleave
#define VTABLE_lockstep &semantics_lockstep
#define VTABLE_crs &semantics_crs
#define VTABLE_thread_pc &semantics_thread_pc
#define VTABLE_block &semantics_block
#define VTABLE_its &semantics_its
#define VTABLE_convergence &semantics_convergence
#define VTABLE_crs_caches &semantics_crs_caches
#define VTABLE_thread_pc_caches &semantics_thread_pc_caches
#define VTABLE_block_caches &semantics_block_caches
#define VTABLE_none NULL

const struct subject_info subject_table[SUBJECT_COUNT] = {
#define SUBJECT(id, name, semantics, program, role, share, sentence, ...)                          \
    [SUBJECT_##                                                                                    \
        id] = {name,           #semantics, sentence,     VTABLE_##semantics, PROGRAM_##program,    \
               SUBJECT_##role, share,      {__VA_ARGS__}},
#include "engine/subjects/subject.def"
#undef SUBJECT
};

const char *const program_id_names[PROGRAM_COUNT] = {
#define PROGRAM(id, name, ...) [PROGRAM_##id] = name,
#include "engine/subjects/programs.def"
#undef PROGRAM
};

bool subject_parse(const char *text, size_t length, enum subject_id *subject)
{
    static const char DEFAULT_OPTION[] = ":else-first";
    size_t option = sizeof DEFAULT_OPTION - 1;
    if (length == 4 + option && strncmp(text, "simt", 4) == 0 &&
        strncmp(text + 4, DEFAULT_OPTION, option) == 0)
        length = 4;
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++) {
        const char *name = subject_table[i].name;
        if (strlen(name) == length && strncmp(name, text, length) == 0) {
            *subject = (enum subject_id)i;
            return true;
        }
    }
    return false;
}

/* One item of a list, added to the set or taken out of it. */
static bool parse_item(const char *text, size_t length, subject_set *set)
{
    enum subject_id subject;
    if (length == 3 && strncmp(text, "all", length) == 0) {
        *set |= SUBJECTS_DEFAULT;
        return true;
    }
    bool without = length > 0 && *text == '-';
    if (!subject_parse(text + without, length - without, &subject))
        return false;
    *set = without ? *set & ~SUBJECT_BIT(subject) : *set | SUBJECT_BIT(subject);
    return true;
}

bool subject_parse_list(const char *text, subject_set *set, const char **error_at)
{
    subject_set found = *text == '-' ? SUBJECTS_DEFAULT : 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        if (!parse_item(text, length, &found)) {
            *error_at = text;
            return false;
        }
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    *error_at = text;
    *set = found;
    return found != 0;
}

bool subject_suits(enum subject_id subject, enum ast_form form)
{
    enum program_id program = subject_table[subject].program;
    if (program == PROGRAM_CORE)
        return form == FORM_STRUCTURED;
    if (program == PROGRAM_PTX || program == PROGRAM_CRS)
        return form != FORM_LOCKSTEP;
    return form != FORM_PTX;
}

bool subject_matches(const char *claim_subject, enum subject_id subject)
{
    enum subject_id named;
    if (!claim_subject)
        return subject_table[subject].role == SUBJECT_ORDINARY;
    return subject_parse(claim_subject, strlen(claim_subject), &named) && named == subject;
}
