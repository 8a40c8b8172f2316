/* Which workgroup memory do all groups fill alike?
 *
 * A value is alike if lanes of the same local id have the same one in all groups (`differs` of a
 * shape says that they may not). Memory is alike if every write to it, of the whole program, has an
 * alike index, value and control. By induction over the time of one group: it is zero at first;
 * what a group does to it depends on alike values only, and so does who is there to do it, if every
 * exit and trap stands under alike control; so after as many workgroup barriers it is the same in
 * all groups. Two lanes that write one element between barriers, or one that reads what another one
 * writes, race: then the program is wrong, and groups may differ.
 *
 * Atomics are no races, so their order must not matter: on integers, and of one kind for each
 * memory (additions and subtractions are one), since an addition and a maximum do not commute. What
 * they return does depend on the order, and is never alike.
 *
 * Everything is alike until it is found not to be; shape.c repeats this with the solver. */
#include "analysis/shape_graph.h"

typedef struct survey {
    vyre_shapes *s;
    uint8_t *kinds; /* per declaration: atomics that change it, + 1; 0: none */
    bool *unlike;   /* what is found */
} survey;

/* Atomics whose order does not matter among themselves have the same number, others VYRE_NONE. */
static uint32_t kind_of(const vyre_program_view *p, const vyre_stmt_node *stmt) {
    if (!vyre_type_is_integer((vyre_type)p->decls[stmt->decl].type)) {
        return VYRE_NONE;
    }
    switch ((uint32_t)stmt->sub) {
    case VYRE_ATOMIC_SUB: return VYRE_ATOMIC_ADD;
    case VYRE_ATOMIC_ADD:
    case VYRE_ATOMIC_MIN:
    case VYRE_ATOMIC_MAX:
    case VYRE_ATOMIC_AND:
    case VYRE_ATOMIC_OR:
    case VYRE_ATOMIC_XOR: return stmt->sub;
    default: return VYRE_NONE;
    }
}

static void note_unlike(void *user, vyre_decl decl, uint32_t effect, vyre_expr load) {
    survey *v = user;
    (void)load;
    if (effect & VYRE_EFFECT_WRITE) {
        v->unlike[decl] = true;
    }
}

static void look_at_write(survey *v, uint32_t visit, const vyre_stmt_node *stmt) {
    const vyre_shapes *s = v->s;
    bool differs = vyre_shapes_control(s, visit).differs;
    vyre_shapes_evaluate(s, visit, s->scratch);
    for (uint32_t i = 0; i < sizeof stmt->arg / sizeof stmt->arg[0]; i++) {
        differs |= stmt->arg[i] != VYRE_NONE && s->scratch[stmt->arg[i] - stmt->first_expr].differs;
    }
    if (stmt->op == VYRE_STMT_ATOMIC && stmt->sub != VYRE_ATOMIC_LOAD) {
        const uint32_t kind = kind_of(s->program, stmt);
        uint8_t *known = &v->kinds[stmt->decl];
        differs |= kind == VYRE_NONE || (*known != 0 && *known != kind + 1);
        *known = (uint8_t)(kind + 1);
    }
    v->unlike[stmt->decl] |= differs;
}

/* False: lanes may end in one group and go on in another. */
static bool look_at_visit(survey *v, uint32_t visit) {
    const vyre_program_view *p = v->s->program;
    const vyre_stmt at = v->s->visits.data[visit].stmt;
    const vyre_stmt_node *stmt = &p->stmts[at];
    switch ((uint32_t)stmt->op) {
    case VYRE_STMT_EXIT:
    case VYRE_STMT_TRAP: return !vyre_shapes_control(v->s, visit).differs;
    case VYRE_STMT_STORE:
    case VYRE_STMT_ATOMIC:
        if (p->decls[stmt->decl].role == VYRE_WORKGROUP) {
            look_at_write(v, visit, stmt);
        }
        return true;
    case VYRE_STMT_CALL: /* the visits of its body follow, unless it is opaque */
        if (!p->fns[stmt->fn].opaque) {
            return true;
        }
        break;
    default: break;
    }
    vyre_effects_of(v->s->effects, at, note_unlike, v);
    return true;
}

/* Takes over what was found and tells those who load it. */
static bool take_over(const survey *v, bool *out_changed) {
    vyre_shapes *s = v->s;
    const vyre_program_view *p = s->program;
    bool ok = true;
    for (uint32_t visit = 0; visit < s->visits.count && ok; visit++) {
        const vyre_stmt_node *stmt = &p->stmts[s->visits.data[visit].stmt];
        bool concerns = false;
        for (vyre_expr i = stmt->first_expr; i < stmt->end_expr; i++) {
            const vyre_expr_node *e = &p->exprs[i];
            concerns |= e->op == VYRE_EXPR_LOAD && v->unlike[e->ref] && !s->unlike[e->ref];
        }
        *out_changed |= concerns;
        if (concerns && s->visits.data[visit].node != VYRE_NONE) {
            ok = vyre_shapes_enqueue(s, s->visits.data[visit].node);
        }
    }
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        s->unlike[d] |= v->unlike[d];
    }
    return ok;
}

vyre_status vyre_shapes_mark_memory(vyre_shapes *s, bool *out_changed) {
    const vyre_program_view *p = s->program;
    const vyre_allocator *a = &s->allocator;
    survey v = {.s = s};
    bool any = false, ends_alike = true, ok = true;
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        any |= p->decls[d].role == VYRE_WORKGROUP && !s->unlike[d];
    }
    if (!any) {
        return VYRE_OK;
    }
    v.kinds = vyre_alloc_zeroed(a, p->decl_count, sizeof *v.kinds);
    v.unlike = vyre_alloc_zeroed(a, p->decl_count, sizeof *v.unlike);
    ok = v.kinds && v.unlike;
    for (uint32_t visit = 0; visit < s->visits.count && ok; visit++) {
        ends_alike &= look_at_visit(&v, visit);
    }
    for (vyre_decl d = 0; d < p->decl_count && ok && !ends_alike; d++) {
        v.unlike[d] = true;
    }
    ok = ok && take_over(&v, out_changed);
    vyre_free(a, v.kinds, p->decl_count, sizeof *v.kinds);
    vyre_free(a, v.unlike, p->decl_count, sizeof *v.unlike);
    return ok ? VYRE_OK : VYRE_OUT_OF_MEMORY;
}
