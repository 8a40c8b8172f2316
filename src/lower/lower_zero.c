/* Workgroup memory that begins as zeros, on a device where it begins as anything:
 *
 *     for (i in self .. len step lanes) { m[i] = 0; } ... barrier;
 *
 * before all else, for memory from which something may be read that nobody has written. That is not
 * so if nothing reads it, or if all lanes together write all of it, and pass a barrier, before
 * anything else is done with it: stores at the top level and in counted loops there, whose indices
 * and bounds are made of local ids and constants. These are found by computing them for every lane
 * (at most TRIPS of them), which needs no theory of indices: x, y * 16 + x, 63 - x, i in x .. 1024
 * step 256 are all the same to it. A lane that may end before spoils it. */
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "ir/builder.h"
#include "ir/each.h"
#include "ir/fold.h"
#include "ir/size.h"
#include "lower/capabilities.h"
#include "lower/rewrites.h"

enum { TRIPS = 1 << 16, NODES = 64, NAMES = 8 };

typedef struct zeroing {
    const vyre_program_view *p;
    const vyre_allocator *a;
    bool *needs;       /* per declaration */
    vyre_expr *values; /* per variable: what it always is, or VYRE_NONE */
    uint32_t lanes;    /* of a group */
} zeroing;

/* Values of a lane */

typedef struct lane {
    uint32_t id[3];
    vyre_var loop;  /* a counter, or VYRE_NONE, */
    uint32_t count; /* and its value */
} lane;

static bool evaluate(const zeroing *all, const lane *of, vyre_expr root, uint32_t names,
                     uint64_t *out_value);

static bool evaluate_leaf(const zeroing *all, const lane *of, const vyre_expr_node *n,
                          uint32_t names, uint64_t *out_value) {
    const vyre_program_view *p = all->p;
    switch ((int)n->op) {
    case VYRE_EXPR_LITERAL: *out_value = n->u.bits; return true;
    case VYRE_EXPR_REF:
        return p->decls[n->ref].role == VYRE_CONST && vyre_fold_const(p, n->ref, out_value);
    case VYRE_EXPR_BUILTIN:
        *out_value = n->sub == VYRE_BUILTIN_LOCAL_ID ? of->id[n->axis] : p->workgroup[n->axis];
        return n->sub == VYRE_BUILTIN_LOCAL_ID || n->sub == VYRE_BUILTIN_GROUP_SIZE;
    case VYRE_EXPR_VAR:
        if (n->ref == of->loop) {
            *out_value = of->count;
            return true;
        }
        return names > 0 && all->values[n->ref] != VYRE_NONE &&
               evaluate(all, of, all->values[n->ref], names - 1, out_value);
    default: return false;
    }
}

/* `names` bounds how many names are followed, one inside another. */
static bool evaluate(const zeroing *all, const lane *of, vyre_expr root, uint32_t names,
                     uint64_t *out_value) {
    const vyre_program_view *p = all->p;
    uint64_t values[NODES];
    vyre_expr first = vyre_expr_first(p, root);
    if (root - first >= NODES) {
        return false;
    }
    for (vyre_expr e = first; e <= root; e++) {
        const vyre_expr_node *n = &p->exprs[e];
        uint32_t arity = vyre_expr_info_of((vyre_expr_op)n->op)->arity;
        uint64_t in[3] = {0};
        for (uint32_t i = 0; i < arity; i++) {
            in[i] = values[n->u.arg[i] - first];
        }
        bool known = arity == 0 ? evaluate_leaf(all, of, n, names, &values[e - first])
                                : vyre_fold(p, e, in, &values[e - first]);
        if (!known) {
            return false;
        }
    }
    *out_value = values[root - first];
    return true;
}

static lane lane_of(const zeroing *all, uint32_t number) {
    const uint32_t *size = all->p->workgroup;
    return (lane){.id = {number % size[0], number / size[0] % size[1], number / size[0] / size[1]},
                  .loop = VYRE_NONE};
}

/* What is written */

typedef struct cover {
    vyre_decl decl;
    bool *written; /* per element */
    uint32_t count, left;
    uint32_t trips; /* spent */
} cover;

static void write_at(cover *c, uint64_t index) {
    if (index < c->count && !c->written[index]) {
        c->written[index] = true;
        c->left--;
    }
}

static bool reads(const vyre_program_view *p, const vyre_stmt_node *n, vyre_decl decl) {
    for (vyre_expr e = n->first_expr; e < n->end_expr; e++) {
        if (p->exprs[e].op == VYRE_EXPR_LOAD && p->exprs[e].ref == decl) {
            return true;
        }
    }
    return false;
}

static bool touches(const vyre_program_view *p, const vyre_stmt_node *n, vyre_decl decl) {
    return n->decl == decl || n->decl2 == decl || reads(p, n, decl);
}

/* A store of every lane. */
static bool cover_store(const zeroing *all, cover *c, const vyre_stmt_node *n) {
    for (uint32_t i = 0; i < all->lanes; i++) {
        lane of = lane_of(all, i);
        uint64_t index;
        if (++c->trips > TRIPS || !evaluate(all, &of, n->arg[0], NAMES, &index)) {
            return false;
        }
        write_at(c, index);
    }
    return true;
}

/* A counted loop of every lane whose body is a plain list; the trips of one lane. */
static bool cover_trips(const zeroing *all, cover *c, vyre_stmt loop, lane of) {
    const vyre_program_view *p = all->p;
    const vyre_stmt_node *n = &p->stmts[loop];
    uint64_t from, to, step = 1;
    if (!evaluate(all, &of, n->arg[0], NAMES, &from) ||
        !evaluate(all, &of, n->arg[1], NAMES, &to) ||
        (n->arg[2] != VYRE_NONE && !evaluate(all, &of, n->arg[2], NAMES, &step))) {
        return false;
    }
    of.loop = n->var;
    for (uint64_t i = from; i < to && step != 0; i += step) {
        of.count = (uint32_t)i;
        for (vyre_stmt s = loop + 1; s < n->match; s++) {
            uint64_t index;
            if (++c->trips > TRIPS) {
                return false;
            }
            if (p->stmts[s].op == VYRE_STMT_STORE && p->stmts[s].decl == c->decl) {
                if (!evaluate(all, &of, p->stmts[s].arg[0], NAMES, &index)) {
                    return false;
                }
                write_at(c, index);
            }
        }
    }
    return true;
}

static bool cover_loop(const zeroing *all, cover *c, vyre_stmt loop) {
    const vyre_program_view *p = all->p;
    for (vyre_stmt s = loop + 1; s < p->stmts[loop].match; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        bool plain = n->op == VYRE_STMT_LET || n->op == VYRE_STMT_STORE;
        if (!plain || reads(p, n, c->decl)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < all->lanes; i++) {
        if (!cover_trips(all, c, loop, lane_of(all, i))) {
            return false;
        }
    }
    return true;
}

static vyre_stmt end_of(const vyre_program_view *p, vyre_stmt s) {
    if (vyre_stmt_info_of((vyre_stmt_op)p->stmts[s].op)->scope != VYRE_SCOPE_OPEN) {
        return s;
    }
    vyre_stmt end = p->stmts[s].match;
    return p->stmts[end].op == VYRE_STMT_ELSE ? p->stmts[end].match : end;
}

/* Whether [s, end] does something to the memory, or lets a lane not get behind it. */
static bool concerns(const vyre_program_view *p, vyre_stmt s, vyre_stmt end, vyre_decl decl) {
    for (; s <= end; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        if (touches(p, n, decl) || n->op == VYRE_STMT_EXIT || n->op == VYRE_STMT_TRAP) {
            return true;
        }
    }
    return false;
}

static bool is_barrier(uint8_t op) {
    return op == VYRE_STMT_BARRIER || op == VYRE_STMT_GRID_SYNC;
}

/* Whether all of it is written, and a barrier passed, before anything else is done with it. */
static bool is_written_first(const zeroing *all, cover *c) {
    const vyre_program_view *p = all->p;
    for (vyre_stmt s = p->entry; s < p->stmt_count; s = end_of(p, s) + 1) {
        const vyre_stmt_node *n = &p->stmts[s];
        if (is_barrier(n->op) && c->left == 0) {
            return true;
        }
        if (!concerns(p, s, end_of(p, s), c->decl)) {
            continue;
        }
        bool stores = n->op == VYRE_STMT_STORE && !reads(p, n, c->decl);
        bool covers =
            stores ? cover_store(all, c, n)
                   : n->op == VYRE_STMT_FOR && !reads(p, n, c->decl) && cover_loop(all, c, s);
        if (!covers) {
            return false;
        }
    }
    return false;
}

/* Whether anything looks at what is there. */
static bool is_read(const vyre_program_view *p, vyre_decl decl) {
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        if (reads(p, n, decl) || (n->decl == decl && n->op != VYRE_STMT_STORE)) {
            return true;
        }
    }
    return false;
}

static uint32_t count_of(const vyre_program_view *p, vyre_decl decl) {
    static const vyre_size_env nothing = {0};
    uint64_t count = 0;
    (void)vyre_size_evaluate(p, p->decls[decl].size, &nothing, &count, NULL);
    return (uint32_t)count;
}

static bool judge(zeroing *all, vyre_decl decl, bool *out_any) {
    const vyre_program_view *p = all->p;
    if (p->decls[decl].role != VYRE_WORKGROUP || !is_read(p, decl)) {
        return true;
    }
    uint32_t count = count_of(p, decl);
    cover c = {.decl = decl, .count = count, .left = count};
    c.written = vyre_alloc_zeroed(all->a, count, sizeof *c.written);
    if (!c.written) {
        return false;
    }
    all->needs[decl] = count > 0 && !is_written_first(all, &c);
    *out_any |= all->needs[decl];
    vyre_free(all->a, c.written, count, sizeof *c.written);
    return true;
}

static void find_values(zeroing *all) {
    const vyre_program_view *p = all->p;
    memset(all->values, 0xff, p->var_count * sizeof *all->values);
    for (vyre_stmt s = p->entry; s < p->stmt_count; s = end_of(p, s) + 1) {
        if (p->stmts[s].op == VYRE_STMT_LET) {
            all->values[p->stmts[s].var] = p->stmts[s].arg[0];
        }
    }
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        if (p->stmts[s].op == VYRE_STMT_ASSIGN) {
            all->values[p->stmts[s].var] = VYRE_NONE;
        }
    }
}

/* Writing the result */

static void begin(vyre_each *each) {
    const zeroing *all = each->user;
    const vyre_program_view *p = all->p;
    vyre_builder *b = each->rw.to;
    vyre_expr self = vyre_build_id(b, VYRE_BUILTIN_LOCAL_ID, 2);
    for (uint32_t axis = 2; axis-- > 0;) {
        vyre_expr far =
            vyre_build_op(b, VYRE_EXPR_MUL, self, vyre_build_u32(b, p->workgroup[axis]), VYRE_NONE);
        vyre_expr near = vyre_build_id(b, VYRE_BUILTIN_LOCAL_ID, axis);
        self = p->workgroup[axis + 1] * (axis == 0 ? p->workgroup[2] : 1) > 1
                   ? vyre_build_op(b, VYRE_EXPR_ADD, near, far, VYRE_NONE)
                   : near;
    }
    vyre_build_block(b);
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        if (all->needs[d]) {
            vyre_type type = vyre_type_widened((vyre_type)p->decls[d].type);
            vyre_expr i = vyre_build_var(b, vyre_build_for(b, vyre_each_name(each, "_i"), self,
                                                           vyre_build_len(b, each->rw.decls[d]),
                                                           vyre_build_u32(b, all->lanes)));
            vyre_build_store(b, each->rw.decls[d], i, vyre_build_literal(b, type, 0));
            vyre_build_end(b);
        }
    }
    vyre_build_end(b);
    vyre_build_barrier(b, VYRE_SEQ_CST);
}

vyre_status vyre_lower_zero(vyre_program *program, const vyre_capabilities *can,
                            const vyre_allocator *a, vyre_program **out_program, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    zeroing all = {.p = p, .a = a};
    bool any = false, ok = true;
    if (!can->zeroes_workgroup) {
        all.lanes = p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
        all.needs = vyre_alloc_zeroed(a, p->decl_count, sizeof *all.needs);
        all.values = vyre_alloc(a, p->var_count, sizeof *all.values);
        ok = all.needs && all.values;
        if (ok) {
            find_values(&all);
        }
        for (vyre_decl d = 0; d < p->decl_count && ok; d++) {
            ok = judge(&all, d, &any);
        }
    }
    vyre_status status = VYRE_OK;
    if (!ok) {
        status = vyre_fail_memory(diag, "lowering");
    } else if (any) {
        status = vyre_each_rewrite(program, begin, NULL, &all, a, out_program, diag);
    } else {
        *out_program = vyre_program_retain(program);
    }
    vyre_free(a, all.needs, p->decl_count, sizeof *all.needs);
    vyre_free(a, all.values, p->var_count, sizeof *all.values);
    return status;
}
