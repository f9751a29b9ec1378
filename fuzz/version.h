#ifndef FUZZ_VERSION_H
#define FUZZ_VERSION_H

#define SIMTFUZZ_VERSION "0.1.0"

#endif
