#!/usr/bin/env bash
# The module mmpstrucdata of rsyslog 8.2302 keeps one value of a parameter that structured data repeats, the last one.
# RFC 5424 allows the repetition (section 6.3.3) and uses it: a sender with two addresses writes `ip` twice in the element
# `origin` (section 7.2). A parser is expected to return both.
#
# Seen with rsyslog 8.2302.0 (Debian 12): see the text below.
#
# Exits with 0 if the behaviour is as described, and with 1 if it changed.
set -euo pipefail
dir=$(mktemp -d)
daemon=
trap 'kill $daemon 2>/dev/null || true; wait 2>/dev/null; rm -rf "$dir"' EXIT
chmod 755 "$dir"
cd "$dir"
apt-get download -q 'rsyslog=8.2302.0*' libestr0 libfastjson4 liblognorm5 libcurl3-gnutls >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
libraries=$dir/root/usr/lib/x86_64-linux-gnu
cat >rsyslog.conf <<CONF
module(load="imuxsock" SysSock.Use="off")
module(load="imtcp")
module(load="mmpstrucdata")
input(type="imtcp" port="0" listenPortFileName="$dir/port" address="127.0.0.1")
template(name="line" type="list") { property(name="structured-data") constant(value=" -> ") property(name="\$!") constant(value="\n") }
action(type="mmpstrucdata")
action(type="omfile" file="$dir/out" template="line")
CONF
LD_LIBRARY_PATH=$libraries root/usr/sbin/rsyslogd -n -M "$libraries/rsyslog" -f rsyslog.conf -i "$dir/pid" >log 2>&1 &
daemon=$!
for _ in $(seq 100); do [ -s port ] && break; sleep 0.1; done
message='<134>1 2026-01-02T03:04:05Z host sender - - [origin ip="192.0.2.1" ip="192.0.2.129"] text'
printf '%d %s' ${#message} "$message" >"/dev/tcp/127.0.0.1/$(cat port)"
for _ in $(seq 100); do [ -s out ] && break; sleep 0.1; done
tee seen <out
[ "$(cat seen)" = '[origin ip="192.0.2.1" ip="192.0.2.129"] -> { "rfc5424-sd": { "origin": { "ip": "192.0.2.129" } } }' ]
