module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64xi8>) -> (tensor<64xi8> {jax.result_info = "result[0]"}, tensor<64xi8> {jax.result_info = "result[1]"}, tensor<64xi8> {jax.result_info = "result[2]"}, tensor<64xi8> {jax.result_info = "result[3]"}, tensor<64xi8> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.count_leading_zeros %arg0 : tensor<64xi8>
    %1 = stablehlo.popcnt %arg0 : tensor<64xi8>
    %2 = stablehlo.not %arg0 : tensor<64xi8>
    %3 = stablehlo.negate %arg0 : tensor<64xi8>
    %4 = stablehlo.sign %arg0 : tensor<64xi8>
    return %0, %1, %2, %3, %4 : tensor<64xi8>, tensor<64xi8>, tensor<64xi8>, tensor<64xi8>, tensor<64xi8>
  }
}
