#include "engine/base/spelling.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

uint32_t spelling_distance(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b);
    uint32_t rows[3][SPELLING_MAX + 1];
    if (m > SPELLING_MAX || n > SPELLING_MAX)
        return UINT32_MAX;
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = (uint32_t)j;
    for (size_t i = 1; i <= m; i++) {
        uint32_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = (uint32_t)i;
        for (size_t j = 1; j <= n; j++) {
            uint32_t least = above[j - 1] + (a[i - 1] != b[j - 1]);
            least = above[j] + 1 < least ? above[j] + 1 : least;
            least = row[j - 1] + 1 < least ? row[j - 1] + 1 : least;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < least)
                least = before[j - 2] + 1;
            row[j] = least;
        }
    }
    return rows[m % 3][n];
}

const char *spelling_nearest(const char *name, const char *const *names, uint32_t count)
{
    const char *nearest = NULL;
    size_t length = strlen(name);
    uint32_t least = length <= 4 ? 2 : length <= 8 ? 3 : 4; /* this far is too far */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t distance = spelling_distance(name, names[i]);
        if (distance < least) {
            least = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
