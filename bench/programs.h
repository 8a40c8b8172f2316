/* Generated programs of a given size, and the clock, for benchmarks of the compiler's parts. */
#ifndef VYRE_BENCH_PROGRAMS_H
#define VYRE_BENCH_PROGRAMS_H

#include <stdio.h>

#include "base/text.h"
#include "vyre/ir.h"

typedef enum program_shape {
    PROGRAM_STRAIGHT,  /* one long list of statements, each using the ones before */
    PROGRAM_NESTED,    /* loops and branches in each other */
    PROGRAM_FUNCTIONS, /* many small functions, each called */
    PROGRAM_BARRIERS,  /* grid barriers; some values live from one to the next, a few for ever */
    PROGRAM_LOOPS,     /* grid barriers inside of loops and branches */
    PROGRAM_ALIVE,     /* a loop in which all values are alive at all barriers */
    PROGRAM_SHAPES
} program_shape;

extern const char *const program_shape_names[PROGRAM_SHAPES];

/* Text of about `nodes` statements and expressions with `barriers` grid barriers (where the shape
 * has any), and the program it parses to. Exits when something fails: it must not. */
void program_write(vyre_text *text, program_shape shape, uint32_t nodes, uint32_t barriers);
vyre_program *program_read(const vyre_text *text);
/* Statements and expressions. */
uint32_t program_nodes(const vyre_program *program);

/* Least CPU time in nanoseconds of work(user) over many runs: what others do on the machine can
 * only add to it. */
double measure(void (*work)(void *user), void *user);

/* One row of figures: the cost per node for sizes that grow by `factor`, and last over first. */
typedef struct figures {
    const char *name;
    uint32_t sizes;
    uint32_t nodes[3];
    double per_node[3];
} figures;
/* Prints the table and, if `json` is not NULL, writes it there; 0, or an exit code. */
int report_figures(const char *what, const figures *rows, uint32_t count, const char *json);
/* Reads [--json FILE]; exits with 2 when there is something else. */
const char *json_argument(int argc, char **argv);

#endif
