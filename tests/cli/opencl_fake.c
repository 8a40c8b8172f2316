/* A loader of OpenCL with one device that computes nothing, for tests of what goes wrong. Memory is
 * real, kernels leave it as it is. FAKE_OPENCL says what is special:
 *   none        there is no platform
 *   broken      drivers can't be listed
 *   NAME=CODE   that function gives the code: Build (with a log), Kernel, Launch, Finish, Read,
 *               Buffer, Event
 *   gpu         the device is no processor, and has groups of at most 64
 *   flush       it flushes subnormals
 *   binaries    programs have binaries, and are made of them
 * Each launch is a line of the file FAKE_LAUNCHES: lanes, lanes of a group; each program that is
 * made one of FAKE_PROGRAMS: what it is made of. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/opencl/cl.h"

#define EXPORT                              __attribute__((visibility("default")))
#define CL_DECLARE(result, name, arguments) EXPORT result cl##name arguments;
CL_FUNCTIONS(CL_DECLARE)

static char thing; /* what handles of objects without a state point to */

static const char *asked(const char *name) {
    const char *all = getenv("FAKE_OPENCL"), *at = all ? strstr(all, name) : NULL;
    return at ? at + strlen(name) : NULL;
}

/* A line more in the file that a variable names. */
static void note(const char *variable, const char *line) {
    const char *path = getenv(variable);
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        (void)fprintf(file, "%s\n", line);
        (void)fclose(file);
    }
}

static int32_t code_of(const char *name) {
    const char *value = asked(name);
    return value ? (int32_t)strtol(value, NULL, 10) : 0;
}

static int32_t give(const void *data, size_t length, size_t size, void *to, size_t *out_size) {
    if (to) {
        memcpy(to, data, length < size ? length : size);
    }
    if (out_size) {
        *out_size = length;
    }
    return 0;
}

static cl_object made(int32_t code, int32_t *out_code) {
    if (out_code) {
        *out_code = code;
    }
    return code ? NULL : &thing;
}

int32_t clGetPlatformIDs(uint32_t room, cl_object *platforms, uint32_t *out_count) {
    *out_count = asked("none") ? 0 : 1;
    if (room) {
        platforms[0] = &thing;
    }
    return asked("broken") ? -1001 : 0;
}

int32_t clGetPlatformInfo(cl_object id, uint32_t what, size_t size, void *to, size_t *out_size) {
    (void)id, (void)what;
    return give("fake", 5, size, to, out_size);
}

int32_t clGetDeviceIDs(cl_object platform, uint64_t type, uint32_t room, cl_object *devices,
                       uint32_t *out_count) {
    (void)platform, (void)type;
    *out_count = 1;
    if (room) {
        devices[0] = &thing;
    }
    return 0;
}

int32_t clGetDeviceInfo(cl_object id, uint32_t what, size_t size, void *to, size_t *out_size) {
    const size_t group[3] = {64, 64, 64};
    uint64_t number = 1;
    (void)id;
    switch (what) {
    case CL_DEVICE_NAME: return give("fake device", 12, size, to, out_size);
    case CL_DEVICE_VENDOR:
    case CL_DEVICE_VERSION:
    case CL_DRIVER_VERSION:
    case CL_DEVICE_EXTENSIONS: return give("", 1, size, to, out_size);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: return give(group, sizeof group, size, to, out_size);
    case CL_DEVICE_TYPE: number = asked("gpu") ? 4 : CL_DEVICE_TYPE_CPU; break;
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: number = 64; break;
    case CL_DEVICE_SINGLE_FP_CONFIG: number = asked("flush") ? 0x86 : 0x87; break;
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
    case CL_DEVICE_GLOBAL_MEM_SIZE: number = 1 << 20; break;
    case CL_DEVICE_LOCAL_MEM_SIZE: number = 1 << 15; break;
    default: break;
    }
    return give(&number, size < sizeof number ? size : sizeof number, size, to, out_size);
}

cl_object clCreateContext(const intptr_t *p, uint32_t n, const cl_object *d, void *f, void *u,
                          int32_t *out_code) {
    (void)p, (void)n, (void)d, (void)f, (void)u;
    return made(0, out_code);
}

cl_object clCreateCommandQueue(cl_object context, cl_object device, uint64_t how,
                               int32_t *out_code) {
    (void)context, (void)device, (void)how;
    return made(0, out_code);
}

cl_object clCreateBuffer(cl_object context, uint64_t how, size_t size, void *data,
                         int32_t *out_code) {
    (void)context, (void)how, (void)data;
    return made(code_of("Buffer="), out_code) ? calloc(1, size) : NULL;
}

int32_t clReleaseMemObject(cl_object memory) {
    free(memory);
    return 0;
}

#define QUEUED uint32_t waits, const cl_object *events, cl_object *out_event
static int32_t queued(int32_t code, cl_object *out_event) {
    if (out_event) {
        *out_event = &thing;
    }
    return code;
}

int32_t clEnqueueReadBuffer(cl_object queue, cl_object from, uint32_t blocks, size_t offset,
                            size_t size, void *to, QUEUED) {
    (void)queue, (void)blocks, (void)waits, (void)events;
    memcpy(to, (char *)from + offset, size);
    return queued(code_of("Read="), out_event);
}

int32_t clEnqueueWriteBuffer(cl_object queue, cl_object to, uint32_t blocks, size_t offset,
                             size_t size, const void *from, QUEUED) {
    (void)queue, (void)blocks, (void)waits, (void)events;
    memcpy((char *)to + offset, from, size);
    return queued(0, out_event);
}

int32_t clEnqueueCopyBuffer(cl_object queue, cl_object from, cl_object to, size_t from_offset,
                            size_t to_offset, size_t size, QUEUED) {
    (void)queue, (void)waits, (void)events;
    memcpy((char *)to + to_offset, (char *)from + from_offset, size);
    return queued(0, out_event);
}

int32_t clEnqueueFillBuffer(cl_object queue, cl_object to, const void *pattern, size_t unit,
                            size_t offset, size_t size, QUEUED) {
    (void)queue, (void)waits, (void)events;
    for (size_t i = 0; i < size; i += unit) {
        memcpy((char *)to + offset + i, pattern, unit);
    }
    return queued(0, out_event);
}

cl_object clCreateProgramWithSource(cl_object context, uint32_t count, const char **texts,
                                    const size_t *sizes, int32_t *out_code) {
    (void)context, (void)count, (void)texts, (void)sizes;
    note("FAKE_PROGRAMS", "text");
    return made(0, out_code);
}

cl_object clCreateProgramWithBinary(cl_object context, uint32_t count, const cl_object *devices,
                                    const size_t *sizes, const unsigned char **binaries,
                                    int32_t *states, int32_t *out_code) {
    (void)context, (void)count, (void)devices, (void)sizes, (void)binaries;
    states[0] = asked("binaries") ? 0 : -42;
    note("FAKE_PROGRAMS", "binary");
    return made(states[0], out_code);
}

int32_t clBuildProgram(cl_object program, uint32_t count, const cl_object *devices,
                       const char *options, void *call, void *user) {
    (void)program, (void)count, (void)devices, (void)options, (void)call, (void)user;
    return code_of("Build=");
}

int32_t clGetProgramInfo(cl_object program, uint32_t what, size_t size, void *to,
                         size_t *out_size) {
    static const char binary[] = "binary";
    const size_t length = sizeof binary;
    (void)program;
    if (asked("binaries") && what == CL_PROGRAM_BINARIES) {
        memcpy(*(char **)to, binary, length);
        return 0;
    }
    (void)give(&length, sizeof length, size, to, out_size);
    return asked("binaries") ? 0 : -30;
}

int32_t clGetProgramBuildInfo(cl_object program, cl_object device, uint32_t what, size_t size,
                              void *to, size_t *out_size) {
    static const char log[] = "line 3: the fake compiler likes no text";
    (void)program, (void)device, (void)what;
    return give(log, sizeof log, size, to, out_size);
}

cl_object clCreateKernel(cl_object program, const char *name, int32_t *out_code) {
    (void)program, (void)name;
    return made(code_of("Kernel="), out_code);
}

int32_t clSetKernelArg(cl_object kernel, uint32_t number, size_t size, const void *value) {
    (void)kernel, (void)number, (void)size, (void)value;
    return 0;
}

int32_t clEnqueueNDRangeKernel(cl_object queue, cl_object kernel, uint32_t axes, const size_t *from,
                               const size_t *lanes, const size_t *group, QUEUED) {
    char line[64];
    (void)queue, (void)kernel, (void)axes, (void)from, (void)waits, (void)events;
    (void)snprintf(line, sizeof line, "%zu %zu", lanes[0], group[0]);
    note("FAKE_LAUNCHES", line);
    return queued(code_of("Launch="), out_event);
}

int32_t clFlush(cl_object queue) {
    (void)queue;
    return 0;
}

int32_t clFinish(cl_object queue) {
    (void)queue;
    return code_of("Finish=");
}

int32_t clWaitForEvents(uint32_t count, const cl_object *events) {
    (void)count, (void)events;
    return code_of("Finish=");
}

int32_t clGetEventInfo(cl_object event, uint32_t what, size_t size, void *to, size_t *out_size) {
    const int32_t state = code_of("Event=");
    (void)event, (void)what;
    return give(&state, sizeof state, size, to, out_size);
}

int32_t clGetEventProfilingInfo(cl_object event, uint32_t what, size_t size, void *to,
                                size_t *out_size) {
    (void)event, (void)what;
    (void)give("", 0, size, to, out_size);
    return -7;
}

#define RELEASE(name)                                                                              \
    int32_t clRelease##name(cl_object object) {                                                    \
        (void)object;                                                                              \
        return 0;                                                                                  \
    }
RELEASE(Context)
RELEASE(CommandQueue)
RELEASE(Program)
#ifndef OLD
RELEASE(Kernel)
#endif
RELEASE(Event)
