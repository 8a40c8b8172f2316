/* A plan as a picture. Each group is a row; its waves are boxes as wide as their share of the
 * budget, dependencies are lines between rows. With lifetimes a second picture shows the arena:
 * groups from left to right, addresses upwards, each buffer a rectangle. */
#include <inttypes.h>

#include "base/shortest.h"
#include "plan/planner.h"
#include "plan/render.h"

static const double left = 70, width = 800, row = 34, box = 22, gap = 40, arena = 300;
static const char *const colours[] = {"#9ecae1", "#a1d99b", "#fdd0a2", "#dadaeb", "#fcbba1"};
enum { COLOURS = sizeof colours / sizeof colours[0], LETTER = 7, MOST_LINES = 2000 };

#define F(number) vyre_fixed2(number).text

typedef struct canvas {
    vyre_text *text;
    const vyre_plan_view *view;
    double per_byte; /* width of a byte */
    double y;
} canvas;

static double row_y(const canvas *c, uint32_t group) {
    return c->y + row * group;
}

/* Rectangle with a tooltip, and the name inside when there is room for it. */
static void rectangle(const canvas *c, uint32_t wave, const char *part, double x, double y,
                      double w, double h) {
    vyre_text_printf(c->text,
                     "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" fill=\"%s\" "
                     "stroke=\"#333\" stroke-width=\"0.5\"><title>",
                     F(x), F(y), F(w), F(h), colours[wave % COLOURS]);
    vyre_plan_render_name(c->text, c->view->set, wave, VYRE_QUOTE_XML);
    vyre_text_printf(c->text, "%s</title></rect>\n", part);
    const char *name = c->view->set->waves[wave].name;
    size_t length = 0;
    while (name && name[length] && length < 64) {
        length++;
    }
    if (length && (double)(length * LETTER) < w && h >= 10) {
        vyre_text_printf(c->text, "<text x=\"%s\" y=\"%s\" text-anchor=\"middle\">", F(x + w / 2),
                         F(y + h / 2 + 4));
        vyre_plan_render_name(c->text, c->view->set, wave, VYRE_QUOTE_XML);
        vyre_text_puts(c->text, "</text>\n");
    }
}

static void groups(const canvas *c) {
    const vyre_plan *plan = c->view->plan;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        double x = left, y = row_y(c, g);
        vyre_text_printf(c->text,
                         "<text x=\"8\" y=\"%s\">group %" PRIu32 "</text>\n"
                         "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" "
                         "fill=\"none\" stroke=\"#bbb\"/>\n",
                         F(y + 15), g, F(left), F(y), F(width), F(box));
        for (uint32_t k = plan->group_start[g]; k < plan->group_start[g + 1]; k++) {
            double w = (double)vyre_plan_view_wave(c->view, plan->waves[k]) * c->per_byte;
            rectangle(c, plan->waves[k], "", x, y, w, box);
            x += w;
        }
    }
}

/* Where the middle of each wave's box is: looked up by walking its group, so lines are only drawn
 * for plans of a readable size. */
static double middle_x(const canvas *c, uint32_t wave, uint32_t *out_group) {
    const vyre_plan *plan = c->view->plan;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        double x = left;
        for (uint32_t k = plan->group_start[g]; k < plan->group_start[g + 1]; k++) {
            double w = (double)vyre_plan_view_wave(c->view, plan->waves[k]) * c->per_byte;
            if (plan->waves[k] == wave) {
                *out_group = g;
                return x + w / 2;
            }
            x += w;
        }
    }
    return left;
}

static void lines(const canvas *c) {
    const vyre_wave_set *set = c->view->set;
    if (set->dep_count > MOST_LINES || set->wave_count > MOST_LINES) {
        return;
    }
    for (size_t i = 0; i < set->dep_count; i++) {
        uint32_t from = 0, to = 0;
        double x1 = middle_x(c, set->deps[i].before, &from);
        double x2 = middle_x(c, set->deps[i].after, &to);
        vyre_text_printf(c->text,
                         "<line x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\" stroke=\"#555\" "
                         "stroke-opacity=\"0.5\"/>\n",
                         F(x1), F(row_y(c, from) + box), F(x2), F(row_y(c, to)));
    }
}

static void arena_part(const canvas *c, uint32_t wave, const char *part, uint64_t offset,
                       uint64_t size, uint32_t first, uint32_t last) {
    const vyre_plan_memory *memory = c->view->memory;
    if (size == 0) {
        return;
    }
    double column = width / c->view->plan->group_count;
    double scale = arena / (double)memory->arena_bytes;
    double top = c->y + arena - ((double)offset + (double)size) * scale;
    rectangle(c, wave, part, left + column * first, top, column * (last - first + 1),
              (double)size * scale);
}

static void arena_picture(canvas *c) {
    const vyre_plan *plan = c->view->plan;
    const vyre_plan_memory *memory = c->view->memory;
    vyre_text_printf(c->text, "<text x=\"8\" y=\"%s\">arena: %" PRIu64 " bytes</text>\n",
                     F(c->y - 8), memory->arena_bytes);
    double graph = arena * (double)c->view->set->resident_graph_bytes / (double)memory->arena_bytes;
    vyre_text_printf(c->text,
                     "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" fill=\"#ddd\">"
                     "<title>resident graph</title></rect>\n",
                     F(left), F(c->y + arena - graph), F(width), F(graph));
    for (uint32_t g = 0; g < plan->group_count; g++) {
        for (uint32_t k = plan->group_start[g]; k < plan->group_start[g + 1]; k++) {
            uint32_t w = plan->waves[k];
            const vyre_wave *wave = &c->view->set->waves[w];
            const vyre_wave_memory *at = &memory->waves[w];
            arena_part(c, w, " output", at->output, wave->output, g, at->last_group);
            arena_part(c, w, " scratch", at->scratch, VYRE_PLAN_SCRATCH_FACTOR * wave->scratch, g,
                       g);
            arena_part(c, w, " frontier", at->frontier, wave->frontier, g, g);
        }
    }
}

void vyre_plan_render_svg(vyre_text *text, const vyre_plan_view *view) {
    const vyre_wave_set *set = view->set;
    const vyre_plan *plan = view->plan;
    uint64_t whole = set->budget_bytes == VYRE_PLAN_NO_BUDGET
                         ? plan->peak_group
                         : set->budget_bytes - set->resident_graph_bytes;
    canvas c = {
        .text = text, .view = view, .per_byte = whole ? width / (double)whole : 0, .y = gap};
    bool memory = view->memory && view->memory->arena_bytes > 0 && plan->group_count > 0;
    double height = gap + row * plan->group_count + (memory ? gap + arena : 0) + 10;
    vyre_text_printf(text,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                     "font-family=\"sans-serif\" font-size=\"12\">\n<text x=\"8\" y=\"20\">"
                     "%" PRIu32 " groups, %" PRIu32 " barriers, ",
                     left + width + 20, height, plan->group_count, plan->barriers);
    vyre_plan_render_gap(text, plan);
    vyre_text_puts(text, "</text>\n");
    lines(&c); /* below the boxes, so that they cross no name */
    groups(&c);
    if (memory) {
        c.y += row * plan->group_count + gap;
        arena_picture(&c);
    }
    vyre_text_puts(text, "</svg>\n");
}
