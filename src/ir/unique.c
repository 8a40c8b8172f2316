/* Unique names by suffixes. */
#include "ir/unique.h"

#include <stdio.h>
#include <string.h>

void vyre_unique_init(vyre_unique *names, const vyre_allocator *a) {
    *names = (vyre_unique){0};
    vyre_intern_init(&names->used, a);
}

void vyre_unique_finish(vyre_unique *names) {
    vyre_free(&names->used.arena.allocator, names->next, names->capacity, sizeof *names->next);
    vyre_intern_finish(&names->used);
    names->next = NULL;
    names->capacity = 0;
}

/* The number of the text; *fresh tells whether it is new. */
static uint32_t add(vyre_unique *names, const char *text, bool *fresh) {
    uint32_t before = names->used.count;
    uint32_t number = vyre_intern_add(&names->used, text, strlen(text));
    if (number == VYRE_INTERN_NONE) {
        return VYRE_INTERN_NONE;
    }
    /* Names that the table got without a number (after a failure) make the step larger than one. */
    if (number >= names->capacity &&
        !vyre_vec_grow(&names->used.arena.allocator, (void **)&names->next, names->capacity,
                       &names->capacity, number + 1 - names->capacity, sizeof *names->next)) {
        return VYRE_INTERN_NONE;
    }
    *fresh = names->used.count > before;
    if (*fresh) {
        names->next[number] = 2;
    }
    return number;
}

bool vyre_unique_reserve(vyre_unique *names, const vyre_program_view *p) {
    bool fresh;
    for (uint32_t i = 0; i < p->decl_count; i++) {
        if (add(names, p->decls[i].name, &fresh) == VYRE_INTERN_NONE) {
            return false;
        }
    }
    for (uint32_t i = 0; i < p->fn_count; i++) {
        if (add(names, p->fns[i].name, &fresh) == VYRE_INTERN_NONE) {
            return false;
        }
    }
    return true;
}

const char *vyre_unique_name(vyre_unique *names, const char *name) {
    bool fresh = false;
    uint32_t base = add(names, name, &fresh);
    if (base == VYRE_INTERN_NONE || fresh) {
        return base == VYRE_INTERN_NONE ? NULL : vyre_intern_text(&names->used, base);
    }
    size_t keep = strlen(name);
    keep = keep > VYRE_LIMIT_NAME - 12 ? VYRE_LIMIT_NAME - 12 : keep;
    for (;;) {
        char text[VYRE_LIMIT_NAME + 1];
        (void)snprintf(text, sizeof text, "%.*s_%lu", (int)keep, name,
                       (unsigned long)names->next[base]++);
        uint32_t number = add(names, text, &fresh);
        if (number == VYRE_INTERN_NONE) {
            return NULL;
        }
        if (fresh) {
            return vyre_intern_text(&names->used, number);
        }
    }
}
