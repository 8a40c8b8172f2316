/* Conditions: see conditions.h. The shapes are made without them first, so that a program that can
 * do without has none. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "analysis/conditions.h"
#include "analysis/shape_graph.h"

static bool needs_conditions(const vyre_shapes *s) {
    bool possible = false, together = true;
    for (uint32_t visit = 0; visit < s->visits.count; visit++) {
        possible |= s->visits.data[visit].trips == SHAPE_TRIPS_IF;
    }
    for (uint32_t visit = 0; visit < s->visits.count && possible && together; visit++) {
        together = vyre_shapes_together(s, visit);
    }
    return possible && !together;
}

vyre_status vyre_shapes_create_given(const vyre_program *program, const vyre_effect_map *effects,
                                     const vyre_allocator *allocator, vyre_shapes **out_shapes) {
    vyre_status status = vyre_shapes_create(program, effects, allocator, out_shapes);
    if (status != VYRE_OK || !needs_conditions(*out_shapes)) {
        return status;
    }
    vyre_shapes_destroy(*out_shapes);
    return vyre_shapes_create_assuming(program, effects, allocator, out_shapes);
}

/* Text, as a program says it; cut where it is too long. */

typedef struct writer {
    char *text;
    size_t used;
} writer;

VYRE_PRINTF(2, 3)
static void put(writer *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(w->text + w->used, VYRE_CONDITION_TEXT - w->used, format, args);
    va_end(args);
    const size_t end = w->used + (length > 0 ? (size_t)length : 0);
    w->used = end < VYRE_CONDITION_TEXT ? end : VYRE_CONDITION_TEXT - 1;
}

/* A factor or constant between -2^31 and 2^31: `n - 1`, not `n + 4294967295`. */
static void put_sign(writer *w, uint32_t number, bool first) {
    const bool negative = number >> 31 != 0;
    put(w, "%s", first ? negative ? "-" : "" : negative ? " - " : " + ");
}

static uint32_t magnitude(uint32_t number) {
    return number >> 31 ? 0u - number : number;
}

static void put_number(writer *w, const vyre_program_view *p, const vyre_number *n) {
    const bool alone = n->count == 0 || (n->count == 1 && n->constant == 0);
    put(w, "%s", alone ? "" : "(");
    for (uint32_t i = 0; i < n->count; i++) {
        const vyre_number_part *part = &n->parts[i];
        put_sign(w, part->factor, i == 0);
        if (magnitude(part->factor) != 1) {
            put(w, "%u * ", magnitude(part->factor));
        }
        if (part->op == VYRE_EXPR_BUILTIN) {
            put(w, "%s.%c", vyre_builtin_name((vyre_builtin)part->ref), "xyz"[part->axis]);
        } else {
            put(w, part->op == VYRE_EXPR_LEN ? "len(%s)" : "%s", p->decls[part->ref].name);
        }
    }
    if (n->count == 0) {
        put(w, "%u", n->constant);
    } else if (n->constant != 0) {
        put_sign(w, n->constant, false);
        put(w, "%u", magnitude(n->constant));
    }
    put(w, "%s", alone ? "" : ")");
}

/* The list */

static vyre_number number_of(const vyre_shapes *s, const shape_form *f) {
    vyre_number n = {.constant = f->constant, .count = f->count};
    for (uint32_t i = 0; i < f->count; i++) {
        const shape_term *t = &s->terms.data[f->terms[i]];
        n.parts[i] = (vyre_number_part){.factor = f->factors[i],
                                        .op = t->kind == SHAPE_TERM_PARAM ? VYRE_EXPR_REF
                                              : t->kind == SHAPE_TERM_LEN ? VYRE_EXPR_LEN
                                                                          : VYRE_EXPR_BUILTIN,
                                        .ref = t->ref,
                                        .axis = t->number};
    }
    return n;
}

static_assert((int)VYRE_NUMBER_PARTS == (int)SHAPE_FORM_TERMS, "a number is a form");

vyre_status vyre_shapes_conditions(vyre_shapes *s, const vyre_allocator *a,
                                   vyre_condition_list *out) {
    for (uint32_t visit = 0; visit < s->visits.count && s->assumes; visit++) {
        shape_form x, y;
        if (s->visits.data[visit].trips != SHAPE_TRIPS_IF ||
            !vyre_shapes_product(s, visit, &x, &y)) {
            continue;
        }
        vyre_condition c = {
            .loop = s->visits.data[visit].stmt, .x = number_of(s, &x), .y = number_of(s, &y)};
        writer w = {.text = c.text};
        put_number(&w, s->program, &c.x);
        put(&w, " * ");
        put_number(&w, s->program, &c.y);
        if (!vyre_vec_push(a, out, c)) {
            return VYRE_OUT_OF_MEMORY;
        }
    }
    return s->out_of_memory ? VYRE_OUT_OF_MEMORY : VYRE_OK;
}

vyre_status vyre_conditions_find(const vyre_program *program, const vyre_allocator *a,
                                 vyre_condition_list *out) {
    vyre_shaped shaped;
    vyre_status status = vyre_shaped_init_given(&shaped, program, a);
    if (status == VYRE_OK) {
        status = vyre_shapes_conditions(shaped.shapes, a, out);
        vyre_shaped_finish(&shaped);
    }
    return status;
}

/* Values */

static uint32_t value_of(const vyre_number *n, const vyre_condition_numbers *at) {
    uint32_t sum = n->constant;
    for (uint32_t i = 0; i < n->count; i++) {
        const vyre_number_part *part = &n->parts[i];
        const uint32_t value = part->op == VYRE_EXPR_REF   ? (uint32_t)at->values[part->ref]
                               : part->op == VYRE_EXPR_LEN ? at->counts[part->ref]
                               : part->ref == VYRE_BUILTIN_NUM_GROUPS
                                   ? at->grid[part->axis]
                                   : at->grid[part->axis] * at->workgroup[part->axis];
        sum += part->factor * value;
    }
    return sum;
}

uint64_t vyre_condition_product(const vyre_condition *c, const vyre_condition_numbers *numbers) {
    return (uint64_t)value_of(&c->x, numbers) * value_of(&c->y, numbers);
}
