/* The clause of the source, elements() or grid(), in a segment: for those who read it or run it by
 * itself. Whoever runs the module gives each launch its grid. It takes params along; a buffer that
 * the segment does not use is not bound for its length alone, so then there is no clause. */
#include "ir/size.h"
#include "split/segment_state.h"

/* The number that one axis of the clause is, if it is one: lengths may be constant, too. */
static bool know_length(void *user, vyre_decl decl, uint64_t *out_count) {
    static const vyre_size_env nothing = {0};
    const maker *m = user;
    const vyre_program_view *p = m->p;
    const vyre_expr size = p->decls[decl].size;
    vyre_decl unknown;
    return size != VYRE_NONE &&
           vyre_size_evaluate(p, size, &nothing, out_count, &unknown) == VYRE_SIZE_OK;
}

static bool is_number(maker *m, vyre_expr root, uint64_t *out_count) {
    const vyre_size_env env = {.len = know_length, .user = m};
    vyre_decl unknown;
    return vyre_size_evaluate(m->p, root, &env, out_count, &unknown) == VYRE_SIZE_OK;
}

bool vyre_segment_note_clause(maker *m) {
    bool says = true;
    for (int axis = 0; axis < 3 && m->p->clause[axis] != VYRE_NONE; axis++) {
        const vyre_expr root = m->p->clause[axis];
        uint64_t count;
        const bool reads = !is_number(m, root, &count);
        for (vyre_expr e = vyre_expr_first(m->p, root); reads && e <= root; e++) {
            says &= m->p->exprs[e].op != VYRE_EXPR_LEN || m->access[m->p->exprs[e].ref];
        }
    }
    for (int axis = 0; axis < 3 && m->p->clause[axis] != VYRE_NONE && says; axis++) {
        const vyre_expr root = m->p->clause[axis];
        uint64_t count;
        if (!is_number(m, root, &count)) {
            vyre_segment_note_exprs(m, vyre_expr_first(m->p, root), root + 1);
        }
    }
    return says;
}

static vyre_expr clause_axis(maker *m, vyre_expr root) {
    uint64_t count;
    return root == VYRE_NONE            ? VYRE_NONE
           : is_number(m, root, &count) ? vyre_build_size(m->b, (int64_t)count)
                                        : vyre_rewrite_expr(&m->rw, root);
}

void vyre_segment_keep_clause(maker *m) {
    if (m->p->clause_kind == VYRE_CLAUSE_ELEMENTS) {
        vyre_build_elements(m->b, clause_axis(m, m->p->clause[0]));
    } else if (m->p->clause_kind == VYRE_CLAUSE_GRID) {
        vyre_build_grid(m->b, clause_axis(m, m->p->clause[0]), clause_axis(m, m->p->clause[1]),
                        clause_axis(m, m->p->clause[2]));
    }
}
