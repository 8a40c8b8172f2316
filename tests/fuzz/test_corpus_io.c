/* Replays the stored corpora of the file readers. */
#include "replay.h"

#define LLVMFuzzerTestOneInput fuzz_npy
#include "fuzz_npy.c"
#undef LLVMFuzzerTestOneInput

#define LLVMFuzzerTestOneInput fuzz_mtx
int fuzz_mtx(const uint8_t *data, size_t size);
#include "fuzz_mtx.c"
#undef LLVMFuzzerTestOneInput

#define LLVMFuzzerTestOneInput fuzz_json
int fuzz_json(const uint8_t *data, size_t size);
#include "fuzz_json.c"
#undef LLVMFuzzerTestOneInput

TEST(corpus_npy) {
    fuzz_replay("npy", fuzz_npy);
}
TEST(corpus_mtx) {
    fuzz_replay("mtx", fuzz_mtx);
}
TEST(corpus_json) {
    fuzz_replay("json", fuzz_json);
}
