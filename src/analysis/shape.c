/* Shapes of a program: build the graph, solve, and settle the loads.
 *
 * Which loads are uniform depends on where lanes part, and where lanes part depends on loads. Both
 * only grow, so alternating until nothing changes gives the least answer; after a few rounds, which
 * real programs never need, every branch is taken as parting, which is safe and final. So it is
 * with memory that all groups fill alike.
 *
 * What is known of numbers (shape_bounds.c, shape_index.c) is found when first something depends on
 * it: a load at an index that lanes share, from memory that is written, or a loop whose start
 * varies. Most programs have neither, and numbers are most of the work. */
#include "analysis/shape.h"

#include "analysis/conditions.h"
#include "analysis/shape_graph.h"
#include "ir/waits.h"

enum { ROUNDS = 8 };

/* Memory first: it takes less, and fewer loads matter when less of it is alike. */
static vyre_status settle_memory(vyre_shapes *s) {
    bool changed = true;
    vyre_status status = vyre_shapes_solve(s);
    while (status == VYRE_OK && changed) {
        changed = false;
        status = vyre_shapes_mark_memory(s, &changed);
        if (status == VYRE_OK && changed) {
            status = vyre_shapes_solve(s);
        }
    }
    return status;
}

static vyre_status settle(vyre_shapes *s) {
    bool changed = true;
    vyre_status status = settle_memory(s);
    for (uint32_t round = 0; status == VYRE_OK && changed; round++) {
        status = vyre_shapes_mark_loads(s, round >= ROUNDS, &changed);
        if (status == VYRE_OK && changed) {
            status = settle_memory(s);
        }
    }
    return status;
}

bool vyre_shapes_know_numbers(vyre_shapes *s) {
    if (!s->knows_numbers) {
        s->knows_numbers =
            vyre_shapes_find_bounds(s) == VYRE_OK && vyre_shapes_find_forms(s) == VYRE_OK;
    }
    return s->knows_numbers;
}

static vyre_status create(const vyre_program *program, const vyre_effect_map *effects,
                          const vyre_allocator *allocator, bool assumes, vyre_shapes **out_shapes) {
    const vyre_allocator a = vyre_allocator_or_system(allocator);
    vyre_shapes *s = vyre_alloc_zeroed(&a, 1, sizeof *s);
    if (!s) {
        return VYRE_OUT_OF_MEMORY;
    }
    s->allocator = a;
    s->program = vyre_program_get(program);
    s->effects = effects;
    s->assumes = assumes;
    s->unlike = vyre_alloc_zeroed(&a, s->program->decl_count, sizeof *s->unlike);
    vyre_intern_init(&s->term_keys, &s->allocator);
    vyre_status status = s->unlike ? vyre_shapes_build(s) : VYRE_OUT_OF_MEMORY;
    if (status == VYRE_OK) {
        status = vyre_shapes_link(s);
    }
    if (status == VYRE_OK) {
        status = settle(s);
    }
    if (status != VYRE_OK) {
        vyre_shapes_destroy(s);
        return status;
    }
    *out_shapes = s;
    return VYRE_OK;
}

vyre_status vyre_shapes_create(const vyre_program *program, const vyre_effect_map *effects,
                               const vyre_allocator *allocator, vyre_shapes **out_shapes) {
    return create(program, effects, allocator, false, out_shapes);
}

vyre_status vyre_shapes_create_assuming(const vyre_program *program, const vyre_effect_map *effects,
                                        const vyre_allocator *allocator, vyre_shapes **out_shapes) {
    return create(program, effects, allocator, true, out_shapes);
}

void vyre_shapes_destroy(vyre_shapes *s) {
    if (!s) {
        return;
    }
    const vyre_allocator a = s->allocator;
    vyre_free(&a, s->first_user, (size_t)s->nodes.count + 1, sizeof *s->first_user);
    vyre_free(&a, s->unlike, s->program->decl_count, sizeof *s->unlike);
    vyre_free(&a, s->users, s->user_count, sizeof *s->users);
    vyre_free(&a, s->scratch, s->max_exprs, sizeof *s->scratch);
    vyre_free(&a, s->bounds_scratch, s->max_exprs, sizeof *s->bounds_scratch);
    vyre_free(&a, s->form_scratch, s->max_exprs, sizeof *s->form_scratch);
    vyre_free(&a, s->bounds, s->nodes.count, sizeof *s->bounds);
    vyre_free(&a, s->written, s->program->decl_count, sizeof *s->written);
    vyre_free(&a, s->form_of, s->nodes.count, sizeof *s->form_of);
    vyre_intern_finish(&s->term_keys);
    vyre_vec_free(&a, &s->forms);
    vyre_vec_free(&a, &s->terms);
    vyre_vec_free(&a, &s->visits);
    vyre_vec_free(&a, &s->uses);
    vyre_vec_free(&a, &s->nodes);
    vyre_vec_free(&a, &s->edges);
    vyre_vec_free(&a, &s->queue);
    vyre_free(&a, s, 1, sizeof *s);
}

uint32_t vyre_shapes_visit_count(const vyre_shapes *shapes) {
    return shapes->visits.count;
}

vyre_stmt vyre_shapes_stmt(const vyre_shapes *shapes, uint32_t visit) {
    return shapes->visits.data[visit].stmt;
}

vyre_shape vyre_shapes_control(const vyre_shapes *shapes, uint32_t visit) {
    const shape_node *node = &shapes->nodes.data[shapes->visits.data[visit].control];
    const vyre_shape here = {.kind = node->shape, .differs = node->differs};
    if (node->outer == VYRE_NONE) {
        return here;
    }
    const shape_node *outer = &shapes->nodes.data[node->outer];
    return vyre_shapes_both(shapes->program, here,
                            (vyre_shape){.kind = outer->shape, .differs = outer->differs});
}

void vyre_shapes_exprs(const vyre_shapes *shapes, uint32_t visit, vyre_shape *out) {
    vyre_shapes_evaluate(shapes, visit, out);
}

bool vyre_shapes_even(const vyre_shapes *shapes, uint32_t visit) {
    const uint8_t trips = shapes->visits.data[visit].trips;
    return trips == SHAPE_TRIPS_EVEN || (trips == SHAPE_TRIPS_IF && shapes->assumes);
}

vyre_shape_kind vyre_shapes_waiters(const vyre_shapes *shapes, uint32_t visit) {
    const uint32_t waits =
        vyre_waits_of((vyre_stmt_op)shapes->program->stmts[shapes->visits.data[visit].stmt].op);
    return waits & VYRE_WAITS_GRID       ? VYRE_SHAPE_GRID
           : waits & VYRE_WAITS_GROUP    ? VYRE_SHAPE_GROUP
           : waits & VYRE_WAITS_SUBGROUP ? VYRE_SHAPE_SUBGROUP
                                         : VYRE_SHAPE_VARYING;
}

bool vyre_shapes_together(const vyre_shapes *shapes, uint32_t visit) {
    const vyre_shape_kind scope = vyre_shapes_waiters(shapes, visit);
    const vyre_shape control = vyre_shapes_control(shapes, visit);
    return scope == VYRE_SHAPE_VARYING    ? true
           : scope == VYRE_SHAPE_SUBGROUP ? vyre_shape_in_subgroup(shapes->program, control)
                                          : vyre_shape_uniform(control, scope);
}

typedef vyre_status create_fn(const vyre_program *program, const vyre_effect_map *effects,
                              const vyre_allocator *a, vyre_shapes **out_shapes);

static vyre_status init_shaped(vyre_shaped *shaped, const vyre_program *program,
                               const vyre_allocator *a, create_fn *create_shapes) {
    vyre_calls calls;
    *shaped = (vyre_shaped){0};
    vyre_status status = vyre_calls_init(&calls, program, a);
    if (status == VYRE_OK) {
        status = vyre_effects_create(program, &calls, a, &shaped->effects);
        vyre_calls_finish(&calls, a);
    }
    if (status == VYRE_OK) {
        status = create_shapes(program, shaped->effects, a, &shaped->shapes);
    }
    if (status != VYRE_OK) {
        vyre_shaped_finish(shaped);
    }
    return status;
}

vyre_status vyre_shaped_init(vyre_shaped *shaped, const vyre_program *program,
                             const vyre_allocator *a) {
    return init_shaped(shaped, program, a, vyre_shapes_create);
}

vyre_status vyre_shaped_init_given(vyre_shaped *shaped, const vyre_program *program,
                                   const vyre_allocator *a) {
    return init_shaped(shaped, program, a, vyre_shapes_create_given);
}

void vyre_shaped_finish(vyre_shaped *shaped) {
    vyre_shapes_destroy(shaped->shapes);
    vyre_effects_destroy(shaped->effects);
    *shaped = (vyre_shaped){0};
}
