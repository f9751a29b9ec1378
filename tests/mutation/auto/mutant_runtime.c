#include "tests/mutation/auto/mutant_runtime.h"

#include <string.h>

static const struct mutant_record *recording;

void mutant_all_off(void)
{
    memset(mutant_probe, 0, (size_t)mutant_point_count * sizeof *mutant_probe);
    memset(mutant_choice, 0, (size_t)mutant_point_count);
    recording = NULL;
}

int mutant_point_of(int mutant)
{
    int low = 0, high = mutant_point_count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if ((int)mutant_points[middle].first <= mutant)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void mutant_switch_on(int mutant)
{
    int point = mutant_point_of(mutant);
    mutant_choice[point] = (signed char)(mutant - (int)mutant_points[point].first + 1);
    mutant_probe[point] = 1;
}

void mutant_record(const struct mutant_record *record)
{
    recording = record;
    for (int i = 0; i < mutant_point_count; i++)
        mutant_probe[i] = record || mutant_choice[i] > 0;
}

/* Infects; when nothing more can be told of the point, it is fast again. */
static void infect(int point, unsigned k)
{
    const struct mutant_point *p = &mutant_points[point];
    if (recording->infected[p->first + k])
        return;
    recording->infected[p->first + k] = 1;
    for (k = 0; k < p->count; k++)
        if (!recording->infected[p->first + k])
            return;
    mutant_probe[point] = 0;
}

/* Reached: once more. */
static void look(int point)
{
    const struct mutant_point *p = &mutant_points[point];
    recording->reached[point] = 1;
    if (recording->looks_max == 0 || ++recording->looks[point] < recording->looks_max)
        return;
    memset(recording->infected + p->first, 1, p->count);
    mutant_probe[point] = 0;
}

static bool differs(const char *a, const char *b, unsigned long size)
{
    switch (size) {
    case 4:
        return memcmp(a, b, 4) != 0;
    case 8:
        return memcmp(a, b, 8) != 0;
    default:
        return memcmp(a, b, size) != 0;
    }
}

int mutant_pick(int point, const void *values, unsigned long size)
{
    if (mutant_choice[point] > 0 || !recording)
        return mutant_choice[point];
    const char *value = values;
    unsigned count = mutant_points[point].count;
    look(point);
    for (unsigned k = 0; k < count; k++)
        if (differs(value, value + (k + 1) * size, size))
            infect(point, k);
    return 0;
}

/* The mutants of a connector, in the table's order after the original. */
enum { LOGIC_ORIGINAL, LOGIC_OTHER, LOGIC_LEFT, LOGIC_RIGHT, LOGIC_CONSTANT };

int mutant_need(int point, int and, int left)
{
    switch (mutant_choice[point]) {
    case LOGIC_OTHER:
        return and? !left : left;
    case LOGIC_LEFT:
        return 0;
    case LOGIC_RIGHT:
        return 1;
    default:
        return and? left : !left;
    }
}

int mutant_logic(int point, int and, int left, int right)
{
    int value = and? left && right : left || right;
    if (mutant_choice[point] == LOGIC_ORIGINAL && recording) {
        /* Where the right side was not evaluated its value is not known: the mutants that ask for it
         * may differ. */
        bool right_known = and? left : !left;
        look(point);
        if (!right_known || left != right)
            infect(point, LOGIC_OTHER - 1);
        if (left != value)
            infect(point, LOGIC_LEFT - 1);
        if (!right_known)
            infect(point, LOGIC_RIGHT - 1);
        if (value != !and)
            infect(point, LOGIC_CONSTANT - 1);
        return value;
    }
    switch (mutant_choice[point]) {
    case LOGIC_OTHER:
        return and? left || right : left && right;
    case LOGIC_LEFT:
        return left;
    case LOGIC_RIGHT:
        return right;
    case LOGIC_CONSTANT:
        return !and;
    default:
        return value;
    }
}

int mutant_keep(int point)
{
    if (mutant_choice[point] > 0 || !recording)
        return mutant_choice[point] == 0;
    look(point);
    infect(point, 0);
    return 1;
}
