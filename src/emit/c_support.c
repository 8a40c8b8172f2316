/* The texts of host parts: what is the same in C and CUDA C++, and the table of C. A file gets the
 * parts whose functions it uses. */
#include "emit/c.h"

const emit_part emit_c_parts[] = {
    {"vy_count(", "static inline uint64_t vy_count(const vy_group *grid) {\n"
                  "    return (uint64_t)grid->groups_x * grid->groups_y * grid->groups_z;\n"
                  "}\n\n"},
    {"vy_trap",
     "/* Of the lanes that trap before the next grid barrier the lowest is told. */\n"
     "static void vy_trap(const vy_group *vy, uint64_t lane, uint32_t address, uint32_t line,\n"
     "                    const char *tag) {\n"
     "#ifdef _OPENMP\n#    pragma omp critical(vy_trapping)\n#endif\n"
     "    if (!vy->trap->happened || lane < vy->trap->lane) {\n"
     "        vy->trap->happened = true;\n"
     "        vy->trap->lane = lane;\n"
     "        vy->trap->address = address;\n"
     "        vy->trap->line = line;\n"
     "        vy->trap->tag = tag;\n"
     "    }\n"
     "}\n"
     "\n"},
    {"vy_take_traps(",
     "/* Where lanes may trap whose group goes on: 64 words each, two for each bit of the address, "
     "in\n"
     " * which the lowest lanes are that had this bit 0 and 1. A lane is 2^31 less its number, "
     "and\n"
     " * lanes beyond 2^31 have words of their own. */\n"
     "typedef struct vy_site {\n"
     "    const char *tag;\n"
     "    uint32_t line;\n"
     "} vy_site;\n"
     "\n"
     "static void vy_take_traps(const vy_group *vy, uint32_t *words, uint32_t count,\n"
     "                          const vy_site *sites, uint32_t site_count) {\n"
     "    const uint64_t sets = (count - 1) / 64 / site_count;\n"
     "    for (uint64_t i = 0; i < sets * site_count && words[0] != 0; i++) {\n"
     "        const uint32_t *at = words + 1 + 64 * i, key = at[0] > at[1] ? at[0] : at[1];\n"
     "        uint32_t address = 0;\n"
     "        for (uint32_t bit = 0; bit < 32; bit++) {\n"
     "            address |= (uint32_t)(at[2 * bit + 1] == key) << bit;\n"
     "        }\n"
     "        if (key != 0) {\n"
     "            vy_trap(vy, (i / site_count << 31) + (0x80000000u - key), address,\n"
     "                    sites[i % site_count].line, sites[i % site_count].tag);\n"
     "        }\n"
     "    }\n"
     "    memset(words, 0, (size_t)4 * count);\n"
     "}\n"
     "\n"},
    {"vy_int ", "__extension__ typedef __int128 vy_int;\n\n"},
    {"vy_size(",
     "/* Sizes are exact: what divides by zero, or is too large for 127 bits, is an error. */\n"
     "static vy_int vy_size(char op, vy_int a, vy_int b, bool *bad) {\n"
     "    vy_int out = 0;\n"
     "    switch (op) {\n"
     "    case '+': *bad |= __builtin_add_overflow(a, b, &out); break;\n"
     "    case '-': *bad |= __builtin_sub_overflow(a, b, &out); break;\n"
     "    case '*': *bad |= __builtin_mul_overflow(a, b, &out); break;\n"
     "    case '/': *bad |= b == 0; out = b == 0 ? 0 : b == -1 ? vy_size('-', 0, a, bad) : a / b; "
     "break;\n"
     "    case '%': *bad |= b == 0; out = b == 0 || b == -1 ? 0 : a % b; break;\n"
     "    case '<':\n"
     "        *bad |= b < 0 || b > 126;\n"
     "        out = b < 0 || b > 126 ? 0 : vy_size('*', a, (vy_int)1 << b, bad);\n"
     "        break;\n"
     "    case '>': *bad |= b < 0; out = a >> (b < 0 || b > 126 ? 126 : b); break;\n"
     "    case 'm': out = a < b ? a : b; break;\n"
     "    default: out = a > b ? a : b; break;\n"
     "    }\n"
     "    return out;\n"
     "}\n"
     "\n"},
    {NULL, NULL}};

static const emit_part parts[] = {
    {"vy_number(",
     "static inline uint64_t vy_number(const vy_group *vy) {\n"
     "    return ((uint64_t)vy->group_z * vy->groups_y + vy->group_y) * vy->groups_x + "
     "vy->group_x;\n"
     "}\n"
     "\n"},
    {"vy_zeros(",
     "static inline void *vy_zeros(uint64_t count, uint64_t size) {\n"
     "    return count > SIZE_MAX ? NULL : calloc(count ? (size_t)count : 1, (size_t)size);\n"
     "}\n"
     "\n"},
    {"vy_free(", "static inline void vy_free(void *memory) {\n"
                 "    free(memory);\n"
                 "}\n"
                 "\n"},
    {"vy_clear(", "static inline void vy_clear(void *to, size_t size) {\n"
                  "    if (size != 0) memset(to, 0, size);\n"
                  "}\n"
                  "\n"},
    {"vy_copy(", "static inline void vy_copy(void *to, const void *from, size_t size) {\n"
                 "    if (size != 0) memcpy(to, from, size);\n"
                 "}\n"
                 "\n"},
    {"vy_read(", "static inline void vy_read(void *to, const void *from, size_t size) {\n"
                 "    memcpy(to, from, size);\n"
                 "}\n"
                 "\n"},
    {"vy_swap(", "static inline void vy_swap(void *a, void *b, size_t size) {\n"
                 "    for (size_t i = 0; i < size; i++) {\n"
                 "        const unsigned char kept = ((unsigned char *)a)[i];\n"
                 "        ((unsigned char *)a)[i] = ((unsigned char *)b)[i];\n"
                 "        ((unsigned char *)b)[i] = kept;\n"
                 "    }\n"
                 "}\n"
                 "\n"},
    {"vy_threads(", "static inline uint64_t vy_threads(void) {\n"
                    "#ifdef _OPENMP\n"
                    "    return (uint64_t)omp_get_max_threads();\n"
                    "#else\n"
                    "    return 1;\n"
                    "#endif\n"
                    "}\n"
                    "\n"},
    {NULL, NULL}};

static const emit_host host = {
    .dialect = &emit_c,
    .capabilities = "cpu",
    .segment = emit_c_segment,
    .head = "/* Program $X as C11, made by vyre $Y.\n"
            " *\n"
            " * Compile with  cc -O2 -ffp-contract=off -c FILE  and add -fopenmp for threads; link "
            "with -lm.\n"
            " * Results are the same to the bit on every machine with IEEE floats; never use "
            "-ffast-math.\n"
            " * gcc or clang: atomics and 128-bit integers are theirs. Lines are those of the "
            "program's source.\n"
            " * Everything below but $X_args, $X_trap, $X_pass, $X_run and the codes is its own "
            "affair. */\n"
            "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <stdlib.h>\n"
            "#include <string.h>\n"
            "#ifdef _OPENMP\n#    include <omp.h>\n#endif\n"
            "#ifdef __clang__\n#    pragma STDC FP_CONTRACT OFF\n#endif\n"
            "#pragma GCC diagnostic ignored \"-Wunused-variable\" /* as in the program */\n"
            "#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"\n",
    .code = "",
    .args = "",
    .support =
        "/* Where a group is, and what it works with; of the whole grid: how large it is. */\n"
        "typedef struct vy_group {\n"
        "    uint32_t group_x, group_y, group_z;\n"
        "    uint32_t groups_x, groups_y, groups_z;\n"
        "    char *memory; /* of the thread that runs it */\n"
        "    $X_trap *trap;\n"
        "} vy_group;\n"
        "\n"
        "static inline vy_group vy_at(const vy_group *grid, uint64_t number) {\n"
        "    vy_group one = *grid;\n"
        "    one.group_x = (uint32_t)(number % grid->groups_x);\n"
        "    one.group_y = (uint32_t)(number / grid->groups_x % grid->groups_y);\n"
        "    one.group_z = (uint32_t)(number / grid->groups_x / grid->groups_y);\n"
        "#ifdef _OPENMP\n"
        "    if (one.memory) {\n"
        "        one.memory += (size_t)$Yu * (size_t)omp_get_thread_num();\n"
        "    }\n"
        "#endif\n"
        "    return one;\n"
        "}\n"
        "\n",
    .parts = parts,
    .trap_memory = "vy_zeros",
    .call = "    vy_code = vy_pass(args, vy_fresh, vy_held, &vy_found);\n",
    .done = "",
};

vyre_status emit_c_file(const vyre_program *program, const vyre_emit_options *options,
                        const vyre_allocator *a, vyre_text *out, vyre_diag *diag) {
    return emit_hosted_file(&host, program, options, a, out, diag);
}
