/* Values in loops that may be scans, for opt_scan.c: what expressions give where only constants,
 * the number of the lane and elements of one array are followed. */
#ifndef VYRE_SRC_OPT_OPT_SCAN_VALUES_H
#define VYRE_SRC_OPT_OPT_SCAN_VALUES_H

#include "opt/opt_scan.h"

enum { SCAN_MOST_VARS = 24, SCAN_MOST_EXPRS = 64 };

typedef enum scan_kind {
    SCAN_UNKNOWN,
    SCAN_CONSTANT,
    SCAN_LANE,  /* number of the lane + bits, modulo 2^32 */
    SCAN_MINE,  /* what the lane's element had at the start of the trip */
    SCAN_OTHER, /* what that of lane l - 2^t had */
    SCAN_BOTH,  /* MINE op OTHER */
    SCAN_FIRST  /* what the lane's element had before the loop */
} scan_kind;

typedef struct scan_value {
    uint8_t kind, op;
    uint64_t bits;
} scan_value;

typedef struct scan_known {
    scan_value now;
    vyre_var var;
    bool assigned; /* by the loop, and bound before it */
} scan_known;

typedef struct scan {
    vyre_stmt loop;
    vyre_decl memory;
    vyre_expr_op op;
    uint32_t count; /* variables to be assigned behind it */
    scan_known last[SCAN_MOST_VARS];
} scan;

/* What one class of lanes does in a trip. */
typedef struct scan_trip {
    uint32_t low, high, distance; /* lanes [low, high] */
    uint32_t barriers;            /* passed so far */
    uint32_t stored, loaded; /* behind how many, OTHER is loaded: the last time; or VYRE_NONE */
    uint32_t first_loaded;
    scan_value mine; /* what the element has now */
    bool failed;
} scan_trip;

typedef struct scan_finder {
    const vyre_program_view *p;
    const vyre_allocator *a;
    uint32_t lanes;
    vyre_stmt *bound_at; /* per variable: the statement that binds it */
    bool *assigned;      /* per variable */
    VYRE_VEC(scan) scans;
    uint32_t next; /* scan, while rewriting */
    /* The candidate. */
    vyre_stmt loop;
    vyre_decl memory;
    vyre_expr_op op;
    vyre_var first;     /* stored to the lane's element before the loop, or VYRE_NONE */
    bool is_open;       /* no barrier behind the stores of the last trip */
    uint64_t bounds[3]; /* of a FOR */
    scan_known vars[SCAN_MOST_VARS];
    uint32_t var_count;
} scan_finder;

scan_value vyre_scan_constant(uint64_t bits);
bool vyre_scan_is_element(scan_value v);
/* Elements of workgroup memory. */
uint64_t vyre_scan_count(const scan_finder *f, vyre_decl memory);
/* Of the loop's variables, or NULL. */
const scan_known *vyre_scan_find(const scan_finder *f, vyre_var var);
/* All expressions of a statement; false: too many. `t` NULL: before the loop. */
bool vyre_scan_evaluate(const scan_finder *f, scan_trip *t, vyre_stmt s, scan_value *out,
                        uint32_t depth);
/* The value of a variable when the loop begins. */
scan_value vyre_scan_initial(const scan_finder *f, vyre_var var, uint32_t depth);
/* Whether the statements stand in one list, and nothing between them assigns the variable. */
bool vyre_scan_leads_to(const scan_finder *f, vyre_stmt from, vyre_stmt to, vyre_var var);

#endif
