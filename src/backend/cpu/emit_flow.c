/* Who is active. `%act` holds a bool for each lane of the gang; `%ended` those that have ended.
 * Where lanes part the old mask is kept in the scope, and every end of a scope makes `%act` anew
 * from it: what was active before, without those that have ended, left the loop or this trip.
 * Lanes that leave set `%act` to none and jump to the end of their list, and each end of a scope
 * that was left in this way asks whether anybody is still there: code never runs for nobody, so a
 * loop that only others would end is not entered. */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/emit.h"

bool cpu_is_masked(const cpu_emit *e) {
    return e->width > 1 && (e->depth > 0 || e->may_end || e->masked_tail || e->across);
}

/* AVX-512 has registers for bools. Elsewhere LLVM would pack them between blocks; a vector of
 * integers, all bits alike, selects by its signs. */
static vyre_type mask_type(const cpu_emit *e) {
    return e->isa == CPU_AVX512 ? VYRE_BOOL : VYRE_I32;
}

cpu_value cpu_mask(cpu_emit *e, cpu_value bools) {
    const vyre_type type = mask_type(e);
    bools = cpu_each(e, bools);
    return type == VYRE_BOOL ? bools
                             : cpu_new(e, type, CPU_EACH, "sext %s %s to %s",
                                       cpu_type_of(e, &bools), bools.text, cpu_type(e, type, true));
}

cpu_value cpu_mask_of(cpu_emit *e, bool all) {
    return cpu_each(e, cpu_literal(mask_type(e), all ? UINT64_MAX : 0));
}

cpu_value cpu_bools(cpu_emit *e, cpu_value mask) {
    return mask.type == VYRE_BOOL
               ? mask
               : cpu_compare(e, "slt", mask, cpu_each(e, cpu_literal(VYRE_I32, 0)));
}

cpu_value cpu_mask_at(cpu_emit *e, const char *place, uint32_t label) {
    const vyre_type type = mask_type(e);
    return label ? cpu_new(e, type, CPU_EACH, "load %s, ptr %%%s%u", cpu_type(e, type, true), place,
                           label)
                 : cpu_new(e, type, CPU_EACH, "load %s, ptr %%%s", cpu_type(e, type, true), place);
}

void cpu_put_mask(cpu_emit *e, const char *place, uint32_t label, cpu_value mask) {
    if (label) {
        cpu_line(e, "  store %s %s, ptr %%%s%u", cpu_type_of(e, &mask), mask.text, place, label);
    } else {
        cpu_line(e, "  store %s %s, ptr %%%s", cpu_type_of(e, &mask), mask.text, place);
    }
}

void cpu_need_mask(cpu_emit *e, const char *place, uint32_t label) {
    cpu_head(e, "  %%%s%u = alloca %s", place, label, cpu_type(e, mask_type(e), true));
}

void cpu_begin_masks(cpu_emit *e, cpu_value bools) {
    const char *type = cpu_type(e, mask_type(e), true);
    cpu_head(e, "  %%act = alloca %s\n  %%ended = alloca %s", type, type);
    cpu_put_mask(e, "ended", 0, cpu_mask_of(e, false));
    cpu_put_mask(e, "act", 0, cpu_mask(e, bools));
}

cpu_value cpu_active(cpu_emit *e) {
    return e->across ? e->across_mask : cpu_bools(e, cpu_mask_at(e, "act", 0));
}

cpu_value cpu_any(cpu_emit *e, cpu_value bools) {
    cpu_value bits = cpu_new(e, VYRE_U32, CPU_ONE, "bitcast <%u x i1> %s to i%u", e->width,
                             bools.text, e->width);
    return cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp ne i%u %s, 0", e->width, bits.text);
}

/* Several vectors of 32-bit integers as one that has all their bits, which takes fewer instructions
 * than to pack what is asked of each; gives how many elements it has. */
static uint32_t join_vectors(cpu_emit *e, cpu_value *v) {
    const uint32_t whole = cpu_isa_vector_bytes(e->isa) / 4;
    uint32_t width = e->width;
    while (width > whole) {
        cpu_value half[2];
        for (uint32_t i = 0; i < 2; i++) {
            (void)snprintf(half[i].text, sizeof half[i].text, "%%v%u", e->next++);
            vyre_text_printf(&e->body,
                             "  %s = shufflevector <%u x i32> %s, <%u x i32> poison, <%u x i32> <",
                             half[i].text, width, v->text, width, width / 2);
            for (uint32_t k = 0; k < width / 2; k++) {
                vyre_text_printf(&e->body, "%si32 %u", k ? ", " : "", i * width / 2 + k);
            }
            vyre_text_puts(&e->body, ">\n");
        }
        width /= 2;
        cpu_value joined = cpu_new(e, VYRE_I32, CPU_EACH, "or <%u x i32> %s, %s", width,
                                   half[0].text, half[1].text);
        memcpy(v->text, joined.text, sizeof v->text);
    }
    return width;
}

static cpu_value any_that(cpu_emit *e, const char *predicate, cpu_value v) {
    const uint32_t width = join_vectors(e, &v);
    cpu_value bools = cpu_new(e, VYRE_BOOL, CPU_EACH, "icmp %s <%u x i32> %s, zeroinitializer",
                              predicate, width, v.text);
    cpu_value bits =
        cpu_new(e, VYRE_U32, CPU_ONE, "bitcast <%u x i1> %s to i%u", width, bools.text, width);
    return cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp ne i%u %s, 0", width, bits.text);
}

cpu_value cpu_any_in(cpu_emit *e, cpu_value mask) {
    return mask.type == VYRE_BOOL ? cpu_any(e, mask) : any_that(e, "slt", mask);
}

cpu_value cpu_any_bit(cpu_emit *e, cpu_value v) {
    return any_that(e, "ne", v);
}

/* Bits of the active lanes are taken one by one, lowest first. */
cpu_value cpu_lanes_begin(cpu_emit *e, uint32_t *out_label) {
    const uint32_t label = *out_label = cpu_label(e), w = e->width;
    char bits[32];
    if (cpu_is_masked(e)) {
        cpu_value small =
            cpu_new(e, VYRE_U32, CPU_ONE, "bitcast <%u x i1> %s to i%u", w, cpu_active(e).text, w);
        cpu_value wide =
            w == 32 ? small : cpu_new(e, VYRE_U32, CPU_ONE, "zext i%u %s to i32", w, small.text);
        (void)snprintf(bits, sizeof bits, "%s", wide.text);
    } else {
        (void)snprintf(bits, sizeof bits, "%d", (int)(w == 32 ? UINT32_MAX : (1u << w) - 1));
    }
    cpu_head(e, "  %%left%u = alloca i32, align 4", label);
    cpu_line(e, "  store i32 %s, ptr %%left%u, align 4", bits, label);
    cpu_line(e, "  br label %%lane%u", label);
    cpu_line(e, "lane%u:", label);
    cpu_value left = cpu_new(e, VYRE_U32, CPU_ONE, "load i32, ptr %%left%u, align 4", label);
    cpu_value more = cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp ne i32 %s, 0", left.text);
    cpu_line(e, "  br i1 %s, label %%work%u, label %%done%u", more.text, label, label);
    cpu_line(e, "work%u:", label);
    cpu_value lower = cpu_new(e, VYRE_U32, CPU_ONE, "sub i32 %s, 1", left.text);
    cpu_value rest = cpu_new(e, VYRE_U32, CPU_ONE, "and i32 %s, %s", left.text, lower.text);
    cpu_line(e, "  store i32 %s, ptr %%left%u, align 4", rest.text, label);
    return cpu_new(e, VYRE_U32, CPU_ONE, "call i32 @llvm.cttz.i32(i32 %s, i1 true)", left.text);
}

void cpu_lanes_end(cpu_emit *e, uint32_t label) {
    cpu_line(e, "  br label %%lane%u", label);
    cpu_line(e, "done%u:", label);
}
