/* A segment in C: the lanes of a group are loops. A segment that waits for its group is cut at its
 * barriers by the fission that also cuts grids (vyre/split.h): each part is a loop over the lanes,
 * and the group's schedule runs them. Groups are a loop that OpenMP may spread over threads.
 *
 *     static void NAME_PART(const vy_group *vy, ...)     the lanes of a group, up to a barrier
 *     static void NAME_group(const vy_group *vy, ...)    these in their order
 *     static void NAME(const vy_group *vy, ...)          all groups
 *
 * Workgroup memory and what lanes carry over a barrier lie in memory that each thread has for the
 * group that it runs; it is zeroed when a group begins. */
#include <stdio.h>

#include "base/diag.h"
#include "emit/c.h"
#include "lower/rewrites.h"

enum { ALIGNMENT = 64 };

static const char *atomic_text(vyre_atomic_op op, vyre_type type) {
    if (op == VYRE_ATOMIC_LOAD) {
        return "    $T now;\n"
               "    __atomic_load(p, &now, __ATOMIC_SEQ_CST);\n"
               "    return now;\n";
    }
    if (op == VYRE_ATOMIC_STORE) {
        return "    __atomic_store(p, &v, __ATOMIC_SEQ_CST);\n";
    }
    if (op == VYRE_ATOMIC_EXCHANGE && vyre_type_is_float(type)) {
        return "    $T old;\n"
               "    __atomic_exchange(p, &v, &old, __ATOMIC_SEQ_CST);\n"
               "    return old;\n";
    }
    if (vyre_type_is_float(type)) {
        return "    $T seen, next;\n"
               "    __atomic_load(p, &seen, __ATOMIC_SEQ_CST);\n"
               "    do {\n"
               "        next = $Y;\n"
               "    } while (!__atomic_compare_exchange(p, &seen, &next, 0, __ATOMIC_SEQ_CST, "
               "__ATOMIC_SEQ_CST));\n"
               "    return seen;\n";
    }
    switch (op) {
    case VYRE_ATOMIC_ADD: return "    return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);\n";
    case VYRE_ATOMIC_SUB: return "    return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST);\n";
    case VYRE_ATOMIC_AND: return "    return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);\n";
    case VYRE_ATOMIC_OR: return "    return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);\n";
    case VYRE_ATOMIC_XOR: return "    return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST);\n";
    case VYRE_ATOMIC_NAND: return "    return __atomic_fetch_nand(p, v, __ATOMIC_SEQ_CST);\n";
    case VYRE_ATOMIC_EXCHANGE: return "    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);\n";
    case VYRE_ATOMIC_CAS:
    case VYRE_ATOMIC_CAS_WEAK:
        return "    (void)__atomic_compare_exchange_n(p, &e, v, 0, __ATOMIC_SEQ_CST, "
               "__ATOMIC_SEQ_CST);\n"
               "    return e;\n";
    case VYRE_ATOMIC_LOAD:
    case VYRE_ATOMIC_STORE:
    case VYRE_ATOMIC_MIN:
    case VYRE_ATOMIC_MAX:
    case VYRE_ATOMIC_COUNT: break;
    }
    return NULL;
}

const emit_dialect emit_c = {
    .name = "c",
    .suffix = ".c",
    .function = "static inline",
    .kernel_function = "static inline",
    .space = {"", "", ""},
    .u64 = "ull",
    .i64 = "ll",
    .float_function = "f",
    .popcount = {"__builtin_popcount(x)", "__builtin_popcountll(x)"},
    .mul_high = {"(uint64_t)((unsigned __int128)a * b >> 64)", "(int64_t)((__int128)a * b >> 64)"},
    .element = "p[i]",
    .restricted = "restrict ",
    .zero = "memset",
    .settled = "__atomic_signal_fence(__ATOMIC_SEQ_CST);",
    .lanes_are_loops = true,
    .end_lane = "goto vy_next;",
    .atomic = atomic_text,
    .ids = {[VYRE_BUILTIN_GLOBAL_ID] = "global_$x",
            [VYRE_BUILTIN_LOCAL_ID] = "local_$x",
            [VYRE_BUILTIN_GROUP_ID] = "vy->group_$x",
            [VYRE_BUILTIN_NUM_GROUPS] = "vy->groups_$x",
            [VYRE_BUILTIN_GLOBAL_SIZE] = "vy->groups_$x * $s"},
};

static uint32_t lanes_of(const vyre_program_view *p) {
    return p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
}

/* ---- the lanes of a group ---- */

/* A function for the lanes of a program without barriers: a part of `source`, or all of it if that
 * is NULL, with workgroup memory at the offsets. */
static vyre_status put_lanes_function(emit_c_state *file, const vyre_program *program,
                                      const vyre_program_view *source,
                                      const vyre_segment_decl *decls, const char *suffix,
                                      const uint64_t *offsets, vyre_diag *diag) {
    vyre_text *out = &file->segments;
    emit_program e;
    vyre_status status =
        emit_program_init(&e, file->dialect, &file->used, out, program, true, &file->a, diag);
    if (status != VYRE_OK) {
        return status;
    }
    if (source) {
        emit_part_spaces(&e, source, decls);
    }
    e.origins = decls;
    if (decls) {
        emit_trust(&e, decls);
    }
    for (size_t i = 0; file->unchecked && i < (size_t)e.p->expr_count + e.p->stmt_count; i++) {
        e.proven[i] = true;
    }
    vyre_text_printf(out, "static void %s%s(const vy_group *vy", e.p->name, suffix);
    emit_params(out, &e, ", ");
    vyre_text_puts(out, ") {\n    (void)vy;\n");
    for (vyre_decl i = 0; i < e.p->decl_count && offsets; i++) {
        if (e.p->decls[i].role == VYRE_WORKGROUP) {
            const char *type = emit_element_type((vyre_type)e.p->decls[i].type);
            const char *space = file->dialect->space[EMIT_WORKGROUP];
            vyre_text_printf(out, "    %s%s *const %s = (%s%s *)(vy->memory + %llu);\n", space,
                             type, e.decls[i], space, type, (unsigned long long)offsets[i]);
        }
    }
    emit_lanes(&e);
    vyre_text_puts(out, "}\n\n");
    status = emit_program_status(&e, diag);
    emit_program_finish(&e);
    return status;
}

/* ---- a group ---- */

static uint64_t reserve(uint64_t *memory, uint64_t bytes) {
    const uint64_t at = *memory;
    *memory += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

static bool has_workgroup_memory(const vyre_program_view *p) {
    vyre_decl i = 0;
    while (i < p->decl_count && p->decls[i].role != VYRE_WORKGROUP) {
        i++;
    }
    return i < p->decl_count;
}

/* Offsets of workgroup memory, by declaration. */
static uint64_t *lay_out(const vyre_program_view *p, const vyre_allocator *a, uint64_t *memory) {
    uint64_t *offsets = vyre_alloc_zeroed(a, p->decl_count, sizeof *offsets);
    (void)reserve(memory, 1); /* so that there is some, also if all of it has no elements */
    for (vyre_decl i = 0; offsets && i < p->decl_count; i++) {
        uint64_t count = 0;
        if (p->decls[i].role == VYRE_WORKGROUP && emit_constant_count(p, i, &count)) {
            offsets[i] = reserve(memory, count * vyre_type_size((vyre_type)p->decls[i].type));
        }
    }
    return offsets;
}

static void put_carry(emit_program *e, const char *name, uint64_t words, uint64_t *memory) {
    const char *space = e->dialect->space[EMIT_WORKGROUP];
    emit_line(e, "%suint32_t *%s = (%suint32_t *)(vy->memory + %llu);", space, name, space,
              (unsigned long long)reserve(memory, 4 * words));
    emit_line(e, "const uint32_t %s_words = %lluu;", name, (unsigned long long)words);
    emit_line(e, "(void)%s, (void)%s_words;", name, name);
}

/* Variables of a group's schedule: workgroup memory, what is carried, the scalars. */
static void put_group_state(emit_c_schedule *s, const uint64_t *offsets, uint64_t *memory) {
    emit_program *e = &s->control;
    const vyre_program_view *p = vyre_program_get(s->m->source);
    const uint64_t lanes = lanes_of(p);
    for (vyre_decl i = 0; i < p->decl_count; i++) {
        if (p->decls[i].role == VYRE_WORKGROUP) {
            const char *type = emit_element_type((vyre_type)p->decls[i].type);
            const char *space = e->dialect->space[EMIT_WORKGROUP];
            emit_line(e, "%s%s *const %s = (%s%s *)(vy->memory + %llu);", space, type, e->decls[i],
                      space, type, (unsigned long long)offsets[i]);
            emit_line(e, "(void)%s;", e->decls[i]);
        }
    }
    for (uint32_t i = 0; i < s->m->buffer_count; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "vy_own_%u", (unsigned)i);
        put_carry(e, name, s->m->buffers[i].lane_words * lanes + s->m->buffers[i].group_words,
                  memory);
    }
    for (uint32_t i = 0; i <= VYRE_PLACE_SPARE; i++) {
        const uint64_t words = i <= VYRE_PLACE_NEXT ? s->m->group_value_words : s->m->made_words;
        if (words) {
            put_carry(e, emit_c_place(i), words, memory);
        }
    }
    emit_line(e, "const uint32_t vy_lanes = %uu;", (unsigned)lanes);
    emit_line(e, "(void)vy_lanes;");
    emit_c_scalars(s);
}

/* The function that runs the parts of a group. */
static vyre_status put_group_function(emit_c_state *file, const char *name,
                                      const vyre_module_view *m, uint64_t *offsets,
                                      uint64_t *memory, vyre_diag *diag) {
    vyre_text *out = &file->segments;
    vyre_text state;
    emit_c_schedule s = {.file = file, .m = m};
    vyre_text_init(&state, &file->a);
    vyre_status status = emit_program_init(&s.control, file->dialect, &file->used, &state,
                                           m->control, false, &file->a, diag);
    if (status != VYRE_OK) {
        vyre_text_finish(&state);
        return status;
    }
    vyre_program_view source = *vyre_program_get(m->source);
    emit_part_spaces(&s.control, &source, NULL);
    emit_program params = s.control; /* the same names, for the declarations of the source alone */
    params.p = &source;
    vyre_text_printf(out, "static void %s_group(const vy_group *vy", name);
    emit_params(out, &params, ", ");
    vyre_text_puts(out, ") {\n");
    s.control.decls[s.control.p->decl_count - 1] = "vy_made";
    s.control.lens[s.control.p->decl_count - 1] = "vy_made_words";
    s.control.indent = 1;
    put_group_state(&s, offsets, memory);
    vyre_text_printf(out, "    %s(vy->memory, 0, %llu);\n", file->dialect->zero,
                     (unsigned long long)*memory);
    status = emit_c_steps(&s, diag);
    vyre_text_append(out, vyre_text_string(&state), state.length);
    vyre_text_puts(out, "vy_done: __attribute__((unused));\n}\n\n");
    if (status == VYRE_OK && state.failed) {
        status = vyre_fail_memory(diag, "the text of a program");
    }
    emit_program_finish(&s.control);
    vyre_text_finish(&state);
    return status;
}

/* A segment that waits for its group. */
static vyre_status put_parts(emit_c_state *file, const vyre_program *segment, uint64_t *memory,
                             vyre_diag *diag) {
    const vyre_split_options options = {.scope = VYRE_SPLIT_SCOPE_WORKGROUP};
    vyre_module *module = NULL;
    vyre_status status = vyre_split(segment, &options, &file->a, &module, diag);
    if (status != VYRE_OK) {
        return status;
    }
    const vyre_module_view *m = vyre_module_get(module);
    const vyre_program_view *source = vyre_program_get(m->source);
    uint64_t *offsets = lay_out(source, &file->a, memory);
    status = offsets ? VYRE_OK : vyre_fail_memory(diag, "the text of a program");
    for (uint32_t i = 0; i < m->segment_count && status == VYRE_OK; i++) {
        status = put_lanes_function(file, m->segments[i], source, m->decls[i], "", NULL, diag);
    }
    if (status == VYRE_OK) {
        status =
            put_group_function(file, vyre_program_get(segment)->name, m, offsets, memory, diag);
    }
    vyre_free(&file->a, offsets, source->decl_count, sizeof *offsets);
    vyre_module_release(module);
    return status;
}

/* A segment whose lanes run one after the other without a stop. */
static vyre_status put_plain(emit_c_state *file, const vyre_program *segment,
                             const vyre_segment_decl *decls, uint64_t *memory, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(segment);
    uint64_t *offsets = lay_out(p, &file->a, memory);
    *memory = has_workgroup_memory(p) ? *memory : 0;
    vyre_status status =
        offsets ? put_lanes_function(file, segment, NULL, decls, "_group", offsets, diag)
                : vyre_fail_memory(diag, "the text of a program");
    vyre_free(&file->a, offsets, p->decl_count, sizeof *offsets);
    return status;
}

vyre_status emit_c_group(emit_c_state *file, const vyre_program *segment,
                         const vyre_segment_decl *decls, uint64_t *out_memory, vyre_diag *diag) {
    *out_memory = 0;
    return vyre_program_get(segment)->stats.reached_kinds >> VYRE_STMT_BARRIER & 1
               ? put_parts(file, segment, out_memory, diag)
               : put_plain(file, segment, decls, out_memory, diag);
}

/* ---- all groups ---- */

void emit_c_sites_text(emit_c_state *file, uint32_t number) {
    const vyre_module_view *m = vyre_module_get(file->module);
    const uint32_t count = emit_c_sites(m, number);
    vyre_text *out = &file->segments;
    vyre_text_printf(out, "/* Segment %u of %u. */\n\n", (unsigned)number + 1,
                     (unsigned)m->segment_count);
    if (count == 0) {
        return;
    }
    file->sites = count > file->sites ? count : file->sites;
    vyre_text_printf(out, "static const vy_site %s_sites[] = {",
                     vyre_program_get(m->segments[number])->name);
    for (uint32_t i = 0; i < count; i++) {
        const char *tag = "";
        vyre_place place = {0};
        (void)vyre_trap_site(m->segments[number], emit_c_trap_decl(m, number), i, &tag, &place);
        vyre_text_puts(out, i ? ", {" : "{");
        emit_quoted(out, tag);
        vyre_text_printf(out, ", %u}", (unsigned)place.line);
    }
    vyre_text_puts(out, "};\n\n");
}

vyre_status emit_c_segment(emit_c_state *file, uint32_t number, vyre_diag *diag) {
    const vyre_module_view *m = vyre_module_get(file->module);
    const vyre_program *segment = m->segments[number];
    const vyre_program_view *p = vyre_program_get(segment);
    vyre_text *out = &file->segments;
    uint64_t memory = 0;
    const bool waits = p->stats.reached_kinds >> VYRE_STMT_BARRIER & 1;
    emit_c_sites_text(file, number);
    vyre_status status = emit_c_group(file, segment, m->decls[number], &memory, diag);
    emit_program e;
    if (status == VYRE_OK) {
        status =
            emit_program_init(&e, file->dialect, &file->used, out, segment, false, &file->a, diag);
    }
    if (status != VYRE_OK) {
        return status;
    }
    file->group_memory = memory > file->group_memory ? memory : file->group_memory;
    vyre_text_printf(out, "static void %s(const vy_group *vy", p->name);
    emit_params(out, &e, ", ");
    vyre_text_puts(out, ") {\n"
                        "    const int64_t vy_groups = (int64_t)vy_count(vy);\n"
                        "#pragma omp parallel for\n"
                        "    for (int64_t vy_g = 0; vy_g < vy_groups; vy_g++) {\n"
                        "        const vy_group vy_one = vy_at(vy, (uint64_t)vy_g);\n");
    if (!waits && memory) {
        vyre_text_printf(out, "        memset(vy_one.memory, 0, %llu);\n",
                         (unsigned long long)memory);
    }
    vyre_text_printf(out, "        %s_group(&vy_one", p->name);
    emit_arguments(out, &e, ", ", "");
    vyre_text_puts(out, ");\n    }\n}\n\n");
    emit_program_finish(&e);
    return VYRE_OK;
}
