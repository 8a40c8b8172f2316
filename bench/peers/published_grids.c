/* Planes of the published set: rows are cut statically, inner loops are vector loops, borders
 * apart.
 */
#include "sets.h"

static void exchange(float **x, float **y) {
    float *other = *x;
    *x = *y;
    *y = other;
}

static float hotspot_cell(const float *north, const float *here, const float *south, float power,
                          size_t west, size_t x, size_t east) {
    float t = here[x], vertical = north[x] + south[x] - 2.0f * t,
          horizontal = here[west] + here[east] - 2.0f * t;
    return t + (0.1f * power + 0.2f * vertical + 0.15f * horizontal + 0.01f * (0.5f - t));
}

static void hotspot_row(const float *restrict north, const float *restrict here,
                        const float *restrict south, const float *restrict power,
                        float *restrict to, size_t width) {
    size_t last = width - 1;
    to[0] = hotspot_cell(north, here, south, power[0], 0, 0, last ? 1 : 0);
    to[last] = hotspot_cell(north, here, south, power[last], last ? last - 1 : 0, last, last);
#pragma omp simd
    for (size_t x = 1; x < last; x++) {
        to[x] = hotspot_cell(north, here, south, power[x], x - 1, x, x + 1);
    }
}

static void run_hotspot(void *state) {
    set_job *s = state;
    size_t width = s->size[0], height = s->size[1];
    const float *start = s->in[0], *power = s->in[1];
#pragma omp parallel
    {
        float *from = s->out[0], *to = s->scratch;
#pragma omp for schedule(static)
        for (size_t y = 0; y < height; y++) {
            memcpy(from + y * width, start + y * width, width * sizeof *from);
        }
        for (uint64_t k = 0; k < s->size[2] / 2 * 2; k++) {
#pragma omp for schedule(static)
            for (size_t y = 0; y < height; y++) {
                hotspot_row(from + (y ? y - 1 : 0) * width, from + y * width,
                            from + (y + 1 < height ? y + 1 : y) * width, power + y * width,
                            to + y * width, width);
            }
            exchange(&from, &to);
        }
    }
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static void run_pathfinder(void *state) {
    set_job *s = state;
    size_t columns = s->size[0], last = columns - 1;
    const uint8_t *brick = s->in[0];
#pragma omp parallel
    {
        uint32_t *from = s->out[0], *to = s->scratch;
#pragma omp for schedule(static)
        for (size_t x = 0; x < columns; x++) {
            from[x] = brick[x];
        }
        for (uint64_t row = 1; row < s->size[1]; row++) {
            const uint8_t *restrict wall = brick + row * columns;
            const uint32_t *restrict old = from;
            uint32_t *restrict new = to;
#pragma omp for simd schedule(static) nowait
            for (size_t x = 1; x < last; x++) {
                new[x] = least(least(old[x - 1], old[x]), old[x + 1]) + wall[x];
            }
#pragma omp single
            {
                new[0] = least(old[0], old[last ? 1 : 0]) + wall[0];
                new[last] = least(old[last], old[last ? last - 1 : 0]) + wall[last];
            }
            uint32_t *other = from;
            from = to;
            to = other;
        }
    }
}

static void run_floyd(void *state) {
    set_job *s = state;
    size_t n = s->size[0];
    const uint32_t *length = s->in[0];
    uint32_t *d = s->out[0];
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                d[i * n + j] = i == j ? 0 : length[i * n + j] >> 8;
            }
        }
        for (size_t k = 0; k < n; k++) {
            const uint32_t *restrict through = d + k * n;
#pragma omp for schedule(static)
            for (size_t i = 0; i < n; i++) {
                if (i != k) {
                    uint32_t *restrict row = d + i * n, far = row[k];
#pragma omp simd
                    for (size_t j = 0; j < n; j++) {
                        row[j] = least(row[j], far + through[j]);
                    }
                }
            }
        }
    }
}

static void fdtd_electric(float *restrict ex, float *restrict ey, const float *restrict hz,
                          const float *restrict above, float source, size_t width) {
    ey[0] = above ? ey[0] - 0.5f * (hz[0] - above[0]) : source;
    if (above) {
#pragma omp simd
        for (size_t x = 1; x < width; x++) {
            ey[x] = ey[x] - 0.5f * (hz[x] - above[x]);
            ex[x] = ex[x] - 0.5f * (hz[x] - hz[x - 1]);
        }
    } else {
#pragma omp simd
        for (size_t x = 1; x < width; x++) {
            ey[x] = source;
            ex[x] = ex[x] - 0.5f * (hz[x] - hz[x - 1]);
        }
    }
}

static void run_fdtd(void *state) {
    set_job *s = state;
    size_t width = s->size[0], height = s->size[1];
    const float *start = s->in[0];
    float *hz = s->out[0], *ex = s->out[1], *ey = s->out[2];
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (size_t y = 0; y < height; y++) {
            memcpy(hz + y * width, start + y * width, width * sizeof *hz);
            memset(ex + y * width, 0, width * sizeof *ex);
            memset(ey + y * width, 0, width * sizeof *ey);
        }
        for (uint64_t t = 0; t < s->size[2]; t++) {
#pragma omp for schedule(static)
            for (size_t y = 0; y < height; y++) {
                fdtd_electric(ex + y * width, ey + y * width, hz + y * width,
                              y ? hz + (y - 1) * width : NULL, (float)t, width);
            }
#pragma omp for schedule(static)
            for (size_t y = 0; y < height - 1; y++) {
                float *restrict h = hz + y * width;
                const float *restrict e = ex + y * width, *restrict f = ey + y * width;
#pragma omp simd
                for (size_t x = 0; x < width - 1; x++) {
                    h[x] = h[x] - 0.7f * (e[x + 1] - e[x] + f[x + width] - f[x]);
                }
            }
        }
    }
}

enum { WEIGHTS = 17, REACH = WEIGHTS / 2 };

static size_t inside(size_t at, size_t count) {
    size_t place = at < REACH ? 0 : at - REACH;
    return place < count ? place : count - 1;
}

static void convolve_row(const float *restrict image, const float *restrict weight,
                         float *restrict to, size_t width) {
    for (size_t x = 0; x < width; x++) {
        if (x == REACH && width > 2 * (size_t)REACH) {
            x = width - REACH; /* the middle is below */
        }
        float sum = 0.0f;
        for (size_t k = 0; k < WEIGHTS; k++) {
            sum += weight[k] * image[inside(x + k, width)];
        }
        to[x] = sum;
    }
#pragma omp simd
    for (size_t x = REACH; x < (width > REACH ? width - REACH : 0); x++) {
        float sum = 0.0f;
        for (size_t k = 0; k < WEIGHTS; k++) {
            sum += weight[k] * image[x + k - REACH];
        }
        to[x] = sum;
    }
}

static void run_convolve(void *state) {
    set_job *s = state;
    size_t width = s->size[0], height = s->size[1];
    const float *image = s->in[0], *weight = s->in[1];
    float *rows = s->scratch, *out = s->out[0];
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (size_t y = 0; y < height; y++) {
            convolve_row(image + y * width, weight, rows + y * width, width);
        }
#pragma omp for schedule(static)
        for (size_t y = 0; y < height; y++) {
            const float *restrict from[WEIGHTS];
            float *restrict to = out + y * width;
            for (size_t k = 0; k < WEIGHTS; k++) {
                from[k] = rows + inside(y + k, height) * width;
            }
#pragma omp simd
            for (size_t x = 0; x < width; x++) {
                float sum = 0.0f;
                for (size_t k = 0; k < WEIGHTS; k++) {
                    sum += weight[k] * from[k][x];
                }
                to[x] = sum;
            }
        }
    }
}

static uint8_t lower(uint8_t a, uint8_t b) {
    return a < b ? a : b;
}

static uint8_t higher(uint8_t a, uint8_t b) {
    return a < b ? b : a;
}

static uint8_t middle(uint8_t a, uint8_t b, uint8_t c) {
    return higher(lower(a, b), lower(higher(a, b), c));
}

static void median_row(const uint8_t *restrict a, const uint8_t *restrict b,
                       const uint8_t *restrict c, uint8_t *restrict to, size_t width) {
    to[0] = b[0];
    to[width - 1] = b[width - 1];
#pragma omp simd
    for (size_t x = 1; x < width - 1; x++) {
        uint8_t low = higher(
            higher(lower(lower(a[x - 1], a[x]), a[x + 1]), lower(lower(b[x - 1], b[x]), b[x + 1])),
            lower(lower(c[x - 1], c[x]), c[x + 1]));
        uint8_t high = lower(lower(higher(higher(a[x - 1], a[x]), a[x + 1]),
                                   higher(higher(b[x - 1], b[x]), b[x + 1])),
                             higher(higher(c[x - 1], c[x]), c[x + 1]));
        to[x] = middle(low,
                       middle(middle(a[x - 1], a[x], a[x + 1]), middle(b[x - 1], b[x], b[x + 1]),
                              middle(c[x - 1], c[x], c[x + 1])),
                       high);
    }
}

static void run_median(void *state) {
    set_job *s = state;
    size_t width = s->size[0], height = s->size[1];
    const uint8_t *image = s->in[0];
    uint8_t *calm = s->out[0];
#pragma omp parallel for schedule(static)
    for (size_t y = 0; y < height; y++) {
        const uint8_t *here = image + y * width;
        if (y == 0 || y == height - 1) {
            memcpy(calm + y * width, here, width);
        } else {
            median_row(here - width, here, here + width, calm + y * width, width);
        }
    }
}

typedef struct gray_rows {
    const float *up, *here, *down;
    float *to;
} gray_rows;

static inline void gray_cell(const float *restrict up, const float *restrict here,
                             const float *restrict down, float *restrict to, size_t far,
                             size_t left, size_t x, size_t right) {
    float u = here[x], v = here[far + x], reacts = u * v * v;
    float spread_u = here[left] + here[right] + up[x] + down[x] - 4.0f * u;
    float spread_v = here[far + left] + here[far + right] + up[far + x] + down[far + x] - 4.0f * v;
    to[x] = u + (0.16f * spread_u - reacts + 0.035f * (1.0f - u));
    to[far + x] = v + (0.08f * spread_v + reacts - 0.1f * v);
}

static void gray_row(gray_rows r, size_t far, size_t width) {
    size_t last = width - 1;
    gray_cell(r.up, r.here, r.down, r.to, far, last, 0, last ? 1 : 0);
    gray_cell(r.up, r.here, r.down, r.to, far, last ? last - 1 : 0, last, 0);
#pragma omp simd
    for (size_t x = 1; x < last; x++) {
        gray_cell(r.up, r.here, r.down, r.to, far, x - 1, x, x + 1);
    }
}

static void run_gray_scott(void *state) {
    set_job *s = state;
    size_t width = s->size[0], height = s->size[1], far = width * height;
    const float *start = s->in[0];
#pragma omp parallel
    {
        float *from = s->out[0], *to = s->scratch;
#pragma omp for schedule(static)
        for (size_t y = 0; y < 2 * height; y++) {
            memcpy(from + y * width, start + y * width, width * sizeof *from);
        }
        for (uint64_t k = 0; k < s->size[2] / 2 * 2; k++) {
#pragma omp for schedule(static)
            for (size_t y = 0; y < height; y++) {
                gray_rows r = {from + (y ? y - 1 : height - 1) * width, from + y * width,
                               from + (y + 1 < height ? y + 1 : 0) * width, to + y * width};
                gray_row(r, far, width);
            }
            exchange(&from, &to);
        }
    }
}

const peer peer_hotspot = {"hotspot", set_prepare, NULL, run_hotspot, set_collect};
const peer peer_pathfinder = {"pathfinder", set_prepare, NULL, run_pathfinder, set_collect};
const peer peer_floyd = {"floyd", set_prepare, NULL, run_floyd, set_collect};
const peer peer_fdtd = {"fdtd", set_prepare, NULL, run_fdtd, set_collect};
const peer peer_convolve = {"convolve", set_prepare, NULL, run_convolve, set_collect};
const peer peer_median = {"median", set_prepare, NULL, run_median, set_collect};
const peer peer_gray_scott = {"gray_scott", set_prepare, NULL, run_gray_scott, set_collect};
