/*
 * vector_avx2.c - the fast lock-step executor's instructions, compiled with AVX2.
 */
#if defined(SIMTFUZZ_X86)
#define VECTOR_CODE vector_avx2
#include "engine/vector/vector_lanes.h"
#endif
