/* Parser, printer and formatter: whatever parses prints to a text that parses to an equal program;
 * whatever scans formats to a text that formats to itself and means the same. Memory stays within a
 * fixed multiple of the input. */
#include <string.h>

#include "base/text.h"
#include "fuzz.h"
#include "vyre/text.h"

static bool append(void *user, const char *text, size_t length) {
    vyre_text_append(user, text, length);
    return true;
}

static vyre_program *parse(const char *text, size_t length, const vyre_allocator *a) {
    vyre_diag items[4];
    vyre_diag_list list = {.items = items, .capacity = 4};
    vyre_program *program = NULL;
    vyre_status status = vyre_parse(text, length, NULL, a, &program, &list);
    FUZZ_CHECK((status == VYRE_OK) == (program != NULL));
    FUZZ_CHECK((status == VYRE_OK) == (list.errors == 0));
    for (uint32_t i = 0; i < list.count; i++) {
        FUZZ_CHECK(items[i].line > 0 && items[i].col > 0 && items[i].end_col > items[i].col);
        FUZZ_CHECK(items[i].message[0] != '\0' && items[i].fix[0] != '\0');
    }
    return program;
}

/* The text of a program, or of a formatted text, must parse to an equal one. */
static void check_equal(const vyre_program *program, const vyre_text *text,
                        const vyre_allocator *a) {
    vyre_program *again = parse(text->data, text->length, a);
    FUZZ_CHECK(again && vyre_program_equal(program, again));
    FUZZ_CHECK(vyre_program_get(program)->hash == vyre_program_get(again)->hash);
    vyre_program_release(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_heap heap = {.limit = (size_t)1 << 28};
    vyre_allocator a = fuzz_allocator(&heap);
    const char *text = (const char *)data;
    vyre_text once, twice, printed;
    vyre_text_init(&once, &a);
    vyre_text_init(&twice, &a);
    vyre_text_init(&printed, &a);
    vyre_program *program = parse(text, size, &a);
    vyre_status status = vyre_format(text, size, NULL, &a, append, &once, NULL);
    FUZZ_CHECK(status == VYRE_OK || !program);
    if (status == VYRE_OK) {
        status = vyre_format(vyre_text_string(&once), once.length, NULL, &a, append, &twice, NULL);
        FUZZ_CHECK(status == VYRE_OK && once.length == twice.length);
        FUZZ_CHECK(memcmp(vyre_text_string(&once), vyre_text_string(&twice), once.length) == 0);
    }
    if (program) {
        check_equal(program, &once, &a);
        FUZZ_CHECK(vyre_program_print(program, append, &printed) == VYRE_OK);
        check_equal(program, &printed, &a);
    }
    vyre_program_release(program);
    vyre_text_finish(&once);
    vyre_text_finish(&twice);
    vyre_text_finish(&printed);
    FUZZ_CHECK(heap.live == 0);
    return 0;
}
