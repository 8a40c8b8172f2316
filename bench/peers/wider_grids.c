/* Points of a plane or a box: rows are cut statically, inner loops are vector loops. */
#include <math.h>

#include "sets.h"

/* Blocks that fit the first-level cache, both ways. */
static void run_transpose(void *state) {
    set_job *s = state;
    enum { BLOCK = 32 };
    size_t width = s->size[0], height = s->size[1];
    const float *restrict a = s->in[0];
    float *restrict b = s->out[0];
#pragma omp parallel for schedule(static) collapse(2)
    for (size_t x0 = 0; x0 < width; x0 += BLOCK) {
        for (size_t y0 = 0; y0 < height; y0 += BLOCK) {
            size_t x1 = x0 + BLOCK < width ? x0 + BLOCK : width;
            size_t y1 = y0 + BLOCK < height ? y0 + BLOCK : height;
            for (size_t x = x0; x < x1; x++) {
                for (size_t y = y0; y < y1; y++) {
                    b[x * height + y] = a[y * width + x];
                }
            }
        }
    }
}

static void run_heat(void *state) {
    set_job *s = state;
    size_t n = s->size[0];
    const float *start = s->in[0];
#pragma omp parallel
    {
        float *from = s->out[0], *to = s->scratch;
#pragma omp for schedule(static)
        for (size_t i = 0; i < n; i++) {
            from[i] = to[i] = start[i];
        }
        for (uint64_t k = 0; k < s->size[1] / 2 * 2; k++) {
            const float *restrict old = from;
            float *restrict new = to;
#pragma omp for simd schedule(static)
            for (size_t i = 1; i < n - 1; i++) {
                new[i] = old[i] + 0.25f * (old[i - 1] - 2.0f * old[i] + old[i + 1]);
            }
            float *other = from;
            from = to;
            to = other;
        }
    }
}

static void life_row(const uint8_t *restrict above, const uint8_t *restrict here,
                     const uint8_t *restrict below, uint8_t *restrict to, size_t width) {
    for (size_t x = 0; x < width; x += width - 1) { /* the two edges */
        size_t left = x == 0 ? width - 1 : x - 1, right = x + 1 == width ? 0 : x + 1;
        int sum = above[left] + above[x] + above[right] + here[left] + here[right] + below[left] +
                  below[x] + below[right];
        to[x] = sum == 3 || (sum == 2 && here[x]);
        if (width == 1) {
            break;
        }
    }
#pragma omp simd
    for (size_t x = 1; x < width - 1; x++) {
        uint8_t sum = (uint8_t)(above[x - 1] + above[x] + above[x + 1] + here[x - 1] + here[x + 1] +
                                below[x - 1] + below[x] + below[x + 1]);
        to[x] = (uint8_t)((sum == 3) | ((sum == 2) & here[x]));
    }
}

static void run_life(void *state) {
    set_job *s = state;
    size_t width = s->size[0], height = s->size[1];
    const uint8_t *start = s->in[0];
#pragma omp parallel
    {
        uint8_t *from = s->out[0], *to = s->scratch;
#pragma omp for simd schedule(static)
        for (size_t i = 0; i < width * height; i++) {
            from[i] = start[i] & 1;
        }
        for (uint64_t k = 0; k < s->size[2] / 2 * 2; k++) {
#pragma omp for schedule(static)
            for (size_t y = 0; y < height; y++) {
                life_row(from + (y == 0 ? height - 1 : y - 1) * width, from + y * width,
                         from + (y + 1 == height ? 0 : y + 1) * width, to + y * width, width);
            }
            uint8_t *other = from;
            from = to;
            to = other;
        }
    }
}

/* Eight or sixteen points at a time, until the last of them has left. Operations are fused by name,
 * as in the program: how long a point stays depends on the last bit. */
static void run_mandelbrot(void *state) {
    set_job *s = state;
    enum { LANES = 16 };
    size_t width = s->size[0], height = s->size[1];
    uint32_t limit = (uint32_t)s->size[2], *count = s->out[0];
    float step_x = 3.0f / (float)width, step_y = 2.0f / (float)height;
#pragma omp parallel for schedule(dynamic, 4)
    for (size_t y = 0; y < height; y++) {
        float cy = fmaf((float)y, step_y, -1.0f);
        for (size_t first = 0; first < width; first += LANES) {
            float zx[LANES] = {0}, zy[LANES] = {0}, cx[LANES];
            uint32_t stays[LANES] = {0}, some = 1;
            for (size_t i = 0; i < LANES; i++) {
                cx[i] = fmaf((float)(first + i), step_x, -2.0f);
            }
            for (uint32_t k = 0; k < limit && some; k++) {
                some = 0;
#pragma omp simd reduction(| : some)
                for (size_t i = 0; i < LANES; i++) {
                    uint32_t in = fmaf(zx[i], zx[i], zy[i] * zy[i]) <= 4.0f && stays[i] == k;
                    float next = fmaf(zx[i], zx[i], fmaf(-zy[i], zy[i], cx[i]));
                    zy[i] = fmaf(zx[i] + zx[i], zy[i], cy);
                    zx[i] = next;
                    stays[i] += in;
                    some |= in;
                }
            }
            for (size_t i = 0; i < LANES && first + i < width; i++) {
                count[y * width + first + i] = stays[i];
            }
        }
    }
}

static void run_stencil3d(void *state) {
    set_job *s = state;
    size_t n = s->size[0], plane = n * n;
    const float *start = s->in[0];
#pragma omp parallel
    {
        float *from = s->out[0], *to = s->scratch;
#pragma omp for schedule(static)
        for (size_t z = 0; z < n; z++) {
            memcpy(from + z * plane, start + z * plane, plane * sizeof *from);
            memcpy(to + z * plane, start + z * plane, plane * sizeof *to);
        }
        for (uint64_t k = 0; k < s->size[1] / 2 * 2; k++) {
#pragma omp for schedule(static) collapse(2)
            for (size_t z = 1; z < n - 1; z++) {
                for (size_t y = 1; y < n - 1; y++) {
                    const float *restrict a = from + z * plane + y * n;
                    float *restrict b = to + z * plane + y * n;
#pragma omp simd
                    for (size_t x = 1; x < n - 1; x++) {
                        float sides = a[x - 1] + a[x + 1] + (a - n)[x] + a[x + n] + (a - plane)[x] +
                                      a[x + plane];
                        b[x] = 0.4f * a[x] + 0.1f * sides;
                    }
                }
            }
            float *other = from;
            from = to;
            to = other;
        }
    }
}

static void run_eliminate(void *state) {
    set_job *s = state;
    size_t n = s->size[0];
    const float *x = s->in[0];
    float *a = s->out[0];
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (size_t y = 0; y < n; y++) {
            memcpy(a + y * n, x + y * n, n * sizeof *a);
            a[y * n + y] += (float)n;
        }
        for (size_t k = 0; k + 1 < n; k++) {
            const float *restrict pivot = a + k * n;
#pragma omp for schedule(static)
            for (size_t y = k + 1; y < n; y++) {
                float *restrict row = a + y * n;
                float factor = row[k] / pivot[k];
                row[k] = factor;
#pragma omp simd
                for (size_t c = k + 1; c < n; c++) {
                    row[c] -= factor * pivot[c];
                }
            }
        }
    }
}

const peer peer_transpose = {"transpose", set_prepare, NULL, run_transpose, set_collect};
const peer peer_heat = {"heat", set_prepare, NULL, run_heat, set_collect};
const peer peer_life = {"life", set_prepare, NULL, run_life, set_collect};
const peer peer_mandelbrot = {"mandelbrot", set_prepare, NULL, run_mandelbrot, set_collect};
const peer peer_stencil3d = {"stencil3d", set_prepare, NULL, run_stencil3d, set_collect};
const peer peer_eliminate = {"eliminate", set_prepare, NULL, run_eliminate, set_collect};
