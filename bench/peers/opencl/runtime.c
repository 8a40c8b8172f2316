#include "runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#define FUNCTIONS(X)                                                                               \
    X(clGetPlatformIDs)                                                                            \
    X(clGetDeviceIDs)                                                                              \
    X(clCreateContext)                                                                             \
    X(clCreateCommandQueue)                                                                        \
    X(clCreateProgramWithSource)                                                                   \
    X(clBuildProgram)                                                                              \
    X(clGetProgramBuildInfo)                                                                       \
    X(clCreateKernel)                                                                              \
    X(clSetKernelArg)                                                                              \
    X(clCreateBuffer)                                                                              \
    X(clEnqueueReadBuffer)                                                                         \
    X(clEnqueueWriteBuffer)                                                                        \
    X(clEnqueueFillBuffer)                                                                         \
    X(clEnqueueNDRangeKernel)                                                                      \
    X(clFlush)                                                                                     \
    X(clFinish)

enum { MOST_KERNELS = 64, MOST_PLATFORMS = 8 };

static struct {
#define DECLARE(name) __typeof__(&name) name;
    FUNCTIONS(DECLARE)
#undef DECLARE
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    struct {
        const char *name;
        cl_kernel kernel;
    } kernels[MOST_KERNELS];
    unsigned kernel_count;
    char why[256];
} cl;

static bool fail(const char *what, const char *more) {
    snprintf(cl.why, sizeof cl.why, "%s%.200s", what, more);
    return false;
}

static void demand(cl_int status, const char *what) {
    if (status != CL_SUCCESS) {
        fprintf(stderr, "OpenCL: %s gives %d\n", what, status);
        _exit(1);
    }
}

const char *peer_why_not(void) {
    return cl.why;
}

static bool open_loader(void) {
    void *loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!loader) {
        return fail("no OpenCL loader (ocl-icd-libopencl1)", "");
    }
    void *address;
#define RESOLVE(name)                                                                              \
    address = dlsym(loader, #name);                                                                \
    memcpy(&cl.name, &address, sizeof address);                                                    \
    if (!address) {                                                                                \
        return fail("the OpenCL loader has no ", #name);                                           \
    }
    FUNCTIONS(RESOLVE)
#undef RESOLVE
    return true;
}

static bool find_device(void) {
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint count = 0;
    if (cl.clGetPlatformIDs(MOST_PLATFORMS, platforms, &count) != CL_SUCCESS) {
        count = 0;
    }
    for (cl_uint i = 0; i < count && i < MOST_PLATFORMS; i++) {
        if (cl.clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &cl.device, NULL) ==
            CL_SUCCESS) {
            return true;
        }
    }
    return fail("no OpenCL device that is a CPU (pocl-opencl-icd)", "");
}

static char *read_source(void) {
    FILE *file = fopen(OPENCL_KERNELS, "r");
    char *text = file ? calloc(1, 1 << 16) : NULL;
    if (text && fread(text, 1, (1 << 16) - 1, file) == 0) {
        free(text);
        text = NULL;
    }
    if (file) {
        fclose(file);
    }
    return text;
}

static bool build(void) {
    cl_int status = CL_SUCCESS;
    char *text = read_source(), log[200] = "";
    const char *source = text;
    if (!text) {
        return fail("can't read ", OPENCL_KERNELS);
    }
    cl.context = cl.clCreateContext(NULL, 1, &cl.device, NULL, NULL, &status);
    if (status == CL_SUCCESS) {
        cl.queue = cl.clCreateCommandQueue(cl.context, cl.device, 0, &status);
    }
    if (status == CL_SUCCESS) {
        cl.program = cl.clCreateProgramWithSource(cl.context, 1, &source, NULL, &status);
    }
    free(text);
    if (status != CL_SUCCESS) {
        return fail("no OpenCL context", "");
    }
    if (cl.clBuildProgram(cl.program, 1, &cl.device, "", NULL, NULL) != CL_SUCCESS) {
        cl.clGetProgramBuildInfo(cl.program, cl.device, CL_PROGRAM_BUILD_LOG, sizeof log, log,
                                 NULL);
        return fail("kernels do not build: ", log);
    }
    return true;
}

bool opencl_open(void) {
    return cl.program || (open_loader() && find_device() && build());
}

cl_mem opencl_room(size_t bytes) {
    cl_int status;
    cl_mem room = cl.clCreateBuffer(cl.context, CL_MEM_READ_WRITE, bytes + 64, NULL, &status);
    demand(status, "a buffer");
    opencl_zero(room, (bytes + 3) / 4 * 4);
    return room;
}

cl_mem opencl_copy(const void *from, size_t bytes) {
    cl_mem room = opencl_room(bytes);
    opencl_write(room, from, bytes);
    return room;
}

void opencl_write(cl_mem to, const void *from, size_t bytes) {
    demand(cl.clEnqueueWriteBuffer(cl.queue, to, CL_TRUE, 0, bytes, from, 0, NULL, NULL),
           "a write");
}

void opencl_read(cl_mem from, void *to, size_t bytes) {
    demand(cl.clEnqueueReadBuffer(cl.queue, from, CL_TRUE, 0, bytes, to, 0, NULL, NULL), "a read");
}

void opencl_zero(cl_mem buffer, size_t bytes) {
    cl_uint zero = 0;
    demand(cl.clEnqueueFillBuffer(cl.queue, buffer, &zero, sizeof zero, 0, bytes, 0, NULL, NULL),
           "a fill");
}

static cl_kernel find_kernel(const char *name) {
    for (unsigned i = 0; i < cl.kernel_count; i++) {
        if (cl.kernels[i].name == name) {
            return cl.kernels[i].kernel;
        }
    }
    cl_int status;
    cl_kernel kernel = cl.clCreateKernel(cl.program, name, &status);
    demand(status, name);
    if (cl.kernel_count < MOST_KERNELS) {
        cl.kernels[cl.kernel_count].name = name;
        cl.kernels[cl.kernel_count++].kernel = kernel;
    }
    return kernel;
}

void opencl_launch(const char *name, const size_t lanes[2], const size_t group[2],
                   const opencl_argument *arguments, unsigned count) {
    cl_kernel kernel = find_kernel(name);
    for (unsigned i = 0; i < count; i++) {
        demand(cl.clSetKernelArg(kernel, i, arguments[i].size, arguments[i].value), name);
    }
    demand(cl.clEnqueueNDRangeKernel(cl.queue, kernel, 2, NULL, lanes, group, 0, NULL, NULL), name);
}

void opencl_flush(void) {
    demand(cl.clFlush(cl.queue), "a flush");
}

void opencl_finish(void) {
    demand(cl.clFinish(cl.queue), "waiting");
}
