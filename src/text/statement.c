/* Statements, straight to the builder. A stack of open lists replaces recursion. After an error the
 * rest of the statement is skipped and parsing goes on, so one run reports many; the builder is
 * then fed holes, refuses them, and its result is never asked for. */
#include "text/parser.h"

void vyre_parser_at(vyre_parser *p, uint32_t first, uint32_t last) {
    vyre_builder_at(p->builder, vyre_source_place(&p->source, first, last));
}

const char *vyre_parser_name(const vyre_parser *p, uint32_t token) {
    const vyre_token *t = &p->tokens[token];
    return t->kind == VYRE_TOKEN_NAME ? vyre_source_name(&p->source, t->value) : "";
}

vyre_decl vyre_parser_decl(const vyre_parser *p, uint32_t symbol) {
    return symbol == VYRE_NONE ? VYRE_NONE : p->symbols.data[symbol].handle;
}

/* An expression with a wanted type, not yet elaborated. */
bool vyre_parser_part(vyre_parser *p, uint8_t want, uint32_t *out_node) {
    *out_node = vyre_parser_expression(p);
    if (*out_node != VYRE_NONE) {
        p->nodes.data[*out_node].want = want;
    }
    return *out_node != VYRE_NONE;
}

static vyre_open *top_list(vyre_parser *p) {
    return &p->open.data[p->open.count - 1];
}

/* Opens the list whose brace is at the cursor. Everything declared from `symbols` on belongs to it.
 */
static void open_list(vyre_parser *p, uint8_t op, uint32_t ends, uint32_t symbols) {
    uint32_t depth = (p->open.count ? top_list(p)->depth : 0) + vyre_parser_way(p)->pending + ends;
    if (!vyre_parser_expect(p, VYRE_TOKEN_OPEN_BRACE, "to open the body")) {
        vyre_parser_leave(p, symbols);
        vyre_parser_skip(p);
        return;
    }
    if (depth > VYRE_LIMIT_NESTING) {
        vyre_parser_error(p, "V018", p->at - 1, p->at - 1, "move the inner part to a function",
                          "statements are nested more than %d deep", VYRE_LIMIT_NESTING);
        p->at--;
        vyre_parser_leave(p, symbols);
        vyre_parser_skip(p);
        return;
    }
    vyre_open list = {.op = op,
                      .ends = ends,
                      .symbols = symbols,
                      .depth = depth,
                      .behind = VYRE_NONE,
                      .way = {.arms_over = true}};
    p->out_of_memory |= !vyre_vec_push(&p->source.allocator, &p->open, list);
}

static bool has_effect(const vyre_parser *p) {
    bool found = false;
    for (uint32_t i = 0; i < p->nodes.count && !found; i++) {
        found = vyre_node_is_effect(p->nodes.data[i].op) || p->nodes.data[i].deep;
    }
    return found;
}

/* ( condition ) of if and while; the expression, or false after a report. Effects in the condition
 * of a while run before each trip: then *out_loop is set, and the loop, which has no condition of
 * its own, is open before they are built. */
static bool condition(vyre_parser *p, uint32_t first, vyre_expr *out, bool *out_loop) {
    vyre_parser_clear(p);
    if (!vyre_parser_expect(p, VYRE_TOKEN_OPEN_PAREN, "before the condition")) {
        return false;
    }
    uint32_t root = vyre_parser_expression(p);
    if (root == VYRE_NONE ||
        !vyre_parser_expect(p, VYRE_TOKEN_CLOSE_PAREN, "behind the condition")) {
        return false;
    }
    if (out_loop && has_effect(p)) {
        *out_loop = true;
        vyre_parser_at(p, first, p->at - 1);
        vyre_build_while(p->builder, vyre_build_bool(p->builder, true));
    }
    vyre_parser_elaborate(p);
    *out = vyre_parser_handle(p, root);
    return true;
}

static void parse_if(vyre_parser *p, uint32_t ends) {
    uint32_t first = p->at++;
    vyre_expr value;
    if (!condition(p, first, &value, NULL)) {
        vyre_parser_skip(p);
        return;
    }
    vyre_parser_at(p, first, p->at - 1);
    vyre_build_if(p->builder, value);
    open_list(p, VYRE_STMT_IF, ends, p->symbols.count);
}

static void break_unless(vyre_parser *p, vyre_expr value) {
    vyre_build_if(p->builder,
                  vyre_build_op(p->builder, VYRE_EXPR_NOT, value, VYRE_NONE, VYRE_NONE));
    vyre_build_break(p->builder);
    vyre_build_end(p->builder);
}

static void parse_while(vyre_parser *p) {
    uint32_t first = p->at++;
    vyre_expr value;
    bool is_open = false;
    if (!condition(p, first, &value, &is_open)) {
        vyre_parser_skip(p);
        return;
    }
    vyre_parser_at(p, first, p->at - 1);
    if (is_open) {
        break_unless(p, value);
    } else {
        vyre_build_while(p->builder, value);
    }
    open_list(p, VYRE_STMT_WHILE, 1, p->symbols.count);
}

/* Loops as in C become `while`. What runs behind each trip, the step of a for or the condition of a
 * do, stands in the program at the end of the body and before each `continue`; its tokens are
 * parsed once for each. */

static void parse_named(vyre_parser *p);

/* if (!c) { break; } */
static void leave_unless(vyre_parser *p, uint32_t first) {
    vyre_expr value;
    if (condition(p, first, &value, NULL)) {
        vyre_parser_at(p, first, p->at - 1);
        break_unless(p, value);
    }
}

static void end_trip(vyre_parser *p, vyre_open *loop) {
    const uint32_t at = p->at, errors = p->source.errors;
    if (loop->behind == VYRE_NONE) {
        return;
    }
    p->at = loop->behind;
    if (loop->until) {
        p->at++;
        leave_unless(p, loop->behind);
    } else {
        uint32_t open = loop->behind; /* the bracket around, from the semicolon before on */
        while (p->tokens[open].kind != VYRE_TOKEN_OPEN_PAREN || p->tokens[open].value < p->at) {
            open--;
        }
        p->step_close = p->tokens[open].value;
        parse_named(p);
        p->step_close = 0;
    }
    if (p->source.errors != errors) {
        loop->behind = VYRE_NONE; /* once is enough */
    }
    p->at = at;
}

/* An assignment or a call stands there; else a report. */
static bool check_simple(vyre_parser *p, uint32_t token) {
    char room[64];
    if (vyre_parser_is_name(p, token)) {
        return true;
    }
    vyre_parser_error(p, "V228", token, token, "write an assignment, a call or nothing",
                      "expected an assignment or a call, found %s",
                      vyre_source_describe(&p->source, token, room));
    return false;
}

/* `let`, an assignment or nothing, up to its semicolon. */
static void for_first(vyre_parser *p) {
    if (p->tokens[p->at].kind == VYRE_TOKEN_SEMICOLON) {
        p->at++;
    } else if (vyre_parser_is(p, p->at, VYRE_WORD_STMT, VYRE_STMT_LET)) {
        vyre_parser_let(p);
    } else if (check_simple(p, p->at)) {
        parse_named(p);
    }
}

/* for (let i = 0; i < n; i += 1): the bracket is at the cursor. */
static void parse_for_c(vyre_parser *p, uint32_t first) {
    const uint32_t close = p->tokens[p->at].value, symbols = p->symbols.count;
    const uint32_t errors = p->source.errors;
    const bool binds = vyre_parser_is(p, p->at + 1, VYRE_WORD_STMT, VYRE_STMT_LET);
    vyre_expr value = VYRE_NONE;
    bool is_open = false;
    vyre_parser_at(p, first, close);
    if (binds) { /* the variable ends with the loop */
        vyre_build_block(p->builder);
    }
    p->at++;
    for_first(p);
    vyre_parser_clear(p);
    if (p->source.errors == errors && p->tokens[p->at].kind != VYRE_TOKEN_SEMICOLON) {
        uint32_t root = vyre_parser_expression(p);
        if (root != VYRE_NONE) {
            is_open = has_effect(p); /* as in the condition of a while */
            if (is_open) {
                vyre_parser_at(p, first, close);
                vyre_build_while(p->builder, vyre_build_bool(p->builder, true));
            }
            vyre_parser_elaborate(p);
            value = vyre_parser_handle(p, root);
        }
    } else {
        value = vyre_build_bool(p->builder, true);
    }
    if (p->source.errors != errors ||
        !vyre_parser_expect(p, VYRE_TOKEN_SEMICOLON, "behind the condition")) {
        p->at = close + 1;
        vyre_parser_leave(p, symbols);
        vyre_parser_skip(p);
        return;
    }
    vyre_parser_at(p, first, close);
    if (is_open) {
        break_unless(p, value);
    } else {
        vyre_build_while(p->builder, value);
    }
    const uint32_t step = p->at, lists = p->open.count;
    p->at = close + 1;
    open_list(p, VYRE_STMT_WHILE, binds ? 2 : 1, symbols);
    if (p->open.count > lists && step != close && check_simple(p, step)) {
        top_list(p)->behind = step;
    }
}

static void parse_do(vyre_parser *p) {
    const uint32_t brace = ++p->at, lists = p->open.count;
    vyre_parser_at(p, brace - 1, brace);
    if (p->tokens[brace].kind != VYRE_TOKEN_OPEN_BRACE) {
        vyre_parser_expect(p, VYRE_TOKEN_OPEN_BRACE, "to open the body");
        vyre_parser_skip(p);
        if (vyre_parser_is(p, p->at, VYRE_WORD_STMT, VYRE_STMT_WHILE)) {
            vyre_parser_skip(p);
        }
        return;
    }
    const uint32_t behind = p->tokens[brace].value + 1;
    if (!vyre_parser_is(p, behind, VYRE_WORD_STMT, VYRE_STMT_WHILE) ||
        p->tokens[behind + 1].kind != VYRE_TOKEN_OPEN_PAREN) {
        char room[64];
        vyre_parser_error(p, "V210", behind, behind, "write it like do { } while (c);",
                          "expected `while (` behind the body of a do, found %s",
                          vyre_source_describe(&p->source, behind, room));
        vyre_parser_skip(p);
        return;
    }
    vyre_build_while(p->builder, vyre_build_bool(p->builder, true));
    open_list(p, VYRE_STMT_WHILE, 1, p->symbols.count);
    if (p->open.count > lists) {
        top_list(p)->behind = behind;
        top_list(p)->until = true;
    }
}

/* The innermost loop, or NULL. */
static vyre_open *loop_around(vyre_parser *p) {
    for (uint32_t i = p->open.count; i-- > 0;) {
        if (p->open.data[i].op == VYRE_STMT_WHILE || p->open.data[i].op == VYRE_STMT_FOR) {
            return &p->open.data[i];
        }
    }
    return NULL;
}

/* (v in from .. to step s) up to the closing bracket. */
static bool for_header(vyre_parser *p, uint32_t *out_name, uint32_t parts[3]) {
    if (!vyre_parser_expect(p, VYRE_TOKEN_OPEN_PAREN, "behind `for`")) {
        return false;
    }
    *out_name = p->at++;
    if (!vyre_parser_is(p, p->at, VYRE_WORD_ROLE, VYRE_IN)) {
        char room[64];
        vyre_parser_error(p, "V210", p->at, p->at, "write it like for (i in 0 .. n) { }",
                          "expected `in` behind the loop variable, found %s",
                          vyre_source_describe(&p->source, p->at, room));
        return false;
    }
    p->at++;
    if (!vyre_parser_part(p, VYRE_U32, &parts[0]) ||
        !vyre_parser_expect(p, VYRE_TOKEN_RANGE, "between the bounds of the loop") ||
        !vyre_parser_part(p, VYRE_U32, &parts[1])) {
        return false;
    }
    if (vyre_parser_is(p, p->at, VYRE_WORD_KEY, VYRE_KEY_STEP)) {
        p->at++;
        if (!vyre_parser_part(p, VYRE_U32, &parts[2])) {
            return false;
        }
    }
    return vyre_parser_expect(p, VYRE_TOKEN_CLOSE_PAREN, "behind the bounds of the loop");
}

/* Whether the brackets at the cursor hold a loop as in C. */
static bool is_for_c(const vyre_parser *p) {
    const vyre_token *t = &p->tokens[p->at];
    bool found = vyre_parser_is(p, p->at + 1, VYRE_WORD_STMT, VYRE_STMT_LET);
    for (uint32_t i = p->at; t->kind == VYRE_TOKEN_OPEN_PAREN && i < t->value; i++) {
        found |= p->tokens[i].kind == VYRE_TOKEN_SEMICOLON;
    }
    return t->kind == VYRE_TOKEN_OPEN_PAREN && found;
}

static void parse_for(vyre_parser *p) {
    uint32_t first = p->at++, name = VYRE_NONE;
    if (is_for_c(p)) {
        parse_for_c(p, first);
        return;
    }
    uint32_t parts[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
    vyre_parser_clear(p);
    if (!for_header(p, &name, parts)) {
        vyre_parser_skip(p);
        return;
    }
    vyre_parser_elaborate(p);
    uint32_t symbols = p->symbols.count;
    uint32_t symbol =
        vyre_parser_declare(p, name, VYRE_SYMBOL_VAR, VYRE_VAR_LOOP, VYRE_U32, VYRE_NONE);
    vyre_parser_at(p, first, p->at - 1);
    vyre_var var =
        vyre_build_for(p->builder, vyre_parser_name(p, name), vyre_parser_handle(p, parts[0]),
                       vyre_parser_handle(p, parts[1]), vyre_parser_handle(p, parts[2]));
    if (symbol != VYRE_NONE) {
        p->symbols.data[symbol].handle = var;
    }
    open_list(p, VYRE_STMT_FOR, 1, symbols);
}

/* The arm behind the list, which is complete. */
static void parse_else(vyre_parser *p, const vyre_open *list) {
    const uint32_t lists = p->open.count;
    const vyre_way way = vyre_parser_next_arm(list);
    vyre_parser_at(p, p->at, p->at);
    vyre_build_else(p->builder);
    p->at++;
    if (vyre_parser_is(p, p->at, VYRE_WORD_STMT, VYRE_STMT_IF)) {
        parse_if(p, list->ends + 1);
    } else {
        const bool wraps = p->early && way.arms_over; /* the rest of the list around may follow */
        if (wraps) {
            vyre_build_block(p->builder);
        }
        open_list(p, VYRE_STMT_ELSE, list->ends + wraps, p->symbols.count);
    }
    if (p->open.count > lists) {
        top_list(p)->way = way;
    }
}

/* The brace at the cursor closes the innermost list; `else` may open the next. */
static void close_list(vyre_parser *p) {
    vyre_open list = p->open.data[--p->open.count];
    const uint32_t brace = p->at;
    if (list.until) { /* its condition does not see the body's variables, the step of a for does */
        vyre_parser_leave(p, list.symbols);
    }
    if (!p->jumped) {
        end_trip(p, &list);
    }
    p->jumped = false;
    vyre_parser_leave(p, list.symbols);
    vyre_parser_at(p, brace, brace);
    p->at++;
    if (list.until) { /* while ( ... ) ; */
        p->at = p->tokens[brace + 2].value + 1;
        vyre_parser_expect(p, VYRE_TOKEN_SEMICOLON, "behind the condition");
        vyre_parser_at(p, brace, brace);
    }
    for (uint32_t i = 0; i < list.way.pending; i++) {
        vyre_build_end(p->builder);
    }
    if (list.op == VYRE_STMT_IF && vyre_parser_is(p, p->at, VYRE_WORD_STMT, VYRE_STMT_ELSE)) {
        parse_else(p, &list);
    } else {
        vyre_parser_end_list(p, &list);
    }
}

static void parse_return(vyre_parser *p) {
    uint32_t first = p->at++, root = VYRE_NONE;
    vyre_parser_clear(p);
    if (p->tokens[p->at].kind != VYRE_TOKEN_SEMICOLON) {
        if (!vyre_parser_part(p, p->result, &root)) {
            vyre_parser_skip(p);
            return;
        }
        if (!p->in_function) {
            vyre_parser_error(p, "V236", first, p->at - 1, "write exit; or store the value",
                              "the entry body can't return a value");
        }
        vyre_parser_elaborate(p);
    }
    if (!vyre_parser_expect(p, VYRE_TOKEN_SEMICOLON, "behind `return`")) {
        vyre_parser_skip(p);
        return;
    }
    vyre_parser_at(p, first, p->at - 1);
    if (p->early) {
        vyre_parser_early_return(p, first, root);
    } else if (p->in_function) {
        vyre_build_return(p->builder, vyre_parser_handle(p, root));
    } else {
        vyre_build_exit(p->builder);
    }
}

static void parse_region(vyre_parser *p) {
    char name[VYRE_LIMIT_NAME + 1];
    uint32_t first = p->at++;
    if (!vyre_parser_string(p, name)) {
        vyre_parser_skip(p);
        return;
    }
    vyre_parser_at(p, first, p->at - 1);
    vyre_build_region(p->builder, name);
    open_list(p, VYRE_STMT_REGION, 1, p->symbols.count);
}

/* Statements that are one word. */
static void parse_word(vyre_parser *p, vyre_stmt_op op) {
    uint32_t first = p->at++;
    vyre_ordering ordering = VYRE_SEQ_CST;
    if (op == VYRE_STMT_BARRIER && p->tokens[p->at].kind == VYRE_TOKEN_OPEN_PAREN) {
        p->at++;
        if (!vyre_parser_ordering(p, &ordering) ||
            !vyre_parser_expect(p, VYRE_TOKEN_CLOSE_PAREN, "behind the ordering")) {
            vyre_parser_skip(p);
            return;
        }
    }
    if (!vyre_parser_expect(p, VYRE_TOKEN_SEMICOLON, "behind the statement")) {
        vyre_parser_skip(p);
        return;
    }
    vyre_parser_at(p, first, p->at - 1);
    if (op == VYRE_STMT_BREAK) {
        vyre_build_break(p->builder);
    } else if (op == VYRE_STMT_CONTINUE) {
        vyre_open *loop = loop_around(p);
        if (loop) {
            end_trip(p, loop);
            vyre_parser_at(p, first, p->at - 1);
        }
        vyre_build_continue(p->builder);
    } else if (op == VYRE_STMT_EXIT) {
        vyre_build_exit(p->builder);
    } else if (op == VYRE_STMT_GRID_SYNC) {
        vyre_build_grid_sync(p->builder);
    } else {
        vyre_build_barrier(p->builder, ordering);
    }
}

static void parse_statement_word(vyre_parser *p, vyre_stmt_op op) {
    switch (op) {
    case VYRE_STMT_LET: vyre_parser_let(p); return;
    case VYRE_STMT_IF: parse_if(p, 1); return;
    case VYRE_STMT_FOR: parse_for(p); return;
    case VYRE_STMT_WHILE: parse_while(p); return;
    case VYRE_STMT_REGION: parse_region(p); return;
    case VYRE_STMT_RETURN: parse_return(p); return;
    case VYRE_STMT_BREAK:
    case VYRE_STMT_CONTINUE:
    case VYRE_STMT_EXIT:
    case VYRE_STMT_BARRIER:
    case VYRE_STMT_GRID_SYNC: parse_word(p, op); return;
    case VYRE_STMT_TRAP:
    case VYRE_STMT_ASYNC_LOAD:
    case VYRE_STMT_ASYNC_STORE:
    case VYRE_STMT_ASYNC_WAIT:
    case VYRE_STMT_ALL_REDUCE:
    case VYRE_STMT_ALL_GATHER:
    case VYRE_STMT_REDUCE_SCATTER:
    case VYRE_STMT_BROADCAST:
    case VYRE_STMT_SWAP:
    case VYRE_STMT_INDIRECT_DISPATCH: vyre_parser_listed(p); return;
    case VYRE_STMT_ELSE:
        vyre_parser_error(p, "V237", p->at, p->at, "put it directly behind the } of an if",
                          "this `else` belongs to no `if`");
        p->at++;
        vyre_parser_skip(p);
        return;
    case VYRE_STMT_ASSIGN:
    case VYRE_STMT_STORE:
    case VYRE_STMT_ATOMIC:
    case VYRE_STMT_SUBGROUP:
    case VYRE_STMT_GROUP:
    case VYRE_STMT_GRID:
    case VYRE_STMT_PART:
    case VYRE_STMT_COMBINE:
    case VYRE_STMT_BASE:
    case VYRE_STMT_CALL:
    case VYRE_STMT_BLOCK:
    case VYRE_STMT_END:
    case VYRE_STMT_COUNT: return; /* they have no word of their own */
    }
}

static void parse_named(vyre_parser *p) {
    const vyre_token *t = &p->tokens[p->at];
    switch (vyre_parser_word(p, p->at)) {
    case VYRE_WORD_PLAIN:
        if (t[1].kind == VYRE_TOKEN_OPEN_INDEX) {
            vyre_parser_store(p);
        } else if (t[1].kind == VYRE_TOKEN_OPEN_PAREN) {
            vyre_parser_effect(p);
        } else {
            vyre_parser_assign(p);
        }
        return;
    case VYRE_WORD_STMT: parse_statement_word(p, (vyre_stmt_op)t->sub); return;
    case VYRE_WORD_ATOMIC:
    case VYRE_WORD_SUBGROUP:
    case VYRE_WORD_GROUP:
    case VYRE_WORD_GRID:
    case VYRE_WORD_TYPE:
    case VYRE_WORD_FUNCTION: vyre_parser_effect(p); return;
    case VYRE_WORD_ROLE:
        vyre_parser_error(p, "V227", p->at, p->at, "move it out of the inner braces",
                          "declarations stand at the top level of the program");
        break;
    default: {
        char room[64];
        if (t->word == VYRE_WORD_KEY && t->sub == VYRE_KEY_DO) {
            parse_do(p);
            return;
        }
        bool fn = t->word == VYRE_WORD_KEY && t->sub == VYRE_KEY_FN;
        vyre_parser_error(p, fn ? "V227" : "V228", p->at, p->at,
                          fn ? "move it out of the inner braces" : "begin a statement here",
                          fn ? "functions stand at the top level of the program%s"
                             : "expected a statement, found %s",
                          fn ? "" : vyre_source_describe(&p->source, p->at, room));
    }
    }
    vyre_parser_skip(p);
}

static void parse_statement(vyre_parser *p) {
    const vyre_token *t = &p->tokens[p->at];
    p->jumped = vyre_parser_is(p, p->at, VYRE_WORD_STMT, VYRE_STMT_BREAK) ||
                vyre_parser_is(p, p->at, VYRE_WORD_STMT, VYRE_STMT_CONTINUE) ||
                vyre_parser_is(p, p->at, VYRE_WORD_STMT, VYRE_STMT_EXIT) ||
                vyre_parser_is(p, p->at, VYRE_WORD_STMT, VYRE_STMT_RETURN);
    vyre_parser_before_statement(p);
    if (vyre_parser_is(p, p->at, VYRE_WORD_STMT, VYRE_STMT_EXIT) ||
        (vyre_parser_is(p, p->at, VYRE_WORD_STMT, VYRE_STMT_TRAP) &&
         vyre_parser_word(p, p->at) == VYRE_WORD_STMT)) {
        vyre_parser_way(p)->over = true;
    }
    if (t->kind == VYRE_TOKEN_NAME) {
        parse_named(p);
    } else if (t->kind == VYRE_TOKEN_OPEN_BRACE) {
        vyre_parser_at(p, p->at, p->at);
        vyre_build_block(p->builder);
        open_list(p, VYRE_STMT_BLOCK, 1, p->symbols.count);
    } else {
        char room[64];
        vyre_parser_error(p, "V228", p->at, p->at,
                          t->kind == VYRE_TOKEN_SEMICOLON ? "delete it" : "begin a statement here",
                          "expected a statement, found %s",
                          vyre_source_describe(&p->source, p->at, room));
        vyre_parser_skip(p);
    }
}

void vyre_parser_body(vyre_parser *p, uint32_t brace, bool entry) {
    uint32_t close = p->tokens[brace].value;
    uint32_t item = 0;
    p->at = brace + 1;
    p->open.count = 0;
    while (p->at < close || p->open.count) {
        if (p->out_of_memory || p->source.errors >= VYRE_TEXT_ERRORS) {
            return;
        }
        while (entry && item < p->items.count && p->items.data[item].begin < p->at) {
            item++;
        }
        if (entry && item < p->items.count && p->items.data[item].begin == p->at &&
            p->open.count == 0) {
            p->at = p->items.data[item].end;
        } else if (p->tokens[p->at].kind == VYRE_TOKEN_CLOSE_BRACE) {
            close_list(p);
        } else {
            parse_statement(p);
        }
    }
}
