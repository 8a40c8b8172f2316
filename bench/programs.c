/* Generated programs. A unit of each shape is a few lines with a known number of nodes; units are
 * repeated until the size is reached. */
#include "programs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vyre/check.h"
#include "vyre/text.h"

const char *const program_shape_names[PROGRAM_SHAPES] = {
    [PROGRAM_STRAIGHT] = "straight", [PROGRAM_NESTED] = "nested", [PROGRAM_FUNCTIONS] = "functions",
    [PROGRAM_BARRIERS] = "barriers", [PROGRAM_LOOPS] = "loops",   [PROGRAM_ALIVE] = "alive",
};

static void straight(vyre_text *t, uint32_t nodes) {
    for (uint32_t i = 0; i < nodes / 20; i++) {
        vyre_text_printf(t,
                         "    let v%" PRIu32 " = v * %" PRIu32 " + a[global_id.x];\n"
                         "    v = v%" PRIu32 " ^ (v >> 3);\n"
                         "    b[global_id.x] = b[global_id.x] + v;\n",
                         i, i + 3, i);
    }
}

static void nested(vyre_text *t, uint32_t nodes) {
    for (uint32_t i = 0; i < nodes / 38; i++) {
        vyre_text_printf(t,
                         "    for (k%" PRIu32 " in 0 .. v %% 7) {\n"
                         "        let w = a[k%" PRIu32 "] + v;\n"
                         "        if (w > %" PRIu32 ") {\n"
                         "            while (w != 0) {\n"
                         "                w = w >> 1;\n"
                         "                if (w == v) { break; } else { v = v + w; }\n"
                         "            }\n"
                         "        }\n"
                         "        b[global_id.x] = w + v;\n"
                         "    }\n",
                         i, i, i);
    }
}

static void functions(vyre_text *t, uint32_t nodes) {
    uint32_t count = nodes / 25;
    for (uint32_t i = 0; i < count; i++) {
        vyre_text_printf(t,
                         "    fn go%" PRIu32 "(x : u32, y : u32) -> u32 {\n"
                         "        let s = x * %" PRIu32 " + y;\n"
                         "        if (s > x) { s = s - a[y %% 16]; }\n"
                         "        return s;\n"
                         "    }\n",
                         i, i + 1);
    }
    vyre_text_puts(t, "    let v = global_id.x;\n");
    for (uint32_t i = 0; i < count; i++) {
        vyre_text_printf(t, "    v = go%" PRIu32 "(v, %" PRIu32 ");\n", i, i);
    }
}

/* The nodes of a unit, spread over statements of which some touch the grid's memory. */
static void body(vyre_text *t, uint32_t unit, uint32_t nodes) {
    for (uint32_t k = 0; k < nodes / 20; k++) {
        vyre_text_printf(t,
                         "    let x%" PRIu32 "_%" PRIu32 " = v * %" PRIu32 " + a[global_id.x];\n"
                         "    v = x%" PRIu32 "_%" PRIu32 " ^ (v >> 3);\n"
                         "    b[global_id.x] = b[15 - global_id.x] + v;\n",
                         unit, k, k + 3, unit, k);
    }
}

static void barriers_in_a_row(vyre_text *t, uint32_t nodes, uint32_t barriers) {
    for (uint32_t i = 0; i < barriers; i++) {
        vyre_text_printf(t, "    let c%" PRIu32 " = a[global_id.x] + v;\n", i);
        body(t, i, nodes / barriers - 16);
        vyre_text_puts(t, "    grid_sync;\n");
        vyre_text_printf(t, "    v = v + c%" PRIu32 " + u32(b[c%" PRIu32 " %% 16]);\n", i, i);
    }
}

/* Two barriers in each loop. */
static void barriers_in_loops(vyre_text *t, uint32_t nodes, uint32_t barriers) {
    for (uint32_t i = 0; i < barriers / 2; i++) {
        vyre_text_printf(t, "    for (k%" PRIu32 " in 0 .. n) {\n    let c%" PRIu32 " = v + 1;\n",
                         i, i);
        body(t, 2 * i, nodes / barriers - 16);
        vyre_text_puts(t, "    grid_sync;\n    if (n != 3) {\n");
        body(t, 2 * i + 1, nodes / barriers - 16);
        vyre_text_printf(
            t, "    grid_sync;\n    v = v + c%" PRIu32 " + b[15 - global_id.x];\n    }\n    }\n",
            i);
    }
}

/* A value and two barriers for each unit. */
static void values_over_barriers(vyre_text *t, uint32_t nodes) {
    const uint32_t count = nodes / 26;
    for (uint32_t i = 0; i < count; i++) {
        vyre_text_printf(t, "    let v%" PRIu32 " = b[(v + %" PRIu32 ") %% 16];\n", i, i);
    }
    vyre_text_puts(t, "    for (k in 0 .. n) {\n");
    for (uint32_t i = 0; i < count; i++) {
        vyre_text_printf(t,
                         "    grid_sync;\n    b[v] = v%" PRIu32 ";\n    grid_sync;\n"
                         "    v%" PRIu32 " = v%" PRIu32 " + b[15 - global_id.x];\n",
                         i, i, i);
    }
    vyre_text_puts(t, "    }\n");
    for (uint32_t i = 0; i < count; i++) {
        vyre_text_printf(t, "    v = v + v%" PRIu32 ";\n", i);
    }
}

void program_write(vyre_text *text, program_shape shape, uint32_t nodes, uint32_t barriers) {
    vyre_text_puts(text, "program generated workgroup(16) elements(16) {\n"
                         "    in a : u32[16];\n    inout b : u32[16];\n    param n : u32 = 2;\n");
    if (shape != PROGRAM_FUNCTIONS) {
        vyre_text_puts(text, "    let v = global_id.x;\n");
    }
    switch (shape) {
    case PROGRAM_STRAIGHT: straight(text, nodes); break;
    case PROGRAM_NESTED: nested(text, nodes); break;
    case PROGRAM_FUNCTIONS: functions(text, nodes); break;
    case PROGRAM_BARRIERS: barriers_in_a_row(text, nodes, barriers); break;
    case PROGRAM_LOOPS: barriers_in_loops(text, nodes, barriers); break;
    case PROGRAM_ALIVE: values_over_barriers(text, nodes); break;
    case PROGRAM_SHAPES: break;
    }
    vyre_text_puts(text, "    b[global_id.x] = v;\n}\n");
}

vyre_program *program_read(const vyre_text *text) {
    vyre_diag diag = {0};
    vyre_diag_list list = {.items = &diag, .capacity = 1};
    vyre_program *program = NULL;
    if (vyre_parse(vyre_text_string(text), text->length, NULL, NULL, &program, &list) != VYRE_OK ||
        vyre_check(program, NULL, &list) != VYRE_OK) {
        fprintf(stderr, "a generated program is refused at line %" PRIu32 ": %s\n", diag.line,
                diag.message);
        exit(1);
    }
    return program;
}

uint32_t program_nodes(const vyre_program *program) {
    const vyre_program_view *p = vyre_program_get(program);
    return p->stmt_count + p->expr_count;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

double measure(void (*work)(void *user), void *user) {
    enum { MOST = 200, LEAST = 5 };
    double least = 0, spent = 0;
    work(user);
    for (int runs = 0; runs < LEAST || (runs < MOST && spent < 5e8); runs++) {
        double begin = now();
        work(user);
        double time = now() - begin;
        least = runs == 0 || time < least ? time : least;
        spent += time;
    }
    return least;
}

static double ratio(const figures *row) {
    return row->per_node[row->sizes - 1] / row->per_node[0];
}

static int write_json(const figures *rows, uint32_t count, const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return 3;
    }
    fprintf(file, "{\"schema\":1,\"rows\":[");
    for (uint32_t i = 0; i < count; i++) {
        fprintf(file, "%s{\"name\":\"%s\",\"sizes\":[", i ? "," : "", rows[i].name);
        for (uint32_t k = 0; k < rows[i].sizes; k++) {
            fprintf(file, "%s{\"nodes\":%" PRIu32 ",\"ns_per_node\":%.2f}", k ? "," : "",
                    rows[i].nodes[k], rows[i].per_node[k]);
        }
        fprintf(file, "],\"ratio\":%.3f}", ratio(&rows[i]));
    }
    fprintf(file, "]}\n");
    return fclose(file) == 0 ? 0 : 3;
}

int report_figures(const char *what, const figures *rows, uint32_t count, const char *json) {
    printf("%s: CPU time per node (statements and expressions)\n%-12s", what, "");
    for (uint32_t k = 0; k < rows[0].sizes; k++) {
        printf(" %10s %9s", "nodes", "ns/node");
    }
    printf("   last/first\n");
    for (uint32_t i = 0; i < count; i++) {
        printf("%-12s", rows[i].name);
        for (uint32_t k = 0; k < rows[i].sizes; k++) {
            printf(" %10" PRIu32 " %9.1f", rows[i].nodes[k], rows[i].per_node[k]);
        }
        printf("   %10.2f\n", ratio(&rows[i]));
    }
    return json ? write_json(rows, count, json) : 0;
}

const char *json_argument(int argc, char **argv) {
    if (argc == 1) {
        return NULL;
    }
    if (argc != 3 || strcmp(argv[1], "--json") != 0) {
        fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]);
        exit(2);
    }
    return argv[2];
}
