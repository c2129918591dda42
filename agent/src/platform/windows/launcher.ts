/** Starts the newest verified version of the agent. The package contains Node, koffi and one version; updates replace only the script. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { messageOf } from '../../exit.ts'
import { selectExecutable, shieldScripts } from '../../update/installed.ts'
import { createUpdateRecord, noteLaunch, rollBack } from '../../update/record.ts'

/** Returns where updates are installed. The file of the package never changes. */
export const updatedScript = (stateDir: string): string => join(stateDir, 'versions', 'agent.cjs')

export interface LauncherDeps {
  stateDir: string
  /** Path of the script of the package. */
  packaged: string
  version: string
  architecture: string
  /** The release keys that this host trusts since its installation. */
  trusted: readonly string[]
  /** @throws if other users could write to the state directory, where they could replace a script after its check */
  prepareStateDir(dir: string): void
  onFailure(message: string): void
  load?: (path: string) => void
}

const loadScript = (path: string): void => {
  createRequire(path)(path)
}

/**
 * Set while a version loads, so that it does not start another one. It is global because each version has its own
 * modules.
 */
const LAUNCHED = Symbol.for('portcullis.agent.launched')
const marks = globalThis as { [LAUNCHED]?: boolean }

/**
 * Loads the newest version into this process, unless that is the version of the package. Returns true if it runs. Rolls
 * back an update that cannot be loaded or that starts for the fourth time.
 */
export const launchNewest = (deps: LauncherDeps): boolean => {
  if (marks[LAUNCHED] === true) return false
  // The second attempt loads the update before the one that was rolled back, if any.
  return launch(deps) ?? launch(deps) ?? false
}

/** Returns undefined after a roll-back. */
const launch = ({
  stateDir,
  packaged,
  version,
  architecture,
  trusted,
  prepareStateDir,
  onFailure,
  load = loadScript,
}: LauncherDeps): boolean | undefined => {
  const executable = updatedScript(stateDir)
  const record = createUpdateRecord(stateDir)
  const [, script = ''] = process.argv
  try {
    prepareStateDir(stateDir)
  } catch (error) {
    // The record in a directory of another user could name any file.
    onFailure(`The agent cannot use its state directory: ${messageOf(error)}`)
    return false
  }
  try {
    noteLaunch(stateDir)
    const selected = selectExecutable({ executable, packaged, version, architecture, trusted, unproven: undefined })
    if (selected === packaged) return false
    shieldScripts(dirname(executable))
    marks[LAUNCHED] = true
    process.argv[1] = selected
    load(selected)
    return true
  } catch (error) {
    marks[LAUNCHED] = false
    process.argv[1] = script
    onFailure(`The agent cannot start its update: ${messageOf(error)}`)
    const current = record.load()
    if (current?.state !== 'swapped') return false
    try {
      rollBack(record, current, `Version ${current.to} cannot be loaded: ${messageOf(error)}`)
      return undefined
    } catch (failure) {
      onFailure(`The agent cannot roll back its update: ${messageOf(failure)}`)
    }
    return false
  }
}
