/* All peers of this build. */
#include "sets.h"
#include "workloads.h"

static const peer *const all[] = {
#define PEER_ADDRESS(name) &peer_##name,
    PEER_WORKLOADS(PEER_ADDRESS) PEER_WIDER(PEER_ADDRESS) PEER_PUBLISHED(PEER_ADDRESS)
        PEER_HELD_OUT(PEER_ADDRESS)};

const peer *peer_find(const char *workload) {
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i]->workload, workload) == 0) {
            return all[i];
        }
    }
    return NULL;
}
