/* See process.h. */
#include "base/process.h"

#include <sys/mman.h>
#include <unistd.h>

enum { WITNESS_BYTES = 4096 };

vyre_process vyre_process_here(void) {
    void *page =
        mmap(NULL, WITNESS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    vyre_process here = {.witness = NULL, .id = getpid()};
    if (page == MAP_FAILED) {
        return here;
    }
    if (madvise(page, WITNESS_BYTES, MADV_WIPEONFORK) != 0) {
        (void)munmap(page, WITNESS_BYTES);
        return here;
    }
    here.witness = page;
    *here.witness = 1;
    return here;
}

bool vyre_process_was_forked(const vyre_process *process) {
    return process->witness ? *process->witness == 0 : process->id != getpid();
}

void vyre_process_finish(vyre_process *process) {
    if (process->witness) {
        (void)munmap((void *)(uintptr_t)process->witness, WITNESS_BYTES);
        process->witness = NULL;
    }
}
