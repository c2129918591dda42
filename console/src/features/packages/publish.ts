/** A step for the operator, with a command to copy when there is one. */
export interface Step {
  what: string
  command?: string
}

/** The steps that configure a release key, from the build machine to the server. */
export const keySteps: readonly Step[] = [
  {
    what: 'On the build machine, create the key pair and note its fingerprint. Keep the private key off the server.',
    command: 'npm run cli -- release-key new --out release.key --passphrase-file passphrase.txt',
  },
  {
    what: 'Copy release-key.pub to the server, set this environment variable of the server to its path, and restart the server. The server then builds its agent with the key.',
    command: 'PORTCULLIS_RELEASE_KEY_FILE=/etc/portcullis/release-key.pub',
  },
]

/** The step that gives the key to hosts whose agent does not have it. */
export const hostSteps: readonly Step[] = [
  {
    what: 'On each host without this key, run the install command of an enrolment token again. The host keeps its identity. An older agent can be updated instead.',
  },
]

/** The steps from an executable to a package file. */
export const signSteps: readonly Step[] = [
  {
    what: 'On the build machine, sign the agent executable.',
    command:
      'npm run cli -- package sign build/agent/portcullis-agent-linux-x64 --version <version of the build> --architecture x64 --key release.key --passphrase-file passphrase.txt --out agent-x64.pkg',
  },
  { what: 'Choose Publish package on this page and select the package file.' },
]
