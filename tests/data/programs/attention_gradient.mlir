module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x7x8xf32>, %arg1: tensor<2x3x7x8xf32>, %arg2: tensor<2x3x7x8xf32>) -> (tensor<2x3x7x8xf32> {jax.result_info = "result[0]"}, tensor<2x3x7x8xf32> {jax.result_info = "result[1]"}, tensor<2x3x7x8xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [HIGHEST, HIGHEST] : (tensor<2x3x7x8xf32>, tensor<2x3x7x8xf32>) -> tensor<2x3x7x7xf32>
    %cst = stablehlo.constant dense<2.82842708> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3x7x7xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x3x7x7xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<7x7xi1>
    %4 = call @tril(%3) : (tensor<7x7xi1>) -> tensor<7x7xi1>
    %cst_0 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %5:2 = call @_where(%4, %2, %cst_0) : (tensor<7x7xi1>, tensor<2x3x7x7xf32>, tensor<f32>) -> (tensor<2x3x7x7xf32>, tensor<2x3x7x7xi1>)
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x7x7xf32>, tensor<f32>) -> tensor<2x3x7xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x3x7xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<2x3x7xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x3x7xf32>) -> tensor<2x3x7x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x3x7x1xf32>) -> tensor<2x3x7x7xf32>
    %11 = stablehlo.subtract %5#0, %10 : tensor<2x3x7x7xf32>
    %12 = stablehlo.exponential %11 : tensor<2x3x7x7xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x3x7x7xf32>, tensor<f32>) -> tensor<2x3x7xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x3x7xf32>) -> tensor<2x3x7x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x3x7x1xf32>) -> tensor<2x3x7x7xf32>
    %16 = stablehlo.divide %12, %15 : tensor<2x3x7x7xf32>
    %17 = stablehlo.multiply %14, %14 : tensor<2x3x7x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x3x7x1xf32>
    %19 = stablehlo.divide %18, %17 : tensor<2x3x7x1xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x3x7x8xf32>
    %21 = stablehlo.dot_general %20, %16, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [HIGHEST, HIGHEST] : (tensor<2x3x7x8xf32>, tensor<2x3x7x7xf32>) -> tensor<2x3x8x7xf32>
    %22 = stablehlo.transpose %21, dims = [0, 1, 3, 2] : (tensor<2x3x8x7xf32>) -> tensor<2x3x7x8xf32>
    %23 = stablehlo.dot_general %20, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [HIGHEST, HIGHEST] : (tensor<2x3x7x8xf32>, tensor<2x3x7x8xf32>) -> tensor<2x3x7x7xf32>
    %24 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<2x3x7x1xf32>) -> tensor<2x3x7x7xf32>
    %25 = stablehlo.multiply %23, %24 : tensor<2x3x7x7xf32>
    %26 = stablehlo.multiply %25, %12 : tensor<2x3x7x7xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x3x7x7xf32>, tensor<f32>) -> tensor<2x3x7xf32>
    %28 = stablehlo.reshape %27 : (tensor<2x3x7xf32>) -> tensor<2x3x7x1xf32>
    %29 = stablehlo.negate %28 : tensor<2x3x7x1xf32>
    %30 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x3x7x1xf32>) -> tensor<2x3x7x7xf32>
    %31 = stablehlo.divide %23, %30 : tensor<2x3x7x7xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%29 init: %cst_7) applies stablehlo.add across dimensions = [3] : (tensor<2x3x7x1xf32>, tensor<f32>) -> tensor<2x3x7xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<2x3x7xf32>) -> tensor<2x3x7x7xf32>
    %34 = stablehlo.add %31, %33 : tensor<2x3x7x7xf32>
    %35 = stablehlo.multiply %34, %12 : tensor<2x3x7x7xf32>
    %36 = call @_where_0(%5#1, %35) : (tensor<2x3x7x7xi1>, tensor<2x3x7x7xf32>) -> tensor<2x3x7x7xf32>
    %cst_8 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x3x7x7xf32>
    %38 = stablehlo.divide %36, %37 : tensor<2x3x7x7xf32>
    %39 = stablehlo.dot_general %38, %arg0, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [HIGHEST, HIGHEST] : (tensor<2x3x7x7xf32>, tensor<2x3x7x8xf32>) -> tensor<2x3x7x8xf32>
    %40 = stablehlo.dot_general %38, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [HIGHEST, HIGHEST] : (tensor<2x3x7x7xf32>, tensor<2x3x7x8xf32>) -> tensor<2x3x7x8xf32>
    return %40, %39, %22 : tensor<2x3x7x8xf32>, tensor<2x3x7x8xf32>, tensor<2x3x7x8xf32>
  }
  func.func private @tril(%arg0: tensor<7x7xi1>) -> tensor<7x7xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<7x7xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<7x7xi64>
    %2 = stablehlo.add %0, %1 : tensor<7x7xi64>
    %3 = stablehlo.iota dim = 1 : tensor<7x7xi64>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<7x7xi64>, tensor<7x7xi64>) -> tensor<7x7xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<7x7xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<7x7xi1>, tensor<7x7xi1>
    return %6 : tensor<7x7xi1>
  }
  func.func private @_where(%arg0: tensor<7x7xi1>, %arg1: tensor<2x3x7x7xf32>, %arg2: tensor<f32>) -> (tensor<2x3x7x7xf32>, tensor<2x3x7x7xi1>) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<7x7xi1>) -> tensor<2x3x7x7xi1>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x3x7x7xf32>
    %2 = stablehlo.select %0, %arg1, %1 : tensor<2x3x7x7xi1>, tensor<2x3x7x7xf32>
    return %2, %0 : tensor<2x3x7x7xf32>, tensor<2x3x7x7xi1>
  }
  func.func private @_where_0(%arg0: tensor<2x3x7x7xi1>, %arg1: tensor<2x3x7x7xf32>) -> tensor<2x3x7x7xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3x7x7xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x3x7x7xi1>, tensor<2x3x7x7xf32>
    return %1 : tensor<2x3x7x7xf32>
  }
}
