/* Stores past the caches: of a buffer that is larger than they are, and of which a launch reads
 * nothing, a line need not be fetched before it is written, nor push out what will be read again.
 * It saves a third of the traffic of a copy, and half of the time.
 *
 *   static   nothing in the program of the group loads from the buffer, or does atomics on it; all
 *            lanes of the gang store side by side, and fill whole lines: those of AVX-512 do by
 *            themselves, narrower ones together with the next gang, if no loop is in between, nor
 *            a row of the group ends
 *   running  the buffer has at least as many bytes as the device says (`stream` of the context),
 *            and the address is a multiple of the vector, which such stores need
 *
 * Why that is right: a core sees its own stores in order, and other cores look behind a barrier
 * only, before which `run` makes a fence. */
#include "backend/cpu/kernel.h"

enum { LINE = 64 };

void cpu_find_streams(cpu_emit *e, const vyre_program_view *source) {
    for (vyre_decl d = 0; d < e->p->decl_count; d++) {
        const uint32_t number = e->bindings[d].number;
        bool only_stored = e->bindings[d].meaning == CPU_IS_BUFFER;
        for (vyre_expr i = 0; i < source->expr_count && only_stored; i++) {
            only_stored = source->exprs[i].op != VYRE_EXPR_LOAD || source->exprs[i].ref != number;
        }
        for (vyre_stmt i = 0; i < source->stmt_count && only_stored; i++) {
            const vyre_stmt_node *s = &source->stmts[i];
            only_stored = s->op == VYRE_STMT_STORE || (s->decl != number && s->decl2 != number);
        }
        e->streams[d] = only_stored;
    }
}

static bool is_in_loop(const cpu_emit *e) {
    bool in_loop = false;
    for (uint32_t i = 0; i < e->scope_count; i++) {
        const uint8_t op = e->p->stmts[e->scopes[i].opener].op;
        in_loop |= op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE;
    }
    return in_loop;
}

/* Whether the next gang goes on elsewhere, in the next row of its group, before a line is full. A
 * line that is written in parts, with others in between, costs more than one that is fetched. */
static bool leaves_lines(const cpu_emit *e, uint32_t size) {
    const uint32_t *group = e->p->workgroup;
    return e->form == CPU_FORM_LANES && group[1] * group[2] > 1 && group[0] * size % LINE != 0;
}

/* Whether the buffer is large, as a value of the entry block. */
static void need_large(cpu_emit *e, vyre_decl decl) {
    cpu_need_base(e, decl);
    if (!e->has_large[decl]) {
        e->has_large[decl] = true;
        cpu_head(e, "  %%count%u = zext i32 %%n%u to i64", decl, decl);
        cpu_head(e, "  %%bytes%u = mul nuw i64 %%count%u, %u", decl, decl,
                 vyre_type_size((vyre_type)e->p->decls[decl].type));
        cpu_head(e, "  %%large%u = icmp uge i64 %%bytes%u, %%stream", decl, decl);
    }
}

uint32_t cpu_stream_begin(cpu_emit *e, vyre_decl decl, const char *bits) {
    const uint32_t label = cpu_label(e);
    need_large(e, decl);
    cpu_value even = cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp eq i64 %s, 0", bits);
    cpu_value go = cpu_new(e, VYRE_BOOL, CPU_ONE, "and i1 %s, %%large%u", even.text, decl);
    cpu_line(e, "  br i1 %s, label %%past%u, label %%cached%u\npast%u:", go.text, label, label,
             label);
    e->streamed = true;
    cpu_note(e, e->stmt, "stores",
             "past the caches if the buffer is larger because nothing is loaded from it");
    return label;
}

void cpu_stream_else(cpu_emit *e, uint32_t label) {
    cpu_line(e, "  br label %%stored%u\ncached%u:", label, label);
}

void cpu_stream_end(cpu_emit *e, uint32_t label) {
    cpu_line(e, "  br label %%stored%u\nstored%u:", label, label);
}

void cpu_store_row(cpu_emit *e, vyre_decl decl, const char *address, const cpu_value *v) {
    const uint32_t size = vyre_type_size((vyre_type)e->p->decls[decl].type);
    const uint32_t bytes = e->width * size;
    const uint32_t vector = cpu_isa_vector_bytes(e->isa), part = bytes < vector ? bytes : vector;
    if (!e->streams[decl] || part < 16 ||
        (part < LINE && (is_in_loop(e) || leaves_lines(e, size)))) {
        cpu_store_at(e, decl, address, v);
        return;
    }
    cpu_value at = cpu_new(e, VYRE_U64, CPU_ONE, "ptrtoint ptr %s to i64", address);
    cpu_value bits = cpu_new(e, VYRE_U64, CPU_ONE, "and i64 %s, %u", at.text, part - 1);
    const uint32_t label = cpu_stream_begin(e, decl, bits.text);
    char scopes[64];
    cpu_alias(e, decl, scopes, sizeof scopes);
    cpu_line(e, "  store %s %s, ptr %s, align %u%s%s", cpu_type_of(e, v), v->text, address, part,
             CPU_NONTEMPORAL, scopes);
    cpu_stream_else(e, label);
    cpu_store_at(e, decl, address, v);
    cpu_stream_end(e, label);
}
