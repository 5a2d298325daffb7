# Files of one layer that the tests compile together: most of the
# time that a file takes alone goes into the headers that all of them include. A file whose nameless
# namespace has a name of another's stands alone; the compiler says so: "redefinition of".
set(FILES_TOGETHER 12)
set(FILES_ALONE
  media/hmac_sha1.cc
  media/rtp.cc
  model/speech/codec_encoder.cc
  model/speech/speaker_encoder.cc
  tools/recognition_writer.cc)

foreach(layer AUDIO MEDIA MODEL RUNTIME TOOLS)
  set(number 0)
  foreach(source ${${layer}_SOURCES})
    if(NOT source IN_LIST FILES_ALONE)
      math(EXPR group "${number} / ${FILES_TOGETHER}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${layer}_${group}")
      math(EXPR number "${number} + 1")
    endif()
  endforeach()
endforeach()

function(compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
