// Runs an image of the release with crun, without a container engine: unpacks its layers and starts its command as its user,
// without capabilities, with a read-only root and a volume. Prints the answers of the server as JSON.
// Usage: unshare --mount node container.mjs <file.oci.tar> <folder>
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const [archive, dir] = process.argv.slice(2)
// crun refuses hybrid control groups, which it does not need here. The caller has a mount namespace for this process.
if (existsSync('/sys/fs/cgroup/unified')) execFileSync('umount', ['/sys/fs/cgroup/unified'])
const [layout, root, volume] = ['layout', 'root', 'volume'].map((name) => join(dir, name))
for (const path of [layout, root, volume]) mkdirSync(path, { recursive: true })
execFileSync('tar', ['-xf', archive, '-C', layout])

const blob = ({ digest }) => join(layout, 'blobs/sha256', digest.slice(7))
const json = (file) => JSON.parse(readFileSync(file, 'utf8'))
const manifest = json(blob(json(join(layout, 'index.json')).manifests[0]))
const { config } = json(blob(manifest.config))
for (const layer of manifest.layers) execFileSync('tar', ['-xzpf', blob(layer), '-C', root, '--same-owner'])

const [uid, gid] = config.User.split(':').map(Number)
const data = Object.keys(config.Volumes)[0]
// An engine gives a new volume the owner and the permissions of the folder in the image.
const inImage = statSync(join(root, data))
chownSync(volume, inImage.uid, inImage.gid)
chmodSync(volume, inImage.mode & 0o7777)

const bundle = (args, more = []) => {
  const none = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] }
  const bind = (destination, source, options) => ({ destination, type: 'bind', source, options: ['rbind', ...options] })
  const file = join(dir, 'config.json')
  writeFileSync(
    file,
    JSON.stringify({
      ociVersion: '1.0.2',
      process: {
        user: { uid, gid },
        args,
        env: [...config.Env, 'HOME=/var/lib/portcullis', ...more],
        cwd: config.WorkingDir,
        capabilities: none,
        noNewPrivileges: true,
      },
      root: { path: root, readonly: true },
      hostname: 'portcullis.example.org',
      mounts: [
        { destination: '/proc', type: 'proc', source: 'proc' },
        { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
        { destination: '/dev/shm', type: 'tmpfs', source: 'shm', options: ['nosuid', 'nodev', 'mode=1777'] },
        { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'noexec', 'mode=1777'] },
        bind(data, volume, ['rw']),
      ],
      linux: { namespaces: ['pid', 'ipc', 'uts', 'mount', 'network'].map((type) => ({ type })) },
    }),
  )
}

const name = `portcullis-${process.pid}`
const crun = ['--root', join(dir, 'crun'), '--cgroup-manager=disabled']
bundle(config.Cmd, ['PORTCULLIS_ADMIN_PASSWORD=correct horse battery staple'])
const server = spawn('crun', [...crun, 'run', '--bundle', dir, name], { stdio: ['ignore', 'pipe', 'pipe'] })
let output = ''
for (const stream of [server.stdout, server.stderr]) stream.on('data', (text) => (output += text))
const ended = new Promise((done) => server.once('close', done))

/** Runs a program in the container. */
const within = (...args) => {
  const done = spawnSync('crun', [...crun, 'exec', '--user', config.User, '--cwd', config.WorkingDir, name, ...args], {
    encoding: 'utf8',
  })
  return { code: done.status, output: `${done.stdout}${done.stderr}` }
}

const began = performance.now()
let health = { code: 1, output: '' }
while (health.code !== 0 && server.exitCode === null && performance.now() - began < 120_000) {
  await sleep(100)
  health = within(...config.Healthcheck.Test.slice(1))
}
const asked = `const { get } = await import('node:https')
get('https://127.0.0.1:8080/readyz', { rejectUnauthorized: false }, (answer) => console.log(answer.statusCode))`
const answers = {
  health: health.code,
  readyMs: Math.round(performance.now() - began),
  readyz: within('node', '--input-type=module', '-e', asked).output.trim(),
  user: within('node', '-p', 'process.getuid()').output.trim(),
  capabilities: within('node', '-p', "/CapEff:\\s*(\\w+)/.exec(fs.readFileSync('/proc/self/status'))[1]").output.trim(),
  rootIsReadOnly: within('node', '-e', "fs.writeFileSync('/opt/portcullis/x', '')").output.includes('EROFS'),
  cli: within('portcullis', '--help').output,
  doctor: within('portcullis', 'doctor').output,
}
spawnSync('crun', [...crun, 'kill', name, config.StopSignal])
console.log(JSON.stringify({ ...answers, exitCode: await ended, ...(health.code === 0 ? {} : { output }) }))
