/** The way from an executable to a published build, as commands to be copied. */
export const publishCommands = (origin: string, isFirst: boolean): { what: string; command: string }[] => [
  ...(isFirst
    ? [
        {
          what: 'Once: make the release key, and write its fingerprint down.',
          command: 'npm run cli -- package keys --out release.key --passphrase-file passphrase.txt',
        },
      ]
    : []),
  {
    what: 'Sign the executable.',
    command:
      'npm run cli -- package sign portcullis-agent-linux-x64 --version 1.4.0 --architecture x64 --key release.key --passphrase-file passphrase.txt --out agent-1.4.0-x64.pkg',
  },
  {
    what: 'Publish the package, with an API token of an Administrator.',
    command: `npm run cli -- --server ${origin} --token-file token package publish agent-1.4.0-x64.pkg${isFirst ? ' --trust FINGERPRINT' : ''}`,
  },
]
