/* The uniform control flow of a program at the level of its barriers: those of the grid, or those
 * of a workgroup.
 *
 * Everything that holds no such barrier stays as it is: a range of statements. Constructs that hold
 * one are lifted: their conditions become branches between blocks. Each statement is in exactly one
 * block; nothing is replicated or peeled (a branch condition may be evaluated at the end of several
 * blocks). */
#ifndef VYRE_SRC_SPLIT_BLOCKS_H
#define VYRE_SRC_SPLIT_BLOCKS_H

#include "base/alloc.h"
#include "ir/waits.h"
#include "vyre/split.h"

typedef enum vyre_item_kind {
    VYRE_ITEM_RANGE,    /* statements [begin, end), complete constructs */
    VYRE_ITEM_FOR_INIT, /* `begin` is a lifted FOR: evaluate its bounds, set its variable */
    VYRE_ITEM_FOR_STEP  /* advance its variable */
} vyre_item_kind;

typedef struct vyre_item {
    uint8_t kind;
    vyre_stmt begin, end;
    uint32_t next; /* next item of the block, or VYRE_NONE */
} vyre_item;

typedef enum vyre_exit_kind { VYRE_EXIT_NEXT, VYRE_EXIT_BRANCH, VYRE_EXIT_END } vyre_exit_kind;

typedef struct vyre_block {
    uint32_t first, last; /* items, or VYRE_NONE */
    uint8_t exit;         /* vyre_exit_kind */
    vyre_stmt condition;  /* BRANCH: the IF, WHILE or FOR */
    uint32_t next, otherwise;
    vyre_stmt sync; /* a barrier or collective behind the block, or VYRE_NONE */
    uint32_t preds; /* number of edges that lead here, the start counts as one */
    uint32_t depth; /* lifted loops around it */
    /* Innermost lifted REGION around all items and the condition (around the barrier, if there is
     * nothing else): its number, or VYRE_NONE. The items, or one added construct, do not nest too
     * deep in it. */
    uint32_t region;
} vyre_block;

typedef struct vyre_blocks {
    vyre_split_scope scope;
    VYRE_VEC(vyre_block) list; /* all can be reached; block 0 is the start, and each is a step */
    VYRE_VEC(vyre_item) items;
    uint32_t *loop_of;                   /* per statement: number of the lifted FOR, or VYRE_NONE */
    VYRE_VEC(vyre_stmt) loops;           /* the lifted FORs by number */
    VYRE_VEC(vyre_split_region) regions; /* the lifted REGIONs by number */
    uint32_t stmt_count;
} vyre_blocks;

/* The program has no calls. cuts: grid barriers, ascending, around which constructs are lifted, but
 * at which nobody waits. */
vyre_status vyre_blocks_init(vyre_blocks *blocks, const vyre_program_view *program,
                             vyre_split_scope scope, const vyre_stmt *cuts, uint32_t cut_count,
                             const vyre_allocator *a);
/* The COMBINE statement that the block consists of, or VYRE_NONE. */
static inline vyre_stmt vyre_block_combines(const vyre_blocks *blocks, const vyre_block *block,
                                            const vyre_program_view *program) {
    const vyre_item *item = block->first == VYRE_NONE ? NULL : &blocks->items.data[block->first];
    return item && item->kind == VYRE_ITEM_RANGE &&
                   program->stmts[item->begin].op == VYRE_STMT_COMBINE
               ? item->begin
               : VYRE_NONE;
}
/* Whether lanes may trap in a launch behind which others go on, to the next grid barrier. */
bool vyre_blocks_outlive_traps(const vyre_blocks *blocks, const vyre_program_view *program);
/* Whether the block ends without a grid barrier, and others follow. */
static inline bool vyre_block_goes_on(const vyre_blocks *blocks, const vyre_block *block) {
    return block->exit != VYRE_EXIT_END &&
           (block->sync == VYRE_NONE || blocks->scope != VYRE_SPLIT_SCOPE_GRID);
}
void vyre_blocks_finish(vyre_blocks *blocks, const vyre_allocator *a);

#endif
