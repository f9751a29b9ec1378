#include "fuzz/exec/fatbin.h"

#include "fuzz/cudart/device_protocol.h"

#include <dlfcn.h>
#include <string.h>

/* A container: magic, version, bytes of its head, bytes of its entries. */
enum { MAGIC = 0, CONTAINER_HEAD = 6, CONTAINER_BODY = 8, CONTAINER_LEAST = 16 };
#define CONTAINER_MAGIC 0xba55ed50u

/* An entry, from its start. */
enum {
    ENTRY_KIND = 0,
    ENTRY_HEAD = 4,
    ENTRY_BODY = 8,
    ENTRY_COMPRESSED = 16, /* bytes that are used of the body */
    ENTRY_ARCHITECTURE = 28,
    ENTRY_FLAGS = 40,
    ENTRY_UNPACKED = 56,
    ENTRY_LEAST = 64
};
enum { KIND_PTX = 1, KIND_CODE = 2 };
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };
enum { UNPACKED_MAX = 64 << 20 };

static uint64_t number_at(const uint8_t *at, uint32_t bytes)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/* ---- compression ---- */

static void *find_function(const char *const *libraries, const char *function)
{
    for (; *libraries; libraries++) {
        void *library = dlopen(*libraries, RTLD_NOW | RTLD_LOCAL);
        void *found = library ? dlsym(library, function) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

static const char *unpack_lz4(const uint8_t *from, size_t bytes, char *to, size_t room)
{
    static const char *const libraries[] = {"liblz4.so.1", "liblz4.so", NULL};
    int (*decompress)(const char *, char *, int, int);
    void *found = find_function(libraries, "LZ4_decompress_safe");
    if (!found)
        return "its PTX is compressed by LZ4, and there is no liblz4.so.1 (nvcc --no-compress "
               "leaves it as it is)";
    memcpy(&decompress, &found, sizeof decompress);
    int got = decompress((const char *)from, to, (int)bytes, (int)room);
    return got == (int)room ? NULL : "its PTX, compressed by LZ4, is damaged";
}

static const char *unpack_zstd(const uint8_t *from, size_t bytes, char *to, size_t room)
{
    static const char *const libraries[] = {"libzstd.so.1", "libzstd.so", NULL};
    size_t (*decompress)(void *, size_t, const void *, size_t);
    void *found = find_function(libraries, "ZSTD_decompress");
    if (!found)
        return "its PTX is compressed by zstd, and there is no libzstd.so.1 (nvcc --no-compress "
               "leaves it as it is)";
    memcpy(&decompress, &found, sizeof decompress);
    return decompress(to, room, from, bytes) == room ? NULL
                                                     : "its PTX, compressed by zstd, is damaged";
}

/* ---- entries ---- */

struct entry {
    uint32_t architecture;
    uint64_t flags;
    const uint8_t *body;
    size_t bytes, unpacked;
};

struct search {
    struct entry best;
    bool has_ptx;
    uint32_t code; /* an architecture that machine code is there for; 0: none */
};

static const char *see_entry(struct search *search, const uint8_t *at, uint64_t head, uint64_t body)
{
    struct entry entry = {.architecture = (uint32_t)number_at(at + ENTRY_ARCHITECTURE, 4),
                          .flags = number_at(at + ENTRY_FLAGS, 8),
                          .body = at + head,
                          .bytes = (size_t)body};
    uint64_t used = number_at(at + ENTRY_COMPRESSED, 4);
    uint32_t kind = (uint32_t)number_at(at + ENTRY_KIND, 2);
    if (kind == KIND_CODE)
        search->code = entry.architecture;
    if (kind != KIND_PTX)
        return NULL;
    bool packed = (entry.flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0;
    entry.unpacked = packed ? (size_t)number_at(at + ENTRY_UNPACKED, 8) : entry.bytes;
    entry.bytes = packed ? (size_t)used : entry.bytes;
    if (entry.bytes > body || entry.unpacked > UNPACKED_MAX)
        return "the fat binary is damaged: PTX of an impossible size";
    if (!search->has_ptx || entry.architecture > search->best.architecture)
        search->best = entry;
    search->has_ptx = true;
    return NULL;
}

static const char *see_container(struct search *search, const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        if (end - at < ENTRY_LEAST)
            return "the fat binary is truncated";
        uint64_t head = number_at(at + ENTRY_HEAD, 4), body = number_at(at + ENTRY_BODY, 8);
        uint64_t left = (uint64_t)(end - at);
        if (head < ENTRY_LEAST || head > left || body > left - head)
            return "the fat binary is truncated";
        const char *why = see_entry(search, at, head, body);
        if (why)
            return why;
        at += head + body;
    }
    return NULL;
}

bool fatbin_is_text(const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < 4; i++)
        if (bytes < 4 || ((data[i] < ' ' || data[i] > '~') && (data[i] < '\t' || data[i] > '\r')))
            return false;
    return true;
}

size_t fatbin_bytes(const uint8_t *data, size_t bytes)
{
    if (bytes < CONTAINER_LEAST || number_at(data + MAGIC, 4) != CONTAINER_MAGIC)
        return bytes;
    const uint64_t head = number_at(data + CONTAINER_HEAD, 2);
    const uint64_t body = number_at(data + CONTAINER_BODY, 8);
    return head >= CONTAINER_LEAST && head < bytes && body < bytes - head ? (size_t)(head + body)
                                                                          : bytes;
}

uint32_t fatbin_linked(const uint8_t *data, size_t bytes, const char **texts, uint32_t room)
{
    uint32_t count = 0;
    if (bytes < CONTAINER_LEAST || number_at(data + MAGIC, 4) != CONTAINER_MAGIC)
        return 0;
    for (uint64_t at = number_at(data + CONTAINER_HEAD, 2); at + ENTRY_LEAST < bytes;) {
        const uint64_t body = number_at(data + at + ENTRY_BODY, 8);
        if (number_at(data + at + ENTRY_FLAGS, 8) != DEVICE_LINKED || count == room ||
            body > bytes - at - ENTRY_LEAST)
            return 0;
        texts[count++] = (const char *)data + at + ENTRY_LEAST;
        at += ENTRY_LEAST + body;
    }
    return count;
}

static const char *see_all(struct search *search, const uint8_t *data, size_t bytes)
{
    if (bytes >= 4 && memcmp(data, "\177ELF", 4) == 0)
        return "it is machine code without PTX: build it with nvcc -ptx or -fatbin";
    if (bytes < CONTAINER_LEAST || number_at(data + MAGIC, 4) != CONTAINER_MAGIC)
        return "what the program registers is no fat binary";
    uint64_t head = number_at(data + CONTAINER_HEAD, 2), body = number_at(data + CONTAINER_BODY, 8);
    if (head < CONTAINER_LEAST || head > bytes || body > bytes - head)
        return "the fat binary is truncated";
    return see_container(search, data + head, data + head + body);
}

/* Texts end with zeros in the binary. */
static size_t text_length(const char *text, size_t bytes)
{
    const char *end = memchr(text, '\0', bytes);
    return end ? (size_t)(end - text) : bytes;
}

bool fatbin_find(struct arena *arena, const uint8_t *data, size_t bytes, struct fatbin_ptx *ptx,
                 const char **why)
{
    struct search search = {.has_ptx = false};
    *why = see_all(&search, data, bytes);
    if (*why)
        return false;
    if (!search.has_ptx) {
        *why = search.code
                   ? arena_printf(arena,
                                  "the program holds machine code for sm_%u and no PTX: build it "
                                  "with nvcc -arch=sm_%u, or add -gencode "
                                  "arch=compute_%u,code=compute_%u (with -rdc=true, for each file)",
                                  search.code, search.code, search.code, search.code)
                   : "the fat binary holds neither PTX nor machine code";
        return false;
    }
    const struct entry *best = &search.best;
    char *text = ARENA_ARRAY(arena, char, best->unpacked + 1);
    if (best->flags & FLAG_ZSTD)
        *why = unpack_zstd(best->body, best->bytes, text, best->unpacked);
    else if (best->flags & FLAG_LZ4)
        *why = unpack_lz4(best->body, best->bytes, text, best->unpacked);
    else
        memcpy(text, best->body, best->bytes);
    *ptx = (struct fatbin_ptx){text, text_length(text, best->unpacked), best->architecture};
    return !*why;
}
