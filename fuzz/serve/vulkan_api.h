/*
 * vulkan_api.h - as much of Vulkan 1.1 as running compute shaders takes, declared here so that building needs no
 * headers; the functions come from libvulkan at run time. Numbers and shapes are those of Khronos' vulkan_core.h.
 */
#ifndef FUZZ_SERVE_VULKAN_API_H
#define FUZZ_SERVE_VULKAN_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct VkInstance_T *vk_instance;
typedef struct VkPhysicalDevice_T *vk_physical;
typedef struct VkDevice_T *vk_device;
typedef struct VkQueue_T *vk_queue;
typedef struct VkCommandBuffer_T *vk_commands;
typedef uint64_t vk_handle; /* of all that is not dispatchable */
typedef int32_t vk_result;

enum {
    VK_TYPE_APPLICATION = 0,
    VK_TYPE_INSTANCE = 1,
    VK_TYPE_DEVICE_QUEUE = 2,
    VK_TYPE_DEVICE = 3,
    VK_TYPE_SUBMIT = 4,
    VK_TYPE_ALLOCATE = 5,
    VK_TYPE_BUFFER = 12,
    VK_TYPE_SHADER_MODULE = 16,
    VK_TYPE_STAGE = 18,
    VK_TYPE_COMPUTE_PIPELINE = 29,
    VK_TYPE_PIPELINE_LAYOUT = 30,
    VK_TYPE_SET_LAYOUT = 32,
    VK_TYPE_DESCRIPTOR_POOL = 33,
    VK_TYPE_DESCRIPTOR_SET = 34,
    VK_TYPE_WRITE_DESCRIPTOR = 35,
    VK_TYPE_COMMAND_POOL = 39,
    VK_TYPE_COMMAND_BUFFER = 40,
    VK_TYPE_BEGIN = 42,
    VK_TYPE_MEMORY_BARRIER = 46,
    VK_TYPE_PROPERTIES_2 = 1000059001,
    VK_TYPE_SUBGROUP_PROPERTIES = 1000094000,
    VK_TYPE_DRIVER_PROPERTIES = 1000196000,

    VK_VERSION_1_1 = 1 << 22 | 1 << 12,
    VK_QUEUE_COMPUTE = 2,
    VK_MEMORY_VISIBLE_COHERENT = 2 | 4,
    VK_BUFFER_STORAGE = 32,
    VK_DESCRIPTOR_STORAGE_BUFFER = 7,
    VK_STAGE_COMPUTE = 32,
    VK_PIPELINE_DISABLE_OPTIMIZATION = 1,
    VK_POOL_RESET = 2, /* command buffers may be recorded again */
    VK_BIND_COMPUTE = 1,
    VK_AT_COMPUTE = 0x800, /* stages of a barrier */
    VK_AT_HOST = 0x4000,
    VK_ACCESS_SHADER_WRITE = 0x40,
    VK_ACCESS_HOST_READ = 0x2000,
    VK_SUBGROUP_ALL = 2 | 4 | 8 | 16, /* vote, arithmetic, ballot, shuffle */
    VK_NAME_BYTES = 256,
    VK_MEMORY_TYPES = 32,
    VK_MEMORY_HEAPS = 16
};

/* What most structures begin with: VK_TYPE_.., and what else is said. */
#define VK_HEAD                                                                                    \
    int32_t type;                                                                                  \
    const void *next

struct vk_application {
    VK_HEAD;
    const char *name;
    uint32_t version;
    const char *engine;
    uint32_t engine_version, api_version;
};

struct vk_instance_info {
    VK_HEAD;
    uint32_t flags;
    const struct vk_application *application;
    uint32_t layers;
    const char *const *layer_names;
    uint32_t extensions;
    const char *const *extension_names;
};

/* VkPhysicalDeviceProperties; of the limits what is asked for. */
struct vk_properties {
    uint32_t api_version, driver_version, vendor, device, device_type;
    char name[VK_NAME_BYTES];
    uint8_t cache_id[16];
    _Alignas(8) uint32_t limits_before[54];
    uint32_t shared_bytes, group_counts[3], group_threads, group_sizes[3];
    uint32_t limits_behind[64], sparse[5];
};

struct vk_properties_2 {
    int32_t type;
    void *next;
    struct vk_properties all;
};

struct vk_subgroup_properties {
    int32_t type;
    void *next;
    uint32_t size, stages, operations, quad_operations;
};

struct vk_driver_properties {
    int32_t type;
    void *next;
    int32_t id;
    char name[VK_NAME_BYTES], info[VK_NAME_BYTES];
    uint8_t conformance[4];
};

/* VkPhysicalDeviceFeatures: truth values. */
enum { VK_FEATURE_INT64 = 40, VK_FEATURES = 55 };

struct vk_features {
    uint32_t has[VK_FEATURES];
};

struct vk_memory_properties {
    uint32_t type_count;
    struct {
        uint32_t flags, heap;
    } types[VK_MEMORY_TYPES];
    uint32_t heap_count;
    struct {
        uint64_t bytes;
        uint32_t flags;
    } heaps[VK_MEMORY_HEAPS];
};

struct vk_queue_family {
    uint32_t flags, count, timestamp_bits, granularity[3];
};

struct vk_queue_info {
    VK_HEAD;
    uint32_t flags, family, count;
    const float *priorities;
};

struct vk_device_info {
    VK_HEAD;
    uint32_t flags, queues;
    const struct vk_queue_info *queue_infos;
    uint32_t layers;
    const char *const *layer_names;
    uint32_t extensions;
    const char *const *extension_names;
    const struct vk_features *features;
};

struct vk_buffer_info {
    VK_HEAD;
    uint32_t flags;
    uint64_t bytes;
    uint32_t usage;
    int32_t sharing;
    uint32_t families;
    const uint32_t *family_indices;
};

struct vk_requirements {
    uint64_t bytes, alignment;
    uint32_t types;
};

struct vk_allocate_info {
    VK_HEAD;
    uint64_t bytes;
    uint32_t memory_type;
};

struct vk_module_info {
    VK_HEAD;
    uint32_t flags;
    size_t bytes;
    const uint32_t *code;
};

struct vk_specialization_entry {
    uint32_t id, offset;
    size_t bytes;
};

struct vk_specialization {
    uint32_t entries;
    const struct vk_specialization_entry *entry;
    size_t bytes;
    const void *data;
};

struct vk_stage_info {
    VK_HEAD;
    uint32_t flags, stage;
    vk_handle module;
    const char *entry;
    const struct vk_specialization *specialization;
};

struct vk_pipeline_info {
    VK_HEAD;
    uint32_t flags;
    struct vk_stage_info stage;
    vk_handle layout, base;
    int32_t base_index;
};

struct vk_layout_info {
    VK_HEAD;
    uint32_t flags, sets;
    const vk_handle *set_layouts;
    uint32_t ranges;
    const void *push_ranges;
};

struct vk_binding {
    uint32_t binding;
    int32_t kind;
    uint32_t count, stages;
    const vk_handle *samplers;
};

struct vk_set_layout_info {
    VK_HEAD;
    uint32_t flags, count;
    const struct vk_binding *bindings;
};

struct vk_pool_size {
    int32_t kind;
    uint32_t count;
};

struct vk_pool_info {
    VK_HEAD;
    uint32_t flags, sets, sizes;
    const struct vk_pool_size *size;
};

struct vk_set_info {
    VK_HEAD;
    vk_handle pool;
    uint32_t count;
    const vk_handle *layouts;
};

struct vk_buffer_range {
    vk_handle buffer;
    uint64_t offset, bytes;
};

struct vk_write_info {
    VK_HEAD;
    vk_handle set;
    uint32_t binding, element, count;
    int32_t kind;
    const void *image;
    const struct vk_buffer_range *buffer;
    const vk_handle *views;
};

struct vk_command_pool_info {
    VK_HEAD;
    uint32_t flags, family;
};

struct vk_commands_info {
    VK_HEAD;
    vk_handle pool;
    int32_t level;
    uint32_t count;
};

struct vk_begin_info {
    VK_HEAD;
    uint32_t flags;
    const void *inheritance;
};

struct vk_memory_barrier {
    VK_HEAD;
    uint32_t from, to;
};

struct vk_submit_info {
    VK_HEAD;
    uint32_t waits;
    const vk_handle *wait;
    const uint32_t *wait_stages;
    uint32_t count;
    const vk_commands *commands;
    uint32_t signals;
    const vk_handle *signal;
};

/* FUNCTION(result, name, parameters); allocators are always NULL. */
#define VULKAN_FUNCTIONS(FUNCTION)                                                                 \
    FUNCTION(vk_result, vkCreateInstance,                                                          \
             (const struct vk_instance_info *, const void *, vk_instance *))                       \
    FUNCTION(vk_result, vkEnumeratePhysicalDevices, (vk_instance, uint32_t *, vk_physical *))      \
    FUNCTION(void, vkGetPhysicalDeviceProperties2, (vk_physical, struct vk_properties_2 *))        \
    FUNCTION(void, vkGetPhysicalDeviceFeatures, (vk_physical, struct vk_features *))               \
    FUNCTION(void, vkGetPhysicalDeviceMemoryProperties,                                            \
             (vk_physical, struct vk_memory_properties *))                                         \
    FUNCTION(void, vkGetPhysicalDeviceQueueFamilyProperties,                                       \
             (vk_physical, uint32_t *, struct vk_queue_family *))                                  \
    FUNCTION(vk_result, vkCreateDevice,                                                            \
             (vk_physical, const struct vk_device_info *, const void *, vk_device *))              \
    FUNCTION(void, vkGetDeviceQueue, (vk_device, uint32_t, uint32_t, vk_queue *))                  \
    FUNCTION(vk_result, vkCreateBuffer,                                                            \
             (vk_device, const struct vk_buffer_info *, const void *, vk_handle *))                \
    FUNCTION(void, vkGetBufferMemoryRequirements,                                                  \
             (vk_device, vk_handle, struct vk_requirements *))                                     \
    FUNCTION(vk_result, vkAllocateMemory,                                                          \
             (vk_device, const struct vk_allocate_info *, const void *, vk_handle *))              \
    FUNCTION(vk_result, vkBindBufferMemory, (vk_device, vk_handle, vk_handle, uint64_t))           \
    FUNCTION(vk_result, vkMapMemory,                                                               \
             (vk_device, vk_handle, uint64_t, uint64_t, uint32_t, void **))                        \
    FUNCTION(vk_result, vkCreateDescriptorSetLayout,                                               \
             (vk_device, const struct vk_set_layout_info *, const void *, vk_handle *))            \
    FUNCTION(vk_result, vkCreatePipelineLayout,                                                    \
             (vk_device, const struct vk_layout_info *, const void *, vk_handle *))                \
    FUNCTION(vk_result, vkCreateDescriptorPool,                                                    \
             (vk_device, const struct vk_pool_info *, const void *, vk_handle *))                  \
    FUNCTION(vk_result, vkAllocateDescriptorSets,                                                  \
             (vk_device, const struct vk_set_info *, vk_handle *))                                 \
    FUNCTION(void, vkUpdateDescriptorSets,                                                         \
             (vk_device, uint32_t, const struct vk_write_info *, uint32_t, const void *))          \
    FUNCTION(vk_result, vkCreateCommandPool,                                                       \
             (vk_device, const struct vk_command_pool_info *, const void *, vk_handle *))          \
    FUNCTION(vk_result, vkAllocateCommandBuffers,                                                  \
             (vk_device, const struct vk_commands_info *, vk_commands *))                          \
    FUNCTION(vk_result, vkCreateShaderModule,                                                      \
             (vk_device, const struct vk_module_info *, const void *, vk_handle *))                \
    FUNCTION(vk_result, vkCreateComputePipelines,                                                  \
             (vk_device, vk_handle, uint32_t, const struct vk_pipeline_info *, const void *,       \
              vk_handle *))                                                                        \
    FUNCTION(vk_result, vkBeginCommandBuffer, (vk_commands, const struct vk_begin_info *))         \
    FUNCTION(void, vkCmdBindPipeline, (vk_commands, int32_t, vk_handle))                           \
    FUNCTION(void, vkCmdBindDescriptorSets,                                                        \
             (vk_commands, int32_t, vk_handle, uint32_t, uint32_t, const vk_handle *, uint32_t,    \
              const uint32_t *))                                                                   \
    FUNCTION(void, vkCmdDispatch, (vk_commands, uint32_t, uint32_t, uint32_t))                     \
    FUNCTION(void, vkCmdPipelineBarrier,                                                           \
             (vk_commands, uint32_t, uint32_t, uint32_t, uint32_t,                                 \
              const struct vk_memory_barrier *, uint32_t, const void *, uint32_t, const void *))   \
    FUNCTION(vk_result, vkEndCommandBuffer, (vk_commands))                                         \
    FUNCTION(vk_result, vkQueueSubmit,                                                             \
             (vk_queue, uint32_t, const struct vk_submit_info *, vk_handle))                       \
    FUNCTION(vk_result, vkQueueWaitIdle, (vk_queue))                                               \
    FUNCTION(void, vkDestroyPipeline, (vk_device, vk_handle, const void *))                        \
    FUNCTION(void, vkDestroyShaderModule, (vk_device, vk_handle, const void *))

#endif
