/*
 * laws.h - what must hold of litmus tests that are drawn (litmus_laws.def): a test, asked.
 */
#ifndef FUZZ_LAWS_H
#define FUZZ_LAWS_H

#include "fuzz/laws/litmus_draw.h"

struct law_info {
    const char *name, *sentence;
};
extern const struct law_info law_table[LITMUS_LAWS];

/* LAW_SILENT: a model says nothing of the test; LAW_CUT: it has too many states or candidates. */
enum law_holding { LAW_HOLDS, LAW_BROKEN, LAW_SILENT, LAW_CUT };

enum law_holding law_ask(struct arena *arena, const struct drawn_test *test);

/* The same of a text that is kept. False: it cannot be read, or there is no such law. */
bool law_ask_text(struct arena *arena, const char *text, const char *law,
                  enum law_holding *holding);

/* Drops instructions as long as the test breaks its law. */
void law_make_small(struct arena *arena, struct drawn_test *test);

#endif
