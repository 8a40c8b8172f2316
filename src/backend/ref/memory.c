/* Memory: elements, atomics, async copies, collectives on one rank, swaps. Lanes run one statement
 * at a time, so every access is sequentially consistent, and an atomic is a load and a store. Every
 * index is checked: a load out of bounds gives 0, a store or an atomic there does nothing. */
#include "backend/ref/convert.h"
#include "backend/ref/machine.h"

uint64_t vyre_ref_memory_load(vyre_ref_machine *m, const vyre_ref_lane *lane, vyre_decl decl,
                              uint32_t index) {
    const vyre_ref_array *array = &m->arrays[decl];
    if (index >= array->count) {
        return 0;
    }
    if (array->shadow) {
        vyre_ref_races_touch(m, lane, decl, index, VYRE_REF_READ, 0);
    }
    const uint8_t *base = vyre_ref_base(m, array, lane);
    return vyre_ref_load((vyre_type)array->type, base + (size_t)index * array->size);
}

void vyre_ref_memory_store(vyre_ref_machine *m, const vyre_ref_lane *lane, vyre_decl decl,
                           uint32_t index, uint64_t value) {
    const vyre_ref_array *array = &m->arrays[decl];
    if (index >= array->count) {
        return; /* told where it was evaluated */
    }
    uint8_t *element = vyre_ref_base(m, array, lane) + (size_t)index * array->size;
    vyre_ref_store((vyre_type)array->type, element, value);
    if (array->shadow) {
        /* What counts is what is stored: two values may round to the same element. */
        uint64_t stored = vyre_ref_load((vyre_type)array->type, element);
        vyre_ref_races_touch(m, lane, decl, index, VYRE_REF_WRITE, stored);
    }
}

static uint64_t combine(vyre_atomic_op op, vyre_type type, uint64_t old, uint64_t value,
                        uint64_t expected) {
    switch (op) {
    case VYRE_ATOMIC_ADD: return vyre_ref_apply(VYRE_EXPR_ADD, type, old, value, 0);
    case VYRE_ATOMIC_SUB: return vyre_ref_apply(VYRE_EXPR_SUB, type, old, value, 0);
    case VYRE_ATOMIC_MIN: return vyre_ref_apply(VYRE_EXPR_MIN, type, old, value, 0);
    case VYRE_ATOMIC_MAX: return vyre_ref_apply(VYRE_EXPR_MAX, type, old, value, 0);
    case VYRE_ATOMIC_AND: return old & value;
    case VYRE_ATOMIC_OR: return old | value;
    case VYRE_ATOMIC_XOR: return old ^ value;
    case VYRE_ATOMIC_NAND: return ~(old & value);
    case VYRE_ATOMIC_EXCHANGE:
    case VYRE_ATOMIC_STORE: return value;
    case VYRE_ATOMIC_LOAD: return old;
    case VYRE_ATOMIC_CAS:
    case VYRE_ATOMIC_CAS_WEAK: return old == expected ? value : old;
    case VYRE_ATOMIC_COUNT: break;
    }
    return old;
}

uint64_t vyre_ref_memory_atomic(vyre_ref_machine *m, const vyre_ref_lane *lane,
                                const vyre_stmt_node *s) {
    const vyre_ref_array *array = &m->arrays[s->decl];
    uint32_t index = (uint32_t)vyre_ref_operand(m, s, s->arg[0]);
    uint64_t value = s->arg[1] == VYRE_NONE ? 0 : vyre_ref_operand(m, s, s->arg[1]);
    uint64_t expected = s->arg[2] == VYRE_NONE ? 0 : vyre_ref_operand(m, s, s->arg[2]);
    const bool writes = s->sub != VYRE_ATOMIC_LOAD;
    if (index >= array->count) {
        vyre_ref_outside(m, lane, s->decl, s->first_expr, s->arg[0], writes);
        return 0;
    }
    if (array->shadow) {
        vyre_ref_races_touch(m, lane, s->decl, index,
                             writes ? VYRE_REF_ATOMIC : VYRE_REF_ATOMIC_READ, 0);
    }
    vyre_type type = (vyre_type)array->type;
    uint8_t *element = vyre_ref_base(m, array, lane) + (size_t)index * array->size;
    uint64_t old = vyre_ref_load(type, element);
    if (writes) {
        vyre_ref_store(type, element, combine((vyre_atomic_op)s->sub, type, old, value, expected));
    }
    return old;
}

/* Bytes [offset, offset + size) of the array were read or written by the lane's statement. */
static void touch_bytes(vyre_ref_machine *m, const vyre_ref_lane *lane, vyre_decl decl,
                        size_t offset, size_t size, vyre_ref_touch touch) {
    const vyre_ref_array *array = &m->arrays[decl];
    if (!array->shadow || size == 0) {
        return;
    }
    const uint8_t *base = vyre_ref_base(m, array, lane);
    for (size_t i = offset / array->size; i * array->size < offset + size; i++) {
        uint64_t value = vyre_ref_load((vyre_type)array->type, base + i * array->size);
        vyre_ref_races_touch(m, lane, decl, (uint32_t)i, touch, value);
    }
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t bytes_after(const vyre_ref_array *array, uint64_t offset) {
    size_t bytes = (size_t)array->count * array->size;
    return offset < bytes ? bytes - (size_t)offset : 0;
}

static void drop(vyre_ref_machine *m, vyre_ref_transfer *transfer) {
    vyre_free(&m->allocator, transfer->bytes, transfer->size, 1);
    *transfer = (vyre_ref_transfer){0};
}

/* What the destination would clip is not captured, so that a transfer never needs more memory than
 * its destination. A begin that is reached again before its wait starts over. */
vyre_status vyre_ref_async_begin(vyre_ref_machine *m, vyre_ref_lane *lane,
                                 const vyre_stmt_node *s) {
    const vyre_ref_array *source = &m->arrays[s->decl], *destination = &m->arrays[s->decl2];
    uint64_t offset = vyre_ref_operand(m, s, s->arg[0]);
    uint64_t size = vyre_ref_operand(m, s, s->arg[1]);
    uint64_t from = s->op == VYRE_STMT_ASYNC_LOAD ? offset : 0;
    uint64_t to = s->op == VYRE_STMT_ASYNC_LOAD ? 0 : offset;
    vyre_ref_transfer *transfer = &lane->transfers[m->aux[lane->pc]];
    drop(m, transfer);
    size_t room = bytes_after(destination, to);
    size_t captured = size < room ? (size_t)size : room;
    size_t present = smaller(captured, bytes_after(source, from));
    uint8_t *bytes = vyre_alloc_zeroed(&m->allocator, captured, 1);
    if (!bytes) {
        return vyre_fail_memory(m->diag, "an async copy");
    }
    if (present) {
        memcpy(bytes, vyre_ref_base(m, source, lane) + from, present);
        touch_bytes(m, lane, s->decl, (size_t)from, present, VYRE_REF_READ);
    }
    *transfer = (vyre_ref_transfer){
        .bytes = bytes, .size = captured, .offset = captured ? (size_t)to : 0, .decl = s->decl2};
    return VYRE_OK;
}

void vyre_ref_async_wait(vyre_ref_machine *m, vyre_ref_lane *lane) {
    vyre_ref_transfer *transfer = &lane->transfers[m->aux[lane->pc]];
    if (transfer->size) {
        uint8_t *base = vyre_ref_base(m, &m->arrays[transfer->decl], lane);
        memcpy(base + transfer->offset, transfer->bytes, transfer->size);
        touch_bytes(m, lane, transfer->decl, transfer->offset, transfer->size, VYRE_REF_WRITE);
    }
    drop(m, transfer);
}

void vyre_ref_async_drop(vyre_ref_machine *m, vyre_ref_lane *lane) {
    for (uint32_t i = 0; i < m->transfer_count; i++) {
        drop(m, &lane->transfers[i]);
    }
}

void vyre_ref_collective(vyre_ref_machine *m, const vyre_stmt_node *s) {
    if (s->op == VYRE_STMT_ALL_GATHER || s->op == VYRE_STMT_REDUCE_SCATTER) {
        const vyre_ref_array *in = &m->arrays[s->decl], *out = &m->arrays[s->decl2];
        size_t bytes = smaller((size_t)in->count * in->size, (size_t)out->count * out->size);
        if (bytes) {
            memmove(out->data, in->data, bytes);
        }
    } else if (s->op == VYRE_STMT_SWAP) { /* of one size: the dispatch has looked */
        uint8_t *x = m->arrays[s->decl].data, *y = m->arrays[s->decl2].data;
        const size_t bytes = (size_t)m->arrays[s->decl].count * m->arrays[s->decl].size;
        for (size_t i = 0; i < bytes; i++) {
            const uint8_t kept = x[i];
            x[i] = y[i];
            y[i] = kept;
        }
    }
}
