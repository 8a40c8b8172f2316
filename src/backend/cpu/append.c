/* Lists that lanes append to.
 *
 *     let at = atomic_add(count[c], 1);
 *     list[base + at] = v;
 *
 * With several workers one line with the counter goes from core to core with each element. So a
 * worker keeps elements, and takes room for all of them at once: when there are MOST, when the next
 * one is for another counter, and at the end of the launch. So what a worker has found also lies
 * together, and the next launch, cut in halves, finds it where it is at home.
 *
 * Why that is right: the old value says nothing but where to store, and any order of the atomics
 * gives the elements the same places in some order. In the segment nothing else touches the
 * counter, so nobody sees that it is late. Nothing else writes the list, and a lane that loads from
 * it does so before it has appended anything: statements that load stand before the store, and no
 * loop is around both. Other lanes may not load in this segment what it stores, without a barrier
 * that would be a race. What a lane stores stays in its order.
 *
 * Beyond the end of its memory a counter does nothing and gives 0: then all elements go to one
 * place, one after another. */
#include "backend/cpu/kernel.h"
#include "ir/touches.h"

enum { MOST = CPU_MOST_KEPT, MOST_SITES = 4 };

/* Where things are in the room of a site. */
enum { COUNTER = 4, BASES = 64, LIST = BASES + 4 * MOST };

static bool is_literal_one(const vyre_program_view *p, vyre_expr e) {
    return e != VYRE_NONE && p->exprs[e].op == VYRE_EXPR_LITERAL && p->exprs[e].u.bits == 1;
}

/* How often expressions of statements [begin, end) name the variable. */
static uint32_t count_uses(const vyre_program_view *p, vyre_stmt begin, vyre_stmt end,
                           vyre_var var) {
    uint32_t uses = 0;
    for (vyre_stmt i = begin; i < end; i++) {
        for (vyre_expr k = p->stmts[i].first_expr; k < p->stmts[i].end_expr; k++) {
            uses += p->exprs[k].op == VYRE_EXPR_VAR && p->exprs[k].ref == var;
        }
    }
    return uses;
}

/* Whether a loop around the store is around the other statement, too. */
static bool share_loop(const vyre_program_view *p, vyre_stmt store, vyre_stmt other) {
    bool shared = false;
    for (vyre_stmt i = 0; i < store; i++) {
        const bool is_loop = p->stmts[i].op == VYRE_STMT_FOR || p->stmts[i].op == VYRE_STMT_WHILE;
        shared |= is_loop && store < p->stmts[i].match && i <= other && other < p->stmts[i].match;
    }
    return shared;
}

/* Whether nothing sees that elements and counter are late. */
static bool nobody_looks(const vyre_program_view *p, vyre_stmt atomic, vyre_stmt store) {
    const vyre_decl counter = p->stmts[atomic].decl, list = p->stmts[store].decl;
    bool unseen = counter != list;
    for (vyre_stmt i = 0; i < p->stmt_count && unseen; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        const bool names = (s->decl == counter && i != atomic) || (s->decl == list && i != store) ||
                           s->decl2 == counter || s->decl2 == list;
        unseen = !names && !vyre_stmt_loads(p, s, counter) &&
                 (!vyre_stmt_loads(p, s, list) || (i <= store && !share_loop(p, store, i)));
    }
    return unseen;
}

/* Whether the index is the variable, or the sum of it and something else. */
static bool is_at(const vyre_program_view *p, vyre_expr index, vyre_var var) {
    const vyre_expr_node *n = &p->exprs[index];
    bool at = n->op == VYRE_EXPR_VAR && n->ref == var;
    for (int k = 0; k < 2 && n->op == VYRE_EXPR_ADD; k++) {
        const vyre_expr_node *arg = &p->exprs[n->u.arg[k]];
        at |= arg->op == VYRE_EXPR_VAR && arg->ref == var;
    }
    return at;
}

/* The store of what is appended, behind the atomic that says where; VYRE_NONE: that is something
 * else. */
static vyre_stmt store_behind(const cpu_emit *e, vyre_stmt atomic) {
    const vyre_program_view *p = e->p;
    const vyre_stmt_node *s = &p->stmts[atomic];
    if (e->form != CPU_FORM_ROWS || e->alone || p->entry != 0 || s->op != VYRE_STMT_ATOMIC ||
        s->sub != VYRE_ATOMIC_ADD || s->var == VYRE_NONE || p->decls[s->decl].type != VYRE_U32 ||
        e->bindings[s->decl].meaning != CPU_IS_BUFFER || !is_literal_one(p, s->arg[1])) {
        return VYRE_NONE;
    }
    vyre_stmt store = atomic + 1;
    while (store < p->stmt_count && p->stmts[store].op == VYRE_STMT_LET) {
        store++;
    }
    if (store == p->stmt_count || p->stmts[store].op != VYRE_STMT_STORE) {
        return VYRE_NONE;
    }
    const vyre_stmt_node *to = &p->stmts[store];
    const vyre_type type = (vyre_type)p->decls[to->decl].type;
    uint32_t bound = 0;
    for (vyre_stmt i = 0; i < p->stmt_count; i++) {
        bound += p->stmts[i].var == s->var;
    }
    const bool fits = e->bindings[to->decl].meaning == CPU_IS_BUFFER && type != VYRE_BOOL &&
                      vyre_type_size(type) >= 4 && is_at(p, to->arg[0], s->var) && bound == 1 &&
                      count_uses(p, 0, p->stmt_count, s->var) == 1;
    return fits && nobody_looks(p, atomic, store) ? store : VYRE_NONE;
}

/* How many sites there are before the statement. */
static uint32_t sites_before(const cpu_emit *e, vyre_stmt end) {
    uint32_t count = 0;
    for (vyre_stmt i = 0; i < end; i++) {
        count += store_behind(e, i) != VYRE_NONE;
    }
    return count;
}

uint32_t cpu_append_sites(const cpu_emit *e) {
    const uint32_t sites = sites_before(e, e->p->stmt_count);
    return sites < MOST_SITES ? sites : MOST_SITES;
}

/* Where the room of a site is, in the entry block. */
static void need_room(cpu_emit *e, vyre_stmt atomic, vyre_stmt store) {
    const uint32_t room = sites_before(e, atomic) * CPU_ROOM;
    if (e->tallied[atomic]) {
        return;
    }
    e->tallied[atomic] = store;
    cpu_head(e, "  %%at_kept%u = getelementptr i8, ptr %%ctx, i64 %zu", atomic, CPU_FIELD(kept));
    cpu_head(e, "  %%kept%u = load ptr, ptr %%at_kept%u", atomic, atomic);
    static const char *const parts[] = {"taken", "counter", "bases", "list"};
    static const uint32_t offsets[] = {0, COUNTER, BASES, LIST};
    for (int i = 0; i < 4; i++) {
        cpu_head(e, "  %%%s%u = getelementptr i8, ptr %%kept%u, i64 %u", parts[i], atomic, atomic,
                 room + offsets[i]);
    }
    cpu_head(e, "  %%given%u = alloca i32", atomic);
}

/* Takes room for all elements of a site, of which there is at least one, and stores them. */
static void flush(cpu_emit *e, vyre_stmt atomic, vyre_stmt store) {
    const vyre_stmt_node *s = &e->p->stmts[atomic], *to = &e->p->stmts[store];
    const vyre_type type = (vyre_type)e->p->decls[to->decl].type;
    const vyre_stmt at_work = e->stmt;
    const uint32_t label = cpu_label(e);
    cpu_value count = cpu_new(e, VYRE_U32, CPU_ONE, "load i32, ptr %%taken%u", atomic);
    cpu_value counter = cpu_new(e, VYRE_U32, CPU_ONE, "load i32, ptr %%counter%u", atomic);
    e->stmt = atomic;
    cpu_value first = cpu_atomic_once(e, s, counter, count);
    cpu_value inside =
        cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp ult i32 %s, %%n%u", counter.text, s->decl);
    cpu_value step = cpu_new(e, VYRE_U32, CPU_ONE, "zext i1 %s to i32", inside.text);
    cpu_line(e, "  store i32 0, ptr %%given%u\n  br label %%give%u\ngive%u:", atomic, label, label);
    cpu_value i = cpu_new(e, VYRE_U32, CPU_ONE, "load i32, ptr %%given%u", atomic);
    cpu_value from =
        cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i32, ptr %%bases%u, i32 %s", atomic, i.text);
    cpu_value base = cpu_new(e, VYRE_U32, CPU_ONE, "load i32, ptr %s", from.text);
    from = cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr %s, ptr %%list%u, i32 %s",
                   cpu_type(e, type, false), atomic, i.text);
    cpu_value v = cpu_new(e, type, CPU_ONE, "load %s, ptr %s", cpu_type(e, type, false), from.text);
    cpu_value far = cpu_new(e, VYRE_U32, CPU_ONE, "mul i32 %s, %s", i.text, step.text);
    base = cpu_new(e, VYRE_U32, CPU_ONE, "add i32 %s, %s", base.text, first.text);
    base = cpu_new(e, VYRE_U32, CPU_ONE, "add i32 %s, %s", base.text, far.text);
    e->stmt = store;
    cpu_store(e, to->decl, base, v);
    cpu_value next = cpu_new(e, VYRE_U32, CPU_ONE, "add i32 %s, 1", i.text);
    cpu_value more = cpu_compare(e, "ult", next, count);
    cpu_line(e, "  store i32 %s, ptr %%given%u", next.text, atomic);
    cpu_line(e, "  br i1 %s, label %%give%u, label %%given%u_end\ngiven%u_end:", more.text, label,
             label, label);
    cpu_line(e, "  store i32 0, ptr %%taken%u", atomic);
    e->stmt = at_work;
}

bool cpu_append_begin(cpu_emit *e, const vyre_stmt_node *s, cpu_value index) {
    const vyre_stmt atomic = e->stmt, store = store_behind(e, atomic);
    if (store == VYRE_NONE || e->width > 1 || sites_before(e, atomic) >= MOST_SITES) {
        return false;
    }
    cpu_note(e, atomic, "atomic",
             "one for up to %d elements of a list because the old value only says where to store, "
             "and nothing else touches the counter",
             MOST);
    need_room(e, atomic, store);
    const uint32_t label = cpu_label(e);
    cpu_value count = cpu_new(e, VYRE_U32, CPU_ONE, "load i32, ptr %%taken%u", atomic);
    cpu_value counter = cpu_new(e, VYRE_U32, CPU_ONE, "load i32, ptr %%counter%u", atomic);
    cpu_value full = cpu_compare(e, "eq", count, cpu_u32(MOST));
    cpu_value any = cpu_compare(e, "ne", count, cpu_u32(0));
    cpu_value other = cpu_compare(e, "ne", counter, index);
    other = cpu_binary(e, "and", VYRE_BOOL, other, any);
    cpu_value goes = cpu_binary(e, "or", VYRE_BOOL, full, other);
    cpu_line(e, "  br i1 %s, label %%full%u, label %%room%u\nfull%u:", goes.text, label, label,
             label);
    flush(e, atomic, store);
    cpu_line(e, "  br label %%room%u\nroom%u:", label, label);
    cpu_line(e, "  store i32 %s, ptr %%counter%u", index.text, atomic);
    cpu_set(e, s->var, cpu_u32(0), true); /* so that the index is what it is added to */
    return true;
}

bool cpu_append(cpu_emit *e, const vyre_stmt_node *s) {
    vyre_stmt atomic = e->stmt;
    while (atomic > 0 && e->p->stmts[atomic - 1].op == VYRE_STMT_LET) {
        atomic--;
    }
    const bool is_list = atomic > 0 && e->p->stmts[atomic - 1].op == VYRE_STMT_ATOMIC &&
                         e->p->stmts[atomic - 1].var != VYRE_NONE;
    if (!is_list || e->tallied[--atomic] != e->stmt) {
        return false;
    }
    const cpu_value base = cpu_operand(e, s, 0), value = cpu_operand(e, s, 1);
    const char *type = cpu_type(e, (vyre_type)e->p->decls[s->decl].type, false);
    cpu_value count = cpu_new(e, VYRE_U32, CPU_ONE, "load i32, ptr %%taken%u", atomic);
    cpu_value to = cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr %s, ptr %%list%u, i32 %s", type,
                           atomic, count.text);
    cpu_line(e, "  store %s %s, ptr %s", type, value.text, to.text);
    to = cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i32, ptr %%bases%u, i32 %s", atomic,
                 count.text);
    cpu_line(e, "  store i32 %s, ptr %s", base.text, to.text);
    cpu_value next = cpu_new(e, VYRE_U32, CPU_ONE, "add i32 %s, 1", count.text);
    cpu_line(e, "  store i32 %s, ptr %%taken%u", next.text, atomic);
    return true;
}

void cpu_emit_deliveries(cpu_emit *e) {
    for (vyre_stmt i = 0; i < e->p->stmt_count; i++) {
        const vyre_stmt store = store_behind(e, i);
        if (store == VYRE_NONE || sites_before(e, i) >= MOST_SITES) {
            continue;
        }
        const uint32_t label = cpu_label(e);
        need_room(e, i, store);
        cpu_value count = cpu_new(e, VYRE_U32, CPU_ONE, "load i32, ptr %%taken%u", i);
        cpu_value any = cpu_compare(e, "ne", count, cpu_u32(0));
        cpu_line(e, "  br i1 %s, label %%some%u, label %%none%u\nsome%u:", any.text, label, label,
                 label);
        flush(e, i, store);
        cpu_line(e, "  br label %%none%u\nnone%u:", label, label);
    }
    cpu_line(e, "  ret i1 false");
}
