/* Loops of a program around loops over lanes.
 *
 * Lanes that wait for nobody may run in any order, also trip by trip: where all lanes of a group
 * make the same trips, the loop may stand around the loop over lanes instead of in it. Two kinds of
 * loops are turned so:
 *
 *   - one in which every access goes to the same element for all lanes, or to neighbouring ones for
 *     neighbouring lanes, and which holds nothing but such: compilers make vectors of the lanes;
 *   - one whose trips concern some lanes each (`if (global_id.x < end - trip)`): trips over all
 *     elements (opt_trips.h), which then go through memory in its order.
 *
 * Statements around a turned loop get loops over lanes of their own. Variables that both sides use
 * are computed again if that is an address or less, and else are arrays with an element for each
 * lane of a row; rows along y and z are outside of all this.
 *
 * A loop may have bounds that follow from a quotient, `v = i / width`, with an i that grows by one
 * from lane to lane. Then a row of lanes is parted where the quotient changes: in a part v is the
 * same for all lanes, and `i % width` grows by one.
 *
 * A body stays as it is if lanes may end, or have private memory, or rows are too short. */
#include "base/alloc.h"
#include "emit/lanes.h"

enum {
    SHORTEST_ROW = 8,   /* lanes: a vector or two */
    FEW_TRIPS = 4,      /* compilers write such loops out, and make vectors of lanes then */
    MOST_KEPT = 1 << 15 /* bytes of a row: what fits into the nearest cache */
};

/* ---- which loops are turned ---- */

static bool may_turn(const lanes *l) {
    const vyre_program_view *p = l->p;
    bool may = l->e->dialect->tunes_lanes && p->workgroup[0] >= SHORTEST_ROW;
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        may &= p->decls[d].role != VYRE_PRIVATE;
    }
    return may;
}

/* A variable that is bound once in each trip of the loops around. */
static void look_at_let(lanes *l, vyre_stmt s) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    if (!l->assigned[n->var]) {
        l->values[n->var] = n->arg[0];
        l->kinds[n->var] = (uint8_t)lanes_kind_of(l, n->first_expr, n->end_expr);
    }
}

static void forget_let(lanes *l, vyre_stmt s) {
    l->values[l->p->stmts[s].var] = VYRE_NONE;
    l->kinds[l->p->stmts[s].var] = KEPT;
}

/* Whether limits along x say all that an `if` asks. Inside of others they must not say which lane
 * is the first one. */
static bool is_limited(const lanes *l, vyre_stmt s, bool is_outermost) {
    const limits found = lanes_limits(l, s);
    bool fits = l->p->stmts[s].op == VYRE_STMT_IF && found.is_all && found.count > 0;
    for (uint32_t i = 0; i < found.count; i++) {
        fits &= found.of[i].axis == 0 && (is_outermost || !found.of[i].is_first);
    }
    return fits;
}

static bool is_near(const lanes *l, vyre_expr index, uint32_t least) {
    uint32_t factor;
    return lanes_factor(l, index, 16, &factor) && factor >= least && factor <= 1;
}

/* Whether all accesses of a statement are to the same element or to neighbours. */
static bool is_straight(const lanes *l, vyre_stmt s) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    bool fits = n->op == VYRE_STMT_LET || n->op == VYRE_STMT_ASSIGN ||
                (n->op == VYRE_STMT_STORE && is_near(l, n->arg[0], 1));
    for (vyre_expr i = n->first_expr; i < n->end_expr && fits; i++) {
        const vyre_expr_node *x = &l->p->exprs[i];
        fits = x->op != VYRE_EXPR_LOAD || is_near(l, x->u.arg[0], 0);
    }
    return fits;
}

static bool has_few_trips(const lanes *l, vyre_stmt loop) {
    const vyre_stmt_node *n = &l->p->stmts[loop];
    const vyre_expr_node *from = &l->p->exprs[n->arg[0]], *to = &l->p->exprs[n->arg[1]];
    return from->op == VYRE_EXPR_LITERAL && to->op == VYRE_EXPR_LITERAL &&
           to->u.bits <= from->u.bits + FEW_TRIPS;
}

/* Whether the body is of one of the kinds above; its variables are known then. */
static bool fits_around(lanes *l, vyre_stmt loop) {
    const vyre_stmt_node *n = &l->p->stmts[loop];
    bool straight = !has_few_trips(l, loop), trips = l->part == VYRE_NONE;
    uint32_t limited = 0;
    for (vyre_stmt s = loop + 1; s < n->match && (straight || trips); s = lanes_last_of(l, s) + 1) {
        const uint8_t op = l->p->stmts[s].op;
        if (op == VYRE_STMT_LET) {
            look_at_let(l, s);
        }
        straight = straight && is_straight(l, s);
        limited += trips && is_limited(l, s, false);
        trips = trips && (op == VYRE_STMT_LET || is_limited(l, s, false));
    }
    for (vyre_stmt s = loop + 1; s < n->match; s++) { /* who leaves it would leave lanes */
        const vyre_stmt_node *inner = &l->p->stmts[s];
        trips &= (inner->op != VYRE_STMT_BREAK && inner->op != VYRE_STMT_CONTINUE) ||
                 inner->match != loop;
    }
    return straight || (trips && limited > 0);
}

static bool is_common_loop(const lanes *l, vyre_stmt s) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    return n->op == VYRE_STMT_FOR && lanes_kind_of(l, n->first_expr, n->end_expr) == COMMON;
}

static bool turns(lanes *l, vyre_stmt s) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    if (!is_common_loop(l, s)) {
        return false;
    }
    l->kinds[n->var] = COMMON;
    if (fits_around(l, s)) {
        l->ways[s] = TURNED;
        return true;
    }
    l->kinds[n->var] = KEPT;
    for (vyre_stmt i = s + 1; i < n->match; i++) {
        if (l->p->stmts[i].op == VYRE_STMT_LET) {
            forget_let(l, i);
        }
    }
    return false;
}

/* `let v = i / width`, by which lanes might be parted. */
static bool is_quotient(const lanes *l, vyre_stmt s) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    if (n->op != VYRE_STMT_LET || l->kinds[n->var] != PURE ||
        l->p->exprs[n->arg[0]].op != VYRE_EXPR_DIV || l->p->exprs[n->arg[0]].type != VYRE_U32) {
        return false;
    }
    const vyre_expr_node *q = &l->p->exprs[n->arg[0]];
    const vyre_expr_node *x = &l->p->exprs[q->u.arg[0]], *by = &l->p->exprs[q->u.arg[1]];
    const bool is_name = by->op == VYRE_EXPR_REF || by->op == VYRE_EXPR_LITERAL ||
                         (by->op == VYRE_EXPR_VAR && l->kinds[by->ref] == COMMON);
    uint32_t factor;
    return x->op == VYRE_EXPR_VAR && is_name && lanes_factor(l, q->u.arg[0], 16, &factor) &&
           factor == 1;
}

/* Variables of [first, end), bound in what is around loops over lanes. */
static void look_again(lanes *l, vyre_stmt first, vyre_stmt end) {
    for (vyre_stmt s = first; s < end; s = lanes_last_of(l, s) + 1) {
        if (l->p->stmts[s].op == VYRE_STMT_LET && s != l->part) {
            look_at_let(l, s);
        }
    }
}

/* Whether the loop can be turned in parts of a row; `first` begins the statements that run so. */
static bool turns_in_parts(lanes *l, vyre_stmt first, vyre_stmt loop) {
    if (l->p->stmts[loop].op != VYRE_STMT_FOR || l->part != VYRE_NONE) {
        return false;
    }
    for (vyre_stmt s = first; s < loop; s = lanes_last_of(l, s) + 1) {
        if (!is_quotient(l, s)) {
            continue;
        }
        l->part = s;
        l->kinds[l->p->stmts[s].var] = COMMON;
        look_again(l, s + 1, loop);
        if (turns(l, loop)) {
            return true;
        }
        l->part = VYRE_NONE;
        look_again(l, s, loop);
    }
    return false;
}

/* What a statement becomes that holds others and is not inside of a loop over lanes. */
static bool opens(lanes *l, vyre_stmt s, vyre_stmt around_it, const bool *has_limits) {
    const uint8_t op = l->p->stmts[s].op;
    if (op == VYRE_STMT_BLOCK || op == VYRE_STMT_REGION) {
        l->ways[s] = OPENED;
    } else if (op == VYRE_STMT_IF && l->part == VYRE_NONE &&
               is_limited(l, s, around_it == VYRE_NONE)) {
        l->ways[s] = LIMITED;
    } else if (op == VYRE_STMT_FOR && !turns(l, s) && around_it != VYRE_NONE &&
               !has_limits[around_it] && turns_in_parts(l, around_it + 1, s)) {
        l->parts[around_it] = l->part;
    }
    return l->ways[s] != INSIDE;
}

/* All ways; true: a loop is turned. `has_limits`, by statement: it holds an `if` that is LIMITED.
 */
static bool find_ways(lanes *l, bool *has_limits) {
    vyre_stmt in = VYRE_NONE; /* the innermost statement that is around */
    bool found = false;
    for (vyre_stmt s = l->p->entry; s < l->p->stmt_count;) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        l->is_outer[s] = true;
        if (in != VYRE_NONE && s == lanes_last_of(l, in)) {
            l->part = l->parts[in] != VYRE_NONE ? VYRE_NONE : l->part;
            in = l->outside[in];
            s++;
        } else if (n->op == VYRE_STMT_LET) {
            if (in != VYRE_NONE) {
                look_at_let(l, s);
            }
            s++;
        } else if (opens(l, s, in, has_limits)) {
            found |= l->ways[s] == TURNED;
            if (in != VYRE_NONE && l->ways[s] != TURNED) {
                has_limits[in] = true;
            }
            l->outside[s] = in;
            in = s++;
        } else {
            s = lanes_last_of(l, s) + 1;
        }
    }
    return found;
}

/* Whether lanes may end, but for groups that end as a whole before they have done anything; and the
 * first statement behind that. */
static bool has_end(const lanes *l, vyre_stmt *out_behind) {
    bool early = true, ends = false;
    *out_behind = l->p->entry;
    for (vyre_stmt s = l->p->entry; s < l->p->stmt_count; s++) {
        const uint8_t op = l->p->stmts[s].op;
        if (early && lanes_is_common_end(l, s)) {
            s = lanes_last_of(l, s);
            *out_behind = s + 1;
            continue;
        }
        early = early && lanes_is_again(l, s);
        ends |= op == VYRE_STMT_EXIT || op == VYRE_STMT_TRAP;
    }
    return ends;
}

/* ---- variables that are kept in arrays ---- */

/* Where a variable is used first: in which run of statements between those that are around, and in
 * which turned loop. */
typedef struct first_use {
    uint32_t run; /* 0: nowhere yet */
    vyre_stmt loop;
} first_use;

/* `may_keep`: what is bound here may be kept; else it is computed again, whatever that costs. */
static void use_variable(lanes *l, first_use *uses, vyre_var v, first_use here, bool may_keep) {
    uint32_t factor;
    if (uses[v].run == 0) {
        uses[v] = here;
        uses[v].run = may_keep ? here.run : UINT32_MAX;
    }
    const bool is_costly = l->kinds[v] == PURE && uses[v].run != UINT32_MAX &&
                           uses[v].loop != here.loop && !lanes_factor(l, l->values[v], 16, &factor);
    l->in_rows[v] |= uses[v].run != here.run && (l->kinds[v] == KEPT || is_costly);
}

static vyre_stmt turned_around(const lanes *l, vyre_stmt in) {
    while (in != VYRE_NONE && l->ways[in] != TURNED) {
        in = l->outside[in];
    }
    return in;
}

static void find_kept(lanes *l, first_use *uses, vyre_stmt behind) {
    first_use here = {.run = 1, .loop = VYRE_NONE};
    for (vyre_stmt s = l->p->entry; s < l->p->stmt_count; s++) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        const bool opens_one = l->ways[s] != INSIDE;
        if (opens_one || (n->op == VYRE_STMT_END && l->ways[n->match] != INSIDE)) {
            const vyre_stmt part = l->parts[opens_one ? s : n->match];
            here.run++;
            here.loop = turned_around(l, opens_one ? s : l->outside[n->match]);
            l->part = part == VYRE_NONE ? l->part : opens_one ? part : VYRE_NONE;
        }
        for (vyre_expr i = n->first_expr; i < n->end_expr; i++) {
            if (l->p->exprs[i].op == VYRE_EXPR_VAR) {
                use_variable(l, uses, l->p->exprs[i].ref, here, s >= behind);
            }
        }
        if (n->var != VYRE_NONE) {
            use_variable(l, uses, n->var, here, s >= behind);
        }
    }
    for (vyre_var v = 0; v < l->p->var_count; v++) {
        l->kinds[v] = l->in_rows[v] ? KEPT : l->kinds[v];
    }
}

static uint64_t bytes_kept(const lanes *l) {
    uint64_t bytes = 0;
    for (vyre_var v = 0; v < l->p->var_count; v++) {
        bytes += l->in_rows[v] ? vyre_type_size((vyre_type)l->p->vars[v].type) : 0;
    }
    return bytes * l->p->workgroup[0];
}

bool lanes_find_turns(lanes *l) {
    const vyre_allocator *a = &l->e->a;
    vyre_stmt behind;
    if (!may_turn(l) || has_end(l, &behind)) {
        return false;
    }
    bool *has_limits = vyre_alloc_zeroed(a, l->p->stmt_count, sizeof *has_limits);
    first_use *uses = vyre_alloc_zeroed(a, l->p->var_count, sizeof *uses);
    bool found = false;
    if (has_limits && uses) {
        found = find_ways(l, has_limits);
    } else {
        l->e->failed = true;
    }
    if (found) {
        find_kept(l, uses, behind);
        found = bytes_kept(l) <= MOST_KEPT;
    }
    vyre_free(a, has_limits, l->p->stmt_count, sizeof *has_limits);
    vyre_free(a, uses, l->p->var_count, sizeof *uses);
    return found;
}

/* ---- writing ---- */

/* Variables that are the same for all lanes, bound in [first, end). */
static void put_common_lets(lanes *l, vyre_stmt first, vyre_stmt end) {
    lanes_with_tests(l, true);
    for (vyre_stmt s = first; s < end; s = lanes_last_of(l, s) + 1) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        if (n->op == VYRE_STMT_LET && l->kinds[n->var] == COMMON) {
            emit_statement(l->e, s);
        }
    }
    lanes_with_tests(l, false);
}

/* Remainders in [first, end) that belong to the quotient of l->part. */
static bool find_rests(lanes *l, vyre_stmt first, vyre_stmt end) {
    bool found = false;
    for (vyre_expr i = l->p->stmts[first].first_expr; i < l->p->stmts[end - 1].end_expr; i++) {
        l->rests[i] = lanes_is_rest(l, &l->p->exprs[i]);
        found |= l->rests[i];
    }
    return found;
}

/* Lanes from l->from on, in parts that agree on the quotient of a statement, for what the opener
 * holds. */
static void open_parts(lanes *l, vyre_stmt opener, vyre_stmt s) {
    emit_program *e = l->e;
    const vyre_stmt_node *n = &l->p->stmts[s];
    const vyre_expr_node *q = &l->p->exprs[n->arg[0]];
    const char *name = e->vars[n->var];
    l->part = s;
    const bool has_rest = find_rests(l, opener + 1, lanes_last_of(l, opener));
    emit_line(e, "for (uint32_t vy_part = %s, vy_rest; vy_part < %s; vy_part = vy_rest) {",
              l->from[0], l->to[0]);
    e->indent++;
    emit_line(e, has_rest ? "uint32_t %s, vy_rem;" : "uint32_t %s;", name);
    emit_line(e, "{ // of lanes that agree on %s", name);
    e->indent++;
    emit_line(e, "const uint32_t local_x = vy_part;");
    const piece one = {.first = s, .end = s + 1};
    lanes_look_at_needs(l, &one);
    lanes_put_ids(l, &one, true);
    lanes_with_tests(l, true);
    for (vyre_stmt i = l->p->entry; i < s; i++) {
        if (l->is_outer[i] && lanes_is_again(l, i) && l->needed[l->p->stmts[i].var] &&
            l->kinds[l->p->stmts[i].var] != COMMON) {
            emit_statement(e, i);
        }
    }
    emit_exprs(e, n->first_expr, n->end_expr);
    lanes_with_tests(l, false);
    emit_line_of(e, vyre_program_stmt_place(e->program, s), "%s = %s;", name,
                 emit_expr_text(e, n->arg[0], EMIT_LOOSE));
    const char *x = emit_expr_text(e, q->u.arg[0], EMIT_TERNARY);
    const char *by = emit_expr_text(e, q->u.arg[1], EMIT_TERNARY);
    if (has_rest) {
        emit_use(e->used, EMIT_REM, EMIT_BUFFER, VYRE_U32);
        emit_line(e, "vy_rem = vy_rem_u32(%s, %s);", x, by);
    }
    emit_use(e->used, EMIT_LANES_ALIKE, EMIT_PRIVATE, VYRE_U32);
    emit_line(e, "vy_rest = vy_part + vy_lanes_alike(%s, %s, %s - vy_part);", x, by, l->to[0]);
    e->indent--;
    emit_line(e, "}");
    l->from[0] = "vy_part";
    l->to[0] = "vy_rest";
}

static uint32_t limited_around(const lanes *l, vyre_stmt in) {
    uint32_t count = 0;
    for (; in != VYRE_NONE; in = l->outside[in]) {
        count += l->ways[in] == LIMITED;
    }
    return count;
}

static void put_open(lanes *l, vyre_stmt s) {
    emit_program *e = l->e;
    const vyre_stmt end = lanes_last_of(l, s);
    l->arounds[s] = (around){e->indent, l->from[0], l->to[0], l->part};
    if (l->ways[s] == LIMITED) {
        const limits found = lanes_limits(l, s);
        const uint32_t depth = limited_around(l, l->outside[s]);
        emit_line(e, "{");
        e->indent++;
        lanes_put_limits(l, s, &found, depth ? lanes_text(l, "_%u", (unsigned)depth + 1) : "");
    } else {
        lanes_with_tests(l, true);
        emit_statement(e, s);
        lanes_with_tests(l, false);
    }
    const vyre_stmt part = l->parts[s];
    put_common_lets(l, s + 1, part == VYRE_NONE ? end : part);
    if (part != VYRE_NONE) {
        open_parts(l, s, part);
        put_common_lets(l, part + 1, end);
    }
}

static void put_close(lanes *l, vyre_stmt opener) {
    const around *was = &l->arounds[opener];
    lanes_close(l, was->indent);
    l->from[0] = was->from;
    l->to[0] = was->to;
    l->part = was->part;
}

/* A run of statements, unless all that they do is done where it is needed. */
static void put_run(lanes *l, vyre_stmt first, vyre_stmt end, vyre_stmt begin) {
    const piece one = {.first = first, .end = end, .begin = begin};
    bool does = false;
    for (vyre_stmt s = first; s < end; s = lanes_last_of(l, s) + 1) {
        does |= !lanes_is_again(l, s);
    }
    if (does) {
        lanes_put_row(l, &one);
    }
}

/* Arrays with an element for each lane of a row. */
static void put_arrays(lanes *l) {
    emit_program *e = l->e;
    for (vyre_var v = 0; v < l->p->var_count; v++) {
        if (l->in_rows[v]) {
            emit_line(e, "%s %s[%u]; // of each lane",
                      emit_value_type((vyre_type)l->p->vars[v].type), e->vars[v],
                      (unsigned)l->p->workgroup[0]);
            e->vars[v] = lanes_text(l, "%s[local_x]", e->vars[v]);
        }
    }
}

void lanes_put_turned(lanes *l, vyre_stmt begin) {
    emit_program *e = l->e;
    const uint32_t indent = e->indent;
    lanes_all(l);
    lanes_open_rows(l);
    put_arrays(l);
    vyre_stmt run = begin;
    for (vyre_stmt s = begin; s < l->p->stmt_count && !e->failed;) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        const bool closes = n->op == VYRE_STMT_END; /* all others are skipped */
        if (!closes && l->ways[s] == INSIDE) {
            s = lanes_last_of(l, s) + 1;
            continue;
        }
        put_run(l, run, s, begin);
        if (closes) {
            put_close(l, n->match);
        } else {
            put_open(l, s);
        }
        run = ++s;
    }
    put_run(l, run, l->p->stmt_count, begin);
    lanes_close(l, indent);
}
