# OpenBLAS: the PyPI wheel scipy-openblas32 (prefix scipy_), else the system's.
execute_process(
  COMMAND ${Python_EXECUTABLE} -c
    "import scipy_openblas32 as o; print(o.get_include_dir() + ';' + o.get_lib_dir() + '/' + o.get_library(fullname=True))"
  OUTPUT_VARIABLE openblas_wheel OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
add_library(openblas INTERFACE)
if(openblas_wheel)
  list(GET openblas_wheel 0 openblas_include)
  list(GET openblas_wheel 1 openblas_library)
  target_compile_definitions(openblas INTERFACE TPUTORCH_BLAS_SCIPY=1)
else()
  find_path(openblas_include cblas.h PATH_SUFFIXES openblas openblas-pthread REQUIRED)
  find_library(openblas_library openblas REQUIRED)
endif()
target_include_directories(openblas SYSTEM INTERFACE ${openblas_include})
target_link_libraries(openblas INTERFACE ${openblas_library})
