/*
 * litmus_picture.h - an execution of a litmus test as a picture, dot or SVG: events of each thread one below the other,
 * and what relates them.
 */
#ifndef FUZZ_LITMUS_PICTURE_H
#define FUZZ_LITMUS_PICTURE_H

#include "engine/litmus/litmus.h"
#include "fuzz/cli/cli.h"

/*
 * Into --dot and --svg, a file NAME.MODEL.dot or .svg for each model that is axioms, and sc: of what the condition asks
 * about, or of the weak outcome, the execution that shows it; or, where the model forbids it, the one that comes
 * closest, with the circle that forbids it. `results` are the models'. False: a file cannot be written, which has been
 * said.
 */
bool litmus_pictures(struct cli *cli, const struct litmus_test *test,
                     const struct litmus_result results[LITMUS_MODELS]);

#endif
