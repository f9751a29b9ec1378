// A stencil in place, in a surface: each thread reads its right neighbour, then all write. RACY: no barrier between;
// OUTSIDE: the last thread of a row reads beyond it.
extern "C" __global__ void shift(cudaSurfaceObject_t image, int *sums)
{
    int x = threadIdx.x, y = threadIdx.y, value = 0, below;
#ifdef OUTSIDE
    surf2Dread(&value, image, 4 * (x + 1), y);
#else
    surf2Dread(&value, image, 4 * (x + 1), y, cudaBoundaryModeZero);
#endif
#ifndef RACY
    __syncthreads();
#endif
    surf2Dwrite(value, image, 4 * x, y);
    __syncthreads();
    surf2Dread(&below, image, 4 * x, y + 1, cudaBoundaryModeClamp);
    sums[y * blockDim.x + x] = value + below;
}
