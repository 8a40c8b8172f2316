/* Vectors of elements that lie anywhere.
 *
 * With AVX-512 a mask leaves out lanes that are outside, or not active: nothing is loaded for them.
 * Its gathers take 16 indices of 32 bits at once, with a sign, but only 8 of 64 bits, so an index i
 * below 2^32 is written as 2^31 elements behind the base, plus i - 2^31. Elsewhere a gather is one
 * load after the other: lanes that are outside load a zero, so that there is no branch. */
#include <stdio.h>

#include "backend/cpu/emit.h"

static vyre_type element_of(const cpu_emit *e, vyre_decl decl) {
    return (vyre_type)e->p->decls[decl].type;
}

/* Whether the processor has instructions for that: of 32 and 64 bits. */
static bool has_masks(const cpu_emit *e, vyre_decl decl) {
    return e->isa == CPU_AVX512 && vyre_type_size(element_of(e, decl)) >= 4;
}

static cpu_value addresses(cpu_emit *e, vyre_decl decl, cpu_value place) {
    const char *element = cpu_stored(element_of(e, decl)), *words = cpu_type(e, VYRE_U64, true);
    cpu_need_base(e, decl);
    if (!has_masks(e, decl)) {
        cpu_value wide = cpu_new(e, VYRE_U64, CPU_EACH, "zext %s %s to %s", cpu_type_of(e, &place),
                                 place.text, words);
        return cpu_new(e, VYRE_U64, CPU_EACH, "getelementptr %s, ptr %%b%u, %s %s", element, decl,
                       words, wide.text);
    }
    cpu_value middle =
        cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr %s, ptr %%b%u, i64 2147483648", element, decl);
    place.type = VYRE_U32;
    place = cpu_binary(e, "xor", VYRE_U32, place, cpu_each(e, cpu_u32(UINT32_C(1) << 31)));
    cpu_value wide = cpu_new(e, VYRE_U64, CPU_EACH, "sext %s %s to %s", cpu_type_of(e, &place),
                             place.text, words);
    return cpu_new(e, VYRE_U64, CPU_EACH, "getelementptr %s, ptr %s, %s %s", element, middle.text,
                   words, wide.text);
}

static cpu_value all_lanes(cpu_emit *e) {
    return cpu_each(e, cpu_literal(VYRE_BOOL, 1));
}

/* Lanes that are active and inside. */
static cpu_value lanes_inside(cpu_emit *e, vyre_decl decl, cpu_value index) {
    cpu_value mask = cpu_is_promised(e) ? all_lanes(e) : cpu_is_inside(e, decl, index);
    return cpu_is_masked(e) ? cpu_binary(e, "and", VYRE_BOOL, mask, cpu_active(e)) : mask;
}

/* The addresses, of lanes that are outside that of a zero. */
static cpu_value or_zero(cpu_emit *e, cpu_value inside, cpu_value at) {
    const uint32_t w = e->width;
    cpu_value zero =
        cpu_new(e, VYRE_U64, CPU_EACH, "insertelement <%u x ptr> poison, ptr %%zero, i32 0", w);
    zero = cpu_new(e, VYRE_U64, CPU_EACH,
                   "shufflevector <%u x ptr> %s, <%u x ptr> poison, <%u x i32> zeroinitializer", w,
                   zero.text, w, w);
    return cpu_new(e, VYRE_U64, CPU_EACH, "select <%u x i1> %s, <%u x ptr> %s, <%u x ptr> %s", w,
                   inside.text, w, at.text, w, zero.text);
}

cpu_value cpu_gather(cpu_emit *e, vyre_decl decl, cpu_value index, cpu_value place) {
    const vyre_type stored = cpu_stored_type(element_of(e, decl));
    const char *vector = cpu_type(e, stored, true);
    const uint32_t w = e->width;
    cpu_value at = addresses(e, decl, place), mask = all_lanes(e);
    if (has_masks(e, decl)) {
        mask = lanes_inside(e, decl, index);
    } else if (!cpu_is_promised(e)) {
        at = or_zero(e, cpu_is_inside(e, decl, index), at);
    }
    char scopes[64];
    cpu_alias(e, decl, scopes, sizeof scopes);
    return cpu_new(e, stored, CPU_EACH,
                   "call %s @llvm.masked.gather.%s.v%up0(<%u x ptr> %s, i32 %u, <%u x i1> %s, %s "
                   "zeroinitializer)%s",
                   vector, cpu_suffix(e, stored, true), w, w, at.text,
                   vyre_type_size(element_of(e, decl)), w, mask.text, vector, scopes);
}

void cpu_scatter(cpu_emit *e, vyre_decl decl, cpu_value index, cpu_value place, cpu_value v) {
    const vyre_type stored = cpu_stored_type(element_of(e, decl));
    const uint32_t w = e->width;
    cpu_value mask = lanes_inside(e, decl, index), at = addresses(e, decl, place);
    char scopes[64];
    cpu_alias(e, decl, scopes, sizeof scopes);
    cpu_line(e,
             "  call void @llvm.masked.scatter.%s.v%up0(%s %s, <%u x ptr> %s, i32 %u, <%u x i1> %s)"
             "%s",
             cpu_suffix(e, stored, true), w, cpu_type_of(e, &v), v.text, w, at.text,
             vyre_type_size(element_of(e, decl)), w, mask.text, scopes);
}
