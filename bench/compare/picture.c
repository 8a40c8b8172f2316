/* The table as a picture: for each workload a bar per peer, how much longer it took than ours, on a
 * logarithmic scale; the line in the middle is ours. A thin line shows the quartiles. */
#include <math.h>

#include "compare.h"

enum { LEFT = 120, WIDTH = 640, RIGHT = 90, BAR = 10, GAP = 12, TOP = 60 };
#define LOWEST  0.1
#define HIGHEST 100.0

static double place(double ratio) {
    double inside = ratio < LOWEST ? LOWEST : ratio > HIGHEST ? HIGHEST : ratio;
    return LEFT + WIDTH * log(inside / LOWEST) / log(HIGHEST / LOWEST);
}

static const struct {
    const char *name, *colour;
} colours[] = {{"gcc", "#3b6ea8"},
               {"clang", "#7aa6d8"},
               {"spin", "#8a8a8a"},
               {"pocl", "#d08a2e"},
               {"graphblas", "#6a9f58"}};
enum { COLOURS = sizeof colours / sizeof colours[0] };

static const char *colour_of(const char *name) {
    for (uint32_t i = 0; i < COLOURS; i++) {
        if (strcmp(colours[i].name, name) == 0) {
            return colours[i].colour;
        }
    }
    return "#999999";
}

static bool is_shown(const bench_row *row, uint32_t k) {
    return k > 0 && row->has_ours && row->results[k].ratio.median > 0.0;
}

static double draw_row(FILE *file, const bench_row *row, double y) {
    double first = y;
    for (uint32_t k = 1; k < row->count; k++) {
        const bench_result *r = &row->results[k];
        if (!is_shown(row, k)) {
            continue;
        }
        double one = place(1.0), at = place(r->ratio.median), middle = y + BAR / 2.0;
        fprintf(file,
                "<rect x='%.1f' y='%.1f' width='%.1f' height='%d' fill='%s'><title>%s: %s %.2fx"
                "</title></rect>\n",
                at < one ? at : one, y, fabs(at - one), BAR - 1, colour_of(r->name),
                row->workload->name, r->name, r->ratio.median);
        fprintf(file, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#222'/>\n",
                place(r->ratio.low), middle, place(r->ratio.high), middle);
        fprintf(file, "<text x='%d' y='%.1f' font-size='9'>%s %.2f</text>\n", LEFT + WIDTH + 6,
                y + BAR - 2, r->name, r->ratio.median);
        y += BAR;
    }
    fprintf(file, "<text x='%d' y='%.1f' text-anchor='end'>%s</text>\n", LEFT - 8,
            (first + y) / 2.0 + 4.0, row->workload->name);
    return y + GAP;
}

bool report_picture(const bench_figures *f, const char *path) {
    static const double marks[] = {0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0};
    double height = TOP + GAP;
    for (uint32_t i = 0; i < f->row_count; i++) {
        for (uint32_t k = 0; k < f->rows[i].count; k++) {
            height += is_shown(&f->rows[i], k) ? BAR : 0;
        }
        height += GAP;
    }
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return false;
    }
    fprintf(
        file,
        "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%.0f' font-family='sans-serif'"
        " font-size='12'>\n<rect width='100%%' height='100%%' fill='white'/>\n"
        "<text x='%d' y='20'>time of each peer / time of vyre: right of 1 vyre is faster</text>\n",
        LEFT + WIDTH + RIGHT, height, LEFT);
    for (uint32_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        fprintf(file,
                "<line x1='%.1f' y1='%d' x2='%.1f' y2='%.0f' stroke='%s'/>\n"
                "<text x='%.1f' y='%d' text-anchor='middle' font-size='10'>%g</text>\n",
                place(marks[i]), TOP - 8, place(marks[i]), height, i == 3 ? "#222" : "#ddd",
                place(marks[i]), TOP - 14, marks[i]);
    }
    double y = TOP;
    for (uint32_t i = 0; i < f->row_count; i++) {
        y = draw_row(file, &f->rows[i], y);
    }
    fprintf(file, "</svg>\n");
    return fclose(file) == 0;
}
