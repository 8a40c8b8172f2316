/* What the files of the parser share.
 *
 * Parsing takes two steps. First the top level is scanned for declarations and signatures, because
 * they may be used before they stand (declare.c). Then sizes, functions and the entry body are
 * parsed, and statements go straight to the builder (statement.c). Only expressions get a tree, one
 * statement at a time (expression.c), because a literal's type may come from what stands to its
 * right, and because effects inside an expression become statements before it (elaborate.c).
 *
 * The tree is an array in evaluation order: operands before users, left before right. Every walk is
 * a loop over it, so depth of input is never depth of the C stack. */
#ifndef VYRE_SRC_TEXT_PARSER_H
#define VYRE_SRC_TEXT_PARSER_H

#include "text/lexer.h"

/* Types while parsing: a vyre_type; VYRE_VOID for "not known yet"; and this for the value of
 * something that was reported already, which silences everything that follows from it. */
enum { VYRE_UNKNOWN = VYRE_TYPE_COUNT };

/* Nodes are vyre_expr_op, or one of these. */
enum {
    VYRE_NODE_ERROR = VYRE_EXPR_COUNT,
    VYRE_NODE_ATOMIC,   /* kids: index, then the arguments as written */
    VYRE_NODE_SUBGROUP, /* kids: the arguments */
    VYRE_NODE_GROUP,    /* likewise */
    VYRE_NODE_GRID,     /* likewise */
    VYRE_NODE_CALL,     /* likewise */
    VYRE_NODE_BIND,     /* its kid is bound to a temporary, so that it is evaluated once */
    VYRE_NODE_AGAIN,    /* the value of node `ref` once more */
    VYRE_NODE_CLAMP,    /* min(max(x, lo), hi) */
    VYRE_NODE_ZERO,     /* the index of memory that is one element */
    VYRE_NODE_ELEMENT,  /* kids: the indices of an element of memory `ref`, one per dimension */
    VYRE_NODE_LENGTH,   /* of dimension `sub` of memory `ref` */
    VYRE_NODE_COUNT
};

typedef struct vyre_node {
    uint8_t op;
    uint8_t sub;   /* BUILTIN, CAST, ATOMIC, SUBGROUP, GROUP, GRID: which */
    uint8_t axis;  /* BUILTIN: axis; ATOMIC: vyre_ordering */
    uint8_t type;  /* VYRE_VOID: all literals below it lack a type, the context decides */
    uint8_t group; /* common type of the operands that must agree */
    uint8_t want;  /* type that the context asks for, or VYRE_VOID */
    bool fraction; /* without a context it is f32, not u32 */
    bool negative; /* LITERAL: a minus stands directly before it */
    bool loads;    /* it or something below it loads when it is evaluated */
    bool bound;    /* an effect to the right comes before its use, so a let keeps what was loaded */
    bool deep;     /* so is all below it: a let keeps its value, and its user sees a variable */
    uint8_t refuse; /* VYRE_REFUSE_*: why no effect may stand here */
    uint16_t height;
    uint32_t ref; /* VAR: symbol; REF, LEN, LOAD, ATOMIC: symbol; CALL: item; AGAIN: node */
    uint32_t first_kid, kid_count;
    uint32_t first, last; /* tokens */
    uint32_t cap;         /* the node whose statement evaluates it */
    vyre_expr handle;
} vyre_node;

enum { VYRE_REFUSE_NOTHING, VYRE_REFUSE_LAZY, VYRE_REFUSE_SELECT, VYRE_REFUSE_CONSTANT };

typedef struct vyre_symbol {
    uint32_t name;
    uint8_t kind;    /* VYRE_SYMBOL_* */
    uint8_t sub;     /* DECL: vyre_role; VAR: vyre_var_kind */
    uint8_t type;    /* element, value, result */
    uint32_t handle; /* DECL: vyre_decl; VAR: vyre_var; FN: item */
    uint32_t token;
    uint32_t item;     /* DECL, FN */
    uint32_t previous; /* what the name meant before: for arguments, and after an error */
    bool single;       /* DECL: memory that is one element, used without an index */
    uint8_t rank;      /* DECL: dimensions of other memory */
    bool readonly;     /* DECL: an argument `in`, whatever memory was passed */
} vyre_symbol;

enum { VYRE_SYMBOL_DECL, VYRE_SYMBOL_VAR, VYRE_SYMBOL_FN };

/* A declaration or function of the top level: tokens [begin, end). */
typedef struct vyre_item {
    uint32_t begin, end;
    uint32_t symbol;
    uint32_t rest; /* declaration: the token behind its type; function: behind its result */
    uint8_t access;
    bool broken; /* reported; there is nothing more to parse */
    bool function;
    bool opaque;
    bool imported;  /* function of a library: no tokens, built already */
    bool generic;   /* function that takes memory: only its instances are built */
    uint8_t state;  /* const: 0 waiting, 1 being resolved, 2 done */
    bool known;     /* const: what its value is */
    uint64_t value; /* then: the bits */
    uint8_t result; /* function: type of its value, VYRE_VOID for none */
    vyre_fn fn;
    uint32_t first_arg, arg_count; /* function: in vyre_parser.args */
    uint32_t body;                 /* function: its brace */
    /* Function that takes memory: how many instances it has. Instance: which function, the one
     * before it in its bucket, and the declarations passed, in vyre_parser.passed. */
    uint32_t instances, generic_item, previous, first_passed;
} vyre_item;

typedef struct vyre_argument {
    uint32_t name, token;
    uint8_t type;
    bool memory, writes, single;
    uint8_t rank;
} vyre_argument;

/* What is known of a statement list when `return` may stand before the end; see return.c. */
typedef struct vyre_way {
    bool over;        /* its end is not reached */
    bool may;         /* lanes may have returned inside */
    bool dead;        /* what follows is not reached, and stands in a list of its own */
    bool arms_over;   /* the arms before it are over, or there are none */
    bool arms_may;    /* lanes may have returned in arms before it */
    uint32_t pending; /* lists that were opened for the rest of it */
} vyre_way;

/* A statement list that is open. */
typedef struct vyre_open {
    uint8_t op;       /* vyre_stmt_op, VYRE_STMT_COUNT for the body itself */
    uint32_t ends;    /* END statements that its brace stands for: else if nests */
    uint32_t symbols; /* symbols visible before it */
    uint32_t depth;   /* nesting of statements inside */
    /* Loop as in C: what runs behind each trip. The step of a for, or the `while` of a do; NONE:
     * nothing does. */
    uint32_t behind;
    bool until; /* a do */
    vyre_way way;
} vyre_open;

typedef struct vyre_frame {
    uint8_t kind;
    uint8_t op, sub, axis;
    uint8_t precedence;
    uint32_t ref;
    uint32_t token;
    uint32_t operands; /* height of the operand stack below it */
    uint32_t need;     /* arguments */
    uint32_t passed;   /* call: how many of them are memory so far, */
    uint32_t first;    /* and where they begin in vyre_parser.passed */
} vyre_frame;

typedef struct vyre_parser {
    vyre_source source;
    const vyre_token *tokens;
    uint32_t at;
    vyre_builder *builder;
    bool out_of_memory;

    VYRE_VEC(vyre_symbol) symbols; /* declarations and functions, then what is in scope */
    uint32_t *visible;             /* name -> symbol or NONE */
    bool *reported;                /* name -> reported as unknown */
    uint32_t name_count;           /* room in both */
    VYRE_VEC(vyre_item) items;
    VYRE_VEC(vyre_argument) args;
    VYRE_VEC(vyre_decl) passed; /* memory in calls of functions that take it */
    uint32_t instances[256];    /* buckets: the last one in each, plus 1 */
    uint32_t decl_count, fn_count;

    VYRE_VEC(vyre_node) nodes; /* of the statement at hand */
    VYRE_VEC(uint32_t) kids;
    VYRE_VEC(uint32_t) operands;
    VYRE_VEC(vyre_frame) frames;
    VYRE_VEC(vyre_open) open;

    const vyre_setting *settings; /* of consts */
    uint32_t setting_count;
    bool exact; /* sizes and clauses: literals are exact integers */
    bool in_function;
    bool early;          /* its `return` is not only the last statement */
    vyre_way body_way;   /* then: of the body itself, */
    vyre_var result_var; /* what it will return, NONE for nothing, */
    vyre_var flag;       /* and whether the lane has returned; NONE: nobody asks */
    bool jumped;         /* the statement before left the list */
    uint32_t step_close; /* the bracket that ends the step at hand, as a semicolon would; 0: none */
    uint32_t top_symbols;    /* those below are of the top level: arguments may hide them */
    uint8_t result;          /* type of the function at hand */
    uint32_t direct;         /* this effect node binds direct_name itself; NONE: none does */
    const char *direct_name; /* NULL: its value is not used */
    vyre_var direct_var;
} vyre_parser;

/* names.c: scopes and words. */
uint32_t vyre_parser_symbol(const vyre_parser *p, uint32_t token);
/* Declares; reports `code` when the name is taken or reserved. Gives the symbol, or NONE when there
 * is no name at the token or no memory. */
uint32_t vyre_parser_declare(vyre_parser *p, uint32_t token, uint8_t kind, uint8_t sub,
                             uint8_t type, uint32_t handle);
/* An argument of a function: it may hide a name of the top level. */
uint32_t vyre_parser_declare_argument(vyre_parser *p, uint32_t token, uint8_t kind, uint8_t sub,
                                      uint8_t type, uint32_t handle);
/* A name that occurs nowhere in the text: that of the token with a number, `least` or more. NULL
 * when out of memory. */
const char *vyre_parser_fresh_name(vyre_parser *p, uint32_t token, uint32_t least);
void vyre_parser_leave(vyre_parser *p, uint32_t symbols);
/* Room for all names interned so far. */
bool vyre_parser_grow_names(vyre_parser *p);
void vyre_parser_error(vyre_parser *p, const char *code, uint32_t first, uint32_t last,
                       const char *fix, const char *format, ...) VYRE_PRINTF(6, 7);
/* "unknown variable `x`", once per name, with the nearest visible name of a fitting kind. */
enum { VYRE_WANT_VALUE, VYRE_WANT_MEMORY, VYRE_WANT_VARIABLE, VYRE_WANT_FUNCTION };
void vyre_parser_unknown(vyre_parser *p, const char *code, uint32_t token, uint32_t want,
                         const char *what);
/* The name of the token exists but is something else. */
void vyre_parser_misused(vyre_parser *p, const char *code, uint32_t token, const char *why,
                         const char *fix);
bool vyre_parser_expect(vyre_parser *p, uint8_t kind, const char *where);
static inline bool vyre_parser_is(const vyre_parser *p, uint32_t token, uint8_t word, uint8_t sub) {
    const vyre_token *t = &p->tokens[token];
    return t->kind == VYRE_TOKEN_NAME && t->word == word && t->sub == sub;
}
/* What the word at the token means here: VYRE_WORD_PLAIN for names, and for names of operations
 * that the text has given to something else and that are used so. */
uint8_t vyre_parser_word(const vyre_parser *p, uint32_t token);
/* Whether it may be declared. */
bool vyre_parser_is_name(const vyre_parser *p, uint32_t token);
/* A plain name with this text: words that are not reserved, such as `relaxed`. */
bool vyre_parser_is_text(const vyre_parser *p, uint32_t token, const char *text);
/* A type name at the cursor; VYRE_VOID and a report when there is none. */
vyre_type vyre_parser_type(vyre_parser *p, const char *where);
/* The memory named by the token: its symbol, or NONE after a report with the code. */
uint32_t vyre_parser_memory(vyre_parser *p, uint32_t token, const char *code, const char *what);
/* `[]` once per dimension, as people see the memory. */
const char *vyre_parser_brackets(bool single, uint32_t rank);
/* The element of memory whose indices are these nodes, read at the name's token; NONE: out of
 * memory, or after a report that they are too few or too many. */
uint32_t vyre_parser_element(vyre_parser *p, uint32_t symbol, uint32_t token,
                             const uint32_t *indices, uint32_t count);
/* Whether the memory is used as it was declared, with an index or as one element; else a report. */
bool vyre_parser_check_index(vyre_parser *p, uint32_t symbol, uint32_t token, bool indexed);
/* Reports a write through an argument that is `in`. */
void vyre_parser_check_write(vyre_parser *p, uint32_t symbol, uint32_t token);
/* To behind the next `;` or `{...}` of this level, or before the `}` that ends it. */
void vyre_parser_skip(vyre_parser *p);

/* expression.c: appends the nodes of the expression at the cursor. NONE after a syntax error. */
uint32_t vyre_parser_expression(vyre_parser *p);
void vyre_parser_clear(vyre_parser *p); /* forgets the nodes: a new statement begins */
uint32_t vyre_parser_node(vyre_parser *p, const vyre_node *shape, const uint32_t *kids,
                          uint32_t kid_count);
/* The index of the memory at the token, which is one element. */
uint32_t vyre_parser_zero(vyre_parser *p, uint32_t token);
static inline bool vyre_node_is_effect(uint8_t op) {
    return op >= VYRE_NODE_ATOMIC && op <= VYRE_NODE_CALL;
}
/* Operand i is evaluated only where C would. */
static inline bool vyre_node_is_lazy(uint8_t op, uint32_t i) {
    return i > 0 && (op == VYRE_EXPR_AND || op == VYRE_EXPR_OR || op == VYRE_EXPR_COND);
}
static inline bool vyre_node_is_reduction(uint8_t op) {
    return op == VYRE_NODE_GROUP || op == VYRE_NODE_GRID;
}
/* What the value operands of an op have in common: the kids [first, end) agree in type. */
void vyre_node_group(const vyre_node *node, uint32_t *first, uint32_t *end);

/* elaborate.c: types all nodes, binds effects to temporaries, builds expressions. */
void vyre_parser_elaborate(vyre_parser *p);
static inline vyre_expr vyre_parser_handle(const vyre_parser *p, uint32_t node) {
    return node == VYRE_NONE ? VYRE_NONE : p->nodes.data[node].handle;
}
const char *vyre_parser_temporary(vyre_parser *p, char room[16]);
/* An expression that is typed by `want`, elaborated and built; exact ones see only declarations. */
vyre_expr vyre_parser_value(vyre_parser *p, uint8_t want, uint8_t refuse, uint32_t *out_node);

/* statement.c, assign.c, listed.c: a statement whose first token is at the cursor. */
void vyre_parser_let(vyre_parser *p);
void vyre_parser_assign(vyre_parser *p);
void vyre_parser_store(vyre_parser *p);
void vyre_parser_effect(vyre_parser *p); /* an atomic or a call on its own */
void vyre_parser_listed(vyre_parser *p);
/* Parts of statements; each reports what is missing and then gives false. */
bool vyre_parser_ordering(vyre_parser *p, vyre_ordering *out);
bool vyre_parser_string(vyre_parser *p, char room[VYRE_LIMIT_NAME + 1]);
/* An expression that is asked for a type, not yet elaborated. */
bool vyre_parser_part(vyre_parser *p, uint8_t want, uint32_t *out_node);
bool vyre_parser_check_value_type(vyre_parser *p, vyre_type type, uint32_t token, const char *what);
void vyre_parser_at(vyre_parser *p, uint32_t first, uint32_t last); /* place of builder calls */
const char *vyre_parser_name(const vyre_parser *p, uint32_t token);
vyre_decl vyre_parser_decl(const vyre_parser *p, uint32_t symbol);

/* return.c: `return` before the end of a function. Around the body of the function: */
void vyre_parser_begin_returns(vyre_parser *p, const vyre_item *item);
void vyre_parser_end_returns(vyre_parser *p, const vyre_item *item);
/* A `return` whose value is elaborated. */
void vyre_parser_early_return(vyre_parser *p, uint32_t first, uint32_t root);
void vyre_parser_before_statement(vyre_parser *p);
/* Of the innermost list that is open. */
vyre_way *vyre_parser_way(vyre_parser *p);
/* The list, no longer open, is complete: builds its ends, or leaves it to the rest of the list
 * around. */
void vyre_parser_end_list(vyre_parser *p, const vyre_open *list);
/* What the arm behind this one begins with. */
vyre_way vyre_parser_next_arm(const vyre_open *list);

/* The list between the brace and its partner. */
void vyre_parser_body(vyre_parser *p, uint32_t brace, bool entry);

/* declare.c: everything at the top level of the braces but statements. */
void vyre_parser_declarations(vyre_parser *p, uint32_t brace);

/* const.c: what the builder gets for the const, whose expression is elaborated: its own value, or
 * what the caller set. */
vyre_expr vyre_parser_const_value(vyre_parser *p, vyre_item *item, uint32_t root, vyre_expr own);
/* Whether all that the caller set are consts of the text; else they are reported. */
bool vyre_parser_settings(vyre_parser *p);

/* instance.c: functions that take memory. */
/* Room in `passed` for a call of the item. */
uint32_t vyre_parser_reserve_passed(vyre_parser *p, uint32_t item);
/* Argument `index` of the item is the memory named at the cursor. False after a report. */
bool vyre_parser_pass(vyre_parser *p, uint32_t item, uint32_t index, vyre_decl *out);
/* The instance of the item for the memory passed, an item too; NONE after an error. */
uint32_t vyre_parser_instance(vyre_parser *p, uint32_t item, uint32_t first_passed);
/* What the function or instance at the token is called in the program; NULL when out of memory. */
const char *vyre_parser_fn_name(vyre_parser *p, uint32_t token, uint32_t number);
/* Declares the function, or instance, under the name; its arguments that are values. */
void vyre_parser_build_fn(vyre_parser *p, vyre_item *item, const char *name);
/* Parses the bodies of functions and instances from item `at` on, those too that come meanwhile;
 * gives the number of items. */
uint32_t vyre_parser_functions(vyre_parser *p, uint32_t at);
/* Parses functions that take memory and that nothing calls, to find what is wrong in them. */
void vyre_parser_uncalled(vyre_parser *p);

/* import.c: functions of libraries that the text calls. */
void vyre_parser_import(vyre_parser *p, const vyre_program *const *libraries, uint32_t count);

#endif
