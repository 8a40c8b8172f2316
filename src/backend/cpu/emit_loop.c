/* Innermost counted loops, in strips: for so many trips at once the clock is charged and the steady
 * accesses (steady.c) are asked for, at the first trip and at the last. If all are inside, the
 * strip runs without tests, and addresses are those of the first trip plus steps; else with a test
 * for each access.
 *
 *   stripN:  how many trips, fuel, places of the first trip, are they inside?  -> fastN or slowN
 *   tripA:   a copy of the body, twice                                         -> contA
 *   contA:   the next trip of the strip                                        -> tripA or doneN
 *   doneN:   the next strip                                                    -> stripN or overN
 *
 * Why that is right: an index at trip t is (first + step * t) modulo 2^32; if that of the first and
 * of the last trip, without the modulo, are inside, so are all between, and none wraps. Nothing in
 * it can change within the strip. A lane that leaves the loop early has only asked too much. */
#include <stdio.h>

#include "backend/cpu/emit.h"

enum { STRIP = 1024 }; /* trips; small beside the fuel, since it is charged ahead */

typedef struct strip {
    vyre_stmt loop;
    uint32_t label;
    cpu_value to, first; /* first: the loop's variable when the strip begins */
    cpu_value trips;     /* i64 */
    cpu_value last;      /* i64: trips - 1 */
    cpu_value inside;
    bool any;   /* accesses that are asked for */
    bool whole; /* the trips are known to be whole tiles */
} strip;

static cpu_value wide(cpu_emit *e, const char *how, cpu_value v) {
    return cpu_new(e, VYRE_I64, CPU_ONE, "%s i32 %s to i64", how, v.text);
}

static void require(cpu_emit *e, strip *s, cpu_value condition) {
    s->inside = s->any ? cpu_binary(e, "and", VYRE_BOOL, s->inside, condition) : condition;
    s->any = true;
}

/* Names of an access in the strip: its first address, its step if it is not known. */
static void place_name(char out[28], uint32_t label, const char *what, uint32_t access) {
    (void)snprintf(out, 28, "%%%s%u_%u", what, label, access);
}

/* An access: the index at the first trip, and one trip later if its step is not known. */
typedef struct access {
    vyre_decl decl;
    uint32_t site;
    cpu_value now, later;
} access;

static void take(cpu_emit *e, access *list, bool later, vyre_decl decl, uint32_t site,
                 cpu_value index) {
    access *to = &list[e->sites[site].access];
    if (later) {
        to->later = index;
    } else {
        *to = (access){.decl = decl, .site = site, .now = index};
    }
}

/* Emits what the indices in the body are made of, and takes their values. */
static void sweep(cpu_emit *e, vyre_stmt loop, access *list, bool later) {
    const vyre_program_view *p = e->p;
    e->only_wanted = true;
    for (vyre_stmt i = loop + 1; i < p->stmts[loop].match; i++) {
        const vyre_stmt_node *n = &p->stmts[i];
        const uint32_t site = p->expr_count + i;
        cpu_emit_exprs(e, n->first_expr, n->end_expr);
        for (vyre_expr x = n->first_expr; x < n->end_expr; x++) {
            if (e->sites[x].access) {
                const vyre_expr_node *load = &p->exprs[x];
                take(e, list, later, load->ref, x, e->values[load->u.arg[0] - n->first_expr]);
            }
        }
        if (e->sites[site].access) {
            take(e, list, later, n->decl, site, cpu_operand(e, n, 0));
        }
        if (n->op == VYRE_STMT_LET && e->sites[site].wanted) {
            cpu_set(e, n->var, cpu_operand(e, n, 0), true);
        }
    }
    e->only_wanted = false;
}

/* Whether code for the access can use what is asked. */
static bool fits(const cpu_emit *e, const access *a) {
    const bool own = e->bindings[a->decl].meaning == CPU_IS_PRIVATE && e->width > 1;
    return !own && (a->now.hold == CPU_ONE || (a->now.hold == CPU_LINEAR && a->now.stride == 1));
}

static void ask(cpu_emit *e, strip *s, const access *a) {
    cpu_site *at = &e->sites[a->site];
    char name[28];
    at->tiled = cpu_tile_fits(e, a->decl, s->loop, a->site, &a->now, s->whole);
    at->used = at->tiled || fits(e, a);
    if (at->tiled) {
        cpu_note(e, s->loop, "rows",
                 "eight elements of each lane are %s at once because lanes walk "
                 "along rows",
                 a->site < e->p->expr_count ? "loaded" : "stored");
        require(e, s, cpu_tile_begin(e, a->decl, s->label, at->access, a->now, s->last));
    }
    if (!at->used || at->tiled) {
        return;
    }
    cpu_need_base(e, a->decl);
    cpu_value first = wide(e, "zext", a->now), end = first;
    cpu_value count = cpu_new(e, VYRE_I64, CPU_ONE, "zext i32 %%n%u to i64", a->decl);
    place_name(name, s->label, "sp", at->access);
    cpu_line(e, "  %s = getelementptr %s, ptr %%b%u, i64 %s", name,
             cpu_stored((vyre_type)e->p->decls[a->decl].type), a->decl, first.text);
    if (!at->known) {
        cpu_value step =
            cpu_new(e, VYRE_U32, CPU_ONE, "sub i32 %s, %s", a->later.text, a->now.text);
        place_name(name, s->label, "sc", at->access);
        cpu_line(e, "  %s = sext i32 %s to i64", name, step.text);
    } else {
        (void)snprintf(name, sizeof name, "%d", at->step);
    }
    if (!at->known || at->step != 0) {
        end = cpu_new(e, VYRE_I64, CPU_ONE, "mul i64 %s, %s", s->last.text, name);
        end = cpu_binary(e, "add", VYRE_I64, first, end);
    }
    if (a->now.hold == CPU_LINEAR) {
        const cpu_value gang = cpu_literal(VYRE_I64, e->width - 1);
        end = cpu_binary(e, "add", VYRE_I64, end, gang);
        first = cpu_binary(e, "add", VYRE_I64, first, gang);
    }
    if (!at->known || at->step < 0) {
        require(e, s, cpu_compare(e, "ult", first, count));
    }
    require(e, s, cpu_compare(e, "ult", end, count));
}

/* All accesses, with the loop's variable as it is. */
static void ask_all(cpu_emit *e, strip *s) {
    const uint32_t count = e->sites[e->p->expr_count + s->loop].access - 1;
    const vyre_var var = e->p->stmts[s->loop].var;
    access list[CPU_MOST_STEADY + 1] = {0};
    bool all_known = true;
    sweep(e, s->loop, list, false);
    for (uint32_t i = 1; i <= count; i++) {
        all_known &= e->sites[list[i].site].known;
    }
    if (!all_known) {
        cpu_value next = cpu_binary(e, "add", VYRE_U32, s->first, cpu_u32(1));
        cpu_line(e, "  store i32 %s, ptr %%x%u", next.text, var);
        sweep(e, s->loop, list, true);
    }
    for (uint32_t i = 1; i <= count; i++) {
        ask(e, s, &list[i]);
    }
}

/* Loops that begin apart (side.c). */

bool cpu_is_in_each_trip(const cpu_emit *e, vyre_stmt loop, vyre_stmt stmt) {
    bool each = true;
    for (vyre_stmt i = loop + 1; i < stmt; i++) {
        each &= e->p->stmts[i].op != VYRE_STMT_IF || e->p->stmts[i].match < stmt;
        each &= e->p->stmts[i].op != VYRE_STMT_ELSE || e->p->stmts[i].match < stmt;
    }
    return each;
}

/* Which accesses are asked for: consecutive ones that go upwards by a known step, in each trip. */
static void choose_accesses(cpu_emit *e, vyre_stmt loop, const access *list, uint32_t count) {
    const vyre_program_view *p = e->p;
    for (vyre_stmt i = loop + 1; i < p->stmts[loop].match; i++) {
        const bool each = cpu_is_in_each_trip(e, loop, i);
        for (vyre_expr x = p->stmts[i].first_expr; x < p->stmts[i].end_expr; x++) {
            e->sites[x].used = each;
        }
        e->sites[p->expr_count + i].used = each;
    }
    for (uint32_t i = 1; i <= count; i++) {
        cpu_site *at = &e->sites[list[i].site];
        at->tiled = false;
        at->used &=
            fits(e, &list[i]) && list[i].now.hold == CPU_LINEAR && at->known && at->step >= 0;
    }
}

/* Requires that lanes of the gang go on where those of the first one end. */
static void ask_beside(cpu_emit *e, strip *s, const access *list, uint32_t count, uint32_t gang) {
    access beside[CPU_MOST_STEADY + 1] = {0};
    cpu_side_select(e, gang);
    sweep(e, s->loop, beside, false);
    for (uint32_t i = 1; i <= count; i++) {
        cpu_site *at = &e->sites[list[i].site];
        at->used &= fits(e, &beside[i]) && beside[i].now.hold == CPU_LINEAR;
        if (at->used) {
            cpu_value next =
                cpu_new(e, VYRE_U32, CPU_ONE, "add i32 %s, %u", list[i].now.text, gang * e->width);
            require(e, s, cpu_compare(e, "eq", beside[i].now, next));
        }
    }
}

bool cpu_ask_range(cpu_emit *e, vyre_stmt loop, uint32_t label, cpu_value room,
                   cpu_value *out_inside) {
    const uint32_t sites = e->sites[e->p->expr_count + loop].access;
    const uint32_t gangs = e->apart ? 1 : e->gangs, count = sites ? sites - 1 : 0;
    access list[CPU_MOST_STEADY + 1] = {0};
    strip s = {.loop = loop, .label = label};
    if (count == 0) {
        return false;
    }
    if (gangs > 1) {
        cpu_side_select(e, 0);
    }
    sweep(e, loop, list, false);
    choose_accesses(e, loop, list, count);
    for (uint32_t g = 1; g < gangs; g++) {
        ask_beside(e, &s, list, count, g);
    }
    if (gangs > 1) {
        cpu_side_select(e, 0);
    }
    for (uint32_t i = 1; i <= count; i++) {
        const cpu_site *at = &e->sites[list[i].site];
        char name[28];
        if (!at->used) {
            continue;
        }
        cpu_need_base(e, list[i].decl);
        cpu_value first = wide(e, "zext", list[i].now);
        cpu_value count_of = cpu_new(e, VYRE_I64, CPU_ONE, "zext i32 %%n%u to i64", list[i].decl);
        cpu_value far = cpu_new(e, VYRE_I64, CPU_ONE, "mul i64 %s, %d", room.text, at->step);
        cpu_value end = cpu_binary(e, "add", VYRE_I64, first, far);
        end = cpu_binary(e, "add", VYRE_I64, end, cpu_literal(VYRE_I64, gangs * e->width - 1));
        require(e, &s, cpu_compare(e, "ult", end, count_of));
        place_name(name, label, "sp", at->access);
        cpu_line(e, "  %s = getelementptr %s, ptr %%b%u, i64 %s", name,
                 cpu_stored((vyre_type)e->p->decls[list[i].decl].type), list[i].decl, first.text);
    }
    *out_inside = s.inside;
    return s.any;
}

bool cpu_is_steady(const cpu_emit *e, uint32_t site) {
    return e->steady != 0 && e->sites[site].access && e->sites[site].used;
}

cpu_value cpu_steady_address(cpu_emit *e, vyre_decl decl, uint32_t site) {
    const cpu_site *at = &e->sites[site];
    char base[28], step[28];
    place_name(base, e->steady, "sp", at->access);
    cpu_value trip = cpu_new(e, VYRE_I64, CPU_ONE, "load i64, ptr %%trip_of%u", e->steady);
    if (at->tiled) {
        return cpu_tile_address(e, at->access, trip.text);
    }
    if (at->known) {
        (void)snprintf(step, sizeof step, "%d", at->step);
    } else {
        place_name(step, e->steady, "sc", at->access);
    }
    cpu_value far = cpu_new(e, VYRE_I64, CPU_ONE, "mul i64 %s, %s", trip.text, step);
    if (e->is_beside) { /* of a range: lanes of all gangs are consecutive */
        far = cpu_new(e, VYRE_I64, CPU_ONE, "add i64 %s, %u", far.text, e->gang * e->width);
    }
    return cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr %s, ptr %s, i64 %s",
                   cpu_stored((vyre_type)e->p->decls[decl].type), base, far.text);
}

/* A copy of the body, for all trips of the strip. */
static void emit_copy(cpu_emit *e, const strip *s, bool steady) {
    const vyre_stmt_node *n = &e->p->stmts[s->loop];
    const uint32_t strip_label = s->label;
    cpu_line(e, "  store i64 0, ptr %%trip_of%u", strip_label);
    const uint32_t label = cpu_open_scope(e, s->loop);
    cpu_line(e, "  br label %%trip%u", label);
    cpu_line(e, "trip%u:", label);
    cpu_value trip = cpu_new(e, VYRE_I64, CPU_ONE, "load i64, ptr %%trip_of%u", strip_label);
    cpu_value near = cpu_new(e, VYRE_U32, CPU_ONE, "trunc i64 %s to i32", trip.text);
    cpu_value at = cpu_binary(e, "add", VYRE_U32, s->first, near);
    cpu_line(e, "  store i32 %s, ptr %%x%u", at.text, n->var);
    e->steady = steady ? strip_label : 0;
    if (steady) {
        cpu_tile_fill(e, s->loop, strip_label, trip.text);
    }
    cpu_emit_list(e, s->loop + 1, n->match);
    e->steady = 0;
    e->scope_count--;
    cpu_line(e, "  br label %%cont%u", label);
    cpu_line(e, "cont%u:", label);
    trip = cpu_new(e, VYRE_I64, CPU_ONE, "load i64, ptr %%trip_of%u", strip_label);
    if (steady) {
        cpu_tile_flush(e, s->loop, strip_label, trip.text);
    }
    trip = cpu_new(e, VYRE_I64, CPU_ONE, "add nuw nsw i64 %s, 1", trip.text);
    cpu_line(e, "  store i64 %s, ptr %%trip_of%u", trip.text, strip_label);
    cpu_value more = cpu_compare(e, "ult", trip, s->trips);
    cpu_line(e, "  br i1 %s, label %%trip%u, label %%done%u", more.text, label, strip_label);
    cpu_line(e, "out%u:", label);
    cpu_line(e, "  br label %%over%u", strip_label);
}

/* Whether lanes walk along rows in the loop. What is emitted to find out has no effects. */
static bool has_tiles(cpu_emit *e, const strip *s) {
    const uint32_t count = e->sites[e->p->expr_count + s->loop].access - 1;
    access list[CPU_MOST_STEADY + 1] = {0};
    bool any = false;
    sweep(e, s->loop, list, false);
    for (uint32_t i = 1; i <= count; i++) {
        any |= cpu_tile_fits(e, list[i].decl, s->loop, list[i].site, &list[i].now, s->whole);
    }
    return any;
}

/* Whether the loop is one for strips: its trips are the same for all lanes of the gang. */
static bool applies(const cpu_emit *e, vyre_stmt loop) {
    const vyre_expr by = e->p->stmts[loop].arg[2];
    if (by != VYRE_NONE &&
        (e->p->exprs[by].op != VYRE_EXPR_LITERAL || e->p->exprs[by].u.bits != 1)) {
        return false;
    }
    return !e->parts[loop] && e->sites[e->p->expr_count + loop].access;
}

bool cpu_emit_strips(cpu_emit *e, vyre_stmt loop) {
    const vyre_stmt_node *n = &e->p->stmts[loop];
    if (e->gangs > 1 || e->probing || !e->sites[e->p->expr_count + loop].access) {
        return false;
    }
    cpu_emit_exprs(e, n->first_expr, n->end_expr);
    const cpu_value from = cpu_operand(e, n, 0);
    strip s = {.loop = loop, .to = cpu_operand(e, n, 1)};
    if (!applies(e, loop) || from.hold != CPU_ONE || s.to.hold != CPU_ONE) {
        return false;
    }
    s.whole = from.known && s.to.known && from.bits < s.to.bits &&
              (s.to.bits - from.bits) % CPU_TILE == 0;
    if (s.to.known && s.to.bits <= CPU_SHORT) { /* else LLVM may unroll it */
        cpu_set(e, n->var, from, true);
        if (!s.whole || !has_tiles(e, &s)) {
            return false;
        }
    }
    const uint32_t label = s.label = cpu_label(e);
    cpu_note_loop(e, loop);
    cpu_head(e, "  %%trip_of%u = alloca i64", label);
    cpu_set(e, n->var, from, true);
    if (e->holds[n->var] != CPU_ONE) {
        return false; /* of an earlier round */
    }
    cpu_value some = cpu_compare(e, "ult", from, s.to);
    cpu_line(e, "  br i1 %s, label %%strip%u, label %%over%u", some.text, label, label);
    cpu_line(e, "strip%u:", label);
    s.first = cpu_get(e, n->var);
    cpu_value left = cpu_binary(e, "sub", VYRE_U32, s.to, s.first);
    left =
        cpu_new(e, VYRE_U32, CPU_ONE, "call i32 @llvm.umin.i32(i32 %s, i32 %d)", left.text, STRIP);
    s.trips = wide(e, "zext", left);
    s.last = cpu_new(e, VYRE_I64, CPU_ONE, "add nsw i64 %s, -1", s.trips.text);
    cpu_emit_check(e, s.trips.text);
    ask_all(e, &s);
    if (s.any) {
        cpu_line(e, "  br i1 %s, label %%fast%u, label %%slow%u, !prof !0", s.inside.text, label,
                 label);
        cpu_line(e, "fast%u:", label);
        emit_copy(e, &s, true);
        cpu_line(e, "slow%u:", label);
    }
    emit_copy(e, &s, false);
    cpu_line(e, "done%u:", label);
    cpu_value next = cpu_binary(e, "add", VYRE_U32, s.first, left);
    cpu_line(e, "  store i32 %s, ptr %%x%u", next.text, n->var);
    cpu_value more = cpu_compare(e, "ult", next, s.to);
    cpu_line(e, "  br i1 %s, label %%strip%u, label %%over%u", more.text, label, label);
    cpu_line(e, "over%u:", label);
    return true;
}
