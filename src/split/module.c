/* Modules: ownership and look-up. */
#include "split/module.h"

const vyre_module_view *vyre_module_get(const vyre_module *module) {
    return &module->view;
}

vyre_module *vyre_module_retain(vyre_module *module) {
    if (module) {
        atomic_fetch_add_explicit(&module->references, 1, memory_order_relaxed);
    }
    return module;
}

void vyre_module_release(vyre_module *module) {
    if (!module || atomic_fetch_sub_explicit(&module->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    const vyre_allocator a = module->allocator;
    const vyre_module_view *v = &module->view;
    for (uint32_t i = 0; module->segments && i < v->segment_count; i++) {
        if (module->changing) {
            vyre_vec_free(&a, &module->changing[i].scalars);
            vyre_vec_free(&a, &module->changing[i].others);
        }
        if (module->decls && module->segments[i]) {
            vyre_free(&a, module->decls[i], vyre_program_get(module->segments[i])->decl_count,
                      sizeof **module->decls);
        }
        vyre_program_release(module->segments[i]);
    }
    vyre_free(&a, module->decls, module->segment_room, sizeof *module->decls);
    vyre_free(&a, module->changing, module->segment_room, sizeof *module->changing);
    vyre_program_release(module->control);
    vyre_control_code_finish(&module->code, &a);
    vyre_free(&a, module->step_code, v->step_count, sizeof *module->step_code);
    vyre_free(&a, module->scalars, v->scalar_count, sizeof *module->scalars);
    vyre_free(&a, module->exchanges, module->exchange_room, sizeof *module->exchanges);
    vyre_free(&a, module->swapped, module->swapped_room, sizeof *module->swapped);
    vyre_free(&a, module->place_of, module->place_room, sizeof *module->place_of);
    vyre_free(&a, module->segments, module->segment_room, sizeof(*module->segments));
    vyre_free(&a, module->steps, v->step_count, sizeof *module->steps);
    vyre_free(&a, module->carries, v->carry_count, sizeof *module->carries);
    vyre_free(&a, module->buffers, v->buffer_count, sizeof *module->buffers);
    vyre_free(&a, module->buffer_names, v->buffer_count, sizeof *module->buffer_names);
    vyre_free(&a, module->regions, v->region_count, sizeof *module->regions);
    vyre_bases_finish(&module->bases, &a);
    vyre_barriers_finish(&module->barriers, &a);
    vyre_vec_free(&a, &module->conditions);
    vyre_vec_free(&a, &module->cuts);
    vyre_vec_free(&a, &module->lives);
    vyre_free(&a, module->first_life, (size_t)v->carry_count + 1, sizeof *module->first_life);
    vyre_free(&a, module->life_tree, 2 * (size_t)module->life_leaves, sizeof *module->life_tree);
    vyre_free(&a, module->origin, module->origin_count, sizeof *module->origin);
    vyre_program_release(module->source);
    vyre_program_release(module->inlined);
    vyre_free(&a, module, 1, sizeof *module);
}

const vyre_module_names *vyre_module_names_of(const vyre_module *module) {
    return &module->names;
}

bool vyre_contains_grid_sync(const vyre_program *program) {
    return !vyre_program_has_no_grid_sync(program);
}
