/* A kernel as text. Of each group:
 *   runN         walks over groups by linear number, or over rows (rows.c)
 *   gN_group     runs the schedule of one group, segment after segment (schedule.c)
 *   gN_segmentK  runs the lanes of a group through a segment, gang by gang (lanes.c)
 * All but `runN` are local, so LLVM puts them together as it likes. */
#include "backend/cpu/kernel.h"

static const char attributes[] =
    "attributes #0 = { nounwind \"no-builtins\" \"prefer-vector-width\"=\"512\" }\n"
    "attributes #1 = { nounwind noinline cold \"no-builtins\" }\n"
    "!0 = !{!\"branch_weights\", i32 1048576, i32 1}\n" /* the first way is the usual one */
    "!1 = !{i32 1}\n";

/* Stores past the caches come before whatever this core does next. */
void cpu_write_finish(const cpu_writer *w) {
    vyre_text_printf(w->out, "finish:\n%s  ret void\n}\n\n",
                     w->streamed ? "  call void @llvm.x86.sse.sfence()\n" : "");
}

/* Groups [begin, end), by linear number; with a loop that is turned one trip of each, then the next
 * one, until none of them made one. */
static void write_run(const cpu_writer *w, uint32_t number, uint32_t lanes, bool turned) {
    vyre_text *t = w->out;
    vyre_text_printf(t, "define void @run%u(ptr %%ctx, i64 %%begin, i64 %%end) #0 {\nentry:\n",
                     number);
    vyre_text_puts(t, "  %made = alloca i32\n");
    cpu_load_grid(t);
    vyre_text_printf(
        t,
        "  %%wx = zext i32 %%nx to i64\n  %%wy = zext i32 %%ny to i64\n"
        "  %%any = icmp ult i64 %%begin, %%end\n  br i1 %%any, label %%start, label %%finish\n"
        "start:\n"
        "  %%x0 = urem i64 %%begin, %%wx\n  %%r0 = udiv i64 %%begin, %%wx\n"
        "  %%y0 = urem i64 %%r0, %%wy\n  %%z0 = udiv i64 %%r0, %%wy\n"
        "  %%x1 = trunc i64 %%x0 to i32\n  %%y1 = trunc i64 %%y0 to i32\n"
        "  %%z1 = trunc i64 %%z0 to i32\n"
        "  %%fuel = getelementptr i8, ptr %%ctx, i64 %zu\n"
        "  br label %%trip\n"
        "trip:\n  %%t = phi i32 [ 0, %%start ], [ %%t2, %%behind ]\n"
        "  store i32 0, ptr %%made\n  br label %%groups\n"
        "groups:\n"
        "  %%g = phi i64 [ %%begin, %%trip ], [ %%g2, %%next ]\n"
        "  %%x = phi i32 [ %%x1, %%trip ], [ %%x4, %%next ]\n"
        "  %%y = phi i32 [ %%y1, %%trip ], [ %%y4, %%next ]\n"
        "  %%z = phi i32 [ %%z1, %%trip ], [ %%z3, %%next ]\n"
        "  %%first = mul i64 %%g, %u\n"
        "  %%stop = call i1 @g%u_%s(ptr %%ctx, i32 %%x, i32 %%y, i32 %%z, i64 %%first%s)\n"
        "  br i1 %%stop, label %%finish, label %%count\n"
        "count:\n"
        "  %%f = load i64, ptr %%fuel\n  %%f2 = sub i64 %%f, 1024\n  store i64 %%f2, ptr %%fuel\n"
        "  %%empty = icmp slt i64 %%f2, 0\n  br i1 %%empty, label %%look, label %%next\n"
        "look:\n"
        "  %%at_check = getelementptr i8, ptr %%ctx, i64 %zu\n"
        "  %%check = load ptr, ptr %%at_check\n  %%c = call i32 %%check(ptr %%ctx)\n"
        "  %%over = icmp ne i32 %%c, 0\n  br i1 %%over, label %%finish, label %%next\n"
        "next:\n"
        "  %%g2 = add i64 %%g, 1\n  %%x2 = add i32 %%x, 1\n"
        "  %%carry = icmp eq i32 %%x2, %%nx\n  %%x4 = select i1 %%carry, i32 0, i32 %%x2\n"
        "  %%cy = zext i1 %%carry to i32\n  %%y2 = add i32 %%y, %%cy\n"
        "  %%carry2 = icmp eq i32 %%y2, %%ny\n  %%y4 = select i1 %%carry2, i32 0, i32 %%y2\n"
        "  %%cz = zext i1 %%carry2 to i32\n  %%z3 = add i32 %%z, %%cz\n"
        "  %%more = icmp ult i64 %%g2, %%end\n  br i1 %%more, label %%groups, label %%behind\n"
        "behind:\n"
        "  %%any_trip = load i32, ptr %%made\n  %%goes = icmp ne i32 %%any_trip, 0\n"
        "  %%t2 = add i32 %%t, 1\n  br i1 %%goes, label %%trip, label %%finish\n",
        CPU_FIELD(fuel), lanes, number, turned ? "segment0" : "group",
        turned ? ", ptr null, ptr %made, i32 %t" : "", CPU_FIELD(check));
    cpu_write_finish(w);
}

void cpu_writer_begin(cpu_writer *w, cpu_isa isa, uint32_t gang, cpu_notes *notes,
                      const vyre_allocator *a, vyre_text *out) {
    *w = (cpu_writer){.a = a, .isa = isa, .gang = gang, .notes = notes, .lists = 2, .out = out};
    vyre_text_init(&w->tail, a);
    vyre_text_puts(out, "target triple = \"x86_64-unknown-linux-gnu\"\n\n");
}

vyre_status cpu_writer_end(cpu_writer *w, vyre_diag *diag) {
    cpu_write_cold(&w->cold, w->out);
    vyre_text_puts(w->out, attributes);
    vyre_text_puts(w->out, vyre_text_string(&w->tail));
    w->out->failed |= w->tail.failed;
    vyre_text_finish(&w->tail);
    return vyre_text_status(w->out, "a kernel", diag);
}

vyre_status cpu_write_group(cpu_writer *w, cpu_group *group, uint32_t number, vyre_diag *diag) {
    const uint32_t *size = vyre_program_get(cpu_group_source(group))->workgroup;
    vyre_status status = VYRE_OK;
    w->piece = number;
    w->streamed = false;
    if (!cpu_rows_refusal(group)) {
        return cpu_write_rows(w, group, number, diag);
    }
    for (uint32_t i = 0; i < cpu_group_segments(group) && status == VYRE_OK; i++) {
        status = cpu_write_lanes(w, group, number, i, diag);
    }
    if (status == VYRE_OK) {
        status = cpu_write_schedule(w, group, number, diag);
    }
    write_run(w, number, size[0] * size[1] * size[2], cpu_turned_loop(group) != VYRE_NONE);
    return status;
}
