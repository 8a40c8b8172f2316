/* Every limit of the language and its tools, each with its reason. A program beyond one is refused
 * with a diagnostic that names it; nothing overflows. */
#ifndef VYRE_LIMITS_H
#define VYRE_LIMITS_H

enum {
    /* Statements of a program, bodies of functions included (V019). Generated programs reach tens
     * of thousands; analyses are near-linear, so this bounds their time to seconds. */
    VYRE_LIMIT_STATEMENTS = 1 << 20,
    /* Statement nesting (V018). Deeper code is not written by people or sane generators, and
     * uniformity messages name the path. */
    VYRE_LIMIT_NESTING = 64,
    /* Depth of one expression (V033): emitters print expressions as nested text, and compilers
     * behind them recurse. In a text, operations of two values may be deeper, as in long sums:
     * parts are bound by lets, but not where those would be evaluated too early. */
    VYRE_LIMIT_EXPR_DEPTH = 128,
    /* Nodes of the expressions of one statement: bounds the interpreter's value stack. */
    VYRE_LIMIT_STMT_EXPRS = 1 << 16,
    /* Nesting of calls (recursion is refused anyway); inlining multiplies bodies. */
    VYRE_LIMIT_CALL_DEPTH = 32,
    /* Statements after inlining all calls (V259): as many as a program may have. */
    VYRE_LIMIT_INLINED = 1 << 20,
    /* Arguments of a function. */
    VYRE_LIMIT_ARGUMENTS = 64,
    /* Declarations of a source (V019): buffers, params, consts, arrays. Analyses keep sets of them.
     * Segments may have more. */
    VYRE_LIMIT_DECLS = 4096,
    /* Dimensions of memory: as many as grids have, and every one more is one more test. */
    VYRE_LIMIT_DIMENSIONS = 3,
    /* Files that a program imports. */
    VYRE_LIMIT_IMPORTS = 256,
    /* Functions. */
    VYRE_LIMIT_FUNCTIONS = 4096,
    /* Bytes of a name, and of a string in quotes. */
    VYRE_LIMIT_NAME = 255,
    /* Lanes of a workgroup; the largest that PoCL offers. */
    VYRE_LIMIT_GROUP_LANES = 4096,
    /* Lanes of a subgroup, fixed on every backend. */
    VYRE_SUBGROUP_SIZE_FIXED = 32,
    /* Bytes of workgroup memory of a program: 1 MiB is the largest any present device offers. */
    VYRE_LIMIT_WORKGROUP_BYTES = 1 << 20,
    /* Bytes of private arrays of a lane. */
    VYRE_LIMIT_PRIVATE_BYTES = 1 << 16,
    /* Bytes of a source text: 64 MiB keeps 32-bit token offsets safe and memory bounded. */
    VYRE_LIMIT_SOURCE_BYTES = 1 << 26,
    /* Open brackets and operators while parsing one expression; beyond the expression depth so that
     * redundant brackets are fine, bounded so that 10 MB of brackets are refused at once. */
    VYRE_LIMIT_PARSE_STACK = 1024,
    /* Launches ahead of a decision: by then no queue runs dry, and a wrong guess costs as many
     * launches that do nothing. */
    VYRE_LIMIT_AHEAD = 64,
    /* Launches of a pass that are enqueued before the host waits for them: bounds the memory of
     * queues, some kilobytes for each, and how late a failure is noticed. With a limit of time it
     * is VYRE_LIMIT_AHEAD, so that the end of time is noticed soon. */
    VYRE_LIMIT_QUEUED = 16384
};

#endif
