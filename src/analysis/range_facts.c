/* The stack of facts. A fact with one symbol narrows its bounds; one with more is kept in a list
 * for each of them, newest first, and narrows each by the bounds of the others. What goes is undone
 * in the reverse order, so lists and bounds are what they were. */
#include "analysis/range_state.h"

/* Facts alive at once; later ones are not kept. */
enum { MOST_FACTS = 1 << 18 };

range_mark range_mark_now(const range_state *s) {
    return (range_mark){s->facts.count, s->narrowings.count};
}

void range_forget(range_state *s, range_mark mark) {
    while (s->facts.count > mark.facts) {
        const range_fact *fact = &s->facts.data[--s->facts.count];
        for (uint32_t i = fact->form.count; i-- > 0;) {
            s->now.data[fact->form.symbols[i]].fact = fact->older[i];
        }
        if (fact->owner != VYRE_NONE) {
            s->now.data[fact->owner].noted &= (uint8_t)~fact->noted;
        }
    }
    while (s->narrowings.count > mark.narrowings) {
        const range_narrowing *narrowing = &s->narrowings.data[--s->narrowings.count];
        s->now.data[narrowing->symbol].bounds = narrowing->before;
    }
}

/* Where facts contradict each other nothing is run; bounds are kept in order. */
void range_narrow(range_state *s, uint32_t symbol, range_interval to) {
    const range_interval before = s->now.data[symbol].bounds;
    const range_interval after = {to.lo > before.lo ? to.lo : before.lo,
                                  to.hi < before.hi ? to.hi : before.hi};
    if ((after.lo == before.lo && after.hi == before.hi) || after.lo > after.hi) {
        return;
    }
    if (s->narrowings.count >= 4 * MOST_FACTS) {
        return;
    }
    if (!vyre_vec_push(s->a, &s->narrowings, (range_narrowing){symbol, before})) {
        s->failed = true;
        return;
    }
    s->now.data[symbol].bounds = after;
}

static int64_t floor_of(vyre_wide x, int64_t y) {
    const vyre_wide quotient = x / y - (x % y != 0 && (x < 0) != (y < 0));
    return quotient <= INT64_MIN   ? INT64_MIN
           : quotient >= INT64_MAX ? INT64_MAX
                                   : (int64_t)quotient;
}

/* factor * symbol + rest <= 0, with the least value of the rest. */
static void narrow_by(range_state *s, const vyre_affine *form, uint32_t term) {
    const vyre_affine rest = vyre_affine_without(form, term);
    const int64_t least = range_bounds(s, &rest).lo, factor = form->factors[term];
    if (least == INT64_MIN || least == INT64_MAX) {
        return;
    }
    range_interval to = range_everything;
    if (factor > 0) {
        to.hi = floor_of(-(vyre_wide)least, factor);
    } else {
        const int64_t up = floor_of(-(vyre_wide)least, -factor); /* -symbol <= up */
        to.lo = up == INT64_MAX ? INT64_MIN : up == INT64_MIN ? INT64_MAX : -up;
    }
    range_narrow(s, form->symbols[term], to);
}

static void note(range_state *s, vyre_affine form, uint32_t owner, uint8_t noted) {
    vyre_affine_tighten(&form);
    for (uint32_t i = 0; i < form.count; i++) {
        narrow_by(s, &form, i);
    }
    if ((form.count < 2 && owner == VYRE_NONE) || s->facts.count >= MOST_FACTS) {
        return;
    }
    range_fact fact = {.form = form, .owner = owner, .noted = noted};
    for (uint32_t i = 0; i < form.count; i++) {
        fact.older[i] = s->now.data[form.symbols[i]].fact;
    }
    if (!vyre_vec_push(s->a, &s->facts, fact)) {
        s->failed = true;
        return;
    }
    for (uint32_t i = 0; i < form.count; i++) {
        s->now.data[form.symbols[i]].fact = s->facts.count - 1;
    }
    if (owner != VYRE_NONE) {
        s->now.data[owner].noted |= noted;
    }
}

void range_note(range_state *s, const vyre_affine *form) {
    note(s, *form, VYRE_NONE, 0);
}

void range_note_order(range_state *s, const vyre_affine *x, const vyre_affine *y, int64_t more,
                      uint32_t owner, uint8_t noted) {
    vyre_affine form;
    if (vyre_affine_combine(x, 1, y, -1, &form) && vyre_affine_shift(&form, -more, &form)) {
        note(s, form, owner, noted);
    }
}
