/* What the held-out set computes of pictures and signals: waves at places, differences of blocks,
 * check sums, wavelets. */
#include "sets.h"

/* Waves of all samples at stretches of voxels. */

static void run_mri_q(void *state) {
    set_job *s = state;
    enum { STRETCH = 64 };
    size_t voxels = s->size[0], samples = s->size[1];
    const float *x = s->in[0], *y = s->in[1], *z = s->in[2], *sample = s->in[3];
    float *real = s->out[0], *imag = s->out[1];
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < voxels; first += STRETCH) {
        size_t count = voxels - first < STRETCH ? voxels - first : STRETCH;
        float px[STRETCH] = {0}, py[STRETCH] = {0}, pz[STRETCH] = {0};
        float re[STRETCH] = {0}, im[STRETCH] = {0};
        memcpy(px, x + first, count * sizeof *px);
        memcpy(py, y + first, count * sizeof *py);
        memcpy(pz, z + first, count * sizeof *pz);
        for (size_t k = 0; k < samples; k++) {
            const float *at = sample + k * 4;
#pragma omp simd
            for (size_t i = 0; i < STRETCH; i++) {
                float sine, cosine;
                peer_sine_cosine(at[0] * px[i] + at[1] * py[i] + at[2] * pz[i], &sine, &cosine);
                re[i] += at[3] * cosine;
                im[i] += at[3] * sine;
            }
        }
        memcpy(real + first, re, count * sizeof *re);
        memcpy(imag + first, im, count * sizeof *im);
    }
}

/* Differences of blocks: the other picture has a margin, so that all places of a line are one
 * vector. */

enum {
    BLOCK = 4,
    REACH = 8,
    BOTH = 2 * REACH,
    ACROSS = BOTH + 1,
    PLACES = ACROSS * ACROSS,
    LANES = 32
};
enum { MARGIN = REACH + LANES };

static void block_line(const uint8_t *frame, size_t width, const uint8_t *wide, size_t wide_width,
                       uint16_t *sums) {
    uint16_t sum[LANES] = {0};
    for (size_t y = 0; y < BLOCK; y++) {
        for (size_t x = 0; x < BLOCK; x++) {
            const uint8_t pixel = frame[y * width + x];
            const uint8_t *line = wide + y * wide_width + x;
#pragma omp simd
            for (size_t k = 0; k < LANES; k++) {
                const uint8_t more = line[k] > pixel ? line[k] : pixel;
                const uint8_t less = line[k] > pixel ? pixel : line[k];
                sum[k] = (uint16_t)(sum[k] + (uint8_t)(more - less));
            }
        }
    }
    memcpy(sums, sum, ACROSS * sizeof *sums);
}

static void widen(const uint8_t *other, size_t width, size_t height, size_t y, uint8_t *line) {
    size_t from = y < REACH ? 0 : y - REACH < height ? y - REACH : height - 1;
    memset(line, other[from * width], REACH);
    memcpy(line + REACH, other + from * width, width);
    memset(line + REACH + width, other[from * width + width - 1], MARGIN - REACH);
}

static void run_sad(void *state) {
    set_job *s = state;
    size_t width = s->size[0], height = s->size[1], wide_width = width + MARGIN;
    size_t columns = width / BLOCK, rows = height / BLOCK;
    const uint8_t *frame = s->in[0], *other = s->in[1];
    uint16_t *four = s->out[0], *eight = s->out[1];
    uint8_t *wide = s->scratch;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (size_t y = 0; y < height + BOTH; y++) {
            widen(other, width, height, y, wide + y * wide_width);
        }
        /* Two lines of blocks, then the blocks that consist of them. */
#pragma omp for schedule(static)
        for (size_t pair = 0; pair < rows / 2; pair++) {
            for (size_t b = pair * 2 * columns; b < (pair + 1) * 2 * columns; b++) {
                size_t x = b % columns * BLOCK, y = b / columns * BLOCK;
                for (size_t dy = 0; dy < ACROSS; dy++) {
                    block_line(frame + y * width + x, width, wide + (y + dy) * wide_width + x,
                               wide_width, four + b * PLACES + dy * ACROSS);
                }
            }
            for (size_t b = 0; b < columns / 2; b++) {
                const uint16_t *upper = four + (pair * 2 * columns + 2 * b) * PLACES;
                const uint16_t *lower = upper + columns * PLACES;
                uint16_t *to = eight + (pair * (columns / 2) + b) * PLACES;
                for (size_t k = 0; k < PLACES; k++) {
                    to[k] = (uint16_t)(upper[k] + upper[k + PLACES] + lower[k] + lower[k + PLACES]);
                }
            }
        }
    }
}

static void *prepare_sad(const peer_instance *p) {
    return set_prepare_room(p, (p->size[0] + MARGIN) * (p->size[1] + BOTH));
}

/* Check sums of stretches of records, word after word. */

static void run_crc32(void *state) {
    set_job *s = state;
    enum { STRETCH = 64 };
    size_t records = s->size[0], words = s->size[1];
    const uint32_t *text = s->in[0], *table = s->in[1];
    uint32_t *sums = s->out[0];
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < records; first += STRETCH) {
        size_t count = records - first < STRETCH ? records - first : STRETCH;
        uint32_t sum[STRETCH];
        memset(sum, 0xff, sizeof sum);
        for (size_t k = 0; k < words; k++) {
            const uint32_t *line = text + k * records + first;
#pragma omp simd
            for (size_t i = 0; i < count; i++) {
                uint32_t w = sum[i] ^ line[i];
                sum[i] = table[768 + (w & 255)] ^ table[512 + (w >> 8 & 255)] ^
                         table[256 + (w >> 16 & 255)] ^ table[w >> 24];
            }
        }
        for (size_t i = 0; i < count; i++) {
            sums[first + i] = ~sum[i];
        }
    }
}

/* Wavelets: lines of a level by themselves, then pairs of lines as vectors. */

static inline int32_t detail(int32_t a, int32_t b, int32_t c) {
    return b - ((a + c) >> 1);
}

static void wavelet_row(const int32_t *restrict line, size_t pairs, int32_t *restrict smooth) {
    int32_t *restrict details = smooth + pairs;
    for (size_t k = 0; k + 1 < pairs; k++) {
        details[k] = detail(line[2 * k], line[2 * k + 1], line[2 * k + 2]);
    }
    details[pairs - 1] = detail(line[2 * pairs - 2], line[2 * pairs - 1], line[2 * pairs - 2]);
    smooth[0] = line[0] + ((2 * details[0] + 2) >> 2);
    for (size_t k = 1; k < pairs; k++) {
        smooth[k] = line[2 * k] + ((details[k - 1] + details[k] + 2) >> 2);
    }
}

/* Line y of the smooth numbers and of the details, from two lines and those around them. */
static void wavelet_columns(const int32_t *half, size_t width, size_t w, size_t lines, size_t y,
                            int32_t *plane) {
    const int32_t *restrict here = half + 2 * y * width, *restrict odd = here + width;
    const int32_t *restrict next = y + 1 < lines ? odd + width : here;
    const int32_t *restrict last = y > 0 ? here - width : odd;
    const int32_t *restrict before = y > 0 ? last - width : next;
    int32_t *restrict smooth = plane + y * width, *restrict details = plane + (lines + y) * width;
    for (size_t c = 0; c < w; c++) {
        int32_t below = detail(here[c], odd[c], next[c]),
                above = detail(before[c], last[c], here[c]);
        smooth[c] = here[c] + ((above + below + 2) >> 2);
        details[c] = below;
    }
}

static void run_wavelet(void *state) {
    set_job *s = state;
    size_t width = s->size[0], height = s->size[1], levels = s->size[2];
    const uint8_t *image = s->in[0];
    int32_t *plane = s->out[0], *half = s->scratch;
#pragma omp parallel
    {
        for (size_t l = 0; l < levels; l++) {
            size_t w = width >> l, h = height >> l;
#pragma omp for schedule(static)
            for (size_t y = 0; y < h; y++) {
                for (size_t x = 0; l == 0 && x < width; x++) {
                    plane[y * width + x] = image[y * width + x] - 128;
                }
                wavelet_row(plane + y * width, w / 2, half + y * width);
            }
#pragma omp for schedule(static)
            for (size_t y = 0; y < h / 2; y++) {
                wavelet_columns(half, width, w, h / 2, y, plane);
            }
        }
    }
}

const peer peer_mri_q = {"mri_q", set_prepare, NULL, run_mri_q, set_collect};
const peer peer_sad = {"sad", prepare_sad, NULL, run_sad, set_collect};
const peer peer_crc32 = {"crc32", set_prepare, NULL, run_crc32, set_collect};
const peer peer_wavelet = {"wavelet", set_prepare, NULL, run_wavelet, set_collect};
