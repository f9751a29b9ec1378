// A divergent loop with two exits and a switch.
// simtfuzz: threads=64 warp=32 bind:collatz_param_0=buffer:256:iota bind:collatz_param_1=buffer:256 bind:collatz_param_2=200
// expect: race
__kernel void collatz(__global uint *n, __global uint *kinds, uint most)
{
    uint i = get_global_id(0), x = n[i], steps = 0;
    while (x != 1) {
        if (steps++ == most)
            break;
        x = x & 1 ? 3 * x + 1 : x / 2;
    }
    n[i] = steps;
    switch (steps % 8) {
    case 0: kinds[0] = i; break;
    case 1: kinds[3] = x; break;
    case 2: kinds[i] += 3;
    case 3: kinds[4] ^= i; break;
    case 5: kinds[x] = steps; break;
    case 6: return;
    default: kinds[i] = 7;
    }
}
