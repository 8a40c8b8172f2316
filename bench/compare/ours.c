/* vyre as a contestant, through the public interface: the program is compiled once, its buffers
 * stay on the device, and what counts is the report's `run`: from the first launch to completion.
 */
#include "compare.h"
#include "io/file.h"

typedef struct ours {
    const bench_instance *instance;
    vyre_device *device;
    vyre_program *program;
    vyre_pipeline *pipeline;
    vyre_setting settings[MOST_PARAMS];
    vyre_dispatch_options options;
    vyre_buffer *buffers[PEER_INPUTS + PEER_OUTPUTS];
    uint32_t buffer_count;
    /* Of each input that is changed, and of each output, its buffer. */
    vyre_buffer *changed[PEER_INPUTS], *outputs[PEER_OUTPUTS];
} ours;

const char *ours_folder = VYRE_SOURCE_DIR "/bench";

static bool told(vyre_status status, const vyre_diag *diag, char message[MESSAGE]) {
    if (status != VYRE_OK) {
        snprintf(message, MESSAGE, "%.200s", diag->message);
    }
    return status == VYRE_OK;
}

static bool load(ours *o, char message[MESSAGE]) {
    char path[512];
    vyre_bytes bytes;
    vyre_diag diag = {0};
    snprintf(path, sizeof path, "%s/%s", ours_folder, o->instance->of->program);
    if (!told(vyre_file_read(path, 0, NULL, &bytes, &diag), &diag, message)) {
        return false;
    }
    vyre_diag_list diags = {.items = &diag, .capacity = 1};
    vyre_status status =
        vyre_parse((const char *)bytes.data, bytes.size, NULL, NULL, &o->program, &diags);
    status = status == VYRE_OK ? vyre_check(o->program, NULL, &diags) : status;
    vyre_bytes_finish(&bytes);
    return told(status, &diag, message);
}

static void set_params(ours *o) {
    const bench_workload *w = o->instance->of;
    uint32_t count = 0;
    for (; count < MOST_PARAMS && w->params[count].name; count++) {
        o->settings[count] = (vyre_setting){w->params[count].name, VYRE_U32,
                                            o->instance->data.size[w->params[count].size]};
    }
    o->options = (vyre_dispatch_options){
        .settings = o->settings, .setting_count = count, .no_optimize = w->keeps_barriers};
}

static bool make_buffers(ours *o, char message[MESSAGE]) {
    const vyre_program_view *view = vyre_program_get(o->program);
    const bench_instance *i = o->instance;
    uint32_t in = 0, out = 0;
    for (vyre_decl d = 0; d < view->decl_count; d++) {
        vyre_role role = (vyre_role)view->decls[d].role;
        bool is_in = role == VYRE_IN || role == VYRE_INOUT;
        bool is_out = role == VYRE_OUT || role == VYRE_INOUT;
        if (!is_in && !is_out) {
            continue;
        }
        if ((is_in && in == i->in_count) || (is_out && out == i->out_count)) {
            snprintf(message, MESSAGE, "the program has more buffers than the workload");
            return false;
        }
        uint64_t size = is_in ? i->data.in_bytes[in] : i->data.out_bytes[out];
        vyre_buffer **buffer = &o->buffers[o->buffer_count++];
        vyre_diag diag = {0};
        vyre_status status = vyre_buffer_create(o->device, size, buffer, &diag);
        if (status == VYRE_OK && is_in) {
            status = vyre_buffer_write(*buffer, 0, i->data.in[in], size, &diag);
        }
        if (!told(status, &diag, message)) {
            return false;
        }
        if (is_in) {
            o->changed[in++] = is_out ? *buffer : NULL;
        }
        if (is_out) {
            o->outputs[out++] = *buffer;
        }
    }
    return true;
}

static bool reset(bench_way *way, char message[MESSAGE]) {
    ours *o = way->state;
    for (uint32_t k = 0; k < o->instance->in_count; k++) {
        vyre_diag diag = {0};
        if (o->changed[k] && !told(vyre_buffer_write(o->changed[k], 0, o->instance->data.in[k],
                                                     o->instance->data.in_bytes[k], &diag),
                                   &diag, message)) {
            return false;
        }
    }
    return true;
}

static bool run(bench_way *way, uint64_t *out_ns, char message[MESSAGE]) {
    ours *o = way->state;
    vyre_diag diag = {0};
    vyre_dispatch_report report;
    uint64_t begin = way_now();
    if (!told(vyre_dispatch_resident(o->pipeline, o->buffers, o->buffer_count, &o->options, &report,
                                     &diag),
              &diag, message)) {
        return false;
    }
    uint64_t wanted = o->instance->data.size[0];
    /* A device that runs the whole program itself does not count them. */
    if (o->options.no_optimize && report.was_split && report.stats.sync_points != wanted) {
        snprintf(message, MESSAGE, "%llu barriers were passed instead of %llu",
                 (unsigned long long)report.stats.sync_points, (unsigned long long)wanted);
        return false;
    }
    *out_ns = report.times.run;
    if (way_counts_cpu && report.times.total) { /* the part of the run in the time of the whole */
        double part = (double)report.times.run / (double)report.times.total;
        *out_ns = (uint64_t)(part * (double)(way_now() - begin));
    }
    return true;
}

static bool collect(bench_way *way, char message[MESSAGE]) {
    ours *o = way->state;
    bool good = true;
    for (uint32_t k = 0; k < o->instance->out_count && good; k++) {
        vyre_diag diag = {0};
        good = told(vyre_buffer_read(o->outputs[k], 0, o->instance->data.out[k],
                                     o->instance->data.out_bytes[k], &diag),
                    &diag, message);
    }
    return good;
}

bool ours_prepare(const char *backend, const bench_instance *instance, bench_way *out,
                  char message[MESSAGE]) {
    ours *o = calloc(1, sizeof *o);
    if (!o) {
        snprintf(message, MESSAGE, "out of memory");
        return false;
    }
    o->instance = instance;
    set_params(o);
    vyre_diag diag = {0};
    bool good =
        told(vyre_device_open(NULL, backend, NULL, &o->device, &diag), &diag, message) &&
        load(o, message) && make_buffers(o, message) &&
        told(vyre_compile(o->device, o->program, &o->options, &o->pipeline, &diag), &diag, message);
    *out = (bench_way){o, reset, run, collect};
    return good;
}
