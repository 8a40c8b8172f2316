/* The control program as a list of instructions, made once with the module: a step runs its part of
 * the list from front to back, without looking at the program (kit/evaluate.h). */
#ifndef VYRE_SRC_SPLIT_CONTROL_CODE_H
#define VYRE_SRC_SPLIT_CONTROL_CODE_H

#include "base/alloc.h"
#include "vyre/ir.h"

typedef enum vyre_code_op {
    VYRE_CODE_FOLD, /* whatever else the folder knows */
    VYRE_CODE_LOAD, /* element x of the declaration of the expression */
    VYRE_CODE_LEN,
    VYRE_CODE_ID,
    VYRE_CODE_MOVE,
    VYRE_CODE_NOT, /* of truth values, and so the next two */
    VYRE_CODE_AND,
    VYRE_CODE_OR,
    VYRE_CODE_SELECT,
    VYRE_CODE_IS_TRUE, /* x != 0 */
    VYRE_CODE_SAME,    /* of all bits, and so the next four */
    VYRE_CODE_DIFFERENT,
    VYRE_CODE_BIT_AND,
    VYRE_CODE_BIT_OR,
    VYRE_CODE_BIT_XOR,
    VYRE_CODE_EQ, /* of 32 bits, and so all that follow */
    VYRE_CODE_NE,
    VYRE_CODE_BIT_NOT,
    VYRE_CODE_NEG,
    VYRE_CODE_ADD,
    VYRE_CODE_SUB,
    VYRE_CODE_MUL,
    VYRE_CODE_SHL,
    VYRE_CODE_SHR,
    VYRE_CODE_LT,
    VYRE_CODE_LE,
    VYRE_CODE_DIV,
    VYRE_CODE_REM,
    VYRE_CODE_SHR_SIGNED,
    VYRE_CODE_LT_SIGNED,
    VYRE_CODE_LE_SIGNED
} vyre_code_op;

/* Where an operand is. */
typedef enum vyre_code_from {
    VYRE_CODE_WORDS,    /* of the position: scalars, and values of expressions */
    VYRE_CODE_LITERALS, /* of the list */
    VYRE_CODE_PARAMS,   /* of the source */
    VYRE_CODE_FROMS
} vyre_code_from;

typedef struct vyre_code {
    uint8_t op;      /* vyre_code_op */
    uint8_t from[3]; /* vyre_code_from */
    uint32_t arg[3]; /* which one there; those that the operation has not are word 0 */
    uint32_t to;     /* word of the position */
    vyre_expr expr;  /* of the program */
} vyre_code;

typedef struct vyre_control_code {
    VYRE_VEC(vyre_code) list;
    VYRE_VEC(uint64_t) literals;
} vyre_control_code;

/* Appends an assignment: its variable v is word v, its expressions get words from `room` on. False
 * when out of memory. */
bool vyre_control_code_add(vyre_control_code *code, const vyre_program_view *program,
                           vyre_stmt assignment, uint32_t room, const vyre_allocator *allocator);
void vyre_control_code_finish(vyre_control_code *code, const vyre_allocator *allocator);

#endif
