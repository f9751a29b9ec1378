/* Five kernels for CUDA and OpenCL: dialect.h of each side says what the words mean. */
#define TILE 16
#define BINS 64
#define GROUP 256

KERNEL void product(GLOBAL const float *A, GLOBAL const float *B, GLOBAL float *C, int n)
{
    SHARED float a[TILE][TILE];
    SHARED float b[TILE][TILE];
    int x = LOCAL_X, y = LOCAL_Y, row = GROUP_Y * TILE + y, column = GROUP_X * TILE + x;
    float sum = 0;
    for (int t = 0; t < n / TILE; t++) {
        a[y][x] = A[row * n + t * TILE + x];
        b[y][x] = B[(t * TILE + y) * n + column];
        BARRIER;
        for (int k = 0; k < TILE; k++)
            sum += a[y][k] * b[k][x];
        BARRIER;
    }
    C[row * n + column] = sum;
}

KERNEL void reduction(GLOBAL const int *data, GLOBAL int *parts, int n)
{
    SHARED int cache[GROUP];
    int t = LOCAL_X, sum = 0;
    for (int i = GROUP_X * GROUP + t; i < n; i += GROUPS_X * GROUP)
        sum += data[i];
    cache[t] = sum;
    BARRIER;
    for (int stride = GROUP / 2; stride > 0; stride /= 2) {
        if (t < stride)
            cache[t] += cache[t + stride];
        BARRIER;
    }
    if (t == 0)
        parts[GROUP_X] = cache[0];
}

KERNEL void histogram(GLOBAL const int *data, GLOBAL int *bins, int n)
{
    SHARED int mine[BINS];
    int t = LOCAL_X;
    if (t < BINS)
        mine[t] = 0;
    BARRIER;
    for (int i = GROUP_X * GROUP + t; i < n; i += GROUPS_X * GROUP)
        ATOMIC_ADD_SHARED(&mine[(data[i] + i) % BINS], 1);
    BARRIER;
    if (t < BINS)
        ATOMIC_ADD(&bins[t], mine[t]);
}

KERNEL void scan(GLOBAL const int *data, GLOBAL int *sums, int n)
{
    SHARED int now[GROUP];
    SHARED int next[GROUP];
    int t = LOCAL_X;
    for (int base = GROUP_X * GROUP; base < n; base += GROUPS_X * GROUP) {
        now[t] = data[base + t];
        BARRIER;
        for (int d = 1; d < GROUP; d *= 2) {
            next[t] = t >= d ? now[t] + now[t - d] : now[t];
            BARRIER;
            now[t] = next[t];
            BARRIER;
        }
        sums[base + t] = now[t];
        BARRIER;
    }
}

KERNEL void escape(GLOBAL int *trips, int n)
{
    int x = GROUP_X * TILE + LOCAL_X, y = GROUP_Y * TILE + LOCAL_Y, i = 0;
    float cx = 3.0f * x / n - 2, cy = 2.0f * y / n - 1, zx = 0, zy = 0;
    while (i < 256 && zx * zx + zy * zy < 4) {
        float t = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = t;
        i++;
    }
    trips[y * n + x] = i;
}
