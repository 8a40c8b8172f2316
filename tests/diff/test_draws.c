/* What is drawn for each program, and the device that is opened for it. */
#include "diff/draws.h"

#include <string.h>

#include "diff/totals.h"
#include "harness/test.h"

TEST(a_device_is_named_with_what_was_drawn) {
    char uri[DIFFER_URI];
    const differ_backend *cpu = differ_backend_of("cpu");
    differ_device_uri(cpu, "cpu", &(differ_draws){.value = {1, 2, 0, 1, 0, 1}}, 0, uri);
    CHECK(strcmp(uri, "cpu://threads=2&features=avx2&effort=1&guard=1&stream=1") == 0);
    differ_device_uri(cpu, "cpu://threads=7", &(differ_draws){.value = {1, 2}}, 0, uri);
    CHECK(strcmp(uri, "cpu://threads=7") == 0);
    differ_device_uri(differ_backend_of("ref-split"), "ref-split", &(differ_draws){{0}, 0}, 64,
                      uri);
    CHECK(strcmp(uri, "ref-split://max_buffer=64") == 0);
    differ_device_uri(differ_backend_of("ref"), "ref://memory=5", &(differ_draws){{0}, 0}, 64, uri);
    CHECK(strcmp(uri, "ref://memory=5&max_buffer=64") == 0);
    differ_device_uri(differ_backend_of("other"), "other", &(differ_draws){{0}, 0}, 0, uri);
    CHECK(strcmp(uri, "other") == 0);
}

TEST(every_value_that_can_be_had_is_drawn_and_no_other) {
    enum { DRAWS = 1000 };
    static const uint8_t usable[DIFFER_CHOICES] = {0xf, 0x5, 0x8};
    const differ_backend *cpu = differ_backend_of("cpu");
    uint32_t seen[DIFFER_CHOICES][DIFFER_VALUES] = {{0}}, splits[DIFFER_SPLITS] = {0};
    for (uint64_t i = 0; i < DRAWS; i++) {
        const differ_draws d = differ_draw_options(cpu, usable, VYRE_LEVEL_SCHEDULE, i);
        for (uint32_t k = 0; k < DIFFER_CHOICES; k++) {
            seen[k][d.value[k]]++;
        }
        splits[d.split]++;
    }
    for (uint32_t v = 0; v < 4; v++) {
        CHECK(seen[0][v] > DRAWS / 10);
        CHECK_EQ(seen[1][v] > DRAWS / 10, v == 0 || v == 2);
        CHECK_EQ(seen[2][v], v == 3 ? DRAWS : 0);
    }
    CHECK_EQ(seen[3][0], DRAWS);
    for (uint32_t i = 0; i < DIFFER_SPLITS; i++) {
        CHECK(splits[i] > DRAWS / 4);
    }
    CHECK_EQ(differ_draw_options(cpu, usable, VYRE_LEVEL_SEGMENT, 1).split, VYRE_SPLIT_AUTO);
}

/* Each of 1 to 8 threads, of four features and of the ways to split at least once in ten, in any
 * 300 programs; and values of two choices meet in all ways. */
TEST(few_programs_have_enough_of_each_value) {
    enum { PROGRAMS = 300, FAR = 20 };
    static const uint8_t usable[DIFFER_CHOICES] = {0xff, 0xf, 0xf, 0xff, 3, 3};
    const differ_backend *cpu = differ_backend_of("cpu");
    uint32_t met[8][4] = {{0}};
    for (uint64_t first = 0; first < FAR; first++) {
        uint32_t seen[DIFFER_CHOICES][DIFFER_VALUES] = {{0}}, splits[DIFFER_SPLITS] = {0};
        for (uint64_t i = 0; i < PROGRAMS; i++) {
            const differ_draws d =
                differ_draw_options(cpu, usable, VYRE_LEVEL_SCHEDULE, first * 1000003 + i);
            for (uint32_t k = 0; k < DIFFER_CHOICES; k++) {
                seen[k][d.value[k]]++;
            }
            splits[d.split]++;
            met[d.value[0]][d.value[1]]++;
        }
        for (uint32_t k = 0; k < DIFFER_CHOICES; k++) {
            for (uint32_t v = 0; usable[k] >> v; v++) {
                CHECK(seen[k][v] >= PROGRAMS / 10);
            }
        }
        for (uint32_t i = 0; i < DIFFER_SPLITS; i++) {
            CHECK(splits[i] >= PROGRAMS / 10);
        }
    }
    for (uint32_t i = 0; i < 8; i++) {
        for (uint32_t k = 0; k < 4; k++) {
            CHECK(met[i][k] > PROGRAMS * FAR / 100);
        }
    }
}

TEST(programs_of_a_batch_have_the_same_device) {
    enum { PROGRAMS = 6 * 32 * 4 };
    static const uint8_t usable[DIFFER_CHOICES] = {3, 0x3f, 3};
    const differ_backend *c = differ_backend_of("emit-c");
    uint32_t splits[DIFFER_SPLITS] = {0}, changes = 0;
    differ_draws before = differ_draw_options(c, usable, VYRE_LEVEL_PROGRAM, 0);
    REQUIRE(differ_batch(c) == 32);
    for (uint64_t i = 0; i < PROGRAMS; i++) {
        const differ_draws d = differ_draw_options(c, usable, VYRE_LEVEL_PROGRAM, i);
        const bool changed = memcmp(d.value, before.value, sizeof d.value) != 0;
        CHECK(i % 32 == 0 || !changed);
        changes += changed;
        splits[d.split]++;
        before = d;
    }
    CHECK(changes > PROGRAMS / 32 / 2);
    CHECK_EQ(splits[VYRE_SPLIT_ALWAYS], PROGRAMS / 8);
    CHECK(splits[VYRE_SPLIT_AUTO] > PROGRAMS / 4 && splits[VYRE_SPLIT_NEVER] > PROGRAMS / 4);
}

TEST(a_value_that_is_drawn_too_rarely_is_told) {
    static differ_totals t;
    const differ_backend *cpu = differ_backend_of("cpu");
    FILE *nowhere = fopen("/dev/null", "w");
    REQUIRE(nowhere != NULL);
    t.programs = DIFFER_ENOUGH;
    t.values[0][0] = t.values[0][7] = DIFFER_ENOUGH / 2;
    t.splits[0] = DIFFER_ENOUGH;
    CHECK(differ_totals_draws_suffice(&t, cpu, nowhere));
    t.values[0][7] = DIFFER_ENOUGH / 11;
    CHECK(!differ_totals_draws_suffice(&t, cpu, nowhere));
    t.values[0][7] = DIFFER_ENOUGH / 2;
    t.splits[1] = DIFFER_ENOUGH / 11;
    CHECK(!differ_totals_draws_suffice(&t, cpu, nowhere));
    (void)fclose(nowhere);
}

TEST(only_devices_with_limits_must_carry_in_several_buffers) {
    static differ_totals t;
    FILE *nowhere = fopen("/dev/null", "w");
    REQUIRE(nowhere != NULL);
    t.programs = t.changed = DIFFER_ENOUGH;
    for (uint32_t i = 0; i < DIFFER_FEATURE_COUNT; i++) {
        t.features[i] = DIFFER_ENOUGH / 2;
    }
    for (uint32_t i = 0; i < DIFFER_CARRY_COUNT; i++) {
        t.carries[i] = i == DIFFER_CARRY_CHUNKED ? 0 : DIFFER_ENOUGH;
    }
    CHECK(differ_totals_suffice(&t, differ_backend_of("cpu"), nowhere));
    CHECK(!differ_totals_suffice(&t, differ_backend_of("ref-split"), nowhere));
    (void)fclose(nowhere);
}
