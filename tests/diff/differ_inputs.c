/* Inputs from the declarations alone, so that a program is a whole test case. */
#include <stdlib.h>
#include <string.h>

#include "diff/differ.h"
#include "harness/test.h"
#include "ir/size.h"
#include "random/random_program.h"

void differ_free_inputs(differ *d) {
    for (uint32_t i = 0; i < d->input_count; i++) {
        free((void *)(uintptr_t)d->inputs[i].data);
    }
    d->input_count = d->output_count = 0;
}

static void fill(unsigned char *bytes, size_t size, vyre_type type, uint64_t seed) {
    static const float floats[] = {0.0f, 1.0f, -1.5f, 3.25f, 100.0f, -0.125f, 7.0f, 1e6f};
    const uint32_t width = vyre_type_size(type);
    for (size_t at = 0; at + width <= size; at += width) {
        const uint64_t random = test_random(&seed);
        uint64_t value = random >> (random & 1 ? 8 : 61); /* any, or below 8 */
        const float single = floats[random >> 61];
        const double real = (double)single;
        uint32_t word;
        memcpy(&word, &single, sizeof word);
        if (type == VYRE_F64) {
            memcpy(&value, &real, sizeof value);
        } else if (type == VYRE_F32 || type == VYRE_BF16) {
            value = type == VYRE_F32 ? word : word >> 16;
        } else if (type == VYRE_F16) {
            value = 0x3c00 + (random >> 58 << 6); /* 1 to 8 */
        }
        memcpy(bytes + at, &value, width);
    }
}

static bool room(vyre_output *output, size_t size) {
    vyre_output_finish(output, NULL);
    output->data = calloc(size ? size : 1, 1);
    output->size = output->capacity = size;
    return output->data != NULL;
}

static bool make_input(differ *d, size_t size, vyre_type type, uint64_t seed) {
    unsigned char *bytes = calloc(size ? size : 1, 1);
    if (bytes) {
        fill(bytes, size, type, seed);
        d->inputs[d->input_count++] = (vyre_input){bytes, size};
    }
    return bytes != NULL;
}

/* The three words of an indirect dispatch are those that the generator had in mind. */
static bool set_grid(differ *d, const vyre_program_view *p) {
    for (vyre_stmt at = p->entry; at < p->stmt_count; at++) {
        const vyre_stmt_node *s = &p->stmts[at];
        if (s->op != VYRE_STMT_INDIRECT_DISPATCH) {
            continue;
        }
        uint32_t words[3], input = 0, output = 0;
        const uint64_t offset = p->exprs[s->arg[0]].u.bits;
        random_indirect_grid((uint32_t)offset, words);
        for (vyre_decl decl = 0; decl < s->decl; decl++) {
            input += p->decls[decl].role <= VYRE_INOUT;
            output += p->decls[decl].role == VYRE_INOUT || p->decls[decl].role == VYRE_OUT;
        }
        if (p->decls[s->decl].role > VYRE_INOUT || offset > d->inputs[input].size ||
            d->inputs[input].size - offset < sizeof words) {
            return false;
        }
        memcpy((char *)(uintptr_t)d->inputs[input].data + offset, words, sizeof words);
        if (p->decls[s->decl].role == VYRE_INOUT) {
            memcpy((char *)d->before[output].data + offset, words, sizeof words);
        }
    }
    return true;
}

bool differ_make_inputs(differ *d, const vyre_program_view *p) {
    differ_free_inputs(d);
    for (vyre_decl decl = 0; decl < p->decl_count; decl++) {
        const vyre_decl_node *node = &p->decls[decl];
        const vyre_size_env env = {0};
        uint64_t count;
        if (node->role > VYRE_OUT) {
            continue;
        }
        if (d->input_count == DIFFER_BUFFERS || d->output_count == DIFFER_BUFFERS ||
            node->size == VYRE_NONE ||
            vyre_size_evaluate(p, node->size, &env, &count, NULL) != VYRE_SIZE_OK ||
            count > 1 << 20) {
            return false;
        }
        const vyre_type type = (vyre_type)node->type;
        const size_t size = (size_t)count * vyre_type_size(type);
        if (node->role != VYRE_OUT && !make_input(d, size, type, decl + 1)) {
            return false;
        }
        if (node->role != VYRE_IN) {
            vyre_output *before = &d->before[d->output_count];
            d->types[d->output_count++] = type;
            if (!room(before, size)) {
                return false;
            }
            if (node->role == VYRE_INOUT) {
                memcpy(before->data, d->inputs[d->input_count - 1].data, size);
            }
        }
    }
    return set_grid(d, p);
}
