/* Stores of some lanes of a gang as a load, a choice and a store of all of them:
 *
 *     if (through < least[y * n + x]) { least[y * n + x] = through; }
 *
 * Masked stores of AVX2 cost as much as a dozen plain ones, narrow elements and SSE2 have none, and
 * whether any lane stores can't be foreseen. But the elements of lanes that do not store are
 * written as well, with what they were: so no lane of another thread may write one of them
 * meanwhile.
 *
 * Why that is so: all stores of the segment to the buffer have the same index, global_id.x + pitch
 * * global_id.y + offset modulo 2^32, and are done by lanes with x below the pitch (range_row.c);
 * there are no atomics on it. Before the blend code asks whether the grid has one plane (without a
 * pitch: one row), whether the rows of the whole grid have at most 2^32 elements, so that lanes
 * with x below the pitch have an element each that is none of another's, whether all lanes of the
 * range are below the pitch, and whether all their elements are in the buffer, in 64 bits. Then
 * only the lane itself could write the element. Where one of that is not so the store is made as
 * ever. The address is that of the form: what the index is to lanes that do not store does not
 * matter.
 *
 * Lanes of a gang that are not there (rows.c) have no element here: another thread may have them.
 *
 * A lane that has loaded the element before needs no branch around the store either. */
#include <stdio.h>

#include "analysis/range.h"
#include "backend/cpu/emit.h"

static bool is_same_row(const vyre_row *x, const vyre_row *y) {
    return x->kind == y->kind && x->pitch == y->pitch && x->offset == y->offset;
}

/* Whether only one lane of a plane writes the elements of this store. */
static bool is_own(const cpu_emit *e, const vyre_ranges *ranges, vyre_stmt store) {
    const vyre_program_view *p = e->p;
    const vyre_row row = vyre_ranges_row(ranges, store);
    const vyre_decl decl = p->stmts[store].decl;
    bool own = row.kind != VYRE_ROW_NONE && e->bindings[decl].meaning == CPU_IS_BUFFER &&
               p->workgroup[2] == 1 && (row.kind != VYRE_ROW_ALONE || p->workgroup[1] == 1) &&
               (row.kind != VYRE_ROW_PARAM || p->decls[row.pitch].type == VYRE_U32);
    for (vyre_stmt i = p->entry; i < p->stmt_count && own; i++) {
        const vyre_row other = vyre_ranges_row(ranges, i);
        own = p->stmts[i].decl != decl ||
              (p->stmts[i].op == VYRE_STMT_STORE && is_same_row(&row, &other));
    }
    return own;
}

/* Whether the element is loaded before the store is. */
static bool is_loaded(const cpu_emit *e, const vyre_ranges *ranges, vyre_stmt store) {
    const vyre_stmt_node *s = &e->p->stmts[store];
    vyre_range to, from;
    bool loaded = false;
    for (vyre_expr i = 0; i < s->first_expr && !loaded; i++) {
        const vyre_expr_node *n = &e->p->exprs[i];
        loaded = n->op == VYRE_EXPR_LOAD && n->ref == s->decl &&
                 vyre_ranges_of(ranges, s->arg[0], &to) &&
                 vyre_ranges_of(ranges, n->u.arg[0], &from) &&
                 vyre_affine_equal(&to.index, &from.index);
    }
    return loaded;
}

void cpu_find_owns(cpu_emit *e, const vyre_ranges *ranges) {
    for (vyre_stmt i = e->p->entry; i < e->p->stmt_count; i++) {
        if (e->p->stmts[i].op == VYRE_STMT_STORE && is_own(e, ranges, i)) {
            const vyre_row row = vyre_ranges_row(ranges, i);
            e->owns[i] = (cpu_own){row.kind, row.pitch, row.offset, is_loaded(e, ranges, i)};
        }
    }
}

bool cpu_blends(const cpu_emit *e, vyre_stmt store) {
    return e->form == CPU_FORM_ROWS && e->width > 1 && !e->masked_tail && !e->probing &&
           e->owns[store].kind != VYRE_ROW_NONE && (e->isa != CPU_AVX512 || e->owns[store].loaded);
}

bool cpu_blends_always(const cpu_emit *e, vyre_stmt store) {
    return e->p->stmts[store].op == VYRE_STMT_STORE && cpu_blends(e, store) &&
           e->owns[store].loaded;
}

static cpu_value wide(cpu_emit *e, const char *text) {
    return cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", text);
}

static cpu_value is_at_most(cpu_emit *e, cpu_value so_far, cpu_value x, const char *most) {
    cpu_value is = cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp ule i64 %s, %s", x.text, most);
    return cpu_binary(e, "and", VYRE_BOOL, so_far, is);
}

static cpu_value pitch_of(cpu_emit *e, const cpu_own *row) {
    cpu_value pitch = row->kind == VYRE_ROW_NUMBER  ? cpu_u32(row->pitch)
                      : row->kind == VYRE_ROW_PARAM ? cpu_param(e, row->pitch)
                                                    : cpu_length(e, row->pitch);
    return wide(e, pitch.text);
}

/* Whether it may be done in this range, and the place of its first lane's element, as 64 bits. It
 * is the same for all gangs, so LLVM takes it out of their loop. */
static cpu_value ask(cpu_emit *e, vyre_decl decl, const cpu_own *row, cpu_value *out_first) {
    char count[24];
    cpu_need_base(e, decl);
    (void)snprintf(count, sizeof count, "%%n%u", decl);
    cpu_value x = wide(e, "%from"), end = wide(e, "%to"), elements = wide(e, count);
    cpu_value first = cpu_new(e, VYRE_U64, CPU_ONE, "add i64 %s, %u", x.text, row->offset);
    cpu_value may = cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp eq i32 %%nz, 1");
    if (row->kind == VYRE_ROW_ALONE) {
        cpu_value one = cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp eq i32 %%ny, 1");
        may = cpu_binary(e, "and", VYRE_BOOL, may, one);
    } else {
        cpu_value pitch = pitch_of(e, row), groups = wide(e, "%ny"), y = wide(e, "%gy");
        cpu_value rows =
            cpu_new(e, VYRE_U64, CPU_ONE, "mul i64 %s, %u", groups.text, e->p->workgroup[1]);
        cpu_value all = cpu_binary(e, "mul", VYRE_U64, rows, pitch);
        may = is_at_most(e, may, all, "4294967296");
        may = is_at_most(e, may, end, pitch.text);
        first = cpu_binary(e, "add", VYRE_U64, first, cpu_binary(e, "mul", VYRE_U64, y, pitch));
    }
    cpu_value last = cpu_new(e, VYRE_U64, CPU_ONE, "add i64 %s, %%range64", first.text);
    *out_first = first;
    return is_at_most(e, may, last, elements.text);
}

uint32_t cpu_blend(cpu_emit *e, vyre_decl decl, cpu_value v) {
    const uint32_t label = cpu_label(e);
    cpu_value first;
    cpu_note(e, e->stmt, "store",
             "of all %u lanes, blended with what is there%s because no other lane writes their "
             "elements",
             e->width, e->owns[e->stmt].loaded ? ", and no branch" : "");
    cpu_value may = ask(e, decl, &e->owns[e->stmt], &first);
    cpu_line(e, "  br i1 %s, label %%blend%u, label %%apart%u, !prof !0", may.text, label, label);
    cpu_line(e, "blend%u:", label);
    const char *stored = cpu_stored((vyre_type)e->p->decls[decl].type);
    cpu_value to = cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr %s, ptr %%b%u, i64 %s", stored,
                           decl, first.text);
    to = cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr %s, ptr %s, i64 %%k", stored, to.text);
    cpu_value old = cpu_load_at(e, decl, to.text, CPU_EACH);
    cpu_value all = cpu_select(e, cpu_active(e), v, old);
    cpu_store_at(e, decl, to.text, &all);
    cpu_line(e, "  br label %%blended%u", label);
    cpu_line(e, "apart%u:", label);
    return label;
}

void cpu_blend_end(cpu_emit *e, uint32_t label) {
    cpu_line(e, "  br label %%blended%u\nblended%u:", label, label);
}
