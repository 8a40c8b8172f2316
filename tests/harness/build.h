/* Programs made with the builder, for tests: what fails ends the test. */
#ifndef VYRE_TESTS_HARNESS_BUILD_H
#define VYRE_TESTS_HARNESS_BUILD_H

#include "harness/test.h"
#include "vyre/vyre.h"

static inline vyre_builder *build_begin(const char *name, uint32_t x, uint32_t y, uint32_t z) {
    vyre_builder *b = NULL;
    REQUIRE_OK(vyre_builder_create(NULL, name, &b), NULL);
    vyre_build_workgroup(b, x, y, z);
    return b;
}

/* The builder goes. */
static inline vyre_program *build_finish(vyre_builder *b) {
    vyre_program *p = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_builder_finish(b, &p, &diag), &diag);
    vyre_builder_destroy(b);
    return p;
}

/* An operator with two operands. */
static inline vyre_expr build_two(vyre_builder *b, vyre_expr_op o, vyre_expr x, vyre_expr y) {
    return vyre_build_op(b, o, x, y, VYRE_NONE);
}

#endif
