/** Writes the notes of a release from the changelog. */
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { Refusal } from '../bootstrap/say.mjs'

/**
 * Returns the section of a version in a changelog, without its heading.
 *
 * @throws Refusal if the changelog has no section for the version, or an empty one
 */
export const changesOf = (changelog: string, version: string): string => {
  const [, ...sections] = changelog.split(/^## /m)
  const section = sections.find((text) => text.split(/\s/, 1)[0]?.replace(/^\[|\]$/g, '') === version)
  const text = section?.slice(section.indexOf('\n') + 1).trim() ?? ''
  if (text === '')
    throw new Refusal(`CHANGELOG.md has no section "## ${version}" with changes. Describe the release there first.`)
  return text
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

const unproven =
  '**Not proven:** some results in `docs/proof` are older than this release or incomplete. The page states the age of each.'

/**
 * Returns the release notes of a version: its changes, its files with their sizes, and whether its figures were
 * measured. Links in the changelog are relative to the root of the source.
 */
export const releaseNotes = (changelog: string, version: string, files: readonly string[], isProven: boolean): string =>
  [
    `# Portcullis ${version}`,
    '',
    ...(isProven ? [] : [unproven, '']),
    changesOf(changelog, version),
    '',
    '## Files',
    '',
    'Each file has a bill of materials (`.cdx.json`). `SHA256SUMS` lists all files with their digests. The section "Verify',
    'what you downloaded" of `docs/guide/install.md` describes how to check them.',
    '',
    '| file | size |',
    '|---|---|',
    ...files.map((file) => `| \`${basename(file)}\` | ${megabytes(statSync(file).size)} |`),
    '',
  ].join('\n')
