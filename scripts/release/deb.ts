/** Writes packages in Debian's format. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { normaliseTree, packageVersion, pathsBelow, runBuilder, type SystemPackage } from './system-package.ts'

const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' } as const

/** Installed size in KiB as Debian defines it: files rounded up, and 1 for everything else. */
const installedSize = (paths: readonly string[]): number =>
  paths
    .map((path) => lstatSync(path))
    .reduce((sum, found) => sum + (found.isFile() ? Math.ceil(found.size / 1024) : 1), 0)

const controlOf = (one: SystemPackage, size: number): string =>
  [
    `Package: ${one.name}`,
    `Version: ${packageVersion(one.version)}`,
    `Architecture: ${ARCHITECTURES[one.target.arch]}`,
    'Maintainer: Portcullis <portcullis@localhost>',
    'Section: admin',
    'Priority: optional',
    `Installed-Size: ${size}`,
    `Depends: ${one.debDepends.join(', ')}`,
    `Description: ${one.summary}`,
    ...one.description.map((line) => ` ${line}`),
    '',
  ].join('\n')

/** The scripts of the package. deb-systemd-helper keeps what the administrator enabled and disabled. */
const maintainerScripts = ({ scripts, unit }: SystemPackage): Record<string, string> => ({
  prerm: `case "$1" in
upgrade)
${scripts.beforeUpgrade}
;;
remove)
${scripts.beforeRemove}
;;
esac
`,
  postinst: `case "$1" in
configure)
is_first=; if [ -z "\${2-}" ]; then is_first=1; fi
${scripts.afterInstall}
deb-systemd-helper unmask ${unit} >/dev/null || true
if deb-systemd-helper --quiet was-enabled ${unit}; then
  deb-systemd-helper enable ${unit} >/dev/null || true
else
  deb-systemd-helper update-state ${unit} >/dev/null || true
fi
if has_systemd; then
  systemctl daemon-reload || true
  if [ -n "$is_first" ]; then deb-systemd-invoke start ${unit} >/dev/null || true; fi
fi
resume_units
;;
abort-upgrade|abort-remove|abort-deconfigure)
resume_units
;;
esac
`,
  postrm: `case "$1" in
remove)
if has_systemd; then systemctl daemon-reload || true; fi
${scripts.afterRemove}
;;
purge)
deb-systemd-helper purge ${unit} >/dev/null 2>&1 || true
${scripts.purge}
;;
esac
`,
})

/** Writes a `.deb` and returns its path. The same files give the same bytes. */
export const writeDeb = (one: SystemPackage): string => {
  const control = join(one.root, 'DEBIAN')
  rmSync(control, { recursive: true, force: true })
  const paths = pathsBelow(one.root)
  mkdirSync(control)
  const sums = paths
    .filter((path) => lstatSync(path).isFile())
    .filter((path) => !one.configFiles.includes(`/${relative(one.root, path)}`))
    .map((path) => `${createHash('md5').update(readFileSync(path)).digest('hex')}  ${relative(one.root, path)}\n`)
  writeFileSync(join(control, 'control'), controlOf(one, installedSize(paths)))
  writeFileSync(join(control, 'md5sums'), sums.join(''))
  writeFileSync(join(control, 'conffiles'), one.configFiles.map((path) => `${path}\n`).join(''))
  for (const [name, text] of Object.entries(maintainerScripts(one)))
    writeFileSync(join(control, name), `#!/bin/sh\nset -e\n${one.scripts.helpers}${text}`, { mode: 0o755 })
  normaliseTree(one.root, one.seconds)
  const file = join(one.draft, `${one.name}_${packageVersion(one.version)}_${ARCHITECTURES[one.target.arch]}.deb`)
  const level = one.level ?? 6
  // A fixed number of threads, because the size of xz's blocks may depend on it.
  const compression = level === 0 ? ['-Znone'] : ['-Zxz', `-z${level}`, '--threads-max=2']
  runBuilder('dpkg-deb', ['--root-owner-group', ...compression, '--build', one.root, file], one.seconds)
  rmSync(control, { recursive: true })
  return file
}
