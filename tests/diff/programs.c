/* What the differential tests share: random programs by their seeds, and stored ones. */
#include "diff/programs.h"

#include <dirent.h>

#include "diff/differ.h"
#include "diff/reduce.h"
#include "diff/totals.h"
#include "harness/test.h"
#include "random/random_program.h"

enum { MOST_TEXT = 1 << 16 };
/* Other seeds than those of a long run. */
static const uint64_t first_seed = UINT64_C(1) << 40;

static void begin(differ *d, const char *backend) {
    vyre_diag diag = {0};
    REQUIRE_OK(differ_init(d, backend, &diag), &diag);
}

static bool append(void *user, const char *text, size_t length) {
    vyre_text_append(user, text, length);
    return true;
}

static void print(const vyre_program *program, vyre_text *text) {
    vyre_text_init(text, NULL);
    (void)vyre_program_print(program, append, text);
}

static void check_random(differ *d, uint64_t seed, differ_totals *t) {
    vyre_program *program = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(random_order_free(seed, &program, &diag), &diag);
    differ_draw(d, seed);
    const differ_result result = differ_check(d, program);
    differ_totals_count(t, d, result);
    if (result != DIFFER_SAME) {
        char why[sizeof d->why];
        memcpy(why, d->why, sizeof why);
        vyre_program *small = reduce(d, program, result, NULL);
        vyre_text text;
        print(small, &text);
        test_fail(__FILE__, __LINE__, "seed %" PRIu64 ": %s; reduced to\n%s", seed, why,
                  vyre_text_string(&text));
        vyre_text_finish(&text);
        vyre_program_release(small);
    }
    vyre_program_release(program);
}

void diff_check_random(const char *backend, uint64_t first, uint64_t count) {
    static differ d;
    static differ_totals t;
    uint64_t announced = 0;
    begin(&d, backend);
    first += first_seed;
    for (uint64_t seed = first; seed < first + count && !test_failed(); seed++) {
        if (seed >= announced) {
            announced = differ_announce(&d, seed, first + count);
        }
        check_random(&d, seed, &t);
    }
    differ_finish(&d);
    differ_totals_print(&t, stdout);
    CHECK(differ_totals_suffice(&t, d.backend, stdout));
}

static void check_file(differ *d, const char *name) {
    static char text[MOST_TEXT];
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/tests/golden/diff/%s", VYRE_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    REQUIRE(file);
    const size_t length = fread(text, 1, sizeof text, file);
    (void)fclose(file);
    vyre_program *program = NULL;
    vyre_diag diag = {0};
    vyre_diag_list diags = {.items = &diag, .capacity = 1};
    REQUIRE_OK(vyre_parse(text, length, NULL, NULL, &program, &diags), &diag);
    if (differ_check(d, program) != DIFFER_SAME) {
        test_fail(__FILE__, __LINE__, "%s: %s", name, d->why);
    }
    vyre_program_release(program);
}

void diff_check_stored(const char *backend) {
    static differ d;
    uint32_t count = 0;
    begin(&d, backend);
    d.races = true; /* none of them does */
    DIR *directory = opendir(VYRE_SOURCE_DIR "/tests/golden/diff");
    REQUIRE(directory);
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && strcmp(dot, ".vy") == 0) {
            check_file(&d, entry->d_name);
            count++;
        }
    }
    (void)closedir(directory);
    CHECK(count > 0);
    differ_finish(&d);
}
