// Textures and surfaces of every kind of memory: an image that is filtered, rows of a pitch, linear memory, layers, three
// dimensions; the host computes the same. BUG_OUTSIDE: a surface is written beyond its rows; BUG_RACE: two threads write
// one texel; BUG_UNWRITTEN: nobody fills the array; BUG_DESTROYED: the texture is no more.
#include <cstdio>
#include <cuda_runtime.h>

enum { W = 20, H = 12, D = 3 };

__global__ void halve(cudaTextureObject_t image, cudaSurfaceObject_t half, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
#ifdef BUG_OUTSIDE
    if (x <= w && y < h)
#else
    if (x < w && y < h)
#endif
    {
        uchar4 texel = tex2D<uchar4>(image, 2 * x + 0.5f, 2 * y + 0.5f);
#ifdef BUG_RACE
        surf2Dwrite(texel, half, x / 2 * 2 * sizeof texel, y);
#else
        surf2Dwrite(texel, half, x * sizeof texel, y);
#endif
    }
}

__global__ void sample(cudaTextureObject_t pitched, cudaTextureObject_t linear, cudaTextureObject_t layers,
                       cudaTextureObject_t volume, float *out)
{
    int i = threadIdx.x;
    out[4 * i] = tex2D<float>(pitched, (i + 0.5f) / W, 0.25f);
    out[4 * i + 1] = tex1Dfetch<int>(linear, i) + tex1Dfetch<int>(linear, -1 - i);
    out[4 * i + 2] = tex2DLayered<float>(layers, i + 0.5f, 1.5f, 2);
    out[4 * i + 3] = tex3D<float>(volume, i + 1.0f, 1.5f, 2.5f);
}

static void check(cudaError_t error)
{
    if (error != cudaSuccess)
        printf("failed: %s\n", cudaGetErrorString(error));
}

static cudaTextureDesc point(cudaTextureAddressMode mode)
{
    cudaTextureDesc t = {};
    t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = mode;
    return t;
}

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureDesc t)
{
    cudaResourceDesc r = {};
    cudaTextureObject_t object = 0;
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    check(cudaCreateTextureObject(&object, &r, &t, nullptr));
    return object;
}

static int halves()
{
    static uchar4 image[H][W], half[H / 2][W / 2];
    cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    cudaArray_t from, to;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            image[y][x] = make_uchar4(x, y, x + y, 255);
    check(cudaMallocArray(&from, &format, W, H));
    check(cudaMallocArray(&to, &format, W / 2, H / 2, cudaArraySurfaceLoadStore));
#ifndef BUG_UNWRITTEN
    check(cudaMemcpy2DToArray(from, 0, 0, image, sizeof image[0], sizeof image[0], H, cudaMemcpyHostToDevice));
#endif
    cudaTextureObject_t texture = texture_of(from, point(cudaAddressModeClamp));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = to;
    cudaSurfaceObject_t surface;
    check(cudaCreateSurfaceObject(&surface, &r));
#ifdef BUG_DESTROYED
    cudaDestroyTextureObject(texture);
#endif
    halve<<<dim3(2, 1), dim3(8, 8)>>>(texture, surface, W / 2, H / 2);
    check(cudaMemcpy2DFromArray(half, sizeof half[0], to, 0, 0, sizeof half[0], H / 2, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int y = 0; y < H / 2; y++)
        for (int x = 0; x < W / 2; x++)
            wrong += half[y][x].x != 2 * x || half[y][x].y != 2 * y || half[y][x].w != 255;
    cudaDestroyTextureObject(texture);
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(from);
    cudaFreeArray(to);
    return wrong;
}

static int samples()
{
    enum { N = 8 };
    static float image[H][W], stack[D][H][W], out[N][4], *pitched, *results;
    static int numbers[W], *linear;
    size_t pitch;
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                image[y][x] = stack[z][y][x] = x + 100 * y + 10000 * z;
    for (int x = 0; x < W; x++)
        numbers[x] = 3 * x;
    check(cudaMallocPitch(&pitched, &pitch, sizeof image[0], H));
    check(cudaMemcpy2D(pitched, pitch, image, sizeof image[0], sizeof image[0], H, cudaMemcpyHostToDevice));
    check(cudaMalloc(&linear, sizeof numbers));
    check(cudaMemcpy(linear, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    check(cudaMalloc(&results, sizeof out));
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t layers, volume;
    check(cudaMalloc3DArray(&layers, &format, make_cudaExtent(W, H, D), cudaArrayLayered));
    check(cudaMalloc3DArray(&volume, &format, make_cudaExtent(W, H, D)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(stack, sizeof stack[0][0], W, H);
    copy.extent = make_cudaExtent(W, H, D);
    copy.kind = cudaMemcpyHostToDevice;
    copy.dstArray = layers;
    check(cudaMemcpy3D(&copy));
    copy.dstArray = volume;
    check(cudaMemcpy3D(&copy));
    cudaResourceDesc rows = {}, memory = {};
    rows.resType = cudaResourceTypePitch2D;
    rows.res.pitch2D.devPtr = pitched;
    rows.res.pitch2D.desc = format;
    rows.res.pitch2D.width = W;
    rows.res.pitch2D.height = H;
    rows.res.pitch2D.pitchInBytes = pitch;
    memory.resType = cudaResourceTypeLinear;
    memory.res.linear.devPtr = linear;
    memory.res.linear.desc = cudaCreateChannelDesc<int>();
    memory.res.linear.sizeInBytes = sizeof numbers;
    cudaTextureDesc wrap = point(cudaAddressModeWrap), smooth = point(cudaAddressModeClamp);
    cudaTextureObject_t a, b;
    wrap.normalizedCoords = 1;
    smooth.filterMode = cudaFilterModeLinear;
    check(cudaCreateTextureObject(&a, &rows, &wrap, nullptr));
    check(cudaCreateTextureObject(&b, &memory, &smooth, nullptr));
    sample<<<1, N>>>(a, b, texture_of(layers, point(cudaAddressModeClamp)), texture_of(volume, smooth), results);
    check(cudaMemcpy(out, results, sizeof out, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += out[i][0] != i + 20300 || out[i][1] != 3 * i || out[i][2] != i + 20100 || out[i][3] != i + 0.5f + 20100;
    return wrong;
}

int main()
{
    int wrong = halves(), others = samples();
    printf("%d texels and %d samples are wrong\n", wrong, others);
    return wrong + others > 0;
}
