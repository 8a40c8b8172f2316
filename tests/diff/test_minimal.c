/* Lowered programs: random ones on a device that claims the core only. */
#include <dirent.h>

#include "diff/differ.h"
#include "harness/test.h"
#include "random/random_program.h"
#include "vyre/text.h"

enum { PROGRAMS = 300, FIRST_SEED = 910001 };

TEST(random_programs_give_the_same_bytes_on_the_core) {
    static differ d;
    vyre_diag diag = {0};
    REQUIRE_OK(differ_init(&d, "ref-minimal", &diag), &diag);
    for (uint64_t i = 0; i < test_scaled(PROGRAMS) && !test_failed(); i++) {
        vyre_program *program = NULL;
        REQUIRE_OK(random_order_free(FIRST_SEED + i, &program, &diag), &diag);
        if (differ_check(&d, program) != DIFFER_SAME) {
            test_fail(__FILE__, __LINE__, "seed %" PRIu64 ": %s", FIRST_SEED + i, d.why);
        }
        vyre_program_release(program);
    }
    differ_finish(&d);
}

/* Programs whose sizes are known, so that inputs can be made for them. */
static bool is_sized(const vyre_program *program) {
    const vyre_program_view *p = vyre_program_get(program);
    bool sized = true;
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        sized &= !vyre_role_is_buffer((vyre_role)p->decls[d].role) || p->decls[d].size != VYRE_NONE;
    }
    return sized && p->clause_kind != VYRE_CLAUSE_NONE;
}

static uint32_t check_folder(differ *d, const char *folder) {
    static char text[1 << 16];
    char path[1024];
    uint32_t count = 0;
    (void)snprintf(path, sizeof path, "%s/tests/golden/%s", VYRE_SOURCE_DIR, folder);
    DIR *directory = opendir(path);
    REQUIRE(directory);
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".vy") != 0) {
            continue;
        }
        (void)snprintf(path, sizeof path, "%s/tests/golden/%s/%s", VYRE_SOURCE_DIR, folder,
                       entry->d_name);
        FILE *file = fopen(path, "rb");
        REQUIRE(file);
        const size_t length = fread(text, 1, sizeof text, file);
        (void)fclose(file);
        vyre_program *program = NULL;
        vyre_diag diag = {0};
        vyre_diag_list diags = {.items = &diag, .capacity = 1};
        REQUIRE_OK(vyre_parse(text, length, NULL, NULL, &program, &diags), &diag);
        const differ_result result = is_sized(program) ? differ_check(d, program) : DIFFER_ORDER;
        if (result != DIFFER_SAME && result != DIFFER_ORDER) { /* some are made to race */
            test_fail(__FILE__, __LINE__, "%s: %s", entry->d_name, d->why);
        }
        count += result == DIFFER_SAME;
        vyre_program_release(program);
    }
    (void)closedir(directory);
    return count;
}

TEST(goldens_give_the_same_bytes_on_the_core) {
    static const char *const folders[] = {"diff", "split", "split/group", "mutants", "lower"};
    static differ d;
    vyre_diag diag = {0};
    uint32_t count = 0;
    REQUIRE_OK(differ_init(&d, "ref-minimal", &diag), &diag);
    for (uint32_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        count += check_folder(&d, folders[i]);
    }
    CHECK(count > 10);
    differ_finish(&d);
}
