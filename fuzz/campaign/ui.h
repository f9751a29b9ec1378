/*
 * ui.h - the status screen of a campaign (`run --ui`).
 */
#ifndef FUZZ_UI_UI_H
#define FUZZ_UI_UI_H

#include "fuzz/campaign/view.h"
#include "fuzz/out/screen.h"

/* Puts the view onto the screen, between screen_begin and screen_end: as much as there is room for. `arena`:
 * for texts, until the screen was drawn. */
void ui_draw(struct arena *arena, struct screen *screen, const struct view *view, bool help);

/* "1.23 M": a number in at most six characters. */
const char *ui_number(struct arena *arena, uint64_t number);
/* "2 h 07 min", "12 min 03 s", "7 s" */
const char *ui_duration(struct arena *arena, uint64_t milliseconds);

#endif
