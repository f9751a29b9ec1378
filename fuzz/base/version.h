/*
 * version.h - the version of simtfuzz and the day it was given: the one place. CMakeLists.txt reads it,
 * as do `--version`, the manual page and the package.
 */
#ifndef FUZZ_VERSION_H
#define FUZZ_VERSION_H

#define SIMTFUZZ_VERSION "0.3.0"
#define SIMTFUZZ_VERSION_DATE "2026-11-21"

#endif
