module @jit_dots attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<33x20xf64>, %arg1: tensor<20x17xf64>, %arg2: tensor<9x31xf64>, %arg3: tensor<3x5x6xf64>, %arg4: tensor<3x6x7xf64>) -> (tensor<33x17xf64> {jax.result_info = "result[0]"}, tensor<17x33xf64> {jax.result_info = "result[1]"}, tensor<9x9xf64> {jax.result_info = "result[2]"}, tensor<3x5x7xf64> {jax.result_info = "result[3]"}, tensor<33xf64> {jax.result_info = "result[4]"}, tensor<17xf64> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<33x20xf64>, tensor<20x17xf64>) -> tensor<33x17xf64>
    %1 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<20x17xf64>) -> tensor<17x20xf64>
    %2 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<33x20xf64>) -> tensor<20x33xf64>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<17x20xf64>, tensor<20x33xf64>) -> tensor<17x33xf64>
    %4 = stablehlo.transpose %arg2, dims = [1, 0] : (tensor<9x31xf64>) -> tensor<31x9xf64>
    %5 = stablehlo.dot_general %arg2, %4, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<9x31xf64>, tensor<31x9xf64>) -> tensor<9x9xf64>
    %6 = stablehlo.dot_general %arg3, %arg4, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<3x5x6xf64>, tensor<3x6x7xf64>) -> tensor<3x5x7xf64>
    %7 = stablehlo.slice %arg1 [0:20, 0:1] : (tensor<20x17xf64>) -> tensor<20x1xf64>
    %8 = stablehlo.reshape %7 : (tensor<20x1xf64>) -> tensor<20xf64>
    %9 = stablehlo.dot_general %arg0, %8, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<33x20xf64>, tensor<20xf64>) -> tensor<33xf64>
    %10 = stablehlo.slice %arg1 [0:20, 0:1] : (tensor<20x17xf64>) -> tensor<20x1xf64>
    %11 = stablehlo.reshape %10 : (tensor<20x1xf64>) -> tensor<20xf64>
    %12 = stablehlo.dot_general %11, %arg1, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<20xf64>, tensor<20x17xf64>) -> tensor<17xf64>
    return %0, %3, %5, %6, %9, %12 : tensor<33x17xf64>, tensor<17x33xf64>, tensor<9x9xf64>, tensor<3x5x7xf64>, tensor<33xf64>, tensor<17xf64>
  }
}
