/*
 * litmus_lower.c - a test for PTX 6 and later, for the caches of 2011.
 *
 * They know volatile accesses and membars only: acquire is a volatile access with a membar behind it, release one with
 * a membar in front, and a fence of any order a membar. This is stronger than PTX asks.
 */
#include "engine/litmus/litmus_internal.h"

#include <string.h>

static bool behind(const struct litmus_instruction *in)
{
    return in->op <= LITMUS_CAS && (in->order == ORDER_ACQUIRE || in->order == ORDER_ACQ_REL);
}

static bool in_front(const struct litmus_instruction *in)
{
    return in->op <= LITMUS_CAS && (in->order == ORDER_RELEASE || in->order == ORDER_ACQ_REL);
}

static void put(struct litmus_thread *t, const struct litmus_instruction *in)
{
    t->code[t->length++] = *in;
}

static bool lower_thread(const struct litmus_thread *from, struct litmus_thread *to)
{
    uint8_t place[LITMUS_CODE + 1];
    memset(to->code, 0, sizeof to->code);
    to->length = 0;
    for (uint32_t i = 0; i < from->length; i++) {
        const struct litmus_instruction *in = &from->code[i];
        struct litmus_instruction membar = {
            .op = LITMUS_MEMBAR, .order = ORDER_SC, .scope = in->scope, .lanes = 1};
        place[i] = to->length;
        if (to->length + 3 > LITMUS_CODE)
            return false;
        if (in_front(in))
            put(to, &membar);
        put(to, in);
        if (behind(in))
            put(to, &membar);
    }
    place[from->length] = to->length;
    for (uint32_t i = 0; i < to->length; i++)
        if (to->code[i].op >= LITMUS_BZ)
            to->code[i].target = place[to->code[i].target];
    return true;
}

const char *litmus_lower(const struct litmus_test *test, struct litmus_test *lowered)
{
    *lowered = *test;
    for (uint32_t t = 0; t < test->count; t++) {
        if (test->threads[t].gpu != test->threads[0].gpu)
            return "several GPUs";
        if (test->is_ptx && !lower_thread(&test->threads[t], &lowered->threads[t]))
            return "a thread with its membars has too many instructions";
    }
    return NULL;
}
