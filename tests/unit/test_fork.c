/* A child of fork() has devices without their threads: everything says so, and nothing hangs. */
#include <sys/wait.h>
#include <unistd.h>

#include "harness/run.h"

static const char add_text[] = "program add workgroup(1) grid(1) {\n"
                               "    inout v : u32[1];\n"
                               "    v[0] = v[0] + 1;\n"
                               "}\n";
static const char endless_text[] = "program endless workgroup(1) grid(1) {\n"
                                   "    inout v : u32[1];\n"
                                   "    while (v[0] == 0) { v[0] = 0; }\n"
                                   "}\n";

/* What the parent has when it forks. */
typedef struct family {
    const char *uri;
    vyre_device *device;
    vyre_program *program;
    vyre_pipeline *pipeline;
    vyre_buffer *buffer;
    vyre_event *running;
} family;

static vyre_status add_one(vyre_device *device, const vyre_program *program, uint32_t *value,
                           vyre_diag *diag) {
    const vyre_input in = {value, sizeof *value};
    vyre_output out = {.capacity = sizeof *value, .is_fixed = true};
    out.data = value;
    return vyre_dispatch(device, program, &in, 1, &out, 1, NULL, NULL, diag);
}

/* A device that the child opens works. */
static int open_one(const family *f, uint32_t *value) {
#ifdef __SANITIZE_THREAD__
    printf("left out: the thread sanitizer allows a child no threads\n");
    return 0;
#endif
    const vyre_input in = {value, sizeof *value};
    vyre_output out = {0};
    vyre_event *event = NULL;
    vyre_device *own = NULL;
    vyre_diag diag;
    if (vyre_device_open(NULL, f->uri, NULL, &own, &diag) != VYRE_OK ||
        add_one(own, f->program, value, &diag) != VYRE_OK || *value != 2) {
        return 21;
    }
    if (vyre_dispatch_async(own, f->program, &in, 1, &out, 1, NULL, &event, &diag) != VYRE_OK ||
        vyre_event_wait(event, NULL, &diag) != VYRE_OK || *(uint32_t *)out.data != 3) {
        return 22;
    }
    vyre_event_release(event);
    vyre_output_finish(&out, NULL);
    vyre_device_close(own);
    return 0;
}

/* The number of the first thing that is not as it should be; 0: all is well. */
static int live_as_child(family *f) {
    uint32_t value = 1;
    const vyre_input in = {&value, sizeof value};
    vyre_output out = {0};
    vyre_event *event = NULL;
    vyre_buffer *other = NULL;
    vyre_diag diag;
    int step = 1;
    if (!vyre_device_is_lost(f->device)) {
        return step;
    }
    const vyre_status all[] = {
        add_one(f->device, f->program, &value, &diag),
        vyre_pipeline_dispatch(f->pipeline, &in, 1, &out, 1, NULL, NULL, &diag),
        vyre_dispatch_async(f->device, f->program, &in, 1, &out, 1, NULL, &event, &diag),
        vyre_dispatch_resident(f->pipeline, &f->buffer, 1, NULL, NULL, &diag),
        vyre_buffer_read(f->buffer, 0, &value, sizeof value, &diag),
        vyre_buffer_create(f->device, 4, &other, &diag),
        vyre_device_reopen(f->device, &diag),
        vyre_event_wait(f->running, NULL, &diag)};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++) {
        step++;
        if (all[i] != VYRE_DEVICE_LOST) {
            return step;
        }
    }
    vyre_event_cancel(f->running);
    if (vyre_event_poll(f->running) || value != 1 || !strstr(diag.message, "this is a child")) {
        return 20;
    }
    vyre_event_release(f->running);
    vyre_pipeline_release(f->pipeline);
    vyre_buffer_destroy(f->buffer);
    const int answer = open_one(f, &value);
    vyre_device_close(f->device);
    return answer;
}

/* The child's answer; 99: it hung or crashed. */
static int fork_and_ask(family *f, int (*live)(family *f)) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(live(f));
    }
    int status = 0;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static int only_close(family *f) {
    vyre_event_release(f->running);
    vyre_pipeline_release(f->pipeline);
    vyre_buffer_destroy(f->buffer);
    vyre_device_close(f->device);
    return 0;
}

TEST(a_device_in_a_forked_child_says_so_instead_of_hanging) {
#ifdef __SANITIZE_ADDRESS__
    test_skip("its allocator may be locked for ever in the child of a process with busy threads");
#endif
    static const char *const uris[] = {"ref", "ref-split", "cpu"};
    for (uint32_t i = 0; i < 3; i++) {
        vyre_diag diag;
        family f = {.uri = uris[i]};
        if (vyre_device_open(NULL, uris[i], NULL, &f.device, &diag) != VYRE_OK) {
            CHECK_STR(uris[i], "cpu"); /* the only one that may be missing */
            printf("%s is left out: %s\n", uris[i], diag.message);
            continue;
        }
        f.program = run_parse(add_text);
        vyre_program *endless = run_parse(endless_text);
        f.pipeline = run_compile(f.device, add_text);
        f.buffer = run_buffer(f.device, NULL, 1);
        uint32_t zero = 0, value = 1;
        const vyre_input in = {&zero, sizeof zero};
        vyre_output out = {0};
        REQUIRE_OK(add_one(f.device, f.program, &value, &diag), &diag);
        REQUIRE_OK(vyre_dispatch_async(f.device, endless, &in, 1, &out, 1, NULL, &f.running, &diag),
                   &diag);
        CHECK_EQ(fork_and_ask(&f, live_as_child), 0);
        CHECK_EQ(fork_and_ask(&f, only_close), 0);
        /* The parent has noticed nothing. */
        CHECK(!vyre_device_is_lost(f.device));
        vyre_event_cancel(f.running);
        CHECK_STATUS(vyre_event_wait(f.running, NULL, &diag), VYRE_CANCELLED, &diag);
        REQUIRE_OK(add_one(f.device, f.program, &value, &diag), &diag);
        CHECK_EQ(value, 3);
        vyre_event_release(f.running);
        vyre_output_finish(&out, NULL);
        vyre_buffer_destroy(f.buffer);
        vyre_pipeline_release(f.pipeline);
        vyre_program_release(endless);
        vyre_program_release(f.program);
        vyre_device_close(f.device);
    }
}
