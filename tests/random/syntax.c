/* Random programs for the text form: whatever the language has, valid but meaningless.
 *
 * Everything is declared first, then functions in order (a body calls only functions before it),
 * then the entry body. A statement that waits for other lanes stands only where control is uniform
 * by construction: conditions there are built from literals, params, consts, lengths, sizes, loads
 * from `in` buffers at such indices, and variables that are only ever assigned such values where
 * control is uniform. Lanes leave such a loop only where control is uniform. */
#include <stdio.h>

#include "random/exprs.h"
#include "random/random_program.h"

enum { DECLS = 14, FNS = 4, ARGS = 4, LOCALS = 64, DEPTH = 5, NAME = 24, PENDING = 3 };

typedef struct memory {
    vyre_decl decl;
    vyre_role role;
    vyre_type type;
    bool reads, writes; /* as far as the body being built may */
    vyre_access access;
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
    uint32_t budget; /* statements left */
    bool only_consts;
    bool indirect; /* may still come */
} syntax;

/* Names */

/* Words that mean something in some place of the grammar but are names elsewhere, and others. */
static const char *const words[] = {
    "opaque", "reads",   "writes", "returns", "readonly", "writeonly", "relaxed", "acquire",
    "sum",    "seq_cst", "x",      "y",       "_",        "__",        "u",       "l",
    "ul",     "e5",      "x1",     "U32",     "If",       "id",        "lane",    "a_longer_name",
    "f",      "d",       "i",      "inf",     "nan",      "release",   "world",   "group"};

static bool visible(const syntax *s, const char *name) {
    for (uint32_t i = 0; i < s->name_count; i++) {
        if (strcmp(s->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* A name that nothing visible has; it is visible from now on. */
static const char *new_name(syntax *s) {
    char *name = s->names[s->name_count];
    const char *word = words[random_below(&s->x, sizeof words / sizeof *words)];
    (void)snprintf(name, NAME, "%s", word);
    while (visible(s, name)) {
        (void)snprintf(name, NAME, "%.12s_%u", word, s->serial++);
    }
    s->name_count++;
    return name;
}

/* Text in quotes: a region's name or a tag. */
static const char *new_text(syntax *s, char *room, bool unique) {
    static const char *const texts[] = {
        "",         "a b",  "\"quoted\"",    "back\\slash",    "tab\there", "line\nbreak",
        "\x01\x7f", "grün", "// no comment", "/* nor this */", "{",         "\xe2\x82\xac"};
    const char *text = texts[random_below(&s->x, sizeof texts / sizeof *texts)];
    (void)snprintf(room, 2 * NAME, unique ? "%s%u" : "%s", text, s->serial++);
    return room;
}

/* Leaves */

static vyre_expr value_leaf(syntax *s, vyre_type type) {
    const uint32_t first = s->value_count == 0 ? 0 : random_below(&s->x, s->value_count);
    for (uint32_t i = 0; i < s->value_count; i++) {
        const uint32_t k = (first + i) % s->value_count;
        if (s->value_types[k] == type && (!s->only_consts || s->value_is_const[k])) {
            return vyre_build_ref(s->x.b, s->values[k]);
        }
    }
    return VYRE_NONE;
}

static vyre_expr local_leaf(syntax *s, vyre_type type) {
    const uint32_t first = s->local_count == 0 ? 0 : random_below(&s->x, s->local_count);
    for (uint32_t i = 0; i < s->local_count; i++) {
        const local *l = &s->locals[(first + i) % s->local_count];
        if (l->type == type && (!s->uniform || l->uniform)) {
            return vyre_build_var(s->x.b, l->var);
        }
    }
    return VYRE_NONE;
}

static vyre_expr load_leaf(syntax *s, vyre_type type, uint32_t depth) {
    const uint32_t first = random_below(&s->x, s->memory_count);
    for (uint32_t i = 0; i < s->memory_count; i++) {
        const memory *m = &s->memories[(first + i) % s->memory_count];
        if (vyre_type_widened(m->type) == type && m->reads && (!s->uniform || m->role == VYRE_IN)) {
            return vyre_build_load(s->x.b, m->decl, random_expr(&s->x, VYRE_U32, depth));
        }
    }
    return VYRE_NONE;
}

static vyre_expr id_leaf(syntax *s) {
    if (random_chance(&s->x, 30)) {
        return vyre_build_len(s->x.b, s->memories[random_below(&s->x, s->memory_count)].decl);
    }
    const vyre_builtin id = (vyre_builtin)random_below(&s->x, VYRE_BUILTIN_COUNT);
    if (s->uniform && (id < VYRE_BUILTIN_NUM_GROUPS || id == VYRE_BUILTIN_SUBGROUP_LOCAL_ID)) {
        return VYRE_NONE;
    }
    return vyre_build_id(s->x.b, id, random_below(&s->x, vyre_builtin_axes(id)));
}

static vyre_expr leaf(random_exprs *x, vyre_type type, uint32_t depth) {
    syntax *s = (syntax *)x;
    if (s->only_consts) {
        return value_leaf(s, type);
    }
    switch (random_below(x, 5)) {
    case 0: return value_leaf(s, type);
    case 1: return load_leaf(s, type, depth);
    case 2: return type == VYRE_U32 ? id_leaf(s) : VYRE_NONE;
    default: return local_leaf(s, type);
    }
}

static vyre_expr expr(syntax *s, vyre_type type) {
    return random_expr(&s->x, type, random_below(&s->x, DEPTH));
}

static vyre_expr uniform_expr(syntax *s, vyre_type type) {
    const bool before = s->uniform;
    s->uniform = true;
    const vyre_expr made = random_expr(&s->x, type, random_below(&s->x, 3));
    s->uniform = before;
    return made;
}

static vyre_type condition_type(syntax *s) {
    return random_chance(&s->x, 70) ? VYRE_BOOL : VYRE_U32;
}

/* Declarations */

/* A number of elements, exact, at least 1; *out_known is it, or 0 if it depends on a length. */
static vyre_expr size_expr(syntax *s, bool constant, uint32_t *out_known) {
    vyre_builder *b = s->x.b;
    static const vyre_expr_op ops[] = {VYRE_EXPR_ADD, VYRE_EXPR_MUL, VYRE_EXPR_MAX, VYRE_EXPR_DIV,
                                       VYRE_EXPR_SHL, VYRE_EXPR_MIN, VYRE_EXPR_REM, VYRE_EXPR_SUB};
    const uint32_t m = 1 + random_below(&s->x, 40), n = 1 + random_below(&s->x, 4);
    const vyre_expr right = vyre_build_size(b, n);
    vyre_expr left = vyre_build_size(b, m);
    const vyre_expr_op op = ops[random_below(&s->x, 8)];
    *out_known = 0;
    if (!constant && s->memory_count > 0 && random_chance(&s->x, 40)) {
        left = vyre_build_len(b, s->memories[random_below(&s->x, s->memory_count)].decl);
        return vyre_build_op(b, VYRE_EXPR_MAX, vyre_build_op(b, op, left, right, VYRE_NONE),
                             vyre_build_size(b, 1), VYRE_NONE);
    }
    switch ((uint32_t)op) {
    case VYRE_EXPR_ADD: *out_known = m + n; break;
    case VYRE_EXPR_MUL: *out_known = m * n; break;
    case VYRE_EXPR_MAX: *out_known = m > n ? m : n; break;
    default:
        *out_known = m;
        return random_chance(&s->x, 50)
                   ? left
                   : vyre_build_op(b, VYRE_EXPR_SUB, vyre_build_size(b, m + 5),
                                   vyre_build_op(b, VYRE_EXPR_NEG, vyre_build_size(b, -5),
                                                 VYRE_NONE, VYRE_NONE),
                                   VYRE_NONE);
    }
    return vyre_build_op(b, op, left, right, VYRE_NONE);
}

static void declare_range(syntax *s, vyre_decl decl, vyre_type type, uint32_t elements) {
    const uint32_t bytes = (elements == 0 ? 1 : elements) * vyre_type_size(type);
    const uint32_t begin = random_below(&s->x, bytes);
    vyre_build_output_range(s->x.b, decl, begin, begin + 1 + random_below(&s->x, bytes - begin));
}

static void declare_memory(syntax *s) {
    static const vyre_role roles[] = {VYRE_IN,      VYRE_IN,        VYRE_INOUT,  VYRE_OUT,
                                      VYRE_SCRATCH, VYRE_WORKGROUP, VYRE_PRIVATE};
    memory *m = &s->memories[s->memory_count];
    *m = (memory){.role = roles[random_below(&s->x, 7)], .reads = true};
    m->type = (vyre_type)(VYRE_BOOL + random_below(&s->x, VYRE_TYPE_COUNT - 1));
    if (s->memory_count == 0) { /* something uniform to load, and of a common type */
        m->role = VYRE_IN;
        m->type = VYRE_U32;
    }
    uint32_t known = 0;
    vyre_expr size = VYRE_NONE;
    const bool fixed = m->role == VYRE_WORKGROUP || m->role == VYRE_PRIVATE;
    if (m->role > VYRE_INOUT || random_chance(&s->x, 60)) {
        size = size_expr(s, fixed, &known);
    }
    m->decl = vyre_build_memory(s->x.b, m->role, new_name(s), m->type, size);
    m->writes = m->role != VYRE_IN;
    if ((m->role == VYRE_INOUT || m->role == VYRE_OUT) && random_chance(&s->x, 30)) {
        declare_range(s, m->decl, m->type, known);
    }
    if (m->role <= VYRE_OUT && random_chance(&s->x, 10)) {
        m->access =
            m->role == VYRE_IN || random_chance(&s->x, 50) ? VYRE_ACCESS_READ : VYRE_ACCESS_WRITE;
        m->writes &= m->access == VYRE_ACCESS_WRITE;
        m->reads = m->access == VYRE_ACCESS_READ;
        vyre_build_access(s->x.b, m->decl, m->access);
    }
    s->memory_count++;
}

/* Bits that are no literal: infinity or NaN. */
static vyre_expr special_default(syntax *s, vyre_type type) {
    const vyre_type bits = type == VYRE_F32 ? VYRE_U32 : VYRE_U64;
    const uint64_t value = type == VYRE_F32 ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000);
    return vyre_build_bitcast(s->x.b, type,
                              vyre_build_literal(s->x.b, bits, value + random_below(&s->x, 2)));
}

static void declare_value(syntax *s) {
    const vyre_type type = random_type(&s->x);
    const bool constant = random_chance(&s->x, 50);
    vyre_decl decl;
    if (constant) {
        s->only_consts = true;
        const vyre_expr value = random_expr(&s->x, type, random_below(&s->x, 3));
        s->only_consts = false;
        decl = vyre_build_const(s->x.b, new_name(s), value);
    } else {
        const bool special = vyre_type_is_float(type) && random_chance(&s->x, 30);
        const vyre_expr value = random_chance(&s->x, 30) ? VYRE_NONE
                                : special                ? special_default(s, type)
                                                         : random_literal(&s->x, type);
        decl = vyre_build_param(s->x.b, new_name(s), type, value);
    }
    s->values[s->value_count] = decl;
    s->value_types[s->value_count] = type;
    s->value_is_const[s->value_count++] = constant;
}

static void declare_fn(syntax *s) {
    function *f = &s->fns[s->fn_count];
    const uint32_t outer = s->name_count;
    char names[ARGS][NAME];
    const char *arg_names[ARGS];
    char name[NAME];
    f->opaque = random_chance(&s->x, 25);
    f->arg_count = random_below(&s->x, ARGS + 1);
    f->result = random_chance(&s->x, 60) ? random_type(&s->x) : VYRE_VOID;
    (void)snprintf(name, sizeof name, "%s", new_name(s));
    for (uint32_t i = 0; i < f->arg_count; i++) {
        f->args[i] = random_type(&s->x);
        (void)snprintf(names[i], NAME, "arg%u", s->serial++);
        arg_names[i] = names[i];
    }
    s->name_count = outer + 1;
    f->fn = vyre_build_fn(s->x.b, name, arg_names, f->args, f->arg_count, f->result);
    s->fn_count++;
}

static void declare_header(syntax *s) {
    vyre_builder *b = s->x.b;
    uint32_t size[3] = {1 + random_below(&s->x, 64), 1, 1}, known;
    for (uint32_t axis = 1; axis < 3; axis++) {
        size[axis] = random_chance(&s->x, 20) ? 1 + random_below(&s->x, 4) : 1;
    }
    const uint32_t active = (uint32_t)(size[0] > 1) + (size[1] > 1) + (size[2] > 1);
    vyre_build_workgroup(b, size[0], size[1], size[2]);
    switch (random_below(&s->x, 4)) {
    case 0: s->indirect = true; break;
    case 1:
        if (active <= 1) {
            vyre_build_elements(b, size_expr(s, false, &known));
        }
        break;
    default: {
        vyre_expr axes[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
        const uint32_t count = 1 + random_below(&s->x, 3);
        for (uint32_t i = 0; i < count; i++) {
            axes[i] = size_expr(s, false, &known);
        }
        vyre_build_grid(b, axes[0], axes[1], axes[2]);
    }
    }
}

/* Statements */

static void list(syntax *s, place at);

static void add_local(syntax *s, vyre_var var, bool loops, bool uniform) {
    if (s->local_count < LOCALS) {
        s->locals[s->local_count++] = (local){.var = var,
                                              .type = vyre_builder_var_type(s->x.b, var),
                                              .loops = loops,
                                              .uniform = uniform};
    }
}

static const memory *pick(syntax *s, bool (*fits)(const memory *m)) {
    const uint32_t first = random_below(&s->x, s->memory_count);
    for (uint32_t i = 0; i < s->memory_count; i++) {
        const memory *m = &s->memories[(first + i) % s->memory_count];
        if (fits(m)) {
            return m;
        }
    }
    return NULL;
}

static bool readable(const memory *m) {
    return m->reads;
}
static bool writable(const memory *m) {
    return m->writes;
}
static bool atomic(const memory *m) {
    return m->writes && m->reads && m->access == VYRE_ACCESS_FULL && m->role != VYRE_PRIVATE &&
           vyre_type_computes(m->type) && m->type != VYRE_BOOL;
}
static bool shared(const memory *m) {
    return m->writes && m->role <= VYRE_SCRATCH;
}
static bool buffer(const memory *m) {
    return m->role <= VYRE_SCRATCH;
}

static void add_let(syntax *s, place at) {
    const bool uniform = at.uniform && random_chance(&s->x, 50);
    const vyre_type type = random_type(&s->x);
    const vyre_expr value = uniform ? uniform_expr(s, type) : expr(s, type);
    add_local(s, vyre_build_let(s->x.b, new_name(s), value), false, uniform);
}

static void add_assign(syntax *s, place at) {
    if (s->local_count == 0) {
        return;
    }
    const local *l = &s->locals[random_below(&s->x, s->local_count)];
    if (!l->loops && (!l->uniform || at.uniform)) {
        vyre_build_assign(s->x.b, l->var, l->uniform ? uniform_expr(s, l->type) : expr(s, l->type));
    }
}

static void add_store(syntax *s) {
    const memory *m = pick(s, writable);
    if (m) {
        const vyre_expr index = expr(s, VYRE_U32);
        vyre_build_store(s->x.b, m->decl, index, expr(s, vyre_type_widened(m->type)));
    }
}

static void add_atomic(syntax *s) {
    const memory *m = pick(s, atomic);
    if (!m) {
        return;
    }
    vyre_atomic_op op = (vyre_atomic_op)random_below(&s->x, VYRE_ATOMIC_COUNT);
    op = vyre_type_is_float(m->type) ? VYRE_ATOMIC_ADD : op;
    const bool compares = op == VYRE_ATOMIC_CAS || op == VYRE_ATOMIC_CAS_WEAK;
    const vyre_expr index = expr(s, VYRE_U32);
    const vyre_expr expected = compares ? expr(s, m->type) : VYRE_NONE;
    const vyre_expr value = expr(s, m->type);
    const char *name = random_chance(&s->x, 50) ? new_name(s) : NULL;
    const vyre_var var = vyre_build_atomic(s->x.b, name, op, m->decl, index, expected, value,
                                           (vyre_ordering)random_below(&s->x, VYRE_ORDERING_COUNT));
    if (name) {
        add_local(s, var, false, false);
    }
}

static void add_subgroup(syntax *s) {
    const vyre_subgroup_op op = (vyre_subgroup_op)random_below(&s->x, VYRE_SUBGROUP_COUNT);
    vyre_type type;
    do {
        type = random_type(&s->x);
    } while (!vyre_operands_accept(vyre_subgroup_operands(op), 0, type));
    const vyre_expr value = expr(s, type);
    const vyre_expr lane = op == VYRE_SUBGROUP_SHUFFLE ? expr(s, VYRE_U32) : VYRE_NONE;
    add_local(s, vyre_build_subgroup(s->x.b, new_name(s), op, value, lane), false, false);
}

static void add_call(syntax *s, place at) {
    const function *f = s->callable ? &s->fns[random_below(&s->x, s->callable)] : NULL;
    if (!f || (f->waits && !at.uniform)) {
        return;
    }
    vyre_expr args[ARGS];
    for (uint32_t i = 0; i < f->arg_count; i++) {
        args[i] = expr(s, f->args[i]);
    }
    const char *name = f->result != VYRE_VOID && random_chance(&s->x, 70) ? new_name(s) : NULL;
    const vyre_var var = vyre_build_call(s->x.b, name, f->fn, args, f->arg_count);
    if (name) {
        add_local(s, var, false, false);
    }
}

static void add_if(syntax *s, place at) {
    const bool uniform = at.uniform && random_chance(&s->x, 60);
    const vyre_type type = condition_type(s);
    place inside = at;
    inside.uniform = uniform;
    inside.depth++;
    vyre_build_if(s->x.b, uniform ? uniform_expr(s, type) : expr(s, type));
    list(s, inside);
    if (random_chance(&s->x, 50)) {
        vyre_build_else(s->x.b);
        list(s, inside);
    }
    vyre_build_end(s->x.b);
}

static void add_loop(syntax *s, place at) {
    const bool uniform = at.uniform && random_chance(&s->x, 60);
    const uint32_t locals = s->local_count, names = s->name_count;
    const place inside = {
        .uniform = uniform, .loop = true, .loop_uniform = uniform, .depth = at.depth + 1};
    if (random_chance(&s->x, 40)) {
        const vyre_type type = condition_type(s);
        vyre_build_while(s->x.b, uniform ? uniform_expr(s, type) : expr(s, type));
    } else {
        vyre_expr bounds[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
        const uint32_t count = 2 + random_below(&s->x, 2);
        for (uint32_t i = 0; i < count; i++) {
            bounds[i] = uniform ? uniform_expr(s, VYRE_U32) : expr(s, VYRE_U32);
        }
        if (bounds[2] != VYRE_NONE) { /* a constant step of 0 is refused */
            bounds[2] = vyre_build_op(s->x.b, VYRE_EXPR_MAX, bounds[2], vyre_build_u32(s->x.b, 1),
                                      VYRE_NONE);
        }
        add_local(s, vyre_build_for(s->x.b, new_name(s), bounds[0], bounds[1], bounds[2]), true,
                  uniform);
    }
    list(s, inside);
    vyre_build_end(s->x.b);
    s->local_count = locals;
    s->name_count = names;
}

static void add_block(syntax *s, place at) {
    char text[2 * NAME];
    at.depth++;
    if (random_chance(&s->x, 50)) {
        vyre_build_block(s->x.b);
    } else {
        vyre_build_region(s->x.b, new_text(s, text, false));
    }
    list(s, at);
    vyre_build_end(s->x.b);
}

static void add_leaving(syntax *s, place at) {
    char text[2 * NAME];
    const bool jumps = at.loop && (at.uniform || !at.loop_uniform);
    switch (random_below(&s->x, 6)) {
    case 0: vyre_build_exit(s->x.b); break;
    case 1: vyre_build_trap(s->x.b, new_text(s, text, false), expr(s, VYRE_U32)); break;
    case 2:
    case 3:
        if (jumps) {
            vyre_build_break(s->x.b);
        }
        break;
    default:
        if (jumps) {
            vyre_build_continue(s->x.b);
        }
    }
}

static void add_collective(syntax *s) {
    const memory *m = pick(s, shared), *from = pick(s, buffer);
    if (!m || m->access != VYRE_ACCESS_FULL) {
        return;
    }
    const vyre_expr group = random_chance(&s->x, 50) ? random_literal(&s->x, VYRE_U32) : VYRE_NONE;
    const uint32_t ops = vyre_type_is_float(m->type) ? VYRE_COLLECTIVE_AND : VYRE_COLLECTIVE_COUNT;
    const vyre_collective_op op = (vyre_collective_op)random_below(&s->x, ops);
    const bool pair = from && from->reads && from->type == m->type;
    switch (random_below(&s->x, 4)) {
    case 0:
        if (m->type != VYRE_BOOL) {
            vyre_build_all_reduce(s->x.b, m->decl, op, group);
        }
        break;
    case 1: vyre_build_broadcast(s->x.b, m->decl, uniform_expr(s, VYRE_U32), group); break;
    case 2:
        if (pair) {
            vyre_build_all_gather(s->x.b, from->decl, m->decl, group);
        }
        break;
    default:
        if (pair && m->type != VYRE_BOOL) {
            vyre_build_reduce_scatter(s->x.b, from->decl, m->decl, op, group);
        }
    }
}

/* What waits for lanes; only where control is uniform. */
static void add_wait(syntax *s) {
    static const vyre_ordering orderings[] = {VYRE_SEQ_CST, VYRE_ACQUIRE, VYRE_RELEASE,
                                              VYRE_ACQ_REL};
    switch (random_below(&s->x, 4)) {
    case 0: vyre_build_barrier(s->x.b, orderings[random_below(&s->x, 4)]); break;
    case 1: vyre_build_grid_sync(s->x.b); break;
    case 2: add_subgroup(s); break;
    default: add_collective(s);
    }
}

/* Begins a copy; true if there is now a tag to wait for. */
static bool begin_copy(syntax *s, char *tag) {
    const memory *from = pick(s, readable), *to = pick(s, writable);
    if (!from || !to) {
        return false;
    }
    const vyre_expr offset = expr(s, VYRE_U32), size = expr(s, VYRE_U32);
    (void)new_text(s, tag, true);
    if (random_chance(&s->x, 50)) {
        vyre_build_async_load(s->x.b, from->decl, to->decl, offset, size, tag);
    } else {
        vyre_build_async_store(s->x.b, from->decl, to->decl, offset, size, tag);
    }
    return true;
}

static void add_stmt(syntax *s, place at) {
    const bool nests = at.depth < DEPTH;
    switch (random_below(&s->x, 16)) {
    case 0:
    case 1:
    case 2: add_let(s, at); break;
    case 3:
    case 4: add_assign(s, at); break;
    case 5:
    case 6: add_store(s); break;
    case 7: add_atomic(s); break;
    case 8: add_call(s, at); break;
    case 9:
    case 10:
        if (nests) {
            add_if(s, at);
        }
        break;
    case 11:
        if (nests) {
            add_loop(s, at);
        }
        break;
    case 12:
        if (nests) {
            add_block(s, at);
        }
        break;
    case 13: add_leaving(s, at); break;
    default:
        if (at.uniform) {
            add_wait(s);
        }
    }
}

static void list(syntax *s, place at) {
    char tags[PENDING][2 * NAME];
    uint32_t pending = 0;
    const uint32_t locals = s->local_count, names = s->name_count;
    for (uint32_t i = random_below(&s->x, at.depth == 0 ? 14 : 6); i > 0 && s->budget > 0; i--) {
        s->budget--;
        if (pending < PENDING && random_chance(&s->x, 5)) {
            pending += begin_copy(s, tags[pending]);
        } else if (pending > 0 && random_chance(&s->x, 20)) {
            vyre_build_async_wait(s->x.b, tags[--pending]);
        } else if (s->local_count < LOCALS - 2) {
            add_stmt(s, at);
        }
    }
    while (pending > 0) {
        vyre_build_async_wait(s->x.b, tags[--pending]);
    }
    s->local_count = locals;
    s->name_count = names;
}

/* An opaque function touches what it declares, and waits for nobody. */
static void declare_effects(syntax *s, const function *f, memory *kept) {
    vyre_decl reads[DECLS], writes[DECLS];
    uint32_t read_count = 0, write_count = 0;
    memcpy(kept, s->memories, sizeof s->memories);
    for (uint32_t i = 0; i < s->memory_count; i++) {
        memory *m = &s->memories[i];
        const bool named = m->role != VYRE_PRIVATE;
        m->reads &= random_chance(&s->x, 50);
        m->writes &= random_chance(&s->x, 50);
        if (named && m->reads) {
            reads[read_count++] = m->decl;
        }
        if (named && m->writes) {
            writes[write_count++] = m->decl;
        }
    }
    vyre_build_fn_opaque(s->x.b, f->fn, reads, read_count, writes, write_count);
}

static void define_fn(syntax *s, uint32_t number) {
    function *f = &s->fns[number];
    memory kept[DECLS];
    const uint32_t names = s->name_count;
    if (f->opaque) {
        declare_effects(s, f, kept);
    }
    f->waits = !f->opaque && random_chance(&s->x, 40);
    s->callable = f->opaque ? 0 : number;
    s->local_count = 0;
    s->budget = 12;
    vyre_build_fn_begin(s->x.b, f->fn);
    for (uint32_t i = 0; i < f->arg_count; i++) {
        add_local(s, vyre_build_fn_argument(s->x.b, f->fn, i), false, false);
    }
    list(s, (place){.uniform = f->waits, .depth = 1});
    if (f->result != VYRE_VOID) {
        vyre_build_return(s->x.b, expr(s, f->result));
    } else if (random_chance(&s->x, 30)) {
        vyre_build_return(s->x.b, VYRE_NONE);
    }
    vyre_build_fn_end(s->x.b);
    s->local_count = 0;
    s->name_count = names;
    if (f->opaque) {
        memcpy(s->memories, kept, sizeof kept);
    }
}

static void define_entry(syntax *s) {
    s->callable = s->fn_count;
    s->budget = 16 + random_below(&s->x, 40);
    if (s->indirect && random_chance(&s->x, 50)) {
        vyre_build_indirect_dispatch(s->x.b, pick(s, buffer)->decl,
                                     vyre_build_u32(s->x.b, 4 * random_below(&s->x, 5)));
    }
    list(s, (place){.uniform = true});
}

vyre_status random_syntax(uint64_t seed, vyre_program **out_program, vyre_diag *diag) {
    syntax s = {.x = {.state = seed, .leaf = leaf}};
    vyre_status status = vyre_builder_create(NULL, "p", &s.x.b);
    if (status != VYRE_OK) {
        return status;
    }
    const uint32_t memories = 3 + random_below(&s.x, DECLS - 3);
    for (uint32_t i = 0; i < memories; i++) {
        declare_memory(&s);
        if (s.value_count < DECLS && random_chance(&s.x, 40)) {
            declare_value(&s);
        }
    }
    declare_header(&s);
    for (uint32_t i = random_below(&s.x, FNS + 1); i > 0; i--) {
        declare_fn(&s);
    }
    for (uint32_t i = 0; i < s.fn_count; i++) {
        define_fn(&s, i);
    }
    define_entry(&s);
    status = vyre_builder_finish(s.x.b, out_program, diag);
    vyre_builder_destroy(s.x.b);
    return status;
}
