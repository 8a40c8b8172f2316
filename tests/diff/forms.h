/* Which forms the code of the cpu backend has for a program, as it tells itself (vyre split
 * --explain), so that a run can tell how many programs had each. */
#ifndef VYRE_TESTS_DIFF_FORMS_H
#define VYRE_TESTS_DIFF_FORMS_H

#include "vyre/ir.h"

/* A form is a topic and a part of what is told about it; of which devices: all, those with masks,
 * those of one thread. */
typedef enum form_device { FORM_ANY, FORM_MASKS, FORM_ALONE } form_device;

typedef struct form {
    const char *name, *topic, *told;
    form_device device;
} form;

enum { FORM_COUNT = 31 };
extern const form forms[FORM_COUNT];

/* Adds 1 to those that the program has on the device. */
vyre_status forms_count(const vyre_program *program, const char *uri, uint64_t counts[FORM_COUNT],
                        vyre_diag *diag);

#endif
