/* Ranges: between which values the integers of a program lie, with symbolic ends.
 *
 * What is known of a u32 or i32 expression, wherever it is evaluated:
 *   lo <= value <= hi                constants;
 *   lower <= value <= upper          affine forms over symbols: lengths, params, sizes and ids of
 *                                    the grid, loop variables, and values that have no better name;
 *   value = index (mod 2^32)         an affine form, exactly equal where `exact` says so.
 * Forms are over the integers, whatever the width: `i + 1` is the form i + 1 only where the
 * analysis can prove that it does not wrap; elsewhere its value is a symbol of its own
 * (VYRE_SYMBOL_WRAPPED) of which only the remainder modulo 2^32 is known. So every claim holds of
 * the wrapped value that the program computes.
 *
 * Claims hold for every lane that evaluates the expression, of a dispatch that was not refused:
 * declared sizes are exactly the lengths, and ids fit u32. They say nothing of 64-bit integers and
 * floats. Statements that no lane reaches may have any claims. */
#ifndef VYRE_SRC_ANALYSIS_RANGE_H
#define VYRE_SRC_ANALYSIS_RANGE_H

#include "analysis/affine.h"
#include "vyre/ir.h"

/* What a symbol stands for. A symbol that is bound in a loop stands for its last value. */
typedef enum vyre_symbol_kind {
    VYRE_SYMBOL_LEN,       /* length of memory `ref`, if no form over other symbols says it */
    VYRE_SYMBOL_PARAM,     /* param `ref` */
    VYRE_SYMBOL_BUILTIN,   /* `sub`, `axis`: local_id, group_id, num_groups, subgroup_local_id; the
                              other ids are forms: global_id.x is group_size.x * group_id.x +
                              local_id.x with the size as a constant */
    VYRE_SYMBOL_LOOP,      /* variable of the FOR at `ref` */
    VYRE_SYMBOL_HEAD,      /* `var` at the head of the loop at `ref` */
    VYRE_SYMBOL_JOIN,      /* `var` behind the END of an if or loop at `ref` */
    VYRE_SYMBOL_RESULT,    /* `var` as the atomic or subgroup operation at `ref` binds it */
    VYRE_SYMBOL_VALUE,     /* expression `ref`: a load, or a cast of what is not followed */
    VYRE_SYMBOL_PRODUCT,   /* operand[0] * operand[1], symbols both */
    VYRE_SYMBOL_WRAPPED,   /* form operand[0] modulo 2^32, as a value of type `sub` */
    VYRE_SYMBOL_QUOTIENT,  /* form operand[0] / operand[1], rounded down; 0 <= [0], 1 <= [1] */
    VYRE_SYMBOL_REMAINDER, /* the same with % */
    VYRE_SYMBOL_MIN,       /* of two forms */
    VYRE_SYMBOL_MAX,
    VYRE_SYMBOL_OPERATOR, /* operator `sub` of type `axis` on forms (operand type: that of the
                             first operand of `expr`) */
    VYRE_SYMBOL_KINDS
} vyre_symbol_kind;

typedef struct vyre_symbol {
    uint8_t kind, sub, axis;
    uint8_t lanes;       /* bit 0 to 2: it may differ between lanes along x, y, z of a group */
    uint32_t ref;        /* declaration, statement or expression */
    vyre_var var;        /* or VYRE_NONE */
    vyre_expr expr;      /* of operators: some expression that has this value; or VYRE_NONE */
    uint32_t operand[2]; /* forms (vyre_ranges_form) or symbols; or VYRE_NONE */
    vyre_stmt bound;     /* the last statement on which its value depends; VYRE_NONE: none */
    int64_t lo, hi;      /* wherever it is bound; INT64_MIN, INT64_MAX: unbounded */
} vyre_symbol;

typedef struct vyre_range {
    int64_t lo, hi;
    vyre_affine lower, upper;
    vyre_affine index; /* the value modulo 2^32 */
    bool exact;        /* index is the value */
} vyre_range;

/* Immutable once made; keeps a pointer to the program. */
typedef struct vyre_ranges vyre_ranges;

/* The program has no calls and no errors. Near-linear: each statement is met twice, each proof is
 * bounded, and very large programs just know less. */
vyre_status vyre_ranges_create(const vyre_program *program, const vyre_allocator *allocator,
                               vyre_ranges **out_ranges);
void vyre_ranges_destroy(vyre_ranges *ranges);

uint32_t vyre_ranges_symbol_count(const vyre_ranges *ranges);
const vyre_symbol *vyre_ranges_symbol(const vyre_ranges *ranges, uint32_t symbol);
const vyre_affine *vyre_ranges_form(const vyre_ranges *ranges, uint32_t form);
/* The length of memory. */
const vyre_affine *vyre_ranges_length(const vyre_ranges *ranges, vyre_decl memory);

/* False: nothing is known (no u32 or i32, or no expression of the entry body). */
bool vyre_ranges_of(const vyre_ranges *ranges, vyre_expr expr, vyre_range *out_range);

/* Is the access provably inside its memory? Of a LOAD expression; of a STORE or ATOMIC. */
bool vyre_ranges_load_inside(const vyre_ranges *ranges, vyre_expr load);
bool vyre_ranges_access_inside(const vyre_ranges *ranges, vyre_stmt store_or_atomic);

/* A store, or atomic, at the index global_id.x + pitch * global_id.y + offset, modulo 2^32, by
 * lanes whose global_id.x is less than the pitch. While nothing wraps, two lanes of a plane of the
 * grid have different elements. Without a pitch lanes of a row have. */
typedef enum vyre_row_kind {
    VYRE_ROW_NONE,   /* the index is another one */
    VYRE_ROW_ALONE,  /* there is no pitch */
    VYRE_ROW_NUMBER, /* it is `pitch`, */
    VYRE_ROW_PARAM,  /* the param, */
    VYRE_ROW_LEN     /* the length of the memory of that number */
} vyre_row_kind;
typedef struct vyre_row {
    uint8_t kind; /* vyre_row_kind */
    uint32_t pitch, offset;
} vyre_row;
vyre_row vyre_ranges_row(const vyre_ranges *ranges, vyre_stmt store);

/* Can the operation (+ - * << / %, unary -, abs) give another value than the same on integers
 * without a width? False only where it is proven not to, of u32 and i32. */
bool vyre_ranges_may_wrap(const vyre_ranges *ranges, vyre_expr operation);
/* Of a row(y, w, x): is x < w proven, and is the row proven to end at 2^32 or before? */
bool vyre_ranges_is_in_row(const vyre_ranges *ranges, vyre_expr row);
bool vyre_ranges_row_fits(const vyre_ranges *ranges, vyre_expr row);
/* Can the divisor of this / or % be 0? */
bool vyre_ranges_may_divide_by_zero(const vyre_ranges *ranges, vyre_expr division);
/* Can the amount of this shift or rotation be outside of 0 .. width - 1? */
bool vyre_ranges_may_shift_beyond(const vyre_ranges *ranges, vyre_expr shift);

/* An index as base + step * (variable of a loop) + lane[a] * local_id.a, modulo 2^32; exactly if
 * not may_wrap. Nothing in base depends on that loop, nor on the lane within its group if not
 * `varies`. So one test per loop is enough: of the least and the greatest index, computed in 64
 * bits. */
typedef struct vyre_index_form {
    vyre_affine base;
    int64_t step;
    int64_t lane[3];
    /* lane[a] if groups can be dissolved: the form depends on global_id.a only, and base has the
     * group's share, lane[a] * group_size.a * group_id.a; else 0. */
    int64_t global[3];
    bool varies;
    bool may_wrap;
} vyre_index_form;

/* False: the index is not affine so, since something else in it changes within the loop. `loop` is
 * a FOR around the expression, or VYRE_NONE: as a function of the lane alone. */
bool vyre_ranges_index(const vyre_ranges *ranges, vyre_expr index, vyre_stmt loop,
                       vyre_index_form *out_form);

/* What a condition does to one variable: local_id along an axis, or the variable of a FOR. It is
 * true exactly where all bounds hold and all `rest` are true. */
enum { VYRE_CLIP_BOUNDS = 8 };
typedef struct vyre_clip {
    /* Each says factor * variable + base <= 0, with values of symbols over the integers; with the
     * factor 0 it is a condition on the others alone (the uniform part). */
    struct vyre_clip_bound {
        int64_t factor;
        vyre_affine base;
    } bounds[VYRE_CLIP_BOUNDS];
    uint32_t bound_count;
    vyre_expr rest[VYRE_CLIP_BOUNDS]; /* conditions that clip nothing */
    uint32_t rest_count;
} vyre_clip;

/* loop VYRE_NONE: local_id along `axis`, else the variable of that FOR. False: too many parts. */
bool vyre_ranges_clip(const vyre_ranges *ranges, vyre_expr condition, vyre_stmt loop, uint32_t axis,
                      vyre_clip *out_clip);

#endif
