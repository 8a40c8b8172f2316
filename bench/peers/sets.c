/* What the sets beside the named one share. */
#include "sets.h"

void *set_prepare_room(const peer_instance *p, size_t scratch) {
    set_job *s = calloc(1, sizeof *s);
    if (s) {
        memcpy(s->size, p->size, sizeof s->size);
        memcpy(s->in_bytes, p->in_bytes, sizeof s->in_bytes);
        for (int k = 0; k < PEER_INPUTS && p->in[k]; k++) {
            s->in[k] = peer_copy(p->in[k], p->in_bytes[k]);
        }
        for (int k = 0; k < PEER_OUTPUTS && p->out[k]; k++) {
            s->out[k] = peer_room(p->out_bytes[k]);
        }
        s->scratch = peer_room(scratch);
    }
    return s;
}

void *set_prepare(const peer_instance *p) {
    size_t all = p->in_bytes[0];
    for (int k = 0; k < PEER_OUTPUTS; k++) {
        all += p->out[k] ? p->out_bytes[k] : 0;
    }
    return set_prepare_room(p, all);
}

void set_collect(void *state, const peer_instance *p) {
    set_job *s = state;
    for (int k = 0; k < PEER_OUTPUTS && p->out[k]; k++) {
        memcpy(p->out[k], s->out[k], p->out_bytes[k]);
    }
}
