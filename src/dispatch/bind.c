/* Binding: params from settings, buffer sizes from the caller's bytes and from size expressions.
 *
 * Runtime-sized buffers are known at once. A declared size may need the length of any other buffer:
 * evaluation asks for what it misses, which is then evaluated first, on an explicit stack; meeting
 * a declaration that is already on the stack is a cycle. Each size expression is evaluated once
 * more than it has distinct missing operands. Host inputs must have exactly the declared size, so
 * that a program never sees bytes that are not the caller's. */
#include "dispatch/bind.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "base/nearest.h"
#include "ir/size.h"

typedef unsigned long long ull;

enum { UNKNOWN = 0, WAITING, KNOWN };

typedef struct binder {
    const vyre_program *program;
    const vyre_program_view *view;
    const vyre_bind_args *args;
    vyre_arena *arena;
    uint32_t *counts;
    uint64_t *values;
    uint8_t *state; /* of each declaration */
    vyre_decl *stack;
    vyre_decl *inputs, *outputs;
    uint32_t input_count, output_count;
} binder;

uint64_t vyre_binding_bytes(const vyre_binding *binding, vyre_decl decl) {
    const vyre_decl_node *d = &vyre_program_get(binding->program)->decls[decl];
    return (uint64_t)binding->counts[decl] * vyre_type_size((vyre_type)d->type);
}

uint64_t vyre_binding_returned(const vyre_binding *binding, vyre_decl decl, uint64_t *out_begin) {
    const vyre_decl_node *d = &vyre_program_get(binding->program)->decls[decl];
    *out_begin = d->range_begin;
    return d->range_end ? d->range_end - d->range_begin : vyre_binding_bytes(binding, decl);
}

static void list_buffers(binder *b) {
    for (vyre_decl i = 0; i < b->view->decl_count; i++) {
        switch ((vyre_role)b->view->decls[i].role) {
        case VYRE_IN: b->inputs[b->input_count++] = i; break;
        case VYRE_INOUT: b->inputs[b->input_count++] = i; /* fall through */
        case VYRE_OUT: b->outputs[b->output_count++] = i; break;
        case VYRE_SCRATCH:
        case VYRE_WORKGROUP:
        case VYRE_PRIVATE:
        case VYRE_PARAM:
        case VYRE_CONST:
        case VYRE_ROLE_COUNT: break;
        }
    }
}

/* Params */

static vyre_status unknown_setting(const binder *b, const char *name, vyre_diag *diag) {
    vyre_nearest nearest = vyre_nearest_to(name);
    char fix[VYRE_DIAG_FIX] = "the program has no params; leave it out";
    for (vyre_decl i = 0; i < b->view->decl_count; i++) {
        if (b->view->decls[i].role == VYRE_PARAM) {
            vyre_nearest_offer(&nearest, b->view->decls[i].name);
            snprintf(fix, sizeof fix, "set one of the program's params, or leave it out");
        }
    }
    if (nearest.best) {
        snprintf(fix, sizeof fix, "did you mean \"%.200s\"?", nearest.best);
    }
    return vyre_fail(diag, VYRE_INVALID_INPUT, fix, "program %s has no param \"%s\"", b->view->name,
                     name);
}

static vyre_status apply_setting(binder *b, const vyre_setting *setting, vyre_diag *diag) {
    if (!setting->name) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "name the param", "a setting has no name");
    }
    vyre_decl decl = vyre_program_find_decl(b->program, setting->name);
    if (decl == VYRE_NONE || b->view->decls[decl].role != VYRE_PARAM) {
        return unknown_setting(b, setting->name, diag);
    }
    vyre_type type = (vyre_type)b->view->decls[decl].type;
    if (setting->type != type) {
        return vyre_fail(diag, VYRE_INVALID_INPUT, "give a value of the param's type",
                         "param \"%s\" is %s, and a value of type %s was given", setting->name,
                         vyre_type_name(type), vyre_type_name(setting->type));
    }
    if (b->state[decl] == KNOWN) {
        return vyre_fail(diag, VYRE_INVALID_INPUT, "set it once", "param \"%s\" is set twice",
                         setting->name);
    }
    uint32_t bits = 8 * vyre_type_size(type);
    if (type == VYRE_BOOL ? setting->bits > 1 : bits < 64 && setting->bits >> bits != 0) {
        return vyre_fail(diag, VYRE_INVALID_INPUT,
                         "give the value's bits, zero-extended (bool: 0 or 1)",
                         "0x%llx are not the bits of a %s, which is the type of param \"%s\"",
                         (ull)setting->bits, vyre_type_name(type), setting->name);
    }
    b->values[decl] = setting->bits;
    b->state[decl] = KNOWN;
    return VYRE_OK;
}

static vyre_status bind_params(binder *b, vyre_diag *diag) {
    for (uint32_t i = 0; i < b->args->setting_count; i++) {
        vyre_status status = apply_setting(b, &b->args->settings[i], diag);
        if (status != VYRE_OK) {
            return status;
        }
    }
    for (vyre_decl i = 0; i < b->view->decl_count; i++) {
        const vyre_decl_node *d = &b->view->decls[i];
        if (d->role != VYRE_PARAM || b->state[i] == KNOWN) {
            continue;
        }
        if (d->value == VYRE_NONE) {
            return vyre_fail_at(diag, VYRE_INVALID_INPUT, "",
                                vyre_program_decl_place(b->program, i),
                                "set it for this dispatch, or give it a default",
                                "param \"%s\" : %s has no default and was not set", d->name,
                                vyre_type_name((vyre_type)d->type));
        }
        b->values[i] = b->view->exprs[d->value].u.bits;
        b->state[i] = KNOWN;
    }
    return VYRE_OK;
}

/* Sizes */

static bool know_len(void *user, vyre_decl decl, uint64_t *out_count) {
    const binder *b = user;
    *out_count = b->counts[decl];
    return b->state[decl] == KNOWN;
}

static bool know_param(void *user, vyre_decl decl, uint64_t *out_bits) {
    const binder *b = user;
    *out_bits = b->values[decl];
    return true;
}

/* An input that only stands for its size. */
static bool is_omitted(const binder *b, const vyre_input *input) {
    return b->args->only_sizes && !input->data && input->size == 0;
}

static vyre_status bind_runtime_sized(binder *b, vyre_diag *diag) {
    for (uint32_t i = 0; i < b->input_count; i++) {
        const vyre_decl_node *d = &b->view->decls[b->inputs[i]];
        const vyre_input *input = &b->args->inputs[i];
        uint32_t unit = vyre_type_size((vyre_type)d->type);
        vyre_place place = vyre_program_decl_place(b->program, b->inputs[i]);
        if (!input->data && input->size && !b->args->are_resident) {
            return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give the address of its bytes",
                             "input %u, \"%s\", has no data", i + 1, d->name);
        }
        if (d->size != VYRE_NONE) {
            continue;
        }
        if (input->size % unit != 0) {
            return vyre_fail_at(diag, VYRE_INVALID_INPUT, "", place, "give whole elements",
                                "input %u, \"%s\" : %s[], has %zu bytes; expected a multiple of %u",
                                i + 1, d->name, vyre_type_name((vyre_type)d->type), input->size,
                                unit);
        }
        if (input->size / unit > UINT32_MAX) {
            return vyre_fail_at(diag, VYRE_INVALID_INPUT, "", place,
                                "indices are u32: use fewer elements",
                                "input %u, \"%s\", has %zu elements; the most is 4294967295", i + 1,
                                d->name, input->size / unit);
        }
        b->counts[b->inputs[i]] = (uint32_t)(input->size / unit);
        b->state[b->inputs[i]] = KNOWN;
    }
    return VYRE_OK;
}

static vyre_status fail_size(const binder *b, vyre_decl decl, vyre_size_result result,
                             vyre_diag *diag) {
    static const char *const why[] = {
        [VYRE_SIZE_OK] = "is more than 4294967295 elements",
        [VYRE_SIZE_UNKNOWN] = "needs a value that is not known before the run",
        [VYRE_SIZE_DIVISION] = "divides by zero",
        [VYRE_SIZE_RANGE] = "is negative or too large",
        [VYRE_SIZE_OPERATOR] = "uses an operator that sizes do not have",
    };
    return vyre_fail_at(diag, VYRE_INVALID_INPUT, "", vyre_program_decl_place(b->program, decl),
                        "check the lengths and params that the size is computed from",
                        "the size of \"%s\" %s", b->view->decls[decl].name, why[result]);
}

static vyre_status fail_cycle(const binder *b, vyre_decl decl, vyre_decl missing, vyre_diag *diag) {
    return vyre_fail_at(diag, VYRE_INVALID_INPUT, "", vyre_program_decl_place(b->program, decl),
                        "give one of them a size that does not need the others",
                        "the size of \"%s\" needs the length of \"%s\", which needs it in turn",
                        b->view->decls[decl].name, b->view->decls[missing].name);
}

static vyre_status bind_size(binder *b, vyre_decl root, vyre_diag *diag) {
    const vyre_size_env env = {.len = know_len, .param = know_param, .user = b};
    uint32_t top = 0;
    b->stack[top++] = root;
    while (top > 0) {
        vyre_decl decl = b->stack[top - 1], missing = VYRE_NONE;
        const vyre_decl_node *d = &b->view->decls[decl];
        uint64_t count = 0;
        b->state[decl] = WAITING;
        if (d->size == VYRE_NONE) {
            return vyre_fail_at(
                diag, VYRE_INVALID_INPUT, "", vyre_program_decl_place(b->program, decl),
                "only in and inout take their size from the caller's bytes",
                "%s \"%s\" has no size", vyre_role_name((vyre_role)d->role), d->name);
        }
        vyre_size_result result = vyre_size_evaluate(b->view, d->size, &env, &count, &missing);
        if (result == VYRE_SIZE_UNKNOWN && missing != VYRE_NONE &&
            vyre_role_is_memory((vyre_role)b->view->decls[missing].role)) {
            if (b->state[missing] == WAITING) {
                return fail_cycle(b, decl, missing, diag);
            }
            b->stack[top++] = missing;
            continue;
        }
        if (result != VYRE_SIZE_OK || count > UINT32_MAX) {
            return fail_size(b, decl, result, diag);
        }
        b->counts[decl] = (uint32_t)count;
        b->state[decl] = KNOWN;
        top--;
    }
    return VYRE_OK;
}

/* Inputs with a declared size must have it; ranges of outputs must lie inside. */
static vyre_status check_bytes(const binder *b, vyre_diag *diag) {
    for (uint32_t i = 0; i < b->input_count; i++) {
        const vyre_decl_node *d = &b->view->decls[b->inputs[i]];
        const vyre_input *input = &b->args->inputs[i];
        uint32_t unit = vyre_type_size((vyre_type)d->type);
        uint64_t expected = (uint64_t)b->counts[b->inputs[i]] * unit;
        bool may_be_longer = b->args->are_resident;
        if ((may_be_longer ? input->size < expected : input->size != expected) &&
            !is_omitted(b, input)) {
            char fix[VYRE_DIAG_FIX];
            snprintf(fix, sizeof fix, "give %s %llu bytes (%u elements of %u bytes)",
                     b->args->are_resident ? "at least" : "exactly", (ull)expected,
                     b->counts[b->inputs[i]], unit);
            return vyre_fail_at(diag, VYRE_INVALID_INPUT, "",
                                vyre_program_decl_place(b->program, b->inputs[i]), fix,
                                "input %u, \"%s\" : %s[%u]: %llu bytes expected, %zu given", i + 1,
                                d->name, vyre_type_name((vyre_type)d->type),
                                b->counts[b->inputs[i]], (ull)expected, input->size);
        }
    }
    for (uint32_t i = 0; i < b->output_count; i++) {
        const vyre_decl_node *d = &b->view->decls[b->outputs[i]];
        uint64_t bytes = (uint64_t)b->counts[b->outputs[i]] * vyre_type_size((vyre_type)d->type);
        if (d->range_begin > d->range_end || d->range_end > bytes) {
            return vyre_fail_at(diag, VYRE_INVALID_INPUT, "",
                                vyre_program_decl_place(b->program, b->outputs[i]),
                                "return a range that lies inside the buffer",
                                "bytes %u to %u of \"%s\" are to be returned, and it has %llu",
                                d->range_begin, d->range_end, d->name, (ull)bytes);
        }
    }
    return VYRE_OK;
}

/* Dimensions. Sizes are known, so all of them are. */

/* All but the first; the product of those says how long that is. */
static vyre_size_result inner_dimensions(binder *b, vyre_decl decl, uint64_t out[3]) {
    const vyre_size_env env = {.len = know_len, .param = know_param, .user = b};
    vyre_size_result result = VYRE_SIZE_OK;
    for (uint32_t i = 1; i < b->view->decls[decl].rank && result == VYRE_SIZE_OK; i++) {
        const vyre_expr root = vyre_decl_dimension(b->view, decl, i);
        result = vyre_size_evaluate(b->view, root, &env, &out[i], NULL);
        result = result == VYRE_SIZE_OK && out[i] > UINT32_MAX ? VYRE_SIZE_RANGE : result;
    }
    return result;
}

static vyre_status check_dimensions(binder *b, vyre_decl decl, vyre_diag *diag) {
    const vyre_decl_node *d = &b->view->decls[decl];
    uint64_t of[3] = {0, 1, 1};
    const vyre_size_result result = inner_dimensions(b, decl, of);
    uint64_t inner = 0; /* beyond 64 bits there is nothing that it divides */
    if (result != VYRE_SIZE_OK) {
        return fail_size(b, decl, result, diag);
    }
    (void)__builtin_mul_overflow(of[1], of[2], &inner);
    if (d->size != VYRE_NONE) {
        return VYRE_OK;
    }
    if (inner == 0 || b->counts[decl] % inner != 0) {
        return vyre_fail_at(diag, VYRE_INVALID_INPUT, "", vyre_program_decl_place(b->program, decl),
                            "give a multiple of the product of all dimensions but the first",
                            "\"%s\" has %u elements, which are not whole parts of %llu x %llu",
                            d->name, b->counts[decl], (ull)(d->rank == 2 ? 1 : of[1]),
                            (ull)(d->rank == 2 ? of[1] : of[2]));
    }
    return VYRE_OK;
}

static vyre_status check_all_dimensions(binder *b, vyre_diag *diag) {
    vyre_status status = VYRE_OK;
    for (vyre_decl i = 0; i < b->view->decl_count && status == VYRE_OK; i++) {
        if (b->view->decls[i].rank > 1) {
            status = check_dimensions(b, i, diag);
        }
    }
    return status;
}

/* What is swapped has one size, along each dimension. */
static vyre_status check_swap(binder *b, vyre_stmt s, vyre_diag *diag) {
    const vyre_stmt_node *n = &b->view->stmts[s];
    const vyre_place place = vyre_program_stmt_place(b->program, s);
    const char *x = b->view->decls[n->decl].name, *y = b->view->decls[n->decl2].name;
    uint64_t of[2][3] = {{0}};
    if (b->counts[n->decl] != b->counts[n->decl2]) {
        return vyre_fail_at(diag, VYRE_INVALID_INPUT, "", place, "give both as many elements",
                            "\"%s\" has %u elements, and \"%s\", with which it is swapped, %u", x,
                            b->counts[n->decl], y, b->counts[n->decl2]);
    }
    (void)inner_dimensions(b, n->decl, of[0]);
    (void)inner_dimensions(b, n->decl2, of[1]);
    for (uint32_t i = 1; i < 3; i++) {
        if (of[0][i] != of[1][i]) {
            return vyre_fail_at(diag, VYRE_INVALID_INPUT, "", place,
                                "give both the same dimensions",
                                "\"%s\" and \"%s\" are swapped, and their dimension %u is %llu and "
                                "%llu",
                                x, y, i, (ull)of[0][i], (ull)of[1][i]);
        }
    }
    return VYRE_OK;
}

static vyre_status check_swaps(binder *b, vyre_diag *diag) {
    const bool any = b->view->stats.stmt_kinds >> VYRE_STMT_SWAP & 1;
    vyre_status status = VYRE_OK;
    for (vyre_stmt s = 0; any && s < b->view->stmt_count && status == VYRE_OK; s++) {
        if (b->view->stmts[s].op == VYRE_STMT_SWAP) {
            status = check_swap(b, s, diag);
        }
    }
    return status;
}

static vyre_status check_input_count(const binder *b, vyre_diag *diag) {
    uint32_t given = b->args->input_count;
    if (given > b->input_count) {
        return vyre_fail(diag, VYRE_INVALID_INPUT,
                         "give one input for each in and inout buffer, in declaration order",
                         "%u inputs were given, and program %s takes %u", given, b->view->name,
                         b->input_count);
    }
    if (given < b->input_count) {
        return vyre_fail_at(diag, VYRE_INVALID_INPUT, "",
                            vyre_program_decl_place(b->program, b->inputs[given]),
                            "give one input for each in and inout buffer, in declaration order",
                            "input %u of %u, \"%s\", is missing", given + 1, b->input_count,
                            b->view->decls[b->inputs[given]].name);
    }
    return VYRE_OK;
}

static vyre_status bind(binder *b, vyre_diag *diag) {
    list_buffers(b);
    vyre_status status = check_input_count(b, diag);
    if (status == VYRE_OK) {
        status = bind_params(b, diag);
    }
    if (status == VYRE_OK) {
        status = bind_runtime_sized(b, diag);
    }
    for (vyre_decl i = 0; i < b->view->decl_count && status == VYRE_OK; i++) {
        if (vyre_role_is_memory((vyre_role)b->view->decls[i].role) && b->state[i] != KNOWN) {
            status = bind_size(b, i, diag);
        }
    }
    if (status == VYRE_OK) {
        status = check_all_dimensions(b, diag);
    }
    if (status == VYRE_OK) {
        status = check_bytes(b, diag);
    }
    return status != VYRE_OK ? status : check_swaps(b, diag);
}

static bool allocate(binder *b) {
    uint32_t n = b->view->decl_count;
    b->counts = vyre_arena_alloc(b->arena, n, sizeof *b->counts);
    b->values = vyre_arena_alloc(b->arena, n, sizeof *b->values);
    b->state = vyre_arena_alloc(b->arena, n, sizeof *b->state);
    b->stack = vyre_arena_alloc(b->arena, n, sizeof *b->stack);
    b->inputs = vyre_arena_alloc(b->arena, n, sizeof *b->inputs);
    b->outputs = vyre_arena_alloc(b->arena, n, sizeof *b->outputs);
    if (!b->counts || !b->values || !b->state || !b->stack || !b->inputs || !b->outputs) {
        return false;
    }
    memset(b->counts, 0, n * sizeof *b->counts);
    memset(b->values, 0, n * sizeof *b->values);
    memset(b->state, UNKNOWN, n * sizeof *b->state);
    return true;
}

vyre_status vyre_binding_init(vyre_binding *binding, const vyre_program *program,
                              const vyre_bind_args *args, const vyre_allocator *allocator,
                              vyre_diag *diag) {
    vyre_arena_init(&binding->arena, allocator);
    binder b = {.program = program,
                .view = vyre_program_get(program),
                .args = args,
                .arena = &binding->arena};
    vyre_status status = allocate(&b) ? bind(&b, diag) : vyre_fail_memory(diag, "the binding plan");
    if (status != VYRE_OK) {
        vyre_arena_finish(&binding->arena);
        return status;
    }
    binding->program = program;
    binding->counts = b.counts;
    binding->values = b.values;
    binding->inputs = b.inputs;
    binding->outputs = b.outputs;
    binding->input_count = b.input_count;
    binding->output_count = b.output_count;
    return VYRE_OK;
}

void vyre_binding_finish(vyre_binding *binding) {
    vyre_arena_finish(&binding->arena);
}
