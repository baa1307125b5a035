# The PyTorch adapter: the Python extension tputorch._C, built against the torch wheel that is installed.
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(
  COMMAND ${Python_EXECUTABLE} -c
    "import importlib.util, os; print(os.path.dirname(importlib.util.find_spec('torch').origin))"
  OUTPUT_VARIABLE torch_folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(GLOB adapter_sources CONFIGURE_DEPENDS adapter/*.cc)
Python_add_library(_C MODULE WITH_SOABI ${adapter_sources})
set_target_properties(_C PROPERTIES
  CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_VISIBILITY_PRESET hidden
  INSTALL_RPATH "$ORIGIN/../torch/lib" BUILD_RPATH "${torch_folder}/lib")
# torch 2.13's headers need C++20 where they say so; 17 is enough for what is included here.
target_include_directories(_C PRIVATE ${CMAKE_SOURCE_DIR})
target_include_directories(_C SYSTEM PRIVATE ${torch_folder}/include
  ${torch_folder}/include/torch/csrc/api/include)
target_compile_options(_C PRIVATE -Wall -Wextra -Werror -Wno-deprecated-declarations)
target_compile_definitions(_C PRIVATE TORCH_EXTENSION_NAME=_C)
target_link_directories(_C PRIVATE ${torch_folder}/lib)
target_link_libraries(_C PRIVATE tpt_eager c10 torch torch_cpu torch_python)
target_link_options(_C PRIVATE -Wl,--exclude-libs,ALL)
install(TARGETS _C LIBRARY DESTINATION tputorch)
