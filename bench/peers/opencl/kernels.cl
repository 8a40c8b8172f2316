// The programs of bench/programs, cut by hand at their grid barriers, in the form that one writes for a
// GPU: one work-item per element or grid-stride loops, local memory, barriers, atomics.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void jacobi_start(global const float *start, global float *plate, global float *other, uint width,
                         uint height) {
    uint x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height) {
        plate[y * width + x] = start[y * width + x];
        other[y * width + x] = start[y * width + x];
    }
}

kernel void jacobi_sweep(global const float *from, global float *to, uint width, uint height) {
    uint x = get_global_id(0), y = get_global_id(1), i = y * width + x;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        to[i] = 0.25f * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width]);
    }
}

kernel void bfs_start(global uint *dist, global uint *queue, global uint *count, uint n) {
    for (uint v = get_global_id(0); v < n; v += get_global_size(0)) {
        dist[v] = v == 0 ? 0 : 0xffffffff;
    }
    if (get_global_id(0) == 0) {
        queue[0] = 0;
        count[0] = 0;
    }
}

kernel void bfs_level(global const uint *row, global const uint *col, global uint *dist,
                      global const uint *here, global uint *next, global uint *count, uint size, uint level) {
    uint q = get_global_id(0);
    if (q < size) {
        uint v = here[q];
        for (uint e = row[v]; e < row[v + 1]; e++) {
            uint u = col[e];
            if (dist[u] == 0xffffffff && atomic_cmpxchg(&dist[u], 0xffffffff, level + 1) == 0xffffffff) {
                next[atomic_inc(count)] = u;
            }
        }
    }
}

kernel void rank_start(global float *rank, uint n) {
    uint v = get_global_id(0);
    if (v < n) {
        rank[v] = 1.0f / (float)n;
    }
}

kernel void rank_share(global const uint *row, global const float *rank, global float *share, uint n) {
    uint v = get_global_id(0);
    if (v < n) {
        uint degree = row[v + 1] - row[v];
        share[v] = degree ? rank[v] / (float)degree : 0.0f;
    }
}

kernel void rank_pull(global const uint *row, global const uint *col, global const float *share,
                      global float *rank, uint n) {
    uint v = get_global_id(0);
    if (v < n) {
        float given = 0.0f;
        for (uint e = row[v]; e < row[v + 1]; e++) {
            given += share[col[e]];
        }
        rank[v] = (1.0f - 0.85f) / (float)n + 0.85f * given;
    }
}

// Inclusive over the workgroup; line[255] is the total.
uint group_scan(uint v, local uint *line) {
    uint l = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    line[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint reach = 1; reach < 256; reach *= 2) {
        uint left = l >= reach ? line[l - reach] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        line[l] += left;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return line[l];
}

kernel void scan_sums(global const uint *x, global uint *sums, uint n, local uint *line) {
    uint first = get_group_id(0) * 2048, l = get_local_id(0), mine = 0;
    for (uint k = 0; k < 8; k++) {
        uint i = first + k * 256 + l;
        mine += i < n ? x[i] : 0;
    }
    line[l] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = 128; half_size; half_size /= 2) {
        if (l < half_size) {
            line[l] += line[l + half_size];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) {
        sums[get_group_id(0)] = line[0];
    }
}

kernel void scan_bases(global uint *sums, uint tiles, local uint *line) {
    uint l = get_local_id(0), carry = 0;
    for (uint first = 0; first < tiles; first += 256) {
        uint mine = first + l < tiles ? sums[first + l] : 0;
        uint through = group_scan(mine, line);
        if (first + l < tiles) {
            sums[first + l] = carry + through - mine;
        }
        carry += line[255];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

kernel void scan_tiles(global const uint *x, global const uint *sums, global uint *y, uint n,
                       local uint *line) {
    uint first = get_group_id(0) * 2048 + get_local_id(0) * 8, mine = 0;
    for (uint k = 0; k < 8; k++) {
        mine += first + k < n ? x[first + k] : 0;
    }
    uint before = sums[get_group_id(0)] + group_scan(mine, line) - mine;
    for (uint k = 0; k < 8; k++) {
        if (first + k < n) {
            y[first + k] = before;
            before += x[first + k];
        }
    }
}

kernel void sort_count(global const uint *x, global uint *table, uint n, uint shift, local uint *count) {
    uint first = get_group_id(0) * 8192, l = get_local_id(0);
    for (uint d = l; d < 256; d += 64) {
        count[d] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = first + l; i < min(first + 8192, n); i += 64) {
        atomic_inc(&count[(x[i] >> shift) & 255]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = l; d < 256; d += 64) {
        table[d * get_num_groups(0) + get_group_id(0)] = count[d];
    }
}

kernel void sort_rows(global uint *table, global uint *totals, uint tiles) {
    uint d = get_global_id(0), sum = 0;
    for (uint t = 0; t < tiles; t++) {
        uint here = table[d * tiles + t];
        table[d * tiles + t] = sum;
        sum += here;
    }
    totals[d] = sum;
}

kernel void sort_totals(global uint *totals) {
    uint sum = 0;
    for (uint d = 0; d < 256; d++) {
        uint here = totals[d];
        totals[d] = sum;
        sum += here;
    }
}

kernel void sort_move(global const uint *x, global uint *y, global const uint *table,
                      global const uint *totals, uint n, uint shift, local uint *count,
                      local ushort *place) {
    uint first = get_group_id(0) * 8192, l = get_local_id(0);
    uint from = min(first + l * 128, n), until = min(from + 128, n);
    for (uint k = l; k < 16384; k += 64) {
        place[k] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = from; i < until; i++) {
        place[l * 256 + ((x[i] >> shift) & 255)]++;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = l; d < 256; d += 64) {
        uint sum = 0;
        for (uint lane = 0; lane < 64; lane++) {
            uint here = place[lane * 256 + d];
            place[lane * 256 + d] = sum;
            sum += here;
        }
        count[d] = totals[d] + table[d * get_num_groups(0) + get_group_id(0)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = from; i < until; i++) {
        uint key = x[i], d = (key >> shift) & 255;
        y[count[d] + place[l * 256 + d]++] = key;
    }
}

kernel void histogram(global const uchar *x, global uint *count, uint n, local uint *mine) {
    uint l = get_local_id(0);
    mine[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        atomic_inc(&mine[x[i]]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&count[l], mine[l]);
}

#define GROUP_SUM(name, type)                                                                      \
    type name(type v, local type *tile) {                                                          \
        uint l = get_local_id(0);                                                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        tile[l] = v;                                                                               \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        for (uint half_size = 128; half_size; half_size /= 2) {                                    \
            if (l < half_size) {                                                                   \
                tile[l] += tile[l + half_size];                                                    \
            }                                                                                      \
            barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        }                                                                                          \
        return tile[0];                                                                            \
    }
GROUP_SUM(sum_f32, float)
GROUP_SUM(sum_u32, uint)
GROUP_SUM(sum_f64, double)

#define REDUCE(name, sum, type)                                                                    \
    kernel void name(global const type *x, global type *out, uint n, local type *tile) {           \
        type mine = 0;                                                                             \
        for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {                          \
            mine += x[i];                                                                          \
        }                                                                                          \
        type all = sum(mine, tile);                                                                \
        if (get_local_id(0) == 0) {                                                                \
            out[get_group_id(0)] = all;                                                            \
        }                                                                                          \
    }
REDUCE(reduce_f32, sum_f32, float)
REDUCE(reduce_u32, sum_u32, uint)

kernel void cg_start(global const double *b, global double *x, global double *r, global double *p,
                     global double *rr, uint n, local double *tile) {
    double mine = 0.0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        x[i] = 0.0;
        r[i] = p[i] = b[i];
        mine += b[i] * b[i];
    }
    double all = sum_f64(mine, tile);
    if (get_local_id(0) == 0) {
        rr[get_group_id(0)] = all;
    }
}

kernel void cg_multiply(global const uint *row, global const uint *col, global const double *val,
                        global const double *p, global double *q, global double *pq, uint n,
                        local double *tile) {
    double mine = 0.0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        double sum = 0.0;
        for (uint e = row[i]; e < row[i + 1]; e++) {
            sum += val[e] * p[col[e]];
        }
        q[i] = sum;
        mine += p[i] * sum;
    }
    double all = sum_f64(mine, tile);
    if (get_local_id(0) == 0) {
        pq[get_group_id(0)] = all;
    }
}

double total(global const double *parts, local double *tile) {
    uint l = get_local_id(0);
    return sum_f64(l < get_num_groups(0) ? parts[l] : 0.0, tile);
}

kernel void cg_advance(global const double *p, global const double *q, global double *x, global double *r,
                       global const double *pq, global const double *rr, global double *next, uint n,
                       local double *tile) {
    double now = total(rr, tile);
    double alpha = now / total(pq, tile), mine = 0.0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        x[i] += alpha * p[i];
        double left = r[i] - alpha * q[i];
        r[i] = left;
        mine += left * left;
    }
    double all = sum_f64(mine, tile);
    if (get_local_id(0) == 0) {
        next[get_group_id(0)] = all;
    }
}

kernel void cg_turn(global const double *r, global double *p, global const double *rr,
                    global const double *next, global double *rest, uint n, local double *tile) {
    double now = total(rr, tile);
    double then = total(next, tile);
    double beta = then / now;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        p[i] = r[i] + beta * p[i];
    }
    if (get_global_id(0) == 0) {
        rest[0] = then;
    }
}

kernel void nbody_pull(global const float *m, global const float *at, global float *pull, uint n,
                       local float *tile) {
    uint i = get_global_id(0), l = get_local_id(0);
    float x = at[i], y = at[n + i], z = at[2 * n + i], ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (uint first = 0; first < n; first += 256) {
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[l] = at[first + l];
        tile[256 + l] = at[n + first + l];
        tile[512 + l] = at[2 * n + first + l];
        tile[768 + l] = m[first + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < 256; j++) {
            float dx = tile[j] - x, dy = tile[256 + j] - y, dz = tile[512 + j] - z;
            float d = dx * dx + (dy * dy + (dz * dz + 0.01f));
            float f = tile[768 + j] / (d * sqrt(d));
            ax += f * dx;
            ay += f * dy;
            az += f * dz;
        }
    }
    pull[i] = ax;
    pull[n + i] = ay;
    pull[2 * n + i] = az;
}

kernel void nbody_move(global const float *pull, global float *speed, global float *at) {
    uint i = get_global_id(0);
    speed[i] += 0.001f * pull[i];
    at[i] += 0.001f * speed[i];
}

kernel void copy_f32(global const float *from, global float *to) {
    to[get_global_id(0)] = from[get_global_id(0)];
}

kernel void matmul(global const float *a, global const float *b, global float *c, uint n, local float *ta,
                   local float *tb) {
    uint x = get_local_id(0), y = get_local_id(1), gx = get_global_id(0), gy = get_global_id(1);
    float sum = 0.0f;
    for (uint first = 0; first < n; first += 16) {
        ta[y * 16 + x] = a[gy * n + first + x];
        tb[y * 16 + x] = b[(first + y) * n + gx];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < 16; k++) {
            sum = fma(ta[y * 16 + k], tb[k * 16 + x], sum);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[gy * n + gx] = sum;
}

kernel void closure_start(global uint *reach, uint words) {
    uint i = get_global_id(0), v = i / words;
    reach[i] = i % words == v / 32 ? 1u << (v % 32) : 0;
}

kernel void closure_join(global const uint *row, global const uint *col, global const uint *from,
                         global uint *to, uint words, global uint *changed) {
    uint i = get_global_id(0), v = i / words, word = i % words, set = from[i];
    for (uint e = row[v]; e < row[v + 1]; e++) {
        set |= from[col[e] * words + word];
    }
    if (set != from[i]) {
        *changed = 1;
    }
    to[i] = set;
}

kernel void barrier_turn(global const uint *here, global uint *there) {
    uint i = get_global_id(0);
    there[i] = here[(i + 64) % 128] + 1;
}
