// Products and differences of the bytes of words, and an array whose length is known as the kernel runs.
#include <alloca.h>

extern "C" __global__ void words(const int *a, int *products, unsigned *differences, int *backwards, int n)
{
    int i = threadIdx.x;
    int x = a[i] * 0x01f0e0d1, y = a[i] * 0x7f80ff01;
    products[i] = __dp4a(x, y, 1) + __dp2a_lo(x, y, 2) + (int)__dp2a_hi((unsigned)x, (unsigned)y, 3u);
    differences[i] = __vabsdiffu4(x, y) ^ __vsadu4(x, y);
    int *copy = (int *)alloca(n * sizeof(int));
    for (int k = 0; k < n; k++)
        copy[k] = a[(i + k) % n];
    for (int k = n - 1; k >= 0; k--)
        backwards[i] = backwards[i] * 3 + copy[k];
}
