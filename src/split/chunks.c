/* Chunks: all words in one buffer, slots of lanes before blocks of groups; or, where a buffer may
 * hold only so many of them, runs of slots in buffers of their own, then runs of words of groups.
 * All runs of a kind but the last are equally long, so that a word is found by one division. Values
 * of 64 bits have both words in one run, unless runs are single words. */
#include "split/chunks.h"

#include <stdio.h>

#include "base/checked.h"
#include "base/diag.h"

/* The name, and a number from the second on. */
static void name_buffer(vyre_module *m, uint32_t buffer, const char *name, uint32_t number) {
    char *to = m->buffer_names[buffer];
    const size_t room = sizeof m->buffer_names[buffer];
    if (number == 0) {
        (void)snprintf(to, room, "%s", name);
    } else {
        (void)snprintf(to, room, "%s%lu", name, (unsigned long)number + 1);
    }
    m->buffers[buffer].name = to;
}

static void lay_out(vyre_module *m, uint32_t lane_most, uint32_t group_most, bool apart) {
    const vyre_module_view *v = &m->view;
    uint32_t buffer = 0;
    for (uint32_t at = 0; at < v->lane_words; at += lane_most, buffer++) {
        uint32_t left = v->lane_words - at;
        m->buffers[buffer].lane_first = at;
        m->buffers[buffer].lane_words = left < lane_most ? left : lane_most;
        name_buffer(m, buffer, m->names.lane, buffer);
    }
    if (!apart) {
        m->buffers[0].group_words = v->group_words;
        name_buffer(m, 0, m->names.lane, 0);
        return;
    }
    for (uint32_t at = 0, number = 0; at < v->group_words; at += group_most, number++, buffer++) {
        uint32_t left = v->group_words - at;
        m->buffers[buffer].group_first = at;
        m->buffers[buffer].group_words = left < group_most ? left : group_most;
        name_buffer(m, buffer, m->names.group_memory, number);
    }
}

/* No border within a value of 64 bits, where more than one word fits. */
static uint32_t keep_pairs(uint32_t most, bool pairs) {
    return pairs && most > 1 ? most - most % 2 : most;
}

vyre_status vyre_chunks_init(vyre_module *m, const vyre_carry_plan *plan,
                             const vyre_split_options *options, vyre_diag *diag) {
    uint32_t lanes = plan->lane_words, groups = plan->group_words;
    bool apart = options->lane_words || options->group_words;
    uint32_t lane_most = apart && options->lane_words ? options->lane_words : UINT32_MAX;
    uint32_t group_most = apart && options->group_words ? options->group_words : UINT32_MAX;
    m->narrow_lanes = lane_most == 1;
    m->narrow_groups = group_most == 1;
    lane_most = keep_pairs(lane_most, plan->lane_pairs);
    group_most = keep_pairs(group_most, plan->group_pairs);
    uint64_t count = apart ? vyre_ceil_div(lanes, lane_most) + vyre_ceil_div(groups, group_most)
                           : (lanes || groups);
    if (count > VYRE_CARRY_BUFFERS) {
        return vyre_fail(diag, VYRE_LIMIT, "allow more words in a buffer",
                         "%u words of a lane and %u of a group would need %llu buffers, and there "
                         "may be %d",
                         lanes, groups, (unsigned long long)count, (int)VYRE_CARRY_BUFFERS);
    }
    m->buffers = vyre_alloc_zeroed(&m->allocator, (size_t)count, sizeof *m->buffers);
    m->buffer_names = vyre_alloc_zeroed(&m->allocator, (size_t)count, sizeof *m->buffer_names);
    m->view.buffer_count = (uint32_t)count;
    m->view.lane_words = lanes;
    m->view.group_words = groups;
    if (!m->buffers || !m->buffer_names) {
        return vyre_fail_memory(diag, "splitting");
    }
    m->view.buffers = m->buffers;
    if (count > 0) {
        lay_out(m, lane_most < lanes ? lane_most : lanes, group_most < groups ? group_most : groups,
                apart);
    }
    return VYRE_OK;
}

/* The first buffer with words of groups. */
static uint32_t first_of_groups(const vyre_module_view *v) {
    const vyre_carry_buffer *first = v->buffers;
    return first->group_words ? 0 : (uint32_t)vyre_ceil_div(v->lane_words, first->lane_words);
}

uint32_t vyre_chunk_of(const vyre_module_view *module, bool by_group, uint32_t word) {
    if (!by_group) {
        return word / module->buffers[0].lane_words;
    }
    uint32_t first = first_of_groups(module);
    return first + word / module->buffers[first].group_words;
}

uint32_t vyre_chunk_end(const vyre_module_view *module, bool by_group, uint32_t buffer) {
    const vyre_carry_buffer *in = &module->buffers[buffer];
    return by_group ? in->group_first + in->group_words : in->lane_first + in->lane_words;
}
