/** Builds the container image of a server. */
import { mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { say } from '../bootstrap/say.mjs'
import { argumentsFor, serverEnvironment } from '../bootstrap/server-arguments.mjs'
import { IMAGE_HOME, IMAGE_USER, stageImageRoot } from './image-root.ts'
import { writeImage } from './oci.ts'
import { serverName } from './server.ts'
import type { Target } from './targets.ts'

interface Options {
  target: Target
  version: string
  seconds: number
  draft: string
  /** The staged server. */
  server: string
  mirror: string
  /** Level of gzip, 1 to 9. The default is 9. */
  level?: number
}

const DATA = '/var/lib/portcullis'
const run = (program: string): string[] => ['node', ...argumentsFor(program), program]

/** `config` of the image: as in ops/docker/Dockerfile, so that the compose file runs both images. */
export const imageConfig = (version: string) => ({
  User: `${IMAGE_USER}:${IMAGE_USER}`,
  Env: [
    `PATH=/${IMAGE_HOME}/node/bin:/usr/bin`,
    'NODE_ENV=production',
    'PORTCULLIS_HOST=0.0.0.0',
    'PORTCULLIS_PORT=8080',
    `PORTCULLIS_DATA_DIR=${DATA}`,
    ...Object.entries(serverEnvironment).map(([name, value]) => `${name}=${value}`),
  ],
  Cmd: run('server/src/entry/start.ts'),
  WorkingDir: `/${IMAGE_HOME}`,
  ExposedPorts: { '8080/tcp': {} },
  Volumes: { [DATA]: {} },
  StopSignal: 'SIGTERM',
  Labels: {
    'org.opencontainers.image.title': 'Portcullis',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': 'Apache-2.0',
  },
  // Docker reads this member, and the OCI specification reserves it. Times are in nanoseconds.
  Healthcheck: {
    Test: ['CMD', ...run('server/src/entry/ready.ts')],
    Interval: 10e9,
    Timeout: 8e9,
    StartPeriod: 60e9,
    Retries: 3,
  },
})

/** Writes the image of a staged server as an OCI archive, and returns its path. Afterwards, `server` is unchanged. */
export const buildImage = async (options: Options): Promise<string> => {
  const { target, version, seconds, draft, server, mirror, level = 9 } = options
  say(`building the image for ${target.debian}`)
  const root = join(draft, `image-${target.name}`)
  stageImageRoot(join(root, 'base'), target, mirror)
  // The server's user owns these folders. Otherwise the server could not write in a container without a volume.
  for (const path of ['var/lib/portcullis', 'tmp']) mkdirSync(join(root, 'state', path), { recursive: true })
  const home = join(root, 'product', IMAGE_HOME)
  mkdirSync(join(home, '..'), { recursive: true })
  renameSync(server, home)
  const stable = ['node', 'node_modules'].map((name) => `${IMAGE_HOME}/${name}`)
  const file = join(draft, `${serverName(version, target)}.oci.tar`)
  try {
    await writeImage(file, root, {
      reference: `portcullis:${version}`,
      architecture: target.debian,
      layers: [
        { title: 'packages of Debian', root: join(root, 'base'), paths: readdirSync(join(root, 'base')) },
        { title: 'Node.js, PostgreSQL and packages of npm', root: join(root, 'product'), paths: stable },
        // The programs in bin/ need commands of a complete system.
        { title: 'Portcullis', root: join(root, 'product'), paths: ['opt'], exclude: [...stable, `${IMAGE_HOME}/bin`] },
        {
          title: 'folders for data',
          root: join(root, 'state'),
          paths: ['var/lib/portcullis', 'tmp'],
          owner: IMAGE_USER,
          mode: '0700',
        },
      ],
      config: imageConfig(version),
      seconds,
      level,
    })
  } finally {
    renameSync(home, server)
  }
  return file
}
