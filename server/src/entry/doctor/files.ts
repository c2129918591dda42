import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { countText } from '@portcullis/domain'
import { type Config, secretVariables } from '@portcullis/platform/server/config.ts'
import { loadKeys } from '@portcullis/platform/server/keys.ts'
import { error, type Finding, gigabytes, ok, reasonOf, warning } from './finding.ts'

const modeOf = (mode: number): string => (mode & 0o777).toString(8).padStart(4, '0')
const seenAt = (path: string, { mode, uid }: { mode: number; uid: number }): string =>
  `${path}, mode ${modeOf(mode)}, of user ${uid}`

export const dataDirectory = ({ dataDir }: Config, uid: number): Finding => {
  const name = 'data directory'
  const info = statSync(dataDir, { throwIfNoEntry: false })
  if (info === undefined)
    return warning(
      name,
      `${dataDir} does not exist`,
      'The first start creates it. If the server has run before, PORTCULLIS_DATA_DIR or the user has changed.',
    )
  const seen = seenAt(dataDir, info)
  if (!info.isDirectory()) return error(name, `${dataDir} is not a folder`, 'Choose another PORTCULLIS_DATA_DIR.')
  if ((info.mode & 0o022) !== 0) return error(name, `${seen}: others may write to it`, `chmod go-w ${dataDir}`)
  if (uid !== 0 && info.uid !== uid)
    return error(name, `${seen}, and this is user ${uid}`, `Run this command and the server as user ${info.uid}.`)
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (fault) {
    return error(
      name,
      `${seen}: ${reasonOf(fault)}`,
      'The server must be able to write to it. Check the mount and the owner.',
    )
  }
  // If root starts the server, the user of its database needs access to the folder (0711). Nobody else may list the
  // files.
  return (info.mode & 0o044) === 0
    ? ok(name, seen)
    : warning(name, `${seen}: others may list its files`, `chmod go-r ${dataDir}`)
}

/** Returns the nearest existing folder, in which the first start needs space. */
const nearest = (path: string): string => (existsSync(path) || dirname(path) === path ? path : nearest(dirname(path)))

/** Uses the default limits of the health page: under 10 % is a warning, under 3 % or 1 GB an error. */
export const freeSpace = (name: string, path: string): Finding => {
  const { bsize, blocks, bavail, files, ffree } = statfsSync(nearest(path))
  const share = blocks === 0 ? 0 : bavail / blocks
  const free = bavail * bsize
  const inodes = files === 0 ? 1 : ffree / files
  const seen = `${gigabytes(free)} free (${Math.floor(share * 100)} %) for ${path}`
  const whatToDo = 'Free up space or use a larger volume. PostgreSQL stops when the disk is full.'
  if (inodes < 0.03) return error(name, `${seen}, and too few free inodes`, whatToDo)
  if (share < 0.03 || free < 1e9) return error(name, seen, whatToDo)
  return share < 0.1 ? warning(name, seen, whatToDo) : ok(name, seen)
}

/** `hasData`: whether a database exists that a key file belongs to. */
export const keyFile = ({ keyFile: file, dataDir }: Config, uid: number, hasData: boolean): Finding => {
  const name = 'key file'
  const info = statSync(file, { throwIfNoEntry: false })
  if (info === undefined)
    return hasData
      ? error(
          name,
          `${file} does not exist, but a database exists`,
          'Restore it from its copy, or set PORTCULLIS_KEY_FILE. The server does not start without it.',
        )
      : warning(name, `${file} does not exist`, 'The first start creates it. Then copy it to another location.')
  const seen = seenAt(file, info)
  if ((info.mode & 0o077) !== 0)
    return error(
      name,
      `${seen}: others may read it`,
      `chmod 600 ${file}, then run portcullis keys rotate. Anyone who has read the file can decrypt the secrets of a stolen database.`,
    )
  if (uid !== 0 && info.uid !== uid)
    return error(name, `${seen}, and this is user ${uid}`, `Run this command and the server as user ${info.uid}.`)
  try {
    loadKeys(file)
  } catch (fault) {
    return error(name, reasonOf(fault), 'Restore it from its copy.')
  }
  return ok(
    name,
    `${seen}; keep a copy away from the database${dirname(file) === dataDir ? ' and from this folder' : ''}`,
  )
}

/** Checks the other files whose readers could act for the server. */
export const secretFiles = (config: Config, env: Readonly<Record<string, string | undefined>>): Finding => {
  const name = 'other secrets'
  const named = Object.entries(env).flatMap(([variable, file]) =>
    secretVariables.some((one) => variable === `${one}_FILE`) && file ? [file] : [],
  )
  const files = [
    ...['ca.key', 'server.key'].map((file) => join(config.dataDir, 'tls', file)),
    ...(config.tls === null ? [] : [config.tls.keyFile]),
    // systemd or a container provides files below /run, and restricts their folder instead of the files.
    ...named.filter((file) => !file.startsWith('/run/')),
  ].filter((file) => existsSync(file))
  const open = files.filter((file) => (statSync(file).mode & 0o007) !== 0)
  return open.length === 0
    ? ok(name, files.length === 0 ? 'no files' : `${countText(files.length, 'file')}, none readable by everybody`)
    : error(
        name,
        `everybody may read ${open.join(', ')}`,
        `chmod o= ${open.join(' ')}, and replace the secrets in them.`,
      )
}

export const hasOwnCluster = ({ dataDir }: Config): boolean => existsSync(join(dataDir, 'postgres', 'PG_VERSION'))

export const reportsFolder = ({ reportsDir }: Config): Finding[] => {
  if (!existsSync(reportsDir)) return []
  try {
    accessSync(reportsDir, constants.W_OK | constants.X_OK)
    return [ok('reports', `${reportsDir} can be written`)]
  } catch (fault) {
    return [
      error(
        'reports',
        reasonOf(fault),
        `Allow the server's user to write to ${reportsDir}, or set PORTCULLIS_REPORTS_DIR.`,
      ),
    ]
  }
}

/** Checks the folder of checkpoints. Anyone who can write to it could remove or add checkpoints. */
export const auditFolder = ({ auditDir, isAuditDirGiven }: Config, uid: number): Finding[] => {
  const name = 'audit checkpoints'
  const info = statSync(auditDir, { throwIfNoEntry: false })
  if (info === undefined)
    return isAuditDirGiven
      ? [error(name, `${auditDir} does not exist`, 'Mount it, or create it for the user of the server with mode 0750.')]
      : []
  const seen = seenAt(auditDir, info)
  if (!info.isDirectory()) return [error(name, `${auditDir} is not a folder`, 'Choose another PORTCULLIS_AUDIT_DIR.')]
  if ((info.mode & 0o022) !== 0) return [error(name, `${seen}: others may write to it`, `chmod go-w ${auditDir}`)]
  return uid !== 0 && info.uid !== uid
    ? [warning(name, `${seen}, and this is user ${uid}`, `Run this command and the server as user ${info.uid}.`)]
    : [ok(name, seen)]
}

export const licenceKeys = ({ licenceKeysFile }: Config): Finding[] => {
  if (!existsSync(licenceKeysFile)) return []
  const text = readFileSync(licenceKeysFile, 'utf8')
  return /-----BEGIN PUBLIC KEY-----/.test(text)
    ? [ok('licence keys', licenceKeysFile)]
    : [
        error(
          'licence keys',
          `${licenceKeysFile} contains no public key`,
          'Replace it with the PEM file of the issuer, or remove it.',
        ),
      ]
}
