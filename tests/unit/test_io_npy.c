/* .npy: every type and version, and heads that lie. */
#include <unistd.h>

#include "harness/test.h"
#include "io/npy.h"

typedef struct file {
    unsigned char data[4096];
    size_t size;
} file;

/* A file of the given version with this dict and `payload` bytes counting up from 1. */
static file make(int version, const char *dict, size_t payload) {
    file f = {.size = 0};
    size_t length = strlen(dict), head = version == 1 ? 10 : 12;
    memcpy(f.data, "\x93NUMPY", 6);
    f.data[6] = (unsigned char)version;
    for (size_t i = 8; i < head; i++) {
        f.data[i] = (unsigned char)(length >> (8 * (i - 8)));
    }
    memcpy(f.data + head, dict, length);
    for (size_t i = 0; i < payload; i++) {
        f.data[head + length + i] = (unsigned char)(i + 1);
    }
    f.size = head + length + payload;
    return f;
}

static vyre_status load(const file *f, vyre_type want, const vyre_allocator *a, vyre_array *out,
                        vyre_diag *diag) {
    vyre_bytes bytes = {.allocator = vyre_allocator_or_system(a), .size = f->size};
    bytes.capacity = f->size;
    bytes.data = vyre_alloc(&bytes.allocator, bytes.capacity, 1);
    if (!bytes.data) {
        return VYRE_OUT_OF_MEMORY;
    }
    memcpy(bytes.data, f->data, f->size);
    vyre_status status = vyre_npy_load(&bytes, "x.npy", want, out, diag);
    vyre_bytes_finish(&bytes);
    return status;
}

static void check_refused(const char *dict, size_t payload, const char *part) {
    file f = make(1, dict, payload);
    vyre_array array = {0};
    vyre_diag diag = {0};
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_status status = load(&f, VYRE_VOID, &a, &array, &diag);
    CHECK_STATUS(status, VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, part);
    CHECK_STR(diag.file, "x.npy");
    CHECK_EQ(heap.live_blocks, 0);
    CHECK(heap.peak_bytes <= f.size);
}

TEST(reads_every_type_and_version) {
    static const struct {
        const char *descr;
        vyre_type type;
        size_t size;
    } cases[] = {{"<u4", VYRE_U32, 4}, {"<i4", VYRE_I32, 4}, {"<u8", VYRE_U64, 8},
                 {"<i8", VYRE_I64, 8}, {"<f4", VYRE_F32, 4}, {"<f8", VYRE_F64, 8},
                 {"|u1", VYRE_U8, 1},  {"|i1", VYRE_I8, 1},  {"<u2", VYRE_U16, 2},
                 {"<i2", VYRE_I16, 2}, {"<f2", VYRE_F16, 2}, {"<u2", VYRE_BF16, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int version = 1; version <= 3; version++) {
            char dict[200];
            snprintf(dict, sizeof dict,
                     "{'descr': '%s', 'fortran_order': False, 'shape': (2, 3), }   \n",
                     cases[i].descr);
            file f = make(version, dict, 6 * cases[i].size);
            vyre_array array = {0};
            vyre_diag diag = {0};
            REQUIRE_OK(load(&f, cases[i].type, NULL, &array, &diag), &diag);
            REQUIRE(array.data != NULL);
            CHECK_EQ(array.count, 6);
            CHECK_EQ(array.type, cases[i].type);
            CHECK_EQ((uintptr_t)array.data % 8, 0);
            for (size_t k = 0; k < 6 * cases[i].size; k++) {
                CHECK_EQ(((unsigned char *)array.data)[k], k + 1);
            }
            vyre_array_finish(&array);
        }
    }
}

TEST(widens_bool_to_words) {
    file f = make(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }\n", 3);
    f.data[f.size - 2] = 0;
    vyre_array array = {0};
    vyre_diag diag = {0};
    REQUIRE_OK(load(&f, VYRE_BOOL, NULL, &array, &diag), &diag);
    const uint32_t *words = array.data;
    REQUIRE(words != NULL);
    CHECK_EQ(words[0] * 100 + words[1] * 10 + words[2], 101);
    vyre_array_finish(&array);
    CHECK_STATUS(load(&f, VYRE_U8, NULL, &array, &diag), VYRE_INVALID_INPUT, &diag);
}

TEST(reads_dicts_in_any_order_and_quotes) {
    static const struct {
        const char *dict;
        uint64_t count;
    } cases[] = {
        {"{\"shape\":(3,),\"fortran_order\":False,\"descr\":\"<u2\"}", 3},
        {"  { 'fortran_order' : True , 'descr':'<u2','shape' : ( 3 , ) , } \n", 3},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': ()}", 1},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (3L,)}", 3},
        {"{'descr': '<u2', 'fortran_order': True, 'shape': (1, 3, 1)}", 3},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (0, 5)}", 0},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (1, 1, 1, 2,)}", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        file f = make(1, cases[i].dict, cases[i].count * 2);
        vyre_array array = {0};
        vyre_diag diag = {0};
        REQUIRE_OK(load(&f, VYRE_VOID, NULL, &array, &diag), &diag);
        CHECK_EQ(array.count, cases[i].count);
        CHECK_EQ(array.type, VYRE_U16);
        vyre_array_finish(&array);
    }
}

TEST(refuses_bad_heads) {
#define REST ", 'fortran_order': False, 'shape': (3,)}"
    check_refused("{'descr': '>u2'" REST, 6, "big-endian");
    check_refused("{'descr': '=u2'" REST, 6, "byte order");
    check_refused("{'descr': '<c8'" REST, 24, "not supported");
    check_refused("{'descr': '<U4'" REST, 6, "not supported");
    check_refused("{'descr': [('a', '<u2')]" REST, 6, "structured");
    check_refused("{'descr': '<u2', 'fortran_order': True, 'shape': (3, 2)}", 12, "fortran_order");
    check_refused("{'descr': '<u2', 'fortran_order': 0, 'shape': (3,)}", 6, "True or False");
    check_refused("{'descr': '<u2', 'fortran_order': False, 'shape': (3)}", 6, "tuple");
    check_refused("{'descr': '<u2', 'fortran_order': False, 'shape': [3]}", 6, "tuple");
    check_refused("{'descr': '<u2', 'fortran_order': False, 'shape': (-3,)}", 6, "not a number");
    check_refused("{'descr': '<u2', 'fortran_order': False, 'shape': (3,", 6, "dimension");
    check_refused("{'descr': '<u2', 'fortran_order': False, 'shape': (1, 3 3)}", 6, "expected");
    check_refused("{'descr': '<u2', 'fortran_order': False}", 6, "missing");
    check_refused("{'descr': '<u2', 'descr': '<u2'" REST, 6, "twice");
    check_refused("{'x': '<u2'" REST, 6, "unknown key");
    check_refused("{'descr': '<u2'" REST " x", 6, "follows");
    check_refused("{'descr': '<u2' 'x'" REST, 6, "expected");
    check_refused("{'descr': '<u2", 6, "does not end");
    check_refused("", 6, "'{'");
    check_refused("{'descr': '<u2', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 6,
                  "64 bits");
    check_refused("{'descr': '<u2', 'fortran_order': False, 'shape': (99999999999999999999,)}", 6,
                  "64 bits");
    check_refused("{'descr': '<u2'" REST, 5, "5 bytes follow");
    check_refused("{'descr': '<u2'" REST, 7, "7 bytes follow");
    check_refused("{'descr': '<u8', 'fortran_order': False, 'shape': (1000000000,)}", 6,
                  "declares 1000000000 elements");
    check_refused("{'descr': '<u8', 'fortran_order': False, 'shape': (2305843009213693952,)}", 0,
                  "declares");
}

TEST(refuses_bad_preambles) {
    vyre_diag diag = {0};
    vyre_npy_head head;
    file f = make(1, "{'descr': '<u2'" REST, 6);
    for (size_t size = 0; size < f.size; size++) {
        CHECK_STATUS(vyre_npy_parse(f.data, size, "x", &head, &diag), VYRE_INVALID_INPUT, &diag);
    }
    REQUIRE_OK(vyre_npy_parse(f.data, f.size, "x", &head, &diag), &diag);
    f.data[6] = 4;
    CHECK_STATUS(vyre_npy_parse(f.data, f.size, "x", &head, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, "version");
    f.data[0] = 'x';
    CHECK_STATUS(vyre_npy_parse(f.data, f.size, "x", &head, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, "not a .npy file");
}

TEST(a_mismatch_names_both_types) {
    file f = make(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", 8);
    vyre_array array = {0};
    vyre_diag diag = {0};
    CHECK_STATUS(load(&f, VYRE_F32, NULL, &array, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, "holds f64, but f32");
    CHECK_HAS(diag.fix, "np.float32");
}

TEST(writes_what_numpy_writes) {
    char head[VYRE_NPY_HEAD];
    vyre_npy_head_write(VYRE_F32, 12, head);
    /* As np.save of NumPy 1.26 for np.zeros(12, np.float32). */
    static const char want[] =
        "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (12,), }";
    CHECK(memcmp(head, want, sizeof want - 1) == 0);
    for (size_t i = sizeof want - 1; i < sizeof head - 1; i++) {
        CHECK_EQ(head[i], ' ');
    }
    CHECK_EQ(head[127], '\n');
    vyre_npy_head_write(VYRE_BF16, UINT64_MAX, head);
    CHECK(memcmp(head + 10, "{'descr': '<u2'", 15) == 0);
    CHECK_EQ(head[127], '\n');
}

TEST(writes_and_reads_back_every_type) {
    char path[] = "/tmp/vyre-npy-XXXXXX";
    REQUIRE(mkstemp(path) >= 0);
    for (int t = VYRE_BOOL; t < VYRE_TYPE_COUNT; t++) {
        vyre_type type = (vyre_type)t;
        uint64_t state = 5;
        static uint64_t data[10000];
        for (size_t i = 0; i < 10000; i++) {
            data[i] = type == VYRE_BOOL ? (test_random(&state) & UINT64_C(0x100000001))
                                        : test_random(&state);
        }
        vyre_stage stage;
        vyre_diag diag = {0};
        vyre_stage_init(&stage, NULL);
        REQUIRE_OK(vyre_npy_stage(&stage, path, type, data, 9999, &diag), &diag);
        REQUIRE_OK(vyre_stage_commit(&stage, &diag), &diag);
        vyre_bytes bytes = {0};
        vyre_array array = {0};
        REQUIRE_OK(vyre_file_read(path, 0, NULL, &bytes, &diag), &diag);
        REQUIRE_OK(vyre_npy_load(&bytes, path, type, &array, &diag), &diag);
        CHECK_EQ(array.count, 9999);
        CHECK(memcmp(array.data, data, vyre_array_size(&array)) == 0);
        vyre_array_finish(&array);
    }
    unlink(path);
}

static vyre_status load_bool(const vyre_allocator *a, void *user) {
    vyre_array array = {0};
    vyre_status status = load(user, VYRE_BOOL, a, &array, NULL);
    if (status == VYRE_OK) {
        vyre_array_finish(&array);
    }
    return status;
}

TEST(npy_survives_every_failed_allocation) {
    file f = make(2, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }\n", 3);
    CHECK(test_every_allocation(load_bool, &f, 100) >= 2);
}
