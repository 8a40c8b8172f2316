/* The builder: life, errors, and laying out the program.
 *
 * Bodies are collected separately (each function has its own), expressions in a pool; a statement
 * that uses an expression copies its tree, in evaluation order, behind the expressions of the
 * statements before it. finish() lays the bodies one after another and renumbers variables in the
 * order of their bindings, so that the same program gets the same numbers however it was built.
 *
 * Errors are kept: every call on a failed builder is a no-op, so code that builds needs no checks.
 * Cost: linear in what is built; a handle used k times is copied k times. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "ir/builder_state.h"
#include "ir/names.h"

static vyre_place unpack(const vyre_builder *b, vyre_packed_place packed) {
    return (vyre_place){
        .file = packed.file == VYRE_INTERN_NONE ? NULL : vyre_intern_text(&b->strings, packed.file),
        .line = packed.line,
        .col = packed.col,
        .end_col = packed.end_col};
}

void vyre_builder_fail(vyre_builder *b, vyre_status status, const char *fix, const char *format,
                       ...) {
    if (b->error.status != VYRE_OK) {
        return;
    }
    char message[VYRE_DIAG_TEXT];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    (void)vyre_fail_at(&b->error, status, "", unpack(b, b->place), fix, "%s", message);
}

void vyre_builder_fail_memory(vyre_builder *b) {
    if (b->error.status == VYRE_OK) {
        (void)vyre_fail_memory(&b->error, "the program");
    }
}

void vyre_builder_misuse(vyre_builder *b, const char *what) {
    vyre_builder_fail(b, VYRE_INVALID_ARGUMENT, "correct the builder call", "%s", what);
}

const char *vyre_builder_intern(vyre_builder *b, const char *text) {
    uint32_t number = vyre_intern_add(&b->strings, text, strlen(text));
    if (number == VYRE_INTERN_NONE) {
        vyre_builder_fail_memory(b);
        return "";
    }
    return vyre_intern_text(&b->strings, number);
}

const char *vyre_builder_intern_name(vyre_builder *b, const char *name) {
    size_t length = name ? strlen(name) : 0;
    if (!name || !vyre_name_is_identifier(name, length)) {
        vyre_builder_fail(b, VYRE_INVALID_ARGUMENT,
                          "use letters, digits and underscores, not a digit first",
                          "`%s` is not a name", name ? name : "(null)");
        return "";
    }
    if (vyre_name_is_reserved(name, length)) {
        vyre_builder_fail(b, VYRE_INVALID_ARGUMENT, "choose another name",
                          "`%s` is a reserved word", name);
        return "";
    }
    return vyre_builder_intern(b, name);
}

vyre_status vyre_builder_create(const vyre_allocator *allocator, const char *name,
                                vyre_builder **out_builder) {
    vyre_allocator a = vyre_allocator_or_system(allocator);
    vyre_builder *b = vyre_alloc_zeroed(&a, 1, sizeof *b);
    if (!b) {
        return VYRE_OUT_OF_MEMORY;
    }
    b->allocator = a;
    vyre_intern_init(&b->strings, &a);
    b->place.file = VYRE_INTERN_NONE;
    b->program_place.file = VYRE_INTERN_NONE;
    b->workgroup[0] = b->workgroup[1] = b->workgroup[2] = 1;
    b->clause[0] = b->clause[1] = b->clause[2] = VYRE_NONE;
    b->current = VYRE_NONE;
    b->name = vyre_builder_intern_name(b, name);
    *out_builder = b;
    return VYRE_OK;
}

static void free_body(const vyre_allocator *a, vyre_body *code) {
    vyre_vec_free(a, &code->stmts);
    vyre_vec_free(a, &code->stmt_places);
    vyre_vec_free(a, &code->exprs);
    vyre_vec_free(a, &code->expr_places);
    vyre_vec_free(a, &code->open);
}

void vyre_builder_destroy(vyre_builder *b) {
    if (!b) {
        return;
    }
    vyre_allocator a = b->allocator;
    for (uint32_t i = 0; i < b->fns.count; i++) {
        free_body(&a, &b->fns.data[i].code);
    }
    free_body(&a, &b->decl_code);
    free_body(&a, &b->entry);
    vyre_vec_free(&a, &b->decls);
    vyre_vec_free(&a, &b->decl_places);
    vyre_vec_free(&a, &b->vars);
    vyre_vec_free(&a, &b->var_places);
    vyre_vec_free(&a, &b->args);
    vyre_vec_free(&a, &b->pool);
    vyre_vec_free(&a, &b->fns);
    vyre_intern_finish(&b->strings);
    vyre_free(&a, b, 1, sizeof *b);
}

vyre_status vyre_builder_status(const vyre_builder *b) {
    return b->error.status;
}

void vyre_builder_at(vyre_builder *b, vyre_place place) {
    if (!vyre_builder_ok(b)) {
        return;
    }
    uint32_t file = VYRE_INTERN_NONE;
    if (place.file) {
        /* Consecutive calls come from one file: compare before hashing. */
        if (b->place.file != VYRE_INTERN_NONE &&
            strcmp(vyre_intern_text(&b->strings, b->place.file), place.file) == 0) {
            file = b->place.file;
        } else {
            file = vyre_intern_add(&b->strings, place.file, strlen(place.file));
            if (file == VYRE_INTERN_NONE) {
                vyre_builder_fail_memory(b);
                return;
            }
        }
    }
    b->place = (vyre_packed_place){
        .file = file, .line = place.line, .col = place.col, .end_col = place.end_col};
}

void vyre_builder_set_decl_type(vyre_builder *b, vyre_decl decl, vyre_type type) {
    if (vyre_builder_ok(b) && decl < b->decls.count) {
        b->decls.data[decl].type = (uint8_t)type;
    }
}

vyre_builder_mark vyre_builder_mark_of(const vyre_builder *b) {
    return (vyre_builder_mark){b->decls.count, b->vars.count, b->args.count, b->fns.count};
}

void vyre_builder_cut(vyre_builder *b, vyre_builder_mark mark) {
    for (uint32_t i = mark.fns; i < b->fns.count; i++) {
        free_body(&b->allocator, &b->fns.data[i].code);
    }
    b->decls.count = b->decl_places.count = mark.decls;
    b->vars.count = b->var_places.count = mark.vars;
    b->args.count = mark.args;
    b->fns.count = mark.fns;
    vyre_builder_forget_exprs(b);
}

void vyre_builder_forget_exprs(vyre_builder *b) {
    b->pool.count = 0;
}

/* Finish */

typedef struct layout {
    vyre_program *program;
    vyre_var *renumbered; /* per builder variable */
    uint32_t next_var, next_arg;
} layout;

static vyre_expr tree_first(const vyre_body *from, vyre_expr root) {
    while (vyre_expr_arity(&from->exprs.data[root]) > 0) {
        root = from->exprs.data[root].u.arg[0];
    }
    return root;
}

static void lay_var(layout *to, const vyre_builder *b, vyre_var var) {
    to->renumbered[var] = to->next_var;
    to->program->vars[to->next_var] = b->vars.data[var];
    to->program->var_places[to->next_var++] = b->var_places.data[var];
}

static void lay_exprs(const vyre_body *from, uint32_t base, vyre_program *p) {
    for (uint32_t i = 0; i < from->exprs.count; i++) {
        vyre_expr_node node = from->exprs.data[i];
        for (uint32_t k = 0; k < vyre_expr_arity(&node); k++) {
            node.u.arg[k] += base;
        }
        p->exprs[base + i] = node;
        p->expr_places[base + i] = from->expr_places.data[i];
    }
}

static uint32_t moved(uint32_t handle, uint32_t base) {
    return handle == VYRE_NONE ? VYRE_NONE : handle + base;
}

/* Copies a body: expressions behind `expr_base`, statements behind `stmt_base`. */
static void lay_body(layout *to, const vyre_builder *b, const vyre_body *from, uint32_t stmt_base,
                     uint32_t expr_base) {
    vyre_program *p = to->program;
    lay_exprs(from, expr_base, p);
    for (uint32_t i = 0; i < from->stmts.count; i++) {
        vyre_stmt_node node = from->stmts.data[i];
        if (node.var != VYRE_NONE && node.op != VYRE_STMT_ASSIGN) {
            lay_var(to, b, node.var);
        }
        for (int k = 0; k < 3; k++) {
            node.arg[k] = moved(node.arg[k], expr_base);
        }
        node.first_expr += expr_base;
        node.end_expr += expr_base;
        node.match = moved(node.match, stmt_base);
        if (node.op == VYRE_STMT_CALL) {
            uint32_t first = node.first_arg;
            node.first_arg = to->next_arg;
            for (uint32_t k = 0; k < node.arg_count; k++) {
                p->args[to->next_arg++] = b->args.data[first + k] + expr_base;
            }
        }
        p->stmts[stmt_base + i] = node;
        p->stmt_places[stmt_base + i] = from->stmt_places.data[i];
    }
}

/* Variables are used under their new numbers once all are known. A use of a variable that no
 * statement binds can't happen: only binding calls make variables. */
static void renumber_uses(layout *to) {
    vyre_program *p = to->program;
    for (uint32_t i = 0; i < p->view.expr_count; i++) {
        if (p->exprs[i].op == VYRE_EXPR_VAR) {
            p->exprs[i].ref = to->renumbered[p->exprs[i].ref];
        }
    }
    for (uint32_t i = 0; i < p->view.stmt_count; i++) {
        if (p->stmts[i].var != VYRE_NONE) {
            p->stmts[i].var = to->renumbered[p->stmts[i].var];
        }
    }
}

/* Copies the tree that ends at `root` to the end of what is laid out; returns its new root. */
static vyre_expr lay_tree(const vyre_body *from, vyre_expr root, uint32_t *end, vyre_program *p) {
    if (root == VYRE_NONE) {
        return VYRE_NONE;
    }
    vyre_expr first = tree_first(from, root);
    uint32_t shift = *end - first; /* modulo 2^32 */
    for (vyre_expr i = first; i <= root; i++) {
        vyre_expr_node node = from->exprs.data[i];
        for (uint32_t k = 0; k < vyre_expr_arity(&node); k++) {
            node.u.arg[k] += shift;
        }
        p->exprs[*end] = node;
        p->expr_places[(*end)++] = from->expr_places.data[i];
    }
    return root + shift;
}

/* Expressions of declarations in declaration order, then those of the clause: whatever the order of
 * the calls was. */
static uint32_t lay_decls(vyre_builder *b, vyre_program *p) {
    uint32_t end = 0;
    for (uint32_t i = 0; i < b->decls.count; i++) {
        vyre_decl_node node = b->decls.data[i];
        node.first_expr = end;
        node.size = lay_tree(&b->decl_code, node.size, &end, p);
        node.value = lay_tree(&b->decl_code, node.value, &end, p);
        node.inner = lay_tree(&b->decl_code, node.inner, &end, p);
        node.end_expr = end;
        p->decls[i] = node;
        p->decl_places[i] = b->decl_places.data[i];
    }
    for (int i = 0; i < 3; i++) {
        p->view.clause[i] = lay_tree(&b->decl_code, b->clause[i], &end, p);
    }
    return end;
}

static void lay_out(vyre_builder *b, layout *to) {
    vyre_program *p = to->program;
    uint32_t stmt_base = 0;
    uint32_t expr_base = lay_decls(b, p);
    for (uint32_t i = 0; i < b->fns.count; i++) {
        vyre_builder_function *f = &b->fns.data[i];
        vyre_var first = f->node.first_var;
        f->node.first_var = to->next_var;
        for (uint32_t k = 0; k < f->node.arg_count; k++) {
            lay_var(to, b, first + k);
        }
        uint32_t first_effect = f->node.first_effect;
        f->node.first_effect = to->next_arg;
        for (uint32_t k = 0; k < f->node.reads + f->node.writes; k++) {
            p->args[to->next_arg++] = b->args.data[first_effect + k];
        }
        f->node.begin = stmt_base;
        lay_body(to, b, &f->code, stmt_base, expr_base);
        stmt_base += f->code.stmts.count;
        expr_base += f->code.exprs.count;
        f->node.end = stmt_base;
        p->fns[i] = f->node;
        p->fn_places[i] = f->place;
    }
    p->view.entry = stmt_base;
    lay_body(to, b, &b->entry, stmt_base, expr_base);
    renumber_uses(to);
}

/* Expressions of declarations and clauses that are in use: a size given anew leaves its old one. */
static uint64_t decl_exprs(const vyre_builder *b) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < b->decls.count + 3; i++) {
        vyre_expr roots[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
        if (i < b->decls.count) {
            roots[0] = b->decls.data[i].size;
            roots[1] = b->decls.data[i].value;
            roots[2] = b->decls.data[i].inner;
        } else {
            roots[0] = b->clause[i - b->decls.count];
        }
        for (int k = 0; k < 3; k++) {
            count += roots[k] == VYRE_NONE ? 0 : roots[k] + 1 - tree_first(&b->decl_code, roots[k]);
        }
    }
    return count;
}

/* Totals over all bodies; false when a count does not fit. */
static bool total(const vyre_builder *b, vyre_program_view *sizes) {
    uint64_t stmts = b->entry.stmts.count;
    uint64_t exprs = b->entry.exprs.count + decl_exprs(b);
    for (uint32_t i = 0; i < b->fns.count; i++) {
        stmts += b->fns.data[i].code.stmts.count;
        exprs += b->fns.data[i].code.exprs.count;
    }
    sizes->stmt_count = (uint32_t)stmts;
    sizes->expr_count = (uint32_t)exprs;
    sizes->decl_count = b->decls.count;
    sizes->var_count = b->vars.count;
    sizes->fn_count = b->fns.count;
    sizes->arg_count = b->args.count;
    return stmts < VYRE_NONE && exprs < VYRE_NONE;
}

static void check_complete(vyre_builder *b) {
    if (!vyre_builder_ok(b)) {
        return;
    }
    if (b->current != VYRE_NONE || b->entry.open.count != 0) {
        vyre_builder_misuse(b, "a statement list or function is still open");
    }
    for (uint32_t i = 0; i < b->fns.count; i++) {
        if (!b->fns.data[i].ended) {
            vyre_builder_misuse(b, "a function has no body");
        }
    }
}

vyre_status vyre_builder_finish(vyre_builder *b, vyre_program **out_program, vyre_diag *diag) {
    if (b->finished) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "create a new builder",
                         "the builder is already finished");
    }
    check_complete(b);
    vyre_builder_settle_dimensions(b);
    vyre_program_view sizes = {.name = b->name,
                               .workgroup = {b->workgroup[0], b->workgroup[1], b->workgroup[2]},
                               .clause_kind = b->clause_kind,
                               .clause = {b->clause[0], b->clause[1], b->clause[2]}};
    if (vyre_builder_ok(b) && !total(b, &sizes)) {
        vyre_builder_fail(b, VYRE_LIMIT, "make the program smaller", "the program is too large");
    }
    if (!vyre_builder_ok(b)) {
        if (diag) {
            *diag = b->error;
        }
        return b->error.status;
    }
    layout to = {0};
    to.renumbered = vyre_alloc(&b->allocator, b->vars.count, sizeof *to.renumbered);
    if (to.renumbered) {
        to.program = vyre_program_allocate(&b->allocator, &sizes, &b->strings);
    }
    if (to.program) {
        vyre_intern_init(&b->strings, &b->allocator);
        b->finished = true;
        to.program->place = b->program_place;
        lay_out(b, &to);
        vyre_program_seal(to.program);
        *out_program = to.program;
    }
    vyre_free(&b->allocator, to.renumbered, b->vars.count, sizeof *to.renumbered);
    return to.program ? VYRE_OK : vyre_fail_memory(diag, "the program");
}
