module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9x5xf32>, %arg1: tensor<3x5xf32>) -> (tensor<9x5xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<[3, 1, 7]> : tensor<3xi64>
    %c_0 = stablehlo.constant dense<false> : tensor<3xi1>
    %c_1 = stablehlo.constant dense<9> : tensor<i64>
    %0 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %1 = stablehlo.add %c, %0 : tensor<3xi64>
    %2 = stablehlo.select %c_0, %1, %c : tensor<3xi1>, tensor<3xi64>
    %3 = stablehlo.convert %2 : (tensor<3xi64>) -> tensor<3xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %5 = "stablehlo.scatter"(%arg0, %4, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      stablehlo.return %arg3 : tensor<f32>
    }) : (tensor<9x5xf32>, tensor<3x1xi32>, tensor<3x5xf32>) -> tensor<9x5xf32>
    return %5 : tensor<9x5xf32>
  }
}
