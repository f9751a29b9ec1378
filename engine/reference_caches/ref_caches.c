/* ref_caches.c - lines (memory-device A.2), and the words of memory programs (cuda-crs 4.1 to 4.6). */
#include "engine/reference_caches/ref_caches.h"

#include "engine/reference_ptx/ref_ptx.h"

#include <string.h>

/* ---- lines ---- */

struct ref_line *ref_line_at(const struct ref_caches *m, uint32_t sm, int64_t line)
{
    for (uint32_t i = 0; i < m->l1[sm].count; i++)
        if (m->l1[sm].lines[i].address == line)
            return &m->l1[sm].lines[i];
    return NULL;
}

uint32_t ref_pins(const struct ref_caches *m, uint32_t sm, const struct ref_line *cl)
{
    uint32_t count = 0;
    for (uint32_t o = 0; o < m->operation_count; o++)
        count += m->operations[o].pins && m->operations[o].sm == sm &&
                 m->operations[o].line == cl->address;
    return count;
}

bool ref_is_dirty(const struct ref_caches *m, const struct ref_line *cl)
{
    for (uint32_t b = 0; b < m->line_bytes; b++)
        if (cl->bytes[b].dirty)
            return true;
    return false;
}

/* ML.evictable */
static bool is_evictable(const struct ref_caches *m, uint32_t sm, const struct ref_line *cl)
{
    return !ref_is_dirty(m, cl) && !ref_pins(m, sm, cl) && !cl->pending;
}

static void drop(struct ref_caches *m, uint32_t sm, struct ref_line *cl)
{
    *cl = m->l1[sm].lines[--m->l1[sm].count];
}

static int64_t set_of(const struct ref_caches *m, int64_t line)
{
    return (int64_t)((uint32_t)(line / 4) / (m->line_bytes / 4) % m->sets);
}

static uint32_t used_ways(const struct ref_caches *m, uint32_t sm, int64_t line)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < m->l1[sm].count; i++)
        used += set_of(m, m->l1[sm].lines[i].address) == set_of(m, line);
    return used;
}

/* Whether another line of the set would rather give way, as the policy has it. */
static bool is_passed_over(const struct ref_caches *m, uint32_t sm, const struct ref_line *cl)
{
    for (uint32_t i = 0; i < m->l1[sm].count; i++) {
        const struct ref_line *other = &m->l1[sm].lines[i];
        if (set_of(m, other->address) != set_of(m, cl->address) || !is_evictable(m, sm, other))
            continue;
        if (m->victims == REF_LOWEST && (uint32_t)other->address < (uint32_t)cl->address)
            return true;
        if (m->victims == REF_FIRST && other->evict_first && !cl->evict_first)
            return true;
    }
    return false;
}

static bool has_room(const struct ref_caches *m, uint32_t sm, int64_t line)
{
    if (used_ways(m, sm, line) < m->ways)
        return true;
    for (uint32_t i = 0; i < m->l1[sm].count; i++)
        if (set_of(m, m->l1[sm].lines[i].address) == set_of(m, line) &&
            is_evictable(m, sm, &m->l1[sm].lines[i]))
            return true;
    return false;
}

/* A new line; there is room. ERR.59: which one gives way is told. */
static struct ref_line *take(struct ref_caches *m, uint32_t sm, int64_t line)
{
    if (used_ways(m, sm, line) == m->ways) {
        struct ref_line *cl = m->has_victim ? ref_line_at(m, sm, m->victim) : NULL;
        if (!cl || set_of(m, cl->address) != set_of(m, line) || !is_evictable(m, sm, cl) ||
            is_passed_over(m, sm, cl)) {
            m->wrong = "line that gives way";
            return NULL;
        }
        drop(m, sm, cl);
    } else if (m->has_victim) {
        m->wrong = "line that gives way where there is room";
        return NULL;
    }
    struct ref_line *cl = &m->l1[sm].lines[m->l1[sm].count++];
    *cl = (struct ref_line){.address = line};
    return cl;
}

/* need within vmask */
static bool has_valid(const struct ref_caches *m, const struct ref_operation *x,
                      const struct ref_line *cl)
{
    for (uint32_t b = 0; b < m->line_bytes; b++)
        if (!cl->bytes[b].valid && ref_has_byte(x, b))
            return false;
    return true;
}

/* ML.cached */
static bool is_cached(const struct ref_caches *m, const struct ref_operation *x)
{
    const struct ref_line *cl = ref_line_at(m, x->sm, x->line);
    return cl && (cl->pending || has_valid(m, x, cl));
}

/* ---- memory ---- */

static uint8_t *memory_at(const struct ref_caches *m, int64_t byte)
{
    return byte >= 0 && byte < m->memory_bytes ? &m->memory[byte] : NULL;
}

/* What the lane's element is to become: what is stored, or what an atomic makes of what it has read. */
static uint64_t value_of(const struct ref_caches *m, const struct ref_operation *x, uint32_t lane,
                         uint32_t element)
{
    uint64_t value = x->values[lane][element];
    bool is_there;
    if (ptx_forms[x->instruction->form].opcode != PTX_OP_ST)
        ref_atomic_value(x->instruction, ref_taken(m, x, lane, 0, &is_there), x->values[lane][0],
                         x->values[lane][1], &value);
    return value;
}

/* The operation's byte of the line, as it is written; false: it writes none there. */
static bool byte_written(const struct ref_caches *m, const struct ref_operation *x, uint32_t byte,
                         uint8_t *value)
{
    for (uint32_t l = 0; l < LIMIT_WARP; l++) {
        int64_t at = x->line + byte - x->byte[l];
        if (!x->lanes[l] || !x->writes[l] || at < 0 || at >= (int64_t)x->bytes * x->count)
            continue;
        uint64_t element = value_of(m, x, l, (uint32_t)at / x->bytes);
        *value = (uint8_t)(element >> 8 * ((uint32_t)at % x->bytes));
        return true;
    }
    return false;
}

uint64_t ref_taken(const struct ref_caches *m, const struct ref_operation *x, uint32_t lane,
                   uint32_t element, bool *is_there)
{
    int64_t at = x->byte[lane] + (int64_t)element * x->bytes - x->line;
    uint64_t value = 0;
    *is_there = at >= 0 && at + x->bytes <= m->line_bytes;
    for (uint32_t b = 0; *is_there && b < x->bytes; b++)
        value |= (uint64_t)x->v[at + b] << 8 * b;
    return value;
}

/* ---- when a word is retried, and changes nothing: not even a pin is new ---- */

static bool lacks_room(const struct ref_caches *m, const struct ref_operation *x)
{
    return !ref_line_at(m, x->sm, x->line) && !has_room(m, x->sm, x->line);
}

static bool awaits_bytes(const struct ref_caches *m, const struct ref_operation *x)
{
    const struct ref_line *cl = ref_line_at(m, x->sm, x->line);
    return cl && x->pins && !has_valid(m, x, cl);
}

static bool cannot_evict(const struct ref_caches *m, const struct ref_operation *x)
{
    const struct ref_line *cl = ref_line_at(m, x->sm, x->line);
    return cl && !is_evictable(m, x->sm, cl);
}

static bool cannot_discard(const struct ref_caches *m, const struct ref_operation *x)
{
    const struct ref_line *cl = ref_line_at(m, x->sm, x->line);
    return cl && (ref_pins(m, x->sm, cl) || cl->pending);
}

/* MEM.banks: of the words that it accesses. */
static bool uses_bank(const struct ref_caches *m, const struct ref_operation *x, uint32_t bank)
{
    for (uint32_t b = 0; b < m->line_bytes; b++)
        if ((uint32_t)((x->line + b) / 4) % REF_BANKS == bank && ref_has_byte(x, b))
            return true;
    return false;
}

static bool is_locked(const struct ref_caches *m, const struct ref_operation *x)
{
    for (uint32_t bank = 0; bank < REF_BANKS; bank++)
        if (uses_bank(m, x, bank) && m->locked[x->block][bank])
            return true;
    return false;
}

/* ---- the words of memory programs; false: retry ---- */

static bool reserve_l1(struct ref_caches *m, struct ref_operation *x)
{
    struct ref_line *cl = ref_line_at(m, x->sm, x->line);
    if (!cl)
        cl = take(m, x->sm, x->line);
    if (!cl)
        return true;
    cl->pending |= !has_valid(m, x, cl);
    x->pins = true;
    return true;
}

static bool read_l1(struct ref_caches *m, struct ref_operation *x)
{
    struct ref_line *cl = ref_line_at(m, x->sm, x->line);
    if (!cl) {
        m->wrong = "read of a line that is not there";
        return true;
    }
    x->pins = !has_valid(m, x, cl);
    for (uint32_t b = 0; b < m->line_bytes && !x->pins; b++)
        x->v[b] = cl->bytes[b].value;
    return !x->pins;
}

static bool write_l1(struct ref_caches *m, struct ref_operation *x)
{
    struct ref_line *cl = ref_line_at(m, x->sm, x->line);
    uint8_t value;
    if (!cl)
        cl = take(m, x->sm, x->line);
    for (uint32_t b = 0; cl && b < m->line_bytes; b++)
        if (byte_written(m, x, b, &value)) {
            struct ref_byte *at = &cl->bytes[b];
            at->dirty |= !at->valid || at->value != value;
            at->valid = true;
            at->value = value;
        }
    return true;
}

static bool update_l1(struct ref_caches *m, struct ref_operation *x)
{
    struct ref_line *cl = ref_line_at(m, x->sm, x->line);
    for (uint32_t b = 0; cl && b < m->line_bytes; b++)
        if (!cl->bytes[b].valid)
            cl->bytes[b] = (struct ref_byte){.valid = true, .value = x->v[b]};
    if (cl)
        cl->pending = false;
    else
        m->wrong = "update of a line that is not there";
    return true;
}

/* evictL1, discardL1 */
static bool drop_l1(struct ref_caches *m, struct ref_operation *x)
{
    struct ref_line *cl = ref_line_at(m, x->sm, x->line);
    if (cl)
        drop(m, x->sm, cl);
    return true;
}

static bool classify(struct ref_caches *m, struct ref_operation *x, bool first)
{
    struct ref_line *cl = ref_line_at(m, x->sm, x->line);
    if (cl)
        cl->evict_first = first;
    return true;
}

static bool first_l1(struct ref_caches *m, struct ref_operation *x)
{
    return classify(m, x, true);
}

static bool normal_l1(struct ref_caches *m, struct ref_operation *x)
{
    return classify(m, x, false);
}

/* readMem, and with R2 readL2 */
static bool read_memory(struct ref_caches *m, struct ref_operation *x)
{
    for (uint32_t b = 0; b < m->line_bytes; b++) {
        const uint8_t *at = memory_at(m, x->line + b);
        x->v[b] = at ? *at : 0;
    }
    return true;
}

/* writeMem, and with R2 writeL2 */
static bool write_memory(struct ref_caches *m, struct ref_operation *x)
{
    uint8_t value;
    for (uint32_t b = 0; b < m->line_bytes; b++)
        if (byte_written(m, x, b, &value) && memory_at(m, x->line + b))
            *memory_at(m, x->line + b) = value;
    return true;
}

static bool to_registers(struct ref_caches *m, struct ref_operation *x)
{
    (void)x;
    m->wrote_registers = true;
    return true;
}

/* atomOp: what it makes is computed where it is written. releaseRegs: they are blocked as long as it is under way. */
static bool nothing(struct ref_caches *m, struct ref_operation *x)
{
    (void)m;
    (void)x;
    return true;
}

static bool lock(struct ref_caches *m, struct ref_operation *x)
{
    for (uint32_t bank = 0; bank < REF_BANKS; bank++)
        m->locked[x->block][bank] |= uses_bank(m, x, bank);
    return true;
}

static bool unlock(struct ref_caches *m, struct ref_operation *x)
{
    for (uint32_t bank = 0; bank < REF_BANKS; bank++)
        if (uses_bank(m, x, bank))
            m->locked[x->block][bank] = false;
    return true;
}

static const struct word {
    const char *name;
    bool (*does)(struct ref_caches *, struct ref_operation *);
    bool (*waits)(const struct ref_caches *, const struct ref_operation *); /* NULL: never */
    const char *says;
} words[] = {{"reserveL1", reserve_l1, lacks_room, "L1 makes room for the line next"},
             {"readL1", read_l1, awaits_bytes, "L1 is read next"},
             {"writeL1", write_l1, lacks_room, "L1 is written next"},
             {"updateL1", update_l1, NULL, "the line comes into L1 next"},
             {"evictL1", drop_l1, cannot_evict, "L1 drops the line next, if it has it"},
             {"discardL1", drop_l1, cannot_discard, "L1 drops the line next, if it has it"},
             {"firstL1", first_l1, NULL, "the line is marked next"},
             {"normalL1", normal_l1, NULL, "the line is marked next"},
             {"readL2", read_memory, NULL, "L2 is read next"},
             {"writeL2", write_memory, NULL, "L2 is written next"},
             {"readMem", read_memory, NULL, "memory is read next"},
             {"writeMem", write_memory, NULL, "memory is written next"},
             {"lock", lock, is_locked, "its banks are locked next"},
             {"unlock", unlock, NULL, "its banks are unlocked next"},
             {"writeToRegs", to_registers, NULL, "the registers get their values next"},
             {"atomOp", nothing, NULL, "it computes next"},
             {"releaseRegs", nothing, NULL, "the registers get their values next"}};

/* ---- micro steps ---- */

static bool is_word(const char *at, const char *word)
{
    size_t length = strcspn(at, " ");
    return strlen(word) == length && strncmp(at, word, length) == 0;
}

/* NULL: `.`, `end`, or none of them. */
static const struct word *word_at(const char *at)
{
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (is_word(at, words[w].name))
            return &words[w];
    return NULL;
}

static const char *next_word(const char *at)
{
    at += strcspn(at, " ");
    return at + strspn(at, " ");
}

/* `{ a } b`: a is left out of what is cached. `{ a }{ b } c`: a, or b of what is cached. */
static const char *choose(const struct ref_caches *m, const struct ref_operation *x, const char *at)
{
    if (is_word(at, "}{")) /* a is done */
        return next_word(strchr(at + 2, '}'));
    if (is_word(at, "{") && is_cached(m, x))
        return next_word(strchr(at, '}'));
    return next_word(at);
}

/* Touches the operation and its registers alone. */
static bool is_private(const char *at)
{
    return is_word(at, "writeToRegs") || is_word(at, "releaseRegs") || is_word(at, "end") ||
           is_word(at, ".") || is_word(at, "atomOp");
}

/* Up to the next yield, or the end. */
static void run(struct ref_caches *m, struct ref_operation *x)
{
    for (;; x->rest = next_word(x->rest)) {
        while (*x->rest == '{' || *x->rest == '}')
            x->rest = choose(m, x, x->rest);
        m->ended = is_word(x->rest, "end");
        if (m->ended || m->wrong)
            return;
        if (is_word(x->rest, ".")) {
            x->rest = next_word(x->rest);
            return;
        }
        const struct word *word = word_at(x->rest);
        if (!word)
            m->wrong = "memory program with such a word";
        else if ((word->waits && word->waits(m, x)) || !word->does(m, x))
            return;
    }
}

void ref_micro_step(struct ref_caches *m, uint32_t operation)
{
    struct ref_operation *x = &m->operations[operation];
    m->wrote_registers = m->ended = false;
    m->wrong = NULL;
    do
        run(m, x);
    while (!m->ended && !m->wrong && is_private(x->rest));
}

static bool is_held(const struct ref_caches *m, uint32_t operation)
{
    const struct ref_operation *x = &m->operations[operation];
    for (uint32_t o = 0; o < operation && x->ordered; o++) {
        const struct ref_operation *y = &m->operations[o];
        for (uint32_t l = 0; l < LIMIT_WARP && y->ordered && y->group == x->group; l++)
            if (x->lanes[l] && y->lanes[l])
                return true;
    }
    return false;
}

/* NULL: it ends. */
static const struct word *ahead(const struct ref_caches *m, const struct ref_operation *x)
{
    const char *at = x->rest;
    while (*at == '{' || *at == '}')
        at = choose(m, x, at);
    return word_at(at);
}

static bool is_in_vain(const struct ref_caches *m, const struct ref_operation *x)
{
    const struct word *word = ahead(m, x);
    return word && word->waits && word->waits(m, x);
}

bool ref_may_step(const struct ref_caches *m, uint32_t operation)
{
    return !is_held(m, operation) && !is_in_vain(m, &m->operations[operation]);
}

const char *ref_says_next(const struct ref_caches *m, uint32_t operation)
{
    const struct word *word = ahead(m, &m->operations[operation]);
    if (!ref_may_step(m, operation))
        return "it waits for others' operations or lines";
    return word ? word->says : "it ends next";
}

/* ---- silent rules ---- */

bool ref_is_silent(const struct ref_caches *m, uint32_t sm)
{
    for (uint32_t i = 0; i < m->l1[sm].count; i++)
        if (ref_is_dirty(m, &m->l1[sm].lines[i]) || is_evictable(m, sm, &m->l1[sm].lines[i]))
            return true;
    return false;
}

bool ref_evict(struct ref_caches *m, uint32_t sm, int64_t line)
{
    struct ref_line *cl = ref_line_at(m, sm, line);
    if (!cl || !is_evictable(m, sm, cl))
        return false;
    drop(m, sm, cl);
    return true;
}

bool ref_write_back(struct ref_caches *m, uint32_t sm, int64_t line)
{
    struct ref_line *cl = ref_line_at(m, sm, line);
    if (!cl || !ref_is_dirty(m, cl))
        return false;
    for (uint32_t b = 0; b < m->line_bytes; b++) {
        if (cl->bytes[b].dirty && memory_at(m, line + b))
            *memory_at(m, line + b) = cl->bytes[b].value;
        cl->bytes[b].dirty = false;
    }
    return true;
}

/* ERR.35: no global line is pinned or dirty. */
bool ref_flush(struct ref_caches *m, uint32_t sm)
{
    bool any = false;
    for (uint32_t i = 0; i < m->l1[sm].count; i++) {
        const struct ref_line *cl = &m->l1[sm].lines[i];
        if (cl->address < m->private_bytes && !is_evictable(m, sm, cl))
            return false;
        any |= cl->address < m->private_bytes;
    }
    for (uint32_t i = m->l1[sm].count; i-- > 0;)
        if (m->l1[sm].lines[i].address < m->private_bytes)
            drop(m, sm, &m->l1[sm].lines[i]);
    return any;
}
