/* For tests of the reference backend: run a program given as text on buffers given by name. */
#ifndef VYRE_TESTS_UNIT_REF_TEXT_H
#define VYRE_TESTS_UNIT_REF_TEXT_H

#include "backend/ref/ref.h"
#include "harness/test.h"
#include "vyre/check.h"
#include "vyre/text.h"

/* count 0: a param, whose bits are at `data` as uint64_t. A list ends with name NULL. */
typedef struct ref_buffer {
    const char *name;
    void *data;
    uint32_t count;
} ref_buffer;

#define BUFFER(name, array)                                                                        \
    { name, array, sizeof(array) / sizeof *(array) }

static inline vyre_program *ref_parse(const char *text) {
    vyre_diag items[4] = {{0}};
    vyre_diag_list diags = {.items = items, .capacity = 4};
    vyre_program *program = NULL;
    if (vyre_parse(text, strlen(text), NULL, NULL, &program, &diags) != VYRE_OK) {
        test_fail(__FILE__, __LINE__, "line %u: %s", items[0].line, items[0].message);
        test_stop();
    }
    return program;
}

/* Runs with the given args; program, memory and values are filled in here. */
static inline vyre_status ref_run(const char *text, vyre_ref_args args, const ref_buffer *buffers,
                                  const vyre_allocator *allocator, vyre_ref_result *result,
                                  vyre_diag *diag) {
    vyre_ref_memory memory[16] = {{0}};
    uint64_t values[16] = {0};
    vyre_program *program = ref_parse(text);
    REQUIRE(vyre_program_get(program)->decl_count <= 16);
    for (const ref_buffer *b = buffers; b && b->name; b++) {
        vyre_decl decl = vyre_program_find_decl(program, b->name);
        REQUIRE(decl != VYRE_NONE);
        if (b->count) {
            memory[decl] = (vyre_ref_memory){b->data, b->count};
        } else {
            memcpy(&values[decl], b->data, sizeof *values);
        }
    }
    args.program = program;
    args.memory = memory;
    args.values = values;
    for (uint32_t axis = 0; axis < 3; axis++) {
        args.grid[axis] = args.grid[axis] ? args.grid[axis] : 1;
    }
    vyre_status status = vyre_ref_execute(&args, allocator, result, diag);
    vyre_program_release(program);
    return status;
}

/* Runs the program in every order, and in the random one with several seeds, always from the same
 * bytes; all must leave the same bytes. The program must pass the check and have no races. */
static inline void ref_run_all(const char *text, vyre_ref_args args, const ref_buffer *buffers) {
    static uint8_t before[16][1 << 16], after[16][1 << 16];
    vyre_program *program = ref_parse(text);
    vyre_diag item = {0};
    vyre_diag_list diags = {.items = &item, .capacity = 1};
    REQUIRE_OK(vyre_check(program, NULL, &diags), &item);
    size_t sizes[16] = {0};
    uint32_t count = 0;
    for (; buffers[count].name; count++) {
        vyre_decl decl = vyre_program_find_decl(program, buffers[count].name);
        REQUIRE(decl != VYRE_NONE);
        sizes[count] = (size_t)buffers[count].count *
                       vyre_type_size((vyre_type)vyre_program_get(program)->decls[decl].type);
        REQUIRE(sizes[count] <= sizeof before[0]);
        memcpy(before[count], buffers[count].data, sizes[count]);
    }
    vyre_program_release(program);
    uint64_t steps = 0;
    for (uint32_t run = 0; run < 10; run++) {
        vyre_ref_result result;
        vyre_diag diag = {0};
        args.order = run < 4 ? (vyre_ref_order)run : VYRE_REF_RANDOM;
        args.seed = run;
        args.find_races = run % 2 == 0;
        for (uint32_t i = 0; i < count; i++) {
            memcpy(buffers[i].data, before[i], sizes[i]);
        }
        REQUIRE_OK(ref_run(text, args, buffers, NULL, &result, &diag), &diag);
        CHECK_EQ(result.race_count, 0);
        CHECK_EQ(result.steps, run ? steps : result.steps);
        steps = result.steps;
        for (uint32_t i = 0; i < count; i++) {
            if (run > 0 && memcmp(after[i], buffers[i].data, sizes[i]) != 0) {
                test_fail(__FILE__, __LINE__, "%s differs in order %d with seed %u",
                          buffers[i].name, (int)args.order, run);
            }
            memcpy(after[i], buffers[i].data, sizes[i]);
        }
    }
}

#endif
