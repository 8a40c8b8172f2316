/* Notes are few (some for each segment and loop), so they are looked for one by one. */
#include "backend/cpu/notes.h"

#include <string.h>

/* Whether one tells what the other does: of the same statement, or the same of a copy of it. */
static bool is_same(const cpu_noted *a, const cpu_noted *b) {
    const vyre_decision *x = &a->decision, *y = &b->decision;
    const bool copies = x->place.line != 0 && x->place.line == y->place.line &&
                        x->place.col == y->place.col && strcmp(x->choice, y->choice) == 0 &&
                        strcmp(x->reason, y->reason) == 0;
    return x->segment == y->segment && x->part == y->part && (a->stmt == b->stmt || copies) &&
           strcmp(x->topic, y->topic) == 0;
}

void cpu_notes_add(cpu_notes *notes, const cpu_noted *noted) {
    for (uint32_t i = 0; notes && i < notes->list.count; i++) {
        cpu_noted *other = &notes->list.data[i];
        if (other->pending == noted->pending && is_same(other, noted)) {
            *other = *noted;
            return;
        }
    }
    if (notes) {
        notes->failed |= !vyre_vec_push(&notes->allocator, &notes->list, *noted);
    }
}

void cpu_notes_restart(cpu_notes *notes) {
    uint32_t kept = 0;
    for (uint32_t i = 0; notes && i < notes->list.count; i++) {
        if (!notes->list.data[i].pending) {
            notes->list.data[kept++] = notes->list.data[i];
        }
    }
    if (notes) {
        notes->list.count = kept;
    }
}

void cpu_notes_commit(cpu_notes *notes) {
    for (uint32_t i = 0; notes && i < notes->list.count; i++) {
        cpu_noted *noted = &notes->list.data[i];
        bool known = false;
        for (uint32_t k = 0; noted->pending && k < notes->list.count; k++) {
            known |= !notes->list.data[k].pending && is_same(noted, &notes->list.data[k]);
        }
        noted->pending &= known;
    }
    cpu_notes_restart(notes);
}

void cpu_notes_finish(cpu_notes *notes) {
    vyre_vec_free(&notes->allocator, &notes->list);
}
