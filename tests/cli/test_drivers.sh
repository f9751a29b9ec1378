#!/usr/bin/env bash
# outside with OpenCL drivers that behave badly (tests/outside/mock_opencl.c): the campaign goes on, and says what happened.
. "$(dirname "$0")/common.sh"
build=$(dirname "$(realpath "$simtfuzz")")/tests/outside
[ -f "$build/libopencl-mock.so" ] || { echo "left out: there is no mock of a driver"; finish; }
mkdir library
cp "$build/libopencl-mock.so" library/libOpenCL.so.1
printf 'launch(threads=1, warp=1, blocks=1); global int a; kernel k() { a = 7; }\n' >one.simt

# drivers STATUS CASES BEHAVIOUR PLATFORM...: so many times a kernel that the mock runs right.
drivers() {
    local status=$1 cases=$2 behaviour=$3 platform subjects=()
    shift 3
    for platform; do
        subjects+=(--subject "opencl:$platform:LD_LIBRARY_PATH=$folder/library:MOCK_OPENCL=$behaviour:MOCK_OPENCL_CHILD=$folder/child")
    done
    local started=$SECONDS
    expect "$status" outside "${subjects[@]}" --kernel one.simt --cases "$cases" --batch 2 --as-it-is --knobs none --cpu 1 --tests 0
    [ $((SECONDS - started)) -lt 60 ] || failed "$behaviour: $((SECONDS - started)) seconds"
}

drivers 0 4 nothing mock-a
says out "agrees 4"
# Our pipe is not theirs: what they print, before or between answers, is no answer.
drivers 0 4 print mock-a
says out "agrees 4"
# Files are named from the root, or are none of the driver's business.
drivers 0 4 chdir mock-a
says out "agrees 4"
# Who catches every signal that can be caught, and then spins, has used up its time all the same.
if [ -n "${SIMTFUZZ_WHOLE:-}" ]; then # five seconds of processor time
    drivers 1 1 signals mock-a
    says out "outside|hang|" "hang 1"
fi
# A child that a driver leaves behind ends with it; one that hangs when it is unloaded is not unloaded.
drivers 0 4 fork mock-a
says out "agrees 4"
[ -s child ] || failed "the driver left no child"
lives() { # it runs, or sleeps: a zombie that nobody has waited for does not
    grep -q '^State:.[RSD]' "/proc/$(cat child)/status" 2>/dev/null
}
for _ in $(seq 50); do
    lives || break
    sleep 0.1
done
! lives || failed "the child of the driver is still there"
drivers 0 4 exit mock-a
says out "agrees 4"
drivers 1 2 die mock-a
says out "outside|crash|" "crash 2"
# Two platforms that cannot live in one process have one each.
drivers 0 4 nothing mock-a mock-b
says out "opencl:mock-a" "opencl:mock-b"
[ "$(grep -c 'agrees 4' out)" = 2 ] || failed "two platforms: $(head -5 out)"
# A driver that leaks until there is no memory left is started again, and that is no finding. (Sanitizers want no limit.)
if [ -z "${ASAN_OPTIONS:-}" ]; then
    drivers 0 16 leak mock-a
    says out "agrees 16"
fi

# A driver that aborts when it is loaded takes nobody with it: by itself, and as one of those that the loader loads.
printf '#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { abort(); }\n' | cc -shared -fPIC -x c - -o library/bad.so
mkdir bad vendors
cp library/bad.so bad/libOpenCL.so.1
expect 0 outside --subject "opencl:mock-a:LD_LIBRARY_PATH=$folder/bad" --subject "opencl:mock-b:LD_LIBRARY_PATH=$folder/library" \
    --kernel one.simt --as-it-is --knobs none --tests 0
says err "left out: The process died by signal 6"
says out "agrees 1"
echo "$folder/library/bad.so" >vendors/bad.icd
"$simtfuzz" subjects --outside >found
if grep -q opencl:pocl found; then
    OCL_ICD_VENDORS=$folder/vendors expect 0 outside --subject opencl:pocl --cases 1
    says err "opencl:pocl: left out: The process died by signal 6"
fi
finish
