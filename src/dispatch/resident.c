/* The resident path. A declaration's memory is the caller's buffer; nothing is transferred but what
 * a fixpoint on a device without comparison needs. `out` is zeroed at the start of each dispatch,
 * unless nothing was ever written to the buffer. Scratch belongs to the run.
 *
 * What a program swaps has the memory of another when it is done, perhaps that of scratch: the
 * caller's buffers then exchange their memories, and no bytes move. A buffer that is longer than
 * its declaration can't, nor one over memory of the caller: the run works on memory of its own and
 * copies in and out. A sequence asks
 * a buffer for its memory each time, since a step before may have exchanged it. */
#include "dispatch/resident.h"

#include "base/clock.h"
#include "base/diag.h"
#include "device/call.h"

typedef unsigned long long ull;

static bool is_external(const vyre_decl_node *decl) {
    return decl->role == VYRE_IN || decl->role == VYRE_INOUT || decl->role == VYRE_OUT;
}

static bool is_written(const vyre_decl_node *decl) {
    return decl->role == VYRE_INOUT || decl->role == VYRE_OUT;
}

/* Number, owners and aliases; sizes are a matter of binding. */
static vyre_status check_buffers(const vyre_sequence_step *step, vyre_diag *diag) {
    const vyre_program_view *view = vyre_program_get(step->pipeline->program);
    uint32_t count = 0;
    for (vyre_decl i = 0; i < view->decl_count; i++) {
        if (!is_external(&view->decls[i])) {
            continue;
        }
        const vyre_buffer *b = count < step->buffer_count ? step->buffers[count] : NULL;
        const char *name = view->decls[i].name;
        if (!b) {
            return vyre_fail(diag, VYRE_INVALID_ARGUMENT,
                             "give one buffer for each in, inout and out, in declaration order",
                             "the buffer for \"%s\" is missing", name);
        }
        if (b->device != step->pipeline->device) {
            return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "use buffers of the pipeline's device",
                             "the buffer for \"%s\" belongs to another device", name);
        }
        vyre_status status = vyre_member_check(&b->member, "buffer", diag);
        if (status != VYRE_OK) {
            return status;
        }
        for (uint32_t k = 0, at = 0; at < count; k++) {
            if (!is_external(&view->decls[k])) {
                continue;
            }
            if (step->buffers[at++] == b &&
                (is_written(&view->decls[i]) || is_written(&view->decls[k]))) {
                return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give each its own buffer",
                                 "\"%s\" and \"%s\" have the same buffer, and one is written",
                                 view->decls[k].name, name);
            }
        }
        count++;
    }
    if (step->buffer_count != count) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT,
                         "give one buffer for each in, inout and out, in declaration order",
                         "%u buffers were given, and program %s has %u", step->buffer_count,
                         view->name, count);
    }
    return VYRE_OK;
}

static vyre_status read_words(void *user, vyre_decl decl, uint64_t offset, void *data,
                              uint64_t size, vyre_diag *diag) {
    vyre_run *run = user;
    vyre_call call = vyre_run_call(run, decl);
    call.bytes = size;
    run->report.stats.host_waits++;
    return vyre_call_read(&call, run->memory[decl], offset, data, size, diag);
}

/* Binds sizes from those of the buffers. */
static vyre_status bind(vyre_resident *r, const vyre_sequence_step *step) {
    const vyre_allocator *a = &step->pipeline->device->allocator;
    const vyre_program_view *view = vyre_program_get(step->pipeline->program);
    vyre_input *inputs = vyre_alloc_zeroed(a, step->buffer_count, sizeof *inputs);
    if (!inputs) {
        return vyre_fail_memory(r->run.diag, "a dispatch");
    }
    vyre_bind_args args = {.inputs = inputs, .are_resident = true};
    for (uint32_t i = 0, at = 0; i < view->decl_count && at < step->buffer_count; i++) {
        if (is_external(&view->decls[i]) && view->decls[i].role != VYRE_OUT) {
            uint64_t size = step->buffers[at]->size;
            inputs[args.input_count++].size = size < SIZE_MAX ? (size_t)size : SIZE_MAX;
        }
        at += is_external(&view->decls[i]);
    }
    vyre_status status = vyre_run_init(&r->run, &args);
    vyre_free(a, inputs, step->buffer_count, sizeof *inputs);
    return status;
}

static bool is_swapped(const vyre_run *run, vyre_decl decl) {
    const vyre_program_view *p = run->view;
    bool found = false;
    if (p->stats.stmt_kinds >> VYRE_STMT_SWAP & 1) {
        for (vyre_stmt s = 0; s < p->stmt_count && !found; s++) {
            found = p->stmts[s].op == VYRE_STMT_SWAP &&
                    (p->stmts[s].decl == decl || p->stmts[s].decl2 == decl);
        }
    }
    return found;
}

/* Whether the run has a copy of the buffer. */
static bool is_copied(const vyre_run *run, vyre_decl decl, const vyre_buffer *b) {
    return (b->size > vyre_binding_bytes(&run->binding, decl) || b->is_wrapped) &&
           is_swapped(run, decl);
}

/* Gives the buffers to the run. */
static vyre_status lend(vyre_resident *r) {
    vyre_run *run = &r->run;
    for (uint32_t i = 0, at = 0; i < run->view->decl_count; i++) {
        if (!is_external(&run->view->decls[i])) {
            continue;
        }
        const vyre_buffer *b = r->buffers[at++];
        uint64_t bytes = vyre_binding_bytes(&run->binding, i);
        run->is_given[i] = !is_copied(run, i, b);
        run->memory[i] = bytes && run->is_given[i] ? b->memory : 0;
        if (b->size < bytes) {
            return vyre_fail_at(run->diag, VYRE_INVALID_INPUT, "",
                                vyre_program_decl_place(run->pipeline->program, i),
                                "give a larger buffer",
                                "\"%s\" has %llu bytes, and its buffer %llu",
                                run->view->decls[i].name, (ull)bytes, (ull)b->size);
        }
    }
    return VYRE_OK;
}

vyre_status vyre_resident_init(vyre_resident *r, const vyre_sequence_step *step, uint64_t begin,
                               vyre_diag *diag) {
    if (!step->pipeline || (!step->buffers && step->buffer_count)) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give a pipeline and its buffers",
                         "pipeline or buffers is NULL");
    }
    *r = (vyre_resident){.run = {.pipeline = step->pipeline,
                                 .options = vyre_options_or_default(step->options),
                                 .words = {.read = read_words, .user = &r->run},
                                 .begin = begin,
                                 .diag = diag},
                         .buffers = step->buffers};
    vyre_status status = vyre_options_check(step->pipeline->device, r->run.options, diag);
    if (status == VYRE_OK) {
        status = check_buffers(step, diag);
    }
    if (status == VYRE_OK) {
        status = bind(r, step);
    }
    if (status != VYRE_OK) {
        return status;
    }
    status = lend(r);
    if (status == VYRE_OK) {
        status = vyre_run_allocate(&r->run);
    }
    if (status == VYRE_OK) {
        status = vyre_run_prepare(&r->run);
    }
    if (status != VYRE_OK) {
        vyre_run_finish(&r->run);
    }
    return status;
}

/* The buffers have what their declarations hold now; also after a failure, since passes before may
 * have exchanged memory with what is freed next. */
static vyre_status take_back(vyre_resident *r, vyre_status status) {
    vyre_run *run = &r->run;
    for (uint32_t i = 0, at = 0; i < run->view->decl_count; i++) {
        if (!is_external(&run->view->decls[i])) {
            continue;
        }
        vyre_buffer *b = r->buffers[at++];
        vyre_call call = vyre_run_call(run, i);
        if (run->is_given[i]) {
            if (is_written(&run->view->decls[i]) && call.bytes) {
                b->memory = run->memory[i];
            }
        } else if (run->memory[i] && status == VYRE_OK) {
            status = vyre_call_copy(&call, b->memory, 0, run->memory[i], 0, call.bytes, run->diag);
        }
    }
    return status;
}

vyre_status vyre_resident_execute(vyre_resident *r) {
    vyre_run *run = &r->run;
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0, at = 0; i < run->view->decl_count && status == VYRE_OK; i++) {
        const vyre_decl_node *decl = &run->view->decls[i];
        if (!is_external(decl)) {
            continue;
        }
        vyre_buffer *b = r->buffers[at++];
        vyre_call call = vyre_run_call(run, i);
        if (run->is_given[i]) {
            run->memory[i] = call.bytes ? b->memory : 0;
        }
        if (decl->role == VYRE_OUT && run->memory[i] && (!b->is_zero || !run->is_given[i])) {
            status = vyre_call_zero(&call, run->memory[i], 0, call.bytes, run->diag);
        } else if (!run->is_given[i] && run->memory[i]) {
            status = vyre_call_copy(&call, run->memory[i], 0, b->memory, 0, call.bytes, run->diag);
        }
        if (is_written(decl)) { /* what is only read may be shared by threads */
            b->is_zero = false;
        }
    }
    vyre_run_lap(run, &run->report.times.alloc);
    return take_back(r, status == VYRE_OK ? vyre_run_execute(run) : status);
}

void vyre_resident_finish(vyre_resident *r) {
    vyre_run_finish(&r->run);
}

vyre_status vyre_dispatch_resident(vyre_pipeline *pipeline, vyre_buffer *const *buffers,
                                   uint32_t buffer_count, const vyre_dispatch_options *options,
                                   vyre_dispatch_report *out_report, vyre_diag *diag) {
    vyre_sequence_step step = {pipeline, buffers, buffer_count, options};
    vyre_resident r;
    vyre_status status = vyre_resident_init(&r, &step, vyre_clock_now(), diag);
    if (status == VYRE_OK) {
        status = vyre_resident_execute(&r);
        vyre_run_report(&r.run, status, out_report);
        vyre_resident_finish(&r);
    }
    return status;
}
