/*
 * view.h - an execution made visible: `view_run` takes it and keeps every step, `view_write` makes a page of one or two
 * of them that needs nothing else - style, script and steps are in it, and a policy that lets nothing be loaded.
 *
 * What the page holds is JSON; view_side.c says what stands where.
 */
#ifndef FUZZ_VIEW_H
#define FUZZ_VIEW_H

#include "engine/schedule/sched.h"
#include "engine/subjects/forms.h"

#include <stdio.h>

enum {
    VIEW_STEPS = 100000,   /* kept, where nothing else is said */
    VIEW_BYTES = 4400000,  /* that the executions of a page take at most */
    VIEW_BUDGET = 1 << 20, /* steps taken, where nothing else is said */
    VIEW_LANES = 256,
    VIEW_CELLS = 1024, /* threads; words of one variable */
};

struct view_options {
    enum subject_id subject;
    struct sched_spec schedule;
    const char *schedule_name;
    uint64_t max_steps; /* taken */
    uint64_t
        first; /* from which steps are kept, from 1; 0: from the start, or, of one that fails late, its end */
    uint64_t kept; /* at most */
    size_t bytes;  /* of its JSON, about */
    const struct tape *stem,
        *round; /* of a loop that is known to come back; NULL: it is looked for */
};

/* One execution, ready for the page. */
struct view_side {
    const char *subject;
    enum status status; /* STATUS_NONTERMINATING: a loop was proven */
    uint64_t taken, first, kept;
    char *json; /* malloc */
    size_t length;
};

/* Runs the program; the strings of *side are in the arena, its JSON is freed by view_free. False: *why, in the
 * arena. */
bool view_run(struct arena *arena, struct arena *scratch, const struct program *program,
              const struct view_options *options, struct view_side *side, const char **why);
void view_free(struct view_side *side);

struct view_page {
    const char *name;   /* the file's, or what it is: "finding 3" */
    const char *source; /* text of the kernel */
    const char *note;   /* more about it, or NULL: what an oracle says */
    const struct ast_kernel *kernel;
    const struct view_side *sides;
    uint32_t side_count; /* 1 or 2 */
    const char *parting; /* where they part, and who says so; NULL: the page looks for itself */
    uint64_t parts[2];   /* the steps of it, 0: not known */
};

void view_write(const struct view_page *page, FILE *out);

/* A page whose script finds what it shows as JSON. The digests are those of style and script, in hexadecimal digits. */
struct view_document {
    const char *title, *css, *css_sha256, *js, *js_sha256;
};
void view_put_document(const struct view_document *page, const char *json, size_t length,
                       FILE *out);

/* What stands above the function of a rule: its premises and its conclusion; "": nothing. (view_rules.c, which CMake
 * makes from the sources.) */
extern const char *const view_rule_texts[];

/* Where that function is: "simt_if in engine/warps/simt.c:120". */
extern const char *const view_rule_places[];

/* view.css and view.js, and their digests (view_assets.c, likewise). */
extern const char view_css[], view_js[];
extern const char view_css_sha256[], view_js_sha256[];

#endif
