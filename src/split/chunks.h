/* Chunks: in which buffer a word is that a lane or a workgroup owns. */
#ifndef VYRE_SRC_SPLIT_CHUNKS_H
#define VYRE_SRC_SPLIT_CHUNKS_H

#include "split/carry.h"
#include "split/module.h"

/* Sets the module's buffers and how many words there are. */
vyre_status vyre_chunks_init(vyre_module *module, const vyre_carry_plan *plan,
                             const vyre_split_options *options, vyre_diag *diag);

/* The buffer of slot `word` of lanes, or of word `word` of groups. */
uint32_t vyre_chunk_of(const vyre_module_view *module, bool by_group, uint32_t word);
/* The first slot or word that is no longer in the buffer. */
uint32_t vyre_chunk_end(const vyre_module_view *module, bool by_group, uint32_t buffer);

#endif
