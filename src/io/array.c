/* Typed arrays, and the one builder of CSR graphs.
 *
 * The builder is a radix sort with two digits, column then row: each pass counts, forms offsets and
 * moves entries in order, so equal places stay in the order given and sums are the same on every
 * machine. It needs 8 bytes per entry and 4 per row and column beside its result. */
#include "io/array.h"

#include <string.h>

#include "base/checked.h"
#include "base/diag.h"

enum { ALIGN = 16 };

vyre_status vyre_array_create(vyre_type type, uint64_t count, const vyre_allocator *a,
                              vyre_array *out, vyre_diag *diag) {
    size_t size;
    if (count > UINT32_MAX) {
        return vyre_fail(diag, VYRE_LIMIT, "use fewer elements",
                         "%llu elements, but a buffer holds at most 4294967295",
                         (unsigned long long)count);
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
        return vyre_fail(diag, VYRE_LIMIT, "use fewer elements",
                         "%llu elements, but a buffer holds at most 4294967295",
                         (unsigned long long)count);
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

/* offsets[k] = number of keys below k, for k in [0, kinds]. */
static void count_keys(const uint32_t *keys, size_t count, uint32_t *offsets, uint32_t kinds) {
    memset(offsets, 0, ((size_t)kinds + 1) * sizeof *offsets);
    for (size_t i = 0; i < count; i++) {
        offsets[keys[i]]++;
    }
    uint32_t sum = 0;
    for (size_t k = 0; k <= kinds; k++) {
        uint32_t here = k < kinds ? offsets[k] : 0;
        offsets[k] = sum;
        sum += here;
    }
}

/* Scratch of one build. Both arrays are used twice, see merge_places. */
typedef struct sorting {
    uint32_t *offsets; /* one more than the larger dimension */
    uint32_t *first;   /* by column: rows; then: distinct columns by row */
    uint32_t *second;  /* by column: entry numbers; then: place of each entry in the result */
} sorting;

/* Leaves in e->row the numbers of the entries by row, then column, then given order, and in
 * s->offsets[r] the end of row r in that list. */
static void sort_entries(const vyre_entries *e, uint32_t rows, uint32_t columns, sorting *s) {
    size_t count = (size_t)e->count;
    count_keys(e->column, count, s->offsets, columns);
    for (size_t i = 0; i < count; i++) {
        uint32_t to = s->offsets[e->column[i]]++;
        s->first[to] = e->row[i];
        s->second[to] = (uint32_t)i;
    }
    count_keys(s->first, count, s->offsets, rows);
    for (size_t i = 0; i < count; i++) {
        e->row[s->offsets[s->first[i]]++] = s->second[i];
    }
}

/* Fills `row`, lists the columns of the distinct places in s->first and tells for each sorted entry
 * its place in s->second. Returns the number of places. */
static uint32_t merge_places(const vyre_entries *e, uint32_t rows, sorting *s, uint32_t *row) {
    uint32_t places = 0;
    size_t k = 0;
    row[0] = 0;
    for (uint32_t r = 0; r < rows; r++) {
        for (size_t begin = k; k < s->offsets[r]; k++) {
            uint32_t column = e->column[e->row[k]];
            if (k == begin || s->first[places - 1] != column) {
                s->first[places++] = column;
            }
            s->second[k] = places - 1;
        }
        row[r + 1] = places;
    }
    return places;
}

typedef union value {
    uint32_t u32;
    int32_t i32;
    float f32;
    double f64;
} value;

/* Adds `from` to `to`; false when an integer sum does not fit. */
static bool add_value(vyre_type type, void *to, const void *from) {
    size_t size = vyre_type_size(type);
    value x, y;
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

static vyre_status sum_overflows(const vyre_csr *csr, uint32_t place, vyre_diag *diag) {
    const uint32_t *row = csr->row.data, *col = csr->col.data;
    uint32_t r = 0;
    while (row[r + 1] <= place) {
        r++;
    }
    return vyre_fail(diag, VYRE_INVALID_INPUT, "merge the entries before, or use a float type",
                     "the values given for row %u, column %u (from 1) add up beyond %s", r + 1,
                     col[place] + 1, vyre_type_name(csr->val.type));
}

static vyre_status merge_values(const vyre_entries *e, const sorting *s, vyre_csr *csr,
                                vyre_diag *diag) {
    size_t size = vyre_type_size(e->type);
    char *to = csr->val.data;
    const char *from = e->values;
    for (size_t k = 0; k < e->count; k++) {
        uint32_t place = s->second[k];
        char *there = to + place * size;
        const char *here = from + e->row[k] * size;
        if (k == 0 || s->second[k - 1] != place) {
            memcpy(there, here, size);
        } else if (e->merge == VYRE_MERGE_SUM && !add_value(e->type, there, here)) {
            return sum_overflows(csr, place, diag);
        }
    }
    return VYRE_OK;
}

static vyre_status build(const vyre_entries *e, const vyre_allocator *a, sorting *s, vyre_csr *csr,
                         vyre_diag *diag) {
    sort_entries(e, csr->rows, csr->columns, s);
    vyre_status status = vyre_array_create(VYRE_U32, (uint64_t)csr->rows + 1, a, &csr->row, diag);
    if (status != VYRE_OK) {
        return status;
    }
    uint32_t places = merge_places(e, csr->rows, s, csr->row.data);
    status = vyre_array_create(VYRE_U32, places, a, &csr->col, diag);
    if (status != VYRE_OK) {
        return status;
    }
    memcpy(csr->col.data, s->first, places * sizeof *s->first);
    if (!e->values) {
        return VYRE_OK;
    }
    status = vyre_array_create(e->type, places, a, &csr->val, diag);
    return status == VYRE_OK ? merge_values(e, s, csr, diag) : status;
}

vyre_status vyre_csr_build(uint32_t rows, uint32_t columns, const vyre_entries *entries,
                           const vyre_allocator *a, vyre_csr *out, vyre_diag *diag) {
    if (entries->count > UINT32_MAX) {
        return vyre_fail(diag, VYRE_LIMIT, "use a smaller graph",
                         "%llu entries, but offsets of rows have 32 bits",
                         (unsigned long long)entries->count);
    }
    vyre_allocator allocator = vyre_allocator_or_system(a);
    size_t count = (size_t)entries->count, kinds = (size_t)(rows > columns ? rows : columns) + 1;
    sorting s = {.offsets = vyre_alloc(&allocator, kinds, sizeof *s.offsets),
                 .first = vyre_alloc(&allocator, count, sizeof *s.first),
                 .second = vyre_alloc(&allocator, count, sizeof *s.second)};
    vyre_csr csr = {.rows = rows, .columns = columns};
    vyre_status status = s.offsets && s.first && s.second
                             ? build(entries, &allocator, &s, &csr, diag)
                             : vyre_fail_memory(diag, "sorting a graph");
    vyre_free(&allocator, s.offsets, kinds, sizeof *s.offsets);
    vyre_free(&allocator, s.first, count, sizeof *s.first);
    vyre_free(&allocator, s.second, count, sizeof *s.second);
    if (status != VYRE_OK) {
        vyre_csr_finish(&csr);
        return status;
    }
    *out = csr;
    return VYRE_OK;
}
