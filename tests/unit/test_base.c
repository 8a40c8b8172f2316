/* Base: allocator seam, arena, interned strings, diagnostics, checked arithmetic. */
#include "base/arena.h"
#include "base/checked.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/intern.h"
#include "harness/test.h"

TEST(status_names_cover_all_codes) {
    for (int s = VYRE_OK; s <= VYRE_INTERNAL; s++) {
        CHECK(strcmp(vyre_status_name((vyre_status)s), "unknown status") != 0);
    }
    CHECK_STR(vyre_status_name((vyre_status)9999), "unknown status");
    CHECK_STR(vyre_status_name(VYRE_OUT_OF_MEMORY), "out of memory");
}

TEST(alloc_refuses_overflow_and_counts_sizes) {
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    CHECK(vyre_alloc(&a, SIZE_MAX / 2, 4) == NULL);
    void *nothing = vyre_alloc(&a, 0, 8);
    CHECK(nothing != NULL);
    vyre_free(&a, nothing, 0, 8);
    unsigned char *zeroed = vyre_alloc_zeroed(&a, 7, 3);
    for (int i = 0; i < 21; i++) {
        CHECK_EQ(zeroed[i], 0);
    }
    vyre_free(&a, zeroed, 7, 3);
    CHECK_EQ(heap.live_blocks, 0);
}

TEST(aligned_blocks_are_aligned_cleared_and_given_back_whole) {
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    for (size_t alignment = sizeof(void *); alignment <= 4096; alignment *= 2) {
        for (size_t count = 0; count < 5; count++) {
            unsigned char *block = vyre_alloc_aligned(&a, count, 33, alignment);
            REQUIRE(block != NULL);
            CHECK_EQ((uintptr_t)block % alignment, 0);
            for (size_t i = 0; i < count * 33; i++) {
                CHECK_EQ(block[i], 0);
                block[i] = 0xff;
            }
            vyre_free_aligned(&a, block, count, 33, alignment);
        }
    }
    vyre_free_aligned(&a, NULL, 1, 1, 64);
    CHECK(vyre_alloc_aligned(&a, SIZE_MAX / 2, 4, 64) == NULL);
    CHECK(vyre_alloc_aligned(&a, SIZE_MAX - 64, 1, 64) == NULL);
    CHECK_EQ(heap.live_blocks, 0);
}

TEST(vec_grows_and_keeps_contents) {
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    VYRE_VEC(uint32_t) v = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        REQUIRE(vyre_vec_push(&a, &v, i * 3));
    }
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_EQ(v.data[i], i * 3);
    }
    CHECK(!vyre_vec_reserve(&a, &v, (size_t)UINT32_MAX));
    vyre_vec_free(&a, &v);
    CHECK_EQ(heap.live_blocks, 0);
}

TEST(arena_aligns_grows_and_resets) {
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_arena arena;
    vyre_arena_init(&arena, &a);
    for (size_t n = 1; n < 3000; n += 7) {
        unsigned char *p = vyre_arena_alloc(&arena, n, 1);
        REQUIRE(p != NULL);
        CHECK_EQ((uintptr_t)p % 16, 0);
        memset(p, (int)n, n);
    }
    CHECK(vyre_arena_alloc(&arena, SIZE_MAX, 2) == NULL);
    CHECK(vyre_arena_alloc(&arena, SIZE_MAX - 3, 1) == NULL);
    CHECK_STR(vyre_arena_copy(&arena, "hello, world", 5), "hello");
    vyre_arena_reset(&arena);
    CHECK_EQ(heap.live_blocks, 1);
    vyre_arena_finish(&arena);
    CHECK_EQ(heap.live_blocks, 0);
}

TEST(intern_numbers_in_order_of_first_sight) {
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_intern table;
    vyre_intern_init(&table, &a);
    char text[32];
    for (uint32_t i = 0; i < 5000; i++) {
        int n = snprintf(text, sizeof text, "name%" PRIu32, i);
        CHECK_EQ(vyre_intern_add(&table, text, (size_t)n), i);
    }
    CHECK_EQ(vyre_intern_add(&table, "name77", 6), 77);
    CHECK_EQ(vyre_intern_find(&table, "name4999", 8), 4999);
    CHECK_EQ(vyre_intern_find(&table, "nam", 3), VYRE_INTERN_NONE);
    CHECK_EQ(vyre_intern_add(&table, "a\0b", 3), 5000);
    CHECK_EQ(vyre_intern_find(&table, "a", 1), VYRE_INTERN_NONE);
    CHECK_STR(vyre_intern_text(&table, 77), "name77");
    vyre_intern_finish(&table);
    CHECK_EQ(heap.live_blocks, 0);
}

static vyre_status intern_many(const vyre_allocator *a, void *user) {
    (void)user;
    vyre_intern table;
    vyre_intern_init(&table, a);
    vyre_status status = VYRE_OK;
    char text[32];
    for (int i = 0; i < 200 && status == VYRE_OK; i++) {
        int n = snprintf(text, sizeof text, "%d", i);
        if (vyre_intern_add(&table, text, (size_t)n) == VYRE_INTERN_NONE) {
            status = VYRE_OUT_OF_MEMORY;
        }
    }
    vyre_intern_finish(&table);
    return status;
}

TEST(intern_survives_every_failed_allocation) {
    CHECK(test_every_allocation(intern_many, NULL, 1000) > 3);
}

TEST(diag_keeps_code_place_fix_and_cuts_at_characters) {
    vyre_diag diag;
    vyre_place place = {.file = "a.vy", .line = 3, .col = 4, .end_col = 9};
    CHECK_EQ(vyre_fail_at(&diag, VYRE_INVALID_PROGRAM, "V066", place, "declare it", "no %s", "x"),
             VYRE_INVALID_PROGRAM);
    CHECK_STR(diag.code, "V066");
    CHECK_STR(diag.message, "no x");
    CHECK_STR(diag.fix, "declare it");
    CHECK_STR(diag.file, "a.vy");
    CHECK_EQ(diag.line * 10000 + diag.col * 100 + diag.end_col, 30409);
    char big[2000];
    for (size_t shift = 0; shift < 3; shift++) {
        memset(big, 'x', shift);
        for (size_t i = shift; i + 3 < sizeof big; i += 3) {
            memcpy(big + i, "\xe2\x82\xac", 4);
        }
        (void)vyre_fail(&diag, VYRE_IO, NULL, "%s", big);
        size_t n = strlen(diag.message);
        CHECK_STR(diag.message + n - 3, "...");
        CHECK_EQ((n - 3 - shift) % 3, 0);
    }
    CHECK_EQ(vyre_fail(NULL, VYRE_IO, NULL, "x"), VYRE_IO);
}

TEST(diag_list_counts_what_does_not_fit) {
    vyre_diag items[2];
    vyre_diag_list list = {.items = items, .capacity = 2};
    for (int i = 0; i < 4; i++) {
        (void)vyre_report(&list, i == 1 ? VYRE_WARNING : VYRE_ERROR, VYRE_INVALID_PROGRAM, "V001",
                          (vyre_place){0}, NULL, "%d", i);
        (void)vyre_report(&list, VYRE_NOTE, VYRE_OK, "", (vyre_place){0}, NULL, "note %d", i);
    }
    CHECK_EQ(list.count, 2);
    CHECK_EQ(list.errors, 3);
    CHECK_EQ(list.warnings, 1);
    CHECK_STR(items[0].message, "0");
    CHECK_STR(items[1].message, "note 0");
    CHECK(vyre_report(NULL, VYRE_ERROR, VYRE_IO, "", (vyre_place){0}, NULL, "x") == NULL);
}

TEST(checked_arithmetic_reports_overflow) {
    uint64_t out;
    CHECK(vyre_add_u64(UINT64_MAX - 1, 1, &out) && out == UINT64_MAX);
    CHECK(!vyre_add_u64(UINT64_MAX, 1, &out));
    CHECK(!vyre_mul_u64(UINT64_C(1) << 32, UINT64_C(1) << 32, &out));
    CHECK_EQ(vyre_ceil_div(UINT64_MAX, 2), UINT64_C(1) << 63);
}

TEST(hash_is_xxh3) {
    CHECK_EQ(vyre_hash_bytes("", 0), UINT64_C(0x2d06800538d394c2));
    CHECK(vyre_hash_more(1, "a", 1) != vyre_hash_more(2, "a", 1));
}
