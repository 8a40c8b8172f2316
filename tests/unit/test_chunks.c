/* State that lanes and groups own, spread over several buffers: the layout, the results on devices
 * with small buffers, sizes and indices at 2^32, and the errors where there is no room. */
#include "base/alloc.h"
#include "device/registry.h"
#include "harness/run.h"
#include "vyre/backend.h"

typedef unsigned long long ull;

/* Values of one and two words, private arrays with elements of both, workgroup memory of both, and
 * lanes that end. */
static const char mixed[] =
    "program p workgroup(4) elements(8) { out o : u32[8]; out q : u64[8]; scratch s : u32[8];\n"
    "  private a : u32[6]; private b : u64[5]; workgroup w : u32[5]; workgroup v : u64[5];\n"
    "  let i = global_id.x; let l = local_id.x; let x = i * 3 + s[i];\n"
    "  let y = u64(i) * 5000000000ul; y = y + u64(s[i]);\n"
    "  for (k in 0 .. 6) { a[k] = i * 10 + k; } for (k in 0 .. 5) { b[k] = y + u64(k); }\n"
    "  w[l] = x; v[l] = y + 7ul; if (l == 2) { w[4] = x + 100; v[4] = y + 9ul; }\n"
    "  s[i] = x; grid_sync; x += s[(i + 1) % 8]; if (i == 6) { exit; } grid_sync;\n"
    "  a[5] += x; b[4] += y; grid_sync;\n"
    "  let t = 0; for (k in 0 .. 6) { t = t * 7 + a[k]; }\n"
    "  let n = 0; for (k in 0 .. 5) { n = n * 3 + w[k]; }\n"
    "  let u = 0ul; for (k in 0 .. 5) { u = u * 11ul + b[k] + v[k]; }\n"
    "  o[i] = t + n + x; q[i] = u + y; }";

static vyre_module *split(const vyre_program *p, uint32_t lane_words, uint32_t group_words) {
    vyre_module *m = NULL;
    vyre_diag diag = {0};
    const vyre_split_options how = {
        .keep_barriers = true, .lane_words = lane_words, .group_words = group_words};
    REQUIRE_OK(vyre_split(p, &how, NULL, &m, &diag), &diag);
    return m;
}

/* Each slot and each word is in one buffer, which holds no more than it may. */
static void check_layout(const vyre_module_view *v, uint32_t lane_most, uint32_t group_most) {
    uint32_t lanes = 0, groups = 0;
    for (uint32_t i = 0; i < v->buffer_count; i++) {
        const vyre_carry_buffer *b = &v->buffers[i];
        CHECK(b->lane_words + b->group_words > 0);
        if (b->lane_words) {
            CHECK_EQ(b->lane_first, lanes);
        }
        if (b->group_words) {
            CHECK_EQ(b->group_first, groups);
        }
        CHECK(!lane_most || b->lane_words <= lane_most);
        CHECK(!group_most || b->group_words <= group_most);
        CHECK(!(lane_most || group_most) || !b->lane_words || !b->group_words);
        lanes += b->lane_words;
        groups += b->group_words;
    }
    CHECK_EQ(lanes, v->lane_words);
    CHECK_EQ(groups, v->group_words);
}

TEST(every_word_has_one_buffer) {
    vyre_program *p = run_parse(mixed);
    vyre_module *plain = split(p, 0, 0);
    const vyre_module_view *v = vyre_module_get(plain);
    CHECK_EQ(v->buffer_count, 1);
    CHECK_STR(v->buffers[0].name, "_lane");
    CHECK(v->lane_words >= 17);
    CHECK_EQ(v->group_words, 16); /* of which one keeps the next group's pairs even */
    for (uint32_t lane = 0; lane <= v->lane_words + 1; lane++) {
        for (uint32_t group = 0; group <= 16; group++) {
            vyre_module *m = split(p, lane, group);
            const vyre_module_view *spread = vyre_module_get(m);
            check_layout(spread, lane, group);
            CHECK_EQ(spread->step_count, v->step_count);
            CHECK_EQ(spread->segment_count, v->segment_count);
            CHECK_EQ(spread->lane_words, v->lane_words);
            vyre_module_release(m);
        }
    }
    vyre_module *m = split(p, 5, 8);
    v = vyre_module_get(m);
    CHECK_EQ(v->buffer_count, (v->lane_words + 3) / 4 + 2); /* no pair across a border */
    CHECK_STR(v->buffers[1].name, "_lane2");
    CHECK_STR(v->buffers[v->buffer_count - 2].name, "_group");
    CHECK_STR(v->buffers[v->buffer_count - 1].name, "_group2");
    vyre_module_release(m);
    vyre_module_release(plain);
    vyre_program_release(p);
}

TEST(too_many_buffers_are_refused) {
    vyre_program *p =
        run_parse("program p workgroup(1) elements(2) { out o : u32[2]; private a : u32[1030];\n"
                  "  a[global_id.x] = 1; grid_sync; o[0] = a[1]; }");
    vyre_module *m = NULL;
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_split(p, &(vyre_split_options){.keep_barriers = true, .lane_words = 1}, NULL,
                            &m, &diag),
                 VYRE_LIMIT, &diag);
    CHECK_HAS(diag.message, "1030 words of a lane");
    run_result r = run_program("ref-split://max_buffer=8", p, NULL, 0,
                               &(vyre_dispatch_options){.no_optimize = true});
    CHECK_STATUS(r.status, VYRE_LIMIT, &r.diag);
    CHECK_HAS(r.diag.message, "a 4120 bytes for each of 2 lanes");
    run_finish(&r);
    vyre_program_release(p);
}

TEST(buffers_of_any_size_give_the_same_bytes) {
    vyre_program *p = run_parse(mixed);
    const vyre_dispatch_options keep = {.no_optimize = true};
    run_result want = run_program("ref", p, NULL, 0, NULL);
    uint32_t last = UINT32_MAX;
    CHECK_STATUS(want.status, VYRE_OK, &want.diag);
    for (uint32_t bytes = 64; bytes <= 1200; bytes += 4) { /* q has 64 */
        char uri[64];
        snprintf(uri, sizeof uri, "ref-split://max_buffer=%u", bytes);
        run_result got = run_program(uri, p, NULL, 0, &keep);
        CHECK(run_same(&want, &got));
        CHECK(got.report.stats.carry_buffers <= last);
        last = (uint32_t)got.report.stats.carry_buffers;
        CHECK(last > 8 || bytes > 64);
        run_finish(&got);
    }
    CHECK_EQ(last, 1);
    run_finish(&want);
    vyre_program_release(p);
}

/* A word of each lane (group) fits a buffer, two do not: values of 64 bits are in two pieces. */
TEST(pairs_whose_words_lie_apart_give_the_same_bytes) {
    vyre_program *p =
        run_parse("program p workgroup(1) elements(16) { out o : u32[16]; scratch s : u32[16];\n"
                  "  private a : u64[3]; workgroup w : i64[2]; let i = global_id.x;\n"
                  "  let y = u64(i + s[i]) * 5000000007ul; let f = f64(s[i]) - f64(i) * 0.3;\n"
                  "  let z = i64(y) * -3l; a[i % 3] = y + 9ul; a[1] = y * y; w[i % 2] = z - 1l;\n"
                  "  s[i] = i; grid_sync; let t = y ^ a[0] ^ (a[1] * 3ul) ^ a[2] ^ u64(z);\n"
                  "  t = t ^ u64(w[0] * 7l + w[1]) ^ bitcast<u64>(f); y = t; grid_sync;\n"
                  "  o[i] = u32(y) ^ u32(y >> 32) * 31 + s[15 - i]; }");
    const vyre_dispatch_options keep = {.no_optimize = true};
    run_result want = run_program("ref", p, NULL, 0, NULL);
    run_result apart = run_program("ref-split://max_buffer=64", p, NULL, 0, &keep);
    run_result whole = run_program("ref-split://max_buffer=128", p, NULL, 0, &keep);
    CHECK_STATUS(want.status, VYRE_OK, &want.diag);
    CHECK(run_same(&want, &apart));
    CHECK(run_same(&want, &whole));
    CHECK(apart.report.stats.carry_buffers >= 10);
    CHECK(whole.report.stats.carry_buffers < apart.report.stats.carry_buffers);
    run_finish(&want);
    run_finish(&apart);
    run_finish(&whole);
    vyre_program_release(p);
}

/* A lane that ended in one pass lives in the next: all buffers begin as zeros. */
TEST(passes_do_not_see_each_other) {
    vyre_program *p = run_parse(
        "program p workgroup(2) elements(4) { inout v : u32[4]; private a : u32[3]; private n : "
        "u32[2];\n"
        "  let i = global_id.x; let x = v[i]; a[i % 3] = x + 1; n[1] = x * 2;\n"
        "  if (x == 0) { v[i] = 1; exit; } grid_sync;\n"
        "  if (v[i] < 90) { v[i] = v[i] + a[0] + a[1] + a[2] + n[1] + v[i] % 5; } grid_sync;\n"
        "  if (v[i] > 80) { v[i] = 80 + i; } }");
    static const uint32_t words[4] = {0, 3, 0, 5};
    vyre_input in = {words, sizeof words};
    const vyre_dispatch_options options = {
        .has_iterations = true, .iterations = 6, .no_optimize = true};
    run_result want = run_program("ref", p, &in, 1, &options);
    run_result got = run_program("ref-split://max_buffer=16", p, &in, 1, &options);
    CHECK(run_same(&want, &got));
    CHECK(run_word(&want, 0, 0) != 1); /* it went on */
    CHECK(got.report.stats.carry_buffers >= 6);
    run_finish(&want);
    run_finish(&got);
    vyre_program_release(p);
}

/* One pipeline, several grids: what fits is kept, what does not is made anew. */
TEST(a_pipeline_is_made_anew_only_where_it_must) {
    vyre_program *p = run_parse(
        "program p workgroup(2) { inout o : u32[]; private a : u32[4];\n"
        "  let i = global_id.x; let x = o[(i + 1) % len(o)]; for (k in 0 .. 4) { a[k] = x * k; }\n"
        "  grid_sync; o[i] = o[i] + a[1] + a[2] + a[3]; }");
    vyre_device *device = NULL;
    vyre_pipeline *pipeline = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_device_open(NULL, "ref-split://max_buffer=128", NULL, &device, &diag), &diag);
    REQUIRE_OK(vyre_compile(device, p, NULL, &pipeline, &diag), &diag);
    static const struct {
        uint32_t lanes, buffers, compiles;
    } grids[] = {{8, 1, 1}, {10, 2, 2}, {16, 2, 2}, {8, 2, 2}, {20, 4, 3}, {32, 4, 3}, {2, 4, 3}};
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        uint32_t words[32], n = grids[g].lanes;
        for (uint32_t i = 0; i < n; i++) {
            words[i] = i + 1;
        }
        vyre_input in = {words, 4 * (size_t)n};
        vyre_output out = {0};
        vyre_dispatch_report report = {0};
        REQUIRE_OK(vyre_pipeline_dispatch(
                       pipeline, &in, 1, &out, 1,
                       &(vyre_dispatch_options){.has_grid = true, .grid = {n / 2, 1, 1}}, &report,
                       &diag),
                   &diag);
        for (uint32_t i = 0; i < n; i++) {
            CHECK_EQ(((const uint32_t *)out.data)[i], i + 1 + 6 * ((i + 1) % n + 1));
        }
        CHECK_EQ(report.stats.carry_buffers, grids[g].buffers);
        vyre_counters counters;
        vyre_device_counters(device, &counters);
        CHECK_EQ(counters.compiles, grids[g].compiles);
        vyre_output_finish(&out, NULL);
    }
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
    vyre_program_release(p);
}

TEST(what_does_not_fit_is_named) {
    vyre_program *p = run_parse(mixed);
    static const struct {
        const char *uri;
        vyre_status status;
        const char *has[3];
    } cases[] = {
        {"ref-split://memory=500",
         VYRE_OUT_OF_MEMORY,
         {"grid barriers of p needs", "which has 500",
          "b 40 bytes for each of 8 lanes, a 24 bytes"}},
        {"ref-split://memory=100000&max_buffer=60",
         VYRE_LIMIT,
         {"q needs 64 bytes", "at most 60", ""}},
        {"fault://ref-split?op=allocate&n=4&mode=always",
         VYRE_OUT_OF_MEMORY,
         {"grid barriers of p needs", "not so much memory", "b 40 bytes for each of 8 lanes"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_result r = run_program(cases[i].uri, p, NULL, 0, NULL);
        CHECK_STATUS(r.status, cases[i].status, &r.diag);
        for (size_t k = 0; k < 3; k++) {
            CHECK_HAS(r.diag.message, cases[i].has[k]);
        }
        CHECK(r.diag.fix[0]);
        run_finish(&r);
    }
    vyre_program_release(p);
}

TEST(a_word_of_each_lane_must_fit) {
    vyre_program *p = run_parse(
        "program p workgroup(4) { inout o : u32[1]; let x = o[0] ^ global_id.x; grid_sync;\n"
        "  atomic_add(o[0], x, relaxed); }");
    uint32_t word = 0;
    vyre_input in = {&word, 4};
    for (uint32_t groups = 4; groups <= 5; groups++) {
        run_result r =
            run_program("ref-split://max_buffer=64", p, &in, 1,
                        &(vyre_dispatch_options){.has_grid = true, .grid = {groups, 1, 1}});
        CHECK_STATUS(r.status, groups == 4 ? VYRE_OK : VYRE_LIMIT, &r.diag);
        if (groups == 5) {
            CHECK_HAS(r.diag.message, "no room for a word of each of 20 lanes");
            CHECK_HAS(r.diag.fix, "fewer lanes");
        }
        run_finish(&r);
    }
    vyre_program_release(p);
}

/* A device that has memory without end and computes nothing: sizes at 2^32. */

enum { MOST_MEMORIES = 64, MOST_KERNELS = 8 };
static struct {
    uint64_t sizes[MOST_MEMORIES]; /* by handle */
    uint32_t count;
    const vyre_program *programs[MOST_KERNELS]; /* by kernel */
    uint32_t kernels, launches;
    uint64_t max_buffer;
    uint64_t lanes, groups; /* of the launches */
} vast;

static void vast_describe(vyre_backend_device *device, vyre_device_info *out_info) {
    (void)device;
    *out_info = (vyre_device_info){
        .name = "vast", .allows_split = true, .has_f64 = true, .max_buffer_bytes = vast.max_buffer};
}

static vyre_status vast_allocate(vyre_backend_device *device, uint64_t size,
                                 vyre_memory *out_memory, vyre_diag *diag) {
    (void)device, (void)diag;
    REQUIRE(vast.count + 1 < MOST_MEMORIES);
    vast.sizes[++vast.count] = size;
    *out_memory = vast.count;
    return VYRE_OK;
}

static vyre_status vast_free(vyre_backend_device *device, vyre_memory memory, vyre_diag *diag) {
    (void)device, (void)memory, (void)diag;
    return VYRE_OK;
}

static vyre_status vast_move(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                             void *data, uint64_t size, vyre_diag *diag) {
    (void)device, (void)data, (void)diag;
    CHECK(offset + size <= vast.sizes[memory]);
    return VYRE_OK;
}

static vyre_status vast_write(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                              const void *data, uint64_t size, vyre_diag *diag) {
    (void)data;
    return vast_move(device, memory, offset, NULL, size, diag);
}

static vyre_status vast_compile(vyre_backend_device *device, const vyre_program *program,
                                vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    (void)device, (void)diag;
    REQUIRE(vast.kernels < MOST_KERNELS);
    vast.programs[vast.kernels] = program;
    *out_kernel = (vyre_backend_kernel *)&vast.programs[vast.kernels++];
    return VYRE_OK;
}

static void vast_destroy(vyre_backend_device *device, vyre_backend_kernel *kernel) {
    (void)device, (void)kernel;
}

/* The largest value of an index expression, without wrapping: lanes, groups and loop variables at
 * their ends. Only what indices of carried words are made of. */
typedef struct largest {
    const vyre_program_view *p;
    const vyre_launch *launch;
    uint64_t vars[64];
} largest;

static uint64_t largest_of(const largest *x, vyre_expr e) {
    const vyre_expr_node *n = &x->p->exprs[e];
    const uint32_t *group = x->p->workgroup;
    switch ((uint32_t)n->op) {
    case VYRE_EXPR_LITERAL: return n->u.bits;
    case VYRE_EXPR_VAR: return x->vars[n->ref];
    case VYRE_EXPR_REF: return x->launch->values[n->ref];
    case VYRE_EXPR_ADD: return largest_of(x, n->u.arg[0]) + largest_of(x, n->u.arg[1]);
    case VYRE_EXPR_SUB: return largest_of(x, n->u.arg[0]) - largest_of(x, n->u.arg[1]);
    case VYRE_EXPR_MUL: return largest_of(x, n->u.arg[0]) * largest_of(x, n->u.arg[1]);
    case VYRE_EXPR_BUILTIN: {
        uint32_t axis = n->axis;
        uint64_t groups = x->launch->grid[axis], size = group[axis];
        switch ((uint32_t)n->sub) {
        case VYRE_BUILTIN_GLOBAL_ID: return groups * size - 1;
        case VYRE_BUILTIN_LOCAL_ID: return size - 1;
        case VYRE_BUILTIN_GROUP_ID: return groups - 1;
        case VYRE_BUILTIN_NUM_GROUPS: return groups;
        case VYRE_BUILTIN_GROUP_SIZE: return size;
        default: return groups * size;
        }
    }
    default: REQUIRE(false); return 0;
    }
}

/* Every index of a carried word lies inside its buffer, computed without wrapping. */
static void check_indices(const vyre_program_view *p, const vyre_launch *launch) {
    largest x = {.p = p, .launch = launch};
    REQUIRE(p->var_count <= 64);
    for (vyre_stmt i = p->entry; i < p->stmt_count; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        for (vyre_expr e = s->first_expr; e < s->end_expr; e++) {
            const vyre_expr_node *n = &p->exprs[e];
            if (n->op == VYRE_EXPR_LOAD && strncmp(p->decls[n->ref].name, "_", 1) == 0) {
                CHECK(largest_of(&x, n->u.arg[0]) < launch->counts[n->ref]);
                vast.lanes += strncmp(p->decls[n->ref].name, "_lane", 5) == 0;
                vast.groups += strncmp(p->decls[n->ref].name, "_group", 6) == 0;
            }
        }
        if (s->op == VYRE_STMT_STORE && strncmp(p->decls[s->decl].name, "_", 1) == 0) {
            CHECK(largest_of(&x, s->arg[0]) < launch->counts[s->decl]);
        }
        if (s->op == VYRE_STMT_LET && strcmp(p->vars[s->var].name, "_at") == 0) {
            x.vars[s->var] = largest_of(&x, s->arg[0]);
        } else if (s->op == VYRE_STMT_FOR && p->vars[s->var].name[0] == '_') {
            x.vars[s->var] = largest_of(&x, s->arg[1]) - 1;
        }
    }
}

static vyre_status vast_launch(vyre_backend_device *device, vyre_backend_kernel *kernel,
                               const vyre_launch *launch, vyre_launch_result *out_result,
                               vyre_diag *diag) {
    (void)device, (void)out_result, (void)diag;
    const vyre_program_view *p = vyre_program_get(*(const vyre_program **)kernel);
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        if (launch->memory[d]) {
            uint64_t bytes = vyre_type_size((vyre_type)p->decls[d].type);
            CHECK_EQ(bytes * launch->counts[d], vast.sizes[launch->memory[d]]);
            CHECK(!vast.max_buffer || vast.sizes[launch->memory[d]] <= vast.max_buffer);
        }
    }
    check_indices(p, launch);
    vast.launches++;
    return VYRE_OK;
}

static run_result run_vast(const char *text, uint32_t groups, uint64_t max_buffer) {
    static vyre_device_table table;
    static vyre_backend backend;
    const vyre_backend *ref = vyre_registry_find(NULL, "ref", 3);
    memset(&vast, 0, sizeof vast);
    vast.max_buffer = max_buffer;
    table = *ref->device;
    table.describe = vast_describe;
    table.allocate = vast_allocate;
    table.free = vast_free;
    table.write = vast_write;
    table.read = vast_move;
    table.compile = vast_compile;
    table.destroy = vast_destroy;
    table.launch = vast_launch;
    backend = *ref;
    backend.name = "vast";
    backend.device = &table;
    vyre_registry *registry = NULL;
    vyre_device *device = NULL;
    REQUIRE_OK(vyre_registry_create(NULL, &registry), NULL);
    REQUIRE_OK(vyre_registry_add(registry, &backend, NULL), NULL);
    REQUIRE_OK(vyre_device_open(registry, "vast", NULL, &device, NULL), NULL);
    vyre_program *p = run_parse(text);
    run_result r = {.output_count = 1};
    const vyre_dispatch_options options = {
        .has_grid = true, .grid = {groups, 1, 1}, .no_optimize = true};
    r.status = vyre_dispatch(device, p, NULL, 0, r.outputs, 1, &options, &r.report, &r.diag);
    vyre_program_release(p);
    vyre_device_close(device);
    vyre_registry_destroy(registry);
    return r;
}

/* 40 words of each lane, 256 lanes in a group, and workgroup memory. */
static const char forty[] =
    "program p workgroup(256) { out o : u32[1]; private a : u32[35]; private b : u64[2];\n"
    "  workgroup w : u32[300]; let x = o[0] ^ global_id.x; a[x % 35] = x; b[x % 2] = u64(x);\n"
    "  w[local_id.x] = x; grid_sync; o[0] = x + a[0] + u32(b[1]) + w[299]; }";

TEST(forty_words_of_two_to_the_28_lanes_do_not_wrap) {
    run_result r = run_vast(forty, 1 << 20, 0);
    CHECK_STATUS(r.status, VYRE_OK, &r.diag);
    /* 15 slots of 2^28 lanes are below 2^32 words: 40 are in 3 buffers of 14, 14 and 12. Of 300
     * words of 2^20 groups all are in one. */
    CHECK_EQ(r.report.stats.carry_buffers, 4);
    CHECK_EQ(vast.launches, 2);
    CHECK_EQ(vast.sizes[2], UINT64_C(4) * 14 << 28);
    CHECK_EQ(vast.sizes[3], UINT64_C(4) * 14 << 28);
    CHECK_EQ(vast.sizes[4], UINT64_C(4) * 12 << 28);
    CHECK_EQ(vast.sizes[5], UINT64_C(4) * 300 << 20);
    CHECK(vast.lanes >= 3 && vast.groups >= 1); /* indices were seen */
    run_finish(&r);
}

TEST(the_largest_grids_and_buffers_that_fit) {
    static const struct {
        uint32_t groups, buffers;
        uint64_t max_buffer;
    } cases[] = {
        {1, 1, 0},
        {(1 << 24) - 1, 42, 0},                             /* nearly 2^32 lanes: a slot in each */
        {1 << 10, 2, UINT64_C(4) * (40 << 18)},             /* groups do not fit behind the lanes */
        {1 << 10, 1, UINT64_C(4) * (40 * 256 + 300) << 10}, /* exactly */
        {1 << 10, 2, (UINT64_C(4) * (40 * 256 + 300) << 10) - 1}, /* not any more */
        {1 << 10, 42, UINT64_C(4) << 18}, /* a slot in each, groups in two */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_result r = run_vast(forty, cases[i].groups, cases[i].max_buffer);
        CHECK_STATUS(r.status, VYRE_OK, &r.diag);
        CHECK_EQ(r.report.stats.carry_buffers, cases[i].buffers);
        CHECK_EQ(vast.launches, 2);
        if (test_failed()) {
            printf("with %u groups, max_buffer %llu\n", cases[i].groups, (ull)cases[i].max_buffer);
        }
        run_finish(&r);
    }
    run_result r = run_vast(forty, 1 << 24, 0);
    CHECK_STATUS(r.status, VYRE_LIMIT, &r.diag);
    run_finish(&r);
}
