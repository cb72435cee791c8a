# Every case on every arm, a ctest test each: conformance.<case>.<arm>. Cases are found by their macro at configure time.
set(ANYGIN_CONFORMANCE_DIR ${CMAKE_BINARY_DIR}/conformance)
file(MAKE_DIRECTORY ${ANYGIN_CONFORMANCE_DIR})
# `anygin conformance` finds the programs and their lists in the prefix.
set(ANYGIN_CONFORMANCE_STAGED ${ANYGIN_PREFIX}/libexec/anygin/conformance)
file(MAKE_DIRECTORY ${ANYGIN_CONFORMANCE_STAGED})
foreach(list ${CMAKE_CURRENT_LIST_DIR}/arms.list ${CMAKE_SOURCE_DIR}/tests/mutants/mutants.list)
  get_filename_component(name ${list} NAME)
  file(CREATE_LINK ${list} ${ANYGIN_CONFORMANCE_STAGED}/${name} SYMBOLIC)
endforeach()
set(ANYGIN_CONFORMANCE_HEADERS conformance.h conformance_kernels.h conformance_names.h conformance_rank.h)
list(TRANSFORM ANYGIN_CONFORMANCE_HEADERS PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
list(APPEND ANYGIN_CONFORMANCE_HEADERS ${CMAKE_SOURCE_DIR}/examples/launcher.h)

# Those that .ci/run repeats under every preset (label `ci`): one of each kind, ranks as threads.
set(ANYGIN_CONFORMANCE_CI
  P1_a_weak_signal_covers_its_own_payload P2_a_strong_signal_covers_earlier_puts
  P4_every_increment_and_addition_counts_once P7_putValue_copies_at_the_call_and_writes_its_size_only
  F1_a_weak_signal_says_nothing_of_earlier_puts P10_after_flush_a_get_is_readable
  P12_after_its_counter_a_source_may_be_overwritten P14_reset_counts_from_zero_and_loses_nothing
  P17_nobody_leaves_a_barrier_before_all_have_entered P18_the_put_fence_settles_puts_of_all_members
  P22_an_lsa_barrier_releases_and_acquires P32_abort_ends_every_wait P33_a_full_queue_delays_and_never_drops
  M6_R_offset_out_of_range P26_a_host_signal_covers_the_puts_before_it
  P27_behind_a_host_put_its_source_may_be_overwritten P28_a_group_of_host_puts_keeps_the_order_of_each_peer
  P32_abort_ends_a_wait_of_a_stream P35_sends_match_receives_in_issue_order
  P36_a_group_exchanges_with_all_ranks_and_keeps_the_order_of_each
  P36_collectives_and_sends_of_a_group_do_not_wait_for_each_other M11_R_counts_that_differ P32_abort_ends_a_receive
  P32_destroy_waits_for_its_kernels P32_revoke_ends_a_wait_of_a_stream split_by_color_makes_whole_communicators P32_survivors_of_a_lost_rank_shrink_and_go_on
  Forms_functions_without_templates Forms_every_method_with_every_mask
  P18_every_form_of_a_gin_barrier_settles_puts P23_every_form_of_a_hybrid_barrier ReduceCopy_every_type_and_operator)

# What the NIC may reorder, from least to most.
set(ANYGIN_CONFORMANCE_PROFILES inorder cx7 relaxed srd)

# What arms.list says of a case on an arm.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/arms.list ANYGIN_CONFORMANCE_RULES REGEX "^[^#]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/arms.list)
function(anygin_conformance_rules case arm skipped_out options_out)
  set(skipped OFF)
  set(options)
  foreach(rule ${ANYGIN_CONFORMANCE_RULES})
    if(NOT rule MATCHES "^([^ ]+) +([^ ]+) +(skip|check) +(.*)$")
      message(FATAL_ERROR "tests/conformance/arms.list: '${rule}' is no rule")
    endif()
    set(verb ${CMAKE_MATCH_3})
    set(text ${CMAKE_MATCH_4})
    set(of_arm ${CMAKE_MATCH_2})
    if(NOT case MATCHES "${CMAKE_MATCH_1}")
      continue()
    endif()
    if(NOT arm MATCHES "${of_arm}")
      continue()
    endif()
    if(verb STREQUAL skip)
      set(skipped ON)
    else()
      separate_arguments(text)
      list(APPEND options ${text})
    endif()
  endforeach()
  set(${skipped_out} ${skipped} PARENT_SCOPE)
  set(${options_out} ${options} PARENT_SCOPE)
endfunction()

# In the simulated world, ranks as threads: a few seeds each, every seed a run of its own.
set(ANYGIN_CONFORMANCE_SIM_CI
  P1_a_weak_signal_covers_its_own_payload P2_a_strong_signal_covers_earlier_puts
  F1_a_weak_signal_says_nothing_of_earlier_puts P12_after_its_counter_a_source_may_be_overwritten
  P18_the_put_fence_settles_puts_of_all_members P34_a_hang_ends_with_a_report
  P26_a_host_signal_covers_the_puts_before_it P35_sends_match_receives_in_issue_order)
function(anygin_conformance_simulated case profile program)
  if(ANYGIN_SANITIZE MATCHES "address|thread")
    return()  # their runtimes want to be the first library, and the simulated world's is
  endif()
  set(arm cpu/proxy/emu/sim/${profile}/threads)
  set(name conformance.${case}.${arm})
  set(labels conformance)
  if(case IN_LIST ANYGIN_CONFORMANCE_SIM_CI AND profile MATCHES "inorder|relaxed")
    list(APPEND labels ci)
  endif()
  anygin_conformance_rules(${case} ${arm} skipped options)
  if(skipped)
    return()
  endif()
  if(NOT "--seeds" IN_LIST options)
    list(APPEND options --seeds 3)
  endif()
  add_test(NAME ${name} COMMAND ${ANYGIN_PREFIX}/bin/anygin check --profile ${profile} --timeout 15 --no-minimise ${options} -- ${program} ${case})
  set_tests_properties(${name} PROPERTIES TIMEOUT 20 LABELS "${labels}")
endfunction()

# anygin_conformance(FILE [FLAGS ...]): conformance_<file> from <file>.cu.
function(anygin_conformance file)
  set(program ${ANYGIN_CONFORMANCE_STAGED}/conformance_${file})
  file(CREATE_LINK ${program} ${ANYGIN_CONFORMANCE_DIR}/conformance_${file} SYMBOLIC)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${file}.cu)
  cmake_parse_arguments(ARG "" "" "FLAGS" ${ARGN})
  anygin_add_program(conformance_${file} ${source} ${program} DEPENDS ${ANYGIN_CONFORMANCE_HEADERS}
    FLAGS -Xlinker "-rpath='$$ORIGIN/../../../lib'" ${ARG_FLAGS})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(STRINGS ${source} lines REGEX "^CONFORMANCE_CASE")
  foreach(line ${lines})
    string(REGEX REPLACE "^CONFORMANCE_CASE[_A-Z]*\\(([A-Za-z0-9_]+),.*" "\\1" case "${line}")
    foreach(profile ${ANYGIN_CONFORMANCE_PROFILES})
      foreach(placement threads procs)
        set(arm ${ANYGIN_TARGET}/proxy/emu/direct/${profile}/${placement})
        anygin_conformance_rules(${case} ${arm} skipped options)
        if(skipped)
          continue()
        endif()
        set(name conformance.${case}.${arm})
        set(labels conformance)
        if(placement STREQUAL threads AND case IN_LIST ANYGIN_CONFORMANCE_CI AND profile MATCHES "inorder|relaxed")
          list(APPEND labels ci)
        endif()
        if(placement STREQUAL procs)
          add_test(NAME ${name} COMMAND ${program} --procs ${case})
        else()
          add_test(NAME ${name} COMMAND ${program} ${case})
        endif()
        set_tests_properties(${name} PROPERTIES TIMEOUT 20 ENVIRONMENT "ANYGIN_PROFILE=${profile}" LABELS "${labels}")
      endforeach()
    endforeach()
    foreach(profile ${ANYGIN_CONFORMANCE_PROFILES})
      anygin_conformance_simulated(${case} ${profile} ${program})
    endforeach()
  endforeach()
endfunction()

foreach(file signals words_as_signals completion values barriers wide_barriers scenarios_ordering scenarios_completion scenarios_errors
             gin_forms gin_c gin_masks barrier_forms lsa_data lsa_forms multimem multimem_narrow failure windows communicators older_programs rail_only)
  anygin_conformance(${file})
endforeach()
if(ANYGIN_TARGET STREQUAL cuda)
  anygin_conformance(misuse)
else()
  anygin_conformance(misuse FLAGS -lcuda)
  foreach(file host_puts send_recv)  # not yet on the cuda target
    anygin_conformance(${file})
  endforeach()
endif()

if(ANYGIN_TARGET STREQUAL cuda)
  return()
endif()
anygin_test(demo_trace SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/demo_trace_test.cc)
target_compile_definitions(demo_trace PRIVATE ANYGIN_EXAMPLES_DIR="${CMAKE_BINARY_DIR}/examples")
add_dependencies(demo_trace program_ring program_alltoall_gin)

anygin_add_program(slow_kernels ${CMAKE_CURRENT_SOURCE_DIR}/slow_kernels.cu ${ANYGIN_CONFORMANCE_DIR}/slow_kernels
  DEPENDS ${CMAKE_SOURCE_DIR}/examples/common.h)
anygin_test(hang_report SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/hang_report_test.cc)
target_compile_definitions(hang_report PRIVATE ANYGIN_EXAMPLES="${CMAKE_BINARY_DIR}/examples"
  ANYGIN_EXAMPLES_SOURCE="${CMAKE_SOURCE_DIR}/examples" ANYGIN_TOOL="${ANYGIN_PREFIX}/bin/anygin"
  ANYGIN_SLOW_KERNELS="${ANYGIN_CONFORMANCE_DIR}/slow_kernels"
  ANYGIN_SLOW_KERNELS_SOURCE="${CMAKE_CURRENT_SOURCE_DIR}/slow_kernels.cu"
  $<$<BOOL:${ANYGIN_SANITIZE}>:ANYGIN_SANITIZED>)
add_dependencies(hang_report program_hang program_slow_kernels anygin_tool)

anygin_test(conformance_command SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/conformance_command_test.cc LIBS anygin_run anygin_sim_core)
target_compile_definitions(conformance_command PRIVATE ANYGIN_TOOL="${ANYGIN_PREFIX}/bin/anygin" ANYGIN_PREFIX_DIR="${ANYGIN_PREFIX}"
  ANYGIN_OWN_TMPDIR="${CMAKE_SOURCE_DIR}/tests/support/own_tmpdir.sh")
add_dependencies(conformance_command program_conformance_signals program_conformance_host_puts anygin_tool)

anygin_test(perf_command SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/perf_command_test.cc)
target_compile_definitions(perf_command PRIVATE ANYGIN_TOOL="${ANYGIN_PREFIX}/bin/anygin")
add_dependencies(perf_command program_perf anygin_tool)

if(NOT ANYGIN_SANITIZE MATCHES "address|thread")
  anygin_test(sim_program SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/sim_program_test.cc LIBS anygin_sim_core)
  target_compile_definitions(sim_program PRIVATE ANYGIN_EXAMPLES_DIR="${CMAKE_BINARY_DIR}/examples"
    ANYGIN_SIM_LIBRARY="${ANYGIN_PREFIX}/lib/libanygin_sim.so")
  foreach(name host_threads host_polls entropy weak_signal crossed reused_cells)
    anygin_add_program(simulated_${name} ${CMAKE_CURRENT_SOURCE_DIR}/simulated/${name}.cu ${ANYGIN_CONFORMANCE_DIR}/${name}
      DEPENDS ${ANYGIN_CONFORMANCE_HEADERS})
  endforeach()
  if(NOT ANYGIN_SANITIZE AND NOT ANYGIN_MUTANTS)  # it installs this build and compiles with it as it is
    anygin_test(ci_page SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/ci_page_test.cc LABELS install PROPERTIES TIMEOUT 120 RUN_SERIAL ON)
    target_compile_definitions(ci_page PRIVATE ANYGIN_BUILD_DIR="${CMAKE_BINARY_DIR}" ANYGIN_CI_PAGE="${CMAKE_SOURCE_DIR}/docs/ci.md"
      ANYGIN_EXAMPLES_SOURCE="${CMAKE_SOURCE_DIR}/examples")
  endif()
  anygin_test(check_command SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/check_command_test.cc LIBS anygin_sim_core)
  target_compile_definitions(check_command PRIVATE ANYGIN_EXAMPLES_DIR="${CMAKE_BINARY_DIR}/examples"
    ANYGIN_SIMULATED_DIR="${ANYGIN_CONFORMANCE_DIR}" ANYGIN_TOOL="${ANYGIN_PREFIX}/bin/anygin")
  add_dependencies(check_command anygin_sim anygin_tool program_ring program_hang program_simulated_host_threads program_simulated_host_polls
    program_simulated_entropy program_simulated_weak_signal program_simulated_crossed program_simulated_reused_cells program_slow_kernels)
  add_dependencies(sim_program anygin_sim program_ring program_alltoall_gin program_hang)
endif()

# Rails apart: two nodes of two, whose ranks of one place reach each other.
if(ANYGIN_TARGET STREQUAL cpu)
  foreach(profile ${ANYGIN_CONFORMANCE_PROFILES})
    set(name conformance.Rail_connections_carry_puts_and_barriers.cpu/proxy/emu/direct/${profile}/threads/rails_apart)
    add_test(NAME ${name} COMMAND ${ANYGIN_CONFORMANCE_STAGED}/conformance_rail_only Rail_connections_carry_puts_and_barriers)
    set_tests_properties(${name} PROPERTIES TIMEOUT 20 LABELS conformance ENVIRONMENT
      "ANYGIN_PROFILE=${profile};ANYGIN_TOPOLOGY=2,2,rail")
  endforeach()
endif()
