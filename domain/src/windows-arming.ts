/** The limit of armed Windows hosts. Windows enforcement is a preview until it has been verified on real hosts. */
import { windowsHostsUnverified } from '@portcullis/contract/windows-steps.ts'

/** Code of the error that refuses to arm a Windows host. */
export type WindowsRefusal = 'windows_preview_off' | 'windows_limit_reached'

/** Why a Windows host cannot be armed, and what to do. */
export const windowsRefusals: Readonly<Record<WindowsRefusal, string>> = {
  windows_preview_off:
    'Windows enforcement is a preview and is turned off. An Administrator can turn on "Windows enforcement (preview)" in the policy settings.',
  windows_limit_reached: `At most ${windowsHostsUnverified} Windows hosts of one build can be armed until a verification file of this build is imported. Free one of them, or import a file in the policy settings.`,
}

/** Build of hosts that report no build. */
export const unknownBuild = ''

/** Returns the build number that the limit applies to: the third number of `10.0.22631.4317`. */
export const majorBuildOf = (osBuild: string): string => (osBuild.split('.')[2] ?? unknownBuild).replace(/^0+(?=.)/, '')

export interface WindowsArmingState {
  /** The setting "Windows enforcement (preview)". */
  isEnabled: boolean
  /** Builds with an imported verification. */
  verified: ReadonlySet<string>
  /** Number of hosts of each build that are armed or ordered to arm. */
  counted: ReadonlyMap<string, number>
}

export interface WindowsCandidate {
  agentId: string
  build: string
  /** True if the host is armed or ordered to arm, so that it already counts. */
  isCounted: boolean
}

/**
 * Returns the Windows hosts that must not be armed, with the reason. The first candidates are allowed up to the limit.
 * A host without a build could have any build, so it counts for every unverified build. It can be armed only while all
 * unverified builds together are below the limit.
 */
export const refuseArming = (
  { isEnabled, verified, counted }: WindowsArmingState,
  candidates: readonly WindowsCandidate[],
): Map<string, WindowsRefusal> => {
  if (!isEnabled) return new Map(candidates.map(({ agentId }) => [agentId, 'windows_preview_off']))
  const taken = new Map([...counted].filter(([build]) => !verified.has(build)))
  const takenBy = (build: string): number => taken.get(build) ?? 0
  const takenFor = (build: string): number =>
    build === unknownBuild
      ? [...taken.values()].reduce((sum, hosts) => sum + hosts, 0)
      : takenBy(build) + takenBy(unknownBuild)
  const refused = new Map<string, WindowsRefusal>()
  for (const { agentId, build, isCounted } of candidates) {
    if (isCounted || (build !== unknownBuild && verified.has(build))) continue
    if (takenFor(build) >= windowsHostsUnverified) refused.set(agentId, 'windows_limit_reached')
    else taken.set(build, takenBy(build) + 1)
  }
  return refused
}
