/* Programs that are stored in the repository, on a device and on ref. */
#include "diff/stored.h"

#include <dirent.h>
#include <stdlib.h>

#include "harness/run.h"
#include "ir/size.h"
#include "vyre/text.h"

enum { BUFFERS = 16, ELEMENTS = 64, MOST_STEPS = 2000000 };

/* Some programs race, or do not end, on some inputs: the first way that they can be compared in. */
typedef enum way { SMALL_VALUES, RISING_VALUES, ONE_LANE, WAYS } way;

typedef struct setup {
    const vyre_program_view *p;
    way how;
    uint64_t counts[256]; /* of each declaration of a buffer */
    vyre_input inputs[BUFFERS];
    vyre_setting settings[BUFFERS];
    uint32_t input_count, setting_count;
} setup;

static bool length(void *user, vyre_decl decl, uint64_t *out_count) {
    *out_count = ((setup *)user)->counts[decl];
    return true;
}

/* Of params: small, and no two the same. */
static uint64_t param_bits(const vyre_program_view *p, vyre_decl decl) {
    switch ((uint32_t)p->decls[decl].type) {
    case VYRE_F32: return 0x3f000000; /* one half */
    case VYRE_F64: return UINT64_C(0x3fe0000000000000);
    case VYRE_BOOL: return 1;
    default: return 3 + decl;
    }
}

static bool param(void *user, vyre_decl decl, uint64_t *out_bits) {
    *out_bits = param_bits(((setup *)user)->p, decl);
    return true;
}

/* Elements that are numbers of their type, so that they may be counts and indices. */
static void fill(unsigned char *bytes, uint64_t count, vyre_type type, way how, uint32_t seed) {
    static const uint32_t halves[] = {0, 0x3f800000, 0x40000000, 0x3f000000};
    const uint32_t width = vyre_type_size(type);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t number = how == SMALL_VALUES || type == VYRE_BF16 ? (i * 7 + seed) % 4 : i;
        uint64_t bits = type == VYRE_BOOL ? number % 2 : number;
        const float f32 = (float)bits;
        const double f64 = (double)bits;
        if (type == VYRE_F32) {
            memcpy(&bits, &f32, sizeof f32);
        } else if (type == VYRE_F64) {
            memcpy(&bits, &f64, sizeof f64);
        } else if (type == VYRE_BF16) {
            bits = halves[bits] >> 16;
        }
        memcpy(bytes + i * width, &bits, width);
    }
}

static void prepare(setup *s, const vyre_program *program, way how) {
    *s = (setup){.p = vyre_program_get(program), .how = how};
    const vyre_size_env env = {.len = length, .param = param, .user = s};
    REQUIRE(s->p->decl_count < 256);
    for (vyre_decl d = 0; d < s->p->decl_count; d++) {
        s->counts[d] = ELEMENTS;
    }
    for (vyre_decl d = 0; d < s->p->decl_count; d++) {
        const vyre_decl_node *node = &s->p->decls[d];
        REQUIRE(s->input_count < BUFFERS && s->setting_count < BUFFERS);
        if (node->role == VYRE_PARAM) {
            s->settings[s->setting_count++] =
                (vyre_setting){node->name, (vyre_type)node->type, param_bits(s->p, d)};
        }
        if (node->role > VYRE_OUT) {
            continue;
        }
        if (node->size != VYRE_NONE) {
            REQUIRE(vyre_size_evaluate(s->p, node->size, &env, &s->counts[d], NULL) ==
                    VYRE_SIZE_OK);
        }
        if (node->role != VYRE_OUT) {
            const size_t size = (size_t)s->counts[d] * vyre_type_size((vyre_type)node->type);
            unsigned char *bytes = calloc(size ? size : 1, 1);
            REQUIRE(bytes);
            fill(bytes, s->counts[d], (vyre_type)node->type, how, d);
            s->inputs[s->input_count++] = (vyre_input){bytes, size};
        }
    }
}

static run_result run_setup(const setup *s, const char *device, const vyre_program *program,
                            vyre_order order) {
    const uint32_t lane = s->how == ONE_LANE;
    const bool is_oracle = strncmp(device, "ref", 3) == 0;
    const vyre_dispatch_options options = {.workgroup = {lane, lane, lane},
                                           .settings = s->settings,
                                           .setting_count = s->setting_count,
                                           .has_grid =
                                               lane || s->p->clause_kind == VYRE_CLAUSE_NONE,
                                           .grid = {s->how == SMALL_VALUES ? 3 : 1, 1, 1},
                                           .order = is_oracle ? order : VYRE_ORDER_FORWARD,
                                           .order_seed = is_oracle ? 5 : 0,
                                           .max_steps = is_oracle ? MOST_STEPS : 0};
    return run_program(device, program, s->inputs, s->input_count, &options);
}

static bool same_end(const run_result *a, const run_result *b) {
    return run_same(a, b) &&
           (a->status == VYRE_OK || strcmp(a->diag.message, b->diag.message) == 0);
}

/* Why it is not compared, or NULL; else *out_same tells. */
static const char *compare(const char *device, const vyre_program *program, way how,
                           bool *out_same) {
    static char why[VYRE_DIAG_TEXT];
    static setup s;
    prepare(&s, program, how);
    run_result native = run_setup(&s, "ref", program, VYRE_ORDER_FORWARD);
    run_result reverse = run_setup(&s, "ref", program, VYRE_ORDER_REVERSE);
    (void)snprintf(why, sizeof why, "%s", native.diag.message);
    const bool runs = native.status == VYRE_OK || native.status == VYRE_TRAP;
    const bool is_ordered = !same_end(&native, &reverse);
    if (runs && !is_ordered) { /* so it comes to an end */
        run_result other = run_setup(&s, device, program, VYRE_ORDER_RANDOM);
        *out_same = same_end(&native, &other);
        if (!*out_same) {
            printf("%s, should be %s\n", other.diag.message, why);
        }
        run_finish(&other);
    }
    run_finish(&native);
    run_finish(&reverse);
    for (uint32_t i = 0; i < s.input_count; i++) {
        free((void *)(uintptr_t)s.inputs[i].data);
    }
    return !runs ? why : is_ordered ? "its result depends on the order of lanes" : NULL;
}

static vyre_program *load(const char *path) {
    static char text[1 << 16];
    FILE *file = fopen(path, "rb");
    REQUIRE(file);
    const size_t length_of = fread(text, 1, sizeof text, file);
    (void)fclose(file);
    vyre_program *program = NULL;
    vyre_diag diag = {0};
    vyre_diag_list diags = {.items = &diag, .capacity = 1};
    REQUIRE_OK(vyre_parse(text, length_of, NULL, NULL, &program, &diags), &diag);
    return program;
}

static const char *flaw_of(const stored_flaw *flaws, const char *path) {
    for (const stored_flaw *f = flaws; f && f->path; f++) {
        const size_t length = strlen(path), tail = strlen(f->path);
        if (length >= tail && strcmp(path + length - tail, f->path) == 0) {
            return f->why;
        }
    }
    return NULL;
}

void stored_check_folder(const char *device, const char *folder, const char *prefix,
                         const stored_flaw *flaws, stored_totals *t) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", VYRE_SOURCE_DIR, folder);
    DIR *directory = opendir(path);
    REQUIRE(directory);
    run_keep(device);
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".vy") != 0 ||
            strncmp(entry->d_name, prefix, strlen(prefix)) != 0) {
            continue;
        }
        bool is_same = false;
        (void)snprintf(path, sizeof path, "%s/%s/%s", VYRE_SOURCE_DIR, folder, entry->d_name);
        vyre_program *program = load(path);
        const char *flaw = flaw_of(flaws, path), *why = flaw ? flaw : "";
        for (way how = SMALL_VALUES; how < WAYS && why && !flaw; how++) {
            why = compare(device, program, how, &is_same);
        }
        if (why) {
            printf("%s/%s is left out: %s\n", folder, entry->d_name, why);
        } else if (!is_same) {
            test_fail(__FILE__, __LINE__, "%s/%s differs on %s", folder, entry->d_name, device);
        }
        t->left_out += why != NULL;
        t->same += !why && is_same;
        vyre_program_release(program);
    }
    (void)closedir(directory);
    run_keep(NULL);
}

/* Of golden/check only those that are accepted: the others are no programs. */
stored_totals stored_check_all(const char *device, const stored_flaw *flaws) {
    static const char *const folders[] = {"tests/golden/diff",          "tests/golden/split",
                                          "tests/golden/split/group",   "tests/golden/mutants",
                                          "tests/golden/lower",         "tests/golden/lanes",
                                          "tests/golden/split/lowered", "examples"};
    stored_totals t = {0};
    stored_check_folder(device, "tests/golden/check", "accepted_", flaws, &t);
    for (uint32_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        stored_check_folder(device, folders[i], "", flaws, &t);
    }
    printf("%u programs give the same on %s, %u are left out\n", t.same, device, t.left_out);
    return t;
}
