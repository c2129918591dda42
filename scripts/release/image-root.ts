/** Stages the part of a container image that is not the product: the C library, a shell and a user. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { controlOf, fetchDebian, unpackDebian } from './debian.ts'
import type { Target } from './targets.ts'

/** User and group of the server in a container. */
export const IMAGE_USER = 10001

/** Folder of the product in a container. */
export const IMAGE_HOME = 'opt/portcullis'

const LOADER = { x64: './usr/lib64/*', arm64: './usr/lib/ld-linux-*' } as const

const program = (path: string): string => `#!/bin/sh
exec /${IMAGE_HOME}/node/bin/node --disable-warning=ExperimentalWarning /${IMAGE_HOME}/${path} "$@"
`

/**
 * Stages the root folder of an image for a target: parts of pinned Debian packages, the user `portcullis`, and the
 * commands `portcullis` and `portcullis-worker`. Scanners find the packages in `/var/lib/dpkg/status.d`.
 */
export const stageImageRoot = (dir: string, target: Target, mirror: string): void => {
  mkdirSync(dir, { recursive: true })
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text, { mode })
  }
  for (const [pinned, file] of fetchDebian(target, mirror)) {
    const patterns = pinned.files.map((text) =>
      text === 'LOADER' ? LOADER[target.arch] : text.replace('TRIPLET', target.triplet),
    )
    unpackDebian(file, dir, patterns)
    write(`var/lib/dpkg/status.d/${pinned.name}`, controlOf(file))
  }
  for (const name of ['bin', 'lib', 'lib64'])
    if (existsSync(join(dir, 'usr', name))) symlinkSync(`usr/${name}`, join(dir, name))
  symlinkSync('../usr/lib/os-release', join(dir, makeDir(dir, 'etc'), 'os-release'))
  const home = '/var/lib/portcullis'
  write(
    'etc/passwd',
    `root:x:0:0:root:/root:/usr/sbin/nologin\nportcullis:x:${IMAGE_USER}:${IMAGE_USER}::${home}:/usr/sbin/nologin\n`,
  )
  write('etc/group', `root:x:0:\nportcullis:x:${IMAGE_USER}:\n`)
  write('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n')
  write('usr/bin/portcullis', program('cli/src/main.ts'), 0o755)
  write('usr/bin/portcullis-worker', program('poller/src/main.ts'), 0o755)
}

const makeDir = (dir: string, name: string): string => {
  mkdirSync(join(dir, name), { recursive: true })
  return name
}
