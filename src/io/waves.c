/* Waves file to planner input: JSON tree first, then one pass over its waves and one over its
 * dependencies. Memory is proportional to the file, since counts come from the tree. */
#include "io/waves.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "io/file.h"
#include "io/json.h"

enum { NAME_SHOWN = 80 };

typedef struct reader {
    const vyre_json *json;
    vyre_waves *waves;
    const vyre_allocator *a;
    vyre_diag *diag;
} reader;

/* A node's text for a message. */
static int shown(const vyre_json_node *node) {
    return (int)(node->length < NAME_SHOWN ? node->length : NAME_SHOWN);
}

static uint32_t count_children(const vyre_json *json, uint32_t parent) {
    const vyre_json_node *nodes = json->nodes.data;
    uint32_t count = 0;
    for (uint32_t i = parent + 1; i < nodes[parent].end; i = nodes[i].end) {
        count++;
    }
    return count;
}

/* An array member, or VYRE_JSON_NONE in *out when it is missing. */
static vyre_status find_array(const reader *r, const char *key, uint32_t *out) {
    *out = vyre_json_member(r->json, 0, key);
    if (*out != VYRE_JSON_NONE && r->json->nodes.data[*out].kind != VYRE_JSON_ARRAY) {
        return vyre_json_fail(r->json, *out, NULL, r->diag, "\"%s\" must be an array", key);
    }
    return VYRE_OK;
}

static vyre_status add_name(reader *r, uint32_t object, uint32_t number) {
    const vyre_json *json = r->json;
    uint32_t node = vyre_json_member(json, object, "name");
    if (node == VYRE_JSON_NONE || json->nodes.data[node].kind != VYRE_JSON_STRING) {
        return vyre_json_fail(json, node == VYRE_JSON_NONE ? object : node,
                              "give every wave a \"name\", a string", r->diag,
                              "wave number %u has no name", number);
    }
    const vyre_json_node *n = &json->nodes.data[node];
    if (n->length == 0 || memchr(n->text, 0, n->length)) {
        return vyre_json_fail(json, node, "use a name of visible characters", r->diag,
                              "the name of wave number %u is empty or contains a NUL", number);
    }
    uint32_t index = vyre_intern_add(&r->waves->names, n->text, n->length);
    if (index == VYRE_INTERN_NONE) {
        return vyre_fail_memory(r->diag, "the names of waves");
    }
    if (index != number) {
        return vyre_json_fail(json, node, "give each wave a name of its own", r->diag,
                              "two waves are named \"%.*s\"", shown(n), n->text);
    }
    return VYRE_OK;
}

static vyre_status read_wave(reader *r, uint32_t object, uint32_t number) {
    const vyre_json *json = r->json;
    const vyre_json_node *nodes = json->nodes.data;
    vyre_wave *wave = &r->waves->waves[number];
    if (nodes[object].kind != VYRE_JSON_OBJECT) {
        return vyre_json_fail(json, object, "write {\"name\":..., \"frontier\":...}", r->diag,
                              "wave number %u is not an object", number);
    }
    vyre_status status = add_name(r, object, number);
    const char *name = vyre_intern_text(&r->waves->names, number);
    for (uint32_t i = object + 1; i < nodes[object].end && status == VYRE_OK;
         i = nodes[i + 1].end) {
        uint64_t *to = vyre_json_is(json, i, "frontier")  ? &wave->frontier
                       : vyre_json_is(json, i, "scratch") ? &wave->scratch
                       : vyre_json_is(json, i, "output")  ? &wave->output
                                                          : NULL;
        if (to) {
            char what[NAME_SHOWN + 32];
            snprintf(what, sizeof what, "wave \"%.*s\": \"%.*s\"", NAME_SHOWN, name,
                     shown(&nodes[i]), nodes[i].text);
            status = vyre_json_u64(json, i + 1, what, to, r->diag);
        } else if (!vyre_json_is(json, i, "name")) {
            status = vyre_json_fail(json, i, "use name, frontier, scratch, output", r->diag,
                                    "wave \"%.*s\": unknown key \"%.*s\"", NAME_SHOWN, name,
                                    shown(&nodes[i]), nodes[i].text);
        }
    }
    return status;
}

static vyre_status read_waves(reader *r) {
    const vyre_json *json = r->json;
    uint32_t array, number = 0;
    vyre_status status = find_array(r, "waves", &array);
    if (status != VYRE_OK) {
        return status;
    }
    if (array == VYRE_JSON_NONE) {
        return vyre_json_fail(json, 0, "write {\"waves\":[...], \"deps\":[...]}", r->diag,
                              "\"waves\" is missing");
    }
    uint32_t count = count_children(json, array);
    r->waves->waves = vyre_alloc_zeroed(r->a, count, sizeof *r->waves->waves);
    if (!r->waves->waves) {
        return vyre_fail_memory(r->diag, "waves");
    }
    r->waves->set.wave_count = count;
    for (uint32_t i = array + 1; i < json->nodes.data[array].end && status == VYRE_OK;
         i = json->nodes.data[i].end) {
        status = read_wave(r, i, number++);
    }
    return status;
}

static vyre_status read_end(reader *r, uint32_t node, uint32_t *out) {
    const vyre_json_node *n = &r->json->nodes.data[node];
    if (n->kind != VYRE_JSON_STRING) {
        return vyre_json_fail(r->json, node, "write [\"before\", \"after\"]", r->diag,
                              "a dependency names its waves by strings");
    }
    *out = vyre_intern_find(&r->waves->names, n->text, n->length);
    if (*out == VYRE_INTERN_NONE) {
        return vyre_json_fail(r->json, node, "add it to \"waves\", or correct the name", r->diag,
                              "there is no wave \"%.*s\"", shown(n), n->text);
    }
    return VYRE_OK;
}

static vyre_status read_dep(reader *r, uint32_t node, vyre_wave_dep *out) {
    const vyre_json_node *nodes = r->json->nodes.data;
    if (nodes[node].kind != VYRE_JSON_ARRAY || count_children(r->json, node) != 2) {
        return vyre_json_fail(r->json, node, "write [\"before\", \"after\"]", r->diag,
                              "a dependency is an array of two names");
    }
    vyre_status status = read_end(r, node + 1, &out->before);
    return status == VYRE_OK ? read_end(r, nodes[node + 1].end, &out->after) : status;
}

static vyre_status read_deps(reader *r) {
    const vyre_json *json = r->json;
    uint32_t array;
    size_t number = 0;
    vyre_status status = find_array(r, "deps", &array);
    if (status != VYRE_OK || array == VYRE_JSON_NONE) {
        return status;
    }
    uint32_t count = count_children(json, array);
    r->waves->deps = vyre_alloc(r->a, count, sizeof *r->waves->deps);
    if (!r->waves->deps) {
        return vyre_fail_memory(r->diag, "dependencies");
    }
    r->waves->set.dep_count = count;
    for (uint32_t i = array + 1; i < json->nodes.data[array].end && status == VYRE_OK;
         i = json->nodes.data[i].end) {
        status = read_dep(r, i, &r->waves->deps[number++]);
    }
    return status;
}

/* The keys of the document itself; arrays come later. */
static vyre_status read_top(reader *r) {
    const vyre_json *json = r->json;
    const vyre_json_node *nodes = json->nodes.data;
    vyre_wave_set *set = &r->waves->set;
    vyre_status status = VYRE_OK;
    if (nodes[0].kind != VYRE_JSON_OBJECT) {
        return vyre_json_fail(json, 0, "write {\"waves\":[...], \"deps\":[...]}", r->diag,
                              "a waves file holds one object");
    }
    set->budget_bytes = VYRE_PLAN_NO_BUDGET;
    for (uint32_t i = 1; i < nodes[0].end && status == VYRE_OK; i = nodes[i + 1].end) {
        if (vyre_json_is(json, i, "budget")) {
            r->waves->has_budget = true;
            status = vyre_json_u64(json, i + 1, "\"budget\"", &set->budget_bytes, r->diag);
        } else if (vyre_json_is(json, i, "resident_graph_bytes")) {
            status = vyre_json_u64(json, i + 1, "\"resident_graph_bytes\"",
                                   &set->resident_graph_bytes, r->diag);
        } else if (vyre_json_is(json, i, "readback_bytes")) {
            status =
                vyre_json_u64(json, i + 1, "\"readback_bytes\"", &set->readback_bytes, r->diag);
        } else if (!vyre_json_is(json, i, "waves") && !vyre_json_is(json, i, "deps")) {
            status = vyre_json_fail(
                json, i, "use waves, deps, resident_graph_bytes, readback_bytes, budget", r->diag,
                "unknown key \"%.*s\"", shown(&nodes[i]), nodes[i].text);
        }
    }
    return status;
}

static vyre_status read_document(reader *r) {
    vyre_status status = read_top(r);
    if (status == VYRE_OK) {
        status = read_waves(r);
    }
    if (status == VYRE_OK) {
        status = read_deps(r);
    }
    vyre_waves *w = r->waves;
    for (uint32_t i = 0; i < w->set.wave_count && status == VYRE_OK; i++) {
        w->waves[i].name = vyre_intern_text(&w->names, i);
    }
    w->set.waves = w->waves;
    w->set.deps = w->deps;
    return status;
}

vyre_status vyre_waves_parse(const char *text, size_t length, const char *name,
                             const vyre_allocator *a, vyre_waves *out, vyre_diag *diag) {
    vyre_allocator allocator = vyre_allocator_or_system(a);
    vyre_json json;
    vyre_status status = vyre_json_parse(text, length, name, &allocator, &json, diag);
    if (status != VYRE_OK) {
        return status;
    }
    vyre_waves waves = {0};
    vyre_intern_init(&waves.names, &allocator);
    reader r = {.json = &json, .waves = &waves, .a = &allocator, .diag = diag};
    status = read_document(&r);
    vyre_json_finish(&json);
    if (status != VYRE_OK) {
        vyre_waves_finish(&waves);
        return status;
    }
    *out = waves;
    return VYRE_OK;
}

vyre_status vyre_waves_read(const char *path, const vyre_allocator *a, vyre_waves *out,
                            vyre_diag *diag) {
    vyre_bytes bytes;
    vyre_status status = vyre_file_read(path, 0, a, &bytes, diag);
    if (status != VYRE_OK) {
        return status;
    }
    status =
        vyre_waves_parse((const char *)bytes.data, bytes.size, vyre_file_shown(path), a, out, diag);
    vyre_bytes_finish(&bytes);
    return status;
}

void vyre_waves_finish(vyre_waves *waves) {
    const vyre_allocator *a = &waves->names.arena.allocator;
    vyre_free(a, waves->waves, waves->set.wave_count, sizeof *waves->waves);
    vyre_free(a, waves->deps, waves->set.dep_count, sizeof *waves->deps);
    waves->waves = NULL;
    waves->deps = NULL;
    waves->set = (vyre_wave_set){0};
    vyre_intern_finish(&waves->names);
}
