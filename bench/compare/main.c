/* bench_programs [OPTIONS] [WORKLOAD...]: vyre beside hand-written code; see docs/bench.md. */
#include <signal.h>
#include <unistd.h>

#include "compare.h"

typedef struct bench_options {
    bench_scale scale;
    const char *backend; /* NULL: cpu if it is there */
    const char *json, *picture;
    const char *peers; /* names with commas; NULL: all that are there */
    uint32_t rounds;
    bool verify; /* results only, no times */
    const char *const *names;
    uint32_t name_count;
} bench_options;

static const char *const scale_names[SCALES] = {"full", "small", "tiny"};

static const char usage[] =
    "usage: bench_programs [--backend NAME] [--scale full|small|tiny] [--rounds N] [--verify]\n"
    "                      [--one-thread] [--peers gcc,clang,spin,pocl,graphblas]\n"
    "                      [--json FILE] [--picture FILE] [--folder DIR] [--list] "
    "[WORKLOAD...|wider|published|held-out|all]\n";

static int complain(const char *what, const char *which) {
    fprintf(stderr, "bench: %s %s\n%s", what, which, usage);
    return 2;
}

/* Workloads */

typedef struct workload_set {
    const char *name; /* NULL: what is measured when nothing is asked for */
    const bench_workload *workloads;
} workload_set;

static const workload_set sets[] = {{NULL, named_workloads},
                                    {"wider", wider_workloads},
                                    {"published", published_workloads},
                                    {"held-out", held_out_workloads}};

enum { SETS = sizeof sets / sizeof sets[0] };

static bool is_wanted(const bench_options *o, const bench_workload *w, const workload_set *set) {
    bool wanted = o->name_count == 0 && !set->name;
    for (uint32_t i = 0; i < o->name_count; i++) {
        const char *name = o->names[i];
        size_t length = strlen(name);
        /* jacobi means jacobi-2048 and jacobi-256. */
        wanted |= strcmp(name, "all") == 0 || (set->name && strcmp(name, set->name) == 0) ||
                  (strncmp(w->name, name, length) == 0 &&
                   (w->name[length] == 0 || w->name[length] == '-'));
    }
    return wanted;
}

static uint32_t choose(const bench_options *o, const bench_workload **out) {
    uint32_t count = 0;
    for (uint32_t s = 0; s < SETS; s++) {
        for (const bench_workload *w = sets[s].workloads; w->name; w++) {
            if (is_wanted(o, w, &sets[s])) {
                out[count++] = w;
            }
        }
    }
    return count;
}

static int list(void) {
    for (uint32_t s = 0; s < SETS; s++) {
        for (const bench_workload *w = sets[s].workloads; w->name; w++) {
            const char *set = sets[s].name;
            printf("%s%s%s%s\n", w->name, set ? " (" : "", set ? set : "", set ? ")" : "");
        }
    }
    return 0;
}

/* Contestants */

static const char *default_backend(void) {
    for (uint32_t i = 0; i < vyre_backend_count(NULL); i++) {
        if (strcmp(vyre_backend_name(NULL, i), "cpu") == 0) {
            return "cpu";
        }
    }
    return NULL;
}

#define OBJECT(name) VYRE_BINARY_DIR "/bench/peers_" name ".so"

static const struct {
    const char *name, *object;
    bool is_openmp;
    const char *only; /* for this workload; NULL: for all that it has */
    const char *needs;
} peers[] = {{"gcc", OBJECT("gcc"), true, NULL, "gcc with OpenMP"},
             {"clang", OBJECT("clang"), true, NULL, "clang with OpenMP (clang-19, libomp-19-dev)"},
             {"spin", OBJECT("gcc"), false, "barrier", NULL},
             {"pocl", OBJECT("opencl"), false, NULL, "OpenCL headers (opencl-c-headers)"},
             {"graphblas", OBJECT("graphblas"), false, NULL, "GraphBLAS (libgraphblas-dev)"}};
enum { PEERS = sizeof peers / sizeof peers[0] };

static bool is_invited(const bench_options *o, const char *name) {
    const char *at = o->peers;
    size_t length = strlen(name);
    while (at && (strncmp(at, name, length) != 0 || (at[length] && at[length] != ','))) {
        at = strchr(at, ',');
        at += at != NULL;
    }
    return !o->peers || at;
}

/* The barrier must also end, and not too late, where threads and cores do not match. */
static uint32_t invite_crowds(const bench_options *o, const bench_workload *w,
                              bench_contestant *out) {
    if (!w->keeps_barriers || !o->backend || strcmp(o->backend, "cpu") != 0) {
        return 0;
    }
    out[0] = (bench_contestant){
        .name = "8 threads", .backend = "cpu://threads=8", .takes_one_turn = true};
    out[1] = (bench_contestant){.name = "2 beside 2",
                                .backend = "cpu://threads=2",
                                .takes_one_turn = true,
                                .neighbours = 2};
    return 2;
}

static uint32_t invite(const bench_options *o, const bench_workload *w, bench_contestant *out) {
    uint32_t count = 0;
    out[count++] =
        (bench_contestant){.name = o->backend ? o->backend : "vyre", .backend = o->backend};
    for (uint32_t i = 0; i < PEERS; i++) {
        if (access(peers[i].object, R_OK) == 0 && is_invited(o, peers[i].name) &&
            (!peers[i].only || strcmp(peers[i].only, w->peer) == 0)) {
            out[count++] = (bench_contestant){.name = peers[i].name,
                                              .object = peers[i].object,
                                              .peer = peers[i].only ? peers[i].name : w->peer,
                                              .is_openmp = peers[i].is_openmp};
        }
    }
    return count + invite_crowds(o, w, out + count);
}

static void tell_absent(const bench_options *o) {
    for (uint32_t i = 0; i < PEERS; i++) {
        if (peers[i].needs && is_invited(o, peers[i].name) && access(peers[i].object, R_OK) != 0) {
            printf("without %s: the build found no %s\n", peers[i].name, peers[i].needs);
        }
    }
}

static bool measure_limits(void *out, const void *argument) {
    char message[MESSAGE];
    int effort = *(const int *)argument;
    return theirs_limits(OBJECT("gcc"), effort, out, message) ||
           theirs_limits(OBJECT("clang"), effort, out, message) ||
           theirs_limits(NULL, effort, out, message);
}

static void tell_limits(const peer_limits *l) {
    printf(
        "machine: %g threads at %.2f GHz; triad %.1f GB/s DRAM, %.0f L3, %.0f L2; FMA %.0f GFLOP/s "
        "f32, %.0f f64; spin barrier %.2f us\n",
        l->threads, l->clock * 1e-9, l->dram * 1e-9, l->l3 * 1e-9, l->l2 * 1e-9, l->fma32 * 1e-9,
        l->fma64 * 1e-9, l->barrier * 1e6);
}

/* Running */

static bool run_row(const bench_options *o, const bench_workload *w, const peer_limits *limits,
                    bench_row *out) {
    bench_instance instance;
    bench_contestant contestants[MOST_CONTESTANTS] = {{0}};
    bool good = instance_make(w, o->scale, &instance);
    if (good) {
        uint32_t count = invite(o, w, contestants);
        good = measure_row(&instance, contestants, count, o->rounds, out);
        out->limit_ns = o->verify || !w->limit ? 0.0 : 1e9 * w->limit(&instance, limits);
    }
    instance_finish(&instance);
    return good;
}

/* Right results of what was there; ours must be. */
static bool row_is_right(const bench_options *o, const bench_row *row) {
    bool right = true;
    for (uint32_t k = 0; k < row->count; k++) {
        right &= !row->results[k].is_wrong;
    }
    return right && (!o->backend || !row->results[0].message[0]);
}

static int run_all(const bench_options *o) {
    const bench_workload *chosen[128];
    uint32_t count = choose(o, chosen), failures = 0;
    bench_figures figures = {.scale = scale_names[o->scale]};
    if (count == 0) {
        return complain("there is no workload", o->names[0]);
    }
    bench_row *rows = calloc(count, sizeof *rows);
    if (!rows) {
        return 6;
    }
    if (!o->verify) {
        int effort = o->scale == SCALE_FULL ? 10 : 1;
        if (!in_process(measure_limits, &effort, &figures.limits, sizeof figures.limits)) {
            fprintf(stderr, "bench: the limits of the machine can't be measured\n");
            free(rows);
            return 1;
        }
        tell_limits(&figures.limits);
    }
    tell_absent(o);
    figures.rows = rows;
    for (uint32_t i = 0; i < count; i++) {
        bench_row *row = &rows[figures.row_count];
        if (!run_row(o, chosen[i], &figures.limits, row)) {
            failures++;
            continue;
        }
        report_row(row);
        failures += !row_is_right(o, row);
        figures.row_count++;
    }
    report_means(&figures);
    failures += o->json && !report_json(&figures, o->json);
    failures += o->picture && !report_picture(&figures, o->picture);
    printf("%u workloads, %u failures\n", count, failures);
    free(rows);
    return failures ? 1 : 0;
}

static int read_options(int argc, char **argv, bench_options *o) {
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(name, "--list") == 0) {
            exit(list());
        }
        if (strcmp(name, "--one-thread") == 0) {
            way_counts_cpu = true;
            continue;
        }
        if (strcmp(name, "--verify") == 0) {
            o->verify = true;
            o->rounds = 0;
            continue;
        }
        if (!value) {
            return complain("no such option or no value:", name);
        }
        i++;
        if (strcmp(name, "--backend") == 0) {
            o->backend = value;
        } else if (strcmp(name, "--peers") == 0) {
            o->peers = value;
        } else if (strcmp(name, "--folder") == 0) {
            ours_folder = value;
        } else if (strcmp(name, "--json") == 0) {
            o->json = value;
        } else if (strcmp(name, "--picture") == 0) {
            o->picture = value;
        } else if (strcmp(name, "--rounds") == 0) {
            o->rounds = (uint32_t)strtoul(value, NULL, 10);
            if (o->rounds == 0 || o->rounds > MOST_ROUNDS / 3) {
                return complain("--rounds takes 1 to 21, not", value);
            }
        } else if (strcmp(name, "--scale") == 0) {
            uint32_t s = 0;
            while (s < SCALES && strcmp(scale_names[s], value) != 0) {
                s++;
            }
            if (s == SCALES) {
                return complain("no such scale:", value);
            }
            o->scale = (bench_scale)s;
        } else {
            return complain("no such option:", name);
        }
    }
    o->names = (const char *const *)argv + i;
    o->name_count = (uint32_t)(argc - i);
    return 0;
}

int main(int argc, char **argv) {
    bench_options o = {.scale = SCALE_FULL, .rounds = 15};
    int status = read_options(argc, argv, &o);
    if (status) {
        return status;
    }
    signal(SIGPIPE, SIG_IGN);
    if (way_counts_cpu) {
        setenv("OMP_NUM_THREADS", "1", 1);
    }
    setenv("OMP_WAIT_POLICY", "active", 0); /* peers are alone while they run */
    if (!o.backend) {
        o.backend = default_backend();
    }
    if (way_counts_cpu && o.backend && strcmp(o.backend, "cpu") == 0) {
        o.backend = "cpu://threads=1";
    }
    if (!o.backend) {
        printf("this version of vyre has no cpu backend: only the peers are measured; "
               "--backend chooses another\n");
    }
    return run_all(&o);
}
