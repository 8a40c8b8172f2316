/* Compiled code of a device, by what it is made from: what was compiled before comes from memory,
 * or from a folder on disk, without LLVM and without writing its text again. */
#ifndef VYRE_SRC_BACKEND_CPU_CODE_H
#define VYRE_SRC_BACKEND_CPU_CODE_H

#include "backend/cpu/llvm.h"
#include "base/text.h"
#include "kit/object.h"
#include "vyre/backend.h"

typedef struct cpu_codes cpu_codes;
/* Code that is loaded; kernels of the same key share it. */
typedef struct cpu_code cpu_code;

typedef struct cpu_codes_options {
    cpu_isa isa;
    uint32_t effort;     /* of LLVM */
    const char *folder;  /* where code is kept; NULL: in memory only. One that can't be used: too */
    uint64_t idle_bytes; /* in memory that nobody uses at the moment, at most; 0: 64 MiB */
} cpu_codes_options;

vyre_status cpu_codes_create(const cpu_codes_options *options, const vyre_allocator *a,
                             cpu_codes **out_codes, vyre_diag *diag);
/* All code must have been given back. NULL is fine. */
void cpu_codes_destroy(cpu_codes *codes);
/* NULL: none. */
const char *cpu_codes_folder(const cpu_codes *codes);

/* Every key begins with this: what decides, besides programs and forms, what code they become. */
void cpu_codes_begin_key(const cpu_codes *codes, vyre_text *key);
/* Code that was made under exactly this key, with `facts_size` bytes of facts, from memory or disk;
 * false: there is none. From any thread. */
bool cpu_codes_find(cpu_codes *codes, const vyre_text *key, size_t facts_size, cpu_code **out_code,
                    vyre_code_origin *out_origin);
/* Code is made of so many texts at most, each complete in itself. */
enum { CPU_MOST_TEXTS = 8 };
/* Compiles the texts, by so many threads at most, and keeps the code under the key, with
 * facts that say how to run it. From any thread. VYRE_NOT_FOUND: there is no LLVM. */
vyre_status cpu_codes_make(cpu_codes *codes, const vyre_text *key, const vyre_text *texts,
                           uint32_t text_count, uint32_t threads, const void *facts,
                           size_t facts_size, cpu_code **out_code, vyre_diag *diag);
const void *cpu_code_facts(const cpu_code *code);
/* NULL is fine. */
void cpu_codes_give_back(cpu_codes *codes, cpu_code *code);
/* A function by its name; NULL: there is none. */
vyre_object_function cpu_code_find(const cpu_code *code, const char *name);

#endif
