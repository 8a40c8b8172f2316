/* A schedule as C: scalars are variables, steps are statements behind labels, the control program
 * is assignments. The same code writes the schedule of a grid, whose steps launch all groups, and
 * that of a group, whose steps run its lanes up to a barrier.
 *
 * A step launches its segment before it computes what it computes when it is entered, so that the
 * segment takes the scalars as they were. That is the same: what is loaded then nobody writes
 * before the next barrier (vyre/split.h). */
#include <stdio.h>

#include "base/diag.h"
#include "emit/c.h"
#include "lower/rewrites.h"

static const char *const axes = "xyz";

const char *emit_c_place(uint32_t place) {
    static const char *const names[] = {[VYRE_PLACE_VALUES] = "vy_values",
                                        [VYRE_PLACE_NEXT] = "vy_next",
                                        [VYRE_PLACE_MADE] = "vy_made",
                                        [VYRE_PLACE_SPARE] = "vy_spare",
                                        [VYRE_PLACE_PARTS] = "vy_parts"};
    return place <= VYRE_PLACE_PARTS ? names[place] : NULL;
}

vyre_decl emit_c_trap_decl(const vyre_module_view *m, uint32_t segment) {
    const uint32_t count = vyre_program_get(m->segments[segment])->decl_count;
    vyre_decl d = 0;
    while (d < count && m->decls[segment][d].kind != VYRE_DECL_TRAP) {
        d++;
    }
    return d < count ? d : VYRE_NONE;
}

uint32_t emit_c_sites(const vyre_module_view *m, uint32_t segment) {
    const vyre_decl traps = emit_c_trap_decl(m, segment);
    const char *tag;
    vyre_place place;
    uint32_t count = 0;
    while (traps != VYRE_NONE && vyre_trap_site(m->segments[segment], traps, count, &tag, &place)) {
        count++;
    }
    return count;
}

/* Memory of words as what a declaration of a segment sees in it. */
static void put_words(vyre_text *out, const char *space, const vyre_program_view *p, vyre_decl decl,
                      const char *name, uint32_t number) {
    const vyre_type type = (vyre_type)p->decls[decl].type;
    char numbered[64];
    (void)snprintf(numbered, sizeof numbered, number == VYRE_NONE ? "%s" : "%s_%u", name,
                   (unsigned)number);
    vyre_text_puts(out, ", ");
    if (type != VYRE_U32) {
        vyre_text_printf(out, "(%s%s *)", space, emit_element_type(type));
    }
    vyre_text_puts(out, numbered);
    if (emit_has_len(p, decl)) {
        vyre_text_printf(out, ", (uint32_t)%s_words%s", numbered,
                         vyre_type_size(type) == 8 ? " / 2" : "");
    }
}

/* Where what a schedule keeps lies: in OpenCL that of a group is local. */
static const char *space_of_state(const emit_c_schedule *s) {
    const bool of_grid = s->m->scope == VYRE_SPLIT_SCOPE_GRID;
    return s->file->dialect->space[of_grid ? EMIT_BUFFER : EMIT_WORKGROUP];
}

static vyre_status put_argument(emit_c_schedule *s, vyre_text *out, uint32_t segment,
                                vyre_decl decl, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(s->m->segments[segment]);
    const vyre_segment_decl what = s->m->decls[segment][decl];
    const bool is_buffer = vyre_role_is_buffer((vyre_role)p->decls[decl].role);
    const char *space = space_of_state(s);
    switch ((vyre_decl_kind)what.kind) {
    case VYRE_DECL_SOURCE:
        if (is_buffer || p->decls[decl].role == VYRE_PARAM) {
            vyre_text_printf(out, ", %s", s->control.decls[what.ref]);
        }
        if (emit_has_len(p, decl)) {
            vyre_text_printf(out, ", %s", s->control.lens[what.ref]);
        }
        return VYRE_OK;
    case VYRE_DECL_LOCAL: return VYRE_OK;
    case VYRE_DECL_SCALAR: vyre_text_printf(out, ", %s", s->control.vars[what.ref]); return VYRE_OK;
    case VYRE_DECL_OWN: put_words(out, space, p, decl, "vy_own", what.ref); return VYRE_OK;
    case VYRE_DECL_PLACE:
        if (emit_c_place(what.ref)) {
            put_words(out, space, p, decl, emit_c_place(what.ref), VYRE_NONE);
            return VYRE_OK;
        }
        break;
    case VYRE_DECL_LANES: vyre_text_puts(out, ", vy_lanes"); return VYRE_OK;
    case VYRE_DECL_TICK: vyre_text_puts(out, ", vy_tick"); return VYRE_OK;
    case VYRE_DECL_GROUP_ID:
        vyre_text_printf(out, ", vy->group_%c", axes[what.ref]);
        return VYRE_OK;
    case VYRE_DECL_GROUP_COUNT:
        vyre_text_printf(out, ", vy->groups_%c", axes[what.ref]);
        return VYRE_OK;
    case VYRE_DECL_TRAP: vyre_text_puts(out, ", vy_traps, vy_traps_words"); return VYRE_OK;
    case VYRE_DECL_EXPECT: /* of modules for launching ahead */
    case VYRE_DECL_KINDS: break;
    }
    return vyre_fail(diag, VYRE_UNSUPPORTED, "run the program on a device",
                     "segment %s uses %s in a way that has no text in C", p->name,
                     p->decls[decl].name);
}

static vyre_status put_launch(emit_c_schedule *s, const vyre_step *step, vyre_diag *diag) {
    const uint32_t segment = step->segment;
    const vyre_program_view *p = vyre_program_get(s->m->segments[segment]);
    const bool by_one = step->combine != VYRE_NONE;
    if (by_one) {
        emit_line(&s->control, "{ // one lane combines the values of all groups");
        emit_line(&s->control, "vy_group vy_one = *vy;");
        emit_line(&s->control, "vy_one.groups_x = vy_one.groups_y = vy_one.groups_z = 1;");
    }
    vyre_text_printf(s->control.out, "    %s(%s", p->name, by_one ? "&vy_one" : "vy");
    vyre_status status = VYRE_OK;
    for (vyre_decl i = 0; i < p->decl_count && status == VYRE_OK; i++) {
        status = put_argument(s, s->control.out, segment, i, diag);
    }
    vyre_text_puts(s->control.out, by_one ? ");\n    }\n" : ");\n");
    if (emit_c_trap_decl(s->m, segment) != VYRE_NONE) {
        emit_line(&s->control, "vy_take_traps(vy, vy_traps, vy_traps_words, %s_sites, %uu);",
                  p->name, (unsigned)emit_c_sites(s->m, segment));
    }
    return status;
}

/* Whether somebody asks how many launches there were. */
static bool has_ticks(const vyre_module_view *m) {
    bool ticks = false;
    for (uint32_t i = 0; i < m->step_count; i++) {
        ticks |= m->steps[i].asks;
    }
    for (uint32_t i = 0; i < m->segment_count; i++) {
        for (vyre_decl d = 0; d < vyre_program_get(m->segments[i])->decl_count; d++) {
            ticks |= m->decls[i][d].kind == VYRE_DECL_TICK;
        }
    }
    return ticks;
}

void emit_c_scalars(emit_c_schedule *s) {
    emit_program *e = &s->control;
    s->ticks = has_ticks(s->m);
    if (s->ticks) {
        emit_line(e, "uint32_t vy_tick = 1;");
    }
    for (uint32_t i = 0; i < s->m->scalar_count; i++) {
        emit_line(e, "%s %s = 0;", emit_value_type((vyre_type)s->m->scalars[i].type), e->vars[i]);
    }
}

static void put_assignments(emit_program *e, vyre_stmt begin, vyre_stmt end) {
    for (vyre_stmt i = begin; i < end; i++) {
        emit_statement(e, i);
    }
}

/* On one rank a collective with two buffers copies the shorter length. */
static void put_collective(emit_c_schedule *s, vyre_stmt stmt) {
    const vyre_program_view *p = vyre_program_get(s->m->source);
    const vyre_decl from = p->stmts[stmt].decl, to = p->stmts[stmt].decl2;
    const char *const *lens = s->control.lens;
    if (to != VYRE_NONE) {
        emit_line(&s->control, "vy_copy(%s, %s, (size_t)%uu * (%s < %s ? %s : %s)); // on one rank",
                  s->control.decls[to], s->control.decls[from],
                  (unsigned)vyre_type_size((vyre_type)p->decls[to].type), lens[from], lens[to],
                  lens[from], lens[to]);
    }
}

/* The caller's arrays stay where they are: their bytes are exchanged. */
static void put_swap(emit_c_schedule *s, const vyre_exchange *x) {
    const vyre_decl a = s->m->swapped[x->a - VYRE_PLACES], b = s->m->swapped[x->b - VYRE_PLACES];
    const vyre_decl_node *d = &vyre_program_get(s->m->source)->decls[a];
    emit_line(&s->control, "vy_swap(%s, %s, (size_t)%uu * %s);", s->control.decls[a],
              s->control.decls[b], (unsigned)vyre_type_size((vyre_type)d->type),
              s->control.lens[a]);
}

static vyre_status put_exchanges(emit_c_schedule *s, const vyre_step *step, vyre_diag *diag) {
    for (uint32_t i = step->exchange_begin; i < step->exchange_end; i++) {
        if (s->m->exchanges[i].a >= VYRE_PLACES) {
            put_swap(s, &s->m->exchanges[i]);
            continue;
        }
        const char *a = emit_c_place(s->m->exchanges[i].a), *b = emit_c_place(s->m->exchanges[i].b);
        if (!a || !b) {
            return vyre_fail(diag, VYRE_UNSUPPORTED, "run the program on a device",
                             "the schedule exchanges memory in a way that has no text in C");
        }
        emit_line(&s->control, "{ // what was made for the next segments is there");
        emit_line(&s->control, "    %suint32_t *const vy_other = %s;", space_of_state(s), a);
        emit_line(&s->control, "    %s = %s;", a, b);
        emit_line(&s->control, "    %s = vy_other;", b);
        emit_line(&s->control, "}");
    }
    return VYRE_OK;
}

/* How it goes on; the next step in the text needs no word. */
static void put_way(emit_c_schedule *s, uint32_t number) {
    const vyre_step *step = &s->m->steps[number];
    emit_program *e = &s->control;
    const uint32_t behind = number + 1;
    if (step->kind == VYRE_STEP_END) {
        if (behind != s->m->step_count) {
            emit_line(e, "goto vy_done;");
        }
        return;
    }
    if (step->kind == VYRE_STEP_NEXT || step->next == step->otherwise) {
        if (step->next != behind) {
            emit_line(e, "goto vy_step_%u;", (unsigned)step->next);
        }
        return;
    }
    const char *condition = e->vars[step->decides];
    if (step->next == behind) {
        emit_line_of(e, step->place, "if (!%s) goto vy_step_%u;", condition,
                     (unsigned)step->otherwise);
        return;
    }
    emit_line_of(e, step->place, "if (%s) goto vy_step_%u;", condition, (unsigned)step->next);
    if (step->otherwise != behind) {
        emit_line(e, "goto vy_step_%u;", (unsigned)step->otherwise);
    }
}

/* Whether some step jumps there. */
static bool is_target(const vyre_module_view *m, uint32_t number) {
    for (uint32_t i = 0; i < m->step_count; i++) {
        const vyre_step *step = &m->steps[i];
        if (step->kind != VYRE_STEP_END && number != i + 1 &&
            (step->next == number ||
             (step->kind == VYRE_STEP_BRANCH && step->otherwise == number))) {
            return true;
        }
    }
    return false;
}

static vyre_status put_step(emit_c_schedule *s, uint32_t number, vyre_diag *diag) {
    const vyre_step *step = &s->m->steps[number];
    const bool of_grid = s->m->scope == VYRE_SPLIT_SCOPE_GRID;
    emit_program *e = &s->control;
    if (is_target(s->m, number)) {
        vyre_text_printf(e->out, "vy_step_%u:;\n", (unsigned)number);
    }
    vyre_status status = step->segment == VYRE_NONE ? VYRE_OK : put_launch(s, step, diag);
    if (step->segment != VYRE_NONE && e->dialect->settled) {
        emit_line(e, "%s", e->dialect->settled);
    }
    if (step->sync) {
        emit_line_of(e, step->place, "// %s", of_grid ? "grid_sync" : "barrier");
    }
    if (of_grid && s->file->traps && (step->sync || step->kind == VYRE_STEP_END)) {
        emit_line(e, "if (vy->trap->happened) goto vy_done;");
    }
    put_assignments(e, step->enter_begin, step->enter_end);
    if (step->asks) {
        emit_use(e->used, EMIT_LOAD, of_grid ? EMIT_BUFFER : EMIT_WORKGROUP, VYRE_U32);
        emit_line(e,
                  "if (vy_load_u32%s(vy_made, 1u, 0u) != vy_tick) goto vy_done; // no lane lives",
                  of_grid ? "" : "_local");
    }
    put_assignments(e, step->leave_begin, step->leave_end);
    if (step->kind != VYRE_STEP_END && step->collective != VYRE_NONE) {
        put_collective(s, step->collective);
    }
    if (status == VYRE_OK) {
        status = put_exchanges(s, step, diag);
    }
    if (step->kind != VYRE_STEP_END && s->ticks) {
        emit_line(e, "vy_tick = vy_tick < 0x3fffffffu ? vy_tick + 1 : 1;");
    }
    put_way(s, number);
    return status;
}

vyre_status emit_c_steps(emit_c_schedule *s, vyre_diag *diag) {
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < s->m->step_count && status == VYRE_OK; i++) {
        vyre_text_puts(s->control.out, i ? "\n" : "");
        status = put_step(s, i, diag);
    }
    return status == VYRE_OK ? emit_program_status(&s->control, diag) : status;
}
