/* Atomics, one lane after another, but for those whose old value nobody asks for (tally.c). Buffers
 * are shared with other threads, if there are others: locked operations. What a group has for
 * itself is touched by one thread only: a load and a store. Beyond the end nothing happens and 0
 * comes back.
 *
 * An operation that would leave the value as it is needs no lock, and most are of that kind where
 * many lanes reach one element (a vertex that was visited, the least of all): the value is loaded
 * first. Why that is right: a compare-and-swap that finds another value is a load, by definition. A
 * min, max, and, or of ordering `relaxed` that changes nothing orders nothing else, so at the
 * moment of the load it has happened; with another ordering it would also publish what the lane
 * wrote before, which a load does not, so there the lock stays. One thread looks first, too: what
 * is not stored need not be written back. */
#include <stdio.h>

#include "backend/cpu/emit.h"

typedef struct place {
    vyre_decl decl;
    vyre_type type;
    cpu_value address, value, expected;
    const char *ordering; /* LLVM's name */
} place;

static cpu_value combine(cpu_emit *e, vyre_atomic_op op, cpu_value old, cpu_value value,
                         cpu_value expected) {
    switch (op) {
    case VYRE_ATOMIC_ADD: return cpu_apply(e, VYRE_EXPR_ADD, old, value, old);
    case VYRE_ATOMIC_SUB: return cpu_apply(e, VYRE_EXPR_SUB, old, value, old);
    case VYRE_ATOMIC_MIN: return cpu_apply(e, VYRE_EXPR_MIN, old, value, old);
    case VYRE_ATOMIC_MAX: return cpu_apply(e, VYRE_EXPR_MAX, old, value, old);
    case VYRE_ATOMIC_AND: return cpu_apply(e, VYRE_EXPR_BIT_AND, old, value, old);
    case VYRE_ATOMIC_OR: return cpu_apply(e, VYRE_EXPR_BIT_OR, old, value, old);
    case VYRE_ATOMIC_XOR: return cpu_apply(e, VYRE_EXPR_BIT_XOR, old, value, old);
    case VYRE_ATOMIC_NAND: {
        cpu_value both = cpu_apply(e, VYRE_EXPR_BIT_AND, old, value, old);
        return cpu_apply(e, VYRE_EXPR_BIT_NOT, both, both, both);
    }
    case VYRE_ATOMIC_EXCHANGE:
    case VYRE_ATOMIC_STORE: return value;
    case VYRE_ATOMIC_CAS:
    case VYRE_ATOMIC_CAS_WEAK: {
        cpu_value same = cpu_compare(e, "eq", old, expected);
        return cpu_select(e, same, value, old);
    }
    case VYRE_ATOMIC_LOAD:
    case VYRE_ATOMIC_COUNT: break;
    }
    return old;
}

static cpu_value plainly(cpu_emit *e, vyre_atomic_op op, const place *at) {
    const char *type = cpu_type(e, at->type, false);
    const uint32_t size = vyre_type_size(at->type);
    cpu_value old =
        cpu_new(e, at->type, CPU_ONE, "load %s, ptr %s, align %u", type, at->address.text, size);
    if (op != VYRE_ATOMIC_LOAD) {
        cpu_value now = combine(e, op, old, at->value, at->expected);
        cpu_line(e, "  store %s %s, ptr %s, align %u", type, now.text, at->address.text, size);
    }
    return old;
}

/* LLVM's name of the operation; NULL: it has none that does the same. */
static const char *name_of(vyre_atomic_op op, vyre_type type) {
    const bool plus_minus = vyre_type_is_signed(type);
    if (vyre_type_is_float(type) && (op == VYRE_ATOMIC_MIN || op == VYRE_ATOMIC_MAX)) {
        return NULL; /* NaN and zeros are ours */
    }
    switch (op) {
    case VYRE_ATOMIC_ADD: return vyre_type_is_float(type) ? "fadd" : "add";
    case VYRE_ATOMIC_SUB: return "sub";
    case VYRE_ATOMIC_MIN: return plus_minus ? "min" : "umin";
    case VYRE_ATOMIC_MAX: return plus_minus ? "max" : "umax";
    case VYRE_ATOMIC_AND: return "and";
    case VYRE_ATOMIC_OR: return "or";
    case VYRE_ATOMIC_XOR: return "xor";
    case VYRE_ATOMIC_NAND: return "nand";
    case VYRE_ATOMIC_EXCHANGE: return "xchg";
    case VYRE_ATOMIC_CAS:
    case VYRE_ATOMIC_CAS_WEAK:
    case VYRE_ATOMIC_LOAD:
    case VYRE_ATOMIC_STORE:
    case VYRE_ATOMIC_COUNT: break;
    }
    return NULL;
}

/* By compare and exchange of the bits, until nobody came between. */
static cpu_value retried(cpu_emit *e, vyre_atomic_op op, const place *at) {
    const char *type = cpu_type(e, at->type, false);
    const vyre_type bits = at->type == VYRE_F32 ? VYRE_U32 : VYRE_U64;
    const char *word = cpu_type(e, bits, false);
    const uint32_t label = cpu_label(e), size = vyre_type_size(at->type);
    cpu_value first = cpu_new(e, bits, CPU_ONE, "load atomic %s, ptr %s monotonic, align %u", word,
                              at->address.text, size);
    const uint32_t found = e->next++;
    cpu_line(e, "  br label %%retry_from%u", label);
    cpu_line(e, "retry_from%u:", label);
    cpu_line(e, "  br label %%retry%u", label);
    cpu_line(e, "retry%u:", label);
    cpu_value was = cpu_new(e, bits, CPU_ONE, "phi %s [ %s, %%retry_from%u ], [ %%v%u, %%retry%u ]",
                            word, first.text, label, found, label);
    cpu_value old = cpu_new(e, at->type, CPU_ONE, "bitcast %s %s to %s", word, was.text, type);
    cpu_value now = combine(e, op, old, at->value, at->expected);
    cpu_value next = cpu_new(e, bits, CPU_ONE, "bitcast %s %s to %s", type, now.text, word);
    cpu_value pair =
        cpu_new(e, bits, CPU_ONE, "cmpxchg ptr %s, %s %s, %s %s %s %s, align %u", at->address.text,
                word, was.text, word, next.text, at->ordering, at->ordering, size);
    cpu_line(e, "  %%v%u = extractvalue { %s, i1 } %s, 0", found, word, pair.text);
    cpu_value done =
        cpu_new(e, VYRE_BOOL, CPU_ONE, "extractvalue { %s, i1 } %s, 1", word, pair.text);
    cpu_line(e, "  br i1 %s, label %%retried%u, label %%retry%u", done.text, label, label);
    cpu_line(e, "retried%u:", label);
    return old;
}

static cpu_value locked(cpu_emit *e, vyre_atomic_op op, const place *at) {
    const char *type = cpu_type(e, at->type, false), *name = name_of(op, at->type);
    const uint32_t size = vyre_type_size(at->type);
    if (e->alone) {
        return plainly(e, op, at);
    }
    if (name) {
        return cpu_new(e, at->type, CPU_ONE, "atomicrmw %s ptr %s, %s %s %s, align %u", name,
                       at->address.text, type, at->value.text, at->ordering, size);
    }
    if (op == VYRE_ATOMIC_LOAD) {
        return cpu_new(e, at->type, CPU_ONE, "load atomic %s, ptr %s %s, align %u", type,
                       at->address.text, at->ordering, size);
    }
    if (op == VYRE_ATOMIC_STORE) {
        cpu_line(e, "  store atomic %s %s, ptr %s %s, align %u", type, at->value.text,
                 at->address.text, at->ordering, size);
        return at->value; /* nobody asks for it */
    }
    if (vyre_type_is_float(at->type)) {
        return retried(e, op, at);
    }
    cpu_value pair = cpu_new(e, at->type, CPU_ONE, "cmpxchg ptr %s, %s %s, %s %s %s %s, align %u",
                             at->address.text, type, at->expected.text, type, at->value.text,
                             at->ordering, at->ordering, size);
    return cpu_new(e, at->type, CPU_ONE, "extractvalue { %s, i1 } %s, 0", type, pair.text);
}

/* Whether the operation may be a load where it changes nothing. */
static bool looks_first(vyre_atomic_op op, vyre_type type, bool relaxed) {
    const bool keeps = op == VYRE_ATOMIC_MIN || op == VYRE_ATOMIC_MAX || op == VYRE_ATOMIC_AND ||
                       op == VYRE_ATOMIC_OR;
    return op == VYRE_ATOMIC_CAS || op == VYRE_ATOMIC_CAS_WEAK ||
           (keeps && relaxed && !vyre_type_is_float(type));
}

/* With a look at the value, and a lock only if it changes. */
static cpu_value looked_at(cpu_emit *e, vyre_atomic_op op, const place *at) {
    const char *type = cpu_type(e, at->type, false);
    const bool swaps = op == VYRE_ATOMIC_CAS || op == VYRE_ATOMIC_CAS_WEAK;
    const uint32_t label = cpu_label(e);
    cpu_line(e, "  br label %%look_at%u", label);
    cpu_line(e, "look_at%u:", label);
    cpu_value seen = cpu_new(e, at->type, CPU_ONE, "load atomic %s, ptr %s %s, align %u", type,
                             at->address.text, at->ordering, vyre_type_size(at->type));
    cpu_value same = swaps ? at->expected : combine(e, op, seen, at->value, at->expected);
    cpu_value needs = cpu_compare(e, swaps ? "eq" : "ne", seen, same);
    cpu_line(e, "  br i1 %s, label %%lock%u, label %%seen%u", needs.text, label, label);
    cpu_line(e, "lock%u:", label);
    cpu_value old = locked(e, op, at);
    cpu_line(e, "  br label %%seen%u", label);
    cpu_line(e, "seen%u:", label);
    return cpu_new(e, at->type, CPU_ONE, "phi %s [ %s, %%look_at%u ], [ %s, %%lock%u ]", type,
                   seen.text, label, old.text, label);
}

static cpu_value shared(cpu_emit *e, const vyre_stmt_node *s, place *at) {
    const vyre_atomic_op op = (vyre_atomic_op)s->sub;
    const bool relaxed = s->ordering == VYRE_RELAXED;
    at->ordering = relaxed ? "monotonic" : "seq_cst";
    return looks_first(op, at->type, relaxed || e->alone) ? looked_at(e, op, at)
                                                          : locked(e, op, at);
}

/* In the worker's copy, if it has one (copies.c). */
static cpu_value copied(cpu_emit *e, const vyre_stmt_node *s, place *at, uint32_t copy,
                        cpu_value index) {
    const uint32_t label = cpu_label(e);
    cpu_note(e, e->stmt, "copies",
             "each worker has one of the buffer, where there are enough lanes because nothing else "
             "touches it, and nobody asks for the old value");
    cpu_line(e, "  br i1 %%copied%u, label %%own%u, label %%common%u\nown%u:", copy, label, label,
             label);
    place own = *at;
    cpu_value far = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", index.text);
    own.address = cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr %s, ptr %%copy%u, i64 %s",
                          cpu_type(e, at->type, false), copy, far.text);
    (void)plainly(e, (vyre_atomic_op)s->sub, &own);
    cpu_line(e, "  br label %%had%u\ncommon%u:", label, label);
    (void)shared(e, s, at);
    cpu_line(e, "  br label %%had%u\nhad%u:", label, label);
    return cpu_literal(at->type, 0); /* nobody asks for it */
}

/* Memory that other threads see. */
static cpu_value in_buffer(cpu_emit *e, const vyre_stmt_node *s, place *at, cpu_value index) {
    const uint32_t copy = index.known ? VYRE_NONE : cpu_copy_of(e, s->decl);
    return copy == VYRE_NONE ? shared(e, s, at) : copied(e, s, at, copy, index);
}

/* Of one lane: the old value, or 0 beyond the end. */
static cpu_value one_lane(cpu_emit *e, const vyre_stmt_node *s, cpu_value index, place *at) {
    const uint32_t label = cpu_label(e);
    const bool is_shared = e->bindings[s->decl].meaning == CPU_IS_BUFFER;
    const char *type = cpu_type(e, at->type, false);
    cpu_need_base(e, s->decl);
    cpu_value inside =
        cpu_is_proven(e, s->decl, &index)
            ? cpu_literal(VYRE_BOOL, 1)
            : cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp ult i32 %s, %%n%u", index.text, s->decl);
    cpu_line(e, "  br label %%before%u", label);
    cpu_line(e, "before%u:", label);
    cpu_line(e, "  br i1 %s, label %%atomic%u, label %%behind%u", inside.text, label, label);
    cpu_line(e, "atomic%u:", label);
    at->address = cpu_address(e, s->decl, index);
    cpu_value old = is_shared ? in_buffer(e, s, at, index) : plainly(e, (vyre_atomic_op)s->sub, at);
    cpu_line(e, "  br label %%done_atomic%u", label);
    cpu_line(e, "done_atomic%u:", label);
    cpu_line(e, "  br label %%behind%u", label);
    cpu_line(e, "behind%u:", label);
    return cpu_new(e, at->type, CPU_ONE, "phi %s [ %s, %%before%u ], [ %s, %%done_atomic%u ]", type,
                   cpu_literal(at->type, 0).text, label, old.text, label);
}

/* The operation of a statement in a gang. */
typedef struct operands {
    vyre_type type;
    cpu_value index, value, expected;
    uint32_t result; /* number of the vector of old values; 0: nobody asks for it */
} operands;

/* What one lane has: vectors are taken apart slowly, so from memory where it still is. */
static cpu_value lane_value(cpu_emit *e, const cpu_value *v, const char *lane) {
    return v->loaded ? cpu_load_lane(e, v, lane) : cpu_extract(e, *v, lane);
}

static void lane_of_gang(cpu_emit *e, const vyre_stmt_node *s, const operands *o,
                         const char *lane) {
    place at = {.decl = s->decl,
                .type = o->type,
                .value = lane_value(e, &o->value, lane),
                .expected = lane_value(e, &o->expected, lane)};
    cpu_value old = one_lane(e, s, lane_value(e, &o->index, lane), &at);
    if (o->result) {
        cpu_value element =
            cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr %s, ptr %%t%u, i32 0, i32 %s",
                    cpu_type(e, o->type, true), o->result, lane);
        cpu_line(e, "  store %s %s, ptr %s", cpu_type(e, o->type, false), old.text, element.text);
    }
}

cpu_value cpu_atomic_once(cpu_emit *e, const vyre_stmt_node *s, cpu_value index, cpu_value value) {
    place at = {.decl = s->decl,
                .type = (vyre_type)e->p->decls[s->decl].type,
                .value = value,
                .expected = value};
    e->is_proven = e->proven[cpu_stmt_site(e, e->stmt)];
    return one_lane(e, s, index, &at);
}

void cpu_emit_atomic(cpu_emit *e, const vyre_stmt_node *s) {
    enum { UNROLLED = 16 }; /* the widest gang whose lanes have code of their own, if all do it */
    operands o = {.type = (vyre_type)e->p->decls[s->decl].type, .index = cpu_operand(e, s, 0)};
    o.value = s->arg[1] == VYRE_NONE ? cpu_literal(o.type, 0) : cpu_operand(e, s, 1);
    if (cpu_tally(e, s, &o.index, o.value) || cpu_append_begin(e, s, o.index)) {
        return;
    }
    if (e->alone && e->bindings[s->decl].meaning == CPU_IS_BUFFER) {
        cpu_note(e, e->stmt, "atomic", "a load and a store, no lock because one thread runs all");
    }
    if (e->width > 1 && o.index.hold == CPU_ONE && cpu_tally_joins(e, s)) {
        (void)cpu_atomic_once(e, s, o.index, cpu_tally_join(e, s, o.value));
        return;
    }
    e->is_proven = e->proven[cpu_stmt_site(e, e->stmt)];
    o.expected = s->arg[2] == VYRE_NONE ? o.value : cpu_operand(e, s, 2);
    if (e->width == 1) {
        place at = {.decl = s->decl, .type = o.type, .value = o.value, .expected = o.expected};
        cpu_value old = one_lane(e, s, o.index, &at);
        if (s->var != VYRE_NONE) {
            cpu_set(e, s->var, old, true);
        }
        return;
    }
    if (o.index.loaded || o.value.loaded) {
        cpu_note(e, e->stmt, "atomic",
                 "lane by lane, what a lane has comes from memory because it lies there and the "
                 "segment does not write it");
    }
    const char *vector = cpu_type(e, o.type, true);
    if (s->var != VYRE_NONE) {
        o.result = e->next++;
        cpu_head(e, "  %%t%u = alloca %s, align 64", o.result, vector);
    }
    if (!cpu_is_masked(e) && e->width <= UNROLLED) {
        for (uint32_t i = 0; i < e->width; i++) {
            char lane[12];
            (void)snprintf(lane, sizeof lane, "%u", i);
            lane_of_gang(e, s, &o, lane);
        }
    } else {
        uint32_t loop = 0;
        cpu_value lane = cpu_lanes_begin(e, &loop);
        lane_of_gang(e, s, &o, lane.text);
        cpu_lanes_end(e, loop);
    }
    if (s->var != VYRE_NONE) {
        cpu_set(e, s->var,
                cpu_new(e, o.type, CPU_EACH, "load %s, ptr %%t%u, align 64", vector, o.result),
                true);
    }
}
