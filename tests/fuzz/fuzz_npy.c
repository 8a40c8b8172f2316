/* .npy reader. The first byte chooses the wanted type, the rest is the file. */
#include <string.h>

#include "fuzz.h"
#include "io/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    vyre_type want = (vyre_type)(data[0] % VYRE_TYPE_COUNT);
    fuzz_heap heap = {.limit = 8 * size + 64};
    vyre_bytes bytes = {.allocator = fuzz_allocator(&heap), .size = size - 1, .capacity = size};
    bytes.data = vyre_alloc(&bytes.allocator, size, 1);
    memcpy(bytes.data, data + 1, size - 1);
    bytes.data[size - 1] = 0;
    vyre_array array;
    vyre_diag diag = {0};
    vyre_status status = vyre_npy_load(&bytes, "fuzz.npy", want, &array, &diag);
    if (status == VYRE_OK) {
        FUZZ_CHECK(want == VYRE_VOID || array.type == want);
        FUZZ_CHECK(array.type == VYRE_BOOL || vyre_array_size(&array) < size);
        /* Reads every byte, so that a wrong size is seen. */
        size_t sum = 0;
        for (size_t i = 0; i < vyre_array_size(&array); i++) {
            sum += ((const unsigned char *)array.data)[i];
        }
        FUZZ_CHECK(sum <= 255 * vyre_array_size(&array));
        vyre_array_finish(&array);
    } else {
        FUZZ_CHECK(diag.status == status && diag.message[0] != '\0');
    }
    vyre_bytes_finish(&bytes);
    FUZZ_CHECK(heap.live == 0);
    return 0;
}
