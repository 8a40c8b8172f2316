/* How the device under test is opened and asked to run each program: drawn by the program's seed.
 * A backend with parameters of its own adds a row in draws.c; nothing else needs to know them. */
#ifndef VYRE_TESTS_DIFF_DRAWS_H
#define VYRE_TESTS_DIFF_DRAWS_H

#include "vyre/dispatch.h"

enum { DIFFER_CHOICES = 6, DIFFER_VALUES = 9, DIFFER_SPLITS = 3, DIFFER_URI = 160 };

/* A parameter of the device, and what it may be; the lists end with NULL. "" leaves it out. */
typedef struct differ_choice {
    const char *name;
    const char *values[DIFFER_VALUES];
} differ_choice;

typedef struct differ_backend {
    const char *name;
    bool orders; /* takes an order of lanes, and a limit of steps */
    bool limits; /* takes max_buffer */
    bool slow;   /* to compile: each program with or without barriers that can go, not both */
    bool splits_itself; /* so that splitting is asked for more rarely */
    uint32_t batch; /* so many programs in a row have the same device, and are announced to it */
    differ_choice choices[DIFFER_CHOICES];
} differ_backend;

/* What was drawn for one program; all zero: the first of each. */
typedef struct differ_draws {
    uint8_t value[DIFFER_CHOICES];
    vyre_split_mode split;
} differ_draws;

/* The row of a backend, by its name or URI; one without parameters for a backend that has none. */
const differ_backend *differ_backend_of(const char *uri);
uint32_t differ_batch(const differ_backend *b); /* at least 1 */
/* Bit v of usable[c]: value v of choice c can be had on this machine. Of as many batches in a row
 * as a choice has values, each gets another one: none is rare even where programs are few. */
differ_draws differ_draw_options(const differ_backend *b, const uint8_t *usable, vyre_level level,
                                 uint64_t seed);
/* The device to open: "cpu://threads=2&features=avx2". A URI that has parameters already stays as
 * it is. max_buffer 0: no limit. */
void differ_device_uri(const differ_backend *b, const char *uri, const differ_draws *draws,
                       uint64_t max_buffer, char out[DIFFER_URI]);
const char *differ_split_name(uint32_t split);

#endif
