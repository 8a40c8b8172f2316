/* Looking up backends. */
#ifndef VYRE_SRC_DEVICE_REGISTRY_H
#define VYRE_SRC_DEVICE_REGISTRY_H

#include "vyre/backend.h"

/* In order of preference; NULL past the end. */
const vyre_backend *vyre_registry_at(const vyre_registry *registry, uint32_t index);
/* The backend called name[0..length), or NULL. */
const vyre_backend *vyre_registry_find(const vyre_registry *registry, const char *name,
                                       size_t length);
/* Takes out the backend of that name, built in or not; nothing if there is none. */
void vyre_registry_remove(vyre_registry *registry, const char *name);

#endif
