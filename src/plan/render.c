/* Plans for people (table, DOT) and for programs (JSON), and the public calls that write them. */
#include "plan/render.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plan/planner.h"

enum { BAR = 24, NAMES = 48 };

uint64_t vyre_plan_view_wave(const vyre_plan_view *view, uint32_t wave) {
    uint64_t cost = 0;
    (void)vyre_wave_cost(&view->set->waves[wave], &cost);
    return cost;
}

uint64_t vyre_plan_view_group(const vyre_plan_view *view, uint32_t group) {
    uint64_t sum = 0;
    for (uint32_t k = view->plan->group_start[group]; k < view->plan->group_start[group + 1]; k++) {
        sum += vyre_plan_view_wave(view, view->plan->waves[k]);
    }
    return sum;
}

static void quote(vyre_text *text, unsigned char c, vyre_plan_quoting quoting) {
    static const struct {
        char c;
        const char *xml;
    } entities[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}};
    if (quoting == VYRE_QUOTE_JSON && (c == '"' || c == '\\')) {
        vyre_text_printf(text, "\\%c", c);
        return;
    }
    if (c < 0x20 || c == 0x7f) {
        if (quoting == VYRE_QUOTE_JSON) {
            vyre_text_printf(text, "\\u%04x", c);
        } else {
            vyre_text_puts(text, "?");
        }
        return;
    }
    for (size_t i = 0; quoting == VYRE_QUOTE_XML && i < sizeof entities / sizeof entities[0]; i++) {
        if (entities[i].c == (char)c) {
            vyre_text_puts(text, entities[i].xml);
            return;
        }
    }
    vyre_text_append(text, (const char *)&c, 1);
}

void vyre_plan_render_name(vyre_text *text, const vyre_wave_set *set, uint32_t wave,
                           vyre_plan_quoting quoting) {
    const char *name = set->waves[wave].name;
    if (!name) {
        vyre_text_printf(text, "wave %" PRIu32, wave);
        return;
    }
    for (; *name; name++) {
        quote(text, (unsigned char)*name, quoting);
    }
}

void vyre_plan_render_gap(vyre_text *text, const vyre_plan *plan) {
    uint32_t gap = plan->group_count - plan->lower_bound;
    if (gap == 0) {
        vyre_text_puts(text, "optimal");
    } else {
        vyre_text_printf(text, "at most %" PRIu32 " group%s above the optimum", gap,
                         gap == 1 ? "" : "s");
    }
}

/* ---- table ---- */

/* part / whole in [0, 1]; an empty whole is full. */
static double fraction(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 1.0;
}

static void bar(vyre_text *text, uint64_t part, uint64_t whole) {
    double share = fraction(part, whole);
    size_t full = (size_t)(share * BAR + 0.5);
    full = full > BAR ? BAR : full;
    vyre_text_puts(text, "[");
    vyre_text_fill(text, '#', full);
    vyre_text_fill(text, '.', BAR - full);
    vyre_text_printf(text, "] %3.0f %%", 100.0 * share);
}

/* As many names as fit in a line, then how many there are more. */
static void names(vyre_text *text, const vyre_plan_view *view, uint32_t group) {
    uint32_t begin = view->plan->group_start[group], end = view->plan->group_start[group + 1];
    size_t line = text->length;
    for (uint32_t k = begin; k < end; k++) {
        if (k > begin && text->length - line > NAMES) {
            vyre_text_printf(text, ", and %" PRIu32 " more", end - k);
            return;
        }
        vyre_text_puts(text, k > begin ? ", " : "");
        vyre_plan_render_name(text, view->set, view->plan->waves[k], VYRE_QUOTE_PLAIN);
    }
}

static void table_memory(vyre_text *text, const vyre_plan_view *view) {
    const vyre_plan_memory *memory = view->memory;
    vyre_text_printf(
        text, "lifetimes: peak %" PRIu64 " bytes in group %" PRIu32 ", arena %" PRIu64 " bytes",
        memory->peak_bytes, memory->peak_group, memory->arena_bytes);
    if (memory->optimal) {
        vyre_text_puts(text, ", optimal");
    } else {
        vyre_text_printf(text, ", at most %" PRIu64 " bytes above the optimum",
                         memory->arena_bytes - memory->lower_bound);
    }
    vyre_text_puts(text, memory->arena_bytes > view->set->budget_bytes ? "; above the budget\n"
                                                                       : "; within the budget\n");
}

void vyre_plan_render_table(vyre_text *text, const vyre_plan_view *view) {
    const vyre_plan *plan = view->plan;
    const vyre_wave_set *set = view->set;
    uint64_t capacity = set->budget_bytes - set->resident_graph_bytes;
    bool limited = set->budget_bytes != VYRE_PLAN_NO_BUDGET;
    uint64_t whole = limited ? capacity : plan->peak_group;
    vyre_text_printf(text, "%s: %" PRIu32 " waves in %" PRIu32 " group%s, %" PRIu32 " barrier%s; ",
                     vyre_plan_mode_name(plan->mode), plan->wave_count, plan->group_count,
                     plan->group_count == 1 ? "" : "s", plan->barriers,
                     plan->barriers == 1 ? "" : "s");
    vyre_plan_render_gap(text, plan);
    vyre_text_printf(text, " (lower bound %" PRIu32 ")%s\n", plan->lower_bound,
                     plan->cancelled ? ", search cancelled" : "");
    if (limited) {
        vyre_text_printf(
            text, "budget %" PRIu64 " bytes, resident graph %" PRIu64 ", for a group %" PRIu64 "\n",
            set->budget_bytes, set->resident_graph_bytes, capacity);
    }
    vyre_text_printf(text, "a wave takes frontier + %d * scratch + output bytes\n",
                     (int)VYRE_PLAN_SCRATCH_FACTOR);
    vyre_text_printf(text, "\n%6s %20s  %-*s %s\n", "group", "bytes", BAR + 8,
                     limited ? "of the budget" : "of the largest group", "waves");
    for (uint32_t g = 0; g < plan->group_count; g++) {
        uint64_t bytes = vyre_plan_view_group(view, g);
        vyre_text_printf(text, "%6" PRIu32 " %20" PRIu64 "  ", g, bytes);
        bar(text, bytes, whole);
        vyre_text_puts(text, "  ");
        names(text, view, g);
        vyre_text_puts(text, "\n");
    }
    vyre_text_printf(text,
                     "\npeaks: group %" PRIu64 ", frontier %" PRIu64 ", scratch %" PRIu64
                     ", output %" PRIu64 "; read back %" PRIu64 " bytes; widest group %" PRIu32
                     "\n",
                     plan->peak_group, plan->peak_frontier, plan->peak_scratch, plan->peak_output,
                     plan->readback, plan->max_width);
    if (view->memory) {
        table_memory(text, view);
    }
}

/* ---- JSON ---- */

static void json_memory(vyre_text *text, const vyre_plan_view *view) {
    const vyre_plan_memory *memory = view->memory;
    vyre_text_printf(text,
                     ",\"memory\":{\"peak\":%" PRIu64 ",\"peak_group\":%" PRIu32
                     ",\"arena\":%" PRIu64 ",\"lower_bound\":%" PRIu64
                     ",\"optimal\":%s,\"waves\":[",
                     memory->peak_bytes, memory->peak_group, memory->arena_bytes,
                     memory->lower_bound, memory->optimal ? "true" : "false");
    for (uint32_t w = 0; w < view->plan->wave_count; w++) {
        vyre_text_printf(text, "%s{\"name\":\"", w ? "," : "");
        vyre_plan_render_name(text, view->set, w, VYRE_QUOTE_JSON);
        vyre_text_printf(text,
                         "\",\"frontier\":%" PRIu64 ",\"scratch\":%" PRIu64 ",\"output\":%" PRIu64
                         ",\"last_group\":%" PRIu32 "}",
                         memory->waves[w].frontier, memory->waves[w].scratch,
                         memory->waves[w].output, memory->waves[w].last_group);
    }
    vyre_text_puts(text, "]}");
}

void vyre_plan_render_json(vyre_text *text, const vyre_plan_view *view) {
    const vyre_plan *plan = view->plan;
    vyre_text_printf(text, "{\"schema\":1,\"mode\":\"%s\",\"groups\":[",
                     vyre_plan_mode_name(plan->mode));
    for (uint32_t g = 0; g < plan->group_count; g++) {
        for (uint32_t k = plan->group_start[g]; k < plan->group_start[g + 1]; k++) {
            bool first = k == plan->group_start[g];
            vyre_text_puts(text, !first ? ",\"" : g ? ",[\"" : "[\"");
            vyre_plan_render_name(text, view->set, plan->waves[k], VYRE_QUOTE_JSON);
            vyre_text_puts(text, "\"");
        }
        vyre_text_puts(text, "]");
    }
    vyre_text_printf(text,
                     "],\"barriers\":%" PRIu32 ",\"lower_bound\":%" PRIu32
                     ",\"optimal\":%s,\"gap\":%" PRIu32 ",\"cancelled\":%s,\"nodes\":%" PRIu64
                     ",\"peak_group\":%" PRIu64 ",\"peak_frontier\":%" PRIu64
                     ",\"peak_scratch\":%" PRIu64 ",\"peak_output\":%" PRIu64
                     ",\"readback\":%" PRIu64 ",\"max_width\":%" PRIu32 ",\"budget\":%" PRIu64,
                     plan->barriers, plan->lower_bound, plan->optimal ? "true" : "false",
                     plan->group_count - plan->lower_bound, plan->cancelled ? "true" : "false",
                     plan->nodes, plan->peak_group, plan->peak_frontier, plan->peak_scratch,
                     plan->peak_output, plan->readback, plan->max_width, view->set->budget_bytes);
    if (view->memory) {
        json_memory(text, view);
    }
    vyre_text_puts(text, "}\n");
}

/* ---- DOT ---- */

void vyre_plan_render_dot(vyre_text *text, const vyre_plan_view *view) {
    const vyre_plan *plan = view->plan;
    vyre_text_puts(text, "digraph plan {\n  rankdir=LR;\n  node [shape=box];\n");
    for (uint32_t g = 0; g < plan->group_count; g++) {
        vyre_text_printf(text,
                         "  subgraph cluster_%" PRIu32 " {\n    label=\"group %" PRIu32 ": %" PRIu64
                         " bytes\";\n",
                         g, g, vyre_plan_view_group(view, g));
        for (uint32_t k = plan->group_start[g]; k < plan->group_start[g + 1]; k++) {
            uint32_t w = plan->waves[k];
            vyre_text_printf(text, "    w%" PRIu32 " [label=\"", w);
            /* DOT strings escape the quote and the backslash as JSON does. */
            vyre_plan_render_name(text, view->set, w, VYRE_QUOTE_JSON);
            vyre_text_printf(text, "\\n%" PRIu64 "\"];\n", vyre_plan_view_wave(view, w));
        }
        vyre_text_puts(text, "  }\n");
    }
    for (size_t i = 0; i < view->set->dep_count; i++) {
        vyre_text_printf(text, "  w%" PRIu32 " -> w%" PRIu32 ";\n", view->set->deps[i].before,
                         view->set->deps[i].after);
    }
    vyre_text_puts(text, "}\n");
}

/* ---- the public calls ---- */

static vyre_status deliver(vyre_text *text, vyre_plan_writer write, void *user, vyre_diag *diag) {
    vyre_status status = vyre_text_status(text, "the text of a plan", diag);
    if (status == VYRE_OK && !write(user, vyre_text_string(text), text->length)) {
        status = vyre_fail(diag, VYRE_IO, NULL, "the plan could not be written");
    }
    vyre_text_finish(text);
    return status;
}

vyre_status vyre_plan_write(const vyre_wave_set *set, const vyre_plan *plan,
                            const vyre_plan_memory *memory, vyre_plan_format format,
                            const vyre_allocator *allocator, vyre_plan_writer write, void *user,
                            vyre_diag *diag) {
    static void (*const writers[])(vyre_text *, const vyre_plan_view *) = {
        [VYRE_PLAN_TABLE] = vyre_plan_render_table,
        [VYRE_PLAN_JSON] = vyre_plan_render_json,
        [VYRE_PLAN_DOT] = vyre_plan_render_dot,
        [VYRE_PLAN_SVG] = vyre_plan_render_svg,
    };
    if (!set || !plan || !write || (unsigned)format >= sizeof writers / sizeof writers[0]) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "see vyre/plan.h",
                         "writing a plan: an argument is NULL or the format is unknown");
    }
    vyre_status status = vyre_plan_check(set, plan, allocator, diag);
    if (status != VYRE_OK) {
        return status;
    }
    vyre_text text;
    vyre_text_init(&text, allocator);
    const vyre_plan_view view = {.set = set, .plan = plan, .memory = memory};
    writers[format](&text, &view);
    return deliver(&text, write, user, diag);
}

static void curve_table(vyre_text *text, const vyre_plan_point *points, uint32_t count) {
    uint32_t most = 1;
    for (uint32_t i = 0; i < count; i++) {
        most = points[i].barriers > most ? points[i].barriers : most;
    }
    vyre_text_printf(text, "%20s %9s\n", "budget", "barriers");
    for (uint32_t i = 0; i < count; i++) {
        const vyre_plan_point *p = &points[i];
        size_t full = (size_t)((double)p->barriers / most * BAR + 0.5);
        vyre_text_printf(text, "%20" PRIu64 " %9" PRIu32 "  ", p->budget_bytes, p->barriers);
        vyre_text_fill(text, '#', full);
        vyre_text_fill(text, ' ', BAR - full);
        if (p->optimal) {
            vyre_text_puts(text, "  optimal\n");
        } else {
            vyre_text_printf(text, "  gap <= %" PRIu32 "\n", p->groups - p->lower_bound);
        }
    }
}

static void curve_json(vyre_text *text, const vyre_plan_point *points, uint32_t count) {
    vyre_text_puts(text, "{\"schema\":1,\"curve\":[");
    for (uint32_t i = 0; i < count; i++) {
        vyre_text_printf(text,
                         "%s{\"budget\":%" PRIu64 ",\"groups\":%" PRIu32 ",\"barriers\":%" PRIu32
                         ",\"lower_bound\":%" PRIu32 ",\"optimal\":%s}",
                         i ? "," : "", points[i].budget_bytes, points[i].groups, points[i].barriers,
                         points[i].lower_bound, points[i].optimal ? "true" : "false");
    }
    vyre_text_puts(text, "]}\n");
}

vyre_status vyre_plan_curve_write(const vyre_plan_point *points, uint32_t count,
                                  vyre_plan_format format, const vyre_allocator *allocator,
                                  vyre_plan_writer write, void *user, vyre_diag *diag) {
    if (!write || (count && !points) || (format != VYRE_PLAN_TABLE && format != VYRE_PLAN_JSON)) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "write a curve as a table or as JSON",
                         "writing a curve: an argument is NULL or the format is not for curves");
    }
    vyre_text text;
    vyre_text_init(&text, allocator);
    (format == VYRE_PLAN_JSON ? curve_json : curve_table)(&text, points, count);
    return deliver(&text, write, user, diag);
}
