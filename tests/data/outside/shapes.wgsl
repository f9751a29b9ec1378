// kernel k0: 6 threads a block, 2 blocks, a buffer of 119 words:
// 0 3 -1 -2147483648 7 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -3 -677615847 -3 1178660939 5 5 10 0 1 7 64 11 12 0 0 5 4 12 9 7 -2147483647 6 255 9 5 4 4 10 -244087384 -2 255 10 11 9 9 6 0 -1 6 -2 0 0
enable subgroups;
diagnostic(off, subgroup_uniformity);
fn sf_div(a: i32, b: i32) -> i32
{
    if (b == 0) {
        return 0;
    }
    return select(a / b, i32(0u - u32(a)), b == -1);
}
fn sf_shr(a: i32, b: u32) -> i32
{
    return a >> min(b, 31u);
}

@group(0) @binding(0) var<storage, read_write> k0_mem: array<atomic<i32>>;
override k0_threads: u32 = 6u;
var<workgroup> k0_v_data: array<i32, 8>;
var<private> k0_v_own: array<u32, 2>;
var<private> k0_v_seen: u32;
struct k0_private {
    ended: i32,
}
var<private> k0_p: k0_private;
const k0_c_table = array<i32, 4>(3, -1, (-2147483647 - 1), 7);
fn k0_step(sf_tid: u32, sf_bid: u32, sf_blocks: u32, sf_lane: u32, a_a: i32, a_b: i32) -> i32
{
    var l_t: i32;
    var l_a = a_a;
    var l_b = a_b;
    l_t = i32(0);
    l_t = subgroupShuffle(i32((((u32(sf_div(l_a, l_b)) + u32((l_a % 3))) - u32(sf_shr(l_a, u32(l_b)))) + (u32(l_a) << 2u))), sf_lane);
    if (((l_t == 77) || subgroupAll((l_t == 77)))) {
        atomicStore(&k0_mem[5 + i32(((((u32(i32(sf_bid)) * 6u) + u32(i32(sf_tid))) * 6u) + 0u))], i32(k0_v_own[0]));
        atomicStore(&k0_mem[5 + i32(((((u32(i32(sf_bid)) * 6u) + u32(i32(sf_tid))) * 6u) + 1u))], subgroupShuffle(i32(k0_v_own[1]), sf_lane));
        atomicStore(&k0_mem[5 + i32(((((u32(i32(sf_bid)) * 6u) + u32(i32(sf_tid))) * 6u) + 2u))], i32(k0_v_seen));
        k0_p.ended = 1; return 0;
    }
    k0_v_seen = (k0_v_seen + 1u);
    return select(i32((0u - u32(l_t))), l_t, (l_b != 0));
    return 0;
}

fn k0_body_of_kernel(sf_tid: u32, sf_bid: u32, sf_blocks: u32, sf_lane: u32)
{
    var l_trips: u32;
    var l_i: i32;
    var l_x: i32;
    l_trips = u32(0);
    l_i = i32(0);
    l_x = i32(4);
    for (l_i = subgroupShuffle(0, sf_lane); ((l_i < 3) || subgroupAll((l_i < 3))); l_i = i32((u32(l_i) + 1u))) {
         {
            if ((subgroupShuffle(select(0, 1, (i32(sf_tid % 4u) == l_i)), sf_lane) != 0)) {
                continue;
            }
            { let sf_value = k0_step(sf_tid, sf_bid, sf_blocks, sf_lane, k0_v_data[i32(sf_tid)], i32((u32(l_i) - 1u))); if (k0_p.ended != 0) { return; } l_x = i32(sf_value); }
            switch (i32((u32(l_x) & 3u)) ^ atomicLoad(&k0_mem[118])) {
            case 0: {
                l_x = i32((u32(l_x) ^ u32(k0_c_table[i32((u32(l_x) & 3u))])));
                break;
            }
            case (-2147483647 - 1): {
                break;
            }
            default: {
                k0_v_data[i32(sf_tid)] = i32((u32((!(l_x != 0))) + ((~k0_v_seen) * k0_v_own[i32((u32(l_i) & 1u))])));
            }
            }
        }
        l_trips = subgroupShuffle(((l_trips * 31u) + ((1u + u32(l_i)) + u32(l_x))), sf_lane);
    }
    loop {
         {
            l_x = i32((u32(l_x) - 1u));
            l_trips = ((l_trips * 31u) + ((1u + u32(l_i)) + u32(l_x)));
        }
        continuing {
            break if (!(subgroupShuffle(select(0, 1, (((l_x > 0) && (i32(sf_bid) < i32(sf_blocks))) || (l_x == i32(((u32(i32(k0_threads)) * 4u) + u32(i32(sf_tid / 4u))))))), sf_lane) != 0));
        }
    }
    storageBarrier(); workgroupBarrier();
    if ((subgroupMax(select(0, 1, (i32(sf_tid) == 5))) != 0 && (i32(sf_tid) == 5))) {
        atomicStore(&k0_mem[5 + i32(((((u32(i32(sf_bid)) * 6u) + u32(i32(sf_tid))) * 6u) + 0u))], i32(k0_v_own[0]));
        atomicStore(&k0_mem[5 + i32(((((u32(i32(sf_bid)) * 6u) + u32(i32(sf_tid))) * 6u) + 1u))], subgroupShuffle(i32(k0_v_own[1]), sf_lane));
        atomicStore(&k0_mem[5 + i32(((((u32(i32(sf_bid)) * 6u) + u32(i32(sf_tid))) * 6u) + 2u))], i32(k0_v_seen));
        atomicStore(&k0_mem[5 + i32(((((u32(i32(sf_bid)) * 6u) + u32(i32(sf_tid))) * 6u) + 3u))], i32(l_trips));
        atomicStore(&k0_mem[5 + i32(((((u32(i32(sf_bid)) * 6u) + u32(i32(sf_tid))) * 6u) + 4u))], subgroupShuffle(l_i, sf_lane));
        atomicStore(&k0_mem[5 + i32(((((u32(i32(sf_bid)) * 6u) + u32(i32(sf_tid))) * 6u) + 5u))], l_x);
        return;
    }
    while ((subgroupAnd(select(0u, 1u, (l_x != 0))) != 0u || (l_x != 0))) {
        l_x = subgroupShuffle(0, sf_lane);
        l_trips = ((l_trips * 31u) + ((1u + u32(l_i)) + u32(l_x)));
    }
    atomicAdd(&k0_mem[0], i32(k0_v_own[0]));
    ;
    atomicStore(&k0_mem[5 + i32(((((u32(i32(sf_bid)) * 6u) + u32(i32(sf_tid))) * 6u) + 0u))], i32(k0_v_own[0]));
    atomicStore(&k0_mem[5 + i32(((((u32(i32(sf_bid)) * 6u) + u32(i32(sf_tid))) * 6u) + 1u))], subgroupShuffle(i32(k0_v_own[1]), sf_lane));
    atomicStore(&k0_mem[5 + i32(((((u32(i32(sf_bid)) * 6u) + u32(i32(sf_tid))) * 6u) + 2u))], i32(k0_v_seen));
    atomicStore(&k0_mem[5 + i32(((((u32(i32(sf_bid)) * 6u) + u32(i32(sf_tid))) * 6u) + 3u))], i32(l_trips));
    atomicStore(&k0_mem[5 + i32(((((u32(i32(sf_bid)) * 6u) + u32(i32(sf_tid))) * 6u) + 4u))], subgroupShuffle(l_i, sf_lane));
    atomicStore(&k0_mem[5 + i32(((((u32(i32(sf_bid)) * 6u) + u32(i32(sf_tid))) * 6u) + 5u))], l_x);
}

@compute @workgroup_size(k0_threads)
fn k0(@builtin(local_invocation_id) sf_local: vec3<u32>, @builtin(workgroup_id) sf_group: vec3<u32>, @builtin(num_workgroups) sf_groups: vec3<u32>, @builtin(subgroup_invocation_id) sf_lane: u32)
{
    let sf_tid = sf_local.x;
    let sf_bid = sf_group.x;
    let sf_blocks = sf_groups.x;
    k0_p.ended = 0;
    let sf_grid = sf_bid * 6u + sf_tid;
    k0_v_own[0] = u32(atomicLoad(&k0_mem[93u + sf_grid * 2u]));
    k0_v_own[1] = u32(atomicLoad(&k0_mem[94u + sf_grid * 2u]));
    k0_v_seen = u32(5);
    for (var i = sf_tid; i < 8u; i += 6u) { k0_v_data[i] = atomicLoad(&k0_mem[77u + sf_bid * 8u + i]); }
    storageBarrier(); workgroupBarrier();
    k0_body_of_kernel(sf_tid, sf_bid, sf_blocks, sf_lane);
    storageBarrier(); workgroupBarrier();
    for (var i = sf_tid; i < 8u; i += 6u) { atomicStore(&k0_mem[77u + sf_bid * 8u + i], k0_v_data[i]); }
}
