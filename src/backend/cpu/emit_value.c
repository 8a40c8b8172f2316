/* Values as text. */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/emit.h"

static const char *const scalars[VYRE_TYPE_COUNT] = {
    [VYRE_VOID] = "void", [VYRE_BOOL] = "i1", [VYRE_U32] = "i32",   [VYRE_I32] = "i32",
    [VYRE_U64] = "i64",   [VYRE_I64] = "i64", [VYRE_F32] = "float", [VYRE_F64] = "double",
    [VYRE_U8] = "i8",     [VYRE_I8] = "i8",   [VYRE_U16] = "i16",   [VYRE_I16] = "i16",
    [VYRE_F16] = "half",  [VYRE_BF16] = "i16"};

enum { WIDTHS = CPU_WIDTHS - 1 }; /* but for 1 */
#define ROW(t)                                                                                     \
    { "<2 x " t ">", "<4 x " t ">", "<8 x " t ">", "<16 x " t ">", "<32 x " t ">", "<64 x " t ">" }
static const char *const vectors[VYRE_TYPE_COUNT][WIDTHS] = {
    [VYRE_BOOL] = ROW("i1"),    [VYRE_U32] = ROW("i32"), [VYRE_I32] = ROW("i32"),
    [VYRE_U64] = ROW("i64"),    [VYRE_I64] = ROW("i64"), [VYRE_F32] = ROW("float"),
    [VYRE_F64] = ROW("double"), [VYRE_U8] = ROW("i8"),   [VYRE_I8] = ROW("i8"),
    [VYRE_U16] = ROW("i16"),    [VYRE_I16] = ROW("i16"), [VYRE_F16] = ROW("half"),
    [VYRE_BF16] = ROW("i16")};
#undef ROW
#define ROW(t)                                                                                     \
    { "v2" t, "v4" t, "v8" t, "v16" t, "v32" t, "v64" t }
static const char *const suffixes[VYRE_TYPE_COUNT][WIDTHS] = {
    [VYRE_BOOL] = ROW("i1"), [VYRE_U32] = ROW("i32"), [VYRE_I32] = ROW("i32"),
    [VYRE_U64] = ROW("i64"), [VYRE_I64] = ROW("i64"), [VYRE_F32] = ROW("f32"),
    [VYRE_F64] = ROW("f64"), [VYRE_U8] = ROW("i8"),   [VYRE_I8] = ROW("i8"),
    [VYRE_U16] = ROW("i16"), [VYRE_I16] = ROW("i16"), [VYRE_F16] = ROW("f16"),
    [VYRE_BF16] = ROW("i16")};
#undef ROW

static uint32_t width_row(const cpu_emit *e) {
    return (uint32_t)__builtin_ctz(e->width) - 1;
}

const char *cpu_type(const cpu_emit *e, vyre_type type, bool each) {
    return each && e->width > 1 ? vectors[type][width_row(e)] : scalars[type];
}

const char *cpu_type_of(const cpu_emit *e, const cpu_value *v) {
    return cpu_type(e, (vyre_type)v->type, v->hold == CPU_EACH);
}

const char *cpu_suffix(const cpu_emit *e, vyre_type type, bool each) {
    static const char *const plain[VYRE_TYPE_COUNT] = {
        [VYRE_BOOL] = "i1", [VYRE_U32] = "i32", [VYRE_I32] = "i32", [VYRE_U64] = "i64",
        [VYRE_I64] = "i64", [VYRE_F32] = "f32", [VYRE_F64] = "f64", [VYRE_U8] = "i8",
        [VYRE_I8] = "i8",   [VYRE_U16] = "i16", [VYRE_I16] = "i16", [VYRE_F16] = "f16",
        [VYRE_BF16] = "i16"};
    return each && e->width > 1 ? suffixes[type][width_row(e)] : plain[type];
}

cpu_value cpu_new(cpu_emit *e, vyre_type type, cpu_hold hold, const char *format, ...) {
    cpu_value v = {.type = (uint8_t)type, .hold = (uint8_t)hold};
    (void)snprintf(v.text, sizeof v.text, "%%v%u", e->next++);
    vyre_text_printf(&e->body, "  %s = ", v.text);
    va_list args;
    va_start(args, format);
    vyre_text_vprintf(&e->body, format, args);
    va_end(args);
    vyre_text_puts(&e->body, "\n");
    return v;
}

void cpu_line(cpu_emit *e, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vyre_text_vprintf(&e->body, format, args);
    va_end(args);
    vyre_text_puts(&e->body, "\n");
}

void cpu_head(cpu_emit *e, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vyre_text_vprintf(&e->head, format, args);
    va_end(args);
    vyre_text_puts(&e->head, "\n");
}

uint32_t cpu_label(cpu_emit *e) {
    return e->next++;
}

cpu_value cpu_literal(vyre_type type, uint64_t bits) {
    cpu_value v = {.type = (uint8_t)type, .known = true, .bits = bits};
    switch (type) {
    case VYRE_BOOL: (void)snprintf(v.text, sizeof v.text, bits ? "true" : "false"); break;
    case VYRE_F32: {
        float single;
        double wide;
        uint64_t pattern;
        uint32_t low = (uint32_t)bits;
        memcpy(&single, &low, sizeof single);
        wide = (double)single; /* LLVM writes floats as the double of the same value */
        memcpy(&pattern, &wide, sizeof pattern);
        (void)snprintf(v.text, sizeof v.text, "0x%016llx", (unsigned long long)pattern);
        break;
    }
    case VYRE_F64:
        (void)snprintf(v.text, sizeof v.text, "0x%016llx", (unsigned long long)bits);
        break;
    case VYRE_U64:
    case VYRE_I64: (void)snprintf(v.text, sizeof v.text, "%lld", (long long)bits); break;
    case VYRE_U32:
    case VYRE_I32:
    case VYRE_VOID:
    case VYRE_U8:
    case VYRE_I8:
    case VYRE_U16:
    case VYRE_I16:
    case VYRE_F16:
    case VYRE_BF16:
    case VYRE_TYPE_COUNT: (void)snprintf(v.text, sizeof v.text, "%d", (int)(uint32_t)bits); break;
    }
    return v;
}

cpu_value cpu_u32(uint32_t value) {
    return cpu_literal(VYRE_U32, value);
}

cpu_value cpu_unknown(vyre_type type) {
    return (cpu_value){.type = (uint8_t)type, .hold = CPU_EACH, .text = "poison"};
}

static cpu_value broadcast(cpu_emit *e, cpu_value v) {
    const char *vector = cpu_type(e, (vyre_type)v.type, true);
    cpu_value one = cpu_new(e, (vyre_type)v.type, CPU_EACH, "insertelement %s poison, %s %s, i32 0",
                            vector, cpu_type(e, (vyre_type)v.type, false), v.text);
    return cpu_new(e, (vyre_type)v.type, CPU_EACH,
                   "shufflevector %s %s, %s poison, <%u x i32> zeroinitializer", vector, one.text,
                   vector, e->width);
}

cpu_value cpu_each(cpu_emit *e, cpu_value v) {
    if (e->width == 1 || v.hold == CPU_EACH) {
        return v;
    }
    cpu_value all = broadcast(e, v);
    if (v.hold == CPU_ONE) {
        return all;
    }
    const char *vector = cpu_type(e, (vyre_type)v.type, true);
    cpu_value sum = {.type = v.type, .hold = CPU_EACH};
    (void)snprintf(sum.text, sizeof sum.text, "%%v%u", e->next++);
    vyre_text_printf(&e->body, "  %s = add %s %s, <", sum.text, vector, all.text);
    for (uint32_t i = 0; i < e->width; i++) {
        vyre_text_printf(&e->body, "%si32 %d", i ? ", " : "", (int)(i * (uint32_t)v.stride));
    }
    vyre_text_puts(&e->body, ">\n");
    return sum;
}

cpu_value cpu_flat(cpu_emit *e, cpu_value v) {
    return v.hold == CPU_LINEAR ? cpu_each(e, v) : v;
}

cpu_hold cpu_together(cpu_emit *e, cpu_value *v, uint32_t count) {
    bool all_one = true;
    for (uint32_t i = 0; i < count; i++) {
        all_one &= v[i].hold == CPU_ONE;
    }
    for (uint32_t i = 0; i < count && !all_one; i++) {
        v[i] = cpu_each(e, v[i]);
    }
    return all_one ? CPU_ONE : CPU_EACH;
}

cpu_value cpu_extract(cpu_emit *e, cpu_value v, const char *lane) {
    if (v.hold == CPU_ONE) {
        return v;
    }
    if (v.hold == CPU_LINEAR) {
        cpu_value distance =
            cpu_new(e, (vyre_type)v.type, CPU_ONE, "mul i32 %s, %d", lane, (int)v.stride);
        return cpu_new(e, (vyre_type)v.type, CPU_ONE, "add i32 %s, %s", v.text, distance.text);
    }
    return cpu_new(e, (vyre_type)v.type, CPU_ONE, "extractelement %s %s, i32 %s",
                   cpu_type_of(e, &v), v.text, lane);
}

cpu_value cpu_binary(cpu_emit *e, const char *op, vyre_type type, cpu_value x, cpu_value y) {
    return cpu_new(e, type, (cpu_hold)x.hold, "%s %s %s, %s", op, cpu_type_of(e, &x), x.text,
                   y.text);
}

cpu_value cpu_compare(cpu_emit *e, const char *predicate, cpu_value x, cpu_value y) {
    const char *op = vyre_type_is_float((vyre_type)x.type) ? "fcmp" : "icmp";
    return cpu_new(e, VYRE_BOOL, (cpu_hold)x.hold, "%s %s %s %s, %s", op, predicate,
                   cpu_type_of(e, &x), x.text, y.text);
}

cpu_value cpu_select(cpu_emit *e, cpu_value condition, cpu_value x, cpu_value y) {
    return cpu_new(e, (vyre_type)x.type, (cpu_hold)x.hold, "select %s %s, %s %s, %s %s",
                   cpu_type_of(e, &condition), condition.text, cpu_type_of(e, &x), x.text,
                   cpu_type_of(e, &y), y.text);
}

cpu_value cpu_choose(cpu_emit *e, cpu_value condition, cpu_value x, cpu_value y) {
    cpu_value v = cpu_select(e, condition, x, y);
    v.stride = x.stride;
    if (v.hold == CPU_LINEAR && x.first[0] && y.first[0]) {
        cpu_value first = cpu_new(e, (vyre_type)x.type, CPU_ONE, "select i1 %s, i32 %s, i32 %s",
                                  condition.text, x.first, y.first);
        memcpy(v.first, first.text, sizeof v.first);
    }
    return v;
}

cpu_value cpu_intrinsic(cpu_emit *e, const char *name, vyre_type type, const cpu_value *operands,
                        uint32_t count) {
    cpu_value v = {.type = (uint8_t)type, .hold = operands[0].hold};
    (void)snprintf(v.text, sizeof v.text, "%%v%u", e->next++);
    bool each = operands[0].hold == CPU_EACH;
    vyre_text_printf(&e->body, "  %s = call %s @llvm.%s.%s(", v.text, cpu_type(e, type, each), name,
                     cpu_suffix(e, (vyre_type)operands[0].type, each));
    for (uint32_t i = 0; i < count; i++) {
        vyre_text_printf(&e->body, "%s%s %s", i ? ", " : "", cpu_type_of(e, &operands[i]),
                         operands[i].text);
    }
    vyre_text_puts(&e->body, ")\n");
    return v;
}

/* One call, of scalars. */
static cpu_value call_helper(cpu_emit *e, const char *function, vyre_type result,
                             const cpu_value *operands, uint32_t count) {
    cpu_value v = {.type = (uint8_t)result};
    (void)snprintf(v.text, sizeof v.text, "%%v%u", e->next++);
    vyre_text_printf(&e->body, "  %s = call %s %s(", v.text, cpu_type(e, result, false), function);
    for (uint32_t i = 0; i < count; i++) {
        vyre_text_printf(&e->body, "%s%s %s", i ? ", " : "", cpu_type_of(e, &operands[i]),
                         operands[i].text);
    }
    vyre_text_puts(&e->body, ")\n");
    return v;
}

cpu_value cpu_helper(cpu_emit *e, size_t field, vyre_type result, const cpu_value *operands,
                     uint32_t count) {
    if (e->probing) {
        return cpu_unknown(result);
    }
    cpu_value place = cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i8, ptr %%ctx, i64 %zu", field);
    cpu_value function = cpu_new(e, VYRE_U64, CPU_ONE, "load ptr, ptr %s, align 8", place.text);
    bool each = false;
    for (uint32_t i = 0; i < count; i++) {
        each |= operands[i].hold != CPU_ONE;
    }
    if (!each) {
        return call_helper(e, function.text, result, operands, count);
    }
    cpu_value all = {.type = (uint8_t)result, .hold = CPU_EACH};
    (void)snprintf(all.text, sizeof all.text, "poison");
    for (uint32_t lane = 0; lane < e->width; lane++) {
        cpu_value scalar[3];
        char number[12];
        (void)snprintf(number, sizeof number, "%u", lane);
        for (uint32_t i = 0; i < count && i < 3; i++) {
            scalar[i] = cpu_extract(e, operands[i], number);
        }
        cpu_value one = call_helper(e, function.text, result, scalar, count);
        all = cpu_new(e, result, CPU_EACH, "insertelement %s %s, %s %s, i32 %u",
                      cpu_type(e, result, true), all.text, cpu_type(e, result, false), one.text,
                      lane);
    }
    return all;
}
