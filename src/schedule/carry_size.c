/* Sizes of the carry. A buffer has at most 2^32 - 1 words, as indices are u32, and as many bytes as
 * the device allows. Where all slots of all lanes are more, they are spread evenly over as few
 * buffers as can hold them: of two grids of about the same size one layout then serves both. */
#include "schedule/carry_size.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"

typedef unsigned long long ull;

enum { NAMED = 3 }; /* carries in a message */

static const char less[] =
    "use fewer lanes, each with a loop over several elements, or keep less alive across barriers";

/* a * x + b * y, or UINT64_MAX if it is more. */
static uint64_t sum(uint64_t a, uint64_t x, uint64_t b, uint64_t y) {
    uint64_t first, second, total;
    bool fits = vyre_mul_u64(a, x, &first) && vyre_mul_u64(b, y, &second) &&
                vyre_add_u64(first, second, &total);
    return fits ? total : UINT64_MAX;
}

static uint64_t most_words(const vyre_carry_need *need) {
    uint64_t most = need->info->max_buffer_bytes / 4;
    return need->info->max_buffer_bytes && most < UINT32_MAX ? most : UINT32_MAX;
}

static uint64_t own_words(const vyre_carry_need *need, const vyre_carry_buffer *b) {
    return sum(b->lane_words, need->lanes, b->group_words, need->groups);
}

static uint64_t shared_words(const vyre_carry_need *need) {
    return sum(need->module->group_value_words, need->groups, 0, 0);
}

static uint64_t part_words(const vyre_carry_need *need) {
    return sum(need->module->part_words, need->groups, 0, 0);
}

uint64_t vyre_carry_own_bytes(const vyre_carry_need *need, const vyre_carry_buffer *buffer) {
    return 4 * own_words(need, buffer);
}

uint64_t vyre_carry_place_bytes(const vyre_carry_need *need, uint32_t place) {
    const vyre_module_view *m = need->module;
    switch (place) {
    case VYRE_PLACE_VALUES:
    case VYRE_PLACE_NEXT: return 4 * shared_words(need);
    case VYRE_PLACE_SCALARS: return 4 * (uint64_t)m->scalar_words;
    case VYRE_PLACE_PARTS: return 4 * part_words(need);
    case VYRE_PLACE_TURN: return 4 * (uint64_t)m->checks_turn;
    default: return 4 * (uint64_t)m->made_words;
    }
}

static bool is_per_group(const vyre_carry *carry) {
    return carry->kind == VYRE_CARRY_WORKGROUP || carry->kind == VYRE_CARRY_GROUP;
}

uint64_t vyre_carry_bytes(const vyre_carry *carry, uint64_t lanes, uint64_t groups) {
    const uint64_t copies = is_per_group(carry) ? groups : lanes;
    return 4 * (uint64_t)carry->words * copies; /* words are none where it is not stored */
}

/* Errors */

static uint64_t total_bytes(const vyre_carry_need *need) {
    const vyre_module_view *m = need->module;
    uint64_t carried = sum(4, sum(m->lane_words, need->lanes, m->group_words, need->groups), 8,
                           shared_words(need));
    return sum(1, sum(1, carried + 4 * (uint64_t)m->checks_turn, 4, part_words(need)), 4,
               2 * (uint64_t)m->made_words + m->scalar_words);
}

/* The next largest after `last`, in the order of bytes, then of the list; NULL: there is none. */
static const vyre_carry *next_largest(const vyre_carry_need *need, const vyre_carry *last) {
    const vyre_carry *best = NULL;
    uint64_t limit = last ? vyre_carry_bytes(last, need->lanes, need->groups) : UINT64_MAX;
    uint64_t most = 0;
    for (uint32_t i = 0; i < need->module->carry_count; i++) {
        const vyre_carry *carry = &need->module->carries[i];
        uint64_t bytes = vyre_carry_bytes(carry, need->lanes, need->groups);
        if (bytes > most && (bytes < limit || (bytes == limit && carry > last))) {
            most = bytes;
            best = carry;
        }
    }
    return best;
}

/* "acc 64 bytes for each of 1024 lanes, ..." */
static void name_largest(const vyre_carry_need *need, char *text, size_t size) {
    size_t used = 0;
    const vyre_carry *carry = NULL;
    text[0] = '\0';
    for (int i = 0; i < NAMED && (carry = next_largest(need, carry)) != NULL; i++) {
        const bool by_group = is_per_group(carry);
        int length =
            snprintf(text + used, size - used, "%s%.40s %llu bytes for each of %llu %s",
                     i ? ", " : "", carry->name, 4 * (ull)carry->words,
                     (ull)(by_group ? need->groups : need->lanes), by_group ? "groups" : "lanes");
        used += length > 0 && (size_t)length < size - used ? (size_t)length : 0;
    }
}

static vyre_status fail(const vyre_carry_need *need, vyre_status status, const char *why,
                        vyre_diag *diag) {
    char largest[240];
    name_largest(need, largest, sizeof largest);
    return vyre_fail(diag, status, less,
                     "what is alive across the grid barriers of %.60s needs %llu bytes on %s%s; "
                     "most of it: %s",
                     vyre_program_get(need->module->source)->name, (ull)total_bytes(need),
                     need->info->backend, why, largest);
}

vyre_status vyre_carry_fail_memory(const vyre_carry_need *need, vyre_diag *diag) {
    return fail(need, VYRE_OUT_OF_MEMORY, ", and there is not so much memory", diag);
}

/* A word of each lane or group must fit into one buffer. */
static vyre_status check_unit(const vyre_carry_need *need, uint64_t count, const char *what,
                              vyre_diag *diag) {
    char why[120];
    (void)snprintf(why, sizeof why, ", where one buffer has no room for a word of each of %llu %s",
                   (ull)count, what);
    return count <= most_words(need) ? VYRE_OK : fail(need, VYRE_LIMIT, why, diag);
}

static vyre_status check_sizes(const vyre_carry_need *need, vyre_diag *diag) {
    const vyre_module_view *m = need->module;
    char why[120];
    if (need->lanes > UINT32_MAX) {
        return fail(need, VYRE_LIMIT, ", and more than 4294967295 lanes can't be numbered", diag);
    }
    if (shared_words(need) > most_words(need) || part_words(need) > most_words(need)) {
        (void)snprintf(why, sizeof why,
                       ", where one buffer has no room for %u words of each of %llu groups",
                       m->group_value_words > m->part_words ? m->group_value_words : m->part_words,
                       (ull)need->groups);
        return fail(need, VYRE_LIMIT, why, diag);
    }
    if (need->info->memory_bytes && total_bytes(need) > need->info->memory_bytes) {
        (void)snprintf(why, sizeof why, ", which has %llu", (ull)need->info->memory_bytes);
        return fail(need, VYRE_OUT_OF_MEMORY, why, diag);
    }
    vyre_status status = m->lane_words ? check_unit(need, need->lanes, "lanes", diag) : VYRE_OK;
    return status == VYRE_OK && m->group_words ? check_unit(need, need->groups, "groups", diag)
                                               : status;
}

/* So many words of each that as few buffers as can be hold them, evenly. */
static uint32_t spread(uint32_t words, uint64_t each, uint64_t most, uint64_t *buffers) {
    if (words == 0) {
        return 0;
    }
    uint64_t count = vyre_ceil_div(words, most / each < words ? most / each : words);
    *buffers += count;
    return (uint32_t)vyre_ceil_div(words, count);
}

static bool fits(const vyre_carry_need *need) {
    const vyre_module_view *m = need->module;
    bool all = true;
    for (uint32_t i = 0; i < m->buffer_count; i++) {
        all = all && own_words(need, &m->buffers[i]) <= most_words(need);
    }
    return all;
}

vyre_status vyre_carry_check(const vyre_carry_need *need, vyre_split_options *how, bool *out_fits,
                             vyre_diag *diag) {
    vyre_status status = check_sizes(need, diag);
    *out_fits = status == VYRE_OK && fits(need);
    if (status != VYRE_OK || *out_fits) {
        return status;
    }
    const vyre_module_view *m = need->module;
    uint64_t most = most_words(need), buffers = 0;
    how->lane_words = spread(m->lane_words, need->lanes, most, &buffers);
    how->group_words = spread(m->group_words, need->groups, most, &buffers);
    return buffers <= VYRE_CARRY_BUFFERS
               ? VYRE_OK
               : fail(need, VYRE_LIMIT, ", in too many of its largest buffers", diag);
}
