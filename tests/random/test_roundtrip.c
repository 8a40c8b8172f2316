/* Round trip of random programs, and that the generator uses the whole language. */
#include "harness/test.h"
#include "random/random_program.h"
#include "random/roundtrip.h"
#include "vyre/ir.h"

enum { PROGRAMS = 10000, SAMPLE = 4000 };

TEST(random_programs_survive_printing_parsing_and_formatting) {
    roundtrip r;
    roundtrip_init(&r);
    const uint64_t count = test_scaled(PROGRAMS);
    for (uint64_t seed = 1; seed <= count && !test_failed(); seed++) {
        vyre_program *program;
        if (!roundtrip_seed(&r, seed, &program)) {
            test_fail(__FILE__, __LINE__, "seed %" PRIu64 ": %s\n%s", seed, r.why,
                      vyre_text_string(&r.printed));
        }
        vyre_program_release(program);
    }
    CHECK(r.sugared >= count / 100);
    CHECK(r.loops >= count / 100);
    roundtrip_finish(&r);
}

/* What occurred in a number of programs. */
typedef struct coverage {
    bool exprs[VYRE_EXPR_COUNT][VYRE_TYPE_COUNT]; /* by type of the first operand, or the own */
    bool casts[VYRE_TYPE_COUNT][VYRE_TYPE_COUNT];
    bool stmts[VYRE_STMT_COUNT];
    bool atomics[VYRE_ATOMIC_COUNT][VYRE_TYPE_COUNT];
    bool orderings[VYRE_ORDERING_COUNT];
    bool subgroups[VYRE_SUBGROUP_COUNT][VYRE_TYPE_COUNT];
    bool reductions[2][VYRE_REDUCE_COUNT][VYRE_TYPE_COUNT];
    bool builtins[VYRE_BUILTIN_COUNT][3];
    bool memories[VYRE_ROLE_COUNT][VYRE_TYPE_COUNT];
    bool access[3], clauses[3], ranged, defaulted, opaque;
} coverage;

static void cover_exprs(coverage *c, const vyre_program_view *p) {
    for (uint32_t i = 0; i < p->expr_count; i++) {
        const vyre_expr_node *e = &p->exprs[i];
        const uint32_t arity = vyre_expr_info_of((vyre_expr_op)e->op)->arity;
        const uint32_t operand = e->op == VYRE_EXPR_SELECT || e->op == VYRE_EXPR_COND;
        const uint8_t type = arity == 0 ? e->type : p->exprs[e->u.arg[operand]].type;
        c->exprs[e->op][type] = true;
        if (e->op == VYRE_EXPR_CAST) {
            c->casts[type][e->sub] = true;
        } else if (e->op == VYRE_EXPR_BUILTIN) {
            c->builtins[e->sub][e->axis] = true;
        }
    }
}

static void cover(coverage *c, const vyre_program_view *p) {
    cover_exprs(c, p);
    c->clauses[p->clause_kind] = true;
    for (uint32_t i = 0; i < p->stmt_count; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        c->stmts[s->op] = true;
        if (s->op == VYRE_STMT_ATOMIC) {
            c->atomics[s->sub][p->decls[s->decl].type] = true;
            c->orderings[s->ordering] = true;
        } else if (s->op == VYRE_STMT_SUBGROUP) {
            c->subgroups[s->sub][p->exprs[s->arg[0]].type] = true;
        } else if (s->op == VYRE_STMT_GROUP || s->op == VYRE_STMT_GRID) {
            const bool grid = s->op == VYRE_STMT_GRID;
            c->reductions[grid][s->sub][p->exprs[s->arg[0]].type] = true;
        }
    }
    for (uint32_t i = 0; i < p->decl_count; i++) {
        const vyre_decl_node *d = &p->decls[i];
        c->memories[d->role][d->type] = true;
        c->access[d->access] = true;
        c->ranged |= d->range_end != 0;
        c->defaulted |= d->role == VYRE_PARAM && d->value != VYRE_NONE;
    }
    for (uint32_t i = 0; i < p->fn_count; i++) {
        c->opaque |= p->fns[i].opaque;
    }
}

static void expect(bool occurred, const char *what, vyre_type type) {
    if (!occurred) {
        test_fail(__FILE__, __LINE__, "no program has %s of %s", what, vyre_type_name(type));
    }
}

static void expect_exprs(const coverage *c, vyre_type type) {
    for (int op = 0; op < VYRE_EXPR_COUNT; op++) {
        const vyre_expr_info *info = vyre_expr_info_of((vyre_expr_op)op);
        const uint32_t operand = info->operands == VYRE_OPERANDS_SELECT;
        const bool leaf = info->arity == 0;
        const bool counts = op == VYRE_EXPR_LEN || op == VYRE_EXPR_BUILTIN;
        if (leaf ? !counts || type == VYRE_U32
                 : vyre_operands_accept((vyre_operands)info->operands, operand, type)) {
            expect(c->exprs[op][type], info->name, type);
        }
    }
    for (vyre_type to = VYRE_BOOL; to < VYRE_TYPE_COUNT; to = (vyre_type)(to + 1)) {
        expect(c->casts[type][to], vyre_type_name(to), type);
    }
}

static void expect_operations(const coverage *c, vyre_type type) {
    const bool integer = vyre_type_is_integer(type);
    for (int op = 0; op < VYRE_ATOMIC_COUNT; op++) {
        const bool takes =
            integer || (vyre_type_is_float(type) && vyre_atomic_takes_floats((vyre_atomic_op)op));
        expect(c->atomics[op][type] == takes, vyre_atomic_name((vyre_atomic_op)op), type);
    }
    for (int op = 0; op < VYRE_SUBGROUP_COUNT; op++) {
        const vyre_operands operands = vyre_subgroup_operands((vyre_subgroup_op)op);
        expect(c->subgroups[op][type] == vyre_operands_accept(operands, 0, type),
               vyre_subgroup_name((vyre_subgroup_op)op), type);
    }
    for (int op = 0; op < 2 * VYRE_REDUCE_COUNT; op++) {
        const bool grid = op >= VYRE_REDUCE_COUNT;
        const vyre_reduce_op which = (vyre_reduce_op)(op % VYRE_REDUCE_COUNT);
        const char *name = vyre_reduce_name(which, grid);
        expect(c->reductions[grid][which][type] ==
                   (*name && vyre_operands_accept(vyre_reduce_operands(which), 0, type)),
               name, type);
    }
}

static void expect_parts(const coverage *c) {
    for (int op = 0; op < VYRE_STMT_COUNT; op++) {
        const bool is_parted =
            op == VYRE_STMT_PART || op == VYRE_STMT_COMBINE || op == VYRE_STMT_BASE;
        expect(c->stmts[op] != is_parted, vyre_stmt_info_of((vyre_stmt_op)op)->name, VYRE_VOID);
    }
    for (int ordering = 0; ordering < VYRE_ORDERING_COUNT; ordering++) {
        expect(c->orderings[ordering], vyre_ordering_name((vyre_ordering)ordering), VYRE_VOID);
    }
    for (int id = 0; id < VYRE_BUILTIN_COUNT; id++) {
        for (uint32_t axis = 0; axis < vyre_builtin_axes((vyre_builtin)id); axis++) {
            expect(c->builtins[id][axis], vyre_builtin_name((vyre_builtin)id), VYRE_U32);
        }
    }
    for (int i = 0; i < 3; i++) {
        CHECK(c->access[i]);
        CHECK(c->clauses[i]);
    }
    CHECK(c->ranged);
    CHECK(c->defaulted);
    CHECK(c->opaque);
}

TEST(random_programs_use_the_whole_language) {
    static coverage c;
    for (uint64_t seed = 1; seed <= SAMPLE; seed++) {
        vyre_program *program = NULL;
        vyre_diag diag = {0};
        REQUIRE_OK(random_syntax(seed, &program, &diag), &diag);
        cover(&c, vyre_program_get(program));
        vyre_program_release(program);
    }
    for (vyre_type type = VYRE_BOOL; type <= VYRE_F64; type = (vyre_type)(type + 1)) {
        expect_exprs(&c, type);
        expect_operations(&c, type);
    }
    for (vyre_type type = VYRE_BOOL; type < VYRE_TYPE_COUNT; type = (vyre_type)(type + 1)) {
        for (vyre_role role = VYRE_IN; role < VYRE_PARAM; role = (vyre_role)(role + 1)) {
            expect(c.memories[role][type], vyre_role_name(role), type);
        }
    }
    expect_parts(&c);
}

TEST(a_seed_names_one_program) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        vyre_program *a = NULL, *b = NULL;
        vyre_diag diag = {0};
        REQUIRE_OK(random_syntax(seed, &a, &diag), &diag);
        REQUIRE_OK(random_syntax(seed, &b, &diag), &diag);
        CHECK(vyre_program_equal(a, b));
        vyre_program_release(a);
        vyre_program_release(b);
    }
}
