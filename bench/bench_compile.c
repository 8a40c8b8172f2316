/* bench_compile: how long the cpu backend takes to make programs ready, cold (LLVM is opened and
 * compiles) and warm (the code is in the folder). Every example and every program of the
 * benchmarks; each measurement is a process of its own, since LLVM stays once it is loaded. Times
 * are CPU time of the caller, so that neighbours count little; cold ones are the better of two.
 * Segments are compiled by several threads, which take about the same time each: "all" is that of
 * all of them. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "io/file.h"
#include "programs.h"
#include "vyre/vyre.h"

enum { MOST = 256 };

typedef struct row {
    char path[300];
    double cold, all, warm; /* milliseconds; below 0: it failed */
} row;

static double cpu_ms(clockid_t clock) {
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static vyre_program *load(const char *path) {
    vyre_bytes bytes;
    vyre_diag_list diags = {0};
    vyre_program *program = NULL;
    if (vyre_file_read(path, 0, NULL, &bytes, NULL) != VYRE_OK) {
        return NULL;
    }
    (void)vyre_parse((const char *)bytes.data, bytes.size, NULL, NULL, &program, &diags);
    vyre_bytes_finish(&bytes);
    return program;
}

/* From opening the device to a pipeline: the time of the caller, and of all threads. */
static void compile(const char *path, const char *folder, double out[2]) {
    static const clockid_t clocks[] = {CLOCK_THREAD_CPUTIME_ID, CLOCK_PROCESS_CPUTIME_ID};
    const vyre_device_options options = {.code_folder = folder};
    vyre_program *program = load(path);
    vyre_device *device = NULL;
    vyre_pipeline *pipeline = NULL;
    const double begin[] = {cpu_ms(clocks[0]), cpu_ms(clocks[1])};
    vyre_status status =
        program ? vyre_device_open_with(NULL, "cpu", &options, NULL, &device, NULL) : VYRE_IO;
    if (status == VYRE_OK) {
        status = vyre_compile(device, program, NULL, &pipeline, NULL);
    }
    for (int i = 0; i < 2; i++) {
        out[i] = status == VYRE_OK ? cpu_ms(clocks[i]) - begin[i] : -1;
    }
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
    vyre_program_release(program);
}

static void in_child(const row *r, const char *folder, double *out) {
    const pid_t child = fork();
    if (child == 0) {
        compile(r->path, folder, out);
        _exit(0);
    }
    *out = -1;
    (void)waitpid(child, NULL, 0);
}

/* Fills in cold and warm; `shared` is memory that children see. */
static void measure_row(row *r, double *shared) {
    char folder[] = "/tmp/vyre-bench.XXXXXX", command[64];
    if (!mkdtemp(folder)) {
        r->cold = r->warm = -1;
        return;
    }
    in_child(r, folder, shared);
    r->cold = shared[0];
    r->all = shared[1];
    in_child(r, NULL, shared);
    if (shared[0] < r->cold) {
        r->cold = shared[0];
        r->all = shared[1];
    }
    in_child(r, folder, shared);
    r->warm = *shared;
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    (void)!system(command); /* NOLINT(cert-env33-c): a name that mkdtemp made */
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const row *)a)->path, ((const row *)b)->path);
}

static uint32_t find_programs(row *rows) {
    static const char *const folders[] = {"examples", "bench/programs", "bench/published"};
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        DIR *folder = opendir(folders[i]);
        for (const struct dirent *e; folder && (e = readdir(folder)) && count < MOST;) {
            const char *dot = strrchr(e->d_name, '.');
            if (dot && strcmp(dot, ".vy") == 0) {
                (void)snprintf(rows[count++].path, sizeof rows->path, "%s/%s", folders[i],
                               e->d_name);
            }
        }
        if (folder) {
            (void)closedir(folder);
        }
    }
    qsort(rows, count, sizeof *rows, by_path);
    return count;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median and largest of those whose path begins so. */
static void summarise(const row *rows, uint32_t count, const char *prefix, bool warm,
                      double out[2]) {
    double values[MOST];
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (strncmp(rows[i].path, prefix, strlen(prefix)) == 0) {
            values[used++] = warm ? rows[i].warm : rows[i].cold;
        }
    }
    qsort(values, used, sizeof *values, by_value);
    out[0] = used ? values[used / 2] : 0;
    out[1] = used ? values[used - 1] : 0;
}

static bool write_json(const row *rows, uint32_t count, const char *path) {
    vyre_text text;
    vyre_json_writer w;
    vyre_text_init(&text, NULL);
    vyre_json_writer_init(&w, &text);
    vyre_json_begin_array(&w);
    for (uint32_t i = 0; i < count; i++) {
        vyre_json_begin_object(&w);
        vyre_json_key(&w, "program");
        vyre_json_put_string(&w, rows[i].path);
        vyre_json_key(&w, "cold_us");
        vyre_json_put_i64(&w, (int64_t)(rows[i].cold * 1e3));
        vyre_json_key(&w, "all_us");
        vyre_json_put_i64(&w, (int64_t)(rows[i].all * 1e3));
        vyre_json_key(&w, "warm_us");
        vyre_json_put_i64(&w, (int64_t)(rows[i].warm * 1e3));
        vyre_json_end_object(&w);
    }
    vyre_json_end_array(&w);
    FILE *file = text.failed ? NULL : fopen(path, "w");
    const bool written = file && fprintf(file, "%s\n", vyre_text_string(&text)) > 0;
    const bool closed = !file || fclose(file) == 0;
    vyre_text_finish(&text);
    return written && closed;
}

int main(int argc, char **argv) {
    static row rows[MOST];
    static const char *const prefixes[] = {"examples", ""};
    const char *json = json_argument(argc, argv);
    const uint32_t count = find_programs(rows);
    double *shared =
        mmap(NULL, 2 * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    vyre_device *device = NULL;
    if (count == 0 || shared == MAP_FAILED ||
        vyre_device_open(NULL, "cpu", NULL, &device, NULL) != VYRE_OK) {
        fprintf(stderr, "error: run it in the source folder, with LLVM 19 installed\n");
        return 2;
    }
    vyre_device_close(device);
    bool failed = false;
    printf("%-36s %10s %10s %10s\n", "compile, ms of CPU time", "cold", "all", "warm");
    for (uint32_t i = 0; i < count; i++) {
        measure_row(&rows[i], shared);
        printf("%-36s %10.1f %10.1f %10.2f\n", rows[i].path, rows[i].cold, rows[i].all,
               rows[i].warm);
        (void)fflush(stdout);
        failed |= rows[i].cold < 0 || rows[i].warm < 0;
    }
    for (uint32_t i = 0; i < 2; i++) {
        double cold[2], warm[2];
        summarise(rows, count, prefixes[i], false, cold);
        summarise(rows, count, prefixes[i], true, warm);
        printf("%-8s median %5.1f, largest %5.1f cold; median %4.2f, largest %4.2f warm\n",
               *prefixes[i] ? prefixes[i] : "all", cold[0], cold[1], warm[0], warm[1]);
    }
    if (json && !write_json(rows, count, json)) {
        fprintf(stderr, "error: %s can't be written\n", json);
        return 3;
    }
    return failed ? 1 : 0;
}
