/* The parts of a group: a program without workgroup barriers is one segment, and any other is cut
 * at them by the shared fission, so that lanes can run one after the other. Workgroup memory and
 * what lanes carry over a barrier lie in an arena that one thread has for the group it runs. */
#include "backend/cpu/kernel.h"
#include "base/alloc.h"
#include "base/diag.h"
#include "ir/size.h"
#include "opt/opt_scan.h"

enum { ALIGNMENT = 64 };

static uint64_t constant_count(const vyre_program_view *p, vyre_decl decl) {
    static const vyre_size_env nothing = {0};
    uint64_t count = 0;
    (void)vyre_size_evaluate(p, p->decls[decl].size, &nothing, &count, NULL);
    return count;
}

static uint32_t lanes_of(const vyre_program_view *p) {
    return p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
}

static uint64_t reserve(cpu_group *group, uint64_t bytes) {
    const uint64_t at = group->arena;
    group->arena += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

const vyre_program *cpu_group_source(const cpu_group *group) {
    return group->module ? vyre_module_get(group->module)->source : group->program;
}

uint32_t cpu_group_segments(const cpu_group *group) {
    return group->module ? vyre_module_get(group->module)->segment_count : 1;
}

const vyre_program *cpu_group_segment(const cpu_group *group, uint32_t number) {
    return group->module ? vyre_module_get(group->module)->segments[number] : group->program;
}

static vyre_status lay_out(cpu_group *group, const vyre_allocator *a, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(cpu_group_source(group));
    group->offsets = vyre_alloc_zeroed(a, p->decl_count, sizeof *group->offsets);
    if (!group->offsets) {
        return vyre_fail_memory(diag, "a kernel");
    }
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        if (p->decls[d].role == VYRE_WORKGROUP) {
            group->offsets[d] =
                reserve(group, constant_count(p, d) * vyre_type_size((vyre_type)p->decls[d].type));
        }
    }
    if (group->module) {
        const vyre_module_view *m = vyre_module_get(group->module);
        group->lane = reserve(group, UINT64_C(4) * lanes_of(p) * m->lane_words);
        group->made[0] = reserve(group, UINT64_C(4) * m->made_words);
        group->made[1] = reserve(group, UINT64_C(4) * m->made_words);
    }
    return VYRE_OK;
}

/* At workgroup barriers; lanes run in turn, so scans are walks. */
static vyre_status cut(const vyre_program *program, const vyre_allocator *a,
                       vyre_module **out_module, vyre_diag *diag) {
    const vyre_split_options options = {.scope = VYRE_SPLIT_SCOPE_WORKGROUP};
    vyre_program *walking = NULL;
    vyre_status status = vyre_opt_scan(program, a, &walking, diag);
    if (status == VYRE_OK) {
        status = vyre_split(walking, &options, a, out_module, diag);
        vyre_program_release(walking);
    }
    return status;
}

vyre_status cpu_group_create(const vyre_program *program, const vyre_allocator *a,
                             cpu_group *out_group, vyre_diag *diag) {
    *out_group = (cpu_group){.program = program, .grain = 1};
    vyre_status status = VYRE_OK;
    if (vyre_program_get(program)->stats.reached_kinds >> VYRE_STMT_BARRIER & 1) {
        status = cut(program, a, &out_group->module, diag);
    }
    if (status == VYRE_OK) {
        status = lay_out(out_group, a, diag);
    }
    if (status != VYRE_OK) {
        cpu_group_finish(out_group, a);
        return status;
    }
    cpu_find_copies(vyre_program_get(cpu_group_source(out_group)), &out_group->copies);
    return VYRE_OK;
}

void cpu_group_finish(cpu_group *group, const vyre_allocator *a) {
    if (group->offsets) {
        const uint32_t count = vyre_program_get(cpu_group_source(group))->decl_count;
        vyre_free(a, group->offsets, count, sizeof *group->offsets);
    }
    vyre_module_release(group->module);
    *group = (cpu_group){0};
}

cpu_group cpu_group_facts(const cpu_group *group) {
    cpu_group facts = *group;
    facts.program = NULL;
    facts.module = NULL;
    facts.offsets = NULL;
    return facts;
}

/* Memory or a param of the source, or of the segment itself. */
static cpu_binding bind_own(const cpu_group *group, const vyre_program_view *p, vyre_decl decl) {
    switch ((vyre_role)p->decls[decl].role) {
    case VYRE_PRIVATE: return (cpu_binding){CPU_IS_PRIVATE, 0, constant_count(p, decl)};
    case VYRE_WORKGROUP:
        return (cpu_binding){CPU_IS_ARENA, (uint32_t)group->offsets[decl], constant_count(p, decl)};
    case VYRE_PARAM: return (cpu_binding){CPU_IS_PARAM, decl, 0};
    case VYRE_CONST: return (cpu_binding){CPU_IS_NUMBER, 0, 0}; /* folded where it is used */
    case VYRE_IN:
    case VYRE_INOUT:
    case VYRE_OUT:
    case VYRE_SCRATCH:
    case VYRE_ROLE_COUNT: break;
    }
    return (cpu_binding){CPU_IS_BUFFER, decl, 0};
}

/* Of an element of the declaration. */
static uint32_t words_of(const vyre_program_view *p, vyre_decl decl) {
    return vyre_type_size((vyre_type)p->decls[decl].type) / 4;
}

/* A declaration of a segment of a module. */
static cpu_binding bind_cut(const cpu_group *group, const vyre_program_view *p, vyre_decl decl,
                            vyre_segment_decl what) {
    const vyre_module_view *m = vyre_module_get(group->module);
    const vyre_program_view *source = vyre_program_get(m->source);
    switch ((int)what.kind) {
    case VYRE_DECL_SOURCE: return bind_own(group, source, what.ref);
    case VYRE_DECL_SCALAR: return (cpu_binding){CPU_IS_SCALAR, what.ref, 0};
    case VYRE_DECL_OWN:
        return (cpu_binding){CPU_IS_OWN, (uint32_t)group->lane,
                             (uint64_t)lanes_of(source) * m->lane_words / words_of(p, decl)};
    case VYRE_DECL_PLACE: return (cpu_binding){CPU_IS_MADE, 0, m->made_words / words_of(p, decl)};
    case VYRE_DECL_LANES: return (cpu_binding){CPU_IS_NUMBER, 0, lanes_of(source)};
    case VYRE_DECL_TICK: return (cpu_binding){CPU_IS_TICK, 0, 0};
    case VYRE_DECL_GROUP_ID: return (cpu_binding){CPU_IS_GROUP_ID, what.ref, 0};
    case VYRE_DECL_GROUP_COUNT: return (cpu_binding){CPU_IS_GROUPS, what.ref, 0};
    default: break; /* what only schedules of grids have, and memory of the segment itself */
    }
    return bind_own(group, p, decl); /* private memory, consts */
}

void cpu_group_bind(const cpu_group *group, uint32_t number, cpu_binding *out) {
    const vyre_module_view *m = group->module ? vyre_module_get(group->module) : NULL;
    if (m && number == VYRE_NONE) { /* the declarations of the source, then _made */
        const vyre_program_view *p = vyre_program_get(m->control);
        for (vyre_decl i = 0; i + 1 < p->decl_count; i++) {
            out[i] = bind_own(group, vyre_program_get(m->source), i);
        }
        out[p->decl_count - 1] = (cpu_binding){CPU_IS_MADE, 0, m->made_words};
        return;
    }
    const vyre_program_view *p = vyre_program_get(cpu_group_segment(group, number));
    for (vyre_decl i = 0; i < p->decl_count; i++) {
        out[i] = m ? bind_cut(group, p, i, m->decls[number][i]) : bind_own(group, p, i);
    }
}

uint64_t cpu_group_units(const cpu_group *group, const uint32_t grid[3]) {
    const uint32_t *size = vyre_program_get(group->program)->workgroup;
    if (group->form != CPU_FORM_ROWS) {
        return (uint64_t)grid[0] * grid[1] * grid[2];
    }
    const uint64_t lanes = (uint64_t)grid[0] * size[0];
    const uint64_t rows = (uint64_t)grid[1] * size[1] * grid[2] * size[2];
    return rows * lanes;
}
