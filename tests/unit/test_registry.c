/* Backends, devices by URI, buffers, and the fault decorator. */
#include "base/clock.h"
#include "device/registry.h"
#include "harness/run.h"
#include "vyre/backend.h"

/* A backend that is there only on paper: opening and describing is all it does. */
typedef struct paper {
    vyre_backend backend;
    vyre_device_info info;
    bool is_absent;
    uint64_t slow_ns; /* opening takes at least this long */
    uint64_t took_ns; /* opening took so long */
    int opened, closed;
} paper;

typedef struct paper_device {
    paper *owner;
} paper_device;

static paper_device slots[8];
static uint32_t slot_count;

static vyre_status paper_open(const vyre_backend *backend, const char *path,
                              const vyre_allocator *a, vyre_backend_device **out, vyre_diag *diag) {
    (void)path, (void)a, (void)diag;
    paper *p = (paper *)(uintptr_t)backend;
    if (p->is_absent) {
        return VYRE_NOT_FOUND;
    }
    uint64_t begin = vyre_clock_now();
    do {
        p->took_ns = vyre_clock_now() - begin;
    } while (p->took_ns < p->slow_ns);
    p->opened++;
    slots[slot_count] = (paper_device){p};
    *out = (vyre_backend_device *)&slots[slot_count++];
    return VYRE_OK;
}
static void paper_close(vyre_backend_device *d) {
    ((paper_device *)d)->owner->closed++;
}
static void paper_describe(vyre_backend_device *d, vyre_device_info *info) {
    *info = ((paper_device *)d)->owner->info;
}
static vyre_status paper_allocate(vyre_backend_device *d, uint64_t size, vyre_memory *out,
                                  vyre_diag *diag) {
    (void)d, (void)size, (void)diag;
    *out = 0;
    return VYRE_OUT_OF_MEMORY;
}
static vyre_status paper_free(vyre_backend_device *d, vyre_memory m, vyre_diag *diag) {
    (void)d, (void)m, (void)diag;
    return VYRE_OK;
}
static vyre_status paper_write(vyre_backend_device *d, vyre_memory m, uint64_t offset,
                               const void *data, uint64_t size, vyre_diag *diag) {
    (void)d, (void)m, (void)offset, (void)data, (void)size, (void)diag;
    return VYRE_UNSUPPORTED;
}
static vyre_status paper_read(vyre_backend_device *d, vyre_memory m, uint64_t offset, void *data,
                              uint64_t size, vyre_diag *diag) {
    (void)d, (void)m, (void)offset, (void)data, (void)size, (void)diag;
    return VYRE_UNSUPPORTED;
}
static vyre_status paper_copy(vyre_backend_device *d, vyre_memory to, uint64_t to_offset,
                              vyre_memory from, uint64_t from_offset, uint64_t size,
                              vyre_diag *diag) {
    (void)d, (void)to, (void)to_offset, (void)from, (void)from_offset, (void)size, (void)diag;
    return VYRE_UNSUPPORTED;
}
static vyre_status paper_zero(vyre_backend_device *d, vyre_memory m, uint64_t offset, uint64_t size,
                              vyre_diag *diag) {
    (void)d, (void)m, (void)offset, (void)size, (void)diag;
    return VYRE_UNSUPPORTED;
}
static vyre_status paper_compile(vyre_backend_device *d, const vyre_program *p,
                                 vyre_backend_kernel **out, vyre_diag *diag) {
    (void)d, (void)p, (void)out, (void)diag;
    return VYRE_UNSUPPORTED;
}
static void paper_destroy(vyre_backend_device *d, vyre_backend_kernel *k) {
    (void)d, (void)k;
}
static vyre_status paper_launch(vyre_backend_device *d, vyre_backend_kernel *k,
                                const vyre_launch *launch, vyre_launch_result *out,
                                vyre_diag *diag) {
    (void)d, (void)k, (void)launch, (void)out, (void)diag;
    return VYRE_UNSUPPORTED;
}
static const vyre_device_table paper_table = {
    .close = paper_close,
    .describe = paper_describe,
    .allocate = paper_allocate,
    .free = paper_free,
    .write = paper_write,
    .read = paper_read,
    .copy = paper_copy,
    .zero = paper_zero,
    .compile = paper_compile,
    .destroy = paper_destroy,
    .launch = paper_launch,
};

static paper make_paper(const char *name, uint32_t rank) {
    return (paper){.backend = {.name = name,
                               .description = "on paper",
                               .rank = rank,
                               .device = &paper_table,
                               .open = paper_open}};
}

TEST(builtin_backends_are_listed_best_first) {
    REQUIRE(vyre_backend_count(NULL) >= 1);
    vyre_registry *r = NULL;
    REQUIRE_OK(vyre_registry_create(NULL, &r), NULL);
    REQUIRE(vyre_backend_count(r) == vyre_backend_count(NULL));
    bool has_ref = false;
    for (uint32_t i = 0; i < vyre_backend_count(NULL); i++) {
        /* The registry sorts; the constant table must be sorted already. */
        CHECK_STR(vyre_backend_name(NULL, i), vyre_backend_name(r, i));
        has_ref = has_ref || strcmp(vyre_backend_name(r, i), "ref") == 0;
    }
    CHECK(has_ref);
    CHECK(vyre_backend_name(NULL, vyre_backend_count(NULL)) == NULL);
    vyre_registry_destroy(r);
    vyre_registry_destroy(NULL);
}

TEST(added_backends_are_ordered_by_rank_then_name) {
    vyre_registry *r = NULL;
    REQUIRE_OK(vyre_registry_create(NULL, &r), NULL);
    paper b = make_paper("b", 5), a = make_paper("a", 5), best = make_paper("best", 1);
    REQUIRE_OK(vyre_registry_add(r, &b.backend, NULL), NULL);
    REQUIRE_OK(vyre_registry_add(r, &a.backend, NULL), NULL);
    REQUIRE_OK(vyre_registry_add(r, &best.backend, NULL), NULL);
    CHECK_STR(vyre_backend_name(r, 0), "best");
    CHECK_STR(vyre_backend_name(r, 1), "a");
    CHECK_STR(vyre_backend_name(r, 2), "b");
    vyre_registry_destroy(r);
}

TEST(bad_registrations_are_refused) {
    vyre_registry *r = NULL;
    REQUIRE_OK(vyre_registry_create(NULL, &r), NULL);
    vyre_diag diag = {0};
    paper twice = make_paper("ref", 1), space = make_paper(" x", 1),
          automatic = make_paper("auto", 1), fault = make_paper("fault", 1);
    CHECK_STATUS(vyre_registry_add(r, &twice.backend, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_HAS(diag.message, "already registered");
    CHECK_STATUS(vyre_registry_add(r, &space.backend, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_registry_add(r, &automatic.backend, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_registry_add(r, &fault.backend, &diag), VYRE_INVALID_ARGUMENT, &diag);
    paper partial = make_paper("partial", 1);
    vyre_device_table without_zero = paper_table;
    without_zero.zero = NULL;
    partial.backend.device = &without_zero;
    CHECK_STATUS(vyre_registry_add(r, &partial.backend, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_HAS(diag.message, "\"zero\"");
    CHECK_STATUS(vyre_registry_add(r, NULL, &diag), VYRE_INVALID_ARGUMENT, &diag);
    vyre_registry_destroy(r);
}

TEST(auto_takes_the_best_that_is_present_and_no_oracle) {
    vyre_registry *r = NULL;
    REQUIRE_OK(vyre_registry_create(NULL, &r), NULL);
    vyre_registry_remove(r, "cpu"); /* which may be better than any of these */
    paper oracle = make_paper("oracle", 1), absent = make_paper("absent", 2),
          good = make_paper("good", 3), worse = make_paper("worse", 4);
    oracle.info.is_oracle = true;
    absent.is_absent = true;
    REQUIRE_OK(vyre_registry_add(r, &oracle.backend, NULL), NULL);
    REQUIRE_OK(vyre_registry_add(r, &absent.backend, NULL), NULL);
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    /* Whatever else is built in, an oracle of the best rank is the fallback only among oracles. */
    REQUIRE_OK(vyre_registry_add(r, &worse.backend, NULL), NULL);
    REQUIRE_OK(vyre_registry_add(r, &good.backend, NULL), NULL);
    REQUIRE_OK(vyre_device_open(r, "auto", NULL, &device, &diag), &diag);
    CHECK_STR(vyre_device_describe(device)->backend, "good");
    CHECK_EQ(diag.message[0], 0);
    CHECK_EQ(oracle.opened, oracle.closed);
    CHECK_EQ(worse.opened, worse.closed);
    vyre_device_close(device);
    CHECK_EQ(good.closed, 1);
    vyre_registry_destroy(r);
}

/* 6.4 selection: what a device can do comes before its rank. */
TEST(auto_ranks_by_facts_before_rank) {
    paper able = make_paper("able", 50), plain = make_paper("plain", 1);
    paper timed = make_paper("timed", 60), wide = make_paper("wide", 70);
    paper dummy = make_paper("dummy", 0);
    able.info.has_f16 = true;
    dummy.info = (vyre_device_info){.is_dummy = true, .max_buffer_bytes = 1, .has_subgroups = true};
    paper *all[] = {&able, &plain, &dummy, &timed, &wide};
    timed.info = (vyre_device_info){.reports_device_time = true}; /* 2 points, as f16 */
    wide.info = (vyre_device_info){.reports_device_time = true, .memory_bandwidth = 5};
    static const char *const winners[] = {"able", "able", "able", "timed", "wide"};
    vyre_registry *r = NULL;
    REQUIRE_OK(vyre_registry_create(NULL, &r), NULL);
    vyre_registry_remove(r, "cpu"); /* which may be better than any of these */
    for (size_t i = 0; i < sizeof winners / sizeof(char *); i++) {
        vyre_device *device = NULL;
        slot_count = 0;
        REQUIRE_OK(vyre_registry_add(r, &all[i]->backend, NULL), NULL);
        REQUIRE_OK(vyre_device_open(r, "auto", NULL, &device, NULL), NULL);
        CHECK_STR(vyre_device_describe(device)->backend, winners[i]);
        vyre_device_close(device);
        CHECK_EQ(all[i]->opened, all[i]->closed);
    }
    vyre_registry_destroy(r);
}

/* Each fact alone lets a device of worse rank win over one without it. */
TEST(every_fact_counts) {
    const vyre_device_info facts[] = {
        {.max_buffer_bytes = 1},
        {.max_group_lanes = 64},
        {.native_subgroup = 32},
        {.has_subgroups = true},
        {.max_workgroup_bytes = 1},
        {.has_f16 = true},
        {.has_bf16 = true},
        {.has_tensor_cores = true},
        {.has_indirect_launch = true},
        {.reports_device_time = true},
        {.has_hardware_counters = true},
        {.memory_bandwidth = 1},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        paper able = make_paper("able", 2), plain = make_paper("plain", 1);
        vyre_registry *r = NULL;
        vyre_device *device = NULL;
        slot_count = 0;
        able.info = facts[i];
        REQUIRE_OK(vyre_registry_create(NULL, &r), NULL);
        vyre_registry_remove(r, "cpu"); /* which may be better than any of these */
        REQUIRE_OK(vyre_registry_add(r, &able.backend, NULL), NULL);
        REQUIRE_OK(vyre_registry_add(r, &plain.backend, NULL), NULL);
        REQUIRE_OK(vyre_device_open(r, "auto", NULL, &device, NULL), NULL);
        CHECK_STR(vyre_device_describe(device)->backend, "able");
        vyre_device_close(device);
        vyre_registry_destroy(r);
    }
}

/* Of devices that are alike, the one that opens faster. */
TEST(the_time_to_open_decides_among_equals) {
    paper slow = make_paper("a", 1), quick = make_paper("b", 1);
    slow.slow_ns = 20000000;
    vyre_registry *r = NULL;
    vyre_device *device = NULL;
    REQUIRE_OK(vyre_registry_create(NULL, &r), NULL);
    vyre_registry_remove(r, "cpu"); /* which may be better than any of these */
    REQUIRE_OK(vyre_registry_add(r, &slow.backend, NULL), NULL);
    REQUIRE_OK(vyre_registry_add(r, &quick.backend, NULL), NULL);
    REQUIRE_OK(vyre_device_open(r, "auto", NULL, &device, NULL), NULL);
    if (quick.took_ns < slow.slow_ns / 2) { /* unless the machine stood still meanwhile */
        CHECK_STR(vyre_device_describe(device)->backend, "b");
    }
    vyre_device_close(device);
    vyre_registry_destroy(r);
}

TEST(without_another_device_auto_is_the_oracle) {
    vyre_registry *r = NULL;
    REQUIRE_OK(vyre_registry_create(NULL, &r), NULL);
    paper oracle = make_paper("oracle", 0);
    oracle.info = (vyre_device_info){
        .is_oracle = true, .max_buffer_bytes = 1, .max_group_lanes = 256, .has_subgroups = true};
    oracle.info.native_subgroup = 32;
    REQUIRE_OK(vyre_registry_add(r, &oracle.backend, NULL), NULL);
    vyre_device *device = NULL;
    REQUIRE_OK(vyre_device_open(r, NULL, NULL, &device, NULL), NULL);
    if (vyre_device_describe(device)->is_oracle) {
        CHECK_STR(vyre_device_describe(device)->backend, "oracle");
    }
    vyre_device_close(device);
    CHECK_EQ(oracle.opened, oracle.closed);
    vyre_registry_destroy(r);
}

TEST(unknown_devices_are_not_found) {
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_device_open(NULL, "reff", NULL, &device, &diag), VYRE_NOT_FOUND, &diag);
    CHECK_HAS(diag.message, "did you mean \"ref\"?");
    CHECK_HAS(diag.fix, "ref");
    CHECK_STATUS(vyre_device_open(NULL, "ref://7", NULL, &device, &diag), VYRE_NOT_FOUND, &diag);
    CHECK_STATUS(vyre_device_open(NULL, "ref", NULL, NULL, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_device_open(NULL, "fault://auto?op=open", NULL, &device, &diag),
                 VYRE_NOT_FOUND, &diag);
    for (uint32_t i = 0; i < vyre_backend_count(NULL); i++) { /* why not, of each */
        char why[80];
        snprintf(why, sizeof why, "%s: open failed", vyre_backend_name(NULL, i));
        if (vyre_registry_at(NULL, i)->by_name_only) {
            CHECK(strstr(diag.message, why) == NULL);
        } else {
            CHECK_HAS(diag.message, why);
        }
    }
    CHECK(device == NULL);
    vyre_device_close(NULL);
}

TEST(ref_describes_itself) {
    vyre_device *device = run_open("ref", NULL);
    const vyre_device_info *info = vyre_device_describe(device);
    CHECK_STR(info->backend, "ref");
    CHECK_EQ(info->level, VYRE_LEVEL_PROGRAM);
    CHECK(info->is_oracle && info->allows_split && info->has_f64);
    vyre_device_close(device);
}

TEST(buffers_start_as_zeros_and_move_bytes) {
    vyre_device *device = run_open("ref", NULL);
    vyre_buffer *a = NULL, *b = NULL;
    REQUIRE_OK(vyre_buffer_create(device, 16, &a, NULL), NULL);
    REQUIRE_OK(vyre_buffer_create(device, 16, &b, NULL), NULL);
    CHECK_EQ(vyre_buffer_size(a), 16);
    unsigned char got[16], zeros[16] = {0};
    REQUIRE_OK(vyre_buffer_read(a, 0, got, 16, NULL), NULL);
    CHECK(memcmp(got, zeros, 16) == 0);
    /* 6.4 ranged uploads: offset 12, 3 bytes, arrive as such. */
    REQUIRE_OK(vyre_buffer_write(a, 12, "abc", 3, NULL), NULL);
    REQUIRE_OK(vyre_buffer_copy(b, 1, a, 11, 5, NULL), NULL);
    REQUIRE_OK(vyre_buffer_read(b, 0, got, 16, NULL), NULL);
    CHECK(memcmp(got, "\0\0abc\0\0\0\0\0\0\0\0\0\0\0", 16) == 0);
    REQUIRE_OK(vyre_buffer_zero(b, 3, 1, NULL), NULL);
    REQUIRE_OK(vyre_buffer_copy(b, 8, b, 0, 8, NULL), NULL);
    REQUIRE_OK(vyre_buffer_read(b, 8, got, 8, NULL), NULL);
    CHECK(memcmp(got, "\0\0a\0c\0\0\0", 8) == 0);
    /* Zeros copied over a part do not make the rest zero. */
    vyre_buffer *zero = run_buffer(device, NULL, 4);
    REQUIRE_OK(vyre_buffer_copy(a, 0, zero, 0, 8, NULL), NULL);
    REQUIRE_OK(vyre_buffer_zero(a, 0, 16, NULL), NULL);
    REQUIRE_OK(vyre_buffer_read(a, 0, got, 16, NULL), NULL);
    CHECK(memcmp(got, zeros, 16) == 0);
    vyre_buffer_destroy(zero);
    vyre_buffer_destroy(a);
    vyre_buffer_destroy(b);
    vyre_buffer_destroy(NULL);
    vyre_device_close(device);
}

TEST(buffers_refuse_what_lies_outside_and_foreign_ones) {
    vyre_device *device = run_open("ref", NULL), *other = run_open("ref", NULL);
    vyre_buffer *a = NULL, *foreign = NULL, *empty = NULL;
    vyre_diag diag = {0};
    char byte = 0;
    REQUIRE_OK(vyre_buffer_create(device, 8, &a, NULL), NULL);
    REQUIRE_OK(vyre_buffer_create(device, 0, &empty, NULL), NULL);
    REQUIRE_OK(vyre_buffer_create(other, 8, &foreign, NULL), NULL);
    CHECK_STATUS(vyre_buffer_write(a, 8, &byte, 1, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_HAS(diag.message, "1 bytes at offset 8");
    CHECK_STATUS(vyre_buffer_read(a, UINT64_MAX, &byte, 1, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_buffer_zero(a, 4, 5, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_buffer_write(a, 0, NULL, 1, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_buffer_copy(a, 0, a, 3, 4, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_HAS(diag.message, "overlap");
    CHECK_STATUS(vyre_buffer_copy(a, 0, a, 4, 4, &diag), VYRE_OK, &diag);
    CHECK_STATUS(vyre_buffer_copy(a, 0, foreign, 0, 8, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_HAS(diag.message, "different devices");
    CHECK_STATUS(vyre_buffer_write(empty, 0, NULL, 0, &diag), VYRE_OK, &diag);
    CHECK_STATUS(vyre_buffer_read(NULL, 0, &byte, 1, &diag), VYRE_INVALID_ARGUMENT, &diag);
    vyre_buffer_destroy(a);
    vyre_buffer_destroy(empty);
    vyre_buffer_destroy(foreign);
    vyre_device_close(device);
    vyre_device_close(other);
}

TEST(fault_fails_the_call_it_was_asked_to) {
    struct {
        const char *uri;
        vyre_status want[4];
    } cases[] = {
        {"fault://ref?op=write&n=2", {VYRE_OK, VYRE_DEVICE_FAILED, VYRE_OK, VYRE_OK}},
        {"fault://ref?op=write&n=2&mode=once", {VYRE_OK, VYRE_DEVICE_FAILED, VYRE_OK, VYRE_OK}},
        {"fault://ref?op=write&n=3&mode=always",
         {VYRE_OK, VYRE_OK, VYRE_DEVICE_FAILED, VYRE_DEVICE_FAILED}},
        {"fault://auto?mode=lost&op=write",
         {VYRE_DEVICE_LOST, VYRE_DEVICE_LOST, VYRE_DEVICE_LOST, VYRE_DEVICE_LOST}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        vyre_device *device = run_open(cases[c].uri, NULL);
        vyre_buffer *b = NULL;
        vyre_diag diag = {0};
        REQUIRE_OK(vyre_buffer_create(device, 4, &b, &diag), &diag);
        for (int i = 0; i < 4; i++) {
            CHECK_STATUS(vyre_buffer_write(b, 0, "x", 1, &diag), cases[c].want[i], &diag);
        }
        vyre_buffer_destroy(b);
        vyre_device_close(device);
    }
}

TEST(the_second_opening_can_fail) {
    vyre_device *device = run_open("fault://ref?op=open&n=2&mode=always", NULL);
    vyre_buffer *b = NULL;
    vyre_diag diag = {0};
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(vyre_device_reopen(device, &diag), VYRE_NOT_FOUND, &diag);
        CHECK(vyre_device_is_lost(device));
        CHECK_STATUS(vyre_buffer_create(device, 4, &b, &diag), VYRE_DEVICE_LOST, &diag);
    }
    vyre_device_close(device);
}

TEST(memory_that_is_not_there_is_named) {
    vyre_device *device = run_open("fault://ref?op=allocate", NULL);
    vyre_buffer *b = NULL;
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_buffer_create(device, 40, &b, &diag), VYRE_OUT_OF_MEMORY, &diag);
    CHECK_STR(diag.message, "out of memory on ref for a buffer of 40 bytes");
    CHECK(diag.fix[0]);
    vyre_device_close(device);
}

TEST(a_lost_device_fails_everything_and_can_be_reopened) {
    vyre_device *device = run_open("fault://ref?op=read&n=1&mode=lost", NULL);
    vyre_buffer *b = NULL;
    vyre_diag diag = {0};
    char byte = 7;
    REQUIRE_OK(vyre_buffer_create(device, 4, &b, &diag), &diag);
    REQUIRE_OK(vyre_buffer_write(b, 0, "x", 1, &diag), &diag);
    CHECK_STATUS(vyre_buffer_read(b, 0, &byte, 1, &diag), VYRE_DEVICE_LOST, &diag);
    CHECK_STATUS(vyre_buffer_write(b, 0, "x", 1, &diag), VYRE_DEVICE_LOST, &diag);
    CHECK_HAS(diag.message, "lost");
    CHECK_EQ(byte, 7);
    CHECK(vyre_device_is_lost(device));
    vyre_buffer *none = NULL;
    CHECK_STATUS(vyre_buffer_create(device, 4, &none, &diag), VYRE_DEVICE_LOST, &diag);
    vyre_buffer_destroy(b);
    REQUIRE_OK(vyre_device_reopen(device, &diag), &diag);
    CHECK(!vyre_device_is_lost(device));
    REQUIRE_OK(vyre_buffer_create(device, 4, &b, &diag), &diag);
    REQUIRE_OK(vyre_buffer_read(b, 0, &byte, 1, &diag), &diag);
    CHECK_EQ(byte, 0);
    vyre_buffer_destroy(b);
    vyre_device_close(device);
}

TEST(fault_uris_are_checked) {
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    const char *bad[] = {"fault://ref",
                         "fault://ref?n=2",
                         "fault://ref?op=launhc",
                         "fault://ref?op=launch&n=0",
                         "fault://ref?op=launch&n=1x",
                         "fault://ref?op=launch&mode=never",
                         "fault://ref?op=launch&times=3",
                         "fault://ref?op",
                         "fault://fault://ref?op=read?op=write"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_STATUS(vyre_device_open(NULL, bad[i], NULL, &device, &diag), VYRE_INVALID_ARGUMENT,
                     &diag);
    }
    CHECK_STATUS(vyre_device_open(NULL, bad[2], NULL, &device, &diag), VYRE_INVALID_ARGUMENT,
                 &diag);
    CHECK_HAS(diag.message, "did you mean \"launch\"?");
    CHECK_STATUS(vyre_device_open(NULL, "fault://ref?op=open", NULL, &device, &diag),
                 VYRE_NOT_FOUND, &diag);
    CHECK_STATUS(vyre_device_open(NULL, "fault://nope?op=read", NULL, &device, &diag),
                 VYRE_NOT_FOUND, &diag);
    CHECK(device == NULL);
}

/* A backend that is there once, and again when a flag is cleared. */
TEST(a_device_that_can_not_be_reopened_stays_lost) {
    vyre_registry *r = NULL;
    vyre_device *device = NULL;
    vyre_buffer *b = NULL;
    vyre_diag diag = {0};
    paper gone = make_paper("gone", 1);
    REQUIRE_OK(vyre_registry_create(NULL, &r), NULL);
    REQUIRE_OK(vyre_registry_add(r, &gone.backend, NULL), NULL);
    REQUIRE_OK(vyre_device_open(r, "gone", NULL, &device, NULL), NULL);
    gone.is_absent = true;
    CHECK_STATUS(vyre_device_reopen(device, &diag), VYRE_NOT_FOUND, &diag);
    CHECK_EQ(gone.closed, 1);
    CHECK_STATUS(vyre_buffer_create(device, 4, &b, &diag), VYRE_DEVICE_LOST, &diag);
    gone.is_absent = false;
    REQUIRE_OK(vyre_device_reopen(device, &diag), &diag);
    CHECK_STATUS(vyre_buffer_create(device, 4, &b, &diag), VYRE_OUT_OF_MEMORY, &diag);
    gone.is_absent = true;
    CHECK_STATUS(vyre_device_reopen(device, &diag), VYRE_NOT_FOUND, &diag);
    vyre_device_close(device);
    CHECK_EQ(gone.opened, gone.closed);
    vyre_registry_destroy(r);
}

static vyre_status open_and_close(const vyre_allocator *a, void *user) {
    vyre_registry *r = NULL;
    vyre_status status = vyre_registry_create(a, &r);
    if (status != VYRE_OK) {
        return status;
    }
    vyre_device *device = NULL;
    vyre_buffer *buffer = NULL;
    status = vyre_device_open(r, user, a, &device, NULL);
    if (status == VYRE_OK) {
        status = vyre_buffer_create(device, 100, &buffer, NULL);
        vyre_buffer_destroy(buffer);
        vyre_device_close(device);
    }
    vyre_registry_destroy(r);
    return status;
}

TEST(opening_survives_every_failed_allocation) {
    char plain[] = "ref", any[] = "auto", faulty[] = "fault://ref?op=launch";
    CHECK(test_every_allocation(open_and_close, plain, 100) >= 5);
    CHECK(test_every_allocation(open_and_close, any, 100) >= 5);
    CHECK(test_every_allocation(open_and_close, faulty, 100) >= 6);
}
