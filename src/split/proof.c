/* Only control that is uniform over the scope may leave a segment. The shapes are those of the very
 * program that is cut, after all that was done to it, so nothing that was believed before counts.
 * Cost: the conditions of the blocks. */
#include "split/proof.h"

#include "base/diag.h"

/* The values that decide: a condition, or from, to and step of a counted loop. */
static bool decides_for_all(const vyre_program_view *p, const vyre_shapes *shapes, vyre_stmt at,
                            vyre_shape_kind whole, vyre_shape *room) {
    const vyre_stmt_node *n = &p->stmts[at];
    bool all = vyre_shape_uniform(vyre_shapes_control(shapes, at - p->entry), whole);
    vyre_shapes_exprs(shapes, at - p->entry, room);
    for (uint32_t i = 0; i < vyre_stmt_info_of((vyre_stmt_op)n->op)->args; i++) {
        all &= n->arg[i] == VYRE_NONE || vyre_shape_uniform(room[n->arg[i] - n->first_expr], whole);
    }
    return all;
}

vyre_status vyre_prove_uniform(const vyre_blocks *blocks, const vyre_program *program,
                               const vyre_shapes *shapes, vyre_shape *room, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    const bool grid = blocks->scope == VYRE_SPLIT_SCOPE_GRID;
    for (uint32_t i = 0; i < blocks->list.count; i++) {
        const vyre_block *b = &blocks->list.data[i];
        if (b->exit == VYRE_EXIT_BRANCH &&
            !decides_for_all(p, shapes, b->condition, grid ? VYRE_SHAPE_GRID : VYRE_SHAPE_GROUP,
                             room)) {
            return vyre_fail_at(diag, VYRE_INTERNAL, "",
                                vyre_program_stmt_place(program, b->condition),
                                "please report this program; a device with barriers runs it whole",
                                "splitting %s would decide here once for all lanes of the %s, "
                                "which may not agree",
                                p->name, grid ? "grid" : "workgroup");
        }
    }
    return VYRE_OK;
}
