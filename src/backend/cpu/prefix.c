/* Running prefixes of a lane that walks alone:
 *
 *     for (k in a .. b) { s = s op m[k]; m[k] = s; }
 *
 * A vector of elements at once: each is combined with its neighbours 1, 2, 4, ... before it, what
 * is before the first being the neutral element, and then all with s. That is right in integers,
 * where sums may be made in any order. One after the other would wait, in each trip, for the one
 * before; so vectors do, and four operations for each are made meanwhile. */
#include <stdio.h>

#include "backend/cpu/emit.h"
#include "opt/opt_scan.h"

typedef struct walk {
    vyre_decl memory;
    vyre_var sum;
    vyre_expr_op op;
    vyre_type type;
    uint32_t width;    /* elements of a vector */
    bool is_short;     /* nobody need look at the clock */
    cpu_value neutral; /* likewise */
} walk;

static bool is_var(const cpu_emit *e, vyre_expr x, vyre_var var) {
    return e->p->exprs[x].op == VYRE_EXPR_VAR && e->p->exprs[x].ref == var;
}

/* Whether the loop is one: two statements, whose accesses are known to be inside. */
static bool find_walk(const cpu_emit *e, vyre_stmt loop, walk *w) {
    const vyre_program_view *p = e->p;
    const vyre_stmt_node *n = &p->stmts[loop], *sum = n + 1, *put = n + 2;
    if (n->match != loop + 3 || sum->op != VYRE_STMT_ASSIGN || put->op != VYRE_STMT_STORE ||
        (n->arg[2] != VYRE_NONE &&
         (p->exprs[n->arg[2]].op != VYRE_EXPR_LITERAL || p->exprs[n->arg[2]].u.bits != 1))) {
        return false;
    }
    const vyre_expr_node *x = &p->exprs[sum->arg[0]];
    w->op = (vyre_expr_op)x->op;
    w->sum = sum->var;
    w->memory = put->decl;
    w->type = (vyre_type)p->decls[put->decl].type;
    if ((w->type != VYRE_U32 && w->type != VYRE_I32 && w->type != VYRE_U64 &&
         w->type != VYRE_I64) ||
        !vyre_scan_combines(w->op) || !is_var(e, x->u.arg[0], w->sum)) {
        return false;
    }
    const vyre_expr_node *load = &p->exprs[x->u.arg[1]];
    w->neutral = cpu_literal(w->type, vyre_scan_neutral(w->op, w->type));
    return load->op == VYRE_EXPR_LOAD && load->ref == w->memory &&
           is_var(e, load->u.arg[0], n->var) && is_var(e, put->arg[0], n->var) &&
           is_var(e, put->arg[1], w->sum) && e->proven[x->u.arg[1]] &&
           e->proven[cpu_stmt_site(e, loop + 2)];
}

/* What is so far before each element, and the neutral element before the first. */
static cpu_value shifted(cpu_emit *e, const walk *w, cpu_value v, uint32_t distance) {
    cpu_value by = {.type = v.type, .hold = CPU_EACH};
    (void)snprintf(by.text, sizeof by.text, "%%v%u", e->next++);
    vyre_text_printf(&e->body, "  %s = shufflevector %s %s, %s %s, <%u x i32> <", by.text,
                     cpu_type_of(e, &v), w->neutral.text, cpu_type_of(e, &v), v.text, w->width);
    for (uint32_t i = 0; i < w->width; i++) {
        vyre_text_printf(&e->body, "%si32 %u", i ? ", " : "",
                         i < distance ? i : w->width + i - distance);
    }
    vyre_text_puts(&e->body, ">\n");
    return by;
}

/* The last element for all: what comes behind waits for nothing but that. */
static cpu_value last_of(cpu_emit *e, const walk *w, cpu_value v) {
    cpu_value last = {.type = v.type, .hold = CPU_EACH};
    (void)snprintf(last.text, sizeof last.text, "%%v%u", e->next++);
    vyre_text_printf(&e->body, "  %s = shufflevector %s %s, %s poison, <%u x i32> <", last.text,
                     cpu_type_of(e, &v), v.text, cpu_type_of(e, &v), w->width);
    for (uint32_t i = 0; i < w->width; i++) {
        vyre_text_printf(&e->body, "%si32 %u", i ? ", " : "", w->width - 1);
    }
    vyre_text_puts(&e->body, ">\n");
    return last;
}

/* The elements from there on; the sum before them is at %sumsN, for each. */
static void emit_vector(cpu_emit *e, const walk *w, uint32_t label, const char *address) {
    cpu_value v = cpu_new(e, w->type, CPU_EACH, "load %s, ptr %s, align %u",
                          cpu_type(e, w->type, true), address, vyre_type_size(w->type));
    for (uint32_t distance = 1; distance < w->width; distance *= 2) {
        v = cpu_apply(e, w->op, shifted(e, w, v, distance), v, v);
    }
    cpu_value sum =
        cpu_new(e, w->type, CPU_EACH, "load %s, ptr %%sums%u", cpu_type(e, w->type, true), label);
    cpu_value last = cpu_apply(e, w->op, sum, last_of(e, w, v), v);
    v = cpu_apply(e, w->op, sum, v, v);
    cpu_line(e, "  store %s %s, ptr %s, align %u", cpu_type_of(e, &v), v.text, address,
             vyre_type_size(w->type));
    cpu_line(e, "  store %s %s, ptr %%sums%u", cpu_type_of(e, &last), last.text, label);
}

static void emit_one(cpu_emit *e, const walk *w, const char *address) {
    cpu_value sum = cpu_get(e, w->sum);
    cpu_value v =
        cpu_new(e, w->type, CPU_ONE, "load %s, ptr %s", cpu_type(e, w->type, false), address);
    v = cpu_apply(e, w->op, sum, v, v);
    cpu_line(e, "  store %s %s, ptr %s", cpu_type_of(e, &v), v.text, address);
    cpu_set(e, w->sum, v, false);
}

/* A loop of so many elements at once, as long as there are so many. */
static void emit_part(cpu_emit *e, const walk *w, uint32_t label, const char *name, uint32_t width,
                      const char *to) {
    cpu_line(e, "  br label %%%s%u", name, label);
    cpu_line(e, "%s%u:", name, label);
    cpu_value at = cpu_new(e, VYRE_U64, CPU_ONE, "load i64, ptr %%walk%u", label);
    cpu_value end = cpu_new(e, VYRE_U64, CPU_ONE, "add nuw nsw i64 %s, %u", at.text, width);
    cpu_value more = cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp ule i64 %s, %s", end.text, to);
    cpu_line(e, "  br i1 %s, label %%%s_on%u, label %%%s_out%u", more.text, name, label, name,
             label);
    cpu_line(e, "%s_on%u:", name, label);
    cpu_value address = cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr %s, ptr %%b%u, i64 %s",
                                cpu_stored(w->type), w->memory, at.text);
    if (width > 1) {
        emit_vector(e, w, label, address.text);
    } else {
        emit_one(e, w, address.text);
    }
    cpu_line(e, "  store i64 %s, ptr %%walk%u", end.text, label);
    if (!w->is_short) {
        cpu_emit_check(e, "1");
    }
    cpu_line(e, "  br label %%%s%u", name, label);
    cpu_line(e, "%s_out%u:", name, label);
}

/* Whole vectors, with the sum as a vector meanwhile. */
static void emit_vectors(cpu_emit *e, walk *w, uint32_t label, const char *to) {
    const cpu_value before = cpu_get(e, w->sum);
    e->width = w->width;
    w->neutral = cpu_each(e, w->neutral);
    const cpu_value sums = cpu_each(e, before);
    cpu_head(e, "  %%sums%u = alloca %s", label, cpu_type_of(e, &sums));
    cpu_line(e, "  store %s %s, ptr %%sums%u", cpu_type_of(e, &sums), sums.text, label);
    emit_part(e, w, label, "vectors", w->width, to);
    const cpu_value last = cpu_extract(
        e, cpu_new(e, w->type, CPU_EACH, "load %s, ptr %%sums%u", cpu_type_of(e, &sums), label),
        "0");
    e->width = 1;
    cpu_set(e, w->sum, last, false);
}

bool cpu_emit_prefix(cpu_emit *e, vyre_stmt loop) {
    const vyre_stmt_node *n = &e->p->stmts[loop];
    walk w;
    if (e->width > 1 || e->gangs > 1 || e->probing || !find_walk(e, loop, &w)) {
        return false;
    }
    w.width = cpu_isa_vector_bytes(e->isa) / vyre_type_size(w.type);
    const uint32_t label = cpu_label(e);
    cpu_note(e, loop, "loop",
             "%u prefixes at once because each is the one before with an element more", w.width);
    cpu_emit_exprs(e, n->first_expr, n->end_expr);
    cpu_value from = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", cpu_operand(e, n, 0).text);
    cpu_value to = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", cpu_operand(e, n, 1).text);
    w.is_short = cpu_operand(e, n, 1).known && cpu_operand(e, n, 1).bits <= CPU_SHORT;
    cpu_need_base(e, w.memory);
    cpu_head(e, "  %%walk%u = alloca i64", label);
    cpu_line(e, "  store i64 %s, ptr %%walk%u", from.text, label);
    emit_vectors(e, &w, label, to.text);
    emit_part(e, &w, label, "ones", 1, to.text);
    return true;
}
