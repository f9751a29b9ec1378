#define _GNU_SOURCE /* environ, clock_getcpuclockid */
/*
 * serve_webgpu.c - WebGPU of a browser (Dawn and Tint of Chromium), on the device in software that it brings along.
 *
 * The browser runs without a window and is spoken to over two pipes (--remote-debugging-pipe: JSON, a zero behind each
 * message). It loads a page of our own (serve_webgpu.js), whose function takes a text and kernels, and answers with
 * letters that JSON leaves as they are.
 */
#include "fuzz/serve/child.h"
#include "fuzz/serve/serve.h"
#include "fuzz/serve/webgpu_page.h"

#include "fuzz/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FD_LEAST = 10, BROWSER_IN = 3, BROWSER_OUT = 4, PIECE = 1 << 16, CHILD_FAILED = 127 };

struct webgpu {
    pid_t pid;
    int to, from;
    uint32_t calls;
    struct text got;     /* what came behind the last answer */
    const char *session; /* of the page */
    const char *version;
};

/* ---- base64 ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_base64(struct text *out, const void *bytes, size_t length)
{
    const unsigned char *from = bytes;
    for (size_t i = 0; i < length; i += 3) {
        uint32_t three = (uint32_t)from[i] << 16 |
                         (i + 1 < length ? (uint32_t)from[i + 1] << 8 : 0) |
                         (i + 2 < length ? from[i + 2] : 0u);
        const char four[] = {digits[three >> 18], digits[three >> 12 & 63],
                             i + 1 < length ? digits[three >> 6 & 63] : '=',
                             i + 2 < length ? digits[three & 63] : '='};
        text_put_bytes(out, four, sizeof four);
    }
}

static uint32_t digit_value(char digit)
{
    const char *at = digit ? strchr(digits, digit) : NULL;
    return at ? (uint32_t)(at - digits) : 0;
}

/* A zero stands behind the bytes. */
static char *read_base64(struct arena *arena, const char *text, size_t length, size_t *bytes)
{
    char *out = ARENA_ARRAY(arena, char, length / 4 * 3 + 4);
    *bytes = 0;
    for (size_t i = 0; i + 3 < length; i += 4) {
        uint32_t three = digit_value(text[i]) << 18 | digit_value(text[i + 1]) << 12 |
                         digit_value(text[i + 2]) << 6 | digit_value(text[i + 3]);
        out[(*bytes)++] = (char)(three >> 16);
        if (text[i + 2] != '=')
            out[(*bytes)++] = (char)(three >> 8);
        if (text[i + 3] != '=')
            out[(*bytes)++] = (char)three;
    }
    out[*bytes] = '\0';
    return out;
}

/* ---- the browser ---- */

/* In the child: the pipes become the descriptors that the browser looks for. */
static void become(char *const *arguments, int in, int out)
{
    if (dup2(in, BROWSER_IN) == BROWSER_IN && dup2(out, BROWSER_OUT) == BROWSER_OUT &&
        dup2(2, 1) == 1)
        execv(arguments[0], arguments);
    _exit(CHILD_FAILED);
}

static bool high_pipe(int ends[2])
{
    int low[2];
    if (pipe(low) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, FD_LEAST);
        close(low[i]);
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

static bool start(struct webgpu *gpu, char *const *arguments)
{
    int down[2], up[2];
    if (!high_pipe(down) || !high_pipe(up))
        return false;
    (void)fflush(NULL);
    gpu->pid = fork();
    if (gpu->pid == 0)
        become(arguments, down[0], up[1]);
    close(down[0]);
    close(up[1]);
    gpu->to = down[1];
    gpu->from = up[0];
    return gpu->pid > 0;
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno != EINTR)
            return false;
        if (put > 0) {
            bytes += put;
            length -= (size_t)put;
        }
    }
    return true;
}

/* One message of the browser; NULL: it is gone. */
static const char *read_message(struct arena *arena, struct webgpu *gpu)
{
    char *piece = ARENA_ARRAY(arena, char, PIECE);
    for (;;) {
        const char *end = gpu->got.length ? memchr(gpu->got.bytes, 0, gpu->got.length) : NULL;
        if (end) {
            size_t length = (size_t)(end - gpu->got.bytes);
            char *message = arena_strndup(arena, gpu->got.bytes, length);
            struct text rest = text_begin(arena);
            text_put_bytes(&rest, end + 1, gpu->got.length - length - 1);
            gpu->got = rest;
            return message;
        }
        ssize_t got = read(gpu->from, piece, PIECE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return NULL;
        text_put_bytes(&gpu->got, piece, (size_t)got);
    }
}

/* The answer to a call; what else the browser tells is passed over. NULL: it is gone. */
static const char *call(struct arena *arena, struct webgpu *gpu, const char *method,
                        const char *parameters)
{
    const char *session =
        gpu->session ? arena_printf(arena, ",\"sessionId\":\"%s\"", gpu->session) : "";
    const char *own = arena_printf(arena, "{\"id\":%u,", (unsigned)++gpu->calls), *message;
    struct text text = text_begin(arena);
    text_format(&text, "%s\"method\":\"%s\"%s,\"params\":{%s}}", own, method, session, parameters);
    if (!write_all(gpu->to, text.bytes, text.length + 1))
        return NULL;
    while ((message = read_message(arena, gpu)) != NULL)
        if (strncmp(message, own, strlen(own)) == 0)
            break;
    return message;
}

/* The text behind "NAME":" up to the next quote; NULL: there is none. */
static const char *string_of(struct arena *arena, const char *message, const char *name)
{
    const char *key = arena_printf(arena, "\"%s\":\"", name);
    const char *at = message ? strstr(message, key) : NULL;
    return at ? arena_strndup(arena, at + strlen(key), strcspn(at + strlen(key), "\"")) : NULL;
}

/* What an expression of the page comes to, once it is there: a text. */
static const char *evaluate(struct arena *arena, struct webgpu *gpu, const char *expression)
{
    return string_of(arena,
                     call(arena, gpu, "Runtime.evaluate",
                          arena_printf(arena,
                                       "\"expression\":\"%s\",\"awaitPromise\":true,"
                                       "\"returnByValue\":true",
                                       expression)),
                     "value");
}

/* ---- loading ---- */

static const char *find_browser(struct arena *arena, const char *name)
{
    return child_find(arena, *name ? name : "chromium");
}

static bool start_browser(struct arena *arena, struct webgpu *gpu, const char *path,
                          const char *folder)
{
    const char *const words[] = {path,
                                 "--headless=new",
                                 "--remote-debugging-pipe",
                                 "--no-sandbox",
                                 "--no-zygote",
                                 "--no-first-run",
                                 "--in-process-gpu",
                                 "--disable-gpu-watchdog",
                                 "--disable-dev-shm-usage",
                                 "--disable-extensions",
                                 "--disable-background-networking",
                                 "--disable-component-update",
                                 "--enable-unsafe-webgpu",
                                 "--use-webgpu-adapter=swiftshader",
                                 arena_printf(arena, "--user-data-dir=%s/profile", folder),
                                 "about:blank",
                                 NULL};
    char **arguments = ARENA_ARRAY(arena, char *, sizeof words / sizeof words[0]);
    for (uint32_t i = 0; words[i]; i++)
        arguments[i] = arena_printf(arena, "%s", words[i]);
    (void)setenv("HOME", folder, 1);
    return start(gpu, arguments);
}

/* A page of a file is one that may use WebGPU; about:blank is not. */
static bool open_page(struct arena *arena, struct webgpu *gpu, const char *folder)
{
    const char *path = arena_printf(arena, "%s/webgpu.html", folder);
    const char *target, *session;
    if (!child_write(path, webgpu_page))
        return false;
    target = string_of(
        arena,
        call(arena, gpu, "Target.createTarget", arena_printf(arena, "\"url\":\"file://%s\"", path)),
        "targetId");
    if (!target)
        return false;
    session = string_of(arena,
                        call(arena, gpu, "Target.attachToTarget",
                             arena_printf(arena, "\"targetId\":\"%s\",\"flatten\":true", target)),
                        "sessionId");
    gpu->session = session;
    return session != NULL;
}

/* The page is there when its function is: until then an expression of it is an error. */
static const char *describe(struct arena *arena, struct webgpu *gpu)
{
    enum { TRIES = 200, PAUSE_NS = 25000000 };
    const char *said = NULL;
    for (uint32_t i = 0; i < TRIES && !said; i++) {
        said = evaluate(arena, gpu, "describe()");
        if (!said)
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return said;
}

static void *load(struct arena *arena, const char *rest, const char **reason)
{
    struct webgpu *gpu = ARENA_NEW(arena, struct webgpu);
    const char *path = find_browser(arena, rest), *folder = getenv("TMPDIR");
    *reason = arena_printf(arena, "%s is not installed", *rest ? rest : "chromium");
    if (!path)
        return NULL;
    folder = arena_printf(arena, "%s/webgpu-XXXXXX", folder ? folder : "/tmp");
    gpu->got = text_begin(arena);
    *reason = "the browser does not start";
    if (!mkdtemp((char *)(uintptr_t)folder) || !start_browser(arena, gpu, path, folder))
        return NULL;
    const char *product = string_of(arena, call(arena, gpu, "Browser.getVersion", ""), "product");
    if (!product || !open_page(arena, gpu, folder))
        return NULL;
    *reason = "the browser has no WebGPU here";
    const char *device = describe(arena, gpu);
    if (!device || strncmp(device, "no ", 3) == 0)
        return NULL;
    gpu->version = arena_printf(arena, "%s, %s", product, device);
    return gpu;
}

/* ---- requests ---- */

static uint64_t browser_us(const struct webgpu *gpu)
{
    clockid_t clock;
    return clock_getcpuclockid(gpu->pid, &clock) == 0 ? clock_us(clock) : 0;
}

static void hello(struct arena *arena, void *own, struct text *answer)
{
    const struct webgpu *gpu = own;
    (void)arena;
    message_put_text(answer, "name", "WebGPU");
    message_put_text(answer, "version", gpu->version);
    message_put_text(answer, "language", "wgsl");
    message_put_text(answer, "lacks", strstr(gpu->version, "subgroups") ? "wide" : "wide,votes");
}

/* run('text','entry blocks memory;...') */
static const char *expression_of(struct arena *arena, const struct message *request)
{
    struct text text = text_begin(arena);
    struct served_kernel kernel;
    const char *source = message_text(request, "text", 0);
    text_put(&text, "run('");
    put_base64(&text, source, strlen(source));
    text_put(&text, "','");
    for (uint32_t i = 0; served_kernel(request, i, &kernel); i++) {
        text_format(&text, "%s%s %u ", i ? ";" : "", kernel.entry, kernel.blocks);
        put_base64(&text, kernel.memory, kernel.bytes);
    }
    text_put(&text, "')");
    return text.bytes;
}

/* "END WORDS": of what is final, memory; of all else, a sentence. Returns what stands behind it. */
static const char *put_end(struct arena *arena, const char *said, struct text *answer)
{
    size_t bytes, name = strcspn(said, " ;"), words;
    const char *end = arena_strndup(arena, said, name);
    said += name;
    said += *said == ' ';
    words = strcspn(said, ";");
    const char *what = read_base64(arena, said, words, &bytes);
    if (strcmp(end, "final") == 0)
        served_answer(answer, end, "", what, bytes);
    else {
        served_answer(answer, end, arena_strndup(arena, what, strcspn(what, "\n")), "", 0);
        message_put_text(answer, "log", what);
    }
    said += words;
    return said + (*said == ';');
}

static void run(struct arena *arena, void *own, const struct message *request, struct text *answer)
{
    struct webgpu *gpu = own;
    struct served_kernel kernel;
    /* What came before an answer is kept in the arena of the request, which ends with it. */
    gpu->got = text_begin(arena);
    const uint64_t before = browser_us(gpu);
    const char *said = evaluate(arena, gpu, expression_of(arena, request));
    if (!said) {
        fprintf(stderr, "the browser is gone\n");
        (void)fflush(NULL);
        _exit(1);
    }
    child_add_cpu_us(browser_us(gpu) - before);
    for (uint32_t i = 0; served_kernel(request, i, &kernel); i++)
        said = put_end(arena, said, answer);
    gpu->got = text_begin(arena);
}

const struct served served_webgpu = {
    .name = "webgpu",
    .load = load,
    .hello = hello,
    .run = run,
};
