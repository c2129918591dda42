/** Writes packages in the format of Red Hat's distributions. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { normaliseTree, packageVersion, runBuilder, type SystemPackage } from './system-package.ts'

const ARCHITECTURES = { x64: 'x86_64', arm64: 'aarch64' } as const

/** `%` begins a macro in a spec file. */
const plain = (text: string): string => text.replaceAll('%', '%%')

const specOf = (one: SystemPackage): string => {
  const { scripts, unit, units } = one
  const script = (...lines: string[]) => plain(`set -e\n${scripts.helpers}${lines.join('\n')}\n`)
  return `%define __os_install_post %{nil}
%define debug_package %{nil}
%define _build_id_links none
%define _buildhost localhost
%define _binary_payload ${one.level === 0 ? 'w0.gzdio' : `w${one.level ?? 6}T2.xzdio`}
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
Name: ${one.name}
Version: ${packageVersion(one.version)}
Release: 1
Summary: ${plain(one.summary)}
License: Apache-2.0
AutoReqProv: no
${one.rpmRequires.map((name) => `Requires: ${name}`).join('\n')}

%description
${plain(one.description.join('\n'))}

%install
cp -al "$STAGED_ROOT/." %{buildroot}/

%pre
${script('if [ "$1" -ge 2 ]; then', scripts.beforeUpgrade, 'fi')}
%post
${script(
  'is_first=; if [ "$1" -eq 1 ]; then is_first=1; fi',
  scripts.afterInstall,
  `if has_systemd; then systemctl daemon-reload || true; fi
# The presets of the distribution decide whether a new service is enabled.
if [ -n "$is_first" ] && command -v systemctl >/dev/null 2>&1; then systemctl preset ${unit} >/dev/null 2>&1 || true; fi`,
)}
%posttrans
${script('resume_units')}
%preun
${script(
  'if [ "$1" -eq 0 ]; then',
  scripts.beforeRemove,
  `if command -v systemctl >/dev/null 2>&1; then systemctl disable ${units.join(' ')} >/dev/null 2>&1 || true; fi
fi`,
)}
%postun
${script('if has_systemd; then systemctl daemon-reload || true; fi', 'if [ "$1" -eq 0 ]; then', scripts.afterRemove, 'fi')}
%files
%defattr(-,root,root,-)
${one.owned.join('\n')}
${[...new Set(one.configFiles.map((path) => dirname(path)))].map((path) => `%dir ${path}`).join('\n')}
${one.configFiles.map((path) => `%config(noreplace) ${path}`).join('\n')}
`
}

/** Writes an `.rpm` and returns its path. The same files give the same bytes. */
export const writeRpm = (one: SystemPackage): string => {
  normaliseTree(one.root, one.seconds)
  const top = mkdtempSync(join(one.draft, 'rpm-'))
  try {
    const arch = ARCHITECTURES[one.target.arch]
    const spec = join(top, `${one.name}.spec`)
    writeFileSync(spec, specOf(one))
    for (const name of ['BUILD', 'RPMS', 'SOURCES', 'SRPMS']) mkdirSync(join(top, name))
    const defines = [`_topdir ${top}`, `_rpmdir ${top}/RPMS`, '_rpmfilename package.rpm', `_dbpath ${top}/db`]
    runBuilder(
      'rpmbuild',
      ['-bb', '--quiet', '--target', `${arch}-linux`, ...defines.flatMap((define) => ['--define', define]), spec],
      one.seconds,
      { STAGED_ROOT: one.root },
    )
    const file = join(one.draft, `${one.name}-${packageVersion(one.version)}-1.${arch}.rpm`)
    renameSync(join(top, 'RPMS', 'package.rpm'), file)
    return file
  } finally {
    rmSync(top, { recursive: true, force: true })
  }
}
