/* The contract of the template of the elementary functions of f64: it compiles with values that can
 * only be touched by its operations, and makes the same number of them whatever the argument is. */
#include <math.h>

#include "backend/ref/elementary.h"
#include "harness/test.h"

typedef double M_R;
typedef uint64_t M_WORD;
#define MATH(name) name
#include "elementary_counted.inc"

#include "ir/elementary_f64.inc"

#include "elementary_straight.inc"

#define CHECK_ONE(name) CHECK_UNARY(name, vyre_ref_##name##_f64)
#define CHECK_TWO(name) CHECK_BINARY(name, vyre_ref_##name##_f64)

TEST(one_straight_line) {
    VYRE_ELEMENTARY_UNARY(CHECK_ONE)
    VYRE_ELEMENTARY_BINARY(CHECK_TWO)
}
