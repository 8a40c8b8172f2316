# What `make install` puts where: libraries, headers, vyre.pc, the CMake package, the command and
# the manual and completions that the command prints about itself, pages and examples.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vyre)

install(TARGETS vyre_shared vyre_static EXPORT vyre_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/vyre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT vyre_targets NAMESPACE vyre:: FILE vyreTargets.cmake DESTINATION ${package_dir})

configure_file(cmake/vyre.pc.in vyre.pc @ONLY)
configure_package_config_file(cmake/vyreConfig.cmake.in vyreConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(vyreConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/vyre.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_BINARY_DIR}/vyreConfig.cmake ${CMAKE_BINARY_DIR}/vyreConfigVersion.cmake
  DESTINATION ${package_dir})
install(FILES LICENSE LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The part that `make install` builds; tests and benchmarks are not among it.
add_custom_target(product DEPENDS vyre_shared vyre_static)
if(TARGET vyre_command)
  add_dependencies(product vyre_command)
  install(TARGETS vyre_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # Installs what the command prints; a command that does not know the topic has no such page.
  function(install_output path)
    set(made ${CMAKE_BINARY_DIR}/share/${path})
    get_filename_component(made_dir ${made} DIRECTORY)
    get_filename_component(directory ${path} DIRECTORY)
    install(CODE "
      file(MAKE_DIRECTORY \"${made_dir}\")
      execute_process(COMMAND \"$<TARGET_FILE:vyre_command>\" ${ARGN}
        OUTPUT_FILE \"${made}\" RESULT_VARIABLE status ERROR_QUIET)
      if(status EQUAL 0)
        file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${directory}\" TYPE FILE
          FILES \"${made}\")
      endif()")
  endfunction()
  install_output(${CMAKE_INSTALL_MANDIR}/man1/vyre.1 help --man)
  install_output(${CMAKE_INSTALL_DATADIR}/bash-completion/completions/vyre help --completion bash)
  install_output(${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_vyre help --completion zsh)
  install_output(${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/vyre.fish
    help --completion fish)
endif()
