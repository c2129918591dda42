import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  waitingForApproval: 'Waiting for approval',
  untrusted: 'Not offered: signed by another key',
  newest: 'Newest: updates install it',
  withdraw: 'Withdraw build',
  buildName: '{version} for {system}',
  withdrawConsequence: 'no further hosts install it. Hosts that run it keep it until they install a higher version.',
  buildWithdrawn: 'Build withdrawn.',
  intro:
    'Hosts install only builds that are signed with the release key. The server offers builds but cannot sign them.',
  updateInRings: 'Update hosts in rings…',
  published: 'Published',
  withdrawMenu: 'Withdraw…',
  empty: 'No builds are published, so updates have nothing to install.',
  publishTitle: 'How to publish a build',
  packagePublished: 'Published {version} for {system}.',
  packageFile: 'Package file',
  publishPackage: 'Publish package…',
  sourceFile: 'Configured in the file that PORTCULLIS_RELEASE_KEY_FILE names.',
  rotation: 'Rotation {sequence}, {time}.',
  replaces: 'Replaces {keys}',
  noKey: 'This server has no release key, so it accepts no packages and hosts refuse updates.',
  notInBuild:
    'The agent build of this server contains another key or none, so agents that you install now refuse updates. In a checkout, restart the server: it builds its agent with the key. An installed release keeps the key that it was built with.',
  releaseHint:
    'These steps are for a checkout. The agents of an installed release contain the key that the release was built with: build a release with your own key instead.',
  formerlyPinned:
    '<strong>Formerly pinned:</strong> {key}, by {name} {time}. A key that was pinned over HTTP is no longer trusted. If it is yours, configure its public file.',
  hostKeys: 'Release keys of hosts',
  meaning: 'Meaning',
  noHosts: 'No hosts have an agent yet.',
  configureTitle: 'How to configure a release key',
  pinTitle: 'How to pin the key on other hosts',
  stepCreateKey:
    'On the build machine, create the key pair and note its fingerprint. Keep the private key off the server.',
  stepCopyKey:
    'Copy release-key.pub to the server, set this environment variable of the server to its path, and restart the server. The server then builds its agent with the key.',
  stepReinstall:
    'On each host without this key, run the install command of an enrolment token again. The host keeps its identity. An older agent can be updated instead.',
  stepSign: 'On the build machine, sign the agent for Linux hosts.',
  stepSignWindows: 'Sign the agent for Windows hosts. It is a script that npm run build also creates.',
  stepPublish: 'Choose Publish package on this page and select the package file.',
  sourceBuild: 'Configured in the agent build of this server.',
})
