/* Whose process this is. A child of fork() has the memory of its parent but not its threads: what
 * waits for them would wait for ever. */
#ifndef VYRE_SRC_BASE_PROCESS_H
#define VYRE_SRC_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A witness is a page that the kernel empties in children: asking it is one load. Where there is no
 * such page, the number of the process is asked for. */
typedef struct vyre_process {
    volatile uint32_t *witness; /* NULL: there is none */
    pid_t id;
} vyre_process;

vyre_process vyre_process_here(void);
/* The calling process is not the one that made it, but a child. */
bool vyre_process_was_forked(const vyre_process *process);
void vyre_process_finish(vyre_process *process);

#endif
