/** Shell code for tests that run the server of a package in a system without systemd. */

/**
 * Functions that start the server as its unit does: as its user, with the program and the directory of the unit.
 * Variables of the environment in `with` are passed to it.
 */
export const START = `unit=/usr/lib/systemd/system/portcullis.service
command=$(sed -n 's/^ExecStart=//p' $unit)
mkdir -p /packages
echo "correct horse battery staple" >/packages/password
start() {
  setpriv --reuid=portcullis --regid=portcullis --init-groups sh -c "umask 077; cd $(sed -n 's/^WorkingDirectory=//p' $unit)
    export PORTCULLIS_DATA_DIR=/var/lib/portcullis PORTCULLIS_ADMIN_PASSWORD='correct horse battery staple' \${with-}
    exec $command" >/packages/server.log 2>&1 &
  server=$!
  for i in $(seq 300); do
    if ask /readyz 2>/dev/null; then return 0; fi
    kill -0 $server || break
    sleep 0.2
  done
  cat /packages/server.log; exit 1
}
ask() {
  /usr/lib/portcullis/node/bin/node -e 'fetch("http://127.0.0.1:8080" + process.argv[1]).then((a) => process.exit(a.ok ? 0 : 1))' "$1"
}
stop() { kill -TERM $server; wait $server; }
cli() { portcullis --user admin --password-file /packages/password "$@"; }
`
