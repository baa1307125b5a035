module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7xf32>, %arg1: tensor<9xf32>) -> (tensor<7x9xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<7xf32>) -> tensor<7x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<9xf32>) -> tensor<1x9xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<7x1xf32>) -> tensor<7x9xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x9xf32>) -> tensor<7x9xf32>
    %4 = stablehlo.add %2, %3 : tensor<7x9xf32>
    return %4 : tensor<7x9xf32>
  }
}
