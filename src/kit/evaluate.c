/* Evaluation of scalars. The operations that loops and conditions are made of are done here as C
 * does them on 32 bits, with the results of the folder bit for bit; it does all others. Values are
 * literal bits, as the folder's: zero-extended. A step costs what it has instructions, and a read
 * for each load; nothing depends on the size of the program. */
#include "kit/evaluate.h"

#include <string.h>

#include "base/half.h"
#include "ir/fold.h"
#include "split/module.h"

static uint64_t id(const vyre_program_view *p, const vyre_module_launch *pass,
                   const vyre_expr_node *n) {
    const uint32_t size = p->workgroup[n->axis], groups = pass->source->grid[n->axis];
    switch ((vyre_builtin)n->sub) {
    case VYRE_BUILTIN_NUM_GROUPS: return groups;
    case VYRE_BUILTIN_GROUP_SIZE: return size;
    case VYRE_BUILTIN_GLOBAL_SIZE: return (uint32_t)(groups * size);
    case VYRE_BUILTIN_GROUP_ID:
    case VYRE_BUILTIN_GLOBAL_ID: return pass->group[n->axis]; /* of a group of one along the axis */
    case VYRE_BUILTIN_SUBGROUP_SIZE: return VYRE_SUBGROUP_SIZE_FIXED;
    case VYRE_BUILTIN_LOCAL_ID: /* likewise */
    case VYRE_BUILTIN_SUBGROUP_LOCAL_ID:
    case VYRE_BUILTIN_COUNT: break;
    }
    return 0;
}

/* The bits of an element as a value of the type that it widens to. */
static uint64_t widen(vyre_type type, const unsigned char bytes[8]) {
    uint64_t bits = 0;
    memcpy(&bits, bytes, vyre_type_size(type));
    switch ((int)type) {
    case VYRE_BOOL: return bits != 0;
    case VYRE_I8: return ((bits ^ 0x80) - 0x80) & UINT32_MAX;
    case VYRE_I16: return ((bits ^ 0x8000) - 0x8000) & UINT32_MAX;
    case VYRE_F16: return vyre_f32_bits(vyre_f16_to_f32((uint16_t)bits));
    case VYRE_BF16: return vyre_f32_bits(vyre_bf16_to_f32((uint16_t)bits));
    default: return bits;
    }
}

typedef struct evaluation {
    const vyre_position *at;
    const vyre_module_launch *pass;
    const vyre_reader *reader;
    vyre_diag *diag;
} evaluation;

static vyre_status load(const evaluation *ev, const vyre_expr_node *n, uint64_t index,
                        uint64_t *out) {
    const vyre_program_view *p = vyre_program_get(ev->at->module->control);
    const vyre_launch *source = ev->pass->source;
    const bool is_made = n->ref == p->decl_count - 1;
    const vyre_type type = (vyre_type)p->decls[n->ref].type;
    const uint64_t count = is_made ? ev->at->module->view.made_words : source->counts[n->ref];
    const vyre_memory memory = is_made ? vyre_position_place(ev->at, ev->pass, VYRE_PLACE_MADE)
                                       : vyre_position_memory(ev->at, ev->pass, n->ref);
    const uint32_t size = vyre_type_size(type);
    unsigned char bytes[8] = {0};
    if (!(index < count)) {
        *out = 0;
        return VYRE_OK;
    }
    vyre_status status =
        ev->reader->read(ev->reader->user, memory, index * size, bytes, size, ev->diag);
    if (status == VYRE_OK) {
        *out = widen(type, bytes);
    }
    return status;
}

/* What is not done by the loop below, with all operands of the instruction. */
static vyre_status evaluate_other(const evaluation *ev, const vyre_code *c,
                                  const uint64_t operands[3], uint64_t *out) {
    const vyre_program_view *p = vyre_program_get(ev->at->module->control);
    const vyre_expr_node *n = &p->exprs[c->expr];
    switch ((int)c->op) {
    case VYRE_CODE_LOAD: return load(ev, n, operands[0], out);
    case VYRE_CODE_LEN: *out = ev->pass->source->counts[n->ref]; return VYRE_OK;
    case VYRE_CODE_ID: *out = id(p, ev->pass, n); return VYRE_OK;
    default: break;
    }
    (void)vyre_fold(p, c->expr, operands, out); /* splitting admits nothing else */
    return VYRE_OK;
}

vyre_status vyre_evaluate(const vyre_position *at, const vyre_module_launch *pass,
                          const vyre_reader *reader, uint32_t begin, uint32_t end,
                          vyre_diag *diag) {
    const vyre_control_code *code = &at->module->code;
    uint64_t *words = at->words;
    const uint64_t *const from[VYRE_CODE_FROMS] = {
        [VYRE_CODE_WORDS] = words,
        [VYRE_CODE_LITERALS] = code->literals.data,
        [VYRE_CODE_PARAMS] = pass->source->values,
    };
    const vyre_code *last = code->list.data + end;
    for (const vyre_code *c = code->list.data + begin; c < last; c++) {
        const uint64_t x = from[c->from[0]][c->arg[0]], y = from[c->from[1]][c->arg[1]];
        const uint32_t a = (uint32_t)x, b = (uint32_t)y;
        uint64_t *out = &words[c->to];
        switch ((vyre_code_op)c->op) {
        case VYRE_CODE_FOLD:
        case VYRE_CODE_LOAD:
        case VYRE_CODE_LEN:
        case VYRE_CODE_ID: {
            const evaluation ev = {.at = at, .pass = pass, .reader = reader, .diag = diag};
            const uint64_t operands[] = {x, y, from[c->from[2]][c->arg[2]]};
            vyre_status status = evaluate_other(&ev, c, operands, out);
            if (status != VYRE_OK) {
                return status;
            }
            break;
        }
        case VYRE_CODE_MOVE: *out = x; break;
        case VYRE_CODE_NOT: *out = x == 0; break;
        case VYRE_CODE_AND: *out = x != 0 && y != 0; break;
        case VYRE_CODE_OR: *out = x != 0 || y != 0; break;
        case VYRE_CODE_SELECT: *out = x ? y : from[c->from[2]][c->arg[2]]; break;
        case VYRE_CODE_IS_TRUE: *out = x != 0; break;
        case VYRE_CODE_SAME: *out = x == y; break;
        case VYRE_CODE_DIFFERENT: *out = x != y; break;
        case VYRE_CODE_BIT_AND: *out = x & y; break;
        case VYRE_CODE_BIT_OR: *out = x | y; break;
        case VYRE_CODE_BIT_XOR: *out = x ^ y; break;
        case VYRE_CODE_EQ: *out = a == b; break;
        case VYRE_CODE_NE: *out = a != b; break;
        case VYRE_CODE_BIT_NOT: *out = ~a; break;
        case VYRE_CODE_NEG: *out = 0u - a; break;
        case VYRE_CODE_ADD: *out = a + b; break;
        case VYRE_CODE_SUB: *out = a - b; break;
        case VYRE_CODE_MUL: *out = (uint32_t)(a * b); break;
        case VYRE_CODE_SHL: *out = a << (b & 31); break;
        case VYRE_CODE_SHR: *out = a >> (b & 31); break;
        case VYRE_CODE_LT: *out = a < b; break;
        case VYRE_CODE_LE: *out = a <= b; break;
        case VYRE_CODE_DIV: *out = b == 0 ? UINT32_MAX : a / b; break;
        case VYRE_CODE_REM: *out = b == 0 ? 0 : a % b; break;
        case VYRE_CODE_SHR_SIGNED: *out = (uint32_t)((int32_t)a >> (b & 31)); break;
        case VYRE_CODE_LT_SIGNED: *out = (int32_t)a < (int32_t)b; break;
        case VYRE_CODE_LE_SIGNED: *out = (int32_t)a <= (int32_t)b; break;
        }
    }
    return VYRE_OK;
}
