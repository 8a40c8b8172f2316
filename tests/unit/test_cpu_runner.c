/* The runner of schedules (backend/cpu/run.c) with the team and the barrier, on segments that the C
 * compiler has compiled: so the thread sanitizer sees all that workers do, which it does not in
 * code that is made at run time. The device takes one program, whose two segments are functions
 * here. */
#include <pthread.h>

#include "backend/cpu/run.h"
#include "base/alloc.h"
#include "base/diag.h"
#include "harness/run.h"
#include "kit/host_memory.h"

enum { GROUP = 16, AHEAD = 3 * GROUP, ROUNDS = 20, N = GROUP * 64 };

/* Which declaration of its segment each is; the second segment has the flag. */
typedef struct names {
    vyre_decl a, b, flag;
} names;
static names first_names, second_names;

static uint32_t *words_of(const cpu_context *c, vyre_decl decl) {
    return c->buffers[decl].bytes;
}

static void first_segment(cpu_context *c, uint64_t begin, uint64_t end) {
    const uint32_t *b = words_of(c, first_names.b);
    uint32_t *a = words_of(c, first_names.a);
    for (uint64_t i = begin * GROUP; i < end * GROUP; i++) {
        a[i] = b[(i + GROUP) % N] + 1;
    }
}

static void second_segment(cpu_context *c, uint64_t begin, uint64_t end) {
    const uint32_t *a = words_of(c, second_names.a);
    uint32_t *b = words_of(c, second_names.b), *flag = words_of(c, second_names.flag);
    for (uint64_t i = begin * GROUP; i < end * GROUP; i++) {
        b[i] = a[(i + AHEAD) % N] * 3;
        if (i == 0) {
            flag[0]++;
        }
    }
}

static const char text[] =
    "program p workgroup(16) { inout a : u32[]; inout b : u32[len(a)]; inout flag : u32[1];\n"
    "  let i = global_id.x;\n"
    "  while (flag[0] < 20) {\n"
    "    a[i] = b[(i + 16) % len(a)] + 1;\n"
    "    grid_sync;\n"
    "    b[i] = a[(i + 48) % len(a)] * 3; if (i == 0) { flag[0] = flag[0] + 1; }\n"
    "    grid_sync; } }";

typedef struct device {
    vyre_host_device host;
    vyre_team *team;
} device;

static vyre_status open_it(const vyre_backend *backend, const char *path,
                           const vyre_allocator *allocator, vyre_backend_device **out,
                           vyre_diag *diag) {
    (void)backend, (void)path;
    const vyre_team_options options = {.threads = 2};
    device *d = vyre_alloc_zeroed(allocator, 1, sizeof *d);
    REQUIRE(d != NULL);
    d->host.allocator = *allocator;
    *out = (vyre_backend_device *)d;
    return vyre_team_create(&options, allocator, &d->team, diag);
}

static void close_it(vyre_backend_device *object) {
    device *d = (device *)object;
    const vyre_allocator a = d->host.allocator;
    vyre_team_destroy(d->team);
    vyre_free(&a, d, 1, sizeof *d);
}

static void describe(vyre_backend_device *object, vyre_device_info *out_info) {
    (void)object;
    *out_info = (vyre_device_info){.level = VYRE_LEVEL_SCHEDULE, .allows_split = true};
}

static names names_in(const vyre_program *segment) {
    return (names){vyre_program_find_decl(segment, "a"), vyre_program_find_decl(segment, "b"),
                   vyre_program_find_decl(segment, "flag")};
}

static vyre_status compile_module(vyre_backend_device *object, const vyre_module *module,
                                  vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    const vyre_allocator *a = &((device *)object)->host.allocator;
    const vyre_module_view *m = vyre_module_get(module);
    cpu_kernel *kernel = vyre_alloc_zeroed(a, 1, sizeof *kernel);
    REQUIRE(kernel != NULL && m->segment_count == 2);
    kernel->module = module;
    kernel->piece_count = 2;
    kernel->pieces = vyre_alloc_zeroed(a, 2, sizeof *kernel->pieces);
    REQUIRE(kernel->pieces != NULL);
    for (uint32_t i = 0; i < 2; i++) {
        REQUIRE_OK(cpu_group_create(m->segments[i], a, &kernel->pieces[i].group, diag), diag);
    }
    if (first_names.a == first_names.b) { /* by the first one, before there are threads */
        first_names = names_in(m->segments[0]);
        second_names = names_in(m->segments[1]);
    }
    kernel->pieces[0].run = first_segment;
    kernel->pieces[1].run = second_segment;
    *out_kernel = (vyre_backend_kernel *)kernel;
    return VYRE_OK;
}

static void destroy(vyre_backend_device *object, vyre_backend_kernel *handle) {
    const vyre_allocator *a = &((device *)object)->host.allocator;
    cpu_kernel *kernel = (cpu_kernel *)handle;
    cpu_kernel_rest(kernel, a);
    for (uint32_t i = 0; i < kernel->piece_count; i++) {
        cpu_group_finish(&kernel->pieces[i].group, a);
    }
    vyre_free(a, kernel->pieces, kernel->piece_count, sizeof *kernel->pieces);
    vyre_free(a, kernel, 1, sizeof *kernel);
}

static vyre_status run_module(vyre_backend_device *object, vyre_backend_kernel *kernel,
                              const vyre_module_launch *pass, vyre_launch_result *out_result,
                              vyre_diag *diag) {
    const device *d = (const device *)object;
    return cpu_run_module((cpu_kernel *)kernel, d->team, pass, &d->host.allocator, out_result,
                          diag);
}

static vyre_status compile(vyre_backend_device *object, const vyre_program *program,
                           vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    (void)object, (void)program, (void)out_kernel;
    return vyre_fail(diag, VYRE_UNSUPPORTED, NULL, "only modules are run here");
}

static vyre_status launch(vyre_backend_device *object, vyre_backend_kernel *kernel,
                          const vyre_launch *how, vyre_launch_result *out_result, vyre_diag *diag) {
    (void)object, (void)kernel, (void)how, (void)out_result;
    return vyre_fail(diag, VYRE_UNSUPPORTED, NULL, "only modules are run here");
}

static const vyre_device_table table = {VYRE_HOST_MEMORY_ENTRIES,
                                        .close = close_it,
                                        .describe = describe,
                                        .compile = compile,
                                        .destroy = destroy,
                                        .launch = launch,
                                        .compile_module = compile_module,
                                        .run_module = run_module};
static const vyre_backend backend = {.name = "compiled",
                                     .description = "segments by the C compiler",
                                     .rank = 950,
                                     .device = &table,
                                     .open = open_it};

typedef struct caller {
    vyre_device *device;
    bool right;
} caller;

/* One dispatch, compared with the same in a loop; one that is out of time, and goes on no more. */
static void *call(void *user) {
    caller *c = user;
    static const uint32_t zeros[N];
    uint32_t a[N] = {0}, b[N] = {0};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < N; i++) {
            a[i] = b[(i + GROUP) % N] + 1;
        }
        for (uint32_t i = 0; i < N; i++) {
            b[i] = a[(i + AHEAD) % N] * 3;
        }
    }
    vyre_program *program = run_parse(text);
    const vyre_input inputs[] = {{zeros, sizeof zeros}, {zeros, sizeof zeros}, {zeros, 4}};
    vyre_output outputs[3] = {{0}};
    vyre_diag diag = {0};
    c->right = true;
    for (uint32_t i = 0; i < 4; i++) {
        const vyre_status status =
            vyre_dispatch(c->device, program, inputs, 3, outputs, 3, NULL, NULL, &diag);
        c->right &= status == VYRE_OK && memcmp(outputs[0].data, a, sizeof a) == 0 &&
                    memcmp(outputs[1].data, b, sizeof b) == 0;
        const vyre_dispatch_options soon = {.timeout_ns = 1};
        c->right &= vyre_dispatch(c->device, program, inputs, 3, outputs, 3, &soon, NULL, NULL) ==
                    VYRE_TIMEOUT;
    }
    for (uint32_t i = 0; i < 3; i++) {
        vyre_output_finish(&outputs[i], NULL);
    }
    vyre_program_release(program);
    return NULL;
}

TEST(segments_of_the_c_compiler_run_as_the_schedule_says) {
    vyre_device *opened = run_open_backend(&backend);
    caller one = {opened, false};
    (void)call(&one);
    CHECK(one.right);
    caller callers[4] = {{opened, false}, {opened, false}, {opened, false}, {opened, false}};
    test_in_threads(call, callers, sizeof callers[0]);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(callers[i].right);
    }
    vyre_device_close(opened);
}
