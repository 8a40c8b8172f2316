/* Inputs from fixed seeds, the same for all contestants, and the comparison of their outputs. */
#include <math.h>

#include "compare.h"
#include "io/generate.h"

uint64_t instance_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

bool add_bytes(bench_instance *i, void *data, size_t bytes) {
    if (!data || i->in_count == PEER_INPUTS) {
        fprintf(stderr, "bench: out of memory\n");
        free(data);
        return false;
    }
    i->data.in[i->in_count] = data;
    i->data.in_bytes[i->in_count++] = bytes;
    return true;
}

static bool add_array(bench_instance *i, vyre_array *array) {
    size_t bytes = vyre_array_size(array);
    void *copy = malloc(bytes + 1);
    if (copy && bytes) {
        memcpy(copy, array->data, bytes);
    }
    vyre_array_finish(array);
    return add_bytes(i, copy, bytes);
}

bool add_input(bench_instance *i, vyre_type type, uint64_t count, uint64_t seed) {
    vyre_array array;
    vyre_diag diag = {0};
    if (vyre_generate_random(type, count, seed, NULL, &array, &diag) != VYRE_OK) {
        fprintf(stderr, "bench: %s\n", diag.message);
        return false;
    }
    return add_array(i, &array);
}

void add_output(bench_instance *i, size_t bytes) {
    i->data.out_bytes[i->out_count++] = bytes;
}

static bool add_csr(bench_instance *i, vyre_csr *csr) {
    bool row = add_array(i, &csr->row);
    return add_array(i, &csr->col) && row;
}

bool add_rmat(bench_instance *i, uint64_t scale, uint64_t edge_factor) {
    vyre_csr csr;
    vyre_diag diag = {0};
    if (vyre_generate_rmat(scale, edge_factor, 1, VYRE_VOID, NULL, &csr, &diag) != VYRE_OK) {
        fprintf(stderr, "bench: %s\n", diag.message);
        return false;
    }
    return add_csr(i, &csr);
}

bool add_grid(bench_instance *i, uint64_t width, uint64_t height) {
    vyre_csr csr;
    vyre_diag diag = {0};
    if (vyre_generate_grid(width, height, VYRE_VOID, NULL, &csr, &diag) != VYRE_OK) {
        fprintf(stderr, "bench: %s\n", diag.message);
        return false;
    }
    return add_csr(i, &csr);
}

bool add_both(bench_instance *i, vyre_type type, uint64_t count) {
    add_output(i, count * vyre_type_size(type));
    return add_input(i, type, count, 11);
}

bool instance_make(const bench_workload *of, bench_scale scale, bench_instance *out) {
    *out = (bench_instance){.of = of};
    memcpy(out->data.size, of->size[scale], sizeof out->data.size);
    return of->make(out);
}

void instance_finish(bench_instance *i) {
    for (uint32_t k = 0; k < i->in_count; k++) {
        free((void *)(uintptr_t)i->data.in[k]);
    }
}

double instance_size(const bench_instance *i, int which) {
    return (double)i->data.size[which];
}

double instance_bytes(const bench_instance *i) {
    double sum = 0.0;
    for (uint32_t k = 0; k < i->in_count; k++) {
        sum += (double)i->data.in_bytes[k];
    }
    for (uint32_t k = 0; k < i->out_count; k++) {
        sum += (double)i->data.out_bytes[k];
    }
    return sum;
}

double limit_once(const bench_instance *i, const peer_limits *l) {
    return instance_bytes(i) / l->dram;
}

/* Comparison */

static double value_at(vyre_type type, const void *data, size_t i) {
    return type == VYRE_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* Floats: the largest difference against the largest value. */
static bool floats_agree(const bench_output *o, const void *got, const void *want, size_t count,
                         uint32_t index, char message[MESSAGE]) {
    double largest = 0.0, worst = 0.0;
    size_t where = 0;
    for (size_t i = 0; i < count; i++) {
        double a = value_at(o->type, got, i), b = value_at(o->type, want, i);
        double difference = isfinite(a) && isfinite(b) ? fabs(a - b) : INFINITY;
        largest = fabs(b) > largest ? fabs(b) : largest;
        if (!(difference <= worst)) {
            worst = difference;
            where = i;
        }
    }
    if (worst <= o->tolerance * largest) {
        return true;
    }
    snprintf(message, MESSAGE, "output %u differs at %zu: %.9g instead of %.9g", index, where,
             value_at(o->type, got, where), value_at(o->type, want, where));
    return false;
}

static bool bytes_agree(const bench_output *o, const void *got, const void *want, size_t bytes,
                        uint32_t index, char message[MESSAGE]) {
    if (memcmp(got, want, bytes) == 0) {
        return true;
    }
    size_t at = 0;
    while (((const uint8_t *)got)[at] == ((const uint8_t *)want)[at]) {
        at++;
    }
    snprintf(message, MESSAGE, "output %u differs at element %zu", index,
             at / vyre_type_size(o->type));
    return false;
}

bool instance_same(const bench_instance *got, const bench_instance *want, char message[MESSAGE]) {
    bool same = true;
    for (uint32_t k = 0; k < want->out_count && same; k++) {
        const bench_output *o = &want->of->outputs[k];
        size_t bytes = want->data.out_bytes[k];
        same = o->tolerance > 0.0
                   ? floats_agree(o, got->data.out[k], want->data.out[k],
                                  bytes / vyre_type_size(o->type), k, message)
                   : bytes_agree(o, got->data.out[k], want->data.out[k], bytes, k, message);
    }
    return same;
}
