/* The table for people and the figures for programs. */
#include <math.h>

#include "compare.h"

static const char *unit_of(double ns, double *factor) {
    *factor = ns >= 1e9 ? 1e-9 : ns >= 1e6 ? 1e-6 : 1e-3;
    return ns >= 1e9 ? "s" : ns >= 1e6 ? "ms" : "us";
}

static void print_time(double ns) {
    double factor;
    const char *unit = unit_of(ns, &factor);
    printf("%8.4g %-2s", ns * factor, unit);
}

static void print_result(const bench_row *row, uint32_t k) {
    const bench_result *r = &row->results[k];
    if (!r->is_there) {
        if (r->message[0]) {
            printf("  %-10s %s%s\n", r->name, r->is_wrong ? "WRONG: " : "absent: ", r->message);
        }
        return;
    }
    printf("  %-10s ", r->name);
    if (r->ns.median <= 0.0) {
        printf("%s%s\n",
               r->is_wrong     ? "WRONG: "
               : r->message[0] ? "absent: "
                               : "right",
               r->message);
        return;
    }
    print_time(r->ns.median);
    if (row->has_ours && k > 0) {
        printf("  %7.2fx  [%.2f %.2f]", r->ratio.median, r->ratio.low, r->ratio.high);
    } else {
        double factor;
        unit_of(r->ns.median, &factor);
        printf("            [%.4g %.4g]", r->ns.low * factor, r->ns.high * factor);
    }
    if (row->limit_ns > 0.0) {
        printf("  %.2fx limit", r->ns.median / row->limit_ns);
    }
    if (r->is_alone) {
        printf("  (on one thread)");
    }
    if (r->clean < r->pairs) {
        printf("  (%u of %u pairs had their cores)", r->clean, r->pairs);
    }
    if (r->is_wrong) {
        printf("  WRONG: %s", r->message);
    }
    printf("%s\n", (int)k == row->better ? "  *" : "");
}

void report_row(const bench_row *row) {
    printf("%s\n", row->workload->name);
    if (row->limit_ns > 0.0) {
        printf("  %-10s ", "limit");
        print_time(row->limit_ns);
        printf("  (%s)\n", row->workload->limited_by);
    }
    for (uint32_t k = 0; k < row->count; k++) {
        print_result(row, k);
    }
    fflush(stdout);
}

/* Means */

static const bench_result *find(const bench_row *row, const char *name) {
    if (strcmp(name, "OpenMP") == 0) {
        return row->better >= 0 ? &row->results[row->better] : NULL;
    }
    for (uint32_t k = 1; k < row->count; k++) {
        if (strcmp(row->results[k].name, name) == 0) {
            return &row->results[k];
        }
    }
    return NULL;
}

double report_mean(const bench_figures *f, const char *name, uint32_t *out_count) {
    double sum = 0.0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->row_count; i++) {
        const bench_result *r = find(&f->rows[i], name);
        if (f->rows[i].has_ours && r && r->ratio.median > 0.0) {
            sum += log(r->ratio.median);
            count++;
        }
    }
    *out_count = count;
    return count ? exp(sum / count) : 0.0;
}

static const char *const averaged[] = {"OpenMP", "gcc", "clang", "pocl", "graphblas"};
enum { AVERAGED = sizeof averaged / sizeof averaged[0] };

void report_means(const bench_figures *f) {
    for (uint32_t i = 0; i < AVERAGED; i++) {
        uint32_t count;
        double mean = report_mean(f, averaged[i], &count);
        if (count) {
            printf("geometric mean of %u: %.2fx %s%s\n", count, mean, averaged[i],
                   i == 0 ? " (the better of gcc and clang, marked *)" : "");
        }
    }
    for (uint32_t i = 0; i < f->row_count; i++) {
        const bench_result *r = find(&f->rows[i], "OpenMP");
        if (f->rows[i].has_ours && r && r->ratio.median < 0.7) {
            printf("below 0.7x OpenMP: %s %.2fx\n", f->rows[i].workload->name, r->ratio.median);
        }
    }
}

/* JSON */

static void json_text(FILE *file, const char *text) {
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            fprintf(file, "\\%c", *text);
        } else if ((unsigned char)*text < 0x20) {
            fprintf(file, "\\u%04x", (unsigned)*text);
        } else {
            fputc(*text, file);
        }
    }
    fputc('"', file);
}

static void json_spread(FILE *file, const char *name, const bench_spread *s) {
    fprintf(file, ",\"%s\":[%.9g,%.9g,%.9g]", name, s->low, s->median, s->high);
}

static void json_row(FILE *file, const bench_row *row) {
    fprintf(file, "{\"workload\":\"%s\",\"better\":%d,", row->workload->name, row->better);
    if (row->limit_ns > 0.0) {
        fprintf(file, "\"limit_ns\":%.9g,\"limited_by\":\"%s\",", row->limit_ns,
                row->workload->limited_by);
    }
    fprintf(file, "\"results\":[");
    for (uint32_t k = 0; k < row->count; k++) {
        const bench_result *r = &row->results[k];
        if (!r->is_there && !r->message[0]) {
            continue;
        }
        fprintf(file, "%s{\"name\":", k ? "," : "");
        json_text(file, r->name);
        fprintf(file, ",\"right\":%s,\"pairs\":%u,\"clean\":%u", r->is_wrong ? "false" : "true",
                r->pairs, r->clean);
        fprintf(file, ",\"one_thread\":%s", r->is_alone ? "true" : "false");
        if (r->ns.median > 0.0) {
            json_spread(file, "ns", &r->ns);
        }
        if (r->ns.median > 0.0 && row->has_ours && k > 0) {
            json_spread(file, "ratio", &r->ratio);
        }
        if (r->message[0]) {
            fprintf(file, ",\"message\":");
            json_text(file, r->message);
        }
        fprintf(file, "}");
    }
    fprintf(file, "]}");
}

bool report_json(const bench_figures *f, const char *path) {
    const peer_limits *l = &f->limits;
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return false;
    }
    fprintf(file, "{\"schema\":1,\"scale\":\"%s\",\"limits\":{\"threads\":%g,\"dram\":%.6g,",
            f->scale, l->threads, l->dram);
    fprintf(file, "\"l3\":%.6g,\"l2\":%.6g,\"fma32\":%.6g,\"fma64\":%.6g,\"clock\":%.6g,", l->l3,
            l->l2, l->fma32, l->fma64, l->clock);
    fprintf(file, "\"barrier\":%.6g},\"means\":{", l->barrier);
    for (uint32_t i = 0, told = 0; i < AVERAGED; i++) {
        uint32_t count;
        double mean = report_mean(f, averaged[i], &count);
        if (count) {
            fprintf(file, "%s\"%s\":%.6g", told++ ? "," : "", averaged[i], mean);
        }
    }
    fprintf(file, "},\"rows\":[");
    for (uint32_t i = 0; i < f->row_count; i++) {
        fprintf(file, "%s\n", i ? "," : "");
        json_row(file, &f->rows[i]);
    }
    fprintf(file, "]}\n");
    return fclose(file) == 0;
}
