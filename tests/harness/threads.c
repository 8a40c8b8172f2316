#include <pthread.h>

#include "harness/test.h"

void test_in_threads(void *(*work)(void *element), void *elements, size_t size) {
    pthread_t threads[TEST_THREADS];
    for (size_t i = 0; i < TEST_THREADS; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, work, (char *)elements + i * size) == 0);
    }
    for (size_t i = 0; i < TEST_THREADS; i++) {
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    }
}
