#!/bin/bash -eu
# How fuzzing services build the targets (OSS-Fuzz, ClusterFuzzLite). They set CC, CXX, CFLAGS, CXXFLAGS,
# LIB_FUZZING_ENGINE, and where things are: SRC, WORK, OUT.
source=${SIMTFUZZ_SOURCE:-$SRC/simtfuzz}
sqlite=$($CC -print-file-name=libsqlite3.a) # where targets run there is no shared one
cmake -S "$source" -B "$WORK/build" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" \
    -DCMAKE_C_FLAGS="$CFLAGS" -DCMAKE_CXX_FLAGS="$CXXFLAGS" \
    -DCMAKE_C_FLAGS_RELEASE= -DCMAKE_CXX_FLAGS_RELEASE= \
    -DSIMTFUZZ_ENGINE="$LIB_FUZZING_ENGINE" -DSIMTFUZZ_TESTS=OFF \
    -DSQLite3_LIBRARY="$sqlite" \
    -DCMAKE_C_STANDARD_LIBRARIES="-lm -ldl -lpthread" -DCMAKE_CXX_STANDARD_LIBRARIES="-lm -ldl -lpthread"
cmake --build "$WORK/build" -j "$(nproc)" --target fuzz-targets fuzz-extras
find "$WORK/build/fuzz" -maxdepth 1 -name 'fuzz-*' -type f ! -name fuzz-dict -exec cp -t "$OUT" {} +
