// An image turned by 90 degrees, and the same at half its size by filtering: the texture has 8 x 4 bytes, and is read as
// numbers between 0 and 1.
extern "C" __global__ void turn(cudaTextureObject_t image, float *turned, float *small, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < height && y < width)
        turned[y * height + x] = 255 * tex2D<float>(image, y + 0.5f, height - x - 0.5f);
    if (x < width / 2 && y < height / 2)
        small[y * (width / 2) + x] = 255 * tex2D<float>(image, 2 * x + 1.0f, 2 * y + 1.0f);
}
