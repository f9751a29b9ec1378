#!/usr/bin/env bash
# `simtfuzz exec` of programs that nvcc builds: each way of packing PTX, both runtimes, textures, tensor cores, clusters; and
# the programs of tests/outside for a GPU, on the device of exec.
. "$(dirname "$0")/common.sh"

program=$(dirname "$simtfuzz")/cuda_program
[ -x "$program" ] || { echo "no cuda_program in this build"; exit 0; }

# Programs of corpus/programs as nvcc builds them: each way of packing PTX, and a lock that hangs.
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) || { echo "no nvcc: programs are not built"; finish; }
build() { # output, program, flags..
    local output=$1 file=$source/corpus/programs/$2.cu
    shift 2
    "$nvcc" -lineinfo -arch="${arch:-sm_80}" "$@" -o "$output" "$file" 2>nvcc.log || failed "nvcc: $(cat nvcc.log)"
}
# Some with the shared runtime, some with the static one, which is nvcc's default; one of these in a library.
build packed matrix-product &
build flat lock -cudart shared --no-compress -DBUG_EVERY_LANE &
build quick histogram -cudart shared --compress-mode=speed -DBUG_UNINITIALISED &
build libsum.so vector-sum -shared -Xcompiler -fPIC -Dmain=sum -DBUG_UNCHECKED_SIZE &
build tensors tensor-product &
arch=sm_90 build clusters cluster-histogram -DBUG_NO_SECOND_SYNC &
build early tensor-product -DBUG_MISSING_BARRIER &
build beyond tensor-product -DBUG_STRIDE &
wait
# Textures and surfaces over arrays, rows of a pitch, linear memory, layers, three dimensions.
images() { # status, macro
    "$nvcc" -arch=sm_80 -lineinfo -cudart shared -D"$2" -o images "$source/tests/data/exec/texture.cu" 2>nvcc.log ||
        failed "nvcc: $(cat nvcc.log)"
    expect "$1" exec --capture images.d -- ./images
}
images 0 RIGHT
says out '0 texels and 0 samples are wrong'
says err '2 launches of 3 blocks' 'nothing is wrong'
expect 0 check images.d/launch-2.ptx
says out 'clean'
images 1 BUG_OUTSIDE
says err '(texture.cu:22): write of 4 bytes of the surface 0x2: byte 40' 'surf2Dwrite(texel, half, x * sizeof texel, y)'
images 1 BUG_RACE
says err 'buffer2[0] is written by thread (1,0)' 'texture.cu:20 | surf2Dwrite'
images 1 BUG_UNWRITTEN
says err 'UNWRITTEN halve' 'texture.cu:18 | uchar4 texel = tex2D<uchar4>'
images 1 BUG_DESTROYED
says err '0x1 is the handle of no texture or surface'
# The host's own product is what tensor cores give: whole numbers, exact in any order.
expect 0 exec -- ./tensors
says out '0 elements of 64 x 64 are wrong'
says err '1 launch of 4 blocks' 'nothing is wrong'
expect 1 exec -- ./early
says err 'tensor-product.cu:31 | wmma::load_matrix_sync(fa, &a[0][0], TILE);' 'a is read by thread' 'was written by thread'
expect 1 exec -- ./beyond
says err 'write of 16 bytes at global' 'which has 16384 bytes' 'tensor-product.cu:37'
expect 1 exec -- ./clusters
says err 'cluster-histogram.cu:27 | atomicAdd(&bins[rank * size + i], part[i]);' 'no pair of fences orders the two blocks'
expect 0 exec -- ./packed
says out '0 elements of 32 x 32 are wrong'
expect 0 record --capture rec-static -- "$simtfuzz" exec -- ./packed
says err 'simtfuzz record: 1 launch kept in rec-static, 0 not'
expect 0 check rec-static/launch-1.ptx
says out 'left the same'
strip packed -o stripped
expect 1 exec -- ./stripped
says err 'must not be stripped'
echo 'int sum(); int main() { return sum(); }' >main.cc
c++ -o summing main.cc -L. -lsum "-Wl,-rpath,$PWD" || failed 'main.cc'
expect 1 exec -- ./summing
says err 'byte 200000 of buffer1' 'vector-sum.cu:9 | c[i] = a[i] + b[i];'
expect 1 exec -- ./flat
says err 'HANG      visit(Lock*, int*)<<<20, 32>>>'
says err 'lock.cu:9 | while (atomicCAS(&taken, 0, 1) != 0)'
if ldconfig -p | grep -q liblz4.so.1; then
    expect 1 exec -- ./quick
    says err 'buffer2[0] is read by thread 0 of block 0 at histogram.cu:17, and nothing has written it'
fi
# The programs for a GPU (tests/outside): here each instruction runs on the device of exec, and is compared with itself.
if command -v python3 >/dev/null && command -v cc >/dev/null; then
    export PATH=$PATH:${nvcc%/*}
    python3 "$source/tests/outside/rows_gpu.py" "$simtfuzz" rows 1 2 >out || failed 'rows_gpu.py'
    says out 'that ptxas takes'
    cc -I"$source" -o run_gpu "$source/tests/outside/run_gpu.c" -ldl || failed 'run_gpu.c'
    sed -i 's/\.cubin/.ptx/' rows/manifest
    (cd rows && "$simtfuzz" exec --unwritten-ok -- ../run_gpu manifest results >../out 2>../err) || failed "run_gpu: $(cat err)"
    says out ' launches, 0 failed'
    python3 "$source/tests/outside/rows_gpu.py" --cases rows || failed 'rows_gpu.py --cases'
    expect 0 check rows/k*.ptx
    [ "$(grep -c 'left the same' out)" -eq "$(wc -l <rows/manifest)" ] || failed 'an instruction differs from itself'
    mkdir -p textures
    python3 "$source/tests/outside/textures_gpu.py" textures 1 20 || failed 'textures_gpu.py'
    "$nvcc" -arch=sm_80 -o textures_gpu "$source/tests/outside/textures_gpu.cu" || failed 'textures_gpu.cu'
    expect 0 exec --unwritten-ok -- ./textures_gpu textures/manifest textures/in textures/here
    says out '20 textures on simtfuzz, 0 failed'
    python3 "$source/tests/outside/textures_gpu.py" --compare textures here here >out || failed 'textures_gpu.py --compare'
    says out '20 of 20 textures left the same'
    mkdir -p litmus
    cp "$source"/corpus/litmus/ptx/{MP+weak,XF+relaxed,SB+sc.sys}.litmus litmus
    python3 "$source/tests/outside/litmus_gpu.py" "$simtfuzz" litmus litmus.cu >out || failed 'litmus_gpu.py'
    says out 'SB+sc.sys.litmus is left out: several GPUs' '2 tests'
    "$nvcc" -arch=sm_80 -cubin -o litmus.cubin litmus.cu || failed 'litmus.cu'
fi
finish
