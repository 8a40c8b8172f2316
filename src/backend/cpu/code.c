/* A key holds the texts of the programs in full, the options of the device, and in its first line
 * what else decides: which build of the library this is (its build id, so that a change of the
 * emitter is another key), the processor as cpuid tells it, how much LLVM tries. An update of LLVM
 * 19 does not make old code wrong, so its last digits are not asked for: that would mean to load
 * it. Where the linker gave no build id, nothing is kept on disk.
 *
 * In memory code is kept beyond its last user, the latest used last; the oldest go when idle code
 * takes too much. On disk the cache of the kit keeps it (kit/cache.h): facts, sizes of objects, and
 * these. What it gives is loaded like fresh code, and if the loader refuses it, it counts as not
 * there. Two threads may compile one text at once: then the first one's code is shared, and the
 * other's goes.
 */
#include "backend/cpu/code.h"

#include <cpuid.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/hash.h"
#include "kit/build_id.h"
#include "kit/store.h"
#include "kit/team.h"

#define IDLE_BYTES (UINT64_C(64) << 20)

/* Objects as bytes, and loaded; those that there are come first. */
typedef struct bundle {
    const void *bytes[CPU_MOST_TEXTS];
    uint64_t sizes[CPU_MOST_TEXTS];
} bundle;
typedef struct objects {
    vyre_object *list[CPU_MOST_TEXTS];
} objects;

struct cpu_code {
    objects objects;
    uint64_t hash; /* of the key */
    char *key;     /* the facts stand behind it */
    size_t key_size, facts_size;
    uint32_t users;
};

struct cpu_codes {
    vyre_allocator allocator;
    cpu_isa isa;
    uint32_t effort;
    uint64_t idle_bytes;
    vyre_store store;
    pthread_mutex_t lock;       /* of all below */
    VYRE_VEC(cpu_code *) codes; /* the one used last is last */
    cpu_llvm *llvm;             /* opened when something must be compiled */
};

/* What this processor is to a compiler. */

static uint64_t enabled_state(uint32_t features) {
    uint32_t low = 0, high = 0;
    if (features & bit_OSXSAVE) {
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    }
    return (uint64_t)high << 32 | low;
}

/* Not everything that cpuid says: the number of the core under the caller is not of interest. */
static void write_host(vyre_text *text) {
    static const uint32_t leaves[][2] = {{0, 0}, {1, 0}, {7, 0}, {7, 1}, {0xd, 1}, {0x80000001, 0}};
    uint32_t features = 0;
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        uint32_t a = 0, b = 0, c = 0, d = 0;
        (void)__get_cpuid_count(leaves[i][0], leaves[i][1], &a, &b, &c, &d);
        features = leaves[i][0] == 1 ? c : features;
        b = leaves[i][0] == 1 || leaves[i][0] == 0xd ? 0 : b;
        vyre_text_printf(text, " %x.%x.%x.%x", a, b, c, d);
    }
    vyre_text_printf(text, " %llx", (unsigned long long)enabled_state(features));
}

void cpu_codes_begin_key(const cpu_codes *codes, vyre_text *key) {
    uint8_t id[VYRE_BUILD_ID_MOST];
    const size_t size = vyre_linker_build_id(id);
    vyre_text_printf(key, "vyre %s ", VYRE_VERSION_STRING);
    for (size_t i = 0; i < size; i++) {
        vyre_text_printf(key, "%02x", id[i]);
    }
    vyre_text_printf(key, ", LLVM 19, effort %u", codes->effort);
    vyre_text_printf(key, ", %s, host", cpu_isa_name(codes->isa));
    write_host(key);
    vyre_text_puts(key, "\n");
}

/* Memory. */

static void destroy_objects(objects *o) {
    for (uint32_t i = 0; i < CPU_MOST_TEXTS; i++) {
        vyre_object_destroy(o->list[i]);
    }
}

static void destroy_code(const vyre_allocator *a, cpu_code *code) {
    if (code) {
        destroy_objects(&code->objects);
        vyre_free(a, code->key, code->key_size + code->facts_size, 1);
        vyre_free(a, code, 1, sizeof *code);
    }
}

static uint64_t bytes_of(const cpu_code *code) {
    uint64_t bytes = code->key_size + code->facts_size;
    for (uint32_t i = 0; i < CPU_MOST_TEXTS && code->objects.list[i]; i++) {
        bytes += vyre_object_size(code->objects.list[i]);
    }
    return bytes;
}

/* Drops what nobody uses, oldest first, until the rest of that is small enough. */
static void trim(cpu_codes *codes, uint64_t most) {
    uint64_t idle = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < codes->codes.count; i++) {
        idle += codes->codes.data[i]->users ? 0 : bytes_of(codes->codes.data[i]);
    }
    for (uint32_t i = 0; i < codes->codes.count; i++) {
        cpu_code *code = codes->codes.data[i];
        if (!code->users && idle > most) {
            idle -= bytes_of(code);
            destroy_code(&codes->allocator, code);
        } else {
            codes->codes.data[kept++] = code;
        }
    }
    codes->codes.count = kept;
}

/* Code of this key, with one more user, or NULL. The lock is held. */
static cpu_code *find(cpu_codes *codes, uint64_t hash, const vyre_text *key) {
    for (uint32_t i = 0; i < codes->codes.count; i++) {
        cpu_code *code = codes->codes.data[i];
        if (code->hash == hash && code->key_size == key->length &&
            memcmp(code->key, key->data, key->length) == 0) {
            memmove(&codes->codes.data[i], &codes->codes.data[i + 1],
                    (codes->codes.count - i - 1) * sizeof *codes->codes.data);
            codes->codes.data[codes->codes.count - 1] = code;
            code->users++;
            return code;
        }
    }
    return NULL;
}

/* Loads the objects; in any case all of them or none. */
static vyre_status load(const bundle *b, const vyre_allocator *a, objects *out, vyre_diag *diag) {
    vyre_status status = VYRE_OK;
    *out = (objects){0};
    for (uint32_t i = 0; i < CPU_MOST_TEXTS && b->bytes[i] && status == VYRE_OK; i++) {
        status = vyre_object_load(b->bytes[i], b->sizes[i], a, &out->list[i], diag);
    }
    if (status != VYRE_OK) {
        destroy_objects(out);
    }
    return status;
}

/* Takes over the objects in any case. */
static vyre_status add(cpu_codes *codes, const vyre_text *key, const void *facts, size_t facts_size,
                       objects *loaded, cpu_code **out_code, vyre_diag *diag) {
    const vyre_allocator *a = &codes->allocator;
    cpu_code *code = vyre_alloc_zeroed(a, 1, sizeof *code);
    if (!code) {
        destroy_objects(loaded);
        return vyre_fail_memory(diag, "a kernel");
    }
    *code = (cpu_code){.objects = *loaded,
                       .hash = vyre_hash_bytes(key->data, key->length),
                       .key = vyre_alloc(a, key->length + facts_size, 1),
                       .key_size = key->length,
                       .facts_size = facts_size,
                       .users = 1};
    if (code->key) {
        memcpy(code->key, key->data, key->length);
        memcpy(code->key + key->length, facts, facts_size);
    }
    (void)pthread_mutex_lock(&codes->lock);
    cpu_code *same = find(codes, code->hash, key);
    const bool added = !same && code->key && vyre_vec_push(a, &codes->codes, code);
    (void)pthread_mutex_unlock(&codes->lock);
    if (!added) {
        destroy_code(a, code);
    }
    *out_code = same ? same : code;
    return added || same ? VYRE_OK : vyre_fail_memory(diag, "a kernel");
}

void cpu_codes_give_back(cpu_codes *codes, cpu_code *code) {
    if (code) {
        (void)pthread_mutex_lock(&codes->lock);
        code->users--;
        trim(codes, codes->idle_bytes);
        (void)pthread_mutex_unlock(&codes->lock);
    }
}

const void *cpu_code_facts(const cpu_code *code) {
    return code->key + code->key_size;
}

vyre_object_function cpu_code_find(const cpu_code *code, const char *name) {
    vyre_object_function found = NULL;
    for (uint32_t i = 0; i < CPU_MOST_TEXTS && code->objects.list[i] && !found; i++) {
        found = vyre_object_find(code->objects.list[i], name);
    }
    return found;
}

/* Disk. */

/* Where the objects lie in what was kept behind the facts; false: it is not that. */
static bool unpack(const char *bytes, uint64_t size, bundle *out) {
    uint64_t at = sizeof out->sizes;
    *out = (bundle){0};
    if (size < at) {
        return false;
    }
    memcpy(out->sizes, bytes, sizeof out->sizes);
    for (uint32_t i = 0; i < CPU_MOST_TEXTS && out->sizes[i] > 0; i++) {
        if (out->sizes[i] > size - at) {
            return false;
        }
        out->bytes[i] = bytes + at;
        at += out->sizes[i];
    }
    return at == size;
}

/* Facts and objects of an entry become code; NULL: it is none. */
static cpu_code *load_kept(cpu_codes *codes, const vyre_text *key, size_t facts_size) {
    objects loaded;
    bundle b;
    cpu_code *code = NULL;
    vyre_cached kept;
    if (!vyre_store_get(&codes->store, key->data, key->length, &kept)) {
        return NULL;
    }
    const char *bytes = kept.bytes;
    if (kept.size >= facts_size && unpack(bytes + facts_size, kept.size - facts_size, &b) &&
        load(&b, &codes->allocator, &loaded, NULL) == VYRE_OK &&
        add(codes, key, bytes, facts_size, &loaded, &code, NULL) != VYRE_OK) {
        code = NULL;
    }
    vyre_store_release(&codes->store, &kept);
    return code;
}

/* That it can't be kept is nobody's fault. */
static void keep(cpu_codes *codes, const vyre_text *key, const void *facts, size_t facts_size,
                 const bundle *b) {
    const vyre_allocator *a = &codes->allocator;
    size_t size = facts_size + sizeof b->sizes;
    for (uint32_t i = 0; i < CPU_MOST_TEXTS; i++) {
        size += b->sizes[i];
    }
    char *all = codes->store.folder ? vyre_alloc(a, size, 1) : NULL;
    if (all) {
        char *at = all + facts_size + sizeof b->sizes;
        memcpy(all, facts, facts_size);
        memcpy(all + facts_size, b->sizes, sizeof b->sizes);
        for (uint32_t i = 0; i < CPU_MOST_TEXTS && b->bytes[i]; i++) {
            memcpy(at, b->bytes[i], b->sizes[i]);
            at += b->sizes[i];
        }
        vyre_store_put(&codes->store, key->data, key->length, all, size);
    }
    vyre_free(a, all, size, 1);
}

/* Compiling. */

static vyre_status need_llvm(cpu_codes *codes, vyre_diag *diag) {
    vyre_status status = VYRE_OK;
    (void)pthread_mutex_lock(&codes->lock);
    if (!codes->llvm) {
        status = cpu_llvm_open(&codes->allocator, &codes->llvm, diag);
    }
    (void)pthread_mutex_unlock(&codes->lock);
    return status;
}

/* Texts that are compiled at the same time. */
typedef struct making {
    const cpu_codes *codes;
    const vyre_text *texts;
    uint32_t count;
    _Atomic uint32_t next;
    cpu_llvm_object *objects[CPU_MOST_TEXTS];
    vyre_status status[CPU_MOST_TEXTS];
    vyre_diag diags[CPU_MOST_TEXTS];
} making;

/* Whoever is free takes the next one. */
static void compile_some(vyre_worker *me, void *arg) {
    making *m = arg;
    (void)me;
    for (uint32_t i; (i = atomic_fetch_add(&m->next, 1)) < m->count;) {
        m->status[i] =
            cpu_llvm_compile(m->codes->llvm, m->texts[i].data, m->texts[i].length, m->codes->isa,
                             m->codes->effort, &m->objects[i], &m->diags[i]);
    }
}

/* Threads of its own: those of the device may be at work for long. Where there are none, one does
 * all. */
static vyre_status compile_all(making *m, uint32_t threads, vyre_diag *diag) {
    const vyre_team_options options = {.threads = threads < m->count ? threads : m->count};
    vyre_team *team = NULL;
    if (options.threads < 2 ||
        vyre_team_create(&options, &m->codes->allocator, &team, NULL) != VYRE_OK ||
        vyre_team_run(team, 0, compile_some, m, NULL, NULL) != VYRE_OK) {
        compile_some(NULL, m);
    }
    vyre_team_destroy(team);
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->status[i] != VYRE_OK) {
            if (diag) {
                *diag = m->diags[i];
            }
            return m->status[i];
        }
    }
    return VYRE_OK;
}

vyre_status cpu_codes_make(cpu_codes *codes, const vyre_text *key, const vyre_text *texts,
                           uint32_t text_count, uint32_t threads, const void *facts,
                           size_t facts_size, cpu_code **out_code, vyre_diag *diag) {
    const vyre_allocator *a = &codes->allocator;
    vyre_status status = need_llvm(codes, diag);
    making *m = status == VYRE_OK ? vyre_alloc_zeroed(a, 1, sizeof *m) : NULL;
    if (!m) {
        return status == VYRE_OK ? vyre_fail_memory(diag, "a kernel") : status;
    }
    m->codes = codes;
    m->texts = texts;
    m->count = text_count;
    bundle b = {0};
    objects loaded;
    status = compile_all(m, threads, diag);
    for (uint32_t i = 0; i < text_count && status == VYRE_OK; i++) {
        size_t size;
        b.bytes[i] = cpu_llvm_object_bytes(codes->llvm, m->objects[i], &size);
        b.sizes[i] = size;
    }
    if (status == VYRE_OK) {
        status = load(&b, a, &loaded, diag);
    }
    if (status == VYRE_OK) {
        keep(codes, key, facts, facts_size, &b);
        status = add(codes, key, facts, facts_size, &loaded, out_code, diag);
    }
    for (uint32_t i = 0; i < text_count; i++) {
        cpu_llvm_object_destroy(codes->llvm, m->objects[i]);
    }
    vyre_free(a, m, 1, sizeof *m);
    return status;
}

bool cpu_codes_find(cpu_codes *codes, const vyre_text *key, size_t facts_size, cpu_code **out_code,
                    vyre_code_origin *out_origin) {
    const uint64_t hash = vyre_hash_bytes(key->data, key->length);
    (void)pthread_mutex_lock(&codes->lock);
    cpu_code *code = find(codes, hash, key);
    (void)pthread_mutex_unlock(&codes->lock);
    *out_origin = code ? VYRE_CODE_FROM_MEMORY : VYRE_CODE_FROM_DISK;
    *out_code = code ? code : load_kept(codes, key, facts_size);
    return *out_code != NULL;
}

/* Beginning and end. */

void cpu_codes_destroy(cpu_codes *codes) {
    if (!codes) {
        return;
    }
    vyre_allocator a = codes->allocator;
    trim(codes, 0);
    vyre_vec_free(&a, &codes->codes);
    cpu_llvm_close(codes->llvm);
    vyre_store_finish(&codes->store);
    (void)pthread_mutex_destroy(&codes->lock);
    vyre_free(&a, codes, 1, sizeof *codes);
}

vyre_status cpu_codes_create(const cpu_codes_options *options, const vyre_allocator *a,
                             cpu_codes **out_codes, vyre_diag *diag) {
    cpu_codes *codes = vyre_alloc_zeroed(a, 1, sizeof *codes);
    if (!codes) {
        return vyre_fail_memory(diag, "a device");
    }
    *codes = (cpu_codes){.allocator = *a,
                         .isa = options->isa,
                         .effort = options->effort,
                         .idle_bytes = options->idle_bytes ? options->idle_bytes : IDLE_BYTES};
    uint8_t id[VYRE_BUILD_ID_MOST];
    const bool keeps = vyre_linker_build_id(id) > 0;
    vyre_status status =
        vyre_store_init(&codes->store, keeps ? options->folder : NULL, &codes->allocator, diag);
    if (status != VYRE_OK) {
        vyre_free(a, codes, 1, sizeof *codes);
        return status;
    }
    (void)pthread_mutex_init(&codes->lock, NULL);
    *out_codes = codes;
    return VYRE_OK;
}

const char *cpu_codes_folder(const cpu_codes *codes) {
    return codes->store.folder;
}
