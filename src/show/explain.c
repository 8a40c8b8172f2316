/* Modules for people: the schedule with its segments, and the account of what each barrier costs.
 * Linear in the size of the module and of the lists of carries alive behind its steps. */
#include "show/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "ir/print.h"
#include "ir/waits.h"
#include "split/module.h"

/* ---- what the renderers share ---- */

static const struct {
    const char *name, *where;
    vyre_carry_owner owner;
} kinds[] = {
    [VYRE_CARRY_RECOMPUTED] = {"recomputed", "recomputed", VYRE_OWNER_LANE},
    [VYRE_CARRY_LANE] = {"lane", "stored by each lane", VYRE_OWNER_LANE},
    [VYRE_CARRY_SCALAR] = {"scalar", "a scalar of the schedule", VYRE_OWNER_LANE},
    [VYRE_CARRY_PRIVATE] = {"private", "array, stored by each lane", VYRE_OWNER_LANE},
    [VYRE_CARRY_WORKGROUP] = {"workgroup", "memory, stored for each group", VYRE_OWNER_GROUP},
    [VYRE_CARRY_GROUP] = {"group", "stored once for each group", VYRE_OWNER_GROUP},
    [VYRE_CARRY_ENDED] = {"ended", "masked: a flag for each lane", VYRE_OWNER_LANE},
};

const char *vyre_carry_kind_name(vyre_carry_kind kind) {
    return kinds[kind].name;
}
const char *vyre_carry_kind_where(vyre_carry_kind kind) {
    return kinds[kind].where;
}
vyre_carry_owner vyre_carry_owner_of(vyre_carry_kind kind) {
    return kinds[kind].owner;
}

void vyre_explain_bytes(const vyre_step *step, uint64_t out_bytes[VYRE_OWNERS]) {
    out_bytes[VYRE_OWNER_LANE] = UINT64_C(4) * step->lane_words;
    out_bytes[VYRE_OWNER_GROUP] = UINT64_C(4) * step->group_words;
}

static int by_cost(const void *a, const void *b) {
    const vyre_explain_carry *x = a, *y = b;
    return x->cost != y->cost ? (x->cost < y->cost) - (x->cost > y->cost)
                              : (x->carry > y->carry) - (x->carry < y->carry);
}

void vyre_explain_alive(vyre_text *text, const vyre_module *module, uint32_t step,
                        vyre_explain_list *out_list) {
    const vyre_program_view *p = vyre_program_get(module->source);
    const uint64_t lanes = (uint64_t)p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
    *out_list = (vyre_explain_list){0};
    for (uint32_t c = vyre_module_next_live(module, step, 0); c != VYRE_NONE && !text->failed;
         c = vyre_module_next_live(module, step, c + 1)) {
        const vyre_carry *carry = &module->view.carries[c];
        const bool by_lane = vyre_carry_owner_of(carry->kind) == VYRE_OWNER_LANE;
        const vyre_explain_carry found = {carry->words * (by_lane ? lanes : 1), c};
        text->failed = !vyre_vec_push(&text->allocator, &out_list->of, found);
    }
    if (out_list->of.count > 0) {
        qsort(out_list->of.data, out_list->of.count, sizeof *out_list->of.data, by_cost);
    }
}

const char *vyre_explain_scope(const vyre_module_view *view) {
    return view->scope == VYRE_SPLIT_SCOPE_GRID ? "grid" : "workgroup";
}

bool vyre_explain_write(void *text, const char *bytes, size_t length) {
    vyre_text_append(text, bytes, length);
    return !((vyre_text *)text)->failed;
}

void vyre_explain_condition(vyre_text *text, const vyre_module *module, const vyre_step *step) {
    const vyre_program_view *p = vyre_program_get(module->source);
    const vyre_stmt_node *n = &p->stmts[step->condition];
    if (n->op == VYRE_STMT_FOR) {
        vyre_text_printf(text, "another trip of %s", p->vars[n->var].name);
    } else {
        vyre_print_expr(module->source, n->arg[0], vyre_explain_write, text);
    }
}

const char *vyre_explain_combine(const vyre_module *module, const vyre_step *step) {
    return vyre_reduce_stmt_name(&vyre_program_get(module->source)->stmts[step->combine]);
}

const char *vyre_explain_barrier(const vyre_module *module, const vyre_step *step) {
    const vyre_step *next =
        step->sync && step->next != VYRE_NONE ? &module->view.steps[step->next] : NULL;
    if (next && next->combine != VYRE_NONE) {
        return vyre_explain_combine(module, next); /* nobody else comes there */
    }
    const bool swaps = step->exchange_begin < step->exchange_end &&
                       module->view.exchanges[step->exchange_end - 1].a >= VYRE_PLACES;
    uint8_t op = swaps ? VYRE_STMT_SWAP
                 : step->collective == VYRE_NONE
                     ? (uint8_t)(module->view.scope == VYRE_SPLIT_SCOPE_GRID ? VYRE_STMT_GRID_SYNC
                                                                             : VYRE_STMT_BARRIER)
                     : vyre_program_get(module->source)->stmts[step->collective].op;
    return vyre_stmt_info_of((vyre_stmt_op)op)->spelling;
}

uint32_t vyre_explain_regions(const vyre_module_view *v, const vyre_step *step,
                              const char *out_names[VYRE_LIMIT_NESTING]) {
    for (uint32_t r = step->region; r != VYRE_NONE; r = v->regions[r].parent) {
        out_names[v->regions[r].depth - 1] =
            vyre_program_get(v->source)->stmts[v->regions[r].stmt].text;
    }
    return step->region == VYRE_NONE ? 0 : v->regions[step->region].depth;
}

/* in region "outer" / "inner" */
static void in_regions(vyre_text *text, const vyre_module_view *v, const vyre_step *step) {
    const char *names[VYRE_LIMIT_NESTING];
    uint32_t count = vyre_explain_regions(v, step, names);
    for (uint32_t i = 0; i < count; i++) {
        vyre_text_puts(text, i ? " / " : "    in region ");
        vyre_print_string(names[i], vyre_explain_write, text);
    }
    vyre_text_puts(text, count ? "\n" : "");
}

void vyre_explain_line(vyre_text *text, vyre_place place) {
    if (place.line) {
        vyre_text_printf(text, "line %" PRIu32, place.line);
    } else {
        vyre_text_puts(text, "an unknown line");
    }
}

uint32_t vyre_explain_buffers(vyre_text *text, const vyre_module *module, uint32_t segment,
                              bool written) {
    const vyre_program_view *p = vyre_program_get(module->segments[segment]);
    uint32_t count = 0;
    for (uint32_t d = 0; d < p->decl_count; d++) {
        const vyre_decl_node *n = &p->decls[d];
        if (n->role != (written ? VYRE_INOUT : VYRE_IN) ||
            module->decls[segment][d].kind != VYRE_DECL_SOURCE) {
            continue;
        }
        vyre_text_printf(text, "%s%s", count++ ? ", " : "", n->name);
    }
    return count;
}

/* Whatever splitting adds has the place of the `program` line, except a condition that lanes hand
 * to the schedule; regions that it reopens are around all. */
static bool stores_made(const vyre_module *module, uint32_t segment, const vyre_stmt_node *n) {
    const vyre_segment_decl *decl = n->decl == VYRE_NONE ? NULL : &module->decls[segment][n->decl];
    return decl && decl->kind == VYRE_DECL_PLACE && decl->ref == VYRE_PLACE_MADE;
}

uint32_t vyre_explain_core(const vyre_module *module, uint32_t segment, vyre_stmt *out_begin) {
    const vyre_program *program = module->segments[segment];
    const vyre_program_view *p = vyre_program_get(program);
    uint32_t added = vyre_program_place(module->source).line;
    vyre_stmt end = p->stmt_count, s = p->entry;
    while (s < end && p->stmts[s].op == VYRE_STMT_REGION && p->stmts[s].match == end - 1 &&
           vyre_program_stmt_place(program, s).line == added) {
        s++;
        end--;
    }
    while (end > s && stores_made(module, segment, &p->stmts[end - 1])) {
        end--;
    }
    while (s < end && vyre_program_stmt_place(program, s).line == added) {
        s++;
    }
    *out_begin = s;
    while (s < end && vyre_program_stmt_place(program, s).line != added) {
        s++;
    }
    return s - *out_begin;
}

/* ---- the schedule and the segments ---- */

static const char *plural(uint32_t count) {
    return count == 1 ? "" : "s";
}

static void title(vyre_text *text, const vyre_module *module) {
    const vyre_module_view *v = &module->view;
    vyre_text_printf(
        text, "%s: %" PRIu32 " step%s, %" PRIu32 " segment%s, %" PRIu32 " %s barrier%s\n",
        vyre_program_get(v->source)->name, v->step_count, plural(v->step_count), v->segment_count,
        plural(v->segment_count), v->sync_points, vyre_explain_scope(v), plural(v->sync_points));
    for (uint32_t i = 0; i < module->conditions.count; i++) {
        vyre_text_printf(text, "only right where %s fits u32: test it before the first step\n",
                         module->conditions.data[i].text);
    }
}

static const char *segment_name(const vyre_module_view *v, const vyre_step *step) {
    return step->segment == VYRE_NONE ? "nothing to launch"
                                      : vyre_program_get(v->segments[step->segment])->name;
}

void vyre_explain_assignments(vyre_text *text, const vyre_module *module, vyre_stmt begin,
                              vyre_stmt end, const char *before, const char *behind) {
    const vyre_program_view *p = vyre_program_get(module->control);
    for (vyre_stmt s = begin; s < end; s++) {
        const char *name = p->vars[p->stmts[s].var].name;
        if (p->stmts[s].var < module->first_condition) { /* others are told where they decide */
            vyre_text_printf(text, "%s%s = ", before, name);
            vyre_print_expr(module->control, p->stmts[s].arg[0], vyre_explain_write, text);
            vyre_text_puts(text, behind);
        }
    }
}

static void schedule_step(vyre_text *text, const vyre_module *module, uint32_t number) {
    const vyre_module_view *v = &module->view;
    const vyre_step *step = &v->steps[number];
    vyre_text_printf(
        text, "\nstep %-4" PRIu32 " %s", number,
        step->control != VYRE_NONE && step->segment == VYRE_NONE ? "" : segment_name(v, step));
    if (step->control != VYRE_NONE) {
        vyre_text_printf(text, "%s%s", step->segment == VYRE_NONE ? "" : ", ",
                         vyre_program_get(v->segments[step->control])->name);
    }
    vyre_text_puts(text, "\n");
    in_regions(text, v, step);
    vyre_explain_assignments(text, module, step->enter_begin, step->enter_end, "    ", "\n");
    if (step->combine != VYRE_NONE) {
        vyre_text_printf(text, "    one lane combines the values of all groups: %s\n",
                         vyre_explain_combine(module, step));
    }
    vyre_text_puts(text, step->asks ? "    end if no lane is alive\n" : "");
    vyre_explain_assignments(text, module, step->leave_begin, step->leave_end, "    then ", "\n");
    if (step->sync) {
        vyre_text_printf(text, "    %s, ", vyre_explain_barrier(module, step));
        vyre_explain_line(text, step->place);
        vyre_text_puts(text, "\n");
    }
    switch ((vyre_step_kind)step->kind) {
    case VYRE_STEP_NEXT: vyre_text_printf(text, "    go to step %" PRIu32 "\n", step->next); break;
    case VYRE_STEP_BRANCH:
        vyre_text_puts(text, "    if ");
        vyre_explain_condition(text, module, step);
        vyre_text_puts(text, ", ");
        vyre_explain_line(text, vyre_program_stmt_place(v->source, step->condition));
        vyre_text_printf(text, ": go to step %" PRIu32 ", else to step %" PRIu32 "\n", step->next,
                         step->otherwise);
        break;
    case VYRE_STEP_END: vyre_text_puts(text, "    end\n"); break;
    }
}

void vyre_explain_text(vyre_text *text, const vyre_module *module) {
    const vyre_module_view *v = &module->view;
    title(text, module);
    for (uint32_t i = 0; i < v->step_count; i++) {
        schedule_step(text, module, i);
    }
    for (uint32_t i = 0; i < v->segment_count; i++) {
        vyre_text_puts(text, "\n");
        (void)vyre_program_print(v->segments[i], vyre_explain_write, text);
    }
}

/* ---- the account ---- */

enum { NAME_COLUMN = 20, WHERE_COLUMN = 30 };

static void bytes(vyre_text *text, const vyre_module_view *v,
                  const uint64_t by_owner[VYRE_OWNERS]) {
    vyre_text_printf(text, "%" PRIu64 " bytes per lane", by_owner[VYRE_OWNER_LANE]);
    if (v->scope == VYRE_SPLIT_SCOPE_GRID) {
        vyre_text_printf(text, ", %" PRIu64 " per group", by_owner[VYRE_OWNER_GROUP]);
    }
}

static void carried(vyre_text *text, const vyre_carry *carry) {
    vyre_text_printf(text, "    %-*s %-*s", NAME_COLUMN, carry->name, WHERE_COLUMN,
                     vyre_carry_kind_where(carry->kind));
    if (carry->words) {
        vyre_text_printf(text, " %6" PRIu64 " bytes, word %" PRIu32, UINT64_C(4) * carry->words,
                         carry->slot);
    } else {
        vyre_text_puts(text, "      0 bytes");
    }
    if (carry->place.line) {
        vyre_text_printf(text, ", from line %" PRIu32, carry->place.line);
    }
    vyre_text_puts(text, "\n");
}

/* "a is written on line 3 and read on line 5" */
static void clash(vyre_text *text, const vyre_module_view *v, const vyre_conflict *why) {
    static const char *const verbs[] = {"read on ", "written on "};
    vyre_text_printf(text, "%s is %s", vyre_program_get(v->source)->decls[why->decl].name,
                     verbs[why->writes_before]);
    vyre_explain_line(text, why->before);
    if (why->writes_before != why->writes_behind || why->before.line != why->behind.line) {
        vyre_text_printf(text, " and %s", verbs[why->writes_behind]);
        vyre_explain_line(text, why->behind);
    }
}

/* Why the barrier behind a step is there; nothing if nobody asked. */
static void reason(vyre_text *text, const vyre_module_view *v, const vyre_step *step) {
    if (step->kept == VYRE_NONE) {
        return;
    }
    const vyre_conflict *why = &v->kept[step->kept].why;
    vyre_text_puts(text, "    stays: ");
    if (why->decl != VYRE_NONE) {
        clash(text, v, why);
    } else {
        vyre_text_puts(text, "lanes may trap on ");
        vyre_explain_line(text, why->before);
    }
    vyre_text_puts(text, "\n");
}

/* Where a launch ends: at a barrier, at a decision, or where two ways meet. */
static void boundary(vyre_text *text, const vyre_module *module, uint32_t number) {
    const vyre_module_view *v = &module->view;
    const vyre_step *step = &v->steps[number];
    if (step->kind == VYRE_STEP_NEXT && !step->sync) {
        vyre_text_puts(text, "\nno barrier, two ways meet");
    } else {
        vyre_text_printf(text, "\n%s, ",
                         step->sync ? vyre_explain_barrier(module, step)
                                    : "no barrier, a decision");
        vyre_explain_line(text, step->place);
    }
    vyre_text_printf(text, ", behind step %" PRIu32 " (%s)\n", number, segment_name(v, step));
    in_regions(text, v, step);
    reason(text, v, step);
    if (step->kind == VYRE_STEP_END) {
        vyre_text_puts(text, "    nothing follows: it costs nothing\n");
        return;
    }
    if (vyre_module_next_live(module, number, 0) == VYRE_NONE) {
        vyre_text_puts(text, "    nothing is carried\n");
        return;
    }
    vyre_explain_list alive;
    vyre_explain_alive(text, module, number, &alive);
    for (uint32_t i = 0; i < alive.of.count; i++) {
        carried(text, &v->carries[alive.of.data[i].carry]);
    }
    vyre_vec_free(&text->allocator, &alive.of);
    uint64_t by_owner[VYRE_OWNERS];
    vyre_explain_bytes(step, by_owner);
    vyre_text_puts(text, "    in total ");
    bytes(text, v, by_owner);
    vyre_text_puts(text, "\n");
}

static void removed_barrier(vyre_text *text, const vyre_module_view *v,
                            const vyre_removed_barrier *removed) {
    vyre_text_puts(text, "\ngrid_sync, ");
    vyre_explain_line(text, removed->place);
    vyre_text_puts(text, removed->weakened ? ", made a workgroup barrier: " : ", removed: ");
    if (removed->weakened) {
        clash(text, v, &removed->why);
        vyre_text_puts(text, ", within each group");
    }
    vyre_text_puts(text, removed->weakened && removed->owned_count ? "; " : "");
    for (uint32_t i = 0; i < removed->owned_count; i++) {
        vyre_text_printf(text, "%s%s", i ? ", " : "every lane touches only its own elements of ",
                         vyre_program_get(v->source)->decls[removed->owned[i]].name);
    }
    vyre_text_puts(text, removed->weakened || removed->owned_count
                             ? "\n"
                             : "nothing that is written on one side is used on the other\n");
}

static void idle_steps(vyre_text *text, const vyre_module_view *v) {
    for (uint32_t i = 0; i < v->step_count; i++) {
        const vyre_step *step = &v->steps[i];
        if (step->segment == VYRE_NONE) {
            vyre_text_printf(
                text, "\nstep %" PRIu32 " launches nothing: it writes no buffer%s\n", i,
                step->kind == VYRE_STEP_END ? ", and no value is needed behind it"
                                            : ", and no value that lanes store changes in it");
        }
    }
}

/* Which segments use a buffer: "bfs_0, bfs_2". */
static void users(vyre_text *text, const vyre_module_view *v, const char *buffer, vyre_role role,
                  const char *verb, bool *any) {
    bool first = true;
    for (uint32_t i = 0; i < v->segment_count; i++) {
        const vyre_program_view *p = vyre_program_get(v->segments[i]);
        vyre_decl d = vyre_program_find_decl(v->segments[i], buffer);
        if (d != VYRE_NONE && p->decls[d].role == role) {
            vyre_text_printf(text, "%s%s%s", first ? *any ? "; " : "" : ", ", first ? verb : "",
                             p->name);
            first = false;
            *any = true;
        }
    }
}

/* Whether a scalar is loaded from the declaration of the source. */
static bool is_read_by_control(const vyre_module_view *v, vyre_decl decl) {
    const vyre_program_view *p = vyre_program_get(v->control);
    for (vyre_expr e = 0; e < p->expr_count; e++) {
        if (p->exprs[e].op == VYRE_EXPR_LOAD && p->exprs[e].ref == decl) {
            return true;
        }
    }
    return false;
}

static void residents(vyre_text *text, const vyre_module_view *v) {
    const vyre_program_view *p = vyre_program_get(v->source);
    bool heading = false;
    for (uint32_t d = 0; d < p->decl_count; d++) {
        const vyre_decl_node *n = &p->decls[d];
        if (!vyre_role_is_buffer((vyre_role)n->role)) {
            continue;
        }
        vyre_text_puts(text, heading ? "" : "\nbuffers stay in device memory\n");
        heading = true;
        vyre_text_printf(text, "    %-*s %-8s ", NAME_COLUMN, n->name,
                         vyre_role_name((vyre_role)n->role));
        bool any = false;
        users(text, v, n->name, VYRE_INOUT, "written by ", &any);
        users(text, v, n->name, VYRE_IN, "read by ", &any);
        if (is_read_by_control(v, d)) {
            vyre_text_puts(text, any ? "; read by the schedule" : "read by the schedule");
            any = true;
        }
        vyre_text_puts(text, any ? "\n" : "not used\n");
    }
}

/* Where words are, if not all in one buffer. */
static void buffers(vyre_text *text, const vyre_module_view *v) {
    for (uint32_t i = 0; i < v->buffer_count && v->buffer_count > 1; i++) {
        const vyre_carry_buffer *b = &v->buffers[i];
        uint32_t first = b->lane_words ? b->lane_first : b->group_first;
        uint32_t words = b->lane_words ? b->lane_words : b->group_words;
        vyre_text_printf(text, "    %-*s words %" PRIu32 " to %" PRIu32 " of each %s\n",
                         NAME_COLUMN, b->name, first, first + words - 1,
                         b->lane_words ? "lane" : "group");
    }
}

void vyre_explain_words(vyre_text *text, const vyre_module *module) {
    const vyre_module_view *v = &module->view;
    uint64_t reserved[VYRE_OWNERS];
    reserved[VYRE_OWNER_LANE] = UINT64_C(4) * v->lane_words;
    reserved[VYRE_OWNER_GROUP] = UINT64_C(4) * (v->group_words + (uint64_t)v->part_words) +
                                 UINT64_C(8) * v->group_value_words;
    title(text, module);
    vyre_text_puts(text, "memory for the carry: ");
    bytes(text, v, reserved);
    if (v->made_words) {
        vyre_text_printf(text, ", %" PRIu64 " for the schedule", UINT64_C(8) * v->made_words);
    }
    vyre_text_puts(text, "\n");
    buffers(text, v);
    for (uint32_t i = 0; i < v->step_count; i++) {
        if (v->steps[i].kind != VYRE_STEP_END || v->steps[i].sync) {
            boundary(text, module, i);
        }
    }
    for (uint32_t i = 0; i < v->removed_count; i++) {
        removed_barrier(text, v, &v->removed[i]);
    }
    idle_steps(text, v);
    residents(text, v);
}

/* ---- the public call ---- */

vyre_status vyre_module_write(const vyre_module *module, vyre_module_format format,
                              const vyre_allocator *allocator, vyre_write_fn write, void *user,
                              vyre_diag *diag) {
    static void (*const renderers[])(vyre_text *, const vyre_module *) = {
        [VYRE_MODULE_TEXT] = vyre_explain_text, [VYRE_MODULE_EXPLAIN] = vyre_explain_words,
        [VYRE_MODULE_JSON] = vyre_explain_json, [VYRE_MODULE_DOT] = vyre_explain_dot,
        [VYRE_MODULE_SVG] = vyre_explain_svg,
    };
    if (!module || !write || (unsigned)format >= sizeof renderers / sizeof renderers[0]) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "see vyre/split.h",
                         "writing a module: an argument is NULL or the format is unknown");
    }
    vyre_text text;
    vyre_text_init(&text, allocator);
    renderers[format](&text, module);
    vyre_status status = vyre_text_status(&text, "the text of a module", diag);
    if (status == VYRE_OK && !write(user, vyre_text_string(&text), text.length)) {
        status = vyre_fail(diag, VYRE_IO, NULL, "the module could not be written");
    }
    vyre_text_finish(&text);
    return status;
}
