# Foreign PJRT plugins that the C tests run against when the Python environment has them.
execute_process(
  COMMAND ${Python_EXECUTABLE} -c
    "import importlib.util as u, os; s = u.find_spec('lammps_jax_pjrt_cpu'); print(os.path.join(os.path.dirname(s.origin), 'pjrt_c_api_cpu_plugin.so') if s else '')"
  OUTPUT_VARIABLE TPUTORCH_XLA_CPU OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
