/* vyre split --backend: how a device would run the segments, decision by decision. */
#include <inttypes.h>
#include <string.h>

#include "split.h"
#include "vyre/backend.h"

static bool keep(void *user, const vyre_decision *decision) {
    split_decisions *all = user;
    const vyre_allocator a = vyre_allocator_system();
    all->failed |= !vyre_vec_push(&a, &all->list, *decision);
    return !all->failed;
}

vyre_status split_decide(const char *backend, const vyre_program *program,
                         const vyre_split_options *options, split_decisions *out,
                         vyre_module **out_module, vyre_diag *diag) {
    vyre_status status =
        vyre_backend_explain(NULL, backend, program, options, NULL, out_module, keep, out, diag);
    if (status == VYRE_OK && out->failed) {
        vyre_module_release(*out_module);
        return vyre_fail_memory(diag, "what was decided");
    }
    return status;
}

void split_decisions_finish(split_decisions *decisions) {
    const vyre_allocator a = vyre_allocator_system();
    vyre_vec_free(&a, &decisions->list);
}

static const char *name_of(const vyre_module *module, const vyre_decision *d) {
    return vyre_program_get(vyre_module_get(module)->segments[d->segment])->name;
}

static void write_heading(vyre_text *text, const vyre_module *module, const vyre_decision *d) {
    vyre_text_printf(text, "\n%s", name_of(module, d));
    if (d->part_count > 1) {
        vyre_text_printf(text, ", part %" PRIu32 " of %" PRIu32 " between its barriers",
                         d->part + 1, d->part_count);
    }
    vyre_text_puts(text, "\n");
}

void split_write_decisions(vyre_text *text, const char *backend, const vyre_module *module,
                           const split_decisions *decisions) {
    vyre_text_printf(text, "\nhow %.*s runs it\n", (int)strcspn(backend, ":"), backend);
    for (uint32_t i = 0; i < decisions->list.count; i++) {
        const vyre_decision *d = &decisions->list.data[i];
        if (i == 0 || d[-1].segment != d->segment || d[-1].part != d->part) {
            write_heading(text, module, d);
        }
        vyre_text_puts(text, "    ");
        if (d->place.line) {
            vyre_text_printf(text, "line %" PRIu32 ", ", d->place.line);
        }
        vyre_text_printf(text, "%s: %s%s%s\n", d->topic, d->choice, d->reason[0] ? " because " : "",
                         d->reason);
    }
}

void split_write_decisions_json(vyre_text *text, const char *backend, const vyre_module *module,
                                const split_decisions *decisions) {
    vyre_json_writer w;
    while (text->length > 0 && text->data[text->length - 1] != '}') {
        text->length--; /* the end of the line */
    }
    text->length -= text->length > 0;
    vyre_text_puts(text, ",\"backend\":");
    vyre_json_writer_init(&w, text);
    vyre_json_put_string(&w, backend);
    vyre_text_puts(text, ",\"decisions\":");
    vyre_json_writer_init(&w, text);
    vyre_json_begin_array(&w);
    for (uint32_t i = 0; i < decisions->list.count; i++) {
        const vyre_decision *d = &decisions->list.data[i];
        vyre_json_begin_object(&w);
        vyre_json_key(&w, "segment");
        vyre_json_put_string(&w, name_of(module, d));
        vyre_json_key(&w, "part");
        vyre_json_put_u64(&w, d->part);
        vyre_json_key(&w, "parts");
        vyre_json_put_u64(&w, d->part_count);
        vyre_json_key(&w, "line");
        vyre_json_put_u64(&w, d->place.line);
        vyre_json_key(&w, "topic");
        vyre_json_put_string(&w, d->topic);
        vyre_json_key(&w, "choice");
        vyre_json_put_string(&w, d->choice);
        vyre_json_key(&w, "reason");
        vyre_json_put_string(&w, d->reason);
        vyre_json_end_object(&w);
    }
    vyre_json_end_array(&w);
    vyre_text_puts(text, "}\n");
}
