#define _GNU_SOURCE /* strcasestr */
/*
 * serve_vulkan.c - a Vulkan device, loaded through libvulkan; glslangValidator makes SPIR-V of the texts.
 *
 * Options of a request: "-spirv-opt", SPIR-V goes through spirv-opt -O; "-disable-optimization", it does not, and a
 * flag of pipelines that drivers may follow is set. Each kernel is a module of its own: the text is compiled with
 * SF_KERNEL as its number.
 */
#include "fuzz/serve/cause.h"
#include "fuzz/serve/child.h"
#include "fuzz/serve/loaded.h"
#include "fuzz/serve/serve.h"
#include "fuzz/serve/vulkan_api.h"

#include <stdio.h>
#include <string.h>

enum {
    DEVICES_MAX = 16,
    FAMILIES_MAX = 16,
    BUFFER_BYTES = 16 << 20,
    CODE_MAX = 16 << 20,
    COMPILE_SECONDS = 20
};

struct vulkan {
    vk_instance instance;
    vk_physical physical;
    struct vk_properties properties;
    struct vk_subgroup_properties subgroup;
    struct vk_driver_properties driver;
    vk_device device;
    vk_queue queue;
    uint32_t family;
    bool has_int64;
    vk_handle buffer, memory, set_layout, layout, set;
    vk_commands commands;
    void *words; /* of the buffer */
#define FUNCTION(result, name, parameters) result(*name) parameters;
    VULKAN_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* Options of a request. */
struct wishes {
    bool plain, optimised;
};

/* ---- loading ---- */

static bool load_functions(struct vulkan *vk, const char **reason)
{
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    bool complete = library != NULL;
    *reason = library ? "libvulkan lacks a function" : "there is no libvulkan.so.1";
    if (!library)
        return false;
#define FUNCTION(result, name, parameters)                                                         \
    complete = loaded_find(library, #name, &vk->name) && complete;
    VULKAN_FUNCTIONS(FUNCTION)
#undef FUNCTION
    return complete;
}

static bool make_instance(struct vulkan *vk)
{
    const struct vk_application application = {
        .type = VK_TYPE_APPLICATION, .name = "simtfuzz", .api_version = VK_VERSION_1_1};
    const struct vk_instance_info info = {.type = VK_TYPE_INSTANCE, .application = &application};
    return vk->vkCreateInstance(&info, NULL, &vk->instance) == 0;
}

static void ask_device(struct vulkan *vk)
{
    vk->driver = (struct vk_driver_properties){.type = VK_TYPE_DRIVER_PROPERTIES};
    vk->subgroup =
        (struct vk_subgroup_properties){.type = VK_TYPE_SUBGROUP_PROPERTIES, .next = &vk->driver};
    struct vk_properties_2 all = {.type = VK_TYPE_PROPERTIES_2, .next = &vk->subgroup};
    vk->vkGetPhysicalDeviceProperties2(vk->physical, &all);
    vk->properties = all.all;
}

/* The first family of queues that computes. */
static bool find_family(struct vulkan *vk)
{
    struct vk_queue_family families[FAMILIES_MAX];
    uint32_t count = FAMILIES_MAX;
    vk->vkGetPhysicalDeviceQueueFamilyProperties(vk->physical, &count, families);
    for (vk->family = 0; vk->family < count; vk->family++)
        if (families[vk->family].flags & VK_QUEUE_COMPUTE)
            return true;
    return false;
}

/* The first device whose name, or its driver's, holds the text. */
static bool find_device(struct vulkan *vk, const char *name)
{
    vk_physical devices[DEVICES_MAX];
    uint32_t count = DEVICES_MAX;
    if (vk->vkEnumeratePhysicalDevices(vk->instance, &count, devices) < 0)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        vk->physical = devices[i];
        ask_device(vk);
        if ((strcasestr(vk->properties.name, name) || strcasestr(vk->driver.name, name)) &&
            vk->properties.api_version >= VK_VERSION_1_1 && find_family(vk))
            return true;
    }
    return false;
}

/* With integers of 64 bits, if it has them; otherwise it says so to `hello`. */
static bool make_device(struct vulkan *vk)
{
    struct vk_features features, wanted = {{0}};
    vk->vkGetPhysicalDeviceFeatures(vk->physical, &features);
    vk->has_int64 = features.has[VK_FEATURE_INT64] != 0;
    wanted.has[VK_FEATURE_INT64] = vk->has_int64;
    const float priority = 1;
    const struct vk_queue_info queue = {
        .type = VK_TYPE_DEVICE_QUEUE, .family = vk->family, .count = 1, .priorities = &priority};
    const struct vk_device_info info = {
        .type = VK_TYPE_DEVICE, .queues = 1, .queue_infos = &queue, .features = &wanted};
    if (vk->vkCreateDevice(vk->physical, &info, NULL, &vk->device) != 0)
        return false;
    vk->vkGetDeviceQueue(vk->device, vk->family, 0, &vk->queue);
    return true;
}

/* A type of memory that the host sees as it is; every device has one. */
static uint32_t memory_type(const struct vulkan *vk, uint32_t allowed)
{
    struct vk_memory_properties memory;
    vk->vkGetPhysicalDeviceMemoryProperties(vk->physical, &memory);
    for (uint32_t i = 0; i < memory.type_count && i < VK_MEMORY_TYPES; i++)
        if (allowed >> i & 1u &&
            (memory.types[i].flags & VK_MEMORY_VISIBLE_COHERENT) == VK_MEMORY_VISIBLE_COHERENT)
            return i;
    return 0;
}

static bool make_buffer(struct vulkan *vk)
{
    const struct vk_buffer_info info = {
        .type = VK_TYPE_BUFFER, .bytes = BUFFER_BYTES, .usage = VK_BUFFER_STORAGE};
    struct vk_requirements needs;
    if (vk->vkCreateBuffer(vk->device, &info, NULL, &vk->buffer) != 0)
        return false;
    vk->vkGetBufferMemoryRequirements(vk->device, vk->buffer, &needs);
    const struct vk_allocate_info memory = {.type = VK_TYPE_ALLOCATE,
                                            .bytes = needs.bytes,
                                            .memory_type = memory_type(vk, needs.types)};
    return vk->vkAllocateMemory(vk->device, &memory, NULL, &vk->memory) == 0 &&
           vk->vkBindBufferMemory(vk->device, vk->buffer, vk->memory, 0) == 0 &&
           vk->vkMapMemory(vk->device, vk->memory, 0, BUFFER_BYTES, 0, &vk->words) == 0;
}

/* One set with one binding: the buffer. */
static bool make_layout(struct vulkan *vk)
{
    const struct vk_binding binding = {
        .kind = VK_DESCRIPTOR_STORAGE_BUFFER, .count = 1, .stages = VK_STAGE_COMPUTE};
    const struct vk_set_layout_info set = {
        .type = VK_TYPE_SET_LAYOUT, .count = 1, .bindings = &binding};
    const struct vk_layout_info layout = {
        .type = VK_TYPE_PIPELINE_LAYOUT, .sets = 1, .set_layouts = &vk->set_layout};
    const struct vk_pool_size size = {VK_DESCRIPTOR_STORAGE_BUFFER, 1};
    const struct vk_pool_info pool = {
        .type = VK_TYPE_DESCRIPTOR_POOL, .sets = 1, .sizes = 1, .size = &size};
    struct vk_set_info sets = {
        .type = VK_TYPE_DESCRIPTOR_SET, .count = 1, .layouts = &vk->set_layout};
    return vk->vkCreateDescriptorSetLayout(vk->device, &set, NULL, &vk->set_layout) == 0 &&
           vk->vkCreatePipelineLayout(vk->device, &layout, NULL, &vk->layout) == 0 &&
           vk->vkCreateDescriptorPool(vk->device, &pool, NULL, &sets.pool) == 0 &&
           vk->vkAllocateDescriptorSets(vk->device, &sets, &vk->set) == 0;
}

static bool make_commands(struct vulkan *vk)
{
    const struct vk_command_pool_info pool = {
        .type = VK_TYPE_COMMAND_POOL, .flags = VK_POOL_RESET, .family = vk->family};
    struct vk_commands_info commands = {.type = VK_TYPE_COMMAND_BUFFER, .count = 1};
    return vk->vkCreateCommandPool(vk->device, &pool, NULL, &commands.pool) == 0 &&
           vk->vkAllocateCommandBuffers(vk->device, &commands, &vk->commands) == 0;
}

/* ---- glslang ---- */

static struct child_result run_words(struct arena *arena, const char *const *words)
{
    const struct child_limits limits = {.folder = ".", .cpu_seconds = COMPILE_SECONDS};
    char *arguments[12] = {NULL};
    for (uint32_t i = 0; words[i]; i++)
        arguments[i] = arena_printf(arena, "%s", words[i]);
    return child_run(arena, &limits, arguments);
}

static const char *glslang_version(struct arena *arena)
{
    const char *const words[] = {"glslangValidator", "--version", NULL};
    const struct child_result child = run_words(arena, words);
    if (child.end != CHILD_EXITED || child.status != 0)
        return NULL;
    return arena_strndup(arena, child.output, strcspn(child.output, "\n"));
}

/* How a run of glslang or spirv-opt ended; NULL: well. glslang ends with status 0 when its own check refuses what it
 * made. */
static const char *judge(struct arena *arena, const char *program, const struct child_result *child,
                         const char **end)
{
    static const char invalid[] = "SPIRV-Tools Validation Errors";
    const char *check = strstr(child->output, invalid);
    const bool crashed = child->end == CHILD_SIGNALED || cause_is_crash(child->output);
    *end = crashed ? "crash" : child->end == CHILD_HANG ? "hang" : "compile-error";
    if (child->end == CHILD_HANG)
        return arena_printf(arena, "%s: CPU time", program);
    if (check && !crashed)
        return arena_printf(arena, "%s makes invalid SPIR-V: %s", program,
                            cause_of_log(arena, check + strlen(invalid)));
    if (crashed || child->end != CHILD_EXITED || child->status != 0)
        return arena_printf(arena, "%s: %s", program, cause_of_log(arena, child->output));
    return NULL;
}

/* kernel.spv, optimised and checked again. NULL: well. */
static const char *optimise(struct arena *arena, const char **end)
{
    const char *const words[] = {
        "spirv-opt",  "-O", "--validate-after-all", "--target-env=vulkan1.1",
        "kernel.spv", "-o", "kernel.spv",           NULL};
    *end = "unsupported";
    if (!child_find(arena, "spirv-opt"))
        return "spirv-opt is not installed";
    const struct child_result child = run_words(arena, words);
    return judge(arena, "spirv-opt", &child, end);
}

/* The module of one kernel; NULL: it is answered why not. */
static const char *compile(struct arena *arena, const char *entry, bool optimised, size_t *bytes,
                           struct text *answer)
{
    const char *number = entry + strcspn(entry, "0123456789"), *end;
    const char *const words[] = {"glslangValidator",
                                 "-V",
                                 "--spirv-val",
                                 "--target-env",
                                 "vulkan1.1",
                                 arena_printf(arena, "-DSF_KERNEL=%s", number),
                                 "-o",
                                 "kernel.spv",
                                 "kernel.comp",
                                 NULL};
    (void)remove("kernel.spv");
    const struct child_result child = run_words(arena, words);
    const char *failed = judge(arena, "glslang", &child, &end);
    if (!failed && optimised)
        failed = optimise(arena, &end);
    const char *code = failed ? NULL : child_read(arena, "kernel.spv", CODE_MAX, bytes);
    if (!code)
        served_answer(answer, end, failed ? failed : "glslang wrote nothing", "", 0);
    return code;
}

/* ---- all of it ---- */

static void *load(struct arena *arena, const char *rest, const char **reason)
{
    struct vulkan *vk = ARENA_NEW(arena, struct vulkan);
    *reason = "glslangValidator is not installed";
    if (!glslang_version(arena) || !load_functions(vk, reason))
        return NULL;
    *reason = "libvulkan gives no instance: there is no driver";
    if (!make_instance(vk))
        return NULL;
    *reason = "there is no such device with Vulkan 1.1";
    if (!find_device(vk, rest))
        return NULL;
    *reason = "the device gives no queue or memory";
    return make_device(vk) && make_buffer(vk) && make_layout(vk) && make_commands(vk) ? vk : NULL;
}

static bool has_subgroups(const struct vulkan *vk)
{
    return vk->subgroup.stages & VK_STAGE_COMPUTE &&
           (vk->subgroup.operations & VK_SUBGROUP_ALL) == VK_SUBGROUP_ALL;
}

static void hello(struct arena *arena, void *own, struct text *answer)
{
    const struct vulkan *vk = own;
    const uint32_t api = vk->properties.api_version, driver = vk->properties.driver_version;
    message_put_text(answer, "name", vk->properties.name);
    message_put_text(answer, "version",
                     arena_printf(arena,
                                  "%s, Vulkan %u.%u.%u, %s %s%s%u.%u.%u, subgroups of %u, %s",
                                  vk->properties.name, api >> 22, api >> 12 & 0x3ffu, api & 0xfffu,
                                  vk->driver.name, vk->driver.info, *vk->driver.info ? ", " : "",
                                  driver >> 22, driver >> 12 & 0x3ffu, driver & 0xfffu,
                                  vk->subgroup.size, glslang_version(arena)));
    message_put_text(answer, "language", "glsl");
    message_put_text(answer, "lacks",
                     has_subgroups(vk) ? vk->has_int64 ? "" : "wide"
                     : vk->has_int64   ? "votes"
                                       : "votes,wide");
}

static const char *code_of(struct arena *arena, const char *function, vk_result error)
{
    return arena_printf(arena, "%s: error %d", function, (int)error);
}

/* NULL: *pipeline is there, with *module to be destroyed after it. */
static const char *make_pipeline(struct arena *arena, const struct vulkan *vk, const char *code,
                                 size_t bytes, uint32_t threads, bool plain, vk_handle *module,
                                 vk_handle *pipeline)
{
    const struct vk_module_info source = {.type = VK_TYPE_SHADER_MODULE,
                                          .bytes = bytes,
                                          .code = (const uint32_t *)(const void *)code};
    const struct vk_specialization_entry entry = {.bytes = sizeof threads};
    const struct vk_specialization sizes = {1, &entry, sizeof threads, &threads};
    vk_result error = vk->vkCreateShaderModule(vk->device, &source, NULL, module);
    if (error)
        return code_of(arena, "vkCreateShaderModule", error);
    const struct vk_pipeline_info info = {.type = VK_TYPE_COMPUTE_PIPELINE,
                                          .flags = plain ? VK_PIPELINE_DISABLE_OPTIMIZATION : 0,
                                          .stage = {.type = VK_TYPE_STAGE,
                                                    .stage = VK_STAGE_COMPUTE,
                                                    .module = *module,
                                                    .entry = "main",
                                                    .specialization = &sizes},
                                          .layout = vk->layout};
    error = vk->vkCreateComputePipelines(vk->device, 0, 1, &info, NULL, pipeline);
    return error ? code_of(arena, "vkCreateComputePipelines", error) : NULL;
}

static void record(const struct vulkan *vk, vk_handle pipeline, uint32_t blocks)
{
    const struct vk_memory_barrier barrier = {
        .type = VK_TYPE_MEMORY_BARRIER, .from = VK_ACCESS_SHADER_WRITE, .to = VK_ACCESS_HOST_READ};
    vk->vkCmdBindPipeline(vk->commands, VK_BIND_COMPUTE, pipeline);
    vk->vkCmdBindDescriptorSets(vk->commands, VK_BIND_COMPUTE, vk->layout, 0, 1, &vk->set, 0, NULL);
    vk->vkCmdDispatch(vk->commands, blocks, 1, 1);
    vk->vkCmdPipelineBarrier(vk->commands, VK_AT_COMPUTE, VK_AT_HOST, 0, 1, &barrier, 0, NULL, 0,
                             NULL);
}

/* NULL: it terminated, and the buffer is what it left. */
static const char *launch(struct arena *arena, const struct vulkan *vk, vk_handle pipeline,
                          const struct served_kernel *k)
{
    const struct vk_begin_info begin = {.type = VK_TYPE_BEGIN};
    const struct vk_submit_info submit = {
        .type = VK_TYPE_SUBMIT, .count = 1, .commands = &vk->commands};
    const struct vk_buffer_range range = {.buffer = vk->buffer, .bytes = k->bytes};
    const struct vk_write_info write = {.type = VK_TYPE_WRITE_DESCRIPTOR,
                                        .set = vk->set,
                                        .count = 1,
                                        .kind = VK_DESCRIPTOR_STORAGE_BUFFER,
                                        .buffer = &range};
    memcpy(vk->words, k->memory, k->bytes);
    vk->vkUpdateDescriptorSets(vk->device, 1, &write, 0, NULL);
    vk_result error = vk->vkBeginCommandBuffer(vk->commands, &begin);
    if (error)
        return code_of(arena, "vkBeginCommandBuffer", error);
    record(vk, pipeline, k->blocks);
    error = vk->vkEndCommandBuffer(vk->commands);
    if (error)
        return code_of(arena, "vkEndCommandBuffer", error);
    error = vk->vkQueueSubmit(vk->queue, 1, &submit, 0);
    if (error)
        return code_of(arena, "vkQueueSubmit", error);
    error = vk->vkQueueWaitIdle(vk->queue);
    return error ? code_of(arena, "vkQueueWaitIdle", error) : NULL;
}

/* What the device cannot do for a text, or for a kernel of this shape; NULL: nothing. */
static const char *lacks_operations(const struct vulkan *vk, const char *text)
{
    if (!vk->has_int64 && strstr(text, "int64_t"))
        return "the device lacks integers of 64 bits";
    return !has_subgroups(vk) && strstr(text, "subgroup") ? "the device lacks subgroup operations"
                                                          : NULL;
}

static const char *too_much(const struct vulkan *vk, const struct served_kernel *k)
{
    if (k->bytes > BUFFER_BYTES)
        return "the buffer is too large";
    return k->threads > vk->properties.group_threads ? "a block has too many threads" : NULL;
}

static void run_kernel(struct arena *arena, const struct vulkan *vk, const struct served_kernel *k,
                       const struct wishes *wishes, struct text *answer)
{
    vk_handle module = 0, pipeline = 0;
    size_t bytes;
    const char *code = compile(arena, k->entry, wishes->optimised, &bytes, answer);
    if (!code)
        return;
    const char *failed =
        make_pipeline(arena, vk, code, bytes, k->threads, wishes->plain, &module, &pipeline);
    const char *end = "compile-error";
    if (!failed) {
        end = "run-error";
        failed = launch(arena, vk, pipeline, k);
    }
    if (failed)
        served_answer(answer, end, failed, "", 0);
    else
        served_answer(answer, "final", "", vk->words, k->bytes);
    if (pipeline)
        vk->vkDestroyPipeline(vk->device, pipeline, NULL);
    if (module)
        vk->vkDestroyShaderModule(vk->device, module, NULL);
}

static void run(struct arena *arena, void *own, const struct message *request, struct text *answer)
{
    const char *options = message_text(request, "options", 0);
    const bool plain = strstr(options, "-disable-optimization");
    const struct wishes wishes = {plain, !plain && strstr(options, "-spirv-opt")};
    const char *text = message_text(request, "text", 0);
    const char *unable = child_write("kernel.comp", text) ? lacks_operations(own, text)
                                                          : "the text cannot be written";
    struct served_kernel kernel;
    for (uint32_t i = 0; served_kernel(request, i, &kernel); i++) {
        const char *refusal = unable ? unable : too_much(own, &kernel);
        if (refusal)
            served_answer(answer, "unsupported", refusal, "", 0);
        else
            run_kernel(arena, own, &kernel, &wishes, answer);
    }
}

const struct served served_vulkan = {
    .name = "vulkan",
    .load = load,
    .hello = hello,
    .run = run,
};
