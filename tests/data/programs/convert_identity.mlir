func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = stablehlo.add %x, %y : tensor<64xf32>
  %b = stablehlo.convert %a : (tensor<64xf32>) -> tensor<64xf32>
  %c = stablehlo.multiply %a, %a : tensor<64xf32>
  return %b, %c : tensor<64xf32>, tensor<64xf32>
}
