/* Numbers by the C library, which follows the locale of the host program: written and read back by
 * the same rules, and only then given a point. Changes no state of the host's. */
#include "base/shortest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vyre_shortest_point(char *number) {
    static const char plain[] = "+-0123456789abcdefinxABCDEFINX";
    size_t before = strspn(number, plain);
    size_t between = strcspn(number + before, plain);
    if (between > 0) {
        number[before] = '.';
        memmove(number + before + 1, number + before + between,
                strlen(number + before + between) + 1);
    }
}

void vyre_shortest(double x, bool narrow, int fewest, char out[VYRE_SHORTEST_TEXT]) {
    int most = narrow ? 9 : 17;
    for (int digits = fewest; digits <= most; digits++) {
        (void)snprintf(out, VYRE_SHORTEST_TEXT, "%.*g", digits, x);
        if (narrow ? strtof(out, NULL) == (float)x : strtod(out, NULL) == x) {
            break;
        }
    }
    vyre_shortest_point(out);
}

vyre_fixed_text vyre_fixed2(double x) {
    vyre_fixed_text out;
    (void)snprintf(out.text, sizeof out.text, "%.2f", x);
    vyre_shortest_point(out.text);
    return out;
}
