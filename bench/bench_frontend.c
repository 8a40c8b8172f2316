/* bench_frontend: does parsing and validating cost the same per node, whatever the size? */
#include <stdlib.h>

#include "programs.h"
#include "vyre/check.h"
#include "vyre/text.h"

static void front(void *user) {
    vyre_program_release(program_read(user));
}

int main(int argc, char **argv) {
    const char *json = json_argument(argc, argv);
    figures rows[PROGRAM_SHAPES] = {0};
    static const uint32_t sizes[] = {1000, 10000, 100000};
    for (uint32_t shape = 0; shape < PROGRAM_SHAPES; shape++) {
        figures *row = &rows[shape];
        row->name = program_shape_names[shape];
        row->sizes = sizeof sizes / sizeof sizes[0];
        for (uint32_t k = 0; k < row->sizes; k++) {
            vyre_text text;
            vyre_text_init(&text, NULL);
            program_write(&text, (program_shape)shape, sizes[k], sizes[k] / 100);
            vyre_program *program = program_read(&text);
            row->nodes[k] = program_nodes(program);
            vyre_program_release(program);
            row->per_node[k] = measure(front, &text) / row->nodes[k];
            vyre_text_finish(&text);
        }
    }
    return report_figures("parse and validate", rows, PROGRAM_SHAPES, json);
}
