/* "Did you mean ...?": the candidate closest to a word that was not found. */
#ifndef VYRE_SRC_BASE_NEAREST_H
#define VYRE_SRC_BASE_NEAREST_H

#include <stdint.h>

typedef struct vyre_nearest {
    const char *word;
    const char *best; /* NULL while nothing offered is close */
    uint32_t distance;
} vyre_nearest;

vyre_nearest vyre_nearest_to(const char *word);
/* The first of equally close candidates is kept; both texts must outlive the struct. */
void vyre_nearest_offer(vyre_nearest *nearest, const char *candidate);

#endif
