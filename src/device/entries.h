/* Every entry of vyre_device_table but `close`, once: decorators forward by this list, so that a
 * new entry is forwarded everywhere or breaks the build. CAN_FAIL(name, (arguments), parameters...)
 * returns vyre_status; the last argument is `diag` CANNOT(name, (arguments), parameters...) returns
 * nothing Parameters stand without the device, which comes first. */
#ifndef VYRE_SRC_DEVICE_ENTRIES_H
#define VYRE_SRC_DEVICE_ENTRIES_H

#include "vyre/backend.h"

/* clang-format off */
#define VYRE_DEVICE_ENTRIES(CAN_FAIL, CANNOT)                                                      \
    CANNOT(describe, (out_info), vyre_device_info *out_info)                                       \
    CAN_FAIL(allocate, (size, out_memory, diag),                                                   \
             uint64_t size, vyre_memory *out_memory, vyre_diag *diag)                              \
    CAN_FAIL(free, (memory, diag), vyre_memory memory, vyre_diag *diag)                            \
    CAN_FAIL(write, (memory, offset, data, size, diag),                                            \
             vyre_memory memory, uint64_t offset, const void *data, uint64_t size, vyre_diag *diag) \
    CAN_FAIL(read, (memory, offset, data, size, diag),                                             \
             vyre_memory memory, uint64_t offset, void *data, uint64_t size, vyre_diag *diag)      \
    CAN_FAIL(copy, (to, to_offset, from, from_offset, size, diag),                                 \
             vyre_memory to, uint64_t to_offset, vyre_memory from, uint64_t from_offset,           \
             uint64_t size, vyre_diag *diag)                                                       \
    CAN_FAIL(zero, (memory, offset, size, diag),                                                   \
             vyre_memory memory, uint64_t offset, uint64_t size, vyre_diag *diag)                  \
    CAN_FAIL(equal, (a, b, size, out_equal, diag),                                                 \
             vyre_memory a, vyre_memory b, uint64_t size, bool *out_equal, vyre_diag *diag)        \
    CAN_FAIL(compile, (program, out_kernel, diag),                                                 \
             const vyre_program *program, vyre_backend_kernel **out_kernel, vyre_diag *diag)       \
    CAN_FAIL(compile_many, (programs, count, out_kernels, diag),                                   \
             const vyre_program *const *programs, uint32_t count,                                  \
             vyre_backend_kernel **out_kernels, vyre_diag *diag)                                   \
    CANNOT(destroy, (kernel), vyre_backend_kernel *kernel)                                         \
    CAN_FAIL(launch, (kernel, launch, out_result, diag),                                           \
             vyre_backend_kernel *kernel, const vyre_launch *launch,                               \
             vyre_launch_result *out_result, vyre_diag *diag)                                      \
    CAN_FAIL(finish, (pass, results, diag),                                                        \
             uint64_t pass, vyre_launch_results *results, vyre_diag *diag)                         \
    CAN_FAIL(fetch, (pass, memory, offset, size, out_ticket, diag),                                \
             uint64_t pass, vyre_memory memory, uint64_t offset, uint64_t size,                    \
             vyre_ticket *out_ticket, vyre_diag *diag)                                             \
    CAN_FAIL(await, (ticket, data, size, results, diag),                                           \
             vyre_ticket ticket, void *data, uint64_t size, vyre_launch_results *results,          \
             vyre_diag *diag)                                                                      \
    CAN_FAIL(compile_module, (module, out_kernel, diag),                                           \
             const vyre_module *module, vyre_backend_kernel **out_kernel, vyre_diag *diag)         \
    CAN_FAIL(run_module, (kernel, launch, out_result, diag),                                       \
             vyre_backend_kernel *kernel, const vyre_module_launch *launch,                        \
             vyre_launch_result *out_result, vyre_diag *diag)                                      \
    CANNOT(origin, (kernel, out_origin),                                                           \
           const vyre_backend_kernel *kernel, vyre_code_origin *out_origin)                        \
    CAN_FAIL(write_many, (writes, count, diag),                                                    \
             const vyre_memory_write *writes, uint32_t count, vyre_diag *diag)                     \
    CAN_FAIL(adopt, (bytes, size, capacity, out_memory, diag),                                     \
             void *bytes, uint64_t size, uint64_t capacity, vyre_memory *out_memory,               \
             vyre_diag *diag)                                                                      \
    CAN_FAIL(disown, (memory, diag), vyre_memory memory, vyre_diag *diag)                          \
    CAN_FAIL(prepare, (diag), vyre_diag *diag)                                                     \
    CAN_FAIL(flush, (diag), vyre_diag *diag)                                                       \
    CAN_FAIL(shutdown, (diag), vyre_diag *diag)                                                    \
    CANNOT(metrics, (tell, user), vyre_metric_fn tell, void *user)                                 \
    CAN_FAIL(launch_bytes, (kernel, launch, out_result, diag),                                     \
             vyre_backend_kernel *kernel, const vyre_bytes_launch *launch,                         \
             vyre_launch_result *out_result, vyre_diag *diag)
/* clang-format on */

#define VYRE_ENTRY_COUNT_ONE(...) +1
_Static_assert(sizeof(vyre_device_table) ==
                   sizeof(void (*)(void)) *
                       (1 VYRE_DEVICE_ENTRIES(VYRE_ENTRY_COUNT_ONE, VYRE_ENTRY_COUNT_ONE)),
               "an entry of vyre_device_table is missing in VYRE_DEVICE_ENTRIES");

#endif
