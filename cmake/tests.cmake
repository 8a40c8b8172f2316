# Tests, checkers, fuzz targets and benchmarks: one executable per file.
file(GLOB tests CONFIGURE_DEPENDS tests/*/test_*.c)
file(GLOB checkers CONFIGURE_DEPENDS tests/*/vyre_*.c)
file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
file(GLOB benchmarks CONFIGURE_DEPENDS bench/bench_*.c)
file(GLOB support CONFIGURE_DEPENDS tests/*/*.c bench/*.c)
list(REMOVE_ITEM support ${tests} ${checkers} ${fuzzers} ${benchmarks}
  ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c ${CMAKE_SOURCE_DIR}/tests/mutants/active.c)

# An archive, so that the harness's main is taken only by tests, which have none of their own.
add_library(vyre_support STATIC ${support})
target_include_directories(vyre_support PUBLIC tests bench)
target_link_libraries(vyre_support PUBLIC vyre_internal)
target_compile_definitions(vyre_support PUBLIC VYRE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
  VYRE_BINARY_DIR="${CMAKE_BINARY_DIR}")

# A file that includes <mpfr.h> is linked with MPFR; nothing that is installed may be.
function(vyre_program directory source)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source} ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${directory})
  target_link_libraries(${name} PRIVATE vyre_support)
  file(STRINGS ${source} mpfr REGEX "#[ \t]*include <mpfr\\.h>")
  if(mpfr)
    target_link_libraries(${name} PRIVATE mpfr gmp)
  endif()
endfunction()

foreach(source ${tests} ${checkers})
  vyre_program(tests ${source})
endforeach()
foreach(source ${benchmarks})
  vyre_program(bench ${source})
endforeach()
foreach(source ${fuzzers})
  if(VYRE_FUZZ)
    vyre_program(fuzz ${source})
    get_filename_component(name ${source} NAME_WE)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    vyre_program(tests ${source} ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
  endif()
endforeach()
