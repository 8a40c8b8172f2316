/* The functions of LLVM's C API that are used, resolved by name from one table. A module is parsed
 * from text, cleaned up by a short list of passes (no vectorisers: the text already says what is a
 * vector, and no idiom recognition: it would call memset), and written as an object in memory. Code
 * is position independent and calls nothing by name.
 *
 * A context is made for each compilation and belongs to one thread, so compilations may run side by
 * side. Costs: opening the library about 20 ms once, compiling 10 to 100 ms, three quarters of it
 * code generation. */
#include "backend/cpu/llvm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"

/* X(result, name, arguments) of each function, as in llvm-c. */
#define LLVM_FUNCTIONS(X)                                                                          \
    X(void *, ContextCreate, (void))                                                               \
    X(void, ContextDispose, (void *))                                                              \
    X(void, ContextSetDiagnosticHandler, (void *, void (*)(void *, void *), void *))               \
    X(void *, CreateMemoryBufferWithMemoryRangeCopy, (const char *, size_t, const char *))         \
    X(int, ParseIRInContext, (void *, void *, void **, char **))                                   \
    X(void, DisposeModule, (void *))                                                               \
    X(void, DisposeMessage, (char *))                                                              \
    X(void, InitializeX86TargetInfo, (void))                                                       \
    X(void, InitializeX86Target, (void))                                                           \
    X(void, InitializeX86TargetMC, (void))                                                         \
    X(void, InitializeX86AsmPrinter, (void))                                                       \
    X(int, GetTargetFromTriple, (const char *, void **, char **))                                  \
    X(void *, CreateTargetMachine,                                                                 \
      (void *, const char *, const char *, const char *, int, int, int))                           \
    X(void, DisposeTargetMachine, (void *))                                                        \
    X(void *, CreateTargetDataLayout, (void *))                                                    \
    X(void, SetModuleDataLayout, (void *, void *))                                                 \
    X(void, DisposeTargetData, (void *))                                                           \
    X(void *, CreatePassBuilderOptions, (void))                                                    \
    X(void, DisposePassBuilderOptions, (void *))                                                   \
    X(void *, RunPasses, (void *, const char *, void *, void *))                                   \
    X(char *, GetErrorMessage, (void *))                                                           \
    X(void, DisposeErrorMessage, (char *))                                                         \
    X(int, TargetMachineEmitToMemoryBuffer, (void *, void *, int, char **, void **))               \
    X(const char *, GetBufferStart, (void *))                                                      \
    X(size_t, GetBufferSize, (void *))                                                             \
    X(void, DisposeMemoryBuffer, (void *))                                                         \
    X(char *, GetHostCPUName, (void))                                                              \
    X(char *, GetHostCPUFeatures, (void))

#define FIELD(result, name, arguments) result(*name) arguments;
struct cpu_llvm {
    vyre_allocator allocator;
    void *library, *target;
    char *cpu, *features; /* LLVM's own strings */
    LLVM_FUNCTIONS(FIELD)
};
#undef FIELD

enum { LEVEL_NONE = 0, LEVEL_DEFAULT = 2, RELOC_PIC = 2, CODE_SMALL = 3, OBJECT_FILE = 1 };

static const char triple[] = "x86_64-unknown-linux-gnu";
/* Before functions are put in place they are only made small: all else is done once, where it is
 * known what stands around them. */
#define SMALL "sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg"
static const char passes[] =
    "function(" SMALL "),inline,function(" SMALL ",reassociate,loop-mssa(licm),"
    "loop(indvars,loop-unroll-full),gvn,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm))";

/* Names under which distributions have the library, and where. */
static const char *const library_names[] = {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so"};
static const char *const library_folders[] = {"/usr/lib/x86_64-linux-gnu/", "/usr/lib/llvm-19/lib/",
                                              "/usr/lib64/", "/usr/lib/", "/usr/local/lib/"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

cpu_isa cpu_isa_of_host(void) {
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("bmi2");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512cd");
    return avx512 ? CPU_AVX512 : avx2 ? CPU_AVX2 : CPU_SSE2;
}

const char *cpu_isa_name(cpu_isa isa) {
    static const char *const names[CPU_ISA_COUNT] = {"sse2", "avx2", "avx512"};
    return names[isa];
}

uint32_t cpu_isa_vector_bytes(cpu_isa isa) {
    static const uint32_t bytes[CPU_ISA_COUNT] = {16, 32, 64};
    return bytes[isa];
}

static void *open_library(void) {
    void *library = NULL;
    for (size_t i = 0; i < COUNT(library_names) && !library; i++) {
        library = dlopen(library_names[i], RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

bool cpu_llvm_is_there(void) {
    for (size_t i = 0; i < COUNT(library_folders); i++) {
        for (size_t j = 0; j < COUNT(library_names); j++) {
            char path[128];
            (void)snprintf(path, sizeof path, "%s%s", library_folders[i], library_names[j]);
            if (access(path, R_OK) == 0) {
                return true;
            }
        }
    }
    void *library = open_library(); /* in a place that only the loader knows */
    if (library) {
        dlclose(library);
    }
    return library != NULL;
}

static vyre_status lacks(vyre_diag *diag, const char *what) {
    return vyre_fail(diag, VYRE_NOT_FOUND, "install it: apt-get install libllvm19",
                     "the cpu backend compiles with LLVM 19, and %s", what);
}

static bool resolve(cpu_llvm *l) {
    bool all = true;
#define RESOLVE(result, name, arguments)                                                           \
    {                                                                                              \
        void *address = dlsym(l->library, "LLVM" #name);                                           \
        memcpy(&l->name, &address, sizeof address);                                                \
        all &= address != NULL;                                                                    \
    }
    LLVM_FUNCTIONS(RESOLVE)
#undef RESOLVE
    return all;
}

void cpu_llvm_close(cpu_llvm *l) {
    if (!l) {
        return;
    }
    if (l->cpu) {
        l->DisposeMessage(l->cpu);
    }
    if (l->features) {
        l->DisposeMessage(l->features);
    }
    /* The library stays: it keeps state of its own that does not like to be unloaded. */
    vyre_allocator a = l->allocator;
    vyre_free(&a, l, 1, sizeof *l);
}

vyre_status cpu_llvm_open(const vyre_allocator *allocator, cpu_llvm **out_llvm, vyre_diag *diag) {
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    cpu_llvm *l = vyre_alloc_zeroed(allocator, 1, sizeof *l);
    if (!l) {
        return vyre_fail_memory(diag, "LLVM");
    }
    l->allocator = *allocator;
    l->library = open_library();
    vyre_status status = !l->library   ? lacks(diag, "there is no libLLVM-19.so.1")
                         : !resolve(l) ? lacks(diag, "the one that is there lacks functions")
                                       : VYRE_OK;
    if (status == VYRE_OK) {
        char *message = NULL;
        (void)pthread_mutex_lock(&once); /* LLVM keeps one list of targets */
        l->InitializeX86TargetInfo();
        l->InitializeX86Target();
        l->InitializeX86TargetMC();
        l->InitializeX86AsmPrinter();
        (void)pthread_mutex_unlock(&once);
        if (l->GetTargetFromTriple(triple, &l->target, &message)) {
            l->DisposeMessage(message);
            status = lacks(diag, "the one that is there can't compile for x86-64");
        }
    }
    if (status != VYRE_OK) {
        cpu_llvm_close(l);
        return status;
    }
    l->cpu = l->GetHostCPUName();
    l->features = l->GetHostCPUFeatures();
    *out_llvm = l;
    return VYRE_OK;
}

/* All that the host has, or a plain x86-64 of that level, so that nothing of the host slips in by
 * its name. */
static void *choose_machine(const cpu_llvm *l, cpu_isa isa, uint32_t effort) {
    static const char *const cpus[] = {"x86-64", "x86-64-v3", "x86-64-v4"};
    const bool own = isa == cpu_isa_of_host() && isa != CPU_SSE2;
    return l->CreateTargetMachine(l->target, triple, own ? l->cpu : cpus[isa],
                                  own ? l->features : "", effort ? LEVEL_DEFAULT : LEVEL_NONE,
                                  RELOC_PIC, CODE_SMALL);
}

/* Diagnostics of LLVM come back as return values; its default handler would print and exit. */
static void ignore_diagnostic(void *info, void *user) {
    (void)info, (void)user;
}

static vyre_status fail_with(const cpu_llvm *l, char *message, const char *when, vyre_diag *diag) {
    vyre_status status =
        vyre_fail(diag, VYRE_INTERNAL, "please report it with the program",
                  "LLVM refuses what the cpu backend made, %s: %s", when, message ? message : "");
    if (message) {
        l->DisposeMessage(message);
    }
    return status;
}

static vyre_status optimize(const cpu_llvm *l, void *module, void *machine, uint32_t effort,
                            vyre_diag *diag) {
    void *options = l->CreatePassBuilderOptions();
    void *error = l->RunPasses(module, effort ? passes : "function(sroa)", machine, options);
    l->DisposePassBuilderOptions(options);
    if (!error) {
        return VYRE_OK;
    }
    char *message = l->GetErrorMessage(error);
    vyre_status status = vyre_fail(diag, VYRE_INTERNAL, "please report it with the program",
                                   "LLVM can't run its passes: %s", message);
    l->DisposeErrorMessage(message);
    return status;
}

static vyre_status emit(const cpu_llvm *l, void *module, void *machine,
                        cpu_llvm_object **out_object, vyre_diag *diag) {
    char *message = NULL;
    void *buffer = NULL;
    if (l->TargetMachineEmitToMemoryBuffer(machine, module, OBJECT_FILE, &message, &buffer)) {
        return fail_with(l, message, "as an object", diag);
    }
    *out_object = buffer;
    return VYRE_OK;
}

const void *cpu_llvm_object_bytes(const cpu_llvm *l, const cpu_llvm_object *object,
                                  size_t *out_size) {
    void *buffer = (void *)(uintptr_t)object; /* it is only looked at */
    *out_size = l->GetBufferSize(buffer);
    return l->GetBufferStart(buffer);
}

void cpu_llvm_object_destroy(const cpu_llvm *l, cpu_llvm_object *object) {
    if (object) {
        l->DisposeMemoryBuffer(object);
    }
}

/* Passes ask of each access in a function which others may be the same, so their time is that of a
 * square: 250 buffers take seconds, 4,096 an hour. Such functions are not what people write and
 * wait for; many small ones, the segments of a long program, are. */
bool cpu_llvm_is_long(const char *text, size_t length) {
    static const char begins[] = "\ndefine ";
    const uint64_t most = UINT64_C(1) << 19;
    const char *end = text + length, *from = text;
    uint64_t squares = 0;
    while (from < end) {
        const char *next = memmem(from + 1, (size_t)(end - from) - 1, begins, sizeof begins - 1);
        const uint64_t size = (uint64_t)((next ? next : end) - from);
        squares += size * size;
        from = next ? next : end;
    }
    return squares > most * most;
}

vyre_status cpu_llvm_compile(const cpu_llvm *l, const char *text, size_t length, cpu_isa isa,
                             uint32_t effort, cpu_llvm_object **out_object, vyre_diag *diag) {
    effort = cpu_llvm_is_long(text, length) ? 0 : effort;
    void *module = NULL, *machine = choose_machine(l, isa, effort);
    vyre_status status = VYRE_OK;
    void *context = l->ContextCreate();
    l->ContextSetDiagnosticHandler(context, ignore_diagnostic, NULL);
    char *message = NULL;
    /* The buffer is the parser's from here on. */
    void *buffer = l->CreateMemoryBufferWithMemoryRangeCopy(text, length, "vyre");
    if (l->ParseIRInContext(context, buffer, &module, &message)) {
        status = fail_with(l, message, "as text", diag);
    } else {
        void *layout = l->CreateTargetDataLayout(machine);
        l->SetModuleDataLayout(module, layout);
        l->DisposeTargetData(layout);
        status = optimize(l, module, machine, effort, diag);
        if (status == VYRE_OK) {
            status = emit(l, module, machine, out_object, diag);
        }
        l->DisposeModule(module);
    }
    l->ContextDispose(context);
    l->DisposeTargetMachine(machine);
    return status;
}
