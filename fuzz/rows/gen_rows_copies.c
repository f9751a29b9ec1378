/*
 * Copies that are under way, stores and reductions that an mbarrier hears of: their rows of the table, between areas
 * that nothing else accesses, in the own block or another one of the cluster; groups, waits, and reads of what was
 * copied, seldom too early.
 */
#include "fuzz/rows/gen_rows_internal.h"

#include <inttypes.h>
#include <string.h>

enum { UNIT = 16 /* bytes of bulk copies */ };

void rows_put_copy_variables(struct rows_gen *r)
{
    const uint32_t threads = r->g->kernel->launch.threads, blocks = r->blocks ? r->blocks : 1;
    PUT(r, ".shared .align 16 .b8 kept[%" PRIu32 "];\n.global .align 16 .b8 given[%" PRIu32 "];\n",
        ROWS_AREA * threads, ROWS_AREA * threads * blocks);
}

/* The lane's areas, behind rows_put_places: they lie as its others do; and where they lie in another block. */
void rows_put_copy_places(struct rows_gen *r)
{
    PUT(r, "\t.reg .b64 ka, kg, kc, oc;\n\tmov.u64 ka, shr;\n\tsub.u64 ka, sa, ka;\n"
           "\tmov.u64 kg, kept;\n"
           "\tadd.u64 ka, ka, kg;\n\tmov.u64 kg, out;\n\tsub.u64 kg, ga, kg;\n"
           "\tmov.u64 e, given;\n\tadd.u64 kg, kg, e;\n\tst.global.v2.b64 [kg], {w0, w1};\n"
           "\tst.global.v2.b32 [kg+40], {r0, r1};\n");
    if (r->cluster[0])
        PUT(r, "\tmapa.shared::cluster.u64 kc, ka, rank;\n%s",
            r->objects ? "\tmapa.shared::cluster.u64 oc, mo, rank;\n" : "");
}

/* ---- operands ---- */

static bool is_heard(const struct rows_making *m)
{
    return m->i.words[PTX_SLOT_SYNC] == PTX_W_MBARRIER_TX;
}

static bool is_store(const struct rows_making *m)
{
    return ptx_forms[m->i.form].opcode != PTX_OP_CP;
}

/* So many bytes it copies; the first operand draws them. */
static uint32_t draw_bytes(struct rows_making *m)
{
    static const uint32_t sizes[] = {4, 8, 16};
    if (is_store(m))
        return rows_elements(m) * ptx_type_of((enum ptx_word)m->i.words[PTX_SLOT_TYPE]).bits / 8;
    if (m->i.form != PTX_FORM_CP_ASYNC)
        return UNIT * (1 + gen_below(m->r->g, 2));
    return m->i.words[PTX_SLOT_CACHE] == PTX_W_CG ? UNIT : sizes[gen_below(m->r->g, 3)];
}

/* Somewhere in an area, aligned as it must be; seldom half of it in the next lane's, or behind the variable. */
static struct ptx_operand *place(struct rows_making *m, const char *area)
{
    const uint32_t bytes = m->copied < UNIT ? m->copied : UNIT;
    struct ptx_operand *o = rows_operand(m, PTX_OPERAND_ADDRESS, area);
    const uint32_t beyond = gen_chance(m->r->g, 2) ? m->copied / 2 / bytes : 0;
    o->value = bytes * gen_below(m->r->g, (ROWS_AREA - m->copied) / bytes + 1 + beyond);
    return o;
}

/* Of the block that is written to, as a rule; its phase awaits the bytes. What a mask names gets them from all
 * blocks. */
static struct ptx_operand *object(struct rows_making *m)
{
    const struct rows_gen *r = m->r;
    const bool far = gen_chance(r->g, 2) ? !m->is_far && r->cluster[0] : m->is_far;
    const bool multicast = m->i.words[PTX_SLOT_PART] == PTX_W_MULTICAST && r->cluster[0];
    const uint32_t times = multicast ? rows_cluster_size(r) : 1;
    const struct ptx_operand *guard = m->i.guard;
    if (m->i.form == PTX_FORM_CP_ARRIVE) {
        const bool generic = m->i.words[PTX_SLOT_SPACE] == PTX_W_NONE;
        return rows_operand(m, PTX_OPERAND_ADDRESS, generic ? "go" : "mo");
    }
    if (guard)
        text_format(&m->before, "\t@%s%s ", guard->negated ? "!" : "", guard->name);
    text_format(&m->before, "\tmbarrier.expect_tx.relaxed.%s.b64 [%s], %" PRIu32 ";\n",
                far ? "cluster.shared::cluster" : "cta.shared::cta", far ? "oc" : "mo",
                gen_chance(r->g, 95) ? times * m->copied : m->copied / 2);
    return rows_operand(m, PTX_OPERAND_ADDRESS, far ? "oc" : "mo");
}

/* Where it goes to, where it comes from, who hears of it. */
static struct ptx_operand *address(struct rows_making *m)
{
    const bool first = !m->i.operands, second = !first && !m->i.operands->next;
    const bool own = m->i.form == PTX_FORM_CP_ASYNC || m->i.words[PTX_SLOT_PART] == PTX_W_MULTICAST;
    const bool from_global = m->i.words[PTX_SLOT_NC] == PTX_W_GLOBAL;
    if (m->i.form == PTX_FORM_CP_ARRIVE)
        return object(m);
    if (m->i.form == PTX_FORM_CP_BULK_PREFETCH)
        return place(m, "kg");
    if (first && (own || is_heard(m))) {
        m->is_far = !own && m->i.words[PTX_SLOT_SPACE] == PTX_W_SHARED_CLUSTER &&
                    m->r->cluster[0] && gen_chance(m->r->g, 60);
        return place(m, m->is_far ? "kc" : "ka");
    }
    if (first)
        return place(m, "kg");
    if (second && !is_store(m))
        return place(m, from_global && (own || is_heard(m)) ? "kg" : "ka");
    return object(m);
}

/* Which blocks get it: the same of all lanes; seldom one that is not there. */
static struct ptx_operand *blocks(struct rows_making *m)
{
    const struct rows_gen *r = m->r;
    const uint32_t size = r->cluster[0] ? rows_cluster_size(r) : 1;
    const uint32_t all = (1u << (size + gen_chance(r->g, 3))) - 1;
    struct ptx_operand *o = rows_register_number(m, 16, 7);
    text_format(&m->before, "\tmov.u16 %s, %" PRIu32 ";\n", o->name,
                gen_chance(r->g, 50) ? all : gen_below(r->g, all + 1));
    return o;
}

/* Of cp.async it says how many bytes are read. */
static struct ptx_operand *count(struct rows_making *m)
{
    struct gen *g = m->r->g;
    uint32_t bytes = m->copied;
    if (m->i.form == PTX_FORM_CP_ASYNC)
        bytes = gen_below(g, bytes + 3);
    else if (gen_chance(g, 1))
        bytes = gen_chance(g, 50) ? 0 : bytes - 4;
    if (gen_chance(g, 50))
        return rows_integer(m, bytes);
    struct ptx_operand *o = rows_register_of(m, 32);
    text_format(&m->before, "\tmov.u32 %s, %" PRIu32 ";\n", o->name, bytes);
    return o;
}

struct ptx_operand *rows_copy_operand(struct rows_making *m, const struct ptx_item_pattern *item)
{
    const bool needs_object = is_heard(m) || m->i.form == PTX_FORM_CP_ARRIVE;
    m->wrong |= needs_object && !m->r->objects;
    m->copied = m->i.operands ? m->copied : draw_bytes(m);
    switch (item->kind) {
    case 'a':
        return address(m);
    case 'i':
        return rows_integer(m, m->i.form == PTX_FORM_CP_ASYNC ? m->copied : gen_below(m->r->g, 3));
    case 'd':
        return count(m);
    case 'g':
        return blocks(m);
    default:
        return NULL;
    }
}

/* ---- what stands behind some ---- */

/* Arrivals enough for the object's phase, and who waits for it makes what it has heard of. */
static void put_phase(struct rows_gen *r)
{
    const bool at_once = r->arrivals > 4 || gen_chance(r->g, 50);
    for (uint32_t i = 0; i < (at_once ? 1 : r->arrivals); i++)
        PUT(r, "\tmbarrier.arrive.shared.b64 w0, [mo], %" PRIu32 ";\n", at_once ? r->arrivals : 1);
    PUT(r, "\tmbarrier.test_wait.shared.b64 q, [mo], w0;\n");
}

/* Behind waits for all, or, seldom, behind whatever was waited for. */
static void put_look(struct rows_gen *r)
{
    struct gen *g = r->g;
    const uint32_t at = gen_below(g, ROWS_AREA / 4);
    const bool own = gen_chance(g, 70);
    if (gen_chance(g, 93))
        PUT(r, "\tcp.async.wait_all;\n\tcp.async.bulk.commit_group;\n"
               "\tcp.async.bulk.wait_group 0;\n");
    PUT(r, "\tld.%s.b32 r4, [%s+%" PRIu32 "];\n", own ? "shared" : "global", own ? "ka" : "kg",
        4 * at);
}

/* Of every kind, on what a copy may read or write: while one is under way the lane must leave it alone, but that it may
 * read what is only read. */
static void put_touch(struct rows_gen *r)
{
    static const struct {
        const char *opcode, *before, *behind;
    } accesses[] = {{"ld", ".b32 r4, ", ""},           {"ld", ".v2.b16 {h0, h1}, ", ""},
                    {"st", ".b32 ", ", r0"},           {"st", ".b8 ", ", r0"},
                    {"atom", ".add.u32 r4, ", ", r0"}, {"red", ".max.u32 ", ", r0"}};
    const uint32_t which = gen_below(r->g, sizeof accesses / sizeof *accesses);
    const bool own = gen_chance(r->g, 50);
    PUT(r, "\t%s%s.%s%s[%s+%" PRIu32 "]%s;\n", gen_chance(r->g, 20) ? "@q " : "",
        accesses[which].opcode, own ? "shared" : "global", accesses[which].before,
        own ? "ka" : "kg", 4 * gen_below(r->g, ROWS_AREA / 4), accesses[which].behind);
}

void rows_put_copy(struct rows_gen *r)
{
    struct gen *g = r->g;
    for (uint32_t count = 1 + gen_below(g, 4); count > 0; count--)
        rows_put_instruction(r, ROWS_OF_COPIES);
    if (gen_chance(g, 4))
        put_touch(r);
    if (r->objects && gen_chance(g, 50))
        put_phase(r);
    if (gen_chance(g, 20))
        put_look(r);
}
