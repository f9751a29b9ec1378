/*
 * vector_baseline.c - the fast lock-step executor's instructions, compiled for any processor.
 */
#define VECTOR_CODE vector_baseline
#include "engine/vector/vector_lanes.h"
