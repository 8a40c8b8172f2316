/* CSR graphs: Matrix Market texts good and bad, the builder, generated graphs. */
#include <math.h>

#include "harness/test.h"
#include "io/generate.h"
#include "io/matrix_market.h"

static vyre_status parse(const char *text, vyre_type value, vyre_csr *csr, vyre_diag *diag) {
    *diag = (vyre_diag){0};
    return vyre_matrix_market_parse(text, strlen(text), "m.mtx", value, NULL, csr, diag);
}

/* The graph as "row: col=val col=val; row: ...". */
static void show(const vyre_csr *csr, char *out, size_t size) {
    const uint32_t *row = csr->row.data, *col = csr->col.data;
    size_t n = 0;
    *out = '\0';
    for (uint32_t r = 0; r < csr->rows; r++) {
        n += (size_t)snprintf(out + n, size - n, "%s%" PRIu32 ":", r ? "; " : "", r);
        for (uint32_t k = row[r]; k < row[r + 1]; k++) {
            n += (size_t)snprintf(out + n, size - n, " %" PRIu32, col[k]);
            if (csr->val.type == VYRE_F32) {
                n += (size_t)snprintf(out + n, size - n, "=%g",
                                      (double)((const float *)csr->val.data)[k]);
            } else if (csr->val.type == VYRE_F64) {
                n += (size_t)snprintf(out + n, size - n, "=%g", ((const double *)csr->val.data)[k]);
            } else if (csr->val.type != VYRE_VOID) {
                n += (size_t)snprintf(out + n, size - n, "=%" PRId32,
                                      ((const int32_t *)csr->val.data)[k]);
            }
        }
    }
}

static void check_reads(const char *text, vyre_type value, const char *want) {
    vyre_csr csr = {0};
    vyre_diag diag;
    char got[1000];
    REQUIRE_OK(parse(text, value, &csr, &diag), &diag);
    show(&csr, got, sizeof got);
    CHECK_STR(got, want);
    vyre_csr_finish(&csr);
}

static void check_refused(const char *text, vyre_type value, uint32_t line, const char *part) {
    vyre_csr csr = {0};
    vyre_diag diag = {0};
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_status status =
        vyre_matrix_market_parse(text, strlen(text), "m.mtx", value, &a, &csr, &diag);
    CHECK(status == VYRE_INVALID_INPUT || status == VYRE_LIMIT);
    CHECK_HAS(diag.message, part);
    CHECK_STR(diag.file, "m.mtx");
    CHECK_EQ(diag.line, line);
    CHECK_EQ(heap.live_blocks, 0);
    CHECK(heap.peak_bytes < 4096);
}

#define HEAD "%%MatrixMarket matrix coordinate "

TEST(mtx_reads_all_kinds) {
    check_reads(HEAD "pattern general\n% a comment\n%\n3 4 3\n3 1\n1 4\n1 2\n", VYRE_VOID,
                "0: 1 3; 1:; 2: 0");
    check_reads(HEAD "real general\n2 2 2\n2 1 -1.5e1\n1 1 .25\n", VYRE_F32, "0: 0=0.25; 1: 0=-15");
    check_reads(HEAD "integer general\n2 2 2\n2 1 -7\n1 1 +3", VYRE_I32, "0: 0=3; 1: 0=-7");
    check_reads(HEAD "integer general\n2 2 1\n2 1 16777217\n", VYRE_F64, "0:; 1: 0=1.67772e+07");
    check_reads(HEAD "pattern symmetric\n3 3 3\n1 1\n3 1\n3 2\n", VYRE_F32,
                "0: 0=1 2=1; 1: 2=1; 2: 0=1 1=1");
    check_reads(HEAD "real symmetric\n2 2 2\n2 1 0.5\n2 2 3\n", VYRE_F64, "0: 1=0.5; 1: 0=0.5 1=3");
    check_reads(
        "%%matrixmarket MATRIX Coordinate PATTERN General\r\n\r\n  1 1 1 \r\n\r\n 1\t1 \r\n",
        VYRE_U32, "0: 0=1");
    check_reads(HEAD "pattern general\n0 0 0\n", VYRE_VOID, "");
    check_reads(HEAD "real general\n2 2 0\n", VYRE_VOID, "0:; 1:");
    check_reads(HEAD "real general\n1 1 1\n1 1 2.5\n", VYRE_VOID, "0: 0");
}

TEST(mtx_merges_duplicates_in_file_order) {
    check_reads(HEAD "integer general\n2 2 5\n1 2 5\n1 1 1\n1 2 6\n2 2 9\n1 2 -1\n", VYRE_I32,
                "0: 0=1 1=10; 1: 1=9");
    check_reads(HEAD "pattern general\n1 1 2\n1 1\n1 1\n", VYRE_F32, "0: 0=1");
    check_reads(HEAD "real symmetric\n2 2 2\n2 1 1\n2 1 2\n", VYRE_F32, "0: 1=3; 1: 0=3");
    /* 1e8 + 1 - 1e8 is 0 in f32 in this order, and 1 in another. */
    check_reads(HEAD "real general\n1 1 3\n1 1 1e8\n1 1 1\n1 1 -1e8\n", VYRE_F32, "0: 0=0");
    check_refused(HEAD "integer general\n1 1 1\n1 1 3000000000\n", VYRE_I32, 3, "i32");
    vyre_csr csr = {0};
    vyre_diag diag;
    CHECK_STATUS(parse(HEAD "integer general\n2 2 3\n2 2 1\n2 1 2000000000\n2 1 2000000000\n",
                       VYRE_I32, &csr, &diag),
                 VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, "row 2, column 1");
    CHECK_STR(diag.file, "m.mtx");
}

TEST(mtx_refuses_bad_banners) {
    check_refused("", VYRE_VOID, 1, "not a Matrix Market");
    check_refused("3 3 1\n1 1\n", VYRE_VOID, 1, "not a Matrix Market");
    check_refused("%%MatrixMarket vector coordinate real general\n", VYRE_VOID, 1, "matrix");
    check_refused("%%MatrixMarket matrix array real general\n1 1\n1\n", VYRE_VOID, 1, "dense");
    check_refused("%%MatrixMarket matrix foo real general\n", VYRE_VOID, 1, "format");
    check_refused(HEAD "complex general\n1 1 1\n1 1 1 1\n", VYRE_VOID, 1, "complex");
    check_refused(HEAD "blue general\n", VYRE_VOID, 1, "unknown kind");
    check_refused(HEAD "real skew-symmetric\n", VYRE_VOID, 1, "skew");
    check_refused(HEAD "real hermitian\n", VYRE_VOID, 1, "Hermitian");
    check_refused(HEAD "real\n", VYRE_VOID, 1, "symmetry");
    check_refused(HEAD "real general x\n", VYRE_VOID, 1, "unexpected");
    check_refused(HEAD "real general\n1 1 0\n", VYRE_U32, 1, "real values, but u32");
}

TEST(mtx_refuses_bad_sizes) {
    check_refused(HEAD "real general\n", VYRE_VOID, 2, "size line is missing");
    check_refused(HEAD "real general\n% only\n% comments\n", VYRE_VOID, 4, "size line is missing");
    check_refused(HEAD "real general\n1 1\n", VYRE_VOID, 2, "three counts");
    check_refused(HEAD "real general\n1 1 0 0\n", VYRE_VOID, 2, "three counts");
    check_refused(HEAD "real general\n1 x 0\n", VYRE_VOID, 2, "count");
    check_refused(HEAD "real general\n1 -1 0\n", VYRE_VOID, 2, "count");
    check_refused(HEAD "real symmetric\n1 2 0\n", VYRE_VOID, 2, "square");
    check_refused(HEAD "pattern general\n9 9 1000000000\n1 1\n", VYRE_VOID, 2,
                  "1000000000 entries");
    check_refused(HEAD "pattern general\n4000000000 9 1\n1 1\n", VYRE_VOID, 2, "too many");
    check_refused(HEAD "pattern general\n9 99999999999999999999 1\n1 1\n", VYRE_VOID, 2, "count");
    check_refused(HEAD "pattern general\n9 99999999999999999 1\n1 1\n", VYRE_VOID, 2, "too many");
}

TEST(mtx_refuses_bad_entries) {
    check_refused(HEAD "pattern general\n2 2 1\n0 1\n", VYRE_VOID, 3, "index 0");
    check_refused(HEAD "pattern general\n2 2 1\n1 3\n", VYRE_VOID, 3, "index 3 is not in 1..2");
    check_refused(HEAD "pattern general\n2 2 1\n1 x\n", VYRE_VOID, 3, "index");
    check_refused(HEAD "pattern general\n2 2 1\n1\n1\n", VYRE_VOID, 3, "index");
    check_refused(HEAD "pattern general\n2 2 1\n1 1 5\n", VYRE_VOID, 3, "unexpected");
    check_refused(HEAD "real general\n2 2 1\n1 1\n  \n", VYRE_VOID, 3, "value is missing");
    check_refused(HEAD "real general\n2 2 1\n1 1 nan\n", VYRE_F32, 3, "not a value of type f32");
    check_refused(HEAD "real general\n2 2 1\n1 1 1e39\n", VYRE_F32, 3, "f32");
    check_refused(HEAD "real general\n2 2 1\n1 1 0x10\n", VYRE_F64, 3, "f64");
    check_refused(HEAD "real general\n2 2 1\n1 1 0x10\n", VYRE_VOID, 3, "real");
    check_refused(HEAD "integer general\n2 2 1\n1 1 1.5\n", VYRE_F32, 3, "f32");
    check_refused(HEAD "integer general\n2 2 1\n1 1 -1\n", VYRE_U32, 3, "u32");
    check_refused(HEAD "pattern general\n2 2 2\n\n1 1\n\n", VYRE_VOID, 6, "ends after 1");
    check_refused(HEAD "pattern general\n2 2 1\n1 1\n\n1 2\n", VYRE_VOID, 5, "after the last");
    check_refused(HEAD "pattern general\n2 2 2\n1 1\n% no comment here\n1 1\n", VYRE_VOID, 4,
                  "index");
    check_refused(HEAD "pattern symmetric\n2 2 1\n1 2\n", VYRE_VOID, 3, "above the diagonal");
}

TEST(mtx_numbers_are_rounded_once) {
    /* Just above the middle of 1 and the next f32: rounding to f64 first would give 1. */
    char text[200];
    vyre_csr csr = {0};
    vyre_diag diag;
    REQUIRE_OK(
        parse(HEAD "real general\n1 1 1\n1 1 1.00000005960464477540\n", VYRE_F32, &csr, &diag),
        &diag);
    CHECK(*(const float *)csr.val.data == 1.0f + 0x1p-23f);
    vyre_csr_finish(&csr);
    uint64_t state = 3;
    for (int i = 0; i < 20000; i++) {
        uint64_t digits = test_random(&state) >> test_random_below(&state, 64);
        int exponent = (int)test_random_below(&state, 90) - 55;
        snprintf(text, sizeof text, "%s%" PRIu64 ".%03ue%d\n", HEAD "real general\n1 1 1\n1 1 ",
                 digits, (unsigned)test_random_below(&state, 1000), exponent);
        const char *number = strrchr(text, ' ') + 1;
        if (strtof(number, NULL) > 3e38f) {
            continue;
        }
        REQUIRE_OK(parse(text, VYRE_F32, &csr, &diag), &diag);
        CHECK(*(const float *)csr.val.data == strtof(number, NULL));
        vyre_csr_finish(&csr);
        REQUIRE_OK(parse(text, VYRE_F64, &csr, &diag), &diag);
        CHECK(*(const double *)csr.val.data == strtod(number, NULL));
        vyre_csr_finish(&csr);
    }
}

TEST(builder_agrees_with_a_dense_matrix) {
    enum { N = 37, M = 23 };
    uint64_t state = 9;
    for (int round = 0; round < 200; round++) {
        static double dense[N][M];
        static bool there[N][M];
        memset(dense, 0, sizeof dense);
        memset(there, 0, sizeof there);
        uint64_t places[300];
        double value[300];
        size_t count = (size_t)test_random_below(&state, 300);
        for (size_t i = 0; i < count; i++) {
            uint32_t r = (uint32_t)test_random_below(&state, N);
            uint32_t c = (uint32_t)test_random_below(&state, M);
            places[i] = vyre_entry_place(r, c);
            value[i] = (double)test_random_below(&state, 1000);
            dense[r][c] += value[i];
            there[r][c] = true;
        }
        vyre_entries entries = {
            .count = count, .places = places, .values = value, .type = VYRE_F64};
        vyre_csr csr = {0};
        vyre_diag diag = {0};
        REQUIRE_OK(vyre_csr_build(N, M, &entries, NULL, &csr, &diag), &diag);
        const uint32_t *start = csr.row.data, *col = csr.col.data;
        const double *val = csr.val.data;
        CHECK_EQ(csr.row.count, N + 1);
        for (uint32_t r = 0, k = 0; r < N; r++) {
            CHECK_EQ(start[r], k);
            for (uint32_t c = 0; c < M; c++) {
                if (there[r][c]) {
                    REQUIRE(k < start[r + 1]);
                    CHECK_EQ(col[k], c);
                    CHECK(val[k] == dense[r][c]);
                    k++;
                }
            }
            CHECK_EQ(start[r + 1], k);
        }
        vyre_csr_finish(&csr);
    }
}

/* The definition, by a bit matrix: quadrants in the order (row bit, column bit) 00 01 10 11. */
TEST(rmat_follows_its_definition) {
    enum { SCALE = 5, N = 1 << SCALE };
    static bool there[N][N];
    uint64_t state = 77;
    for (int e = 0; e < 3 * N; e++) {
        uint32_t r = 0, c = 0;
        for (uint32_t half = N / 2; half; half /= 2) {
            double u = (double)(test_random(&state) >> 11) / 9007199254740992.0;
            uint32_t quadrant = u < .57 ? 0 : u < .76 ? 1 : u < .95 ? 2 : 3;
            r += quadrant / 2 * half;
            c += quadrant % 2 * half;
        }
        if (r != c) {
            there[r][c] = there[c][r] = true;
        }
    }
    vyre_csr csr = {0};
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_generate_rmat(SCALE, 3, 77, VYRE_F32, NULL, &csr, &diag), &diag);
    const uint32_t *row = csr.row.data, *col = csr.col.data;
    uint32_t k = 0;
    for (uint32_t r = 0; r < N; r++) {
        CHECK_EQ(row[r], k);
        for (uint32_t c = 0; c < N; c++) {
            if (there[r][c]) {
                REQUIRE(k < csr.col.count);
                CHECK(((const float *)csr.val.data)[k] == 1.0f);
                CHECK_EQ(col[k++], c);
            }
        }
    }
    CHECK_EQ(csr.col.count, k);
    CHECK_EQ(row[N], k);
    CHECK(k > 50);
    vyre_csr_finish(&csr);
}

TEST(grid_has_four_neighbours) {
    vyre_csr csr = {0};
    vyre_diag diag = {0};
    char got[400];
    REQUIRE_OK(vyre_generate_grid(3, 2, VYRE_VOID, NULL, &csr, &diag), &diag);
    show(&csr, got, sizeof got);
    CHECK_STR(got, "0: 1 3; 1: 0 2 4; 2: 1 5; 3: 0 4; 4: 1 3 5; 5: 2 4");
    vyre_csr_finish(&csr);
    REQUIRE_OK(vyre_generate_grid(1, 1, VYRE_U32, NULL, &csr, &diag), &diag);
    CHECK_EQ(csr.col.count, 0);
    vyre_csr_finish(&csr);
}

TEST(generated_graphs_refuse_nonsense) {
    vyre_csr csr = {0};
    vyre_diag diag;
    CHECK_STATUS(vyre_generate_rmat(32, 1, 0, VYRE_VOID, NULL, &csr, &diag), VYRE_LIMIT, &diag);
    CHECK_STATUS(vyre_generate_rmat(31, 1, 0, VYRE_VOID, NULL, &csr, &diag), VYRE_LIMIT, &diag);
    CHECK_STATUS(vyre_generate_rmat(3, UINT64_MAX / 4, 0, VYRE_VOID, NULL, &csr, &diag), VYRE_LIMIT,
                 &diag);
    CHECK_STATUS(vyre_generate_grid(0, 5, VYRE_VOID, NULL, &csr, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_STATUS(vyre_generate_grid(UINT64_MAX, UINT64_MAX, VYRE_VOID, NULL, &csr, &diag),
                 VYRE_LIMIT, &diag);
    CHECK_STATUS(vyre_generate_grid(1, UINT32_MAX, VYRE_VOID, NULL, &csr, &diag), VYRE_LIMIT,
                 &diag);
    REQUIRE_OK(vyre_generate_rmat(0, 4, 1, VYRE_VOID, NULL, &csr, &diag), &diag);
    CHECK_EQ(csr.rows, 1);
    CHECK_EQ(csr.col.count, 0);
    vyre_csr_finish(&csr);
}

static vyre_status make_graphs(const vyre_allocator *a, void *user) {
    const char *text = user;
    vyre_csr csr = {0};
    vyre_status status = vyre_matrix_market_parse(text, strlen(text), "m", VYRE_F32, a, &csr, NULL);
    if (status == VYRE_OK) {
        vyre_csr_finish(&csr);
        status = vyre_generate_rmat(4, 2, 1, VYRE_F32, a, &csr, NULL);
    }
    if (status == VYRE_OK) {
        vyre_csr_finish(&csr);
        status = vyre_generate_grid(2, 3, VYRE_F32, a, &csr, NULL);
    }
    if (status == VYRE_OK) {
        vyre_csr_finish(&csr);
    }
    return status;
}

TEST(graphs_survive_every_failed_allocation) {
    char text[] = HEAD "real symmetric\n2 2 2\n2 1 0.5\n2 2 3\n";
    CHECK(test_every_allocation(make_graphs, text, 100) >= 15);
}
