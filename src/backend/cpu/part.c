/* One function of a kernel: an emitter, set up for a segment, and what it gives as text. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/range.h"
#include "backend/cpu/kernel.h"
#include "base/alloc.h"
#include "base/diag.h"
#include "opt/opt_unroll.h"

void cpu_load_field(vyre_text *t, const char *name, const char *type, size_t offset) {
    vyre_text_printf(t, "  %%at_%s = getelementptr i8, ptr %%ctx, i64 %zu\n", name, offset);
    vyre_text_printf(t, "  %%%s = load %s, ptr %%at_%s, align 4\n", name, type, name);
}

void cpu_load_grid(vyre_text *t) {
    cpu_load_field(t, "nx", "i32", CPU_FIELD(grid));
    cpu_load_field(t, "ny", "i32", CPU_FIELD(grid) + 4);
    cpu_load_field(t, "nz", "i32", CPU_FIELD(grid) + 8);
}

static uint32_t most_exprs(const vyre_program_view *p) {
    uint32_t most = 0;
    for (vyre_stmt i = 0; i < p->stmt_count; i++) {
        const uint32_t count = p->stmts[i].end_expr - p->stmts[i].first_expr;
        most = count > most ? count : most;
    }
    return most;
}

/* Variables that one LET binds, and nothing else. */
static void find_single(cpu_emit *e) {
    const vyre_program_view *p = e->p;
    for (vyre_stmt i = 0; i < p->stmt_count; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        if (s->op == VYRE_STMT_LET) {
            e->is_single[s->var] = !e->started[s->var];
            e->started[s->var] = true;
        }
    }
    for (vyre_stmt i = 0; i < p->stmt_count; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        if ((s->op == VYRE_STMT_ASSIGN || s->op == VYRE_STMT_FOR || s->op == VYRE_STMT_ATOMIC ||
             s->op == VYRE_STMT_SUBGROUP) &&
            s->var != VYRE_NONE) {
            e->is_single[s->var] = false;
        }
    }
    memset(e->started, 0, p->var_count);
}

static void extend(cpu_extent *x, vyre_stmt stmt) {
    x->first = stmt < x->first ? stmt : x->first;
    x->last = stmt;
}

static void find_extents(cpu_emit *e) {
    const vyre_program_view *p = e->p;
    for (vyre_var i = 0; i < p->var_count; i++) {
        e->extents[i] = (cpu_extent){.let = VYRE_NONE, .first = VYRE_NONE};
    }
    for (vyre_stmt i = p->entry; i < p->stmt_count; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        for (vyre_expr k = s->first_expr; k < s->end_expr; k++) {
            if (p->exprs[k].op == VYRE_EXPR_VAR) {
                extend(&e->extents[p->exprs[k].ref], i);
            }
        }
        if (s->var != VYRE_NONE && s->op == VYRE_STMT_LET) {
            cpu_extent *x = &e->extents[s->var];
            x->let = x->first == VYRE_NONE && x->let == VYRE_NONE ? i : VYRE_NONE;
        } else if (s->var != VYRE_NONE) {
            extend(&e->extents[s->var], i);
        }
    }
}

/* Accesses that need no test. */
static vyre_status prove_accesses(cpu_emit *e, const cpu_group *group, const vyre_allocator *a,
                                  vyre_diag *diag) {
    const vyre_program_view *p = e->p;
    vyre_ranges *ranges = NULL;
    vyre_status status = vyre_ranges_create(e->program, a, &ranges);
    if (status != VYRE_OK) {
        return vyre_fail_memory(diag, "a segment");
    }
    for (vyre_stmt i = p->entry; i < p->stmt_count; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        for (vyre_expr k = s->first_expr; k < s->end_expr; k++) {
            e->proven[k] = p->exprs[k].op == VYRE_EXPR_LOAD && vyre_ranges_load_inside(ranges, k);
        }
        e->proven[cpu_stmt_site(e, i)] = (s->op == VYRE_STMT_STORE || s->op == VYRE_STMT_ATOMIC) &&
                                         vyre_ranges_access_inside(ranges, i);
    }
    cpu_find_owns(e, ranges);
    cpu_find_aheads(e, group, ranges);
    vyre_ranges_destroy(ranges);
    return VYRE_OK;
}

/* Of groups that are dissolved: loops in which clamps depend on the trip. Where a lane traps is
 * told by statements of the program as it was. */
static vyre_status unroll(const cpu_group *group, const vyre_program *program,
                          const vyre_allocator *a, vyre_program **out, vyre_diag *diag) {
    *out = NULL;
    return cpu_rows_refusal(group) ||
                   (vyre_program_get(program)->stats.stmt_kinds >> VYRE_STMT_TRAP & 1)
               ? VYRE_OK
               : vyre_opt_unroll(program, a, out, diag);
}

vyre_status cpu_part_begin(cpu_writer *w, const cpu_group *group, uint32_t segment, cpu_emit *e,
                           vyre_diag *diag) {
    const vyre_allocator *a = w->a;
    const vyre_program *program = segment == VYRE_NONE ? vyre_module_get(group->module)->control
                                                       : cpu_group_segment(group, segment);
    vyre_program *unrolled = NULL;
    vyre_status status = unroll(group, program, a, &unrolled, diag);
    if (status != VYRE_OK) {
        return status;
    }
    program = unrolled ? unrolled : program;
    const vyre_program_view *p = vyre_program_get(program);
    cpu_binding *bindings = vyre_alloc_zeroed(a, p->decl_count, sizeof *bindings);
    *e = (cpu_emit){.program = program,
                    .unrolled = unrolled,
                    .p = p,
                    .bindings = bindings,
                    .cold = &w->cold,
                    .isa = w->isa,
                    .unchecked = w->unchecked,
                    .alone = w->alone,
                    .copies = group->copies,
                    .width = 1,
                    .segment = segment,
                    .notes = segment == VYRE_NONE ? NULL : w->notes,
                    .piece = w->piece,
                    .lists = w->lists};
    w->lists += 1 + 3 * p->decl_count;
    const vyre_stmt loop = segment == 0 && !unrolled ? cpu_turned_loop(group) : VYRE_NONE;
    e->turned = loop == VYRE_NONE ? 0 : loop + 1;
    vyre_text_init(&e->head, a);
    vyre_text_init(&e->body, a);
    e->gangs = 1;
    e->values = vyre_alloc_zeroed(a, most_exprs(p), sizeof *e->values);
    e->proven = vyre_alloc_zeroed(a, (size_t)p->expr_count + p->stmt_count, sizeof *e->proven);
    e->unlike = vyre_alloc_zeroed(a, most_exprs(p), sizeof *e->unlike);
    e->differs = vyre_alloc_zeroed(a, p->var_count, sizeof *e->differs);
    e->owns = vyre_alloc_zeroed(a, p->stmt_count, sizeof *e->owns);
    e->aheads = vyre_alloc_zeroed(a, p->expr_count, sizeof *e->aheads);
    e->ranged = vyre_alloc_zeroed(a, p->stmt_count, sizeof *e->ranged);
    e->side = vyre_alloc_zeroed(a, p->stmt_count, sizeof *e->side);
    e->holds = vyre_alloc_zeroed(a, p->var_count, sizeof *e->holds);
    e->strides = vyre_alloc_zeroed(a, p->var_count, sizeof *e->strides);
    e->started = vyre_alloc_zeroed(a, p->var_count, sizeof *e->started);
    e->parts = vyre_alloc_zeroed(a, p->stmt_count, sizeof *e->parts);
    e->depths = vyre_alloc_zeroed(a, p->var_count, sizeof *e->depths);
    e->has_place = vyre_alloc_zeroed(a, p->var_count, sizeof *e->has_place);
    e->has_base = vyre_alloc_zeroed(a, p->decl_count, sizeof *e->has_base);
    e->has_large = vyre_alloc_zeroed(a, p->decl_count, sizeof *e->has_large);
    e->streams = vyre_alloc_zeroed(a, p->decl_count, sizeof *e->streams);
    e->has_reciprocal = vyre_alloc_zeroed(a, p->decl_count, sizeof *e->has_reciprocal);
    e->tallied = vyre_alloc_zeroed(a, p->stmt_count, sizeof *e->tallied);
    const size_t sites = (size_t)p->expr_count + p->stmt_count;
    e->sites = vyre_alloc_zeroed(a, sites, sizeof *e->sites);
    e->marks = vyre_alloc_zeroed(a, sites, sizeof *e->marks);
    e->found = vyre_alloc_zeroed(a, sites, sizeof *e->found);
    e->spans = vyre_alloc_zeroed(a, p->expr_count, sizeof *e->spans);
    e->is_single = vyre_alloc_zeroed(a, p->var_count, sizeof *e->is_single);
    e->extents = vyre_alloc_zeroed(a, p->var_count, sizeof *e->extents);
    e->bound = vyre_alloc_zeroed(a, p->var_count, sizeof *e->bound);
    e->opaque = vyre_alloc_zeroed(a, p->var_count, sizeof *e->opaque);
    if (!bindings || !e->values || !e->holds || !e->strides || !e->started || !e->parts ||
        !e->depths || !e->has_place || !e->has_base || !e->marks || !e->found || !e->spans ||
        !e->is_single || !e->bound || !e->opaque || !e->unlike || !e->differs || !e->ranged ||
        !e->side || !e->proven || !e->owns || !e->has_large || !e->streams || !e->extents ||
        !e->tallied || !e->has_reciprocal || !e->sites || !e->aheads ||
        cpu_find_steady(p, a, e->sites) != VYRE_OK) {
        cpu_part_end(w, e);
        return vyre_fail_memory(diag, "a segment");
    }
    cpu_group_bind(group, segment, bindings);
    cpu_find_streams(e, vyre_program_get(cpu_group_source(group)));
    find_single(e);
    find_extents(e);
    /* Statements of the control program do not run in order. */
    status = segment == VYRE_NONE ? VYRE_OK : prove_accesses(e, group, a, diag);
    if (status != VYRE_OK) {
        cpu_part_end(w, e);
    }
    return status;
}

void cpu_part_end(cpu_writer *w, cpu_emit *e) {
    const vyre_allocator *a = w->a;
    const vyre_program_view *p = e->p;
    vyre_free(a, (void *)(uintptr_t)e->bindings, p->decl_count, sizeof *e->bindings);
    vyre_free(a, e->values, most_exprs(p), sizeof *e->values);
    vyre_free(a, e->proven, (size_t)p->expr_count + p->stmt_count, sizeof *e->proven);
    vyre_free(a, e->unlike, most_exprs(p), sizeof *e->unlike);
    vyre_free(a, e->differs, p->var_count, sizeof *e->differs);
    vyre_free(a, e->owns, p->stmt_count, sizeof *e->owns);
    vyre_free(a, e->ranged, p->stmt_count, sizeof *e->ranged);
    vyre_free(a, e->side, p->stmt_count, sizeof *e->side);
    vyre_free(a, e->holds, p->var_count, sizeof *e->holds);
    vyre_free(a, e->strides, p->var_count, sizeof *e->strides);
    vyre_free(a, e->started, p->var_count, sizeof *e->started);
    vyre_free(a, e->parts, p->stmt_count, sizeof *e->parts);
    vyre_free(a, e->depths, p->var_count, sizeof *e->depths);
    vyre_free(a, e->has_place, p->var_count, sizeof *e->has_place);
    vyre_free(a, e->has_base, p->decl_count, sizeof *e->has_base);
    vyre_free(a, e->has_large, p->decl_count, sizeof *e->has_large);
    vyre_free(a, e->streams, p->decl_count, sizeof *e->streams);
    vyre_free(a, e->has_reciprocal, p->decl_count, sizeof *e->has_reciprocal);
    vyre_free(a, e->tallied, p->stmt_count, sizeof *e->tallied);
    const size_t sites = (size_t)p->expr_count + p->stmt_count;
    vyre_free(a, e->sites, sites, sizeof *e->sites);
    vyre_free(a, e->aheads, p->expr_count, sizeof *e->aheads);
    vyre_free(a, e->marks, sites, sizeof *e->marks);
    vyre_free(a, e->found, sites, sizeof *e->found);
    vyre_free(a, e->spans, p->expr_count, sizeof *e->spans);
    vyre_free(a, e->is_single, p->var_count, sizeof *e->is_single);
    vyre_free(a, e->extents, p->var_count, sizeof *e->extents);
    vyre_free(a, e->bound, p->var_count, sizeof *e->bound);
    vyre_free(a, e->opaque, p->var_count, sizeof *e->opaque);
    vyre_text_finish(&e->head);
    vyre_text_finish(&e->body);
    vyre_program_release(e->unrolled);
}

void cpu_note(const cpu_emit *e, vyre_stmt stmt, const char *topic, const char *format, ...) {
    static const char between[] = " because ";
    cpu_noted noted = {.decision = {.segment = e->piece, .part = e->segment},
                       .stmt = stmt,
                       .pending = stmt != VYRE_NONE};
    vyre_decision *d = &noted.decision;
    char all[sizeof d->choice + sizeof d->reason];
    va_list arguments;
    if (!e->notes || e->probing) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(all, sizeof all, format, arguments);
    va_end(arguments);
    char *reason = strstr(all, between);
    if (reason) {
        *reason = '\0';
        vyre_diag_copy(d->reason, sizeof d->reason, reason + sizeof between - 1);
    }
    vyre_diag_copy(d->choice, sizeof d->choice, all);
    vyre_diag_copy(d->topic, sizeof d->topic, topic);
    if (stmt != VYRE_NONE) {
        d->place = vyre_program_stmt_place(e->program, stmt);
    }
    cpu_notes_add(e->notes, &noted);
}

void cpu_note_width(const cpu_writer *w, const cpu_emit *e, uint32_t width, const char *why) {
    const uint32_t bytes = cpu_isa_vector_bytes(w->isa);
    if (w->gang) {
        cpu_note(e, VYRE_NONE, "lanes", "%u in lockstep because that was asked for", width);
    } else if (width == 1) {
        cpu_note(e, VYRE_NONE, "lanes", "one after another because %s", why ? why : "");
    } else if (why) {
        cpu_note(e, VYRE_NONE, "lanes", "%u in lockstep because %s", width, why);
    } else {
        cpu_note(e, VYRE_NONE, "lanes", "%u in lockstep because vectors have %u bytes", width,
                 bytes);
    }
}

void cpu_part_settle(cpu_emit *e, void (*body)(cpu_emit *e)) {
    do {
        e->changed = false;
        cpu_notes_restart(e->notes);
        vyre_text_reset(&e->head);
        vyre_text_reset(&e->body);
        memset(e->has_place, 0, e->p->var_count);
        memset(e->has_base, 0, e->p->decl_count);
        memset(e->has_reciprocal, 0, e->p->decl_count);
        memset(e->has_large, 0, e->p->decl_count);
        e->when.text[0] = '\0';
        memset(e->tallied, 0, e->p->stmt_count * sizeof *e->tallied);
        e->next = 1;
        e->tiled = false;
        e->scope_count = e->depth = e->gang = 0;
        body(e);
    } while (e->changed);
}

void cpu_part_forget(cpu_emit *e) {
    memset(e->holds, 0, e->p->var_count);
    memset(e->strides, 0, e->p->var_count * sizeof *e->strides);
    memset(e->started, 0, e->p->var_count);
    memset(e->parts, 0, e->p->stmt_count);
    e->may_end = e->given_up = false;
}

/* Which accesses belong to which declaration. */
static void write_aliases(const cpu_emit *e, vyre_text *out) {
    const uint32_t count = e->p->decl_count, first = e->lists;
    vyre_text_printf(out, "!%u = distinct !{!%u}\n", first, first);
    for (uint32_t i = 0; i < count; i++) {
        vyre_text_printf(out, "!%u = distinct !{!%u, !%u}\n", first + 1 + i, first + 1 + i, first);
        vyre_text_printf(out, "!%u = !{!%u}\n", first + 1 + count + i, first + 1 + i);
        vyre_text_printf(out, "!%u = !{", first + 1 + 2 * count + i);
        for (uint32_t j = 0, any = 0; count <= CPU_MOST_ALIASES && j < count; j++) {
            if (j != i) {
                vyre_text_printf(out, "%s!%u", any ? ", " : "", first + 1 + j);
                any = 1;
            }
        }
        vyre_text_puts(out, "}\n");
    }
}

void cpu_part_write(cpu_writer *w, const cpu_emit *e, const char *name, const char *arguments) {
    vyre_text *out = w->out;
    vyre_text_printf(out, "define internal i1 @%s(%s) #0 {\nentry:\n", name, arguments);
    cpu_load_field(out, "buffers", "ptr", CPU_FIELD(buffers));
    cpu_load_field(out, "params", "ptr", CPU_FIELD(values));
    cpu_load_field(out, "arena", "ptr", CPU_FIELD(arena));
    cpu_load_field(out, "dump", "ptr", CPU_FIELD(dump));
    cpu_load_field(out, "zero", "ptr", CPU_FIELD(zero));
    cpu_load_field(out, "stream", "i64", CPU_FIELD(stream));
    cpu_load_grid(out);
    cpu_write_copies(e, out);
    vyre_text_puts(out, vyre_text_string(&e->head));
    vyre_text_puts(out, vyre_text_string(&e->body));
    vyre_text_puts(out, "}\n\n");
    write_aliases(e, &w->tail);
    cpu_notes_commit(e->notes);
    w->streamed |= e->streamed;
    out->failed |= e->head.failed || e->body.failed;
}

void cpu_emit_privates(cpu_emit *e) {
    enum { FEW = 16 };
    for (vyre_decl d = 0; d < e->p->decl_count; d++) {
        const cpu_binding *b = &e->bindings[d];
        if (b->meaning != CPU_IS_PRIVATE) {
            continue;
        }
        const vyre_type type = (vyre_type)e->p->decls[d].type;
        cpu_need_base(e, d);
        if (b->count <= FEW) {
            for (uint32_t i = 0; i < b->count; i++) {
                cpu_value at = cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr %s, ptr %%b%u, i64 %u",
                                       cpu_stored(type), d, i * e->width);
                cpu_line(e, "  store <%u x %s> zeroinitializer, ptr %s, align %u", e->width,
                         cpu_stored(type), at.text, vyre_type_size(type));
            }
            continue;
        }
        cpu_value field =
            cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i8, ptr %%ctx, i64 %zu", CPU_FIELD(clear));
        cpu_value clear = cpu_new(e, VYRE_U64, CPU_ONE, "load ptr, ptr %s, align 8", field.text);
        cpu_line(e, "  call void %s(ptr %%b%u, i64 %zu)", clear.text, d,
                 (size_t)b->count * e->width * vyre_type_size(type));
    }
}

/* Whether what is loaded lies in the nearest cache wherever it is: what lanes and groups have for
 * themselves, if it is little. Processors with masks gather it faster than lanes load it one after
 * another, and their branches need not be foreseen. */
static bool is_close(const cpu_emit *e, vyre_decl decl) {
    enum { LITTLE = 1 << 14 }; /* bytes of all lanes of a gang */
    const cpu_binding *b = &e->bindings[decl];
    const uint64_t bytes = b->count * vyre_type_size((vyre_type)e->p->decls[decl].type);
    return e->isa == CPU_AVX512 &&
           ((b->meaning == CPU_IS_PRIVATE && bytes * e->width <= LITTLE) ||
            (b->meaning == CPU_IS_ARENA && bytes <= LITTLE) || b->meaning == CPU_IS_OWN);
}

bool cpu_loads_close(const cpu_emit *e, vyre_stmt loop) {
    const vyre_program_view *p = e->p;
    bool any = false, close = true;
    for (vyre_stmt i = loop; i < p->stmts[loop].match; i++) {
        for (vyre_expr k = p->stmts[i].first_expr; k < p->stmts[i].end_expr; k++) {
            const bool loads = p->exprs[k].op == VYRE_EXPR_LOAD;
            any |= loads;
            close &= !loads || is_close(e, p->exprs[k].ref);
        }
    }
    return any && close;
}

/* Whether a statement of [begin, end) loads from far, or makes an access that others may see. */
static bool reaches_far(const cpu_emit *e, vyre_stmt begin, vyre_stmt end) {
    const vyre_program_view *p = e->p;
    bool far = false;
    for (vyre_stmt i = begin; i < end; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        far |= s->op == VYRE_STMT_ATOMIC || (s->op == VYRE_STMT_STORE && e->isa != CPU_AVX512);
        for (vyre_expr k = s->first_expr; k < s->end_expr; k++) {
            far |= p->exprs[k].op == VYRE_EXPR_LOAD && !is_close(e, p->exprs[k].ref);
        }
    }
    return far;
}

bool cpu_part_has_varying_loop(const cpu_emit *e) {
    bool varies = false;
    for (vyre_stmt i = 0; i < e->p->stmt_count; i++) {
        varies |= e->parts[i] && !e->ranged[i] && reaches_far(e, i, e->p->stmts[i].match);
    }
    return varies;
}
