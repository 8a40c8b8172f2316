/* The generator of programs for the text form: what its files share. */
#ifndef VYRE_TESTS_RANDOM_SYNTAX_H
#define VYRE_TESTS_RANDOM_SYNTAX_H

#include "random/exprs.h"

enum { DECLS = 14, FNS = 4, ARGS = 4, LOCALS = 64, DEPTH = 5, NAME = 24, TEXT = 48 };

typedef struct memory {
    vyre_decl decl;
    vyre_role role;
    vyre_type type;
    bool reads, writes; /* as far as the body being built may */
    vyre_access access;
    uint32_t rank; /* dimensions */
} memory;

typedef struct local {
    vyre_var var;
    vyre_type type;
    bool loops;   /* bound by for: may not be assigned */
    bool uniform; /* the same for the whole grid */
} local;

typedef struct function {
    vyre_fn fn;
    vyre_type args[ARGS];
    uint32_t arg_count;
    vyre_type result;
    bool opaque;
    bool waits; /* has or calls something that waits for lanes */
} function;

/* Where a statement list stands. */
typedef struct place {
    bool uniform;      /* control, over the grid */
    bool loop;         /* inside a loop of this body */
    bool loop_uniform; /* whose lanes stay together */
    uint32_t depth;
} place;

typedef struct syntax {
    random_exprs x; /* first: the leaf callback casts */
    bool uniform;   /* the expression being built must be */
    memory memories[DECLS];
    uint32_t memory_count;
    vyre_decl values[DECLS]; /* params and consts */
    vyre_type value_types[DECLS];
    bool value_is_const[DECLS];
    uint32_t value_count;
    function fns[FNS];
    uint32_t fn_count;
    uint32_t callable; /* fns below may be called */
    local locals[LOCALS];
    uint32_t local_count;
    char names[DECLS * 2 + FNS + LOCALS][NAME]; /* visible: of declarations, then of locals */
    uint32_t name_count;
    uint32_t serial; /* of names and tags */
    uint32_t copies; /* that are pending */
    uint32_t budget; /* statements left */
    bool only_consts;
    bool indirect; /* may still come */
} syntax;

/* syntax_values.c */
/* A name that nothing visible has; it is visible from now on. */
const char *syntax_name(syntax *s);
/* Text in quotes, a region's name or a tag, in `room` of TEXT bytes. */
const char *syntax_text(syntax *s, char *room, bool unique);
vyre_expr syntax_leaf(random_exprs *x, vyre_type type, uint32_t depth);
vyre_expr syntax_expr(syntax *s, vyre_type type);
/* Some element of the memory, for a load, store or atomic. */
vyre_expr syntax_element(syntax *s, const memory *m, uint32_t depth);
/* The same for all lanes of the grid. */
vyre_expr syntax_uniform_expr(syntax *s, vyre_type type);
vyre_type syntax_condition_type(syntax *s);
void syntax_declare_memory(syntax *s);
void syntax_declare_value(syntax *s); /* param or const */
void syntax_declare_fn(syntax *s);
void syntax_declare_header(syntax *s);

#endif
