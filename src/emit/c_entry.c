/* The host part of a file of C or CUDA C++: a struct of arguments, a function that runs one pass,
 * and one that runs a dispatch. Sizes and the grid are computed from the arguments as the language
 * says, exactly; what does not fit is told by a code. What the two spell apart is in a table
 * (emit_host); the text is both C11 and C++. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "emit/c.h"
#include "ir/builder.h"
#include "ir/fold.h"
#include "ir/size.h"

/* ---- sizes ---- */

static const char *size_leaf(emit_program *e, const vyre_expr_node *n) {
    uint64_t bits = 0;
    if (n->op == VYRE_EXPR_LITERAL) {
        return emit_format(e, "%lldll", (long long)(int64_t)n->u.bits);
    }
    if (n->op == VYRE_EXPR_LEN) {
        return e->lens[n->ref];
    }
    if (e->p->decls[n->ref].role == VYRE_CONST && vyre_fold_const(e->p, n->ref, &bits)) {
        return emit_literal(e, (vyre_type)e->p->decls[n->ref].type, bits);
    }
    return e->decls[n->ref];
}

/* The text of a size, as a vy_int; it sets vy_bad if it can't be computed. */
static const char *size_text(emit_program *e, vyre_expr root) {
    const char *stack[2 * VYRE_BUILDER_EXPR_DEPTH + 2] = {""};
    uint32_t top = 0;
    vyre_expr first = root;
    while (vyre_expr_info_of((vyre_expr_op)e->p->exprs[first].op)->arity > 0) {
        first = e->p->exprs[first].u.arg[0];
    }
    for (vyre_expr i = first; i <= root; i++) {
        const vyre_expr_node *n = &e->p->exprs[i];
        const vyre_expr_info *info = vyre_expr_info_of((vyre_expr_op)n->op);
        if (info->arity == 0) {
            stack[top++] = size_leaf(e, n);
            continue;
        }
        const char *x = info->arity > 1 ? stack[top - 2] : "0";
        const char *text = emit_format(e, "vy_size('%c', %s, %s, &vy_bad)",
                                       n->op == VYRE_EXPR_MIN   ? 'm'
                                       : n->op == VYRE_EXPR_MAX ? 'M'
                                                                : info->spelling[0],
                                       x, stack[top - 1]);
        top -= info->arity;
        stack[top++] = text;
    }
    return stack[0];
}

/* ---- the arguments ---- */

static bool is_given(const vyre_decl_node *d) {
    return d->role == VYRE_IN || d->role == VYRE_INOUT || d->role == VYRE_OUT;
}

/* `len_x` in the struct, also where the size is a constant. */
static void put_args(emit_c_state *file, emit_program *e) {
    vyre_text *out = e->out;
    const vyre_program_view *p = vyre_program_get(vyre_module_get(file->module)->source);
    vyre_text_printf(out,
                     "/* What %s works on. Buffers do not overlap, and have as many elements as "
                     "the program says. */\n"
                     "typedef struct %s_args {\n",
                     file->name, file->name);
    for (vyre_decl i = 0; i < p->decl_count; i++) {
        const vyre_decl_node *d = &p->decls[i];
        if (is_given(d)) {
            vyre_text_printf(out, "    %s%s *%s; /* %s */\n", d->role == VYRE_IN ? "const " : "",
                             emit_element_type((vyre_type)d->type), e->decls[i],
                             vyre_role_name((vyre_role)d->role));
            vyre_text_printf(out, "    uint64_t vy_len_%s; /* elements of it */\n", e->decls[i]);
        } else if (d->role == VYRE_PARAM) {
            vyre_text_printf(out, "    %s %s;", emit_value_type((vyre_type)d->type), e->decls[i]);
            if (d->value != VYRE_NONE) { /* a literal */
                vyre_arena_reset(&e->texts);
                vyre_text_printf(out, " /* default %s */",
                                 emit_literal(e, (vyre_type)d->type, p->exprs[d->value].u.bits));
            }
            vyre_text_puts(out, "\n");
        }
    }
    vyre_text_puts(out, "    uint32_t vy_groups[3]; /* the grid; all 0: as the program says */\n");
    vyre_text_puts(out, file->host->args);
    vyre_text_printf(out, "} %s_args;\n\n", file->name);
}

/* ---- a pass ---- */

static bool refers_later(const vyre_program_view *p, vyre_decl decl, const bool *known) {
    const vyre_decl_node *d = &p->decls[decl];
    for (vyre_expr k = d->first_expr; k < d->end_expr; k++) {
        if (p->exprs[k].op == VYRE_EXPR_LEN && !known[p->exprs[k].ref]) {
            return true;
        }
    }
    return false;
}

static void put_buffer(emit_program *e, vyre_decl i, const char *code) {
    const vyre_decl_node *d = &e->p->decls[i];
    uint64_t count = 0;
    const bool is_constant = emit_constant_count(e->p, i, &count);
    vyre_arena_reset(&e->texts);
    if (is_given(d)) {
        emit_line(e, "%s%s *const %s = args->%s;", d->role == VYRE_IN ? "const " : "",
                  emit_element_type((vyre_type)d->type), e->decls[i], e->decls[i]);
        if (is_constant) {
            emit_line(e, "if (args->vy_len_%s != %s) return %s;", e->decls[i], e->lens[i], code);
        } else {
            emit_line(e, "if (args->vy_len_%s > UINT32_MAX) return %s;", e->decls[i], code);
            emit_line(e, "const uint32_t %s = (uint32_t)args->vy_len_%s;", e->lens[i], e->decls[i]);
            if (d->size != VYRE_NONE) {
                emit_line(e, "if (%s != %s || vy_bad) return %s;", size_text(e, d->size),
                          e->lens[i], code);
            }
        }
        return;
    }
    if (!is_constant) {
        emit_line(e, "const vy_int vy_wide_%s = %s;", e->decls[i], size_text(e, d->size));
        emit_line(e, "if (vy_bad || vy_wide_%s < 0 || vy_wide_%s > UINT32_MAX) return %s;",
                  e->decls[i], e->decls[i], code);
        emit_line(e, "const uint32_t %s = (uint32_t)vy_wide_%s;", e->lens[i], e->decls[i]);
    }
}

static vyre_status put_buffers(emit_program *e, const vyre_allocator *a, vyre_diag *diag) {
    const vyre_program_view *p = e->p;
    bool *known = vyre_alloc_zeroed(a, p->decl_count, sizeof *known);
    if (!known) {
        return vyre_fail_memory(diag, "the text of a program");
    }
    for (vyre_decl i = 0; i < p->decl_count; i++) {
        known[i] = !vyre_role_is_buffer((vyre_role)p->decls[i].role);
        if (p->decls[i].role == VYRE_PARAM) {
            emit_line(e, "const %s %s = args->%s;", emit_value_type((vyre_type)p->decls[i].type),
                      e->decls[i], e->decls[i]);
            emit_line(e, "(void)%s;", e->decls[i]);
        }
    }
    uint32_t left = p->decl_count;
    for (uint32_t before = left + 1; left < before;) { /* sizes may refer to later lengths */
        before = left;
        left = 0;
        for (vyre_decl i = 0; i < p->decl_count; i++) {
            if (!known[i] && !refers_later(p, i, known)) {
                put_buffer(e, i, "vy_size_error");
                known[i] = true;
            }
            left += !known[i];
        }
    }
    vyre_free(a, known, p->decl_count, sizeof *known);
    return left == 0 ? VYRE_OK
                     : vyre_fail(diag, VYRE_UNSUPPORTED, "give sizes that do not need each other",
                                 "sizes of %s refer to each other", p->name);
}

static int active_axis(const uint32_t workgroup[3]) {
    int active = 0, count = 0;
    for (int axis = 2; axis >= 0; axis--) {
        active = workgroup[axis] > 1 ? axis : active;
        count += workgroup[axis] > 1;
    }
    return count > 1 ? 3 : active;
}

static vyre_stmt find_indirect(const vyre_program_view *p) {
    for (vyre_stmt i = p->entry; i < p->stmt_count; i++) {
        if (p->stmts[i].op == VYRE_STMT_INDIRECT_DISPATCH) {
            return i;
        }
    }
    return VYRE_NONE;
}

/* The largest returned buffer, the first of them. */
static void put_largest(emit_program *e) {
    emit_line(e, "    vy_int vy_elements = 0;");
    for (vyre_decl i = 0; i < e->p->decl_count; i++) {
        if (e->p->decls[i].role == VYRE_INOUT || e->p->decls[i].role == VYRE_OUT) {
            emit_line(e, "    vy_elements = vy_elements < %s ? %s : vy_elements;", e->lens[i],
                      e->lens[i]);
        }
    }
}

static void put_default_grid(emit_program *e) {
    const vyre_program_view *p = e->p;
    const vyre_stmt indirect = find_indirect(p);
    const int axis = active_axis(p->workgroup);
    static const vyre_size_env nothing = {0};
    uint64_t offset = 0;
    emit_line(e, "if (vy_grid.groups_x == 0 && vy_grid.groups_y == 0 && vy_grid.groups_z == 0) {");
    if (indirect != VYRE_NONE &&
        vyre_size_evaluate(p, p->stmts[indirect].arg[0], &nothing, &offset, NULL) == VYRE_SIZE_OK) {
        const char *name = e->decls[p->stmts[indirect].decl];
        emit_line(e, "    uint32_t vy_words[3]; // indirect_dispatch");
        emit_line(e, "    if ((uint64_t)%s * sizeof *%s < %lluu) return vy_size_error;",
                  e->lens[p->stmts[indirect].decl], name, (unsigned long long)offset + 12);
        emit_line(e, "    vy_read(vy_words, (const char *)%s + %llu, sizeof vy_words);", name,
                  (unsigned long long)offset);
        emit_line(e, "    vy_grid.groups_x = vy_words[0];");
        emit_line(e, "    vy_grid.groups_y = vy_words[1];");
        emit_line(e, "    vy_grid.groups_z = vy_words[2];");
    } else if (p->clause_kind == VYRE_CLAUSE_GRID) {
        for (int i = 0; i < 3; i++) {
            vyre_arena_reset(&e->texts);
            emit_line(e, "    const vy_int vy_groups_%c = %s;", "xyz"[i],
                      p -> clause[i] == VYRE_NONE ? "1" : size_text(e, p->clause[i]));
            emit_line(e,
                      "    if (vy_bad || vy_groups_%c < 0 || vy_groups_%c > UINT32_MAX) return "
                      "vy_size_error;",
                      "xyz"[i], "xyz"[i]);
            emit_line(e, "    vy_grid.groups_%c = (uint32_t)vy_groups_%c;", "xyz"[i], "xyz"[i]);
        }
    } else if (axis == 3) {
        emit_line(e, "    return vy_size_error; // groups extend along several axes: give a grid");
    } else {
        if (p->clause_kind == VYRE_CLAUSE_ELEMENTS) {
            vyre_arena_reset(&e->texts);
            emit_line(e, "    const vy_int vy_elements = %s;", size_text(e, p->clause[0]));
        } else {
            put_largest(e);
        }
        emit_line(e, "    if (vy_bad || vy_elements < 0 || vy_elements > INT64_MAX ||");
        emit_line(e, "        (vy_elements + %u) / %u > UINT32_MAX) return vy_size_error;",
                  (unsigned)p->workgroup[axis] - 1, (unsigned)p->workgroup[axis]);
        emit_line(e, "    vy_grid.groups_x = vy_grid.groups_y = vy_grid.groups_z = 1;");
        emit_line(e, "    vy_grid.groups_%c = (uint32_t)((vy_elements + %u) / %u);", "xyz"[axis],
                  (unsigned)p -> workgroup[axis] - 1, (unsigned)p -> workgroup[axis]);
    }
    emit_line(e, "}");
}

/* Memory that lives for the pass; all of it begins as zeros. */
static void put_memory(emit_program *e, const vyre_module_view *m, const emit_c_state *file) {
    uint32_t count = 0;
    emit_line(e, "const uint64_t vy_all = vy_count(&vy_grid), vy_lanes_64 = vy_all * %uu;",
              (unsigned)(e->p->workgroup[0] * e->p->workgroup[1] * e->p->workgroup[2]));
    emit_line(e, "if (vy_all == 0) return 0;");
    for (int i = 0; i < 3; i++) {
        emit_line(e, "if ((uint64_t)vy_grid.groups_%c * %uu > UINT32_MAX) return vy_size_error;",
                  "xyz"[i], (unsigned)e -> p -> workgroup[i]);
    }
    if (m->widest != UINT32_MAX) {
        emit_line(e, "if (vy_grid.groups_x * %uu > %uu) return vy_size_error;",
                  (unsigned)e->p->workgroup[0], (unsigned)m->widest);
    }
    emit_line(e, "const uint32_t vy_lanes = (uint32_t)vy_lanes_64;");
    emit_line(e, "(void)vy_lanes;");
    for (uint32_t i = 0; i < m->buffer_count; i++) {
        emit_line(e, "const uint64_t vy_own_%u_words = %lluu * vy_lanes_64 + %lluu * vy_all;",
                  (unsigned)i, (unsigned long long)m->buffers[i].lane_words,
                  (unsigned long long)m->buffers[i].group_words);
        emit_line(
            e,
            "if (vy_lanes_64 > UINT32_MAX || vy_own_%u_words > UINT32_MAX) return vy_size_error;",
            (unsigned)i);
        emit_line(e,
                  "uint32_t *vy_own_%u = (uint32_t *)(vy_held[%u] = vy_zeros(vy_own_%u_words, 4));",
                  (unsigned)i, (unsigned)count++, (unsigned)i);
    }
    for (uint32_t i = 0; i < VYRE_PLACES; i++) {
        const bool by_group = i <= VYRE_PLACE_NEXT || i == VYRE_PLACE_PARTS;
        const uint32_t words = i == VYRE_PLACE_PARTS ? m->part_words
                               : by_group            ? m->group_value_words
                                                     : m->made_words;
        const char *name = emit_c_place(i);
        if (words && name) {
            emit_line(e, "const uint64_t %s_words = %uu%s;", name, (unsigned)words,
                      by_group ? " * vy_all" : "");
            emit_line(e, "if (%s_words > UINT32_MAX) return vy_size_error;", name);
            emit_line(e, "uint32_t *%s = (uint32_t *)(vy_held[%u] = vy_zeros(%s_words, 4));", name,
                      (unsigned)count++, name);
        }
    }
    for (vyre_decl i = 0; i < e->p->decl_count; i++) {
        if (e->p->decls[i].role == VYRE_SCRATCH) {
            const char *type = emit_element_type((vyre_type)e->p->decls[i].type);
            emit_line(e, "%s *const %s = (%s *)(vy_held[%u] = vy_zeros(%s, sizeof(%s)));", type,
                      e->decls[i], type, (unsigned)count++, e->lens[i], type);
        }
    }
    if (file->sites) {
        emit_line(e, "const uint64_t vy_trap_words = 1 + 64 * %uu * ((vy_lanes_64 >> 31) + 1);",
                  (unsigned)file->sites);
        emit_line(e, "if (vy_trap_words > UINT32_MAX) return vy_size_error;");
        emit_line(e, "const uint32_t vy_traps_words = (uint32_t)vy_trap_words;");
        emit_line(e,
                  "uint32_t *const vy_traps = (uint32_t *)(vy_held[%u] = %s(vy_traps_words, 4));",
                  (unsigned)count++, file->host->trap_memory);
    }
    if (file->group_memory) {
        emit_line(e, "vy_grid.memory = (char *)(vy_held[%u] = vy_zeros(vy_threads(), %lluu));",
                  (unsigned)count++, (unsigned long long)file->group_memory);
    }
    if (count) {
        emit_line(e, "for (int vy_i = 0; vy_i < %u; vy_i++) {", (unsigned)count);
        emit_line(e, "    if (!vy_held[vy_i]) return vy_memory_error;");
        emit_line(e, "}");
    }
}

static uint32_t held_count(const emit_c_state *file, const vyre_module_view *m,
                           const vyre_program_view *p) {
    uint32_t count = m->buffer_count + (m->group_value_words ? 2 : 0) + (m->made_words ? 2 : 0) +
                     (m->part_words ? 1 : 0) + (file->group_memory ? 1 : 0) + (file->sites ? 1 : 0);
    for (vyre_decl i = 0; i < p->decl_count; i++) {
        count += p->decls[i].role == VYRE_SCRATCH;
    }
    return count;
}

/* ---- dimensions ---- */

/* Inner dimensions must be lengths, and what the caller gave consists of whole parts. */
static void put_dimensions(emit_program *e, vyre_decl decl) {
    const vyre_decl_node *d = &e->p->decls[decl];
    for (uint32_t i = 1; i < d->rank; i++) {
        const vyre_expr root = vyre_decl_dimension(e->p, decl, i);
        const vyre_expr_node *n = &e->p->exprs[root];
        if (n->op != VYRE_EXPR_LITERAL && n->op != VYRE_EXPR_LEN &&
            (n->op != VYRE_EXPR_REF || e->p->decls[n->ref].type != VYRE_U32)) {
            const char *text = emit_format(e, "(vy_int)%s", size_text(e, root));
            emit_line(e, "if (%s < 0 || %s > UINT32_MAX || vy_bad) return vy_size_error;", text,
                      text);
        }
    }
    if (d->inner != VYRE_NONE) {
        emit_line(e, "if (vy_size('%%', %s, %s, &vy_bad) != 0 || vy_bad) return vy_size_error;",
                  e->lens[decl], size_text(e, d->inner));
    }
}

/* What is swapped has one size, along each dimension. */
static void put_swapped(emit_program *e, vyre_decl a, vyre_decl b) {
    if (a == b) {
        return;
    }
    if (strcmp(e->lens[a], e->lens[b]) != 0) {
        emit_line(e, "if (%s != %s) return vy_size_error;", e->lens[a], e->lens[b]);
    }
    for (uint32_t i = 1; i < e->p->decls[a].rank; i++) {
        const char *x = size_text(e, vyre_decl_dimension(e->p, a, i));
        const char *y = size_text(e, vyre_decl_dimension(e->p, b, i));
        if (strcmp(x, y) != 0) {
            emit_line(e, "if (%s != %s || vy_bad) return vy_size_error;", x, y);
        }
    }
}

/* What a dispatch would refuse before anything runs, of the program as it was written: splitting
 * makes lines of memory with several dimensions, and bindings of swaps. It adds declarations behind
 * those that are there. */
static void put_requirements(emit_program *e, const vyre_program *program) {
    const vyre_program_view written = *vyre_program_get(program);
    const vyre_program_view *source = e->p;
    e->p = &written;
    for (vyre_decl i = 0; i < written.decl_count; i++) {
        if (written.decls[i].rank > 1) {
            vyre_arena_reset(&e->texts);
            put_dimensions(e, i);
        }
    }
    for (vyre_stmt i = 0; i < written.stmt_count; i++) {
        if (written.stmts[i].op == VYRE_STMT_SWAP) {
            vyre_arena_reset(&e->texts);
            put_swapped(e, written.stmts[i].decl, written.stmts[i].decl2);
        }
    }
    e->p = source;
}

/* `out` buffers begin as zeros if the caller wants a run. */
static void put_clearing(emit_program *e, const vyre_program_view *p) {
    for (vyre_decl i = 0; i < p->decl_count; i++) {
        if (p->decls[i].role == VYRE_OUT) {
            emit_line(e, "if (vy_fresh) vy_clear(args->%s, args->vy_len_%s * sizeof *args->%s);",
                      e->decls[i], e->decls[i], e->decls[i]);
        }
    }
}

/* The function that does all the work: it may return from anywhere, what it holds is freed by its
 * caller. No jump passes a declaration, for the sake of C++. */
static vyre_status put_steps(emit_c_state *file, emit_c_schedule *s, vyre_diag *diag) {
    emit_program *e = &s->control;
    const vyre_module_view *m = s->m;
    vyre_text_printf(
        e->out,
        "enum { vy_size_error = %s_SIZE, vy_memory_error = %s_MEMORY };\n\n"
        "static int vy_pass(const %s_args *args, bool vy_fresh, void **vy_held, %s_trap "
        "*vy_found) {\n",
        file->name, file->name, file->name, file->name);
    e->indent = 1;
    emit_line(e, "vy_group vy_grid = {0};");
    emit_line(e, "vy_grid.groups_x = args->vy_groups[0];");
    emit_line(e, "vy_grid.groups_y = args->vy_groups[1];");
    emit_line(e, "vy_grid.groups_z = args->vy_groups[2];");
    emit_line(e, "vy_grid.trap = vy_found;");
    emit_line(e, "const vy_group *const vy = &vy_grid;");
    emit_line(e, "bool vy_bad = false;");
    emit_line(e, "(void)vy, (void)vy_bad, (void)vy_held, (void)vy_fresh;");
    emit_c_scalars(s);
    const vyre_program_view source = *vyre_program_get(m->source);
    const vyre_program_view *control = e->p;
    const vyre_program *control_program = e->program;
    e->p = &source; /* sizes are expressions of the source; declarations have the same numbers */
    e->program = m->source;
    put_clearing(e, &source);
    vyre_status status = put_buffers(e, &file->a, diag);
    if (status == VYRE_OK) {
        put_requirements(e, file->program);
        put_default_grid(e);
        put_memory(e, m, file);
        emit_c_conditions(e, file->module);
        if (file->host->before_steps) {
            status = file->host->before_steps(file, e, diag);
        }
    }
    e->p = control;
    e->program = control_program;
    vyre_text_puts(e->out, "\n");
    if (status == VYRE_OK) {
        status = emit_c_steps(s, diag);
    }
    vyre_text_printf(e->out, "\nvy_done: __attribute__((unused));\n%s    return 0;\n}\n\n",
                     file->host->done);
    return status;
}

/* ---- the functions that people call, and the whole file ---- */

/* A text of the table: $X is the program's name. */
static void put_named(const emit_c_state *file, vyre_text *out, const char *pattern,
                      const char *other) {
    const emit_subst names = {.dialect = file->host->dialect, .name = {file->name, other}};
    emit_expand(out, pattern, &names);
}

static void put_entry(const emit_c_state *file, vyre_text *out, uint32_t held) {
    const char *name = file->name;
    vyre_text_printf(out,
                     "static int vy_call(const %s_args *args, %s_trap *trap, bool vy_fresh) {\n"
                     "    void *vy_held[%u] = {0};\n"
                     "    %s_trap vy_found = {0};\n"
                     "    int vy_code = 0;\n",
                     name, name, (unsigned)held + 1, name);
    put_named(file, out, file->host->call, "");
    vyre_text_printf(out,
                     "    if (vy_code == 0 && vy_found.happened) {\n"
                     "        vy_code = %s_TRAPPED;\n"
                     "        if (trap) *trap = vy_found;\n"
                     "    }\n",
                     name);
    if (held) {
        vyre_text_printf(out,
                         "    for (int vy_i = 0; vy_i < %u; vy_i++) {\n"
                         "        vy_free(vy_held[vy_i]);\n"
                         "    }\n",
                         (unsigned)held);
    }
    vyre_text_printf(
        out,
        "    return vy_code;\n"
        "}\n\n"
        "/* Runs %s once over the grid, on what the buffers hold: `out` is not zeroed, "
        "so that\n * passes may follow one another. */\n"
        "int %s_pass(const %s_args *args, %s_trap *trap) {\n"
        "    return vy_call(args, trap, false);\n"
        "}\n\n",
        name, name, name, name);
    vyre_text_printf(out,
                     "/* Runs %s: `out` buffers begin as zeros. Gives %s_OK or what went wrong; "
                     "then `out` and\n * `inout` may hold anything. `trap` may be NULL. */\n"
                     "int %s_run(const %s_args *args, %s_trap *trap) {\n"
                     "    return vy_call(args, trap, true);\n"
                     "}\n",
                     name, name, name, name, name);
}

static void put_head(const emit_c_state *file, vyre_text *out) {
    const char *name = file->name;
    put_named(file, out, file->host->head, VYRE_VERSION_STRING);
    vyre_text_printf(out,
                     "\nenum { %s_OK = 0, %s_TRAPPED, %s_MEMORY, %s_SIZE%s%s%s };\n\n"
                     "/* Of %s_TRAPPED: which lane, with what. */\n"
                     "typedef struct %s_trap {\n"
                     "    bool happened;\n"
                     "    uint32_t address, line;\n"
                     "    uint64_t lane;\n"
                     "    const char *tag;\n"
                     "} %s_trap;\n"
                     "\n",
                     name, name, name, name, *file->host->code ? ", " : "",
                     *file->host->code ? name : "", file->host->code, name, name, name);
}

static vyre_status put_host(emit_c_state *file, vyre_diag *diag) {
    const vyre_module_view *m = vyre_module_get(file->module);
    emit_c_schedule s = {.file = file, .m = m};
    vyre_status status = emit_program_init(&s.control, file->host->dialect, &file->used,
                                           &file->entry, m->control, false, &file->a, diag);
    if (status != VYRE_OK) {
        return status;
    }
    s.control.decls[s.control.p->decl_count - 1] = "vy_made";
    s.control.lens[s.control.p->decl_count - 1] = "(uint32_t)vy_made_words";
    put_args(file, &s.control);
    status = put_steps(file, &s, diag);
    put_entry(file, &file->entry, held_count(file, m, vyre_program_get(m->source)));
    if (status == VYRE_OK) {
        status = emit_program_status(&s.control, diag);
    }
    emit_program_finish(&s.control);
    return status;
}

/* The parts whose functions the text uses. */
static void put_parts(const emit_c_state *file, const emit_part *parts, vyre_text *out) {
    for (const emit_part *part = parts; part->uses; part++) {
        if (strstr(vyre_text_string(&file->helpers), part->uses) ||
            strstr(vyre_text_string(&file->segments), part->uses) ||
            strstr(vyre_text_string(&file->entry), part->uses)) {
            vyre_text_puts(out, part->text);
        }
    }
}

static vyre_status put_file(emit_c_state *file, vyre_text *out, vyre_diag *diag) {
    const vyre_module_view *m = vyre_module_get(file->module);
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < m->segment_count; i++) {
        file->traps |= vyre_program_get(m->segments[i])->stats.stmt_kinds >> VYRE_STMT_TRAP & 1;
        file->traps |= emit_c_trap_decl(m, i) != VYRE_NONE;
    }
    for (uint32_t i = 0; i < m->segment_count && status == VYRE_OK; i++) {
        status = file->host->segment(file, i, diag);
    }
    if (status == VYRE_OK) {
        status = put_host(file, diag);
    }
    if (status != VYRE_OK) {
        return status;
    }
    emit_write_helpers(&file->helpers, file->host->dialect, &file->used);
    put_head(file, out);
    char memory[32];
    (void)snprintf(memory, sizeof memory, "%llu", (unsigned long long)file->group_memory);
    put_named(file, out, file->host->support, memory);
    put_parts(file, emit_c_parts, out);
    put_parts(file, file->host->parts, out);
    vyre_text_append(out, vyre_text_string(&file->helpers), file->helpers.length);
    vyre_text_append(out, vyre_text_string(&file->segments), file->segments.length);
    vyre_text_append(out, vyre_text_string(&file->entry), file->entry.length);
    return file->helpers.failed || file->segments.failed || file->entry.failed
               ? vyre_fail_memory(diag, "the text of a program")
               : vyre_text_status(out, "the text of a program", diag);
}

vyre_status emit_hosted_file(const emit_host *host, const vyre_program *program,
                             const vyre_emit_options *options, const vyre_allocator *a,
                             vyre_text *out, vyre_diag *diag) {
    vyre_capabilities can;
    vyre_status status = vyre_capabilities_named(host->capabilities, &can, diag);
    can.checks_bounds = true; /* the text does */
    const vyre_split_options how = {
        .keep_barriers = options->keep_barriers, .any_grid = true, .can = &can};
    vyre_module *module = NULL;
    if (status == VYRE_OK) {
        status = vyre_split(program, &how, a, &module, diag);
    }
    if (status != VYRE_OK) {
        return status;
    }
    emit_c_state file = {.host = host,
                         .program = program,
                         .dialect = host->dialect,
                         .module = module,
                         .a = *a,
                         .name = vyre_program_get(program)->name};
    vyre_text_init(&file.helpers, a);
    vyre_text_init(&file.segments, a);
    vyre_text_init(&file.entry, a);
    status = put_file(&file, out, diag);
    vyre_text_finish(&file.helpers);
    vyre_text_finish(&file.segments);
    vyre_text_finish(&file.entry);
    vyre_module_release(module);
    return status;
}
