import type { HostsByReleaseKey, listPackages, ReleaseKey, ResponseOf } from '@portcullis/contract'
import { Link } from '@tanstack/react-router'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import classes from './PackagesPage.module.css'
import { hostSteps, keySteps } from './publish.ts'
import { Steps } from './Steps.tsx'

const meaning: Record<HostsByReleaseKey['state'], string> = {
  Current: 'Installs builds of this release key.',
  Earlier: 'Trusts an earlier key. Follows the rotation with its next update.',
  Foreign: 'Trusts another key. Install the agent again.',
  None: 'No release key: the agent was built without one and refuses updates. Install the agent again.',
  Unreported: 'No built-in release key: an older agent that may accept any key. Update it, or install it again.',
}

const sourceText: Record<ReleaseKey['source'], string> = {
  file: 'the file that PORTCULLIS_RELEASE_KEY_FILE names',
  build: 'the agent build of this server',
}

const Configured = ({ releaseKey }: { releaseKey: ReleaseKey }) => (
  <p>
    <code className={classes.key}>{releaseKey.fingerprint}</code>
    <br />
    Configured in {sourceText[releaseKey.source]}.
    {releaseKey.rotatedAt === null ? null : (
      <>
        {' '}
        Rotation {releaseKey.sequence}, <Time value={releaseKey.rotatedAt} form="local" />.
      </>
    )}
    {releaseKey.earlier.length === 0 ? null : (
      <>
        <br />
        Replaces{' '}
        {releaseKey.earlier.map((fingerprint) => (
          <code key={fingerprint} className={classes.key}>
            {fingerprint}{' '}
          </code>
        ))}
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
      <h2>Release key</h2>
      {releaseKey === null ? (
        <p>This server has no release key, so it accepts no packages and hosts refuse updates.</p>
      ) : (
        <Configured releaseKey={releaseKey} />
      )}
      {formerlyPinned === null ? null : (
        <p>
          <strong>Formerly pinned:</strong> <code className={classes.key}>{formerlyPinned.fingerprint}</code>, by{' '}
          <DeviceText value={formerlyPinned.pinnedBy} /> <Time value={formerlyPinned.pinnedAt} form="local" />. A key
          that was pinned over HTTP is no longer trusted. If it is yours, configure its public file.
        </p>
      )}
      <h2>Release keys of hosts</h2>
      <SmallTable
        label="Release keys of hosts"
        head={['Key', { title: 'Hosts', align: 'right' }, 'Meaning']}
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
        empty="No host has an agent yet."
      />
      {releaseKey === null ? (
        <>
          <h2>How to configure a release key</h2>
          <Steps steps={[...keySteps, ...hostSteps]} />
        </>
      ) : isIncomplete ? (
        <>
          <h2>How to pin the key on other hosts</h2>
          <Steps steps={hostSteps} />
        </>
      ) : null}
    </>
  )
}
