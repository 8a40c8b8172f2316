/* The call graph, the word of opaque functions, and uniformity: may every barrier stand where it
 * stands? Functions are judged at each call; a barrier in a function is reported once. */
#include <stdio.h>

#include "analysis/checker.h"
#include "analysis/conditions.h"
#include "analysis/shape.h"
#include "ir/waits.h"

enum {
    CAUSES = 4,     /* notes of one report */
    EXPLAINED = 32, /* reports with notes: each takes a scan of the program */
    PHRASE = 240
};

/* Uniformity */

static vyre_place visit_place(const vyre_checker *c, const vyre_shapes *shapes, uint32_t visit) {
    return vyre_checker_at(c, vyre_shapes_stmt(shapes, visit));
}

/* Where the condition of an if or while stands; other statements as a whole. */
static vyre_place condition_place(const vyre_checker *c, const vyre_shapes *shapes,
                                  uint32_t visit) {
    const vyre_stmt_node *stmt = &c->p->stmts[vyre_shapes_stmt(shapes, visit)];
    return stmt->op == VYRE_STMT_IF || stmt->op == VYRE_STMT_WHILE
               ? vyre_program_expr_place(c->program, stmt->arg[0])
               : visit_place(c, shapes, visit);
}

static const char *name_of(vyre_shape_kind scope) {
    return scope == VYRE_SHAPE_GRID ? "grid" : scope == VYRE_SHAPE_GROUP ? "workgroup" : "subgroup";
}

/* "depends on `global_id.x`" */
static void describe_origin(const vyre_checker *c, const vyre_shapes *shapes,
                            const vyre_cause *cause, vyre_shape_kind scope, char *out) {
    const vyre_program_view *p = c->p;
    /* Not looked at when there is no origin. */
    const vyre_expr_node *origin = &p->exprs[cause->origin == VYRE_NONE ? 0 : cause->origin];
    const char *name = origin->op == VYRE_EXPR_LOAD ? p->decls[origin->ref].name : "";
    switch (cause->origin_kind) {
    case VYRE_ORIGIN_VAR:
        (void)snprintf(out, PHRASE, "depends on `%s`", p->vars[cause->origin_var].name);
        return;
    case VYRE_ORIGIN_BUILTIN: {
        const vyre_builtin id = (vyre_builtin)origin->sub;
        const char axis[3] = {'.', "xyz"[origin->axis], '\0'};
        (void)snprintf(out, PHRASE, "depends on `%s%s`", vyre_builtin_name(id),
                       vyre_builtin_axes(id) == 1 ? "" : axis);
        return;
    }
    case VYRE_ORIGIN_WRITTEN: {
        const bool workgroup = p->decls[origin->ref].role == VYRE_WORKGROUP;
        const uint32_t line =
            cause->writer == VYRE_NONE ? 0 : visit_place(c, shapes, cause->writer).line;
        char where[32] = "";
        if (line != 0) {
            (void)snprintf(where, sizeof where, " at line %u", line);
        }
        (void)snprintf(out, PHRASE, "loads from `%s`, which is written%s with no %s between", name,
                       where, workgroup ? "barrier" : "grid_sync");
        return;
    }
    case VYRE_ORIGIN_SHARED:
        (void)snprintf(out, PHRASE,
                       "loads from workgroup memory `%s`, which not all workgroups fill alike",
                       name);
        return;
    case VYRE_ORIGIN_PRIVATE:
        (void)snprintf(out, PHRASE, "loads from private `%s`, which each lane has for itself",
                       name);
        return;
    case VYRE_ORIGIN_NONE: break;
    }
    (void)snprintf(out, PHRASE, "differs between lanes of the %s", name_of(scope));
}

static const char *result_of(const vyre_checker *c, vyre_stmt stmt) {
    switch ((uint32_t)c->p->stmts[stmt].op) {
    case VYRE_STMT_ATOMIC: return "an atomic";
    case VYRE_STMT_SUBGROUP: return "a subgroup operation";
    case VYRE_STMT_GROUP: return "an operation of the workgroup";
    case VYRE_STMT_GRID: return "a scan over the grid";
    default: return "an opaque function";
    }
}

static void note_cause(vyre_checker *c, const vyre_shapes *shapes, const vyre_cause *cause,
                       vyre_shape_kind scope) {
    char origin[PHRASE];
    const vyre_place place = condition_place(c, shapes, cause->visit);
    const char *name = cause->var == VYRE_NONE ? "" : c->p->vars[cause->var].name;
    describe_origin(c, shapes, cause, scope, origin);
    switch (cause->kind) {
    case VYRE_CAUSE_CONDITION:
        vyre_checker_note(c, place, "this condition is not the same for all lanes: it %s", origin);
        break;
    case VYRE_CAUSE_ASSIGNED:
        vyre_checker_note(c, place, "`%s` varies: its value here %s", name, origin);
        break;
    case VYRE_CAUSE_MERGED:
        vyre_checker_note(c, place, "`%s` varies: it is assigned under this condition, which %s",
                          name, origin);
        break;
    case VYRE_CAUSE_LEFT:
        vyre_checker_note(c, place,
                          "`%s` varies: lanes leave its loop in different trips, since this %s",
                          name, origin);
        break;
    case VYRE_CAUSE_RESULT:
        vyre_checker_note(c, place, "`%s` varies: it is the result of %s", name,
                          result_of(c, vyre_shapes_stmt(shapes, cause->visit)));
        break;
    }
}

/* Whether the `if` is the last statement of the entry body, without an else: a guard around all
 * that is left. */
static bool is_guard(const vyre_checker *c, vyre_stmt at) {
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    return stmt->op == VYRE_STMT_IF && c->p->stmts[stmt->match].op == VYRE_STMT_END &&
           stmt->match + 1 == c->p->stmt_count;
}

/* What to do about it follows from the cause: between a load and a write a barrier is missing;
 * lanes that a guard keeps out may end; else the barrier stands in the wrong place. */
static void choose_fix(const vyre_checker *c, const vyre_shapes *shapes, vyre_shape_kind scope,
                       const vyre_cause *causes, uint32_t count, char out[VYRE_DIAG_FIX]) {
    const vyre_cause *last = count == 0 ? NULL : &causes[count - 1];
    if (last && last->origin_kind == VYRE_ORIGIN_WRITTEN && last->writer != VYRE_NONE) {
        const vyre_decl memory = c->p->exprs[last->origin].ref;
        const bool workgroup = c->p->decls[memory].role == VYRE_WORKGROUP;
        (void)snprintf(out, VYRE_DIAG_FIX,
                       "put a %s between the load of `%s` at line %u and the write at line %u",
                       workgroup ? "barrier" : "grid_sync", c->p->decls[memory].name,
                       vyre_program_expr_place(c->program, last->origin).line,
                       visit_place(c, shapes, last->writer).line);
    } else if (last && causes[0].kind == VYRE_CAUSE_CONDITION &&
               is_guard(c, vyre_shapes_stmt(shapes, causes[0].visit))) {
        (void)snprintf(out, VYRE_DIAG_FIX,
                       "end the lanes that have nothing to do instead, with if (...) { return; }: "
                       "they count as arrived");
    } else {
        (void)snprintf(out, VYRE_DIAG_FIX, "move it to where all lanes of the %s come",
                       name_of(scope));
    }
}

static void report_divergence(vyre_checker *c, vyre_shapes *shapes, uint32_t visit,
                              vyre_shape_kind scope) {
    const vyre_stmt stmt = vyre_shapes_stmt(shapes, visit);
    const vyre_stmt_op op = (vyre_stmt_op)c->p->stmts[stmt].op;
    const bool subgroup = op == VYRE_STMT_SUBGROUP;
    const char *what = subgroup ? vyre_subgroup_name((vyre_subgroup_op)c->p->stmts[stmt].sub)
                       : vyre_is_reduction(op) ? vyre_reduce_stmt_name(&c->p->stmts[stmt])
                                               : vyre_stmt_info_of(op)->spelling;
    vyre_cause causes[CAUSES];
    const uint32_t count =
        c->errors < EXPLAINED ? vyre_shapes_why(shapes, visit, scope, causes, CAUSES) : 0;
    char where[48] = "";
    const uint32_t line = count == 0 ? 0 : condition_place(c, shapes, causes[0].visit).line;
    if (line != 0) {
        (void)snprintf(where, sizeof where, ": the condition at line %u varies", line);
    }
    char fix[VYRE_DIAG_FIX];
    choose_fix(c, shapes, scope, causes, count, fix);
    vyre_checker_error(c, subgroup ? "V269" : "V010", vyre_checker_at(c, stmt), fix,
                       "not all lanes of the %s come to this %s together%s", name_of(scope), what,
                       where);
    for (uint32_t i = 0; i < count; i++) {
        note_cause(c, shapes, &causes[i], scope);
    }
}

static void check_visit(vyre_checker *c, vyre_shapes *shapes, uint32_t visit, bool *told,
                        vyre_shape *room) {
    const vyre_stmt at = vyre_shapes_stmt(shapes, visit);
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    if (told[at]) {
        return;
    }
    if (!vyre_shapes_together(shapes, visit)) {
        told[at] = true;
        report_divergence(c, shapes, visit, vyre_shapes_waiters(shapes, visit));
    } else if (stmt->op == VYRE_STMT_BROADCAST) {
        vyre_shapes_exprs(shapes, visit, room);
        if (!vyre_shape_uniform(room[stmt->arg[1] - stmt->first_expr], VYRE_SHAPE_GRID)) {
            told[at] = true;
            vyre_checker_error(c, "V262", vyre_program_expr_place(c->program, stmt->arg[1]),
                               "use a value that is the same for all lanes",
                               "the root of a broadcast varies between lanes");
        }
    }
}

/* Of a program without errors. */
static void note_conditions(vyre_checker *c, vyre_shapes *shapes) {
    vyre_condition_list conditions = {0};
    c->failed |= vyre_shapes_conditions(shapes, &c->allocator, &conditions) != VYRE_OK;
    for (uint32_t i = 0; i < conditions.count; i++) {
        vyre_checker_note(c, vyre_checker_at(c, conditions.data[i].loop),
                          "all lanes make the same trips only if %s fits u32: a dispatch where it "
                          "does not is refused",
                          conditions.data[i].text);
    }
    vyre_vec_free(&c->allocator, &conditions);
}

static void check_uniformity(vyre_checker *c, const vyre_effect_map *effects) {
    vyre_shapes *shapes;
    if (vyre_shapes_create_given(c->program, effects, &c->allocator, &shapes) != VYRE_OK) {
        c->failed = true;
        return;
    }
    bool *told = vyre_alloc_zeroed(&c->allocator, c->p->stmt_count, sizeof *told);
    vyre_shape *room = vyre_alloc(&c->allocator, VYRE_LIMIT_STMT_EXPRS, sizeof *room);
    c->failed = !told || !room;
    for (uint32_t visit = 0; visit < vyre_shapes_visit_count(shapes) && !c->failed; visit++) {
        check_visit(c, shapes, visit, told, room);
    }
    if (c->errors == 0) {
        note_conditions(c, shapes);
    }
    vyre_free(&c->allocator, room, VYRE_LIMIT_STMT_EXPRS, sizeof *room);
    vyre_free(&c->allocator, told, c->p->stmt_count, sizeof *told);
    vyre_shapes_destroy(shapes);
}

/* Opaque functions: what the body does must be declared, and it waits for nobody, because a device
 * may replace it. */

static bool find_undeclared(const vyre_checker *c, const uint64_t *done, const vyre_decl *declared,
                            uint32_t count, vyre_decl *out) {
    for (vyre_decl decl = 0; decl < c->p->decl_count; decl++) {
        const vyre_role role = (vyre_role)c->p->decls[decl].role;
        bool known = role == VYRE_PRIVATE || !(done[decl / 64] >> decl % 64 & 1);
        for (uint32_t i = 0; i < count && !known; i++) {
            known = declared[i] == decl;
        }
        if (!known) {
            *out = decl;
            return true;
        }
    }
    return false;
}

static void check_opaque(vyre_checker *c, const vyre_effect_map *effects, vyre_fn fn,
                         vyre_effect_sets *sets) {
    const vyre_fn_node *node = &c->p->fns[fn];
    const vyre_decl *declared = c->p->args + node->first_effect;
    const vyre_place place = vyre_program_fn_place(c->program, fn);
    vyre_decl decl;
    for (uint32_t i = 0; i < sets->words; i++) {
        sets->reads[i] = sets->writes[i] = sets->atomics[i] = 0;
    }
    sets->waits = 0;
    vyre_effects_collect(effects, node->begin, node->end, sets);
    if (find_undeclared(c, sets->writes, declared + node->reads, node->writes, &decl)) {
        vyre_checker_error(c, "V031", place, "declare it", "`%s` writes `%s` but does not say so",
                           node->name, c->p->decls[decl].name);
    } else if (find_undeclared(c, sets->reads, declared, node->reads, &decl)) {
        vyre_checker_error(c, "V031", place, "declare it", "`%s` reads `%s` but does not say so",
                           node->name, c->p->decls[decl].name);
    } else if (sets->waits != 0) {
        vyre_checker_error(c, "V031", place, "move the barrier to the caller",
                           "`%s` is opaque and waits for other lanes", node->name);
    }
}

static void check_opaques(vyre_checker *c, const vyre_effect_map *effects) {
    const uint32_t words = c->p->decl_count / 64 + 1;
    uint64_t *bits = vyre_alloc(&c->allocator, (size_t)words * 3, sizeof *bits);
    if (!bits) {
        c->failed = true;
        return;
    }
    vyre_effect_sets sets = {
        .reads = bits, .writes = bits + words, .atomics = bits + (size_t)words * 2, .words = words};
    for (vyre_fn fn = 0; fn < c->p->fn_count; fn++) {
        if (c->p->fns[fn].opaque) {
            check_opaque(c, effects, fn, &sets);
        }
    }
    vyre_free(&c->allocator, bits, (size_t)words * 3, sizeof *bits);
}

/* Calls */

static bool check_graph(vyre_checker *c, const vyre_calls *calls) {
    const uint32_t entry = c->p->fn_count;
    const vyre_place place = vyre_program_place(c->program);
    if (calls->cycle != VYRE_NONE) {
        vyre_checker_error(c, "V258", vyre_checker_at(c, calls->cycle), "use a loop",
                           "`%s` calls itself through this call",
                           c->p->fns[c->p->stmts[calls->cycle].fn].name);
        return false;
    }
    for (uint32_t body = 0; body <= entry; body++) {
        if (calls->depth[body] > VYRE_LIMIT_CALL_DEPTH) {
            vyre_checker_error(c, "V259", place, "call fewer functions from functions",
                               "calls are nested more than %d deep", (int)VYRE_LIMIT_CALL_DEPTH);
            return false;
        }
    }
    if (calls->depth[entry] > 0 && calls->inlined[entry] > VYRE_LIMIT_INLINED) {
        vyre_checker_error(c, "V259", place, "call large functions less often",
                           "with all calls expanded the program has more than %d statements",
                           (int)VYRE_LIMIT_INLINED);
        return false;
    }
    return true;
}

void vyre_check_calls(vyre_checker *c) {
    vyre_calls calls;
    vyre_effect_map *effects = NULL;
    if (vyre_calls_init(&calls, c->program, &c->allocator) != VYRE_OK) {
        c->failed = true;
        return;
    }
    if (check_graph(c, &calls) && c->errors == 0) {
        c->failed = vyre_effects_create(c->program, &calls, &c->allocator, &effects) != VYRE_OK;
        if (!c->failed) {
            check_opaques(c, effects);
        }
        if (!c->failed && c->errors == 0) {
            check_uniformity(c, effects);
        }
        vyre_effects_destroy(effects);
    }
    vyre_calls_finish(&calls, &c->allocator);
}
