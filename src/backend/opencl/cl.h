/* What is used of OpenCL 1.2, declared here so that no header is needed: the loader is opened at
 * run time, and its functions are found by name. */
#ifndef VYRE_SRC_BACKEND_OPENCL_CL_H
#define VYRE_SRC_BACKEND_OPENCL_CL_H

#include "vyre/base.h"

typedef void *cl_object; /* platform, device, context, queue, memory, program, kernel, event */

enum {
    CL_DEVICE_NOT_AVAILABLE = -2,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_INVALID_BUFFER_SIZE = -61,
    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_WORK_ITEM_SIZES = 0x1005,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_ENDIAN_LITTLE = 0x1026,
    CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    CL_DEVICE_NAME = 0x102B,
    CL_DEVICE_VENDOR = 0x102C,
    CL_DRIVER_VERSION = 0x102D,
    CL_DEVICE_VERSION = 0x102F,
    CL_DEVICE_EXTENSIONS = 0x1030,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
    CL_PROFILING_COMMAND_QUEUED = 0x1280,
    CL_PROFILING_COMMAND_START = 0x1282,
    CL_PROFILING_COMMAND_END = 0x1283,
    CL_FP_DENORM = 1 << 0,
    CL_FP_INF_NAN = 1 << 1,
    CL_FP_ROUND_TO_NEAREST = 1 << 2,
    CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7,
    CL_DEVICE_TYPE_CPU = 1 << 1,
    CL_MEM_READ_WRITE = 1,
    CL_QUEUE_PROFILING_ENABLE = 2
};
#define CL_DEVICE_TYPE_ALL UINT64_C(0xFFFFFFFF)

/* X(result, name, arguments) of each function, without its "cl". */
#define CL_FUNCTIONS(X)                                                                            \
    X(int32_t, GetPlatformIDs, (uint32_t, cl_object *, uint32_t *))                                \
    X(int32_t, GetPlatformInfo, (cl_object, uint32_t, size_t, void *, size_t *))                   \
    X(int32_t, GetDeviceIDs, (cl_object, uint64_t, uint32_t, cl_object *, uint32_t *))             \
    X(int32_t, GetDeviceInfo, (cl_object, uint32_t, size_t, void *, size_t *))                     \
    X(cl_object, CreateContext,                                                                    \
      (const intptr_t *, uint32_t, const cl_object *, void *, void *, int32_t *))                  \
    X(int32_t, ReleaseContext, (cl_object))                                                        \
    X(cl_object, CreateCommandQueue, (cl_object, cl_object, uint64_t, int32_t *))                  \
    X(int32_t, ReleaseCommandQueue, (cl_object))                                                   \
    X(cl_object, CreateBuffer, (cl_object, uint64_t, size_t, void *, int32_t *))                   \
    X(int32_t, ReleaseMemObject, (cl_object))                                                      \
    X(int32_t, EnqueueReadBuffer,                                                                  \
      (cl_object, cl_object, uint32_t, size_t, size_t, void *, uint32_t, const cl_object *,        \
       cl_object *))                                                                               \
    X(int32_t, EnqueueWriteBuffer,                                                                 \
      (cl_object, cl_object, uint32_t, size_t, size_t, const void *, uint32_t, const cl_object *,  \
       cl_object *))                                                                               \
    X(int32_t, EnqueueCopyBuffer,                                                                  \
      (cl_object, cl_object, cl_object, size_t, size_t, size_t, uint32_t, const cl_object *,       \
       cl_object *))                                                                               \
    X(int32_t, EnqueueFillBuffer,                                                                  \
      (cl_object, cl_object, const void *, size_t, size_t, size_t, uint32_t, const cl_object *,    \
       cl_object *))                                                                               \
    X(cl_object, CreateProgramWithSource,                                                          \
      (cl_object, uint32_t, const char **, const size_t *, int32_t *))                             \
    X(cl_object, CreateProgramWithBinary,                                                          \
      (cl_object, uint32_t, const cl_object *, const size_t *, const unsigned char **, int32_t *,  \
       int32_t *))                                                                                 \
    X(int32_t, BuildProgram,                                                                       \
      (cl_object, uint32_t, const cl_object *, const char *, void *, void *))                      \
    X(int32_t, GetProgramInfo, (cl_object, uint32_t, size_t, void *, size_t *))                    \
    X(int32_t, GetProgramBuildInfo, (cl_object, cl_object, uint32_t, size_t, void *, size_t *))    \
    X(int32_t, ReleaseProgram, (cl_object))                                                        \
    X(cl_object, CreateKernel, (cl_object, const char *, int32_t *))                               \
    X(int32_t, ReleaseKernel, (cl_object))                                                         \
    X(int32_t, SetKernelArg, (cl_object, uint32_t, size_t, const void *))                          \
    X(int32_t, EnqueueNDRangeKernel,                                                               \
      (cl_object, cl_object, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t,   \
       const cl_object *, cl_object *))                                                            \
    X(int32_t, Flush, (cl_object))                                                                 \
    X(int32_t, Finish, (cl_object))                                                                \
    X(int32_t, WaitForEvents, (uint32_t, const cl_object *))                                       \
    X(int32_t, GetEventInfo, (cl_object, uint32_t, size_t, void *, size_t *))                      \
    X(int32_t, GetEventProfilingInfo, (cl_object, uint32_t, size_t, void *, size_t *))             \
    X(int32_t, ReleaseEvent, (cl_object))

#define CL_FIELD(result, name, arguments) result(*name) arguments;
typedef struct cl_api {
    void *library;
    CL_FUNCTIONS(CL_FIELD)
} cl_api;
#undef CL_FIELD

#endif
