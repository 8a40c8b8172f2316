/* What the held-out set computes in registers: hashes, ways through a tree, random ways, matrices.
 */
#include <math.h>

#include "sets.h"

/* SHA-256 of as many messages at once as a vector has words. */

enum { MESSAGES = PEER_VECTOR / 4, WORDS = 16, ROUNDS = 64, STATE = 8 };
typedef uint32_t sha_vector __attribute__((vector_size(PEER_VECTOR)));

static inline sha_vector rotated(sha_vector x, int by) {
    return x >> by | x << (32 - by);
}

static inline sha_vector sha_word(const sha_vector w[WORDS], size_t k) {
    sha_vector old = w[(k + 1) % WORDS], new = w[(k + 14) % WORDS];
    return w[k] + (rotated(old, 7) ^ rotated(old, 18) ^ old >> 3) + w[(k + 9) % WORDS] +
           (rotated(new, 17) ^ rotated(new, 19) ^ new >> 10);
}

static inline void sha_block(sha_vector h[STATE], sha_vector w[WORDS], const uint32_t *key) {
    sha_vector a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], i = h[7];
    for (size_t first = 0; first < ROUNDS; first += WORDS) {
#pragma GCC unroll 16
        for (size_t k = 0; k < WORDS; k++) {
            if (first) {
                w[k] = sha_word(w, k);
            }
            sha_vector t1 = i + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) +
                            (g ^ (e & (f ^ g))) + key[first + k] + w[k];
            sha_vector t2 =
                (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) | (c & (a | b)));
            i = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
        }
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += i;
}

static void sha_messages(const set_job *s, size_t first, size_t count) {
    size_t blocks = s->size[1];
    const uint32_t *text = s->in[0], *key = s->in[1], *start = s->in[2];
    uint32_t *digest = s->out[0], words[WORDS][MESSAGES] = {{0}}, sums[STATE][MESSAGES];
    sha_vector h[STATE], w[WORDS];
    for (size_t k = 0; k < STATE; k++) {
        h[k] = (sha_vector){0} + start[k];
    }
    for (size_t b = 0; b < blocks; b++) {
        for (size_t m = 0; m < count; m++) {
            for (size_t k = 0; k < WORDS; k++) {
                words[k][m] = text[((first + m) * blocks + b) * WORDS + k];
            }
        }
        memcpy(w, words, sizeof w);
        sha_block(h, w, key);
    }
    memcpy(sums, h, sizeof h);
    for (size_t m = 0; m < count; m++) {
        for (size_t k = 0; k < STATE; k++) {
            digest[(first + m) * STATE + k] = sums[k][m];
        }
    }
}

static void run_sha256(void *state) {
    set_job *s = state;
    size_t messages = s->size[0];
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < messages; first += MESSAGES) {
        sha_messages(s, first, messages - first < MESSAGES ? messages - first : MESSAGES);
    }
}

/* Queens: a stack for each choice of the first three rows; choices are of different worth. */

enum { FIXED = 3, BOARD = 32 };

typedef struct queen_row {
    uint32_t columns, falls, rises, free;
} queen_row;

static queen_row queen_next(queen_row r, uint32_t queen, uint32_t all) {
    queen_row n = {r.columns | queen, (r.falls | queen) << 1, (r.rises | queen) >> 1, 0};
    n.free = all & ~(n.columns | n.falls | n.rises);
    return n;
}

static uint32_t queens_below(queen_row start, uint32_t rows, uint32_t all) {
    queen_row stack[BOARD], here = start;
    uint32_t depth = 0, ways = 0;
    for (;;) {
        if (!here.free) {
            if (depth == 0) {
                return ways;
            }
            here = stack[--depth];
            continue;
        }
        uint32_t queen = here.free & (0 - here.free);
        here.free ^= queen;
        if (depth + 1 == rows) {
            ways++;
            continue;
        }
        queen_row next = queen_next(here, queen, all);
        if (next.free) {
            stack[depth++] = here;
            here = next;
        }
    }
}

static void run_queens(void *state) {
    set_job *s = state;
    uint32_t n = (uint32_t)s->size[0], all = (1u << n) - 1, ways = 0;
#pragma omp parallel for schedule(dynamic, 8) reduction(+ : ways)
    for (uint32_t choice = 0; choice < n * n * n; choice++) {
        queen_row r = {0, 0, 0, all};
        uint32_t rest = choice;
        bool is_legal = true;
        for (int row = 0; row < FIXED && is_legal; row++) {
            uint32_t queen = 1u << rest % n;
            rest /= n;
            is_legal = r.free & queen;
            r = queen_next(r, queen, all);
        }
        ways += is_legal ? queens_below(r, n - FIXED, all) : 0;
    }
    *(uint32_t *)s->out[0] = ways;
}

/* Random ways: stretches of them as vectors. */

static inline float uniform(uint32_t v) {
    uint32_t h = v * 0x9e3779b1;
    h = (h ^ h >> 15) * 0x85ebca77;
    h = (h ^ h >> 13) * 0xc2b2ae3d;
    return ((float)(int32_t)((h ^ h >> 16) >> 8) + 0.5f) * (1.0f / 16777216.0f);
}

static void run_asian(void *state) {
    set_job *s = state;
    enum { STRETCH = 64 };
    size_t paths = s->size[0], pairs = s->size[1];
    const uint32_t *seed = s->in[0];
    float *worth = s->out[0];
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < paths; first += STRETCH) {
        size_t count = paths - first < STRETCH ? paths - first : STRETCH;
        uint32_t at[STRETCH] = {0};
        float price[STRETCH] = {0}, sum[STRETCH] = {0};
        memcpy(at, seed + first, count * sizeof *at);
        for (uint32_t k = 0; k < pairs; k++) {
#pragma omp simd
            for (size_t i = 0; i < STRETCH; i++) {
                float sine, cosine;
                float far = 0.02f * sqrtf(-2.0f * peer_log(uniform(at[i] + 2 * k)));
                peer_sine_cosine(uniform(at[i] + 2 * k + 1), &sine, &cosine);
                float one = price[i] + 0.0001f + far * cosine, two = one + 0.0001f + far * sine;
                sum[i] += peer_exp(one) + peer_exp(two);
                price[i] = two;
            }
        }
        for (size_t i = 0; i < count; i++) {
            float gain = 100.0f * (sum[i] / (float)(2 * pairs)) - 95.0f;
            worth[first + i] = gain > 0.0f ? gain : 0.0f;
        }
    }
}

/* Inverses: rows of a matrix are vectors. */

enum { SIDE = 16, MATRIX = SIDE * SIDE };

static void invert(const double *restrict a, double *restrict b) {
    double m[MATRIX], row[SIDE];
    memcpy(m, a, sizeof m);
    for (size_t k = 0; k < SIDE; k++) {
        double pivot = 1.0 / m[k * SIDE + k];
        for (size_t x = 0; x < SIDE; x++) {
            row[x] = m[k * SIDE + x] * pivot;
        }
        row[k] = 1.0 + pivot; /* in the column of the pivot what was there goes */
        for (size_t y = 0; y < SIDE; y++) {
            double factor = m[y * SIDE + k];
#pragma omp simd
            for (size_t x = 0; x < SIDE; x++) {
                m[y * SIDE + x] -= factor * row[x];
            }
        }
        row[k] = pivot;
        memcpy(m + k * SIDE, row, sizeof row);
    }
    memcpy(b, m, sizeof m);
}

static void run_inverse(void *state) {
    set_job *s = state;
    const double *a = s->in[0];
    double *b = s->out[0];
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < s->size[0]; k++) {
        invert(a + k * MATRIX, b + k * MATRIX);
    }
}

const peer peer_sha256 = {"sha256", set_prepare, NULL, run_sha256, set_collect};
const peer peer_queens = {"queens", set_prepare, NULL, run_queens, set_collect};
const peer peer_asian = {"asian", set_prepare, NULL, run_asian, set_collect};
const peer peer_inverse = {"inverse", set_prepare, NULL, run_inverse, set_collect};
