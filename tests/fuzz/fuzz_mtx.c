/* Matrix Market reader. The first byte chooses the type of the values, the rest is the file. */
#include <string.h>

#include "fuzz.h"
#include "io/matrix_market.h"

static void check_csr(const vyre_csr *csr) {
    const uint32_t *row = csr->row.data, *col = csr->col.data;
    FUZZ_CHECK(csr->row.count == (uint64_t)csr->rows + 1);
    FUZZ_CHECK(row[0] == 0 && row[csr->rows] == csr->col.count);
    FUZZ_CHECK(csr->val.type == VYRE_VOID || csr->val.count == csr->col.count);
    for (uint32_t r = 0; r < csr->rows; r++) {
        FUZZ_CHECK(row[r] <= row[r + 1]);
        for (uint32_t k = row[r]; k < row[r + 1]; k++) {
            FUZZ_CHECK(col[k] < csr->columns);
            FUZZ_CHECK(k == row[r] || col[k - 1] < col[k]);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const vyre_type types[] = {VYRE_VOID, VYRE_F32, VYRE_F64, VYRE_U32, VYRE_I32};
    if (size == 0) {
        return 0;
    }
    fuzz_heap heap = {.limit = (UINT64_C(16) << 20) + 64 * size};
    vyre_allocator a = fuzz_allocator(&heap);
    char *text = vyre_alloc(&a, size, 1);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    vyre_type type = types[data[0] % 5];
    vyre_csr csr;
    vyre_diag diag = {0};
    vyre_status status =
        vyre_matrix_market_parse(text, size - 1, "fuzz.mtx", type, &a, &csr, &diag);
    if (status == VYRE_OK) {
        FUZZ_CHECK(csr.val.type == type);
        check_csr(&csr);
        vyre_csr_finish(&csr);
    } else {
        FUZZ_CHECK(diag.status == status && diag.message[0] != '\0');
    }
    vyre_free(&a, text, size, 1);
    FUZZ_CHECK(heap.live == 0);
    return 0;
}
