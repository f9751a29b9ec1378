/*
 * litmus_ptx.h - between the files that read the field's text of litmus tests for PTX.
 */
#ifndef ENGINE_LITMUS_PTX_H
#define ENGINE_LITMUS_PTX_H

#include "engine/litmus/litmus.h"

#include <stddef.h>

enum { PTX_LABEL = 16 };

struct litmus_ptx {
    struct arena *arena;
    struct litmus_test *test;
    struct diag *diag;
    const char *at; /* the next byte of the text */
    uint32_t line;
    uint32_t words; /* names that stand in test->words */
    uint32_t barriers;
    uint8_t numbers[LITMUS_BARRIERS]; /* of barriers, as the text has them */
    uint32_t places;                  /* labels of the thread at hand */
    char labels[LITMUS_CODE][PTX_LABEL], targets[LITMUS_THREADS][LITMUS_CODE][PTX_LABEL];
    struct {
        char name[PTX_LABEL];
        uint8_t thread, place;
    } marks[LITMUS_THREADS * LITMUS_CODE];
};

#define PTX_FAIL(p, ...)                                                                           \
    (diag_error((p)->diag, (struct location){(p)->line, 1}, __VA_ARGS__), false)

bool litmus_ptx_instruction(struct litmus_ptx *p, uint32_t thread, char *text);
bool litmus_ptx_finish(struct litmus_ptx *p); /* targets of branches, whose barriers */
bool litmus_ptx_condition(struct litmus_ptx *p);

/* A register of a thread, or -1. `make`: a new one where there is room. */
int litmus_ptx_register(struct litmus_thread *t, const char *name, bool make);
bool litmus_ptx_word(struct litmus_ptx *p, const char *name, uint8_t *word);
bool litmus_ptx_number(const char *text, int16_t *value);

/* The text after blanks, lines counted. */
char litmus_ptx_skip(struct litmus_ptx *p);

/* A name or number from the text, of at most size - 1 bytes; empty where none stands. */
void litmus_ptx_name(struct litmus_ptx *p, char *name, size_t size);

#endif
