/* Lattice Boltzmann of the held-out set: nine planes per state, rows cut statically; solid cells
 * are chosen by masks in the same vector loop, the first and the last column are apart. */
#include "sets.h"

enum { WAYS = 9 };

/* The planes of a state at the rows that a row pulls from, and those of the next at that row. */
typedef struct lbm_rows {
    const float *from[WAYS];
    float *to[WAYS];
    const uint8_t *solid;
} lbm_rows;

static inline float lbm_mix(float now, float share, float c, float square) {
    return now + 0.8f * (share * (1.0f + 3.0f * c + 4.5f * c * c - 1.5f * square) - now);
}

static inline void lbm_cell(const lbm_rows *r, size_t west, size_t x, size_t east) {
    float f0 = r->from[0][x], f1 = r->from[1][west], f2 = r->from[2][x], f3 = r->from[3][east],
          f4 = r->from[4][x], f5 = r->from[5][west], f6 = r->from[6][east], f7 = r->from[7][east],
          f8 = r->from[8][west];
    int is_solid = r->solid[x] < 16;
    float d = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8, inverse = 1.0f / d;
    float u = (f1 - f3 + f5 - f6 - f7 + f8) * inverse + 0.001f;
    float v = (f2 - f4 + f5 + f6 - f7 - f8) * inverse, square = u * u + v * v;
    float large = d * (1.0f / 9.0f), small = d * (1.0f / 36.0f);
    float g0 = lbm_mix(f0, d * (4.0f / 9.0f), 0.0f, square), g1 = lbm_mix(f1, large, u, square);
    float g2 = lbm_mix(f2, large, v, square), g3 = lbm_mix(f3, large, -u, square);
    float g4 = lbm_mix(f4, large, -v, square), g5 = lbm_mix(f5, small, u + v, square);
    float g6 = lbm_mix(f6, small, v - u, square), g7 = lbm_mix(f7, small, -u - v, square);
    float g8 = lbm_mix(f8, small, u - v, square);
    r->to[0][x] = is_solid ? f0 : g0;
    r->to[1][x] = is_solid ? f3 : g1;
    r->to[2][x] = is_solid ? f4 : g2;
    r->to[3][x] = is_solid ? f1 : g3;
    r->to[4][x] = is_solid ? f2 : g4;
    r->to[5][x] = is_solid ? f7 : g5;
    r->to[6][x] = is_solid ? f8 : g6;
    r->to[7][x] = is_solid ? f5 : g7;
    r->to[8][x] = is_solid ? f6 : g8;
}

static void lbm_row(lbm_rows r, size_t width) {
    size_t last = width - 1;
    lbm_cell(&r, last, 0, last ? 1 : 0);
    lbm_cell(&r, last ? last - 1 : 0, last, 0);
#pragma omp simd
    for (size_t x = 1; x < last; x++) {
        lbm_cell(&r, x - 1, x, x + 1);
    }
}

static lbm_rows lbm_rows_of(const set_job *s, const float *from, float *to, size_t y) {
    size_t width = s->size[0], height = s->size[1], n = width * height;
    size_t up = (y ? y - 1 : height - 1) * width, down = (y + 1 < height ? y + 1 : 0) * width;
    size_t here = y * width, rows[WAYS] = {here, here, up, here, down, up, up, down, down};
    lbm_rows r = {.solid = (const uint8_t *)s->in[1] + here};
    for (size_t k = 0; k < WAYS; k++) {
        r.from[k] = from + k * n + rows[k];
        r.to[k] = to + k * n + here;
    }
    return r;
}

static void lbm_begin(const float *restrict start, float *restrict f, size_t n, size_t width) {
    static const float share[WAYS] = {4.0f / 9.0f,  1.0f / 9.0f,  1.0f / 9.0f,
                                      1.0f / 9.0f,  1.0f / 9.0f,  1.0f / 36.0f,
                                      1.0f / 36.0f, 1.0f / 36.0f, 1.0f / 36.0f};
    for (size_t k = 0; k < WAYS; k++) {
        for (size_t x = 0; x < width; x++) {
            f[k * n + x] = share[k] * (1.0f + 0.1f * start[x]);
        }
    }
}

static void lbm_moments(const float *restrict f, float *restrict rho, float *restrict ux,
                        float *restrict uy, size_t n, size_t width) {
#pragma omp simd
    for (size_t x = 0; x < width; x++) {
        float f1 = f[n + x], f2 = f[2 * n + x], f3 = f[3 * n + x], f4 = f[4 * n + x],
              f5 = f[5 * n + x], f6 = f[6 * n + x], f7 = f[7 * n + x], f8 = f[8 * n + x];
        float d = f[x] + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
        rho[x] = d;
        ux[x] = (f1 - f3 + f5 - f6 - f7 + f8) / d;
        uy[x] = (f2 - f4 + f5 + f6 - f7 - f8) / d;
    }
}

static void run_lbm(void *state) {
    set_job *s = state;
    size_t width = s->size[0], height = s->size[1], n = width * height;
    const float *start = s->in[0];
    float *rho = s->out[0], *ux = s->out[1], *uy = s->out[2];
#pragma omp parallel
    {
        float *from = s->scratch, *to = from + WAYS * n;
#pragma omp for schedule(static)
        for (size_t y = 0; y < height; y++) {
            lbm_begin(start + y * width, from + y * width, n, width);
        }
        for (uint64_t k = 0; k < s->size[2]; k++) {
#pragma omp for schedule(static)
            for (size_t y = 0; y < height; y++) {
                lbm_row(lbm_rows_of(s, from, to, y), width);
            }
            float *other = from;
            from = to;
            to = other;
        }
#pragma omp for schedule(static)
        for (size_t y = 0; y < height; y++) {
            size_t at = y * width;
            lbm_moments(from + at, rho + at, ux + at, uy + at, n, width);
        }
    }
}

static void *prepare_lbm(const peer_instance *p) {
    return set_prepare_room(p, p->in_bytes[0] * 2 * WAYS);
}

const peer peer_lbm = {"lbm", prepare_lbm, NULL, run_lbm, set_collect};
