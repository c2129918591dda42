import { messageOf } from '../../../exit.ts'
import type { Grade } from '../../platform.ts'
import { type Registry, type RegistryKey, textOf } from '../registry.ts'
import { isOwned } from './restriction-backup.ts'
import { OWN_KEY } from './restriction-keys.ts'
import { foreignRestriction } from './restrictions.ts'

const VERSION_KEY: RegistryKey = 'HKLM\\Software\\Microsoft\\Windows NT\\CurrentVersion'
const PROBE = 'Probe'

/** Builds that got layered evaluation by an update with this revision (Policy CSP DeviceInstallation). */
const LAYERED_REVISION = 1151
/** The first build with restrictions by instance ID. */
const FIRST_BUILD = 19_041
/** The first build that was released with layered evaluation. */
const LAYERED_BUILD = 19_044

const text = (registry: Registry, name: string): string => {
  const value = registry.read(VERSION_KEY, name)
  return (value && textOf(value)) ?? ''
}

/** Returns why this Windows cannot enforce, or undefined. */
const unsuited = (registry: Registry): string | undefined => {
  const edition = text(registry, 'EditionID')
  if (/^Core/i.test(edition)) return 'Windows Home does not have device installation restrictions.'
  const build = Number.parseInt(text(registry, 'CurrentBuildNumber'), 10)
  const revision = registry.readDword(VERSION_KEY, 'UBR') ?? 0
  if (!(build >= FIRST_BUILD))
    return `Windows build ${build || 'unknown'} has no restrictions by instance ID. Update Windows to build ${FIRST_BUILD} or later.`
  if (build < LAYERED_BUILD && revision < LAYERED_REVISION)
    return `Windows build ${build}.${revision} has no layered restrictions. Update Windows to ${build}.${LAYERED_REVISION} or later.`
  return undefined
}

/** Returns why the agent cannot write to the registry, or undefined. Tests it by writing. */
const refusal = (registry: Registry): string | undefined => {
  try {
    const wasOwned = isOwned(registry)
    registry.writeText(OWN_KEY, PROBE, '')
    registry.remove(OWN_KEY, PROBE)
    if (!wasOwned) registry.removeTree(OWN_KEY)
    return undefined
  } catch (error) {
    return `The agent cannot write to the registry: ${messageOf(error)} Run the agent as a service under LocalSystem.`
  }
}

/** Determines the enforcement grade of a Windows host and its reason. */
export const createWindowsGrade = (registry: Registry): (() => Grade) => {
  /** Cached, because the right to write does not change while the agent runs, and the facts need it every 30 s. */
  let canWrite = false
  return () => {
    try {
      const reason = unsuited(registry) ?? foreignRestriction(registry) ?? (canWrite ? undefined : refusal(registry))
      if (reason !== undefined) return { grade: 'observe', reason }
      canWrite = true
      return { grade: 'before-install', reason: '' }
    } catch (error) {
      return { grade: 'observe', reason: `The agent cannot read the registry: ${messageOf(error)}` }
    }
  }
}
