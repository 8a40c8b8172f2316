/* Carry: what each block uses and sets (carry_scan.c), which of it is stored (carry_choose.c), and
 * a place for everything that is alive between blocks (carry_place.c). */
#include "split/carry.h"

#include "base/diag.h"
#include "split/carry_analyst.h"
#include "split/proof.h"

typedef vyre_carry_analyst analyst;

static uint32_t count_parts(const vyre_program_view *p) {
    uint32_t count = 0;
    const bool any = p->stats.stmt_kinds >> VYRE_STMT_PART & 1;
    for (vyre_stmt s = any ? p->entry : p->stmt_count; s < p->stmt_count; s++) {
        if (p->stmts[s].op == VYRE_STMT_PART && p->stmts[s].fn >= count) {
            count = p->stmts[s].fn + 1;
        }
    }
    return count;
}

static bool allocate(analyst *an) {
    vyre_carry_plan *plan = an->plan;
    const vyre_allocator *a = an->a;
    size_t entities = plan->entity_count, blocks = an->blocks->list.count;
    plan->entities = vyre_alloc_zeroed(a, entities, sizeof *plan->entities);
    plan->first_present = vyre_alloc_zeroed(a, blocks + 1, sizeof *plan->first_present);
    plan->alive = vyre_alloc(a, entities, sizeof *plan->alive);
    an->definitions = vyre_alloc_zeroed(a, entities, sizeof *an->definitions);
    an->definition = vyre_alloc_zeroed(a, entities, sizeof *an->definition);
    plan->ends = vyre_alloc_zeroed(a, blocks, sizeof *plan->ends);
    plan->condition_scalar = vyre_alloc(a, blocks, sizeof *plan->condition_scalar);
    plan->part_count = count_parts(an->p);
    plan->parts = vyre_alloc_zeroed(a, plan->part_count, sizeof *plan->parts);
    bool looks = vyre_overwrites_init(&an->overwrites, an->p, an->shapes, a);
    bool lists = vyre_presences_init(&an->found, an->blocks, plan->entity_count, a);
    bool knows =
        vyre_scalars_init(an->scalars, an->p, an->blocks, an->shapes, an->bases->only_groups, a);
    bool needs = vyre_needs_init(&an->needs, vyre_entity_of_decl(plan, 0), a);
    return lists && looks && knows && needs && plan->entities && plan->first_present &&
           plan->alive && an->definitions && an->definition && plan->ends &&
           plan->condition_scalar && plan->parts;
}

static void release(analyst *an) {
    const vyre_allocator *a = an->a;
    size_t entities = an->plan->entity_count;
    vyre_free(a, an->definitions, entities, sizeof *an->definitions);
    vyre_free(a, an->definition, entities, sizeof *an->definition);
    vyre_vec_free(a, &an->open);
    vyre_overwrites_finish(&an->overwrites);
    vyre_needs_finish(&an->needs);
    if (an->found.block_count > 0) {
        vyre_presences_finish(&an->found);
    }
}

static bool analyse(analyst *an) {
    vyre_carry_plan *plan = an->plan;
    const vyre_program_view *p = an->p;
    for (uint32_t e = 0; e < plan->entity_count; e++) {
        uint32_t hidden = e - p->var_count;
        plan->entities[e].kind = VYRE_CARRY_LANE;
        plan->entities[e].recipe = VYRE_NONE;
        plan->entities[e].from.base = VYRE_NONE;
        plan->entities[e].scalar = VYRE_NONE;
        plan->entities[e].type = e < p->var_count                              ? p->vars[e].type
                                 : hidden % VYRE_LOOP_VALUES == VYRE_LOOP_MORE ? (uint8_t)VYRE_BOOL
                                                                               : (uint8_t)VYRE_U32;
    }
    vyre_carry_scan(an);
    vyre_presences_solve(&an->found);
    for (uint32_t e = 0; e < plan->entity_count; e++) {
        plan->entities[e].carried = vyre_carry_is_carried(an, e);
    }
    if (an->found.failed || !vyre_carry_choose(an)) {
        return false;
    }
    return vyre_carry_place(an);
}

vyre_status vyre_carry_init(vyre_carry_plan *plan, const vyre_program *program,
                            const vyre_blocks *blocks, const vyre_bases *bases,
                            const vyre_allocator *a, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    *plan = (vyre_carry_plan){.p = p, .blocks = blocks};
    plan->entity_count = p->var_count + blocks->loops.count * VYRE_LOOP_VALUES + p->decl_count;
    analyst an = {.plan = plan,
                  .p = p,
                  .blocks = blocks,
                  .bases = bases,
                  .a = a,
                  .scalars = &plan->scalars,
                  .at = VYRE_NONE};
    vyre_shaped shaped;
    vyre_status status = vyre_shaped_init(&shaped, program, a);
    an.shapes = shaped.shapes;
    if (status == VYRE_OK && !(allocate(&an) && analyse(&an))) {
        status = VYRE_OUT_OF_MEMORY;
    }
    if (status == VYRE_OK) {
        status = vyre_prove_uniform(blocks, program, shaped.shapes, plan->scalars.scratch, diag);
    }
    release(&an);
    vyre_shaped_finish(&shaped);
    if (status != VYRE_OK) {
        vyre_carry_finish(plan, a);
    }
    return status == VYRE_OUT_OF_MEMORY ? vyre_fail_memory(diag, "splitting") : status;
}

void vyre_carry_finish(vyre_carry_plan *plan, const vyre_allocator *a) {
    if (!plan->blocks) {
        return;
    }
    vyre_free(a, plan->entities, plan->entity_count, sizeof *plan->entities);
    vyre_free(a, plan->present, plan->present_count, sizeof *plan->present);
    vyre_free(a, plan->first_present, (size_t)plan->blocks->list.count + 1,
              sizeof *plan->first_present);
    vyre_free(a, plan->alive, plan->entity_count, sizeof *plan->alive);
    vyre_vec_free(a, &plan->runs);
    vyre_free(a, plan->ends, plan->blocks->list.count, sizeof *plan->ends);
    vyre_free(a, plan->condition_scalar, plan->blocks->list.count, sizeof *plan->condition_scalar);
    vyre_free(a, plan->parts, plan->part_count, sizeof *plan->parts);
    vyre_scalars_finish(&plan->scalars);
    *plan = (vyre_carry_plan){0};
}
