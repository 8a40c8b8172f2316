/* Lanes that each walk along a row of their own: `a[lane * n + k]` in a loop over k, or any index
 * that differs from lane to lane and grows by 1 from trip to trip. A gang would gather in every
 * trip; instead, every eight trips, it loads eight elements of each lane's row with one vector
 * load, and turns them, so that what its lanes need in a trip is one vector. The turned elements
 * lie in a place of the stack (a tile) from which the trips load. Stores go the other way, where
 * trips are known to be whole tiles: into a tile, which is turned and stored behind its last trip.
 *
 * Why that is right: nothing in the segment writes the buffer, so it does not matter when within
 * the loop an element is loaded; nothing else in the loop touches a buffer that is stored to, all
 * lanes do so in each trip, and no trip is the last before its time. The loop asks for all trips of
 * a strip, rounded up to whole tiles, whether they are inside (emit_loop.c). */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/kernel.h"

enum { SIDE = CPU_TILE, BYTES = 4, LINE = 64 }; /* elements of a row in a tile; of an element */

/* Whether the store is made by all lanes, in each trip, and nothing else in the loop touches the
 * buffer. */
static bool stores_alone(const cpu_emit *e, vyre_stmt loop, vyre_stmt store) {
    const vyre_program_view *p = e->p;
    bool alone = p->stmts[store].op == VYRE_STMT_STORE && !cpu_is_masked(e) &&
                 cpu_is_in_each_trip(e, loop, store);
    for (vyre_stmt i = loop; i < p->stmts[loop].match && alone; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        alone = (i == store || (s->decl != p->stmts[store].decl && s->decl2 == VYRE_NONE)) &&
                s->op != VYRE_STMT_BREAK && s->op != VYRE_STMT_CONTINUE;
        for (vyre_expr k = s->first_expr; k < s->end_expr && alone; k++) {
            alone = p->exprs[k].op != VYRE_EXPR_LOAD || p->exprs[k].ref != p->stmts[store].decl;
        }
    }
    return alone;
}

bool cpu_tile_fits(const cpu_emit *e, vyre_decl decl, vyre_stmt loop, uint32_t site,
                   const cpu_value *index, bool whole) {
    const cpu_site *at = &e->sites[site];
    const uint32_t exprs = e->p->expr_count;
    const bool apart = index->hold == CPU_EACH || (index->hold == CPU_LINEAR && index->stride != 1);
    const bool order =
        site < exprs ? !cpu_is_written(e, decl) : whole && stores_alone(e, loop, site - exprs);
    return order && apart && e->isa != CPU_SSE2 && e->width % SIDE == 0 && at->known &&
           at->step == 1 && e->bindings[decl].meaning == CPU_IS_BUFFER &&
           vyre_type_size((vyre_type)e->p->decls[decl].type) == BYTES;
}

/* Whether rows are at a distance that is known, so that they have one address in common. */
static bool is_regular(const cpu_value *index) {
    return index->hold == CPU_LINEAR && index->stride > 0;
}

/* Whether all rows are inside up to the trip `last` (an i64), in whole tiles. */
static cpu_value rows_are_inside(cpu_emit *e, vyre_decl decl, cpu_value index, cpu_value last) {
    cpu_value most;
    if (is_regular(&index)) {
        most = cpu_new(e, VYRE_I64, CPU_ONE, "zext i32 %s to i64", index.text);
        most = cpu_new(e, VYRE_I64, CPU_ONE, "add nuw nsw i64 %s, %llu", most.text,
                       (unsigned long long)(e->width - 1) * (uint32_t)index.stride);
    } else {
        index = cpu_each(e, index);
        most = cpu_new(e, VYRE_U32, CPU_ONE, "call i32 @llvm.vector.reduce.umax.%s(%s %s)",
                       cpu_suffix(e, VYRE_U32, true), cpu_type(e, VYRE_U32, true), index.text);
        most = cpu_new(e, VYRE_I64, CPU_ONE, "zext i32 %s to i64", most.text);
    }
    cpu_value whole = cpu_new(e, VYRE_I64, CPU_ONE, "or i64 %s, %d", last.text, SIDE - 1);
    cpu_value end = cpu_binary(e, "add", VYRE_I64, most, whole);
    cpu_value count = cpu_new(e, VYRE_I64, CPU_ONE, "zext i32 %%n%u to i64", decl);
    return cpu_compare(e, "ult", end, count);
}

cpu_value cpu_tile_begin(cpu_emit *e, vyre_decl decl, uint32_t label, uint32_t access,
                         cpu_value index, cpu_value last) {
    const bool regular = is_regular(&index);
    const cpu_value each = regular ? index : cpu_each(e, index);
    cpu_need_base(e, decl);
    e->tiled = true;
    cpu_head(e, "  %%tile%u_%u = alloca [%u x i32], align 64", label, access, SIDE * e->width);
    for (uint32_t i = 0; i < e->width; i++) {
        char lane[12];
        (void)snprintf(lane, sizeof lane, "%u", i);
        if (regular && i > 0) {
            cpu_line(e, "  %%row%u_%u_%u = getelementptr i32, ptr %%row%u_%u_0, i64 %llu", label,
                     access, i, label, access, (unsigned long long)i * (uint32_t)index.stride);
            continue;
        }
        cpu_value row = regular ? index : cpu_extract(e, each, lane);
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

/* Two halves of a vector of 16. */
static cpu_value joined(cpu_emit *e, cpu_value low, cpu_value high) {
    return cpu_new(e, VYRE_U32, CPU_EACH,
                   "shufflevector <8 x i32> %s, <8 x i32> %s, <16 x i32> <i32 0, i32 1, i32 2, i32 "
                   "3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, "
                   "i32 14, i32 15>",
                   low.text, high.text);
}

static cpu_value place_in_tile(cpu_emit *e, uint32_t label, uint32_t access, uint32_t element) {
    return cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i32, ptr %%tile%u_%u, i64 %u", label,
                   access, element);
}

/* Where a lane's row goes on at a trip. */
static cpu_value place_in_row(cpu_emit *e, uint32_t label, uint32_t access, uint32_t lane,
                              const char *trip) {
    return cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i32, ptr %%row%u_%u_%u, i64 %s", label,
                   access, lane, trip);
}

/* What a gang of 16 loads at once is stored at once: else the load would wait. */
static void fill(cpu_emit *e, uint32_t label, uint32_t access, const char *trip) {
    const bool pairs = e->width == 2 * SIDE;
    cpu_value before[SIDE];
    for (uint32_t first = 0; first < e->width; first += SIDE) {
        cpu_value rows[SIDE];
        for (uint32_t i = 0; i < SIDE; i++) {
            cpu_value at = place_in_row(e, label, access, first + i, trip);
            rows[i] = cpu_new(e, VYRE_U32, CPU_EACH, "load <8 x i32>, ptr %s, align 4", at.text);
        }
        turn(e, rows);
        for (uint32_t i = 0; i < SIDE && (!pairs || first); i++) {
            const uint32_t from = pairs ? 0 : first;
            cpu_value at = place_in_tile(e, label, access, i * e->width + from);
            cpu_value v = pairs ? joined(e, before[i], rows[i]) : rows[i];
            cpu_line(e, "  store <%u x i32> %s, ptr %s, align 32", pairs ? 2 * SIDE : SIDE, v.text,
                     at.text);
        }
        memcpy(before, rows, sizeof before);
    }
}

static void put(cpu_emit *e, const cpu_value *rows, const cpu_value *to, bool past) {
    for (uint32_t i = 0; i < e->width; i++) {
        cpu_line(e, "  store <8 x i32> %s, ptr %s, align %d%s", rows[i].text, to[i].text,
                 past ? SIDE * BYTES : BYTES, past ? CPU_NONTEMPORAL : "");
    }
}

/* 0 where the rows of lanes follow each other, and lines begin with one. */
static cpu_value gaps(cpu_emit *e, const cpu_value *to) {
    cpu_value first = cpu_new(e, VYRE_U64, CPU_ONE, "ptrtoint ptr %s to i64", to[0].text);
    cpu_value all = cpu_new(e, VYRE_U64, CPU_ONE, "and i64 %s, %d", first.text, LINE - 1);
    for (uint32_t i = 1; i < e->width; i++) {
        cpu_value at = cpu_new(e, VYRE_U64, CPU_ONE, "ptrtoint ptr %s to i64", to[i].text);
        cpu_value far = cpu_binary(e, "sub", VYRE_U64, at, first);
        cpu_value gap = cpu_new(e, VYRE_U64, CPU_ONE, "sub i64 %s, %u", far.text, i * SIDE * BYTES);
        all = cpu_binary(e, "or", VYRE_U64, all, gap);
    }
    return all;
}

static void flush(cpu_emit *e, uint32_t label, uint32_t access, vyre_decl decl, const char *trip) {
    cpu_value first_trip = cpu_new(e, VYRE_I64, CPU_ONE, "and i64 %s, -%d", trip, SIDE);
    cpu_value rows[VYRE_SUBGROUP_SIZE_FIXED], to[VYRE_SUBGROUP_SIZE_FIXED];
    for (uint32_t first = 0; first < e->width; first += SIDE) {
        for (uint32_t i = 0; i < SIDE; i++) {
            cpu_value at = place_in_tile(e, label, access, i * e->width + first);
            rows[first + i] =
                cpu_new(e, VYRE_U32, CPU_EACH, "load <8 x i32>, ptr %s, align 32", at.text);
            to[first + i] = place_in_row(e, label, access, first + i, first_trip.text);
        }
        turn(e, rows + first);
    }
    if (!e->streams[decl]) {
        put(e, rows, to, false);
        return;
    }
    const uint32_t choice = cpu_stream_begin(e, decl, gaps(e, to).text);
    put(e, rows, to, true);
    cpu_stream_else(e, choice);
    put(e, rows, to, false);
    cpu_stream_end(e, choice);
}

/* In trips of which the last bits are these. */
static uint32_t begin_turning(cpu_emit *e, const char *trip, uint32_t at) {
    const uint32_t label = cpu_label(e);
    cpu_value rest = cpu_new(e, VYRE_I64, CPU_ONE, "and i64 %s, %d", trip, SIDE - 1);
    cpu_value is = cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp eq i64 %s, %u", rest.text, at);
    cpu_line(e, "  br i1 %s, label %%turn%u, label %%turned%u\nturn%u:", is.text, label, label,
             label);
    return label;
}

static void turn_all(cpu_emit *e, vyre_stmt loop, uint32_t strip, const char *trip, bool stores) {
    const vyre_program_view *p = e->p;
    const uint32_t from = stores ? p->expr_count + loop : p->stmts[loop].end_expr;
    const uint32_t to =
        stores ? p->expr_count + p->stmts[loop].match : p->stmts[p->stmts[loop].match].end_expr;
    uint32_t label = 0;
    for (uint32_t site = from + stores; site < to; site++) {
        if (!e->sites[site].access || !e->sites[site].tiled) {
            continue;
        }
        label = label ? label : begin_turning(e, trip, stores ? SIDE - 1 : 0);
        if (stores) {
            flush(e, strip, e->sites[site].access, p->stmts[site - p->expr_count].decl, trip);
        } else {
            fill(e, strip, e->sites[site].access, trip);
        }
    }
    if (label) {
        cpu_line(e, "  br label %%turned%u\nturned%u:", label, label);
    }
}

void cpu_tile_fill(cpu_emit *e, vyre_stmt loop, uint32_t strip, const char *trip) {
    turn_all(e, loop, strip, trip, false);
}

void cpu_tile_flush(cpu_emit *e, vyre_stmt loop, uint32_t strip, const char *trip) {
    turn_all(e, loop, strip, trip, true);
}

cpu_value cpu_tile_address(cpu_emit *e, uint32_t access, const char *trip) {
    cpu_value rest = cpu_new(e, VYRE_I64, CPU_ONE, "and i64 %s, %d", trip, SIDE - 1);
    cpu_value far = cpu_new(e, VYRE_I64, CPU_ONE, "mul nuw nsw i64 %s, %u", rest.text, e->width);
    return cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i32, ptr %%tile%u_%u, i64 %s", e->steady,
                   access, far.text);
}
