/*
 * litmus_page.h - a litmus test as a page for a browser: which outcomes each memory has, and an execution that shows
 * each: in micro steps on the caches, or as a graph of events.
 */
#ifndef FUZZ_LITMUS_PAGE_H
#define FUZZ_LITMUS_PAGE_H

#include "engine/litmus/litmus.h"

#include <stdio.h>

enum {
    LITMUS_STATES_MAX = 1 << 18,
    LITMUS_CANDIDATES_MAX = 1 << 24,
    LITMUS_SHOWN = 64, /* outcomes of a model whose executions the page has */
};

/* `text`: the test's file or paragraph. False: more than so many states or candidates under *model. */
bool litmus_page_write(struct arena *arena, const struct litmus_test *test, const char *text,
                       FILE *out, enum litmus_model *model);

/* litmus.css behind view.css, and the scripts of fuzz/litmus/page, with their digests (litmus_assets.c, from CMake). */
extern const char litmus_css[], litmus_js[];
extern const char litmus_css_sha256[], litmus_js_sha256[];

#endif
