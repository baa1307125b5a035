module @jit_all_axes attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x17x6xi32>) -> (tensor<i64> {jax.result_info = "result[0]"}, tensor<i64> {jax.result_info = "result[1]"}, tensor<i32> {jax.result_info = "result[2]"}, tensor<i32> {jax.result_info = "result[3]"}, tensor<17x6xi64> {jax.result_info = "result[4]"}, tensor<17x6xi64> {jax.result_info = "result[5]"}, tensor<17x6xi32> {jax.result_info = "result[6]"}, tensor<17x6xi32> {jax.result_info = "result[7]"}, tensor<5x6xi64> {jax.result_info = "result[8]"}, tensor<5x6xi64> {jax.result_info = "result[9]"}, tensor<5x6xi32> {jax.result_info = "result[10]"}, tensor<5x6xi32> {jax.result_info = "result[11]"}, tensor<17xi64> {jax.result_info = "result[12]"}, tensor<17xi64> {jax.result_info = "result[13]"}, tensor<17xi32> {jax.result_info = "result[14]"}, tensor<17xi32> {jax.result_info = "result[15]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<5x17x6xi32>) -> tensor<5x17x6xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<5x17x6xi64>, tensor<i64>) -> tensor<i64>
    %2 = stablehlo.convert %arg0 : (tensor<5x17x6xi32>) -> tensor<5x17x6xi64>
    %c_0 = stablehlo.constant dense<1> : tensor<i64>
    %3 = stablehlo.reduce(%2 init: %c_0) applies stablehlo.multiply across dimensions = [0, 1, 2] : (tensor<5x17x6xi64>, tensor<i64>) -> tensor<i64>
    %c_1 = stablehlo.constant dense<-2147483648> : tensor<i32>
    %4 = stablehlo.reduce(%arg0 init: %c_1) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<5x17x6xi32>, tensor<i32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<2147483647> : tensor<i32>
    %5 = stablehlo.reduce(%arg0 init: %c_2) applies stablehlo.minimum across dimensions = [0, 1, 2] : (tensor<5x17x6xi32>, tensor<i32>) -> tensor<i32>
    %6 = stablehlo.convert %arg0 : (tensor<5x17x6xi32>) -> tensor<5x17x6xi64>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.reduce(%6 init: %c_3) applies stablehlo.add across dimensions = [0] : (tensor<5x17x6xi64>, tensor<i64>) -> tensor<17x6xi64>
    %8 = stablehlo.convert %arg0 : (tensor<5x17x6xi32>) -> tensor<5x17x6xi64>
    %c_4 = stablehlo.constant dense<1> : tensor<i64>
    %9 = stablehlo.reduce(%8 init: %c_4) applies stablehlo.multiply across dimensions = [0] : (tensor<5x17x6xi64>, tensor<i64>) -> tensor<17x6xi64>
    %c_5 = stablehlo.constant dense<-2147483648> : tensor<i32>
    %10 = stablehlo.reduce(%arg0 init: %c_5) applies stablehlo.maximum across dimensions = [0] : (tensor<5x17x6xi32>, tensor<i32>) -> tensor<17x6xi32>
    %c_6 = stablehlo.constant dense<2147483647> : tensor<i32>
    %11 = stablehlo.reduce(%arg0 init: %c_6) applies stablehlo.minimum across dimensions = [0] : (tensor<5x17x6xi32>, tensor<i32>) -> tensor<17x6xi32>
    %12 = stablehlo.convert %arg0 : (tensor<5x17x6xi32>) -> tensor<5x17x6xi64>
    %c_7 = stablehlo.constant dense<0> : tensor<i64>
    %13 = stablehlo.reduce(%12 init: %c_7) applies stablehlo.add across dimensions = [1] : (tensor<5x17x6xi64>, tensor<i64>) -> tensor<5x6xi64>
    %14 = stablehlo.convert %arg0 : (tensor<5x17x6xi32>) -> tensor<5x17x6xi64>
    %c_8 = stablehlo.constant dense<1> : tensor<i64>
    %15 = stablehlo.reduce(%14 init: %c_8) applies stablehlo.multiply across dimensions = [1] : (tensor<5x17x6xi64>, tensor<i64>) -> tensor<5x6xi64>
    %c_9 = stablehlo.constant dense<-2147483648> : tensor<i32>
    %16 = stablehlo.reduce(%arg0 init: %c_9) applies stablehlo.maximum across dimensions = [1] : (tensor<5x17x6xi32>, tensor<i32>) -> tensor<5x6xi32>
    %c_10 = stablehlo.constant dense<2147483647> : tensor<i32>
    %17 = stablehlo.reduce(%arg0 init: %c_10) applies stablehlo.minimum across dimensions = [1] : (tensor<5x17x6xi32>, tensor<i32>) -> tensor<5x6xi32>
    %18 = stablehlo.convert %arg0 : (tensor<5x17x6xi32>) -> tensor<5x17x6xi64>
    %c_11 = stablehlo.constant dense<0> : tensor<i64>
    %19 = stablehlo.reduce(%18 init: %c_11) applies stablehlo.add across dimensions = [0, 2] : (tensor<5x17x6xi64>, tensor<i64>) -> tensor<17xi64>
    %20 = stablehlo.convert %arg0 : (tensor<5x17x6xi32>) -> tensor<5x17x6xi64>
    %c_12 = stablehlo.constant dense<1> : tensor<i64>
    %21 = stablehlo.reduce(%20 init: %c_12) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<5x17x6xi64>, tensor<i64>) -> tensor<17xi64>
    %c_13 = stablehlo.constant dense<-2147483648> : tensor<i32>
    %22 = stablehlo.reduce(%arg0 init: %c_13) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<5x17x6xi32>, tensor<i32>) -> tensor<17xi32>
    %c_14 = stablehlo.constant dense<2147483647> : tensor<i32>
    %23 = stablehlo.reduce(%arg0 init: %c_14) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<5x17x6xi32>, tensor<i32>) -> tensor<17xi32>
    return %1, %3, %4, %5, %7, %9, %10, %11, %13, %15, %16, %17, %19, %21, %22, %23 : tensor<i64>, tensor<i64>, tensor<i32>, tensor<i32>, tensor<17x6xi64>, tensor<17x6xi64>, tensor<17x6xi32>, tensor<17x6xi32>, tensor<5x6xi64>, tensor<5x6xi64>, tensor<5x6xi32>, tensor<5x6xi32>, tensor<17xi64>, tensor<17xi64>, tensor<17xi32>, tensor<17xi32>
  }
}
