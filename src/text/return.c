/* `return` before the end of a function: structured control instead of a jump.
 *
 * A program knows `return` only as the last statement of a function. One that stands elsewhere
 * assigns the result to a variable, and what follows runs only for lanes that have not returned:
 *
 *     if (c) { return a; } rest            if (c) { _0 = a; } else { rest }
 *     while (c) { ... return a; } rest     while (c) { ... _0 = a; _1 = true; break; }
 *                                          if (!_1) { rest }
 *
 * The first form serves where all arms before have returned, which is the usual guard; the second
 * needs a flag that says who has. In a loop a `return` leaves the loop at once, and behind it the
 * loop around, so nothing in them needs a guard. So lanes that have returned wait at the end of the
 * function, and whether a barrier behind a `return` may stand is decided by the conditions that are
 * written there, as for any other `if` and `break`.
 *
 * Each open list knows three things: whether its end is reached at all (`over`), whether lanes may
 * have returned inside (`may`), and how many lists were opened for the rest of it (`pending`),
 * which end where it does. The flag is declared at the start, before it is known whether anyone
 * will look at it, from the tokens alone; where that is a mistake it is one for too many flags.
 * Cost: linear, and one level of nesting for each guard. */
#include "text/parser.h"

static vyre_open *open_at(vyre_parser *p, uint32_t i) {
    return &p->open.data[i];
}

static bool in_loop(vyre_parser *p) {
    bool found = false;
    for (uint32_t i = 0; i < p->open.count && !found; i++) {
        found = open_at(p, i)->op == VYRE_STMT_WHILE || open_at(p, i)->op == VYRE_STMT_FOR;
    }
    return found;
}

vyre_way *vyre_parser_way(vyre_parser *p) {
    return p->open.count ? &open_at(p, p->open.count - 1)->way : &p->body_way;
}

static bool is_return(const vyre_parser *p, uint32_t token) {
    return vyre_parser_is(p, token, VYRE_WORD_STMT, VYRE_STMT_RETURN);
}

/* The semicolon that ends the statement. */
static uint32_t statement_end(const vyre_parser *p, uint32_t token, uint32_t end) {
    while (token < end && p->tokens[token].kind != VYRE_TOKEN_SEMICOLON) {
        token++;
    }
    return token;
}

/* Whether the list that ends with this brace has a `return` as its last statement. */
static bool ends_in_return(const vyre_parser *p, uint32_t close) {
    uint32_t at = close - 1;
    if (p->tokens[at].kind != VYRE_TOKEN_SEMICOLON) {
        return false;
    }
    do {
        at--;
    } while (p->tokens[at].kind != VYRE_TOKEN_SEMICOLON &&
             p->tokens[at].kind != VYRE_TOKEN_OPEN_BRACE &&
             p->tokens[at].kind != VYRE_TOKEN_CLOSE_BRACE);
    return is_return(p, at + 1);
}

/* Whether the list is an arm that, like all arms before it, ends in a `return`. */
static bool is_guard(const vyre_parser *p, uint32_t brace) {
    while (ends_in_return(p, p->tokens[brace].value)) {
        uint32_t word = brace - 1;
        if (p->tokens[word].kind == VYRE_TOKEN_CLOSE_PAREN) {
            word = p->tokens[word].value - 1;
            if (!vyre_parser_is(p, word, VYRE_WORD_STMT, VYRE_STMT_IF)) {
                return false;
            }
            if (!vyre_parser_is(p, word - 1, VYRE_WORD_STMT, VYRE_STMT_ELSE)) {
                return true;
            }
            word--;
        }
        if (!vyre_parser_is(p, word, VYRE_WORD_STMT, VYRE_STMT_ELSE) ||
            p->tokens[word - 1].kind != VYRE_TOKEN_CLOSE_BRACE) {
            return false;
        }
        brace = p->tokens[word - 1].value;
    }
    return false;
}

/* Whether some `return` of the body is not its last statement, and whether someone may have to ask
 * who has returned. */
static void survey(const vyre_parser *p, const vyre_item *item, bool *out_early, bool *out_flag) {
    const uint32_t close = p->tokens[item->body].value;
    uint32_t count = 0, depth = 0, list = item->body, last = 0;
    for (uint32_t at = item->body + 1; at < close; at++) {
        const uint8_t kind = p->tokens[at].kind;
        if (kind == VYRE_TOKEN_OPEN_BRACE) {
            list = depth++ == 0 ? at : list;
        } else if (kind == VYRE_TOKEN_CLOSE_BRACE) {
            depth--;
        } else if (is_return(p, at)) {
            count++;
            last = at;
            const bool ends = statement_end(p, at, close) + 1 == p->tokens[list].value;
            *out_flag |= depth > 1 || (depth == 1 && !(ends && is_guard(p, list)));
        }
    }
    const bool only_last = count == 1 && statement_end(p, last, close) + 1 == close;
    *out_early = count > 0 ? !only_last : item->result != VYRE_VOID;
}

static vyre_expr flag_unset(vyre_parser *p) {
    return vyre_build_op(p->builder, VYRE_EXPR_NOT, vyre_build_var(p->builder, p->flag), VYRE_NONE,
                         VYRE_NONE);
}

void vyre_parser_begin_returns(vyre_parser *p, const vyre_item *item) {
    bool flag = false;
    char room[16];
    p->body_way = (vyre_way){.arms_over = true};
    p->early = false;
    p->flag = p->result_var = VYRE_NONE;
    survey(p, item, &p->early, &flag);
    vyre_parser_at(p, item->body, item->body);
    if (p->early && vyre_type_computes((vyre_type)item->result)) {
        p->result_var = vyre_build_let(p->builder, vyre_parser_temporary(p, room),
                                       vyre_build_literal(p->builder, (vyre_type)item->result, 0));
    }
    if (p->early && flag) {
        p->flag = vyre_build_let(p->builder, vyre_parser_temporary(p, room),
                                 vyre_build_bool(p->builder, false));
    }
}

void vyre_parser_end_returns(vyre_parser *p, const vyre_item *item) {
    if (!p->early) {
        return;
    }
    const uint32_t close = p->tokens[item->body].value, name = p->symbols.data[item->symbol].token;
    vyre_parser_at(p, close, close);
    for (uint32_t i = 0; i < p->body_way.pending; i++) {
        vyre_build_end(p->builder);
    }
    if (item->result != VYRE_VOID && !p->body_way.over) {
        vyre_parser_error(p, "V260", item->begin, name, "end it with `return value;`", "`%s` %s",
                          vyre_parser_name(p, name),
                          p->body_way.may ? "does not return a value on every way"
                                          : "returns no value");
    }
    if (p->result_var != VYRE_NONE) {
        vyre_build_return(p->builder, vyre_build_var(p->builder, p->result_var));
    }
    p->early = false;
}

void vyre_parser_early_return(vyre_parser *p, uint32_t first, uint32_t root) {
    vyre_way *way = vyre_parser_way(p);
    const uint8_t type = root == VYRE_NONE ? (uint8_t)VYRE_VOID : p->nodes.data[root].type;
    if (type != p->result && type != VYRE_UNKNOWN) {
        vyre_parser_error(p, "V260", first, p->at - 1, "return what the function declares",
                          "the function returns %s, not %s", vyre_type_name((vyre_type)p->result),
                          vyre_type_name((vyre_type)type));
    } else if (p->result_var != VYRE_NONE) {
        vyre_build_assign(p->builder, p->result_var, vyre_parser_handle(p, root));
    }
    if (p->flag != VYRE_NONE && p->open.count > 0) { /* behind the outermost list nobody asks */
        vyre_build_assign(p->builder, p->flag, vyre_build_bool(p->builder, true));
    }
    if (in_loop(p)) {
        vyre_build_break(p->builder);
    }
    way->over = way->may = true;
}

void vyre_parser_before_statement(vyre_parser *p) {
    vyre_way *way = vyre_parser_way(p);
    if (p->early && way->over && !way->dead) { /* nobody comes to it */
        vyre_parser_at(p, p->at, p->at);
        vyre_build_if(p->builder, vyre_build_bool(p->builder, false));
        way->pending++;
        way->dead = true;
    }
}

/* The rest of the list, for those who have not returned. */
static void guard_rest(vyre_parser *p) {
    vyre_build_if(p->builder, flag_unset(p));
    vyre_parser_way(p)->pending++;
}

static void leave_loop(vyre_parser *p) {
    vyre_build_if(p->builder, vyre_build_var(p->builder, p->flag));
    vyre_build_break(p->builder);
    vyre_build_end(p->builder);
}

static void end_lists(vyre_parser *p, uint32_t ends) {
    for (uint32_t i = 0; i < ends; i++) {
        vyre_build_end(p->builder);
    }
}

void vyre_parser_end_list(vyre_parser *p, const vyre_open *list) {
    vyre_way *up = vyre_parser_way(p);
    const vyre_way *way = &list->way;
    const bool loops = list->op == VYRE_STMT_WHILE || list->op == VYRE_STMT_FOR;
    const bool may = way->may || way->arms_may, all = way->over && way->arms_over;
    uint32_t ends = list->ends;
    if (!p->early) {
        end_lists(p, ends);
        return;
    }
    up->may |= may;
    up->over |= all && list->op != VYRE_STMT_IF && !loops;
    if (list->op == VYRE_STMT_ELSE && way->arms_over) {
        vyre_build_end(p->builder); /* of the block inside, see vyre_parser_else */
        ends--;
    }
    const bool rest_is_else = may && !in_loop(p) && !up->over &&
                              (list->op == VYRE_STMT_IF     ? all
                               : list->op == VYRE_STMT_ELSE ? way->arms_over && !way->may
                                                            : false);
    if (rest_is_else) {
        if (list->op == VYRE_STMT_IF) {
            vyre_build_else(p->builder);
        }
        up->pending += ends;
        return;
    }
    end_lists(p, ends);
    if (may && !up->over && !in_loop(p)) {
        guard_rest(p);
    } else if (may && loops) {
        leave_loop(p);
    }
}

vyre_way vyre_parser_next_arm(const vyre_open *list) {
    return (vyre_way){.arms_over = list->way.arms_over && list->way.over,
                      .arms_may = list->way.arms_may || list->way.may};
}
