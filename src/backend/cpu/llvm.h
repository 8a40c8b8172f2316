/* LLVM 19 as a function from text to object code. The library is opened when something must be
 * compiled, with local symbols: other parts of the process may bring another LLVM. Nothing here
 * needs LLVM's headers. */
#ifndef VYRE_SRC_BACKEND_CPU_LLVM_H
#define VYRE_SRC_BACKEND_CPU_LLVM_H

#include "vyre/base.h"

/* What a processor can do that decides how code looks. */
typedef enum cpu_isa { CPU_SSE2, CPU_AVX2, CPU_AVX512, CPU_ISA_COUNT } cpu_isa;

/* The best of them that this machine has; found without LLVM. */
cpu_isa cpu_isa_of_host(void);
const char *cpu_isa_name(cpu_isa isa); /* "sse2" */
uint32_t cpu_isa_vector_bytes(cpu_isa isa);

typedef struct cpu_llvm cpu_llvm;

/* Whether the library seems to be installed; does not open it. */
bool cpu_llvm_is_there(void);
/* VYRE_NOT_FOUND, with the name of the package, if it is not there. */
vyre_status cpu_llvm_open(const vyre_allocator *allocator, cpu_llvm **out_llvm, vyre_diag *diag);
void cpu_llvm_close(cpu_llvm *llvm);

/* How much LLVM tries: 0 next to nothing, which is quick; 1 as usual. */
enum { CPU_EFFORTS = 2 };

/* Whether passes would take too long for the functions of a text, which then has no effort. */
bool cpu_llvm_is_long(const char *text, size_t length);

/* An ELF object, in LLVM's memory. */
typedef struct cpu_llvm_object cpu_llvm_object;
/* For this machine, narrowed to the isa. May be called from several threads, allocates nothing of
 * the caller's. A text that LLVM refuses is VYRE_INTERNAL. */
vyre_status cpu_llvm_compile(const cpu_llvm *llvm, const char *text, size_t length, cpu_isa isa,
                             uint32_t effort, cpu_llvm_object **out_object, vyre_diag *diag);
const void *cpu_llvm_object_bytes(const cpu_llvm *llvm, const cpu_llvm_object *object,
                                  size_t *out_size);
/* NULL is fine. */
void cpu_llvm_object_destroy(const cpu_llvm *llvm, cpu_llvm_object *object);

#endif
