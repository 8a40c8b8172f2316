/* The object loader: objects of gcc and clang in several code models do what they say, pages are
 * never writable and executable, what is missing is named, and no damage to a file gets through to
 * memory. */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/test.h"
#include "io/file.h"
#include "kit/elf.h"
#include "kit/object.h"

static const char *const compilers[] = {"gcc", "clang"};
static const char *const variants[] = {"static", "pic", "no-plt", "large", "large-pic", "debug"};
enum { COMPILERS = 2, VARIANTS = 6 };

/* False: this compiler is not there. gcc must be, so that the tests can't all pass over nothing. */
static bool read_object(const char *name, const char *compiler, const char *variant,
                        vyre_bytes *out) {
#ifndef __x86_64__
    test_skip("objects are loaded on x86-64 only");
#endif
    char path[512];
    snprintf(path, sizeof path, "%s/tests/objects/%s-%s-%s.o", VYRE_BINARY_DIR, name, compiler,
             variant);
    if (strcmp(compiler, "gcc") != 0 && access(path, R_OK) != 0) {
        return false;
    }
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_file_read(path, 0, NULL, out, &diag), &diag);
    return true;
}

static vyre_object *load(const vyre_bytes *bytes) {
    vyre_object *object = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_object_load(bytes->data, bytes->size, NULL, &object, &diag), &diag);
    return object;
}

static vyre_object *load_complete(const char *compiler, const char *variant) {
    vyre_bytes bytes;
    if (!read_object("complete", compiler, variant, &bytes)) {
        return NULL;
    }
    vyre_object *object = load(&bytes);
    /* The object must not need the file any more. */
    memset(bytes.data, 0xcc, bytes.size);
    vyre_bytes_finish(&bytes);
    return object;
}

/* The function of the object, as a function of the given type. */
#define FUNCTION(object, name, result, ...)                                                        \
    ((result(*)(__VA_ARGS__))require_function((object), name))
static vyre_object_function require_function(const vyre_object *object, const char *name) {
    vyre_object_function function = vyre_object_find(object, name);
    if (!function) {
        test_fail(__FILE__, __LINE__, "no function %s", name);
        test_stop();
    }
    return function;
}

typedef uint64_t (*number_function)(uint64_t);

static void check_calls(const vyre_object *o) {
    uint64_t (*call)(uint32_t, uint64_t) =
        FUNCTION(o, "complete_call", uint64_t, uint32_t, uint64_t);
    CHECK_EQ(call(0, 21), 42);
    CHECK_EQ(call(1, 21), 63);
    CHECK_EQ(call(2, 21), 3);
    CHECK_EQ(FUNCTION(o, "complete_calls", uint32_t, void)(), 2);
    CHECK_EQ(FUNCTION(o, "complete_function", number_function, void)()(5), 15);
    uint64_t (*choose)(uint32_t, uint64_t, uint64_t) =
        FUNCTION(o, "complete_switch", uint64_t, uint32_t, uint64_t, uint64_t);
    const uint64_t want[] = {17, 7, 60, 2, 9, 384, 24, 15, 99, 99};
    for (uint32_t i = 0; i < 10; i++) {
        CHECK_EQ(choose(i, 12, 5), want[i]);
    }
}

static void check_data(const vyre_object *o) {
    char (*letter)(uint32_t, uint32_t) = FUNCTION(o, "complete_letter", char, uint32_t, uint32_t);
    CHECK_EQ(letter(3, 1), 'h');
    CHECK_EQ(letter(0, 3), 'o');
    CHECK(FUNCTION(o, "complete_half", double, uint32_t, double)(2, 10.0) == 3.5);
    CHECK_EQ(FUNCTION(o, "complete_square", uint32_t, uint32_t)(7), 49);
    int64_t (*count)(uint32_t) = FUNCTION(o, "complete_count", int64_t, uint32_t);
    CHECK_EQ(count(2999), 41);
    CHECK_EQ(count(2999), 43);
    CHECK_EQ(count(0), 44);
    float values[37];
    for (int i = 0; i < 37; i++) {
        values[i] = (float)i;
    }
    FUNCTION(o, "complete_scale", void, float *, uint32_t)(values, 37);
    for (int i = 0; i < 37; i++) {
        CHECK(values[i] == (float)i * 3.0f + (float)(i & 7));
    }
}

TEST(objects_of_all_code_models_run) {
    for (int c = 0; c < COMPILERS; c++) {
        for (int v = 0; v < VARIANTS; v++) {
            if (strcmp(variants[v], "debug") == 0 && !__builtin_cpu_supports("avx2")) {
                continue;
            }
            vyre_object *object = load_complete(compilers[c], variants[v]);
            if (object) {
                check_calls(object);
                check_data(object);
                CHECK(vyre_object_size(object) >= (size_t)3000 * 8);
                CHECK(vyre_object_find(object, "complete_nothing") == NULL);
                CHECK(vyre_object_find(object, "") == NULL);
                CHECK(vyre_object_find(object, "twice") == NULL);
                CHECK(vyre_object_find(object, "complete_counter") == NULL);
                vyre_object_destroy(object);
            }
        }
    }
    vyre_object_destroy(NULL);
}

TEST(an_object_is_loaded_from_any_alignment_and_twice) {
    vyre_bytes bytes;
    read_object("complete", "gcc", "pic", &bytes);
    unsigned char *copy = malloc(bytes.size + 3);
    REQUIRE(copy != NULL);
    vyre_object *objects[3];
    for (size_t shift = 0; shift < 3; shift++) {
        memcpy(copy + 1 + shift, bytes.data, bytes.size - shift);
        memcpy(copy + 1, bytes.data, bytes.size);
        vyre_diag diag = {0};
        REQUIRE_OK(vyre_object_load(copy + 1, bytes.size, NULL, &objects[shift], &diag), &diag);
    }
    free(copy);
    vyre_bytes_finish(&bytes);
    for (int i = 0; i < 3; i++) { /* each has data of its own */
        CHECK_EQ(FUNCTION(objects[i], "complete_count", int64_t, uint32_t)(7), 41);
    }
    for (int i = 0; i < 3; i++) {
        vyre_object_destroy(objects[i]);
    }
}

/* The four letters of the mapping that holds the address. */
static void protection_at(const void *address, char out[5]) {
    FILE *maps = fopen("/proc/self/maps", "r");
    REQUIRE(maps != NULL);
    char line[1024];
    memcpy(out, "none", 5);
    while (fgets(line, sizeof line, maps)) {
        unsigned long begin, end;
        char letters[5];
        if (sscanf(line, "%lx-%lx %4s", &begin, &end, letters) == 3 && /* NOLINT(cert-err34-c) */
            (uintptr_t)address >= begin && (uintptr_t)address < end) {
            memcpy(out, letters, 5);
        }
    }
    fclose(maps);
}

TEST(pages_have_the_protection_of_what_they_hold) {
    vyre_object *object = load_complete("gcc", "pic");
    char letters[5];
    vyre_object_function code = require_function(object, "complete_place");
    void *address;
    memcpy(&address, &code, sizeof address);
    const void *(*place)(uint32_t) = FUNCTION(object, "complete_place", const void *, uint32_t);
    const void *constant = place(0);
    const void *data = place(1);
    protection_at(address, letters);
    CHECK_STR(letters, "r-xp");
    protection_at(constant, letters);
    CHECK_STR(letters, "r--p");
    protection_at(data, letters);
    CHECK_STR(letters, "rw-p");
    vyre_object_destroy(object);
    protection_at(address, letters);
    CHECK_STR(letters, "none");
}

static void check_refused(const char *name, const char *variant, const char *part) {
    for (int c = 0; c < COMPILERS; c++) {
        vyre_bytes bytes;
        if (read_object(name, compilers[c], variant, &bytes)) {
            vyre_object *object = NULL;
            vyre_diag diag = {0};
            CHECK_STATUS(vyre_object_load(bytes.data, bytes.size, NULL, &object, &diag),
                         VYRE_UNSUPPORTED, &diag);
            CHECK_HAS(diag.message, part);
            CHECK(object == NULL);
            vyre_bytes_finish(&bytes);
        }
    }
}

TEST(what_an_object_lacks_is_named) {
    check_refused("missing", "pic", "\"absent_function\"");
}
TEST(thread_local_data_constructors_and_common_symbols_are_refused) {
    check_refused("thread_local", "pic", "thread-local");
    check_refused("constructor", "pic", ".init_array");
    check_refused("common", "static", "\"common_symbol\"");
}

TEST(other_files_are_refused) {
    vyre_bytes bytes;
    read_object("complete", "gcc", "pic", &bytes);
    vyre_object *object = NULL;
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_object_load("", 0, NULL, &object, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_STATUS(vyre_object_load("#!/bin/sh", 9, NULL, &object, &diag), VYRE_INVALID_INPUT, &diag);
    Elf64_Ehdr header;
    memcpy(&header, bytes.data, sizeof header);
    header.e_machine = EM_AARCH64;
    memcpy(bytes.data, &header, sizeof header);
    CHECK_STATUS(vyre_object_load(bytes.data, bytes.size, NULL, &object, &diag), VYRE_UNSUPPORTED,
                 &diag);
    CHECK_HAS(diag.message, "not for x86-64");
    header.e_machine = EM_X86_64;
    header.e_type = ET_DYN;
    memcpy(bytes.data, &header, sizeof header);
    CHECK_STATUS(vyre_object_load(bytes.data, bytes.size, NULL, &object, NULL), VYRE_UNSUPPORTED,
                 NULL);
    vyre_bytes_finish(&bytes);
    CHECK(object == NULL);
}

/* Changes the first section header of the name and writes it back. */
static void change_section(vyre_bytes *bytes, const char *name, void (*change)(Elf64_Shdr *)) {
    vyre_elf elf;
    REQUIRE_OK(vyre_elf_open(bytes->data, bytes->size, &elf, NULL), NULL);
    for (uint32_t i = 1; i < elf.section_count; i++) {
        if (strcmp(vyre_elf_section_name(&elf, i), name) == 0) {
            Elf64_Shdr section = vyre_elf_section(&elf, i);
            change(&section);
            memcpy(bytes->data + elf.section_table + i * sizeof section, &section, sizeof section);
            return;
        }
    }
    test_fail(__FILE__, __LINE__, "no section %s", name);
}

static void make_huge(Elf64_Shdr *s) {
    s->sh_size = UINT64_MAX - 8;
}
static void make_too_large(Elf64_Shdr *s) {
    s->sh_size = VYRE_OBJECT_MOST_BYTES;
}
static void make_too_aligned(Elf64_Shdr *s) {
    s->sh_addralign = UINT64_C(1) << 20;
}
static void make_oddly_aligned(Elf64_Shdr *s) {
    s->sh_addralign = 24;
}
static void move_far(Elf64_Shdr *s) {
    s->sh_offset = UINT64_MAX - 8;
}
static void make_small(Elf64_Shdr *s) {
    s->sh_size = 4;
}
static void make_writable(Elf64_Shdr *s) {
    s->sh_flags |= SHF_WRITE;
}
static void leave_out(Elf64_Shdr *s) {
    s->sh_flags &= ~(uint64_t)SHF_ALLOC;
}
static void make_empty(Elf64_Shdr *s) {
    s->sh_type = SHT_NOBITS;
}
static void drop_last_byte(Elf64_Shdr *s) {
    s->sh_size--;
}

TEST(sections_that_lie_about_themselves_are_refused) {
    const struct {
        const char *section;
        void (*change)(Elf64_Shdr *);
        vyre_status want;
        const char *part;
    } cases[] = {
        {".bss", make_huge, VYRE_LIMIT, "bytes in memory"},
        {".bss", make_too_large, VYRE_LIMIT, "bytes in memory"},
        {".text", make_huge, VYRE_INVALID_INPUT, "section"},
        {".text", move_far, VYRE_INVALID_INPUT, "section"},
        {".text", make_small, VYRE_INVALID_INPUT, "symbol"},
        {".text", make_too_aligned, VYRE_UNSUPPORTED, "alignment"},
        {".text", make_oddly_aligned, VYRE_INVALID_INPUT, "section"},
        {".text", make_writable, VYRE_UNSUPPORTED, "writable code"},
        {".text", make_empty, VYRE_INVALID_INPUT, "outside of its section"},
        {".rodata", leave_out, VYRE_UNSUPPORTED, "not loaded"},
        {".symtab", move_far, VYRE_INVALID_INPUT, "section"},
        {".symtab", drop_last_byte, VYRE_INVALID_INPUT, "symbols"},
        {".strtab", drop_last_byte, VYRE_INVALID_INPUT, "symbols"},
        {".strtab", make_small, VYRE_INVALID_INPUT, ""},
        {".shstrtab", drop_last_byte, VYRE_INVALID_INPUT, "names of its sections"},
        {".rela.text", drop_last_byte, VYRE_INVALID_INPUT, "relocations"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vyre_bytes bytes;
        read_object("complete", "gcc", "pic", &bytes);
        change_section(&bytes, cases[i].section, cases[i].change);
        vyre_object *object = NULL;
        vyre_diag diag = {0};
        CHECK_STATUS(vyre_object_load(bytes.data, bytes.size, NULL, &object, &diag), cases[i].want,
                     &diag);
        CHECK_HAS(diag.message, cases[i].part);
        vyre_bytes_finish(&bytes);
    }
}

/* Changes the first relocation of the code. */
static void check_relocation_refused(void (*change)(Elf64_Rela *, const Elf64_Shdr *code),
                                     vyre_status want, const char *part) {
    vyre_bytes bytes;
    vyre_elf elf;
    read_object("complete", "gcc", "pic", &bytes);
    REQUIRE_OK(vyre_elf_open(bytes.data, bytes.size, &elf, NULL), NULL);
    for (uint32_t i = 1; i < elf.section_count; i++) {
        if (strcmp(vyre_elf_section_name(&elf, i), ".rela.text") == 0) {
            Elf64_Shdr section = vyre_elf_section(&elf, i);
            Elf64_Shdr code = vyre_elf_section(&elf, section.sh_info);
            Elf64_Rela r = vyre_elf_relocation(&elf, &section, 0);
            change(&r, &code);
            memcpy(bytes.data + section.sh_offset, &r, sizeof r);
        }
    }
    vyre_object *object = NULL;
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_object_load(bytes.data, bytes.size, NULL, &object, &diag), want, &diag);
    CHECK_HAS(diag.message, part);
    vyre_bytes_finish(&bytes);
}

static void move_across_the_end(Elf64_Rela *r, const Elf64_Shdr *code) {
    r->r_offset = code->sh_size - 3;
}
static void move_around(Elf64_Rela *r, const Elf64_Shdr *code) {
    (void)code;
    r->r_offset = UINT64_MAX - 1;
}
static void reach_far(Elf64_Rela *r, const Elf64_Shdr *code) {
    (void)code;
    r->r_addend = INT64_C(1) << 31;
}
static void make_unknown(Elf64_Rela *r, const Elf64_Shdr *code) {
    (void)code;
    r->r_info = ELF64_R_INFO(ELF64_R_SYM(r->r_info), R_X86_64_TPOFF32);
}
static void name_no_symbol(Elf64_Rela *r, const Elf64_Shdr *code) {
    (void)code;
    r->r_info = ELF64_R_INFO(0x7fffffffu, ELF64_R_TYPE(r->r_info));
}

TEST(relocations_that_do_not_fit_are_refused) {
    check_relocation_refused(move_across_the_end, VYRE_INVALID_INPUT, "outside of its section");
    check_relocation_refused(move_around, VYRE_INVALID_INPUT, "outside of its section");
    check_relocation_refused(reach_far, VYRE_UNSUPPORTED, "does not reach");
    check_relocation_refused(make_unknown, VYRE_UNSUPPORTED, "relocation of type 23");
    check_relocation_refused(name_no_symbol, VYRE_INVALID_INPUT, "symbol of a relocation");
}

/* Loads a copy that ends exactly with its size, so that the address sanitizer sees one byte more.
 */
static void load_damaged(const unsigned char *data, size_t size) {
    unsigned char *exact = malloc(size ? size : 1);
    REQUIRE(exact != NULL);
    memcpy(exact, data, size);
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_object *object = NULL;
    vyre_diag diag = {0};
    vyre_status status = vyre_object_load(exact, size, &a, &object, &diag);
    free(exact);
    CHECK((status == VYRE_OK) == (object != NULL));
    CHECK(status == VYRE_OK || status == VYRE_INVALID_INPUT || status == VYRE_UNSUPPORTED ||
          status == VYRE_LIMIT);
    vyre_object_destroy(object);
    CHECK_EQ(heap.live_blocks, 0);
}

TEST(truncated_objects_are_refused) {
    vyre_bytes bytes;
    read_object("complete", "gcc", "large-pic", &bytes);
    for (size_t size = 0; size < bytes.size; size++) {
        load_damaged(bytes.data, size);
    }
    vyre_bytes_finish(&bytes);
}

/* Half of the flips go where the structure is: headers, symbols and relocations. */
static size_t choose_byte(const vyre_elf *elf, uint64_t *seed) {
    if (test_random_below(seed, 2)) {
        return test_random_below(seed, elf->size);
    }
    uint32_t number = (uint32_t)test_random_below(seed, elf->section_count);
    Elf64_Shdr s = vyre_elf_section(elf, number);
    bool is_table = s.sh_type == SHT_SYMTAB || s.sh_type == SHT_RELA || s.sh_type == SHT_STRTAB;
    if (is_table && s.sh_size && test_random_below(seed, 2)) {
        return s.sh_offset + test_random_below(seed, s.sh_size);
    }
    return test_random_below(seed, 8)
               ? elf->section_table + number * sizeof s + test_random_below(seed, sizeof s)
               : test_random_below(seed, sizeof(Elf64_Ehdr));
}

TEST(damaged_objects_never_reach_beyond_their_memory) {
    uint64_t seed = 1;
    uint64_t rounds = test_scaled(4000);
    for (int c = 0; c < COMPILERS; c++) {
        for (int v = 0; v < VARIANTS; v++) {
            vyre_bytes bytes;
            if (!read_object("complete", compilers[c], variants[v], &bytes)) {
                continue;
            }
            vyre_elf elf;
            REQUIRE_OK(vyre_elf_open(bytes.data, bytes.size, &elf, NULL), NULL);
            unsigned char *copy = malloc(bytes.size);
            REQUIRE(copy != NULL);
            for (uint64_t i = 0; i < rounds; i++) {
                memcpy(copy, bytes.data, bytes.size);
                for (uint64_t flips = 1 + test_random_below(&seed, 4); flips > 0; flips--) {
                    uint64_t bits = test_random(&seed);
                    copy[choose_byte(&elf, &seed)] = (unsigned char)(bits & 1   ? bits >> 8
                                                                     : bits & 2 ? 0xff
                                                                                : 0);
                }
                load_damaged(copy, bytes.size);
            }
            free(copy);
            vyre_bytes_finish(&bytes);
        }
    }
}

static vyre_status load_once(const vyre_allocator *a, void *user) {
    const vyre_bytes *bytes = user;
    vyre_object *object = NULL;
    vyre_status status = vyre_object_load(bytes->data, bytes->size, a, &object, NULL);
    vyre_object_destroy(object);
    return status;
}

TEST(every_allocation_may_fail) {
    vyre_bytes bytes;
    read_object("complete", "gcc", "pic", &bytes);
    CHECK(test_every_allocation(load_once, &bytes, 100) >= 4);
    vyre_bytes_finish(&bytes);
}

typedef struct loader {
    vyre_bytes *bytes;
    uint32_t right;
} loader;

static void *load_and_call(void *user) {
    loader *l = user;
    for (int i = 0; i < 50; i++) {
        vyre_object *object = load(l->bytes);
        l->right += FUNCTION(object, "complete_count", int64_t, uint32_t)(1) == 41;
        vyre_object_destroy(object);
    }
    return NULL;
}

TEST(threads_load_and_unload_at_once) {
    vyre_bytes bytes;
    read_object("complete", "gcc", "pic", &bytes);
    loader loaders[TEST_THREADS] = {{&bytes, 0}, {&bytes, 0}, {&bytes, 0}, {&bytes, 0}};
    test_in_threads(load_and_call, loaders, sizeof *loaders);
    for (int i = 0; i < TEST_THREADS; i++) {
        CHECK_EQ(loaders[i].right, 50);
    }
    vyre_bytes_finish(&bytes);
}

TEST(a_child_after_fork_has_its_own_data) {
    vyre_object *object = load_complete("gcc", "pic");
    int64_t (*count)(uint32_t) = FUNCTION(object, "complete_count", int64_t, uint32_t);
    CHECK_EQ(count(3), 41);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        bool right = count(3) == 43;
        vyre_object_destroy(object);
        _exit(right ? 0 : 1);
    }
    int status = 1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    CHECK_EQ(count(4), 42);
    vyre_object_destroy(object);
}
