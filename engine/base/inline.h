/*
 * inline.h - functions that are inlined wherever they are called, so that their constant arguments
 * specialise them.
 *
 * A sanitizer turns the many copies into minutes of compilation and gains nothing by them: there the
 * compiler decides.
 */
#ifndef ENGINE_INLINE_H
#define ENGINE_INLINE_H

#ifdef __has_feature
#if __has_feature(undefined_behavior_sanitizer) || __has_feature(thread_sanitizer) ||              \
    __has_feature(memory_sanitizer)
#define SIMTFUZZ_SANITIZED
#endif
#if __has_feature(address_sanitizer)
#define SIMTFUZZ_ADDRESS_SANITIZED
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SIMTFUZZ_ADDRESS_SANITIZED
#endif
#if defined(SIMTFUZZ_ADDRESS_SANITIZED) || defined(__SANITIZE_THREAD__)
#define SIMTFUZZ_SANITIZED
#endif

#ifdef SIMTFUZZ_SANITIZED
#define INLINED static inline
#else
#define INLINED static inline __attribute__((always_inline))
#endif

#endif
