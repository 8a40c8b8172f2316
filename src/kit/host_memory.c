/* Host memory as device memory. Ranges were checked by the runtime; they never reach into the
 * padding, so that what code leaves there is nobody's. A handle is the address of the first byte.
 */
#include "kit/host_memory.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/diag.h"
#include "kit/team.h"

/* Lies right before the bytes. */
typedef struct block {
    void *begin;  /* of what was allocated or mapped */
    size_t whole; /* bytes of it */
} block;

enum {
    LEAST_ALIGNMENT = 16,
    LINE = 64, /* of the cache: a vector that lies across two costs twice */
    PAGE = 4096,
    SPREAD = 5 * LINE, /* from a block to the next, modulo a page */
    LARGE = 1 << 20,
    HUGE = 1 << 21 /* a page that the system gives to whoever asks */
};

void *vyre_host_bytes(vyre_memory memory) {
    return (void *)(uintptr_t)memory; /* NOLINT(performance-no-int-to-ptr): handles are u64 */
}

static unsigned char *bytes_of(vyre_memory memory) {
    return vyre_host_bytes(memory);
}

static vyre_host_device *host_of(vyre_backend_device *device) {
    return (vyre_host_device *)device;
}

size_t vyre_host_alignment(const vyre_host_device *host) {
    const size_t alignment = host->options.alignment;
    return alignment < LEAST_ALIGNMENT ? LEAST_ALIGNMENT : alignment;
}

static void clear(const vyre_host_options *o, void *bytes, size_t size) {
    if (o->clear) {
        o->clear(o->user, bytes, size);
    } else {
        memset(bytes, 0, size);
    }
}

/* Pages of 2 MiB where they fit: lanes that jump about in a large block would miss the table of
 * pages with nearly every access. It is advice; whether the system takes it does not matter. */
static void ask_for_huge_pages(const unsigned char *bytes, size_t size) {
    const uintptr_t begin = ((uintptr_t)bytes + HUGE - 1) / HUGE * HUGE;
    const uintptr_t end = ((uintptr_t)bytes + size) / HUGE * HUGE;
    if (begin < end) {
        (void)madvise((void *)begin, /* NOLINT(performance-no-int-to-ptr): a place in the block */
                      end - begin, MADV_HUGEPAGE);
    }
}

/* From the allocator: room to align, the block's description before the bytes, `size` bytes. No two
 * large blocks in a row begin at the same place of a page: loads and stores whose addresses differ
 * in higher bits only get in each other's way. */
static unsigned char *allocate(vyre_host_device *host, size_t size, block *out) {
    const size_t wanted = vyre_host_alignment(host);
    const size_t alignment = wanted < LINE ? LINE : wanted;
    const size_t room = size < PAGE ? 0 : PAGE;
    if (!vyre_add_size(size, sizeof(block) + alignment + room, &out->whole)) {
        return NULL;
    }
    unsigned char *begin = vyre_alloc(&host->allocator, out->whole, 1);
    if (!begin) {
        return NULL;
    }
    out->begin = begin;
    unsigned char *bytes = begin + sizeof(block);
    if (room) {
        bytes += SPREAD * atomic_fetch_add_explicit(&host->spread, 1, memory_order_relaxed) % PAGE;
    }
    bytes += -(uintptr_t)bytes & (alignment - 1);
    ask_for_huge_pages(bytes, size);
    clear(&host->options, bytes, size);
    return bytes;
}

/* Pages of their own: the bytes end as near to the last page, which nobody may touch, as their
 * alignment allows. They are zero from the start. */
static unsigned char *map_guarded(const vyre_host_device *host, size_t size, block *out) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t alignment = vyre_host_alignment(host);
    size_t room;
    if (!vyre_add_size(size, sizeof(block) + alignment + page - 1, &room) ||
        !vyre_add_size(room & ~(page - 1), page, &out->whole)) {
        return NULL;
    }
    out->begin = mmap(NULL, out->whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (out->begin == MAP_FAILED) {
        return NULL;
    }
    unsigned char *end = (unsigned char *)out->begin + out->whole - page;
    if (mprotect(end, page, PROT_NONE) != 0) {
        munmap(out->begin, out->whole);
        return NULL;
    }
    unsigned char *bytes = end - size;
    return bytes - ((uintptr_t)bytes & (alignment - 1));
}

static void count_block(vyre_host_device *host, size_t whole) {
    uint64_t bytes = atomic_fetch_add_explicit(&host->bytes, whole, memory_order_relaxed) + whole;
    uint64_t peak = atomic_load_explicit(&host->peak, memory_order_relaxed);
    atomic_fetch_add_explicit(&host->blocks, 1, memory_order_relaxed);
    while (peak < bytes &&
           !atomic_compare_exchange_weak_explicit(&host->peak, &peak, bytes, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
}

vyre_status vyre_host_allocate(vyre_backend_device *device, uint64_t size, vyre_memory *out_memory,
                               vyre_diag *diag) {
    vyre_host_device *host = host_of(device);
    block b;
    size_t padded;
    unsigned char *bytes = NULL;
    if (size <= SIZE_MAX && vyre_add_size((size_t)size, host->options.padding, &padded)) {
        bytes = host->options.guard ? map_guarded(host, padded, &b) : allocate(host, padded, &b);
    }
    if (!bytes) {
        return vyre_fail_memory(diag, "a buffer");
    }
    memcpy(bytes - sizeof b, &b, sizeof b);
    count_block(host, b.whole);
    *out_memory = (uintptr_t)bytes;
    return VYRE_OK;
}

vyre_status vyre_host_free(vyre_backend_device *device, vyre_memory memory, vyre_diag *diag) {
    vyre_host_device *host = host_of(device);
    block b;
    (void)diag;
    memcpy(&b, bytes_of(memory) - sizeof b, sizeof b);
    if (host->options.guard) {
        munmap(b.begin, b.whole);
    } else {
        vyre_free(&host->allocator, b.begin, b.whole, 1);
    }
    atomic_fetch_sub_explicit(&host->blocks, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&host->bytes, b.whole, memory_order_relaxed);
    return VYRE_OK;
}

vyre_status vyre_host_adopt(vyre_backend_device *device, void *bytes, uint64_t size,
                            uint64_t capacity, vyre_memory *out_memory, vyre_diag *diag) {
    const vyre_host_device *host = host_of(device);
    const size_t alignment = vyre_host_alignment(host);
    if ((uintptr_t)bytes % alignment != 0) {
        return vyre_fail(diag, VYRE_UNSUPPORTED, "align the memory, or copy it into a buffer",
                         "memory that is used where it is begins at a multiple of %zu", alignment);
    }
    if (capacity - size < host->options.padding) {
        return vyre_fail(diag, VYRE_UNSUPPORTED,
                         "leave room behind the bytes, or copy them into a buffer",
                         "memory that is used where it is has %zu bytes more than are used",
                         host->options.padding);
    }
    *out_memory = (uintptr_t)bytes;
    return VYRE_OK;
}

vyre_status vyre_host_disown(vyre_backend_device *device, vyre_memory memory, vyre_diag *diag) {
    (void)device, (void)memory, (void)diag;
    return VYRE_OK;
}

void vyre_host_describe(const vyre_host_device *host, vyre_device_info *info) {
    info->wraps_memory = true;
    info->host_alignment = (uint32_t)vyre_host_alignment(host);
    info->host_padding = (uint32_t)host->options.padding;
}

void vyre_host_metrics(vyre_backend_device *device, vyre_metric_fn tell, void *user) {
    vyre_host_device *host = host_of(device);
    tell(user, "memory_blocks", atomic_load_explicit(&host->blocks, memory_order_relaxed));
    tell(user, "memory_bytes", atomic_load_explicit(&host->bytes, memory_order_relaxed));
    tell(user, "memory_bytes_peak", atomic_load_explicit(&host->peak, memory_order_relaxed));
}

typedef struct clearing {
    unsigned char *bytes;
    size_t size;
} clearing;

static void clear_part(vyre_worker *me, void *arg) {
    const clearing *c = arg;
    vyre_range r = vyre_share_even(c->size, PAGE, me->number, me->count);
    memset(c->bytes + r.begin, 0, r.end - r.begin);
}

void vyre_host_clear_by_team(void *team, void *bytes, size_t size) {
    clearing c = {.bytes = bytes, .size = size};
    if (size < LARGE || vyre_team_run(team, 0, clear_part, &c, NULL, NULL) != VYRE_OK) {
        memset(bytes, 0, size);
    }
}

vyre_status vyre_host_write(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                            const void *data, uint64_t size, vyre_diag *diag) {
    (void)device, (void)diag;
    memcpy(bytes_of(memory) + offset, data, size);
    return VYRE_OK;
}

vyre_status vyre_host_read(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                           void *data, uint64_t size, vyre_diag *diag) {
    (void)device, (void)diag;
    memcpy(data, bytes_of(memory) + offset, size);
    return VYRE_OK;
}

vyre_status vyre_host_copy(vyre_backend_device *device, vyre_memory to, uint64_t to_offset,
                           vyre_memory from, uint64_t from_offset, uint64_t size, vyre_diag *diag) {
    (void)device, (void)diag;
    memcpy(bytes_of(to) + to_offset, bytes_of(from) + from_offset, size);
    return VYRE_OK;
}

vyre_status vyre_host_zero(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                           uint64_t size, vyre_diag *diag) {
    (void)device, (void)diag;
    memset(bytes_of(memory) + offset, 0, size);
    return VYRE_OK;
}

vyre_status vyre_host_equal(vyre_backend_device *device, vyre_memory a, vyre_memory b,
                            uint64_t size, bool *out_equal, vyre_diag *diag) {
    (void)device, (void)diag;
    *out_equal = memcmp(bytes_of(a), bytes_of(b), size) == 0;
    return VYRE_OK;
}

vyre_status vyre_host_fetch(vyre_backend_device *device, uint64_t pass, vyre_memory memory,
                            uint64_t offset, uint64_t size, vyre_ticket *out_ticket,
                            vyre_diag *diag) {
    (void)pass;
    *out_ticket = 0;
    return vyre_host_read(device, memory, offset, out_ticket, size, diag);
}

vyre_status vyre_host_await(vyre_backend_device *device, vyre_ticket ticket, void *data,
                            uint64_t size, vyre_launch_results *results, vyre_diag *diag) {
    (void)device, (void)results, (void)diag;
    if (data) {
        memcpy(data, &ticket, size);
    }
    return VYRE_OK;
}
