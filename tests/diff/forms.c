#include "diff/forms.h"

#include <string.h>

#include "vyre/backend.h"

const form forms[FORM_COUNT] = {
    {"groups dissolved", "form", "groups are dissolved", FORM_ANY},
    {"groups one after another", "form", "group after group", FORM_ANY},
    {"lanes one after another", "lanes", "one after another", FORM_ANY},
    {"gangs", "lanes", "vectors have", FORM_ANY},
    {"gangs as short as rows", "lanes", "rows of a group", FORM_ANY},
    {"subgroups", "lanes", "subgroup operations", FORM_ANY},
    {"only one lane", "lanes", "lets no other pass", FORM_ANY},
    {"prefixes", "loop", "prefixes at once", FORM_ANY},
    {"loads of later trips", "prefetch", "later trips", FORM_ANY},
    {"guards that clip", "if", "clips the range", FORM_ANY},
    {"conditions as masks", "if", "masked", FORM_ANY},
    {"stores to nowhere", "if", "nobody reads", FORM_ANY},
    {"blends", "store", "blended", FORM_ANY},
    {"loops in common", "loop", "one loop for", FORM_ANY},
    {"loops of one lane", "loop", "a loop of one lane", FORM_ANY},
    {"trips of one lane at once", "loop", "trips of one lane", FORM_ANY},
    {"loops that are unrolled", "unrolled", "follow each other", FORM_ANY},
    {"trips of all groups", "loop", "all groups make", FORM_ANY},
    {"loops that vary", "loop", "from lane to lane", FORM_ANY},
    {"loops that vary in near memory", "loop", "nearest cache", FORM_MASKS},
    {"loops over ranges", "range", "once for all trips", FORM_ANY},
    /* Those of narrow vectors are too small for what random programs walk along. */
    {"tiles of rows, loaded", "rows", "loaded at once", FORM_MASKS},
    {"tiles of rows, stored", "rows", "stored at once", FORM_MASKS},
    {"16 bits", "bits", "16 for each lane", FORM_ANY},
    {"stores past the caches", "stores", "past the caches", FORM_ANY},
    {"products for quotients", "division", "product", FORM_ANY},
    {"atomics of a gang", "atomic", "one for", FORM_ANY},
    {"atomics of a range", "atomic", "one for a range", FORM_ANY},
    {"atomics without locks", "atomic", "no lock", FORM_ALONE},
    {"indices that may be consecutive", "load", "turn out", FORM_ANY},
    {"masked remainders", "remainders", "masked", FORM_MASKS},
};

typedef struct seen {
    bool has[FORM_COUNT];
} seen;

static bool see(void *user, const vyre_decision *d) {
    seen *s = user;
    for (uint32_t i = 0; i < FORM_COUNT; i++) {
        s->has[i] |= strcmp(d->topic, forms[i].topic) == 0 &&
                     (strstr(d->choice, forms[i].told) || strstr(d->reason, forms[i].told));
    }
    return true;
}

vyre_status forms_count(const vyre_program *program, const char *uri, uint64_t counts[FORM_COUNT],
                        vyre_diag *diag) {
    seen s = {0};
    vyre_module *module = NULL;
    const vyre_status status =
        vyre_backend_explain(NULL, uri, program, NULL, NULL, &module, see, &s, diag);
    for (uint32_t i = 0; i < FORM_COUNT && status == VYRE_OK; i++) {
        counts[i] += s.has[i];
    }
    vyre_module_release(module);
    return status;
}
