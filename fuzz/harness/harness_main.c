/*
 * harness_main.c - a harness without libFuzzer: runs the inputs in the given files, one each. For
 * smoke tests and for looking at one input under another compiler.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { INPUT_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    uint8_t *input = malloc(INPUT_MAX);
    if (!input)
        return 3;
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file) {
            perror(argv[i]);
            free(input);
            return 2;
        }
        size_t size = fread(input, 1, INPUT_MAX, file);
        fclose(file);
        LLVMFuzzerTestOneInput(input, size);
    }
    printf("%d inputs\n", argc - 1);
    free(input);
    return 0;
}
