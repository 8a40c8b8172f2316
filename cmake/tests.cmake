# Tests, checkers, fuzz targets and benchmarks: one executable per file.
file(GLOB tests CONFIGURE_DEPENDS tests/*/test_*.c)
file(GLOB checkers CONFIGURE_DEPENDS tests/*/vyre_*.c)
file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
file(GLOB benchmarks CONFIGURE_DEPENDS bench/bench_*.c)
file(GLOB support CONFIGURE_DEPENDS tests/*/*.c bench/*.c)
list(REMOVE_ITEM support ${tests} ${checkers} ${fuzzers} ${benchmarks}
  ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c ${CMAKE_SOURCE_DIR}/tests/mutants/active.c)

# A file that includes <mpfr.h> is linked with MPFR; nothing that is installed may be.
function(link_mpfr target)
  foreach(source ${ARGN})
    file(STRINGS ${source} uses REGEX "#[ \t]*include <mpfr\\.h>")
    if(uses)
      target_link_libraries(${target} PUBLIC mpfr gmp)
    endif()
  endforeach()
endfunction()

# An archive, so that the harness's main is taken only by tests, which have none of their own.
add_library(vyre_support STATIC ${support})
target_include_directories(vyre_support PUBLIC tests bench)
target_link_libraries(vyre_support PUBLIC vyre_internal)
target_compile_definitions(vyre_support PUBLIC VYRE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
  VYRE_BINARY_DIR="${CMAKE_BINARY_DIR}")
link_mpfr(vyre_support ${support})

# A file with OpenMP in it is compiled with it where it is there; it is for peers in benchmarks only.
# Sanitizers do not know its runtime.
find_package(OpenMP COMPONENTS C)
function(link_openmp target source)
  file(STRINGS ${source} uses REGEX "#[ \t]*ifdef _OPENMP")
  if(uses AND OpenMP_C_FOUND AND NOT VYRE_SANITIZE)
    target_link_libraries(${target} PRIVATE OpenMP::OpenMP_C)
  endif()
endfunction()

function(vyre_program directory source)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source} ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${directory})
  target_link_libraries(${name} PRIVATE vyre_support)
  link_mpfr(${name} ${source})
  link_openmp(${name} ${source})
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
