#pragma once
#error "<cooperative_groups/scan.h> is not simulated: use __syncthreads(), __syncwarp() and the shuffles and votes of a warp"
