/* Edit distance (insert, delete, replace) by one row of the usual table; long words are not
 * compared, so the row lives on the stack. Close means: at most a third of the word is wrong. */
#include "base/nearest.h"

#include <string.h>

enum { LONGEST = 63 };

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static uint32_t distance(const char *a, size_t a_length, const char *b, size_t b_length) {
    uint32_t row[LONGEST + 1];
    for (uint32_t j = 0; j <= b_length; j++) {
        row[j] = j;
    }
    for (uint32_t i = 1; i <= a_length; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= b_length; j++) {
            uint32_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_length];
}

vyre_nearest vyre_nearest_to(const char *word) {
    return (vyre_nearest){.word = word, .distance = (uint32_t)(strnlen(word, LONGEST) + 2) / 3 + 1};
}

void vyre_nearest_offer(vyre_nearest *nearest, const char *candidate) {
    size_t a = strnlen(nearest->word, LONGEST + 1), b = strnlen(candidate, LONGEST + 1);
    if (a > LONGEST || b > LONGEST) {
        return;
    }
    uint32_t d = distance(nearest->word, a, candidate, b);
    if (d < nearest->distance) {
        nearest->distance = d;
        nearest->best = candidate;
    }
}
