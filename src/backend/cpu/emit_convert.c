/* Conversions, and what elements look like in memory. Float to integer is LLVM's saturating
 * intrinsic, which is the language's rule word for word. f16 has instructions from AVX2 on; where
 * there are none, and for conversions that would round twice (f64 and integers to f16 and bf16),
 * the context has functions. */
#include <stdio.h>

#include "backend/cpu/emit.h"

static cpu_value convert(cpu_emit *e, const char *op, vyre_type to, cpu_value v) {
    return cpu_new(e, to, (cpu_hold)v.hold, "%s %s %s to %s", op, cpu_type_of(e, &v), v.text,
                   cpu_type(e, to, v.hold == CPU_EACH));
}

static cpu_value constant(cpu_emit *e, const cpu_value *like, uint64_t bits) {
    cpu_value v = cpu_literal((vyre_type)like->type, bits);
    return like->hold == CPU_EACH ? cpu_each(e, v) : v;
}

/* bf16 bits in the low half of a u32: the upper half, rounded to nearest even. */
static cpu_value narrow_brain(cpu_emit *e, cpu_value v) {
    cpu_value nan = cpu_compare(e, "uno", v, v);
    cpu_value bits = convert(e, "bitcast", VYRE_U32, v);
    cpu_value odd = cpu_binary(e, "lshr", VYRE_U32, bits, constant(e, &bits, 16));
    odd = cpu_binary(e, "and", VYRE_U32, odd, constant(e, &bits, 1));
    cpu_value sum = cpu_binary(e, "add", VYRE_U32, bits, constant(e, &bits, 0x7fff));
    sum = cpu_binary(e, "add", VYRE_U32, sum, odd);
    sum = cpu_binary(e, "lshr", VYRE_U32, sum, constant(e, &bits, 16));
    return cpu_select(e, nan, constant(e, &bits, 0x7fc0), sum);
}

static cpu_value widen_brain(cpu_emit *e, cpu_value bits) {
    bits = cpu_binary(e, "shl", VYRE_U32, bits, constant(e, &bits, 16));
    return convert(e, "bitcast", VYRE_F32, bits);
}

/* To a small float and back to f32. */
static cpu_value round_small(cpu_emit *e, vyre_type to, cpu_value v) {
    if (v.type == VYRE_F32 && to == VYRE_BF16) {
        return widen_brain(e, narrow_brain(e, v));
    }
    if (v.type == VYRE_F32 && e->isa != CPU_SSE2) {
        return convert(e, "fpext", VYRE_F32, convert(e, "fptrunc", VYRE_F16, v));
    }
    const vyre_type from = (vyre_type)v.type;
    cpu_value bits = v;
    if (vyre_type_is_float(from)) {
        bits = convert(e, "bitcast", from == VYRE_F32 ? VYRE_U32 : VYRE_U64, v);
    }
    if (vyre_type_size((vyre_type)bits.type) < 8 || bits.type == VYRE_BOOL) {
        bits = convert(e, "zext", VYRE_U64, bits);
    }
    cpu_value operands[] = {cpu_literal(VYRE_U64, from), cpu_literal(VYRE_U64, to), bits};
    cpu_value result = cpu_helper(e, CPU_FIELD(cast), VYRE_U64, operands, 3);
    return convert(e, "bitcast", VYRE_F32, convert(e, "trunc", VYRE_U32, result));
}

static cpu_value float_to_integer(cpu_emit *e, vyre_type to, cpu_value v) {
    const bool each = v.hold == CPU_EACH;
    cpu_value r =
        cpu_new(e, to, (cpu_hold)v.hold, "call %s @llvm.%s.sat.%s.%s(%s %s)", cpu_type(e, to, each),
                vyre_type_is_signed(to) ? "fptosi" : "fptoui", cpu_suffix(e, to, each),
                cpu_suffix(e, (vyre_type)v.type, each), cpu_type_of(e, &v), v.text);
    return r;
}

/* A small integer as the computing type that it widens to. */
static cpu_value extend(cpu_emit *e, vyre_type from, cpu_value v) {
    if (vyre_type_size(from) >= 4) {
        return v;
    }
    v.type = (uint8_t)from;
    return convert(e, vyre_type_is_signed(from) ? "sext" : "zext", vyre_type_widened(from), v);
}

static cpu_value integer_to_integer(cpu_emit *e, vyre_type to, cpu_value v) {
    const uint32_t from_size = v.type == VYRE_BOOL ? 0 : vyre_type_size((vyre_type)v.type);
    const uint32_t to_size = vyre_type_size(to);
    if (from_size == to_size) {
        v.type = (uint8_t)to;
        return v;
    }
    v = cpu_flat(e, v);
    v.known = false;
    if (from_size > to_size) {
        return extend(e, to, convert(e, "trunc", to, v));
    }
    return convert(e, vyre_type_is_signed((vyre_type)v.type) ? "sext" : "zext", to, v);
}

cpu_value cpu_cast(cpu_emit *e, vyre_type to, cpu_value v) {
    const vyre_type from = (vyre_type)v.type;
    if (from == to) {
        return v;
    }
    const bool from_float = vyre_type_is_float(from), to_float = vyre_type_is_float(to);
    if (to != VYRE_BOOL && !from_float && !to_float) {
        return from == VYRE_BOOL && vyre_type_size(to) < 4
                   ? convert(e, "zext", vyre_type_widened(to), v)
                   : integer_to_integer(e, to, v);
    }
    v = cpu_flat(e, v);
    v.known = false;
    if (to == VYRE_BOOL) {
        return cpu_compare(e, from_float ? "une" : "ne", v, constant(e, &v, 0));
    }
    if (to == VYRE_F16 || to == VYRE_BF16) {
        return round_small(e, to, v);
    }
    if (from_float && to_float) {
        return convert(e, to == VYRE_F64 ? "fpext" : "fptrunc", to, v);
    }
    if (from_float) {
        return extend(e, to, float_to_integer(e, to, v));
    }
    return convert(e, vyre_type_is_signed(from) ? "sitofp" : "uitofp", to, v);
}

cpu_value cpu_bitcast(cpu_emit *e, vyre_type to, cpu_value v) {
    if (!vyre_type_is_float((vyre_type)v.type) && !vyre_type_is_float(to)) {
        v.type = (uint8_t)to;
        return v;
    }
    v = cpu_flat(e, v);
    return v.type == (uint8_t)to ? v : convert(e, "bitcast", to, v);
}

const char *cpu_stored(vyre_type type) {
    static const char *const names[VYRE_TYPE_COUNT] = {
        [VYRE_VOID] = "i8", [VYRE_BOOL] = "i32", [VYRE_U32] = "i32",   [VYRE_I32] = "i32",
        [VYRE_U64] = "i64", [VYRE_I64] = "i64",  [VYRE_F32] = "float", [VYRE_F64] = "double",
        [VYRE_U8] = "i8",   [VYRE_I8] = "i8",    [VYRE_U16] = "i16",   [VYRE_I16] = "i16",
        [VYRE_F16] = "i16", [VYRE_BF16] = "i16"};
    return names[type];
}

cpu_value cpu_widen(cpu_emit *e, vyre_type type, const cpu_value *stored) {
    cpu_value v = *stored;
    if (type == VYRE_BOOL) {
        v.type = VYRE_U32;
        return cpu_compare(e, "ne", v, constant(e, &v, 0));
    }
    if (type == VYRE_BF16) {
        v.type = VYRE_U16;
        return widen_brain(e, convert(e, "zext", VYRE_U32, v));
    }
    if (type == VYRE_F16) {
        v.type = VYRE_U16;
        if (e->isa != CPU_SSE2) {
            return convert(e, "fpext", VYRE_F32, convert(e, "bitcast", VYRE_F16, v));
        }
        v = convert(e, "zext", VYRE_U32, v);
        return cpu_helper(e, CPU_FIELD(widen_half), VYRE_F32, &v, 1);
    }
    return extend(e, type, v);
}

/* The value, of which LLVM does not know how it came about: it would make `max` of a literal and an
 * f16 one of two f16, and that a call of fmaxf. */
static cpu_value hidden(cpu_emit *e, cpu_value v) {
    const bool each = v.hold == CPU_EACH;
    return cpu_new(e, VYRE_F32, (cpu_hold)v.hold, "call %s @llvm.arithmetic.fence.%s(%s %s)",
                   cpu_type_of(e, &v), cpu_suffix(e, VYRE_F32, each), cpu_type_of(e, &v), v.text);
}

cpu_value cpu_narrow(cpu_emit *e, vyre_type type, cpu_value v) {
    if (v.thin && (vyre_type_size(type) < 4 && !vyre_type_is_float(type))) {
        return cpu_thin_store(e, type, v);
    }
    v = cpu_flat(e, cpu_full(e, v));
    switch (type) {
    case VYRE_BOOL: return convert(e, "zext", VYRE_U32, v);
    case VYRE_U8:
    case VYRE_I8:
    case VYRE_U16:
    case VYRE_I16: return convert(e, "trunc", type, v);
    case VYRE_BF16: return convert(e, "trunc", VYRE_U16, narrow_brain(e, v));
    case VYRE_F16:
        return e->isa != CPU_SSE2
                   ? convert(e, "bitcast", VYRE_U16, convert(e, "fptrunc", VYRE_F16, hidden(e, v)))
                   : convert(e, "trunc", VYRE_U16,
                             cpu_helper(e, CPU_FIELD(narrow_half), VYRE_U32, &v, 1));
    case VYRE_VOID:
    case VYRE_U32:
    case VYRE_I32:
    case VYRE_U64:
    case VYRE_I64:
    case VYRE_F32:
    case VYRE_F64:
    case VYRE_TYPE_COUNT: break;
    }
    return v;
}
