/* Planes and boxes of the held-out set: rows are cut statically, inner loops are vector loops,
 * borders apart. */
#include "sets.h"

/* Columns of a thread's rows are summed first: with the sums of the threads before, what lies above
 * its rows is known, and the image is read twice, the result only written. */
static void integral_rows(const uint8_t *restrict image, uint32_t *restrict sums,
                          const uint32_t *restrict above, size_t width) {
    uint32_t sum = 0;
    for (size_t x = 0; x < width; x++) {
        sum += image[x];
        sums[x] = above[x] + sum;
    }
}

static void run_integral(void *state) {
    set_job *s = state;
    size_t width = s->size[0], height = s->size[1];
    const uint8_t *image = s->in[0];
    uint32_t *sums = s->out[0], *columns = s->scratch;
#pragma omp parallel
    {
        int me = PEER_THREAD(), threads = PEER_THREADS();
        size_t from = peer_cut(height, me, threads), to = peer_cut(height, me + 1, threads);
        uint32_t *restrict mine = columns + (size_t)me * width;
        memset(mine, 0, width * sizeof *mine);
        for (size_t y = from; y < to && me + 1 < threads; y++) {
            const uint8_t *restrict row = image + y * width;
#pragma omp simd
            for (size_t x = 0; x < width; x++) {
                mine[x] += row[x];
            }
        }
#pragma omp barrier
        if (from < to) {
            uint32_t *first = sums + from * width, sum = 0;
            for (size_t x = 0; x < width; x++) {
                for (int t = 0; t < me; t++) {
                    sum += columns[(size_t)t * width + x];
                }
                first[x] = sum;
            }
            sum = 0;
            for (size_t x = 0; x < width; x++) {
                sum += image[from * width + x];
                first[x] += sum;
            }
        }
        for (size_t y = from + 1; y < to; y++) {
            integral_rows(image + y * width, sums + y * width, sums + (y - 1) * width, width);
        }
    }
}

static void *prepare_integral(const peer_instance *p) {
    return set_prepare_room(p, p->size[0] * (size_t)PEER_MOST() * sizeof(uint32_t));
}

/* Speckle reducing diffusion: sums for the next step are made while this one is written. */

typedef struct srad_rows {
    const float *north, *here, *south; /* of the image */
    size_t width;
} srad_rows;

static inline float srad_share(const float *restrict north, const float *restrict here,
                               const float *restrict south, size_t west, size_t x, size_t east,
                               float q0, float scale) {
    float j = here[x], n = north[x] - j, s = south[x] - j, w = here[west] - j, e = here[east] - j;
    float inverse = 1.0f / j, g = (n * n + s * s + w * w + e * e) * (inverse * inverse);
    float l = (n + s + w + e) * inverse, down = 1.0f + 0.25f * l;
    float q = (0.5f * g - 0.0625f * l * l) / (down * down);
    float c = 1.0f / (1.0f + (q - q0) * scale);
    c = c > 0.0f ? c : 0.0f;
    return c < 1.0f ? c : 1.0f;
}

static void srad_shares(srad_rows r, float *restrict c, float q0) {
    size_t last = r.width - 1;
    float scale = 1.0f / (q0 * (1.0f + q0));
    const float *restrict north = r.north, *restrict here = r.here, *restrict south = r.south;
    c[0] = srad_share(north, here, south, 0, 0, last ? 1 : 0, q0, scale);
    c[last] = srad_share(north, here, south, last ? last - 1 : 0, last, last, q0, scale);
#pragma omp simd
    for (size_t x = 1; x < last; x++) {
        c[x] = srad_share(north, here, south, x - 1, x, x + 1, q0, scale);
    }
}

static inline float srad_flow(const float *restrict north, const float *restrict here,
                              const float *restrict south, const float *restrict c,
                              const float *restrict c_south, size_t west, size_t x, size_t east) {
    float j = here[x];
    return j + 0.125f * (c[x] * (north[x] - j) + c_south[x] * (south[x] - j) +
                         c[x] * (here[west] - j) + c[east] * (here[east] - j));
}

static void srad_flows(srad_rows r, const float *restrict c, const float *restrict c_south,
                       float *restrict to) {
    size_t last = r.width - 1;
    const float *restrict north = r.north, *restrict here = r.here, *restrict south = r.south;
    to[0] = srad_flow(north, here, south, c, c_south, 0, 0, last ? 1 : 0);
    to[last] = srad_flow(north, here, south, c, c_south, last ? last - 1 : 0, last, last);
#pragma omp simd
    for (size_t x = 1; x < last; x++) {
        to[x] = srad_flow(north, here, south, c, c_south, x - 1, x, x + 1);
    }
}

static void srad_sums(const float *restrict j, size_t width, double *sum, double *square) {
    double a = 0.0, b = 0.0;
#pragma omp simd reduction(+ : a, b)
    for (size_t x = 0; x < width; x++) {
        a += (double)j[x];
        b += (double)j[x] * (double)j[x];
    }
    *sum += a;
    *square += b;
}

static void run_srad(void *state) {
    set_job *s = state;
    size_t width = s->size[0], height = s->size[1], all = width * height;
    const float *image = s->in[0];
    double sum[3] = {0.0}, square[3] = {0.0}; /* of this step, the next, and the one after */
#pragma omp parallel
    {
        float *from = s->scratch, *to = from + all, *c = to + all, *calm = s->out[0];
        double a = 0.0, b = 0.0;
#pragma omp for schedule(static)
        for (size_t y = 0; y < height; y++) {
#pragma omp simd
            for (size_t x = 0; x < width; x++) {
                from[y * width + x] = peer_exp(image[y * width + x]);
            }
            srad_sums(from + y * width, width, &a, &b);
        }
        for (uint64_t k = 0; k < s->size[2]; k++) {
#pragma omp atomic
            sum[k % 3] += a;
#pragma omp atomic
            square[k % 3] += b;
#pragma omp barrier
            double mean = sum[k % 3] / (double)all;
            double q0 = (square[k % 3] / (double)all - mean * mean) / (mean * mean);
            a = b = 0.0;
#pragma omp for schedule(static)
            for (size_t y = 0; y < height; y++) {
                const float *here = from + y * width;
                srad_rows r = {y ? here - width : here, here, y + 1 < height ? here + width : here,
                               width};
                srad_shares(r, c + y * width, (float)q0);
            }
#pragma omp single nowait
            sum[(k + 2) % 3] = square[(k + 2) % 3] = 0.0;
#pragma omp for schedule(static)
            for (size_t y = 0; y < height; y++) {
                const float *here = from + y * width;
                srad_rows r = {y ? here - width : here, here, y + 1 < height ? here + width : here,
                               width};
                const float *mine = c + y * width;
                srad_flows(r, mine, y + 1 < height ? mine + width : mine, to + y * width);
                srad_sums(to + y * width, width, &a, &b);
            }
            float *other = from;
            from = to;
            to = other;
        }
#pragma omp for simd schedule(static)
        for (size_t i = 0; i < all; i++) {
            calm[i] = peer_log(from[i]);
        }
    }
}

static void *prepare_srad(const peer_instance *p) {
    return set_prepare_room(p, 3 * p->in_bytes[0]);
}

/* The image as floats with a margin, so that no border is special. */

enum { REACH = 3, ACROSS = 2 * REACH + 1, STRETCH = 32 };

static size_t bilateral_pitch(size_t width) {
    return (width + STRETCH - 1) / STRETCH * STRETCH + 2 * (size_t)REACH;
}

static void bilateral_stretch(const float *restrict corner, const float *restrict near,
                              float *restrict to, size_t pitch, size_t count) {
    float sum[STRETCH] = {0}, weights[STRETCH] = {0}, centre[STRETCH];
    memcpy(centre, corner + REACH * pitch + REACH, sizeof centre);
    for (size_t dy = 0; dy < ACROSS; dy++) {
        for (size_t dx = 0; dx < ACROSS; dx++) {
            const float *restrict other = corner + dy * pitch + dx;
            float distance = near[dy * ACROSS + dx];
#pragma omp simd
            for (size_t i = 0; i < STRETCH; i++) {
                float apart = other[i] - centre[i];
                float weight = distance * peer_exp(-0.0005f * apart * apart);
                sum[i] += weight * other[i];
                weights[i] += weight;
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        to[i] = sum[i] / weights[i];
    }
}

static size_t clamped(size_t at, size_t count) {
    size_t place = at < REACH ? 0 : at - REACH;
    return place < count ? place : count - 1;
}

static void run_bilateral(void *state) {
    set_job *s = state;
    size_t width = s->size[0], height = s->size[1], pitch = bilateral_pitch(width);
    const uint8_t *image = s->in[0];
    const float *near = s->in[1];
    float *smooth = s->out[0], *padded = s->scratch;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (size_t y = 0; y < height + 2 * (size_t)REACH; y++) {
            const uint8_t *row = image + clamped(y, height) * width;
            float *to = padded + y * pitch;
            for (size_t x = 0; x < REACH; x++) {
                to[x] = row[0];
            }
            for (size_t x = 0; x < width; x++) {
                to[x + REACH] = row[x];
            }
            for (size_t x = width + REACH; x < pitch; x++) {
                to[x] = row[width - 1];
            }
        }
#pragma omp for schedule(static)
        for (size_t y = 0; y < height; y++) {
            for (size_t x = 0; x < width; x += STRETCH) {
                bilateral_stretch(padded + y * pitch + x, near, smooth + y * width + x, pitch,
                                  width - x < STRETCH ? width - x : STRETCH);
            }
        }
    }
}

static void *prepare_bilateral(const peer_instance *p) {
    return set_prepare_room(p, (p->size[1] + 2 * (size_t)REACH) * bilateral_pitch(p->size[0]) *
                                   sizeof(float));
}

/* Two products of 8 x 8 matrices, rows as vectors. */

enum { SIDE = 8, BLOCK = SIDE * SIDE };

static inline void dct_product(const float *restrict a, const float *restrict b,
                               float *restrict to) {
    for (size_t y = 0; y < SIDE; y++) {
        float sum[SIDE] = {0};
        for (size_t k = 0; k < SIDE; k++) {
#pragma omp simd
            for (size_t x = 0; x < SIDE; x++) {
                sum[x] += a[y * SIDE + k] * b[k * SIDE + x];
            }
        }
        memcpy(to + y * SIDE, sum, sizeof sum);
    }
}

static void dct_block(const uint8_t *restrict image, const float *restrict basis,
                      const float *restrict turned, const float *restrict scale, float *restrict to,
                      size_t width) {
    float pixel[BLOCK], half[BLOCK], all[BLOCK];
    for (size_t y = 0; y < SIDE; y++) {
        for (size_t x = 0; x < SIDE; x++) {
            pixel[y * SIDE + x] = (float)image[y * width + x] - 128.0f;
        }
    }
    dct_product(basis, pixel, half);
    dct_product(half, turned, all);
    for (size_t y = 0; y < SIDE; y++) {
        for (size_t x = 0; x < SIDE; x++) {
            to[y * width + x] = all[y * SIDE + x] * scale[y * SIDE + x];
        }
    }
}

static void run_dct8(void *state) {
    set_job *s = state;
    size_t width = s->size[0], height = s->size[1];
    const uint8_t *image = s->in[0];
    const float *basis = s->in[1], *scale = s->in[2];
    float *coded = s->out[0], turned[BLOCK];
    for (size_t k = 0; k < BLOCK; k++) {
        turned[k] = basis[k % SIDE * SIDE + k / SIDE];
    }
#pragma omp parallel for schedule(static)
    for (size_t y = 0; y < height; y += SIDE) {
        for (size_t x = 0; x < width; x += SIDE) {
            dct_block(image + y * width + x, basis, turned, scale, coded + y * width + x, width);
        }
    }
}

/* Three weights at a time, along each of the nine rows around. */
static void stencil27_row(const double *restrict corner, const double *restrict weight,
                          double *restrict to, size_t n) {
    const double *restrict r[9];
    for (size_t k = 0; k < 9; k++) {
        r[k] = corner + (k / 3 * n + k % 3) * n;
    }
#pragma omp simd
    for (size_t x = 0; x < n - 2; x++) {
        double a = 0.0, b = 0.0, c = 0.0;
        for (size_t k = 0; k < 9; k++) {
            a += weight[3 * k] * r[k][x];
            b += weight[3 * k + 1] * r[k][x + 1];
            c += weight[3 * k + 2] * r[k][x + 2];
        }
        to[x] = a + b + c;
    }
}

static void run_stencil27(void *state) {
    set_job *s = state;
    size_t n = s->size[0];
    const double *start = s->in[0], *weight = s->in[1];
#pragma omp parallel
    {
        double *from = s->out[0], *to = s->scratch;
#pragma omp for schedule(static)
        for (size_t row = 0; row < n * n; row++) {
            memcpy(from + row * n, start + row * n, n * sizeof *from);
            memcpy(to + row * n, start + row * n, n * sizeof *from);
        }
        for (uint64_t k = 0; k < s->size[1] / 2 * 2; k++) {
#pragma omp for schedule(static)
            for (size_t z = 1; z < n - 1; z++) {
                for (size_t y = 1; y < n - 1; y++) {
                    stencil27_row(from + ((z - 1) * n + y - 1) * n, weight,
                                  to + (z * n + y) * n + 1, n);
                }
            }
            double *other = from;
            from = to;
            to = other;
        }
    }
}

/* Sums of three cells in a row, as two bits, are made once for the three rows that need them. */

static void bit_sums(const uint32_t *restrict row, uint32_t *restrict low, uint32_t *restrict high,
                     size_t words) {
    size_t last = words - 1;
    for (size_t x = 0; x < words; x += last ? last : 1) {
        uint32_t mid = row[x], west = mid << 1 | row[x ? x - 1 : last] >> 31;
        uint32_t east = mid >> 1 | row[x < last ? x + 1 : 0] << 31;
        low[x] = west ^ mid ^ east;
        high[x] = (west & east) | (mid & (west ^ east));
    }
#pragma omp simd
    for (size_t x = 1; x < last; x++) {
        uint32_t mid = row[x], west = mid << 1 | row[x - 1] >> 31;
        uint32_t east = mid >> 1 | row[x + 1] << 31;
        low[x] = west ^ mid ^ east;
        high[x] = (west & east) | (mid & (west ^ east));
    }
}

/* Of nine cells three live, or four and the one in the middle. */
static void bit_row(const uint32_t *restrict row, uint32_t *const low[3], uint32_t *const high[3],
                    uint32_t *restrict to, size_t words) {
    const uint32_t *restrict a0 = low[0], *restrict b0 = low[1], *restrict c0 = low[2];
    const uint32_t *restrict a1 = high[0], *restrict b1 = high[1], *restrict c1 = high[2];
#pragma omp simd
    for (size_t x = 0; x < words; x++) {
        uint32_t one = a0[x] ^ b0[x] ^ c0[x];
        uint32_t carry = (a0[x] & b0[x]) | (c0[x] & (a0[x] ^ b0[x]));
        uint32_t p = a1[x] ^ b1[x], q = c1[x] ^ carry, two = p ^ q;
        uint32_t four = (a1[x] & b1[x]) ^ (c1[x] & carry) ^ (p & q);
        to[x] = (one & two & ~four) | (row[x] & ~one & ~two & four);
    }
}

static void run_bit_life(void *state) {
    set_job *s = state;
    size_t words = s->size[0], height = s->size[1], size = words * height;
    uint32_t *room = s->scratch;
#pragma omp parallel
    {
        int me = PEER_THREAD(), threads = PEER_THREADS();
        size_t begin = peer_cut(height, me, threads), end = peer_cut(height, me + 1, threads);
        uint32_t *from = s->out[0], *to = room, *sums = room + size + (size_t)me * 6 * words;
        memcpy(from + begin * words, (const uint32_t *)s->in[0] + begin * words,
               (end - begin) * words * sizeof *from);
        uint32_t *low[3] = {sums, sums + words, sums + 2 * words};
        uint32_t *high[3] = {sums + 3 * words, sums + 4 * words, sums + 5 * words};
#pragma omp barrier
        for (uint64_t k = 0; k < s->size[2] / 2 * 2; k++) {
            bit_sums(from + (begin + height - 1) % height * words, low[0], high[0], words);
            bit_sums(from + begin % height * words, low[1], high[1], words);
            for (size_t y = begin; y < end; y++) {
                bit_sums(from + (y + 1) % height * words, low[2], high[2], words);
                bit_row(from + y * words, low, high, to + y * words, words);
                uint32_t *free_low = low[0], *free_high = high[0];
                low[0] = low[1], low[1] = low[2], low[2] = free_low;
                high[0] = high[1], high[1] = high[2], high[2] = free_high;
            }
            uint32_t *other = from;
            from = to;
            to = other;
#pragma omp barrier
        }
    }
}

static void *prepare_bit_life(const peer_instance *p) {
    return set_prepare_room(p, p->in_bytes[0] +
                                   p->size[0] * 6 * (size_t)PEER_MOST() * sizeof(uint32_t));
}

const peer peer_integral = {"integral", prepare_integral, NULL, run_integral, set_collect};
const peer peer_srad = {"srad", prepare_srad, NULL, run_srad, set_collect};
const peer peer_bilateral = {"bilateral", prepare_bilateral, NULL, run_bilateral, set_collect};
const peer peer_dct8 = {"dct8", set_prepare, NULL, run_dct8, set_collect};
const peer peer_stencil27 = {"stencil27", set_prepare, NULL, run_stencil27, set_collect};
const peer peer_bit_life = {"bit_life", prepare_bit_life, NULL, run_bit_life, set_collect};
