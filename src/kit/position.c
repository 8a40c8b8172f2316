/* Walking a schedule, without a device. Assignments are evaluated with the folder's operations,
 * node by node in the order of the control program, where operands come before users: a step costs
 * what its assignments have nodes, and a read for each load. */
#include <string.h>

#include "base/half.h"
#include "base/mutant.h"
#include "ir/fold.h"
#include "split/module.h"
#include "vyre/schedule.h"

/* The word of a decision has room for 30 bits; what an old launch wrote is long overwritten. */
enum { MOST_TICKS = 0x3fffffff };

uint32_t vyre_position_state(const vyre_module *module) {
    return vyre_module_get(module)->scalar_count + VYRE_PLACES;
}

uint32_t vyre_position_words(const vyre_module *module) {
    return vyre_position_state(module) + module->control_nodes;
}

static uint64_t *places_of(const vyre_position *at) {
    return at->words + vyre_module_get(at->module)->scalar_count;
}

vyre_position vyre_position_begin(const vyre_module *module, uint64_t *words) {
    vyre_position at = {.module = module, .step = 0, .tick = 1, .words = words};
    memset(words, 0, vyre_module_get(module)->scalar_count * sizeof *words);
    for (uint32_t i = 0; i < VYRE_PLACES; i++) {
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

vyre_memory vyre_position_place(const vyre_position *at, const vyre_module_launch *pass,
                                uint32_t place) {
    return pass->places[places_of(at)[place]];
}

/* ---- the segment ---- */

static void bind(const vyre_position *at, const vyre_module_launch *pass, uint32_t segment) {
    const vyre_module_view *m = vyre_module_get(at->module);
    const vyre_segment_decl *decls = m->decls[segment];
    const vyre_segment_binding *b = &pass->segments[segment];
    const uint32_t *changing = at->module->changing[segment];
    for (uint32_t i = 1; i <= changing[0]; i++) {
        const uint32_t d = changing[i];
        switch ((vyre_decl_kind)decls[d].kind) {
        case VYRE_DECL_SCALAR: b->values[d] = at->words[decls[d].ref]; break;
        case VYRE_DECL_PLACE: b->memory[d] = vyre_position_place(at, pass, decls[d].ref); break;
        case VYRE_DECL_TICK: b->values[d] = at->tick; break;
        case VYRE_DECL_EXPECT: b->values[d] = at->expect; break;
        case VYRE_DECL_SOURCE:
        case VYRE_DECL_LOCAL:
        case VYRE_DECL_OWN:
        case VYRE_DECL_LANES:
        case VYRE_DECL_GROUP_ID:
        case VYRE_DECL_GROUP_COUNT:
        case VYRE_DECL_TRAP:
        case VYRE_DECL_KINDS: break;
        }
    }
}

static vyre_launch launch_of(const vyre_module_launch *pass, uint32_t segment) {
    const vyre_segment_binding *b = &pass->segments[segment];
    vyre_launch launch = *pass->source;
    launch.memory = b->memory;
    launch.counts = b->counts;
    launch.values = b->values;
    return launch;
}

/* ---- the control program ---- */

static uint64_t id(const vyre_program_view *p, const vyre_module_launch *pass,
                   const vyre_expr_node *n) {
    const uint32_t size = p->workgroup[n->axis], groups = pass->source->grid[n->axis];
    switch ((vyre_builtin)n->sub) {
    case VYRE_BUILTIN_NUM_GROUPS: return groups;
    case VYRE_BUILTIN_GROUP_SIZE: return size;
    case VYRE_BUILTIN_GLOBAL_SIZE: return (uint32_t)(groups * size);
    case VYRE_BUILTIN_GROUP_ID:
    case VYRE_BUILTIN_GLOBAL_ID: return pass->group[n->axis]; /* of a group of one along the axis */
    case VYRE_BUILTIN_SUBGROUP_SIZE: return VYRE_SUBGROUP_SIZE_FIXED;
    case VYRE_BUILTIN_LOCAL_ID: /* likewise */
    case VYRE_BUILTIN_SUBGROUP_LOCAL_ID:
    case VYRE_BUILTIN_COUNT: break;
    }
    return 0;
}

/* The bits of an element as a value of the type that it widens to. */
static uint64_t widen(vyre_type type, const unsigned char bytes[8]) {
    uint64_t bits = 0;
    memcpy(&bits, bytes, vyre_type_size(type));
    switch ((int)type) {
    case VYRE_BOOL: return bits != 0;
    case VYRE_I8: return ((bits ^ 0x80) - 0x80) & UINT32_MAX;
    case VYRE_I16: return ((bits ^ 0x8000) - 0x8000) & UINT32_MAX;
    case VYRE_F16: return vyre_f32_bits(vyre_f16_to_f32((uint16_t)bits));
    case VYRE_BF16: return vyre_f32_bits(vyre_bf16_to_f32((uint16_t)bits));
    default: return bits;
    }
}

typedef struct evaluation {
    const vyre_position *at;
    const vyre_module_launch *pass;
    const vyre_reader *reader;
    vyre_diag *diag;
    const vyre_program_view *p; /* the control program */
    uint64_t *nodes;            /* values of the expressions from `first` on, of one statement */
    vyre_expr first;
} evaluation;

static vyre_status load(const evaluation *ev, const vyre_expr_node *n, uint64_t index,
                        uint64_t *out) {
    const vyre_launch *source = ev->pass->source;
    const bool is_made = n->ref == ev->p->decl_count - 1;
    const vyre_type type = (vyre_type)ev->p->decls[n->ref].type;
    const uint64_t count =
        is_made ? vyre_module_get(ev->at->module)->made_words : source->counts[n->ref];
    const vyre_memory memory =
        is_made ? vyre_position_place(ev->at, ev->pass, VYRE_PLACE_MADE) : source->memory[n->ref];
    const uint32_t size = vyre_type_size(type);
    unsigned char bytes[8] = {0};
    *out = 0;
    if (!VYRE_MUTANT(position_beyond_end, index < count, index <= count)) {
        return VYRE_OK;
    }
    vyre_status status =
        ev->reader->read(ev->reader->user, memory, index * size, bytes, size, ev->diag);
    *out = widen(type, bytes);
    return status;
}

static vyre_status evaluate_node(const evaluation *ev, vyre_expr e) {
    const vyre_expr_node *n = &ev->p->exprs[e];
    uint64_t operands[3] = {0}, *out = &ev->nodes[e - ev->first];
    switch ((int)n->op) {
    case VYRE_EXPR_LITERAL: *out = n->u.bits; return VYRE_OK;
    case VYRE_EXPR_VAR: *out = ev->at->words[n->ref]; return VYRE_OK;
    case VYRE_EXPR_REF: *out = ev->pass->source->values[n->ref]; return VYRE_OK;
    case VYRE_EXPR_LEN: *out = ev->pass->source->counts[n->ref]; return VYRE_OK;
    case VYRE_EXPR_BUILTIN: *out = id(ev->p, ev->pass, n); return VYRE_OK;
    case VYRE_EXPR_LOAD: return load(ev, n, ev->nodes[n->u.arg[0] - ev->first], out);
    default: break;
    }
    for (uint32_t i = 0; i < vyre_expr_info_of((vyre_expr_op)n->op)->arity; i++) {
        operands[i] = ev->nodes[n->u.arg[i] - ev->first];
    }
    (void)vyre_fold(ev->p, e, operands, out); /* splitting admits nothing else */
    return VYRE_OK;
}

static vyre_status evaluate(vyre_position *at, const vyre_module_launch *pass,
                            const vyre_reader *reader, vyre_stmt begin, vyre_stmt end,
                            vyre_diag *diag) {
    if (begin == end) {
        return VYRE_OK;
    }
    evaluation ev = {.at = at,
                     .pass = pass,
                     .reader = reader,
                     .diag = diag,
                     .p = vyre_program_get(vyre_module_get(at->module)->control),
                     .nodes = at->words + vyre_position_state(at->module)};
    const vyre_module_view *m = vyre_module_get(at->module);
    vyre_status status = VYRE_OK;
    for (vyre_stmt s = begin; s < end && status == VYRE_OK; s++) {
        const vyre_stmt_node *n = &ev.p->stmts[s];
        if (m->ahead && !m->scalars[n->var].host) {
            continue; /* the device computes it */
        }
        ev.first = n->first_expr;
        for (vyre_expr e = n->first_expr; e < n->end_expr && status == VYRE_OK; e++) {
            status = evaluate_node(&ev, e);
        }
        if (status == VYRE_OK) {
            at->words[n->var] = ev.nodes[n->arg[0] - ev.first];
        }
    }
    return status;
}

/* ---- steps ---- */

vyre_status vyre_position_enter(vyre_position *at, const vyre_module_launch *pass,
                                const vyre_reader *reader, vyre_launch *out_launch,
                                vyre_diag *diag) {
    const vyre_step *step = &vyre_module_get(at->module)->steps[at->step];
    if (step->segment != VYRE_NONE) {
        bind(at, pass, step->segment);
        *out_launch = launch_of(pass, step->segment);
    }
    if (step->control != VYRE_NONE) { /* it takes the scalars as they are now */
        bind(at, pass, step->control);
    }
    at->has_read |= at->module->reads[at->step];
    return evaluate(at, pass, reader, step->enter_begin, step->enter_end, diag);
}

bool vyre_position_meets(const vyre_position *at) {
    const vyre_step *step = &vyre_module_get(at->module)->steps[at->step];
    return step->segment != VYRE_NONE || (step->sync && at->has_read);
}

/* Whether a lane has written the tick. */
static vyre_status ask(const vyre_position *at, const vyre_module_launch *pass,
                       const vyre_reader *reader, bool *out_alive, vyre_diag *diag) {
    uint32_t word = 0;
    vyre_status status = reader->read(reader->user, vyre_position_place(at, pass, VYRE_PLACE_MADE),
                                      0, &word, sizeof word, diag);
    *out_alive = VYRE_MUTANT(position_dead_go_on, word == at->tick, word != 0);
    return status;
}

static void go_on(vyre_position *at, const vyre_step *step) {
    const vyre_module_view *m = vyre_module_get(at->module);
    uint64_t *places = places_of(at);
    at->step = step->kind == VYRE_STEP_END                                       ? VYRE_NONE
               : step->kind == VYRE_STEP_BRANCH && at->words[step->decides] == 0 ? step->otherwise
                                                                                 : step->next;
    for (uint32_t i = step->exchange_begin;
         i < VYRE_MUTANT(position_keeps_places, step->exchange_end, 0); i++) {
        const vyre_exchange x = m->exchanges[i];
        const uint64_t a = places[x.a];
        places[x.a] = places[x.b];
        places[x.b] = a;
    }
    at->tick = at->tick % MOST_TICKS + 1;
}

/* Whether the way out of the step is not known to the host. */
static bool branches_on_device(const vyre_module_view *m, const vyre_step *step) {
    return step->decides != VYRE_NONE && !m->scalars[step->decides].host;
}

uint32_t vyre_position_word(const vyre_position *at, bool condition) {
    const vyre_module_view *m = vyre_module_get(at->module);
    return 4 * at->tick + (condition && branches_on_device(m, &m->steps[at->step]));
}

void vyre_position_guess(vyre_position *at, bool condition) {
    const vyre_module_view *m = vyre_module_get(at->module);
    const vyre_step *step = &m->steps[at->step];
    at->expect = vyre_position_word(at, condition);
    if (branches_on_device(m, step)) {
        at->words[step->decides] = condition;
    }
    go_on(at, step);
}

void vyre_position_control(const vyre_position *at, const vyre_module_launch *pass,
                           vyre_launch *out_launch) {
    *out_launch = launch_of(pass, vyre_module_get(at->module)->steps[at->step].control);
    out_launch->grid[0] = out_launch->grid[1] = out_launch->grid[2] = 1;
}

vyre_status vyre_position_leave(vyre_position *at, const vyre_module_launch *pass,
                                const vyre_reader *reader, vyre_diag *diag) {
    const vyre_step *step = &vyre_module_get(at->module)->steps[at->step];
    bool alive = true;
    vyre_status status = step->asks ? ask(at, pass, reader, &alive, diag) : VYRE_OK;
    if (status == VYRE_OK && !alive) {
        at->step = VYRE_NONE;
        return VYRE_OK;
    }
    if (status == VYRE_OK) {
        status = evaluate(at, pass, reader, step->leave_begin, step->leave_end, diag);
    }
    if (status == VYRE_OK) {
        at->has_read = at->has_read && !vyre_position_meets(at);
        go_on(at, step);
    }
    return status;
}

bool vyre_step_reads_entering(const vyre_module *module, uint32_t step) {
    return module->reads[step];
}

bool vyre_step_reads_leaving(const vyre_module *module, uint32_t step) {
    const vyre_step *s = &vyre_module_get(module)->steps[step];
    return s->asks || s->leave_begin < s->leave_end;
}
