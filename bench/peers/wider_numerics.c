/* Arithmetic of the second set. Elementary functions are written out, so that the loop is a vector
 * loop: the range reduced, a polynomial of a few terms, good to about two units in the last place.
 */
#include <math.h>

#include "sets.h"

static inline int32_t float_to_bits(float value) {
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* For normal positive arguments. */
static inline float fast_log(float x) {
    int32_t bits = float_to_bits(x), power = ((bits - 0x3f3504f3) >> 23);
    float m = peer_float_of(bits - power * (1 << 23)) - 1.0f, z = m * m;
    float p = 7.0376836292e-2f;
    p = p * m - 1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m - 1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m - 1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m - 2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    return m + (m * z * p - 0.5f * z + (float)power * -2.12194440e-4f) +
           (float)power * 0.693359375f;
}

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
        float d1 = (fast_log(p / k) + (rate + 0.5f * sigma * sigma) * t) / (sigma * root);
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
