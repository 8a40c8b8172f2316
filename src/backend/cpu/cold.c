/* What gangs do whose consecutive indices are not all inside, or not all of whose lanes are active:
 * one lane after another, in functions of their own, so that the usual way stays small. */
#include "backend/cpu/emit.h"

static const struct {
    vyre_type type;
    const char *name, *suffix;
} elements[] = {{VYRE_U8, "i8", "i8"},    {VYRE_U16, "i16", "i16"},   {VYRE_U32, "i32", "i32"},
                {VYRE_U64, "i64", "i64"}, {VYRE_F32, "float", "f32"}, {VYRE_F64, "double", "f64"}};

static void write_load(vyre_text *t, const char *type, const char *suffix, uint32_t width) {
    vyre_text_printf(t,
                     "define internal <%u x %s> @load_%s_%u(ptr %%base, ptr %%zero, i32 %%first, "
                     "i32 %%count) #1 {\nentry:\n  %%all = alloca <%u x %s>\n  br label %%lane\n"
                     "lane:\n  %%i = phi i32 [ 0, %%entry ], [ %%next, %%lane ]\n"
                     "  %%index = add i32 %%first, %%i\n"
                     "  %%inside = icmp ult i32 %%index, %%count\n"
                     "  %%wide = zext i32 %%index to i64\n"
                     "  %%there = getelementptr %s, ptr %%base, i64 %%wide\n"
                     "  %%at = select i1 %%inside, ptr %%there, ptr %%zero\n"
                     "  %%v = load %s, ptr %%at\n"
                     "  %%to = getelementptr %s, ptr %%all, i32 %%i\n"
                     "  store %s %%v, ptr %%to\n  %%next = add i32 %%i, 1\n"
                     "  %%more = icmp ult i32 %%next, %u\n"
                     "  br i1 %%more, label %%lane, label %%done\n"
                     "done:\n  %%r = load <%u x %s>, ptr %%all\n  ret <%u x %s> %%r\n}\n\n",
                     width, type, suffix, width, width, type, type, type, type, type, width, width,
                     type, width, type);
}

static void write_store(vyre_text *t, const char *type, const char *suffix, uint32_t width) {
    vyre_text_printf(t,
                     "define internal void @store_%s_%u(ptr %%base, i32 %%first, i32 %%count, "
                     "<%u x %s> %%v, i64 %%bits) #1 {\nentry:\n  %%all = alloca <%u x %s>\n"
                     "  store <%u x %s> %%v, ptr %%all\n  br label %%lane\n"
                     "lane:\n  %%i = phi i32 [ 0, %%entry ], [ %%next, %%skip ]\n"
                     "  %%index = add i32 %%first, %%i\n"
                     "  %%inside = icmp ult i32 %%index, %%count\n"
                     "  %%i64 = zext i32 %%i to i64\n  %%shifted = lshr i64 %%bits, %%i64\n"
                     "  %%bit = trunc i64 %%shifted to i1\n"
                     "  %%does = and i1 %%inside, %%bit\n"
                     "  br i1 %%does, label %%put, label %%skip\n"
                     "put:\n  %%wide = zext i32 %%index to i64\n"
                     "  %%there = getelementptr %s, ptr %%base, i64 %%wide\n"
                     "  %%from = getelementptr %s, ptr %%all, i32 %%i\n"
                     "  %%one = load %s, ptr %%from\n  store %s %%one, ptr %%there\n"
                     "  br label %%skip\n"
                     "skip:\n  %%next = add i32 %%i, 1\n  %%more = icmp ult i32 %%next, %u\n"
                     "  br i1 %%more, label %%lane, label %%done\n"
                     "done:\n  ret void\n}\n\n",
                     suffix, width, width, type, width, type, width, type, type, type, type, type,
                     width);
}

void cpu_write_cold(const cpu_cold *cold, vyre_text *out) {
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        for (uint32_t w = 1; w < CPU_WIDTHS; w++) {
            if (cold->used[elements[i].type][w][0]) {
                write_load(out, elements[i].name, elements[i].suffix, 1u << w);
            }
            if (cold->used[elements[i].type][w][1]) {
                write_store(out, elements[i].name, elements[i].suffix, 1u << w);
            }
        }
    }
}
