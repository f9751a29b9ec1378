#!/usr/bin/env bash
# The subject cuda, whose driver is a mock that runs kernels in our own machines (tests/outside/mock_cuda.c): all but the GPU.
# And the PTX that goes to it: ptxas takes it, where it is installed, and our own semantics give its kernel's result.
. "$(dirname "$0")/common.sh"
build=$(dirname "$helper")/../outside
[ -f "$build/libcuda-mock.so" ] || { echo "left out: there is no mock of the driver"; finish; }
export SIMTFUZZ_LIBCUDA=$build/libcuda-mock.so MOCK_CUDA_GPU=$build/run_ptx

expect 0 subjects --outside
says out 'cuda:'
# Each level of the driver's compiler; a compiler's PTX, too.
expect 0 outside --subject cuda:jit=0,cuda:jit=4 --cases 12 --seed 5 --db a.db
says out 'cuda:jit=0: 12 kernels' 'cuda:jit=4: 12 kernels' 'agrees 12' '0 new findings'
if command -v clang-14 >/dev/null; then
    expect 0 outside --subject cuda:via=clang-14:cuda:-O2 --cases 4 --seed 5 --db v.db
    says out 'cuda:via=clang-14:cuda:-O2: 4 kernels' 'agrees 4'
fi
# What a driver does to us: it writes to standard output, refuses, is wrong, crashes, hangs, breaks its context.
MOCK_CUDA=chatter expect 0 outside --subject cuda --cases 4 --seed 5 --db chatter.db
says out 'agrees 4'
for fault in wrong:wrong-value optimises:wrong-value abort:crash hang:hang refuse:compile-error spoiled:crash; do
    [ "${fault%:*}" != hang ] || [ -n "${SIMTFUZZ_WHOLE:-}" ] || continue # seconds of processor time
    [ "${fault%:*}" != hang ] || cases=1
    MOCK_CUDA=${fault%:*} expect 1 outside --subject cuda --cases "${cases:-3}" --seed 5 --cpu 1 --tests 0 --batch 1 --db "${fault%:*}.db"
    cases=
    says out "${fault#*:} "
done
# Only at a level that optimises: the second opinion is the driver without its optimiser.
MOCK_CUDA=optimises expect 0 outside --subject cuda:jit=0 --cases 3 --seed 5 --db o.db
MOCK_CUDA=no-device expect 0 outside --subject cuda --cases 3 --seed 5 --db n.db
says err 'left out' 'CUDA_ERROR_NO_DEVICE'
SIMTFUZZ_LIBCUDA=$folder/nowhere.so expect 0 outside --subject cuda --cases 3 --seed 5 --db m.db
says err 'left out'
expect 0 outside --subject cuda:jit=7 --cases 1 --db j.db
says err 'jit= is a level from 0 to 4'

# The text.
expect 0 gen --features portable --seed 9 --count 6
csplit -sz -f kernel -b %02d.simt out '/^launch(/' '{*}'
kernels=0
for kernel in kernel*.simt; do
    grep -q '^launch(' "$kernel" || continue
    expect 0 lower "$kernel" --to plain-ptx
    grep -qE '^\.visible \.entry ' out || failed "$kernel: no entry"
    grep -qE '^//|simtfuzz:' out && cp out plain.ptx
    kernels=$((kernels + 1))
    ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null)
    if [ -n "$ptxas" ]; then
        "$ptxas" -arch=sm_80 -o /dev/null out >ptxas.log 2>&1 || failed "ptxas does not take $kernel: $(head -3 ptxas.log)"
    fi
done
[ "$kernels" -ge 5 ] || failed "only $kernels kernels"
[ -n "${ptxas:-}" ] || echo "left out: ptxas, which is not installed"
finish
