import { strings } from './strings.ts'
/** A step for the operator, with a command to copy when there is one. */
export interface Step {
  what: string
  command?: string
}

/** The steps that configure a release key, from the build machine to the server. */
export const keySteps: readonly Step[] = [
  {
    what: strings.onTheBuildMachineCreateThe,
    command: strings.npmRunCliReleaseKeyNew,
  },
  {
    what: strings.copyReleaseKeyPubToThe,
    command: 'PORTCULLIS_RELEASE_KEY_FILE=/etc/portcullis/release-key.pub',
  },
]

/** The step that gives the key to hosts whose agent does not have it. */
export const hostSteps: readonly Step[] = [
  {
    what: strings.onEachHostWithoutThisKey,
  },
]

/** The steps from an executable to a package file. */
export const signSteps: readonly Step[] = [
  {
    what: strings.onTheBuildMachineSignThe,
    command: strings.npmRunCliPackageSignBuild,
  },
  { what: strings.choosePublishPackageOnThisPage },
]
