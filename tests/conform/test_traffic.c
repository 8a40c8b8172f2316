/* Traffic of a long split: each byte goes to the device once and comes back once, whatever the
 * number of segments. The accumulator has 16 MiB; TEST_PERCENT=1600 makes it 256. */
#include "base/hash.h"
#include "conform/recorder.h"

enum { SEGMENTS = 300, LANES = 16 };

/* By turns each lane reads its neighbour's word of the accumulator and changes its own. */
static char *long_program(void) {
    enum { ROOM = SEGMENTS * 64 + 400 };
    char *text = malloc(ROOM);
    REQUIRE(text);
    size_t at = (size_t)snprintf(text, ROOM,
                                 "program p workgroup(4) elements(%d) { inout acc : u32[];\n"
                                 "  in x : u32[%d]; out o : u32[%d]; let far = len(acc) / %d;\n"
                                 "  let i = global_id.x * far; let sum = 0;\n",
                                 LANES, LANES, LANES, LANES);
    for (int s = 0; s < SEGMENTS; s++) {
        at += (size_t)snprintf(text + at, ROOM - at, "%s%s\n", s > 0 ? "grid_sync; " : "",
                               s % 2 ? "acc[i] += sum + x[global_id.x];"
                                     : "sum += acc[(i + far) % len(acc)];");
    }
    snprintf(text + at, ROOM - at, "o[global_id.x] = sum; }");
    return text;
}

typedef struct job {
    char *text;
    uint32_t *acc;
    size_t bytes;
    uint32_t x[LANES];
} job;

static job make_job(void) {
    job j = {.text = long_program(), .bytes = (size_t)test_scaled(16) << 20};
    j.acc = malloc(j.bytes);
    REQUIRE(j.acc);
    uint64_t seed = 3;
    for (size_t i = 0; i < j.bytes / 4; i++) {
        j.acc[i] = (uint32_t)i;
    }
    for (int i = 0; i < LANES; i++) {
        j.x[i] = (uint32_t)test_random(&seed);
    }
    return j;
}

static void finish_job(job *j) {
    free(j->text);
    free(j->acc);
}

/* The report, and one number for all output bytes. */
static vyre_dispatch_report run(vyre_device *device, const job *j, vyre_path path,
                                uint64_t *out_hash) {
    vyre_input in[] = {{j->acc, j->bytes}, {j->x, sizeof j->x}};
    vyre_output out[2] = {{0}};
    vyre_dispatch_report report =
        recorder_run(device, j->text, in, 2, OPTIONS(.path = path), out, 2, VYRE_OK);
    REQUIRE(out[0].size == j->bytes && out[1].size == sizeof j->x);
    *out_hash = vyre_hash_bytes(out[0].data, out[0].size);
    *out_hash = vyre_hash_more(*out_hash, out[1].data, out[1].size);
    vyre_output_finish(&out[0], NULL);
    vyre_output_finish(&out[1], NULL);
    vyre_device_close(device);
    return report;
}

TEST(traffic_of_300_segments_is_inputs_and_outputs) {
    job j = make_job();
    uint64_t want, got;
    (void)run(recorder_open(VYRE_LEVEL_PROGRAM), &j, VYRE_PATH_HOST, &want);
    CHECK_EQ(recorder_log.launch_count, 1);
    for (int path = VYRE_PATH_HOST; path <= VYRE_PATH_RESIDENT; path++) {
        vyre_dispatch_report report =
            run(recorder_open(VYRE_LEVEL_SEGMENT), &j, (vyre_path)path, &got);
        CHECK_EQ(got, want);
        CHECK_EQ(report.stats.segments, SEGMENTS);
        CHECK_EQ(report.stats.sync_points, SEGMENTS - 1);
        CHECK_EQ(report.stats.launches, SEGMENTS);
        CHECK_EQ(report.stats.bytes_in, j.bytes + sizeof j.x);
        CHECK_EQ(report.stats.bytes_out, j.bytes + sizeof j.x);
        /* What the device saw is what was reported. */
        CHECK_EQ(recorder_log.bytes_written, report.stats.bytes_in);
        CHECK_EQ(recorder_log.bytes_read, report.stats.bytes_out);
        CHECK_EQ(report.stats.host_waits, 0);
    }
    finish_job(&j);
}
