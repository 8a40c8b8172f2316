/* Modules for programs: everything that include/vyre/split.h shows, as one JSON object. */
#include "base/json.h"
#include "ir/print.h"
#include "show/explain.h"
#include "split/module.h"

static void number(vyre_json_writer *w, const char *key, uint64_t value) {
    vyre_json_key(w, key);
    vyre_json_put_u64(w, value);
}

static void string(vyre_json_writer *w, const char *key, const char *value) {
    vyre_json_key(w, key);
    vyre_json_put_string(w, value);
}

/* An index, or null for VYRE_NONE. */
static void index_or_null(vyre_json_writer *w, const char *key, uint32_t value) {
    vyre_json_key(w, key);
    if (value == VYRE_NONE) {
        vyre_json_put_null(w);
    } else {
        vyre_json_put_u64(w, value);
    }
}

static void flag(vyre_json_writer *w, const char *key, bool value) {
    vyre_json_key(w, key);
    vyre_json_put_bool(w, value);
}

/* Empties a buffer; a failure in it is remembered in the output. */
static vyre_text *fresh(vyre_json_writer *w, vyre_text *buffer) {
    w->text->failed |= buffer->failed;
    vyre_text_reset(buffer);
    return buffer;
}

/* Why a barrier is needed: the memory, or null for a trap, and the two lines. */
static void put_conflict(vyre_json_writer *w, const vyre_module_view *v, const vyre_conflict *why) {
    static const char *const verbs[] = {"read", "written"};
    vyre_json_begin_object(w);
    vyre_json_key(w, "memory");
    if (why->decl == VYRE_NONE) {
        vyre_json_put_null(w);
        number(w, "trap_line", why->before.line);
    } else {
        vyre_json_put_string(w, vyre_program_get(v->source)->decls[why->decl].name);
        string(w, "before", verbs[why->writes_before]);
        number(w, "line_before", why->before.line);
        string(w, "behind", verbs[why->writes_behind]);
        number(w, "line_behind", why->behind.line);
    }
    vyre_json_end_object(w);
}

static void put_removed(vyre_json_writer *w, const vyre_module_view *v,
                        const vyre_removed_barrier *removed) {
    vyre_json_begin_object(w);
    flag(w, "weakened", removed->weakened);
    number(w, "line", removed->place.line);
    number(w, "col", removed->place.col);
    vyre_json_key(w, "owned");
    vyre_json_begin_array(w);
    for (uint32_t i = 0; i < removed->owned_count; i++) {
        vyre_json_put_string(w, vyre_program_get(v->source)->decls[removed->owned[i]].name);
    }
    vyre_json_end_array(w);
    if (removed->weakened) {
        vyre_json_key(w, "shared");
        put_conflict(w, v, &removed->why);
    }
    vyre_json_end_object(w);
}

/* Each as an object: which scalar gets the value of which expression. */
static void put_assignments(vyre_json_writer *w, const vyre_module *module, const char *key,
                            vyre_stmt begin, vyre_stmt end, vyre_text *buffer) {
    const vyre_program_view *p = vyre_program_get(module->control);
    vyre_json_key(w, key);
    vyre_json_begin_array(w);
    for (vyre_stmt s = begin; s < end; s++) {
        vyre_json_begin_object(w);
        number(w, "scalar", p->stmts[s].var);
        vyre_print_expr(module->control, p->stmts[s].arg[0], vyre_explain_write, fresh(w, buffer));
        string(w, "value", vyre_text_string(buffer));
        vyre_json_end_object(w);
    }
    vyre_json_end_array(w);
}

static const char *const places[VYRE_PLACES] = {"values",  "next", "made", "spare",
                                                "scalars", "turn", "parts"};

static void put_place(vyre_json_writer *w, const vyre_module_view *v, uint32_t place) {
    vyre_json_put_string(
        w, place < VYRE_PLACES
               ? places[place]
               : vyre_program_get(v->source)->decls[v->swapped[place - VYRE_PLACES]].name);
}

static void put_exchanges(vyre_json_writer *w, const vyre_module_view *v, const vyre_step *step) {
    vyre_json_key(w, "exchanges");
    vyre_json_begin_array(w);
    for (uint32_t i = step->exchange_begin; i < step->exchange_end; i++) {
        vyre_json_begin_array(w);
        put_place(w, v, v->exchanges[i].a);
        put_place(w, v, v->exchanges[i].b);
        vyre_json_end_array(w);
    }
    vyre_json_end_array(w);
}

static void put_scalar(vyre_json_writer *w, const vyre_scalar *scalar) {
    vyre_json_begin_object(w);
    string(w, "name", scalar->name);
    string(w, "type", vyre_type_name((vyre_type)scalar->type));
    flag(w, "host", scalar->host);
    index_or_null(w, "word", scalar->word);
    number(w, "line", scalar->place.line);
    number(w, "col", scalar->place.col);
    vyre_json_end_object(w);
}

/* What a declaration of a segment is: {"kind": "scalar", "ref": 3}. */
static void put_decl(vyre_json_writer *w, const vyre_segment_decl *decl) {
    static const char *const kinds[VYRE_DECL_KINDS] = {"source",   "local",      "scalar", "own",
                                                       "place",    "lanes",      "tick",   "expect",
                                                       "group_id", "group_count"};
    vyre_json_begin_object(w);
    string(w, "kind", kinds[decl->kind]);
    if (decl->kind == VYRE_DECL_PLACE) {
        string(w, "ref", places[decl->ref]);
    } else {
        number(w, "ref", decl->ref);
    }
    vyre_json_end_object(w);
}

static void put_step(vyre_json_writer *w, const vyre_module *module, uint32_t at,
                     vyre_text *buffer) {
    static const char *const names[] = {"next", "branch", "end"};
    const vyre_step *step = &module->view.steps[at];
    vyre_json_begin_object(w);
    string(w, "kind", names[step->kind]);
    index_or_null(w, "segment", step->segment);
    index_or_null(w, "control", step->control);
    index_or_null(w, "next", step->next);
    index_or_null(w, "otherwise", step->otherwise);
    flag(w, "sync", step->sync);
    flag(w, "asks", step->asks);
    flag(w, "doubtful", step->doubtful);
    index_or_null(w, "decides", step->decides);
    put_assignments(w, module, "enter", step->enter_begin, step->enter_end, buffer);
    put_assignments(w, module, "leave", step->leave_begin, step->leave_end, buffer);
    put_exchanges(w, &module->view, step);
    const char *regions[VYRE_LIMIT_NESTING];
    uint32_t region_count = vyre_explain_regions(&module->view, step, regions);
    vyre_json_key(w, "regions");
    vyre_json_begin_array(w);
    for (uint32_t i = 0; i < region_count; i++) {
        vyre_json_put_string(w, regions[i]);
    }
    vyre_json_end_array(w);
    vyre_json_key(w, "collective");
    if (step->collective == VYRE_NONE) {
        vyre_json_put_null(w);
    } else {
        vyre_json_put_string(w, vyre_explain_barrier(module, step));
    }
    vyre_json_key(w, "combine");
    if (step->combine == VYRE_NONE) {
        vyre_json_put_null(w);
    } else {
        vyre_json_put_string(w, vyre_explain_combine(module, step));
    }
    number(w, "line", step->place.line);
    number(w, "col", step->place.col);
    if (step->kept != VYRE_NONE) {
        vyre_json_key(w, "stays");
        put_conflict(w, &module->view, &module->view.kept[step->kept].why);
    }
    if (step->condition != VYRE_NONE) {
        vyre_place place = vyre_program_stmt_place(module->source, step->condition);
        vyre_json_key(w, "condition");
        vyre_json_begin_object(w);
        vyre_explain_condition(fresh(w, buffer), module, step);
        string(w, "text", vyre_text_string(buffer));
        number(w, "line", place.line);
        number(w, "col", place.col);
        vyre_json_end_object(w);
    }
    uint64_t bytes[VYRE_OWNERS];
    vyre_explain_bytes(step, bytes);
    number(w, "bytes_per_lane", bytes[VYRE_OWNER_LANE]);
    number(w, "bytes_per_group", bytes[VYRE_OWNER_GROUP]);
    vyre_json_end_object(w);
}

/* [[first, end], ...] */
static void put_lives(vyre_json_writer *w, const vyre_module_view *v, uint32_t carry,
                      uint32_t *at) {
    vyre_json_key(w, "alive");
    vyre_json_begin_array(w);
    for (; *at < v->live_count && v->lives[*at].carry == carry; ++*at) {
        vyre_json_begin_array(w);
        vyre_json_put_u64(w, v->lives[*at].first);
        vyre_json_put_u64(w, v->lives[*at].end);
        vyre_json_end_array(w);
    }
    vyre_json_end_array(w);
}

static void put_carry(vyre_json_writer *w, const vyre_module_view *v, uint32_t at, uint32_t *life) {
    const vyre_carry *carry = &v->carries[at];
    vyre_json_begin_object(w);
    string(w, "name", carry->name);
    string(w, "kind", vyre_carry_kind_name(carry->kind));
    number(w, "words", carry->words);
    number(w, "slot", carry->slot);
    number(w, "line", carry->place.line);
    number(w, "col", carry->place.col);
    put_lives(w, v, at, life);
    vyre_json_end_object(w);
}

static void put_buffer(vyre_json_writer *w, const vyre_carry_buffer *buffer) {
    vyre_json_begin_object(w);
    string(w, "name", buffer->name);
    number(w, "lane_first", buffer->lane_first);
    number(w, "lane_words", buffer->lane_words);
    number(w, "group_first", buffer->group_first);
    number(w, "group_words", buffer->group_words);
    vyre_json_end_object(w);
}

static void put_segment(vyre_json_writer *w, const vyre_program *segment,
                        const vyre_segment_decl *decls, vyre_text *buffer) {
    const vyre_program_view *p = vyre_program_get(segment);
    vyre_json_begin_object(w);
    string(w, "name", p->name);
    number(w, "statements", p->stats.statements);
    (void)vyre_program_print(segment, vyre_explain_write, fresh(w, buffer));
    string(w, "text", vyre_text_string(buffer));
    vyre_json_key(w, "decls");
    vyre_json_begin_array(w);
    for (uint32_t i = 0; i < p->decl_count; i++) {
        put_decl(w, &decls[i]);
    }
    vyre_json_end_array(w);
    vyre_json_end_object(w);
}

void vyre_explain_json(vyre_text *text, const vyre_module *module) {
    const vyre_module_view *v = &module->view;
    vyre_json_writer writer, *w = &writer;
    vyre_text buffer;
    vyre_text_init(&buffer, &text->allocator);
    vyre_json_writer_init(w, text);
    vyre_json_begin_object(w);
    number(w, "schema", 3);
    string(w, "program", vyre_program_get(v->source)->name);
    string(w, "scope", vyre_explain_scope(v));
    number(w, "sync_points", v->sync_points);
    flag(w, "along_x", v->along_x);
    flag(w, "ahead", v->ahead);
    number(w, "lane_words", v->lane_words);
    number(w, "group_words", v->group_words);
    number(w, "group_value_words", v->group_value_words);
    number(w, "made_words", v->made_words);
    number(w, "part_words", v->part_words);
    number(w, "scalar_words", v->scalar_words);
    if (module->conditions.count > 0) { /* products that must fit u32 */
        vyre_json_key(w, "conditions");
        vyre_json_begin_array(w);
        for (uint32_t i = 0; i < module->conditions.count; i++) {
            vyre_json_put_string(w, module->conditions.data[i].text);
        }
        vyre_json_end_array(w);
    }
    vyre_json_key(w, "scalars");
    vyre_json_begin_array(w);
    for (uint32_t i = 0; i < v->scalar_count; i++) {
        put_scalar(w, &v->scalars[i]);
    }
    vyre_json_end_array(w);
    vyre_json_key(w, "steps");
    vyre_json_begin_array(w);
    for (uint32_t i = 0; i < v->step_count; i++) {
        put_step(w, module, i, &buffer);
    }
    vyre_json_end_array(w);
    vyre_json_key(w, "carries");
    vyre_json_begin_array(w);
    for (uint32_t i = 0, life = 0; i < v->carry_count; i++) {
        put_carry(w, v, i, &life);
    }
    vyre_json_end_array(w);
    vyre_json_key(w, "buffers");
    vyre_json_begin_array(w);
    for (uint32_t i = 0; i < v->buffer_count; i++) {
        put_buffer(w, &v->buffers[i]);
    }
    vyre_json_end_array(w);
    vyre_json_key(w, "removed");
    vyre_json_begin_array(w);
    for (uint32_t i = 0; i < v->removed_count; i++) {
        put_removed(w, v, &v->removed[i]);
    }
    vyre_json_end_array(w);
    vyre_json_key(w, "segments");
    vyre_json_begin_array(w);
    for (uint32_t i = 0; i < v->segment_count; i++) {
        put_segment(w, v->segments[i], v->decls[i], &buffer);
    }
    vyre_json_end_array(w);
    vyre_json_end_object(w);
    vyre_text_puts(text, "\n");
    vyre_text_finish(fresh(w, &buffer));
}
