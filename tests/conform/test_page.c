/* docs/conformance.md tells the truth: it names tests that exist, and all that there are. */
#include <glob.h>

#include "harness/test.h"

typedef struct cells {
    char *cell[4];
} cells;

static char *read_all(const char *path) {
    FILE *file = fopen(path, "rb");
    REQUIRE(file);
    char *text = calloc(1, 1 << 20);
    REQUIRE(text);
    size_t size = fread(text, 1, (1 << 20) - 1, file);
    CHECK(size > 0 && feof(file));
    fclose(file);
    return text;
}

/* All files of a pattern below the source tree, one after another. */
static char *sources(const char *pattern) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", VYRE_SOURCE_DIR, pattern);
    glob_t found;
    REQUIRE(glob(path, 0, NULL, &found) == 0);
    char *all = NULL;
    size_t size = 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *one = read_all(found.gl_pathv[i]);
        size_t more = strlen(one);
        all = realloc(all, size + more + 1);
        REQUIRE(all);
        memcpy(all + size, one, more + 1);
        size += more;
        free(one);
    }
    globfree(&found);
    return all;
}

/* Splits "| a | b | c | d |" in place; false for other lines. */
static bool row_of(char *line, cells *out) {
    if (strncmp(line, "| ", 2) != 0) {
        return false;
    }
    char *at = line + 1;
    for (int i = 0; i < 4; i++) {
        char *end = strchr(at, '|');
        REQUIRE(end);
        *end = '\0';
        at += strspn(at, " ");
        out->cell[i] = at;
        size_t length = strlen(at);
        while (length > 0 && at[length - 1] == ' ') {
            at[--length] = '\0';
        }
        at = end + 1;
    }
    return true;
}

static void check_names(char *list, const char *tests) {
    char *rest = NULL;
    for (char *name = strtok_r(list, " `", &rest); name; name = strtok_r(NULL, " `", &rest)) {
        char declared[200];
        snprintf(declared, sizeof declared, "TEST(%s)", name);
        if (!strstr(tests, declared)) {
            test_fail(__FILE__, __LINE__, "the page names %s, which is no test", name);
        }
    }
}

static char *read_page(void) {
    char path[1000];
    snprintf(path, sizeof path, "%s/docs/conformance.md", VYRE_SOURCE_DIR);
    return read_all(path);
}

TEST(every_row_has_a_verdict_and_a_test_or_a_reason) {
    char *page = read_page(), *tests = sources("tests/*/test_*.c"), *rest = NULL;
    int rows = 0;
    long next_defect = 1;
    for (char *line = strtok_r(page, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        cells row;
        if (!row_of(line, &row) || strcmp(row.cell[1], "verdict") == 0) {
            continue;
        }
        const char *verdict = row.cell[1];
        bool tested = strcmp(verdict, "kept") == 0 || strcmp(verdict, "changed") == 0;
        rows++;
        if (!tested && strcmp(verdict, "dropped") != 0) {
            test_fail(__FILE__, __LINE__, "%s: no verdict \"%s\"", row.cell[0], verdict);
        }
        if (tested != (row.cell[2][0] == '`')) {
            test_fail(__FILE__, __LINE__, "%s: a test if and only if it was not dropped",
                      row.cell[0]);
        }
        if ((strcmp(verdict, "changed") == 0 || strcmp(verdict, "dropped") == 0) &&
            !row.cell[3][0]) {
            test_fail(__FILE__, __LINE__, "%s: why?", row.cell[0]);
        }
        if (row.cell[0][0] == 'D' && row.cell[0][1] <= '9') {
            CHECK_EQ(strtol(row.cell[0] + 1, NULL, 10), next_defect);
            next_defect++;
        }
        check_names(row.cell[2], tests);
    }
    CHECK(rows > 80);
    CHECK_EQ(next_defect, 49);
    free(page);
    free(tests);
}

TEST(every_conformance_test_is_on_the_page) {
    static const char *const files[] = {"tests/conform/test_defects*.c",
                                        "tests/conform/test_reference*.c",
                                        "tests/conform/test_traffic.c"};
    char *page = read_page();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *all = sources(files[i]);
        int count = 0;
        for (char *at = strstr(all, "\nTEST("); at; at = strstr(at + 1, "\nTEST(")) {
            char name[200] = "", quoted[204];
            REQUIRE(sscanf(at, "\nTEST(%199[a-z0-9_])", name) == 1);
            snprintf(quoted, sizeof quoted, "`%s`", name);
            if (!strstr(page, quoted)) {
                test_fail(__FILE__, __LINE__, "the page does not name %s", name);
            }
            count++;
        }
        CHECK(count > 0);
        free(all);
    }
    free(page);
}
