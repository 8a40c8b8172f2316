/* The form of segments that are bound to their group: the lanes of one group, gang by gang. A gang
 * is as wide as the vectors of the processor if that pays: all lanes of the group fill gangs, and
 * no loop makes more trips in some lanes than in others (there vectors would idle, and gathers lose
 * to loads of one lane after another). Subgroup operations need gangs of 32. */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/kernel.h"
#include "base/alloc.h"
#include "base/diag.h"

static const char arguments[] =
    "ptr %ctx, i32 %gx, i32 %gy, i32 %gz, i64 %first, ptr %scalars, ptr %made, i32 %tick";

/* local_id of the gang that begins at a lane. */
static void emit_ids(cpu_emit *e, const char *name) {
    const uint32_t *size = e->p->workgroup, w = e->width, lanes = size[0] * size[1] * size[2];
    const uint8_t even = (uint8_t)__builtin_ctz(w);
    cpu_value lane = {
        .type = VYRE_U32, .hold = w > 1 ? CPU_LINEAR : CPU_ONE, .stride = w > 1, .even = even};
    cpu_value zero = cpu_u32(0);
    (void)snprintf(lane.text, sizeof lane.text, "%s", name);
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
        x.even = even; /* rows have whole gangs */
    }
    e->ids[0] = x;
}

/* Those of all gangs that run side by side, from lane %l on. */
static void emit_all_ids(cpu_emit *e) {
    for (uint32_t g = e->gangs; g-- > 0;) {
        char name[16];
        (void)snprintf(name, sizeof name, g ? "%%l%u" : "%%l", g);
        if (g > 0) {
            cpu_line(e, "  %s = add nuw nsw i32 %%l, %u", name, g * e->width);
        }
        emit_ids(e, name);
        memcpy(e->side_ids[g], e->ids, sizeof e->ids);
        e->side_lane[g] = e->lane;
    }
}

static void emit_gangs(cpu_emit *e) {
    const uint32_t step = e->width * e->gangs;
    const uint32_t lanes = e->p->workgroup[0] * e->p->workgroup[1] * e->p->workgroup[2];
    cpu_head(e, "  %%fuel = alloca i64\n  store i64 %d, ptr %%fuel", CPU_FUEL);
    cpu_head(e, "  %%lane = alloca i32\n  store i32 0, ptr %%lane");
    cpu_line(e, "  br label %%gangs");
    cpu_line(e, "gangs:");
    cpu_line(e, "  %%block = load i32, ptr %%lane");
    cpu_line(e, "  %%l = mul nuw nsw i32 %%block, %u", step);
    cpu_line(e, "  %%gang_more = icmp ult i32 %%block, %u", (lanes + step - 1) / step);
    cpu_line(e, "  br i1 %%gang_more, label %%gang, label %%finish");
    cpu_line(e, "gang:");
    emit_all_ids(e);
    if (e->width > 1) {
        cpu_value all = cpu_each(e, cpu_literal(VYRE_BOOL, 1));
        if (e->masked_tail) {
            all = cpu_apply(e, VYRE_EXPR_LT, e->lane, cpu_u32(lanes), e->lane);
        }
        cpu_begin_masks(e, all);
    }
    cpu_emit_privates(e);
    cpu_emit_list(e, e->p->entry, e->p->stmt_count);
    cpu_line(e, "  br label %%gang_end");
    cpu_line(e, "gang_end:");
    cpu_line(e, "  %%block_next = add nuw nsw i32 %%block, 1");
    cpu_line(e, "  store i32 %%block_next, ptr %%lane");
    cpu_line(e, "  br label %%gangs");
    cpu_line(e, "finish:\n  ret i1 false");
    cpu_line(e, "stop:\n  ret i1 true");
}

static void emit_in_gangs_of(cpu_emit *e, uint32_t width) {
    const vyre_program_view *p = e->p;
    e->width = width;
    e->masked_tail = p->workgroup[0] * p->workgroup[1] * p->workgroup[2] % width != 0;
    cpu_part_forget(e);
    cpu_part_settle(e, emit_gangs);
}

/* Gangs that reach over several rows of a group have indices that are not consecutive: vectors are
 * rather half filled, or by a quarter. */
enum { LEAST_ROW = 4 };

static uint32_t choose_width(const cpu_writer *w, const vyre_program_view *p) {
    static const uint32_t natural[CPU_ISA_COUNT] = {4, 8, 16};
    const uint32_t lanes = p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
    uint32_t width = w->gang ? w->gang : natural[w->isa];
    if (p->stats.stmt_kinds >> VYRE_STMT_SUBGROUP & 1) {
        return VYRE_SUBGROUP_SIZE_FIXED;
    }
    while (width > 1 && (width > lanes || (!w->gang && lanes % width != 0))) {
        width /= 2;
    }
    uint32_t row = width; /* the widest that lies in one row of the group */
    while (p->workgroup[0] % row != 0) {
        row /= 2;
    }
    return !w->gang && row >= LEAST_ROW ? row : width;
}

static void emit_best(const cpu_writer *w, cpu_emit *e) {
    const uint32_t width = choose_width(w, e->p);
    emit_in_gangs_of(e, width);
    if (!w->gang && width > 1 && !(e->p->stats.stmt_kinds >> VYRE_STMT_SUBGROUP & 1) &&
        cpu_part_has_varying_loop(e)) {
        cpu_note_width(w, e, 1, "trips of a loop vary from lane to lane");
        emit_in_gangs_of(e, 1);
    }
    e->gangs = cpu_side_choose(e);
    if (e->gangs > 1) {
        cpu_part_forget(e);
        cpu_part_settle(e, emit_gangs);
    }
}

static void note_form(const cpu_writer *w, const cpu_group *group, const cpu_emit *e,
                      uint32_t width) {
    const vyre_program_view *p = e->p;
    const bool is_whole = width * 4 >= cpu_isa_vector_bytes(w->isa);
    const bool is_row = p->workgroup[0] % width == 0 && p->workgroup[1] * p->workgroup[2] > 1;
    cpu_note(e, VYRE_NONE, "form", "group after group, the lanes of each because %s",
             cpu_rows_refusal(group));
    cpu_note_width(w, e, width,
                   p->stats.stmt_kinds >> VYRE_STMT_SUBGROUP & 1 ? "it has subgroup operations"
                   : is_whole                                    ? NULL
                   : is_row ? "rows of a group have no more that fill vectors"
                            : "a group has no more that fill vectors");
}

static void write_as(cpu_writer *w, cpu_emit *e, uint32_t number, const char *what,
                     const char *more) {
    char name[64], all[160];
    (void)snprintf(name, sizeof name, "g%u_segment%u%s", number, e->segment, what);
    (void)snprintf(all, sizeof all, "%s%s", arguments, more);
    cpu_part_write(w, e, name, all);
    e->lists = w->lists; /* accesses of each function have names of their own */
    w->lists += 1 + 3 * e->p->decl_count;
}

/* Asks `probe` for pieces; each in gangs, the rest of it lane by lane. If the first one is short,
 * more would follow: all, checked. */
static void write_choice(vyre_text *t, uint32_t number, uint32_t segment, uint32_t lanes,
                         uint32_t width) {
    enum { SHORT = 4 }; /* a part of the group */
    vyre_text_printf(t, "define internal i1 @g%u_segment%u(%s) #0 {\nentry:\n", number, segment,
                     arguments);
    vyre_text_printf(t,
                     "  %%part = alloca [3 x i32]\n"
                     "  %%second = getelementptr i8, ptr %%part, i64 4\n"
                     "  %%third = getelementptr i8, ptr %%part, i64 8\n  br label %%piece\n"
                     "piece:\n  %%from = phi i32 [ 0, %%entry ], [ %%end, %%rest ]\n"
                     "  %%said = call i1 @g%u_segment%u_probe(%s, i32 %%from, i32 %u, ptr %%part)\n"
                     "  %%a = load i32, ptr %%part\n  %%b = load i32, ptr %%second\n"
                     "  %%end = load i32, ptr %%third\n"
                     "  %%is_short = icmp ult i32 %%end, %u\n"
                     "  br i1 %%is_short, label %%all, label %%pieces\n"
                     "pieces:\n  %%n = sub i32 %%b, %%a\n  %%r = and i32 %%n, %u\n"
                     "  %%m0 = sub i32 %%b, %%r\n  %%m = select i1 %%said, i32 %%m0, i32 %%a\n",
                     number, segment, arguments, lanes, (lanes + SHORT - 1) / SHORT, width - 1);
    vyre_text_printf(t,
                     "  %%s1 = call i1 @g%u_segment%u_wide(%s, i32 %%a, i32 %%m)\n"
                     "  br i1 %%s1, label %%stop, label %%ran\n"
                     "ran:\n  %%s2 = call i1 @g%u_segment%u_one(%s, i32 %%m, i32 %%b)\n"
                     "  br i1 %%s2, label %%stop, label %%rest\n"
                     "rest:\n  %%more = icmp ult i32 %%end, %u\n"
                     "  br i1 %%more, label %%piece, label %%finish\n"
                     "all:\n  %%s3 = call i1 @g%u_segment%u_all(%s)\n  ret i1 %%s3\n"
                     "finish:\n  ret i1 false\nstop:\n  ret i1 true\n}\n\n",
                     number, segment, arguments, number, segment, arguments, lanes, number, segment,
                     arguments);
}

/* False: there is no guard that clips, and nothing was written. */
static bool write_clipped(cpu_writer *w, cpu_emit *e, uint32_t number, uint32_t width) {
    const uint32_t lanes = e->p->workgroup[0];
    e->width = width;
    e->masked_tail = false;
    if (!cpu_find_pieces(e) || cpu_part_has_varying_loop(e) || !cpu_has_guard(e)) {
        e->trusts = false;
        return false;
    }
    write_as(w, e, number, "_probe", ", i32 %from, i32 %to, ptr %out");
    cpu_part_settle(e, cpu_emit_range);
    write_as(w, e, number, "_wide", ", i32 %from, i32 %to");
    e->trusts = false;
    e->width = 1;
    cpu_part_forget(e);
    cpu_part_settle(e, cpu_emit_range);
    write_as(w, e, number, "_one", ", i32 %from, i32 %to");
    emit_in_gangs_of(e, width);
    write_as(w, e, number, "_all", "");
    write_choice(w->out, number, e->segment, lanes, width);
    return true;
}

/* A segment of one lane: all but what has no effects stands behind `if (local_id.x == number)`. */
static bool find_only(const vyre_program_view *p, uint32_t *out_lane) {
    vyre_stmt s = p->entry;
    while (s < p->stmt_count && p->stmts[s].op == VYRE_STMT_LET) {
        s++;
    }
    if (s == p->stmt_count || p->stmts[s].op != VYRE_STMT_IF ||
        p->stmts[s].match + 1 != p->stmt_count) {
        return false;
    }
    const vyre_expr_node *is = &p->exprs[p->stmts[s].arg[0]];
    if (is->op != VYRE_EXPR_EQ) {
        return false;
    }
    const vyre_expr_node *id = &p->exprs[is->u.arg[0]], *number = &p->exprs[is->u.arg[1]];
    *out_lane = (uint32_t)number->u.bits;
    return id->op == VYRE_EXPR_BUILTIN && id->sub == VYRE_BUILTIN_LOCAL_ID && id->axis == 0 &&
           number->op == VYRE_EXPR_LITERAL && number->u.bits < p->workgroup[0];
}

static void write_only(cpu_writer *w, cpu_emit *e, uint32_t number, uint32_t lane) {
    cpu_note(e, VYRE_NONE, "lanes", "only lane %u because its guard lets no other pass", lane);
    cpu_part_settle(e, cpu_emit_range);
    write_as(w, e, number, "_one", ", i32 %from, i32 %to");
    vyre_text_printf(w->out,
                     "define internal i1 @g%u_segment%u(%s) #0 {\nentry:\n"
                     "  %%s = call i1 @g%u_segment%u_one(%s, i32 %u, i32 %u)\n  ret i1 %%s\n}\n\n",
                     number, e->segment, arguments, number, e->segment, arguments, lane, lane + 1);
}

vyre_status cpu_write_lanes(cpu_writer *w, const cpu_group *group, uint32_t number,
                            uint32_t segment, vyre_diag *diag) {
    cpu_emit e;
    char name[48];
    vyre_status status = cpu_part_begin(w, group, segment, &e, diag);
    if (status != VYRE_OK) {
        return status;
    }
    const uint32_t width = choose_width(w, e.p);
    const uint32_t lanes = e.p->workgroup[0] * e.p->workgroup[1] * e.p->workgroup[2];
    const bool along_x = e.p->workgroup[0] == lanes && lanes % width == 0 &&
                         !(e.p->stats.stmt_kinds >> VYRE_STMT_SUBGROUP & 1);
    uint32_t only;
    note_form(w, group, &e, width);
    if (e.p->workgroup[0] == lanes && find_only(e.p, &only)) {
        write_only(w, &e, number, only);
    } else if (!(along_x && width > 1) || !write_clipped(w, &e, number, width)) {
        emit_best(w, &e);
        (void)snprintf(name, sizeof name, "g%u_segment%u", number, segment);
        cpu_part_write(w, &e, name, arguments);
    }
    cpu_part_end(w, &e);
    return VYRE_OK;
}
