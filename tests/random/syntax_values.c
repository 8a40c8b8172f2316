/* Programs for the text form: names, leaves of expressions, declarations. */
#include <stdio.h>
#include <string.h>

#include "ir/names.h"
#include "random/syntax.h"

/* Names */

/* Words that mean something in some place of the grammar but are names elsewhere, and others. */
static const char *const words[] = {"opaque",
                                    "reads",
                                    "writes",
                                    "returns",
                                    "readonly",
                                    "writeonly",
                                    "relaxed",
                                    "acquire",
                                    "sum",
                                    "seq_cst",
                                    "x",
                                    "y",
                                    "_",
                                    "__",
                                    "u",
                                    "l",
                                    "ul",
                                    "e5",
                                    "x1",
                                    "U32",
                                    "If",
                                    "id",
                                    "lane",
                                    "a_longer_name",
                                    "f",
                                    "d",
                                    "i",
                                    "inf",
                                    "nan",
                                    "release",
                                    "world",
                                    "group",
                                    "min",
                                    "swap",
                                    "step",
                                    "global_id",
                                    "atomic_add",
                                    "trap",
                                    "len",
                                    "subgroup_add",
                                    "grid",
                                    "select",
                                    "subgroup_size",
                                    "subgroup_local_id"};

static bool visible(const syntax *s, const char *name) {
    for (uint32_t i = 0; i < s->name_count; i++) {
        if (strcmp(s->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

const char *syntax_name(syntax *s) {
    char *name = s->names[s->name_count];
    const char *word = words[random_below(&s->x, sizeof words / sizeof *words)];
    (void)snprintf(name, NAME, "%s", word);
    while (visible(s, name)) {
        (void)snprintf(name, NAME, "%.12s_%u", word, s->serial++);
    }
    s->name_count++;
    return name;
}

const char *syntax_text(syntax *s, char *room, bool unique) {
    static const char *const texts[] = {
        "",         "a b",  "\"quoted\"",    "back\\slash",    "tab\there", "line\nbreak",
        "\x01\x7f", "grün", "// no comment", "/* nor this */", "{",         "\xe2\x82\xac"};
    const char *text = texts[random_below(&s->x, sizeof texts / sizeof *texts)];
    (void)snprintf(room, TEXT, unique ? "%s%u" : "%s", text, s->serial++);
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

vyre_expr syntax_element(syntax *s, const memory *m, uint32_t depth) {
    vyre_expr indices[3];
    for (uint32_t i = 0; i < m->rank; i++) {
        indices[i] = random_expr(&s->x, VYRE_U32, i == 0 ? depth : depth / 2);
    }
    return vyre_build_element(s->x.b, m->decl, indices);
}

static vyre_expr load_leaf(syntax *s, vyre_type type, uint32_t depth) {
    const uint32_t first = random_below(&s->x, s->memory_count);
    for (uint32_t i = 0; i < s->memory_count; i++) {
        const memory *m = &s->memories[(first + i) % s->memory_count];
        if (vyre_type_widened(m->type) == type && m->reads && (!s->uniform || m->role == VYRE_IN)) {
            return vyre_build_load(s->x.b, m->decl, syntax_element(s, m, depth));
        }
    }
    return VYRE_NONE;
}

static vyre_expr id_leaf(syntax *s) {
    if (random_chance(&s->x, 30)) {
        const memory *m = &s->memories[random_below(&s->x, s->memory_count)];
        return random_chance(&s->x, 50)
                   ? vyre_build_len(s->x.b, m->decl)
                   : vyre_build_dimension(s->x.b, m->decl, random_below(&s->x, m->rank));
    }
    const vyre_builtin id = (vyre_builtin)random_below(&s->x, VYRE_BUILTIN_COUNT);
    if (s->uniform && (id < VYRE_BUILTIN_NUM_GROUPS || id == VYRE_BUILTIN_SUBGROUP_LOCAL_ID)) {
        return VYRE_NONE;
    }
    return vyre_build_id(s->x.b, id, random_below(&s->x, vyre_builtin_axes(id)));
}

vyre_expr syntax_leaf(random_exprs *x, vyre_type type, uint32_t depth) {
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

vyre_expr syntax_expr(syntax *s, vyre_type type) {
    return random_expr(&s->x, type, random_below(&s->x, DEPTH));
}

vyre_expr syntax_uniform_expr(syntax *s, vyre_type type) {
    const bool before = s->uniform;
    s->uniform = true;
    const vyre_expr made = random_expr(&s->x, type, random_below(&s->x, 3));
    s->uniform = before;
    return made;
}

vyre_type syntax_condition_type(syntax *s) {
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

/* Inner dimensions are numbers and params, and sometimes computed. */
static void declare_dimensions(syntax *s, memory *m, vyre_expr first, bool fixed) {
    vyre_builder *b = s->x.b;
    vyre_expr sizes[3] = {first};
    m->rank = s->memory_count == 0 || random_chance(&s->x, 70) ? 1 : 2 + random_below(&s->x, 2);
    for (uint32_t i = 1; i < m->rank; i++) {
        sizes[i] = vyre_build_size(b, 1 + random_below(&s->x, 4));
        if (!fixed && random_chance(&s->x, 30)) {
            sizes[i] = vyre_build_op(b, random_chance(&s->x, 50) ? VYRE_EXPR_ADD : VYRE_EXPR_DIV,
                                     vyre_build_len(b, s->memories[0].decl), sizes[i], VYRE_NONE);
        }
    }
    if (m->rank > 1) {
        vyre_build_decl_dimensions(b, m->decl, sizes, m->rank);
    }
}

void syntax_declare_memory(syntax *s) {
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
    m->decl = vyre_build_memory(s->x.b, m->role, syntax_name(s), m->type, size);
    declare_dimensions(s, m, size, fixed);
    m->writes = m->role != VYRE_IN;
    if (m->rank == 1 && (m->role == VYRE_INOUT || m->role == VYRE_OUT) &&
        random_chance(&s->x, 30)) {
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

void syntax_declare_value(syntax *s) {
    const vyre_type type = random_type(&s->x);
    const bool constant = random_chance(&s->x, 50);
    vyre_decl decl;
    if (constant) {
        s->only_consts = true;
        const vyre_expr value = random_expr(&s->x, type, random_below(&s->x, 3));
        s->only_consts = false;
        decl = vyre_build_const(s->x.b, syntax_name(s), value);
    } else {
        const bool special = vyre_type_is_float(type) && random_chance(&s->x, 30);
        const vyre_expr value = random_chance(&s->x, 30) ? VYRE_NONE
                                : special                ? special_default(s, type)
                                                         : random_literal(&s->x, type);
        decl = vyre_build_param(s->x.b, syntax_name(s), type, value);
    }
    s->values[s->value_count] = decl;
    s->value_types[s->value_count] = type;
    s->value_is_const[s->value_count++] = constant;
}

void syntax_declare_fn(syntax *s) {
    function *f = &s->fns[s->fn_count];
    const uint32_t outer = s->name_count;
    char names[ARGS][NAME];
    const char *arg_names[ARGS];
    char name[NAME];
    f->opaque = random_chance(&s->x, 25);
    f->arg_count = random_below(&s->x, ARGS + 1);
    f->result = random_chance(&s->x, 60) ? random_type(&s->x) : VYRE_VOID;
    const char *made = syntax_name(s);
    if (vyre_name_is_operation(made, strlen(made))) {
        (void)snprintf(s->names[s->name_count - 1], NAME, "fn_%u", s->serial++);
    }
    (void)snprintf(name, sizeof name, "%s", made);
    for (uint32_t i = 0; i < f->arg_count; i++) {
        f->args[i] = random_type(&s->x);
        (void)snprintf(names[i], NAME, "arg%u", s->serial++);
        arg_names[i] = names[i];
    }
    s->name_count = outer + 1;
    f->fn = vyre_build_fn(s->x.b, name, arg_names, f->args, f->arg_count, f->result);
    s->fn_count++;
}

void syntax_declare_header(syntax *s) {
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
