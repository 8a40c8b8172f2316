/* Asynchronous dispatches: order, errors, cancelling what runs and what waits. What must run until
 * it is cancelled runs without end; nothing here depends on time. */
#include <pthread.h>

#include "harness/run.h"

static const char add_text[] = "program add workgroup(1) grid(1) {\n"
                               "    inout v : u32[1];\n"
                               "    param by : u32 = 1;\n"
                               "    v[0] = v[0] * 2 + by;\n"
                               "}\n";
static const char endless_text[] = "program endless workgroup(1) grid(1) {\n"
                                   "    inout v : u32[1];\n"
                                   "    while (v[0] == 0) { v[0] = 0; }\n"
                                   "}\n";

TEST(dispatches_of_a_device_are_done_in_order) {
    vyre_device *device = run_open("ref", NULL);
    vyre_pipeline *pipeline = run_compile(device, add_text);
    vyre_buffer *v = NULL;
    REQUIRE_OK(vyre_buffer_create(device, 4, &v, NULL), NULL);
    enum { COUNT = 8 };
    vyre_event *events[COUNT] = {0};
    vyre_setting by[COUNT];
    uint32_t want = 0, got = 0;
    vyre_diag diag = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        by[i] = (vyre_setting){"by", VYRE_U32, (uint64_t)i * i};
        vyre_dispatch_options o = {.settings = &by[i], .setting_count = 1};
        REQUIRE_OK(vyre_dispatch_resident_async(pipeline, &v, 1, &o, &events[i], &diag), &diag);
        want = want * 2 + i * i;
    }
    vyre_dispatch_report report = {0};
    REQUIRE_OK(vyre_event_wait(events[COUNT - 1], &report, &diag), &diag);
    CHECK_EQ(report.stats.launches, 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        CHECK(vyre_event_poll(events[i])); /* done before the last */
        CHECK_STATUS(vyre_event_wait(events[i], NULL, NULL), VYRE_OK, NULL);
        vyre_event_release(events[i]);
    }
    REQUIRE_OK(vyre_buffer_read(v, 0, &got, 4, NULL), NULL);
    CHECK_EQ(got, want);
    vyre_buffer_destroy(v);
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
}

TEST(host_bytes_and_programs_go_the_same_way) {
    vyre_device *device = run_open("ref-split", NULL);
    vyre_program *program = run_parse(add_text);
    vyre_pipeline *pipeline = run_compile(device, add_text);
    uint32_t value = 20;
    vyre_input in = {&value, 4};
    vyre_output out[2] = {{0}};
    vyre_event *a = NULL, *b = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch_async(device, program, &in, 1, &out[0], 1, NULL, &a, &diag), &diag);
    REQUIRE_OK(vyre_pipeline_dispatch_async(pipeline, &in, 1, &out[1], 1, NULL, &b, &diag), &diag);
    vyre_pipeline_release(pipeline); /* the event keeps it */
    REQUIRE_OK(vyre_event_wait(b, NULL, &diag), &diag);
    REQUIRE_OK(vyre_event_wait(a, NULL, &diag), &diag);
    for (int i = 0; i < 2; i++) {
        REQUIRE(out[i].size == 4);
        CHECK_EQ(*(uint32_t *)out[i].data, 41);
        vyre_output_finish(&out[i], NULL);
    }
    vyre_event_release(a);
    vyre_event_release(b);
    vyre_event_release(NULL);
    vyre_program_release(program);
    vyre_device_close(device);
}

TEST(errors_come_with_the_wait) {
    vyre_device *device = run_open("ref", NULL);
    vyre_program *program = run_parse(add_text);
    vyre_event *event = NULL;
    vyre_output out = {0};
    vyre_dispatch_report report = {.passes = 77};
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch_async(device, program, NULL, 0, &out, 1, NULL, &event, &diag), &diag);
    CHECK_STATUS(vyre_event_wait(event, &report, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, "input 1 of 1, \"v\", is missing");
    CHECK_STATUS(vyre_event_wait(event, NULL, NULL), VYRE_INVALID_INPUT, NULL);
    CHECK_EQ(report.passes, 77);
    vyre_event_release(event);
    event = NULL;
    vyre_cancel cancel = {0};
    vyre_dispatch_options o = {.cancel = &cancel};
    CHECK_STATUS(vyre_dispatch_async(device, program, NULL, 0, &out, 1, &o, &event, &diag),
                 VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_dispatch_async(NULL, program, NULL, 0, &out, 1, NULL, &event, &diag),
                 VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_dispatch_resident_async(NULL, NULL, 0, NULL, &event, &diag),
                 VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_event_wait(NULL, NULL, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK(event == NULL);
    vyre_program_release(program);
    vyre_device_close(device);
}

TEST(cancelling_stops_what_runs_and_takes_out_what_waits) {
    static const char *const uris[] = {"ref", "ref-split"};
    for (int d = 0; d < 2; d++) {
        vyre_device *device = run_open(uris[d], NULL);
        vyre_program *endless = run_parse(endless_text), *add = run_parse(add_text);
        uint32_t zero = 0;
        vyre_input in = {&zero, 4};
        vyre_output out[4] = {{0}};
        vyre_event *running = NULL, *first = NULL, *second = NULL, *last = NULL;
        vyre_diag diag = {0};
        REQUIRE_OK(vyre_dispatch_async(device, endless, &in, 1, &out[0], 1, NULL, &running, &diag),
                   &diag);
        REQUIRE_OK(vyre_dispatch_async(device, add, &in, 1, &out[1], 1, NULL, &first, &diag),
                   &diag);
        REQUIRE_OK(vyre_dispatch_async(device, add, &in, 1, &out[2], 1, NULL, &second, &diag),
                   &diag);
        /* A queued one is done at once, although another runs without end before it. */
        vyre_event_cancel(second);
        CHECK(vyre_event_poll(second));
        CHECK_STATUS(vyre_event_wait(second, NULL, &diag), VYRE_CANCELLED, &diag);
        CHECK(!vyre_event_poll(running));
        CHECK(!vyre_event_poll(first));
        /* The end of the queue was taken out; what comes next still runs. */
        REQUIRE_OK(vyre_dispatch_async(device, add, &in, 1, &out[3], 1, NULL, &last, &diag), &diag);
        vyre_event_cancel(running);
        CHECK_STATUS(vyre_event_wait(running, NULL, &diag), VYRE_CANCELLED, &diag);
        CHECK_STATUS(vyre_event_wait(first, NULL, &diag), VYRE_OK, &diag);
        CHECK_STATUS(vyre_event_wait(last, NULL, &diag), VYRE_OK, &diag);
        vyre_event_cancel(last); /* too late: nothing changes */
        CHECK_STATUS(vyre_event_wait(last, NULL, &diag), VYRE_OK, &diag);
        CHECK(!out[0].data && out[1].data && !out[2].data && out[3].data);
        vyre_event *all[] = {running, first, second, last};
        for (int i = 0; i < 4; i++) {
            vyre_event_release(all[i]);
            vyre_output_finish(&out[i], NULL);
        }
        vyre_program_release(endless);
        vyre_program_release(add);
        vyre_device_close(device);
    }
}

static void *cancel_it(void *user) {
    vyre_cancel_request(user);
    return NULL;
}

TEST(another_thread_may_cancel_a_blocking_dispatch) {
    vyre_device *device = run_open("ref", NULL);
    vyre_program *endless = run_parse(endless_text);
    uint32_t zero = 0;
    vyre_input in = {&zero, 4};
    vyre_output out = {0};
    vyre_cancel cancel = {0};
    vyre_dispatch_options o = {.cancel = &cancel};
    vyre_diag diag = {0};
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, cancel_it, &cancel) == 0);
    CHECK_STATUS(vyre_dispatch(device, endless, &in, 1, &out, 1, &o, NULL, &diag), VYRE_CANCELLED,
                 &diag);
    REQUIRE(pthread_join(thread, NULL) == 0);
    vyre_program_release(endless);
    vyre_device_close(device);
}

typedef struct worker {
    vyre_pipeline *pipeline;
    bool right;
} worker;

static void *work(void *user) {
    worker *w = user;
    w->right = true;
    for (uint32_t i = 0; i < 10; i++) {
        vyre_input in = {&i, 4};
        vyre_output out[3] = {{0}};
        vyre_event *events[3] = {0};
        for (int k = 0; k < 3; k++) {
            w->right = w->right && vyre_pipeline_dispatch_async(w->pipeline, &in, 1, &out[k], 1,
                                                                NULL, &events[k], NULL) == VYRE_OK;
        }
        vyre_event_cancel(events[1]);
        for (int k = 0; k < 3; k++) {
            vyre_status status = vyre_event_wait(events[k], NULL, NULL);
            bool done = status == VYRE_OK && *(uint32_t *)out[k].data == 2 * i + 1;
            w->right = w->right && (done || (k == 1 && status == VYRE_CANCELLED));
            vyre_event_release(events[k]);
            vyre_output_finish(&out[k], NULL);
        }
    }
    return NULL;
}

TEST(several_threads_share_the_queue_of_a_device) {
    vyre_device *device = run_open("ref-split", NULL);
    vyre_pipeline *pipeline = run_compile(device, add_text);
    worker all[4];
    for (int i = 0; i < 4; i++) {
        all[i] = (worker){pipeline, false};
    }
    test_in_threads(work, all, sizeof *all);
    for (int i = 0; i < 4; i++) {
        CHECK(all[i].right);
    }
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
}

typedef struct waiter {
    vyre_event *event;
    vyre_status status;
} waiter;

static void *wait_for_it(void *user) {
    waiter *w = user;
    vyre_event_cancel(w->event);
    w->status = vyre_event_wait(w->event, NULL, NULL);
    return NULL;
}

TEST(several_threads_wait_for_one_event) {
    vyre_device *device = run_open("ref-split", NULL);
    vyre_pipeline *pipeline = run_compile(device, endless_text);
    vyre_input in = {&(uint32_t){0}, 4};
    vyre_output out = {0};
    vyre_event *event = NULL;
    REQUIRE_OK(vyre_pipeline_dispatch_async(pipeline, &in, 1, &out, 1, NULL, &event, NULL), NULL);
    waiter all[4];
    for (int i = 0; i < 4; i++) {
        all[i] = (waiter){event, VYRE_OK};
    }
    test_in_threads(wait_for_it, all, sizeof *all);
    for (int i = 0; i < 4; i++) {
        CHECK_STATUS(all[i].status, VYRE_CANCELLED, NULL);
    }
    CHECK(vyre_event_poll(event) && !out.data);
    vyre_event_release(event);
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
}

TEST(a_program_without_buffers_needs_none) {
    vyre_device *device = run_open("ref", NULL);
    vyre_pipeline *pipeline =
        run_compile(device, "program alone workgroup(1) grid(1) { scratch s : u32[1]; s[0] = 1; }");
    vyre_event *event = NULL;
    vyre_dispatch_report report = {0};
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch_resident_async(pipeline, NULL, 0, NULL, &event, &diag), &diag);
    CHECK_STATUS(vyre_event_wait(event, &report, &diag), VYRE_OK, &diag);
    CHECK_EQ(report.stats.launches, 1);
    vyre_event_release(event);
    REQUIRE_OK(vyre_dispatch_resident_async(pipeline, NULL, 1, NULL, &event, &diag), &diag);
    CHECK_STATUS(vyre_event_wait(event, NULL, &diag), VYRE_INVALID_ARGUMENT, &diag);
    vyre_event_release(event);
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
}

static vyre_status dispatch_once(const vyre_allocator *a, void *user) {
    vyre_device *device = NULL;
    vyre_event *event = NULL;
    vyre_diag diag = {0};
    uint32_t value = 1;
    vyre_input in = {&value, 4};
    vyre_output out = {0};
    vyre_status status = vyre_device_open(NULL, "ref-split", a, &device, NULL);
    if (status != VYRE_OK) {
        return status;
    }
    status = vyre_dispatch_async(device, user, &in, 1, &out, 1, NULL, &event, &diag);
    if (status == VYRE_OK) {
        status = vyre_event_wait(event, NULL, &diag);
        vyre_event_release(event);
    }
    CHECK(status == VYRE_OK ? out.data != NULL : diag.message[0] && !out.data);
    vyre_output_finish(&out, a);
    vyre_device_close(device);
    return status;
}

TEST(events_survive_every_failed_allocation) {
    vyre_program *program = run_parse(add_text);
    CHECK(test_every_allocation(dispatch_once, program, 400) > 10);
    vyre_program_release(program);
}

typedef struct told {
    uint32_t times;
    vyre_status status;
    const vyre_output *out; /* looked at when it is told */
    uint32_t seen;
} told;

static void note(void *user, vyre_status status) {
    told *t = user;
    t->times++;
    t->status = status;
    t->seen = status == VYRE_OK ? *(const uint32_t *)t->out->data : 0;
}

TEST(an_event_calls_back_once_when_it_is_done) {
    vyre_device *device = run_open("ref", NULL);
    vyre_program *endless = run_parse(endless_text), *add = run_parse(add_text);
    uint32_t zero = 0, one = 1;
    const vyre_input in[2] = {{&zero, 4}, {&one, 4}};
    vyre_output out[3] = {{0}};
    vyre_event *running = NULL, *queued = NULL, *last = NULL;
    vyre_diag diag;
    REQUIRE_OK(vyre_dispatch_async(device, endless, &in[0], 1, &out[0], 1, NULL, &running, &diag),
               &diag);
    REQUIRE_OK(vyre_dispatch_async(device, add, &in[1], 1, &out[1], 1, NULL, &queued, &diag),
               &diag);
    REQUIRE_OK(vyre_dispatch_async(device, add, &in[1], 1, &out[2], 1, NULL, &last, &diag), &diag);
    told ends[3] = {{.out = &out[0]}, {.out = &out[1]}, {.out = &out[2]}};
    REQUIRE_OK(vyre_event_notify(running, note, &ends[0], &diag), &diag);
    REQUIRE_OK(vyre_event_notify(queued, note, &ends[1], &diag), &diag);
    REQUIRE_OK(vyre_event_notify(last, note, &ends[2], &diag), &diag);
    CHECK_STATUS(vyre_event_notify(last, note, &ends[2], &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_EQ(ends[0].times + ends[1].times + ends[2].times, 0);
    vyre_event_cancel(queued); /* which is told by this thread */
    CHECK_EQ(ends[1].times, 1);
    CHECK_EQ(ends[1].status, VYRE_CANCELLED);
    vyre_event_cancel(running);
    CHECK_STATUS(vyre_event_wait(running, NULL, &diag), VYRE_CANCELLED, &diag);
    CHECK_EQ(ends[0].times, 1);
    CHECK_EQ(ends[0].status, VYRE_CANCELLED);
    REQUIRE_OK(vyre_event_wait(last, NULL, &diag), &diag);
    CHECK_EQ(ends[2].times, 1);
    CHECK_EQ(ends[2].status, VYRE_OK);
    CHECK_EQ(ends[2].seen, 3); /* its outputs were there */
    vyre_event_release(last);
    REQUIRE_OK(vyre_dispatch_async(device, add, &in[1], 1, &out[2], 1, NULL, &last, &diag), &diag);
    REQUIRE_OK(vyre_event_wait(last, NULL, &diag), &diag);
    REQUIRE_OK(vyre_event_notify(last, note, &ends[2], &diag), &diag);
    CHECK_EQ(ends[2].times, 2); /* at once */
    CHECK_STATUS(vyre_event_notify(NULL, note, NULL, &diag), VYRE_INVALID_ARGUMENT, &diag);
    vyre_event_release(last);
    vyre_event_release(queued);
    vyre_event_release(running);
    for (uint32_t i = 0; i < 3; i++) {
        vyre_output_finish(&out[i], NULL);
    }
    vyre_program_release(endless);
    vyre_program_release(add);
    vyre_device_close(device);
}
