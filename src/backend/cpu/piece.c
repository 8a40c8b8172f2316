/* Where a range of lanes is cut, so that in each piece more is the same for all lanes.
 *
 * Probing (probe.c) walks over a segment for the lanes [%from, %to) and keeps, as distances from
 * the first one, %lo and %hi: the lanes that are left, and %end: up to where the answer holds; what
 * lies behind is asked for again. %ok says whether vectors may run the piece.
 *   x < n           A bool with a linear value in it is true on a part of the range, its span. As a
 *                   guard around all that has effects it clips the range. Anywhere else the range
 *                   is cut where it changes, and the condition is ONE within a piece. `x == n` is
 *                   true in pieces of one lane, which vectors never run: there it is false.
 *   select(x == 0, w - 1, x - 1), min(x, n)
 *                   linear but for the ends; pieces where it is not are run lane by lane
 *   i / w, i % w, i >> s, i & 255, i ^ j
 *                   cut at multiples: uniform, or linear
 *   a[x + 1]        cut at the end of the buffer; what is beyond runs lane by lane
 *
 * What probing has used is marked per expression and statement, and code for a piece relies on
 * nothing but marks; so both agree even where probing knows less, as of memory that the segment
 * writes. A mark may change what is found of other expressions: cpu_find_pieces goes on until
 * nothing changes.
 *
 * Small divisors are not cut at: pieces would be shorter than vectors. Where lanes run one by one
 * only guards and accesses matter. */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/emit.h"

enum { LEAST_PIECE = 64 }; /* of a divisor that is known */

static const uint64_t far_away = UINT64_C(1) << 40; /* more lanes than a range has */

uint32_t cpu_stmt_site(const cpu_emit *e, vyre_stmt stmt) {
    return e->p->expr_count + stmt;
}

bool cpu_is_marked(const cpu_emit *e, uint32_t site, cpu_mark mark) {
    const bool usable = e->width > 1 || mark == CPU_MARK_INSIDE || mark == CPU_MARK_GUARD;
    return e->trusts && !e->probing && usable && (e->marks[site] & (unsigned)mark) != 0;
}

static void find(cpu_emit *e, uint32_t site, cpu_mark mark) {
    e->found[site] |= (uint8_t)mark;
}

static cpu_value at_place(cpu_emit *e, const char *place) {
    return cpu_new(e, VYRE_I64, CPU_ONE, "load i64, ptr %s", place);
}

static void put(cpu_emit *e, const char *place, cpu_value v) {
    cpu_line(e, "  store %s %s, ptr %s", cpu_type_of(e, &v), v.text, place);
}

static cpu_value extreme(cpu_emit *e, const char *name, const char *x, const char *y) {
    return cpu_new(e, VYRE_I64, CPU_ONE, "call i64 @llvm.%s.i64(i64 %s, i64 %s)", name, x, y);
}

static cpu_value number(uint64_t value) {
    return cpu_literal(VYRE_I64, value);
}

static cpu_value sum(cpu_emit *e, cpu_value x, cpu_value y) {
    return cpu_binary(e, "add", VYRE_I64, x, y);
}

static cpu_value difference(cpu_emit *e, cpu_value x, cpu_value y) {
    return cpu_binary(e, "sub", VYRE_I64, x, y);
}

static cpu_value negation(cpu_emit *e, cpu_value v) {
    return cpu_binary(e, "xor", VYRE_BOOL, v, cpu_literal(VYRE_BOOL, 1));
}

static bool is_consecutive(const cpu_value *v) {
    return v->hold == CPU_LINEAR && v->stride == 1;
}

/* Probing: the piece ends there, behind %lo. */
static void cut_at(cpu_emit *e, cpu_value at) {
    put(e, "%hi", extreme(e, "smin", at_place(e, "%hi").text, at.text));
    put(e, "%end", extreme(e, "smin", at_place(e, "%end").text, at.text));
}

/* Probing: pieces with this condition run lane by lane, whatever guards follow: what probing would
 * make of them is not what is there. */
static void go_lane_by_lane(cpu_emit *e, cpu_value condition) {
    const uint32_t label = cpu_label(e);
    cpu_line(e, "  br i1 %s, label %%singly%u, label %%go%u", condition.text, label, label);
    cpu_line(e, "singly%u:\n  store i1 false, ptr %%ok\n  br label %%probed\ngo%u:", label, label);
}

/* Probing: 32 bits of a linear value at %lo, as they are or with their sign. */
static cpu_value at_first(cpu_emit *e, cpu_value v, bool plus_minus) {
    cpu_value lo = at_place(e, "%lo");
    cpu_value far = cpu_new(e, VYRE_U32, CPU_ONE, "trunc i64 %s to i32", lo.text);
    cpu_value there = cpu_new(e, VYRE_U32, CPU_ONE, "add i32 %s, %s", v.text, far.text);
    return cpu_new(e, VYRE_I64, CPU_ONE, "%s i32 %s to i64", plus_minus ? "sext" : "zext",
                   there.text);
}

/* Probing: no lane of the piece wraps; gives the value at %lo. */
static cpu_value without_wrap(cpu_emit *e, cpu_value v) {
    const bool plus_minus = vyre_type_is_signed((vyre_type)v.type);
    cpu_value first = at_first(e, v, plus_minus);
    cpu_value top = number(plus_minus ? UINT64_C(0x80000000) : UINT64_C(0x100000000));
    cut_at(e, sum(e, at_place(e, "%lo"), difference(e, top, first)));
    return first;
}

/* Running. Where it is computed beside the value LLVM need not find out that the distance of the
 * gang cancels out, and takes it out of the loop over gangs. */
cpu_value cpu_range_first(cpu_emit *e, const cpu_value *v) {
    cpu_value first = {.type = v->type};
    if (e->width == 1 || (v->hold == CPU_LINEAR && !v->first[0])) {
        return cpu_new(e, (vyre_type)v->type, CPU_ONE, "sub i32 %s, %%k32", v->text);
    }
    memcpy(first.text, v->hold == CPU_LINEAR ? v->first : v->text, sizeof first.text);
    return first;
}

/* Spans. */

static bool is_comparison(vyre_expr_op op) {
    return op == VYRE_EXPR_LT || op == VYRE_EXPR_LE || op == VYRE_EXPR_GT || op == VYRE_EXPR_GE ||
           op == VYRE_EXPR_EQ || op == VYRE_EXPR_NE;
}

static vyre_expr_op mirrored(vyre_expr_op op) {
    return op == VYRE_EXPR_LT   ? VYRE_EXPR_GT
           : op == VYRE_EXPR_GT ? VYRE_EXPR_LT
           : op == VYRE_EXPR_LE ? VYRE_EXPR_GE
           : op == VYRE_EXPR_GE ? VYRE_EXPR_LE
                                : op;
}

static void set_span(cpu_span *s, const char *from, const char *to, bool outside) {
    (void)snprintf(s->from, sizeof s->from, "%s", from);
    (void)snprintf(s->to, sizeof s->to, "%s", to);
    s->outside = outside;
}

/* What vectors see of a comparison without looking: in pieces of several lanes none is equal. */
static cpu_value known_first(vyre_expr_op op) {
    return op == VYRE_EXPR_EQ || op == VYRE_EXPR_NE ? cpu_literal(VYRE_BOOL, op == VYRE_EXPR_NE)
                                                    : (cpu_value){.type = VYRE_BOOL};
}

/* Probing: where `linear OP one`. */
static void probe_comparison(cpu_emit *e, cpu_span *s, vyre_expr_op op, cpu_value linear,
                             cpu_value one) {
    cpu_value first = without_wrap(e, linear);
    cpu_value bound =
        cpu_new(e, VYRE_I64, CPU_ONE, "%s i32 %s to i64",
                vyre_type_is_signed((vyre_type)linear.type) ? "sext" : "zext", one.text);
    cpu_value at = sum(e, at_place(e, "%lo"), difference(e, bound, first)); /* where equal */
    cpu_value behind = sum(e, at, number(1));
    const cpu_value zero = number(0), far = number(far_away);
    switch ((int)op) {
    case VYRE_EXPR_LT: set_span(s, zero.text, at.text, false); break;
    case VYRE_EXPR_LE: set_span(s, zero.text, behind.text, false); break;
    case VYRE_EXPR_GT: set_span(s, behind.text, far.text, false); break;
    case VYRE_EXPR_GE: set_span(s, at.text, far.text, false); break;
    default: set_span(s, at.text, behind.text, op == VYRE_EXPR_NE); break;
    }
    s->first = known_first(op);
}

static bool compare_with_span(cpu_emit *e, vyre_expr_op op, cpu_value x, cpu_value y) {
    cpu_span *s = &e->spans[e->expr];
    const bool left = is_consecutive(&x) && y.hold == CPU_ONE;
    if (!left && !(is_consecutive(&y) && x.hold == CPU_ONE)) {
        return false;
    }
    if (e->probing) {
        probe_comparison(e, s, left ? op : mirrored(op), left ? x : y, left ? y : x);
        find(e, e->expr, CPU_MARK_SPAN);
        return true;
    }
    if (!cpu_is_marked(e, e->expr, CPU_MARK_SPAN)) {
        return false;
    }
    s->first = known_first(op);
    if (!s->first.known) {
        s->first = left ? cpu_apply(e, op, cpu_range_first(e, &x), y, y)
                        : cpu_apply(e, op, x, cpu_range_first(e, &y), y);
    }
    return true;
}

/* Both of two bools that are ONE, without code where one is known. */
static cpu_value both_of(cpu_emit *e, bool any, cpu_value x, cpu_value y) {
    if (x.known || y.known) {
        const cpu_value known = x.known ? x : y, other = x.known ? y : x;
        return (known.bits != 0) == any ? known : other;
    }
    return e->probing ? (cpu_value){.type = VYRE_BOOL}
                      : cpu_binary(e, any ? "or" : "and", VYRE_BOOL, x, y);
}

/* What the first lane has of an operand. */
static cpu_value first_of(cpu_emit *e, cpu_value v) {
    return v.span ? e->spans[v.span - 1].first : cpu_truth(e, v);
}

/* `x && y` is where both spans are; `x || y` outside of where neither is. */
static bool join_with_span(cpu_emit *e, bool any, cpu_value x, cpu_value y) {
    cpu_span *s = &e->spans[e->expr];
    const bool spans = (x.span && (y.span || y.hold == CPU_ONE)) || (y.span && x.hold == CPU_ONE);
    if (!spans || (!e->probing && !cpu_is_marked(e, e->expr, CPU_MARK_SPAN))) {
        return false;
    }
    cpu_value first = both_of(e, any, first_of(e, x), first_of(e, y));
    if (e->probing) {
        find(e, e->expr, CPU_MARK_SPAN);
        if (x.span && y.span) {
            const cpu_span *a = &e->spans[x.span - 1], *b = &e->spans[y.span - 1];
            set_span(s, extreme(e, "smax", a->from, b->from).text,
                     extreme(e, "smin", a->to, b->to).text, any);
        } else {
            const cpu_span *a = &e->spans[(x.span ? x : y).span - 1];
            cpu_value one = cpu_truth(e, x.span ? y : x);
            one = any ? negation(e, one) : one;
            cpu_value to =
                cpu_new(e, VYRE_I64, CPU_ONE, "select i1 %s, i64 %s, i64 0", one.text, a->to);
            set_span(s, a->from, to.text, any);
        }
        first.text[0] = '\0';
    }
    s->first = first;
    return true;
}

static bool negate_span(cpu_emit *e, cpu_value x) {
    cpu_span *s = &e->spans[e->expr];
    if (!x.span || (!e->probing && !cpu_is_marked(e, e->expr, CPU_MARK_SPAN))) {
        return false;
    }
    find(e, e->expr, CPU_MARK_SPAN);
    *s = e->spans[x.span - 1];
    s->outside = !s->outside;
    if (s->first.known) {
        s->first = cpu_literal(VYRE_BOOL, !s->first.bits);
    } else if (!e->probing) {
        s->first = negation(e, s->first);
    }
    return true;
}

cpu_value cpu_with_span(cpu_emit *e, vyre_expr_op op, cpu_value x, cpu_value y, cpu_value v) {
    bool has = false;
    if (v.hold == CPU_EACH && (e->probing || e->trusts)) {
        has = is_comparison(op)     ? compare_with_span(e, op, x, y)
              : op == VYRE_EXPR_NOT ? negate_span(e, x)
              : op == VYRE_EXPR_AND ? join_with_span(e, false, x, y)
              : op == VYRE_EXPR_OR  ? join_with_span(e, true, x, y)
                                    : false;
    }
    v.span = has ? e->expr + 1 : 0;
    return v;
}

/* Probing: the range is cut where the span begins or ends; gives whether %lo is in. */
static cpu_value cut_span(cpu_emit *e, const cpu_span *s) {
    cpu_value lo = at_place(e, "%lo");
    cpu_value before = cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp slt i64 %s, %s", lo.text, s->from);
    cpu_value below = cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp slt i64 %s, %s", lo.text, s->to);
    cpu_value in = cpu_binary(e, "and", VYRE_BOOL, below, negation(e, before));
    cpu_value end =
        cpu_select(e, in, cpu_new(e, VYRE_I64, CPU_ONE, "add i64 %s, 0", s->to), number(far_away));
    cpu_value start = cpu_new(e, VYRE_I64, CPU_ONE, "add i64 %s, 0", s->from);
    /* An empty span never begins. */
    cpu_value begins = cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp slt i64 %s, %s", s->from, s->to);
    begins = cpu_binary(e, "and", VYRE_BOOL, begins, before);
    cut_at(e, cpu_select(e, begins, start, end));
    return s->outside ? negation(e, in) : in;
}

cpu_value cpu_cut_condition(cpu_emit *e, cpu_value condition, uint32_t site) {
    if (!condition.span || e->singly) {
        return condition;
    }
    const cpu_span *s = &e->spans[condition.span - 1];
    if (e->probing) {
        find(e, site, CPU_MARK_CUT);
        return cut_span(e, s);
    }
    return cpu_is_marked(e, site, CPU_MARK_CUT) ? s->first : condition;
}

/* An operand whose span can't be joined. */
static void cut_operand(cpu_emit *e, cpu_value *v, cpu_mark mark, bool needs) {
    if (e->singly) {
        v->span = needs ? 0 : v->span;
    } else if (e->probing && needs) {
        find(e, e->expr, mark);
        *v = cut_span(e, &e->spans[v->span - 1]);
    } else if (v->span && cpu_is_marked(e, e->expr, mark)) {
        *v = e->spans[v->span - 1].first;
    }
}

void cpu_join_spans(cpu_emit *e, vyre_expr_op op, cpu_value *x, cpu_value *y) {
    const bool any = op == VYRE_EXPR_OR;
    const bool both = (x->span || x->hold == CPU_ONE) && (y->span || y->hold == CPU_ONE);
    const bool x_out = both && x->span && e->spans[x->span - 1].outside != any;
    const bool y_out = both && y->span && e->spans[y->span - 1].outside != any;
    cut_operand(e, x, CPU_MARK_CUT_X, x_out);
    cut_operand(e, y, CPU_MARK_CUT_Y, y_out);
}

bool cpu_clip(cpu_emit *e, cpu_value condition, bool negated) {
    if (condition.hold == CPU_ONE) {
        cpu_value holds = cpu_truth(e, condition);
        cpu_value hi = at_place(e, "%hi"), lo = at_place(e, "%lo");
        put(e, "%hi", negated ? cpu_select(e, holds, lo, hi) : cpu_select(e, holds, hi, lo));
        return true;
    }
    if (!condition.span || e->spans[condition.span - 1].outside != negated) {
        return false;
    }
    const cpu_span *s = &e->spans[condition.span - 1];
    put(e, "%hi", extreme(e, "smin", at_place(e, "%hi").text, s->to));
    put(e, "%lo", extreme(e, "smax", at_place(e, "%lo").text, s->from));
    return true;
}

/* Accesses. */

void cpu_probe_access(cpu_emit *e, vyre_decl decl, cpu_value index, uint32_t site) {
    if (!is_consecutive(&index) || e->bindings[decl].meaning == CPU_IS_PRIVATE) {
        return;
    }
    cpu_need_base(e, decl);
    cpu_value first = at_first(e, index, false);
    cpu_value count = cpu_new(e, VYRE_I64, CPU_ONE, "zext i32 %%n%u to i64", decl);
    cpu_value beyond = cpu_compare(e, "sge", first, count);
    cpu_value next = cpu_select(e, beyond, number(UINT64_C(0x100000000)), count);
    find(e, site, CPU_MARK_INSIDE);
    cut_at(e, sum(e, at_place(e, "%lo"), difference(e, next, first)));
    go_lane_by_lane(e, beyond);
}

/* Values. */

/* min and max: linear where the linear operand is taken. */
static bool clamp(cpu_emit *e, vyre_expr_op op, cpu_value x, cpu_value y, cpu_value *out) {
    const bool left = is_consecutive(&x) && y.hold == CPU_ONE;
    if (!left && !(is_consecutive(&y) && x.hold == CPU_ONE)) {
        return false;
    }
    const cpu_value linear = left ? x : y;
    if (e->probing) {
        cpu_span s;
        probe_comparison(e, &s, op == VYRE_EXPR_MIN ? VYRE_EXPR_LE : VYRE_EXPR_GE, linear,
                         left ? y : x);
        go_lane_by_lane(e, negation(e, cut_span(e, &s)));
    }
    *out = linear;
    return true;
}

/* What i / w, i % w, i ^ j are in a piece. */
typedef enum multiple { QUOTIENT, REST, FLIPPED } multiple;

/* The distance of multiples at which the range is cut, as an i64 that is not 0. */
static bool find_distance(cpu_emit *e, vyre_expr_op op, cpu_value y, multiple *out_kind,
                          cpu_value *out, cpu_value *out_bad) {
    const uint32_t bits = (uint32_t)y.bits;
    uint64_t known = 0;
    *out_kind = op == VYRE_EXPR_DIV || op == VYRE_EXPR_SHR       ? QUOTIENT
                : op == VYRE_EXPR_REM || op == VYRE_EXPR_BIT_AND ? REST
                                                                 : FLIPPED;
    *out_bad = cpu_literal(VYRE_BOOL, 0);
    if (op == VYRE_EXPR_BIT_AND && (!y.known || (bits & (bits + 1)) != 0 || bits == UINT32_MAX)) {
        return false;
    }
    if (y.known) {
        known = op == VYRE_EXPR_SHR       ? UINT64_C(1) << (bits & 31)
                : op == VYRE_EXPR_BIT_AND ? (uint64_t)bits + 1
                : op == VYRE_EXPR_BIT_XOR ? (bits & (0u - bits) ? bits & (0u - bits) : far_away)
                                          : bits;
        *out = number(known);
        return known >= LEAST_PIECE;
    }
    cpu_value wide = cpu_new(e, VYRE_I64, CPU_ONE, "zext i32 %s to i64", y.text);
    if (op == VYRE_EXPR_SHR) {
        cpu_value amount = cpu_binary(e, "and", VYRE_I64, wide, number(31));
        *out = cpu_binary(e, "shl", VYRE_I64, number(1), amount);
    } else if (op == VYRE_EXPR_BIT_XOR) { /* its lowest bit; none: 2^32 is as good */
        cpu_value some = cpu_binary(e, "or", VYRE_I64, wide, number(UINT64_C(1) << 32));
        cpu_value minus = difference(e, number(0), some);
        *out = cpu_binary(e, "and", VYRE_I64, some, minus);
    } else {
        *out_bad = cpu_compare(e, "eq", wide, number(0));
        *out = cpu_select(e, *out_bad, number(1), wide);
    }
    return true;
}

static cpu_value as_u32(cpu_emit *e, cpu_value v) {
    return cpu_new(e, VYRE_U32, CPU_ONE, "trunc i64 %s to i32", v.text);
}

/* `first` is x at %lo, or at the first lane of the piece. */
static cpu_value in_multiple(cpu_emit *e, multiple kind, cpu_value first, cpu_value distance,
                             cpu_value y) {
    if (kind == FLIPPED) {
        cpu_value other = cpu_new(e, VYRE_I64, CPU_ONE, "zext i32 %s to i64", y.text);
        return as_u32(e, cpu_binary(e, "xor", VYRE_I64, first, other));
    }
    /* Both are below 2^32, or the quotient is 0. */
    cpu_value x = as_u32(e, first), d = as_u32(e, distance);
    return cpu_binary(e, kind == QUOTIENT ? "udiv" : "urem", VYRE_U32, x, d);
}

static bool divide_cut(cpu_emit *e, vyre_expr_op op, cpu_value x, cpu_value y, cpu_value *out) {
    multiple kind;
    cpu_value distance, bad;
    if (!is_consecutive(&x) || y.hold != CPU_ONE ||
        !(x.type == VYRE_U32 || (op == VYRE_EXPR_BIT_XOR && x.type == VYRE_I32)) ||
        !find_distance(e, op, y, &kind, &distance, &bad)) {
        return false;
    }
    cpu_value v;
    if (e->probing) {
        cpu_value lo = at_place(e, "%lo"), first = at_first(e, x, false);
        cpu_value rest = cpu_binary(e, "urem", VYRE_I64, first, distance);
        cut_at(e, sum(e, lo, difference(e, distance, rest)));
        cut_at(e, sum(e, lo, difference(e, number(UINT64_C(1) << 32), first))); /* no wrap */
        go_lane_by_lane(e, bad);
        v = in_multiple(e, kind, first, distance, y);
        if (kind != QUOTIENT) {
            v = cpu_binary(e, "sub", VYRE_U32, v, as_u32(e, lo));
        }
    } else {
        cpu_value first =
            cpu_new(e, VYRE_I64, CPU_ONE, "zext i32 %s to i64", cpu_range_first(e, &x).text);
        v = in_multiple(e, kind, first, distance, y);
        if (kind != QUOTIENT) {
            first = v;
            v = cpu_new(e, VYRE_U32, CPU_ONE, "add i32 %s, %%k32", first.text);
            memcpy(v.first, first.text, sizeof v.first);
        }
    }
    v.type = x.type;
    v.hold = kind == QUOTIENT ? CPU_ONE : CPU_LINEAR;
    v.stride = kind != QUOTIENT;
    *out = v;
    return true;
}

bool cpu_apply_cut(cpu_emit *e, vyre_expr_op op, cpu_value x, cpu_value y, cpu_value *out) {
    bool cut = false;
    if (e->singly || (!e->probing && !cpu_is_marked(e, e->expr, CPU_MARK_CUT))) {
        return false;
    }
    switch ((int)op) {
    case VYRE_EXPR_MIN:
    case VYRE_EXPR_MAX: cut = clamp(e, op, x, y, out); break;
    case VYRE_EXPR_BIT_XOR:
        cut = is_consecutive(&y) ? divide_cut(e, op, y, x, out) : divide_cut(e, op, x, y, out);
        break;
    case VYRE_EXPR_DIV:
    case VYRE_EXPR_REM:
    case VYRE_EXPR_SHR:
    case VYRE_EXPR_BIT_AND: cut = divide_cut(e, op, x, y, out); break;
    default: break;
    }
    if (cut && e->probing) {
        find(e, e->expr, CPU_MARK_CUT);
    }
    return cut;
}

/* A choice by a condition that is the same in a piece. */
bool cpu_select_cut(cpu_emit *e, cpu_value condition, cpu_value x, cpu_value y, cpu_value *out) {
    if (!condition.span || e->singly || (!e->probing && !cpu_is_marked(e, e->expr, CPU_MARK_CUT))) {
        return false;
    }
    const cpu_value known = e->spans[condition.span - 1].first;
    const cpu_value one = cpu_cut_condition(e, condition, e->expr);
    const bool alike = x.hold == y.hold && x.stride == y.stride;
    if (known.known || (x.hold < CPU_EACH && y.hold < CPU_EACH && !alike)) {
        /* Vectors run where it is that; of two ways the one that is linear. */
        const bool takes = known.known ? known.bits != 0 : x.hold == CPU_LINEAR;
        if (e->probing) {
            go_lane_by_lane(e, takes ? negation(e, one) : one);
        }
        *out = takes ? x : y;
        return true;
    }
    cpu_value way[] = {x, y};
    if (!alike) {
        (void)cpu_together(e, way, 2);
    }
    *out = cpu_choose(e, one, way[0], way[1]);
    return true;
}
