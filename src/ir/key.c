/* Keys: a hash of the program's text, which holds all of it but where it was written, of the table
 * of operations, and of what the caller adds. Linear in the text; allocates nothing. */
#include <string.h>

#include "base/hash.h"
#include "vyre/ir.h"

static bool add_text(void *user, const char *text, size_t length) {
    vyre_hash_add(user, text, length);
    return true;
}

/* With its end, so that two texts are never taken for one. */
static void add_string(vyre_hash_stream *hash, const char *text) {
    vyre_hash_add(hash, text, strlen(text) + 1);
}

static void add_number(vyre_hash_stream *hash, uint64_t number) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(number >> 8 * i);
    }
    vyre_hash_add(hash, bytes, sizeof bytes);
}

static void add_table(vyre_hash_stream *hash) {
    add_number(hash, VYRE_OPS_VERSION);
    for (uint32_t i = 0; i < VYRE_EXPR_COUNT; i++) {
        const vyre_expr_info *info = vyre_expr_info_of((vyre_expr_op)i);
        add_string(hash, info->name);
        add_number(hash,
                   (uint64_t)info->arity << 16 | (uint64_t)info->operands << 8 | info->result);
    }
    for (uint32_t i = 0; i < VYRE_STMT_COUNT; i++) {
        const vyre_stmt_info *info = vyre_stmt_info_of((vyre_stmt_op)i);
        add_string(hash, info->name);
        add_number(hash, (uint64_t)info->args << 8 | info->effects);
    }
}

void vyre_program_key(const vyre_program *program, const void *options, size_t size,
                      vyre_key *out_key) {
    vyre_hash_stream hash;
    vyre_hash_begin(&hash);
    add_table(&hash);
    add_number(&hash, size);
    if (size > 0) {
        vyre_hash_add(&hash, options, size);
    }
    (void)vyre_program_print(program, add_text, &hash); /* which fails only if writing does */
    vyre_hash_end(&hash, out_key->bytes);
}
