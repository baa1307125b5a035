module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x40xf32>, %arg1: tensor<40xf32>, %arg2: tensor<40xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<5x40xf32> {jax.result_info = "result[1][0]"}, tensor<40xf32> {jax.result_info = "result[1][1]"}, tensor<40xf32> {jax.result_info = "result[1][2]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<5x40xf32>, tensor<f32>) -> tensor<5xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<5xf32>) -> tensor<5x1xf32>
    %cst_0 = stablehlo.constant dense<4.000000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<5x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<5x1xf32>) -> tensor<5x40xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<5x40xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<5x40xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<5x40xf32>, tensor<f32>) -> tensor<5xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<5xf32>) -> tensor<5x1xf32>
    %cst_2 = stablehlo.constant dense<4.000000e+01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<5x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<5x1xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<5x1xf32>
    %12 = stablehlo.add %10, %11 : tensor<5x1xf32>
    %13 = stablehlo.sqrt %12 : tensor<5x1xf32>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<5x1xf32>
    %15 = stablehlo.divide %14, %13 : tensor<5x1xf32>
    %16 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<5x1xf32>) -> tensor<5x40xf32>
    %17 = stablehlo.divide %5, %16 : tensor<5x40xf32>
    %18 = stablehlo.multiply %13, %13 : tensor<5x1xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<5x1xf32>
    %20 = stablehlo.divide %19, %18 : tensor<5x1xf32>
    %21 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<40xf32>) -> tensor<1x40xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<5x40xf32>
    %23 = stablehlo.multiply %17, %22 : tensor<5x40xf32>
    %24 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<40xf32>) -> tensor<1x40xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<5x40xf32>
    %26 = stablehlo.add %23, %25 : tensor<5x40xf32>
    %27 = stablehlo.multiply %26, %26 : tensor<5x40xf32>
    %28 = stablehlo.multiply %27, %26 : tensor<5x40xf32>
    %29 = stablehlo.multiply %26, %26 : tensor<5x40xf32>
    %cst_6 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<5x40xf32>
    %31 = stablehlo.multiply %30, %29 : tensor<5x40xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%28 init: %cst_7) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x40xf32>, tensor<f32>) -> tensor<f32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<5x40xf32>
    %34 = stablehlo.multiply %33, %31 : tensor<5x40xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<5x40xf32>, tensor<f32>) -> tensor<40xf32>
    %36 = stablehlo.reshape %35 : (tensor<40xf32>) -> tensor<1x40xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_10) applies stablehlo.add across dimensions = [0] : (tensor<1x40xf32>, tensor<f32>) -> tensor<40xf32>
    %38 = stablehlo.multiply %17, %34 : tensor<5x40xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.reduce(%38 init: %cst_11) applies stablehlo.add across dimensions = [0] : (tensor<5x40xf32>, tensor<f32>) -> tensor<40xf32>
    %40 = stablehlo.reshape %39 : (tensor<40xf32>) -> tensor<1x40xf32>
    %41 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<5x40xf32>
    %42 = stablehlo.multiply %34, %41 : tensor<5x40xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%40 init: %cst_12) applies stablehlo.add across dimensions = [0] : (tensor<1x40xf32>, tensor<f32>) -> tensor<40xf32>
    %44 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<5x1xf32>) -> tensor<5x40xf32>
    %45 = stablehlo.multiply %42, %44 : tensor<5x40xf32>
    %46 = stablehlo.multiply %45, %5 : tensor<5x40xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.reduce(%46 init: %cst_13) applies stablehlo.add across dimensions = [1] : (tensor<5x40xf32>, tensor<f32>) -> tensor<5xf32>
    %48 = stablehlo.reshape %47 : (tensor<5xf32>) -> tensor<5x1xf32>
    %49 = stablehlo.negate %48 : tensor<5x1xf32>
    %50 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<5x1xf32>) -> tensor<5x40xf32>
    %51 = stablehlo.divide %42, %50 : tensor<5x40xf32>
    %52 = stablehlo.multiply %49, %15 : tensor<5x1xf32>
    %cst_14 = stablehlo.constant dense<4.000000e+01> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<5x1xf32>
    %54 = stablehlo.divide %52, %53 : tensor<5x1xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %55 = stablehlo.reduce(%54 init: %cst_15) applies stablehlo.add across dimensions = [1] : (tensor<5x1xf32>, tensor<f32>) -> tensor<5xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0] : (tensor<5xf32>) -> tensor<5x40xf32>
    %57 = stablehlo.multiply %5, %56 : tensor<5x40xf32>
    %58 = stablehlo.add %51, %57 : tensor<5x40xf32>
    %59 = stablehlo.multiply %56, %5 : tensor<5x40xf32>
    %60 = stablehlo.add %58, %59 : tensor<5x40xf32>
    %61 = stablehlo.negate %60 : tensor<5x40xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.reduce(%61 init: %cst_16) applies stablehlo.add across dimensions = [1] : (tensor<5x40xf32>, tensor<f32>) -> tensor<5xf32>
    %63 = stablehlo.reshape %62 : (tensor<5xf32>) -> tensor<5x1xf32>
    %cst_17 = stablehlo.constant dense<4.000000e+01> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<5x1xf32>
    %65 = stablehlo.divide %63, %64 : tensor<5x1xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %66 = stablehlo.reduce(%65 init: %cst_18) applies stablehlo.add across dimensions = [1] : (tensor<5x1xf32>, tensor<f32>) -> tensor<5xf32>
    %67 = stablehlo.broadcast_in_dim %66, dims = [0] : (tensor<5xf32>) -> tensor<5x40xf32>
    %68 = stablehlo.add %60, %67 : tensor<5x40xf32>
    return %32, %68, %43, %37 : tensor<f32>, tensor<5x40xf32>, tensor<40xf32>, tensor<40xf32>
  }
}
