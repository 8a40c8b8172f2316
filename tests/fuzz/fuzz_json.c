/* JSON reader and the waves file on top of it: the tree is well formed, what the writer makes of a
 * string is read back as the same string, and waves are consistent. */
#include <string.h>

#include "base/utf8.h"
#include "fuzz.h"
#include "io/json.h"
#include "io/waves.h"

static void check_string(const vyre_json_node *node, const vyre_allocator *a) {
    for (size_t i = 0; i < node->length;) {
        size_t step = vyre_utf8_length(node->text + i, node->length - i);
        FUZZ_CHECK(step > 0);
        i += step;
    }
    vyre_text text;
    vyre_json_writer writer;
    vyre_json again;
    vyre_text_init(&text, a);
    vyre_json_writer_init(&writer, &text);
    vyre_json_put_bytes(&writer, node->text, node->length);
    FUZZ_CHECK(vyre_json_parse(text.data, text.length, "x", a, &again, NULL) == VYRE_OK);
    FUZZ_CHECK(again.nodes.data[0].length == node->length);
    FUZZ_CHECK(memcmp(again.nodes.data[0].text, node->text, node->length) == 0);
    vyre_json_finish(&again);
    vyre_text_finish(&text);
}

static void check_tree(const vyre_json *json, const vyre_allocator *a) {
    FUZZ_CHECK(json->nodes.count > 0 && json->nodes.data[0].end == json->nodes.count);
    for (uint32_t i = 0; i < json->nodes.count; i++) {
        const vyre_json_node *node = &json->nodes.data[i];
        FUZZ_CHECK(node->at < json->length && node->end > i && node->end <= json->nodes.count);
        if (node->kind == VYRE_JSON_STRING) {
            check_string(node, a);
        } else if (node->kind == VYRE_JSON_NUMBER) {
            uint64_t number;
            vyre_diag diag;
            (void)vyre_json_u64(json, i, "number", &number, &diag);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_heap heap = {.limit = (UINT64_C(1) << 20) + 512 * size};
    vyre_allocator a = fuzz_allocator(&heap);
    char *text = vyre_alloc(&a, size, 1);
    memcpy(text, data, size);
    vyre_json json;
    vyre_diag diag = {0};
    vyre_status status = vyre_json_parse(text, size, "fuzz.json", &a, &json, &diag);
    if (status == VYRE_OK) {
        check_tree(&json, &a);
        vyre_json_finish(&json);
    } else {
        FUZZ_CHECK(diag.status == status && diag.line > 0 && diag.message[0] != '\0');
    }
    vyre_waves waves;
    if (vyre_waves_parse(text, size, "fuzz.json", &a, &waves, &diag) == VYRE_OK) {
        FUZZ_CHECK(status == VYRE_OK);
        for (size_t i = 0; i < waves.set.dep_count; i++) {
            FUZZ_CHECK(waves.set.deps[i].before < waves.set.wave_count);
            FUZZ_CHECK(waves.set.deps[i].after < waves.set.wave_count);
        }
        vyre_waves_finish(&waves);
    }
    vyre_free(&a, text, size, 1);
    FUZZ_CHECK(heap.live == 0);
    return 0;
}
