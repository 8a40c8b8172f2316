/* The printer: a program as text that parses back to an equal program.
 *
 * Literals: u32 and f32 carry no suffix, because those are the types an unsuffixed literal takes
 * where nothing else is asked for, and where something is asked for a valid program has that type.
 * A negation of a literal is printed as -(5), since -5 is itself a literal. Floats get the fewest
 * digits that read back to the same bits. Brackets appear only where precedence needs them.
 * Expression depth is bounded by the builder; a fixed stack replaces recursion. */
#include "ir/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/shortest.h"
#include "ir/builder.h"
#include "ir/precedence.h"
#include "ir/program.h"
#include "ir/waits.h"

typedef struct printer {
    const vyre_program_view *p;
    vyre_write_fn write;
    void *user;
    bool stopped;
    uint32_t indent;
    bool exact; /* inside a size or clause: literals are plain integers */
} printer;

static void put_bytes(printer *out, const char *text, size_t length) {
    if (!out->stopped && length > 0 && !out->write(out->user, text, length)) {
        out->stopped = true;
    }
}

static void put(printer *out, const char *text) {
    put_bytes(out, text, strlen(text));
}

VYRE_PRINTF(2, 3)
static void putf(printer *out, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put_bytes(out, text, length < (int)sizeof text ? (size_t)length : sizeof text - 1);
}

static void put_indent(printer *out) {
    for (uint32_t i = 0; i < out->indent; i++) {
        put(out, "    ");
    }
}

static void put_string(printer *out, const char *text) {
    put(out, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            putf(out, "\\%c", c);
        } else if (c == '\n') {
            put(out, "\\n");
        } else if (c == '\t') {
            put(out, "\\t");
        } else if (c < 0x20 || c == 0x7f) {
            putf(out, "\\x%02x", c);
        } else {
            put_bytes(out, text, 1);
        }
    }
    put(out, "\"");
}

/* The shortest decimal text that reads back to the same value, with a point or an exponent. */
static void put_float(printer *out, vyre_type type, uint64_t bits) {
    double value;
    if (type == VYRE_F32) {
        uint32_t word = (uint32_t)bits;
        float narrow;
        memcpy(&narrow, &word, sizeof narrow);
        value = (double)narrow;
    } else {
        memcpy(&value, &bits, sizeof value);
    }
    char text[VYRE_SHORTEST_TEXT];
    vyre_shortest(value, type == VYRE_F32, 1, text);
    put(out, text);
    if (!strpbrk(text, ".e")) {
        put(out, ".0");
    }
    if (type == VYRE_F64) {
        put(out, "d");
    }
}

static void put_literal(printer *out, const vyre_expr_node *e) {
    uint64_t bits = e->u.bits;
    if (out->exact) {
        putf(out, "%lld", (long long)(int64_t)bits);
        return;
    }
    switch ((vyre_type)e->type) {
    case VYRE_BOOL: put(out, bits ? "true" : "false"); break;
    case VYRE_U32: putf(out, "%lu", (unsigned long)bits); break;
    case VYRE_I32: putf(out, "%ldi", (long)(int32_t)bits); break;
    case VYRE_U64: putf(out, "%lluul", (unsigned long long)bits); break;
    case VYRE_I64: putf(out, "%lldl", (long long)(int64_t)bits); break;
    case VYRE_F32:
    case VYRE_F64: put_float(out, (vyre_type)e->type, bits); break;
    case VYRE_VOID:
    case VYRE_U8:
    case VYRE_I8:
    case VYRE_U16:
    case VYRE_I16:
    case VYRE_F16:
    case VYRE_BF16:
    case VYRE_TYPE_COUNT: break; /* the builder makes no such literals */
    }
}

/* An id without axes is named with one beside memory or a variable of that name. */
static bool is_declared(const vyre_program_view *p, const char *name) {
    bool found = false;
    for (vyre_decl d = 0; d < p->decl_count && !found; d++) {
        found = strcmp(p->decls[d].name, name) == 0;
    }
    for (vyre_var v = 0; v < p->var_count && !found; v++) {
        found = strcmp(p->vars[v].name, name) == 0;
    }
    return found;
}

static void put_leaf(printer *out, const vyre_expr_node *e) {
    static const char axes[] = "xyz";
    if (e->op == VYRE_EXPR_LITERAL) {
        put_literal(out, e);
    } else if (e->op == VYRE_EXPR_VAR) {
        put(out, out->p->vars[e->ref].name);
    } else if (e->op == VYRE_EXPR_REF) {
        put(out, out->p->decls[e->ref].name);
    } else if (e->op == VYRE_EXPR_LEN) {
        putf(out, "len(%s)", out->p->decls[e->ref].name);
    } else { /* BUILTIN, the only other leaf */
        const char *name = vyre_builtin_name((vyre_builtin)e->sub);
        put(out, name);
        if (vyre_builtin_axes((vyre_builtin)e->sub) == 3 || is_declared(out->p, name)) {
            putf(out, ".%c", axes[e->axis]);
        }
    }
}

/* Whether operand number k of `parent` needs brackets around it. */
static bool needs_brackets(const vyre_expr_node *parent, uint32_t k, const vyre_expr_node *child) {
    const vyre_expr_info *up = vyre_expr_info_of((vyre_expr_op)parent->op);
    const vyre_expr_info *down = vyre_expr_info_of((vyre_expr_op)child->op);
    if (down->form == VYRE_FORM_TERNARY) {
        return up->form == VYRE_FORM_PREFIX || up->form == VYRE_FORM_INFIX ||
               (up->form == VYRE_FORM_TERNARY && k == 0);
    }
    if (up->form == VYRE_FORM_PREFIX) {
        return down->form == VYRE_FORM_INFIX || down->form == VYRE_FORM_PREFIX ||
               (parent->op == VYRE_EXPR_NEG && child->op == VYRE_EXPR_LITERAL);
    }
    if (up->form == VYRE_FORM_INFIX && down->form == VYRE_FORM_INFIX) {
        int above = vyre_precedence((vyre_expr_op)parent->op);
        int below = vyre_precedence((vyre_expr_op)child->op);
        return below < above || (below == above && k == 1);
    }
    return false;
}

/* What stands before operand k (k == arity: after the last). */
static void put_around(printer *out, const vyre_expr_node *e, uint32_t k, uint32_t arity) {
    const vyre_expr_info *info = vyre_expr_info_of((vyre_expr_op)e->op);
    switch ((vyre_form)info->form) {
    case VYRE_FORM_LEAF: break;
    case VYRE_FORM_PREFIX:
        if (k == 0) {
            put(out, info->spelling);
        }
        break;
    case VYRE_FORM_INFIX:
        if (k == 1) {
            putf(out, " %s ", info->spelling);
        }
        break;
    case VYRE_FORM_TERNARY:
        if (k == 1 || k == 2) {
            put(out, k == 1 ? " ? " : " : ");
        }
        break;
    case VYRE_FORM_CALL:
        if (k == 0) {
            putf(out, "%s(", info->spelling);
        } else {
            put(out, k < arity ? ", " : ")");
        }
        break;
    case VYRE_FORM_SPECIAL:
        if (e->op == VYRE_EXPR_LOAD) {
            if (k == 0) {
                putf(out, "%s[", out->p->decls[e->ref].name);
            } else {
                put(out, "]");
            }
        } else if (k == 1) {
            put(out, ")");
        } else if (e->op == VYRE_EXPR_CAST) {
            putf(out, "%s(", vyre_type_name((vyre_type)e->sub));
        } else {
            putf(out, "bitcast<%s>(", vyre_type_name((vyre_type)e->type));
        }
    }
}

/* An expression, or, if it is the element of memory with so many dimensions, its indices: those of
 * row(y, w, x) are y and x. */
static void put_indices(printer *out, vyre_expr root, uint32_t indices) {
    struct frame {
        vyre_expr expr;
        uint32_t next, indices;
        bool brackets;
    } stack[VYRE_BUILDER_EXPR_DEPTH + 1];
    uint32_t depth = 0;
    stack[0] = (struct frame){.expr = root, .indices = indices};
    for (;;) {
        struct frame *top = &stack[depth];
        const vyre_expr_node *e = &out->p->exprs[top->expr];
        uint32_t arity = vyre_expr_arity(e);
        const bool is_row = top->indices > 1;
        top->next += is_row && top->next == 1;
        if (top->next == 0 && top->brackets) {
            put(out, "(");
        }
        if (is_row) {
            put(out, top->next == 2 ? "][" : "");
        } else if (arity == 0) {
            put_leaf(out, e);
        } else {
            put_around(out, e, top->next, arity);
        }
        if (top->next < arity) {
            vyre_expr child = e->u.arg[top->next];
            const uint32_t below = is_row && top->next == 0  ? top->indices - 1
                                   : e->op == VYRE_EXPR_LOAD ? out->p->decls[e->ref].rank
                                                             : 1;
            bool brackets = !is_row && needs_brackets(e, top->next, &out->p->exprs[child]);
            top->next++;
            stack[++depth] = (struct frame){.expr = child, .brackets = brackets, .indices = below};
            continue;
        }
        if (top->brackets) {
            put(out, ")");
        }
        if (depth-- == 0) {
            return;
        }
    }
}

static void put_expr(printer *out, vyre_expr root) {
    put_indices(out, root, 1);
}

/* An element of memory that is written. */
static void put_element(printer *out, vyre_decl memory, vyre_expr element) {
    putf(out, "%s[", out->p->decls[memory].name);
    put_indices(out, element, out->p->decls[memory].rank);
    put(out, "]");
}

static void put_exact(printer *out, vyre_expr root) {
    out->exact = true;
    put_expr(out, root);
    out->exact = false;
}

static void put_dimensions(printer *out, const vyre_decl_node *d) {
    for (uint32_t i = 0; i < d->rank; i++) {
        const vyre_expr dimension =
            d->rank == 1 ? d->size : vyre_decl_dimension(out->p, (vyre_decl)(d - out->p->decls), i);
        put(out, "[");
        if (dimension != VYRE_NONE) {
            put_exact(out, dimension);
        }
        put(out, "]");
    }
}

static void put_decl(printer *out, const vyre_decl_node *d) {
    static const char *const access[] = {"", "readonly ", "writeonly "};
    putf(out, "    %s%s %s", access[d->access], vyre_role_name((vyre_role)d->role), d->name);
    if (d->role != VYRE_CONST) {
        putf(out, " : %s", vyre_type_name((vyre_type)d->type));
    }
    if (vyre_role_is_memory((vyre_role)d->role)) {
        put_dimensions(out, d);
        if (d->range_begin != 0 || d->range_end != 0) {
            putf(out, " returns(%lu .. %lu)", (unsigned long)d->range_begin,
                 (unsigned long)d->range_end);
        }
    } else if (d->value != VYRE_NONE) {
        put(out, " = ");
        put_expr(out, d->value);
    }
    put(out, ";\n");
}

static void put_optional(printer *out, const char *before, vyre_expr expr) {
    if (expr != VYRE_NONE) {
        put(out, before);
        put_expr(out, expr);
    }
}

static void put_atomic(printer *out, const vyre_stmt_node *s) {
    putf(out, "%s(", vyre_atomic_name((vyre_atomic_op)s->sub));
    put_element(out, s->decl, s->arg[0]);
    put_optional(out, ", ", s->arg[2]);
    put_optional(out, ", ", s->arg[1]);
    if (s->ordering != VYRE_SEQ_CST) {
        putf(out, ", %s", vyre_ordering_name((vyre_ordering)s->ordering));
    }
    put(out, ")");
}

static void put_call(printer *out, const vyre_stmt_node *s) {
    putf(out, "%s(", out->p->fns[s->fn].name);
    for (uint32_t i = 0; i < s->arg_count; i++) {
        put_optional(out, i ? ", " : "", out->p->args[s->first_arg + i]);
    }
    put(out, ")");
}

static void put_async(printer *out, const vyre_stmt_node *s) {
    putf(out, "(%s, %s", out->p->decls[s->decl].name, out->p->decls[s->decl2].name);
    put_optional(out, ", ", s->arg[0]);
    put_optional(out, ", ", s->arg[1]);
    put(out, ", ");
    put_string(out, s->text);
    put(out, ")");
}

static void put_collective(printer *out, const vyre_stmt_node *s) {
    putf(out, "(%s", out->p->decls[s->decl].name);
    if (s->decl2 != VYRE_NONE) {
        putf(out, ", %s", out->p->decls[s->decl2].name);
    }
    if (s->op == VYRE_STMT_ALL_REDUCE || s->op == VYRE_STMT_REDUCE_SCATTER) {
        putf(out, ", %s", vyre_collective_name((vyre_collective_op)s->sub));
    }
    put_optional(out, ", ", s->arg[1]);
    put_optional(out, ", ", s->arg[0]);
    put(out, ")");
}

/* An ELSE whose list is exactly one IF is printed as "else if"; the IF's END then closes both. */
static bool is_else_if(const vyre_program_view *p, vyre_stmt s) {
    if (p->stmts[s].op != VYRE_STMT_ELSE || p->stmts[s + 1].op != VYRE_STMT_IF) {
        return false;
    }
    vyre_stmt end = p->stmts[s + 1].match;
    if (p->stmts[end].op == VYRE_STMT_ELSE) {
        end = p->stmts[end].match;
    }
    return end + 1 == p->stmts[s].match;
}

/* END s closes an IF whose ELSE was printed as "else if": nothing is left to print. */
static bool is_silent_end(const vyre_program_view *p, vyre_stmt s) {
    vyre_stmt opener = p->stmts[s].match;
    if (p->stmts[opener].op != VYRE_STMT_IF || p->stmts[opener].match == s) {
        return false;
    }
    return is_else_if(p, p->stmts[opener].match);
}

static void put_plain(printer *out, const vyre_stmt_node *s) {
    const vyre_program_view *p = out->p;
    vyre_stmt_op op = (vyre_stmt_op)s->op;
    bool binds = s->var != VYRE_NONE && op != VYRE_STMT_ASSIGN;
    if (binds) {
        putf(out, "let %s = ", p->vars[s->var].name);
    }
    switch (op) {
    case VYRE_STMT_LET: put_expr(out, s->arg[0]); break;
    case VYRE_STMT_ASSIGN:
        putf(out, "%s = ", p->vars[s->var].name);
        put_expr(out, s->arg[0]);
        break;
    case VYRE_STMT_STORE:
        put_element(out, s->decl, s->arg[0]);
        put(out, " = ");
        put_expr(out, s->arg[1]);
        break;
    case VYRE_STMT_ATOMIC: put_atomic(out, s); break;
    case VYRE_STMT_SUBGROUP:
        putf(out, "%s(", vyre_subgroup_name((vyre_subgroup_op)s->sub));
        put_expr(out, s->arg[0]);
        put_optional(out, ", ", s->arg[1]);
        put(out, ")");
        break;
    case VYRE_STMT_GROUP:
    case VYRE_STMT_GRID:
        putf(out, "%s(", vyre_reduce_stmt_name(s));
        put_expr(out, s->arg[0]);
        put_optional(out, ", ", s->arg[1]);
        put(out, ")");
        break;
    case VYRE_STMT_PART:
        putf(out, "part %lu of %s(", (unsigned long)s->fn, vyre_reduce_stmt_name(s));
        put_expr(out, s->arg[0]);
        put(out, ")");
        break;
    case VYRE_STMT_COMBINE:
    case VYRE_STMT_BASE:
        putf(out, "%s %lu of %s", op == VYRE_STMT_BASE ? "base" : "combination",
             (unsigned long)s->fn, vyre_reduce_stmt_name(s));
        break;
    case VYRE_STMT_CALL: put_call(out, s); break;
    case VYRE_STMT_BREAK:
    case VYRE_STMT_CONTINUE:
    case VYRE_STMT_EXIT:
    case VYRE_STMT_GRID_SYNC: put(out, vyre_stmt_info_of(op)->spelling); break;
    case VYRE_STMT_RETURN:
        put(out, "return");
        put_optional(out, " ", s->arg[0]);
        break;
    case VYRE_STMT_BARRIER:
        put(out, "barrier");
        if (s->ordering != VYRE_SEQ_CST) {
            putf(out, "(%s)", vyre_ordering_name((vyre_ordering)s->ordering));
        }
        break;
    case VYRE_STMT_TRAP:
        put(out, "trap(");
        put_string(out, s->text);
        put_optional(out, ", ", s->arg[0]);
        put(out, ")");
        break;
    case VYRE_STMT_ASYNC_LOAD:
    case VYRE_STMT_ASYNC_STORE:
        put(out, vyre_stmt_info_of(op)->spelling);
        put_async(out, s);
        break;
    case VYRE_STMT_ASYNC_WAIT:
        put(out, "async_wait(");
        put_string(out, s->text);
        put(out, ")");
        break;
    case VYRE_STMT_ALL_REDUCE:
    case VYRE_STMT_ALL_GATHER:
    case VYRE_STMT_REDUCE_SCATTER:
    case VYRE_STMT_BROADCAST:
    case VYRE_STMT_SWAP:
        put(out, vyre_stmt_info_of(op)->spelling);
        put_collective(out, s);
        break;
    case VYRE_STMT_INDIRECT_DISPATCH:
        putf(out, "indirect_dispatch(%s", p->decls[s->decl].name);
        put_optional(out, ", ", s->arg[0]);
        put(out, ")");
        break;
    case VYRE_STMT_IF:
    case VYRE_STMT_ELSE:
    case VYRE_STMT_FOR:
    case VYRE_STMT_WHILE:
    case VYRE_STMT_BLOCK:
    case VYRE_STMT_REGION:
    case VYRE_STMT_END:
    case VYRE_STMT_COUNT: break; /* not plain */
    }
    put(out, ";\n");
}

static void put_opener(printer *out, const vyre_stmt_node *s) {
    if (s->op == VYRE_STMT_IF || s->op == VYRE_STMT_WHILE) {
        putf(out, "%s (", vyre_stmt_info_of((vyre_stmt_op)s->op)->spelling);
        put_expr(out, s->arg[0]);
        put(out, ") ");
    } else if (s->op == VYRE_STMT_FOR) {
        putf(out, "for (%s in ", out->p->vars[s->var].name);
        put_expr(out, s->arg[0]);
        put(out, " .. ");
        put_expr(out, s->arg[1]);
        put_optional(out, " step ", s->arg[2]);
        put(out, ") ");
    } else if (s->op == VYRE_STMT_REGION) {
        put(out, "region ");
        put_string(out, s->text);
        put(out, " ");
    }
    put(out, "{\n");
    out->indent++;
}

static void put_stmts(printer *out, vyre_stmt begin, vyre_stmt end) {
    const vyre_program_view *p = out->p;
    for (vyre_stmt i = begin; i < end && !out->stopped; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        switch ((vyre_scope)vyre_stmt_info_of((vyre_stmt_op)s->op)->scope) {
        case VYRE_SCOPE_NONE:
            put_indent(out);
            put_plain(out, s);
            break;
        case VYRE_SCOPE_OPEN:
            if (i == begin || !is_else_if(p, i - 1)) {
                put_indent(out);
            }
            put_opener(out, s);
            break;
        case VYRE_SCOPE_ELSE:
            out->indent--;
            put_indent(out);
            put(out, "} else ");
            if (!is_else_if(p, i)) {
                put(out, "{\n");
                out->indent++;
            }
            break;
        case VYRE_SCOPE_END:
            if (!is_silent_end(p, i)) {
                out->indent--;
                put_indent(out);
                put(out, "}\n");
            }
            break;
        }
    }
}

static void put_effects(printer *out, const char *word, const uint32_t *decls, uint32_t count) {
    putf(out, " %s(", word);
    for (uint32_t i = 0; i < count; i++) {
        putf(out, "%s%s", i ? ", " : "", out->p->decls[decls[i]].name);
    }
    put(out, ")");
}

static void put_fn(printer *out, const vyre_fn_node *f) {
    putf(out, "\n    %sfn %s(", f->opaque ? "opaque " : "", f->name);
    for (uint32_t i = 0; i < f->arg_count; i++) {
        const vyre_var_node *arg = &out->p->vars[f->first_var + i];
        putf(out, "%s%s : %s", i ? ", " : "", arg->name, vyre_type_name((vyre_type)arg->type));
    }
    put(out, ")");
    if (f->type != VYRE_VOID) {
        putf(out, " -> %s", vyre_type_name((vyre_type)f->type));
    }
    if (f->opaque) {
        const uint32_t *effects = out->p->args + f->first_effect;
        put_effects(out, "reads", effects, f->reads);
        put_effects(out, "writes", effects + f->reads, f->writes);
    }
    put(out, " {\n");
    out->indent = 2;
    put_stmts(out, f->begin, f->end);
    out->indent = 1;
    put(out, "    }\n");
}

static void put_header(printer *out) {
    const vyre_program_view *p = out->p;
    putf(out, "program %s workgroup(%lu", p->name, (unsigned long)p->workgroup[0]);
    int axes = p->workgroup[2] != 1 ? 3 : p->workgroup[1] != 1 ? 2 : 1;
    for (int i = 1; i < axes; i++) {
        putf(out, ", %lu", (unsigned long)p->workgroup[i]);
    }
    put(out, ")");
    if (p->clause_kind != VYRE_CLAUSE_NONE) {
        put(out, p->clause_kind == VYRE_CLAUSE_ELEMENTS ? " elements(" : " grid(");
        for (int i = 0; i < 3 && p->clause[i] != VYRE_NONE; i++) {
            put(out, i ? ", " : "");
            put_exact(out, p->clause[i]);
        }
        put(out, ")");
    }
    put(out, " {\n");
}

void vyre_print_expr(const vyre_program *program, vyre_expr expr, vyre_write_fn write, void *user) {
    printer out = {.p = vyre_program_get(program), .write = write, .user = user};
    put_expr(&out, expr);
}

void vyre_print_string(const char *string, vyre_write_fn write, void *user) {
    printer out = {.write = write, .user = user};
    put_string(&out, string);
}

void vyre_print_stmts(const vyre_program *program, vyre_stmt begin, vyre_stmt end,
                      vyre_write_fn write, void *user) {
    printer out = {.p = vyre_program_get(program), .write = write, .user = user};
    put_stmts(&out, begin, end);
}

vyre_status vyre_program_print(const vyre_program *program, vyre_write_fn write, void *user) {
    printer out = {.p = vyre_program_get(program), .write = write, .user = user, .indent = 1};
    const vyre_program_view *p = out.p;
    put_header(&out);
    for (uint32_t i = 0; i < p->decl_count; i++) {
        put_decl(&out, &p->decls[i]);
    }
    for (uint32_t i = 0; i < p->fn_count; i++) {
        put_fn(&out, &p->fns[i]);
    }
    if (p->decl_count + p->fn_count > 0 && p->entry < p->stmt_count) {
        put(&out, "\n");
    }
    put_stmts(&out, p->entry, p->stmt_count);
    put(&out, "}\n");
    return out.stopped ? VYRE_IO : VYRE_OK;
}
