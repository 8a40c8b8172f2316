/* The schedule of a group that has workgroup barriers (vyre/split.h): its steps are blocks, its
 * scalars variables that LLVM keeps in registers, the assignments of a step two small functions
 * that are put in place. A segment gets the scalars as they were when its step was entered. */
#include <stdio.h>

#include "backend/cpu/kernel.h"

static const char control_arguments[] =
    "ptr %ctx, i32 %gx, i32 %gy, i32 %gz, ptr %scalars, ptr %made";

static void emit_none(cpu_emit *e) {
    (void)e;
}

/* The assignments [begin, end) of the control program. */
static vyre_status write_assignments(cpu_writer *w, const cpu_group *group, const char *name,
                                     vyre_stmt begin, vyre_stmt end, vyre_diag *diag) {
    cpu_emit e;
    vyre_status status = cpu_part_begin(w, group, VYRE_NONE, &e, diag);
    if (status != VYRE_OK) {
        return status;
    }
    e.form = CPU_FORM_CONTROL;
    e.ids[0] = e.ids[1] = e.ids[2] = e.lane = cpu_u32(0); /* on axes of size 1 they are uniform */
    cpu_part_settle(&e, emit_none);
    cpu_emit_list(&e, begin, end);
    cpu_line(&e, "  ret i1 false");
    cpu_part_write(w, &e, name, control_arguments);
    cpu_part_end(w, &e);
    return VYRE_OK;
}

static vyre_status write_control(cpu_writer *w, const cpu_group *group, uint32_t number,
                                 vyre_diag *diag) {
    const vyre_module_view *m = vyre_module_get(group->module);
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < m->step_count && status == VYRE_OK; i++) {
        const vyre_step *step = &m->steps[i];
        char name[48];
        (void)snprintf(name, sizeof name, "g%u_enter%u", number, i);
        if (step->enter_begin < step->enter_end) {
            status = write_assignments(w, group, name, step->enter_begin, step->enter_end, diag);
        }
        (void)snprintf(name, sizeof name, "g%u_leave%u", number, i);
        if (status == VYRE_OK && step->leave_begin < step->leave_end) {
            status = write_assignments(w, group, name, step->leave_begin, step->leave_end, diag);
        }
    }
    return status;
}

static const char *slot_type(uint8_t type) {
    return type == VYRE_BOOL                      ? "i1"
           : vyre_type_size((vyre_type)type) == 8 ? (type == VYRE_F64 ? "double" : "i64")
           : type == VYRE_F32                     ? "float"
                                                  : "i32";
}

/* Copies the scalars that the segment of a step takes. */
static void write_given(vyre_text *t, const vyre_module_view *m, uint32_t step, uint32_t segment) {
    const uint32_t count = vyre_program_get(m->segments[segment])->decl_count;
    for (vyre_decl d = 0; d < count; d++) {
        const vyre_segment_decl what = m->decls[segment][d];
        if (what.kind != VYRE_DECL_SCALAR) {
            continue;
        }
        const char *type = slot_type(m->scalars[what.ref].type);
        vyre_text_printf(t,
                         "  %%f%u_%u = getelementptr i8, ptr %%scalars, i64 %u\n"
                         "  %%v%u_%u = load %s, ptr %%f%u_%u, align 8\n"
                         "  %%t%u_%u = getelementptr i8, ptr %%given, i64 %u\n"
                         "  store %s %%v%u_%u, ptr %%t%u_%u, align 8\n",
                         step, d, 8 * what.ref, step, d, type, step, d, step, d, 8 * what.ref, type,
                         step, d, step, d);
    }
}

static void write_call(vyre_text *t, uint32_t number, const char *what, uint32_t step) {
    vyre_text_printf(t,
                     "  %%made_%s%u = load ptr, ptr %%made0\n"
                     "  %%r_%s%u = call i1 @g%u_%s%u(ptr %%ctx, i32 %%gx, i32 %%gy, i32 %%gz, ptr "
                     "%%scalars, ptr %%made_%s%u)\n",
                     what, step, what, step, number, what, step, what, step);
}

static void write_launch(vyre_text *t, uint32_t number, uint32_t step, uint32_t segment) {
    vyre_text_printf(
        t,
        "  %%made_%u = load ptr, ptr %%made0\n  %%tick_%u = load i32, ptr %%tick\n"
        "  %%stop_%u = call i1 @g%u_segment%u(ptr %%ctx, i32 %%gx, i32 %%gy, i32 %%gz, i64 "
        "%%first, ptr %%given, ptr %%made_%u, i32 %%tick_%u)\n"
        "  br i1 %%stop_%u, label %%stop, label %%ran%u\nran%u:\n",
        step, step, step, number, segment, step, step, step, step, step);
}

/* Whether somebody is alive: a lane has written the tick. */
static void write_ask(vyre_text *t, uint32_t i) {
    vyre_text_printf(t,
                     "  %%where_%u = load ptr, ptr %%made0\n"
                     "  %%word_%u = load i32, ptr %%where_%u, align 4\n"
                     "  %%now_%u = load i32, ptr %%tick\n"
                     "  %%alive_%u = icmp eq i32 %%word_%u, %%now_%u\n"
                     "  br i1 %%alive_%u, label %%goes%u, label %%over\ngoes%u:\n",
                     i, i, i, i, i, i, i, i, i, i);
}

/* Behind a step: places change, the clock ticks, and the next one follows. */
static void write_next(vyre_text *t, const vyre_module_view *m, uint32_t i) {
    const vyre_step *step = &m->steps[i];
    if (step->kind == VYRE_STEP_END) {
        vyre_text_puts(t, "  ret i1 false\n");
        return;
    }
    for (uint32_t x = step->exchange_begin; x < step->exchange_end; x++) {
        const vyre_exchange e = m->exchanges[x];
        if (e.a != VYRE_PLACE_MADE && e.b != VYRE_PLACE_MADE) {
            continue; /* a group has no other memory that changes places */
        }
        vyre_text_printf(t,
                         "  %%a%u_%u = load ptr, ptr %%made0\n  %%b%u_%u = load ptr, ptr %%made1\n"
                         "  store ptr %%a%u_%u, ptr %%made1\n  store ptr %%b%u_%u, ptr %%made0\n",
                         i, x, i, x, i, x, i, x);
    }
    vyre_text_printf(t,
                     "  %%clock_%u = load i32, ptr %%tick\n"
                     "  %%wrapped_%u = urem i32 %%clock_%u, 2147483647\n"
                     "  %%later_%u = add i32 %%wrapped_%u, 1\n  store i32 %%later_%u, ptr %%tick\n",
                     i, i, i, i, i, i);
    if (step->kind == VYRE_STEP_NEXT) {
        vyre_text_printf(t, "  br label %%step%u\n", step->next);
        return;
    }
    vyre_text_printf(t,
                     "  %%slot_%u = getelementptr i8, ptr %%scalars, i64 %u\n"
                     "  %%way_%u = load i1, ptr %%slot_%u, align 8\n"
                     "  br i1 %%way_%u, label %%step%u, label %%step%u\n",
                     i, 8 * step->decides, i, i, i, step->next, step->otherwise);
}

static void write_step(vyre_text *t, const vyre_module_view *m, uint32_t number, uint32_t i) {
    const vyre_step *step = &m->steps[i];
    vyre_text_printf(t, "step%u:\n", i);
    if (step->segment != VYRE_NONE) {
        write_given(t, m, i, step->segment);
    }
    if (step->enter_begin < step->enter_end) {
        write_call(t, number, "enter", i);
    }
    if (step->segment != VYRE_NONE) {
        write_launch(t, number, i, step->segment);
    }
    if (step->asks) {
        write_ask(t, i);
    }
    if (step->leave_begin < step->leave_end) {
        write_call(t, number, "leave", i);
    }
    write_next(t, m, i);
}

static void write_begin(vyre_text *t, const cpu_group *group, uint32_t number) {
    vyre_text_printf(t,
                     "define internal i1 @g%u_group(ptr %%ctx, i32 %%gx, i32 %%gy, i32 %%gz, i64 "
                     "%%first) #0 {\nentry:\n",
                     number);
    cpu_load_field(t, "arena", "ptr", CPU_FIELD(arena));
    if (group->arena) {
        cpu_load_field(t, "clear", "ptr", CPU_FIELD(clear));
        vyre_text_printf(t, "  call void %%clear(ptr %%arena, i64 %llu)\n",
                         (unsigned long long)group->arena);
    }
}

vyre_status cpu_write_schedule(cpu_writer *w, const cpu_group *group, uint32_t number,
                               vyre_diag *diag) {
    vyre_text *t = w->out;
    if (!group->module) {
        write_begin(t, group, number);
        vyre_text_printf(t,
                         "  %%r = call i1 @g%u_segment0(ptr %%ctx, i32 %%gx, i32 %%gy, i32 %%gz, "
                         "i64 %%first, ptr null, ptr null, i32 0)\n  ret i1 %%r\n}\n\n",
                         number);
        return VYRE_OK;
    }
    const vyre_module_view *m = vyre_module_get(group->module);
    vyre_status status = write_control(w, group, number, diag);
    const uint32_t scalars = m->scalar_count ? m->scalar_count : 1;
    write_begin(t, group, number);
    vyre_text_printf(t, "  %%scalars = alloca [%u x i64], align 8\n", scalars);
    vyre_text_printf(t, "  %%given = alloca [%u x i64], align 8\n", scalars);
    for (uint32_t i = 0; i < m->scalar_count; i++) {
        vyre_text_printf(t, "  %%z%u = getelementptr i8, ptr %%scalars, i64 %u\n", i, 8 * i);
        vyre_text_printf(t, "  store %s zeroinitializer, ptr %%z%u, align 8\n",
                         slot_type(m->scalars[i].type), i);
    }
    for (int i = 0; i < 2; i++) {
        vyre_text_printf(t,
                         "  %%made%d = alloca ptr\n  %%m%d = getelementptr i8, ptr %%arena, i64 "
                         "%llu\n  store ptr %%m%d, ptr %%made%d\n",
                         i, i, (unsigned long long)group->made[i], i, i);
    }
    vyre_text_puts(t, "  %tick = alloca i32\n  store i32 1, ptr %tick\n  br label %step0\n");
    for (uint32_t i = 0; i < m->step_count; i++) {
        write_step(t, m, number, i);
    }
    vyre_text_puts(t, "over:\n  ret i1 false\nstop:\n  ret i1 true\n}\n\n");
    return status;
}
