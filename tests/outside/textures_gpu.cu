/*
 * textures_gpu MANIFEST IN OUT: fetches of textures on the device that the runtime gives, for textures_gpu.py. A line
 * of the manifest is
 *
 *     INSTRUCTION TEXTURE TEXELS COORDINATES COUNT
 *
 * a texture as settings of PTX kernels write it (docs/ptx.md); where in IN its texels lie, row after row without gaps;
 * and where COUNT times four words, coordinates, do. The four words of each fetch are put behind OUT; 0xee, if it failed.
 * Built by hand:
 *
 *     nvcc -arch=sm_80 -o textures_gpu tests/outside/textures_gpu.cu
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static void must(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        throw std::string(what) + ": " + cudaGetErrorString(error);
}

/* ---- instructions ---- */

typedef void kernel(cudaTextureObject_t, const uint4 *, uint4 *, unsigned);

#define FETCH(id, text, operands)                                                                  \
    __global__ void id(cudaTextureObject_t t, const uint4 *from, uint4 *to, unsigned count)        \
    {                                                                                              \
        const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                  \
        if (i >= count)                                                                            \
            return;                                                                                \
        const uint4 c = from[i];                                                                   \
        uint4 d;                                                                                   \
        asm volatile("{ .reg .b32 x, y, z, w; mov.b32 x, %5; mov.b32 y, %6; mov.b32 z, %7; "       \
                     "mov.b32 w, %8; " text " {%0, %1, %2, %3}, [%4, " operands "]; }"             \
                     : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)                                  \
                     : "l"(t), "r"(c.x), "r"(c.y), "r"(c.z), "r"(c.w));                            \
        to[i] = d;                                                                                 \
    }

#define OF_TYPES(each, geometry, operands)                                                         \
    each(geometry, f32, f32, operands) each(geometry, s32, f32, operands)                          \
        each(geometry, u32, f32, operands) each(geometry, f32, s32, operands)                      \
            each(geometry, s32, s32, operands) each(geometry, u32, s32, operands)
#define OF_GEOMETRIES(each)                                                                        \
    OF_TYPES(each, 1d, "{x}")                                                                      \
    OF_TYPES(each, 2d, "{x, y}")                                                                   \
    OF_TYPES(each, 3d, "{x, y, z, z}")                                                             \
    OF_TYPES(each, a1d, "{z, x}")                                                                  \
    OF_TYPES(each, a2d, "{z, x, y, y}")
#ifdef CUBES
#define OF_CUBES(each)                                                                             \
    each(cube, f32, f32, "{x, y, z, z}") each(cube, u32, f32, "{x, y, z, z}")                      \
        each(acube, f32, f32, "{w, x, y, z}") each(acube, u32, f32, "{w, x, y, z}")
#else
#define OF_CUBES(each)
#endif
#define OF_CHANNELS(each)                                                                          \
    each(r, f32) each(g, f32) each(b, f32) each(a, f32) each(r, s32) each(g, s32) each(b, s32)     \
        each(a, s32) each(r, u32) each(g, u32) each(b, u32) each(a, u32)

#define TEX(geometry, type, type2, operands)                                                       \
    FETCH(tex_##geometry##_##type##_##type2, "tex." #geometry ".v4." #type "." #type2, operands)
#define TLD4(channel, type)                                                                        \
    FETCH(tld4_##channel##_##type, "tld4." #channel ".2d.v4." #type ".f32", "{x, y}")
OF_GEOMETRIES(TEX)
OF_CUBES(TEX)
OF_CHANNELS(TLD4)

#define TEX_ROW(geometry, type, type2, operands)                                                   \
    {"tex." #geometry ".v4." #type "." #type2, tex_##geometry##_##type##_##type2},
#define TLD4_ROW(channel, type) {"tld4." #channel ".2d.v4." #type ".f32", tld4_##channel##_##type},
static const struct {
    const char *name;
    kernel *run;
} instructions[] = {OF_GEOMETRIES(TEX_ROW) OF_CUBES(TEX_ROW) OF_CHANNELS(TLD4_ROW)};

static kernel *find(const char *name)
{
    for (const auto &i : instructions)
        if (strcmp(i.name, name) == 0)
            return i.run;
    fprintf(stderr, "textures_gpu: there is no %s\n", name);
    exit(2);
}

/* ---- textures ---- */

struct texture {
    cudaChannelFormatDesc format;
    size_t size[3]; /* 0: there is no such axis */
    unsigned flags;
    cudaTextureDesc how;
    cudaArray_t array;
    cudaTextureObject_t object;
};

static void read_format(texture *t, const char *text)
{
    const char *kinds = "suf";
    const int bits = atoi(text + 1), channels = strchr(text, 'x') ? strchr(text, 'x')[1] - '0' : 1;
    int each[4];
    for (int c = 0; c < 4; c++)
        each[c] = c < channels ? bits : 0;
    t->format = cudaCreateChannelDesc(each[0], each[1], each[2], each[3],
                                      (cudaChannelFormatKind)(strchr(kinds, text[0]) - kinds));
}

static void read_word(texture *t, const std::string &word, int *modes)
{
    static const char *const names[] = {"wrap", "clamp", "mirror", "border"};
    for (int mode = 0; mode < 4; mode++)
        if (word == names[mode]) {
            for (int d = *modes; d < 3; d++)
                t->how.addressMode[d] = (cudaTextureAddressMode)mode;
            ++*modes;
            return;
        }
    if (word == "linear")
        t->how.filterMode = cudaFilterModeLinear;
    else if (word == "normalized")
        t->how.normalizedCoords = 1;
    else if (word == "unit")
        t->how.readMode = cudaReadModeNormalizedFloat;
    else if (word == "srgb")
        t->how.sRGB = 1;
    else if (word == "seamless")
        t->how.seamlessCubemap = 1;
    else if (word == "layers")
        t->flags |= cudaArrayLayered;
    else if (word == "cube")
        t->flags |= cudaArrayCubemap;
    else {
        fprintf(stderr, "textures_gpu: what is '%s'?\n", word.c_str());
        exit(2);
    }
}

/* FORMAT:SIZE[:WORD..] */
static texture read_texture(const char *text)
{
    texture t = {};
    std::vector<std::string> words;
    for (const char *at = text, *end; *at; at = end + (*end == ':')) {
        end = at + strcspn(at, ":");
        words.push_back(std::string(at, end));
    }
    int modes = 0;
    for (int d = 0; d < 3; d++)
        t.how.addressMode[d] = cudaAddressModeClamp;
    for (size_t i = 2; i < words.size(); i++)
        read_word(&t, words[i], &modes);
    read_format(&t, words[0].c_str());
    const char *size = words[1].c_str();
    int dimensions = sscanf(size, "%zux%zux%zu", &t.size[0], &t.size[1], &t.size[2]);
    if (t.flags && dimensions == 2) { /* layers of one dimension */
        t.size[2] = t.size[1];
        t.size[1] = 0;
    }
    return t;
}

static void make(texture *t, const char *texels)
{
    const size_t width = t->size[0] * (t->format.x + t->format.y + t->format.z + t->format.w) / 8;
    const size_t height = t->size[1] ? t->size[1] : 1, depth = t->size[2] ? t->size[2] : 1;
    must(cudaMalloc3DArray(&t->array, &t->format,
                           make_cudaExtent(t->size[0], t->size[1], t->size[2]), t->flags),
         "cudaMalloc3DArray");
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr((void *)texels, width, t->size[0], height);
    copy.dstArray = t->array;
    copy.extent = make_cudaExtent(t->size[0], height, depth);
    copy.kind = cudaMemcpyHostToDevice;
    must(cudaMemcpy3D(&copy), "cudaMemcpy3D");
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = t->array;
    must(cudaCreateTextureObject(&t->object, &resource, &t->how, NULL), "cudaCreateTextureObject");
}

/* ---- one line ---- */

static std::vector<char> read_file(const char *path)
{
    std::vector<char> bytes;
    char block[65536];
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "textures_gpu: %s cannot be read\n", path);
        exit(2);
    }
    for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;)
        bytes.insert(bytes.end(), block, block + got);
    fclose(file);
    return bytes;
}

static void run(const char *name, const char *text, const char *texels, const char *coordinates,
                std::vector<uint4> *results)
{
    texture t = read_texture(text);
    const unsigned count = (unsigned)results->size();
    uint4 *from, *to;
    make(&t, texels);
    must(cudaMalloc(&from, count * sizeof *from), "cudaMalloc");
    must(cudaMalloc(&to, count * sizeof *to), "cudaMalloc");
    must(cudaMemcpy(from, coordinates, count * sizeof *from, cudaMemcpyHostToDevice), "cudaMemcpy");
    find(name)<<<(count + 127) / 128, 128>>>(t.object, from, to, count);
    must(cudaGetLastError(), name);
    must(cudaMemcpy(results->data(), to, count * sizeof *to, cudaMemcpyDeviceToHost), text);
    cudaFree(from);
    cudaFree(to);
    cudaDestroyTextureObject(t.object);
    cudaFreeArray(t.array);
}

int main(int count, char **arguments)
{
    FILE *manifest = count == 4 ? fopen(arguments[1], "r") : NULL;
    FILE *out = manifest ? fopen(arguments[3], "wb") : NULL;
    char name[64], text[512];
    size_t texels, coordinates;
    unsigned fetches, lines = 0, failed = 0;
    cudaDeviceProp device;
    if (!out) {
        fprintf(stderr, "usage: textures_gpu MANIFEST IN OUT\n");
        return 2;
    }
    const std::vector<char> in = read_file(arguments[2]);
    must(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
    for (; fscanf(manifest, "%63s %511s %zu %zu %u", name, text, &texels, &coordinates, &fetches) ==
           5;
         lines++) {
        std::vector<uint4> results(fetches);
        try {
            run(name, text, &in[texels], &in[coordinates], &results);
        } catch (const std::string &why) {
            fprintf(stderr, "textures_gpu: %s %s: %s\n", name, text, why.c_str());
            memset((void *)results.data(), 0xee, fetches * sizeof results[0]);
            failed++;
        }
        fwrite(results.data(), sizeof results[0], fetches, out);
    }
    printf("%u textures on %s, %u failed\n", lines, device.name, failed);
    return fclose(out) != 0 || failed > 0;
}
