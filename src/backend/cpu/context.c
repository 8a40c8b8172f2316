/* The functions that emitted code calls through its context. */
#include "backend/cpu/context.h"

#include <math.h>
#include <string.h>

#include "base/half.h"
#include "ir/fold.h"
#include "vyre/schedule.h"

enum { FUEL = 1 << 16 }; /* as the emitter gives */

static uint32_t check(cpu_context *context) {
    context->fuel = FUEL;
    if (context->status == VYRE_OK) {
        context->status = vyre_launch_check_time(context->launch, NULL);
    }
    return context->status != VYRE_OK;
}

static void clear(void *bytes, uint64_t size) {
    memset(bytes, 0, size);
}

static uint64_t cast(uint64_t from, uint64_t to, uint64_t bits) {
    return vyre_fold_cast((vyre_type)from, (vyre_type)to, bits);
}

static float widen_half(uint32_t bits) {
    return vyre_f16_to_f32((uint16_t)bits);
}

static uint32_t narrow_half(float value) {
    return vyre_f16_from_f32(value);
}

void cpu_context_init(cpu_context *context) {
    static const uint64_t zeros[64] = {0}; /* as many as a gang can have */
    *context = (cpu_context){
        .zero = zeros,
        .fuel = FUEL,
        .trap_lane = UINT64_MAX,
        .check = check,
        .clear = clear,
        .cast = cast,
        .widen_half = widen_half,
        .narrow_half = narrow_half,
        .fma_f32 = fmaf,
        .fma_f64 = fma,
        .floor_f32 = floorf,
        .ceil_f32 = ceilf,
        .trunc_f32 = truncf,
        .round_f32 = roundf,
        .floor_f64 = floor,
        .ceil_f64 = ceil,
        .trunc_f64 = trunc,
        .round_f64 = round,
    };
}
