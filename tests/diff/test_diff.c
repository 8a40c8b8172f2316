/* Differential test: random order-free programs, and the reduced programs of bugs that were found,
 * run natively and split, in all orders and by both paths. */
#include <dirent.h>

#include "diff/differ.h"
#include "diff/reduce.h"
#include "diff/totals.h"
#include "harness/test.h"
#include "random/random_program.h"

/* Other seeds than those of a long run. */
enum { PROGRAMS = 2000, SCHEDULED = 400, COMPILED = 50, MOST_TEXT = 1 << 16 };
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
        vyre_program *small = reduce(d, program, result);
        vyre_text text;
        print(small, &text);
        test_fail(__FILE__, __LINE__, "seed %" PRIu64 ": %s; reduced to\n%s", seed, why,
                  vyre_text_string(&text));
        vyre_text_finish(&text);
        vyre_program_release(small);
    }
    vyre_program_release(program);
}

static void check_programs(const char *backend, uint64_t count) {
    static differ d;
    static differ_totals t;
    begin(&d, backend);
    for (uint64_t i = 0; i < count && !test_failed(); i++) {
        check_random(&d, first_seed + i, &t);
    }
    differ_finish(&d);
    differ_totals_print(&t, stdout);
    CHECK(differ_totals_suffice(&t, stdout));
}

TEST(random_programs_give_the_same_bytes_every_way) {
    check_programs("ref-split", test_scaled(PROGRAMS));
}

TEST(a_device_that_runs_schedules_itself_gives_the_same_bytes) {
    check_programs("ref-schedule", test_scaled(SCHEDULED));
}

TEST(loops_over_all_elements_give_the_same_bytes_when_turned) {
    check_programs("ref-split://turn_loops=1", test_scaled(SCHEDULED));
}

/* In parts, so that each has its time. */
static void check_compiled(uint64_t part) {
    static differ d;
    static differ_totals t;
    vyre_device *device = NULL;
    if (vyre_device_open(NULL, "cpu", NULL, &device, NULL) != VYRE_OK) {
        test_skip("there is no LLVM 19");
    }
    vyre_device_close(device);
    begin(&d, "cpu");
    for (uint64_t i = 0; i < test_scaled(COMPILED) && !test_failed(); i++) {
        check_random(&d, first_seed + part * COMPILED + i, &t);
    }
    differ_finish(&d);
}

TEST(compiled_programs_give_the_same_bytes_1) {
    check_compiled(1);
}

TEST(compiled_programs_give_the_same_bytes_2) {
    check_compiled(2);
}

TEST(compiled_programs_give_the_same_bytes_3) {
    check_compiled(3);
}

TEST(compiled_programs_give_the_same_bytes_4) {
    check_compiled(4);
}

TEST(compiled_programs_give_the_same_bytes_5) {
    check_compiled(5);
}

TEST(compiled_programs_give_the_same_bytes_6) {
    check_compiled(6);
}

/* The reducer */

static bool has_a_barrier_in_a_loop(const vyre_program *program, void *user) {
    const vyre_program_view *p = vyre_program_get(program);
    uint32_t loops = 0;
    (void)user;
    for (vyre_stmt i = p->entry; i < p->stmt_count; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        const uint8_t op = s->op == VYRE_STMT_END ? p->stmts[s->match].op : s->op;
        const bool loop = op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE;
        loops += loop ? (s->op == VYRE_STMT_END ? UINT32_MAX : 1) : 0;
        if (s->op == VYRE_STMT_GRID_SYNC && loops > 0) {
            return true;
        }
    }
    return false;
}

TEST(a_reduced_program_has_nothing_left_to_drop) {
    uint32_t found = 0;
    for (uint64_t seed = 1; found < 5; seed++) {
        vyre_program *program = NULL;
        REQUIRE_OK(random_order_free(seed, &program, NULL), NULL);
        if (has_a_barrier_in_a_loop(program, NULL)) {
            vyre_program *small = reduce_while(program, has_a_barrier_in_a_loop, NULL);
            const vyre_program_view *p = vyre_program_get(small);
            CHECK_EQ(p->stmt_count, 3); /* loop, barrier, end */
            CHECK_EQ(p->decl_count, 0);
            CHECK_EQ(p->fn_count, 0);
            CHECK_EQ(p->workgroup[0], 1);
            vyre_program_release(small);
            found++;
        }
        vyre_program_release(program);
    }
}

/* Bugs that were found */

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

/* On a device; none of them races. */
static void check_files(const char *backend) {
    static differ d;
    uint32_t count = 0;
    begin(&d, backend);
    d.races = true;
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

TEST(reduced_programs_of_past_bugs_stay_right) {
    check_files("ref-split");
    check_files("ref-split://turn_loops=1");
    check_files("ref-schedule");
    check_files("ref-groups");
    check_files("ref-minimal");
    check_files("cpu://gang=8");
}
