import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { Link } from '@tanstack/react-router'
import type { HostsByReleaseKey, listPackages, ReleaseKey, ResponseOf } from '#features/contract.ts'
import { hostSteps, keySteps } from './publish.ts'
import { Steps } from './Steps.tsx'
import { strings } from './strings.ts'

const meaning: Record<HostsByReleaseKey['state'], string> = messages({
  Current: 'Installs builds that are signed with this release key.',
  Earlier: 'Trusts an earlier key. It switches to this key with its next update.',
  Foreign: 'Trusts another key. Install the agent again.',
  None: 'No release key: the agent was built without one and refuses updates. Install the agent again.',
  Unreported: 'No built-in release key: an older agent that may accept any key. Update it or install it again.',
})

const sourceText: Record<ReleaseKey['source'], string> = {
  file: strings.sourceFile,
  build: strings.sourceBuild,
}

const Configured = ({ releaseKey }: { releaseKey: ReleaseKey }) => (
  <p>
    <Text as="code" breaks>
      {releaseKey.fingerprint}
    </Text>
    <br />
    {sourceText[releaseKey.source]}
    {releaseKey.rotatedAt === null ? null : (
      <>
        {' '}
        {strings.rotation({
          sequence: releaseKey.sequence,
          time: <Time value={releaseKey.rotatedAt} form="local" />,
        })}
      </>
    )}
    {releaseKey.earlier.length === 0 ? null : (
      <>
        <br />
        {strings.replaces({
          keys: releaseKey.earlier.map((fingerprint) => (
            <Text key={fingerprint} as="code" breaks>
              {fingerprint}{' '}
            </Text>
          )),
        })}
      </>
    )}
  </p>
)

/** The key that signs agent builds, which hosts have it, and how to configure one. */
export const ReleaseKeySection = ({ answer }: { answer: ResponseOf<typeof listPackages> }) => {
  const { releaseKey, formerlyPinned, hosts } = answer
  const isIncomplete = hosts.some(({ state }) => state !== 'Current' && state !== 'Earlier')
  return (
    <>
      <h2>{strings.releaseKey}</h2>
      {releaseKey === null ? <p>{strings.noKey}</p> : <Configured releaseKey={releaseKey} />}
      {releaseKey?.isInBuild === false ? <p>{strings.notInBuild}</p> : null}
      {formerlyPinned === null ? null : (
        <p>
          {strings.formerlyPinned({
            strong: (text) => <strong>{text}</strong>,
            key: (
              <Text as="code" breaks>
                {formerlyPinned.fingerprint}
              </Text>
            ),
            name: <DeviceText value={formerlyPinned.pinnedBy} />,
            time: <Time value={formerlyPinned.pinnedAt} form="local" />,
          })}
        </p>
      )}
      <h2>{strings.hostKeys}</h2>
      <SmallTable
        label={strings.hostKeys}
        head={[strings.key, right(strings.hosts), strings.meaning]}
        rows={hosts.map((group) => ({
          key: group.releaseKey,
          quiet: group.state === 'Current',
          cells: [
            <code key="key">{group.releaseKey}</code>,
            <Link key="hosts" to="/agents" search={{ ReleaseKey: group.releaseKey }}>
              {group.hosts.toLocaleString('en')}
            </Link>,
            meaning[group.state],
          ],
        }))}
        empty={strings.noHosts}
      />
      {releaseKey === null ? (
        <>
          <h2>{strings.configureTitle}</h2>
          <p>{strings.releaseHint}</p>
          <Steps steps={[...keySteps, ...hostSteps]} />
        </>
      ) : isIncomplete ? (
        <>
          <h2>{strings.pinTitle}</h2>
          <Steps steps={hostSteps} />
        </>
      ) : null}
    </>
  )
}
