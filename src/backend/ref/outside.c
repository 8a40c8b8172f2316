/* Accesses outside of their memory, counted for each statement and declaration. They are defined (a
 * load gives 0, anything else does nothing), but are seldom meant. */
#include "backend/ref/machine.h"

void vyre_ref_outside(vyre_ref_machine *m, const vyre_ref_lane *lane, vyre_decl decl,
                      uint32_t index, bool writes) {
    vyre_outside_list *list = m->args->outside;
    uint32_t i = 0;
    if (!list) {
        return;
    }
    list->total++;
    for (; i < list->count; i++) {
        vyre_outside *o = &list->items[i];
        if (o->stmt == lane->pc && o->decl == decl && o->writes == writes) {
            o->count++;
            return;
        }
    }
    if (i < list->capacity) {
        list->items[list->count++] = (vyre_outside){.stmt = lane->pc,
                                                    .decl = decl,
                                                    .writes = writes,
                                                    .index = index,
                                                    .length = m->arrays[decl].count,
                                                    .lane = vyre_ref_number(m, lane),
                                                    .count = 1};
    }
}
