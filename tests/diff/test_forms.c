/* The generator makes programs that take each form of the cpu backend. No compiler is needed to
 * see that. */
#include "diff/forms.h"

#include "harness/run.h"
#include "random/random_program.h"
#include "vyre/device.h"

enum { PROGRAMS = 450, DEVICES = 3 };
static const uint64_t first_seed = UINT64_C(1) << 42;

static const struct {
    const char *uri;
    form_device device;
} devices[DEVICES] = {{"cpu://features=sse2&threads=2", FORM_ANY},
                      {"cpu://features=sse2&threads=1", FORM_ALONE},
                      {"cpu://features=avx512&threads=2", FORM_MASKS}};

static bool can_be_had(const char *uri) {
    uint64_t counts[FORM_COUNT] = {0};
    vyre_program *program = run_parse("program p workgroup(1) { out o : u32[1]; o[0] = 1; }");
    const vyre_status status = forms_count(program, uri, counts, NULL);
    vyre_program_release(program);
    return status == VYRE_OK;
}

TEST(random_programs_take_every_form) {
    uint64_t counts[FORM_COUNT] = {0};
    bool usable[DEVICES];
    for (uint32_t d = 0; d < DEVICES; d++) {
        usable[d] = can_be_had(devices[d].uri);
    }
    for (uint64_t i = 0; i < PROGRAMS && !test_failed(); i++) {
        vyre_program *program = NULL;
        vyre_diag diag = {0};
        REQUIRE_OK(random_order_free(first_seed + i, &program, &diag), &diag);
        const uint32_t d = (uint32_t)(i % DEVICES);
        if (usable[d]) {
            CHECK_STATUS(forms_count(program, devices[d].uri, counts, &diag), VYRE_OK, &diag);
        }
        vyre_program_release(program);
    }
    for (uint32_t i = 0; i < FORM_COUNT; i++) {
        bool can_be = forms[i].device == FORM_ANY;
        for (uint32_t d = 0; d < DEVICES; d++) {
            can_be |= usable[d] && devices[d].device == forms[i].device;
        }
        if (can_be && counts[i] == 0) {
            test_fail(__FILE__, __LINE__, "no program of %d has %s", (int)PROGRAMS, forms[i].name);
        }
    }
}
