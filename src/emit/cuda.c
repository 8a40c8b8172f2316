/* CUDA C++: a kernel for each segment, one thread for each lane, and the host part of C around them
 * (c_entry.c), whose functions work on device memory here. A program that waits for its grid, and
 * whose lanes all live until then, is also written as one cooperative kernel with grid.sync(): a
 * pass takes it if all groups are resident at once, else it launches the segments.
 *
 * Floats round as ours without fused multiply-add; atomics on f32 go by compare and exchange, since
 * the device's own flush subnormals. Scalars that are in memory are read back, which waits. */
#include <stdio.h>

#include "base/diag.h"
#include "emit/c.h"

enum { MOST_LANES = 1024, MOST_SHARED = 48 << 10 };
#define BIT(stmt) (UINT64_C(1) << VYRE_STMT_##stmt)

static const char *atomic_text(vyre_atomic_op op, vyre_type type) {
    static const char *const narrow[VYRE_ATOMIC_COUNT] = {
        [VYRE_ATOMIC_ADD] = "    return atomicAdd(p, v);\n",
        [VYRE_ATOMIC_SUB] = "    return atomicSub(p, v);\n",
        [VYRE_ATOMIC_MIN] = "    return atomicMin(p, v);\n",
        [VYRE_ATOMIC_MAX] = "    return atomicMax(p, v);\n",
        [VYRE_ATOMIC_AND] = "    return atomicAnd(p, v);\n",
        [VYRE_ATOMIC_OR] = "    return atomicOr(p, v);\n",
        [VYRE_ATOMIC_XOR] = "    return atomicXor(p, v);\n",
        [VYRE_ATOMIC_EXCHANGE] = "    return atomicExch(p, v);\n",
        [VYRE_ATOMIC_CAS] = "    return atomicCAS(p, e, v);\n",
    };
    static const char *const wide[VYRE_ATOMIC_COUNT] = {
        [VYRE_ATOMIC_ADD] = "    return ($T)atomicAdd((vy_wide *)p, (vy_wide)v);\n",
        [VYRE_ATOMIC_SUB] = "    return ($T)atomicAdd((vy_wide *)p, 0 - (vy_wide)v);\n",
        [VYRE_ATOMIC_EXCHANGE] = "    return ($T)atomicExch((vy_wide *)p, (vy_wide)v);\n",
        [VYRE_ATOMIC_CAS] = "    return ($T)atomicCAS((vy_wide *)p, (vy_wide)e, (vy_wide)v);\n",
    };
    op = op == VYRE_ATOMIC_CAS_WEAK ? VYRE_ATOMIC_CAS : op;
    return emit_native_atomic(narrow, wide, op, type);
}

static void put_kernel_head(vyre_text *out, const uint32_t size[3]) {
    vyre_text_printf(out, "static __global__ void __launch_bounds__(%u)\n",
                     (unsigned)(size[0] * size[1] * size[2]));
}

const emit_dialect emit_cuda = {
    .name = "cuda",
    .suffix = ".cu",
    .function = "static __host__ __device__ inline",
    .kernel_function = "static __device__ inline",
    .space = {"", "", ""},
    .u64 = "ull",
    .i64 = "ll",
    .float_function = "f",
    .popcount = {"vy_ones(x)", "vy_ones(x)"},
    .mul_high = {"(uint64_t)((unsigned __int128)a * b >> 64)", "(int64_t)((__int128)a * b >> 64)"},
    .element = "vy_get(p, i)",
    .restricted = "",
    .workgroup = "__shared__ ",
    .end_lane = "return;",
    .barrier = "__syncthreads();",
    .grid_sync = "vy_grid.sync();",
    .swap = "vy_exchange(vy_grid, $X, $Y, $a0);",
    .fence = "__threadfence();",
    .atomic = atomic_text,
    .ids = {[VYRE_BUILTIN_GLOBAL_ID] = "blockIdx.$x * $s + threadIdx.$x",
            [VYRE_BUILTIN_LOCAL_ID] = "threadIdx.$x",
            [VYRE_BUILTIN_GROUP_ID] = "blockIdx.$x",
            [VYRE_BUILTIN_NUM_GROUPS] = "gridDim.$x",
            [VYRE_BUILTIN_GLOBAL_SIZE] = "gridDim.$x * $s"},
    .kernel = put_kernel_head,
};

/* What every device has; a kernel that needs more would have to ask for it. */
static vyre_status check_limits(const vyre_program_view *p, vyre_diag *diag) {
    const uint64_t lanes = (uint64_t)p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
    const uint64_t bytes = emit_workgroup_bytes(p);
    return lanes <= MOST_LANES && p->workgroup[2] <= 64 && bytes <= MOST_SHARED
               ? VYRE_OK
               : vyre_fail(diag, VYRE_UNSUPPORTED, "use smaller workgroups",
                           "%s has workgroups of %llu lanes with %llu bytes; blocks of CUDA have "
                           "%d threads (64 along z) and %d bytes",
                           p->name, (unsigned long long)lanes, (unsigned long long)bytes,
                           MOST_LANES, MOST_SHARED);
}

static void put_launch(emit_c_state *file, const emit_program *e, bool waits) {
    vyre_text *out = &file->segments;
    const uint32_t *size = e->p->workgroup;
    vyre_text_printf(out, "\nstatic void %s(const vy_group *vy", e->p->name);
    emit_params(out, e, ", ");
    vyre_text_printf(out,
                     ") {\n"
                     "    %s_kernel<<<vy_blocks(vy), dim3(%u, %u, %u), 0, cudaStreamPerThread>>>(",
                     e->p->name, (unsigned)size[0], (unsigned)size[1], (unsigned)size[2]);
    emit_arguments(out, e, "", "");
    vyre_text_printf(out, ");\n    vy_check(cudaGetLastError());\n%s}\n\n",
                     waits ? "    vy_check(cudaStreamSynchronize(cudaStreamPerThread)); // traps\n"
                           : "");
}

static vyre_status put_segment(emit_c_state *file, uint32_t number, vyre_diag *diag) {
    const vyre_module_view *m = vyre_module_get(file->module);
    const vyre_program *segment = m->segments[number];
    const vyre_program_view *p = vyre_program_get(segment);
    const emit_kernel_text how = {
        .dialect = &emit_cuda, .name = p->name, .prologue = "", .decls = m->decls[number]};
    emit_program e;
    vyre_status status = check_limits(p, diag);
    emit_c_sites_text(file, number);
    if (status == VYRE_OK) {
        status = emit_kernel(&how, segment, &file->used, &file->a, &file->segments, diag);
    }
    if (status == VYRE_OK) {
        status = emit_program_init(&e, &emit_cuda, &file->used, &file->segments, segment, false,
                                   &file->a, diag);
    }
    if (status == VYRE_OK) {
        put_launch(file, &e, emit_c_trap_decl(m, number) != VYRE_NONE);
        emit_program_finish(&e);
    }
    return status;
}

/* The source, lowered with its grid barriers, or NULL: it waits for none, lanes may have ended
 * before one, or it holds what only a schedule can do. */
static vyre_status lower_whole(const emit_c_state *file, vyre_program **out_program,
                               vyre_diag *diag) {
    const vyre_module_view *m = vyre_module_get(file->module);
    const uint64_t kinds = vyre_program_get(m->source)->stats.stmt_kinds;
    const uint64_t refused = BIT(EXIT) | BIT(TRAP) | BIT(PART) | BIT(COMBINE) | BIT(BASE) |
                             BIT(ALL_REDUCE) | BIT(ALL_GATHER) | BIT(REDUCE_SCATTER) |
                             BIT(BROADCAST);
    vyre_capabilities can;
    *out_program = NULL;
    if (!(kinds & (BIT(GRID_SYNC) | BIT(SWAP))) || kinds & refused) {
        return VYRE_OK;
    }
    (void)vyre_capabilities_named("opencl", &can, NULL);
    can.checks_bounds = true; /* the text does */
    vyre_status status = vyre_lower(m->source, &can, &file->a, out_program, NULL);
    if (status == VYRE_OK && check_limits(vyre_program_get(*out_program), NULL) != VYRE_OK) {
        vyre_program_release(*out_program);
        *out_program = NULL;
    }
    return status == VYRE_OUT_OF_MEMORY ? vyre_fail_memory(diag, "the text of a program") : VYRE_OK;
}

/* The kernel, and its launch in the pass. Lowering may add workgroup memory but no arguments, so
 * that those of the source are the kernel's. */
static vyre_status put_whole(emit_c_state *file, emit_program *e, vyre_diag *diag) {
    vyre_program *whole = NULL;
    vyre_status status = lower_whole(file, &whole, diag);
    if (!whole) {
        return status;
    }
    char name[VYRE_LIMIT_NAME + 8];
    (void)snprintf(name, sizeof name, "%s_grid", file->name);
    const emit_kernel_text how = {.dialect = &emit_cuda,
                                  .name = name,
                                  .prologue = "    const cooperative_groups::grid_group vy_grid = "
                                              "cooperative_groups::this_grid();\n"};
    vyre_text_puts(&file->segments,
                   "/* All of it, for a grid whose groups are resident at once. */\n\n");
    status = emit_kernel(&how, whole, &file->used, &file->a, &file->segments, diag);
    vyre_text_puts(&file->segments, "\n");
    vyre_program_release(whole);
    const uint32_t *size = e->p->workgroup;
    emit_line(e, "if (!args->vy_by_segments && vy_fits((const void *)%s_kernel, vy, %u)) {", name,
              (unsigned)(size[0] * size[1] * size[2]));
    vyre_text_puts(e->out, "        void *vy_given[] = {");
    emit_arguments(e->out, e, "", "(void *)&");
    vyre_text_printf(
        e->out,
        "};\n        vy_check(cudaLaunchCooperativeKernel((const void *)%s_kernel, vy_blocks(vy),\n"
        "            dim3(%u, %u, %u), vy_given, 0, cudaStreamPerThread));\n"
        "        goto vy_done;\n    }\n",
        name, (unsigned)size[0], (unsigned)size[1], (unsigned)size[2]);
    return status;
}

static const emit_part parts[] = {
    {"vy_wide", "typedef unsigned long long vy_wide;\n\n"},
    {"vy_fits(",
     "/* Whether all groups of the grid are resident at once. */\n"
     "static bool vy_fits(const void *kernel, const vy_group *vy, int lanes) {\n"
     "    int device = 0, can = 0, units = 0, each = 0;\n"
     "    vy_check(cudaGetDevice(&device));\n"
     "    vy_check(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, device));\n"
     "    vy_check(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device));\n"
     "    vy_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, lanes, 0));\n"
     "    return can && vy_count(vy) <= (uint64_t)units * (uint64_t)each;\n"
     "}\n\n"},
    {"vy_exchange(",
     "template <typename G, typename T>\n"
     "static __device__ void vy_exchange(const G &grid, T *a, T *b, uint64_t count) {\n"
     "    grid.sync();\n"
     "    for (uint64_t i = grid.thread_rank(); i < count; i += grid.size()) {\n"
     "        const T kept = a[i];\n"
     "        a[i] = b[i];\n"
     "        b[i] = kept;\n"
     "    }\n"
     "    grid.sync();\n"
     "}\n\n"},
    {"vy_get(", "/* An element, also for the host, which waits for it. */\n"
                "template <typename T>\n"
                "static __host__ __device__ inline T vy_get(const T *p, uint32_t i) {\n"
                "#ifdef __CUDA_ARCH__\n"
                "    return p[i];\n"
                "#else\n"
                "    T value;\n"
                "    vy_read(&value, p + i, sizeof value);\n"
                "    return value;\n"
                "#endif\n"
                "}\n\n"},
    {"vy_ones(", "static __host__ __device__ inline int vy_ones(uint64_t x) {\n"
                 "#ifdef __CUDA_ARCH__\n"
                 "    return __popcll(x);\n"
                 "#else\n"
                 "    return __builtin_popcountll(x);\n"
                 "#endif\n"
                 "}\n\n"},
    {"vy_zeros(",
     "static void *vy_zeros(uint64_t count, uint64_t size) {\n"
     "    void *memory = NULL;\n"
     "    if (cudaMalloc(&memory, (count ? count : 1) * size) != cudaSuccess) return NULL;\n"
     "    vy_check(cudaMemsetAsync(memory, 0, count * size, cudaStreamPerThread));\n"
     "    return memory;\n"
     "}\n\n"},
    {"vy_managed(",
     "/* The host reads it, too. */\n"
     "static void *vy_managed(uint64_t count, uint64_t size) {\n"
     "    void *memory = NULL;\n"
     "    if (cudaMallocManaged(&memory, count * size) != cudaSuccess) return NULL;\n"
     "    memset(memory, 0, count * size);\n"
     "    return memory;\n"
     "}\n\n"},
    {"vy_free(", "#define vy_free(memory) (void)cudaFree(memory)\n\n"},
    {"vy_clear(", "#define vy_clear(to, size) \\\n"
                  "    vy_check(cudaMemsetAsync(to, 0, size, cudaStreamPerThread))\n\n"},
    {"vy_copy(", "#define vy_copy(to, from, size) \\\n"
                 "    vy_check(cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, "
                 "cudaStreamPerThread))\n\n"},
    {"vy_swap(",
     "static void vy_swap(void *a, void *b, size_t size) {\n"
     "    void *kept = NULL;\n"
     "    vy_check(cudaMallocAsync(&kept, size + 1, cudaStreamPerThread));\n"
     "    vy_check(cudaMemcpyAsync(kept, a, size, cudaMemcpyDefault, cudaStreamPerThread));\n"
     "    vy_check(cudaMemcpyAsync(a, b, size, cudaMemcpyDefault, cudaStreamPerThread));\n"
     "    vy_check(cudaMemcpyAsync(b, kept, size, cudaMemcpyDefault, cudaStreamPerThread));\n"
     "    vy_check(cudaFreeAsync(kept, cudaStreamPerThread));\n"
     "}\n\n"},
    {NULL, NULL}};

static const emit_host host = {
    .dialect = &emit_cuda,
    .capabilities = "opencl",
    .segment = put_segment,
    .before_steps = put_whole,
    .head =
        "/* Program $X as CUDA C++, made by vyre $Y.\n"
        " *\n"
        " * Compile with  nvcc -rdc=true -fmad=false -Xcompiler -ffp-contract=off -c FILE  (CUDA "
        "11.5 or later)\n"
        " * and nothing that relaxes floats. Buffers are device memory. A pass works on the stream "
        "of its\n"
        " * thread and is done when it returns. Lines are those of the program's source.\n"
        " * Everything below but $X_args, $X_trap, $X_pass, $X_run and the codes is its own "
        "affair. */\n"
        "#include <cooperative_groups.h>\n#include <cstdint>\n#include <cstring>\n",
    .code = "_DEVICE",
    .args = "    bool vy_by_segments; /* launch segments, also where one kernel could do all */\n",
    .support =
        "/* The grid: how large it is. */\n"
        "typedef struct vy_group {\n"
        "    uint32_t groups_x, groups_y, groups_z;\n"
        "    $X_trap *trap;\n"
        "} vy_group;\n\n"
        "static inline dim3 vy_blocks(const vy_group *grid) {\n"
        "    return dim3(grid->groups_x, grid->groups_y, grid->groups_z);\n"
        "}\n\n"
        "static inline void vy_check(cudaError_t code) {\n"
        "    if (code != cudaSuccess) throw code;\n"
        "}\n\n"
        "__attribute__((unused)) static void vy_read(void *to, const void *from, size_t size) {\n"
        "    vy_check(cudaStreamSynchronize(cudaStreamPerThread));\n"
        "    vy_check(cudaMemcpy(to, from, size, cudaMemcpyDeviceToHost));\n"
        "}\n\n",
    .parts = parts,
    .trap_memory = "vy_managed",
    .call = "    try {\n"
            "        vy_code = vy_pass(args, vy_fresh, vy_held, &vy_found);\n"
            "    } catch (cudaError_t) {\n"
            "        vy_code = $X_DEVICE;\n"
            "    }\n",
    .done = "    vy_check(cudaStreamSynchronize(cudaStreamPerThread));\n",
};

vyre_status emit_cuda_file(const vyre_program *program, const vyre_emit_options *options,
                           const vyre_allocator *a, vyre_text *out, vyre_diag *diag) {
    return emit_hosted_file(&host, program, options, a, out, diag);
}
