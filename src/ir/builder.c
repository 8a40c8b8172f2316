/* The builder. Bodies are collected separately (each function has its own), expressions in a pool;
 * a statement that uses an expression copies its tree, in evaluation order, behind the expressions
 * of the statements before it. finish() lays the bodies one after another and renumbers variables
 * in the order of their bindings, so that the same program gets the same numbers however it was
 * built.
 *
 * Errors are kept: every call on a failed builder is a no-op, so code that builds needs no checks.
 * Cost: linear in what is built; a handle used k times is copied k times. */
#include "ir/builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "ir/names.h"
#include "ir/program.h"

/* Deeper than the validator allows in sources, so that passes have room. */
enum { DEPTH = VYRE_BUILDER_EXPR_DEPTH };

typedef struct pool_node {
    vyre_expr_node node;
    vyre_packed_place place;
    uint32_t depth;
} pool_node;

typedef struct open_list {
    vyre_stmt opener;
    vyre_stmt middle; /* its ELSE, or VYRE_NONE */
} open_list;

typedef struct body {
    VYRE_VEC(vyre_stmt_node) stmts;
    VYRE_VEC(vyre_packed_place) stmt_places;
    VYRE_VEC(vyre_expr_node) exprs;
    VYRE_VEC(vyre_packed_place) expr_places;
    VYRE_VEC(open_list) open;
} body;

typedef struct function {
    vyre_fn_node node;
    vyre_packed_place place;
    bool begun, ended;
    body code;
} function;

struct vyre_builder {
    vyre_allocator allocator;
    vyre_diag error;
    vyre_packed_place place;
    vyre_intern strings;
    const char *name;
    uint32_t workgroup[3];
    vyre_clause clause_kind;
    vyre_expr clause[3];
    vyre_packed_place program_place;
    VYRE_VEC(vyre_decl_node) decls;
    VYRE_VEC(vyre_packed_place) decl_places;
    VYRE_VEC(vyre_var_node) vars;
    VYRE_VEC(vyre_packed_place) var_places;
    VYRE_VEC(uint32_t) args;
    VYRE_VEC(pool_node) pool;
    VYRE_VEC(function) fns;
    body decl_code; /* expressions of declarations and clauses; no statements */
    body entry;
    vyre_fn current; /* function whose body is open, or VYRE_NONE */
    bool finished;
};

static bool ok(const vyre_builder *b) {
    return b->error.status == VYRE_OK && !b->finished;
}

static vyre_place unpack(const vyre_builder *b, vyre_packed_place packed) {
    return (vyre_place){
        .file = packed.file == VYRE_INTERN_NONE ? NULL : vyre_intern_text(&b->strings, packed.file),
        .line = packed.line,
        .col = packed.col,
        .end_col = packed.end_col};
}

VYRE_PRINTF(4, 5)
static void fail(vyre_builder *b, vyre_status status, const char *fix, const char *format, ...) {
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

static void no_memory(vyre_builder *b) {
    if (b->error.status == VYRE_OK) {
        (void)vyre_fail_memory(&b->error, "the program");
    }
}

static void misuse(vyre_builder *b, const char *what) {
    fail(b, VYRE_INVALID_ARGUMENT, "correct the builder call", "%s", what);
}

static const char *intern(vyre_builder *b, const char *text) {
    uint32_t number = vyre_intern_add(&b->strings, text, strlen(text));
    if (number == VYRE_INTERN_NONE) {
        no_memory(b);
        return "";
    }
    return vyre_intern_text(&b->strings, number);
}

static const char *intern_name(vyre_builder *b, const char *name) {
    size_t length = name ? strlen(name) : 0;
    if (!name || !vyre_name_is_identifier(name, length)) {
        fail(b, VYRE_INVALID_ARGUMENT, "use letters, digits and underscores, not a digit first",
             "`%s` is not a name", name ? name : "(null)");
        return "";
    }
    if (vyre_name_is_reserved(name, length)) {
        fail(b, VYRE_INVALID_ARGUMENT, "choose another name", "`%s` is a reserved word", name);
        return "";
    }
    return intern(b, name);
}

static body *code(vyre_builder *b) {
    return b->current == VYRE_NONE ? &b->entry : &b->fns.data[b->current].code;
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
    b->name = intern_name(b, name);
    *out_builder = b;
    return VYRE_OK;
}

static void free_body(const vyre_allocator *a, body *code) {
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
    if (!ok(b)) {
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
                no_memory(b);
                return;
            }
        }
    }
    b->place = (vyre_packed_place){
        .file = file, .line = place.line, .col = place.col, .end_col = place.end_col};
}

void vyre_builder_set_decl_type(vyre_builder *b, vyre_decl decl, vyre_type type) {
    if (ok(b) && decl < b->decls.count) {
        b->decls.data[decl].type = (uint8_t)type;
    }
}

void vyre_builder_fail_memory(vyre_builder *b) {
    no_memory(b);
}

void vyre_builder_forget_exprs(vyre_builder *b) {
    b->pool.count = 0;
}

/* Expressions */

static vyre_expr add_expr(vyre_builder *b, vyre_expr_node node) {
    if (!ok(b)) {
        return VYRE_NONE;
    }
    uint32_t depth = 1;
    for (uint32_t i = 0; i < vyre_expr_arity(&node); i++) {
        if (node.u.arg[i] >= b->pool.count) {
            misuse(b, "an operand is not an expression of this builder");
            return VYRE_NONE;
        }
        uint32_t below = b->pool.data[node.u.arg[i]].depth;
        depth = below + 1 > depth ? below + 1 : depth;
    }
    if (depth > DEPTH) {
        fail(b, VYRE_LIMIT, "bind parts of the expression with let",
             "an expression is more than %d deep", (int)DEPTH);
        return VYRE_NONE;
    }
    if (!vyre_vec_push(&b->allocator, &b->pool,
                       (pool_node){.node = node, .place = b->place, .depth = depth})) {
        no_memory(b);
        return VYRE_NONE;
    }
    return b->pool.count - 1;
}

vyre_type vyre_builder_expr_type(const vyre_builder *b, vyre_expr expr) {
    return expr < b->pool.count ? (vyre_type)b->pool.data[expr].node.type : VYRE_VOID;
}

vyre_type vyre_builder_var_type(const vyre_builder *b, vyre_var var) {
    return var < b->vars.count ? (vyre_type)b->vars.data[var].type : VYRE_VOID;
}

vyre_expr vyre_build_literal(vyre_builder *b, vyre_type type, uint64_t bits) {
    if (!vyre_type_computes(type)) {
        misuse(b, "a literal needs a computing type");
        return VYRE_NONE;
    }
    if (vyre_type_size(type) == 4) {
        bits &= UINT32_MAX;
    }
    if (type == VYRE_BOOL) {
        bits = bits != 0;
    }
    bool finite = type == VYRE_F32   ? (bits >> 23 & 0xff) != 0xff
                  : type == VYRE_F64 ? (bits >> 52 & 0x7ff) != 0x7ff
                                     : true;
    if (!finite) { /* there is no spelling for inf and nan; their bits have one */
        vyre_type carrier = type == VYRE_F32 ? VYRE_U32 : VYRE_U64;
        return vyre_build_bitcast(b, type, vyre_build_literal(b, carrier, bits));
    }
    return add_expr(
        b, (vyre_expr_node){
               .op = VYRE_EXPR_LITERAL, .type = (uint8_t)type, .ref = VYRE_NONE, .u.bits = bits});
}

vyre_expr vyre_build_u32(vyre_builder *b, uint32_t value) {
    return vyre_build_literal(b, VYRE_U32, value);
}

vyre_expr vyre_build_i32(vyre_builder *b, int32_t value) {
    return vyre_build_literal(b, VYRE_I32, (uint32_t)value);
}

vyre_expr vyre_build_f32(vyre_builder *b, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return vyre_build_literal(b, VYRE_F32, bits);
}

vyre_expr vyre_build_f64(vyre_builder *b, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return vyre_build_literal(b, VYRE_F64, bits);
}

vyre_expr vyre_build_bool(vyre_builder *b, bool value) {
    return vyre_build_literal(b, VYRE_BOOL, value);
}

vyre_expr vyre_build_size(vyre_builder *b, int64_t value) {
    return vyre_build_literal(b, VYRE_I64, (uint64_t)value);
}

vyre_expr vyre_build_var(vyre_builder *b, vyre_var var) {
    if (var >= b->vars.count) {
        misuse(b, "no such variable");
        return VYRE_NONE;
    }
    return add_expr(
        b, (vyre_expr_node){.op = VYRE_EXPR_VAR, .type = b->vars.data[var].type, .ref = var});
}

static bool is_decl(vyre_builder *b, vyre_decl decl, bool memory) {
    if (!ok(b)) {
        return false;
    }
    if (decl >= b->decls.count ||
        vyre_role_is_memory((vyre_role)b->decls.data[decl].role) != memory) {
        misuse(b, memory ? "not a buffer or array of this builder"
                         : "not a param or const of this builder");
        return false;
    }
    return true;
}

vyre_expr vyre_build_ref(vyre_builder *b, vyre_decl decl) {
    if (!is_decl(b, decl, false)) {
        return VYRE_NONE;
    }
    return add_expr(
        b, (vyre_expr_node){.op = VYRE_EXPR_REF, .type = b->decls.data[decl].type, .ref = decl});
}

vyre_expr vyre_build_len(vyre_builder *b, vyre_decl buffer) {
    if (!is_decl(b, buffer, true)) {
        return VYRE_NONE;
    }
    return add_expr(b, (vyre_expr_node){.op = VYRE_EXPR_LEN, .type = VYRE_U32, .ref = buffer});
}

vyre_expr vyre_build_id(vyre_builder *b, vyre_builtin id, uint32_t axis) {
    if ((unsigned)id >= VYRE_BUILTIN_COUNT || axis >= vyre_builtin_axes(id)) {
        misuse(b, "no such built-in id or axis");
        return VYRE_NONE;
    }
    return add_expr(b, (vyre_expr_node){.op = VYRE_EXPR_BUILTIN,
                                        .type = VYRE_U32,
                                        .sub = (uint8_t)id,
                                        .axis = (uint8_t)axis,
                                        .ref = VYRE_NONE});
}

vyre_expr vyre_build_load(vyre_builder *b, vyre_decl memory, vyre_expr index) {
    if (!is_decl(b, memory, true)) {
        return VYRE_NONE;
    }
    vyre_type element = (vyre_type)b->decls.data[memory].type;
    return add_expr(b, (vyre_expr_node){.op = VYRE_EXPR_LOAD,
                                        .type = (uint8_t)vyre_type_widened(element),
                                        .ref = memory,
                                        .u.arg = {index}});
}

vyre_expr vyre_build_cast(vyre_builder *b, vyre_type target, vyre_expr value) {
    if ((unsigned)target >= VYRE_TYPE_COUNT || target == VYRE_VOID) {
        misuse(b, "a cast needs a type");
        return VYRE_NONE;
    }
    return add_expr(b, (vyre_expr_node){.op = VYRE_EXPR_CAST,
                                        .type = (uint8_t)vyre_type_widened(target),
                                        .sub = (uint8_t)target,
                                        .ref = VYRE_NONE,
                                        .u.arg = {value}});
}

vyre_expr vyre_build_bitcast(vyre_builder *b, vyre_type target, vyre_expr value) {
    if (!vyre_type_computes(target)) {
        misuse(b, "a bitcast needs a computing type");
        return VYRE_NONE;
    }
    return add_expr(b, (vyre_expr_node){.op = VYRE_EXPR_BITCAST,
                                        .type = (uint8_t)target,
                                        .ref = VYRE_NONE,
                                        .u.arg = {value}});
}

static vyre_type result_type(const vyre_builder *b, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    vyre_type first = vyre_builder_expr_type(b, x);
    switch ((vyre_result)vyre_expr_info_of(op)->result) {
    case VYRE_RESULT_OWN: return VYRE_VOID;
    case VYRE_RESULT_SAME: return first;
    case VYRE_RESULT_ARMS: return vyre_builder_expr_type(b, y);
    case VYRE_RESULT_UNSIGNED:
        return first == VYRE_I32 ? VYRE_U32 : first == VYRE_I64 ? VYRE_U64 : first;
    case VYRE_RESULT_BOOL: return VYRE_BOOL;
    case VYRE_RESULT_U32: return VYRE_U32;
    }
    return VYRE_VOID;
}

vyre_expr vyre_build_op(vyre_builder *b, vyre_expr_op op, vyre_expr x, vyre_expr y, vyre_expr z) {
    if (op < VYRE_EXPR_NEG || op >= VYRE_EXPR_COUNT) {
        misuse(b, "not an operator; use the builder call of that expression");
        return VYRE_NONE;
    }
    return add_expr(b, (vyre_expr_node){.op = (uint8_t)op,
                                        .type = (uint8_t)result_type(b, op, x, y),
                                        .ref = VYRE_NONE,
                                        .u.arg = {x, y, z}});
}

/* Copies the tree below `root` from the pool to the end of the body's expressions, operands first.
 * In exact mode (sizes and clauses) every node is an exact integer, so literals lose their width.
 */
static vyre_expr commit(vyre_builder *b, body *to, vyre_expr root, bool exact) {
    struct frame {
        vyre_expr from;
        uint32_t next;
        vyre_expr arg[3];
    } stack[DEPTH + 1];
    if (!ok(b)) {
        return VYRE_NONE;
    }
    if (root >= b->pool.count) {
        misuse(b, "not an expression of this builder");
        return VYRE_NONE;
    }
    uint32_t depth = 0;
    vyre_expr done = VYRE_NONE;
    stack[0] = (struct frame){.from = root};
    for (;;) {
        struct frame *top = &stack[depth];
        const pool_node *source = &b->pool.data[top->from];
        uint32_t arity = vyre_expr_arity(&source->node);
        if (top->next > 0) {
            top->arg[top->next - 1] = done;
        }
        if (top->next < arity) {
            vyre_expr child = source->node.u.arg[top->next++];
            stack[++depth] = (struct frame){.from = child};
            continue;
        }
        vyre_expr_node node = source->node;
        if (node.op != VYRE_EXPR_LITERAL) {
            for (uint32_t i = 0; i < 3; i++) {
                node.u.arg[i] = i < arity ? top->arg[i] : VYRE_NONE;
            }
        }
        if (exact) {
            if (node.op == VYRE_EXPR_LITERAL && node.type == VYRE_I32) {
                node.u.bits = (uint64_t)(int64_t)(int32_t)node.u.bits;
            }
            if (vyre_type_is_integer((vyre_type)node.type)) {
                node.type = VYRE_I64;
            }
        }
        vyre_packed_place place = source->place;
        if (!vyre_vec_push(&b->allocator, &to->exprs, node) ||
            !vyre_vec_push(&b->allocator, &to->expr_places, place)) {
            no_memory(b);
            return VYRE_NONE;
        }
        done = to->exprs.count - 1;
        if (depth-- == 0) {
            return done;
        }
    }
}

static vyre_expr commit_optional(vyre_builder *b, body *to, vyre_expr root, bool exact) {
    return root == VYRE_NONE ? VYRE_NONE : commit(b, to, root, exact);
}

/* Declarations and clauses */

void vyre_build_workgroup(vyre_builder *b, uint32_t x, uint32_t y, uint32_t z) {
    if (ok(b)) {
        b->program_place = b->place;
        b->workgroup[0] = x;
        b->workgroup[1] = y;
        b->workgroup[2] = z;
    }
}

void vyre_build_elements(vyre_builder *b, vyre_expr count) {
    b->clause_kind = VYRE_CLAUSE_ELEMENTS;
    b->clause[0] = commit(b, &b->decl_code, count, true);
}

void vyre_build_grid(vyre_builder *b, vyre_expr x, vyre_expr y, vyre_expr z) {
    b->clause_kind = VYRE_CLAUSE_GRID;
    b->clause[0] = commit(b, &b->decl_code, x, true);
    b->clause[1] = commit_optional(b, &b->decl_code, y, true);
    b->clause[2] = commit_optional(b, &b->decl_code, z, true);
}

static vyre_decl add_decl(vyre_builder *b, vyre_decl_node node) {
    if (!ok(b)) {
        return VYRE_NONE;
    }
    if (b->decls.count >= VYRE_LIMIT_DECLS) {
        fail(b, VYRE_LIMIT, "use fewer, larger buffers", "more than %d declarations",
             (int)VYRE_LIMIT_DECLS);
        return VYRE_NONE;
    }
    if (!vyre_vec_push(&b->allocator, &b->decls, node) ||
        !vyre_vec_push(&b->allocator, &b->decl_places, b->place)) {
        no_memory(b);
        return VYRE_NONE;
    }
    return b->decls.count - 1;
}

vyre_decl vyre_build_memory(vyre_builder *b, vyre_role role, const char *name, vyre_type type,
                            vyre_expr size) {
    if (!ok(b)) {
        return VYRE_NONE;
    }
    if (!vyre_role_is_memory(role) || type == VYRE_VOID || (unsigned)type >= VYRE_TYPE_COUNT) {
        misuse(b, "a buffer or array needs a memory role and an element type");
        return VYRE_NONE;
    }
    return add_decl(b, (vyre_decl_node){.name = intern_name(b, name),
                                        .role = (uint8_t)role,
                                        .type = (uint8_t)type,
                                        .size = commit_optional(b, &b->decl_code, size, true),
                                        .value = VYRE_NONE});
}

static vyre_decl add_value(vyre_builder *b, vyre_role role, const char *name, vyre_type type,
                           vyre_expr value) {
    if (!ok(b)) {
        return VYRE_NONE;
    }
    return add_decl(b, (vyre_decl_node){.name = intern_name(b, name),
                                        .role = (uint8_t)role,
                                        .type = (uint8_t)type,
                                        .size = VYRE_NONE,
                                        .value = commit_optional(b, &b->decl_code, value, false)});
}

vyre_decl vyre_build_param(vyre_builder *b, const char *name, vyre_type type,
                           vyre_expr default_value) {
    if (!vyre_type_computes(type)) {
        misuse(b, "a param needs a computing type");
        return VYRE_NONE;
    }
    return add_value(b, VYRE_PARAM, name, type, default_value);
}

vyre_decl vyre_build_const(vyre_builder *b, const char *name, vyre_expr value) {
    return add_value(b, VYRE_CONST, name, vyre_builder_expr_type(b, value), value);
}

void vyre_build_decl_size(vyre_builder *b, vyre_decl decl, vyre_expr size) {
    if (is_decl(b, decl, true)) {
        vyre_expr root = commit(b, &b->decl_code, size, true);
        b->decls.data[decl].size = root;
    }
}

void vyre_build_decl_value(vyre_builder *b, vyre_decl decl, vyre_expr value) {
    if (is_decl(b, decl, false)) {
        vyre_expr root = commit(b, &b->decl_code, value, false);
        b->decls.data[decl].value = root;
        if (b->decls.data[decl].role == VYRE_CONST) {
            b->decls.data[decl].type = (uint8_t)vyre_builder_expr_type(b, value);
        }
    }
}

void vyre_build_output_range(vyre_builder *b, vyre_decl decl, uint32_t begin, uint32_t end) {
    if (is_decl(b, decl, true)) {
        b->decls.data[decl].range_begin = begin;
        b->decls.data[decl].range_end = end;
    }
}

void vyre_build_access(vyre_builder *b, vyre_decl decl, vyre_access access) {
    if (is_decl(b, decl, true)) {
        b->decls.data[decl].access = (uint8_t)access;
    }
}

/* Statements */

static vyre_stmt_node blank(vyre_stmt_op op) {
    return (vyre_stmt_node){
        .op = (uint8_t)op,
        .var = VYRE_NONE,
        .decl = VYRE_NONE,
        .decl2 = VYRE_NONE,
        .arg = {VYRE_NONE, VYRE_NONE, VYRE_NONE},
        .fn = VYRE_NONE,
        .match = VYRE_NONE,
    };
}

/* Commits up to three operands in the order given and appends the statement. arg[] of the statement
 * is filled by `slots`: the position of each operand. */
static vyre_stmt add_stmt(vyre_builder *b, vyre_stmt_node node, const vyre_expr *operands,
                          const uint8_t *slots, uint32_t count) {
    if (!ok(b)) {
        return VYRE_NONE;
    }
    body *to = code(b);
    node.first_expr = to->exprs.count;
    for (uint32_t i = 0; i < count; i++) {
        node.arg[slots[i]] = commit_optional(b, to, operands[i], false);
    }
    node.end_expr = to->exprs.count;
    if (!ok(b)) {
        return VYRE_NONE;
    }
    if (to->stmts.count >= VYRE_LIMIT_INLINED) {
        fail(b, VYRE_LIMIT, "split the program or call fewer functions",
             "more than %d statements in one body", (int)VYRE_LIMIT_INLINED);
        return VYRE_NONE;
    }
    if (!vyre_vec_push(&b->allocator, &to->stmts, node) ||
        !vyre_vec_push(&b->allocator, &to->stmt_places, b->place)) {
        no_memory(b);
        return VYRE_NONE;
    }
    return to->stmts.count - 1;
}

static const uint8_t in_order[3] = {0, 1, 2};

static vyre_stmt add_plain(vyre_builder *b, vyre_stmt_node node, vyre_expr x, vyre_expr y,
                           vyre_expr z) {
    vyre_expr operands[3] = {x, y, z};
    return add_stmt(b, node, operands, in_order, 3);
}

static vyre_var add_var(vyre_builder *b, const char *name, vyre_type type, vyre_var_kind kind) {
    if (!ok(b)) {
        return VYRE_NONE;
    }
    vyre_var_node node = {.name = intern_name(b, name),
                          .type = (uint8_t)type,
                          .kind = (uint8_t)kind,
                          .fn = b->current};
    if (!ok(b)) {
        return VYRE_NONE;
    }
    if (!vyre_vec_push(&b->allocator, &b->vars, node) ||
        !vyre_vec_push(&b->allocator, &b->var_places, b->place)) {
        no_memory(b);
        return VYRE_NONE;
    }
    return b->vars.count - 1;
}

vyre_var vyre_build_let(vyre_builder *b, const char *name, vyre_expr value) {
    vyre_stmt_node node = blank(VYRE_STMT_LET);
    node.var = add_var(b, name, vyre_builder_expr_type(b, value), VYRE_VAR_LOCAL);
    (void)add_plain(b, node, value, VYRE_NONE, VYRE_NONE);
    return node.var;
}

void vyre_build_assign(vyre_builder *b, vyre_var var, vyre_expr value) {
    if (ok(b) && var >= b->vars.count) {
        misuse(b, "no such variable");
    }
    vyre_stmt_node node = blank(VYRE_STMT_ASSIGN);
    node.var = var;
    (void)add_plain(b, node, value, VYRE_NONE, VYRE_NONE);
}

void vyre_build_store(vyre_builder *b, vyre_decl memory, vyre_expr index, vyre_expr value) {
    if (!is_decl(b, memory, true)) {
        return;
    }
    vyre_stmt_node node = blank(VYRE_STMT_STORE);
    node.decl = memory;
    (void)add_plain(b, node, index, value, VYRE_NONE);
}

vyre_var vyre_build_atomic(vyre_builder *b, const char *name, vyre_atomic_op op, vyre_decl memory,
                           vyre_expr index, vyre_expr expected, vyre_expr value,
                           vyre_ordering ordering) {
    if (!is_decl(b, memory, true)) {
        return VYRE_NONE;
    }
    if ((unsigned)op >= VYRE_ATOMIC_COUNT || (unsigned)ordering >= VYRE_ORDERING_COUNT) {
        misuse(b, "no such atomic operation or ordering");
        return VYRE_NONE;
    }
    vyre_stmt_node node = blank(VYRE_STMT_ATOMIC);
    node.sub = (uint8_t)op;
    node.ordering = (uint8_t)ordering;
    node.decl = memory;
    if (name) {
        vyre_type element = (vyre_type)b->decls.data[memory].type;
        node.var = add_var(b, name, vyre_type_widened(element), VYRE_VAR_LOCAL);
    }
    /* Evaluated as index, expected, value; stored as index, value, expected. */
    vyre_expr operands[3] = {index, expected, value};
    static const uint8_t slots[3] = {0, 2, 1};
    (void)add_stmt(b, node, operands, slots, 3);
    return node.var;
}

vyre_var vyre_build_subgroup(vyre_builder *b, const char *name, vyre_subgroup_op op,
                             vyre_expr value, vyre_expr lane) {
    if (ok(b) && (unsigned)op >= VYRE_SUBGROUP_COUNT) {
        misuse(b, "no such subgroup operation");
        return VYRE_NONE;
    }
    vyre_stmt_node node = blank(VYRE_STMT_SUBGROUP);
    node.sub = (uint8_t)op;
    if (name) {
        vyre_type type = op == VYRE_SUBGROUP_BALLOT ? VYRE_U32 : vyre_builder_expr_type(b, value);
        node.var = add_var(b, name, type, VYRE_VAR_LOCAL);
    }
    (void)add_plain(b, node, value, lane, VYRE_NONE);
    return node.var;
}

vyre_var vyre_build_call(vyre_builder *b, const char *name, vyre_fn fn, const vyre_expr *args,
                         uint32_t arg_count) {
    if (!ok(b)) {
        return VYRE_NONE;
    }
    if (fn >= b->fns.count || arg_count > VYRE_LIMIT_ARGUMENTS) {
        misuse(b, "no such function, or too many arguments");
        return VYRE_NONE;
    }
    vyre_stmt_node node = blank(VYRE_STMT_CALL);
    node.fn = fn;
    if (name) {
        node.var = add_var(b, name, (vyre_type)b->fns.data[fn].node.type, VYRE_VAR_LOCAL);
    }
    body *to = code(b);
    uint32_t first_expr = to->exprs.count;
    node.first_arg = b->args.count;
    node.arg_count = arg_count;
    for (uint32_t i = 0; i < arg_count; i++) {
        vyre_expr root = commit(b, to, args[i], false);
        if (ok(b) && !vyre_vec_push(&b->allocator, &b->args, root)) {
            no_memory(b);
        }
    }
    vyre_stmt stmt = add_stmt(b, node, NULL, in_order, 0);
    if (stmt != VYRE_NONE) {
        to->stmts.data[stmt].first_expr = first_expr;
    }
    return node.var;
}

static void open_list_at(vyre_builder *b, vyre_stmt opener) {
    if (opener != VYRE_NONE && !vyre_vec_push(&b->allocator, &code(b)->open,
                                              (open_list){.opener = opener, .middle = VYRE_NONE})) {
        no_memory(b);
    }
}

void vyre_build_if(vyre_builder *b, vyre_expr condition) {
    open_list_at(b, add_plain(b, blank(VYRE_STMT_IF), condition, VYRE_NONE, VYRE_NONE));
}

void vyre_build_else(vyre_builder *b) {
    if (!ok(b)) {
        return;
    }
    body *to = code(b);
    open_list *top = to->open.count ? &to->open.data[to->open.count - 1] : NULL;
    if (!top || to->stmts.data[top->opener].op != VYRE_STMT_IF || top->middle != VYRE_NONE) {
        misuse(b, "else without an if");
        return;
    }
    vyre_stmt opener = top->opener;
    vyre_stmt stmt = add_plain(b, blank(VYRE_STMT_ELSE), VYRE_NONE, VYRE_NONE, VYRE_NONE);
    if (stmt != VYRE_NONE) {
        to->stmts.data[opener].match = stmt;
        to->open.data[to->open.count - 1].middle = stmt;
    }
}

vyre_var vyre_build_for(vyre_builder *b, const char *name, vyre_expr from, vyre_expr to,
                        vyre_expr step) {
    vyre_stmt_node node = blank(VYRE_STMT_FOR);
    node.var = add_var(b, name, VYRE_U32, VYRE_VAR_LOOP);
    open_list_at(b, add_plain(b, node, from, to, step));
    return node.var;
}

void vyre_build_while(vyre_builder *b, vyre_expr condition) {
    open_list_at(b, add_plain(b, blank(VYRE_STMT_WHILE), condition, VYRE_NONE, VYRE_NONE));
}

void vyre_build_block(vyre_builder *b) {
    open_list_at(b, add_plain(b, blank(VYRE_STMT_BLOCK), VYRE_NONE, VYRE_NONE, VYRE_NONE));
}

static const char *intern_text(vyre_builder *b, const char *text) {
    if (!text || strlen(text) > VYRE_LIMIT_NAME) {
        misuse(b, "a region name or tag is missing or too long");
        return NULL;
    }
    return intern(b, text);
}

void vyre_build_region(vyre_builder *b, const char *name) {
    if (!ok(b)) {
        return;
    }
    vyre_stmt_node node = blank(VYRE_STMT_REGION);
    node.text = intern_text(b, name);
    open_list_at(b, add_plain(b, node, VYRE_NONE, VYRE_NONE, VYRE_NONE));
}

void vyre_build_end(vyre_builder *b) {
    if (!ok(b)) {
        return;
    }
    body *to = code(b);
    if (to->open.count == 0) {
        misuse(b, "end without an opener");
        return;
    }
    open_list top = to->open.data[--to->open.count];
    vyre_stmt_node node = blank(VYRE_STMT_END);
    node.match = top.opener;
    vyre_stmt stmt = add_plain(b, node, VYRE_NONE, VYRE_NONE, VYRE_NONE);
    if (stmt != VYRE_NONE) {
        to->stmts.data[top.middle == VYRE_NONE ? top.opener : top.middle].match = stmt;
    }
}

static void add_jump(vyre_builder *b, vyre_stmt_op op) {
    if (!ok(b)) {
        return;
    }
    body *to = code(b);
    vyre_stmt_node node = blank(op);
    for (uint32_t i = to->open.count; i-- > 0;) {
        uint8_t opener = to->stmts.data[to->open.data[i].opener].op;
        if (opener == VYRE_STMT_FOR || opener == VYRE_STMT_WHILE) {
            node.match = to->open.data[i].opener;
            break;
        }
    }
    (void)add_plain(b, node, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

void vyre_build_break(vyre_builder *b) {
    add_jump(b, VYRE_STMT_BREAK);
}

void vyre_build_continue(vyre_builder *b) {
    add_jump(b, VYRE_STMT_CONTINUE);
}

void vyre_build_exit(vyre_builder *b) {
    (void)add_plain(b, blank(VYRE_STMT_EXIT), VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

void vyre_build_return(vyre_builder *b, vyre_expr value) {
    (void)add_plain(b, blank(VYRE_STMT_RETURN), value, VYRE_NONE, VYRE_NONE);
}

void vyre_build_barrier(vyre_builder *b, vyre_ordering ordering) {
    if (ok(b) && (unsigned)ordering >= VYRE_ORDERING_COUNT) {
        misuse(b, "no such ordering");
    }
    vyre_stmt_node node = blank(VYRE_STMT_BARRIER);
    node.ordering = (uint8_t)ordering;
    (void)add_plain(b, node, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

void vyre_build_grid_sync(vyre_builder *b) {
    (void)add_plain(b, blank(VYRE_STMT_GRID_SYNC), VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

void vyre_build_trap(vyre_builder *b, const char *tag, vyre_expr address) {
    if (!ok(b)) {
        return;
    }
    vyre_stmt_node node = blank(VYRE_STMT_TRAP);
    node.text = intern_text(b, tag);
    (void)add_plain(b, node, address, VYRE_NONE, VYRE_NONE);
}

static void add_async(vyre_builder *b, vyre_stmt_op op, vyre_decl source, vyre_decl destination,
                      vyre_expr offset, vyre_expr size, const char *tag) {
    if (!is_decl(b, source, true) || !is_decl(b, destination, true)) {
        return;
    }
    vyre_stmt_node node = blank(op);
    node.decl = source;
    node.decl2 = destination;
    node.text = intern_text(b, tag);
    (void)add_plain(b, node, offset, size, VYRE_NONE);
}

void vyre_build_async_load(vyre_builder *b, vyre_decl source, vyre_decl destination,
                           vyre_expr offset, vyre_expr size, const char *tag) {
    add_async(b, VYRE_STMT_ASYNC_LOAD, source, destination, offset, size, tag);
}

void vyre_build_async_store(vyre_builder *b, vyre_decl source, vyre_decl destination,
                            vyre_expr offset, vyre_expr size, const char *tag) {
    add_async(b, VYRE_STMT_ASYNC_STORE, source, destination, offset, size, tag);
}

void vyre_build_async_wait(vyre_builder *b, const char *tag) {
    if (!ok(b)) {
        return;
    }
    vyre_stmt_node node = blank(VYRE_STMT_ASYNC_WAIT);
    node.text = intern_text(b, tag);
    (void)add_plain(b, node, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

static void add_collective(vyre_builder *b, vyre_stmt_op op, vyre_collective_op reduction,
                           vyre_decl input, vyre_decl output, vyre_expr group, vyre_expr root) {
    if (!is_decl(b, input, true) || (output != VYRE_NONE && !is_decl(b, output, true))) {
        return;
    }
    if ((unsigned)reduction >= VYRE_COLLECTIVE_COUNT) {
        misuse(b, "no such collective operation");
        return;
    }
    vyre_stmt_node node = blank(op);
    node.sub = (uint8_t)reduction;
    node.decl = input;
    node.decl2 = output;
    (void)add_plain(b, node, group, root, VYRE_NONE);
}

void vyre_build_all_reduce(vyre_builder *b, vyre_decl buffer, vyre_collective_op op,
                           vyre_expr group) {
    add_collective(b, VYRE_STMT_ALL_REDUCE, op, buffer, VYRE_NONE, group, VYRE_NONE);
}

void vyre_build_all_gather(vyre_builder *b, vyre_decl input, vyre_decl output, vyre_expr group) {
    add_collective(b, VYRE_STMT_ALL_GATHER, VYRE_COLLECTIVE_SUM, input, output, group, VYRE_NONE);
}

void vyre_build_reduce_scatter(vyre_builder *b, vyre_decl input, vyre_decl output,
                               vyre_collective_op op, vyre_expr group) {
    add_collective(b, VYRE_STMT_REDUCE_SCATTER, op, input, output, group, VYRE_NONE);
}

void vyre_build_broadcast(vyre_builder *b, vyre_decl buffer, vyre_expr root, vyre_expr group) {
    add_collective(b, VYRE_STMT_BROADCAST, VYRE_COLLECTIVE_SUM, buffer, VYRE_NONE, group, root);
}

void vyre_build_indirect_dispatch(vyre_builder *b, vyre_decl buffer, vyre_expr offset) {
    if (!is_decl(b, buffer, true)) {
        return;
    }
    vyre_stmt_node node = blank(VYRE_STMT_INDIRECT_DISPATCH);
    node.decl = buffer;
    (void)add_plain(b, node, offset, VYRE_NONE, VYRE_NONE);
}

/* Functions */

vyre_fn vyre_build_fn(vyre_builder *b, const char *name, const char *const *arg_names,
                      const vyre_type *arg_types, uint32_t arg_count, vyre_type result) {
    if (!ok(b)) {
        return VYRE_NONE;
    }
    if (b->fns.count >= VYRE_LIMIT_FUNCTIONS || arg_count > VYRE_LIMIT_ARGUMENTS) {
        fail(b, VYRE_LIMIT, "use fewer", "more than %d functions or %d arguments",
             (int)VYRE_LIMIT_FUNCTIONS, (int)VYRE_LIMIT_ARGUMENTS);
        return VYRE_NONE;
    }
    vyre_fn fn = b->fns.count;
    function node = {.node = {.name = intern_name(b, name),
                              .type = (uint8_t)result,
                              .first_var = b->vars.count,
                              .arg_count = arg_count},
                     .place = b->place};
    if (ok(b) && !vyre_vec_push(&b->allocator, &b->fns, node)) {
        no_memory(b);
    }
    vyre_fn outer = b->current;
    b->current = fn;
    for (uint32_t i = 0; i < arg_count; i++) {
        (void)add_var(b, arg_names[i], arg_types[i], VYRE_VAR_ARGUMENT);
    }
    b->current = outer;
    return ok(b) ? fn : VYRE_NONE;
}

static void add_effects(vyre_builder *b, const vyre_decl *decls, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (is_decl(b, decls[i], true) && !vyre_vec_push(&b->allocator, &b->args, decls[i])) {
            no_memory(b);
        }
    }
}

void vyre_build_fn_opaque(vyre_builder *b, vyre_fn fn, const vyre_decl *reads, uint32_t read_count,
                          const vyre_decl *writes, uint32_t write_count) {
    if (!ok(b)) {
        return;
    }
    if (fn >= b->fns.count) {
        misuse(b, "no such function");
        return;
    }
    vyre_fn_node *node = &b->fns.data[fn].node;
    node->opaque = true;
    node->first_effect = b->args.count;
    node->reads = read_count;
    node->writes = write_count;
    add_effects(b, reads, read_count);
    add_effects(b, writes, write_count);
}

vyre_var vyre_build_fn_argument(vyre_builder *b, vyre_fn fn, uint32_t index) {
    if (!ok(b)) {
        return VYRE_NONE;
    }
    if (fn >= b->fns.count || index >= b->fns.data[fn].node.arg_count) {
        misuse(b, "no such function or argument");
        return VYRE_NONE;
    }
    return b->fns.data[fn].node.first_var + index;
}

void vyre_build_fn_begin(vyre_builder *b, vyre_fn fn) {
    if (!ok(b)) {
        return;
    }
    if (fn >= b->fns.count || b->current != VYRE_NONE || b->fns.data[fn].begun) {
        misuse(b, "a function body can't begin here");
        return;
    }
    b->fns.data[fn].begun = true;
    b->current = fn;
}

void vyre_build_fn_end(vyre_builder *b) {
    if (!ok(b)) {
        return;
    }
    if (b->current == VYRE_NONE || code(b)->open.count != 0) {
        misuse(b, "a function body can't end here");
        return;
    }
    b->fns.data[b->current].ended = true;
    b->current = VYRE_NONE;
}

/* Finish */

typedef struct layout {
    vyre_program *program;
    vyre_var *renumbered; /* per builder variable */
    uint32_t next_var, next_arg;
} layout;

static vyre_expr tree_first(const body *from, vyre_expr root) {
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

static void lay_exprs(const body *from, uint32_t base, vyre_program *p) {
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
static void lay_body(layout *to, const vyre_builder *b, const body *from, uint32_t stmt_base,
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
static vyre_expr lay_tree(const body *from, vyre_expr root, uint32_t *end, vyre_program *p) {
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
        function *f = &b->fns.data[i];
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
        vyre_expr roots[2] = {VYRE_NONE, VYRE_NONE};
        if (i < b->decls.count) {
            roots[0] = b->decls.data[i].size;
            roots[1] = b->decls.data[i].value;
        } else {
            roots[0] = b->clause[i - b->decls.count];
        }
        for (int k = 0; k < 2; k++) {
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
    if (!ok(b)) {
        return;
    }
    if (b->current != VYRE_NONE || b->entry.open.count != 0) {
        misuse(b, "a statement list or function is still open");
    }
    for (uint32_t i = 0; i < b->fns.count; i++) {
        if (!b->fns.data[i].ended) {
            misuse(b, "a function has no body");
        }
    }
}

vyre_status vyre_builder_finish(vyre_builder *b, vyre_program **out_program, vyre_diag *diag) {
    if (b->finished) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "create a new builder",
                         "the builder is already finished");
    }
    check_complete(b);
    vyre_program_view sizes = {.name = b->name,
                               .workgroup = {b->workgroup[0], b->workgroup[1], b->workgroup[2]},
                               .clause_kind = b->clause_kind,
                               .clause = {b->clause[0], b->clause[1], b->clause[2]}};
    if (ok(b) && !total(b, &sizes)) {
        fail(b, VYRE_LIMIT, "make the program smaller", "the program is too large");
    }
    if (!ok(b)) {
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
