/*
 * vector_avx512.c - the fast lock-step executor's instructions, compiled with AVX512.
 */
#if defined(SIMTFUZZ_X86)
#define VECTOR_CODE vector_avx512
#include "engine/vector/vector_lanes.h"
#endif
