#!/bin/sh
# Compiles the kernels to PTX, beside their sources or under the folder given. One compiler version only, since each
# prints the same code differently. sm_60 gives PTX ISA 5.0, which every driver since CUDA 11.2 compiles for every
# GPU from Pascal on; no CUDA toolkit is needed. Status 3: the compiler is not there.
set -eu
cd "$(dirname "$0")"
out=${1:-.}
want=19.1.7
clang=${CLANG:-clang-19}

have=$("$clang" -dumpversion 2>/dev/null || true)
if [ "$have" != "$want" ]; then
    echo "the kernels are compiled with clang $want and $clang is ${have:-not installed}: apt-get install clang-19" >&2
    exit 3
fi
for source in *.cu */*.cu; do
    ptx=$out/${source%.cu}.ptx
    mkdir -p "$(dirname "$ptx")"
    # Without the path, clang would find a toolkit where there is one and take its newer PTX ISA.
    "$clang" -x cuda --cuda-device-only --cuda-gpu-arch=sm_60 -nocudainc -nocudalib --cuda-path=/nonexistent \
        -O3 -ffp-contract=off -Wall -Wextra -Werror -S -o "$ptx" "$source"
done
