/* The cpu backend as a device: memory is host memory, a kernel is machine code, a launch runs it.
 * Its path may narrow what it uses of the processor, to see how programs get along with less:
 * "cpu://features=sse2&threads=1&gang=8"; guard=1 puts pages that nobody may touch behind buffers,
 * stream=N lets stores to buffers of N bytes or more go past the caches. */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/code.h"
#include "backend/cpu/run.h"
#include "base/alloc.h"
#include "base/diag.h"
#include "device/builtin.h"
#include "kit/cores.h"
#include "kit/host_memory.h"
#include "vyre/lower.h"

typedef struct cpu_device {
    vyre_host_device host;
    cpu_isa isa;
    uint32_t threads; /* 0: as many as there are */
    uint32_t gang;    /* lanes in lockstep; 0: chosen for each segment */
    uint32_t effort;  /* of LLVM */
    bool unchecked;   /* bounds need not be tested */
    bool alone;       /* one thread runs all */
    uint32_t stream;  /* bytes of a buffer from which on stores go past the caches; 0: by these */
    vyre_capabilities can;
    cpu_codes *codes;
    vyre_team *team;
} cpu_device;

/* Opening. */

/* The value behind `name` in "name=value&...", up to the next & or the end; NULL: not this name. */
static const char *value_of(const char *at, const char *name, size_t *out_length) {
    size_t length = strlen(name);
    if (strncmp(at, name, length) != 0 || at[length] != '=') {
        return NULL;
    }
    const char *value = at + length + 1;
    *out_length = strcspn(value, "&");
    return value;
}

static bool parse_number(const char *text, size_t length, uint32_t most, uint32_t *out) {
    uint32_t number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || number > most) {
            return false;
        }
        number = 10 * number + (uint32_t)(text[i] - '0');
    }
    *out = number;
    return number >= 1 && number <= most;
}

static bool parse_isa(const char *text, size_t length, cpu_isa *out) {
    for (int i = 0; i < CPU_ISA_COUNT; i++) {
        const char *name = cpu_isa_name((cpu_isa)i);
        if (strlen(name) == length && memcmp(name, text, length) == 0) {
            *out = (cpu_isa)i;
            return true;
        }
    }
    return false;
}

static bool is_flag(const char *text, size_t length) {
    return length == 1 && (*text == '0' || *text == '1');
}

static bool parse_option(cpu_device *device, const char *at) {
    enum { MOST_THREADS = 1024, MOST_STREAM = 100000000 };
    size_t length = 0;
    const char *value;
    if ((value = value_of(at, "features", &length))) {
        return parse_isa(value, length, &device->isa);
    }
    if ((value = value_of(at, "threads", &length))) {
        return parse_number(value, length, MOST_THREADS, &device->threads);
    }
    if ((value = value_of(at, "gang", &length))) {
        return parse_number(value, length, 32, &device->gang) &&
               (device->gang & (device->gang - 1)) == 0;
    }
    if ((value = value_of(at, "effort", &length))) {
        device->effort = *value == '1';
        return is_flag(value, length);
    }
    if ((value = value_of(at, "unchecked", &length))) {
        device->unchecked = *value == '1';
        return is_flag(value, length);
    }
    if ((value = value_of(at, "stream", &length))) {
        return parse_number(value, length, MOST_STREAM, &device->stream);
    }
    if ((value = value_of(at, "guard", &length))) {
        device->host.options.guard = *value == '1';
        return is_flag(value, length);
    }
    return false;
}

static vyre_status parse_path(cpu_device *device, const char *path, vyre_diag *diag) {
    const cpu_isa host = device->isa;
    for (const char *at = path; *at;) {
        if (!parse_option(device, at)) {
            return vyre_fail(
                diag, VYRE_NOT_FOUND,
                "say it like cpu://features=avx2&threads=2&gang=8; features are sse2, "
                "avx2 or avx512, a gang has 1, 2, 4, 8, 16 or 32 lanes, effort, unchecked and "
                "guard are 0 or 1, stream is a number of bytes",
                "the cpu device can't be opened as \"%s\"", path);
        }
        at += strcspn(at, "&");
        at += *at == '&';
    }
    if (device->isa > host) {
        return vyre_fail(diag, VYRE_NOT_FOUND, "choose less, or nothing for all that is there",
                         "this processor has %s, not %s", cpu_isa_name(host),
                         cpu_isa_name(device->isa));
    }
    return VYRE_OK;
}

/* All that is emitted; the rest is lowered to it. */
static vyre_capabilities capabilities(void) {
    vyre_capabilities can = {0};
    (void)vyre_capabilities_named("calls,async,elementary,groups,row", &can, NULL);
    return can;
}

static void cpu_close(vyre_backend_device *object) {
    cpu_device *device = (cpu_device *)object;
    vyre_allocator a = device->host.allocator;
    vyre_team_destroy(device->team);
    cpu_codes_destroy(device->codes);
    vyre_free(&a, device, 1, sizeof *device);
}

/* Much more than a core has for itself, and more than all share: what was stored first would not be
 * there any more when it is needed. Of a smaller buffer a part may be, and to store past that costs
 * up to three times as much as it saves where it is not (sweeps between two buffers of half the
 * last level). */
static uint32_t choose_stream(void) {
    enum { TIMES = 16, LEAST = 1 << 20 };
    uint64_t caches[3];
    vyre_cores_caches(NULL, caches);
    const uint64_t own = TIMES * (caches[1] < LEAST ? LEAST : caches[1]);
    const uint64_t bytes = caches[2] < own ? own : caches[2];
    return (uint32_t)(bytes < UINT32_MAX ? bytes : UINT32_MAX);
}

static vyre_status cpu_open_with(const vyre_backend *backend, const char *path,
                                 const vyre_device_options *given, const vyre_allocator *allocator,
                                 vyre_backend_device **out_device, vyre_diag *diag) {
    (void)backend;
    cpu_device options = {.isa = cpu_isa_of_host(),
                          .effort = 1,
                          .threads = given ? given->threads : 0,
                          .unchecked = given && given->unchecked};
    vyre_status status = parse_path(&options, path, diag);
    if (status != VYRE_OK) {
        return status;
    }
    if (!cpu_llvm_is_there()) {
        return vyre_fail(diag, VYRE_NOT_FOUND, "install it: apt-get install libllvm19",
                         "the cpu backend compiles with LLVM 19, and there is no libLLVM-19.so.1");
    }
    vyre_allocator a = vyre_allocator_or_system(allocator);
    cpu_device *device = vyre_alloc(&a, 1, sizeof *device);
    if (!device) {
        return vyre_fail_memory(diag, "a device");
    }
    *device = options;
    device->host.allocator = a;
    device->can = capabilities();
    device->stream = options.stream ? options.stream : choose_stream();
    const vyre_team_options team = {.threads = options.threads};
    const cpu_codes_options codes = {
        .isa = options.isa, .effort = options.effort, .folder = given ? given->code_folder : NULL};
    status = vyre_team_create(&team, &a, &device->team, diag);
    device->alone = status == VYRE_OK && vyre_team_size(device->team) == 1;
    if (status == VYRE_OK) {
        status = cpu_codes_create(&codes, &a, &device->codes, diag);
    }
    if (status != VYRE_OK) {
        cpu_close((vyre_backend_device *)device);
        return status;
    }
    *out_device = (vyre_backend_device *)device;
    return VYRE_OK;
}

static vyre_status cpu_open(const vyre_backend *backend, const char *path,
                            const vyre_allocator *allocator, vyre_backend_device **out_device,
                            vyre_diag *diag) {
    return cpu_open_with(backend, path, NULL, allocator, out_device, diag);
}

static void cpu_describe(vyre_backend_device *object, vyre_device_info *out_info) {
    const cpu_device *device = (const cpu_device *)object;
    *out_info = (vyre_device_info){
        .version = "LLVM 19",
        .level = VYRE_LEVEL_SCHEDULE,
        .allows_split = true,
        .turns_loops = true,
        .has_f64 = true,
        .has_u64_atomics = true,
        .has_float_atomics = true,
        .has_subgroups = true,
        .has_async_copy = true,
        .can = &device->can,
        .has_f16 = device->isa != CPU_SSE2,
        .max_group_lanes = VYRE_LIMIT_GROUP_LANES,
        .max_workgroup_bytes = VYRE_LIMIT_WORKGROUP_BYTES,
        .compute_units = vyre_team_size(device->team),
        .vector_bytes = cpu_isa_vector_bytes(device->isa),
        .code_folder = cpu_codes_folder(device->codes),
    };
    vyre_cores_caches(NULL, out_info->cache_bytes);
    vyre_host_describe(&device->host, out_info);
    (void)snprintf(out_info->name, sizeof out_info->name, "this processor (%s)",
                   cpu_isa_name(device->isa));
}

/* Compiling. */

static void destroy_pieces(const vyre_allocator *a, cpu_piece *pieces, uint32_t count) {
    for (uint32_t i = 0; pieces && i < count; i++) {
        cpu_group_finish(&pieces[i].group, a);
    }
    vyre_free(a, pieces, count, sizeof *pieces);
}

static void destroy_kernel(const cpu_device *device, cpu_kernel *kernel) {
    const vyre_allocator *a = &device->host.allocator;
    cpu_kernel_rest(kernel, a);
    cpu_codes_give_back(device->codes, kernel->code);
    destroy_pieces(a, kernel->pieces, kernel->piece_count);
    vyre_free(a, kernel, 1, sizeof *kernel);
}

static vyre_status find_entries(cpu_kernel *kernel, vyre_diag *diag) {
    for (uint32_t i = 0; i < kernel->piece_count; i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "run%u", i);
        kernel->pieces[i].run = (cpu_entry)cpu_code_find(kernel->code, name);
        (void)snprintf(name, sizeof name, "clip%u", i);
        kernel->pieces[i].clip = (cpu_clipper)cpu_code_find(kernel->code, name);
        (void)snprintf(name, sizeof name, "deliver%u", i);
        kernel->pieces[i].deliver = (cpu_deliverer)cpu_code_find(kernel->code, name);
        if (!kernel->pieces[i].run) {
            return vyre_fail(diag, VYRE_INTERNAL, NULL, "a compiled kernel has no entry");
        }
    }
    return VYRE_OK;
}

/* Lanes one by one have loops of their own, and loops that lanes leave are long for some. */
static bool is_uneven(const cpu_group *group) {
    const uint64_t kinds = vyre_program_get(group->program)->stats.stmt_kinds;
    return (group->form == CPU_FORM_ROWS && group->width == 1) ||
           ((kinds >> VYRE_STMT_WHILE | kinds >> VYRE_STMT_BREAK) & 1);
}

static vyre_status find_trips(cpu_group *group, cpu_notes *notes, uint32_t number,
                              const vyre_allocator *a, vyre_diag *diag) {
    vyre_status status = cpu_trips_find(group->program, a, &group->trips, diag);
    if (status == VYRE_OK && group->trips.most > 0) {
        const cpu_noted noted = {
            .decision = {.segment = number,
                         .topic = "trips",
                         .choice = "all of a loop are one launch",
                         .reason = "each has elements of its own, and lanes know only their sum"},
            .stmt = VYRE_NONE};
        cpu_notes_add(notes, &noted);
    }
    return status;
}

static vyre_status write_piece(cpu_writer *writer, cpu_piece *piece, const vyre_program *program,
                               uint32_t number, vyre_diag *diag) {
    cpu_group *group = &piece->group;
    vyre_status status = cpu_group_create(program, writer->a, group, diag);
    if (status == VYRE_OK) {
        status = cpu_write_group(writer, group, number, diag);
    }
    if (status == VYRE_OK) {
        group->uneven = is_uneven(group);
    }
    return status == VYRE_OK && group->form == CPU_FORM_ROWS
               ? find_trips(group, writer->notes, number, writer->a, diag)
               : status;
}

/* Whether atomics need no lock: one thread runs all that the device does. Its jobs wait for each
 * other, and memory of a device is nobody else's. */
static bool is_alone(const cpu_device *device, const vyre_program *const *programs,
                     uint32_t count) {
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        any |= vyre_program_get(programs[i])->stats.stmt_kinds >> VYRE_STMT_ATOMIC & 1;
    }
    return any && device->alone;
}

/* The pieces of one text (texts of pieces NULL: all). */
static vyre_status write_text(const cpu_device *device, cpu_notes *notes, cpu_piece *pieces,
                              const vyre_program *const *programs, uint32_t count,
                              const uint32_t *texts, uint32_t number, vyre_text *text,
                              vyre_diag *diag) {
    cpu_writer writer;
    cpu_writer_begin(&writer, device->isa, device->gang, notes, &device->host.allocator, text);
    writer.unchecked = device->unchecked;
    writer.alone = is_alone(device, programs, count);
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
        if (!texts || texts[i] == number) {
            status = write_piece(&writer, &pieces[i], programs[i], i, diag);
        }
    }
    const vyre_status ended = cpu_writer_end(&writer, diag);
    return status == VYRE_OK ? ended : status;
}

/* What a piece costs LLVM, roughly: there is something around the shortest one. */
static uint64_t weight_of(const vyre_program *program) {
    return 16 + vyre_program_get(program)->expr_count;
}

/* Which text each piece goes to, so that they can be compiled at the same time: the largest first,
 * each to the text that is smallest so far. More texts than threads, since that is only a guess. */
static uint32_t deal(const cpu_device *device, const vyre_program *const *programs, uint32_t count,
                     uint32_t *out_texts) {
    enum { WORTH = 32 }; /* the weight for which a thread begins */
    uint64_t sizes[CPU_MOST_TEXTS] = {0}, total = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += weight_of(programs[i]);
        out_texts[i] = VYRE_NONE;
    }
    const uint64_t threads = vyre_team_size(device->team);
    uint64_t texts = threads > 1 ? 2 * threads : 1;
    texts = total / WORTH < texts ? total / WORTH : texts;
    texts = texts < CPU_MOST_TEXTS ? texts : CPU_MOST_TEXTS;
    texts = texts < count ? texts : count;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t largest = VYRE_NONE, smallest = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (out_texts[i] == VYRE_NONE &&
                (largest == VYRE_NONE || weight_of(programs[i]) > weight_of(programs[largest]))) {
                largest = i;
            }
        }
        for (uint32_t i = 1; i < texts; i++) {
            smallest = sizes[i] < sizes[smallest] ? i : smallest;
        }
        out_texts[largest] = smallest;
        sizes[smallest] += weight_of(programs[largest]);
    }
    return texts > 0 ? (uint32_t)texts : 1;
}

static bool append(void *text, const char *bytes, size_t length) {
    vyre_text_append(text, bytes, length);
    return true;
}

/* All that decides what the code is. */
static vyre_status write_key(const cpu_device *device, const vyre_program *const *programs,
                             uint32_t count, vyre_text *key, vyre_diag *diag) {
    cpu_codes_begin_key(device->codes, key);
    vyre_text_printf(key, "gang %u, unchecked %d, alone %d, %u programs\n", device->gang,
                     device->unchecked, is_alone(device, programs, count), count);
    for (uint32_t i = 0; i < count; i++) {
        (void)vyre_program_print(programs[i], append, key);
    }
    return vyre_text_status(key, "a kernel", diag);
}

static vyre_status make_code(const cpu_device *device, cpu_kernel *kernel,
                             const vyre_program *const *programs, const vyre_text *key,
                             vyre_diag *diag) {
    const vyre_allocator *a = &device->host.allocator;
    const uint32_t count = kernel->piece_count;
    cpu_group *facts = vyre_alloc_zeroed(a, count, sizeof *facts);
    uint32_t *text_of = vyre_alloc_zeroed(a, count, sizeof *text_of);
    vyre_status status = facts && text_of ? VYRE_OK : vyre_fail_memory(diag, "a kernel");
    vyre_text texts[CPU_MOST_TEXTS];
    const uint32_t text_count = status == VYRE_OK ? deal(device, programs, count, text_of) : 0;
    for (uint32_t i = 0; i < text_count; i++) {
        vyre_text_init(&texts[i], a);
        if (status == VYRE_OK) {
            status = write_text(device, NULL, kernel->pieces, programs, count, text_of, i,
                                &texts[i], diag);
        }
    }
    for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
        facts[i] = cpu_group_facts(&kernel->pieces[i].group);
        cpu_group_finish(&kernel->pieces[i].group, a);
    }
    if (status == VYRE_OK) {
        kernel->origin = VYRE_CODE_COMPILED;
        status = cpu_codes_make(device->codes, key, texts, text_count, vyre_team_size(device->team),
                                facts, count * sizeof *facts, &kernel->code, diag);
    }
    for (uint32_t i = 0; i < text_count; i++) {
        vyre_text_finish(&texts[i]);
    }
    vyre_free(a, facts, count, sizeof *facts);
    vyre_free(a, text_of, count, sizeof *text_of);
    return status;
}

/* From memory, from disk, or by the compiler. */
static vyre_status find_code(const cpu_device *device, cpu_kernel *kernel,
                             const vyre_program *const *programs, vyre_diag *diag) {
    vyre_text key;
    vyre_text_init(&key, &device->host.allocator);
    vyre_status status = write_key(device, programs, kernel->piece_count, &key, diag);
    if (status == VYRE_OK &&
        !cpu_codes_find(device->codes, &key, kernel->piece_count * sizeof(cpu_group), &kernel->code,
                        &kernel->origin)) {
        status = make_code(device, kernel, programs, &key, diag);
    }
    for (uint32_t i = 0; i < kernel->piece_count && status == VYRE_OK; i++) {
        cpu_group *group = &kernel->pieces[i].group;
        memcpy(group, (const char *)cpu_code_facts(kernel->code) + i * sizeof *group,
               sizeof *group);
        group->program = programs[i];
    }
    vyre_text_finish(&key);
    return status == VYRE_OK ? find_entries(kernel, diag) : status;
}

static vyre_status compile_pieces(cpu_device *device, const vyre_program *const *programs,
                                  uint32_t count, const vyre_module *module,
                                  vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    const vyre_allocator *a = &device->host.allocator;
    cpu_kernel *kernel = vyre_alloc_zeroed(a, 1, sizeof *kernel);
    if (!kernel) {
        return vyre_fail_memory(diag, "a kernel");
    }
    kernel->module = module;
    kernel->stream = device->stream;
    kernel->pieces = vyre_alloc_zeroed(a, count, sizeof *kernel->pieces);
    kernel->piece_count = count;
    vyre_status status = !kernel->pieces ? vyre_fail_memory(diag, "a kernel")
                         : count > 0     ? find_code(device, kernel, programs, diag)
                                         : VYRE_OK;
    if (status != VYRE_OK) {
        destroy_kernel(device, kernel);
        return status;
    }
    *out_kernel = (vyre_backend_kernel *)kernel;
    return VYRE_OK;
}

static vyre_status cpu_compile(vyre_backend_device *object, const vyre_program *program,
                               vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    return compile_pieces((cpu_device *)object, &program, 1, NULL, out_kernel, diag);
}

static vyre_status cpu_compile_module(vyre_backend_device *object, const vyre_module *module,
                                      vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    const vyre_module_view *m = vyre_module_get(module);
    return compile_pieces((cpu_device *)object, m->segments, m->segment_count, module, out_kernel,
                          diag);
}

static void cpu_destroy(vyre_backend_device *object, vyre_backend_kernel *kernel) {
    destroy_kernel((cpu_device *)object, (cpu_kernel *)kernel);
}

static void cpu_origin(vyre_backend_device *object, const vyre_backend_kernel *kernel,
                       vyre_code_origin *out_origin) {
    (void)object;
    *out_origin = ((const cpu_kernel *)kernel)->origin;
}

/* Running. */

static vyre_status cpu_launch(vyre_backend_device *object, vyre_backend_kernel *kernel,
                              const vyre_launch *launch, vyre_launch_result *out_result,
                              vyre_diag *diag) {
    const cpu_device *device = (const cpu_device *)object;
    return cpu_run_program((cpu_kernel *)kernel, device->team, launch, &device->host.allocator,
                           out_result, diag);
}

static vyre_status cpu_run_pass(vyre_backend_device *object, vyre_backend_kernel *kernel,
                                const vyre_module_launch *pass, vyre_launch_result *out_result,
                                vyre_diag *diag) {
    const cpu_device *device = (const cpu_device *)object;
    return cpu_run_module((cpu_kernel *)kernel, device->team, pass, &device->host.allocator,
                          out_result, diag);
}

/* Explaining: the text is written, and what was decided meanwhile is told. */

static vyre_status tell_module(const cpu_device *device, const vyre_module *module,
                               vyre_decision_fn tell, void *user, vyre_diag *diag) {
    const vyre_allocator *a = &device->host.allocator;
    const vyre_module_view *m = vyre_module_get(module);
    cpu_notes notes = {.allocator = *a};
    vyre_text text;
    vyre_text_init(&text, a);
    cpu_piece *pieces = vyre_alloc_zeroed(a, m->segment_count, sizeof *pieces);
    vyre_status status = pieces ? write_text(device, &notes, pieces, m->segments, m->segment_count,
                                             NULL, 0, &text, diag)
                                : vyre_fail_memory(diag, "the parts of a program");
    if (status == VYRE_OK && notes.failed) {
        status = vyre_fail_memory(diag, "what was decided");
    }
    bool more = status == VYRE_OK;
    for (uint32_t i = 0; i < notes.list.count && more; i++) {
        vyre_decision *d = &notes.list.data[i].decision;
        d->part_count = cpu_group_segments(&pieces[d->segment].group);
        more = tell(user, d);
    }
    destroy_pieces(a, pieces, m->segment_count);
    cpu_notes_finish(&notes);
    vyre_text_finish(&text);
    return status;
}

static vyre_status cpu_explain(const vyre_backend *backend, const char *path,
                               const vyre_program *program, const vyre_split_options *options,
                               const vyre_allocator *allocator, vyre_module **out_module,
                               vyre_decision_fn tell, void *user, vyre_diag *diag) {
    (void)backend;
    cpu_device device = {.host = {.allocator = *allocator}, .isa = cpu_isa_of_host()};
    const vyre_capabilities can = capabilities();
    const vyre_split_options how = {.keep_barriers = options->keep_barriers,
                                    .any_grid = options->any_grid,
                                    .turn_loops = !options->any_grid,
                                    .can = &can};
    vyre_module *module = NULL;
    vyre_status status = parse_path(&device, path, diag);
    device.alone = (device.threads ? device.threads : vyre_cores_now(NULL).available) == 1;
    if (status == VYRE_OK) {
        status = vyre_split(program, &how, allocator, &module, diag);
    }
    if (status == VYRE_OK) {
        status = tell_module(&device, module, tell, user, diag);
    }
    if (status != VYRE_OK) {
        vyre_module_release(module);
        return status;
    }
    *out_module = module;
    return VYRE_OK;
}

static const vyre_device_table cpu_table = {
    VYRE_HOST_MEMORY_ENTRIES,
    .close = cpu_close,
    .describe = cpu_describe,
    .compile = cpu_compile,
    .destroy = cpu_destroy,
    .launch = cpu_launch,
    .compile_module = cpu_compile_module,
    .run_module = cpu_run_pass,
    .origin = cpu_origin,
};

const vyre_backend vyre_backend_cpu = {
    .name = "cpu",
    .description = "this processor: programs compiled by LLVM",
    .rank = 100,
    .device = &cpu_table,
    .open = cpu_open,
    .open_with = cpu_open_with,
    .explain = cpu_explain,
};
