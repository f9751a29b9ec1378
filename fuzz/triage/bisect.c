#include "fuzz/triage/bisect.h"

struct search {
    uint32_t count;
    bisect_test *test;
    void *context;
    enum bisect_state *states;
    struct bisect_result *result;
};

const char *bisect_answer_name(enum bisect_answer answer)
{
    switch (answer) {
    case BISECT_STARTS:
        return "starts";
    case BISECT_CEASES:
        return "ceases";
    case BISECT_ALWAYS:
        return "always";
    case BISECT_NEVER:
        return "never";
    case BISECT_NO_BUILD:
        return "no build";
    }
    return "";
}

static bool says(struct search *s, uint32_t build)
{
    enum bisect_state *state = &s->states[build];
    if (*state == BISECT_UNTESTED) {
        *state = s->test(s->context, build);
        s->result->tested++;
        s->result->silent += *state == BISECT_CANNOT_SAY;
    }
    return *state == BISECT_SHOWS || *state == BISECT_GONE;
}

/* The build nearest to the middle between low and high that can say; low: there is none. */
static uint32_t middle(struct search *s, uint32_t low, uint32_t high)
{
    uint32_t centre = low + (high - low) / 2;
    for (uint32_t distance = 0; distance < high - low; distance++) {
        if (centre + distance < high && centre + distance > low && says(s, centre + distance))
            return centre + distance;
        if (distance > 0 && centre > low + distance && says(s, centre - distance))
            return centre - distance;
    }
    return low;
}

/* Narrows low..high, which differ, until they are neighbours but for builds that cannot say. */
static void narrow(struct search *s, uint32_t low, uint32_t high)
{
    for (uint32_t at = middle(s, low, high); at != low; at = middle(s, low, high))
        if (s->states[at] == s->states[low])
            low = at;
        else
            high = at;
    s->result->before = low;
    s->result->after = high;
}

/* The last change, when all builds were tested; counts them. */
static void count_changes(struct search *s)
{
    uint32_t last = s->count;
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->states[i] != BISECT_SHOWS && s->states[i] != BISECT_GONE)
            continue;
        if (last < s->count && s->states[i] != s->states[last]) {
            s->result->changes++;
            s->result->before = last;
            s->result->after = i;
        }
        last = i;
    }
}

void bisect(uint32_t count, bool all, bisect_test *test, void *context, enum bisect_state *states,
            struct bisect_result *result)
{
    struct search s = {count, test, context, states, result};
    uint32_t low = 0, high = count;
    *result = (struct bisect_result){.answer = BISECT_NO_BUILD};
    for (uint32_t i = 0; i < count; i++)
        states[i] = BISECT_UNTESTED;
    for (uint32_t i = 0; i < count && all; i++)
        says(&s, i);
    while (low < count && !says(&s, low))
        low++;
    if (low == count)
        return;
    while (!says(&s, high - 1))
        high--;
    high--;
    if (!all && states[low] != states[high])
        narrow(&s, low, high);
    count_changes(&s);
    if (result->changes == 0)
        result->answer = states[low] == BISECT_SHOWS ? BISECT_ALWAYS : BISECT_NEVER;
    else
        result->answer = states[result->after] == BISECT_SHOWS ? BISECT_STARTS : BISECT_CEASES;
}
