/* How many cores this process may really use, and how large their caches are. */
#ifndef VYRE_SRC_KIT_CORES_H
#define VYRE_SRC_KIT_CORES_H

#include <stdint.h>

typedef struct vyre_cores {
    uint32_t allowed;   /* by the affinity mask of the calling thread; at least 1 */
    uint32_t quota;     /* cores' worth of time by control groups, rounded up; 0: no limit */
    uint32_t available; /* the smaller one; at least 1 */
} vyre_cores;

/* `root` is where /proc and /sys are found: NULL is "/", tests have their own. What can't be read
 * sets no limit. */
vyre_cores vyre_cores_now(const char *root);

/* Bytes of the data caches of level 1 to 3 that the core under the calling thread has or shares; 0:
 * there is none, or it is not known. */
void vyre_cores_caches(const char *root, uint64_t out_bytes[3]);

#endif
