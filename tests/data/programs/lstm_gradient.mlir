module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7x3x4xf32>, %arg1: tensor<4x20xf32>, %arg2: tensor<5x20xf32>, %arg3: tensor<20xf32>) -> (tensor<7x3x4xf32> {jax.result_info = "result[0]"}, tensor<4x20xf32> {jax.result_info = "result[1]"}, tensor<5x20xf32> {jax.result_info = "result[2]"}, tensor<20xf32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<20xf32>) -> tensor<1x20xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<7x3x5xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<7x3x5xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<7x3x5xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<7x3x5xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<7x3x5xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<7x3x5xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<7x3x5xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<7x3x5xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<7x3x5xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<7x3x5xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<7x3x5xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<7x3x5xf32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %14:19 = stablehlo.while(%iterArg = %arg0, %iterArg_20 = %arg1, %iterArg_21 = %arg2, %iterArg_22 = %1, %iterArg_23 = %c, %iterArg_24 = %0, %iterArg_25 = %0, %iterArg_26 = %2, %iterArg_27 = %3, %iterArg_28 = %4, %iterArg_29 = %5, %iterArg_30 = %6, %iterArg_31 = %7, %iterArg_32 = %8, %iterArg_33 = %9, %iterArg_34 = %10, %iterArg_35 = %11, %iterArg_36 = %12, %iterArg_37 = %13) : tensor<7x3x4xf32>, tensor<4x20xf32>, tensor<5x20xf32>, tensor<1x20xf32>, tensor<i64>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>
    cond {
      %c_38 = stablehlo.constant dense<7> : tensor<i64>
      %23 = stablehlo.compare LT, %iterArg_23, %c_38, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %23 : tensor<i1>
    } do {
      %23 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_23) : (tensor<7x3x4xf32>, tensor<i64>) -> tensor<3x4xf32>
      %24:14 = func.call @closed_call(%iterArg_20, %iterArg_21, %iterArg_22, %iterArg_24, %iterArg_25, %23) : (tensor<4x20xf32>, tensor<5x20xf32>, tensor<1x20xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x4xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>)
      %25 = func.call @dynamic_update_index_in_dim(%iterArg_26, %24#2, %iterArg_23) : (tensor<7x3x5xf32>, tensor<3x5xf32>, tensor<i64>) -> tensor<7x3x5xf32>
      %26 = func.call @dynamic_update_index_in_dim(%iterArg_27, %24#3, %iterArg_23) : (tensor<7x3x5xf32>, tensor<3x5xf32>, tensor<i64>) -> tensor<7x3x5xf32>
      %27 = func.call @dynamic_update_index_in_dim(%iterArg_28, %24#4, %iterArg_23) : (tensor<7x3x5xf32>, tensor<3x5xf32>, tensor<i64>) -> tensor<7x3x5xf32>
      %28 = func.call @dynamic_update_index_in_dim(%iterArg_29, %24#5, %iterArg_23) : (tensor<7x3x5xf32>, tensor<3x5xf32>, tensor<i64>) -> tensor<7x3x5xf32>
      %29 = func.call @dynamic_update_index_in_dim(%iterArg_30, %24#6, %iterArg_23) : (tensor<7x3x5xf32>, tensor<3x5xf32>, tensor<i64>) -> tensor<7x3x5xf32>
      %30 = func.call @dynamic_update_index_in_dim(%iterArg_31, %24#7, %iterArg_23) : (tensor<7x3x5xf32>, tensor<3x5xf32>, tensor<i64>) -> tensor<7x3x5xf32>
      %31 = func.call @dynamic_update_index_in_dim(%iterArg_32, %24#8, %iterArg_23) : (tensor<7x3x5xf32>, tensor<3x5xf32>, tensor<i64>) -> tensor<7x3x5xf32>
      %32 = func.call @dynamic_update_index_in_dim(%iterArg_33, %24#9, %iterArg_23) : (tensor<7x3x5xf32>, tensor<3x5xf32>, tensor<i64>) -> tensor<7x3x5xf32>
      %33 = func.call @dynamic_update_index_in_dim(%iterArg_34, %24#10, %iterArg_23) : (tensor<7x3x5xf32>, tensor<3x5xf32>, tensor<i64>) -> tensor<7x3x5xf32>
      %34 = func.call @dynamic_update_index_in_dim(%iterArg_35, %24#11, %iterArg_23) : (tensor<7x3x5xf32>, tensor<3x5xf32>, tensor<i64>) -> tensor<7x3x5xf32>
      %35 = func.call @dynamic_update_index_in_dim(%iterArg_36, %24#12, %iterArg_23) : (tensor<7x3x5xf32>, tensor<3x5xf32>, tensor<i64>) -> tensor<7x3x5xf32>
      %36 = func.call @dynamic_update_index_in_dim(%iterArg_37, %24#13, %iterArg_23) : (tensor<7x3x5xf32>, tensor<3x5xf32>, tensor<i64>) -> tensor<7x3x5xf32>
      %c_38 = stablehlo.constant dense<1> : tensor<i64>
      %37 = stablehlo.add %iterArg_23, %c_38 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_20, %iterArg_21, %iterArg_22, %37, %24#0, %24#1, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36 : tensor<7x3x4xf32>, tensor<4x20xf32>, tensor<5x20xf32>, tensor<1x20xf32>, tensor<i64>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>
    }
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<7x3x5xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x20xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<5x20xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<7x3x4xf32>
    %c_19 = stablehlo.constant dense<0> : tensor<i64>
    %22:23 = stablehlo.while(%iterArg = %15, %iterArg_20 = %arg0, %iterArg_21 = %14#7, %iterArg_22 = %14#8, %iterArg_23 = %14#9, %iterArg_24 = %14#10, %iterArg_25 = %14#11, %iterArg_26 = %14#12, %iterArg_27 = %14#13, %iterArg_28 = %14#14, %iterArg_29 = %14#15, %iterArg_30 = %14#16, %iterArg_31 = %14#17, %iterArg_32 = %14#18, %iterArg_33 = %arg1, %iterArg_34 = %arg2, %iterArg_35 = %c_19, %iterArg_36 = %18, %iterArg_37 = %19, %iterArg_38 = %20, %iterArg_39 = %16, %iterArg_40 = %17, %iterArg_41 = %21) : tensor<7x3x5xf32>, tensor<7x3x4xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<4x20xf32>, tensor<5x20xf32>, tensor<i64>, tensor<4x20xf32>, tensor<5x20xf32>, tensor<20xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<7x3x4xf32>
    cond {
      %c_42 = stablehlo.constant dense<7> : tensor<i64>
      %23 = stablehlo.compare LT, %iterArg_35, %c_42, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %23 : tensor<i1>
    } do {
      %c_42 = stablehlo.constant dense<7> : tensor<i64>
      %23 = stablehlo.subtract %c_42, %iterArg_35 : tensor<i64>
      %c_43 = stablehlo.constant dense<1> : tensor<i64>
      %24 = stablehlo.subtract %23, %c_43 : tensor<i64>
      %25 = func.call @dynamic_index_in_dim_0(%iterArg, %24) : (tensor<7x3x5xf32>, tensor<i64>) -> tensor<3x5xf32>
      %26 = func.call @dynamic_index_in_dim(%iterArg_20, %24) : (tensor<7x3x4xf32>, tensor<i64>) -> tensor<3x4xf32>
      %27 = func.call @dynamic_index_in_dim_0(%iterArg_21, %24) : (tensor<7x3x5xf32>, tensor<i64>) -> tensor<3x5xf32>
      %28 = func.call @dynamic_index_in_dim_0(%iterArg_22, %24) : (tensor<7x3x5xf32>, tensor<i64>) -> tensor<3x5xf32>
      %29 = func.call @dynamic_index_in_dim_0(%iterArg_23, %24) : (tensor<7x3x5xf32>, tensor<i64>) -> tensor<3x5xf32>
      %30 = func.call @dynamic_index_in_dim_0(%iterArg_24, %24) : (tensor<7x3x5xf32>, tensor<i64>) -> tensor<3x5xf32>
      %31 = func.call @dynamic_index_in_dim_0(%iterArg_25, %24) : (tensor<7x3x5xf32>, tensor<i64>) -> tensor<3x5xf32>
      %32 = func.call @dynamic_index_in_dim_0(%iterArg_26, %24) : (tensor<7x3x5xf32>, tensor<i64>) -> tensor<3x5xf32>
      %33 = func.call @dynamic_index_in_dim_0(%iterArg_27, %24) : (tensor<7x3x5xf32>, tensor<i64>) -> tensor<3x5xf32>
      %34 = func.call @dynamic_index_in_dim_0(%iterArg_28, %24) : (tensor<7x3x5xf32>, tensor<i64>) -> tensor<3x5xf32>
      %35 = func.call @dynamic_index_in_dim_0(%iterArg_29, %24) : (tensor<7x3x5xf32>, tensor<i64>) -> tensor<3x5xf32>
      %36 = func.call @dynamic_index_in_dim_0(%iterArg_30, %24) : (tensor<7x3x5xf32>, tensor<i64>) -> tensor<3x5xf32>
      %37 = func.call @dynamic_index_in_dim_0(%iterArg_31, %24) : (tensor<7x3x5xf32>, tensor<i64>) -> tensor<3x5xf32>
      %38 = func.call @dynamic_index_in_dim_0(%iterArg_32, %24) : (tensor<7x3x5xf32>, tensor<i64>) -> tensor<3x5xf32>
      %39:6 = func.call @closed_call_1(%iterArg_33, %iterArg_34, %iterArg_36, %iterArg_37, %iterArg_38, %iterArg_39, %iterArg_40, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38) : (tensor<4x20xf32>, tensor<5x20xf32>, tensor<4x20xf32>, tensor<5x20xf32>, tensor<20xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x4xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) -> (tensor<4x20xf32>, tensor<5x20xf32>, tensor<20xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x4xf32>)
      %40 = func.call @dynamic_update_index_in_dim_2(%iterArg_41, %39#5, %24) : (tensor<7x3x4xf32>, tensor<3x4xf32>, tensor<i64>) -> tensor<7x3x4xf32>
      %c_44 = stablehlo.constant dense<1> : tensor<i64>
      %41 = stablehlo.add %iterArg_35, %c_44 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_20, %iterArg_21, %iterArg_22, %iterArg_23, %iterArg_24, %iterArg_25, %iterArg_26, %iterArg_27, %iterArg_28, %iterArg_29, %iterArg_30, %iterArg_31, %iterArg_32, %iterArg_33, %iterArg_34, %41, %39#0, %39#1, %39#2, %39#3, %39#4, %40 : tensor<7x3x5xf32>, tensor<7x3x4xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<7x3x5xf32>, tensor<4x20xf32>, tensor<5x20xf32>, tensor<i64>, tensor<4x20xf32>, tensor<5x20xf32>, tensor<20xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<7x3x4xf32>
    }
    return %22#22, %22#17, %22#18, %22#19 : tensor<7x3x4xf32>, tensor<4x20xf32>, tensor<5x20xf32>, tensor<20xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<7x3x4xf32>, %arg1: tensor<i64>) -> tensor<3x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 3, 4] : (tensor<7x3x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x3x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3x4xf32>) -> tensor<3x4xf32>
    return %1 : tensor<3x4xf32>
  }
  func.func private @closed_call(%arg0: tensor<4x20xf32>, %arg1: tensor<5x20xf32>, %arg2: tensor<1x20xf32>, %arg3: tensor<3x5xf32>, %arg4: tensor<3x5xf32>, %arg5: tensor<3x4xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) {
    %0 = stablehlo.dot_general %arg5, %arg0, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3x4xf32>, tensor<4x20xf32>) -> tensor<3x20xf32>
    %1 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3x5xf32>, tensor<5x20xf32>) -> tensor<3x20xf32>
    %2 = stablehlo.add %0, %1 : tensor<3x20xf32>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<1x20xf32>) -> tensor<3x20xf32>
    %4 = stablehlo.add %2, %3 : tensor<3x20xf32>
    %5 = stablehlo.slice %4 [0:3, 0:5] : (tensor<3x20xf32>) -> tensor<3x5xf32>
    %6 = stablehlo.slice %4 [0:3, 5:10] : (tensor<3x20xf32>) -> tensor<3x5xf32>
    %7 = stablehlo.slice %4 [0:3, 10:15] : (tensor<3x20xf32>) -> tensor<3x5xf32>
    %8 = stablehlo.slice %4 [0:3, 15:20] : (tensor<3x20xf32>) -> tensor<3x5xf32>
    %9 = stablehlo.negate %6 : tensor<3x5xf32>
    %10 = stablehlo.exponential %9 : tensor<3x5xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %12 = stablehlo.add %11, %10 : tensor<3x5xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %14 = stablehlo.divide %13, %12 : tensor<3x5xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %16 = stablehlo.subtract %15, %14 : tensor<3x5xf32>
    %17 = stablehlo.multiply %14, %16 : tensor<3x5xf32>
    %18 = stablehlo.multiply %14, %arg4 : tensor<3x5xf32>
    %19 = stablehlo.negate %5 : tensor<3x5xf32>
    %20 = stablehlo.exponential %19 : tensor<3x5xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %22 = stablehlo.add %21, %20 : tensor<3x5xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %24 = stablehlo.divide %23, %22 : tensor<3x5xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %26 = stablehlo.subtract %25, %24 : tensor<3x5xf32>
    %27 = stablehlo.multiply %24, %26 : tensor<3x5xf32>
    %28 = stablehlo.tanh %7 : tensor<3x5xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %30 = stablehlo.subtract %29, %28 : tensor<3x5xf32>
    %31 = stablehlo.multiply %24, %28 : tensor<3x5xf32>
    %32 = stablehlo.add %18, %31 : tensor<3x5xf32>
    %33 = stablehlo.negate %8 : tensor<3x5xf32>
    %34 = stablehlo.exponential %33 : tensor<3x5xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %36 = stablehlo.add %35, %34 : tensor<3x5xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %38 = stablehlo.divide %37, %36 : tensor<3x5xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %40 = stablehlo.subtract %39, %38 : tensor<3x5xf32>
    %41 = stablehlo.multiply %38, %40 : tensor<3x5xf32>
    %42 = stablehlo.tanh %32 : tensor<3x5xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %44 = stablehlo.subtract %43, %42 : tensor<3x5xf32>
    %45 = stablehlo.multiply %38, %42 : tensor<3x5xf32>
    return %45, %32, %arg3, %17, %arg4, %14, %27, %28, %30, %24, %41, %42, %44, %38 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<7x3x5xf32>, %arg1: tensor<3x5xf32>, %arg2: tensor<i64>) -> tensor<7x3x5xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<3x5xf32>) -> tensor<1x3x5xf32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<7x3x5xf32>, tensor<1x3x5xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<7x3x5xf32>
    return %1 : tensor<7x3x5xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<7x3x5xf32>, %arg1: tensor<i64>) -> tensor<3x5xf32> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 3, 5] : (tensor<7x3x5xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x3x5xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
    return %1 : tensor<3x5xf32>
  }
  func.func private @closed_call_1(%arg0: tensor<4x20xf32>, %arg1: tensor<5x20xf32>, %arg2: tensor<4x20xf32>, %arg3: tensor<5x20xf32>, %arg4: tensor<20xf32>, %arg5: tensor<3x5xf32>, %arg6: tensor<3x5xf32>, %arg7: tensor<3x5xf32>, %arg8: tensor<3x4xf32>, %arg9: tensor<3x5xf32>, %arg10: tensor<3x5xf32>, %arg11: tensor<3x5xf32>, %arg12: tensor<3x5xf32>, %arg13: tensor<3x5xf32>, %arg14: tensor<3x5xf32>, %arg15: tensor<3x5xf32>, %arg16: tensor<3x5xf32>, %arg17: tensor<3x5xf32>, %arg18: tensor<3x5xf32>, %arg19: tensor<3x5xf32>, %arg20: tensor<3x5xf32>) -> (tensor<4x20xf32>, tensor<5x20xf32>, tensor<20xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x4xf32>) {
    %0 = stablehlo.add %arg5, %arg7 : tensor<3x5xf32>
    %1 = stablehlo.multiply %arg20, %0 : tensor<3x5xf32>
    %2 = stablehlo.multiply %0, %arg18 : tensor<3x5xf32>
    %3 = stablehlo.multiply %1, %arg19 : tensor<3x5xf32>
    %4 = stablehlo.add %arg6, %3 : tensor<3x5xf32>
    %5 = stablehlo.multiply %3, %arg18 : tensor<3x5xf32>
    %6 = stablehlo.add %4, %5 : tensor<3x5xf32>
    %7 = stablehlo.multiply %2, %arg17 : tensor<3x5xf32>
    %8 = stablehlo.multiply %arg16, %6 : tensor<3x5xf32>
    %9 = stablehlo.multiply %6, %arg14 : tensor<3x5xf32>
    %10 = stablehlo.multiply %8, %arg15 : tensor<3x5xf32>
    %11 = stablehlo.multiply %10, %arg14 : tensor<3x5xf32>
    %12 = stablehlo.add %10, %11 : tensor<3x5xf32>
    %13 = stablehlo.multiply %9, %arg13 : tensor<3x5xf32>
    %14 = stablehlo.multiply %arg12, %6 : tensor<3x5xf32>
    %15 = stablehlo.multiply %6, %arg11 : tensor<3x5xf32>
    %16 = stablehlo.multiply %15, %arg10 : tensor<3x5xf32>
    %17 = stablehlo.concatenate %13, %16, %12, %7, dim = 1 : (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x20xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<3x20xf32>, tensor<f32>) -> tensor<20xf32>
    %19 = stablehlo.reshape %18 : (tensor<20xf32>) -> tensor<1x20xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1x20xf32>, tensor<f32>) -> tensor<20xf32>
    %21 = stablehlo.add %arg4, %20 : tensor<20xf32>
    %22 = stablehlo.dot_general %17, %arg9, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3x20xf32>, tensor<3x5xf32>) -> tensor<20x5xf32>
    %23 = stablehlo.transpose %22, dims = [1, 0] : (tensor<20x5xf32>) -> tensor<5x20xf32>
    %24 = stablehlo.add %arg3, %23 : tensor<5x20xf32>
    %25 = stablehlo.dot_general %17, %arg1, contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<3x20xf32>, tensor<5x20xf32>) -> tensor<3x5xf32>
    %26 = stablehlo.dot_general %17, %arg8, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3x20xf32>, tensor<3x4xf32>) -> tensor<20x4xf32>
    %27 = stablehlo.transpose %26, dims = [1, 0] : (tensor<20x4xf32>) -> tensor<4x20xf32>
    %28 = stablehlo.add %arg2, %27 : tensor<4x20xf32>
    %29 = stablehlo.dot_general %17, %arg0, contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<3x20xf32>, tensor<4x20xf32>) -> tensor<3x4xf32>
    return %28, %24, %21, %25, %14, %29 : tensor<4x20xf32>, tensor<5x20xf32>, tensor<20xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x4xf32>
  }
  func.func private @dynamic_update_index_in_dim_2(%arg0: tensor<7x3x4xf32>, %arg1: tensor<3x4xf32>, %arg2: tensor<i64>) -> tensor<7x3x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<3x4xf32>) -> tensor<1x3x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<7x3x4xf32>, tensor<1x3x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<7x3x4xf32>
    return %1 : tensor<7x3x4xf32>
  }
}
