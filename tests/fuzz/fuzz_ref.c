/* Fuzz target: texts that parse and pass the check are run by the reference backend on small
 * buffers, in a bounded number of steps. It must not crash; lanes must not diverge, because the
 * check has proved so; and a program that was free of races in one order, with no atomics, must
 * leave the same bytes after the same number of steps in every order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/ref/ref.h"
#include "vyre/check.h"
#include "vyre/text.h"

enum { MOST_DECLS = 32, MOST_COUNT = 40, MOST_LANES = 4096, STEPS = 50000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct run {
    vyre_status status;
    vyre_ref_result result;
    vyre_diag diag;
    uint8_t bytes[MOST_DECLS][MOST_COUNT * 8];
} run;

static void require(bool condition, const char *what, const run *r) {
    if (!condition) {
        fprintf(stderr, "%s: %s: %s\n", what, vyre_status_name(r->status), r->diag.message);
        abort();
    }
}

/* Sizes differ from buffer to buffer, so that indices of one are out of bounds of another. */
static void execute(const vyre_program *program, vyre_ref_order order, run *r) {
    const vyre_program_view *p = vyre_program_get(program);
    vyre_ref_memory memory[MOST_DECLS];
    uint64_t values[MOST_DECLS];
    for (uint32_t i = 0; i < p->decl_count; i++) {
        uint32_t width = vyre_type_size((vyre_type)p->decls[i].type);
        uint64_t bits = UINT64_C(0x3ff0000000000003) * (i + 1);
        memory[i] = (vyre_ref_memory){r->bytes[i], (i * 13 + 7) % MOST_COUNT};
        values[i] = p->decls[i].type == VYRE_BOOL ? i & 1 : width < 8 ? (uint32_t)bits : bits;
        for (uint32_t k = 0; k < sizeof r->bytes[i]; k++) {
            r->bytes[i][k] = (uint8_t)(p->decls[i].role <= VYRE_INOUT ? k * 7 + i : 0);
        }
    }
    uint64_t lanes = (uint64_t)p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
    vyre_ref_args args = {
        .program = program,
        .memory = memory,
        .values = values,
        .grid = {lanes * 4 <= MOST_LANES ? 2 : 1, lanes * 4 <= MOST_LANES ? 2 : 1, 1},
        .order = order,
        .seed = p->hash,
        .step_budget = STEPS,
        .find_races = true};
    r->status = vyre_ref_execute(&args, NULL, &r->result, &r->diag);
}

static void judge(const vyre_program *program) {
    static run first, other;
    const vyre_program_view *p = vyre_program_get(program);
    if (p->decl_count > MOST_DECLS) {
        return;
    }
    execute(program, VYRE_REF_FORWARD, &first);
    require(first.status == VYRE_OK || first.status == VYRE_TRAP ||
                first.status == VYRE_STEP_BUDGET || first.status == VYRE_OUT_OF_MEMORY,
            "a checked program fails", &first);
    bool atomics = p->stats.stmt_kinds >> VYRE_STMT_ATOMIC & 1;
    if (first.status != VYRE_OK || atomics ||
        first.result.race_count != first.result.harmless_race_count) {
        return;
    }
    for (int order = VYRE_REF_REVERSE; order <= VYRE_REF_INTERLEAVED; order++) {
        execute(program, (vyre_ref_order)order, &other);
        require(other.status == VYRE_OK, "another order fails", &other);
        require(other.result.steps == first.result.steps, "another order takes other steps",
                &other);
        require(memcmp(other.bytes, first.bytes, p->decl_count * sizeof first.bytes[0]) == 0,
                "another order gives another result", &other);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vyre_program *program;
    if (vyre_parse((const char *)data, size, NULL, NULL, &program, NULL) == VYRE_OK) {
        if (vyre_check(program, NULL, NULL) == VYRE_OK) {
            judge(program);
        }
        vyre_program_release(program);
    }
    return 0;
}
