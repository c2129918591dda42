import { strings } from './strings.ts'
/** A step for the operator, with a command to copy when there is one. */
export interface Step {
  what: string
  command?: string
}

/** The steps that configure a release key, from the build machine to the server. */
export const keySteps: readonly Step[] = [
  {
    what: strings.stepCreateKey,
    command: 'portcullis release-key new --out release.key --passphrase-file passphrase.txt',
  },
  {
    what: strings.stepCopyKey,
    command: 'PORTCULLIS_RELEASE_KEY_FILE=/etc/portcullis/release-key.pub',
  },
]

/** The step that gives the key to hosts whose agent does not have it. */
export const hostSteps: readonly Step[] = [
  {
    what: strings.stepReinstall,
  },
]

/** The steps from the built agents to published packages. */
export const signSteps: readonly Step[] = [
  {
    what: strings.stepSign,
    command:
      'portcullis package sign build/agent/portcullis-agent-linux-x64 --version <version of the build> --architecture x64 --key release.key --passphrase-file passphrase.txt --out agent-x64.pkg',
  },
  {
    what: strings.stepSignWindows,
    command:
      'portcullis package sign build/agent/portcullis-agent-windows-x64.cjs --version <version of the build> --architecture windows-x64 --key release.key --passphrase-file passphrase.txt --out agent-windows.pkg',
  },
  { what: strings.stepPublish },
]
