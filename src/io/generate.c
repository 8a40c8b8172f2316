/* Generators. All arithmetic is on integers or exact in floats (24 or 53 bits over a power of two),
 * so the bytes do not depend on the machine. */
#include "io/generate.h"

#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "base/half.h"

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t draw(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Element i of a float array from its value as f32 or f64. */
static void put_float(vyre_type type, void *data, size_t i, float narrow, double wide) {
    if (type == VYRE_F64) {
        ((double *)data)[i] = wide;
    } else if (type == VYRE_F32) {
        ((float *)data)[i] = narrow;
    } else {
        ((uint16_t *)data)[i] =
            type == VYRE_F16 ? vyre_f16_from_f32(narrow) : vyre_bf16_from_f32(narrow);
    }
}

/* Element i of an integer or bool array: the low bits. */
static void put_low_bits(vyre_type type, void *data, size_t i, uint64_t bits) {
    switch (vyre_type_size(type)) {
    case 1: ((uint8_t *)data)[i] = (uint8_t)bits; break;
    case 2: ((uint16_t *)data)[i] = (uint16_t)bits; break;
    case 4: ((uint32_t *)data)[i] = (uint32_t)(type == VYRE_BOOL ? bits & 1 : bits); break;
    default: ((uint64_t *)data)[i] = bits; break;
    }
}

static void put_number(vyre_type type, void *data, size_t i, uint64_t number) {
    if (vyre_type_is_float(type)) {
        put_float(type, data, i, (float)number, (double)number);
    } else {
        put_low_bits(type, data, i, number);
    }
}

vyre_status vyre_generate_zeros(vyre_type type, uint64_t count, const vyre_allocator *a,
                                vyre_array *out, vyre_diag *diag) {
    vyre_status status = vyre_array_create(type, count, a, out, diag);
    if (status == VYRE_OK) {
        memset(out->data, 0, vyre_array_size(out));
    }
    return status;
}

vyre_status vyre_generate_iota(vyre_type type, uint64_t count, const vyre_allocator *a,
                               vyre_array *out, vyre_diag *diag) {
    vyre_status status = vyre_array_create(type, count, a, out, diag);
    if (status != VYRE_OK) {
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        put_number(type, out->data, i, i);
    }
    return VYRE_OK;
}

vyre_status vyre_generate_random(vyre_type type, uint64_t count, uint64_t seed,
                                 const vyre_allocator *a, vyre_array *out, vyre_diag *diag) {
    vyre_status status = vyre_array_create(type, count, a, out, diag);
    if (status != VYRE_OK) {
        return status;
    }
    bool is_float = vyre_type_is_float(type);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = draw(&seed);
        if (is_float) {
            put_float(type, out->data, i, (float)(bits >> 40) * 0x1p-24f,
                      (double)(bits >> 11) * 0x1p-53);
        } else {
            put_low_bits(type, out->data, i, bits);
        }
    }
    return VYRE_OK;
}

/* Hands over a generated graph, with ones as values if those are wanted. */
static vyre_status hand_over(vyre_csr *csr, vyre_type value, const vyre_allocator *a, vyre_csr *out,
                             vyre_diag *diag) {
    if (value != VYRE_VOID) {
        vyre_status status = vyre_array_create(value, csr->col.count, a, &csr->val, diag);
        if (status != VYRE_OK) {
            vyre_csr_finish(csr);
            return status;
        }
        for (size_t i = 0; i < csr->val.count; i++) {
            put_number(value, csr->val.data, i, 1);
        }
    }
    *out = *csr;
    return VYRE_OK;
}

/* One edge: a quadrant per level, high bit first. The draws are compared as integers, which is
 * exact: .57, .76 and .95 lie in [.5, 1) and so are multiples of 2^-53. */
static void draw_edge(uint64_t scale, uint64_t *state, uint32_t *row, uint32_t *column) {
    const uint64_t a = (uint64_t)(0.57 * 0x1p53), b = (uint64_t)(0.76 * 0x1p53),
                   c = (uint64_t)(0.95 * 0x1p53);
    uint32_t to_row = 0, to_column = 0;
    for (uint64_t level = 0; level < scale; level++) {
        uint64_t u = draw(state) >> 11;
        to_row = to_row << 1 | (u >= b);
        to_column = to_column << 1 | ((u >= a) ^ (u >= b) ^ (u >= c));
    }
    *row = to_row;
    *column = to_column;
}

vyre_status vyre_generate_rmat(uint64_t scale, uint64_t edge_factor, uint64_t seed, vyre_type value,
                               const vyre_allocator *a, vyre_csr *out, vyre_diag *diag) {
    vyre_allocator allocator = vyre_allocator_or_system(a);
    uint64_t entries;
    if (scale > 31 || !vyre_mul_u64(edge_factor, UINT64_C(2) << scale, &entries) ||
        entries > UINT32_MAX) {
        return vyre_fail(diag, VYRE_LIMIT, "use a smaller scale or edge factor",
                         "rmat with scale %llu and edge factor %llu: more than 2^31 vertices or "
                         "2^32-1 entries",
                         (unsigned long long)scale, (unsigned long long)edge_factor);
    }
    vyre_entries e = {.places = vyre_alloc(&allocator, (size_t)entries, sizeof *e.places)};
    vyre_csr csr;
    vyre_status status = VYRE_OK;
    if (!e.places) {
        status = vyre_fail_memory(diag, "the edges of a graph");
    }
    for (uint64_t i = 0; i < entries / 2 && status == VYRE_OK; i++) {
        uint32_t r, c;
        draw_edge(scale, &seed, &r, &c);
        if (r != c) {
            e.places[e.count++] = vyre_entry_place(r, c);
            e.places[e.count++] = vyre_entry_place(c, r);
        }
    }
    if (status == VYRE_OK) {
        uint32_t vertices = UINT32_C(1) << scale;
        status = vyre_csr_build(vertices, vertices, &e, &allocator, &csr, diag);
    }
    vyre_free(&allocator, e.places, (size_t)entries, sizeof *e.places);
    return status == VYRE_OK ? hand_over(&csr, value, a, out, diag) : status;
}

static void fill_grid(uint32_t width, uint32_t height, uint32_t *row, uint32_t *col) {
    uint32_t entries = 0, vertex = 0;
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++, vertex++) {
            row[vertex] = entries;
            if (y > 0) {
                col[entries++] = vertex - width;
            }
            if (x > 0) {
                col[entries++] = vertex - 1;
            }
            if (x + 1 < width) {
                col[entries++] = vertex + 1;
            }
            if (y + 1 < height) {
                col[entries++] = vertex + width;
            }
        }
    }
    row[vertex] = entries;
}

vyre_status vyre_generate_grid(uint64_t width, uint64_t height, vyre_type value,
                               const vyre_allocator *a, vyre_csr *out, vyre_diag *diag) {
    uint64_t vertices;
    if (width == 0 || height == 0) {
        return vyre_fail(diag, VYRE_INVALID_INPUT, "give both sides at least 1",
                         "a grid needs a width and a height");
    }
    if (!vyre_mul_u64(width, height, &vertices) || vertices > UINT32_MAX / 4) {
        return vyre_fail(diag, VYRE_LIMIT, "use a smaller grid",
                         "a grid of %llu x %llu has more than 2^30-1 vertices",
                         (unsigned long long)width, (unsigned long long)height);
    }
    uint64_t edges = (width - 1) * height + (height - 1) * width;
    vyre_csr csr = {.rows = (uint32_t)vertices, .columns = (uint32_t)vertices};
    vyre_status status = vyre_array_create(VYRE_U32, vertices + 1, a, &csr.row, diag);
    if (status == VYRE_OK) {
        status = vyre_array_create(VYRE_U32, 2 * edges, a, &csr.col, diag);
    }
    if (status != VYRE_OK) {
        vyre_csr_finish(&csr);
        return status;
    }
    fill_grid((uint32_t)width, (uint32_t)height, csr.row.data, csr.col.data);
    return hand_over(&csr, value, a, out, diag);
}
