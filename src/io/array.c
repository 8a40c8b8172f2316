/* Typed arrays, and the one builder of CSR graphs.
 *
 * The builder is a radix sort over (row, column) with digits small enough that the ends of all
 * buckets stay in the cache. Every pass is stable, so equal places keep the order given and sums
 * are the same on every machine. Beside its result it needs 8 bytes per entry, 16 with values. */
#include "io/array.h"

#include <string.h>

#include "base/checked.h"
#include "base/diag.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files hold elements as they are stored");

enum { ALIGN = 16, DIGIT = 11 };

static vyre_status too_long(uint64_t count, vyre_diag *diag) {
    return vyre_fail(diag, VYRE_LIMIT, "use fewer elements",
                     "%llu elements, but a buffer holds at most 4294967295",
                     (unsigned long long)count);
}

vyre_status vyre_array_create(vyre_type type, uint64_t count, const vyre_allocator *a,
                              vyre_array *out, vyre_diag *diag) {
    size_t size;
    if (count > UINT32_MAX) {
        return too_long(count, diag);
    }
    vyre_array array = {.type = type, .count = count};
    array.block.allocator = vyre_allocator_or_system(a);
    if (vyre_mul_size((size_t)count, vyre_type_size(type), &size)) {
        array.block.size = array.block.capacity = size;
        array.block.data = vyre_alloc(&array.block.allocator, size, 1);
    }
    if (!array.block.data) {
        return vyre_fail_memory(diag, "an array");
    }
    array.data = array.block.data;
    *out = array;
    return VYRE_OK;
}

vyre_status vyre_array_adopt(vyre_type type, vyre_bytes *bytes, size_t offset, vyre_array *out,
                             vyre_diag *diag) {
    size_t size = bytes->size - offset;
    uint64_t count = size / vyre_type_size(type);
    if (count > UINT32_MAX) {
        return too_long(count, diag);
    }
    if (offset % ALIGN != 0) {
        memmove(bytes->data, bytes->data + offset, size);
        offset = 0;
    }
    *out = (vyre_array){.type = type, .count = count, .data = bytes->data + offset};
    out->block = *bytes;
    *bytes = (vyre_bytes){.allocator = bytes->allocator};
    return VYRE_OK;
}

void vyre_array_finish(vyre_array *array) {
    vyre_bytes_finish(&array->block);
    array->data = NULL;
    array->count = 0;
}

void vyre_csr_finish(vyre_csr *csr) {
    vyre_array_finish(&csr->row);
    vyre_array_finish(&csr->col);
    vyre_array_finish(&csr->val);
}

/* What is sorted: places, and with values the number of each entry. `other_` is the room that the
 * next pass writes to. */
typedef struct sorting {
    size_t count;
    uint64_t *places, *other_places;
    uint32_t *numbers, *other_numbers; /* NULL without values */
} sorting;

/* One stable pass by DIGIT bits of the places. */
static void sort_pass(sorting *s, unsigned shift) {
    uint32_t offsets[1 << DIGIT] = {0};
    const uint64_t mask = (1 << DIGIT) - 1;
    for (size_t i = 0; i < s->count; i++) {
        offsets[s->places[i] >> shift & mask]++;
    }
    uint32_t sum = 0;
    for (size_t d = 0; d <= mask; d++) {
        uint32_t here = offsets[d];
        offsets[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < s->count; i++) {
        uint32_t to = offsets[s->places[i] >> shift & mask]++;
        s->other_places[to] = s->places[i];
        if (s->numbers) {
            s->other_numbers[to] = s->numbers[i];
        }
    }
    uint64_t *places = s->places;
    s->places = s->other_places;
    s->other_places = places;
    uint32_t *numbers = s->numbers;
    s->numbers = s->other_numbers;
    s->other_numbers = numbers;
}

/* By column, then by row; only over the bits that the largest indices have. */
static void sort_places(sorting *s, uint32_t rows, uint32_t columns) {
    const uint32_t largest[2] = {columns ? columns - 1 : 0, rows ? rows - 1 : 0};
    for (unsigned part = 0; part < 2; part++) {
        for (unsigned shift = 0; shift < 32 && largest[part] >> shift; shift += DIGIT) {
            sort_pass(s, 32 * part + shift);
        }
    }
}

/* Adds `from` to `to`; false when an integer sum does not fit. */
static bool add_value(vyre_type type, void *to, const void *from) {
    size_t size = vyre_type_size(type);
    vyre_number x, y;
    memcpy(&x, to, size);
    memcpy(&y, from, size);
    bool fits = true;
    if (type == VYRE_U32) {
        fits = !__builtin_add_overflow(x.u32, y.u32, &x.u32);
    } else if (type == VYRE_I32) {
        fits = !__builtin_add_overflow(x.i32, y.i32, &x.i32);
    } else if (type == VYRE_F32) {
        x.f32 += y.f32;
    } else {
        x.f64 += y.f64;
    }
    memcpy(to, &x, size);
    return fits;
}

static vyre_status sum_overflows(uint64_t place, vyre_type type, vyre_diag *diag) {
    return vyre_fail(diag, VYRE_INVALID_INPUT, "merge the entries before, or use a float type",
                     "the values given for row %u, column %u (from 1) add up beyond %s",
                     (unsigned)(place >> 32) + 1, (unsigned)place + 1, vyre_type_name(type));
}

static uint64_t count_distinct(const sorting *s) {
    uint64_t distinct = 0;
    for (size_t i = 0; i < s->count; i++) {
        distinct += i == 0 || s->places[i] != s->places[i - 1];
    }
    return distinct;
}

/* Fills the arrays from the sorted places. */
static vyre_status fill(const vyre_entries *e, const sorting *s, vyre_csr *csr, vyre_diag *diag) {
    uint32_t *row = csr->row.data, *col = csr->col.data;
    uint32_t r = 0, filled = 0; /* rows up to r have their beginning */
    size_t size = vyre_type_size(e->type);
    char *to = csr->val.data;
    const char *from = e->values;
    row[0] = 0;
    for (size_t i = 0; i < s->count; i++) {
        uint64_t place = s->places[i];
        bool first = i == 0 || place != s->places[i - 1];
        if (first) {
            while (r < place >> 32) {
                row[++r] = filled;
            }
            col[filled++] = (uint32_t)place;
        }
        if (from) {
            char *there = to + (filled - 1) * size;
            const char *here = from + s->numbers[i] * size;
            if (first) {
                memcpy(there, here, size);
            } else if (e->merge == VYRE_MERGE_SUM && !add_value(e->type, there, here)) {
                return sum_overflows(place, e->type, diag);
            }
        }
    }
    while (r < csr->rows) {
        row[++r] = filled;
    }
    return VYRE_OK;
}

static vyre_status build(const vyre_entries *e, const vyre_allocator *a, sorting *s, vyre_csr *csr,
                         vyre_diag *diag) {
    for (size_t i = 0; i < s->count && s->numbers; i++) {
        s->numbers[i] = (uint32_t)i;
    }
    sort_places(s, csr->rows, csr->columns);
    uint64_t distinct = count_distinct(s);
    vyre_status status = vyre_array_create(VYRE_U32, (uint64_t)csr->rows + 1, a, &csr->row, diag);
    if (status == VYRE_OK) {
        status = vyre_array_create(VYRE_U32, distinct, a, &csr->col, diag);
    }
    if (status == VYRE_OK && e->values) {
        status = vyre_array_create(e->type, distinct, a, &csr->val, diag);
    }
    return status == VYRE_OK ? fill(e, s, csr, diag) : status;
}

vyre_status vyre_csr_build(uint32_t rows, uint32_t columns, const vyre_entries *entries,
                           const vyre_allocator *a, vyre_csr *out, vyre_diag *diag) {
    if (entries->count > UINT32_MAX) {
        return vyre_fail(diag, VYRE_LIMIT, "use a smaller graph",
                         "%llu entries, but offsets of rows have 32 bits",
                         (unsigned long long)entries->count);
    }
    vyre_allocator allocator = vyre_allocator_or_system(a);
    size_t count = (size_t)entries->count, numbered = entries->values ? count : 0;
    uint64_t *places = vyre_alloc(&allocator, count, sizeof *places);
    uint32_t *numbers = vyre_alloc(&allocator, numbered, 2 * sizeof *numbers);
    vyre_csr csr = {.rows = rows, .columns = columns};
    vyre_status status;
    if (places && numbers) {
        sorting s = {.count = count, .places = entries->places, .other_places = places};
        if (numbered) {
            s.numbers = numbers;
            s.other_numbers = numbers + count;
        }
        status = build(entries, &allocator, &s, &csr, diag);
    } else {
        status = vyre_fail_memory(diag, "sorting a graph");
    }
    vyre_free(&allocator, places, count, sizeof *places);
    vyre_free(&allocator, numbers, numbered, 2 * sizeof *numbers);
    if (status != VYRE_OK) {
        vyre_csr_finish(&csr);
        return status;
    }
    *out = csr;
    return VYRE_OK;
}
