/* Buffers that workers have copies of while a launch runs.
 *
 * Where lanes add to elements that they find by data, lines go from core to core, and every
 * addition locks one. Instead each worker adds to zeros of its own, without locks; when all are
 * done, they meet, and each takes a part of the elements and puts the copies together there.
 *
 * Why that is right: as in tally.c. The segment has nothing but atomics of one kind on the buffer,
 * of which nobody sees the old value, so nobody looks in between, and sums and bits of integers are
 * the same however they are put together. Kinds for which 0 changes nothing: copies begin as zeros
 * and are left as zeros.
 *
 * It costs memory, and a walk over all elements: only where a launch has enough lanes for that
 * (run.c). Smaller launches lock, which the code can, too. */
#include "backend/cpu/kernel.h"
#include "ir/touches.h"

static bool begins_as_zero(vyre_atomic_op op, vyre_type type) {
    return op == VYRE_ATOMIC_ADD || op == VYRE_ATOMIC_SUB || op == VYRE_ATOMIC_OR ||
           op == VYRE_ATOMIC_XOR || (op == VYRE_ATOMIC_MAX && !vyre_type_is_signed(type));
}

/* How many atomics of one kind the program has on elements of the memory that are not known before;
 * 0: it does something else to it. */
static uint32_t count_sites(const vyre_program_view *p, vyre_decl decl, uint8_t *out_op) {
    uint32_t sites = 0;
    bool any = false;
    for (vyre_stmt i = 0; i < p->stmt_count; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        const bool joins = s->op == VYRE_STMT_ATOMIC && s->decl == decl && s->var == VYRE_NONE &&
                           s->decl2 != decl && (!any || s->sub == *out_op);
        if ((!joins && (s->decl == decl || s->decl2 == decl)) || vyre_stmt_loads(p, s, decl)) {
            return 0;
        }
        *out_op = joins ? s->sub : *out_op;
        sites += joins && p->exprs[s->arg[0]].op != VYRE_EXPR_LITERAL;
        any |= joins;
    }
    return sites;
}

void cpu_find_copies(const vyre_program_view *p, cpu_copies *out) {
    *out = (cpu_copies){0};
    for (vyre_decl d = 0; d < p->decl_count && out->count < CPU_MOST_COPIES; d++) {
        const vyre_type type = (vyre_type)p->decls[d].type;
        const uint8_t role = p->decls[d].role;
        uint8_t op = 0;
        const bool is_buffer = role == VYRE_INOUT || role == VYRE_OUT || role == VYRE_SCRATCH;
        const uint32_t sites = is_buffer && vyre_type_is_integer(type) && vyre_type_size(type) >= 4
                                   ? count_sites(p, d, &op)
                                   : 0;
        if (sites > 0 && begins_as_zero((vyre_atomic_op)op, type)) {
            out->of[out->count++] = (cpu_copy){
                .decl = d, .op = op, .size = (uint8_t)vyre_type_size(type), .sites = sites};
        }
    }
}

uint32_t cpu_copy_of(const cpu_emit *e, vyre_decl decl) {
    for (uint32_t i = 0; !e->alone && i < e->copies.count; i++) {
        if (e->bindings[decl].meaning == CPU_IS_BUFFER &&
            e->bindings[decl].number == e->copies.of[i].decl) {
            return i;
        }
    }
    return VYRE_NONE;
}

void cpu_write_copies(const cpu_emit *e, vyre_text *out) {
    for (uint32_t i = 0; !e->alone && i < e->copies.count; i++) {
        vyre_text_printf(out,
                         "  %%at_copy%u = getelementptr i8, ptr %%ctx, i64 %zu\n"
                         "  %%copy%u = load ptr, ptr %%at_copy%u\n"
                         "  %%copied%u = icmp ne ptr %%copy%u, null\n",
                         i, CPU_FIELD(copies) + i * sizeof(void *), i, i, i, i);
    }
}

/* Elements of all copies are put together in the first operand, and become 0. */
#define JOIN(type, expression)                                                                     \
    do {                                                                                           \
        type *a = to, *b = copy;                                                                   \
        for (uint64_t i = from; i < end; i++) {                                                    \
            a[i] = (expression);                                                                   \
            b[i] = 0;                                                                              \
        }                                                                                          \
    } while (0)
#define JOIN_SIZES(expression)                                                                     \
    do {                                                                                           \
        if (what->size == 8) {                                                                     \
            JOIN(uint64_t, expression);                                                            \
        } else {                                                                                   \
            JOIN(uint32_t, expression);                                                            \
        }                                                                                          \
    } while (0)

void cpu_join_copy(const cpu_copy *what, void *to, void *copy, uint64_t from, uint64_t end) {
    switch ((int)what->op) {
    case VYRE_ATOMIC_OR: JOIN_SIZES(a[i] | b[i]); break;
    case VYRE_ATOMIC_XOR: JOIN_SIZES(a[i] ^ b[i]); break;
    case VYRE_ATOMIC_MAX: JOIN_SIZES(a[i] > b[i] ? a[i] : b[i]); break;
    default: JOIN_SIZES(a[i] + b[i]); break; /* what was taken off is below zero */
    }
}
