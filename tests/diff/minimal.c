/* "ref" as a device that claims the core only. It does not trust what it is given: a program that
 * holds anything else, or that is not valid, is an internal error. */
#include "diff/minimal.h"

#include <stdlib.h>

#include "analysis/conditions.h"
#include "analysis/effects.h"
#include "analysis/shape.h"
#include "base/diag.h"
#include "device/builtin.h"
#include "ir/each.h"
#include "lower/capabilities.h"
#include "vyre/check.h"

static vyre_capabilities core;

static const vyre_device_table *ref(void) {
    return vyre_backend_ref.device;
}

static void describe(vyre_backend_device *device, vyre_device_info *out_info) {
    ref()->describe(device, out_info);
    out_info->level = VYRE_LEVEL_SEGMENT;
    out_info->can = &core;
}

/* Whether some lanes of a group may end before a barrier that others come to. */
static bool ends_before_barrier(const vyre_program_view *p, const vyre_shapes *shapes) {
    vyre_stmt until = p->entry;
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        until = p->stmts[s].op == VYRE_STMT_BARRIER ? s : until;
    }
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        bool loops = n->op == VYRE_STMT_FOR || n->op == VYRE_STMT_WHILE;
        for (vyre_stmt k = s; loops && k < n->match; k++) {
            bool waits = p->stmts[k].op == VYRE_STMT_BARRIER;
            until = waits && n->match > until ? n->match : until;
        }
        if (n->op == VYRE_STMT_EXIT && s < until &&
            !vyre_shape_uniform(vyre_shapes_control(shapes, s - p->entry), VYRE_SHAPE_GROUP)) {
            return true;
        }
    }
    return false;
}

static bool ends_early(const vyre_program *program) {
    vyre_allocator a = vyre_allocator_or_system(NULL);
    vyre_calls calls;
    vyre_effect_map *effects = NULL;
    vyre_shapes *shapes = NULL;
    bool early = vyre_calls_init(&calls, program, &a) != VYRE_OK ||
                 vyre_effects_create(program, &calls, &a, &effects) != VYRE_OK ||
                 vyre_shapes_create_given(program, effects, &a, &shapes) != VYRE_OK ||
                 ends_before_barrier(vyre_program_get(program), shapes);
    vyre_shapes_destroy(shapes);
    vyre_effects_destroy(effects);
    vyre_calls_finish(&calls, &a);
    return early;
}

/* Workgroup memory begins as anything. */

typedef struct minimal_kernel {
    vyre_backend_kernel *inner;
    vyre_program *program;
} minimal_kernel;

static void spoil(vyre_each *each) {
    const vyre_program_view *p = each->rw.p;
    vyre_builder *b = each->rw.to;
    vyre_expr first = vyre_build_bool(b, true);
    for (uint32_t axis = 0; axis < 3; axis++) {
        vyre_expr is_first =
            vyre_build_op(b, VYRE_EXPR_EQ, vyre_build_id(b, VYRE_BUILTIN_LOCAL_ID, axis),
                          vyre_build_u32(b, 0), VYRE_NONE);
        first = vyre_build_op(b, VYRE_EXPR_AND, first, is_first, VYRE_NONE);
    }
    vyre_build_if(b, first);
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        if (p->decls[d].role == VYRE_WORKGROUP) {
            vyre_decl to = each->rw.decls[d];
            vyre_expr i = vyre_build_var(b, vyre_build_for(b, vyre_each_name(each, "_i"),
                                                           vyre_build_u32(b, 0),
                                                           vyre_build_len(b, to), VYRE_NONE));
            vyre_type type = vyre_type_widened((vyre_type)p->decls[d].type);
            vyre_build_store(b, to, i, vyre_build_cast(b, type, vyre_build_u32(b, 1)));
            vyre_build_end(b);
        }
    }
    vyre_build_end(b);
    vyre_build_barrier(b, VYRE_SEQ_CST);
}

static void destroy(vyre_backend_device *device, vyre_backend_kernel *object) {
    minimal_kernel *kernel = (minimal_kernel *)object;
    if (kernel->inner) {
        ref()->destroy(device, kernel->inner);
    }
    vyre_program_release(kernel->program);
    free(kernel);
}

static vyre_status launch(vyre_backend_device *device, vyre_backend_kernel *object,
                          const vyre_launch *one, vyre_launch_result *out_result, vyre_diag *diag) {
    return ref()->launch(device, ((minimal_kernel *)object)->inner, one, out_result, diag);
}

static vyre_status compile(vyre_backend_device *device, const vyre_program *program,
                           vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    vyre_diag item = {0};
    vyre_diag_list list = {.items = &item, .capacity = 1};
    vyre_status status = vyre_can_program(&core, program, &item);
    if (status == VYRE_OK) {
        status = vyre_check(program, NULL, &list);
    }
    if (status == VYRE_OK && ends_early(program)) {
        status = vyre_fail(&item, VYRE_INTERNAL, "", "a lane may end before a barrier");
    }
    if (status != VYRE_OK) {
        return vyre_fail(diag, VYRE_INTERNAL, "", "lowered program %s: line %u: %s",
                         vyre_program_get(program)->name, item.line, item.message);
    }
    const vyre_allocator a = vyre_allocator_or_system(NULL);
    minimal_kernel *kernel = calloc(1, sizeof *kernel);
    status = kernel ? vyre_each_rewrite(program, spoil, NULL, NULL, &a, &kernel->program, diag)
                    : vyre_fail_memory(diag, "a kernel");
    if (status == VYRE_OK) {
        status = ref()->compile(device, kernel->program, &kernel->inner, diag);
    }
    if (status == VYRE_OK) {
        *out_kernel = (vyre_backend_kernel *)kernel;
    } else if (kernel) {
        destroy(device, (vyre_backend_kernel *)kernel);
    }
    return status;
}

vyre_status minimal_add(vyre_registry *registry, vyre_diag *diag) {
    static vyre_device_table table;
    static vyre_backend backend;
    vyre_status status = vyre_capabilities_named("minimal", &core, diag);
    table = *ref();
    table.compile = compile;
    table.destroy = destroy;
    table.launch = launch;
    table.describe = describe;
    backend = vyre_backend_ref;
    backend.name = "ref-minimal";
    backend.device = &table;
    return status == VYRE_OK ? vyre_registry_add(registry, &backend, diag) : status;
}
