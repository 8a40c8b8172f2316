/* Statements: scopes, names, operands, order, nesting. One loop over each body with an explicit
 * stack of the lists that are open. */
#include <string.h>

#include "analysis/checker.h"

typedef struct list {
    vyre_stmt opener; /* VYRE_NONE: the body itself */
    uint32_t number;  /* of this list among all of the program; an else arm is a list of its own */
    uint32_t first_var; /* of scope */
    bool ended;         /* control does not come further */
    bool told;          /* V256 was reported */
} list;

typedef struct transfer {
    vyre_stmt begin;
    uint32_t list;
    uint32_t again; /* begins that were reported; as many waits stay silent */
    bool waited;
} transfer;

typedef struct stmt_walk {
    vyre_checker *c;
    vyre_fn fn; /* VYRE_NONE: the entry body */
    vyre_stmt end;
    VYRE_VEC(list) lists;
    VYRE_VEC(vyre_var) scope; /* variables that are visible */
    uint32_t next_list;
    vyre_intern tags;
    VYRE_VEC(transfer) transfers; /* per tag */
    uint32_t first_transfer;      /* of the body */
    uint64_t statements;
    vyre_stmt indirect; /* the first one, or VYRE_NONE */
    bool told_nesting, told_count;
} stmt_walk;

/* Scopes */

static void bind(stmt_walk *w, vyre_var var, vyre_place place) {
    vyre_checker *c = w->c;
    const uint32_t name = vyre_checker_name(c, c->p->vars[var].name);
    if (name == VYRE_NONE || !vyre_vec_push(&c->allocator, &w->scope, var)) {
        c->failed = true;
        return;
    }
    if (c->visible.data[name]) {
        vyre_checker_error(c, "V008", place, "choose another name", "`%s` is already visible here",
                           c->p->vars[var].name);
    }
    c->visible.data[name] = true;
    c->in_scope[var] = true;
}

static void leave_scope(stmt_walk *w, uint32_t first) {
    vyre_checker *c = w->c;
    while (w->scope.count > first && !c->failed) {
        const vyre_var var = w->scope.data[--w->scope.count];
        const uint32_t name = vyre_checker_name(c, c->p->vars[var].name);
        c->in_scope[var] = false;
        if (name != VYRE_NONE) {
            c->visible.data[name] = false;
        }
    }
}

static void open_list(stmt_walk *w, vyre_stmt opener) {
    const list opened = {.opener = opener, .number = w->next_list++, .first_var = w->scope.count};
    if (!vyre_vec_push(&w->c->allocator, &w->lists, opened)) {
        w->c->failed = true;
    } else if (w->lists.count > VYRE_LIMIT_NESTING + 1 && !w->told_nesting) {
        w->told_nesting = true;
        vyre_checker_error(w->c, "V018", vyre_checker_at(w->c, opener),
                           "move the inner part to a function",
                           "statements are nested more than %d deep", (int)VYRE_LIMIT_NESTING);
    }
}

static void close_list(stmt_walk *w) {
    leave_scope(w, w->lists.data[w->lists.count - 1].first_var);
    w->lists.count--;
}

static list *top_list(stmt_walk *w) {
    return &w->lists.data[w->lists.count - 1];
}

/* Operands */

/* Operands that must be there, by statement. */
static uint32_t required(const vyre_stmt_node *stmt) {
    switch ((uint32_t)stmt->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_ASSIGN:
    case VYRE_STMT_SUBGROUP:
    case VYRE_STMT_GROUP:
    case VYRE_STMT_GRID:
    case VYRE_STMT_PART:
    case VYRE_STMT_IF:
    case VYRE_STMT_WHILE:
    case VYRE_STMT_TRAP:
    case VYRE_STMT_INDIRECT_DISPATCH: return 1;
    case VYRE_STMT_ATOMIC: return vyre_atomic_values((vyre_atomic_op)stmt->sub) ? 2 : 1;
    case VYRE_STMT_STORE:
    case VYRE_STMT_FOR:
    case VYRE_STMT_ASYNC_LOAD:
    case VYRE_STMT_ASYNC_STORE: return 2;
    default: return 0;
    }
}

static bool check_operands(stmt_walk *w, vyre_stmt at) {
    const vyre_stmt_node *stmt = &w->c->p->stmts[at];
    const uint32_t need = required(stmt);
    bool missing = stmt->op == VYRE_STMT_BROADCAST && stmt->arg[1] == VYRE_NONE;
    for (uint32_t i = 0; i < need; i++) {
        missing |= stmt->arg[i] == VYRE_NONE;
    }
    if (missing) {
        vyre_checker_error(w->c, "V241", vyre_checker_at(w->c, at), "give all operands",
                           "an operand of this %s statement is missing",
                           vyre_stmt_info_of((vyre_stmt_op)stmt->op)->name);
        return false;
    }
    if (stmt->end_expr - stmt->first_expr > VYRE_LIMIT_STMT_EXPRS) {
        vyre_checker_error(w->c, "V248", vyre_checker_at(w->c, at), "bind parts of it with let",
                           "this statement has more than %d expression nodes",
                           (int)VYRE_LIMIT_STMT_EXPRS);
    }
    vyre_check_exprs(w->c, stmt->first_expr, stmt->end_expr);
    return true;
}

static void check_condition(vyre_checker *c, vyre_expr condition) {
    const vyre_type type = (vyre_type)c->p->exprs[condition].type;
    if (!c->bad_expr[condition] && type != VYRE_BOOL && type != VYRE_U32) {
        vyre_checker_error(c, "V123", vyre_program_expr_place(c->program, condition),
                           "compare it with something", "a condition is bool or u32, not %s",
                           vyre_type_name(type));
    }
}

static void check_for(vyre_checker *c, const vyre_stmt_node *stmt) {
    int64_t step;
    vyre_check_type(c, stmt->arg[0], VYRE_U32, "V124", "the first value of a loop");
    vyre_check_type(c, stmt->arg[1], VYRE_U32, "V125", "the bound of a loop");
    if (stmt->arg[2] == VYRE_NONE) {
        return;
    }
    vyre_check_type(c, stmt->arg[2], VYRE_U32, "V253", "the step of a loop");
    if (!c->bad_expr[stmt->arg[2]] && vyre_checker_constant(c, stmt->arg[2], &step) && step == 0) {
        vyre_checker_error(c, "V254", vyre_program_expr_place(c->program, stmt->arg[2]),
                           "use a step of at least 1", "a loop with step 0 makes no trips");
    }
}

static void check_assign(vyre_checker *c, vyre_stmt at) {
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    const vyre_var_node *var = &c->p->vars[stmt->var];
    const vyre_type type = (vyre_type)c->p->exprs[stmt->arg[0]].type;
    if (!c->in_scope[stmt->var]) {
        vyre_checker_error(c, "V120", vyre_checker_at(c, at),
                           "assign it inside the list and after the statement that binds it",
                           "`%s` is not visible here", var->name);
    } else if (var->kind == VYRE_VAR_LOOP) {
        vyre_checker_error(c, "V011", vyre_checker_at(c, at), "copy it with let",
                           "`%s` is a loop variable and can't be assigned", var->name);
    } else if (!c->bad_expr[stmt->arg[0]] && !c->bad_var[stmt->var] && type != var->type) {
        vyre_checker_error(c, "V045", vyre_program_expr_place(c->program, stmt->arg[0]),
                           "convert it with a cast", "`%s` is %s, but the value is %s", var->name,
                           vyre_type_name((vyre_type)var->type), vyre_type_name(type));
    }
}

static void check_return(stmt_walk *w, vyre_stmt at) {
    vyre_checker *c = w->c;
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    if (w->fn == VYRE_NONE || at + 1 != w->end) {
        vyre_checker_error(c, "V112", vyre_checker_at(c, at), "use exit to end the lane",
                           "return may only be the last statement of a function");
        return;
    }
    const vyre_fn_node *fn = &c->p->fns[w->fn];
    const vyre_expr value = stmt->arg[0];
    const vyre_type type = value == VYRE_NONE ? VYRE_VOID : (vyre_type)c->p->exprs[value].type;
    if (type != fn->type && (value == VYRE_NONE || !c->bad_expr[value])) {
        vyre_checker_error(c, "V260", vyre_checker_at(c, at), "return what the function declares",
                           "`%s` returns %s, not %s", fn->name, vyre_type_name((vyre_type)fn->type),
                           vyre_type_name(type));
    }
}

/* Async tags: each begins once and is waited for once, in the same list. */

static void begin_transfer(stmt_walk *w, vyre_stmt at) {
    vyre_checker *c = w->c;
    const char *tag = c->p->stmts[at].text;
    if (tag[0] == '\0') {
        vyre_checker_error(c, "V117", vyre_checker_at(c, at), "give it a tag",
                           "the tag of a copy is empty");
        return;
    }
    const uint32_t number = vyre_intern_add(&w->tags, tag, strlen(tag));
    if (number < w->transfers.count) {
        vyre_checker_error(c, "V263", vyre_checker_at(c, at), "give each copy a tag of its own",
                           "the tag \"%s\" is used twice", tag);
        vyre_checker_note(c, vyre_checker_at(c, w->transfers.data[number].begin),
                          "it begins here first");
        w->transfers.data[number].again++;
    } else if (number == VYRE_INTERN_NONE ||
               !vyre_vec_push(&c->allocator, &w->transfers,
                              (transfer){.begin = at, .list = top_list(w)->number})) {
        c->failed = true;
    }
}

static void wait_transfer(stmt_walk *w, vyre_stmt at) {
    vyre_checker *c = w->c;
    const char *tag = c->p->stmts[at].text;
    if (tag[0] == '\0') {
        vyre_checker_error(c, "V128", vyre_checker_at(c, at), "name the tag of the copy",
                           "the tag to wait for is empty");
        return;
    }
    const uint32_t number = vyre_intern_find(&w->tags, tag, strlen(tag));
    transfer *found = number == VYRE_INTERN_NONE ? NULL : &w->transfers.data[number];
    if (found && found->waited && found->again > 0) {
        found->again--;
        return;
    }
    if (!found || found->list != top_list(w)->number || found->waited) {
        vyre_checker_error(c, "V264", vyre_checker_at(c, at),
                           "begin the copy before, in the same list of statements, and wait once",
                           "there is no copy \"%s\" to wait for", tag);
        if (found) {
            found->waited = true;
            vyre_checker_note(c, vyre_checker_at(c, found->begin), "the copy begins here");
        }
        return;
    }
    found->waited = true;
}

/* A swap while a copy is pending: which of the two would it then read or write? */
static void check_pending(stmt_walk *w, vyre_stmt at) {
    vyre_checker *c = w->c;
    const vyre_stmt_node *swap = &c->p->stmts[at];
    for (uint32_t i = w->first_transfer; i < w->transfers.count; i++) {
        const transfer *t = &w->transfers.data[i];
        const vyre_stmt_node *copy = &c->p->stmts[t->begin];
        if (!t->waited && (copy->decl == swap->decl || copy->decl2 == swap->decl ||
                           copy->decl == swap->decl2 || copy->decl2 == swap->decl2)) {
            vyre_checker_error(c, "V283", vyre_checker_at(c, at), "wait for the copy before",
                               "the copy \"%s\" of what is swapped is pending", copy->text);
            vyre_checker_note(c, vyre_checker_at(c, t->begin), "the copy begins here");
        }
    }
}

static void check_transfers(stmt_walk *w) {
    for (uint32_t i = 0; i < w->transfers.count; i++) {
        if (!w->transfers.data[i].waited) {
            vyre_checker_error(w->c, "V265", vyre_checker_at(w->c, w->transfers.data[i].begin),
                               "add async_wait in the same list of statements",
                               "the copy \"%s\" is never waited for",
                               vyre_intern_text(&w->tags, i));
        }
    }
}

static void check_indirect(stmt_walk *w, vyre_stmt at) {
    vyre_checker *c = w->c;
    if (w->fn != VYRE_NONE || w->lists.count > 1 || w->indirect != VYRE_NONE) {
        vyre_checker_error(c, "V267", vyre_checker_at(c, at),
                           "use one, at the top level of the program",
                           w->indirect != VYRE_NONE ? "a program has at most one indirect_dispatch"
                                                    : "indirect_dispatch in a nested list");
    } else if (c->p->clause_kind != VYRE_CLAUSE_NONE) {
        vyre_checker_error(c, "V268", vyre_checker_at(c, at), "remove one of them",
                           "indirect_dispatch in a program that has its own grid");
    }
    w->indirect = w->indirect == VYRE_NONE ? at : w->indirect;
    vyre_check_indirect(c, at);
}

/* What each statement asks for, its operands being there and checked. */
static void check_stmt(stmt_walk *w, vyre_stmt at) {
    vyre_checker *c = w->c;
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    switch ((vyre_stmt_op)stmt->op) {
    case VYRE_STMT_LET: c->bad_var[stmt->var] = c->bad_expr[stmt->arg[0]]; break;
    case VYRE_STMT_ASSIGN: check_assign(c, at); break;
    case VYRE_STMT_STORE: vyre_check_store(c, at); break;
    case VYRE_STMT_ATOMIC: vyre_check_atomic(c, at); break;
    case VYRE_STMT_SUBGROUP: vyre_check_subgroup(c, at); break;
    case VYRE_STMT_GROUP:
    case VYRE_STMT_GRID: vyre_check_reduction(c, at); break;
    case VYRE_STMT_CALL: vyre_check_call(c, at); break;
    case VYRE_STMT_IF:
    case VYRE_STMT_WHILE: check_condition(c, stmt->arg[0]); break;
    case VYRE_STMT_FOR: check_for(c, stmt); break;
    case VYRE_STMT_BREAK:
    case VYRE_STMT_CONTINUE:
        if (stmt->match == VYRE_NONE) {
            vyre_checker_error(c, "V255", vyre_checker_at(c, at), "use it inside for or while",
                               "%s outside of a loop",
                               vyre_stmt_info_of((vyre_stmt_op)stmt->op)->spelling);
        }
        break;
    case VYRE_STMT_RETURN: check_return(w, at); break;
    case VYRE_STMT_BARRIER:
        if (stmt->ordering == VYRE_RELAXED) {
            vyre_checker_error(c, "V043", vyre_checker_at(c, at),
                               "use acquire, release, acq_rel or seq_cst",
                               "a barrier can't be relaxed: it orders memory");
        }
        break;
    case VYRE_STMT_TRAP:
        vyre_check_type(c, stmt->arg[0], VYRE_U32, "V261", "the address of a trap");
        break;
    case VYRE_STMT_ASYNC_LOAD:
    case VYRE_STMT_ASYNC_STORE:
        vyre_check_async(c, at);
        begin_transfer(w, at);
        break;
    case VYRE_STMT_ASYNC_WAIT: wait_transfer(w, at); break;
    case VYRE_STMT_ALL_REDUCE:
    case VYRE_STMT_ALL_GATHER:
    case VYRE_STMT_REDUCE_SCATTER:
    case VYRE_STMT_BROADCAST: vyre_check_collective(c, at); break;
    case VYRE_STMT_SWAP:
        vyre_check_swap(c, at);
        check_pending(w, at);
        break;
    case VYRE_STMT_INDIRECT_DISPATCH: check_indirect(w, at); break;
    case VYRE_STMT_ELSE:
    case VYRE_STMT_BLOCK:
    case VYRE_STMT_REGION:
    case VYRE_STMT_END:
    case VYRE_STMT_EXIT:
    case VYRE_STMT_GRID_SYNC:
    case VYRE_STMT_PART: /* nobody checks what splitting makes on its way */
    case VYRE_STMT_COMBINE:
    case VYRE_STMT_BASE:
    case VYRE_STMT_COUNT: break;
    }
}

static void check_reached(stmt_walk *w, vyre_stmt at) {
    list *here = top_list(w);
    if (here->ended && !here->told) {
        here->told = true;
        vyre_checker_warn(w->c, "V256", vyre_checker_at(w->c, at), "remove it",
                          "no lane comes to this statement");
    }
    const uint8_t op = w->c->p->stmts[at].op;
    here->ended |= op == VYRE_STMT_EXIT || op == VYRE_STMT_TRAP || op == VYRE_STMT_BREAK ||
                   op == VYRE_STMT_CONTINUE || op == VYRE_STMT_RETURN;
}

static void walk_stmt(stmt_walk *w, vyre_stmt at) {
    vyre_checker *c = w->c;
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    const vyre_stmt_info *info = vyre_stmt_info_of((vyre_stmt_op)stmt->op);
    if (info->scope == VYRE_SCOPE_ELSE || info->scope == VYRE_SCOPE_END) {
        close_list(w);
        if (info->scope == VYRE_SCOPE_ELSE) {
            open_list(w, at);
        }
        return;
    }
    if (++w->statements > VYRE_LIMIT_STATEMENTS && !w->told_count) {
        w->told_count = true;
        vyre_checker_error(c, "V019", vyre_checker_at(c, at), "split the program",
                           "more than %d statements", (int)VYRE_LIMIT_STATEMENTS);
    }
    check_reached(w, at);
    if (check_operands(w, at)) {
        check_stmt(w, at);
    } else if (info->binds && stmt->var != VYRE_NONE) {
        c->bad_var[stmt->var] = true;
    }
    if (info->scope == VYRE_SCOPE_OPEN) {
        open_list(w, at);
    }
    if (info->binds && stmt->var != VYRE_NONE && !c->failed) {
        bind(w, stmt->var, vyre_checker_at(c, at));
    }
}

static void check_signature(vyre_checker *c, vyre_fn fn) {
    const vyre_fn_node *node = &c->p->fns[fn];
    for (uint32_t i = 0; i < node->arg_count; i++) {
        const vyre_var_node *arg = &c->p->vars[node->first_var + i];
        if (!vyre_type_computes((vyre_type)arg->type)) {
            vyre_checker_error(c, "V231", vyre_program_fn_place(c->program, fn),
                               "use the type that a load of it gives",
                               "argument `%s` of `%s` can't be %s: such values are only stored",
                               arg->name, node->name, vyre_type_name((vyre_type)arg->type));
            c->bad_var[node->first_var + i] = true;
        }
    }
    if (node->type != VYRE_VOID && !vyre_type_computes((vyre_type)node->type)) {
        vyre_checker_error(c, "V231", vyre_program_fn_place(c->program, fn),
                           "use the type that a load of it gives",
                           "the result of `%s` can't be %s: such values are only stored",
                           node->name, vyre_type_name((vyre_type)node->type));
    } else if (node->type != VYRE_VOID &&
               (node->begin == node->end || c->p->stmts[node->end - 1].op != VYRE_STMT_RETURN)) {
        vyre_checker_error(c, "V260", vyre_program_fn_place(c->program, fn),
                           "end it with `return value;`", "`%s` returns no value", node->name);
    }
}

static void walk_body(stmt_walk *w, vyre_fn fn) {
    const vyre_program_view *p = w->c->p;
    const vyre_stmt begin = fn == VYRE_NONE ? p->entry : p->fns[fn].begin;
    w->fn = fn;
    w->end = fn == VYRE_NONE ? p->stmt_count : p->fns[fn].end;
    w->first_transfer = w->transfers.count;
    open_list(w, VYRE_NONE);
    if (fn != VYRE_NONE) {
        check_signature(w->c, fn);
        for (uint32_t i = 0; i < p->fns[fn].arg_count && !w->c->failed; i++) {
            bind(w, p->fns[fn].first_var + i, vyre_program_fn_place(w->c->program, fn));
        }
    }
    for (vyre_stmt at = begin; at < w->end && !w->c->failed; at++) {
        walk_stmt(w, at);
    }
    if (!w->c->failed) {
        close_list(w);
    }
}

void vyre_check_bodies(vyre_checker *c) {
    stmt_walk w = {.c = c, .indirect = VYRE_NONE};
    vyre_intern_init(&w.tags, &c->allocator);
    for (vyre_fn fn = 0; fn < c->p->fn_count && !c->failed; fn++) {
        walk_body(&w, fn);
    }
    if (!c->failed) {
        walk_body(&w, VYRE_NONE);
    }
    if (!c->failed) {
        check_transfers(&w);
    }
    vyre_vec_free(&c->allocator, &w.lists);
    vyre_vec_free(&c->allocator, &w.scope);
    vyre_vec_free(&c->allocator, &w.transfers);
    vyre_intern_finish(&w.tags);
}
