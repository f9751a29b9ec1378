/*
 * ptx_kernel.h - a kernel given as PTX: a module, the entry to launch, and how.
 *
 * The settings stand in comments at the head of the text; the command line can override them:
 *
 *     // simtfuzz: entry=k blocks=2x2 threads=8x8 warp=32 seed=0x1 shared=1024 bind:n=64
 *     // simtfuzz: bind:a=buffer:256:iota bind:b=f:1.5 raw reg:p=10 reg:r=7,5,3 stack=call,111,10
 *     // expect: race_free, terminates
 *     // expect crs: deadlock
 *
 * threads: 32 in one dimension unless the entry says otherwise (.reqntid, .maxntid); warp: 32; blocks: 1.
 * bind:   a parameter by its name or its number (bind:0=..). A parameter that is not bound gets what
 *         ptx_kernel.notes says.
 * raw:    the text is the report's abstract machine as it stands: nothing is injected, a `ret` of the
 *         entry stays a ret, calls go to labels too, registers hold program addresses (from 1).
 * reg:    initial values of a register of the entry, lane 0 first; a predicate's are a string of 0 and 1;
 *         a single number is that of all lanes. stack: initial tokens of each warp, top first, joined by
 *         `+`: type,mask,address with type sync, div, call or brk and lane 0 leftmost.
 * memory: memory:a=0x400000000000:256:file:a.bin: 256 bytes of global memory at this address, which parameters
 *         and words hold as a number; of a variable of the module: that it lies there. A launch of a host program
 *         is written so.
 * result: result:a=file:b.bin: what the memory `a` held when this launch had ended on a device; `check` compares.
 * bind:   bind:t=texture:f32x4:64x32:wrap:linear:normalized: the handle of a texture or surface, and memory for it.
 * texture: texture:0x7=0x400000000000:u8x4:64x32: the handle 7, or a .texref of this name, is that of a texture whose
 *         first texel lies at this address.
 *         memory:grid_barrier=ADDRESS:8 makes the launch cooperative: grid.sync() waits there.
 * blocks: blocks=196/32+16: 16 of 196 blocks, from number 32 on; only they run.
 * init:   init:a=1,2,3: first words of a variable in shared memory (which PTX cannot initialise).
 *
 * Such a kernel is an ast_kernel of FORM_PTX: its launch, its expects, and a variable for each of the
 * module's variables in global and shared memory and for each buffer (in the order of their layout), so
 * that stores, witnesses and claims work as for every other form. It has no functions and no main.
 */
#ifndef ENGINE_PTX_KERNEL_H
#define ENGINE_PTX_KERNEL_H

#include "engine/language/ast.h"
#include "engine/ptx/ptx.h"

enum ptx_bind_kind {
    PTX_BIND_VALUE,
    PTX_BIND_BUFFER, /* buffer:BYTES.. : the address of a buffer in global memory */
    PTX_BIND_SHARED, /* shared:BYTES: of memory that each block has, as OpenCL's local pointers */
    PTX_BIND_CONST,  /* buffer:BYTES.. of a parameter that points to constant space */
    PTX_BIND_WORDS   /* words:1,2,3: the first words of a struct; the others are 0 */
};
enum ptx_fill {
    PTX_FILL_ZERO,
    PTX_FILL_IOTA,
    PTX_FILL_RANDOM,
    PTX_FILL_FILE,
    PTX_FILL_ALL /* each word is bind.value */
};

struct ptx_bind { /* bind:PARAM=VALUE */
    const char *parameter;
    enum ptx_bind_kind kind;
    uint64_t value; /* the bits, of the parameter's size */
    uint32_t bytes; /* of a buffer, of shared memory */
    enum ptx_fill fill;
    const char *path;    /* PTX_FILL_FILE */
    const uint8_t *data; /* what the file holds: data_bytes, not more than `bytes` */
    uint32_t data_bytes;
    const struct ptx_values *words;    /* PTX_BIND_WORDS */
    uint64_t address;                  /* memory, texture: where it lies */
    const struct ptx_texture *texture; /* texture:, and bind: of a buffer that is one; else NULL */
    struct ast_var *var;               /* memory: what it is; NULL: a variable of constants */
    const char *text;                  /* the VALUE as written, for printing */
    struct location at;
    struct ptx_bind *next;
};

struct ptx_values { /* reg:, init: */
    const char *name;
    struct location at;
    uint32_t count;
    uint64_t *values;
    const char *text;
    struct ptx_values *next;
};

struct ptx_token_init { /* stack= */
    uint32_t type;      /* enum crs_token_type */
    uint64_t mask;
    uint32_t pc;
};

/* A parameter of the entry and what it is, given or assumed. */
struct ptx_argument {
    const struct ptx_variable *parameter;
    struct ptx_bind bind;
    struct ast_var *buffer; /* PTX_BIND_BUFFER, _SHARED; a buffer of constants is no variable */
};

struct ptx_kernel {
    const struct ptx_module *module;   /* not written to once it was read: copies share it */
    const struct ptx_module *injected; /* ptx_inject's answer, of who asked before; NULL: nobody */
    const struct ptx_function *entry;
    /* Dimensions; launch.threads and launch.blocks are the products, unless a window of the grid is given: then
     * launch.blocks = window blocks run, from number first_block on. */
    uint32_t block[3], grid[3];
    uint32_t window, first_block;
    uint32_t cluster[3]; /* blocks of a cluster */
    bool cluster_given;
    bool
        whole; /* the window is as much of the grid as a case has: who can runs all of it (oracle/launch) */
    uint32_t shared_bytes; /* dynamic shared memory */
    bool shared_given;
    bool raw;
    struct ptx_bind *memory;   /* memory: placed buffers and variables */
    struct ptx_bind *textures; /* texture: handles, or variables; the data lie at `address` */
    struct ptx_bind *results;  /* result: bytes of these behind the launch, as a device left them */
    struct ptx_bind *binds;    /* given ones; the others get defaults, and a note says so */
    uint32_t argument_count;
    struct ptx_argument *arguments; /* of the entry, in order */
    struct ptx_values *registers;
    struct ptx_values *init;
    uint32_t token_count;
    struct ptx_token_init *tokens; /* top first */
    const char *notes;             /* what was assumed: "parameter 'n' is 16; ..."; NULL: nothing */
};

/* Whether a text is PTX rather than the kernel language: its first word behind comments starts with a
 * dot. */
bool ptx_is_ptx(const char *text, size_t length);

/* Parses text with its head comments. NULL: errors in diag. parse_kernel does it when ptx_is_ptx. */
struct ast_kernel *ptx_kernel_parse(struct arena *arena, const char *text, size_t length,
                                    struct diag *diag);

/* The same with more settings ("entry=k bind:n=3", or NULL), which override those of the text. */
struct ast_kernel *ptx_kernel_parse_with(struct arena *arena, const char *text, size_t length,
                                         const char *settings, struct diag *diag);

/* A kernel from a module made otherwise (lower_ptx, generators); settings as in the head comments, may
 * be "". NULL: errors in diag. */
struct ast_kernel *ptx_kernel_new(struct arena *arena, const struct ptx_module *module,
                                  const char *settings, struct diag *diag);

/* Overrides settings ("threads=8x8 bind:n=3"); false: errors in diag. */
bool ptx_kernel_set(struct arena *arena, struct ast_kernel *kernel, const char *settings,
                    struct diag *diag);

/* The dimensions of the launch: those of the settings unless the launch has been changed since, then one
 * dimension. */
void ptx_kernel_dimensions(const struct ast_kernel *kernel, uint32_t block[3], uint32_t grid[3]);

/* ---- clusters: blocks by their numbers in the grid ---- */

enum { PTX_CLUSTER_MOST = 16 };

static inline uint32_t ptx_cluster_size(const struct ptx_kernel *ptx)
{
    return ptx->cluster[0] * ptx->cluster[1] * ptx->cluster[2];
}

/* A component of which cluster the block is of, or of its place in there. */
static inline uint32_t ptx_cluster_element(const struct ptx_kernel *ptx, uint32_t block,
                                           char element, bool which)
{
    const uint32_t *g = ptx->grid, *c = ptx->cluster;
    const uint32_t at[] = {block % g[0], block / g[0] % g[1], block / g[0] / g[1]};
    const uint32_t i = (uint32_t)(element - 'x') % 3;
    return which ? at[i] / c[i] : at[i] % c[i];
}

static inline uint32_t ptx_cluster_rank(const struct ptx_kernel *ptx, uint32_t block)
{
    const uint32_t x = ptx_cluster_element(ptx, block, 'x', false);
    const uint32_t y = ptx_cluster_element(ptx, block, 'y', false);
    const uint32_t z = ptx_cluster_element(ptx, block, 'z', false);
    return x + ptx->cluster[0] * (y + ptx->cluster[1] * z);
}

/* How far the block of this rank lies behind its cluster's first one. */
static inline uint32_t ptx_cluster_offset(const struct ptx_kernel *ptx, uint32_t rank)
{
    const uint32_t *g = ptx->grid, *c = ptx->cluster;
    return rank % c[0] + g[0] * (rank / c[0] % c[1] + g[1] * (rank / c[0] / c[1]));
}

/* The block of this rank in the block's cluster. */
static inline uint32_t ptx_cluster_block(const struct ptx_kernel *ptx, uint32_t block,
                                         uint32_t rank)
{
    return block - ptx_cluster_offset(ptx, ptx_cluster_rank(ptx, block)) +
           ptx_cluster_offset(ptx, rank);
}

/* Words that all variables together may take. */
static inline uint32_t ptx_kernel_memory_limit(const struct ptx_kernel *ptx)
{
    return ptx && ptx->memory ? LIMIT_PLACED_WORDS : LIMIT_MEMORY_WORDS;
}

uint32_t ptx_texel_bytes(const struct ptx_texture *texture);
uint64_t ptx_texture_bytes(const struct ptx_texture *texture);

/* What `memory:` says of this variable of the module; NULL: nothing. */
const struct ptx_bind *ptx_kernel_placed(const struct ptx_kernel *ptx, const char *name);

/* An entry that CUB and Thrust declare for compilers; nobody means it. */
bool ptx_does_nothing(const struct ptx_function *entry);

/* ---- grids that wait for all their blocks ---- */

/* A launch is cooperative if it has memory of this name (memory:grid_barrier=ADDRESS:8), zero at first. */
#define PTX_GRID_BARRIER "grid_barrier"
enum { PTX_GRID_BARRIER_BYTES = 8 };

/* Whether the entry, or a function that it reaches, asks where that memory lies. */
bool ptx_waits_for_grid(struct arena *arena, const struct ptx_module *module,
                        const struct ptx_function *entry);
/* Where it lies: upper half in %envreg1, lower half in %envreg2; 0: the launch is not cooperative. */
uint64_t ptx_grid_address(const struct ptx_kernel *ptx);

/* Instructions of the module's functions. */
uint32_t ptx_kernel_size(const struct ast_kernel *kernel);

/* Whether lanes of a warp do something together: vote, shfl, match, redux, activemask, bar.warp.sync. */
bool ptx_kernel_has_meetings(const struct ast_kernel *kernel);

/* The canonical text: head comments, expectations, module. */
char *ptx_kernel_print(struct arena *arena, const struct ast_kernel *kernel);

/* Fills in the values that the text of reg: or init: gives: "1,2,-3", or of predicates "0110". False: it
 * does not. */
bool ptx_settings_values(struct arena *arena, struct ptx_values *values, bool are_predicates);

#endif
