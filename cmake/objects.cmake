# Objects for the tests of the loader: tests/unit/objects/*.c, compiled as compilers of segments
# would, without the options of the build, in several code models, by each compiler that is there
# -> tests/objects/NAME-COMPILER-VARIANT.o
set(objects_dir ${CMAKE_BINARY_DIR}/tests/objects)
file(MAKE_DIRECTORY ${objects_dir})
set(loader_objects)

function(loader_object compiler_name compiler name variant)
  set(source ${CMAKE_SOURCE_DIR}/tests/unit/objects/${name}.c)
  set(object ${objects_dir}/${name}-${compiler_name}-${variant}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${compiler} -c -O2 -std=gnu11 ${ARGN} -o ${object} ${source}
    DEPENDS ${source} VERBATIM)
  set(loader_objects ${loader_objects} ${object} PARENT_SCOPE)
endfunction()

find_program(gcc_program gcc)
find_program(clang_program clang)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  foreach(compiler gcc clang)
    if(${compiler}_program)
      set(program ${${compiler}_program})
      loader_object(${compiler} ${program} complete static -fno-pic -mcmodel=small)
      loader_object(${compiler} ${program} complete pic -fPIC -mcmodel=small)
      loader_object(${compiler} ${program} complete no-plt -fPIC -fno-plt -ffunction-sections)
      loader_object(${compiler} ${program} complete large -fno-pic -mcmodel=large)
      loader_object(${compiler} ${program} complete large-pic -fPIC -mcmodel=large)
      loader_object(${compiler} ${program} complete debug -fPIC -g -mavx2 -O3
        -Wa,-mrelax-relocations=no)
      loader_object(${compiler} ${program} missing pic -fPIC)
      loader_object(${compiler} ${program} thread_local pic -fPIC)
      loader_object(${compiler} ${program} constructor pic -fPIC)
      loader_object(${compiler} ${program} common static -fno-pic -fcommon)
    endif()
  endforeach()
endif()
add_custom_target(loader_objects ALL DEPENDS ${loader_objects})
