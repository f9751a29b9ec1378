/*
 * harness_main.c - a harness without libFuzzer: runs the inputs in the given files and folders, one
 * each. For smoke tests, for looking at one input under another compiler, and for AFL++'s @@.
 *
 *     fuzz-NAME [--mutate=N] FILE|FOLDER...
 *
 * --mutate=N: after each input, N times what the harness's custom mutator makes of the one before,
 * crossed now and then with the input before; every seed in turn, so that a run can be repeated.
 */
#include "engine/base/pcg.h"
#include "fuzz/harness/harness.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { INPUT_MAX = 1 << 20, MUTATED_MAX = 1 << 14 };

/* A harness with a format of its own need not have them. */
#pragma weak LLVMFuzzerInitialize
#pragma weak LLVMFuzzerCustomMutator
#pragma weak LLVMFuzzerCustomCrossOver

static uint8_t input[INPUT_MAX], mutated[MUTATED_MAX], before[MUTATED_MAX], crossed[MUTATED_MAX];
static size_t size_before;
static unsigned long mutations, runs;
static unsigned int seed;
static struct pcg rng;

/* One byte changes, comes or goes: enough for the mutators' fallback. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
    uint32_t how = pcg_below(&rng, 3);
    size_t at = size ? pcg_below(&rng, (uint32_t)size) : 0;
    if (size == 0 || (how == 0 && size < max_size)) {
        if (max_size == 0)
            return 0;
        memmove(data + at + 1, data + at, size - at);
        data[at] = (uint8_t)pcg_below(&rng, 256);
        return size + 1;
    }
    if (how == 1 && size > 1) {
        memmove(data + at, data + at + 1, size - at - 1);
        return size - 1;
    }
    data[at] = (uint8_t)pcg_below(&rng, 256);
    return size;
}

static void run(const uint8_t *data, size_t size)
{
    /* A copy of its own, so that a sanitizer sees reads beyond the end. */
    uint8_t *copy = malloc(size + (size == 0));
    if (!copy)
        exit(3);
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    runs++;
}

static void run_mutated(size_t size)
{
    if (size > MUTATED_MAX || !LLVMFuzzerCustomMutator)
        return;
    memcpy(mutated, input, size);
    for (unsigned long i = 0; i < mutations; i++) {
        if (LLVMFuzzerCustomCrossOver && size_before > 0 && i % 4 == 3) {
            size = LLVMFuzzerCustomCrossOver(mutated, size, before, size_before, crossed,
                                             MUTATED_MAX, seed++);
            memcpy(mutated, crossed, size);
        } else {
            size = LLVMFuzzerCustomMutator(mutated, size, MUTATED_MAX, seed++);
        }
        run(mutated, size);
    }
    memcpy(before, mutated, size);
    size_before = size;
}

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 2;
    }
    size_t size = fread(input, 1, INPUT_MAX, file);
    fclose(file);
    run(input, size);
    run_mutated(size);
    return 0;
}

static int run_path(const char *path);

static int run_folder(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort), status = 0;
    if (count < 0) {
        perror(path);
        return 2;
    }
    for (int i = 0; i < count; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && status == 0)
            status = run_path(name);
        free(entries[i]);
    }
    free(entries);
    return status;
}

static int run_path(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        perror(path);
        return 2;
    }
    return S_ISDIR(info.st_mode) ? run_folder(path) : run_file(path);
}

int main(int argc, char **argv)
{
    static const char option[] = "--mutate=";
    rng = pcg_derive(0, PCG_KERNEL, 0);
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], option, sizeof option - 1) == 0) {
            mutations = strtoul(argv[i] + sizeof option - 1, NULL, 10);
            continue;
        }
        if (argv[i][0] == '-')
            continue; /* libFuzzer's */
        int status = run_path(argv[i]);
        if (status != 0)
            return status;
    }
    printf("%lu inputs\n", runs);
    return 0;
}
