module @jit_mlp_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x16xf32>, %arg1: tensor<16xf32>, %arg2: tensor<16x4xf32>, %arg3: tensor<4xf32>, %arg4: tensor<10x8xf32>) -> (tensor<8x16xf32> {jax.result_info = "result[0]"}, tensor<16xf32> {jax.result_info = "result[1]"}, tensor<16x4xf32> {jax.result_info = "result[2]"}, tensor<4xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.dot_general %arg4, %arg0, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<10x8xf32>, tensor<8x16xf32>) -> tensor<10x16xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<10x16xf32>
    %3 = stablehlo.add %0, %2 : tensor<10x16xf32>
    %4 = stablehlo.multiply %3, %3 : tensor<10x16xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<10x16xf32>
    %6 = stablehlo.multiply %3, %3 : tensor<10x16xf32>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10x16xf32>
    %8 = stablehlo.multiply %7, %6 : tensor<10x16xf32>
    %cst_0 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10x16xf32>
    %10 = stablehlo.multiply %9, %5 : tensor<10x16xf32>
    %11 = stablehlo.add %3, %10 : tensor<10x16xf32>
    %cst_1 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<10x16xf32>
    %13 = stablehlo.multiply %12, %11 : tensor<10x16xf32>
    %14 = stablehlo.tanh %13 : tensor<10x16xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<10x16xf32>
    %16 = stablehlo.subtract %15, %14 : tensor<10x16xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<10x16xf32>
    %18 = stablehlo.add %17, %14 : tensor<10x16xf32>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<10x16xf32>
    %20 = stablehlo.multiply %19, %18 : tensor<10x16xf32>
    %21 = stablehlo.multiply %3, %20 : tensor<10x16xf32>
    %22 = stablehlo.dot_general %21, %arg2, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<10x16xf32>, tensor<16x4xf32>) -> tensor<10x4xf32>
    %23 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<10x4xf32>
    %25 = stablehlo.add %22, %24 : tensor<10x4xf32>
    %26 = stablehlo.multiply %25, %25 : tensor<10x4xf32>
    %27 = stablehlo.multiply %26, %25 : tensor<10x4xf32>
    %28 = stablehlo.multiply %25, %25 : tensor<10x4xf32>
    %cst_5 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<10x4xf32>
    %30 = stablehlo.multiply %29, %28 : tensor<10x4xf32>
    %cst_6 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<10x4xf32>
    %32 = stablehlo.multiply %31, %27 : tensor<10x4xf32>
    %33 = stablehlo.add %25, %32 : tensor<10x4xf32>
    %cst_7 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<10x4xf32>
    %35 = stablehlo.multiply %34, %33 : tensor<10x4xf32>
    %36 = stablehlo.tanh %35 : tensor<10x4xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<10x4xf32>
    %38 = stablehlo.subtract %37, %36 : tensor<10x4xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<10x4xf32>
    %40 = stablehlo.add %39, %36 : tensor<10x4xf32>
    %cst_10 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<10x4xf32>
    %42 = stablehlo.multiply %41, %40 : tensor<10x4xf32>
    %43 = stablehlo.multiply %25, %42 : tensor<10x4xf32>
    %cst_11 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<10x4xf32>
    %45 = stablehlo.multiply %44, %43 : tensor<10x4xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_13 = stablehlo.constant dense<4.000000e+01> : tensor<f32>
    %46 = stablehlo.divide %cst_12, %cst_13 : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<f32>) -> tensor<10x4xf32>
    %48 = stablehlo.multiply %47, %45 : tensor<10x4xf32>
    %49 = stablehlo.multiply %25, %48 : tensor<10x4xf32>
    %50 = stablehlo.multiply %48, %42 : tensor<10x4xf32>
    %cst_14 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<10x4xf32>
    %52 = stablehlo.multiply %51, %49 : tensor<10x4xf32>
    %53 = stablehlo.multiply %52, %38 : tensor<10x4xf32>
    %54 = stablehlo.multiply %53, %36 : tensor<10x4xf32>
    %55 = stablehlo.add %53, %54 : tensor<10x4xf32>
    %cst_15 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<10x4xf32>
    %57 = stablehlo.multiply %56, %55 : tensor<10x4xf32>
    %58 = stablehlo.add %50, %57 : tensor<10x4xf32>
    %cst_16 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<10x4xf32>
    %60 = stablehlo.multiply %59, %57 : tensor<10x4xf32>
    %61 = stablehlo.multiply %60, %30 : tensor<10x4xf32>
    %62 = stablehlo.add %58, %61 : tensor<10x4xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.reduce(%62 init: %cst_17) applies stablehlo.add across dimensions = [0] : (tensor<10x4xf32>, tensor<f32>) -> tensor<4xf32>
    %64 = stablehlo.reshape %63 : (tensor<4xf32>) -> tensor<1x4xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %65 = stablehlo.reduce(%64 init: %cst_18) applies stablehlo.add across dimensions = [0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %66 = stablehlo.dot_general %62, %21, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<10x4xf32>, tensor<10x16xf32>) -> tensor<4x16xf32>
    %67 = stablehlo.transpose %66, dims = [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
    %68 = stablehlo.dot_general %62, %arg2, contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<10x4xf32>, tensor<16x4xf32>) -> tensor<10x16xf32>
    %69 = stablehlo.multiply %3, %68 : tensor<10x16xf32>
    %70 = stablehlo.multiply %68, %20 : tensor<10x16xf32>
    %cst_19 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<10x16xf32>
    %72 = stablehlo.multiply %71, %69 : tensor<10x16xf32>
    %73 = stablehlo.multiply %72, %16 : tensor<10x16xf32>
    %74 = stablehlo.multiply %73, %14 : tensor<10x16xf32>
    %75 = stablehlo.add %73, %74 : tensor<10x16xf32>
    %cst_20 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<10x16xf32>
    %77 = stablehlo.multiply %76, %75 : tensor<10x16xf32>
    %78 = stablehlo.add %70, %77 : tensor<10x16xf32>
    %cst_21 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<10x16xf32>
    %80 = stablehlo.multiply %79, %77 : tensor<10x16xf32>
    %81 = stablehlo.multiply %80, %8 : tensor<10x16xf32>
    %82 = stablehlo.add %78, %81 : tensor<10x16xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %83 = stablehlo.reduce(%82 init: %cst_22) applies stablehlo.add across dimensions = [0] : (tensor<10x16xf32>, tensor<f32>) -> tensor<16xf32>
    %84 = stablehlo.reshape %83 : (tensor<16xf32>) -> tensor<1x16xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %85 = stablehlo.reduce(%84 init: %cst_23) applies stablehlo.add across dimensions = [0] : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %86 = stablehlo.dot_general %82, %arg4, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<10x16xf32>, tensor<10x8xf32>) -> tensor<16x8xf32>
    %87 = stablehlo.transpose %86, dims = [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
    return %87, %85, %67, %65 : tensor<8x16xf32>, tensor<16xf32>, tensor<16x4xf32>, tensor<4xf32>
  }
}
