/* bench_split: does splitting cost the same per node, whatever the size and the number of barriers?
 * From 1,000 nodes with 10 barriers to 100,000 with 1,000 (`alive`: 7,600). */
#include <stdlib.h>

#include "programs.h"
#include "vyre/split.h"

static void split(void *user) {
    vyre_diag diag = {0};
    vyre_module *module = NULL;
    if (vyre_split(user, NULL, NULL, &module, &diag) != VYRE_OK) {
        fprintf(stderr, "splitting fails: %s\n", diag.message);
        exit(1);
    }
    vyre_module_release(module);
}

int main(int argc, char **argv) {
    const char *json = json_argument(argc, argv);
    static const uint32_t sizes[] = {1000, 10000, 100000};
    static const program_shape shapes[] = {PROGRAM_BARRIERS, PROGRAM_LOOPS, PROGRAM_ALIVE};
    enum { SHAPES = sizeof shapes / sizeof shapes[0] };
    figures rows[SHAPES] = {0};
    for (uint32_t i = 0; i < SHAPES; i++) {
        rows[i].name = program_shape_names[shapes[i]];
        rows[i].sizes = sizeof sizes / sizeof sizes[0];
        for (uint32_t k = 0; k < rows[i].sizes; k++) {
            vyre_text text;
            vyre_text_init(&text, NULL);
            program_write(&text, shapes[i], sizes[k], sizes[k] / 100);
            vyre_program *program = program_read(&text);
            vyre_text_finish(&text);
            rows[i].nodes[k] = program_nodes(program);
            rows[i].per_node[k] = measure(split, program) / rows[i].nodes[k];
            vyre_program_release(program);
        }
    }
    return report_figures("split", rows, SHAPES, json);
}
