#define KERNEL __kernel
#define GLOBAL __global
#define SHARED __local
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define LOCAL_X ((int)get_local_id(0))
#define LOCAL_Y ((int)get_local_id(1))
#define GROUP_X ((int)get_group_id(0))
#define GROUP_Y ((int)get_group_id(1))
#define GROUPS_X ((int)get_num_groups(0))
#define ATOMIC_ADD(p, v) atomic_add(p, v)
#define ATOMIC_ADD_SHARED(p, v) atomic_add(p, v)
