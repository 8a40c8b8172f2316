/* Lanes that each walk along a row of their own: `a[lane * n + k]` in a loop over k, or any index
 * that differs from lane to lane and grows by 1 from trip to trip. A gang would gather in every
 * trip; instead, every eight trips, it loads eight elements of each lane's row with one vector
 * load, and turns them, so that what its lanes need in a trip is one vector. The turned elements
 * lie in a place of the stack (a tile) from which the trips load.
 *
 * Why that is right: nothing in the segment writes the buffer, so it does not matter when within
 * the loop an element is loaded. The loop asks for all trips of a strip, rounded up to whole tiles,
 * whether they are inside (emit_loop.c). */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/kernel.h"

enum { SIDE = 8, BYTES = 4 }; /* elements of a row in a tile; of an element */

bool cpu_tile_fits(const cpu_emit *e, vyre_decl decl, uint32_t site, const cpu_value *index) {
    const cpu_site *at = &e->sites[site];
    const bool loads = site < e->p->expr_count && !cpu_is_written(e, decl);
    const bool apart = index->hold == CPU_EACH || (index->hold == CPU_LINEAR && index->stride != 1);
    return loads && apart && e->isa != CPU_SSE2 && e->width % SIDE == 0 && at->known &&
           at->step == 1 && e->bindings[decl].meaning == CPU_IS_BUFFER &&
           vyre_type_size((vyre_type)e->p->decls[decl].type) == BYTES;
}

/* Whether all rows are inside up to the trip `last` (an i64), in whole tiles. */
static cpu_value rows_are_inside(cpu_emit *e, vyre_decl decl, cpu_value index, cpu_value last) {
    cpu_value most =
        cpu_new(e, VYRE_U32, CPU_ONE, "call i32 @llvm.vector.reduce.umax.%s(%s %s)",
                cpu_suffix(e, VYRE_U32, true), cpu_type(e, VYRE_U32, true), index.text);
    most = cpu_new(e, VYRE_I64, CPU_ONE, "zext i32 %s to i64", most.text);
    cpu_value whole = cpu_new(e, VYRE_I64, CPU_ONE, "or i64 %s, %d", last.text, SIDE - 1);
    cpu_value end = cpu_binary(e, "add", VYRE_I64, most, whole);
    cpu_value count = cpu_new(e, VYRE_I64, CPU_ONE, "zext i32 %%n%u to i64", decl);
    return cpu_compare(e, "ult", end, count);
}

cpu_value cpu_tile_begin(cpu_emit *e, vyre_decl decl, uint32_t label, uint32_t access,
                         cpu_value index, cpu_value last) {
    cpu_need_base(e, decl);
    e->tiled = true;
    cpu_head(e, "  %%tile%u_%u = alloca [%u x i32], align 64", label, access, SIDE * e->width);
    for (uint32_t i = 0; i < e->width; i++) {
        char lane[12];
        (void)snprintf(lane, sizeof lane, "%u", i);
        cpu_value row = cpu_extract(e, index, lane);
        row = cpu_new(e, VYRE_I64, CPU_ONE, "zext i32 %s to i64", row.text);
        cpu_line(e, "  %%row%u_%u_%u = getelementptr i32, ptr %%b%u, i64 %s", label, access, i,
                 decl, row.text);
    }
    return rows_are_inside(e, decl, index, last);
}

/* One of the two halves of two vectors, woven by so many elements at a time. */
static cpu_value weave(cpu_emit *e, cpu_value x, cpu_value y, uint32_t by, bool high) {
    cpu_value v = {.type = VYRE_U32, .hold = CPU_EACH};
    (void)snprintf(v.text, sizeof v.text, "%%v%u", e->next++);
    vyre_text_printf(&e->body, "  %s = shufflevector <8 x i32> %s, <8 x i32> %s, <8 x i32> <",
                     v.text, x.text, y.text);
    for (uint32_t i = 0; i < SIDE; i++) {
        /* Of each 2 * by elements of the result: first some of x, then as many of y. */
        const uint32_t block = i / (2 * by) * 2 * by, within = i % (2 * by);
        const uint32_t from = block + (high ? by : 0) + within % by;
        vyre_text_printf(&e->body, "%si32 %u", i ? ", " : "", within < by ? from : SIDE + from);
    }
    vyre_text_puts(&e->body, ">\n");
    return v;
}

/* Rows become columns: pairs change places at distances 4, 2 and 1. */
static void turn(cpu_emit *e, cpu_value *rows) {
    for (uint32_t by = SIDE / 2; by > 0; by /= 2) {
        for (uint32_t i = 0; i < SIDE; i++) {
            if ((i & by) == 0) {
                const cpu_value x = rows[i], y = rows[i + by];
                rows[i] = weave(e, x, y, by, false);
                rows[i + by] = weave(e, x, y, by, true);
            }
        }
    }
}

static void fill(cpu_emit *e, uint32_t label, uint32_t access, const char *trip) {
    for (uint32_t first = 0; first < e->width; first += SIDE) {
        cpu_value rows[SIDE];
        for (uint32_t i = 0; i < SIDE; i++) {
            cpu_value at =
                cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i32, ptr %%row%u_%u_%u, i64 %s", label,
                        access, first + i, trip);
            rows[i] = cpu_new(e, VYRE_U32, CPU_EACH, "load <8 x i32>, ptr %s, align 4", at.text);
        }
        turn(e, rows);
        for (uint32_t i = 0; i < SIDE; i++) {
            cpu_value at =
                cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i32, ptr %%tile%u_%u, i64 %u", label,
                        access, i * e->width + first);
            cpu_line(e, "  store <8 x i32> %s, ptr %s, align 32", rows[i].text, at.text);
        }
    }
}

void cpu_tile_fill(cpu_emit *e, vyre_stmt loop, uint32_t strip, const char *trip) {
    const uint32_t label = cpu_label(e);
    const vyre_program_view *p = e->p;
    bool any = false;
    for (vyre_expr x = p->stmts[loop].end_expr; x < p->stmts[p->stmts[loop].match].end_expr; x++) {
        if (!e->sites[x].access || !e->sites[x].tiled) {
            continue;
        }
        if (!any) {
            cpu_value rest = cpu_new(e, VYRE_I64, CPU_ONE, "and i64 %s, %d", trip, SIDE - 1);
            cpu_value begins = cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp eq i64 %s, 0", rest.text);
            cpu_line(e, "  br i1 %s, label %%fill%u, label %%filled%u\nfill%u:", begins.text, label,
                     label, label);
            any = true;
        }
        fill(e, strip, e->sites[x].access, trip);
    }
    if (any) {
        cpu_line(e, "  br label %%filled%u\nfilled%u:", label, label);
    }
}

cpu_value cpu_tile_address(cpu_emit *e, uint32_t access, const char *trip) {
    cpu_value rest = cpu_new(e, VYRE_I64, CPU_ONE, "and i64 %s, %d", trip, SIDE - 1);
    cpu_value far = cpu_new(e, VYRE_I64, CPU_ONE, "mul nuw nsw i64 %s, %u", rest.text, e->width);
    return cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i32, ptr %%tile%u_%u, i64 %s", e->steady,
                   access, far.text);
}
