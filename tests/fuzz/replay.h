/* Runs a fuzz target over its stored corpus, in a plain test. */
#ifndef VYRE_TESTS_FUZZ_REPLAY_H
#define VYRE_TESTS_FUZZ_REPLAY_H

#include <dirent.h>

#include "harness/test.h"

/* Every file of tests/fuzz/corpus/NAME; a corpus without files is a failure. */
static inline void fuzz_replay(const char *name, int (*target)(const uint8_t *, size_t)) {
    char path[2048];
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", VYRE_SOURCE_DIR, name);
    DIR *dir = opendir(path);
    REQUIRE(dir != NULL);
    int files = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s/%s", VYRE_SOURCE_DIR, name,
                 entry->d_name);
        FILE *file = fopen(path, "rb");
        REQUIRE(file != NULL);
        static uint8_t contents[1 << 20];
        size_t size = fread(contents, 1, sizeof contents, file);
        fclose(file);
        uint8_t *exact = malloc(size ? size : 1); /* so that a sanitizer sees its end */
        REQUIRE(exact != NULL);
        memcpy(exact, contents, size);
        (void)target(exact, size);
        free(exact);
        files++;
    }
    closedir(dir);
    CHECK(files > 0);
}

#endif
