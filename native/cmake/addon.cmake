# The addon. OpenSSL and libuv are inside the node executable, so only their
# headers are needed, and the symbols stay undefined until Node loads the file.
execute_process(COMMAND node -p process.execPath OUTPUT_VARIABLE NODE_BINARY OUTPUT_STRIP_TRAILING_WHITESPACE)
get_filename_component(NODE_BINARY_DIR "${NODE_BINARY}" DIRECTORY)
set(NODE_HEADER_HINTS "${NODE_BINARY_DIR}/../include/node" "$ENV{npm_config_nodedir}/include/node")

# find_path must ask again when another Node builds.
unset(OPENSSL_HEADERS CACHE)
unset(UV_HEADERS CACHE)
find_path(OPENSSL_HEADERS openssl/evp.h HINTS ${NODE_HEADER_HINTS})
find_path(UV_HEADERS uv.h HINTS ${NODE_HEADER_HINTS})
if(NOT OPENSSL_HEADERS)
  message(FATAL_ERROR "OpenSSL headers are missing: apt-get install libssl-dev")
endif()
if(NOT UV_HEADERS)
  message(FATAL_ERROR "libuv headers are missing: apt-get install libuv1-dev")
endif()

add_library(parley MODULE ${MEDIA_SOURCES} ${BINDING_SOURCES})
compile_together(parley)
set_target_properties(parley PROPERTIES PREFIX "" SUFFIX ".node")
# Every exception of C++ becomes one of JavaScript, std::bad_alloc too. Without the
# last one, a worker that is terminated inside one of our functions takes the process with it.
target_compile_definitions(parley PRIVATE NAPI_VERSION=8 NODE_ADDON_API_CPP_EXCEPTIONS_ALL
  NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS)
target_include_directories(parley PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
# Not ours to warn about.
target_include_directories(parley SYSTEM PRIVATE ${CMAKE_JS_INC} ${OPENSSL_HEADERS} ${UV_HEADERS})
target_link_libraries(parley PRIVATE audio runtime)
