/* Modules for graphviz: a box for each step with the beginning of its segment; edges are bold where
 * a grid barrier lies on them and tell what is carried. */
#include <inttypes.h>
#include <string.h>

#include "ir/print.h"
#include "show/explain.h"
#include "split/module.h"

enum { LINES = 5, COLUMNS = 60, NAMES = 6 };

/* Inside a string of DOT. */
static void quoted(vyre_text *text, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '"' || bytes[i] == '\\') {
            vyre_text_puts(text, "\\");
        }
        vyre_text_append(text, bytes + i, 1);
    }
}

static void first_lines(vyre_text *text, const vyre_text *buffer) {
    uint32_t lines = 0;
    text->failed |= buffer->failed;
    for (const char *at = vyre_text_string(buffer); *at && !buffer->failed; lines++) {
        size_t length = strcspn(at, "\n");
        if (lines < LINES) {
            quoted(text, at, length < COLUMNS ? length : COLUMNS);
            vyre_text_puts(text, length < COLUMNS ? "\\l" : " ...\\l");
        }
        at += length + (at[length] == '\n');
    }
    if (lines > LINES) {
        vyre_text_printf(text, "(%" PRIu32 " more)\\l", lines - LINES);
    }
}

/* What the schedule computes in the step. */
static void assignments(vyre_text *text, const vyre_module *module, const vyre_step *step) {
    vyre_text buffer;
    vyre_text_init(&buffer, &text->allocator);
    vyre_explain_assignments(&buffer, module, step->enter_begin, step->enter_end, "", "\n");
    vyre_explain_assignments(&buffer, module, step->leave_begin, step->leave_end, "then ", "\n");
    first_lines(text, &buffer);
    vyre_text_finish(&buffer);
}

/* The segment's own statements. */
static void code(vyre_text *text, const vyre_module *module, uint32_t segment) {
    vyre_text buffer;
    vyre_text_init(&buffer, &text->allocator);
    vyre_stmt begin;
    uint32_t count = vyre_explain_core(module, segment, &begin);
    vyre_print_stmts(module->segments[segment], begin, begin + count, vyre_explain_write, &buffer);
    first_lines(text, &buffer);
    vyre_text_finish(&buffer);
}

static void box(vyre_text *text, const vyre_module *module, uint32_t number) {
    const vyre_step *step = &module->view.steps[number];
    vyre_text_printf(text, "  s%" PRIu32 " [label=\"step %" PRIu32 ": ", number, number);
    if (step->segment == VYRE_NONE) {
        vyre_text_printf(text, "%s\\l", step->kind == VYRE_STEP_END ? "end" : "nothing to launch");
        assignments(text, module, step);
        vyre_text_puts(text, "\", style=dashed];\n");
        return;
    }
    const vyre_program_view *p = vyre_program_get(module->segments[step->segment]);
    vyre_text_printf(text, "%s, %" PRIu64 " statements\\l", p->name, p->stats.statements);
    if (step->combine != VYRE_NONE) {
        vyre_text_printf(text, "one lane: %s\\l", vyre_explain_combine(module, step));
    }
    assignments(text, module, step);
    code(text, module, step->segment);
    vyre_text_puts(text, "\"];\n");
}

static void edge(vyre_text *text, const vyre_module *module, uint32_t from, uint32_t to,
                 const char *answer) {
    const vyre_step *step = &module->view.steps[from];
    vyre_text_printf(text, "  s%" PRIu32 " -> s%" PRIu32 " [label=\"", from, to);
    if (answer) {
        vyre_text_printf(text, "%s: ", answer);
        vyre_text condition;
        vyre_text_init(&condition, &text->allocator);
        vyre_explain_condition(&condition, module, step);
        text->failed |= condition.failed;
        quoted(text, vyre_text_string(&condition), condition.length);
        vyre_text_finish(&condition);
        vyre_text_puts(text, "\\l");
    }
    if (step->sync) {
        vyre_text_printf(text, "%s, ", vyre_explain_barrier(module, step));
        vyre_explain_line(text, step->place);
        vyre_text_puts(text, "\\l");
    }
    vyre_explain_list alive;
    vyre_explain_alive(text, module, from, &alive);
    const uint32_t count = alive.of.count;
    for (uint32_t i = 0; i < count && i < NAMES; i++) {
        const vyre_carry *carry = &module->view.carries[alive.of.data[i].carry];
        vyre_text_printf(text, "%s (%s)\\l", carry->name, vyre_carry_kind_name(carry->kind));
    }
    if (count > NAMES) {
        vyre_text_printf(text, "(%" PRIu32 " more)\\l", count - NAMES);
    }
    vyre_vec_free(&text->allocator, &alive.of);
    vyre_text_printf(text, "\"%s];\n", step->sync ? ", style=bold, color=\"#b91c1c\"" : "");
}

void vyre_explain_dot(vyre_text *text, const vyre_module *module) {
    const vyre_module_view *v = &module->view;
    vyre_text_printf(text,
                     "digraph %s {\n  node [shape=box, fontname=monospace];\n"
                     "  edge [fontname=monospace, fontsize=10];\n",
                     vyre_program_get(v->source)->name);
    for (uint32_t i = 0; i < v->step_count; i++) {
        box(text, module, i);
    }
    for (uint32_t i = 0; i < v->step_count; i++) {
        const vyre_step *step = &v->steps[i];
        bool branches = step->kind == VYRE_STEP_BRANCH;
        if (step->kind != VYRE_STEP_END) {
            edge(text, module, i, step->next, branches ? "yes" : NULL);
        }
        if (branches) {
            edge(text, module, i, step->otherwise, "no");
        }
    }
    vyre_text_puts(text, "}\n");
}
