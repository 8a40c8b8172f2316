/* What sets every element:
 *
 *     tile[local_id.x] = e;                        workgroup memory with an element for each lane,
 *                                                  where all lanes of a group come there together
 *                                                  and none has ended
 *     for (i in local_id.x .. N step lanes of the group) { ... tile[i] = e; ... }
 *                                                  workgroup memory of N elements, likewise, if the
 *                                                  loop has no other access to it, does not jump
 *     for (i in 0 .. N) { ... a[i] = e; ... }      a private array of N elements, if the loop has
 *                                                  no other access to it and does not jump
 *     a[0] = e;  a[1] = e; ...                     a private array of at most 64, in one list
 *
 * A lane that reads another's element without a barrier behind the first forms has a race, and may
 * find anything. A statement is looked at once, and once for each loop with constant bounds around
 * it. */
#include "split/overwrite.h"

#include <string.h>

#include "ir/fold.h"
#include "ir/size.h"

enum { MOST_BITS = 64 };

static const vyre_expr_node *resolve(const vyre_overwrites *o, vyre_expr e) {
    while (e != VYRE_NONE && o->p->exprs[e].op == VYRE_EXPR_VAR &&
           o->value_of[o->p->exprs[e].ref] != VYRE_NONE) {
        e = o->value_of[o->p->exprs[e].ref]; /* which stands before */
    }
    return e == VYRE_NONE ? NULL : &o->p->exprs[e];
}

static bool is_constant(const vyre_overwrites *o, vyre_expr e, uint64_t *out_value) {
    const vyre_expr_node *n = resolve(o, e);
    if (n && n->op == VYRE_EXPR_LITERAL) {
        *out_value = n->u.bits;
        return true;
    }
    return n && n->op == VYRE_EXPR_REF && o->p->decls[n->ref].role == VYRE_CONST &&
           vyre_fold_const(o->p, n->ref, out_value);
}

static void add(vyre_overwrites *o, vyre_decl d) {
    o->failed |= !vyre_vec_push(&o->allocator, &o->found, d);
}

/* Whether all lanes of each group execute the statement, and the expression numbers them. */
static bool numbers_all_lanes(const vyre_overwrites *o, vyre_stmt s, vyre_expr e) {
    const vyre_expr_node *number = resolve(o, e);
    const uint32_t *size = o->p->workgroup;
    return number->op == VYRE_EXPR_BUILTIN && number->sub == VYRE_BUILTIN_LOCAL_ID &&
           number->axis == 0 && size[1] == 1 && size[2] == 1 && !o->lanes_end &&
           vyre_shape_uniform(vyre_shapes_control(o->shapes, s - o->p->entry), VYRE_SHAPE_GROUP);
}

static bool fills_workgroup(const vyre_overwrites *o, vyre_stmt s) {
    const vyre_stmt_node *n = &o->p->stmts[s];
    return numbers_all_lanes(o, s, n->arg[0]) && o->memory[n->decl].count == o->p->workgroup[0];
}

static bool completes_private(vyre_overwrites *o, vyre_stmt s, uint32_t list) {
    const vyre_stmt_node *n = &o->p->stmts[s];
    vyre_overwrite_memory *m = &o->memory[n->decl];
    uint64_t index;
    if (m->count > MOST_BITS || !is_constant(o, n->arg[0], &index) || index >= m->count) {
        return false;
    }
    m->set = (m->list == list ? m->set : 0) | UINT64_C(1) << index;
    m->list = list;
    return m->set == UINT64_MAX >> (MOST_BITS - m->count);
}

static vyre_overwrite_memory *memory_in(vyre_overwrites *o, vyre_decl d, vyre_stmt loop) {
    vyre_overwrite_memory *m = &o->memory[d];
    if (m->loop != loop) {
        m->loop = loop;
        m->accesses = 0;
        m->filled = VYRE_NONE;
    }
    return m;
}

static void count_accesses(vyre_overwrites *o, vyre_stmt s, vyre_stmt loop) {
    const vyre_stmt_node *n = &o->p->stmts[s];
    for (vyre_expr e = n->first_expr; e < n->end_expr; e++) {
        if (o->p->exprs[e].op == VYRE_EXPR_LOAD) {
            memory_in(o, o->p->exprs[e].ref, loop)->accesses++;
        }
    }
    if (n->decl != VYRE_NONE) {
        memory_in(o, n->decl, loop)->accesses++;
    }
    if (n->decl2 != VYRE_NONE) {
        memory_in(o, n->decl2, loop)->accesses++;
    }
}

/* Up to which constant the variable of a loop has all values from 0 on: in each lane, or in the
 * lanes of a group together. 0: none is known. */
static uint64_t reach(const vyre_overwrites *o, vyre_stmt loop, uint8_t *out_role) {
    const vyre_stmt_node *n = &o->p->stmts[loop];
    uint64_t from, to, step = 1;
    if (!is_constant(o, n->arg[1], &to) ||
        (n->arg[2] != VYRE_NONE && !is_constant(o, n->arg[2], &step))) {
        return 0;
    }
    if (is_constant(o, n->arg[0], &from)) {
        *out_role = VYRE_PRIVATE;
        return from == 0 && step == 1 ? to : 0;
    }
    *out_role = VYRE_WORKGROUP;
    return numbers_all_lanes(o, loop, n->arg[0]) && step == o->p->workgroup[0] ? to : 0;
}

static bool has_jumps(const vyre_overwrites *o, vyre_stmt loop) {
    const vyre_stmt_node *stmts = o->p->stmts;
    for (vyre_stmt s = loop; s < stmts[loop].match; s++) {
        if ((stmts[s].op == VYRE_STMT_BREAK || stmts[s].op == VYRE_STMT_CONTINUE) &&
            stmts[s].match == loop) {
            return true;
        }
    }
    return false;
}

static void look_at_loop(vyre_overwrites *o, vyre_stmt loop) {
    const vyre_stmt_node *stmts = o->p->stmts;
    vyre_stmt end = stmts[loop].match;
    uint8_t role = VYRE_PRIVATE;
    uint64_t count = reach(o, loop, &role);
    if (count == 0 || has_jumps(o, loop)) {
        return;
    }
    uint32_t depth = 0;
    for (vyre_stmt s = loop + 1; s < end; s++) {
        vyre_scope scope = (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)stmts[s].op)->scope;
        depth += scope == VYRE_SCOPE_OPEN;
        depth -= scope == VYRE_SCOPE_END;
        count_accesses(o, s, loop);
        if (depth == 0 && stmts[s].op == VYRE_STMT_STORE &&
            o->p->decls[stmts[s].decl].role == role) {
            const vyre_expr_node *index = resolve(o, stmts[s].arg[0]);
            vyre_overwrite_memory *m = &o->memory[stmts[s].decl];
            bool each = index->op == VYRE_EXPR_VAR && index->ref == stmts[loop].var;
            m->filled = each && m->count == count ? s : VYRE_NONE;
        }
    }
    for (vyre_stmt s = loop + 1; s < end; s++) {
        vyre_decl d = stmts[s].decl;
        if (d != VYRE_NONE && o->memory[d].filled == s && o->memory[d].accesses == 1) {
            add(o, d);
        }
    }
}

void vyre_overwrites_look(vyre_overwrites *o, vyre_stmt s, uint32_t list) {
    const vyre_stmt_node *n = &o->p->stmts[s];
    o->found.count = 0;
    if (n->op == VYRE_STMT_FOR) {
        look_at_loop(o, s);
    } else if (n->op == VYRE_STMT_STORE) {
        uint8_t role = o->p->decls[n->decl].role;
        if ((role == VYRE_WORKGROUP && fills_workgroup(o, s)) ||
            (role == VYRE_PRIVATE && completes_private(o, s, list))) {
            add(o, n->decl);
        }
    }
}

static void find_values(vyre_overwrites *o) {
    memset(o->value_of, 0xff, o->p->var_count * sizeof *o->value_of);
    for (vyre_stmt s = o->p->entry; s < o->p->stmt_count; s++) {
        const vyre_stmt_node *n = &o->p->stmts[s];
        if (n->op == VYRE_STMT_LET) {
            o->value_of[n->var] = n->arg[0];
        } else if (n->op == VYRE_STMT_ASSIGN) {
            o->value_of[n->var] = VYRE_NONE; /* it stands behind the binding */
        }
    }
}

static void find_counts(vyre_overwrites *o) {
    static const vyre_size_env nothing = {0};
    for (vyre_decl d = 0; d < o->p->decl_count; d++) {
        const vyre_decl_node *n = &o->p->decls[d];
        o->memory[d].list = o->memory[d].loop = o->memory[d].filled = VYRE_NONE;
        if (n->role == VYRE_PRIVATE || n->role == VYRE_WORKGROUP) { /* whose size is constant */
            (void)vyre_size_evaluate(o->p, n->size, &nothing, &o->memory[d].count, NULL);
        }
    }
}

bool vyre_overwrites_init(vyre_overwrites *o, const vyre_program_view *program,
                          const vyre_shapes *shapes, const vyre_allocator *a) {
    *o = (vyre_overwrites){.allocator = *a, .p = program, .shapes = shapes};
    o->lanes_end = program->stats.stmt_kinds >> VYRE_STMT_EXIT & 1 ||
                   program->stats.stmt_kinds >> VYRE_STMT_TRAP & 1;
    o->memory = vyre_alloc_zeroed(a, program->decl_count, sizeof *o->memory);
    o->value_of = vyre_alloc(a, program->var_count, sizeof *o->value_of);
    if (!o->memory || !o->value_of) {
        return false;
    }
    find_values(o);
    find_counts(o);
    return true;
}

void vyre_overwrites_finish(vyre_overwrites *o) {
    if (o->p) {
        vyre_free(&o->allocator, o->memory, o->p->decl_count, sizeof *o->memory);
        vyre_free(&o->allocator, o->value_of, o->p->var_count, sizeof *o->value_of);
        vyre_vec_free(&o->allocator, &o->found);
    }
}
