"builtin.module"() <{sym_name = "jit_mlp"}> ({
  "func.func"() <{arg_attrs = [{tf.aliasing_output = 0 : i32}, {tf.aliasing_output = 1 : i32}, {tf.aliasing_output = 2 : i32}, {}, {}], function_type = (tensor<4x8xf32>, tensor<8xf32>, tensor<8x3xf32>, tensor<5x4xf32>, tensor<5x3xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8x3xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg12: tensor<4x8xf32>, %arg13: tensor<8xf32>, %arg14: tensor<8x3xf32>, %arg15: tensor<5x4xf32>, %arg16: tensor<5x3xf32>):
    %26 = "stablehlo.dot_general"(%arg15, %arg12) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<5x4xf32>, tensor<4x8xf32>) -> tensor<5x8xf32>
    %27 = "stablehlo.broadcast_in_dim"(%arg13) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf32>) -> tensor<1x8xf32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x8xf32>) -> tensor<5x8xf32>
    %29 = "stablehlo.add"(%26, %28) : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
    %30 = "stablehlo.tanh"(%29) : (tensor<5x8xf32>) -> tensor<5x8xf32>
    %31 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5x8xf32>
    %33 = "stablehlo.subtract"(%32, %30) : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
    %34 = "stablehlo.dot_general"(%30, %arg14) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<5x8xf32>, tensor<8x3xf32>) -> tensor<5x3xf32>
    %35:2 = "func.call"(%34) <{callee = @log_softmax}> : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<5x1xf32>)
    %36 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %37 = "stablehlo.negate"(%36) : (tensor<f32>) -> tensor<f32>
    %38 = "stablehlo.constant"() <{value = dense<5.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %39 = "stablehlo.divide"(%37, %38) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
    %41 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64: 0>}> : (tensor<5xf32>) -> tensor<5x3xf32>
    %42 = "stablehlo.multiply"(%41, %arg16) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
    %43 = "func.call"(%35#0, %35#1, %42) <{callee = @log_softmax_0}> : (tensor<5x3xf32>, tensor<5x1xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
    %44 = "stablehlo.dot_general"(%43, %30) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<5x3xf32>, tensor<5x8xf32>) -> tensor<3x8xf32>
    %45 = "stablehlo.transpose"(%44) <{permutation = array<i64: 1, 0>}> : (tensor<3x8xf32>) -> tensor<8x3xf32>
    %46 = "stablehlo.dot_general"(%43, %arg14) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<5x3xf32>, tensor<8x3xf32>) -> tensor<5x8xf32>
    %47 = "stablehlo.multiply"(%46, %33) : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
    %48 = "stablehlo.multiply"(%47, %30) : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
    %49 = "stablehlo.add"(%47, %48) : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
    %50 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %51 = "stablehlo.reduce"(%49, %50) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>):
      %70 = "stablehlo.add"(%arg19, %arg20) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%70) : (tensor<f32>) -> ()
    }) : (tensor<5x8xf32>, tensor<f32>) -> tensor<8xf32>
    %52 = "stablehlo.reshape"(%51) : (tensor<8xf32>) -> tensor<1x8xf32>
    %53 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %54 = "stablehlo.reduce"(%52, %53) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %69 = "stablehlo.add"(%arg17, %arg18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%69) : (tensor<f32>) -> ()
    }) : (tensor<1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %55 = "stablehlo.dot_general"(%49, %arg15) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<5x8xf32>, tensor<5x4xf32>) -> tensor<8x4xf32>
    %56 = "stablehlo.transpose"(%55) <{permutation = array<i64: 1, 0>}> : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %57 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %58 = "stablehlo.broadcast_in_dim"(%57) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32>
    %59 = "stablehlo.multiply"(%58, %56) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %60 = "stablehlo.subtract"(%arg12, %59) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %61 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %62 = "stablehlo.broadcast_in_dim"(%61) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %63 = "stablehlo.multiply"(%62, %54) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %64 = "stablehlo.subtract"(%arg13, %63) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %65 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x3xf32>
    %67 = "stablehlo.multiply"(%66, %45) : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
    %68 = "stablehlo.subtract"(%arg14, %67) : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
    "func.return"(%60, %64, %68) : (tensor<4x8xf32>, tensor<8xf32>, tensor<8x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<5x1xf32>), res_attrs = [{}, {}], sym_name = "log_softmax", sym_visibility = "private"}> ({
  ^bb0(%arg7: tensor<5x3xf32>):
    %12 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.reduce"(%arg7, %12) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %25 = "stablehlo.maximum"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%25) : (tensor<f32>) -> ()
    }) : (tensor<5x3xf32>, tensor<f32>) -> tensor<5xf32>
    %14 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
    %16 = "stablehlo.maximum"(%15, %13) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64: 0>}> : (tensor<5xf32>) -> tensor<5x1xf32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<5x1xf32>) -> tensor<5x3xf32>
    %19 = "stablehlo.subtract"(%arg7, %18) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
    %20 = "stablehlo.exponential"(%19) : (tensor<5x3xf32>) -> tensor<5x3xf32>
    %21 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.reduce"(%20, %21) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %24 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%24) : (tensor<f32>) -> ()
    }) : (tensor<5x3xf32>, tensor<f32>) -> tensor<5xf32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64: 0>}> : (tensor<5xf32>) -> tensor<5x1xf32>
    "func.return"(%20, %23) : (tensor<5x3xf32>, tensor<5x1xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<5x3xf32>, tensor<5x1xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>, res_attrs = [{}], sym_name = "log_softmax_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<5x3xf32>, %arg1: tensor<5x1xf32>, %arg2: tensor<5x3xf32>):
    %0 = "stablehlo.negate"(%arg2) : (tensor<5x3xf32>) -> tensor<5x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.reduce"(%0, %1) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %11 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%11) : (tensor<f32>) -> ()
    }) : (tensor<5x3xf32>, tensor<f32>) -> tensor<5xf32>
    %3 = "stablehlo.reshape"(%2) : (tensor<5xf32>) -> tensor<5x1xf32>
    %4 = "stablehlo.divide"(%3, %arg1) : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x1xf32>
    %5 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.reduce"(%4, %5) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %10 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%10) : (tensor<f32>) -> ()
    }) : (tensor<5x1xf32>, tensor<f32>) -> tensor<5xf32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 0>}> : (tensor<5xf32>) -> tensor<5x3xf32>
    %8 = "stablehlo.multiply"(%7, %arg0) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
    %9 = "stablehlo.add"(%arg2, %8) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
    "func.return"(%9) : (tensor<5x3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
