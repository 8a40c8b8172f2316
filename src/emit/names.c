/* Names of programs in text of the C family. A name is kept unless it means something there: then,
 * or if another variable of the function has it, it gets a number. The list holds the words of C,
 * of its dialects and of the headers that files include; what begins with vy is the emitter's own.
 */
#include <string.h>

#include "emit/emit.h"
#include "ir/names.h"

/* Words of C, OpenCL C and CUDA C++, and names that macros or emitted text use. */
static const char *const words[] = {
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "args",
    "asm",
    "atomic_int",
    "auto",
    "bitand",
    "bitor",
    "blockDim",
    "blockIdx",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "class",
    "compl",
    "complex",
    "const",
    "const_cast",
    "constant",
    "constexpr",
    "continue",
    "cooperative_groups",
    "decltype",
    "default",
    "delete",
    "dim3",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "errno",
    "event_t",
    "explicit",
    "export",
    "extern",
    "fabs",
    "fabsf",
    "false",
    "float",
    "floorf",
    "ceilf",
    "truncf",
    "roundf",
    "sqrtf",
    "fmaf",
    "for",
    "friend",
    "generic",
    "get_global_id",
    "get_group_id",
    "get_local_id",
    "get_num_groups",
    "global",
    "global_x",
    "global_y",
    "global_z",
    "goto",
    "gridDim",
    "group_x",
    "group_y",
    "group_z",
    "groups_x",
    "groups_y",
    "groups_z",
    "half",
    "if",
    "image1d_t",
    "image2d_t",
    "image3d_t",
    "inline",
    "int",
    "int16_t",
    "int32_t",
    "int64_t",
    "int8_t",
    "kernel",
    "linux",
    "local",
    "local_x",
    "local_y",
    "local_z",
    "long",
    "main",
    "memcpy",
    "memset",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "pipe",
    "private",
    "protected",
    "ptrdiff_t",
    "public",
    "quad",
    "read_only",
    "read_write",
    "register",
    "reinterpret_cast",
    "restrict",
    "return",
    "sampler_t",
    "short",
    "signed",
    "size_t",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "threadIdx",
    "throw",
    "trap",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "uchar",
    "uint",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uint8_t",
    "uintptr_t",
    "ulong",
    "union",
    "unix",
    "unsigned",
    "ushort",
    "using",
    "virtual",
    "void",
    "volatile",
    "warpSize",
    "wchar_t",
    "while",
    "write_only",
    "xor",
    "xor_eq",
};

/* Types and functions of OpenCL that come in many widths, and macros: what begins so. */
static const char *const beginnings[] = {
    "vy",     "__",     "_A",       "_B",     "_C",       "_D",     "_G",       "_I",
    "_N",     "_P",     "_S",       "_T",     "as_",      "atom_",  "convert_", "CHAR_",
    "cuda",   "CL",     "DBL_",     "EXIT_",  "FLT_",     "FP_",    "HUGE",     "INFINITY",
    "INT",    "LDBL_",  "LLONG_",   "LONG_",  "MAXFLOAT", "MB_",    "M_",       "NAN",
    "NULL",   "OPENCL", "PTRDIFF_", "RAND_",  "SCHAR_",   "SHRT_",  "SIG_",     "SIZE_",
    "UCHAR_", "UINT",   "ULLONG_",  "ULONG_", "USHRT_",   "WCHAR_", "WINT_",
};

static bool is_vector(const char *name) {
    static const char *const bases[] = {"char", "uchar", "short", "ushort", "int", "uint",
                                        "long", "ulong", "float", "double", "half"};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        const size_t length = strlen(bases[i]);
        if (strncmp(name, bases[i], length) == 0 && name[length] != '\0' &&
            strspn(name + length, "0123456789") == strlen(name + length)) {
            return true;
        }
    }
    return false;
}

static bool is_taken(const char *name) {
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) {
            return true;
        }
    }
    /* OpenCL has functions of most names of operations; of this one there are many buffers. */
    return is_vector(name) ||
           (vyre_name_is_operation(name, strlen(name)) && strcmp(name, "row") != 0);
}

bool emit_names_init(vyre_unique *all, const vyre_allocator *a) {
    vyre_unique_init(all, a);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!vyre_unique_name(all, words[i])) {
            return false;
        }
    }
    return true;
}

const char *emit_name(vyre_unique *all, const char *name) {
    char other[VYRE_LIMIT_NAME + 8];
    if (!is_taken(name)) {
        return vyre_unique_name(all, name);
    }
    const size_t length = strlen(name) < VYRE_LIMIT_NAME - 14 ? strlen(name) : VYRE_LIMIT_NAME - 14;
    memcpy(other, "x_", 2);
    memcpy(other + 2, name, length);
    other[2 + length] = '\0';
    return vyre_unique_name(all, other);
}
