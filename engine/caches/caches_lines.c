/*
 * caches_lines.c - cache lines and what can be done to them: cuda-crs 4.1, 4.2, with a mask of valid and one of dirty
 * bytes a line (memory-device, A.2; ERR.38, ERR.82).
 *
 * In the rules: cl is a line of the cache, a the address, need the operation's bytes, mid the operation, pins the
 * operations that pin cl. A line without pins has pins = 0; who pins is kept with the operation.
 */
#include "engine/caches/caches_internal.h"

static uint32_t all_bytes(const struct caches *c)
{
    return c->words == CACHES_WORDS ? UINT32_MAX : (1u << 4 * c->words) - 1;
}

struct cache caches_of_sm(struct machine *machine, const struct caches *c, uint32_t sm)
{
    return (struct cache){machine, c, caches_l1(c, sm), c->lines, c->sets, false};
}

struct cache caches_second(struct machine *machine, const struct caches *c)
{
    return (struct cache){machine, c, c->l2, c->l2_lines, 1, true};
}

struct cache caches_cache(const struct operation *x, uint32_t level)
{
    if (level == MEMORY_L2)
        return caches_second(x->m, x->c);
    return caches_of_sm(x->m, x->c, x->sm);
}

static struct cache_line *at(const struct cache *cache, uint32_t i)
{
    return caches_line(cache->c, cache->lines, i);
}

/* eligible: the lines of one set. */
static uint32_t first_of(const struct cache *cache, uint32_t line)
{
    return line / cache->c->words % cache->sets * (cache->count / cache->sets);
}

static uint32_t behind(const struct cache *cache, uint32_t line)
{
    return first_of(cache, line) + cache->count / cache->sets;
}

uint32_t caches_find(const struct cache *cache, uint32_t line)
{
    uint32_t end = behind(cache, line);
    for (uint32_t i = first_of(cache, line); i < end; i++)
        if (at(cache, i)->tag == line + 1)
            return i;
    return CACHES_NONE;
}

/* canEvict: dirty or pinned lines stay (ERR.39). */
bool caches_evictable(const struct cache_line *line)
{
    return line->tag && !line->dirty && !line->pins && !line->pending;
}

/* Lines of a set stay together, by tag, so that equal caches have equal bytes. */
void caches_drop(const struct cache *cache, uint32_t i)
{
    uint32_t words = cache->c->line_words, end = behind(cache, at(cache, i)->tag - 1);
    for (; i + 1 < end && at(cache, i)->tag; i++)
        caches_put_words(cache->m, &at(cache, i)->tag, &at(cache, i + 1)->tag, words);
    caches_put_words(cache->m, &at(cache, i)->tag, NULL, words);
}

static uint32_t insert(const struct cache *cache, uint32_t line)
{
    uint32_t i = behind(cache, line) - 1, first = first_of(cache, line);
    uint32_t words = cache->c->line_words;
    for (; i > first && (!at(cache, i - 1)->tag || at(cache, i - 1)->tag > line + 1); i--)
        caches_put_words(cache->m, &at(cache, i)->tag, &at(cache, i - 1)->tag, words);
    caches_put_words(cache->m, &at(cache, i)->tag, NULL, words);
    put(cache->m, &at(cache, i)->tag, line + 1);
    return i;
}

static bool has_unused(const struct cache *cache, uint32_t line)
{
    return !at(cache, behind(cache, line) - 1)->tag;
}

bool caches_has_room(const struct cache *cache, uint32_t line)
{
    uint32_t end = behind(cache, line);
    if (has_unused(cache, line))
        return true;
    for (uint32_t i = first_of(cache, line); i < end; i++)
        if (caches_evictable(at(cache, i)))
            return true;
    return false;
}

/* Which line gives way: ERR.59, a choice among those that can. */
static uint32_t victim(const struct cache *cache, uint32_t line, struct choices *choices)
{
    uint32_t end = behind(cache, line), found = 0, picked = 0, firsts = 0;
    uint32_t policy = cache->c->options.policy;
    for (uint32_t i = first_of(cache, line); i < end; i++)
        firsts += caches_evictable(at(cache, i)) && at(cache, i)->first;
    bool only_first = policy == POLICY_FIRST && firsts;
    for (uint32_t i = first_of(cache, line); i < end; i++)
        found += caches_evictable(at(cache, i)) && (!only_first || at(cache, i)->first);
    if (policy != POLICY_LOWEST && found > 1 && choices)
        picked = choices->choose(choices, found);
    for (uint32_t i = first_of(cache, line);; i++)
        if (caches_evictable(at(cache, i)) && (!only_first || at(cache, i)->first) && !picked--)
            return i;
}

/* A new line for the address; there is room. */
static uint32_t take_line(const struct cache *cache, uint32_t line, struct choices *choices)
{
    if (!has_unused(cache, line))
        caches_drop(cache, victim(cache, line, choices));
    return insert(cache, line);
}

/*  MEM.fn.pin, unpin      mids := mid . mids           mids := mids \ mid */
static void pin(const struct operation *x, struct cache_line *cl, uint32_t level)
{
    if (x->slot->pins & level)
        return;
    put(x->m, &x->slot->pins, x->slot->pins | level);
    put(x->m, &cl->pins, cl->pins + 1);
}

static void unpin(const struct operation *x, struct cache_line *cl, uint32_t level)
{
    if (!(x->slot->pins & level))
        return;
    put(x->m, &x->slot->pins, x->slot->pins & ~level);
    put(x->m, &cl->pins, cl->pins - 1);
}

static uint32_t need_of(const struct operation *x, uint32_t level)
{
    bool whole = level == MEMORY_L2 && memory_programs[x->slot->program].whole;
    return whole ? all_bytes(x->c) : x->need;
}

static bool holds(const struct cache_line *cl, uint32_t need)
{
    return cl->pending || !(need & ~cl->valid);
}

/*  isCached (ML.cached)     cl in use for a, and (cl pending or need within vmask)
 *
 *  R2: every address is cached in L2.
 */
bool mem_is_cached(const struct operation *x, uint32_t level)
{
    if (level == MEMORY_L2 && !x->c->l2)
        return true;
    struct cache cache = caches_cache(x, level);
    uint32_t i = caches_find(&cache, x->slot->line);
    return i != CACHES_NONE && holds(at(&cache, i), need_of(x, level));
}

/*  reserve (ML.reserve, ERR.81)
 *      no cl for a, a line is unused or can be evicted     cl := (a, pending), pins = {mid}
 *      cl for a, need not within vmask                     pending := true, pins := pins + mid
 *      cl for a, cached meanwhile                          pins := pins + mid
 *      else                                                retry
 */
bool mem_reserve(const struct operation *x, uint32_t level)
{
    struct cache cache = caches_cache(x, level);
    uint32_t i = caches_find(&cache, x->slot->line);
    if (i == CACHES_NONE) {
        if (!caches_has_room(&cache, x->slot->line))
            return false;
        i = take_line(&cache, x->slot->line, x->choices);
    }
    struct cache_line *cl = at(&cache, i);
    if (!holds(cl, need_of(x, level)) || !(cl->valid | cl->pending))
        put(x->m, &cl->pending, 1);
    pin(x, cl, level);
    return true;
}

bool mem_is_there(const struct operation *x, uint32_t level)
{
    struct cache cache = caches_cache(x, level);
    uint32_t i = caches_find(&cache, x->slot->line);
    return i == CACHES_NONE || !(need_of(x, level) & ~at(&cache, i)->valid);
}

/*  read (ML.read)       need within vmask        v := vals, pins := pins \ mid
 *                       else                     pins := pins + mid, retry
 */
bool mem_read(const struct operation *x, uint32_t level)
{
    struct cache cache = caches_cache(x, level);
    uint32_t i = caches_find(&cache, x->slot->line);
    INVARIANT(i != CACHES_NONE);
    struct cache_line *cl = at(&cache, i);
    if (need_of(x, level) & ~cl->valid) {
        pin(x, cl, level);
        return false;
    }
    caches_put_words(x->m, x->slot->value, cl->vals, x->c->words);
    unpin(x, cl, level);
    return true;
}

static uint32_t byte_mask(uint32_t four)
{
    return (four & 1 ? 0xffu : 0) | (four & 2 ? 0xff00u : 0) | (four & 4 ? 0xff0000u : 0) |
           (four & 8 ? 0xff000000u : 0);
}

/* Bytes of words that differ. */
static uint32_t differing(uint32_t a, uint32_t b)
{
    uint32_t four = 0;
    for (uint32_t k = 0; k < 4; k++)
        four |= (uint32_t)((a ^ b) >> 8 * k & 0xff ? 1u << k : 0);
    return four;
}

/*  write (ML.write)     vals, vmask take the operation's bytes; dmask those that were invalid or other ones
 *                       no cl for a, and no room: retry
 */
static void merge(struct machine *m, const struct caches *c, struct cache_line *cl, uint32_t bytes,
                  const uint32_t *words)
{
    uint32_t dirty = cl->dirty | (bytes & ~cl->valid);
    for (uint32_t k = 0; k < c->words; k++) {
        uint32_t four = bytes >> 4 * k & 15, mask = byte_mask(four);
        dirty |= (differing(cl->vals[k], words[k]) & four) << 4 * k;
        put(m, &cl->vals[k], (cl->vals[k] & ~mask) | (words[k] & mask));
    }
    put(m, &cl->dirty, dirty);
    put(m, &cl->valid, cl->valid | bytes);
}

static void write_memory(struct machine *m, const struct caches *c, uint32_t line, uint32_t bytes,
                         const uint32_t *words)
{
    for (uint32_t k = 0; k < c->words; k++) {
        uint32_t mask = byte_mask(bytes >> 4 * k & 15), word = line + k;
        if (mask)
            put(m, (uint32_t *)&m->memory[word],
                ((uint32_t)m->memory[word] & ~mask) | (words[k] & mask));
    }
}

bool mem_write(const struct operation *x, uint32_t level)
{
    uint32_t words[CACHES_WORDS] = {0};
    uint32_t bytes = caches_written(x, words);
    if (level == MEMORY_L2 && !x->c->l2) {
        write_memory(x->m, x->c, x->slot->line, bytes, words);
        return true;
    }
    struct cache cache = caches_cache(x, level);
    uint32_t i = caches_find(&cache, x->slot->line);
    if (i == CACHES_NONE && !caches_has_room(&cache, x->slot->line))
        return false;
    if (i == CACHES_NONE)
        i = take_line(&cache, x->slot->line, x->choices);
    merge(x->m, x->c, at(&cache, i), bytes, words);
    return true;
}

/*  update (ML.update)   vals, vmask take the bytes of v that are not in vmask; pending := false; pins stay */
void mem_update(const struct operation *x, uint32_t level)
{
    struct cache cache = caches_cache(x, level);
    uint32_t i = caches_find(&cache, x->slot->line);
    INVARIANT(i != CACHES_NONE);
    struct cache_line *cl = at(&cache, i);
    for (uint32_t k = 0; k < x->c->words; k++) {
        uint32_t mask = byte_mask(cl->valid >> 4 * k & 15);
        put(x->m, &cl->vals[k], (cl->vals[k] & mask) | (x->slot->value[k] & ~mask));
    }
    put(x->m, &cl->valid, all_bytes(x->c));
    put(x->m, &cl->pending, 0);
}

/*  evict                no cl for a: nothing        dmask = 0, no pins, not pending: cl is unused       else retry */
bool mem_evict(const struct operation *x)
{
    struct cache cache = caches_cache(x, MEMORY_L1);
    uint32_t i = caches_find(&cache, x->slot->line);
    if (i == CACHES_NONE)
        return true;
    if (!caches_evictable(at(&cache, i)))
        return false;
    caches_drop(&cache, i);
    return true;
}

/*  discard              no cl for a: nothing        no pins, not pending: cl is unused, dirty or not    else retry */
bool mem_discard(const struct operation *x)
{
    struct cache cache = caches_cache(x, MEMORY_L1);
    uint32_t i = caches_find(&cache, x->slot->line);
    if (i == CACHES_NONE)
        return true;
    if (at(&cache, i)->pins || at(&cache, i)->pending)
        return false;
    caches_drop(&cache, i);
    return true;
}

/*  classify             cl for a: ec := first | normal */
void mem_classify(const struct operation *x, uint32_t level, bool first)
{
    struct cache cache = caches_cache(x, level);
    uint32_t i = cache.lines ? caches_find(&cache, x->slot->line) : CACHES_NONE;
    if (i != CACHES_NONE)
        put(x->m, &at(&cache, i)->first, first);
}

/* ---- silent rules ---- */

static bool is_global(const struct cache *cache, uint32_t i)
{
    return caches_is_global(cache->m, at(cache, i));
}

bool caches_is_silent(const struct cache *cache, uint32_t i)
{
    const struct cache_line *cl = at(cache, i);
    struct cache second = caches_second(cache->m, cache->c);
    if (!cl->tag || cl->tag & CACHES_FOREIGN)
        return false;
    if (!cl->dirty)
        return caches_evictable(cl);
    return cache->is_l2 || !second.lines || caches_find(&second, cl->tag - 1) != CACHES_NONE ||
           caches_has_room(&second, cl->tag - 1);
}

/*  evictL1, evictL2     canEvict(cl)                cl is unused
 *  wbL1 (ML.wb)         dirty bytes, L2 has room    L2 takes the dirty bytes, dmask := 0; pins and class stay
 *  wbL2                 dirty bytes                 memory takes them, dmask := 0
 */
static void mem_evict_silent(const struct cache *cache, uint32_t i)
{
    caches_drop(cache, i);
}

static void mem_write_back(const struct cache *cache, uint32_t i, struct choices *choices)
{
    struct cache_line *cl = at(cache, i);
    struct cache second = caches_second(cache->m, cache->c);
    uint32_t line = cl->tag - 1;
    if (cache->is_l2 || !second.lines) {
        write_memory(cache->m, cache->c, line, cl->dirty, cl->vals);
    } else {
        uint32_t k = caches_find(&second, line);
        if (k == CACHES_NONE)
            k = take_line(&second, line, choices);
        merge(cache->m, cache->c, at(&second, k), cl->dirty, cl->vals);
    }
    put(cache->m, &cl->dirty, 0);
}

void caches_silent(const struct cache *cache, uint32_t i, struct choices *choices)
{
    if (at(cache, i)->dirty)
        mem_write_back(cache, i, choices);
    else
        mem_evict_silent(cache, i);
}

void caches_clean(const struct cache *cache, uint32_t i)
{
    struct cache_line *cl = at(cache, i);
    struct cache second = caches_second(cache->m, cache->c);
    bool is_last = cache->is_l2 || !second.lines;
    uint32_t k = is_last ? CACHES_NONE : caches_find(&second, cl->tag - 1);
    if (k == CACHES_NONE)
        write_memory(cache->m, cache->c, cl->tag - 1, cl->dirty, cl->vals);
    else /* what the L2 has there is older, and stands in front of memory */
        merge(cache->m, cache->c, at(&second, k), cl->dirty, cl->vals);
    put(cache->m, &cl->dirty, 0);
}

void caches_warm(const struct cache *cache, uint32_t line)
{
    uint32_t first = line, end = cache->m->program->memory_words;
    if (caches_find(cache, line) != CACHES_NONE || !has_unused(cache, line))
        return;
    struct cache_line *cl = at(cache, insert(cache, line));
    for (uint32_t k = 0; k < cache->c->words && first + k < end; k++)
        put(cache->m, &cl->vals[k], (uint32_t)cache->m->memory[first + k]);
    put(cache->m, &cl->valid, all_bytes(cache->c));
}

/*  flush (ERR.35)       no global line of the L1 is pinned or dirty        all its global lines are unused */
bool caches_can_flush(const struct cache *cache)
{
    bool any = false;
    for (uint32_t i = 0; i < cache->count; i++) {
        if (!at(cache, i)->tag || !is_global(cache, i))
            continue;
        any = true;
        if (!caches_evictable(at(cache, i)))
            return false;
    }
    return any;
}

void mem_flush(const struct cache *cache)
{
    for (uint32_t i = cache->count; i-- > 0;)
        if (at(cache, i)->tag && is_global(cache, i))
            caches_drop(cache, i);
}
