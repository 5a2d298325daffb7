# libopus as a static library, from the C source inside the npm package @discordjs/opus (BSD licence: COPYING in
# that source). The package's own binding is another copy of it in the same process: every symbol here is hidden.
# Sanitizers do not instrument it.
set(OPUS_ROOT ${CMAKE_CURRENT_SOURCE_DIR}/../node_modules/@discordjs/opus/deps/opus)
if(NOT EXISTS ${OPUS_ROOT}/opus_sources.mk)
  message(FATAL_ERROR "The source of libopus is missing in ${OPUS_ROOT}: run npm ci")
endif()

# The lists in libopus's own Makefiles: `NAME = a.c \ b.c`.
function(opus_list file name variable)
  file(READ ${OPUS_ROOT}/${file} text)
  string(REGEX REPLACE "[ \t]*\\\\\r?\n[ \t]*" " " text "${text}")
  if(NOT text MATCHES "(^|\n)${name} *= *([^\n]+)")
    message(FATAL_ERROR "${OPUS_ROOT}/${file} has no list ${name}")
  endif()
  string(REGEX MATCHALL "[^ \t\r]+\\.c" names "${CMAKE_MATCH_2}")
  list(TRANSFORM names PREPEND ${OPUS_ROOT}/)
  set(${variable} ${${variable}} ${names} PARENT_SCOPE)
endfunction()

opus_list(opus_sources.mk OPUS_SOURCES OPUS_FILES)
opus_list(opus_sources.mk OPUS_SOURCES_FLOAT OPUS_FILES)
opus_list(celt_sources.mk CELT_SOURCES OPUS_FILES)
opus_list(silk_sources.mk SILK_SOURCES OPUS_FILES)
opus_list(silk_sources.mk SILK_SOURCES_FLOAT OPUS_FILES)
set(OPUS_SETTINGS OPUS_BUILD VAR_ARRAYS HAVE_LRINT HAVE_LRINTF HAVE_STDINT_H PACKAGE_VERSION="1.3.1")
# Every x86-64 processor has SSE2. libopus has SSE4.1 for its encoder only, and AVX for nothing.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  opus_list(celt_sources.mk CELT_SOURCES_SSE OPUS_FILES)
  opus_list(celt_sources.mk CELT_SOURCES_SSE2 OPUS_FILES)
  list(APPEND OPUS_SETTINGS OPUS_X86_MAY_HAVE_SSE OPUS_X86_PRESUME_SSE OPUS_X86_MAY_HAVE_SSE2
    OPUS_X86_PRESUME_SSE2)
endif()

if(CMAKE_CXX_COMPILER_LAUNCHER AND NOT CMAKE_C_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
add_library(opus STATIC EXCLUDE_FROM_ALL ${OPUS_FILES})
# Without OPUS_EXPORT, its header would make the functions visible again.
target_compile_definitions(opus PRIVATE ${OPUS_SETTINGS} OPUS_EXPORT=)
target_compile_options(opus PRIVATE -O2 -w)
set_target_properties(opus PROPERTIES C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
target_include_directories(opus SYSTEM PUBLIC ${OPUS_ROOT}/include
  PRIVATE ${OPUS_ROOT} ${OPUS_ROOT}/celt ${OPUS_ROOT}/silk ${OPUS_ROOT}/silk/float)
target_link_libraries(opus PUBLIC m)
