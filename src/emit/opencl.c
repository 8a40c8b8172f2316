/* OpenCL C 1.2: a kernel for each segment, one work-item for each lane. Programs come lowered: no
 * lane ends before a barrier, workgroup memory is zeroed by stores, traps are records in a buffer.
 * Atomics of OpenCL 1.2 order nothing, so fences stand around those that are not relaxed; what it
 * lacks goes by compare and exchange. Floats round as ours with the option in the head, on devices
 * that claim it. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "emit/c.h"

/* One that fails costs a load. */
static const char looks_first[] = "    const $T seen = *($Svolatile const $T *)p;\n"
                                  "    return seen == e ? atomic_cmpxchg(p, e, v) : seen;\n";

static const char *atomic_text(vyre_atomic_op op, vyre_type type) {
    static const char *const narrow[VYRE_ATOMIC_COUNT] = {
        [VYRE_ATOMIC_ADD] = "    return atomic_add(p, v);\n",
        [VYRE_ATOMIC_SUB] = "    return atomic_sub(p, v);\n",
        [VYRE_ATOMIC_MIN] = "    return atomic_min(p, v);\n",
        [VYRE_ATOMIC_MAX] = "    return atomic_max(p, v);\n",
        [VYRE_ATOMIC_AND] = "    return atomic_and(p, v);\n",
        [VYRE_ATOMIC_OR] = "    return atomic_or(p, v);\n",
        [VYRE_ATOMIC_XOR] = "    return atomic_xor(p, v);\n",
        [VYRE_ATOMIC_EXCHANGE] = "    return atomic_xchg(p, v);\n",
        [VYRE_ATOMIC_CAS] = looks_first,
        [VYRE_ATOMIC_CAS_WEAK] = looks_first,
    };
    static const char *const wide[VYRE_ATOMIC_COUNT] = {
        /* all else needs more extensions */
        [VYRE_ATOMIC_ADD] = "    return atom_add(p, v);\n",
        [VYRE_ATOMIC_SUB] = "    return atom_sub(p, v);\n",
        [VYRE_ATOMIC_EXCHANGE] = "    return atom_xchg(p, v);\n",
        [VYRE_ATOMIC_CAS] = "    return atom_cmpxchg(p, e, v);\n",
        [VYRE_ATOMIC_CAS_WEAK] = "    return atom_cmpxchg(p, e, v);\n",
    };
    return emit_native_atomic(narrow, wide, op, type);
}

static void put_kernel_head(vyre_text *out, const uint32_t size[3]) {
    vyre_text_printf(out, "kernel __attribute__((reqd_work_group_size(%u, %u, %u)))\nvoid ",
                     (unsigned)size[0], (unsigned)size[1], (unsigned)size[2]);
}

const emit_dialect emit_opencl = {
    .name = "opencl",
    .suffix = ".cl",
    .function = "static inline",
    .kernel_function = "static inline",
    .space = {"global ", "local ", ""},
    .u64 = "ul",
    .i64 = "l",
    .float_function = "",
    .popcount = {"popcount(x)", "popcount(x)"},
    .mul_high = {"mul_hi(a, b)", "mul_hi(a, b)"},
    .element = "p[i]",
    .restricted = "restrict ",
    .workgroup = "local ",
    .end_lane = "return;",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .fence = "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .atomic = atomic_text,
    .ids = {[VYRE_BUILTIN_GLOBAL_ID] = "global_$x",
            [VYRE_BUILTIN_LOCAL_ID] = "local_$x",
            [VYRE_BUILTIN_GROUP_ID] = "group_$x",
            [VYRE_BUILTIN_NUM_GROUPS] = "groups_$x",
            [VYRE_BUILTIN_GLOBAL_SIZE] = "groups_$x * $s"},
    .kernel = put_kernel_head,
    .keeps_params_as_words = true,
    /* PoCL 3.1 loses values of lanes at branches in loops that hold barriers, and where barriers
     * stand behind a return of all lanes. */
    .joins_by_bits = true,
    .flags_ends = true,
};

/* For devices that run the lanes of a group one after the other anyway: a work-item is a group. */
static void run_groups(emit_dialect *d) {
    d->end_lane = "goto vy_next;";
    d->barrier = NULL;
    d->zero = "vy_zero";
    d->settled = "__asm__ volatile(\"\" ::: \"memory\");";
    d->ids[VYRE_BUILTIN_GROUP_ID] = "vy->group_$x";
    d->ids[VYRE_BUILTIN_NUM_GROUPS] = "vy->groups_$x";
    d->ids[VYRE_BUILTIN_GLOBAL_SIZE] = "vy->groups_$x * $s";
    d->lanes_are_loops = d->tunes_lanes = true;
    d->joins_by_bits = d->flags_ends = false;
}

static bool uses_type(const vyre_program_view *p, vyre_type type) {
    return p->stats.types >> type & 1;
}

static bool has_wide_atomics(const emit_used *used) {
    bool wide = false;
    for (uint32_t op = 0; op < VYRE_ATOMIC_COUNT; op++) {
        for (uint32_t space = 0; space < EMIT_SPACES; space++) {
            wide |= (used->helpers[EMIT_ATOMIC + op] &
                     (EMIT_BIT(space, VYRE_U64) | EMIT_BIT(space, VYRE_I64) |
                      EMIT_BIT(space, VYRE_F64))) != 0;
        }
    }
    return wide;
}

static bool is_part_of_word(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool has_word(const char *text, const char *word) {
    const size_t length = strlen(word);
    const char *at = strstr(text, word);
    while (at && ((at > text && is_part_of_word(at[-1])) || is_part_of_word(at[length]))) {
        at = strstr(at + 1, word);
    }
    return at != NULL;
}

/* Names of OpenCL for types and ids that the text uses. */
static void put_names(vyre_text *out, const emit_dialect *dialect, const char *text) {
    static const char *const types[][2] = {
        {"uint8_t", "uchar"}, {"int8_t", "char"}, {"uint16_t", "ushort"}, {"int16_t", "short"},
        {"uint32_t", "uint"}, {"int32_t", "int"}, {"uint64_t", "ulong"},  {"int64_t", "long"}};
    static const char *const ids[][2] = {{"global", "get_global_id"},
                                         {"local", "get_local_id"},
                                         {"group", "get_group_id"},
                                         {"groups", "get_num_groups"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (has_word(text, types[i][0]) || strcmp(types[i][0], "uint32_t") == 0) {
            vyre_text_printf(out, "typedef %s %s;\n", types[i][1], types[i][0]);
        }
    }
    for (size_t i = 0; !dialect->lanes_are_loops && i < 3 * (sizeof ids / sizeof *ids); i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%s_%c", ids[i / 3][0], "xyz"[i % 3]);
        if (has_word(text, name)) {
            vyre_text_printf(out, "#define %s ((uint32_t)%s(%u))\n", name, ids[i / 3][1],
                             (unsigned)(i % 3));
        }
    }
}

/* What a work-item is that runs a group. */
static const char group_text[] = "typedef struct vy_group {\n"
                                 "    uint32_t group_x, group_y, group_z;\n"
                                 "    uint32_t groups_x, groups_y, groups_z;\n"
                                 "    local char *memory;\n"
                                 "} vy_group;\n"
                                 "\n";
static const char zero_text[] =
    "static void vy_zero(local char *memory, int value, uint32_t size) {\n"
    "    for (uint32_t i = 0; i < size / 4; i++) ((local int *)memory)[i] = value;\n"
    "}\n"
    "\n";

/* The number of a group whose work is uneven. */
static const char spread_text[] =
    "/* Drivers hand out groups in ranges: one of each pair, then the others, so that ranges are "
    "alike\n"
    " * where work grows or falls with the number of a group. Which one goes first changes as bits "
    "of\n"
    " * the pair do: numbers with many ones may have less to do, as in graphs made bit by bit. */\n"
    "static inline uint32_t vy_spread(void) {\n"
    "    const uint32_t i = (uint32_t)get_group_id(0), pairs = (uint32_t)get_num_groups(0) / 2;\n"
    "    const uint32_t pair = i < pairs ? i : i - pairs;\n"
    "    return i < 2 * pairs ? 2 * pair + ((popcount(pair) & 1) ^ (i >= pairs)) : i;\n"
    "}\n"
    "\n";

/* The kernels, behind what they use; `double_used`: some value is an f64. */
static vyre_status put_kernels(vyre_text *out, const emit_dialect *dialect,
                               const vyre_text *kernels, const emit_used *used, bool double_used,
                               const vyre_allocator *a, vyre_diag *diag) {
    vyre_text all;
    vyre_text_init(&all, a);
    emit_write_helpers(&all, dialect, used);
    if (dialect->lanes_are_loops) {
        vyre_text_puts(&all, group_text);
        vyre_text_puts(&all, has_word(vyre_text_string(kernels), "vy_zero") ? zero_text : "");
        vyre_text_puts(&all, has_word(vyre_text_string(kernels), "vy_spread") ? spread_text : "");
    }
    vyre_text_append(&all, vyre_text_string(kernels), kernels->length);
    if (double_used) {
        vyre_text_puts(out, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    }
    if (has_wide_atomics(used)) {
        vyre_text_puts(out, "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n");
    }
    vyre_text_puts(out, "#pragma OPENCL FP_CONTRACT OFF\n");
    put_names(out, dialect, vyre_text_string(&all));
    vyre_text_puts(out, "\n");
    vyre_text_append(out, vyre_text_string(&all), all.length);
    const bool failed = all.failed || kernels->failed;
    vyre_text_finish(&all);
    return failed ? vyre_fail_memory(diag, "the text of a program")
                  : vyre_text_status(out, "the text of a program", diag);
}

/* Whether lanes make different numbers of trips, as memory says. */
static bool is_uneven(const vyre_program_view *p) {
    bool uneven = false;
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        for (vyre_expr i = n->first_expr; n->op == VYRE_STMT_FOR && i < n->end_expr; i++) {
            uneven |= p->exprs[i].op == VYRE_EXPR_LOAD;
        }
    }
    return uneven;
}

/* The kernel around the function of a group. */
static vyre_status put_group_kernel(emit_c_state *file, const vyre_program *program,
                                    uint64_t memory, vyre_text *out, vyre_diag *diag) {
    emit_program e;
    vyre_status status =
        emit_program_init(&e, file->dialect, &file->used, out, program, false, &file->a, diag);
    if (status != VYRE_OK) {
        return status;
    }
    vyre_text_append(out, vyre_text_string(&file->segments), file->segments.length);
    put_kernel_head(out, (const uint32_t[]){1, 1, 1});
    vyre_text_printf(out, "%s_kernel(", e.p->name);
    emit_params(out, &e, "");
    vyre_text_puts(out, ") {\n");
    if (memory) {
        const unsigned long long vectors = memory / sizeof(uint64_t[8]) + 1;
        vyre_text_printf(out, "    local ulong8 vy_memory[%llu];\n", vectors);
    }
    vyre_text_printf(
        out,
        "    const vy_group vy = {%s, (uint32_t)get_group_id(1), (uint32_t)get_group_id(2),\n"
        "                         (uint32_t)get_num_groups(0), (uint32_t)get_num_groups(1),\n"
        "                         (uint32_t)get_num_groups(2), %s};\n"
        "    %s_group(&vy",
        is_uneven(e.p) ? "vy_spread()" : "(uint32_t)get_group_id(0)",
        memory ? "(local char *)vy_memory" : "0", e.p->name);
    emit_arguments(out, &e, ", ", "");
    vyre_text_puts(out, ");\n}\n");
    status = emit_program_status(&e, diag);
    emit_program_finish(&e);
    return status;
}

static vyre_status put_groups(const vyre_program *program, const vyre_segment_decl *decls,
                              const emit_opencl_device *device, const emit_dialect *dialect,
                              emit_used *used, const vyre_allocator *a, vyre_text *out,
                              vyre_diag *diag) {
    emit_c_state file = {
        .dialect = dialect, .a = *a, .unchecked = device->unchecked, .used = *used};
    uint64_t memory = 0;
    vyre_text_init(&file.segments, a);
    vyre_status status = emit_c_group(&file, program, decls, &memory, diag);
    if (status == VYRE_OK && memory > device->group_bytes) {
        status = vyre_fail(diag, VYRE_UNSUPPORTED, "use smaller workgroups",
                           "a group of %s needs %llu bytes, for its memory and for what lanes keep "
                           "while they wait; the device has %llu",
                           vyre_program_get(program)->name, (unsigned long long)memory,
                           (unsigned long long)device->group_bytes);
    }
    if (status == VYRE_OK) {
        status = put_group_kernel(&file, program, memory, out, diag);
    }
    status = status == VYRE_OK ? vyre_text_status(&file.segments, "the text of a program", diag)
                               : status;
    vyre_text_finish(&file.segments);
    *used = file.used;
    return status;
}

/* A program, or a segment with what its declarations are. */
static vyre_status put_one(const vyre_program *program, const vyre_segment_decl *decls,
                           const emit_opencl_device *device, const emit_dialect *dialect,
                           emit_used *used, const vyre_allocator *a, vyre_text *out,
                           vyre_diag *diag) {
    const emit_kernel_text how = {.dialect = dialect,
                                  .name = vyre_program_get(program)->name,
                                  .prologue = "",
                                  .decls = decls,
                                  .unchecked = device->unchecked};
    return device->runs_groups ? put_groups(program, decls, device, dialect, used, a, out, diag)
                               : emit_kernel(&how, program, used, a, out, diag);
}

static emit_dialect dialect_of(const emit_opencl_device *device) {
    emit_dialect dialect = emit_opencl;
    if (device->runs_groups) {
        run_groups(&dialect);
    }
    dialect.divides_wide = device->divides_wide;
    return dialect;
}

vyre_status emit_opencl_programs(const vyre_program *const *programs, uint32_t count,
                                 const emit_opencl_device *device, const vyre_allocator *a,
                                 vyre_text *out, uint32_t *out_failed, vyre_diag *diag) {
    const emit_dialect dialect = dialect_of(device);
    emit_used used = {{0}};
    bool double_used = device->divides_wide;
    vyre_text kernels;
    vyre_text_init(&kernels, a);
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
        vyre_text_puts(&kernels, i ? "\n" : "");
        double_used |= uses_type(vyre_program_get(programs[i]), VYRE_F64);
        status = put_one(programs[i], NULL, device, &dialect, &used, a, &kernels, diag);
        *out_failed = i;
    }
    if (status == VYRE_OK) {
        status = put_kernels(out, &dialect, &kernels, &used, double_used, a, diag);
    }
    vyre_text_finish(&kernels);
    return status;
}

static bool collect(void *text, const char *bytes, size_t length) {
    vyre_text_append(text, bytes, length);
    return true;
}

/* The schedule as a comment: what `vyre split` tells before the segments. */
static vyre_status put_schedule(const vyre_module *module, const vyre_allocator *a, vyre_text *out,
                                vyre_diag *diag) {
    vyre_text text;
    vyre_text_init(&text, a);
    vyre_status status = vyre_module_write(module, VYRE_MODULE_TEXT, a, collect, &text, diag);
    const char *shown = vyre_text_string(&text), *end = strstr(shown, "\nprogram ");
    for (const char *at = shown; status == VYRE_OK && *at && at != end;) {
        const size_t length = strcspn(at, "\n");
        vyre_text_puts(out, length ? " * " : " *");
        for (size_t i = 0; i < length; i++) { /* the name of a region may end a comment */
            vyre_text_append(out, at + i, 1);
            vyre_text_puts(out, at[i] == '*' && at[i + 1] == '/' ? " " : "");
        }
        vyre_text_puts(out, "\n");
        at += length + (at[length] == '\n' && at + length != end);
    }
    status = status == VYRE_OK ? vyre_text_status(&text, "a schedule", diag) : status;
    vyre_text_finish(&text);
    return status;
}

/* What stands above the kernels. */
static vyre_status put_head(const vyre_module *module, bool for_processor, const vyre_allocator *a,
                            vyre_text *out, vyre_diag *diag) {
    const vyre_module_view *m = vyre_module_get(module);
    vyre_text_printf(out,
                     "/* Program %s as OpenCL C 1.2, made by vyre %s: a kernel for each segment.\n"
                     " * Build with  -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt  and "
                     "nothing that relaxes floats.\n",
                     vyre_program_get(m->source)->name, VYRE_VERSION_STRING);
    if (for_processor) {
        vyre_text_puts(out, " * A work-item is a group of the program, for processors: launch as "
                            "many as there are groups, in groups of one.\n");
    }
    vyre_text_puts(out, " * Lines are those of the program's source. Launch the kernels as the "
                        "schedule says:\n"
                        " *\n");
    vyre_status status = put_schedule(module, a, out, diag);
    vyre_text_puts(out, " */\n");
    return status;
}

static vyre_status put_file(const vyre_module *module, const emit_opencl_device *device,
                            const vyre_allocator *a, vyre_text *out, vyre_diag *diag) {
    const vyre_module_view *m = vyre_module_get(module);
    const emit_dialect dialect = dialect_of(device);
    emit_used used = {{0}};
    vyre_text kernels;
    vyre_text_init(&kernels, a);
    vyre_status status = VYRE_OK;
    bool double_used = false;
    for (uint32_t i = 0; i < m->segment_count && status == VYRE_OK; i++) {
        vyre_text_puts(&kernels, i ? "\n" : "");
        double_used |= uses_type(vyre_program_get(m->segments[i]), VYRE_F64);
        status = put_one(m->segments[i], m->decls[i], device, &dialect, &used, a, &kernels, diag);
    }
    if (status == VYRE_OK) {
        status = put_head(module, device->runs_groups, a, out, diag);
    }
    if (status == VYRE_OK) {
        status = put_kernels(out, &dialect, &kernels, &used, double_used, a, diag);
    }
    vyre_text_finish(&kernels);
    return status;
}

vyre_status emit_opencl_file(const vyre_program *program, const vyre_emit_options *options,
                             const vyre_allocator *a, vyre_text *out, vyre_diag *diag) {
    vyre_capabilities can;
    vyre_status status = vyre_capabilities_named("opencl", &can, diag);
    can.checks_bounds = true; /* kernels do */
    /* as backends for such devices have it, whatever the grid */
    const vyre_split_options how = {.keep_barriers = options->keep_barriers,
                                    .any_grid = true,
                                    .turn_loops = options->for_processor,
                                    .trips_together = options->for_processor,
                                    .can = &can};
    const emit_opencl_device device = {.runs_groups = options->for_processor,
                                       .group_bytes = UINT64_MAX};
    vyre_module *module = NULL;
    if (status == VYRE_OK) {
        status = vyre_split(program, &how, a, &module, diag);
    }
    if (status == VYRE_OK) {
        status = put_file(module, &device, a, out, diag);
    }
    vyre_module_release(module);
    return status;
}
