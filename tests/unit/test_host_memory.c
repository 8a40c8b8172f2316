/* Host memory: aligned and zero, padding behind it, pages that nobody may touch behind that. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/test.h"
#include "kit/host_memory.h"
#include "kit/team.h"

static vyre_backend_device *device_of(vyre_host_device *host) {
    return (vyre_backend_device *)host;
}

static unsigned char *allocate(vyre_host_device *host, uint64_t size, vyre_memory *out) {
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_host_allocate(device_of(host), size, out, &diag), &diag);
    return vyre_host_bytes(*out);
}

static const vyre_host_options all_options[] = {
    {0},
    {.alignment = 64},
    {.alignment = 64, .padding = 72},
    {.alignment = 4096, .padding = 1},
    {.guard = true},
    {.alignment = 64, .padding = 128, .guard = true},
};
enum { OPTIONS = 6 };

TEST(memory_is_aligned_and_zero_with_its_padding_and_comes_back) {
    const uint64_t sizes[] = {1,  2,    15,   16,   17,   63,     64,
                              65, 1000, 4095, 4096, 4097, 100000, 3000000};
    for (int o = 0; o < OPTIONS; o++) {
        test_heap heap = {0};
        vyre_host_device host = {.allocator = test_heap_allocator(&heap),
                                 .options = all_options[o]};
        size_t alignment = host.options.alignment ? host.options.alignment : 16;
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            vyre_memory memory;
            unsigned char *bytes = allocate(&host, sizes[s], &memory);
            CHECK_EQ((uintptr_t)bytes % alignment, 0);
            size_t whole = sizes[s] + host.options.padding;
            for (size_t i = 0; i < whole; i++) {
                REQUIRE(bytes[i] == 0);
            }
            memset(bytes, 0xff, whole); /* all of it may be written */
            (void)vyre_host_free(device_of(&host), memory, NULL);
            CHECK_EQ(heap.live_blocks, 0);
        }
        CHECK((heap.calls == 0) == host.options.guard);
    }
}

TEST(blocks_begin_at_a_line_and_large_ones_spread_over_the_page) {
    enum { BLOCKS = 12, LINE = 64, PAGE = 4096, LARGE = 5 << 20 };
    for (int o = 0; o < 3; o++) { /* a line or less is wanted, no guard */
        vyre_host_device host = {.allocator = vyre_allocator_system(), .options = all_options[o]};
        vyre_memory memory[BLOCKS];
        for (int i = 0; i < BLOCKS; i++) {
            const unsigned char *bytes = allocate(&host, i % 2 ? LARGE : 8, &memory[i]);
            CHECK_EQ((uintptr_t)bytes % LINE, 0);
            for (int j = i % 2; j < i && i % 2; j += 2) { /* large ones are mapped, each alike */
                const unsigned char *other = vyre_host_bytes(memory[j]);
                CHECK((uintptr_t)bytes % PAGE != (uintptr_t)other % PAGE);
            }
        }
        for (int i = 0; i < BLOCKS; i++) {
            (void)vyre_host_free(device_of(&host), memory[i], NULL);
        }
    }
}

TEST(sizes_that_can_not_be_are_refused) {
    for (int o = 0; o < OPTIONS; o++) {
        test_heap heap = {0};
        vyre_host_device host = {.allocator = test_heap_allocator(&heap),
                                 .options = all_options[o]};
        const uint64_t sizes[] = {UINT64_MAX,        UINT64_MAX - 16,    UINT64_MAX - 100,
                                  UINT64_MAX - 5000, UINT64_MAX - 10000, UINT64_MAX / 2};
        for (int i = 0; i < 6; i++) {
            vyre_memory memory;
            vyre_diag diag = {0};
            CHECK_STATUS(vyre_host_allocate(device_of(&host), sizes[i], &memory, &diag),
                         VYRE_OUT_OF_MEMORY, &diag);
        }
    }
}

/* Whether reading the byte ends a process. */
static bool is_fatal(const volatile unsigned char *byte) {
    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* not what a sanitizer would do */
        unsigned char read = *byte;
        _exit(read & 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

TEST(behind_the_padding_is_a_guard) {
    vyre_host_device host = {.allocator = vyre_allocator_system(),
                             .options = {.alignment = 64, .padding = 128, .guard = true}};
    const uint64_t sizes[] = {64, 4096, 4032, 10240}; /* with the padding whole lines */
    for (int i = 0; i < 4; i++) {
        vyre_memory memory;
        unsigned char *bytes = allocate(&host, sizes[i], &memory);
        CHECK(!is_fatal(bytes));
        CHECK(!is_fatal(bytes + sizes[i] + 127));
        CHECK(is_fatal(bytes + sizes[i] + 128));
        CHECK(is_fatal(bytes + sizes[i] + 128 + 4095));
        (void)vyre_host_free(device_of(&host), memory, NULL);
    }
    vyre_memory memory; /* others end less than an alignment before it */
    unsigned char *bytes = allocate(&host, 100, &memory);
    CHECK(is_fatal(bytes + 100 + 128 + 63));
    (void)vyre_host_free(device_of(&host), memory, NULL);
}

TEST(a_team_clears_large_memory) {
    vyre_team *team = NULL;
    vyre_team_options threads = {.threads = 3};
    REQUIRE_OK(vyre_team_create(&threads, NULL, &team, NULL), NULL);
    test_heap heap = {0}; /* its memory is not zero */
    vyre_host_device host = {
        .allocator = test_heap_allocator(&heap),
        .options = {.padding = 9, .clear = vyre_host_clear_by_team, .user = team}};
    const uint64_t sizes[] = {5, (1 << 20) - 10, 1 << 20, (3 << 20) + 12345};
    for (int s = 0; s < 4; s++) {
        vyre_memory memory;
        unsigned char *bytes = allocate(&host, sizes[s], &memory);
        for (size_t i = 0; i < sizes[s] + 9; i++) {
            REQUIRE(bytes[i] == 0);
        }
        (void)vyre_host_free(device_of(&host), memory, NULL);
    }
    CHECK_EQ(heap.live_blocks, 0);
    vyre_team_destroy(team);
}

TEST(bytes_go_in_and_out_and_from_memory_to_memory) {
    vyre_host_device host = {.allocator = vyre_allocator_system(), .options = all_options[2]};
    vyre_backend_device *device = device_of(&host);
    vyre_memory a, b;
    allocate(&host, 10, &a);
    unsigned char *second = allocate(&host, 10, &b);
    memset(second + 10, 0xee, 72); /* padding is never compared */
    REQUIRE_OK(vyre_host_write(device, a, 2, "hello", 5, NULL), NULL);
    REQUIRE_OK(vyre_host_copy(device, b, 1, a, 2, 5, NULL), NULL);
    char text[6] = "";
    REQUIRE_OK(vyre_host_read(device, b, 1, text, 5, NULL), NULL);
    CHECK_STR(text, "hello");
    bool equal = true;
    REQUIRE_OK(vyre_host_equal(device, a, b, 10, &equal, NULL), NULL);
    CHECK(!equal);
    REQUIRE_OK(vyre_host_zero(device, a, 0, 10, NULL), NULL);
    REQUIRE_OK(vyre_host_zero(device, b, 0, 10, NULL), NULL);
    REQUIRE_OK(vyre_host_equal(device, a, b, 10, &equal, NULL), NULL);
    CHECK(equal);
    CHECK_EQ(second[10], 0xee);
    (void)vyre_host_free(device, a, NULL);
    (void)vyre_host_free(device, b, NULL);
}
