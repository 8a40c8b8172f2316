/* The inside of ranges; for the files range*.c only.
 *
 * Forms and symbols are numbered and made once (hash-consed), so equal numbers mean equal values.
 * A symbol is a function of its operands, or is bound at a statement; at each point of the walk
 * only symbols are met whose last value is the one meant: what a loop changes gets a new symbol at
 * its head, and bindings inside of it are not visible there.
 *
 * A fact is an inequality, form <= 0, that holds from where it is noted to the end of the list of
 * statements: facts are a stack. Facts of one symbol narrow its bounds instead. */
#ifndef VYRE_SRC_ANALYSIS_RANGE_STATE_H
#define VYRE_SRC_ANALYSIS_RANGE_STATE_H

#include "analysis/assigned.h"
#include "analysis/range.h"
#include "base/alloc.h"
#include "base/intern.h"

enum {
    RANGE_INSIDE = 1,   /* LOAD: inside of its memory; ROW: x is inside of the row */
    RANGE_NO_WRAP = 2,  /* the operation is exact; ROW: the row ends before 2^32 */
    RANGE_NOT_ZERO = 4, /* the divisor */
    RANGE_AMOUNT = 8    /* of a shift: in range */
};

typedef struct range_expr {
    uint32_t index, value; /* forms: modulo 2^32, and the value; VYRE_NONE: not followed */
    uint32_t lower, upper; /* forms */
    int64_t lo, hi;
    uint8_t flags;
} range_expr;

struct vyre_ranges {
    vyre_allocator allocator;
    const vyre_program_view *program;
    range_expr *exprs;
    uint8_t *inside;       /* per statement */
    vyre_row *rows;        /* per statement */
    uint32_t *lengths;     /* per declaration: form */
    vyre_expr *conditions; /* per variable: what a bool that is never assigned was bound to */
    vyre_intern form_keys, symbol_keys;
    VYRE_VEC(vyre_affine) forms;
    VYRE_VEC(vyre_symbol) symbols;
};

/* What is known of a variable or expression. */
typedef struct range_value {
    uint32_t index, value; /* as in range_expr; the same form if exact */
} range_value;

typedef struct range_interval {
    int64_t lo, hi; /* INT64_MIN, INT64_MAX: unbounded */
} range_interval;

/* A symbol at this point of the walk. */
typedef struct range_now {
    range_interval bounds;
    uint32_t fact; /* the newest that names it, or VYRE_NONE */
    uint8_t noted; /* RANGE_NOTED_*: which facts of it are on the stack */
} range_now;

enum { RANGE_NOTED_OWN = 1, RANGE_NOTED_EQUAL = 2 };

typedef struct range_fact {
    vyre_affine form;
    uint32_t older[VYRE_AFFINE_TERMS]; /* fact that names the same symbol, or VYRE_NONE */
    uint32_t owner; /* symbol whose `noted` it clears when it goes, or VYRE_NONE */
    uint8_t noted;
} range_fact;

typedef struct range_narrowing {
    uint32_t symbol;
    range_interval before;
} range_narrowing;

typedef struct range_mark {
    uint32_t facts, narrowings;
} range_mark;

/* What earlier walks learned of a variable that a loop assigns: of its values at the ends of trips,
 * compared with that at the trip's head. */
typedef struct range_carried {
    range_interval latch; /* all of them, */
    bool latched;         /* if there is one */
    bool known;           /* some walk has been there */
    bool rises, falls;    /* never below the head's; never above */
} range_carried;

typedef struct range_state {
    vyre_ranges *r;
    const vyre_program_view *p;
    const vyre_allocator *a;
    range_value *vars;
    VYRE_VEC(range_now) now; /* per symbol */
    VYRE_VEC(range_fact) facts;
    VYRE_VEC(range_narrowing) narrowings;
    uint64_t work;  /* goals of proofs that may still be tried */
    vyre_stmt stmt; /* where the walk is */
    bool failed;    /* out of memory */
} range_state;

static const range_value range_unknown = {VYRE_NONE, VYRE_NONE};
static const range_interval range_everything = {INT64_MIN, INT64_MAX};

static inline bool range_follows(vyre_type type) {
    return type == VYRE_U32 || type == VYRE_I32;
}
/* The values of a type that computes or is stored, u64 as far as they fit. */
range_interval range_of_type(vyre_type type);

/* range_symbols.c. VYRE_NONE: no memory (then `failed` is set), or too many. */
uint32_t range_form(range_state *s, const vyre_affine *form);
static inline const vyre_affine *range_at(const range_state *s, uint32_t form) {
    return &s->r->forms.data[form];
}
/* The symbol; kind, sub, axis, ref, var and operands tell symbols apart. A new one gets the bounds
 * of `like`, lanes and `bound` from its operands if it has any. */
uint32_t range_symbol(range_state *s, const vyre_symbol *like);
uint32_t range_symbol_find(const vyre_ranges *r, const vyre_symbol *like);
/* x * y as a form over products of symbols. */
bool range_multiply(range_state *s, const vyre_affine *x, const vyre_affine *y, vyre_affine *out);
/* Bounds of a form: at this point of the walk, or wherever its symbols are bound. */
range_interval range_bounds(const range_state *s, const vyre_affine *form);
range_interval range_bounds_anywhere(const range_state *s, const vyre_affine *form);
range_interval range_symbol_bounds(const range_state *s, uint32_t symbol);
range_interval range_times(range_interval x, range_interval y);

/* range_facts.c */
range_mark range_mark_now(const range_state *s);
void range_forget(range_state *s, range_mark mark);
/* From here on: form <= 0. */
void range_note(range_state *s, const vyre_affine *form);
/* x <= y + more, from here on; owner and noted as in range_fact. */
void range_note_order(range_state *s, const vyre_affine *x, const vyre_affine *y, int64_t more,
                      uint32_t owner, uint8_t noted);
void range_narrow(range_state *s, uint32_t symbol, range_interval to);

/* range_prove.c: is form <= 0, x <= y + more, form in the interval, here? */
bool range_prove(range_state *s, const vyre_affine *form);
bool range_prove_order(range_state *s, const vyre_affine *x, const vyre_affine *y, int64_t more);
bool range_prove_within(range_state *s, const vyre_affine *form, range_interval interval);
/* A form at least (at most) as large over symbols that have a name in the program. */
uint32_t range_end(range_state *s, uint32_t form, bool upper);

/* range_sizes.c: lengths of all memory, and what is known of them wherever lanes run. */
void range_measure(range_state *s);
range_value range_builtin(range_state *s, const vyre_expr_node *e);

/* range_value.c: evaluates an expression whose operands have been evaluated. */
void range_evaluate(range_state *s, vyre_expr expr);
/* The value of a symbol that is bound by the present statement and may differ between lanes. */
range_value range_bind(range_state *s, vyre_symbol_kind kind, uint32_t ref, vyre_var var,
                       range_interval bounds);
/* range_operator.c: the value of an operator on u32 or i32 that gives one of them. */
range_value range_operate(range_state *s, vyre_expr expr, uint8_t *flags);
/* The value that is equal to `index` modulo 2^32; `direct` is it if that fits the type (then *fits
 * is set). Either may be NULL. */
range_value range_settle(range_state *s, vyre_type type, const vyre_affine *direct,
                         const vyre_affine *index, bool *fits);
/* The value again: what could wrap where it was computed may be known to fit here. */
range_value range_refit(range_state *s, vyre_type type, range_value value);

/* range_math.c: functions of forms over the integers, as symbols with their facts. */
range_value range_quotient(range_state *s, const vyre_affine *x, const vyre_affine *y);
range_value range_remainder(range_state *s, const vyre_affine *x, const vyre_affine *y);
range_value range_least(range_state *s, const vyre_affine *x, const vyre_affine *y, bool greatest);
range_value range_exact(range_state *s, const vyre_affine *form);

/* range_guard.c: what follows from a condition that is true (or false), from here on. */
void range_assume(range_state *s, vyre_expr condition, bool truth);
/* Whether a condition is that constant. */
bool range_is_constant(const range_state *s, vyre_expr condition, bool truth);

/* range_row.c: what the index of a store is, here. */
vyre_row range_row(range_state *s, vyre_expr index);
/* Which axes of the group the value of a form may differ along, in the same trip of all loops. */
uint8_t range_lanes(const vyre_ranges *r, const vyre_affine *form);
/* The access of a load, store or atomic is inside, here. */
bool range_is_inside(range_state *s, vyre_decl memory, vyre_expr index);

#endif
