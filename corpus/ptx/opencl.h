/* What an OpenCL library would say for NVPTX: work items, barriers and atomics as the target has them. */
#define DIMENSION(name, d)                                                                         \
    ((d) == 0   ? __nvvm_read_ptx_sreg_##name##_x()                                                \
     : (d) == 1 ? __nvvm_read_ptx_sreg_##name##_y()                                                \
                : __nvvm_read_ptx_sreg_##name##_z())
#define get_local_id(d) ((uint)DIMENSION(tid, d))
#define get_local_size(d) ((uint)DIMENSION(ntid, d))
#define get_group_id(d) ((uint)DIMENSION(ctaid, d))
#define get_num_groups(d) ((uint)DIMENSION(nctaid, d))
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))
#define get_global_size(d) (get_num_groups(d) * get_local_size(d))
#define barrier(flags) __nvvm_bar_sync(0)
#define atomic_add(p, v) __sync_fetch_and_add(p, v)
#define atomic_inc(p) __sync_fetch_and_add(p, 1)
#define fma __builtin_fmaf
#define fabs __builtin_fabsf
#define popcount __builtin_popcount
#define clz __builtin_clz
#define rotate(x, n) ((x) << (n) | (x) >> (32 - (n)))
