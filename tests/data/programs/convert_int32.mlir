module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64xi32>) -> (tensor<64xf32> {jax.result_info = "result[0]"}, tensor<64xf64> {jax.result_info = "result[1]"}, tensor<64xbf16> {jax.result_info = "result[2]"}, tensor<64xf16> {jax.result_info = "result[3]"}, tensor<64xi8> {jax.result_info = "result[4]"}, tensor<64xi32> {jax.result_info = "result[5]"}, tensor<64xi64> {jax.result_info = "result[6]"}, tensor<64xui8> {jax.result_info = "result[7]"}, tensor<64xui32> {jax.result_info = "result[8]"}, tensor<64xi1> {jax.result_info = "result[9]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<64xi32>) -> tensor<64xf32>
    %1 = stablehlo.convert %arg0 : (tensor<64xi32>) -> tensor<64xf64>
    %2 = stablehlo.convert %arg0 : (tensor<64xi32>) -> tensor<64xbf16>
    %3 = stablehlo.convert %arg0 : (tensor<64xi32>) -> tensor<64xf16>
    %4 = stablehlo.convert %arg0 : (tensor<64xi32>) -> tensor<64xi8>
    %5 = stablehlo.convert %arg0 : (tensor<64xi32>) -> tensor<64xi64>
    %6 = stablehlo.convert %arg0 : (tensor<64xi32>) -> tensor<64xui8>
    %7 = stablehlo.convert %arg0 : (tensor<64xi32>) -> tensor<64xui32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %9 = stablehlo.compare NE, %arg0, %8, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %10 = stablehlo.convert %9 : tensor<64xi1>
    return %0, %1, %2, %3, %4, %arg0, %5, %6, %7, %10 : tensor<64xf32>, tensor<64xf64>, tensor<64xbf16>, tensor<64xf16>, tensor<64xi8>, tensor<64xi32>, tensor<64xi64>, tensor<64xui8>, tensor<64xui32>, tensor<64xi1>
  }
}
