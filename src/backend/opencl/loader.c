/* The ICD loader, opened at run time, and the devices of all its platforms in their order. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "backend/opencl/opencl.h"
#include "base/diag.h"

enum { MOST_PLATFORMS = 16, MOST_DEVICES = 64 };

static const char packages[] =
    "apt-get install ocl-icd-libopencl1, and the driver of the device: pocl-opencl-icd runs on any "
    "processor";

vyre_status opencl_fail(vyre_diag *diag, int32_t code, const char *what) {
    const vyre_status status = code == CL_DEVICE_NOT_AVAILABLE ? VYRE_DEVICE_LOST
                               : code == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
                                       code == CL_OUT_OF_HOST_MEMORY ||
                                       code == CL_INVALID_BUFFER_SIZE
                                   ? VYRE_OUT_OF_MEMORY
                                   : VYRE_DEVICE_FAILED;
    (void)vyre_fail(diag, status, status == VYRE_OUT_OF_MEMORY ? "use less at a time" : NULL,
                    "OpenCL can't %s: error %d", what, (int)code);
    if (diag) {
        diag->native = code;
    }
    return status;
}

static bool resolve(cl_api *cl) {
    bool ok = true;
#define CL_RESOLVE(result, name, arguments)                                                        \
    {                                                                                              \
        void *found = dlsym(cl->library, "cl" #name);                                              \
        memcpy(&cl->name, &found, sizeof found);                                                   \
        ok = ok && found;                                                                          \
    }
    CL_FUNCTIONS(CL_RESOLVE)
#undef CL_RESOLVE
    return ok;
}

void opencl_unload(cl_api *cl) {
    if (cl->library) {
        (void)dlclose(cl->library);
    }
    cl->library = NULL;
}

static vyre_status load(cl_api *cl, vyre_diag *diag) {
    /* It stays when it is closed: drivers keep threads and memory that outlive their devices. */
    cl->library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!cl->library) {
        return vyre_fail(diag, VYRE_NOT_FOUND, packages,
                         "there is no OpenCL loader, libOpenCL.so.1");
    }
    if (!resolve(cl)) {
        opencl_unload(cl);
        return vyre_fail(diag, VYRE_NOT_FOUND, packages,
                         "the OpenCL loader lacks functions of OpenCL 1.2");
    }
    return VYRE_OK;
}

void opencl_text(const cl_api *cl, cl_object id, uint32_t what, char *text, size_t size) {
    char all[4096] = "";
    size_t length = 0;
    const bool ok = cl->GetDeviceInfo(id, what, sizeof all - 1, all, &length) == 0;
    vyre_diag_copy(text, size, ok ? all : "");
}

uint64_t opencl_number(const cl_api *cl, cl_object id, uint32_t what, size_t size) {
    uint64_t value = 0; /* little endian, as all of this library */
    return cl->GetDeviceInfo(id, what, size, &value, NULL) == 0 ? value : 0;
}

/* All devices of all platforms; their number. */
static uint32_t list(const cl_api *cl, cl_object *devices, uint32_t *out_platforms) {
    cl_object platforms[MOST_PLATFORMS];
    uint32_t platform_count = 0, count = 0;
    if (cl->GetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count) != 0) {
        platform_count = 0;
    }
    platform_count = platform_count < MOST_PLATFORMS ? platform_count : MOST_PLATFORMS;
    for (uint32_t i = 0; i < platform_count; i++) {
        uint32_t found = 0;
        const uint32_t room = MOST_DEVICES - count;
        if (room > 0 && cl->GetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, room, devices + count,
                                         &found) == 0) {
            count += found < room ? found : room;
        }
    }
    *out_platforms = platform_count;
    return count;
}

uint32_t opencl_count(void) {
    cl_api cl;
    cl_object devices[MOST_DEVICES];
    uint32_t platforms;
    if (load(&cl, NULL) != VYRE_OK) {
        return 0;
    }
    const uint32_t count = list(&cl, devices, &platforms);
    opencl_unload(&cl);
    return count;
}

static bool is_named(const cl_api *cl, cl_object id, const char *part) {
    char name[256];
    opencl_text(cl, id, CL_DEVICE_NAME, name, sizeof name);
    return strcasestr(name, part) != NULL;
}

static bool is_number(const char *text, uint32_t *out) {
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    *out = value < MOST_DEVICES ? (uint32_t)value : MOST_DEVICES;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0';
}

vyre_status opencl_find(cl_api *cl, const char *path, cl_object *out_id, vyre_diag *diag) {
    cl_object devices[MOST_DEVICES];
    uint32_t platforms, wanted = 0;
    vyre_status status = load(cl, diag);
    if (status != VYRE_OK) {
        return status;
    }
    const uint32_t count = list(cl, devices, &platforms);
    const bool by_number = path[0] == '\0' || is_number(path, &wanted);
    while (!by_number && wanted < count && !is_named(cl, devices[wanted], path)) {
        wanted++;
    }
    if (wanted < count) {
        *out_id = devices[wanted];
        return VYRE_OK;
    }
    opencl_unload(cl);
    if (count == 0) {
        return vyre_fail(diag, VYRE_NOT_FOUND, packages,
                         "the OpenCL loader knows %u platforms, and no device", platforms);
    }
    return vyre_fail(diag, VYRE_NOT_FOUND,
                     "say opencl://0, another number, or a part of the device's name",
                     "there are %u OpenCL devices, and no \"%s\" among them", count, path);
}
