/* Pages of help that are not about one command; also sections of the manual. A line that begins
 * with two blanks is shown as it is. */
#include "cli.h"

const cli_topic cli_topics[] = {
    {"inputs", "where inputs come from",
     "--in BUF=SOURCE fills one buffer; SOURCE is one of\n\n"
     "  FILE.npy            NumPy, of the buffer's element type, any shape\n"
     "  FILE.csv, FILE.txt  values as text, between commas, blanks or line ends; # comments\n"
     "  FILE                raw little-endian bytes\n"
     "  1,2,3               the values themselves (a file of that name: ./1,2,3)\n"
     "  zeros:N             N zeros\n"
     "  iota:N              0, 1, 2, ...\n"
     "  random:N:SEED       N values of splitmix64; floats are in [0, 1)\n\n"
     "--in ROW,COL[,VAL]=SOURCE fills the two or three buffers of a graph or sparse matrix\n"
     "(compressed sparse rows, each row sorted); SOURCE is one of\n\n"
     "  FILE.mtx            Matrix Market, coordinate format\n"
     "  rmat:SCALE:EF:SEED  R-MAT: 2^SCALE vertices, EF * 2^SCALE edges, made symmetric\n"
     "  grid:W:H            W x H grid, four neighbours\n\n"
     "An input that is left out is filled with zeros when the program says its size, and refused\n"
     "otherwise.\n"},
    {"outputs", "where outputs go",
     "--out BUF=FILE.npy writes NumPy's format, --out BUF=FILE.csv or FILE.txt a value a line,\n"
     "--out BUF=FILE raw little-endian bytes, --out BUF=- those to standard output. Files\n"
     "appear all together, and only when the run succeeded. Without --out each output is\n"
     "summarised on standard output.\n"},
    {"exit-codes", "what the exit code means",
     "  0    ok\n"
     "  1    the program was rejected\n"
     "  2    the command line is wrong\n"
     "  3    a file, or what is in it, is wrong\n"
     "  4    the backend is absent or can't do it\n"
     "  5    the run failed: trap, step budget, timeout, device lost\n"
     "  6    out of memory\n"
     "  7    a check that was asked for failed: --races=error, --bounds=error, fmt --check, plan\n"
     "       --check, cmp, a plan over its budget\n"
     "  130  interrupted\n"},
    {"json", "what --json prints",
     "One object on standard output, also when the command fails. vyre run prints\n\n"
     "  schema       1\n"
     "  status       \"ok\", or what went wrong\n"
     "  backend      the device that was used\n"
     "  split        whether the program was cut at its grid barriers\n"
     "  grid         [x, y, z]\n"
     "  passes       of --iterations, and whether they\n"
     "  converged\n"
     "  outputs      [{name, type, count, xxh3, file}]; xxh3 is XXH3-64 of the bytes with NaNs\n"
     "               made equal\n"
     "  stats        {launches, host_waits, bytes_in, bytes_out, carried_bytes, segments,\n"
     "               sync_points, skipped_launches}\n"
     "  time_ns      {compile, alloc, upload, run, download, total, device, enqueue, wait,\n"
     "               per_barrier}; 0 in the last four: not known, or no grid barrier was passed\n"
     "  code_from    where compiled code came from: \"compiler\", \"disk\", \"memory\", or null\n"
     "  races        [{buffer, element, harmless, first, second}]\n"
     "  bounds       [{buffer, line, count, dimension, index, length, first}]: accesses outside "
     "of\n"
     "               their memory, with --bounds; the first of them\n"
     "  diagnostics  [{code, severity, file, line, col, end_col, message, fix}]\n"},
};
const uint32_t cli_topic_count = CLI_COUNT(cli_topics);
