/* The form of segments that are bound to their group: the lanes of one group, gang by gang. A gang
 * is as wide as the vectors of the processor if that pays: all lanes of the group fill gangs, and
 * no loop makes more trips in some lanes than in others (there vectors would idle, and gathers lose
 * to loads of one lane after another). Subgroup operations need gangs of 32. */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/kernel.h"

static const char arguments[] =
    "ptr %ctx, i32 %gx, i32 %gy, i32 %gz, i64 %first, ptr %scalars, ptr %made, i32 %tick";

/* local_id of the gang that begins at lane %l. */
static void emit_ids(cpu_emit *e) {
    const uint32_t *size = e->p->workgroup, w = e->width, lanes = size[0] * size[1] * size[2];
    cpu_value lane = {.type = VYRE_U32, .hold = w > 1 ? CPU_LINEAR : CPU_ONE, .stride = w > 1};
    cpu_value zero = cpu_u32(0);
    memcpy(lane.text, "%l", 3);
    e->lane = lane;
    if (size[0] == lanes) {
        e->ids[0] = lane;
        e->ids[1] = e->ids[2] = zero;
        return;
    }
    const bool rows = size[0] % w == 0; /* a gang lies in one row */
    cpu_value first = rows ? lane : cpu_each(e, lane);
    if (rows) {
        first.hold = CPU_ONE;
        first.stride = 0;
    }
    cpu_value x = cpu_apply(e, VYRE_EXPR_REM, first, cpu_u32(size[0]), zero);
    cpu_value row = cpu_apply(e, VYRE_EXPR_DIV, first, cpu_u32(size[0]), zero);
    e->ids[1] = cpu_apply(e, VYRE_EXPR_REM, row, cpu_u32(size[1]), zero);
    e->ids[2] = cpu_apply(e, VYRE_EXPR_DIV, row, cpu_u32(size[1]), zero);
    if (rows && w > 1) {
        x.hold = CPU_LINEAR;
        x.stride = 1;
    }
    e->ids[0] = x;
}

static void emit_gangs(cpu_emit *e) {
    const uint32_t lanes = e->p->workgroup[0] * e->p->workgroup[1] * e->p->workgroup[2];
    const char *mask = cpu_type(e, VYRE_BOOL, true);
    cpu_head(e, "  %%fuel = alloca i64\n  store i64 %d, ptr %%fuel", CPU_FUEL);
    cpu_head(e, "  %%lane = alloca i32\n  store i32 0, ptr %%lane");
    cpu_line(e, "  br label %%gangs");
    cpu_line(e, "gangs:");
    cpu_line(e, "  %%l = load i32, ptr %%lane");
    cpu_line(e, "  %%gang_more = icmp ult i32 %%l, %u", lanes);
    cpu_line(e, "  br i1 %%gang_more, label %%gang, label %%finish");
    cpu_line(e, "gang:");
    emit_ids(e);
    if (e->width > 1) {
        cpu_head(e, "  %%act = alloca %s\n  %%ended = alloca %s", mask, mask);
        cpu_line(e, "  store %s zeroinitializer, ptr %%ended", mask);
        cpu_value all = cpu_each(e, cpu_literal(VYRE_BOOL, 1));
        if (e->masked_tail) {
            all = cpu_apply(e, VYRE_EXPR_LT, e->lane, cpu_u32(lanes), e->lane);
        }
        cpu_line(e, "  store %s %s, ptr %%act", mask, all.text);
    }
    cpu_emit_privates(e);
    cpu_emit_list(e, e->p->entry, e->p->stmt_count);
    cpu_line(e, "  br label %%gang_end");
    cpu_line(e, "gang_end:");
    cpu_line(e, "  %%l_next = add i32 %%l, %u", e->width);
    cpu_line(e, "  store i32 %%l_next, ptr %%lane");
    cpu_line(e, "  br label %%gangs");
    cpu_line(e, "finish:\n  ret i1 false");
    cpu_line(e, "stop:\n  ret i1 true");
}

static void emit_in_gangs_of(cpu_emit *e, uint32_t width) {
    const vyre_program_view *p = e->p;
    e->width = width;
    e->masked_tail = p->workgroup[0] * p->workgroup[1] * p->workgroup[2] % width != 0;
    memset(e->holds, 0, p->var_count);
    memset(e->strides, 0, p->var_count * sizeof *e->strides);
    memset(e->started, 0, p->var_count);
    memset(e->parts, 0, p->stmt_count);
    e->may_end = false;
    cpu_part_settle(e, emit_gangs);
}

static void choose_and_emit(const cpu_writer *w, cpu_emit *e) {
    static const uint32_t natural[CPU_ISA_COUNT] = {4, 8, 16};
    const vyre_program_view *p = e->p;
    const uint32_t lanes = p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
    const bool atomics = p->stats.stmt_kinds >> VYRE_STMT_ATOMIC & 1;
    uint32_t width = w->gang ? w->gang : atomics ? 1 : natural[w->isa];
    if (p->stats.stmt_kinds >> VYRE_STMT_SUBGROUP & 1) {
        emit_in_gangs_of(e, VYRE_SUBGROUP_SIZE_FIXED);
        return;
    }
    while (width > lanes || (!w->gang && lanes % width != 0)) {
        width /= 2;
    }
    emit_in_gangs_of(e, width);
    if (!w->gang && width > 1 && cpu_part_has_varying_loop(e)) {
        emit_in_gangs_of(e, 1);
    }
}

vyre_status cpu_write_lanes(cpu_writer *w, const cpu_group *group, uint32_t number,
                            uint32_t segment, vyre_diag *diag) {
    cpu_emit e;
    char name[48];
    vyre_status status = cpu_part_begin(w, group, segment, &e, diag);
    if (status != VYRE_OK) {
        return status;
    }
    choose_and_emit(w, &e);
    (void)snprintf(name, sizeof name, "g%u_segment%u", number, segment);
    cpu_part_write(w, &e, name, arguments);
    cpu_part_end(w, &e);
    return VYRE_OK;
}
