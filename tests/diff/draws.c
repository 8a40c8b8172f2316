/* The table of backends, and draws from it. */
#include "diff/draws.h"

#include <stdio.h>
#include <string.h>

#include "harness/test.h"

#define OF_REF .orders = true, .limits = true, .choices = {{"turn_loops", {"", "1"}}}

static const differ_backend backends[] = {
    {.name = "ref-split", OF_REF},
    {.name = "ref-schedule", OF_REF},
    {.name = "ref-groups", OF_REF},
    {.name = "ref-minimal", OF_REF},
    {.name = "ref-queue",
     .limits = true,
     .choices = {{"turn_loops", {"", "1"}}, {"ahead", {"", "4"}}}},
    {.name = "ref", OF_REF},
    {.name = "emit-c",
     .slow = true,
     .batch = 32,
     .splits_itself = true,
     .choices = {{"cc", {"clang", "gcc", "clang", "clang"}}, /* gcc takes three times as long */
                 {"opt", {"0", "1", "0", "0", "0", "2", "0", "0"}},
                 {"threads", {"", "1"}}}},
    {.name = "opencl", .slow = true},
    {.name = "cpu",
     .slow = true,
     .choices = {{"threads", {"1", "2", "3", "4", "5", "6", "7", "8"}},
                 {"features", {"", "sse2", "avx2", "avx512"}},
                 {"gang", {"", "1", "4", "8"}},
                 {"effort", {"0", "1", "0", "0", "0", "0", "0", "0"}}, /* 1: thrice as slow */
                 {"guard", {"1", "0"}},
                 {"stream", {"", "1"}}}},
};

const differ_backend *differ_backend_of(const char *uri) {
    static const differ_backend any = {.name = ""};
    const size_t length = strcspn(uri, ":");
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        if (strlen(backends[i].name) == length && memcmp(backends[i].name, uri, length) == 0) {
            return &backends[i];
        }
    }
    return &any;
}

uint32_t differ_batch(const differ_backend *b) {
    return b->batch ? b->batch : 1;
}

/* One of so many, from a place on that is drawn for so many seeds in a row. */
static uint64_t draw_turn(uint64_t count, uint64_t choice, uint64_t seed) {
    uint64_t state = seed / count * (DIFFER_CHOICES + 1) + choice;
    return (test_random(&state) % count + seed) % count;
}

/* One of the bits, 0 if there is none. */
static uint8_t draw_bit(uint32_t bits, uint32_t choice, uint64_t seed) {
    const uint32_t count = (uint32_t)__builtin_popcount(bits);
    for (uint64_t i = count == 0 ? 0 : draw_turn(count, choice, seed); i > 0; i--) {
        bits &= bits - 1;
    }
    return (uint8_t)(count == 0 ? 0 : __builtin_ctz(bits));
}

differ_draws differ_draw_options(const differ_backend *b, const uint8_t *usable, vyre_level level,
                                 uint64_t seed) {
    differ_draws draws = {.split = VYRE_SPLIT_AUTO};
    for (uint32_t i = 0; i < DIFFER_CHOICES && b->choices[i].name; i++) {
        draws.value[i] = draw_bit(usable[i], i, seed / differ_batch(b));
    }
    if (level != VYRE_LEVEL_SEGMENT) { /* which has no other way than to be split */
        const uint64_t turns = b->splits_itself ? 8 : DIFFER_SPLITS;
        const uint64_t turn = draw_turn(turns, DIFFER_CHOICES, seed);
        draws.split = turn == turns - 1 ? VYRE_SPLIT_ALWAYS : (vyre_split_mode)(turn % 2);
    }
    return draws;
}

void differ_device_uri(const differ_backend *b, const char *uri, const differ_draws *draws,
                       uint64_t max_buffer, char out[DIFFER_URI]) {
    size_t length = (size_t)snprintf(out, DIFFER_URI, "%s", uri);
    const char *separator = strstr(uri, "://") ? "&" : "://";
    for (uint32_t i = 0; i < DIFFER_CHOICES && b->choices[i].name && !strstr(uri, "://"); i++) {
        const char *value = b->choices[i].values[draws->value[i]];
        if (*value != '\0' && length < DIFFER_URI) {
            length += (size_t)snprintf(out + length, DIFFER_URI - length, "%s%s=%s", separator,
                                       b->choices[i].name, value);
            separator = "&";
        }
    }
    if (max_buffer != 0 && length < DIFFER_URI) {
        (void)snprintf(out + length, DIFFER_URI - length, "%smax_buffer=%llu", separator,
                       (unsigned long long)max_buffer);
    }
}

const char *differ_split_name(uint32_t split) {
    static const char *const names[] = {"auto", "never", "always"};
    return names[split];
}
