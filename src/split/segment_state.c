/* State of a segment: where values and arrays are kept between launches, and the code that loads
 * and stores them. */
#include "split/segment_state.h"

#include <stdio.h>

#include "base/checked.h"
#include "ir/builder.h"
#include "split/chunks.h"
#include "split/words.h"
#include "vyre/limits.h"

void vyre_segment_note_decl(maker *m, vyre_decl decl, vyre_decl_kind kind, uint32_t ref) {
    if (decl != VYRE_NONE &&
        (decl != m->kinds.count ||
         !vyre_vec_push(&m->rw.allocator, &m->kinds, ((vyre_segment_decl){(uint8_t)kind, ref})))) {
        vyre_builder_fail_memory(m->b);
    }
}

static vyre_decl declare(maker *m, vyre_decl *slot, vyre_role role, const char *name,
                         vyre_type type, vyre_segment_decl what) {
    if (*slot == VYRE_NONE) {
        bool own = role == VYRE_WORKGROUP || role == VYRE_PRIVATE;
        *slot = role == VYRE_PARAM
                    ? vyre_build_param(m->b, name, type, VYRE_NONE)
                    : vyre_build_memory(m->b, role, name, type,
                                        own ? vyre_build_size(m->b, role == VYRE_WORKGROUP ? 2 : 1)
                                            : VYRE_NONE);
        vyre_segment_note_decl(m, *slot, (vyre_decl_kind)what.kind, what.ref);
    }
    return *slot;
}

vyre_decl vyre_segment_carrier(maker *m, vyre_decl *slot, vyre_role role, const char *name,
                               vyre_decl_kind kind, uint32_t ref) {
    return declare(m, slot, role, name, VYRE_U32, (vyre_segment_decl){(uint8_t)kind, ref});
}

/* A view of a memory has the memory's name and its own type's. */
static vyre_decl declare_view(maker *m, vyre_decl *slots, vyre_view view, vyre_role role,
                              const char *name, vyre_segment_decl what) {
    char own[VYRE_MODULE_NAME + 8];
    vyre_type type = vyre_view_type(view);
    (void)snprintf(own, sizeof own, "%s_%s", name, vyre_type_name(type));
    return declare(m, &slots[view], role, view == VYRE_VIEW_WORDS ? name : own, type, what);
}

vyre_decl vyre_segment_place(maker *m, uint32_t place, vyre_view view, vyre_role role,
                             const char *name) {
    return declare_view(m, m->places[place], view, role, name,
                        (vyre_segment_decl){VYRE_DECL_PLACE, place});
}

static vyre_expr id(maker *m, vyre_builtin which, uint32_t axis) {
    return vyre_build_id(m->b, which, axis);
}

/* Row-major number of a point in a box of three axes. */
static vyre_expr linear(maker *m, vyre_builtin point, vyre_builtin extent) {
    vyre_expr high = op2(m, VYRE_EXPR_ADD, op2(m, VYRE_EXPR_MUL, id(m, point, 2), id(m, extent, 1)),
                         id(m, point, 1));
    return op2(m, VYRE_EXPR_ADD, op2(m, VYRE_EXPR_MUL, high, id(m, extent, 0)), id(m, point, 0));
}

vyre_expr vyre_segment_here(maker *m) {
    if (m->at == VYRE_NONE) {
        vyre_expr number = is_of_group(m)
                               ? linear(m, VYRE_BUILTIN_LOCAL_ID, VYRE_BUILTIN_GROUP_SIZE)
                               : linear(m, VYRE_BUILTIN_GLOBAL_ID, VYRE_BUILTIN_GLOBAL_SIZE);
        m->at = vyre_build_let(m->b, m->names->at, number);
    }
    return vyre_build_var(m->b, m->at);
}

vyre_expr vyre_segment_group_id(maker *m, vyre_builtin which, uint32_t axis) {
    bool one = which == VYRE_BUILTIN_GROUP_ID || which == VYRE_BUILTIN_GLOBAL_ID;
    if (!one && which != VYRE_BUILTIN_NUM_GROUPS && which != VYRE_BUILTIN_GLOBAL_SIZE) {
        return VYRE_NONE;
    }
    vyre_expr groups = vyre_build_ref(
        m->b, one ? vyre_segment_carrier(m, &m->group[axis], VYRE_PARAM, m->names->group[axis],
                                         VYRE_DECL_GROUP_ID, axis)
                  : vyre_segment_carrier(m, &m->groups[axis], VYRE_PARAM, m->names->groups[axis],
                                         VYRE_DECL_GROUP_COUNT, axis));
    if (which == VYRE_BUILTIN_GROUP_ID || which == VYRE_BUILTIN_NUM_GROUPS) {
        return groups;
    }
    vyre_expr lanes = op2(m, VYRE_EXPR_MUL, groups, u32(m, m->p->workgroup[axis]));
    return one ? op2(m, VYRE_EXPR_ADD, lanes, id(m, VYRE_BUILTIN_LOCAL_ID, axis)) : lanes;
}

vyre_expr vyre_segment_lane_count(maker *m) {
    return vyre_build_ref(
        m->b, vyre_segment_carrier(m, &m->lanes, VYRE_PARAM, m->names->lanes, VYRE_DECL_LANES, 0));
}

/* Index of a lane's own word in a buffer, whose slots it counts from 0. */
static vyre_expr lane_index(maker *m, vyre_expr slot) {
    return op2(m, VYRE_EXPR_ADD, op2(m, VYRE_EXPR_MUL, slot, vyre_segment_lane_count(m)),
               vyre_segment_here(m));
}

static vyre_decl owned(maker *m, uint32_t buffer, vyre_view view) {
    return declare_view(m, m->owned + (size_t)buffer * VYRE_VIEWS, view, VYRE_INOUT,
                        m->module->buffers[buffer].name,
                        (vyre_segment_decl){VYRE_DECL_OWN, buffer});
}

vyre_expr vyre_segment_group_number(maker *m) {
    return linear(m, VYRE_BUILTIN_GROUP_ID, VYRE_BUILTIN_NUM_GROUPS);
}

/* Words of an element. */
static uint32_t unit_of(vyre_view view) {
    return vyre_type_size(vyre_view_type(view)) / 4;
}

/* Index in a buffer of an element of the group's workgroup memory. */
static vyre_expr group_index(maker *m, const vyre_carry_buffer *in, vyre_view view,
                             vyre_expr element) {
    uint32_t unit = unit_of(view);
    vyre_expr block =
        op2(m, VYRE_EXPR_MUL, vyre_segment_group_number(m), u32(m, in->group_words / unit));
    if (in->lane_words > 0) {
        vyre_expr slots =
            op2(m, VYRE_EXPR_MUL, vyre_segment_lane_count(m), u32(m, in->lane_words / unit));
        block = op2(m, VYRE_EXPR_ADD, slots, block);
    }
    return op2(m, VYRE_EXPR_ADD, block, element);
}

/* Where a value is. */

enum { OWN = VYRE_PLACES }; /* what lanes own; else a place */

typedef struct spot {
    vyre_decl memory;
    vyre_expr index;
} spot;

/* The element that begins at `word` of the lane, of its group, or of all. */
static spot spot_of(maker *m, uint32_t where, uint32_t word, vyre_view view) {
    uint32_t unit = unit_of(view);
    if (where == OWN) {
        uint32_t buffer = vyre_chunk_of(m->module, false, word);
        uint32_t slot = word - m->module->buffers[buffer].lane_first;
        vyre_expr index = lane_index(m, u32(m, slot / unit));
        return (spot){owned(m, buffer, view), index};
    }
    bool reads = where == VYRE_PLACE_VALUES || where == VYRE_PLACE_SCALARS;
    const char *name = where == VYRE_PLACE_VALUES    ? m->names->values
                       : where == VYRE_PLACE_NEXT    ? m->names->next
                       : where == VYRE_PLACE_SCALARS ? m->names->scalars
                                                     : m->names->made;
    vyre_expr index = u32(m, word / unit);
    if (where == VYRE_PLACE_VALUES || where == VYRE_PLACE_NEXT) {
        uint32_t block = m->plan->group_value_words / unit;
        index = op2(m, VYRE_EXPR_ADD,
                    op2(m, VYRE_EXPR_MUL, vyre_segment_group_number(m), u32(m, block)), index);
    }
    return (spot){vyre_segment_place(m, where, view, reads ? VYRE_IN : VYRE_INOUT, name), index};
}

static vyre_view view_in(const maker *m, uint32_t where, vyre_type type) {
    return where == OWN && m->narrow_lanes ? VYRE_VIEW_WORDS : vyre_view_of(type);
}

static vyre_expr load_piece(maker *m, uint32_t where, uint32_t word, vyre_view view) {
    spot at = spot_of(m, where, word, view);
    return vyre_build_load(m->b, at.memory, at.index);
}

static void store_piece(maker *m, uint32_t where, uint32_t word, vyre_view view, vyre_expr value) {
    spot at = spot_of(m, where, word, view);
    vyre_build_store(m->b, at.memory, at.index, value);
    m->has_effect = true;
}

static vyre_expr load_value(maker *m, uint32_t where, uint32_t word, vyre_type type) {
    vyre_view view = view_in(m, where, type);
    vyre_expr low = load_piece(m, where, word, view);
    if (view != VYRE_VIEW_WORDS) {
        return low;
    }
    vyre_expr high =
        vyre_type_size(type) == 8 ? load_piece(m, where, word + 1, VYRE_VIEW_WORDS) : VYRE_NONE;
    return vyre_words_decode(m->b, type, low, high);
}

static void store_value(maker *m, uint32_t where, uint32_t word, vyre_type type, uint32_t entity) {
    vyre_view view = view_in(m, where, type);
    if (view != VYRE_VIEW_WORDS) {
        store_piece(m, where, word, view, value_of(m, entity));
        return;
    }
    for (uint32_t w = 0; w < vyre_type_size(type) / 4; w++) {
        store_piece(m, where, word + w, view,
                    vyre_words_encode(m->b, type, value_of(m, entity), w));
    }
}

vyre_expr vyre_segment_load_ended(maker *m) {
    return load_piece(m, OWN, m->plan->ended_slot, VYRE_VIEW_WORDS);
}

void vyre_segment_store_ended(maker *m, vyre_expr value) {
    spot at = spot_of(m, OWN, m->plan->ended_slot, VYRE_VIEW_WORDS);
    vyre_build_store(m->b, at.memory, at.index, value);
}

static const char *entity_name(const maker *m, uint32_t e, char *buffer, size_t size) {
    static const char *const suffix[] = {"to", "step", "more"};
    if (e < m->p->var_count) {
        return m->p->vars[e].name;
    }
    uint32_t hidden = e - m->p->var_count;
    (void)snprintf(buffer, size, "%sloop%lu_%s", m->names->prefix,
                   (unsigned long)(hidden / VYRE_LOOP_VALUES), suffix[hidden % VYRE_LOOP_VALUES]);
    return buffer;
}

void vyre_segment_give(maker *m, uint32_t e, vyre_expr value) {
    char buffer[64];
    vyre_var *var = var_slot(m, e);
    if (*var == VYRE_NONE) {
        *var = vyre_build_let(m->b, entity_name(m, e, buffer, sizeof buffer), value);
    } else {
        vyre_build_assign(m->b, *var, value);
    }
}

/* The param of a scalar, or the word in memory of one that the host does not know. Where lanes
 * change the value, they have a variable of its name. */
static void restore_scalar(maker *m, uint32_t e, bool changes) {
    char buffer[64], name[VYRE_LIMIT_NAME + 1];
    const vyre_entity *entity = &m->plan->entities[e];
    const char *own = entity_name(m, e, buffer, sizeof buffer);
    const uint32_t word = m->scalars_of[entity->scalar].word;
    if (word != VYRE_NONE) {
        vyre_segment_give(m, e, load_value(m, VYRE_PLACE_SCALARS, word, (vyre_type)entity->type));
        return;
    }
    (void)snprintf(name, sizeof name, "%sold_%.200s", m->names->prefix, own);
    vyre_decl param =
        vyre_build_param(m->b, changes ? name : own, (vyre_type)entity->type, VYRE_NONE);
    vyre_segment_note_decl(m, param, VYRE_DECL_SCALAR, entity->scalar);
    if (changes) {
        vyre_segment_give(m, e, vyre_build_ref(m->b, param));
    } else {
        m->param[e] = param;
    }
}

/* Adds the lane's place, so many times. */
static vyre_expr add_place(maker *m, vyre_type type, vyre_expr sum, vyre_builtin which,
                           uint32_t times) {
    if (times == 0) {
        return sum;
    }
    vyre_expr place = is_of_group(m) ? vyre_segment_group_id(m, which, 0) : VYRE_NONE;
    place = place == VYRE_NONE ? id(m, which, 0) : place;
    place = type == VYRE_U32 ? place : vyre_build_bitcast(m->b, type, place);
    const bool minus = times == UINT32_MAX;
    if (times != 1 && !minus) {
        place = op2(m, VYRE_EXPR_MUL, place, vyre_build_literal(m->b, type, times));
    }
    return op2(m, minus ? VYRE_EXPR_SUB : VYRE_EXPR_ADD, sum, place);
}

static vyre_expr from_base(maker *m, const vyre_entity *entity) {
    const vyre_base *from = &entity->from;
    const vyre_type type = (vyre_type)entity->type;
    vyre_expr sum =
        add_place(m, type, value_of(m, from->base), VYRE_BUILTIN_GLOBAL_ID, from->by_global);
    return add_place(m, type, sum, VYRE_BUILTIN_LOCAL_ID, from->by_local);
}

/* What the lanes of a subgroup have in common, each has stored. In a segment whose operations of
 * subgroups may stand under it, it is said to be the same again: those that are there agree on it.
 */
static vyre_expr agreed(maker *m, uint32_t e, vyre_expr value) {
    char buffer[64], name[VYRE_LIMIT_NAME + 1];
    const vyre_type type = (vyre_type)m->plan->entities[e].type;
    const bool is_float = vyre_type_is_float(type);
    const vyre_type bits = vyre_type_size(type) == 8 ? VYRE_U64 : VYRE_U32;
    (void)snprintf(name, sizeof name, "%ssame_%.200s", m->names->prefix,
                   entity_name(m, e, buffer, sizeof buffer));
    const vyre_var same =
        vyre_build_subgroup(m->b, name, type == VYRE_BOOL ? VYRE_SUBGROUP_ANY : VYRE_SUBGROUP_OR,
                            is_float ? vyre_build_bitcast(m->b, bits, value) : value, VYRE_NONE);
    const vyre_expr all = vyre_build_var(m->b, same);
    return is_float ? vyre_build_bitcast(m->b, type, all) : all;
}

void vyre_segment_restore_value(maker *m, uint32_t e, bool changes) {
    const vyre_entity *entity = &m->plan->entities[e];
    if (entity->kind == VYRE_CARRY_RECOMPUTED) {
        vyre_expr value = entity->from.base != VYRE_NONE ? from_base(m, entity)
                          : entity->recipe == VYRE_NONE  ? u32(m, 1)
                                                        : vyre_rewrite_expr(&m->rw, entity->recipe);
        vyre_builder_at(m->b, vyre_program_place(m->rw.source));
        vyre_segment_give(m, e, value);
        return;
    }
    if (entity->uniform) {
        restore_scalar(m, e, changes);
        return;
    }
    uint32_t where = vyre_entity_is_shared(entity) ? VYRE_PLACE_VALUES : OWN;
    const vyre_expr kept = load_value(m, where, entity->slot, (vyre_type)entity->type);
    const bool one = m->asks_subgroups && m->plan->scalars.shape[e] == VYRE_SHAPE_SUBGROUP;
    vyre_segment_give(m, e, one ? agreed(m, e, kept) : kept);
}

void vyre_segment_store_value(maker *m, uint32_t e) {
    const vyre_entity *entity = &m->plan->entities[e];
    if (entity->words > 0) {
        uint32_t where = vyre_entity_is_shared(entity) ? VYRE_PLACE_NEXT : OWN;
        store_value(m, where, entity->slot, (vyre_type)entity->type, e);
    }
}

static vyre_expr condition_of(maker *m) {
    const vyre_stmt s = m->block->condition;
    vyre_expr condition = vyre_rewrite_expr(&m->rw, m->p->stmts[s].arg[0]);
    vyre_builder_at(m->b, vyre_program_stmt_place(m->rw.source, s));
    return vyre_builder_expr_type(m->b, condition) == VYRE_BOOL
               ? condition
               : op2(m, VYRE_EXPR_NE, condition, u32(m, 0));
}

void vyre_segment_store_made(maker *m) {
    vyre_made made = vyre_carry_begin_made(m->plan, m->number);
    while (vyre_carry_next_made(m->plan, m->number, &made)) {
        if (made.entity == VYRE_NONE) {
            store_piece(m, VYRE_PLACE_MADE, made.word, VYRE_VIEW_WORDS,
                        vyre_words_encode(m->b, VYRE_BOOL, condition_of(m), 0));
        } else {
            store_value(m, VYRE_PLACE_MADE, made.word, (vyre_type)made.type, made.entity);
        }
    }
    vyre_builder_at(m->b, vyre_program_place(m->rw.source));
    if (m->plan->ends[m->number] & VYRE_ASKS_FOR_LIFE) {
        vyre_decl tick =
            vyre_segment_carrier(m, &m->tick, VYRE_PARAM, m->names->tick, VYRE_DECL_TICK, 0);
        store_piece(m, VYRE_PLACE_MADE, 0, VYRE_VIEW_WORDS, vyre_build_ref(m->b, tick));
    }
}

/* An element whose bits a load or a store would not keep (a true that is not 1, the payload of a
 * NaN) goes through a private word, by copies; `tag` is the next one's. The source has copies, too:
 * they brought such bits. */

static vyre_expr load_raw(maker *m, vyre_decl d, vyre_expr at, const char *tag) {
    vyre_decl raw =
        vyre_segment_carrier(m, &m->raw, VYRE_PRIVATE, m->names->raw, VYRE_DECL_LOCAL, 0);
    vyre_expr size = u32(m, vyre_type_size((vyre_type)m->p->decls[d].type));
    vyre_build_async_load(m->b, m->rw.decls[d], raw, op2(m, VYRE_EXPR_MUL, at, size), size, tag);
    vyre_build_async_wait(m->b, tag);
    return vyre_build_load(m->b, raw, u32(m, 0));
}

static void store_raw(maker *m, vyre_decl d, vyre_expr at, vyre_expr word, const char *tag) {
    vyre_decl raw =
        vyre_segment_carrier(m, &m->raw, VYRE_PRIVATE, m->names->raw, VYRE_DECL_LOCAL, 0);
    vyre_expr size = u32(m, vyre_type_size((vyre_type)m->p->decls[d].type));
    vyre_build_store(m->b, raw, u32(m, 0), word);
    vyre_build_async_store(m->b, raw, m->rw.decls[d], op2(m, VYRE_EXPR_MUL, at, size), size, tag);
    vyre_build_async_wait(m->b, tag);
}

/* Arrays: a loop over elements. Private ones by each lane; workgroup memory by the living lanes of
 * the group together. Where an array lies in several buffers, there is a loop for each run of
 * elements whose words do not change the buffer. */

typedef struct array {
    vyre_decl decl;
    const vyre_entity *entity;
    uint32_t per;    /* words of an element */
    vyre_view view;  /* of the memory that has it */
    uint32_t pieces; /* that an element is there */
    bool by_group, restore;
    vyre_expr from, step; /* the lane's share */
} array;

/* How many elements from `first` on have, each word for itself, one buffer. */
static uint32_t run_length(const maker *m, const array *x, uint32_t first, uint32_t buffers[2]) {
    uint32_t length = x->entity->count - first;
    for (uint32_t w = 0; w < x->pieces; w++) {
        uint32_t word = x->entity->slot + first * x->per + w;
        buffers[w] = vyre_chunk_of(m->module, x->by_group, word);
        uint32_t left = vyre_chunk_end(m->module, x->by_group, buffers[w]) - word;
        uint32_t whole = (uint32_t)vyre_ceil_div(left, x->per);
        length = whole < length ? whole : length;
    }
    return length;
}

static void copy_element(maker *m, const array *x, vyre_expr at, const vyre_decl carriers[2],
                         const vyre_expr words[2], const char *tag) {
    vyre_type type = (vyre_type)x->entity->type;
    bool raw = x->entity->raw;
    if (raw && x->restore) {
        store_raw(m, x->decl, at, vyre_build_load(m->b, carriers[0], words[0]), tag);
        return;
    }
    if (raw) {
        vyre_build_store(m->b, carriers[0], words[0], load_raw(m, x->decl, at, tag));
        m->has_effect = true;
        return;
    }
    bool as_words = x->view == VYRE_VIEW_WORDS;
    if (x->restore) {
        vyre_expr low = vyre_build_load(m->b, carriers[0], words[0]);
        vyre_expr high = x->pieces == 2 ? vyre_build_load(m->b, carriers[1], words[1]) : VYRE_NONE;
        vyre_build_store(m->b, m->rw.decls[x->decl], at,
                         as_words ? vyre_words_decode(m->b, type, low, high) : low);
        return;
    }
    vyre_expr value = vyre_build_load(m->b, m->rw.decls[x->decl], at);
    for (uint32_t w = 0; w < x->pieces; w++) {
        vyre_build_store(m->b, carriers[w], words[w],
                         as_words ? vyre_words_encode(m->b, type, value, w) : value);
    }
    m->has_effect = true;
}

/* The elements [first, end), whose words lie in the buffers. */
static void copy_run(maker *m, const array *x, uint32_t first, uint32_t end,
                     const uint32_t buffers[2]) {
    char name[64];
    vyre_decl carriers[2] = {VYRE_NONE, VYRE_NONE};
    vyre_expr words[2] = {VYRE_NONE, VYRE_NONE};
    for (uint32_t w = 0; w < x->pieces; w++) {
        carriers[w] = owned(m, buffers[w], x->view);
    }
    int length = snprintf(name, sizeof name, "%s%s%lu", m->names->prefix,
                          x->restore ? "restore" : "save", (unsigned long)x->decl);
    if (first > 0) { /* it may be a tag, too, and tags are used once */
        (void)snprintf(name + length, sizeof name - (size_t)length, "_%lu", (unsigned long)first);
    }
    if (!x->by_group) {
        (void)vyre_segment_here(m); /* bind it outside the loop */
    }
    vyre_expr from = !x->by_group ? u32(m, first)
                     : first > 0  ? op2(m, VYRE_EXPR_ADD, x->from, u32(m, first))
                                  : x->from;
    vyre_var i = vyre_build_for(m->b, name, from, u32(m, end), x->step);
    vyre_expr at = vyre_build_var(m->b, i);
    vyre_expr behind = first > 0 ? op2(m, VYRE_EXPR_SUB, at, u32(m, first)) : at;
    const uint32_t unit = unit_of(x->view);
    for (uint32_t w = 0; w < x->pieces; w++) {
        const vyre_carry_buffer *in = &m->module->buffers[buffers[w]];
        uint32_t base =
            x->entity->slot + first * x->per + w - (x->by_group ? in->group_first : in->lane_first);
        vyre_expr word = op2(m, VYRE_EXPR_ADD, op2(m, VYRE_EXPR_MUL, behind, u32(m, x->pieces)),
                             u32(m, base / unit));
        words[w] = x->by_group ? group_index(m, in, x->view, word) : lane_index(m, word);
    }
    copy_element(m, x, at, carriers, words, name);
    vyre_build_end(m->b);
}

static void copy_array(maker *m, vyre_decl d, bool restore, vyre_expr from, vyre_expr step) {
    const vyre_entity *entity = &m->plan->entities[vyre_entity_of_decl(m->plan, d)];
    array x = {.decl = d,
               .entity = entity,
               .per = vyre_type_size((vyre_type)entity->type) / 4,
               .by_group = entity->kind == VYRE_CARRY_WORKGROUP,
               .restore = restore,
               .from = from,
               .step = step};
    bool narrow = x.by_group ? m->narrow_groups : m->narrow_lanes;
    x.view = narrow ? VYRE_VIEW_WORDS : vyre_view_of((vyre_type)entity->type);
    x.pieces = x.per / unit_of(x.view);
    for (uint32_t first = 0, length; first < entity->count; first += length) {
        uint32_t buffers[2];
        length = run_length(m, &x, first, buffers);
        copy_run(m, &x, first, first + length, buffers);
    }
}

/* Whether the two counters fit beside the segment's own workgroup memory. */
static bool has_room_for_rank(const maker *m) {
    uint64_t bytes = 8;
    for (uint32_t i = 0; i < m->used.count; i++) {
        vyre_decl d = m->used.data[i];
        bool shared = m->p->decls[d].role == VYRE_WORKGROUP;
        uint64_t count = m->plan->entities[vyre_entity_of_decl(m->plan, d)].count;
        bytes += shared ? count * vyre_type_size((vyre_type)m->p->decls[d].type) : 0;
    }
    return bytes <= VYRE_LIMIT_WORKGROUP_BYTES;
}

/* First element and stride for a lane's share of workgroup memory. Where lanes may have ended, the
 * living ones are numbered by a counter, of which there is one for each end of the segment. */
static void share(maker *m, bool restore, vyre_expr *out_from, vyre_expr *out_step) {
    if (!(m->plan->ends[m->number] & (restore ? VYRE_HAS_ENDED : VYRE_HAS_ENDED | VYRE_MAY_END))) {
        uint32_t lanes = m->p->workgroup[0] * m->p->workgroup[1] * m->p->workgroup[2];
        if (!restore) {
            vyre_build_barrier(m->b, VYRE_SEQ_CST);
        }
        *out_from = linear(m, VYRE_BUILTIN_LOCAL_ID, VYRE_BUILTIN_GROUP_SIZE);
        *out_step = u32(m, lanes);
        return;
    }
    if (!has_room_for_rank(m)) {
        if (!restore) {
            vyre_build_barrier(m->b, VYRE_SEQ_CST);
        }
        *out_from = u32(m, 0); /* all of it by each: slow, but it fits */
        *out_step = u32(m, 1);
        return;
    }
    vyre_decl rank =
        vyre_segment_carrier(m, &m->rank, VYRE_WORKGROUP, m->names->rank, VYRE_DECL_LOCAL, 0);
    vyre_expr counter = u32(m, restore ? 0 : 1);
    char name[64];
    (void)snprintf(name, sizeof name, "%s_%s", m->names->rank, restore ? "in" : "out");
    vyre_var mine = vyre_build_atomic(m->b, name, VYRE_ATOMIC_ADD, rank, counter, VYRE_NONE,
                                      u32(m, 1), VYRE_SEQ_CST);
    vyre_build_barrier(m->b, VYRE_SEQ_CST);
    *out_from = vyre_build_var(m->b, mine);
    *out_step = vyre_build_load(m->b, rank, counter);
}

void vyre_segment_move_arrays(maker *m, bool restore) {
    bool shared = false;
    vyre_expr from = VYRE_NONE, step = VYRE_NONE;
    for (const vyre_presence *i = m->begin; i < m->end; i++) {
        if (i->entity < m->values || !(restore ? has(i, VYRE_LIVE_IN | VYRE_TOUCHES)
                                               : has(i, VYRE_LIVE_OUT | VYRE_MODIFIES))) {
            continue;
        }
        vyre_decl d = i->entity - m->values;
        if (entity_of(m, i)->kind == VYRE_CARRY_PRIVATE) {
            copy_array(m, d, restore, VYRE_NONE, VYRE_NONE);
            continue;
        }
        if (!shared) {
            share(m, restore, &from, &step);
            shared = true;
        }
        copy_array(m, d, restore, from, step);
    }
    if (shared && restore) {
        vyre_build_barrier(m->b, VYRE_SEQ_CST);
    }
}
