/* Arithmetic of the wider set. */
#include <math.h>

#include "sets.h"

static inline float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float inner = 0.31938153f +
                  k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)));
    float tail = 0.39894228f * peer_exp(-0.5f * d * d) * k * inner;
    return d > 0.0f ? 1.0f - tail : tail;
}

static void run_black_scholes(void *state) {
    set_job *s = state;
    const float *restrict price = s->in[0], *restrict strike = s->in[1], *restrict years = s->in[2];
    float *restrict call = s->out[0], *restrict put = s->out[1];
    const float rate = 0.02f, sigma = 0.3f;
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < s->size[0]; i++) {
        float p = 5.0f + 25.0f * price[i], k = 1.0f + 99.0f * strike[i],
              t = 0.25f + 9.75f * years[i];
        float root = sqrtf(t);
        float d1 = (peer_log(p / k) + (rate + 0.5f * sigma * sigma) * t) / (sigma * root);
        float n1 = normal(d1), n2 = normal(d1 - sigma * root), discount = k * peer_exp(-rate * t);
        call[i] = p * n1 - discount * n2;
        put[i] = discount * (1.0f - n2) - p * (1.0f - n1);
    }
}

/* Stretches of points against all centres; the nearest is chosen by vectors. Distances are fused by
 * name, as in the program, so that equal ones are equal. */
static void run_kmeans(void *state) {
    set_job *s = state;
    enum { STRETCH = 64, CENTRES = 32, AXES = 8 };
    size_t points = s->size[0];
    const float *x = s->in[0], *centre = s->in[1];
    uint32_t *label = s->out[0], *size = s->out[1];
    memset(size, 0, CENTRES * sizeof *size);
#pragma omp parallel
    {
        uint32_t count[CENTRES] = {0};
#pragma omp for schedule(static)
        for (size_t first = 0; first < points; first += STRETCH) {
            size_t n = points - first < STRETCH ? points - first : STRETCH;
            float least[STRETCH];
            uint32_t best[STRETCH] = {0};
            for (size_t i = 0; i < n; i++) {
                least[i] = 1e30f;
            }
            for (uint32_t c = 0; c < CENTRES; c++) {
#pragma omp simd
                for (size_t i = 0; i < n; i++) {
                    float sum = 0.0f;
#pragma GCC unroll 8
                    for (size_t d = 0; d < AXES; d++) {
                        float apart = x[d * points + first + i] - centre[(size_t)c * AXES + d];
                        sum = fmaf(apart, apart, sum);
                    }
                    best[i] = sum < least[i] ? c : best[i];
                    least[i] = sum < least[i] ? sum : least[i];
                }
            }
            for (size_t i = 0; i < n; i++) {
                label[first + i] = best[i];
                count[best[i]]++;
            }
        }
        for (uint32_t c = 0; c < CENTRES; c++) {
            __atomic_fetch_add(&size[c], count[c], __ATOMIC_RELAXED);
        }
    }
}

static void run_matvec(void *state) {
    set_job *s = state;
    size_t rows = s->size[0], columns = s->size[1];
    const float *a = s->in[0], *x = s->in[1];
    float *y = s->out[0];
#pragma omp parallel for schedule(static)
    for (size_t r = 0; r < rows; r++) {
        const float *row = a + r * columns;
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (size_t c = 0; c < columns; c++) {
            sum += row[c] * x[c];
        }
        y[r] = sum;
    }
}

const peer peer_black_scholes = {"black_scholes", set_prepare, NULL, run_black_scholes,
                                 set_collect};
const peer peer_kmeans = {"kmeans", set_prepare, NULL, run_kmeans, set_collect};
const peer peer_matvec = {"matvec", set_prepare, NULL, run_matvec, set_collect};
