/* What sets every element:
 *
 *     tile[local_id.y][local_id.x] = e;            workgroup memory with an element for each lane,
 *                                                  where all lanes of a group come there together
 *                                                  and none has ended
 *     if (c) { tile[local_id.x] = e; } else { tile[local_id.x] = f; }
 *                                                  likewise: each lane sets its own in either arm
 *     for (i in local_id.x .. N step lanes of the group) { ... tile[i] = e; ... }
 *                                                  workgroup memory of N elements, likewise, if the
 *                                                  loop has no other access to it, does not jump
 *     for (i in 0 .. N) { ... a[i] = e; ... }      a private array of N elements, if the loop has
 *                                                  no other access to it and does not jump
 *     a[0] = e;  a[1] = e; ...                     a private array of at most 64, in one list
 *
 * Loops may be two in each other, and the index any sum that goes over all (cover.h). A lane that
 * reads another's element without a barrier behind the first forms has a race, and may find
 * anything. A statement is looked at once, and once for each loop with constant bounds and each
 * `if` around it. */
#include "split/overwrite.h"

#include <string.h>

#include "ir/size.h"

enum { MOST_BITS = 64 };

static void add(vyre_overwrites *o, vyre_decl d) {
    o->failed |= !vyre_vec_push(&o->allocator, &o->found, d);
}

/* Whether all lanes of each group execute the statement. */
static bool is_for_all_lanes(const vyre_overwrites *o, vyre_stmt s) {
    return !o->lanes_end &&
           vyre_shape_uniform(vyre_shapes_control(o->shapes, s - o->p->entry), VYRE_SHAPE_GROUP);
}

/* Whether the store, in the loops that were entered, goes over all of its memory. */
static bool fills(const vyre_overwrites *o, const vyre_cover *cover, vyre_stmt s) {
    const vyre_stmt_node *n = &o->p->stmts[s];
    const uint64_t count = o->memory[n->decl].count;
    return o->p->decls[n->decl].role == VYRE_PRIVATE ? vyre_cover_by_lane(cover, n->arg[0], count)
                                                     : vyre_cover_by_group(cover, n->arg[0], count);
}

static bool is_local(const vyre_overwrites *o, vyre_decl d) {
    return o->p->decls[d].role == VYRE_PRIVATE || o->p->decls[d].role == VYRE_WORKGROUP;
}

static bool completes_private(vyre_overwrites *o, vyre_stmt s, uint32_t list) {
    const vyre_stmt_node *n = &o->p->stmts[s];
    vyre_overwrite_memory *m = &o->memory[n->decl];
    uint64_t index;
    if (m->count > MOST_BITS || !vyre_cover_element(&o->outside, n->arg[0], &index) ||
        index >= m->count) {
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

/* Stores of a loop's list, and of loops in it. */
static void note_stores(vyre_overwrites *o, vyre_stmt loop, bool by_all) {
    const vyre_stmt_node *stmts = o->p->stmts;
    vyre_cover cover = o->outside;
    uint32_t depth = 0;
    vyre_stmt inner = VYRE_NONE; /* that was entered */
    (void)vyre_cover_enter(&cover, loop);
    for (vyre_stmt s = loop + 1; s < stmts[loop].match; s++) {
        const vyre_stmt_node *n = &stmts[s];
        vyre_scope scope = (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)n->op)->scope;
        if (depth == 0 && n->op == VYRE_STMT_FOR && !has_jumps(o, s) &&
            vyre_cover_enter(&cover, s)) {
            inner = s;
        } else if (scope == VYRE_SCOPE_END && n->match == inner) {
            cover.loops--;
            inner = VYRE_NONE;
        }
        depth += scope == VYRE_SCOPE_OPEN;
        depth -= scope == VYRE_SCOPE_END;
        count_accesses(o, s, loop);
        const bool in_list = depth == (inner == VYRE_NONE ? 0 : 1);
        if (in_list && n->op == VYRE_STMT_STORE && is_local(o, n->decl)) {
            const bool all = by_all || o->p->decls[n->decl].role == VYRE_PRIVATE;
            o->memory[n->decl].filled = all && fills(o, &cover, s) ? s : VYRE_NONE;
        }
    }
}

static void look_at_loop(vyre_overwrites *o, vyre_stmt loop) {
    const vyre_stmt_node *stmts = o->p->stmts;
    vyre_cover cover = o->outside;
    if (!vyre_cover_enter(&cover, loop) || has_jumps(o, loop)) {
        return;
    }
    note_stores(o, loop, is_for_all_lanes(o, loop));
    for (vyre_stmt s = loop + 1; s < stmts[loop].match; s++) {
        vyre_decl d = stmts[s].decl;
        if (d != VYRE_NONE && o->memory[d].filled == s && o->memory[d].accesses == 1) {
            add(o, d);
        }
    }
}

/* Workgroup memory of which each lane sets the same element in both arms, and that is all. */
static void look_at_if(vyre_overwrites *o, vyre_stmt opener) {
    const vyre_stmt_node *stmts = o->p->stmts;
    const vyre_stmt middle = stmts[opener].match, end = stmts[middle].match;
    if (stmts[middle].op != VYRE_STMT_ELSE || !is_for_all_lanes(o, opener)) {
        return;
    }
    uint32_t depth = 0;
    for (vyre_stmt s = opener + 1; s < end; s++) {
        const vyre_stmt_node *n = &stmts[s];
        vyre_scope scope = (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)n->op)->scope;
        depth += scope == VYRE_SCOPE_OPEN;
        depth -= scope == VYRE_SCOPE_END;
        if ((n->op == VYRE_STMT_BREAK || n->op == VYRE_STMT_CONTINUE) && n->match < opener) {
            return;
        }
        count_accesses(o, s, opener);
        if (depth > 0 || n->op != VYRE_STMT_STORE || o->p->decls[n->decl].role != VYRE_WORKGROUP ||
            !fills(o, &o->outside, s)) {
            continue;
        }
        vyre_overwrite_memory *m = &o->memory[n->decl];
        if (s < middle || (m->filled != VYRE_NONE &&
                           vyre_cover_is_same(&o->outside, stmts[m->filled].arg[0], n->arg[0]))) {
            m->filled = s;
        }
    }
    for (vyre_stmt s = middle + 1; s < end; s++) {
        vyre_decl d = stmts[s].decl;
        if (d != VYRE_NONE && o->memory[d].filled == s && o->memory[d].accesses == 2) {
            add(o, d);
        }
    }
}

void vyre_overwrites_look(vyre_overwrites *o, vyre_stmt s, uint32_t list) {
    const vyre_stmt_node *n = &o->p->stmts[s];
    o->found.count = 0;
    if (n->op == VYRE_STMT_FOR) {
        look_at_loop(o, s);
    } else if (n->op == VYRE_STMT_IF) {
        look_at_if(o, s);
    } else if (n->op == VYRE_STMT_STORE && is_local(o, n->decl)) {
        if (o->p->decls[n->decl].role == VYRE_PRIVATE
                ? completes_private(o, s, list)
                : is_for_all_lanes(o, s) && fills(o, &o->outside, s)) {
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
    vyre_cover_init(&o->outside, program, o->value_of);
    return true;
}

void vyre_overwrites_finish(vyre_overwrites *o) {
    if (o->p) {
        vyre_free(&o->allocator, o->memory, o->p->decl_count, sizeof *o->memory);
        vyre_free(&o->allocator, o->value_of, o->p->var_count, sizeof *o->value_of);
        vyre_vec_free(&o->allocator, &o->found);
    }
}
