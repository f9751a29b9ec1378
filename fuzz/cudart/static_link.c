/*
 * The static runtime asks the driver for functions that no document describes, so it is not the driver's place that is
 * taken under it, but its own: before the program's first instruction the beginning of each of its public functions is
 * written over.
 */
#include "fuzz/cudart/static_link.h"

#include <dlfcn.h>
#include <stddef.h>

void *static_link_own(const char *name)
{
    static void *own;
    Dl_info here;
    if (!own && dladdr((const void *)&static_link_own, &here))
        own = dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return own ? dlsym(own, name) : NULL;
}

#ifdef __x86_64__

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
    const unsigned char *bytes;
    size_t size;
    uintptr_t base; /* what is added to addresses of the file */
};

/* ---- tables of symbols ---- */

static const void *at(const struct image *image, uint64_t offset, uint64_t bytes)
{
    return offset <= image->size && bytes <= image->size - offset ? image->bytes + offset : NULL;
}

/* The section number i of a file whose head has been looked at. */
static const Elf64_Shdr *section(const struct image *image, uint32_t i)
{
    const Elf64_Ehdr *head = at(image, 0, sizeof *head);
    if (i >= head->e_shnum || head->e_shentsize != sizeof(Elf64_Shdr))
        return NULL;
    return at(image, head->e_shoff + (uint64_t)i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
}

static const char *name_in(const struct image *image, const Elf64_Shdr *names, uint32_t offset)
{
    const char *all = names ? at(image, names->sh_offset, names->sh_size) : NULL;
    if (!all || offset >= names->sh_size || all[names->sh_size - 1] != '\0')
        return NULL;
    return all + offset;
}

static bool is_of_runtime(const char *name)
{
    return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
}

/* ---- jumps ---- */

enum { JUMP = 13 };

/* movabs $to, %r11; jmp *%r11 */
static void write_jump(unsigned char *from, const void *to)
{
    unsigned char jump[JUMP] = {0x49, 0xbb, [10] = 0x41, 0xff, 0xe3};
    memcpy(jump + 2, &to, sizeof to);
    memcpy(from, jump, JUMP);
}

static bool redirect(uintptr_t from, const void *to)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = from & ~(page - 1);
    const size_t bytes = ((from + JUMP - 1) & ~(page - 1)) + page - first;
    if (mprotect((void *)first, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return false;
    write_jump((unsigned char *)from, to);
    return mprotect((void *)first, bytes, PROT_READ | PROT_EXEC) == 0;
}

static void redirect_symbol(const struct image *image, const Elf64_Sym *symbol, const char *name,
                            static_link_find *find)
{
    const bool is_function = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
    /* Behind a short one that is aligned lies nothing up to where the next one may begin. */
    const bool has_room = symbol->st_size >= JUMP || symbol->st_value % 16 == 0;
    if (!name || !is_function || symbol->st_shndx == SHN_UNDEF || !has_room || !is_of_runtime(name))
        return;
    const void *to = find(name);
    if (to && to != (const void *)(image->base + symbol->st_value) &&
        !redirect(image->base + symbol->st_value, to))
        fprintf(stderr, "simtfuzz: %s of the static runtime cannot be replaced\n", name);
}

static void redirect_image(const struct image *image, static_link_find *find)
{
    const Elf64_Ehdr *head = at(image, 0, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64)
        return;
    for (uint32_t i = 0; i < head->e_shnum; i++) {
        const Elf64_Shdr *table = section(image, i);
        if (!table || table->sh_type != SHT_SYMTAB)
            continue;
        const Elf64_Sym *symbols = at(image, table->sh_offset, table->sh_size);
        const Elf64_Shdr *names = section(image, table->sh_link);
        for (uint64_t s = 0; symbols && s < table->sh_size / sizeof *symbols; s++)
            redirect_symbol(image, &symbols[s], name_in(image, names, symbols[s].st_name), find);
    }
}

/* ---- what is loaded ---- */

/* A runtime, or what takes its place, is called and not changed. */
static bool is_runtime(const char *path)
{
    return strstr(path, "/libcudart.so") || strstr(path, "/libcuda.so") ||
           strstr(path, "/simtfuzz-");
}

/* A program or a library: its file is looked at, which has tables that are not loaded. */
static int look_at(struct dl_phdr_info *info, size_t size, void *find)
{
    (void)size;
    const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
    struct stat status;
    int file = is_runtime(path) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        struct image image = {.size = (size_t)status.st_size, .base = info->dlpi_addr};
        void *mapped = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, file, 0);
        image.bytes = mapped;
        if (mapped != MAP_FAILED) {
            redirect_image(&image, *(static_link_find **)find);
            munmap(mapped, image.size);
        }
    }
    close(file);
    return 0;
}

void static_link_runtime(static_link_find *find)
{
    dl_iterate_phdr(look_at, &find);
}

#else

void static_link_runtime(static_link_find *find)
{
    (void)find;
}

#endif
