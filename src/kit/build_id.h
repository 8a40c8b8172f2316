/* Which build of the library this is. */
#ifndef VYRE_SRC_KIT_BUILD_ID_H
#define VYRE_SRC_KIT_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

enum { VYRE_BUILD_ID_MOST = 64 };

/* The build id that the linker gave to the program or shared library with this function in it: a
 * hash of all its bytes. Its length; 0: the linker was told to give none. */
size_t vyre_linker_build_id(uint8_t out_id[VYRE_BUILD_ID_MOST]);

#endif
