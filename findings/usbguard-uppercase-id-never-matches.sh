#!/usr/bin/env bash
# USBGuard 1.1.2 accepts a rule whose vendor or product id has capital hexadecimal digits, prints it as valid, and never
# applies it: it compares ids as text, and reads lower-case ids from the kernel. Interface types are compared as numbers,
# so capital digits work there. The manual calls both hexadecimal numbers. Windows and device labels show capital digits.
#
# Seen with libusbguard 1.1.2+ds-3+b1 (Debian 12): see the texts below.
#
# Exits with 0 if the behaviour is as described, and with 1 if it changed.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
cd "$dir"
apt-get download -q {usbguard,libusbguard1,libusbguard-dev}=1.1.2+ds-3+b1 libprotobuf32 libqb100 libpolkit-gobject-1-0 libumockdev0 libpcap0.8 libdbus-1-3 >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
libraries=$dir/root/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH=$libraries
cat >applies.cpp <<'CPP'
#include <iostream>
#include <usbguard/Rule.hpp>
int main(int, char** texts) {
  using usbguard::Rule;
  std::cout << texts[1] << (Rule::fromString(texts[1]).appliesTo(Rule::fromString(texts[2])) ? ": applies\n" : ": does not apply\n");
}
CPP
g++ -std=c++17 -I root/usr/include applies.cpp -o applies -L "$libraries" -l:libusbguard.so.1 -Wl,--allow-shlib-undefined
device='device id 1d6b:000a with-interface 0a:00:00'
{
  for rule in 'allow id 1d6b:000a' 'allow id 1D6B:000A' 'allow with-interface 0A:00:00'; do ./applies "$rule" "$device"; done
  root/usr/bin/usbguard-rule-parser 'allow id 1D6B:000A' | grep OUTPUT
} | tee seen
[ "$(cat seen)" = 'allow id 1d6b:000a: applies
allow id 1D6B:000A: does not apply
allow with-interface 0A:00:00: applies
OUTPUT: allow id 1D6B:000A' ]
