/*
 * A disk for SQLite that fills up, and one that loses power: a VFS above the real one. What was written
 * and not synchronised may or may not reach the platter, also only in part; fault_cut writes what is left
 * after a power cut to other files.
 *
 * For one thread.
 */
#ifndef TESTS_UNIT_FAULT_VFS_H
#define TESTS_UNIT_FAULT_VFS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAULT_FILES_MAX = 16, FAULT_SECTOR = 512 };

/* Not synchronised yet. */
struct fault_write {
    sqlite3_int64 offset;
    int length; /* -1: cut off at the offset */
    unsigned char *data;
};

/* A file, as a power cut would surely leave it, and what may be there beside. */
struct fault_image {
    char name[256]; /* "": unused */
    unsigned char *bytes;
    size_t size;
    struct fault_write *writes;
    size_t write_count;
};

static struct {
    sqlite3_vfs vfs, *real;
    struct fault_image images[FAULT_FILES_MAX];
    uint64_t writes;  /* so far */
    uint64_t full_at; /* from this write on the disk is full; 0: never */
    uint64_t random;
    void (*before_write)(void *context); /* also before a synchronisation; NULL: nothing */
    void *context;
} fault;

struct fault_file {
    sqlite3_file base;
    struct fault_image *image; /* NULL: a temporary file */
    sqlite3_file *real;
};

static uint64_t fault_random(void)
{
    fault.random ^= fault.random << 13;
    fault.random ^= fault.random >> 7;
    fault.random ^= fault.random << 17;
    return fault.random;
}

/* ---- images ---- */

static void fault_apply(unsigned char **bytes, size_t *size, sqlite3_int64 offset, int length,
                        const unsigned char *data)
{
    size_t at = (size_t)offset, end = length < 0 ? at : at + (size_t)length;
    if (end > *size || length < 0) {
        *bytes = realloc(*bytes, end + 1);
        if (end > *size)
            memset(*bytes + *size, 0, end - *size);
        *size = end;
    }
    if (length > 0)
        memcpy(*bytes + at, data, (size_t)length);
}

static void fault_drop_writes(struct fault_image *image)
{
    for (size_t i = 0; i < image->write_count; i++)
        free(image->writes[i].data);
    free(image->writes);
    image->writes = NULL;
    image->write_count = 0;
}

static void fault_settle(struct fault_image *image)
{
    for (size_t i = 0; i < image->write_count; i++)
        fault_apply(&image->bytes, &image->size, image->writes[i].offset, image->writes[i].length,
                    image->writes[i].data);
    fault_drop_writes(image);
}

static void fault_note(struct fault_image *image, sqlite3_int64 offset, int length,
                       const void *data)
{
    if (!image)
        return;
    image->writes = realloc(image->writes, (image->write_count + 1) * sizeof *image->writes);
    struct fault_write *write = &image->writes[image->write_count++];
    *write = (struct fault_write){.offset = offset, .length = length};
    if (length > 0) {
        write->data = malloc((size_t)length);
        memcpy(write->data, data, (size_t)length);
    }
}

static struct fault_image *fault_image_of(const char *name)
{
    struct fault_image *unused = NULL;
    for (int i = 0; i < FAULT_FILES_MAX; i++) {
        if (strcmp(fault.images[i].name, name) == 0)
            return &fault.images[i];
        if (!fault.images[i].name[0] && !unused)
            unused = &fault.images[i];
    }
    if (unused)
        snprintf(unused->name, sizeof unused->name, "%s", name);
    return unused;
}

static void fault_forget(struct fault_image *image)
{
    fault_drop_writes(image);
    free(image->bytes);
    *image = (struct fault_image){.size = 0};
}

/* A write that was under way: all of it, nothing, or single sectors. */
static void fault_tear(unsigned char **bytes, size_t *size, const struct fault_write *write)
{
    uint64_t fate = fault_random() % 4;
    if (fate == 0)
        return;
    if (fate > 1 || write->length < 0) {
        fault_apply(bytes, size, write->offset, write->length, write->data);
        return;
    }
    for (int at = 0; at < write->length; at += FAULT_SECTOR) {
        int length = write->length - at < FAULT_SECTOR ? write->length - at : FAULT_SECTOR;
        if (fault_random() % 2)
            fault_apply(bytes, size, write->offset + at, length, write->data + at);
    }
}

/* What a power cut now leaves of the files whose names start with `name`, under names that start with
 * `to`. */
static inline void fault_cut(const char *name, const char *to)
{
    for (int i = 0; i < FAULT_FILES_MAX; i++) {
        struct fault_image *image = &fault.images[i];
        if (!image->name[0] || strncmp(image->name, name, strlen(name)) != 0)
            continue;
        size_t size = image->size;
        unsigned char *bytes = malloc(size + 1);
        if (size > 0)
            memcpy(bytes, image->bytes, size);
        for (size_t w = 0; w < image->write_count; w++)
            fault_tear(&bytes, &size, &image->writes[w]);
        char path[512];
        snprintf(path, sizeof path, "%s%s", to, image->name + strlen(name));
        FILE *file = fopen(path, "wb");
        if (file) {
            fwrite(bytes, 1, size, file);
            fclose(file);
        }
        free(bytes);
    }
}

/* ---- files ---- */

static sqlite3_file *fault_real(sqlite3_file *file)
{
    return ((struct fault_file *)file)->real;
}

static int fault_close(sqlite3_file *file)
{
    return fault_real(file)->pMethods->xClose(fault_real(file));
}

static int fault_read(sqlite3_file *file, void *data, int length, sqlite3_int64 offset)
{
    return fault_real(file)->pMethods->xRead(fault_real(file), data, length, offset);
}

static int fault_write(sqlite3_file *file, const void *data, int length, sqlite3_int64 offset)
{
    if (fault.before_write)
        fault.before_write(fault.context);
    fault.writes++;
    if (fault.full_at > 0 && fault.writes >= fault.full_at)
        return SQLITE_FULL;
    int code = fault_real(file)->pMethods->xWrite(fault_real(file), data, length, offset);
    if (code == SQLITE_OK)
        fault_note(((struct fault_file *)file)->image, offset, length, data);
    return code;
}

static int fault_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int code = fault_real(file)->pMethods->xTruncate(fault_real(file), size);
    if (code == SQLITE_OK)
        fault_note(((struct fault_file *)file)->image, size, -1, NULL);
    return code;
}

static int fault_sync(sqlite3_file *file, int flags)
{
    struct fault_image *image = ((struct fault_file *)file)->image;
    (void)flags;
    if (fault.before_write)
        fault.before_write(fault.context);
    if (image)
        fault_settle(image);
    return SQLITE_OK; /* the real disk is not asked */
}

static int fault_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return fault_real(file)->pMethods->xFileSize(fault_real(file), size);
}

static int fault_lock(sqlite3_file *file, int level)
{
    return fault_real(file)->pMethods->xLock(fault_real(file), level);
}

static int fault_unlock(sqlite3_file *file, int level)
{
    return fault_real(file)->pMethods->xUnlock(fault_real(file), level);
}

static int fault_check_lock(sqlite3_file *file, int *locked)
{
    return fault_real(file)->pMethods->xCheckReservedLock(fault_real(file), locked);
}

static int fault_control(sqlite3_file *file, int operation, void *argument)
{
    return fault_real(file)->pMethods->xFileControl(fault_real(file), operation, argument);
}

static int fault_sector_size(sqlite3_file *file)
{
    (void)file;
    return FAULT_SECTOR;
}

/* Not SQLITE_IOCAP_POWERSAFE_OVERWRITE: a sector that is written may be torn. */
static int fault_characteristics(sqlite3_file *file)
{
    (void)file;
    return 0;
}

static int fault_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **memory)
{
    return fault_real(file)->pMethods->xShmMap(fault_real(file), page, size, extend, memory);
}

static int fault_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return fault_real(file)->pMethods->xShmLock(fault_real(file), offset, count, flags);
}

static void fault_shm_barrier(sqlite3_file *file)
{
    fault_real(file)->pMethods->xShmBarrier(fault_real(file));
}

static int fault_shm_unmap(sqlite3_file *file, int delete)
{
    return fault_real(file)->pMethods->xShmUnmap(fault_real(file), delete);
}

static const sqlite3_io_methods fault_methods = {
    .iVersion = 2,
    .xClose = fault_close,
    .xRead = fault_read,
    .xWrite = fault_write,
    .xTruncate = fault_truncate,
    .xSync = fault_sync,
    .xFileSize = fault_size,
    .xLock = fault_lock,
    .xUnlock = fault_unlock,
    .xCheckReservedLock = fault_check_lock,
    .xFileControl = fault_control,
    .xSectorSize = fault_sector_size,
    .xDeviceCharacteristics = fault_characteristics,
    .xShmMap = fault_shm_map,
    .xShmLock = fault_shm_lock,
    .xShmBarrier = fault_shm_barrier,
    .xShmUnmap = fault_shm_unmap,
};

/* ---- the file system ---- */

static int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *opened, int flags,
                      int *out_flags)
{
    struct fault_file *file = (struct fault_file *)opened;
    (void)vfs;
    file->real = (sqlite3_file *)(file + 1);
    file->image = name ? fault_image_of(name) : NULL;
    int code = fault.real->xOpen(fault.real, name, file->real, flags, out_flags);
    file->base.pMethods = file->real->pMethods ? &fault_methods : NULL;
    return code;
}

static int fault_delete(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
    (void)vfs;
    int code = fault.real->xDelete(fault.real, name, sync_folder);
    if (code == SQLITE_OK)
        fault_forget(fault_image_of(name));
    return code;
}

/* From now on databases are opened here. */
static inline void fault_install(void)
{
    fault.real = sqlite3_vfs_find(NULL);
    fault.vfs = *fault.real;
    fault.vfs.zName = "fault";
    fault.vfs.pNext = NULL;
    fault.vfs.szOsFile = (int)sizeof(struct fault_file) + fault.real->szOsFile;
    fault.vfs.xOpen = fault_open;
    fault.vfs.xDelete = fault_delete;
    fault.random = 0x9e3779b97f4a7c15u;
    sqlite3_vfs_register(&fault.vfs, 1);
}

static inline void fault_remove(void)
{
    sqlite3_vfs_unregister(&fault.vfs);
    sqlite3_vfs_register(fault.real, 1);
    for (int i = 0; i < FAULT_FILES_MAX; i++)
        fault_forget(&fault.images[i]);
    memset(&fault, 0, sizeof fault);
}

#endif
