/*
 * Images of modules: PTX, fat binaries, and what several inputs are linked to: a container of them, marked as what
 * belongs together.
 */
#include "fuzz/cudart/device_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTAINER_HEAD = 16, ENTRY_HEAD = 64 };

uint32_t containers_bytes(const unsigned char *at)
{
    uint32_t magic;
    uint16_t head;
    uint64_t body;
    memcpy(&magic, at, sizeof magic);
    memcpy(&head, at + 6, sizeof head);
    memcpy(&body, at + 8, sizeof body);
    if (magic != 0xba55ed50u || body > (uint64_t)1 << 30)
        return 16;
    return head + (uint32_t)body;
}

/* Machine code has a length, too, but nothing to run. */
size_t image_bytes(const void **image)
{
    static const unsigned char wrapper[] = {0xb1, 0x43, 0x62, 0x46},
                               container[] = {0x50, 0xed, 0x55, 0xba};
    if (memcmp(*image, wrapper, sizeof wrapper) == 0)
        memcpy(image, (const char *)*image + 8, sizeof *image);
    if (memcmp(*image, container, sizeof container) == 0)
        return containers_bytes(*image);
    return memcmp(*image, "\177ELF", 4) == 0 ? 64 : strlen(*image);
}

char *image_read(const char *path, size_t *bytes)
{
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    const long length = ftell(file);
    rewind(file);
    char *image = length < 0 ? NULL : calloc(1, (size_t)length + 16);
    if (image && fread(image, 1, (size_t)length, file) != (size_t)length) {
        free(image);
        image = NULL;
    }
    fclose(file);
    *bytes = image ? (size_t)length : 0;
    return image;
}

bool linking_add(struct linking *linking, int type, const void *data, size_t bytes)
{
    enum { INPUT_PTX = 1 };
    const size_t length = (bytes + 7) / 8 * 8 + 8; /* zeros end it */
    if (linking->inputs > 0 && (type != INPUT_PTX || !linking->is_text))
        return false;
    char *image = realloc(linking->image, CONTAINER_HEAD + linking->bytes + ENTRY_HEAD + length);
    if (!image)
        return false;
    linking->image = image;
    image += CONTAINER_HEAD + linking->bytes;
    memset(image, 0, ENTRY_HEAD + length);
    const uint16_t kind = 1;
    const uint32_t head = ENTRY_HEAD;
    const uint64_t body = length, flags = DEVICE_LINKED;
    memcpy(image, &kind, sizeof kind);
    memcpy(image + 4, &head, sizeof head);
    memcpy(image + 8, &body, sizeof body);
    memcpy(image + 40, &flags, sizeof flags);
    memcpy(image + ENTRY_HEAD, data, bytes);
    linking->is_text = type == INPUT_PTX;
    linking->bytes += ENTRY_HEAD + length;
    linking->inputs++;
    return true;
}

char *linking_complete(const struct linking *linking, size_t *bytes)
{
    static const unsigned char start[8] = {0x50, 0xed, 0x55, 0xba, 1, 0, CONTAINER_HEAD, 0};
    const uint64_t body = linking->bytes;
    *bytes = linking->inputs == 1 ? linking->bytes - ENTRY_HEAD : CONTAINER_HEAD + linking->bytes;
    if (linking->inputs == 1)
        return linking->image + CONTAINER_HEAD + ENTRY_HEAD;
    memcpy(linking->image, start, sizeof start);
    memcpy(linking->image + 8, &body, sizeof body);
    return linking->image;
}

void device_tell_module(uint32_t number, const void *wrapper)
{
    const struct { /* __fatBinC_Wrapper_t */
        uint32_t magic, version;
        const unsigned char *data;
        const unsigned char *const *linked; /* version 2: of what; NULL behind the last one */
    } *w = wrapper;
    const unsigned char *const *linked = w->version == 2 ? w->linked : NULL;
    size_t bytes = containers_bytes(w->data);
    for (uint32_t i = 0; linked && linked[i]; i++)
        bytes += containers_bytes(linked[i]);
    unsigned char *all = malloc(bytes), *at = all;
    if (!all)
        return;
    memcpy(at, w->data, containers_bytes(w->data));
    at += containers_bytes(w->data);
    for (uint32_t i = 0; linked && linked[i]; at += containers_bytes(linked[i]), i++)
        memcpy(at, linked[i], containers_bytes(linked[i]));
    device_tell(DEVICE_MODULE, &number, sizeof number, all, bytes);
    free(all);
}
