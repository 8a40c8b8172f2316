/* A module as a picture. Steps stand below each other in their order, each with the beginning of
 * its segment, the barrier behind it as a bar, what is carried there, and the condition that
 * decides. An edge to the next step goes straight down; edges that skip steps run on the right and
 * those that go back on the left, each target on a track of its own beside the boxes, shorter ones
 * further inside, so that no edge crosses a box or a text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ir/print.h"
#include "show/explain.h"
#include "split/module.h"

/* Sizes in pixels. LETTER is the advance of the monospace font at 12 px, rounded up. */
enum {
    LETTER = 8,
    LINE = 17,
    PAD = 10,
    COLUMNS = 64,
    WIDTH = COLUMNS * LETTER + 2 * PAD,
    TOP = 64,
    BAR = 24,
    ANSWER = 20, /* height of one of two ways out of a decision on the same side */
    GAP = 36,    /* between steps: an arrow fits */
    FIRST_TRACK = 44,
    TRACK = 14,
    MARGIN = 24,
    CODE_LINES = 6,
    CARRY_LINES = 8,
    MOST_TRACKED = 4096 /* targets that get a track of their own; no one looks at more */
};

typedef struct track {
    uint32_t target;
    double low, high; /* what it covers, from top to bottom */
    uint32_t lane;    /* 0 is next to the boxes */
} track;

typedef struct unit {
    double box, bar, carry, decision, end; /* upper edges of its parts, and the lower edge */
} unit;

typedef struct canvas {
    vyre_text *text;
    const vyre_module *module;
    const vyre_module_view *v;
    unit *units;
    VYRE_VEC(track) side[2]; /* left: back, right: forward */
    uint32_t lanes[2];
    double left; /* of the boxes */
    vyre_text buffer;
} canvas;

enum { LEFT, RIGHT };

/* ---- text ---- */

static void quoted(vyre_text *text, const char *bytes, size_t length) {
    static const struct {
        char c;
        const char *entity;
    } entities[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}};
    for (size_t i = 0; i < length; i++) {
        const char *entity = NULL;
        for (size_t k = 0; k < sizeof entities / sizeof entities[0]; k++) {
            entity = entities[k].c == bytes[i] ? entities[k].entity : entity;
        }
        if (entity) {
            vyre_text_puts(text, entity);
        } else {
            vyre_text_append(text, bytes + i, 1);
        }
    }
}

/* One line of text, cut to `columns` letters. */
static void put(const canvas *c, double x, double y, const char *class, const char *bytes,
                size_t length, size_t columns) {
    vyre_text_printf(c->text, "<text x=\"%.0f\" y=\"%.0f\" class=\"%s\" xml:space=\"preserve\">", x,
                     y, class);
    bool fits = length <= columns;
    quoted(c->text, bytes, fits ? length : columns - 3);
    vyre_text_puts(c->text, fits ? "</text>\n" : "...</text>\n");
}

static vyre_text *fresh(canvas *c) {
    c->text->failed |= c->buffer.failed;
    vyre_text_reset(&c->buffer);
    return &c->buffer;
}

static void put_buffer(const canvas *c, double x, double y, const char *class, size_t columns) {
    put(c, x, y, class, vyre_text_string(&c->buffer), c->buffer.length, columns);
}

/* ---- layout ---- */

static uint32_t count_lines(const char *text) {
    uint32_t lines = 0;
    for (; *text; text++) {
        lines += *text == '\n';
    }
    return lines;
}

/* The segment's own statements in the buffer. */
static void print_core(canvas *c, uint32_t segment) {
    vyre_stmt begin;
    uint32_t count = vyre_explain_core(c->module, segment, &begin);
    vyre_print_stmts(c->module->segments[segment], begin, begin + count, vyre_explain_write,
                     fresh(c));
}

/* What the schedule computes in the step, in the buffer; lines of it that are shown. */
static uint32_t print_assignments(canvas *c, const vyre_step *step) {
    vyre_text *text = fresh(c);
    if (step->combine != VYRE_NONE) {
        vyre_text_printf(text, "one lane: %s\n", vyre_explain_combine(c->module, step));
    }
    vyre_explain_assignments(text, c->module, step->enter_begin, step->enter_end, "", "\n");
    vyre_explain_assignments(text, c->module, step->leave_begin, step->leave_end, "then ", "\n");
    uint32_t lines = count_lines(vyre_text_string(text));
    return lines > CODE_LINES ? CODE_LINES + 1 : lines;
}

static double box_height(canvas *c, const vyre_step *step) {
    uint32_t lines = 1 + print_assignments(c, step);
    if (step->segment == VYRE_NONE) {
        return lines * LINE + PAD;
    }
    lines += vyre_explain_buffers(fresh(c), c->module, step->segment, false) > 0;
    lines += vyre_explain_buffers(fresh(c), c->module, step->segment, true) > 0;
    print_core(c, step->segment);
    uint32_t shown = count_lines(vyre_text_string(&c->buffer));
    lines += shown > CODE_LINES ? CODE_LINES + 1 : shown;
    return lines * LINE + PAD + (shown ? PAD : 0);
}

static double carry_height(const canvas *c, uint32_t number) {
    uint32_t lines = 0;
    for (uint32_t carry = vyre_module_next_live(c->module, number, 0);
         carry != VYRE_NONE && lines <= CARRY_LINES;
         carry = vyre_module_next_live(c->module, number, carry + 1)) {
        lines++;
    }
    return lines ? lines * LINE + PAD : 0;
}

static int side_of(uint32_t from, uint32_t to) {
    return to <= from ? LEFT : RIGHT;
}
static bool is_straight(uint32_t from, uint32_t to) {
    return to == from + 1;
}

/* A decision has room for two ways out only where both leave on the same side. */
static bool is_forked(uint32_t from, const vyre_step *step) {
    return step->kind == VYRE_STEP_BRANCH && !is_straight(from, step->next) &&
           !is_straight(from, step->otherwise) &&
           side_of(from, step->next) == side_of(from, step->otherwise);
}
static double decision_height(uint32_t from, const vyre_step *step) {
    return step->kind != VYRE_STEP_BRANCH ? 0 : is_forked(from, step) ? 2 * ANSWER : BAR;
}

static void place_units(canvas *c) {
    double y = TOP;
    for (uint32_t i = 0; i < c->v->step_count; i++) {
        const vyre_step *step = &c->v->steps[i];
        unit *u = &c->units[i];
        u->box = y;
        u->bar = u->box + box_height(c, step);
        u->carry = u->bar + (step->sync ? BAR : 0);
        bool end = step->kind == VYRE_STEP_END;
        u->decision = u->carry + (end ? 0 : carry_height(c, i));
        u->end = u->decision + decision_height(i, step);
        y = u->end + GAP;
    }
}

/* Where an edge leaves at the side. */
static double exit_y(const canvas *c, uint32_t from, bool yes) {
    const unit *u = &c->units[from];
    const vyre_step *step = &c->v->steps[from];
    if (is_forked(from, step)) {
        return u->decision + (yes ? 0.5 : 1.5) * ANSWER;
    }
    return u->end - BAR / 2.0;
}
static double entry_y(const canvas *c, uint32_t to, int side) {
    return c->units[to].box + (side == LEFT ? 14 : 8);
}

/* Makes the track of the target cover an edge; tracks of one side are in the order of targets as
 * they are met first. */
static bool add_edge(canvas *c, uint32_t *track_of, uint32_t from, uint32_t to, bool yes) {
    if (is_straight(from, to)) {
        return true;
    }
    int side = side_of(from, to);
    double a = exit_y(c, from, yes), b = entry_y(c, to, side);
    uint32_t *known = &track_of[2 * (size_t)to + (size_t)side];
    if (*known == VYRE_NONE) {
        *known = c->side[side].count;
        track made = {.target = to, .low = a < b ? a : b, .high = a < b ? b : a};
        return vyre_vec_push(&c->text->allocator, &c->side[side], made);
    }
    track *t = &c->side[side].data[*known];
    t->low = a < t->low ? a : t->low;
    t->high = a > t->high ? a : t->high;
    return true;
}

static int by_length(const void *a, const void *b) {
    const track *x = a, *y = b;
    double dx = x->high - x->low, dy = y->high - y->low;
    return dx < dy ? -1 : dx > dy ? 1 : (x->target > y->target) - (x->target < y->target);
}

/* The innermost lane where nothing overlaps, shortest first. */
static void choose_lanes(canvas *c, int side) {
    track *tracks = c->side[side].data;
    uint32_t count = c->side[side].count;
    if (count == 0) {
        return;
    }
    qsort(tracks, count, sizeof *tracks, by_length);
    for (uint32_t i = 0; i < count && i < MOST_TRACKED; i++) {
        for (uint32_t k = 0; k < i;) {
            bool clash = tracks[k].lane == tracks[i].lane && tracks[k].low < tracks[i].high + 4 &&
                         tracks[i].low < tracks[k].high + 4;
            tracks[i].lane += clash;
            k = clash ? 0 : k + 1;
        }
        c->lanes[side] = tracks[i].lane + 1 > c->lanes[side] ? tracks[i].lane + 1 : c->lanes[side];
    }
}

static bool place_edges(canvas *c) {
    size_t slots = 2 * (size_t)c->v->step_count;
    uint32_t *track_of = vyre_alloc(&c->text->allocator, slots, sizeof *track_of);
    bool ok = track_of != NULL;
    if (ok) {
        memset(track_of, 0xff, slots * sizeof *track_of);
    }
    for (uint32_t i = 0; i < c->v->step_count && ok; i++) {
        const vyre_step *step = &c->v->steps[i];
        ok = step->kind == VYRE_STEP_END || add_edge(c, track_of, i, step->next, true);
        ok = ok &&
             (step->kind != VYRE_STEP_BRANCH || add_edge(c, track_of, i, step->otherwise, false));
    }
    vyre_free(&c->text->allocator, track_of, slots, sizeof *track_of);
    choose_lanes(c, LEFT);
    choose_lanes(c, RIGHT);
    return ok;
}

/* ---- drawing ---- */

static void rectangle(const canvas *c, const char *class, double x, double y, double w, double h) {
    vyre_text_printf(c->text,
                     "<rect class=\"%s\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/>\n",
                     class, x, y, w, h);
}

static double draw_buffers(canvas *c, uint32_t segment, bool written, double y) {
    vyre_text_puts(fresh(c), written ? "writes " : "reads ");
    if (vyre_explain_buffers(&c->buffer, c->module, segment, written) == 0) {
        return y;
    }
    put_buffer(c, c->left + PAD, y, "note", COLUMNS);
    return y + LINE;
}

/* The first lines of the buffer; where the next line is. */
static double draw_lines(canvas *c, double y) {
    uint32_t line = 0, lines = count_lines(vyre_text_string(&c->buffer));
    for (const char *at = vyre_text_string(&c->buffer); *at && line < CODE_LINES; line++) {
        size_t length = strcspn(at, "\n");
        put(c, c->left + PAD, y, "code", at, length, COLUMNS);
        y += LINE;
        at += length + 1;
    }
    if (lines > CODE_LINES) {
        vyre_text_printf(fresh(c), "(%" PRIu32 " more)", lines - CODE_LINES);
        put_buffer(c, c->left + PAD, y, "note", COLUMNS);
        y += LINE;
    }
    return y;
}

static void draw_code(canvas *c, uint32_t segment, double y) {
    print_core(c, segment);
    if (c->buffer.length > 0) {
        vyre_text_printf(c->text, "<path class=\"rule\" d=\"M%.0f %.0fh%d\"/>\n", c->left, y - 8,
                         WIDTH);
        (void)draw_lines(c, y + PAD);
    }
}

static void draw_box(canvas *c, uint32_t number) {
    const vyre_step *step = &c->v->steps[number];
    const unit *u = &c->units[number];
    bool idle = step->segment == VYRE_NONE;
    rectangle(c, idle ? "idle" : "box", c->left, u->box, WIDTH, u->bar - u->box);
    double y = u->box + LINE;
    vyre_text_printf(fresh(c), "step %" PRIu32, number);
    put_buffer(c, c->left + PAD, y, "step", 10);
    vyre_text_puts(fresh(c), !idle ? vyre_program_get(c->module->segments[step->segment])->name
                             : step->kind == VYRE_STEP_END ? "end"
                                                           : "nothing to launch");
    put_buffer(c, c->left + PAD + 10 * LETTER, y, idle ? "note" : "step", COLUMNS - 30);
    (void)print_assignments(c, step);
    const double behind = draw_lines(c, y + LINE);
    if (idle) {
        return;
    }
    uint64_t statements = vyre_program_get(c->module->segments[step->segment])->stats.statements;
    vyre_text_printf(fresh(c), "%" PRIu64 " statements", statements);
    put_buffer(c, c->left + WIDTH - PAD, y, "note right", 20);
    y = draw_buffers(c, step->segment, false, behind);
    y = draw_buffers(c, step->segment, true, y);
    draw_code(c, step->segment, y);
}

static void draw_bar(canvas *c, uint32_t number) {
    const vyre_step *step = &c->v->steps[number];
    const unit *u = &c->units[number];
    if (!step->sync) {
        return;
    }
    rectangle(c, "bar", c->left, u->bar, WIDTH, BAR);
    vyre_text_printf(fresh(c), "%s, ", vyre_explain_barrier(c->module, step));
    vyre_explain_line(&c->buffer, step->place);
    put_buffer(c, c->left + PAD, u->bar + LINE, "sync", COLUMNS);
    uint64_t bytes[VYRE_OWNERS];
    static const char *const owners[VYRE_OWNERS] = {"lane", "group"};
    vyre_explain_bytes(step, bytes);
    (void)fresh(c);
    for (int owner = 0; owner < VYRE_OWNERS; owner++) {
        if (bytes[owner]) {
            vyre_text_printf(&c->buffer, "%s%" PRIu64 " B/%s", c->buffer.length ? ", " : "",
                             bytes[owner], owners[owner]);
        }
    }
    put_buffer(c, c->left + WIDTH - PAD, u->bar + LINE, "sync right", COLUMNS - 20);
}

static void draw_carries(canvas *c, uint32_t number) {
    const unit *u = &c->units[number];
    if (u->decision <= u->carry) {
        return;
    }
    vyre_explain_list alive;
    vyre_explain_alive(c->text, c->module, number, &alive);
    const uint32_t count = alive.of.count;
    rectangle(c, "carry", c->left, u->carry, WIDTH, u->decision - u->carry);
    double y = u->carry + LINE;
    for (uint32_t i = 0; i < count && i < CARRY_LINES; i++) {
        const vyre_carry *carry = &c->v->carries[alive.of.data[i].carry];
        vyre_text_puts(fresh(c), vyre_carry_kind_where(carry->kind));
        if (carry->words) {
            vyre_text_printf(&c->buffer, ", %" PRIu64 " bytes", UINT64_C(4) * carry->words);
        }
        size_t room = COLUMNS - 1 - c->buffer.length; /* the note is at most 50 letters long */
        put(c, c->left + PAD, y, "code", carry->name, strlen(carry->name), room);
        put_buffer(c, c->left + WIDTH - PAD, y, "note right", COLUMNS);
        y += LINE;
    }
    if (count > CARRY_LINES) {
        vyre_text_printf(fresh(c), "(%" PRIu32 " more)", count - CARRY_LINES);
        put_buffer(c, c->left + PAD, y, "note", COLUMNS);
    }
    vyre_vec_free(&c->text->allocator, &alive.of);
}

static void draw_decision(canvas *c, uint32_t number) {
    const vyre_step *step = &c->v->steps[number];
    const unit *u = &c->units[number];
    if (step->kind != VYRE_STEP_BRANCH) {
        return;
    }
    rectangle(c, "choice", c->left, u->decision, WIDTH, u->end - u->decision);
    vyre_explain_condition(fresh(c), c->module, step);
    vyre_text_puts(&c->buffer, " ?");
    put_buffer(c, c->left + PAD, u->decision + LINE, "code", COLUMNS - 14);
    vyre_explain_line(fresh(c), vyre_program_stmt_place(c->v->source, step->condition));
    put_buffer(c, c->left + WIDTH - PAD, u->decision + LINE, "note right", COLUMNS);
}

static double track_x(const canvas *c, int side, uint32_t target) {
    for (uint32_t i = 0; i < c->side[side].count; i++) {
        if (c->side[side].data[i].target == target) {
            int away = FIRST_TRACK + TRACK * (int)c->side[side].data[i].lane;
            return side == LEFT ? c->left - away : c->left + WIDTH + away;
        }
    }
    return 0;
}

static void draw_edge(canvas *c, uint32_t from, uint32_t to, bool yes) {
    const vyre_step *step = &c->v->steps[from];
    const char *class = step->sync ? "edge wait" : "edge";
    const char *head = step->sync ? "head-wait" : "head";
    bool branches = step->kind == VYRE_STEP_BRANCH;
    const char *answer = yes ? "yes" : "no";
    if (is_straight(from, to)) {
        double x = c->left + WIDTH / 2.0, y = c->units[from].end;
        vyre_text_printf(c->text,
                         "<path class=\"%s\" marker-end=\"url(#%s)\" d=\"M%.0f %.0fV%.0f\"/>\n",
                         class, head, x, y, c->units[to].box - 2);
        if (branches) {
            put(c, x + 8, y + 18, "answer", answer, strlen(answer), COLUMNS);
        }
        return;
    }
    int side = side_of(from, to);
    double begin = side == LEFT ? c->left : c->left + WIDTH, y = exit_y(c, from, yes);
    double x = track_x(c, side, to), sign = side == LEFT ? -1 : 1;
    vyre_text_printf(
        c->text, "<path class=\"%s\" marker-end=\"url(#%s)\" d=\"M%.0f %.0fH%.0fV%.0fH%.0f\"/>\n",
        class, head, begin, y, x, entry_y(c, to, side), begin + 2 * sign);
    if (branches) {
        put(c, begin + 6 * sign, y - 4, side == LEFT ? "answer right" : "answer", answer,
            strlen(answer), COLUMNS);
    }
}

static void draw(canvas *c) {
    for (uint32_t i = 0; i < c->v->step_count; i++) {
        draw_box(c, i);
        draw_bar(c, i);
        draw_carries(c, i);
        draw_decision(c, i);
    }
    for (uint32_t i = 0; i < c->v->step_count; i++) {
        const vyre_step *step = &c->v->steps[i];
        if (step->kind != VYRE_STEP_END) {
            draw_edge(c, i, step->next, true);
        }
        if (step->kind == VYRE_STEP_BRANCH) {
            draw_edge(c, i, step->otherwise, false);
        }
    }
}

static void head(canvas *c) {
    static const char style[] =
        "<style>\n"
        "text{font:12px 'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#1e293b}\n"
        "text.title{font-size:16px;font-weight:bold}\n"
        "text.step{font-weight:bold}\n"
        "text.note{fill:#64748b}\n"
        "text.sync{fill:#ffffff;font-weight:bold}\n"
        "text.answer{fill:#475569;font-weight:bold}\n"
        "text.right{text-anchor:end}\n"
        "rect{stroke:#334155}\n"
        "rect.page{fill:#ffffff;stroke:none}\n"
        "rect.box{fill:#f1f5f9}\n"
        "rect.idle{fill:#ffffff;stroke-dasharray:4 3}\n"
        "rect.bar{fill:#b91c1c;stroke:#b91c1c}\n"
        "rect.carry{fill:#fef2f2;stroke:#b91c1c}\n"
        "rect.choice{fill:#fef9c3}\n"
        "path{fill:none;stroke:#334155;stroke-width:1.5}\n"
        "path.rule{stroke:#cbd5e1;stroke-width:1}\n"
        "path.wait{stroke:#b91c1c;stroke-width:2.5}\n"
        "path.tip{fill:#334155;stroke:none}\n"
        "path.tip-wait{fill:#b91c1c;stroke:none}\n"
        "</style>\n";
    static const char *const tips[] = {"", "-wait"};
    double height = c->v->step_count ? c->units[c->v->step_count - 1].end + MARGIN : TOP;
    double width = c->left + WIDTH + MARGIN +
                   (c->lanes[RIGHT] ? FIRST_TRACK + TRACK * (double)c->lanes[RIGHT] : 0);
    vyre_text_printf(c->text,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                     "viewBox=\"0 0 %.0f %.0f\">\n%s<defs>\n",
                     width, height, width, height, style);
    for (int i = 0; i < 2; i++) {
        vyre_text_printf(c->text,
                         "<marker id=\"head%s\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
                         "markerWidth=\"9\" markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" "
                         "orient=\"auto\"><path class=\"tip%s\" d=\"M0 0L8 4L0 8z\"/></marker>\n",
                         tips[i], tips[i]);
    }
    vyre_text_puts(c->text, "</defs>\n");
    rectangle(c, "page", 0, 0, width, height);
    vyre_text_printf(fresh(c), "%s", vyre_program_get(c->v->source)->name);
    put_buffer(c, c->left, 26, "title", COLUMNS / 2);
    vyre_text_printf(fresh(c),
                     "%" PRIu32 " steps, %" PRIu32 " segments, %" PRIu32 " %s barriers, %" PRIu64
                     " bytes per lane",
                     c->v->step_count, c->v->segment_count, c->v->sync_points,
                     vyre_explain_scope(c->v), UINT64_C(4) * c->v->lane_words);
    put_buffer(c, c->left, 46, "note", COLUMNS);
}

void vyre_explain_svg(vyre_text *text, const vyre_module *module) {
    canvas c = {.text = text, .module = module, .v = &module->view};
    vyre_text_init(&c.buffer, &text->allocator);
    c.units = vyre_alloc(&text->allocator, c.v->step_count, sizeof *c.units);
    if (c.units) {
        place_units(&c);
    }
    if (c.units && place_edges(&c)) {
        c.left = MARGIN + (c.lanes[LEFT] ? FIRST_TRACK + TRACK * (double)c.lanes[LEFT] : 0);
        head(&c);
        draw(&c);
        vyre_text_puts(text, "</svg>\n");
        (void)fresh(&c);
    } else {
        text->failed = true;
    }
    vyre_free(&text->allocator, c.units, c.v->step_count, sizeof *c.units);
    vyre_vec_free(&text->allocator, &c.side[LEFT]);
    vyre_vec_free(&text->allocator, &c.side[RIGHT]);
    vyre_text_finish(&c.buffer);
}
