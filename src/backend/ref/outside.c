/* Accesses outside of their memory, counted for each statement and declaration. They are defined (a
 * load gives 0, anything else does nothing), but are seldom meant. */
#include "backend/ref/machine.h"

/* The indices of an access by row(row(z, h, y), w, x), and how long its memory is along each. */
static void take_apart(const vyre_ref_machine *m, vyre_outside *o, vyre_expr first,
                       vyre_expr index) {
    const vyre_expr_node *exprs = m->program->exprs;
    const uint32_t rank = m->program->decls[o->decl].rank;
    uint64_t inner = 1;
    for (uint32_t i = rank - 1; i > 0; i--) {
        o->indices[i] = (uint32_t)m->stack[exprs[index].u.arg[2] - first];
        o->lengths[i] = (uint32_t)m->stack[exprs[index].u.arg[1] - first];
        inner *= o->lengths[i];
        index = exprs[index].u.arg[0];
    }
    o->indices[0] = (uint32_t)m->stack[index - first];
    o->lengths[0] = inner == 0 ? 0 : (uint32_t)(m->arrays[o->decl].count / inner);
    while (o->dimension + 1 < rank && o->indices[o->dimension] < o->lengths[o->dimension]) {
        o->dimension++;
    }
    o->index = o->indices[o->dimension];
    o->length = o->lengths[o->dimension];
}

void vyre_ref_outside(vyre_ref_machine *m, const vyre_ref_lane *lane, vyre_decl decl,
                      vyre_expr first, vyre_expr index, bool writes) {
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
        vyre_outside *o = &list->items[list->count++];
        *o = (vyre_outside){.stmt = lane->pc,
                            .decl = decl,
                            .writes = writes,
                            .lane = vyre_ref_number(m, lane),
                            .count = 1};
        take_apart(m, o, first, index);
    }
}
