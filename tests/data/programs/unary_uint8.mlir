module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64xui8>) -> (tensor<64xui8> {jax.result_info = "result[0]"}, tensor<64xui8> {jax.result_info = "result[1]"}, tensor<64xui8> {jax.result_info = "result[2]"}, tensor<64xui8> {jax.result_info = "result[3]"}, tensor<64xui8> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.count_leading_zeros %arg0 : tensor<64xui8>
    %1 = stablehlo.popcnt %arg0 : tensor<64xui8>
    %2 = stablehlo.not %arg0 : tensor<64xui8>
    %3 = stablehlo.negate %arg0 : tensor<64xui8>
    %c = stablehlo.constant dense<0> : tensor<ui8>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui8>) -> tensor<64xui8>
    %5 = stablehlo.compare EQ, %arg0, %4, UNSIGNED : (tensor<64xui8>, tensor<64xui8>) -> tensor<64xi1>
    %c_0 = stablehlo.constant dense<0> : tensor<ui8>
    %6 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui8>) -> tensor<64xui8>
    %c_1 = stablehlo.constant dense<1> : tensor<ui8>
    %7 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui8>) -> tensor<64xui8>
    %8 = stablehlo.select %5, %6, %7 : tensor<64xi1>, tensor<64xui8>
    return %0, %1, %2, %3, %8 : tensor<64xui8>, tensor<64xui8>, tensor<64xui8>, tensor<64xui8>, tensor<64xui8>
  }
}
