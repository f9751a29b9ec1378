#include "fuzz/serve/serve.h"

#include "fuzz/serve/child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARENA_LOG = 31, SERVE_OK = 0, SERVE_BAD = 2 };

static const struct served *const all[] = {&served_opencl, &served_cuda, &served_vulkan,
                                           &served_webgpu};

bool served_kernel(const struct message *request, uint32_t n, struct served_kernel *kernel)
{
    const struct message_field *entry = message_field(request, "kernel", n);
    const struct message_field *launch = message_field(request, "launch", n);
    const struct message_field *memory = message_field(request, "memory", n);
    if (!entry || !launch || !memory ||
        sscanf(launch->bytes, "%u %u", &kernel->threads, &kernel->blocks) != 2)
        return false;
    kernel->entry = entry->bytes;
    kernel->memory = memory->bytes;
    kernel->bytes = memory->length;
    return true;
}

void served_answer(struct text *answer, const char *end, const char *cause, const void *memory,
                   size_t bytes)
{
    message_put_text(answer, "end", end);
    message_put_text(answer, "cause", cause);
    message_put(answer, "memory", bytes ? memory : "", bytes);
}

/* A request from standard input; false: there is no more. */
static bool read_request(struct arena *arena, FILE *in, struct message *request)
{
    char line[32];
    size_t length;
    if (!fgets(line, sizeof line, in) || !message_length(line, &length))
        return false;
    char *bytes = arena_room(arena, length + 1);
    return fread(bytes, 1, length, in) == length && message_parse(arena, bytes, length, request);
}

static void answer_request(struct arena *arena, const struct served *served, void *own,
                           const struct message *request, struct text *answer)
{
    message_put_text(answer, "message", "answer");
    const uint64_t before = child_cpu_us();
    if (strcmp(message_text(request, "message", 0), "hello") == 0)
        served->hello(arena, own, answer);
    else
        served->run(arena, own, request, answer);
    if (child_cpu_us() > before)
        message_put_text(
            answer, "cpu",
            arena_printf(arena, "%llu", (unsigned long long)(child_cpu_us() - before)));
}

/* Whatever libraries print to standard output goes to standard error: the pipe is ours alone. */
static int take_output(void)
{
    int out = dup(1);
    return out >= 0 && dup2(2, 1) == 1 ? out : -1;
}

int serve(const char *name)
{
    const struct served *served = NULL;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strncmp(name, all[i]->name, strlen(all[i]->name)) == 0)
            served = all[i];
    struct arena arena, requests;
    const char *reason = "there is no such implementation";
    int out = take_output();
    if (!served || out < 0 || arena_init(&arena, (size_t)1 << ARENA_LOG) != 0 ||
        arena_init(&requests, (size_t)1 << ARENA_LOG) != 0) {
        fprintf(stderr, "simtfuzz serve: %s\n", reason);
        return SERVE_BAD;
    }
    const char *rest = name + strlen(served->name);
    void *own = served->load(&arena, rest + (*rest == ':'), &reason);
    if (!own)
        fprintf(stderr, "simtfuzz serve: %s\n", reason);
    struct message request;
    while (own && read_request(&requests, stdin, &request)) {
        struct text answer = text_begin(&requests);
        answer_request(&requests, served, own, &request, &answer);
        if (!message_send(out, &answer))
            break;
        arena_release(&requests, 0);
    }
    /* Drivers hang in their destructors, too. */
    (void)fflush(NULL);
    _exit(own ? SERVE_OK : SERVE_BAD);
}
