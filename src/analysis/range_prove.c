/* Proofs of inequalities by elimination.
 *
 * A goal form <= 0 holds if the greatest value of the form, by the bounds of its symbols, is at
 * most 0. Else a symbol is replaced by what is known to be at least as large (in its direction),
 * which gives a goal that implies the first: a fact f <= 0 whose factor b of the symbol has the
 * sign of the goal's factor c: |b| * goal - |c| * f <= |b| - 1 implies |b| * goal <= |b| - 1, and
 * the goal is an integer; the symbol's bound; in a product t * u with u >= 0, a fact or bound of t
 * times u. The newest symbols go first: facts mostly tell them by older ones. Goals wait in a short
 * queue, so a proof is bounded, whatever the program. */
#include "analysis/range_state.h"

enum {
    GOALS = 24,
    MOST_DEPTH = 6,
    MOST_TRIED = 2, /* symbols of one goal */
    MOST_FACTS = 4  /* of one symbol */
};

typedef struct goal {
    vyre_affine form;
    uint32_t depth;
} goal;

typedef struct proof {
    range_state *s;
    goal goals[GOALS];
    uint32_t count;
    bool done;
} proof;

static void add(proof *p, vyre_affine form, uint32_t depth) {
    vyre_affine_tighten(&form);
    if (range_bounds(p->s, &form).hi <= 0) {
        p->done = true;
    } else if (p->count < GOALS && depth <= MOST_DEPTH && form.count > 0) {
        p->goals[p->count++] = (goal){form, depth};
    }
}

static int64_t magnitude(int64_t x) {
    return x < 0 ? -x : x;
}

/* The goal without the term, by fact <= 0, where the fact has the factor `by` of it. */
static void eliminate(proof *p, const goal *g, uint32_t term, const vyre_affine *fact, int64_t by) {
    const int64_t factor = g->form.factors[term];
    const bool same_sign = (by > 0) == (factor > 0);
    vyre_affine next;
    if (by != 0 && same_sign &&
        vyre_affine_combine(&g->form, magnitude(by), fact, -magnitude(factor), &next) &&
        vyre_affine_shift(&next, 1 - magnitude(by), &next)) {
        add(p, next, g->depth + 1);
    }
}

static void by_facts(proof *p, const goal *g, uint32_t term) {
    const range_state *s = p->s;
    const uint32_t symbol = g->form.symbols[term];
    uint32_t tried = 0;
    for (uint32_t i = s->now.data[symbol].fact; i != VYRE_NONE && tried < MOST_FACTS && !p->done;) {
        const range_fact *fact = &s->facts.data[i];
        uint32_t next = VYRE_NONE;
        for (uint32_t k = 0; k < fact->form.count; k++) {
            if (fact->form.symbols[k] == symbol) {
                next = fact->older[k];
                tried += (fact->form.factors[k] > 0) == (g->form.factors[term] > 0);
                eliminate(p, g, term, &fact->form, fact->form.factors[k]);
            }
        }
        i = next;
    }
}

/* The fact times a symbol that is not negative, as a fact of the product. */
static void by_product_fact(proof *p, const goal *g, uint32_t term, const vyre_affine *fact,
                            uint32_t factor_symbol, uint32_t other) {
    const vyre_affine times = vyre_affine_symbol(other);
    vyre_affine product;
    if (range_multiply(p->s, fact, &times, &product)) {
        eliminate(p, g, term, &product, vyre_affine_factor(fact, factor_symbol));
    }
}

static void by_factor(proof *p, const goal *g, uint32_t term, uint32_t symbol, uint32_t other) {
    range_state *s = p->s;
    if (s->now.data[other].bounds.lo < 0) {
        return;
    }
    const bool upper = g->form.factors[term] > 0;
    const range_interval bounds = s->now.data[symbol].bounds;
    const int64_t end = upper ? bounds.hi : bounds.lo;
    const vyre_affine one = vyre_affine_symbol(symbol), constant = vyre_affine_constant(end);
    vyre_affine fact;
    if (end != INT64_MIN && end != INT64_MAX &&
        vyre_affine_combine(&one, upper ? 1 : -1, &constant, upper ? -1 : 1, &fact)) {
        by_product_fact(p, g, term, &fact, symbol, other);
    }
    uint32_t tried = 0;
    for (uint32_t i = s->now.data[symbol].fact; i != VYRE_NONE && tried < MOST_FACTS && !p->done;) {
        fact = s->facts.data[i].form;
        uint32_t next = VYRE_NONE;
        for (uint32_t k = 0; k < fact.count; k++) {
            if (fact.symbols[k] == symbol) {
                next = s->facts.data[i].older[k];
                tried++;
            }
        }
        by_product_fact(p, g, term, &fact, symbol, other);
        i = next;
    }
}

static void by_bound(proof *p, const goal *g, uint32_t term) {
    const range_interval bounds = range_symbol_bounds(p->s, g->form.symbols[term]);
    const int64_t end = g->form.factors[term] > 0 ? bounds.hi : bounds.lo;
    const vyre_affine rest = vyre_affine_without(&g->form, term);
    const vyre_affine constant = vyre_affine_constant(end);
    vyre_affine next;
    if (end != INT64_MIN && end != INT64_MAX &&
        vyre_affine_combine(&rest, 1, &constant, g->form.factors[term], &next)) {
        add(p, next, g->depth + 1);
    }
}

static void try_term(proof *p, const goal *g, uint32_t term) {
    const vyre_symbol symbol = p->s->r->symbols.data[g->form.symbols[term]];
    by_facts(p, g, term);
    if (symbol.kind == VYRE_SYMBOL_PRODUCT && !p->done) {
        by_factor(p, g, term, symbol.operand[0], symbol.operand[1]);
        if (!p->done) {
            by_factor(p, g, term, symbol.operand[1], symbol.operand[0]);
        }
    }
    if (!p->done) {
        by_bound(p, g, term);
    }
}

bool range_prove(range_state *s, const vyre_affine *form) {
    proof p = {.s = s};
    add(&p, *form, 0);
    for (uint32_t i = 0; i < p.count && !p.done && s->work > 0; i++) {
        const goal g = p.goals[i];
        s->work--;
        for (uint32_t k = g.form.count, tried = 0; k-- > 0 && tried < MOST_TRIED && !p.done;
             tried++) {
            try_term(&p, &g, k);
        }
    }
    return p.done;
}

bool range_prove_order(range_state *s, const vyre_affine *x, const vyre_affine *y, int64_t more) {
    vyre_affine form;
    return vyre_affine_combine(x, 1, y, -1, &form) && vyre_affine_shift(&form, -more, &form) &&
           range_prove(s, &form);
}

bool range_prove_within(range_state *s, const vyre_affine *form, range_interval interval) {
    const vyre_affine lo = vyre_affine_constant(interval.lo);
    const vyre_affine hi = vyre_affine_constant(interval.hi);
    return range_prove_order(s, form, &hi, 0) && range_prove_order(s, &lo, form, 0);
}

/* Ends */

static bool is_named(const vyre_ranges *r, uint32_t symbol) {
    const vyre_symbol *node = &r->symbols.data[symbol];
    return node->kind <= VYRE_SYMBOL_LOOP ||
           (node->kind == VYRE_SYMBOL_PRODUCT &&
            r->symbols.data[node->operand[0]].kind <= VYRE_SYMBOL_LOOP &&
            r->symbols.data[node->operand[1]].kind <= VYRE_SYMBOL_LOOP);
}

/* Replaces the term by a fact that has it with a factor of 1 or -1, or by its bound. */
static bool replace(const range_state *s, vyre_affine *form, uint32_t term, bool upper) {
    const uint32_t symbol = form->symbols[term];
    const int64_t factor = form->factors[term];
    const bool needs_greatest = (factor > 0) == upper;
    for (uint32_t i = s->now.data[symbol].fact, tried = 0; i != VYRE_NONE && tried < MOST_FACTS;
         tried++) {
        const range_fact *fact = &s->facts.data[i];
        uint32_t next = VYRE_NONE;
        for (uint32_t k = 0; k < fact->form.count; k++) {
            if (fact->form.symbols[k] == symbol) {
                next = fact->older[k];
            }
        }
        /* symbol <= -rest, or -symbol <= -rest */
        if (vyre_affine_factor(&fact->form, symbol) == (needs_greatest ? 1 : -1) &&
            vyre_affine_combine(form, 1, &fact->form, needs_greatest ? -factor : factor, form)) {
            return true;
        }
        i = next;
    }
    const range_interval bounds = range_symbol_bounds(s, symbol);
    const int64_t end = needs_greatest ? bounds.hi : bounds.lo;
    const vyre_affine rest = vyre_affine_without(form, term);
    const vyre_affine constant = vyre_affine_constant(end);
    return end != INT64_MIN && end != INT64_MAX &&
           vyre_affine_combine(&rest, 1, &constant, factor, form);
}

uint32_t range_end(range_state *s, uint32_t form, bool upper) {
    vyre_affine end = *range_at(s, form);
    for (uint32_t steps = 0; steps < MOST_DEPTH; steps++) {
        uint32_t term = end.count;
        while (term > 0 && is_named(s->r, end.symbols[term - 1])) {
            term--;
        }
        if (term == 0) {
            return range_form(s, &end);
        }
        if (!replace(s, &end, term - 1, upper)) {
            break;
        }
    }
    return VYRE_NONE;
}
