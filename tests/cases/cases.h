/*
 * cases.h - commands of cases: what a text becomes, as a text. A command may assert what holds of every case beside
 * what it prints; a case in which it does fails.
 */
#ifndef TESTS_CASES_H
#define TESTS_CASES_H

#include "engine/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* One row a command: the words after its name are options. */
struct cases_command {
    const char *name;
    void (*run)(const char *options, const char *input, struct text *out);
};

/* By file; name NULL behind the last. */
extern const struct cases_command cases_language[], cases_forms[], cases_ptx[], cases_run_ptx[],
    cases_program[], cases_reduce[], cases_config[];

/* Whether `word` is one of the options. */
bool cases_option(const char *options, const char *word);

#endif
