module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64xf16>) -> (tensor<64xf16> {jax.result_info = "result[0]"}, tensor<64xf16> {jax.result_info = "result[1]"}, tensor<64xf16> {jax.result_info = "result[2]"}, tensor<64xf16> {jax.result_info = "result[3]"}, tensor<64xf16> {jax.result_info = "result[4]"}, tensor<64xf16> {jax.result_info = "result[5]"}, tensor<64xf16> {jax.result_info = "result[6]"}, tensor<64xi1> {jax.result_info = "result[7]"}, tensor<64xf16> {jax.result_info = "result[8]"}, tensor<64xf16> {jax.result_info = "result[9]"}, tensor<64xf16> {jax.result_info = "result[10]"}, tensor<64xf16> {jax.result_info = "result[11]"}, tensor<64xf16> {jax.result_info = "result[12]"}, tensor<64xf16> {jax.result_info = "result[13]"}, tensor<64xf16> {jax.result_info = "result[14]"}, tensor<64xf16> {jax.result_info = "result[15]"}, tensor<64xf16> {jax.result_info = "result[16]"}, tensor<64xf16> {jax.result_info = "result[17]"}, tensor<64xf16> {jax.result_info = "result[18]"}) {
    %0 = stablehlo.abs %arg0 : tensor<64xf16>
    %1 = stablehlo.cbrt %arg0 : tensor<64xf16>
    %2 = stablehlo.ceil %arg0 : tensor<64xf16>
    %3 = stablehlo.cosine %arg0 : tensor<64xf16>
    %4 = stablehlo.exponential %arg0 : tensor<64xf16>
    %5 = stablehlo.exponential_minus_one %arg0 : tensor<64xf16>
    %6 = stablehlo.floor %arg0 : tensor<64xf16>
    %7 = stablehlo.is_finite %arg0 : (tensor<64xf16>) -> tensor<64xi1>
    %8 = stablehlo.log %arg0 : tensor<64xf16>
    %9 = stablehlo.log_plus_one %arg0 : tensor<64xf16>
    %10 = stablehlo.negate %arg0 : tensor<64xf16>
    %11 = stablehlo.exponential %10 : tensor<64xf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f16>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<64xf16>
    %13 = stablehlo.add %12, %11 : tensor<64xf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f16>
    %14 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f16>) -> tensor<64xf16>
    %15 = stablehlo.divide %14, %13 : tensor<64xf16>
    %16 = stablehlo.negate %arg0 : tensor<64xf16>
    %17 = stablehlo.round_nearest_afz %arg0 : tensor<64xf16>
    %18 = stablehlo.rsqrt %arg0 : tensor<64xf16>
    %19 = stablehlo.sign %arg0 : tensor<64xf16>
    %20 = stablehlo.sine %arg0 : tensor<64xf16>
    %21 = stablehlo.sqrt %arg0 : tensor<64xf16>
    %22 = stablehlo.tan %arg0 : tensor<64xf16>
    %23 = stablehlo.tanh %arg0 : tensor<64xf16>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %15, %16, %17, %18, %19, %20, %21, %22, %23 : tensor<64xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xi1>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>
  }
}
