/* Generated arrays, half floats, sources of inputs, digests, comparison. */
#include <math.h>
#include <unistd.h>

#include "base/half.h"
#include "base/hash.h"
#include "harness/test.h"
#include "io/digest.h"
#include "io/generate.h"
#include "io/npy.h"
#include "io/spec.h"

TEST(random_takes_the_right_bits) {
    /* splitmix64 from 1234567, as published. */
    static const uint64_t outputs[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                       UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                                       UINT64_C(16408922859458223821)};
    for (int t = VYRE_BOOL; t < VYRE_TYPE_COUNT; t++) {
        vyre_type type = (vyre_type)t;
        vyre_array array = {0};
        vyre_diag diag = {0};
        REQUIRE_OK(vyre_generate_random(type, 5, 1234567, NULL, &array, &diag), &diag);
        CHECK_EQ(array.count, 5);
        for (size_t i = 0; i < 5; i++) {
            uint64_t bits = 0;
            size_t size = vyre_type_size(type);
            memcpy(&bits, (char *)array.data + i * size, size);
            float f32 = (float)(outputs[i] >> 40) / 16777216.0f;
            double f64 = (double)(outputs[i] >> 11) / 9007199254740992.0;
            uint64_t want = outputs[i];
            if (type == VYRE_BOOL) {
                want &= 1;
            } else if (type == VYRE_F32) {
                want = vyre_f32_bits(f32);
            } else if (type == VYRE_F64) {
                memcpy(&want, &f64, 8);
            } else if (type == VYRE_F16) {
                want = vyre_f16_from_f32(f32);
            } else if (type == VYRE_BF16) {
                want = vyre_bf16_from_f32(f32);
            } else if (size < 8) {
                want &= (UINT64_C(1) << (8 * size)) - 1;
            }
            CHECK_EQ(bits, want);
        }
        vyre_array_finish(&array);
    }
}

TEST(iota_wraps_and_rounds) {
    vyre_array array = {0};
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_generate_iota(VYRE_U8, 600, NULL, &array, &diag), &diag);
    CHECK_EQ(((uint8_t *)array.data)[599], 599 % 256);
    vyre_array_finish(&array);
    REQUIRE_OK(vyre_generate_iota(VYRE_I16, 70000, NULL, &array, &diag), &diag);
    CHECK(((int16_t *)array.data)[40000] == 40000 - 65536);
    vyre_array_finish(&array);
    REQUIRE_OK(vyre_generate_iota(VYRE_BOOL, 3, NULL, &array, &diag), &diag);
    CHECK_EQ(((uint32_t *)array.data)[2], 0);
    CHECK_EQ(((uint32_t *)array.data)[1], 1);
    vyre_array_finish(&array);
    REQUIRE_OK(vyre_generate_iota(VYRE_F16, 70000, NULL, &array, &diag), &diag);
    CHECK_EQ(((uint16_t *)array.data)[1], 0x3c00);
    CHECK_EQ(((uint16_t *)array.data)[2049], 0x6800); /* 2048, ties to even */
    CHECK_EQ(((uint16_t *)array.data)[69999], 0x7c00);
    vyre_array_finish(&array);
    REQUIRE_OK(vyre_generate_iota(VYRE_F64, 10, NULL, &array, &diag), &diag);
    CHECK(((double *)array.data)[9] == 9.0);
    vyre_array_finish(&array);
    REQUIRE_OK(vyre_generate_zeros(VYRE_U64, 0, NULL, &array, &diag), &diag);
    CHECK(array.data != NULL);
    vyre_array_finish(&array);
    CHECK_STATUS(vyre_generate_zeros(VYRE_U8, UINT64_C(1) << 32, NULL, &array, &diag), VYRE_LIMIT,
                 &diag);
    CHECK_STATUS(vyre_generate_iota(VYRE_U64, UINT64_MAX, NULL, &array, &diag), VYRE_LIMIT, &diag);
}

/* Nearest multiple of 2^(e-10), ties to even, in double arithmetic. */
static double round_to_f16(double x) {
    int exponent = x == 0 ? -14 : ilogb(x);
    exponent = exponent < -14 ? -14 : exponent;
    double result = ldexp(nearbyint(ldexp(x, 10 - exponent)), exponent - 10);
    return fabs(result) > 65504 ? copysign(INFINITY, x) : result;
}

TEST(halves_round_to_nearest_even) {
    for (uint32_t bits = 0; bits < 65536; bits++) {
        float wide = vyre_f16_to_f32((uint16_t)bits);
        CHECK_EQ(vyre_f16_from_f32(wide), isnan(wide) ? 0x7e00 : bits);
        wide = vyre_bf16_to_f32((uint16_t)bits);
        CHECK_EQ(vyre_bf16_from_f32(wide), isnan(wide) ? 0x7fc0 : bits);
    }
    CHECK(vyre_f16_to_f32(0x3555) == 0.333251953125f);
    CHECK(vyre_f16_to_f32(0x8001) == -0x1p-24f);
    uint64_t state = 1;
    for (int i = 0; i < 1000000; i++) {
        uint32_t bits = (uint32_t)test_random(&state);
        if (i % 2) { /* into the range of f16, often onto ties */
            bits = (bits & 0x80000000u) | (0x33000000u + bits % 0x15000000u);
            bits &= i % 4 == 1 ? 0xfffff000u : 0xffffffffu;
        }
        float x = vyre_f32_from_bits(bits);
        if (!isnan(x)) {
            CHECK((double)vyre_f16_to_f32(vyre_f16_from_f32(x)) == round_to_f16((double)x));
            float nearest = vyre_bf16_to_f32(vyre_bf16_from_f32(x));
            float up = vyre_bf16_to_f32((uint16_t)((bits >> 16) + 1));
            float down = vyre_bf16_to_f32((uint16_t)(bits >> 16));
            if (isfinite(up)) {
                CHECK(fabs((double)nearest - (double)x) <= fabs((double)up - (double)x));
                CHECK(fabs((double)nearest - (double)x) <= fabs((double)down - (double)x));
            }
        }
    }
    CHECK_EQ(vyre_bf16_from_f32(vyre_f32_from_bits(0x3f808000)), 0x3f80);
    CHECK_EQ(vyre_bf16_from_f32(vyre_f32_from_bits(0x3f818000)), 0x3f82);
}

static void check_spec(const char *text, vyre_source source, uint64_t n0, uint64_t n1,
                       uint64_t n2) {
    vyre_spec spec;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_spec_parse(text, &spec, &diag), &diag);
    CHECK_EQ(spec.source, source);
    CHECK_EQ(spec.number[0], n0);
    CHECK_EQ(spec.number[1], n1);
    CHECK_EQ(spec.number[2], n2);
    CHECK_STR(spec.text, text);
}

TEST(spec_parses_all_sources) {
    check_spec("zeros:3", VYRE_SOURCE_ZEROS, 3, 0, 0);
    check_spec("iota:0", VYRE_SOURCE_IOTA, 0, 0, 0);
    check_spec("random:5:18446744073709551615", VYRE_SOURCE_RANDOM, 5, UINT64_MAX, 0);
    check_spec("rmat:16:16:1", VYRE_SOURCE_RMAT, 16, 16, 1);
    check_spec("grid:4:5", VYRE_SOURCE_GRID, 4, 5, 0);
    check_spec("a/b.npy", VYRE_SOURCE_NPY, 0, 0, 0);
    check_spec("b.MTX", VYRE_SOURCE_MTX, 0, 0, 0);
    check_spec("b.bin", VYRE_SOURCE_RAW, 0, 0, 0);
    check_spec(".npy", VYRE_SOURCE_RAW, 0, 0, 0);
    check_spec("./zeros:3", VYRE_SOURCE_RAW, 0, 0, 0);
    static const char *const wrong[] = {"",          "zeros:",
                                        "zeros:x",   "zeros:-1",
                                        "zeros:1:2", "random:5",
                                        "random:5:", "random:5:1:",
                                        "rmat:1:2",  "grid:1:2:3",
                                        "zeros: 1",  "iota:1e3",
                                        "grid::",    "zeros:18446744073709551616"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        vyre_spec spec;
        vyre_diag diag = {0};
        CHECK_STATUS(vyre_spec_parse(wrong[i], &spec, &diag), VYRE_INVALID_INPUT, &diag);
        CHECK(diag.fix[0] != '\0');
    }
}

static vyre_status load(const char *text, vyre_type type, const vyre_allocator *a, vyre_array *out,
                        vyre_diag *diag) {
    vyre_spec spec;
    vyre_status status = vyre_spec_parse(text, &spec, diag);
    return status == VYRE_OK ? vyre_spec_load(&spec, type, a, out, diag) : status;
}

static vyre_status load_graph(const char *text, vyre_type value, vyre_csr *out, vyre_diag *diag) {
    vyre_spec spec;
    vyre_status status = vyre_spec_parse(text, &spec, diag);
    return status == VYRE_OK ? vyre_spec_load_graph(&spec, value, NULL, out, diag) : status;
}

static void enter_directory(void) {
    char name[] = "/tmp/vyre-test-XXXXXX";
    REQUIRE(mkdtemp(name) != NULL);
    REQUIRE(chdir(name) == 0);
}

static void put(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    fwrite(data, 1, size, file);
    fclose(file);
}

static void leave_directory(const char *const *files) {
    char name[4096];
    REQUIRE(getcwd(name, sizeof name) != NULL);
    for (; *files; files++) {
        unlink(*files);
    }
    REQUIRE(chdir("/") == 0);
    CHECK(rmdir(name) == 0);
}

static void put_npy(const char *path, vyre_type type, const void *data, uint64_t count) {
    vyre_stage stage;
    vyre_diag diag = {0};
    vyre_stage_init(&stage, NULL);
    REQUIRE_OK(vyre_npy_stage(&stage, path, type, data, count, &diag), &diag);
    REQUIRE_OK(vyre_stage_commit(&stage, &diag), &diag);
}

TEST(spec_loads_files_and_generators) {
    enter_directory();
    vyre_array array = {0};
    vyre_csr csr = {0};
    vyre_diag diag = {0};
    put("zeros:2", "\1\0\0\0\2\0\0\0", 8);
    REQUIRE_OK(load("./zeros:2", VYRE_U32, NULL, &array, &diag), &diag);
    REQUIRE(array.data != NULL && array.count == 2);
    CHECK_EQ(((uint32_t *)array.data)[1], 2);
    vyre_array_finish(&array);
    REQUIRE_OK(load("zeros:2", VYRE_U32, NULL, &array, &diag), &diag);
    CHECK_EQ(((uint32_t *)array.data)[1], 0);
    vyre_array_finish(&array);
    CHECK_STATUS(load("./zeros:2", VYRE_I64, NULL, &array, &diag), VYRE_OK, &diag);
    vyre_array_finish(&array);
    put("b.bin", "123", 3);
    CHECK_STATUS(load("b.bin", VYRE_U16, NULL, &array, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, "whole number of u16");
    CHECK_STR(diag.file, "b.bin");
    float one = 1;
    put_npy("a.npy", VYRE_F32, &one, 1);
    REQUIRE_OK(load("a.npy", VYRE_F32, NULL, &array, &diag), &diag);
    CHECK(*(float *)array.data == 1.0f);
    vyre_array_finish(&array);
    CHECK_STATUS(load("a.npy", VYRE_U32, NULL, &array, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_STATUS(load("grid:2:2", VYRE_U32, NULL, &array, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.fix, "ROW,COL");
    CHECK_STATUS(load("none.bin", VYRE_U32, NULL, &array, &diag), VYRE_IO, &diag);
    static const char mtx[] = "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n";
    put("m.mtx", mtx, sizeof mtx - 1);
    REQUIRE_OK(load_graph("m.mtx", VYRE_F32, &csr, &diag), &diag);
    CHECK_EQ(csr.val.count, 1);
    vyre_csr_finish(&csr);
    REQUIRE_OK(load_graph("grid:2:2", VYRE_VOID, &csr, &diag), &diag);
    CHECK_EQ(csr.col.count, 8);
    vyre_csr_finish(&csr);
    REQUIRE_OK(load_graph("rmat:3:2:1", VYRE_VOID, &csr, &diag), &diag);
    CHECK_EQ(csr.rows, 8);
    vyre_csr_finish(&csr);
    CHECK_STATUS(load_graph("zeros:4", VYRE_VOID, &csr, &diag), VYRE_INVALID_INPUT, &diag);
    leave_directory((const char *const[]){"zeros:2", "b.bin", "a.npy", "m.mtx", NULL});
}

TEST(digest_is_xxh3_with_canonical_nans) {
    uint32_t words[3000];
    for (uint32_t i = 0; i < 3000; i++) {
        words[i] = i;
    }
    CHECK_EQ(vyre_digest(VYRE_U32, words, 3000), vyre_hash_bytes(words, sizeof words));
    CHECK_EQ(vyre_digest(VYRE_F32, words, 3000), vyre_hash_bytes(words, sizeof words));
    CHECK_EQ(vyre_digest(VYRE_F64, words, 1500), vyre_hash_bytes(words, sizeof words));
    words[2999] = 0x7fc00000;
    uint64_t want = vyre_hash_bytes(words, sizeof words);
    words[2999] = 0xff800001;
    CHECK_EQ(vyre_digest(VYRE_F32, words, 3000), want);
    CHECK(vyre_digest(VYRE_U32, words, 3000) != want);
    words[2999] = 0x7f800000;
    CHECK(vyre_digest(VYRE_F32, words, 3000) != want);
    CHECK_EQ(vyre_digest(VYRE_F32, words, 0), UINT64_C(0x2d06800538d394c2));
    static const struct {
        vyre_type type;
        uint64_t canonical, other;
    } cases[] = {{VYRE_F16, 0x7e00, 0xfc01},
                 {VYRE_BF16, 0x7fc0, 0xff81},
                 {VYRE_F64, UINT64_C(0x7ff8000000000000), UINT64_C(0xfff0000000000001)}};
    for (size_t i = 0; i < 3; i++) {
        CHECK_EQ(vyre_digest(cases[i].type, &cases[i].other, 1),
                 vyre_hash_bytes(&cases[i].canonical, vyre_type_size(cases[i].type)));
    }
}

TEST(compare_counts_differences_and_ulps) {
    float a[] = {1, NAN, 0.0f, -0x1p-149f, 5, INFINITY};
    float b[] = {1, -NAN, -0.0f, 0x1p-149f, 5, INFINITY};
    vyre_comparison c;
    vyre_compare(VYRE_F32, a, b, 6, &c);
    CHECK_EQ(c.difference, VYRE_DIFFERENT_VALUES);
    CHECK_EQ(c.first, 2);
    CHECK_STR(c.value[0], "0");
    CHECK_STR(c.value[1], "-0");
    CHECK_EQ(c.differing, 2);
    CHECK_EQ(c.max_ulp, 2);
    CHECK_EQ(c.nan, 0);
    vyre_compare(VYRE_F32, a, b, 2, &c);
    CHECK_EQ(c.difference, VYRE_SAME);
    b[1] = 0.1f;
    vyre_compare(VYRE_F32, a, b, 2, &c);
    CHECK_EQ(c.nan, 1);
    CHECK_EQ(c.differing, 1);
    CHECK_STR(c.value[0], "nan");
    CHECK_STR(c.value[1], "0.1");
    int64_t x = -5, y = INT64_MAX;
    vyre_compare(VYRE_I64, &x, &y, 1, &c);
    CHECK_STR(c.value[0], "-5");
    CHECK_STR(c.value[1], "9223372036854775807");
    double d = 1, e = nextafter(nextafter(1, 2), 2);
    vyre_compare(VYRE_F64, &d, &e, 1, &c);
    CHECK_EQ(c.max_ulp, 2);
    CHECK_STR(c.value[1], "1.0000000000000004");
    int8_t s = -128, t = 127;
    vyre_compare(VYRE_I8, &s, &t, 1, &c);
    CHECK_STR(c.value[0], "-128");
    uint16_t h = 0x3555, k = 0xc000;
    vyre_compare(VYRE_F16, &h, &k, 1, &c);
    CHECK_STR(c.value[0], "0.33325195");
    CHECK_STR(c.value[1], "-2");
    vyre_compare(VYRE_BF16, &h, &k, 1, &c);
    CHECK_EQ(c.max_ulp, 0x3555 + 0x4000);
}

TEST(compare_files_by_their_kind) {
    enter_directory();
    vyre_comparison c;
    vyre_diag diag = {0};
    float a[] = {1, NAN}, b[] = {1, -NAN};
    put_npy("a.npy", VYRE_F32, a, 2);
    put_npy("b.npy", VYRE_F32, b, 2);
    put_npy("c.npy", VYRE_F32, b, 1);
    put_npy("d.npy", VYRE_U32, b, 2);
    put("a.bin", a, sizeof a);
    put("b.bin", b, sizeof b);
    uint32_t flags[] = {0, 1, 1}, others[] = {0, 1, 0};
    put_npy("e.npy", VYRE_BOOL, flags, 3);
    put_npy("f.npy", VYRE_BOOL, others, 3);
    REQUIRE_OK(vyre_compare_files("a.npy", "b.npy", NULL, &c, &diag), &diag);
    CHECK_EQ(c.difference, VYRE_SAME);
    CHECK_EQ(c.count[0], 2);
    REQUIRE_OK(vyre_compare_files("a.npy", "c.npy", NULL, &c, &diag), &diag);
    CHECK_EQ(c.difference, VYRE_DIFFERENT_COUNTS);
    CHECK_EQ(c.count[1], 1);
    REQUIRE_OK(vyre_compare_files("a.npy", "d.npy", NULL, &c, &diag), &diag);
    CHECK_EQ(c.difference, VYRE_DIFFERENT_TYPES);
    REQUIRE_OK(vyre_compare_files("a.bin", "b.bin", NULL, &c, &diag), &diag);
    CHECK_EQ(c.difference, VYRE_DIFFERENT_VALUES);
    CHECK_EQ(c.first, 7);
    REQUIRE_OK(vyre_compare_files("e.npy", "f.npy", NULL, &c, &diag), &diag);
    CHECK_EQ(c.first, 2);
    CHECK_STR(c.value[0], "true");
    CHECK_STATUS(vyre_compare_files("a.bin", "a.npy", NULL, &c, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_STATUS(vyre_compare_files("a.bin", "none", NULL, &c, &diag), VYRE_IO, &diag);
    put("f.npy", "junk", 4);
    CHECK_STATUS(vyre_compare_files("a.npy", "f.npy", NULL, &c, &diag), VYRE_INVALID_INPUT, &diag);
    leave_directory((const char *const[]){"a.npy", "b.npy", "c.npy", "d.npy", "e.npy", "f.npy",
                                          "a.bin", "b.bin", NULL});
}

static vyre_status load_and_compare(const vyre_allocator *a, void *user) {
    vyre_comparison c;
    vyre_array array = {0};
    vyre_status status = vyre_compare_files(user, user, a, &c, NULL);
    if (status == VYRE_OK) {
        status = load("iota:5", VYRE_U32, a, &array, NULL);
    }
    if (status == VYRE_OK) {
        vyre_array_finish(&array);
        status = load(user, VYRE_F32, a, &array, NULL);
    }
    if (status == VYRE_OK) {
        vyre_array_finish(&array);
    }
    return status;
}

TEST(data_survives_every_failed_allocation) {
    enter_directory();
    float one = 1;
    char path[] = "a.npy";
    put_npy(path, VYRE_F32, &one, 1);
    CHECK(test_every_allocation(load_and_compare, path, 100) >= 4);
    leave_directory((const char *const[]){path, NULL});
}
