/* Floats as decimal text: the same in every locale. */
#ifndef VYRE_SRC_BASE_SHORTEST_H
#define VYRE_SRC_BASE_SHORTEST_H

#include <stdbool.h>

enum { VYRE_SHORTEST_TEXT = 48 };

/* `x` with as few digits as read back to the same value (as an f32 if `narrow`), but with %g's
 * layout for at least `fewest`. */
void vyre_shortest(double x, bool narrow, int fewest, char out[VYRE_SHORTEST_TEXT]);

/* Whatever a locale puts between the digits of a number becomes a point. */
void vyre_shortest_point(char *number);

/* A number with two decimals, as an argument for %s: vyre_fixed2(x).text. */
typedef struct vyre_fixed_text {
    char text[VYRE_SHORTEST_TEXT];
} vyre_fixed_text;
vyre_fixed_text vyre_fixed2(double x);

#endif
