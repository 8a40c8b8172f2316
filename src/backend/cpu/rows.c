/* The form of segments that share nothing within their group: groups are dissolved, and all lanes
 * along x of a row of the grid are one range. A unit of work is a lane (lane x of row r has the
 * number r * width of the grid + x); a worker runs what it takes of a row at once.
 *
 * Three functions run a range of lanes:
 *   probe  finds out which piece of the range vectors may run, and what they may rely on (probe.c)
 *   wide   runs a piece in gangs of as many lanes as vectors have, without what probe answers for;
 *          where several vectors per gang pay, `broad` does most of it: loops wait less for their
 *          last trip and share what all lanes have, small elements fill vectors
 *   tail   what is left of a piece behind whole gangs, or a piece that is less than one, as `wide`
 *          does, masked: with AVX-512, where lanes may not run twice
 *   one    lane after lane, with all checks: else what is left of a piece behind whole gangs, and
 * pieces that are short, or for which probe says no many   in gangs, with all checks, the last one
 * with lanes that are not there: where one short piece follows the other, as at multiples of a
 * small number that is not known before. Only with AVX-512, whose masks, gathers and scatters beat
 * lanes one by one Where trips of a loop vary from lane to lane, or with atomics on elements of
 * their own (tally.c has the others), `wide` runs lane by lane as well, and probe looks at guards
 * and accesses only. `clipN` tells before work is shared out which lanes have something to do.
 *
 * Why that is right: lanes of a segment may run in any order; a lane outside the guards does
 * nothing, since the guards stand around all that has effects; a value that is linear in the lane
 * is that of the first lane plus the distance, and pieces end where that would wrap. Lanes run
 * twice only where nothing that they store is loaded: they store the same again. */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/kernel.h"
#include "base/alloc.h"
#include "base/diag.h"

enum {
    /* Lanes that are worth another worker: in gangs they cost next to nothing, one by one they have
     * loops of their own, or wait for each other. */
    FEW = 512,
    FEW_SERIAL = 16,
    SHORT = 64 /* lanes that run without asking where pieces are short */
};

/* Lanes of a gang; wide 1: only lane by lane; broad > wide, tail, many: there is such a function.
 */
typedef struct fast_widths {
    uint32_t wide, broad;
    bool tail, many;
} fast_widths;

static const char range_arguments[] = "ptr %ctx, i32 %gy, i32 %gz, i32 %from, i32 %to";
static const char probe_arguments[] = "ptr %ctx, i32 %gy, i32 %gz, i32 %from, i32 %to, ptr %out";

const char *cpu_rows_refusal(const cpu_group *group) {
    const vyre_program_view *p = vyre_program_get(group->program);
    const char *why = group->module                                   ? "it has barriers"
                      : group->arena                                  ? "it has workgroup memory"
                      : p->stats.stmt_kinds >> VYRE_STMT_SUBGROUP & 1 ? "it has subgroup operations"
                                                                      : NULL;
    for (vyre_expr i = 0; i < p->expr_count && !why; i++) {
        const uint8_t id = p->exprs[i].sub;
        const bool is_free = p->exprs[i].op != VYRE_EXPR_BUILTIN || id == VYRE_BUILTIN_GLOBAL_ID ||
                             id == VYRE_BUILTIN_GLOBAL_SIZE || id == VYRE_BUILTIN_NUM_GROUPS ||
                             id == VYRE_BUILTIN_GROUP_SIZE;
        why = is_free ? NULL : "it asks for ids within or of its group";
    }
    return why;
}

/* Ids of a gang, or lane, that begins at x. */
void cpu_range_ids(cpu_emit *e, const char *x) {
    e->ids[0] = (cpu_value){
        .type = VYRE_U32, .hold = e->width > 1 ? CPU_LINEAR : CPU_ONE, .stride = e->width > 1};
    e->lane = e->ids[0];
    (void)snprintf(e->lane.text, sizeof e->lane.text, "%s", x);
    if (e->width > 1 && e->trusts && !e->probing) {
        memcpy(e->lane.first, "%from", 6);
    }
    if (e->form == CPU_FORM_LANES) { /* of a group along x */
        e->ids[0] = e->lane;
        e->ids[1] = e->ids[2] = cpu_u32(0);
        return;
    }
    e->ids[1] = e->ids[2] = (cpu_value){.type = VYRE_U32};
    memcpy(e->ids[0].text, e->lane.text, sizeof e->lane.text);
    memcpy(e->ids[0].first, e->lane.first, sizeof e->lane.first);
    memcpy(e->ids[1].text, "%gy", 4);
    memcpy(e->ids[2].text, "%gz", 4);
}

/* The linear number of a lane in the grid, group by group, from its id along x. */
cpu_value cpu_rows_lane(cpu_emit *e, cpu_value x) {
    const uint32_t *size = e->p->workgroup;
    const char *ids[3] = {x.text, "%gy", "%gz"};
    static const char *const groups[3] = {"%nx", "%ny", "%nz"};
    cpu_value group = cpu_literal(VYRE_U64, 0), local = group;
    for (int axis = 2; axis >= 0; axis--) {
        cpu_value g = cpu_new(e, VYRE_U32, CPU_ONE, "udiv i32 %s, %u", ids[axis], size[axis]);
        cpu_value l = cpu_new(e, VYRE_U32, CPU_ONE, "urem i32 %s, %u", ids[axis], size[axis]);
        cpu_value n = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", groups[axis]);
        g = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", g.text);
        l = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", l.text);
        group = cpu_new(e, VYRE_U64, CPU_ONE, "mul i64 %s, %s", group.text, n.text);
        group = cpu_new(e, VYRE_U64, CPU_ONE, "add i64 %s, %s", group.text, g.text);
        local = cpu_new(e, VYRE_U64, CPU_ONE, "mul i64 %s, %u", local.text, size[axis]);
        local = cpu_new(e, VYRE_U64, CPU_ONE, "add i64 %s, %s", local.text, l.text);
    }
    group =
        cpu_new(e, VYRE_U64, CPU_ONE, "mul i64 %s, %u", group.text, size[0] * size[1] * size[2]);
    return cpu_new(e, VYRE_U64, CPU_ONE, "add i64 %s, %s", group.text, local.text);
}

/* Which lanes of the gang are there: with a masked tail those before the end of the range. */
static cpu_value lanes_there(cpu_emit *e) {
    if (!e->masked_tail) {
        return cpu_each(e, cpu_literal(VYRE_BOOL, 1));
    }
    cpu_value left = cpu_new(e, VYRE_U64, CPU_ONE, "sub i64 %%range64, %%k");
    left = cpu_new(e, VYRE_U64, CPU_ONE, "call i64 @llvm.umin.i64(i64 %s, i64 %u)", left.text,
                   e->width);
    left = cpu_new(e, VYRE_U32, CPU_ONE, "trunc i64 %s to i32", left.text);
    cpu_value number = {.type = VYRE_U32, .hold = CPU_LINEAR, .stride = 1, .text = "0"};
    return cpu_compare(e, "ult", cpu_each(e, number), cpu_each(e, left));
}

/* As many whole gangs as [from, to) has; with a masked tail, all of it. */
void cpu_emit_range(cpu_emit *e) {
    const uint32_t least = e->masked_tail ? 1 : e->width; /* lanes of a gang */
    cpu_head(e, "  %%fuel = alloca i64\n  store i64 %d, ptr %%fuel", CPU_FUEL);
    cpu_head(e, "  %%far = alloca i64\n  store i64 0, ptr %%far");
    cpu_head(e, "  %%range = sub i32 %%to, %%from\n  %%range64 = zext i32 %%range to i64");
    /* Tested at the end of each: what is the same for all gangs is hoisted, divisions too. */
    cpu_line(e, "  %%gang_any = icmp uge i64 %%range64, %u", least);
    cpu_line(e, "  br i1 %%gang_any, label %%gangs, label %%finish");
    cpu_line(e, "gangs:");
    cpu_line(e, "  %%k = load i64, ptr %%far"); /* how far the gang is from the first */
    cpu_line(e, "  %%k32 = trunc i64 %%k to i32");
    cpu_line(e, "  %%l = add i32 %%from, %%k32");
    cpu_range_ids(e, "%l");
    if (e->width > 1) {
        cpu_begin_masks(e, lanes_there(e));
    }
    cpu_emit_privates(e);
    cpu_emit_list(e, e->p->entry, e->p->stmt_count);
    cpu_line(e, "  br label %%gang_end");
    cpu_line(e, "gang_end:");
    cpu_line(e, "  %%k_next = add nuw nsw i64 %%k, %u", e->width);
    cpu_line(e, "  store i64 %%k_next, ptr %%far");
    cpu_line(e, "  %%k_last = add nuw nsw i64 %%k_next, %u", least);
    cpu_line(e, "  %%gang_more = icmp ule i64 %%k_last, %%range64");
    cpu_line(e, "  br i1 %%gang_more, label %%gangs, label %%finish");
    cpu_line(e, "finish:");
    cpu_emit_tallies(e);
    cpu_line(e, "  ret i1 false");
    cpu_line(e, "stop:\n  ret i1 true");
}

/* Accesses of each function have names of their own. */
static void rename_accesses(cpu_writer *w, cpu_emit *e) {
    e->lists = w->lists;
    w->lists += 1 + 3 * e->p->decl_count;
}

static void write_as(cpu_writer *w, cpu_emit *e, uint32_t number, const char *what,
                     const char *arguments) {
    char name[48];
    (void)snprintf(name, sizeof name, "g%u_%s", number, what);
    cpu_part_write(w, e, name, arguments);
    rename_accesses(w, e);
}

/* Bytes of the smallest element that lanes of a gang have side by side. */
static uint32_t smallest_element(const cpu_emit *e) {
    const vyre_program_view *p = e->p;
    uint32_t least = 8;
    for (vyre_expr i = 0; i < p->expr_count; i++) {
        const bool aside = (e->marks[i] & CPU_MARK_INSIDE) != 0;
        const uint32_t size = aside ? vyre_type_size((vyre_type)p->decls[p->exprs[i].ref].type) : 8;
        least = size < least ? size : least;
    }
    for (vyre_stmt i = 0; i < p->stmt_count; i++) {
        const bool aside = (e->marks[cpu_stmt_site(e, i)] & CPU_MARK_INSIDE) != 0;
        const uint32_t size =
            aside ? vyre_type_size((vyre_type)p->decls[p->stmts[i].decl].type) : 8;
        least = size < least ? size : least;
    }
    return least;
}

/* Of a gang that is as wide as vectors of 32 bits. */
static uint32_t registers_of(vyre_type type) {
    return vyre_type_size(type) > 4 ? 2 : 1;
}

/* How many vectors a gang has at most: as many as fill vectors of the smallest elements, or, with
 * loops, as what lives in them has registers for. Lanes that do atomics are the bits of a word. */
static uint32_t choose_vectors(const cpu_emit *e) {
    enum { BESIDES = 1 }; /* registers for what does not live from trip to trip */
    const uint32_t registers = e->isa == CPU_AVX512 ? 32 : 16;
    const uint64_t kinds = e->p->stats.stmt_kinds;
    const bool loops = (kinds >> VYRE_STMT_FOR | kinds >> VYRE_STMT_WHILE) & 1;
    const uint32_t most_lanes = kinds >> VYRE_STMT_ATOMIC & 1 ? 32 : 64;
    const uint32_t size = smallest_element(e);
    if (e->tiled) {
        return 1; /* rows of more lanes would push each other out of the cache */
    }
    uint32_t live = BESIDES, vectors = size >= 4 ? 1 : 4 / size;
    for (vyre_var i = 0; i < e->p->var_count; i++) {
        live += e->holds[i] == CPU_EACH ? registers_of((vyre_type)e->p->vars[i].type) : 0;
    }
    for (vyre_stmt i = 0; i < e->p->stmt_count; i++) {
        live += e->parts[i]; /* a mask */
    }
    while (loops && vectors < 4 && 2 * vectors * live <= registers) {
        vectors *= 2;
    }
    return vectors * e->width > most_lanes ? most_lanes / e->width : vectors;
}

/* Finds out what vectors, or lanes one by one, may rely on. */
static bool find_pieces(cpu_emit *e, bool singly) {
    e->singly = singly;
    const bool pieces = cpu_find_pieces(e);
    e->singly = false;
    return pieces;
}

static void write_probe(cpu_writer *w, cpu_emit *e, uint32_t number, bool pieces) {
    if (pieces) {
        cpu_note(
            e, VYRE_NONE, "bounds",
            "guards and bounds are tested once for a range of lanes because the first lane tells "
            "how far they hold");
        write_as(w, e, number, "probe", probe_arguments);
        return;
    }
    cpu_note(e, VYRE_NONE, "bounds",
             "each access is tested because nothing can be found out before lanes run");
    vyre_text_printf(w->out,
                     "define internal i1 @g%u_probe(%s) #0 {\n  store i32 %%from, ptr %%out\n"
                     "  %%second = getelementptr i8, ptr %%out, i64 4\n"
                     "  store i32 %%to, ptr %%second\n"
                     "  %%third = getelementptr i8, ptr %%out, i64 8\n"
                     "  store i32 %%to, ptr %%third\n  ret i1 true\n}\n\n",
                     number, probe_arguments);
}

/* Whether lanes may run twice in a row: nothing that they store is loaded. */
static bool may_repeat(const vyre_program_view *p) {
    const uint64_t kinds = p->stats.stmt_kinds;
    bool may = !(kinds >> VYRE_STMT_ATOMIC & 1) && !(kinds >> VYRE_STMT_TRAP & 1);
    for (vyre_stmt i = p->entry; may && i < p->stmt_count; i++) {
        for (vyre_expr k = 0; p->stmts[i].op == VYRE_STMT_STORE && k < p->expr_count; k++) {
            may &= p->exprs[k].op != VYRE_EXPR_LOAD || p->exprs[k].ref != p->stmts[i].decl ||
                   p->decls[p->stmts[i].decl].role == VYRE_PRIVATE;
        }
    }
    return may;
}

/* The fast functions. What varies as gangs see it tells the guards of single lanes too. */
static void write_fast(cpu_writer *w, cpu_emit *e, uint32_t number, fast_widths *out) {
    static const uint32_t natural[CPU_ISA_COUNT] = {4, 8, 16};
    e->width = out->wide > 1 ? out->wide : natural[w->isa];
    bool pieces = find_pieces(e, out->wide == 1);
    if (!pieces) {
        cpu_part_forget(e);
        cpu_part_settle(e, cpu_emit_range);
    }
    if (out->wide > 1 && !w->gang && cpu_part_has_varying_loop(e)) {
        cpu_note_width(w, e, 1, "trips of a loop vary from lane to lane");
        out->wide = 1;
        pieces = find_pieces(e, true);
    }
    write_probe(w, e, number, pieces);
    e->width = out->wide;
    cpu_part_forget(e);
    cpu_part_settle(e, cpu_emit_range);
    write_as(w, e, number, "wide", range_arguments);
    out->broad = out->wide * (w->gang || out->wide == 1 ? 1 : choose_vectors(e));
    if (out->broad > out->wide) {
        e->width = out->broad;
        cpu_part_forget(e);
        cpu_part_settle(e, cpu_emit_range);
        write_as(w, e, number, "broad", range_arguments);
    }
    out->tail = pieces && w->isa == CPU_AVX512 && out->wide > 1 && !may_repeat(e->p);
    if (out->tail) {
        cpu_note(
            e, VYRE_NONE, "remainders",
            "masked, at the end of a piece and before a multiple of %u because lanes may not run "
            "twice",
            out->wide);
        e->width = out->wide;
        e->masked_tail = true;
        cpu_part_forget(e);
        cpu_part_settle(e, cpu_emit_range);
        write_as(w, e, number, "tail", range_arguments);
        e->masked_tail = false;
    }
}

/* Whether the range is cut at multiples, perhaps of small numbers, and there are vectors for the
 * elements wherever they are. */
static bool has_short_pieces(const cpu_emit *e) {
    const vyre_program_view *p = e->p;
    bool cut = false, wide = true;
    for (vyre_expr i = 0; i < p->expr_count; i++) {
        const vyre_expr_node *n = &p->exprs[i];
        cut |= (e->marks[i] & CPU_MARK_CUT) &&
               (n->op == VYRE_EXPR_DIV || n->op == VYRE_EXPR_REM || n->op == VYRE_EXPR_BIT_XOR);
        wide &= n->op != VYRE_EXPR_LOAD || vyre_type_size((vyre_type)p->decls[n->ref].type) >= 4;
    }
    for (vyre_stmt i = 0; i < p->stmt_count; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        wide &= s->op != VYRE_STMT_STORE || vyre_type_size((vyre_type)p->decls[s->decl].type) >= 4;
    }
    return cut && wide;
}

/* The functions with all checks. */
static void write_checked(cpu_writer *w, cpu_emit *e, uint32_t number, fast_widths *lanes) {
    lanes->many = w->isa == CPU_AVX512 && lanes->wide > 1 && has_short_pieces(e);
    e->trusts = false;
    if (lanes->many) {
        cpu_note(e, VYRE_NONE, "short pieces",
                 "%u in lockstep, masked because gathers and scatters beat lanes one by one",
                 lanes->wide);
    }
    for (uint32_t i = 0; i < (lanes->many ? 2 : 1); i++) {
        e->masked_tail = i == 1;
        e->width = i == 1 ? lanes->wide : 1;
        cpu_part_forget(e);
        cpu_part_settle(e, cpu_emit_range);
        write_as(w, e, number, i == 1 ? "many" : "one", range_arguments);
    }
}

/* What is left of a piece behind whole gangs, pieces that are short, or for which probe says no;
 * and on to the next one. */
static void write_remains(vyre_text *t, uint32_t number, fast_widths lanes, bool repeats) {
    enum { ALONE = 2 }; /* lanes that cost less one by one than masked */
    vyre_text_printf(t, "tail:\n");
    if (repeats) {
        vyre_text_printf(t,
                         "  %%fl = sub i32 %%f1, %u\n"
                         "  %%s3 = call i1 @g%u_wide(ptr %%ctx, i32 %%y, i32 %%z, i32 %%fl, i32 "
                         "%%f1)\n  br i1 %%s3, label %%finish, label %%ranged\n",
                         lanes.wide, number);
    } else {
        vyre_text_printf(t, "  br label %%%s\n", lanes.tail ? "masked" : "single");
    }
    vyre_text_puts(t, "singly:\n  %some = icmp ult i32 %f0, %last\n"
                      "  br i1 %some, label %asked, label %ranged\n"
                      "asked:\n");
    if (lanes.tail) {
        vyre_text_printf(
            t,
            "  %%enough = icmp ugt i32 %%fn, %d\n  %%sure = and i1 %%yes, %%enough\n"
            "  %%is_piece = xor i1 %%both, true\n  %%masks = and i1 %%sure, %%is_piece\n"
            "  br i1 %%masks, label %%masked, label %%unsure\n"
            "masked:\n  %%m0 = phi i32 [ %%f0, %%asked ], [ %%fm, %%tail ]\n"
            "  %%s6 = call i1 @g%u_tail(ptr %%ctx, i32 %%y, i32 %%z, i32 %%m0, i32 %%f1)\n"
            "  br i1 %%s6, label %%finish, label %%ranged\n",
            ALONE, number);
    } else {
        vyre_text_puts(t, "  br label %unsure\n");
    }
    const bool falls = !repeats && !lanes.tail; /* the tail goes on to single lanes */
    vyre_text_printf(t,
                     "unsure:\n  br i1 %s, label %%several, label %%single\n"
                     "several:\n"
                     "  %%s5 = call i1 @g%u_%s(ptr %%ctx, i32 %%y, i32 %%z, i32 %%f0, i32 %%last)\n"
                     "  br i1 %%s5, label %%finish, label %%ranged\n"
                     "single:\n"
                     "  %%o0 = phi i32 [ %%f0, %%unsure ]%s\n"
                     "  %%o1 = phi i32 [ %%last, %%unsure ]%s\n"
                     "  %%s2 = call i1 @g%u_one(ptr %%ctx, i32 %%y, i32 %%z, i32 %%o0, i32 %%o1)\n"
                     "  br i1 %%s2, label %%finish, label %%ranged\n"
                     "ranged:\n  br i1 %s, label %%known, label %%behind\n"
                     "behind:\n"
                     "  %%again = icmp ult i32 %%b, %%x1\n"
                     "  br i1 %%again, label %%pieces, label %%count\n",
                     lanes.many ? "%both" : "false", number, lanes.many ? "many" : "one",
                     falls ? ", [ %fm, %tail ]" : "", falls ? ", [ %f1, %tail ]" : "", number,
                     falls ? "false" : "%f_cut");
}

/* A long piece that does not begin at a multiple of a gang, where vectors of most arrays lie in one
 * cache line each, is cut there: first what is before it, masked, or again with lanes that follow.
 */
static void write_start(vyre_text *t, fast_widths lanes, bool repeats) {
    enum { LONG = 4 }; /* gangs */
    if (!repeats && !lanes.tail) {
        vyre_text_puts(t, "known:\n  %f0 = add i32 %f_first, 0\n  %f1 = add i32 %f_end, 0\n");
        return;
    }
    vyre_text_printf(t,
                     "known:\n  %%f0 = phi i32 [ %%f_first, %%pieces ], [ %%f_even, %%ranged ]\n"
                     "  %%f_before = sub i32 0, %%f0\n  %%f_skew = and i32 %%f_before, %u\n"
                     "  %%f_even = add i32 %%f0, %%f_skew\n"
                     "  %%f_most = sub i32 %%f_end, %%f0\n"
                     "  %%f_long = icmp uge i32 %%f_most, %u\n"
                     "  %%f_is_skew = icmp ne i32 %%f_skew, 0\n"
                     "  %%f_cut0 = and i1 %%f_long, %%f_is_skew\n"
                     "  %%f_cut = and i1 %%f_cut0, %%yes\n"
                     "  %%f_gang = add i32 %%f0, %u\n"
                     "  %%f1 = select i1 %%f_cut, i32 %%%s, i32 %%f_end\n",
                     lanes.wide - 1, LONG * lanes.broad, lanes.wide, repeats ? "f_gang" : "f_even");
}

/* Lanes [x0, x1) of a row, piece by piece. What is left of a piece behind whole gangs runs lane by
 * lane, or again with some that are done already. Behind two pieces that are shorter than a gang
 * SHORT lanes run without asking. */
static void write_pieces(vyre_text *t, uint32_t number, fast_widths lanes, bool repeats) {
    const uint32_t width = lanes.wide;
    vyre_text_printf(
        t,
        "  br label %%pieces\n"
        "pieces:\n"
        "  %%a = phi i32 [ %%x0, %%row ], [ %%b, %%behind ]\n"
        "  %%was_short = phi i1 [ false, %%row ], [ %%is_short, %%behind ]\n"
        "  %%yes = call i1 @g%u_probe(ptr %%ctx, i32 %%y, i32 %%z, i32 %%a, i32 %%x1, ptr %%part)\n"
        "  %%f_first = load i32, ptr %%part\n  %%f_end = load i32, ptr %%second\n"
        "  %%f2 = load i32, ptr %%third\n"
        "  %%size = sub i32 %%f2, %%a\n  %%is_short = icmp ult i32 %%size, %u\n"
        "  %%both = and i1 %%was_short, %%is_short\n"
        "  %%left = sub i32 %%x1, %%a\n  %%few = call i32 @llvm.umin.i32(i32 %%left, i32 %d)\n"
        "  %%ahead = add i32 %%a, %%few\n  br label %%known\n",
        number, width, SHORT);
    write_start(t, lanes, repeats);
    vyre_text_printf(t,
                     "  %%b = select i1 %%both, i32 %%ahead, i32 %%f2\n"
                     "  %%last = select i1 %%both, i32 %%ahead, i32 %%f1\n"
                     "  %%fn = sub i32 %%f1, %%f0\n  %%fits = icmp uge i32 %%fn, %u\n"
                     "  %%go = and i1 %%yes, %%fits\n  br i1 %%go, label %%fast, label %%singly\n"
                     "fast:\n"
                     "  %%fr = and i32 %%fn, %u\n  %%fm = sub i32 %%f1, %%fr\n",
                     width, width - 1);
    if (lanes.broad > width) {
        vyre_text_printf(t,
                         "  %%br = and i32 %%fn, %u\n  %%bm = sub i32 %%f1, %%br\n"
                         "  %%s4 = call i1 @g%u_broad(ptr %%ctx, i32 %%y, i32 %%z, i32 %%f0, i32 "
                         "%%bm)\n  br i1 %%s4, label %%finish, label %%narrower\nnarrower:\n",
                         lanes.broad - 1, number);
    }
    vyre_text_printf(
        t,
        "  %%s1 = call i1 @g%u_wide(ptr %%ctx, i32 %%y, i32 %%z, i32 %s, i32 %%fm)\n"
        "  br i1 %%s1, label %%finish, label %%rest\n"
        "rest:\n"
        "  %%even = icmp eq i32 %%fr, 0\n  br i1 %%even, label %%ranged, label %%tail\n",
        number, lanes.broad > width ? "%bm" : "%f0");
    write_remains(t, number, lanes, repeats);
}

/* The same without gangs. */
static void write_serial(vyre_text *t, uint32_t number) {
    vyre_text_printf(
        t,
        "  br label %%pieces\n"
        "pieces:\n"
        "  %%a = phi i32 [ %%x0, %%row ], [ %%b, %%ranged ]\n"
        "  %%yes = call i1 @g%u_probe(ptr %%ctx, i32 %%y, i32 %%z, i32 %%a, i32 %%x1, ptr %%part)\n"
        "  %%f0 = load i32, ptr %%part\n  %%f1 = load i32, ptr %%second\n"
        "  %%b = load i32, ptr %%third\n  br i1 %%yes, label %%fast, label %%slow\n"
        "fast:\n"
        "  %%s1 = call i1 @g%u_wide(ptr %%ctx, i32 %%y, i32 %%z, i32 %%f0, i32 %%f1)\n"
        "  br i1 %%s1, label %%finish, label %%ranged\n"
        "slow:\n"
        "  %%s2 = call i1 @g%u_one(ptr %%ctx, i32 %%y, i32 %%z, i32 %%f0, i32 %%f1)\n"
        "  br i1 %%s2, label %%finish, label %%ranged\n"
        "ranged:\n"
        "  %%again = icmp ult i32 %%b, %%x1\n"
        "  br i1 %%again, label %%pieces, label %%count\n",
        number, number, number);
}

/* How many lanes a row has, and how many rows a plane; and room for what probe tells. */
static void write_begin(vyre_text *t, const vyre_program_view *p) {
    cpu_load_grid(t);
    vyre_text_printf(
        t,
        "  %%part = alloca [3 x i32]\n  %%second = getelementptr i8, ptr %%part, i64 4\n"
        "  %%third = getelementptr i8, ptr %%part, i64 8\n"
        "  %%rows32 = mul i32 %%ny, %u\n  %%rows = zext i32 %%rows32 to i64\n",
        p->workgroup[1]);
    cpu_load_field(t, "wide", "i64", CPU_FIELD(wide));
}

/* Of a grid of one row: without lanes at its ends that have nothing to do. */
static void write_clip(vyre_text *t, uint32_t number, const vyre_program_view *p) {
    vyre_text_printf(t, "define void @clip%u(ptr %%ctx, ptr %%out) #0 {\nentry:\n", number);
    write_begin(t, p);
    vyre_text_printf(
        t,
        "  %%to = getelementptr i8, ptr %%out, i64 8\n"
        "  %%deep32 = mul i32 %%nz, %u\n  %%deep = zext i32 %%deep32 to i64\n"
        "  %%count = mul i64 %%rows, %%deep\n  %%all = mul i64 %%count, %%wide\n"
        "  store i64 0, ptr %%out\n  store i64 %%all, ptr %%to\n"
        "  %%single = icmp eq i64 %%count, 1\n  br i1 %%single, label %%ask, label %%finish\n"
        "ask:\n"
        "  %%end = trunc i64 %%wide to i32\n"
        "  %%yes = call i1 @g%u_probe(ptr %%ctx, i32 0, i32 0, i32 0, i32 %%end, ptr %%part)\n"
        "  %%a = load i32, ptr %%part\n  %%b = load i32, ptr %%second\n"
        "  %%c = load i32, ptr %%third\n"
        "  %%whole = icmp eq i32 %%c, %%end\n  %%last = select i1 %%whole, i32 %%%s, i32 %%end\n"
        "  %%a64 = zext i32 %%a to i64\n  %%last64 = zext i32 %%last to i64\n"
        "  store i64 %%a64, ptr %%out\n  store i64 %%last64, ptr %%to\n  br label %%finish\n"
        "finish:\n  ret void\n}\n\n",
        p->workgroup[2], number, "b");
}

/* Lanes [begin, end), row by row. */
static void write_run(const cpu_writer *w, uint32_t number, const vyre_program_view *p,
                      fast_widths lanes) {
    vyre_text *t = w->out;
    vyre_text_printf(t, "define void @run%u(ptr %%ctx, i64 %%begin, i64 %%end) #0 {\nentry:\n",
                     number);
    write_begin(t, p);
    vyre_text_printf(
        t,
        "  %%fuel = getelementptr i8, ptr %%ctx, i64 %zu\n"
        "  %%any = icmp ult i64 %%begin, %%end\n  br i1 %%any, label %%first, label %%finish\n"
        "first:\n"
        "  %%r_first = udiv i64 %%begin, %%wide\n  %%c_first = urem i64 %%begin, %%wide\n"
        "  %%y64 = urem i64 %%r_first, %%rows\n  %%z64 = udiv i64 %%r_first, %%rows\n"
        "  %%y_first = trunc i64 %%y64 to i32\n  %%z_first = trunc i64 %%z64 to i32\n"
        "  br label %%row\n"
        "row:\n" /* each but the first begins with its first lane */
        "  %%u = phi i64 [ %%begin, %%first ], [ %%u2, %%next ]\n"
        "  %%c = phi i64 [ %%c_first, %%first ], [ 0, %%next ]\n"
        "  %%y = phi i32 [ %%y_first, %%first ], [ %%y2, %%next ]\n"
        "  %%z = phi i32 [ %%z_first, %%first ], [ %%z2, %%next ]\n"
        "  %%here = sub i64 %%wide, %%c\n  %%there = sub i64 %%end, %%u\n"
        "  %%n = call i64 @llvm.umin.i64(i64 %%here, i64 %%there)\n"
        "  %%u2 = add i64 %%u, %%n\n  %%c2 = add i64 %%c, %%n\n"
        "  %%x0 = trunc i64 %%c to i32\n  %%x1 = trunc i64 %%c2 to i32\n",
        CPU_FIELD(fuel));
    if (lanes.wide == 1) {
        write_serial(t, number);
    } else {
        write_pieces(t, number, lanes, may_repeat(p));
    }
    vyre_text_printf(
        t,
        "count:\n"
        "  %%f = load i64, ptr %%fuel\n  %%cost = lshr i64 %%n, 1\n"
        "  %%g = sub i64 %%f, %%cost\n  store i64 %%g, ptr %%fuel\n"
        "  %%empty = icmp slt i64 %%g, 0\n  br i1 %%empty, label %%look, label %%next\n"
        "look:\n"
        "  %%at_check = getelementptr i8, ptr %%ctx, i64 %zu\n"
        "  %%check = load ptr, ptr %%at_check\n  %%k = call i32 %%check(ptr %%ctx)\n"
        "  %%over = icmp ne i32 %%k, 0\n  br i1 %%over, label %%finish, label %%next\n"
        "next:\n"
        "  %%y1 = add i32 %%y, 1\n  %%over_y = icmp eq i32 %%y1, %%rows32\n"
        "  %%y2 = select i1 %%over_y, i32 %s, i32 %%y1\n"
        "  %%carry = zext i1 %%over_y to i32\n  %%z2 = add i32 %%z, %%carry\n"
        "  %%more = icmp ult i64 %%u2, %%end\n  br i1 %%more, label %%row, label %%finish\n",
        CPU_FIELD(check), "0");
    cpu_write_finish(w);
}

/* What a worker has kept. */
static void write_deliver(cpu_writer *w, cpu_emit *e, uint32_t number) {
    e->width = 1;
    cpu_part_forget(e);
    cpu_part_settle(e, cpu_emit_deliveries);
    write_as(w, e, number, "deliver", "ptr %ctx");
    vyre_text_printf(w->out,
                     "define void @deliver%u(ptr %%ctx) #0 {\n"
                     "  %%r = call i1 @g%u_deliver(ptr %%ctx)\n  ret void\n}\n\n",
                     number, number);
}

vyre_status cpu_write_rows(cpu_writer *w, cpu_group *group, uint32_t number, vyre_diag *diag) {
    static const uint32_t natural[CPU_ISA_COUNT] = {4, 8, 16};
    const vyre_program_view *p = vyre_program_get(group->program);
    const bool traps = p->stats.stmt_kinds >> VYRE_STMT_TRAP & 1;
    cpu_emit e;
    vyre_status status = cpu_part_begin(w, group, 0, &e, diag);
    if (status != VYRE_OK) {
        return status;
    }
    const bool atomics = !cpu_tally_in_gangs(&e);
    fast_widths lanes = {.wide = w->gang ? w->gang : atomics || traps ? 1 : natural[w->isa]};
    e.form = CPU_FORM_ROWS;
    cpu_note(&e, VYRE_NONE, "form",
             "groups are dissolved, lanes along x are one range because nothing is shared within a "
             "group");
    cpu_note_width(w, &e, lanes.wide,
                   atomics ? "it asks for the old value of atomics"
                   : traps ? "it may trap"
                           : NULL);
    if (e.unrolled) {
        cpu_note(
            &e, VYRE_NONE, "unrolled",
            "trips of a loop follow each other because a clamp in an index depends on lane and "
            "trip");
    }
    write_fast(w, &e, number, &lanes);
    write_checked(w, &e, number, &lanes);
    write_clip(w->out, number, p);
    write_run(w, number, p, lanes);
    group->sites = cpu_append_sites(&e);
    if (group->sites > 0) {
        write_deliver(w, &e, number);
    }
    group->form = CPU_FORM_ROWS;
    group->grain = lanes.wide > 1 ? FEW : FEW_SERIAL;
    group->width = lanes.wide;
    cpu_part_end(w, &e);
    return VYRE_OK;
}
