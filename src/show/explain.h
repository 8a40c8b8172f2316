/* Modules as text; each renderer appends to a growing text. */
#ifndef VYRE_SRC_SHOW_EXPLAIN_H
#define VYRE_SRC_SHOW_EXPLAIN_H

#include "base/alloc.h"
#include "base/text.h"
#include "vyre/limits.h"
#include "vyre/split.h"

void vyre_explain_text(vyre_text *text, const vyre_module *module);
void vyre_explain_words(vyre_text *text, const vyre_module *module);
void vyre_explain_json(vyre_text *text, const vyre_module *module);
void vyre_explain_dot(vyre_text *text, const vyre_module *module);
void vyre_explain_svg(vyre_text *text, const vyre_module *module);

/* What the renderers say alike. */

/* "lane", "group", ...: a word for programs; "stored by each lane", ...: for people. */
const char *vyre_carry_kind_name(vyre_carry_kind kind);
const char *vyre_carry_kind_where(vyre_carry_kind kind);
/* Whose barriers the module is cut at: "grid" or "workgroup". */
const char *vyre_explain_scope(const vyre_module_view *view);
/* Whom a carry's words are for. */
typedef enum vyre_carry_owner { VYRE_OWNER_LANE, VYRE_OWNER_GROUP, VYRE_OWNERS } vyre_carry_owner;
vyre_carry_owner vyre_carry_owner_of(vyre_carry_kind kind);
/* Bytes alive behind a step, by owner. */
void vyre_explain_bytes(const vyre_step *step, uint64_t out_bytes[VYRE_OWNERS]);
/* The carries alive behind a step, those first that cost a group most; to be freed with the
 * allocator of the text, which fails when there is no memory. */
typedef struct vyre_explain_carry {
    uint64_t cost;
    uint32_t carry;
} vyre_explain_carry;
typedef struct vyre_explain_list {
    VYRE_VEC(vyre_explain_carry) of;
} vyre_explain_list;
void vyre_explain_alive(vyre_text *text, const vyre_module *module, uint32_t step,
                        vyre_explain_list *out_list);
/* Statements of the control program, each between the two texts: "level = level + 1". */
void vyre_explain_assignments(vyre_text *text, const vyre_module *module, vyre_stmt begin,
                              vyre_stmt end, const char *before, const char *behind);

/* The condition of a BRANCH step: "size != 0", "another trip of i". */
void vyre_explain_condition(vyre_text *text, const vyre_module *module, const vyre_step *step);
/* The operation over the grid that a step of one lane is part of. */
const char *vyre_explain_combine(const vyre_module *module, const vyre_step *step);
/* "grid_sync", or the collective or operation over the grid that lies behind the step. */
const char *vyre_explain_barrier(const vyre_module *module, const vyre_step *step);
/* Names of the regions around a step, outermost first; how many. */
uint32_t vyre_explain_regions(const vyre_module_view *view, const vyre_step *step,
                              const char *out_names[VYRE_LIMIT_NESTING]);
/* "line 12", or "an unknown line". */
void vyre_explain_line(vyre_text *text, vyre_place place);
/* Names of the buffers of the source that a segment only reads (or, `written`, may write),
 * separated by commas; how many there are. */
uint32_t vyre_explain_buffers(vyre_text *text, const vyre_module *module, uint32_t segment,
                              bool written);
/* The statements of a segment that come from the source, without what restores and stores state;
 * their number (0 when the source has no places) and, in *out_begin, the first. */
uint32_t vyre_explain_core(const vyre_module *module, uint32_t segment, vyre_stmt *out_begin);
/* A vyre_write_fn into a vyre_text. */
bool vyre_explain_write(void *text, const char *bytes, size_t length);

#endif
