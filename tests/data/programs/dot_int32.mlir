module @jit_dots attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<33x20xi32>, %arg1: tensor<20x17xi32>, %arg2: tensor<9x31xi32>, %arg3: tensor<3x5x6xi32>, %arg4: tensor<3x6x7xi32>) -> (tensor<33x17xi32> {jax.result_info = "result[0]"}, tensor<17x33xi32> {jax.result_info = "result[1]"}, tensor<9x9xi32> {jax.result_info = "result[2]"}, tensor<3x5x7xi32> {jax.result_info = "result[3]"}, tensor<33xi32> {jax.result_info = "result[4]"}, tensor<17xi32> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<33x20xi32>, tensor<20x17xi32>) -> tensor<33x17xi32>
    %1 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<20x17xi32>) -> tensor<17x20xi32>
    %2 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<33x20xi32>) -> tensor<20x33xi32>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<17x20xi32>, tensor<20x33xi32>) -> tensor<17x33xi32>
    %4 = stablehlo.transpose %arg2, dims = [1, 0] : (tensor<9x31xi32>) -> tensor<31x9xi32>
    %5 = stablehlo.dot_general %arg2, %4, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<9x31xi32>, tensor<31x9xi32>) -> tensor<9x9xi32>
    %6 = stablehlo.dot_general %arg3, %arg4, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<3x5x6xi32>, tensor<3x6x7xi32>) -> tensor<3x5x7xi32>
    %7 = stablehlo.slice %arg1 [0:20, 0:1] : (tensor<20x17xi32>) -> tensor<20x1xi32>
    %8 = stablehlo.reshape %7 : (tensor<20x1xi32>) -> tensor<20xi32>
    %9 = stablehlo.dot_general %arg0, %8, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<33x20xi32>, tensor<20xi32>) -> tensor<33xi32>
    %10 = stablehlo.slice %arg1 [0:20, 0:1] : (tensor<20x17xi32>) -> tensor<20x1xi32>
    %11 = stablehlo.reshape %10 : (tensor<20x1xi32>) -> tensor<20xi32>
    %12 = stablehlo.dot_general %11, %arg1, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<20xi32>, tensor<20x17xi32>) -> tensor<17xi32>
    return %0, %3, %5, %6, %9, %12 : tensor<33x17xi32>, tensor<17x33xi32>, tensor<9x9xi32>, tensor<3x5x7xi32>, tensor<33xi32>, tensor<17xi32>
  }
}
