/* Walking a schedule, without a device. What changes from launch to launch is listed in the module
 * for each segment, what a step computes is instructions of the module: a step costs as many as it
 * has of both, and a copy of the launch. */
#include <string.h>

#include "kit/evaluate.h"
#include "split/module.h"
#include "vyre/schedule.h"

/* Kept out of the way of steps that do not need it. */
#define RARELY __attribute__((noinline))

/* The word of a decision has room for 30 bits; what an old launch wrote is long overwritten. */
enum { MOST_TICKS = 0x3fffffff };

uint32_t vyre_position_state(const vyre_module *module) {
    return module->view.scalar_count + VYRE_PLACES + module->view.swapped_count;
}

uint32_t vyre_position_words(const vyre_module *module) {
    return vyre_position_state(module) + module->control_nodes;
}

static uint64_t *places_of(const vyre_position *at) {
    return at->words + at->module->view.scalar_count;
}

vyre_position vyre_position_begin(const vyre_module *module, uint64_t *words) {
    vyre_position at = {.module = module, .step = 0, .tick = 1, .words = words};
    memset(words, 0, module->view.scalar_count * sizeof *words);
    for (uint32_t i = 0; i < VYRE_PLACES + module->view.swapped_count; i++) {
        places_of(&at)[i] = i;
    }
    return at;
}

vyre_position vyre_position_copy(const vyre_position *at, uint64_t *words) {
    vyre_position copy = *at;
    memcpy(words, at->words, vyre_position_state(at->module) * sizeof *words);
    copy.words = words;
    return copy;
}

static inline vyre_memory memory_at(const vyre_position *at, const vyre_module_launch *pass,
                                    uint32_t place) {
    const uint64_t now = places_of(at)[place];
    return now < VYRE_PLACES ? pass->places[now]
                             : pass->source->memory[at->module->view.swapped[now - VYRE_PLACES]];
}

vyre_memory vyre_position_place(const vyre_position *at, const vyre_module_launch *pass,
                                uint32_t place) {
    return memory_at(at, pass, place);
}

vyre_memory vyre_position_memory(const vyre_position *at, const vyre_module_launch *pass,
                                 vyre_decl decl) {
    const uint32_t place = at->module->view.swapped_count ? at->module->place_of[decl] : VYRE_NONE;
    return place == VYRE_NONE ? pass->source->memory[decl] : memory_at(at, pass, place);
}

void vyre_position_finish(const vyre_position *at, const vyre_module_launch *pass) {
    for (uint32_t i = 0; i < at->module->view.swapped_count; i++) {
        pass->held[i] = (uint32_t)(places_of(at)[VYRE_PLACES + i] - VYRE_PLACES);
    }
}

/* ---- the segment ---- */

/* No calls: steps without assignments then need no frame. */
static inline void bind(const vyre_position *at, const vyre_module_launch *pass, uint32_t segment) {
    const vyre_segment_binding *b = &pass->segments[segment];
    const vyre_changing_list *list = &at->module->changing[segment];
    for (uint32_t i = 0; i < list->scalars.count; i++) {
        b->values[list->scalars.data[i].decl] = at->words[list->scalars.data[i].ref];
    }
    for (uint32_t i = 0; i < list->others.count; i++) {
        const vyre_changing *c = &list->others.data[i];
        if (c->kind == VYRE_DECL_PLACE) {
            b->memory[c->decl] = memory_at(at, pass, c->ref);
        } else {
            b->values[c->decl] = c->kind == VYRE_DECL_TICK ? at->tick : at->expect;
        }
    }
}

static inline void set_one_lane(vyre_launch *launch) {
    launch->grid[0] = launch->grid[1] = launch->grid[2] = 1;
}

static inline void set_launch(const vyre_module_launch *pass, uint32_t segment,
                              vyre_launch *out_launch) {
    const vyre_segment_binding *b = &pass->segments[segment];
    *out_launch = *pass->source;
    out_launch->memory = b->memory;
    out_launch->counts = b->counts;
    out_launch->values = b->values;
}

/* ---- steps ---- */

vyre_status vyre_position_enter(vyre_position *at, const vyre_module_launch *pass,
                                const vyre_reader *reader, vyre_launch *out_launch,
                                vyre_diag *diag) {
    const vyre_step *step = &at->module->view.steps[at->step];
    const vyre_step_code *code = &at->module->step_code[at->step];
    if (step->segment != VYRE_NONE) {
        bind(at, pass, step->segment);
        if (out_launch) {
            set_launch(pass, step->segment, out_launch);
            if (step->combine != VYRE_NONE) {
                set_one_lane(out_launch);
            }
        }
    }
    if (step->control != VYRE_NONE) { /* it takes the scalars as they are now */
        bind(at, pass, step->control);
    }
    at->has_read |= code->reads;
    return code->enter < code->leave
               ? vyre_evaluate(at, pass, reader, code->enter, code->leave, diag)
               : VYRE_OK;
}

static inline bool meets(const vyre_position *at, const vyre_step *step) {
    return step->segment != VYRE_NONE || (step->sync && at->has_read);
}

bool vyre_position_meets(const vyre_position *at) {
    return meets(at, &at->module->view.steps[at->step]);
}

/* Whether a lane has written the tick. */
static vyre_status ask(const vyre_position *at, const vyre_module_launch *pass,
                       const vyre_reader *reader, bool *out_alive, vyre_diag *diag) {
    uint32_t word = 0;
    vyre_status status = reader->read(reader->user, vyre_position_place(at, pass, VYRE_PLACE_MADE),
                                      0, &word, sizeof word, diag);
    *out_alive = word == at->tick;
    return status;
}

/* What lanes made known. The pass is over if none is alive. */
static RARELY vyre_status take_made(vyre_position *at, const vyre_module_launch *pass,
                                    const vyre_reader *reader, vyre_diag *diag) {
    const vyre_step_code *code = &at->module->step_code[at->step];
    bool alive = true;
    vyre_status status =
        at->module->view.steps[at->step].asks ? ask(at, pass, reader, &alive, diag) : VYRE_OK;
    if (status == VYRE_OK && !alive) {
        at->step = VYRE_NONE;
        return VYRE_OK;
    }
    return status == VYRE_OK ? vyre_evaluate(at, pass, reader, code->leave, code->end, diag)
                             : status;
}

static inline void go_on(vyre_position *at, const vyre_step *step) {
    at->step =
        step->decides != VYRE_NONE && at->words[step->decides] == 0 ? step->otherwise : step->next;
    for (uint32_t i = step->exchange_begin; i < step->exchange_end; i++) {
        const vyre_exchange x = at->module->view.exchanges[i];
        uint64_t *places = places_of(at);
        const uint64_t a = places[x.a];
        places[x.a] = places[x.b];
        places[x.b] = a;
    }
    at->tick = at->tick < MOST_TICKS ? at->tick + 1 : 1;
}

/* Whether the way out of the step is not known to the host. */
static bool branches_on_device(const vyre_module_view *m, const vyre_step *step) {
    return step->decides != VYRE_NONE && !m->scalars[step->decides].host;
}

uint32_t vyre_position_word(const vyre_position *at, bool condition) {
    const vyre_module_view *m = &at->module->view;
    return 4 * at->tick + (condition && branches_on_device(m, &m->steps[at->step]));
}

void vyre_position_guess(vyre_position *at, bool condition) {
    const vyre_module_view *m = &at->module->view;
    const vyre_step *step = &m->steps[at->step];
    at->expect = vyre_position_word(at, condition);
    if (branches_on_device(m, step)) {
        at->words[step->decides] = condition;
    }
    go_on(at, step);
}

void vyre_position_control(const vyre_position *at, const vyre_module_launch *pass,
                           vyre_launch *out_launch) {
    set_launch(pass, at->module->view.steps[at->step].control, out_launch);
    set_one_lane(out_launch);
}

vyre_status vyre_position_leave(vyre_position *at, const vyre_module_launch *pass,
                                const vyre_reader *reader, vyre_diag *diag) {
    const vyre_step *step = &at->module->view.steps[at->step];
    const vyre_step_code *code = &at->module->step_code[at->step];
    if (step->asks || code->leave < code->end) {
        vyre_status status = take_made(at, pass, reader, diag);
        if (status != VYRE_OK || at->step == VYRE_NONE) {
            return status;
        }
    }
    if (at->has_read) {
        at->has_read = !meets(at, step);
    }
    go_on(at, step);
    return VYRE_OK;
}

bool vyre_step_reads_entering(const vyre_module *module, uint32_t step) {
    return module->step_code[step].reads;
}

bool vyre_step_reads_leaving(const vyre_module *module, uint32_t step) {
    const vyre_step *s = &module->view.steps[step];
    return s->asks || s->leave_begin < s->leave_end;
}
