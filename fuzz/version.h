#ifndef FUZZ_VERSION_H
#define FUZZ_VERSION_H

#define SIMTFUZZ_VERSION "0.2.0"

#endif
