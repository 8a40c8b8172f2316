/* Random programs for the text form: whatever the language has, valid but meaningless.
 *
 * Everything is declared first, then functions in order (a body calls only functions before it),
 * then the entry body. A statement that waits for other lanes stands only where control is uniform
 * by construction: conditions there are built from literals, params, consts, lengths, sizes, loads
 * from `in` buffers at such indices, and variables that are only ever assigned such values where
 * control is uniform. Lanes leave such a loop only where control is uniform. */
#include "random/syntax.h"
#include "random/random_program.h"

enum { MOST_PENDING = 3 };

static void list(syntax *s, place at);

static void add_local(syntax *s, vyre_var var, bool loops, bool uniform) {
    if (s->local_count < LOCALS) {
        s->locals[s->local_count++] = (local){.var = var,
                                              .type = vyre_builder_var_type(s->x.b, var),
                                              .loops = loops,
                                              .uniform = uniform};
    }
}

static const memory *pick(syntax *s, bool (*fits)(const memory *m)) {
    const uint32_t first = random_below(&s->x, s->memory_count);
    for (uint32_t i = 0; i < s->memory_count; i++) {
        const memory *m = &s->memories[(first + i) % s->memory_count];
        if (fits(m)) {
            return m;
        }
    }
    return NULL;
}

static bool readable(const memory *m) {
    return m->reads;
}
static bool writable(const memory *m) {
    return m->writes;
}
static bool atomic(const memory *m) {
    return m->writes && m->reads && m->access == VYRE_ACCESS_FULL && m->role != VYRE_PRIVATE &&
           vyre_type_computes(m->type) && m->type != VYRE_BOOL;
}
static bool shared(const memory *m) {
    return m->writes && m->role <= VYRE_SCRATCH;
}
static bool buffer(const memory *m) {
    return m->role <= VYRE_SCRATCH;
}

static void add_let(syntax *s, place at) {
    const bool uniform = at.uniform && random_chance(&s->x, 50);
    const vyre_type type = random_type(&s->x);
    const vyre_expr value = uniform ? syntax_uniform_expr(s, type) : syntax_expr(s, type);
    add_local(s, vyre_build_let(s->x.b, syntax_name(s), value), false, uniform);
}

static void add_assign(syntax *s, place at) {
    if (s->local_count == 0) {
        return;
    }
    const local *l = &s->locals[random_below(&s->x, s->local_count)];
    if (!l->loops && (!l->uniform || at.uniform)) {
        vyre_build_assign(s->x.b, l->var,
                          l->uniform ? syntax_uniform_expr(s, l->type) : syntax_expr(s, l->type));
    }
}

static void add_store(syntax *s) {
    const memory *m = pick(s, writable);
    if (m) {
        const vyre_expr index = syntax_element(s, m, 2);
        vyre_build_store(s->x.b, m->decl, index, syntax_expr(s, vyre_type_widened(m->type)));
    }
}

static void add_atomic(syntax *s) {
    const memory *m = pick(s, atomic);
    if (!m) {
        return;
    }
    vyre_atomic_op op = (vyre_atomic_op)random_below(&s->x, VYRE_ATOMIC_COUNT);
    op = vyre_type_is_float(m->type) && !vyre_atomic_takes_floats(op) ? VYRE_ATOMIC_ADD : op;
    const uint32_t values = vyre_atomic_values(op);
    const vyre_expr index = syntax_element(s, m, 2);
    const vyre_expr expected = values == 2 ? syntax_expr(s, m->type) : VYRE_NONE;
    const vyre_expr value = values ? syntax_expr(s, m->type) : VYRE_NONE;
    const bool binds = op != VYRE_ATOMIC_STORE && random_chance(&s->x, 50);
    const char *name = binds ? syntax_name(s) : NULL;
    const vyre_var var = vyre_build_atomic(s->x.b, name, op, m->decl, index, expected, value,
                                           (vyre_ordering)random_below(&s->x, VYRE_ORDERING_COUNT));
    if (name) {
        add_local(s, var, false, false);
    }
}

static void add_subgroup(syntax *s) {
    const vyre_subgroup_op op = (vyre_subgroup_op)random_below(&s->x, VYRE_SUBGROUP_COUNT);
    vyre_type type;
    do {
        type = random_type(&s->x);
    } while (!vyre_operands_accept(vyre_subgroup_operands(op), 0, type));
    const vyre_expr value = syntax_expr(s, type);
    const vyre_expr lane = vyre_subgroup_asks(op) ? syntax_expr(s, VYRE_U32) : VYRE_NONE;
    add_local(s, vyre_build_subgroup(s->x.b, syntax_name(s), op, value, lane), false, false);
}

static void add_reduction(syntax *s) {
    const bool grid = random_chance(&s->x, 50);
    vyre_reduce_op op;
    vyre_type type;
    do {
        op = (vyre_reduce_op)random_below(&s->x, VYRE_REDUCE_COUNT);
    } while (vyre_reduce_name(op, grid)[0] == '\0');
    do {
        type = random_type(&s->x);
    } while (!vyre_operands_accept(vyre_reduce_operands(op), 0, type));
    const vyre_expr value = syntax_expr(s, type);
    const vyre_expr lane = op == VYRE_REDUCE_BROADCAST ? syntax_expr(s, VYRE_U32) : VYRE_NONE;
    add_local(s,
              grid ? vyre_build_grid_reduce(s->x.b, syntax_name(s), op, value)
                   : vyre_build_group_reduce(s->x.b, syntax_name(s), op, value, lane),
              false, false);
}

static void add_call(syntax *s, place at) {
    const function *f = s->callable ? &s->fns[random_below(&s->x, s->callable)] : NULL;
    if (!f || (f->waits && !at.uniform)) {
        return;
    }
    vyre_expr args[ARGS];
    for (uint32_t i = 0; i < f->arg_count; i++) {
        args[i] = syntax_expr(s, f->args[i]);
    }
    const char *name = f->result != VYRE_VOID && random_chance(&s->x, 70) ? syntax_name(s) : NULL;
    const vyre_var var = vyre_build_call(s->x.b, name, f->fn, args, f->arg_count);
    if (name) {
        add_local(s, var, false, false);
    }
}

static void add_if(syntax *s, place at) {
    const bool uniform = at.uniform && random_chance(&s->x, 60);
    const vyre_type type = syntax_condition_type(s);
    place inside = at;
    inside.uniform = uniform;
    inside.depth++;
    vyre_build_if(s->x.b, uniform ? syntax_uniform_expr(s, type) : syntax_expr(s, type));
    list(s, inside);
    if (random_chance(&s->x, 50)) {
        vyre_build_else(s->x.b);
        list(s, inside);
    }
    vyre_build_end(s->x.b);
}

static void add_loop(syntax *s, place at) {
    const bool uniform = at.uniform && random_chance(&s->x, 60);
    const uint32_t locals = s->local_count, names = s->name_count;
    const place inside = {
        .uniform = uniform, .loop = true, .loop_uniform = uniform, .depth = at.depth + 1};
    if (random_chance(&s->x, 40)) {
        const vyre_type type = syntax_condition_type(s);
        vyre_build_while(s->x.b, uniform ? syntax_uniform_expr(s, type) : syntax_expr(s, type));
    } else {
        vyre_expr bounds[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
        const uint32_t count = 2 + random_below(&s->x, 2);
        for (uint32_t i = 0; i < count; i++) {
            bounds[i] = uniform ? syntax_uniform_expr(s, VYRE_U32) : syntax_expr(s, VYRE_U32);
        }
        if (bounds[2] != VYRE_NONE) { /* a constant step of 0 is refused */
            bounds[2] = vyre_build_op(s->x.b, VYRE_EXPR_MAX, bounds[2], vyre_build_u32(s->x.b, 1),
                                      VYRE_NONE);
        }
        add_local(s, vyre_build_for(s->x.b, syntax_name(s), bounds[0], bounds[1], bounds[2]), true,
                  uniform);
    }
    list(s, inside);
    vyre_build_end(s->x.b);
    s->local_count = locals;
    s->name_count = names;
}

static void add_block(syntax *s, place at) {
    char text[TEXT];
    at.depth++;
    if (random_chance(&s->x, 50)) {
        vyre_build_block(s->x.b);
    } else {
        vyre_build_region(s->x.b, syntax_text(s, text, false));
    }
    list(s, at);
    vyre_build_end(s->x.b);
}

static void add_leaving(syntax *s, place at) {
    char text[TEXT];
    const bool jumps = at.loop && (at.uniform || !at.loop_uniform);
    switch (random_below(&s->x, 6)) {
    case 0: vyre_build_exit(s->x.b); break;
    case 1: vyre_build_trap(s->x.b, syntax_text(s, text, false), syntax_expr(s, VYRE_U32)); break;
    case 2:
    case 3:
        if (jumps) {
            vyre_build_break(s->x.b);
        }
        break;
    default:
        if (jumps) {
            vyre_build_continue(s->x.b);
        }
    }
}

static void add_collective(syntax *s) {
    const memory *m = pick(s, shared), *from = pick(s, buffer);
    if (!m || m->access != VYRE_ACCESS_FULL) {
        return;
    }
    const vyre_expr group = random_chance(&s->x, 50) ? random_literal(&s->x, VYRE_U32) : VYRE_NONE;
    const uint32_t ops = vyre_type_is_float(m->type) ? VYRE_COLLECTIVE_AND : VYRE_COLLECTIVE_COUNT;
    const vyre_collective_op op = (vyre_collective_op)random_below(&s->x, ops);
    const bool pair = from && from->reads && from->type == m->type;
    switch (random_below(&s->x, 5)) {
    case 4:
        if (s->copies == 0) {
            vyre_build_swap(s->x.b, m->decl, m->decl); /* of one size */
        }
        break;
    case 0:
        if (m->type != VYRE_BOOL) {
            vyre_build_all_reduce(s->x.b, m->decl, op, group);
        }
        break;
    case 1: vyre_build_broadcast(s->x.b, m->decl, syntax_uniform_expr(s, VYRE_U32), group); break;
    case 2:
        if (pair) {
            vyre_build_all_gather(s->x.b, from->decl, m->decl, group);
        }
        break;
    default:
        if (pair && m->type != VYRE_BOOL) {
            vyre_build_reduce_scatter(s->x.b, from->decl, m->decl, op, group);
        }
    }
}

/* What waits for lanes; only where control is uniform. */
static void add_wait(syntax *s) {
    static const vyre_ordering orderings[] = {VYRE_SEQ_CST, VYRE_ACQUIRE, VYRE_RELEASE,
                                              VYRE_ACQ_REL};
    switch (random_below(&s->x, 5)) {
    case 0: vyre_build_barrier(s->x.b, orderings[random_below(&s->x, 4)]); break;
    case 1: vyre_build_grid_sync(s->x.b); break;
    case 2: add_subgroup(s); break;
    case 3: add_reduction(s); break;
    default: add_collective(s);
    }
}

/* Begins a copy; true if there is now a tag to wait for. */
static bool begin_copy(syntax *s, char *tag) {
    const memory *from = pick(s, readable), *to = pick(s, writable);
    if (!from || !to) {
        return false;
    }
    const vyre_expr offset = syntax_expr(s, VYRE_U32), size = syntax_expr(s, VYRE_U32);
    (void)syntax_text(s, tag, true);
    if (random_chance(&s->x, 50)) {
        vyre_build_async_load(s->x.b, from->decl, to->decl, offset, size, tag);
    } else {
        vyre_build_async_store(s->x.b, from->decl, to->decl, offset, size, tag);
    }
    return true;
}

static void add_stmt(syntax *s, place at) {
    const bool nests = at.depth < DEPTH;
    switch (random_below(&s->x, 16)) {
    case 0:
    case 1:
    case 2: add_let(s, at); break;
    case 3:
    case 4: add_assign(s, at); break;
    case 5:
    case 6: add_store(s); break;
    case 7: add_atomic(s); break;
    case 8: add_call(s, at); break;
    case 9:
    case 10:
        if (nests) {
            add_if(s, at);
        }
        break;
    case 11:
        if (nests) {
            add_loop(s, at);
        }
        break;
    case 12:
        if (nests) {
            add_block(s, at);
        }
        break;
    case 13: add_leaving(s, at); break;
    default:
        if (at.uniform) {
            add_wait(s);
        }
    }
}

static void list(syntax *s, place at) {
    char tags[MOST_PENDING][TEXT];
    uint32_t pending = 0;
    const uint32_t locals = s->local_count, names = s->name_count;
    for (uint32_t i = random_below(&s->x, at.depth == 0 ? 14 : 6); i > 0 && s->budget > 0; i--) {
        s->budget--;
        if (pending < MOST_PENDING && random_chance(&s->x, 5)) {
            const bool began = begin_copy(s, tags[pending]);
            pending += began;
            s->copies += began;
        } else if (pending > 0 && random_chance(&s->x, 20)) {
            vyre_build_async_wait(s->x.b, tags[--pending]);
            s->copies--;
        } else if (s->local_count < LOCALS - 2) {
            add_stmt(s, at);
        }
    }
    while (pending > 0) {
        vyre_build_async_wait(s->x.b, tags[--pending]);
        s->copies--;
    }
    s->local_count = locals;
    s->name_count = names;
}

/* An opaque function touches what it declares, and waits for nobody. */
static void declare_effects(syntax *s, const function *f, memory *kept) {
    vyre_decl reads[DECLS], writes[DECLS];
    uint32_t read_count = 0, write_count = 0;
    memcpy(kept, s->memories, sizeof s->memories);
    for (uint32_t i = 0; i < s->memory_count; i++) {
        memory *m = &s->memories[i];
        const bool named = m->role != VYRE_PRIVATE;
        m->reads &= random_chance(&s->x, 50);
        m->writes &= random_chance(&s->x, 50);
        if (named && m->reads) {
            reads[read_count++] = m->decl;
        }
        if (named && m->writes) {
            writes[write_count++] = m->decl;
        }
    }
    vyre_build_fn_opaque(s->x.b, f->fn, reads, read_count, writes, write_count);
}

static void define_fn(syntax *s, uint32_t number) {
    function *f = &s->fns[number];
    memory kept[DECLS];
    const uint32_t names = s->name_count;
    if (f->opaque) {
        declare_effects(s, f, kept);
    }
    f->waits = !f->opaque && random_chance(&s->x, 40);
    s->callable = f->opaque ? 0 : number;
    s->local_count = 0;
    s->budget = 12;
    vyre_build_fn_begin(s->x.b, f->fn);
    for (uint32_t i = 0; i < f->arg_count; i++) {
        add_local(s, vyre_build_fn_argument(s->x.b, f->fn, i), false, false);
    }
    list(s, (place){.uniform = f->waits, .depth = 1});
    if (f->result != VYRE_VOID) {
        vyre_build_return(s->x.b, syntax_expr(s, f->result));
    } else if (random_chance(&s->x, 30)) {
        vyre_build_return(s->x.b, VYRE_NONE);
    }
    vyre_build_fn_end(s->x.b);
    s->local_count = 0;
    s->name_count = names;
    if (f->opaque) {
        memcpy(s->memories, kept, sizeof kept);
    }
}

static void define_entry(syntax *s) {
    s->callable = s->fn_count;
    s->budget = 16 + random_below(&s->x, 40);
    if (s->indirect && random_chance(&s->x, 50)) {
        vyre_build_indirect_dispatch(s->x.b, pick(s, buffer)->decl,
                                     vyre_build_u32(s->x.b, 4 * random_below(&s->x, 5)));
    }
    list(s, (place){.uniform = true});
}

vyre_status random_syntax(uint64_t seed, vyre_program **out_program, vyre_diag *diag) {
    syntax s = {.x = {.state = seed, .leaf = syntax_leaf}};
    vyre_status status = vyre_builder_create(NULL, "p", &s.x.b);
    if (status != VYRE_OK) {
        return status;
    }
    const uint32_t memories = 3 + random_below(&s.x, DECLS - 3);
    for (uint32_t i = 0; i < memories; i++) {
        syntax_declare_memory(&s);
        if (s.value_count < DECLS && random_chance(&s.x, 40)) {
            syntax_declare_value(&s);
        }
    }
    syntax_declare_header(&s);
    for (uint32_t i = random_below(&s.x, FNS + 1); i > 0; i--) {
        syntax_declare_fn(&s);
    }
    for (uint32_t i = 0; i < s.fn_count; i++) {
        define_fn(&s, i);
    }
    define_entry(&s);
    status = vyre_builder_finish(s.x.b, out_program, diag);
    vyre_builder_destroy(s.x.b);
    return status;
}
