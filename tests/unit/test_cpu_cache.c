/* Compiled code that is kept: a start with everything in the folder maps no LLVM and gives the same
 * bytes; whatever is wrong with an entry, it is compiled again; every option is part of the key;
 * what is in memory is shared, and bounded. */
#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/cpu/code.h"
#include "backend/cpu/llvm.h"
#include "harness/run.h"
#include "io/file.h"
#include "kit/cache.h"

static vyre_device *open_device(const char *uri, const char *folder) {
    const vyre_device_options options = {.code_folder = folder};
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    vyre_status status = vyre_device_open_with(NULL, uri, &options, NULL, &device, &diag);
    if (status == VYRE_NOT_FOUND) {
        test_skip("there is no LLVM 19, or no such processor");
    }
    REQUIRE_OK(status, &diag);
    return device;
}

/* Each test works in a new folder. */
static void begin(void) {
    char folder[] = "code.XXXXXX";
    REQUIRE(mkdtemp(folder) != NULL && chdir(folder) == 0);
}

static vyre_counters counters_of(const vyre_device *device) {
    vyre_counters counters;
    vyre_device_counters(device, &counters);
    return counters;
}

static vyre_program *load(const char *path) {
    char full[512];
    vyre_bytes bytes;
    vyre_diag diag = {0};
    vyre_diag_list diags = {.items = &diag, .capacity = 1};
    vyre_program *program = NULL;
    snprintf(full, sizeof full, "%s/%s", VYRE_SOURCE_DIR, path);
    REQUIRE_OK(vyre_file_read(full, 0, NULL, &bytes, &diag), &diag);
    REQUIRE_OK(vyre_parse((const char *)bytes.data, bytes.size, NULL, NULL, &program, &diags),
               &diag);
    vyre_bytes_finish(&bytes);
    return program;
}

static bool llvm_is_mapped(void) {
    char line[4096];
    bool mapped = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    REQUIRE(maps != NULL);
    while (fgets(line, sizeof line, maps)) {
        mapped |= strstr(line, "libLLVM") != NULL;
    }
    (void)fclose(maps);
    return mapped;
}

static double thread_ms(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* In a process of its own: LLVM stays mapped once it is. */
static void in_child(void (*body)(void)) {
    (void)fflush(stdout);
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        body();
        (void)fflush(stdout);
        _exit(test_failed() ? 1 : 0);
    }
    int status = 0;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    CHECK_EQ(status, 0);
}

static const char *const examples[] = {"bfs",   "cg",     "histogram", "jacobi", "pagerank",
                                       "reach", "reduce", "saxpy",     "scan"};
enum { EXAMPLES = sizeof examples / sizeof *examples };

/* Compiles all examples and prints how long the slowest took, of this thread's time. */
static vyre_counters compile_examples(const char *what) {
    vyre_device *device = open_device("cpu", "kept");
    double most = 0, sum = 0;
    for (uint32_t i = 0; i < EXAMPLES; i++) {
        char path[64];
        vyre_diag diag = {0};
        vyre_pipeline *pipeline = NULL;
        snprintf(path, sizeof path, "examples/%s.vy", examples[i]);
        vyre_program *program = load(path);
        const double start = thread_ms();
        REQUIRE_OK(vyre_compile(device, program, NULL, &pipeline, &diag), &diag);
        const double took = thread_ms() - start;
        sum += took;
        most = took > most ? took : most;
        vyre_pipeline_release(pipeline);
        vyre_program_release(program);
    }
    printf("%s: %.1f ms for an example, %.1f ms for the slowest\n", what, sum / EXAMPLES, most);
    vyre_counters counters = counters_of(device);
    vyre_device_close(device);
    return counters;
}

static void compile_cold(void) {
    const vyre_counters c = compile_examples("cold");
    CHECK_EQ(c.code_compiled, EXAMPLES);
    CHECK(llvm_is_mapped());
}

static void compile_warm(void) {
    const vyre_counters c = compile_examples("warm");
    CHECK_EQ(c.code_from_disk, EXAMPLES);
    CHECK_EQ(c.code_compiled, 0);
    CHECK(!llvm_is_mapped());
}

TEST(a_warm_start_maps_no_llvm) {
    begin();
    vyre_device_close(open_device("cpu", NULL));
    in_child(compile_cold);
    in_child(compile_warm);
}

/* A program with a grid barrier and workgroup memory, and what it gives. */
static const char text[] =
    "program p workgroup(32) { in a : u32[]; inout b : u32[len(a)]; workgroup s : u32[32];\n"
    "  s[local_id.x] = a[global_id.x]; barrier; b[global_id.x] = s[31 - local_id.x];\n"
    "  grid_sync; let v = b[(global_id.x + 40) % len(a)]; grid_sync; b[global_id.x] = v * 3; }";

/* Lane 5 traps behind a barrier. */
static const char trap_text[] =
    "program p workgroup(32) { in a : u32[]; inout b : u32[len(a)]; workgroup s : u32[32];\n"
    "  s[local_id.x] = a[global_id.x]; barrier;\n"
    "  if (s[31 - local_id.x] == 26) {\n"
    "    trap(\"it is 26\", 7); }\n"
    "  b[global_id.x] = 1; }";

static void run_right(const char *uri, const char *folder, vyre_counters *out) {
    enum { N = 96 };
    uint32_t a[N], b[N] = {0};
    for (uint32_t i = 0; i < N; i++) {
        a[i] = i * 7 + 1;
    }
    vyre_device *device = open_device(uri, folder);
    vyre_program *program = run_parse(text);
    const vyre_input inputs[] = {{a, sizeof a}, {b, sizeof b}};
    vyre_output output = {0};
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch(device, program, inputs, 2, &output, 1, NULL, NULL, &diag), &diag);
    REQUIRE(output.size == sizeof b);
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t from = (i + 40) % N, lane = from / 32 * 32 + 31 - from % 32;
        CHECK_EQ(((const uint32_t *)output.data)[i], a[lane] * 3);
    }
    vyre_output_finish(&output, NULL);
    vyre_program_release(program);
    *out = counters_of(device);
    vyre_device_close(device);
}

/* The only entry of the folder, and how large it is. */
static uint64_t find_entry(char out[300]) {
    DIR *folder = opendir("kept");
    struct dirent *e;
    struct stat file;
    uint32_t count = 0;
    REQUIRE(folder != NULL);
    while ((e = readdir(folder))) {
        if (e->d_name[0] != '.') {
            snprintf(out, 300, "kept/%s", e->d_name);
            count++;
        }
    }
    closedir(folder);
    CHECK_EQ(count, 1);
    REQUIRE(stat(out, &file) == 0);
    return (uint64_t)file.st_size;
}

static void change_byte(const char *path, uint64_t at) {
    FILE *file = fopen(path, "r+b");
    REQUIRE(file && fseek(file, (long)at, SEEK_SET) == 0);
    const int byte = fgetc(file);
    REQUIRE(fseek(file, (long)at, SEEK_SET) == 0 && fputc(byte ^ 1, file) != EOF);
    (void)fclose(file);
}

TEST(a_damaged_entry_is_compiled_again) {
    begin();
    vyre_counters c;
    char path[300];
    run_right("cpu", "kept", &c);
    CHECK_EQ(c.code_compiled, 1);
    run_right("cpu", "kept", &c);
    CHECK_EQ(c.code_from_disk, 1);
    CHECK_EQ(c.code_compiled, 0);
    const uint64_t size = find_entry(path);
    for (uint32_t i = 0; i < 5; i++) { /* header, key, object */
        change_byte(path, i * (size - 1) / 4);
        run_right("cpu", "kept", &c);
        CHECK_EQ(c.code_compiled, 1);
        run_right("cpu", "kept", &c);
        CHECK_EQ(c.code_from_disk, 1);
    }
    REQUIRE(truncate(path, (off_t)size / 2) == 0);
    run_right("cpu", "kept", &c);
    CHECK_EQ(c.code_compiled, 1);
}

TEST(code_from_disk_tells_where_it_trapped) {
    begin();
    uint32_t a[32];
    for (uint32_t i = 0; i < 32; i++) {
        a[i] = i;
    }
    const vyre_input inputs[] = {{a, sizeof a}, {a, sizeof a}};
    vyre_program *program = run_parse(trap_text);
    for (uint32_t i = 0; i < 2; i++) {
        vyre_device *device = open_device("cpu", "kept");
        vyre_output output = {0};
        vyre_diag diag = {0};
        CHECK_STATUS(vyre_dispatch(device, program, inputs, 2, &output, 1, NULL, NULL, &diag),
                     VYRE_TRAP, &diag);
        CHECK_HAS(diag.message, "lane 5 trapped: \"it is 26\" at address 7");
        CHECK_EQ(diag.line, 4);
        CHECK_EQ(counters_of(device).code_from_disk, i);
        vyre_output_finish(&output, NULL);
        vyre_device_close(device);
    }
    vyre_program_release(program);
}

TEST(other_options_are_other_keys) {
    begin();
    static const char *const uris[] = {"cpu", "cpu://features=sse2", "cpu://gang=4",
                                       "cpu://effort=0", "cpu://unchecked=1"};
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < sizeof uris / sizeof *uris; i++) {
            vyre_counters c;
            run_right(uris[i], "kept", &c);
            CHECK_EQ(round ? c.code_from_disk : c.code_compiled, 1);
        }
    }
    vyre_counters c;
    run_right("cpu://threads=3", "kept", &c); /* the code is the same for any number of them */
    CHECK_EQ(c.code_from_disk, 1);
}

/* Passes take the square of a function, not of all there are. */
TEST(long_programs_are_optimised_if_their_functions_are_short) {
    enum { LENGTH = 1 << 20 };
    static const char define[] = "\ndefine void @f() {\n";
    static char bytes[LENGTH];
    memset(bytes, ' ', LENGTH);
    CHECK(cpu_llvm_is_long(bytes, LENGTH));
    CHECK(!cpu_llvm_is_long(bytes, LENGTH / 2));
    for (size_t i = 0; i < LENGTH; i += LENGTH / 16) {
        memcpy(bytes + i, define, sizeof define - 1);
    }
    CHECK(!cpu_llvm_is_long(bytes, LENGTH));
    CHECK(!cpu_llvm_is_long(bytes, 0));
}

/* One thread has no locks, so others must not get its code; nor it theirs, which is slower. */
TEST(atomics_of_one_thread_are_other_code) {
    begin();
    static const char *const uris[] = {"cpu://threads=1", "cpu://threads=2", "cpu://threads=3"};
    static const uint32_t compiled[] = {1, 1, 0};
    vyre_program *program = run_parse("program p workgroup(8) elements(8) { out o : u32[1];\n"
                                      "  atomic_add(o[0], global_id.x); }");
    for (uint32_t i = 0; i < 3; i++) {
        vyre_device *device = open_device(uris[i], "kept");
        vyre_output output = {0};
        vyre_diag diag = {0};
        REQUIRE_OK(vyre_dispatch(device, program, NULL, 0, &output, 1, NULL, NULL, &diag), &diag);
        CHECK_EQ(((const uint32_t *)output.data)[0], 28);
        vyre_output_finish(&output, NULL);
        const vyre_counters c = counters_of(device);
        CHECK_EQ(c.code_compiled, compiled[i]);
        CHECK_EQ(c.code_from_disk, 1 - compiled[i]);
        vyre_device_close(device);
    }
    vyre_program_release(program);
}

TEST(a_folder_that_others_may_write_to_is_left_alone) {
    begin();
    vyre_counters c;
    REQUIRE(mkdir("kept", 0755) == 0 && chmod("kept", 0755) == 0);
    vyre_device *device = open_device("cpu", "kept");
    CHECK(vyre_device_describe(device)->code_folder == NULL);
    vyre_device_close(device);
    for (uint32_t i = 0; i < 2; i++) {
        run_right("cpu", "kept", &c);
        CHECK_EQ(c.code_compiled, 1);
    }
    CHECK(rmdir("kept") == 0); /* which means that it is empty */
    device = open_device("cpu", "kept");
    CHECK_STR(vyre_device_describe(device)->code_folder, "kept");
    vyre_device_close(device);
    CHECK(access("kept", F_OK) != 0); /* opening alone makes nothing */
}

TEST(pipelines_of_one_program_share_their_code) {
    begin();
    vyre_device *device = open_device("cpu", NULL);
    vyre_program *program = run_parse(text);
    vyre_pipeline *pipelines[4];
    vyre_diag diag = {0};
    for (uint32_t i = 0; i < 4; i++) {
        REQUIRE_OK(vyre_compile(device, program, NULL, &pipelines[i], &diag), &diag);
    }
    CHECK_EQ(counters_of(device).code_compiled, 1);
    CHECK_EQ(counters_of(device).code_from_memory, 3);
    for (uint32_t i = 0; i < 4; i++) {
        vyre_pipeline_release(pipelines[i]);
    }
    REQUIRE_OK(vyre_compile(device, program, NULL, &pipelines[0], &diag), &diag);
    CHECK_EQ(counters_of(device).code_from_memory, 4); /* also when nobody has used it meanwhile */
    vyre_pipeline_release(pipelines[0]);
    vyre_program_release(program);
    vyre_device_close(device);
}

/* The parts below the device: functions that give a number. */

static cpu_codes *make_codes(const char *folder, uint64_t idle_bytes) {
    const cpu_codes_options options = {.folder = folder, .idle_bytes = idle_bytes};
    const vyre_allocator a = vyre_allocator_system();
    cpu_codes *codes = NULL;
    vyre_diag diag = {0};
    if (!cpu_llvm_is_there()) {
        test_skip("there is no LLVM 19");
    }
    REQUIRE_OK(cpu_codes_create(&options, &a, &codes, &diag), &diag);
    return codes;
}

static vyre_text key_of(const cpu_codes *codes, uint32_t number) {
    vyre_text key;
    vyre_text_init(&key, NULL);
    cpu_codes_begin_key(codes, &key);
    vyre_text_printf(&key, "%u", number);
    return key;
}

static vyre_status take_or_make(cpu_codes *codes, uint32_t number, cpu_code **out,
                                vyre_code_origin *origin, vyre_diag *diag) {
    vyre_text key = key_of(codes, number), code;
    vyre_status status = VYRE_OK;
    vyre_text_init(&code, NULL);
    if (!cpu_codes_find(codes, &key, sizeof number, out, origin)) {
        *origin = VYRE_CODE_COMPILED;
        vyre_text_printf(&code, "define i32 @f() {\n  ret i32 %u\n}\n", number);
        status = cpu_codes_make(codes, &key, &code, 1, 1, &number, sizeof number, out, diag);
    }
    vyre_text_finish(&key);
    vyre_text_finish(&code);
    return status;
}

static vyre_code_origin take(cpu_codes *codes, uint32_t number, cpu_code **out) {
    vyre_code_origin origin = VYRE_CODE_UNKNOWN;
    vyre_diag diag = {0};
    uint32_t fact;
    REQUIRE_OK(take_or_make(codes, number, out, &origin, &diag), &diag);
    uint32_t (*f)(void) = (uint32_t(*)(void))cpu_code_find(*out, "f");
    REQUIRE(f != NULL);
    CHECK_EQ(f(), number);
    memcpy(&fact, cpu_code_facts(*out), sizeof fact);
    CHECK_EQ(fact, number);
    return origin;
}

static void take_from_several(cpu_codes *codes, const vyre_text *key, const vyre_text *texts,
                              vyre_code_origin want) {
    vyre_code_origin origin = VYRE_CODE_COMPILED;
    vyre_diag diag = {0};
    cpu_code *code = NULL;
    if (!cpu_codes_find(codes, key, 4, &code, &origin)) {
        origin = VYRE_CODE_COMPILED;
        REQUIRE_OK(cpu_codes_make(codes, key, texts, CPU_MOST_TEXTS, 3, "fact", 4, &code, &diag),
                   &diag);
    }
    CHECK_EQ(origin, want);
    for (uint32_t i = 0; i < CPU_MOST_TEXTS; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "f%u", i);
        uint32_t (*f)(void) = (uint32_t(*)(void))cpu_code_find(code, name);
        REQUIRE(f != NULL);
        CHECK_EQ(f(), i + 100);
    }
    CHECK(cpu_code_find(code, "f") == NULL);
    CHECK(memcmp(cpu_code_facts(code), "fact", 4) == 0);
    cpu_codes_give_back(codes, code);
}

TEST(code_of_several_texts_is_kept_as_one) {
    begin();
    cpu_codes *codes = make_codes("kept", 0);
    vyre_text key = key_of(codes, 77), texts[CPU_MOST_TEXTS];
    for (uint32_t i = 0; i < CPU_MOST_TEXTS; i++) {
        vyre_text_init(&texts[i], NULL);
        vyre_text_printf(&texts[i], "define i32 @f%u() {\n  ret i32 %u\n}\n", i, i + 100);
    }
    take_from_several(codes, &key, texts, VYRE_CODE_COMPILED);
    take_from_several(codes, &key, texts, VYRE_CODE_FROM_MEMORY);
    cpu_codes_destroy(codes);
    codes = make_codes("kept", 0);
    take_from_several(codes, &key, texts, VYRE_CODE_FROM_DISK);
    /* One text that LLVM refuses. */
    vyre_text other = key_of(codes, 78);
    vyre_text_puts(&texts[5], "nonsense");
    vyre_diag diag = {0};
    cpu_code *code = NULL;
    CHECK_STATUS(cpu_codes_make(codes, &other, texts, CPU_MOST_TEXTS, 3, "fact", 4, &code, &diag),
                 VYRE_INTERNAL, &diag);
    CHECK(diag.message[0] != 0);
    cpu_codes_destroy(codes);
    for (uint32_t i = 0; i < CPU_MOST_TEXTS; i++) {
        vyre_text_finish(&texts[i]);
    }
    vyre_text_finish(&key);
    vyre_text_finish(&other);
}

TEST(an_entry_whose_sizes_lie_is_replaced) {
    begin();
    static const uint64_t lies[][2] = {{1000, 0}, {UINT64_MAX, 0}, {UINT64_MAX - 3, 8}, {4, 9}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        cpu_codes *codes = make_codes("kept", 0);
        vyre_text key = key_of(codes, 9);
        vyre_cache *cache = NULL;
        vyre_diag diag = {0};
        cpu_code *code;
        char entry[4 + 8 * CPU_MOST_TEXTS + 8] = {0};
        memcpy(entry + 4, lies[i], sizeof lies[i]);
        REQUIRE_OK(vyre_cache_open("kept", NULL, NULL, &cache, &diag), &diag);
        REQUIRE_OK(vyre_cache_put(cache, key.data, key.length, entry, sizeof entry, &diag), &diag);
        vyre_cache_close(cache);
        cpu_codes_destroy(codes);
        codes = make_codes("kept", 0);
        CHECK_EQ(take(codes, 9, &code), VYRE_CODE_COMPILED);
        cpu_codes_give_back(codes, code);
        cpu_codes_destroy(codes);
        vyre_text_finish(&key);
    }
}

TEST(idle_code_is_bounded_and_the_oldest_goes_first) {
    begin();
    enum { PAGE = 4096, ROOM = 3 * (PAGE + 1000) }; /* each takes a page, and the key */
    cpu_codes *codes = make_codes(NULL, ROOM);
    cpu_code *code, *held;
    CHECK_EQ(take(codes, 0, &held), VYRE_CODE_COMPILED);
    for (uint32_t i = 1; i <= 3; i++) {
        CHECK_EQ(take(codes, i, &code), VYRE_CODE_COMPILED);
        cpu_codes_give_back(codes, code);
    }
    for (uint32_t i = 2; i <= 3; i++) {
        CHECK_EQ(take(codes, i, &code), VYRE_CODE_FROM_MEMORY);
        cpu_codes_give_back(codes, code);
    }
    for (uint32_t i = 4; i <= 6; i++) {
        CHECK_EQ(take(codes, i, &code), VYRE_CODE_COMPILED);
        cpu_codes_give_back(codes, code);
    }
    CHECK_EQ(take(codes, 6, &code), VYRE_CODE_FROM_MEMORY);
    cpu_codes_give_back(codes, code);
    CHECK_EQ(take(codes, 1, &code), VYRE_CODE_COMPILED);
    cpu_codes_give_back(codes, code);
    CHECK_EQ(take(codes, 0, &code), VYRE_CODE_FROM_MEMORY); /* in use all the time */
    cpu_codes_give_back(codes, code);
    cpu_codes_give_back(codes, held);
    cpu_codes_destroy(codes);
}

TEST(an_entry_that_the_loader_refuses_is_replaced) {
    begin();
    cpu_codes *codes = make_codes("kept", 0);
    vyre_text key = key_of(codes, 5);
    vyre_cache *cache = NULL;
    vyre_diag diag = {0};
    cpu_code *code;
    REQUIRE_OK(vyre_cache_open("kept", NULL, NULL, &cache, &diag), &diag);
    REQUIRE_OK(vyre_cache_put(cache, key.data, key.length, "no object", 9, &diag), &diag);
    vyre_cache_close(cache);
    cpu_codes_destroy(codes);
    for (uint32_t i = 0; i < 2; i++) {
        codes = make_codes("kept", 0);
        CHECK_EQ(take(codes, 5, &code), i ? VYRE_CODE_FROM_DISK : VYRE_CODE_COMPILED);
        cpu_codes_give_back(codes, code);
        cpu_codes_destroy(codes);
    }
    REQUIRE_OK(vyre_cache_open("kept", NULL, NULL, &cache, &diag), &diag);
    REQUIRE_OK(vyre_cache_put(cache, key.data, key.length, "abc", 3, &diag), &diag); /* short */
    vyre_cache_close(cache);
    codes = make_codes("kept", 0);
    CHECK_EQ(take(codes, 5, &code), VYRE_CODE_COMPILED);
    cpu_codes_give_back(codes, code);
    cpu_codes_destroy(codes);
    vyre_text_finish(&key);
}

static void *take_many(void *arg) {
    uint64_t random = (uintptr_t)arg;
    for (uint32_t i = 0; i < 40; i++) {
        cpu_code *code;
        (void)take(arg, (uint32_t)test_random_below(&random, 6), &code);
        cpu_codes_give_back(arg, code);
    }
    return NULL;
}

TEST(threads_may_take_the_same_code_at_once) {
    begin();
    cpu_codes *codes = make_codes("kept", 10000);
    test_in_threads(take_many, codes, 0);
    cpu_codes_destroy(codes);
}

static vyre_status take_once(const vyre_allocator *a, void *user) {
    (void)user;
    const cpu_codes_options options = {.folder = "kept"};
    cpu_codes *codes = NULL;
    cpu_code *code = NULL;
    vyre_code_origin origin;
    vyre_status status = cpu_codes_create(&options, a, &codes, NULL);
    if (status == VYRE_OK) {
        status = take_or_make(codes, 9, &code, &origin, NULL);
        cpu_codes_give_back(codes, status == VYRE_OK ? code : NULL);
    }
    cpu_codes_destroy(codes);
    return status;
}

TEST(without_memory_nothing_is_lost) {
    begin();
    cpu_codes_destroy(make_codes(NULL, 0));
    const vyre_allocator a = vyre_allocator_system();
    REQUIRE(take_once(&a, NULL) == VYRE_OK);
    test_heap heap = {0};
    vyre_allocator counted = test_heap_allocator(&heap);
    CHECK_EQ(take_once(&counted, NULL), VYRE_OK);
    const uint64_t calls = heap.calls;
    for (uint64_t i = 1; i <= calls; i++) { /* what can't be kept, or read, is compiled instead */
        heap = (test_heap){.fail_at = i};
        counted = test_heap_allocator(&heap);
        const vyre_status status = take_once(&counted, NULL);
        CHECK(status == VYRE_OK || status == VYRE_OUT_OF_MEMORY);
        CHECK_EQ(heap.live_blocks, 0);
    }
}
