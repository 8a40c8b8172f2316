#!/bin/bash
# What is installed is enough: examples/embed.c builds with pkg-config, shared and static, a CMake
# project finds the package, and the command with its manual and completions is in place.
set -euo pipefail
trap 'echo "line $LINENO failed" && cat log' ERR
root=$PWD/root
make -C "$VYRE_SOURCE" install DESTDIR="$root" PREFIX=/usr/local >log 2>&1
installed=$root/usr/local
libraries=$(dirname "$(find "$installed" -name libvyre.so)")
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$libraries/pkgconfig LD_LIBRARY_PATH=$libraries
version=$(pkg-config --modversion vyre)

# build SOURCE: the same program with the shared and with the static library gives the same output.
build() {
    # shellcheck disable=SC2046
    gcc -std=c11 "$1" -o shared $(pkg-config --cflags --libs vyre)
    # shellcheck disable=SC2046
    gcc -std=c11 "$1" -o static $(pkg-config --cflags vyre) "$libraries/libvyre.a" -lm -pthread
    readelf -d shared | grep -q 'NEEDED.*libvyre\.so\.0\]'
    ./shared >shared.out
    ./static >static.out
    cmp shared.out static.out
}

cat >version.c <<'END'
#include <stdio.h>
#include <vyre/base.h>
int main(void) { return puts(vyre_version()) < 0; }
END
build version.c
[[ $(cat shared.out) == "$version" ]]
[[ ! -e $VYRE_SOURCE/examples/embed.c ]] || build "$VYRE_SOURCE/examples/embed.c"

mkdir project
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(user C)
find_package(vyre 0.1 REQUIRED)
add_executable(shared ../version.c)
target_link_libraries(shared vyre::vyre)
add_executable(static ../version.c)
target_link_libraries(static vyre::static)
END
cmake -S project -B project/build -G Ninja -Dvyre_DIR="$libraries/cmake/vyre" >log 2>&1
ninja -C project/build >log 2>&1
[[ $(project/build/shared) == "$version" && $(project/build/static) == "$version" ]]

[[ -s $installed/share/doc/vyre/docs/language.md && -s $installed/share/doc/vyre/README.md ]]
if [[ -x $VYRE ]]; then
    "$installed/bin/vyre" check "$installed"/share/doc/vyre/examples/*.vy
    "$installed/bin/vyre" --version | grep -qF "$version"
    if "$VYRE" help --man >manual 2>/dev/null; then
        cmp manual "$installed/share/man/man1/vyre.1"
    fi
fi
