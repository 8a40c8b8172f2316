/* Fuzz target: the validator on every text that parses. It must end in bounded memory, say the same
 * when asked again, count what it says, and judge the printed program as it judged the text. */
#include <string.h>

#include "base/text.h"
#include "fuzz.h"
#include "vyre/check.h"
#include "vyre/text.h"

enum { ROOM = 64 };

typedef struct verdict {
    vyre_status status;
    vyre_diag_list diags;
    vyre_diag items[ROOM];
} verdict;

static void judge(const vyre_program *program, verdict *out) {
    fuzz_heap heap = {.limit = (size_t)1 << 30};
    const vyre_allocator allocator = fuzz_allocator(&heap);
    memset(out, 0, sizeof *out);
    out->diags = (vyre_diag_list){.items = out->items, .capacity = ROOM};
    out->status = vyre_check(program, &allocator, &out->diags);
    FUZZ_CHECK(heap.live == 0);
    FUZZ_CHECK(out->status == VYRE_OK || out->status == VYRE_INVALID_PROGRAM);
    FUZZ_CHECK((out->status == VYRE_OK) == (out->diags.errors == 0));
    for (uint32_t i = 0; i < out->diags.count; i++) {
        FUZZ_CHECK(out->items[i].severity == VYRE_NOTE ||
                   vyre_diagnostic_find(out->items[i].code) != NULL);
    }
}

static bool append(void *user, const char *text, size_t length) {
    vyre_text_append(user, text, length);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static verdict first, second;
    vyre_program *program = NULL, *again = NULL;
    vyre_text text;
    if (vyre_parse((const char *)data, size, NULL, NULL, &program, NULL) != VYRE_OK) {
        return 0;
    }
    vyre_text_init(&text, NULL);
    judge(program, &first);
    judge(program, &second);
    FUZZ_CHECK(first.status == second.status && first.diags.count == second.diags.count);
    for (uint32_t i = 0; i < first.diags.count; i++) {
        FUZZ_CHECK(strcmp(first.items[i].message, second.items[i].message) == 0 &&
                   first.items[i].line == second.items[i].line);
    }
    FUZZ_CHECK(vyre_program_print(program, append, &text) == VYRE_OK);
    FUZZ_CHECK(vyre_parse(vyre_text_string(&text), text.length, NULL, NULL, &again, NULL) ==
               VYRE_OK);
    judge(again, &second);
    FUZZ_CHECK(first.status == second.status && first.diags.errors == second.diags.errors &&
               first.diags.warnings == second.diags.warnings);
    vyre_program_release(again);
    vyre_program_release(program);
    vyre_text_finish(&text);
    return 0;
}
