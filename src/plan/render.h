/* Plans as text; each appends to a growing text. */
#ifndef VYRE_SRC_PLAN_RENDER_H
#define VYRE_SRC_PLAN_RENDER_H

#include "base/text.h"
#include "vyre/plan.h"

/* What is shown. The costs of groups are computed here, since any checked plan may be shown. */
typedef struct vyre_plan_view {
    const vyre_wave_set *set;
    const vyre_plan *plan;
    const vyre_plan_memory *memory; /* or NULL */
} vyre_plan_view;

void vyre_plan_render_table(vyre_text *text, const vyre_plan_view *view);
void vyre_plan_render_json(vyre_text *text, const vyre_plan_view *view);
void vyre_plan_render_dot(vyre_text *text, const vyre_plan_view *view);
void vyre_plan_render_svg(vyre_text *text, const vyre_plan_view *view);

/* Cost of one wave and of one group; both fit, since the plan passed the check. */
uint64_t vyre_plan_view_wave(const vyre_plan_view *view, uint32_t wave);
uint64_t vyre_plan_view_group(const vyre_plan_view *view, uint32_t group);
/* "at most 2 groups above the optimum", "optimal". */
void vyre_plan_render_gap(vyre_text *text, const vyre_plan *plan);

/* A wave's name with the characters that the format reserves written as it demands. */
typedef enum vyre_plan_quoting {
    VYRE_QUOTE_PLAIN,
    VYRE_QUOTE_JSON,
    VYRE_QUOTE_XML
} vyre_plan_quoting;
void vyre_plan_render_name(vyre_text *text, const vyre_wave_set *set, uint32_t wave,
                           vyre_plan_quoting quoting);

#endif
