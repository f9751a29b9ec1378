/*
 * host_launches.c - launches that are drawn: grids and blocks of one to three dimensions, parameters by name and by
 * number, shared memory that a launch states, variables that no launch gives; whose results are known. And launches
 * that cannot be, each with what is said of it.
 */
#include "oracle/device/host_follow.h"
#include "oracle/device/host_tiny.h"

#include "engine/base/text.h"

#include <string.h>

enum {
    STEPS = 1 << 15,
    BLOCKS = 8,
    THREADS = 6,
    MANY = 144, /* blocks of one thread: as many words as the buffer has */
    MANY_SHARE = 8,
    LAUNCHES = 3,
    KERNELS = 2,
    SUMS = 4 /* words of the second buffer */
};

/* Each thread writes c to its place in x, numbered as the launch is: dimension x first; the first thread of each block
 * adds 1 to two variables of the kernel, and the last word of what shared memory is stated, to the second buffer. The
 * first thread of all adds what the last byte of a third one holds, and leaves c there. */
#define KERNEL(name)                                                                               \
    "kernel " name "\n// simtfuzz: warp=4\n.version 7.5\n.target sm_70\n.address_size 64\n"        \
    ".global .u32 held = 5;\n.global .u32 kept[2] = {6, 7};\n"                                     \
    ".global .u8 odd[5] = {1, 2, 3, 4, 8};\n.extern .shared .u32 room[];\n"                        \
    ".entry k(.param .u64 x, .param .u32 c, .param .u64 y)\n{\n"                                   \
    "    .reg .u64 %x, %y, %w;\n    .reg .u32 %a, %b, %n, %i, %c;\n    .reg .pred %p;\n"           \
    "    ld.param.u64 %x, [x];\n    ld.param.u32 %c, [c];\n    ld.param.u64 %y, [y];\n"            \
    "    mov.u32 %i, %ctaid.z;\n    mov.u32 %n, %nctaid.y;\n    mov.u32 %a, %ctaid.y;\n"           \
    "    mad.lo.u32 %i, %i, %n, %a;\n    mov.u32 %n, %nctaid.x;\n    mov.u32 %a, %ctaid.x;\n"      \
    "    mad.lo.u32 %i, %i, %n, %a;\n"                                                             \
    "    mov.u32 %b, %tid.z;\n    mov.u32 %n, %ntid.y;\n    mov.u32 %a, %tid.y;\n"                 \
    "    mad.lo.u32 %b, %b, %n, %a;\n    mov.u32 %n, %ntid.x;\n    mov.u32 %a, %tid.x;\n"          \
    "    mad.lo.u32 %b, %b, %n, %a;\n"                                                             \
    "    mov.u32 %a, %ntid.y;\n    mul.lo.u32 %n, %n, %a;\n    mov.u32 %a, %ntid.z;\n"             \
    "    mul.lo.u32 %n, %n, %a;\n    mad.lo.u32 %i, %i, %n, %b;\n"                                 \
    "    mul.wide.u32 %w, %i, 4;\n    add.u64 %w, %x, %w;\n    st.global.u32 [%w], %c;\n"          \
    "    setp.ne.u32 %p, %b, 0;\n    @%p bra Out;\n"                                               \
    "    st.shared.u32 [room], %c;\n    red.global.add.u32 [held], 1;\n"                           \
    "    ld.shared.u32 %a, [room];\n    red.global.add.u32 [%y], %a;\n"                            \
    "    ld.volatile.global.u32 %a, [held];\n    red.global.max.u32 [%y+4], %a;\n"                 \
    "    atom.global.add.u32 %a, [kept+4], 1;\n    red.global.max.u32 [%y+8], %a;\n"               \
    "    setp.ne.u32 %p, %i, 0;\n    @%p bra Out;\n    ld.global.u8 %a, [odd+4];\n"                \
    "    red.global.add.u32 [%y+12], %a;\n    st.global.u8 [odd+4], %c;\nOut:\n    exit;\n}\n"     \
    "end\n"

static const char kernel[] = KERNEL("k");
static const char kernels[] = KERNEL("k") KERNEL("q");

static uint32_t below(struct pcg *rng, uint32_t n)
{
    return pcg_below(rng, n);
}

/* One to three dimensions; how many there are in all, at most so many. */
static uint32_t put_dimensions(struct text *text, struct pcg *rng, const char *key, uint32_t most)
{
    uint32_t product = 1;
    for (uint32_t i = 0, count = 1 + below(rng, 3); i < count; i++) {
        uint32_t size = 1 + below(rng, 3);
        size = product * size > most ? 1 : size;
        product *= size;
        text_format(text, "%s%u", i ? "x" : key, (unsigned)size);
    }
    return product;
}

struct made {
    uint32_t kernel, words, blocks, value;
};

/* Into buffers `x` and `y` of the context that is used. `many`: of more blocks than a word has bits. */
static struct made put_launch(struct text *text, struct pcg *rng, bool many, const char *x,
                              const char *y)
{
    static const char *const names[][3] = {{"x", "c", "y"}, {"0", "1", "2"}, {"x", "1", "y"}};
    const char *const *name = names[below(rng, 3)];
    struct made made = {.kernel = below(rng, KERNELS), .value = 1 + below(rng, 9)};
    text_format(text, "launch %c", "kq"[made.kernel]);
    if (many) {
        made.words = made.blocks = MANY - below(rng, MANY / 2);
        text_format(text, " grid=%u block=1", (unsigned)made.blocks);
    } else {
        made.blocks = put_dimensions(text, rng, " grid=", BLOCKS);
        made.words = made.blocks * put_dimensions(text, rng, " block=", THREADS);
    }
    text_format(text, " shared=%u %s=%s %s=%u %s=%s\n", (unsigned)(4 + 4 * below(rng, 4)), name[0],
                x, name[1], (unsigned)made.value, name[2], y);
    return made;
}

/* The buffer holds what the last one of these launches has written to each word, or what it began with. */
static uint32_t expected_at(const struct made *made, uint32_t count, uint32_t word)
{
    uint32_t value = 77;
    for (uint32_t i = 0; i < count; i++)
        value = word < made[i].words ? made[i].value : value;
    return value;
}

static void put_expected(struct text *text, const char *buffer, const struct made *made,
                         uint32_t count)
{
    text_format(text, "expect %s == {", buffer);
    for (uint32_t w = 0; w < MANY; w++)
        text_format(text, "%s%u", w ? ", " : "", (unsigned)expected_at(made, count, w));
    text_put(text, "}\n");
}

/* Some words are copied up or down onto others of the buffer: what is read is there before anything is written. */
static void put_copy(struct text *text, struct pcg *rng, const char *buffer,
                     const struct made *made, uint32_t count)
{
    uint32_t from = below(rng, 5), into = below(rng, 5), words = 8 + below(rng, 8);
    text_format(text, "copy %s -> %s from=%u into=%u count=%u\nexpect %s[%u] == {", buffer, buffer,
                (unsigned)from, (unsigned)into, (unsigned)words, buffer, (unsigned)into);
    for (uint32_t w = 0; w < words; w++)
        text_format(text, "%s%u", w ? ", " : "", (unsigned)expected_at(made, count, from + w));
    text_put(text, "}\n");
}

/* What the blocks have added to the second buffer, and to each kernel's variables, which began with 5, 7 and 8. */
static void put_sums(struct text *text, const char *buffer, const struct made *made, uint32_t count)
{
    uint32_t sum = 0, bytes = 0, most = 0, blocks[KERNELS] = {0}, byte[KERNELS] = {8, 8};
    for (uint32_t i = 0; i < count; i++) {
        sum += made[i].blocks * made[i].value;
        blocks[made[i].kernel] += made[i].blocks;
        bytes += byte[made[i].kernel];
        byte[made[i].kernel] = made[i].value;
    }
    for (uint32_t k = 0; k < KERNELS; k++)
        most = blocks[k] > most ? blocks[k] : most;
    text_format(text, "expect %s == {%u, %u, %u, %u}\n", buffer, (unsigned)sum,
                (unsigned)(5 + most), (unsigned)(7 + most - 1), (unsigned)bytes);
}

/* Launches of one kernel in one context share its variables; others have their own. */
static const char *draw_program(struct arena *arena, struct pcg *rng, bool many)
{
    struct text text = text_begin(arena);
    struct made made[LAUNCHES];
    const uint32_t count = 1 + below(rng, 2);
    text_put(&text, kernels);
    text_format(&text, "buffer a[%d] = all 77\nbuffer b[%d]\n", MANY, SUMS);
    for (uint32_t i = 0; i < count; i++)
        made[i] = put_launch(&text, rng, many && i == 0, "a", "b");
    text_put(&text, "sync\n");
    put_expected(&text, "a", made, count);
    put_sums(&text, "b", made, count);
    put_copy(&text, rng, "a", made, count);
    if (below(rng, 2))
        return text.bytes;
    text_format(&text, "context o\nbuffer e[%d]\nbuffer d[%d] = all 77\n", SUMS, MANY);
    made[0] = put_launch(&text, rng, false, "d", "e");
    text_put(&text, "sync\n");
    put_expected(&text, "d", made, 1);
    put_sums(&text, "e", made, 1);
    return text.bytes;
}

/* Devices on which launches of a stream keep their order: few and many places, and more than there are numbers for. */
static const char *draw_device(struct arena *arena, struct pcg *rng, bool many)
{
    static const char *const more[] = {
        "",          " residency=crowded", " residency=crowded pick=any",
        " pick=any", " occupancy=context", " switch=sticky"};
    if (!many && below(rng, 4) == 0)
        return arena_printf(arena, "coherent memory=caches sms=%u blocks=%u lines=%u words=%u",
                            (unsigned)(1 + below(rng, 3)), (unsigned)(1 + below(rng, 3)),
                            (unsigned)(1 + below(rng, 5)), 1u << below(rng, 4));
    uint32_t sms = 1 + below(rng, 4), blocks = 1 + below(rng, below(rng, 3) ? 4 : 64);
    return arena_printf(arena, "sms=%u blocks=%u%s%s", (unsigned)sms, (unsigned)blocks,
                        more[below(rng, 6)], below(rng, 4) ? "" : " threads=7");
}

static struct device *make_device(struct arena *arena, const char *program, const char *settings,
                                  struct diag *diag)
{
    struct device_options options = DEVICE_SC;
    const char *why;
    diag_init(diag, "launches", program, strlen(program));
    const struct host_program *p = host_parse(arena, "launches", program, strlen(program), diag);
    return p && device_set(arena, &options, settings, &why) ? device_new(arena, p, &options, diag)
                                                            : NULL;
}

static const char *compare_results(struct arena *arena, struct pcg *rng)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const bool many = below(rng, MANY_SHARE) == 0;
    const char *program = draw_program(arena, rng, many), *settings = draw_device(arena, rng, many),
               *differs;
    struct device *device = make_device(arena, program, settings, diag);
    struct device_schedule schedule = {.order = below(rng, 2) ? ORDER_TURNS : ORDER_RANDOM,
                                       .budget = STEPS,
                                       .seed = pcg_next(rng)};
    uint32_t line;
    if (!device)
        return arena_printf(arena, "launches are refused: %s", diag->entries[0].text);
    struct host_follow *follow = host_follow_watch(arena, device);
    enum device_end end = host_follow_run(device, follow, &schedule, &differs, &line);
    if (follow)
        host_follow_leave(follow);
    if (!differs && (end != END_DONE || device->head->failed))
        differs = arena_printf(arena, "launches come to other results on `%s`: %s", settings,
                               program + sizeof kernels - 1);
    return differs;
}

/* ---- how many blocks may be there together ---- */

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* docs/host.md, "The device": what an SM holds, of as many blocks and threads as can be run. */
static const char *compare_slots(struct arena *arena, struct pcg *rng)
{
    static const uint32_t sizes[] = {1, 2, 32, 64, 65, 100, 1024};
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const bool crowded = below(rng, 3) == 0;
    uint32_t threads = sizes[below(rng, 7)], sms = 1 + below(rng, 4), held = 1 + below(rng, 40),
             grid = 1 + below(rng, 150), room = threads + below(rng, 5) * below(rng, 200);
    struct device *device =
        make_device(arena,
                    arena_printf(arena,
                                 "kernel m\nlaunch(threads = 1);\nkernel m() {\n}\nend\n"
                                 "launch m grid=%u block=%u\n",
                                 (unsigned)grid, (unsigned)threads),
                    arena_printf(arena, "sms=%u blocks=%u threads=%u residency=%s", (unsigned)sms,
                                 (unsigned)held, (unsigned)room, crowded ? "crowded" : "kept"),
                    diag);
    uint32_t most = crowded ? LIMIT_BLOCKS : least(LIMIT_BLOCKS, sms * least(held, room / threads));
    most = least(grid, least(most, LIMIT_TOTAL_THREADS / threads));
    if (device && device->grids[0].slots == most)
        return NULL;
    return arena_printf(arena, "a launch of %u blocks of %u threads has room for %u, not %u",
                        (unsigned)grid, (unsigned)threads,
                        device ? (unsigned)device->grids[0].slots : 0, (unsigned)most);
}

/* ---- launches that cannot be ---- */

static const char others[] =
    "kernel m\nlaunch(threads = 1);\nglobal int x[2];\nglobal int y[1];\nkernel m() {\n x[0] = "
    "y[0];\n}\nend\nbuffer a[2]\nbuffer b[1]\n";
#define DIMENSIONS "a kernel of the kernel language has grids and blocks of one dimension"
#define UNKNOWN(name) "the kernel has no parameter and no global variable '" name "'"
static const struct {
    const char *launch, *says; /* NULL: it can be */
} launches[] = {
    {"m grid=1 block=1 x=a y=b", NULL},
    {"m", NULL},
    {"m grid=1x1x1 block=1x1x1 x=a", NULL},
    {"m grid=1x2", DIMENSIONS},
    {"m grid=1x1x2", DIMENSIONS},
    {"m block=1x2", DIMENSIONS},
    {"m block=1x1x2", DIMENSIONS},
    {"m x=3 y=b", "'x' is a variable: it takes a buffer"},
    {"m z=a", "the kernel has no global variable 'z'"},
    {"m x=b y=a", "'x' has 2 words, buffer 'b' 1"},
    {"m x=a y=a", "'x' and 'y' are one buffer"},
    {"m block=1024", NULL},
    {"m block=1025", "too large: a block of 1025 threads; 1024 are the most"},
    {"k grid=1 block=1 x=a c=1 y=b", NULL},
    {"k grid=1 block=1 x=a c=1 y=a", NULL},
    {"k grid=1 block=1 held=b x=a c=1 y=a", NULL},
    {"k grid=1 block=1 0=a 1=0x10 2=b", NULL},
    {"k grid=1 block=1 x=a c=1", "parameter 'y' is not given"},
    {"k grid=1 block=1 c=1 y=a", "parameter 'x' is not given"},
    {"k grid=1 block=1 x=a c=1 y=b q=a", UNKNOWN("q")},
    {"k grid=1 block=1 x=a c=1 y=b 3=a", UNKNOWN("3")},
    {"k grid=1 block=1 x=a c=1 y=b room=a", UNKNOWN("room")},
    {"k grid=1 block=1 x=a c=b y=b", "parameter 'c' has 4 bytes: it takes no buffer"},
    {"k grid=1 block=1 x=a c=1 y=b held=b", "buffer 'b' is given twice"},
    {"k grid=1 block=1 x=a c=1 y=b held=7", "'held' is a variable: it takes a buffer"},
};
enum { ROWS = sizeof launches / sizeof *launches };

static const char *compare_refusal(struct arena *arena, uint32_t row)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const char *launch = launches[row].launch, *says = launches[row].says;
    struct device *device = make_device(
        arena, arena_printf(arena, "%s%slaunch %s\n", kernel, others, launch), "", diag);
    if (!device == (says != NULL) &&
        (device || strcmp(diag->entries[0].text,
                          arena_printf(arena, "launch of '%c': %s", launch[0], says)) == 0))
        return NULL;
    return arena_printf(arena, "of `launch %s` this is said: %s", launch,
                        device ? "nothing" : diag->entries[0].text);
}

/* ---- instructions that no memory program is for ---- */

/* cuda-crs 4 has ld, st and atom, of one value; what came later runs over no caches. */
static const struct {
    const char *instruction, *name; /* NULL: it can be */
} instructions[] = {
    {"ld.global.v2.u32 {%a, %b}, [%x]", NULL},
    {"atom.global.add.u32 %a, [%x], 1", NULL},
    {"fence.acq_rel.gpu", NULL},
    {"vote.sync.any.pred %p, %p, 1", NULL},
    {"bar.red.popc.u32 %a, 0, %p", NULL},
    {"cp.async.ca.shared.global [s], [%x], 4", "cp"},
    {"cp.async.wait_all", "cp"},
    {"cp.async.commit_group", "cp"},
    {"mbarrier.init.shared.b64 [s], 1", "mbarrier"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%a}, [s]", "ldmatrix"},
    {"atom.global.add.v2.f32 {%f, %g}, [%x], {%f, %g}", "atom"},
    {"sust.b.1d.b32.trap [h, {%a}], {%b}", "sust"},
    {"suld.b.1d.b32.trap {%b}, [h, {%a}]", "suld"},
    {"barrier.cluster.arrive.aligned", NULL},
};
enum { INSTRUCTIONS = sizeof instructions / sizeof *instructions };

static const char *compare_caches(struct arena *arena, uint32_t row)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const char *instruction = instructions[row].instruction, *name = instructions[row].name;
    const char *program = arena_printf(
        arena,
        "kernel c\n// simtfuzz: warp=32\n.version 8.1\n.target sm_90\n.address_size 64\n"
        ".global .surfref h;\n.entry c(.param .u64 p)\n{\n    .shared .align 16 .u32 s[64];\n"
        "    .reg .u64 %%x;\n    .reg .u32 %%a, %%b;\n    .reg .f32 %%f, %%g;\n"
        "    .reg .pred %%p;\n    ld.param.u64 %%x, [p];\n    %s;\n    exit;\n}\nend\n"
        "buffer a[4]\nlaunch c grid=1 block=1 0=a\n",
        instruction);
    const char *says =
        arena_printf(arena, "unsupported instruction '%s' over caches", name ? name : "");
    struct device *device = make_device(arena, program, "printed memory=caches", diag);
    bool same = name ? !device && strstr(diag->entries[0].text, says) : device != NULL;
    return same ? NULL
                : arena_printf(arena, "of `%s` over caches this is said: %s", instruction,
                               device ? "nothing" : diag->entries[0].text);
}

const char *host_launches_differ(struct arena *arena, struct pcg *rng)
{
    const char *differs = compare_results(arena, rng);
    if (!differs && below(rng, 4) == 0)
        differs = compare_slots(arena, rng);
    if (!differs)
        differs = compare_caches(arena, below(rng, INSTRUCTIONS));
    return differs ? differs : compare_refusal(arena, below(rng, ROWS));
}
