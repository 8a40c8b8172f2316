/* Where an input comes from, as written behind `--in NAME=`. */
#ifndef VYRE_SRC_IO_SPEC_H
#define VYRE_SRC_IO_SPEC_H

#include "io/array.h"

typedef enum vyre_source {
    VYRE_SOURCE_RAW = 0, /* FILE: little-endian bytes as they are */
    VYRE_SOURCE_NPY,     /* FILE.npy */
    VYRE_SOURCE_TEXT,    /* FILE.csv, FILE.txt: values as text */
    VYRE_SOURCE_LIST,    /* 1,2,3 */
    VYRE_SOURCE_MTX,     /* FILE.mtx */
    VYRE_SOURCE_ZEROS,   /* zeros:N */
    VYRE_SOURCE_IOTA,    /* iota:N */
    VYRE_SOURCE_RANDOM,  /* random:N:SEED */
    VYRE_SOURCE_RMAT,    /* rmat:SCALE:EDGEFACTOR:SEED */
    VYRE_SOURCE_GRID     /* grid:W:H */
} vyre_source;

/* A parsed source. `text` is what was parsed (borrowed); it is the path when it is a file. A file
 * whose name looks like a generator or a list is given as ./zeros:3 or ./5. */
typedef struct vyre_spec {
    vyre_source source;
    const char *text;
    uint64_t number[3];
} vyre_spec;

vyre_status vyre_spec_parse(const char *text, vyre_spec *out, vyre_diag *diag);
/* The source gives row, column and value arrays, not one buffer. */
bool vyre_spec_is_graph(const vyre_spec *spec);

/* One buffer. `type` must compute or be stored; a .npy file must hold exactly it. */
vyre_status vyre_spec_load(const vyre_spec *spec, vyre_type type, const vyre_allocator *a,
                           vyre_array *out, vyre_diag *diag);
/* A graph; `value` is the element type wanted for its values, VYRE_VOID for none. */
vyre_status vyre_spec_load_graph(const vyre_spec *spec, vyre_type value, const vyre_allocator *a,
                                 vyre_csr *out, vyre_diag *diag);

#endif
