/* Points and particles of the held-out set. */
#include "sets.h"

/* The eight nearest: distances to a block of points are vectors, of floats, which are exact here;
 * most are not among the best, and only those that are get a place. */

enum { AXES = 16, BEST = 8, POINTS = 256, TESTED = 16 };

typedef struct best_list {
    float apart[BEST];
    uint32_t which[BEST];
} best_list;

static void knn_insert(best_list *best, float apart, uint32_t which) {
    size_t k = BEST - 1;
    for (; k > 0 && best->apart[k - 1] > apart; k--) {
        best->apart[k] = best->apart[k - 1];
        best->which[k] = best->which[k - 1];
    }
    best->apart[k] = apart;
    best->which[k] = which;
}

static bool knn_has_better(const float *restrict apart, float worst) {
    int any = 0;
#pragma omp simd reduction(| : any)
    for (size_t k = 0; k < TESTED; k++) {
        any |= apart[k] < worst;
    }
    return any;
}

/* `block`: all first coordinates, all second ones, ... */
static void knn_block(const uint8_t *query, const float (*restrict block)[POINTS], size_t count,
                      uint32_t first, best_list *best) {
    float apart[POINTS] = {0};
    for (size_t d = 0; d < AXES; d += 4) {
        float a = query[d], b = query[d + 1], c = query[d + 2], e = query[d + 3];
#pragma omp simd
        for (size_t p = 0; p < POINTS; p++) {
            float w = block[d][p] - a, x = block[d + 1][p] - b, y = block[d + 2][p] - c,
                  z = block[d + 3][p] - e;
            apart[p] += w * w + x * x + y * y + z * z;
        }
    }
    for (size_t p = 0; p < count; p += TESTED) {
        if (knn_has_better(apart + p, best->apart[BEST - 1])) {
            for (size_t k = p; k < count && k < p + TESTED; k++) {
                if (apart[k] < best->apart[BEST - 1]) {
                    knn_insert(best, apart[k], first + (uint32_t)k);
                }
            }
        }
    }
}

static void run_knn(void *state) {
    set_job *s = state;
    size_t queries = s->size[0], points = s->size[1];
    const uint8_t *query = s->in[0], *point = s->in[1];
    uint32_t *nearest = s->out[0], *apart = s->out[1];
    best_list *best = s->scratch;
#pragma omp parallel
    {
        size_t from = peer_cut(queries, PEER_THREAD(), PEER_THREADS());
        size_t to = peer_cut(queries, PEER_THREAD() + 1, PEER_THREADS());
        for (size_t q = from; q < to; q++) {
            for (size_t k = 0; k < BEST; k++) {
                best[q].apart[k] = 4294967296.0f;
            }
        }
        for (size_t first = 0; first < points; first += POINTS) {
            size_t count = points - first < POINTS ? points - first : POINTS;
            float block[AXES][POINTS] = {{0}};
            for (size_t p = 0; p < count; p++) {
                for (size_t d = 0; d < AXES; d++) {
                    block[d][p] = point[(first + p) * AXES + d];
                }
            }
            for (size_t q = from; q < to; q++) {
                knn_block(query + q * AXES, (const float(*)[POINTS])block, count, (uint32_t)first,
                          &best[q]);
            }
        }
        for (size_t q = from; q < to; q++) {
            for (size_t k = 0; k < BEST; k++) {
                nearest[q * BEST + k] = best[q].which[k];
                apart[q * BEST + k] = (uint32_t)best[q].apart[k];
            }
        }
    }
}

static void *prepare_knn(const peer_instance *p) {
    return set_prepare_room(p, p->size[0] * sizeof(best_list));
}

/* Neighbours: a sort by cells with counts of each thread, then cell by cell: what is in the nine
 * around it is copied next to each other. */

typedef struct cell_particle {
    int32_t x, y;
    uint32_t index;
} cell_particle;

typedef struct cell_grid {
    size_t side, cells, n;
    int32_t width, reach;
    const uint16_t *x, *y;
    uint32_t *begin; /* of each thread, for each cell; then of the cells */
    cell_particle *sorted;
} cell_grid;

static size_t cell_of(const cell_grid *g, size_t i) {
    return (size_t)(g->y[i] / g->width) * g->side + (size_t)(g->x[i] / g->width);
}

static void cells_sort(const cell_grid *g) {
    int me = PEER_THREAD(), threads = PEER_THREADS();
    size_t from = peer_cut(g->n, me, threads), to = peer_cut(g->n, me + 1, threads);
    uint32_t *mine = g->begin + (size_t)me * g->cells;
    memset(mine, 0, g->cells * sizeof *mine);
    for (size_t i = from; i < to; i++) {
        mine[cell_of(g, i)]++;
    }
#pragma omp barrier
#pragma omp single
    {
        uint32_t sum = 0;
        for (size_t c = 0; c < g->cells; c++) {
            for (int t = 0; t < threads; t++) {
                uint32_t here = g->begin[(size_t)t * g->cells + c];
                g->begin[(size_t)t * g->cells + c] = sum;
                sum += here;
            }
        }
    }
    for (size_t i = from; i < to; i++) {
        g->sorted[mine[cell_of(g, i)]++] = (cell_particle){g->x[i], g->y[i], (uint32_t)i};
    }
#pragma omp barrier
}

/* After the sort the last thread's counts are where cells end. */
static size_t cell_end(const uint32_t *end, size_t cell) {
    return cell ? end[cell - 1] : 0;
}

/* Particles around a cell, in whole vectors: the rest is out of reach of all in the cell. */
enum { CANDIDATES = 512, VECTOR = 8 };

typedef struct cell_candidates {
    size_t count;
    int32_t x[CANDIDATES], y[CANDIDATES], outside;
} cell_candidates;

/* Counts what was collected for the particles from `first` to `last`, and forgets it. */
static void cell_flush(const cell_grid *g, cell_candidates *c, size_t first, size_t last,
                       uint32_t *count) {
    int32_t square = g->reach * g->reach;
    for (; c->count % VECTOR; c->count++) {
        c->x[c->count] = c->outside;
        c->y[c->count] = g->sorted[first].y;
    }
    for (size_t i = first; i < last; i++) {
        int32_t px = g->sorted[i].x, py = g->sorted[i].y, found[VECTOR] = {0};
        for (size_t k = 0; k < c->count; k += VECTOR) {
#pragma omp simd
            for (size_t j = 0; j < VECTOR; j++) {
                int32_t dx = c->x[k + j] - px, dy = c->y[k + j] - py;
                found[j] += dx * dx + dy * dy <= square;
            }
        }
        for (size_t j = 0; j < VECTOR; j++) {
            count[g->sorted[i].index] += (uint32_t)found[j];
        }
    }
    c->count = 0;
}

static void cell_count(const cell_grid *g, const uint32_t *end, size_t cx, size_t cy,
                       uint32_t *count) {
    size_t side = g->side, left = cx ? cx - 1 : 0, right = cx + 2 < side ? cx + 2 : side;
    size_t first = cell_end(end, cy * side + cx), last = cell_end(end, cy * side + cx + 1);
    cell_candidates c = {.outside = ((int32_t)cx - 2) * g->width};
    for (size_t i = first; i < last; i++) {
        count[g->sorted[i].index] = (uint32_t)-1; /* itself is near, too */
    }
    for (size_t row = cy ? cy - 1 : 0; row < (cy + 2 < side ? cy + 2 : side); row++) {
        size_t to = cell_end(end, row * side + right);
        for (size_t k = cell_end(end, row * side + left); k < to && first < last; k++) {
            c.x[c.count] = g->sorted[k].x;
            c.y[c.count++] = g->sorted[k].y;
            if (c.count == CANDIDATES) {
                cell_flush(g, &c, first, last, count);
            }
        }
    }
    if (first < last) {
        cell_flush(g, &c, first, last, count);
    }
}

static void run_neighbours(void *state) {
    set_job *s = state;
    size_t side = s->size[1], n = s->size[0];
    cell_grid g = {side,
                   side * side,
                   n,
                   (int32_t)(65536 / side),
                   (int32_t)s->size[2],
                   s->in[0],
                   s->in[1],
                   (uint32_t *)(void *)((cell_particle *)s->scratch + n),
                   s->scratch};
#pragma omp parallel
    {
        cells_sort(&g);
        const uint32_t *end = g.begin + (size_t)(PEER_THREADS() - 1) * g.cells;
#pragma omp for schedule(static)
        for (size_t cy = 0; cy < side; cy++) {
            for (size_t cx = 0; cx < side; cx++) {
                cell_count(&g, end, cx, cy, s->out[0]);
            }
        }
    }
}

static void *prepare_neighbours(const peer_instance *p) {
    size_t cells = p->size[1] * p->size[1] * (size_t)PEER_MOST();
    return set_prepare_room(p, p->size[0] * sizeof(cell_particle) + cells * sizeof(uint32_t));
}

/* Boxes: what is in the 27 around is copied next to each other, then each particle sums over it. */

enum { PARTICLES = 64, AROUND = 27, MOST = AROUND * PARTICLES };
static const size_t inside = PARTICLES;

typedef struct lava_particles {
    size_t count;
    float x[MOST], y[MOST], z[MOST], q[MOST];
} lava_particles;

static void lava_gather(const set_job *s, size_t bx, size_t by, size_t bz, lava_particles *p) {
    size_t side = s->size[0];
    const float *place = s->in[0], *charge = s->in[1];
    p->count = 0;
    for (size_t k = 0; k < AROUND; k++) {
        size_t dx = k % 3, dy = k / 3 % 3, dz = k / 9;
        size_t x = bx + dx - 1, y = by + dy - 1, z = bz + dz - 1;
        if (x >= side || y >= side || z >= side) {
            continue;
        }
        size_t box = (z * side + y) * side + x, at = p->count;
        const float *from = place + box * 3 * inside;
        for (size_t i = 0; i < inside; i++) {
            p->x[at + i] = from[i] + (float)dx - 1.0f;
            p->y[at + i] = from[inside + i] + (float)dy - 1.0f;
            p->z[at + i] = from[2 * inside + i] + (float)dz - 1.0f;
            p->q[at + i] = charge[box * inside + i];
        }
        p->count += inside;
    }
}

static void lava_box(const lava_particles *p, const float *place, float *force) {
    for (size_t i = 0; i < inside; i++) {
        float x = place[i], y = place[inside + i], z = place[2 * inside + i];
        float fx = 0.0f, fy = 0.0f, fz = 0.0f, potential = 0.0f;
#pragma omp simd reduction(+ : fx, fy, fz, potential)
        for (size_t j = 0; j < p->count; j++) {
            float dx = x - p->x[j], dy = y - p->y[j], dz = z - p->z[j];
            float u = peer_exp(-0.5f * (dx * dx + dy * dy + dz * dz)) * p->q[j];
            potential += u;
            fx += u * dx;
            fy += u * dy;
            fz += u * dz;
        }
        force[i] = fx;
        force[inside + i] = fy;
        force[2 * inside + i] = fz;
        force[3 * inside + i] = potential;
    }
}

static void run_lava(void *state) {
    set_job *s = state;
    size_t side = s->size[0];
    const float *place = s->in[0];
    float *force = s->out[0];
#pragma omp parallel for schedule(dynamic)
    for (size_t box = 0; box < side * side * side; box++) {
        lava_particles p;
        lava_gather(s, box % side, box / side % side, box / side / side, &p);
        lava_box(&p, place + box * 3 * inside, force + box * 4 * inside);
    }
}

const peer peer_knn = {"knn", prepare_knn, NULL, run_knn, set_collect};
const peer peer_neighbours = {"neighbours", prepare_neighbours, NULL, run_neighbours, set_collect};
const peer peer_lava = {"lava", set_prepare, NULL, run_lava, set_collect};
