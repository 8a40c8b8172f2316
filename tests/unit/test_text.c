/* The growing text. */
#include "base/text.h"
#include "harness/test.h"

TEST(text_appends_and_grows) {
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_text text;
    vyre_text_init(&text, &a);
    CHECK_STR(vyre_text_string(&text), "");
    vyre_text_puts(&text, "abc");
    vyre_text_printf(&text, "-%d-%s", 42, "x");
    vyre_text_append(&text, "12345", 3);
    vyre_text_fill(&text, '.', 4);
    vyre_text_fill(&text, '!', 0);
    CHECK_STR(vyre_text_string(&text), "abc-42-x123....");
    CHECK_EQ(text.length, 15);
    for (int i = 0; i < 1000; i++) {
        vyre_text_printf(&text, "%04d", i);
    }
    CHECK_EQ(text.length, 4015);
    CHECK_HAS(vyre_text_string(&text), "099809");
    CHECK_EQ(strlen(vyre_text_string(&text)), 4015);
    CHECK_STATUS(vyre_text_status(&text, "x", NULL), VYRE_OK, NULL);
    vyre_text_reset(&text);
    CHECK_STR(vyre_text_string(&text), "");
    vyre_text_finish(&text);
    CHECK_EQ(heap.live_blocks, 0);
}

TEST(text_failure_sticks) {
    test_heap heap = {.fail_at = 2};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_text text;
    vyre_text_init(&text, &a);
    vyre_text_puts(&text, "kept");
    vyre_text_fill(&text, 'x', 1000);
    vyre_text_printf(&text, "%0*d", 2000, 1);
    vyre_text_append(&text, "y", 1);
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_text_status(&text, "a page", &diag), VYRE_OUT_OF_MEMORY, NULL);
    CHECK_HAS(diag.message, "a page");
    CHECK_STR(vyre_text_string(&text), "kept");
    vyre_text_finish(&text);
    CHECK_EQ(heap.live_blocks, 0);
}
