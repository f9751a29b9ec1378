// Shapes made by kernels: objects of the device's heap, whose areas virtual functions compute.
#include <cstdio>
#include <vector>

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual int area() const = 0;
};

struct Square : Shape {
    int side;
    __device__ Square(int side) : side(side) {}
    __device__ int area() const override { return side * side; }
};

struct Stairs : Shape {
    int count, *heights;
    __device__ Stairs(int count) : count(count), heights(new int[count])
    {
#ifdef BUG_ONE_STEP_MORE
        for (int i = 0; i <= count; i++)
#else
        for (int i = 0; i < count; i++)
#endif
            heights[i] = i + 1;
    }
    __device__ ~Stairs() { delete[] heights; }
    __device__ int area() const override
    {
        int sum = 0;
        for (int i = 0; i < count; i++)
            sum += heights[i];
        return sum;
    }
};

__global__ void make(Shape **shapes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        shapes[i] = i % 2 ? (Shape *)new Square(i) : new Stairs(i + 1);
}

__global__ void measure(Shape **shapes, int *areas, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        areas[i] = shapes[i]->area();
}

__global__ void destroy(Shape **shapes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        delete shapes[i];
}

int main()
{
    const int n = 50;
    std::vector<int> areas(n);
    Shape **shapes;
    int *dareas;
    cudaMalloc(&shapes, n * sizeof(Shape *));
    cudaMalloc(&dareas, n * sizeof(int));
    make<<<1, 64>>>(shapes, n);
    measure<<<1, 64>>>(shapes, dareas, n);
#ifndef BUG_NEVER_DELETED
    destroy<<<1, 64>>>(shapes, n);
#endif
    cudaMemcpy(areas.data(), dareas, n * sizeof(int), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += areas[i] != (i % 2 ? i * i : (i + 1) * (i + 2) / 2);
    printf("%d of %d areas are wrong\n", wrong, n);
    cudaFree(shapes);
    cudaFree(dareas);
    return wrong != 0;
}
