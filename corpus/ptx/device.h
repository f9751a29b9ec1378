/* What clang needs of CUDA when there is no CUDA beside it; nvcc has its own. */
#ifndef DEVICE_H
#define DEVICE_H
#ifdef __clang__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __noinline__ __attribute__((noinline))
struct dimension_tid {
    __declspec(property(get = get_x)) unsigned x;
    __declspec(property(get = get_y)) unsigned y;
    static __device__ unsigned get_x()
    {
        return __nvvm_read_ptx_sreg_tid_x();
    }
    static __device__ unsigned get_y()
    {
        return __nvvm_read_ptx_sreg_tid_y();
    }
};
struct dimension_ctaid {
    __declspec(property(get = get_x)) unsigned x;
    __declspec(property(get = get_y)) unsigned y;
    static __device__ unsigned get_x()
    {
        return __nvvm_read_ptx_sreg_ctaid_x();
    }
    static __device__ unsigned get_y()
    {
        return __nvvm_read_ptx_sreg_ctaid_y();
    }
};
struct dimension_ntid {
    __declspec(property(get = get_x)) unsigned x;
    static __device__ unsigned get_x()
    {
        return __nvvm_read_ptx_sreg_ntid_x();
    }
};
extern const __device__ dimension_tid threadIdx;
extern const __device__ dimension_ctaid blockIdx;
extern const __device__ dimension_ntid blockDim;
static __device__ inline void __threadfence()
{
    __nvvm_membar_gl();
}
static __device__ inline int atomicAdd(int *p, int v)
{
    return __nvvm_atom_add_gen_i(p, v);
}
static __device__ inline int atomicExch(int *p, int v)
{
    return __nvvm_atom_xchg_gen_i(p, v);
}
static __device__ inline int atomicCAS(int *p, int a, int b)
{
    return __nvvm_atom_cas_gen_i(p, a, b);
}
#endif
#define KERNEL extern "C" __global__ void
/* Where a variant leaves a barrier out, or puts one where not all threads come. */
#ifdef RACY
#define SYNC_UNLESS_RACY() ((void)0)
#else
#define SYNC_UNLESS_RACY() __syncthreads()
#endif
#endif
